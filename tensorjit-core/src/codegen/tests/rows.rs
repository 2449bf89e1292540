//! Every elementwise function of the table as machine code: its values, and that nothing is imported for it.

use tensorjit_runtime::abi::DType;

use super::scalar::{self, Scalar as Number, specials};
use super::{Compiled, runnable};
use crate::codegen::object::{MAY_IMPORT, undefined_symbols};
use crate::codegen::{Visibility, compile, targets};
use crate::graph::table::Ew;
use crate::graph::value::Scalar;
use crate::lanes::{Lanes as _, Prim};
use crate::loops::{Buffer, Builder, Kernel, Place, Target, verify};

/// A function with the type that it works on.
#[derive(Clone, Copy, Debug)]
struct Row {
    ew: Ew,
    dtype: DType,
}

fn rows() -> Vec<Row> {
    Ew::ALL
        .iter()
        .flat_map(|ew| ew.row().types.accepts().iter().map(|dtype| Row { ew: *ew, dtype: *dtype }))
        .collect()
}

impl Row {
    fn result(self) -> DType {
        self.ew.row().types.result(self.dtype)
    }

    fn operands(self) -> Vec<DType> {
        (0..self.ew.arity()).map(|position| self.ew.row().types.operand(position, self.dtype)).collect()
    }

    /// As many lanes as a register has elements, or one.
    fn widths(self, target: &Target) -> [u32; 2] {
        let largest = self.operands().into_iter().chain([self.result()]).map(DType::size).max().unwrap_or(8);
        [target.vector_bits / (8 * largest as u32), 1]
    }

    /// Applies the function to every element of its arguments.
    fn kernel(self, target: &Target, lanes: u32) -> Kernel {
        let mut b = Builder::new(target.clone());
        b.set_width(lanes);
        let argument = |number: u32, dtype| Buffer { dtype, place: Place::Arg(number) };
        let inputs: Vec<_> =
            self.operands().into_iter().zip(0..).map(|(dtype, i)| b.buffer(argument(i, dtype))).collect();
        let output = b.buffer(argument(inputs.len() as u32, self.result()));
        let (zero, n) = (b.int(DType::I64, 0), b.symbol(0));
        let (index, _) = b.open_loop((zero, n, lanes.into()), &[]);
        let args: Vec<_> = inputs.iter().map(|input| b.load(*input, index, lanes, None)).collect();
        let value = self.ew.lower(&mut b, &args).expect("as many operands as the row says");
        let value = b.splat(value, lanes);
        b.store(output, index, value, None);
        b.close_loop(Vec::new());
        let kernel = b.finish();
        verify(&kernel).expect("the builder makes legal kernels");
        kernel
    }

    fn symbol(self, lanes: u32) -> String {
        format!("{}_{}_{lanes}", self.ew.row().name, self.dtype.name())
    }

    /// Tuples of special values, and of values from where the row says that it is to be sampled.
    fn samples(self) -> Vec<Vec<Number>> {
        let pools: Vec<Vec<Number>> = self.operands().into_iter().map(specials).collect();
        let count: usize = pools.iter().map(Vec::len).product();
        // A stride without common factor visits all tuples where there are few of them.
        let mut samples: Vec<Vec<Number>> = (0..count.min(600))
            .map(|number| {
                let mut number = number * 1009 % count;
                let mut pick = |pool: &Vec<Number>| {
                    let value = pool[number % pool.len()];
                    number /= pool.len();
                    value
                };
                pools.iter().map(&mut pick).collect()
            })
            .collect();
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        for _ in 0..400 {
            let operands = self.ew.row().operands.iter().zip(self.operands());
            let drawn = operands.map(|(o, dtype)| Number::of(dtype, o.low + (o.high - o.low) * random()));
            samples.push(drawn.collect());
        }
        scalar::pad(&mut samples);
        samples
    }

    /// Whether `found` is the row's value within the row's bound, and two units of f64 for the evaluator's own
    /// roundings.
    ///
    /// Without fused multiply-add the row of that name is a product and a sum, each rounded.
    fn accepts(self, target: &Target, args: &[Number], found: Number) -> Result<(), Scalar> {
        if self.ew == Ew::Fma && self.dtype.is_float() && !target.fma {
            let expected = scalar::eval(Prim::Fma, args, false).expect("a value of floats");
            return if expected.same(found) { Ok(()) } else { Err(expected.wide()) };
        }
        let operands: Vec<Scalar> = args.iter().map(|arg| arg.wide()).collect();
        let expected = self.ew.eval(self.dtype, &operands).expect("the row has a value for its operands");
        let rounded = self.ew.fold(self.dtype, &operands).expect("the row has a value for its operands");
        let close = match (expected, rounded, found.wide()) {
            (Scalar::Float(exact), Scalar::Float(rounded), Scalar::Float(found)) => {
                let bound = self.ew.row().accuracy.of(self.result());
                // An exact or nearest result in f64 is the evaluator's own.
                let loose = bound > 0.5 || (bound > 0.0 && self.result() == DType::F32);
                let size = exact.abs().max(self.ew.row().accuracy.least);
                let slack = 2.0 * f64::EPSILON * size;
                rounded == found
                    || (rounded.is_nan() && found.is_nan())
                    || (loose
                        && found.is_finite()
                        && (found - exact).abs() <= bound * self.unit(size) + slack)
            }
            (_, rounded, found) => rounded == found,
        };
        if close { Ok(()) } else { Err(expected) }
    }

    /// The distance of the floats of the result's type around `value`.
    fn unit(self, value: f64) -> f64 {
        let (least, digits) = match self.result() {
            DType::F32 => (f64::from(f32::from_bits(1)), 23),
            _ => (f64::from_bits(1), 52),
        };
        let exponent = ((value.abs().to_bits() >> 52) as i32 - 1023).max(-1022);
        (f64::from(exponent - digits).exp2()).max(least)
    }
}

/// Values and special values at every level of this machine; a value does not depend on how many lanes are
/// computed at once.
#[test]
fn rows_compute_what_they_say() {
    let mut wrong = Vec::new();
    for target in runnable() {
        let kernels: Vec<(String, Kernel)> = rows()
            .into_iter()
            .flat_map(|row| {
                let target = &target;
                row.widths(target).map(move |lanes| (row.symbol(lanes), row.kernel(target, lanes)))
            })
            .collect();
        let compiled = Compiled::of(&kernels);
        for row in rows() {
            let samples = row.samples();
            let mut results = row.widths(&target).map(|lanes| {
                let output = compiled.map(&row.symbol(lanes), &samples, row.result());
                output.into_iter()
            });
            for args in &samples {
                let [vector, single] =
                    results.each_mut().map(|result| result.next().expect("as many results"));
                if !vector.same(single) {
                    wrong.push(format!("{row:?} {args:?}: {vector:?}, alone {single:?}, {:?}", target.level));
                }
                if let Err(expected) = row.accepts(&target, args, vector) {
                    wrong.push(format!("{row:?} {args:?}: {vector:?}, not {expected:?}, {:?}", target.level));
                }
            }
        }
    }
    let shown = wrong.len().min(40);
    assert!(wrong.is_empty(), "{} values are wrong:\n{}", wrong.len(), wrong[..shown].join("\n"));
}

/// No function makes an object import more than it may, on any target.
#[test]
fn rows_import_nothing() {
    for triple in ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"] {
        for target in targets(triple, None).expect("a supported target") {
            let kernels: Vec<(String, Kernel)> = rows()
                .into_iter()
                .flat_map(|row| {
                    let target = &target;
                    row.widths(target).map(move |lanes| (row.symbol(lanes), row.kernel(target, lanes)))
                })
                .collect();
            let object = compile(&kernels, Visibility::Hidden).expect("compiles");
            let imports = undefined_symbols(&object.bytes).expect("reads");
            let unwanted: Vec<_> =
                imports.iter().filter(|name| !MAY_IMPORT.contains(&name.as_str())).collect();
            assert!(unwanted.is_empty(), "{triple} {:?} imports {unwanted:?}", target.level);
        }
    }
}
