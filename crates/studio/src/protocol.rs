//! Messages from the engine to the page: binary ones for geometry and pictures, JSON text for
//! everything else. Meshes and pictures are in `sessile_interaction`.
//!
//! All numbers are little-endian; every array begins at a multiple of four bytes. The page's side
//! is `page/protocol.js`.

use serde_json::{Value, json};
use sessile_frames::WetMap;
use sessile_interaction::{Looks, describe};
use sessile_model::{DROP_STRIDE, View};
use sessile_world::World;

use crate::session::Session;

/// Kinds of binary messages.
const VIEW: u32 = 1;
const WET: u32 = 3;

/// Largest side of a wetness image.
const MAX_WET: usize = 512;
/// Film thickness that is shown as fully wet, in units of 10 nm.
const THICK_FILM: f64 = 300.0;

/// How fast time passes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Pace {
    /// Simulated over real time.
    pub speed: f64,
    pub playing: bool,
    /// Whether the view is that of the model beside.
    pub is_twin: bool,
    /// CPU time of the engine per tick, in s.
    pub cost: f64,
}

fn extend_f32(into: &mut Vec<u8>, values: impl IntoIterator<Item = f32>) {
    values.into_iter().for_each(|value| into.extend(value.to_le_bytes()));
}

fn extend_u32(into: &mut Vec<u8>, values: impl IntoIterator<Item = u32>) {
    values.into_iter().for_each(|value| into.extend(value.to_le_bytes()));
}

/// Numbers of a view's header that do not come from the liquid.
#[derive(Clone, Copy, Debug, Default)]
struct Header {
    pace: Pace,
    generation: u32,
    bead: f64,
    rain: f64,
    num_undo: u32,
    ticks: u32,
}

/// The present liquid and poses of a session.
pub(crate) fn view_message(view: &View, session: &Session, pace: Pace) -> Vec<u8> {
    let header = Header {
        pace,
        generation: session.generation(),
        bead: session.bead(),
        rain: session.rain(),
        num_undo: session.num_undo() as u32,
        ticks: session.ticks() as u32,
    };
    message(view, session.model().world(), header)
}

/// A frame of a run; that of the second one is shown beside the first.
pub(crate) fn frame_message(view: &View, world: &World, run: usize, frame: u64) -> Vec<u8> {
    let pace = Pace { is_twin: run > 0, ..Pace::default() };
    message(view, world, Header { pace, ticks: frame as u32, ..Header::default() })
}

/// A header of 80 bytes, then the arrays in the order of the header.
fn message(view: &View, world: &World, header: Header) -> Vec<u8> {
    let (solids, surface, pace) = (world.solids(), &view.surface, header.pace);
    let mut out = Vec::with_capacity(80 + 4 * view.drops.len() + 12 * surface.positions.len());
    let counts = [
        view.ids.len(),
        surface.positions.len() / 3,
        surface.triangles.len() / 3,
        solids.len(),
        DROP_STRIDE,
        header.generation as usize,
    ];
    extend_u32(&mut out, [VIEW, u32::from(pace.playing) | u32::from(pace.is_twin) << 1]);
    out.extend(view.time.to_le_bytes());
    out.extend(pace.speed.to_le_bytes());
    extend_u32(&mut out, counts.map(|count| count as u32));
    let gravity = world.gravity().as_vec3().to_array();
    extend_f32(&mut out, gravity);
    extend_f32(&mut out, [header.bead as f32, pace.cost as f32, header.rain as f32]);
    extend_u32(&mut out, [header.num_undo, header.ticks]);
    for solid in solids {
        let pose = solid.world_from_rest();
        let columns = [pose.rotation.x_axis, pose.rotation.y_axis, pose.rotation.z_axis, pose.translation];
        columns.into_iter().for_each(|column| extend_f32(&mut out, column.as_vec3().to_array()));
    }
    extend_f32(&mut out, view.drops.iter().copied());
    extend_u32(&mut out, view.ids.iter().copied());
    extend_f32(&mut out, surface.positions.iter().copied());
    extend_f32(&mut out, surface.normals.iter().copied());
    extend_u32(&mut out, surface.drops.iter().copied());
    extend_u32(&mut out, surface.triangles.iter().copied());
    extend_u32(&mut out, surface.solids.iter().map(|&solid| solid as u32));
    out
}

/// The wetness of the solids that have changed, two bytes per pixel: wetted and film.
pub(crate) struct WetImages {
    last: Vec<Option<Vec<u8>>>,
}

impl WetImages {
    pub fn new() -> Self {
        Self { last: Vec::new() }
    }

    /// Messages for the rows that differ from those of the last call, for a run (0 for a session)
    /// with so many solids.
    pub fn changes(&mut self, maps: &[WetMap], solids: usize, run: usize) -> Vec<Vec<u8>> {
        self.last.resize(solids, None);
        let mut messages = Vec::new();
        for map in maps {
            let step = (map.width.max(map.height) as usize).div_ceil(MAX_WET).max(1);
            let (width, height) = (map.width as usize / step, map.height as usize / step);
            let mut image = Vec::with_capacity(2 * width * height);
            for row in 0..height {
                for column in 0..width {
                    let at = row * step * map.width as usize + column * step;
                    image.push((map.wetness[at] >> 8) as u8);
                    image.push((255.0 * (f64::from(map.film[at]) / THICK_FILM).min(1.0)) as u8);
                }
            }
            let stride = 2 * width;
            let same = |row: usize, last: &Vec<u8>| {
                last.len() == image.len() && last[row * stride..][..stride] == image[row * stride..][..stride]
            };
            let differs = |row: &usize| self.last[map.solid].as_ref().is_none_or(|last| !same(*row, last));
            let Some(first) = (0..height).find(differs) else { continue };
            let last = (0..height).rev().find(differs).unwrap_or(first);
            let mut out = Vec::with_capacity(24 + (last + 1 - first) * stride);
            let header = [WET as usize, map.solid | run << 16, width, height, first, last + 1 - first];
            extend_u32(&mut out, header.map(|value| value as u32));
            out.extend(&image[first * stride..(last + 1) * stride]);
            messages.push(out);
            self.last[map.solid] = Some(image);
        }
        messages
    }

    /// Everything counts as changed.
    pub fn forget(&mut self) {
        self.last.clear();
    }
}

/// What the page must know about a session's scene.
pub(crate) fn scene_message(session: &Session, looks: &Looks) -> Value {
    let mut message = describe(session.scene(), session.model().world(), looks, &session.source().name);
    message["text"] = json!(session.source().text);
    message["generation"] = json!(session.generation());
    message["tick"] = json!(session.tick_length());
    message["live"] = json!(true);
    message["scenes"] = sessile_sim::scenes::SCENES
        .iter()
        .map(|scene| json!({"name": scene.name, "title": scene.title()}))
        .collect::<Vec<_>>()
        .into();
    message
}

/// The volume balance, in m³.
pub(crate) fn balance_message(session: &Session, present: f64) -> Value {
    let balance = session.model().balance();
    json!({
        "kind": "balance",
        "time": session.model().time(),
        "added": balance.added, "lost": balance.lost, "film": balance.film, "present": present,
        "bead": session.bead(),
    })
}
