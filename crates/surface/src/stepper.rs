//! One drop's step as a table of contents, and what comes of its necks.

use glam::DVec3;

use crate::advance::{Advanced, advance, restore_volume};
use crate::contact::{Touched, touch};
use crate::drops::{Drop, Pace, Scratch, Setting, target_edge};
use crate::ground::Ground;
use crate::merging::{NECK, passes};
use crate::mesh::Mesh;
use crate::paper;
use crate::remesh::{Remeshed, remesh};
use crate::shape::{Shape, ball_radius};
use crate::shapes::ball;
use crate::stitching::stitch_to_itself;
use crate::survey::Survey;
use crate::union::renew;
use crate::validate::{check, check_crossings, clearance};

/// Passes of the remesher over a surface that comes from elsewhere.
pub const FRESH_PASSES: usize = 4;
/// A part of a cut drop with fewer triangles than this is no drop: a single tetrahedron.
const LEAST_TRIANGLES: usize = 5;
/// Nor is one whose ball is smaller than this part of the scene's shortest edge; what it held goes to the others.
const LEAST_RADIUS: f64 = 0.25;
/// Speed along normals below which a drop may be at rest, over its capillary speed √(σ/ρR): above what the slow evening out of a mesh makes.
const CALM: f64 = 5e-4;
/// The same below which vertices are left where they are.
const HARDLY: f64 = 1e-2;
/// The same for the drop as a whole; it is small, so that honey runs.
const STILL: f64 = 1e-4;
/// Simulated time that a drop must be calm before it sleeps, in s.
const CALM_TIME: f64 = 0.05;

/// Area against air over that of the ball of the same volume beyond which a surface is crumpled.
const MOST_AREA: f64 = 12.0;
/// Tries at making a surface anew: edges over the wanted ones, and whether they are remeshed.
const RENEWALS: [(f64, bool); 3] = [(1.0, true), (0.7, true), (1.0, false)];
/// Turns into which one that came out wrong is cut.
const CUT_INTO: u32 = 4;
/// How far apart two sheets of a surface may be, in edges, for their distance to be measured when crossings are looked for.
const LOOK_AHEAD: f64 = 0.5;

/// What a step of one drop did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stepped {
    /// The solve.
    pub advanced: Advanced,
    /// What changed where it touches solids.
    pub touched: Touched,
    /// What the remesher did.
    pub remeshed: Remeshed,
    /// The surface may be in several parts now.
    pub cut: bool,
    /// The surface was lost and made anew.
    pub healed: bool,
    /// Arms of the drop that met were joined.
    pub self_merged: bool,
}

/// Moves a drop over a step and keeps its contact and its mesh in order.
///
/// A surface that comes out wrong (not a number, torn, crossing itself, not holding its volume, faster than liquid can be) is taken back to
/// where it was, to go there in shorter turns; where they cannot be shorter, it is made anew through a distance field ([`heal`]).
pub fn step_drop(drop: &mut Drop, setting: &Setting<'_>, scratch: &mut Scratch) -> Stepped {
    let edge = drop.target_edge(setting.edge);
    scratch.backup.copy_from(&drop.mesh);
    let velocity = drop.velocity;
    let advanced = match &setting.paper {
        None => advance(drop, setting, scratch),
        Some(knobs) => paper::advance(drop, setting, knobs, scratch),
    };
    let touched = touch(drop, edge, setting.after, scratch);
    scratch.center = scratch.shape.centroid + drop.velocity * setting.dt;
    let remeshed = remesh(drop, [edge, setting.edge], is_still(drop, &advanced, setting), setting.after, scratch);
    let reconnected = touched.reconnected() || remeshed.reconnected();
    if reconnected {
        scratch.shape.read_normals(&drop.mesh);
        drop.air_area = scratch.shape.air_area;
    }
    if touched.changed() || remeshed.changed() {
        restore_volume(drop, &scratch.shape);
        scratch.survey.read(&drop.mesh, edge, scratch.center);
    }
    let sound =
        is_sound(drop, velocity, &advanced, setting, &scratch.survey) && !(reconnected && check(&drop.mesh).is_err());
    let crossing = sound && crosses(drop, &advanced, setting, &scratch.survey);
    if crossing && setting.self_merge && merge_with_itself(drop, setting, scratch) {
        return Stepped { advanced, touched, remeshed, cut: true, self_merged: true, healed: false };
    }
    if !sound || crossing {
        drop.mesh.copy_from(&scratch.backup);
        drop.velocity = velocity;
        if setting.dt > setting.shortest_step {
            // Too far at once: the same way again in smaller turns.
            drop.pace = Pace { parts: CUT_INTO * (drop.pace.parts + 1), dt: setting.dt / f64::from(CUT_INTO) };
            return Stepped::default();
        }
        if !drop.mesh.touches() {
            // In flight it goes on flying.
            let way = (velocity + setting.gravity * (0.5 * setting.dt)) * setting.dt;
            drop.mesh.positions.iter_mut().for_each(|p| *p += way);
            drop.velocity += setting.gravity * setting.dt;
        }
        heal(drop, setting.after, setting.edge, scratch);
        return Stepped { advanced, touched, remeshed, cut: true, healed: true, self_merged: false };
    }
    rest(drop, &advanced, setting, touched.changed());
    Stepped { advanced, touched, remeshed, cut: remeshed.cuts > 0, healed: false, self_merged: false }
}

/// Joins the arms of a drop that cross, if the curve in which they do is long enough for a neck, or if it cannot be waited for.
fn merge_with_itself(drop: &mut Drop, setting: &Setting<'_>, scratch: &mut Scratch) -> bool {
    let edge = drop.target_edge(setting.edge);
    let Ok((mesh, length)) = stitch_to_itself(&drop.mesh, edge, drop.volume, setting.after) else { return false };
    if length < NECK * edge && setting.dt > setting.shortest_step {
        return false;
    }
    let before = std::mem::replace(&mut drop.mesh, mesh);
    let area = std::mem::replace(&mut drop.air_area, drop.mesh.air_area());
    if passes(drop, setting.after, setting.edge, scratch) {
        drop.slack = 0.0;
        return true;
    }
    (drop.mesh, drop.air_area) = (before, area);
    false
}

/// Whether a surface crosses itself: looked for where that is possible, and where something has moved far enough since the last look.
fn crosses(drop: &mut Drop, advanced: &Advanced, setting: &Setting<'_>, survey: &Survey) -> bool {
    drop.unchecked += 1;
    if survey.star_shaped {
        drop.slack = 0.0;
        return false;
    }
    // Two sheets that come at one another at this speed at most have not met while their clearance is larger than the way.
    drop.slack -= 2.0 * advanced.fastest * setting.dt;
    if drop.slack > 0.0 {
        return false;
    }
    match clearance(&drop.mesh, LOOK_AHEAD * drop.target_edge(setting.edge)) {
        Ok(clear) => {
            drop.slack = clear;
            false
        }
        Err(_) => true,
    }
}

fn is_sound(drop: &Drop, before: DVec3, advanced: &Advanced, setting: &Setting<'_>, survey: &Survey) -> bool {
    // The fastest that capillarity drives anything is the retreat of the thinnest sheet that the mesh can show.
    let liquid = setting.liquid;
    let thinnest = 0.05 * drop.target_edge(setting.edge);
    let retreat = (liquid.surface_tension / (liquid.density * thinnest)).sqrt();
    let fastest = 4.0 * retreat + 2.0 * before.length();
    let jolt = drop.velocity.distance(before);
    let off = (survey.volume - drop.volume).abs();
    // No sheet or thread that the mesh can show has so much surface for its volume.
    let radius = ball_radius(drop.volume);
    let crumpled = drop.air_area > MOST_AREA * 4.0 * std::f64::consts::PI * radius * radius;
    advanced.stir.is_finite()
        && !crumpled
        && advanced.stir < fastest
        && advanced.fastest < 2.0 * fastest
        && jolt < 0.5 * fastest
        && off.is_finite()
        && off < 1e-7 * drop.volume
        && !survey.degenerate
}

/// Makes a drop's surface anew from its distance field; where even that gives nothing sound, it becomes a ball.
pub fn heal(drop: &mut Drop, world: &Ground, shortest: f64, scratch: &mut Scratch) {
    // What moved before may be what went wrong: the drop keeps its velocity, its waves die.
    if !drop.velocity.is_finite() {
        drop.velocity = DVec3::ZERO;
    }
    let edge = drop.target_edge(shortest);
    drop.wake();
    let lost = drop.mesh.clone();
    // The remesher may lay one side of a narrow gap over the other; a finer grid leaves it less to do, and the last try leaves it nothing.
    let mut second = None;
    for (fineness, remeshed) in RENEWALS {
        let Some(mesh) = renew(&lost, fineness * edge, world).filter(|mesh| check(mesh).is_ok()) else { continue };
        drop.mesh = mesh;
        drop.mesh.velocities.fill(drop.velocity);
        drop.air_area = drop.mesh.air_area();
        if remeshed {
            make_ready(drop, world, shortest, scratch);
        } else {
            refit(drop, world, &mut scratch.shape);
        }
        if holds(drop) {
            if check_crossings(&drop.mesh).is_ok() {
                return;
            }
            second.get_or_insert_with(|| drop.mesh.clone());
        }
    }
    // One that holds its volume and crosses itself somewhere is nearer to the drop than a ball: the next step looks at it again.
    if let Some(mesh) = second {
        drop.mesh = mesh;
        drop.air_area = drop.mesh.air_area();
        return;
    }
    drop.mesh = lost;
    round_off(drop, world, shortest);
}

/// Whether a drop's surface is sound and encloses its volume.
pub fn holds(drop: &Drop) -> bool {
    let off = (drop.mesh.volume() - drop.volume).abs();
    off.is_finite() && off < 1e-6 * drop.volume && check(&drop.mesh).is_ok()
}

/// Makes a drop a ball where it is, clear of the solids: the last resort, which always holds.
fn round_off(drop: &mut Drop, world: &Ground, shortest: f64) {
    let radius = ball_radius(drop.volume);
    let [low, high] = drop.mesh.bounds();
    let middle = 0.5 * (low + high);
    let first = drop.mesh.positions.iter().copied().find(|p| p.is_finite()).unwrap_or_default();
    let mut center = if middle.is_finite() { middle } else { first };
    for _ in 0..4 {
        if let Some((_, near)) = world.closest(center)
            && near.distance < radius
        {
            center = near.point + near.normal * (1.001 * radius);
        }
    }
    if let Some(mesh) = ball(center, radius, target_edge(drop.volume, shortest), |_| radius) {
        drop.mesh = mesh;
        drop.mesh.velocities.fill(drop.velocity);
        drop.air_area = drop.mesh.air_area();
    }
}

/// Takes a surface that was made between steps if it is sound, and makes it anew if it is not.
pub fn ensure_sound(drop: &mut Drop, world: &Ground, shortest: f64, scratch: &mut Scratch) {
    let finite = drop.velocity.is_finite() && drop.mesh.velocities.iter().all(|v| v.is_finite());
    if !(finite && holds(drop) && check_crossings(&drop.mesh).is_ok()) {
        heal(drop, world, shortest, scratch);
    }
}

/// Gives a drop whose surface was changed its volume again.
pub fn refit(drop: &mut Drop, world: &Ground, shape: &mut Shape) {
    shape.read(&drop.mesh, world);
    drop.air_area = shape.air_area;
    restore_volume(drop, shape);
}

/// √(σ/ρR), in m/s.
fn capillary_speed(drop: &Drop, setting: &Setting<'_>) -> f64 {
    let liquid = setting.liquid;
    (liquid.surface_tension / (liquid.density * ball_radius(drop.volume))).sqrt()
}

/// Whether a drop stands on its solid and hardly stirs.
fn is_still(drop: &Drop, advanced: &Advanced, setting: &Setting<'_>) -> bool {
    let speed = capillary_speed(drop, setting);
    advanced.stir < HARDLY * speed && advanced.drift < STILL * speed && drop.mesh.touches()
}

/// Counts the steps at rest, and lets a drop sleep.
fn rest(drop: &mut Drop, advanced: &Advanced, setting: &Setting<'_>, changed: bool) {
    let calm = !changed && advanced.stir < CALM * capillary_speed(drop, setting) && is_still(drop, advanced, setting);
    drop.calm = if calm { drop.calm + 1 } else { 0 };
    drop.asleep = f64::from(drop.calm) * setting.dt > CALM_TIME;
}

/// Makes a surface that comes from elsewhere ready for steps: edges of the right length, the right volume. They are made even: what a grid left of roughness is no curvature, and steps refine
/// what is left when that has gone.
pub fn make_ready(drop: &mut Drop, world: &Ground, shortest: f64, scratch: &mut Scratch) {
    for _ in 0..FRESH_PASSES {
        let edge = drop.target_edge(shortest);
        if !freshen(drop, [edge, edge], world, scratch) {
            break;
        }
    }
}

/// One pass of the remesher outside a step, with edges of these lengths; whether anything changed.
pub fn freshen(drop: &mut Drop, lengths: [f64; 2], world: &Ground, scratch: &mut Scratch) -> bool {
    scratch.center = drop.mesh.centroid();
    let done = remesh(drop, lengths, false, world, scratch);
    refit(drop, world, &mut scratch.shape);
    done.changed()
}

/// A drop's connected parts as drops of their own, largest first, with its volume and momentum shared between them; ids are still the drop's. One
/// entry if it is whole.
pub fn parts(drop: Drop, world: &Ground, shortest: f64, scratch: &mut Scratch) -> Vec<Drop> {
    let lists = drop.mesh.parts();
    if lists.len() < 2 {
        return vec![drop];
    }
    let mut sized: Vec<(f64, Vec<u32>)> = lists.into_iter().map(|list| (drop.mesh.part_volume(&list), list)).collect();
    sized.sort_by(|a, b| b.0.total_cmp(&a.0));
    let largest = sized[0].0;
    sized.retain(|(volume, list)| {
        *volume == largest || (list.len() >= LEAST_TRIANGLES && ball_radius(*volume) > LEAST_RADIUS * shortest)
    });
    let lists: Vec<Vec<u32>> = sized.into_iter().map(|(_, list)| list).collect();
    let meshes = drop.mesh.extract(&lists);
    let Some(total) = meshes.iter().map(Mesh::volume).reduce(|a, b| a + b) else { return vec![drop] };
    let mut made: Vec<Drop> = meshes
        .into_iter()
        .map(|mesh| {
            scratch.shape.read(&mesh, world);
            let velocity = scratch.shape.rigid_velocity(&mesh.velocities);
            // A shred without volume has no velocity of its own.
            let velocity = if velocity.is_finite() { velocity } else { drop.velocity };
            let volume = drop.volume * mesh.volume() / total;
            Drop {
                id: drop.id,
                mesh,
                volume,
                velocity,
                air_area: scratch.shape.air_area,
                pressure: drop.pressure,
                writhing: 0.0,
                calm: 0,
                unchecked: 0,
                slack: 0.0,
                asleep: false,
                pace: drop.pace,
            }
        })
        .collect();
    let carried: DVec3 = made.iter().map(|part| part.velocity * part.volume).sum();
    let missing = drop.velocity - carried / drop.volume;
    for part in &mut made {
        part.velocity += missing;
        part.mesh.velocities.iter_mut().for_each(|v| *v += missing);
        part.guess_writhing();
        refit(part, world, &mut scratch.shape);
        ensure_sound(part, world, shortest, scratch);
    }
    made
}
