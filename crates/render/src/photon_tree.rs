//! Photons where they landed, each smeared over a disc of its own.
//!
//! The light that reaches a point is the sum over the photons whose discs cover it,
//!
//! ```text
//! E(x) = Σ Φ K(|x − xₚ|, rₚ),     K(d, r) = 2/(π r²) (1 − d²/r²) for d < r        (silverman1986)
//! ```
//!
//! with rₚ the distance to the photon's k-th neighbor: narrow where photons are dense, wide where they are few. K integrates to
//! one over the plane, so a smeared photon brings just the light that it had.
//!
//! Photons lie in the order of a balanced tree: each node halves its range across its longest side. The tree first finds neighbors
//! by boxes of places, then points by boxes of discs.

use glam::Vec3;

/// Neighbors within a photon's disc.
const NEIGHBORS: usize = 20;

/// Most photons in a leaf.
const LEAF: usize = 8;

/// Light that has landed on a surface that scatters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Photon {
    /// Where.
    pub at: Vec3,
    /// Back to where it came from, unit length.
    pub towards: Vec3,
    /// Normal of the facet that it landed on.
    pub normal: Vec3,
    /// Power, in the unit of radiance times m².
    pub power: Vec3,
    /// Radius of its disc, in m.
    pub radius: f32,
}

/// Photons that can be asked for by place.
#[derive(Clone, Debug, Default)]
pub struct PhotonTree {
    photons: Vec<Photon>,
    /// Boxes of the nodes as in a heap: children of i are 2i + 1 and 2i + 2.
    boxes: Vec<[Vec3; 2]>,
    levels: u32,
}

impl PhotonTree {
    /// A tree of photons, whose discs get radii up to `widest`.
    pub fn new(mut photons: Vec<Photon>, widest: f32) -> Self {
        let mut levels = 0;
        while photons.len() > LEAF << levels {
            levels += 1;
        }
        arrange(&mut photons, levels);
        let mut tree = Self { photons, boxes: Vec::new(), levels };
        tree.boxes = tree.bound(|_| 0.0);
        let narrowest = 1e-3 * widest;
        let radii: Vec<f32> =
            tree.photons.iter().map(|p| tree.neighbor_distance(p.at, widest).max(narrowest)).collect();
        tree.photons.iter_mut().zip(radii).for_each(|(photon, radius)| photon.radius = radius);
        tree.boxes = tree.bound(|photon| photon.radius);
        tree
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.photons.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.photons.is_empty()
    }

    /// The photons in the tree's order.
    pub fn photons(&self) -> &[Photon] {
        &self.photons
    }

    /// Calls `take` with each photon whose disc covers a point and its K there, always in the same order.
    pub fn covering(&self, point: Vec3, mut take: impl FnMut(&Photon, f32)) {
        self.visit(
            |[low, high]| point.cmpge(*low).all() && point.cmple(*high).all(),
            |photons| {
                for photon in photons {
                    let (squared, reach) = (photon.at.distance_squared(point), photon.radius * photon.radius);
                    if squared < reach {
                        take(photon, std::f32::consts::FRAC_2_PI / reach * (1.0 - squared / reach));
                    }
                }
            },
        );
    }

    /// Distance to the k-th neighbor of a photon's place, at most `widest`.
    fn neighbor_distance(&self, point: Vec3, widest: f32) -> f32 {
        // The photon itself is the first of those found. The least distances so far, in order.
        let mut least = [widest * widest; NEIGHBORS + 1];
        self.near(0, 0, self.photons.len(), point, &mut least);
        least[NEIGHBORS].sqrt()
    }

    fn near(&self, node: usize, start: usize, end: usize, point: Vec3, least: &mut [f32; NEIGHBORS + 1]) {
        if node >= self.boxes.len() / 2 {
            for photon in &self.photons[start..end] {
                let squared = photon.at.distance_squared(point);
                if squared < least[NEIGHBORS] {
                    let place = least.partition_point(|&other| other < squared);
                    least.copy_within(place..NEIGHBORS, place + 1);
                    least[place] = squared;
                }
            }
            return;
        }
        let middle = start + (end - start) / 2;
        let gap = |child: usize| {
            let [low, high] = self.boxes[child];
            (low - point).max(point - high).max(Vec3::ZERO).length_squared()
        };
        let children =
            [(gap(2 * node + 1), 2 * node + 1, start, middle), (gap(2 * node + 2), 2 * node + 2, middle, end)];
        let first = usize::from(children[1].0 < children[0].0);
        for (gap, child, start, end) in [children[first], children[1 - first]] {
            if gap < least[NEIGHBORS] {
                self.near(child, start, end, point, least);
            }
        }
    }

    /// Walks down into the nodes whose boxes are `entered`, and gives `leaf` the photons of leaves.
    #[inline]
    fn visit(&self, entered: impl Fn(&[Vec3; 2]) -> bool, mut leaf: impl FnMut(&[Photon])) {
        // A balanced tree of fewer than 2³² photons is never deeper than this.
        let mut stack = [(0_u32, 0_u32, 0_u32); 34];
        stack[0] = (0, 0, self.photons.len() as u32);
        let mut height = usize::from(!self.photons.is_empty());
        while height > 0 {
            height -= 1;
            let (node, start, end) = stack[height];
            if !entered(&self.boxes[node as usize]) {
                continue;
            }
            if node as usize >= self.boxes.len() / 2 {
                leaf(&self.photons[start as usize..end as usize]);
                continue;
            }
            let middle = start + (end - start) / 2;
            stack[height] = (2 * node + 2, middle, end);
            stack[height + 1] = (2 * node + 1, start, middle);
            height += 2;
        }
    }

    /// Boxes of all nodes round balls of the given radii.
    fn bound(&self, radius: impl Fn(&Photon) -> f32) -> Vec<[Vec3; 2]> {
        let empty = [Vec3::INFINITY, Vec3::NEG_INFINITY];
        let mut boxes = vec![empty; (2 << self.levels) - 1];
        let first_leaf = boxes.len() / 2;
        let mut ranges = vec![(0, self.photons.len())];
        for _ in 0..self.levels {
            ranges = ranges.iter().flat_map(|&(a, b)| [(a, a + (b - a) / 2), (a + (b - a) / 2, b)]).collect();
        }
        for (leaf, (start, end)) in ranges.into_iter().enumerate() {
            boxes[first_leaf + leaf] = self.photons[start..end].iter().fold(empty, |[low, high], photon| {
                let r = Vec3::splat(radius(photon));
                [low.min(photon.at - r), high.max(photon.at + r)]
            });
        }
        for node in (0..first_leaf).rev() {
            let [a, b] = [boxes[2 * node + 1], boxes[2 * node + 2]];
            boxes[node] = [a[0].min(b[0]), a[1].max(b[1])];
        }
        boxes
    }
}

/// Puts photons into the tree's order.
fn arrange(photons: &mut [Photon], levels: u32) {
    if levels == 0 {
        return;
    }
    let (low, high) = photons
        .iter()
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), photon| (low.min(photon.at), high.max(photon.at)));
    let axis = (high - low).max_position();
    let middle = photons.len() / 2;
    photons.select_nth_unstable_by(middle, |a, b| a.at[axis].total_cmp(&b.at[axis]));
    let (below, above) = photons.split_at_mut(middle);
    arrange(below, levels - 1);
    arrange(above, levels - 1);
}

#[cfg(test)]
mod tests {
    use glam::Vec2;

    use super::*;
    use crate::sampler::Sampler;

    fn scattered(count: u32) -> Vec<Photon> {
        (0..count)
            .map(|i| {
                let u: Vec2 = Sampler::new(3, 1, i).pair();
                // Denser towards one corner.
                let at = Vec3::new(u.x * u.x, 0.0, u.y);
                Photon { at, towards: Vec3::Y, normal: Vec3::Y, power: Vec3::splat(1.0 / count as f32), radius: 0.0 }
            })
            .collect()
    }

    #[test]
    fn smeared_photons_bring_all_their_light() {
        let tree = PhotonTree::new(scattered(5000), 0.1);
        let side = 400_u16;
        let mut sum = 0.0_f64;
        for cell in 0..u32::from(side) * u32::from(side) {
            let (x, z) = (cell % u32::from(side), cell / u32::from(side));
            let place = |i: u32| 1.4 * (i as f32 + 0.5) / f32::from(side) - 0.2;
            tree.covering(Vec3::new(place(x), 0.0, place(z)), |photon, k| sum += f64::from(photon.power.x * k));
        }
        let brought = sum * (1.4 / f64::from(side)).powi(2);
        assert!((brought - 1.0).abs() < 3e-3, "{brought} of the light");
    }

    #[test]
    fn the_tree_finds_what_a_search_of_all_finds() {
        let photons = scattered(3000);
        let tree = PhotonTree::new(photons.clone(), 0.05);
        assert_eq!(tree.len(), photons.len());
        for photon in tree.photons().iter().step_by(97) {
            let mut squares: Vec<f32> = photons.iter().map(|p| p.at.distance_squared(photon.at)).collect();
            squares.sort_by(f32::total_cmp);
            let expected = squares[NEIGHBORS].sqrt().min(0.05);
            assert!((photon.radius / expected - 1.0).abs() < 1e-5, "{} against {expected}", photon.radius);
            let mut found = 0;
            tree.covering(photon.at, |_, _| found += 1);
            let covers = |p: &&Photon| p.at.distance_squared(photon.at) < p.radius * p.radius;
            assert_eq!(found, tree.photons().iter().filter(covers).count());
        }
    }

    #[test]
    fn no_photons_and_photons_at_one_place_are_no_trouble() {
        let mut found = 0;
        PhotonTree::new(Vec::new(), 1.0).covering(Vec3::ZERO, |_, _| found += 1);
        assert_eq!(found, 0);
        let same = vec![Photon { at: Vec3::X, ..scattered(1)[0] }; 100];
        let tree = PhotonTree::new(same, 1.0);
        tree.covering(Vec3::X, |photon, k| {
            assert!(photon.radius > 0.0 && k.is_finite());
            found += 1;
        });
        assert_eq!(found, 100);
    }
}
