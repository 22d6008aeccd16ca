//! Velocity beyond the liquid: constant along the surface's normal, in solids what the wall demands.
//!
//! In air, n·∇u = 0 by first-order upwind differences: a face takes the mean of its neighbors nearer to the liquid, weighted by |∂φ|. Faces are filled
//! from the liquid outwards as soon as most of what they lean on is known, layer by layer, so that the result does not depend on threads. A face just above a wall, ahead of a contact line, may lean on nothing but
//! faces in the solid: it takes the mean of all around it. (Left as it was, it would remember a front that once ran the other way, and hold the line.)
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

use crate::faces::{BURIED, Kinds, WET};
use crate::grid::{FACES, linear, local_center};
use crate::solids::{Solids, Wall};
use crate::tiles::{CELLS, Field, SIDE, Tiles, local_cell};

/// How far from the liquid velocity is needed, in cells.
pub const REACH: f64 = 4.5;
/// Layers that reach that far, diagonals included.
const LAYERS: usize = 9;
/// Passes for faces that lean on solids alone.
const AROUND_PASSES: usize = 2;
/// Layers before which nothing that is so high can lean on anything.
const WAITING: usize = 4;
/// Height above the wall from which buried faces take their velocity, in cells.
const MIRRORED_AT: f64 = 1.0;
/// How deep in solids velocity is needed, in cells: a foot point lies within a cell of a wet face, and cubic interpolation reaches two farther.
const BURIED_TO: f64 = 3.5;

/// Cells around a tile that are copied with it, the side of the copy, and its size.
const PAD: usize = 2;
const N: usize = SIDE + 2 * PAD;
const BLOCK: usize = N * N * N;

/// A face to be filled: where it takes its value from, with which weights.
#[derive(Clone, Copy, Debug)]
struct Fill {
    from: [u32; 3],
    weight: [f32; 3],
    local: u16,
    axis: u8,
}

/// The value that a face of a tile gets.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    axis: u8,
    local: u16,
    value: f64,
}

/// What is to be filled in a tile.
#[derive(Debug, Default)]
struct Todo {
    /// By the layer in which they can first lean on something.
    waiting: [Vec<Fill>; WAITING],
    /// Those whose layer has come.
    pending: Vec<Fill>,
    /// What was found and not yet written.
    found: Vec<Found>,
}

/// Memory that is used again.
#[derive(Debug, Default)]
pub struct Extrapolation {
    lists: Vec<Todo>,
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
    /// Fills the velocity in air; `known` are the kinds of faces before, and afterwards all that were filled count as wet.
    pub fn fill_air(&mut self, around: &Around<'_>, velocity: &mut [Field<f64>; 3], known: &mut Kinds) {
        let tiles = around.tiles;
        self.lists.resize_with(tiles.len().max(self.lists.len()), Todo::default);
        let lists = &mut self.lists[..tiles.len()];
        let blocks = || [[0.0; BLOCK]; 2];
        lists.par_iter_mut().enumerate().for_each_init(blocks, |blocks, (slot, todo)| {
            todo.list_faces(around, slot, known, blocks);
        });
        for layer in 0..LAYERS {
            let (values, mask) = (velocity.each_ref().map(Field::values), known.each_ref().map(Field::values));
            lists.par_iter_mut().for_each(|todo| todo.fill_layer(layer, values, mask));
            if lists.iter().all(|todo| todo.found.is_empty()) {
                break;
            }
            write_found(lists, velocity);
            mark_found(lists, known);
        }
        for _ in 0..AROUND_PASSES {
            if lists.iter().all(|todo| todo.pending.is_empty()) {
                break;
            }
            let (values, mask) = (velocity.each_ref().map(Field::values), known.each_ref().map(Field::values));
            lists.par_iter_mut().enumerate().for_each(|(slot, todo)| todo.fill_from_around(tiles, slot, values, mask));
            write_found(lists, velocity);
            mark_found(lists, known);
        }
    }

    /// Writes the velocity of all buried faces near the liquid, from what it is outside solids.
    pub fn fill_walls(
        &mut self,
        around: &Around<'_>,
        kinds: &Kinds,
        wall_velocity: &(impl Fn(&Wall, DVec3, usize) -> DVec3 + Sync),
        velocity: &mut [Field<f64>; 3],
    ) {
        let Around { tiles, solids, .. } = around;
        let lists = &mut self.lists[..tiles.len()];
        let before = &*velocity;
        lists.par_iter_mut().enumerate().for_each(|(slot, todo)| {
            todo.found.clear();
            if solids.near[slot] {
                todo.find_buried(around, kinds, before, wall_velocity, slot);
            }
        });
        write_found(lists, velocity);
    }
}

/// Gives faces the values that were found for them.
fn write_found(lists: &[Todo], velocity: &mut [Field<f64>; 3]) {
    let [x, y, z] = velocity;
    (x.par_tiles_mut(), y.par_tiles_mut(), z.par_tiles_mut(), lists).into_par_iter().for_each(|(x, y, z, todo)| {
        let values = [x, y, z];
        for found in &todo.found {
            values[usize::from(found.axis)][usize::from(found.local)] = found.value;
        }
    });
}

/// Counts the faces that were found as wet.
fn mark_found(lists: &[Todo], known: &mut Kinds) {
    let [x, y, z] = known;
    (x.par_tiles_mut(), y.par_tiles_mut(), z.par_tiles_mut(), lists).into_par_iter().for_each(|(x, y, z, todo)| {
        let mask = [x, y, z];
        for found in &todo.found {
            mask[usize::from(found.axis)][usize::from(found.local)] |= WET;
        }
    });
}

impl Fill {
    /// The mean of the known upwind faces, if they carry more than this part of the weight.
    #[inline]
    fn mean(&self, values: &[f64], known: &[u8], part: f64) -> (f64, bool) {
        // By kind, wet and buried: above a wall the way back to a flat wedge of liquid leads through the solid; then it is taken along the wall. Looked up, for branches would go either way at random.
        const COUNTS: [f64; 4] = [1.0, 1.0, 0.0, 0.0];
        const KNOWN: [f64; 4] = [0.0, 1.0, 0.0, 0.0];
        let (mut sum, mut have, mut all) = (0.0, 0.0, 0.0);
        for (from, weight) in self.from.into_iter().zip(self.weight) {
            let kind = usize::from(known[from as usize] & (WET | BURIED));
            let weight = f64::from(weight);
            let part = weight * KNOWN[kind];
            all += weight * COUNTS[kind];
            have += part;
            sum += part * values[from as usize];
        }
        (sum / have, have > part * all)
    }
}

impl Todo {
    /// The faces of a tile that must be filled, and what they lean on.
    fn list_faces(&mut self, around: &Around<'_>, slot: usize, kinds: &Kinds, [block, twice]: &mut [[f64; BLOCK]; 2]) {
        const STRIDES: [usize; 3] = [1, N, N * N];
        let Around { tiles, phi, .. } = around;
        self.pending.clear();
        self.waiting.iter_mut().for_each(Vec::clear);
        self.found.clear();
        let values = phi.tile(slot);
        let cells = tiles.cells_in_use();
        let is_near = |local: usize| values[local] <= REACH + 1.0 && values[local] >= -1.5;
        if !(0..cells).any(is_near) {
            return;
        }
        phi.gather::<PAD>(tiles, slot, block);
        for axis in 0..tiles.dims() {
            let kinds = kinds[axis].tile(slot);
            let below = STRIDES[axis];
            // Twice φ at the faces.
            for ((twice, here), low) in twice[below..].iter_mut().zip(&block[below..]).zip(&*block) {
                *twice = here + low;
            }
            for local in (0..cells).filter(|&local| kinds[local] == 0 && is_near(local)) {
                let [i, j, k] = local_cell(local);
                let at = ((k + PAD) * N + j + PAD) * N + i + PAD;
                if twice[at] > 2.0 * REACH {
                    continue;
                }
                let index = slot * CELLS + local;
                let mut fill =
                    Fill { from: [index as u32; 3], weight: [0.0; 3], local: local as u16, axis: axis as u8 };
                for (along, stride) in STRIDES.into_iter().enumerate().take(tiles.dims()) {
                    let slope = 0.25 * (twice[at + stride] - twice[at - stride]);
                    if slope.abs() < 1e-3 {
                        continue;
                    }
                    if let Some(from) = tiles.next(index, along, if slope > 0.0 { -1 } else { 1 }) {
                        fill.from[along] = from as u32;
                        fill.weight[along] = slope.abs() as f32;
                    }
                }
                // A layer is at most a cell thick: what is higher has nothing to lean on yet. What leans on solids alone, or on nothing, is left for the end.
                let height = 0.5 * twice[at] as f32;
                let layer = ((height - 1.0).max(0.0) as usize).min(WAITING - 1);
                self.waiting[layer].push(fill);
            }
        }
    }

    /// Finds what can be filled in a layer, from what is known before it.
    fn fill_layer(&mut self, layer: usize, values: [&[f64]; 3], known: [&[u8]; 3]) {
        let Self { waiting, pending, found } = self;
        if let Some(waiting) = waiting.get_mut(layer) {
            pending.append(waiting);
        }
        // Most of the weight, or any when it is the last chance.
        let part = if layer + 1 == LAYERS { 0.0 } else { 0.7 };
        found.resize(pending.len(), Found::default());
        let (mut num_found, mut num_kept) = (0, 0);
        for at in 0..pending.len() {
            let fill = pending[at];
            let axis = usize::from(fill.axis);
            let (value, is_known) = fill.mean(values[axis], known[axis], part);
            found[num_found] = Found { axis: fill.axis, local: fill.local, value };
            num_found += usize::from(is_known);
            pending[num_kept] = fill;
            num_kept += usize::from(!is_known);
        }
        found.truncate(num_found);
        pending.truncate(num_kept);
    }

    /// Gives the faces that are left the mean of all known neighbors, those that are partly buried too.
    fn fill_from_around(&mut self, tiles: &Tiles, slot: usize, values: [&[f64]; 3], known: [&[u8]; 3]) {
        let Self { pending, found, .. } = self;
        found.clear();
        pending.retain(|fill| {
            let axis = usize::from(fill.axis);
            let (mut sum, mut count) = (0.0, 0.0);
            for direction in 0..2 * tiles.dims() {
                let step = if direction % 2 == 0 { -1 } else { 1 };
                let next = tiles.next(slot * CELLS + usize::from(fill.local), direction / 2, step);
                if let Some(next) = next.filter(|&next| known[axis][next] & WET != 0) {
                    sum += values[axis][next];
                    count += 1.0;
                }
            }
            if count > 0.0 {
                found.push(Found { axis: fill.axis, local: fill.local, value: sum / count });
            }
            count == 0.0
        });
    }

    /// Finds the velocity of the buried faces of a tile.
    fn find_buried(
        &mut self,
        around: &Around<'_>,
        kinds: &Kinds,
        before: &[Field<f64>; 3],
        wall_velocity: &(impl Fn(&Wall, DVec3, usize) -> DVec3 + Sync),
        slot: usize,
    ) {
        let Around { tiles, solids, phi, slip } = around;
        let (phi, distance) = (phi.tile(slot), solids.distance.tile(slot));
        for local in 0..tiles.cells_in_use() {
            let s_here = distance[local];
            if phi[local] > REACH + 1.0 || s_here < -BURIED_TO {
                continue;
            }
            let index = slot * CELLS + local;
            let mut normal = None;
            for axis in (0..tiles.dims()).filter(|&axis| kinds[axis].values()[index] & BURIED != 0) {
                let normal = *normal.get_or_insert_with(|| solids.normal(tiles, index));
                let low = tiles.next(index, axis, -1);
                let s = 0.5 * (s_here + low.map_or(s_here, |low| solids.distance.values()[low]));
                let mut at = local_center(local);
                at[axis] -= 0.5;
                let from = at + normal * (MIRRORED_AT - s);
                // Over a wall along the cells' faces a component depends on itself alone.
                let mut velocity = DVec3::ZERO;
                for other in (0..tiles.dims()).filter(|&other| other == axis || normal[other] * normal[axis] != 0.0) {
                    velocity[other] = linear(tiles, &before[other], slot, from, FACES[other]);
                }
                let wall = solids.wall.values()[index];
                let moving = wall_velocity(&wall, from, slot);
                let relative = velocity - moving;
                let across = normal * relative.dot(normal);
                let open = solids.open[axis].values()[index] > 0.0;
                let lambda = slip + if open { 0.5 } else { 0.0 };
                let kept = if wall.mirror { 1.0 } else { ((s + lambda) / (MIRRORED_AT + lambda)).max(-1.0) };
                let through = (s / MIRRORED_AT).max(-1.0);
                let value = (moving + (relative - across) * kept + across * through)[axis];
                self.found.push(Found { axis: axis as u8, local: local as u16, value });
            }
        }
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
