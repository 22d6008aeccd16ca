//! The union of closed surfaces along the curves in which they meet: everything away from the curves stays as it is.
//!
//! 1. **Candidates.** Pairs of triangles whose boxes meet, from a tree of boxes.
//! 2. **Points.** An edge pierces a triangle where its ends lie on different sides of it and it passes inside all three sides: five orientations, whose signs are
//!    exact ([`sessile_geometry::predicates`]). All places are moved by a millionth of an edge first, each its own way, so that nothing lies exactly on anything; where
//!    a sign is zero all the same, there is no union by this way.
//! 3. **Curves.** Two triangles that cross share a segment between two such points. On each of them the part outside the other one is kept: along t's boundary that
//!    part ends where a side goes into the other body and begins again where one comes out, and the segment joins the two.
//! 4. **Pieces.** So the outlines of what is kept of a triangle are followed without a look at any coordinate; they are cut into triangles by taking off their ears. Triangles
//!    that no curve crosses are kept or not as their neighbors are.
//!
//! Both surfaces use the same points, and each segment once in each direction: what comes out is closed. A curve within one triangle leaves a hole in it; the triangle is cut
//! first. Three surfaces in one point, curves that end in a corner, and whatever else is not foreseen is an error, and the caller's to solve in another way.

use std::collections::BTreeMap;

use glam::DVec3;
use sessile_geometry::bvh::{Bounds, Bvh};
use sessile_geometry::connectivity::{Connectivity, HalfEdge};
use sessile_geometry::predicates::orient_3d;

use crate::ears::take_ears;
use crate::mesh::{next, previous};

/// How far places are moved against coincidences, in edges.
const JITTER: f64 = 1e-6;
/// Triangles that are cut because a curve lies within them, at most.
const MOST_CUTS: usize = 64;

/// A closed surface, with velocities and with a tag on each triangle.
#[derive(Clone, Debug, Default)]
pub struct Skin {
    /// Vertex positions, in m.
    pub positions: Vec<DVec3>,
    /// Vertex velocities, in m/s.
    pub velocities: Vec<DVec3>,
    /// Corners, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// One per triangle; pieces keep their triangle's.
    pub tags: Vec<i32>,
    /// For each triangle which of several surfaces it is of.
    pub bodies: Vec<u8>,
}

/// Why there is no union along curves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSeam {
    /// Nothing crosses.
    #[error("the surfaces do not cross")]
    Apart,
    /// Something lies exactly on something else.
    #[error("the surfaces meet in a degenerate way")]
    Degenerate,
    /// Curves cross one another, or end.
    #[error("the curves in which the surfaces meet are no closed loops")]
    Tangled,
    /// What is left of the contact line is not the outline of one patch on one solid.
    #[error("the wetted patches cannot be closed one by one")]
    Footprint,
    /// A curve stays within one triangle however it is cut.
    #[error("a curve stays within one triangle")]
    Enclosed,
}

/// A point in which an edge pierces a triangle.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    position: DVec3,
    velocity: DVec3,
}

/// What the surfaces do to one another.
struct Curves {
    /// The half-edge across each half-edge.
    twins: Vec<u32>,
    crossings: Vec<Crossing>,
    /// For each edge, by its lower half-edge: how far along that half-edge which points lie.
    on_edges: BTreeMap<u32, Vec<(f64, u32)>>,
    /// For each triangle, the segments along which the kept part of it ends, in its direction.
    segments: BTreeMap<u32, Vec<(u32, u32)>>,
}

impl Skin {
    /// Adds a triangle with its tag.
    pub fn push(&mut self, corners: [u32; 3], tag: i32) {
        self.triangles.push(corners);
        self.tags.push(tag);
        self.bodies.push(0);
    }

    /// Both of two surfaces.
    #[must_use]
    pub fn beside(mut self, other: &Self) -> Self {
        let body = self.bodies.iter().max().map_or(0, |last| last + 1);
        let first = self.positions.len() as u32;
        self.positions.extend(&other.positions);
        self.velocities.extend(&other.velocities);
        self.triangles.extend(other.triangles.iter().map(|corners| corners.map(|v| v + first)));
        self.tags.extend(&other.tags);
        self.bodies.resize(self.triangles.len(), body);
        self
    }

    fn corners(&self, t: u32) -> [DVec3; 3] {
        self.triangles[t as usize].map(|v| self.positions[v as usize])
    }

    /// The surface of the union of its bodies or, where it is one, of what that encloses with its arms laid over one another; and the length of the curves in which
    /// they cross, in m. `edge` is the length of its edges, in m.
    pub fn united(mut self, edge: f64) -> Result<(Self, f64), NoSeam> {
        for (v, p) in self.positions.iter_mut().enumerate() {
            *p += jitter(v as u64) * (JITTER * edge);
        }
        for _ in 0..MOST_CUTS {
            let curves = Curves::find(&self)?;
            match curves.pieces(&self) {
                Ok(made) => return Ok((made, curves.length())),
                Err(Trouble::Loop(t)) => self.cut_longest_side(t, &curves.twins),
                Err(Trouble::None(why)) => return Err(why),
            }
        }
        Err(NoSeam::Enclosed)
    }

    /// Cuts the longest side of a triangle in its middle, moved a little off it.
    fn cut_longest_side(&mut self, t: u32, twins: &[u32]) {
        let from = |skin: &Self, h: u32| skin.triangles[(h / 3) as usize][(h % 3) as usize];
        let length = |h: &u32| {
            let ends = [from(self, *h), from(self, next(*h))].map(|v| self.positions[v as usize]);
            ends[0].distance(ends[1])
        };
        let sides = [3 * t, 3 * t + 1, 3 * t + 2];
        let h = sides.into_iter().max_by(|a, b| length(a).total_cmp(&length(b))).unwrap_or(3 * t);
        let (a, b) = (from(self, h) as usize, from(self, next(h)) as usize);
        let m = self.positions.len() as u32;
        let way = self.positions[b] - self.positions[a];
        self.positions.push(self.positions[a] + way * 0.47 + jitter(u64::from(m)) * (JITTER * way.length()));
        self.velocities.push(0.5 * (self.velocities[a] + self.velocities[b]));
        for h in [h, twins[h as usize]] {
            let (t, head, apex) = ((h / 3) as usize, from(self, next(h)), from(self, previous(h)));
            self.triangles[t][(next(h) % 3) as usize] = m;
            self.triangles.push([m, head, apex]);
            self.tags.push(self.tags[t]);
            self.bodies.push(self.bodies[t]);
        }
    }
}

/// A small way in some direction, the same for the same number.
fn jitter(v: u64) -> DVec3 {
    let mut state = v.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d;
    let mut part = || {
        state ^= state >> 30;
        state = state.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state ^= state >> 27;
        state = state.wrapping_mul(0x94d0_49bb_1331_11eb);
        state ^= state >> 31;
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    DVec3::new(part(), part(), part())
}

/// Why outlines could not be followed.
enum Trouble {
    /// A curve lies within this triangle.
    Loop(u32),
    None(NoSeam),
}

impl Curves {
    fn find(skin: &Skin) -> Result<Self, NoSeam> {
        let connectivity = Connectivity::new(&skin.triangles).map_err(|_| NoSeam::Degenerate)?;
        let count = skin.triangles.len() as u32;
        let twins = (0..3 * count)
            .map(|h| connectivity.opposite(HalfEdge(h)).map(|twin| twin.0).ok_or(NoSeam::Degenerate))
            .collect::<Result<Vec<u32>, NoSeam>>()?;
        let mut curves = Self { twins, crossings: Vec::new(), on_edges: BTreeMap::new(), segments: BTreeMap::new() };
        let boxes: Vec<Bounds> = (0..count).map(|t| Bounds::of(skin.corners(t))).collect();
        let tree = Bvh::new(&boxes);
        let mut known: BTreeMap<(u32, u32), Option<u32>> = BTreeMap::new();
        let mut near: Vec<u32> = Vec::new();
        // Of several bodies, none is asked about itself: below the contact line, in the solid, it may do what it likes.
        let alone = skin.bodies.iter().all(|&body| body == 0);
        for t in 0..count {
            near.clear();
            tree.overlapping(&boxes[t as usize], |leaf| near.extend(&tree.leaves()[leaf]));
            near.retain(|&u| {
                let asked = alone || skin.bodies[t as usize] != skin.bodies[u as usize];
                u > t && asked && overlap(&boxes[t as usize], &boxes[u as usize])
            });
            near.sort_unstable();
            near.dedup();
            for &u in &near {
                curves.cross(skin, [t, u], &mut known)?;
            }
        }
        for points in curves.on_edges.values_mut() {
            points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        if curves.crossings.is_empty() { Err(NoSeam::Apart) } else { Ok(curves) }
    }

    /// Notes the segment in which two triangles cross, if they do.
    fn cross(
        &mut self,
        skin: &Skin,
        [t, u]: [u32; 2],
        known: &mut BTreeMap<(u32, u32), Option<u32>>,
    ) -> Result<(), NoSeam> {
        let shared = skin.triangles[t as usize].iter().any(|v| skin.triangles[u as usize].contains(v));
        // In t's direction: where the kept part's end begins, and where it ends.
        let (mut starts, mut ends) = (None, None);
        for (mine, other) in [(t, u), (u, t)] {
            for h in 3 * mine..3 * mine + 3 {
                let (a, b) = (self.from(skin, h), self.from(skin, next(h)));
                let held = &skin.triangles[other as usize];
                if held.contains(&a) || held.contains(&b) {
                    continue;
                }
                let edge = h.min(self.twins[h as usize]);
                let found = match known.get(&(edge, other)) {
                    Some(found) => *found,
                    None => {
                        let found = self.pierce(skin, edge, other)?;
                        known.insert((edge, other), found);
                        found
                    }
                };
                let Some(point) = found else { continue };
                if shared {
                    return Err(NoSeam::Tangled);
                }
                let [p, q, r] = skin.corners(other);
                let goes_in = orient_3d(p, q, r, skin.positions[b as usize]) > 0.0;
                let slot = if goes_in == (mine == t) { &mut starts } else { &mut ends };
                if slot.replace(point).is_some() {
                    return Err(NoSeam::Degenerate);
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
            _ => Err(NoSeam::Degenerate),
        }
    }

    fn from(&self, skin: &Skin, h: u32) -> u32 {
        skin.triangles[(h / 3) as usize][(h % 3) as usize]
    }

    /// The point in which an edge, by its lower half-edge, pierces a triangle.
    fn pierce(&mut self, skin: &Skin, edge: u32, triangle: u32) -> Result<Option<u32>, NoSeam> {
        let (v, w) = (self.from(skin, edge), self.from(skin, next(edge)));
        let (p, q) = (skin.positions[v as usize], skin.positions[w as usize]);
        let [a, b, c] = skin.corners(triangle);
        let sides = [orient_3d(a, b, c, p), orient_3d(a, b, c, q)];
        if sides[0] * sides[1] > 0.0 {
            return Ok(None);
        }
        let turns = [orient_3d(p, q, a, b), orient_3d(p, q, b, c), orient_3d(p, q, c, a)];
        if turns.iter().any(|&turn| turn > 0.0) && turns.iter().any(|&turn| turn < 0.0) {
            return Ok(None);
        }
        if sides.contains(&0.0) || turns.contains(&0.0) {
            return Err(NoSeam::Degenerate);
        }
        let part = (sides[0] / (sides[0] - sides[1])).clamp(0.0, 1.0);
        let place = p + (q - p) * part;
        let along = skin.velocities[v as usize].lerp(skin.velocities[w as usize], part);
        // Of the triangle, by the areas across from its corners.
        let total: f64 = turns.iter().sum();
        let weights = [turns[1] / total, turns[2] / total, turns[0] / total];
        let across: DVec3 =
            skin.triangles[triangle as usize].iter().zip(weights).map(|(&v, w)| skin.velocities[v as usize] * w).sum();
        let point = self.crossings.len() as u32;
        self.crossings.push(Crossing { position: place, velocity: 0.5 * (along + across) });
        self.on_edges.entry(edge).or_default().push((part, point));
        Ok(Some(point))
    }

    /// Length of all curves, in m.
    fn length(&self) -> f64 {
        let at = |i: u32| self.crossings[i as usize].position;
        // Each segment lies on two triangles.
        0.5 * self.segments.values().flatten().map(|&(a, b)| at(a).distance(at(b))).sum::<f64>()
    }

    /// The points along a half-edge, in its direction.
    fn along(&self, h: u32) -> Vec<u32> {
        let edge = h.min(self.twins[h as usize]);
        let mut points: Vec<u32> = self.on_edges.get(&edge).into_iter().flatten().map(|(_, point)| *point).collect();
        if edge != h {
            points.reverse();
        }
        points
    }

    /// What is kept, as a surface of its own.
    fn pieces(&self, skin: &Skin) -> Result<Skin, Trouble> {
        let count = skin.triangles.len();
        let num_vertices = skin.positions.len() as u32;
        // Of triangles that no curve crosses: whether they are kept.
        let mut kept: Vec<Option<bool>> = vec![None; count];
        let mut queue: Vec<u32> = Vec::new();
        let mut pieces: Vec<([u32; 3], u32)> = Vec::new();
        for (&t, segments) in &self.segments {
            let (outlines, sides) = self.outlines(skin, t, segments)?;
            for (k, side) in sides.into_iter().enumerate() {
                let across = self.twins[3 * t as usize + k] / 3;
                let Some(side) = side else { continue };
                if !self.segments.contains_key(&across) {
                    match kept[across as usize].replace(side) {
                        None => queue.push(across),
                        Some(before) if before != side => return Err(Trouble::None(NoSeam::Tangled)),
                        Some(_) => {}
                    }
                }
            }
            let [a, b, c] = skin.corners(t);
            let normal = (b - a).cross(c - a);
            for outline in outlines {
                let place = |i: u32| match i.checked_sub(num_vertices) {
                    None => skin.positions[i as usize],
                    Some(point) => self.crossings[point as usize].position,
                };
                let points: Vec<DVec3> = outline.iter().map(|&i| place(i)).collect();
                let ears = take_ears(&points, normal).ok_or(Trouble::None(NoSeam::Degenerate))?;
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
                    before if before != kept[t as usize] => return Err(Trouble::None(NoSeam::Tangled)),
                    _ => {}
                }
            }
        }
        for t in 0..count {
            if !self.segments.contains_key(&(t as u32)) && kept[t] != Some(false) {
                // What no curve reaches is a part of its own, and stays.
                pieces.push((skin.triangles[t], t as u32));
            }
        }
        Ok(self.gather(skin, &pieces))
    }

    /// A surface of these pieces, each with the triangle that it is of.
    fn gather(&self, skin: &Skin, pieces: &[([u32; 3], u32)]) -> Skin {
        let num_vertices = skin.positions.len();
        let mut names = vec![u32::MAX; num_vertices + self.crossings.len()];
        let mut made = Skin::default();
        for &(corners, t) in pieces {
            let corners = corners.map(|i| {
                let i = i as usize;
                if names[i] == u32::MAX {
                    names[i] = made.positions.len() as u32;
                    let (place, velocity) = match i.checked_sub(num_vertices) {
                        None => (skin.positions[i], skin.velocities[i]),
                        Some(point) => (self.crossings[point].position, self.crossings[point].velocity),
                    };
                    made.positions.push(place);
                    made.velocities.push(velocity);
                }
                names[i]
            });
            made.push(corners, skin.tags[t as usize]);
        }
        made
    }

    /// The outlines of what is kept of a triangle, and for each of its sides that no curve crosses whether that is.
    #[allow(clippy::type_complexity)]
    fn outlines(
        &self,
        skin: &Skin,
        t: u32,
        segments: &[(u32, u32)],
    ) -> Result<(Vec<Vec<u32>>, [Option<bool>; 3]), Trouble> {
        let tangled = || Trouble::None(NoSeam::Tangled);
        let first = skin.positions.len() as u32;
        let onward: BTreeMap<u32, u32> = segments.iter().map(|&(a, b)| (first + a, first + b)).collect();
        let reached: BTreeMap<u32, u32> = segments.iter().map(|&(a, b)| (first + b, first + a)).collect();
        if onward.len() != segments.len() || reached.len() != segments.len() {
            return Err(tangled());
        }
        let mut ring: Vec<u32> = Vec::new();
        let mut sides = [Some(false); 3];
        let mut corner_places = [0; 3];
        for k in 0..3 {
            corner_places[k as usize] = ring.len();
            ring.push(skin.triangles[t as usize][k as usize]);
            let points = self.along(3 * t + k);
            if !points.is_empty() {
                sides[k as usize] = None;
            }
            ring.extend(points.iter().map(|point| first + point));
        }
        let places: BTreeMap<u32, usize> = ring.iter().enumerate().map(|(place, &point)| (point, place)).collect();
        let mut seen: BTreeMap<u32, bool> = onward.keys().map(|&point| (point, false)).collect();
        let mut outlines = Vec::new();
        for &start in onward.keys().filter(|point| places.contains_key(point)) {
            if seen[&start] {
                continue;
            }
            let mut outline = Vec::new();
            let mut at = start;
            loop {
                // Along a curve, from side to side.
                while let Some(&to) = onward.get(&at) {
                    if seen.insert(at, true) == Some(true) {
                        return Err(tangled());
                    }
                    outline.push(at);
                    at = to;
                }
                // Along the sides, to where the next curve begins.
                let mut place = *places.get(&at).ok_or_else(tangled)?;
                while !onward.contains_key(&ring[place]) {
                    if place != places[&at] && reached.contains_key(&ring[place]) {
                        return Err(tangled());
                    }
                    outline.push(ring[place]);
                    if let Some(k) = corner_places.iter().position(|&corner| corner == place)
                        && sides[k].is_some()
                    {
                        sides[k] = Some(true);
                    }
                    place = (place + 1) % ring.len();
                    if outline.len() > ring.len() + segments.len() {
                        return Err(tangled());
                    }
                }
                at = ring[place];
                if at == start {
                    break;
                }
            }
            outlines.push(outline);
        }
        if seen.values().any(|seen| !seen) { Err(Trouble::Loop(t)) } else { Ok((outlines, sides)) }
    }
}

fn overlap(a: &Bounds, b: &Bounds) -> bool {
    a.low.cmple(b.high).all() && b.low.cmple(a.high).all()
}
