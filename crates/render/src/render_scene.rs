//! The scene that is traced: triangles with their owners, materials and lights.
//!
//! Coordinates are single precision about an origin among the drops, in m.
//!
//! Liquid triangles that lie on a solid are left out, so that a ray in the liquid hits the solid
//! itself, with no film of air between them. Where the contact line and the facets of a curved
//! solid leave a gap, a skirt extends the liquid surface into the solid.

mod builder;

use std::sync::Arc;

use glam::{DVec3, Vec2, Vec3};
use sessile_appearance::{
    AreaLight, Backdrop, BsdfParameters, Environment, LiquidMaterial, Ray, RayBvh, SunDisc, TriangleHit,
};
use sessile_frames::WetMap;

use crate::wet_layer::{WetLayer, Wetness};

pub use builder::RenderSceneBuilder;

/// The object that a triangle belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The surface of the drop with this id.
    Drop(u32),
    /// The solid with this index.
    Solid(u32),
}

/// The optical kind of a solid.
#[derive(Clone, Debug)]
pub enum Body {
    /// Opaque or diffusely translucent.
    Opaque(BsdfParameters),
    /// A glass body with an interior.
    Glass {
        /// Refractive index.
        index: f32,
        /// Share of light that passes, per color channel.
        tint: Vec3,
    },
    /// A sheet of glass, too thin to shift a ray.
    Sheet {
        /// Refractive index.
        index: f32,
        /// Share of light that passes, per color channel.
        tint: Vec3,
    },
}

/// Per-triangle shading data.
#[derive(Clone, Debug)]
pub(crate) struct Face {
    normals: [Vec3; 3],
    uvs: [Vec2; 3],
    pub owner: Owner,
}

/// Appearance of a solid.
#[derive(Clone, Debug)]
pub(crate) struct RenderSolid {
    /// Its optical kind.
    pub body: Body,
    /// Area of its surface, in m².
    pub area: f32,
    /// Its wetness, if any.
    pub wet: Option<WetLayer>,
}

impl RenderSolid {
    /// Wetness at texture coordinates; zero without a wet layer.
    pub fn wetness(&self, uv: Vec2) -> Wetness {
        self.wet.as_ref().map(|layer| layer.at(uv)).unwrap_or_default()
    }
}

/// Everything that an image shows.
#[derive(Clone, Debug)]
pub struct RenderScene {
    bvh: RayBvh,
    corners: Vec<[Vec3; 3]>,
    /// Displacement of each corner while the shutter is open; empty when nothing moves.
    motions: Vec<[Vec3; 3]>,
    pub(crate) faces: Vec<Face>,
    pub(crate) solids: Vec<RenderSolid>,
    pub(crate) liquid: LiquidMaterial,
    pub(crate) environment: Arc<Environment>,
    /// Whether next-event estimation samples the environment; for a uniform one BSDF sampling does
    /// as well.
    pub(crate) sample_environment: bool,
    pub(crate) area_lights: Vec<AreaLight>,
    pub(crate) suns: Vec<SunDisc>,
    pub(crate) has_sheets: bool,
    pub(crate) has_liquid: bool,
    pub(crate) backdrop: Option<Arc<Backdrop>>,
    origin: DVec3,
}

/// A point on a surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SurfaceInteraction {
    /// Position, in m.
    pub point: Vec3,
    /// Geometric normal of the triangle, outward from its owner.
    pub normal: Vec3,
    /// Interpolated vertex normal, outward from its owner.
    pub shading_normal: Vec3,
    /// Texture coordinates.
    pub uv: Vec2,
    /// The object it belongs to.
    pub owner: Owner,
    /// Index of the triangle.
    pub triangle: u32,
}

impl RenderScene {
    /// World position of the scene's origin, in m.
    pub fn origin(&self) -> DVec3 {
        self.origin
    }

    /// Number of triangles.
    pub fn num_triangles(&self) -> usize {
        self.corners.len()
    }

    /// Whether anything moves while the shutter is open.
    pub(crate) fn moves(&self) -> bool {
        !self.motions.is_empty()
    }

    /// Whether a solid is glass.
    pub(crate) fn is_clear(&self, solid: u32) -> bool {
        matches!(self.solids[solid as usize].body, Body::Sheet { .. } | Body::Glass { .. })
    }

    /// Whether a solid is a glass body with an interior.
    pub(crate) fn is_glass_body(&self, solid: u32) -> bool {
        matches!(self.solids[solid as usize].body, Body::Glass { .. })
    }

    /// The nearest triangle along a ray within `t_max`.
    pub(crate) fn intersect(&self, ray: &Ray, t_max: f32) -> Option<TriangleHit> {
        self.bvh.intersect(ray, t_max, |_| true)
    }

    /// Whether anything lies along a ray within `t_max`.
    pub(crate) fn occluded(&self, ray: &Ray, t_max: f32) -> bool {
        self.bvh.occluded(ray, t_max, |_| true)
    }

    /// The nearest triangle along a ray whose index `accepts` admits.
    pub(crate) fn intersect_if(&self, ray: &Ray, t_max: f32, accepts: impl Fn(u32) -> bool) -> Option<TriangleHit> {
        self.bvh.intersect(ray, t_max, accepts)
    }

    /// Whether any triangle along a ray within `t_max` has an index that `accepts` admits.
    pub(crate) fn occluded_if(&self, ray: &Ray, t_max: f32, accepts: impl Fn(u32) -> bool) -> bool {
        self.bvh.occluded(ray, t_max, accepts)
    }

    /// Whether a solid that is not clear lies along a ray within `t_max`.
    pub(crate) fn occluded_by_opaque(&self, ray: &Ray, t_max: f32) -> bool {
        let is_opaque = |t: u32| match self.faces[t as usize].owner {
            Owner::Solid(solid) => !self.is_clear(solid),
            Owner::Drop(_) => false,
        };
        self.bvh.occluded(ray, t_max, is_opaque)
    }

    /// Texture coordinates in a triangle, by the barycentric weights of its second and third
    /// corner.
    pub(crate) fn uv_at(&self, triangle: u32, [v, w]: [f32; 2]) -> Vec2 {
        let uvs = &self.faces[triangle as usize].uvs;
        (1.0 - v - w) * uvs[0] + v * uvs[1] + w * uvs[2]
    }

    /// The corners of a triangle at the frame's time.
    pub(crate) fn corners(&self, triangle: u32) -> [Vec3; 3] {
        self.corners_at(triangle, 0.5)
    }

    /// Replaces the wet maps of the solids.
    pub(crate) fn set_wet(&mut self, maps: &[WetMap]) {
        for (index, solid) in self.solids.iter_mut().enumerate() {
            let own = Owner::Solid(index as u32);
            let triangles = self.corners.iter().zip(&self.faces).filter(|(_, face)| face.owner == own);
            let triangles = triangles.map(|(&corners, face)| (corners, face.uvs));
            let map = maps.iter().find(|map| map.solid == index);
            solid.wet = map.and_then(|map| WetLayer::new(map, solid.area, triangles));
        }
    }

    /// The drop that encloses a point: the one whose surface a ray along `direction` hits first,
    /// from inside.
    pub(crate) fn enclosing_drop(&self, point: Vec3, direction: Vec3, time: f32) -> Option<u32> {
        if !self.has_liquid {
            return None;
        }
        let ray = Ray { origin: point, direction, time, origin_triangle: None };
        let is_liquid = |t: u32| matches!(self.faces[t as usize].owner, Owner::Drop(_));
        let hit = self.bvh.intersect(&ray, f32::INFINITY, is_liquid)?;
        let [a, b, c] = self.corners_at(hit.triangle, time);
        match self.faces[hit.triangle as usize].owner {
            Owner::Drop(id) if (b - a).cross(c - a).dot(direction) > 0.0 => Some(id),
            _ => None,
        }
    }

    /// The drop that encloses the camera at mid-shutter: in some direction its surface is the first
    /// of all that a ray hits, from inside. The base of a drop on a solid is not part of the scene,
    /// so a point behind that solid sees the drop's surface from inside too, but the solid first.
    pub(crate) fn drop_around(&self, point: Vec3) -> Option<u32> {
        let encloses = |direction: Vec3| {
            let ray = Ray { origin: point, direction, time: 0.5, origin_triangle: None };
            let hit = self.intersect(&ray, f32::INFINITY)?;
            let [a, b, c] = self.corners_at(hit.triangle, 0.5);
            match self.faces[hit.triangle as usize].owner {
                Owner::Drop(id) if (b - a).cross(c - a).dot(direction) > 0.0 => Some(id),
                _ => None,
            }
        };
        let axes = [Vec3::Y, Vec3::NEG_Y, Vec3::X, Vec3::NEG_X, Vec3::Z, Vec3::NEG_Z];
        if self.has_liquid { axes.into_iter().find_map(encloses) } else { None }
    }

    /// The corners of a triangle at a time of the shutter interval, from 0 to 1.
    pub(crate) fn corners_at(&self, triangle: u32, time: f32) -> [Vec3; 3] {
        let corners = self.corners[triangle as usize];
        match self.motions.get(triangle as usize) {
            Some(motion) => [0, 1, 2].map(|c| corners[c] + time * motion[c]),
            None => corners,
        }
    }

    /// The surface at a ray's hit.
    pub(crate) fn surface_interaction(&self, hit: &TriangleHit, time: f32) -> SurfaceInteraction {
        let [a, b, c] = self.corners_at(hit.triangle, time);
        let face = &self.faces[hit.triangle as usize];
        let [v, w] = hit.weights;
        let u = 1.0 - v - w;
        let normal = (b - a).cross(c - a).normalize_or(face.normals[0]);
        let smooth = (u * face.normals[0] + v * face.normals[1] + w * face.normals[2]).normalize_or(normal);
        let shading_normal = if smooth.dot(normal) > 0.0 { smooth } else { normal };
        // From the corners instead of along the ray: the error scales with the triangle's size, not
        // with the ray's length.
        let point = a + v * (b - a) + w * (c - a);
        let uv = u * face.uvs[0] + v * face.uvs[1] + w * face.uvs[2];
        let owner = face.owner;
        let mut at = SurfaceInteraction { point, normal, shading_normal, uv, owner, triangle: hit.triangle };
        if let Some(relief) = self.relief_at(owner, uv) {
            at.shading_normal = relief_normal(&at, [b - a, c - a], face, relief);
        }
        at
    }

    /// The relief of the surface of a solid at texture coordinates.
    fn relief_at(&self, owner: Owner, uv: Vec2) -> Option<Vec3> {
        let Owner::Solid(solid) = owner else { return None };
        let Body::Opaque(parameters) = &self.solids[solid as usize].body else { return None };
        parameters.color.relief_at(uv)
    }

    /// How much the interpolated normal at a surface point changes along a displacement in its
    /// triangle.
    pub(crate) fn normal_change(&self, at: &SurfaceInteraction, displacement: Vec3, time: f32) -> Vec3 {
        let [a, b, c] = self.corners_at(at.triangle, time);
        let [n, p, q] = self.faces[at.triangle as usize].normals;
        // The displacement in the triangle's edges, by their Gram matrix.
        let (e1, e2) = (b - a, c - a);
        let (g11, g12, g22) = (e1.dot(e1), e1.dot(e2), e2.dot(e2));
        let determinant = g11 * g22 - g12 * g12;
        if determinant <= 0.0 {
            return Vec3::ZERO;
        }
        let (along1, along2) = (displacement.dot(e1), displacement.dot(e2));
        let change = ((along1 * g22 - along2 * g12) * (p - n) + (along2 * g11 - along1 * g12) * (q - n)) / determinant;
        let change = change - at.shading_normal * change.dot(at.shading_normal);
        if change.is_finite() { change } else { Vec3::ZERO }
    }

    /// Normal of a film on a solid, n − ∇h for film thickness h; `slope` is its gradient in texture
    /// coordinates.
    pub(crate) fn film_normal(&self, at: &SurfaceInteraction, slope: Vec2, time: f32) -> Vec3 {
        if slope == Vec2::ZERO {
            return at.shading_normal;
        }
        let [a, b, c] = self.corners_at(at.triangle, time);
        let [p, q, r] = self.faces[at.triangle as usize].uvs;
        let (e1, e2, d1, d2) = (b - a, c - a, q - p, r - p);
        let area = d1.perp_dot(d2);
        if area.abs() < 1e-20 {
            return at.shading_normal;
        }
        // ∇h lies in the triangle: ∇h·e₁ = slope·d₁ and ∇h·e₂ = slope·d₂.
        let (along1, along2) = (slope.dot(d1), slope.dot(d2));
        let (g11, g12, g22) = (e1.dot(e1), e1.dot(e2), e2.dot(e2));
        let determinant = g11 * g22 - g12 * g12;
        if determinant <= 0.0 {
            return at.shading_normal;
        }
        let gradient = (e1 * (along1 * g22 - along2 * g12) + e2 * (along2 * g11 - along1 * g12)) / determinant;
        (at.shading_normal - gradient.clamp_length_max(1.0)).normalize_or(at.shading_normal)
    }
}

/// The normal of a relief, given by its parts along u, v and out of the surface; `edges` are those
/// of the triangle.
fn relief_normal(at: &SurfaceInteraction, edges: [Vec3; 2], face: &Face, relief: Vec3) -> Vec3 {
    let [p, q, r] = face.uvs;
    let (d1, d2) = (q - p, r - p);
    let area = d1.perp_dot(d2);
    if area.abs() < 1e-20 {
        return at.shading_normal;
    }
    // ∂p/∂u of the triangle, made perpendicular to the smooth normal; v lies to its left or right.
    let along_u = (edges[0] * d2.y - edges[1] * d1.y) / area;
    let Some(u) = along_u.reject_from_normalized(at.shading_normal).try_normalize() else { return at.shading_normal };
    let v = at.shading_normal.cross(u) * area.signum();
    let mapped = (relief.x * u + relief.y * v + relief.z * at.shading_normal).normalize();
    if mapped.dot(at.normal) > 0.0 { mapped } else { at.shading_normal }
}
