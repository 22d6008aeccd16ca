//! The pane and droplet models on the same slope: both must start drops at the same volume and move
//! them alike.

use sessile_droplet::DropletModel;
use sessile_model::{Model, NoTimer};
use sessile_pane::Pane;
use sessile_scene::{NoFiles, parse_str};
use sessile_wetting::table::ShapeTable;
use sessile_wetting::{Liquid, Wetting, retention};
use sessile_world::World;

/// A cap of `volume` (in µL) near the top of a slope of 3 m, with contact angles and tilt in
/// degrees.
struct Slope {
    advancing: f64,
    receding: f64,
    tilt: f64,
    volume: f64,
}

impl Slope {
    fn scene(&self, model: &str) -> String {
        let Self { advancing, receding, tilt, volume } = *self;
        let (sin, cos) = tilt.to_radians().sin_cos();
        // 1.4 m up the slope from its center.
        let (y, z) = (1400.0 * sin, -1400.0 * cos);
        format!(
            "model = \"{model}\"\n[time]\nduration = \"2 s\"\nframe = \"0.1 s\"\n\
             [materials.m]\nadvancing = \"{advancing} deg\"\nreceding = \"{receding} deg\"\n\
             [[solids]]\nname = \"slope\"\nmaterial = \"m\"\nshape = \"plane\"\nnormal = [0, {cos}, {sin}]\nsize = \"40 3000 mm\"\n\
             [[drops]]\nshape = \"cap\"\non = \"slope\"\ncenter = \"0 {y} {z} mm\"\nvolume = \"{volume} uL\"\n\
             contact_angle = \"{advancing} deg\"\n"
        )
    }

    /// The drop's speed (in m/s) in each model after `times` seconds.
    fn speeds(&self, times: &[f64]) -> [Vec<f64>; 2] {
        ["pane", "droplet"].map(|name| {
            let scene = parse_str("slope.toml", &self.scene(name), &[], &NoFiles).expect("the scene is valid").scene;
            let world = World::build(&scene).expect("the world is built");
            let mut model: Box<dyn Model> = if name == "pane" {
                Box::new(Pane::new(&scene, world).expect("the pane accepts the scene"))
            } else {
                Box::new(DropletModel::new(&scene, world).expect("the droplet model accepts the scene"))
            };
            let mut speed_at = |time: f64| {
                while model.time() < time - 1e-9 {
                    model.step(time - model.time(), &mut NoTimer).expect("the step succeeds");
                }
                model.frame().drops.first().map_or(f64::NAN, |drop| drop.velocity.length())
            };
            times.iter().map(|&time| speed_at(time)).collect()
        })
    }
}

#[test]
fn both_models_start_a_drop_at_the_same_volume() {
    for (advancing, receding) in [(90.0_f64, 60.0_f64), (50.0, 20.0), (113.0, 92.0)] {
        for tilt in [20.0_f64, 60.0] {
            let wetting = Wetting::smooth(advancing.to_radians(), receding.to_radians());
            let (table, water) = (ShapeTable::shared(), Liquid::water());
            let critical = retention::critical_volume_at_rest(table, &water, &wetting, 9.8, tilt.to_radians(), 1.0);
            let slides = |share: f64| {
                let slope = Slope { advancing, receding, tilt, volume: share * critical * 1e9 };
                slope.speeds(&[0.2]).map(|speeds| speeds[0] > 0.0)
            };
            assert_eq!(slides(0.98), [false; 2], "{advancing}/{receding} at {tilt}°: pane and droplet stick");
            assert_eq!(slides(1.02), [true; 2], "{advancing}/{receding} at {tilt}°: pane and droplet slide");
        }
    }
}

/// While it accelerates and at its terminal speed; no trail is left at these angles.
#[test]
fn both_models_move_a_drop_at_the_same_speed() {
    for (advancing, receding, volume) in [(80.0, 58.0, 50.0), (113.0, 92.0, 50.0), (113.0, 92.0, 30.0)] {
        let slope = Slope { advancing, receding, tilt: 75.0, volume };
        let [pane, droplet] = slope.speeds(&[0.05, 0.15, 0.4, 1.0]);
        for (pane, droplet) in pane.iter().zip(&droplet) {
            assert!(
                (pane / droplet - 1.0).abs() < 0.02,
                "{advancing}/{receding}, {volume} µL: pane {pane:.4} m/s, droplet {droplet:.4} m/s"
            );
        }
    }
}
