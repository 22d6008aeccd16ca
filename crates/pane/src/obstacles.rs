//! Solids other than the pane, in the way of drops.
//!
//! An airborne drop of radius R collides with them without rebound. With d the distance of its
//! center from a solid, N the solid's normal there and u its velocity:
//!
//! ```text
//! d < R:   x ← x + (R − d) N,   v ← v − min(0, (v − u)·N) N
//! ```
//!
//! It then slides off without friction, since liquid wets the pane only. The flight of a step is
//! divided so that a drop travels at most half of its radius between two tests. Drops on the pane
//! react to solids that move ([`crate::physical`]), not to those at rest; one that reaches into a
//! solid is reported.

use std::collections::BTreeSet;
use std::f64::consts::{PI, TAU};

use glam::{DVec2, DVec3};
use sessile_numerics::math;
use sessile_sliding::{Ball, DropId};
use sessile_world::Solid;

use crate::drops::PaneDrop;
use crate::frame::PaneFrame;

/// Distance between two tests, in radii.
const TEST_SPACING: f64 = 0.5;
/// Largest number of tests along the flight of a step.
const MAX_TESTS: f64 = 256.0;
/// Depth of a center in a solid, in radii, beyond which it has not come from outside in this step.
const DEEP: f64 = 3.0;
/// Rounds in which a drop between several solids is moved out of all of them.
const ROUNDS: usize = 4;
/// Depth of a displayed drop in a solid that is reported, in base radii.
const REPORTED_DEPTH: f64 = 0.05;
/// Directions in which the edge of a displayed drop is tested.
const DIRECTIONS: u32 = 8;

/// What was found about one drop and one solid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finding {
    Meets,
    Inside,
    Behind,
    ReachesInto,
}

/// The other solids of a scene, and what has been reported about them.
#[derive(Debug)]
pub struct Obstacles {
    /// Indices of the solids.
    solids: Vec<usize>,
    pane: String,
    /// Solids about which there is a message, and whether it is about drops on the pane.
    reported: BTreeSet<(usize, bool)>,
    /// Messages for the user.
    pub notices: Vec<String>,
}

impl Obstacles {
    /// All solids but the pane.
    pub fn new(solids: &[Solid], pane: usize) -> Self {
        Self {
            solids: (0..solids.len()).filter(|&solid| solid != pane).collect(),
            pane: solids[pane].name().to_owned(),
            reported: BTreeSet::new(),
            notices: Vec::new(),
        }
    }

    /// Flies a ball for its remaining time past the solids; returns where it lands, as `landing`
    /// tells for a part of the flight.
    pub fn fly<L>(
        &mut self,
        ball: &mut Ball,
        solids: &[Solid],
        gravity: DVec3,
        now: f64,
        landing: impl Fn(&Ball) -> Option<L>,
    ) -> Option<L> {
        let (time, radius) = (ball.remaining, ball.body.radius());
        let length = ball.body.velocity.length() * time + 0.5 * gravity.length() * time * time;
        let reach = |solid: &Solid| length + solid.velocity_at(ball.body.center).length() * time + radius;
        let is_near = |&solid: &usize| solids[solid].signed_distance(ball.body.center) < reach(&solids[solid]);
        let near: Vec<usize> = self.solids.iter().copied().filter(is_near).collect();
        let parts = if near.is_empty() { 1.0 } else { (length / (TEST_SPACING * radius)).ceil().clamp(1.0, MAX_TESTS) };
        for _ in 0..parts as u32 {
            ball.remaining = time / parts;
            if let Some(landed) = landing(ball) {
                return Some(landed);
            }
            ball.finish_step(gravity);
            for _ in 0..if near.is_empty() { 0 } else { ROUNDS } {
                let mut is_free = true;
                for &solid in &near {
                    if let Some(finding) = collide(ball, &solids[solid]) {
                        self.report(finding, ball.id, &solids[solid], now);
                        is_free = false;
                    }
                }
                if is_free {
                    break;
                }
            }
        }
        None
    }

    /// Reports a ball behind the pane.
    pub fn check_ball(&mut self, ball: &Ball, pane: &Solid, frame: &PaneFrame, now: f64) {
        let height = (ball.body.center - frame.corner).dot(frame.normal());
        if height < -ball.body.radius() && frame.contains(frame.position_of(ball.body.center)) {
            self.report(Finding::Behind, ball.id, pane, now);
        }
    }

    /// Reports drops on the pane that reach into a solid, one per solid.
    pub fn check<'a>(
        &mut self,
        drops: &(impl Iterator<Item = &'a PaneDrop> + Clone),
        solids: &[Solid],
        frame: &PaneFrame,
        now: f64,
    ) {
        for solid in self.solids.clone() {
            if !self.reported.contains(&(solid, true))
                && let Some(drop) = drops.clone().find(|drop| reaches_into(drop, &solids[solid], frame))
                && let Some(id) = drop.id
            {
                self.report(Finding::ReachesInto, id, &solids[solid], now);
            }
        }
    }

    fn report(&mut self, finding: Finding, id: DropId, solid: &Solid, now: f64) {
        let is_on_pane = finding == Finding::ReachesInto;
        if !self.reported.insert((solid.index(), is_on_pane)) {
            return;
        }
        let (id, name, pane) = (id.get(), solid.name(), &self.pane);
        self.notices.push(match finding {
            Finding::Meets => format!(
                "drop {id} meets `{name}` at {now:.4} s: in the pane model liquid wets `{pane}` only and slides off \
                 other solids; use the droplet model"
            ),
            Finding::Inside => format!("drop {id} is inside `{name}` at {now:.4} s: move it, or what emits it, out"),
            Finding::Behind => format!(
                "drop {id} is inside `{name}`, behind its surface, at {now:.4} s: in the pane model liquid wets the \
                 front of the pane only"
            ),
            Finding::ReachesInto => format!(
                "drop {id} on `{pane}` reaches into `{name}` at {now:.4} s: in the pane model drops on the pane do not \
                 react to solids at rest; use the droplet model"
            ),
        });
    }
}

/// Moves a ball out of a solid that it touches.
fn collide(ball: &mut Ball, solid: &Solid) -> Option<Finding> {
    let radius = ball.body.radius();
    let near = solid.closest(ball.body.center);
    // A margin for rounding, so that a ball at rest does not collide again.
    if near.distance >= radius * (1.0 - 1e-9) {
        return None;
    }
    if near.distance < -DEEP * radius {
        return Some(Finding::Inside);
    }
    ball.body.center += near.normal * (radius - near.distance);
    let velocity = &mut ball.body.velocity;
    let into = (*velocity - solid.velocity_at(near.point)).dot(near.normal).min(0.0);
    *velocity -= near.normal * into;
    Some(Finding::Meets)
}

/// Whether a drop on the pane is in a solid: at its center, its apex or its edge.
fn reaches_into(drop: &PaneDrop, solid: &Solid, frame: &PaneFrame) -> bool {
    let (base, radius) = (frame.point_at(drop.position), drop.radius);
    let height = (2.0 * drop.volume / (PI * radius * radius)).min(2.0 * radius);
    if solid.signed_distance(base) > radius + height {
        return false;
    }
    let at = |along: DVec2, up: f64| base + frame.lift(along) + frame.normal() * up;
    let edge = |k: u32| math::direction(TAU * f64::from(k) / f64::from(DIRECTIONS)) * f64::from(drop.merge_radius);
    let points = [at(DVec2::ZERO, 0.1 * height), at(DVec2::ZERO, height)];
    let mut points = points.into_iter().chain((0..DIRECTIONS).map(|k| at(edge(k), 0.3 * height)));
    points.any(|point| solid.signed_distance(point) < -REPORTED_DEPTH * radius)
}
