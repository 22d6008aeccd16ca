//! Wetting history: which parts of the solids have been wet, where a contact line advances at the
//! wet angle.
//!
//! A solid's surface is divided by a lattice of pitch 1.25 h in its rest pose; an element is a box
//! of that lattice which the surface passes through, and it is dry or has been wet. So the history
//! moves with its solid, needs no texture coordinates, and has no boundary on an unbounded plane.
//!
//! An element is marked once liquid covers it half a cell behind the contact line, and queried
//! three quarters of a cell ahead of it ([`AHEAD`](crate::contact_angle::AHEAD)): a line that
//! advances for the first time never reaches its own marks.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, DefaultHasher};

use glam::{DVec2, DVec3};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sessile_frames::WetMap;
use sessile_world::{Solid, World};

use crate::state::State;
use crate::tiles::CellIndex;

/// Pitch of the lattice, in cells: more than the distance of two sample points, so that no box
/// between marked ones is missed.
const PITCH: f64 = 1.25;
/// The wall is covered where φ is below this, in cells …
const COVERED: f64 = -0.5;
/// … and was covered only recently where it is above this: farther in, it was marked before.
const RECENT: f64 = -3.5;
/// Cells closer to a wall than this mark it.
const MARKING_DISTANCE: f64 = 0.9;
/// Size of a texel of a wet map, in m, and fewest and most texels along its side.
const TEXEL: f64 = 0.25e-3;
const TEXELS_PER_SIDE: (f64, f64) = (64.0, 1024.0);

type Boxes = HashSet<u64, BuildHasherDefault<DefaultHasher>>;

/// Wetting history of all solids.
#[derive(Debug)]
pub struct WettingHistory {
    pitch: f64,
    solids: Vec<SolidHistory>,
}

#[derive(Debug, Default)]
struct SolidHistory {
    wet: Boxes,
    /// Box of each texel of its wet map; made when the map is first needed.
    texels: std::sync::OnceLock<(u32, Vec<u64>)>,
}

/// What a checkpoint keeps: the wet boxes of each solid, sorted.
#[derive(Debug, Serialize, Deserialize)]
pub struct WettingHistoryState(Vec<Vec<u64>>);

impl WettingHistory {
    /// All dry, for cells of side `h`.
    pub fn new(h: f64, num_solids: usize) -> Self {
        Self { pitch: PITCH * h, solids: (0..num_solids).map(|_| SolidHistory::default()).collect() }
    }

    /// Whether a solid has been wet at `place` (in m); the domain's sides have no history.
    pub fn is_wet(&self, solids: &[Solid], solid: usize, place: DVec3) -> bool {
        let Some(ground) = self.solids.get(solid) else { return false };
        ground.wet.contains(&self.key(solids[solid].world_from_rest().apply_inverse(place)))
    }

    fn key(&self, rest: DVec3) -> u64 {
        // 21 bits for each axis: a million boxes to either side.
        let part = |c: f64| ((c / self.pitch).floor() as i64 & 0x1f_ffff) as u64;
        part(rest.x) | part(rest.y) << 21 | part(rest.z) << 42
    }

    /// Marks what liquid covers; `everywhere` also far behind the contact line.
    pub fn mark(&mut self, state: &State, world: &World, everywhere: bool) {
        let State { grid, solids: walls, phi, .. } = state;
        let tiles = &grid.tiles;
        let (s, behind) = (walls.wall_distance().values(), if everywhere { f64::NEG_INFINITY } else { RECENT });
        for slot in (0..tiles.len()).filter(|&slot| walls.near[slot]) {
            for local in 0..tiles.cells_in_use() {
                let index = CellIndex::new(slot, local);
                let here = phi.values()[index];
                if s[index].abs() > MARKING_DISTANCE || here > COVERED || here < behind {
                    continue;
                }
                let solid = walls.wall.values()[index].solid as usize;
                if solid >= self.solids.len() {
                    continue;
                }
                let normal = walls.normal(tiles, index);
                let foot = grid.center(index) - normal * (s[index] * grid.h);
                let pose = world.solids()[solid].world_from_rest();
                let (one, two) = normal.any_orthonormal_pair();
                for [a, b] in [[0.0, 0.0], [0.5, 0.0], [-0.5, 0.0], [0.0, 0.5], [0.0, -0.5]] {
                    let key = self.key(pose.apply_inverse(foot + (one * a + two * b) * grid.h));
                    self.solids[solid].wet.insert(key);
                }
            }
        }
    }

    /// Wet maps of all solids that have been wet, for a frame.
    pub fn maps(&self, world: &World) -> Vec<WetMap> {
        let wetted = self.solids.iter().zip(world.solids()).filter(|(ground, _)| !ground.wet.is_empty());
        let maps = wetted.map(|(ground, solid)| {
            let (side, texels) = ground.texels.get_or_init(|| self.texel_keys(solid));
            let wetness = texels.par_iter().map(|key| if ground.wet.contains(key) { u16::MAX } else { 0 }).collect();
            WetMap { solid: solid.index(), width: *side, height: *side, wetness, film: vec![0; texels.len()] }
        });
        maps.collect()
    }

    /// The box under each texel of a solid's map, row 0 at v = 1.
    fn texel_keys(&self, solid: &Solid) -> (u32, Vec<u64>) {
        const OUTSIDE: u64 = u64::MAX;
        let (mesh, pose) = (solid.mesh(), solid.world_from_rest());
        let side = (mesh.area().sqrt() / TEXEL).clamp(TEXELS_PER_SIDE.0, TEXELS_PER_SIDE.1).ceil();
        let num = side as usize;
        let mut keys = vec![OUTSIDE; num * num];
        for (triangle, uvs) in mesh.triangles.iter().zip(&mesh.corner_uvs) {
            let corners = triangle.map(|v| mesh.positions[v as usize]);
            let [a, b, c] = uvs.map(|uv| DVec2::new(uv.x, 1.0 - uv.y) * side);
            let whole = (b - a).perp_dot(c - a);
            if whole == 0.0 || !whole.is_finite() {
                continue;
            }
            let low = a.min(b).min(c).floor().max(DVec2::ZERO);
            let high = a.max(b).max(c).ceil().min(DVec2::splat(side));
            for row in low.y as usize..high.y as usize {
                for column in low.x as usize..high.x as usize {
                    let at = DVec2::new(column as f64 + 0.5, row as f64 + 0.5);
                    let (v, w) = ((at - a).perp_dot(c - a) / whole, (b - a).perp_dot(at - a) / whole);
                    if v < -1e-9 || w < -1e-9 || v + w > 1.0 + 1e-9 {
                        continue;
                    }
                    let facet = corners[0] * (1.0 - v - w) + corners[1] * v + corners[2] * w;
                    // The mesh of a round solid lies below its true surface.
                    let true_surface = solid.closest(pose.apply(facet)).point;
                    keys[row * num + column] = self.key(pose.apply_inverse(true_surface));
                }
            }
        }
        (num as u32, keys)
    }

    /// What a checkpoint keeps.
    pub fn save(&self) -> WettingHistoryState {
        let sorted = |ground: &SolidHistory| {
            let mut keys: Vec<u64> = ground.wet.iter().copied().collect();
            keys.sort_unstable();
            keys
        };
        WettingHistoryState(self.solids.iter().map(sorted).collect())
    }

    /// Restores a saved state; `false` when it belongs to other solids.
    pub fn restore(&mut self, state: WettingHistoryState) -> bool {
        if state.0.len() != self.solids.len() {
            return false;
        }
        for (ground, keys) in self.solids.iter_mut().zip(state.0) {
            ground.wet = keys.into_iter().collect();
        }
        true
    }
}
