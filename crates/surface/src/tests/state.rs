//! Determinism: results for any number of threads and after restoring a saved state.

use super::common::{build, cap, plane, run, sphere};
use sessile_model::{Model, NoTimer};

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
