//! Containment of components in each other, and the orientation that each must have.
//!
//! A component inside another with opposite orientation is a cavity; one with the same orientation
//! is buried in the solid. With w the winding number around a component and s = ±1 its orientation,
//!
//! ```text
//! w = 0, s = +1   the outside of a part             kept            w = 1 inside
//! w = 0, s = −1   an inverted part                  flipped, with everything inside it
//! w = 1, s = −1   a cavity                          kept            w = 0 inside
//! w = 1, s = +1   a part buried in another          removed         w = 1 inside
//! ```

use glam::DVec3;
use sessile_numerics::math;

use super::degenerate::{flip, keep_triangles};
use super::linear_bvh::{LinearBvh, line_hits};
use crate::TriMesh;
use crate::bvh::Bounds;
use crate::connectivity::Components;

/// Components thinner than about this fraction of their size enclose no volume.
const FLATNESS: f64 = 1e-9;

/// Rays tried before a count with a hit on an edge is accepted.
const MAX_RAYS: usize = 8;

/// The result of [`orient_outwards`].
#[derive(Default)]
pub(super) struct Oriented {
    pub flat_components: usize,
    pub inverted_components: usize,
    pub buried_components: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    Keep,
    Flip,
    Drop,
}

/// Flips inverted components and removes those that bound no solid. The mesh must be closed and
/// free of self-intersections; `bvh` contains its triangles.
pub(super) fn orient_outwards(mesh: &mut TriMesh, components: &Components, bvh: &LinearBvh) -> Oriented {
    let volumes = volumes(mesh, components);
    let containers = containers(mesh, components, bvh, &volumes);
    // In descending order of volume, so that containers are decided before their contents.
    let mut order: Vec<usize> = (0..components.count).collect();
    order.sort_by(|&i, &j| volumes[j].abs().total_cmp(&volumes[i].abs()).then(i.cmp(&j)));
    let mut action = vec![Action::Keep; components.count];
    // For each component: whether its content is flipped, and the winding number inside.
    let mut inside = vec![(false, 0); components.count];
    let mut oriented = Oriented::default();
    for &one in &order {
        if volumes[one] == 0.0 {
            action[one] = Action::Drop;
            oriented.flat_components += 1;
            continue;
        }
        let parent = containers[one]
            .iter()
            .copied()
            .min_by(|&i, &j| volumes[i as usize].abs().total_cmp(&volumes[j as usize].abs()).then(i.cmp(&j)));
        let (flipped, winding) = parent.map_or((false, 0), |parent| inside[parent as usize]);
        let outwards = (volumes[one] > 0.0) ^ flipped;
        (action[one], inside[one]) = match (winding, outwards) {
            (0, true) => (if flipped { Action::Flip } else { Action::Keep }, (flipped, 1)),
            (0, false) => (if flipped { Action::Keep } else { Action::Flip }, (!flipped, 1)),
            (_, false) => (if flipped { Action::Flip } else { Action::Keep }, (flipped, 0)),
            (_, true) => (Action::Drop, (flipped, 1)),
        };
        match action[one] {
            Action::Keep => {}
            Action::Flip => oriented.inverted_components += 1,
            Action::Drop => oriented.buried_components += 1,
        }
    }
    for (triangle, &component) in components.of_triangle.iter().enumerate() {
        if action[component as usize] == Action::Flip {
            flip(mesh, triangle);
        }
    }
    keep_triangles(mesh, |triangle, _| action[components.of_triangle[triangle] as usize] != Action::Drop);
    oriented
}

/// Signed volume of each component, in m³; exactly 0 for a flat one.
pub(super) fn volumes(mesh: &TriMesh, components: &Components) -> Vec<f64> {
    let mut sums: Vec<Option<(DVec3, f64, f64)>> = vec![None; components.count];
    for (t, &component) in components.of_triangle.iter().enumerate() {
        let [a, b, c] = mesh.corners(t);
        // Relative to a vertex of the component: far from the origin, volumes suffer from
        // cancellation.
        let (origin, volume, area) = sums[component as usize].get_or_insert((a, 0.0, 0.0));
        *volume += (a - *origin).dot((b - *origin).cross(c - *origin)) / 6.0;
        *area += 0.5 * (b - a).cross(c - a).length();
    }
    let volume = |&sum: &Option<(DVec3, f64, f64)>| {
        sum.map_or(0.0, |(_, volume, area)| if volume.abs() <= FLATNESS * math::powf(area, 1.5) { 0.0 } else { volume })
    };
    sums.iter().map(volume).collect()
}

/// For each component, the others that contain it: their boxes contain its box, and a ray from just
/// inside it leaves them more or less often than it enters them.
fn containers(mesh: &TriMesh, components: &Components, bvh: &LinearBvh, volumes: &[f64]) -> Vec<Vec<u32>> {
    let mut containers = vec![Vec::new(); components.count];
    if components.count == 1 {
        return containers;
    }
    let mut boxes = vec![Bounds::EMPTY; components.count];
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); components.count];
    for (t, &component) in (0_u32..).zip(&components.of_triangle) {
        let bounds = &mut boxes[component as usize];
        *bounds = bounds.union(Bounds::of(mesh.corners(t as usize)));
        members[component as usize].push(t);
    }
    let contains =
        |outer: &Bounds, inner: &Bounds| outer.low.cmple(inner.low).all() && outer.high.cmpge(inner.high).all();
    for (component, containers) in containers.iter_mut().enumerate() {
        let may_contain = |other: u32| {
            let other = other as usize;
            other != component && volumes[other] != 0.0 && contains(&boxes[other], &boxes[component])
        };
        if let Some(triangle) = largest(mesh, &members[component]) {
            let origin = just_inside(mesh.corners(triangle as usize), volumes[component]);
            *containers = components_around(origin, mesh, components, bvh, may_contain);
        }
    }
    containers
}

/// The triangle of greatest area, whose normal is the most accurate.
fn largest(mesh: &TriMesh, triangles: &[u32]) -> Option<u32> {
    let area = |t: u32| {
        let [a, b, c] = mesh.corners(t as usize);
        (b - a).cross(c - a).length_squared()
    };
    triangles.iter().copied().max_by(|&i, &j| area(i).total_cmp(&area(j)).then(j.cmp(&i)))
}

/// A point just behind the center of a triangle, inside its component. On the surface itself,
/// another component that touches it could be on either side.
fn just_inside([a, b, c]: [DVec3; 3], volume: f64) -> DVec3 {
    const DEPTH: f64 = 1e-6;
    let depth = DEPTH * (b - a).length().max((c - a).length());
    let normal = (b - a).cross(c - a).normalize_or_zero();
    (a + b + c) / 3.0 - normal * depth * volume.signum()
}

/// The components that enclose a point, among the candidates.
fn components_around(
    origin: DVec3,
    mesh: &TriMesh,
    components: &Components,
    bvh: &LinearBvh,
    is_candidate: impl Fn(u32) -> bool,
) -> Vec<u32> {
    let mut hits: Vec<(u32, i64)> = Vec::new();
    for attempt in 0..MAX_RAYS {
        hits.clear();
        let direction = direction(attempt);
        let mut is_unambiguous = true;
        bvh.visit(
            |bounds| line_hits(bounds, origin, direction),
            |triangle| {
                let component = components.of_triangle[triangle as usize];
                if is_candidate(component) {
                    match hit(mesh.corners(triangle as usize), origin, direction) {
                        Hit::None => {}
                        Hit::Through(side) => hits.push((component, side)),
                        Hit::Edge => is_unambiguous = false,
                    }
                }
            },
        );
        if is_unambiguous {
            break;
        }
    }
    hits.sort_unstable();
    let is_enclosed = |hits: &&[(u32, i64)]| hits.iter().map(|&(_, side)| side).sum::<i64>() != 0;
    hits.chunk_by(|a, b| a.0 == b.0).filter(is_enclosed).map(|hits| hits[0].0).collect()
}

/// Directions that are unlikely to be aligned with a model.
fn direction(attempt: usize) -> DVec3 {
    let turn = 0.618_033_988_749_895 * (attempt as f64 + 0.37);
    let height = 0.537 - 0.141 * attempt as f64;
    let (sin, cos) = math::sin_cos(std::f64::consts::TAU * turn);
    DVec3::new(cos, height, sin).normalize()
}

enum Hit {
    None,
    /// Through the interior, along (+1) or against (−1) the normal.
    Through(i64),
    /// On an edge, which is ambiguous.
    Edge,
}

fn hit([a, b, c]: [DVec3; 3], origin: DVec3, direction: DVec3) -> Hit {
    const NEAR: f64 = 1e-10;
    let normal = (b - a).cross(c - a);
    let cosine = normal.dot(direction);
    if cosine.abs() <= NEAR * normal.length() {
        // The triangle is parallel to the ray or has no area: its neighbors are hit instead.
        return Hit::None;
    }
    // Barycentric coordinates of the intersection of the ray's line with the plane.
    let (a, b, c) = (a - origin, b - origin, c - origin);
    let barycentrics = [b.cross(c), c.cross(a), a.cross(b)].map(|area| area.dot(direction) / cosine);
    let t = normal.dot(a) / cosine;
    if t <= 0.0 || barycentrics.iter().any(|&weight| weight < -NEAR) {
        Hit::None
    } else if barycentrics.iter().any(|&weight| weight < NEAR) {
        Hit::Edge
    } else {
        Hit::Through(if cosine > 0.0 { 1 } else { -1 })
    }
}
