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

use glam::{Vec3, Vec3A, Vec4};

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
#[derive(Clone, Debug)]
pub struct PhotonMap {
    photons: Vec<Photon>,
    /// Positions and squared kernel radii of each leaf's photons: all that a query reads of most.
    kernels: Vec<[FourKernels; LEAF / 4]>,
    /// First photon of each leaf, and the number of photons.
    starts: Vec<u32>,
    /// Bounding boxes of the nodes in heap order: children of i are 2i + 1 and 2i + 2.
    boxes: Vec<[Vec3A; 2]>,
}

/// Positions and squared radii of four kernels; a negative square is none.
#[derive(Clone, Copy, Debug)]
struct FourKernels {
    axes: [Vec4; 3],
    reach: Vec4,
}

impl FourKernels {
    /// The kernels of up to four photons.
    fn new(photons: &[Photon]) -> Self {
        let each = |value: &dyn Fn(&Photon) -> f32, none: f32| {
            Vec4::from_array(std::array::from_fn(|k| photons.get(k).map_or(none, value)))
        };
        let axes = [0, 1, 2].map(|axis| each(&|photon| photon.position[axis], 0.0));
        Self { axes, reach: each(&|photon| photon.radius * photon.radius, -1.0) }
    }
}

impl PhotonMap {
    /// Builds the map; kernel radii are at most `max_radius`, in m.
    pub fn new(mut photons: Vec<Photon>, max_radius: f32) -> Self {
        let mut levels = 0;
        while photons.len() > LEAF << levels {
            levels += 1;
        }
        sort_into_tree(&mut photons, levels);
        let starts = leaf_starts(photons.len(), levels);
        let mut tree = Self { photons, kernels: Vec::new(), starts, boxes: Vec::new() };
        tree.boxes = tree.bound(|_| 0.0);
        let min_radius = 1e-3 * max_radius;
        let radii: Vec<f32> =
            tree.photons.iter().map(|p| tree.neighbor_distance(p.position, max_radius).max(min_radius)).collect();
        tree.photons.iter_mut().zip(radii).for_each(|(photon, radius)| photon.radius = radius);
        tree.kernels = tree.kernels();
        tree.boxes = tree.bound(|photon| photon.radius);
        tree
    }

    /// Calls `take` with each photon whose kernel covers a point and the kernel's value there, in a
    /// fixed order.
    pub fn for_each_covering(&self, point: Vec3, mut take: impl FnMut(&Photon, f32)) {
        let (first_leaf, at) = (self.boxes.len() / 2, Vec3A::from(point));
        // Numbered from 1, the children of node m are 2m and 2m + 1.
        let mut node = 1;
        while let Some([low, high]) = self.boxes.get(node - 1) {
            if (at.cmpge(*low) & at.cmple(*high)).all() {
                if node <= first_leaf {
                    node *= 2;
                    continue;
                }
                let leaf = node - 1 - first_leaf;
                for (group, four) in self.kernels[leaf].iter().enumerate() {
                    let [x, y, z] = [0, 1, 2].map(|axis| four.axes[axis] - Vec4::splat(at[axis]));
                    let squared = x * x + y * y + z * z;
                    let mut covering = squared.cmplt(four.reach).bitmask();
                    while covering != 0 {
                        let lane = covering.trailing_zeros() as usize;
                        covering &= covering - 1;
                        let (squared, reach) = (squared[lane], four.reach[lane]);
                        let photon = &self.photons[self.starts[leaf] as usize + 4 * group + lane];
                        take(photon, std::f32::consts::FRAC_2_PI / reach * (1.0 - squared / reach));
                    }
                }
            }
            // Up from right children, and on to the sibling of a left one.
            node >>= node.trailing_ones();
            if node == 0 {
                return;
            }
            node += 1;
        }
    }

    fn kernels(&self) -> Vec<[FourKernels; LEAF / 4]> {
        let leaf = |range: &[u32]| {
            let photons = &self.photons[range[0] as usize..range[1] as usize];
            std::array::from_fn(|group| FourKernels::new(&photons[(4 * group).min(photons.len())..]))
        };
        self.starts.windows(2).map(leaf).collect()
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
            let ([low, high], at) = (self.boxes[child], Vec3A::from(point));
            (low - at).max(at - high).max(Vec3A::ZERO).length_squared()
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

    /// Bounding boxes of all nodes around spheres of the given radii.
    fn bound(&self, radius: impl Fn(&Photon) -> f32) -> Vec<[Vec3A; 2]> {
        let empty = [Vec3A::INFINITY, Vec3A::NEG_INFINITY];
        let leaves = self.starts.len() - 1;
        let mut boxes = vec![empty; 2 * leaves - 1];
        let first_leaf = boxes.len() / 2;
        for (leaf, range) in self.starts.windows(2).enumerate() {
            let photons = &self.photons[range[0] as usize..range[1] as usize];
            boxes[first_leaf + leaf] = photons.iter().fold(empty, |[low, high], photon| {
                let (at, r) = (Vec3A::from(photon.position), Vec3A::splat(radius(photon)));
                [low.min(at - r), high.max(at + r)]
            });
        }
        for node in (0..first_leaf).rev() {
            let [a, b] = [boxes[2 * node + 1], boxes[2 * node + 2]];
            boxes[node] = [a[0].min(b[0]), a[1].max(b[1])];
        }
        boxes
    }
}

/// First photon of each leaf of a tree, and their number.
fn leaf_starts(count: usize, levels: u32) -> Vec<u32> {
    let mut starts = vec![0, count as u32];
    for _ in 0..levels {
        let halves = starts.windows(2).flat_map(|range| [range[0], range[0] + (range[1] - range[0]) / 2]);
        starts = halves.chain([count as u32]).collect();
    }
    starts
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
