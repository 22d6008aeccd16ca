//! A solid: signed distance, normal, velocity and wetting at its current pose.
//!
//! There are three coordinate systems. A primitive has local coordinates (see
//! [`crate::primitives`]); the *rest pose* is the scene's shape with its static `rotate` and `move`
//! applied, and [`Solid::mesh`] is in it; the *world* is where the solid is now. Without motion,
//! rest pose and world are the same.
//!
//! Placement and motion rotate a solid about its shape's origin: the `point` of a plane or leaf,
//! the center of a box or sphere, the middle of a cylinder, the origin of a mesh file.

use std::path::Path;
use std::sync::Arc;

use glam::{DMat3, DVec2, DVec3};
use sessile_geometry::mesh_distance::MeshDistance;
use sessile_geometry::{Closest, Distance, TriMesh};
use sessile_input::Reader;
use sessile_scene::types::{self as scene, SolidShape, plane_axes};
use sessile_wetting::Wetting;

use crate::deform::Deformation;
use crate::error::WorldError;
use crate::materials::BuiltMaterial;
use crate::mesh_files;
use crate::motion::{KinematicOverride, keyed_motion};
use crate::pose::{Pose, RigidVelocity, rotation_xyz};
use crate::primitives::{axes_along, block::Block, cylinder::Cylinder, leaf::Leaf, plane::Plane, sphere::Sphere};
use crate::rest_mesh::{MeshBuilder, RestMesh};

/// A solid at its current pose. Clones share the mesh, the distance structure and the images.
#[derive(Clone)]
pub struct Solid {
    index: usize,
    scene: Arc<scene::Solid>,
    primitive: Arc<dyn Distance>,
    material: Arc<BuiltMaterial>,
    mesh: Arc<RestMesh>,
    /// Local coordinates to the rest pose.
    rest_from_primitive: Pose,
    world_from_rest: Pose,
    world_from_primitive: Pose,
    velocity: RigidVelocity,
    /// Of a mesh whose vertices move; it stands for `primitive` and `mesh`.
    deformation: Option<Deformation>,
    motion_override: Option<KinematicOverride>,
    /// Where the solid moves in a step; none where `velocity` is that of the moment.
    path: Option<StepPath>,
    /// Uniform wetting in place of the material's.
    wetting_by_hand: Option<Wetting>,
}

/// The meshed rectangle of a plane: (u, v, normal) is right-handed and orthonormal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaneFrame {
    /// Center of the rectangle, in m.
    pub origin: DVec3,
    /// Across: v × normal.
    pub u: DVec3,
    /// Up the slope of the plane in the scene (the projection of +y; −z on level planes), rotated
    /// with the solid.
    pub v: DVec3,
    /// Out of the solid.
    pub normal: DVec3,
    /// Extent along u and v, in m.
    pub size: [f64; 2],
}

/// Where a solid is at the end of a step.
#[derive(Clone)]
struct StepPath {
    to: Pose,
    deformed: Option<Deformation>,
    /// Length of the step, in s.
    dt: f64,
}

impl StepPath {
    /// Mean velocity of the point of the solid that is at `point` at the step's start, in m/s.
    fn velocity_at(&self, point: DVec3, from: &Pose, deformation: Option<&Deformation>) -> DVec3 {
        let rest = from.apply_inverse(point);
        let shift = deformation.zip(self.deformed.as_ref()).map_or(DVec3::ZERO, |(now, then)| now.shift_to(then, rest));
        (self.to.apply(rest + shift) - point) / self.dt
    }
}

/// A mesh in local coordinates.
enum LocalMesh {
    /// Of a file.
    Read(TriMesh),
    /// Of a primitive.
    Built(MeshBuilder),
}

/// A primitive with its mesh in local coordinates, and their origin and axes in the scene.
struct PlacedPrimitive {
    pub primitive: Arc<dyn Distance>,
    pub mesh: LocalMesh,
    pub origin: DVec3,
    pub axes: DMat3,
    /// The mesh as it is in its file, and the factor from its units to meters.
    pub raw: Option<(TriMesh, f64)>,
}

impl PlacedPrimitive {
    /// A primitive whose mesh `mesh` builds when it is used.
    fn new<P: Distance + 'static>(primitive: P, mesh: fn(&P) -> TriMesh, origin: DVec3, axes: DMat3) -> Self {
        let primitive = Arc::new(primitive);
        let shape = Arc::clone(&primitive);
        Self { mesh: LocalMesh::Built(Box::new(move || mesh(&shape))), primitive, origin, axes, raw: None }
    }
}

impl Solid {
    /// Builds solid `index` of the scene; repairs are reported in `notices`.
    pub(crate) fn build(
        index: usize,
        solid: &scene::Solid,
        material: Arc<BuiltMaterial>,
        files: &dyn Reader,
        notices: &mut Vec<String>,
    ) -> Result<Self, WorldError> {
        let placed = primitive(solid, files, notices)?;
        let scene_from_primitive = Pose { rotation: placed.axes, translation: placed.origin };
        let placement = Pose::about(placed.origin, rotation_xyz(solid.rotate), solid.shift);
        let rest_from_primitive = placement.after(&scene_from_primitive);
        let place = move |mut mesh: TriMesh| {
            mesh.positions.iter_mut().for_each(|p| *p = rest_from_primitive.apply(*p));
            mesh
        };
        let mut deformation = None;
        let mesh = match placed.mesh {
            LocalMesh::Read(mesh) => {
                let mesh = place(mesh);
                if let (SolidShape::Mesh { deform, .. }, Some((raw, factor))) = (&solid.shape, &placed.raw)
                    && !deform.is_empty()
                {
                    let at_rest = (&mesh, &rest_from_primitive);
                    let read = Deformation::read(&solid.name, deform, raw, *factor, at_rest, files)?;
                    notices.extend(read.self_intersections(&solid.name, mesh.triangles.as_slice()));
                    deformation = Some(read);
                }
                RestMesh::of_file(mesh)
            }
            LocalMesh::Built(build) => RestMesh::of_primitive(Box::new(move || place(build()))),
        };
        let mut built = Self {
            index,
            scene: Arc::new(solid.clone()),
            primitive: placed.primitive,
            material,
            mesh: Arc::new(mesh),
            rest_from_primitive,
            world_from_rest: Pose::IDENTITY,
            world_from_primitive: rest_from_primitive,
            velocity: RigidVelocity::ZERO,
            deformation,
            motion_override: None,
            path: None,
            wetting_by_hand: None,
        };
        built.advance_to(0.0);
        Ok(built)
    }

    /// This solid as solid `index` of another scene, in which it has the same shape and placement.
    pub(crate) fn reused(&self, index: usize, solid: &scene::Solid, material: Arc<BuiltMaterial>) -> Self {
        let mut reused =
            Self { index, scene: Arc::new(solid.clone()), material, motion_override: None, ..self.clone() };
        reused.advance_to(0.0);
        reused
    }

    /// Name in the scene.
    pub fn name(&self) -> &str {
        &self.scene.name
    }

    /// Index in the scene, and `solid` tag of a frame's faces.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The solid as the scene describes it.
    pub fn scene(&self) -> &scene::Solid {
        &self.scene
    }

    /// Name of the material.
    pub fn material(&self) -> &str {
        &self.scene.material
    }

    /// Surface mesh in the rest pose, with texture coordinates; for planes and leaves, the meshed
    /// part; of a deforming solid, at the current time. It is built when it is first used, and
    /// kept.
    pub fn mesh(&self) -> &Arc<TriMesh> {
        self.mesh.get()
    }

    /// The same mesh for a single use: it is not kept if it was not used before.
    pub fn mesh_once(&self) -> Arc<TriMesh> {
        self.mesh.once()
    }

    /// Area of the mesh, in m².
    pub fn area(&self) -> f64 {
        self.mesh.area
    }

    /// Transformation from the rest pose to the current pose.
    pub fn world_from_rest(&self) -> &Pose {
        &self.world_from_rest
    }

    /// Whether the solid moves: by keyframes, by an override, or by samples of its deformation.
    pub fn moves(&self) -> bool {
        self.moves_rigidly() || self.deforms()
    }

    /// Whether its pose changes: by keyframes or by an override.
    pub fn moves_rigidly(&self) -> bool {
        self.motion_override.is_some() || self.scene.motion.len() > 1
    }

    /// Whether the vertices of its mesh move; [`Solid::mesh`] is then the mesh of the current time.
    pub fn deforms(&self) -> bool {
        self.deformation.is_some()
    }

    /// Velocities of the vertices of a deforming mesh in the rest pose, in m/s.
    pub fn vertex_velocities(&self) -> Option<&[DVec3]> {
        self.deformation.as_ref().map(Deformation::velocities)
    }

    /// Times at which the velocity of a deforming mesh jumps, in s: its first and its last sample.
    pub fn deformation_span(&self) -> Option<[f64; 2]> {
        self.deformation.as_ref().map(Deformation::span)
    }

    /// Distance structure of a deforming mesh in the rest pose.
    pub fn deformed(&self) -> Option<&MeshDistance> {
        self.deformation.as_ref().map(Deformation::distance)
    }

    /// Whether a motion given by hand has replaced its keyframes.
    pub fn is_moved_by_hand(&self) -> bool {
        self.motion_override.is_some()
    }

    /// Signed distance at a point of the world, in m; negative inside the solid.
    pub fn signed_distance(&self, point: DVec3) -> f64 {
        if let Some(deformation) = &self.deformation {
            return deformation.distance().signed_distance(self.world_from_rest.apply_inverse(point));
        }
        self.primitive.signed_distance(self.world_from_primitive.apply_inverse(point))
    }

    /// The surface point closest to a point of the world.
    pub fn closest(&self, point: DVec3) -> Closest {
        let (pose, near) = match &self.deformation {
            Some(deformation) => {
                let pose = &self.world_from_rest;
                (pose, deformation.closest(pose.apply_inverse(point)))
            }
            None => {
                let pose = &self.world_from_primitive;
                (pose, self.primitive.closest(pose.apply_inverse(point)))
            }
        };
        Closest { point: pose.apply(near.point), normal: pose.turn(near.normal), ..near }
    }

    /// Unit normal at the surface point nearest to `point`, out of the solid: the gradient of the
    /// signed distance.
    pub fn normal(&self, point: DVec3) -> DVec3 {
        self.closest(point).normal
    }

    /// Velocity of the solid at a point of the world, in m/s; of a deforming solid, of its nearest
    /// surface point. After [`World::average_velocities`](crate::World::average_velocities) it is
    /// the mean over a step.
    pub fn velocity_at(&self, point: DVec3) -> DVec3 {
        if let Some(path) = &self.path {
            return path.velocity_at(point, &self.world_from_rest, self.deformation.as_ref());
        }
        let rigid = self.velocity.at(point);
        let pose = &self.world_from_rest;
        self.deformation
            .as_ref()
            .map_or(rigid, |deformation| rigid + pose.turn(deformation.velocity_at(pose.apply_inverse(point))))
    }

    /// Rigid velocity; of a deforming solid, that of its pose.
    pub fn velocity(&self) -> &RigidVelocity {
        &self.velocity
    }

    /// Wetting properties at texture coordinates `uv`.
    pub fn wetting_at(&self, uv: DVec2) -> Wetting {
        self.wetting_by_hand.unwrap_or_else(|| self.material.at(uv))
    }

    /// Viscous friction k_f at `uv`, in kg/s, if the material has its own (droplet model,
    /// reproduction mode).
    pub fn friction_at(&self, uv: DVec2) -> Option<f64> {
        self.material.friction_at(uv)
    }

    /// Whether contact angles and affinity are the same everywhere.
    pub fn wets_uniformly(&self) -> bool {
        self.wetting_by_hand.is_some() || self.material.is_uniform()
    }

    /// Whether roughness, adhesion and friction are the same everywhere.
    pub fn has_uniform_coefficients(&self) -> bool {
        self.material.has_uniform_coefficients()
    }

    /// The meshed rectangle at the current pose, if the solid is a plane.
    pub fn plane_frame(&self) -> Option<PlaneFrame> {
        let SolidShape::Plane { size, .. } = self.scene.shape else { return None };
        let axes = self.world_from_primitive.rotation;
        Some(PlaneFrame {
            origin: self.world_from_primitive.translation,
            u: axes.x_axis,
            v: axes.y_axis,
            normal: axes.z_axis,
            size,
        })
    }

    /// Corners of the axis-aligned bounding box of the mesh at the current pose, in m.
    pub fn bounds(&self) -> [DVec3; 2] {
        if self.world_from_rest == Pose::IDENTITY {
            return self.mesh.bounds;
        }
        let start = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        self.mesh().positions.iter().fold(start, |[low, high], p| {
            let p = self.world_from_rest.apply(*p);
            [low.min(p), high.max(p)]
        })
    }

    /// Center and radius of a bounding ball of the mesh at the current pose, in m.
    pub(crate) fn bounding_ball(&self) -> (DVec3, f64) {
        let (center, radius) = self.deformation.as_ref().map_or(self.mesh.ball, |deformation| {
            let [low, high] = deformation.bounds_of_samples();
            ((low + high) / 2.0, (high - low).length() / 2.0)
        });
        (self.world_from_rest.apply(center), radius)
    }

    /// Pose and velocity at `time`, independent of the current pose.
    pub(crate) fn motion_at(&self, time: f64) -> (Pose, RigidVelocity) {
        let origin = self.rest_from_primitive.translation;
        match &self.motion_override {
            Some(motion) => motion.motion(origin, time),
            None => keyed_motion(&self.scene.motion, self.scene.interpolation, origin, time),
        }
    }

    /// A copy of the solid at its pose of `time`.
    pub(crate) fn at_time(&self, time: f64) -> Self {
        let mut then = self.clone();
        then.advance_to(time);
        then
    }

    /// Makes [`velocity_at`](Self::velocity_at) the mean velocity over the `dt` seconds in which
    /// the solid becomes `end`.
    pub(crate) fn average_velocity(&mut self, end: &Self, dt: f64) {
        let path = || StepPath { to: end.world_from_rest, deformed: end.deformation.clone(), dt };
        self.path = (self.moves() && dt > 0.0).then(path);
    }

    /// Moves the solid to its pose of `time`.
    pub(crate) fn advance_to(&mut self, time: f64) {
        self.path = None;
        let (pose, velocity) = self.motion_at(time);
        self.world_from_rest = pose;
        self.world_from_primitive = pose.after(&self.rest_from_primitive);
        self.velocity = velocity;
        if let Some(deformation) = &mut self.deformation {
            deformation.advance_to(time);
            let deformed = deformation.mesh();
            // In place, unless the mesh is shared.
            if !Arc::get_mut(&mut self.mesh).is_some_and(|mesh| mesh.move_vertices(&deformed.positions)) {
                self.mesh = Arc::new(RestMesh::of_file(deformed.clone()));
            }
        }
    }

    /// Replaces the material's wetting by a uniform one (`None`: uses the material again).
    pub(crate) fn set_wetting_by_hand(&mut self, wetting: Option<Wetting>) {
        self.wetting_by_hand = wetting;
    }

    /// The motion that overrides the keyframes.
    pub(crate) fn motion_override(&self) -> Option<&KinematicOverride> {
        self.motion_override.as_ref()
    }

    /// Overrides the keyframes (`None`: uses them again).
    pub(crate) fn set_motion_override(&mut self, motion: Option<KinematicOverride>) {
        self.motion_override = motion;
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

/// Center and radius of a bounding ball of points: that of their axis-aligned box.
pub(crate) fn bounding_ball_of(points: &[DVec3]) -> (DVec3, f64) {
    let start = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let (low, high) = points.iter().fold(start, |(low, high), p| (low.min(*p), high.max(*p)));
    ((low + high) / 2.0, (high - low).length() / 2.0)
}

/// The primitive of a scene's shape.
fn primitive(
    solid: &scene::Solid,
    files: &dyn Reader,
    notices: &mut Vec<String>,
) -> Result<PlacedPrimitive, WorldError> {
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
        return Err(wrong("the times of `motion` must increase".into()));
    }
    Ok(match &solid.shape {
        SolidShape::Plane { point, normal, size } => {
            let normal = direction("`normal`", *normal)?;
            let size = [positive("`size`", size[0])?, positive("`size`", size[1])?];
            let (u, v) = plane_axes(normal);
            let plane = Plane { size };
            PlacedPrimitive::new(plane, Plane::mesh, *point, DMat3::from_cols(u, v, normal))
        }
        SolidShape::Box { min, max } => {
            for side in (*max - *min).to_array() {
                positive("every edge of the box from `min` to `max`", side)?;
            }
            PlacedPrimitive::new(Block::new((*max - *min) / 2.0), Block::mesh, (*min + *max) / 2.0, DMat3::IDENTITY)
        }
        SolidShape::Sphere { center, radius, inside } => {
            let sphere = Sphere { radius: positive("`radius`", *radius)?, inside: *inside };
            PlacedPrimitive::new(sphere, Sphere::mesh, *center, DMat3::IDENTITY)
        }
        SolidShape::Cylinder { from, to, radius, wall } => {
            let radius = positive("`radius`", *radius)?;
            let length = positive("the distance from `from` to `to`", from.distance(*to))?;
            let bore = wall.map(|wall| positive("`wall`", wall).map(|wall| radius - wall)).transpose()?;
            if bore.is_some_and(|bore| bore <= 0.0) {
                return Err(wrong(format!("`wall` must be less than `radius`, {radius} m; omit it for a solid rod")));
            }
            let axes = axes_along((*to - *from) / length);
            PlacedPrimitive::new(Cylinder::new(radius, bore, length / 2.0), Cylinder::mesh, (*from + *to) / 2.0, axes)
        }
        SolidShape::Leaf { point, axis, angle, size } => {
            let axes = axes_along(direction("`axis`", *axis)?);
            let size = [positive("`size`", size[0])?, positive("`size`", size[1])?];
            if !(*angle > 0.0 && *angle < std::f64::consts::TAU) {
                return Err(wrong(format!("`angle` must be between 0 and 360 deg, got {} deg", angle.to_degrees())));
            }
            let leaf = Leaf::new(*angle, size);
            PlacedPrimitive::new(leaf, Leaf::mesh, *point, axes)
        }
        SolidShape::Mesh { file, scale, .. } => mesh_primitive(solid, file, *scale, (files, notices))?,
    })
}

/// The primitive of a mesh file.
fn mesh_primitive(
    solid: &scene::Solid,
    file: &Path,
    scale: scene::MeshScale,
    (files, notices): (&dyn Reader, &mut Vec<String>),
) -> Result<PlacedPrimitive, WorldError> {
    let user = format!("solid `{}`", solid.name);
    let body = mesh_files::body(&user, file, scale, mesh_files::Use::Solid, (files, notices))?;
    Ok(PlacedPrimitive {
        primitive: body.distance,
        mesh: LocalMesh::Read(body.mesh),
        origin: DVec3::ZERO,
        axes: DMat3::IDENTITY,
        raw: Some(body.raw),
    })
}
