//! Drops that touch become one.
//!
//! Where their surfaces cross in a curve that is long enough for a neck, they are stitched together along it ([`crate::stitching`]) and keep their waves. Drops that come
//! at one another and do not cross so far yet are left alone for a step. All others, many at once, and those whose seam does not pass the validator, go through a
//! distance field ([`crate::union`]), which is sure.

use sessile_frames::{Event, Ids};

use crate::drops::{Drop, Scratch, target_edge};
use crate::ground::Ground;
use crate::mesh::Mesh;
use crate::neighbors::touching;
use crate::stepper::{FRESH_PASSES, ensure_sound, freshen, holds, make_ready, refit};
use crate::stitching::stitch;
use crate::union::join;
use crate::validate::{check, check_crossings};

/// Surfaces closer than this, in edges of the finer drop, touch.
const GAP: f64 = 0.2;
/// A drop smaller than this part of another is taken up by it without a new surface: its volume swells the other.
const CRUMB: f64 = 0.02;
/// Length of the curve along which drops are stitched together, in edges: a neck of less would break at once.
pub const NECK: f64 = 6.0;
/// Drops that come at one another faster than this, in m/s, cross farther by themselves.
const CLOSING: f64 = 0.02;
/// Most drops that are stitched together in one step: each takes a look at all that the ones before have become.
pub const MOST_STITCHED: usize = 8;

/// How drops became one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Merged {
    /// Along the curves in which they crossed.
    pub stitched: u64,
    /// Through a distance field, since they touched without crossing in a curve long enough for a neck, were too many, or had a seam that did not pass the validator.
    pub blended: u64,
    /// Seams that did not pass the validator.
    pub fallen_back: u64,
    /// As crumbs that only swell the drop that takes them up.
    pub swallowed: u64,
    /// Drops two arms of which were stitched together.
    pub with_themselves: u64,
    /// The most drops that became one in one step.
    pub largest: u64,
}

impl Merged {
    /// Adds what a step did.
    pub fn add(&mut self, step: &Self) {
        self.stitched += step.stitched;
        self.blended += step.blended;
        self.fallen_back += step.fallen_back;
        self.swallowed += step.swallowed;
        self.with_themselves += step.with_themselves;
        self.largest = self.largest.max(step.largest);
    }
}

/// Merges all drops that touch after a step of `dt` seconds, and says so.
pub fn merge(
    drops: &mut Vec<Drop>,
    dt: f64,
    shortest: f64,
    world: &Ground,
    scratch: &mut Scratch,
    events: &mut Vec<Event>,
) -> Merged {
    let gap = |a: &Drop, b: &Drop| GAP * a.target_edge(shortest).min(b.target_edge(shortest));
    let touches = touching(drops, dt, gap);
    let mut done = Merged::default();
    if touches.is_empty() {
        return done;
    }
    // Those that met during the step go back to where they did: the smaller one of two in flight, or the one in flight.
    let mut moved = vec![false; drops.len()];
    for touch in &touches {
        let Some(back) = touch.back else { continue };
        let lighter = drops[touch.other].volume <= drops[touch.one].volume;
        let ways = [(touch.other, back), (touch.one, -back)];
        let ways = if lighter { ways } else { [ways[1], ways[0]] };
        if let Some((index, way)) = ways.into_iter().find(|(index, _)| !drops[*index].mesh.touches())
            && !std::mem::replace(&mut moved[index], true)
        {
            drops[index].mesh.positions.iter_mut().for_each(|p| *p += way);
        }
    }
    let pairs: Vec<(usize, usize)> = touches.iter().map(|touch| (touch.one, touch.other)).collect();
    for group in groups(drops.len(), &pairs) {
        merge_group(drops, &group, shortest, world, scratch, events, &mut done);
    }
    drops.retain(|drop| !drop.mesh.triangles.is_empty());
    done
}

/// Sets of drops joined by pairs, in the order of their first member.
fn groups(count: usize, pairs: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut leader: Vec<usize> = (0..count).collect();
    fn find(leader: &mut [usize], mut i: usize) -> usize {
        while leader[i] != i {
            leader[i] = leader[leader[i]];
            i = leader[i];
        }
        i
    }
    for &(i, j) in pairs {
        let (a, b) = (find(&mut leader, i), find(&mut leader, j));
        leader[a.max(b)] = a.min(b);
    }
    let mut sets: std::collections::BTreeMap<usize, Vec<usize>> = std::collections::BTreeMap::new();
    for i in 0..count {
        let first = find(&mut leader, i);
        sets.entry(first).or_default().push(i);
    }
    sets.into_values().filter(|set| set.len() > 1).collect()
}

fn merge_group(
    drops: &mut [Drop],
    group: &[usize],
    shortest: f64,
    world: &Ground,
    scratch: &mut Scratch,
    events: &mut Vec<Event>,
    done: &mut Merged,
) {
    // The largest goes on; of equals the older.
    let mut order = group.to_vec();
    order.sort_by(|&i, &j| drops[j].volume.total_cmp(&drops[i].volume).then(drops[i].id.cmp(&drops[j].id)));
    let largest = order[0];
    let (crumbs, real): (Vec<usize>, Vec<usize>) =
        order[1..].iter().partition(|&&i| drops[i].volume < CRUMB * drops[largest].volume);
    let mut whole = drops[largest].clone();
    let mut gone: Vec<usize> = Vec::new();
    let mut left = real;
    if left.len() < MOST_STITCHED {
        stitch_on(drops, &mut whole, &mut left, &mut gone, shortest, world, scratch, done);
    }
    let blended = blend_on(drops, &mut whole, &left, &mut gone, shortest, world, done);
    done.swallowed += crumbs.len() as u64;
    for &i in &crumbs {
        take_in(&mut whole, &drops[i]);
    }
    gone.extend(crumbs);
    if gone.is_empty() {
        return;
    }
    done.largest = done.largest.max(gone.len() as u64 + 1);
    let mut ids: Ids = gone.iter().map(|&i| drops[i].id).collect();
    ids.push(whole.id);
    ids.sort_unstable();
    for &i in &gone {
        drops[i].mesh = Mesh::default();
    }
    whole.air_area = whole.mesh.air_area();
    whole.guess_writhing();
    whole.wake();
    if blended {
        make_ready(&mut whole, world, shortest, scratch);
    } else {
        refit(&mut whole, world, &mut scratch.shape);
    }
    ensure_sound(&mut whole, world, shortest, scratch);
    events.push(Event::Merge { merge: ids, into: whole.id });
    drops[largest] = whole;
}

/// Adds volume and momentum of a drop to another.
fn take_in(whole: &mut Drop, other: &Drop) {
    let volume = whole.volume + other.volume;
    whole.velocity = (whole.velocity * whole.volume + other.velocity * other.volume) / volume;
    whole.volume = volume;
}

/// Stitches to a drop those of others that cross it, one after the other. Those that are about to are left out of what is `left`.
#[allow(clippy::too_many_arguments)]
fn stitch_on(
    drops: &[Drop],
    whole: &mut Drop,
    left: &mut Vec<usize>,
    gone: &mut Vec<usize>,
    shortest: f64,
    world: &Ground,
    scratch: &mut Scratch,
    done: &mut Merged,
) {
    let mut waits = Vec::new();
    let mut again = true;
    while std::mem::take(&mut again) {
        for index in std::mem::take(left) {
            let other = &drops[index];
            let edge = target_edge(whole.volume + other.volume, shortest);
            let seam = stitch(&whole.mesh, &other.mesh, edge, whole.volume + other.volume, world);
            let length = seam.as_ref().map_or(0.0, |(_, length)| *length);
            let way = other.mesh.centroid() - whole.mesh.centroid();
            let closing = (whole.velocity - other.velocity).dot(way.normalize_or_zero());
            match seam {
                Ok((mesh, _)) if length > NECK * edge => {
                    let mut trial = whole.clone();
                    take_in(&mut trial, other);
                    trial.mesh = mesh;
                    trial.air_area = trial.mesh.air_area();
                    if passes(&mut trial, world, shortest, scratch) {
                        *whole = trial;
                        gone.push(index);
                        done.stitched += 1;
                        again = true;
                    } else {
                        done.fallen_back += 1;
                        left.push(index);
                    }
                }
                _ if closing > CLOSING && !is_inside(other, whole) => waits.push(index),
                _ => left.push(index),
            }
        }
        // Those that wait may meet what the others have brought.
        if again {
            left.append(&mut waits);
        }
    }
}

/// Whether most of a drop lies in the box of another.
fn is_inside(small: &Drop, large: &Drop) -> bool {
    let [low, high] = large.mesh.bounds();
    let [from, to] = small.mesh.bounds();
    let middle = 0.5 * (from + to);
    middle.cmpge(low).all() && middle.cmple(high).all()
}

/// Whether a drop whose surface was stitched is sound; it is remeshed as far as it stays so, and the steps to come do the rest.
pub fn passes(drop: &mut Drop, world: &Ground, shortest: f64, scratch: &mut Scratch) -> bool {
    let whole = |drop: &Drop| holds(drop) && check_crossings(&drop.mesh).is_ok() && drop.mesh.parts().len() == 1;
    refit(drop, world, &mut scratch.shape);
    if !whole(drop) {
        return false;
    }
    for _ in 0..FRESH_PASSES {
        let before = drop.mesh.clone();
        let edge = drop.target_edge(shortest);
        if !freshen(drop, [edge, shortest], world, scratch) {
            break;
        }
        if !whole(drop) {
            drop.mesh = before;
            break;
        }
    }
    drop.air_area = drop.mesh.air_area();
    true
}

/// Joins to a drop all others through their distance fields; whether that could be done.
fn blend_on(
    drops: &[Drop],
    whole: &mut Drop,
    others: &[usize],
    gone: &mut Vec<usize>,
    shortest: f64,
    world: &Ground,
    done: &mut Merged,
) -> bool {
    if others.is_empty() {
        return false;
    }
    let volume = whole.volume + others.iter().map(|&i| drops[i].volume).sum::<f64>();
    let edge = target_edge(volume, shortest);
    let meshes: Vec<&Mesh> = std::iter::once(&whole.mesh).chain(others.iter().map(|&i| &drops[i].mesh)).collect();
    // What the extraction gives is closed and manifold; a part that is not sound in its geometry would be our own bug, and is not taken.
    let joined = join(&meshes, edge, world).filter(|parts| parts.len() == 1 && check(&parts[0]).is_ok());
    let Some(mut parts) = joined else { return false };
    whole.mesh = parts.swap_remove(0);
    for &i in others {
        take_in(whole, &drops[i]);
    }
    gone.extend(others);
    done.blended += others.len() as u64;
    true
}
