//! Sparse space: tiles of 8 × 8 × 8 cells over an unbounded lattice.
//!
//! A cell is given by three integers; cell (i, j, k) fills [i, i+1] × [j, j+1] × [k, k+1] in units
//! of the cell size. Tile (a, b, c) holds the cells 8a ≤ i < 8a + 8 and so on. Active tiles are
//! sorted by (c, b, a), and a tile's position in that order is its *slot*: fields are plain arrays
//! with 512 values per slot, so that loops over tiles are loops over chunks, sums have an order
//! that does not depend on history, and no cell is looked up by hash. A cell's *index* is 512 slot
//! + 64 k + 8 j + i with (i, j, k) counted inside the tile.
//!
//! When the active set changes, values move with their tiles ([`Tiles::activate`],
//! [`Field::rearrange`]); memory is kept.
//!
//! **Staggered fields** use the same indices: the value of a face (or a corner) is stored with the
//! cell whose low side it is.
//!
//! **Planar runs** have one layer of cells, k = 0; every lookup along z ends in that layer, so that
//! derivatives along z vanish. **Periodic axes** wrap whole tiles: the period is a multiple of 8
//! cells.

use std::ops::{Index, IndexMut};

use rayon::prelude::*;

/// Cells along a tile's edge.
pub const SIDE: usize = 8;
/// Cells of a tile.
pub const CELLS: usize = SIDE * SIDE * SIDE;
/// Position of a tile itself in its table of 27 neighbors.
pub const SELF: usize = 13;

/// Slot of a tile, or none where there is no tile; four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionalSlot(u32);

impl OptionalSlot {
    /// No tile.
    pub const NONE: Self = Self(u32::MAX);

    /// The tile in `slot`.
    #[inline]
    pub fn new(slot: usize) -> Self {
        Self(slot as u32)
    }

    /// The slot, if there is a tile.
    #[inline]
    pub fn get(self) -> Option<usize> {
        (self != Self::NONE).then_some(self.0 as usize)
    }
}

/// Storage index of a cell: 512 slot + 64 k + 8 j + i; four bytes.
///
/// It indexes every array with one value per cell of the active tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellIndex(u32);

impl CellIndex {
    /// The cell with an index `local` in the tile of a slot.
    #[inline]
    pub fn new(slot: usize, local: usize) -> Self {
        Self((slot * CELLS + local) as u32)
    }

    /// The slot of the cell's tile.
    #[inline]
    pub fn slot(self) -> usize {
        self.to_usize() / CELLS
    }

    /// The cell's index in its tile.
    #[inline]
    pub fn local(self) -> usize {
        self.to_usize() % CELLS
    }

    /// The cell `count` places further in the same row.
    #[inline]
    pub fn along_row(self, count: usize) -> Self {
        Self(self.0 + count as u32)
    }

    /// Position in arrays with one value per cell.
    #[inline]
    pub fn to_usize(self) -> usize {
        self.0 as usize
    }
}

impl<T> Index<CellIndex> for [T] {
    type Output = T;

    #[inline]
    fn index(&self, index: CellIndex) -> &T {
        &self[index.to_usize()]
    }
}

impl<T> IndexMut<CellIndex> for [T] {
    #[inline]
    fn index_mut(&mut self, index: CellIndex) -> &mut T {
        &mut self[index.to_usize()]
    }
}

impl<T> Index<CellIndex> for Vec<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: CellIndex) -> &T {
        &self[index.to_usize()]
    }
}

impl<T> IndexMut<CellIndex> for Vec<T> {
    #[inline]
    fn index_mut(&mut self, index: CellIndex) -> &mut T {
        &mut self[index.to_usize()]
    }
}

/// Dimension and periodicity of space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// One layer of cells, k = 0.
    pub planar: bool,
    /// Period along each axis in tiles, if it has one; tiles then have coordinates 0 ≤ a < period.
    pub period: [Option<i32>; 3],
}

/// The active tiles and their neighbors.
#[derive(Clone, Debug, Default)]
pub struct Tiles {
    topology: Topology,
    coords: Vec<[i32; 3]>,
    neighbors: Vec<[OptionalSlot; 27]>,
    /// Slot of each tile before the last change.
    previous_slots: Vec<OptionalSlot>,
}

/// Sort key of tiles: by z, then y, then x.
fn rank(tile: &[i32; 3]) -> [i32; 3] {
    [tile[2], tile[1], tile[0]]
}

/// Position in a tile's table of neighbors of the one `offset` ∈ {−1, 0, 1}³ away.
pub fn neighbor_place(offset: [i32; 3]) -> usize {
    ((offset[0] + 1) + 3 * (offset[1] + 1) + 9 * (offset[2] + 1)) as usize
}

/// Index inside its tile of the cell (i, j, k), each 0 to 7.
#[inline]
pub fn local_index([i, j, k]: [usize; 3]) -> usize {
    (k * SIDE + j) * SIDE + i
}

/// The cell (i, j, k) of a tile with this index inside it.
#[inline]
pub fn local_cell(index: usize) -> [usize; 3] {
    [index % SIDE, index / SIDE % SIDE, index / (SIDE * SIDE)]
}

/// The tile that holds a cell of the lattice, and the cell's index inside it.
pub fn tile_of(cell: [i32; 3]) -> ([i32; 3], usize) {
    let side = SIDE as i32;
    (cell.map(|c| c.div_euclid(side)), local_index(cell.map(|c| c.rem_euclid(side) as usize)))
}

impl Tiles {
    /// No tiles yet.
    pub fn new(topology: Topology) -> Self {
        Self { topology, ..Self::default() }
    }

    /// Dimension and periodicity of space.
    pub fn topology(&self) -> Topology {
        self.topology
    }

    /// Layers of cells in use along z: 8, in planar runs 1.
    pub fn layers(&self) -> usize {
        if self.topology.planar { 1 } else { SIDE }
    }

    /// Cells in use in each tile.
    pub fn cells_in_use(&self) -> usize {
        self.layers() * SIDE * SIDE
    }

    /// Number of axes: 3, in planar runs 2.
    pub fn dims(&self) -> usize {
        if self.topology.planar { 2 } else { 3 }
    }

    /// Number of active tiles.
    pub fn len(&self) -> usize {
        self.coords.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.coords.is_empty()
    }

    /// Coordinates of the active tiles, by slot.
    pub fn coords(&self) -> &[[i32; 3]] {
        &self.coords
    }

    /// The 27 tiles around a slot, itself included, by `neighbor_place`; none where
    /// there is no tile.
    #[inline]
    pub fn neighbors(&self, slot: usize) -> &[OptionalSlot; 27] {
        &self.neighbors[slot]
    }

    /// The slot of a tile.
    pub fn slot(&self, tile: [i32; 3]) -> Option<usize> {
        let tile = self.wrap(tile);
        self.coords.binary_search_by_key(&rank(&tile), rank).ok()
    }

    /// Index of a lattice cell, if its tile is active; a binary search, not for inner loops.
    pub fn find(&self, cell: [i32; 3]) -> Option<CellIndex> {
        let cell = if self.topology.planar { [cell[0], cell[1], 0] } else { cell };
        let (tile, local) = tile_of(cell);
        Some(CellIndex::new(self.slot(tile)?, local))
    }

    /// The lattice coordinates of a cell.
    pub fn cell(&self, index: CellIndex) -> [i32; 3] {
        let (tile, local) = (self.coords[index.slot()], local_cell(index.local()));
        [0, 1, 2].map(|axis| tile[axis] * SIDE as i32 + local[axis] as i32)
    }

    /// The cell at (i, j, k) counted from the low corner of a slot's tile, each −8 to 15.
    #[inline]
    pub fn at(&self, slot: usize, [i, j, k]: [i32; 3]) -> Option<CellIndex> {
        let k = if self.topology.planar { 0 } else { k };
        let place = (((i >> 3) + 1) + 3 * ((j >> 3) + 1) + 9 * ((k >> 3) + 1)) as usize;
        let tile = self.neighbors[slot][place];
        let local = ((((k & 7) << 3) | (j & 7)) << 3) | (i & 7);
        tile.get().map(|tile| CellIndex::new(tile, local as usize))
    }

    /// The cell `step` ∈ {−1, 1} further along `axis`; in planar runs a cell is its own neighbor
    /// along z.
    #[inline]
    pub fn next(&self, index: CellIndex, axis: usize, step: i32) -> Option<CellIndex> {
        if axis == 2 && self.topology.planar {
            return Some(index);
        }
        let shift = 3 * axis;
        let along = (index.0 >> shift) & 7;
        let stride = 1usize << shift;
        if step > 0 {
            if along != 7 {
                return Some(CellIndex(index.0 + stride as u32));
            }
            let tile = self.neighbors[index.slot()][SELF + [1, 3, 9][axis]];
            tile.get().map(|tile| CellIndex::new(tile, index.local() - 7 * stride))
        } else {
            if along != 0 {
                return Some(CellIndex(index.0 - stride as u32));
            }
            let tile = self.neighbors[index.slot()][SELF - [1, 3, 9][axis]];
            tile.get().map(|tile| CellIndex::new(tile, index.local() + 7 * stride))
        }
    }

    /// The cells that share a face with a cell: low and high along x, y and z.
    pub fn face_neighbors(&self, index: CellIndex) -> impl Iterator<Item = CellIndex> {
        (0..2 * self.dims()).filter_map(move |face| self.next(index, face / 2, if face % 2 == 0 { -1 } else { 1 }))
    }

    /// The cell `offset` away, each component −8 to 8.
    #[inline]
    pub fn offset(&self, index: CellIndex, offset: [i32; 3]) -> Option<CellIndex> {
        let local = local_cell(index.local());
        self.at(index.slot(), [0, 1, 2].map(|axis| local[axis] as i32 + offset[axis]))
    }

    /// The indices of all cells of the active tiles, unused layers included.
    pub fn indices(&self) -> impl DoubleEndedIterator<Item = CellIndex> + Clone + use<> {
        (0..(self.len() * CELLS) as u32).map(CellIndex)
    }

    /// Whether the neighbor at a position of a slot's table is marked.
    pub fn is_marked(&self, marks: &[bool], slot: usize, place: usize) -> bool {
        self.neighbors[slot][place].get().is_some_and(|neighbor| marks[neighbor])
    }

    /// Whether a tile or one that shares a side with it is marked.
    pub fn touches(&self, marks: &[bool], slot: usize) -> bool {
        const PLACES: [usize; 7] = [SELF, SELF - 1, SELF + 1, SELF - 3, SELF + 3, SELF - 9, SELF + 9];
        PLACES.into_iter().any(|place| self.is_marked(marks, slot, place))
    }

    /// A tile's coordinates inside the period, and on the one layer of a planar run.
    pub fn wrap(&self, mut tile: [i32; 3]) -> [i32; 3] {
        for (coordinate, period) in tile.iter_mut().zip(self.topology.period) {
            if let Some(period) = period {
                *coordinate = coordinate.rem_euclid(period);
            }
        }
        if self.topology.planar {
            tile[2] = 0;
        }
        tile
    }

    /// Makes `wanted` the active tiles: sorts it, removes duplicates, and renumbers the slots.
    ///
    /// Then every field must be moved by `Field::rearrange`.
    pub fn activate(&mut self, wanted: &mut Vec<[i32; 3]>) {
        for tile in wanted.iter_mut() {
            *tile = self.wrap(*tile);
        }
        wanted.sort_unstable_by_key(rank);
        wanted.dedup();
        let coords = &self.coords;
        self.previous_slots.clear();
        // Both lists are sorted: one pass finds where each tile was.
        let mut old = 0;
        self.previous_slots.extend(wanted.iter().map(|tile| {
            while old < coords.len() && rank(&coords[old]) < rank(tile) {
                old += 1;
            }
            let found = old < coords.len() && coords[old] == *tile;
            if found { OptionalSlot::new(old) } else { OptionalSlot::NONE }
        }));
        self.coords.clear();
        self.coords.extend_from_slice(wanted);
        self.connect();
    }

    /// Slot of each tile before the last [`Tiles::activate`]; none for new ones.
    pub fn previous_slots(&self) -> &[OptionalSlot] {
        &self.previous_slots
    }

    fn connect(&mut self) {
        let mut neighbors = std::mem::take(&mut self.neighbors);
        neighbors.clear();
        neighbors.resize(self.coords.len(), [OptionalSlot::NONE; 27]);
        let this = &*self;
        neighbors.par_iter_mut().zip(&this.coords).for_each(|(table, tile)| {
            for (place, entry) in table.iter_mut().enumerate() {
                let offset = [place % 3, place / 3 % 3, place / 9].map(|o| o as i32 - 1);
                let there = [0, 1, 2].map(|axis| tile[axis] + offset[axis]);
                *entry = this.slot(there).map_or(OptionalSlot::NONE, OptionalSlot::new);
            }
        });
        self.neighbors = neighbors;
    }
}

/// One value per cell of the active tiles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Field<T> {
    values: Vec<T>,
    /// Value of a new tile's cells.
    fill: T,
}

impl<T: Copy + Send + Sync> Field<T> {
    /// An empty field; cells of new tiles get `fill`.
    pub fn new(fill: T) -> Self {
        Self { values: Vec::new(), fill }
    }

    /// Value of cells without a tile.
    pub fn fill(&self) -> T {
        self.fill
    }

    /// All values, by index.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// All values, by index.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// The values of one tile.
    #[inline]
    pub fn tile(&self, slot: usize) -> &[T] {
        &self.values[slot * CELLS..(slot + 1) * CELLS]
    }

    /// The value of a cell; the fill without one.
    #[inline]
    pub fn get(&self, index: Option<CellIndex>) -> T {
        index.map_or(self.fill, |index| self.values[index])
    }

    /// The tiles' values, for parallel writing in the order of slots.
    pub fn par_tiles_mut(&mut self) -> rayon::slice::ChunksExactMut<'_, T> {
        self.values.par_chunks_exact_mut(CELLS)
    }

    /// Sets all cells to one value.
    pub fn set_all(&mut self, value: T) {
        self.values.fill(value);
    }

    /// Resizes the field to the active tiles, for scratch that is written before it is read.
    pub fn resize(&mut self, tiles: &Tiles) {
        self.values.resize(tiles.len() * CELLS, self.fill);
    }

    /// Exchanges the values of two fields; each keeps its fill.
    pub fn swap_values(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.values, &mut other.values);
    }

    /// Moves the values with their tiles after [`Tiles::activate`]; `spare` is memory that is kept.
    pub fn rearrange(&mut self, tiles: &Tiles, spare: &mut Vec<T>) {
        spare.clear();
        spare.resize(tiles.len() * CELLS, self.fill);
        let old = &self.values;
        spare.par_chunks_exact_mut(CELLS).zip(tiles.previous_slots()).for_each(|(new, &from)| {
            if let Some(from) = from.get() {
                new.copy_from_slice(&old[from * CELLS..(from + 1) * CELLS]);
            }
        });
        std::mem::swap(&mut self.values, spare);
    }

    /// Copies `LENGTH` values of a row, given by its tile and position, beginning with the value
    /// `from`.
    ///
    /// The length is a constant, since a call would take longer than the copy.
    #[inline]
    fn copy_part<const LENGTH: usize>(&self, (tile, row): (OptionalSlot, usize), from: usize, out: &mut [T]) {
        let out: &mut [T; LENGTH] = out.first_chunk_mut().expect("as many as are copied");
        *out = match tile.get() {
            None => [self.fill; LENGTH],
            Some(tile) => *self.values[tile * CELLS + row + from..].first_chunk().expect("a row of a tile"),
        };
    }

    /// The eight values along x at (j, k) counted from the low corner of a slot's tile, each −8 to
    /// 15; none where there is no tile.
    #[inline]
    pub fn row(&self, tiles: &Tiles, slot: usize, j: i32, k: i32) -> Option<&[T; SIDE]> {
        let place = SELF as i32 + 3 * (j >> 3) + 9 * (k >> 3);
        let tile = tiles.neighbors(slot)[place as usize].get()?;
        let inner = (((k & 7) << 3) | (j & 7)) << 3;
        self.values[tile * CELLS + inner as usize..].first_chunk()
    }

    /// Copies, for every cell of a tile, the value of the cell before it along `axis`; its own
    /// where there is none.
    #[inline]
    pub fn gather_low_neighbors(&self, tiles: &Tiles, slot: usize, axis: usize, out: &mut [T; CELLS]) {
        let here = self.tile(slot);
        if axis == 2 && tiles.topology().planar {
            out.copy_from_slice(here);
            return;
        }
        let stride = 1usize << (3 * axis);
        out[stride..].copy_from_slice(&here[..CELLS - stride]);
        let before = tiles.neighbors(slot)[SELF - [1, 3, 9][axis]];
        // The first cells along the axis are runs of `stride`, each 8 strides after the previous.
        for first in (0..CELLS).step_by(SIDE * stride) {
            let last = first + (SIDE - 1) * stride;
            let from = before.get().map_or(&here[first..], |before| &self.tile(before)[last..]);
            out[first..first + stride].copy_from_slice(&from[..stride]);
        }
    }

    /// Copies a tile with `PAD` cells around it to a dense cube of side 8 + 2 `PAD`, x fastest.
    ///
    /// Cell (i, j, k) of the tile goes to (i + PAD, j + PAD, k + PAD). Cells without a tile get the
    /// field's fill.
    #[inline]
    pub fn gather<const PAD: usize>(&self, tiles: &Tiles, slot: usize, block: &mut [T]) {
        let side = SIDE + 2 * PAD;
        debug_assert_eq!(block.len(), side * side * side);
        let pad = PAD as i32;
        let planar = tiles.topology().planar;
        let table = tiles.neighbors(slot);
        let (mut row, end) = (0, SIDE as i32 + pad);
        for k in -pad..end {
            let k = if planar { 0 } else { k };
            for j in -pad..end {
                let inner = (((k & 7) << 3) | (j & 7)) << 3;
                let place = (3 * ((j >> 3) + 1) + 9 * ((k >> 3) + 1)) as usize;
                let line = &mut block[row..row + side];
                row += side;
                let [before, here, after] = [0, 1, 2].map(|x| (table[place + x], inner as usize));
                self.copy_part::<PAD>(before, SIDE - PAD, &mut line[..PAD]);
                self.copy_part::<SIDE>(here, 0, &mut line[PAD..PAD + SIDE]);
                self.copy_part::<PAD>(after, 0, &mut line[PAD + SIDE..]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube(tiles: &mut Tiles, low: i32, high: i32) {
        let range = || low..high;
        let mut wanted: Vec<[i32; 3]> =
            range().flat_map(|x| range().flat_map(move |y| range().map(move |z| [x, y, z]))).rev().collect();
        tiles.activate(&mut wanted);
    }

    /// A value that identifies its cell.
    fn name([i, j, k]: [i32; 3]) -> i64 {
        i64::from(i) + 1000 * i64::from(j) + 1_000_000 * i64::from(k)
    }

    fn named(tiles: &Tiles) -> Field<i64> {
        let mut field = Field::new(-7);
        field.resize(tiles);
        for index in tiles.indices() {
            field.values_mut()[index] = name(tiles.cell(index));
        }
        field
    }

    #[test]
    fn all_neighbor_lookups_agree() {
        let mut tiles = Tiles::new(Topology::default());
        cube(&mut tiles, -1, 2);
        let field = named(&tiles);
        let mut block = vec![0; 14 * 14 * 14];
        for slot in 0..tiles.len() {
            field.gather::<3>(&tiles, slot, &mut block);
            for local in 0..CELLS {
                let index = CellIndex::new(slot, local);
                let cell = tiles.cell(index);
                assert_eq!(tiles.find(cell), Some(index));
                for (axis, step) in [(0, 1), (0, -1), (1, 1), (1, -1), (2, 1), (2, -1)] {
                    let mut there = cell;
                    there[axis] += step;
                    let mut offset = [0; 3];
                    offset[axis] = step;
                    let found = tiles.find(there);
                    assert_eq!(tiles.next(index, axis, step), found, "{cell:?} along {axis} by {step}");
                    assert_eq!(tiles.offset(index, offset), found);
                    let [i, j, k] = [0, 1, 2].map(|a| (local_cell(local)[a] as i32 + 3 + offset[a]) as usize);
                    let expected = found.map_or(-7, |_| name(there));
                    assert_eq!(block[(k * 14 + j) * 14 + i], expected);
                    assert_eq!(field.get(found), expected);
                }
            }
        }
    }

    #[test]
    fn values_move_with_their_tiles_when_the_active_set_changes() {
        let mut tiles = Tiles::new(Topology::default());
        cube(&mut tiles, 0, 2);
        let mut field = named(&tiles);
        let mut spare = Vec::new();
        let mut wanted = vec![[1, 1, 1], [5, 5, 5], [-3, 0, 0], [0, 1, 0], [1, 1, 1]];
        tiles.activate(&mut wanted);
        field.rearrange(&tiles, &mut spare);
        assert_eq!(tiles.coords(), [[-3, 0, 0], [0, 1, 0], [1, 1, 1], [5, 5, 5]]);
        for slot in 0..4 {
            for (local, value) in field.tile(slot).iter().enumerate() {
                let kept = slot == 1 || slot == 2;
                assert_eq!(*value, if kept { name(tiles.cell(CellIndex::new(slot, local))) } else { -7 });
            }
        }
    }

    #[test]
    fn a_period_wraps_and_a_planar_run_has_one_layer() {
        let mut tiles = Tiles::new(Topology { planar: true, period: [Some(2), None, None] });
        tiles.activate(&mut vec![[0, 0, 0], [1, 0, 0], [2, 0, 5]]);
        assert_eq!(tiles.len(), 2);
        let last = tiles.find([15, 3, 0]).unwrap();
        assert_eq!(tiles.next(last, 0, 1), tiles.find([0, 3, 0]));
        assert_eq!(tiles.next(last, 2, 1), Some(last));
        assert_eq!(tiles.offset(last, [1, 1, -3]), tiles.find([0, 4, 0]));
        assert_eq!(tiles.find([16, 3, 9]), tiles.find([0, 3, 0]));
        let mut block = vec![0; 1000];
        named(&tiles).gather::<1>(&tiles, 0, &mut block);
        assert_eq!(block[1 + 10 + 100], name([0, 0, 0]));
        assert_eq!(block[1 + 10], name([0, 0, 0]));
        assert_eq!(block[10], name([15, 0, 0]));
    }
}
