//! From the model's numbers to the shapes that a frame shows.
//!
//! Every droplet is a body over the tangent plane, laid onto the mesh: a Young–Laplace profile in the physical form, a spline patch over masses and
//! springs in the paper's, metaballs while droplets are merging. Up to the number of [`stored_as_instances`] a frame carries the surfaces, whose feet lie
//! on the very triangles; beyond it, a few numbers per droplet, with the ground beneath sampled, from which a reader makes the surface as
//! finely as it needs it.

use std::f64::consts::FRAC_PI_2;

use glam::{DMat2, DMat3, DVec2, DVec3};
use rayon::prelude::*;
use sessile_frames::instances::stored_as_instances;
use sessile_frames::instances::{Batch, assemble};
use sessile_frames::{DropState, FrameGeometry};
use sessile_shapes::{
    Body, Detail, DrapeScratch, Draped, Instance, LocalFrame, MetaballDrop, Patch, Profile, Shape, SubstrateOffsets,
    drape, drape_flat,
};
use sessile_wetting::CurvedRest;

use crate::acceleration::{AccelerationField, RigidState};
use crate::curvature::curvature;
use crate::droplets::Droplet;
use crate::flight::Ball;
use crate::necks::{Part, Parts};
use crate::particles::{Form, ParticleSystem};
use crate::patch;
use crate::setup::Setup;
use crate::surface_mesh::{Facet, SurfaceMesh, SurfacePoint};

/// Largest sag that two blobs can show, in base radii.
const LARGEST_SAG: f64 = 0.22;
/// Elongation that a droplet approaches with speed, in base radii.
const LARGEST_STRETCH: f64 = 0.9;
/// Speed at which half of it is reached on a solid that sheds no film, in m/s.
const STRETCH_SPEED: f64 = 0.2;
/// Capillary length of a droplet without weight, in m.
const WEIGHTLESS: f64 = 1.0;

/// What shapes follow from.
pub struct Stage<'a> {
    /// The droplets on surfaces.
    pub particles: &'a ParticleSystem,
    /// The mesh.
    pub surface: &'a SurfaceMesh,
    /// Per solid.
    pub fields: &'a [AccelerationField],
    /// Per solid.
    pub rigid_states: &'a [RigidState],
    /// The scene's word.
    pub setup: &'a Setup,
}

/// A droplet's form in the axes of its triangle.
struct Look {
    profile: Profile,
    /// Pull along the surface and into it, in m/s².
    along: DVec2,
    normal_acceleration: f64,
    /// Downhill shift of the centroid, in base radii.
    sag: f64,
}

/// The liquid of a frame and its facts, by rising id.
pub fn shown(stage: &Stage<'_>, balls: &[Ball]) -> (FrameGeometry, Vec<DropState>) {
    let mut slots: Vec<u32> = stage.particles.droplets.slots().collect();
    slots.sort_unstable_by_key(|&slot| stage.particles.droplets.all[slot as usize].id);
    let in_flight = |ball: &Ball| DropState {
        id: ball.id,
        volume: ball.volume,
        velocity: ball.velocity,
        speed_max: ball.velocity.length(),
        pressure: None,
    };
    if stored_as_instances(slots.len() + balls.len()) {
        let (mut instances, mut facts) = (Vec::new(), Vec::new());
        slots.into_par_iter().map(|slot| stage.instance(slot)).unzip_into_vecs(&mut instances, &mut facts);
        if !balls.is_empty() {
            instances.extend(balls.iter().map(in_air));
            instances.sort_unstable_by_key(|instance| instance.drop);
            facts.extend(balls.iter().map(in_flight));
            facts.sort_unstable_by_key(|facts| facts.id);
        }
        return (FrameGeometry::Instances(instances), facts);
    }
    let mut facts: Vec<DropState> = slots.par_iter().map(|&slot| stage.facts(slot)).collect();
    facts.extend(balls.iter().map(in_flight));
    facts.sort_unstable_by_key(|facts| facts.id);
    let mut drops: Vec<(u32, Drop<'_>)> =
        slots.iter().map(|&slot| (stage.particles.droplets.all[slot as usize].id, Drop::On(slot))).collect();
    drops.extend(balls.iter().map(|ball| (ball.id, Drop::InAir(ball))));
    drops.sort_unstable_by_key(|&(id, _)| id);
    let batches = Batch::of(&drops, |batch, &(_, drop)| match drop {
        Drop::On(slot) => stage.push_surface(slot, batch),
        Drop::InAir(ball) => batch.make(&in_air(ball), &Detail::default()),
    });
    (FrameGeometry::Surfaces(assemble(&batches)), facts)
}

/// Where a drop of a frame is.
#[derive(Clone, Copy)]
enum Drop<'a> {
    /// On a solid, in this slot.
    On(u32),
    InAir(&'a Ball),
}

fn in_air(ball: &Ball) -> Instance {
    Instance {
        drop: ball.id,
        solid: None,
        frame: LocalFrame { origin: ball.center, axes: DMat3::IDENTITY },
        volume: ball.volume,
        velocity: ball.velocity,
        shape: Shape::Sphere,
    }
}

impl Stage<'_> {
    fn facet(&self, slot: u32) -> &Facet {
        self.surface.facet(self.particles.droplets.all[slot as usize].motion.place.triangle)
    }

    fn facts(&self, slot: u32) -> DropState {
        let (droplet, facet) = (self.particles.droplets.get(slot), self.facet(slot));
        let rigid = &self.rigid_states[facet.solid as usize];
        let origin = rigid.pose.apply(facet.point(droplet.motion.place.at));
        let velocity = rigid.pose.turn(facet.lift(droplet.motion.velocity)) + rigid.velocity.at(origin);
        DropState {
            id: droplet.id,
            volume: droplet.size.volume,
            velocity,
            speed_max: velocity.length(),
            pressure: None,
        }
    }

    fn look(&self, droplet: &Droplet) -> Look {
        let (facet, liquid) = (self.surface.facet(droplet.motion.place.triangle), &self.setup.liquid);
        let pull = self.fields[facet.solid as usize].pull(facet.point(droplet.motion.place.at), DVec3::ZERO);
        let (along, normal_acceleration) = (facet.project(pull), -pull.dot(facet.normal()));
        let heading = droplet.motion.velocity.try_normalize().or(along.try_normalize()).unwrap_or(DVec2::X);
        let size = &droplet.size;
        let mut profile = Profile {
            body: size.volume,
            base_radius: size.radius,
            height: size.radius,
            angle: FRAC_PI_2,
            capillary_length: WEIGHTLESS,
            lean: DVec2::ZERO,
            heading,
            stretch: 0.0,
        };
        let mut sag = 0.0;
        if let Form::Physical = self.particles.form {
            let law = self.particles.substrate.law(self.surface, droplet.motion.place);
            // At the size at which the model has looked.
            let flat = CurvedRest::new(liquid, size.volume, law.wetting.advancing, normal_acceleration, 0.0);
            let radius = flat.map_or(size.radius, |flat| flat.shape.base_radius);
            let bend = curvature(self.surface, droplet.motion.place, radius);
            // Most stand on a plane and on their smallest line: what was just found is how.
            let footing = match flat {
                Some(flat) if bend == 0.0 && radius / size.radius - 1.0 >= -1e-6 => Some(flat),
                _ => {
                    profile.angle = law.angle_at(liquid, size.volume, size.radius, normal_acceleration, bend);
                    CurvedRest::new(liquid, size.volume, profile.angle, normal_acceleration, bend)
                }
            };
            if let Some(footing) = footing {
                (profile.body, profile.angle) = (footing.body, footing.angle);
                profile.height = footing.shape.height;
            }
            profile.capillary_length =
                if normal_acceleration > 0.0 { liquid.capillary_length(normal_acceleration) } else { 0.0 };
            let bond = liquid.density * along.length() * size.radius * size.radius / liquid.surface_tension;
            sag = bond * law.sag_per_bond;
            profile.lean = along.normalize_or_zero() * (sag * size.radius);
            let (speed, half) = (droplet.motion.velocity.length(), law.shedding_speed.clamp(0.02, STRETCH_SPEED));
            profile.stretch = LARGEST_STRETCH * speed / (speed + half);
        }
        Look { profile, along, normal_acceleration, sag }
    }

    /// How far from its middle a droplet looks at the substrate, in m; `None` where that is one plane.
    fn merge_radius(&self, droplet: &Droplet, look: &Look, parts: Option<&Parts>) -> Option<f64> {
        let Profile { lean, stretch, .. } = look.profile;
        let farthest = |parts: &Parts| parts.as_slice().iter().map(|p| p.offset.length()).fold(0.0, f64::max);
        let merge_radius = f64::from(droplet.size.merge_radius).max(droplet.size.radius) * (1.0 + stretch)
            + 3.0 * lean.length()
            + parts.map_or(0.0, farthest);
        let SurfacePoint { triangle, at } = droplet.motion.place;
        (self.surface.is_analytic(triangle) || self.surface.facet(triangle).depth(at) < merge_radius)
            .then_some(merge_radius)
    }

    /// Adds the closed surface of a droplet, in the world; its foot on the mesh.
    fn push_surface(&self, slot: u32, batch: &mut Batch) {
        let droplet = self.particles.droplets.get(slot);
        let (facet, size, detail) = (self.facet(slot), droplet.size, Detail::default());
        let (look, parts) = (self.look(&droplet), self.particles.necks.get(slot));
        let mut built = match (&parts, &self.particles.form) {
            (Some(parts), _) => {
                let offset = |part: &Part| facet.project(part.offset);
                Body::Metaballs(balls(&droplet, &look.profile, look.sag, Some(parts), offset)).surface(&detail)
            }
            (None, Form::Paper(_)) => self.patch(&droplet, &look).surface(&detail),
            (None, Form::Physical) => look.profile.surface(&detail),
        };
        // The mesh is in the axes of the frame, z along its normal; volumes lose no digits about its own place.
        let frame = self.surface.tangent_frame(droplet.motion.place);
        let substrate = |q: DVec2| self.surface.offset(droplet.motion.place, &frame, q);
        if self.merge_radius(&droplet, &look, parts.as_ref()).is_some() {
            drape(&mut built.mesh, size.volume, substrate, &mut DrapeScratch::default());
        } else {
            drape_flat(&mut built.mesh, size.volume);
        }
        let rigid = &self.rigid_states[facet.solid as usize];
        built.mesh.positions.iter_mut().for_each(|p| *p = rigid.pose.apply(frame.point + frame.axes * *p));
        batch.push(droplet.id, Some(facet.solid), self.facts(slot).velocity, &built);
    }

    /// The paper's droplet: masses and springs in balance under its weight, in the axes of its triangle.
    fn patch(&self, droplet: &Droplet, look: &Look) -> Patch {
        let (liquid, size, balances) = (&self.setup.liquid, &droplet.size, &self.setup.balances);
        let weight = liquid.density * size.volume / (liquid.surface_tension * size.radius);
        let along = look.along.length();
        let balance = balances.of(weight * along, -weight * look.normal_acceleration);
        let restless = patch::amplitude(droplet.motion.velocity.length());
        let turn = DMat2::from_angle(if along > 0.0 { look.along.to_angle() } else { 0.0 });
        patch::patch(&balance, balances.springs(), size.radius, turn, (self.setup.seed, droplet.id, restless))
    }

    /// A droplet as a few numbers, and its facts.
    fn instance(&self, slot: u32) -> (Instance, DropState) {
        let droplet = self.particles.droplets.get(slot);
        let (facet, look) = (self.facet(slot), self.look(&droplet));
        let rigid = &self.rigid_states[facet.solid as usize];
        let (facts, parts) = (self.facts(slot), self.particles.necks.get(slot));
        // y up the slope, in the triangle's axes.
        let up = (-look.along).try_normalize().unwrap_or(DVec2::Y);
        let plane = DMat2::from_cols(-up.perp(), up);
        let into = |vector: DVec2| plane.transpose() * vector;
        // That turns the seat's axes about its normal.
        let frame = self.surface.tangent_frame(droplet.motion.place);
        let within = DMat3::from_cols(plane.x_axis.extend(0.0), plane.y_axis.extend(0.0), DVec3::Z);
        let profile = Profile { lean: into(look.profile.lean), heading: into(look.profile.heading), ..look.profile };
        let body = match (&parts, &self.particles.form) {
            (Some(parts), _) => {
                let offset = |part: &Part| into(facet.project(part.offset));
                Body::Metaballs(balls(&droplet, &profile, look.sag, Some(parts), offset))
            }
            (None, Form::Paper(_)) => {
                let mut patch = self.patch(&droplet, &look);
                for [x, y, _] in &mut patch.points {
                    let turned = into(DVec2::new(f64::from(*x), f64::from(*y)));
                    (*x, *y) = (turned.x as f32, turned.y as f32);
                }
                Body::Patch(patch)
            }
            (None, Form::Physical) => Body::Profile(profile),
        };
        let substrate = |q: DVec2| within.transpose() * self.surface.offset(droplet.motion.place, &frame, plane * q);
        let merge_radius = self.merge_radius(&droplet, &look, parts.as_ref());
        let substrate = merge_radius
            .map_or_else(SubstrateOffsets::default, |merge_radius| SubstrateOffsets::sampled(merge_radius, substrate));
        let instance = Instance {
            drop: droplet.id,
            solid: Some(facet.solid),
            frame: LocalFrame {
                origin: rigid.pose.apply(frame.point),
                axes: rigid.pose.rotation * frame.axes * within,
            },
            volume: droplet.size.volume,
            velocity: facts.velocity,
            shape: Shape::Draped(Box::new(Draped { body, substrate })),
        };
        (instance, facts)
    }
}

/// A droplet as metaballs, or those of its parts while they draw together; `offset` brings a part into the axes of the profile.
fn balls(
    droplet: &Droplet,
    profile: &Profile,
    sag: f64,
    parts: Option<&Parts>,
    offset: impl Fn(&Part) -> DVec2,
) -> Vec<sessile_shapes::Ball> {
    let whole = MetaballDrop {
        volume: droplet.size.volume,
        base_radius: droplet.size.radius,
        height: profile.height,
        heading: profile.heading,
        sag: sag.min(LARGEST_SAG),
        stretch: profile.stretch,
        front: [0.0; 5],
    };
    let mut balls = Vec::new();
    match parts {
        Some(parts) => {
            for part in parts.as_slice() {
                let scale = part.share.cbrt();
                let form = MetaballDrop {
                    volume: whole.volume * part.share,
                    base_radius: whole.base_radius * scale,
                    height: whole.height * scale,
                    ..whole
                };
                form.push_balls(offset(part), &mut balls);
            }
        }
        None => whole.push_balls(DVec2::ZERO, &mut balls),
    }
    balls
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface_mesh::tests::{sheet, surface_of};
    use sessile_geometry::TriMesh;
    use sessile_geometry::mesh_distance::MeshDistance;

    fn profile() -> Profile {
        Profile {
            body: 4e-9,
            base_radius: 1.25e-3,
            height: 1.2e-3,
            angle: FRAC_PI_2,
            capillary_length: 2.7e-3,
            lean: DVec2::new(1e-4, 0.0),
            heading: DVec2::X,
            stretch: 0.3,
        }
    }

    /// On a ball and in a valley the foot lies on the surface, and the volume stays.
    #[test]
    fn a_droplet_conforms_to_what_is_beneath_it() {
        let bend = |shape: fn(f64, f64) -> f64| {
            let mut mesh: TriMesh = sheet(0.03, 0.03, 40, 40);
            mesh.positions.iter_mut().for_each(|p| p.z = shape(p.x, p.y));
            mesh
        };
        for mesh in [bend(|x, y| -(x * x + y * y) / 0.02), bend(|x, _| 0.7 * x.abs())] {
            let surface = surface_of(&mesh);
            let near = |t: &u32| surface.facet(*t).point(surface.facet(*t).centroid()).truncate().length() < 1e-3;
            let triangle = (0..surface.facets().len() as u32).find(near).expect("in the middle");
            let place = SurfacePoint { triangle, at: surface.facet(triangle).centroid() };
            let frame = surface.tangent_frame(place);
            let exact = |q: DVec2| surface.offset(place, &frame, q);
            let distance = MeshDistance::new(mesh);
            let sampled = SubstrateOffsets::sampled(2.5e-3, exact);
            let from_samples = |q: DVec2| sampled.at(q);
            // Between the samples of an instance the ground is linear: some per cent of the radius in a sharp valley.
            for (substrate, bound) in [(&exact as &dyn Fn(DVec2) -> DVec3, 1e-12), (&from_samples, 2.5e-4)] {
                let mut built = profile().surface(&Detail::default());
                drape(&mut built.mesh, 4e-9, substrate, &mut DrapeScratch::default());
                assert!((built.mesh.volume() / 4e-9 - 1.0).abs() < 1e-6, "{:e} m³", built.mesh.volume());
                let mut worst = 0.0_f64;
                for (t, _) in built.on_solid.iter().enumerate().filter(|&(_, &on)| on) {
                    for corner in built.mesh.corners(t) {
                        let point = frame.point + frame.axes * corner;
                        worst = worst.max(distance.nearest(point).expect("a mesh").distance.abs());
                    }
                }
                assert!(worst < bound, "a foot's corner is {worst:.1e} m off the surface");
            }
        }
    }
}
