//! From instances to surfaces: what every reader of a frame sees in the end.

use glam::DVec3;
use rayon::prelude::*;
use sessile_shapes::build::{Detail, DropMesh, drop_mesh};
use sessile_shapes::{Body, Instance, Shape};

use crate::frame::{Content, Surface};

/// Above this many drops a frame is written as instances.
pub const INSTANCE_THRESHOLD: usize = 10_000;

/// Why an instance is not a drop.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("drop {drop}: {what}")]
pub struct InstanceError {
    /// Its id.
    pub drop: u32,
    /// What is wrong with it.
    pub what: String,
}

/// Checks the numbers of an instance.
pub fn validate(instance: &Instance) -> Result<(), InstanceError> {
    let wrong = |what: &str| Err(InstanceError { drop: instance.drop, what: what.to_owned() });
    let frame = &instance.frame;
    if !(instance.volume.is_finite() && instance.volume > 0.0) {
        return wrong(&format!("its volume must be above 0, found {} m³", instance.volume));
    }
    if !(frame.origin.is_finite() && frame.axes.is_finite() && instance.velocity.is_finite()) {
        return wrong("its place, axes or velocity is not finite");
    }
    if instance.solid.is_some_and(|solid| i32::try_from(solid).is_err()) {
        return wrong("its solid is out of range");
    }
    let are_balls = |balls: &[sessile_shapes::Ball]| {
        let numbers = |ball: &sessile_shapes::Ball| {
            ball.center.is_finite()
                && ball.radii.is_finite()
                && ball.radii.min_element() > 0.0
                && ball.strength.is_finite()
        };
        !balls.is_empty() && balls.iter().all(numbers)
    };
    let body = match &instance.shape {
        Shape::Metaballs(balls) => are_balls(balls),
        Shape::Laid(laid) if !laid.ground.is_sound() => return wrong("its ground is not finite or not whole"),
        Shape::Laid(laid) => match &laid.body {
            Body::Metaballs(balls) => are_balls(balls),
            Body::Profile(profile) if !profile.is_sound() => {
                return wrong("its profile needs lengths above 0 and an angle between 0 and 180 degrees");
            }
            _ => true,
        },
        _ => true,
    };
    if !body {
        return wrong("its metaballs need finite centres and strengths, and radii above 0");
    }
    Ok(())
}

/// The surface of one valid instance.
pub fn surface_of_one(instance: &Instance) -> Surface {
    assemble(&[Piece::of(instance, &Detail::default())])
}

/// The surfaces of all instances, in their order.
pub fn surface_of(instances: &[Instance]) -> Result<Surface, InstanceError> {
    surface_with(instances, &|_| Detail::default())
}

/// The same, each as finely as `detail` says.
pub fn surface_with(
    instances: &[Instance],
    detail: &(dyn Fn(&Instance) -> Detail + Sync),
) -> Result<Surface, InstanceError> {
    if let Some(error) = instances.par_iter().find_map_first(|instance| validate(instance).err()) {
        return Err(error);
    }
    let pieces: Vec<Piece> = instances.par_iter().map(|i| Piece::of(i, &detail(i))).collect();
    Ok(assemble(&pieces))
}

/// A drop's closed surface and whose it is.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The drop's id.
    pub drop: u32,
    /// Index of the solid that it lies on; −1 for none.
    pub solid: i32,
    /// Its velocity, in m/s.
    pub velocity: DVec3,
    /// In the world.
    pub built: DropMesh,
}

impl Piece {
    fn of(instance: &Instance, detail: &Detail) -> Self {
        let solid = instance.solid.map_or(-1, |solid| solid as i32);
        Self { drop: instance.drop, solid, velocity: instance.velocity, built: drop_mesh(instance, detail) }
    }
}

/// One surface of all pieces, in their order.
pub fn assemble(pieces: &[Piece]) -> Surface {
    let vertices: usize = pieces.iter().map(|piece| piece.built.mesh.positions.len()).sum();
    let triangles: usize = pieces.iter().map(|piece| piece.built.mesh.triangles.len()).sum();
    let mut surface = Surface::default();
    let Surface { positions, velocities, drops, triangles: corners, solids } = &mut surface;
    // Each list is a copy of many megabytes: side by side.
    rayon::join(
        || {
            rayon::join(
                || {
                    positions.reserve_exact(vertices);
                    pieces.iter().for_each(|piece| positions.extend_from_slice(&piece.built.mesh.positions));
                },
                || {
                    drops.reserve_exact(vertices);
                    for piece in pieces {
                        drops.extend(std::iter::repeat_n(piece.drop, piece.built.mesh.positions.len()));
                    }
                    solids.reserve_exact(triangles);
                    for piece in pieces {
                        solids.extend(piece.built.on_solid.iter().map(|&on| if on { piece.solid } else { -1 }));
                    }
                },
            )
        },
        || {
            rayon::join(
                || {
                    velocities.reserve_exact(vertices);
                    for piece in pieces {
                        velocities.extend(std::iter::repeat_n(piece.velocity, piece.built.mesh.positions.len()));
                    }
                },
                || {
                    corners.reserve_exact(triangles);
                    let mut base = 0;
                    for piece in pieces {
                        corners.extend(piece.built.mesh.triangles.iter().map(|triangle| triangle.map(|v| v + base)));
                        base += piece.built.mesh.positions.len() as u32;
                    }
                },
            )
        },
    );
    surface
}

impl Content {
    /// The surfaces, made where the model yielded instances.
    pub fn into_surface(self) -> Result<Surface, InstanceError> {
        match self {
            Self::Surfaces(surface) => Ok(surface),
            Self::Instances(instances) => surface_of(&instances),
        }
    }
}

#[cfg(test)]
pub(crate) mod samples {
    use glam::{DMat3, DVec3};
    use sessile_shapes::{Ball, LocalFrame};

    use super::*;

    /// A row of drops 1 cm apart: half of them balls in flight, half metaballs on solid 0, the plane y = 0.
    pub fn row(count: u32) -> Vec<Instance> {
        // z out of the plane is the world's y.
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
    fn surfaces_enclose_the_instances_volumes_and_lie_on_their_solids() {
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
    fn an_instance_that_is_no_drop_is_named() {
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
