//! A `.glb` file being written: the JSON document and the binary buffer that it describes.

use glam::Vec3;
use serde_json::{Value, json};

use sessile_output::Sink;

use crate::error::ExportError;
use crate::job::Job;

/// Component types.
pub const FLOAT: u32 = 5126;
pub const UNSIGNED_INT: u32 = 5125;

/// Targets of buffer views.
pub const VERTICES: u32 = 34962;
pub const INDICES: u32 = 34963;

/// Part of the binary buffer; all arrays have four-byte elements, so everything stays aligned.
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

    /// Adds integers.
    pub fn integers(&mut self, values: impl Iterator<Item = u32>) {
        values.for_each(|value| self.bytes.extend_from_slice(&value.to_le_bytes()));
    }

    /// Adds a file, padded to a multiple of four bytes.
    pub fn file(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
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
    samplers: Vec<Value>,
    channels: Vec<Value>,
    pub(super) materials: Vec<Value>,
    pub(super) images: Vec<Value>,
    pub(super) textures: Vec<Value>,
    pub(super) cameras: Vec<Value>,
    pub(super) extensions: Vec<&'static str>,
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
            samplers: Vec::new(),
            channels: Vec::new(),
            materials: Vec::new(),
            images: Vec::new(),
            textures: Vec::new(),
            cameras: Vec::new(),
            extensions: Vec::new(),
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

    /// Adds a view of a part of the buffer.
    pub fn view(&mut self, start: usize, length: usize, target: Option<u32>) -> usize {
        let mut view = json!({ "buffer": 0, "byteOffset": start, "byteLength": length });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.views.push(view);
        self.views.len() - 1
    }

    /// Adds an accessor of an array in the buffer.
    pub fn accessor(
        &mut self,
        start: usize,
        count: usize,
        component: u32,
        kind: &str,
        bounds: Option<[Vec3; 2]>,
        target: Option<u32>,
    ) -> usize {
        let size = 4 * match kind {
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 1,
        };
        let view = self.view(start, size * count, target);
        let mut accessor = json!({ "bufferView": view, "componentType": component, "count": count, "type": kind });
        if let Some([low, high]) = bounds {
            accessor["min"] = json!(low.to_array());
            accessor["max"] = json!(high.to_array());
        }
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// Adds an accessor of an array that will be written at `at`, and advances `at` to its end.
    #[expect(clippy::too_many_arguments, reason = "an accessor has this many properties")]
    pub fn reserve(
        &mut self,
        at: &mut usize,
        count: usize,
        size: usize,
        component: u32,
        kind: &str,
        bounds: Option<[Vec3; 2]>,
        target: Option<u32>,
    ) -> usize {
        let start = *at;
        *at += size * count;
        self.accessor(start, count, component, kind, bounds, target)
    }

    /// Adds an accessor of times, which must have bounds.
    pub fn accessor_of_times(&mut self, start: usize, times: impl Iterator<Item = f32> + Clone) -> usize {
        let count = times.clone().count();
        let accessor = self.accessor(start, count, FLOAT, "SCALAR", None, None);
        let low = times.clone().fold(f32::INFINITY, f32::min);
        let high = times.fold(f32::NEG_INFINITY, f32::max);
        self.accessors[accessor]["min"] = json!([low]);
        self.accessors[accessor]["max"] = json!([high]);
        accessor
    }

    /// Adds the times of `count` frames; returns their accessor.
    pub fn frame_times(&mut self, buffer: &mut Buffer, count: usize) -> usize {
        let fps = self.frames_per_second();
        let times = (0..count).map(move |k| (k as f64 / fps) as f32);
        let start = buffer.len();
        buffer.floats(times.clone());
        self.accessor_of_times(start, times)
    }

    /// Adds a mesh.
    pub fn mesh(&mut self, mesh: Value) -> usize {
        self.meshes.push(mesh);
        self.meshes.len() - 1
    }

    /// Adds a root node of the scene.
    pub fn node(&mut self, node: Value) -> usize {
        self.nodes.push(node);
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
            "scenes": [{ "nodes": (0..self.nodes.len()).collect::<Vec<usize>>() }],
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
