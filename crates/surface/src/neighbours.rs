//! Which drops touch: boxes first, then triangles near the place where boxes overlap.

use glam::DVec3;

use crate::drops::Drop;
use crate::mesh::{AIR, Mesh};
use crate::shape::ball_radius;

/// Pairs of drops (by index, the smaller first, in order) whose surfaces come closer than `gap` says for the two.
pub fn touching(drops: &[Drop], gap: impl Fn(&Drop, &Drop) -> f64) -> Vec<(usize, usize)> {
    let boxes: Vec<[DVec3; 2]> = drops.iter().map(|drop| drop.mesh.bounds()).collect();
    let mut order: Vec<usize> = (0..drops.len()).collect();
    order.sort_by(|&i, &j| boxes[i][0].x.total_cmp(&boxes[j][0].x).then(i.cmp(&j)));
    let widest = boxes.iter().map(|[low, high]| high.x - low.x).fold(0.0, f64::max);
    let mut pairs = Vec::new();
    for (place, &i) in order.iter().enumerate() {
        for &j in &order[place + 1..] {
            // Gaps are a fraction of an edge, and an edge is a third of a radius at most.
            if boxes[j][0].x > boxes[i][1].x + 0.1 * widest {
                break;
            }
            let within = gap(&drops[i], &drops[j]);
            let low = boxes[i][0].max(boxes[j][0]) - within;
            let high = boxes[i][1].min(boxes[j][1]) + within;
            let asleep = drops[i].asleep && drops[j].asleep;
            if low.cmple(high).all()
                && !asleep
                && (near(&drops[i].mesh, &drops[j].mesh, [low, high], within) || swallowed(drops, &boxes, i, j))
            {
                pairs.push((i.min(j), i.max(j)));
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

/// Whether one of two drops whose surfaces are apart lies inside the other.
fn swallowed(drops: &[Drop], boxes: &[[DVec3; 2]], i: usize, j: usize) -> bool {
    let within = |a: usize, b: usize| boxes[a][0].cmpge(boxes[b][0]).all() && boxes[a][1].cmple(boxes[b][1]).all();
    let inside = |a: usize, b: usize| within(a, b) && winds_round(&drops[b].mesh, drops[a].mesh.positions[0]);
    inside(i, j) || inside(j, i)
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

/// How long a step may be, in s, up to `longest`, so that no two drops fly through one another: half the smaller one's radius.
pub fn meeting_step(drops: &[Drop], longest: f64) -> f64 {
    let fast: Vec<(usize, [DVec3; 2])> = (0..drops.len())
        .map(|i| {
            let [low, high] = drops[i].mesh.bounds();
            let way = drops[i].velocity * longest;
            (i, [low.min(low + way), high.max(high + way)])
        })
        .collect();
    let mut order = fast;
    order.sort_by(|a, b| a.1[0].x.total_cmp(&b.1[0].x).then(a.0.cmp(&b.0)));
    let mut dt = longest;
    for (place, (i, mine)) in order.iter().enumerate() {
        for (j, theirs) in &order[place + 1..] {
            if theirs[0].x > mine[1].x {
                break;
            }
            let apart = mine[0].cmpgt(theirs[1]).any() || theirs[0].cmpgt(mine[1]).any();
            let speed = drops[*i].velocity.distance(drops[*j].velocity);
            let reach = 0.5 * ball_radius(drops[*i].volume.min(drops[*j].volume));
            if !apart && speed * dt > reach {
                dt = reach / speed;
            }
        }
    }
    dt
}

/// Whether two surfaces come closer than `within` inside a box.
fn near(a: &Mesh, b: &Mesh, [low, high]: [DVec3; 2], within: f64) -> bool {
    let inside = |mesh: &Mesh| -> Vec<[DVec3; 3]> {
        (0..mesh.triangles.len())
            .filter(|&t| mesh.solids[t] == AIR)
            .map(|t| mesh.corners(t))
            .filter(|[p, q, r]| p.min(*q).min(*r).cmple(high).all() && p.max(*q).max(*r).cmpge(low).all())
            .collect()
    };
    let (mine, theirs) = (inside(a), inside(b));
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
