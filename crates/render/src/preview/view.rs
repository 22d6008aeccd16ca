//! Renders the tiles of a preview: visibility, then shading of each pixel.

use glam::{Vec2, Vec3};
use sessile_appearance::{Lens, TriangleHit};

use super::drop_shading::DropPoint;
use super::screen_drops::ScreenDrop;
use super::shading::Shader;
use super::{Bins, ScreenTriangle};
use crate::backdrop_view::CameraRay;
use crate::fresnel::refract;
use crate::rasterizer::{OFFSETS, Rect, SAMPLES, TILE, VisibilityBuffer, Visible};
use crate::refracted_ray::pinhole_ray;
use crate::render_scene::{Body, SurfaceInteraction};

/// Samples whose normals have a larger cosine than this (25°) are shaded together.
const SIMILAR_COSINE: f32 = 0.9;

/// Glass is in front of an object if it is nearer by more than this fraction of the depth; a drop
/// lies on its sheet.
const GLASS_OFFSET: f32 = 1e-5;

/// Minimum cosine between a drop's normal and the view direction.
const MIN_VIEW_COSINE: f32 = 0.02;

/// The screen-space geometry of an image and its shader.
pub(super) struct View<'a> {
    pub shader: Shader<'a>,
    pub lens: Lens,
    /// Image size, in pixels.
    pub size: Vec2,
    pub drops: &'a [ScreenDrop],
    pub solids: Vec<ScreenTriangle>,
    /// Whether drops are shown alone, with their color times coverage.
    pub only_drops: bool,
}

/// A pixel of a preview.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ShadedPixel {
    pub color: Vec3,
    /// Fraction of its samples that show a drop.
    pub coverage: f32,
    /// Whether it shows nothing but the backdrop.
    pub is_backdrop: bool,
    /// Radius of its blur disc, in pixels: the mean of its drops where drops are shown alone.
    pub blur_radius: f32,
    /// Inverse depth of the nearest of its samples, in 1/m; 0 for the environment.
    pub near: f32,
}

impl View<'_> {
    /// Renders the pixels of a tile.
    pub fn render_tile(&self, tile: usize, bins: &Bins, [width, height]: [usize; 2]) -> (Rect, Vec<ShadedPixel>) {
        let low = [TILE * (tile % bins.columns), TILE * (tile / bins.columns)];
        let rect = Rect { low, high: [(low[0] + TILE).min(width), (low[1] + TILE).min(height)] };
        let scene = self.shader.scene;
        let mut seen = VisibilityBuffer::new(rect);
        let has_glass = bins.solids[tile].iter().any(|&i| scene.is_clear(self.solids[i as usize].owner));
        let mut glass = has_glass.then(|| VisibilityBuffer::new(rect));
        for &i in &bins.solids[tile] {
            let ScreenTriangle { corners, owner, triangle, .. } = self.solids[i as usize];
            match &mut glass {
                Some(glass) if scene.is_clear(owner) => glass.rasterize(corners, Visible::Solid(owner), triangle),
                _ => seen.rasterize(corners, Visible::Solid(owner), triangle),
            }
        }
        for &i in &bins.drops[tile] {
            let drop = &self.drops[i as usize];
            if drop.rect.intersection(&rect).is_none() {
                continue;
            }
            for (t, triangle) in drop.triangles.iter().enumerate() {
                seen.rasterize(triangle.map(|v| drop.screen[v as usize]), Visible::Drop(i), t as u32);
            }
        }
        let light = if self.only_drops { Vec::new() } else { self.irradiance_factors(&seen, &bins.drops[tile]) };
        let place = |at: usize| [low[0] + at % (rect.high[0] - low[0]), low[1] + at / (rect.high[0] - low[0])];
        let pixel = |at: usize| {
            if self.only_drops {
                return self.shade_drops(place(at), at, &seen);
            }
            let drops = seen.owner[at].iter().filter(|owner| matches!(owner, Visible::Drop(_))).count();
            let near = self.nearest(at, &seen, glass.as_ref());
            let blur_radius = self.lens.blur_radius(1.0 / near) / self.lens.pixel_height(self.size.y);
            ShadedPixel {
                near,
                blur_radius,
                color: self.shade_pixel(place(at), at, &seen, glass.as_ref(), light[at]),
                coverage: drops as f32 / SAMPLES as f32,
                is_backdrop: self.is_backdrop(place(at), at, &seen, glass.as_ref()),
            }
        };
        (rect, (0..seen.near.len()).map(pixel).collect())
    }

    /// Inverse depth of what a pixel shows: the nearest of its samples, bodies of glass included.
    /// What lies behind a pane is not in its plane.
    fn nearest(&self, at: usize, seen: &VisibilityBuffer, glass: Option<&VisibilityBuffer>) -> f32 {
        let opaque = seen.near[at].max_element();
        let bodies = glass.map_or(0.0, |glass| {
            let is_body = |sample: &usize| match glass.owner[at][*sample] {
                Visible::Solid(solid) => self.shader.scene.is_glass_body(solid),
                _ => false,
            };
            (0..SAMPLES).filter(is_body).map(|sample| glass.near[at][sample]).fold(0.0, f32::max)
        });
        opaque.max(bodies)
    }

    /// The drops of a pixel alone.
    fn shade_drops(&self, place: [usize; 2], at: usize, seen: &VisibilityBuffer) -> ShadedPixel {
        let mut pixel = ShadedPixel::default();
        for sample in 0..SAMPLES {
            let Visible::Drop(_) = seen.owner[at][sample] else { continue };
            pixel.color +=
                self.shade_sample(place, sample, seen.owner[at][sample], seen.triangle[at][sample], Vec3::ONE);
            pixel.coverage += 1.0;
            pixel.blur_radius += self.lens.blur_radius(1.0 / seen.near[at][sample]);
        }
        pixel.blur_radius /= pixel.coverage.max(1.0) * self.lens.pixel_height(self.size.y);
        pixel.color /= SAMPLES as f32;
        pixel.coverage /= SAMPLES as f32;
        pixel
    }

    /// Whether a pixel shows nothing but the backdrop, through clean glass at most.
    fn is_backdrop(
        &self,
        [x, y]: [usize; 2],
        at: usize,
        seen: &VisibilityBuffer,
        glass: Option<&VisibilityBuffer>,
    ) -> bool {
        if self.shader.backdrop.is_none() || seen.owner[at] != [Visible::Nothing; SAMPLES] {
            return false;
        }
        let is_pane = |solid: u32| matches!(self.shader.scene.solids[solid as usize].body, Body::Sheet { .. });
        let through_bodies = glass.is_some_and(|glass| {
            glass.owner[at].iter().any(|owner| matches!(owner, Visible::Solid(solid) if !is_pane(*solid)))
        });
        let direction = self.ray_direction([x, y], 0);
        let is_lit = self.shader.area_light_radiance(self.lens.eye(), direction, f32::INFINITY).is_some();
        !is_lit && (!through_bodies || self.is_undeviated(direction))
    }

    /// Whether a camera ray reaches the backdrop undeviated.
    fn is_undeviated(&self, direction: Vec3) -> bool {
        CameraRay::trace(self.shader.scene, pinhole_ray(self.lens.eye(), direction), None).undeviated
    }

    /// Unit direction of the ray through a sample of a pixel.
    fn ray_direction(&self, [x, y]: [usize; 2], sample: usize) -> Vec3 {
        self.lens.pinhole_direction((Vec2::new(x as f32, y as f32) + OFFSETS[sample]) / self.size)
    }

    /// The same direction, scaled to a depth of 1.
    fn unnormalized_direction(&self, [x, y]: [usize; 2], sample: usize) -> Vec3 {
        self.lens.unnormalized_direction((Vec2::new(x as f32, y as f32) + OFFSETS[sample]) / self.size)
    }

    /// Factor of the drops on the irradiance of the surface around them, per pixel.
    fn irradiance_factors(&self, seen: &VisibilityBuffer, drops: &[u32]) -> Vec<Vec3> {
        let mut factors = vec![Vec3::ONE; seen.near.len()];
        for &i in drops {
            let drop = &self.drops[i as usize];
            let Some(base) = drop.base.as_ref().filter(|base| !base.clear) else { continue };
            let (Some(light), Some(rect)) = (self.shader.bases.of(base), drop.influence.intersection(&seen.rect))
            else {
                continue;
            };
            let area_lights = self.shader.area_light_irradiances(base.foot);
            for y in rect.low[1]..rect.high[1] {
                for x in rect.low[0]..rect.high[0] {
                    let at = seen.index(x, y);
                    let Some(sample) = seen.owner[at].iter().position(|&owner| owner == Visible::Solid(base.solid))
                    else {
                        continue;
                    };
                    let point = self.lens.eye() + self.unnormalized_direction([x, y], sample) / seen.near[at][sample];
                    // Other parts of a curved or folded solid may lie under the same pixels.
                    let above = (point - base.foot).dot(base.normal).abs();
                    if above > 2.0 * base.radius
                        || (point - base.foot).length_squared() > base.influence_radius * base.influence_radius
                    {
                        continue;
                    }
                    let offset = base.offset(point);
                    factors[at] *= self.shader.bases.around(light, base, offset, &area_lights);
                }
            }
        }
        factors
    }

    /// Color of a pixel.
    fn shade_pixel(
        &self,
        place: [usize; 2],
        at: usize,
        seen: &VisibilityBuffer,
        glass: Option<&VisibilityBuffer>,
        factor: Vec3,
    ) -> Vec3 {
        let (owners, triangles) = (seen.owner[at], seen.triangle[at]);
        let before: [Option<(u32, u32)>; SAMPLES] =
            std::array::from_fn(|sample| glass.and_then(|glass| self.glass_in_front(glass, seen, at, sample)));
        if before.iter().all(Option::is_none) {
            return self.shade_pixel_without_glass(place, owners, triangles, factor);
        }
        let pane = before[0].filter(|&(solid, _)| {
            let same = before.iter().all(|other| other.is_some_and(|(other, _)| other == solid));
            same && matches!(self.shader.scene.solids[solid as usize].body, Body::Sheet { .. })
        });
        if let Some((solid, triangle)) = pane {
            let direction = self.ray_direction(place, 0);
            let Some(surface) = self.surface_interaction(triangle, direction) else { return Vec3::ZERO };
            let behind = || self.shade_pixel_without_glass(place, owners, triangles, factor);
            return self.shader.glass(&surface, solid, direction, behind);
        }
        let each = before.into_iter().enumerate().map(|(sample, before)| {
            let behind = || self.shade_sample(place, sample, owners[sample], triangles[sample], factor);
            let direction = self.ray_direction(place, sample);
            let Some((solid, triangle)) = before else { return behind() };
            let Some(surface) = self.surface_interaction(triangle, direction) else { return Vec3::ZERO };
            self.shader.glass(&surface, solid, direction, || match self.shader.scene.solids[solid as usize].body {
                // Drops on the far side of a glass body are shown without its refraction.
                Body::Glass { .. } if self.shader.backdrop.is_some() && self.is_undeviated(direction) => behind(),
                Body::Glass { index, .. } if !matches!(owners[sample], Visible::Drop(_)) => {
                    let smooth = if direction.dot(surface.shading_normal) < 0.0 {
                        surface.shading_normal
                    } else {
                        surface.normal
                    };
                    let refracted = refract(direction, smooth, 1.0 / index).unwrap_or(direction);
                    self.shader.background(surface.point, refracted, Some(surface.triangle), index, 0.0)
                }
                _ => behind(),
            })
        });
        each.sum::<Vec3>() / SAMPLES as f32
    }

    /// Mean color of a pixel's samples; similar samples of one object are shaded together.
    fn shade_pixel_without_glass(
        &self,
        place: [usize; 2],
        owners: [Visible; SAMPLES],
        triangles: [u32; SAMPLES],
        factor: Vec3,
    ) -> Vec3 {
        if matches!(owners[0], Visible::Drop(_)) && owners.iter().all(|&owner| owner == owners[0]) {
            // Two samples suffice inside a drop because it has no edges.
            let pair =
                [0, SAMPLES - 1].map(|sample| self.shade_sample(place, sample, owners[0], triangles[sample], factor));
            return 0.5 * (pair[0] + pair[1]);
        }
        let mut color = Vec3::ZERO;
        let mut done = [false; SAMPLES];
        for sample in 0..SAMPLES {
            if done[sample] {
                continue;
            }
            let owner = owners[sample];
            let (shade, count) = if let Visible::Solid(solid) = owner {
                self.shade_solid_samples(place, (sample, solid), owners, triangles, &mut done, factor)
            } else {
                let mut count = 1;
                if owner == Visible::Nothing {
                    for other in (sample + 1..SAMPLES).filter(|&other| owners[other] == Visible::Nothing) {
                        done[other] = true;
                        count += 1;
                    }
                }
                (self.shade_sample(place, sample, owner, triangles[sample], factor), count)
            };
            color += shade * (count as f32 / SAMPLES as f32);
        }
        color
    }

    /// The glass in front of a sample: its solid and triangle.
    fn glass_in_front(
        &self,
        glass: &VisibilityBuffer,
        seen: &VisibilityBuffer,
        at: usize,
        sample: usize,
    ) -> Option<(u32, u32)> {
        let Visible::Solid(solid) = glass.owner[at][sample] else { return None };
        let nearer = glass.near[at][sample] > seen.near[at][sample] * (1.0 + GLASS_OFFSET);
        // A drop's base on the glass, seen through it, lies in the same plane.
        let through = self.drop_of(seen.owner[at][sample]).is_some_and(|drop| {
            seen.triangle[at][sample] as usize >= drop.num_free && drop.base.as_ref().is_some_and(|b| b.solid == solid)
        });
        (nearer || through).then_some((solid, glass.triangle[at][sample]))
    }

    /// The drop that a sample shows.
    fn drop_of(&self, owner: Visible) -> Option<&ScreenDrop> {
        match owner {
            Visible::Drop(i) => Some(&self.drops[i as usize]),
            _ => None,
        }
    }

    /// Shades samples of one solid with similar normals once, with their mean color; returns their
    /// number.
    fn shade_solid_samples(
        &self,
        place: [usize; 2],
        (first, solid): (usize, u32),
        owners: [Visible; SAMPLES],
        triangles: [u32; SAMPLES],
        done: &mut [bool; SAMPLES],
        factor: Vec3,
    ) -> (Vec3, usize) {
        let scene = self.shader.scene;
        let Body::Opaque(parameters) = &scene.solids[solid as usize].body else { return (Vec3::ZERO, 1) };
        let direction = self.ray_direction(place, first);
        let Some(main) = self.surface_interaction(triangles[first], direction) else { return (Vec3::ZERO, 1) };
        let wetness = scene.solids[solid as usize].wetness(main.uv);
        let mut color = parameters.color.at(main.uv);
        done[first] = true;
        let mut count = 1;
        for other in first + 1..SAMPLES {
            if done[other] || owners[other] != owners[first] {
                continue;
            }
            let uv = if triangles[other] == triangles[first] {
                if parameters.color.is_constant() {
                    Some(main.uv)
                } else {
                    let hit = intersect_plane(
                        scene.corners(triangles[other]),
                        self.lens.eye(),
                        self.unnormalized_direction(place, other),
                    );
                    hit.map(|(_, weights)| scene.uv_at(triangles[other], weights))
                }
            } else {
                let point = self.surface_interaction(triangles[other], self.ray_direction(place, other));
                point.filter(|point| point.normal.dot(main.normal) > SIMILAR_COSINE).map(|point| point.uv)
            };
            let Some(uv) = uv else { continue };
            color += parameters.color.at(uv);
            done[other] = true;
            count += 1;
        }
        let mean = parameters.bsdf_with_color(color / count as f32, 1.0, wetness.wet);
        let refracted = wetness.slope != Vec2::ZERO;
        let normal = if refracted { scene.film_normal(&main, wetness.slope, 0.5) } else { main.shading_normal };
        (self.shader.surface(main.point, Some(main.triangle), normal, -direction, &mean, factor), count)
    }

    /// Color of a drop at a sample.
    fn shade_drop_sample(&self, drop: &ScreenDrop, triangle: u32, direction: Vec3) -> Vec3 {
        let Some(point) = self.drop_point(drop, triangle, direction) else { return Vec3::ZERO };
        // Over a pixel, the normal of a sphere of this size turns by the pixel's width over its
        // radius.
        let depth = (point.point - self.lens.eye()).dot(self.lens.forward());
        let radius = drop.cap.size / (depth * self.lens.pixel_height(self.size.y));
        let blur = (0.35 / radius.max(0.5)).min(0.4);
        self.shader.shade_drop(drop, &point, direction, blur)
    }

    /// Color of one sample.
    fn shade_sample(&self, place: [usize; 2], sample: usize, owner: Visible, triangle: u32, factor: Vec3) -> Vec3 {
        let direction = self.ray_direction(place, sample);
        let solid = match owner {
            Visible::Nothing => return self.shader.behind_everything(place, self.lens.eye(), direction),
            Visible::Drop(i) => return self.shade_drop_sample(&self.drops[i as usize], triangle, direction),
            Visible::Solid(solid) => solid,
        };
        let (Some(at), Body::Opaque(parameters)) =
            (self.surface_interaction(triangle, direction), &self.shader.scene.solids[solid as usize].body)
        else {
            return Vec3::ZERO;
        };
        let wetness = self.shader.scene.solids[solid as usize].wetness(at.uv);
        let normal = self.shader.scene.film_normal(&at, wetness.slope, 0.5);
        let bsdf = parameters.bsdf(at.uv, 1.0, wetness.wet);
        self.shader.surface(at.point, Some(at.triangle), normal, -direction, &bsdf, factor)
    }

    /// The intersection of a ray through a pixel with a solid's triangle.
    fn surface_interaction(&self, triangle: u32, direction: Vec3) -> Option<SurfaceInteraction> {
        let (distance, weights) = intersect_plane(self.shader.scene.corners(triangle), self.lens.eye(), direction)?;
        Some(self.shader.scene.surface_interaction(&TriangleHit { distance, triangle, weights }, 0.5))
    }

    /// The intersection of a ray through a pixel with a drop's triangle.
    fn drop_point(&self, drop: &ScreenDrop, triangle: u32, direction: Vec3) -> Option<DropPoint> {
        let corners = drop.triangles[triangle as usize];
        let [a, b, c] = corners.map(|v| drop.positions[v as usize]);
        let (distance, [v, w]) = intersect_plane([a, b, c], self.lens.eye(), direction)?;
        let facet = (b - a).cross(c - a).normalize_or_zero();
        let behind_glass = triangle as usize >= drop.num_free;
        let [n0, n1, n2] = corners.map(|v| drop.normals[v as usize]);
        let smooth = ((1.0 - v - w) * n0 + v * n1 + w * n2).normalize_or(facet);
        // Near the silhouette the interpolated normal may face away from the camera: clamp it to
        // grazing incidence.
        let turned = smooth.dot(direction);
        let normal = if behind_glass {
            facet
        } else if turned < -MIN_VIEW_COSINE {
            smooth
        } else {
            (smooth - (turned + MIN_VIEW_COSINE) * direction).normalize_or(facet)
        };
        Some(DropPoint { point: self.lens.eye() + distance * direction, normal, behind_glass })
    }
}

/// Intersection of a line with a triangle's plane: distance and barycentric weights of the second
/// and third corner.
fn intersect_plane([a, b, c]: [Vec3; 3], origin: Vec3, direction: Vec3) -> Option<(f32, [f32; 2])> {
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
