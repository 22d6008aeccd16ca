//! Far-side culling: the part of a cap's sphere beyond a thin solid does not belong to the cap.
//!
//! A cap is the part of a sphere outside a solid, and its sphere may be larger than the solid is
//! thick: 8 µL at 30° come from a sphere that extends 10 mm below the plate. Of the liquid in the
//! spheres, the connected component nearest to a cap's centroid is the cap; components that belong
//! to no drop are on a far side, and so is the air that is nearer to them than to components that
//! stay.

use std::collections::VecDeque;

use sessile_world::InitialDrop;

use crate::state::State;
use crate::tiles::CellIndex;

/// Centers deeper than this in a solid connect nothing, in cells.
const MAX_DEPTH: f64 = -0.5;

/// The cells on far sides; `owners` gives the drop whose surface is nearest to each cell, if one is
/// near.
pub fn cells_on_far_sides(state: &State, drops: &[InitialDrop], owners: &[Option<u32>]) -> Vec<CellIndex> {
    let is_outside = |index: CellIndex| owners[index].is_some() && state.solids.distance.values()[index] > MAX_DEPTH;
    let is_liquid = |index: CellIndex| is_outside(index) && state.phi.values()[index] < 0.0;
    let (components, count) = find_components(state, &is_liquid);
    let stays = components_that_stay(state, drops, owners, &components, count);
    if stays.iter().all(|stays| *stays) {
        return Vec::new();
    }
    // Both kinds of components grow, cell by cell, into the air around.
    let mut nearest = components;
    let indices = state.grid.tiles.indices();
    let mut front: VecDeque<CellIndex> = indices.clone().filter(|&index| nearest[index].is_some()).collect();
    while let Some(index) = front.pop_front() {
        for next in state.grid.tiles.face_neighbors(index) {
            if nearest[next].is_none() && is_outside(next) {
                nearest[next] = nearest[index];
                front.push_back(next);
            }
        }
    }
    indices.filter(|&index| nearest[index].is_some_and(|component| !stays[component])).collect()
}

/// Which components are part of a drop.
fn components_that_stay(
    state: &State,
    drops: &[InitialDrop],
    owners: &[Option<u32>],
    components: &[Option<usize>],
    count: usize,
) -> Vec<bool> {
    let mut stays = vec![false; count];
    let mut nearest: Vec<Option<(f64, usize)>> = vec![None; drops.len()];
    for (index, (component, owner)) in state.grid.tiles.indices().zip(components.iter().zip(owners)) {
        let (Some(component), Some(owner)) = (*component, *owner) else { continue };
        match drops[owner as usize].cap() {
            // Other shapes own all that they enclose.
            None => stays[component] = true,
            Some(cap) => {
                let distance = state.grid.center(index).distance_squared(cap.centroid);
                let nearest = &mut nearest[owner as usize];
                if nearest.is_none_or(|(least, _)| distance < least) {
                    *nearest = Some((distance, component));
                }
            }
        }
    }
    for (_, component) in nearest.into_iter().flatten() {
        stays[component] = true;
    }
    stays
}

/// The connected component of each liquid cell, and the number of components.
fn find_components(state: &State, is_liquid: &impl Fn(CellIndex) -> bool) -> (Vec<Option<usize>>, usize) {
    let mut components = vec![None; state.phi.values().len()];
    let mut count = 0;
    let mut front = Vec::new();
    for start in state.grid.tiles.indices() {
        if components[start].is_some() || !is_liquid(start) {
            continue;
        }
        components[start] = Some(count);
        front.push(start);
        while let Some(index) = front.pop() {
            for next in state.grid.tiles.face_neighbors(index) {
                if components[next].is_none() && is_liquid(next) {
                    components[next] = Some(count);
                    front.push(next);
                }
            }
        }
        count += 1;
    }
    (components, count)
}
