//! Mesh Boolean: the union of closed surfaces along their intersection curves.
//!
//! 1. **Candidates.** Pairs of triangles whose boxes overlap, from a bounding volume hierarchy.
//! 2. **Crossings.** An edge crosses a triangle where its ends lie on different sides of it and it
//!    passes all three edges on the same side: five orientations, whose signs are exact
//!    ([`sessile_geometry::predicates`]). All positions are first perturbed by a millionth of an
//!    edge, so that nothing coincides; where a sign still vanishes, there is no union by this
//!    method.
//! 3. **Curves.** Two triangles that intersect share a segment between two crossings. Of each
//!    triangle the part outside the other body is kept: along its boundary that part ends where an
//!    edge enters the other body and begins again where one leaves it, and the segment joins the
//!    two.
//! 4. **Pieces.** The outlines of the kept parts are therefore followed without coordinates and
//!    triangulated by ear clipping. Triangles without crossings are kept or removed like their
//!    neighbors.
//!
//! Both surfaces use the same crossings, and each segment once in each direction, so the result is
//! closed. A curve inside one triangle leaves a hole in it; that triangle is split first. Three
//! surfaces in one point, curves that end in a corner and other special cases are errors that the
//! caller handles by another method.

use std::collections::{BTreeMap, BTreeSet};

use glam::DVec3;
use sessile_geometry::bvh::{Bounds, Bvh};
use sessile_geometry::connectivity::{Connectivity, HalfEdge};
use sessile_geometry::predicates::orient_3d;
use sessile_numerics::typed_index;

use super::ear_clipping::clip_ears;
use crate::mesh::Interface;
use crate::mesh::index::{HalfEdgeIndex, TriangleIndex, VertexIndex, plain_triangles};

/// Perturbation of the positions against coincidences, in edges.
const PERTURBATION: f64 = 1e-6;
/// Most triangles that are split because a curve lies within them.
const MAX_SPLITS: usize = 64;

/// A closed surface with velocities and an interface per triangle.
#[derive(Clone, Debug, Default)]
pub struct TaggedSurface {
    /// Vertex positions, in m.
    pub positions: Vec<DVec3>,
    /// Vertex velocities, in m/s.
    pub velocities: Vec<DVec3>,
    /// Corners, counter-clockwise seen from outside.
    pub triangles: Vec<[VertexIndex; 3]>,
    /// Interface of each triangle; its pieces inherit it.
    pub interfaces: Vec<Interface>,
    /// Which of several bodies each triangle belongs to.
    pub bodies: Vec<u8>,
}

/// Why there is no union along curves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BooleanError {
    /// The surfaces do not intersect.
    #[error("the surfaces do not intersect")]
    Apart,
    /// The curves are too short for a neck.
    #[error("the surfaces intersect in too short a curve")]
    Short,
    /// A vertex or edge lies exactly on another element.
    #[error("the surfaces intersect in a degenerate direction")]
    Degenerate,
    /// Curves intersect each other, or end.
    #[error("the intersection curves are not closed loops")]
    Tangled,
    /// The contact line is not the outline of one patch on one solid.
    #[error("the wetted patches cannot be closed one by one")]
    Footprint,
    /// A curve stays within one triangle however often that is split.
    #[error("a curve remains within one triangle")]
    Enclosed,
}

typed_index! {
    /// A crossing of an edge and a triangle.
    struct CrossingIndex;
}

/// A corner of an outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum OutlinePoint {
    Vertex(VertexIndex),
    Crossing(CrossingIndex),
}

/// A point of the surface; of an intersection curve where an edge crosses a triangle.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    position: DVec3,
    velocity: DVec3,
}

/// The crossing, or none, of an edge, by its lower half-edge, and a triangle.
type KnownCrossings = BTreeMap<(HalfEdgeIndex, TriangleIndex), Option<CrossingIndex>>;

/// The curves in which the surfaces intersect.
struct IntersectionCurves {
    /// Twin of each half-edge.
    twins: Vec<HalfEdgeIndex>,
    crossings: Vec<Crossing>,
    /// Crossings of each edge, by its lower half-edge, with their relative position along it.
    on_edges: BTreeMap<HalfEdgeIndex, Vec<(f64, CrossingIndex)>>,
    /// For each triangle the segments along which its kept part ends, in the direction of its
    /// outline.
    segments: BTreeMap<TriangleIndex, Vec<(CrossingIndex, CrossingIndex)>>,
}

impl TaggedSurface {
    /// Adds a triangle.
    pub fn push(&mut self, corners: [VertexIndex; 3], interface: Interface) {
        self.triangles.push(corners);
        self.interfaces.push(interface);
        self.bodies.push(0);
    }

    /// Appends another surface as a body of its own.
    #[must_use]
    pub fn joined_with(mut self, other: &Self) -> Self {
        let body = self.bodies.iter().max().map_or(0, |last| last + 1);
        let shifted = |v: VertexIndex| VertexIndex::new(self.positions.len() + v.to_usize());
        self.triangles.extend(other.triangles.iter().map(|corners| corners.map(shifted)));
        self.positions.extend(&other.positions);
        self.velocities.extend(&other.velocities);
        self.interfaces.extend(&other.interfaces);
        self.bodies.resize(self.triangles.len(), body);
        self
    }

    /// The vertex where `h` starts.
    fn from(&self, h: HalfEdgeIndex) -> VertexIndex {
        self.triangles[h.triangle()][h.corner()]
    }

    fn corners(&self, t: TriangleIndex) -> [DVec3; 3] {
        self.triangles[t].map(|v| self.positions[v])
    }

    /// The triangles whose boxes overlap the bounding box of another body, ascending.
    fn near_other_bodies(&self, boxes: &[Bounds]) -> Vec<TriangleIndex> {
        let count = self.bodies.iter().max().map_or(0, |&last| usize::from(last) + 1);
        let mut bounds = vec![Bounds::EMPTY; count];
        for (one, &body) in boxes.iter().zip(&self.bodies) {
            bounds[usize::from(body)] = bounds[usize::from(body)].union(*one);
        }
        let is_near = |t: &TriangleIndex| {
            let others = bounds.iter().enumerate().filter(|(body, _)| *body != usize::from(self.bodies[*t]));
            others.into_iter().any(|(_, bounds)| boxes_overlap(&boxes[*t], bounds))
        };
        TriangleIndex::first(boxes.len()).filter(is_near).collect()
    }

    /// The surface of the union of all bodies, or of one body that intersects itself; and the
    /// length of the curves, in m.
    ///
    /// `edge` is the typical edge length, and `shortest` the length up to which curves are not
    /// followed, in m.
    pub fn union(mut self, edge: f64, shortest: f64) -> Result<(Self, f64), BooleanError> {
        for (v, p) in self.positions.iter_mut().enumerate() {
            *p += perturbation(v as u64) * (PERTURBATION * edge);
        }
        for _ in 0..MAX_SPLITS {
            let curves = IntersectionCurves::find(&self)?;
            if curves.length() <= shortest {
                return Err(BooleanError::Short);
            }
            match curves.build_union(&self) {
                Ok(union) => return Ok((union, curves.length())),
                Err(Failure::Loop(t)) => self.split_longest_edge(t, &curves.twins),
                Err(Failure::Final(why)) => return Err(why),
            }
        }
        Err(BooleanError::Enclosed)
    }

    /// Splits the longest edge of a triangle near its midpoint.
    fn split_longest_edge(&mut self, t: TriangleIndex, twins: &[HalfEdgeIndex]) {
        let length = |h: &HalfEdgeIndex| {
            let ends = [self.from(*h), self.from(h.next())].map(|v| self.positions[v]);
            ends[0].distance(ends[1])
        };
        let longest = t.half_edges().into_iter().max_by(|a, b| length(a).total_cmp(&length(b)));
        let h = longest.unwrap_or(t.half_edge(0));
        let (a, b) = (self.from(h), self.from(h.next()));
        let m = VertexIndex::new(self.positions.len());
        let direction = self.positions[b] - self.positions[a];
        self.positions.push(
            self.positions[a]
                + direction * 0.47
                + perturbation(u64::from(m.to_u32())) * (PERTURBATION * direction.length()),
        );
        self.velocities.push(0.5 * (self.velocities[a] + self.velocities[b]));
        for h in [h, twins[h]] {
            let (t, head, apex) = (h.triangle(), self.from(h.next()), self.from(h.previous()));
            self.triangles[t][h.next().corner()] = m;
            self.triangles.push([m, head, apex]);
            self.interfaces.push(self.interfaces[t]);
            self.bodies.push(self.bodies[t]);
        }
    }
}

/// A reproducible pseudo-random vector in [−1, 1]³.
fn perturbation(v: u64) -> DVec3 {
    let mut state = v.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d;
    let mut component = || {
        state ^= state >> 30;
        state = state.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state ^= state >> 27;
        state = state.wrapping_mul(0x94d0_49bb_1331_11eb);
        state ^= state >> 31;
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    DVec3::new(component(), component(), component())
}

/// A triangle of the union.
#[derive(Clone, Copy)]
struct Piece {
    corners: [OutlinePoint; 3],
    /// The triangle that it is a part of.
    of: TriangleIndex,
}

/// The part of a triangle that the union keeps.
struct KeptPart {
    /// Closed outlines.
    outlines: Vec<Vec<OutlinePoint>>,
    /// For each edge without crossings, whether it is kept.
    sides: [Option<bool>; 3],
}

/// Why outlines could not be followed.
enum Failure {
    /// A curve lies within this triangle, which has to be split.
    Loop(TriangleIndex),
    /// There is no union.
    Final(BooleanError),
}

impl IntersectionCurves {
    fn find(surface: &TaggedSurface) -> Result<Self, BooleanError> {
        let connectivity =
            Connectivity::new(&plain_triangles(&surface.triangles)).map_err(|_| BooleanError::Degenerate)?;
        let count = surface.triangles.len();
        let twin = |h: HalfEdgeIndex| {
            let twin = connectivity.opposite(HalfEdge::new(h.triangle().to_usize(), h.corner()))?;
            Some(TriangleIndex::new(twin.triangle()).half_edge(twin.side()))
        };
        let twins: Option<Vec<HalfEdgeIndex>> = HalfEdgeIndex::first(3 * count).map(twin).collect();
        let twins = twins.ok_or(BooleanError::Degenerate)?;
        let mut curves = Self { twins, crossings: Vec::new(), on_edges: BTreeMap::new(), segments: BTreeMap::new() };
        let boxes: Vec<Bounds> = TriangleIndex::first(count).map(|t| Bounds::of(surface.corners(t))).collect();
        // Several bodies are not tested against themselves: below the contact line they may
        // self-intersect.
        let single = surface.bodies.iter().all(|&body| body == 0);
        let near = if single { TriangleIndex::first(count).collect() } else { surface.near_other_bodies(&boxes) };
        let tree = Bvh::new(&near.iter().map(|&t| boxes[t]).collect::<Vec<_>>());
        let mut known = KnownCrossings::new();
        let mut candidates: Vec<TriangleIndex> = Vec::new();
        for &t in &near {
            candidates.clear();
            tree.overlapping(&boxes[t], |leaf| {
                candidates.extend(tree.leaves()[leaf].iter().map(|&u| near[u as usize]));
            });
            candidates.retain(|&u| {
                let tested = single || surface.bodies[t] != surface.bodies[u];
                u > t && tested && boxes_overlap(&boxes[t], &boxes[u])
            });
            candidates.sort_unstable();
            candidates.dedup();
            for &u in &candidates {
                curves.cross(surface, [t, u], &mut known)?;
            }
        }
        for points in curves.on_edges.values_mut() {
            points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        if curves.crossings.is_empty() { Err(BooleanError::Apart) } else { Ok(curves) }
    }

    /// Records the segment in which two triangles intersect, if they do.
    fn cross(
        &mut self,
        surface: &TaggedSurface,
        [t, u]: [TriangleIndex; 2],
        known: &mut KnownCrossings,
    ) -> Result<(), BooleanError> {
        let shared = surface.triangles[t].iter().any(|v| surface.triangles[u].contains(v));
        // In t's direction: the crossings where the kept part's boundary leaves and reaches t's
        // edges.
        let (mut starts, mut ends) = (None, None);
        for (mine, other) in [(t, u), (u, t)] {
            for h in mine.half_edges() {
                let (a, b) = (surface.from(h), surface.from(h.next()));
                let corners = &surface.triangles[other];
                if corners.contains(&a) || corners.contains(&b) {
                    continue;
                }
                let edge = h.min(self.twins[h]);
                let found = match known.get(&(edge, other)) {
                    Some(found) => *found,
                    None => {
                        let found = self.pierce(surface, edge, other)?;
                        known.insert((edge, other), found);
                        found
                    }
                };
                let Some(point) = found else { continue };
                if shared {
                    return Err(BooleanError::Tangled);
                }
                let [p, q, r] = surface.corners(other);
                let goes_in = orient_3d(p, q, r, surface.positions[b]) > 0.0;
                let slot = if goes_in == (mine == t) { &mut starts } else { &mut ends };
                if slot.replace(point).is_some() {
                    return Err(BooleanError::Degenerate);
                }
            }
        }
        match (starts, ends) {
            (None, None) => Ok(()),
            (Some(start), Some(end)) => {
                self.segments.entry(t).or_default().push((start, end));
                self.segments.entry(u).or_default().push((end, start));
                Ok(())
            }
            _ => Err(BooleanError::Degenerate),
        }
    }

    /// The crossing of an edge, given by its lower half-edge, with a triangle.
    fn pierce(
        &mut self,
        surface: &TaggedSurface,
        edge: HalfEdgeIndex,
        triangle: TriangleIndex,
    ) -> Result<Option<CrossingIndex>, BooleanError> {
        let (v, w) = (surface.from(edge), surface.from(edge.next()));
        let (p, q) = (surface.positions[v], surface.positions[w]);
        let [a, b, c] = surface.corners(triangle);
        let sides = [orient_3d(a, b, c, p), orient_3d(a, b, c, q)];
        if sides[0] * sides[1] > 0.0 {
            return Ok(None);
        }
        let orientations = [orient_3d(p, q, a, b), orient_3d(p, q, b, c), orient_3d(p, q, c, a)];
        if orientations.iter().any(|&orientation| orientation > 0.0)
            && orientations.iter().any(|&orientation| orientation < 0.0)
        {
            return Ok(None);
        }
        if sides.contains(&0.0) || orientations.contains(&0.0) {
            return Err(BooleanError::Degenerate);
        }
        let fraction = (sides[0] / (sides[0] - sides[1])).clamp(0.0, 1.0);
        let position = p + (q - p) * fraction;
        let along = surface.velocities[v].lerp(surface.velocities[w], fraction);
        // Barycentric coordinates in the triangle.
        let total: f64 = orientations.iter().sum();
        let weights = [orientations[1] / total, orientations[2] / total, orientations[0] / total];
        let across: DVec3 =
            surface.triangles[triangle].iter().zip(weights).map(|(&v, w)| surface.velocities[v] * w).sum();
        let point = CrossingIndex::new(self.crossings.len());
        self.crossings.push(Crossing { position, velocity: 0.5 * (along + across) });
        self.on_edges.entry(edge).or_default().push((fraction, point));
        Ok(Some(point))
    }

    /// Total length of the curves, in m.
    fn length(&self) -> f64 {
        let at = |point: CrossingIndex| self.crossings[point].position;
        // Each segment occurs on two triangles.
        0.5 * self.segments.values().flatten().map(|&(a, b)| at(a).distance(at(b))).sum::<f64>()
    }

    /// Crossings along a half-edge, in its direction.
    fn along(&self, h: HalfEdgeIndex) -> Vec<CrossingIndex> {
        let edge = h.min(self.twins[h]);
        let mut points: Vec<CrossingIndex> =
            self.on_edges.get(&edge).into_iter().flatten().map(|(_, point)| *point).collect();
        if edge != h {
            points.reverse();
        }
        points
    }

    /// The union as a surface of its own.
    fn build_union(&self, surface: &TaggedSurface) -> Result<TaggedSurface, Failure> {
        let count = surface.triangles.len();
        // Whether triangles without crossings are kept.
        let mut kept: Vec<Option<bool>> = vec![None; count];
        let mut queue: Vec<TriangleIndex> = Vec::new();
        let mut pieces: Vec<Piece> = Vec::new();
        for (&t, segments) in &self.segments {
            let KeptPart { outlines, sides } = self.outlines(surface, t, segments)?;
            for (k, side) in sides.into_iter().enumerate() {
                let across = self.twins[t.half_edge(k)].triangle();
                let Some(side) = side else { continue };
                if !self.segments.contains_key(&across) {
                    match kept[across].replace(side) {
                        None => queue.push(across),
                        Some(before) if before != side => return Err(Failure::Final(BooleanError::Tangled)),
                        Some(_) => {}
                    }
                }
            }
            let [a, b, c] = surface.corners(t);
            let normal = (b - a).cross(c - a);
            for outline in outlines {
                let points: Vec<DVec3> = outline.iter().map(|&point| self.at(surface, point).position).collect();
                let ears = clip_ears(&points, normal).ok_or(Failure::Final(BooleanError::Degenerate))?;
                pieces.extend(ears.into_iter().map(|ear| Piece { corners: ear.map(|i| outline[i]), of: t }));
            }
        }
        while let Some(t) = queue.pop() {
            for h in t.half_edges() {
                let across = self.twins[h].triangle();
                if self.segments.contains_key(&across) {
                    continue;
                }
                match kept[across] {
                    None => {
                        kept[across] = kept[t];
                        queue.push(across);
                    }
                    before if before != kept[t] => return Err(Failure::Final(BooleanError::Tangled)),
                    _ => {}
                }
            }
        }
        for t in TriangleIndex::first(count) {
            if !self.segments.contains_key(&t) && kept[t] != Some(false) {
                // A component that no curve reaches is kept.
                pieces.push(Piece { corners: surface.triangles[t].map(OutlinePoint::Vertex), of: t });
            }
        }
        Ok(self.compact_surface(surface, &pieces))
    }

    /// Position and velocity of a corner of an outline.
    fn at(&self, surface: &TaggedSurface, point: OutlinePoint) -> Crossing {
        match point {
            OutlinePoint::Vertex(v) => Crossing { position: surface.positions[v], velocity: surface.velocities[v] },
            OutlinePoint::Crossing(crossing) => self.crossings[crossing],
        }
    }

    /// A surface of these pieces.
    fn compact_surface(&self, surface: &TaggedSurface, pieces: &[Piece]) -> TaggedSurface {
        let mut new_vertices: Vec<Option<VertexIndex>> = vec![None; surface.positions.len()];
        let mut new_crossings: Vec<Option<VertexIndex>> = vec![None; self.crossings.len()];
        let mut union = TaggedSurface::default();
        for &Piece { corners, of } in pieces {
            let corners = corners.map(|point| {
                let new = match point {
                    OutlinePoint::Vertex(v) => &mut new_vertices[v],
                    OutlinePoint::Crossing(crossing) => &mut new_crossings[crossing],
                };
                *new.get_or_insert_with(|| {
                    let Crossing { position, velocity } = self.at(surface, point);
                    union.positions.push(position);
                    union.velocities.push(velocity);
                    VertexIndex::new(union.positions.len() - 1)
                })
            });
            union.push(corners, surface.interfaces[of]);
        }
        union
    }

    /// Outlines of the kept part of a triangle.
    fn outlines(
        &self,
        surface: &TaggedSurface,
        t: TriangleIndex,
        segments: &[(CrossingIndex, CrossingIndex)],
    ) -> Result<KeptPart, Failure> {
        let tangled = || Failure::Final(BooleanError::Tangled);
        let crossing = OutlinePoint::Crossing;
        let next_point: BTreeMap<_, _> = segments.iter().map(|&(a, b)| (crossing(a), crossing(b))).collect();
        let segment_ends: BTreeSet<_> = segments.iter().map(|&(_, b)| crossing(b)).collect();
        if next_point.len() != segments.len() || segment_ends.len() != segments.len() {
            return Err(tangled());
        }
        let mut ring: Vec<OutlinePoint> = Vec::new();
        let mut sides = [Some(false); 3];
        let mut corner_ranks = [0; 3];
        for k in 0..3 {
            corner_ranks[k] = ring.len();
            ring.push(OutlinePoint::Vertex(surface.triangles[t][k]));
            let points = self.along(t.half_edge(k));
            if !points.is_empty() {
                sides[k] = None;
            }
            ring.extend(points.into_iter().map(crossing));
        }
        let ranks: BTreeMap<OutlinePoint, usize> =
            ring.iter().enumerate().map(|(rank, &point)| (point, rank)).collect();
        let mut seen: BTreeMap<OutlinePoint, bool> = next_point.keys().map(|&point| (point, false)).collect();
        let mut outlines = Vec::new();
        for &start in next_point.keys().filter(|point| ranks.contains_key(point)) {
            if seen[&start] {
                continue;
            }
            let mut outline = Vec::new();
            let mut at = start;
            loop {
                // Along a curve, from edge to edge.
                while let Some(&to) = next_point.get(&at) {
                    if seen.insert(at, true) == Some(true) {
                        return Err(tangled());
                    }
                    outline.push(at);
                    at = to;
                }
                // Along the edges, to the start of the next curve.
                let mut rank = *ranks.get(&at).ok_or_else(tangled)?;
                while !next_point.contains_key(&ring[rank]) {
                    if rank != ranks[&at] && segment_ends.contains(&ring[rank]) {
                        return Err(tangled());
                    }
                    outline.push(ring[rank]);
                    if let Some(k) = corner_ranks.iter().position(|&corner| corner == rank)
                        && sides[k].is_some()
                    {
                        sides[k] = Some(true);
                    }
                    rank = (rank + 1) % ring.len();
                    if outline.len() > ring.len() + segments.len() {
                        return Err(tangled());
                    }
                }
                at = ring[rank];
                if at == start {
                    break;
                }
            }
            outlines.push(outline);
        }
        if seen.values().any(|seen| !seen) { Err(Failure::Loop(t)) } else { Ok(KeptPart { outlines, sides }) }
    }
}

fn boxes_overlap(a: &Bounds, b: &Bounds) -> bool {
    a.low.cmple(b.high).all() && b.low.cmple(a.high).all()
}
