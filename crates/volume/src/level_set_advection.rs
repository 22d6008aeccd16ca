//! Level set advection.
//!
//! ```text
//! φ_t + u·∇φ = 0
//! ```
//!
//! Upwind derivatives by fifth-order WENO differences (jiang2000), and the two-stage TVD
//! Runge–Kutta scheme. Cells farther than [`BAND`] from the interface do not change. Stable for
//! Δt Σ|u| ≤ h.
//!
//! **Extension velocity** (after adalsteinsson1999): u is that of the interface at the point
//! nearest to the cell, x − φ∇φ, so that n·∇u = 0 on both sides and φ remains a distance. With the
//! velocity of the cell itself φ departs from a distance until it is reinitialized, most where the
//! interface has moved most; κ then errs in proportion to the velocity, and a drop's oscillation is
//! damped: by 5.7 per second at 22 cells across (planar 1.9), against 0.8 (1.1), more than by
//! water's viscosity. Points are at most [`REACH`] away; the paper's operators use the cell's own
//! velocity.
//!
//! **At walls.** Below half a cell from a wall the velocity that moves φ is sampled at that height,
//! so that a contact line moves although the liquid does not slip there, as it would if the flow at
//! the wall were resolved. The component normal to the wall falls to zero in proportion to s,
//! except where the interface overhangs its line: there it is kept, and the interface moves with
//! the one above, at its n·u. (Otherwise flow up along the interface of an overhang, which moves
//! nothing, would push the line outwards, and the growing foot drives that flow: on planes tilted
//! to the grid it never rested, 150 mm/s at 120°. Below 90° the same flow pulls the line back,
//! which damps it; kept there too, a meniscus of 30° stands 0.15 mm lower.) Where an interface
//! above the wall lies along it, as under a drop that comes down, it falls to zero too. φ in cells
//! of a pinned line, and of one that would move against the direction that its angle allows
//! ([`LineState`]), moves with the wall.

use glam::DVec3;
use rayon::prelude::*;

use crate::advection::{empty_blocks, gather_velocity, trilinear};
use crate::contact_angle::{BAND, DEPTH};
use crate::extrapolation::sample;
use crate::grid::{gradient, local_center};
use crate::line_state::LineState;
use crate::solids::{Solids, Wall};
use crate::tiles::{CellIndex, Field, SIDE, Tiles, local_cell};

/// Height above a wall below which velocity is sampled at that height, in cells.
pub const LIFT: f64 = 0.5;
/// Distance of the points at which the interface's velocity is sampled, in cells.
const REACH: f64 = 2.5;
/// Height above a wall, beyond [`LIFT`], from which points are at their whole distance, in cells.
const CLEARANCE: f64 = 2.0;
/// Most parts of a step.
const MAX_PARTS: f64 = 8.0;
/// −n·N above which an overhanging interface counts as lying along the wall, and above which
/// entirely.
const ALONG_WALL: [f64; 2] = [0.9, 0.97];

/// The velocity that moves φ.
pub struct InterfaceVelocity<'a> {
    /// The tiles.
    pub tiles: &'a Tiles,
    /// The solids.
    pub solids: &'a Solids,
    /// Velocity at faces.
    pub velocity: &'a [Field<f64>; 3],
    /// What the contact line may do at each cell.
    pub line: &'a Field<LineState>,
    /// Δt/h, in s/m.
    pub dt_over_h: f64,
    /// Whether cells take the velocity of the interface; their own otherwise.
    pub extends: bool,
}

impl InterfaceVelocity<'_> {
    /// Samples it at the centers of cells near the interface, in cells per step.
    pub fn sample_at_centers(
        &self,
        phi: &Field<f64>,
        wall_velocity: &(impl Fn(&Wall, DVec3, usize) -> DVec3 + Sync),
        out: &mut [Field<f64>; 3],
    ) {
        let Self { tiles, solids, velocity, line, dt_over_h, .. } = self;
        let [x, y, z] = out;
        (x.par_tiles_mut(), y.par_tiles_mut(), z.par_tiles_mut()).into_par_iter().enumerate().for_each_init(
            empty_blocks,
            |blocks, (slot, (x, y, z))| {
                let near = solids.near[slot];
                let values = phi.tile(slot);
                let cells = tiles.cells_in_use();
                if values[..cells].iter().all(|phi| phi.abs() > BAND) {
                    [x, y, z].into_iter().for_each(|out| out[..cells].fill(0.0));
                    return;
                }
                gather_velocity(tiles, velocity, slot, blocks);
                for local in 0..cells {
                    if values[local].abs() > BAND {
                        (x[local], y[local], z[local]) = (0.0, 0.0, 0.0);
                        continue;
                    }
                    let index = CellIndex::new(slot, local);
                    let s = solids.wall_distance().values()[index];
                    let clear = if near { ((s - LIFT) / CLEARANCE).clamp(0.0, 1.0) } else { 1.0 };
                    let distance = if self.extends { clear * values[local].clamp(-REACH, REACH) } else { 0.0 };
                    let offset = if distance == 0.0 { DVec3::ZERO } else { gradient(tiles, phi, index) * distance };
                    let mut found = trilinear(blocks, local_center(local) - offset);
                    if near && s < LIFT && s > -DEPTH {
                        let normal = solids.normal(tiles, index);
                        let lifted = local_center(local) + normal * (LIFT - s);
                        let wall = &solids.wall.values()[index];
                        let moving = wall_velocity(wall, lifted, slot);
                        let relative = sample(tiles, velocity, slot, lifted) - moving;
                        let across = normal * relative.dot(normal);
                        let overhang = -gradient(tiles, phi, index).normalize_or_zero().dot(normal);
                        let [from, to] = ALONG_WALL;
                        let flat = if overhang > 0.0 { ((overhang - from) / (to - from)).clamp(0.0, 1.0) } else { 1.0 };
                        found = moving + relative - across * (flat * (1.0 - s / LIFT));
                    }
                    let line = line.values()[index];
                    if line != LineState::Free {
                        let moving = wall_velocity(&solids.wall.values()[index], local_center(local), slot);
                        if line.blocks((found - moving).dot(gradient(tiles, phi, index))) {
                            found = moving;
                        }
                    }
                    (x[local], y[local], z[local]) = (found.x * dt_over_h, found.y * dt_over_h, found.z * dt_over_h);
                }
            },
        );
    }
}

/// Advances φ by one step with `velocity` at cell centers, in cells per step, in at least `parts`
/// parts, which the Courant number requires; `stage` and `end` are scratch.
pub fn advect_level_set(
    tiles: &Tiles,
    velocity: &[Field<f64>; 3],
    parts: f64,
    phi: &mut Field<f64>,
    stage: &mut Field<f64>,
    end: &mut Field<f64>,
) {
    // A step that begins slowly may end fast.
    let parts = parts.clamp(1.0, MAX_PARTS).ceil();
    for _ in 0..parts as usize {
        euler(tiles, velocity, 1.0 / parts, [phi, phi], 0.0, stage);
        euler(tiles, velocity, 1.0 / parts, [stage, phi], 0.5, end);
        phi.swap_values(end);
    }
}

/// out = share · start + (1 − share) (from − part u·∇from) near the interface, and `start`
/// elsewhere.
fn euler(
    tiles: &Tiles,
    velocity: &[Field<f64>; 3],
    part: f64,
    [from, start]: [&Field<f64>; 2],
    share: f64,
    out: &mut Field<f64>,
) {
    const PAD: usize = 3;
    const N: usize = SIDE + 2 * PAD;
    let block = || [0.0; N * N * N];
    out.par_tiles_mut().enumerate().for_each_init(block, |block, (slot, out)| {
        let begun = start.tile(slot);
        out.copy_from_slice(begun);
        let cells = tiles.cells_in_use();
        if begun[..cells].iter().all(|f| f.abs() > BAND) {
            return;
        }
        from.gather::<PAD>(tiles, slot, block);
        let [u, v, w] = [0, 1, 2].map(|axis| velocity[axis].tile(slot));
        for row in (0..cells).step_by(SIDE) {
            let start: &[f64; SIDE] = begun[row..].first_chunk().expect("a row");
            if start.iter().all(|f| f.abs() > BAND) {
                continue;
            }
            let [_, j, k] = local_cell(row);
            let at = ((k + PAD) * N + j + PAD) * N + PAD;
            let mut change = [0.0; SIDE];
            for (along, stride) in [(u, 1), (v, N), (w, N * N)] {
                let along: &[f64; SIDE] = along[row..].first_chunk().expect("a row");
                let slope = upwind(&block[at - 3 * stride..], stride, along);
                for ((change, u), slope) in change.iter_mut().zip(along).zip(slope) {
                    *change += u * slope;
                }
            }
            let moved = out[row..].iter_mut().zip(start).zip(&block[at..]).zip(change);
            for (((out, start), from), change) in moved.filter(|(((_, start), _), _)| start.abs() <= BAND) {
                *out = share * start + (1.0 - share) * (from - part * change);
            }
        }
    });
}

/// Upwind derivatives of a row of cells along a stride; `lines` begins three strides before the
/// row.
#[inline]
fn upwind(lines: &[f64], stride: usize, u: &[f64; SIDE]) -> [f64; SIDE] {
    let line = |n: usize| -> &[f64; SIDE] { lines[n * stride..].first_chunk().expect("a row") };
    let mut slopes = [0.0; SIDE];
    if u.iter().any(|&u| u > 0.0) {
        blend([line(0), line(1), line(2), line(3), line(4), line(5)], &mut slopes);
    }
    if u.iter().any(|&u| u < 0.0) {
        let mut from_above = [0.0; SIDE];
        blend([line(6), line(5), line(4), line(3), line(2), line(1)], &mut from_above);
        for ((slope, from_above), &u) in slopes.iter_mut().zip(from_above).zip(u) {
            *slope = if u < 0.0 { -from_above } else { *slope };
        }
    }
    slopes
}

/// WENO derivatives of a row of cells from six lines, the first farthest upwind. Sums and products
/// of rows only, so that the compiler can vectorize them.
#[inline(never)]
fn blend([a, b, c, d, e, f]: [&[f64; SIDE]; 6], slopes: &mut [f64; SIDE]) {
    for i in 0..SIDE {
        slopes[i] = weno5(b[i] - a[i], c[i] - b[i], d[i] - c[i], e[i] - d[i], f[i] - e[i]);
    }
}

/// Fifth-order combination of three third-order derivatives from five differences, the first
/// farthest upwind.
#[inline]
fn weno5(v1: f64, v2: f64, v3: f64, v4: f64, v5: f64) -> f64 {
    let (a, b, c) = (v1 - 2.0 * v2 + v3, v2 - 2.0 * v3 + v4, v3 - 2.0 * v4 + v5);
    let (d, e, f) = (v1 - 4.0 * v2 + 3.0 * v3, v2 - v4, 3.0 * v3 - 4.0 * v4 + v5);
    const THIRTEEN: f64 = 13.0 / 12.0;
    // Differences of a distance are of order one, so this is small against any kink.
    const EPSILON: f64 = 1e-6;
    let s1 = THIRTEEN * a * a + 0.25 * d * d + EPSILON;
    let s2 = THIRTEEN * b * b + 0.25 * e * e + EPSILON;
    let s3 = THIRTEEN * c * c + 0.25 * f * f + EPSILON;
    let (q1, q2, q3) = (s1 * s1, s2 * s2, s3 * s3);
    // 0.1/q1 : 0.6/q2 : 0.3/q3, with one division.
    let (w1, w2, w3) = (0.1 * q2 * q3, 0.6 * q1 * q3, 0.3 * q1 * q2);
    let p1 = 2.0 * v1 - 7.0 * v2 + 11.0 * v3;
    let p2 = -v2 + 5.0 * v3 + 2.0 * v4;
    let p3 = 2.0 * v3 + 5.0 * v4 - v5;
    (w1 * p1 + w2 * p2 + w3 * p3) / (6.0 * (w1 + w2 + w3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{free_space, sampled, uniform};
    use crate::tiles::Topology;

    /// A sphere in a diagonal flow returns to its place after one period.
    #[test]
    fn a_sphere_keeps_its_shape_in_a_uniform_flow() {
        let mut tiles = Tiles::new(Topology { planar: false, period: [Some(4); 3] });
        let mut all: Vec<[i32; 3]> = (0..64).map(|p| [p % 4, p / 4 % 4, p / 16]).collect();
        tiles.activate(&mut all);
        let (mut phi, mut stage, mut end) = (Field::new(9.0), Field::new(0.0), Field::new(0.0));
        let mut velocity: [Field<f64>; 3] = std::array::from_fn(|_| Field::new(0.25));
        for field in [&mut phi, &mut stage, &mut end].into_iter().chain(&mut velocity) {
            field.resize(&tiles);
        }
        let exact = |index: CellIndex| {
            let p = DVec3::from(tiles.cell(index).map(|c| f64::from(c) + 0.5)) - 16.0;
            p.length() - 8.0
        };
        for index in tiles.indices() {
            phi.values_mut()[index] = exact(index).clamp(-BAND - 1.0, BAND + 1.0);
        }
        // Without redistancing the band must be wide: everything moves.
        for _ in 0..128 {
            for f in phi.values_mut() {
                *f = f.clamp(-BAND + 0.01, BAND - 0.01);
            }
            advect_level_set(&tiles, &velocity, 0.75, &mut phi, &mut stage, &mut end);
        }
        let errors: Vec<f64> =
            tiles.indices().filter(|&i| exact(i).abs() < 1.0).map(|i| (phi.values()[i] - exact(i)).abs()).collect();
        let (mean, most) =
            (errors.iter().sum::<f64>() / errors.len() as f64, errors.iter().copied().fold(0.0, f64::max));
        // Measured: 0.024 and 0.057, mostly from the edge of the band, which is clamped in every
        // step here.
        assert!(mean < 0.04 && most < 0.1, "after 128 steps the surface is off by {mean:.4} cells, at most {most:.4}");
    }

    /// A sphere that is stretched along one axis and contracts along the others: the flow is not
    /// constant along normals, yet φ remains a distance.
    #[test]
    fn phi_remains_a_distance_in_a_flow_with_strain() {
        let (tiles, solids) = free_space();
        let line = uniform(&tiles, LineState::Free);
        let rate = 2e-3;
        let flow = [-rate, -rate, 2.0 * rate];
        let velocity = [0, 1, 2].map(|axis| sampled(&tiles, |at| flow[axis] * (at[axis] - 0.5)));
        let departure = |extends: bool| {
            let mut phi = sampled(&tiles, |at| at.length() - 9.3);
            let (mut stage, mut end) = (phi.clone(), phi.clone());
            let mut centers = velocity.clone();
            let sampler = InterfaceVelocity {
                tiles: &tiles,
                solids: &solids,
                velocity: &velocity,
                line: &line,
                dt_over_h: 1.0,
                extends,
            };
            for _ in 0..10 {
                sampler.sample_at_centers(&phi, &|_, _, _| DVec3::ZERO, &mut centers);
                advect_level_set(&tiles, &centers, 0.1, &mut phi, &mut stage, &mut end);
            }
            let near = tiles.indices().filter(|&index| phi.values()[index].abs() < 1.5);
            near.map(|index| (gradient(&tiles, &phi, index).length() - 1.0).abs()).fold(0.0, f64::max)
        };
        let (own, extended) = (departure(false), departure(true));
        println!("|∇φ| departs from 1 by {own:.4}, with the extension velocity by {extended:.4}");
        // By 10 steps of 2 × 2e-3 with the cells' own velocity; central differences err by 0.003.
        assert!(own > 0.03 && extended < 0.01, "|∇φ| departs from 1 by {own:.4} and {extended:.4}");
    }
}
