//! The closed surface of a spline patch over the points of the paper's droplet (fournier1998, §3.2.3 and §3.4).
//!
//! Round each level the curve is a uniform cubic B-spline; across, it is one that arches from the basis over the apex to the basis of the other side,
//! so that the top is round.
//! Control points are displaced at random by an amplitude that rises with the speed while it is low and falls away when it is high,
//! zero at rest: a(v) = A (v/v₁) e^(1 − v/v₁).

use std::f64::consts::TAU;

use glam::DVec3;
use sessile_geometry::TriMesh;
use sessile_shapes::{Detail, DropMesh};
use sessile_world::random::Stream;

use crate::springs::{Balance, Springs};

/// Largest displacement of a control point, in radii.
const AMPLITUDE: f64 = 0.08;
/// Speed at which it is reached, in m/s.
const RESTLESS: f64 = 0.05;
/// Key of the displacements among the random streams of a seed.
const DISPLACEMENT: u64 = 0x5b11;

/// Amplitude of the random displacement at a speed (in m/s), in radii.
pub fn amplitude(speed: f64) -> f64 {
    let x = speed / RESTLESS;
    AMPLITUDE * x * (1.0 - x).exp()
}

/// Displaces the control points of droplet `id`; the basis stays in its plane.
pub fn displace(balance: &mut Balance, springs: &Springs, seed: u64, id: u32, amplitude: f64) {
    if amplitude <= 0.0 {
        return;
    }
    let mut random = Stream::new(seed, &[DISPLACEMENT, u64::from(id)]);
    for (index, point) in balance.points.iter_mut().enumerate() {
        let mut axis = || amplitude * (2.0 * random.uniform() - 1.0);
        let by = DVec3::new(axis(), axis(), axis());
        *point += if index < springs.slices { by.with_z(0.0) } else { by };
    }
}

/// The surface over the plane z = 0, in the units of the balance, with base radius 1.
pub fn surface(balance: &Balance, springs: &Springs, radius: f64, detail: &Detail) -> DropMesh {
    let sectors = ((TAU * radius / detail.edge).ceil() as usize).clamp(detail.fewest, detail.most);
    let rings = (sectors / 3).max(4);
    let point = |row: usize, slice: usize| {
        if row == springs.levels {
            balance.points[row * springs.slices]
        } else {
            balance.points[row * springs.slices + slice % springs.slices]
        }
    };
    let around = |row: usize, turn: f64| {
        let at = turn * springs.slices as f64;
        let (k, t) = (at as usize, at.fract());
        // Cubic B-spline weights of the point before and of the three after.
        let weights = [
            (1.0 - t).powi(3),
            3.0 * t.powi(3) - 6.0 * t * t + 4.0,
            -3.0 * t.powi(3) + 3.0 * t * t + 3.0 * t + 1.0,
            t.powi(3),
        ];
        (0..4).map(|j| point(row, k + springs.slices - 1 + j) * (weights[j] / 6.0)).sum::<DVec3>()
    };
    // An arch from the basis over the apex to the basis of the other side, of which the first half is drawn: round on top.
    let up = |turn: f64, part: f64| {
        let other = (turn + 0.5).fract();
        let there = (0..springs.levels).map(|row| around(row, turn));
        let back = (0..springs.levels).rev().map(|row| around(row, other));
        let arch: Vec<DVec3> = there.chain([point(springs.levels, 0)]).chain(back).collect();
        clamped_spline(&arch, 0.5 * part)
    };
    let turns = |s: usize| s as f64 / sectors as f64;
    let mut mesh = TriMesh::default();
    mesh.positions.push((0..sectors).map(|s| up(turns(s), 1.0)).sum::<DVec3>() / sectors as f64);
    for ring in 1..=rings {
        let part = 1.0 - ring as f64 / rings as f64;
        mesh.positions.extend((0..sectors).map(|s| up(turns(s), part)));
    }
    let line = 1 + (rings - 1) * sectors;
    let middle = mesh.positions[line..].iter().sum::<DVec3>() / sectors as f64;
    let base = mesh.positions[line..].iter().map(|p| p.distance(middle)).sum::<f64>() / sectors as f64;
    mesh.positions.push(middle);
    for position in &mut mesh.positions {
        *position /= base;
        // What is left of the stiff springs' give.
        position.z = position.z.max(0.0);
    }
    mesh.positions[line..].iter_mut().for_each(|p| p.z = 0.0);
    let (vertex, middle) =
        (|k: usize, s: usize| (1 + k * sectors + s % sectors) as u32, mesh.positions.len() as u32 - 1);
    for s in 0..sectors {
        mesh.triangles.push([0, vertex(0, s), vertex(0, s + 1)]);
        for k in 0..rings - 1 {
            let [a, b, c, d] = [vertex(k, s), vertex(k + 1, s), vertex(k + 1, s + 1), vertex(k, s + 1)];
            mesh.triangles.extend([[a, b, c], [a, c, d]]);
        }
        mesh.triangles.push([middle, vertex(rings - 1, s + 1), vertex(rings - 1, s)]);
    }
    let on_solid = mesh.triangles.iter().map(|t| t.iter().all(|&v| v as usize >= line)).collect();
    DropMesh { mesh, on_solid }
}

/// A B-spline of degree min(3, points − 1) that begins and ends in its first and last point, at `part` of its length of parameter.
fn clamped_spline(points: &[DVec3], part: f64) -> DVec3 {
    let degree = 3.min(points.len() - 1);
    let spans = points.len() - degree;
    let at = (part * spans as f64).clamp(0.0, spans as f64);
    let span = (at as usize).min(spans - 1);
    let knot = |i: usize| (i as f64 - degree as f64).clamp(0.0, spans as f64);
    // De Boor's recursion.
    let mut d: Vec<DVec3> = (0..=degree).map(|j| points[span + j]).collect();
    for r in 1..=degree {
        for j in (r..=degree).rev() {
            let (low, high) = (knot(span + j), knot(span + j + 1 + degree - r));
            let t = if high > low { (at - low) / (high - low) } else { 0.0 };
            d[j] = d[j - 1].lerp(d[j], t);
        }
    }
    d[degree]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_patch_is_closed_and_stands_on_its_plane() {
        for (slices, levels) in [(3, 2), (6, 3), (4, 1), (12, 6)] {
            let springs = Springs { slices, levels, ..Springs::default() };
            let balance = springs.balance(2.0, DVec3::new(0.5, 0.0, -0.5));
            let built = surface(&balance, &springs, 1e-3, &Detail::default());
            let connectivity =
                sessile_geometry::connectivity::Connectivity::new(&built.mesh.triangles).expect("a surface");
            assert_eq!(connectivity.boundary().count(), 0, "{slices} × {levels}");
            assert!(built.mesh.volume() > 0.3, "{}", built.mesh.volume());
            assert!(built.on_solid.iter().any(|&on| on) && built.mesh.positions.iter().all(|p| p.z >= 0.0));
        }
    }

    #[test]
    fn the_spline_begins_and_ends_in_its_points_and_lies_between() {
        let points = [0.0, 1.0, 4.0, 5.0, 7.0].map(|x| DVec3::new(x, x * x, 0.0));
        for count in 2..=5 {
            let (first, last) = (clamped_spline(&points[..count], 0.0), clamped_spline(&points[..count], 1.0));
            assert!((first - points[0]).length() < 1e-12 && (last - points[count - 1]).length() < 1e-12);
            let half = clamped_spline(&points[..count], 0.5);
            assert!(half.x > 0.0 && half.x < points[count - 1].x, "{half}");
        }
    }

    #[test]
    fn small_displacements_vanish_at_rest_and_at_speed() {
        assert_eq!(amplitude(0.0), 0.0);
        assert!((amplitude(RESTLESS) - AMPLITUDE).abs() < 1e-12);
        assert!(amplitude(0.02) > 0.5 * AMPLITUDE && amplitude(1.0) < 1e-6);
    }
}
