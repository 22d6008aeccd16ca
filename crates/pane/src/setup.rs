//! Settings of the pane model from the scene.

use std::f64::consts::FRAC_PI_2;

use glam::{DVec2, DVec3};
use sessile_scene::{EmitterKind, Fidelity, Scene, SolidShape};
use sessile_wetting::{Liquid, SlidingLaw, cap, retention};
use sessile_world::World;

use crate::automaton::Weights;
use crate::error::PaneError;
use crate::frame::PaneFrame;
use crate::motion::Overrides;
use crate::parameters::{MAX_FINE, PARAMETERS, PASS_INTERVAL};
use crate::substrate::{CellLaws, Substrate};

/// Settings of the pane model.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Index of the plane among the scene's solids.
    pub solid: usize,
    /// Its name.
    pub name: String,
    /// Its finite extent, in m.
    pub size: DVec2,
    /// Side of a cell, in m.
    cell_size: f64,
    /// Fine spots along a cell's side.
    fine: u32,
    /// The liquid.
    pub liquid: Liquid,
    /// Coefficient of evaporation on the pane, in m²/s; `None` if nothing evaporates.
    pub evaporation: Option<f64>,
    /// Seed of the scene.
    pub seed: u64,
    /// Whether `time.settle` adds drag.
    pub settle: bool,
    /// Values that replace those derived in the physical mode.
    pub overrides: Overrides,
    /// Weights of the paper mode.
    pub weights: Weights,
    /// Time between two passes of the paper mode, in s.
    pub pass_interval: f64,
    /// Volume of a grain of dew, in m³.
    pub dew_grain: f64,
    /// Bounds of the domain, in m.
    domain: Option<[DVec3; 2]>,
    /// Wetting law at the pane's center.
    law: SlidingLaw,
}

impl Setup {
    /// Finds the pane and derives what the scene leaves open.
    pub fn new(scene: &Scene, world: &World) -> Result<Self, PaneError> {
        if scene.world.planar {
            return Err(PaneError::Planar);
        }
        let solid = find_plane(scene)?;
        let name = scene.solids[solid].name.clone();
        let frame = world.solids()[solid].plane_frame().ok_or(PaneError::NoPlane)?;
        let size = DVec2::from(frame.size);
        if scene.fidelity == Fidelity::Paper && world.gravity().dot(frame.v) > 0.0 {
            return Err(PaneError::UpsideDown { pane: name });
        }
        let liquid = scene.liquid;
        let law = SlidingLaw::new(&liquid, &world.solids()[solid].wetting_at(DVec2::splat(0.5)));
        let weights = weights(scene, &law, world.gravity().length())?;
        let (cell_size, fine) = grid(scene, size, &law, &weights, &name)?;
        reject_dew_elsewhere(scene, solid, &name)?;
        Ok(Self {
            solid,
            name,
            size,
            cell_size,
            fine,
            liquid,
            evaporation: world.evaporation_coefficients(liquid.density).map(|of_solids| of_solids[solid]),
            seed: scene.seed,
            settle: scene.time.settle,
            overrides: Overrides {
                static_weight: scene.pane.static_weight,
                dynamic_weight: scene.pane.dynamic_weight,
                residue: scene.pane.residue,
            },
            weights,
            pass_interval: scene.pane.pass.unwrap_or(PASS_INTERVAL),
            dew_grain: cap::volume(PARAMETERS.dew_grain_radius * cell_size, law.wetting.advancing),
            domain: scene.domain.as_ref().map(|domain| [domain.min, domain.max]),
            law,
        })
    }

    /// Replaces the wetting law at the pane's center.
    pub fn set_law(&mut self, law: SlidingLaw) {
        self.law = law;
    }

    /// The pane at the world's time.
    pub fn frame(&self, world: &World) -> PaneFrame {
        // `new` found a plane there, and a solid does not change its shape.
        PaneFrame::new(&world.solids()[self.solid].plane_frame().expect("the pane is a plane"))
    }

    /// The dry pane with its material.
    pub fn substrate(&self, world: &World) -> Substrate {
        let solid = &world.solids()[self.solid];
        Substrate::new(self.size, self.cell_size, self.fine, self.seed, |columns, rows| {
            if solid.wets_uniformly() {
                return CellLaws::uniform(self.law);
            }
            let center = |index: usize, count: usize| (index as f64 + 0.5) / count as f64;
            let centers =
                (0..columns * rows).map(|i| DVec2::new(center(i % columns, columns), center(i / columns, rows)));
            CellLaws::per_cell(&self.liquid, centers.map(|uv| solid.wetting_at(uv)))
        })
    }

    /// Base radius to which a ball spreads on impact at this normal speed (in m/s), in m.
    pub fn spread_radius(&self, volume: f64, speed: f64) -> f64 {
        self.law.spread_radius(&self.liquid, volume, speed)
    }

    /// Whether an airborne drop is lost: outside the domain or, without one, far below the pane.
    pub fn is_past(&self, center: DVec3, gravity: DVec3, frame: &PaneFrame) -> bool {
        if let Some([min, max]) = self.domain {
            return center.cmplt(min).any() || center.cmpgt(max).any();
        }
        let Some(down) = gravity.try_normalize() else { return false };
        let corners = [DVec2::ZERO, DVec2::X, DVec2::Y, DVec2::ONE].map(|c| frame.point_at(c * frame.size).dot(down));
        center.dot(down) > corners.into_iter().fold(f64::NEG_INFINITY, f64::max) + PARAMETERS.missed_by
    }
}

/// Index of the scene's only plane.
fn find_plane(scene: &Scene) -> Result<usize, PaneError> {
    let is_plane = |&i: &usize| matches!(scene.solids[i].shape, SolidShape::Plane { .. });
    let planes: Vec<usize> = (0..scene.solids.len()).filter(is_plane).collect();
    match planes[..] {
        [] => Err(PaneError::NoPlane),
        [only] => Ok(only),
        _ => Err(PaneError::SeveralPlanes { names: planes.iter().map(|&i| scene.solids[i].name.clone()).collect() }),
    }
}

fn reject_dew_elsewhere(scene: &Scene, pane: usize, name: &str) -> Result<(), PaneError> {
    let elsewhere = scene.emitters.iter().find_map(|emitter| match emitter.kind {
        EmitterKind::Dew { on, .. } if on != pane => Some(on),
        _ => None,
    });
    elsewhere.map_or(Ok(()), |on| {
        Err(PaneError::DewElsewhere { solid: scene.solids[on].name.clone(), pane: name.to_owned() })
    })
}

/// Side of a cell (in m) and number of fine spots along it.
fn grid(scene: &Scene, size: DVec2, law: &SlidingLaw, weights: &Weights, name: &str) -> Result<(f64, u32), PaneError> {
    let cell_size = scene.pane.cell.unwrap_or_else(|| match scene.fidelity {
        Fidelity::Physical => PARAMETERS.cell_size.min(size.min_element() / PARAMETERS.cells_along_shorter_side),
        // "A droplet will always be on one of the cells" (algan, §2): a cell is as wide as the drop
        // that is about to move.
        Fidelity::Paper => 2.0 * cap::base_radius(weights.static_critical, law.wetting.advancing),
    });
    let fine = scene.pane.fine.unwrap_or(PARAMETERS.fine);
    debug_assert!((1..=MAX_FINE).contains(&fine), "the scene's range of `pane.fine`");
    let [columns, rows] = [size.x, size.y].map(|length| (length / cell_size).ceil() as usize);
    if columns.saturating_mul(rows) > PARAMETERS.max_cells {
        let (pane, cell_mm) = (name.to_owned(), cell_size * 1e3);
        return Err(PaneError::TooManyCells { pane, cell_mm, columns, rows, most: PARAMETERS.max_cells });
    }
    Ok((cell_size, fine))
}

/// The paper's weights: as configured, else from the largest drop that the material retains on a
/// vertical pane.
fn weights(scene: &Scene, law: &SlidingLaw, gravity: f64) -> Result<Weights, PaneError> {
    let given = &scene.pane;
    let derived = || {
        let retained = retention::critical_volume(&scene.liquid, &law.wetting, gravity, FRAC_PI_2);
        // Without gravity everything is retained, and the weight does not matter.
        let retained = if retained.is_finite() { retained } else { 0.0 };
        retained.max(cap::volume(PARAMETERS.lightest_sliding_radius, law.wetting.advancing))
    };
    let static_critical = given.static_weight.unwrap_or_else(derived);
    let dynamic_critical = given.dynamic_weight.unwrap_or(PARAMETERS.dynamic_weight_share * static_critical);
    let residue = given.residue.unwrap_or(PARAMETERS.residue_share * static_critical);
    if static_critical >= dynamic_critical && dynamic_critical >= residue {
        Ok(Weights { static_critical, dynamic_critical, residue })
    } else {
        Err(PaneError::Weights { static_weight: static_critical, dynamic_weight: dynamic_critical, residue })
    }
}
