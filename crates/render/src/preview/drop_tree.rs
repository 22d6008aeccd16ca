//! Which drop a ray meets first: a bounding volume hierarchy over the drops' approximating caps.
//!
//! Rays that leave a drop may reach another one, which is then shown through the first. Only its
//! cap is intersected, not its triangles: a ray needs a few boxes and one quadratic equation.

use glam::Vec3;

use super::screen_drops::ScreenDrop;

/// Drops in a leaf.
const LEAF: usize = 4;

/// A hierarchy over the drops of a frame.
#[derive(Clone, Debug, Default)]
pub(super) struct DropTree {
    /// Nodes in depth-first order: the first child follows its parent.
    nodes: Vec<Node>,
    /// Indices of drops, leaf by leaf.
    order: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    low: Vec3,
    high: Vec3,
    /// Second child, or the first place in `order`.
    next: u32,
    /// Number of drops; 0 for an inner node.
    count: u32,
}

/// Where a ray enters a drop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry {
    pub drop: u32,
    pub distance: f32,
    pub normal: Vec3,
}

impl DropTree {
    pub fn new(drops: &[ScreenDrop]) -> Self {
        let mut tree = Self { nodes: Vec::with_capacity(drops.len()), order: (0..drops.len() as u32).collect() };
        let bounds: Vec<(Vec3, Vec3)> = drops.iter().map(|drop| drop.cap.bounds()).collect();
        if !drops.is_empty() {
            tree.build(&bounds, 0, drops.len());
        }
        tree
    }

    fn build(&mut self, bounds: &[(Vec3, Vec3)], from: usize, to: usize) {
        let of = |&i: &u32| bounds[i as usize];
        let around = self.order[from..to].iter().map(of);
        let (low, high) =
            around.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(l, h), (low, high)| (l.min(low), h.max(high)));
        let node = self.nodes.len();
        self.nodes.push(Node { low, high, next: from as u32, count: (to - from) as u32 });
        if to - from <= LEAF {
            return;
        }
        let axis = (high - low).max_position();
        let middle = usize::midpoint(from, to);
        let key = |i: &u32| (bounds[*i as usize].0 + bounds[*i as usize].1)[axis];
        self.order[from..to]
            .select_nth_unstable_by(middle - from, |a, b| key(a).total_cmp(&key(b)).then_with(|| a.cmp(b)));
        self.build(bounds, from, middle);
        self.nodes[node].next = self.nodes.len() as u32;
        self.nodes[node].count = 0;
        self.build(bounds, middle, to);
    }

    /// The first of `drops` that a ray enters, except `apart`.
    pub fn first(&self, drops: &[ScreenDrop], apart: &ScreenDrop, origin: Vec3, direction: Vec3) -> Option<Entry> {
        let inverse = direction.recip();
        let mut nearest: Option<Entry> = None;
        let mut stack = [0_u32; 64];
        let mut depth = usize::from(!self.nodes.is_empty());
        while depth > 0 {
            depth -= 1;
            let index = stack[depth];
            let node = &self.nodes[index as usize];
            let (a, b) = ((node.low - origin) * inverse, (node.high - origin) * inverse);
            let enter = a.min(b).max_element().max(0.0);
            let leave = a.max(b).min_element();
            if enter > leave || nearest.is_some_and(|found| enter > found.distance) {
                continue;
            }
            if node.count == 0 {
                (stack[depth], stack[depth + 1]) = (node.next, index + 1);
                depth += 2;
                continue;
            }
            for &drop in &self.order[node.next as usize..][..node.count as usize] {
                let other = &drops[drop as usize];
                if std::ptr::eq(other, apart) {
                    continue;
                }
                let Some((distance, normal)) = other.entry(origin, direction) else { continue };
                if nearest.is_none_or(|found| distance < found.distance) {
                    nearest = Some(Entry { drop, distance, normal });
                }
            }
        }
        nearest
    }
}

#[cfg(test)]
mod tests {
    use super::super::screen_drops::sphere_at;
    use super::*;

    #[test]
    fn the_tree_finds_the_first_drop_on_a_ray_as_a_search_through_all_does() {
        let part = |k: u32, factor: u32| (k.wrapping_mul(factor) >> 8 & 0xffff) as f32 / 65536.0 - 0.5;
        let point = |k: u32| Vec3::new(part(k, 0x9e37_79b9), part(k, 0xc2b2_ae35), part(k, 0x85eb_ca6b));
        let drops: Vec<ScreenDrop> =
            (1..200).map(|k| sphere_at(point(k), 0.05 + 0.04 * part(k, 0x27d4_eb2f))).collect();
        let tree = DropTree::new(&drops);
        let mut hits = 0;
        for k in 0..500 {
            let (apart, origin) = (&drops[k as usize % drops.len()], point(1000 + k));
            let direction = point(2000 + k).normalize();
            let entries = drops.iter().enumerate().filter(|(_, drop)| !std::ptr::eq(*drop, apart));
            let all = entries.filter_map(|(i, drop)| drop.entry(origin, direction).map(|(t, _)| (t, i as u32)));
            let nearest = all.min_by(|a, b| a.0.total_cmp(&b.0));
            let found = tree.first(&drops, apart, origin, direction);
            assert_eq!(found.map(|entry| (entry.distance, entry.drop)), nearest);
            hits += u32::from(found.is_some());
        }
        assert!(hits > 50, "{hits} of 500 rays");
    }
}
