//! What a tile needs when its sums are done, asked for before they begin: a tile has many rows, each far from the next,
//! so that no machine sees by itself which memory comes next.

use std::collections::BTreeSet;

use super::Emit;
use super::product::Product;
use super::tile::Tile;
use crate::diag::Bug;
use crate::dim::Dim;
use crate::graph::Op;
use crate::lanes::{Cmp, Lanes, Prim};
use crate::loops::Buf;
use crate::schedule::reads::{self, At};
use crate::schedule::roots::{Root, variable};

/// Sums of fewer terms are done about when memory could answer, and belong to products that the cache holds.
const LEAST_TERMS: i64 = 65;

/// Bytes that come at once.
const LINE: usize = 64;

impl Emit<'_> {
    /// Asks for what the vectors of a tile, which stand at `indices`, read and write behind their sums.
    pub(super) fn ask_ahead(
        &mut self,
        product: &Product<'_>,
        tile: &Tile<'_>,
        indices: &[Vec<Dim>],
    ) -> Result<(), Bug> {
        let (least, most) = self.facts.range(&tile.depth.count);
        if most.is_some_and(|most| most < LEAST_TERMS) {
            return Ok(());
        }
        if least.is_some_and(|least| least >= LEAST_TERMS) {
            return self.ask(product, tile, indices);
        }
        let (terms, least) = (self.scalar_index(&tile.depth.count)?, self.int(LEAST_TERMS));
        let are_many = self.b.prim(Prim::Cmp(Cmp::Ge), &[terms, least]);
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
            if !(i % vectors * bytes).is_multiple_of(LINE) {
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
            places.extend(self.read_at(&self.roots[*root], at));
        }
        places
    }

    /// What stands in memory of what an element of a map reads, as far as indices alone say where.
    fn read_at(&self, root: &Root, at: &[Dim]) -> Vec<(Buf, Dim)> {
        let index = |dim: &Dim| {
            dim.substitute(&|sym| {
                (0..at.len()).find(|axis| variable(*axis) == Dim::sym(sym)).map(|axis| at[axis].clone())
            })
        };
        let place = |leaf, read: &At| {
            let shape = &self.graph.ty(leaf).shape;
            let at: Vec<Dim> = match read {
                At::Axes(at) => at.iter().map(index).collect(),
                At::Flat(_) | At::Data => return None,
            };
            match (&self.graph.node(leaf).op, self.stored.get(&leaf)) {
                (_, Some(stored)) => Some((stored.buf, self.offset(stored, shape, &at))),
                (Op::Input(input), None) => Some((self.arguments[*input as usize], reads::flat(shape, &at))),
                _ => None,
            }
        };
        root.reads.iter().filter_map(|(leaf, read)| place(*leaf, read)).collect()
    }
}
