//! The JSON document of a glTF file, its `.glb` container, and its buffers.

use std::borrow::Cow;

use serde::Deserialize;

use super::super::Resources;
use super::super::error::{Location, ParseError, Problem, quote};
use super::relative_path;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    pub scene: Option<usize>,
    #[serde(default)]
    pub scenes: Vec<Scene>,
    #[serde(default)]
    pub nodes: Vec<Node>,
    #[serde(default)]
    pub meshes: Vec<Mesh>,
    #[serde(default)]
    pub accessors: Vec<Accessor>,
    #[serde(default)]
    pub buffer_views: Vec<BufferView>,
    #[serde(default)]
    pub buffers: Vec<Buffer>,
    #[serde(default)]
    pub extensions_required: Vec<String>,
    #[serde(default)]
    pub animations: Vec<Animation>,
    #[serde(default)]
    pub skins: Vec<Skin>,
}

#[derive(Deserialize)]
pub(super) struct Animation {
    #[serde(default)]
    pub channels: Vec<Channel>,
    #[serde(default)]
    pub samplers: Vec<Sampler>,
}

#[derive(Deserialize)]
pub(super) struct Channel {
    pub sampler: usize,
    pub target: Target,
}

#[derive(Deserialize)]
pub(super) struct Target {
    pub node: Option<usize>,
    pub path: String,
}

#[derive(Deserialize)]
pub(super) struct Sampler {
    pub input: usize,
    pub output: usize,
    pub interpolation: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Skin {
    pub inverse_bind_matrices: Option<usize>,
    pub joints: Vec<usize>,
}

#[derive(Deserialize)]
pub(super) struct Scene {
    #[serde(default)]
    pub nodes: Vec<usize>,
}

#[derive(Deserialize)]
pub(super) struct Node {
    pub mesh: Option<usize>,
    #[serde(default)]
    pub children: Vec<usize>,
    pub matrix: Option<[f64; 16]>,
    pub translation: Option<[f64; 3]>,
    pub rotation: Option<[f64; 4]>,
    pub scale: Option<[f64; 3]>,
    pub skin: Option<usize>,
    /// Of morph targets.
    #[serde(default)]
    pub weights: Vec<f64>,
}

#[derive(Deserialize)]
pub(super) struct Mesh {
    pub primitives: Vec<Primitive>,
    /// Of morph targets, where the node has none.
    #[serde(default)]
    pub weights: Vec<f64>,
}

#[derive(Deserialize)]
pub(super) struct Primitive {
    pub attributes: Attributes,
    pub indices: Option<usize>,
    #[serde(default = "triangle_list")]
    pub mode: u32,
    /// Morph targets.
    #[serde(default)]
    pub targets: Vec<MorphTarget>,
}

#[derive(Deserialize)]
pub(super) struct MorphTarget {
    #[serde(rename = "POSITION")]
    pub position: Option<usize>,
}

fn triangle_list() -> u32 {
    4
}

#[derive(Deserialize)]
pub(super) struct Attributes {
    #[serde(rename = "POSITION")]
    pub position: Option<usize>,
    #[serde(rename = "TEXCOORD_0")]
    pub texcoord_0: Option<usize>,
    #[serde(rename = "JOINTS_0")]
    joints_0: Option<usize>,
    #[serde(rename = "WEIGHTS_0")]
    weights_0: Option<usize>,
}

impl Attributes {
    /// Accessors of the joints and weights of a skin.
    pub fn joints_weights(&self) -> Option<(usize, usize)> {
        self.joints_0.zip(self.weights_0)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    pub buffer_view: Option<usize>,
    #[serde(default)]
    pub byte_offset: usize,
    pub component_type: u32,
    #[serde(default)]
    pub normalized: bool,
    pub count: usize,
    #[serde(rename = "type")]
    pub shape: String,
    pub sparse: Option<Sparse>,
}

/// Elements of an accessor that differ from those of its view, or from zero.
#[derive(Deserialize)]
pub(super) struct Sparse {
    pub count: usize,
    pub indices: SparsePart,
    pub values: SparsePart,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparsePart {
    pub buffer_view: usize,
    #[serde(default)]
    pub byte_offset: usize,
    /// Of the indices.
    pub component_type: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BufferView {
    pub buffer: usize,
    #[serde(default)]
    pub byte_offset: usize,
    pub byte_length: usize,
    pub byte_stride: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Buffer {
    pub uri: Option<String>,
    pub byte_length: usize,
}

/// The two parts of a glTF file.
pub(super) struct Container<'a> {
    pub json: &'a [u8],
    /// Offset of `json` in a `.glb` file; none in a `.gltf` file, whose locations are lines.
    json_offset: Option<usize>,
    pub binary: Option<&'a [u8]>,
}

/// Parses the container of a `.glb` file; any other file is a JSON document.
pub(super) fn open(bytes: &[u8]) -> Result<Container<'_>, ParseError> {
    const JSON: &[u8] = b"JSON";
    const BINARY: &[u8] = b"BIN\0";
    if !bytes.starts_with(b"glTF") {
        return Ok(Container { json: bytes, json_offset: None, binary: None });
    }
    let word = |at: usize| bytes.get(at..at + 4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    let truncated = |what: &str, at: usize, needed: usize| {
        let present = bytes.len().saturating_sub(at);
        ParseError::new(
            Location::Byte(at),
            Problem::Truncated { what: what.to_owned(), needed: needed as u128, present },
        )
    };
    let (Some(version), Some(_)) = (word(4), word(8)) else { return Err(truncated("the glTF header", 0, 12)) };
    if version != 2 {
        return Err(ParseError::unexpected(Location::Byte(4), "glTF version 2", format!("{version}")));
    }
    let (mut json, mut binary) = (None, None);
    let mut at = 12;
    while at < bytes.len() && (json.is_none() || binary.is_none()) {
        let Some(length) = word(at) else { return Err(truncated("a chunk's header", at, 8)) };
        let length = length as usize;
        let (Some(kind), Some(chunk)) = (bytes.get(at + 4..at + 8), bytes.get(at + 8..at + 8 + length)) else {
            return Err(truncated("a chunk with its header", at, 8 + length));
        };
        match kind {
            JSON if json.is_none() => json = Some((at + 8, chunk)),
            BINARY if binary.is_none() => binary = Some(chunk),
            _ => {}
        }
        at += 8 + length;
    }
    let Some((offset, json)) = json else {
        return Err(ParseError::unexpected(Location::Byte(12), "a JSON chunk", "none"));
    };
    Ok(Container { json, json_offset: Some(offset), binary })
}

impl Container<'_> {
    pub fn document(&self) -> Result<Document, ParseError> {
        serde_json::from_slice(self.json).map_err(|error| {
            let location = match self.json_offset {
                None => Location::Line(error.line()),
                Some(offset) => Location::Byte(offset + byte_of(self.json, error.line(), error.column())),
            };
            // The message ends in "at line … column …", which the location repeats.
            let text = error.to_string();
            let reason = text.split(" at line ").next().unwrap_or_default().to_owned();
            let near = self.json.trim_ascii().get(..1).map_or("nothing".to_owned(), |_| reason);
            ParseError::unexpected(location, "a glTF document in JSON", near)
        })
    }
}

/// The byte at a line and column, both counted from 1.
fn byte_of(text: &[u8], line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive(|&byte| byte == b'\n').take(line.saturating_sub(1)).map(<[u8]>::len).sum();
    before + column.saturating_sub(1)
}

/// All buffers, truncated to their declared lengths.
pub(super) fn load_buffers<'a>(
    document: &Document,
    binary: Option<&'a [u8]>,
    resources: &Resources<'_>,
) -> Result<Vec<Cow<'a, [u8]>>, ParseError> {
    let mut buffers = Vec::new();
    for (index, buffer) in document.buffers.iter().enumerate() {
        let location = || Location::Item(format!("buffers[{index}]"));
        let mut content = match (&buffer.uri, binary) {
            (None, Some(chunk)) if index == 0 => Cow::Borrowed(chunk),
            (None, _) => {
                let expected = "a `uri`, or a binary chunk for the first buffer";
                return Err(ParseError::unexpected(location(), expected, "neither"));
            }
            (Some(uri), _) => Cow::Owned(match uri.strip_prefix("data:") {
                Some(data) => decode_data(data)
                    .map_err(|found| ParseError::unexpected(location(), "a URI `data:…;base64,…`", found))?,
                None => relative_path(uri)
                    .and_then(|path| resources(&path))
                    .map_err(|source| ParseError::new(location(), Problem::Resource { uri: uri.clone(), source }))?,
            }),
        };
        if content.len() < buffer.byte_length {
            let needed = buffer.byte_length as u128;
            let problem = Problem::Truncated { what: "the buffer".to_owned(), needed, present: content.len() };
            return Err(ParseError::new(location(), problem));
        }
        match &mut content {
            Cow::Borrowed(bytes) => *bytes = &bytes[..buffer.byte_length],
            Cow::Owned(bytes) => bytes.truncate(buffer.byte_length),
        }
        buffers.push(content);
    }
    Ok(buffers)
}

/// The bytes of a `data:` URI; the error is what was found instead of base64.
pub(super) fn decode_data(data: &str) -> Result<Vec<u8>, String> {
    let Some((kind, text)) = data.split_once(',') else { return Err("no comma".to_owned()) };
    if !kind.ends_with(";base64") {
        return Err(quote(kind.as_bytes()));
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut pending, mut num_bits) = (0_u32, 0);
    for &letter in text.trim_end_matches('=').as_bytes() {
        let digit = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            other => return Err(quote(&[other])),
        };
        pending = pending << 6 & 0xffff | u32::from(digit);
        num_bits += 6;
        if num_bits >= 8 {
            num_bits -= 8;
            bytes.push((pending >> num_bits) as u8);
        }
    }
    Ok(bytes)
}
