//! Step reports count what the stages did.

use crate::support::{cap, model, slope};
use sessile_droplet::DropletModel;
use sessile_frames::Event;
use sessile_model::{Model, NoTimer, StageReports, StageValue};

/// Runs until a time and accumulates the reports and events of all steps.
fn run_reported(model: &mut DropletModel, until: f64) -> (StageReports, Vec<Event>) {
    let (mut reports, mut events) = (StageReports::default(), Vec::new());
    while until - model.time() > 1e-9 {
        let limit = (until - model.time()).min(1.0 / 30.0);
        let step = model.step(limit, &mut NoTimer).unwrap_or_else(|error| panic!("{error}"));
        reports.accumulate(&step.stages);
        events.extend(step.events);
    }
    (reports, events)
}

fn total(reports: &StageReports, name: &str) -> u64 {
    match reports.get(name) {
        Some(StageValue::Total(count)) => count,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn merges_and_path_segments_of_sliding_droplets_are_counted() {
    let scene = slope(113.0, 92.0, 80.0, [400.0, 400.0])
        + &cap("plane", 30.0, 113.0, [0.0; 3])
        + &cap("plane", 0.05, 113.0, [5.0, -28.4, 0.0]);
    let mut model = model("", &scene);
    let (reports, events) = run_reported(&mut model, 0.4);
    let merges = events.iter().filter(|event| matches!(event, Event::Merge { .. })).count() as u64;
    assert_eq!((total(&reports, "coalesce.merges"), merges), (1, 1));
    let (droplets, segments) = (total(&reports, "slide.droplets"), total(&reports, "slide.segments"));
    assert!(droplets > 0 && segments >= droplets, "{segments} segments of {droplets} droplets");
    assert!(total(&reports, "contacts.pairs") >= 1);
}

#[test]
fn pinned_droplets_have_no_path_segments() {
    let mut model = model("", &(slope(90.0, 30.0, 10.0, [100.0, 100.0]) + &cap("plane", 5.0, 90.0, [0.0; 3])));
    let (reports, _) = run_reported(&mut model, 0.3);
    assert_eq!(total(&reports, "slide.droplets"), 0);
    assert!(reports.get("slide.segments").is_none());
}

#[test]
fn detachments_and_landings_are_counted() {
    // A drop too heavy to hang under a ceiling falls onto a floor.
    let scene = "[materials.m]\nadvancing = \"90 deg\"\nreceding = \"60 deg\"\n\
         [[solids]]\nname = \"ceiling\"\nmaterial = \"m\"\nshape = \"plane\"\npoint = \"0 30 0 mm\"\nnormal = [0, -1, 0]\nsize = \"50 50 mm\"\n\
         [[solids]]\nname = \"floor\"\nmaterial = \"m\"\nshape = \"plane\"\nsize = \"50 50 mm\"\n";
    let mut model = model("", &(scene.to_owned() + &cap("ceiling", 250.0, 90.0, [0.0, 30.0, 0.0])));
    let (reports, _) = run_reported(&mut model, 0.3);
    assert_eq!((total(&reports, "flight.landed"), total(&reports, "flight.lost")), (1, 0));
    assert_eq!((model.num_airborne(), model.num_droplets()), (0, 1));
}
