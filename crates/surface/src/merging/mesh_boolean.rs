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

use std::collections::BTreeMap;

use glam::DVec3;
use sessile_geometry::bvh::{Bounds, Bvh};
use sessile_geometry::connectivity::{Connectivity, HalfEdge};
use sessile_geometry::predicates::orient_3d;

use super::ear_clipping::clip_ears;
use crate::mesh::{Interface, next, previous};

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
    pub triangles: Vec<[u32; 3]>,
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

/// A point in which an edge crosses a triangle.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    position: DVec3,
    velocity: DVec3,
}

/// The curves in which the surfaces intersect.
struct IntersectionCurves {
    /// Twin of each half-edge.
    twins: Vec<u32>,
    crossings: Vec<Crossing>,
    /// Crossings of each edge, by its lower half-edge, with their relative position along it.
    on_edges: BTreeMap<u32, Vec<(f64, u32)>>,
    /// For each triangle the segments along which its kept part ends, in the direction of its
    /// outline.
    segments: BTreeMap<u32, Vec<(u32, u32)>>,
}

impl TaggedSurface {
    /// Adds a triangle.
    pub fn push(&mut self, corners: [u32; 3], interface: Interface) {
        self.triangles.push(corners);
        self.interfaces.push(interface);
        self.bodies.push(0);
    }

    /// Appends another surface as a body of its own.
    #[must_use]
    pub fn joined_with(mut self, other: &Self) -> Self {
        let body = self.bodies.iter().max().map_or(0, |last| last + 1);
        let first = self.positions.len() as u32;
        self.positions.extend(&other.positions);
        self.velocities.extend(&other.velocities);
        self.triangles.extend(other.triangles.iter().map(|corners| corners.map(|v| v + first)));
        self.interfaces.extend(&other.interfaces);
        self.bodies.resize(self.triangles.len(), body);
        self
    }

    fn corners(&self, t: u32) -> [DVec3; 3] {
        self.triangles[t as usize].map(|v| self.positions[v as usize])
    }

    /// The surface of the union of all bodies, or of one body that intersects itself; and the
    /// length of the curves, in m.
    ///
    /// `edge` is the typical edge length, in m.
    pub fn union(mut self, edge: f64) -> Result<(Self, f64), BooleanError> {
        for (v, p) in self.positions.iter_mut().enumerate() {
            *p += perturbation(v as u64) * (PERTURBATION * edge);
        }
        for _ in 0..MAX_SPLITS {
            let curves = IntersectionCurves::find(&self)?;
            match curves.build_union(&self) {
                Ok(union) => return Ok((union, curves.length())),
                Err(Failure::Loop(t)) => self.split_longest_edge(t, &curves.twins),
                Err(Failure::Final(why)) => return Err(why),
            }
        }
        Err(BooleanError::Enclosed)
    }

    /// Splits the longest edge of a triangle near its midpoint.
    fn split_longest_edge(&mut self, t: u32, twins: &[u32]) {
        let from = |surface: &Self, h: u32| surface.triangles[(h / 3) as usize][(h % 3) as usize];
        let length = |h: &u32| {
            let ends = [from(self, *h), from(self, next(*h))].map(|v| self.positions[v as usize]);
            ends[0].distance(ends[1])
        };
        let edges = [3 * t, 3 * t + 1, 3 * t + 2];
        let h = edges.into_iter().max_by(|a, b| length(a).total_cmp(&length(b))).unwrap_or(3 * t);
        let (a, b) = (from(self, h) as usize, from(self, next(h)) as usize);
        let m = self.positions.len() as u32;
        let direction = self.positions[b] - self.positions[a];
        self.positions.push(
            self.positions[a] + direction * 0.47 + perturbation(u64::from(m)) * (PERTURBATION * direction.length()),
        );
        self.velocities.push(0.5 * (self.velocities[a] + self.velocities[b]));
        for h in [h, twins[h as usize]] {
            let (t, head, apex) = ((h / 3) as usize, from(self, next(h)), from(self, previous(h)));
            self.triangles[t][(next(h) % 3) as usize] = m;
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

/// The part of a triangle that the union keeps.
struct KeptPart {
    /// Closed outlines, by vertex or, offset by the number of vertices, by crossing.
    outlines: Vec<Vec<u32>>,
    /// For each edge without crossings, whether it is kept.
    sides: [Option<bool>; 3],
}

/// Why outlines could not be followed.
enum Failure {
    /// A curve lies within this triangle, which has to be split.
    Loop(u32),
    /// There is no union.
    Final(BooleanError),
}

impl IntersectionCurves {
    fn find(surface: &TaggedSurface) -> Result<Self, BooleanError> {
        let connectivity = Connectivity::new(&surface.triangles).map_err(|_| BooleanError::Degenerate)?;
        let count = surface.triangles.len() as u32;
        let twins = (0..3 * count)
            .map(|h| connectivity.opposite(HalfEdge(h)).map(|twin| twin.0).ok_or(BooleanError::Degenerate))
            .collect::<Result<Vec<u32>, BooleanError>>()?;
        let mut curves = Self { twins, crossings: Vec::new(), on_edges: BTreeMap::new(), segments: BTreeMap::new() };
        let boxes: Vec<Bounds> = (0..count).map(|t| Bounds::of(surface.corners(t))).collect();
        let tree = Bvh::new(&boxes);
        let mut known: BTreeMap<(u32, u32), Option<u32>> = BTreeMap::new();
        let mut candidates: Vec<u32> = Vec::new();
        // Several bodies are not tested against themselves: below the contact line they may
        // self-intersect.
        let single = surface.bodies.iter().all(|&body| body == 0);
        for t in 0..count {
            candidates.clear();
            tree.overlapping(&boxes[t as usize], |leaf| candidates.extend(&tree.leaves()[leaf]));
            candidates.retain(|&u| {
                let tested = single || surface.bodies[t as usize] != surface.bodies[u as usize];
                u > t && tested && boxes_overlap(&boxes[t as usize], &boxes[u as usize])
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
        [t, u]: [u32; 2],
        known: &mut BTreeMap<(u32, u32), Option<u32>>,
    ) -> Result<(), BooleanError> {
        let shared = surface.triangles[t as usize].iter().any(|v| surface.triangles[u as usize].contains(v));
        // In t's direction: the crossings where the kept part's boundary leaves and reaches t's
        // edges.
        let (mut starts, mut ends) = (None, None);
        for (mine, other) in [(t, u), (u, t)] {
            for h in 3 * mine..3 * mine + 3 {
                let (a, b) = (self.from(surface, h), self.from(surface, next(h)));
                let corners = &surface.triangles[other as usize];
                if corners.contains(&a) || corners.contains(&b) {
                    continue;
                }
                let edge = h.min(self.twins[h as usize]);
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
                let goes_in = orient_3d(p, q, r, surface.positions[b as usize]) > 0.0;
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

    fn from(&self, surface: &TaggedSurface, h: u32) -> u32 {
        surface.triangles[(h / 3) as usize][(h % 3) as usize]
    }

    /// The crossing of an edge, given by its lower half-edge, with a triangle.
    fn pierce(&mut self, surface: &TaggedSurface, edge: u32, triangle: u32) -> Result<Option<u32>, BooleanError> {
        let (v, w) = (self.from(surface, edge), self.from(surface, next(edge)));
        let (p, q) = (surface.positions[v as usize], surface.positions[w as usize]);
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
        let along = surface.velocities[v as usize].lerp(surface.velocities[w as usize], fraction);
        // Barycentric coordinates in the triangle.
        let total: f64 = orientations.iter().sum();
        let weights = [orientations[1] / total, orientations[2] / total, orientations[0] / total];
        let across: DVec3 = surface.triangles[triangle as usize]
            .iter()
            .zip(weights)
            .map(|(&v, w)| surface.velocities[v as usize] * w)
            .sum();
        let point = self.crossings.len() as u32;
        self.crossings.push(Crossing { position, velocity: 0.5 * (along + across) });
        self.on_edges.entry(edge).or_default().push((fraction, point));
        Ok(Some(point))
    }

    /// Total length of the curves, in m.
    fn length(&self) -> f64 {
        let at = |i: u32| self.crossings[i as usize].position;
        // Each segment occurs on two triangles.
        0.5 * self.segments.values().flatten().map(|&(a, b)| at(a).distance(at(b))).sum::<f64>()
    }

    /// Crossings along a half-edge, in its direction.
    fn along(&self, h: u32) -> Vec<u32> {
        let edge = h.min(self.twins[h as usize]);
        let mut points: Vec<u32> = self.on_edges.get(&edge).into_iter().flatten().map(|(_, point)| *point).collect();
        if edge != h {
            points.reverse();
        }
        points
    }

    /// The union as a surface of its own.
    fn build_union(&self, surface: &TaggedSurface) -> Result<TaggedSurface, Failure> {
        let count = surface.triangles.len();
        let num_vertices = surface.positions.len() as u32;
        // Whether triangles without crossings are kept.
        let mut kept: Vec<Option<bool>> = vec![None; count];
        let mut queue: Vec<u32> = Vec::new();
        let mut pieces: Vec<([u32; 3], u32)> = Vec::new();
        for (&t, segments) in &self.segments {
            let KeptPart { outlines, sides } = self.outlines(surface, t, segments)?;
            for (k, side) in sides.into_iter().enumerate() {
                let across = self.twins[3 * t as usize + k] / 3;
                let Some(side) = side else { continue };
                if !self.segments.contains_key(&across) {
                    match kept[across as usize].replace(side) {
                        None => queue.push(across),
                        Some(before) if before != side => return Err(Failure::Final(BooleanError::Tangled)),
                        Some(_) => {}
                    }
                }
            }
            let [a, b, c] = surface.corners(t);
            let normal = (b - a).cross(c - a);
            for outline in outlines {
                let position = |i: u32| match i.checked_sub(num_vertices) {
                    None => surface.positions[i as usize],
                    Some(point) => self.crossings[point as usize].position,
                };
                let points: Vec<DVec3> = outline.iter().map(|&i| position(i)).collect();
                let ears = clip_ears(&points, normal).ok_or(Failure::Final(BooleanError::Degenerate))?;
                pieces.extend(ears.into_iter().map(|ear| (ear.map(|i| outline[i]), t)));
            }
        }
        while let Some(t) = queue.pop() {
            for k in 0..3 {
                let across = self.twins[(3 * t + k) as usize] / 3;
                if self.segments.contains_key(&across) {
                    continue;
                }
                match kept[across as usize] {
                    None => {
                        kept[across as usize] = kept[t as usize];
                        queue.push(across);
                    }
                    before if before != kept[t as usize] => return Err(Failure::Final(BooleanError::Tangled)),
                    _ => {}
                }
            }
        }
        for t in 0..count {
            if !self.segments.contains_key(&(t as u32)) && kept[t] != Some(false) {
                // A component that no curve reaches is kept.
                pieces.push((surface.triangles[t], t as u32));
            }
        }
        Ok(self.compact_surface(surface, &pieces))
    }

    /// A surface of these pieces, each with the triangle that it belongs to.
    fn compact_surface(&self, surface: &TaggedSurface, pieces: &[([u32; 3], u32)]) -> TaggedSurface {
        let num_vertices = surface.positions.len();
        let mut new_index: Vec<Option<u32>> = vec![None; num_vertices + self.crossings.len()];
        let mut union = TaggedSurface::default();
        for &(corners, t) in pieces {
            let corners = corners.map(|i| {
                let i = i as usize;
                *new_index[i].get_or_insert_with(|| {
                    let (position, velocity) = match i.checked_sub(num_vertices) {
                        None => (surface.positions[i], surface.velocities[i]),
                        Some(point) => (self.crossings[point].position, self.crossings[point].velocity),
                    };
                    union.positions.push(position);
                    union.velocities.push(velocity);
                    union.positions.len() as u32 - 1
                })
            });
            union.push(corners, surface.interfaces[t as usize]);
        }
        union
    }

    /// Outlines of the kept part of a triangle.
    fn outlines(&self, surface: &TaggedSurface, t: u32, segments: &[(u32, u32)]) -> Result<KeptPart, Failure> {
        let tangled = || Failure::Final(BooleanError::Tangled);
        let first = surface.positions.len() as u32;
        let next_point: BTreeMap<u32, u32> = segments.iter().map(|&(a, b)| (first + a, first + b)).collect();
        let segment_ends: BTreeMap<u32, u32> = segments.iter().map(|&(a, b)| (first + b, first + a)).collect();
        if next_point.len() != segments.len() || segment_ends.len() != segments.len() {
            return Err(tangled());
        }
        let mut ring: Vec<u32> = Vec::new();
        let mut sides = [Some(false); 3];
        let mut corner_ranks = [0; 3];
        for k in 0..3 {
            corner_ranks[k as usize] = ring.len();
            ring.push(surface.triangles[t as usize][k as usize]);
            let points = self.along(3 * t + k);
            if !points.is_empty() {
                sides[k as usize] = None;
            }
            ring.extend(points.iter().map(|point| first + point));
        }
        let ranks: BTreeMap<u32, usize> = ring.iter().enumerate().map(|(rank, &point)| (point, rank)).collect();
        let mut seen: BTreeMap<u32, bool> = next_point.keys().map(|&point| (point, false)).collect();
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
                    if rank != ranks[&at] && segment_ends.contains_key(&ring[rank]) {
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
