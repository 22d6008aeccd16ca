//! Blocks of 4 × 4 × 4 cells with a mask of the occupied ones.

use sessile_numerics::{OptionalIndex, typed_index};

use super::cache_line::LineIndex;

typed_index! {
    /// A cell of an occupied block.
    pub struct CellIndex;
}

/// Cells per block.
pub const PER_BLOCK: usize = 64;

/// A block of cells; the index of a cell has two bits each for x, y and z.
#[derive(Clone, Copy, Debug, Default)]
pub struct Block {
    /// Mask of the cells that were ever occupied.
    occupied: u64,
    /// Position of its first cell, if any was occupied.
    first: u32,
}

impl Block {
    /// Mask of the cells that were ever occupied.
    #[inline]
    pub fn occupied(&self) -> u64 {
        self.occupied
    }

    /// A cell of an occupied block.
    #[inline]
    pub fn cell(&self, within: usize) -> CellIndex {
        CellIndex::new(self.first as usize + within)
    }

    /// A cell, if it was ever occupied.
    #[inline]
    pub fn occupied_cell(&self, within: usize) -> Option<CellIndex> {
        ((self.occupied >> within) & 1 != 0).then_some(self.cell(within))
    }

    /// Marks a cell as occupied and returns its index.
    #[inline]
    pub fn occupy(&mut self, within: usize, cells: &mut Vec<OptionalIndex<LineIndex>>) -> CellIndex {
        if self.occupied == 0 {
            self.first = cells.len() as u32;
            cells.extend([OptionalIndex::NONE; PER_BLOCK]);
        }
        self.occupied |= 1 << within;
        self.cell(within)
    }
}

/// Mask of the cells between a first and a last along each axis, given as first plus four times
/// last, each 0 to 3.
#[inline]
pub fn cells_between([x, y, z]: [usize; 3]) -> u64 {
    BETWEEN[0][x] & BETWEEN[1][y] & BETWEEN[2][z]
}

/// For each axis, first and last: the mask of the cells between.
const BETWEEN: [[u64; 16]; 3] = {
    let mut between = [[0; 16]; 3];
    let mut cell = 0;
    while cell < PER_BLOCK {
        let mut ends = 0;
        while ends < 16 {
            let mut axis = 0;
            while axis < 3 {
                let place = (cell >> (2 * axis)) & 3;
                if ends & 3 <= place && place <= ends >> 2 {
                    between[axis][ends] |= 1 << cell;
                }
                axis += 1;
            }
            ends += 1;
        }
        cell += 1;
    }
    between
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_of_a_box_contains_the_cells_within_it() {
        let ranges = (0..4).flat_map(|low| (low..4).map(move |high| [low, high]));
        for x in ranges.clone() {
            for y in ranges.clone() {
                for z in ranges.clone() {
                    let inside = |[low, high]: [usize; 2], k: usize| low <= k && k <= high;
                    let expected = (0..PER_BLOCK)
                        .filter(|cell| inside(x, cell & 3) && inside(y, (cell >> 2) & 3) && inside(z, cell >> 4))
                        .fold(0_u64, |bits, cell| bits | 1 << cell);
                    assert_eq!(
                        cells_between([x, y, z].map(|[low, high]| low + 4 * high)),
                        expected,
                        "{x:?} {y:?} {z:?}"
                    );
                }
            }
        }
    }
}
