//! 4 × 4 × 4 cells, and which of them were ever entered.

use crate::droplets::NIL;

/// Cells of a block.
pub const PER_BLOCK: usize = 64;

/// A block of cells: x, y and z within it are the lowest, the middle and the highest two bits of a cell's number.
#[derive(Clone, Copy, Debug, Default)]
pub struct Block {
    /// A bit for each cell that was.
    entered: u64,
    /// Where its cells begin, if any was.
    first: u32,
}

impl Block {
    /// A bit for each cell that was ever entered.
    #[inline]
    pub fn entered(&self) -> u64 {
        self.entered
    }

    /// Where its cells begin among those of all, if any was ever entered.
    #[inline]
    pub fn first(&self) -> u32 {
        self.first
    }

    /// Where a cell is among those of all, if it was ever entered.
    #[inline]
    pub fn cell(&self, within: usize) -> Option<usize> {
        ((self.entered >> within) & 1 != 0).then_some(self.first as usize + within)
    }

    /// Notes that a cell is entered, and says where it is among those of all.
    #[inline]
    pub fn open(&mut self, within: usize, cells: &mut Vec<u32>) -> usize {
        if self.entered == 0 {
            self.first = cells.len() as u32;
            cells.extend([NIL; PER_BLOCK]);
        }
        self.entered |= 1 << within;
        self.first as usize + within
    }
}

/// A bit for each cell from a first to a last along each axis; these as the first plus four times the last, each 0 to 3.
#[inline]
pub fn cells_between([x, y, z]: [usize; 3]) -> u64 {
    BETWEEN[0][x] & BETWEEN[1][y] & BETWEEN[2][z]
}

/// For each axis, and a first and a last: the cells between these.
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
    fn the_cells_of_a_box_are_those_within_it() {
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
