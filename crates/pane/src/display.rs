//! Display shapes: from drops to the metaballs that a frame carries.
//!
//! Shapes follow from the motion and do not affect it (docs/pane.md, "Shapes").

use std::collections::BTreeMap;

use glam::DVec2;
use rayon::prelude::*;
use sessile_frames::DropState;
use sessile_numerics::math;
use sessile_shapes::{Body, Draped, FRONT_DIRECTIONS, Instance, MetaballDrop, Profile, Shape, SubstrateOffsets};
use sessile_sliding::{Ball, DropId, SlotIndex, ball_radius, survivor};
use sessile_wetting::table::ShapeTable;
use sessile_wetting::{SlidingLaw, cap};

use crate::automaton::{Arrival, Automaton};
use crate::bodies::Bodies;
use crate::drops::PaneDrop;
use crate::frame::PaneFrame;
use crate::motion::StepContext;
use crate::parameters::PARAMETERS;
use crate::physical::Physical;
use crate::substrate::{CellIndex, Substrate, raggedness};

/// Share of a cell's water below which it is rounding.
const ROUNDING: f64 = 1e-9;

/// Capillary length of a weightless drop, in m.
const WEIGHTLESS: f64 = 1.0;

/// A drop of a frame.
pub type Shown = (Instance, DropState);

/// What the shapes of a frame depend on besides the drops.
pub struct Display<'a> {
    /// The pane in space.
    pub frame: &'a PaneFrame,
    /// What acts on the drops.
    pub context: &'a StepContext,
    /// Index of the pane among the solids.
    pub solid: u32,
    /// Contact angles that the scene gives its caps, in rad: at the start they are shown with it,
    /// also outside of the range that the material allows.
    pub initial_angles: &'a BTreeMap<DropId, f64>,
}

impl Display<'_> {
    /// An airborne drop.
    pub fn ball(&self, ball: &Ball) -> Shown {
        let mut frame = self.frame.local_frame(DVec2::ZERO);
        frame.origin = ball.body.center;
        with_state(Instance {
            drop: ball.id.get(),
            solid: None,
            frame,
            volume: ball.body.volume,
            velocity: ball.body.velocity,
            shape: Shape::Sphere,
        })
    }

    /// All drops of the physical mode, by slot.
    pub fn physical(&self, pane: &Physical) -> Vec<Shown> {
        let drops: Vec<(SlotIndex, &PaneDrop)> = pane.drops.iter().collect();
        drops
            .into_par_iter()
            .map(|(slot, drop)| {
                let drop = &self.as_placed(drop);
                let parts = pane.necks.get(slot);
                if parts.is_none() && drop.spreading {
                    return self.on_pane(drop, drop.volume, spreading_cap(drop));
                }
                if parts.is_none()
                    && let Some(puddle) = self.puddle(drop, &pane.substrate)
                {
                    return self.on_pane(drop, drop.volume, puddle);
                }
                let whole = self.shape_of(drop, &pane.substrate);
                let mut balls = Vec::new();
                match parts {
                    Some(parts) => {
                        for part in parts.as_slice() {
                            whole.part(part.share).push_balls(part.offset.truncate(), &mut balls);
                        }
                    }
                    None => whole.push_balls(DVec2::ZERO, &mut balls),
                }
                self.on_pane(drop, drop.volume, Shape::Metaballs(balls))
            })
            .collect()
    }

    /// A drop with the base radius at the contact angle that the scene gives it.
    fn as_placed(&self, drop: &PaneDrop) -> PaneDrop {
        let StepContext { liquid, normal_acceleration, .. } = self.context;
        let angle = drop.id.and_then(|id| self.initial_angles.get(&id));
        let rest =
            angle.and_then(|&angle| ShapeTable::shared().rest_shape(drop.volume, angle, *normal_acceleration, liquid));
        rest.map_or(*drop, |rest| PaneDrop { radius: rest.base_radius, ..*drop })
    }

    /// Contact angle of a drop, in rad.
    fn angle_of(&self, drop: &PaneDrop, law: &SlidingLaw) -> f64 {
        let StepContext { liquid, normal_acceleration, .. } = self.context;
        let given = drop.id.and_then(|id| self.initial_angles.get(&id));
        given.copied().unwrap_or_else(|| law.angle_at(liquid, drop.volume, drop.radius, *normal_acceleration, 0.0))
    }

    fn on_pane(&self, drop: &PaneDrop, volume: f64, shape: Shape) -> Shown {
        with_state(Instance {
            drop: drop.id.map_or(0, DropId::get),
            solid: Some(self.solid),
            frame: self.frame.local_frame(drop.position),
            volume,
            velocity: self.frame.lift(drop.velocity()),
            shape,
        })
    }

    /// The shape of a puddle or of a steep drop that has not moved, which no ellipsoid resembles:
    /// its Young–Laplace profile. `None` for other drops.
    fn puddle(&self, drop: &PaneDrop, substrate: &Substrate) -> Option<Shape> {
        let (context, law) = (self.context, substrate.law_at(drop.position));
        let (liquid, normal) = (&context.liquid, context.normal_acceleration);
        if normal <= 0.0 || drop.has_moved {
            return None;
        }
        let capillary_length = liquid.capillary_length(normal);
        let angle = self.angle_of(drop, law);
        if drop.radius < PARAMETERS.puddle_radius * capillary_length && angle < PARAMETERS.steep_angle {
            return None;
        }
        let rest = ShapeTable::shared().rest_shape(drop.volume, angle, normal, liquid)?;
        let force = context.force((drop.position, DVec2::ZERO), drop.volume, drop.radius, law);
        let bond = force.length() / drop.volume * drop.radius * drop.radius / liquid.surface_tension;
        let sag = (bond * law.sag_per_bond).min(PARAMETERS.max_sag);
        let body = Body::Profile(Profile {
            body: drop.volume,
            base_radius: drop.radius,
            height: rest.height,
            angle,
            capillary_length,
            lean: force.normalize_or_zero() * (sag * drop.radius),
            heading: DVec2::ZERO,
            stretch: 0.0,
        });
        Some(Shape::Draped(Box::new(Draped { body, substrate: SubstrateOffsets::default() })))
    }

    /// The shape of a single drop.
    fn shape_of(&self, drop: &PaneDrop, substrate: &Substrate) -> MetaballDrop {
        let (context, law) = (self.context, substrate.law_at(drop.position));
        let liquid = &context.liquid;
        let angle = self.angle_of(drop, law);
        let rest = ShapeTable::shared().rest_shape(drop.volume, angle, context.normal_acceleration, liquid);
        let force = context.force((drop.position, DVec2::ZERO), drop.volume, drop.radius, law);
        let bond = force.length() / drop.volume * drop.radius * drop.radius / liquid.surface_tension;
        let last = drop.heading.as_dvec2();
        let heading = if drop.sliding { last } else { force.normalize_or(last) };
        let half_speed = law.shedding_speed.clamp(0.02, PARAMETERS.stretch_speed);
        let speed = f64::from(drop.speed);
        MetaballDrop {
            volume: drop.volume,
            base_radius: drop.radius,
            height: rest.map_or(drop.radius, |rest| rest.height),
            heading,
            sag: (bond * law.sag_per_bond).min(PARAMETERS.max_sag),
            stretch: PARAMETERS.max_stretch * speed / (speed + half_speed),
            front: if drop.has_moved { front(drop, heading, law, substrate) } else { Default::default() },
        }
    }

    /// All bodies of the paper mode, each under the id of its largest drop; drops that moved in the
    /// last pass have `covered` that part of their routes.
    pub fn paper(&self, bodies: &Bodies, substrate: &Substrate, automaton: &Automaton, covered: f64) -> Vec<Shown> {
        let member = |member: &usize| &bodies.drops[*member];
        bodies
            .members
            .par_iter()
            .map(|members| {
                let largest = survivor(members.iter().map(|m| (member(m).1.volume, member(m).1.id)));
                let parts = |(cell, drop): &(CellIndex, PaneDrop)| {
                    self.parts(drop, automaton.arrivals_in(*cell), substrate, covered)
                };
                let shown = parts(member(&members[largest]))[0];
                let mut balls = Vec::new();
                for drop in members.iter().flat_map(|m| parts(member(m))) {
                    self.shape_of(&drop, substrate).push_balls(drop.position - shown.position, &mut balls);
                }
                let volume = members.iter().map(|m| member(m).1.volume).sum();
                self.on_pane(&shown, volume, Shape::Metaballs(balls))
            })
            .collect()
    }

    /// What a cell's drop is composed of, the largest part first: what moved there in the last
    /// pass, on its way, and the water that it will meet at the end.
    fn parts(&self, drop: &PaneDrop, arrivals: &[Arrival], substrate: &Substrate, covered: f64) -> Vec<PaneDrop> {
        if arrivals.is_empty() || covered >= 1.0 {
            return vec![*drop];
        }
        let law = substrate.law_at(drop.position);
        let of_volume = |volume: f64| {
            let radius = self.context.advancing_radius(law, volume).unwrap_or_else(|| ball_radius(volume));
            PaneDrop { volume, radius, merge_radius: (radius * law.overhang) as f32, ..*drop }
        };
        let on_its_way = |arrival: &Arrival| PaneDrop {
            position: drop.position - arrival.step() * (substrate.cell_size * (1.0 - covered)),
            heading: arrival.step().normalize().as_vec2(),
            ..of_volume(arrival.volume)
        };
        let mut parts: Vec<PaneDrop> = arrivals.iter().map(on_its_way).collect();
        let met = drop.volume - arrivals.iter().map(|arrival| arrival.volume).sum::<f64>();
        if met > ROUNDING * drop.volume {
            parts.push(PaneDrop { sliding: false, has_moved: false, speed: 0.0, ..of_volume(met) });
        }
        parts.sort_by(|a, b| b.volume.total_cmp(&a.volume));
        parts
    }
}

/// The shape of a drop that spreads or retracts: a cap, which weight and speed along the pane have
/// no time to deform.
fn spreading_cap(drop: &PaneDrop) -> Shape {
    let slope = cap::slope(drop.volume, drop.radius);
    let body = Body::Profile(Profile {
        body: drop.volume,
        base_radius: drop.radius,
        height: slope * drop.radius,
        angle: 2.0 * math::atan(slope),
        capillary_length: WEIGHTLESS,
        lean: DVec2::ZERO,
        heading: DVec2::ZERO,
        stretch: 0.0,
    });
    Shape::Draped(Box::new(Draped { body, substrate: SubstrateOffsets::default() }))
}

fn with_state(instance: Instance) -> Shown {
    let (velocity, speed_max) = (instance.velocity, instance.velocity.length());
    let state = DropState { id: instance.drop, volume: instance.volume, velocity, speed_max, pressure: None };
    (instance, state)
}

/// Displacement of the front by impurities in each direction, in base radii.
fn front(drop: &PaneDrop, heading: DVec2, law: &SlidingLaw, substrate: &Substrate) -> [f64; FRONT_DIRECTIONS.len()] {
    let spot = substrate.cell_size / f64::from(substrate.fine);
    FRONT_DIRECTIONS.map(|direction| {
        let rim = (drop.position + math::direction(direction).rotate(heading) * drop.radius) / spot;
        let impurity = substrate.fine_impurity.mean_around(rim.x.floor() as i64, rim.y.floor() as i64);
        PARAMETERS.front_gain * raggedness(law) * impurity
    })
}
