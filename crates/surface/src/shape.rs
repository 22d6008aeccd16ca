//! A drop's geometry at one moment, and the derivatives that its dynamics need.
//!
//! With a_f the area vector of triangle f (normal times area), V the volume and X its centroid:
//!
//! ```text
//! c_i  = ∂V/∂x_i = Σ_f a_f / 3
//! W_i v = Σ_f [(x_i − X) + Σ_corners (x − X)] (a_f · v) / 12V         U = Σ_i W_i v_i
//! ```
//!
//! U is the velocity of the centroid when the vertices move at v: d(∫x dV)/dt − X dV/dt over V, exact on triangles. On a line the outward normal
//! ν along the solid carries ∂A_wet/∂x_i = ½ Σ (x_b − x_a) × N over the line's edges at i: the line's length at i times ν.

use glam::{DMat3, DVec3};

use crate::ground::{Footing, Ground, WettingCache, in_corner};
use crate::mesh::{AIR, Kind, Mesh};

/// One vertex's contact with a solid.
#[derive(Clone, Copy, Debug)]
pub struct Contact {
    /// The vertex.
    pub vertex: u32,
    /// What it is: on the line, or wet all round.
    pub kind: Kind,
    /// The tag of what it touches.
    pub tag: i32,
    /// The solid under it.
    pub footing: Footing,
    /// Outward normal of the line along the solid; zero where it has none (wet vertices, and where two solids meet).
    pub out: DVec3,
    /// Length of line that belongs to it, in m.
    pub length: f64,
}

/// Geometry of a drop, kept between calls for its memory.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// Enclosed volume, in m³.
    pub volume: f64,
    /// Its centroid, in m.
    pub centroid: DVec3,
    /// Area against air, in m².
    pub air_area: f64,
    /// c_i, in m².
    pub volume_gradient: Vec<DVec3>,
    /// W_i.
    pub rigid: Vec<DMat3>,
    /// Area against air at each vertex, in m².
    pub areas: Vec<f64>,
    /// Unit normal of the part against air at each vertex; zero at wet ones.
    pub normals: Vec<DVec3>,
    /// What each vertex is.
    pub kinds: Vec<Kind>,
    /// Vertices in contact, by rising vertex.
    pub contacts: Vec<Contact>,
    /// For each vertex its place in `contacts`, or `u32::MAX`.
    pub contact_of: Vec<u32>,
    /// Cotangent of the angle across from each half-edge.
    pub cotangents: Vec<f64>,
}

impl Shape {
    /// Reads the geometry of a compact mesh.
    pub fn read(&mut self, mesh: &Mesh, world: &Ground) {
        let n = mesh.positions.len();
        reset(&mut self.volume_gradient, n, DVec3::ZERO);
        reset(&mut self.rigid, n, DMat3::ZERO);
        reset(&mut self.areas, n, 0.0);
        reset(&mut self.normals, n, DVec3::ZERO);
        reset(&mut self.kinds, n, Kind::Free);
        reset(&mut self.contact_of, n, u32::MAX);
        self.cotangents.clear();
        self.contacts.clear();
        // A point near the surface, so that distance from the origin costs no digits.
        let origin = mesh.positions.first().copied().unwrap_or_default();
        let (mut air_area, mut six_volumes, mut moment) = (0.0, 0.0, DVec3::ZERO);
        for (t, corners) in mesh.triangles.iter().enumerate() {
            let [a, b, c] = corners.map(|v| mesh.positions[v as usize] - origin);
            let (ab, bc, ca) = (b - a, c - b, a - c);
            let cross = ca.cross(ab);
            let twice = cross.length();
            let sum = a + b + c;
            let cone = a.dot(cross);
            six_volumes += cone;
            moment += sum * cone;
            // Across from a→b is the angle at c, and so on. A needle's would outweigh everything; the remesher takes it away.
            let over = 1.0 / twice.max(1e-30);
            let cotangent = |dot: f64| (-dot * over).clamp(-50.0, 50.0);
            self.cotangents.extend([cotangent(bc.dot(ca)), cotangent(ca.dot(ab)), cotangent(ab.dot(bc))]);
            let area = 0.5 * cross;
            let air = mesh.solids[t] == AIR;
            let size = 0.5 * twice;
            if air {
                air_area += size;
            }
            for (&v, point) in corners.iter().zip([a, b, c]) {
                let v = v as usize;
                self.volume_gradient[v] += area;
                let q = point + sum;
                let rigid = &mut self.rigid[v];
                rigid.x_axis += q * area.x;
                rigid.y_axis += q * area.y;
                rigid.z_axis += q * area.z;
                if air {
                    self.areas[v] += size;
                    self.normals[v] += area;
                }
                // Bit 1: air, bit 2: solid, gathered in `kinds` below.
                self.contact_of[v] &= if air { !1 } else { !2 };
            }
        }
        self.air_area = air_area;
        self.volume = six_volumes / 6.0;
        let center = moment / (4.0 * six_volumes);
        self.centroid = origin + center;
        // Seen from the centroid instead of the origin, each q is shorter by four times the way between them.
        let (shift, scale) = (4.0 * center, 1.0 / (12.0 * self.volume));
        let mut wetting = WettingCache::default();
        for v in 0..n {
            let (gradient, rigid) = (self.volume_gradient[v], &mut self.rigid[v]);
            rigid.x_axis = (rigid.x_axis - shift * gradient.x) * scale;
            rigid.y_axis = (rigid.y_axis - shift * gradient.y) * scale;
            rigid.z_axis = (rigid.z_axis - shift * gradient.z) * scale;
            self.volume_gradient[v] = gradient / 3.0;
            self.areas[v] /= 3.0;
            let seen = !self.contact_of[v] & 3;
            self.contact_of[v] = u32::MAX;
            self.kinds[v] = match seen {
                2 => Kind::Wet,
                3 => Kind::Line,
                _ => Kind::Free,
            };
            if self.kinds[v] != Kind::Free {
                self.contact_of[v] = self.contacts.len() as u32;
                let solid = mesh.solid_at(v as u32);
                self.contacts.push(Contact {
                    vertex: v as u32,
                    kind: self.kinds[v],
                    tag: solid,
                    footing: wetting.footing(world, solid, mesh.positions[v]),
                    out: DVec3::ZERO,
                    length: 0.0,
                });
            }
            self.normals[v] = self.normals[v].normalize_or_zero();
        }
        self.read_line(mesh, world);
    }

    /// Reads of a compact mesh only what bringing its volume back needs: kinds, normals, c_i and the area against air.
    pub fn read_normals(&mut self, mesh: &Mesh) {
        let n = mesh.positions.len();
        reset(&mut self.volume_gradient, n, DVec3::ZERO);
        reset(&mut self.normals, n, DVec3::ZERO);
        reset(&mut self.kinds, n, Kind::Free);
        self.air_area = 0.0;
        for (t, corners) in mesh.triangles.iter().enumerate() {
            let area = mesh.area_vector(t);
            let air = mesh.solids[t] == AIR;
            if air {
                self.air_area += area.length();
            }
            for &v in corners {
                let v = v as usize;
                self.volume_gradient[v] += area;
                if air {
                    self.normals[v] += area;
                } else {
                    self.kinds[v] = Kind::Wet;
                }
            }
        }
        for v in 0..n {
            self.volume_gradient[v] /= 3.0;
            // Of air and solid both: on the line.
            if self.kinds[v] == Kind::Wet && self.normals[v] != DVec3::ZERO {
                self.kinds[v] = Kind::Line;
            }
            self.normals[v] = self.normals[v].normalize_or_zero();
        }
    }

    /// Directions and lengths along the contact line.
    fn read_line(&mut self, mesh: &Mesh, world: &Ground) {
        if self.contacts.is_empty() {
            return;
        }
        for (t, corners) in mesh.triangles.iter().enumerate() {
            if mesh.solids[t] != AIR {
                continue;
            }
            for k in 0..3 {
                let h = (3 * t + k) as u32;
                if mesh.solid_of(mesh.twin(h)) == AIR {
                    continue;
                }
                let ends = [corners[k], corners[(k + 1) % 3]];
                let along = mesh.positions[ends[1] as usize] - mesh.positions[ends[0] as usize];
                for v in ends {
                    let contact = &mut self.contacts[self.contact_of[v as usize] as usize];
                    contact.out += 0.5 * along.cross(contact.footing.normal);
                    contact.length += 0.5 * along.length();
                }
            }
        }
        for contact in self.contacts.iter_mut().filter(|contact| contact.kind == Kind::Line) {
            let out = contact.out;
            contact.out = out.normalize_or_zero();
            // At a kink the gradient of the wetted area is what counts, and it is shorter than the line.
            contact.length = out.length();
            let here = mesh.positions[contact.vertex as usize];
            if let Some(cosine) = contact.footing.cos_wet {
                let solid = contact.tag as usize;
                let ahead = here + contact.out * world.history.reach(solid);
                if world.history.is_wet(solid, world.solids()[solid].closest(ahead).uv) {
                    contact.footing.cos_advancing = cosine;
                }
            }
            let solid = mesh.solid_at(contact.vertex);
            if solid < AIR {
                // A tap's mouth holds what closes the stream.
                (contact.out, contact.length) = (DVec3::ZERO, 0.0);
                continue;
            }
            if world.solids().len() > 1 && in_corner(world, solid, here, 1e-3 * contact.length) {
                contact.out = DVec3::ZERO;
            }
            let mut solids = mesh.fan(contact.vertex).map(|h| mesh.solid_of(h)).filter(|&s| s != AIR);
            if let Some(first) = solids.next()
                && solids.any(|s| s != first)
            {
                contact.out = DVec3::ZERO;
            }
        }
    }

    /// Whether it touches a solid.
    pub fn on_solid(&self) -> bool {
        self.contacts.iter().any(|contact| contact.tag >= 0)
    }

    /// U of some vertex velocities, in m/s.
    pub fn rigid_velocity(&self, velocities: &[DVec3]) -> DVec3 {
        self.rigid.iter().zip(velocities).map(|(w, &v)| *w * v).sum()
    }

    /// Largest speed of a free vertex, and of a line vertex across the line, against a velocity, in m/s.
    pub fn fastest_against(&self, velocities: &[DVec3], u: DVec3) -> f64 {
        let mut most: f64 = 0.0;
        for (v, &velocity) in velocities.iter().enumerate() {
            most = most.max(match self.kinds[v] {
                Kind::Free => (velocity - u).length_squared(),
                Kind::Line => (velocity - u).dot(self.contacts[self.contact_of[v] as usize].out).powi(2),
                Kind::Wet => 0.0,
            });
        }
        most.sqrt()
    }

    /// Radius of the ball of the same volume, in m.
    pub fn radius(&self) -> f64 {
        ball_radius(self.volume)
    }
}

/// Radius of the ball of this volume, in m.
pub fn ball_radius(volume: f64) -> f64 {
    (0.75 * volume.max(0.0) / std::f64::consts::PI).cbrt()
}

fn reset<T: Copy>(values: &mut Vec<T>, count: usize, value: T) {
    values.clear();
    values.resize(count, value);
}
