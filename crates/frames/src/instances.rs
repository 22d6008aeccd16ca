//! Tessellation of instances: surfaces made from the shape parameters of drops.

use glam::DVec3;
use rayon::prelude::*;
use sessile_shapes::{Body, Detail, DrapeScratch, DropMesh, Instance, Shape, make_drop_mesh};

use crate::frame::Surface;

/// Largest number of drops that a frame stores as surfaces.
pub const INSTANCE_THRESHOLD: usize = 10_000;

/// Bounds of a ball's radii, in m, far outside what drops have: they bound the grid of its surface.
const RADII: std::ops::Range<f64> = 1e-12..1e3;
/// Bound on a ball's coordinates, in m.
const FARTHEST: f64 = 1e6;

/// Whether a frame of this many drops is stored as instances only, without surfaces.
pub fn stored_as_instances(drops: usize) -> bool {
    drops > INSTANCE_THRESHOLD
}

/// Why an instance is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("drop {drop}: {what}")]
pub struct InstanceError {
    /// Id of the drop.
    pub drop: u32,
    /// What is wrong.
    pub what: String,
}

/// Checks that the parameters of an instance are finite and in range.
pub fn validate(instance: &Instance) -> Result<(), InstanceError> {
    let wrong = |what: &str| Err(InstanceError { drop: instance.drop, what: what.to_owned() });
    let frame = &instance.frame;
    if !(instance.volume.is_finite() && instance.volume > 0.0) {
        return wrong(&format!("its volume must be above 0, found {} m³", instance.volume));
    }
    if !(frame.origin.is_finite() && frame.axes.is_finite() && instance.velocity.is_finite()) {
        return wrong("its position, axes or velocity is not finite");
    }
    if instance.solid.is_some_and(|solid| i32::try_from(solid).is_err()) {
        return wrong("its solid is out of range");
    }
    let are_balls = |balls: &[sessile_shapes::Ball]| {
        let numbers = |ball: &sessile_shapes::Ball| {
            ball.center.is_finite()
                && ball.radii.is_finite()
                && ball.center.abs().max_element() < FARTHEST
                && RADII.contains(&ball.radii.min_element())
                && RADII.contains(&ball.radii.max_element())
                && ball.strength.is_finite()
        };
        !balls.is_empty() && balls.iter().all(numbers)
    };
    let body = match &instance.shape {
        Shape::Metaballs(balls) => are_balls(balls),
        Shape::Draped(draped) if !draped.substrate.is_sound() => {
            return wrong("its substrate heights are not finite or incomplete");
        }
        Shape::Draped(draped) => match &draped.body {
            Body::Metaballs(balls) => are_balls(balls),
            Body::Profile(profile) if !profile.is_sound() => {
                return wrong("its profile needs lengths above 0 and an angle between 0 and 180 degrees");
            }
            Body::Patch(patch) if !patch.is_sound() => {
                return wrong(
                    "its patch needs complete levels of at least 3 finite points, an apex and a base above 0",
                );
            }
            _ => true,
        },
        _ => true,
    };
    if !body {
        return wrong("its metaballs need finite centers and strengths, and radii above 0");
    }
    Ok(())
}

/// Number of drops that one parallel task tessellates.
const CHUNK: usize = 128;

/// The surface of one valid instance.
pub fn surface_of_one(instance: &Instance) -> Surface {
    let mut batch = Batch::default();
    batch.make(instance, &Detail::default());
    assemble(&[batch])
}

/// The surfaces of all instances, in order.
pub fn surface_of(instances: &[Instance]) -> Result<Surface, InstanceError> {
    surface_with(instances, &|_| Detail::default())
}

/// The surfaces of all instances, in order, each at the resolution that `detail` returns.
pub fn surface_with(
    instances: &[Instance],
    detail: &(dyn Fn(&Instance) -> Detail + Sync),
) -> Result<Surface, InstanceError> {
    let make = |instances: &[Instance]| {
        let mut batch = Batch::default();
        for instance in instances {
            validate(instance)?;
            batch.make(instance, &detail(instance));
        }
        Ok(batch)
    };
    let batches: Vec<Result<Batch, InstanceError>> = instances.par_chunks(CHUNK).map(make).collect();
    // The first error in the order of the instances, for any number of threads.
    Ok(assemble(&batches.into_iter().collect::<Result<Vec<_>, _>>()?))
}

/// Concatenated closed surfaces of some drops, with their owners.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// In world coordinates, in m.
    positions: Vec<DVec3>,
    /// Vertex indices within the batch.
    triangles: Vec<[u32; 3]>,
    /// Solid of each triangle; −1 for liquid–air.
    solids: Vec<i32>,
    owners: Vec<Owner>,
    built: DropMesh,
    scratch: DrapeScratch,
}

/// The drop that owns a run of vertices.
#[derive(Clone, Copy, Debug)]
struct Owner {
    drop: u32,
    velocity: DVec3,
    vertices: usize,
}

impl Batch {
    /// Batches of many drops, in order; `push` adds the surface of one drop.
    pub fn of<T: Sync>(drops: &[T], push: impl Fn(&mut Self, &T) + Sync) -> Vec<Self> {
        let make = |drops: &[T]| {
            let mut batch = Self::default();
            drops.iter().for_each(|drop| push(&mut batch, drop));
            batch
        };
        drops.par_chunks(CHUNK).map(make).collect()
    }

    /// Tessellates a valid instance and adds its surface.
    pub fn make(&mut self, instance: &Instance, detail: &Detail) {
        let mut built = std::mem::take(&mut self.built);
        make_drop_mesh(instance, detail, &mut built, &mut self.scratch);
        self.push(instance.drop, instance.solid, instance.velocity, &built);
        self.built = built;
    }

    /// Adds a surface in world coordinates; `velocity` in m/s.
    pub fn push(&mut self, drop: u32, solid: Option<u32>, velocity: DVec3, built: &DropMesh) {
        let base = self.positions.len() as u32;
        let solid = solid.map_or(-1, |solid| solid as i32);
        self.positions.extend_from_slice(&built.mesh.positions);
        self.triangles.extend(built.mesh.triangles.iter().map(|&[a, b, c]| [a + base, b + base, c + base]));
        self.solids.extend(built.on_solid.iter().map(|&on| if on { solid } else { -1 }));
        self.owners.push(Owner { drop, velocity, vertices: built.mesh.positions.len() });
    }
}

/// Concatenates all batches into one surface, in order.
pub fn assemble(batches: &[Batch]) -> Surface {
    let vertices: usize = batches.iter().map(|batch| batch.positions.len()).sum();
    let triangles: usize = batches.iter().map(|batch| batch.triangles.len()).sum();
    let owners = || batches.iter().flat_map(|batch| &batch.owners);
    let mut surface = Surface::default();
    let Surface { positions, velocities, drops, triangles: corners, solids } = &mut surface;
    // Each array is a copy of many megabytes, so they are filled in parallel.
    rayon::join(
        || {
            rayon::join(
                || {
                    positions.reserve_exact(vertices);
                    batches.iter().for_each(|batch| positions.extend_from_slice(&batch.positions));
                },
                || {
                    drops.reserve_exact(vertices);
                    owners().for_each(|owner| drops.extend(std::iter::repeat_n(owner.drop, owner.vertices)));
                    solids.reserve_exact(triangles);
                    batches.iter().for_each(|batch| solids.extend_from_slice(&batch.solids));
                },
            )
        },
        || {
            rayon::join(
                || {
                    velocities.reserve_exact(vertices);
                    owners().for_each(|owner| velocities.extend(std::iter::repeat_n(owner.velocity, owner.vertices)));
                },
                || {
                    corners.reserve_exact(triangles);
                    let mut base = 0;
                    for batch in batches {
                        corners.extend(batch.triangles.iter().map(|&[a, b, c]| [a + base, b + base, c + base]));
                        base += batch.positions.len() as u32;
                    }
                },
            )
        },
    );
    surface
}

#[cfg(test)]
pub(crate) mod samples {
    use glam::{DMat3, DVec3};
    use sessile_shapes::{Ball, LocalFrame};

    use super::*;

    /// A row of drops 1 cm apart: alternately spheres in flight and metaballs on solid 0, the plane
    /// y = 0.
    pub fn row(count: u32) -> Vec<Instance> {
        // The local z axis, normal to the plane, is the world's y axis.
        let axes = DMat3::from_cols(DVec3::X, DVec3::NEG_Z, DVec3::Y);
        let instance = |k: u32| {
            let origin = DVec3::new(0.01 * f64::from(k), 0.0, 0.0);
            let flying = k.is_multiple_of(2);
            let ball = Ball { center: DVec3::ZERO, radii: DVec3::new(2e-3, 2e-3, 1.5e-3), strength: 2.0 };
            Instance {
                drop: k + 1,
                solid: (!flying).then_some(0),
                frame: LocalFrame { origin: if flying { origin + DVec3::Y * 0.01 } else { origin }, axes },
                volume: 1e-9 * (1.0 + f64::from(k % 7)),
                velocity: DVec3::new(0.0, -0.1, 0.0),
                shape: if flying { Shape::Sphere } else { Shape::Metaballs(vec![ball]) },
            }
        };
        (0..count).map(instance).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surfaces_enclose_the_volumes_of_the_instances_and_touch_their_solids() {
        let instances = samples::row(6);
        let surface = surface_of(&instances).unwrap();
        surface.validate().unwrap();
        for instance in &instances {
            let of_drop = |t: &&[u32; 3]| surface.drops[t[0] as usize] == instance.drop;
            let corners = |t: &[u32; 3]| t.map(|v| surface.positions[v as usize]);
            let enclosed: f64 =
                surface.triangles.iter().filter(of_drop).map(corners).map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum();
            let error = enclosed / instance.volume - 1.0;
            assert!(error.abs() < 1e-9, "drop {}: volume off by {error:e}", instance.drop);
        }
        for (triangle, &solid) in surface.triangles.iter().zip(&surface.solids) {
            let drop = surface.drops[triangle[0] as usize];
            assert!(solid == -1 || (solid == 0 && drop.is_multiple_of(2)), "drop {drop} has a face on solid {solid}");
        }
        assert!(surface.solids.contains(&0));
    }

    #[test]
    fn the_error_for_an_invalid_instance_names_the_drop() {
        for (spoil, words) in [
            ((|i| i.volume = f64::NAN) as fn(&mut Instance), "volume"),
            (|i| i.volume = 0.0, "volume"),
            (|i| i.velocity.x = f64::INFINITY, "velocity"),
            (|i| i.solid = Some(u32::MAX), "solid"),
            (|i| i.shape = Shape::Metaballs(vec![]), "metaballs"),
        ] {
            let mut instances = samples::row(3);
            spoil(&mut instances[1]);
            let error = surface_of(&instances).unwrap_err();
            assert!(error.drop == 2 && error.to_string().contains(words), "{error}");
        }
    }
}
