//! Viscosity with the full stress: no traction at the free surface.
//!
//! ```text
//! u − Δt ∇·(ν (∇u + ∇uᵀ)) = u*,      (∇u + ∇uᵀ)·n = 0 at the interface
//! ```
//!
//! is the minimum over u of the kinetic energy of the change plus the energy dissipated
//! (batty2008, §4),
//!
//! ```text
//! Σ_f m_f (u − u*)² + α Σ_cells 2 (e_xx² + e_yy² + e_zz²) + α Σ_edges (∂_y u + ∂_x v)² + …,      α = νΔt/h²
//! ```
//!
//! in differences of neighboring faces, so that the condition at the interface follows from leaving
//! out what is not liquid: cells with φ ≥ 0, and edges one of whose four faces does not carry
//! liquid. m_f is the mass with which [`projection`](crate::projection) accelerates a face: one
//! cell between two liquid cells, θ of one at the interface. A component-wise Laplacian would
//! dissipate half as much in the strain of an oscillating drop, and would resist a rotation.
//!
//! **At walls** the tangential derivatives of the velocity vanish: an edge that touches a solid
//! couples the faces of each component alone, and towards the wall a face has the drag 1/(d + λ) of
//! [`WallDrag`].
//!
//! The system is symmetric and positive definite. Conjugate gradients with its diagonal as
//! preconditioner take three iterations in water on cells of 0.1 mm (α = 0.004). No time-step
//! limit.

use rayon::prelude::*;

use crate::faces::{FaceFlags, IN_SOLID, WET};
use crate::poisson::{PoissonError, SolveReport};
use crate::projection::{MIN_DISTANCE, WallVelocity};
use crate::tiles::{CellIndex, Field, SIDE, Tiles, local_cell};
use crate::viscosity::WallDrag;

/// Side of a tile with one cell around it, its size, and its strides.
const N: usize = SIDE + 2;
const BLOCK: usize = N * N * N;
const STRIDES: [usize; 3] = [1, N, N * N];
/// Largest change of velocity that is left, relative to the largest velocity. In water a step
/// changes it by a thousandth.
const TOLERANCE: f64 = 1e-5;
/// Iterations after which the solve has failed.
const MAX_ITERATIONS: usize = 2000;
/// Depth below which all cells and edges around a face are liquid, in cells.
const INTERIOR_DEPTH: f64 = 3.0;

/// What a face is coupled to: bits 0 and 1 the faces of its component across its two cells; from
/// bit 2 on those across its edges, and from bit 6 on the other component at these edges. Edges are
/// low and high along each of the other axes.
type Couplings = u16;
const EDGES: usize = 2;
const CROSSING: usize = 6;

/// Couplings of a face far from the interface and from walls.
fn interior_couplings(dims: usize) -> Couplings {
    if dims == 3 { 0b11_1111_1111 } else { 0b1100_1111 }
}

/// Σ of a face's own couplings: twice across cells, once across edges.
fn weight(couplings: Couplings) -> f64 {
    f64::from(2 * (couplings & 0b11).count_ones() + (couplings >> EDGES & 0b1111).count_ones())
}

/// Whether a face is an unknown.
#[inline]
fn is_unknown(flag: u8) -> bool {
    flag & (WET | IN_SOLID) == WET
}

/// What the solve reads.
pub struct StressProblem<'a> {
    /// The tiles.
    pub tiles: &'a Tiles,
    /// Drag of walls.
    pub walls: WallDrag<'a>,
    /// Face flags.
    pub flags: &'a FaceFlags,
    /// The level set.
    pub phi: &'a Field<f64>,
    /// Whether the interface lies between cells for the pressure; at their faces otherwise.
    pub second_order: bool,
    /// α = νΔt/h².
    pub alpha: f64,
}

/// A tile's part of a sum and of a maximum; none if it has no unknowns.
#[derive(Clone, Copy, Debug, Default)]
struct Partial {
    in_use: bool,
    sum: f64,
    largest: f64,
}

/// Memory of the solve.
#[derive(Debug)]
pub struct StressSolver {
    couplings: [Field<Couplings>; 3],
    diagonal: [Field<f64>; 3],
    direction: [Field<f64>; 3],
    applied: [Field<f64>; 3],
    /// A sum and a maximum of each tile.
    partial: Vec<Partial>,
}

impl Default for StressSolver {
    fn default() -> Self {
        let fields = || std::array::from_fn(|_| Field::new(0.0));
        Self {
            couplings: std::array::from_fn(|_| Field::new(0)),
            diagonal: std::array::from_fn(|_| Field::new(1.0)),
            direction: fields(),
            applied: fields(),
            partial: Vec::new(),
        }
    }
}

impl StressSolver {
    /// Diffuses the velocity; `residual` is scratch.
    pub fn solve(
        &mut self,
        problem: &StressProblem<'_>,
        residual: &mut [Field<f64>; 3],
        velocity: &mut [Field<f64>; 3],
        wall_velocity: &impl WallVelocity,
    ) -> Result<SolveReport, PoissonError> {
        self.prepare(problem, residual, velocity, wall_velocity);
        let fastest = self.reduce().largest;
        let dims = problem.tiles.dims();
        let Partial { sum: mut rz, largest: mut left, .. } = self.advance(dims, residual, velocity, 0.0);
        // Liquid at rest beside a moving wall has no velocity yet.
        let tolerance = TOLERANCE * fastest.max(left);
        let mut report = SolveReport { residual: left, rhs: fastest, ..SolveReport::default() };
        let mut kept = 0.0;
        // Ends at once with a NaN: the pressure solve then reports where it is.
        while left > tolerance {
            if report.iterations == MAX_ITERATIONS {
                let SolveReport { residual, iterations, .. } = report;
                return Err(PoissonError::NotConverged { residual, iterations, tolerance });
            }
            self.turn(dims, residual, kept);
            let length = rz / self.apply(problem);
            let next = self.advance(dims, residual, velocity, length);
            kept = next.sum / rz;
            (rz, left) = (next.sum, next.largest);
            report.iterations += 1;
            report.residual = left;
        }
        Ok(report)
    }

    /// Sum and maximum over all tiles, in the order of slots.
    fn reduce(&self) -> Partial {
        self.partial.iter().fold(Partial::default(), |all, one| Partial {
            in_use: true,
            sum: all.sum + one.sum,
            largest: if one.largest > all.largest || one.largest.is_nan() { one.largest } else { all.largest },
        })
    }

    /// Writes couplings, diagonal and the residual of u*; the maximum is that of |u*|.
    fn prepare(
        &mut self,
        problem: &StressProblem<'_>,
        residual: &mut [Field<f64>; 3],
        velocity: &[Field<f64>; 3],
        wall_velocity: &impl WallVelocity,
    ) {
        let tiles = problem.tiles;
        let Self { couplings, diagonal, direction, applied, partial } = self;
        couplings.iter_mut().for_each(|field| field.resize(tiles));
        for field in diagonal.iter_mut().chain(&mut *applied).chain(&mut *direction) {
            field.resize(tiles);
        }
        direction.iter_mut().for_each(|field| field.set_all(0.0));
        partial.clear();
        partial.resize(tiles.len(), Partial::default());
        let [cx, cy, cz] = couplings;
        let [dx, dy, dz] = diagonal;
        let [rx, ry, rz] = residual;
        let outputs = (
            (cx.par_tiles_mut(), cy.par_tiles_mut(), cz.par_tiles_mut()),
            (dx.par_tiles_mut(), dy.par_tiles_mut(), dz.par_tiles_mut()),
            (rx.par_tiles_mut(), ry.par_tiles_mut(), rz.par_tiles_mut()),
            partial,
        );
        let neighborhood = || Box::new(Neighborhood::default());
        outputs.into_par_iter().enumerate().for_each_init(neighborhood, |around, (slot, (c, d, r, partial))| {
            let (c, d, r) = ([c.0, c.1, c.2], [d.0, d.1, d.2], [r.0, r.1, r.2]);
            let cells = tiles.cells_in_use();
            let is_in_use = |flags: &Field<u8>| flags.tile(slot)[..cells].iter().any(|&flag| is_unknown(flag));
            partial.in_use = problem.flags[..tiles.dims()].iter().any(is_in_use);
            if !partial.in_use {
                return;
            }
            around.gather(problem, velocity, slot);
            for (axis, ((c, d), r)) in c.into_iter().zip(d).zip(r).enumerate().take(tiles.dims()) {
                let rows = c.as_chunks_mut::<SIDE>().0.iter_mut().zip(d.as_chunks_mut::<SIDE>().0);
                let rows = rows.zip(r.as_chunks_mut::<SIDE>().0).zip((0..cells).step_by(SIDE));
                for (((couplings, diagonal), residual), first) in rows {
                    let first = CellIndex::new(slot, first);
                    let mut row = Row { couplings, diagonal, residual };
                    let fastest = problem.write_row(around, axis, first, wall_velocity, &mut row);
                    partial.largest = partial.largest.max(fastest);
                }
            }
        });
    }

    /// x ← x + `length` p and r ← r − `length` A p; returns Σ r²/D and the largest |r/D|.
    fn advance(
        &mut self,
        dims: usize,
        residual: &mut [Field<f64>; 3],
        velocity: &mut [Field<f64>; 3],
        length: f64,
    ) -> Partial {
        let Self { diagonal, direction, applied, partial, .. } = self;
        for partial in &mut *partial {
            (partial.sum, partial.largest) = (0.0, 0.0);
        }
        for axis in 0..dims {
            let (diagonal, direction, applied) = (&diagonal[axis], &direction[axis], &applied[axis]);
            let outputs = (velocity[axis].par_tiles_mut(), residual[axis].par_tiles_mut(), &mut *partial);
            outputs.into_par_iter().enumerate().filter(|(_, (.., partial))| partial.in_use).for_each(
                |(slot, (x, r, partial))| {
                    if length != 0.0 {
                        for (x, p) in x.iter_mut().zip(direction.tile(slot)) {
                            *x += length * p;
                        }
                        for (r, q) in r.iter_mut().zip(applied.tile(slot)) {
                            *r -= length * q;
                        }
                    }
                    let (mut sums, mut largest) = ([0.0; SIDE], [0.0_f64; SIDE]);
                    let rows = r.chunks_exact(SIDE).zip(diagonal.tile(slot).chunks_exact(SIDE));
                    for (r, d) in rows {
                        for lane in 0..SIDE {
                            let z = r[lane] / d[lane];
                            sums[lane] += r[lane] * z;
                            largest[lane] = if z.abs() > largest[lane] { z.abs() } else { largest[lane] };
                        }
                    }
                    partial.sum += sums.iter().sum::<f64>();
                    partial.largest = largest.into_iter().fold(partial.largest, f64::max);
                },
            );
        }
        self.reduce()
    }

    /// p ← r/D + `kept` p.
    fn turn(&mut self, dims: usize, residual: &[Field<f64>; 3], kept: f64) {
        let Self { diagonal, direction, partial, .. } = self;
        for (axis, direction) in direction.iter_mut().enumerate().take(dims) {
            let (diagonal, residual) = (&diagonal[axis], &residual[axis]);
            direction.par_tiles_mut().enumerate().filter(|(slot, _)| partial[*slot].in_use).for_each(|(slot, p)| {
                for ((p, r), d) in p.iter_mut().zip(residual.tile(slot)).zip(diagonal.tile(slot)) {
                    *p = r / d + kept * *p;
                }
            });
        }
    }

    /// Writes A p; returns p·A p.
    fn apply(&mut self, problem: &StressProblem<'_>) -> f64 {
        let tiles = problem.tiles;
        let Self { couplings, diagonal, direction, applied, partial } = self;
        let [x, y, z] = applied;
        let outputs = ((x.par_tiles_mut(), y.par_tiles_mut(), z.par_tiles_mut()), &mut *partial);
        let direction = &*direction;
        let blocks = || Box::new([[0.0; BLOCK]; 3]);
        outputs.into_par_iter().enumerate().filter(|(_, (_, partial))| partial.in_use).for_each_init(
            blocks,
            |blocks, (slot, (out, partial))| {
                for (block, field) in blocks.iter_mut().zip(direction).take(tiles.dims()) {
                    field.gather::<1>(tiles, slot, block);
                }
                partial.sum = 0.0;
                for (axis, out) in [out.0, out.1, out.2].into_iter().enumerate().take(tiles.dims()) {
                    let tile = (couplings[axis].tile(slot), diagonal[axis].tile(slot));
                    partial.sum += apply_to_tile(tiles, problem.alpha, blocks, axis, tile, out);
                }
            },
        );
        self.reduce().sum
    }
}

/// What surrounds the faces of a tile.
struct Neighborhood {
    flags: [[u8; BLOCK]; 3],
    phi: [f64; BLOCK],
    velocity: [[f64; BLOCK]; 3],
}

impl Default for Neighborhood {
    fn default() -> Self {
        Self { flags: [[0; BLOCK]; 3], phi: [0.0; BLOCK], velocity: [[0.0; BLOCK]; 3] }
    }
}

impl Neighborhood {
    fn gather(&mut self, problem: &StressProblem<'_>, velocity: &[Field<f64>; 3], slot: usize) {
        let tiles = problem.tiles;
        problem.phi.gather::<1>(tiles, slot, &mut self.phi);
        for axis in 0..tiles.dims() {
            problem.flags[axis].gather::<1>(tiles, slot, &mut self.flags[axis]);
            velocity[axis].gather::<1>(tiles, slot, &mut self.velocity[axis]);
        }
    }

    /// Couplings of an unknown face of component `axis` at a position of the block.
    fn couplings(&self, dims: usize, axis: usize, at: usize) -> Couplings {
        let own = STRIDES[axis];
        let unknown = |axis: usize, at: usize| is_unknown(self.flags[axis][at]);
        let solid = |axis: usize, at: usize| self.flags[axis][at] & IN_SOLID != 0;
        let across_cell = |cell: usize, next: usize| u16::from(self.phi[cell] < 0.0 && unknown(axis, next));
        let mut found = across_cell(at - own, at - own) | across_cell(at, at + own) << 1;
        for (number, other) in (0..dims).filter(|&other| other != axis).enumerate() {
            let across = STRIDES[other];
            for (side, (next, edge)) in [(at - across, at), (at + across, at + across)].into_iter().enumerate() {
                let crossing = [edge, edge - own];
                let place = 2 * number + side;
                if solid(axis, next) || crossing.iter().any(|&at| solid(other, at)) {
                    found |= u16::from(unknown(axis, next)) << (EDGES + place);
                } else if unknown(axis, next) && crossing.iter().all(|&at| unknown(other, at)) {
                    found |= 1 << (EDGES + place) | 1 << (CROSSING + place);
                }
            }
        }
        found
    }
}

/// The equations of a row of faces.
struct Row<'a> {
    couplings: &'a mut [Couplings; SIDE],
    diagonal: &'a mut [f64; SIDE],
    residual: &'a mut [f64; SIDE],
}

impl StressProblem<'_> {
    /// Writes the equations of the faces of component `axis` from `first` on; returns the largest
    /// |u|.
    fn write_row(
        &self,
        around: &Neighborhood,
        axis: usize,
        first: CellIndex,
        wall_velocity: &impl WallVelocity,
        row: &mut Row<'_>,
    ) -> f64 {
        let (dims, start) = (self.tiles.dims(), position(first.local()));
        let (velocity, near_wall) = (&around.velocity, self.walls.solids.near[first.slot()]);
        let mut fastest: f64 = 0.0;
        if !near_wall && around.phi[start..start + SIDE].iter().all(|&phi| phi < -INTERIOR_DEPTH) {
            let couplings = interior_couplings(dims);
            let (weight, sums) = (weight(couplings), interior_sums(velocity, dims, axis, start));
            *row.couplings = [couplings; SIDE];
            *row.diagonal = [1.0 + self.alpha * weight; SIDE];
            for (lane, sum) in sums.into_iter().enumerate() {
                let u = velocity[axis][start + lane];
                row.residual[lane] = self.alpha * (sum - weight * u);
                fastest = fastest.max(u.abs());
            }
            return fastest;
        }
        for lane in 0..SIDE {
            let (index, at) = (first.along_row(lane), start + lane);
            (row.couplings[lane], row.diagonal[lane], row.residual[lane]) = (0, 1.0, 0.0);
            if !is_unknown(around.flags[axis][at]) {
                continue;
            }
            let u = velocity[axis][at];
            let couplings = around.couplings(dims, axis, at);
            let drag = if near_wall { self.walls.full_stress(self.tiles, self.flags, axis, index) } else { 0.0 };
            let wall = || wall_velocity(&self.walls.solids.wall.values()[index], index, axis);
            let by_walls = if drag > 0.0 { drag * (wall() - u) } else { 0.0 };
            let by_liquid = neighbor_sum(velocity, couplings, dims, axis, at) - weight(couplings) * u;
            row.couplings[lane] = couplings;
            row.diagonal[lane] = self.mass(around, axis, at) + self.alpha * (weight(couplings) + drag);
            row.residual[lane] = self.alpha * (by_liquid + by_walls);
            fastest = fastest.max(u.abs());
        }
        fastest
    }

    /// Mass of a face, in cells.
    fn mass(&self, around: &Neighborhood, axis: usize, at: usize) -> f64 {
        let [low, high] = [around.phi[at - STRIDES[axis]], around.phi[at]];
        match (low < 0.0, high < 0.0) {
            (true, false) if self.second_order => (low / (low - high)).max(MIN_DISTANCE),
            (false, true) if self.second_order => (high / (high - low)).max(MIN_DISTANCE),
            _ => 1.0,
        }
    }
}

/// Position in a block of a cell of its tile.
#[inline]
fn position(local: usize) -> usize {
    let [i, j, k] = local_cell(local);
    ((k + 1) * N + j + 1) * N + i + 1
}

/// What the faces around contribute to the viscous force on a face, over α.
#[inline]
fn neighbor_sum(blocks: &[[f64; BLOCK]; 3], couplings: Couplings, dims: usize, axis: usize, at: usize) -> f64 {
    let is = |bit: usize| f64::from(couplings >> bit & 1);
    let (block, own) = (&blocks[axis], STRIDES[axis]);
    let mut sum = 2.0 * (is(0) * block[at - own] + is(1) * block[at + own]);
    for (number, other) in (0..dims).filter(|&other| other != axis).enumerate() {
        let (crossing, across) = (&blocks[other], STRIDES[other]);
        let (low, high, up) = (2 * number, 2 * number + 1, at + across);
        sum += is(EDGES + low) * block[at - across] + is(EDGES + high) * block[up];
        sum += is(CROSSING + high) * (crossing[up] - crossing[up - own]);
        sum -= is(CROSSING + low) * (crossing[at] - crossing[at - own]);
    }
    sum
}

/// Writes A p for the faces of component `axis` of a tile, given by their couplings and diagonal;
/// returns their part of p·A p.
fn apply_to_tile(
    tiles: &Tiles,
    alpha: f64,
    blocks: &[[f64; BLOCK]; 3],
    axis: usize,
    (couplings, diagonal): (&[Couplings], &[f64]),
    out: &mut [f64],
) -> f64 {
    let interior = interior_couplings(tiles.dims());
    let mut sum = 0.0;
    for first in (0..tiles.cells_in_use()).step_by(SIDE) {
        let start = position(first);
        let out: &mut [f64; SIDE] = out[first..].first_chunk_mut().expect("a row of a tile");
        let couplings: &[Couplings; SIDE] = couplings[first..].first_chunk().expect("a row of a tile");
        if couplings.iter().all(|&couplings| couplings == interior) {
            *out = interior_sums(blocks, tiles.dims(), axis, start);
        } else {
            for (lane, out) in out.iter_mut().enumerate() {
                *out = neighbor_sum(blocks, couplings[lane], tiles.dims(), axis, start + lane);
            }
        }
        let (mut part, own) = ([0.0; SIDE], &blocks[axis][start..start + SIDE]);
        for lane in 0..SIDE {
            out[lane] = diagonal[first + lane] * own[lane] - alpha * out[lane];
            part[lane] = out[lane] * own[lane];
        }
        sum += part.iter().sum::<f64>();
    }
    sum
}

/// [`neighbor_sum`] of a row of interior faces.
#[inline]
fn interior_sums(blocks: &[[f64; BLOCK]; 3], dims: usize, axis: usize, start: usize) -> [f64; SIDE] {
    let row = |block: &[f64; BLOCK], at: usize| -> [f64; SIDE] { *block[at..].first_chunk().expect("a row") };
    let own = STRIDES[axis];
    let (low, high) = (row(&blocks[axis], start - own), row(&blocks[axis], start + own));
    let mut sums: [f64; SIDE] = std::array::from_fn(|lane| 2.0 * (low[lane] + high[lane]));
    for other in (0..dims).filter(|&other| other != axis) {
        let up = start + STRIDES[other];
        let (low, high) = (row(&blocks[axis], start - STRIDES[other]), row(&blocks[axis], up));
        let crossing = &blocks[other];
        let [a, b, c, d] = [up, up - own, start, start - own].map(|at| row(crossing, at));
        for lane in 0..SIDE {
            sums[lane] += low[lane] + high[lane];
            sums[lane] += a[lane] - b[lane];
            sums[lane] -= c[lane] - d[lane];
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::faces::classify_faces;
    use crate::grid::FACES;
    use crate::solids::Solids;
    use crate::testing::{Random, free_space, sampled, uniform};

    /// Radius of the drop, in cells.
    const RADIUS: f64 = 11.0;
    const ALPHA: f64 = 0.004;

    /// A free drop, off the grid's symmetry.
    struct FreeDrop {
        tiles: Tiles,
        solids: Solids,
        phi: Field<f64>,
        flags: FaceFlags,
    }

    impl FreeDrop {
        fn new() -> Self {
            let (tiles, solids) = free_space();
            let phi = sampled(&tiles, |at| (at - Self::middle()).length() - RADIUS);
            let mut flags: FaceFlags = std::array::from_fn(|_| uniform(&tiles, 0));
            classify_faces(&tiles, &solids, &phi, &mut flags);
            Self { tiles, solids, phi, flags }
        }

        fn middle() -> DVec3 {
            DVec3::new(0.13, 0.29, 0.41)
        }

        fn problem(&self) -> StressProblem<'_> {
            let walls = WallDrag { solids: &self.solids, slip: 0.0 };
            let (tiles, flags, phi) = (&self.tiles, &self.flags, &self.phi);
            StressProblem { tiles, walls, flags, phi, second_order: true, alpha: ALPHA }
        }

        /// A velocity given at places relative to the middle, in cells.
        fn velocity(&self, at: impl Fn(DVec3) -> DVec3) -> [Field<f64>; 3] {
            let offset = |axis: usize| FACES[axis] - 0.5 - Self::middle();
            [0, 1, 2].map(|axis| sampled(&self.tiles, |center| at(center + offset(axis))[axis]))
        }

        /// Energy lost in a step over 2α V, and the largest change of velocity.
        fn diffused(&self, at: impl Fn(DVec3) -> DVec3) -> [f64; 2] {
            let (before, problem) = (self.velocity(at), self.problem());
            let (mut after, mut residual) = (before.clone(), self.velocity(|_| DVec3::ZERO));
            let mut solver = StressSolver::default();
            solver.solve(&problem, &mut residual, &mut after, &|_, _, _| 0.0).unwrap();
            let (mut lost, mut largest) = (0.0, 0.0_f64);
            let mut around = Box::new(Neighborhood::default());
            for slot in 0..self.tiles.len() {
                around.gather(&problem, &before, slot);
                for (axis, local) in (0..3).flat_map(|axis| (0..SIDE * SIDE * SIDE).map(move |local| (axis, local))) {
                    let index = CellIndex::new(slot, local);
                    let (u, v) = (before[axis].values()[index], after[axis].values()[index]);
                    lost += 0.5 * problem.mass(&around, axis, position(local)) * (u * u - v * v);
                    largest = largest.max((u - v).abs());
                }
            }
            let volume = 4.0 / 3.0 * std::f64::consts::PI * RADIUS.powi(3);
            [lost / (2.0 * ALPHA * volume), largest]
        }
    }

    /// The rate is 2ν e:e per volume. The Laplacian of each component alone gives half of it.
    #[test]
    fn strain_dissipates_twice_the_square_of_its_rate() {
        let drop = FreeDrop::new();
        let [normal, _] = drop.diffused(|at| 0.01 * DVec3::new(at.x, at.y, -2.0 * at.z));
        let [shear, _] = drop.diffused(|at| 0.01 * DVec3::new(at.y, at.x, 0.0));
        let errors = [normal / 6e-4 - 1.0, shear / 2e-4 - 1.0];
        println!("along the axes {:+.3}, diagonal {:+.3}", errors[0], errors[1]);
        // Second order in α, and of edges at the interface some are left out: 3 × 0.25/11 at most.
        assert!(errors[0].abs() < 0.05 && errors[1].abs() < 0.1, "dissipation is off by {errors:.3?}");
    }

    #[test]
    fn a_rotating_drop_meets_no_resistance() {
        let [_, change] = FreeDrop::new().diffused(|at| 0.01 * DVec3::new(0.3, -0.5, 0.8).cross(at));
        assert!(change < 1e-12, "a rigid rotation changes by {change:.1e}");
    }

    /// Beside a wall, too.
    #[test]
    fn the_system_is_symmetric() {
        let case =
            crate::testing::cap_on_plane(70f64.to_radians(), 9.0, DVec3::new(0.3, 0.95, 0.1).normalize(), DVec3::ZERO);
        let tiles = &case.grid.tiles;
        let mut flags: FaceFlags = std::array::from_fn(|_| uniform(tiles, 0));
        classify_faces(tiles, &case.solids, &case.phi, &mut flags);
        let walls = WallDrag { solids: &case.solids, slip: 0.0 };
        let problem = StressProblem { tiles, walls, flags: &flags, phi: &case.phi, second_order: true, alpha: 0.3 };
        let mut random = Random::new(7);
        let mut noise = || -> [Field<f64>; 3] {
            [0, 1, 2].map(|axis| {
                let mut field = uniform(tiles, 0.0);
                for index in tiles.indices().filter(|&index| is_unknown(flags[axis].values()[index])) {
                    field.values_mut()[index] = random.uniform() - 0.5;
                }
                field
            })
        };
        let (a, b) = (noise(), noise());
        let mut solver = StressSolver::default();
        let mut residual = noise();
        solver.prepare(&problem, &mut residual, &a, &|_, _, _| 0.0);
        let mut product = |p: &[Field<f64>; 3], q: &[Field<f64>; 3]| -> f64 {
            solver.direction = p.clone();
            solver.apply(&problem);
            let dot = |axis: usize| -> f64 {
                let pairs = q[axis].values().iter().zip(solver.applied[axis].values());
                pairs.filter(|(q, _)| **q != 0.0).map(|(q, applied)| q * applied).sum()
            };
            (0..3).map(dot).sum()
        };
        let (ab, ba, aa) = (product(&a, &b), product(&b, &a), product(&a, &a));
        assert!((ab - ba).abs() < 1e-10 * aa && aa > 0.0, "a·Ab = {ab}, b·Aa = {ba}, a·Aa = {aa}");
    }
}
