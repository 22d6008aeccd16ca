//! Ground truth against geometry: refracted rays by Snell's law, the projected area of a sphere,
//! and the clean view warped by the flow.

use crate::common::{cap, liquid, mean, rectangle, render_square};
use glam::{DVec2, DVec3, Vec2, Vec3};
use sessile_appearance::{
    BsdfParameters, Camera, Environment, LiquidMaterial, Material, ScaledTexture, SpecularLobe, Texture,
};
use sessile_frames::Surface;
use sessile_render::Framebuffer;
use sessile_render::{FlowStatus, GroundTruth, ground_truth};
use sessile_render::{RenderScene, RenderSceneBuilder};

const WATER: f64 = 1.333;

/// Heights of the floor and the ceiling, in m.
const FLOOR: f64 = -20e-3;
const CEILING: f64 = 20e-3;

fn builder() -> RenderSceneBuilder {
    let water = LiquidMaterial::Clear { index: WATER as f32, absorption: Vec3::ZERO };
    RenderSceneBuilder::new(Environment::constant(Vec3::ONE), water, 0.0)
}

/// A diffuse checkerboard of 400 mm at a height, with squares of `square` m.
fn board(builder: &mut RenderSceneBuilder, height: f64, square: f64) {
    let board = rectangle(DVec3::Y * height, 0.4 * DVec3::X, -0.4 * DVec3::Z);
    let parameters = BsdfParameters {
        color: ScaledTexture::new(
            Texture::Checker(Vec3::splat(0.8), Vec3::splat(0.1)),
            Vec2::splat((0.4 / square) as f32),
        ),
        alpha: 1.0,
        specular: SpecularLobe::None,
        transmittance: Vec3::ZERO,
        porosity: 0.0,
    };
    builder.solid(&board, |_| DVec3::ZERO, &Material::Opaque(parameters), false, None);
}

/// A sheet of glass in the plane y = 0, as solid 0, and a board behind it.
fn sheet_and_board(height: f64, square: f64) -> RenderSceneBuilder {
    let mut builder = builder();
    let pane = rectangle(DVec3::ZERO, 0.4 * DVec3::X, -0.4 * DVec3::Z);
    builder.solid(&pane, |_| DVec3::ZERO, &Material::glass(1.5), false, None);
    board(&mut builder, height, square);
    builder
}

fn snell(incident: DVec3, normal: DVec3, eta: f64) -> DVec3 {
    let cosine = -incident.dot(normal);
    eta * incident + (eta * cosine - (1.0 - eta * eta * (1.0 - cosine * cosine)).sqrt()) * normal
}

/// A pinhole camera in double precision.
struct Pinhole {
    camera: Camera,
    size: [usize; 2],
}

impl Pinhole {
    fn axes(&self) -> [DVec3; 3] {
        let forward = (self.camera.look_at - self.camera.eye).normalize();
        let right = forward.cross(DVec3::Y).normalize();
        [right, right.cross(forward), forward]
    }

    fn scale(&self) -> f64 {
        0.5 * self.size[1] as f64 / (0.5 * self.camera.fov).tan()
    }

    fn towards(&self, x: usize, y: usize) -> DVec3 {
        let [right, up, forward] = self.axes();
        let across = x as f64 + 0.5 - 0.5 * self.size[0] as f64;
        let down = y as f64 + 0.5 - 0.5 * self.size[1] as f64;
        (across * right - down * up + self.scale() * forward).normalize()
    }

    fn place(&self, point: DVec3) -> DVec2 {
        let [right, up, forward] = self.axes();
        let to = point - self.camera.eye;
        let middle = 0.5 * DVec2::new(self.size[0] as f64, self.size[1] as f64);
        middle + self.scale() * DVec2::new(to.dot(right), -to.dot(up)) / to.dot(forward)
    }
}

/// The point at height `y` on a line.
fn down_to(y: f64, from: DVec3, direction: DVec3) -> DVec3 {
    from + direction * ((y - from.y) / direction.y)
}

/// The largest distance in pixels between flows and the analytic ones, and the number of compared
/// pixels.
fn largest_error(truth: &GroundTruth, pinhole: &Pinhole, landing: impl Fn(DVec3) -> Option<DVec3>) -> (f64, usize) {
    let (mut worst, mut count) = (0.0_f64, 0);
    for (i, (&flow, &status)) in truth.flow.iter().zip(&truth.status).enumerate() {
        let (x, y) = (i % truth.width, i / truth.width);
        let (FlowStatus::Valid, Some(point)) = (status, landing(pinhole.towards(x, y))) else { continue };
        let expected = pinhole.place(point) - DVec2::new(x as f64 + 0.5, y as f64 + 0.5);
        worst = worst.max((flow.as_dvec2() - expected).length());
        count += 1;
    }
    (worst, count)
}

/// Through a flat layer of water on a sheet, a ray keeps its direction and is shifted by h (tan θ −
/// tan θ').
#[test]
fn a_flat_layer_of_water_shifts_rays_by_snells_law() {
    let height = 5e-3;
    let mut surface = Surface::default();
    for (y, v, solid) in [(height, -1.0, -1), (0.0, 1.0, 0)] {
        let part = liquid(&rectangle(DVec3::Y * y, 0.3 * DVec3::X, v * 0.3 * DVec3::Z));
        let base = surface.positions.len() as u32;
        surface.positions.extend(part.positions);
        surface.velocities.extend(part.velocities);
        surface.drops.extend(part.drops);
        surface.triangles.extend(part.triangles.iter().map(|t| t.map(|v| v + base)));
        surface.solids.extend([solid; 2]);
    }
    let mut builder = sheet_and_board(FLOOR, 5e-3);
    let clean = builder.clone().build();
    builder.liquid(&surface);
    let camera = Camera::new(DVec3::new(0.0, 0.05, 0.06), DVec3::Y * FLOOR, 0.5);
    let pinhole = Pinhole { camera, size: [60, 40] };
    let truth = ground_truth(&builder.build(), &clean, &camera, pinhole.size);
    let landing = |direction: DVec3| {
        let top = down_to(height, camera.eye, direction);
        let base = down_to(0.0, top, snell(direction, DVec3::Y, 1.0 / WATER));
        Some(down_to(FLOOR, base, direction))
    };
    let (worst, count) = largest_error(&truth, &pinhole, landing);
    let longest = truth.flow.iter().map(|flow| flow.length()).fold(0.0, f32::max);
    assert!(count > 2300 && longest > 1.0, "{count} flows, the longest {longest} pixels");
    // The target in the clean view is found to a hundredth of a pixel.
    assert!(worst < 0.02, "a flow is off by {worst} pixels");
    let back: usize = truth.status.iter().filter(|&&s| s == FlowStatus::OutsideFrame).count();
    assert_eq!(count + back, 2400, "{:?}", truth.status);
}

/// Where a ray through a sphere of water about the origin reaches the floor.
fn through_sphere(radius: f64, eye: DVec3, direction: DVec3) -> Option<DVec3> {
    let along = -eye.dot(direction);
    let squared = radius * radius - (eye + along * direction).length_squared();
    let entry = (squared > 0.0).then(|| eye + (along - squared.sqrt()) * direction)?;
    let inside = snell(direction, entry / radius, 1.0 / WATER);
    let exit = entry - 2.0 * entry.dot(inside) * inside;
    let outside = snell(inside, -exit / radius, WATER);
    (outside.y < -0.1).then(|| down_to(FLOOR, exit, outside))
}

#[test]
fn a_sphere_of_water_inverts_the_view_by_snells_law() {
    let radius = 2e-3;
    let mut builder = builder();
    board(&mut builder, FLOOR, 5e-3);
    let clean = builder.clone().build();
    builder.liquid(&liquid(&cap(DVec3::ZERO, radius, std::f64::consts::PI, 96)));
    let camera = Camera::new(DVec3::new(0.0, 0.02, 0.012), DVec3::ZERO, 0.9);
    let pinhole = Pinhole { camera, size: [96, 96] };
    let truth = ground_truth(&builder.build(), &clean, &camera, pinhole.size);
    // Near the silhouette rays leave at steep angles, and interpolated normals are less accurate.
    let inner = |direction: DVec3| {
        let axis = -camera.eye.normalize();
        let offset = (camera.eye - camera.eye.dot(direction) * direction).length();
        (offset < 0.8 * radius && direction.dot(axis) > 0.0).then(|| through_sphere(radius, camera.eye, direction))?
    };
    let (worst, count) = largest_error(&truth, &pinhole, inner);
    assert!(count > 100, "{count} flows");
    assert!(worst < 0.3, "a flow is off by {worst} pixels");
    let upside_down = truth.flow[(48 - 4) * 96 + 48].y;
    assert!(upside_down > 8.0, "what is seen above the middle lies below it: {upside_down}");
}

/// The silhouette of a sphere is a circle of radius r f/√(d² − r²); the mask has its area.
#[test]
fn the_mask_of_a_sphere_has_its_area() {
    let (radius, distance) = (1e-3, 30e-3);
    for (fov, size) in [(0.1, 160), (0.5, 64), (1.2, 64)] {
        let mut builder = builder();
        board(&mut builder, FLOOR, 5e-3);
        let clean = builder.clone().build();
        builder.liquid(&liquid(&cap(DVec3::ZERO, radius, std::f64::consts::PI, 96)));
        let camera = Camera::new(DVec3::new(0.6, 0.0, 0.8) * distance, DVec3::ZERO, fov);
        let truth = ground_truth(&builder.build(), &clean, &camera, [size, size]);
        let scale = 0.5 * size as f64 / (0.5 * fov).tan();
        let outline = scale * radius / (distance * distance - radius * radius).sqrt();
        let expected = std::f64::consts::PI * outline * outline;
        let found: f64 = truth.coverage.iter().map(|&share| f64::from(share)).sum();
        // Tiny drops are sampled on a grid of 16² per pixel: 7 pixels are accurate to one percent.
        assert!((found / expected - 1.0).abs() < 0.01, "{found} pixels of {expected} at {outline} pixels' radius");
        let middle = size / 2 * size + size / 2;
        assert_eq!((truth.drop[middle], truth.drop[0]), (1, 0));
        // The pixel's center is half a pixel off the axis in both directions.
        let nearest = distance - radius * (1.0 - 0.5 / (outline * outline)).sqrt();
        assert!((f64::from(truth.distance[middle]) / nearest - 1.0).abs() < 1e-3, "{}", truth.distance[middle]);
        assert!(truth.z[middle] <= truth.distance[middle]);
    }
}

const SIZE: usize = 112;

fn cap_on_sheet(at: DVec3, radius: f64, angle: f64, drop: u32) -> Surface {
    let center = at - DVec3::Y * radius * angle.cos();
    let dome = cap(center, radius, angle, 48);
    let rim: Vec<u32> = (dome.positions.len() as u32 - 96..dome.positions.len() as u32).collect();
    let mut surface = liquid(&dome);
    let middle = surface.positions.len() as u32;
    surface.positions.push(at);
    surface.velocities.push(DVec3::ZERO);
    for j in 0..96 {
        surface.triangles.push([rim[(j + 1) % 96], rim[j], middle]);
        surface.solids.push(0);
    }
    surface.drops = vec![drop; surface.positions.len()];
    surface
}

fn scenes_with_drops(height: f64) -> (RenderScene, RenderScene) {
    let mut builder = sheet_and_board(height, 4e-3);
    let clean = builder.clone().build();
    for (at, radius, angle, drop) in
        [((-3e-3, 0.0), 2e-3, 1.2, 7), ((2.5e-3, 1e-3), 2.5e-3, 0.9, 12), ((0.5e-3, -4e-3), 1.5e-3, 1.4, 70_001)]
    {
        builder.liquid(&cap_on_sheet(DVec3::new(at.0, 0.0, at.1), radius, angle, drop));
    }
    (builder.build(), clean)
}

/// The clean view at a position in pixels, interpolated between pixel centers.
fn at_place(image: &Framebuffer, place: Vec2) -> Vec3 {
    let limit = Vec2::new(image.width as f32 - 1.0, image.height as f32 - 1.0);
    let at = (place - 0.5).clamp(Vec2::ZERO, limit);
    let (x, y) = ((at.x as usize).min(image.width - 2), (at.y as usize).min(image.height - 2));
    let (fx, fy) = (at.x - x as f32, at.y - y as f32);
    let pixel = |x: usize, y: usize| image.color[y * image.width + x];
    pixel(x, y).lerp(pixel(x + 1, y), fx).lerp(pixel(x, y + 1).lerp(pixel(x + 1, y + 1), fx), fy)
}

/// Drops on a sheet in front of a checkerboard, from above and from below through the sheet.
#[test]
fn the_clean_view_warped_by_the_flow_matches_the_drops() {
    for (eye, height) in [(DVec3::new(1e-3, 30e-3, 8e-3), FLOOR), (DVec3::new(1e-3, -15e-3, 3e-3), CEILING)] {
        let (scene, clean_scene) = scenes_with_drops(height);
        let camera = Camera::new(eye, DVec3::ZERO, if eye.y > 0.0 { 0.5 } else { 0.8 });
        let image = render_square(&scene, &camera, SIZE, 32);
        let clean = render_square(&clean_scene, &camera, SIZE, 32);
        let truth = ground_truth(&scene, &clean_scene, &camera, [SIZE, SIZE]);
        let (mut warped, mut plain, mut count) = (0.0, 0.0, 0);
        for i in 0..SIZE * SIZE {
            if truth.status[i] != FlowStatus::Valid || truth.coverage[i] < 1.0 {
                continue;
            }
            let middle = Vec2::new((i % SIZE) as f32 + 0.5, (i / SIZE) as f32 + 0.5);
            warped += (at_place(&clean, middle + truth.flow[i]) - image.color[i]).length_squared();
            plain += (clean.color[i] - image.color[i]).length_squared();
            count += 1;
        }
        assert!(count > 500, "{count} pixels, mean color {}", mean(&image));
        assert!(warped < 0.15 * plain, "{eye}: warped {warped}, unwarped {plain}, over {count} pixels");
        let ids: std::collections::BTreeSet<u32> = truth.drop.iter().copied().collect();
        assert_eq!(ids.into_iter().collect::<Vec<_>>(), [0, 7, 12, 70_001]);
        for i in 0..SIZE * SIZE {
            assert_eq!(truth.drop[i] > 0, truth.status[i] != FlowStatus::NoDrop);
            assert_eq!(truth.drop[i], image.drop[i], "pixel {i}");
        }
    }
}

/// A camera in a drop: the drop covers the whole image.
#[test]
fn a_camera_in_a_drop_is_fully_covered() {
    let mut builder = builder();
    board(&mut builder, FLOOR, 5e-3);
    let clean = builder.clone().build();
    builder.liquid(&liquid(&cap(DVec3::ZERO, 2e-3, std::f64::consts::PI, 48)));
    let camera = Camera::new(DVec3::new(0.0, 0.5e-3, 0.1e-3), DVec3::Y * FLOOR, 0.5);
    let truth = ground_truth(&builder.build(), &clean, &camera, [16, 16]);
    assert!(truth.coverage.iter().all(|&share| share == 1.0) && truth.drop.iter().all(|&id| id == 1));
    assert!(truth.status.contains(&FlowStatus::Valid) && truth.flow.iter().all(|flow| flow.is_finite()));
}
