//! Velocity beyond the liquid: constant along the surface's normal, in solids what the wall demands.
//!
//! In air, n·∇u = 0 by first-order upwind differences: a face takes the mean of its neighbours nearer to the liquid, weighted by |∂φ|. Faces are filled
//! from the liquid outwards as soon as most of what they lean on is known, layer by layer, so that the result does not depend on threads.
//!
//! In solids (buried faces) velocity continues the profile at the wall: with u(s) at a height above it and the slip length λ,
//!
//! ```text
//! u_t(s) = u_t(s_m) (s + λ)/(s_m + λ),      u_n(s) = u_n(s_m) s/s_m         (relative to the wall)
//! ```
//!
//! λ is the scene's on closed faces; on partly open ones half a cell is added, because the face stands for its open part above the wall. Mirrors have λ = ∞.

use glam::DVec3;
use rayon::prelude::*;

use crate::faces::{BURIED, Kinds, OUTER, WET};
use crate::grid::{FACES, linear, local_center};
use crate::solids::{Solids, Wall};
use crate::tiles::{CELLS, Field, NONE, SIDE, Tiles, local_cell};

/// How far from the liquid velocity is needed, in cells.
pub const REACH: f64 = 4.5;
/// Layers that reach that far, diagonals included.
const LAYERS: usize = 9;
/// Height above the wall from which buried faces take their velocity, in cells.
const MIRRORED_AT: f64 = 1.0;
/// How deep in solids velocity is needed, in cells: a foot point lies within a cell of a wet face, and cubic interpolation reaches two farther.
const BURIED_TO: f64 = 3.5;

/// A face to be filled: where it takes its value from, with which weights.
#[derive(Clone, Copy, Debug)]
struct Fill {
    local: u16,
    done: bool,
    /// φ at the face.
    height: f32,
    from: [u32; 3],
    weight: [f32; 3],
    value: f64,
}

/// Memory that is used again.
#[derive(Debug, Default)]
pub struct Extrapolation {
    lists: Vec<Vec<Fill>>,
}

/// What is read.
pub struct Around<'a> {
    /// The tiles.
    pub tiles: &'a Tiles,
    /// The solids.
    pub solids: &'a Solids,
    /// The level set.
    pub phi: &'a Field<f64>,
    /// Slip length, in cells.
    pub slip: f64,
}

impl Extrapolation {
    /// Fills component `axis` of the velocity; `known` are the wet faces before, and all that were filled afterwards.
    pub fn fill_air(&mut self, around: &Around<'_>, axis: usize, velocity: &mut Field<f64>, known: &mut Field<u8>) {
        let tiles = around.tiles;
        self.lists.resize_with(tiles.len().max(self.lists.len()), Vec::new);
        let lists = &mut self.lists[..tiles.len()];
        lists
            .par_iter_mut()
            .enumerate()
            .for_each(|(slot, list)| list_faces(around, axis, slot, known.tile(slot), list));
        for layer in 0..LAYERS {
            let last = layer + 1 == LAYERS;
            let highest = if last { f32::INFINITY } else { layer as f32 + 2.0 };
            let (values, mask) = (velocity.values(), known.values());
            // What was found and not yet written stands at each list's front.
            let any: bool = lists
                .par_iter_mut()
                .map(|list| {
                    let mut found = 0;
                    for at in 0..list.len() {
                        // A layer is at most a cell thick: what is higher has nothing to lean on yet.
                        if list[at].height < highest && list[at].try_fill(values, mask, last) {
                            list.swap(at, found);
                            found += 1;
                        }
                    }
                    found > 0
                })
                .reduce(|| false, |a, b| a | b);
            if !any {
                break;
            }
            (velocity.par_tiles_mut(), known.par_tiles_mut(), &mut *lists).into_par_iter().for_each(
                |(values, mask, list)| {
                    let found = list.iter().take_while(|fill| fill.done).count();
                    for fill in list.drain(..found) {
                        values[fill.local as usize] = fill.value;
                        mask[fill.local as usize] |= WET;
                    }
                },
            );
        }
    }
}

impl Fill {
    /// Takes the mean of the known upwind faces if they carry most of the weight, or any when it is the last chance.
    fn try_fill(&mut self, values: &[f64], known: &[u8], last: bool) -> bool {
        let (mut sum, mut have, mut all) = (0.0, 0.0, 0.0);
        for (from, weight) in self.from.into_iter().zip(self.weight) {
            let weight = f64::from(weight);
            // Above a wall the way back to a flat wedge of liquid leads through the solid: then it is taken along the wall.
            if weight == 0.0 || known[from as usize] & BURIED != 0 {
                continue;
            }
            all += weight;
            if known[from as usize] & WET != 0 {
                have += weight;
                sum += weight * values[from as usize];
            }
        }
        if have > 0.0 && (last || have > 0.7 * all) {
            (self.value, self.done) = (sum / have, true);
        }
        self.done
    }
}

/// The faces of a tile that must be filled, and what they lean on.
fn list_faces(around: &Around<'_>, axis: usize, slot: usize, kinds: &[u8], list: &mut Vec<Fill>) {
    const PAD: usize = 2;
    const N: usize = SIDE + 2 * PAD;
    const STRIDES: [usize; 3] = [1, N, N * N];
    let Around { tiles, phi, .. } = around;
    list.clear();
    let values = phi.tile(slot);
    let cells = tiles.cells_in_use();
    let needed = |local: usize| kinds[local] & !OUTER == 0 && values[local] <= REACH + 1.0 && values[local] >= -1.5;
    if !(0..cells).any(needed) {
        return;
    }
    let mut block = [0.0; N * N * N];
    phi.gather::<PAD>(tiles, slot, &mut block);
    // Twice φ at a face.
    let twice = |at: usize| block[at] + block[at - STRIDES[axis]];
    for local in (0..cells).filter(|&local| needed(local)) {
        let [i, j, k] = local_cell(local);
        let at = ((k + PAD) * N + j + PAD) * N + i + PAD;
        if twice(at) > 2.0 * REACH {
            continue;
        }
        let index = slot * CELLS + local;
        let height = 0.5 * twice(at) as f32;
        let mut fill = Fill { local: local as u16, done: false, height, from: [NONE; 3], weight: [0.0; 3], value: 0.0 };
        for (along, stride) in STRIDES.into_iter().enumerate().take(tiles.dims()) {
            let slope = 0.25 * (twice(at + stride) - twice(at - stride));
            if slope.abs() < 1e-3 {
                continue;
            }
            if let Some(from) = tiles.next(index, along, if slope > 0.0 { -1 } else { 1 }) {
                fill.from[along] = from as u32;
                fill.weight[along] = slope.abs() as f32;
            }
        }
        // What leans on solids alone, or on nothing, is left to the wall's rule or stays as it was.
        list.push(fill);
    }
}

/// Writes the velocity of all buried faces near the liquid: `before` is the velocity outside solids, `out` receives all three components.
pub fn fill_walls(
    around: &Around<'_>,
    kinds: &Kinds,
    before: &[Field<f64>; 3],
    wall_velocity: &(impl Fn(&Wall, DVec3, usize) -> DVec3 + Sync),
    out: &mut [Field<f64>; 3],
) {
    let Around { tiles, solids, phi, slip } = around;
    for (axis, component) in out.iter_mut().enumerate().take(tiles.dims()) {
        component.par_tiles_mut().enumerate().filter(|(slot, _)| solids.near[*slot]).for_each(|(slot, out)| {
            let kinds = kinds[axis].tile(slot);
            for local in 0..tiles.cells_in_use() {
                let index = slot * CELLS + local;
                if kinds[local] & BURIED == 0 || phi.values()[index] > REACH + 1.0 {
                    continue;
                }
                let s_here = solids.distance.values()[index];
                if s_here < -BURIED_TO {
                    continue;
                }
                let normal = solids.normal(tiles, index);
                let low = tiles.next(index, axis, -1);
                let s = 0.5 * (s_here + low.map_or(s_here, |low| solids.distance.values()[low]));
                let mut at = local_center(local);
                at[axis] -= 0.5;
                let from = at + normal * (MIRRORED_AT - s);
                let velocity = sample(tiles, before, slot, from);
                let wall = solids.wall.values()[index];
                let moving = wall_velocity(&wall, from, slot);
                let relative = velocity - moving;
                let across = normal * relative.dot(normal);
                let open = solids.open[axis].values()[index] > 0.0;
                let lambda = slip + if open { 0.5 } else { 0.0 };
                let kept = if wall.mirror { 1.0 } else { ((s + lambda) / (MIRRORED_AT + lambda)).max(-1.0) };
                let through = (s / MIRRORED_AT).max(-1.0);
                out[local] = (moving + (relative - across) * kept + across * through)[axis];
            }
        });
    }
}

/// The velocity at a place in tile coordinates, trilinear.
#[inline]
pub fn sample(tiles: &Tiles, velocity: &[Field<f64>; 3], slot: usize, at: DVec3) -> DVec3 {
    let mut out = DVec3::ZERO;
    for axis in 0..tiles.dims() {
        out[axis] = linear(tiles, &velocity[axis], slot, at, FACES[axis]);
    }
    out
}
