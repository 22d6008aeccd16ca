//! Display shapes: from the model's numbers to the geometry of a frame.
//!
//! Every droplet is a body over the tangent plane, draped over the mesh: a Young–Laplace profile in
//! the physical mode, a spline patch over masses and springs in the reproduction mode, metaballs
//! while droplets are merging. A frame of few droplets holds surfaces whose bases lie on the
//! triangles. A frame of many ([`stored_as_instances`]) holds a few numbers per droplet with
//! sampled substrate offsets, from which a reader makes surfaces of any resolution.

mod confine;

use std::collections::BTreeMap;
use std::f64::consts::FRAC_PI_2;

use glam::{DMat2, DMat3, DVec2, DVec3};
use rayon::prelude::*;
use sessile_frames::instances::{Batch, assemble, stored_as_instances};
use sessile_frames::{DropState, FrameGeometry};
use sessile_geometry::TriMesh;
use sessile_numerics::FourByteIndex as _;
use sessile_numerics::math;
use sessile_shapes::{
    Body, Detail, DrapeScratch, Draped, DropMesh, Fit, Instance, LocalFrame, MetaballDrop, Patch, Profile, Shape,
    SubstrateOffsets, drape, drape_flat, drape_layer, layer,
};
use sessile_sliding::{Ball, DropId, NeckPart, NeckParts, SlotIndex};
use sessile_wetting::{CurvedRest, cap};
use sessile_world::Solid;

use crate::context::StepContext;
use crate::curvature::curvature;
use crate::droplets::Droplet;
use crate::particles::{Fidelity, ParticleSystem};
use crate::patch;
use crate::surface_mesh::{ContactLine, Facet, SolidIndex, SurfacePoint, TangentFrame};

/// Largest sag that two blobs can represent, in base radii.
pub(crate) const MAX_SAG: f64 = 0.22;
/// Elongation that a droplet approaches with increasing speed, in base radii.
pub(crate) const MAX_STRETCH: f64 = 0.9;
/// Speed of half that elongation on a solid without film shedding, in m/s.
pub(crate) const STRETCH_SPEED: f64 = 0.2;
/// Capillary length of a weightless droplet, in m.
const WEIGHTLESS: f64 = 1.0;
/// Offset of a contact line from its tangent plane, in heights, above which a draped body may cut
/// into its solid.
const LARGEST_RELIEF: f64 = 0.2;
/// Depth in the solid, in heights, above which a vertex of a draped body counts as inside.
const LARGEST_DEPTH: f64 = 0.01;
/// Share of a closed solid's area above which a layer is shown all around it.
const LARGEST_COVERAGE: f64 = 0.6;

/// Resolution of the patches of the reproduction mode, which are few and seen closely.
const PATCH_DETAIL: Detail = Detail { edge: 0.1e-3, fewest: 24, most: 96 };

/// Builds the geometry of a frame.
pub struct FrameBuilder<'a> {
    /// Droplets on surfaces.
    pub particles: &'a ParticleSystem,
    /// The solids at the time of the frame.
    pub solids: &'a [Solid],
    /// In the first frame, the contact angles that the scene gives its caps, in rad: they are shown
    /// with it, also outside of the range that the material allows.
    pub initial_angles: Option<&'a BTreeMap<DropId, f64>>,
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
    /// Where the contact line is on a curved solid.
    line: ContactLine,
    /// Whether the droplet covers a sphere of the solid's curvature.
    covers_solid: bool,
}

/// Whether a displayed body may cut into its own solid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// It is over a plane.
    Never,
    /// It is draped: some of its vertices are tested.
    Possible,
    /// The solid turns under it: all of its vertices are tested.
    Likely,
}

/// A drop of a frame.
#[derive(Clone, Copy)]
enum Source<'a> {
    /// On a solid, in this slot.
    Slot(SlotIndex),
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
        let droplets = &self.particles.state.droplets;
        let mut slots: Vec<SlotIndex> = droplets.used().collect();
        slots.sort_unstable_by_key(|&slot| droplets[slot].id);
        if stored_as_instances(slots.len() + balls.len()) {
            return self.instances(slots, balls);
        }
        let mut states: Vec<DropState> = slots.par_iter().map(|&slot| self.drop_state(slot)).collect();
        states.extend(balls.iter().map(airborne_state));
        states.sort_unstable_by_key(|state| state.id);
        let mut drops: Vec<(Option<DropId>, Source<'_>)> =
            slots.iter().map(|&slot| (droplets[slot].id, Source::Slot(slot))).collect();
        drops.extend(balls.iter().map(|ball| (Some(ball.id), Source::Airborne(ball))));
        drops.sort_unstable_by_key(|&(id, _)| id);
        let batches = Batch::of(&drops, |batch, &(_, drop)| match drop {
            Source::Slot(slot) => self.push_surface(slot, batch),
            Source::Airborne(ball) => batch.make(&airborne_instance(ball), &Detail::default()),
        });
        (FrameGeometry::Surfaces(assemble(&batches)), states)
    }

    /// Positions of all drops, by increasing id, in m: of a droplet on a solid its place there.
    pub fn positions(&self, balls: &[Ball]) -> Vec<DVec3> {
        let droplets = &self.particles.state.droplets;
        let mut positions: Vec<(Option<DropId>, DVec3)> =
            balls.iter().map(|ball| (Some(ball.id), ball.body.center)).collect();
        positions.extend(droplets.used().map(|slot| (droplets[slot].id, self.origin(slot))));
        positions.sort_unstable_by_key(|&(id, _)| id);
        positions.into_iter().map(|(_, position)| position).collect()
    }

    /// Place of a droplet in the world, in m.
    fn origin(&self, slot: SlotIndex) -> DVec3 {
        let facet = self.facet(slot);
        let pose = &self.context.rigid_states[facet.solid].pose;
        pose.apply(facet.point(self.particles.state.droplets[slot].motion.place.at))
    }

    /// Instances and states of many drops; `slots` are sorted by id.
    fn instances(&self, slots: Vec<SlotIndex>, balls: &[Ball]) -> (FrameGeometry, Vec<DropState>) {
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

    fn facet(&self, slot: SlotIndex) -> &Facet {
        self.context.surface.facet(self.particles.state.droplets[slot].motion.place.triangle)
    }

    fn drop_state(&self, slot: SlotIndex) -> DropState {
        let (droplet, facet) = (self.particles.state.droplets.get(slot), self.facet(slot));
        let rigid = &self.context.rigid_states[facet.solid];
        let origin = self.origin(slot);
        let velocity = rigid.pose.turn(facet.lift(droplet.motion.velocity))
            + self.context.setup.velocity_at(self.context.rigid_states, facet.solid, origin);
        let speed_max = velocity.length();
        DropState { id: droplet.id.get(), volume: droplet.size.volume, velocity, speed_max, pressure: None }
    }

    /// Shape of a droplet from its size, velocity and acceleration.
    fn shape(&self, droplet: &Droplet) -> DropletShape {
        let facet = self.context.surface.facet(droplet.motion.place.triangle);
        let acceleration = self
            .context
            .acceleration(droplet.motion.place.triangle)
            .at(facet.point(droplet.motion.place.at), DVec3::ZERO);
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
        let line = ContactLine { radius: size.radius, turn: 0.0 };
        let mut shape = DropletShape { profile, tangential, normal, sag: 0.0, line, covers_solid: false };
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
        let law = self.particles.state.substrate.law(surface, place);
        if droplet.state.is_spreading {
            // A cap: weight and speed along the solid have no time to deform it.
            let slope = cap::slope(size.volume, size.radius);
            (profile.angle, profile.height) = (2.0 * math::atan(slope), slope * size.radius);
            return;
        }
        let given = self.initial_angles.and_then(|angles| angles.get(&droplet.id));
        // Most droplets are on a plane and at the advancing angle.
        let angle = given.copied().unwrap_or(law.wetting.advancing);
        let flat = CurvedRest::new(liquid, size.volume, angle, normal, 0.0);
        let radius = flat.map_or(size.radius, |flat| flat.shape.base_radius);
        let curvature = curvature(surface, place, radius);
        let rest = match flat {
            Some(flat) if curvature == 0.0 && radius / size.radius - 1.0 >= -1e-6 => Some(flat),
            _ if given.is_some() => CurvedRest::new(liquid, size.volume, angle, normal, curvature),
            _ => {
                profile.angle = law.angle_at(liquid, size.volume, size.radius, normal, curvature);
                CurvedRest::new(liquid, size.volume, profile.angle, normal, curvature)
            }
        };
        if let Some(rest) = rest {
            (profile.body, profile.angle) = (rest.body, rest.angle);
            profile.height = rest.shape.height;
            if given.is_some() {
                profile.base_radius = rest.shape.base_radius;
            }
            if rest.turn > FRAC_PI_2 && !rest.covers_sphere() {
                profile.base_radius = rest.line_radius;
            }
            shape.line = ContactLine { radius: profile.base_radius, turn: rest.turn };
            shape.covers_solid = rest.covers_sphere();
        }
        if rest.is_none() {
            // Beyond the limit of a free contact line: about half an ellipsoid.
            profile.height = 1.5 * size.volume / (std::f64::consts::PI * size.radius * size.radius);
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
        let widest = f64::from(droplet.size.merge_radius).max(droplet.size.radius).max(shape.profile.base_radius);
        let radius = widest * (1.0 + stretch) + 3.0 * lean.length() + parts.map_or(0.0, farthest);
        let SurfacePoint { triangle, at } = droplet.motion.place;
        let surface = self.context.surface;
        (surface.is_analytic(triangle) || surface.facet(triangle).depth(at) < radius).then_some(radius)
    }

    /// Adds the closed surface of a droplet in world coordinates, its base on the mesh.
    fn push_surface(&self, slot: SlotIndex, batch: &mut Batch) {
        let droplet = self.particles.state.droplets.get(slot);
        let (facet, size, detail) = (self.facet(slot), droplet.size, Detail::default());
        let (shape, parts) = (self.shape(&droplet), self.particles.state.necks.get(slot));
        let body = || match (&parts, &self.particles.fidelity) {
            (Some(parts), _) => {
                let offset = |part: &NeckPart| facet.project(part.offset);
                Body::Metaballs(metaballs(&droplet, &shape.profile, shape.sag, parts, offset)).surface(&detail)
            }
            (None, Fidelity::Paper(_)) => self.patch(&droplet, &shape).surface(&PATCH_DETAIL),
            (None, Fidelity::Physical) => shape.profile.surface(&detail),
        };
        // The mesh is in the axes of the tangent frame: volumes far from the origin would lose
        // digits.
        let frame = self.context.surface.tangent_frame(droplet.motion.place);
        let (mut built, may_cut) = if self.drape_radius(&droplet, &shape, parts.as_ref()).is_some() {
            self.draped(&droplet, &shape, &frame, body)
        } else {
            let mut built = body();
            drape_flat(&mut built.mesh, size.volume);
            (built, Cut::Never)
        };
        let rigid = &self.context.rigid_states[facet.solid];
        built.mesh.positions.iter_mut().for_each(|p| *p = rigid.pose.apply(frame.point + frame.axes * *p));
        let fits = self.confine(&mut built, size.volume, facet.solid, may_cut);
        if !fits {
            match self.cut_ball(&droplet, rigid.pose.apply(frame.point), facet.solid) {
                Some(cut) => built = cut,
                // Its place is behind another solid: it is at least outside of its own one.
                None => _ = self.confine_to(&mut built, size.volume, facet.solid, &[&self.solids[facet.solid]]),
            }
        }
        batch.push(droplet.id.get(), Some(facet.solid.number()), self.drop_state(slot).velocity, &built);
    }

    /// The surface of a droplet on its solid, in the axes of the tangent frame, and whether it may
    /// cut into the solid; `body` makes that over a plane.
    fn draped(
        &self,
        droplet: &Droplet,
        shape: &DropletShape,
        frame: &TangentFrame,
        body: impl Fn() -> DropMesh,
    ) -> (DropMesh, Cut) {
        let (surface, place, volume) = (self.context.surface, droplet.motion.place, droplet.size.volume);
        let solid = surface.facet(place.triangle).solid;
        if shape.covers_solid
            && let Some(film) = self.film_around(solid, volume, frame)
        {
            return (film, Cut::Never);
        }
        let offset = |q: DVec2| surface.offset(place, frame, &shape.line, q);
        let mut built = body();
        let fit = drape(&mut built, volume, offset, &mut DrapeScratch::default());
        let mut is_layer = fit == Fit::Layer;
        if let Fit::Body { relief } = fit
            && relief > LARGEST_RELIEF
            && shape.profile.angle < FRAC_PI_2
            && self.is_inside(&built, solid, frame)
        {
            let mut film = body();
            if drape_layer(&mut film, volume, offset) {
                (built, is_layer) = (film, true);
            }
        }
        if is_layer
            && self.coverage(&built, solid) > LARGEST_COVERAGE
            && let Some(film) = self.film_around(solid, volume, frame)
        {
            return (film, Cut::Never);
        }
        let is_bent = is_layer || matches!(fit, Fit::Body { relief } if relief > LARGEST_RELIEF);
        (built, if is_bent { Cut::Likely } else { Cut::Possible })
    }

    /// Whether a vertex of the free surface is inside the solid.
    fn is_inside(&self, built: &DropMesh, solid: SolidIndex, frame: &TangentFrame) -> bool {
        let height = built.mesh.positions.iter().map(|p| p.z).fold(f64::MIN_POSITIVE, f64::max);
        let mesh = self.context.setup.mesh(solid);
        built.mesh.positions.iter().any(|&p| {
            let point = frame.point + frame.axes * p;
            let distance = self.context.surface.analytic_distance(solid, point);
            distance
                .or_else(|| mesh.signed_distance_bounded(point, height))
                .is_some_and(|d| d < -LARGEST_DEPTH * height)
        })
    }

    /// Area of a base over that of its solid; 0 if the solid is open.
    fn coverage(&self, built: &DropMesh, solid: SolidIndex) -> f64 {
        let surface = self.context.surface;
        if !surface.is_closed(solid) {
            return 0.0;
        }
        let area = |t: usize| {
            let [a, b, c] = built.mesh.corners(t);
            0.5 * (b - a).cross(c - a).length()
        };
        let base: f64 = (0..built.on_solid.len()).filter(|&t| built.on_solid[t]).map(area).sum();
        base / self.context.setup.cumulative_areas[surface.range_of(solid).end - 1]
    }

    /// A film of `volume` (in m³) all around a closed solid, in the axes of a frame.
    fn film_around(&self, solid: SolidIndex, volume: f64, frame: &TangentFrame) -> Option<DropMesh> {
        if !self.context.surface.is_closed(solid) {
            return None;
        }
        let mesh = self.context.setup.mesh(solid).mesh();
        let base = TriMesh {
            positions: mesh.positions.iter().map(|&p| frame.axes.transpose() * (p - frame.point)).collect(),
            triangles: mesh.triangles.iter().map(|&[a, b, c]| [a, c, b]).collect(),
            corner_uvs: Vec::new(),
        };
        layer(base, volume)
    }

    /// Patch of the reproduction mode: masses and springs in balance, in the axes of the triangle.
    fn patch(&self, droplet: &Droplet, shape: &DropletShape) -> Patch {
        let (liquid, size, balances) = (self.context.liquid(), &droplet.size, &self.context.setup.balances);
        let weight = liquid.density * size.volume / (liquid.surface_tension * size.radius);
        let tangential = shape.tangential.length();
        let balance = balances.of(weight * tangential, -weight * shape.normal);
        let amplitude = patch::amplitude(droplet.motion.velocity.length());
        let rotation = math::rotation(if tangential > 0.0 { math::direction_angle(shape.tangential) } else { 0.0 });
        let noise = (self.context.setup.seed, droplet.id.get(), amplitude);
        patch::patch(&balance, balances.springs(), size.radius, rotation, noise)
    }

    /// A droplet as a few numbers, and its state.
    fn instance(&self, slot: SlotIndex) -> (Instance, DropState) {
        let droplet = self.particles.state.droplets.get(slot);
        let (facet, shape) = (self.facet(slot), self.shape(&droplet));
        let rigid = &self.context.rigid_states[facet.solid];
        let (state, parts) = (self.drop_state(slot), self.particles.state.necks.get(slot));
        // y up the slope, in the triangle's axes.
        let up = (-shape.tangential).try_normalize().unwrap_or(DVec2::Y);
        let plane = DMat2::from_cols(-up.perp(), up);
        // The same rotation about the normal of the tangent frame.
        let surface = self.context.surface;
        let frame = surface.tangent_frame(droplet.motion.place);
        let within = DMat3::from_cols(plane.x_axis.extend(0.0), plane.y_axis.extend(0.0), DVec3::Z);
        let body = self.body(&droplet, &shape, parts.as_ref(), plane.transpose());
        let offset =
            |q: DVec2| within.transpose() * surface.offset(droplet.motion.place, &frame, &shape.line, plane * q);
        let radius = self.drape_radius(&droplet, &shape, parts.as_ref());
        let substrate =
            radius.map_or_else(SubstrateOffsets::default, |radius| SubstrateOffsets::sampled(radius, offset));
        let instance = Instance {
            drop: droplet.id.get(),
            solid: Some(facet.solid.number()),
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
    use crate::surface_mesh::TriangleIndex;
    use crate::surface_mesh::tests::{sheet, surface_of};
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
            let near =
                |t: &TriangleIndex| surface.facet(*t).point(surface.facet(*t).centroid()).truncate().length() < 1e-3;
            let triangle = TriangleIndex::first(surface.facets().len()).find(near).expect("in the middle");
            let place = SurfacePoint { triangle, at: surface.facet(triangle).centroid() };
            let frame = surface.tangent_frame(place);
            let line = ContactLine { radius: 1.25e-3, turn: 0.0 };
            let exact = |q: DVec2| surface.offset(place, &frame, &line, q);
            let distance = MeshDistance::new(mesh);
            let sampled = SubstrateOffsets::sampled(2.5e-3, exact);
            let from_samples = |q: DVec2| sampled.at(q);
            // Between the samples of an instance the substrate is linear: a few per cent of the
            // radius in a sharp valley.
            for (substrate, bound) in [(&exact as &dyn Fn(DVec2) -> DVec3, 1e-12), (&from_samples, 2.5e-4)] {
                let mut built = profile().surface(&Detail::default());
                drape(&mut built, 4e-9, substrate, &mut DrapeScratch::default());
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
