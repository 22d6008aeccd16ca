//! Detection of drops that touch, or that passed through each other within a step.
//!
//! Sweep over bounding boxes first, then triangles in the overlap of two boxes.

use glam::DVec3;
use sessile_numerics::{math, sphere_radius};

use crate::drop::{Drop, DropIndex};
use crate::mesh::{Interface, Mesh};

/// Two drops that touch; the lower index comes first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Index of the first drop.
    pub first: DropIndex,
    /// Index of the second drop.
    pub second: DropIndex,
    /// Displacement of the second drop, in m, to its position relative to the first when they met,
    /// if they passed through each other since.
    pub back: Option<DVec3>,
}

/// Pairs of drops whose surfaces come closer than the smaller of their `gaps`, in m, now or at
/// their closest approach in the last `dt` seconds; sorted. Pairs of which neither has moved are
/// left out.
pub fn find_touching(drops: &[Drop], dt: f64, gaps: &[f64]) -> Vec<Touch> {
    let moved: Vec<bool> = drops.iter().map(|drop| drop.advanced > 0.0).collect();
    if !moved.contains(&true) {
        return Vec::new();
    }
    let boxes: Vec<[DVec3; 2]> = drops.iter().map(|drop| drop.bounds).collect();
    // Bounding boxes swept over the step.
    let swept: Vec<[DVec3; 2]> = drops
        .iter()
        .zip(&boxes)
        .map(|(drop, &[low, high])| {
            let path = drop.velocity * drop.advanced;
            [low.min(low - path), high.max(high - path)]
        })
        .collect();
    let mut order: Vec<DropIndex> = DropIndex::first(drops.len()).collect();
    order.sort_by(|&i, &j| swept[i][0].x.total_cmp(&swept[j][0].x).then(i.cmp(&j)));
    let widest = boxes.iter().map(|[low, high]| high.x - low.x).fold(0.0, f64::max);
    // In that order, for a loop over many drops of which few touch.
    let begins: Vec<(f64, bool)> = order.iter().map(|&i| (swept[i][0].x, moved[i])).collect();
    let mut pairs = Vec::new();
    for (rank, &i) in order.iter().enumerate() {
        // A gap is a fraction of an edge, and an edge at most a third of a radius.
        let (end, i_moved) = (swept[i][1].x + 0.1 * widest, moved[i]);
        for (&(begin, j_moved), &j) in begins[rank + 1..].iter().zip(&order[rank + 1..]) {
            if begin > end {
                break;
            }
            if !(i_moved || j_moved) {
                continue;
            }
            let (first, second, within) = (i.min(j), i.max(j), gaps[i].min(gaps[j]));
            let apart = (swept[i][0].max(swept[j][0]) - within).cmpgt(swept[i][1].min(swept[j][1]) + within).any();
            if apart {
                continue;
            }
            if touch_at(drops, &boxes, [first, second], DVec3::ZERO, within) {
                pairs.push(Touch { first, second, back: None });
            } else if let Some(back) = closest_approach(&drops[first], &drops[second], dt)
                && touch_at(drops, &boxes, [first, second], back, within)
            {
                pairs.push(Touch { first, second, back: Some(back) });
            }
        }
    }
    pairs.sort_unstable_by_key(|touch| (touch.first, touch.second));
    pairs
}

/// Whether two drops touch when the second is moved.
fn touch_at(drops: &[Drop], boxes: &[[DVec3; 2]], [one, other]: [DropIndex; 2], moved: DVec3, within: f64) -> bool {
    let theirs = boxes[other].map(|corner| corner + moved);
    let low = boxes[one][0].max(theirs[0]) - within;
    let high = boxes[one][1].min(theirs[1]) + within;
    if low.cmpgt(high).any() {
        return false;
    }
    let (a, b) = (&drops[one].mesh, &drops[other].mesh);
    near(a, b, moved, [low, high], within) || encloses([a, b], [boxes[one], theirs], moved)
}

/// Displacement of the second drop, in m, to its position relative to the first at their closest
/// approach in the last `dt` seconds.
///
/// `None` if they moved by less than half the smaller radius relative to each other: then they
/// cannot have passed through each other.
fn closest_approach(one: &Drop, other: &Drop, dt: f64) -> Option<DVec3> {
    let relative = other.velocity - one.velocity;
    let limit = 0.5 * sphere_radius(one.volume.min(other.volume));
    if relative.length_squared() * dt * dt < limit * limit {
        return None;
    }
    let apart = other.mesh.centroid() - one.mesh.centroid();
    // |apart − relative s| is smallest at s = elapsed; before the step they did not touch.
    let elapsed = apart.dot(relative) / relative.length_squared();
    (elapsed > 0.0 && elapsed < dt).then(|| relative * -elapsed)
}

/// Whether one of two disjoint surfaces encloses the other when the second is moved.
fn encloses([a, b]: [&Mesh; 2], [mine, theirs]: [[DVec3; 2]; 2], moved: DVec3) -> bool {
    let within =
        |inner: [DVec3; 2], outer: [DVec3; 2]| inner[0].cmpge(outer[0]).all() && inner[1].cmple(outer[1]).all();
    (within(theirs, mine) && is_inside(a, b.positions[0] + moved))
        || (within(mine, theirs) && is_inside(b, a.positions[0] - moved))
}

/// Whether a point is inside a closed surface: the solid angles of its triangles sum to 4π there
/// (vanoosterom1983), and to 0 outside.
fn is_inside(mesh: &Mesh, point: DVec3) -> bool {
    let angles = mesh.triangle_indices().map(|t| {
        let [a, b, c] = mesh.corners(t).map(|p| p - point);
        let (u, v, w) = (a.length(), b.length(), c.length());
        2.0 * math::atan2(a.dot(b.cross(c)), u * v * w + a.dot(b) * w + b.dot(c) * u + c.dot(a) * v)
    });
    angles.sum::<f64>() > std::f64::consts::TAU
}

/// Whether two surfaces come closer than `within`, in m, inside a box when the second is moved.
fn near(a: &Mesh, b: &Mesh, moved: DVec3, [low, high]: [DVec3; 2], within: f64) -> bool {
    let inside = |mesh: &Mesh, moved: DVec3| -> Vec<[DVec3; 3]> {
        mesh.triangle_indices()
            .filter(|&t| mesh.interfaces[t] == Interface::Air)
            .map(|t| mesh.corners(t).map(|p| p + moved))
            .filter(|[p, q, r]| p.min(*q).min(*r).cmple(high).all() && p.max(*q).max(*r).cmpge(low).all())
            .collect()
    };
    let (mine, theirs) = (inside(a, DVec3::ZERO), inside(b, moved));
    if mine.is_empty() || theirs.is_empty() {
        return false;
    }
    let reach = within * within;
    let any = |from: &[[DVec3; 3]], to: &[[DVec3; 3]]| {
        from.iter().any(|corners| {
            let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
            to.iter().any(|triangle| {
                [corners[0], corners[1], corners[2], middle].iter().any(|p| distance_squared(*p, triangle) < reach)
            })
        })
    };
    any(&mine, &theirs) || any(&theirs, &mine)
}

/// Squared distance of a point from a triangle, in m² (after ericson2005, §5.1.5).
fn distance_squared(p: DVec3, [a, b, c]: &[DVec3; 3]) -> f64 {
    let (ab, ac, ap) = (*b - *a, *c - *a, p - *a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return ap.length_squared();
    }
    let bp = p - *b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return bp.length_squared();
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return (ap - ab * (d1 / (d1 - d3))).length_squared();
    }
    let cp = p - *c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return cp.length_squared();
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return (ap - ac * (d2 / (d2 - d6))).length_squared();
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        let w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return (bp - (*c - *b) * w).length_squared();
    }
    let normal = ab.cross(ac);
    ap.dot(normal).powi(2) / normal.length_squared()
}
