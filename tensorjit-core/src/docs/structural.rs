//! What the documents say of the structural operators.

/// A structural operator.
pub(super) struct Structural {
    /// The variants of [`crate::graph::Op`] that it describes.
    #[cfg_attr(not(test), expect(dead_code, reason = "the test of completeness reads it"))]
    pub(super) variants: &'static [&'static str],
    /// The name in the textual form of graphs.
    pub(super) op: &'static str,
    /// What the user writes.
    pub(super) written: &'static str,
    /// The element types.
    pub(super) types: &'static str,
    /// What it computes.
    pub(super) doc: &'static str,
    /// Its derivative.
    pub(super) derivative: &'static str,
}

/// All structural operators, in the order of the enum.
pub(super) const STRUCTURAL: &[Structural] = &[
    Structural {
        variants: &["Input"],
        op: "input",
        written: "a parameter",
        types: "any",
        doc: "The values that the caller passes.",
        derivative: "what derivatives are asked by",
    },
    Structural {
        variants: &["Constant"],
        op: "constant",
        written: "a literal, `zeros`, `ones`, `full`",
        types: "any",
        doc: "One number or truth value, repeated where a tensor is wanted.",
        derivative: "0",
    },
    Structural {
        variants: &["DimValue"],
        op: "dim",
        written: "a dimension in an expression, `N as f32`, `size`",
        types: "to i64",
        doc: "The extent as a scalar.",
        derivative: "0: integers carry no derivative",
    },
    Structural {
        variants: &["Iota"],
        op: "iota",
        written: "`iota`, `arange`, `linspace`, `eye`",
        types: "numbers",
        doc: "0, 1, 2 and so on along an axis.",
        derivative: "0",
    },
    Structural {
        variants: &["Broadcast"],
        op: "broadcast",
        written: "`broadcast_to`, `expand_dims`, `tile`, `repeat`, `meshgrid`, operands of smaller rank or with axes of extent 1",
        types: "any",
        doc: "Repeats along new axes and along axes of extent 1.",
        derivative: "linear; its transpose sums over the repeated axes",
    },
    Structural {
        variants: &["Permute"],
        op: "permute",
        written: "`transpose`, `permute`",
        types: "any",
        doc: "Reorders axes.",
        derivative: "linear; its transpose is the inverse order",
    },
    Structural {
        variants: &["Reshape"],
        op: "reshape",
        written: "`reshape`, `squeeze`",
        types: "any",
        doc: "The same elements in row-major order under another shape.",
        derivative: "linear; its transpose is the first shape",
    },
    Structural {
        variants: &["Slice"],
        op: "slice",
        written: "`x[1..N;2, .., 0]`, `flip`, `pad` by what is repeated",
        types: "any",
        doc: "Every so many elements of each axis.",
        derivative: "linear; its transpose pads with zeros",
    },
    Structural {
        variants: &["Pad"],
        op: "pad",
        written: "`pad`",
        types: "any",
        doc: "Surrounds a tensor with one value.",
        derivative: "linear; its transpose slices, and sums the border for the value",
    },
    Structural {
        variants: &["Window"],
        op: "window",
        written: "`windows`, `conv`, `conv_transpose`, `max_pool`, `avg_pool`, `sum_pool`, `lp_pool`",
        types: "any",
        doc: "The windows of an axis: of one for each tap, every so many positions; or from windows back to positions.",
        derivative: "linear; its transpose reads the windows that a position is in",
    },
    Structural {
        variants: &["Concat"],
        op: "concat",
        written: "`concat`, `stack`, `roll`",
        types: "any",
        doc: "Puts tensors one after another along an axis.",
        derivative: "linear; its transpose slices",
    },
    Structural {
        variants: &["Reduce"],
        op: "reduce",
        written: "`sum`, `prod`, `max`, `min`, `any`, `all`",
        types: "numbers; `any` and `all` of bools",
        doc: "Folds axes away. Of no elements: 0, 1, -inf, inf, false, true; of integers the least for `max`, the greatest for `min`.",
        derivative: "`sum`: linear, its transpose broadcasts; `prod`: the product of the others, exact at zeros and to any order, by running products from both ends; `max`, `min`: shared equally among the extremes",
    },
    Structural {
        variants: &["ArgReduce"],
        op: "arg_reduce",
        written: "`argmax`, `argmin`",
        types: "numbers, to i64",
        doc: "The index of the first NaN, else of the first extreme, along an axis that is not empty.",
        derivative: "0: integers carry no derivative",
    },
    Structural {
        variants: &["Contract"],
        op: "contract",
        written: "`a @ b`, `matmul`, `dot`, `einsum`",
        types: "numbers",
        doc: "Sums products over paired axes, with batch axes.",
        derivative: "linear in each operand; its transpose contracts the cotangent with the other",
    },
    Structural {
        variants: &["Cumulate"],
        op: "cumulate",
        written: "`cumsum`, `cumprod`, `cummax`, `cummin`, `linear_recurrence`",
        types: "numbers",
        doc: "Folds that run along an axis, from either end, with or without the element itself; `y[i] = a[i] * y[i - 1] + b[i]` of two operands.",
        derivative: "`cumsum`: linear, its transpose runs from the other end; `cumprod`: a recurrence without division, exact at zeros; `cummax`, `cummin`: that of the first extreme so far; a recurrence: a recurrence",
    },
    Structural {
        variants: &["Sort"],
        op: "sort",
        written: "`argsort`, and by it `sort`, `top_k`",
        types: "any, to i64",
        doc: "The indices that sort along an axis. Equal elements keep their order; NaN comes last, from the greatest down too, but for `top_k`, for which it is the greatest.",
        derivative: "0: integers carry no derivative; that of `sort` and `top_k` goes with the elements",
    },
    Structural {
        variants: &["Cholesky"],
        op: "cholesky",
        written: "`cholesky`",
        types: "f32, f64",
        doc: "The lower triangular factor of symmetric positive definite matrices, of which the lower triangle is read. Where a matrix is not positive definite the triangle is NaN.",
        derivative: "that of the function of the lower triangle, by triangular systems with the factor",
    },
    Structural {
        variants: &["TriangularSolve"],
        op: "triangular_solve",
        written: "`triangular_solve`",
        types: "f32, f64",
        doc: "The solutions of triangular systems; the other triangle is not read. Division by a zero of the diagonal is IEEE's.",
        derivative: "the solutions for what is left of the tangents; linear in the right-hand sides, and its transpose solves with the transposed matrix",
    },
    Structural {
        variants: &["Solve"],
        op: "solve",
        written: "`solve`, `inverse`",
        types: "f32, f64",
        doc: "The solutions of systems of equations, by triangular factors with rows exchanged. They are not finite where a pivot is 0.",
        derivative: "the solutions for what is left of the tangents; linear in the right-hand sides, and its transpose solves with the transposed matrix",
    },
    Structural {
        variants: &["Determinant"],
        op: "determinant",
        written: "`det`, `slogdet`, `logdet`",
        types: "f32, f64",
        doc: "The determinants of matrices, their signs, and the logarithms of their sizes: 0, 0 and -infinity where a pivot is 0.",
        derivative: "by the inverse, so that it is not finite where a pivot is 0; that of a sign is 0",
    },
    Structural {
        variants: &["Lu"],
        op: "lu",
        written: "nothing: what `solve` and `determinant` become",
        types: "f32, f64",
        doc: "The triangular factors of matrices, with the order of their rows.",
        derivative: "none: it is made after them",
    },
    Structural {
        variants: &["Gather"],
        op: "gather",
        written: "`x[index]`, `take`, `take_along_axis`, `dynamic_slice`, `diagonal`",
        types: "any, by i64",
        doc: "Elements, or windows of them, at computed places along some axes. Indices out of range are clamped.",
        derivative: "linear; its transpose is `scatter_add`",
    },
    Structural {
        variants: &["Scatter"],
        op: "scatter",
        written: "`scatter_set`, `scatter_add`, `scatter_mul`, `scatter_max`, `scatter_min`, `put_along_axis`, `dynamic_update_slice`, derivatives of `x[index]`",
        types: "numbers, `set` of any, by i64",
        doc: "A tensor with the elements at computed places set to updates, or combined with them: added, multiplied, the greatest or the least of them. Updates of one place come in row-major order, and the last one that sets it wins.",
        derivative: "`add`: linear, its transpose is `gather`; `set`: linear, that of the last update; `mul`: the product of the others, exact at zeros, at a cost that grows with the square of the number of indices; `max`, `min`: shared equally among the extremes",
    },
    Structural {
        variants: &["Variable"],
        op: "variable",
        written: "a `let` name that is differentiated by",
        types: "any",
        doc: "The identity, never merged with an equal expression.",
        derivative: "linear",
    },
    Structural {
        variants: &["StopGradient"],
        op: "stop_gradient",
        written: "`stop_gradient`",
        types: "any",
        doc: "The first operand.",
        derivative: "0 or that of the second operand, as asked",
    },
    Structural {
        variants: &["Derivative"],
        op: "grad, vjp, jvp, hvp",
        written: "`grad`, `vjp`, `jvp`, `hvp`, and by them `jacobian`, `hessian` and their diagonals",
        types: "floats",
        doc: "Derivatives, replaced by what computes them before anything else happens.",
        derivative: "by differentiating that again",
    },
    Structural {
        variants: &["Scan", "Output"],
        op: "scan",
        written: "`scan`, `fold`, `while_loop`, `vmap`",
        types: "any",
        doc: "Runs a sub-graph step by step: with carried values, over slices of tensors, stacking what each step gives.",
        derivative: "a scan of the tangents, whose transpose walks the other way; the carries before each step, and what is dear to compute again, are stacked",
    },
    Structural {
        variants: &["Custom", "CustomTangent"],
        op: "custom",
        written: "calls of functions with `#[vjp(..)]` or `#[jvp(..)]`",
        types: "floats",
        doc: "The results of a function, until all derivatives have been taken.",
        derivative: "what its rule says: its tangents by `#[jvp(..)]`, its cotangents by `#[vjp(..)]`",
    },
    Structural {
        variants: &["Placeholder"],
        op: "placeholder",
        written: "the parameters of closures",
        types: "any",
        doc: "Stands for what a loop hands to each step, until its sub-graph is made.",
        derivative: "none: it is gone before",
    },
];

/// A convention of derivatives that no row of the table of elementwise functions holds.
pub(super) struct Convention {
    /// The function.
    pub(super) function: &'static str,
    /// Where.
    pub(super) place: &'static str,
    /// The derivative.
    pub(super) derivative: &'static str,
    /// Why.
    pub(super) why: &'static str,
}

/// Conventions of structural operators and of functions written in the language.
pub(super) const CONVENTIONS: &[Convention] = &[
    Convention {
        function: "`max(x)`, `min(x)`",
        place: "several equal extremes",
        derivative: "1 over their number for each",
        why: "equal elements share",
    },
    Convention {
        function: "`prod(x)`",
        place: "elements that are 0",
        derivative: "the product of the other elements",
        why: "exact, no division",
    },
    Convention {
        function: "`cummax(x)`, `cummin(x)`",
        place: "several equal extremes",
        derivative: "1 for the first, 0 for the others",
        why: "the one whose index is kept",
    },
    Convention {
        function: "`cumprod(x)`",
        place: "elements that are 0",
        derivative: "the product of the other elements",
        why: "exact, no division",
    },
    Convention {
        function: "`scatter_max`, `scatter_min`",
        place: "several equal extremes",
        derivative: "1 over their number for each",
        why: "equal elements share, the base among them",
    },
    Convention {
        function: "`relu(x)`",
        place: "`x = 0`",
        derivative: "0",
        why: "as below it; second derivatives are 0 everywhere",
    },
    Convention {
        function: "`select(mask, a, b)`",
        place: "the branch not taken",
        derivative: "0, where its value or derivative is NaN or infinite too",
        why: "a zero that came through a mask stays zero through elementwise functions",
    },
    Convention {
        function: "`a @ b`",
        place: "a cotangent of 0 meets NaN or infinity",
        derivative: "NaN",
        why: "the zero of a contraction is IEEE's",
    },
];
