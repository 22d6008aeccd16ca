//! Pinned and moving contact lines: hysteresis on slopes, and drops that are fed and drained.

use glam::{DQuat, DVec3};
use sessile_numerics::sphere_radius;
use sessile_wetting::{Wetting, capillary, retention};

use super::simulation::{Basics, GRAVITY, Simulation, WATER, cap, material, plane};
use super::{
    Axis, Case, CaseContext, CaseError, CaseResult, Check, Mark, Plot, Series, Tolerance, quick, slow, validation,
};

const ROTATING_GRAVITY: &str = "A cap of 75° on a pane of 90°/60°; gravity rotates from the pane's normal into the pane within 0.3 s and stays to \
                                1 s. Expected: 5 and 8 µL stay, the contact line within a cell; 30 µL slide, with the advancing angle at the front \
                                and the receding angle at the rear.";

pub(super) fn cases() -> Vec<Case> {
    vec![
        quick(
            "tilt2d-90-60-45-stick",
            "A planar drop of 0.85 of the largest area retained on a slope of 45° (exact: γ(cos θr − cos θa)/ρg sin α). Expected: it stays.",
            |context| planar(context, 0.85),
        ),
        quick(
            "tilt2d-90-60-45-slide",
            "A planar drop of 1.15 of the largest area retained on a slope of 45°. Expected: it slides.",
            |context| planar(context, 1.15),
        ),
        validation(
            "tilt-90-30-vertical-stick",
            "12.2 µL on a wall of 90°/30°, below the smallest of the published limits. Expected: they stay.",
            |context| wall(context, 12.2e-9, false),
        ),
        validation(
            "tilt-90-30-vertical-slide",
            "88.2 µL on a wall of 90°/30°, above the largest of the published limits. Expected: they slide.",
            |context| wall(context, 88.2e-9, true),
        ),
        slow("retention-90-60-5", ROTATING_GRAVITY, |context| rotating_gravity(context, 5.0, 0.0, false)),
        slow("retention-90-60-8", ROTATING_GRAVITY, |context| rotating_gravity(context, 8.0, 0.0, false)),
        slow("retention-90-60-30", ROTATING_GRAVITY, |context| rotating_gravity(context, 30.0, 0.0, true)),
        slow("retention-90-60-8-at-17", ROTATING_GRAVITY, |context| rotating_gravity(context, 8.0, 17.0, false)),
        slow("retention-90-60-30-at-17", ROTATING_GRAVITY, |context| rotating_gravity(context, 30.0, 17.0, true)),
        slow(
            "static-front-paper",
            "Reproduction mode: 5 µL on a vertical pane of 90°/60° for 0.5 s, where fronts slower than 1, 7 and 50 mm/s count as static. \
             Expected: once gravity has set in, both ends of the contact line stay within a twentieth of a cell; 30 µL slide.",
            static_front,
        ),
        slow(
            "hysteresis-20-90-40",
            "A drop is fed to 20 µL and drained. Expected: it grows at 90°, and its contact line depins at the volume at which 40° is reached.",
            cycle,
        ),
    ]
}

/// Normal and downhill direction of a slope that descends along +x, tilted by `degrees`.
fn slope(degrees: f64) -> (DVec3, DVec3) {
    let (sin, cos) = degrees.to_radians().sin_cos();
    (DVec3::new(sin, cos, 0.0), DVec3::new(cos, -sin, 0.0))
}

/// Both ends of the wetted part of the largest drop along `down`, in m.
fn ends(simulation: &Simulation, down: DVec3) -> Result<[f64; 2], CaseError> {
    simulation.wetted_extent(simulation.largest_drop()?.id, down)
}

/// A planar drop on a slope of 45° of 90°/60°, `factor` times the largest that stays.
fn planar(context: &CaseContext, factor: f64) -> Result<CaseResult, CaseError> {
    let (advancing, receding, tilt) = (90.0f64, 60.0f64, 45.0f64);
    let wetting = Wetting::smooth(advancing.to_radians(), receding.to_radians());
    let area = factor * retention::critical_area_planar(&WATER, &wetting, GRAVITY, tilt.to_radians());
    let radius = (area / std::f64::consts::PI).sqrt();
    let cell = 2.0 * radius / if context.quick { 16.0 } else { 25.0 };
    let (normal, down) = slope(tilt);
    let text = material(advancing, receding) + &plane(normal) + &cap(area, true, 0.5 * (advancing + receding));
    let mut simulation = Basics::new(cell).planar().simulation(&text)?;
    let start = ends(&simulation, down)?;
    let (mut fronts, mut rears) = (vec![(0.0, 0.0)], vec![(0.0, 0.0)]);
    let frames = 20;
    let time = if context.quick { 0.2 } else { 0.5 };
    for _ in 0..frames {
        simulation.run(time / f64::from(frames))?;
        let [rear, front] = ends(&simulation, down)?;
        rears.push((1e3 * simulation.time(), (rear - start[0]) / radius));
        fronts.push((1e3 * simulation.time(), (front - start[1]) / radius));
        // It slides; the outcome is known.
        if rears.last().is_some_and(|(_, way)| *way > 6.0) {
            break;
        }
    }
    // A cell in the last tenth of the time is more than any creep.
    let moved = |points: &[(f64, f64)]| points[points.len() - 1].1 - points[points.len() - 3].1;
    let slides = moved(&rears) > 0.02 && moved(&fronts) > 0.02;
    let largest = rears.iter().chain(&fronts).map(|(_, way)| way.abs()).fold(0.0, f64::max);
    let mut checks = vec![if factor > 1.0 {
        Check::holds("both contact points finally move down", slides)
    } else {
        Check::holds("it stays", !slides)
    }];
    if factor < 1.0 {
        // From 75° all round the front may advance until it is pinned, but must not creep.
        checks.push(Check::at_most("total displacement of either end, in radii", "", 0.5, largest));
        checks.push(Check::at_most(
            "displacement in the last tenth of the time, in radii",
            "",
            0.01,
            moved(&rears).abs().max(moved(&fronts).abs()),
        ));
    }
    let plot = Plot {
        title: format!("Contact points of a planar drop of {factor} times the critical area"),
        x: Axis::linear("time (ms)"),
        y: Axis::linear("displacement over radius"),
        series: vec![Series::new("front", Mark::Line, fronts), Series::new("rear", Mark::Line, rears)],
    };
    Ok(CaseResult { checks, plots: vec![plot] })
}

/// A drop on a wall of 90°/30°, deposited as the level drop at 90°.
fn wall(context: &CaseContext, volume: f64, slides: bool) -> Result<CaseResult, CaseError> {
    let radius = sphere_radius(volume);
    let cell = 2.0 * radius / if context.quick { 14.0 } else { 20.0 };
    let down = DVec3::NEG_Y;
    let text = material(90.0, 30.0) + &plane(DVec3::X) + &cap(volume, false, 90.0);
    let mut simulation = Basics::new(cell).simulation(&text)?;
    let start = ends(&simulation, down)?;
    let base = 0.5 * (start[1] - start[0]);
    let (mut rears, mut fronts) = (vec![(0.0, 0.0)], vec![(0.0, 0.0)]);
    for _ in 0..25 {
        simulation.run(0.02)?;
        let [rear, front] = ends(&simulation, down)?;
        rears.push((1e3 * simulation.time(), (rear - start[0]) / base));
        fronts.push((1e3 * simulation.time(), (front - start[1]) / base));
        if rears.last().is_some_and(|(_, way)| *way > 3.0) {
            break;
        }
    }
    let (way, before) = (rears[rears.len() - 1].1, rears[rears.len() - 2].1);
    let got = way > 0.5 && way - before > 1e-3;
    let mut checks = vec![if slides {
        Check::holds("the rear has moved down more than half a base radius and still moves", got)
    } else {
        Check::holds("the rear does not slide", !got)
    }];
    if !slides {
        checks.push(Check::at_most("displacement of the rear, in base radii", "", 0.1, way));
    }
    let plot = Plot {
        title: "Ends of a drop on a wall of 90°/30°".into(),
        x: Axis::linear("time (ms)"),
        y: Axis::linear("displacement over base radius"),
        series: vec![Series::new("front", Mark::Line, fronts), Series::new("rear", Mark::Line, rears)],
    };
    Ok(CaseResult { checks, plots: vec![plot] })
}

/// A cap of 75° on a pane of 90°/60°, gravity rotated from its normal into it within 0.3 s; the
/// pane at an angle to the grid.
fn rotating_gravity(context: &CaseContext, microliters: f64, tilt: f64, slides: bool) -> Result<CaseResult, CaseError> {
    let volume = 1e-9 * microliters;
    let turn = DQuat::from_axis_angle(DVec3::new(0.4, 0.0, 1.0).normalize(), tilt.to_radians());
    let (normal, down) = (turn * DVec3::Y, turn * DVec3::X);
    let cell = 2.0 * sphere_radius(volume) / if context.quick { 14.0 } else { 20.0 };
    let keys = (0..=12).map(|key| {
        let (sin, cos) = (f64::from(key) / 12.0 * std::f64::consts::FRAC_PI_2).sin_cos();
        let g = GRAVITY * (sin * down - cos * normal);
        format!("{{ at = \"{} ms\", value = \"{} {} {} m/s^2\" }}", 25 * key, g.x, g.y, g.z)
    });
    let text = format!(
        "model = \"volume\"\n[time]\nduration = \"2 s\"\nframe = \"20 ms\"\n[resolution]\ncell = \"{cell} m\"\n[world]\ngravity = [{}]\n{}{}{}",
        keys.collect::<Vec<_>>().join(", "),
        material(90.0, 60.0),
        plane(normal),
        cap(volume, false, 75.0)
    );
    let mut simulation = Simulation::new(&text)?;
    let start = ends(&simulation, down)?;
    let radius = 0.5 * (start[1] - start[0]);
    let (mut rears, mut fronts) = (vec![(0.0, 0.0)], vec![(0.0, 0.0)]);
    // Smallest and largest angle, summed over the frames in which its rear slides the first radius:
    // the angle of the front increases with speed.
    let (mut angles, mut frames) = ([0.0; 2], 0.0);
    for sample in 1..=200 {
        simulation.run(0.005)?;
        let drop = simulation.largest_drop()?;
        let [rear, front] = simulation.wetted_extent(drop.id, down)?;
        rears.push((1e3 * simulation.time(), rear - start[0]));
        fronts.push((1e3 * simulation.time(), front - start[1]));
        if let Some(range) = drop.contact_angle_deg.filter(|_| (0.1..1.0).contains(&((rear - start[0]) / radius))) {
            angles = [angles[0] + range.min, angles[1] + range.max];
            frames += 1.0;
        }
        if sample % 4 == 0 {
            (context.report)(&format!(
                "{:.0} ms: rear {:.3} mm, front {:.3} mm",
                1e3 * simulation.time(),
                1e3 * (rear - start[0]),
                1e3 * (front - start[1])
            ));
        }
        if slides && rear - start[0] > 2.0 * radius {
            break;
        }
    }
    let largest = |points: &[(f64, f64)]| points.iter().map(|(_, way)| way.abs()).fold(0.0, f64::max);
    let angle = |what: &str, expected, got| Check::value(what, "°", expected, got, Tolerance::Absolute(3.0));
    let checks = if slides {
        vec![
            Check::at_least("displacement of the rear, in base radii", "", 2.0, rears[rears.len() - 1].1 / radius),
            angle("front angle (largest along the line), mean while it starts to slide", 90.0, angles[1] / frames),
            angle("rear angle (smallest along the line), mean while it starts to slide", 60.0, angles[0] / frames),
        ]
    } else {
        vec![
            Check::at_most("displacement of the rear, in cells", "", 1.0, largest(&rears) / cell),
            Check::at_most("displacement of the front, in cells", "", 1.0, largest(&fronts) / cell),
        ]
    };
    let scaled = |points: Vec<(f64, f64)>| points.into_iter().map(|(t, way)| (t, 1e3 * way)).collect();
    let plot = Plot {
        title: format!("Ends of {microliters} µL on a pane of 90°/60° at {tilt}° to the grid"),
        x: Axis::linear("time (ms)"),
        y: Axis::linear("displacement (mm)"),
        series: vec![Series::new("front", Mark::Line, scaled(fronts)), Series::new("rear", Mark::Line, scaled(rears))],
    };
    Ok(CaseResult { checks, plots: vec![plot] })
}

/// Drops of the paper's operators on a vertical pane of 90°/60°, at any speed below which a front
/// counts as static.
fn static_front(_: &CaseContext) -> Result<CaseResult, CaseError> {
    const CELL: f64 = 0.3e-3;
    let down = DVec3::NEG_Y;
    let drop = |static_speed: f64, volume: f64| {
        let keys = format!("[volume]\nstatic_speed = \"{static_speed} m/s\"\n");
        let text = keys + &material(90.0, 60.0) + &plane(DVec3::X) + &cap(volume, false, 75.0);
        Basics::new(CELL).reproduction().simulation(&text)
    };
    // Displacements of rear and front within `seconds`, in cells.
    let displacements = |simulation: &mut Simulation, seconds: f64| -> Result<[f64; 2], CaseError> {
        let before = ends(simulation, down)?;
        simulation.run(seconds)?;
        let after = ends(simulation, down)?;
        Ok([(after[0] - before[0]) / CELL, (after[1] - before[1]) / CELL])
    };
    let mut checks = Vec::new();
    for static_speed in [1e-3, 7e-3, 50e-3] {
        let at = format!("at {} mm/s", 1e3 * static_speed);
        let mut held = drop(static_speed, 5e-9)?;
        let largest = |ways: [f64; 2]| ways[0].abs().max(ways[1].abs());
        let (first, then) = (displacements(&mut held, 0.1)?, displacements(&mut held, 0.4)?);
        checks.push(Check::at_most(format!("{at}: either end within 0.1 s, in cells"), "", 0.5, largest(first)));
        checks.push(Check::at_most(format!("{at}: either end from 0.1 to 0.5 s, in cells"), "", 0.05, largest(then)));
        let [_, front] = displacements(&mut drop(static_speed, 30e-9)?, 0.1)?;
        checks.push(Check::at_least(format!("{at}: front of 30 µL within 0.1 s, in cells"), "", 3.0, front));
    }
    Ok(CaseResult { checks, plots: Vec::new() })
}

/// A drop fed to 20 µL and drained on 90°/40°.
fn cycle(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let (full, start) = (20e-9, 8e-9);
    let wetting = Wetting::smooth(90.0f64.to_radians(), 40.0f64.to_radians());
    let theory = capillary::hysteresis_cycle(&WATER, &wetting, full, GRAVITY).ok_or("no such drop")?;
    let cell = 2.0 * sphere_radius(full) / if context.quick { 16.0 } else { 22.0 };
    // Slow compared with the inertial-capillary time of 8 ms: the contact line lags behind a faster
    // drain.
    let (fill, drain) = (0.06, 0.96);
    let rates = [(0.0, fill, (full - start) / fill), (fill, fill + drain, -(full - 3e-9) / drain)];
    let feeds = rates.map(|(from, to, rate)| {
        format!(
            "[[emitters]]\nkind = \"feed\"\nat = \"0 0.6 0 mm\"\nrate = \"{} uL/s\"\nstart = \"{from} s\"\nstop = \"{to} s\"\n",
            1e9 * rate
        )
    });
    let text = material(90.0, 40.0) + &plane(DVec3::Y) + &cap(start, false, 88.0) + &feeds.concat();
    let mut simulation = Basics::new(cell).settling().simulation(&text)?;
    simulation.run(fill)?;
    let base = simulation.only_drop()?.base_radius;
    let mut points = Vec::new();
    let mut let_go = f64::NAN;
    for _ in 0..192 {
        simulation.run(drain / 192.0)?;
        let drop = simulation.only_drop()?;
        points.push((1e9 * drop.volume, 1e3 * drop.base_radius));
        if drop.base_radius < 0.98 * base {
            let_go = drop.volume;
            break;
        }
    }
    let checks = vec![
        Check::value("base radius when full", "mm", 1e3 * theory.base_radius, 1e3 * base, Tolerance::Relative(0.03)),
        Check::value(
            "volume at which the contact line depins",
            "µL",
            1e9 * theory.depinning_volume,
            1e9 * let_go,
            Tolerance::Relative(0.12),
        ),
    ];
    let plot = Plot {
        title: "Base radius while draining".into(),
        x: Axis::linear("volume (µL)"),
        y: Axis::linear("base radius (mm)"),
        series: vec![Series::new("volume", Mark::Line, points)],
    };
    Ok(CaseResult { checks, plots: vec![plot] })
}
