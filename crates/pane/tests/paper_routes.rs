//! Motion between two cells and the fine grid along it, in the reproduction mode.

use crate::support;
use glam::DVec3;
use sessile_frames::WetMap;
use sessile_model::{Model, NoTimer};
use sessile_pane::Pane;
use sessile_shapes::Shape;

/// A drop that moves straight down or diagonally (the affinity is uniform, ties are broken by
/// impurities) on cells of 4 mm with 5 × 5 fine spots.
fn pane(frame: f64, pass: f64, seed: u32) -> Pane {
    let text = format!(
        "model = \"pane\"\nfidelity = \"paper\"\nseed = {seed}\n[time]\nduration = \"2 s\"\nframe = \"{frame} s\"\n\
         [materials.m]\nadvancing = \"80 deg\"\nreceding = \"40 deg\"\naffinity = 0.5\n\
         [[solids]]\nname = \"pane\"\nmaterial = \"m\"\nshape = \"plane\"\nnormal = [0, 0, 1]\nsize = \"60 80 mm\"\n\
         [pane]\ncell = \"4 mm\"\nfine = 5\nstatic_weight = \"4 uL\"\ndynamic_weight = \"2 uL\"\n\
         residue = \"0.1 uL\"\npass = \"{pass} s\"\n\
         [[drops]]\nshape = \"cap\"\non = \"pane\"\ncenter = \"1 30 0 mm\"\nvolume = \"6 uL\"\n"
    );
    support::pane(&text)
}

fn run(pane: &mut Pane, until: f64, interval: f64) {
    while until - pane.time() > 1e-9 {
        let limit = (until - pane.time()).min(interval);
        pane.step(limit, &mut NoTimer).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// Position of the largest drop.
fn largest(pane: &Pane) -> DVec3 {
    let frame = pane.frame();
    let index = (0..frame.drops.len()).max_by(|&a, &b| frame.drops[a].volume.total_cmp(&frame.drops[b].volume));
    frame.positions[index.expect("a drop")]
}

fn wet_map(pane: &Pane) -> WetMap {
    pane.frame().wet.into_iter().next().expect("a wet map")
}

/// Steps of a tenth of the pass: 0.4 mm straight down, 0.57 mm diagonally.
#[test]
fn a_drop_moves_evenly_between_two_cells() {
    let mut pane = pane(0.01, 0.1, 1);
    run(&mut pane, 0.1 + 1e-9, 0.01);
    let mut before = largest(&pane);
    for k in 11..60 {
        run(&mut pane, 0.01 * f64::from(k) + 1e-9, 0.01);
        let now = largest(&pane);
        let down = before.y - now.y;
        assert!((down - 0.4e-3).abs() < 1e-6, "at {} s: {down} m down", pane.time());
        assert!((now.x - before.x).abs() < 0.41e-3, "at {} s: from {before} to {now}", pane.time());
        before = now;
    }
}

#[test]
fn drops_and_wet_spots_do_not_depend_on_the_frame_interval() {
    let result = |frame: f64| {
        let mut pane = pane(frame, 0.08, 5);
        run(&mut pane, 0.84, frame);
        (largest(&pane), wet_map(&pane).wetness)
    };
    let (place, wetness) = result(0.08);
    for frame in [0.02, 0.05, 0.2] {
        let (other, spots) = result(frame);
        assert!(place.distance(other) < 1e-9, "frames of {frame} s: {other}, at 0.08 s {place}");
        let differ = spots.iter().zip(&wetness).filter(|(a, b)| a != b).count();
        // Only the head of the last route may be sampled elsewhere.
        assert!(differ <= 6, "frames of {frame} s: {differ} spots differ");
    }
}

/// In every row of fine spots between the first cell and the drop some are wet, in one connected
/// band whose edges are ragged.
#[test]
fn the_fine_grid_covers_the_whole_route() {
    let mut pane = pane(0.02, 0.08, 3);
    let start = largest(&pane).y;
    run(&mut pane, 0.8, 0.02);
    let (map, end) = (wet_map(&pane), largest(&pane).y);
    let row_of = |y: f64| ((0.04 - y) / 0.08 * f64::from(map.height)) as usize;
    let width = map.width as usize;
    let mut lefts = Vec::new();
    for row in row_of(start)..row_of(end) {
        let wet: Vec<usize> = (0..width).filter(|&c| map.wetness[row * width + c] > 0).collect();
        let (Some(first), Some(last)) = (wet.first(), wet.last()) else { panic!("row {row} is dry") };
        assert_eq!(last - first + 1, wet.len(), "row {row} is not one band");
        assert!(wet.len() >= 2, "row {row}: {} spots", wet.len());
        lefts.push(*first as i64);
    }
    assert!(lefts.len() > 30, "{} rows", lefts.len());
    let changes = lefts.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(changes > lefts.len() / 8, "the edge is straight: {lefts:?}");
}

/// Places of all metaballs on the pane, in mm.
fn balls(pane: &Pane) -> Vec<DVec3> {
    let frame = pane.frame();
    let of_instance = |instance: &sessile_shapes::Instance| match &instance.shape {
        Shape::Metaballs(balls) => {
            balls.iter().map(|ball| 1e3 * instance.frame.world_from_local(ball.center)).collect()
        }
        _ => Vec::new(),
    };
    support::instances(&frame).iter().flat_map(of_instance).collect()
}

/// Two drops move into the cell between and below them, which holds some water: that stays until
/// both arrive, on their own routes and at the same time.
#[test]
fn water_in_a_cell_stays_until_the_drops_that_move_there_arrive() {
    let cap = |x: f64, y: f64, volume: f64| {
        format!("[[drops]]\nshape = \"cap\"\non = \"pane\"\ncenter = \"{x} {y} 0 mm\"\nvolume = \"{volume} uL\"\n")
    };
    let text = format!(
        "model = \"pane\"\nfidelity = \"paper\"\n[time]\nduration = \"2 s\"\nframe = \"0.01 s\"\n\
         [materials.m]\nadvancing = \"80 deg\"\nreceding = \"40 deg\"\naffinity = 0.5\n\
         [[solids]]\nname = \"pane\"\nmaterial = \"m\"\nshape = \"plane\"\nnormal = [0, 0, 1]\nsize = \"60 80 mm\"\n\
         [pane]\ncell = \"4 mm\"\nstatic_weight = \"4 uL\"\ndynamic_weight = \"2 uL\"\nresidue = \"0 uL\"\n\
         pass = \"0.1 s\"\n{}{}{}",
        cap(-4.0, 22.0, 6.0),
        cap(4.0, 22.0, 5.0),
        cap(0.0, 18.0, 2.0)
    );
    let mut pane = support::pane(&text);
    let start = balls(&pane);
    let near = |balls: &[DVec3], x: f64, y: f64| balls.iter().any(|ball| (ball.x - x).hypot(ball.y - y) < 0.8);
    assert!([(-4.0, 22.0), (4.0, 22.0), (0.0, 18.0)].iter().all(|&(x, y)| near(&start, x, y)), "{start:.2?}");
    for covered in [0.1, 0.5, 0.9] {
        run(&mut pane, 0.1 * (1.0 + covered), 0.01);
        let (balls, rest) = (balls(&pane), 4.0 * (1.0 - covered));
        for (x, y) in [(-rest, 18.0 + rest), (rest, 18.0 + rest), (0.0, 18.0)] {
            assert!(near(&balls, x, y), "at {covered} of the way nothing is at {x:.1} {y:.1} mm: {balls:.2?}");
        }
        let volume: f64 = pane.frame().drops.iter().map(|drop| drop.volume).sum();
        assert!((volume / 13e-9 - 1.0).abs() < 1e-9, "{volume} m³");
    }
}
