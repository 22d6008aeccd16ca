//! Drops that touch become one.

use glam::DVec3;
use sessile_frames::Event;

use crate::drops::{Drop, Scratch, target_edge};
use crate::ground::Ground;
use crate::mesh::Mesh;
use crate::neighbours::touching;
use crate::stepper::{ensure_sound, make_ready};
use crate::union::join;
use crate::validate::check;

/// Surfaces closer than this, in edges of the finer drop, touch.
const GAP: f64 = 0.2;
/// A drop smaller than this part of another is taken up by it without a new surface: its volume swells the other.
const CRUMB: f64 = 0.02;

/// Merges all drops that touch, and says so.
pub fn merge(drops: &mut Vec<Drop>, shortest: f64, world: &Ground, scratch: &mut Scratch, events: &mut Vec<Event>) {
    let gap = |a: &Drop, b: &Drop| GAP * a.target_edge(shortest).min(b.target_edge(shortest));
    let pairs = touching(drops, gap);
    if pairs.is_empty() {
        return;
    }
    for group in groups(drops.len(), &pairs) {
        merge_group(drops, &group, shortest, world, scratch, events);
    }
    drops.retain(|drop| !drop.mesh.triangles.is_empty());
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
) {
    // The largest goes on; of equals the older.
    let mut order = group.to_vec();
    order.sort_by(|&i, &j| drops[j].volume.total_cmp(&drops[i].volume).then(drops[i].id.cmp(&drops[j].id)));
    let largest = order[0];
    let (crumbs, real): (Vec<usize>, Vec<usize>) =
        order.iter().partition(|&&i| i != largest && drops[i].volume < CRUMB * drops[largest].volume);
    let mut gone = crumbs;
    if real.len() > 1 {
        let volume: f64 = real.iter().map(|&i| drops[i].volume).sum();
        let edge = target_edge(volume, shortest);
        let meshes: Vec<&Mesh> = real.iter().map(|&i| &drops[i].mesh).collect();
        // What the extraction gives is closed and manifold; a part that is not sound in its geometry would be our own bug, and is not taken.
        let joined = join(&meshes, edge, world).filter(|parts| parts.len() == 1 && check(&parts[0]).is_ok());
        if let Some(mut parts) = joined {
            drops[largest].mesh = parts.swap_remove(0);
            gone.extend(&real[1..]);
        }
    }
    if gone.is_empty() {
        return;
    }
    let mut ids: Vec<u32> = gone.iter().map(|&i| drops[i].id).collect();
    ids.push(drops[largest].id);
    ids.sort_unstable();
    let volume: f64 = drops[largest].volume + gone.iter().map(|&i| drops[i].volume).sum::<f64>();
    let momentum: DVec3 = drops[largest].velocity * drops[largest].volume
        + gone.iter().map(|&i| drops[i].velocity * drops[i].volume).sum::<DVec3>();
    let into = drops[largest].id;
    for &i in &gone {
        drops[i].mesh = Mesh::default();
    }
    let drop = &mut drops[largest];
    drop.volume = volume;
    drop.velocity = momentum / volume;
    drop.air_area = drop.mesh.air_area();
    drop.guess_writhing();
    drop.wake();
    make_ready(drop, world, shortest, scratch);
    ensure_sound(drop, world, shortest, scratch);
    events.push(Event::Merge { merge: ids, into });
}
