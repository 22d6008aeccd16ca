//! Projection of charts to a plane, with charts divided where they would overlap themselves.

use std::collections::VecDeque;

use glam::{DVec2, DVec3};
use sessile_numerics::{OptionalIndex, math};

use super::charts::Chart;
use crate::TriMesh;

/// Largest overlap of triangles that count as adjacent, relative to the chart.
const MAX_OVERLAP: f64 = 1e-10;

/// Least cosine of the angle between a triangle's normal and the mean normal of its chart.
const MIN_COSINE: f64 = 0.65;

/// Rotations tried, over 90°, for the one with the smallest bounding rectangle.
const NUM_ROTATIONS: usize = 30;

/// A chart in the plane, in m.
#[derive(Clone, Debug)]
pub(super) struct FlatChart {
    /// Its triangles, in ascending order.
    pub triangles: Vec<u32>,
    /// The corners of each, counterclockwise; the smallest coordinates are zero.
    pub corners: Vec<[DVec2; 3]>,
    /// Width and height.
    pub size: DVec2,
}

/// Projects a chart to a plane; the result is more than one chart if parts of it would overlap.
///
/// `index_in_chart` is scratch memory with no index for any triangle of the mesh.
pub(super) fn flatten(
    mesh: &TriMesh,
    across: &[[Option<u32>; 3]],
    chart: &Chart,
    index_in_chart: &mut [OptionalIndex],
) -> Vec<FlatChart> {
    let axis = projection_axis(mesh, chart);
    let x = axis.any_orthonormal_vector();
    let y = axis.cross(x);
    let project = |&t: &u32| mesh.corners(t as usize).map(|p| DVec2::new(p.dot(x), p.dot(y)));
    let corners: Vec<[DVec2; 3]> = chart.triangles.iter().map(project).collect();
    for (index, &t) in (0_u32..).zip(&chart.triangles) {
        index_in_chart[t as usize] = OptionalIndex::some(index);
    }
    let parts = separate(&corners, |index| {
        let neighbors = across[chart.triangles[index] as usize].into_iter().flatten();
        neighbors.filter_map(|t| index_in_chart[t as usize].get()).map(|index| index as usize).collect()
    });
    for &t in &chart.triangles {
        index_in_chart[t as usize] = OptionalIndex::NONE;
    }
    parts
        .into_iter()
        .map(|part| {
            let triangles: Vec<u32> = part.iter().map(|&index| chart.triangles[index]).collect();
            let corners = part.iter().map(|&index| corners[index]).collect();
            fit(mesh, triangles, corners)
        })
        .collect()
}

/// Direction of projection: the mean normal if all triangles face it, else the axis of the cone.
fn projection_axis(mesh: &TriMesh, chart: &Chart) -> DVec3 {
    let normals = || chart.triangles.iter().map(|&t| mesh.corners(t as usize)).map(|[a, b, c]| (b - a).cross(c - a));
    let mean = normals().sum::<DVec3>().normalize_or_zero();
    let faces_all = mean != DVec3::ZERO && normals().all(|normal| normal.dot(mean) >= MIN_COSINE * normal.length());
    match (faces_all, chart.axis == DVec3::ZERO) {
        (true, _) => mean,
        (false, false) => chart.axis,
        // All triangles are degenerate, so that any direction will do.
        (false, true) => DVec3::Z,
    }
}

/// Divides triangles into connected parts without overlap, each in ascending order.
fn separate(corners: &[[DVec2; 3]], neighbors: impl Fn(usize) -> Vec<usize>) -> Vec<Vec<usize>> {
    let mut parts: Vec<Vec<usize>> = Vec::new();
    let mut placed = vec![false; corners.len()];
    let mut tried_in = vec![None; corners.len()];
    let mut occupied = OccupancyGrid::new(corners);
    for start in 0..corners.len() {
        if placed[start] {
            continue;
        }
        let index = parts.len();
        let mut part = Vec::new();
        let mut queue = VecDeque::from([start]);
        tried_in[start] = Some(index);
        occupied.clear();
        while let Some(t) = queue.pop_front() {
            // A triangle that overlaps another is left for a later part.
            if !occupied.place(corners, t) {
                continue;
            }
            placed[t] = true;
            part.push(t);
            for other in neighbors(t) {
                if !placed[other] && tried_in[other] != Some(index) {
                    tried_in[other] = Some(index);
                    queue.push_back(other);
                }
            }
        }
        part.sort_unstable();
        parts.push(part);
    }
    parts
}

/// A grid over the plane, with the triangles placed in each cell.
struct OccupancyGrid {
    low: DVec2,
    cells_per_meter: f64,
    width: usize,
    cells: Vec<Vec<u32>>,
    used: Vec<usize>,
    max_overlap: f64,
}

impl OccupancyGrid {
    fn new(corners: &[[DVec2; 3]]) -> Self {
        let points = || corners.iter().flatten();
        let low = points().fold(DVec2::INFINITY, |low, p| low.min(*p));
        let size = points().fold(DVec2::NEG_INFINITY, |high, p| high.max(*p)) - low;
        let longest = size.max_element();
        // About two triangles per cell for a square chart.
        let width = ((corners.len() as f64 / 2.0).sqrt() as usize).clamp(1, 512);
        let cells_per_meter = if longest > 0.0 { width as f64 / longest } else { 0.0 };
        Self {
            low,
            cells_per_meter,
            width,
            cells: vec![Vec::new(); width * width],
            used: Vec::new(),
            max_overlap: MAX_OVERLAP * longest,
        }
    }

    fn clear(&mut self) {
        for cell in self.used.drain(..) {
            self.cells[cell].clear();
        }
    }

    /// Places a triangle; returns false, without change, if it would overlap one that is there.
    fn place(&mut self, corners: &[[DVec2; 3]], t: usize) -> bool {
        let [a, b, c] = corners[t];
        let cell = |p: DVec2| {
            let p = (p - self.low) * self.cells_per_meter;
            [p.x, p.y].map(|x| (x as usize).min(self.width - 1))
        };
        let ([x0, y0], [x1, y1]) = (cell(a.min(b).min(c)), cell(a.max(b).max(c)));
        let covered: Vec<usize> =
            (y0..=y1).flat_map(|y| (x0..=x1).map(move |x| (x, y))).map(|(x, y)| y * self.width + x).collect();
        for &cell in &covered {
            if self.cells[cell].iter().any(|&other| overlap(corners[t], corners[other as usize], self.max_overlap)) {
                return false;
            }
        }
        for cell in covered {
            self.cells[cell].push(t as u32);
            self.used.push(cell);
        }
        true
    }
}

/// Whether two counterclockwise triangles overlap by more than `tolerance`: no edge of either
/// separates them.
fn overlap(a: [DVec2; 3], b: [DVec2; 3], tolerance: f64) -> bool {
    let separates = |one: [DVec2; 3], other: [DVec2; 3]| {
        (0..3).any(|i| {
            let edge = one[(i + 1) % 3] - one[i];
            let inwards = edge.perp().normalize_or_zero();
            other.iter().all(|p| inwards.dot(*p - one[i]) <= tolerance)
        })
    };
    !separates(a, b) && !separates(b, a)
}

/// Scales a projected chart to the area of its surface, rotates it for the smallest bounding
/// rectangle, and moves it to the origin.
fn fit(mesh: &TriMesh, triangles: Vec<u32>, mut corners: Vec<[DVec2; 3]>) -> FlatChart {
    let surface: f64 =
        triangles.iter().map(|&t| mesh.corners(t as usize)).map(|[a, b, c]| 0.5 * (b - a).cross(c - a).length()).sum();
    let flat: f64 = corners.iter().map(|&[a, b, c]| 0.5 * (b - a).perp_dot(c - a)).sum();
    let scale = if flat > 0.0 { (surface / flat).sqrt() } else { 1.0 };
    let rectangle = |rotation: DVec2| {
        let points = corners.iter().flatten().map(|p| rotation.rotate(*p));
        points.fold((DVec2::INFINITY, DVec2::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)))
    };
    let rotations =
        (0..NUM_ROTATIONS).map(|i| math::direction(std::f64::consts::FRAC_PI_2 * i as f64 / NUM_ROTATIONS as f64));
    let area = |(low, high): (DVec2, DVec2)| (high - low).element_product();
    let rotation = rotations.min_by(|a, b| area(rectangle(*a)).total_cmp(&area(rectangle(*b)))).unwrap_or(DVec2::X);
    let (low, high) = rectangle(rotation);
    for p in corners.iter_mut().flatten() {
        *p = (rotation.rotate(*p) - low) * scale;
    }
    FlatChart { triangles, corners, size: (high - low) * scale }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_that_share_an_edge_or_a_corner_do_not_overlap() {
        let [a, b, c, d] = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(DVec2::from);
        assert!(!overlap([a, b, c], [a, c, d], 1e-12));
        assert!(!overlap([a, b, c], [c, d, d + DVec2::Y], 1e-12));
        assert!(overlap([a, b, c], [a, b, d], 1e-12));
        assert!(overlap([a, b, c], [a, b, c], 1e-12));
    }
}
