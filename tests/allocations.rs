//! Calls in the steady state allocate nothing, on any thread: held by an allocator that counts in a process that does
//! nothing else, so that this is a program without a harness.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tensorjit::ndarray::{Array, Array1, Array2, array};
use tensorjit::{Workspace, tensor_fn, with_threads};

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

    /// A layer.
    pub struct Layer<N> { w: f32[N, N], b: f32[N] }

    /// More leaves than the addresses that fit on the stack.
    pub fn decay<N>(layers: &mut [Layer<N>; 20], x: f32[N]) -> (f32, [Layer<N>; 20]) {
        layers = 0.5 * layers;
        (sum(x), layers)
    }

    /// More dimensions than fit there.
    pub fn last<A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V, W, X>(
        a: f32[A, B, C, D, E, F], g: f32[G, H, I, J, K, L], m: f32[M, N, O, P, Q, R], s: f32[S, T, U, V, W, X],
    ) -> f32[X] {
        sum(a) + sum(g) + sum(m) + sum(s, axis = (0, 1, 2, 3, 4))
    }
}

/// Counts the allocations of all threads.
struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: it forwards to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
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

/// The allocations of calls in the steady state, some hundreds of them at least: helpers come to some and not to others.
fn allocations(mut call: impl FnMut()) -> usize {
    let mut calls = || {
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(100) {
            (0..10).for_each(|_| call());
        }
    };
    // The first ones reserve memory and start threads, which make what they need in their own time.
    calls();
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    calls();
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

fn main() {
    the_count_counts();
    the_into_forms_allocate_nothing();
    neither_do_those_of_many_arguments();
    neither_do_those_of_several_threads();
}

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

/// However many arguments and dimensions there are.
fn neither_do_those_of_many_arguments() {
    let mut layers: [Layer; 20] = std::array::from_fn(|_| Layer::zeros(3));
    layers[19].b.fill(64.0);
    let (mut sum, mut result) = (0.0, layers.clone());
    let x = Array1::ones(3);
    decay::into(&mut layers, &x, &mut sum, &mut result).expect("shapes fit");
    let half = Array1::from_elem(3, 32.0);
    assert_eq!((sum, &layers[19].b, &result[19].b), (3.0, &half, &half));
    assert_eq!(allocations(|| decay::into(&mut layers, &x, &mut sum, &mut result).expect("shapes fit")), 0);

    let (a, s) = (Array::<f32, _>::ones([1, 2, 1, 1, 1, 1]), Array::<f32, _>::ones([1, 1, 1, 2, 1, 3]));
    let mut x = Array1::zeros(3);
    assert_eq!(allocations(|| last::into(&a, &a, &a, &s, &mut x).expect("shapes fit")), 0);
    assert_eq!(x, array![8.0, 8.0, 8.0]);
    let mut workspace = Workspace::new();
    let with = || last::into_with(&mut workspace, &a, &a, &a, &s, &mut x).expect("shapes fit");
    assert_eq!(allocations(with), 0);
}

/// However many threads share the work.
fn neither_do_those_of_several_threads() {
    let rows: Array2<f32> = Array2::ones((1024, 700));
    let mut result = Array2::zeros((1024, 700));
    let mut softmax = || softmax_rows::into(&rows, &mut result).expect("shapes fit");
    assert_eq!(allocations(&mut softmax), 0, "of the ambient pool");
    for threads in 1..4 {
        assert_eq!(with_threads(threads, || allocations(&mut softmax)), 0, "{threads}");
    }
}

fn the_count_counts() {
    let rows: Array2<f32> = Array2::ones((5, 70));
    assert!(allocations(|| drop(softmax_rows(&rows).expect("shapes fit"))) > 0);
}
