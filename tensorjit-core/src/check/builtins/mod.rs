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
    /// What it gives, in a sentence.
    pub(super) doc: &'static str,
    /// What it does.
    pub(super) handler: Handler,
}

const fn row(
    name: &'static str,
    params: &'static [&'static str],
    required: usize,
    signature: &'static str,
    doc: &'static str,
    handler: Handler,
) -> Builtin {
    Builtin { name, params, required, signature, doc, handler }
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
    row("grad", &["y", "x"], 2, "grad(y, x)",
        "How a float scalar depends on a variable, or on each of a tuple of them; of its shape.", derive::grad),
    row("vjp", &["y", "x", "ybar"], 3, "vjp(y, x, ybar)",
        "The cotangent of a variable for the cotangent `ybar` of `y`.", derive::vjp),
    row("jvp", &["y", "x", "xdot"], 3, "jvp(y, x, xdot)",
        "The derivative of `y` in the direction `xdot` of a variable.", derive::jvp),
    row("hvp", &["y", "x", "v"], 3, "hvp(y, x, v)",
        "The second derivatives of a float scalar times `v`.", derive::hvp),
    row("jacobian", &["y", "x"], 2, "jacobian(y, x)",
        "How each element of `y` depends on each of a variable: the axes of `y`, then those of the variable.", jacobian::jacobian),
    row("hessian", &["y", "x"], 2, "hessian(y, x)",
        "The second derivatives of a float scalar: the axes of the variable, twice.", jacobian::hessian),
    row("jacobian_diagonal", &["y", "x"], 2, "jacobian_diagonal(y, x)",
        "How each element of `y` depends on that of a variable in its place.", jacobian::jacobian_diagonal),
    row("hessian_diagonal", &["y", "x"], 2, "hessian_diagonal(y, x)",
        "The second derivatives of a float scalar by each element of a variable alone.", jacobian::hessian_diagonal),
    row("stop_gradient", &["x", "instead"], 1, "stop_gradient(x, instead = y)",
        "`x`, as a constant to every derivative; with the derivative of `y` where `instead = y`, whose shape is that of `x`.", derive::stop_gradient),

    row("zeros", &["shape", "dtype"], 1, "zeros([N, M], dtype = f32)",
        "Zeros, of the type of what they meet or of `dtype`.", create::zeros),
    row("ones", &["shape", "dtype"], 1, "ones([N, M], dtype = f32)",
        "Ones, of the type of what they meet or of `dtype`.", create::ones),
    row("full", &["shape", "value", "dtype"], 2, "full([N, M], value, dtype = f32)",
        "A scalar at every place.", create::full),
    row("eye", &["n", "m", "dtype"], 1, "eye(n, m = n, dtype = f32)",
        "Ones where row and column are equal, and zeros.", create::eye),
    row("iota", &["n", "dtype"], 1, "iota(n, dtype = i64)",
        "0, 1, 2 and so on, of the type of what they meet or of `dtype`.", create::iota),
    row("arange", &["start", "stop", "step", "dtype"], 1, "arange(start, stop, step = 1, dtype = i64)",
        "From `start` in steps up to `stop`, that one excluded; `arange(stop)` starts at 0.", create::arange),
    row("linspace", &["start", "stop", "num", "endpoint"], 3, "linspace(start, stop, num, endpoint = true)",
        "`num` points from `start` to `stop`, at equal distances.", create::linspace),

    row("sum", REDUCE, 1, "sum(x, axis = all, keepdims = false)",
        "The sum along axes; of a struct, of all its leaves.", reduce::sum),
    row("prod", REDUCE, 1, "prod(x, axis = all, keepdims = false)",
        "The product along axes.", reduce::prod),
    row("max", REDUCE, 1, "max(x, axis = all, keepdims = false)",
        "The greatest element along axes, NaN where one is; of two dimensions, `max(N, M)`, the greater.", reduce::max),
    row("min", REDUCE, 1, "min(x, axis = all, keepdims = false)",
        "The least element along axes, NaN where one is; of two dimensions, `min(N, M)`, the lesser.", reduce::min),
    row("any", REDUCE, 1, "any(x, axis = all, keepdims = false)",
        "Whether one of the bools along axes is true.", reduce::any),
    row("all", REDUCE, 1, "all(x, axis = all, keepdims = false)",
        "Whether all bools along axes are true.", reduce::all),
    row("argmax", REDUCE, 1, "argmax(x, axis = all, keepdims = false)",
        "The index of the first NaN, else of the first greatest element, along one axis or in row-major order.", reduce::argmax),
    row("argmin", REDUCE, 1, "argmin(x, axis = all, keepdims = false)",
        "The index of the first NaN, else of the first least element, along one axis or in row-major order.", reduce::argmin),
    row("size", &["x", "axis"], 1, "size(x, axis = all)",
        "The number of elements along axes, as a dimension.", reduce::size),
    row("known", &["condition"], 1, "known(N == M)",
        "Whether a condition on dimensions or options is known to hold while the function is compiled.", reduce::known),
    row("ceil_div", &["a", "b"], 2, "ceil_div(a, b)",
        "The quotient of dimensions, rounded up.", reduce::ceil_div),

    row("cumsum", RUNNING, 1, "cumsum(x, axis = 0, reverse = false, exclusive = false)",
        "The sum of the elements up to each along an axis; with `exclusive` of those before it.", cumulate::cumsum),
    row("cumprod", RUNNING, 1, "cumprod(x, axis = 0, reverse = false, exclusive = false)",
        "The product of the elements up to each along an axis; with `exclusive` of those before it.", cumulate::cumprod),
    row("cummax", RUNNING, 1, "cummax(x, axis = 0, reverse = false, exclusive = false)",
        "The greatest of the elements up to each along an axis; with `exclusive` of those before it.", cumulate::cummax),
    row("cummin", RUNNING, 1, "cummin(x, axis = 0, reverse = false, exclusive = false)",
        "The least of the elements up to each along an axis; with `exclusive` of those before it.", cumulate::cummin),
    row("linear_recurrence", &["a", "b", "axis", "reverse"], 2, "linear_recurrence(a, b, axis = 0, reverse = false)",
        "`y[i] = a[i] * y[i - 1] + b[i]` along an axis, from 0; `a` and `b` broadcast.", cumulate::linear_recurrence),

    row("scan", &["init", "over", "step", "axis", "reverse"], 3, "scan(init, over, |carry, item| (carry, out), axis = 0, reverse = false)",
        "The last carry, and what each step gives, stacked.", loops::scan),
    row("fold", &["init", "over", "step", "axis", "reverse"], 3, "fold(init, over, |carry, item| carry, axis = 0, reverse = false)",
        "The last carry.", loops::fold),
    row("vmap", &["over", "item", "axis"], 2, "vmap(over, |item| value, axis = 0)",
        "What a closure gives for each item, stacked.", loops::vmap),
    row("while_loop", &["init", "condition", "step", "max"], 4, "while_loop(init, |carry| condition, |carry| carry, max = 100)",
        "The carry before the first step whose condition does not hold, or after `max` steps.", loops::while_loop),

    row("matmul", &["a", "b"], 2, "matmul(a, b)",
        "The matrix product, `a @ b`.", matmul::matmul),
    row("dot", &["a", "b"], 2, "dot(a, b)",
        "The sum of the products of two vectors.", matmul::dot),

    row("cholesky", &["a"], 1, "cholesky(a)",
        "The lower triangular factor of positive definite matrices.", linalg::cholesky),
    row("triangular_solve", &["a", "b", "lower", "transposed", "unit_diagonal", "left"], 2, "triangular_solve(a, b, lower = true, transposed = false, unit_diagonal = false, left = true)",
        "`x` of `a @ x = b`, or of `x @ a = b` where not `left`, of which one triangle of `a` is read.", linalg::triangular_solve),
    row("solve", &["a", "b"], 2, "solve(a, b)",
        "`x` of `a @ x = b`; `b` is matrices, or a vector.", linalg::solve),
    row("inverse", &["a"], 1, "inverse(a)",
        "The inverse of matrices.", linalg::inverse),
    row("det", &["a"], 1, "det(a)",
        "The determinants of matrices.", linalg::det),
    row("slogdet", &["a"], 1, "slogdet(a)",
        "The signs of determinants, and the logarithms of their sizes.", linalg::slogdet),

    row("einsum", &["subscripts", "a", "b", "c", "d", "e", "f", "g", "h"], 2, "einsum(\"ij,jk->ik\", a, b)",
        "Products of up to eight tensors summed over the axes that the result lacks, by their letters.", einsum::einsum),

    row("reshape", &["x", "shape"], 2, "reshape(x, [N, M])",
        "The same elements in row-major order under another shape; one extent may be -1, which is what is left.", movement::reshape),
    row("transpose", &["x", "axes"], 1, "transpose(x, axes = reversed)",
        "The axes in another order, reversed where none is given.", movement::transpose),
    row("permute", &["x", "axes"], 2, "permute(x, (1, 0))",
        "The axes in another order.", movement::transpose),
    row("broadcast_to", &["x", "shape"], 2, "broadcast_to(x, [N, M])",
        "Repeated along new axes on the left, and along axes of extent 1.", movement::broadcast_to),
    row("expand_dims", &["x", "axis"], 2, "expand_dims(x, axis = 0)",
        "With new axes of extent 1, at places in the result.", movement::expand_dims),
    row("squeeze", &["x", "axis"], 1, "squeeze(x, axis = 0)",
        "Without axes of extent 1: those named, or all.", movement::squeeze),
    row("flip", &["x", "axis"], 1, "flip(x, axis = all)",
        "From the last element to the first along axes.", movement::flip),
    row("drop_axes", &["x", "axis", "keepdims"], 3, "drop_axes(x, axis, keepdims)",
        "Without axes of extent 1, unless they are to be kept: what a helper does that has the option `keepdims`.", movement::drop_axes),

    row("pad", &["x", "widths", "value", "mode"], 2, "pad(x, [(low, high), ..], value = 0, mode = \"constant\")",
        "With a border of a value or, by `mode`, of what `reflect`, `symmetric`, `edge` or `wrap` repeats.", combine::pad),
    row("concat", &["tensors", "axis"], 1, "concat([a, b], axis = 0)",
        "Tensors one after another along an axis.", combine::concat),
    row("stack", &["tensors", "axis"], 1, "stack([a, b], axis = 0)",
        "Tensors of one shape beside one another along a new axis.", combine::stack),
    row("roll", &["x", "shift", "axis"], 2, "roll(x, shift, axis = 0)",
        "Elements moved along an axis; those that leave at its end come back at its start.", arrange::roll),
    row("tile", &["x", "reps"], 2, "tile(x, (2, 3))",
        "The whole tensor so many times along each axis.", arrange::tile),
    row("repeat", &["x", "repeats", "axis"], 2, "repeat(x, 2, axis = 0)",
        "Each element so many times along an axis.", arrange::repeat),
    row("diagonal", &["x", "offset", "axis1", "axis2"], 1, "diagonal(x, offset = 0, axis1 = 0, axis2 = 1)",
        "The elements at equal indices of two axes, the second shifted by `offset`, along a last axis.", arrange::diagonal),
    row("meshgrid", &["vectors", "indexing"], 1, "meshgrid([a, b], indexing = \"xy\")",
        "A tuple of each vector along an axis of its own, repeated along the others; the first two axes change places unless `indexing` is `ij`.", arrange::meshgrid),
    row("indices", &["x", "extent"], 2, "indices(x, N)",
        "Integers as indices of an axis of `N` elements, as `i64`: those of an argument are checked at the call, computed ones are clamped.", combine::indices),

    row("argsort", &["x", "axis", "descending"], 1, "argsort(x, axis = -1, descending = false)",
        "The indices that sort along an axis; equal elements keep their order, NaN comes last.", sort::argsort),
    row("sort", &["x", "axis", "descending"], 1, "sort(x, axis = -1, descending = false)",
        "The elements in order along an axis; equal ones keep theirs, NaN comes last.", sort::sort),
    row("top_k", &["x", "k", "axis", "largest"], 2, "top_k(x, k, axis = -1, largest = true)",
        "The `k` greatest or least elements in order along an axis, and their indices; NaN is the greatest.", sort::top_k),
    row("take", &["x", "indices", "axis"], 2, "take(x, indices, axis = 0)",
        "The elements at indices along an axis, whose place the axes of the indices take.", place::take),
    row("take_along_axis", &["x", "indices", "axis"], 2, "take_along_axis(x, indices, axis = 0)",
        "The elements at indices along an axis, the other axes going along.", place::take_along_axis),
    row("put_along_axis", &["x", "indices", "values", "axis", "mode"], 3, "put_along_axis(x, indices, values, axis = 0, mode = \"set\")",
        "`x` with values at indices along an axis, the other axes going along: set, or combined by `add`, `mul`, `max` or `min`.", place::put_along_axis),
    row("scatter_set", SCATTER, 3, "scatter_set(base, indices, updates, axis = 0)",
        "`base` with updates at indices; of several at one place the last wins.", place::scatter_set),
    row("scatter_add", SCATTER, 3, "scatter_add(base, indices, updates, axis = 0)",
        "`base` with updates at indices added.", place::scatter_add),
    row("scatter_mul", SCATTER, 3, "scatter_mul(base, indices, updates, axis = 0)",
        "`base` with updates at indices multiplied.", place::scatter_mul),
    row("scatter_max", SCATTER, 3, "scatter_max(base, indices, updates, axis = 0)",
        "The greatest of `base` and updates at indices.", place::scatter_max),
    row("scatter_min", SCATTER, 3, "scatter_min(base, indices, updates, axis = 0)",
        "The least of `base` and updates at indices.", place::scatter_min),
    row("dynamic_slice", &["x", "starts", "sizes"], 3, "dynamic_slice(x, (i, j), [n, m])",
        "A window of constant size at a computed start, which is clamped so that it lies inside.", place::dynamic_slice),
    row("dynamic_update_slice", &["x", "update", "starts"], 3, "dynamic_update_slice(x, update, (i, j))",
        "`x` with a window at a computed start replaced, which is clamped so that it lies inside.", place::dynamic_update_slice),

    row("rand::key", &["seed"], 1, "rand::key(seed)",
        "The key of a seed.", random::key),
    row("rand::split", &["key", "n"], 2, "rand::split(key, n)",
        "`n` other keys of a key.", random::split),
    row("rand::fold_in", &["key", "data"], 2, "rand::fold_in(key, data)",
        "Another key of a key and a number.", random::fold_in),
    row("rand::bits", &["key", "shape"], 2, "rand::bits(key, [N, M])",
        "Random words of `u32`.", random::bits),
    row("rand::uniform", &["key", "shape", "dtype"], 2, "rand::uniform(key, [N, M], dtype = f32)",
        "Random numbers from 0 up to 1, that one excluded.", random::uniform),
    row("rand::normal", &["key", "shape", "dtype"], 2, "rand::normal(key, [N, M], dtype = f32)",
        "Random numbers of the normal distribution, with mean 0 and variance 1.", random::normal),
    row("rand::bernoulli", &["key", "p", "shape"], 3, "rand::bernoulli(key, p, [N, M])",
        "Random truth values, true with the probability `p`, which broadcasts.", random::bernoulli),
    row("flat_indices", &["x"], 1, "flat_indices(x)",
        "The position of each element in row-major order.", random::flat_indices),

    row("windows", &["x", "axis", "size", "stride", "dilation"], 3, "windows(x, axis, size, stride = 1, dilation = 1)",
        "The windows of an axis in its place, and their elements along a last axis.", window::windows),
    row("conv", &["x", "w", "stride", "padding", "dilation", "groups"], 2, "conv(x, w, stride = 1, padding = 0, dilation = 1, groups = 1)",
        "The convolution of channels, axis 1, along the one to three axes after them, as networks have it.", window::conv),
    row("conv_transpose", CONV_TRANSPOSE, 2, "conv_transpose(x, w, stride = 1, padding = 0, output_padding = 0, dilation = 1, groups = 1)",
        "The transpose of `conv`.", window::conv_transpose),
    row("max_pool", POOL, 2, "max_pool(x, size, stride = size, padding = 0, dilation = 1, ceil_mode = false)",
        "The greatest element of each window of the last axes.", window::max_pool),
    row("sum_pool", POOL, 2, "sum_pool(x, size, stride = size, padding = 0, dilation = 1, ceil_mode = false)",
        "The sum of each window of the last axes.", window::sum_pool),
    row("avg_pool", AVG_POOL, 2, "avg_pool(x, size, stride = size, padding = 0, dilation = 1, ceil_mode = false, count_include_pad = false)",
        "The mean of each window of the last axes; of what is no border, unless `count_include_pad`.", window::avg_pool),
    row("lp_pool", LP_POOL, 2, "lp_pool(x, size, stride = size, padding = 0, dilation = 1, ceil_mode = false, p = 2)",
        "The `p`-norm of each window of the last axes.", window::lp_pool),
];

/// The function of that name.
pub(super) fn find(name: &str) -> Option<&'static Builtin> {
    TABLE.iter().find(|builtin| builtin.name == name)
}

/// The signatures of all, and what they give.
pub(super) fn described() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLE.iter().map(|builtin| (builtin.signature, builtin.doc))
}

/// The names of all, and of the elementwise functions.
pub(super) fn names<'n>() -> impl Iterator<Item = &'n str> {
    use crate::graph::table::{Ew, row::Form};
    let rows = Ew::ALL.iter().map(|row| row.row()).filter(|row| row.form == Form::Call).map(|row| row.name);
    TABLE.iter().map(|builtin| builtin.name).chain(rows)
}
