//! Tokens in a row: groups opened and closed in place, operators joined, nesting limited.
//!
//! The parser walks an array instead of a tree, so that it can look ahead and recover by index.

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// Brackets nested deeper than this are refused before any recursion sees them.
pub(super) const MAX_NESTING: usize = 128;

/// What a token is.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// A name or a keyword.
    Ident(String),
    /// An operator of one or several characters.
    Op(&'static str),
    /// A literal.
    Literal(Literal),
    /// An opening bracket and the index of its partner.
    Open(Delimiter, usize),
    /// A closing bracket, and the end of the text.
    Close(Delimiter),
}

/// A token and its place.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) first: Span,
    pub(super) last: Span,
    joint: bool,
}

/// Every operator; each prefix of one is one too.
const OPERATORS: &[&str] = &[
    "+", "-", "*", "/", "%", "@", "^", "!", "&", "|", "=", "<", ">", ".", ",", ";", ":", "#", "$", "?", "~",
    "'", "==", "!=", "<=", ">=", "&&", "||", "..", "..=", "...", "::", "->", "=>", "<<", ">>", "<<=", ">>=",
    "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "@=",
];

/// A text in a row.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// All tokens; the last one closes the text.
    pub(super) tokens: Vec<Token>,
    /// The text as it came.
    trees: Vec<TokenTree>,
    /// The first token of each tree.  An operator of several signs is one token; no item begins or ends with one.
    firsts: Vec<usize>,
}

impl Row {
    /// The trees that lie between two tokens outside of all brackets, as they came.
    pub(super) fn trees(&self, range: std::ops::Range<usize>) -> &[TokenTree] {
        let tree = |token: usize| self.firsts.partition_point(|first| *first < token);
        &self.trees[tree(range.start)..tree(range.end)]
    }
}

/// Puts a text in a row; `Err` has the bracket that is nested too deeply.
pub(super) fn flatten(text: Vec<TokenTree>) -> Result<Row, Span> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut open: Vec<(proc_macro2::token_stream::IntoIter, Group, usize)> = Vec::new();
    let mut firsts = Vec::with_capacity(text.len());
    let mut trees = TokenStream::from_iter(text.iter().cloned()).into_iter();
    loop {
        let next = trees.next();
        if open.is_empty() && next.is_some() {
            firsts.push(tokens.len());
        }
        match next {
            Some(TokenTree::Group(group)) => {
                if open.len() == MAX_NESTING {
                    return Err(group.span_open());
                }
                let inside = group.stream().into_iter();
                // The partner is filled in when the group closes.
                tokens.push(Token::new(Kind::Open(group.delimiter(), 0), group.span_open()));
                open.push((std::mem::replace(&mut trees, inside), group, tokens.len() - 1));
            }
            Some(TokenTree::Ident(ident)) => {
                tokens.push(Token::new(Kind::Ident(ident.to_string()), ident.span()));
            }
            Some(TokenTree::Punct(punct)) => push_punct(&mut tokens, &punct),
            Some(TokenTree::Literal(literal)) => {
                let span = literal.span();
                tokens.push(Token::new(Kind::Literal(literal), span));
            }
            None => {
                let Some((outer, group, opening)) = open.pop() else { break };
                trees = outer;
                close(&mut tokens, &group, opening);
            }
        }
    }
    let end = tokens.last().map_or_else(Span::call_site, |token| token.last);
    tokens.push(Token::new(Kind::Close(Delimiter::None), end));
    Ok(Row { tokens, trees: text, firsts })
}

fn close(tokens: &mut Vec<Token>, group: &Group, opening: usize) {
    // A fragment that a macro wraps in invisible brackets needs them only where it is an expression; a visibility
    // may be empty.
    let inside = &tokens[opening + 1..];
    let visibility = matches!(inside.first(), Some(Token { kind: Kind::Ident(word), .. }) if word == "pub");
    if group.delimiter() == Delimiter::None && (inside.len() <= 1 || visibility) {
        tokens.remove(opening);
        for token in &mut tokens[opening..] {
            if let Kind::Open(_, partner) = &mut token.kind {
                *partner -= 1;
            }
        }
        return;
    }
    tokens[opening].kind = Kind::Open(group.delimiter(), tokens.len());
    tokens.push(Token::new(Kind::Close(group.delimiter()), group.span_close()));
}

fn push_punct(tokens: &mut Vec<Token>, punct: &Punct) {
    let joint = punct.spacing() == Spacing::Joint;
    if let Some(Token { kind: Kind::Op(op), last, joint: previous_joint, .. }) = tokens.last_mut()
        && *previous_joint
        && let Some(longer) = operator(op, punct.as_char())
    {
        (*op, *last, *previous_joint) = (longer, punct.span(), joint);
        return;
    }
    // Punctuation outside the table cannot occur: Rust's lexer has no other.
    if let Some(op) = operator("", punct.as_char()) {
        tokens.push(Token { joint, ..Token::new(Kind::Op(op), punct.span()) });
    }
}

fn operator(start: &str, end: char) -> Option<&'static str> {
    OPERATORS
        .iter()
        .copied()
        .find(|op| op.len() == start.len() + end.len_utf8() && op.starts_with(start) && op.ends_with(end))
}

/// The tokens from `range` as a stream again.
pub(super) fn stream(tokens: &[Token], range: std::ops::Range<usize>) -> TokenStream {
    let mut trees: Vec<TokenTree> = Vec::new();
    let mut index = range.start;
    while index < range.end {
        let token = &tokens[index];
        match &token.kind {
            Kind::Ident(text) => {
                let ident = match text.strip_prefix("r#") {
                    Some(raw) => Ident::new_raw(raw, token.first),
                    None => Ident::new(text, token.first),
                };
                trees.push(ident.into());
            }
            Kind::Op(op) => {
                for (position, char) in op.char_indices() {
                    let joint = token.joint || position + 1 < op.len();
                    let mut punct = Punct::new(char, if joint { Spacing::Joint } else { Spacing::Alone });
                    punct.set_span(token.first);
                    trees.push(punct.into());
                }
            }
            Kind::Literal(literal) => trees.push(literal.clone().into()),
            Kind::Open(delimiter, partner) => {
                let mut group = Group::new(*delimiter, stream(tokens, index + 1..*partner));
                group.set_span(token.first);
                trees.push(group.into());
                index = *partner;
            }
            Kind::Close(_) => {}
        }
        index += 1;
    }
    trees.into_iter().collect()
}

impl Token {
    fn new(kind: Kind, span: Span) -> Token {
        Token { kind, first: span, last: span, joint: false }
    }

    /// How an error calls it.
    pub(super) fn describe(&self, end: &str) -> String {
        let bracket = |delimiter: &Delimiter, brackets: [&str; 3]| match delimiter {
            Delimiter::Parenthesis => format!("`{}`", brackets[0]),
            Delimiter::Bracket => format!("`{}`", brackets[1]),
            Delimiter::Brace => format!("`{}`", brackets[2]),
            Delimiter::None => end.to_owned(),
        };
        match &self.kind {
            Kind::Ident(text) => format!("`{text}`"),
            Kind::Op(op) => format!("`{op}`"),
            Kind::Literal(literal) => {
                let text = literal.to_string();
                // A giant literal is not repeated in full.
                if text.chars().count() > 40 { "this literal".to_owned() } else { format!("`{text}`") }
            }
            Kind::Open(delimiter, _) => bracket(delimiter, ["(", "[", "{"]),
            Kind::Close(delimiter) => bracket(delimiter, [")", "]", "}"]),
        }
    }
}
