//! Extrapolation of velocity: constant along the interface's normal in air, the wall's profile in
//! solids.
//!
//! In air, n·∇u = 0 by first-order upwind differences: a face takes the mean of its neighbors
//! closer to the liquid, weighted by |∂φ|. Faces are filled layer by layer, as soon as most of what
//! they depend on is known, so that the result does not depend on threads. A face just above a
//! wall, ahead of a contact line, may depend on nothing but faces in the solid: it takes the mean
//! of its known neighbors, outside solids if there are any. (Without this it keeps the velocity of
//! a line that once receded, and holds the line back.) From faces in solids it takes no more than
//! `NumericalParameters::prescribed_speed_limit`: they belong to nearly closed cells, where the
//! projection of fast liquid leaves any speed, and since the velocity in the solid in turn
//! follows from the air above, the two would grow without limit.
//!
//! In solids velocity continues the profile at the wall: with u(s_m) at a height above it and the
//! slip length λ,
//!
//! ```text
//! u_t(s) = u_t(s_m) (s + λ)/(s_m + λ),      u_n(s) = u_n(s_m) s/s_m         (relative to the wall)
//! ```
//!
//! λ is the scene's on closed faces; on partly open ones half a cell is added, because the face
//! stands for its open part above the wall. Beyond symmetry planes it is the
//! image of that before them. No time-step limit.

use glam::DVec3;
use rayon::prelude::*;
use sessile_model::StageReports;

use crate::faces::{FaceFlags, IN_SOLID, WET};
use crate::fluid::StepContext;
use crate::grid::{FACES, linear, local_center};
use crate::mirrors::MirrorScratch;
use crate::parameters::Parameters;
use crate::projection::WallVelocity;
use crate::scratch::Scratch;
use crate::solids::{SOLID_BAND, Solids, Wall, WallMotion};
use crate::state::State;
use crate::tiles::{CellIndex, Field, SIDE, Tiles, local_cell};

/// Distance from the liquid to which velocity is needed, in cells.
pub const DISTANCE: f64 = 4.5;
/// Layers that cover this distance, diagonals included.
const LAYERS: usize = 9;
/// Passes for faces that depend on faces in solids alone.
const NEIGHBOR_PASSES: usize = 2;
/// Layers by which faces are delayed at most, by their distance from the liquid.
const MAX_DELAY: usize = 4;
/// Height above the wall at which faces in solids sample the velocity, in cells.
const SAMPLE_HEIGHT: f64 = 1.0;
/// Depth in solids to which velocity is needed, in cells: a foot point lies within a cell of a
/// liquid face, and cubic interpolation reaches two farther.
const MAX_DEPTH: f64 = 3.5;

/// Cells around a tile that are copied with it, the side of the copy, and its size.
const PAD: usize = 2;
const N: usize = SIDE + 2 * PAD;
const BLOCK: usize = N * N * N;

/// A face to be filled: the faces that it depends on, and their weights.
#[derive(Clone, Copy, Debug)]
struct FaceStencil {
    from: [CellIndex; 3],
    weight: [f32; 3],
    local: u16,
    axis: u8,
}

/// The value that a face of a tile gets.
#[derive(Clone, Copy, Debug, Default)]
struct FaceValue {
    axis: u8,
    local: u16,
    value: f64,
}

/// The faces of a tile that are to be filled.
#[derive(Debug, Default)]
struct TileQueue {
    /// By the first layer in which they can be filled.
    waiting: [Vec<FaceStencil>; MAX_DELAY],
    /// Those whose layer has been reached.
    pending: Vec<FaceStencil>,
    /// Values that were found and not yet written.
    found: Vec<FaceValue>,
}

/// Memory that is kept from step to step.
#[derive(Debug, Default)]
pub struct Extrapolation {
    lists: Vec<TileQueue>,
}

/// The liquid and the solids on the grid.
pub struct LiquidGeometry<'a> {
    /// The tiles.
    pub tiles: &'a Tiles,
    /// The solids.
    pub solids: &'a Solids,
    /// The level set.
    pub phi: &'a Field<f64>,
    /// Slip length, in cells.
    pub slip: f64,
}

/// What the extrapolation did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtrapolationReport {
    /// Faces near the liquid that no known face reaches.
    pub unreached: usize,
}

impl ExtrapolationReport {
    /// Writes the report under its public names.
    pub fn record(&self, reports: &mut StageReports) {
        reports.add("extrapolation.unreached_faces", self.unreached as u64);
    }
}

/// Extrapolates the velocity into the air and into solids.
pub fn extrapolate_velocity<L>(
    state: &mut State,
    scratch: &mut Scratch,
    params: &Parameters,
    step: &StepContext<'_, L>,
) -> ExtrapolationReport {
    let State { grid, sides, solids, phi, velocity, .. } = state;
    let Scratch { face_flags, extrapolation, divergence_correction, mirrors, .. } = scratch;
    let geometry = LiquidGeometry { tiles: &grid.tiles, solids, phi, slip: params.slip / grid.h };
    let speeds = params.numerics.divergence_correction_speeds;
    let walls = WallMotion::new(step.world, sides, grid);
    let at_cell = |wall: &Wall, cell: CellIndex, axis: usize| walls.at_cell(wall, cell, axis);
    let dt = params.reference_step(step.dt, grid.h);
    let most = params.numerics.prescribed_speed_limit * grid.h / dt;
    solids.mirrors.reflect_velocity(&grid.tiles, velocity, mirrors);
    reflect_flags(&geometry, face_flags, mirrors);
    let unreached = extrapolation.fill_air(&geometry, most, &at_cell, velocity, face_flags);
    if !solids.mirrors.is_empty() {
        face_flags.iter_mut().enumerate().for_each(|(axis, flags)| mirrors.restore_flags(axis, flags));
    }
    divergence_correction.apply(&geometry, face_flags, dt / grid.h, speeds, &at_cell, velocity);
    let wall_velocity = |wall: &Wall, at: DVec3, slot: usize| walls.at(wall, at, slot);
    extrapolation.fill_walls(&geometry, face_flags, &wall_velocity, velocity);
    solids.mirrors.reflect_velocity(&grid.tiles, velocity, mirrors);
    ExtrapolationReport { unreached }
}

/// Gives the faces in and beyond symmetry planes the flags that they would have in the whole, so
/// that faces before them are filled in its order; `scratch` keeps their own.
fn reflect_flags(geometry: &LiquidGeometry<'_>, flags: &mut FaceFlags, scratch: &mut MirrorScratch) {
    let LiquidGeometry { tiles, solids, phi, .. } = geometry;
    let walls = solids.wall_distance().values();
    if solids.mirrors.is_empty() {
        return;
    }
    for (axis, flags) in flags.iter_mut().enumerate() {
        let in_mirror = |face: CellIndex| {
            let low = tiles.next(face, axis, -1).unwrap_or(face);
            let wet = phi.values()[face] < 0.0 || phi.values()[low] < 0.0;
            let buried = walls[face] + walls[low] <= 0.0;
            u8::from(wet && !buried) * WET + u8::from(buried) * IN_SOLID
        };
        solids.mirrors.reflect_flags(tiles, axis, in_mirror, flags, scratch);
    }
}

impl Extrapolation {
    /// Fills the velocity in air; returns the number of faces that could not be reached.
    ///
    /// `known` are the face flags; faces that were filled then count as liquid. What comes from
    /// faces in solids is at most `most` (in m/s) faster than the wall.
    pub fn fill_air(
        &mut self,
        geometry: &LiquidGeometry<'_>,
        most: f64,
        walls: &impl WallVelocity,
        velocity: &mut [Field<f64>; 3],
        known: &mut FaceFlags,
    ) -> usize {
        let tiles = geometry.tiles;
        self.lists.resize_with(tiles.len().max(self.lists.len()), TileQueue::default);
        let lists = &mut self.lists[..tiles.len()];
        let blocks = || [[0.0; BLOCK]; 2];
        lists.par_iter_mut().enumerate().for_each_init(blocks, |blocks, (slot, queue)| {
            queue.list_faces(geometry, slot, known, blocks);
        });
        for layer in 0..LAYERS {
            let (values, mask) = (velocity.each_ref().map(Field::values), known.each_ref().map(Field::values));
            lists.par_iter_mut().for_each(|queue| queue.fill_layer(layer, values, mask));
            if lists.iter().all(|queue| queue.found.is_empty()) {
                break;
            }
            write_found(lists, velocity);
            mark_found(lists, known);
        }
        for _ in 0..NEIGHBOR_PASSES {
            if lists.iter().all(|queue| queue.pending.is_empty()) {
                break;
            }
            let (values, mask) = (velocity.each_ref().map(Field::values), known.each_ref().map(Field::values));
            lists
                .par_iter_mut()
                .enumerate()
                .for_each(|(slot, queue)| queue.fill_from_neighbors(geometry, most, walls, slot, values, mask));
            write_found(lists, velocity);
            mark_found(lists, known);
        }
        lists.iter().map(|queue| queue.pending.len()).sum()
    }

    /// Writes the velocity of all faces in solids near the liquid, from the velocity outside
    /// solids.
    pub fn fill_walls(
        &mut self,
        geometry: &LiquidGeometry<'_>,
        flags: &FaceFlags,
        wall_velocity: &(impl Fn(&Wall, DVec3, usize) -> DVec3 + Sync),
        velocity: &mut [Field<f64>; 3],
    ) {
        let LiquidGeometry { tiles, solids, .. } = geometry;
        let lists = &mut self.lists[..tiles.len()];
        let before = &*velocity;
        lists.par_iter_mut().enumerate().for_each(|(slot, queue)| {
            queue.found.clear();
            if solids.near[slot] {
                queue.find_in_solids(geometry, flags, before, wall_velocity, slot);
            }
        });
        write_found(lists, velocity);
    }
}

/// Writes the values that were found.
fn write_found(lists: &[TileQueue], velocity: &mut [Field<f64>; 3]) {
    let [x, y, z] = velocity;
    (x.par_tiles_mut(), y.par_tiles_mut(), z.par_tiles_mut(), lists).into_par_iter().for_each(|(x, y, z, queue)| {
        let values = [x, y, z];
        for found in &queue.found {
            values[usize::from(found.axis)][usize::from(found.local)] = found.value;
        }
    });
}

/// Flags the faces that were found as liquid.
fn mark_found(lists: &[TileQueue], known: &mut FaceFlags) {
    let [x, y, z] = known;
    (x.par_tiles_mut(), y.par_tiles_mut(), z.par_tiles_mut(), lists).into_par_iter().for_each(|(x, y, z, queue)| {
        let mask = [x, y, z];
        for found in &queue.found {
            mask[usize::from(found.axis)][usize::from(found.local)] |= WET;
        }
    });
}

impl FaceStencil {
    /// Mean of the known upwind faces, and whether they carry more than this part of the weight.
    #[inline]
    fn mean(&self, values: &[f64], known: &[u8], part: f64) -> (f64, bool) {
        // By flag. Above a wall the upwind direction of a flat wedge of liquid leads through the
        // solid, and faces in solids do not count. Table lookups, since branches would be
        // unpredictable.
        const COUNTS: [f64; 4] = [1.0, 1.0, 0.0, 0.0];
        const KNOWN: [f64; 4] = [0.0, 1.0, 0.0, 0.0];
        let (mut sum, mut have, mut all) = (0.0, 0.0, 0.0);
        for (from, weight) in self.from.into_iter().zip(self.weight) {
            let flag = usize::from(known[from] & (WET | IN_SOLID));
            let weight = f64::from(weight);
            let part = weight * KNOWN[flag];
            all += weight * COUNTS[flag];
            have += part;
            sum += part * values[from];
        }
        (sum / have, have > part * all)
    }
}

impl TileQueue {
    /// Lists the faces of a tile that must be filled, and what they depend on.
    fn list_faces(
        &mut self,
        geometry: &LiquidGeometry<'_>,
        slot: usize,
        flags: &FaceFlags,
        [block, twice]: &mut [[f64; BLOCK]; 2],
    ) {
        const STRIDES: [usize; 3] = [1, N, N * N];
        let LiquidGeometry { tiles, phi, .. } = geometry;
        self.pending.clear();
        self.waiting.iter_mut().for_each(Vec::clear);
        self.found.clear();
        let values = phi.tile(slot);
        let cells = tiles.cells_in_use();
        let is_near = |local: usize| values[local] <= DISTANCE + 1.0 && values[local] >= -1.5;
        if !(0..cells).any(is_near) {
            return;
        }
        phi.gather::<PAD>(tiles, slot, block);
        for axis in 0..tiles.dims() {
            let flags = flags[axis].tile(slot);
            let below = STRIDES[axis];
            // Twice φ at the faces.
            for ((twice, here), low) in twice[below..].iter_mut().zip(&block[below..]).zip(&*block) {
                *twice = here + low;
            }
            for local in (0..cells).filter(|&local| flags[local] == 0 && is_near(local)) {
                let [i, j, k] = local_cell(local);
                let at = ((k + PAD) * N + j + PAD) * N + i + PAD;
                if twice[at] > 2.0 * DISTANCE {
                    continue;
                }
                let index = CellIndex::new(slot, local);
                let mut fill =
                    FaceStencil { from: [index; 3], weight: [0.0; 3], local: local as u16, axis: axis as u8 };
                for (along, stride) in STRIDES.into_iter().enumerate().take(tiles.dims()) {
                    let slope = 0.25 * (twice[at + stride] - twice[at - stride]);
                    if slope.abs() < 1e-3 {
                        continue;
                    }
                    if let Some(from) = tiles.next(index, along, if slope > 0.0 { -1 } else { 1 }) {
                        fill.from[along] = from;
                        fill.weight[along] = slope.abs() as f32;
                    }
                }
                // A layer is at most a cell thick: faces farther out have no known neighbors yet.
                // Faces that depend on solids alone, or on nothing, come last.
                let height = 0.5 * twice[at] as f32;
                let layer = ((height - 1.0).max(0.0) as usize).min(MAX_DELAY - 1);
                self.waiting[layer].push(fill);
            }
        }
    }

    /// Fills the faces of a layer whose neighbors are known.
    fn fill_layer(&mut self, layer: usize, values: [&[f64]; 3], known: [&[u8]; 3]) {
        let Self { waiting, pending, found } = self;
        if let Some(waiting) = waiting.get_mut(layer) {
            pending.append(waiting);
        }
        // Most of the weight, or any part of it in the last layer.
        let part = if layer + 1 == LAYERS { 0.0 } else { 0.7 };
        found.resize(pending.len(), FaceValue::default());
        let (mut num_found, mut num_kept) = (0, 0);
        for at in 0..pending.len() {
            let fill = pending[at];
            let axis = usize::from(fill.axis);
            let (value, is_known) = fill.mean(values[axis], known[axis], part);
            found[num_found] = FaceValue { axis: fill.axis, local: fill.local, value };
            num_found += usize::from(is_known);
            pending[num_kept] = fill;
            num_kept += usize::from(!is_known);
        }
        found.truncate(num_found);
        pending.truncate(num_kept);
    }

    /// Gives the remaining faces the mean of all known neighbors, also of partly open ones in
    /// solids.
    fn fill_from_neighbors(
        &mut self,
        geometry: &LiquidGeometry<'_>,
        most: f64,
        walls: &impl WallVelocity,
        slot: usize,
        values: [&[f64]; 3],
        known: [&[u8]; 3],
    ) {
        let LiquidGeometry { tiles, solids, .. } = geometry;
        let Self { pending, found, .. } = self;
        found.clear();
        pending.retain(|fill| {
            let axis = usize::from(fill.axis);
            // Outside solids first.
            let (mut sum, mut count, mut outside) = (0.0, 0.0, false);
            let index = CellIndex::new(slot, usize::from(fill.local));
            for next in tiles.face_neighbors(index).filter(|&next| known[axis][next] & WET != 0) {
                let is_outside = known[axis][next] & IN_SOLID == 0;
                if is_outside && !outside {
                    (sum, count, outside) = (0.0, 0.0, true);
                }
                if is_outside == outside {
                    sum += values[axis][next];
                    count += 1.0;
                }
            }
            if count > 0.0 {
                let mut value = sum / count;
                if !outside {
                    let wall = walls(&solids.wall.values()[index], index, axis);
                    value = wall + (value - wall).clamp(-most, most);
                }
                found.push(FaceValue { axis: fill.axis, local: fill.local, value });
            }
            count == 0.0
        });
    }

    /// Finds the velocity of the faces of a tile that lie in solids.
    fn find_in_solids(
        &mut self,
        geometry: &LiquidGeometry<'_>,
        flags: &FaceFlags,
        before: &[Field<f64>; 3],
        wall_velocity: &(impl Fn(&Wall, DVec3, usize) -> DVec3 + Sync),
        slot: usize,
    ) {
        let LiquidGeometry { tiles, solids, phi, slip } = geometry;
        let walls = solids.wall_distance();
        let (phi, distance) = (phi.tile(slot), walls.tile(slot));
        for local in 0..tiles.cells_in_use() {
            let s_here = distance[local];
            // Far from all walls only faces in mirrors are closed, which are reflected below.
            if phi[local] > DISTANCE + 1.0 || !(-MAX_DEPTH..SOLID_BAND).contains(&s_here) {
                continue;
            }
            let index = CellIndex::new(slot, local);
            let mut normal = None;
            for axis in (0..tiles.dims()).filter(|&axis| flags[axis].values()[index] & IN_SOLID != 0) {
                let normal = *normal.get_or_insert_with(|| solids.normal(tiles, index));
                let low = tiles.next(index, axis, -1);
                let s = 0.5 * (s_here + low.map_or(s_here, |low| walls.values()[low]));
                let mut at = local_center(local);
                at[axis] -= 0.5;
                let from = at + normal * (SAMPLE_HEIGHT - s);
                // On a wall aligned with the grid a component depends on itself alone.
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
                let kept = ((s + lambda) / (SAMPLE_HEIGHT + lambda)).max(-1.0);
                let through = (s / SAMPLE_HEIGHT).max(-1.0);
                let value = (moving + (relative - across) * kept + across * through)[axis];
                self.found.push(FaceValue { axis: axis as u8, local: local as u16, value });
            }
        }
    }
}

/// Velocity at tile coordinates `at`, trilinear.
#[inline]
pub fn sample(tiles: &Tiles, velocity: &[Field<f64>; 3], slot: usize, at: DVec3) -> DVec3 {
    let mut out = DVec3::ZERO;
    for axis in 0..tiles.dims() {
        out[axis] = linear(tiles, &velocity[axis], slot, at, FACES[axis]);
    }
    out
}
