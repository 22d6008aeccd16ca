//! From the model's numbers to the shapes that a frame shows.

use glam::DVec2;
use rayon::prelude::*;
use sessile_frames::DropState;
use sessile_shapes::{FRONT_DIRECTIONS, Instance, MetaballDrop, Shape};
use sessile_wetting::table::ShapeTable;

use crate::automaton::Automaton;
use crate::drops::PaneDrop;
use crate::flight::Ball;
use crate::ground::Ground;
use crate::laws::CellLaw;
use crate::motion::Slope;
use crate::neighbors::Neighbors;
use crate::physical::Physical;
use crate::sheet::Sheet;

/// Largest sag that two blobs can show, in base radii.
const LARGEST_SAG: f64 = 0.22;
/// Elongation that a drop approaches with speed, in base radii.
const LARGEST_STRETCH: f64 = 0.9;
/// Speed at which half of it is reached on a solid that sheds no trail, in m/s.
const STRETCH_SPEED: f64 = 0.2;
/// How many times its raggedness a front's lead is drawn: means over 3 × 3 spots are a third as strong as single ones.
const FRONT_GAIN: f64 = 3.0;

/// A drop of the frame.
pub type Shown = (Instance, DropState);

/// A drop in the air.
pub fn ball(ball: &Ball, sheet: &Sheet) -> Shown {
    let mut frame = sheet.frame_at(DVec2::ZERO);
    frame.origin = ball.center;
    let instance = Instance {
        drop: ball.id,
        solid: None,
        frame,
        volume: ball.volume,
        velocity: ball.velocity,
        shape: Shape::Sphere,
    };
    let facts = facts(&instance);
    (instance, facts)
}

/// All drops of the physical form, by slot.
pub fn physical(pane: &Physical, sheet: &Sheet, slope: &Slope, solid: u32) -> Vec<Shown> {
    let drops: Vec<(u32, &PaneDrop)> = pane.drops.iter().collect();
    drops
        .into_par_iter()
        .map(|(slot, drop)| {
            let law = pane.ground.law(pane.ground.cell_at(drop.place));
            let whole = form_of(drop, law, &pane.ground, slope);
            let mut balls = Vec::new();
            match pane.necks.get(slot) {
                Some(parts) => {
                    for part in parts {
                        let scale = part.share.cbrt();
                        let form = MetaballDrop {
                            volume: whole.volume * part.share,
                            base_radius: whole.base_radius * scale,
                            height: whole.height * scale,
                            ..whole
                        };
                        form.push_balls(part.offset, &mut balls);
                    }
                }
                None => whole.push_balls(DVec2::ZERO, &mut balls),
            }
            let instance = Instance {
                drop: drop.id,
                solid: Some(solid),
                frame: sheet.frame_at(drop.place),
                volume: drop.volume,
                velocity: sheet.axes * drop.velocity().extend(0.0),
                shape: Shape::Metaballs(balls),
            };
            let facts = facts(&instance);
            (instance, facts)
        })
        .collect()
}

/// What a drop's form follows from.
fn form_of(drop: &PaneDrop, law: &CellLaw, ground: &Ground, slope: &Slope) -> MetaballDrop {
    let angle = law.angle_at(drop.volume, drop.radius, slope);
    let force = slope.force(drop.volume, drop.radius, law);
    let bond = force.length() / drop.volume * drop.radius * drop.radius / slope.liquid.surface_tension;
    let last = drop.heading.as_dvec2();
    let heading = if drop.running { last } else { force.normalize_or(last) };
    let half_speed = law.shedding_speed.clamp(0.02, STRETCH_SPEED);
    let speed = f64::from(drop.speed);
    MetaballDrop {
        volume: drop.volume,
        base_radius: drop.radius,
        height: height(drop.volume, angle, slope).unwrap_or(drop.radius),
        heading,
        sag: (bond * law.sag_per_bond).min(LARGEST_SAG),
        stretch: LARGEST_STRETCH * speed / (speed + half_speed),
        front: if drop.has_run { front_of(drop.place, drop.radius, heading, law, ground) } else { Default::default() },
    }
}

/// How far impurities draw the front out in each direction, in base radii: the fine grid under a drop's route.
fn front_of(
    place: DVec2,
    radius: f64,
    heading: DVec2,
    law: &CellLaw,
    ground: &Ground,
) -> [f64; FRONT_DIRECTIONS.len()] {
    let spot = ground.cell / f64::from(ground.fine);
    FRONT_DIRECTIONS.map(|direction| {
        let rim = (place + DVec2::from_angle(direction).rotate(heading) * radius) / spot;
        FRONT_GAIN * law.raggedness * ground.fine_impurity.around(rim.x.floor() as i64, rim.y.floor() as i64)
    })
}

fn height(volume: f64, angle: f64, slope: &Slope) -> Option<f64> {
    ShapeTable::shared().rest_shape(volume, angle, slope.pressing, &slope.liquid).map(|shape| shape.height)
}

fn facts(instance: &Instance) -> DropState {
    let (velocity, speed_max) = (instance.velocity, instance.velocity.length());
    DropState { id: instance.drop, volume: instance.volume, velocity, speed_max, pressure: None }
}

/// All drops of the paper's form; those whose footprints overlap are shown as one, under the largest one's id.
pub fn paper(
    automaton: &Automaton,
    ground: &Ground,
    sheet: &Sheet,
    slope: &Slope,
    solid: u32,
    row_time: f64,
) -> Vec<Shown> {
    let drops: Vec<PaneDrop> = (0..automaton.cells.len())
        .filter(|&cell| automaton.cells[cell].id != 0)
        .map(|cell| {
            let water = &automaton.cells[cell];
            let law = ground.law(cell);
            let radius = law
                .radii(water.volume, slope)
                .map_or_else(|| crate::flight::ball_radius(water.volume), |[least, _]| least);
            let step = DVec2::new(f64::from(water.drift), -1.0);
            PaneDrop {
                radius,
                reach: (radius * law.overhang) as f32,
                running: water.moving,
                has_run: water.has_run,
                heading: step.normalize().as_vec2(),
                speed: if water.moving { (step.length() * ground.cell / row_time) as f32 } else { 0.0 },
                ..PaneDrop::resting(water.id, ground.middle_of(cell), water.volume)
            }
        })
        .collect();
    let mut clusters = clusters(&drops, ground);
    clusters.sort_unstable_by_key(|cluster| cluster[0]);
    clusters
        .into_par_iter()
        .map(|members| {
            let largest =
                members.iter().map(|&m| &drops[m]).max_by(|a, b| a.volume.total_cmp(&b.volume).then(b.id.cmp(&a.id)));
            let largest = largest.copied().unwrap_or(drops[members[0]]);
            let mut balls = Vec::new();
            for drop in members.iter().map(|&m| &drops[m]) {
                let law = ground.law(ground.cell_at(drop.place));
                form_of(drop, law, ground, slope).push_balls(drop.place - largest.place, &mut balls);
            }
            let instance = Instance {
                drop: largest.id,
                solid: Some(solid),
                frame: sheet.frame_at(largest.place),
                volume: members.iter().map(|&m| drops[m].volume).sum(),
                velocity: sheet.axes * largest.velocity().extend(0.0),
                shape: Shape::Metaballs(balls),
            };
            let facts = facts(&instance);
            (instance, facts)
        })
        .collect()
}

/// Groups of drops whose footprints overlap; each sorted.
fn clusters(drops: &[PaneDrop], ground: &Ground) -> Vec<Vec<usize>> {
    let extent = DVec2::new(ground.columns as f64, ground.rows as f64) * ground.cell;
    let mut neighbors = Neighbors::new(extent, ground.cell);
    for (slot, drop) in (0..).zip(drops) {
        neighbors.insert(slot, drop.place, drop.reach);
    }
    let mut cluster_of = vec![usize::MAX; drops.len()];
    let mut clusters: Vec<Vec<usize>> = Vec::new();
    for first in 0..drops.len() {
        if cluster_of[first] != usize::MAX {
            continue;
        }
        let number = clusters.len();
        let mut members = vec![first];
        cluster_of[first] = number;
        let mut next = 0;
        while let Some(&member) = members.get(next) {
            let drop = &drops[member];
            neighbors.near(drop.place, f64::from(drop.reach), |slot| {
                let (slot, other) = (slot as usize, &drops[slot as usize]);
                if cluster_of[slot] == usize::MAX
                    && drop.place.distance(other.place) < f64::from(drop.reach + other.reach)
                {
                    cluster_of[slot] = number;
                    members.push(slot);
                }
            });
            next += 1;
        }
        members.sort_unstable();
        clusters.push(members);
    }
    clusters
}
