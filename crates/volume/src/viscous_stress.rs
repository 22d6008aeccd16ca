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
//! preconditioner solve it for the change u − u*, which needs three digits of the velocity's: in
//! single precision, with sums over tiles in double. They take three iterations in water on cells
//! of 0.1 mm (α = 0.004). Rows of eight faces without unknowns are skipped. No time-step limit.

use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

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

/// Rows of eight faces of a tile that have unknowns: one bit each, a word for each component.
type Rows = [u64; 3];

/// A tile's unknowns, and its part of a sum and of a maximum.
#[derive(Clone, Copy, Debug, Default)]
struct Partial {
    rows: Rows,
    sum: f64,
    largest: f64,
}

impl Partial {
    fn is_in_use(&self) -> bool {
        self.rows != [0; 3]
    }
}

/// First cells of the rows that are marked.
fn starts(mut rows: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let row = rows.trailing_zeros() as usize;
        rows &= rows.wrapping_sub(1);
        (row < SIDE * SIDE).then_some(row * SIDE)
    })
}

/// A row of faces of a tile.
#[inline]
fn row<T>(values: &[T], start: usize) -> &[T; SIDE] {
    values[start..].first_chunk().expect("a row")
}

/// A row of faces of a tile, to be changed.
#[inline]
fn row_mut<T>(values: &mut [T], start: usize) -> &mut [T; SIDE] {
    values[start..].first_chunk_mut().expect("a row")
}

/// Memory of the solve.
#[derive(Debug)]
pub struct StressSolver {
    couplings: [Field<Couplings>; 3],
    diagonal: [Field<f32>; 3],
    residual: [Field<f32>; 3],
    direction: [Field<f32>; 3],
    applied: [Field<f32>; 3],
    /// u − u*.
    change: [Field<f32>; 3],
    /// Unknowns, a sum and a maximum of each tile.
    partial: Vec<Partial>,
}

impl Default for StressSolver {
    fn default() -> Self {
        let fields = || std::array::from_fn(|_| Field::new(0.0));
        Self {
            couplings: std::array::from_fn(|_| Field::new(0)),
            diagonal: std::array::from_fn(|_| Field::new(1.0)),
            residual: fields(),
            direction: fields(),
            applied: fields(),
            change: fields(),
            partial: Vec::new(),
        }
    }
}

impl StressSolver {
    /// Diffuses the velocity.
    pub fn solve(
        &mut self,
        problem: &StressProblem<'_>,
        velocity: &mut [Field<f64>; 3],
        wall_velocity: &impl WallVelocity,
    ) -> Result<SolveReport, PoissonError> {
        self.prepare(problem, velocity, wall_velocity);
        let fastest = self.reduce().largest;
        let dims = problem.tiles.dims();
        let Partial { sum: mut rz, largest: mut left, .. } = self.advance(dims, 0.0);
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
            self.turn(dims, kept as f32);
            let length = rz / self.apply(problem);
            let next = self.advance(dims, length as f32);
            kept = next.sum / rz;
            (rz, left) = (next.sum, next.largest);
            report.iterations += 1;
            report.residual = left;
        }
        self.add_change(dims, velocity);
        Ok(report)
    }

    /// Sum and maximum over all tiles, in the order of slots.
    fn reduce(&self) -> Partial {
        self.partial.iter().fold(Partial::default(), |all, one| Partial {
            sum: all.sum + one.sum,
            largest: if one.largest > all.largest || one.largest.is_nan() { one.largest } else { all.largest },
            ..all
        })
    }

    /// Writes couplings, diagonal and the residual of u*; the maximum is that of |u*|.
    fn prepare(&mut self, problem: &StressProblem<'_>, velocity: &[Field<f64>; 3], wall_velocity: &impl WallVelocity) {
        let tiles = problem.tiles;
        let Self { couplings, diagonal, residual, direction, applied, change, partial } = self;
        couplings.iter_mut().for_each(|field| field.resize(tiles));
        for field in [&mut *diagonal, residual, direction, applied, change].into_iter().flatten() {
            field.resize(tiles);
        }
        for field in [direction, change].into_iter().flatten() {
            field.set_all(0.0);
        }
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
            for axis in 0..tiles.dims() {
                partial.rows[axis] = rows_with_unknowns(&problem.flags[axis].tile(slot)[..tiles.cells_in_use()]);
            }
            if !partial.is_in_use() {
                return;
            }
            around.gather(problem, velocity, slot);
            let (c, d, r) = ([c.0, c.1, c.2], [d.0, d.1, d.2], [r.0, r.1, r.2]);
            for (axis, ((c, d), r)) in c.into_iter().zip(d).zip(r).enumerate().take(tiles.dims()) {
                for first in starts(partial.rows[axis]) {
                    let (couplings, diagonal, residual) = (row_mut(c, first), row_mut(d, first), row_mut(r, first));
                    let mut row = Row { couplings, diagonal, residual };
                    let first = CellIndex::new(slot, first);
                    let fastest = problem.write_row(around, axis, first, wall_velocity, &mut row);
                    partial.largest = partial.largest.max(fastest);
                }
            }
        });
    }

    /// δ ← δ + `length` p and r ← r − `length` A p; returns Σ r²/D and the largest |r/D|.
    fn advance(&mut self, dims: usize, length: f32) -> Partial {
        let Self { diagonal, residual, direction, applied, change, partial, .. } = self;
        for partial in &mut *partial {
            (partial.sum, partial.largest) = (0.0, 0.0);
        }
        for axis in 0..dims {
            let (diagonal, direction, applied) = (&diagonal[axis], &direction[axis], &applied[axis]);
            let outputs = (change[axis].par_tiles_mut(), residual[axis].par_tiles_mut(), &mut *partial);
            outputs.into_par_iter().enumerate().filter(|(_, (.., partial))| partial.is_in_use()).for_each(
                |(slot, (x, r, partial))| {
                    let (d, p, q) = (diagonal.tile(slot), direction.tile(slot), applied.tile(slot));
                    let (mut sums, mut largest) = ([0.0; SIDE], [0.0_f32; SIDE]);
                    for first in starts(partial.rows[axis]) {
                        let (x, r, d) = (row_mut(x, first), row_mut(r, first), row(d, first));
                        if length != 0.0 {
                            let (p, q) = (row(p, first), row(q, first));
                            for lane in 0..SIDE {
                                x[lane] += length * p[lane];
                                r[lane] -= length * q[lane];
                            }
                        }
                        for lane in 0..SIDE {
                            let z = r[lane] / d[lane];
                            sums[lane] += f64::from(r[lane]) * f64::from(z);
                            largest[lane] = if z.abs() > largest[lane] { z.abs() } else { largest[lane] };
                        }
                    }
                    partial.sum += sums.iter().sum::<f64>();
                    partial.largest = partial.largest.max(f64::from(largest.into_iter().fold(0.0, f32::max)));
                },
            );
        }
        self.reduce()
    }

    /// p ← r/D + `kept` p.
    fn turn(&mut self, dims: usize, kept: f32) {
        let Self { diagonal, residual, direction, partial, .. } = self;
        for (axis, direction) in direction.iter_mut().enumerate().take(dims) {
            direction.par_tiles_mut().zip(&*partial).enumerate().for_each(|(slot, (p, partial))| {
                let (d, r) = (diagonal[axis].tile(slot), residual[axis].tile(slot));
                for first in starts(partial.rows[axis]) {
                    let (p, d, r) = (row_mut(p, first), row(d, first), row(r, first));
                    for lane in 0..SIDE {
                        p[lane] = r[lane] / d[lane] + kept * p[lane];
                    }
                }
            });
        }
    }

    /// Writes A p; returns p·A p.
    fn apply(&mut self, problem: &StressProblem<'_>) -> f64 {
        let tiles = problem.tiles;
        let Self { couplings, diagonal, direction, applied, partial, .. } = self;
        let [x, y, z] = applied;
        let outputs = ((x.par_tiles_mut(), y.par_tiles_mut(), z.par_tiles_mut()), &mut *partial);
        let direction = &*direction;
        let blocks = || Box::new([[0.0; BLOCK]; 3]);
        outputs.into_par_iter().enumerate().filter(|(_, (_, partial))| partial.is_in_use()).for_each_init(
            blocks,
            |blocks, (slot, (out, partial))| {
                for (block, field) in blocks.iter_mut().zip(direction).take(tiles.dims()) {
                    field.gather::<1>(tiles, slot, block);
                }
                partial.sum = 0.0;
                for (axis, out) in [out.0, out.1, out.2].into_iter().enumerate().take(tiles.dims()) {
                    let tile = TileSystem {
                        dims: tiles.dims(),
                        alpha: problem.alpha as f32,
                        rows: partial.rows[axis],
                        couplings: couplings[axis].tile(slot),
                        diagonal: diagonal[axis].tile(slot),
                    };
                    partial.sum += tile.apply(blocks, axis, out);
                }
            },
        );
        self.reduce().sum
    }

    /// u ← u* + δ.
    fn add_change(&self, dims: usize, velocity: &mut [Field<f64>; 3]) {
        for (axis, component) in velocity.iter_mut().enumerate().take(dims) {
            component.par_tiles_mut().zip(&self.partial).enumerate().for_each(|(slot, (u, partial))| {
                let change = self.change[axis].tile(slot);
                for first in starts(partial.rows[axis]) {
                    for (u, change) in row_mut(u, first).iter_mut().zip(row(change, first)) {
                        *u += f64::from(*change);
                    }
                }
            });
        }
    }
}

/// The rows of a tile that have unknowns.
fn rows_with_unknowns(flags: &[u8]) -> u64 {
    let rows = flags.as_chunks::<SIDE>().0;
    let has = |flags: &[u8; SIDE]| flags.iter().fold(0, |any, &flag| any | u64::from(is_unknown(flag)));
    rows.iter().enumerate().fold(0, |all, (row, flags)| all | has(flags) << row)
}

/// What surrounds the faces of a tile.
struct Neighborhood {
    flags: [u8; BLOCK],
    /// 1 for unknown faces, for those in solids, and for liquid cells.
    unknown: [[u8; BLOCK]; 3],
    solid: [[u8; BLOCK]; 3],
    liquid: [u8; BLOCK],
    phi: [f64; BLOCK],
    velocity: [[f64; BLOCK]; 3],
}

impl Default for Neighborhood {
    fn default() -> Self {
        Self {
            flags: [0; BLOCK],
            unknown: [[0; BLOCK]; 3],
            solid: [[0; BLOCK]; 3],
            liquid: [0; BLOCK],
            phi: [0.0; BLOCK],
            velocity: [[0.0; BLOCK]; 3],
        }
    }
}

impl Neighborhood {
    fn gather(&mut self, problem: &StressProblem<'_>, velocity: &[Field<f64>; 3], slot: usize) {
        let tiles = problem.tiles;
        problem.phi.gather::<1>(tiles, slot, &mut self.phi);
        for (liquid, phi) in self.liquid.iter_mut().zip(&self.phi) {
            *liquid = u8::from(*phi < 0.0);
        }
        for axis in 0..tiles.dims() {
            problem.flags[axis].gather::<1>(tiles, slot, &mut self.flags);
            for ((unknown, solid), &flag) in self.unknown[axis].iter_mut().zip(&mut self.solid[axis]).zip(&self.flags) {
                (*unknown, *solid) = (u8::from(is_unknown(flag)), u8::from(flag & IN_SOLID != 0));
            }
            velocity[axis].gather::<1>(tiles, slot, &mut self.velocity[axis]);
        }
    }

    /// Couplings of a row of faces of component `axis`; none of faces that are not unknown.
    fn couplings(&self, dims: usize, axis: usize, start: usize) -> [Couplings; SIDE] {
        let own = STRIDES[axis];
        let unknown = |axis: usize, at: usize| row(&self.unknown[axis], at);
        let solid = |axis: usize, at: usize| row(&self.solid[axis], at);
        let mut found = [0; SIDE];
        for (bit, (cell, next)) in [(start - own, start - own), (start, start + own)].into_iter().enumerate() {
            let (liquid, next) = (row(&self.liquid, cell), unknown(axis, next));
            for lane in 0..SIDE {
                found[lane] |= Couplings::from(liquid[lane] & next[lane]) << bit;
            }
        }
        for (number, other) in (0..dims).filter(|&other| other != axis).enumerate() {
            let across = STRIDES[other];
            for (side, (next, edge)) in
                [(start - across, start), (start + across, start + across)].into_iter().enumerate()
            {
                let place = 2 * number + side;
                let solids = [solid(axis, next), solid(other, edge), solid(other, edge - own)];
                let crossing = [unknown(other, edge), unknown(other, edge - own)];
                let next = unknown(axis, next);
                for lane in 0..SIDE {
                    let touches = solids[0][lane] | solids[1][lane] | solids[2][lane];
                    let crosses = next[lane] & crossing[0][lane] & crossing[1][lane] & (touches ^ 1);
                    let own = next[lane] & touches | crosses;
                    found[lane] |=
                        Couplings::from(own) << (EDGES + place) | Couplings::from(crosses) << (CROSSING + place);
                }
            }
        }
        for (found, &here) in found.iter_mut().zip(unknown(axis, start)) {
            *found *= Couplings::from(here);
        }
        found
    }

    /// Whether a face of component `axis` is beside one in a solid.
    fn touches_solid(&self, dims: usize, axis: usize, at: usize) -> bool {
        let solid = &self.solid[axis];
        STRIDES[..dims].iter().any(|stride| (solid[at - stride] | solid[at + stride]) != 0)
    }
}

/// The equations of a row of faces.
struct Row<'a> {
    couplings: &'a mut [Couplings; SIDE],
    diagonal: &'a mut [f32; SIDE],
    residual: &'a mut [f32; SIDE],
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
        out: &mut Row<'_>,
    ) -> f64 {
        let (dims, start) = (self.tiles.dims(), position(first.local()));
        let (velocity, near_wall) = (&around.velocity, self.walls.solids.near[first.slot()]);
        let u = row(&velocity[axis], start);
        let mut fastest: f64 = 0.0;
        if !near_wall && around.phi[start..start + SIDE].iter().all(|&phi| phi < -INTERIOR_DEPTH) {
            let couplings = interior_couplings(dims);
            let (weight, sums) = (weight(couplings), interior_sums(velocity, dims, axis, start));
            *out.couplings = [couplings; SIDE];
            *out.diagonal = [(1.0 + self.alpha * weight) as f32; SIDE];
            for lane in 0..SIDE {
                out.residual[lane] = (self.alpha * (sums[lane] - weight * u[lane])) as f32;
                fastest = fastest.max(u[lane].abs());
            }
            return fastest;
        }
        let couplings = around.couplings(dims, axis, start);
        let sums = neighbor_sums(velocity, &couplings, dims, axis, start);
        *out.couplings = couplings;
        for lane in 0..SIDE {
            let (index, at) = (first.along_row(lane), start + lane);
            (out.diagonal[lane], out.residual[lane]) = (1.0, 0.0);
            if around.unknown[axis][at] == 0 {
                continue;
            }
            let (u, weight) = (u[lane], weight(couplings[lane]));
            let drag = if near_wall && around.touches_solid(dims, axis, at) {
                self.walls.full_stress(self.tiles, self.flags, axis, index)
            } else {
                0.0
            };
            let wall = || wall_velocity(&self.walls.solids.wall.values()[index], index, axis);
            let by_walls = if drag > 0.0 { drag * (wall() - u) } else { 0.0 };
            out.diagonal[lane] = (self.mass(around, axis, at) + self.alpha * (weight + drag)) as f32;
            out.residual[lane] = (self.alpha * (sums[lane] - weight * u + by_walls)) as f32;
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

/// Single or double precision.
trait Real:
    Copy + From<u16> + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + AddAssign + SubAssign
{
}

impl<T> Real for T where
    T: Copy + From<u16> + Add<Output = T> + Sub<Output = T> + Mul<Output = T> + AddAssign + SubAssign
{
}

/// What the faces around contribute to the viscous force on a row of faces, over α.
#[inline]
fn neighbor_sums<T: Real>(
    blocks: &[[T; BLOCK]; 3],
    couplings: &[Couplings; SIDE],
    dims: usize,
    axis: usize,
    start: usize,
) -> [T; SIDE] {
    let own = STRIDES[axis];
    let is = |lane: usize, bit: usize| T::from(couplings[lane] >> bit & 1);
    let (low, high) = (row(&blocks[axis], start - own), row(&blocks[axis], start + own));
    let two = T::from(2);
    let mut sums: [T; SIDE] = std::array::from_fn(|lane| two * (is(lane, 0) * low[lane] + is(lane, 1) * high[lane]));
    for (number, other) in (0..dims).filter(|&other| other != axis).enumerate() {
        let (low, up) = (2 * number, start + STRIDES[other]);
        let high = low + 1;
        let (before, after) = (row(&blocks[axis], start - STRIDES[other]), row(&blocks[axis], up));
        let [a, b, c, d] = [up, up - own, start, start - own].map(|at| row(&blocks[other], at));
        for lane in 0..SIDE {
            sums[lane] += is(lane, EDGES + low) * before[lane] + is(lane, EDGES + high) * after[lane];
            sums[lane] += is(lane, CROSSING + high) * (a[lane] - b[lane]);
            sums[lane] -= is(lane, CROSSING + low) * (c[lane] - d[lane]);
        }
    }
    sums
}

/// [`neighbor_sums`] of a row of interior faces.
#[inline]
fn interior_sums<T: Real>(blocks: &[[T; BLOCK]; 3], dims: usize, axis: usize, start: usize) -> [T; SIDE] {
    let own = STRIDES[axis];
    let (low, high) = (row(&blocks[axis], start - own), row(&blocks[axis], start + own));
    let two = T::from(2);
    let mut sums: [T; SIDE] = std::array::from_fn(|lane| two * (low[lane] + high[lane]));
    for other in (0..dims).filter(|&other| other != axis) {
        let up = start + STRIDES[other];
        let (low, high) = (row(&blocks[axis], start - STRIDES[other]), row(&blocks[axis], up));
        let [a, b, c, d] = [up, up - own, start, start - own].map(|at| row(&blocks[other], at));
        for lane in 0..SIDE {
            sums[lane] += low[lane] + high[lane];
            sums[lane] += a[lane] - b[lane];
            sums[lane] -= c[lane] - d[lane];
        }
    }
    sums
}

/// The system of the faces of one component of a tile.
struct TileSystem<'a> {
    dims: usize,
    alpha: f32,
    rows: u64,
    couplings: &'a [Couplings],
    diagonal: &'a [f32],
}

impl TileSystem<'_> {
    /// Writes A p for component `axis`; returns its part of p·A p.
    fn apply(&self, blocks: &[[f32; BLOCK]; 3], axis: usize, out: &mut [f32]) -> f64 {
        let interior = interior_couplings(self.dims);
        let mut parts = [0.0; SIDE];
        for first in starts(self.rows) {
            let start = position(first);
            let (out, couplings) = (row_mut(out, first), row(self.couplings, first));
            let sums = if couplings.iter().all(|&couplings| couplings == interior) {
                interior_sums(blocks, self.dims, axis, start)
            } else {
                neighbor_sums(blocks, couplings, self.dims, axis, start)
            };
            let (diagonal, own) = (row(self.diagonal, first), row(&blocks[axis], start));
            for lane in 0..SIDE {
                out[lane] = diagonal[lane] * own[lane] - self.alpha * sums[lane];
                parts[lane] += f64::from(out[lane]) * f64::from(own[lane]);
            }
        }
        parts.iter().sum()
    }
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
            let mut after = before.clone();
            let mut solver = StressSolver::default();
            solver.solve(&problem, &mut after, &|_, _, _| 0.0).unwrap();
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
        let mut noise = || -> [Field<f32>; 3] {
            [0, 1, 2].map(|axis| {
                let mut field = uniform(tiles, 0.0);
                for index in tiles.indices().filter(|&index| is_unknown(flags[axis].values()[index])) {
                    field.values_mut()[index] = (random.uniform() - 0.5) as f32;
                }
                field
            })
        };
        let (a, b) = (noise(), noise());
        let mut solver = StressSolver::default();
        let rest: [Field<f64>; 3] = std::array::from_fn(|_| uniform(tiles, 0.0));
        solver.prepare(&problem, &rest, &|_, _, _| 0.0);
        let mut product = |p: &[Field<f32>; 3], q: &[Field<f32>; 3]| -> f64 {
            solver.direction = p.clone();
            solver.apply(&problem);
            let dot = |axis: usize| -> f64 {
                let pairs = q[axis].values().iter().zip(solver.applied[axis].values());
                pairs.filter(|(q, _)| **q != 0.0).map(|(&q, &applied)| f64::from(q) * f64::from(applied)).sum()
            };
            (0..3).map(dot).sum()
        };
        let (ab, ba, aa) = (product(&a, &b), product(&b, &a), product(&a, &a));
        // Rounding of single precision.
        assert!((ab - ba).abs() < 1e-6 * aa && aa > 0.0, "a·Ab = {ab}, b·Aa = {ba}, a·Aa = {aa}");
    }
}
