//! Builds a render scene from meshes, liquid and lights in world coordinates.

use std::sync::Arc;

use glam::{DVec2, DVec3, Vec2, Vec3};
use sessile_appearance::{
    AreaLight, Backdrop, Environment, LiquidMaterial, Material, RayBvh, SunDisc, creased_normals, luminance,
    skirt_triangles, smooth_normals,
};
use sessile_frames::{Surface, WetMap};
use sessile_geometry::TriMesh;

use super::{Body, Face, Owner, RenderScene, RenderSolid};
use crate::wet_layer::WetLayer;

/// An environment whose luminance varies by less than this factor counts as uniform.
const UNIFORM_RATIO: f32 = 1.02;

/// A triangle in world coordinates, with the velocities of its corners.
#[derive(Clone, Debug)]
struct Triangle {
    corners: [DVec3; 3],
    velocities: [DVec3; 3],
    face: Face,
}

/// Collects solids, liquid and lights, in world coordinates.
#[derive(Clone, Debug)]
pub struct RenderSceneBuilder {
    environment: Arc<Environment>,
    liquid: LiquidMaterial,
    shutter: f64,
    triangles: Vec<Triangle>,
    solids: Vec<RenderSolid>,
    /// Center, target, side and radiance of area lights.
    area_lights: Vec<(DVec3, DVec3, f64, Vec3)>,
    suns: Vec<SunDisc>,
    backdrop: Option<Arc<Backdrop>>,
    liquid_bounds: [DVec3; 2],
}

impl RenderSceneBuilder {
    /// An empty scene; the shutter is open for `shutter` seconds, centered on the frame's time.
    pub fn new(environment: impl Into<Arc<Environment>>, liquid: LiquidMaterial, shutter: f64) -> Self {
        Self {
            environment: environment.into(),
            liquid,
            shutter: if shutter.is_finite() { shutter.max(0.0) } else { 0.0 },
            triangles: Vec::new(),
            solids: Vec::new(),
            area_lights: Vec::new(),
            suns: Vec::new(),
            backdrop: None,
            liquid_bounds: [DVec3::INFINITY, DVec3::NEG_INFINITY],
        }
    }

    /// Adds a solid at its place in the world; `closed` glass has an interior, other glass is a
    /// thin sheet.
    pub fn solid(
        &mut self,
        mesh: &TriMesh,
        velocity: impl Fn(DVec3) -> DVec3,
        material: &Material,
        closed: bool,
        wet: Option<&WetMap>,
    ) {
        let index = self.solids.len() as u32;
        let body = match material {
            Material::Opaque(parameters) => Body::Opaque(parameters.clone()),
            Material::Glass { index, tint } if closed => Body::Glass { index: *index, tint: *tint },
            Material::Glass { index, tint } => Body::Sheet { index: *index, tint: *tint },
        };
        let area = mesh.area() as f32;
        let single = |t: usize| (mesh.corners(t).map(DVec3::as_vec3), mesh.corner_uvs[t].map(DVec2::as_vec2));
        let textured = (0..mesh.corner_uvs.len()).map(single);
        self.solids.push(RenderSolid { body, area, wet: wet.and_then(|map| WetLayer::new(map, area, textured)) });
        let normals = creased_normals(mesh);
        for (t, normals) in normals.into_iter().enumerate() {
            let corners = mesh.corners(t);
            let uvs = mesh.corner_uvs.get(t).map_or([Vec2::ZERO; 3], |uvs| uvs.map(DVec2::as_vec2));
            let face = Face { normals, uvs, owner: Owner::Solid(index) };
            self.triangles.push(Triangle { corners, velocities: corners.map(&velocity), face });
        }
    }

    /// Adds the liquid of a frame; triangles on a solid are left out. Solids must have been added
    /// before.
    pub fn liquid(&mut self, surface: &Surface) {
        let count = surface.positions.len();
        let is_valid = |t: &[u32; 3]| t.iter().all(|&v| (v as usize) < count);
        let on_solid = |t: usize| surface.solids.get(t).is_some_and(|&solid| solid >= 0);
        let free: Vec<usize> =
            (0..surface.triangles.len()).filter(|&t| !on_solid(t) && is_valid(&surface.triangles[t])).collect();
        let triangles: Vec<[u32; 3]> = free.iter().map(|&t| surface.triangles[t]).collect();
        let normals = smooth_normals(&surface.positions, &triangles);
        for p in surface.positions.iter().filter(|p| p.is_finite()) {
            self.liquid_bounds = [self.liquid_bounds[0].min(*p), self.liquid_bounds[1].max(*p)];
        }
        for triangle in &triangles {
            let corners = triangle.map(|v| surface.positions[v as usize]);
            self.triangles.push(liquid_triangle(surface, &normals, corners, *triangle));
        }
        self.contact_skirts(surface, &normals);
    }

    /// Adds skirts from the contact line into the solids; a sheet needs none because it is flat.
    fn contact_skirts(&mut self, surface: &Surface, normals: &[Vec3]) {
        let has_depth = |solid: i32| {
            let solid = usize::try_from(solid).ok().and_then(|i| self.solids.get(i));
            matches!(solid, Some(RenderSolid { body: Body::Opaque(_) | Body::Glass { .. }, .. }))
        };
        let solids = self.triangles.iter().filter(|triangle| matches!(triangle.face.owner, Owner::Solid(_)));
        let solids = solids.map(|triangle| triangle.corners);
        for skirt in skirt_triangles(surface, has_depth, solids) {
            self.triangles.push(liquid_triangle(surface, normals, skirt.corners, skirt.vertices));
        }
    }

    /// The same scene in another environment.
    #[must_use]
    pub fn with_environment(self, environment: impl Into<Arc<Environment>>) -> Self {
        Self { environment: environment.into(), ..self }
    }

    /// Sets what the camera sees behind everything.
    pub fn backdrop(&mut self, backdrop: Option<Arc<Backdrop>>) {
        self.backdrop = backdrop;
    }

    /// Adds a square area light; one without area or emission is left out.
    pub fn area_light(&mut self, center: DVec3, look_at: DVec3, side: f64, radiance: Vec3) {
        self.area_lights.push((center, look_at, side, radiance));
    }

    /// Adds a sun; one without emission is left out.
    pub fn sun(&mut self, towards: DVec3, angle: f64, irradiance: Vec3) {
        self.suns.extend(SunDisc::new(towards.as_vec3(), angle as f32, irradiance));
    }

    /// Builds the scene.
    pub fn build(self) -> RenderScene {
        let origin = self.origin();
        let is_still = |triangle: &Triangle| triangle.velocities == [DVec3::ZERO; 3];
        let moves = self.shutter > 0.0 && !self.triangles.iter().all(is_still);
        let open = if moves { self.shutter } else { 0.0 };
        let mut corners = Vec::with_capacity(self.triangles.len());
        let mut motions = Vec::with_capacity(if moves { self.triangles.len() } else { 0 });
        let mut faces = Vec::with_capacity(self.triangles.len());
        for Triangle { corners: at, velocities, face } in self.triangles {
            corners.push([0, 1, 2].map(|c| (at[c] - origin - 0.5 * open * velocities[c]).as_vec3()));
            if moves {
                motions.push(velocities.map(|v| (open * v).as_vec3()));
            }
            faces.push(face);
        }
        let area_lights = self.area_lights.iter().filter_map(|&(center, look_at, side, radiance)| {
            AreaLight::new((center - origin).as_vec3(), (look_at - origin).as_vec3(), side as f32, radiance)
        });
        RenderScene {
            bvh: RayBvh::new(&corners, &motions),
            corners,
            motions,
            has_liquid: faces.iter().any(|face| matches!(face.owner, Owner::Drop(_))),
            faces,
            backdrop: self.backdrop,
            has_sheets: self.solids.iter().any(|solid| matches!(solid.body, Body::Sheet { .. })),
            solids: self.solids,
            liquid: self.liquid,
            sample_environment: !is_uniform(&self.environment),
            environment: self.environment,
            area_lights: area_lights.collect(),
            suns: self.suns,
            origin,
        }
    }

    /// The middle of the liquid's bounds, or of all triangles without liquid.
    fn origin(&self) -> DVec3 {
        let has_liquid = self.liquid_bounds[0].cmple(self.liquid_bounds[1]).all();
        let [low, high] = if has_liquid {
            self.liquid_bounds
        } else {
            let points = self.triangles.iter().flat_map(|triangle| &triangle.corners);
            points.fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], &p| [low.min(p), high.max(p)])
        };
        let middle = 0.5 * (low + high);
        if middle.is_finite() { middle } else { DVec3::ZERO }
    }
}

/// A triangle of the liquid with the normals, velocities and drop id of the given surface vertices.
fn liquid_triangle(surface: &Surface, normals: &[Vec3], corners: [DVec3; 3], vertices: [u32; 3]) -> Triangle {
    let velocity = |v: u32| surface.velocities.get(v as usize).copied().unwrap_or_default();
    let owner = Owner::Drop(surface.drops.get(vertices[0] as usize).copied().unwrap_or_default());
    let face = Face { normals: vertices.map(|v| normals[v as usize]), uvs: [Vec2::ZERO; 3], owner };
    Triangle { corners, velocities: vertices.map(velocity), face }
}

/// Whether an environment has nearly the same luminance in all directions.
fn is_uniform(environment: &Environment) -> bool {
    let samples =
        (0..64_u32).map(|i| Vec2::new((i as f32 + 0.5) / 64.0, (i.reverse_bits() >> 8) as f32 / 16_777_216.0));
    let (low, high) = samples
        .map(|u| {
            let z = 1.0 - 2.0 * u.x;
            let (sin, cos) = (std::f32::consts::TAU * u.y).sin_cos();
            let ring = (1.0 - z * z).sqrt();
            luminance(environment.radiance(Vec3::new(ring * cos, ring * sin, z)))
        })
        .fold((f32::INFINITY, 0.0_f32), |(low, high), y| (low.min(y), high.max(y)));
    high <= UNIFORM_RATIO * low
}
