//! Coalescence of drops that touch.
//!
//! Drops whose surfaces intersect in a curve long enough for a neck are united along it by a mesh
//! Boolean ([`boolean_merge`]) and keep their waves. Drops that approach each other and intersect
//! less are left alone for a step. All others, large groups, and results that fail the mesh check
//! are merged through a distance field ([`sdf_merge`]), which always succeeds.

pub mod boolean_merge;
mod collision;
mod ear_clipping;
pub mod extraction;
mod mesh_boolean;
mod sdf_body;
pub mod sdf_merge;

use std::collections::BTreeMap;

use rayon::prelude::*;
use sessile_frames::{Event, Ids};
use sessile_numerics::UnionFind;

use self::boolean_merge::{remesh_merged, unite};
use self::collision::{Touch, find_touching};
use self::sdf_merge::merge_through_sdf;
use crate::drop::{Drop, DropIndex, Scratch, target_edge};
use crate::dynamics::volume_correction::restore_volume_of;
use crate::mesh::Mesh;
use crate::mesh::check::check;
use crate::parameters::Parameters;
use crate::rebuild::{ensure_valid, remesh_uniformly};
use crate::substrate::Substrate;

/// Number of merges by method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct MergeCounts {
    /// Drops united along the curves in which they intersected.
    pub boolean: u64,
    /// Drops merged through a distance field.
    pub sdf: u64,
    /// Mesh Booleans whose result failed the mesh check.
    pub boolean_failed: u64,
    /// Small drops absorbed without a new surface.
    pub absorbed: u64,
    /// Drops of which two parts were joined.
    pub self_merges: u64,
    /// Largest number of drops that became one in a step.
    pub largest_group: u64,
}

impl MergeCounts {
    /// Adds the counts of a step.
    pub(crate) fn add(&mut self, step: &Self) {
        self.boolean += step.boolean;
        self.sdf += step.sdf;
        self.boolean_failed += step.boolean_failed;
        self.absorbed += step.absorbed;
        self.self_merges += step.self_merges;
        self.largest_group = self.largest_group.max(step.largest_group);
    }
}

/// What a merge uses besides the drops.
struct MergeContext<'a> {
    /// The substrate after the step.
    substrate: &'a Substrate,
    /// Parameters of the run.
    params: &'a Parameters,
    /// Reusable memory.
    scratch: &'a mut Scratch,
}

/// What became of a group of drops that touch.
struct MergedGroup {
    /// The merged drop, which replaces the largest of the group; the others that it contains.
    survivor: Drop,
    merged: Vec<DropIndex>,
    /// Index of the largest drop.
    largest: DropIndex,
    /// Ids of all drops that it was made of, ascending.
    ids: Ids,
}

/// Merges all drops that touch after a step of `dt` seconds; appends the events.
///
/// Groups merge in parallel, each in one of the `scratches`.
pub fn merge(
    drops: &mut Vec<Drop>,
    dt: f64,
    substrate: &Substrate,
    params: &Parameters,
    scratches: &mut Vec<Scratch>,
    events: &mut Vec<Event>,
) -> MergeCounts {
    let gaps: Vec<f64> = drops.iter().map(|drop| params.numerics.merge_gap * drop.target_edge(params.edge)).collect();
    let touches = find_touching(drops, dt, &gaps);
    let mut counts = MergeCounts::default();
    if touches.is_empty() {
        return counts;
    }
    move_back_to_contact(drops, &touches);
    let groups = groups(drops.len(), &touches);
    scratches.resize_with(groups.len().max(scratches.len()), Scratch::default);
    let all = drops.as_slice();
    let merge_one = |(group, scratch): (&Vec<DropIndex>, &mut Scratch)| {
        let mut counts = MergeCounts::default();
        let context = &mut MergeContext { substrate, params, scratch };
        (merge_group(all, group, context, &mut counts), counts)
    };
    let results: Vec<(Option<MergedGroup>, MergeCounts)> =
        groups.par_iter().zip(scratches).with_max_len(1).map(merge_one).collect();
    for (result, own) in results {
        counts.add(&own);
        let Some(MergedGroup { survivor, merged, largest, ids }) = result else { continue };
        merged.iter().for_each(|&i| drops[i].mesh = Mesh::default());
        events.push(Event::Merge { merge: ids, into: survivor.id.get() });
        drops[largest] = survivor;
    }
    drops.retain(|drop| !drop.mesh.triangles.is_empty());
    counts
}

/// Moves drops that passed through each other back to where they met: the one in flight, or the
/// smaller of two in flight.
fn move_back_to_contact(drops: &mut [Drop], touches: &[Touch]) {
    let mut moved = vec![false; drops.len()];
    for touch in touches {
        let Some(back) = touch.back else { continue };
        let second_is_smaller = drops[touch.second].volume <= drops[touch.first].volume;
        let candidates = [(touch.second, back), (touch.first, -back)];
        let candidates = if second_is_smaller { candidates } else { [candidates[1], candidates[0]] };
        if let Some((index, shift)) = candidates.into_iter().find(|(index, _)| !drops[*index].mesh.touches_solid())
            && !std::mem::replace(&mut moved[index], true)
        {
            drops[index].mesh.positions.iter_mut().for_each(|p| *p += shift);
            drops[index].update_bounds();
        }
    }
}

/// Sets of touching drops, ordered by their first member.
fn groups(count: usize, touches: &[Touch]) -> Vec<Vec<DropIndex>> {
    let mut sets = UnionFind::new(count);
    for touch in touches {
        sets.union(touch.first.to_u32(), touch.second.to_u32());
    }
    let mut members: BTreeMap<u32, Vec<DropIndex>> = BTreeMap::new();
    for i in DropIndex::first(count) {
        members.entry(sets.find(i.to_u32())).or_default().push(i);
    }
    members.into_values().filter(|set| set.len() > 1).collect()
}

/// Merges a group into its largest drop, the oldest of equal ones; `None` if none of them merge.
fn merge_group(
    drops: &[Drop],
    group: &[DropIndex],
    context: &mut MergeContext<'_>,
    counts: &mut MergeCounts,
) -> Option<MergedGroup> {
    let numerics = &context.params.numerics;
    let mut order = group.to_vec();
    order.sort_by(|&i, &j| drops[j].volume.total_cmp(&drops[i].volume).then(drops[i].id.cmp(&drops[j].id)));
    let largest = order[0];
    let (small, mut others): (Vec<DropIndex>, Vec<DropIndex>) =
        order[1..].iter().partition(|&&i| drops[i].volume < numerics.absorb_ratio * drops[largest].volume);
    let mut survivor = drops[largest].clone();
    let mut merged: Vec<DropIndex> = Vec::new();
    if others.len() < numerics.max_boolean_group {
        merge_by_boolean(drops, &mut survivor, &mut others, &mut merged, context, counts);
    }
    let through_sdf = merge_by_sdf(drops, &mut survivor, &others, &mut merged, context, counts);
    counts.absorbed += small.len() as u64;
    for &i in &small {
        survivor.absorb(&drops[i]);
    }
    merged.extend(small);
    if merged.is_empty() {
        return None;
    }
    counts.largest_group = counts.largest_group.max(merged.len() as u64 + 1);
    let mut ids: Ids = merged.iter().map(|&i| drops[i].id.get()).collect();
    ids.push(survivor.id.get());
    ids.sort_unstable();
    survivor.behind = mean_behind(drops, largest, &merged);
    finish_merge(&mut survivor, through_sdf, context);
    Some(MergedGroup { survivor, merged, largest, ids })
}

/// Time by which the liquid of merged drops waits behind the model on average, in s: the impulse of
/// gravity that its parts have not had yet is that of the whole.
fn mean_behind(drops: &[Drop], largest: DropIndex, merged: &[DropIndex]) -> f64 {
    let parts = || std::iter::once(largest).chain(merged.iter().copied()).map(|i| &drops[i]);
    let volume: f64 = parts().map(|drop| drop.volume).sum();
    parts().map(|drop| drop.volume * drop.behind).sum::<f64>() / volume
}

/// Prepares the surface of a merged drop for the next step.
fn finish_merge(drop: &mut Drop, through_sdf: bool, context: &mut MergeContext<'_>) {
    let MergeContext { substrate, params, scratch } = context;
    drop.air_area = drop.mesh.air_area();
    drop.estimate_deformation_speed();
    drop.disturb();
    if through_sdf {
        remesh_uniformly(drop, substrate, params, scratch);
    } else {
        restore_volume_of(drop, substrate, scratch);
    }
    ensure_valid(drop, substrate, params, scratch);
    drop.update_bounds();
}

/// Unites the survivor with those of `others` that intersect it, one after the other.
///
/// United drops are appended to `merged`; drops that are about to intersect further are removed
/// from `others`.
fn merge_by_boolean(
    drops: &[Drop],
    survivor: &mut Drop,
    others: &mut Vec<DropIndex>,
    merged: &mut Vec<DropIndex>,
    context: &mut MergeContext<'_>,
    counts: &mut MergeCounts,
) {
    let mut postponed = Vec::new();
    let mut progress = true;
    while std::mem::take(&mut progress) {
        for index in std::mem::take(others) {
            match try_boolean(&drops[index], survivor, context) {
                Attempt::United(drop) => {
                    *survivor = *drop;
                    merged.push(index);
                    counts.boolean += 1;
                    progress = true;
                }
                Attempt::Failed => {
                    counts.boolean_failed += 1;
                    others.push(index);
                }
                Attempt::Postponed => postponed.push(index),
                Attempt::NotApplicable => others.push(index),
            }
        }
        // Postponed drops may intersect what has been united since.
        if progress {
            others.append(&mut postponed);
        }
    }
}

/// Result of uniting two drops along their intersection curves.
enum Attempt {
    /// The union.
    United(Box<Drop>),
    /// The union failed the mesh check.
    Failed,
    /// The drops approach each other and do not intersect far enough yet.
    Postponed,
    /// There is no usable curve.
    NotApplicable,
}

fn try_boolean(other: &Drop, survivor: &Drop, context: &mut MergeContext<'_>) -> Attempt {
    let MergeContext { substrate, params, scratch } = context;
    let volume = survivor.volume + other.volume;
    let edge = target_edge(volume, params.edge);
    let shortest = params.numerics.min_neck_length * edge;
    let union = unite([&survivor.mesh, &other.mesh], edge, shortest, volume, substrate);
    let direction = other.mesh.centroid() - survivor.mesh.centroid();
    let approach = (survivor.velocity - other.velocity).dot(direction.normalize_or_zero());
    match union {
        Ok((mesh, _)) => {
            let mut trial = survivor.clone();
            trial.absorb(other);
            trial.mesh = mesh;
            trial.air_area = trial.mesh.air_area();
            if remesh_merged(&mut trial, substrate, params, scratch) {
                Attempt::United(Box::new(trial))
            } else {
                Attempt::Failed
            }
        }
        _ if approach > params.numerics.merge_approach_speed && !is_center_inside(other, survivor) => {
            Attempt::Postponed
        }
        _ => Attempt::NotApplicable,
    }
}

/// Whether the center of a drop's bounding box lies in the bounding box of another.
fn is_center_inside(small: &Drop, large: &Drop) -> bool {
    let [low, high] = large.mesh.bounds();
    let [from, to] = small.mesh.bounds();
    let center = 0.5 * (from + to);
    center.cmpge(low).all() && center.cmple(high).all()
}

/// Merges the survivor with all others through their distance fields; returns whether that worked.
fn merge_by_sdf(
    drops: &[Drop],
    survivor: &mut Drop,
    others: &[DropIndex],
    merged: &mut Vec<DropIndex>,
    context: &MergeContext<'_>,
    counts: &mut MergeCounts,
) -> bool {
    if others.is_empty() {
        return false;
    }
    let volume = survivor.volume + others.iter().map(|&i| drops[i].volume).sum::<f64>();
    let edge = target_edge(volume, context.params.edge);
    let meshes: Vec<&Mesh> = std::iter::once(&survivor.mesh).chain(others.iter().map(|&i| &drops[i].mesh)).collect();
    // The extraction is closed and manifold by construction; a degenerate result is not used.
    let components = merge_through_sdf(&meshes, edge, context.substrate);
    let Some(mut components) = components.filter(|meshes| meshes.len() == 1 && check(&meshes[0]).is_ok()) else {
        return false;
    };
    survivor.mesh = components.swap_remove(0);
    for &i in others {
        survivor.absorb(&drops[i]);
    }
    merged.extend(others);
    counts.sdf += others.len() as u64;
    true
}
