//! Shuffles: square tiles transposed in registers.

use tensorjit_runtime::abi::DType;

use super::{Compiled, Element, address, runnable};
use crate::lanes::Lanes as _;
use crate::loops::{Buffer, Builder, Place, Target};

/// A tile of every width that a register of the target has.
fn transposes<E: Element + From<i32>>(target: &Target) {
    let most = target.vector_bits / 8 / E::DTYPE.size() as u32;
    for lanes in (1..=most.ilog2()).map(|bits| 1_u32 << bits) {
        let mut b = Builder::new(target.clone());
        let [from, to] = [0, 1].map(|number| b.buffer(Buffer { dtype: E::DTYPE, place: Place::Arg(number) }));
        let starts: Vec<_> = (0..lanes).map(|row| b.int(DType::I64, (row * lanes).into())).collect();
        let rows = starts.iter().map(|start| b.load(from, *start, lanes, None)).collect();
        let columns = b.transposed(rows);
        for (start, column) in starts.into_iter().zip(columns) {
            b.store(to, start, column, None);
        }
        let compiled = Compiled::of(&[("kernel".into(), b.finish())]);
        let (side, count) = (lanes as i32, lanes as i32 * lanes as i32);
        let mut input: Vec<E> = (0..count).map(E::from).collect();
        let mut output = vec![E::default(); count as usize];
        compiled.run("kernel", &[address(&mut input), address(&mut output)], &[], &mut []);
        let expected: Vec<E> = (0..count).map(|i| E::from(i % side * side + i / side)).collect();
        assert_eq!(output, expected, "{lanes} lanes, {:?}", target.level);
    }
}

#[test]
fn tiles_are_transposed() {
    for target in runnable() {
        transposes::<i32>(&target);
        transposes::<f64>(&target);
    }
}
