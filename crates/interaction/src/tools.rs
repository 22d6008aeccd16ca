//! Tools, sources and materials as a page names them.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_model::Tool;
use sessile_wetting::{Wetting, material_preset};
use sessile_world::PlacedSource;

/// A wiping tool as the page names it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum WipingTool {
    /// A fingertip.
    Finger {
        /// Radius, in m.
        radius: f64,
    },
    /// A wiper blade.
    Blade {
        /// From its middle to one end, in m.
        half: [f64; 3],
    },
}

/// A source of liquid as the page names it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Source {
    /// A drop at regular intervals.
    Drip {
        /// Center of each drop.
        at: [f64; 3],
        /// Its radius.
        radius: f64,
        /// Time between two drops.
        every: f64,
    },
    /// A needle in a drop.
    Feed {
        /// Its tip.
        at: [f64; 3],
        /// Volume per time, in m³/s; negative drains.
        rate: f64,
    },
    /// A jet.
    Tap {
        /// Center of the outlet.
        at: [f64; 3],
        /// Unit vector along the jet.
        direction: [f64; 3],
        /// Radius of the outlet.
        radius: f64,
        /// Speed, in m/s.
        speed: f64,
    },
    /// Rain onto a solid.
    Rain {
        /// Index of the solid.
        over: usize,
        /// Depth per time on a level surface, in m/s.
        rate: f64,
        /// Smallest and largest radius of the drops.
        radius: [f64; 2],
        /// Velocity of the drops, in m/s.
        velocity: [f64; 3],
    },
    /// Condensation on a solid.
    Dew {
        /// Index of the solid.
        on: usize,
        /// Volume per area and time, in m/s.
        rate: f64,
    },
}

impl Source {
    /// The source as a world has it.
    pub fn placed(&self) -> PlacedSource {
        match *self {
            Self::Drip { at, radius, every } => {
                PlacedSource::Drip { at: at.into(), radius, every, velocity: DVec3::ZERO }
            }
            Self::Feed { at, rate } => PlacedSource::Feed { at: at.into(), rate },
            Self::Tap { at, direction, radius, speed } => {
                let direction = DVec3::from(direction).normalize_or_zero();
                PlacedSource::Tap { at: at.into(), direction, radius, speed }
            }
            Self::Rain { over, rate, radius, velocity } => {
                PlacedSource::Rain { over, rate, radius, velocity: velocity.into() }
            }
            Self::Dew { on, rate } => PlacedSource::Dew { on, rate },
        }
    }
}

impl From<WipingTool> for Tool {
    fn from(tool: WipingTool) -> Self {
        match tool {
            WipingTool::Finger { radius } => Self::Finger { radius },
            WipingTool::Blade { half } => Self::Blade { half: DVec3::from(half) },
        }
    }
}

/// The wetting that a material input names; `None` for the scene's own.
pub fn wetting(preset: Option<&str>, angles: Option<[f64; 3]>) -> Result<Option<Wetting>, String> {
    let mut wetting = match preset {
        Some(name) => Some(material_preset(name).ok_or_else(|| format!("there is no material `{name}`"))?.wetting),
        None => None,
    };
    if let Some(angles) = angles {
        let [advancing, wet, receding] = angles.map(f64::to_radians);
        let base = wetting.unwrap_or_else(|| Wetting::smooth(advancing, receding));
        let wet_advancing = (wet < advancing).then_some(wet);
        wetting = Some(Wetting { advancing, receding, wet_advancing, ..base });
    }
    Ok(wetting)
}
