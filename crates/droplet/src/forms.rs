//! From the model's numbers to the shapes that a frame shows.

use glam::{DMat3, DVec2, DVec3};
use rayon::prelude::*;
use sessile_frames::{Content, DropFacts};
use sessile_shapes::{DropForm, Instance, LocalFrame, Shape};
use sessile_wetting::table::ShapeTable;

use crate::field::{Field, Moment};
use crate::flight::Ball;
use crate::setup::Setup;
use crate::swarm::{Form, Swarm};
use crate::track::Track;

/// Largest sag that two blobs can show, in base radii.
const LARGEST_SAG: f64 = 0.22;
/// Elongation that a droplet approaches with speed, in base radii.
const LARGEST_STRETCH: f64 = 0.9;
/// Speed at which half of it is reached on a solid that sheds no film, in m/s.
const STRETCH_SPEED: f64 = 0.2;

/// The liquid of a frame and its facts, by rising id.
pub fn shown(
    swarm: &Swarm,
    balls: &[Ball],
    track: &Track,
    fields: &[Field],
    moments: &[Moment],
    setup: &Setup,
) -> (Content, Vec<DropFacts>) {
    let slots: Vec<u32> = swarm.droplets.slots().collect();
    let mut shown: Vec<(Instance, DropFacts)> =
        slots.into_par_iter().map(|slot| with_facts(on_solid(slot, swarm, track, fields, moments, setup))).collect();
    shown.extend(balls.iter().map(|ball| {
        with_facts(Instance {
            drop: ball.id,
            solid: None,
            frame: LocalFrame { origin: ball.center, axes: DMat3::IDENTITY },
            volume: ball.volume,
            velocity: ball.velocity,
            shape: Shape::Sphere,
        })
    }));
    shown.sort_unstable_by_key(|(instance, _)| instance.drop);
    let (instances, facts) = shown.into_iter().unzip();
    (Content::Instances(instances), facts)
}

fn with_facts(instance: Instance) -> (Instance, DropFacts) {
    let (velocity, speed_max) = (instance.velocity, instance.velocity.length());
    let facts = DropFacts { id: instance.drop, volume: instance.volume, velocity, speed_max, pressure: None };
    (instance, facts)
}

fn on_solid(slot: u32, swarm: &Swarm, track: &Track, fields: &[Field], moments: &[Moment], setup: &Setup) -> Instance {
    let droplet = swarm.droplets.get(slot);
    let facet = track.facet(droplet.rider.place.triangle);
    let solid = facet.solid as usize;
    let moment = &moments[solid];
    let point = facet.point(droplet.rider.place.at);
    let pull = fields[solid].pull(point, DVec3::ZERO);
    let along = facet.along(pull);
    let pressing = -pull.dot(facet.normal());
    // y up the slope.
    let up = (-along).try_normalize().unwrap_or(DVec2::Y);
    let up = facet.lift(up);
    let normal = facet.normal();
    let axes = DMat3::from_cols(up.cross(normal), up, normal);
    let heading3 = facet.lift(droplet.rider.velocity.try_normalize().unwrap_or(along.normalize_or(DVec2::X)));
    let heading = DVec2::new(axes.x_axis.dot(heading3), axes.y_axis.dot(heading3)).normalize_or(DVec2::NEG_Y);
    let size = droplet.size;
    let (height, sag, stretch) = match &swarm.form {
        Form::Paper(_) => (size.radius, 0.0, 0.0),
        Form::Physical => {
            let law = swarm.ground.law(track, droplet.rider.place);
            let angle = law.angle_at(&setup.liquid, size.volume, size.radius, pressing);
            let height = ShapeTable::shared()
                .rest_shape(size.volume, angle, pressing, &setup.liquid)
                .map_or(size.radius, |s| s.height);
            let bond = setup.liquid.density * along.length() * size.radius * size.radius / setup.liquid.surface_tension;
            let speed = droplet.rider.velocity.length();
            let half_speed = law.shedding_speed.clamp(0.02, STRETCH_SPEED);
            (height, (bond * law.sag_per_bond).min(LARGEST_SAG), LARGEST_STRETCH * speed / (speed + half_speed))
        }
    };
    let whole =
        DropForm { volume: size.volume, base_radius: size.radius, height, heading, sag, stretch, front: [0.0; 5] };
    let mut balls = Vec::new();
    match swarm.necks.get(slot) {
        Some(parts) => {
            for part in parts {
                let scale = part.share.cbrt();
                let form = DropForm {
                    volume: whole.volume * part.share,
                    base_radius: whole.base_radius * scale,
                    height: whole.height * scale,
                    ..whole
                };
                form.push_balls(DVec2::new(axes.x_axis.dot(part.offset), axes.y_axis.dot(part.offset)), &mut balls);
            }
        }
        None => whole.push_balls(DVec2::ZERO, &mut balls),
    }
    let origin = moment.pose.apply(point);
    Instance {
        drop: droplet.id,
        solid: Some(facet.solid),
        frame: LocalFrame { origin, axes: moment.pose.rotation * axes },
        volume: size.volume,
        velocity: moment.pose.turn(facet.lift(droplet.rider.velocity)) + moment.velocity.at(origin),
        shape: Shape::Metaballs(balls),
    }
}
