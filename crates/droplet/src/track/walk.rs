//! Places on a track, and the straight way from one along the surface.

use glam::{DVec2, DVec3};
use serde::{Deserialize, Serialize};

use super::{Facet, NONE, Track};

/// Sides crossed at most on one walk; longer ways end where they are.
const MOST_SIDES: usize = 256;

/// A place on a track.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// The triangle.
    pub triangle: u32,
    /// Where in its axes, in m.
    pub at: DVec2,
}

impl Place {
    /// The place in the rest pose of its solid, in m.
    pub fn point(&self, track: &Track) -> DVec3 {
        track.facet(self.triangle).point(self.at)
    }
}

impl Track {
    /// The place reached from `from` by the straight way `way` (in m, in the axes of its triangle) along the surface.
    ///
    /// The way goes straight over sides as if the two triangles were unfolded. At a border it goes along it as far as it still has a
    /// component there, else ends. The vector carried along (a heading, say) comes back in the axes of the last triangle.
    pub fn walk(&self, from: Place, way: DVec2, carried: DVec2) -> (Place, DVec2) {
        let (Place { mut triangle, mut at }, mut way, mut carried) = (from, way, carried);
        let mut entered = usize::MAX;
        for _ in 0..MOST_SIDES {
            let facet = self.facet(triangle);
            let Some((k, share)) = first_side(facet, at, way, entered) else {
                return (Place { triangle, at: facet.clamp(at + way) }, carried);
            };
            let left = at + way * share;
            way *= 1.0 - share;
            let along = (facet.sides[k].dot(left - facet.corners[k]) / facet.lengths[k]).clamp(0.0, 1.0);
            if facet.across[k] == NONE {
                at = facet.on_side(k, along);
                way = facet.sides[k] * facet.sides[k].dot(way);
                if entered == k {
                    break;
                }
                entered = k;
                continue;
            }
            let (other, side) = (facet.across[k] / 3, facet.across[k] as usize % 3);
            way = self.carry(triangle, k, other, side, way);
            carried = self.carry(triangle, k, other, side, carried);
            (triangle, at) = (other, self.facet(other).on_side(side, 1.0 - along));
            entered = side;
        }
        (Place { triangle, at }, carried)
    }
}

/// The side through which a straight way leaves, and the share of the way up to there.
fn first_side(facet: &Facet, at: DVec2, way: DVec2, entered: usize) -> Option<(usize, f64)> {
    let mut first: Option<(usize, f64)> = None;
    for k in (0..3).filter(|&k| k != entered) {
        let (inside, change) = (facet.inside(at, k).max(0.0), facet.sides[k].perp_dot(way));
        if inside + change < 0.0 {
            let share = inside / -change;
            if first.is_none_or(|(_, least)| share < least) {
                first = Some((k, share));
            }
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::super::tests::{sheet, track_of};
    use super::*;

    #[test]
    fn a_straight_way_over_many_triangles_is_straight() {
        let track = track_of(&sheet(1.0, 1.0, 37, 23));
        let from = Place { triangle: 0, at: track.facet(0).middle() };
        let start = from.point(&track);
        let wanted = DVec3::new(0.31, 0.47, 0.0);
        let (end, carried) = track.walk(from, track.facet(0).along(wanted - start), track.facet(0).along(DVec3::X));
        assert!((end.point(&track) - wanted).length() < 1e-13, "{}", end.point(&track));
        let heading = track.facet(end.triangle).lift(carried);
        assert!((heading - DVec3::X).length() < 1e-13, "{heading}");
    }

    #[test]
    fn a_way_beyond_the_border_ends_on_it() {
        let track = track_of(&sheet(1.0, 1.0, 5, 5));
        let from = Place { triangle: 12, at: track.facet(12).middle() };
        let (end, _) = track.walk(from, track.facet(12).along(DVec3::new(9.0, 0.1, 0.0)), DVec2::ZERO);
        assert!((end.point(&track).x - 0.5).abs() < 1e-12, "{}", end.point(&track));
    }
}
