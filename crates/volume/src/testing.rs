//! Shapes with known solutions, for tests.

use glam::DVec3;
use sessile_frames::DropId;
use sessile_scene::{NoFiles, parse_str, text};
use sessile_wetting::Liquid;
use sessile_world::World;

use crate::advection::Interpolation;
use crate::contact_angle::{AngleLaw, AngleRange};
use crate::grid::Grid;
use crate::parameters::{NumericalParameters, Parameters};
use crate::solids::{Boundaries, Solids, Wall};
use crate::tiles::{Field, Tiles, Topology};

/// A small pseudo-random number generator.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A unit vector.
    pub fn direction(&mut self) -> DVec3 {
        let z = 2.0 * self.uniform() - 1.0;
        let (sin, cos) = (std::f64::consts::TAU * self.uniform()).sin_cos();
        let across = (1.0 - z * z).sqrt();
        DVec3::new(across * cos, across * sin, z)
    }

    /// A point of the unit cube.
    pub fn point(&mut self) -> DVec3 {
        DVec3::new(self.uniform(), self.uniform(), self.uniform())
    }
}

/// Parameters of water with the default schemes.
pub fn test_parameters() -> Parameters {
    Parameters {
        liquid: Liquid { density: 1000.0, viscosity: 1e-6, surface_tension: 0.073, refractive_index: 1.33 },
        slip: 0.0,
        moving_line: None,
        second_order: true,
        virtual_surface: None,
        paper_operators: false,
        interpolation: Interpolation::Cubic,
        dt: None,
        drag: 0.0,
        implicit_tension: false,
        numerics: NumericalParameters::default(),
    }
}

/// 4 × 4 × 4 tiles around the origin, without solids.
pub fn free_space() -> (Tiles, Solids) {
    let mut tiles = Tiles::new(Topology::default());
    tiles.activate(&mut (0..64).map(|n| [n % 4 - 2, n / 4 % 4 - 2, n / 16 - 2]).collect());
    let solids = no_solids(&tiles);
    (tiles, solids)
}

/// Solids far away from all tiles.
pub fn no_solids(tiles: &Tiles) -> Solids {
    let mut solids = Solids::default();
    solids.distance.resize(tiles);
    solids.open.iter_mut().for_each(|open| open.resize(tiles));
    solids.wall.resize(tiles);
    solids.near.resize(tiles.len(), false);
    solids
}

/// A field of one value.
pub fn uniform<T: Copy + Send + Sync>(tiles: &Tiles, value: T) -> Field<T> {
    let mut field = Field::new(value);
    field.resize(tiles);
    field
}

/// A field given by its value at cell centers, in cells from the origin.
pub fn sampled(tiles: &Tiles, value: impl Fn(DVec3) -> f64) -> Field<f64> {
    let mut field = uniform(tiles, 0.0);
    for index in tiles.indices() {
        field.values_mut()[index] = value(DVec3::from(tiles.cell(index).map(f64::from)) + 0.5);
    }
    field
}

/// A contact angle without hysteresis.
pub fn fixed_angle(angle: f64) -> AngleRange {
    AngleRange { receding: angle, advancing: angle, receding_pull: f64::INFINITY, static_speed: None }
}

/// The wall's dry advancing angle everywhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct Advancing;

impl AngleLaw for Advancing {
    fn range(&self, wall: &Wall) -> AngleRange {
        fixed_angle(wall.advancing)
    }
}

/// A world with one plane through `point` (in m) and the contact angle `theta`.
pub fn plane_world(theta: f64, normal: DVec3, point: DVec3) -> World {
    let angle = theta.to_degrees();
    let (DVec3 { x, y, z }, normal) = (point, normal.to_array());
    let text = text::header("volume", "")
        + &text::material("m", angle, angle)
        + &format!("[[solids]]\nname = \"p\"\nmaterial = \"m\"\nnormal = {normal:?}\npoint = \"{x} {y} {z} m\"\n")
        + &text::sphere("radius = \"1 m\"", [0.0; 3], [0.0; 3]);
    let scene = parse_str("test", &text, &[], &NoFiles).expect("a valid scene").scene;
    World::build(&scene).expect("a valid world")
}

/// A spherical cap on a plane, its cells of size 1.
pub struct CapOnPlane {
    pub grid: Grid,
    pub solids: Solids,
    pub phi: Field<f64>,
    pub ball_radius: f64,
}

/// A cap with base radius `base` cells on a plane through `point`.
pub fn cap_on_plane(theta: f64, base: f64, normal: DVec3, point: DVec3) -> CapOnPlane {
    let world = plane_world(theta, normal, point);
    let ball_radius = base / theta.sin();
    let center = point - normal * (ball_radius * theta.cos());
    let mut tiles = Tiles::new(Topology::default());
    let range_in_tiles = ((ball_radius + 8.0) / 8.0).ceil() as i32;
    let range = || -range_in_tiles - 1..=range_in_tiles;
    let mut wanted: Vec<[i32; 3]> =
        range().flat_map(|x| range().flat_map(move |y| range().map(move |z| [x, y, z]))).collect();
    wanted.retain(|tile| {
        let middle = DVec3::from(tile.map(|c| 8.0 * f64::from(c) + 4.0));
        (middle - center).length() < ball_radius + 14.0 && (middle - point).dot(normal) > -16.0
    });
    tiles.activate(&mut wanted);
    let grid = Grid { tiles, h: 1.0, origin: DVec3::ZERO };
    let mut solids = Solids::default();
    solids.distance.resize(&grid.tiles);
    solids.open.iter_mut().for_each(|open| open.resize(&grid.tiles));
    solids.wall.resize(&grid.tiles);
    solids.sample(&grid, &Boundaries { world: &world, sides: &[] }, |_| true);
    let mut phi = Field::new(10.0);
    phi.resize(&grid.tiles);
    for index in grid.tiles.indices() {
        phi.values_mut()[index] = (grid.center(index) - center).length() - ball_radius;
    }
    CapOnPlane { grid, solids, phi, ball_radius }
}

/// The id with a positive number.
pub fn drop_id(number: u32) -> DropId {
    DropId::new(number).expect("the number is positive")
}
