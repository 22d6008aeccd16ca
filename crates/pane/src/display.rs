//! Display shapes: from drops to the metaballs that a frame carries.
//!
//! Shapes follow from the motion and do not affect it (docs/pane.md, "Shapes").

use glam::DVec2;
use rayon::prelude::*;
use sessile_frames::DropState;
use sessile_numerics::{FourByteIndex as _, UnionFind};
use sessile_shapes::{Body, Draped, FRONT_DIRECTIONS, Instance, MetaballDrop, Profile, Shape, SubstrateOffsets};
use sessile_sliding::{Ball, DropId, SlotIndex, ball_radius, survivor};
use sessile_wetting::SlidingLaw;
use sessile_wetting::table::ShapeTable;

use crate::automaton::Automaton;
use crate::drops::PaneDrop;
use crate::frame::PaneFrame;
use crate::motion::StepContext;
use crate::neighbors::Neighbors;
use crate::params::PARAMS;
use crate::physical::Physical;
use crate::substrate::{CellIndex, Substrate, raggedness};

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
                let parts = pane.necks.get(slot);
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

    /// The shape of a puddle that has not moved, which no ellipsoid resembles: its Young–Laplace
    /// profile. `None` for other drops.
    fn puddle(&self, drop: &PaneDrop, substrate: &Substrate) -> Option<Shape> {
        let (context, law) = (self.context, substrate.law_at(drop.position));
        let (liquid, normal) = (&context.liquid, context.normal_acceleration);
        if normal <= 0.0 || drop.has_moved {
            return None;
        }
        let capillary_length = liquid.capillary_length(normal);
        if drop.radius < PARAMS.puddle_radius * capillary_length {
            return None;
        }
        let angle = law.angle_at(liquid, drop.volume, drop.radius, normal, 0.0);
        let rest = ShapeTable::shared().rest_shape(drop.volume, angle, normal, liquid)?;
        let force = context.force(drop.volume, drop.radius, law);
        let bond = force.length() / drop.volume * drop.radius * drop.radius / liquid.surface_tension;
        let sag = (bond * law.sag_per_bond).min(PARAMS.max_sag);
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
        let angle = law.angle_at(liquid, drop.volume, drop.radius, context.normal_acceleration, 0.0);
        let rest = ShapeTable::shared().rest_shape(drop.volume, angle, context.normal_acceleration, liquid);
        let force = context.force(drop.volume, drop.radius, law);
        let bond = force.length() / drop.volume * drop.radius * drop.radius / liquid.surface_tension;
        let last = drop.heading.as_dvec2();
        let heading = if drop.sliding { last } else { force.normalize_or(last) };
        let half_speed = law.shedding_speed.clamp(0.02, PARAMS.stretch_speed);
        let speed = f64::from(drop.speed);
        MetaballDrop {
            volume: drop.volume,
            base_radius: drop.radius,
            height: rest.map_or(drop.radius, |rest| rest.height),
            heading,
            sag: (bond * law.sag_per_bond).min(PARAMS.max_sag),
            stretch: PARAMS.max_stretch * speed / (speed + half_speed),
            front: if drop.has_moved { front(drop, heading, law, substrate) } else { Default::default() },
        }
    }

    /// All drops of the paper mode; those whose footprints overlap are shown as one, under the id
    /// of the largest.
    pub fn paper(&self, automaton: &Automaton, substrate: &Substrate, row_time: f64) -> Vec<Shown> {
        let drops = self.paper_drops(automaton, substrate, row_time);
        clusters(&drops, substrate)
            .into_par_iter()
            .map(|members| {
                let ranks = members.iter().map(|&m| (drops[m].volume, drops[m].id));
                let largest = &drops[members[survivor(ranks)]];
                let mut balls = Vec::new();
                for drop in members.iter().map(|&m| &drops[m]) {
                    self.shape_of(drop, substrate).push_balls(drop.position - largest.position, &mut balls);
                }
                let volume = members.iter().map(|&m| drops[m].volume).sum();
                self.on_pane(largest, volume, Shape::Metaballs(balls))
            })
            .collect()
    }

    /// The automaton's drops as drops of the physical mode, by cell.
    fn paper_drops(&self, automaton: &Automaton, substrate: &Substrate, row_time: f64) -> Vec<PaneDrop> {
        let cells = (0..).map(CellIndex).zip(&automaton.cells);
        let drops = cells.filter_map(|(cell, water)| {
            let law = substrate.law(cell);
            let radius = self.context.advancing_radius(law, water.volume);
            let radius = radius.unwrap_or_else(|| ball_radius(water.volume));
            let step = DVec2::new(f64::from(water.shift), -1.0);
            let speed = step.length() * substrate.cell_size / row_time;
            Some(PaneDrop {
                radius,
                merge_radius: (radius * law.overhang) as f32,
                sliding: water.moving,
                has_moved: water.has_moved,
                heading: step.normalize().as_vec2(),
                speed: if water.moving { speed as f32 } else { 0.0 },
                ..PaneDrop::at_rest(water.id?, substrate.center_of(cell), water.volume)
            })
        });
        drops.collect()
    }
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
        let rim = (drop.position + DVec2::from_angle(direction).rotate(heading) * drop.radius) / spot;
        let impurity = substrate.fine_impurity.mean_around(rim.x.floor() as i64, rim.y.floor() as i64);
        PARAMS.front_gain * raggedness(law) * impurity
    })
}

/// Groups of drops whose footprints overlap, each ascending, by their first drop.
fn clusters(drops: &[PaneDrop], substrate: &Substrate) -> Vec<Vec<usize>> {
    let extent = DVec2::new(substrate.columns as f64, substrate.rows as f64) * substrate.cell_size;
    let mut neighbors = Neighbors::new(extent, substrate.cell_size);
    for (slot, drop) in SlotIndex::first(drops.len()).zip(drops) {
        neighbors.insert(slot, drop.position, drop.merge_radius);
    }
    let mut sets = UnionFind::new(drops.len());
    for (slot, drop) in SlotIndex::first(drops.len()).zip(drops) {
        neighbors.near(drop.position, f64::from(drop.merge_radius), |other| {
            let near = &drops[other];
            if drop.position.distance(near.position) < f64::from(drop.merge_radius + near.merge_radius) {
                sets.union(slot.number(), other.number());
            }
        });
    }
    let mut clusters: Vec<Vec<usize>> = vec![Vec::new(); drops.len()];
    for slot in 0..drops.len() {
        clusters[sets.find(slot as u32) as usize].push(slot);
    }
    clusters.retain(|cluster| !cluster.is_empty());
    clusters
}
