//! Matrix products: their outer loops, and the choice among blocks, tiles without blocks, and few rows.
//!
//! The sum of an element goes in chains of fused multiply-adds in the order of the folded axes, as `terms.rs` says,
//! whatever the blocks and tiles, so that these change no bit.

use std::{mem, slice};

use super::heights::FEW_ROWS;
use super::panels::Panels;
use super::tasks::{Part, Range};
use super::tile::{Columns, Depth, Tile};
use super::{Emit, Stored, Var};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::graph::NodeId;
use crate::lanes::{Cmp, Lanes, Prim, Val};
use crate::schedule::fuse::Portion;
use crate::schedule::joint;
use crate::schedule::reads;
use crate::schedule::roots::{Along, Root};
use crate::schedule::tasks::{self, Cut, PIECE, PRODUCT_BYTE};

/// A product while its loops are made.
#[derive(Clone)]
pub(super) struct Product<'e> {
    pub(super) root: usize,
    pub(super) node: NodeId,
    /// Maps of its result, which are computed from the accumulators of a tile.
    pub(super) epilogue: &'e [usize],
    /// Variables of the parallel axes, as far as their loops are open.
    pub(super) at: Vec<Dim>,
    /// Position of the axis of rows in the result, where the left operand has one of its own.
    pub(super) rows: Option<usize>,
    /// Position of the axis of vectors, where the right operand has one of its own.
    pub(super) columns: Option<usize>,
    /// The other axes that the left operand has alone: the right operand is packed once for all their indices.
    pub(super) beside: Vec<usize>,
    /// Extents of the parallel axes.
    pub(super) extents: Vec<Dim>,
    /// Extents of the folded axes.
    pub(super) folded: Vec<Dim>,
    /// What of it the strip at hand takes.
    pub(super) portion: Portion,
    /// How its tiles are cut into tasks.
    pub(super) cut: Option<Cut>,
}

/// What is made of a product at an index of the axes beside its rows.
type Body<'f, 'a> = &'f mut dyn FnMut(&mut Emit<'a>, &Product<'_>) -> Result<(), Bug>;

/// The most vectors of a row of a tile.
const MOST_VECTORS: u32 = 8;

impl Product<'_> {
    /// The extent of the axis of rows, or of columns; 1 where there is none.
    pub(super) fn extent(&self, axis: Option<usize>) -> Dim {
        axis.map_or_else(|| Dim::constant(1), |axis| self.extents[axis].clone())
    }
}

impl<'a> Emit<'a> {
    /// The product `roots[0]` and its epilogue, the other roots, at the indices `prefix` of the leading axes, whose
    /// loops are open.
    pub(super) fn product(&mut self, roots: &[usize], portion: Portion, prefix: &[Dim]) -> Result<(), Bug> {
        let Some((root, epilogue)) = roots.split_first() else { return Ok(()) };
        let Root { node, parallel, folded, .. } = &self.roots[*root];
        let cut = match prefix {
            [] => Cut::of_product(&self.facts, self.grain, &self.roots[*root]),
            // A part of a strip is a part of its tasks.
            _ => None,
        };
        let (cut, batches) = match tasks::batches(&self.roots[*root]) {
            Some(_) => (None, cut),
            None => (cut, None),
        };
        let rank = parallel.len();
        let mut at = vec![Dim::default(); rank];
        at[..prefix.len()].clone_from_slice(prefix);
        let is_open = |axis: &usize| *axis < prefix.len();
        let mut product = Product {
            root: *root,
            node: *node,
            epilogue,
            at,
            rows: self.roots[*root].row_axis().filter(|axis| !is_open(axis)),
            columns: self.roots[*root].column_axis().filter(|axis| !is_open(axis)),
            beside: self.roots[*root].beside().filter(|axis| !is_open(axis)).collect(),
            extents: parallel.clone(),
            folded: folded.clone(),
            portion,
            cut,
        };
        self.join_axes(&mut product, prefix.len());
        if let (Portion::Rows, Some(axis), Some(rows)) = (portion, product.rows, &self.strip) {
            product.extents[axis] = rows.count.clone();
        }
        let is_inner = |axis: &usize| {
            Some(*axis) == product.rows || Some(*axis) == product.columns || product.beside.contains(axis)
        };
        let outer: Vec<usize> = (prefix.len()..rank).filter(|axis| !is_inner(axis)).collect();
        let batches = batches.map(|cut| {
            let units = outer.iter().map(|axis| product.extents[*axis].clone()).collect::<Vec<_>>();
            Cut { units: reads::volume(&units), ..cut }
        });
        self.shared(batches.as_ref(), &mut |emit, range| emit.outer_loops(&mut product, &outer, range))
    }

    /// Makes one axis of two neighbours where no access can tell: the outer keeps one element, the inner has all.
    ///
    /// So rows of several axes fill tiles together, and sums over several axes are cut into blocks as one.
    fn join_axes(&self, product: &mut Product<'_>, first: usize) {
        let rank = product.extents.len();
        let joined = self.roots[product.root].joints.iter().copied().filter(|axis| {
            let follows = |root: &usize| joint::can_join(self.graph, &self.roots[*root], *axis);
            *axis >= first && (*axis >= rank || product.epilogue.iter().all(follows))
        });
        let mut extents = joint::extents(&[&product.extents[..], &product.folded[..]].concat(), joined);
        product.folded = extents.split_off(rank);
        product.extents = extents;
    }

    /// Loops over the axes around tiles, or the part of them in a range.
    fn outer_loops(&mut self, product: &mut Product<'_>, axes: &[usize], range: Range) -> Result<(), Bug> {
        let Some((axis, rest)) = axes.split_first() else {
            let product = &*product;
            return self.by_size(product, &Emit::product_in_blocks, &Emit::product_in_tiles);
        };
        let extent = product.extents[*axis].clone();
        let inside = rest.iter().fold(Dim::constant(1), |volume, axis| &volume * &product.extents[*axis]);
        self.rows_in(&extent, &inside, range, |emit, sym, range| {
            product.at[*axis] = Dim::sym(sym);
            emit.outer_loops(product, rest, range)?;
            Ok(Vec::new())
        })
    }

    /// Registers for accumulators: rows of the tile, and vectors of each row.
    pub(super) fn tile_shape(&self) -> (u32, u32) {
        match self.b.target().vector_registers {
            32.. => (14, 2),
            _ => (6, 2),
        }
    }

    /// The vectors of a row of a tile of few rows: with the sums, those of the right operand and an element of the left
    /// stay in registers, unless each vector has but one use.
    fn wide_vectors(&self, rows: u32) -> u32 {
        let registers = self.b.target().vector_registers;
        match rows {
            1 => registers / 2,
            _ => ((registers - 1) / (rows + 1)).clamp(self.tile_shape().1, MOST_VECTORS),
        }
    }

    /// Tiles whose left operand is read where it stands.
    fn product_in_tiles(&mut self, product: &Product<'_>) -> Result<(), Bug> {
        let extent = product.extent(product.rows);
        let (least, most) = self.facts.range(&extent);
        if self.roots[product.root].along[1] != Along::Own || least.is_some_and(|least| least >= FEW_ROWS) {
            return self.tall_tiles(product);
        }
        if most.is_some_and(|most| most < FEW_ROWS) {
            return self.wide_tiles(product);
        }
        let (rows, few) = (self.scalar_index(&extent)?, self.int(FEW_ROWS));
        let condition = self.b.prim(Prim::Cmp(Cmp::Lt), &[rows, few]);
        let memo = mem::take(&mut self.memo);
        self.b.open_branch(condition);
        self.at_most(&extent, FEW_ROWS - 1, &mut |emit| {
            // So few rows may be too little work to be shared, whatever the number of columns.
            let root = &emit.roots[product.root];
            let cut =
                product.cut.clone().filter(|_| Cut::of_product(&emit.facts, emit.grain, root).is_some());
            emit.wide_tiles(&Product { cut, ..product.clone() })
        })?;
        self.b.otherwise(Vec::new());
        self.memo.clear();
        self.at_least(&extent, FEW_ROWS, &mut |emit| emit.tall_tiles(product))?;
        self.b.close_branch(Vec::new());
        self.memo = memo;
        Ok(())
    }

    /// All columns of tiles in turn, in each all rows; as tasks, pieces of the columns with rows of tiles.
    fn tall_tiles(&mut self, product: &Product<'_>) -> Result<(), Bug> {
        let (from, to) = self.all_columns(product)?;
        if product.cut.is_none() {
            return self.tiles_of(product, (from, to), None);
        }
        let piece = self.int(PIECE);
        let pieces = self.quotient_up(to, piece);
        let rows = self.row_units(product)?;
        let units = self.b.prim(Prim::Mul, &[pieces, rows]);
        let count = self.terms_in(product, to)?;
        let is_one_piece = self.most(&product.extent(product.columns)).is_some_and(|most| most <= PIECE);
        self.part_of_product(product, units, (count, PRODUCT_BYTE), &mut |emit, range| {
            let Some(range) = range.filter(|_| !is_one_piece) else {
                return emit.tiles_of(product, (from, to), range);
            };
            let (first, last) = emit.outer_range(range, pieces, rows);
            emit.range_loop((first, last, 1), &[], &mut |emit, sym, _| {
                let piece = emit.scalar_index(&Dim::sym(sym))?;
                let one = emit.int(1);
                let next = emit.b.prim(Prim::Add, &[piece, one]);
                let columns = emit.elements_of((piece, next), PIECE, to);
                let rows = emit.inner_range(range, piece, rows);
                emit.tiles_of(product, columns, Some(rows))?;
                Ok(Vec::new())
            })?;
            Ok(())
        })
    }

    /// The multiply-adds of so many columns.
    fn terms_in(&mut self, product: &Product<'_>, columns: Val) -> Result<Val, Bug> {
        let beside = product.beside.iter().map(|axis| &product.extents[*axis]);
        let rows = beside.fold(product.extent(product.rows), |rows, extent| &rows * extent);
        let volume = &rows * &Depth::whole(product).count;
        let volume = self.scalar_index(&volume)?;
        Ok(self.b.prim(Prim::Mul, &[volume, columns]))
    }

    /// The tiles of a range of columns and of a range of [`Emit::row_units`]: block by block of terms, where the right
    /// operand is packed.
    fn tiles_of(&mut self, product: &Product<'_>, columns: (Val, Val), rows: Range) -> Result<(), Bug> {
        let vectors = self.tile_shape().1;
        let heights = self.heights(product)?;
        let range = self.rows_of_units(product, rows)?;
        self.depths(product, &mut |emit, depth| {
            emit.column_loops(product, columns, vectors, &mut |emit, columns| {
                let right = match emit.panels[product.root].right.clone() {
                    Some(panel) if emit.roots[product.root].along[1] != Along::Own => {
                        let panel = emit.panel(&panel, [columns.width(), 1]);
                        emit.pack_right(product, columns, depth, slice::from_ref(&panel))?;
                        Some(panel)
                    }
                    _ => None,
                };
                emit.beside(product, &mut |emit, product| {
                    heights.iter().try_for_each(|height| {
                        emit.rows_of_height(*height, range, &mut |emit, row, rows| {
                            let right = right.as_ref();
                            emit.tile(product, &Tile { columns, row, rows, depth, left: None, right })
                        })
                    })
                })
            })
        })
    }

    /// Loops over the axes beside that of the rows.
    pub(super) fn beside(&mut self, product: &Product<'_>, body: Body<'_, 'a>) -> Result<(), Bug> {
        let extents: Vec<Dim> = product.beside.iter().map(|axis| product.extents[*axis].clone()).collect();
        if extents.is_empty() {
            return body(self, product);
        }
        let mut inner = product.clone();
        self.nest(&extents, &[], &mut |emit, index, _| {
            for (axis, index) in product.beside.iter().zip(index) {
                inner.at[*axis] = index.clone();
            }
            body(emit, &inner)?;
            Ok(Vec::new())
        })?;
        Ok(())
    }

    /// All rows of tiles in turn, in each all columns: tiles of few rows have many vectors, so that the chains of their
    /// sums hide the latency of an addition.
    fn wide_tiles(&mut self, product: &Product<'_>) -> Result<(), Bug> {
        let depth = self.depth(product)?;
        let columns = self.all_columns(product)?;
        let lanes = self.register_lanes(self.roots[product.root].lane_bytes);
        let count = self.terms_in(product, columns.1)?;
        let heights = self.heights(product)?;
        self.beside(product, &mut |emit, product| {
            heights.iter().try_for_each(|height| {
                emit.rows_of_height(*height, None, &mut |emit, row, rows| {
                    let vectors = emit.wide_vectors(rows);
                    let width = i64::from(vectors * lanes);
                    let mut part = |emit: &mut Self, range: Range| {
                        let columns =
                            range.map_or(columns, |range| emit.elements_of(range, width, columns.1));
                        emit.column_loops(product, columns, vectors, &mut |emit, columns| {
                            emit.tile(
                                product,
                                &Tile { columns, row, rows, depth: &depth, left: None, right: None },
                            )
                        })
                    };
                    if emit.most(&product.extent(product.columns)).is_some_and(|most| most <= width) {
                        return part(emit, None);
                    }
                    let size = emit.int(width);
                    let units = emit.quotient_up(columns.1, size);
                    emit.part_of_product(product, units, (count, PRODUCT_BYTE), &mut part)
                })
            })
        })
    }

    /// The panel of the task at hand.
    pub(super) fn panel(&self, panel: &Stored, steps: [i64; 2]) -> Panels {
        Panels { buf: panel.buf, start: self.offset(panel, &[], &[]), steps }
    }

    /// Runs a part of a product as tasks, where it is cut: `count` steps of some picoseconds a byte of an element.
    pub(super) fn part_of_product(
        &mut self,
        product: &Product<'_>,
        units: Val,
        (count, cost): (Val, i64),
        part: Part<'_, 'a>,
    ) -> Result<(), Bug> {
        if product.cut.is_none() {
            return part(self, None);
        }
        let cost = self.int(cost * self.roots[product.root].lane_bytes as i64);
        let work = self.b.prim(Prim::Mul, &[count, cost]);
        self.tasks(units, work, part)
    }

    /// The range of all columns.
    pub(super) fn all_columns(&mut self, product: &Product<'_>) -> Result<(Val, Val), Bug> {
        let zero = self.int(0);
        Ok((zero, self.scalar_index(&product.extent(product.columns))?))
    }

    /// Loops over the columns of tiles in a range, `vectors` vectors at a time, then over the rest: at once where it is
    /// known, else in narrower tiles, the last of them under masks.
    ///
    /// A range that is not all columns begins and, but for the last, ends at whole tiles.
    pub(super) fn column_loops(
        &mut self,
        product: &Product<'_>,
        (from, to): (Val, Val),
        vectors: u32,
        body: &mut dyn FnMut(&mut Self, &Columns) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        if product.columns.is_none() {
            return self.with_columns((from, None), (1, 1), body);
        }
        let lanes = self.register_lanes(self.roots[product.root].lane_bytes);
        let (_, narrow) = self.tile_shape();
        let mut from = from;
        let mut left = product.extent(product.columns).as_const();
        let widths = if vectors > narrow { vec![vectors, narrow] } else { vec![vectors] };
        for vectors in widths {
            let step = i64::from(vectors * lanes);
            if left.is_some_and(|left| left < step) {
                if self.has_masks() { break } else { continue }
            }
            let (span, size) = (self.b.prim(Prim::Sub, &[to, from]), self.int(step));
            let rest = self.b.prim(Prim::IRem, &[span, size]);
            let middle = self.b.prim(Prim::Sub, &[to, rest]);
            let (column, _) = self.b.open_loop((from, middle, step), &[]);
            self.with_columns((column, None), (vectors, lanes), body)?;
            self.b.close_loop(Vec::new());
            (from, left) = (middle, left.map(|left| left % step));
            if left.is_some() && self.has_masks() {
                break;
            }
        }
        let (vectors, lanes) = match left {
            Some(0) => return Ok(()),
            // Without masked accesses to memory the columns that are left go one by one.
            _ if !self.has_masks() => (1, 1),
            Some(left) => ((left as u32).div_ceil(lanes), lanes),
            None => (1, lanes),
        };
        let (column, _) = self.b.open_loop((from, to, (vectors * lanes).into()), &[]);
        self.with_columns((column, Some(to)), (vectors, lanes), body)?;
        self.b.close_loop(Vec::new());
        Ok(())
    }

    /// The columns from `first` on, as many vectors of as many lanes; of the last those from `end` on do not exist.
    fn with_columns(
        &mut self,
        (first, end): (Val, Option<Val>),
        (vectors, lanes): (u32, u32),
        body: &mut dyn FnMut(&mut Self, &Columns) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        let mut columns = Columns { first, at: Vec::new(), masks: Vec::new(), lanes };
        let var = if lanes == 1 { Var::Scalar(first) } else { Var::Lane(first) };
        let column = Dim::sym(self.fresh(var));
        for vector in 0..vectors {
            let distance = i64::from(vector * lanes);
            columns.at.push(&column + &Dim::constant(distance));
            let end = end.filter(|_| lanes > 1 && vector + 1 == vectors);
            let distance = self.int(distance);
            let base = self.b.prim(Prim::Add, &[first, distance]);
            columns.masks.push(end.map(|end| self.mask_up_to(base, end, lanes)));
        }
        self.with_lanes(lanes, None, &mut |emit| body(emit, &columns))
    }
}
