//! What is traced: every triangle with its owner, the owners' materials, the lights.
//!
//! Coordinates are single precision about an origin among the drops, in m.
//!
//! **Water touches its solid.** Liquid faces that lie on a solid are left out: a ray in the liquid meets the solid itself, with
//! no film between. Where the liquid's rim and a curved solid's facets do not quite meet, a skirt goes on from the rim into the solid.

use std::sync::Arc;

use glam::{DVec2, DVec3, Vec2, Vec3};
use sessile_appearance::{
    AreaLight, BsdfParameters, Environment, LiquidMaterial, Material, Ray, RayBvh, SunDisc, TriangleHit,
    creased_normals, luminance, skirt_triangles, smooth_normals,
};
use sessile_frames::{Surface, WetMap};
use sessile_geometry::TriMesh;

use crate::wet_layer::WetLayer;

/// Whose a triangle is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The surface of the drop with this id.
    Drop(u32),
    /// The solid with this index.
    Solid(u32),
}

/// What a solid is to a ray.
#[derive(Clone, Debug)]
pub enum Body {
    /// Opaque or leaf-like.
    Opaque(BsdfParameters),
    /// A body of glass, with an inside.
    GlassBody {
        /// Refractive index.
        index: f32,
    },
    /// A pane of glass, too thin to shift a ray.
    Sheet {
        /// Refractive index.
        index: f32,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Face {
    normals: [Vec3; 3],
    uvs: [Vec2; 3],
    pub owner: Owner,
}

/// A solid's looks.
#[derive(Clone, Debug)]
pub struct StagedSolid {
    /// What it is to a ray.
    pub body: Body,
    /// Where it is wet.
    pub wet: Option<WetLayer>,
}

/// Everything that a picture shows.
#[derive(Clone, Debug)]
pub struct Stage {
    bvh: RayBvh,
    corners: Vec<[Vec3; 3]>,
    motions: Vec<[Vec3; 3]>,
    pub(crate) faces: Vec<Face>,
    pub(crate) solids: Vec<StagedSolid>,
    pub(crate) liquid: LiquidMaterial,
    pub(crate) environment: Arc<Environment>,
    /// Whether drawing directions towards the environment pays; an even one is met by chance just as well.
    pub(crate) environment_varies: bool,
    pub(crate) lamps: Vec<AreaLight>,
    pub(crate) suns: Vec<SunDisc>,
    pub(crate) has_sheets: bool,
    origin: DVec3,
}

/// A point of a surface.
#[derive(Clone, Copy, Debug)]
pub struct SurfacePoint {
    /// Where.
    pub point: Vec3,
    /// Normal of the triangle, out of its owner.
    pub facet: Vec3,
    /// Normal of the surface that the triangles stand for, out of its owner.
    pub smooth: Vec3,
    /// Texture coordinates.
    pub uv: Vec2,
    /// Whose it is.
    pub owner: Owner,
    /// Which triangle.
    pub triangle: u32,
}

/// Collects what a stage holds, in world coordinates.
#[derive(Clone, Debug)]
pub struct StageBuilder {
    environment: Arc<Environment>,
    liquid: LiquidMaterial,
    shutter: f64,
    triangles: Vec<([DVec3; 3], [DVec3; 3], Face)>,
    solids: Vec<StagedSolid>,
    lamps: Vec<(DVec3, DVec3, f64, Vec3)>,
    suns: Vec<SunDisc>,
    liquid_bounds: [DVec3; 2],
}

impl StageBuilder {
    /// An empty stage; the shutter stays open for `shutter` seconds about the frame's moment.
    pub fn new(environment: impl Into<Arc<Environment>>, liquid: LiquidMaterial, shutter: f64) -> Self {
        Self {
            environment: environment.into(),
            liquid,
            shutter: if shutter.is_finite() { shutter.max(0.0) } else { 0.0 },
            triangles: Vec::new(),
            solids: Vec::new(),
            lamps: Vec::new(),
            suns: Vec::new(),
            liquid_bounds: [DVec3::INFINITY, DVec3::NEG_INFINITY],
        }
    }

    /// Adds a solid at its place in the world; `closed` glass has an inside, other glass is a thin sheet.
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
            Material::Opaque(finish) => Body::Opaque(finish.clone()),
            Material::Glass { index } if closed => Body::GlassBody { index: *index },
            Material::Glass { index } => Body::Sheet { index: *index },
        };
        self.solids.push(StagedSolid { body, wet: wet.and_then(WetLayer::new) });
        let normals = creased_normals(mesh);
        for (t, normals) in normals.into_iter().enumerate() {
            let corners = mesh.corners(t);
            let uvs = mesh.corner_uvs.get(t).map_or([Vec2::ZERO; 3], |uvs| uvs.map(DVec2::as_vec2));
            let face = Face { normals, uvs, owner: Owner::Solid(index) };
            self.triangles.push((corners, corners.map(&velocity), face));
        }
    }

    /// Adds the liquid of a frame; faces on a solid are left out. Solids must have been added before.
    pub fn liquid(&mut self, surface: &Surface) {
        let count = surface.positions.len();
        let usable = |t: &[u32; 3]| t.iter().all(|&v| (v as usize) < count);
        let on_solid = |t: usize| surface.solids.get(t).is_some_and(|&solid| solid >= 0);
        let free: Vec<usize> =
            (0..surface.triangles.len()).filter(|&t| !on_solid(t) && usable(&surface.triangles[t])).collect();
        let triangles: Vec<[u32; 3]> = free.iter().map(|&t| surface.triangles[t]).collect();
        let normals = smooth_normals(&surface.positions, &triangles);
        for p in surface.positions.iter().filter(|p| p.is_finite()) {
            self.liquid_bounds = [self.liquid_bounds[0].min(*p), self.liquid_bounds[1].max(*p)];
        }
        let velocity = |v: u32| surface.velocities.get(v as usize).copied().unwrap_or_default();
        for triangle in &triangles {
            let face = Face {
                normals: triangle.map(|v| normals[v as usize]),
                uvs: [Vec2::ZERO; 3],
                owner: Owner::Drop(surface.drops.get(triangle[0] as usize).copied().unwrap_or_default()),
            };
            self.triangles.push((triangle.map(|v| surface.positions[v as usize]), triangle.map(velocity), face));
        }
        self.skirts(surface, &normals);
    }

    /// Strips from the liquid's rim into the solids that it lies on; a pane needs none, for it is flat.
    fn skirts(&mut self, surface: &Surface, normals: &[Vec3]) {
        let has_depth = |solid: i32| {
            let staged = usize::try_from(solid).ok().and_then(|i| self.solids.get(i));
            matches!(staged, Some(StagedSolid { body: Body::Opaque(_) | Body::GlassBody { .. }, .. }))
        };
        let solids = self.triangles.iter().filter(|(.., face)| matches!(face.owner, Owner::Solid(_)));
        let solids = solids.map(|(corners, ..)| *corners);
        for strip in skirt_triangles(surface, has_depth, solids) {
            let velocity = |v: u32| surface.velocities.get(v as usize).copied().unwrap_or_default();
            let owner = Owner::Drop(surface.drops.get(strip.at[0] as usize).copied().unwrap_or_default());
            let face = Face { normals: strip.at.map(|v| normals[v as usize]), uvs: [Vec2::ZERO; 3], owner };
            self.triangles.push((strip.corners, strip.at.map(velocity), face));
        }
    }

    /// The same things in another light.
    #[must_use]
    pub fn with_environment(self, environment: impl Into<Arc<Environment>>) -> Self {
        Self { environment: environment.into(), ..self }
    }

    /// Adds a square lamp; one without area or light is left out.
    pub fn lamp(&mut self, center: DVec3, look_at: DVec3, side: f64, radiance: Vec3) {
        self.lamps.push((center, look_at, side, radiance));
    }

    /// Adds a sun; one without light is left out.
    pub fn sun(&mut self, towards: DVec3, angle: f64, irradiance: Vec3) {
        self.suns.extend(SunDisc::new(towards.as_vec3(), angle as f32, irradiance));
    }

    /// The stage.
    pub fn build(self) -> Stage {
        let of_liquid = self.liquid_bounds[0].cmple(self.liquid_bounds[1]).all();
        let [low, high] = if of_liquid {
            self.liquid_bounds
        } else {
            let points = self.triangles.iter().flat_map(|(corners, ..)| corners);
            points.fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], &p| [low.min(p), high.max(p)])
        };
        let middle = 0.5 * (low + high);
        let origin = if middle.is_finite() { middle } else { DVec3::ZERO };
        let moves = self.shutter > 0.0 && self.triangles.iter().any(|(_, velocity, _)| *velocity != [DVec3::ZERO; 3]);
        let open = if moves { self.shutter } else { 0.0 };
        let mut corners = Vec::with_capacity(self.triangles.len());
        let mut motions = Vec::with_capacity(if moves { self.triangles.len() } else { 0 });
        let mut faces = Vec::with_capacity(self.triangles.len());
        for (at, velocity, face) in self.triangles {
            let start = [0, 1, 2].map(|c| (at[c] - origin - 0.5 * open * velocity[c]).as_vec3());
            corners.push(start);
            if moves {
                motions.push(velocity.map(|v| (open * v).as_vec3()));
            }
            faces.push(face);
        }
        let lamps = self.lamps.iter().filter_map(|&(center, look_at, side, radiance)| {
            AreaLight::new((center - origin).as_vec3(), (look_at - origin).as_vec3(), side as f32, radiance)
        });
        Stage {
            bvh: RayBvh::new(&corners, &motions),
            corners,
            motions,
            faces,
            has_sheets: self.solids.iter().any(|solid| matches!(solid.body, Body::Sheet { .. })),
            solids: self.solids,
            liquid: self.liquid,
            environment_varies: varies(&self.environment),
            environment: self.environment,
            lamps: lamps.collect(),
            suns: self.suns,
            origin,
        }
    }
}

/// Whether an environment is brighter here than there.
fn varies(environment: &Environment) -> bool {
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
    high > 1.02 * low
}

impl Stage {
    /// The world point that the stage's coordinates start at, in m.
    pub fn origin(&self) -> DVec3 {
        self.origin
    }

    /// How many triangles are traced.
    pub fn num_triangles(&self) -> usize {
        self.corners.len()
    }

    /// Whether anything moves while the shutter is open.
    pub fn moves(&self) -> bool {
        !self.motions.is_empty()
    }

    /// Whether a solid is glass.
    pub fn is_clear(&self, solid: u32) -> bool {
        matches!(self.solids[solid as usize].body, Body::Sheet { .. } | Body::GlassBody { .. })
    }

    /// Whether a solid is glass with an inside.
    pub(crate) fn is_glass_body(&self, solid: u32) -> bool {
        matches!(self.solids[solid as usize].body, Body::GlassBody { .. })
    }

    /// The nearest triangle within `reach` along a ray.
    pub fn nearest(&self, ray: &Ray, reach: f32) -> Option<TriangleHit> {
        self.bvh.nearest(ray, reach, |_| true)
    }

    /// Whether anything is within `reach` along a ray.
    pub fn any(&self, ray: &Ray, reach: f32) -> bool {
        self.bvh.any(ray, reach, |_| true)
    }

    /// The nearest triangle along a ray whose number `counts` accepts.
    pub(crate) fn nearest_of(&self, ray: &Ray, reach: f32, counts: impl Fn(u32) -> bool) -> Option<TriangleHit> {
        self.bvh.nearest(ray, reach, counts)
    }

    /// Whether any triangle within `reach` along a ray has a number that `counts` accepts.
    pub(crate) fn any_of(&self, ray: &Ray, reach: f32, counts: impl Fn(u32) -> bool) -> bool {
        self.bvh.any(ray, reach, counts)
    }

    /// Whether a solid that is not clear is within `reach` along a ray.
    pub(crate) fn any_opaque(&self, ray: &Ray, reach: f32) -> bool {
        let is_opaque = |t: u32| match self.faces[t as usize].owner {
            Owner::Solid(solid) => !self.is_clear(solid),
            Owner::Drop(_) => false,
        };
        self.bvh.any(ray, reach, is_opaque)
    }

    /// Texture coordinates in a triangle, by the weights of its second and third corner.
    pub(crate) fn uv_at(&self, triangle: u32, [v, w]: [f32; 2]) -> Vec2 {
        let uvs = &self.faces[triangle as usize].uvs;
        (1.0 - v - w) * uvs[0] + v * uvs[1] + w * uvs[2]
    }

    /// The corners of a triangle at the moment of the frame.
    pub(crate) fn corners(&self, triangle: u32) -> [Vec3; 3] {
        self.corners_at(triangle, 0.5)
    }

    /// Lays other wet maps over the solids; everything else stays.
    pub fn set_wet(&mut self, maps: &[WetMap]) {
        for (index, solid) in self.solids.iter_mut().enumerate() {
            solid.wet = maps.iter().find(|map| map.solid == index).and_then(WetLayer::new);
        }
    }

    /// The drop that a point lies in: looking along `direction`, the first liquid surface is seen from within.
    pub fn drop_around(&self, point: Vec3, direction: Vec3, time: f32, leaves: u32) -> Option<u32> {
        let ray = Ray { origin: point, direction, time, leaves };
        let is_liquid = |t: u32| matches!(self.faces[t as usize].owner, Owner::Drop(_));
        let hit = self.bvh.nearest(&ray, f32::INFINITY, is_liquid)?;
        let [a, b, c] = self.corners_at(hit.triangle, time);
        match self.faces[hit.triangle as usize].owner {
            Owner::Drop(id) if (b - a).cross(c - a).dot(direction) > 0.0 => Some(id),
            _ => None,
        }
    }

    pub(crate) fn corners_at(&self, triangle: u32, time: f32) -> [Vec3; 3] {
        let corners = self.corners[triangle as usize];
        match self.motions.get(triangle as usize) {
            Some(motion) => [0, 1, 2].map(|c| corners[c] + time * motion[c]),
            None => corners,
        }
    }

    /// The surface where a ray hit.
    pub fn surface_point(&self, hit: &TriangleHit, time: f32) -> SurfacePoint {
        let [a, b, c] = self.corners_at(hit.triangle, time);
        let face = &self.faces[hit.triangle as usize];
        let [v, w] = hit.weights;
        let u = 1.0 - v - w;
        let facet = (b - a).cross(c - a).normalize_or(face.normals[0]);
        let smooth = (u * face.normals[0] + v * face.normals[1] + w * face.normals[2]).normalize_or(facet);
        let smooth = if smooth.dot(facet) > 0.0 { smooth } else { facet };
        // From the corners and not along the ray: the error is that of the triangle's size and not of the ray's length.
        let point = a + v * (b - a) + w * (c - a);
        let uv = u * face.uvs[0] + v * face.uvs[1] + w * face.uvs[2];
        SurfacePoint { point, facet, smooth, uv, owner: face.owner, triangle: hit.triangle }
    }

    /// The smooth normal of a solid's film, bent where the film's thickness changes: n − ∇h.
    pub(crate) fn bent_normal(&self, at: &SurfacePoint, slope: Vec2, time: f32) -> Vec3 {
        let [a, b, c] = self.corners_at(at.triangle, time);
        let [p, q, r] = self.faces[at.triangle as usize].uvs;
        let (e1, e2, d1, d2) = (b - a, c - a, q - p, r - p);
        let area = d1.perp_dot(d2);
        if area.abs() < 1e-20 || slope == Vec2::ZERO {
            return at.smooth;
        }
        // ∇h lies in the triangle: ∇h·e₁ = slope·d₁ and ∇h·e₂ = slope·d₂.
        let (along1, along2) = (slope.dot(d1), slope.dot(d2));
        let (g11, g12, g22) = (e1.dot(e1), e1.dot(e2), e2.dot(e2));
        let determinant = g11 * g22 - g12 * g12;
        if determinant <= 0.0 {
            return at.smooth;
        }
        let gradient = (e1 * (along1 * g22 - along2 * g12) + e2 * (along2 * g11 - along1 * g12)) / determinant;
        (at.smooth - gradient.clamp_length_max(1.0)).normalize_or(at.smooth)
    }
}
