//! What a cap's ball holds on the far side of a thin solid is no part of the cap.
//!
//! A cap is the part of a ball outside a solid, and its ball may be larger than the solid is thick: 8 µL at 30° come from a ball that reaches 10 mm below the plate that they lie on. Of the liquid in the
//! balls, the connected piece nearest to a cap's centroid is the cap; pieces that are nobody's are on a far side, and so is the air that is nearer to them than to pieces that stay.

use std::collections::VecDeque;

use sessile_world::InitialDrop;

use crate::fluid::Fluid;
use crate::tiles::NONE;

/// Centers deeper than this in a solid connect nothing, in cells.
const IN_THE_SOLID: f64 = -0.5;

/// The cells on far sides. `owner` is the number of the drop whose surface is nearest to each cell, or [`NONE`] where none is near.
pub fn cells_on_far_sides(fluid: &Fluid, drops: &[InitialDrop], owner: &[u32]) -> Vec<usize> {
    let is_outside = |index: usize| owner[index] != NONE && fluid.solids.distance.values()[index] > IN_THE_SOLID;
    let is_liquid = |index: usize| is_outside(index) && fluid.phi.values()[index] < 0.0;
    let (piece, mut stays) = find_pieces(fluid, &is_liquid);
    let mut nearest = vec![(f64::INFINITY, NONE); drops.len()];
    for (index, &piece) in piece.iter().enumerate().filter(|(_, piece)| **piece != NONE) {
        let number = owner[index] as usize;
        match drops[number].cap() {
            // Other drops own all that they enclose.
            None => stays[piece as usize] = true,
            Some(cap) => {
                let away = fluid.grid.center(index).distance_squared(cap.centroid);
                if away < nearest[number].0 {
                    nearest[number] = (away, piece);
                }
            }
        }
    }
    for (_, piece) in nearest.into_iter().filter(|(_, piece)| *piece != NONE) {
        stays[piece as usize] = true;
    }
    if stays.iter().all(|stays| *stays) {
        return Vec::new();
    }
    // Both kinds of pieces grow, cell by cell, into the air around.
    let mut side = piece;
    let mut front: VecDeque<usize> = (0..side.len()).filter(|&index| side[index] != NONE).collect();
    while let Some(index) = front.pop_front() {
        for next in neighbors(fluid, index) {
            if side[next] == NONE && is_outside(next) {
                side[next] = side[index];
                front.push_back(next);
            }
        }
    }
    (0..side.len()).filter(|&index| side[index] != NONE && !stays[side[index] as usize]).collect()
}

/// The connected piece of each liquid cell, and a mark for each piece.
fn find_pieces(fluid: &Fluid, is_liquid: &impl Fn(usize) -> bool) -> (Vec<u32>, Vec<bool>) {
    let mut piece = vec![NONE; fluid.phi.values().len()];
    let mut marks = Vec::new();
    let mut front = Vec::new();
    for start in 0..piece.len() {
        if piece[start] != NONE || !is_liquid(start) {
            continue;
        }
        let this = marks.len() as u32;
        marks.push(false);
        piece[start] = this;
        front.push(start);
        while let Some(index) = front.pop() {
            for next in neighbors(fluid, index) {
                if piece[next] == NONE && is_liquid(next) {
                    piece[next] = this;
                    front.push(next);
                }
            }
        }
    }
    (piece, marks)
}

fn neighbors(fluid: &Fluid, index: usize) -> impl Iterator<Item = usize> {
    let tiles = &fluid.grid.tiles;
    (0..2 * tiles.dims()).filter_map(move |face| tiles.next(index, face / 2, if face % 2 == 0 { -1 } else { 1 }))
}
