//! The tree as text, for comparison.

use super::super::ast::*;

pub(super) fn expr(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Int(value, suffix) => suffixed(&value.to_string(), suffix),
        ExprKind::Float(text, suffix) => suffixed(text, suffix),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Str(text) => format!("{text:?}"),
        ExprKind::Name(name) => name.clone(),
        ExprKind::Unary(UnaryOp::Neg, a) => format!("(- {})", expr(a)),
        ExprKind::Unary(UnaryOp::Not, a) => format!("(! {})", expr(a)),
        ExprKind::Binary(op, a, b) => format!("({} {} {})", binary(*op), expr(a), expr(b)),
        ExprKind::Call { name, args, options, method } => {
            let mut words = vec![format!("{}{}", if *method { "." } else { "" }, name.text)];
            words.extend(args.iter().map(expr));
            words.extend(options.iter().map(|(name, value)| format!("{}={}", name.text, expr(value))));
            format!("({})", words.join(" "))
        }
        ExprKind::Cast(a, ty) => format!("(as {} {})", expr(a), ty.text),
        ExprKind::Block(block) => body(block),
        ExprKind::If { condition, then, otherwise } => {
            format!("(if {} {} {})", expr(condition), body(then), body(otherwise))
        }
        ExprKind::Closure(params, value) => {
            let params: Vec<String> = params.iter().map(pattern).collect();
            format!("(closure [{}] {})", params.join(" "), expr(value))
        }
        ExprKind::Tuple(parts) if parts.is_empty() => "(tuple)".to_owned(),
        ExprKind::Tuple(parts) => format!("(tuple {})", all(parts)),
        ExprKind::Array(parts) => format!("[{}]", all(parts)),
        ExprKind::Axes(name) => format!("..{}", name.text),
        ExprKind::Index(a, items) => {
            let items: Vec<String> = items.iter().map(item).collect();
            format!("(index {} {})", expr(a), items.join(" "))
        }
        ExprKind::Struct { name, fields, base } => {
            let mut words = vec![format!("struct {}", name.text)];
            words.extend(fields.iter().map(|(field, value)| format!("{}={}", field.text, expr(value))));
            words.extend(base.iter().map(|base| format!("..{}", expr(base))));
            format!("({})", words.join(" "))
        }
        ExprKind::Field(a, name) => format!("(field {} {})", expr(a), name.text),
    }
}

fn all(parts: &[Expr]) -> String {
    parts.iter().map(expr).collect::<Vec<_>>().join(" ")
}

fn suffixed(text: &str, suffix: &Option<String>) -> String {
    suffix.as_ref().map_or_else(|| text.to_owned(), |suffix| format!("{text}:{suffix}"))
}

fn item(item: &IndexItem) -> String {
    let show = |e: &Option<Box<Expr>>| e.as_deref().map_or_else(String::new, expr);
    match item {
        IndexItem::Rest(_) => "..".to_owned(),
        IndexItem::At(e) => expr(e),
        IndexItem::Range { from, to, step, .. } => {
            let step = step.as_deref().map_or_else(String::new, |step| format!(";{}", expr(step)));
            format!("{}..{}{step}", show(from), show(to))
        }
    }
}

fn binary(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::MatMul => "@",
        BinaryOp::Compare(relation) => relation.symbol(),
        BinaryOp::And => "&",
        BinaryOp::Or => "|",
        BinaryOp::Xor => "^",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
    }
}

pub(super) fn body(block: &Body) -> String {
    let mut parts: Vec<String> = block.statements.iter().map(statement).collect();
    parts.extend(block.value.as_deref().map(expr));
    format!("{{{}}}", parts.join(" "))
}

fn statement(statement: &Statement) -> String {
    match statement {
        Statement::Let { pattern: p, ty: None, value } => format!("let {} = {};", pattern(p), expr(value)),
        Statement::Let { pattern: p, ty: Some(t), value } => {
            format!("let {}: {} = {};", pattern(p), ty(t), expr(value))
        }
        Statement::Assign { target, value, .. } => {
            let steps: String = target.steps.iter().map(step).collect();
            format!("{}{steps} = {};", target.name.text, expr(value))
        }
        Statement::For { pattern: p, over, body: b, .. } => {
            format!("for {} in {} {}", pattern(p), iterable(over), body(b))
        }
    }
}

fn step(step: &Step) -> String {
    match step {
        Step::Field(field) => format!(".{}", field.text),
        Step::Index(items, _) => format!("[{}]", items.iter().map(item).collect::<Vec<_>>().join(" ")),
    }
}

fn iterable(over: &Iterable) -> String {
    match over {
        Iterable::Range { from, to, inclusive, .. } => {
            format!("{}..{}{}", expr(from), if *inclusive { "=" } else { "" }, expr(to))
        }
        Iterable::Each(each) => expr(each),
    }
}

fn pattern(p: &Pattern) -> String {
    match p {
        Pattern::Name(name) => name.text.clone(),
        Pattern::Mutable(name) => format!("mut {}", name.text),
        Pattern::Tuple(parts, _) => format!("({})", parts.iter().map(pattern).collect::<Vec<_>>().join(", ")),
    }
}

pub(super) fn ty(t: &TypeExpr) -> String {
    match &t.kind {
        TypeKind::Tensor { elem, shape } if shape.is_empty() => elem.text.clone(),
        TypeKind::Tensor { elem, shape } => {
            format!("{}[{}]", elem.text, extents(shape))
        }
        TypeKind::Struct { name, dims } => format!("{}<{}>", name.text, extents(dims)),
        TypeKind::Array { element, len } => {
            format!("[{}; {}]", ty(element), extents(std::slice::from_ref(len)))
        }
        TypeKind::Choice(texts) => format!("{texts:?}"),
        TypeKind::Tuple(parts) => format!("({})", parts.iter().map(ty).collect::<Vec<_>>().join(", ")),
    }
}

fn extents(extents: &[Extent]) -> String {
    let each = extents.iter().map(|extent| match extent {
        Extent::Dim(e) => expr(e),
        Extent::Axes(name) => format!("..{}", name.text),
    });
    each.collect::<Vec<_>>().join(", ")
}

pub(super) fn generic(g: &Generic) -> String {
    match g {
        Generic::Dim { name, low: None, high: None } => name.text.clone(),
        Generic::Dim { name, low, high } => {
            let low = low.as_ref().map_or_else(String::new, expr);
            let high = high.as_ref().map_or_else(String::new, |high| format!("={}", expr(high)));
            format!("{}: {low}..{high}", name.text)
        }
        Generic::Elem { name, bound } => format!("{}: {}", name.text, bound.text),
        Generic::Axes { name } => format!("..{}", name.text),
    }
}

pub(super) fn condition(c: &Condition) -> String {
    format!("{} {} {}", expr(&c.left), c.relation.symbol(), expr(&c.right))
}

/// Visits operators, calls and indices with their operands, from the outside in.
pub(super) fn walk(e: &Expr, visit: &mut dyn FnMut(&Expr)) {
    visit(e);
    match &e.kind {
        ExprKind::Binary(_, a, b) => {
            walk(a, visit);
            walk(b, visit);
        }
        ExprKind::Call { args, .. } => args.iter().for_each(|arg| walk(arg, visit)),
        ExprKind::Index(a, _) => walk(a, visit),
        _ => {}
    }
}
