//! Which label each component gets, and how target volumes follow merges and splits.

use sessile_frames::{DropId, Event, IdCounter, Ids};

use super::{Component, Label, TargetVolume, UnresolvedDrop};
use crate::parameters::NumericalParameters;
use crate::tiles::{CellIndex, Field};

/// Cells that a component has in common with a drop of the previous step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The component.
    pub component: u32,
    /// The drop.
    pub id: DropId,
    num_cells: u32,
}

/// The part of a drop that is in one component.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Part {
    id: DropId,
    component: u32,
    /// Share of the drop's volume, up to a common factor.
    weight: f64,
}

/// Counts the cells of each component by the drop that they belonged to; sorted by component, then
/// id.
pub fn count_overlaps(cells: &[CellIndex], labels: &Field<Label>, component_of: &[u32], overlaps: &mut Vec<Overlap>) {
    overlaps.clear();
    for (&cell, &component) in cells.iter().zip(component_of) {
        let Some(id) = labels.values()[cell].id() else { continue };
        match overlaps.last_mut() {
            Some(last) if (last.component, last.id) == (component, id) => last.num_cells += 1,
            _ => overlaps.push(Overlap { component, id, num_cells: 1 }),
        }
    }
    overlaps.sort_unstable_by_key(|overlap| (overlap.component, overlap.id));
    overlaps.dedup_by(|next, kept| {
        let same = (next.component, next.id) == (kept.component, kept.id);
        if same {
            kept.num_cells += next.num_cells;
        }
        same
    });
}

/// The drops of the previous step and the components of this one.
pub struct Labeling<'a> {
    /// Target volumes; replaced by the new ones.
    pub targets: &'a mut Vec<TargetVolume>,
    /// Issues ids.
    pub ids: &'a mut IdCounter,
    /// The components; they get labels and target volumes.
    pub components: &'a mut [Component],
    /// Receives the drops that are in no component.
    pub unresolved: &'a mut Vec<UnresolvedDrop>,
    /// Fragment volumes.
    pub numerics: &'a NumericalParameters,
    /// Drops whose target volume is not known.
    pub unmeasured: &'a [DropId],
}

impl Labeling<'_> {
    /// Labels the components and distributes the target volumes; `overlaps` is sorted by component,
    /// then id.
    pub fn assign(mut self, overlaps: &[Overlap], events: &mut Vec<Event>) {
        let mut parts = self.parts(overlaps);
        let mut survives = vec![false; self.components.len()];
        for parts in parts.chunk_by(|a, b| a.id == b.id) {
            survives[survivor(parts) as usize] = true;
        }
        let is_fragment: Vec<bool> = (self.components.iter().zip(&survives))
            .map(|(component, survives)| !survives && component.is_below_fragment_volume(self.numerics))
            .collect();
        parts.retain(|part| !is_fragment[part.component as usize]);
        let best = self.distribute_targets(&parts);
        // Without any drop there is no volume for a component that none continues.
        let has_drops = best.iter().any(Option::is_some);
        for (index, best) in best.into_iter().enumerate() {
            self.components[index].label = match best {
                Some(id) => Label::drop(id),
                None if is_fragment[index] || !has_drops => Label::FRAGMENT,
                None => Label::drop(self.ids.issue()),
            };
        }
        self.fund_unlabeled(events);
        report_events(self.components, &parts, events);
        let drops = self.components.iter();
        *self.targets =
            drops.filter_map(|drop| Some(TargetVolume { id: drop.label.id()?, volume: drop.target })).collect();
        self.targets.sort_unstable_by_key(|target| target.id);
    }

    /// The parts of each drop, by id, then component: weighted by volume times the share of the
    /// component's cells.
    fn parts(&self, overlaps: &[Overlap]) -> Vec<Part> {
        let mut parts: Vec<Part> = overlaps
            .iter()
            .map(|&Overlap { component, id, num_cells }| {
                let Component { volume, num_cells: all, .. } = self.components[component as usize];
                Part { id, component, weight: volume.max(1e-3) * f64::from(num_cells) / all as f64 }
            })
            .collect();
        parts.sort_unstable_by_key(|part| (part.id, part.component));
        parts
    }

    /// Gives each component its part of the target volumes; returns the id with the largest part
    /// that survives in it.
    ///
    /// Drops without a part are unresolved. Where a volume is not known, the first id wins.
    fn distribute_targets(&mut self, parts: &[Part]) -> Vec<Option<DropId>> {
        let mut best: Vec<Option<(Option<f64>, DropId)>> = vec![None; self.components.len()];
        let mut at = 0;
        for target in self.targets.iter() {
            let from = at;
            while at < parts.len() && parts[at].id == target.id {
                at += 1;
            }
            let parts = &parts[from..at];
            let whole: f64 = parts.iter().map(|part| part.weight).sum();
            if parts.is_empty() {
                self.unresolved.push(UnresolvedDrop { target: *target, cell: None });
                continue;
            }
            let (survivor, unmeasured) = (survivor(parts), self.unmeasured.contains(&target.id));
            for part in parts {
                let volume = target.volume * part.weight / whole;
                let component = &mut self.components[part.component as usize];
                component.target += volume;
                component.unmeasured |= unmeasured;
                let best = &mut best[part.component as usize];
                let volume = (!unmeasured).then_some(volume);
                let is_larger = match best {
                    None => true,
                    Some((known, _)) => known.zip(volume).is_some_and(|(known, volume)| volume > known),
                };
                if part.component == survivor && is_larger {
                    *best = Some((volume, target.id));
                }
            }
        }
        best.into_iter().map(|best| best.map(|(_, id)| id)).collect()
    }

    /// Gives components without a cell of a previous drop what they hold, from the largest drop's
    /// target.
    ///
    /// Such a component has separated between two cells; its volume must come from somewhere.
    fn fund_unlabeled(&mut self, events: &mut Vec<Event>) {
        let components = &mut *self.components;
        let by_target = |&a: &usize, &b: &usize| components[a].target.total_cmp(&components[b].target);
        let Some(largest) = (0..components.len()).max_by(by_target) else { return };
        for index in 0..components.len() {
            let (Some(to), Some(from)) = (components[index].label.id(), components[largest].label.id()) else {
                continue;
            };
            if index == largest || components[index].target != 0.0 || components[index].unmeasured {
                continue;
            }
            let volume = components[index].volume.min(0.5 * components[largest].target);
            components[index].target = volume;
            components[largest].target -= volume;
            events.push(Event::Split {
                split: from.get(),
                into: Ids::from_slice(&[from.min(to).get(), from.max(to).get()]),
            });
        }
    }
}

/// The component that keeps a drop's label: its largest part, the first of equals.
fn survivor(parts: &[Part]) -> u32 {
    parts.iter().fold(parts[0], |largest, part| if part.weight > largest.weight { *part } else { largest }).component
}

/// Reports merges by the components that hold several drops, splits by the drops that are in
/// several components.
///
/// A drop that lives on in another component does not merge: its split tells where its parts are.
/// One that comes apart while its largest part joins another drop splits first, and then that part
/// merges under its id.
fn report_events(components: &[Component], parts: &[Part], events: &mut Vec<Event>) {
    let label = |component: u32| components[component as usize].label.id();
    let mut labels: Vec<DropId> = components.iter().filter_map(|component| component.label.id()).collect();
    labels.sort_unstable();
    let is_alive = |id: DropId| labels.binary_search(&id).is_ok();
    let by_drop = || parts.chunk_by(|a, b| a.id == b.id);
    for group in by_drop().filter(|group| group.len() > 1 && !is_alive(group[0].id)) {
        let (own, joins) = (group[0].id, survivor(group));
        let label = |part: &Part| if part.component == joins { Some(own) } else { label(part.component) };
        events.push(split_event(own, group.iter().filter_map(label)));
    }
    // The component in which each drop lives on or ends.
    let mut by_component: Vec<(u32, DropId)> = by_drop()
        .filter_map(|group| {
            let own = group.iter().find(|part| label(part.component) == Some(part.id)).map(|part| part.component);
            let component = if is_alive(group[0].id) { own? } else { survivor(group) };
            Some((component, group[0].id))
        })
        .collect();
    by_component.sort_unstable();
    for group in by_component.chunk_by(|a, b| a.0 == b.0) {
        let ids: Ids = group.iter().map(|&(_, id)| id.get()).collect();
        if let (Some(into), true) = (label(group[0].0), ids.len() > 1) {
            events.push(Event::Merge { merge: ids, into: into.get() });
        }
    }
    for group in by_drop().filter(|group| group.len() > 1 && is_alive(group[0].id)) {
        events.push(split_event(group[0].id, group.iter().filter_map(|part| label(part.component))));
    }
}

/// The event that a drop has come apart into drops with these ids.
fn split_event(split: DropId, into: impl Iterator<Item = DropId>) -> Event {
    let mut into: Ids = into.map(DropId::get).collect();
    into.sort_unstable();
    Event::Split { split: split.get(), into }
}
