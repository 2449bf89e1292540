//! The functions that the macro emits, as a user calls them: every form, arguments of every kind, every error.

use tensorjit::ndarray::{Array1, Array2, Array3, ArrayView2, Axis, array, s};
use tensorjit::{Error, ErrorKind, Workspace, tensor_fn};

tensor_fn! {
    const SCALE: f32 = 0.5 * (1 + 3);

    fn scaled<N>(x: f32[N]) -> f32[N] {
        x * SCALE
    }

    /// Row sums, scaled, and their number.
    #[must_use = "for the test of attributes"]
    pub fn rows<B: 1..=64, N>(x: f32[B, N]) -> (f32[B], i64) where B != 13 {
        (scaled(sum(x, axis = 1)), B)
    }

    /// The running mean of a signal, and how often it was called.
    pub(crate) fn smooth<N>(mean: &mut f64[N], count: &mut i64, x: f64[N], rate: f64) -> f64[N] {
        mean = mean + rate * (x - mean);
        count = count + 1;
        mean
    }

    /// Nothing but state.
    pub fn clear<N>(x: &mut i32[N]) {
        x = x - x;
    }

    /// A symbol that no argument determines.
    pub fn ramp<N: 1..>(step: f64) -> f64[N] {
        iota(N) as f64 * step
    }

    /// Two symbols from one extent and another.
    pub fn split<A, B>(x: f32[2*A + B], y: f32[B]) -> f32[A] {
        x[0..A] + x[A..2*A] + sum(y)
    }

    pub fn pick<N: 1.., K>(table: f32[N], index: i64[K]) -> f32[K] {
        table[index]
    }

    pub fn either(mask: bool[3], a: i64[3], b: i64[3], all: bool) -> (i64[3], bool[3]) {
        (select(mask & all, a, b), !mask)
    }

    /// Bytes in and out, wide sums, and indices that are checked.
    pub fn histogram<N, M>(x: u8[N, M], index: u16[N], large: &mut u64) -> (u8[N, M], i8, i16[256], u64[N]) where N >= 1 {
        large = large + sum(x as u64);
        let counts = scatter_add(zeros([256], dtype = i16), reshape(x, [N * M]), ones([N * M]));
        (x + 200, -1, counts, (iota(N) as u64)[index] + large)
    }

    pub fn cube<A, B, C>(x: f32[A, B, C]) -> f32[C, A, B] {
        permute(x, axes = (2, 0, 1))
    }

    pub fn rest<T, K: 1..>(x: f32[T + K], a: f32[T], b: f32[K]) -> f32 {
        sum(x[T..K * ceil_div(T, K)]) + sum(a) + sum(b)
    }

    pub fn fourth_power<T>(x: f32[T]) -> f32 {
        sum(x[..min(T * T * T * T, T)])
    }

    pub fn cubes<T>(x: f32[T]) -> i64 {
        T * T * T
    }
}

fn text<T>(result: Result<T, Error>) -> String {
    result.map(|_| "no error").map_err(|error| error.to_string()).err().unwrap_or_default()
}

#[test]
fn arguments_are_of_many_kinds() {
    let x = array![[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
    let expected = (array![12.0_f32, 30.0], 2);
    assert_eq!(rows(&x).unwrap(), expected);
    assert_eq!(rows(x.view()).unwrap(), expected);
    assert_eq!(rows(&x.to_shared()).unwrap(), expected);
    assert_eq!(rows(&*x).unwrap(), expected);
    assert_eq!(rows(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).unwrap(), expected);
    assert_eq!(rows(&vec![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).unwrap(), expected);
    let columns = x.t().as_standard_layout().into_owned();
    assert_eq!(rows(columns.t()).unwrap(), expected);
    assert_eq!(rows(x.slice(s![..;-1, ..])).unwrap().0, array![30.0, 12.0]);
    let row = x.row(0);
    let repeated: ArrayView2<'_, f32> = row.broadcast((4, 3)).unwrap();
    assert_eq!(rows(repeated).unwrap(), (Array1::from_elem(4, 12.0), 4));
    assert_eq!(rows(&Array2::zeros((3, 0))).unwrap(), (Array1::zeros(3), 3));
    let mask = either(&[true, false, true], &vec![1, 2, 3], &[4, 5, 6][..], true).unwrap();
    assert_eq!(mask, (array![1, 5, 3], array![false, true, false]));
}

#[test]
fn results_go_to_tensors_of_the_caller() {
    let x = array![[1.0_f32, 2.0], [3.0, 4.0]];
    let (mut sums, mut count) = ([0.0; 2], 0);
    rows::into(&x, &mut sums, &mut count).unwrap();
    assert_eq!((sums, count), ([6.0, 14.0], 2));
    let mut wide = Array2::from_elem((2, 3), -1.0);
    let mut workspace = Workspace::new();
    rows::into_with(&mut workspace, &x, wide.slice_mut(s![..;-1, 1]), &mut count).unwrap();
    assert_eq!(wide, array![[-1.0, 14.0, -1.0], [-1.0, 6.0, -1.0]]);
    let mut ramp = [0.0; 4];
    ramp::into(0.5, &mut ramp).unwrap();
    assert_eq!(ramp, [0.0, 0.5, 1.0, 1.5], "the caller's tensor gives the dimension");
}

#[test]
fn state_changes_only_with_success() {
    let (mut mean, mut count) = (array![0.0, 10.0], 7);
    assert_eq!(smooth(&mut mean, &mut count, &[4.0, 2.0], 0.5).unwrap(), array![2.0, 6.0]);
    assert_eq!((mean.to_vec(), count), (vec![2.0, 6.0], 8));
    let mut reversed = array![6.0, 0.0, 2.0];
    smooth(reversed.slice_mut(s![..;-2]), &mut count, &[4.0, 2.0], 0.5).unwrap();
    assert_eq!(reversed, array![4.0, 0.0, 3.0]);
    assert_eq!(
        text(smooth(&mut mean, &mut count, &[1.0], 0.5)),
        "smooth: argument `x`, axis 0: expected N = 2 (from `mean`, axis 0), found 1"
    );
    assert_eq!((mean.to_vec(), count), (vec![2.0, 6.0], 9));
    let mut x = vec![3; 5];
    clear(&mut x).unwrap();
    assert_eq!(x, [0; 5]);
}

#[test]
fn dimensions_are_given_or_solved() {
    assert_eq!(ramp::with_dims(ramp::Dims { N: 3 }, 2.0).unwrap(), array![0.0, 2.0, 4.0]);
    assert_eq!(
        text(ramp::with_dims(ramp::Dims { N: 0 }, 2.0)),
        "ramp: dimension `N`: expected N in 1.., found 0"
    );
    assert_eq!(split(&[1.0, 2.0, 10.0, 20.0, 7.0], &[100.0]).unwrap(), array![111.0, 122.0]);
    assert_eq!(
        text(split(&[1.0; 4], &[1.0])),
        "split: argument `x`, axis 0: expected 2*A + B for a whole number A, found 4"
    );
    let dims = rows::Dims { B: 2, N: 3 };
    assert!(rows::with_dims(dims, &[[0.0; 3]; 2]).is_ok());
    assert_eq!(
        text(rows::with_dims(dims, &[[0.0; 4]; 2])),
        "rows: argument `x`, axis 1: expected N = 3 (as given), found 4"
    );
    assert!(rows::workspace_bytes(dims).is_ok());
}

#[test]
fn errors_say_what_was_expected() {
    let error = rows(&Array2::zeros((65, 1))).unwrap_err();
    assert_eq!(error.to_string(), "rows: argument `x`, axis 0: expected B in 1..=64, found 65");
    assert_eq!((error.kind(), error.argument(), error.axis()), (ErrorKind::Bounds, Some("x"), Some(0)));
    assert_eq!(text(rows(&Array2::zeros((13, 1)))), "rows: expected B != 13, found B = 13 from `x`, axis 0");
    let mut sums = [0.0; 3];
    assert_eq!(
        text(rows::into(&[[0.0; 1]; 2], &mut sums, &mut 0)),
        "rows: output `result.0`, axis 0: expected B = 2 (from `x`, axis 0), found 3"
    );
    let table = [1.0, 2.0, 3.0];
    assert_eq!(pick(&table, &[2, 0, 2]).unwrap(), array![3.0, 1.0, 3.0]);
    let error = pick(&table, &[0, 3]).unwrap_err();
    assert_eq!(error.to_string(), "pick: argument `index`, position [1]: expected an index in 0..3, found 3");
    assert_eq!(error.position(), Some(&[1][..]));
    assert_eq!(pick(&[], &[0]).unwrap_err().kind(), ErrorKind::Bounds);
}

#[test]
fn integers_of_all_sizes_come_and_go() {
    let x = Array2::from_shape_fn((3, 50), |(i, j)| (i * 50 + j) as u8);
    let mut large = u64::MAX - 11_174;
    let result = histogram(x.t().slice(s![..;-1, ..]).reversed_axes(), &[2_u16, 0, 1], &mut large);
    let (moved, least, counts, places) = result.expect("it is legal");
    assert_eq!(large, 0);
    assert_eq!(moved, x.slice(s![.., ..;-1]).mapv(|x| x.wrapping_add(200)));
    assert_eq!(least, -1_i8);
    assert!(counts.iter().enumerate().all(|(value, count)| *count == i16::from(value < 150)));
    assert_eq!(places, array![2_u64, 0, 1]);
    let refused = histogram(&x, &[0_u16, 3, 1], &mut large);
    assert_eq!(
        text(refused),
        "histogram: argument `index`, position [1]: expected an index in 0..3, found 3"
    );
}

#[test]
fn axes_move() {
    let x = Array3::from_shape_fn((2, 3, 4), |(i, j, k)| (i * 100 + j * 10 + k) as f32);
    let mut view = x.view();
    view.invert_axis(Axis(1));
    let moved = view.permuted_axes([2, 0, 1]);
    assert_eq!(cube(moved).unwrap(), moved.permuted_axes([2, 0, 1]));
}

#[test]
fn items_may_stand_in_a_function() {
    tensor_fn! {
        pub fn double(x: f64) -> f64 { x + x }
    }
    assert_eq!(double(4.0).unwrap(), 8.0);
    let mut value = 0.0;
    double::into(1.5, &mut value).unwrap();
    assert_eq!(value, 3.0);
    assert_eq!(double::KERNELS.levels.clamp(1, 3), double::KERNELS.levels);
    assert_eq!(double::KERNELS.code.len(), double::KERNELS.levels);
    assert!(double::KERNELS.code.iter().all(|code| (8..4096).contains(&code.bytes)), "{:?}", double::KERNELS);
    assert_eq!(SCALE, 2.0);
}

/// What a body computes with dimensions is evaluated with checks before anything runs.
#[test]
fn arithmetic_of_dimensions_is_checked() {
    let (x, a, b) = ([1.0; 7], [2.0; 4], [3.0; 3]);
    assert_eq!(rest(&x, &a, &b), Ok(2.0 + 8.0 + 9.0));
    assert_eq!(rest(&[0.0; 5], &[0.0; 5], &[] as &[f32]).unwrap_err().kind(), ErrorKind::Bounds);
    assert_eq!(fourth_power(&[1.0; 5]), Ok(5.0));
    // Its fourth power is negative in 64 bits that wrap.
    let error = fourth_power(&[0.0; 55_109][..]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Overflow);
    assert!(error.to_string().ends_with("found T = 55109 from `x`, axis 0"), "{error}");
    assert_eq!(cubes(&[0.0; 9]), Ok(729));
    let one = Array1::<f32>::zeros(1);
    let many = one.broadcast(1 << 21).unwrap();
    assert_eq!(cubes(many).unwrap_err().kind(), ErrorKind::Overflow);
    let given = cubes::Dims { T: 1 << 21 };
    assert_eq!(cubes::workspace_bytes(given).unwrap_err().kind(), ErrorKind::Overflow);
}
