//! Streaks of the reproduction mode: how much roughness droplets have left on each triangle
//! (fournier1998, §2.5).
//!
//! The paper takes the streak of a droplet of width w on a triangle of area A_t as one rectangle
//! of length l at the angle θ to the first axis, and reduces the roughness by the share of its
//! projected area:
//!
//! ```text
//! A_x = w|sin θ| + l|cos θ|,  A_y = w|cos θ| + l|sin θ|
//! k_x ← k_x (1 − min(A_x w/A_t, 1)),  k_y likewise
//! ```
//!
//! The factor w is ours: the paper compares a length with an area. Since the rectangle is swept
//! from step to step, we add up the area a that it covers of each triangle, so that neither the
//! step nor the number of rectangles matters, and of all triangles that it covers, so that the band
//! is as wide as the droplet on triangles of any size:
//!
//! ```text
//! A_x w = Σ Δa |cos θ| + min(w²/a, 1) Σ Δa |sin θ|
//! ```
//!
//! which is the paper's where the rectangle lies inside of the triangle and is longer than wide. A
//! streak acts on the paths of *future* droplets: a droplet does not feel its own on the triangle
//! that it is on, nor on one that it has left by less than its width.

use std::collections::BTreeMap;

use glam::{DVec2, DVec3};
use serde::{Deserialize, Serialize};
use sessile_sliding::{DropId, SlotIndex};

use crate::integrate::Segment;
use crate::surface_mesh::{Facet, SurfaceMesh, TriangleIndex};

/// What a droplet near a triangle has covered of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Cover {
    /// Width of the streak, in m.
    width: f64,
    /// Area covered along the first and the second axis, Σ Δa |cos θ| and Σ Δa |sin θ|, in m².
    along: [f64; 2],
    /// Area covered, in m².
    area: f64,
    /// Path length of its maker when it last grew, in m.
    grown_at: f64,
}

impl Cover {
    /// Share of the roughness along the two axes that it leaves on a triangle of this area (in m²).
    fn left(&self, triangle: f64) -> [f64; 2] {
        let across = (self.width * self.width / self.area).min(1.0);
        let [x, y] = self.along;
        [x + across * y, y + across * x].map(|covered| 1.0 - (covered / triangle).min(1.0))
    }
}

/// What droplets near a triangle have covered of it, each.
#[derive(Clone, Debug, Default, PartialEq)]
struct Covers {
    by_maker: BTreeMap<DropId, Cover>,
    /// Product of what they leave along the two axes, where that is not zero, and how many leave
    /// nothing.
    product: [f64; 2],
    num_zeros: [u32; 2],
}

impl Covers {
    /// Updates what all of them leave on a triangle of this area (in m²).
    fn update(&mut self, triangle: f64) {
        (self.product, self.num_zeros) = ([1.0; 2], [0; 2]);
        for left in self.by_maker.values().map(|cover| cover.left(triangle)) {
            for ((product, num_zeros), left) in self.product.iter_mut().zip(&mut self.num_zeros).zip(left) {
                if left > 0.0 {
                    *product *= left;
                } else {
                    *num_zeros += 1;
                }
            }
        }
    }

    /// What those of others leave for the droplet `own` on a triangle of this area (in m²).
    fn left_for(&self, own: DropId, triangle: f64) -> [f64; 2] {
        let own = self.by_maker.get(&own).map_or([1.0; 2], |cover| cover.left(triangle));
        [0, 1].map(|axis| {
            let others = self.num_zeros[axis] - u32::from(own[axis] == 0.0);
            match (others, own[axis] > 0.0) {
                (0, true) => self.product[axis] / own[axis],
                (0, false) => self.product[axis],
                _ => 0.0,
            }
        })
    }
}

/// A droplet with covers that do not act on it yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Maker {
    slot: SlotIndex,
    /// Path length since it began to move, in m.
    distance: f64,
    /// Triangles with a cover of it.
    triangles: Vec<TriangleIndex>,
}

/// Streaks on all triangles.
#[derive(Clone, Debug, Default)]
pub struct Streaks {
    /// Share of the roughness of each triangle along its two axes that droplets which are gone from
    /// it have left, 0 to 1.
    left: Vec<[f64; 2]>,
    /// What droplets that are on or near a triangle have covered of it.
    covers: BTreeMap<TriangleIndex, Covers>,
    makers: BTreeMap<DropId, Maker>,
}

/// Checkpoint: only the triangles with streaks.
#[derive(Serialize, Deserialize)]
pub struct StreaksState {
    left: Vec<(TriangleIndex, [f64; 2])>,
    covers: Vec<(TriangleIndex, Vec<(DropId, Cover)>)>,
    makers: Vec<(DropId, Maker)>,
}

impl Streaks {
    /// Sets the number of triangles; new ones have no streaks.
    pub fn resize(&mut self, num_triangles: usize) {
        self.left.resize(num_triangles, [1.0; 2]);
    }

    /// Share of a triangle's roughness along its two axes that is left for the droplet `own`.
    pub fn left(&self, triangle: TriangleIndex, facet: &Facet, own: DropId) -> [f64; 2] {
        let left = self.left[triangle];
        let Some(covers) = self.covers.get(&triangle) else { return left };
        let [x, y] = covers.left_for(own, facet.area());
        [left[0] * x, left[1] * y]
    }

    /// Adds the streak that a droplet of this radius (in m) leaves along a segment of its path.
    pub fn extend(
        &mut self,
        surface: &SurfaceMesh,
        axes: &[DVec2],
        segment: &Segment,
        radius: f64,
        (maker, slot): (DropId, SlotIndex),
    ) {
        let facet = surface.facet(segment.triangle);
        let ends = [segment.from, segment.to].map(|at| facet.point(at));
        let side = facet.lift((segment.to - segment.from).perp().normalize_or_zero()) * radius;
        let own = self.makers.entry(maker).or_insert_with(|| Maker { slot, distance: 0.0, triangles: Vec::new() });
        own.slot = slot;
        own.distance += segment.from.distance(segment.to);
        let mut seen = vec![segment.triangle];
        let mut next = 0;
        while next < seen.len() {
            let triangle = seen[next];
            next += 1;
            let facet = surface.facet(triangle);
            let area = covered_area(facet, ends, side);
            // The path may begin on an edge, with all of it on the far side.
            if area <= 0.0 && triangle != segment.triangle {
                continue;
            }
            for other in facet.opposite.iter().filter_map(|opposite| opposite.get()).map(|(other, _)| other) {
                if !seen.contains(&other) {
                    seen.push(other);
                }
            }
            if area <= 0.0 {
                continue;
            }
            let cover = self.covers.entry(triangle).or_default().by_maker.entry(maker).or_insert_with(|| {
                own.triangles.push(triangle);
                Cover { width: 0.0, along: [0.0; 2], area: 0.0, grown_at: 0.0 }
            });
            let direction = facet.project(ends[1] - ends[0]).normalize_or_zero();
            let axis = axes[triangle.to_usize()];
            cover.along[0] += area * axis.dot(direction).abs();
            cover.along[1] += area * axis.perp_dot(direction).abs();
            cover.area += area;
            cover.width = cover.width.max(2.0 * radius);
            cover.grown_at = own.distance;
        }
    }

    /// Ends a step: covers act on other droplets, and on their makers too where these are gone or
    /// have left the triangle by more than their width; `place` is the triangle of a droplet that
    /// still exists.
    pub fn close(&mut self, surface: &SurfaceMesh, place: impl Fn(DropId, SlotIndex) -> Option<TriangleIndex>) {
        let Self { left, covers, makers } = self;
        makers.retain(|&maker, own| {
            let at = place(maker, own.slot);
            own.triangles.retain(|triangle| {
                let list = covers.get_mut(triangle).expect("covers of a maker exist");
                let cover = list.by_maker[&maker];
                if at == Some(*triangle) || (at.is_some() && own.distance - cover.grown_at <= cover.width) {
                    return true;
                }
                list.by_maker.remove(&maker);
                if list.by_maker.is_empty() {
                    covers.remove(triangle);
                }
                let [x, y] = cover.left(surface.facet(*triangle).area());
                let left = &mut left[*triangle];
                *left = [left[0] * x, left[1] * y];
                false
            });
            at.is_some()
        });
        covers.iter_mut().for_each(|(triangle, list)| list.update(surface.facet(*triangle).area()));
    }

    /// Checkpoint.
    pub fn save(&self) -> StreaksState {
        let has_streak = |&(_, &left): &(TriangleIndex, &[f64; 2])| left != [1.0; 2];
        let left = TriangleIndex::first(self.left.len()).zip(&self.left).filter(has_streak);
        StreaksState {
            left: left.map(|(t, &left)| (t, left)).collect(),
            covers: self.covers.iter().map(|(&t, list)| (t, list.by_maker.clone().into_iter().collect())).collect(),
            makers: self.makers.iter().map(|(&id, maker)| (id, maker.clone())).collect(),
        }
    }

    /// Restores a checkpoint; `false` if it belongs to another mesh or contradicts itself.
    pub fn restore(&mut self, state: &StreaksState, surface: &SurfaceMesh) -> bool {
        let count = self.left.len();
        self.left.fill([1.0; 2]);
        if !state.left.iter().all(|&(t, left)| self.left.get_mut(t.to_usize()).map(|own| *own = left).is_some()) {
            return false;
        }
        let in_range = state.covers.iter().all(|(t, _)| t.to_usize() < count);
        let covers = |(t, list): &(TriangleIndex, Vec<(DropId, Cover)>)| {
            let mut covers = Covers { by_maker: list.iter().copied().collect(), ..Covers::default() };
            covers.update(surface.facet(*t).area());
            (*t, covers)
        };
        self.covers = if in_range { state.covers.iter().map(covers).collect() } else { BTreeMap::new() };
        self.makers = state.makers.iter().cloned().collect();
        let has_cover =
            |id: DropId, t: &TriangleIndex| self.covers.get(t).is_some_and(|list| list.by_maker.contains_key(&id));
        let mut listed = self.makers.iter().flat_map(|(&id, maker)| maker.triangles.iter().map(move |t| (id, t)));
        in_range && listed.all(|(id, t)| has_cover(id, t))
    }
}

/// Area of a facet under the rectangle between `ends`, of which `side` is half of the width (all in
/// m, rest pose).
fn covered_area(facet: &Facet, ends: [DVec3; 2], side: DVec3) -> f64 {
    let [a, b] = ends.map(|end| facet.project(end - facet.origin));
    let side = facet.project(side);
    let mut polygon = vec![a - side, b - side, b + side, a + side];
    for k in 0..3 {
        let mut clipped = Vec::with_capacity(polygon.len() + 1);
        for (index, &from) in polygon.iter().enumerate() {
            let to = polygon[(index + 1) % polygon.len()];
            let [before, after] = [from, to].map(|at| facet.edge_distance(at, k));
            if before >= 0.0 {
                clipped.push(from);
            }
            if (before >= 0.0) != (after >= 0.0) {
                clipped.push(from.lerp(to, before / (before - after)));
            }
        }
        polygon = clipped;
    }
    let corners = polygon.iter().zip(polygon.iter().cycle().skip(1));
    // The rectangle turns clockwise where the surface faces the other way.
    0.5 * corners.map(|(from, to)| from.perp_dot(*to)).sum::<f64>().abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface_mesh::tests::{sheet, surface_of};

    fn maker(number: u32) -> (DropId, SlotIndex) {
        (DropId::new(number).expect("positive"), SlotIndex::new(number as usize))
    }

    fn without_streaks(num_triangles: usize) -> Streaks {
        let mut streaks = Streaks::default();
        streaks.resize(num_triangles);
        streaks
    }

    fn x_axes(surface: &SurfaceMesh) -> Vec<DVec2> {
        surface.facets().iter().map(|facet| facet.project(DVec3::X).normalize()).collect()
    }

    /// w = 2 mm, l = 10 mm, cos = 0.6, sin = 0.8, A_t = 1250 mm²; in one piece and in a hundred.
    #[test]
    fn a_streak_reduces_roughness_by_the_projected_share_in_any_number_of_pieces() {
        let surface = surface_of(&sheet(0.1, 0.1, 2, 2));
        let axes = x_axes(&surface);
        let triangle = TriangleIndex::new(0);
        let facet = surface.facet(triangle);
        let from = facet.centroid();
        let path = facet.project(DVec3::new(6e-3, 8e-3, 0.0));
        for pieces in [1, 100] {
            let mut streaks = without_streaks(surface.facets().len());
            for piece in 0..pieces {
                let [from, to] = [piece, piece + 1].map(|end| from + path * (f64::from(end) / f64::from(pieces)));
                streaks.extend(&surface, &axes, &Segment { triangle, from, to, time: 0.1 }, 1e-3, maker(1));
            }
            streaks.close(&surface, |_, _| Some(triangle));
            let share = |extent: f64| 1.0 - extent * 2e-3 / facet.area();
            let [x, y] = streaks.left(triangle, facet, maker(2).0);
            assert!((x - share(2e-3 * 0.8 + 10e-3 * 0.6)).abs() < 1e-9, "{pieces} pieces: {x}");
            assert!((y - share(2e-3 * 0.6 + 10e-3 * 0.8)).abs() < 1e-9, "{pieces} pieces: {y}");
            assert_eq!(streaks.left(triangle, facet, maker(1).0), [1.0; 2], "its own streak acts on a droplet");
        }
    }

    /// The band is as wide as the droplet, whatever the triangles; its area is that of the
    /// rectangle.
    #[test]
    fn a_streak_covers_a_band_of_the_droplets_width_on_triangles_of_any_size() {
        for columns in [3, 20, 100] {
            let surface = surface_of(&sheet(0.02, 0.02, columns, columns));
            let axes = x_axes(&surface);
            let mut streaks = without_streaks(surface.facets().len());
            let [start, end] = [DVec3::new(-5e-3, 1.1e-4, 0.0), DVec3::new(5e-3, 1.1e-4, 0.0)];
            let mut facets = surface.facets().iter().enumerate();
            let holds = |facet: &Facet| facet.depth(facet.project(start - facet.origin)) >= 0.0;
            let (index, facet) = facets.find(|(_, facet)| holds(facet)).expect("the start lies on the sheet");
            let [from, to] = [start, end].map(|at| facet.project(at - facet.origin));
            let segment = Segment { triangle: TriangleIndex::new(index), from, to, time: 0.1 };
            streaks.extend(&surface, &axes, &segment, 1e-3, maker(1));
            streaks.close(&surface, |_, _| Some(segment.triangle));
            let area: f64 =
                streaks.covers.values().flat_map(|list| list.by_maker.values()).map(|cover| cover.area).sum();
            assert!((area / (10e-3 * 2e-3) - 1.0).abs() < 1e-9, "{columns} columns: {area}");
            // Everything that the band covers entirely is smooth along it.
            for (index, facet) in surface.facets().iter().enumerate() {
                let corners = facet.corners.map(|corner| facet.point(corner));
                if corners.iter().all(|p| p.x.abs() < 5e-3 && (p.y - 1.1e-4).abs() < 1e-3) {
                    let [x, _] = streaks.left(TriangleIndex::new(index), facet, maker(2).0);
                    assert!(x < 1e-9, "{columns} columns: {x} of the roughness is left");
                }
            }
        }
    }

    #[test]
    fn a_droplet_feels_its_own_streak_only_after_it_has_left_by_its_width() {
        let surface = surface_of(&sheet(0.1, 0.1, 1, 1));
        let axes = x_axes(&surface);
        let mut streaks = without_streaks(surface.facets().len());
        let triangle = TriangleIndex::new(0);
        let facet = surface.facet(triangle);
        let from = facet.centroid();
        let segment = Segment { triangle, from, to: from + DVec2::new(5e-3, 0.0), time: 0.1 };
        streaks.extend(&surface, &axes, &segment, 1e-3, maker(1));
        streaks.close(&surface, |_, _| Some(triangle));
        assert_eq!(streaks.left(triangle, facet, maker(1).0), [1.0; 2]);
        streaks.close(&surface, |_, _| Some(TriangleIndex::new(1)));
        assert_eq!(streaks.left(triangle, facet, maker(1).0), [1.0; 2], "it has only just left");
        let before = streaks.left(triangle, facet, maker(2).0);
        let elsewhere = surface.facet(TriangleIndex::new(1)).centroid();
        let away = Segment { triangle: TriangleIndex::new(1), from: elsewhere, to: elsewhere + 3e-3, time: 0.1 };
        streaks.extend(&surface, &axes, &away, 1e-3, maker(1));
        streaks.close(&surface, |_, _| Some(TriangleIndex::new(1)));
        for id in [1, 2] {
            let after = streaks.left(triangle, facet, maker(id).0);
            assert!((after[0] - before[0]).abs() < 1e-12 && (after[1] - before[1]).abs() < 1e-12, "{id}: {after:?}");
        }
        let mut restored = without_streaks(surface.facets().len());
        assert!(restored.restore(&streaks.save(), &surface));
        assert_eq!(
            (&restored.left, &restored.covers, &restored.makers),
            (&streaks.left, &streaks.covers, &streaks.makers)
        );
    }
}
