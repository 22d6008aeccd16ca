//! One drop and what a step needs to know beside it.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_wetting::Liquid;

use crate::ground::Ground;
use crate::mesh::Mesh;
use crate::paper::Knobs;
use crate::queue::Queue;
use crate::shape::{Shape, ball_radius};
use crate::sizing::Sizes;
use crate::survey::Survey;
use crate::system::System;

/// A drop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drop {
    /// Never reused.
    pub id: u32,
    /// Its surface, with vertex velocities.
    pub mesh: Mesh,
    /// The volume that it must have, in m³.
    pub volume: f64,
    /// Velocity of its centroid, in m/s: its momentum over its mass, which changes of the mesh do not touch.
    pub velocity: DVec3,
    /// Its area against air when that was last looked at, in m².
    pub air_area: f64,
    /// Mean excess pressure, in Pa.
    pub pressure: f64,
    /// Largest speed of its free surface or, across itself, of its line against the drop as a whole, in m/s.
    pub writhing: f64,
    /// Steps that it has been at rest.
    pub calm: u32,
    /// Steps since the ground under it was last marked as wet.
    pub unchecked: u32,
    /// How far parts of its surface may still move against one another before they could cross, in m.
    pub slack: f64,
    /// At rest and not computed until something touches it.
    pub asleep: bool,
    /// How it goes through the step at hand; nothing between steps.
    #[serde(skip)]
    pub pace: Pace,
}

/// The turns in which a drop goes through a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    /// Turns that are left.
    pub parts: u32,
    /// Length of a turn, in s.
    pub dt: f64,
}

impl Drop {
    /// A drop of a surface that moves as a whole.
    pub fn new(id: u32, mut mesh: Mesh, volume: f64, velocity: DVec3) -> Self {
        mesh.velocities.fill(velocity);
        let air_area = mesh.air_area();
        Self {
            id,
            mesh,
            volume,
            velocity,
            air_area,
            pressure: 0.0,
            writhing: 0.0,
            calm: 0,
            unchecked: 0,
            slack: 0.0,
            asleep: false,
            pace: Pace::default(),
        }
    }

    /// Length that its edges should have, in m, when the scene's shortest edge is `shortest`: a stream's or a thread's are finer, so that they go
    /// round it some eight times, down to that.
    pub fn target_edge(&self, shortest: f64) -> f64 {
        let thickness = 3.0 * self.volume / self.air_area;
        target_edge(self.volume, shortest).min((0.5 * thickness).max(shortest))
    }

    /// Takes the fastest of its vertices for how fast its surface moves against the drop: before a step has looked closer.
    pub fn guess_writhing(&mut self) {
        let fastest = self.mesh.velocities.iter().map(|v| v.distance_squared(self.velocity)).fold(0.0, f64::max);
        self.writhing = fastest.sqrt();
    }

    /// Computes it again from the next step on.
    pub fn wake(&mut self) {
        self.asleep = false;
        self.calm = 0;
    }
}

/// Length that the edges of a round drop of this volume should have when the scene's shortest edge is `shortest`, in m: twice that, and a drop has
/// some 240 triangles at least.
pub fn target_edge(volume: f64, shortest: f64) -> f64 {
    (2.0 * shortest).min(0.35 * ball_radius(volume))
}

/// What acts on drops during a step.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// The solids at the beginning of the step.
    pub before: &'a Ground,
    /// The solids at its end.
    pub after: &'a Ground,
    /// Gravity in the middle of it, in m/s².
    pub gravity: DVec3,
    /// Its length, in s.
    pub dt: f64,
    /// Length below which steps are not cut further, in s.
    pub shortest_step: f64,
    /// The liquid.
    pub liquid: &'a Liquid,
    /// Shortest edge, in m.
    pub edge: f64,
    /// Whether drag is added to come to rest soon.
    pub settle: bool,
    /// Whether arms of one drop that meet are joined.
    pub self_merge: bool,
    /// The paper's knobs, where its own operators run.
    pub paper: Option<Knobs>,
}

/// Memory that a step of one drop uses.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// Geometry.
    pub shape: Shape,
    /// The linear system.
    pub system: System,
    /// The last look at the surface.
    pub survey: Survey,
    /// A point that was inside the drop, in m.
    pub center: DVec3,
    /// The surface before the step.
    pub backup: Mesh,
    /// Some vectors.
    pub vectors: Vec<DVec3>,
    /// Solids near the drop.
    pub near: Vec<usize>,
    /// Vertices inside solids.
    pub queue: Vec<(f64, u32)>,
    /// Lengths that the remesher aims at.
    pub sizes: Sizes,
    /// Edges that it is about to change.
    pub wishes: Queue,
    /// Triangles that the contact looks at.
    pub marks: Vec<u32>,
}
