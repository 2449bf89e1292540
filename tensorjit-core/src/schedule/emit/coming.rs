//! Rows that come: while a row is computed, the next one is asked for.
//!
//! The first stage of a row reads it from memory, and those that follow read it again, from the nearest cache.  The machine
//! itself asks for what a loop reads as far ahead as the loop goes on, and not in pages that it has not come to.  So
//! memory would wait while later stages compute, and the first stage would wait for memory.  The stages behind the first
//! ask for what all of them read and write of the next row, each for a part.

use super::Emit;
use super::holds::Holds;
use crate::diag::Bug;
use crate::dim::Dim;
use crate::loops::{Buf, LINE};
use crate::schedule::fuse::Group;
use crate::schedule::reads::{At, Read};
use crate::schedule::roots::{Kind, Root, variable};

/// The most bytes of a row: of more, the near caches would hold no two.
const MOST_BYTES: i64 = 64 << 10;

/// What a stage asks for of the next row.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    /// Over the variables of the rows and of the axis inside.
    places: Vec<Read>,
    /// The bytes of a row of all stages.
    bytes: Dim,
}

impl Emit<'_> {
    /// What each stage of a group asks for of the next row.  What a strip reads has just been written, and folds across
    /// rows, whose accumulators are written all the time, lose by it.
    pub(super) fn asked_by_stages(&self, group: &Group) -> Vec<Asked> {
        let mut asked = vec![Asked::default(); group.stages.len()];
        let goes_along = |root: &Root| root.parallel.len() + root.folded.len() == group.rows + 1;
        let asks = |stage: &usize| group.stages[*stage].iter().any(|root| goes_along(&self.roots[*root]));
        let stages: Vec<usize> = (1..group.stages.len()).filter(asks).collect();
        if group.rows == 0 || self.strip.is_some() || !self.across.is_empty() {
            return asked;
        }
        let (mut seen, mut bytes): (Vec<Read>, Dim) = Default::default();
        for root in group.roots().map(|root| &self.roots[root]).filter(|root| goes_along(root)) {
            let at = At::Axes((0..=group.rows).map(variable).collect());
            let written = (root.kind == Kind::Map).then_some((root.node, at));
            for place in root.reads.iter().cloned().chain(written) {
                if seen.contains(&place) || !self.goes_on(group.rows, &place) {
                    continue;
                }
                let ty = self.graph.ty(place.0);
                if let Some(extent) = ty.shape.last() {
                    bytes = &bytes + &(extent * &Dim::constant(ty.dtype.size() as i64));
                }
                seen.push(place.clone());
                if let Some(by) = stages.iter().min_by_key(|stage| asked[**stage].places.len()) {
                    asked[*by].places.push(place);
                }
            }
        }
        asked.iter_mut().for_each(|asked| asked.bytes = bytes.clone());
        asked
    }

    /// Whether what is read or written is a row of a whole tensor, contiguous and another one for each row.
    fn goes_on(&self, rows: usize, (leaf, at): &Read) -> bool {
        let At::Axes(at) = at else { return false };
        let Some((last, outer)) = at.split_last() else { return false };
        let moves =
            |index: &Dim| variable(rows - 1).symbols().iter().all(|sym| index.symbols().contains(sym));
        let is_whole = self.stored.get(leaf).is_none_or(|stored| stored.skip == 0 && !stored.strip);
        is_whole && *last == variable(rows) && outer.iter().any(moves) && self.place_of(*leaf, at).is_some()
    }

    /// Asks for what the vector at an index of a row stands for in the next row.  A short row is done before memory
    /// could answer; where results go past the caches, memory is busy with them meanwhile.
    pub(super) fn ask_for_next_row(&mut self, at: &[Dim]) -> Result<(), Bug> {
        let Some(row) = at.len().checked_sub(2) else { return Ok(()) };
        if self.asked.places.is_empty() || self.tail.is_some() || self.in_piece || self.lanes == 1 {
            return Ok(());
        }
        let is_long = self.reaches(&self.asked.bytes.clone(), MOST_BYTES + 1)?;
        let beyond = match self.beyond {
            None => Holds::Never,
            Some(beyond) if self.b.as_int(beyond).is_some() => Holds::Always,
            Some(beyond) => Holds::If(beyond),
        };
        let mut at = at.to_vec();
        at[row] = &at[row] + &Dim::constant(1);
        let places = self.places_of(&self.asked.places, &at);
        match self.either(is_long, beyond) {
            Holds::Always => Ok(()),
            Holds::Never => self.ask_for_vectors(places),
            Holds::If(not) => {
                self.b.open_branch(not);
                self.b.otherwise(Vec::new());
                self.ask_for_vectors(places)?;
                self.b.close_branch(Vec::new());
                Ok(())
            }
        }
    }

    fn ask_for_vectors(&mut self, places: Vec<(Buf, Dim)>) -> Result<(), Bug> {
        for (buf, offset) in places {
            let of_line = LINE / self.b.buffer_dtype(buf).size() as u32;
            for first in (0..self.lanes).step_by(of_line as usize) {
                let offset = self.scalar_index(&(&offset + &Dim::constant(first.into())))?;
                self.b.prefetch(buf, offset);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::schedule::tests::emitted;

    /// What a function asks for of the next row, and whether it does.
    const CASES: [(&str, bool); 6] = [
        ("pub fn f(x: f32[64, 1024]) -> f32[64, 1024] { softmax(x) }", true),
        // One stage, whose loop the machine sees.
        ("pub fn f(x: f32[64, 1024]) -> f32[64] { sum(x, axis = 1) }", false),
        // Long rows.
        ("pub fn f(x: f32[64, 65536]) -> f32[64, 65536] { softmax(x) }", false),
        // One row.
        ("pub fn f(x: f32[1024]) -> f32[1024] { softmax(x) }", false),
        // What a fold across the rows reads has an index of its own.
        (
            "pub fn f(x: f32[4, 3, 64]) -> f32[4, 3, 64] { let s = sum(square(max(x, axis = 1))); grad(s, x) }",
            false,
        ),
        // Every row reads the same.
        ("pub fn f(x: f32[1024], y: f32[64]) -> f32[64] { sum(softmax(x)) * y }", false),
    ];

    #[test]
    fn later_stages_ask_for_the_next_row() {
        for (text, asks) in CASES {
            for (level, kernel) in emitted(text) {
                assert_eq!(kernel.contains("prefetch"), asks, "{level:?} of {text}");
            }
        }
    }
}
