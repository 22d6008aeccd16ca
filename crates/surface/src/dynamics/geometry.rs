//! Geometry of a drop and the derivatives that its dynamics need.
//!
//! With a_f the area vector of triangle f (normal times area), V the volume and X its centroid:
//!
//! ```text
//! c_i  = ∂V/∂x_i = Σ_f a_f / 3
//! W_i v = Σ_f [(x_i − X) + Σ_corners (x − X)] (a_f · v) / 12V         U = Σ_i W_i v_i
//! ```
//!
//! U is the velocity of the centroid when the vertices move at v: d(∫x dV)/dt − X dV/dt over V,
//! exact on triangles. At the contact line the outward normal ν within the solid follows from
//! ∂A_wet/∂x_i = ½ Σ (x_b − x_a) × N over the line's edges at i, which is ν times the length of
//! line that belongs to i.

use glam::{DMat3, DVec3};
use sessile_numerics::typed_index;

use crate::mesh::index::VertexIndex;
use crate::mesh::{Interface, Mesh, VertexKind};
use crate::substrate::{ContactSample, SolidIndex, Substrate, WettingCache};

/// Largest magnitude of a cotangent: needles must not dominate; the remesher removes them.
const MAX_COTANGENT: f64 = 50.0;
/// Squared distance of two normals below which they belong to one plane.
const SAME_PLANE: f64 = 1e-18;
/// Distance from another solid at which a line vertex lies in a corner, over its length of line.
const IN_CORNER: f64 = 1e-3;

typed_index! {
    /// A vertex in contact, in [`DropGeometry::contacts`].
    pub struct ContactIndex;
}

/// Contact of one vertex.
#[derive(Clone, Copy, Debug)]
pub struct Contact {
    /// The vertex.
    pub vertex: VertexIndex,
    /// Contact line or wetted.
    pub kind: VertexKind,
    /// What it is in contact with.
    pub interface: Interface,
    /// The substrate there.
    pub sample: ContactSample,
    /// Outward normal of the line within the solid; zero where it has none (wetted vertices,
    /// outlets, corners between two solids).
    pub outward: DVec3,
    /// Length of contact line that belongs to the vertex, in m.
    pub length: f64,
}

impl Contact {
    /// Whether it is a vertex of a contact line that may move.
    pub fn is_mobile_line(&self) -> bool {
        self.kind == VertexKind::ContactLine && self.outward != DVec3::ZERO
    }
}

/// Geometry of a drop; keeps its memory between calls.
#[derive(Clone, Debug, Default)]
pub struct DropGeometry {
    /// Enclosed volume, in m³.
    pub volume: f64,
    /// Centroid of the volume, in m.
    pub centroid: DVec3,
    /// Area of the free surface, in m².
    pub air_area: f64,
    /// c_i, in m².
    pub volume_gradient: Vec<DVec3>,
    /// W_i.
    pub rigid: Vec<DMat3>,
    /// Free-surface area at each vertex, in m².
    pub areas: Vec<f64>,
    /// Unit normal of the free surface at each vertex; zero at wetted ones.
    pub normals: Vec<DVec3>,
    /// Kind of each vertex.
    pub kinds: Vec<VertexKind>,
    /// Vertices in contact, by ascending vertex.
    pub contacts: Vec<Contact>,
    /// Solids near the drop, where the scene has several: those that may form corners under it.
    pub near: Vec<SolidIndex>,
    /// Index of each vertex in `contacts`.
    contact_index: Vec<Option<ContactIndex>>,
    /// Cotangent of the angle opposite to each half-edge.
    pub cotangents: Vec<f64>,
    /// Whether each vertex has triangles against air and on solids.
    touched: Vec<[bool; 2]>,
}

impl DropGeometry {
    /// Evaluates the geometry of a compact mesh.
    pub fn read(&mut self, mesh: &Mesh, substrate: &Substrate) {
        self.reset(mesh.positions.len());
        // A point near the surface as the origin avoids cancellation.
        let origin = mesh.positions.first().copied().unwrap_or_default();
        let moments = self.accumulate_triangles(mesh, origin);
        self.air_area = moments.air_area;
        self.volume = moments.six_volumes / 6.0;
        let center = moments.first_moment / (4.0 * moments.six_volumes);
        self.centroid = origin + center;
        self.normalize_vertices(center);
        self.sample_contacts(mesh, substrate);
        self.find_near(mesh, substrate, 0.0);
        self.read_contact_line(mesh, substrate);
    }

    fn reset(&mut self, n: usize) {
        reset(&mut self.volume_gradient, n, DVec3::ZERO);
        reset(&mut self.rigid, n, DMat3::ZERO);
        reset(&mut self.areas, n, 0.0);
        reset(&mut self.normals, n, DVec3::ZERO);
        reset(&mut self.kinds, n, VertexKind::Free);
        reset(&mut self.contact_index, n, None);
        reset(&mut self.touched, n, [false; 2]);
        self.cotangents.clear();
        self.contacts.clear();
    }

    /// Sums over the triangles; positions are relative to `origin`, and common factors are left
    /// out.
    fn accumulate_triangles(&mut self, mesh: &Mesh, origin: DVec3) -> Moments {
        let mut moments = Moments::default();
        for (t, corners) in mesh.triangle_indices().zip(&mesh.triangles) {
            let [a, b, c] = corners.map(|v| mesh.positions[v] - origin);
            let (ab, bc, ca) = (b - a, c - b, a - c);
            let cross = ca.cross(ab);
            let twice_area = cross.length();
            let sum = a + b + c;
            let cone = a.dot(cross);
            moments.six_volumes += cone;
            moments.first_moment += sum * cone;
            // Opposite to a→b is the angle at c, and so on.
            let over = 1.0 / twice_area.max(1e-30);
            let cotangent = |dot: f64| (-dot * over).clamp(-MAX_COTANGENT, MAX_COTANGENT);
            self.cotangents.extend([cotangent(bc.dot(ca)), cotangent(ca.dot(ab)), cotangent(ab.dot(bc))]);
            let area_vector = 0.5 * cross;
            let area = 0.5 * twice_area;
            let air = mesh.interfaces[t] == Interface::Air;
            if air {
                moments.air_area += area;
            }
            for (&v, point) in corners.iter().zip([a, b, c]) {
                self.volume_gradient[v] += area_vector;
                let q = point + sum;
                let rigid = &mut self.rigid[v];
                rigid.x_axis += q * area_vector.x;
                rigid.y_axis += q * area_vector.y;
                rigid.z_axis += q * area_vector.z;
                if air {
                    self.areas[v] += area;
                    self.normals[v] += area_vector;
                }
                self.touched[v][usize::from(!air)] = true;
            }
        }
        moments
    }

    /// Applies the common factors, with moments about the centroid at `center` relative to the
    /// origin.
    fn normalize_vertices(&mut self, center: DVec3) {
        // About the centroid each q is shorter by four times the centroid's offset.
        let (shift, scale) = (4.0 * center, 1.0 / (12.0 * self.volume));
        for v in VertexIndex::first(self.rigid.len()) {
            let (gradient, rigid) = (self.volume_gradient[v], &mut self.rigid[v]);
            rigid.x_axis = (rigid.x_axis - shift * gradient.x) * scale;
            rigid.y_axis = (rigid.y_axis - shift * gradient.y) * scale;
            rigid.z_axis = (rigid.z_axis - shift * gradient.z) * scale;
            self.volume_gradient[v] = gradient / 3.0;
            self.areas[v] /= 3.0;
            let [air, solid] = self.touched[v];
            self.kinds[v] = VertexKind::new(air, solid);
            self.normals[v] = self.normals[v].normalize_or_zero();
        }
    }

    fn sample_contacts(&mut self, mesh: &Mesh, substrate: &Substrate) {
        let mut wetting = WettingCache::default();
        for v in mesh.vertex_indices().filter(|&v| self.kinds[v] != VertexKind::Free) {
            self.contact_index[v] = Some(ContactIndex::new(self.contacts.len()));
            let interface = mesh.interface_at(v);
            self.contacts.push(Contact {
                vertex: v,
                kind: self.kinds[v],
                interface,
                sample: wetting.sample(substrate, interface, mesh.positions[v]),
                outward: DVec3::ZERO,
                length: 0.0,
            });
        }
    }

    /// Lists the solids that come near the drop, up to `margin` meters beyond its bounding sphere.
    pub fn find_near(&mut self, mesh: &Mesh, substrate: &Substrate, margin: f64) {
        self.near.clear();
        if substrate.solids().len() > 1 && !self.contacts.is_empty() {
            let [low, high] = mesh.bounds();
            substrate.find_near([low, high], margin + IN_CORNER * low.distance(high), &mut self.near);
        }
    }

    /// Evaluates only what restoring the volume needs: kinds, normals, c_i and the free area.
    pub fn read_normals(&mut self, mesh: &Mesh) {
        let n = mesh.positions.len();
        reset(&mut self.volume_gradient, n, DVec3::ZERO);
        reset(&mut self.normals, n, DVec3::ZERO);
        reset(&mut self.kinds, n, VertexKind::Free);
        self.air_area = 0.0;
        for (t, corners) in mesh.triangle_indices().zip(&mesh.triangles) {
            let area = mesh.area_vector(t);
            let air = mesh.interfaces[t] == Interface::Air;
            if air {
                self.air_area += area.length();
            }
            for &v in corners {
                self.volume_gradient[v] += area;
                if air {
                    self.normals[v] += area;
                } else {
                    self.kinds[v] = VertexKind::Wetted;
                }
            }
        }
        for v in 0..n {
            self.volume_gradient[v] /= 3.0;
            if self.kinds[v] == VertexKind::Wetted && self.normals[v] != DVec3::ZERO {
                self.kinds[v] = VertexKind::ContactLine;
            }
            self.normals[v] = self.normals[v].normalize_or_zero();
        }
    }

    /// Normals and lengths of the contact line.
    fn read_contact_line(&mut self, mesh: &Mesh, substrate: &Substrate) {
        if self.contacts.is_empty() {
            return;
        }
        for (t, corners) in mesh.triangle_indices().zip(&mesh.triangles) {
            if mesh.interfaces[t] != Interface::Air {
                continue;
            }
            for k in 0..3 {
                let ends = [corners[k], corners[(k + 1) % 3]];
                let free = ends.iter().any(|&v| self.kinds[v] == VertexKind::Free);
                if free || mesh.interface_of(mesh.twin(t.half_edge(k))) == Interface::Air {
                    continue;
                }
                let along = mesh.positions[ends[1]] - mesh.positions[ends[0]];
                for v in ends {
                    if let Some(index) = self.contact_index[v] {
                        let contact = &mut self.contacts[index];
                        contact.outward += 0.5 * along.cross(contact.sample.normal);
                    }
                }
            }
        }
        let near = &self.near;
        for contact in self.contacts.iter_mut().filter(|contact| contact.kind == VertexKind::ContactLine) {
            finish_line_vertex(contact, mesh, substrate, near);
        }
    }

    /// Whether the drop touches a solid; a stream at an outlet does not.
    pub fn on_solid(&self) -> bool {
        self.contacts.iter().any(|contact| contact.interface.is_solid())
    }

    /// Whether the drop is a stream that flows out of an outlet.
    pub fn has_outlet(&self) -> bool {
        self.contacts.iter().any(|contact| !contact.interface.is_solid())
    }

    /// Velocity of the solids over the step, averaged over the vertices in contact, in m/s.
    pub fn solid_velocity(&self) -> DVec3 {
        self.average_on_solids(|sample| sample.velocity)
    }

    /// The same at the start of the step.
    pub fn solid_start_velocity(&self) -> DVec3 {
        self.average_on_solids(|sample| sample.start_velocity)
    }

    /// The same at the end of the step, if it changes steadily.
    pub fn solid_end_velocity(&self) -> DVec3 {
        self.average_on_solids(|sample| sample.velocity + sample.gain())
    }

    fn average_on_solids(&self, value: impl Fn(&ContactSample) -> DVec3) -> DVec3 {
        let on_solids = || self.contacts.iter().filter(|contact| contact.interface.is_solid());
        on_solids().map(|contact| value(&contact.sample)).sum::<DVec3>() / on_solids().count().max(1) as f64
    }

    /// Mean normal of the solids along the contact line.
    pub fn footprint_normal(&self) -> Option<DVec3> {
        let on_line = self.contacts.iter().filter(|c| c.kind == VertexKind::ContactLine);
        on_line.map(|c| c.sample.normal * c.length).sum::<DVec3>().try_normalize()
    }

    /// Normal of the plane that the contact line lies on; `None` where the solid is curved.
    pub fn contact_plane(&self) -> Option<DVec3> {
        let normal = self.footprint_normal()?;
        let mut line = self.contacts.iter().filter(|c| c.kind == VertexKind::ContactLine);
        line.all(|c| c.sample.normal.distance_squared(normal) < SAME_PLANE).then_some(normal)
    }

    /// U for these vertex velocities, in m/s.
    pub fn rigid_velocity(&self, velocities: &[DVec3]) -> DVec3 {
        self.rigid.iter().zip(velocities).map(|(w, &v)| *w * v).sum()
    }

    /// Largest speed of a free vertex, and of a line vertex across the line, relative to `u`, in
    /// m/s.
    pub fn deformation_speed(&self, velocities: &[DVec3], u: DVec3) -> f64 {
        let mut most: f64 = 0.0;
        for (v, &velocity) in VertexIndex::first(velocities.len()).zip(velocities) {
            most = most.max(match (self.kinds[v], self.contact_index[v]) {
                (VertexKind::Free, _) => (velocity - u).length_squared(),
                (VertexKind::ContactLine, Some(i)) => (velocity - u).dot(self.contacts[i].outward).powi(2),
                _ => 0.0,
            });
        }
        most.sqrt()
    }
}

/// Sums over the triangles of a mesh.
#[derive(Default)]
struct Moments {
    air_area: f64,
    six_volumes: f64,
    first_moment: DVec3,
}

/// Normalizes the outward normal of a line vertex, and applies the wet history and corners.
fn finish_line_vertex(contact: &mut Contact, mesh: &Mesh, substrate: &Substrate, near: &[SolidIndex]) {
    let gradient = contact.outward;
    contact.outward = gradient.normalize_or_zero();
    // At a kink the gradient of the wetted area is shorter than the line, and is what counts.
    contact.length = gradient.length();
    let Some(solid) = contact.interface.solid_index() else {
        // An outlet holds the face that closes its stream.
        (contact.outward, contact.length) = (DVec3::ZERO, 0.0);
        return;
    };
    let position = mesh.positions[contact.vertex];
    let wetting = &mut contact.sample.wetting;
    if let Some(cosine) = wetting.cos_wet_advancing {
        let ahead = position + contact.outward * substrate.wet_history.reach(solid);
        if substrate.wet_history.is_wet(solid, substrate.solids()[solid].closest(ahead).uv) {
            wetting.cos_advancing = cosine;
        }
    }
    if substrate.is_in_corner(solid, position, IN_CORNER * contact.length, near) {
        contact.outward = DVec3::ZERO;
    }
    let mut others = mesh.fan(contact.vertex).map(|h| mesh.interface_of(h)).filter(|&i| i != Interface::Air);
    if let Some(first) = others.next()
        && others.any(|interface| interface != first)
    {
        contact.outward = DVec3::ZERO;
    }
}

fn reset<T: Copy>(values: &mut Vec<T>, count: usize, value: T) {
    values.clear();
    values.resize(count, value);
}
