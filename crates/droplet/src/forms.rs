//! From the model's numbers to the shapes that a frame shows.
//!
//! Up to [`INSTANCE_THRESHOLD`] droplets a frame carries surfaces that lie on the mesh ([`crate::skin`]): Young–Laplace meridians in the physical
//! form, spline patches over masses and springs in the paper's. Beyond it, it carries a few numbers per droplet, and a reader makes the
//! surface over the tangent plane.

use glam::{DMat2, DMat3, DVec2, DVec3};
use rayon::prelude::*;
use sessile_frames::{Content, DropFacts, INSTANCE_THRESHOLD, Surface};
use sessile_shapes::{Detail, DropForm, DropMesh, Instance, LocalFrame, Shape, drop_mesh};
use sessile_wetting::table::ShapeTable;

use crate::droplets::Droplet;
use crate::field::{Field, Moment};
use crate::flight::Ball;
use crate::meridian;
use crate::necks::{Part, Parts};
use crate::patch;
use crate::setup::Setup;
use crate::skin::{self, Deformation};
use crate::swarm::{Form, Swarm};
use crate::track::{Facet, Track};

/// Largest lean of an apex, in base radii: beyond it the shear would cut through the foot.
const LARGEST_LEAN: f64 = 0.6;
/// Largest sag that two blobs can show, in base radii.
const LARGEST_SAG: f64 = 0.22;
/// Elongation that a droplet approaches with speed, in base radii.
const LARGEST_STRETCH: f64 = 0.9;
/// Speed at which half of it is reached on a solid that sheds no film, in m/s.
const STRETCH_SPEED: f64 = 0.2;

/// What shapes follow from.
pub struct Stage<'a> {
    /// The droplets on surfaces.
    pub swarm: &'a Swarm,
    /// The mesh.
    pub track: &'a Track,
    /// Per solid.
    pub fields: &'a [Field],
    /// Per solid.
    pub moments: &'a [Moment],
    /// The scene's word.
    pub setup: &'a Setup,
}

/// A droplet's form in the axes of its triangle.
struct Look {
    height: f64,
    angle: f64,
    /// Pull along the surface and into it, in m/s².
    along: DVec2,
    pressing: f64,
    /// Direction in which it sags or runs.
    heading: DVec2,
    /// Downhill shift of the centroid and elongation, in base radii.
    sag: f64,
    stretch: f64,
}

/// The liquid of a frame and its facts, by rising id.
pub fn shown(stage: &Stage<'_>, balls: &[Ball]) -> (Content, Vec<DropFacts>) {
    let mut slots: Vec<u32> = stage.swarm.droplets.slots().collect();
    slots.sort_unstable_by_key(|&slot| stage.swarm.droplets.ids[slot as usize]);
    let mut facts: Vec<DropFacts> = slots.par_iter().map(|&slot| stage.facts(slot)).collect();
    facts.extend(balls.iter().map(|ball| DropFacts {
        id: ball.id,
        volume: ball.volume,
        velocity: ball.velocity,
        speed_max: ball.velocity.length(),
        pressure: None,
    }));
    facts.sort_unstable_by_key(|facts| facts.id);
    if facts.len() > INSTANCE_THRESHOLD {
        let mut instances: Vec<Instance> = slots.into_par_iter().map(|slot| stage.instance(slot)).collect();
        instances.extend(balls.iter().map(in_air));
        instances.sort_unstable_by_key(|instance| instance.drop);
        return (Content::Instances(instances), facts);
    }
    let mut made: Vec<(u32, i32, DropMesh)> = slots
        .par_iter()
        .map(|&slot| {
            let (id, solid) = (stage.swarm.droplets.ids[slot as usize], stage.facet(slot).solid as i32);
            (id, solid, stage.surface(slot))
        })
        .collect();
    made.extend(
        balls.par_iter().map(|ball| (ball.id, -1, drop_mesh(&in_air(ball), &Detail::default()))).collect::<Vec<_>>(),
    );
    made.sort_unstable_by_key(|&(id, ..)| id);
    let mut surface = Surface::default();
    for ((id, solid, built), facts) in made.iter().zip(&facts) {
        let base = surface.positions.len() as u32;
        let vertices = built.mesh.positions.len();
        surface.positions.extend_from_slice(&built.mesh.positions);
        surface.velocities.extend(std::iter::repeat_n(facts.velocity, vertices));
        surface.drops.extend(std::iter::repeat_n(*id, vertices));
        surface.triangles.extend(built.mesh.triangles.iter().map(|triangle| triangle.map(|v| v + base)));
        surface.solids.extend(built.on_solid.iter().map(|&on| if on { *solid } else { -1 }));
    }
    (Content::Surfaces(surface), facts)
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
        self.track.facet(self.swarm.droplets.riders[slot as usize].place.triangle)
    }

    fn facts(&self, slot: u32) -> DropFacts {
        let (droplet, facet) = (self.swarm.droplets.get(slot), self.facet(slot));
        let moment = &self.moments[facet.solid as usize];
        let origin = moment.pose.apply(facet.point(droplet.rider.place.at));
        let velocity = moment.pose.turn(facet.lift(droplet.rider.velocity)) + moment.velocity.at(origin);
        DropFacts {
            id: droplet.id,
            volume: droplet.size.volume,
            velocity,
            speed_max: velocity.length(),
            pressure: None,
        }
    }

    fn look(&self, droplet: &Droplet) -> Look {
        let (facet, liquid) = (self.track.facet(droplet.rider.place.triangle), &self.setup.liquid);
        let pull = self.fields[facet.solid as usize].pull(facet.point(droplet.rider.place.at), DVec3::ZERO);
        let (along, pressing) = (facet.along(pull), -pull.dot(facet.normal()));
        let heading = droplet.rider.velocity.try_normalize().or(along.try_normalize()).unwrap_or(DVec2::X);
        let size = &droplet.size;
        let mut look = Look {
            height: size.radius,
            angle: 0.5 * std::f64::consts::PI,
            along,
            pressing,
            heading,
            sag: 0.0,
            stretch: 0.0,
        };
        if let Form::Physical = self.swarm.form {
            let law = self.swarm.ground.law(self.track, droplet.rider.place);
            look.angle = law.angle_at(liquid, size.volume, size.radius, pressing);
            let rest = ShapeTable::shared().rest_shape(size.volume, look.angle, pressing, liquid);
            look.height = rest.map_or(size.radius, |shape| shape.height);
            let bond = liquid.density * along.length() * size.radius * size.radius / liquid.surface_tension;
            look.sag = bond * law.sag_per_bond;
            let (speed, half) = (droplet.rider.velocity.length(), law.shedding_speed.clamp(0.02, STRETCH_SPEED));
            look.stretch = LARGEST_STRETCH * speed / (speed + half);
        }
        look
    }

    /// The closed surface of a droplet, in the world.
    fn surface(&self, slot: u32) -> DropMesh {
        let droplet = self.swarm.droplets.get(slot);
        let (facet, size, detail) = (self.facet(slot), droplet.size, Detail::default());
        let look = self.look(&droplet);
        let parts = self.swarm.necks.get(slot);
        let mut built = match (&parts, &self.swarm.form) {
            (Some(parts), _) => {
                let offset = |part: &Part| facet.along(part.offset);
                let shape = Shape::Metaballs(balls(&droplet, &look, Some(parts.as_slice()), offset, look.heading));
                let frame = LocalFrame { origin: DVec3::ZERO, axes: DMat3::IDENTITY };
                let instance =
                    Instance { drop: 1, solid: Some(0), frame, volume: size.volume, velocity: DVec3::ZERO, shape };
                drop_mesh(&instance, &detail)
            }
            (None, Form::Paper(_)) => self.patch(&droplet, &look, &detail),
            (None, Form::Physical) => {
                let meridian = if look.pressing > 0.0 {
                    let length = self.setup.liquid.capillary_length(look.pressing);
                    meridian::resting(size.volume, look.angle, length, size.radius, look.height)
                } else {
                    meridian::hanging(size.volume, size.radius, look.height)
                };
                let mut built = skin::revolve(&meridian, size.volume, &detail);
                let (_, centroid) = meridian::volume_and_centroid(&meridian);
                let lean = (look.sag * look.height / centroid).min(LARGEST_LEAN) * size.radius;
                let down = look.along.normalize_or_zero();
                let deformation = Deformation { lean: down * lean, heading: look.heading, stretch: look.stretch };
                skin::deform(&mut built.mesh, &deformation);
                built
            }
        };
        skin::lay(&mut built.mesh, self.track, droplet.rider.place, size.volume);
        let moment = &self.moments[facet.solid as usize];
        built.mesh.positions.iter_mut().for_each(|p| *p = moment.pose.apply(*p));
        built
    }

    /// The paper's droplet: masses and springs in balance under its weight, and a spline over them.
    fn patch(&self, droplet: &Droplet, look: &Look, detail: &Detail) -> DropMesh {
        let (liquid, size, balances) = (&self.setup.liquid, &droplet.size, &self.setup.balances);
        let weight = liquid.density * size.volume / (liquid.surface_tension * size.radius);
        let along = look.along.length();
        let mut balance = (*balances.of(weight * along, -weight * look.pressing)).clone();
        let restless = patch::amplitude(droplet.rider.velocity.length());
        patch::displace(&mut balance, balances.springs(), self.setup.seed, droplet.id, restless);
        let mut built = patch::surface(&balance, balances.springs(), size.radius, detail);
        let turn = DMat2::from_angle(if along > 0.0 { look.along.to_angle() } else { 0.0 });
        for position in &mut built.mesh.positions {
            *position = (turn * position.truncate()).extend(position.z) * size.radius;
        }
        built
    }

    /// A droplet as a few numbers.
    fn instance(&self, slot: u32) -> Instance {
        let droplet = self.swarm.droplets.get(slot);
        let (facet, look) = (self.facet(slot), self.look(&droplet));
        let moment = &self.moments[facet.solid as usize];
        let (facts, parts) = (self.facts(slot), self.swarm.necks.get(slot));
        // y up the slope.
        let up = facet.lift((-look.along).try_normalize().unwrap_or(DVec2::Y));
        let axes = DMat3::from_cols(up.cross(facet.normal()), up, facet.normal());
        let into = |vector: DVec3| DVec2::new(axes.x_axis.dot(vector), axes.y_axis.dot(vector));
        let heading = into(facet.lift(look.heading)).normalize_or(DVec2::NEG_Y);
        Instance {
            drop: droplet.id,
            solid: Some(facet.solid),
            frame: LocalFrame {
                origin: moment.pose.apply(facet.point(droplet.rider.place.at)),
                axes: moment.pose.rotation * axes,
            },
            volume: droplet.size.volume,
            velocity: facts.velocity,
            shape: Shape::Metaballs(balls(
                &droplet,
                &look,
                parts.as_ref().map(Parts::as_slice),
                |part| into(part.offset),
                heading,
            )),
        }
    }
}

/// A droplet as metaballs, or those of its parts while they draw together.
fn balls(
    droplet: &Droplet,
    look: &Look,
    parts: Option<&[Part]>,
    offset: impl Fn(&Part) -> DVec2,
    heading: DVec2,
) -> Vec<sessile_shapes::Ball> {
    let whole = DropForm {
        volume: droplet.size.volume,
        base_radius: droplet.size.radius,
        height: look.height,
        heading,
        sag: look.sag.min(LARGEST_SAG),
        stretch: look.stretch,
        front: [0.0; 5],
    };
    let mut balls = Vec::new();
    match parts {
        Some(parts) => {
            for part in parts {
                let scale = part.share.cbrt();
                let form = DropForm {
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
