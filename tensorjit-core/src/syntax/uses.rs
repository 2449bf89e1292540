//! `use path::{f, Layer as L};`: what a block brings in from other blocks.
//!
//! Imports are read from token trees, before anything else of a block: the macro has to fetch what they name before
//! the block can be parsed, and hands the paths on as they were written.

use proc_macro2::{Delimiter, Group, Ident as Word, Spacing, TokenStream, TokenTree};

use super::ast::{Ident, Use};
use super::parser::is_keyword;
use super::sources::Sources;
use crate::diag::Diagnostic;

/// The imports of a block.
#[derive(Debug, Default)]
pub(super) struct Uses {
    /// Every imported name in order.
    pub(super) names: Vec<Use>,
    /// The other trees of the block.
    pub(super) rest: Vec<TokenTree>,
    /// What could not be understood.
    pub(super) problems: Vec<Diagnostic>,
}

/// Takes the imports out of a block: no other item has the word `use` outside of its brackets.
pub(super) fn take(tokens: TokenStream, sources: &mut Sources) -> Uses {
    let mut uses = Uses::default();
    let mut trees = tokens.into_iter();
    while let Some(tree) = trees.next() {
        if !matches!(&tree, TokenTree::Ident(word) if word == "use") {
            uses.rest.push(tree);
            continue;
        }
        let visibility = visibility_before(&mut uses.rest);
        let mut reader = Reader { visibility, uses: &mut uses, sources };
        reader.refuse_attributes();
        let path = bare(trees.by_ref().take_while(|tree| !is_punct(tree, ';')));
        let Some(last) = path.last() else {
            reader.refuse(&tree, "expected the path of what is imported", "write `use path::name;`");
            continue;
        };
        let last = last.clone();
        reader.tree(&path, &TokenStream::new(), &last);
    }
    uses
}

/// The trees of a path without invisible brackets, in which a macro that makes the block wraps a path of its caller.
fn bare(trees: impl Iterator<Item = TokenTree>) -> Vec<TokenTree> {
    let unwrapped = |tree| match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => bare(group.stream().into_iter()),
        other => vec![other],
    };
    trees.flat_map(unwrapped).collect()
}

/// Takes the visibility off the end of `trees`.
fn visibility_before(trees: &mut Vec<TokenTree>) -> TokenStream {
    let is_pub = |tree: &TokenTree| matches!(tree, TokenTree::Ident(word) if word == "pub");
    // A macro that makes the block wraps a visibility in invisible brackets.
    let wrapped = |tree: &TokenTree| match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
            group.stream().into_iter().next().is_none_or(|first| is_pub(&first))
        }
        _ => false,
    };
    let from = match trees.as_slice() {
        [.., last] if is_pub(last) || wrapped(last) => trees.len() - 1,
        [.., word, TokenTree::Group(group)]
            if is_pub(word) && group.delimiter() == Delimiter::Parenthesis =>
        {
            trees.len() - 2
        }
        _ => trees.len(),
    };
    trees.drain(from..).collect()
}

/// Reads the paths of one import.
struct Reader<'r> {
    visibility: TokenStream,
    uses: &'r mut Uses,
    sources: &'r mut Sources,
}

impl Reader<'_> {
    fn refuse(&mut self, at: &TokenTree, message: &str, help: &str) {
        let span = match at {
            TokenTree::Group(group) => group.span_open(),
            other => other.span(),
        };
        let at = self.sources.add(span, span);
        self.uses.problems.push(Diagnostic::new("import", message, at).help(help));
    }

    /// Attributes before the import.
    fn refuse_attributes(&mut self) {
        while let [.., sign, TokenTree::Group(group)] = self.uses.rest.as_slice()
            && is_punct(sign, '#')
            && group.delimiter() == Delimiter::Bracket
        {
            let sign = sign.clone();
            self.uses.rest.truncate(self.uses.rest.len() - 2);
            self.refuse(&sign, "an import has no attributes", "leave them out");
        }
    }

    /// A path, whose beginning has been read, with what it ends in: a name, or a list of paths.
    fn tree(&mut self, trees: &[TokenTree], before: &TokenStream, last: &TokenTree) {
        let mut path = before.clone();
        let mut rest = trees;
        if let Some(after) = separator(rest) {
            if !before.is_empty() {
                return self.refuse(&rest[0], "expected a name", "write `use path::{f, g};`");
            }
            path.extend(rest[..2].iter().cloned());
            rest = after;
        }
        loop {
            match rest {
                [TokenTree::Ident(word), after @ ..] => {
                    if let Some(deeper) = separator(after) {
                        path.extend(rest[..3].iter().cloned());
                        rest = deeper;
                        continue;
                    }
                    return self.leaf(word, after, path);
                }
                [TokenTree::Group(group)] if group.delimiter() == Delimiter::Brace => {
                    return self.list(group, &path);
                }
                [star, ..] if is_punct(star, '*') => {
                    let help = "name what the block uses, as `use path::{f, Layer};`";
                    return self.refuse(star, "all items of a module cannot be imported at once", help);
                }
                [other, ..] => {
                    return self.refuse(
                        other,
                        "expected a name in the path",
                        "write `use path::{f, Layer};`",
                    );
                }
                [] => return self.refuse(last, "the path ends here", "write `use path::{f, Layer};`"),
            }
        }
    }

    /// `{a, b::c}` at the end of a path.
    fn list(&mut self, group: &Group, path: &TokenStream) {
        let trees = bare(group.stream().into_iter());
        for part in trees.split(|tree| is_punct(tree, ',')) {
            // After the last comma there may be nothing.
            if let Some(last) = part.last() {
                self.tree(part, path, last);
            }
        }
    }

    /// The imported name, and what it is called here.
    fn leaf(&mut self, word: &Word, after: &[TokenTree], path: TokenStream) {
        let alias = match after {
            [] => word,
            [TokenTree::Ident(keyword), TokenTree::Ident(alias)] if keyword == "as" => alias,
            [other, ..] => {
                let help = "write `use path::name as other;`";
                return self.refuse(other, "this does not belong to a path", help);
            }
        };
        for name in [word, alias] {
            if is_keyword(&name.to_string()) {
                let message = format!("`{name}` is no item of a block");
                return self.refuse(
                    &TokenTree::Ident(name.clone()),
                    &message,
                    "name functions, structs and constants",
                );
            }
        }
        let mut ident =
            |word: &Word| Ident { text: word.to_string(), at: self.sources.add(word.span(), word.span()) };
        let (item, name) = (ident(word), ident(alias));
        let visibility = self.visibility.clone();
        self.uses.names.push(Use { visibility, path, item, name, home: None });
    }
}

/// What follows a `::` at the beginning.
fn separator(trees: &[TokenTree]) -> Option<&[TokenTree]> {
    match trees {
        [TokenTree::Punct(first), second, rest @ ..]
            if first.as_char() == ':' && first.spacing() == Spacing::Joint && is_punct(second, ':') =>
        {
            Some(rest)
        }
        _ => None,
    }
}

fn is_punct(tree: &TokenTree, char: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == char)
}
