//! Calls in the steady state allocate nothing: held by an allocator that counts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use tensorjit::ndarray::{Array1, Array2};
use tensorjit::{Workspace, tensor_fn};

tensor_fn! {
    /// Mean squared error of a linear model and its gradients.
    pub fn linear_step<B: 1..=64>(
        x: f32[B, 3], y: f32[B, 2], w: f32[3, 2], bias: f32[2], scale: f32,
    ) -> (f32, f32[3, 2], f32[2]) {
        let error = x @ w + bias - y;
        let loss = sum(error * error) * scale;
        (loss, grad(loss, w), grad(loss, bias))
    }

    /// Softmax of every row, which takes workspace.
    pub fn softmax_rows<M, N>(x: f32[M, N]) -> f32[M, N] {
        softmax(x)
    }
}

/// Counts the allocations of each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: it forwards to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static GLOBAL: Counting = Counting;

/// The allocations of ten calls after one that may reserve memory.
fn allocations(mut call: impl FnMut()) -> usize {
    call();
    let before = ALLOCATIONS.get();
    (0..10).for_each(|_| call());
    ALLOCATIONS.get() - before
}

#[test]
fn the_into_forms_allocate_nothing() {
    let (x, y, w) = (Array2::ones((8, 3)), Array2::ones((8, 2)), Array2::ones((3, 2)));
    let (bias, mut loss) = (Array1::ones(2), 0.0);
    let (mut dw, mut db) = (Array2::zeros((3, 2)), Array1::zeros(2));
    let mut step =
        || linear_step::into(&x, &y, &w, &bias, 0.5, &mut loss, &mut dw, &mut db).expect("shapes fit");
    assert_eq!(allocations(&mut step), 0);

    let rows: Array2<f32> = Array2::ones((5, 70));
    let mut result = Array2::zeros((5, 70));
    assert_eq!(allocations(|| softmax_rows::into(&rows, &mut result).expect("shapes fit")), 0);
    // A turned argument is copied into the workspace.
    let turned: Array2<f32> = Array2::ones((70, 5));
    assert_eq!(allocations(|| softmax_rows::into(turned.t(), &mut result).expect("shapes fit")), 0);
    let mut workspace = Workspace::new();
    let with = || softmax_rows::into_with(&mut workspace, &rows, &mut result).expect("shapes fit");
    assert_eq!(allocations(with), 0);
}

#[test]
fn the_count_counts() {
    let rows: Array2<f32> = Array2::ones((5, 70));
    assert!(allocations(|| drop(softmax_rows(&rows).expect("shapes fit"))) > 0);
}
