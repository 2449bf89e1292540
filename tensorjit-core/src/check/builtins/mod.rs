//! Functions of the language that need more than the language itself: one table, and their handlers by family.

mod arrange;
mod combine;
mod create;
mod cumulate;
mod einsum;
mod linalg;
mod loops;
mod matmul;
mod movement;
mod place;
mod random;
mod reduce;
mod window;
mod sort;

use super::call::Call;
use super::derive;
use super::jacobian;
use super::report::Checked;
use super::scope::Checker;
use super::value::Value;

/// Checks a call and builds its nodes.
type Handler = fn(&mut Checker<'_>, &Call<'_>) -> Checked<Value>;

/// A function with its parameters.
pub(super) struct Builtin {
    /// The name.
    pub(super) name: &'static str,
    /// The parameters; those that must be given come first.
    pub(super) params: &'static [&'static str],
    /// How many must be given.
    pub(super) required: usize,
    /// As errors show it.
    pub(super) signature: &'static str,
    /// What it does.
    pub(super) handler: Handler,
}

const fn row(
    name: &'static str,
    params: &'static [&'static str],
    required: usize,
    signature: &'static str,
    handler: Handler,
) -> Builtin {
    Builtin { name, params, required, signature, handler }
}

const POOL: &[&str] = &["x", "size", "stride", "padding", "dilation", "ceil_mode"];
const AVG_POOL: &[&str] = &["x", "size", "stride", "padding", "dilation", "ceil_mode", "count_include_pad"];
const LP_POOL: &[&str] = &["x", "size", "stride", "padding", "dilation", "ceil_mode", "p"];
const CONV_TRANSPOSE: &[&str] = &["x", "w", "stride", "padding", "output_padding", "dilation", "groups"];
const REDUCE: &[&str] = &["x", "axis", "keepdims"];
const SCATTER: &[&str] = &["base", "indices", "updates", "axis"];
const RUNNING: &[&str] = &["x", "axis", "reverse", "exclusive"];

/// All of them, by family.
#[rustfmt::skip]
static TABLE: &[Builtin] = &[
    row("grad", &["y", "x"], 2, "grad(y, x)", derive::grad),
    row("vjp", &["y", "x", "ybar"], 3, "vjp(y, x, ybar)", derive::vjp),
    row("jvp", &["y", "x", "xdot"], 3, "jvp(y, x, xdot)", derive::jvp),
    row("hvp", &["y", "x", "v"], 3, "hvp(y, x, v)", derive::hvp),
    row("jacobian", &["y", "x"], 2, "jacobian(y, x)", jacobian::jacobian),
    row("hessian", &["y", "x"], 2, "hessian(y, x)", jacobian::hessian),
    row("jacobian_diagonal", &["y", "x"], 2, "jacobian_diagonal(y, x)", jacobian::jacobian_diagonal),
    row("hessian_diagonal", &["y", "x"], 2, "hessian_diagonal(y, x)", jacobian::hessian_diagonal),
    row("stop_gradient", &["x"], 1, "stop_gradient(x)", derive::stop_gradient),

    row("zeros", &["shape", "dtype"], 1, "zeros([N, M], dtype = f32)", create::zeros),
    row("ones", &["shape", "dtype"], 1, "ones([N, M], dtype = f32)", create::ones),
    row("full", &["shape", "value", "dtype"], 2, "full([N, M], value, dtype = f32)", create::full),
    row("eye", &["n", "m", "dtype"], 1, "eye(n, m = n, dtype = f32)", create::eye),
    row("iota", &["n", "dtype"], 1, "iota(n, dtype = i64)", create::iota),
    row("arange", &["start", "stop", "step", "dtype"], 1, "arange(start, stop, step = 1, dtype = i64)", create::arange),
    row("linspace", &["start", "stop", "num", "endpoint"], 3, "linspace(start, stop, num, endpoint = true)", create::linspace),

    row("sum", REDUCE, 1, "sum(x, axis = all, keepdims = false)", reduce::sum),
    row("prod", REDUCE, 1, "prod(x, axis = all, keepdims = false)", reduce::prod),
    row("max", REDUCE, 1, "max(x, axis = all, keepdims = false)", reduce::max),
    row("min", REDUCE, 1, "min(x, axis = all, keepdims = false)", reduce::min),
    row("any", REDUCE, 1, "any(x, axis = all, keepdims = false)", reduce::any),
    row("all", REDUCE, 1, "all(x, axis = all, keepdims = false)", reduce::all),
    row("argmax", REDUCE, 1, "argmax(x, axis = all, keepdims = false)", reduce::argmax),
    row("argmin", REDUCE, 1, "argmin(x, axis = all, keepdims = false)", reduce::argmin),
    row("size", &["x", "axis"], 1, "size(x, axis = all)", reduce::size),
    row("known", &["condition"], 1, "known(N == M)", reduce::known),
    row("ceil_div", &["a", "b"], 2, "ceil_div(a, b)", reduce::ceil_div),

    row("cumsum", RUNNING, 1, "cumsum(x, axis = 0, reverse = false, exclusive = false)", cumulate::cumsum),
    row("cumprod", RUNNING, 1, "cumprod(x, axis = 0, reverse = false, exclusive = false)", cumulate::cumprod),
    row("cummax", RUNNING, 1, "cummax(x, axis = 0, reverse = false, exclusive = false)", cumulate::cummax),
    row("cummin", RUNNING, 1, "cummin(x, axis = 0, reverse = false, exclusive = false)", cumulate::cummin),
    row("linear_recurrence", &["a", "b", "axis", "reverse"], 2, "linear_recurrence(a, b, axis = 0, reverse = false)", cumulate::linear_recurrence),

    row("scan", &["init", "over", "step", "axis", "reverse"], 3, "scan(init, over, |carry, item| (carry, out), axis = 0, reverse = false)", loops::scan),
    row("fold", &["init", "over", "step", "axis", "reverse"], 3, "fold(init, over, |carry, item| carry, axis = 0, reverse = false)", loops::fold),
    row("vmap", &["over", "item", "axis"], 2, "vmap(over, |item| value, axis = 0)", loops::vmap),
    row("while_loop", &["init", "condition", "step", "max"], 4, "while_loop(init, |carry| condition, |carry| carry, max = 100)", loops::while_loop),

    row("matmul", &["a", "b"], 2, "matmul(a, b)", matmul::matmul),
    row("dot", &["a", "b"], 2, "dot(a, b)", matmul::dot),

    row("cholesky", &["a"], 1, "cholesky(a)", linalg::cholesky),
    row("triangular_solve", &["a", "b", "lower", "transposed", "unit_diagonal", "left"], 2, "triangular_solve(a, b, lower = true, transposed = false, unit_diagonal = false, left = true)", linalg::triangular_solve),
    row("solve", &["a", "b"], 2, "solve(a, b)", linalg::solve),
    row("inverse", &["a"], 1, "inverse(a)", linalg::inverse),
    row("det", &["a"], 1, "det(a)", linalg::det),
    row("slogdet", &["a"], 1, "slogdet(a)", linalg::slogdet),

    row("einsum", &["subscripts", "a", "b", "c", "d", "e", "f", "g", "h"], 2, "einsum(\"ij,jk->ik\", a, b)", einsum::einsum),

    row("reshape", &["x", "shape"], 2, "reshape(x, [N, M])", movement::reshape),
    row("transpose", &["x", "axes"], 1, "transpose(x, axes = reversed)", movement::transpose),
    row("permute", &["x", "axes"], 2, "permute(x, (1, 0))", movement::transpose),
    row("broadcast_to", &["x", "shape"], 2, "broadcast_to(x, [N, M])", movement::broadcast_to),
    row("expand_dims", &["x", "axis"], 2, "expand_dims(x, axis = 0)", movement::expand_dims),
    row("squeeze", &["x", "axis"], 1, "squeeze(x, axis = 0)", movement::squeeze),
    row("flip", &["x", "axis"], 1, "flip(x, axis = all)", movement::flip),
    row("drop_axes", &["x", "axis", "keepdims"], 3, "drop_axes(x, axis, keepdims)", movement::drop_axes),

    row("pad", &["x", "widths", "value", "mode"], 2, "pad(x, [(low, high), ..], value = 0, mode = \"constant\")", combine::pad),
    row("concat", &["tensors", "axis"], 1, "concat([a, b], axis = 0)", combine::concat),
    row("stack", &["tensors", "axis"], 1, "stack([a, b], axis = 0)", combine::stack),
    row("roll", &["x", "shift", "axis"], 2, "roll(x, shift, axis = 0)", arrange::roll),
    row("tile", &["x", "reps"], 2, "tile(x, (2, 3))", arrange::tile),
    row("repeat", &["x", "repeats", "axis"], 2, "repeat(x, 2, axis = 0)", arrange::repeat),
    row("diagonal", &["x", "offset", "axis1", "axis2"], 1, "diagonal(x, offset = 0, axis1 = 0, axis2 = 1)", arrange::diagonal),
    row("meshgrid", &["vectors", "indexing"], 1, "meshgrid([a, b], indexing = \"xy\")", arrange::meshgrid),
    row("indices", &["x", "extent"], 2, "indices(x, N)", combine::indices),

    row("argsort", &["x", "axis", "descending"], 1, "argsort(x, axis = -1, descending = false)", sort::argsort),
    row("sort", &["x", "axis", "descending"], 1, "sort(x, axis = -1, descending = false)", sort::sort),
    row("top_k", &["x", "k", "axis", "largest"], 2, "top_k(x, k, axis = -1, largest = true)", sort::top_k),
    row("take", &["x", "indices", "axis"], 2, "take(x, indices, axis = 0)", place::take),
    row("take_along_axis", &["x", "indices", "axis"], 2, "take_along_axis(x, indices, axis = 0)", place::take_along_axis),
    row("put_along_axis", &["x", "indices", "values", "axis", "mode"], 3, "put_along_axis(x, indices, values, axis = 0, mode = \"set\")", place::put_along_axis),
    row("scatter_set", SCATTER, 3, "scatter_set(base, indices, updates, axis = 0)", place::scatter_set),
    row("scatter_add", SCATTER, 3, "scatter_add(base, indices, updates, axis = 0)", place::scatter_add),
    row("scatter_mul", SCATTER, 3, "scatter_mul(base, indices, updates, axis = 0)", place::scatter_mul),
    row("scatter_max", SCATTER, 3, "scatter_max(base, indices, updates, axis = 0)", place::scatter_max),
    row("scatter_min", SCATTER, 3, "scatter_min(base, indices, updates, axis = 0)", place::scatter_min),
    row("dynamic_slice", &["x", "starts", "sizes"], 3, "dynamic_slice(x, (i, j), [n, m])", place::dynamic_slice),
    row("dynamic_update_slice", &["x", "update", "starts"], 3, "dynamic_update_slice(x, update, (i, j))", place::dynamic_update_slice),

    row("rand::key", &["seed"], 1, "rand::key(seed)", random::key),
    row("rand::split", &["key", "n"], 2, "rand::split(key, n)", random::split),
    row("rand::fold_in", &["key", "data"], 2, "rand::fold_in(key, data)", random::fold_in),
    row("rand::bits", &["key", "shape"], 2, "rand::bits(key, [N, M])", random::bits),
    row("rand::uniform", &["key", "shape", "dtype"], 2, "rand::uniform(key, [N, M], dtype = f32)", random::uniform),
    row("rand::normal", &["key", "shape", "dtype"], 2, "rand::normal(key, [N, M], dtype = f32)", random::normal),
    row("rand::bernoulli", &["key", "p", "shape"], 3, "rand::bernoulli(key, p, [N, M])", random::bernoulli),
    row("flat_indices", &["x"], 1, "flat_indices(x)", random::flat_indices),

    row("windows", &["x", "axis", "size", "stride", "dilation"], 3, "windows(x, axis, size, stride = 1, dilation = 1)", window::windows),
    row("conv", &["x", "w", "stride", "padding", "dilation", "groups"], 2, "conv(x, w, stride = 1, padding = 0, dilation = 1, groups = 1)", window::conv),
    row("conv_transpose", CONV_TRANSPOSE, 2, "conv_transpose(x, w, stride = 1, padding = 0, output_padding = 0, dilation = 1, groups = 1)", window::conv_transpose),
    row("max_pool", POOL, 2, "max_pool(x, size, stride = size, padding = 0, dilation = 1, ceil_mode = false)", window::max_pool),
    row("sum_pool", POOL, 2, "sum_pool(x, size, stride = size, padding = 0, dilation = 1, ceil_mode = false)", window::sum_pool),
    row("avg_pool", AVG_POOL, 2, "avg_pool(x, size, stride = size, padding = 0, dilation = 1, ceil_mode = false, count_include_pad = false)", window::avg_pool),
    row("lp_pool", LP_POOL, 2, "lp_pool(x, size, stride = size, padding = 0, dilation = 1, ceil_mode = false, p = 2)", window::lp_pool),
];

/// The function of that name.
pub(super) fn find(name: &str) -> Option<&'static Builtin> {
    TABLE.iter().find(|builtin| builtin.name == name)
}

/// The names of all, and of the elementwise functions.
pub(super) fn names<'n>() -> impl Iterator<Item = &'n str> {
    use crate::graph::table::{Ew, row::Form};
    let rows = Ew::ALL.iter().map(|row| row.row()).filter(|row| row.form == Form::Call).map(|row| row.name);
    TABLE.iter().map(|builtin| builtin.name).chain(rows)
}
