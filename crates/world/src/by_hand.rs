//! Changes of a world by hand: gravity, wind, materials and sources other than the scene's.
//!
//! They hold until they are taken back, and are part of the saved state: a run that continues from
//! a checkpoint continues with them.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_wetting::Wetting;

use crate::error::WorldError;
use crate::placed::Placed;
use crate::world::World;

/// What has been changed by hand.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ByHand {
    /// Gravity in place of the scene's, in m/s².
    pub gravity: Option<DVec3>,
    /// Wind in place of the scene's, in m/s.
    pub wind: Option<DVec3>,
    /// Whether the scene's sources are closed.
    pub sources_closed: bool,
    /// Uniform wetting of each solid in place of its material's; empty before the first change.
    pub wetting: Vec<Option<Wetting>>,
    /// Sources besides the scene's, by ascending number.
    pub placed: Vec<Placed>,
}

/// Largest gravity set by hand, in m/s²: a hundred times that of the Earth. Drops of a few
/// micrometers have Bond number 1 there, far below what a model resolves.
const MAX_GRAVITY: f64 = 1000.0;
/// Largest wind set by hand, in m/s; models neglect the compressibility of the air.
const MAX_WIND: f64 = 100.0;

impl World {
    /// Replaces the scene's gravity (in m/s²) from now on; `None` returns to it.
    pub fn set_gravity(&mut self, gravity: Option<DVec3>) -> Result<(), WorldError> {
        check_vector("gravity", gravity, MAX_GRAVITY, "m/s²")?;
        self.by_hand.gravity = gravity;
        self.advance_to(self.time());
        Ok(())
    }

    /// Replaces the scene's wind (in m/s) from now on; `None` returns to it.
    pub fn set_wind(&mut self, wind: Option<DVec3>) -> Result<(), WorldError> {
        check_vector("wind", wind, MAX_WIND, "m/s")?;
        self.by_hand.wind = wind;
        Ok(())
    }

    /// Closes or opens all sources of the scene.
    pub fn set_sources_open(&mut self, open: bool) {
        self.by_hand.sources_closed = !open;
    }

    /// Whether the sources of the scene are open.
    pub fn sources_open(&self) -> bool {
        !self.by_hand.sources_closed
    }

    /// Gives a solid a uniform wetting in place of its material's; `None` returns to the material.
    ///
    /// Models that keep data per place of a solid hear of it by `Model::set_material`.
    pub fn set_material(&mut self, solid: usize, wetting: Option<Wetting>) -> Result<(), WorldError> {
        let count = self.solids().len();
        if solid >= count {
            return Err(WorldError::NoSuchSolid { index: solid, count });
        }
        if let Some(wetting) = &wetting {
            check_wetting(wetting)?;
        }
        self.by_hand.wetting.resize(count, None);
        self.by_hand.wetting[solid] = wetting;
        self.apply_wetting();
        Ok(())
    }

    /// Whether a solid has another wetting than its material's.
    pub fn has_materials_by_hand(&self) -> bool {
        self.by_hand.wetting.iter().any(Option::is_some)
    }

    /// The wetting that a solid has in place of its material's.
    pub fn material_by_hand(&self, solid: usize) -> Option<Wetting> {
        self.by_hand.wetting.get(solid).copied().flatten()
    }

    /// Hands the wetting set by hand to the solids.
    pub(crate) fn apply_wetting(&mut self) {
        let Self { solids, by_hand, .. } = self;
        for (index, solid) in solids.iter_mut().enumerate() {
            solid.set_wetting_by_hand(by_hand.wetting.get(index).copied().flatten());
        }
    }
}

fn check_vector(what: &str, vector: Option<DVec3>, most: f64, unit: &str) -> Result<(), WorldError> {
    match vector {
        Some(vector) if !vector.is_finite() || vector.length() > most => Err(WorldError::ByHand {
            reason: format!("the {what} set by hand is at most {most} {unit}, not {:.3e} {unit}", vector.length()),
        }),
        _ => Ok(()),
    }
}

/// 0 < θ_r ≤ θ_a,wet ≤ θ_a < 180°, as in a scene.
fn check_wetting(wetting: &Wetting) -> Result<(), WorldError> {
    let Wetting { advancing, receding, wet_advancing, .. } = *wetting;
    let wet = wet_advancing.unwrap_or(advancing);
    if receding > 0.0 && receding <= wet && wet <= advancing && advancing < std::f64::consts::PI {
        return Ok(());
    }
    let [advancing, wet, receding] = [advancing, wet, receding].map(f64::to_degrees);
    Err(WorldError::ByHand {
        reason: format!(
            "contact angles must satisfy 0 < receding ({receding:.1}) <= wet advancing ({wet:.1}) <= advancing \
             ({advancing:.1}) < 180 degrees"
        ),
    })
}

#[cfg(test)]
mod tests {
    use glam::{DVec2, DVec3};
    use sessile_scene::{NoFiles, parse_str};
    use sessile_wetting::Wetting;

    use crate::World;

    fn world() -> World {
        let text = "model = \"pane\"\n[time]\nduration = \"1 s\"\nframe = \"0.1 s\"\n[world]\nwind = \"0 0 -3 m/s\"\n\
            [[solids]]\nname = \"window\"\nshape = \"plane\"\nnormal = [0, 0, 1]\nsize = \"300 400 mm\"\n\
            [[emitters]]\nkind = \"rain\"\nover = \"window\"\nrate = \"2000 mm/h\"\n";
        let scene = parse_str("window.toml", text, &[], &NoFiles).unwrap_or_else(|errors| panic!("{errors}")).scene;
        World::build(&scene).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn changes_by_hand_hold_are_saved_and_can_be_taken_back() {
        let mut world = world();
        let before = world.save();
        assert!(!world.emissions(0.0, 0.5).is_empty());
        world.set_gravity(Some(DVec3::new(3.0, -4.0, 0.0))).unwrap();
        world.set_wind(Some(DVec3::Z)).unwrap();
        world.set_sources_open(false);
        world.set_material(0, Some(Wetting::smooth(1.5, 1.0))).unwrap();
        world.advance_to(0.3);
        let changed = |world: &World| {
            assert_eq!((world.gravity(), world.wind()), (DVec3::new(3.0, -4.0, 0.0), DVec3::Z));
            assert_eq!(world.solids()[0].wetting_at(DVec2::ZERO).advancing, 1.5);
            assert!(world.emissions(0.3, 0.8).is_empty());
        };
        changed(&world);
        let saved = world.save();
        world.restore(&before).unwrap();
        assert_eq!((world.gravity().y, world.wind()), (-9.8, DVec3::NEG_Z * 3.0));
        assert!(world.solids()[0].wetting_at(DVec2::ZERO).advancing != 1.5 && world.sources_open());
        world.restore(&saved).unwrap();
        changed(&world);
        world.set_gravity(None).unwrap();
        assert_eq!(world.gravity().y, -9.8);
    }

    #[test]
    fn values_that_no_scene_may_have_are_refused() {
        let mut world = world();
        assert!(world.set_gravity(Some(DVec3::NAN)).is_err() && world.set_wind(Some(DVec3::INFINITY)).is_err());
        assert!(
            world.set_gravity(Some(DVec3::splat(1e200))).is_err() && world.set_wind(Some(DVec3::X * 101.0)).is_err()
        );
        let error = world.set_gravity(Some(DVec3::Y * 1e9)).unwrap_err().to_string();
        assert!(error.contains("at most 1000 m/s²") && error.contains("1.000e9"), "{error}");
        world.set_gravity(Some(DVec3::NEG_Y * 1000.0)).unwrap();
        assert!(world.set_material(0, Some(Wetting::smooth(1.0, 1.5))).is_err());
        assert!(world.set_material(1, None).is_err());
    }
}
