//! Charts: connected parts of a surface whose normals lie in a cone.
//!
//! Every triangle starts as a chart, and the cheapest pair of neighbors is merged repeatedly, while
//! the normals stay in a cone (after garland2001, with different costs). Flat and compact charts
//! are cheap, because narrow ones waste texture.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

use glam::DVec3;
use sessile_numerics::math;

use crate::TriMesh;
use crate::connectivity::edge_uses;

/// Largest half-angle of the cone of a chart's normals, in rad: projection shrinks areas at most by
/// cos 45° = 0.71.
const MAX_CONE: f64 = std::f64::consts::FRAC_PI_4;

/// Largest diagonal of a chart's bounding box, relative to the square root of the surface area:
/// longer ones pack badly. Chosen without optimization.
const MAX_DIAGONAL: f64 = 0.6;

/// Cost of an irregular outline, relative to that of a wide cone. On the bunny, 0 covers 58 % of
/// the square, 0.05 covers 63 % and 0.2 covers 65 %.
const COMPACTNESS: f64 = 0.2;

/// A part of the surface.
#[derive(Clone, Debug)]
pub(super) struct Chart {
    /// Its triangles, in ascending order.
    pub triangles: Vec<u32>,
    /// Axis of a cone that contains all their normals.
    pub axis: DVec3,
}

/// The triangles across the edges of each triangle; none at borders and at edges of more than two
/// triangles.
pub(super) fn neighbors(mesh: &TriMesh) -> Vec<[Option<u32>; 3]> {
    let mut across = vec![[None; 3]; mesh.triangles.len()];
    for edge in edge_uses(&mesh.triangles).chunk_by(|a, b| a.edge == b.edge) {
        if let [a, b] = edge.iter().map(|usage| usage.half_edge).collect::<Vec<_>>()[..]
            && a.ends(&mesh.triangles)[0] != b.ends(&mesh.triangles)[0]
        {
            across[a.triangle()][a.side()] = Some(b.triangle() as u32);
            across[b.triangle()][b.side()] = Some(a.triangle() as u32);
        }
    }
    across
}

/// A cone of directions; the axis of an empty one is zero.
#[derive(Clone, Copy)]
struct Cone {
    axis: DVec3,
    half_angle: f64,
}

impl Cone {
    fn of(normal: DVec3) -> Self {
        Self { axis: normal.normalize_or_zero(), half_angle: 0.0 }
    }

    /// The smallest cone that contains two cones.
    fn union(self, other: Self) -> Self {
        if other.axis == DVec3::ZERO {
            return self;
        }
        if self.axis == DVec3::ZERO {
            return other;
        }
        let between = math::angle_between(self.axis, other.axis);
        if between + other.half_angle <= self.half_angle {
            return self;
        }
        if between + self.half_angle <= other.half_angle {
            return other;
        }
        let half_angle = 0.5 * (between + self.half_angle + other.half_angle);
        let turn = half_angle - self.half_angle;
        let sideways = (other.axis - self.axis * self.axis.dot(other.axis)).normalize_or_zero();
        Self { axis: (self.axis * math::cos(turn) + sideways * math::sin(turn)).normalize_or_zero(), half_angle }
    }
}

#[derive(Clone)]
struct Cluster {
    cone: Cone,
    area: f64,
    perimeter: f64,
    low: DVec3,
    high: DVec3,
    /// Lengths of the borders with neighboring clusters.
    borders: BTreeMap<u32, f64>,
    /// Incremented with every change, so that outdated merges are recognized.
    version: u32,
    /// The cluster that it has been merged into.
    merged_into: Option<u32>,
}

/// A candidate merge of two clusters.
struct Merge {
    cost: f64,
    clusters: [u32; 2],
    versions: [u32; 2],
}

impl Ord for Merge {
    /// The cheapest is the greatest, because the heap pops the greatest; ties are broken by index.
    fn cmp(&self, other: &Self) -> Ordering {
        other.cost.total_cmp(&self.cost).then_with(|| other.clusters.cmp(&self.clusters))
    }
}

impl PartialOrd for Merge {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Merge {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Merge {}

/// Divides a surface into charts.
pub(super) fn grow(mesh: &TriMesh, across: &[[Option<u32>; 3]]) -> Vec<Chart> {
    let max_diagonal = MAX_DIAGONAL * mesh.area().sqrt();
    let mut clusters: Vec<Cluster> = (0..mesh.triangles.len()).map(|t| single(mesh, t, &across[t])).collect();
    let mut candidates = BinaryHeap::new();
    for t in 0..clusters.len() as u32 {
        for &other in clusters[t as usize].borders.keys().filter(|&&other| other > t) {
            candidates.extend(candidate(&clusters, [t, other], max_diagonal));
        }
    }
    while let Some(Merge { clusters: [a, b], versions, .. }) = candidates.pop() {
        if [a, b].map(|c| clusters[c as usize].version) != versions {
            continue;
        }
        let kept = merge(&mut clusters, a, b);
        let others: Vec<u32> = clusters[kept as usize].borders.keys().copied().collect();
        candidates.extend(
            others
                .into_iter()
                .filter_map(|other| candidate(&clusters, [kept.min(other), kept.max(other)], max_diagonal)),
        );
    }
    collect(&clusters)
}

fn single(mesh: &TriMesh, t: usize, across: &[Option<u32>; 3]) -> Cluster {
    let [a, b, c] = mesh.corners(t);
    let normal = (b - a).cross(c - a);
    let lengths = [a.distance(b), b.distance(c), c.distance(a)];
    let mut borders = BTreeMap::new();
    for (other, length) in across.iter().zip(lengths) {
        if let Some(other) = other.filter(|&other| other as usize != t) {
            *borders.entry(other).or_insert(0.0) += length;
        }
    }
    Cluster {
        cone: Cone::of(normal),
        area: 0.5 * normal.length(),
        perimeter: lengths.iter().sum(),
        low: a.min(b).min(c),
        high: a.max(b).max(c),
        borders,
        version: 0,
        merged_into: None,
    }
}

fn candidate(clusters: &[Cluster], [i, j]: [u32; 2], max_diagonal: f64) -> Option<Merge> {
    let (a, b) = (&clusters[i as usize], &clusters[j as usize]);
    let cone = a.cone.union(b.cone);
    let diagonal = (a.high.max(b.high) - a.low.min(b.low)).length();
    // A single triangle may exceed these limits.
    if cone.half_angle > MAX_CONE || diagonal > max_diagonal {
        return None;
    }
    let perimeter = a.perimeter + b.perimeter - 2.0 * a.borders[&j];
    let irregularity = perimeter * perimeter / (4.0 * std::f64::consts::PI * (a.area + b.area).max(f64::MIN_POSITIVE));
    let cost = cone.half_angle / MAX_CONE + COMPACTNESS * irregularity;
    Some(Merge { cost, clusters: [i, j], versions: [a.version, b.version] })
}

/// Merges two clusters into the one with more neighbors, and returns that one.
fn merge(clusters: &mut [Cluster], a: u32, b: u32) -> u32 {
    let more = clusters[a as usize].borders.len() >= clusters[b as usize].borders.len();
    let (kept, gone) = if more { (a, b) } else { (b, a) };
    let Cluster { cone, area, perimeter, low, high, borders, .. } = {
        let gone = &mut clusters[gone as usize];
        gone.version += 1;
        gone.merged_into = Some(kept);
        gone.clone()
    };
    clusters[gone as usize].borders.clear();
    let shared = borders[&kept];
    for (&other, &length) in borders.iter().filter(|&(&other, _)| other != kept) {
        let of_other = &mut clusters[other as usize].borders;
        of_other.remove(&gone);
        *of_other.entry(kept).or_insert(0.0) += length;
        *clusters[kept as usize].borders.entry(other).or_insert(0.0) += length;
    }
    let cluster = &mut clusters[kept as usize];
    cluster.borders.remove(&gone);
    cluster.cone = cluster.cone.union(cone);
    cluster.area += area;
    cluster.perimeter += perimeter - 2.0 * shared;
    cluster.low = cluster.low.min(low);
    cluster.high = cluster.high.max(high);
    cluster.version += 1;
    kept
}

fn collect(clusters: &[Cluster]) -> Vec<Chart> {
    let mut charts: Vec<Chart> = Vec::new();
    let mut chart_of = vec![None; clusters.len()];
    for t in 0..clusters.len() {
        let mut root = t;
        while let Some(next) = clusters[root].merged_into {
            root = next as usize;
        }
        let index = *chart_of[root].get_or_insert_with(|| {
            charts.push(Chart { triangles: Vec::new(), axis: clusters[root].cone.axis });
            charts.len() - 1
        });
        charts[index].triangles.push(t as u32);
    }
    charts
}
