//! Collapse of short edges of a closed triangle surface, shortest first (half-edge collapse).
//!
//! Surface extraction cuts a surface into triangles of any size, down to slivers where it passes a
//! grid node. [`collapse_short_edges`] removes them by merging one end of a short edge into the
//! other. The remaining end keeps its position, so vertices stay on the surface they were placed
//! on. An edge is collapsed only if
//! - its ends have exactly two common neighbors, and neither of those is left with two triangles
//!   (the link condition: the surface stays a closed manifold of the same genus);
//! - no triangle turns by more than 60°;
//! - the surface agrees ([`Collapsible::allows`]), which is how lines such as the contact line
//!   survive.

use glam::DVec3;
use sessile_numerics::OptionalIndex;

/// Rounds of collapse; each takes edges that do not touch one another. The last ones find next to
/// nothing.
const MAX_ROUNDS: usize = 8;

/// Cosine of the largest angle by which a collapse may turn a triangle: 60° admits slivers, whose
/// own normals mean little, and still excludes every fold.
const MAX_TURN_COSINE: f64 = 0.5;

/// A closed triangle surface whose short edges can be collapsed.
pub trait Collapsible {
    /// What [`allows`](Self::allows) needs to know about the vertices; computed once per round.
    type VertexClasses;

    /// Vertex positions, in m.
    fn positions(&self) -> &[DVec3];

    /// Vertex indices of each triangle.
    fn triangles(&self) -> &[[u32; 3]];

    /// Classifies the vertices.
    fn classify_vertices(&self) -> Self::VertexClasses;

    /// Whether the surface's own constraints admit this collapse. The link condition and the
    /// orientation of triangles are checked elsewhere.
    fn allows(&self, collapse: &Collapse, classes: &Self::VertexClasses) -> bool;

    /// Renumbers vertices and triangles after a round.
    fn renumber(&mut self, map: &VertexMap);
}

/// A vertex that would be merged into a neighbor.
#[derive(Clone, Copy)]
pub struct Collapse<'a> {
    /// The vertex that vanishes.
    pub removed: u32,
    /// The vertex that it is merged into.
    pub kept: u32,
    /// The two vertices across the edge.
    pub across: [u32; 2],
    /// The triangles around each vertex.
    pub around: &'a VertexTriangles,
}

impl Collapse<'_> {
    /// The vertex that stands in the place of `vertex` after the collapse.
    pub fn target(&self, vertex: u32) -> u32 {
        if vertex == self.removed { self.kept } else { vertex }
    }

    /// The triangles on the edge, which vanish.
    pub fn vanishing(&self, triangles: &[[u32; 3]]) -> impl Iterator<Item = u32> {
        let with_both = move |t: &u32| triangles[*t as usize].contains(&self.kept);
        self.around.of(self.removed).iter().copied().filter(with_both)
    }

    /// The triangles that change shape.
    pub fn changing(&self, triangles: &[[u32; 3]]) -> impl Iterator<Item = u32> {
        let without_kept = move |t: &u32| !triangles[*t as usize].contains(&self.kept);
        self.around.of(self.removed).iter().copied().filter(without_kept)
    }
}

/// Collapses edges shorter than `shortest` (in m); returns the number of collapsed edges.
pub fn collapse_short_edges<S: Collapsible>(surface: &mut S, shortest: f64) -> usize {
    let mut total = 0;
    for _ in 0..MAX_ROUNDS {
        let collapsed = collapse_round(surface, shortest);
        total += collapsed;
        if collapsed == 0 {
            break;
        }
    }
    total
}

fn collapse_round<S: Collapsible>(surface: &mut S, shortest: f64) -> usize {
    let (positions, triangles) = (surface.positions(), surface.triangles());
    let around = VertexTriangles::new(positions.len(), triangles);
    let classes = surface.classify_vertices();
    // A collapse reads and writes the triangles around both ends: no two of one round may share
    // any.
    let mut locked = vec![false; positions.len()];
    let mut merged_into: Vec<u32> = (0..positions.len() as u32).collect();
    let mut rings = [Vec::new(), Vec::new()];
    let mut collapsed = 0;
    for [a, b] in short_edges(positions, triangles, shortest) {
        let touched = || around.of(a).iter().chain(around.of(b)).flat_map(|&t| triangles[t as usize]);
        if touched().any(|v| locked[v as usize]) {
            continue;
        }
        let found = [[b, a], [a, b]].into_iter().find(|&[removed, kept]| {
            common_neighbors(removed, kept, &around, triangles, &mut rings).is_some_and(|across| {
                let collapse = Collapse { removed, kept, across, around: &around };
                surface.allows(&collapse, &classes) && keeps_orientations(&collapse, positions, triangles)
            })
        });
        let Some([removed, kept]) = found else { continue };
        for v in touched() {
            locked[v as usize] = true;
        }
        merged_into[removed as usize] = kept;
        collapsed += 1;
    }
    if collapsed > 0 {
        surface.renumber(&VertexMap::merging(&merged_into));
    }
    collapsed
}

/// The two common neighbors of an edge's ends, if the link condition holds.
fn common_neighbors(
    removed: u32,
    kept: u32,
    around: &VertexTriangles,
    triangles: &[[u32; 3]],
    rings: &mut [Vec<u32>; 2],
) -> Option<[u32; 2]> {
    for (ring, v) in rings.iter_mut().zip([removed, kept]) {
        ring.clear();
        ring.extend(around.of(v).iter().flat_map(|&t| triangles[t as usize]).filter(|&w| w != v));
        ring.sort_unstable();
        ring.dedup();
    }
    let [ring_of_removed, ring_of_kept] = &*rings;
    let mut common = ring_of_removed.iter().copied().filter(|v| ring_of_kept.binary_search(v).is_ok());
    let (first, second) = (common.next()?, common.next()?);
    let holds = common.next().is_none() && [first, second].iter().all(|&v| around.of(v).len() > 3);
    holds.then_some([first, second])
}

fn keeps_orientations(collapse: &Collapse, positions: &[DVec3], triangles: &[[u32; 3]]) -> bool {
    let position = |v: u32| positions[v as usize];
    collapse.changing(triangles).all(|t| {
        let corners = triangles[t as usize];
        keeps_orientation(corners.map(position), corners.map(|v| position(collapse.target(v))))
    })
}

/// Which triangles meet at a vertex of a surface that partly lies on a floor: those on it, or free.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct AdjacentTriangles {
    floor: bool,
    free: bool,
}

impl AdjacentTriangles {
    /// Classifies the vertices of a surface; `on_floor` has an entry per triangle.
    pub fn classify(vertices: usize, triangles: &[[u32; 3]], on_floor: &[bool]) -> Vec<Self> {
        let mut classes = vec![Self::default(); vertices];
        for (triangle, &on_floor) in triangles.iter().zip(on_floor) {
            for &v in triangle {
                let class = &mut classes[v as usize];
                if on_floor { class.floor = true } else { class.free = true }
            }
        }
        classes
    }

    fn on_contact_line(self) -> bool {
        self.floor && self.free
    }
}

/// Whether a collapse keeps the contact line: a vertex of it moves only along it, and no other
/// vertex leaves the part of the surface that it is on.
pub fn keeps_contact_line(
    collapse: &Collapse,
    triangles: &[[u32; 3]],
    on_floor: &[bool],
    classes: &[AdjacentTriangles],
) -> bool {
    // A vanishing triangle must not be the last of its kind at the vertex across.
    let has_single_triangle_of_a_kind = |v: u32| {
        let around = collapse.around.of(v);
        let on_floor = around.iter().filter(|&&t| on_floor[t as usize]).count();
        classes[v as usize].on_contact_line() && (on_floor == 1 || on_floor + 1 == around.len())
    };
    if collapse.across.into_iter().any(has_single_triangle_of_a_kind) {
        return false;
    }
    if classes[collapse.removed as usize].on_contact_line() {
        // Along the contact line, one of the two triangles of the edge lies on the floor.
        let on_floor = collapse.vanishing(triangles).filter(|&t| on_floor[t as usize]).count();
        if !classes[collapse.kept as usize].on_contact_line() || on_floor != 1 {
            return false;
        }
    }
    // A free triangle with three corners on the contact line would lie on the floor, with no liquid
    // above it.
    let would_lie_on_floor = |t: u32| triangles[t as usize].iter().all(|&v| classes[collapse.target(v) as usize].floor);
    collapse.changing(triangles).all(|t| on_floor[t as usize] || !would_lie_on_floor(t))
}

/// The triangles around each vertex, in one array.
pub struct VertexTriangles {
    starts: Vec<u32>,
    triangles: Vec<u32>,
}

impl VertexTriangles {
    /// Gathers the triangles around the vertices of a mesh.
    fn new(num_vertices: usize, triangles: &[[u32; 3]]) -> Self {
        let mut starts = vec![0_u32; num_vertices + 1];
        for &v in triangles.iter().flatten() {
            starts[v as usize + 1] += 1;
        }
        for v in 0..num_vertices {
            starts[v + 1] += starts[v];
        }
        let mut next = starts.clone();
        let mut around = vec![0; 3 * triangles.len()];
        for (t, corners) in triangles.iter().enumerate() {
            for &v in corners {
                around[next[v as usize] as usize] = t as u32;
                next[v as usize] += 1;
            }
        }
        Self { starts, triangles: around }
    }

    /// The triangles around a vertex, in ascending order.
    pub fn of(&self, vertex: u32) -> &[u32] {
        &self.triangles[self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize]
    }
}

/// Renumbering of a mesh from which vertices are removed or merged into others.
pub struct VertexMap {
    /// New index of each vertex or of the vertex it is merged into; none if it is removed.
    new_index: Vec<OptionalIndex>,
    /// Whether each vertex stays.
    stays: Vec<bool>,
}

impl VertexMap {
    /// Merges each vertex into the one given for it; a vertex that is given itself stays.
    fn merging(merged_into: &[u32]) -> Self {
        let mut map = Self::keeping((0_u32..).zip(merged_into).map(|(v, &target)| v == target).collect());
        map.new_index = merged_into.iter().map(|&target| map.new_index[target as usize]).collect();
        map
    }

    /// Removes the vertices that do not stay.
    pub fn keeping(stays: Vec<bool>) -> Self {
        let mut count = 0;
        let mut number = |stays: bool| {
            let index = if stays { OptionalIndex::some(count) } else { OptionalIndex::NONE };
            count += u32::from(stays);
            index
        };
        let new_index = stays.iter().map(|&stays| number(stays)).collect();
        Self { new_index, stays }
    }

    /// Drops the entries of removed vertices from an array with one entry per vertex.
    pub fn compact<T>(&self, per_vertex: &mut Vec<T>) {
        let mut stays = self.stays.iter();
        per_vertex.retain(|_| *stays.next().expect("one entry per vertex"));
    }

    /// Renumbers triangles; those with a removed corner or with two corners merged are dropped,
    /// with their tag.
    pub fn renumber<T: Copy>(&self, triangles: &mut Vec<[u32; 3]>, tags: &mut Vec<T>) {
        let mut count = 0;
        for t in 0..triangles.len() {
            let [Some(a), Some(b), Some(c)] = triangles[t].map(|v| self.new_index[v as usize].get()) else { continue };
            if a != b && b != c && c != a {
                (triangles[count], tags[count]) = ([a, b, c], tags[t]);
                count += 1;
            }
        }
        triangles.truncate(count);
        tags.truncate(count);
    }
}

/// Edges of a closed surface shorter than `shortest` (in m), shortest first, by their vertices.
fn short_edges(positions: &[DVec3], triangles: &[[u32; 3]], shortest: f64) -> impl Iterator<Item = [u32; 2]> + use<> {
    let edges = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let mut found: Vec<(f64, [u32; 2])> = edges
        // Every edge occurs twice, once in each direction.
        .filter(|[a, b]| a < b)
        .map(|[a, b]| (positions[a as usize].distance_squared(positions[b as usize]), [a, b]))
        .filter(|&(squared, _)| squared < shortest * shortest)
        .collect();
    found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    found.into_iter().map(|(_, edge)| edge)
}

/// Whether a triangle turns by less than 60° as its corners move.
fn keeps_orientation(before: [DVec3; 3], after: [DVec3; 3]) -> bool {
    // The length of the normal is twice the area.
    let normal = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a);
    let (before, after) = (normal(before), normal(after));
    before.dot(after) > MAX_TURN_COSINE * before.length() * after.length()
}
