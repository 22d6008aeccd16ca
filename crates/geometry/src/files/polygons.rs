//! Polygons of a file, collected corner by corner and triangulated when all vertices are known.

use glam::{DVec2, DVec3};

use super::MAX_ELEMENTS;
use super::error::{Location, ParseError, Problem};
use crate::TriMesh;

/// Polygons with more corners than this become a fan even if they are not convex: the time of ear
/// clipping grows with the square of the number of corners, and real meshes have no such faces.
const MAX_EAR_CORNERS: usize = 4096;

/// Most corners compared with ears of one polygon. The rest of a polygon that needs more becomes a
/// fan.
const MAX_COMPARISONS: usize = 1 << 22;

/// The vertices and polygons of a file.
#[derive(Default)]
pub(super) struct Polygons {
    pub positions: Vec<DVec3>,
    corners: Vec<u32>,
    /// Texture coordinates of `corners`; shorter when the last corners have none.
    uvs: Vec<DVec2>,
    /// The end of each polygon in `corners`.
    ends: Vec<usize>,
}

impl Polygons {
    /// Adds a corner to the polygon that [`Self::close`] will end.
    pub fn corner(&mut self, vertex: u32, uv: Option<DVec2>) {
        if let Some(uv) = uv {
            self.uvs.resize(self.corners.len(), DVec2::ZERO);
            self.uvs.push(uv);
        }
        self.corners.push(vertex);
    }

    /// Ends the polygon, which must have at least three corners.
    pub fn close(&mut self, location: impl Fn() -> Location) -> Result<(), ParseError> {
        let corners = self.corners.len() - self.ends.last().copied().unwrap_or(0);
        if corners < 3 {
            return Err(ParseError::unexpected(location(), "a face of at least 3 corners", format!("{corners}")));
        }
        if self.corners.len() > 3 * MAX_ELEMENTS {
            return Err(ParseError::new(location(), Problem::TooMany { what: "triangles", limit: MAX_ELEMENTS }));
        }
        self.ends.push(self.corners.len());
        Ok(())
    }

    /// The triangles of all polygons. All vertex indices must be valid.
    pub fn into_mesh(mut self) -> TriMesh {
        let has_uvs = !self.uvs.is_empty();
        if has_uvs {
            self.uvs.resize(self.corners.len(), DVec2::ZERO);
        }
        let mut mesh = TriMesh::default();
        let mut start = 0;
        let mut points = Vec::new();
        for &end in &self.ends {
            let corners = &self.corners[start..end];
            points.clear();
            points.extend(corners.iter().map(|&v| self.positions[v as usize]));
            triangulate(&points, |cut| {
                mesh.triangles.push(cut.map(|k| corners[k]));
                if has_uvs {
                    mesh.corner_uvs.push(cut.map(|k| self.uvs[start + k]));
                }
            });
            start = end;
        }
        mesh.positions = self.positions;
        mesh
    }
}

/// Triangulates a polygon, keeping its orientation: a fan from its first corner if it is convex,
/// else by ear clipping.
fn triangulate(points: &[DVec3], mut emit: impl FnMut([usize; 3])) {
    let num_corners = points.len();
    let fan_from = |rest: &[usize], emit: &mut dyn FnMut([usize; 3])| {
        for pair in rest[1..].windows(2) {
            emit([rest[0], pair[0], pair[1]]);
        }
    };
    let mut rest: Vec<usize> = (0..num_corners).collect();
    if num_corners == 3 || num_corners > MAX_EAR_CORNERS {
        return fan_from(&rest, &mut emit);
    }
    let flat = flatten(points);
    if (0..num_corners).all(|k| turn(flat[k], flat[(k + 1) % num_corners], flat[(k + 2) % num_corners]) >= 0.0) {
        return fan_from(&rest, &mut emit);
    }
    let mut comparisons = 0;
    while rest.len() > 3 {
        let n = rest.len();
        let around = |k: usize| [rest[(k + n - 1) % n], rest[k], rest[(k + 1) % n]];
        let turn_at = |k: usize| {
            let [a, b, c] = around(k);
            turn(flat[a], flat[b], flat[c])
        };
        let reflex: Vec<usize> = (0..n).filter(|&k| turn_at(k) <= 0.0).map(|k| rest[k]).collect();
        let ear = (0..n).find(|&k| {
            let [a, b, c] = around(k);
            let is_convex = comparisons < MAX_COMPARISONS && turn_at(k) > 0.0;
            comparisons += if is_convex { reflex.len() } else { 1 };
            let is_inside = |&p: &usize| p != a && p != b && p != c && contains([flat[a], flat[b], flat[c]], flat[p]);
            is_convex && !reflex.iter().any(is_inside)
        });
        // A polygon that intersects itself may have no ear left: the rest becomes a fan, and repair
        // reports it.
        let Some(k) = ear else { break };
        emit(around(k));
        rest.remove(k);
    }
    fan_from(&rest, &mut emit);
}

/// The polygon projected along its mean normal (Newell's method), counterclockwise.
fn flatten(points: &[DVec3]) -> Vec<DVec2> {
    let origin = points[0];
    let normal: DVec3 = (0..points.len())
        .map(|k| (points[k] - origin).cross(points[(k + 1) % points.len()] - origin))
        .fold(DVec3::ZERO, |sum, area| sum + area);
    let size = normal.abs();
    let drop_axis = |p: DVec3| {
        if size.z >= size.x && size.z >= size.y {
            DVec2::new(p.x, p.y) * DVec2::new(normal.z.signum(), 1.0)
        } else if size.y >= size.x {
            DVec2::new(p.z, p.x) * DVec2::new(normal.y.signum(), 1.0)
        } else {
            DVec2::new(p.y, p.z) * DVec2::new(normal.x.signum(), 1.0)
        }
    };
    points.iter().map(|&p| drop_axis(p - origin)).collect()
}

/// Twice the signed area of a triangle: positive for a left turn.
fn turn(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    (b - a).perp_dot(c - b)
}

fn contains([a, b, c]: [DVec2; 3], p: DVec2) -> bool {
    turn(a, b, p) >= 0.0 && turn(b, c, p) >= 0.0 && turn(c, a, p) >= 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(points: &[DVec3]) -> Vec<[usize; 3]> {
        let mut cuts = Vec::new();
        triangulate(points, |cut| cuts.push(cut));
        cuts
    }

    fn area(points: &[DVec3], cuts: &[[usize; 3]]) -> DVec3 {
        cuts.iter().map(|&[a, b, c]| 0.5 * (points[b] - points[a]).cross(points[c] - points[a])).sum()
    }

    #[test]
    fn convex_polygon_becomes_a_fan() {
        let square = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(|(x, y)| DVec3::new(x, y, 0.0));
        assert_eq!(cut(&square), [[0, 1, 2], [0, 2, 3]]);
    }

    #[test]
    fn concave_polygon_is_covered_once_in_every_orientation() {
        // An arrowhead whose fan from corner 0 would cover the notch.
        let outline = [(0.0, 0.0), (2.0, -2.0), (1.0, 0.0), (2.0, 2.0), (-0.5, 0.5)];
        for axis in 0..3 {
            let points: Vec<DVec3> = outline
                .iter()
                .map(|&(x, y)| {
                    let mut p = [x, y, 0.25];
                    p.rotate_right(axis);
                    DVec3::from(p)
                })
                .collect();
            for reversed in [false, true] {
                let mut points = points.clone();
                if reversed {
                    points.reverse();
                }
                let cuts = cut(&points);
                let normal = area(&points, &cuts).normalize();
                let unsigned: f64 = cuts.iter().map(|&one| area(&points, &[one]).length()).sum();
                assert_eq!(cuts.len(), 3);
                for &one in &cuts {
                    let along = area(&points, &[one]).dot(normal);
                    assert!(along > 0.0, "triangle {one:?} has area {along} against the polygon's normal");
                }
                assert!((unsigned - 3.0).abs() < 1e-12, "covered area {unsigned}, the polygon has 3");
            }
        }
    }
}
