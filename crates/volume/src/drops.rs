//! Drops: connected components of liquid with a persistent label and a target volume each.
//!
//! Liquid cells that share an open face, an edge or a corner outside the solids belong to one
//! component: what a frame shows as one surface is one drop. Labels persist in the cells: a
//! component takes the label that most of its target volume comes from. Where several labels meet
//! in one component, the one with the largest share survives (a merge); where one label is in
//! several components, the largest part keeps it (a split). Ids are never reused. A component below
//! the fragment volume (`NumericalParameters::fragment_volume`) that a drop leaves behind is a
//! sub-grid fragment: it has no target volume, and is removed.
//!
//! Merges add target volumes, splits divide them by measured volume, sources and drains change
//! them. The volume that the interface encloses is measured in every step
//! ([`volume_fraction`](crate::volume_fraction)), and a divergence source
//!
//! ```text
//! ∇·u = g/(20 Δt) + (g − g₀)/(1.5 Δt),      g = (V_target − V)/V,  the second term for |g| > g₀ only
//! ```
//!
//! relaxes it to the target (g₀ with the sign of g): about 10⁻⁵ of a drop's volume per step while
//! the interface moves slowly, too little to affect its shape. Impacts, merging and sharp corners
//! lose up to 10⁻³ per step, which the second term returns before it accumulates.

mod labeling;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sessile_frames::{DropId, Event, IdCounter, Ids};
use sessile_model::StageReports;
use sessile_numerics::UnionFind;

use self::labeling::{Labeling, Overlap};
use crate::fluid::StepContext;
use crate::parameters::{NumericalParameters, Parameters};
use crate::poisson::OptionalUnknown;
use crate::projection::{Projection, capillary_time_step};
use crate::scratch::Scratch;
use crate::solids::Solids;
use crate::sources::feed_needles;
use crate::state::State;
use crate::tiles::{CELLS, CellIndex, Field, Tiles};
use crate::volume_fraction::liquid_fraction;

/// Offsets to the neighbors across an edge or a corner of a cell, one of each opposite pair; those
/// in the plane z = 0 first.
const DIAGONALS: [[i32; 3]; 10] = [
    [1, 1, 0],
    [1, -1, 0],
    [1, 0, 1],
    [1, 0, -1],
    [0, 1, 1],
    [0, 1, -1],
    [1, 1, 1],
    [1, 1, -1],
    [1, -1, 1],
    [-1, 1, 1],
];
/// Fraction of all liquid above which a drop's volume error is reported to the user.
const LARGE_DROP: f64 = 0.01;
/// Shortest step within which volumes relax, in explicit capillary limits.
///
/// The speed that the source causes in the outlet of a narrow pocket is the change of volume per
/// step over the step. If it grew with shorter steps, steps that it shortens would shorten further,
/// without end.
const MIN_RELAXATION_STEP: f64 = 0.25;
/// A cell's diagonal, in cells.
const DIAGONAL: f64 = 1.7321;

/// What a cell belongs to: nothing, a drop, or a sub-grid fragment. Four bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Label(u32);

impl Label {
    /// No liquid.
    pub const NONE: Self = Self(0);
    /// A sub-grid fragment.
    pub const FRAGMENT: Self = Self(u32::MAX);

    /// The drop `id`.
    pub fn drop(id: DropId) -> Self {
        debug_assert!(id.get() != u32::MAX, "{id} is the label of fragments");
        Self(id.get())
    }

    /// The drop's id; none for fragments and without liquid.
    pub fn id(self) -> Option<DropId> {
        DropId::new(self.0).filter(|_| self != Self::FRAGMENT)
    }
}

/// A drop and the volume that it should have.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetVolume {
    /// The drop.
    pub id: DropId,
    /// Target volume, in cells.
    pub volume: f64,
}

/// A drop that no cell holds any more, although none of its volume has left.
///
/// It has become a sheet thinner than a cell, or lies between cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnresolvedDrop {
    /// The drop and its volume.
    pub target: TargetVolume,
    /// A cell that it occupied, if that is still active.
    pub cell: Option<CellIndex>,
}

/// A connected component of liquid.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Component {
    /// The drop that it is, or a fragment.
    pub label: Label,
    /// Number of unknowns.
    pub num_cells: usize,
    /// Measured volume, in cells.
    pub volume: f64,
    /// Target volume, in cells.
    pub target: f64,
    /// Whether the target volume is not known, and becomes the measured one.
    pub unmeasured: bool,
    /// Whether a wall is within a cell.
    pub on_wall: bool,
}

impl Component {
    /// Whether it is too small to be a drop of its own.
    fn is_below_fragment_volume(&self, numerics: &NumericalParameters) -> bool {
        self.volume < if self.on_wall { numerics.fragment_volume_on_wall } else { numerics.fragment_volume }
    }
}

/// All drops on the grid.
#[derive(Debug)]
pub struct Drops {
    /// Target volumes, by ascending id.
    pub targets: Vec<TargetVolume>,
    /// Issues ids.
    pub ids: IdCounter,
    /// Label of each cell in the last step.
    pub labels: Field<Label>,
    /// Components of the last step, in the order of their first cells.
    pub components: Vec<Component>,
    /// Component of each unknown.
    pub component_of: Vec<u32>,
    /// Drops that labelings have found on no cell since this was last emptied.
    pub unresolved: Vec<UnresolvedDrop>,
    sets: UnionFind,
    fractions: Vec<f64>,
    overlaps: Vec<Overlap>,
    /// Target volumes before the last labeling.
    previous_targets: Vec<TargetVolume>,
}

impl Default for Drops {
    fn default() -> Self {
        Self {
            targets: Vec::new(),
            ids: IdCounter::default(),
            labels: Field::new(Label::NONE),
            components: Vec::new(),
            component_of: Vec::new(),
            unresolved: Vec::new(),
            sets: UnionFind::default(),
            fractions: Vec::new(),
            overlaps: Vec::new(),
            previous_targets: Vec::new(),
        }
    }
}

/// What labeling reads: the unknowns, their cells, and which faces are open.
pub struct LabelInput<'a> {
    /// The tiles.
    pub tiles: &'a Tiles,
    /// The solids.
    pub solids: &'a Solids,
    /// The level set.
    pub phi: &'a Field<f64>,
    /// The cell of each unknown.
    pub cells: &'a [CellIndex],
    /// The unknown of each cell.
    pub unknown_of: &'a Field<OptionalUnknown>,
}

/// What the labeling stage found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DropsReport {
    /// Volume that needles have added, in cells.
    pub fed: f64,
    /// Merges of drops.
    pub merges: usize,
    /// Splits of drops.
    pub splits: usize,
    /// Largest relative difference between a drop's volume and its target.
    pub volume_error: f64,
    /// Volume of all drops on the grid, in cells.
    pub held: f64,
    /// Sum of their target volumes, in cells.
    pub target: f64,
    /// The drop that differs most from its target volume, of those with at least a hundredth of all
    /// liquid.
    pub worst: Option<Component>,
}

/// The event that the drop `absorbed` has become part of `kept`.
pub fn merge_event(absorbed: DropId, kept: DropId) -> Event {
    let [absorbed, kept] = [absorbed, kept].map(DropId::get);
    Event::Merge { merge: Ids::from_slice(&[absorbed.min(kept), absorbed.max(kept)]), into: kept }
}

impl DropsReport {
    /// Writes the report under its public names.
    pub fn record(&self, reports: &mut StageReports) {
        reports.add("drops.merges", self.merges as u64);
        reports.add("drops.splits", self.splits as u64);
        reports.keep_largest("drops.volume_error", self.volume_error);
    }
}

/// Labels the drops, and writes the divergence sources that relax their volumes and feed the
/// needles.
pub fn label_drops<L>(
    state: &mut State,
    scratch: &mut Scratch,
    params: &Parameters,
    step: &StepContext<'_, L>,
    events: &mut Vec<Event>,
) -> DropsReport {
    let State { grid, solids, phi, drops, .. } = state;
    let Scratch { kappa, projection, source, .. } = scratch;
    let (tiles, numerics) = (&grid.tiles, &params.numerics);
    projection.number_unknowns(tiles, solids, phi);
    let Projection { cells, unknown_of, .. } = &*projection;
    let input = LabelInput { tiles, solids, phi, cells, unknown_of };
    let num_events = events.len();
    drops.label(&input, numerics, events);
    let volume_error = drops.components.iter().map(Component::volume_error).fold(0.0, f64::max);
    let labeled = || drops.components.iter().filter(|component| component.label != Label::FRAGMENT);
    let held = labeled().map(|component| component.volume).sum();
    let target: f64 = labeled().map(|component| component.target).sum();
    let is_large = |component: &&Component| component.target > LARGE_DROP * target;
    let by_error = |a: &&Component, b: &&Component| a.volume_error().total_cmp(&b.volume_error());
    let worst = labeled().filter(is_large).max_by(by_error).copied();
    let cells_per_second = grid.h / step.dt;
    let shortest = MIN_RELAXATION_STEP * capillary_time_step(&params.liquid, grid.h);
    let steps = step.dt / params.reference_step(step.dt, grid.h);
    drops.sources(numerics, grid.h / step.dt.max(shortest), steps, source);
    let fed = feed_needles(step.needles, grid, drops, cells, cells_per_second, source);
    if !tiles.topology().planar {
        drops.remove_curvature_of_small_drops(&input, numerics.max_spray_cells, kappa);
    }
    let merges = events[num_events..].iter().filter(|event| matches!(event, Event::Merge { .. })).count();
    DropsReport { fed, merges, splits: events.len() - num_events - merges, volume_error, held, target, worst }
}

impl Component {
    /// |V_target − V|/V, V counting as at least a cell.
    pub fn volume_error(&self) -> f64 {
        if self.label == Label::FRAGMENT { 0.0 } else { ((self.target - self.volume) / self.volume.max(1.0)).abs() }
    }
}

impl Drops {
    /// A new id.
    pub fn new_id(&mut self) -> DropId {
        self.ids.issue()
    }

    /// The target volume of a drop.
    pub fn target_mut(&mut self, id: DropId) -> Option<&mut TargetVolume> {
        let at = self.targets.binary_search_by_key(&id, |target| target.id).ok()?;
        Some(&mut self.targets[at])
    }

    /// Adds a drop in the order of ids.
    pub fn insert_target(&mut self, target: TargetVolume) {
        let place = self.targets.partition_point(|known| known.id < target.id);
        self.targets.insert(place, target);
    }

    /// Makes the drop `absorbed` part of the drop `kept`; both exist.
    pub fn unite(&mut self, kept: DropId, absorbed: DropId) {
        let Ok(at) = self.targets.binary_search_by_key(&absorbed, |target| target.id) else { return };
        let volume = self.targets.remove(at).volume;
        if let Some(target) = self.target_mut(kept) {
            target.volume += volume;
        }
        let (from, into) = (Label::drop(absorbed), Label::drop(kept));
        self.labels.values_mut().iter_mut().filter(|label| **label == from).for_each(|label| *label = into);
    }

    /// Sum of all target volumes, in cells.
    pub fn total(&self) -> f64 {
        self.targets.iter().map(|target| target.volume).sum()
    }

    /// Removes the curvature of drops that are too small for it (wang2005, §8).
    ///
    /// What the grid makes of it accelerates them to meters per second until they leave as spray.
    /// Fragments keep theirs, and so do cells that a larger drop's interface is as close to: beside
    /// a receding contact line, a loss of curvature would disturb the line.
    fn remove_curvature_of_small_drops(&self, input: &LabelInput<'_>, max_cells: usize, kappa: &mut Field<f64>) {
        let LabelInput { tiles, cells, unknown_of, .. } = input;
        let is_small = |unknown: usize| {
            let component = &self.components[self.component_of[unknown] as usize];
            component.num_cells <= max_cells && component.label != Label::FRAGMENT
        };
        for (_, &cell) in cells.iter().enumerate().filter(|(unknown, _)| is_small(*unknown)) {
            kappa.values_mut()[cell] = 0.0;
            for next in tiles.face_neighbors(cell).filter(|&next| !unknown_of.values()[next].is_some()) {
                let mut owners = tiles.face_neighbors(next).filter_map(|index| unknown_of.values()[index].get());
                if owners.all(is_small) {
                    kappa.values_mut()[next] = 0.0;
                }
            }
        }
    }

    /// Finds and labels the components, and distributes the target volumes; reports merges and
    /// splits.
    pub fn label(&mut self, input: &LabelInput<'_>, numerics: &NumericalParameters, events: &mut Vec<Event>) {
        self.connect(input);
        self.measure(input);
        self.relabel(input, numerics, &[], events);
    }

    /// Labels liquid that was just inserted; the drops `unmeasured` get the volume that they hold.
    pub fn label_initial(&mut self, input: &LabelInput<'_>, numerics: &NumericalParameters, unmeasured: &[DropId]) {
        self.connect(input);
        self.measure(input);
        self.relabel(input, numerics, unmeasured, &mut Vec::new());
        let Self { components, targets, .. } = self;
        for component in components.iter_mut().filter(|component| component.unmeasured) {
            component.target = component.volume;
            let Some(id) = component.label.id() else { continue };
            if let Ok(at) = targets.binary_search_by_key(&id, |target| target.id) {
                targets[at].volume = component.volume;
            }
        }
    }

    /// Ids of the drops that more than a share of their volume is missing from.
    pub fn short_of_target(&self, share: f64) -> impl Iterator<Item = DropId> {
        let short = self.components.iter().filter(move |drop| drop.volume < (1.0 - share) * drop.target);
        short.filter_map(|component| component.label.id())
    }

    /// Joins unknowns that share an open face, and neighbors across a face, an edge or a corner
    /// whose centers are outside the solids; numbers the components by their first cells.
    fn connect(&mut self, input: &LabelInput<'_>) {
        let LabelInput { tiles, solids, cells, unknown_of, .. } = input;
        self.sets.reset(cells.len());
        for (unknown, &cell) in cells.iter().enumerate() {
            let is_outside = |cell: CellIndex| solids.distance.values()[cell] > 0.0;
            for axis in 0..tiles.dims() {
                let Some(low) = tiles.next(cell, axis, -1) else { continue };
                let joins = solids.open[axis].values()[cell] > 0.0 || (is_outside(cell) && is_outside(low));
                if let Some(other) = unknown_of.values()[low].get().filter(|_| joins) {
                    self.sets.union(unknown as u32, other as u32);
                }
            }
            // Inside the liquid, faces connect these already.
            if input.phi.values()[cell] < -DIAGONAL || !is_outside(cell) {
                continue;
            }
            let diagonals = if tiles.topology().planar { &DIAGONALS[..2] } else { &DIAGONALS[..] };
            for other in diagonals.iter().filter_map(|&offset| tiles.offset(cell, offset)) {
                if let Some(other) = unknown_of.values()[other].get().filter(|_| is_outside(other)) {
                    self.sets.union(unknown as u32, other as u32);
                }
            }
        }
        self.components.clear();
        self.component_of.clear();
        for unknown in 0..cells.len() as u32 {
            let first = self.sets.find(unknown);
            let component = if first == unknown {
                self.components.push(Component::default());
                self.components.len() as u32 - 1
            } else {
                self.component_of[first as usize]
            };
            self.component_of.push(component);
            let component = &mut self.components[component as usize];
            component.num_cells += 1;
            component.on_wall |= solids.distance.values()[cells[unknown as usize]] < 1.0;
        }
    }

    /// Measures the components' volumes; liquid in a cell whose center is in air belongs to its
    /// first liquid neighbor.
    fn measure(&mut self, input: &LabelInput<'_>) {
        let LabelInput { tiles, solids, phi, unknown_of, .. } = input;
        self.fractions.clear();
        self.fractions.resize(tiles.len() * CELLS, 0.0);
        self.fractions.par_chunks_exact_mut(CELLS).enumerate().for_each(|(slot, fractions)| {
            for (local, fraction) in fractions.iter_mut().enumerate().take(tiles.cells_in_use()) {
                *fraction = liquid_fraction(tiles, solids, phi, CellIndex::new(slot, local));
            }
        });
        let Self { components, component_of, fractions, .. } = self;
        for (_, fraction, component) in liquid_cells(tiles, unknown_of, component_of, fractions) {
            components[component].volume += fraction;
        }
    }

    /// The cells with liquid, their liquid fractions, and their components' numbers.
    pub fn liquid_cells<'a>(
        &'a self,
        tiles: &'a Tiles,
        unknown_of: &'a Field<OptionalUnknown>,
    ) -> impl Iterator<Item = (CellIndex, f64, usize)> + 'a {
        liquid_cells(tiles, unknown_of, &self.component_of, &self.fractions)
    }

    /// Which drops of the previous step the components consist of, by component, then id.
    pub fn overlaps(&self) -> &[Overlap] {
        &self.overlaps
    }

    /// Target volume of a drop before the last labeling, in cells.
    pub fn previous_volume(&self, id: DropId) -> f64 {
        let known = self.previous_targets.binary_search_by_key(&id, |target| target.id);
        known.map_or(0.0, |at| self.previous_targets[at].volume)
    }

    /// Liquid fraction of each cell in the last step.
    #[cfg(test)]
    pub fn fractions(&self) -> &[f64] {
        &self.fractions
    }

    /// Labels the components by the labels that their cells had, and writes the new labels to the
    /// cells.
    fn relabel(
        &mut self,
        input: &LabelInput<'_>,
        numerics: &NumericalParameters,
        unmeasured: &[DropId],
        events: &mut Vec<Event>,
    ) {
        self.previous_targets.clone_from(&self.targets);
        let Self { targets, ids, labels, components, component_of, overlaps, unresolved, .. } = self;
        labeling::count_overlaps(input.cells, labels, component_of, overlaps);
        // Those of an earlier labeling of the same step stay until they are handled.
        let num_known = unresolved.len();
        Labeling { targets, ids, components, unresolved, numerics, unmeasured }.assign(overlaps, events);
        let unresolved = &mut unresolved[num_known..];
        if !unresolved.is_empty() {
            for (index, &label) in
                input.tiles.indices().zip(labels.values()).filter(|(_, label)| **label != Label::NONE)
            {
                if let Ok(at) = unresolved.binary_search_by_key(&label, |drop| Label::drop(drop.target.id)) {
                    unresolved[at].cell.get_or_insert(index);
                }
            }
        }
        labels.par_tiles_mut().enumerate().for_each(|(slot, labels)| {
            let unknown_of = input.unknown_of.tile(slot);
            for (label, &unknown) in labels.iter_mut().zip(unknown_of) {
                let label_of = |unknown: usize| components[component_of[unknown] as usize].label;
                *label = unknown.get().map_or(Label::NONE, label_of);
            }
        });
    }

    /// Divergence source S of each unknown that relaxes the volumes; `cells_per_second` is h/Δt, in
    /// m/s, Δt at least [`MIN_RELAXATION_STEP`]; `steps` is the number of reference steps in this
    /// one. No step removes more than the whole difference beyond the tolerance.
    fn sources(&self, numerics: &NumericalParameters, cells_per_second: f64, steps: f64, out: &mut Vec<f64>) {
        let max = steps * numerics.max_volume_change;
        let (slow, fast) = (steps / numerics.volume_relaxation_steps, steps / numerics.fast_volume_relaxation_steps);
        out.clear();
        out.extend(self.component_of.iter().map(|&component| {
            let component = &self.components[component as usize];
            let gap = (component.target - component.volume) / component.volume.max(1.0);
            let excess = gap - gap.clamp(-numerics.volume_tolerance, numerics.volume_tolerance);
            let change = slow * gap + fast.min(1.0 - slow) * excess;
            change.clamp(-max, max) * cells_per_second
        }));
    }
}

/// The cells with liquid, their liquid fractions, and their components' numbers; liquid in a cell
/// whose center is in air belongs to its first liquid neighbor.
fn liquid_cells<'a>(
    tiles: &'a Tiles,
    unknown_of: &'a Field<OptionalUnknown>,
    component_of: &'a [u32],
    fractions: &'a [f64],
) -> impl Iterator<Item = (CellIndex, f64, usize)> + 'a {
    tiles.indices().zip(fractions).filter(|(_, fraction)| **fraction > 0.0).filter_map(move |(index, &fraction)| {
        let mut candidates = std::iter::once(index).chain(tiles.face_neighbors(index));
        let unknown = candidates.find_map(|cell| unknown_of.values()[cell].get())?;
        Some((index, fraction, component_of[unknown] as usize))
    })
}

#[cfg(test)]
mod tests;
