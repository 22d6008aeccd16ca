//! Measures of water on walls that need the frames' surfaces: rivulets, pendant drops that let go,
//! drops that follow an earlier path.

use glam::DVec3;
use sessile_frames::{FrameMeasures, Surface};

use crate::measures::{PanelRun, detached_between, drop_of, largest};

/// A drop hangs where its lowest point is at least this far below all that it wets, in m.
const HANGS_BELOW: f64 = 1e-3;
/// Largest distance along the ground between a pendant drop and its place one frame earlier, or the
/// drop that falls from it, in m.
const SAME_PLACE: f64 = 4e-3;

/// What a drop of a frame wets.
struct Wetted {
    id: u32,
    /// Wetted area, in m².
    area: f64,
    /// Smallest and largest coordinates of what it wets, in m.
    bounds: [DVec3; 2],
    /// Lowest point of the drop, in m.
    lowest: DVec3,
}

/// The drops of a surface that wet solids, by increasing id.
fn wetted_by_drop(surface: &Surface) -> Vec<Wetted> {
    let mut drops: Vec<Wetted> = Vec::new();
    for (corners, &solid) in surface.triangles.iter().zip(&surface.solids) {
        let places = corners.map(|v| surface.positions[v as usize]);
        let id = surface.drops[corners[0] as usize];
        let at = drops.binary_search_by_key(&id, |drop| drop.id).unwrap_or_else(|at| {
            let bounds = [DVec3::INFINITY, DVec3::NEG_INFINITY];
            drops.insert(at, Wetted { id, area: 0.0, bounds, lowest: places[0] });
            at
        });
        let drop = &mut drops[at];
        for place in places {
            if place.y < drop.lowest.y {
                drop.lowest = place;
            }
            if solid >= 0 {
                drop.bounds = [drop.bounds[0].min(place), drop.bounds[1].max(place)];
            }
        }
        if solid >= 0 {
            let [a, b, c] = places;
            drop.area += 0.5 * (b - a).cross(c - a).length();
        }
    }
    drops.retain(|drop| drop.area > 0.0);
    drops
}

/// Largest ratio of length to mean width of what a drop wets, over all frames.
///
/// The length L is the diagonal of the wetted surface's bounds, which is less than its length along
/// a curved solid; the mean width is the wetted area A divided by L. A drop that only touches the
/// solid has no width of that kind: A ≥ V^(2/3) is asked, which a hemisphere (1.9) and every longer
/// body of that contact angle fulfill.
pub fn longest_rivulet(run: &PanelRun) -> Option<f64> {
    let of_frame = |frame: &FrameMeasures| {
        let (surface, _) = run.folder.read_frame(frame.frame).ok()?;
        let ratios = wetted_by_drop(&surface).into_iter().filter_map(|wetted| {
            let volume = drop_of(frame, wetted.id)?.volume;
            let ratio = (wetted.bounds[1] - wetted.bounds[0]).length_squared() / wetted.area;
            (wetted.area >= volume.powf(2.0 / 3.0)).then_some(ratio)
        });
        largest(ratios)
    };
    largest(run.frames.iter().filter_map(of_frame))
}

/// Places of the pendant drops of a surface, in m.
fn pendant_places(surface: &Surface) -> Vec<DVec3> {
    let wetted = wetted_by_drop(surface).into_iter();
    wetted.filter(|drop| drop.lowest.y < drop.bounds[0].y - HANGS_BELOW).map(|drop| drop.lowest).collect()
}

/// Longest time for which a drop hangs at a place before one falls from there, in s.
pub fn longest_hang(run: &PanelRun) -> Option<f64> {
    let surface = |frame: &FrameMeasures| run.folder.read_frame(frame.frame).ok().map(|(surface, _)| surface);
    let pendant: Option<Vec<Vec<DVec3>>> =
        run.frames.iter().map(|frame| Some(pendant_places(&surface(frame)?))).collect();
    let falling: Vec<Vec<DVec3>> = run.frames.windows(2).map(|pair| fallen(&pair[0], &pair[1])).collect();
    longest_hang_before(&run.frames.iter().map(|frame| frame.time).collect::<Vec<_>>(), &pendant?, &falling)
}

/// Centers of the drops that are in the air in `after` and came from a solid since `before`, in m.
fn fallen(before: &FrameMeasures, after: &FrameMeasures) -> Vec<DVec3> {
    detached_between(before, after).into_iter().filter_map(|id| Some(drop_of(after, id)?.centroid)).collect()
}

/// The same for the times of frames, places of pendant drops in each, and of drops that fell
/// between each and the next.
fn longest_hang_before(times: &[f64], pendant: &[Vec<DVec3>], falling: &[Vec<DVec3>]) -> Option<f64> {
    let near = |a: DVec3, b: DVec3| (a - b).with_y(0.0).length() < SAME_PLACE;
    let mut longest = None;
    for (frame, fallen) in falling.iter().enumerate() {
        for &drop in fallen {
            let (mut place, mut since) = (drop, None);
            for earlier in (0..=frame).rev() {
                // What hung there before an earlier drop fell is another drop.
                if earlier < frame && falling[earlier].iter().any(|&other| near(other, place)) {
                    break;
                }
                let Some(&same) = pendant[earlier].iter().find(|&&other| near(other, place)) else { break };
                (place, since) = (same, Some(times[earlier]));
            }
            if let Some(since) = since {
                longest = largest([longest.unwrap_or(0.0), times[frame] - since].into_iter());
            }
        }
    }
    longest
}

/// Longest way down for which drop `second` stays within half its width of the path of drop `first`
/// on an upright wall, in mm; both are drops of the first frame.
pub fn followed_way(run: &PanelRun, first: u32, second: u32) -> Option<f64> {
    let on_wall =
        |id: u32| run.frames.iter().filter_map(move |frame| drop_of(frame, id)).filter(|drop| drop.on.is_some());
    let path: Vec<DVec3> = on_wall(first).map(|drop| drop.centroid).collect();
    let follower: Vec<(DVec3, f64)> = on_wall(second).map(|drop| (drop.centroid, drop.base_radius)).collect();
    (!path.is_empty() && !follower.is_empty()).then(|| 1e3 * way_beside(&path, &follower))
}

/// Longest way down of the follower, given by places and half widths, beside a path.
fn way_beside(path: &[DVec3], follower: &[(DVec3, f64)]) -> f64 {
    let follows = |&(place, half_width): &(DVec3, f64)| {
        let beside = path.windows(2).find(|pair| pair[0].y >= place.y && place.y >= pair[1].y);
        beside.is_some_and(|pair| {
            let way = pair[0].y - pair[1].y;
            let share = if way > 0.0 { (pair[0].y - place.y) / way } else { 0.0 };
            (pair[0].lerp(pair[1], share).x - place.x).abs() <= half_width
        })
    };
    let (mut longest, mut start) = (0.0f64, None);
    for point in follower {
        if follows(point) {
            let from: f64 = *start.get_or_insert(point.0.y);
            longest = longest.max(from - point.0.y);
        } else {
            start = None;
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plate of 20 × 2 mm at y = 0 that drop 1 wets, and a corner of its surface 3 mm below it.
    fn pendant_film() -> Surface {
        let positions = [[0.0, 0.0, 0.0], [20.0, 0.0, 0.0], [20.0, 0.0, 2.0], [0.0, 0.0, 2.0], [10.0, -3.0, 1.0]]
            .map(|place| 1e-3 * DVec3::from_array(place))
            .to_vec();
        let triangles = vec![[0, 1, 2], [0, 2, 3], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]];
        let solids = vec![0, 0, -1, -1, -1, -1];
        Surface { velocities: vec![DVec3::ZERO; 5], drops: vec![1; 5], positions, triangles, solids }
    }

    #[test]
    fn what_a_drop_wets_has_area_and_bounds_and_it_hangs_where_it_is_lowest() {
        let surface = pendant_film();
        let wetted = wetted_by_drop(&surface);
        assert_eq!(wetted.len(), 1);
        assert!((wetted[0].area - 40e-6).abs() < 1e-12 && (wetted[0].bounds[1].x - 0.02).abs() < 1e-12);
        assert_eq!(pendant_places(&surface), [1e-3 * DVec3::new(10.0, -3.0, 1.0)]);
        let lying = Surface { positions: surface.positions.iter().map(|p| p.with_y(-0.2 * p.y)).collect(), ..surface };
        assert_eq!(pendant_places(&lying), [DVec3::ZERO; 0]);
    }

    #[test]
    fn a_hang_ends_with_the_fall_and_begins_after_an_earlier_one() {
        let times = [0.0, 0.1, 0.2, 0.3, 0.4];
        let at = |x: f64| DVec3::new(1e-3 * x, 0.0, 0.0);
        let pendant = [vec![at(0.0)], vec![at(1.0)], vec![at(0.0), at(50.0)], vec![at(1.0)], vec![at(50.0)]];
        let mut falling = vec![vec![], vec![], vec![], vec![at(2.0)]];
        assert_eq!(longest_hang_before(&times, &pendant, &falling), Some(0.3));
        falling[1] = vec![at(0.0)];
        let after_an_earlier_one = longest_hang_before(&times, &pendant, &falling).unwrap();
        assert!((after_an_earlier_one - 0.1).abs() < 1e-12, "{after_an_earlier_one}");
        falling[3] = vec![at(90.0)];
        falling[1].clear();
        assert_eq!(longest_hang_before(&times, &pendant, &falling), None);
    }

    #[test]
    fn a_follower_leaves_a_path_at_half_its_width() {
        let at = |x: f64, y: f64| 1e-3 * DVec3::new(x, y, 0.0);
        let path = [at(0.0, 10.0), at(0.0, 0.0), at(5.0, -10.0)];
        // Above the path, on it, and straight on where it turns.
        let follower: Vec<_> = (0..=24).map(|k| (at(1.0, 14.0 - f64::from(k)), 2e-3)).collect();
        let way = way_beside(&path, &follower);
        assert!((way - 16e-3).abs() < 1e-9, "{way}");
    }
}
