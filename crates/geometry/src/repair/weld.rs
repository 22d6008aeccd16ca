//! Merging of coincident vertices.
//!
//! Vertices are processed in order. One within the tolerance of an earlier vertex that was kept is
//! merged with the first of those, so no two kept vertices are closer than the tolerance, and none
//! moves by more than it. Candidates are found with a hash grid of cells eight tolerances wide,
//! nearly always in one cell.

use std::collections::HashMap;

use glam::DVec3;
use sessile_numerics::OptionalIndex;

/// Cell width in tolerances: neighboring cells are searched only for vertices in the outer eighths
/// of a cell.
const CELL: f64 = 8.0;

/// For each vertex, the earlier one that it is merged with, or itself.
pub(super) fn representatives(positions: &[DVec3], tolerance: f64) -> Vec<u32> {
    let low = positions.iter().fold(DVec3::INFINITY, |low, &p| low.min(p));
    let width = CELL * tolerance;
    let mut first_in_cell: HashMap<[i64; 3], OptionalIndex> = HashMap::with_capacity(positions.len());
    let mut next_in_cell = vec![OptionalIndex::NONE; positions.len()];
    let mut representative = Vec::with_capacity(positions.len());
    for (vertex, &position) in (0_u32..).zip(positions) {
        let scaled = (position - low) / width;
        let cell = scaled.to_array().map(|x| x.floor() as i64);
        let mut found: Option<u32> = None;
        for_near_cells(cell, scaled, |cell| {
            let mut next = first_in_cell.get(&cell).copied().unwrap_or_default();
            while let Some(at) = next.get() {
                let earlier = found.is_none_or(|found| at < found);
                if earlier && positions[at as usize].distance_squared(position) <= tolerance * tolerance {
                    found = Some(at);
                }
                next = next_in_cell[at as usize];
            }
        });
        if found.is_none() {
            next_in_cell[vertex as usize] = first_in_cell.insert(cell, OptionalIndex::some(vertex)).unwrap_or_default();
        }
        representative.push(found.unwrap_or(vertex));
    }
    representative
}

/// Visits the cell and the neighbors within a tolerance of the point.
fn for_near_cells(cell: [i64; 3], scaled: DVec3, mut visit: impl FnMut([i64; 3])) {
    // Slightly more than a tolerance, to allow for rounding.
    const MARGIN: f64 = 1.01 / CELL;
    let range = |axis: usize| {
        let inside = scaled[axis] - scaled[axis].floor();
        let below = cell[axis] - i64::from(inside < MARGIN);
        let above = cell[axis] + i64::from(inside > 1.0 - MARGIN);
        below..=above
    };
    for x in range(0) {
        for y in range(1) {
            for z in range(2) {
                visit([x, y, z]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_within_the_tolerance_are_merged_with_the_first() {
        // A row of points 0.7 tolerances apart across several cells: every second one is kept.
        let row: Vec<DVec3> = (0..100).map(|k| DVec3::new(0.7 * f64::from(k), 5.0, -3.0)).collect();
        let representative = representatives(&row, 1.0);
        for (vertex, &kept) in (0_u32..).zip(&representative) {
            assert_eq!(kept, vertex - vertex % 2, "vertex {vertex}");
        }
        let far = representatives(&row, 0.69);
        assert!(far.iter().enumerate().all(|(vertex, &kept)| kept as usize == vertex));
    }
}
