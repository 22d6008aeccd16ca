//! Bodies of liquid in the paper mode, and their ids.
//!
//! The automaton moves the water of cells (algan, §2). Water of cells whose footprints overlap is
//! one connected body: it is shown as one drop and has one id. After every pass the ids follow the
//! bodies: of a body that has come apart the largest piece keeps the id and the others get new
//! ones; of bodies that have come together the largest gives its id to all. No limit on the time
//! step.

use std::collections::BTreeMap;

use glam::DVec2;
use sessile_frames::{Event, Ids};
use sessile_numerics::{FourByteIndex as _, UnionFind};
use sessile_sliding::{DropId, IdCounter, SlotIndex, ball_radius, merge_event, survivor};

use crate::automaton::Automaton;
use crate::drops::PaneDrop;
use crate::motion::StepContext;
use crate::neighbors::Neighbors;
use crate::substrate::{CellIndex, Substrate};

/// Bodies of a pane at one time.
pub struct Bodies {
    /// The water of each wet cell, as a drop.
    pub drops: Vec<(CellIndex, PaneDrop)>,
    /// Indices of the drops of each body, ascending; bodies by their first drop.
    pub members: Vec<Vec<usize>>,
}

impl Bodies {
    /// Finds the bodies; a drop that moves crosses a row in `row_time` seconds.
    pub fn new(automaton: &Automaton, substrate: &Substrate, context: &StepContext, row_time: f64) -> Self {
        let drops = cell_drops(automaton, substrate, context, row_time);
        let members = clusters(&drops, substrate);
        Self { drops, members }
    }

    /// Gives every body one id, and reports what has come apart and together since the last call.
    pub fn label(&self, automaton: &mut Automaton, ids: &mut IdCounter, events: &mut Vec<Event>) {
        let contents = self.contents(automaton, ids, events);
        for (members, content) in self.members.iter().zip(&contents) {
            let id = content[survivor(content.iter().copied())].1;
            if content.len() > 1 {
                events.push(merge_event(content.iter().map(|&(_, id)| id), id));
            }
            for &member in members {
                automaton.cells[self.drops[member].0.get()].id = Some(id);
            }
        }
        automaton.absorbed.clear();
    }

    /// Volumes (in m³) and ids of the former bodies in each body; pieces that have come apart from
    /// a larger one have new ids.
    fn contents(&self, automaton: &Automaton, ids: &mut IdCounter, events: &mut Vec<Event>) -> Vec<Vec<(f64, DropId)>> {
        let mut contents = vec![Vec::new(); self.members.len()];
        for (id, pieces) in self.pieces(automaton) {
            let kept = survivor(pieces.iter().map(|(&body, &volume)| (volume, body)));
            let mut into = Ids::from_slice(&[id.get()]);
            for (k, (&body, &volume)) in pieces.iter().enumerate() {
                let own = if k == kept { id } else { ids.issue() };
                if own != id {
                    into.push(own.get());
                }
                contents[body].push((volume, own));
            }
            if pieces.len() > 1 {
                events.push(Event::Split { split: id.get(), into });
            }
        }
        contents
    }

    /// For every former id, its volume (in m³) in each body.
    fn pieces(&self, automaton: &Automaton) -> BTreeMap<DropId, BTreeMap<usize, f64>> {
        let mut pieces: BTreeMap<DropId, BTreeMap<usize, f64>> = BTreeMap::new();
        let mut body_of = BTreeMap::new();
        for (body, members) in self.members.iter().enumerate() {
            for (cell, drop) in members.iter().map(|&member| &self.drops[member]) {
                body_of.insert(*cell, body);
                let Some(id) = drop.id else { continue };
                *pieces.entry(id).or_default().entry(body).or_default() += drop.volume;
            }
        }
        for absorbed in &automaton.absorbed {
            let Some(&body) = body_of.get(&absorbed.cell) else { continue };
            // Other water of the absorbed body may still be where it was: then it keeps its id.
            if !pieces.contains_key(&absorbed.id) {
                pieces.entry(absorbed.id).or_default().insert(body, absorbed.volume);
                if let Some(volume) = automaton.cells[absorbed.cell.get()].id.and_then(|id| pieces.get_mut(&id)) {
                    volume.entry(body).and_modify(|volume| *volume -= absorbed.volume);
                }
            }
        }
        pieces
    }
}

/// The automaton's water as drops of the physical mode, by cell.
fn cell_drops(
    automaton: &Automaton,
    substrate: &Substrate,
    context: &StepContext,
    row_time: f64,
) -> Vec<(CellIndex, PaneDrop)> {
    let cells = (0..).map(CellIndex).zip(&automaton.cells);
    let drops = cells.filter_map(|(cell, water)| {
        let law = substrate.law(cell);
        let radius = context.advancing_radius(law, water.volume);
        let radius = radius.unwrap_or_else(|| ball_radius(water.volume));
        let step = water.step();
        let speed = step.length() * substrate.cell_size / row_time;
        let drop = PaneDrop {
            radius,
            merge_radius: (radius * law.overhang) as f32,
            sliding: water.moving,
            has_moved: water.has_moved,
            heading: step.normalize().as_vec2(),
            speed: if water.moving { speed as f32 } else { 0.0 },
            ..PaneDrop::at_rest(water.id?, substrate.center_of(cell), water.volume)
        };
        Some((cell, drop))
    });
    drops.collect()
}

/// Groups of drops whose footprints overlap, each ascending, by their first drop.
fn clusters(drops: &[(CellIndex, PaneDrop)], substrate: &Substrate) -> Vec<Vec<usize>> {
    let extent = DVec2::new(substrate.columns as f64, substrate.rows as f64) * substrate.cell_size;
    let mut neighbors = Neighbors::new(extent, substrate.cell_size);
    for (slot, (_, drop)) in SlotIndex::first(drops.len()).zip(drops) {
        neighbors.insert(slot, drop.position, drop.merge_radius);
    }
    let mut sets = UnionFind::new(drops.len());
    for (slot, (_, drop)) in SlotIndex::first(drops.len()).zip(drops) {
        neighbors.near(drop.position, f64::from(drop.merge_radius), |other| {
            let near = &drops[other].1;
            if drop.position.distance(near.position) < f64::from(drop.merge_radius + near.merge_radius) {
                sets.union(slot.number(), other.number());
            }
        });
    }
    let mut clusters: Vec<Vec<usize>> = vec![Vec::new(); drops.len()];
    for slot in 0..drops.len() {
        clusters[sets.find(slot as u32) as usize].push(slot);
    }
    clusters.retain(|cluster| !cluster.is_empty());
    clusters
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::automaton::Absorbed;

    fn id(number: u32) -> DropId {
        DropId::new(number).expect("a positive number")
    }

    /// Bodies of single cells with water of these volumes.
    fn bodies(cells: &[(u32, u32, f64)], members: &[&[usize]]) -> (Bodies, Automaton) {
        let mut automaton = Automaton::new(10);
        let mut drops = Vec::new();
        for &(cell, number, volume) in cells {
            automaton.add(CellIndex(cell), volume, id(number));
            drops.push((CellIndex(cell), PaneDrop::at_rest(id(number), DVec2::ZERO, volume)));
        }
        (Bodies { drops, members: members.iter().map(|body| body.to_vec()).collect() }, automaton)
    }

    fn labeled(bodies: &Bodies, automaton: &mut Automaton, last: u32) -> (Vec<u32>, Vec<Event>) {
        let (mut ids, mut events) = (IdCounter::default(), Vec::new());
        (0..last).for_each(|_| _ = ids.issue());
        bodies.label(automaton, &mut ids, &mut events);
        let ids = bodies.drops.iter().map(|(cell, _)| automaton.cells[cell.get()].id.map_or(0, DropId::get));
        (ids.collect(), events)
    }

    #[test]
    fn the_largest_piece_of_a_body_keeps_its_id_and_the_others_get_new_ones() {
        let (apart, mut automaton) = bodies(&[(0, 3, 1.0), (2, 3, 5.0), (3, 3, 1.0)], &[&[0], &[1, 2]]);
        let (ids, events) = labeled(&apart, &mut automaton, 7);
        assert_eq!(ids, [8, 3, 3]);
        assert_eq!(events, [Event::Split { split: 3, into: Ids::from_slice(&[3, 8]) }]);
    }

    #[test]
    fn bodies_that_come_together_take_the_id_of_the_largest() {
        let (together, mut automaton) = bodies(&[(0, 1, 2.0), (1, 2, 1.5), (2, 2, 1.5)], &[&[0, 1, 2]]);
        let (ids, events) = labeled(&together, &mut automaton, 2);
        assert_eq!(ids, [2, 2, 2]);
        assert_eq!(events, [Event::Merge { merge: Ids::from_slice(&[1, 2]), into: 2 }]);
        assert!(labeled(&together, &mut automaton, 2).0 == [2, 2, 2], "and keep it");
    }

    /// The water of body 1 is in the cell of body 2 now, which is smaller.
    #[test]
    fn an_absorbed_body_is_merged_unless_some_of_its_water_is_elsewhere() {
        let absorbed = Absorbed { id: id(1), cell: CellIndex(4), volume: 3.0 };
        let (alone, mut automaton) = bodies(&[(4, 2, 5.0)], &[&[0]]);
        automaton.absorbed.push(absorbed);
        let (ids, events) = labeled(&alone, &mut automaton, 2);
        assert_eq!((ids, events), (vec![1], vec![Event::Merge { merge: Ids::from_slice(&[1, 2]), into: 1 }]));
        let (elsewhere, mut automaton) = bodies(&[(4, 2, 5.0), (8, 1, 1.0)], &[&[0], &[1]]);
        automaton.absorbed.push(absorbed);
        let (ids, events) = labeled(&elsewhere, &mut automaton, 2);
        assert_eq!((ids, events), (vec![2, 1], Vec::new()));
    }
}
