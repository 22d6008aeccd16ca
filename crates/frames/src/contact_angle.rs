//! Contact angle of a triangulated drop, measured on its surface along the contact line.
//!
//! The contact line consists of the edges between a liquid–air triangle and one on a solid. With n
//! the normal of the liquid–air interface at the line, out of the liquid, and N the normal of the
//! solid there,
//!
//! ```text
//! cos θ = n · N
//! ```
//!
//! The normal of the triangle at the line is not n: it belongs to the triangle's center, one or two
//! degrees up the curved surface. Therefore a curved patch is fitted, at each vertex of the line,
//! to the liquid–air vertices around it, and n is the normal of the patch at the vertex. In axes x,
//! y, z at the vertex, z along the mean normal of its triangles, the patch is
//!
//! ```text
//! z = c₀ + c₁x + c₂y + c₃(x² + z²/2) + c₄xy + c₅(y² + z²/2),        n ∝ (−c₁, −c₂, 1)
//! ```
//!
//! by weighted least squares. This is a quadratic height field, hence second-order accurate in the
//! edge length on any smooth surface; the z² terms, which are of fourth order, include every sphere
//! in the family, so that spherical caps are measured exactly at any resolution if their vertices
//! lie on the sphere.
//!
//! The patch radius is `PATCH_RADIUS` typical edges (root mean square over the liquid–air
//! triangles at the line), with weights that decrease smoothly to zero. A single sliver or short
//! edge therefore has little influence: values are smoothed over about 2 × `PATCH_RADIUS` edges
//! of the line. The smallest and the largest value are those of edges, each the mean of its two
//! ends.
//!
//! Limits: shorter features of the line are smoothed away, and a drop of fewer than about twenty
//! triangles is measured by its facets.

use glam::DVec3;
use sessile_geometry::Distance;
use sessile_numerics::math;

use crate::drop_surface::DropSurface;

/// Radius of a patch, in typical edges.
///
/// Tuned on caps of spheres and of 1.4 : 1 : 0.8 ellipsoids, with regular, perturbed and
/// marching-cubes meshes. With 2.5 the error on marching-cubes caps of 1000 triangles rises from
/// 0.4° to 0.7°, with 4 that on ellipsoids of 1000 triangles from 0.3° to 1°.
const PATCH_RADIUS: f64 = 3.0;
/// Weight of a vertex on the contact line relative to one in the interior of the interface.
///
/// Vertices of an isosurface on the line come from grid edges along the solid and lie up to h²/8R
/// inside the surface. With full weight this changes the angle of a 150° cap of 5000 triangles by
/// 0.4°, with a tenth by 0.2°; without them the fit is poorly constrained.
const LINE_WEIGHT: f64 = 0.1;
/// Smallest number of points of a patch, which has six unknowns; smaller patches are enlarged.
const MIN_POINTS: usize = 9;
/// Largest number of points of a patch; the nearest along the surface are used.
const MAX_POINTS: usize = 96;

/// An edge of a contact line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineEdge {
    /// Index of its solid.
    pub solid: usize,
    /// Length, in m.
    pub length: f64,
    /// Contact angle, in rad.
    pub angle: f64,
}

/// The liquid–air interface of a drop, with the triangles at each vertex.
struct Interface<'a> {
    surface: &'a DropSurface,
    starts: Vec<u32>,
    faces: Vec<u32>,
}

impl<'a> Interface<'a> {
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

/// Contact lines of a drop on all solids; edges in the order of the triangles on solids.
///
/// `is_air` selects the liquid–air triangles: those on no solid, except the end faces of a planar
/// run. Every solid index on the surface must be valid for `solids`.
pub fn contact_line(surface: &DropSurface, is_air: impl Fn(usize) -> bool, solids: &[&dyn Distance]) -> Vec<LineEdge> {
    if surface.solids.iter().all(|&solid| solid < 0) {
        return Vec::new();
    }
    let interface = Interface::new(surface, is_air);
    let edges = contact_edges(&interface);
    // A vertex has one angle per solid whose contact line contains it.
    let mut ends: Vec<(u32, usize)> = edges.iter().flat_map(|&(a, b, solid)| [(a, solid), (b, solid)]).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut patches = Patches::new(&interface, &ends);
    let angles: Vec<Option<f64>> = ends
        .iter()
        .map(|&(vertex, solid)| {
            let out_of_liquid = patches.normal(vertex)?;
            let out_of_solid = solids[solid].closest(surface.positions[vertex as usize]).normal;
            Some(math::atan2(out_of_liquid.cross(out_of_solid).length(), out_of_liquid.dot(out_of_solid)))
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

/// Edges of triangles on solids that a liquid–air triangle shares, with the solid.
fn contact_edges(interface: &Interface<'_>) -> Vec<(u32, u32, usize)> {
    let mut edges = Vec::new();
    for (triangle, &solid) in interface.surface.triangles.iter().zip(&interface.surface.solids) {
        let Ok(solid) = usize::try_from(solid) else { continue };
        let [i, j, k] = *triangle;
        edges.extend(
            [(i, j), (j, k), (k, i)].into_iter().filter(|&(a, b)| interface.has_edge(a, b)).map(|(a, b)| (a, b, solid)),
        );
    }
    edges
}

/// Fits patches with shared scratch memory.
struct Patches<'a> {
    interface: &'a Interface<'a>,
    /// Radius of a patch, in m.
    radius: f64,
    /// Whether each vertex is on a contact line.
    on_line: Vec<bool>,
    /// Last patch that contains each vertex.
    last_patch: Vec<u32>,
    patch: u32,
    points: Vec<u32>,
}

impl<'a> Patches<'a> {
    fn new(interface: &'a Interface<'a>, ends: &[(u32, usize)]) -> Self {
        let num_vertices = interface.surface.positions.len();
        let (mut squares, mut count) = (0.0, 0.0);
        let mut on_line = vec![false; num_vertices];
        for &(vertex, _) in ends {
            on_line[vertex as usize] = true;
            for &t in interface.around(vertex) {
                let [a, b, c] = interface.surface.corners(t as usize);
                squares += a.distance_squared(b) + b.distance_squared(c) + c.distance_squared(a);
                count += 3.0;
            }
        }
        let radius = if count > 0.0 { PATCH_RADIUS * f64::sqrt(squares / count) } else { 0.0 };
        Self { interface, radius, on_line, last_patch: vec![0; num_vertices], patch: 0, points: Vec::new() }
    }

    /// Unit normal of the interface at a vertex, out of the liquid; `None` if its triangles have no
    /// area.
    fn normal(&mut self, vertex: u32) -> Option<DVec3> {
        let surface = self.interface.surface;
        let facets: DVec3 = self.interface.around(vertex).iter().map(|&t| surface.doubled_area(t as usize)).sum();
        let facets = facets.try_normalize()?;
        let mut radius = self.radius;
        self.gather(vertex, radius);
        while self.points.len() < MIN_POINTS && radius < 3.0 * self.radius {
            radius *= 1.5;
            self.gather(vertex, radius);
        }
        // The fit is most accurate along its own normal, so a steep one is repeated along the
        // result.
        const STEEP: f64 = 0.3;
        let mut normal = facets;
        for _ in 0..3 {
            let Some(slope) = self.fit(vertex, normal, radius) else { return Some(facets) };
            let steep = slope.length() > STEEP;
            normal = (normal + slope).normalize();
            if !steep {
                break;
            }
        }
        // A normal far from that of the triangles is a failed fit.
        Some(if normal.dot(facets) > 0.5 { normal } else { facets })
    }

    /// Collects the vertices within `radius` of `center` that the interface connects to it within
    /// that distance.
    fn gather(&mut self, center: u32, radius: f64) {
        let surface = self.interface.surface;
        let origin = surface.positions[center as usize];
        self.patch += 1;
        self.points.clear();
        self.points.push(center);
        self.last_patch[center as usize] = self.patch;
        let mut next = 0;
        while next < self.points.len() && self.points.len() < MAX_POINTS {
            for &t in self.interface.around(self.points[next]) {
                for v in surface.triangles[t as usize] {
                    let free = self.last_patch[v as usize] != self.patch;
                    if free && surface.positions[v as usize].distance_squared(origin) < radius * radius {
                        self.last_patch[v as usize] = self.patch;
                        self.points.push(v);
                    }
                }
            }
            next += 1;
        }
    }

    /// Offset from `normal` to the direction of the patch normal at `center`; `None` if the points
    /// determine no patch.
    fn fit(&self, center: u32, normal: DVec3, radius: f64) -> Option<DVec3> {
        if self.points.len() < 6 {
            return None;
        }
        let (x_axis, y_axis) = normal.any_orthonormal_pair();
        let origin = self.interface.surface.positions[center as usize];
        let mut equations = [[0.0; 7]; 6];
        for &v in &self.points {
            // In units of the radius, so that all columns are of similar size.
            let offset = (self.interface.surface.positions[v as usize] - origin) / radius;
            let (x, y, z) = (offset.dot(x_axis), offset.dot(y_axis), offset.dot(normal));
            let share = if self.on_line[v as usize] { LINE_WEIGHT } else { 1.0 };
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

/// Solves symmetric equations, given as upper triangle and right-hand side, by LDLᵀ.
///
/// The diagonal is regularized by a small multiple of the trace, so that a coefficient that the
/// points do not determine (all in two rows, as in a planar run) stays near zero.
fn solve(equations: &mut [[f64; 7]; 6]) -> Option<[f64; 6]> {
    const REGULARIZATION: f64 = 1e-11;
    let size: f64 = (0..6).map(|i| equations[i][i]).sum();
    for (i, equation) in equations.iter_mut().enumerate() {
        equation[i] += REGULARIZATION * size;
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
