//! Pictures in a tenth of a second, for looking at a run before the light is traced.
//!
//! The same scene, camera and tone map as the path tracer's, by looking up instead of following light (fournier1998, §4):
//!
//! - what is seen where is found by drawing triangles, at four samples per pixel (`raster`);
//! - solids are lit by the environment, filtered beforehand for matte and for rough mirrors (`light`), by suns and lamps with hard
//!   shadows of solids, and have their textures and wet layers;
//! - under a drop lies the **illumination texture** of its lights, warped to the drop's base, and around it the drop's shadow and what
//!   it lets out (`base_light`);
//! - a drop shows what lies behind along one bent line of sight, mirrors the environment by Fresnel's law, and has Blinn's
//!   highlights of suns and lamps (`shade_drop`).
//!
//! Left out, against the path tracer: light between solids, soft shadows, drops seen through drops or in mirrors, drops behind
//! bodies of glass where those bend the view, films on glass, motion blur and depth of field. A drop round the eye is not drawn.
//!
//! Nothing is random, and tiles do not share: the picture is the same for any number of threads.

mod base_irradiance;
mod drop_shading;
mod octahedral_map;
mod prefiltered_light;
mod rasterizer;
mod screen_drops;
mod shading;

use glam::{Vec2, Vec3};
use rayon::prelude::*;
use sessile_appearance::{Camera, Lens, LiquidMaterial, TriangleHit};
use sessile_frames::Surface;

use self::base_irradiance::BaseIrradiance;
use self::drop_shading::DropPoint;
use self::prefiltered_light::PrefilteredLight;
use self::rasterizer::{NOTHING, OFFSETS, Rect, SAMPLES, TILE, Visible, clip};
use self::screen_drops::{ScreenDrop, drops_on_screen};
use self::shading::{Paint, Shader};
use crate::framebuffer::Framebuffer;
use crate::fresnel::refract;
use crate::render_scene::{Body, Owner, RenderScene, SurfaceInteraction};

/// Nearest depth at which solids are drawn, in parts of the distance from the eye to the stage's origin.
const NEAREST: f32 = 1e-4;

/// Samples whose facets differ by less than this are shaded together: the cosine of 25°.
const ALIKE: f32 = 0.9;

/// Glass counts as before a thing when it is nearer by more than this part of the depth; a drop stands on its pane.
const BEFORE: f32 = 1e-5;

/// The first owner number that is a drop; below are solids.
const FIRST_DROP: u32 = 1 << 31;

/// Draws previews of one scene: lights are made ready once, for all frames.
#[derive(Clone, Debug)]
pub struct Preview {
    light: PrefilteredLight,
    bases: BaseIrradiance,
}

/// A triangle of a solid on the screen.
struct SolidTriangle {
    corners: [Vec3; 3],
    owner: u32,
    triangle: u32,
    rect: Rect,
}

/// FramesToRender lies in each tile.
struct Bins {
    columns: usize,
    solids: Vec<Vec<u32>>,
    drops: Vec<Vec<u32>>,
}

impl Preview {
    /// Makes the lights of a stage ready. Its solids and liquid may change afterwards, its environment, suns and liquid's look may not.
    pub fn new(scene: &RenderScene) -> Self {
        let index = match scene.liquid {
            LiquidMaterial::Clear { index, .. } => index,
            LiquidMaterial::Opaque(_) => 1.0,
        };
        Self {
            light: PrefilteredLight::new(scene.environment.clone()),
            bases: BaseIrradiance::new(index, &scene.environment, &scene.suns),
        }
    }

    /// A picture of a stage of solids, without liquid, and of the liquid on them. Only its colors are filled in.
    pub fn render(&mut self, scene: &RenderScene, liquid: &Surface, camera: &Camera, size: [usize; 2]) -> Framebuffer {
        let [width, height] = size;
        let lens = camera.lens(scene.origin(), size);
        let drops = drops_on_screen(liquid, scene, &lens, size);
        let solids = solids_on_screen(scene, &lens, size);
        self.bases.prepare(drops.iter().filter_map(|drop| drop.base.as_ref()));
        let clear = match scene.liquid {
            LiquidMaterial::Clear { index, absorption } => Some((index, absorption)),
            LiquidMaterial::Opaque(_) => None,
        };
        let shader = Shader { scene, light: &self.light, bases: &self.bases, clear };
        let view = View { shader, lens, size: Vec2::new(width as f32, height as f32), drops, solids };
        let bins = Bins::new(&view.solids, &view.drops, size);
        let tiles: Vec<(Rect, Vec<Vec3>)> =
            (0..bins.solids.len()).into_par_iter().map(|tile| view.tile(tile, &bins, size)).collect();
        let mut color = vec![Vec3::ZERO; width * height];
        for (rect, pixels) in tiles {
            let across = rect.high[0] - rect.low[0];
            for (row, pixels) in pixels.chunks_exact(across).enumerate() {
                let start = (rect.low[1] + row) * width + rect.low[0];
                color[start..start + across].copy_from_slice(pixels);
            }
        }
        Framebuffer { width, height, color, ..Framebuffer::default() }
    }
}

fn solids_on_screen(scene: &RenderScene, lens: &Lens, size: [usize; 2]) -> Vec<SolidTriangle> {
    let pixels = Vec2::new(size[0] as f32, size[1] as f32);
    let nearest = (NEAREST * lens.eye().length()).max(1e-7);
    let of_triangle = |triangle: u32| {
        let Owner::Solid(owner) = scene.faces[triangle as usize].owner else { return Vec::new() };
        let corners = scene.corners(triangle).map(|corner| lens.homogeneous(corner));
        if corners.iter().all(|p| p.z < nearest) || !corners.iter().all(|p| p.is_finite()) {
            return Vec::new();
        }
        let parts = clip(corners, nearest, pixels).filter_map(|corners| {
            let [a, b, c] = corners.map(Vec3::truncate);
            let rect = Rect::around(a.min(b).min(c), a.max(b).max(c), size)?;
            Some(SolidTriangle { corners, owner, triangle, rect })
        });
        parts.collect()
    };
    (0..scene.num_triangles() as u32).into_par_iter().flat_map_iter(of_triangle).collect()
}

impl Bins {
    fn new(solids: &[SolidTriangle], drops: &[ScreenDrop], [width, height]: [usize; 2]) -> Self {
        let columns = width.div_ceil(TILE);
        let count = columns * height.div_ceil(TILE);
        let mut bins = Self { columns, solids: vec![Vec::new(); count], drops: vec![Vec::new(); count] };
        for (i, triangle) in solids.iter().enumerate() {
            triangle.rect.tiles(columns).for_each(|tile| bins.solids[tile].push(i as u32));
        }
        for (i, drop) in drops.iter().enumerate() {
            drop.reach.tiles(columns).for_each(|tile| bins.drops[tile].push(i as u32));
        }
        bins
    }
}

struct View<'a> {
    shader: Shader<'a>,
    lens: Lens,
    size: Vec2,
    drops: Vec<ScreenDrop>,
    solids: Vec<SolidTriangle>,
}

impl View<'_> {
    fn tile(&self, tile: usize, bins: &Bins, [width, height]: [usize; 2]) -> (Rect, Vec<Vec3>) {
        let low = [TILE * (tile % bins.columns), TILE * (tile / bins.columns)];
        let rect = Rect { low, high: [(low[0] + TILE).min(width), (low[1] + TILE).min(height)] };
        let scene = self.shader.scene;
        let mut seen = Visible::new(rect);
        let has_glass = bins.solids[tile].iter().any(|&i| scene.is_clear(self.solids[i as usize].owner));
        let mut glass = has_glass.then(|| Visible::new(rect));
        for &i in &bins.solids[tile] {
            let SolidTriangle { corners, owner, triangle, .. } = self.solids[i as usize];
            match &mut glass {
                Some(glass) if scene.is_clear(owner) => glass.draw(corners, owner, triangle),
                _ => seen.draw(corners, owner, triangle),
            }
        }
        for &i in &bins.drops[tile] {
            let drop = &self.drops[i as usize];
            if drop.rect.intersection(&rect).is_none() {
                continue;
            }
            for (t, triangle) in drop.triangles.iter().enumerate() {
                seen.draw(triangle.map(|v| drop.screen[v as usize]), FIRST_DROP + i, t as u32);
            }
        }
        let light = self.light_around_drops(&seen, &bins.drops[tile]);
        let place = |at: usize| [low[0] + at % (rect.high[0] - low[0]), low[1] + at / (rect.high[0] - low[0])];
        let pixel = |at: usize| self.pixel(place(at), at, &seen, glass.as_ref(), light[at]);
        (rect, (0..seen.near.len()).map(pixel).collect())
    }

    fn towards(&self, [x, y]: [usize; 2], sample: usize) -> Vec3 {
        self.lens.pinhole_direction((Vec2::new(x as f32, y as f32) + OFFSETS[sample]) / self.size)
    }

    /// The same direction, its part along the camera's axis being 1.
    fn unscaled(&self, [x, y]: [usize; 2], sample: usize) -> Vec3 {
        self.lens.unnormalized_direction((Vec2::new(x as f32, y as f32) + OFFSETS[sample]) / self.size)
    }

    /// The factor that drops put on the light of the ground around them, per pixel.
    fn light_around_drops(&self, seen: &Visible, drops: &[u32]) -> Vec<Vec3> {
        let mut factors = vec![Vec3::ONE; seen.near.len()];
        for &i in drops {
            let drop = &self.drops[i as usize];
            let Some(base) = drop.base.as_ref().filter(|base| !base.clear) else { continue };
            let (Some(light), Some(rect)) = (self.shader.bases.of(base), drop.reach.intersection(&seen.rect)) else {
                continue;
            };
            let area_lights: Vec<(Vec3, Vec3)> =
                self.shader.area_lights(base.foot).map(|(towards, light, _)| (towards, light)).collect();
            for y in rect.low[1]..rect.high[1] {
                for x in rect.low[0]..rect.high[0] {
                    let at = seen.index(x, y);
                    let Some(sample) = seen.owner[at].iter().position(|&owner| owner == base.solid) else { continue };
                    let point = self.lens.eye() + self.unscaled([x, y], sample) / seen.near[at][sample];
                    // A curved or folded solid's other parts may lie under the same pixels.
                    let above = (point - base.foot).dot(base.normal).abs();
                    if above > 2.0 * base.radius || (point - base.foot).length_squared() > base.far * base.far {
                        continue;
                    }
                    let offset = base.offset(point);
                    factors[at] *= self.shader.bases.around(light, base, offset, &area_lights);
                }
            }
        }
        factors
    }

    fn pixel(&self, place: [usize; 2], at: usize, seen: &Visible, glass: Option<&Visible>, factor: Vec3) -> Vec3 {
        let (owners, triangles) = (seen.owner[at], seen.triangle[at]);
        let before: [Option<(u32, u32)>; SAMPLES] =
            std::array::from_fn(|sample| glass.and_then(|glass| self.glass_before(glass, seen, at, sample)));
        if before.iter().all(Option::is_none) {
            return self.without_glass(place, owners, triangles, factor);
        }
        let pane = before[0].filter(|&(solid, _)| {
            let same = before.iter().all(|other| other.is_some_and(|(other, _)| other == solid));
            same && matches!(self.shader.scene.solids[solid as usize].body, Body::Sheet { .. })
        });
        if let Some((solid, triangle)) = pane {
            let direction = self.towards(place, 0);
            let Some(surface) = self.surface_interaction(triangle, direction) else { return Vec3::ZERO };
            let behind = || self.without_glass(place, owners, triangles, factor);
            return self.shader.glass(&surface, solid, direction, behind);
        }
        let each = before.into_iter().enumerate().map(|(sample, before)| {
            let behind = || self.sample(place, sample, owners[sample], triangles[sample], factor);
            let direction = self.towards(place, sample);
            let Some((solid, triangle)) = before else { return behind() };
            let Some(surface) = self.surface_interaction(triangle, direction) else { return Vec3::ZERO };
            self.shader.glass(&surface, solid, direction, || match self.shader.scene.solids[solid as usize].body {
                // Drops on the far side of a body are seen as if it did not bend the view.
                Body::GlassBody { index } if owners[sample] < FIRST_DROP || owners[sample] == NOTHING => {
                    let smooth = if direction.dot(surface.shading_normal) < 0.0 {
                        surface.shading_normal
                    } else {
                        surface.normal
                    };
                    let bent = refract(direction, smooth, 1.0 / index).unwrap_or(direction);
                    self.shader.background(surface.point, bent, surface.triangle, index)
                }
                _ => behind(),
            })
        });
        each.sum::<Vec3>() / SAMPLES as f32
    }

    /// The mean color of a pixel's samples; those of one thing are shaded together as far as it does not show.
    fn without_glass(
        &self,
        place: [usize; 2],
        owners: [u32; SAMPLES],
        triangles: [u32; SAMPLES],
        factor: Vec3,
    ) -> Vec3 {
        if owners[0] >= FIRST_DROP && owners[0] != NOTHING && owners.iter().all(|&owner| owner == owners[0]) {
            // Within a drop two samples do, for it has no edges.
            let pair = [0, SAMPLES - 1].map(|sample| self.sample(place, sample, owners[0], triangles[sample], factor));
            return 0.5 * (pair[0] + pair[1]);
        }
        let mut color = Vec3::ZERO;
        let mut done = [false; SAMPLES];
        for sample in 0..SAMPLES {
            if done[sample] {
                continue;
            }
            let owner = owners[sample];
            let (shade, count) = if owner < FIRST_DROP {
                self.solid_samples(place, sample, owners, triangles, &mut done, factor)
            } else {
                let mut count = 1;
                if owner == NOTHING {
                    for other in (sample + 1..SAMPLES).filter(|&other| owners[other] == NOTHING) {
                        done[other] = true;
                        count += 1;
                    }
                }
                (self.sample(place, sample, owner, triangles[sample], factor), count)
            };
            color += shade * (count as f32 / SAMPLES as f32);
        }
        color
    }

    /// The glass that stands before what is seen at a sample: its solid and triangle.
    fn glass_before(&self, glass: &Visible, seen: &Visible, at: usize, sample: usize) -> Option<(u32, u32)> {
        let owner = glass.owner[at][sample];
        let nearer = glass.near[at][sample] > seen.near[at][sample] * (1.0 + BEFORE);
        // A drop's base on the glass, seen through it, lies in the same plane.
        let through = self.drop_of(seen.owner[at][sample]).is_some_and(|drop| {
            seen.triangle[at][sample] as usize >= drop.num_free && drop.base.as_ref().is_some_and(|b| b.solid == owner)
        });
        (owner != NOTHING && (nearer || through)).then_some((owner, glass.triangle[at][sample]))
    }

    fn drop_of(&self, owner: u32) -> Option<&ScreenDrop> {
        (owner != NOTHING).then(|| owner.checked_sub(FIRST_DROP)).flatten().map(|i| &self.drops[i as usize])
    }

    /// Samples of one solid with nearly one normal, shaded once with their mean color; how many.
    fn solid_samples(
        &self,
        place: [usize; 2],
        first: usize,
        owners: [u32; SAMPLES],
        triangles: [u32; SAMPLES],
        done: &mut [bool; SAMPLES],
        factor: Vec3,
    ) -> (Vec3, usize) {
        let scene = self.shader.scene;
        let solid = owners[first];
        let Body::Opaque(parameters) = &scene.solids[solid as usize].body else { return (Vec3::ZERO, 1) };
        let direction = self.towards(place, first);
        let Some(main) = self.surface_interaction(triangles[first], direction) else { return (Vec3::ZERO, 1) };
        let layer = scene.solids[solid as usize].wet.as_ref();
        let wetness = layer.map(|layer| layer.at(main.uv)).unwrap_or_default();
        let mut color = parameters.color.at(main.uv);
        done[first] = true;
        let mut count = 1;
        for other in first + 1..SAMPLES {
            if done[other] || owners[other] != solid {
                continue;
            }
            let uv = if triangles[other] == triangles[first] {
                if parameters.color.is_constant() {
                    Some(main.uv)
                } else {
                    let met = meet(scene.corners(triangles[other]), self.lens.eye(), self.unscaled(place, other));
                    met.map(|(_, weights)| scene.uv_at(triangles[other], weights))
                }
            } else {
                let point = self.surface_interaction(triangles[other], self.towards(place, other));
                point.filter(|point| point.normal.dot(main.normal) > ALIKE).map(|point| point.uv)
            };
            let Some(uv) = uv else { continue };
            color += parameters.color.at(uv);
            done[other] = true;
            count += 1;
        }
        let mean = Paint::of_color(parameters, color / count as f32, 1.0, wetness.wet);
        let bent = wetness.slope != Vec2::ZERO;
        let normal = if bent { scene.film_normal(&main, wetness.slope, 0.5) } else { main.shading_normal };
        (self.shader.surface(main.point, main.triangle, normal, -direction, &mean, factor), count)
    }

    fn sample(&self, place: [usize; 2], sample: usize, owner: u32, triangle: u32, factor: Vec3) -> Vec3 {
        let direction = self.towards(place, sample);
        if owner == NOTHING {
            return self.shader.sky(self.lens.eye(), direction);
        }
        if let Some(drop) = self.drop_of(owner) {
            let Some(point) = self.drop_point(drop, triangle, direction) else { return Vec3::ZERO };
            // Over a pixel, the normal of a ball of this size turns by a pixel's width over its radius.
            let depth = (point.point - self.lens.eye()).dot(self.lens.forward());
            let radius = drop.body.size / (depth * self.lens.pixel_height(self.size.y));
            let blur = (0.35 / radius.max(0.5)).min(0.4);
            return self.shader.drop(drop, &point, direction, blur);
        }
        let (Some(at), Body::Opaque(parameters)) =
            (self.surface_interaction(triangle, direction), &self.shader.scene.solids[owner as usize].body)
        else {
            return Vec3::ZERO;
        };
        let layer = self.shader.scene.solids[owner as usize].wet.as_ref();
        let wetness = layer.map(|layer| layer.at(at.uv)).unwrap_or_default();
        let normal = self.shader.scene.film_normal(&at, wetness.slope, 0.5);
        let paint = Paint::of(parameters, at.uv, 1.0, wetness.wet);
        self.shader.surface(at.point, at.triangle, normal, -direction, &paint, factor)
    }

    /// Where a line of sight meets a solid's triangle.
    fn surface_interaction(&self, triangle: u32, direction: Vec3) -> Option<SurfaceInteraction> {
        let (distance, weights) = meet(self.shader.scene.corners(triangle), self.lens.eye(), direction)?;
        Some(self.shader.scene.surface_interaction(&TriangleHit { distance, triangle, weights }, 0.5))
    }

    fn drop_point(&self, drop: &ScreenDrop, triangle: u32, direction: Vec3) -> Option<DropPoint> {
        let corners = drop.triangles[triangle as usize];
        let [a, b, c] = corners.map(|v| drop.positions[v as usize]);
        let (distance, [v, w]) = meet([a, b, c], self.lens.eye(), direction)?;
        let facet = (b - a).cross(c - a).normalize_or_zero();
        let through_glass = triangle as usize >= drop.num_free;
        let [n0, n1, n2] = corners.map(|v| drop.normals[v as usize]);
        let smooth = ((1.0 - v - w) * n0 + v * n1 + w * n2).normalize_or(facet);
        // At the outline the smooth normal may turn away from the eye: it is bent back until it is seen edge on.
        let turned = smooth.dot(direction);
        let normal = if through_glass {
            facet
        } else if turned < -EDGE_ON {
            smooth
        } else {
            (smooth - (turned + EDGE_ON) * direction).normalize_or(facet)
        };
        Some(DropPoint { point: self.lens.eye() + distance * direction, normal, through_glass })
    }
}

/// Least cosine at which a drop's surface is seen.
const EDGE_ON: f32 = 0.02;

/// Where a line meets a triangle's plane: the distance, and the weights of its second and third corner.
fn meet([a, b, c]: [Vec3; 3], origin: Vec3, direction: Vec3) -> Option<(f32, [f32; 2])> {
    let (e1, e2, from) = (b - a, c - a, origin - a);
    let across = direction.cross(e2);
    let determinant = e1.dot(across);
    if determinant == 0.0 {
        return None;
    }
    let inverse = 1.0 / determinant;
    let along = from.cross(e1);
    let (v, w, distance) = (from.dot(across) * inverse, direction.dot(along) * inverse, e2.dot(along) * inverse);
    (v.is_finite() && w.is_finite() && distance.is_finite()).then_some((distance, [v, w]))
}
