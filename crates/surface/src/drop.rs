//! One drop, the context of its step, and the memory that a step uses.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_frames::DropId;
use sessile_numerics::{sphere_radius, typed_index};

use crate::contact::ContactScratch;
use crate::dynamics::geometry::DropGeometry;
use crate::dynamics::line_shear::LineShear;
use crate::dynamics::linear_system::LinearSystem;
use crate::mesh::Mesh;
use crate::mesh::quality::MeshQuality;
use crate::parameters::{Numerics, Parameters};
use crate::remesh::edge_queue::EdgeQueue;
use crate::remesh::edge_sizing::EdgeSizes;
use crate::substrate::Substrate;

typed_index! {
    /// A drop's place in the list of drops.
    pub struct DropIndex;
}

/// A drop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drop {
    /// Identifier; never reused.
    pub id: DropId,
    /// Surface with vertex velocities.
    pub mesh: Mesh,
    /// Volume that the surface must enclose, in m³.
    pub volume: f64,
    /// Velocity of the centroid, in m/s: momentum over mass, which remeshing does not change.
    pub velocity: DVec3,
    /// Area of the free surface when it was last evaluated, in m².
    pub(crate) air_area: f64,
    /// Mean excess pressure, in Pa.
    pub(crate) pressure: f64,
    /// Largest speed of the free surface, and of the contact line across itself, relative to the
    /// drop's velocity, in m/s.
    pub(crate) deformation_speed: f64,
    /// Consecutive substeps at rest.
    pub(crate) steps_at_rest: u32,
    /// Substeps since the solid under the drop was last marked as wet.
    pub(crate) substeps_since_wet_mark: u32,
    /// Substeps since the target edge lengths were last evaluated, up to `sizing_interval`.
    pub(crate) substeps_since_sizing: u32,
    /// Distance that opposite parts of the surface may still move toward each other before they
    /// could intersect, in m.
    pub(crate) clearance: f64,
    /// At rest, and not simulated until something disturbs it.
    pub asleep: bool,
    /// Longest substep that the last one suggests, in s; 0 where nothing is known.
    pub(crate) pace: f64,
    /// Time that the drop waits behind the model for a longer substep, in s.
    pub(crate) behind: f64,
    /// Corners of the bounding box of the surface, in m.
    #[serde(skip)]
    pub(crate) bounds: [DVec3; 2],
    /// Time by which it was advanced in the current step, in s; not part of the state between
    /// steps.
    #[serde(skip)]
    pub(crate) advanced: f64,
    /// Progress through the current step; not part of the state between steps.
    #[serde(skip)]
    pub(crate) substeps: Substeps,
}

/// The substeps in which a drop covers a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Substeps {
    /// Substeps left.
    pub remaining: u32,
    /// Length of a substep, in s.
    pub dt: f64,
    /// Length below which substeps are not divided further, in s.
    pub min_dt: f64,
}

impl Substeps {
    /// A step of `dt` seconds in `count` substeps, which retries may divide: into parts of the
    /// step, or once where they are short already.
    pub fn new(count: u32, dt: f64, numerics: &Numerics) -> Self {
        let substep = dt / f64::from(count);
        let shortest = (dt / f64::from(numerics.max_substeps)).min(substep / f64::from(numerics.retry_substeps));
        Self { remaining: count, dt: substep, min_dt: 1.01 * shortest }
    }
}

impl Drop {
    /// A drop whose surface moves as a rigid body.
    pub(crate) fn new(id: DropId, mut mesh: Mesh, volume: f64, velocity: DVec3) -> Self {
        mesh.velocities.fill(velocity);
        let (air_area, bounds) = (mesh.air_area(), mesh.bounds());
        Self {
            id,
            mesh,
            volume,
            velocity,
            air_area,
            pressure: 0.0,
            deformation_speed: 0.0,
            steps_at_rest: 0,
            substeps_since_wet_mark: 0,
            substeps_since_sizing: 0,
            clearance: 0.0,
            asleep: false,
            pace: 0.0,
            behind: 0.0,
            bounds,
            advanced: 0.0,
            substeps: Substeps::default(),
        }
    }

    /// Replaces the surface by one that moves with the drop as a rigid body.
    pub(crate) fn set_rigid_mesh(&mut self, mesh: Mesh) {
        self.mesh = mesh;
        self.mesh.velocities.fill(self.velocity);
        self.air_area = self.mesh.air_area();
        self.update_bounds();
    }

    /// Evaluates the bounding box after the surface has changed.
    pub(crate) fn update_bounds(&mut self) {
        self.bounds = self.mesh.bounds();
    }

    /// Target edge length of this drop, in m, in a scene whose shortest edge is `shortest`.
    ///
    /// Streams and ligaments get finer edges, about eight around their circumference, down to
    /// `shortest`.
    pub(crate) fn target_edge(&self, shortest: f64) -> f64 {
        let thickness = 3.0 * self.volume / self.air_area;
        target_edge(self.volume, shortest).min((0.5 * thickness).max(shortest))
    }

    /// Bounds the deformation speed by the fastest vertex, until a step evaluates it.
    pub(crate) fn estimate_deformation_speed(&mut self) {
        let fastest = self.mesh.velocities.iter().map(|v| v.distance_squared(self.velocity)).fold(0.0, f64::max);
        self.deformation_speed = fastest.sqrt();
    }

    /// Resumes the simulation of a drop whose surroundings have changed.
    pub(crate) fn disturb(&mut self) {
        self.wake();
        self.pace = 0.0;
    }

    /// Resumes the simulation of a drop that may be asleep.
    pub(crate) fn wake(&mut self) {
        self.asleep = false;
        self.steps_at_rest = 0;
    }

    /// Adds the volume and the momentum of another drop.
    pub(crate) fn absorb(&mut self, other: &Self) {
        let volume = self.volume + other.volume;
        self.velocity = (self.velocity * self.volume + other.velocity * other.volume) / volume;
        self.volume = volume;
    }
}

/// Target edge length of a round drop of this volume, in m, in a scene whose shortest edge is
/// `shortest`: twice that, but at least 240 triangles per drop.
pub fn target_edge(volume: f64, shortest: f64) -> f64 {
    (2.0 * shortest).min(0.35 * sphere_radius(volume))
}

/// What acts on a drop during a substep.
#[derive(Clone, Copy)]
pub struct StepContext<'a> {
    /// Substrate at the beginning of the step.
    pub start: &'a Substrate,
    /// Substrate at the end of the step.
    pub end: &'a Substrate,
    /// Mean gravity during the step, in m/s².
    pub gravity: DVec3,
    /// Length of the substep, in s.
    pub dt: f64,
    /// Length below which substeps are not divided further, in s.
    pub min_dt: f64,
    /// Parameters of the run.
    pub params: &'a Parameters,
}

/// Memory that the step of one drop reuses.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// Geometry and its derivatives.
    pub geometry: DropGeometry,
    /// The linear system.
    pub system: LinearSystem,
    /// Quality of the mesh after the move.
    pub quality: MeshQuality,
    /// A point that was inside the drop, in m.
    pub center: DVec3,
    /// The mesh before the step.
    pub backup: Mesh,
    /// Motion within the surface beside the contact line.
    pub line_shear: LineShear,
    /// One vector per vertex.
    pub vectors: Vec<DVec3>,
    /// Speed of each vertex along its normal, relative to the drop, in m/s.
    pub speeds: Vec<f64>,
    /// Whether each vertex is held on a solid while the volume is restored.
    pub held: Vec<bool>,
    /// Candidates of the contact update.
    pub contact: ContactScratch,
    /// Target edge lengths of the remesher.
    pub sizes: EdgeSizes,
    /// Edges that the remesher is about to change.
    pub edge_queue: EdgeQueue,
}
