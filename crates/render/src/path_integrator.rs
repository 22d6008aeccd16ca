//! The path integrator: radiance along a camera ray by unidirectional path tracing.
//!
//! At each scattering surface one light is sampled (next-event estimation) and one direction is
//! sampled from the BSDF; the two strategies are combined by multiple importance sampling with the
//! power heuristic (veach1997, §9.2). Light that is refracted on its way to a surface cannot be
//! sampled directly: photons carry it where they can ([`crate::caustics`]), and BSDF sampling finds
//! the rest.
//!
//! Long paths end by Russian roulette with the largest component of their throughput as survival
//! probability.
//!
//! The factor (nᵢ/nₜ)² of radiance in a denser medium is left out at both interfaces, because every
//! path that carries light ends in air.

mod differentials;
mod glints;

use glam::{Vec2, Vec3};
use sessile_appearance::{Bsdf, BsdfParameters, LightSample, Ray, TriangleHit, orthonormal_basis};

use crate::backdrop_view::BackdropView;
use crate::caustics::Caustics;
use crate::fresnel::sheet_reflectance;
use crate::interfaces::{Interface, MAX_PASSES, Media, SurfaceEvent, liquid_optics, surface_event};
use crate::render_scene::{Body, Owner, RenderScene, SurfaceInteraction};
use crate::sampler::Sampler;
use differentials::Differentials;
pub use differentials::SampleSpacing;
use glints::{Glints, Turning};

/// Path length and firefly clamping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathSettings {
    /// Maximum number of reflections, refractions and scatterings along a path.
    pub max_depth: u32,
    /// Clamp on indirect light that reaches a scattering surface by BSDF sampling, per sample;
    /// infinite: no clamp.
    pub clamp: f32,
    /// Distance between neighboring samples of a pixel; unknown: small lights that drops reflect
    /// and refract are found by chance only.
    pub spacing: SampleSpacing,
}

impl Default for PathSettings {
    fn default() -> Self {
        Self { max_depth: 12, clamp: f32::INFINITY, spacing: SampleSpacing::default() }
    }
}

/// Depth from which Russian roulette may end a path.
const ROULETTE_DEPTH: u32 = 4;

/// Interfaces seen directly from the camera at which both the reflected and the refracted path are
/// traced instead of one of them stochastically: the reflection of an area light is bright, and one
/// sample in fifty would find it.
const SPLIT_DEPTH: u32 = 2;

/// A branch whose throughput would be less than this is chosen stochastically instead.
const MIN_SPLIT_THROUGHPUT: f32 = 1e-3;

/// Maximum number of pending branches: one for each split of the main path and of each branch.
const MAX_BRANCHES: usize = 4;

/// The result of one path.
#[derive(Clone, Copy, Debug, Default)]
pub struct PathResult {
    /// Radiance.
    pub color: Vec3,
    /// Albedo of the first surface that is not clear; white without one.
    pub albedo: Vec3,
    /// Normal of the first surface, towards the camera; zero without one.
    pub normal: Vec3,
    /// Distance to the first surface; infinite without one.
    pub depth: f32,
    /// Number of rays traced.
    pub rays: u32,
}

/// What happens to a path at a surface.
enum PathEvent {
    /// The path continues in its direction.
    PassThrough,
    /// The path is reflected or refracted into this direction.
    Specular(Vec3),
    /// The path is scattered by a BSDF; its direction has been updated.
    Scattered,
    /// The path ends.
    Absorbed,
}

/// A pending branch of a split path.
#[derive(Clone, Copy)]
struct Branch {
    ray: Ray,
    media: Media,
    throughput: Vec3,
    depth: u32,
    glints: Glints,
    differentials: Option<Differentials>,
}

/// What paths are traced through: a scene and its photon maps.
#[derive(Clone, Copy, Debug)]
pub struct TraceContext<'a> {
    /// Geometry, materials and lights.
    pub scene: &'a RenderScene,
    /// Photons that clear objects have refracted or reflected; without them BSDF sampling finds all
    /// of that light.
    pub caustics: Option<&'a Caustics>,
    /// The backdrop, seen by the camera.
    pub backdrop: Option<&'a BackdropView<'a>>,
}

impl<'a> TraceContext<'a> {
    /// A scene without photon maps.
    #[cfg(test)]
    pub fn without_caustics(scene: &'a RenderScene) -> Self {
        Self { scene, caustics: None, backdrop: None }
    }
}

struct PathState<'a> {
    scene: &'a RenderScene,
    caustics: Option<&'a Caustics>,
    backdrop: Option<&'a BackdropView<'a>>,
    /// Which of the photon maps is read.
    photon_set: usize,
    settings: PathSettings,
    liquid_index: f32,
    absorption: Vec3,
    ray: Ray,
    media: Media,
    throughput: Vec3,
    /// Pdf of the last BSDF sample, if lights were sampled there too.
    bsdf_pdf: Option<f32>,
    scattered: bool,
    /// Fraction of the light that photons also carry which is left to this path: 1 until it is
    /// scattered and then refracted or reflected.
    left_by_photons: Vec3,
    /// That fraction after the next specular event.
    left_after_specular: Vec3,
    depth: u32,
    /// Lights whose image is accounted for, until the next event.
    glints: Glints,
    /// Difference from neighboring samples, where it matters.
    differentials: Option<Differentials>,
    /// Whether this is a branch: the main path has been traced to its end.
    is_branch: bool,
    branches: [Option<Branch>; MAX_BRANCHES],
    result: PathResult,
}

/// Traces a camera ray and all its branches; successive values of `pass` alternate between the
/// photon maps.
pub fn trace_path(
    context: TraceContext<'_>,
    settings: PathSettings,
    ray: Ray,
    media: Media,
    pass: u32,
    sampler: &mut Sampler,
) -> PathResult {
    let TraceContext { scene, caustics, backdrop } = context;
    let (liquid_index, absorption) = liquid_optics(scene);
    let result = PathResult { albedo: Vec3::ONE, depth: f32::INFINITY, ..PathResult::default() };
    let mut path = PathState {
        scene,
        caustics,
        backdrop,
        photon_set: caustics.map_or(0, |caustics| caustics.set_for(pass, ray.time)),
        settings,
        liquid_index,
        absorption,
        ray,
        media,
        throughput: Vec3::ONE,
        bsdf_pdf: None,
        scattered: false,
        left_by_photons: Vec3::ONE,
        left_after_specular: Vec3::ONE,
        depth: 0,
        glints: Glints::default(),
        differentials: None,
        is_branch: false,
        branches: [None; MAX_BRANCHES],
        result,
    };
    path.trace(sampler);
    while let Some(branch) = path.branches.iter_mut().find_map(Option::take) {
        path.is_branch = true;
        path.ray = branch.ray;
        path.media = branch.media;
        path.throughput = branch.throughput;
        path.depth = branch.depth;
        (path.glints, path.differentials) = (branch.glints, branch.differentials);
        (path.bsdf_pdf, path.scattered) = (None, false);
        (path.left_by_photons, path.left_after_specular) = (Vec3::ONE, Vec3::ONE);
        path.trace(sampler);
    }
    path.result
}

impl PathState<'_> {
    /// Traces the path until it leaves the scene, reaches an area light or is terminated.
    fn trace(&mut self, sampler: &mut Sampler) {
        let mut passes = 0;
        let mut traveled = 0.0;
        loop {
            self.result.rays += 1;
            let hit = self.scene.intersect(&self.ray, f32::INFINITY);
            let t_max = hit.map_or(f32::INFINITY, |hit| hit.distance);
            if self.on_emitter(t_max) {
                return;
            }
            let Some(hit) = hit else {
                self.on_miss();
                return;
            };
            traveled += hit.distance;
            match self.on_surface(&hit, traveled, sampler) {
                PathEvent::Absorbed => return,
                PathEvent::PassThrough => {
                    passes += 1;
                    if passes > MAX_PASSES {
                        return;
                    }
                    continue;
                }
                PathEvent::Specular(direction) => {
                    self.ray.direction = direction;
                    self.bsdf_pdf = None;
                    self.left_by_photons = self.left_after_specular;
                }
                PathEvent::Scattered => {
                    self.scattered = true;
                    self.left_by_photons = Vec3::ONE;
                }
            }
            self.depth += 1;
            if self.depth >= self.settings.max_depth || !self.survives_roulette(sampler) {
                return;
            }
        }
    }

    /// Handles the surface that the ray hits, and moves the ray's origin there.
    fn on_surface(&mut self, hit: &TriangleHit, traveled: f32, sampler: &mut Sampler) -> PathEvent {
        if self.media.is_liquid() {
            self.throughput *= (-self.absorption * hit.distance).exp();
        }
        let at = self.scene.surface_interaction(hit, self.ray.time);
        if self.depth == 0 && self.result.depth == f32::INFINITY {
            self.result.depth = traveled;
            let faces_camera = at.shading_normal.dot(self.ray.direction) < 0.0;
            self.result.normal = if faces_camera { at.shading_normal } else { -at.shading_normal };
        }
        if let Some(differentials) = &mut self.differentials {
            differentials.move_to_surface(self.ray.direction, hit.distance, at.normal);
        }
        let event = match surface_event(self.scene, &self.media, self.ray.direction, &at, self.ray.time) {
            SurfaceEvent::PassThrough(behind) => {
                self.media = behind;
                PathEvent::PassThrough
            }
            SurfaceEvent::Interface(interface) => {
                let interface = self.without_reflection_of_panes(&at, interface);
                let turning = self.turning(&at, &interface, traveled);
                self.reflect_or_refract(&at, &interface, turning.as_ref(), sampler)
            }
            SurfaceEvent::Scatter { parameters, normal, wetness } => {
                self.scatter(&at, normal, parameters, wetness, sampler)
            }
        };
        self.ray.origin = at.point;
        self.ray.origin_triangle = Some(at.triangle);
        event
    }

    /// Before a backdrop, a sheet of glass that the camera sees does not reflect: the photograph
    /// includes what it reflects and absorbs.
    fn without_reflection_of_panes(&self, at: &SurfaceInteraction, interface: Interface) -> Interface {
        let Owner::Solid(solid) = at.owner else { return interface };
        let is_pane = matches!(self.scene.solids[solid as usize].body, Body::Sheet { .. });
        let part_of_photograph = self.backdrop.is_some() && self.depth == 0 && is_pane && interface.refracted.is_some();
        if part_of_photograph { Interface { reflectance: 0.0, tint: Vec3::ONE, ..interface } } else { interface }
    }

    /// Russian roulette: whether the path continues.
    fn survives_roulette(&mut self, sampler: &mut Sampler) -> bool {
        if self.depth < ROULETTE_DEPTH {
            return true;
        }
        let survival = self.throughput.max_element().min(0.95);
        if survival <= 0.0 || sampler.next_1d() >= survival {
            return false;
        }
        self.throughput /= survival;
        true
    }

    /// Adds emitted radiance, clamped where it arrives indirectly.
    fn add_emission(&mut self, radiance: Vec3) {
        let radiance = self.throughput * radiance;
        if !radiance.is_finite() {
            return;
        }
        let brightest = radiance.max_element();
        let clamped = self.scattered && self.bsdf_pdf.is_none() && brightest > self.settings.clamp;
        self.result.color += if clamped { radiance * (self.settings.clamp / brightest) } else { radiance };
    }

    /// MIS weight of BSDF sampling for a light that is sampled with density `light_pdf`.
    fn mis_weight(&self, light_pdf: f32) -> f32 {
        self.bsdf_pdf.map_or(1.0, |bsdf_pdf| power_heuristic(bsdf_pdf, self.light_probability() * light_pdf))
    }

    fn num_lights(&self) -> usize {
        usize::from(self.scene.sample_environment) + self.scene.area_lights.len() + self.scene.suns.len()
    }

    /// Probability of sampling each light.
    fn light_probability(&self) -> f32 {
        1.0 / self.num_lights().max(1) as f32
    }

    /// Adds the emission of the nearest area light before `t_max`; whether there is one.
    fn on_emitter(&mut self, t_max: f32) -> bool {
        let Ray { origin, direction, .. } = self.ray;
        let lights = self.scene.area_lights.iter().enumerate();
        let hits = lights.filter_map(|(index, light)| Some((light.hit(origin, direction)?, index, light)));
        let Some((distance, index, light)) = hits.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|(d, ..)| *d < t_max)
        else {
            return false;
        };
        if self.glints.contains(index) {
            return true;
        }
        let weight = self.mis_weight(light.pdf(direction, distance));
        self.add_emission(weight * self.left_by_photons * light.radiance());
        true
    }

    /// Adds the emission of the backdrop, which scattered light does not come from, or of the
    /// environment and the suns.
    fn on_miss(&mut self) {
        let direction = self.ray.direction;
        let backdrop = self.backdrop.filter(|_| !self.scattered);
        if let Some(radiance) = backdrop.and_then(|view| view.radiance(self.ray.origin, direction, 1.0)) {
            self.add_emission(radiance);
            return;
        }
        let environment = &self.scene.environment;
        let sampled = self.scene.sample_environment && self.bsdf_pdf.is_some();
        let environment_pdf = if sampled { environment.pdf(direction) } else { 0.0 };
        let radiance = match self.caustics {
            Some(caustics) => {
                let (base, bright) = caustics.split_environment(environment.radiance(direction));
                base + self.left_by_photons * bright
            }
            None => environment.radiance(direction),
        };
        self.add_emission(self.mis_weight(environment_pdf) * radiance);
        for (index, sun) in self.scene.suns.iter().enumerate() {
            if self.glints.contains(self.scene.area_lights.len() + index) {
                continue;
            }
            self.add_emission(self.mis_weight(sun.pdf()) * self.left_by_photons * sun.radiance(direction));
        }
    }

    /// Near the camera, traces both the reflected and the refracted path; farther on, one of them
    /// stochastically.
    fn reflect_or_refract(
        &mut self,
        at: &SurfaceInteraction,
        interface: &Interface,
        turning: Option<&Turning>,
        sampler: &mut Sampler,
    ) -> PathEvent {
        let &Interface { reflectance, reflected, media: [media_reflected, media_refracted], .. } = interface;
        let throughput = self.throughput * reflectance;
        let splits = !self.scattered && self.depth < SPLIT_DEPTH && throughput.max_element() > MIN_SPLIT_THROUGHPUT;
        let free = self.branches.iter().position(Option::is_none).filter(|_| splits);
        let Some(refracted) = interface.refracted else {
            (self.differentials, self.glints) = self.reflect(at, interface, turning, self.throughput, sampler);
            self.media = media_reflected;
            return PathEvent::Specular(reflected);
        };
        if let Some(free) = free {
            let (differentials, glints) = self.reflect(at, interface, turning, throughput, sampler);
            let ray = Ray { origin: at.point, direction: reflected, origin_triangle: Some(at.triangle), ..self.ray };
            let (media, depth) = (media_reflected, self.depth + 1);
            self.branches[free] = Some(Branch { ray, media, throughput, depth, glints, differentials });
            self.throughput *= 1.0 - reflectance;
        } else if sampler.next_1d() < reflectance {
            (self.differentials, self.glints) = self.reflect(at, interface, turning, self.throughput, sampler);
            self.media = media_reflected;
            return PathEvent::Specular(reflected);
        }
        self.media = media_refracted;
        self.throughput *= interface.tint;
        if interface.undeviated {
            return PathEvent::PassThrough;
        }
        (self.differentials, self.glints) = self.refract(at, interface, turning, refracted, sampler);
        PathEvent::Specular(refracted)
    }

    /// Samples direct light, gathers photons, and samples the BSDF for the next direction.
    fn scatter(
        &mut self,
        at: &SurfaceInteraction,
        normal: Vec3,
        parameters: &BsdfParameters,
        wetness: f32,
        sampler: &mut Sampler,
    ) -> PathEvent {
        self.glints = Glints::default();
        let incident = self.ray.direction;
        let side = if incident.dot(at.normal) < 0.0 { 1.0 } else { -1.0 };
        let facet = side * at.normal;
        let normal = if incident.dot(side * normal) < -1e-3 { side * normal } else { facet };
        let bsdf = parameters.bsdf(at.uv, self.media.index(self.liquid_index), wetness);
        if !self.scattered && !self.is_branch {
            self.result.albedo = bsdf.albedo().min(Vec3::ONE);
        }
        let frame = Frame::new(normal);
        let vertex = PathVertex { at, facet, wo: frame.to_local(-incident), frame, bsdf };
        // Numbers are drawn in the same order whatever happens, so that each dimension keeps its
        // stratification.
        let (u_choice, u_light) = (sampler.next_2d(), sampler.next_2d());
        let u_bsdf = sampler.next_2d();
        if self.media.is_air() {
            self.sample_direct_light(&vertex, u_choice.x, u_light);
        }
        self.gather_photons(&vertex);
        self.sample_bsdf(&vertex, u_choice.y, u_bsdf)
    }

    /// Next-event estimation: adds the light of one sampled light, weighted by MIS.
    fn sample_direct_light(&mut self, vertex: &PathVertex<'_>, u_light_choice: f32, u: Vec2) {
        let Some(light) = self.sample_light(vertex.at.point, u_light_choice, u) else { return };
        let wi = vertex.frame.to_local(light.direction);
        if light.direction.dot(vertex.facet) * wi.z <= 0.0 || light.pdf <= 0.0 {
            return;
        }
        let (value, bsdf_pdf) = vertex.bsdf.eval(vertex.wo, wi);
        if value.max_element() <= 0.0 {
            return;
        }
        let transmittance = self.shadow_transmittance(vertex.at, light.direction, light.distance);
        if transmittance != Vec3::ZERO {
            let light_pdf = self.light_probability() * light.pdf;
            let weight = power_heuristic(light_pdf, bsdf_pdf);
            let radiance = self.throughput * value * light.radiance * transmittance * (weight / light_pdf);
            if radiance.is_finite() {
                self.result.color += radiance;
            }
        }
    }

    /// Adds the caustic light that photons carry to a path vertex.
    fn gather_photons(&mut self, vertex: &PathVertex<'_>) {
        let Some(caustics) = self.caustics else { return };
        let lobes = vertex.bsdf.rough_lobes(vertex.wo);
        if !lobes.is_black() {
            let to_local = |v| vertex.frame.to_local(v);
            let gathered = caustics.gather(self.photon_set, vertex.at.point, vertex.facet, &lobes, to_local);
            self.result.color += self.throughput * gathered;
        }
    }

    /// Samples the BSDF for the next direction of the path.
    fn sample_bsdf(&mut self, vertex: &PathVertex<'_>, u_lobe: f32, u: Vec2) -> PathEvent {
        let Some(sample) = vertex.bsdf.sample(vertex.wo, u_lobe, u) else { return PathEvent::Absorbed };
        let direction = vertex.frame.to_world(sample.wi);
        // A direction on the outside of the shading normal but inside the facet is lost.
        if direction.dot(vertex.facet) * sample.wi.z <= 0.0 {
            return PathEvent::Absorbed;
        }
        if self.caustics.is_some() {
            self.left_after_specular = vertex.bsdf.smooth_fraction(vertex.wo, sample.wi);
        }
        self.throughput *= sample.weight;
        self.ray.direction = direction;
        self.bsdf_pdf = (self.media.is_air() && self.num_lights() > 0).then_some(sample.pdf);
        PathEvent::Scattered
    }

    /// Samples a point on one of the lights, all of which are equally likely.
    fn sample_light(&self, from: Vec3, u_light_choice: f32, u: Vec2) -> Option<LightSample> {
        let scene = self.scene;
        let count = self.num_lights();
        let mut index = ((u_light_choice * count as f32) as usize).min(count.checked_sub(1)?);
        if scene.sample_environment {
            if index == 0 {
                let sample = scene.environment.sample(u);
                return Some(LightSample {
                    direction: sample.dir,
                    distance: f32::INFINITY,
                    radiance: sample.radiance,
                    pdf: sample.pdf,
                });
            }
            index -= 1;
        }
        match scene.area_lights.get(index) {
            Some(light) => light.sample(from, u),
            None => scene.suns.get(index - scene.area_lights.len()).map(|sun| sun.sample(u)),
        }
    }

    /// Transmittance of a shadow ray: 0 behind opaque objects and liquid, less than 1 through dry
    /// sheets of glass.
    fn shadow_transmittance(&mut self, at: &SurfaceInteraction, direction: Vec3, distance: f32) -> Vec3 {
        let mut ray = Ray { origin: at.point, direction, origin_triangle: Some(at.triangle), ..self.ray };
        let mut t_max = if distance.is_finite() { distance * (1.0 - 1e-4) } else { distance };
        self.result.rays += 1;
        if !self.scene.has_sheets {
            return if self.scene.occluded(&ray, t_max) { Vec3::ZERO } else { Vec3::ONE };
        }
        let mut transmittance = Vec3::ONE;
        for _ in 0..MAX_PASSES {
            let Some(hit) = self.scene.intersect(&ray, t_max) else { return transmittance };
            let at = self.scene.surface_interaction(&hit, ray.time);
            let Owner::Solid(solid) = at.owner else { return Vec3::ZERO };
            let solid = &self.scene.solids[solid as usize];
            let Body::Sheet { index, tint } = solid.body else { return Vec3::ZERO };
            // A film refracts the light: the shadow ray would miss the light.
            if solid.wetness(at.uv).is_film() {
                return Vec3::ZERO;
            }
            let cosine = direction.dot(at.normal);
            if cosine > 0.0 && self.scene.enclosing_drop(at.point, at.normal, ray.time).is_some() {
                return Vec3::ZERO;
            }
            transmittance *= tint * (1.0 - sheet_reflectance(cosine.abs(), 1.0, index, 1.0));
            t_max -= hit.distance;
            ray = Ray { origin: at.point, origin_triangle: Some(at.triangle), ..ray };
        }
        Vec3::ZERO
    }
}

/// The power heuristic with exponent 2: weight of the strategy with the first pdf.
fn power_heuristic(first: f32, second: f32) -> f32 {
    let ratio = second / first;
    1.0 / (1.0 + ratio * ratio)
}

/// A vertex of the path on a scattering surface.
struct PathVertex<'a> {
    at: &'a SurfaceInteraction,
    /// Geometric normal on the side of the incoming ray.
    facet: Vec3,
    /// Outgoing direction, in the frame.
    wo: Vec3,
    frame: Frame,
    bsdf: Bsdf,
}

/// A local frame with z along the shading normal.
struct Frame {
    axes: [Vec3; 2],
    normal: Vec3,
}

impl Frame {
    fn new(normal: Vec3) -> Self {
        Self { axes: orthonormal_basis(normal), normal }
    }

    fn to_local(&self, v: Vec3) -> Vec3 {
        Vec3::new(v.dot(self.axes[0]), v.dot(self.axes[1]), v.dot(self.normal))
    }

    fn to_world(&self, v: Vec3) -> Vec3 {
        (v.x * self.axes[0] + v.y * self.axes[1] + v.z * self.normal).normalize_or(self.normal)
    }
}
