//! Liquid present at the start, as signed distances that models discretize.
//!
//! Every shape has exactly the scene's volume. In a planar run shapes lie in the x–y plane, amounts
//! are areas, and distances do not depend on z. Solids are not subtracted from a drop, except the
//! one that a cap sits on; a drop that starts inside a solid gives a notice. Where a box or a
//! ligament touches a side of the domain that is not open (wall, symmetry, periodic), it is
//! extended beyond it, so that distances refer to its free surface.

mod cap;
mod curve;
mod ligament;

use std::f64::consts::PI;
use std::sync::Arc;

use glam::{DVec2, DVec3};
use sessile_geometry::Distance;
use sessile_input::Reader;
use sessile_numerics::{circle_radius, math, sphere_radius};
use sessile_scene::types::{self as scene, Amount, Domain, DropShape, Scene, Side};

pub use self::cap::Cap;
use self::curve::{PerturbedSphere, Tabulated};
use self::ligament::Ligament;
use crate::error::WorldError;
use crate::mesh_files;
use crate::pose::{Pose, rotation_xyz};
use crate::solid::Solid;

/// An initial drop: its shape as a signed distance, its volume and its velocity.
#[derive(Clone, Debug)]
pub struct InitialDrop {
    index: usize,
    shape: DropShape,
    velocity: DVec3,
    amount: f64,
    centroid: DVec3,
    bounds: [DVec3; 2],
    body: Body,
}

#[derive(Clone)]
enum Body {
    Ball { center: DVec3, radius: f64, planar: bool },
    PerturbedSphere { center: DVec3, axis: DVec3, curve: Arc<Tabulated<PerturbedSphere>>, planar: bool },
    Cap(Arc<Cap>),
    Box { min: DVec3, max: DVec3, planar: bool },
    Ligament(Arc<Ligament>),
    Mesh { distance: Arc<dyn Distance>, world_from_file: Pose },
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Ball { .. } => "Ball",
            Self::PerturbedSphere { .. } => "PerturbedSphere",
            Self::Cap(_) => "Cap",
            Self::Box { .. } => "Box",
            Self::Ligament(_) => "Ligament",
            Self::Mesh { .. } => "Mesh",
        })
    }
}

impl InitialDrop {
    /// Index in the scene's `drops`.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Shape as the scene describes it.
    pub fn shape(&self) -> &DropShape {
        &self.shape
    }

    /// Initial velocity, in m/s.
    pub fn velocity(&self) -> DVec3 {
        self.velocity
    }

    /// Volume, in m³; in a planar run area, in m².
    pub fn volume(&self) -> f64 {
        self.amount
    }

    /// Centroid, in m.
    pub fn centroid(&self) -> DVec3 {
        self.centroid
    }

    /// Corners of an axis-aligned bounding box, in m; not always the smallest.
    pub fn bounds(&self) -> [DVec3; 2] {
        self.bounds
    }

    /// Signed distance to the drop's surface, in m; negative in the liquid.
    ///
    /// Exact, except near the contact line of a cap, where it is a lower bound of the right sign.
    pub fn signed_distance(&self, point: DVec3) -> f64 {
        match &self.body {
            Body::Cap(cap) => cap.ball_distance(point).max(-cap.solid.signed_distance(point)),
            _ => self.free_surface_distance(point),
        }
    }

    /// Signed distance to the liquid–air interface, in m; for a cap, to its sphere, extended into
    /// the solid.
    pub fn free_surface_distance(&self, point: DVec3) -> f64 {
        let flatten = |offset: DVec3, planar: bool| if planar { offset.with_z(0.0) } else { offset };
        match &self.body {
            Body::Ball { center, radius, planar } => flatten(point - *center, *planar).length() - radius,
            Body::PerturbedSphere { center, axis, curve, planar } => {
                let offset = flatten(point - *center, *planar);
                let along = offset.dot(*axis);
                let across = (offset - *axis * along).length();
                let distance = curve.distance(DVec2::new(across, along));
                let inside = offset.length() < curve.curve.radius(math::atan2(across, along));
                if inside { -distance } else { distance }
            }
            Body::Cap(cap) => cap.ball_distance(point),
            Body::Box { min, max, planar } => {
                let mut beyond = (*min - point).max(point - *max);
                if *planar {
                    beyond.z = f64::NEG_INFINITY;
                }
                beyond.max(DVec3::ZERO).length() + beyond.max_element().min(0.0)
            }
            Body::Ligament(ligament) => ligament.signed_distance(point),
            Body::Mesh { distance, world_from_file } => distance.signed_distance(world_from_file.apply_inverse(point)),
        }
    }

    /// The cap, if the drop is one.
    pub fn cap(&self) -> Option<&Cap> {
        match &self.body {
            Body::Cap(cap) => Some(cap),
            _ => None,
        }
    }

    /// Builds the scene's drops on its solids at time 0; those from index `scattered` on are left
    /// out where no cap fits.
    pub(crate) fn build_all(
        scene: &Scene,
        solids: &[Solid],
        scattered: usize,
        files: &dyn Reader,
        notices: &mut Vec<String>,
    ) -> Result<Vec<Self>, WorldError> {
        let mut built = Vec::new();
        for (index, drop) in scene.drops.iter().enumerate() {
            match (Builder { scene, solids, files, index }).build(drop, notices) {
                Err(WorldError::NoCap { .. }) if index >= scattered => {}
                drop => {
                    let drop = drop?;
                    drop.notice_overlap(solids, notices);
                    built.push(drop);
                }
            }
        }
        Ok(built)
    }

    /// Reports a drop that starts inside a solid that it does not sit on.
    fn notice_overlap(&self, solids: &[Solid], notices: &mut Vec<String>) {
        for solid in solids {
            let sits_on_it = self.cap().is_some_and(|cap| cap.on == solid.index());
            let buried = -solid.signed_distance(self.centroid);
            if buried > 0.0 && !sits_on_it {
                let (index, name, depth) = (self.index, solid.name(), buried * 1e3);
                notices.push(format!("drops.{index}: its centroid is {depth:.3} mm inside `{name}`; move it out"));
            }
        }
    }
}

/// Builds one drop.
struct Builder<'a> {
    scene: &'a Scene,
    solids: &'a [Solid],
    files: &'a dyn Reader,
    index: usize,
}

impl Builder<'_> {
    fn wrong(&self, reason: impl Into<String>) -> WorldError {
        WorldError::Drop { index: self.index, reason: reason.into() }
    }

    fn planar(&self) -> bool {
        self.scene.world.planar
    }

    /// The amount of liquid: a volume in m³, or in a planar run an area in m².
    fn amount(&self, amount: Amount) -> Result<f64, WorldError> {
        let value = match (amount, self.planar()) {
            (Amount::Volume(volume), false) => volume,
            (Amount::Area(area), true) => area,
            (Amount::Volume(_), true) => {
                return Err(self.wrong("a planar run needs `area` or `radius`, not `volume`"));
            }
            (Amount::Area(_), false) => {
                return Err(self.wrong("`area` is for planar runs only; give `volume` or `radius`"));
            }
        };
        if value > 0.0 && value.is_finite() {
            Ok(value)
        } else {
            Err(self.wrong(format!("the amount of liquid must be positive, got {value}")))
        }
    }

    fn build(&self, drop: &scene::Drop, notices: &mut Vec<String>) -> Result<InitialDrop, WorldError> {
        let made = match &drop.shape {
            DropShape::Sphere { center, amount, mode, amplitude, axis } => {
                self.sphere(*center, self.amount(*amount)?, *mode, *amplitude, *axis)?
            }
            DropShape::Cap { on, center, amount, contact_angle } => {
                self.cap(*on, *center, self.amount(*amount)?, *contact_angle)?
            }
            DropShape::Box { min, max } => self.axis_aligned_box(*min, *max)?,
            DropShape::Cylinder { from, to, radius, amplitude, wavelength } => {
                self.ligament([*from, *to], *radius, *amplitude, *wavelength)?
            }
            DropShape::Mesh { file, scale, rotate, shift } => {
                let world_from_file = Pose { rotation: rotation_xyz(*rotate), translation: *shift };
                self.mesh(file, *scale, world_from_file, notices)?
            }
        };
        let (body, amount, centroid, bounds) = made;
        Ok(InitialDrop {
            index: self.index,
            shape: drop.shape.clone(),
            velocity: drop.velocity,
            amount,
            centroid,
            bounds,
            body,
        })
    }

    fn sphere(
        &self,
        center: DVec3,
        amount: f64,
        mode: u32,
        amplitude: f64,
        axis: DVec3,
    ) -> Result<BuiltBody, WorldError> {
        let planar = self.planar();
        let radius = if planar { circle_radius(amount) } else { sphere_radius(amount) };
        if mode == 0 || amplitude == 0.0 {
            let bounds = [center - radius, center + radius];
            return Ok((Body::Ball { center, radius, planar }, amount, center, bounds));
        }
        let axis = if planar { axis.with_z(0.0) } else { axis };
        let axis =
            axis.try_normalize().ok_or_else(|| self.wrong("`axis` must not be zero (in a planar run, in x and y)"))?;
        let sphere = PerturbedSphere::of_amount(amount, mode, amplitude, planar);
        let segments = 64 * (mode as usize + 1);
        let radii = (0..=segments).map(|i| sphere.radius(PI * i as f64 / segments as f64));
        let (least, most) = radii.fold((f64::INFINITY, 0.0f64), |(a, b), r| (a.min(r), b.max(r)));
        if least.is_nan() || least <= 0.0 {
            return Err(
                self.wrong(format!("`amplitude` = {amplitude} in mode {mode} makes the radius negative; reduce it"))
            );
        }
        let centroid = center + axis * (sphere.moment(1) / sphere.moment(0));
        let curve = Arc::new(Tabulated::new(sphere, 0.0, PI, segments));
        Ok((Body::PerturbedSphere { center, axis, curve, planar }, amount, centroid, [center - most, center + most]))
    }

    fn cap(&self, on: usize, center: DVec3, amount: f64, contact_angle: f64) -> Result<BuiltBody, WorldError> {
        let solid = self.solids.get(on).ok_or_else(|| {
            self.wrong(format!("solid {on} of `on` does not exist: the scene has {} solids", self.solids.len()))
        })?;
        if !(contact_angle > 0.0 && contact_angle < PI) {
            let degrees = contact_angle.to_degrees();
            return Err(self.wrong(format!("`contact_angle` must be between 0 and 180 deg, got {degrees} deg")));
        }
        let no_cap = || WorldError::NoCap { index: self.index, solid: solid.name().to_owned() };
        let cap = Cap::new(solid, center, amount, contact_angle, self.planar()).ok_or_else(no_cap)?;
        let bounds = cap.bounds;
        let centroid = cap.centroid;
        Ok((Body::Cap(Arc::new(cap)), amount, centroid, bounds))
    }

    fn axis_aligned_box(&self, min: DVec3, max: DVec3) -> Result<BuiltBody, WorldError> {
        let planar = self.planar();
        let (mut inner, mut outer) = ([min, max], [min, max]);
        if let Some(domain) = &self.scene.domain {
            for k in 0..3 {
                let far = 2.0 * (domain.max - domain.min).max_element();
                if continues(domain, k, min[k], false) {
                    (inner[0][k], outer[0][k]) = (domain.min[k], domain.min[k] - far);
                }
                if continues(domain, k, max[k], true) {
                    (inner[1][k], outer[1][k]) = (domain.max[k], domain.max[k] + far);
                }
            }
        }
        let size = inner[1] - inner[0];
        let amount = if planar { size.x * size.y } else { size.element_product() };
        let full = size.x > 0.0 && size.y > 0.0 && (planar || size.z > 0.0) && amount.is_finite();
        if !full {
            return Err(self.wrong(format!("the edges of the box from `min` to `max` must be positive, got {size} m")));
        }
        let centroid = (inner[0] + inner[1]) / 2.0;
        Ok((Body::Box { min: outer[0], max: outer[1], planar }, amount, centroid, inner))
    }

    fn ligament(
        &self,
        ends: [DVec3; 2],
        radius: f64,
        amplitude: f64,
        wavelength: Option<f64>,
    ) -> Result<BuiltBody, WorldError> {
        let is_continued = |end: DVec3, other: DVec3| {
            let Some(domain) = &self.scene.domain else { return false };
            let outward = (end - other).normalize_or_zero();
            (0..3).any(|k| outward[k].abs() > 0.999_999 && continues(domain, k, end[k], outward[k] > 0.0))
        };
        let on = [is_continued(ends[0], ends[1]), is_continued(ends[1], ends[0])];
        let ligament = Ligament::new(ends, radius, amplitude, wavelength, self.planar(), on).ok_or_else(|| {
            self.wrong("a cylinder needs two different ends, a positive `radius` and an `amplitude` below 1")
        })?;
        let radius = ligament.max_radius();
        let bounds = [ends[0].min(ends[1]) - radius, ends[0].max(ends[1]) + radius];
        let (amount, centroid) = (ligament.amount(), ligament.centroid());
        Ok((Body::Ligament(Arc::new(ligament)), amount, centroid, bounds))
    }

    fn mesh(
        &self,
        file: &std::path::Path,
        scale: scene::MeshScale,
        world_from_file: Pose,
        notices: &mut Vec<String>,
    ) -> Result<BuiltBody, WorldError> {
        if self.planar() {
            return Err(self.wrong("a planar run cannot use a mesh; use a sphere, cap, box or cylinder"));
        }
        let user = format!("drops.{}", self.index);
        let body = mesh_files::body(&user, file, scale, mesh_files::Use::Liquid, (self.files, notices))?;
        let (volume, centroid) = mesh_files::volume_and_centroid(&body.mesh);
        let start = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        let bounds = body.mesh.positions.iter().map(|p| world_from_file.apply(*p));
        let bounds = bounds.fold(start, |[low, high], p| [low.min(p), high.max(p)]);
        let centroid = world_from_file.apply(centroid);
        Ok((Body::Mesh { distance: body.distance, world_from_file }, volume, centroid, bounds))
    }
}

/// A body, its amount, its centroid and its bounds.
type BuiltBody = (Body, f64, DVec3, [DVec3; 2]);

/// Whether `at` along axis `k` is on or beyond a side of the domain that is not open.
fn continues(domain: &Domain, k: usize, at: f64, upper: bool) -> bool {
    let tolerance = 1e-9 * (domain.max[k] - domain.min[k]);
    domain.sides[k] != Side::Open
        && if upper { at >= domain.max[k] - tolerance } else { at <= domain.min[k] + tolerance }
}
