//! Retention, speed and direction of sliding drops, compared with the laws of the wetting crate.

use crate::support::{cap, instances, pane, run, tilted};
use sessile_model::Model;
use sessile_wetting::table::ShapeTable;
use sessile_wetting::{Liquid, Wetting, retention, sliding};

const WATER: Liquid = Liquid::water();

fn wetting(advancing: f64, receding: f64) -> Wetting {
    Wetting::smooth(advancing.to_radians(), receding.to_radians())
}

fn angles(advancing: f64, receding: f64) -> String {
    format!("advancing = \"{advancing} deg\"\nreceding = \"{receding} deg\"")
}

/// Furmidge's balance with the Young–Laplace width: 3 % below the critical volume it sticks, 3 %
/// above it slides.
#[test]
fn a_drop_slides_just_above_its_critical_volume_and_sticks_just_below() {
    for (advancing, receding) in [(90.0, 60.0), (50.0, 15.0), (110.0, 90.0)] {
        for tilt in [15.0, 45.0, 90.0_f64] {
            let law = wetting(advancing, receding);
            let critical = 1e9
                * retention::critical_volume_at_rest(ShapeTable::shared(), &WATER, &law, 9.8, tilt.to_radians(), 1.0);
            let moved = |share: f64| {
                let scene =
                    tilted(tilt, &angles(advancing, receding), "") + &cap(share * critical, advancing, [0.0; 3]);
                let mut pane = pane(&scene);
                let start = instances(&pane.frame())[0].frame.origin;
                run(&mut pane, 0.5);
                instances(&pane.frame()).first().map_or(f64::INFINITY, |drop| drop.frame.origin.distance(start))
            };
            let (below, above) = (moved(0.97), moved(1.03));
            assert_eq!(below, 0.0, "{advancing}/{receding} at {tilt}°: {critical:.2} µL × 0.97 moved");
            assert!(above > 1e-4, "{advancing}/{receding} at {tilt}°: {critical:.2} µL × 1.03 moved {above:e} m only");
        }
    }
}

/// A heavy drop slides straight, so its speed is that of the balance of weight, retention and
/// friction.
#[test]
fn a_heavy_drop_reaches_the_steady_speed() {
    for (advancing, receding, volume) in [(80.0, 58.0, 50.0), (113.0, 92.0, 50.0)] {
        // 3 m long and so steep that impurities do not turn the drop, which starts near the top.
        let slide = tilted(75.0, &angles(advancing, receding), "").replace("40 80 mm", "40 3000 mm");
        let mut pane = pane(&(slide + &cap(volume, advancing, [0.0, 1400.0, -375.0])));
        run(&mut pane, 1.2);
        let frame = pane.frame();
        let drop = frame.drops[0];
        let law = wetting(advancing, receding);
        let shape = ShapeTable::shared()
            .rest_shape(drop.volume, law.advancing, 9.8 * 75f64.to_radians().cos(), &WATER)
            .expect("a sessile drop");
        let width = 2.0 * shape.base_radius;
        let drive = WATER.density * drop.volume * 9.8 * 75f64.to_radians().sin();
        let steady = sliding::steady_speed(&WATER, &law, width, drive, 0.0, None);
        let share = drop.speed_max / steady;
        assert!((0.98..1.01).contains(&share), "{advancing}/{receding}: {share:.3} of the steady {steady:.3} m/s");
    }
}

/// Wind adds to gravity as a vector, and moves a drop that gravity alone does not.
#[test]
fn wind_pushes_drops_sideways() {
    let displacement = |wind: &str| {
        let scene = tilted(90.0, &angles(90.0, 60.0), "")
            + &format!("[world]\nwind = \"{wind}\"\n")
            + &cap(12.0, 90.0, [0.0; 3]);
        let mut pane = pane(&scene);
        let start = instances(&pane.frame())[0].frame.origin;
        run(&mut pane, 0.2);
        instances(&pane.frame())[0].frame.origin - start
    };
    assert_eq!(displacement("0 0 0 m/s").length(), 0.0, "12 µL stick in still air");
    let blown = displacement("9 0 0 m/s");
    assert!(blown.x > 1e-4 && blown.y < 0.0, "{blown}");
}

/// Positions of one drop while it is on the pane.
fn path_of(pane: &mut sessile_pane::Pane, id: u32, seconds: f64) -> Vec<glam::DVec3> {
    let mut path = Vec::new();
    for _ in 0..(seconds / 0.005) as usize {
        run(pane, 0.005);
        path.extend(
            instances(&pane.frame()).iter().filter(|d| d.drop == id && d.solid.is_some()).map(|d| d.frame.origin),
        );
    }
    path
}

/// On a material with wetting history a second drop that starts 3 mm beside the first, its edge on
/// the first one's path, is attracted to it. Without the history it takes another path.
#[test]
fn a_second_drop_follows_the_first_ones_path() {
    let mean_gap = |memory: &str| {
        let drip = |x: f64, start: f64| {
            format!(
                "[[emitters]]\nkind = \"drip\"\nat = \"{x} 37 5 mm\"\nradius = \"1.7 mm\"\nevery = \"100 s\"\n\
                 velocity = \"0 0 -0.05 m/s\"\nstart = \"{start} s\"\n"
            )
        };
        let scene = tilted(90.0, &(angles(90.0, 60.0) + memory), "") + &drip(0.0, 0.0) + &drip(3.0, 2.0);
        let mut pane = pane(&scene);
        let (first, second) = (path_of(&mut pane, 1, 2.0), path_of(&mut pane, 2, 2.0));
        assert!(first.len() > 20 && second.len() > 20, "both slide: {} and {} positions", first.len(), second.len());
        let x_at = |path: &[glam::DVec3], y: f64| {
            let near = path.iter().min_by(|a, b| (a.y - y).abs().total_cmp(&(b.y - y).abs()));
            near.map_or(f64::NAN, |p| p.x)
        };
        let gaps = (0..8).map(|i| -0.005 - 0.0035 * f64::from(i)).map(|y| (x_at(&first, y) - x_at(&second, y)).abs());
        gaps.sum::<f64>() / 8.0
    };
    let (with, without) = (mean_gap("\nwet_advancing = \"62 deg\""), mean_gap(""));
    assert!(with < 1.5e-3, "with wetting history the paths are {:.2} mm apart on average", with * 1e3);
    assert!(without > 2.0 * with, "without it {:.2} mm, with it {:.2} mm", without * 1e3, with * 1e3);
}

/// A level pane is rotated upright through the model interface, and the drop on it starts to slide.
#[test]
fn a_drop_slides_when_its_pane_is_rotated_upright() {
    let scene = tilted(0.0, &angles(90.0, 60.0), "") + &cap(30.0, 90.0, [0.0; 3]);
    let mut pane = pane(&scene);
    run(&mut pane, 0.2);
    assert_eq!(pane.frame().drops[0].speed_max, 0.0, "level, it sticks");
    let upright = glam::DMat3::from_rotation_x(90f64.to_radians());
    let pose = sessile_world::Pose::about(glam::DVec3::ZERO, upright, glam::DVec3::ZERO);
    pane.world_mut().move_solid(0, pose).expect("there is a solid 0");
    run(&mut pane, 0.1);
    let velocity = pane.frame().drops[0].velocity;
    assert!(velocity.y < -0.05 && velocity.z.abs() < 1e-6, "upright, it slides down: {velocity}");
}

/// A level pane is shaken along itself with a sin ωt, much slower than a drop relaxes: the drop on
/// it slides where a exceeds Furmidge's retention over its mass.
#[test]
fn a_shaken_pane_throws_its_drop_off_at_the_acceleration_of_its_retention() {
    let (volume, omega) = (6e-9, std::f64::consts::TAU * 5.0);
    let law = Wetting::smooth(90f64.to_radians(), 60f64.to_radians());
    let rest = ShapeTable::shared().rest_shape(volume, law.advancing, 9.8, &Liquid::water()).expect("it lies");
    let water = Liquid::water();
    let retained = retention::retention_force(&water, &law, 2.0 * rest.base_radius, 1.0) / (water.density * volume);
    let slides = |acceleration: f64| {
        let key = |k: u32| {
            let phase = omega * 1e-3 * f64::from(k);
            let shift = 1e3 * acceleration * (phase - phase.sin()) / (omega * omega);
            format!("{{ at = \"{k} ms\", move = \"{shift} 0 0 mm\" }},\n")
        };
        let keys: String = (0..=100).map(key).collect();
        let motion = format!("motion = [\n{keys}]\ninterpolation = \"smooth\"\n");
        let mut pane = pane(&(tilted(0.0, &angles(90.0, 60.0), "") + &motion + &cap(6.0, 90.0, [0.0; 3])));
        (0..90).any(|_| {
            run(&mut pane, 1e-3);
            pane.num_sliding() > 0
        })
    };
    assert!(!slides(0.97 * retained), "it is retained at 0.97 of {retained} m/s²");
    assert!(slides(1.03 * retained), "it slides at 1.03 of {retained} m/s²");
}
