//! Which drops touch, or have met and flown through one another within a step: boxes first, then triangles near the place where boxes overlap.

use glam::DVec3;

use crate::drops::Drop;
use crate::mesh::{AIR, Mesh};
use crate::shape::ball_radius;

/// Two drops that touch, by index, the smaller index first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// One of them.
    pub one: usize,
    /// The other.
    pub other: usize,
    /// Where they met during the step and have flown through one another since: how far the second has to be moved to be where it was against the first, in m.
    pub back: Option<DVec3>,
}

/// Pairs of drops, in order, whose surfaces come closer than `gap` says for the two, now or where they passed one another most closely in the last `dt` seconds.
pub fn touching(drops: &[Drop], dt: f64, gap: impl Fn(&Drop, &Drop) -> f64) -> Vec<Touch> {
    let boxes: Vec<[DVec3; 2]> = drops.iter().map(|drop| drop.mesh.bounds()).collect();
    // With the way that they have come.
    let swept: Vec<[DVec3; 2]> = drops
        .iter()
        .zip(&boxes)
        .map(|(drop, &[low, high])| {
            let way = if drop.asleep { DVec3::ZERO } else { drop.velocity * dt };
            [low.min(low - way), high.max(high - way)]
        })
        .collect();
    let mut order: Vec<usize> = (0..drops.len()).collect();
    order.sort_by(|&i, &j| swept[i][0].x.total_cmp(&swept[j][0].x).then(i.cmp(&j)));
    let widest = boxes.iter().map(|[low, high]| high.x - low.x).fold(0.0, f64::max);
    let mut pairs = Vec::new();
    for (place, &i) in order.iter().enumerate() {
        for &j in &order[place + 1..] {
            // Gaps are a fraction of an edge, and an edge is a third of a radius at most.
            if swept[j][0].x > swept[i][1].x + 0.1 * widest {
                break;
            }
            let (one, other) = (i.min(j), i.max(j));
            let within = gap(&drops[i], &drops[j]);
            let apart = (swept[i][0].max(swept[j][0]) - within).cmpgt(swept[i][1].min(swept[j][1]) + within).any();
            if apart || (drops[i].asleep && drops[j].asleep) {
                continue;
            }
            if touch_at(drops, &boxes, one, other, DVec3::ZERO, within) {
                pairs.push(Touch { one, other, back: None });
            } else if let Some(back) = closest_pass(&drops[one], &drops[other], dt)
                && touch_at(drops, &boxes, one, other, back, within)
            {
                pairs.push(Touch { one, other, back: Some(back) });
            }
        }
    }
    pairs.sort_unstable_by_key(|touch| (touch.one, touch.other));
    pairs
}

/// Whether two drops touch, the second of them moved.
fn touch_at(drops: &[Drop], boxes: &[[DVec3; 2]], one: usize, other: usize, moved: DVec3, within: f64) -> bool {
    let theirs = boxes[other].map(|corner| corner + moved);
    let low = boxes[one][0].max(theirs[0]) - within;
    let high = boxes[one][1].min(theirs[1]) + within;
    if low.cmpgt(high).any() {
        return false;
    }
    let (a, b) = (&drops[one].mesh, &drops[other].mesh);
    near(a, b, moved, [low, high], within) || swallowed([a, b], [boxes[one], theirs], moved)
}

/// Where the second of two drops was against the first when they passed one another in the last `dt` seconds, against where it is, if that is farther than half the smaller one's
/// radius: then they may have flown through one another.
fn closest_pass(one: &Drop, other: &Drop, dt: f64) -> Option<DVec3> {
    let speed = other.velocity - one.velocity;
    let reach = 0.5 * ball_radius(one.volume.min(other.volume));
    if speed.length_squared() * dt * dt < reach * reach {
        return None;
    }
    let apart = other.mesh.centroid() - one.mesh.centroid();
    // |apart − speed s| is least here; before the step they were where they were found not to touch.
    let since = apart.dot(speed) / speed.length_squared();
    (since > 0.0 && since < dt).then(|| speed * -since)
}

/// Whether one of two surfaces that are apart lies inside the other, when the second is moved.
fn swallowed([a, b]: [&Mesh; 2], [mine, theirs]: [[DVec3; 2]; 2], moved: DVec3) -> bool {
    let within =
        |inner: [DVec3; 2], outer: [DVec3; 2]| inner[0].cmpge(outer[0]).all() && inner[1].cmple(outer[1]).all();
    (within(theirs, mine) && winds_round(a, b.positions[0] + moved))
        || (within(mine, theirs) && winds_round(b, a.positions[0] - moved))
}

/// Whether a closed surface goes round a point: its solid angles there sum to 4π (vanoosterom1983), not to nothing.
fn winds_round(mesh: &Mesh, point: DVec3) -> bool {
    let angles = (0..mesh.triangles.len()).map(|t| {
        let [a, b, c] = mesh.corners(t).map(|p| p - point);
        let (u, v, w) = (a.length(), b.length(), c.length());
        2.0 * a.dot(b.cross(c)).atan2(u * v * w + a.dot(b) * w + b.dot(c) * u + c.dot(a) * v)
    });
    angles.sum::<f64>() > std::f64::consts::TAU
}

/// Whether two surfaces come closer than `within` inside a box, when the second is moved.
fn near(a: &Mesh, b: &Mesh, moved: DVec3, [low, high]: [DVec3; 2], within: f64) -> bool {
    let inside = |mesh: &Mesh, moved: DVec3| -> Vec<[DVec3; 3]> {
        (0..mesh.triangles.len())
            .filter(|&t| mesh.solids[t] == AIR)
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
