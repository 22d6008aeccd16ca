//! The droplet model under a hand: views, added and wiped liquid, materials.

use std::time::Instant;

use crate::support::{cap, model, run, slope};
use glam::DVec3;
use sessile_droplet::DropletModel;
use sessile_model::{DROP_STRIDE, Model, Region, Stroke, Tool, View};
use sessile_wetting::Wetting;
use sessile_world::random::Stream;

fn view(model: &DropletModel) -> View {
    let mut view = View::default();
    model.view(&mut view);
    view
}

fn two_droplets() -> DropletModel {
    let drops = cap("plane", 6.0, 80.0, [0.0, 0.0, 0.0]) + &cap("plane", 4.0, 80.0, [0.0, 0.0, 20.0]);
    model("", &(slope(90.0, 60.0, 0.0, [80.0, 80.0]) + &drops))
}

/// Present + film + lost − added, in m³.
fn excess(model: &DropletModel) -> f64 {
    let balance = model.balance();
    model.volume() + balance.lost - balance.added
}

#[test]
fn a_view_of_ten_thousand_droplets_takes_milliseconds() {
    let mut model = model("", &slope(90.0, 60.0, 90.0, [80.0, 80.0]));
    let mut random = Stream::new(1, &[]);
    for _ in 0..10_000 {
        let mut side = || (random.uniform() - 0.5) * 0.08;
        model.add_droplet(DVec3::new(0.0, side(), side()), DVec3::ZERO, 1e-13);
    }
    let mut shown = view(&model);
    let best = (0..20).map(|_| {
        let start = Instant::now();
        model.view(&mut shown);
        start.elapsed().as_secs_f64()
    });
    let best = best.fold(f64::INFINITY, f64::min);
    println!("a view of {} droplets takes {:.3} ms", shown.num_drops(), 1e3 * best);
    assert!(best < 10e-3, "{best} s");
}

#[test]
fn a_wipe_takes_droplets_and_the_balance_records_it() {
    let mut model = two_droplets();
    run(&mut model, 0.05);
    let before = model.balance().added;
    let stroke =
        Stroke { from: DVec3::X * -0.01, to: DVec3::X * 0.01, duration: 0.1, tool: Tool::Finger { radius: 5e-3 } };
    let taken = model.wipe(&stroke).expect("the plane can be wiped");
    assert_eq!(model.num_droplets(), 1, "the droplet beside the track stays");
    assert!((5e-9..6.01e-9).contains(&taken), "{taken:e} m³ are on the finger");
    assert!((before - model.balance().added - taken).abs() < 1e-18 && excess(&model).abs() < 1e-15);
    run(&mut model, 0.1);
    assert!(excess(&model).abs() < 1e-15);
}

#[test]
fn liquid_is_added_fed_and_taken_with_the_balance() {
    let mut model = two_droplets();
    model.add(DVec3::X * 0.01, DVec3::ZERO, 2e-9).expect("it is added");
    model.add(DVec3::ZERO, DVec3::ZERO, 1e-9).expect("it feeds the droplet there");
    model.add(DVec3::Y * 0.02, DVec3::ZERO, 1e-9).expect("it flies");
    assert_eq!((model.num_droplets(), model.num_airborne()), (4, 1));
    assert!(excess(&model).abs() < 1e-15);
    run(&mut model, 0.2);
    let taken = model.take(&Region { center: DVec3::ZERO, radius: 0.1 }, 0.5).expect("liquid can be taken");
    assert!((taken - 7e-9).abs() < 1e-13, "{taken:e}");
    assert!(excess(&model).abs() < 1e-15);
}

#[test]
fn another_material_changes_contact_angles_and_is_part_of_the_state() {
    let mut model = two_droplets();
    run(&mut model, 0.05);
    let angle = |model: &DropletModel| f64::from(view(model).drops[17]).to_degrees();
    let (before, saved) = (angle(&model), model.save());
    model.set_material(0, Some(Wetting::smooth(30f64.to_radians(), 10f64.to_radians()))).expect("it is set");
    run(&mut model, 0.1);
    let (after, changed) = (angle(&model), model.save());
    assert!(before > 70.0 && after < 35.0, "{before}° then {after}°");
    model.restore(&saved).expect("the state is restored");
    model.add(DVec3::X * 0.01, DVec3::ZERO, 2e-9).expect("it is added");
    let last = |model: &DropletModel| f64::from(view(model).drops[2 * DROP_STRIDE + 17]).to_degrees();
    assert!(last(&model) > 70.0, "{}°", last(&model));
    model.restore(&changed).expect("the state is restored");
    model.add(DVec3::X * 0.012, DVec3::ZERO, 2e-9).expect("it is added");
    assert!(last(&model) < 35.0, "{}°", last(&model));
}
