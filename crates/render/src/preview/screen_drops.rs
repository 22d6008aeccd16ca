//! Drops in screen space: their visible triangles, the outline of their base, and an approximating
//! cap.

use glam::{Mat2, Vec2, Vec3};
use rayon::prelude::*;
use sessile_appearance::{Lens, orthonormal_basis};
use sessile_frames::Surface;
use sessile_frames::drop_surface::{DropIndex, DropSurface};

use crate::illumination_texture::{Footprint, IlluminationTexture};
use crate::rasterizer::{Rect, on_screen};
use crate::render_scene::RenderScene;

/// Near plane for drops, relative to the drop's size.
const NEAR_PLANE: f32 = 1e-3;

/// A drop in screen space.
#[derive(Clone, Debug)]
pub(super) struct ScreenDrop {
    /// Vertices in the scene's coordinates.
    pub positions: Vec<Vec3>,
    /// Vertex normals of the free surface.
    pub normals: Vec<Vec3>,
    /// Vertices in pixels, and reciprocal depth.
    pub screen: Vec<Vec3>,
    /// Triangles that face the camera: those of the free surface, then those on glass that are seen
    /// through it.
    pub triangles: Vec<[u32; 3]>,
    pub num_free: usize,
    /// Pixels that it covers.
    pub rect: Rect,
    /// Pixels of the surface whose light it changes, and those that it covers.
    pub influence: Rect,
    pub cap: Cap,
    pub base: Option<Base>,
}

/// The ellipsoidal cap that approximates a drop where rays leave it: a unit sphere about zero in
/// scaled axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cap {
    center: Vec3,
    /// Unit axes, and the half-lengths along them.
    axes: [Vec3; 3],
    lengths: Vec3,
    /// Radius of a sphere of the drop's size, in m.
    pub size: f32,
}

/// The base of a drop on a solid.
#[derive(Clone, Debug)]
pub(super) struct Base {
    pub solid: u32,
    /// Whether the solid is glass.
    pub clear: bool,
    /// The point under the apex.
    pub foot: Vec3,
    pub normal: Vec3,
    pub axes: [Vec3; 2],
    pub footprint: Footprint,
    /// Mean radius and height, in m.
    pub radius: f32,
    pub height: f32,
    /// Distance from the foot up to which the drop changes the surface's light, in m.
    pub influence_radius: f32,
}

impl Base {
    /// Offset of a point from the foot, relative to the distance to the outline.
    pub fn offset(&self, point: Vec3) -> Vec2 {
        self.footprint.offset(self.local(point))
    }

    fn local(&self, point: Vec3) -> Vec2 {
        let from = point - self.foot;
        Vec2::new(from.dot(self.axes[0]), from.dot(self.axes[1]))
    }

    /// Aspect ratio: 0 for flat, 1 for a hemisphere and higher.
    pub fn aspect(&self) -> f32 {
        (self.height / self.radius).clamp(0.0, 1.0)
    }
}

impl ScreenDrop {
    /// Distance at which a ray from outside enters the drop's cap, and the normal there.
    pub fn entry(&self, from: Vec3, direction: Vec3) -> Option<(f32, Vec3)> {
        let (distance, normal) = self.cap.crossing(from, direction, -1.0)?;
        // Below its base the cap is not part of the drop.
        let above = |base: &Base| (from + distance * direction - base.foot).dot(base.normal) > 0.0;
        self.base.as_ref().is_none_or(above).then_some((distance, normal))
    }
}

impl Cap {
    /// Corners of the box around the whole ellipsoid.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let [x, y, z] = self.axes;
        let squared = |k: usize| (Vec3::new(x[k], y[k], z[k]) * self.lengths).length();
        let half = Vec3::new(squared(0), squared(1), squared(2));
        (self.center - half, self.center + half)
    }

    /// Distance at which a ray from inside leaves the cap, and the normal there; `None` for a ray
    /// that misses it.
    pub fn exit(&self, from: Vec3, direction: Vec3) -> Option<(f32, Vec3)> {
        self.crossing(from, direction, 1.0)
    }

    /// The crossing of a ray with the ellipsoid where it leaves (`side` 1) or enters (−1) it.
    fn crossing(&self, from: Vec3, direction: Vec3, side: f32) -> Option<(f32, Vec3)> {
        let scaled = |v: Vec3| Vec3::from_array(self.axes.map(|axis| v.dot(axis))) / self.lengths;
        let (p, d) = (scaled(from - self.center), scaled(direction));
        let (a, b, c) = (d.length_squared(), p.dot(d), p.length_squared() - 1.0);
        let squared = b * b - a * c;
        let distance = (squared >= 0.0).then(|| (side * squared.sqrt() - b) / a).filter(|&distance| distance > 0.0)?;
        let gradient = (p + distance * d) / self.lengths;
        let normal = gradient.x * self.axes[0] + gradient.y * self.axes[1] + gradient.z * self.axes[2];
        Some((distance, normal.normalize_or(self.axes[2])))
    }

    fn sphere(center: Vec3, size: f32) -> Self {
        Self { center, axes: [Vec3::X, Vec3::Y, Vec3::Z], lengths: Vec3::splat(size), size }
    }
}

/// All drops of a frame that are on the screen, by ascending id; none if the surface is
/// inconsistent.
pub(super) fn project_drops(surface: &Surface, scene: &RenderScene, lens: &Lens, size: [usize; 2]) -> Vec<ScreenDrop> {
    let count = surface.positions.len();
    if surface.drops.len() != count || surface.solids.len() != surface.triangles.len() {
        return Vec::new();
    }
    let mut ids: Vec<u32> = Vec::new();
    for triangle in &surface.triangles {
        if triangle.iter().any(|&v| v as usize >= count) {
            return Vec::new();
        }
        let id = surface.drops[triangle[0] as usize];
        if ids.last() != Some(&id) {
            ids.push(id);
        }
    }
    ids.sort_unstable();
    ids.dedup();
    let Ok(index) = DropIndex::new(surface, &ids) else { return Vec::new() };
    let make = |k: usize| project_drop(&index.drop_surface(k), scene, lens, size);
    (0..ids.len()).into_par_iter().filter_map(make).collect()
}

fn project_drop(drop: &DropSurface, scene: &RenderScene, lens: &Lens, size: [usize; 2]) -> Option<ScreenDrop> {
    let origin = scene.origin();
    let positions: Vec<Vec3> = drop.positions.iter().map(|p| (*p - origin).as_vec3()).collect();
    if !positions.iter().all(|p| p.is_finite()) {
        return None;
    }
    let (low, high) = positions.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(l, h), &p| (l.min(p), h.max(p)));
    let (middle, extent) = (0.5 * (low + high), 0.5 * (high - low).length());
    let pixels = Vec2::new(size[0] as f32, size[1] as f32);
    let homogeneous: Vec<Vec3> = positions.iter().map(|&p| lens.homogeneous(p)).collect();
    // Drops beside, behind or around the camera are left out.
    if homogeneous.iter().any(|p| p.z < NEAR_PLANE * extent.max(1e-9)) {
        return None;
    }
    let screen: Vec<Vec3> = homogeneous.iter().map(|&p| on_screen(p, pixels)).collect();
    let (least, most) = screen.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(l, h), &p| (l.min(p), h.max(p)));
    let rect = Rect::around(least.truncate(), most.truncate(), size);
    let base = base_of(drop, &positions, scene);
    let influence = match &base {
        Some(base) if !base.clear => influence_bounds(base, lens, pixels)
            .and_then(|[low, high]| Rect::around(low.min(least.truncate()), high.max(most.truncate()), size)),
        _ => rect,
    }?;
    let rect = rect.unwrap_or(Rect { low: influence.low, high: influence.low });

    let mut normals = vec![Vec3::ZERO; positions.len()];
    let mut triangles = Vec::with_capacity(drop.triangles.len() / 2);
    let mut on_glass = Vec::new();
    for (&triangle, &solid) in drop.triangles.iter().zip(&drop.solids) {
        let [a, b, c] = triangle.map(|v| positions[v as usize]);
        let normal = (b - a).cross(c - a);
        if solid < 0 {
            triangle.into_iter().for_each(|v| normals[v as usize] += normal);
        }
        let clear = || scene.solids.get(solid as usize).is_some() && scene.is_clear(solid as u32);
        if normal.dot(a - lens.eye()) < 0.0 {
            if solid < 0 {
                triangles.push(triangle);
            } else if clear() {
                on_glass.push(triangle);
            }
        }
    }
    normals.iter_mut().for_each(|n| *n = n.normalize_or_zero());
    let num_free = triangles.len();
    triangles.extend(on_glass);
    let cap = base.as_ref().map_or_else(|| Cap::sphere(middle, 0.5 * mean_diameter(low, high)), cap_over);
    Some(ScreenDrop { positions, normals, screen, triangles, num_free, rect, influence, cap, base })
}

/// Diameter of the sphere with a box's mean side.
fn mean_diameter(low: Vec3, high: Vec3) -> f32 {
    (high - low).element_sum() / 3.0
}

/// Bounding box in screen space of the surface whose light a drop changes.
fn influence_bounds(base: &Base, lens: &Lens, pixels: Vec2) -> Option<[Vec2; 2]> {
    let influence_radius = base.influence_radius;
    let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
        .map(|(x, y)| lens.homogeneous(base.foot + influence_radius * (x * base.axes[0] + y * base.axes[1])));
    if corners.iter().any(|p| p.z <= 1e-3 * influence_radius) {
        return None;
    }
    let places = corners.map(|p| on_screen(p, pixels).truncate());
    Some(places.into_iter().fold([Vec2::INFINITY, Vec2::NEG_INFINITY], |[low, high], p| [low.min(p), high.max(p)]))
}

fn base_of(drop: &DropSurface, positions: &[Vec3], scene: &RenderScene) -> Option<Base> {
    // The first solid that the drop touches, and the mean normal of the contact area.
    let mut area = Vec3::ZERO;
    let mut moment = Vec3::ZERO;
    let mut total = 0.0;
    let solid = drop.solids.iter().copied().find(|&solid| solid >= 0)? as u32;
    let wetted = || drop.triangles.iter().zip(&drop.solids).filter(|(_, s)| **s == solid as i32).map(|(t, _)| t);
    for triangle in wetted() {
        let [a, b, c] = triangle.map(|v| positions[v as usize]);
        let doubled = (b - a).cross(c - a);
        area -= doubled;
        moment += doubled.length() * (a + b + c) / 3.0;
        total += doubled.length();
    }
    let normal = area.try_normalize()?;
    let middle = (total > 0.0).then(|| moment / total)?;
    let axes = orthonormal_basis(normal);
    let highest = positions.iter().copied().max_by(|a, b| a.dot(normal).total_cmp(&b.dot(normal)))?;
    let height = (highest - middle).dot(normal).max(0.0);
    let local = |p: Vec3| Vec2::new((p - middle).dot(axes[0]), (p - middle).dot(axes[1]));
    let edges = || {
        wetted().flat_map(|t| {
            let [a, b, c] = t.map(|v| local(positions[v as usize]));
            [(a, b), (b, c), (c, a)]
        })
    };
    let radius = (0.5 * total / std::f32::consts::PI).sqrt();
    // Where the apex is not above the base, use the base's center.
    let footprint = Footprint::from_edges(local(highest), edges())
        .or_else(|| Footprint::from_edges(Vec2::ZERO, edges()))
        .unwrap_or_else(|| Footprint::disc(Vec2::ZERO, radius));
    let apex = footprint.apex();
    let foot = middle + apex.x * axes[0] + apex.y * axes[1];
    let footprint = footprint.about_apex();
    let known = scene.solids.get(solid as usize).is_some();
    let influence_radius = footprint.radii().iter().copied().fold(0.0, f32::max) * IlluminationTexture::REACH;
    known.then(|| Base {
        solid,
        clear: scene.is_clear(solid),
        foot,
        normal,
        axes,
        footprint,
        radius,
        height,
        influence_radius,
    })
}

/// The cap over a base: its outline is the ellipse with the base's second moments, its height the
/// drop's.
fn cap_over(base: &Base) -> Cap {
    let radii = base.footprint.radii();
    let step = std::f32::consts::TAU / radii.len() as f32;
    let (mut area, mut second) = (0.0, Mat2::ZERO);
    for (i, &r) in radii.iter().enumerate() {
        let towards = Vec2::from_angle(step * i as f32);
        area += 0.5 * r * r;
        second += Mat2::from_cols(towards.x * towards, towards.y * towards) * (0.25 * r.powi(4));
    }
    // An ellipse with semi-axis a has the second moment a²/4 along it.
    let m = second * (4.0 / area.max(1e-30));
    let (mean, difference) = (0.5 * (m.x_axis.x + m.y_axis.y), 0.5 * (m.x_axis.x - m.y_axis.y));
    let spread = difference.hypot(m.x_axis.y);
    let long = (mean + spread).max(1e-20).sqrt();
    let short = (mean - spread).max(0.01 * mean).max(1e-20).sqrt();
    let turn = Vec2::from_angle(0.5 * m.x_axis.y.atan2(difference));
    let e1 = turn.x * base.axes[0] + turn.y * base.axes[1];
    let e2 = base.normal.cross(e1);
    let unit = (long * short).sqrt();
    let rise = (base.height / unit).max(0.02);
    // In units of the outline: a sphere through the outline and the apex.
    let sphere = (1.0 + rise * rise) / (2.0 * rise);
    Cap {
        center: base.foot + (rise - sphere) * unit * base.normal,
        axes: [e1, e2, base.normal],
        lengths: sphere * Vec3::new(long, short, unit),
        size: unit,
    }
}

/// A drop in free flight.
#[cfg(test)]
pub(super) fn sphere_at(center: Vec3, radius: f32) -> ScreenDrop {
    let rect = Rect { low: [0, 0], high: [0, 0] };
    ScreenDrop {
        positions: Vec::new(),
        normals: Vec::new(),
        screen: Vec::new(),
        triangles: Vec::new(),
        num_free: 0,
        rect,
        influence: rect,
        cap: Cap::sphere(center, radius),
        base: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cap_over_an_ellipse_passes_through_its_outline_and_apex() {
        let radii: Vec<Vec2> = (0..200)
            .map(|i| {
                let (s, c) = (std::f32::consts::TAU * i as f32 / 200.0).sin_cos();
                Vec2::new(2.0 * c, s)
            })
            .collect();
        let edges = radii.iter().copied().zip(radii.iter().copied().cycle().skip(1));
        let footprint = Footprint::from_edges(Vec2::ZERO, edges).unwrap();
        let base = Base {
            solid: 0,
            clear: false,
            foot: Vec3::ZERO,
            normal: Vec3::Y,
            axes: [Vec3::X, Vec3::NEG_Z],
            footprint,
            radius: 1.4,
            height: 0.7,
            influence_radius: 5.0,
        };
        let cap = cap_over(&base);
        for (direction, expected) in [(Vec3::Y, 0.7), (Vec3::X, 2.0), (Vec3::Z, 1.0), (Vec3::NEG_X, 2.0)] {
            let (distance, normal) = cap.exit(Vec3::ZERO, direction).unwrap();
            assert!((distance / expected - 1.0).abs() < 0.03, "{direction}: {distance} of {expected}");
            assert!(normal.dot(direction) > 0.5);
        }
        assert!(cap.exit(Vec3::Y * 5.0, Vec3::X).is_none());
        let (low, high) = cap.bounds();
        assert!(high.x >= 2.0 && low.z <= -1.0 && (high.y - 0.7).abs() < 0.01, "{low} to {high}");
    }
}
