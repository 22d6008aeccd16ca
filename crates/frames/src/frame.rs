//! What a model yields at one moment.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_shapes::Instance;
use smallvec::SmallVec;

/// The state of the liquid at one moment, as every reader sees it.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Simulated time, in s.
    pub time: f64,
    /// The liquid.
    pub liquid: FrameGeometry,
    /// What only the model knows of each drop, by rising id; one entry per drop in `liquid`.
    pub drops: Vec<DropState>,
    /// Where solids are wet: at most one map per solid, by rising solid index.
    pub wet: Vec<WetMap>,
    /// The books.
    pub balance: VolumeBalance,
    /// Cells that took part in the last step; 0 where a model has none.
    pub active_cells: u64,
}

/// The liquid of a frame.
#[derive(Clone, Debug)]
pub enum FrameGeometry {
    /// Closed triangle surfaces.
    Surfaces(Surface),
    /// Numbers from which a reader makes the surfaces.
    Instances(Vec<Instance>),
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

/// Closed triangle surfaces of all drops; normals point out of the liquid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Vertex positions, in m.
    pub positions: Vec<DVec3>,
    /// Vertex velocities, in m/s.
    pub velocities: Vec<DVec3>,
    /// The drop that each vertex belongs to.
    pub drops: Vec<u32>,
    /// Vertex indices of each triangle.
    pub triangles: Vec<[u32; 3]>,
    /// Index of the solid that each triangle lies on; −1 for liquid–air.
    pub solids: Vec<i32>,
}

/// What only the model knows of a drop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DropState {
    /// Never reused.
    pub id: u32,
    /// As the model keeps it, in m³ (m² in a planar run).
    pub volume: f64,
    /// Of the center of mass, in m/s.
    pub velocity: DVec3,
    /// Largest speed inside, in m/s.
    pub speed_max: f64,
    /// Mean excess pressure inside, in Pa; `None` where a model has none.
    pub pressure: Option<f64>,
}

/// Where a solid is wet, over its texture coordinates: row 0 is the top (v = 1), columns run with u.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WetMap {
    /// Index of the solid.
    pub solid: usize,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Wetness, 0 dry to 65535 wet, row by row.
    pub wetness: Vec<u16>,
    /// Film thickness, in units of 10 nm, row by row.
    pub film: Vec<u16>,
}

/// Liquid accounted for, in m³ (m² in a planar run): present, film included, + lost = added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VolumeBalance {
    /// Initial drops and sources; drains count negative.
    pub added: f64,
    /// Left the scene.
    pub lost: f64,
    /// Present as film on solids.
    pub film: f64,
}

/// Ids of the drops of an event: as few as most events have lie in the event itself.
pub type Ids = SmallVec<[u32; 4]>;

/// Something that happened to drops between two frames.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Event {
    /// Several drops became one.
    Merge {
        /// Those that met.
        merge: Ids,
        /// The one that goes on: the largest.
        into: u32,
    },
    /// One drop became several.
    Split {
        /// The one that was.
        split: u32,
        /// Its pieces; the largest keeps the id.
        into: Ids,
    },
}
