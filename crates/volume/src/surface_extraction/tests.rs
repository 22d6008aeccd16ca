//! Caps of known angle on planes, spheres and meshes; and random fields.

use std::f64::consts::PI;

use glam::DVec3;
use sessile_frames::{DropState, Frame, FrameMeasures, MeasureContext, Solid, Surface, measure};
use sessile_geometry::connectivity::Connectivity;
use sessile_geometry::mesh_distance::MeshDistance;
use sessile_geometry::{Closest, Distance, TriMesh};
use sessile_world::random::Stream;

use super::{ExtractedSurface, ExtractionFields, GridPlacement, NearestWall, extract_surface};
use crate::tiles::{CellIndex, SIDE, Tiles, Topology};

/// Fields sampled on a block of tiles, and φ between the samples.
struct Sampled<'a> {
    tiles: Tiles,
    phi: Vec<f64>,
    solid: Vec<f64>,
    exact: &'a (dyn Fn(DVec3) -> f64 + Sync),
    walls: &'a [&'a dyn Distance],
    /// Volume of the only drop, if it is known.
    volume: Option<f64>,
}

const HERE: GridPlacement = GridPlacement { origin: DVec3::ZERO, h: 1.0 };

impl<'a> Sampled<'a> {
    /// Over all tiles of a cube of half width `half_width` cells around the origin, lengths in
    /// cells.
    fn new(
        half_width: f64,
        planar: bool,
        exact: &'a (dyn Fn(DVec3) -> f64 + Sync),
        walls: &'a [&'a dyn Distance],
    ) -> Self {
        let mut tiles = Tiles::new(Topology { planar, ..Topology::default() });
        let n = (half_width / SIDE as f64).ceil() as i32;
        let across = if planar { 0..1 } else { -n..n };
        let mut wanted: Vec<[i32; 3]> =
            across.flat_map(|z| (-n..n).flat_map(move |y| (-n..n).map(move |x| [x, y, z]))).collect();
        tiles.activate(&mut wanted);
        let centers: Vec<DVec3> = tiles.indices().map(|c| DVec3::from(tiles.cell(c).map(f64::from)) + 0.5).collect();
        let solid = |p: &DVec3| walls.iter().map(|wall| wall.signed_distance(*p)).fold(1e3, f64::min);
        Self {
            phi: centers.iter().map(|&p| exact(p)).collect(),
            solid: centers.iter().map(solid).collect(),
            tiles,
            exact,
            walls,
            volume: None,
        }
    }

    fn extract_surface(&self) -> ExtractedSurface {
        extract_surface(&self.tiles, HERE, self).expect("a small block")
    }
}

impl ExtractionFields for Sampled<'_> {
    fn phi(&self, cell: CellIndex) -> f64 {
        self.phi[cell]
    }

    fn solid(&self, cell: CellIndex) -> f64 {
        self.solid[cell]
    }

    fn label(&self, _cell: CellIndex) -> u32 {
        1
    }

    fn volume(&self, _drop: u32) -> Option<f64> {
        self.volume
    }

    fn phi_at(&self, point: DVec3) -> (f64, DVec3) {
        let at = |p| (self.exact)(p);
        let slope = |axis: DVec3| (at(point + 1e-4 * axis) - at(point - 1e-4 * axis)) / 2e-4;
        (at(point), DVec3::new(slope(DVec3::X), slope(DVec3::Y), slope(DVec3::Z)))
    }

    fn wall_at(&self, point: DVec3) -> Option<NearestWall> {
        let distance = |k: &usize| self.walls[*k].signed_distance(point);
        let nearest = (0..self.walls.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        Some(NearestWall {
            surface: nearest as u32,
            solid: nearest as i32,
            closest: self.walls[nearest].closest(point),
        })
    }

    fn velocity_at(&self, point: DVec3) -> DVec3 {
        2.0 * point
    }
}

struct Plane {
    normal: DVec3,
    offset: f64,
}

impl Distance for Plane {
    fn signed_distance(&self, point: DVec3) -> f64 {
        point.dot(self.normal) - self.offset
    }

    fn closest(&self, point: DVec3) -> Closest {
        let distance = self.signed_distance(point);
        Closest { point: point - distance * self.normal, normal: self.normal, distance, uv: glam::DVec2::ZERO }
    }
}

struct SprayDrop {
    center: DVec3,
    radius: f64,
}

impl Distance for SprayDrop {
    fn signed_distance(&self, point: DVec3) -> f64 {
        point.distance(self.center) - self.radius
    }

    fn closest(&self, point: DVec3) -> Closest {
        let normal = (point - self.center).normalize_or(DVec3::Y);
        let distance = self.signed_distance(point);
        Closest { point: self.center + self.radius * normal, normal, distance, uv: glam::DVec2::ZERO }
    }
}

fn check_closed(surface: &Surface, what: &str) {
    let connectivity = Connectivity::new(&surface.triangles).unwrap_or_else(|error| panic!("{what}: {error}"));
    let open = connectivity.boundary().count();
    assert_eq!(open, 0, "{what}: {open} open edges");
    let fans = (0..surface.triangles.len()).flat_map(|t| (0..3).map(move |side| (t, side)));
    let mut sizes = vec![0; surface.positions.len()];
    for &v in surface.triangles.iter().flatten() {
        sizes[v as usize] += 1;
    }
    for (t, side) in fans {
        let start = sessile_geometry::connectivity::HalfEdge::new(t, side);
        let vertex = surface.triangles[t][side];
        let fan = connectivity.fan(start).count();
        assert_eq!(fan, sizes[vertex as usize], "{what}: vertex {vertex} has more than one fan");
    }
    assert!(sizes.iter().all(|&size| size > 0), "{what}: unused vertices");
    assert!(surface.positions.iter().all(|p| p.is_finite()), "{what}: not finite");
}

fn volume(surface: &Surface) -> f64 {
    let mesh =
        TriMesh { positions: surface.positions.clone(), triangles: surface.triangles.clone(), corner_uvs: vec![] };
    mesh.volume()
}

fn measured(surface: Surface, walls: &[&dyn Distance], planar: Option<f64>) -> FrameMeasures {
    let facts = DropState { id: 1, volume: 0.0, velocity: DVec3::ZERO, speed_max: 0.0, pressure: None };
    let frame = Frame { liquid: surface.into(), drops: vec![facts], ..Frame::default() };
    let solids: Vec<Solid<'_>> = walls.iter().map(|&shape| Solid { name: "wall", shape }).collect();
    measure(&frame, 0, &[], MeasureContext { solids: &solids, planar, domain: None })
        .expect("a frame that can be measured")
}

/// Spheres of a few cells: flat triangles cut off more than the chord error of a smooth surface.
#[test]
fn small_drops_enclose_their_volume() {
    for radius in [2.2, 3.0, 5.0] {
        let center = DVec3::new(0.31, 0.17, 0.45);
        let phi = |p: DVec3| p.distance(center) - radius;
        let mut sampled = Sampled::new(8.0, false, &phi, &[]);
        sampled.volume = Some(4.0 / 3.0 * PI * radius.powi(3));
        let found = sampled.extract_surface();
        check_closed(&found.surface, "sphere");
        let ratio = volume(&found.surface) / (4.0 / 3.0 * PI * radius.powi(3));
        assert!((ratio - 1.0).abs() < 1e-4, "a sphere of {radius} cells radius encloses {ratio} of its volume");
    }
}

/// A volume that differs by more than the grid resolves stays visible.
#[test]
fn a_surface_is_moved_by_a_twentieth_of_a_cell_at_most() {
    let phi = |p: DVec3| p.length() - 5.0;
    let mut sampled = Sampled::new(8.0, false, &phi, &[]);
    sampled.volume = Some(2.0 * 4.0 / 3.0 * PI * 5.0f64.powi(3));
    let radius = (volume(&sampled.extract_surface().surface) * 3.0 / (4.0 * PI)).cbrt();
    assert!((radius - 5.05).abs() < 5e-3, "{radius}");
}

/// A drop of a few cells is not resolved; it shows its volume although its φ is 0.3 cells off.
#[test]
fn a_drop_of_a_few_cells_shows_its_volume_v1() {
    for radius in [1.1, 1.4] {
        let volume_of = |radius: f64| 4.0 / 3.0 * PI * f64::powi(radius, 3);
        let center = DVec3::new(0.31, 0.17, 0.45);
        let phi = |p: DVec3| p.distance(center) - radius;
        let mut sampled = Sampled::new(8.0, false, &phi, &[]);
        for expected in [volume_of(radius - 0.3), volume_of(radius + 0.3)] {
            sampled.volume = Some(expected);
            let found = sampled.extract_surface();
            check_closed(&found.surface, "a small drop");
            let ratio = volume(&found.surface) / expected;
            println!("{radius}: {ratio:.5}");
            assert!((ratio - 1.0).abs() < 0.01, "a drop of {expected} cells encloses {ratio} of its volume");
        }
    }
}

fn direction(random: &mut Stream) -> DVec3 {
    loop {
        let p = DVec3::from([0, 1, 2].map(|_| random.uniform_in(-1.0, 1.0)));
        if (0.01..1.0).contains(&p.length_squared()) {
            return p.normalize();
        }
    }
}

/// Relative errors of volume, height and base radius, and the errors of the mean angle and of the
/// worst, in degrees.
fn cap_errors(theta: f64, plane: &Plane, foot: DVec3) -> [f64; 5] {
    const R: f64 = 10.0;
    let center = foot - R * theta.cos() * plane.normal;
    let phi = |p: DVec3| p.distance(center) - R;
    let walls: [&dyn Distance; 1] = [plane];
    let found = Sampled::new(24.0, false, &phi, &walls).extract_surface();
    check_closed(&found.surface, "cap");
    let (c, base) = (theta.cos(), R * theta.sin());
    let exact = PI * R.powi(3) * (2.0 + c) * (1.0 - c) * (1.0 - c) / 3.0;
    let of_volume = volume(&found.surface) / exact - 1.0;
    let drop = measured(found.surface, &walls, None).drops.remove(0);
    let angle = drop.contact_angle_deg.expect("a contact line");
    let degrees = theta.to_degrees();
    [
        of_volume,
        drop.height / (R * (1.0 - c)) - 1.0,
        drop.base_radius / base - 1.0,
        angle.mean - degrees,
        f64::max((angle.min - degrees).abs(), (angle.max - degrees).abs()),
    ]
}

#[test]
fn extracted_caps_have_the_exact_measures_on_any_plane() {
    let mut random = Stream::new(5, &[]);
    for degrees in [30.0, 60.0, 90.0, 120.0, 150.0_f64] {
        for trial in 0..4 {
            let normal = if trial == 0 { DVec3::Y } else { direction(&mut random) };
            let foot = DVec3::from([0, 1, 2].map(|_| random.uniform_in(-1.0, 1.0)));
            let plane = Plane { normal, offset: foot.dot(normal) };
            let [volume, height, base, mean, worst] = cap_errors(degrees.to_radians(), &plane, foot);
            let what = format!("{degrees}° on {normal}");
            assert!(volume.abs() < 1e-3, "{what}: volume off by {:.3} %", 100.0 * volume);
            // A hundredth of a cell, which is 0.8 % of the height of the flattest.
            let low = if degrees < 45.0 { 0.01 } else { 0.004 };
            assert!(height.abs() < low, "{what}: height off by {:.3} %", 100.0 * height);
            assert!(base.abs() < 0.004, "{what}: base radius off by {:.3} %", 100.0 * base);
            assert!(mean.abs() < 0.2 && worst < 0.3, "{what}: angle off by {mean:.2}°, at most {worst:.2}°");
        }
    }
}

/// A cap of radius R that meets a ball of radius S at θ: the centers are D apart, D² = R² + S² − 2
/// R S cos θ.
fn on_ball(theta: f64, ball: &SprayDrop, wall: &dyn Distance) -> (ExtractedSurface, FrameMeasures) {
    const R: f64 = 10.0;
    let distance = (R * R + ball.radius.powi(2) - 2.0 * R * ball.radius * theta.cos()).sqrt();
    let center = ball.center + distance * DVec3::new(0.48, 0.6, 0.64);
    let phi = move |p: DVec3| p.distance(center) - R;
    let walls = [wall];
    let found = Sampled::new(32.0, false, &phi, &walls).extract_surface();
    check_closed(&found.surface, "on a ball");
    let measures = measured(found.surface.clone(), &walls, None);
    (found, measures)
}

#[test]
fn extracted_caps_on_spheres_have_the_exact_angle_and_lie_on_the_sphere() {
    let ball = SprayDrop { center: DVec3::new(-4.3, -5.1, -6.2), radius: 15.0 };
    for degrees in [40.0, 90.0, 140.0_f64] {
        let (found, measures) = on_ball(degrees.to_radians(), &ball, &ball);
        let angle = measures.drops[0].contact_angle_deg.expect("a contact line");
        assert!((angle.mean - degrees).abs() < 0.5, "{degrees}: {angle:?}");
        assert!(angle.max - angle.min < 1.0, "{degrees}: {angle:?}");
        for (triangle, _) in found.surface.triangles.iter().zip(&found.surface.solids).filter(|(_, solid)| **solid == 0)
        {
            let off = triangle.map(|v| ball.signed_distance(found.surface.positions[v as usize]).abs());
            assert!(off.iter().all(|&off| off < 1e-9), "a wetted vertex {off:?} off the ball");
        }
    }
}

/// A sphere of 1280 triangles with edges of two to three cells: its facets meet at 10°, so the
/// angle varies by some degrees along the line.
#[test]
fn extracted_caps_on_a_mesh_have_the_exact_mean_angle() {
    let ball = SprayDrop { center: DVec3::new(-4.3, -5.1, -6.2), radius: 15.0 };
    let mesh = MeshDistance::new(round_mesh(&ball, 3));
    for degrees in [60.0, 120.0_f64] {
        let (_, measures) = on_ball(degrees.to_radians(), &ball, &mesh);
        let angle = measures.drops[0].contact_angle_deg.expect("a contact line");
        assert!((angle.mean - degrees).abs() < 2.0, "{degrees}: {angle:?}");
    }
}

/// An octahedron whose triangles are subdivided `times` + 1 times, on a sphere.
fn round_mesh(ball: &SprayDrop, times: usize) -> TriMesh {
    let corners = [DVec3::X, DVec3::Y, DVec3::Z, DVec3::NEG_X, DVec3::NEG_Y, DVec3::NEG_Z];
    let faces = [[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]];
    let mut triangles: Vec<[DVec3; 3]> = faces.iter().map(|face| face.map(|v: usize| corners[v])).collect();
    for _ in 0..=times {
        triangles = triangles
            .into_iter()
            .flat_map(|[a, b, c]| {
                let [ab, bc, ca] = [(a + b).normalize(), (b + c).normalize(), (c + a).normalize()];
                [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
            })
            .collect();
    }
    let mut mesh = TriMesh::default();
    let mut places: Vec<DVec3> = triangles.iter().flatten().copied().collect();
    let key = |p: &DVec3| (*p * 1e6).round().to_array().map(|c| c as i64);
    places.sort_unstable_by_key(key);
    places.dedup_by_key(|p| key(p));
    let index = |p: DVec3| places.binary_search_by_key(&key(&p), key).unwrap() as u32;
    mesh.triangles = triangles.iter().map(|triangle| triangle.map(index)).collect();
    mesh.positions = places.iter().map(|&p| ball.center + ball.radius * p).collect();
    mesh
}

/// Sums of a few waves: bodies of every topology, cut by walls of the same kind.
fn waves(random: &mut Stream, shortest: f64) -> impl Fn(DVec3) -> f64 + Sync + use<> {
    let terms: Vec<(DVec3, f64, f64)> = (0..5)
        .map(|_| {
            let wave = direction(random) * std::f64::consts::TAU / random.uniform_in(shortest, 3.0 * shortest);
            (wave, random.uniform_in(0.0, 6.0), random.uniform_in(0.5, 1.0))
        })
        .collect();
    move |p| terms.iter().map(|(wave, phase, size)| size * (wave.dot(p) + phase).sin()).sum::<f64>() + 0.4
}

/// A wall known only by a field: the nearest point is taken to be the point itself, so vertices
/// stay where the tetrahedra put them.
struct FieldWall<F>(F);

impl<F: Fn(DVec3) -> f64 + Send + Sync> Distance for FieldWall<F> {
    fn signed_distance(&self, point: DVec3) -> f64 {
        (self.0)(point)
    }

    fn closest(&self, point: DVec3) -> Closest {
        Closest { point, normal: DVec3::Y, distance: 0.0, uv: glam::DVec2::ZERO }
    }
}

#[test]
fn random_fields_give_closed_manifold_surfaces() {
    for seed in 0..12 {
        let mut random = Stream::new(seed, &[]);
        // Waves of two cells are noise: every tetrahedron is cut, and nothing is smooth.
        let shortest = if seed % 2 == 0 { 9.0 } else { 2.0 };
        let (phi, solid) = (waves(&mut random, shortest), FieldWall(waves(&mut random, shortest)));
        let walls: [&dyn Distance; 1] = [&solid];
        for planar in [false, true] {
            let mut fields = Sampled::new(8.0, planar, &phi, &walls);
            if seed == 3 {
                // Values of exactly zero, on both.
                fields.phi.iter_mut().chain(&mut fields.solid).for_each(|v| *v = (2.0 * *v).round());
            }
            let found = fields.extract_surface();
            assert!(found.surface.triangles.len() > 100, "seed {seed}: nothing to see");
            check_closed(&found.surface, &format!("seed {seed}, planar {planar}"));
            assert!(volume(&found.surface) > 0.0, "seed {seed}: inside out");
        }
    }
}

/// A circle of ten cells on a floor, at 120°: area, angle and the slab's thickness.
#[test]
fn a_planar_drop_is_a_slab_of_one_cell() {
    let (theta, r) = (120_f64.to_radians(), 10.0);
    let plane = Plane { normal: DVec3::new(0.6, 0.8, 0.0), offset: 0.3 };
    let center = DVec3::new(0.3, -0.2, 0.0);
    let center = center + (plane.offset - r * theta.cos() - center.dot(plane.normal)) * plane.normal;
    let phi = |p: DVec3| (p - center).truncate().length() - r;
    let walls: [&dyn Distance; 1] = [&plane];
    let found = Sampled::new(24.0, true, &phi, &walls).extract_surface();
    check_closed(&found.surface, "slab");
    let inside = |p: &DVec3| (0.0..=1.0).contains(&p.z);
    assert!(found.surface.positions.iter().all(inside), "the slab is thicker than a cell");
    let area = r * r * (theta - theta.sin() * theta.cos());
    let error = volume(&found.surface) / area - 1.0;
    assert!(error.abs() < 2e-3, "area off by {:.3} %", 100.0 * error);
    let drop = measured(found.surface, &walls, Some(1.0)).drops.remove(0);
    let angle = drop.contact_angle_deg.expect("a contact line");
    assert!((angle.mean - 120.0).abs() < 1.0, "{angle:?}");
    assert!((drop.base_radius / (r * theta.sin()) - 1.0).abs() < 0.005, "base {}", drop.base_radius);
}

/// A disc of 20 cells radius contains whole tiles, whose flat ends belong to the slab's surface.
#[test]
fn planar_slabs_are_closed_over_full_tiles_v2() {
    for center in [DVec3::ZERO, DVec3::new(3.3, -1.7, 0.0)] {
        let phi = |p: DVec3| (p - center).truncate().length() - 20.0;
        let found = Sampled::new(32.0, true, &phi, &[]).extract_surface();
        check_closed(&found.surface, "disc");
        let error = volume(&found.surface) / (PI * 400.0) - 1.0;
        assert!(error.abs() < 1e-3, "area off by {:.3} %", 100.0 * error);
    }
}

#[test]
fn a_drop_in_a_corner_is_assigned_to_both_solids() {
    let (floor, wall) = (Plane { normal: DVec3::Y, offset: -3.2 }, Plane { normal: DVec3::X, offset: -4.1 });
    let phi = |p: DVec3| p.distance(DVec3::new(-1.0, 0.0, 0.2)) - 9.0;
    let walls: [&dyn Distance; 2] = [&floor, &wall];
    let found = Sampled::new(16.0, false, &phi, &walls).extract_surface();
    check_closed(&found.surface, "corner");
    let drop = measured(found.surface.clone(), &walls, None).drops.remove(0);
    assert_eq!(drop.contacts.len(), 2, "{drop:?}");
    for (contact, (solid, distance)) in drop.contacts.iter().zip([(0, 3.2), (1, 3.1_f64)]) {
        // cos θ = −d/R: the center is that far above the surface.
        let expected = (-distance / 9.0_f64).acos().to_degrees();
        let angle = contact.contact_angle_deg.expect("a contact line");
        assert!((angle.mean - expected).abs() < 1.5, "solid {solid}: {angle:?}, not {expected}");
    }
    assert!(found.surface.velocities.iter().zip(&found.surface.positions).all(|(v, p)| *v == 2.0 * *p));
}

/// Labels by the side of the plane x = 0 on which a cell is.
struct Labeled<'a>(Sampled<'a>, [u32; 2]);

impl ExtractionFields for Labeled<'_> {
    fn phi(&self, cell: CellIndex) -> f64 {
        self.0.phi(cell)
    }
    fn solid(&self, cell: CellIndex) -> f64 {
        self.0.solid(cell)
    }
    fn label(&self, cell: CellIndex) -> u32 {
        self.1[usize::from(self.0.tiles.cell(cell)[0] >= 0)]
    }
    fn volume(&self, _drop: u32) -> Option<f64> {
        None
    }
    fn phi_at(&self, point: DVec3) -> (f64, DVec3) {
        self.0.phi_at(point)
    }
    fn wall_at(&self, point: DVec3) -> Option<NearestWall> {
        self.0.wall_at(point)
    }
    fn velocity_at(&self, point: DVec3) -> DVec3 {
        point
    }
}

#[test]
fn components_get_the_label_of_their_cells_and_unlabeled_ones_are_left_out() {
    let ball = |p: DVec3, x: f64| p.distance(DVec3::new(x, 0.1, 0.2)) - 4.5;
    let apart = |p: DVec3| ball(p, -7.0).min(ball(p, 6.0));
    let named = |labels, phi| {
        let liquid = Labeled(Sampled::new(16.0, false, phi, &[]), labels);
        extract_surface(&liquid.0.tiles, HERE, &liquid).unwrap()
    };
    let both = named([3, 8], &apart);
    let label_at = |extract_surface: &ExtractedSurface, right: bool| {
        let vertices = extract_surface
            .surface
            .positions
            .iter()
            .zip(&extract_surface.surface.drops)
            .filter(|(p, _)| (p.x > 0.0) == right);
        let mut labels: Vec<u32> = vertices.map(|(_, &label)| label).collect();
        labels.dedup();
        labels
    };
    assert_eq!((label_at(&both, false), label_at(&both, true)), (vec![3], vec![8]));
    assert!(both.joined.is_empty() && both.unlabeled == 0);
    let one = named([3, 0], &apart);
    assert_eq!((label_at(&one, false), label_at(&one, true), one.unlabeled), (vec![3], vec![], 1));
    check_closed(&one.surface, "what is left");
    // One body with two labels gets that of the larger part.
    let together = |p: DVec3| ball(p, -4.0).min(ball(p, 1.0));
    let joined = named([3, 8], &together);
    assert_eq!((label_at(&joined, true), &joined.joined[..]), (vec![3], &[(8, 3)][..]));
}

#[test]
fn results_are_bit_identical_for_any_number_of_threads() {
    let mut random = Stream::new(1, &[]);
    let (phi, solid) = (waves(&mut random, 8.0), FieldWall(waves(&mut random, 8.0)));
    let walls: [&dyn Distance; 1] = [&solid];
    let fields = Sampled::new(24.0, false, &phi, &walls);
    let [one, three] = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fields.extract_surface())
    });
    assert!(one == three);
}
