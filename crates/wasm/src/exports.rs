//! The module's functions as JavaScript calls them (`web/sessile.js`).
//!
//! An instance of the module holds one simulation. Text and bytes go in by a buffer of this module,
//! [`sessile_input`], and come out by slots: a function fills the slots, JavaScript copies them by
//! [`sessile_slot`] and [`sessile_slot_length`]. A function that can fail returns 0 after writing
//! the message to the first slot, and 1 otherwise.
#![expect(unsafe_code, reason = "exported names must not be mangled; there is no other unsafe code")]

use std::cell::RefCell;

use glam::DVec3;
use sessile_input::InMemory;
use sessile_model::{Region, Stroke, Tool};

use crate::Simulation;

/// What is exchanged with JavaScript.
#[derive(Default)]
struct Instance {
    input: Vec<u8>,
    files: InMemory,
    simulation: Option<Simulation>,
    slots: Vec<Slot>,
}

/// An array that JavaScript reads.
enum Slot {
    Bytes(Vec<u8>),
    Floats(Vec<f32>),
    Indices(Vec<u32>),
}

thread_local! {
    static INSTANCE: RefCell<Instance> = RefCell::default();
}

fn with<T>(act: impl FnOnce(&mut Instance) -> T) -> T {
    INSTANCE.with_borrow_mut(act)
}

impl Instance {
    fn text(&self) -> Result<&str, String> {
        std::str::from_utf8(&self.input).map_err(|error| error.to_string())
    }

    fn fail(&mut self, message: String) -> i32 {
        self.slots = vec![Slot::Bytes(message.into_bytes())];
        0
    }
}

/// Lets the simulation act; its result becomes the slots.
fn run(act: impl FnOnce(&mut Simulation, &[u8]) -> Result<Vec<Slot>, String>) -> i32 {
    with(|instance| {
        let Some(simulation) = &mut instance.simulation else { return instance.fail("no scene is loaded".into()) };
        match act(simulation, &instance.input) {
            Ok(slots) => {
                instance.slots = slots;
                1
            }
            Err(message) => instance.fail(message),
        }
    })
}

/// As [`run`], for an action whose result is a number; NaN if it fails.
fn number(act: impl FnOnce(&mut Simulation) -> Result<f64, String>) -> f64 {
    let mut value = f64::NAN;
    run(|simulation, _| {
        value = act(simulation)?;
        Ok(Vec::new())
    });
    value
}

fn text(input: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(input).map_err(|error| error.to_string())
}

fn nothing(result: Result<(), String>) -> Result<Vec<Slot>, String> {
    result.map(|()| Vec::new())
}

/// Room for `length` bytes of input; null if there is no memory for it.
#[unsafe(no_mangle)]
extern "C" fn sessile_input(length: usize) -> *mut u8 {
    with(|instance| {
        instance.input.clear();
        if instance.input.try_reserve_exact(length).is_err() {
            return std::ptr::null_mut();
        }
        instance.input.resize(length, 0);
        instance.input.as_mut_ptr()
    })
}

/// Address of a slot's array; null if there is no such slot.
#[unsafe(no_mangle)]
extern "C" fn sessile_slot(slot: usize) -> *const u8 {
    with(|instance| match instance.slots.get(slot) {
        Some(Slot::Bytes(values)) => values.as_ptr(),
        Some(Slot::Floats(values)) => values.as_ptr().cast(),
        Some(Slot::Indices(values)) => values.as_ptr().cast(),
        None => std::ptr::null(),
    })
}

/// Number of elements of a slot.
#[unsafe(no_mangle)]
extern "C" fn sessile_slot_length(slot: usize) -> usize {
    with(|instance| match instance.slots.get(slot) {
        Some(Slot::Bytes(values)) => values.len(),
        Some(Slot::Floats(values)) => values.len(),
        Some(Slot::Indices(values)) => values.len(),
        None => 0,
    })
}

/// Reports panics by the first slot: the module traps after them.
#[unsafe(no_mangle)]
extern "C" fn sessile_start() {
    std::panic::set_hook(Box::new(|info| {
        let message = info.to_string();
        // The instance is in use when a simulation panics, so the message goes to a global.
        PANIC.with_borrow_mut(|panic| *panic = message.into_bytes());
    }));
}

thread_local! {
    static PANIC: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Address of the message of a panic.
#[unsafe(no_mangle)]
extern "C" fn sessile_panic() -> *const u8 {
    PANIC.with_borrow(Vec::as_ptr)
}

/// Length of the message of a panic, in bytes.
#[unsafe(no_mangle)]
extern "C" fn sessile_panic_length() -> usize {
    PANIC.with_borrow(Vec::len)
}

/// Adds a file for the next scene: input is its name, of `name_length` bytes, and its contents.
#[unsafe(no_mangle)]
extern "C" fn sessile_file(name_length: usize) -> i32 {
    with(|instance| {
        let input = std::mem::take(&mut instance.input);
        let Some((name, contents)) = input.split_at_checked(name_length) else {
            return instance.fail("the name is longer than the input".into());
        };
        match text(name) {
            Ok(name) => {
                instance.files.insert(name, contents.to_vec());
                1
            }
            Err(message) => instance.fail(message),
        }
    })
}

/// Loads the scene whose text is the input, with the files given before.
#[unsafe(no_mangle)]
extern "C" fn sessile_load() -> i32 {
    with(|instance| {
        let files = std::mem::take(&mut instance.files);
        match instance.text().and_then(|text| Simulation::load(text, files)) {
            Ok(simulation) => {
                instance.simulation = Some(simulation);
                1
            }
            Err(message) => instance.fail(message),
        }
    })
}

/// Advances by some seconds.
#[unsafe(no_mangle)]
extern "C" fn sessile_step(seconds: f64) -> i32 {
    run(|simulation, _| nothing(simulation.step(seconds)))
}

/// Simulated time, in s; NaN without a scene.
#[unsafe(no_mangle)]
extern "C" fn sessile_time() -> f64 {
    number(|simulation| Ok(simulation.time()))
}

/// Fills the slots with the view: drops, ids; positions, normals, velocities, drops, triangles,
/// solids, ids and volumes of surfaces; poses of solids.
#[unsafe(no_mangle)]
extern "C" fn sessile_view() -> i32 {
    run(|simulation, _| {
        let poses = simulation.poses();
        let view = simulation.view().clone();
        let surface = view.surface;
        Ok(vec![
            Slot::Floats(view.drops),
            Slot::Indices(view.ids),
            Slot::Floats(surface.positions),
            Slot::Floats(surface.normals),
            Slot::Floats(surface.velocities),
            Slot::Indices(surface.drops),
            Slot::Indices(surface.triangles),
            // Two's complement: JavaScript reads them as signed.
            Slot::Indices(surface.solids.iter().map(|solid| solid.cast_unsigned()).collect()),
            Slot::Indices(surface.ids),
            Slot::Floats(surface.volumes),
            Slot::Floats(poses),
        ])
    })
}

/// Adds a drop.
#[unsafe(no_mangle)]
extern "C" fn sessile_add(x: f64, y: f64, z: f64, u: f64, v: f64, w: f64, volume: f64) -> i32 {
    run(|simulation, _| nothing(simulation.add(DVec3::new(x, y, z), DVec3::new(u, v, w), volume)))
}

/// Takes a share of the liquid in a ball; returns its volume, or NaN.
#[unsafe(no_mangle)]
extern "C" fn sessile_take(x: f64, y: f64, z: f64, radius: f64, share: f64) -> f64 {
    number(|simulation| simulation.take(&Region { center: DVec3::new(x, y, z), radius }, share))
}

/// Wipes: input is the numbers (f64) of the two ends of the stroke, its duration, the half vector
/// of a blade, and the radius of a finger, which is 0 for a blade. Returns the volume, or NaN.
#[unsafe(no_mangle)]
extern "C" fn sessile_wipe() -> f64 {
    let mut value = f64::NAN;
    run(|simulation, input| {
        let values: Vec<f64> =
            input.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap_or_default())).collect();
        let [fx, fy, fz, tx, ty, tz, duration, hx, hy, hz, radius] = values[..] else {
            return Err("a stroke has 11 numbers".into());
        };
        let tool = if radius > 0.0 { Tool::Finger { radius } } else { Tool::Blade { half: DVec3::new(hx, hy, hz) } };
        let (from, to) = (DVec3::new(fx, fy, fz), DVec3::new(tx, ty, tz));
        value = simulation.wipe(&Stroke { from, to, duration, tool })?;
        Ok(Vec::new())
    });
    value
}

/// Sets gravity; the scene's with a NaN.
#[unsafe(no_mangle)]
extern "C" fn sessile_gravity(x: f64, y: f64, z: f64) -> i32 {
    run(|simulation, _| nothing(simulation.set_gravity((!x.is_nan()).then_some(DVec3::new(x, y, z)))))
}

/// Sets the wind; the scene's with a NaN.
#[unsafe(no_mangle)]
extern "C" fn sessile_wind(x: f64, y: f64, z: f64) -> i32 {
    run(|simulation, _| nothing(simulation.set_wind((!x.is_nan()).then_some(DVec3::new(x, y, z)))))
}

/// Opens (1) or closes (0) the emitters.
#[unsafe(no_mangle)]
extern "C" fn sessile_sources(open: i32) -> i32 {
    run(|simulation, _| {
        simulation.set_sources_open(open != 0);
        Ok(Vec::new())
    })
}

/// Gives a solid the material that the input names; the scene's if it is empty.
#[unsafe(no_mangle)]
extern "C" fn sessile_material(solid: usize) -> i32 {
    run(|simulation, input| nothing(simulation.set_material(solid, text(input)?)))
}

/// Gives a solid contact angles, in degrees.
#[unsafe(no_mangle)]
extern "C" fn sessile_angles(solid: usize, advancing: f64, wet_advancing: f64, receding: f64) -> i32 {
    run(|simulation, _| nothing(simulation.set_angles(solid, [advancing, wet_advancing, receding])))
}

/// Moves a solid by a vector over some seconds.
#[unsafe(no_mangle)]
extern "C" fn sessile_move(solid: usize, x: f64, y: f64, z: f64, duration: f64) -> i32 {
    run(|simulation, _| nothing(simulation.move_solid(solid, DVec3::new(x, y, z), duration)))
}

/// One number of the volume balance: added (0), lost (1), film (2), or the volume of the drops (3).
#[unsafe(no_mangle)]
extern "C" fn sessile_balance(which: usize) -> f64 {
    number(|simulation| {
        let (balance, present) = (simulation.balance(), simulation.view().volume());
        Ok([balance.added, balance.lost, balance.film, present].get(which).copied().unwrap_or(f64::NAN))
    })
}

/// Saves the state to the first slot.
#[unsafe(no_mangle)]
extern "C" fn sessile_save() -> i32 {
    run(|simulation, _| Ok(vec![Slot::Bytes(simulation.save())]))
}

/// Restores the state in the input.
#[unsafe(no_mangle)]
extern "C" fn sessile_restore() -> i32 {
    run(|simulation, input| nothing(simulation.restore(input)))
}

/// Writes the digest of the state to the first slot.
#[unsafe(no_mangle)]
extern "C" fn sessile_digest() -> i32 {
    run(|simulation, _| Ok(vec![Slot::Bytes(simulation.digest().into_bytes())]))
}

/// Writes the description of the scene, as JSON, to the first slot.
#[unsafe(no_mangle)]
extern "C" fn sessile_description() -> i32 {
    run(|simulation, _| Ok(vec![Slot::Bytes(simulation.description().to_string().into_bytes())]))
}

/// Writes a picture of the scene's looks to the first slot, as a message of the studio's protocol;
/// past the last one there is no slot.
#[unsafe(no_mangle)]
extern "C" fn sessile_picture(index: usize) -> i32 {
    run(|simulation, _| Ok(simulation.picture(index).map(Slot::Bytes).into_iter().collect()))
}

/// Rain by hand over a solid, in m/s; 0 stops it.
#[unsafe(no_mangle)]
extern "C" fn sessile_rain(rate: f64, solid: usize) -> i32 {
    run(|simulation, _| nothing(simulation.set_rain(rate, solid)))
}

/// Places the source that the input describes; returns its number.
#[unsafe(no_mangle)]
extern "C" fn sessile_place() -> f64 {
    let mut id = f64::NAN;
    run(|simulation, input| {
        id = f64::from(simulation.place(text(input)?)?);
        Ok(Vec::new())
    });
    id
}

/// Removes a placed source.
#[unsafe(no_mangle)]
extern "C" fn sessile_unplace(id: u32) -> i32 {
    run(|simulation, _| nothing(simulation.unplace(id)))
}

/// Lets a wiping tool lose liquid: input are its volume, its place, the normal there, half a blade
/// and a finger's radius, and 1 where it is lifted. Returns what stays on it.
#[unsafe(no_mangle)]
extern "C" fn sessile_shed() -> f64 {
    let mut value = f64::NAN;
    run(|simulation, input| {
        let values: Vec<f64> =
            input.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap_or_default())).collect();
        let [volume, x, y, z, nx, ny, nz, hx, hy, hz, radius, lifted] = values[..] else {
            return Err("a tool has 12 numbers".into());
        };
        let tool = if radius > 0.0 { Tool::Finger { radius } } else { Tool::Blade { half: DVec3::new(hx, hy, hz) } };
        value = simulation.shed(volume, tool, DVec3::new(x, y, z), DVec3::new(nx, ny, nz), lifted > 0.0)?;
        Ok(Vec::new())
    });
    value
}

/// Writes the present moment as a scene file to the first slot; input are changes, one per line.
#[unsafe(no_mangle)]
extern "C" fn sessile_moment() -> i32 {
    run(|simulation, input| {
        let changes: Vec<String> = text(input)?.lines().map(str::to_owned).collect();
        Ok(vec![Slot::Bytes(simulation.moment(&changes)?.into_bytes())])
    })
}

/// Writes the messages since the last call, one per line, to the first slot.
#[unsafe(no_mangle)]
extern "C" fn sessile_notices() -> i32 {
    run(|simulation, _| Ok(vec![Slot::Bytes(simulation.take_notices().join("\n").into_bytes())]))
}

/// Fills the slots with a solid's mesh: positions, texture coordinates of corners, triangles.
#[unsafe(no_mangle)]
extern "C" fn sessile_mesh(solid: usize) -> i32 {
    run(|simulation, _| {
        let mesh = simulation.mesh(solid)?;
        Ok(vec![Slot::Floats(mesh.positions), Slot::Floats(mesh.uvs), Slot::Indices(mesh.triangles)])
    })
}

/// Fills the slots with a solid's wetness: two bytes per texel; columns and rows. Without one, the
/// slots are empty.
#[unsafe(no_mangle)]
extern "C" fn sessile_wetness(solid: usize) -> i32 {
    run(|simulation, _| {
        let map = simulation.wetness(solid);
        Ok(map.map_or_else(Vec::new, |(width, height, bytes)| {
            vec![Slot::Bytes(bytes), Slot::Indices(vec![width, height])]
        }))
    })
}
