//! Every kind of mistake that is reported, by name: documents and tests walk this list.

/// A kind of mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// Its name, as diagnostics show it.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub about: &'static str,
}

const fn code(name: &'static str, about: &'static str) -> Code {
    Code { name, about }
}

/// All kinds, in the order of their names.
#[rustfmt::skip]
pub const CODES: &[Code] = &[
    code("argument-count", "A call has more or fewer arguments than the function takes."),
    code("argument-type", "An argument of a helper does not fit the type that its parameter declares."),
    code("axis", "An axis does not exist, is named twice, or is not a constant."),
    code("branch", "The condition or the sides of an `if` do not have the types that they need."),
    code("chained-comparison", "A comparison is an operand of another without parentheses."),
    code("closure", "A loop is not given the closure that it needs, or the closure not the values."),
    code("condition-false", "A condition on dimensions never holds."),
    code("condition-open", "A condition on dimensions is not known to hold: a `where` clause must state it."),
    code("const-value", "The value of a `const` is not a scalar made of literals, earlier constants and arithmetic."),
    code("derivative-rule", "The rule of a function's derivative does not fit the function."),
    code("dimension-division", "A dimension is divided by something that is not positive."),
    code("duplicate-argument", "An option or argument is given twice."),
    code("duplicate-name", "Two items, parameters or symbols have one name."),
    code("element-type", "An operator does not take tensors of this element type."),
    code("expected", "Something else must stand at this place."),
    code("field", "A value has no such field or position."),
    code("function-form", "A function lacks a part, or has one that tensor functions do not have."),
    code("gradient-target", "A derivative is taken by something that is not a variable of a float type."),
    code("gradient-value", "A derivative is taken of something that is not a float, or not a scalar."),
    code("import", "A `use` names what a block cannot import, or is not written as the paths of items."),
    code("index-count", "An index has more items than the tensor has axes."),
    code("index-step", "The step of a range is not a positive constant."),
    code("index-type", "An index is not an integer."),
    code("literal", "A literal is out of range, or of a kind or type that the language lacks."),
    code("literal-open", "Nothing says which type a literal has."),
    code("literal-range", "A literal does not fit the type that it takes."),
    code("literal-type", "A literal cannot have the type of what it meets."),
    code("loop", "A loop goes over something other than a static range or an array."),
    code("missing-field", "The value of a struct lacks a field."),
    code("no-derivative", "A derivative passes an operator that has none."),
    code("no-value", "A block or function ends without the value that is needed."),
    code("not-a-dimension", "An extent is not made of symbols, integers and arithmetic on them."),
    code("not-a-tensor", "A tensor is needed where another value stands."),
    code("not-assignable", "Something other than a parameter declared `&mut` or a name bound by `let mut` is assigned."),
    code("not-supported-yet", "A reserved construct of the language that this version lacks."),
    code("option-form", "A named option is not written `name = value` after the arguments."),
    code("option-value", "An option has a value that it does not take."),
    code("private-struct", "Something public has a type that is a private struct."),
    code("public-generic", "A public function is generic over element types or lists of axes."),
    code("public-option", "A parameter of a public function has a default."),
    code("rank", "A tensor has too many or too few axes for this use."),
    code("recursion", "A function calls itself, or a struct contains itself, directly or through others."),
    code("reserved-name", "A name is one that the language keeps for itself."),
    code("reshape", "A reshape changes the number of elements, or has more than one open extent."),
    code("rust-construct", "A construct of Rust that the language does not have."),
    code("shape-mismatch", "Shapes do not fit together."),
    code("size", "A value has more elements or bytes than 64 bits can count, or memory can hold."),
    code("specialize", "An attribute `specialize` asks for versions that cannot be."),
    code("state-in-helper", "A helper declares a parameter as state."),
    code("statement-form", "A statement or assignment is not one that the language has."),
    code("struct-form", "A struct lacks a part, or has one that structs of tensors do not have."),
    code("struct-type", "A struct or array has another type than is needed."),
    code("symbol-bounds", "The bounds of a dimension are not constants, or no value lies in them."),
    code("symbol-open", "No argument of a call determines a symbol of the helper."),
    code("tokens", "The text is not made of Rust's tokens."),
    code("too-deep", "Brackets or operators are nested too deeply."),
    code("too-long", "A loop or an array is too long to be unrolled."),
    code("tuple-length", "A tuple has another length than is needed."),
    code("tuple-type", "The type of a tuple stands where the type of one tensor is needed."),
    code("type-mismatch", "Operands have different element types."),
    code("unknown-dimension", "No dimension has this name."),
    code("unknown-function", "No function has this name."),
    code("unknown-name", "No value has this name."),
    code("unknown-option", "The function has no option of this name."),
    code("unknown-type", "No type has this name."),
    code("unused-value", "An expression is computed and dropped."),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn codes_are_sorted_names_with_a_sentence() {
        for pair in CODES.windows(2) {
            assert!(pair[0].name < pair[1].name, "{} and {} are out of order", pair[0].name, pair[1].name);
        }
        for code in CODES {
            assert!(code.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", code.name);
            assert!(code.about.ends_with('.') && code.about.len() > 20, "{}: {}", code.name, code.about);
        }
    }

    /// The names that the stages write where they make a diagnostic.
    fn used(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                used(&path, found);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                for opening in ["Diagnostic::new(", ".fail(", "code: "] {
                    for rest in text.split(opening).skip(1) {
                        let name =
                            rest.trim_start().strip_prefix('"').and_then(|rest| rest.split('"').next());
                        let is_name = |name: &&str| name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
                        found.extend(name.filter(is_name).map(str::to_owned));
                    }
                }
            }
        }
    }

    /// Every name in use is in the table.
    #[test]
    fn every_code_in_use_is_listed() {
        let mut found = BTreeSet::new();
        used(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
        assert!(found.len() > 10, "{found:?}");
        let listed = |name: &String| CODES.iter().any(|code| code.name == name);
        let missing: Vec<&String> = found.iter().filter(|name| !listed(name)).collect();
        assert!(missing.is_empty(), "not in the table: {missing:?}");
    }
}
