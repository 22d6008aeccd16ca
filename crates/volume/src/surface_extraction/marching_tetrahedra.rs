//! The body {a < 0, b < 0} in one tetrahedron, a and b linear in it: its part of the surface, as
//! polygons.
//!
//! Every decision is made on the tetrahedron's edges, from their two ends alone: whether a or b
//! changes sign, and which of the two crossings comes first if both do. What happens on a face
//! follows from the order of crossings around it, without arithmetic, and so does what happens
//! inside. Tetrahedra that share a face therefore agree on it despite rounding, and the surface is
//! closed.
//!
//! ```text
//!        n₂                 On a face: the zero lines of a (─) and b (═), the body {a < 0, b < 0} between them.
//!       ╱  ╲                They cross (C) just when their ends alternate around the face.
//!      A ─ ╲ ═ B            The part A–C bounds the interface polygon, C–B the wetted one;
//!     ╱  ═ C─  ╲            in the tetrahedron the two share the edge C–C′ to the other face that is crossed so.
//!   n₀ ═════════ n₁
//! ```

use glam::DVec3;

/// Where a vertex of the surface lies in a tetrahedron with corners 0 to 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    /// A corner (of a flat end only).
    Corner(usize),
    /// a = 0 on an edge.
    Air(usize),
    /// b = 0 on an edge.
    Wall(usize),
    /// a = b = 0 on the face opposite to this corner.
    Line(usize),
}

/// The corners of the edges.
pub const EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
/// The corners of the face opposite to each corner, counter-clockwise from outside if the
/// tetrahedron is positive.
const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// Least distance of a vertex from the ends of its edge, as a fraction of its length.
const MARGIN: f64 = 1e-4;

fn edge_between(i: usize, j: usize) -> usize {
    let ends = [i.min(j), i.max(j)];
    EDGES.iter().position(|&edge| edge == ends).expect("any two corners share an edge")
}

impl Site {
    const COUNT: usize = 20;

    fn code(self) -> usize {
        match self {
            Self::Corner(i) => i,
            Self::Air(e) => 4 + e,
            Self::Wall(e) => 10 + e,
            Self::Line(f) => 16 + f,
        }
    }

    fn of_code(code: usize) -> Self {
        match code {
            0..4 => Self::Corner(code),
            4..10 => Self::Air(code - 4),
            10..16 => Self::Wall(code - 10),
            _ => Self::Line(code - 16),
        }
    }
}

/// What bounds the body along an edge of a polygon on a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Edge(usize),
    Air,
    Wall,
}

/// A tetrahedron with the values of a and b at its corners.
pub struct Tetrahedron {
    a: [f64; 4],
    b: [f64; 4],
    /// Fraction along each edge at which a, b vanishes, if it does.
    cuts: [[Option<f64>; 2]; 6],
    positive: bool,
}

/// A polygon of the surface, counter-clockwise seen from outside the body.
pub struct Polygon<'a> {
    /// Its corners.
    pub places: &'a [Site],
    /// Whether it lies on the wall: b = 0.
    pub wall: bool,
}

impl Tetrahedron {
    /// Values at the corners; `positive` if (v₁ − v₀)·((v₂ − v₀) × (v₃ − v₀)) > 0. Zero counts as
    /// outside.
    pub fn new(a: [f64; 4], b: [f64; 4], positive: bool) -> Self {
        let cut = |v: &[f64; 4], [i, j]: [usize; 2]| {
            let crosses = (v[i] < 0.0) != (v[j] < 0.0);
            crosses.then(|| v[i] / (v[i] - v[j])).filter(|cut| !cut.is_nan())
        };
        Self { a, b, cuts: EDGES.map(|edge| [cut(&a, edge), cut(&b, edge)]), positive }
    }

    /// Whether b < 0 where a vanishes on an edge.
    fn b_is_negative_at_air(&self, edge: usize) -> bool {
        let [at_a, at_b] = self.cuts[edge];
        let at_first = self.b[EDGES[edge][0]] < 0.0;
        at_a.zip(at_b).map_or(at_first, |(at_a, at_b)| (at_a < at_b) == at_first)
    }

    /// The body on the face opposite to `face`: vertices, and what bounds it from each to the next.
    fn on_face(&self, face: usize, out: &mut Vec<(Site, Side)>, first: &mut Vec<(Site, Side)>) {
        let mut corners = FACES[face];
        if !self.positive {
            corners.reverse();
        }
        first.clear();
        for k in 0..3 {
            let (from, to) = (corners[k], corners[(k + 1) % 3]);
            let (inside, next_inside) = (self.a[from] < 0.0, self.a[to] < 0.0);
            let edge = edge_between(from, to);
            if inside {
                first.push((Site::Corner(from), Side::Edge(edge)));
            }
            if inside != next_inside {
                first.push((Site::Air(edge), if inside { Side::Air } else { Side::Edge(edge) }));
            }
        }
        out.clear();
        let negative = |place: Site| match place {
            Site::Corner(i) => self.b[i] < 0.0,
            Site::Air(edge) => self.b_is_negative_at_air(edge),
            Site::Wall(_) | Site::Line(_) => false,
        };
        for k in 0..first.len() {
            let (place, side) = first[k];
            let (inside, next_inside) = (negative(place), negative(first[(k + 1) % first.len()].0));
            if inside {
                out.push((place, side));
            }
            if inside != next_inside {
                let crossing = match side {
                    Side::Edge(edge) => Site::Wall(edge),
                    Side::Air | Side::Wall => Site::Line(face),
                };
                out.push((crossing, if inside { Side::Wall } else { side }));
            }
        }
    }

    /// Calls `take` with the polygons of the body's surface in the tetrahedron.
    pub fn polygons(&self, scratch: &mut Scratch, mut take: impl FnMut(Polygon<'_>)) {
        // The surface traverses each face in the opposite direction to the body's part of it.
        let mut next = [None; Site::COUNT];
        for face in 0..4 {
            self.on_face(face, &mut scratch.polygon, &mut scratch.first);
            let polygon = &scratch.polygon;
            for (k, &(from, side)) in polygon.iter().enumerate() {
                if !matches!(side, Side::Edge(_)) {
                    let to = polygon[(k + 1) % polygon.len()].0;
                    next[to.code()] = Some((from.code(), side == Side::Wall));
                }
            }
        }
        for start in 0..Site::COUNT {
            scratch.ring.clear();
            let mut at = start;
            while let Some((to, wall)) = next[at].take() {
                scratch.ring.push((Site::of_code(at), wall));
                at = to;
            }
            if scratch.ring.len() >= 3 {
                split_ring(&mut scratch.ring, &mut scratch.chain, &mut take);
            }
        }
    }

    /// Calls `take` with the body's part of the face opposite to `face`, seen from outside the
    /// tetrahedron.
    pub fn slab_end(&self, face: usize, scratch: &mut Scratch, take: impl FnOnce(&[Site])) {
        self.on_face(face, &mut scratch.polygon, &mut scratch.first);
        if scratch.polygon.len() >= 3 {
            scratch.chain.clear();
            scratch.chain.extend(scratch.polygon.iter().map(|&(place, _)| place));
            take(&scratch.chain);
        }
    }

    /// Position of a site, given the corners; the same from every tetrahedron that shares it, if
    /// corners are listed in an order that all share.
    pub fn position(&self, place: Site, corners: &[DVec3; 4]) -> DVec3 {
        let along = |edge: usize, t: f64| {
            let [i, j] = EDGES[edge];
            corners[i] + (corners[j] - corners[i]) * t
        };
        match place {
            Site::Corner(i) => corners[i],
            Site::Air(edge) => along(edge, clamp_inside(self.cuts[edge][0])),
            Site::Wall(edge) => along(edge, clamp_inside(self.cuts[edge][1])),
            Site::Line(face) => {
                // Along the line a = 0 on the face, to where b vanishes.
                let mut ends =
                    EDGES.iter().enumerate().filter(|(e, edge)| !edge.contains(&face) && self.cuts[*e][0].is_some());
                let mut end = || {
                    let (e, &[i, j]) = ends.next().expect("a vanishes on two edges of a face that the line crosses");
                    let t = self.cuts[e][0];
                    let b = self.b[i] + (self.b[j] - self.b[i]) * t.unwrap_or(0.5);
                    (along(e, clamp_inside(t)), b)
                };
                let ((p, b_p), (q, b_q)) = (end(), end());
                p + (q - p) * clamp_inside(Some(b_p / (b_p - b_q)))
            }
        }
    }
}

/// Memory that is kept from tetrahedron to tetrahedron.
#[derive(Default)]
pub struct Scratch {
    polygon: Vec<(Site, Side)>,
    first: Vec<(Site, Side)>,
    ring: Vec<(Site, bool)>,
    chain: Vec<Site>,
}

/// Splits a ring along chords into its parts on the wall and the rest, which is interface.
fn split_ring(ring: &mut [(Site, bool)], chain: &mut Vec<Site>, take: &mut impl FnMut(Polygon<'_>)) {
    let all_alike = ring.iter().all(|&(_, wall)| wall == ring[0].1);
    if all_alike {
        chain.clear();
        chain.extend(ring.iter().map(|&(place, _)| place));
        take(Polygon { places: chain, wall: ring[0].1 });
        return;
    }
    // Begin where a part on the wall begins.
    let n = ring.len();
    let begin = (0..n).find(|&k| ring[k].1 && !ring[(k + n - 1) % n].1).unwrap_or(0);
    ring.rotate_left(begin);
    let mut k = 0;
    while k < n {
        if ring[k].1 {
            chain.clear();
            while k < n && ring[k].1 {
                chain.push(ring[k].0);
                k += 1;
            }
            chain.push(ring[k % n].0);
            take(Polygon { places: chain, wall: true });
        } else {
            k += 1;
        }
    }
    chain.clear();
    for k in 0..n {
        // Without what the wall's chords have cut off: sites between two parts on the wall.
        if !(ring[k].1 && ring[(k + n - 1) % n].1) {
            chain.push(ring[k].0);
        }
    }
    if chain.len() >= 3 {
        take(Polygon { places: chain, wall: false });
    }
}

/// Keeps a vertex off the ends; without a finite fraction it goes to the middle.
fn clamp_inside(fraction: Option<f64>) -> f64 {
    let fraction = fraction.filter(|fraction| !fraction.is_nan());
    fraction.map_or(0.5, |fraction| fraction.clamp(MARGIN, 1.0 - MARGIN))
}
