//! Photon map of caustics: photons at their positions, each with a kernel of its own radius.
//!
//! Irradiance at a point is the sum over the photons whose kernels cover it,
//!
//! ```text
//! E(x) = Σ Φ K(|x − xₚ|, rₚ),     K(d, r) = 2/(π r²) (1 − d²/r²) for d < r        (silverman1986)
//! ```
//!
//! with rₚ the distance to the photon's k-th neighbor: small where photons are dense, large where
//! they are sparse. K integrates to one over the plane, so power is conserved.
//!
//! Photons are stored in the order of a balanced tree: each node halves its range along its longest
//! axis. The tree is used twice: with boxes around positions to find neighbors, then with boxes
//! around kernels to find the photons that cover a point.

use glam::Vec3;

/// Neighbors within a photon's kernel.
const NEIGHBORS: usize = 20;

/// Maximum number of photons in a leaf.
const LEAF: usize = 8;

/// Light that has reached a scattering surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Photon {
    /// Position, in m.
    pub position: Vec3,
    /// Incident direction, towards where it came from, unit length.
    pub wi: Vec3,
    /// Geometric normal of the surface.
    pub normal: Vec3,
    /// Power, in units of radiance times m².
    pub power: Vec3,
    /// Kernel radius, in m.
    pub radius: f32,
}

/// Photons with a tree over their positions.
#[derive(Clone, Debug, Default)]
pub struct PhotonMap {
    photons: Vec<Photon>,
    /// Bounding boxes of the nodes in heap order: children of i are 2i + 1 and 2i + 2.
    boxes: Vec<[Vec3; 2]>,
    levels: u32,
}

impl PhotonMap {
    /// Builds the map; kernel radii are at most `max_radius`, in m.
    pub fn new(mut photons: Vec<Photon>, max_radius: f32) -> Self {
        let mut levels = 0;
        while photons.len() > LEAF << levels {
            levels += 1;
        }
        sort_into_tree(&mut photons, levels);
        let mut tree = Self { photons, boxes: Vec::new(), levels };
        tree.boxes = tree.bound(|_| 0.0);
        let min_radius = 1e-3 * max_radius;
        let radii: Vec<f32> =
            tree.photons.iter().map(|p| tree.neighbor_distance(p.position, max_radius).max(min_radius)).collect();
        tree.photons.iter_mut().zip(radii).for_each(|(photon, radius)| photon.radius = radius);
        tree.boxes = tree.bound(|photon| photon.radius);
        tree
    }

    /// Calls `take` with each photon whose kernel covers a point and the kernel's value there, in a
    /// fixed order.
    pub fn for_each_covering(&self, point: Vec3, mut take: impl FnMut(&Photon, f32)) {
        self.visit(
            |[low, high]| point.cmpge(*low).all() && point.cmple(*high).all(),
            |photons| {
                for photon in photons {
                    let (squared, reach) = (photon.position.distance_squared(point), photon.radius * photon.radius);
                    if squared < reach {
                        take(photon, std::f32::consts::FRAC_2_PI / reach * (1.0 - squared / reach));
                    }
                }
            },
        );
    }

    /// Distance to the k-th neighbor of a photon, at most `max_radius`.
    fn neighbor_distance(&self, point: Vec3, max_radius: f32) -> f32 {
        // The smallest squared distances so far, in order; the photon itself comes first.
        let mut least = [max_radius * max_radius; NEIGHBORS + 1];
        self.nearest(0, 0, self.photons.len(), point, &mut least);
        least[NEIGHBORS].sqrt()
    }

    fn nearest(&self, node: usize, start: usize, end: usize, point: Vec3, least: &mut [f32; NEIGHBORS + 1]) {
        if node >= self.boxes.len() / 2 {
            for photon in &self.photons[start..end] {
                let squared = photon.position.distance_squared(point);
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
                self.nearest(child, start, end, point, least);
            }
        }
    }

    /// Traverses the nodes whose boxes `enters` admits, and calls `leaf` with the photons of each
    /// leaf.
    #[inline]
    fn visit(&self, enters: impl Fn(&[Vec3; 2]) -> bool, mut leaf: impl FnMut(&[Photon])) {
        // Deep enough for a balanced tree of 2³² photons.
        let mut stack = [(0_u32, 0_u32, 0_u32); 34];
        stack[0] = (0, 0, self.photons.len() as u32);
        let mut height = usize::from(!self.photons.is_empty());
        while height > 0 {
            height -= 1;
            let (node, start, end) = stack[height];
            if !enters(&self.boxes[node as usize]) {
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

    /// Bounding boxes of all nodes around spheres of the given radii.
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
                [low.min(photon.position - r), high.max(photon.position + r)]
            });
        }
        for node in (0..first_leaf).rev() {
            let [a, b] = [boxes[2 * node + 1], boxes[2 * node + 2]];
            boxes[node] = [a[0].min(b[0]), a[1].max(b[1])];
        }
        boxes
    }
}

/// Sorts photons into tree order.
fn sort_into_tree(photons: &mut [Photon], levels: u32) {
    if levels == 0 {
        return;
    }
    let (low, high) = photons.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), photon| {
        (low.min(photon.position), high.max(photon.position))
    });
    let axis = (high - low).max_position();
    let middle = photons.len() / 2;
    photons.select_nth_unstable_by(middle, |a, b| a.position[axis].total_cmp(&b.position[axis]));
    let (below, above) = photons.split_at_mut(middle);
    sort_into_tree(below, levels - 1);
    sort_into_tree(above, levels - 1);
}

#[cfg(test)]
mod tests {
    use glam::Vec2;

    use super::*;
    use crate::sampler::Sampler;

    fn scattered(count: u32) -> Vec<Photon> {
        (0..count)
            .map(|i| {
                let u: Vec2 = Sampler::new(3, 1, i).next_2d();
                // Denser towards one corner.
                let position = Vec3::new(u.x * u.x, 0.0, u.y);
                Photon { position, wi: Vec3::Y, normal: Vec3::Y, power: Vec3::splat(1.0 / count as f32), radius: 0.0 }
            })
            .collect()
    }

    #[test]
    fn kernels_conserve_power() {
        let tree = PhotonMap::new(scattered(5000), 0.1);
        let side = 400_u16;
        let mut sum = 0.0_f64;
        for cell in 0..u32::from(side) * u32::from(side) {
            let (x, z) = (cell % u32::from(side), cell / u32::from(side));
            let place = |i: u32| 1.4 * (i as f32 + 0.5) / f32::from(side) - 0.2;
            tree.for_each_covering(Vec3::new(place(x), 0.0, place(z)), |photon, k| {
                sum += f64::from(photon.power.x * k);
            });
        }
        let total = sum * (1.4 / f64::from(side)).powi(2);
        assert!((total - 1.0).abs() < 3e-3, "{total} of the power");
    }

    #[test]
    fn tree_queries_match_brute_force() {
        let photons = scattered(3000);
        let tree = PhotonMap::new(photons.clone(), 0.05);
        assert_eq!(tree.photons.len(), photons.len());
        for photon in tree.photons.iter().step_by(97) {
            let mut squares: Vec<f32> = photons.iter().map(|p| p.position.distance_squared(photon.position)).collect();
            squares.sort_by(f32::total_cmp);
            let expected = squares[NEIGHBORS].sqrt().min(0.05);
            assert!((photon.radius / expected - 1.0).abs() < 1e-5, "{} against {expected}", photon.radius);
            let mut found = 0;
            tree.for_each_covering(photon.position, |_, _| found += 1);
            let covers = |p: &&Photon| p.position.distance_squared(photon.position) < p.radius * p.radius;
            assert_eq!(found, tree.photons.iter().filter(covers).count());
        }
    }

    #[test]
    fn empty_maps_and_coincident_photons_are_handled() {
        let mut found = 0;
        PhotonMap::new(Vec::new(), 1.0).for_each_covering(Vec3::ZERO, |_, _| found += 1);
        assert_eq!(found, 0);
        let same = vec![Photon { position: Vec3::X, ..scattered(1)[0] }; 100];
        let tree = PhotonMap::new(same, 1.0);
        tree.for_each_covering(Vec3::X, |photon, k| {
            assert!(photon.radius > 0.0 && k.is_finite());
            found += 1;
        });
        assert_eq!(found, 100);
    }
}
