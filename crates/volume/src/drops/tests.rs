//! Components, labels and target volumes of discs on a planar grid.

use glam::DVec3;
use sessile_frames::{Event, IdCounter, Ids};

use super::{Drops, Label, LabelInput, TargetVolume};
use crate::parameters::NumericalParameters;
use crate::projection::Projection;
use crate::testing::{drop_id, no_solids, sampled};
use crate::tiles::{Field, Tiles, Topology};

fn planar_tiles() -> Tiles {
    let mut tiles = Tiles::new(Topology { planar: true, ..Topology::default() });
    tiles.activate(&mut (0..24).map(|n| [n % 6 - 3, n / 6 - 2, 0]).collect());
    tiles
}

/// φ of discs, by their x and their radius, in cells.
fn discs(tiles: &Tiles, discs: &[(f64, f64)]) -> Field<f64> {
    sampled(tiles, |at| {
        let distance = |&(x, radius): &(f64, f64)| (at - DVec3::new(x, 0.2, at.z)).length() - radius;
        discs.iter().map(distance).fold(9.0, f64::min)
    })
}

/// Labels the drops of φ and returns the events.
fn label(drops: &mut Drops, tiles: &Tiles, phi: &Field<f64>) -> Vec<Event> {
    let solids = no_solids(tiles);
    let mut projection = Projection::default();
    projection.number_unknowns(tiles, &solids, phi);
    let Projection { cells, unknown_of, .. } = &projection;
    let mut events = Vec::new();
    drops.labels.resize(tiles);
    let input = LabelInput { tiles, solids: &solids, phi, cells, unknown_of };
    drops.label(&input, &NumericalParameters::default(), &mut events);
    events
}

/// Two discs that are drops 1 and 2, with target volumes 100 and 50 cells.
fn two_drops(tiles: &Tiles) -> Drops {
    let mut drops = Drops::default();
    drops.labels.resize(tiles);
    for (index, &phi) in tiles.indices().zip(discs(tiles, &[(-8.0, 5.6), (8.0, 4.0)]).values()) {
        if phi < 0.0 {
            let id = drop_id(if tiles.cell(index)[0] < 0 { 1 } else { 2 });
            drops.labels.values_mut()[index] = Label::drop(id);
        }
    }
    drops.targets = vec![TargetVolume { id: drop_id(1), volume: 100.0 }, TargetVolume { id: drop_id(2), volume: 50.0 }];
    drops.ids = IdCounter::after_initial(2);
    drops
}

#[test]
fn labels_and_target_volumes_persist_while_drops_stay_apart() {
    let tiles = planar_tiles();
    let mut drops = two_drops(&tiles);
    let events = label(&mut drops, &tiles, &discs(&tiles, &[(-7.5, 5.6), (8.5, 4.0)]));
    assert!(events.is_empty(), "{events:?}");
    let [first, second] = &drops.targets[..] else { panic!("{:?}", drops.targets) };
    assert!((first.volume - 100.0).abs() < 1e-12 && (second.volume - 50.0).abs() < 1e-12, "{:?}", drops.targets);
    assert_eq!(
        drops.components.iter().map(|component| component.label.id()).collect::<Vec<_>>(),
        [Some(drop_id(1)), Some(drop_id(2))]
    );
}

#[test]
fn volume_is_conserved_when_drops_merge_and_the_larger_label_survives() {
    let tiles = planar_tiles();
    let mut drops = two_drops(&tiles);
    let events = label(&mut drops, &tiles, &discs(&tiles, &[(-8.0, 5.6), (0.0, 5.0), (8.0, 4.0)]));
    assert_eq!(events, [Event::Merge { merge: Ids::from_slice(&[1, 2]), into: 1 }]);
    let [merged] = &drops.targets[..] else { panic!("{:?}", drops.targets) };
    assert!(merged.id == drop_id(1) && (merged.volume - 150.0).abs() < 1e-12, "{merged:?}");
}

#[test]
fn volume_is_conserved_when_a_drop_splits_and_the_larger_part_keeps_its_label() {
    let tiles = planar_tiles();
    let mut drops = two_drops(&tiles);
    label(&mut drops, &tiles, &discs(&tiles, &[(-8.0, 5.6), (0.0, 5.0), (8.0, 4.0)]));
    let events = label(&mut drops, &tiles, &discs(&tiles, &[(-8.0, 5.6), (8.0, 4.0)]));
    assert_eq!(events, [Event::Split { split: 1, into: Ids::from_slice(&[1, 3]) }]);
    let total: f64 = drops.targets.iter().map(|target| target.volume).sum();
    assert!((total - 150.0).abs() < 1e-12, "{:?}", drops.targets);
    assert!(
        drops.targets[0].id == drop_id(1) && drops.targets[0].volume > drops.targets[1].volume,
        "{:?}",
        drops.targets
    );
}

/// The drop that loses a part lives on, so it has not merged.
#[test]
fn a_part_that_joins_another_drop_is_reported_as_a_split_only() {
    let tiles = planar_tiles();
    let mut drops = two_drops(&tiles);
    let events = label(&mut drops, &tiles, &discs(&tiles, &[(-9.0, 4.0), (3.0, 6.5)]));
    assert_eq!(events, [Event::Split { split: 1, into: Ids::from_slice(&[1, 2]) }]);
}

/// The piece keeps the id of its drop no more than the rest does, so the rest ends under that id.
#[test]
fn a_drop_that_comes_apart_and_joins_another_splits_first() {
    let tiles = planar_tiles();
    let mut drops = two_drops(&tiles);
    let events = label(&mut drops, &tiles, &discs(&tiles, &[(-8.0, 5.6), (0.0, 5.0), (5.5, 2.5), (11.0, 1.4)]));
    let split = Event::Split { split: 2, into: Ids::from_slice(&[2, 3]) };
    assert_eq!(events, [split, Event::Merge { merge: Ids::from_slice(&[1, 2]), into: 1 }]);
}

#[test]
fn a_drop_that_no_cell_holds_is_unresolved_with_its_volume() {
    let tiles = planar_tiles();
    let mut drops = two_drops(&tiles);
    let events = label(&mut drops, &tiles, &discs(&tiles, &[(-8.0, 5.6)]));
    assert!(events.is_empty(), "{events:?}");
    assert_eq!(drops.unresolved.len(), 1);
    assert_eq!(drops.unresolved[0].target, TargetVolume { id: drop_id(2), volume: 50.0 });
    assert!(drops.unresolved[0].cell.is_some());
    // A step labels more than once before its volume is put elsewhere.
    label(&mut drops, &tiles, &discs(&tiles, &[(-8.0, 5.6)]));
    let volumes: Vec<f64> = drops.unresolved.iter().map(|drop| drop.target.volume).collect();
    assert_eq!(volumes, [50.0], "the next labeling forgets its volume");
}

#[test]
fn a_tiny_component_is_a_fragment_without_target_volume() {
    let tiles = planar_tiles();
    let mut drops = two_drops(&tiles);
    // A cell of drop 1 that is left behind with φ just below zero.
    let mut phi = discs(&tiles, &[(-8.0, 4.0), (8.0, 4.0)]);
    let left_behind = tiles.find([-3, 0, 0]).unwrap();
    phi.values_mut()[left_behind] = -0.01;
    label(&mut drops, &tiles, &phi);
    assert_eq!(drops.labels.values()[left_behind], Label::FRAGMENT);
    let total: f64 = drops.targets.iter().map(|target| target.volume).sum();
    assert!((total - 150.0).abs() < 1e-12, "{:?}", drops.targets);
}

/// A frame shows cells that touch at a corner as one surface.
#[test]
fn drops_that_touch_at_the_corner_of_a_cell_are_one() {
    let tiles = planar_tiles();
    let mut drops = two_drops(&tiles);
    for [x, y] in [[-1, 0], [0, 1]] {
        let mut phi = discs(&tiles, &[(-8.0, 5.6), (8.0, 4.0)]);
        for cell in (-4..=x).map(|x| [x, y]).chain((x + 1..5).map(|x| [x, 1 - y])) {
            phi.values_mut()[tiles.find([cell[0], cell[1], 0]).unwrap()] = -0.4;
        }
        label(&mut drops, &tiles, &phi);
        assert_eq!(drops.components.len(), 1, "a bridge with a step at ({x}, {y})");
    }
}
