//! Random materials, liquids, tilts, winds and motions: no panic, no lost volume, no number that is
//! not finite.

use crate::support::{imbalance, instances, pane, run};
use sessile_model::Model;
use sessile_world::random::Stream;

fn scene(seed: u64) -> String {
    let mut random = Stream::new(seed, &[]);
    let mut pick = |low: f64, high: f64| random.uniform_in(low, high);
    let advancing = pick(3.0, 178.0);
    let receding = advancing * pick(0.05, 1.0);
    let wet = receding + (advancing - receding) * pick(0.0, 1.0);
    let (tilt, turn) = (pick(0.0, 180.0_f64).to_radians(), pick(0.0, std::f64::consts::TAU));
    let normal = [tilt.sin() * turn.cos(), tilt.cos(), tilt.sin() * turn.sin()];
    let liquid = ["water", "ethanol", "honey", "mercury", "glycerol-60"][(pick(0.0, 5.0)) as usize];
    let wind = [pick(-10.0, 10.0), pick(-10.0, 10.0), pick(-10.0, 10.0)];
    let fidelity = if pick(0.0, 1.0) < 0.3 { "paper" } else { "physical" };
    let (cell, fine) = (pick(0.2, 3.0), pick(1.0, 5.99) as u32);
    let inward = normal.map(|n| -2.0 * n);
    let radii = [pick(0.05, 0.5), pick(0.5, 2.5)];
    let motion = if pick(0.0, 1.0) < 0.4 {
        format!(
            "motion = [{{ at = \"0 s\" }}, {{ at = \"0.5 s\", move = \"{} 5 0 mm\", rotate = \"{} 0 {} deg\" }}]\n",
            pick(-20.0, 20.0),
            pick(-90.0, 90.0),
            pick(-90.0, 90.0)
        )
    } else {
        String::new()
    };
    format!(
        "model = \"pane\"\nfidelity = \"{fidelity}\"\nseed = {seed}\n[time]\nduration = \"1 s\"\nframe = \"0.05 s\"\n\
         [liquid]\npreset = \"{liquid}\"\n[world]\nwind = \"{} {} {} m/s\"\n[pane]\ncell = \"{cell} mm\"\nfine = {fine}\n\
         [materials.m]\nadvancing = \"{advancing} deg\"\nwet_advancing = \"{wet} deg\"\nreceding = \"{receding} deg\"\n\
         [[solids]]\nname = \"pane\"\nmaterial = \"m\"\nshape = \"plane\"\nnormal = [{}, {}, {}]\nsize = \"30 50 mm\"\n{motion}\
         [[emitters]]\nkind = \"rain\"\nover = \"pane\"\nrate = \"40 um/s\"\nvelocity = \"{} {} {} m/s\"\nradius = {{ min = \"{} mm\", max = \"{} mm\" }}\n\
         [[emitters]]\nkind = \"dew\"\non = \"pane\"\nrate = \"2000 uL/m^2/s\"\n\
         [[emitters]]\nkind = \"feed\"\nat = \"1 1 0 mm\"\nrate = \"50 uL/s\"\n\
         [[emitters]]\nkind = \"feed\"\nat = \"-3 2 0 mm\"\nrate = \"-20 uL/s\"\n",
        wind[0], wind[1], wind[2], normal[0], normal[1], normal[2], inward[0], inward[1], inward[2], radii[0], radii[1]
    )
}

#[test]
fn random_scenes_conserve_volume_and_stay_finite() {
    for seed in 0..16 {
        let text = scene(seed);
        let mut pane = pane(&text);
        for _ in 0..5 {
            run(&mut pane, 0.1);
            let frame = pane.frame();
            let off = imbalance(&frame);
            assert!(off.abs() < 1e-9, "the volume balance is off by {off:e}\n{text}");
            for drop in instances(&frame) {
                assert!(
                    drop.volume > 0.0 && drop.velocity.is_finite() && drop.frame.origin.is_finite(),
                    "{drop:?}\n{text}"
                );
            }
            let surface = frame.liquid.into_surface().unwrap_or_else(|wrong| panic!("{wrong}\n{text}"));
            assert!(surface.positions.iter().all(|p| p.is_finite()), "{text}");
        }
    }
}
