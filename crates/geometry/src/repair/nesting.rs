//! Which components lie inside which, and which way each must wind.
//!
//! A component inside another that winds the other way is a cavity; one that winds the same way is buried in the solid. With
//! w the winding number outside a component and s = ±1 its own turn, w is 0 outside everything, and
//!
//! ```text
//! w = 0, s = +1   the outside of a part             kept            w = 1 inside
//! w = 0, s = −1   a part inside out                 turned, with all that lies in it
//! w = 1, s = −1   a cavity                          kept            w = 0 inside
//! w = 1, s = +1   a part buried in another          dropped         w = 1 inside
//! ```

use glam::DVec3;

use super::clean::{keep_triangles, turn};
use super::pyramid::{Pyramid, line_meets};
use crate::TriMesh;
use crate::bvh::Bounds;
use crate::connectivity::Components;

/// Components thinner than about this share of their size enclose no volume.
const FLAT: f64 = 1e-9;

/// Rays tried before a count with a hit on a rim is taken as it is.
const MAX_RAYS: usize = 8;

/// Points of a component that must all lie in another, where components cross.
const MAX_SAMPLES: usize = 64;

/// What [`turn_outwards`] did.
#[derive(Default)]
pub(super) struct Turned {
    pub flat_components: usize,
    pub turned_components: usize,
    pub buried_components: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Kept,
    Turned,
    Dropped,
}

/// Turns components that are inside out and drops those that bound no solid. The mesh must be closed; `pyramid` is over its triangles,
/// and `crossing` says whether some of them cross.
pub(super) fn turn_outwards(mesh: &mut TriMesh, components: &Components, pyramid: &Pyramid, crossing: bool) -> Turned {
    let volumes = volumes(mesh, components);
    let containers = containers(mesh, components, pyramid, &volumes, if crossing { MAX_SAMPLES } else { 1 });
    // Larger ones first, so that whatever contains a component has been decided.
    let mut order: Vec<usize> = (0..components.count).collect();
    order.sort_by(|&i, &j| volumes[j].abs().total_cmp(&volumes[i].abs()).then(i.cmp(&j)));
    let mut fate = vec![Fate::Kept; components.count];
    // For each component: whether its content is turned, and the winding number inside.
    let mut inside = vec![(false, 0); components.count];
    let mut turned = Turned::default();
    for &one in &order {
        if volumes[one] == 0.0 {
            fate[one] = Fate::Dropped;
            turned.flat_components += 1;
            continue;
        }
        let parent = containers[one]
            .iter()
            .copied()
            .min_by(|&i, &j| volumes[i as usize].abs().total_cmp(&volumes[j as usize].abs()).then(i.cmp(&j)));
        let (turned_around, winding) = parent.map_or((false, 0), |parent| inside[parent as usize]);
        let outwards = (volumes[one] > 0.0) ^ turned_around;
        (fate[one], inside[one]) = match (winding, outwards) {
            (0, true) => (if turned_around { Fate::Turned } else { Fate::Kept }, (turned_around, 1)),
            (0, false) => (if turned_around { Fate::Kept } else { Fate::Turned }, (!turned_around, 1)),
            (_, false) => (if turned_around { Fate::Turned } else { Fate::Kept }, (turned_around, 0)),
            (_, true) => (Fate::Dropped, (turned_around, 1)),
        };
        match fate[one] {
            Fate::Kept => {}
            Fate::Turned => turned.turned_components += 1,
            Fate::Dropped => turned.buried_components += 1,
        }
    }
    for (triangle, &component) in components.of_triangle.iter().enumerate() {
        if fate[component as usize] == Fate::Turned {
            turn(mesh, triangle);
        }
    }
    keep_triangles(mesh, |triangle, _| fate[components.of_triangle[triangle] as usize] != Fate::Dropped);
    turned
}

/// Signed volume of each component, in m³; exactly 0 for a flat one.
pub(super) fn volumes(mesh: &TriMesh, components: &Components) -> Vec<f64> {
    let mut sums: Vec<Option<(DVec3, f64, f64)>> = vec![None; components.count];
    for (t, &component) in components.of_triangle.iter().enumerate() {
        let [a, b, c] = mesh.corners(t);
        // Measured from a vertex of its own: far from the origin, volumes cancel badly.
        let (origin, volume, area) = sums[component as usize].get_or_insert((a, 0.0, 0.0));
        *volume += (a - *origin).dot((b - *origin).cross(c - *origin)) / 6.0;
        *area += 0.5 * (b - a).cross(c - a).length();
    }
    let volume = |&sum: &Option<(DVec3, f64, f64)>| {
        sum.map_or(0.0, |(_, volume, area)| if volume.abs() <= FLAT * area.powf(1.5) { 0.0 } else { volume })
    };
    sums.iter().map(volume).collect()
}

/// For each component, the others that it lies in: their boxes contain its box, and rays from just inside it leave them more often than they
/// enter, or less. One ray tells, unless the components cross: then as many as `num_samples` must agree.
fn containers(
    mesh: &TriMesh,
    components: &Components,
    pyramid: &Pyramid,
    volumes: &[f64],
    num_samples: usize,
) -> Vec<Vec<u32>> {
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
    for (component, inside) in containers.iter_mut().enumerate() {
        let may_contain = |other: u32| {
            let other = other as usize;
            other != component && volumes[other] != 0.0 && contains(&boxes[other], &boxes[component])
        };
        let step = members[component].len().div_ceil(num_samples);
        let samples = members[component].iter().step_by(step).copied();
        for (sample, triangle) in
            largest(mesh, &members[component]).into_iter().chain(samples).take(num_samples).enumerate()
        {
            let origin = just_inside(mesh.corners(triangle as usize), volumes[component]);
            let round = components_round(origin, mesh, components, pyramid, may_contain);
            if sample == 0 {
                *inside = round;
            } else {
                inside.retain(|container| round.contains(container));
            }
            if inside.is_empty() {
                break;
            }
        }
    }
    containers
}

/// The triangle of greatest area: the one whose normal is surest.
fn largest(mesh: &TriMesh, triangles: &[u32]) -> Option<u32> {
    let area = |t: u32| {
        let [a, b, c] = mesh.corners(t as usize);
        (b - a).cross(c - a).length_squared()
    };
    triangles.iter().copied().max_by(|&i, &j| area(i).total_cmp(&area(j)).then(j.cmp(&i)))
}

/// A point just below the middle of a triangle, in what its component encloses. On the surface itself, the walls of another component that
/// touches it there could be on either side.
fn just_inside([a, b, c]: [DVec3; 3], volume: f64) -> DVec3 {
    const DEPTH: f64 = 1e-6;
    let depth = DEPTH * (b - a).length().max((c - a).length());
    let normal = (b - a).cross(c - a).normalize_or_zero();
    (a + b + c) / 3.0 - normal * depth * volume.signum()
}

/// The components that wind round a point, of those asked for.
fn components_round(
    origin: DVec3,
    mesh: &TriMesh,
    components: &Components,
    pyramid: &Pyramid,
    is_asked_for: impl Fn(u32) -> bool,
) -> Vec<u32> {
    let mut hits: Vec<(u32, i64)> = Vec::new();
    for attempt in 0..MAX_RAYS {
        hits.clear();
        let direction = direction(attempt);
        let mut is_clear = true;
        pyramid.visit(
            |bounds| line_meets(bounds, origin, direction),
            |triangle| {
                let component = components.of_triangle[triangle as usize];
                if is_asked_for(component) {
                    match hit(mesh.corners(triangle as usize), origin, direction) {
                        Hit::None => {}
                        Hit::Through(side) => hits.push((component, side)),
                        Hit::Rim => is_clear = false,
                    }
                }
            },
        );
        if is_clear {
            break;
        }
    }
    hits.sort_unstable();
    let winds = |hits: &&[(u32, i64)]| hits.iter().map(|&(_, side)| side).sum::<i64>() != 0;
    hits.chunk_by(|a, b| a.0 == b.0).filter(winds).map(|hits| hits[0].0).collect()
}

/// Directions that no modeller draws along.
fn direction(attempt: usize) -> DVec3 {
    let turn = 0.618_033_988_749_895 * (attempt as f64 + 0.37);
    let height = 0.537 - 0.141 * attempt as f64;
    let (sin, cos) = (std::f64::consts::TAU * turn).sin_cos();
    DVec3::new(cos, height, sin).normalize()
}

enum Hit {
    None,
    /// Through the triangle, with (+1) or against (−1) its normal.
    Through(i64),
    /// On its rim, or along it: another ray will tell.
    Rim,
}

fn hit([a, b, c]: [DVec3; 3], origin: DVec3, direction: DVec3) -> Hit {
    const NEAR: f64 = 1e-10;
    let normal = (b - a).cross(c - a);
    let slope = normal.dot(direction);
    if slope.abs() <= NEAR * normal.length() {
        // The triangle is seen edge on, or has no area: its neighbors are hit instead.
        return Hit::None;
    }
    // Signed shares of the corners in the point where the ray's line meets the plane.
    let (a, b, c) = (a - origin, b - origin, c - origin);
    let shares = [b.cross(c), c.cross(a), a.cross(b)].map(|area| area.dot(direction) / slope);
    let t = normal.dot(a) / slope;
    if t <= 0.0 || shares.iter().any(|&share| share < -NEAR) {
        Hit::None
    } else if shares.iter().any(|&share| share < NEAR) {
        Hit::Rim
    } else {
        Hit::Through(if slope > 0.0 { 1 } else { -1 })
    }
}
