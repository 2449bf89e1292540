//! Memory that is asked for ahead, where no machine sees by itself what comes next: what a tile reads and writes when its
//! sums are done, rows that are far from each other; and what the next tile reads at terms that are.

use std::collections::BTreeSet;

use super::Emit;
use super::holds::Holds;
use super::product::Product;
use super::tile::Tile;
use crate::diag::Bug;
use crate::dim::Dim;
use crate::graph::{NodeId, Op};
use crate::loops::{Buf, LINE};
use crate::schedule::reads::{self, At, Found, Read};
use crate::schedule::roots::{self, variable};

/// Sums of fewer terms are done about when memory could answer, and belong to products that the cache holds.
const LEAST_TERMS: i64 = 65;

/// Terms that are no more bytes apart are found by the machine itself.
const NEAR: i64 = 1024;

impl Emit<'_> {
    /// Asks for what the vectors of a tile, which stand at `indices`, read and write behind their sums.
    pub(super) fn ask_ahead(
        &mut self,
        product: &Product<'_>,
        tile: &Tile<'_>,
        indices: &[Vec<Dim>],
    ) -> Result<(), Bug> {
        let are_many = match self.reaches(&tile.depth.count, LEAST_TERMS)? {
            Holds::Always => return self.ask(product, tile, indices),
            Holds::Never => return Ok(()),
            Holds::If(are_many) => are_many,
        };
        self.b.open_branch(are_many);
        self.ask(product, tile, indices)?;
        self.b.otherwise(Vec::new());
        self.b.close_branch(Vec::new());
        Ok(())
    }

    fn ask(&mut self, product: &Product<'_>, tile: &Tile<'_>, indices: &[Vec<Dim>]) -> Result<(), Bug> {
        let (vectors, lanes) = (tile.columns.at.len(), tile.columns.lanes as usize);
        let bytes = self.graph.ty(product.node).dtype.size() * lanes;
        let mut asked = BTreeSet::new();
        for (i, at) in indices.iter().enumerate() {
            // The line of the vector before has this one too.
            if !(i % vectors * bytes).is_multiple_of(LINE as usize) {
                continue;
            }
            for (buf, offset) in self.behind_sums(product, tile, at) {
                let offset = self.scalar_index(&offset)?;
                if asked.insert((buf, offset)) {
                    self.b.prefetch(buf, offset);
                }
            }
        }
        Ok(())
    }

    /// Where a sum is kept for the terms that follow, or where its epilogue reads and writes.
    fn behind_sums(&self, product: &Product<'_>, tile: &Tile<'_>, at: &[Dim]) -> Vec<(Buf, Dim)> {
        let graph = self.graph;
        if let Some(part) = &tile.depth.part {
            return vec![(part.sums.buf, self.offset(&part.sums, &graph.ty(product.node).shape, at))];
        }
        let mut places = Vec::new();
        for root in std::iter::once(&product.root).chain(product.epilogue) {
            let shape = &graph.ty(self.roots[*root].node).shape;
            if shape.len() != at.len() {
                continue;
            }
            let written = self.homes(*root).into_iter();
            places.extend(written.map(|home| (home.buf, self.offset(&home, shape, at))));
        }
        for root in product.epilogue {
            places.extend(self.places_of(&self.roots[*root].reads, at));
        }
        places
    }

    /// Asks for what the tile of the next columns reads of the right operand at a term, where it is read in place: terms
    /// may be far from each other, and a tile takes few elements of each.
    ///
    /// `indices` are those of the vectors of a row.
    pub(super) fn ask_for_next_columns(
        &mut self,
        product: &Product<'_>,
        tile: &Tile<'_>,
        indices: &[Vec<Dim>],
        term: &[Dim],
    ) -> Result<(), Bug> {
        let (graph, vectors, lanes) = (self.graph, indices.len(), tile.columns.lanes as usize);
        let bytes = graph.ty(product.node).dtype.size();
        let columns = product.extent(product.columns);
        let Some(axis) = product.columns else { return Ok(()) };
        // Many vectors of a term are a stream that the machine sees.
        let is_near = columns.as_const().is_some_and(|columns| columns < NEAR / bytes as i64);
        let is_last = self.facts.range(&columns).1.is_some_and(|most| most <= (vectors * lanes) as i64);
        if is_near || is_last || vectors as u32 > self.tile_shape().1 {
            return Ok(());
        }
        let width = Dim::constant((vectors * lanes) as i64);
        let mut asked = BTreeSet::new();
        for (j, index) in indices.iter().enumerate() {
            if !(j * bytes * lanes).is_multiple_of(LINE as usize) {
                continue;
            }
            let mut index = [index, term].concat();
            index[axis] = &index[axis] + &width;
            let (operand, at) = roots::elements(graph, product.node, &index).swap_remove(1);
            let mut found = Found::default();
            reads::collect(graph, &|node| self.is_leaf(node), operand, &at, &mut found)?;
            for (leaf, read) in &found.reads {
                let At::Axes(at) = read else { continue };
                let Some((buf, offset)) = self.place_of(*leaf, at) else { continue };
                let offset = self.scalar_index(&offset)?;
                if asked.insert((buf, offset)) {
                    self.b.prefetch(buf, offset);
                }
            }
        }
        Ok(())
    }

    /// Where an element of what stands in memory is.
    pub(super) fn place_of(&self, leaf: NodeId, at: &[Dim]) -> Option<(Buf, Dim)> {
        let shape = &self.graph.ty(leaf).shape;
        match (&self.graph.node(leaf).op, self.stored.get(&leaf)) {
            (_, Some(stored)) => Some((stored.buf, self.offset(stored, shape, at))),
            (Op::Input(input), None) => Some((self.arguments[*input as usize], reads::flat(shape, at))),
            _ => None,
        }
    }

    /// What stands in memory of what an element at an index reads, as far as indices alone say where.
    pub(super) fn places_of(&self, reads: &[Read], at: &[Dim]) -> Vec<(Buf, Dim)> {
        let index = |dim: &Dim| {
            dim.substitute(&|sym| {
                (0..at.len()).find(|axis| variable(*axis) == Dim::sym(sym)).map(|axis| at[axis].clone())
            })
        };
        let place = |(leaf, read): &Read| match read {
            At::Axes(at) => self.place_of(*leaf, &at.iter().map(index).collect::<Vec<_>>()),
            At::Flat(_) | At::Data => None,
        };
        reads.iter().filter_map(place).collect()
    }
}

#[cfg(test)]
mod tests {
    use tensorjit_runtime::abi::Level;

    use crate::schedule::tests::emitted;

    /// Whether a product asks for memory ahead, and how many of its operands are packed at the highest level.
    const CASES: [(&str, bool, usize); 6] = [
        // Many rows, or many terms, of which panels make one stream each.
        ("pub fn f(x: f32[1024, 2048], w: f32[2048, 1024]) -> f32[1024, 1024] { x @ w }", true, 2),
        // Rows that do not compete for the same lines of the cache are read where they stand.
        ("pub fn f(x: f32[1024, 2000], w: f32[2000, 1024]) -> f32[1024, 1024] { x @ w }", true, 1),
        // Too few for panels to repay: the right operand is read where it stands, a column of tiles ahead.
        ("pub fn f(x: f32[128, 512], w: f32[512, 512]) -> f32[128, 512] { x @ w }", true, 0),
        // As many are only known at the call.
        ("pub fn f<M, K, N>(x: f32[M, K], w: f32[K, N]) -> f32[M, N] { x @ w }", true, 2),
        // Few terms are done before memory could answer.
        ("pub fn f(x: f32[32, 32], w: f32[32, 16]) -> f32[32, 16] { x @ w }", false, 0),
        ("pub fn f(x: f32[1024, 1024]) -> f32[1024, 1024] { x + 1 }", false, 0),
    ];

    /// How many buffers of the arena a kernel writes to.
    fn written_in_arena(kernel: &str) -> usize {
        let names = kernel.lines().filter_map(|line| line.trim().split_once(": f32 arena "));
        names.filter(|(name, _)| kernel.contains(&format!("store {name}["))).count()
    }

    #[test]
    fn products_ask_ahead_and_pack_what_repays_it() {
        for (text, asks, packed) in CASES {
            for (level, kernel) in emitted(text) {
                assert_eq!(kernel.contains("prefetch"), asks, "{level:?} of {text}");
                if level == Level::X86V4 {
                    assert_eq!(written_in_arena(&kernel), packed, "panels of {text}");
                }
            }
        }
    }
}
