//! Solids on the grid: distance, open fraction of faces, and the wetting of the nearest wall.
//!
//! s is the signed distance to the nearest solid in cells, negative inside, at cell centers. The
//! open fraction of a face is the part of it outside all solids, from s at its four corners (the
//! polygon of marching squares); so a plane tilted to the grid is as accurate as an aligned one. A
//! side of the domain, which is parallel to faces, closes its part of them.
//! Faces open by less than `MIN_OPEN_FRACTION` count as closed.
//!
//! The domain's walls and symmetry planes are half-spaces among the solids. What wets is the walls
//! alone: their distance continues beyond a symmetry plane as its image
//! ([`mirrors`](crate::mirrors)).
//!
//! Limit: a solid thinner than about two cells is not resolved, and an edge is as sharp as a cell.

use glam::{DVec2, DVec3};
use rayon::prelude::*;
use sessile_wetting::Wetting;
use sessile_world::{Pose, World};

use crate::covered_walls::SolidDistances;
use crate::grid::{Grid, gradient, laplacian, local_center, smooth_gradient};
use crate::mirrors::Mirrors;
use crate::tiles::{CELLS, CellIndex, Field, SIDE, Tiles};

/// Distances below this, in cells, are zero: a wall aligned with faces lies in them, however its
/// position was rounded.
const ROUNDING: f64 = 1e-9;
/// Faces open by less than this are closed: they cost an unknown and carry nothing.
const MIN_OPEN_FRACTION: f64 = 1e-3;
/// Distance from a wall up to which it is sampled, in cells.
pub const SOLID_BAND: f64 = 6.0;
/// Centers closer to a wall than this count as inside, in cells: on a plane through cell centers
/// rounding would decide for each cell.
const INSIDE_TOLERANCE: f64 = 1e-6;
/// Laplacian of the distance below which a wall is flat, per cell.
const FLAT_LAPLACIAN: f64 = 1e-6;
/// Distance from the center of a cell beyond its corners, in cells: half its diagonal, rounded up.
const BEYOND_CORNERS: f64 = 0.87;
/// s of cells farther than [`SOLID_BAND`] from every solid.
const FAR_DISTANCE: f64 = 100.0;

/// Wetting of the wall nearest to a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wall {
    /// Index of the solid; the domain's sides follow the scene's solids.
    pub solid: u32,
    /// Texture coordinates of the nearest point.
    pub uv: [f32; 2],
    /// Advancing angle on dry surface, in rad.
    pub advancing: f64,
    /// Advancing angle on wet surface, in rad; the dry one without wetting history.
    pub wet_advancing: f64,
    /// Receding angle, in rad.
    pub receding: f64,
    /// Bound on the receding line force, in N/m.
    pub receding_limit: f64,
}

/// A side of the domain: liquid is where normal · x > offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DomainSide {
    /// Unit normal into the domain.
    pub normal: DVec3,
    /// Position of the side along `normal`, in m.
    pub offset: f64,
    /// Its wetting.
    pub wetting: Wetting,
    /// Whether it is a symmetry plane.
    pub symmetry: bool,
}

/// All that liquid can touch.
#[derive(Clone, Copy)]
pub struct Boundaries<'a> {
    /// The scene's solids.
    pub world: &'a World,
    /// The domain's walls and mirrors.
    pub sides: &'a [DomainSide],
}

impl Boundaries<'_> {
    /// Signed distance to the nearest wall, in m.
    pub fn signed_distance(&self, point: DVec3) -> f64 {
        let sides = self.sides.iter().map(|side| side.normal.dot(point) - side.offset);
        sides.fold(self.world.signed_distance(point), f64::min)
    }

    /// Part of a face along `axis`, with its center at `center`, that lies before all sides; `h` is
    /// the side of a cell (in m).
    ///
    /// A face in a side is closed. Sides are parallel to faces: cut out of the distance to all
    /// walls, a face in the corner between a side and a solid would lose half of its opening.
    fn share_of_face(&self, center: DVec3, axis: usize, h: f64) -> f64 {
        let share = |side: &DomainSide| {
            let distance = (side.normal.dot(center) - side.offset) / h;
            let is_in_plane = side.normal[axis] != 0.0;
            if is_in_plane { f64::from(u8::from(distance > ROUNDING)) } else { (0.5 + distance).clamp(0.0, 1.0) }
        };
        self.sides.iter().map(share).product()
    }

    /// The image of a point beyond mirrors; the point itself before them.
    fn image(&self, mut point: DVec3) -> DVec3 {
        for side in self.sides.iter().filter(|side| side.symmetry) {
            point -= 2.0 * (side.normal.dot(point) - side.offset).min(0.0) * side.normal;
        }
        point
    }

    /// Signed distance to the surface of all walls and mirrors, in m, from the distances to the
    /// solids; `h` is the side of a cell (in m).
    fn surface_distance(&self, solids: &SolidDistances, point: DVec3, h: f64) -> f64 {
        self.union_distance_from(solids, point, h).min(self.mirror_distance(point))
    }

    /// Signed distance to the nearest mirror, in m; infinite without one.
    fn mirror_distance(&self, point: DVec3) -> f64 {
        let mirrors = self.sides.iter().filter(|side| side.symmetry).map(|side| side.normal.dot(point) - side.offset);
        mirrors.fold(f64::INFINITY, f64::min)
    }

    /// The nearest wall, a mirror only where no other is within `reach` (in m); `solids` are the
    /// distances from `point`.
    fn wall(&self, solids: &SolidDistances, point: DVec3, reach: f64) -> Wall {
        let image = self.image(point);
        let nearest = if image == point { solids.nearest } else { self.solid_distances(image).nearest };
        let point = image;
        let side_at = |is_mirror: bool| {
            let sides = self.sides.iter().enumerate().filter(|(_, side)| side.symmetry == is_mirror);
            let distances = sides.map(|(index, side)| (side.normal.dot(point) - side.offset, index));
            distances.min_by(|a, b| a.0.total_cmp(&b.0))
        };
        let of_side =
            |index: usize| Wall::new(self.world.solids().len() + index, DVec2::ZERO, &self.sides[index].wetting);
        let closest = nearest.map(|solid| (solid, self.world.solids()[solid].closest(point)));
        let solid = closest.filter(|(_, near)| side_at(false).is_none_or(|side| near.distance <= side.0));
        let distance = solid.map_or_else(|| side_at(false).map(|side| side.0), |(_, near)| Some(near.distance));
        match (solid, side_at(false), side_at(true)) {
            (.., Some(mirror)) if distance.is_none_or(|distance| distance > reach) => of_side(mirror.1),
            (Some((solid, near)), ..) => Wall::new(solid, near.uv, &self.world.solids()[solid].wetting_at(near.uv)),
            (None, Some(side), _) => of_side(side.1),
            (None, None, _) => Wall::default(),
        }
    }

    /// Mean velocity in the step of a wall at `point`, in m/s.
    fn velocity(&self, wall: &Wall, point: DVec3) -> DVec3 {
        self.world.solids().get(wall.solid as usize).map_or(DVec3::ZERO, |solid| solid.mean_velocity_at(point))
    }

    /// Whether any solid moves.
    fn moves(&self) -> bool {
        self.world.solids().iter().any(sessile_world::Solid::moves)
    }
}

/// Velocity of the walls on the grid; zero without a lookup while no solid moves.
pub struct WallMotion<'a> {
    boundaries: Boundaries<'a>,
    grid: &'a Grid,
    moving: bool,
}

impl<'a> WallMotion<'a> {
    /// That of the world's solids and the domain's sides, which are at rest.
    pub fn new(world: &'a World, sides: &'a [DomainSide], grid: &'a Grid) -> Self {
        let boundaries = Boundaries { world, sides };
        Self { boundaries, grid, moving: boundaries.moves() }
    }

    /// Whether any wall moves.
    pub fn any_moves(&self) -> bool {
        self.moving
    }

    /// Component `axis` of a wall's velocity at a cell's center, in m/s.
    pub fn at_cell(&self, wall: &Wall, index: CellIndex, axis: usize) -> f64 {
        if self.moving { self.boundaries.velocity(wall, self.grid.center(index))[axis] } else { 0.0 }
    }

    /// Largest |u| + |v| + |w| of the walls within two cells of the liquid, in m/s.
    pub fn fastest(&self, solids: &Solids, phi: &Field<f64>) -> f64 {
        let tiles = &self.grid.tiles;
        let in_tile = |slot: usize| {
            let speed = |local: usize| {
                let cell = CellIndex::new(slot, local);
                let wall = &solids.wall.values()[cell];
                self.boundaries.velocity(wall, self.grid.center(cell)).abs().element_sum()
            };
            let is_near =
                |local: &usize| phi.tile(slot)[*local] < 2.0 && solids.distance.tile(slot)[*local].abs() < 2.0;
            (0..tiles.cells_in_use()).filter(is_near).map(speed).fold(0.0, f64::max)
        };
        (0..tiles.len()).into_par_iter().filter(|&slot| solids.near[slot]).map(in_tile).reduce(|| 0.0, f64::max)
    }

    /// Velocity of a wall at tile coordinates `at`, in m/s.
    pub fn at(&self, wall: &Wall, at: DVec3, slot: usize) -> DVec3 {
        if self.moving { self.boundaries.velocity(wall, self.grid.position(slot, at)) } else { DVec3::ZERO }
    }
}

impl Wall {
    fn new(solid: usize, uv: DVec2, wetting: &Wetting) -> Self {
        Self {
            solid: solid as u32,
            uv: [uv.x as f32, uv.y as f32],
            advancing: wetting.advancing,
            wet_advancing: wetting.wet_advancing.unwrap_or(wetting.advancing),
            receding: wetting.receding,
            receding_limit: wetting.receding_limit.unwrap_or(f64::INFINITY),
        }
    }
}

/// Solids sampled on the grid.
#[derive(Clone, Debug)]
pub struct Solids {
    /// s at cell centers, in cells; mirrors count as walls.
    pub distance: Field<f64>,
    /// s of the walls without mirrors, beyond these that of the image; empty without mirrors.
    pub beyond_mirrors: Field<f64>,
    /// The domain's symmetry planes.
    pub mirrors: Mirrors,
    /// Open fraction of the low faces along x, y and z.
    pub open: [Field<f64>; 3],
    /// The wall nearest to each cell, a mirror only without another; valid within [`SOLID_BAND`] of
    /// one.
    pub wall: Field<Wall>,
    /// For each slot, whether a wall is within [`SOLID_BAND`] of one of its cells.
    pub near: Vec<bool>,
    /// The scene's solids when they were last sampled on all tiles: their poses, and the wetting
    /// that they were given by hand.
    pub sampled: Vec<(Pose, Option<Wetting>)>,
}

impl Default for Solids {
    fn default() -> Self {
        Self {
            distance: Field::new(FAR_DISTANCE),
            beyond_mirrors: Field::new(FAR_DISTANCE),
            mirrors: Mirrors::default(),
            open: [Field::new(1.0), Field::new(1.0), Field::new(1.0)],
            wall: Field::new(Wall::default()),
            near: Vec::new(),
            sampled: Vec::new(),
        }
    }
}

impl Solids {
    /// Samples the solids on all tiles if one of them is not as it was.
    pub fn follow(&mut self, grid: &Grid, boundaries: &Boundaries<'_>) {
        let world = boundaries.world;
        let solids = || {
            let solids = world.solids().iter().enumerate();
            solids.map(|(index, solid)| (*solid.world_from_rest(), world.material_by_hand(index)))
        };
        if !solids().eq(self.sampled.iter().copied()) {
            self.sampled.clear();
            self.sampled.extend(solids());
            self.sample(grid, boundaries, |_| true);
        }
    }

    /// Samples the solids on the tiles that are `new`.
    pub fn sample(&mut self, grid: &Grid, boundaries: &Boundaries<'_>, new: impl Fn(usize) -> bool + Sync) {
        let Self { distance, beyond_mirrors, mirrors, open: [x, y, z], wall, near, .. } = self;
        near.resize(grid.tiles.len(), false);
        let faces = (x.par_tiles_mut(), y.par_tiles_mut(), z.par_tiles_mut());
        (distance.par_tiles_mut(), faces.0, faces.1, faces.2, wall.par_tiles_mut(), near.par_iter_mut())
            .into_par_iter()
            .enumerate()
            .filter(|(slot, _)| new(*slot))
            .for_each(|(slot, (distance, x, y, z, wall, near))| {
                *near = sample_tile(grid, boundaries, slot, distance, [x, y, z], wall);
            });
        if !mirrors.is_empty() {
            let (near, distance) = (&*near, &*distance);
            beyond_mirrors.par_tiles_mut().enumerate().filter(|(slot, _)| new(*slot)).for_each(|(slot, out)| {
                if near[slot] {
                    let place = |local: usize| tile_place(grid, slot, local_center(local));
                    for (local, (out, &distance)) in out.iter_mut().zip(distance.tile(slot)).enumerate() {
                        let place = place(local);
                        let to_mirror = boundaries.mirror_distance(place) / grid.h;
                        let is_to_wall = to_mirror > 0.0 && distance < to_mirror;
                        let image = || boundaries.union_distance(boundaries.image(place), grid.h) / grid.h;
                        // Without walls it is infinite.
                        *out = (if is_to_wall { distance } else { image() }).min(FAR_DISTANCE);
                    }
                } else {
                    out.copy_from_slice(distance.tile(slot));
                }
            });
        }
    }

    /// s of the walls that wet, at cell centers, in cells: mirrors do not count.
    #[inline]
    pub fn wall_distance(&self) -> &Field<f64> {
        if self.mirrors.is_empty() { &self.distance } else { &self.beyond_mirrors }
    }

    /// Whether a cell's center lies in a solid or beyond a mirror.
    #[inline]
    pub fn contains_center(&self, index: CellIndex) -> bool {
        self.distance.values()[index] < INSIDE_TOLERANCE
    }

    /// Whether a cell's center lies in a wall that wets, where φ is the
    /// [extension](crate::contact_angle).
    #[inline]
    pub fn is_in_wall(&self, index: CellIndex) -> bool {
        self.wall_distance().values()[index] < INSIDE_TOLERANCE
    }

    /// Whether the wall near a cell is a plane.
    #[inline]
    pub fn is_flat(&self, tiles: &Tiles, index: CellIndex) -> bool {
        laplacian(tiles, self.wall_distance(), index).abs() < FLAT_LAPLACIAN
    }

    /// Curvature of the wall near a cell along a direction, positive where the solid is convex, in
    /// 1/cells.
    pub fn curvature_along(&self, tiles: &Tiles, index: CellIndex, along: DVec3) -> f64 {
        let (slot, at) = (index.slot(), local_center(index.local()));
        let [ahead, behind] = [at + along, at - along].map(|at| smooth_gradient(tiles, self.wall_distance(), slot, at));
        0.5 * (ahead - behind).dot(along)
    }

    /// Unit normal out of the wall that wets at a cell; zero where there is none.
    #[inline]
    pub fn normal(&self, tiles: &Tiles, index: CellIndex) -> DVec3 {
        gradient(tiles, self.wall_distance(), index).normalize_or_zero()
    }
}

/// Position of a place in a tile (in m), in planar runs of the middle of their layer.
fn tile_place(grid: &Grid, slot: usize, at: DVec3) -> DVec3 {
    grid.position(slot, if grid.tiles.topology().planar { at.with_z(0.5) } else { at })
}

/// Samples one tile; returns whether a wall is near.
fn sample_tile(
    grid: &Grid,
    boundaries: &Boundaries<'_>,
    slot: usize,
    distance: &mut [f64],
    mut open: [&mut [f64]; 3],
    wall: &mut [Wall],
) -> bool {
    let place = |at: DVec3| tile_place(grid, slot, at);
    let middle = boundaries.signed_distance(place(DVec3::splat(4.0))) / grid.h;
    // Half the tile's diagonal is 6.93 cells.
    if middle.abs() > SOLID_BAND + 7.0 {
        distance.fill(FAR_DISTANCE.copysign(middle));
        let share = if middle > 0.0 { 1.0 } else { 0.0 };
        open.into_iter().for_each(|faces| faces.fill(share));
        return false;
    }
    let mut near = false;
    // Part of the faces of cells with all corners on one side of the solids' surface.
    let mut uncut = [None; CELLS];
    for local in 0..CELLS {
        let center = place(local_center(local));
        let solids = boundaries.solid_distances(center);
        let [to_solids, _] = solids.least;
        uncut[local] = (to_solids.abs() > BEYOND_CORNERS * grid.h).then_some(if to_solids > 0.0 { 1.0 } else { 0.0 });
        distance[local] = boundaries.surface_distance(&solids, center, grid.h) / grid.h;
        if distance[local].abs() < SOLID_BAND {
            near = true;
            wall[local] = boundaries.wall(&solids, center, SOLID_BAND * grid.h);
        }
    }
    let mut corners = Corners::new();
    for local in 0..CELLS {
        let cell = crate::tiles::local_cell(local);
        for (axis, faces) in open.iter_mut().enumerate() {
            let outside_solids = uncut[local].unwrap_or_else(|| {
                open_fraction(corners.of_face(cell, axis, |at| boundaries.world.signed_distance(place(at))))
            });
            let center = place(local_center(local) - 0.5 * DVec3::AXES[axis]);
            let share = outside_solids * boundaries.share_of_face(center, axis, grid.h);
            faces[local] = if share < MIN_OPEN_FRACTION { 0.0 } else { share };
        }
    }
    near
}

/// Distances at the corners of a tile's cells, each found when it is first needed: near a wall only
/// few are.
struct Corners([f64; Self::N * Self::N * Self::N]);

impl Corners {
    const N: usize = SIDE + 1;

    fn new() -> Self {
        Self([f64::NAN; Self::N * Self::N * Self::N])
    }

    /// The four around the low face of a cell along `axis`, in order; `distance` is that at tile
    /// coordinates.
    fn of_face(&mut self, [i, j, k]: [usize; 3], axis: usize, distance: impl Fn(DVec3) -> f64) -> [f64; 4] {
        const STRIDES: [usize; 3] = [1, Corners::N, Corners::N * Corners::N];
        let corner = (k * Self::N + j) * Self::N + i;
        let (a, b) = (STRIDES[(axis + 1) % 3], STRIDES[(axis + 2) % 3]);
        [corner, corner + a, corner + a + b, corner + b].map(|index| {
            if self.0[index].is_nan() {
                let at = [index % Self::N, index / Self::N % Self::N, index / (Self::N * Self::N)];
                self.0[index] = distance(DVec3::from(at.map(|c| c as f64)));
            }
            self.0[index]
        })
    }
}

/// Fraction of a square where the distance is positive, from its four corners in order.
pub fn open_fraction(corners: [f64; 4]) -> f64 {
    // A face that lies in the wall, all corners at 0 up to rounding, is closed.
    let corners = corners.map(|s| if s.abs() < ROUNDING { 0.0 } else { s });
    if corners.iter().all(|&s| s <= 0.0) {
        return 0.0;
    }
    if corners.iter().all(|&s| s >= 0.0) {
        return 1.0;
    }
    const AT: [DVec2; 4] = [DVec2::new(0.0, 0.0), DVec2::new(1.0, 0.0), DVec2::new(1.0, 1.0), DVec2::new(0.0, 1.0)];
    // Area of the open polygon by the shoelace formula.
    let (mut first, mut last, mut doubled) = (None, DVec2::ZERO, 0.0);
    let mut add = |point: DVec2| {
        if first.is_none() {
            first = Some(point);
        } else {
            doubled += last.perp_dot(point);
        }
        last = point;
    };
    for n in 0..4 {
        let m = (n + 1) % 4;
        let (a, b) = (corners[n], corners[m]);
        if a > 0.0 {
            add(AT[n]);
        }
        if (a > 0.0) != (b > 0.0) {
            add(AT[n].lerp(AT[m], a / (a - b)));
        }
    }
    doubled += last.perp_dot(first.unwrap_or(last));
    (0.5 * doubled).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_open_fraction_of_a_face_is_exact_for_a_straight_edge() {
        let along = open_fraction([-0.25, -0.25, 0.75, 0.75]);
        assert!((along - 0.75).abs() < 1e-15, "{along}");
        let corner = open_fraction([0.2, -0.3, -0.8, -0.3]);
        assert!((corner - 0.5 * 0.4 * 0.4).abs() < 1e-15, "{corner}");
        let slanted = open_fraction([-0.5, 0.0, 0.5, 0.0]);
        assert!((slanted - 0.5).abs() < 1e-15, "{slanted}");
        assert_eq!(open_fraction([0.0; 4]), 0.0);
        assert_eq!(open_fraction([3e-16, 1e-16, 2e-16, 1e-16]), 0.0);
        assert_eq!(open_fraction([1.0; 4]) + open_fraction([-1.0; 4]), 1.0);
    }
}
