//! Edges neither too long nor too short, and corners not too sharp: split, collapse, flip, and moves within the surface.
//!
//! With h the length that an edge should have where it is ([`sizing`](crate::sizing)), edges longer than 3h/2 are split, longest first, and those shorter than h/2 collapsed, shortest first, out of heaps: an edge
//! that changes beside it have made less urgent waits its turn again, and what a collapse leaves too short is taken up. Between the two is a factor of three, so that what one makes the other
//! leaves alone, and an edge is split once a pass, so that flips come between. Edges on the solid count as shorter than they are, so that the wetted face is coarse.
//!
//! An edge is flipped where its two opposite angles sum to more than π (its cotangent weight is negative), the most negative first, out of a heap as well. The contact line is never flipped, and
//! never pinched: an edge other than the line's own that joins two of its vertices stays, and none is made.
//!
//! A new vertex sits where the surface is by the normals of its neighbors (the middle of a PN triangle's edge, vlachos2001), and a collapse keeps the
//! volume. A short edge that cannot be collapsed because it is part of a waist of three edges is where a neck breaks: there the surface is cut,
//! and what is a single tetrahedron then is taken away.

use glam::DVec3;

use crate::drops::{Drop, Scratch};
use crate::ground::{Ground, foot_point};
use crate::mesh::{AIR, Kind, Mesh};
use crate::queue::Queue;
use crate::sizing::Sizes;
use crate::survey::{CROOKED, FLIP_BELOW, LONGEST, NEEDLE, SHORTEST, Survey, WET_WEIGHT};

/// Least cosine between the two triangles of an edge that may be flipped.
const FLAT_ENOUGH: f64 = 0.7;
/// Turns that an edge of those to be flipped has, in the mean.
const FLIP_ROUNDS: usize = 16;
/// Steps between two looks at the curvature of a drop whose edges are all as long as they should be.
const LOOK_EVERY: u32 = 4;

/// What a pass did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remeshed {
    /// Edges split.
    pub splits: usize,
    /// Edges collapsed.
    pub collapses: usize,
    /// Edges flipped.
    pub flips: usize,
    /// Waists cut.
    pub cuts: usize,
    /// Vertices moved within the surface.
    pub moves: usize,
}

impl Remeshed {
    /// Whether anything changed.
    pub fn changed(&self) -> bool {
        *self != Self::default()
    }

    /// Whether the mesh's connections changed.
    pub fn reconnected(&self) -> bool {
        Self { moves: 0, ..*self }.changed()
    }
}

/// Brings the edges of a drop to about `edge` meters, where it bends to less, down to `finest`; takes and leaves a compact mesh. Where nothing changed, `scratch.survey` is of the mesh as it is.
///
/// The vertices of a drop that is all but `still` stay where they are: where its energy is least is not quite where its triangles are roundest, and a vertex that was taken from one place to the other
/// and crept back kept drops awake.
pub fn remesh(
    drop: &mut Drop,
    [edge, finest]: [f64; 2],
    still: bool,
    world: &Ground,
    scratch: &mut Scratch,
) -> Remeshed {
    let look = drop.unchecked.is_multiple_of(LOOK_EVERY);
    let mesh = &mut drop.mesh;
    let (survey, sizes, wishes) = (&mut scratch.survey, &mut scratch.sizes, &mut scratch.wishes);
    survey.read(mesh, edge, scratch.center);
    if look || survey.long || survey.short {
        sizes.read(mesh, survey, edge, finest);
    } else {
        sizes.set_even(edge);
    }
    let mut done = Remeshed::default();
    if survey.long || !sizes.are_even() {
        done.splits = split_long(mesh, sizes, world, wishes);
    }
    if survey.short {
        (done.collapses, done.cuts) = collapse_short(mesh, sizes, world, wishes);
        if done.cuts > 0 {
            mesh.take_out_tetrahedra();
        }
    }
    if done.changed() {
        gather(mesh, wishes, flip_urgency);
    } else {
        survey.wanting_flips(mesh, wishes);
    }
    done.flips = flip_bad(mesh, wishes);
    if done.changed() || survey.needle {
        done.collapses += take_out_needles(mesh);
    }
    if done.changed() {
        mesh.compact();
        survey.read(mesh, edge, scratch.center);
    }
    if !still {
        done.moves = even_out(mesh, edge, world, survey);
    }
    done
}

fn weighted_length(mesh: &Mesh, h: u32) -> f64 {
    let wet = mesh.solid_of(h) != AIR && mesh.solid_of(mesh.twin(h)) != AIR;
    mesh.length(h) * if wet { WET_WEIGHT } else { 1.0 }
}

/// Puts every edge in the queue that wants to be changed.
fn gather(mesh: &Mesh, queue: &mut Queue, urgency: impl Fn(&Mesh, u32) -> f64) {
    queue.clear();
    for t in (0..mesh.triangles.len()).filter(|&t| mesh.is_live(t)) {
        for h in 3 * t as u32..3 * t as u32 + 3 {
            if h < mesh.twin(h) {
                queue.push(urgency(mesh, h), h);
            }
        }
    }
}

/// Takes the most urgent edge out of the queue that is as urgent as when it was put in; one that is less so by now goes back.
fn next_wish(mesh: &Mesh, queue: &mut Queue, urgency: impl Fn(&Mesh, u32) -> f64) -> Option<u32> {
    while let Some((then, h)) = queue.pop() {
        if !mesh.is_live((h / 3) as usize) {
            continue;
        }
        let now = urgency(mesh, h);
        if now > 0.999 * then {
            return Some(h);
        }
        queue.push(now, h);
    }
    None
}

/// Each edge once: what a split leaves too long is for the next pass, when flips have made its triangles round again.
fn split_long(mesh: &mut Mesh, sizes: &mut Sizes, world: &Ground, queue: &mut Queue) -> usize {
    let urgency = |sizes: &Sizes, mesh: &Mesh, h: u32| weighted_length(mesh, h) / (LONGEST * sizes.of(mesh, h));
    gather(mesh, queue, |mesh, h| urgency(sizes, mesh, h));
    let mut count = 0;
    while let Some(h) = next_wish(mesh, queue, |mesh, h| urgency(sizes, mesh, h)) {
        let (length, place) = (sizes.of(mesh, h), on_surface(mesh, h, world));
        mesh.split(h, place);
        sizes.push(length);
        count += 1;
    }
    count
}

/// The middle of an edge, on the solid if the edge is, else where the normals at its ends say.
fn on_surface(mesh: &Mesh, h: u32, world: &Ground) -> DVec3 {
    let (a, b) = (mesh.from(h), mesh.to(h));
    let (p, q) = (mesh.positions[a as usize], mesh.positions[b as usize]);
    let middle = 0.5 * (p + q);
    let [one, other] = [mesh.solid_of(h), mesh.solid_of(mesh.twin(h))];
    let solid = if one == AIR { other } else { one };
    if solid != AIR {
        return foot_point(world, solid, middle);
    }
    let (n, m) = (air_normal(mesh, a), air_normal(mesh, b));
    let bulge = (n * (q - p).dot(n) + m * (p - q).dot(m)) * -0.125;
    // Normals at a line or a fold say little; no bulge beyond what a ball of the edge's size has.
    middle + bulge.clamp_length_max(0.15 * p.distance(q))
}

fn air_normal(mesh: &Mesh, v: u32) -> DVec3 {
    let sum: DVec3 = mesh.fan(v).filter(|&h| mesh.solid_of(h) == AIR).map(|h| mesh.area_vector((h / 3) as usize)).sum();
    sum.normalize_or_zero()
}

fn collapse_short(mesh: &mut Mesh, sizes: &mut Sizes, world: &Ground, queue: &mut Queue) -> (usize, usize) {
    let urgency =
        |sizes: &Sizes, mesh: &Mesh, h: u32| SHORTEST * sizes.of(mesh, h) / weighted_length(mesh, h).max(1e-300);
    gather(mesh, queue, |mesh, h| urgency(sizes, mesh, h));
    let (mut collapses, mut cuts) = (0, 0);
    while let Some(h) = next_wish(mesh, queue, |mesh, h| urgency(sizes, mesh, h)) {
        if mesh.can_collapse(h) {
            for h in [h, mesh.twin(h)] {
                if let Some(place) = collapse_place(mesh, h, world)
                    && mesh.collapse_keeps_shape(h, place)
                {
                    let kept = mesh.to(h);
                    mesh.collapse(h, place);
                    collapses += 1;
                    for h in mesh.fan(kept) {
                        queue.push(urgency(sizes, mesh, h), h);
                    }
                    break;
                }
            }
        } else if let Some(third) = mesh.waist(h) {
            let length = sizes.of(mesh, h);
            if cut_neck(mesh, h, third, length) {
                // Its three vertices are there twice now.
                (0..3).for_each(|_| sizes.push(length));
                cuts += 1;
            }
        }
    }
    (collapses, cuts)
}

/// Where the ends of `h` go when they become one; `None` where what they touch forbids it.
fn collapse_place(mesh: &Mesh, h: u32, world: &Ground) -> Option<DVec3> {
    let (a, b) = (mesh.from(h), mesh.to(h));
    let (p, q) = (mesh.positions[a as usize], mesh.positions[b as usize]);
    match mesh.kinds(h) {
        [Kind::Free, Kind::Free] => Some(keep_volume(mesh, h)),
        [Kind::Wet, Kind::Wet] => Some(foot_point(world, mesh.solid_at(a), 0.5 * (p + q))),
        // On the line the end stays: a held vertex keeps its place.
        [Kind::Line, Kind::Line] if mesh.is_line(h) && mesh.solid_at(a) == mesh.solid_at(b) => {
            let moves = mesh.velocities[a as usize].length_squared() > 0.0
                && mesh.velocities[b as usize].length_squared() > 0.0;
            Some(if moves { foot_point(world, mesh.solid_at(b), 0.5 * (p + q)) } else { q })
        }
        [Kind::Wet, Kind::Line] => Some(q),
        [Kind::Free, Kind::Line] => {
            // A vertex between two stretches of line would pinch them together.
            let pinches = mesh
                .fan(a)
                .map(|e| mesh.to(e))
                .any(|v| v != b && mesh.kind(v) == Kind::Line && !is_line_neighbor(mesh, v, b));
            (!pinches).then_some(q)
        }
        _ => None,
    }
}

/// Whether an edge of the line joins `a` and `b`.
fn is_line_neighbor(mesh: &Mesh, a: u32, b: u32) -> bool {
    mesh.edge(a, b).is_some_and(|h| mesh.is_line(h))
}

/// The place of a collapsed edge that keeps the volume: the middle, moved along the mean normal.
fn keep_volume(mesh: &Mesh, h: u32) -> DVec3 {
    let (a, b) = (mesh.from(h), mesh.to(h));
    let middle = 0.5 * (mesh.positions[a as usize] + mesh.positions[b as usize]);
    let (t, u) = (h / 3, mesh.twin(h) / 3);
    let at = |v: u32| mesh.positions[v as usize] - middle;
    let (mut before, mut slope) = (0.0, DVec3::ZERO);
    for v in [a, b] {
        for e in mesh.fan(v) {
            let lost = e / 3 == t || e / 3 == u;
            if lost && v == b {
                continue;
            }
            before += at(v).dot(at(mesh.to(e)).cross(at(mesh.apex(e))));
            if !lost {
                slope += at(mesh.to(e)).cross(at(mesh.apex(e)));
            }
        }
    }
    let size = slope.length();
    if size == 0.0 {
        return middle;
    }
    let shift = before / size;
    middle + (slope / size) * shift.clamp(-0.3 * mesh.length(h), 0.3 * mesh.length(h))
}

/// Cuts a waist whose three edges are all short, unless all of it lies on a solid.
fn cut_neck(mesh: &mut Mesh, h: u32, third: u32, edge: f64) -> bool {
    let (a, b) = (mesh.from(h), mesh.to(h));
    let free = [a, b, third].iter().filter(|&&v| mesh.kind(v) == Kind::Free).count();
    let short = |v: u32, w: u32| mesh.positions[v as usize].distance(mesh.positions[w as usize]) < 0.75 * edge;
    if free < 2 || !short(b, third) || !short(third, a) {
        return false;
    }
    mesh.cut(h, third)
}

/// Flips the edges in the queue, and then those around them, until none wants it or each has had its turns.
fn flip_bad(mesh: &mut Mesh, queue: &mut Queue) -> usize {
    let most = FLIP_ROUNDS * queue.len();
    let mut count = 0;
    for _ in 0..most {
        let Some(h) = next_wish(mesh, queue, flip_urgency) else { break };
        if may_flip(mesh, h) {
            mesh.flip(h);
            count += 1;
            let (t, u) = (h / 3, mesh.twin(3 * (h / 3)) / 3);
            for h in (3 * t + 1..3 * t + 3).chain(3 * u + 1..3 * u + 3) {
                queue.push(flip_urgency(mesh, h), h);
            }
        }
    }
    count
}

/// Triangles without area to speak of, as corners between solids make them: the shortest side goes where that is sound.
fn take_out_needles(mesh: &mut Mesh) -> usize {
    let mut count = 0;
    for t in 0..mesh.triangles.len() {
        if !mesh.is_live(t) {
            continue;
        }
        let mut sides = [0, 1, 2].map(|k| (3 * t + k) as u32);
        sides.sort_by(|&a, &b| mesh.length(a).total_cmp(&mesh.length(b)));
        let longest = mesh.length(sides[2]);
        if mesh.area_vector(t).length() > NEEDLE * longest * longest {
            continue;
        }
        // The end that is bound more stays where it is: the line before what is wet, what is wet before what is free.
        let rank = |v: u32| match mesh.kind(v) {
            Kind::Line => 2,
            Kind::Wet => 1,
            Kind::Free => 0,
        };
        let shortest = sides[0];
        let h = if rank(mesh.from(shortest)) > rank(mesh.to(shortest)) { mesh.twin(shortest) } else { shortest };
        if mesh.can_collapse(h) {
            let place = mesh.positions[mesh.to(h) as usize];
            mesh.collapse(h, place);
            count += 1;
        }
    }
    count
}

/// How far the angles across from an edge sum to more than π: above 1, clearly.
fn flip_urgency(mesh: &Mesh, h: u32) -> f64 {
    let cotangent = |h: u32| {
        let apex = mesh.positions[mesh.apex(h) as usize];
        let (p, q) = (mesh.positions[mesh.from(h) as usize] - apex, mesh.positions[mesh.to(h) as usize] - apex);
        p.dot(q) / p.cross(q).length().max(1e-30)
    };
    (cotangent(h) + cotangent(mesh.twin(h))) / FLIP_BELOW
}

fn may_flip(mesh: &Mesh, h: u32) -> bool {
    let g = mesh.twin(h);
    if !mesh.can_flip(h) {
        return false;
    }
    let [a, b, c, d] = [mesh.from(h), mesh.to(h), mesh.apex(h), mesh.apex(g)];
    // No chord between two vertices of the line, on either side of it.
    if mesh.kind(c) == Kind::Line && mesh.kind(d) == Kind::Line {
        return false;
    }
    let [p, q, r, s] = [a, b, c, d].map(|v| mesh.positions[v as usize]);
    let (n, m) = (mesh.area_vector((h / 3) as usize), mesh.area_vector((g / 3) as usize));
    let (x, y) = ((s - r).cross(q - r), (r - s).cross(p - s));
    let cosine = |u: DVec3, v: DVec3| u.dot(v) / (u.length() * v.length()).max(1e-300);
    let wet = mesh.solid_of(h) != AIR;
    (wet || cosine(n, m) > FLAT_ENOUGH)
        && cosine(x, y) > if wet { 0.0 } else { FLAT_ENOUGH }
        && cosine(x, n + m) > 0.3
        && cosine(y, n + m) > 0.3
}

/// Moves vertices that sit badly among their neighbors towards their middle, within the surface; how many.
fn even_out(mesh: &mut Mesh, edge: f64, world: &Ground, survey: &Survey) -> usize {
    let mut count = 0;
    for v in 0..mesh.positions.len() as u32 {
        let here = mesh.positions[v as usize];
        match survey.kind(v as usize) {
            Kind::Free if survey.is_crooked(v as usize, edge) => {
                let (mut sum, mut total) = (DVec3::ZERO, 0.0);
                for h in mesh.fan(v) {
                    sum += mesh.positions[mesh.to(h) as usize];
                    total += 1.0;
                }
                let off = sum / total - here;
                let n = air_normal(mesh, v);
                let off = off - n * n.dot(off);
                if off.length() > CROOKED * edge {
                    mesh.positions[v as usize] = here + off * 0.5;
                    count += 1;
                }
            }
            Kind::Line if mesh.velocities[v as usize] != DVec3::ZERO => {
                let mut neighbors =
                    mesh.fan(v).filter(|&h| mesh.is_line(h)).map(|h| mesh.positions[mesh.to(h) as usize]);
                let (Some(p), Some(q), None) = (neighbors.next(), neighbors.next(), neighbors.next()) else {
                    continue;
                };
                let along = (q - p).normalize_or_zero();
                let off = along.dot(0.5 * (p + q) - here);
                if off.abs() > 0.2 * edge {
                    mesh.positions[v as usize] = foot_point(world, mesh.solid_at(v), here + along * (0.5 * off));
                    count += 1;
                }
            }
            _ => {}
        }
    }
    count
}
