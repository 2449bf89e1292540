//! How windows lie along axes: sizes, strides, dilations and borders, as calls give them.

use super::super::super::call::{Arg, Call};
use super::super::super::report::Checked;
use super::super::super::scope::Checker;
use super::super::super::value::{Placed, Value};
use crate::diag::Origin;
use crate::dim::Dim;
use crate::graph::ops::broadcast::Broadcast;
use crate::graph::ops::constant::Constant;
use crate::graph::ops::pad::{Pad, PadAxis};
use crate::graph::ops::window::Window;
use crate::graph::{NodeId, Op};
use tensorjit_runtime::abi::Relation;

const FITS: &str = "a window must fit into its axis with its borders";

/// How windows lie along one axis.
#[derive(Clone)]
pub(super) struct Walk {
    pub(super) size: Dim,
    pub(super) stride: i64,
    pub(super) dilation: i64,
    /// The borders before and after the axis.
    pub(super) low: Dim,
    pub(super) high: Dim,
    /// What the last window reaches beyond both.
    pub(super) beyond: Dim,
    /// How many windows there are, where that does not follow from the rest.
    pub(super) count: Option<Dim>,
}

impl Walk {
    /// The elements from the first tap of a window to its last.
    pub(super) fn reach(&self) -> Dim {
        let one = Dim::constant(1);
        &(&(&self.size - &one) * &Dim::constant(self.dilation)) + &one
    }
}

/// The options `padding` and `dilation`.
pub(super) type Options<'c, 'a> = [Option<&'c Arg<'a>>; 2];

impl Checker<'_> {
    /// One walk for each axis.
    pub(super) fn walks(
        &mut self,
        call: &Call<'_>,
        extents: &[Dim],
        (sizes, strides): (&[Dim], Vec<i64>),
        [padding, dilation]: Options<'_, '_>,
    ) -> Checked<Vec<Walk>> {
        sizes.iter().try_for_each(|size| self.has_taps(size, call.at))?;
        let dilations = self.steps(dilation, sizes.len(), "dilation")?;
        let borders = self.borders(padding, sizes.len())?;
        let walks = sizes.iter().zip(strides).zip(dilations).zip(borders);
        let mut walks: Vec<Walk> = walks
            .map(|(((size, stride), dilation), (low, high))| Walk {
                size: size.clone(),
                stride,
                dilation,
                low,
                high,
                beyond: Dim::default(),
                count: None,
            })
            .collect();
        self.same_borders(call, extents, padding, &mut walks)?;
        Ok(walks)
    }

    /// The widths of borders; none where `padding` is a name.
    fn borders(&mut self, padding: Option<&Arg<'_>>, rank: usize) -> Checked<Vec<(Dim, Dim)>> {
        match padding {
            Some(arg) if !matches!(arg.value, Value::Text(_)) => self.pad_widths(arg, rank),
            _ => Ok(vec![(Dim::default(), Dim::default()); rank]),
        }
    }

    /// The borders that `padding = "same"` asks for: as many windows as there are elements over the stride, and
    /// the odd element of a border at its end.
    fn same_borders(
        &mut self,
        call: &Call<'_>,
        extents: &[Dim],
        padding: Option<&Arg<'_>>,
        walks: &mut [Walk],
    ) -> Checked<()> {
        let Some(arg) = padding else { return Ok(()) };
        let Value::Text(text) = &arg.value else { return Ok(()) };
        match text.as_str() {
            "valid" => return Ok(()),
            "same" | "same_lower" => {}
            _ => {
                let message = format!(
                    "`padding` of `{}` is a number, a pair for each axis, \"valid\", \"same\" or \"same_lower\"",
                    call.name
                );
                return self.fail("option-value", arg.expr.span, message);
            }
        }
        let lower = text == "same_lower";
        let one = Dim::constant(1);
        for (walk, extent) in walks.iter_mut().zip(extents) {
            let stride = Dim::constant(walk.stride);
            let reach = walk.reach();
            let count = extent.ceil_div(&stride);
            let total = match walk.stride {
                1 => &reach - &one,
                _ => {
                    let needed = &(&(&(&count - &one) * &stride) + &reach) - extent;
                    self.dim_extremum(&needed, &Dim::default(), true)
                }
            };
            walk.count = Some(self.graph.facts.normalize(&count));
            let less = total.floor_div(&Dim::constant(2));
            let more = &total - &less;
            (walk.low, walk.high) = if lower { (more, less) } else { (less, more) };
        }
        Ok(())
    }

    /// Lets the last window reach beyond the border, if it does not begin there: every element is in a window then.
    pub(super) fn round_up(&mut self, extents: &[Dim], walks: &mut [Walk], at: Origin) -> Checked<()> {
        let (zero, one) = (Dim::default(), Dim::constant(1));
        for (walk, extent) in walks.iter_mut().zip(extents) {
            let stride = Dim::constant(walk.stride);
            let begun = &walk.low + extent;
            let (bordered, reach) = (&begun + &walk.high, walk.reach());
            self.demand(&bordered, Relation::Ge, &reach, at, FITS)?;
            let room = &bordered - &reach;
            let all = &room.ceil_div(&stride) + &one;
            let count = self.dim_extremum(&all, &begun.ceil_div(&stride), false);
            let lacking = &(&(&count - &one) * &stride) - &room;
            walk.beyond = self.graph.facts.normalize(&self.dim_extremum(&lacking, &zero, true));
            walk.count = Some(self.graph.facts.normalize(&count));
        }
        Ok(())
    }

    /// Positive constants, one for all axes or one each.
    pub(super) fn steps(&mut self, arg: Option<&Arg<'_>>, rank: usize, option: &str) -> Checked<Vec<i64>> {
        let Some(arg) = arg else { return Ok(vec![1; rank]) };
        let steps: Option<Vec<i64>> = match arg.value.elements() {
            None => arg.value.as_int().map(|step| vec![step; rank]),
            Some(items) => items.iter().map(|item| item.value.as_int()).collect(),
        };
        match steps {
            Some(steps)
                if steps.len() == rank && steps.iter().all(|s| (1..=i64::from(u16::MAX)).contains(s)) =>
            {
                Ok(steps)
            }
            _ => {
                let each = if rank > 1 { format!(", or one for each of {rank} axes") } else { String::new() };
                let message = format!("`{option}` is a positive constant{each}");
                self.fail("option-value", arg.expr.span, message)
            }
        }
    }

    /// A dimension, one for all axes or one each.
    pub(super) fn dims_of(
        &mut self,
        value: &Value,
        rank: Option<usize>,
        what: &str,
        at: Origin,
    ) -> Checked<Vec<Dim>> {
        let single = [Placed { value: value.clone(), at }];
        let items = value.elements().unwrap_or(&single);
        let mut dims = Vec::with_capacity(items.len());
        for item in items {
            dims.push(self.value_dim(&item.value, what, item.at)?);
        }
        match rank {
            Some(rank) if value.elements().is_none() => Ok(vec![dims.remove(0); rank]),
            Some(rank) if dims.len() != rank => {
                let message = format!("{what} is one dimension, or one for each of {rank} axes");
                self.fail("option-value", at, message)
            }
            _ => Ok(dims),
        }
    }

    /// The last axes with their borders.
    pub(super) fn with_fill(
        &mut self,
        node: NodeId,
        walks: &[Walk],
        fill: Constant,
        at: Origin,
    ) -> Checked<NodeId> {
        let none = Dim::default();
        if walks.iter().all(|walk| walk.low == none && walk.high == none && walk.beyond == none) {
            return Ok(node);
        }
        let shape = self.graph.ty(node).shape.clone();
        let before = shape.len() - walks.len();
        let axes = shape.iter().enumerate().map(|(axis, extent)| match axis.checked_sub(before) {
            None => PadAxis::none(extent),
            Some(i) => {
                let Walk { low, high, beyond, .. } = &walks[i];
                PadAxis { low: low.clone(), gap: 0, extent: &(&(low + extent) + high) + beyond }
            }
        });
        let axes = axes.collect();
        let fill = self.add(Op::Constant(fill), &[], at)?;
        self.add(Op::Pad(Pad { axes }), &[node, fill], at)
    }

    /// The windows of the last axes; their taps are as many further axes.
    pub(super) fn all_windows(&mut self, mut node: NodeId, walks: &[Walk], at: Origin) -> Checked<NodeId> {
        let before = self.graph.ty(node).rank() - walks.len();
        for (i, walk) in walks.iter().enumerate() {
            node = self.windowed(node, before + i, walk, at)?;
        }
        Ok(node)
    }

    /// Demands that windows have elements; borders and counts rest on it.
    pub(super) fn has_taps(&mut self, size: &Dim, at: Origin) -> Checked<()> {
        self.demand(size, Relation::Ge, &Dim::constant(1), at, "a window must have at least one element")
    }

    /// The windows of one axis; their taps are a new last axis.
    pub(super) fn windowed(&mut self, node: NodeId, axis: usize, walk: &Walk, at: Origin) -> Checked<NodeId> {
        let one = Dim::constant(1);
        let shape = self.graph.ty(node).shape.clone();
        let count = match &walk.count {
            Some(count) => count.clone(),
            None => {
                let reach = walk.reach();
                self.demand(&shape[axis], Relation::Ge, &reach, at, FITS)?;
                let room = &shape[axis] - &reach;
                self.graph.facts.normalize(&(&room.floor_div(&Dim::constant(walk.stride)) + &one))
            }
        };
        let mut repeated = shape.clone();
        repeated.push(walk.size.clone());
        let axes = (0..shape.len()).collect();
        let node = self.add(Op::Broadcast(Broadcast { shape: repeated, axes }), &[node], at)?;
        let (taps, stride, dilation) = (shape.len(), walk.stride, walk.dilation);
        self.add(
            Op::Window(Window { axis, taps, stride, dilation, extent: count, inverse: false }),
            &[node],
            at,
        )
    }
}
