//! A solid of the scene, built: how far it is, which way is out, how fast it moves, how it wets.
//!
//! Three spaces are in play. A form has its own coordinates (see [`forms`](crate::forms)); the *rest pose* is the scene's shape
//! with its static `rotate` and `move` applied, and [`Solid::mesh`] is in it; the *world* is where the solid is now. Without motion
//! rest pose and world are one.
//!
//! Placement and motion turn a solid about its shape's origin: a plane's and a leaf's `point`, a box's and a sphere's center, a
//! cylinder's middle, a mesh file's own origin.

use std::path::Path;
use std::sync::Arc;

use glam::{DMat3, DVec2, DVec3};
use sessile_geometry::{Closest, Distance, TriMesh};
use sessile_scene::types::{self as scene, SolidShape, plane_axes};
use sessile_wetting::Wetting;

use crate::error::WorldError;
use crate::materials::BuiltMaterial;
use crate::mesh_files;
use crate::motion::{KinematicOverride, keyed_motion};
use crate::pose::{Pose, RigidVelocity, rotation_xyz};
use crate::primitives::{axes_along, block::Block, cylinder::Cylinder, leaf::Leaf, plane::Plane, sphere::Sphere};

/// A solid at its current pose. Clones share the mesh, the distance structure and the images.
#[derive(Clone)]
pub struct Solid {
    index: usize,
    scene: Arc<scene::Solid>,
    form: Arc<dyn Distance>,
    material: Arc<BuiltMaterial>,
    mesh: Arc<TriMesh>,
    /// A ball round the mesh in the rest pose.
    ball: (DVec3, f64),
    /// The form's own coordinates to the rest pose.
    rest_from_form: Pose,
    world_from_rest: Pose,
    world_from_form: Pose,
    velocity: RigidVelocity,
    drive: Option<KinematicOverride>,
}

/// The drawn rectangle of a plane: (u, v, normal) is right-handed and orthonormal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaneFrame {
    /// Center of the drawn rectangle, in m.
    pub origin: DVec3,
    /// Across: v × normal.
    pub u: DVec3,
    /// Up the slope of the plane as the scene writes it (the projection of +y; −z on level planes), turned with the solid.
    pub v: DVec3,
    /// Out of the solid.
    pub normal: DVec3,
    /// Extent along u and v, in m.
    pub size: [f64; 2],
}

/// A form with its mesh in its own coordinates, and where those lie in the scene.
pub(crate) struct Formed {
    pub form: Arc<dyn Distance>,
    pub mesh: TriMesh,
    pub origin: DVec3,
    pub axes: DMat3,
}

impl Solid {
    /// Builds solid `index` of the scene; what was repaired is added to `notices`.
    pub(crate) fn build(
        index: usize,
        solid: &scene::Solid,
        material: Arc<BuiltMaterial>,
        notices: &mut Vec<String>,
    ) -> Result<Self, WorldError> {
        let formed = form(solid, notices)?;
        let scene_from_form = Pose { rotation: formed.axes, translation: formed.origin };
        let placement = Pose::about(formed.origin, rotation_xyz(solid.rotate), solid.shift);
        let rest_from_form = placement.after(&scene_from_form);
        let mut mesh = formed.mesh;
        mesh.positions.iter_mut().for_each(|p| *p = rest_from_form.apply(*p));
        let ball = ball_round(&mesh.positions);
        let mut built = Self {
            index,
            scene: Arc::new(solid.clone()),
            form: formed.form,
            material,
            mesh: Arc::new(mesh),
            ball,
            rest_from_form,
            world_from_rest: Pose::IDENTITY,
            world_from_form: rest_from_form,
            velocity: RigidVelocity::ZERO,
            drive: None,
        };
        built.advance_to(0.0);
        Ok(built)
    }

    /// Its name in the scene.
    pub fn name(&self) -> &str {
        &self.scene.name
    }

    /// Its place in the scene, which is the `solid` tag of a frame's faces.
    pub fn index(&self) -> usize {
        self.index
    }

    /// What the scene says of it.
    pub fn scene(&self) -> &scene::Solid {
        &self.scene
    }

    /// The name of its material.
    pub fn material(&self) -> &str {
        &self.scene.material
    }

    /// Its surface in the rest pose, with texture coordinates; of planes and leaves, the drawn part.
    pub fn mesh(&self) -> &Arc<TriMesh> {
        &self.mesh
    }

    /// Where the rest pose is now.
    pub fn world_from_rest(&self) -> &Pose {
        &self.world_from_rest
    }

    /// Whether the scene moves it, or a hand has.
    pub fn moves(&self) -> bool {
        self.drive.is_some() || self.scene.motion.len() > 1
    }

    /// Signed distance from a point of the world, in m: negative inside the solid.
    pub fn signed_distance(&self, point: DVec3) -> f64 {
        self.form.signed_distance(self.world_from_form.apply_inverse(point))
    }

    /// The nearest point of the surface to a point of the world.
    pub fn closest(&self, point: DVec3) -> Closest {
        let pose = &self.world_from_form;
        let near = self.form.closest(pose.apply_inverse(point));
        Closest { point: pose.apply(near.point), normal: pose.turn(near.normal), ..near }
    }

    /// Unit normal at the surface point nearest to `point`, out of the solid: the gradient of the signed distance.
    pub fn normal(&self, point: DVec3) -> DVec3 {
        self.closest(point).normal
    }

    /// Velocity of the solid's matter at a point of the world, in m/s.
    pub fn velocity_at(&self, point: DVec3) -> DVec3 {
        self.velocity.at(point)
    }

    /// Its rigid velocity.
    pub fn velocity(&self) -> &RigidVelocity {
        &self.velocity
    }

    /// How it wets at texture coordinates `uv`.
    pub fn wetting_at(&self, uv: DVec2) -> Wetting {
        self.material.at(uv)
    }

    /// Whether it wets the same everywhere, so that one [`Solid::wetting_at`] serves for all.
    pub fn wets_uniformly(&self) -> bool {
        self.material.is_uniform()
    }

    /// The drawn rectangle, if it is a plane, at the current pose.
    pub fn plane_frame(&self) -> Option<PlaneFrame> {
        let SolidShape::Plane { size, .. } = self.scene.shape else { return None };
        let axes = self.world_from_form.rotation;
        Some(PlaneFrame {
            origin: self.world_from_form.translation,
            u: axes.x_axis,
            v: axes.y_axis,
            normal: axes.z_axis,
            size,
        })
    }

    /// Corners of the axis-aligned box round the mesh at the current pose, in m.
    pub fn bounds(&self) -> [DVec3; 2] {
        let start = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        self.mesh.positions.iter().fold(start, |[low, high], p| {
            let p = self.world_from_rest.apply(*p);
            [low.min(p), high.max(p)]
        })
    }

    /// Center and radius of a ball round the mesh at the current pose, in m.
    pub(crate) fn bounding_ball(&self) -> (DVec3, f64) {
        (self.world_from_rest.apply(self.ball.0), self.ball.1)
    }

    /// Where it is and how it moves at `time`, whatever its current pose.
    pub(crate) fn motion_at(&self, time: f64) -> (Pose, RigidVelocity) {
        let origin = self.rest_from_form.translation;
        match &self.drive {
            Some(drive) => drive.motion(origin, time),
            None => keyed_motion(&self.scene.motion, origin, time),
        }
    }

    /// The solid as it is at `time`.
    pub(crate) fn at_time(&self, time: f64) -> Self {
        let mut then = self.clone();
        then.advance_to(time);
        then
    }

    /// Takes the pose of `time`.
    pub(crate) fn advance_to(&mut self, time: f64) {
        let (pose, velocity) = self.motion_at(time);
        self.world_from_rest = pose;
        self.world_from_form = pose.after(&self.rest_from_form);
        self.velocity = velocity;
    }

    /// The hand that moves it.
    pub(crate) fn drive(&self) -> Option<&KinematicOverride> {
        self.drive.as_ref()
    }

    /// From now on a hand moves it (`None`: the scene does).
    pub(crate) fn set_drive(&mut self, drive: Option<KinematicOverride>) {
        self.drive = drive;
    }
}

impl std::fmt::Debug for Solid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Solid")
            .field("scene", &self.scene)
            .field("world_from_rest", &self.world_from_rest)
            .finish_non_exhaustive()
    }
}

/// Center and radius of a ball round some points: that of their axis-aligned box.
fn ball_round(points: &[DVec3]) -> (DVec3, f64) {
    let start = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let (low, high) = points.iter().fold(start, |(low, high), p| (low.min(*p), high.max(*p)));
    ((low + high) / 2.0, (high - low).length() / 2.0)
}

/// The form of a scene's shape.
fn form(solid: &scene::Solid, notices: &mut Vec<String>) -> Result<Formed, WorldError> {
    let wrong = |reason: String| WorldError::Shape { solid: solid.name.clone(), reason };
    let positive = |what: &str, value: f64| {
        if value.is_finite() && value > 0.0 {
            Ok(value)
        } else {
            Err(wrong(format!("{what} must be a positive length, got {value} m")))
        }
    };
    let direction = |what: &str, vector: DVec3| {
        vector.try_normalize().ok_or_else(|| wrong(format!("{what} must not be zero, got {vector}")))
    };
    if solid.motion.windows(2).any(|pair| pair[1].at <= pair[0].at) {
        return Err(wrong("the times of `motion` must rise from key to key".into()));
    }
    Ok(match &solid.shape {
        SolidShape::Plane { point, normal, size } => {
            let normal = direction("`normal`", *normal)?;
            let size = [positive("`size`", size[0])?, positive("`size`", size[1])?];
            let (u, v) = plane_axes(normal);
            let plane = Plane { size };
            Formed { mesh: plane.mesh(), form: Arc::new(plane), origin: *point, axes: DMat3::from_cols(u, v, normal) }
        }
        SolidShape::Box { min, max } => {
            for side in (*max - *min).to_array() {
                positive("every side of the box from `min` to `max`", side)?;
            }
            let block = Block::new((*max - *min) / 2.0);
            Formed { mesh: block.mesh(), form: Arc::new(block), origin: (*min + *max) / 2.0, axes: DMat3::IDENTITY }
        }
        SolidShape::Sphere { center, radius, inside } => {
            let sphere = Sphere { radius: positive("`radius`", *radius)?, inside: *inside };
            Formed { mesh: sphere.mesh(), form: Arc::new(sphere), origin: *center, axes: DMat3::IDENTITY }
        }
        SolidShape::Cylinder { from, to, radius, wall } => {
            let radius = positive("`radius`", *radius)?;
            let length = positive("the distance from `from` to `to`", from.distance(*to))?;
            let bore = wall.map(|wall| positive("`wall`", wall).map(|wall| radius - wall)).transpose()?;
            if bore.is_some_and(|bore| bore <= 0.0) {
                return Err(wrong(format!(
                    "`wall` must be thinner than the radius, {radius} m; leave it out for a solid rod"
                )));
            }
            let cylinder = Cylinder::new(radius, bore, length / 2.0);
            let axes = axes_along((*to - *from) / length);
            Formed { mesh: cylinder.mesh(), form: Arc::new(cylinder), origin: (*from + *to) / 2.0, axes }
        }
        SolidShape::Leaf { point, axis, angle, size } => {
            let axes = axes_along(direction("`axis`", *axis)?);
            let size = [positive("`size`", size[0])?, positive("`size`", size[1])?];
            if !(*angle > 0.0 && *angle < std::f64::consts::TAU) {
                return Err(wrong(format!("`angle` must lie between 0 and 360 deg, got {} deg", angle.to_degrees())));
            }
            let leaf = Leaf::new(*angle, size);
            Formed { mesh: leaf.mesh(), form: Arc::new(leaf), origin: *point, axes }
        }
        SolidShape::Mesh { file, scale } => mesh_form(solid, file, *scale, notices)?,
    })
}

/// The form of a mesh from a file.
fn mesh_form(
    solid: &scene::Solid,
    file: &Path,
    scale: scene::MeshScale,
    notices: &mut Vec<String>,
) -> Result<Formed, WorldError> {
    let user = format!("solid `{}`", solid.name);
    let body = mesh_files::body(&user, file, scale, mesh_files::Use::Solid, notices)?;
    Ok(Formed { form: body.distance, mesh: body.mesh, origin: DVec3::ZERO, axes: DMat3::IDENTITY })
}
