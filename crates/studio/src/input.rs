//! What a hand does: every change of a session, as it is sent by the page and recorded.

use serde::{Deserialize, Serialize};
use sessile_interaction::{Source, WipingTool};

/// One change of a session. Lengths in m, times in s, volumes in m³, angles in degrees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Input {
    /// Another gravity; without a vector the scene's own.
    Gravity {
        /// In m/s².
        vector: Option<[f64; 3]>,
    },
    /// Another wind; without a vector the scene's own.
    Wind {
        /// In m/s.
        vector: Option<[f64; 3]>,
    },
    /// Rain over a solid, besides the scene's own sources; 0 stops it.
    Rain {
        /// Water per area and time, in m/s.
        rate: f64,
        /// Index of the solid.
        solid: usize,
    },
    /// Opens or closes the scene's sources.
    Sources {
        /// Whether they are open.
        open: bool,
    },
    /// A drop.
    Add {
        /// Where.
        at: [f64; 3],
        /// How fast.
        #[serde(default)]
        velocity: [f64; 3],
        /// How much.
        volume: f64,
        /// Whether a gesture begins with it.
        #[serde(default = "yes")]
        begin: bool,
    },
    /// Takes the liquid of a ball away.
    Take {
        /// Center.
        at: [f64; 3],
        /// Radius.
        radius: f64,
        /// Share of the liquid, 0 to 1.
        share: f64,
    },
    /// A stroke of a wiping tool: points with their times.
    Wipe {
        /// The tool.
        tool: WipingTool,
        /// Points of the tool's middle on the solid, with times in s: x, y, z, t.
        path: Vec<[f64; 4]>,
        /// The solid's normal: the liquid is above it.
        normal: [f64; 3],
        /// Whether the tool has just been set down.
        #[serde(default)]
        begin: bool,
        /// Whether it is lifted at the end.
        #[serde(default)]
        end: bool,
    },
    /// Moves a solid by a distance, at constant velocity.
    Move {
        /// Index of the solid.
        solid: usize,
        /// By how much.
        by: [f64; 3],
        /// Within which time.
        duration: f64,
        /// Whether a gesture begins with it.
        #[serde(default)]
        begin: bool,
    },
    /// Another material of a solid; without any the scene's own.
    Material {
        /// Index of the solid.
        solid: usize,
        /// Name of a preset.
        #[serde(default)]
        preset: Option<String>,
        /// Advancing, wet advancing and receding contact angle.
        #[serde(default)]
        angles: Option<[f64; 3]>,
    },
    /// Places a source of liquid.
    Place {
        /// The source.
        source: Source,
    },
    /// Removes a placed source.
    Unplace {
        /// Its number.
        id: u32,
    },
    /// Another liquid, by the name of a preset; drops stay where they are.
    Liquid {
        /// Name of a preset.
        preset: String,
    },
    /// Another model of the same scene; drops stay where they are.
    Model {
        /// `pane`, `droplet`, `surface` or `volume`.
        name: String,
    },
    /// Another scene.
    Scene {
        /// Name to show.
        name: String,
        /// The scene file.
        text: String,
    },
    /// A model (.glb, .gltf, .obj, .stl, .ply) in the rain.
    Mesh {
        /// Name of the file.
        name: String,
        /// Its bytes, in base 64.
        data: String,
    },
    /// Back to before the last gesture.
    Undo,
    /// Back to the start.
    Reset,
}

impl Input {
    /// Whether the state before it is kept for [`Input::Undo`].
    pub fn begins_gesture(&self) -> bool {
        match self {
            Self::Add { begin, .. } | Self::Wipe { begin, .. } | Self::Move { begin, .. } => *begin,
            Self::Gravity { .. } | Self::Wind { .. } | Self::Rain { .. } | Self::Sources { .. } => false,
            Self::Take { .. } | Self::Material { .. } | Self::Place { .. } | Self::Unplace { .. } => true,
            // These replace the model, and with it all kept states; `Undo` and `Reset` use them.
            Self::Liquid { .. } | Self::Model { .. } | Self::Scene { .. } | Self::Mesh { .. } => false,
            Self::Undo | Self::Reset => false,
        }
    }
}

fn yes() -> bool {
    true
}
