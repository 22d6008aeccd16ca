//! What a scene says about the pane, resolved once.

use std::f64::consts::FRAC_PI_2;

use glam::{DVec2, DVec3};
use sessile_scene::{EmitterKind, Fidelity, Scene, SolidShape};
use sessile_wetting::{Liquid, cap, retention};
use sessile_world::World;

use crate::automaton::Weights;
use crate::error::PaneError;
use crate::ground::{Ground, MOST_FINE};
use crate::laws::{CellLaw, spread_radius};
use crate::motion::Overrides;
use crate::sheet::Sheet;

/// Cells at most: a word for wetted spots and a number for film each make 1 GB.
const MOST_CELLS: usize = 1 << 26;
/// Default cell side of the physical form, in m: well below the drops that run on most solids.
const CELL: f64 = 1e-3;
/// … and no more than this share of the pane's shorter side.
const CELLS_ALONG_SHORTER_SIDE: f64 = 64.0;
/// Default fine spots along a cell's side.
const FINE: u32 = 4;
/// Base radius of a grain of dew, in cells.
const DEW_GRAIN: f64 = 0.15;
/// The paper's form, where the scene says nothing: a moving drop stops at this share of the static critical weight, …
const DYNAMIC_SHARE: f64 = 0.5;
/// … and leaves this share of it in every cell.
const RESIDUE_SHARE: f64 = 0.05;
/// Base radius of the lightest drop that the paper's form lets run by default, in m; for solids without hysteresis.
const LIGHTEST_RUNNER: f64 = 0.5e-3;

/// The scene's word on the pane.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Index of the plane among the scene's solids.
    pub solid: usize,
    /// Its name.
    pub name: String,
    /// Its drawn extent, in m.
    pub size: DVec2,
    /// Side of a cell, in m.
    pub cell: f64,
    /// Fine spots along a cell's side.
    pub fine: u32,
    /// The liquid.
    pub liquid: Liquid,
    /// Of the scene.
    pub seed: u64,
    /// Whether drag is added.
    pub settle: bool,
    /// Knobs that replace what the physical form derives.
    pub overrides: Overrides,
    /// The paper's form's weights.
    pub weights: Weights,
    /// Time between two passes of the paper's form, in s.
    pub pass_interval: f64,
    /// Volume of a grain of dew, in m³.
    pub dew_grain: f64,
    /// Bounds of space, in m.
    domain: Option<[DVec3; 2]>,
    /// The law in the pane's middle.
    law: CellLaw,
}

impl Setup {
    /// Finds the pane and derives what the scene leaves open.
    pub fn new(scene: &Scene, world: &World) -> Result<Self, PaneError> {
        if scene.world.planar {
            return Err(PaneError::Planar);
        }
        let planes: Vec<usize> =
            (0..scene.solids.len()).filter(|&i| matches!(scene.solids[i].shape, SolidShape::Plane { .. })).collect();
        let solid = match planes[..] {
            [] => return Err(PaneError::NoPlane),
            [only] => only,
            _ => {
                let names = planes.iter().map(|&i| scene.solids[i].name.clone()).collect();
                return Err(PaneError::SeveralPlanes { names });
            }
        };
        let name = scene.solids[solid].name.clone();
        let frame = world.solids()[solid].plane_frame().ok_or(PaneError::NoPlane)?;
        let size = DVec2::from(frame.size);
        if scene.fidelity == Fidelity::Paper && world.gravity().dot(frame.v) > 0.0 {
            return Err(PaneError::UpsideDown { pane: name });
        }
        let liquid = scene.liquid;
        let law = CellLaw::new(&liquid, &world.solids()[solid].wetting_at(DVec2::splat(0.5)));
        let weights = weights(scene, &law, world.gravity().length())?;
        let cell = scene.pane.cell.unwrap_or_else(|| match scene.fidelity {
            Fidelity::Physical => CELL.min(size.min_element() / CELLS_ALONG_SHORTER_SIDE),
            // "A droplet will always be on one of the cells" (algan, §2): a cell holds the drop that is about to run.
            Fidelity::Paper => 2.0 * cap::base_radius(weights.static_critical, law.advancing),
        });
        let fine = scene.pane.fine.unwrap_or(FINE);
        if fine == 0 || fine > MOST_FINE {
            return Err(PaneError::Fine { fine, most: MOST_FINE });
        }
        let [columns, rows] = [size.x, size.y].map(|length| (length / cell).ceil() as usize);
        if columns.saturating_mul(rows) > MOST_CELLS {
            return Err(PaneError::TooManyCells { pane: name, cell_mm: cell * 1e3, columns, rows, most: MOST_CELLS });
        }
        if let Some(other) = scene.emitters.iter().find_map(|emitter| match emitter.kind {
            EmitterKind::Dew { on, .. } if on != solid => Some(on),
            _ => None,
        }) {
            return Err(PaneError::DewElsewhere { solid: scene.solids[other].name.clone(), pane: name });
        }
        Ok(Self {
            solid,
            name,
            size,
            cell,
            fine,
            liquid,
            seed: scene.seed,
            settle: scene.time.settle,
            overrides: Overrides {
                static_weight: scene.pane.static_weight,
                dynamic_weight: scene.pane.dynamic_weight,
                residue: scene.pane.residue,
            },
            weights,
            pass_interval: scene.time.frame,
            dew_grain: cap::volume(DEW_GRAIN * cell, law.advancing),
            domain: scene.domain.as_ref().map(|domain| [domain.min, domain.max]),
            law,
        })
    }

    /// The pane at the world's time.
    pub fn sheet(&self, world: &World) -> Sheet {
        // `new` found a plane there, and a solid does not change its shape.
        Sheet::new(&world.solids()[self.solid].plane_frame().expect("the pane is a plane"))
    }

    /// Dry ground with the pane's material.
    pub fn ground(&self, world: &World) -> Ground {
        let solid = &world.solids()[self.solid];
        Ground::new(self.size, self.cell, self.fine, self.seed, |columns, rows| {
            if solid.wets_uniformly() {
                return vec![self.law];
            }
            let middle = |index: usize, count: usize| (index as f64 + 0.5) / count as f64;
            let cells =
                (0..columns * rows).map(|i| DVec2::new(middle(i % columns, columns), middle(i / columns, rows)));
            cells.map(|uv| CellLaw::new(&self.liquid, &solid.wetting_at(uv))).collect()
        })
    }

    /// Base radius to which a ball spreads when it hits the pane at this speed, in m.
    pub fn spread_radius(&self, volume: f64, speed: f64) -> f64 {
        spread_radius(&self.liquid, volume, speed, self.law.advancing)
    }

    /// Whether a ball has left the scene: out of the domain, or past the pane by more than `by`, in m.
    pub fn is_past(&self, center: DVec3, gravity: DVec3, sheet: &Sheet, by: f64) -> bool {
        if let Some([min, max]) = self.domain {
            return center.cmplt(min).any() || center.cmpgt(max).any();
        }
        let Some(down) = gravity.try_normalize() else { return false };
        let corners = [DVec2::ZERO, DVec2::X, DVec2::Y, DVec2::ONE].map(|c| sheet.point_at(c * sheet.size).dot(down));
        center.dot(down) > corners.into_iter().fold(f64::NEG_INFINITY, f64::max) + by
    }
}

/// The paper's weights: as configured, else from the drop that the material just holds on a vertical pane.
fn weights(scene: &Scene, law: &CellLaw, gravity: f64) -> Result<Weights, PaneError> {
    let knobs = &scene.pane;
    let derived = || {
        let held = retention::critical_volume(&scene.liquid, &law.wetting, gravity, FRAC_PI_2);
        // Without gravity everything is held; then any weight is as good as another.
        let held = if held.is_finite() { held } else { 0.0 };
        held.max(cap::volume(LIGHTEST_RUNNER, law.advancing))
    };
    let static_critical = knobs.static_weight.unwrap_or_else(derived);
    let dynamic_critical = knobs.dynamic_weight.unwrap_or(DYNAMIC_SHARE * static_critical);
    let residue = knobs.residue.unwrap_or(RESIDUE_SHARE * static_critical);
    if static_critical >= dynamic_critical && dynamic_critical >= residue {
        Ok(Weights { static_critical, dynamic_critical, residue })
    } else {
        Err(PaneError::Weights { static_weight: static_critical, dynamic_weight: dynamic_critical, residue })
    }
}
