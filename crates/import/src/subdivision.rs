//! Catmull–Clark subdivision (catmull1978) with creases and boundaries (derose1998).
//!
//! ```text
//! face point    f = mean of its corners
//! edge point    e = (a + b + f₁ + f₂)/4;   of a crease or boundary (a + b)/2
//! vertex point  v' = (F + 2R + (n − 3) v)/n,   F mean of its faces' points, R of its edges' middles
//!               of two creases to a and b: (a + 6v + b)/8;   of more, or of a corner: v
//! ```
//!
//! An edge of sharpness s is a crease in the next s levels; of 0 < s < 1 both rules are blended. A
//! boundary is a crease of infinite sharpness, and a boundary vertex with one face a corner, unless
//! the cage has round corners. The faces of a level are quads: corner k of a face becomes one.

use std::collections::BTreeMap;

use glam::{DVec2, DVec3};

use crate::polygons::Polygons;

/// Levels of subdivision.
const LEVELS: usize = 2;

/// Most polygons of a subdivided mesh; a finer cage is subdivided less.
const MAX_POLYGONS: usize = 400_000;

/// Most weights of a level, about the sum of the squared numbers of corners; a cage whose faces
/// have more is not subdivided.
const MAX_WEIGHTS: usize = 4_000_000;

/// Sharp features of a cage.
#[derive(Clone, Debug, Default)]
pub struct Creases {
    /// Sharpness of edges, by their ends in increasing order.
    pub edges: BTreeMap<[usize; 2], f64>,
    /// Sharpness of points.
    pub corners: BTreeMap<usize, f64>,
    /// Whether a boundary is round at a point with a single face, rather than a corner.
    pub round_corners: bool,
}

/// A cage subdivided several times.
#[derive(Clone, Debug)]
pub struct Subdivision {
    levels: Vec<Level>,
    /// The finest polygons.
    pub polygons: Polygons,
    /// Polygon of the cage of each of them.
    pub parents: Vec<usize>,
}

/// The points of a level, each a weighted sum of those before.
#[derive(Clone, Debug)]
struct Level {
    stencils: Vec<Vec<(usize, f64)>>,
}

/// An edge: its ends, its faces and its sharpness.
struct Edge {
    ends: [usize; 2],
    faces: Vec<usize>,
    sharpness: f64,
}

impl Creases {
    /// Adds chains of points (`lengths` of them each) with a sharpness each, or one for each edge.
    pub fn add_chains(&mut self, points: &[usize], lengths: &[usize], sharpness: &[f64]) {
        let edges = lengths.iter().map(|length| length.saturating_sub(1)).fold(0, usize::saturating_add);
        let per_edge = sharpness.len() == edges && sharpness.len() != lengths.len();
        let (mut start, mut edge) = (0_usize, 0);
        for (chain, length) in lengths.iter().enumerate() {
            let own = points.get(start..start.saturating_add(*length)).unwrap_or_default();
            for pair in own.windows(2) {
                let value = sharpness.get(if per_edge { edge } else { chain }).copied().unwrap_or(0.0);
                self.edges.insert(ends(pair[0], pair[1]), value);
                edge += 1;
            }
            start = start.saturating_add(*length);
        }
    }
}

impl Subdivision {
    /// Subdivides the polygons between `num_points` points. The error says what is wrong with them.
    pub fn new(cage: &Polygons, num_points: usize, creases: &Creases) -> Result<Self, &'static str> {
        let ranges = cage.ranges().ok_or("its faces have more corners than it has indices")?;
        if cage.indices.iter().any(|point| *point >= num_points) {
            return Err("an index is out of range");
        }
        if ranges.iter().any(|range| range.len() < 3) {
            return Err("a face has fewer than three corners");
        }
        let (mut polygons, mut num_points, mut creases) = (cage.clone(), num_points, creases.clone());
        let mut parents: Vec<usize> = (0..cage.len()).collect();
        let mut levels = Vec::new();
        for _ in 0..LEVELS {
            let num_weights =
                polygons.counts.iter().map(|count| count.saturating_mul(*count)).fold(0, usize::saturating_add);
            if polygons.indices.len() > MAX_POLYGONS || num_weights > MAX_WEIGHTS {
                break;
            }
            let (level, finer, sharper) = refine(&polygons, num_points, &creases);
            parents = parents.iter().zip(&polygons.counts).flat_map(|(p, count)| vec![*p; *count]).collect();
            num_points = level.stencils.len();
            levels.push(level);
            (polygons, creases) = (finer, sharper);
        }
        Ok(Self { levels, polygons, parents })
    }

    /// Number of times that the cage was subdivided.
    pub fn num_levels(&self) -> usize {
        self.levels.len()
    }

    /// Number of the finest points.
    pub fn num_points(&self) -> Option<usize> {
        self.levels.last().map(|level| level.stencils.len())
    }

    /// The finest points for points of the cage.
    pub fn points(&self, cage: &[DVec3]) -> Vec<DVec3> {
        self.levels.iter().fold(cage.to_vec(), |points, level| {
            let sum =
                |stencil: &Vec<(usize, f64)>| stencil.iter().map(|(point, weight)| points[*point] * *weight).sum();
            level.stencils.iter().map(sum).collect()
        })
    }
}

fn ends(a: usize, b: usize) -> [usize; 2] {
    [a.min(b), a.max(b)]
}

/// One level: stencils of its points (those of the vertices, then of the edges, then of the faces),
/// its polygons and its creases.
fn refine(polygons: &Polygons, num_points: usize, creases: &Creases) -> (Level, Polygons, Creases) {
    let (edges, index_of_edge, faces_of_point) = edges_of(polygons, num_points, creases);
    let face_point =
        |face: &[usize]| -> Vec<(usize, f64)> { face.iter().map(|point| (*point, 1.0 / face.len() as f64)).collect() };
    let faces: Vec<&[usize]> =
        polygons.ranges().unwrap_or_default().into_iter().map(|range| &polygons.indices[range]).collect();
    let mut edges_of_point: Vec<Vec<usize>> = vec![Vec::new(); num_points];
    for (index, edge) in edges.iter().enumerate() {
        edge.ends.iter().for_each(|end| edges_of_point[*end].push(index));
    }
    let mut stencils: Vec<Vec<(usize, f64)>> = Vec::with_capacity(num_points + edges.len() + faces.len());
    for point in 0..num_points {
        let own: Vec<&Edge> = edges_of_point[point].iter().map(|edge| &edges[*edge]).collect();
        let own_faces: Vec<&[usize]> = faces_of_point[point].iter().map(|face| faces[*face]).collect();
        let sharpness = creases.corners.get(&point).copied().unwrap_or(0.0);
        let is_corner = own_faces.len() == 1 && !creases.round_corners;
        stencils.push(vertex_stencil(point, &own, &own_faces, if is_corner { f64::INFINITY } else { sharpness }));
    }
    for edge in &edges {
        let sharp = vec![(edge.ends[0], 0.5), (edge.ends[1], 0.5)];
        let mut smooth = vec![(edge.ends[0], 0.25), (edge.ends[1], 0.25)];
        for face in &edge.faces {
            smooth.extend(face_point(faces[*face]).into_iter().map(|(point, weight)| (point, 0.25 * weight)));
        }
        stencils.push(blend(smooth, sharp, edge.sharpness));
    }
    stencils.extend(faces.iter().map(|face| face_point(face)));
    let edge_at = |a: usize, b: usize| num_points + index_of_edge[&ends(a, b)];
    let mut finer = Polygons::default();
    let has_uvs = polygons.uvs.len() == polygons.indices.len();
    let mut start = 0;
    for (index, face) in faces.iter().enumerate() {
        let count = face.len();
        let uvs = if has_uvs { &polygons.uvs[start..start + count] } else { &[] };
        for k in 0..count {
            let (before, next) = ((k + count - 1) % count, (k + 1) % count);
            finer.counts.push(4);
            let center = num_points + edges.len() + index;
            finer.indices.extend([face[k], edge_at(face[k], face[next]), center, edge_at(face[before], face[k])]);
            if has_uvs {
                let middle = uvs.iter().sum::<DVec2>() / count as f64;
                finer.uvs.extend([uvs[k], 0.5 * (uvs[k] + uvs[next]), middle, 0.5 * (uvs[before] + uvs[k])]);
            }
        }
        start += count;
    }
    let mut sharper = Creases { round_corners: creases.round_corners, ..Creases::default() };
    for (index, edge) in edges.iter().enumerate().filter(|(_, edge)| edge.sharpness > 1.0 && edge.faces.len() == 2) {
        for end in edge.ends {
            sharper.edges.insert(ends(end, num_points + index), edge.sharpness - 1.0);
        }
    }
    let corners = creases.corners.iter().filter(|(_, sharpness)| **sharpness > 1.0);
    sharper.corners = corners.map(|(point, sharpness)| (*point, sharpness - 1.0)).collect();
    (Level { stencils }, finer, sharper)
}

/// The edges, their indices by their ends, and the faces at each point.
#[expect(clippy::type_complexity, reason = "three tables of one pass")]
fn edges_of(
    polygons: &Polygons,
    num_points: usize,
    creases: &Creases,
) -> (Vec<Edge>, BTreeMap<[usize; 2], usize>, Vec<Vec<usize>>) {
    let (mut edges, mut index): (Vec<Edge>, _) = (Vec::new(), BTreeMap::new());
    let mut faces_of_point = vec![Vec::new(); num_points];
    for (face, range) in polygons.ranges().unwrap_or_default().into_iter().enumerate() {
        let corners = &polygons.indices[range];
        for (k, point) in corners.iter().enumerate() {
            faces_of_point[*point].push(face);
            let ends = ends(*point, corners[(k + 1) % corners.len()]);
            let own = *index.entry(ends).or_insert_with(|| {
                let sharpness = creases.edges.get(&ends).copied().unwrap_or(0.0).max(0.0);
                edges.push(Edge { ends, faces: Vec::new(), sharpness });
                edges.len() - 1
            });
            edges[own].faces.push(face);
        }
    }
    // Boundaries, and edges of more than two faces, stay where they are.
    for edge in edges.iter_mut().filter(|edge| edge.faces.len() != 2) {
        edge.sharpness = f64::INFINITY;
    }
    (edges, index, faces_of_point)
}

/// The stencil of a vertex point.
fn vertex_stencil(point: usize, edges: &[&Edge], faces: &[&[usize]], corner: f64) -> Vec<(usize, f64)> {
    let count = edges.len() as f64;
    let fixed = vec![(point, 1.0)];
    let other = |edge: &Edge| if edge.ends[0] == point { edge.ends[1] } else { edge.ends[0] };
    let sharp: Vec<&&Edge> = edges.iter().filter(|edge| edge.sharpness > 0.0).collect();
    if edges.is_empty() || sharp.len() > 2 || corner >= 1.0 {
        return fixed;
    }
    let mut smooth = vec![(point, (count - 3.0) / count)];
    for face in faces {
        let weight = 1.0 / (count * faces.len() as f64 * face.len() as f64);
        smooth.extend(face.iter().map(|point| (*point, weight)));
    }
    for edge in edges {
        // 2R/n, with R the mean of n middles.
        smooth.extend([(point, 1.0 / (count * count)), (other(edge), 1.0 / (count * count))]);
    }
    let stencil = match sharp.as_slice() {
        [a, b] => {
            let crease = vec![(point, 0.75), (other(a), 0.125), (other(b), 0.125)];
            blend(smooth, crease, 0.5 * (a.sharpness + b.sharpness))
        }
        _ => smooth,
    };
    blend(stencil, fixed, corner)
}

/// A smooth and a sharp rule for a sharpness; weights of a point are added.
fn blend(smooth: Vec<(usize, f64)>, sharp: Vec<(usize, f64)>, sharpness: f64) -> Vec<(usize, f64)> {
    let share = sharpness.clamp(0.0, 1.0);
    let mut sum: BTreeMap<usize, f64> = BTreeMap::new();
    for (rule, share) in [(smooth, 1.0 - share), (sharp, share)] {
        for (point, weight) in rule.into_iter().filter(|_| share > 0.0) {
            *sum.entry(point).or_insert(0.0) += share * weight;
        }
    }
    sum.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube() -> (Polygons, Vec<DVec3>) {
        let at = |k: usize| DVec3::new((k & 1) as f64, (k >> 1 & 1) as f64, (k >> 2) as f64) * 2.0 - 1.0;
        let indices = vec![0, 2, 3, 1, 4, 5, 7, 6, 0, 1, 5, 4, 2, 6, 7, 3, 0, 4, 6, 2, 1, 3, 7, 5];
        (Polygons { counts: vec![4; 6], indices, uvs: Vec::new() }, (0..8).map(at).collect())
    }

    fn refined(cage: &Polygons, points: &[DVec3], creases: &Creases) -> (Subdivision, Vec<DVec3>) {
        let subdivision = Subdivision::new(cage, points.len(), creases).unwrap();
        let points = subdivision.points(points);
        (subdivision, points)
    }

    #[test]
    fn faces_with_thousands_of_corners_and_endless_chains_are_bounded() {
        let sides = 4000;
        let cage = Polygons { counts: vec![sides], indices: (0..sides).collect(), uvs: Vec::new() };
        let mut creases = Creases::default();
        creases.add_chains(&[0, 1], &[usize::MAX, usize::MAX], &[1.0, 1.0]);
        assert_eq!(Subdivision::new(&cage, sides, &creases).unwrap().num_levels(), 0);
    }

    /// The first level of a cube: a corner moves to 5/9 (catmull1978), an edge's middle to 3/4, a
    /// face's center stays. The stencils of the second level keep the symmetry.
    #[test]
    fn a_cube_becomes_round() {
        let (cage, points) = cube();
        let (subdivision, fine) = refined(&cage, &points, &Creases::default());
        assert_eq!((subdivision.polygons.len(), fine.len(), subdivision.num_levels()), (96, 98, 2));
        assert_eq!(subdivision.parents.iter().filter(|parent| **parent == 3).count(), 16);
        let first: Vec<DVec3> = subdivision.levels[0]
            .stencils
            .iter()
            .map(|stencil| stencil.iter().map(|(p, w)| points[*p] * *w).sum())
            .collect();
        assert!((first[7] - DVec3::splat(5.0 / 9.0)).length() < 1e-12, "{}", first[7]);
        let edge = first[8..20].iter().find(|p| p.x.abs() < 1e-12 && p.y > 0.0 && p.z > 0.0).unwrap();
        assert!((*edge - DVec3::new(0.0, 0.75, 0.75)).length() < 1e-12, "{edge}");
        assert!(first[20..].iter().all(|p| (p.length() - 1.0).abs() < 1e-12));
        let volume = subdivision
            .polygons
            .triangulate(&(0..96).collect::<Vec<_>>(), fine.len())
            .unwrap()
            .mesh(&fine)
            .unwrap()
            .volume();
        assert!(volume > 2.0 && volume < 5.0, "{volume}");
    }

    /// A cube whose edges are all creases keeps its shape; a flat sheet keeps its boundary and its
    /// corners.
    #[test]
    fn creases_and_boundaries_keep_their_place() {
        let (cage, points) = cube();
        let mut creases = Creases::default();
        for range in cage.ranges().unwrap() {
            let face = &cage.indices[range];
            creases.edges.extend((0..4).map(|k| (ends(face[k], face[(k + 1) % 4]), 10.0)));
        }
        let (_, fine) = refined(&cage, &points, &creases);
        assert!(fine.iter().all(|p| (p.abs().max_element() - 1.0).abs() < 1e-12));

        let sheet = Polygons { counts: vec![4; 1], indices: vec![0, 1, 2, 3], uvs: vec![DVec2::ZERO; 4] };
        let corners = [DVec3::ZERO, DVec3::X, DVec3::X + DVec3::Y, DVec3::Y];
        let (subdivision, fine) = refined(&sheet, &corners, &Creases::default());
        let mesh = subdivision.polygons.triangulate(&(0..16).collect::<Vec<_>>(), 25).unwrap().mesh(&fine).unwrap();
        assert!((mesh.area() - 1.0).abs() < 1e-12, "{}", mesh.area());
        assert_eq!(mesh.corner_uvs.len(), 32);
        let round = Creases { round_corners: true, ..Creases::default() };
        let (_, fine) = refined(&sheet, &corners, &round);
        let nearest = fine.iter().map(|p| p.length()).fold(f64::INFINITY, f64::min);
        assert!(nearest > 0.1, "a round boundary leaves its corners, by {nearest}");
    }

    /// A semi-sharp crease lies between a smooth edge and a sharp one.
    #[test]
    fn sharpness_counts_levels() {
        let (cage, points) = cube();
        let top = |sharpness: f64| {
            let mut creases = Creases::default();
            creases.add_chains(&[2, 6, 7, 3, 2], &[5], &[sharpness]);
            let (_, fine) = refined(&cage, &points, &creases);
            fine.iter().map(|p| p.x.abs()).fold(0.0, f64::max)
        };
        let reach = [0.0, 0.5, 1.0, 3.0].map(top);
        assert!(reach.windows(2).all(|pair| pair[1] > pair[0] - 1e-12) && reach[3] > reach[0] + 0.05, "{reach:?}");
    }

    #[test]
    fn malformed_cages_are_errors() {
        let cage = Polygons { counts: vec![4], indices: vec![0, 1, 2], uvs: Vec::new() };
        assert!(Subdivision::new(&cage, 3, &Creases::default()).is_err());
        let cage = Polygons { counts: vec![3], indices: vec![0, 1, 3], uvs: Vec::new() };
        assert!(Subdivision::new(&cage, 3, &Creases::default()).is_err());
        let cage = Polygons { counts: vec![2], indices: vec![0, 1], uvs: Vec::new() };
        assert!(Subdivision::new(&cage, 3, &Creases::default()).is_err());
    }
}
