//! Something that can be called again and again: ours in the `into` form, or a peer in its usual style.

use std::hint::black_box;

use ndarray::{Array, Dimension};

use crate::Result;
use crate::tensor::{Real, Tensor};

/// A workload made ready for one contender: its inputs are converted, nothing but the work is left.
pub trait Call {
    /// One call.
    fn run(&mut self) -> Result<()>;

    /// What the last call computed.
    fn outputs(&mut self) -> Result<Vec<Tensor>>;
}

/// Makes a workload ready from its inputs.
pub type Make = fn(&[Tensor]) -> Result<Box<dyn Call>>;

/// What contenders compute: arrays, scalars, and tuples of these.
pub trait Outputs {
    fn append_to(&self, tensors: &mut Vec<Tensor>) -> Result<()>;
}

impl<T: Real, D: Dimension> Outputs for Array<T, D> {
    fn append_to(&self, tensors: &mut Vec<Tensor>) -> Result<()> {
        tensors.push(self.mapv(Real::value).into_dyn());
        Ok(())
    }
}

macro_rules! scalars {
    ($($scalar:ty),*) => { $(
        impl Outputs for $scalar {
            fn append_to(&self, tensors: &mut Vec<Tensor>) -> Result<()> {
                tensors.push(ndarray::arr0(f64::from(*self)).into_dyn());
                Ok(())
            }
        }
    )* };
}
scalars!(f32, f64);

impl<O: Outputs> Outputs for Vec<O> {
    fn append_to(&self, tensors: &mut Vec<Tensor>) -> Result<()> {
        self.iter().try_for_each(|output| output.append_to(tensors))
    }
}

macro_rules! tuples {
    ($(($($name:ident)*))*) => { $(
        impl<$($name: Outputs),*> Outputs for ($($name,)*) {
            #[expect(non_snake_case, reason = "a type parameter names the field of its type")]
            fn append_to(&self, tensors: &mut Vec<Tensor>) -> Result<()> {
                let ($($name,)*) = self;
                $($name.append_to(tensors)?;)*
                Ok(())
            }
        }
    )* };
}
tuples!((A B)(A B C)(A B C D)(A B C D E)(A B C D E F)(A B C D E F G)(A B C D E F G H)
    (A B C D E F G H I J K L M));

/// A call that writes to outputs which its caller keeps.
struct Kept<O, F> {
    outputs: O,
    call: F,
}

impl<O: Outputs, F: FnMut(&mut O) -> tensorjit::Result<()>> Call for Kept<O, F> {
    fn run(&mut self) -> Result<()> {
        (self.call)(&mut self.outputs)?;
        black_box(&mut self.outputs);
        Ok(())
    }

    fn outputs(&mut self) -> Result<Vec<Tensor>> {
        let mut tensors = Vec::new();
        self.outputs.append_to(&mut tensors)?;
        Ok(tensors)
    }
}

/// A call of ours in the `into` form.
pub fn into<O, F>(outputs: O, call: F) -> Result<Box<dyn Call>>
where
    O: Outputs + 'static,
    F: FnMut(&mut O) -> tensorjit::Result<()> + 'static,
{
    Ok(Box::new(Kept { outputs, call }))
}

/// A call that returns new outputs.
struct Returning<O, F> {
    last: Option<O>,
    call: F,
}

impl<O: Outputs, F: FnMut() -> Result<O>> Call for Returning<O, F> {
    fn run(&mut self) -> Result<()> {
        self.last = Some(black_box((self.call)()?));
        Ok(())
    }

    fn outputs(&mut self) -> Result<Vec<Tensor>> {
        let mut tensors = Vec::new();
        if let Some(last) = &self.last {
            last.append_to(&mut tensors)?;
        }
        Ok(tensors)
    }
}

/// A call of a peer, which allocates its results.
pub fn returning<O, F>(call: F) -> Result<Box<dyn Call>>
where
    O: Outputs + 'static,
    F: FnMut() -> Result<O> + 'static,
{
    Ok(Box::new(Returning { last: None, call }))
}
