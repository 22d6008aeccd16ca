//! Determinism: results for any number of threads and after restoring a saved state.

use super::common::{assert_valid, build, build_paper, cap, plane, run, sphere};
use sessile_model::{Model, NoTimer, StageValue};

fn scene() -> String {
    let mut text = plane([0.3, 1.0, 0.0], 90.0, 60.0);
    for i in 0..4 {
        text += &cap(6.0 + f64::from(i), 75.0, [5.0 * f64::from(i), 0.0, 0.0]);
        text += &sphere(0.8, [5.0 * f64::from(i) + 1.0, 3.5, 0.5], [0.0, -0.4, 0.0]);
    }
    text
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let states: Vec<Vec<u8>> = [1, 3]
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut model = build(&scene());
                run(&mut model, 0.05);
                model.save()
            })
        })
        .to_vec();
    assert!(states[0] == states[1]);
}

#[test]
fn a_restored_model_continues_bit_identically() {
    let mut straight = build(&scene());
    run(&mut straight, 0.02);
    let saved = straight.save();
    let mut resumed = build(&scene());
    resumed.restore(&saved).unwrap();
    for _ in 0..20 {
        straight.step(0.02, &mut NoTimer).unwrap();
        resumed.step(0.02, &mut NoTimer).unwrap();
    }
    assert!(straight.save() == resumed.save());
    assert!(resumed.restore(&saved[..saved.len() / 2]).is_err());
}

/// Growing drops on a window in reproduction mode, of which some slide.
fn growing() -> String {
    let mut text = plane([0.0, 0.0, 1.0], 90.0, 60.0);
    for i in 0..5 {
        let x = 6.0 * f64::from(i);
        text += &cap(0.8 + 0.8 * f64::from(i), 80.0, [x, 0.0, 0.0]);
        text += &format!("[[emitters]]\nkind = \"feed\"\nat = \"{x} 0 0.3 mm\"\nrate = \"0.3 uL/s\"\n");
    }
    text
}

#[test]
fn drops_in_a_steady_state_take_few_substeps_and_have_their_volume_at_every_frame() {
    let mut model = build_paper(&growing());
    let (mut substeps, mut steps) = (0, 0);
    for frame in 1..=30 {
        let end = f64::from(frame) / 30.0;
        while model.time() < end - 1e-9 {
            let report = model.step(end - model.time(), &mut NoTimer).unwrap();
            if frame > 15 {
                // Nothing is reported where all drops wait.
                let count = match report.stages.get("drops.substeps") {
                    Some(StageValue::Total(count)) => count,
                    _ => 0,
                };
                (substeps, steps) = (substeps + count, steps + model.drops().len() as u64);
            }
        }
        assert_valid(&model);
        assert!(model.drops().iter().all(|drop| drop.behind == 0.0), "a drop waits behind a frame");
    }
    assert!(5 * substeps < 2 * steps, "{substeps} substeps in {steps} steps of single drops");
}

#[test]
fn waiting_drops_are_part_of_the_state_and_do_not_depend_on_the_number_of_threads() {
    let frame = |model: &mut crate::SurfaceModel, end: f64, steps: usize| {
        for _ in 0..steps {
            if model.time() < end - 1e-9 {
                model.step(end - model.time(), &mut NoTimer).unwrap();
            }
        }
    };
    let played = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut model = build_paper(&growing());
            frame(&mut model, 0.3, 1000);
            // In the middle of a frame.
            frame(&mut model, 1.0 / 3.0, 8);
            model
        })
    });
    let [mut straight, other] = played;
    assert!(straight.save() == other.save(), "the state depends on the number of threads");
    assert!(straight.drops().iter().any(|drop| drop.behind > 0.0), "a drop waits");
    let mut resumed = build_paper(&growing());
    resumed.restore(&straight.save()).unwrap();
    for model in [&mut straight, &mut resumed] {
        frame(model, 1.0 / 3.0, 1000);
        frame(model, 0.4, 1000);
    }
    assert!(straight.save() == resumed.save(), "a restored model continues differently");
}
