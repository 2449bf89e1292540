//! From the function of a case to a public one that returns its value and all of its derivatives.

use tensorjit_core::graph::value::Value;

use super::vectors::Vectors;

/// The signature of `fn case`, as written.
pub(super) struct Signature<'t> {
    symbols: &'t str,
    params: Vec<(&'t str, &'t str)>,
    result: &'t str,
    clauses: &'t str,
}

impl<'t> Signature<'t> {
    /// Finds it in the text of a case.
    pub(super) fn find(text: &'t str) -> Result<Signature<'t>, String> {
        let parts = || {
            let (_, text) = text.split_once("fn case")?;
            let (symbols, text) = text.split_once('(')?;
            let (params, text) = text.split_once(')')?;
            let (head, _) = text.split_once('{')?;
            let (_, head) = head.split_once("->")?;
            let (result, clauses) = head.split_once("where").map_or((head, ""), |(r, c)| (r, c.trim()));
            let params = pieces(params).map(|param| param.split_once(':')).collect::<Option<Vec<_>>>()?;
            let params = params.into_iter().map(|(name, ty)| (name.trim(), ty.trim())).collect();
            Some(Signature { symbols, params, result: result.trim(), clauses })
        };
        parts().ok_or_else(|| "it has no `fn case(..) -> ..`".to_owned())
    }

    /// The parameters by which the file differentiates.
    fn variables(&self, vectors: &Vectors) -> Vec<(&'t str, &'t str)> {
        self.params.iter().copied().filter(|(name, _)| vectors.has(&format!("grad_{name}"))).collect()
    }

    /// The arrays that the public function takes, in order.
    pub(super) fn inputs(&self, vectors: &Vectors) -> Vec<String> {
        let mut names: Vec<String> = self.params.iter().map(|(name, _)| format!("in_{name}")).collect();
        names.push("ct".to_owned());
        names.extend(self.variables(vectors).iter().map(|(name, _)| format!("tan_{name}")));
        names
    }

    /// The arrays that it returns, in order.
    pub(super) fn outputs(&self, vectors: &Vectors) -> Vec<String> {
        let variables = self.variables(vectors);
        let mut names = vec!["out".to_owned()];
        names.extend(variables.iter().map(|(name, _)| format!("grad_{name}")));
        names.push("jvp".to_owned());
        let second = variables.iter().map(|(name, _)| format!("hvp_{name}"));
        names.extend(second.filter(|name| vectors.has(name)));
        names
    }

    /// The function for every size that the symbols may have.
    pub(super) fn symbolic(&self, vectors: &Vectors) -> String {
        let clauses =
            if self.clauses.is_empty() { String::new() } else { format!(" where {}", self.clauses) };
        self.function(vectors, self.symbols, &clauses, &|_, ty| ty.to_owned())
    }

    /// The function for the sizes of the file alone.
    pub(super) fn constant(&self, vectors: &Vectors) -> Result<String, String> {
        let mut missing = Ok(());
        let names = self.params.iter().map(|(name, _)| format!("in_{name}")).chain(["out".to_owned()]);
        names.for_each(|name| missing = missing.clone().and(vectors.get(&name).map(|_| ())));
        missing?;
        Ok(self.function(vectors, "", "", &|array, _| vectors.get(array).map_or_else(|e| e, type_of)))
    }

    fn function(
        &self,
        vectors: &Vectors,
        symbols: &str,
        clauses: &str,
        ty: &dyn Fn(&str, &str) -> String,
    ) -> String {
        let of_param = |(name, written): (&str, &str)| ty(&format!("in_{name}"), written);
        let result = ty("out", self.result);
        let variables = self.variables(vectors);
        let names: Vec<&str> = variables.iter().map(|(name, _)| *name).collect();
        let types: Vec<String> = variables.iter().map(|variable| of_param(*variable)).collect();
        let with = |prefix: &str| tuple(names.iter().map(|name| format!("{prefix}{name}")));

        let mut params: Vec<String> = Vec::new();
        params.extend(self.params.iter().map(|param| format!("{}: {}", param.0, of_param(*param))));
        params.push(format!("ct: {result}"));
        params.extend(names.iter().zip(&types).map(|(name, ty)| format!("tan_{name}: {ty}")));
        let mut results = vec![result.clone()];
        results.extend(types.iter().cloned());
        results.push(result);

        let (variables, tangents) = (with(""), with("tan_"));
        let args: Vec<&str> = self.params.iter().map(|(name, _)| *name).collect();
        let mut body = format!("    let out = case({});\n", args.join(", "));
        body += &format!("    let {} = vjp(out, {variables}, ct);\n", with("grad_"));
        body += &format!("    let jvp_out = jvp(out, {variables}, {tangents});\n");
        let mut values = vec!["out".to_owned()];
        values.extend(names.iter().map(|name| format!("grad_{name}")));
        values.push("jvp_out".to_owned());
        if names.iter().any(|name| vectors.has(&format!("hvp_{name}"))) {
            body += &format!("    let {} = hvp(out, {variables}, {tangents});\n", with("hvp_"));
            values.extend(names.iter().map(|name| format!("hvp_{name}")));
            results.extend(types.iter().cloned());
        }
        format!(
            "pub fn derivatives{symbols}({}) -> ({}){clauses} {{\n{body}    ({})\n}}\n",
            params.join(", "),
            results.join(", "),
            values.join(", ")
        )
    }
}

/// The parts between commas that stand in no brackets.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    let parts = text.split(move |c: char| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == ',' && depth == 0
    });
    parts.filter(|part| !part.trim().is_empty())
}

/// A name alone, or several in parentheses.
fn tuple(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    match names.as_slice() {
        [name] => name.clone(),
        names => format!("({})", names.join(", ")),
    }
}

/// The type of an array with its extents.
fn type_of(value: &Value) -> String {
    let extents: Vec<String> = value.shape.iter().map(usize::to_string).collect();
    match extents.is_empty() {
        true => value.dtype.name().to_owned(),
        false => format!("{}[{}]", value.dtype.name(), extents.join(", ")),
    }
}
