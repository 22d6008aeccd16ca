//! Display shapes: from the model's numbers to the geometry of a frame.
//!
//! Every droplet is a body over the tangent plane, draped over the mesh: a Young–Laplace profile in
//! the physical mode, a spline patch over masses and springs in the reproduction mode, metaballs
//! while droplets are merging. A frame of few droplets holds surfaces whose bases lie on the
//! triangles. A frame of many ([`stored_as_instances`]) holds a few numbers per droplet with
//! sampled substrate offsets, from which a reader makes surfaces of any resolution.

use std::f64::consts::FRAC_PI_2;

use glam::{DMat2, DMat3, DVec2, DVec3};
use rayon::prelude::*;
use sessile_frames::instances::{Batch, assemble, stored_as_instances};
use sessile_frames::{DropState, FrameGeometry};
use sessile_shapes::{
    Body, Detail, DrapeScratch, Draped, Instance, LocalFrame, MetaballDrop, Patch, Profile, Shape, SubstrateOffsets,
    drape, drape_flat,
};
use sessile_sliding::{Ball, NeckPart, NeckParts};
use sessile_wetting::CurvedRest;

use crate::context::StepContext;
use crate::curvature::curvature;
use crate::droplets::Droplet;
use crate::particles::{Fidelity, ParticleSystem};
use crate::patch;
use crate::surface_mesh::{Facet, SurfacePoint};

/// Largest sag that two blobs can represent, in base radii.
const MAX_SAG: f64 = 0.22;
/// Elongation that a droplet approaches with increasing speed, in base radii.
const MAX_STRETCH: f64 = 0.9;
/// Speed of half that elongation on a solid without film shedding, in m/s.
const STRETCH_SPEED: f64 = 0.2;
/// Capillary length of a weightless droplet, in m.
const WEIGHTLESS: f64 = 1.0;

/// Builds the geometry of a frame.
pub struct FrameBuilder<'a> {
    /// Droplets on surfaces.
    pub particles: &'a ParticleSystem,
    /// Mesh, solids and scene.
    pub context: StepContext<'a>,
}

/// Shape of a droplet in the axes of its triangle.
struct DropletShape {
    profile: Profile,
    /// Tangential acceleration, in m/s².
    tangential: DVec2,
    /// Acceleration into the solid, in m/s².
    normal: f64,
    /// Downhill shift of the centroid, in base radii.
    sag: f64,
}

/// A drop of a frame.
#[derive(Clone, Copy)]
enum Source<'a> {
    /// On a solid, in this slot.
    Slot(u32),
    Airborne(&'a Ball),
}

fn airborne_instance(ball: &Ball) -> Instance {
    Instance {
        drop: ball.id.get(),
        solid: None,
        frame: LocalFrame { origin: ball.body.center, axes: DMat3::IDENTITY },
        volume: ball.body.volume,
        velocity: ball.body.velocity,
        shape: Shape::Sphere,
    }
}

fn airborne_state(ball: &Ball) -> DropState {
    DropState {
        id: ball.id.get(),
        volume: ball.body.volume,
        velocity: ball.body.velocity,
        speed_max: ball.body.velocity.length(),
        pressure: None,
    }
}

impl FrameBuilder<'_> {
    /// Geometry and states of all drops, by increasing id.
    pub fn geometry(&self, balls: &[Ball]) -> (FrameGeometry, Vec<DropState>) {
        let droplets = &self.particles.droplets;
        let mut slots: Vec<u32> = droplets.used().collect();
        slots.sort_unstable_by_key(|&slot| droplets[slot].id);
        if stored_as_instances(slots.len() + balls.len()) {
            return self.instances(slots, balls);
        }
        let mut states: Vec<DropState> = slots.par_iter().map(|&slot| self.drop_state(slot)).collect();
        states.extend(balls.iter().map(airborne_state));
        states.sort_unstable_by_key(|state| state.id);
        let mut drops: Vec<(u32, Source<'_>)> =
            slots.iter().map(|&slot| (droplets[slot].id, Source::Slot(slot))).collect();
        drops.extend(balls.iter().map(|ball| (ball.id.get(), Source::Airborne(ball))));
        drops.sort_unstable_by_key(|&(id, _)| id);
        let batches = Batch::of(&drops, |batch, &(_, drop)| match drop {
            Source::Slot(slot) => self.push_surface(slot, batch),
            Source::Airborne(ball) => batch.make(&airborne_instance(ball), &Detail::default()),
        });
        (FrameGeometry::Surfaces(assemble(&batches)), states)
    }

    /// Instances and states of many drops; `slots` are sorted by id.
    fn instances(&self, slots: Vec<u32>, balls: &[Ball]) -> (FrameGeometry, Vec<DropState>) {
        let (mut instances, mut states) = (Vec::new(), Vec::new());
        slots.into_par_iter().map(|slot| self.instance(slot)).unzip_into_vecs(&mut instances, &mut states);
        if !balls.is_empty() {
            instances.extend(balls.iter().map(airborne_instance));
            instances.sort_unstable_by_key(|instance| instance.drop);
            states.extend(balls.iter().map(airborne_state));
            states.sort_unstable_by_key(|state| state.id);
        }
        (FrameGeometry::Instances(instances), states)
    }

    fn facet(&self, slot: u32) -> &Facet {
        self.context.surface.facet(self.particles.droplets[slot].motion.place.triangle)
    }

    fn drop_state(&self, slot: u32) -> DropState {
        let (droplet, facet) = (self.particles.droplets.get(slot), self.facet(slot));
        let rigid = &self.context.rigid_states[facet.solid as usize];
        let origin = rigid.pose.apply(facet.point(droplet.motion.place.at));
        let velocity = rigid.pose.turn(facet.lift(droplet.motion.velocity)) + rigid.velocity.at(origin);
        let speed_max = velocity.length();
        DropState { id: droplet.id, volume: droplet.size.volume, velocity, speed_max, pressure: None }
    }

    /// Shape of a droplet from its size, velocity and acceleration.
    fn shape(&self, droplet: &Droplet) -> DropletShape {
        let facet = self.context.surface.facet(droplet.motion.place.triangle);
        let acceleration = self.context.acceleration(facet).at(facet.point(droplet.motion.place.at), DVec3::ZERO);
        let (tangential, normal) = (facet.project(acceleration), -acceleration.dot(facet.normal()));
        let heading = droplet.motion.velocity.try_normalize().or(tangential.try_normalize()).unwrap_or(DVec2::X);
        let size = &droplet.size;
        let profile = Profile {
            body: size.volume,
            base_radius: size.radius,
            height: size.radius,
            angle: FRAC_PI_2,
            capillary_length: WEIGHTLESS,
            lean: DVec2::ZERO,
            heading,
            stretch: 0.0,
        };
        let mut shape = DropletShape { profile, tangential, normal, sag: 0.0 };
        if let Fidelity::Physical = self.particles.fidelity {
            self.fit_profile(droplet, &mut shape);
        }
        shape
    }

    /// Fits the profile to the Young–Laplace shape, and adds lean and stretch.
    fn fit_profile(&self, droplet: &Droplet, shape: &mut DropletShape) {
        let (surface, liquid, place) = (self.context.surface, self.context.liquid(), droplet.motion.place);
        let (size, normal) = (&droplet.size, shape.normal);
        let profile = &mut shape.profile;
        let law = self.particles.substrate.law(surface, place);
        // Most droplets are on a plane and at the advancing angle.
        let flat = CurvedRest::new(liquid, size.volume, law.wetting.advancing, normal, 0.0);
        let radius = flat.map_or(size.radius, |flat| flat.shape.base_radius);
        let curvature = curvature(surface, place, radius);
        let rest = match flat {
            Some(flat) if curvature == 0.0 && radius / size.radius - 1.0 >= -1e-6 => Some(flat),
            _ => {
                profile.angle = law.angle_at(liquid, size.volume, size.radius, normal, curvature);
                CurvedRest::new(liquid, size.volume, profile.angle, normal, curvature)
            }
        };
        if let Some(rest) = rest {
            (profile.body, profile.angle) = (rest.body, rest.angle);
            profile.height = rest.shape.height;
        }
        profile.capillary_length = if normal > 0.0 { liquid.capillary_length(normal) } else { 0.0 };
        let bond = liquid.density * shape.tangential.length() * size.radius * size.radius / liquid.surface_tension;
        shape.sag = bond * law.sag_per_bond;
        profile.lean = shape.tangential.normalize_or_zero() * (shape.sag * size.radius);
        let (speed, half) = (droplet.motion.velocity.length(), law.shedding_speed.clamp(0.02, STRETCH_SPEED));
        profile.stretch = MAX_STRETCH * speed / (speed + half);
    }

    /// Radius around a droplet within which substrate offsets are needed, in m; `None` on a single
    /// plane.
    fn drape_radius(&self, droplet: &Droplet, shape: &DropletShape, parts: Option<&NeckParts>) -> Option<f64> {
        let Profile { lean, stretch, .. } = shape.profile;
        let farthest = |parts: &NeckParts| parts.as_slice().iter().map(|p| p.offset.length()).fold(0.0, f64::max);
        let radius = f64::from(droplet.size.merge_radius).max(droplet.size.radius) * (1.0 + stretch)
            + 3.0 * lean.length()
            + parts.map_or(0.0, farthest);
        let SurfacePoint { triangle, at } = droplet.motion.place;
        let surface = self.context.surface;
        (surface.is_analytic(triangle) || surface.facet(triangle).depth(at) < radius).then_some(radius)
    }

    /// Adds the closed surface of a droplet in world coordinates, its base on the mesh.
    fn push_surface(&self, slot: u32, batch: &mut Batch) {
        let droplet = self.particles.droplets.get(slot);
        let (facet, size, detail) = (self.facet(slot), droplet.size, Detail::default());
        let (shape, parts) = (self.shape(&droplet), self.particles.necks.get(slot));
        let mut built = match (&parts, &self.particles.fidelity) {
            (Some(parts), _) => {
                let offset = |part: &NeckPart| facet.project(part.offset);
                Body::Metaballs(metaballs(&droplet, &shape.profile, shape.sag, parts, offset)).surface(&detail)
            }
            (None, Fidelity::Paper(_)) => self.patch(&droplet, &shape).surface(&detail),
            (None, Fidelity::Physical) => shape.profile.surface(&detail),
        };
        // The mesh is in the axes of the tangent frame: volumes far from the origin would lose
        // digits.
        let surface = self.context.surface;
        let frame = surface.tangent_frame(droplet.motion.place);
        let offset = |q: DVec2| surface.offset(droplet.motion.place, &frame, q);
        if self.drape_radius(&droplet, &shape, parts.as_ref()).is_some() {
            drape(&mut built.mesh, size.volume, offset, &mut DrapeScratch::default());
        } else {
            drape_flat(&mut built.mesh, size.volume);
        }
        let rigid = &self.context.rigid_states[facet.solid as usize];
        built.mesh.positions.iter_mut().for_each(|p| *p = rigid.pose.apply(frame.point + frame.axes * *p));
        batch.push(droplet.id, Some(facet.solid), self.drop_state(slot).velocity, &built);
    }

    /// Patch of the reproduction mode: masses and springs in balance, in the axes of the triangle.
    fn patch(&self, droplet: &Droplet, shape: &DropletShape) -> Patch {
        let (liquid, size, balances) = (self.context.liquid(), &droplet.size, &self.context.setup.balances);
        let weight = liquid.density * size.volume / (liquid.surface_tension * size.radius);
        let tangential = shape.tangential.length();
        let balance = balances.of(weight * tangential, -weight * shape.normal);
        let amplitude = patch::amplitude(droplet.motion.velocity.length());
        let rotation = DMat2::from_angle(if tangential > 0.0 { shape.tangential.to_angle() } else { 0.0 });
        let noise = (self.context.setup.seed, droplet.id, amplitude);
        patch::patch(&balance, balances.springs(), size.radius, rotation, noise)
    }

    /// A droplet as a few numbers, and its state.
    fn instance(&self, slot: u32) -> (Instance, DropState) {
        let droplet = self.particles.droplets.get(slot);
        let (facet, shape) = (self.facet(slot), self.shape(&droplet));
        let rigid = &self.context.rigid_states[facet.solid as usize];
        let (state, parts) = (self.drop_state(slot), self.particles.necks.get(slot));
        // y up the slope, in the triangle's axes.
        let up = (-shape.tangential).try_normalize().unwrap_or(DVec2::Y);
        let plane = DMat2::from_cols(-up.perp(), up);
        // The same rotation about the normal of the tangent frame.
        let surface = self.context.surface;
        let frame = surface.tangent_frame(droplet.motion.place);
        let within = DMat3::from_cols(plane.x_axis.extend(0.0), plane.y_axis.extend(0.0), DVec3::Z);
        let body = self.body(&droplet, &shape, parts.as_ref(), plane.transpose());
        let offset = |q: DVec2| within.transpose() * surface.offset(droplet.motion.place, &frame, plane * q);
        let radius = self.drape_radius(&droplet, &shape, parts.as_ref());
        let substrate =
            radius.map_or_else(SubstrateOffsets::default, |radius| SubstrateOffsets::sampled(radius, offset));
        let instance = Instance {
            drop: droplet.id,
            solid: Some(facet.solid),
            frame: LocalFrame {
                origin: rigid.pose.apply(frame.point),
                axes: rigid.pose.rotation * frame.axes * within,
            },
            volume: droplet.size.volume,
            velocity: state.velocity,
            shape: Shape::Draped(Box::new(Draped { body, substrate })),
        };
        (instance, state)
    }

    /// Body of an instance; `into` rotates the triangle's axes into those of the instance.
    fn body(&self, droplet: &Droplet, shape: &DropletShape, parts: Option<&NeckParts>, into: DMat2) -> Body {
        let facet = self.context.surface.facet(droplet.motion.place.triangle);
        let profile =
            Profile { lean: into * shape.profile.lean, heading: into * shape.profile.heading, ..shape.profile };
        match (parts, &self.particles.fidelity) {
            (Some(parts), _) => {
                let offset = |part: &NeckPart| into * facet.project(part.offset);
                Body::Metaballs(metaballs(droplet, &profile, shape.sag, parts, offset))
            }
            (None, Fidelity::Paper(_)) => {
                let mut patch = self.patch(droplet, shape);
                for [x, y, _] in &mut patch.points {
                    let turned = into * DVec2::new(f64::from(*x), f64::from(*y));
                    (*x, *y) = (turned.x as f32, turned.y as f32);
                }
                Body::Patch(patch)
            }
            (None, Fidelity::Physical) => Body::Profile(profile),
        }
    }
}

/// Metaballs of the parts of a merging droplet; `offset` gives a part's position in the axes of the
/// profile.
fn metaballs(
    droplet: &Droplet,
    profile: &Profile,
    sag: f64,
    parts: &NeckParts,
    offset: impl Fn(&NeckPart) -> DVec2,
) -> Vec<sessile_shapes::Ball> {
    let whole = MetaballDrop {
        volume: droplet.size.volume,
        base_radius: droplet.size.radius,
        height: profile.height,
        heading: profile.heading,
        sag: sag.min(MAX_SAG),
        stretch: profile.stretch,
        front: [0.0; 5],
    };
    let mut balls = Vec::new();
    for part in parts.as_slice() {
        whole.part(part.share).push_balls(offset(part), &mut balls);
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

    /// On a sphere and in a valley the base lies on the surface and the volume is kept.
    #[test]
    fn a_droplet_conforms_to_its_substrate() {
        let shaped = |shape: fn(f64, f64) -> f64| {
            let mut mesh: TriMesh = sheet(0.03, 0.03, 40, 40);
            mesh.positions.iter_mut().for_each(|p| p.z = shape(p.x, p.y));
            mesh
        };
        for mesh in [shaped(|x, y| -(x * x + y * y) / 0.02), shaped(|x, _| 0.7 * x.abs())] {
            let surface = surface_of(&mesh);
            let near = |t: &u32| surface.facet(*t).point(surface.facet(*t).centroid()).truncate().length() < 1e-3;
            let triangle = (0..surface.facets().len() as u32).find(near).expect("in the middle");
            let place = SurfacePoint { triangle, at: surface.facet(triangle).centroid() };
            let frame = surface.tangent_frame(place);
            let exact = |q: DVec2| surface.offset(place, &frame, q);
            let distance = MeshDistance::new(mesh);
            let sampled = SubstrateOffsets::sampled(2.5e-3, exact);
            let from_samples = |q: DVec2| sampled.at(q);
            // Between the samples of an instance the substrate is linear: a few per cent of the
            // radius in a sharp valley.
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
                assert!(worst < bound, "a base vertex is {worst:.1e} m off the surface");
            }
        }
    }
}
