//! Finds the names by which a function takes derivatives.

use std::collections::BTreeSet;

use crate::syntax::ast::{Body, Expr, ExprKind, IndexItem, Iterable, Pattern, Statement, Step};

/// The functions whose second argument names variables.
pub(super) const DERIVATIVES: [&str; 4] = ["grad", "vjp", "jvp", "hvp"];

/// All names by which `body` takes a derivative, and the names of which they are copies.
///
/// A name may be in the set without need; its value is then a variable of its own, which changes nothing but
/// that it is not merged with an equal one.
pub(super) fn targets(body: &Body) -> BTreeSet<String> {
    let mut found = Found::default();
    found.body(body);
    // `let b = a;` makes `b` the same variable as `a`; later copies are read first.
    for (copy, source) in found.copies.iter().rev() {
        if found.targets.contains(copy) {
            found.targets.insert(source.clone());
        }
    }
    found.targets
}

#[derive(Default)]
struct Found {
    targets: BTreeSet<String>,
    copies: Vec<(String, String)>,
}

impl Found {
    fn body(&mut self, body: &Body) {
        for statement in &body.statements {
            match statement {
                Statement::Let { pattern, value, .. } => {
                    self.copy(pattern, value);
                    self.expr(value);
                }
                Statement::Assign { target, value, .. } => {
                    self.copies.extend(
                        copied_name(value).map(|source| (target.name.text.clone(), source.to_owned())),
                    );
                    for step in &target.steps {
                        if let Step::Index(items, _) = step {
                            self.index(items);
                        }
                    }
                    self.expr(value);
                }
                Statement::For { pattern, over, body, .. } => {
                    match over {
                        Iterable::Range { from, to, .. } => {
                            self.expr(from);
                            self.expr(to);
                        }
                        Iterable::Each(each) => {
                            self.over(pattern, each);
                            self.expr(each);
                        }
                    }
                    self.body(body);
                }
            }
        }
        if let Some(value) = &body.value {
            self.expr(value);
        }
    }

    /// The names of a loop are copies of the elements of what it goes over.
    fn over(&mut self, pattern: &Pattern, each: &Expr) {
        match (pattern, &each.kind) {
            (Pattern::Tuple(parts, _), ExprKind::Call { name, args, .. }) => {
                match (name.text.as_str(), parts.as_slice(), args.as_slice()) {
                    ("enumerate", [_, element], [inner]) => self.over(element, inner),
                    ("zip", ..) => parts.iter().zip(args).for_each(|(part, arg)| self.over(part, arg)),
                    _ => {}
                }
            }
            (_, ExprKind::Call { args, .. }) => args.iter().for_each(|arg| self.over(pattern, arg)),
            _ => self.copy(pattern, each),
        }
    }

    fn index(&mut self, items: &[IndexItem]) {
        for item in items {
            match item {
                IndexItem::Rest(_) => {}
                IndexItem::Range { from, to, step, .. } => {
                    [from, to, step].into_iter().flatten().for_each(|part| self.expr(part));
                }
                IndexItem::At(index) => self.expr(index),
            }
        }
    }

    fn copy(&mut self, pattern: &Pattern, value: &Expr) {
        match (pattern, &value.kind) {
            (
                Pattern::Name(name) | Pattern::Mutable(name),
                ExprKind::Name(_) | ExprKind::Field(..) | ExprKind::Index(..),
            ) => {
                self.copies.extend(copied_name(value).map(|source| (name.text.clone(), source.to_owned())));
            }
            (Pattern::Name(name) | Pattern::Mutable(name), ExprKind::Tuple(items)) => {
                let copied = items.iter().filter_map(copied_name);
                self.copies.extend(copied.map(|source| (name.text.clone(), source.to_owned())));
            }
            (Pattern::Tuple(patterns, _), ExprKind::Name(_)) => {
                patterns.iter().for_each(|pattern| self.copy(pattern, value));
            }
            (Pattern::Tuple(patterns, _), ExprKind::Tuple(items)) => {
                for (pattern, item) in patterns.iter().zip(items) {
                    self.copy(pattern, item);
                }
            }
            _ => {}
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Int(..)
            | ExprKind::Float(..)
            | ExprKind::Bool(_)
            | ExprKind::Str(_)
            | ExprKind::Name(_) => {}
            ExprKind::Unary(_, inner) | ExprKind::Cast(inner, _) | ExprKind::Field(inner, _) => {
                self.expr(inner)
            }
            ExprKind::Binary(_, left, right) => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Call { name, args, options, .. } => {
                if DERIVATIVES.contains(&name.text.as_str()) {
                    let by_name =
                        options.iter().find(|(option, _)| option.text == "x").map(|(_, value)| value);
                    if let Some(target) = args.get(1).or(by_name) {
                        self.target(target);
                    }
                }
                args.iter().chain(options.iter().map(|(_, value)| value)).for_each(|arg| self.expr(arg));
            }
            ExprKind::Block(body) => self.body(body),
            ExprKind::Closure(_, body) => self.expr(body),
            ExprKind::If { condition, then, otherwise } => {
                self.expr(condition);
                self.body(then);
                self.body(otherwise);
            }
            ExprKind::Tuple(items) | ExprKind::Array(items) => items.iter().for_each(|item| self.expr(item)),
            ExprKind::Axes(_) => {}
            ExprKind::Index(value, items) => {
                self.expr(value);
                self.index(items);
            }
            ExprKind::Struct { fields, base, .. } => {
                fields
                    .iter()
                    .map(|(_, value)| value)
                    .chain(base.as_deref())
                    .for_each(|value| self.expr(value));
            }
        }
    }

    fn target(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name(name) => {
                self.targets.insert(name.clone());
            }
            ExprKind::Tuple(items) => items.iter().for_each(|item| self.target(item)),
            ExprKind::Field(inner, _) | ExprKind::Index(inner, _) => self.target(inner),
            _ => {}
        }
    }
}

/// The name that an expression copies: itself, or that of the tuple, struct or array of which it is a part.
pub(super) fn copied_name(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Field(inner, _) | ExprKind::Index(inner, _) => copied_name(inner),
        _ => None,
    }
}

/// Whether an index is on the way from the name that is copied.
pub(super) fn is_indexed(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Index(..) => true,
        ExprKind::Field(inner, _) => is_indexed(inner),
        _ => false,
    }
}
