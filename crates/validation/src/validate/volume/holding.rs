//! Lines that hold and lines that move: hysteresis on slopes, and drops fed and drained.

use glam::{DQuat, DVec3};
use sessile_wetting::{Wetting, capillary, retention};

use super::stage::{Basics, GRAVITY, Stage, WATER, ball_radius, cap, material, plane};
use super::{Axis, CaseContext, CaseError, CaseResult, Check, Mark, Plot, Series, Tolerance};

/// A slope that descends along +x, tilted by so many degrees: its normal, and the way down it.
fn slope(degrees: f64) -> (DVec3, DVec3) {
    let (sin, cos) = degrees.to_radians().sin_cos();
    (DVec3::new(sin, cos, 0.0), DVec3::new(cos, -sin, 0.0))
}

/// Both ends of the wetted part along `down`, of the largest drop.
fn ends(stage: &Stage, down: DVec3) -> Result<[f64; 2], CaseError> {
    stage.wetted_extent(stage.largest_drop()?.id, down)
}

/// A planar drop on a slope of 45° of 90°/60°, `factor` times the largest that stays.
pub(super) fn planar(context: &CaseContext, factor: f64) -> Result<CaseResult, CaseError> {
    let (advancing, receding, tilt) = (90.0f64, 60.0f64, 45.0f64);
    let wetting = Wetting::smooth(advancing.to_radians(), receding.to_radians());
    let area = factor * retention::critical_area_planar(&WATER, &wetting, GRAVITY, tilt.to_radians());
    let radius = (area / std::f64::consts::PI).sqrt();
    let cell = 2.0 * radius / if context.quick { 16.0 } else { 25.0 };
    let (normal, down) = slope(tilt);
    let text = material(advancing, receding) + &plane(normal) + &cap(area, true, 0.5 * (advancing + receding));
    let mut stage = Basics::new(cell).planar().stage(&text)?;
    let start = ends(&stage, down)?;
    let (mut fronts, mut backs) = (vec![(0.0, 0.0)], vec![(0.0, 0.0)]);
    let frames = 20;
    let time = if context.quick { 0.2 } else { 0.5 };
    for _ in 0..frames {
        stage.run(time / f64::from(frames))?;
        let [back, front] = ends(&stage, down)?;
        backs.push((1e3 * stage.time(), (back - start[0]) / radius));
        fronts.push((1e3 * stage.time(), (front - start[1]) / radius));
        // It runs, and need not be followed for meters.
        if backs.last().is_some_and(|(_, way)| *way > 6.0) {
            break;
        }
    }
    // A cell in the last tenth of the time is more than any creep.
    let moved = |points: &[(f64, f64)]| points[points.len() - 1].1 - points[points.len() - 3].1;
    let slides = moved(&backs) > 0.02 && moved(&fronts) > 0.02;
    let largest = backs.iter().chain(&fronts).map(|(_, way)| way.abs()).fold(0.0, f64::max);
    let mut checks = vec![if factor > 1.0 {
        Check::holds("both contact points move down in the end", slides)
    } else {
        Check::holds("it stays", !slides)
    }];
    if factor < 1.0 {
        // From 75° all round to what holds it, the front may advance and settle; it is not to creep.
        checks.push(Check::at_most("way of either end in all, in radii", "", 0.5, largest));
        checks.push(Check::at_most(
            "way in the last tenth of the time, in radii",
            "",
            0.01,
            moved(&backs).abs().max(moved(&fronts).abs()),
        ));
    }
    let plot = Plot {
        title: format!("Ends of a planar drop of {factor} times the area that stays"),
        x: Axis::linear("time (ms)"),
        y: Axis::linear("way down over radius"),
        series: vec![Series::new("front", Mark::Line, fronts), Series::new("back", Mark::Line, backs)],
    };
    Ok(CaseResult { checks, plots: vec![plot] })
}

/// A drop on a wall of 90°/30°, deposited as the level drop at 90°.
pub(super) fn wall(context: &CaseContext, volume: f64, slides: bool) -> Result<CaseResult, CaseError> {
    let radius = ball_radius(volume);
    let cell = 2.0 * radius / if context.quick { 14.0 } else { 20.0 };
    let down = DVec3::NEG_Y;
    let text = material(90.0, 30.0) + &plane(DVec3::X) + &cap(volume, false, 90.0);
    let mut stage = Basics::new(cell).stage(&text)?;
    let start = ends(&stage, down)?;
    let base = 0.5 * (start[1] - start[0]);
    let (mut backs, mut fronts) = (vec![(0.0, 0.0)], vec![(0.0, 0.0)]);
    for _ in 0..25 {
        stage.run(0.02)?;
        let [back, front] = ends(&stage, down)?;
        backs.push((1e3 * stage.time(), (back - start[0]) / base));
        fronts.push((1e3 * stage.time(), (front - start[1]) / base));
        if backs.last().is_some_and(|(_, way)| *way > 3.0) {
            break;
        }
    }
    let (way, before) = (backs[backs.len() - 1].1, backs[backs.len() - 2].1);
    let got = way > 0.5 && way - before > 1e-3;
    let mut checks = vec![if slides {
        Check::holds("the rear has moved down more than half a base radius and still moves", got)
    } else {
        Check::holds("the rear has not run down", !got)
    }];
    if !slides {
        checks.push(Check::at_most("way of the rear, in base radii", "", 0.1, way));
    }
    let plot = Plot {
        title: "Ends of a drop on a wall of 90°/30°".into(),
        x: Axis::linear("time (ms)"),
        y: Axis::linear("way down over base radius"),
        series: vec![Series::new("front", Mark::Line, fronts), Series::new("back", Mark::Line, backs)],
    };
    Ok(CaseResult { checks, plots: vec![plot] })
}

/// A cap of 75° on a pane of 90°/60°, gravity turned from its normal into it within 0.3 s; the pane at an angle to the cells.
pub(super) fn turned(context: &CaseContext, microliters: f64, tilt: f64, runs: bool) -> Result<CaseResult, CaseError> {
    let volume = 1e-9 * microliters;
    let turn = DQuat::from_axis_angle(DVec3::new(0.4, 0.0, 1.0).normalize(), tilt.to_radians());
    let (normal, down) = (turn * DVec3::Y, turn * DVec3::X);
    let cell = 2.0 * ball_radius(volume) / if context.quick { 14.0 } else { 20.0 };
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
    let mut stage = Stage::new(&text)?;
    let start = ends(&stage, down)?;
    let radius = 0.5 * (start[1] - start[0]);
    let (mut backs, mut fronts) = (vec![(0.0, 0.0)], vec![(0.0, 0.0)]);
    // Least and largest angle, added up over the frames in which its back goes the first radius: the faster a front, the steeper it is.
    let (mut angles, mut frames) = ([0.0; 2], 0.0);
    for look in 1..=200 {
        stage.run(0.005)?;
        let drop = stage.largest_drop()?;
        let [back, front] = stage.wetted_extent(drop.id, down)?;
        backs.push((1e3 * stage.time(), back - start[0]));
        fronts.push((1e3 * stage.time(), front - start[1]));
        if let Some(range) = drop.contact_angle_deg.filter(|_| (0.1..1.0).contains(&((back - start[0]) / radius))) {
            angles = [angles[0] + range.min, angles[1] + range.max];
            frames += 1.0;
        }
        if look % 4 == 0 {
            (context.say)(&format!(
                "{:.0} ms: back {:.3} mm, front {:.3} mm",
                1e3 * stage.time(),
                1e3 * (back - start[0]),
                1e3 * (front - start[1])
            ));
        }
        if runs && back - start[0] > 2.0 * radius {
            break;
        }
    }
    let largest = |points: &[(f64, f64)]| points.iter().map(|(_, way)| way.abs()).fold(0.0, f64::max);
    let angle = |what: &str, expected, got| Check::value(what, "°", expected, got, Tolerance::Absolute(3.0));
    let checks = if runs {
        vec![
            Check::at_least("way of the back, in base radii", "", 2.0, backs[backs.len() - 1].1 / radius),
            angle("angle at the front (largest along the line), mean while it begins to run", 90.0, angles[1] / frames),
            angle("angle at the back (least along the line), mean while it begins to run", 60.0, angles[0] / frames),
        ]
    } else {
        vec![
            Check::at_most("way of the back, in cells", "", 1.0, largest(&backs) / cell),
            Check::at_most("way of the front, in cells", "", 1.0, largest(&fronts) / cell),
        ]
    };
    let scaled = |points: Vec<(f64, f64)>| points.into_iter().map(|(t, way)| (t, 1e3 * way)).collect();
    let plot = Plot {
        title: format!("Ends of {microliters} µL on a pane of 90°/60° at {tilt}° to the cells"),
        x: Axis::linear("time (ms)"),
        y: Axis::linear("way down (mm)"),
        series: vec![Series::new("front", Mark::Line, scaled(fronts)), Series::new("back", Mark::Line, scaled(backs))],
    };
    Ok(CaseResult { checks, plots: vec![plot] })
}

/// A drop fed to 20 µL and drained on 90°/40°.
pub(super) fn cycle(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let (full, start) = (20e-9, 8e-9);
    let wetting = Wetting::smooth(90.0f64.to_radians(), 40.0f64.to_radians());
    let theory = capillary::hysteresis_cycle(&WATER, &wetting, full, GRAVITY).ok_or("no such drop")?;
    let cell = 2.0 * ball_radius(full) / if context.quick { 16.0 } else { 22.0 };
    // Slowly, against the drop's own time of 8 ms: the line lags behind a faster drain.
    let (fill, drain) = (0.06, 0.96);
    let rates = [(0.0, fill, (full - start) / fill), (fill, fill + drain, -(full - 3e-9) / drain)];
    let feeds = rates.map(|(from, to, rate)| {
        format!(
            "[[emitters]]\nkind = \"feed\"\nat = \"0 0.6 0 mm\"\nrate = \"{} uL/s\"\nstart = \"{from} s\"\nstop = \"{to} s\"\n",
            1e9 * rate
        )
    });
    let text = material(90.0, 40.0) + &plane(DVec3::Y) + &cap(start, false, 88.0) + &feeds.concat();
    let mut stage = Basics::new(cell).settling().stage(&text)?;
    stage.run(fill)?;
    let base = stage.only_drop()?.base_radius;
    let mut points = Vec::new();
    let mut let_go = f64::NAN;
    for _ in 0..192 {
        stage.run(drain / 192.0)?;
        let drop = stage.only_drop()?;
        points.push((1e9 * drop.volume, 1e3 * drop.base_radius));
        if drop.base_radius < 0.98 * base {
            let_go = drop.volume;
            break;
        }
    }
    let checks = vec![
        Check::value("base radius when full", "mm", 1e3 * theory.base_radius, 1e3 * base, Tolerance::Relative(0.03)),
        Check::value(
            "volume at which the line lets go",
            "µL",
            1e9 * theory.depinning_volume,
            1e9 * let_go,
            Tolerance::Relative(0.12),
        ),
    ];
    let plot = Plot {
        title: "Base radius while the drop is drained".into(),
        x: Axis::linear("volume (µL)"),
        y: Axis::linear("base radius (mm)"),
        series: vec![Series::new("volume", Mark::Line, points)],
    };
    Ok(CaseResult { checks, plots: vec![plot] })
}
