//! Charts laid flat: seen along their axis, and divided where one part would cover another.

use std::collections::VecDeque;

use glam::{DVec2, DVec3};

use super::charts::Chart;
use crate::TriMesh;

/// How far two triangles may reach into each other, relative to the chart, and still count as side by side.
const TOUCH: f64 = 1e-10;

/// Cosine of the largest tilt at which a triangle may be seen along the mean normal of its chart.
const MIN_FACING: f64 = 0.65;

/// Turns tried, over a quarter of a circle, for the one with the smallest upright box.
const NUM_TURNS: usize = 30;

/// A chart in the plane, in m.
#[derive(Clone, Debug)]
pub(super) struct FlatChart {
    /// Its triangles, in rising order.
    pub triangles: Vec<u32>,
    /// The corners of each, anticlockwise; the smallest coordinates are zero.
    pub corners: Vec<[DVec2; 3]>,
    /// Width and height.
    pub size: DVec2,
}

/// Lays a chart flat. The result is more than one chart if parts of it would overlap.
pub(super) fn flatten(
    mesh: &TriMesh,
    across: &[[Option<u32>; 3]],
    chart: &Chart,
    places: &mut [u32],
) -> Vec<FlatChart> {
    let axis = viewing_axis(mesh, chart);
    let x = axis.any_orthonormal_vector();
    let y = axis.cross(x);
    let project = |&t: &u32| mesh.corners(t as usize).map(|p| DVec2::new(p.dot(x), p.dot(y)));
    let corners: Vec<[DVec2; 3]> = chart.triangles.iter().map(project).collect();
    for (place, &t) in chart.triangles.iter().enumerate() {
        places[t as usize] = place as u32;
    }
    let parts = separate(&corners, |place| {
        let neighbors = across[chart.triangles[place] as usize].into_iter().flatten();
        neighbors.map(|t| places[t as usize]).filter(|&place| place != OUTSIDE).map(|place| place as usize).collect()
    });
    for &t in &chart.triangles {
        places[t as usize] = OUTSIDE;
    }
    parts
        .into_iter()
        .map(|part| {
            let triangles: Vec<u32> = part.iter().map(|&place| chart.triangles[place]).collect();
            let corners = part.iter().map(|&place| corners[place]).collect();
            fit(mesh, triangles, corners)
        })
        .collect()
}

/// Marks a triangle that is not in the chart at hand.
pub(super) const OUTSIDE: u32 = u32::MAX;

/// The mean normal if every triangle faces it well, else the axis of the cone, which they all do.
fn viewing_axis(mesh: &TriMesh, chart: &Chart) -> DVec3 {
    let normals = || chart.triangles.iter().map(|&t| mesh.corners(t as usize)).map(|[a, b, c]| (b - a).cross(c - a));
    let mean = normals().sum::<DVec3>().normalize_or_zero();
    let faces_all = mean != DVec3::ZERO && normals().all(|normal| normal.dot(mean) >= MIN_FACING * normal.length());
    match (faces_all, chart.axis == DVec3::ZERO) {
        (true, _) => mean,
        (false, false) => chart.axis,
        // Nothing but triangles without area: any view will do.
        (false, true) => DVec3::Z,
    }
}

/// Divides triangles into connected parts without overlap, each in rising order.
fn separate(corners: &[[DVec2; 3]], neighbors: impl Fn(usize) -> Vec<usize>) -> Vec<Vec<usize>> {
    let mut parts: Vec<Vec<usize>> = Vec::new();
    let mut placed = vec![false; corners.len()];
    let mut tried_in = vec![None; corners.len()];
    let mut ground = Ground::new(corners);
    for start in 0..corners.len() {
        if placed[start] {
            continue;
        }
        let index = parts.len();
        let mut part = Vec::new();
        let mut queue = VecDeque::from([start]);
        tried_in[start] = Some(index);
        ground.clear();
        while let Some(t) = queue.pop_front() {
            // One that covers something is left for a later part.
            if !ground.place(corners, t) {
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

/// The plane, in cells, with the triangles that lie on each.
struct Ground {
    low: DVec2,
    cells_per_meter: f64,
    width: usize,
    cells: Vec<Vec<u32>>,
    used: Vec<usize>,
    touch: f64,
}

impl Ground {
    fn new(corners: &[[DVec2; 3]]) -> Self {
        let points = || corners.iter().flatten();
        let low = points().fold(DVec2::INFINITY, |low, p| low.min(*p));
        let size = points().fold(DVec2::NEG_INFINITY, |high, p| high.max(*p)) - low;
        let longest = size.max_element();
        // About two triangles to a cell of a square chart.
        let width = ((corners.len() as f64 / 2.0).sqrt() as usize).clamp(1, 512);
        let cells_per_meter = if longest > 0.0 { width as f64 / longest } else { 0.0 };
        Self {
            low,
            cells_per_meter,
            width,
            cells: vec![Vec::new(); width * width],
            used: Vec::new(),
            touch: TOUCH * longest,
        }
    }

    fn clear(&mut self) {
        for cell in self.used.drain(..) {
            self.cells[cell].clear();
        }
    }

    /// Puts a triangle down; false, and nothing done, if it would overlap one that lies there.
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
            if self.cells[cell].iter().any(|&other| overlap(corners[t], corners[other as usize], self.touch)) {
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

/// Whether two anticlockwise triangles reach into each other by more than `touch`: no side of either separates them.
fn overlap(a: [DVec2; 3], b: [DVec2; 3], touch: f64) -> bool {
    let separates = |one: [DVec2; 3], other: [DVec2; 3]| {
        (0..3).any(|i| {
            let side = one[(i + 1) % 3] - one[i];
            let inwards = side.perp().normalize_or_zero();
            other.iter().all(|p| inwards.dot(*p - one[i]) <= touch)
        })
    };
    !separates(a, b) && !separates(b, a)
}

/// Gives a flat chart the area of its surface, turns it for the smallest upright box, and moves it to the origin.
fn fit(mesh: &TriMesh, triangles: Vec<u32>, mut corners: Vec<[DVec2; 3]>) -> FlatChart {
    let surface: f64 =
        triangles.iter().map(|&t| mesh.corners(t as usize)).map(|[a, b, c]| 0.5 * (b - a).cross(c - a).length()).sum();
    let flat: f64 = corners.iter().map(|&[a, b, c]| 0.5 * (b - a).perp_dot(c - a)).sum();
    let scale = if flat > 0.0 { (surface / flat).sqrt() } else { 1.0 };
    let upright_box = |turn: DVec2| {
        let points = corners.iter().flatten().map(|p| turn.rotate(*p));
        points.fold((DVec2::INFINITY, DVec2::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)))
    };
    let turns = (0..NUM_TURNS).map(|i| DVec2::from_angle(std::f64::consts::FRAC_PI_2 * i as f64 / NUM_TURNS as f64));
    let area = |(low, high): (DVec2, DVec2)| (high - low).element_product();
    let turn = turns.min_by(|a, b| area(upright_box(*a)).total_cmp(&area(upright_box(*b)))).unwrap_or(DVec2::X);
    let (low, high) = upright_box(turn);
    for p in corners.iter_mut().flatten() {
        *p = (turn.rotate(*p) - low) * scale;
    }
    FlatChart { triangles, corners, size: (high - low) * scale }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_that_share_a_side_or_a_corner_do_not_overlap() {
        let [a, b, c, d] = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(DVec2::from);
        assert!(!overlap([a, b, c], [a, c, d], 1e-12));
        assert!(!overlap([a, b, c], [c, d, d + DVec2::Y], 1e-12));
        assert!(overlap([a, b, c], [a, b, d], 1e-12));
        assert!(overlap([a, b, c], [a, b, c], 1e-12));
    }
}
