//! The contact angle of a triangulated drop, measured on its surface along the contact line.
//!
//! The contact line is made of the edges between a liquid–air triangle and one that lies on a solid. With n the normal out of
//! the liquid on the line and N the solid's normal there,
//!
//! ```text
//! cos θ = n · N
//! ```
//!
//! The triangle that touches the line does not know n: its normal belongs to somewhere in its middle, one or two degrees up the
//! curved surface. So at each vertex of the line a curved patch is fitted to the vertices of the liquid–air surface around
//! it, and n is the patch's normal at the vertex itself. In axes x, y, z at the vertex, z along the mean normal of the
//! triangles there, the patch is
//!
//! ```text
//! z = c₀ + c₁x + c₂y + c₃(x² + z²/2) + c₄xy + c₅(y² + z²/2),        n ∝ (−c₁, −c₂, 1)
//! ```
//!
//! by weighted least squares. This is a quadratic height field, hence second-order accurate in the edge length on any smooth
//! surface; the z² terms, themselves of fourth order, make every sphere a member of the family, however it is tilted, so
//! that spherical caps are measured exactly at any resolution if only their vertices lie on the sphere.
//!
//! The patch reaches [`REACH`] typical edges (the root mean square over the liquid–air triangles that touch the line) along
//! the surface, with weights that fall smoothly to zero there. One sliver or one short edge therefore has no say of its own:
//! every value is smoothed over a stretch of about 2 × [`REACH`] edges of the line, and the least and the largest value are those
//! of edges, each the mean of its two ends.
//!
//! Limits: a feature of the line shorter than that is smoothed away, and a drop of fewer than about twenty triangles is
//! measured by its facets.

use glam::DVec3;
use sessile_geometry::Distance;

use crate::drop_surface::DropSurface;

/// How far a patch reaches, in typical edges.
///
/// Tuned on caps of spheres and of 1.4 : 1 : 0.8 ellipsoids, in rings, shaken and through marching cubes. With 2.5 the error on
/// marching-cubes caps of 1000 triangles doubles (0.4° to 0.7°), with 4 that on ellipsoids of 1000 triangles triples (0.3° to 1°).
pub const REACH: f64 = 3.0;
/// Weight of a vertex on the contact line against one in the liquid's surface.
///
/// Vertices of an isosurface on the line come from grid edges along the solid and sit deeper than the others, by up to h²/8R;
/// with full weight that tilts a 150° cap of 5000 triangles by 0.4°, with a tenth 0.2°, and none at all leaves the fit loose.
const LINE_SHARE: f64 = 0.1;
/// A patch with fewer points than this is widened: six unknowns, and some to spare.
const LEAST_POINTS: usize = 9;
/// A patch takes no more points than this, the nearest along the surface.
const MOST_POINTS: usize = 96;

/// An edge of a contact line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineEdge {
    /// Index of the solid that it lies on.
    pub solid: usize,
    /// Its length, in m.
    pub length: f64,
    /// Contact angle on it, in rad.
    pub angle: f64,
}

/// The liquid–air part of a drop's surface: the triangles round each vertex.
struct Sheet<'a> {
    surface: &'a DropSurface,
    starts: Vec<u32>,
    faces: Vec<u32>,
}

impl<'a> Sheet<'a> {
    fn new(surface: &'a DropSurface, is_air: impl Fn(usize) -> bool) -> Self {
        let mut starts = vec![0_u32; surface.positions.len() + 1];
        let air: Vec<u32> = (0..surface.triangles.len()).filter(|&t| is_air(t)).map(|t| t as u32).collect();
        for &t in &air {
            for v in surface.triangles[t as usize] {
                starts[v as usize + 1] += 1;
            }
        }
        for v in 0..surface.positions.len() {
            starts[v + 1] += starts[v];
        }
        let mut next = starts.clone();
        let mut faces = vec![0; 3 * air.len()];
        for &t in &air {
            for v in surface.triangles[t as usize] {
                faces[next[v as usize] as usize] = t;
                next[v as usize] += 1;
            }
        }
        Self { surface, starts, faces }
    }

    /// The liquid–air triangles at a vertex.
    fn around(&self, vertex: u32) -> &[u32] {
        &self.faces[self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize]
    }

    fn has_edge(&self, a: u32, b: u32) -> bool {
        self.around(a).iter().any(|&t| self.surface.triangles[t as usize].contains(&b))
    }
}

/// Measures the contact lines of a drop on all solids; edges in the order of the triangles that lie on solids.
///
/// `is_air` tells the liquid–air triangles: those on no solid, less the end faces of a planar run. Every solid index on the
/// surface must be one of `solids`.
pub fn contact_line(surface: &DropSurface, is_air: impl Fn(usize) -> bool, solids: &[&dyn Distance]) -> Vec<LineEdge> {
    if surface.solids.iter().all(|&solid| solid < 0) {
        return Vec::new();
    }
    let sheet = Sheet::new(surface, is_air);
    let edges = contact_edges(&sheet);
    // A vertex has an angle for each solid whose line it is on.
    let mut ends: Vec<(u32, usize)> = edges.iter().flat_map(|&(a, b, solid)| [(a, solid), (b, solid)]).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut patches = Patches::new(&sheet, &ends);
    let angles: Vec<Option<f64>> = ends
        .iter()
        .map(|&(vertex, solid)| {
            let out_of_liquid = patches.normal(vertex)?;
            let out_of_solid = solids[solid].closest(surface.positions[vertex as usize]).normal;
            Some(out_of_liquid.cross(out_of_solid).length().atan2(out_of_liquid.dot(out_of_solid)))
        })
        .collect();
    let angle = |vertex, solid| ends.binary_search(&(vertex, solid)).ok().and_then(|k| angles[k]);
    edges
        .into_iter()
        .filter_map(|(a, b, solid)| {
            let length = surface.positions[a as usize].distance(surface.positions[b as usize]);
            let angle = match (angle(a, solid), angle(b, solid)) {
                (Some(a), Some(b)) => 0.5 * (a + b),
                (one, other) => one.or(other)?,
            };
            Some(LineEdge { solid, length, angle })
        })
        .collect()
}

/// The edges of triangles on solids that a liquid–air triangle shares, with the solid.
fn contact_edges(sheet: &Sheet<'_>) -> Vec<(u32, u32, usize)> {
    let mut edges = Vec::new();
    for (triangle, &solid) in sheet.surface.triangles.iter().zip(&sheet.surface.solids) {
        let Ok(solid) = usize::try_from(solid) else { continue };
        let [i, j, k] = *triangle;
        edges.extend(
            [(i, j), (j, k), (k, i)].into_iter().filter(|&(a, b)| sheet.has_edge(a, b)).map(|(a, b)| (a, b, solid)),
        );
    }
    edges
}

/// Fits patches, one after another, with memory that they share.
struct Patches<'a> {
    sheet: &'a Sheet<'a>,
    /// Where a patch ends, in m.
    reach: f64,
    /// Whether each vertex lies on a contact line.
    on_line: Vec<bool>,
    /// The patch that last took each vertex.
    taken: Vec<u32>,
    patch: u32,
    points: Vec<u32>,
}

impl<'a> Patches<'a> {
    fn new(sheet: &'a Sheet<'a>, ends: &[(u32, usize)]) -> Self {
        let num_vertices = sheet.surface.positions.len();
        let (mut squares, mut count) = (0.0, 0.0);
        let mut on_line = vec![false; num_vertices];
        for &(vertex, _) in ends {
            on_line[vertex as usize] = true;
            for &t in sheet.around(vertex) {
                let [a, b, c] = sheet.surface.corners(t as usize);
                squares += a.distance_squared(b) + b.distance_squared(c) + c.distance_squared(a);
                count += 3.0;
            }
        }
        let reach = if count > 0.0 { REACH * f64::sqrt(squares / count) } else { 0.0 };
        Self { sheet, reach, on_line, taken: vec![0; num_vertices], patch: 0, points: Vec::new() }
    }

    /// Unit normal of the liquid's surface at a vertex, out of the liquid; `None` where its triangles have no area.
    fn normal(&mut self, vertex: u32) -> Option<DVec3> {
        let surface = self.sheet.surface;
        let facets: DVec3 = self.sheet.around(vertex).iter().map(|&t| surface.doubled_area(t as usize)).sum();
        let facets = facets.try_normalize()?;
        let mut reach = self.reach;
        self.gather(vertex, reach);
        while self.points.len() < LEAST_POINTS && reach < 3.0 * self.reach {
            reach *= 1.5;
            self.gather(vertex, reach);
        }
        // The fit is best along its own normal, so a steep one is made again along what it found.
        const STEEP: f64 = 0.3;
        let mut normal = facets;
        for _ in 0..3 {
            let Some(slope) = self.fit(vertex, normal, reach) else { return Some(facets) };
            let steep = slope.length() > STEEP;
            normal = (normal + slope).normalize();
            if !steep {
                break;
            }
        }
        // Vertices that all but contradict the triangles between them are no surface to fit.
        Some(if normal.dot(facets) > 0.5 { normal } else { facets })
    }

    /// Collects the vertices within `reach` of `center` that the sheet connects to it within that distance.
    fn gather(&mut self, center: u32, reach: f64) {
        let surface = self.sheet.surface;
        let origin = surface.positions[center as usize];
        self.patch += 1;
        self.points.clear();
        self.points.push(center);
        self.taken[center as usize] = self.patch;
        let mut next = 0;
        while next < self.points.len() && self.points.len() < MOST_POINTS {
            for &t in self.sheet.around(self.points[next]) {
                for v in surface.triangles[t as usize] {
                    let free = self.taken[v as usize] != self.patch;
                    if free && surface.positions[v as usize].distance_squared(origin) < reach * reach {
                        self.taken[v as usize] = self.patch;
                        self.points.push(v);
                    }
                }
            }
            next += 1;
        }
    }

    /// What to add to `normal` for the direction of the patch's normal at `center`; `None` when the points determine no patch.
    fn fit(&self, center: u32, normal: DVec3, reach: f64) -> Option<DVec3> {
        if self.points.len() < 6 {
            return None;
        }
        let (x_axis, y_axis) = normal.any_orthonormal_pair();
        let origin = self.sheet.surface.positions[center as usize];
        let mut equations = [[0.0; 7]; 6];
        for &v in &self.points {
            // In units of the reach, so that all columns are of one size.
            let offset = (self.sheet.surface.positions[v as usize] - origin) / reach;
            let (x, y, z) = (offset.dot(x_axis), offset.dot(y_axis), offset.dot(normal));
            let share = if self.on_line[v as usize] { LINE_SHARE } else { 1.0 };
            let weight = share * (1.0 - offset.length_squared()).powi(2);
            let row = [1.0, x, y, x * x + 0.5 * z * z, x * y, y * y + 0.5 * z * z, z];
            for i in 0..6 {
                for j in i..7 {
                    equations[i][j] += weight * row[i] * row[j];
                }
            }
        }
        let c = solve(&mut equations)?;
        Some(-c[1] * x_axis - c[2] * y_axis)
    }
}

/// Solves the symmetric equations, given as upper triangle and right-hand side, by LDLᵀ.
///
/// A trace of the diagonal is added to it: where the points leave a coefficient open (all in two rows, as in a planar run) it
/// stays near zero instead of ruining the others.
fn solve(equations: &mut [[f64; 7]; 6]) -> Option<[f64; 6]> {
    const TRACE: f64 = 1e-11;
    let size: f64 = (0..6).map(|i| equations[i][i]).sum();
    for (i, equation) in equations.iter_mut().enumerate() {
        equation[i] += TRACE * size;
    }
    for i in 0..6 {
        let row = equations[i];
        if row[i].is_nan() || row[i] <= 0.0 {
            return None;
        }
        for (k, below) in equations.iter_mut().enumerate().skip(i + 1) {
            let factor = row[k] / row[i];
            for (value, above) in below[k..].iter_mut().zip(&row[k..]) {
                *value -= factor * above;
            }
        }
    }
    let mut c = [0.0; 6];
    for i in (0..6).rev() {
        let known: f64 = (i + 1..6).map(|j| equations[i][j] * c[j]).sum();
        c[i] = (equations[i][6] - known) / equations[i][i];
    }
    c.iter().all(|value| value.is_finite()).then_some(c)
}

#[cfg(test)]
mod tests;
