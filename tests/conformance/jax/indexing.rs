//! Primitives that index by values.

use super::Equation;
use crate::text::{Tensor, Writer, list};

pub(super) fn translate(equation: &Equation<'_>, x: &[Tensor], writer: &mut Writer) -> Option<Vec<String>> {
    let (a, rest) = x.split_first()?;
    match equation.prim {
        "dynamic_slice" => {
            // The start is moved so that the slice lies inside; axes are taken one after another.
            let sizes = equation.list("slice_sizes")?;
            let mut text = a.text.clone();
            for (axis, (start, size)) in rest.iter().zip(&sizes).enumerate() {
                let last = format!("({} - {size})", writer.extent(a.shape[axis]));
                let first = format!("clip({} as i64, 0, {last})", start.text);
                let places = writer.bind(&format!("{first} + iota({size})"));
                let items = (0..a.rank()).map(|i| if i == axis { places.clone() } else { "0..".to_owned() });
                text = writer.bind(&format!("{text}{}", list(items)));
            }
            Some(vec![text])
        }
        _ => None,
    }
}
