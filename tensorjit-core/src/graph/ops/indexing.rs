//! Places in a tensor that are computed: what a gather reads and a scatter writes.

use super::fold;
use crate::diag::Bug;
use crate::dim::Dim;
use crate::dim::facts::Facts;
use crate::graph::value::{Element, Env, Value};
use crate::graph::{Shape, Type};
use tensorjit_runtime::abi::DType;

/// Which axes of a tensor, the source, are indexed by `i64` tensors of one shape, one for each of `axes`.
///
/// Elements of the source are counted by the axes of the indices, which stand together at `at`, among those axes of
/// the source that are neither indexed nor batch axes.  An index out of range is clamped; no indexed axis is empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Indexing {
    /// The axes that are indexed.
    pub axes: Vec<Indexed>,
    /// Axes of the source that go along with axes of the indices, both rising.
    pub batch: Vec<(usize, usize)>,
    /// How many of the other axes come before those of the indices.
    pub at: usize,
}

/// An axis that is indexed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Indexed {
    /// The axis of the source.
    pub axis: usize,
    /// The axis remains, with so many elements from the index on, all of them inside; otherwise one is taken.
    pub window: Option<Dim>,
}

impl Indexing {
    /// One axis, whose place those of the indices take.
    pub fn one(axis: usize) -> Indexing {
        Indexing { axes: vec![Indexed { axis, window: None }], batch: Vec::new(), at: axis }
    }

    /// One axis, along which every element of the indices takes its own: they have an axis for each of the source's.
    pub fn along(axis: usize, rank: usize) -> Indexing {
        let batch = (0..rank).filter(|other| *other != axis).map(|other| (other, other)).collect();
        Indexing { batch, ..Indexing { at: 0, ..Indexing::one(axis) } }
    }

    /// The axes of the source that stand beside those of the indices, windows included.
    pub fn rest(&self, rank: usize) -> impl Iterator<Item = usize> + '_ {
        (0..rank).filter(|axis| {
            let taken = |indexed: &Indexed| indexed.axis == *axis && indexed.window.is_none();
            !self.axes.iter().any(taken) && !self.batch.iter().any(|(batch, _)| batch == axis)
        })
    }

    fn window(&self, axis: usize) -> Option<&Dim> {
        self.axes.iter().find(|indexed| indexed.axis == axis).and_then(|indexed| indexed.window.as_ref())
    }

    /// The shape of what is gathered.
    pub fn infer(&self, facts: &Facts, source: &Type, indices: &[&Type]) -> Result<Shape, Bug> {
        let bug = || Err(Bug::new("graph", format!("{self:?} of {source:?} by {indices:?}")));
        let [first, ..] = indices else { return bug() };
        let same =
            |a: &[Dim], b: &[Dim]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| facts.same(a, b));
        let fits = indices.len() == self.axes.len()
            && indices.iter().all(|ty| ty.dtype == DType::I64 && same(&ty.shape, &first.shape))
            && self.batch.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1)
            && self.batch.iter().all(|(axis, other)| {
                matches!((source.shape.get(*axis), first.shape.get(*other)), (Some(a), Some(b)) if facts.same(a, b))
            });
        let mut indexed: Vec<usize> = self.axes.iter().map(|indexed| indexed.axis).collect();
        indexed.extend(self.batch.iter().map(|(axis, _)| *axis));
        indexed.sort_unstable();
        let once = indexed.windows(2).all(|pair| pair[0] < pair[1]);
        if !fits || !once || indexed.last().is_some_and(|axis| *axis >= source.rank()) {
            return bug();
        }
        let mut shape: Shape = self
            .rest(source.rank())
            .map(|axis| self.window(axis).unwrap_or(&source.shape[axis]).clone())
            .collect();
        if self.at > shape.len() {
            return bug();
        }
        shape.splice(self.at..self.at, first.shape.iter().cloned());
        Ok(shape)
    }

    /// Splits the index of a gathered element: the part that counts in the indices, and the index into the source as
    /// far as it is known, which is 0 on axes of which one element is taken.
    pub fn split<'i, T: Clone>(&self, index: &'i [T], index_rank: usize, zero: T) -> (&'i [T], Vec<T>) {
        let points = &index[self.at..self.at + index_rank];
        let mut rest = index[..self.at].iter().chain(&index[self.at + index_rank..]);
        let taken = self.axes.iter().filter(|indexed| indexed.window.is_none()).count();
        let rank = index.len() - index_rank + taken + self.batch.len();
        let mut source = vec![zero; rank];
        for (axis, point) in &self.batch {
            source[*axis] = points[*point].clone();
        }
        for (axis, at) in self.rest(rank).zip(&mut rest) {
            source[axis] = at.clone();
        }
        (points, source)
    }

    /// The index into a source of the given shape for the index of a gathered element, and the error of the indices.
    pub fn place(
        &self,
        env: &Env,
        indices: &[&Value],
        shape: &[usize],
        index: &[usize],
    ) -> Result<(Vec<usize>, f64), Bug> {
        let (points, mut source) = self.split(index, indices[0].shape.len(), 0);
        let mut error = 0.0_f64;
        for (Indexed { axis, window }, indices) in self.axes.iter().zip(indices) {
            let window = window.as_ref().map_or(Ok(1), |window| env.extent(window))?;
            let start = indices.at(points);
            source[*axis] += clamp(start, (shape[*axis] + 1).saturating_sub(window))?;
            error = error.max(start.error);
        }
        Ok((source, error))
    }

    /// The same with other forms of its dimensions.
    pub fn with_dims(&mut self, form: &dyn Fn(&Dim) -> Dim) {
        for window in self.axes.iter_mut().filter_map(|indexed| indexed.window.as_mut()) {
            *window = form(window);
        }
    }
}

/// The position that an index means on an axis that is not empty.
fn clamp(index: Element, extent: usize) -> Result<usize, Bug> {
    let Some(last) = extent.checked_sub(1) else {
        return Err(Bug::new("interp", "an index into an empty axis"));
    };
    Ok(usize::try_from(fold::int(index)).map_or(0, |index| index.min(last)))
}
