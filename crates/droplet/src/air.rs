//! Balls that meet in the air become one.
//!
//! All fall alike, so one seen from another moves straight, and whether two pending within a step is a question of the nearest approach of two straight
//! ways. Volume and momentum add up; the larger keeps its id. They do not bounce and do not break up.

use glam::DVec3;
use sessile_frames::{Event, Ids};

use crate::flight::{Ball, ball_radius};
use crate::grid::{Grid, PER_CELL, Query, QueryScratch, Region};

/// Cells are at least this many times as wide as a ball of mean size.
const CELL_PER_RADIUS: f64 = 8.0;

/// What finds who meets, kept from step to step.
#[derive(Debug)]
pub struct Air {
    grid: Grid,
    made_for: usize,
    queries: Vec<Query>,
    scratch: QueryScratch,
    pairs: Vec<(u32, u32)>,
}

impl Default for Air {
    fn default() -> Self {
        Self {
            grid: Grid::new(0, 1e-2),
            made_for: 0,
            queries: Vec::new(),
            scratch: QueryScratch::default(),
            pairs: Vec::new(),
        }
    }
}

impl Air {
    /// Joins the balls that pending in the last `dt` seconds; `balls` are where they have come to, by rising id, and stay so.
    pub fn meet(&mut self, balls: &mut Vec<Ball>, dt: f64, events: &mut Vec<Event>) {
        loop {
            if balls.len() < 2 {
                return;
            }
            self.find(balls, dt);
            if self.pairs.is_empty() {
                return;
            }
            self.pairs.sort_unstable();
            for &(a, b) in &self.pairs {
                join(balls, a as usize, b as usize, events);
            }
            balls.retain(|ball| ball.volume > 0.0);
        }
    }

    fn find(&mut self, balls: &[Ball], dt: f64) {
        let count = balls.len() as f64;
        // What all have in common moves nobody past anybody.
        let mean = balls.iter().map(|ball| ball.velocity).sum::<DVec3>() / count;
        self.size_up(balls);
        self.grid.clear();
        self.queries.clear();
        for (index, ball) in (0..).zip(balls) {
            let (drift, radius) = ((ball.velocity - mean) * dt, ball_radius(ball.volume));
            self.grid.insert(index, 0, ball.center, radius as f32);
            let radius = radius + drift.length();
            self.queries.push(Query { solid: 0, own: index, from: ball.center - drift, to: ball.center, radius });
        }
        let pairs = &mut self.pairs;
        pairs.clear();
        self.grid.query_many(&self.queries, Region::Path, &mut self.scratch, |way, other| {
            let (a, b) = ((way as u32).min(other), (way as u32).max(other));
            if a != b && pending(&balls[a as usize], &balls[b as usize], dt) {
                pairs.push((a, b));
            }
        });
        pairs.sort_unstable();
        pairs.dedup();
    }

    /// Makes a new grid when the old one was made for others.
    fn size_up(&mut self, balls: &[Ball]) {
        if balls.len() <= 2 * self.made_for && 4 * balls.len() > self.made_for {
            return;
        }
        let (mut low, mut high, mut radii) = (DVec3::INFINITY, DVec3::NEG_INFINITY, 0.0);
        for ball in balls {
            (low, high) = (low.min(ball.center), high.max(ball.center));
            radii += ball_radius(ball.volume);
        }
        let count = balls.len() as f64;
        let extent = high - low;
        let spacing = (PER_CELL * extent.x * extent.y * extent.z / count).cbrt();
        self.grid = Grid::new(balls.len(), spacing.max(CELL_PER_RADIUS * radii / count));
        self.made_for = balls.len();
    }
}

/// Whether two balls pending in the last `dt` seconds.
fn pending(a: &Ball, b: &Ball, dt: f64) -> bool {
    let (apart, speed) = (b.center - a.center, b.velocity - a.velocity);
    let square = speed.length_squared();
    // So long ago were they nearest.
    let ago = if square > 0.0 { (apart.dot(speed) / square).clamp(0.0, dt) } else { 0.0 };
    (apart - speed * ago).length() < ball_radius(a.volume) + ball_radius(b.volume)
}

/// Makes one of two balls, if both are still there; the one that goes is left without volume.
fn join(balls: &mut [Ball], a: usize, b: usize, events: &mut Vec<Event>) {
    if balls[a].volume <= 0.0 || balls[b].volume <= 0.0 {
        return;
    }
    let (stays, goes) = if balls[b].volume > balls[a].volume { (b, a) } else { (a, b) };
    let (large, small) = (balls[stays], balls[goes]);
    let volume = large.volume + small.volume;
    let share = small.volume / volume;
    events.push(Event::Merge { merge: Ids::from_slice(&[balls[a].id, balls[b].id]), into: large.id });
    balls[goes].volume = 0.0;
    balls[stays] = Ball {
        center: large.center.lerp(small.center, share),
        velocity: large.velocity.lerp(small.velocity, share),
        volume,
        ..large
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ball(id: u32, center: DVec3, velocity: DVec3, volume: f64) -> Ball {
        Ball { id, center, velocity, volume, owed: 0.0 }
    }

    #[test]
    fn a_fast_ball_takes_up_the_one_that_it_passed_through_and_momentum_stays() {
        // A step of 40 ms: the second has come 80 mm, right through where the first is.
        let mut balls = vec![
            ball(1, DVec3::ZERO, DVec3::NEG_Y, 4e-9),
            ball(2, DVec3::new(0.5e-3, -0.04, 0.0), DVec3::new(0.0, -3.0, 0.0), 1e-9),
            ball(3, DVec3::new(3e-3, -0.02, 0.0), DVec3::new(0.0, -3.0, 0.0), 1e-9),
        ];
        let mut events = Vec::new();
        Air::default().meet(&mut balls, 0.04, &mut events);
        assert_eq!(events, [Event::Merge { merge: Ids::from_slice(&[1, 2]), into: 1 }]);
        assert_eq!(balls.iter().map(|ball| ball.id).collect::<Vec<_>>(), [1, 3]);
        assert!((balls[0].volume - 5e-9).abs() < 1e-20 && (balls[0].velocity.y + 1.4).abs() < 1e-12, "{:?}", balls[0]);
    }

    #[test]
    fn rain_that_falls_alike_does_not_meet_and_neighbors_that_touch_do() {
        let at = |k: u32, spacing: f64| DVec3::new(f64::from(k) * spacing, 0.0, 0.0);
        let row = |spacing: f64| -> usize {
            let mut balls: Vec<Ball> =
                (0..500).map(|k| ball(k + 1, at(k, spacing), DVec3::NEG_Y * 7.0, 4e-9)).collect();
            let mut events = Vec::new();
            Air::default().meet(&mut balls, 0.04, &mut events);
            assert!((balls.iter().map(|ball| ball.volume).sum::<f64>() / 2e-6 - 1.0).abs() < 1e-12);
            balls.len()
        };
        // A ball of 4 µL is 1.97 mm across.
        assert_eq!(row(2.1e-3), 500);
        // Pairs of them are 2.48 mm across and stand 3 mm apart; at 1 mm all of them come together.
        assert_eq!(row(1.5e-3), 250);
        assert!(row(0.5e-3) < 100, "{}", row(0.5e-3));
    }
}
