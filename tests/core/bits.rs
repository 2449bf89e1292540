//! The equal bits that `docs/numerics.md` promises, compared as bits, at every level.

mod extents;
mod memory;
mod objects;
mod orders;
mod parts;
mod rows;
mod tasks;
mod versions;

use tensorjit_core::check::CheckedFunction;
use tensorjit_core::dim::Dim;
use tensorjit_core::graph::value::{Env, Value};
use tensorjit_core::schedule::tasks::Grain;
use tensorjit_core::testing::{Program, Side, sample};
use tensorjit_runtime::abi::Level;

use crate::support::{self, bits};

/// A compiled function.
struct Compiled {
    function: CheckedFunction,
    program: Program,
}

impl Compiled {
    /// The only public function of a text.
    fn new(text: &str) -> Compiled {
        Compiled::by(text, support::compile)
    }

    fn by(text: &str, compile: impl Fn(&CheckedFunction) -> Result<Program, String>) -> Compiled {
        let compiled = support::function(text).and_then(|function| Ok((compile(&function)?, function)));
        let (program, function) = compiled.unwrap_or_else(|message| panic!("{message}\n{text}"));
        Compiled { function, program }
    }

    /// The same, of which work of the given size is shared.
    fn with_grain(text: &str, grain: Grain) -> Compiled {
        Compiled::by(text, |function| support::compile_with(grain, function))
    }

    /// The values of the symbols, by name.
    fn dims(&self, sizes: &[(&str, i64)]) -> Vec<i64> {
        let symbols = self.function.graph.facts.symbols.iter();
        let value =
            |name: &str| sizes.iter().find(|(symbol, _)| *symbol == name).expect("a size for each symbol").1;
        symbols.map(|symbol| value(&symbol.name)).collect()
    }

    /// The same arguments for every function with the same parameters.
    fn inputs(&self, dims: &[i64]) -> Vec<Value> {
        let env = Env { dims };
        let params = self.function.params.iter().enumerate();
        let inputs = params.map(|(seed, param)| {
            let shape = env.shape(&param.shape).expect("the shape has a value");
            sample(param.dtype, &shape, seed as u64)
        });
        inputs.collect()
    }

    /// The results at a level; they do not depend on where the buffers lie.
    fn run(&self, level: Level, dims: &[i64], inputs: &[Value]) -> Vec<Value> {
        let run = |side| self.program.run(level, dims, inputs, side).expect("it runs");
        let (front, back) = (run(Side::Front), run(Side::Back));
        for (front, back) in front.iter().zip(&back) {
            assert_eq!(bits(front), bits(back), "{}: the two ends of a page", self.function.name);
        }
        front
    }

    fn levels(&self) -> Vec<Level> {
        self.program.levels().collect()
    }
}

/// Fails where the bits of two lists of values differ.
fn assert_equal(what: &str, found: &[Value], expected: &[Value]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (position, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found.shape, expected.shape, "{what}, result {position}");
        let different = bits(found).iter().zip(bits(expected)).position(|(f, e)| *f != e);
        if let Some(element) = different {
            let (f, e) = (found.elements[element].scalar, expected.elements[element].scalar);
            panic!("{what}, result {position}, element {element}: {f:?} and {e:?}");
        }
    }
}

/// The elements at `index` of an axis, which keeps the extent 1.
fn take(value: &Value, axis: usize, index: usize) -> Value {
    let mut shape = value.shape.clone();
    shape[axis] = 1;
    let taken = Value::build(value.dtype, &shape, |at| {
        let mut at = at.to_vec();
        at[axis] = index;
        Ok(value.at(&at))
    });
    taken.expect("the index is in bounds")
}

/// The first axis that has the extent of a symbol.
fn axis_of(shape: &[Dim], symbol: &Dim) -> Option<usize> {
    shape.iter().position(|extent| extent == symbol)
}
