//! Volume balance of a run with all sources and sinks.

use sessile_frames::{Event, Frame};

use super::simulation::{Angles, Simulation, cap, tilted};
use super::{Axis, CaseContext, CaseError, CaseResult, Check, Mark, Plot, Series};

fn busy_scene(fidelity: &str) -> String {
    let material = Angles::new(50.0, 15.0).keys() + "wet_advancing = \"25 deg\"";
    tilted(&format!("seed = 5\nfidelity = \"{fidelity}\""), 80.0, [60.0, 90.0], &material)
        + "[[emitters]]\nkind = \"rain\"\nover = \"pane\"\nrate = \"400 mm/h\"\nvelocity = \"0 -3 -2 m/s\"\n\
           [[emitters]]\nkind = \"dew\"\non = \"pane\"\nrate = \"500 uL/m^2/s\"\n\
           [[emitters]]\nkind = \"tap\"\nat = \"-10 45 20 mm\"\ndirection = [0, 0, -1]\nradius = \"0.3 mm\"\nspeed = \"0.4 m/s\"\n\
           [[emitters]]\nkind = \"feed\"\nat = \"5 10 0 mm\"\nrate = \"8 uL/s\"\n\
           [[emitters]]\nkind = \"feed\"\nat = \"12 20 0 mm\"\nrate = \"-2 uL/s\"\n"
        + &cap(30.0, 40.0, [12.0, 20.0, 4.0])
}

fn present(frame: &Frame) -> f64 {
    frame.drops.iter().map(|drop| drop.volume).sum::<f64>() + frame.balance.film
}

pub(super) fn balance(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    for fidelity in ["physical", "paper"] {
        (context.report)(fidelity);
        let mut simulation = Simulation::new(&busy_scene(fidelity))?;
        let (mut worst, mut merges, mut splits) = (0.0_f64, 0_u32, 0_u32);
        let (mut added, mut there, mut lost) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..60 {
            let events = simulation.run(0.1)?;
            merges += events.iter().filter(|event| matches!(event, Event::Merge { .. })).count() as u32;
            splits += events.iter().filter(|event| matches!(event, Event::Split { .. })).count() as u32;
            let frame = simulation.frame();
            let (here, balance) = (present(&frame), &frame.balance);
            worst = worst.max(((here + balance.lost - balance.added) / balance.added).abs());
            added.push((simulation.time(), balance.added * 1e9));
            there.push((simulation.time(), here * 1e9));
            lost.push((simulation.time(), balance.lost * 1e9));
        }
        // Rounding errors of 1e-16 in some ten thousand sums, of either sign.
        result.checks.push(Check::at_most(
            format!("{fidelity}: largest |present + lost − added| / added"),
            "",
            1e-12,
            worst,
        ));
        let ran_off = lost.last().map_or(0.0, |&(_, volume)| volume);
        result.checks.push(Check::at_least(format!("{fidelity}: run off"), "µL", 100.0, ran_off));
        result.checks.push(Check::at_least(format!("{fidelity}: merges"), "", 100.0, f64::from(merges)));
        result.checks.push(Check::at_least(format!("{fidelity}: splits"), "", 10.0, f64::from(splits)));
        result.plots.push(Plot {
            title: format!("Water on the pane, {fidelity}"),
            x: Axis::linear("time (s)"),
            y: Axis::linear("volume (µL)"),
            series: vec![
                Series::new("added", Mark::Expected, added),
                Series::new("on the pane and in the air", Mark::Line, there),
                Series::new("lost", Mark::Line, lost),
            ],
        });
    }
    Ok(result)
}
