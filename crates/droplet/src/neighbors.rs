//! Neighbor search among pinned and sliding droplets.
//!
//! The two are in separate grids. A pinned droplet is inserted once and costs nothing until a query
//! comes near. Sliding droplets are inserted anew after every step; queries for them are widened by
//! their displacements, queries for pinned ones are not.

use glam::{DVec3, Vec3};

use sessile_numerics::OptionalIndex;
use sessile_sliding::SlotIndex;

use crate::droplets::{Location, PREFETCH, Slot};
use crate::grid::{Arrivals, BucketIndex, Grid, GridEntry, Query, QueryScratch, Region};
use crate::surface_mesh::SolidIndex;

/// Where a droplet is in the two grids: in a bucket of one of them, or in neither; in four bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GridAddress {
    /// Twice the number of the bucket, plus one in the grid of sliding droplets.
    doubled: OptionalIndex,
}

impl GridAddress {
    /// In neither grid.
    pub const NONE: Self = Self { doubled: OptionalIndex::NONE };

    #[inline]
    fn new(bucket: BucketIndex, is_sliding: bool) -> Self {
        Self { doubled: OptionalIndex::some(2 * bucket.to_usize() as u32 + u32::from(is_sliding)) }
    }

    /// Its bucket, in the grid that [`GridAddress::is_sliding`] names.
    #[inline]
    fn bucket(self) -> Option<BucketIndex> {
        self.doubled.get().map(|doubled| BucketIndex::new((doubled / 2) as usize))
    }

    /// Whether it is in the grid of sliding droplets.
    #[inline]
    fn is_sliding(self) -> bool {
        self.doubled.get().is_some_and(|doubled| doubled % 2 == 1)
    }
}

/// Memory for neighbor queries.
#[derive(Clone, Debug, Default)]
pub struct NeighborQueries {
    queries: Vec<Query>,
    scratch: QueryScratch,
}

/// Grids of all droplets. The address of a droplet is in its [`Location`].
#[derive(Clone, Debug)]
pub struct Neighbors {
    pinned: Grid,
    sliding: Grid,
    /// Number of droplets and of sliding droplets that the grids were made for.
    made_for: [usize; 2],
}

impl Default for Neighbors {
    fn default() -> Self {
        Self::rebuilt(0, 0, [4e-3; 2])
    }
}

impl Neighbors {
    /// Empty grids for `count` droplets, of which `sliding` slide; `cells` are the widths of their
    /// smallest cells, in m.
    pub fn rebuilt(count: usize, sliding: usize, cells: [f64; 2]) -> Self {
        Self { pinned: Grid::new(count, cells[0]), sliding: Grid::new(sliding, cells[1]), made_for: [count, sliding] }
    }

    /// Mean number of droplets in the cell of a droplet; the larger of the two grids.
    pub fn mean_occupancy(&self) -> f64 {
        self.pinned.mean_occupancy().max(self.sliding.mean_occupancy())
    }

    /// Whether the grids were made for far fewer or smaller droplets and should be rebuilt.
    pub fn is_outgrown(&self, droplets: usize, sliding: usize) -> bool {
        let outgrown = |count: usize, made_for: usize| count > made_for + made_for / 4 + 64;
        self.pinned.is_outgrown() || outgrown(droplets, self.made_for[0]) || outgrown(sliding, self.made_for[1])
    }

    /// Whether the grids were made for so few slots that they must be rebuilt at once.
    pub fn is_full(&self, slots: usize) -> bool {
        slots > 4 * self.made_for[0] + 1024
    }

    /// Inserts or moves a droplet; one that is in the sliding grid stays there.
    pub fn insert(&mut self, slots: &mut [Slot], slot: SlotIndex, solid: SolidIndex, merge_radius: f32) {
        let location = &mut slots[slot].location;
        (location.solid, location.merge_radius) = (solid, merge_radius);
        let is_sliding = location.address.is_sliding();
        let grid = if is_sliding { &mut self.sliding } else { &mut self.pinned };
        let entry = grid.entry(slot, solid, location.point, merge_radius);
        grid.update(location.address.bucket(), &entry);
        location.address = GridAddress::new(entry.bucket, is_sliding);
    }

    /// Inserts a droplet that is in no grid into the sliding one.
    pub fn insert_sliding(&mut self, slots: &mut [Slot], slot: SlotIndex, solid: SolidIndex, merge_radius: f32) {
        let location = &mut slots[slot].location;
        (location.solid, location.merge_radius) = (solid, merge_radius);
        let bucket = self.sliding.insert(slot, solid, location.point, merge_radius);
        location.address = GridAddress::new(bucket, true);
    }

    /// Records the change that moves a droplet to a point of a solid, without applying it.
    #[inline]
    pub fn plan_move(
        &self,
        slot: SlotIndex,
        location: &Location,
        solid: SolidIndex,
        point: DVec3,
        merge_radius: f32,
        changes: &mut Changes,
    ) -> Move {
        let is_sliding = location.address.is_sliding();
        let grid = if is_sliding { &self.sliding } else { &self.pinned };
        let entry = grid.entry(slot, solid, point, merge_radius);
        let before = location.address.bucket().into();
        changes.of(is_sliding).push(Change { slot, before, after: Some(entry) });
        Move { slot, solid, merge_radius, address: GridAddress::new(entry.bucket, is_sliding) }
    }

    /// Applies many changes; each slot has at most one.
    pub fn apply<'a, I: Iterator<Item = &'a Changes>>(&mut self, changes: impl Fn() -> I + Sync) {
        let apply = |grid: &mut Grid, list: fn(&Changes) -> &[Change]| {
            for some in changes().flat_map(|changes| list(changes).chunks(PREFETCH)) {
                grid.prefetch(some.iter().flat_map(Change::buckets));
                some.iter().for_each(|change| change.apply(grid));
            }
        };
        let Self { pinned, sliding, .. } = self;
        let mut apply_pinned = || apply(pinned, |changes| &changes.pinned);
        let mut apply_sliding = || apply(sliding, |changes| &changes.sliding);
        if changes().nth(1).is_some() {
            rayon::join(apply_pinned, apply_sliding);
        } else {
            apply_pinned();
            apply_sliding();
        }
    }

    /// Removes a droplet.
    pub fn remove(&mut self, slots: &mut [Slot], slot: SlotIndex) {
        let location = &mut slots[slot].location;
        let Some(bucket) = location.address.bucket() else { return };
        let grid = if location.address.is_sliding() { &mut self.sliding } else { &mut self.pinned };
        grid.remove(bucket, slot);
        location.address = GridAddress::NONE;
    }

    /// Moves a droplet that has stopped into the grid of pinned ones.
    pub fn stop(&mut self, slots: &mut [Slot], slot: SlotIndex) {
        let location = &slots[slot].location;
        if location.address.is_sliding() {
            let (solid, merge_radius) = (location.solid, location.merge_radius);
            self.remove(slots, slot);
            self.insert(slots, slot, solid, merge_radius);
        }
    }

    /// Removes a droplet that starts to slide from the grid of pinned ones.
    pub fn remove_pinned(&mut self, slots: &mut [Slot], slot: SlotIndex) {
        let location = &mut slots[slot].location;
        if let Some(bucket) = location.address.bucket()
            && !location.address.is_sliding()
        {
            self.pinned.remove(bucket, slot);
            location.address = GridAddress::NONE;
        }
    }

    /// Removes all sliding droplets, until they are [committed](Neighbors::commit) at their new
    /// locations.
    pub fn clear_sliding(&mut self) {
        self.sliding.clear();
    }

    /// The location of a sliding droplet after its step, recorded for [`Neighbors::commit`].
    #[inline]
    pub fn sliding_location(
        &self,
        arrivals: &mut Arrivals,
        slot: SlotIndex,
        point: DVec3,
        displacement: Vec3,
        solid: SolidIndex,
        merge_radius: f32,
    ) -> Location {
        let bucket = self.sliding.record(arrivals, slot, solid, point, merge_radius);
        Location { point, displacement, merge_radius, solid, address: GridAddress::new(bucket, true) }
    }

    /// Inserts sliding droplets at their new locations.
    pub fn commit(&mut self, arrivals: &Arrivals) {
        self.sliding.commit(arrivals);
    }

    /// Slots that may cover a point of a solid; they may belong to another solid and may be
    /// repeated.
    pub fn covering(&self, solid: SolidIndex, point: DVec3, mut found: impl FnMut(SlotIndex)) {
        self.pinned.query(solid, point, point, 0.0, &mut found);
        self.sliding.query(solid, point, point, 0.0, &mut found);
    }

    /// Slots that may overlap a path; the query for sliding droplets is widened by the path's
    /// length.
    pub fn near_path(&self, query: &Query, mut found: impl FnMut(SlotIndex)) {
        let &Query { solid, from, to, radius, .. } = query;
        self.pinned.query(solid, from, to, radius, &mut found);
        self.sliding.query(solid, from, to, radius + from.distance(to), &mut found);
    }

    /// Upper bound of all merge radii, in m.
    pub fn largest_merge_radius(&self) -> f64 {
        self.pinned.largest_merge_radius().max(self.sliding.largest_merge_radius())
    }

    /// Slots that each location may be in contact with; they may belong to another solid and may be
    /// repeated.
    ///
    /// With `drift`, the bounds of all displacements, contacts at any time in the last step: pinned
    /// droplets along the displacement, and sliding ones that are no faster. Without it, contacts
    /// at the current locations.
    pub fn near(
        &self,
        locations: &[(SlotIndex, Location)],
        drift: Option<&Drift>,
        memory: &mut NeighborQueries,
        mut found: impl FnMut(usize, SlotIndex),
    ) {
        for (first, some) in (0..).step_by(PREFETCH).zip(locations.chunks(PREFETCH)) {
            let NeighborQueries { queries, scratch } = memory;
            let query = |&(own, ref location): &(SlotIndex, Location)| {
                let Location { point, displacement, merge_radius, solid, .. } = *location;
                let from = if drift.is_some() { point - displacement.as_dvec3() } else { point };
                Query { solid, own: OptionalIndex::some(own), from, to: point, radius: f64::from(merge_radius) }
            };
            queries.clear();
            queries.extend(some.iter().map(query));
            self.pinned.query_many(queries, Region::Path, scratch, |index, other| found(first + index, other));
            if let Some(drift) = drift {
                for (query, (_, location)) in queries.iter_mut().zip(some) {
                    let [back, ahead] = drift.relative(location.displacement);
                    (query.from, query.to) = (location.point + back.as_dvec3(), location.point + ahead.as_dvec3());
                }
            }
            self.sliding.query_many(queries, Region::Box, scratch, |index, other| found(first + index, other));
        }
    }
}

/// Changes of both grids, to be applied later.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    pinned: Vec<Change>,
    sliding: Vec<Change>,
}

impl Changes {
    /// Forgets all changes.
    pub fn clear(&mut self) {
        self.pinned.clear();
        self.sliding.clear();
    }

    /// Records the removal of a droplet, if it is in a grid.
    #[inline]
    pub fn remove(&mut self, slot: SlotIndex, location: &Location) {
        if let Some(bucket) = location.address.bucket() {
            let before = OptionalIndex::some(bucket);
            self.of(location.address.is_sliding()).push(Change { slot, before, after: None });
        }
    }

    fn of(&mut self, is_sliding: bool) -> &mut Vec<Change> {
        if is_sliding { &mut self.sliding } else { &mut self.pinned }
    }
}

/// A droplet leaves its bucket, for another or for none.
#[derive(Clone, Copy, Debug)]
struct Change {
    slot: SlotIndex,
    /// Its bucket.
    before: OptionalIndex<BucketIndex>,
    after: Option<GridEntry>,
}

impl Change {
    /// The buckets that it affects.
    #[inline]
    fn buckets(&self) -> impl Iterator<Item = BucketIndex> + use<> {
        let before = self.before.get();
        let after = self.after.map(|after| after.bucket).filter(|&bucket| Some(bucket) != before);
        before.into_iter().chain(after)
    }

    #[inline]
    fn apply(&self, grid: &mut Grid) {
        match &self.after {
            Some(after) => grid.update(self.before.get(), after),
            None => self.before.get().into_iter().for_each(|before| grid.remove(before, self.slot)),
        }
    }
}

/// A planned move of a droplet.
#[derive(Clone, Copy, Debug)]
pub struct Move {
    /// Its slot.
    pub slot: SlotIndex,
    solid: SolidIndex,
    merge_radius: f32,
    address: GridAddress,
}

impl Move {
    /// Writes the move into the droplet's location.
    #[inline]
    pub fn apply(&self, location: &mut Location, point: DVec3) {
        (location.point, location.solid) = (point, self.solid);
        (location.merge_radius, location.address) = (self.merge_radius, self.address);
    }
}

/// Bounding box of the displacements of a step, each in the rest pose of its own solid, in m.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Drift {
    low: Vec3,
    high: Vec3,
}

impl Drift {
    /// Includes a displacement.
    #[inline]
    pub fn include(&mut self, displacement: Vec3) {
        (self.low, self.high) = (self.low.min(displacement), self.high.max(displacement));
    }

    /// Bounds of both.
    pub fn union(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Bounds of zero and of the displacements of droplets no faster than one with `displacement`,
    /// relative to it.
    ///
    /// At closest approach droplet j is, relative to i, where it is now less some part of sⱼ − sᵢ.
    /// Each pair is found by the faster of the two, so |sⱼ| ≤ |sᵢ|, and sⱼ is within the bounds of
    /// all: a droplet that slides down with all others does not search sideways.
    fn relative(&self, displacement: Vec3) -> [Vec3; 2] {
        let speed = Vec3::splat(displacement.length() * (1.0 + 4.0 * f32::EPSILON));
        let (low, high) = (self.low.max(-speed) - displacement, self.high.min(speed) - displacement);
        [low.min(Vec3::ZERO), high.max(Vec3::ZERO)]
    }
}
