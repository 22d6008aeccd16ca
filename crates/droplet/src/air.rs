//! Coalescence of airborne droplets.
//!
//! All fall with the same acceleration, so their relative motion is straight, and two touched
//! within a step if the closest approach of two straight trajectories is less than the sum of their
//! radii. Volume and momentum add up; the larger keeps its id. Bouncing and break-up are not
//! modeled.

use glam::DVec3;
use sessile_frames::Event;
use sessile_numerics::{OptionalIndex, math};
use sessile_sliding::{Ball, SlotIndex, ball_radius, merge_event};

use crate::grid::{Grid, PER_CELL, Query, QueryScratch, Region};
use crate::surface_mesh::SolidIndex;

/// Smallest width of a grid cell, in mean radii.
const CELL_PER_RADIUS: f64 = 8.0;

/// The solid that airborne droplets have in the grid, where all are on one.
const AIR: SolidIndex = SolidIndex::new(0);

/// Contact detection among airborne droplets; keeps its memory from step to step.
#[derive(Debug)]
pub struct Air {
    grid: Grid,
    sized_for: usize,
    queries: Vec<Query>,
    scratch: QueryScratch,
    /// Pairs in contact, by their places in the list of airborne droplets.
    pairs: Vec<(SlotIndex, SlotIndex)>,
}

impl Default for Air {
    fn default() -> Self {
        Self {
            grid: Grid::new(0, 1e-2),
            sized_for: 0,
            queries: Vec::new(),
            scratch: QueryScratch::default(),
            pairs: Vec::new(),
        }
    }
}

impl Air {
    /// Merges the droplets that touched in the last `dt` seconds.
    ///
    /// `balls` are at the end of their flight, sorted by id, and stay sorted.
    pub fn coalesce(&mut self, balls: &mut Vec<Ball>, dt: f64, events: &mut Vec<Event>) {
        loop {
            if balls.len() < 2 {
                return;
            }
            self.find_pairs(balls, dt);
            if self.pairs.is_empty() {
                return;
            }
            self.pairs.sort_unstable();
            for &(a, b) in &self.pairs {
                merge(balls, a, b, events);
            }
            balls.retain(|ball| ball.body.volume > 0.0);
        }
    }

    fn find_pairs(&mut self, balls: &[Ball], dt: f64) {
        let count = balls.len() as f64;
        // Relative to the mean velocity the trajectories are short.
        let mean = balls.iter().map(|ball| ball.body.velocity).sum::<DVec3>() / count;
        self.resize_grid(balls);
        self.grid.clear();
        self.queries.clear();
        for (index, ball) in SlotIndex::first(balls.len()).zip(balls) {
            let (drift, radius) = ((ball.body.velocity - mean) * dt, ball_radius(ball.body.volume));
            self.grid.insert(index, AIR, ball.body.center, radius as f32);
            let radius = radius + drift.length();
            self.queries.push(Query {
                solid: AIR,
                own: OptionalIndex::some(index),
                from: ball.body.center - drift,
                to: ball.body.center,
                radius,
            });
        }
        let pairs = &mut self.pairs;
        pairs.clear();
        self.grid.query_many(&self.queries, Region::Path, &mut self.scratch, |query, other| {
            let (a, b) = (SlotIndex::new(query).min(other), SlotIndex::new(query).max(other));
            if a != b && touched(&balls[a], &balls[b], dt) {
                pairs.push((a, b));
            }
        });
        pairs.sort_unstable();
        pairs.dedup();
    }

    /// Rebuilds the grid when the number of droplets has changed a lot.
    fn resize_grid(&mut self, balls: &[Ball]) {
        if balls.len() <= 2 * self.sized_for && 4 * balls.len() > self.sized_for {
            return;
        }
        let (mut low, mut high, mut radii) = (DVec3::INFINITY, DVec3::NEG_INFINITY, 0.0);
        for ball in balls {
            (low, high) = (low.min(ball.body.center), high.max(ball.body.center));
            radii += ball_radius(ball.body.volume);
        }
        let count = balls.len() as f64;
        let extent = high - low;
        let spacing = math::cbrt(PER_CELL * extent.x * extent.y * extent.z / count);
        self.grid = Grid::new(balls.len(), spacing.max(CELL_PER_RADIUS * radii / count));
        self.sized_for = balls.len();
    }
}

/// Whether two airborne droplets touched in the last `dt` seconds.
fn touched(a: &Ball, b: &Ball, dt: f64) -> bool {
    let (a, b) = (&a.body, &b.body);
    let (apart, speed) = (b.center - a.center, b.velocity - a.velocity);
    let square = speed.length_squared();
    // Time since their closest approach.
    let ago = if square > 0.0 { (apart.dot(speed) / square).clamp(0.0, dt) } else { 0.0 };
    (apart - speed * ago).length() < ball_radius(a.volume) + ball_radius(b.volume)
}

/// Merges two airborne droplets if both are still there; the absorbed one is left without volume.
fn merge(balls: &mut [Ball], a: SlotIndex, b: SlotIndex, events: &mut Vec<Event>) {
    if balls[a].body.volume <= 0.0 || balls[b].body.volume <= 0.0 {
        return;
    }
    let (kept, absorbed) = if balls[b].body.volume > balls[a].body.volume { (b, a) } else { (a, b) };
    events.push(merge_event([balls[a].id, balls[b].id].into_iter(), balls[kept].id));
    balls[kept].body = balls[kept].body.merged_with(&balls[absorbed].body);
    balls[absorbed].body.volume = 0.0;
}

#[cfg(test)]
mod tests {
    use super::*;
    use sessile_frames::Ids;
    use sessile_sliding::{DropId, Projectile};

    fn ball(id: u32, center: DVec3, velocity: DVec3, volume: f64) -> Ball {
        Ball {
            id: DropId::new(id).expect("a positive id"),
            body: Projectile { center, velocity, volume },
            remaining: 0.0,
        }
    }

    #[test]
    fn a_fast_droplet_absorbs_one_that_it_passed_through_and_momentum_is_conserved() {
        // In a step of 40 ms the second moved 80 mm relative to the first, through its position.
        let mut balls = vec![
            ball(1, DVec3::ZERO, DVec3::NEG_Y, 4e-9),
            ball(2, DVec3::new(0.5e-3, -0.04, 0.0), DVec3::new(0.0, -3.0, 0.0), 1e-9),
            ball(3, DVec3::new(3e-3, -0.02, 0.0), DVec3::new(0.0, -3.0, 0.0), 1e-9),
        ];
        let mut events = Vec::new();
        Air::default().coalesce(&mut balls, 0.04, &mut events);
        assert_eq!(events, [Event::Merge { merge: Ids::from_slice(&[1, 2]), into: 1 }]);
        assert_eq!(balls.iter().map(|ball| ball.id.get()).collect::<Vec<_>>(), [1, 3]);
        assert!(
            (balls[0].body.volume - 5e-9).abs() < 1e-20 && (balls[0].body.velocity.y + 1.4).abs() < 1e-12,
            "{:?}",
            balls[0]
        );
    }

    #[test]
    fn rain_of_equal_speed_does_not_coalesce_unless_droplets_touch() {
        let at = |k: u32, spacing: f64| DVec3::new(f64::from(k) * spacing, 0.0, 0.0);
        let row = |spacing: f64| -> usize {
            let mut balls: Vec<Ball> =
                (0..500).map(|k| ball(k + 1, at(k, spacing), DVec3::NEG_Y * 7.0, 4e-9)).collect();
            let mut events = Vec::new();
            Air::default().coalesce(&mut balls, 0.04, &mut events);
            assert!((balls.iter().map(|ball| ball.body.volume).sum::<f64>() / 2e-6 - 1.0).abs() < 1e-12);
            balls.len()
        };
        // A ball of 4 µL is 1.97 mm across.
        assert_eq!(row(2.1e-3), 500);
        // Merged pairs are 2.48 mm across and 3 mm apart; at 1 mm all of them coalesce.
        assert_eq!(row(1.5e-3), 250);
        assert!(row(0.5e-3) < 100, "{}", row(0.5e-3));
    }
}
