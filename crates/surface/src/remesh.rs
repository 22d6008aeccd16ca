//! Remeshing: edge splits, collapses and flips, and tangential smoothing.
//!
//! With h the target length of an edge ([`edge_sizing`]), edges longer than 3h/2 are split, longest
//! first, and edges shorter than h/2 collapsed, shortest first. Both use priority queues whose
//! entries are evaluated again when they are popped. The ratio of three between the limits keeps
//! splits and collapses from undoing each other, and an edge is split once per pass, so that flips
//! come between. Edges within a wetted face count as shorter than they are, which keeps that face
//! coarse.
//!
//! An edge is flipped where the angles opposite to it sum to more than π (its cotangent weight is
//! negative), the most negative first. Edges of the contact line are never flipped, and the line is
//! never pinched: an edge that is not part of the line but joins two of its vertices is neither
//! collapsed nor created.
//!
//! A new vertex is placed by the normals of its neighbors (the midpoint of a PN triangle's edge,
//! vlachos2001), and a collapse conserves the volume. A short edge that is part of a loop of three
//! edges around a neck cannot be collapsed: the neck is cut there, and isolated tetrahedra are
//! removed.

pub mod edge_queue;
pub mod edge_sizing;

use glam::DVec3;

use crate::contact::pinches_line;
use crate::drop::{Drop, Scratch};
use crate::mesh::index::{HalfEdgeIndex, VertexIndex};
use crate::mesh::quality::{FLIP_BELOW, MeshQuality, NEEDLE, OFF_CENTER};
use crate::mesh::{Interface, Mesh, VertexKind};
use crate::parameters::{Numerics, Parameters};
use crate::remesh::edge_queue::EdgeQueue;
use crate::remesh::edge_sizing::EdgeSizes;
use crate::substrate::Substrate;

/// Least cosine between the normals of two triangles whose common edge may be flipped.
const FLAT_ENOUGH: f64 = 0.7;
/// Flips allowed per queued edge, on average.
const FLIP_ROUNDS: usize = 16;

/// What a remeshing pass did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemeshReport {
    /// Edges split.
    pub splits: usize,
    /// Edges collapsed.
    pub collapses: usize,
    /// Edges flipped.
    pub flips: usize,
    /// Necks cut.
    pub cuts: usize,
    /// Vertices moved tangentially.
    pub smoothed: usize,
}

impl RemeshReport {
    /// Whether anything changed.
    pub fn changed(&self) -> bool {
        *self != Self::default()
    }

    /// Whether the connectivity changed.
    pub fn reconnected(&self) -> bool {
        Self { smoothed: 0, ..*self }.changed()
    }
}

/// Options of a remeshing pass.
#[derive(Clone, Copy, Debug)]
pub struct RemeshTarget {
    /// Target edge length, in m.
    pub edge: f64,
    /// Shortest target length that curvature may ask for, in m.
    pub finest: f64,
    /// Whether vertices stay where they are.
    ///
    /// The positions of least energy are not those of the roundest triangles. Moving the vertices
    /// of a drop that is nearly at rest makes them creep back, which keeps the drop awake.
    pub keep_vertices: bool,
    /// Whether target lengths follow the curvature even if no edge is too long or too short.
    pub read_curvature: bool,
    /// Speed relative to its solid up to which a vertex of the contact line is pinned, in m/s.
    pub pinned_speed: f64,
}

/// What vertices in contact stay on.
#[derive(Clone, Copy)]
struct Ground<'a> {
    substrate: &'a Substrate,
    /// As in [`RemeshTarget`].
    pinned_speed: f64,
}

impl Ground<'_> {
    /// Whether a vertex of the contact line moves along its solid.
    fn moves(&self, mesh: &Mesh, v: VertexIndex) -> bool {
        let slip = mesh.velocities[v] - self.substrate.velocity_at(mesh.interface_at(v), mesh.positions[v]);
        slip.length_squared() > self.pinned_speed * self.pinned_speed
    }
}

/// One remeshing pass; takes and leaves a compact mesh.
///
/// Where nothing changed, `scratch.quality` describes the mesh.
pub fn remesh(
    drop: &mut Drop,
    target: RemeshTarget,
    substrate: &Substrate,
    params: &Parameters,
    scratch: &mut Scratch,
) -> RemeshReport {
    let numerics = &params.numerics;
    let RemeshTarget { edge, finest, .. } = target;
    let ground = Ground { substrate, pinned_speed: target.pinned_speed };
    let mesh = &mut drop.mesh;
    let (quality, sizes, queue) = (&mut scratch.quality, &mut scratch.sizes, &mut scratch.edge_queue);
    quality.read(mesh, edge, scratch.center, numerics);
    if target.read_curvature || quality.long || quality.short {
        sizes.read(mesh, quality, [edge, finest], numerics);
    } else {
        sizes.set_uniform(edge);
    }
    let mut done = RemeshReport::default();
    if quality.long || !sizes.is_uniform() {
        done.splits = split_long(mesh, quality, sizes, substrate, queue, numerics);
    }
    if quality.short {
        (done.collapses, done.cuts) = collapse_short(mesh, quality, sizes, ground, queue, numerics);
        if done.cuts > 0 {
            mesh.remove_tetrahedra();
        }
    }
    if done.changed() {
        let may_need_flip = |h: HalfEdgeIndex| quality.may_need_flip(h, mesh.twin(h));
        fill_queue(mesh, queue, may_need_flip, |h| flip_priority(mesh, h));
    } else {
        quality.queue_flips(mesh, queue);
    }
    done.flips = flip_edges(mesh, quality, queue);
    if done.changed() || quality.needle {
        done.collapses += collapse_needles(mesh, quality);
    }
    if done.changed() {
        mesh.compact();
        if !target.keep_vertices {
            quality.read_rings(mesh, scratch.center);
        }
    }
    if !target.keep_vertices {
        done.smoothed = smooth_tangentially(mesh, edge, ground, quality);
    }
    done
}

/// Length of an edge, in m, reduced within a wetted face.
fn weighted_length(mesh: &Mesh, h: HalfEdgeIndex, numerics: &Numerics) -> f64 {
    let wetted = mesh.interface_of(h) != Interface::Air && mesh.interface_of(mesh.twin(h)) != Interface::Air;
    mesh.length(h) * if wetted { numerics.wetted_edge_weight } else { 1.0 }
}

/// Queues every edge whose priority exceeds 1, as that of a `candidate` may.
fn fill_queue(
    mesh: &Mesh,
    queue: &mut EdgeQueue,
    candidate: impl Fn(HalfEdgeIndex) -> bool,
    priority: impl Fn(HalfEdgeIndex) -> f64,
) {
    queue.clear();
    for t in mesh.live_triangles() {
        for h in t.half_edges() {
            if h < mesh.twin(h) && candidate(h) {
                queue.push(priority(h), h);
            }
        }
    }
}

/// Pops the edge of highest priority; one whose priority has dropped since is queued again.
fn next_edge(
    mesh: &Mesh,
    queue: &mut EdgeQueue,
    priority: impl Fn(&Mesh, HalfEdgeIndex) -> f64,
) -> Option<HalfEdgeIndex> {
    while let Some((then, h)) = queue.pop() {
        if !mesh.is_live(h.triangle()) {
            continue;
        }
        let now = priority(mesh, h);
        if now > 0.999 * then {
            return Some(h);
        }
        queue.push(now, h);
    }
    None
}

/// Splits long edges, each at most once per pass: flips first restore the quality of the new
/// triangles.
fn split_long(
    mesh: &mut Mesh,
    quality: &mut MeshQuality,
    sizes: &mut EdgeSizes,
    substrate: &Substrate,
    queue: &mut EdgeQueue,
    numerics: &Numerics,
) -> usize {
    let priority = |sizes: &EdgeSizes, mesh: &Mesh, h: HalfEdgeIndex| {
        weighted_length(mesh, h, numerics) / (numerics.max_edge * sizes.of(mesh, h))
    };
    let limit = |h: HalfEdgeIndex| (numerics.max_edge * sizes.of(mesh, h)).powi(2);
    fill_queue(mesh, queue, |h| quality.may_exceed(h, limit(h)), |h| priority(sizes, mesh, h));
    let mut count = 0;
    while let Some(h) = next_edge(mesh, queue, |mesh, h| priority(sizes, mesh, h)) {
        let (length, position) = (sizes.of(mesh, h), split_position(mesh, h, substrate));
        let middle = mesh.split(h, position);
        quality.outdate_around(mesh, middle);
        sizes.push(length);
        count += 1;
    }
    count
}

/// Where an edge is split, in m: at its midpoint, projected onto the solid it lies on or raised by
/// the normals at its ends.
fn split_position(mesh: &Mesh, h: HalfEdgeIndex, substrate: &Substrate) -> DVec3 {
    let (a, b) = (mesh.from(h), mesh.to(h));
    let (p, q) = (mesh.positions[a], mesh.positions[b]);
    let middle = 0.5 * (p + q);
    let [one, other] = [mesh.interface_of(h), mesh.interface_of(mesh.twin(h))];
    let contact = if one == Interface::Air { other } else { one };
    if contact != Interface::Air {
        return substrate.closest_point(contact, middle);
    }
    let (n, m) = (air_normal(mesh, a), air_normal(mesh, b));
    let offset = (n * (q - p).dot(n) + m * (p - q).dot(m)) * -0.125;
    // Normals at the contact line or a fold are unreliable; limit the offset to that of a sphere of
    // the edge's size.
    middle + offset.clamp_length_max(0.15 * p.distance(q))
}

fn air_normal(mesh: &Mesh, v: VertexIndex) -> DVec3 {
    let sum: DVec3 =
        mesh.fan(v).filter(|&h| mesh.interface_of(h) == Interface::Air).map(|h| mesh.area_vector(h.triangle())).sum();
    sum.normalize_or_zero()
}

fn collapse_short(
    mesh: &mut Mesh,
    quality: &mut MeshQuality,
    sizes: &mut EdgeSizes,
    ground: Ground<'_>,
    queue: &mut EdgeQueue,
    numerics: &Numerics,
) -> (usize, usize) {
    let priority = |sizes: &EdgeSizes, mesh: &Mesh, h: HalfEdgeIndex| {
        numerics.min_edge * sizes.of(mesh, h) / weighted_length(mesh, h, numerics).max(1e-300)
    };
    // Within a wetted face edges count as shorter than they are.
    let reach = numerics.min_edge / numerics.wetted_edge_weight.min(1.0);
    let limit = |h: HalfEdgeIndex| (reach * sizes.of(mesh, h)).powi(2);
    fill_queue(mesh, queue, |h| quality.may_be_below(h, limit(h)), |h| priority(sizes, mesh, h));
    let (mut collapses, mut cuts) = (0, 0);
    while let Some(h) = next_edge(mesh, queue, |mesh, h| priority(sizes, mesh, h)) {
        if mesh.can_collapse(h) {
            for h in [h, mesh.twin(h)] {
                if let Some(position) = collapse_position(mesh, h, ground)
                    && mesh.collapse_keeps_orientation(h, position)
                {
                    let kept = mesh.to(h);
                    mesh.collapse(h, position);
                    quality.outdate_around(mesh, kept);
                    collapses += 1;
                    for h in mesh.fan(kept) {
                        queue.push(priority(sizes, mesh, h), h);
                    }
                    break;
                }
            }
        } else if let Some(third) = mesh.neck_loop(h) {
            let length = sizes.of(mesh, h);
            if cut_neck(mesh, h, third, length) {
                // The three vertices of the neck were duplicated.
                (0..3).for_each(|_| sizes.push(length));
                cuts += 1;
            }
        }
    }
    (collapses, cuts)
}

/// Where the edge of `h` collapses to, in m; `None` where the contact forbids it.
fn collapse_position(mesh: &Mesh, h: HalfEdgeIndex, ground: Ground<'_>) -> Option<DVec3> {
    let substrate = ground.substrate;
    let (a, b) = (mesh.from(h), mesh.to(h));
    let (p, q) = (mesh.positions[a], mesh.positions[b]);
    match mesh.kinds(h) {
        [VertexKind::Free, VertexKind::Free] => Some(keep_volume(mesh, h)),
        [VertexKind::Wetted, VertexKind::Wetted] => Some(substrate.closest_point(mesh.interface_at(a), 0.5 * (p + q))),
        // Pinned vertices of the contact line keep their positions.
        [VertexKind::ContactLine, VertexKind::ContactLine]
            if mesh.is_line(h) && mesh.interface_at(a) == mesh.interface_at(b) =>
        {
            let moves = ground.moves(mesh, a) && ground.moves(mesh, b);
            Some(if moves { substrate.closest_point(mesh.interface_at(b), 0.5 * (p + q)) } else { q })
        }
        [VertexKind::Wetted, VertexKind::ContactLine] => Some(q),
        [VertexKind::Free, VertexKind::ContactLine] => (!pinches_line(mesh, h)).then_some(q),
        _ => None,
    }
}

/// Position, in m, at which collapsing the edge of `h` conserves the volume: its midpoint, moved
/// along the mean normal.
fn keep_volume(mesh: &Mesh, h: HalfEdgeIndex) -> DVec3 {
    let (a, b) = (mesh.from(h), mesh.to(h));
    let middle = 0.5 * (mesh.positions[a] + mesh.positions[b]);
    let (t, u) = (h.triangle(), mesh.twin(h).triangle());
    let at = |v: VertexIndex| mesh.positions[v] - middle;
    let (mut before, mut slope) = (0.0, DVec3::ZERO);
    for v in [a, b] {
        for e in mesh.fan(v) {
            let lost = e.triangle() == t || e.triangle() == u;
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

/// Cuts a neck whose three edges are all short, unless it lies on a solid.
fn cut_neck(mesh: &mut Mesh, h: HalfEdgeIndex, third: VertexIndex, edge: f64) -> bool {
    let (a, b) = (mesh.from(h), mesh.to(h));
    let free = [a, b, third].iter().filter(|&&v| mesh.kind(v) == VertexKind::Free).count();
    let short = |v: VertexIndex, w: VertexIndex| mesh.positions[v].distance(mesh.positions[w]) < 0.75 * edge;
    if free < 2 || !short(b, third) || !short(third, a) {
        return false;
    }
    mesh.cut(h, third)
}

/// Flips the queued edges and then those around them, until the queue is empty or the limit is
/// reached.
fn flip_edges(mesh: &mut Mesh, quality: &mut MeshQuality, queue: &mut EdgeQueue) -> usize {
    let most = FLIP_ROUNDS * queue.len();
    let mut count = 0;
    for _ in 0..most {
        let Some(h) = next_edge(mesh, queue, flip_priority) else { break };
        if may_flip(mesh, h) {
            flip(mesh, quality, h);
            count += 1;
            let t = h.triangle();
            let u = mesh.twin(t.half_edge(0)).triangle();
            for h in [t.half_edge(1), t.half_edge(2), u.half_edge(1), u.half_edge(2)] {
                queue.push(flip_priority(mesh, h), h);
            }
        }
    }
    count
}

/// Flips an edge; both triangles have its first end then.
fn flip(mesh: &mut Mesh, quality: &mut MeshQuality, h: HalfEdgeIndex) {
    mesh.flip(h);
    quality.outdate_around(mesh, mesh.from(h.triangle().half_edge(0)));
}

/// Collapses the shortest edge of needles, as corners between solids produce them; returns how
/// many. Where there were none before, only triangles that have changed can be needles.
fn collapse_needles(mesh: &mut Mesh, quality: &mut MeshQuality) -> usize {
    let mut count = 0;
    for t in mesh.triangle_indices() {
        if !mesh.is_live(t) || !(quality.needle || quality.is_outdated(t)) {
            continue;
        }
        let mut edges = t.half_edges();
        edges.sort_by(|&a, &b| mesh.length(a).total_cmp(&mesh.length(b)));
        let longest = mesh.length(edges[2]);
        if mesh.area_vector(t).length() > NEEDLE * longest * longest {
            continue;
        }
        // The end with more contact stays where it is.
        let rank = |v: VertexIndex| mesh.kind(v).rank();
        let shortest = edges[0];
        let h = if rank(mesh.from(shortest)) > rank(mesh.to(shortest)) { mesh.twin(shortest) } else { shortest };
        if mesh.can_collapse(h) {
            let kept = mesh.to(h);
            mesh.collapse(h, mesh.positions[kept]);
            quality.outdate_around(mesh, kept);
            count += 1;
        }
    }
    count
}

/// Excess over π of the angles opposite to an edge; flips are worthwhile above 1.
fn flip_priority(mesh: &Mesh, h: HalfEdgeIndex) -> f64 {
    let cotangent = |h: HalfEdgeIndex| {
        let apex = mesh.positions[mesh.apex(h)];
        let (p, q) = (mesh.positions[mesh.from(h)] - apex, mesh.positions[mesh.to(h)] - apex);
        p.dot(q) / p.cross(q).length().max(1e-30)
    };
    (cotangent(h) + cotangent(mesh.twin(h))) / FLIP_BELOW
}

fn may_flip(mesh: &Mesh, h: HalfEdgeIndex) -> bool {
    let g = mesh.twin(h);
    if !mesh.can_flip(h) {
        return false;
    }
    let [a, b, c, d] = [mesh.from(h), mesh.to(h), mesh.apex(h), mesh.apex(g)];
    // Do not connect two vertices of the contact line by another edge.
    if mesh.kind(c) == VertexKind::ContactLine && mesh.kind(d) == VertexKind::ContactLine {
        return false;
    }
    let [p, q, r, s] = [a, b, c, d].map(|v| mesh.positions[v]);
    let (n, m) = (mesh.area_vector(h.triangle()), mesh.area_vector(g.triangle()));
    let (x, y) = ((s - r).cross(q - r), (r - s).cross(p - s));
    let cosine = |u: DVec3, v: DVec3| u.dot(v) / (u.length() * v.length()).max(1e-300);
    let wet = mesh.interface_of(h) != Interface::Air;
    (wet || cosine(n, m) > FLAT_ENOUGH)
        && cosine(x, y) > if wet { 0.0 } else { FLAT_ENOUGH }
        && cosine(x, n + m) > 0.3
        && cosine(y, n + m) > 0.3
}

/// Moves vertices toward the center of their neighbors, within the surface; returns how many.
fn smooth_tangentially(mesh: &mut Mesh, edge: f64, ground: Ground<'_>, quality: &MeshQuality) -> usize {
    let mut count = 0;
    for v in mesh.vertex_indices() {
        let here = mesh.positions[v];
        match quality.kind(v) {
            VertexKind::Free if quality.is_off_center(v, edge) => {
                let (mut sum, mut total) = (DVec3::ZERO, 0.0);
                for h in mesh.fan(v) {
                    sum += mesh.positions[mesh.to(h)];
                    total += 1.0;
                }
                let off = sum / total - here;
                let n = air_normal(mesh, v);
                let off = off - n * n.dot(off);
                if off.length() > OFF_CENTER * edge {
                    mesh.positions[v] = here + off * 0.5;
                    count += 1;
                }
            }
            VertexKind::ContactLine if ground.moves(mesh, v) => {
                let mut neighbors = mesh.fan(v).filter(|&h| mesh.is_line(h)).map(|h| mesh.positions[mesh.to(h)]);
                let (Some(p), Some(q), None) = (neighbors.next(), neighbors.next(), neighbors.next()) else {
                    continue;
                };
                let along = (q - p).normalize_or_zero();
                let off = along.dot(0.5 * (p + q) - here);
                if off.abs() > 0.2 * edge {
                    let place = here + along * (0.5 * off);
                    mesh.positions[v] = ground.substrate.closest_point(mesh.interface_at(v), place);
                    count += 1;
                }
            }
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sessile_frames::DropId;

    use super::*;
    use crate::mesh::check::{check, check_connectivity};
    use crate::mesh::index::TriangleIndex;
    use crate::mesh::primitives::sphere;
    use crate::parameters::Parameters;
    use crate::test_support::scene;

    /// An ellipsoid with random semi-axes, in mm, and a random perturbation of its vertices.
    fn ellipsoid(axes: [f64; 3], roughness: f64, seed: u64) -> Mesh {
        let mut mesh = sphere(DVec3::ZERO, 1e-3, 0.25e-3, |_| 1e-3).unwrap();
        let mut state = seed | 1;
        for p in &mut mesh.positions {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let noise = (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5;
            *p = *p * DVec3::from(axes) * (1.0 + roughness * noise);
        }
        mesh
    }

    fn no_solids() -> Substrate {
        Substrate::new(sessile_world::World::build(&scene("")).unwrap())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_collapse_conserves_the_volume(
            axes in [0.7..1.5, 0.7..1.5, 0.7..1.5],
            seed in any::<u64>(),
            edge in any::<usize>(),
        ) {
            let mut mesh = ellipsoid(axes, 0.02, seed);
            let h = HalfEdgeIndex::new(edge % mesh.twins.len());
            let volume = mesh.volume();
            let position = keep_volume(&mesh, h);
            if mesh.can_collapse(h) && mesh.collapse_keeps_orientation(h, position) {
                mesh.collapse(h, position);
                prop_assert_eq!(check_connectivity(&mesh), Ok(()));
                prop_assert!((mesh.volume() / volume - 1.0).abs() < 1e-12, "{}", mesh.volume() / volume - 1.0);
            }
        }

        #[test]
        fn edges_that_are_not_measured_again_need_no_change(
            axes in [0.7..1.5, 0.7..1.5, 0.7..1.5],
            seed in any::<u64>(),
            edits in proptest::collection::vec((0..3, any::<usize>()), 0..12),
            ratio in 0.8..1.3,
        ) {
            let mut mesh = ellipsoid(axes, 0.1, seed);
            let (edge, numerics) = (0.25e-3 * ratio, Numerics::default());
            let mut quality = MeshQuality::default();
            quality.read(&mesh, edge, DVec3::ZERO, &numerics);
            for (kind, choice) in edits {
                let live: Vec<HalfEdgeIndex> = mesh.live_triangles().flat_map(TriangleIndex::half_edges).collect();
                let h = live[choice % live.len()];
                if kind == 0 {
                    let middle = mesh.split(h, split_position(&mesh, h, &no_solids()));
                    quality.outdate_around(&mesh, middle);
                } else if kind == 1 && mesh.can_collapse(h) {
                    let (kept, position) = (mesh.to(h), keep_volume(&mesh, h));
                    mesh.collapse(h, position);
                    quality.outdate_around(&mesh, kept);
                } else if kind == 2 && may_flip(&mesh, h) {
                    flip(&mut mesh, &mut quality, h);
                }
            }
            let (longest, shortest) = (numerics.max_edge * edge, numerics.min_edge * edge);
            for h in mesh.live_triangles().flat_map(TriangleIndex::half_edges) {
                let length = mesh.length(h);
                prop_assert!(length <= longest || quality.may_exceed(h, longest * longest), "an edge of {length} m");
                prop_assert!(length >= shortest || quality.may_be_below(h, shortest * shortest), "{length} m");
                let priority = flip_priority(&mesh, h);
                prop_assert!(priority <= 1.0 || quality.may_need_flip(h, mesh.twin(h)), "a flip of {priority}");
            }
        }

        #[test]
        fn remeshing_keeps_a_valid_mesh_and_bounds_its_edges(
            axes in [0.6..1.8, 0.6..1.8, 0.6..1.8],
            seed in any::<u64>(),
            ratio in 0.6..1.8,
        ) {
            let mesh = ellipsoid(axes, 0.05, seed);
            let volume = mesh.volume();
            let mut drop = Drop::new(DropId::new(1).unwrap(), mesh, volume, DVec3::ZERO);
            let edge = 0.25e-3 * ratio;
            let params = Parameters::new(&scene(""));
            let substrate = no_solids();
            let mut scratch = Scratch::default();
            let target = RemeshTarget { edge, finest: edge, keep_vertices: false, read_curvature: true, pinned_speed: 0.0 };
            for _ in 0..6 {
                remesh(&mut drop, target, &substrate, &params, &mut scratch);
                prop_assert_eq!(check(&drop.mesh), Ok(()));
            }
            prop_assert!((drop.mesh.volume() / volume - 1.0).abs() < 0.03, "{}", drop.mesh.volume() / volume - 1.0);
            let longest = drop.mesh.half_edge_indices().map(|h| drop.mesh.length(h)).fold(0.0, f64::max);
            prop_assert!(longest < 1.6 * edge, "an edge of {} target lengths is left", longest / edge);
        }
    }
}
