//! Room for a sphere beside solids, on the side where its liquid is.
//!
//! A drop that solids leave no room for, as between closing plates, is squeezed out of the gap: the
//! search follows the solids' surfaces outward from the drop and never passes through a solid.

use glam::DVec3;
use sessile_world::World;

use crate::mesh::Mesh;

/// Projections of a center out of the solids around it.
const PROJECTIONS: usize = 4;
/// Length of a step along a path, in edges.
const STEP: f64 = 0.5;
/// Most steps of a path.
const MAX_STEPS: usize = 400;
/// Depth inside a solid at which a point still counts as outside, in edges.
const TOLERANCE: f64 = 0.05;

/// The center, in m, of a sphere outside the solids that is near a drop and that its liquid can
/// reach; `edge`, in m, is the length that paths resolve.
pub fn find_room(mesh: &Mesh, radius: f64, edge: f64, world: &World) -> DVec3 {
    let [low, high] = mesh.bounds();
    let middle = 0.5 * (low + high);
    let first = mesh.positions.iter().copied().find(|p| p.is_finite()).unwrap_or_default();
    let middle = if middle.is_finite() { middle } else { first };
    let nearest = push_out(middle, radius, world);
    let room = Room { radius, edge, world };
    let starts = directions().filter_map(|d| {
        let outside = mesh.positions.iter().copied().filter(|&p| p.is_finite() && room.is_outside(p));
        outside.max_by(|p, q| p.dot(d).total_cmp(&q.dot(d))).map(|start| (start, d))
    });
    let mut best: Option<DVec3> = None;
    for (start, direction) in starts {
        if room.has_room(nearest) && room.sees(start, nearest) {
            return nearest;
        }
        if let Some(center) = room.follow(start, direction)
            && best.is_none_or(|best| center.distance_squared(middle) < best.distance_squared(middle))
        {
            best = Some(center);
        }
    }
    best.unwrap_or(nearest)
}

/// The center nearest to `center`, in m, of a sphere that overlaps no solid; `None` if `center` is
/// inside a solid, or solids around it leave no room.
pub fn room_beside(center: DVec3, radius: f64, edge: f64, world: &World) -> Option<DVec3> {
    let distance = world.signed_distance(center);
    if distance >= radius {
        return Some(center);
    }
    let room = Room { radius, edge, world };
    let moved = push_out(center, radius, world);
    (distance > 0.0 && room.has_room(moved) && room.sees(center, moved)).then_some(moved)
}

/// The directions to the corners, edges and faces of a cube.
fn directions() -> impl Iterator<Item = DVec3> {
    (0..27).filter(|&k| k != 13).map(|k| {
        let sign = |n: i32| f64::from(n % 3 - 1);
        DVec3::new(sign(k), sign(k / 3), sign(k / 9)).normalize()
    })
}

/// Moves a center away from the solids that a sphere around it would intersect.
fn push_out(mut center: DVec3, radius: f64, world: &World) -> DVec3 {
    for _ in 0..PROJECTIONS {
        if let Some((_, near)) = world.closest(center)
            && near.distance < radius
        {
            center = near.point + near.normal * (1.001 * radius);
        }
    }
    center
}

/// The search for room.
struct Room<'a> {
    radius: f64,
    edge: f64,
    world: &'a World,
}

impl Room<'_> {
    fn is_outside(&self, point: DVec3) -> bool {
        self.world.signed_distance(point) > -TOLERANCE * self.edge
    }

    fn has_room(&self, center: DVec3) -> bool {
        self.world.signed_distance(center) > 0.999 * self.radius
    }

    /// Whether the segment between two points is outside all solids.
    fn sees(&self, from: DVec3, to: DVec3) -> bool {
        let count = (from.distance(to) / (0.5 * STEP * self.edge)).ceil().clamp(1.0, MAX_STEPS as f64) as usize;
        (0..=count).all(|k| self.is_outside(from.lerp(to, k as f64 / count as f64)))
    }

    /// Follows a direction, along the surfaces of solids in its way, to the first place with room.
    fn follow(&self, start: DVec3, direction: DVec3) -> Option<DVec3> {
        let step = STEP * self.edge;
        let mut at = start;
        for _ in 0..MAX_STEPS {
            let center = push_out(at, self.radius, self.world);
            if self.has_room(center) && self.sees(at, center) {
                return Some(center);
            }
            let mut next = at + direction * step;
            for _ in 0..PROJECTIONS {
                if let Some((_, near)) = self.world.closest(next)
                    && near.distance < 0.0
                {
                    next = near.point;
                }
            }
            if !self.is_outside(next) || direction.dot(next - at) < 0.1 * step {
                return None;
            }
            at = next;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::primitives::sphere;
    use crate::test_support::scene;

    fn plates(gap: f64) -> World {
        let plate = |name: &str, low: f64, high: f64| {
            format!(
                "[[solids]]\nname = \"{name}\"\nshape = \"box\"\nmin = \"-6 {low} -6 mm\"\nmax = \"6 {high} 6 mm\"\n"
            )
        };
        World::build(&scene(&format!("{}{}", plate("lo", -3.0, 0.0), plate("hi", gap, gap + 3.0)))).unwrap()
    }

    #[test]
    fn a_drop_between_plates_is_squeezed_out_at_their_rim() {
        let world = plates(0.2);
        let mut mesh = sphere(DVec3::new(1e-3, 0.1e-3, 0.0), 2e-3, 0.4e-3, |_| 2e-3).unwrap();
        mesh.positions.iter_mut().for_each(|p| p.y = 0.1e-3 + 0.04 * (p.y - 0.1e-3));
        let center = find_room(&mesh, 1e-3, 0.3e-3, &world);
        assert!(world.signed_distance(center) > 0.99e-3);
        assert!(center.x > 6e-3 && center.y > -3e-3 && center.y < 3.2e-3, "{center} is not beside the rim");
    }

    #[test]
    fn a_drop_with_room_stays_where_it_is() {
        let world = plates(5.0);
        let at = DVec3::new(0.0, 2.5e-3, 0.0);
        let mesh = sphere(at, 1e-3, 0.3e-3, |_| 1e-3).unwrap();
        assert!(find_room(&mesh, 1e-3, 0.3e-3, &world).distance(at) < 1e-9);
    }
}
