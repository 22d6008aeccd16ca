//! Integration compared with closed forms, on regular and on badly shaped meshes.

use std::f64::consts::PI;

use glam::{DMat3, DQuat};
use sessile_geometry::TriMesh;
use sessile_world::random::Stream;

use super::*;
use crate::damped_motion::DampedMotion;
use crate::surface_mesh::TriangleIndex;
use crate::surface_mesh::t_junctions::tests::repair;
use crate::surface_mesh::tests::{sheet, surface_of};

/// Constant gravity, retention and drag; detaches at a bound on the outward acceleration.
#[derive(Clone, Copy)]
struct Plain {
    gravity: DVec3,
    retention: f64,
    rate: f64,
    adhesion: f64,
    radius: f64,
}

impl Plain {
    fn new(gravity: DVec3) -> Self {
        Self { gravity, retention: 0.0, rate: 0.0, adhesion: f64::INFINITY, radius: 1e-3 }
    }
}

impl ForceModel for Plain {
    const VARIES: bool = false;
    type Local = DVec2;

    fn local(&self, facet: &Facet, _at: SurfacePoint) -> DVec2 {
        facet.project(self.gravity)
    }

    fn forces_at(&self, &acceleration: &DVec2, _velocity: DVec2) -> Forces {
        Forces { acceleration, retention: self.retention, drag_rate: self.rate, drag_slope: 0.0 }
    }

    fn detaches(&self, facet: &Facet, _at: SurfacePoint, centrifugal: f64) -> bool {
        centrifugal + self.gravity.dot(facet.normal()) > self.adhesion
    }

    fn leaves_border(&self, _facet: &Facet, _at: SurfacePoint, _outward: DVec2, _speed: f64) -> bool {
        self.adhesion.is_finite()
    }

    fn radius(&self) -> f64 {
        self.radius
    }
}

/// A drag rate that grows with the speed, as for water.
struct Inertial(Plain);

impl ForceModel for Inertial {
    const VARIES: bool = true;
    type Local = DVec2;

    fn local(&self, facet: &Facet, at: SurfacePoint) -> DVec2 {
        self.0.local(facet, at)
    }

    fn forces_at(&self, here: &DVec2, velocity: DVec2) -> Forces {
        let forces = self.0.forces_at(here, velocity);
        let root = velocity.length().sqrt();
        let slope = if root > 0.0 { forces.drag_rate / root } else { 0.0 };
        Forces { drag_rate: forces.drag_rate * (1.0 + 2.0 * root), drag_slope: slope, ..forces }
    }

    fn detaches(&self, facet: &Facet, at: SurfacePoint, centrifugal: f64) -> bool {
        self.0.detaches(facet, at, centrifugal)
    }

    fn leaves_border(&self, facet: &Facet, at: SurfacePoint, outward: DVec2, speed: f64) -> bool {
        self.0.leaves_border(facet, at, outward, speed)
    }

    fn radius(&self) -> f64 {
        self.0.radius
    }
}

/// The point of a sheet in z = 0.
fn at(surface: &SurfaceMesh, point: DVec3) -> SurfacePoint {
    let inside = |t: &usize| {
        let facet = &surface.facets()[*t];
        facet.depth(facet.project(point - facet.origin)) >= -1e-12
    };
    let triangle = TriangleIndex::new((0..surface.facets().len()).find(inside).expect("on the sheet"));
    SurfacePoint { triangle, at: surface.facet(triangle).project(point - surface.facet(triangle).origin) }
}

fn start(surface: &SurfaceMesh, point: DVec3, velocity: DVec3) -> MotionState {
    let place = at(surface, point);
    MotionState { place, velocity: surface.facet(place.triangle).project(velocity) }
}

/// The closed form in a plane, for any triangulation.
#[test]
fn the_path_does_not_depend_on_the_triangulation_of_a_plane() {
    let model = Plain { rate: 3.0, ..Plain::new(DVec3::new(0.4, -4.9, -8.5)) };
    let (from, velocity) = (DVec3::new(-0.2, 0.35, 0.0), DVec3::new(0.3, 0.1, 0.0));
    let expected = |time: f64| {
        let plane = |v: DVec3| v.truncate();
        let motion = DampedMotion::new(plane(from), plane(velocity), plane(model.gravity), model.rate);
        DVec2::from(motion.after(time).0)
    };
    for cells in [1, 2, 4, 8, 16, 224] {
        let surface = surface_of(&sheet(1.0, 1.0, cells, cells));
        let mut motion = start(&surface, from, velocity);
        let mut crossed = 0;
        for step in 1..=20 {
            let end = integrate(&surface, &model, &mut motion, 0.03, |_| crossed += 1);
            assert_eq!(end, TrajectoryEnd::Moving);
            let time = 0.03 * f64::from(step);
            let off = motion.place.point(&surface).truncate().distance(expected(time));
            assert!(off < 1e-9, "{} triangles, t = {time}: off by {off:.1e} m", 2 * cells * cells);
        }
        assert!(crossed > cells, "{crossed} pieces over {cells} cells");
    }
}

/// With retention and varying drag: intervals are cut by time, so triangles do not matter.
#[test]
fn a_retained_and_turning_path_does_not_depend_on_the_triangulation() {
    let model = Inertial(Plain { rate: 4.0, retention: 2.0, ..Plain::new(DVec3::new(0.0, -4.9, -8.5)) });
    let run = |cells: usize| {
        let surface = surface_of(&sheet(1.0, 1.0, cells, cells));
        let mut motion = start(&surface, DVec3::new(-0.3, 0.3, 0.0), DVec3::new(0.9, 0.2, 0.0));
        for _ in 0..20 {
            integrate(&surface, &model, &mut motion, 1.0 / 60.0, |_| {});
        }
        motion.place.point(&surface)
    };
    let coarse = run(1);
    for cells in [2, 4, 8, 16, 224] {
        let off = run(cells).distance(coarse);
        assert!(off < 1e-9, "{} triangles: off by {off:.1e} m", 2 * cells * cells);
    }
}

/// dv/dt = a − h v/|v| − λ(1 + 2√|v|) v by fine classical Runge–Kutta steps.
fn runge_kutta(a: DVec2, retention: f64, rate: f64, mut p: DVec2, mut v: DVec2, time: f64) -> DVec2 {
    let steps = 20_000;
    let dt = time / f64::from(steps);
    let force = |v: DVec2| a - v.normalize_or_zero() * retention - v * rate * (1.0 + 2.0 * v.length().sqrt());
    for _ in 0..steps {
        let k1 = force(v);
        let k2 = force(v + k1 * (0.5 * dt));
        let k3 = force(v + k2 * (0.5 * dt));
        let k4 = force(v + k3 * dt);
        p += v * dt + (k1 + k2 + k3) * (dt * dt / 6.0);
        v += (k1 + 2.0 * k2 + 2.0 * k3 + k4) * (dt / 6.0);
    }
    p
}

#[test]
fn a_turning_path_under_retention_and_varying_drag_is_accurate_to_2e_4() {
    let plain = Plain { rate: 4.0, retention: 2.0, ..Plain::new(DVec3::new(0.0, -4.9, -8.5)) };
    let (from, velocity) = (DVec3::new(-0.3, 0.3, 0.0), DVec3::new(0.9, 0.2, 0.0));
    let surface = surface_of(&sheet(1.0, 1.0, 7, 7));
    let mut motion = start(&surface, from, velocity);
    for _ in 0..20 {
        integrate(&surface, &Inertial(plain), &mut motion, 1.0 / 60.0, |_| {});
    }
    let expected = runge_kutta(
        plain.gravity.truncate(),
        plain.retention,
        plain.rate,
        from.truncate(),
        velocity.truncate(),
        1.0 / 3.0,
    );
    let moved = expected.distance(from.truncate());
    let off = motion.place.point(&surface).truncate().distance(expected) / moved;
    // Between first and second order in the 3 % change per interval: 5e-5 measured.
    assert!(off < 2e-4, "off by {off:.1e} of {moved} m");
}

/// A fast landing in a viscous liquid loses most of its speed in a small part of the step.
#[test]
fn a_droplet_slowed_within_a_step_travels_the_right_distance() {
    let surface = surface_of(&sheet(1.0, 1.0, 7, 7));
    let (from, velocity) = (DVec3::new(-0.3, 0.3, 0.0), DVec3::new(0.0, -2.0, 0.0));
    for (rate, retention, pull) in [
        (40.0, 0.5, 0.3),
        (40.0, 0.5, 0.6),
        (8.0, 0.5, 0.3),
        (8.0, 6.0, 5.0),
        (200.0, 0.01, 0.1),
        (300.0, 485.0, 8.0),
        (100.0, 60.0, 8.0),
    ] {
        let plain = Plain { rate, retention, ..Plain::new(DVec3::new(0.0, -pull, -8.5)) };
        let mut motion = start(&surface, from, velocity);
        integrate(&surface, &Inertial(plain), &mut motion, 1.0 / 24.0, |_| {});
        let expected =
            runge_kutta(plain.gravity.truncate(), retention, rate, from.truncate(), velocity.truncate(), 1.0 / 24.0);
        let moved = expected.distance(from.truncate());
        let off = motion.place.point(&surface).truncate().distance(expected) / moved;
        // 2.2e-3 measured where it comes to a stop, 5e-4 otherwise.
        assert!(off < 3e-3, "drag {rate}/s, retention {retention}, pull {pull} m/s²: off by {off:.1e} of {moved} m");
    }
}

#[test]
fn straight_retained_motion_is_the_closed_form_to_1e_9() {
    let model = Plain { rate: 5.0, retention: 6.0, ..Plain::new(DVec3::new(0.0, -4.0, -9.0)) };
    let surface = surface_of(&sheet(1.0, 1.0, 9, 9));
    let mut motion = start(&surface, DVec3::new(0.013, 0.4, 0.0), DVec3::new(0.0, -0.7, 0.0));
    // dU/dt = 4 − 6 − 5 U: stops after ln(1 + 5·0.7/2)/5 at the distance 0.7/5 − (2/25) ln(1 +
    // 5·0.7/2).
    let (time, way) = ((1.0_f64 + 1.75).ln() / 5.0, 0.14 - 0.08 * 2.75_f64.ln());
    let end = integrate(&surface, &model, &mut motion, 0.9 * time, |_| {});
    assert_eq!(end, TrajectoryEnd::Moving);
    let expected = 0.7 * (-4.5 * time).exp() - 0.4 * (1.0 - (-4.5 * time).exp());
    assert!(
        (motion.velocity.length() / expected - 1.0).abs() < 1e-9,
        "{} m/s for {expected}",
        motion.velocity.length()
    );
    let end = integrate(&surface, &model, &mut motion, time, |_| {});
    assert_eq!(end, TrajectoryEnd::AtRest);
    let got = 0.4 - motion.place.point(&surface).y;
    assert!((got / way - 1.0).abs() < 1e-9, "came {got} m for {way}");
}

/// A droplet in a valley is caught by its crease and slides along it; over a ridge it keeps its
/// speed.
#[test]
fn a_valley_catches_a_droplet_and_a_ridge_does_not_slow_it() {
    let fold = |dip: f64| {
        let mut mesh = sheet(0.4, 0.4, 8, 8);
        mesh.positions.iter_mut().for_each(|p| p.z = dip * p.x.abs());
        surface_of(&mesh)
    };
    let point = |surface: &SurfaceMesh, x: f64, y: f64| {
        let z = surface.facets().iter().enumerate().find_map(|(t, f)| {
            let flat = |p: DVec3| p.truncate();
            let n = f.normal();
            let z = f.origin.z - (n.x * (x - f.origin.x) + n.y * (y - f.origin.y)) / n.z;
            let local = f.project(DVec3::new(x, y, z) - f.origin);
            (f.depth(local) >= -1e-12).then_some((t, local, flat(f.origin)))
        });
        let (t, local, _) = z.expect("on the mesh");
        SurfacePoint { triangle: TriangleIndex::new(t), at: local }
    };
    let valley = fold(0.8);
    let model = Plain { rate: 4.0, ..Plain::new(DVec3::new(0.0, -2.0, -9.6)) };
    let mut motion = MotionState { place: point(&valley, 0.13, 0.17), velocity: DVec2::ZERO };
    for _ in 0..40 {
        integrate(&valley, &model, &mut motion, 0.01, |_| {});
    }
    let place = motion.place.point(&valley);
    assert!(place.x.abs() < 1e-4 && place.y < 0.1, "it slides along the valley: {place}");
    let speed = valley.facet(motion.place.triangle).lift(motion.velocity);
    // Along the crease with 2 m/s² and a drag of 4/s from nearly rest: slightly below 0.5 m/s.
    assert!(speed.y < -0.3 && speed.x.abs() < 1e-3, "{speed}");

    let ridge = fold(-0.8);
    let model = Plain::new(DVec3::ZERO);
    let place = point(&ridge, -0.05, 0.013);
    let velocity = ridge.facet(place.triangle).project(DVec3::new(1.0, 0.1, 0.8)).normalize() * 0.5;
    let mut motion = MotionState { place, velocity };
    let end = integrate(&ridge, &model, &mut motion, 0.2, |_| {});
    let after = motion.place.point(&ridge);
    assert!(end == TrajectoryEnd::Moving && after.x > 0.02, "over the ridge: {after}");
    assert!((motion.velocity.length() - 0.5).abs() < 1e-12, "{} m/s", motion.velocity.length());
}

/// A bumpy closed surface with slivers: a sphere of random radii, stretched.
fn bumpy_sphere(around: usize, up: usize, seed: u64) -> TriMesh {
    let mut mesh = TriMesh::default();
    let mut random = Stream::new(seed, &[]);
    let turn = DMat3::from_quat(DQuat::from_rotation_x(0.3));
    let mut push = |mesh: &mut TriMesh, polar: f64, azimuth: f64| {
        let radius = 0.05 * (1.0 + 0.25 * (random.uniform() - 0.5));
        let direction = DVec3::new(polar.sin() * azimuth.cos(), polar.cos(), polar.sin() * azimuth.sin());
        mesh.positions.push(turn * (direction * radius * DVec3::new(1.0, 1.7, 0.6)));
    };
    push(&mut mesh, 0.0, 0.0);
    for j in 1..up {
        // Some rings are close together: slivers.
        let polar = PI
            * (j as f64
                + if j % 3 == 0 {
                    0.49
                } else if j % 3 == 1 {
                    -0.49
                } else {
                    0.0
                })
            / up as f64;
        for i in 0..around {
            push(&mut mesh, polar, std::f64::consts::TAU * i as f64 / around as f64);
        }
    }
    push(&mut mesh, PI, 0.0);
    let last = mesh.positions.len() as u32 - 1;
    let vertex = |i: usize, j: usize| (1 + (j - 1) * around + i % around) as u32;
    for i in 0..around {
        mesh.triangles.push([0, vertex(i + 1, 1), vertex(i, 1)]);
        mesh.triangles.push([last, vertex(i, up - 1), vertex(i + 1, up - 1)]);
        for j in 1..up - 1 {
            let [a, b, c, d] = [vertex(i, j), vertex(i + 1, j), vertex(i + 1, j + 1), vertex(i, j + 1)];
            mesh.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    mesh
}

/// Shoots droplets over a badly shaped mesh without drag until `wanted` edges are crossed; returns
/// the number of crossings.
///
/// Each segment is inside its triangle up to rounding, and energy does not increase.
fn shoot(surface: &SurfaceMesh, wanted: u64) -> u64 {
    let mut crossed = 0_u64;
    let mut shot = 0_u64;
    while crossed < wanted {
        let mut random = Stream::new(77, &[shot]);
        shot += 1;
        let triangle = TriangleIndex::new(random.index(surface.facets().len()));
        let facet = surface.facet(triangle);
        let (a, b) = (random.uniform(), random.uniform());
        let (a, b) = if a + b > 1.0 { (1.0 - a, 1.0 - b) } else { (a, b) };
        // Every fourth one is aimed exactly at a corner.
        let place = facet.corners[0] * (1.0 - a - b) + facet.corners[1] * a + facet.corners[2] * b;
        let angle = random.uniform_in(0.0, std::f64::consts::TAU);
        let velocity = if shot.is_multiple_of(4) {
            (facet.corners[shot as usize / 4 % 3] - place).normalize()
        } else {
            DVec2::from_angle(angle)
        };
        let mut motion = MotionState {
            place: SurfacePoint { triangle, at: place },
            velocity: velocity * random.uniform_in(0.1, 3.0),
        };
        let gravity = 10.0 * DVec3::new(random.uniform() - 0.5, random.uniform() - 0.5, random.uniform() - 0.5);
        let model = Plain { radius: 1e-4, ..Plain::new(if shot.is_multiple_of(3) { DVec3::ZERO } else { gravity }) };
        let energy = |motion: &MotionState| {
            0.5 * motion.velocity.length_squared() - model.gravity.dot(motion.place.point(surface))
        };
        let before = energy(&motion);
        integrate(surface, &model, &mut motion, 2.0, |segment| {
            crossed += 1;
            let facet = surface.facet(segment.triangle);
            let scale = facet.edge_lengths.into_iter().fold(0.0, f64::max);
            let depth = facet.depth(segment.from).min(facet.depth(segment.to));
            assert!(depth > -1e-12 * scale, "shot {shot}: {depth:.1e} m outside triangle {}", segment.triangle);
        });
        assert!(motion.velocity.is_finite() && motion.place.at.is_finite(), "shot {shot}: {motion:?}");
        let gained = energy(&motion) - before;
        assert!(gained < 1e-9 * (1.0 + before.abs()), "shot {shot} gained {gained:.1e} J/kg");
    }
    crossed
}

/// SESSILE_CROSSINGS=10000000 tests ten million crossings.
#[test]
fn energy_never_increases_and_no_droplet_is_lost_on_a_bad_mesh() {
    let wanted = std::env::var("SESSILE_CROSSINGS").ok().and_then(|count| count.parse().ok()).unwrap_or(400_000);
    let closed = surface_of(&repair(bumpy_sphere(24, 18, 5)).expect("it can be repaired").mesh);
    assert!(shoot(&closed, wanted) >= wanted);
    // Open, with holes whose borders retain the droplets.
    let mut open = bumpy_sphere(20, 15, 6);
    open.triangles.retain(|t| !t.contains(&17) && !t.contains(&90));
    let open = surface_of(&repair(open).expect("it can be repaired").mesh);
    assert!(shoot(&open, wanted / 2) >= wanted / 2);
}

/// Without friction or adhesion a body leaves a sphere where cos = 2/3.
#[test]
fn a_frictionless_droplet_leaves_a_sphere_at_48_degrees() {
    let radius = 0.1;
    let (around, up) = (360, 180);
    let mut mesh = bumpy_sphere(around, up, 1);
    let ring = |j: usize| PI * j as f64 / up as f64;
    mesh.positions[0] = DVec3::Y * radius;
    for j in 1..up {
        for i in 0..around {
            let azimuth = std::f64::consts::TAU * i as f64 / around as f64;
            mesh.positions[1 + (j - 1) * around + i] =
                radius * DVec3::new(ring(j).sin() * azimuth.cos(), ring(j).cos(), ring(j).sin() * azimuth.sin());
        }
    }
    *mesh.positions.last_mut().expect("some") = DVec3::NEG_Y * radius;
    let surface = surface_of(&mesh);
    for (adhesion, expected) in [(0.0, 2.0 / 3.0), (4.9, 0.5), (19.6, 0.0)] {
        let model = Plain { adhesion, ..Plain::new(DVec3::NEG_Y * 9.8) };
        let triangle = TriangleIndex::first(surface.facets().len())
            .find(|&t| {
                (2.0..4.0)
                    .contains(&(surface.facet(t).point(surface.facet(t).centroid()).y / radius).acos().to_degrees())
            })
            .expect("near the top");
        let mut motion = MotionState {
            place: SurfacePoint { triangle, at: surface.facet(triangle).centroid() },
            velocity: DVec2::ZERO,
        };
        let top = motion.place.point(&surface).y / radius;
        let end = (0..400)
            .map(|_| integrate(&surface, &model, &mut motion, 0.01, |_| {}))
            .find(|&end| end != TrajectoryEnd::Moving);
        assert!(matches!(end, Some(TrajectoryEnd::Detached { .. })), "{end:?}");
        let cos = motion.place.point(&surface).y / radius;
        // From c₀ on: 2(c₀ − c) − c = a/g.
        let expected = expected + 2.0 / 3.0 * (top - 1.0);
        assert!((cos - expected).abs() < 0.02, "adhesion {adhesion}: leaves at cos {cos:.4}, expected {expected:.4}");
    }
}
