//! A `.glb` file being written: the JSON document and the binary buffer that it describes.

use glam::Vec3;
use serde_json::{Value, json};

use sessile_output::Sink;

use super::FAR;
use crate::error::ExportError;
use crate::job::Job;

/// Component types.
pub const BYTE: u32 = 5120;
pub const SHORT: u32 = 5122;
pub const UNSIGNED_SHORT: u32 = 5123;
pub const UNSIGNED_INT: u32 = 5125;
pub const FLOAT: u32 = 5126;

/// Targets of buffer views.
pub const VERTICES: u32 = 34962;
pub const INDICES: u32 = 34963;

/// Part of the binary buffer; all arrays have lengths of whole four bytes, so everything stays
/// aligned.
#[derive(Clone, Debug, Default)]
pub struct Buffer {
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl Buffer {
    /// Number of bytes so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Adds vectors.
    pub fn vectors(&mut self, values: impl Iterator<Item = Vec3>) {
        self.floats(values.flat_map(|v| v.to_array()));
    }

    /// Adds floats.
    pub fn floats(&mut self, values: impl Iterator<Item = f32>) {
        values.for_each(|value| self.bytes.extend_from_slice(&value.to_le_bytes()));
    }

    /// Adds a file, padded to a multiple of four bytes.
    pub fn file(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.pad();
    }

    /// Continues at a multiple of four bytes.
    pub fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

/// An array of the buffer, as an accessor describes it.
#[derive(Clone, Copy, Debug)]
pub struct Array {
    /// Its first byte.
    pub start: usize,
    /// Number of elements.
    pub count: usize,
    /// Type of their components.
    pub component: u32,
    /// Type of the elements.
    pub kind: &'static str,
    /// Bytes from one element to the next, where they are not packed.
    pub stride: Option<usize>,
    /// What it is bound to.
    pub target: Option<u32>,
}

impl Array {
    fn length(&self) -> usize {
        let components = match self.kind {
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 1,
        };
        let bytes = match self.component {
            BYTE => 1,
            SHORT | UNSIGNED_SHORT => 2,
            _ => 4,
        };
        self.count * self.stride.unwrap_or(components * bytes)
    }
}

/// What is shown from one frame until another.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// Index of the first exported frame that shows it.
    pub from: usize,
    /// Index after that of the last one.
    pub until: usize,
    /// Translation of its node, in m.
    pub translation: [f32; 3],
    /// Scale of its node.
    pub scale: f32,
}

/// Accessors of the times, translations and scales of a node that is shown for a while.
#[derive(Clone, Copy, Debug)]
pub struct ShowTracks {
    times: usize,
    translations: usize,
    scales: usize,
}

/// Bounding box of points: lower and upper corner.
pub fn bounds_of(points: impl Iterator<Item = Vec3>) -> [Vec3; 2] {
    let start = [Vec3::INFINITY, Vec3::NEG_INFINITY];
    let [low, high] = points.fold(start, |[low, high], p| [low.min(p), high.max(p)]);
    if low.is_finite() { [low, high] } else { [Vec3::ZERO; 2] }
}

/// The JSON document.
pub struct Document<'a> {
    pub(super) job: &'a Job<'a>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    meshes: Vec<Value>,
    nodes: Vec<Value>,
    /// Nodes that no other node contains.
    roots: Vec<usize>,
    samplers: Vec<Value>,
    channels: Vec<Value>,
    pub(super) materials: Vec<Value>,
    pub(super) images: Vec<Value>,
    pub(super) textures: Vec<Value>,
    pub(super) cameras: Vec<Value>,
    extensions: Vec<&'static str>,
    required: Vec<&'static str>,
    length: usize,
}

impl<'a> Document<'a> {
    /// An empty document.
    pub fn new(job: &'a Job<'a>) -> Self {
        Self {
            job,
            views: Vec::new(),
            accessors: Vec::new(),
            meshes: Vec::new(),
            nodes: Vec::new(),
            roots: Vec::new(),
            samplers: Vec::new(),
            channels: Vec::new(),
            materials: Vec::new(),
            images: Vec::new(),
            textures: Vec::new(),
            cameras: Vec::new(),
            extensions: Vec::new(),
            required: Vec::new(),
            length: 0,
        }
    }

    /// Frames per second of the video.
    pub fn frames_per_second(&self) -> f64 {
        self.job.source.scene.render.fps
    }

    /// Number of the `k`-th exported frame, counted from `time.start_frame`.
    pub fn frame_number(&self, k: usize) -> u64 {
        self.job.source.shown(self.job.source.frames[k])
    }

    /// Notes an extension that the file uses.
    pub fn uses(&mut self, extension: &'static str) {
        if !self.extensions.contains(&extension) {
            self.extensions.push(extension);
        }
    }

    /// Notes an extension without which the file cannot be read.
    pub fn requires(&mut self, extension: &'static str) {
        self.uses(extension);
        if !self.required.contains(&extension) {
            self.required.push(extension);
        }
    }

    /// Adds a view of a part of the buffer.
    pub fn view(&mut self, start: usize, length: usize, stride: Option<usize>, target: Option<u32>) -> usize {
        let mut view = json!({ "buffer": 0, "byteOffset": start, "byteLength": length });
        if let Some(stride) = stride {
            view["byteStride"] = json!(stride);
        }
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.views.push(view);
        self.views.len() - 1
    }

    /// Adds an accessor of an array, with its bounds as the file has them.
    pub fn array(&mut self, array: &Array, bounds: Option<(Value, Value)>, normalized: bool) -> usize {
        let view = self.view(array.start, array.length(), array.stride, array.target);
        let mut accessor = json!({
            "bufferView": view, "componentType": array.component, "count": array.count, "type": array.kind
        });
        if normalized {
            accessor["normalized"] = json!(true);
        }
        if let Some((low, high)) = bounds {
            accessor["min"] = low;
            accessor["max"] = high;
        }
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// Adds an accessor of packed floats.
    pub fn floats(
        &mut self,
        start: usize,
        count: usize,
        kind: &'static str,
        bounds: Option<[Vec3; 2]>,
        target: Option<u32>,
    ) -> usize {
        let array = Array { start, count, component: FLOAT, kind, stride: None, target };
        self.array(&array, bounds.map(|[low, high]| (json!(low.to_array()), json!(high.to_array()))), false)
    }

    /// Adds times, in s; returns their accessor, which must have bounds.
    fn times(&mut self, buffer: &mut Buffer, times: impl Iterator<Item = f32> + Clone) -> usize {
        let (start, count) = (buffer.len(), times.clone().count());
        buffer.floats(times.clone());
        let low = times.clone().fold(f32::INFINITY, f32::min);
        let high = times.fold(f32::NEG_INFINITY, f32::max);
        let array = Array { start, count, component: FLOAT, kind: "SCALAR", stride: None, target: None };
        self.array(&array, Some((json!([low]), json!([high]))), false)
    }

    /// Adds the times of `count` frames; returns their accessor.
    pub fn frame_times(&mut self, buffer: &mut Buffer, count: usize) -> usize {
        let fps = self.frames_per_second();
        self.times(buffer, (0..count).map(move |k| (k as f64 / fps) as f32))
    }

    /// Adds the animation that shows a node for a while; none where it is always shown.
    pub fn visibility(&mut self, buffer: &mut Buffer, shown: &Shown) -> Option<ShowTracks> {
        let (fps, count) = (self.frames_per_second(), self.job.source.frames.len());
        let mut keys = Vec::new();
        if shown.from > 0 {
            keys.push((0.0, FAR, 0.0));
        }
        keys.push((shown.from as f64 / fps, shown.translation, shown.scale));
        if shown.until < count {
            keys.push((shown.until as f64 / fps, FAR, 0.0));
        }
        if keys.len() == 1 {
            return None;
        }
        if shown.until == count {
            // An animation ends with its last key: the last frame lasts as long as the others.
            keys.push((count as f64 / fps, shown.translation, shown.scale));
        }
        let times = self.times(buffer, keys.iter().map(|(time, ..)| *time as f32));
        let start = buffer.len();
        buffer.floats(keys.iter().flat_map(|(_, translation, _)| *translation));
        let translations = self.floats(start, keys.len(), "VEC3", None, None);
        let start = buffer.len();
        buffer.floats(keys.iter().flat_map(|(.., scale)| [*scale; 3]));
        let scales = self.floats(start, keys.len(), "VEC3", None, None);
        Some(ShowTracks { times, translations, scales })
    }

    /// Places a node as it is shown, and hides it in the other frames.
    pub fn show(&mut self, node: usize, shown: &Shown, tracks: Option<ShowTracks>) {
        // Without animation the first frame is shown. The others are points where they would be, so
        // that they do not extend the scene.
        let scale = if shown.from == 0 { shown.scale } else { 0.0 };
        self.nodes[node]["translation"] = json!(shown.translation);
        self.nodes[node]["scale"] = json!([scale, scale, scale]);
        if let Some(ShowTracks { times, translations, scales }) = tracks {
            self.animate(node, "translation", times, translations, "STEP");
            self.animate(node, "scale", times, scales, "STEP");
        }
    }

    /// Adds a mesh.
    pub fn mesh(&mut self, mesh: Value) -> usize {
        self.meshes.push(mesh);
        self.meshes.len() - 1
    }

    /// Adds a root node of the scene.
    pub fn node(&mut self, node: Value) -> usize {
        self.roots.push(self.nodes.len());
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Adds a node inside another one.
    pub fn child(&mut self, parent: usize, node: Value) -> usize {
        self.nodes.push(node);
        self.nodes[parent]["children"] = json!([self.nodes.len() - 1]);
        self.nodes.len() - 1
    }

    /// Animates a property of a node.
    pub fn animate(&mut self, node: usize, path: &str, times: usize, values: usize, interpolation: &str) {
        self.samplers.push(json!({ "input": times, "output": values, "interpolation": interpolation }));
        self.channels.push(json!({ "sampler": self.samplers.len() - 1, "target": { "node": node, "path": path } }));
    }

    /// Writes everything up to the binary buffer, whose `length` bytes must follow.
    pub fn begin(&mut self, length: usize) -> Result<Sink, ExportError> {
        let source = self.job.source;
        let mut document = json!({
            "asset": {
                "version": "2.0",
                "generator": format!("sessile {}", source.info.version),
                "extras": { "title": source.scene.title, "secondsPerFrame": source.scene.time.frame }
            },
            "scene": 0,
            "scenes": [{ "nodes": self.roots }],
            "buffers": [{ "byteLength": length }],
        });
        let mut animations = Vec::new();
        if !self.channels.is_empty() {
            animations.push(json!({ "name": "run", "samplers": self.samplers, "channels": self.channels }));
        }
        let lists = [
            ("nodes", &self.nodes),
            ("meshes", &self.meshes),
            ("materials", &self.materials),
            ("accessors", &self.accessors),
            ("bufferViews", &self.views),
            ("images", &self.images),
            ("textures", &self.textures),
            ("cameras", &self.cameras),
            ("animations", &animations),
        ];
        for (name, list) in lists {
            if !list.is_empty() {
                document[name] = json!(list);
            }
        }
        if !self.extensions.is_empty() {
            document["extensionsUsed"] = json!(self.extensions);
        }
        if !self.required.is_empty() {
            document["extensionsRequired"] = json!(self.required);
        }
        let mut text = document.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let total = 12 + 8 + text.len() + 8 + length;
        let Ok(whole) = u32::try_from(total) else {
            let what =
                format!("{total} bytes, and a .glb file has at most 4294967295; select fewer frames with `--frames`");
            return Err(ExportError::TooLarge { format: "gltf", what });
        };
        self.length = total;
        let mut sink = self.job.destination.file()?;
        sink.put(b"glTF")?;
        for word in [2, whole, text.len() as u32] {
            sink.put(&word.to_le_bytes())?;
        }
        sink.put(b"JSON")?;
        sink.put(&text)?;
        sink.put(&(length as u32).to_le_bytes())?;
        sink.put(b"BIN\0")?;
        Ok(sink)
    }

    /// Finishes the file after all bytes of the buffer.
    pub fn end(&self, sink: Sink) -> Result<(), ExportError> {
        debug_assert_eq!(sink.at() as usize, self.length, "the buffer must have the announced length");
        Ok(sink.finish()?)
    }
}
