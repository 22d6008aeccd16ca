//! The state of the liquid that a model yields at one moment.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_shapes::Instance;
use smallvec::SmallVec;

use crate::instances::{InstanceError, stored_as_instances, surface_of};

/// The state of the liquid at one moment, independent of the model.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Simulated time, in s.
    pub time: f64,
    /// Geometry of the liquid.
    pub liquid: FrameGeometry,
    /// Per-drop values that only the model knows, by increasing id; one entry per drop in `liquid`.
    pub drops: Vec<DropState>,
    /// Position of each of `drops` as the model stores it, in m; empty for models whose drops are
    /// surfaces.
    pub positions: Vec<DVec3>,
    /// Wetness of solids: at most one map per solid, by increasing solid index.
    pub wet: Vec<WetMap>,
    /// Volume balance.
    pub balance: VolumeBalance,
    /// Number of cells in the last step; 0 for models without a grid.
    pub active_cells: u64,
}

/// Geometry of the liquid in a frame.
#[derive(Clone, Debug)]
pub enum FrameGeometry {
    /// Closed triangle surfaces.
    Surfaces(Surface),
    /// Shape parameters from which surfaces are made.
    Instances(Vec<Instance>),
    /// Closed triangle surfaces, and the shape parameters they were made from.
    Tessellated {
        /// The surfaces.
        surface: Surface,
        /// The shape parameters.
        instances: Vec<Instance>,
    },
}

impl Default for FrameGeometry {
    fn default() -> Self {
        Self::Surfaces(Surface::default())
    }
}

impl From<Surface> for FrameGeometry {
    fn from(surface: Surface) -> Self {
        Self::Surfaces(surface)
    }
}

impl FrameGeometry {
    /// Makes surfaces of instances that are few enough to be stored as surfaces (see
    /// [`stored_as_instances`]).
    pub fn tessellate_if_few(self) -> Result<Self, InstanceError> {
        match self {
            Self::Instances(instances) if !stored_as_instances(instances.len()) => {
                Ok(Self::Tessellated { surface: surface_of(&instances)?, instances })
            }
            other => Ok(other),
        }
    }

    /// The surfaces, made where the model yielded instances.
    pub fn into_surface(self) -> Result<Surface, InstanceError> {
        match self {
            Self::Surfaces(surface) | Self::Tessellated { surface, .. } => Ok(surface),
            Self::Instances(instances) => surface_of(&instances),
        }
    }
}

/// Closed triangle surfaces of all drops; normals point out of the liquid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Vertex positions, in m.
    pub positions: Vec<DVec3>,
    /// Vertex velocities, in m/s.
    pub velocities: Vec<DVec3>,
    /// Id of each vertex's drop.
    pub drops: Vec<u32>,
    /// Vertex indices of each triangle.
    pub triangles: Vec<[u32; 3]>,
    /// Index of the solid that each triangle lies on; −1 for liquid–air.
    pub solids: Vec<i32>,
}

/// Values of a drop that only the model knows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DropState {
    /// Id; never reused.
    pub id: u32,
    /// Volume as the model stores it, in m³ (m² in a planar run).
    pub volume: f64,
    /// Velocity of the center of mass, in m/s.
    pub velocity: DVec3,
    /// Largest speed in the drop, in m/s.
    pub speed_max: f64,
    /// Mean excess pressure in the drop, in Pa; `None` for models without pressure.
    pub pressure: Option<f64>,
}

/// Wetness of a solid over its texture coordinates: row 0 is the top (v = 1), columns run along u.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WetMap {
    /// Index of the solid.
    pub solid: usize,
    /// Number of columns.
    pub width: u32,
    /// Number of rows.
    pub height: u32,
    /// Wetness, 0 (dry) to 65535 (wet), row by row.
    pub wetness: Vec<u16>,
    /// Film thickness, in units of 10 nm, row by row.
    pub film: Vec<u16>,
    /// Frames since liquid last covered a wet texel, row by row; empty if not recorded.
    pub age: Vec<u16>,
}

/// Volume balance of the liquid, in m³ (m² in a planar run): present (film included) + lost +
/// evaporated = added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VolumeBalance {
    /// Volume of initial drops and emitters; drains count negative.
    pub added: f64,
    /// Volume that left the scene.
    pub lost: f64,
    /// Volume present as film on solids.
    pub film: f64,
    /// Volume that evaporated, less what condensed on drops.
    pub evaporated: f64,
}

/// Ids of the drops of an event, stored inline for up to four drops.
pub type Ids = SmallVec<[u32; 4]>;

/// A merge or split between two frames.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Event {
    /// Several drops became one.
    Merge {
        /// The drops that merged.
        merge: Ids,
        /// The drop that remains: the largest of them.
        into: u32,
    },
    /// One drop became several.
    Split {
        /// The drop that split.
        split: u32,
        /// Its pieces; the largest keeps the id.
        into: Ids,
    },
}
