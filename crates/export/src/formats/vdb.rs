//! OpenVDB: level set, velocity and pressure on a grid, one file per frame (openvdb; file format
//! version 224).
//!
//! The tiles of 8 × 8 × 8 cells of a run's fields are the leaves of the VDB tree. Voxel (i, j, k)
//! is cell (i, j, k) of the grid, its center at origin + h (i + ½). Grids: `surface`, a level set
//! in m; `velocity`, staggered, in m/s; `pressure`, in Pa. Cells outside the tiles are air: the
//! background of the level set is its largest value, that of the others is zero.
//!
//! ```text
//! header, then per grid: name, type, three offsets; flags, metadata, transform; tree; values
//! tree: root (background, children by origin) ─ 32³ ─ 16³ ─ leaves; each node has a mask of children
//! and a mask of values
//! ```

use std::collections::BTreeMap;

use sessile_frames::GridFields;
use sessile_frames::fields::{SIDE, TILE_CELLS};
use sessile_frames::names::frame_file;

use crate::error::ExportError;
use crate::job::Job;

/// Inactive voxels are not stored; they have the background value.
const ACTIVE_MASK: u32 = 2;

pub fn write(job: &Job<'_>) -> Result<(), ExportError> {
    let source = job.source;
    job.for_each_frame(|frame| {
        let Some(grid) = source.folder.read_fields(frame.number)? else {
            let reason = if source.scene.output.fields {
                format!("frame {} has no grid fields; only the volume model writes them", frame.number)
            } else {
                "the run has no grid fields; simulate it with the volume model and `--set output.fields=true`".into()
            };
            return Err(ExportError::NoFields { folder: source.folder.root().to_owned(), reason });
        };
        job.write_file(&frame_file(frame.shown, "vdb"), &encode(&grid, frame.time))
    })
}

/// One grid of the file.
struct GridSpec<'a> {
    name: &'a str,
    class: &'a str,
    /// Floats per voxel: 1 or 3.
    components: usize,
    background: f32,
    value: &'a dyn Fn(usize, usize) -> [f32; 3],
}

fn encode(grid: &GridFields, time: f64) -> Vec<u8> {
    let background = grid.phi.iter().copied().fold(grid.cell as f32, f32::max);
    let [x, y, z] = &grid.velocity;
    let at = |slot: usize, local: usize| slot * TILE_CELLS + local;
    let specs = [
        GridSpec {
            name: "surface",
            class: "level set",
            components: 1,
            background,
            value: &|slot, local| [grid.phi[at(slot, local)], 0.0, 0.0],
        },
        GridSpec {
            name: "velocity",
            class: "staggered",
            components: 3,
            background: 0.0,
            value: &|slot, local| [x, y, z].map(|component| component[at(slot, local)]),
        },
        GridSpec {
            name: "pressure",
            class: "unknown",
            components: 1,
            background: 0.0,
            value: &|slot, local| [grid.pressure[at(slot, local)], 0.0, 0.0],
        },
    ];
    let mut file = Bytes::default();
    file.i64(0x5644_4220);
    for word in [224, 10, 0] {
        file.u32(word);
    }
    // Grid offsets are present.
    file.0.push(1);
    // The UUID is a hash of the contents, so that output is deterministic.
    file.0.extend_from_slice(uuid(grid, time).as_bytes());
    file.u32(1);
    file.meta("creator", "string", b"sessile");
    file.u32(specs.len() as u32);
    let tree = Tree::new(grid);
    for spec in &specs {
        file.grid(grid, &tree, spec, time);
    }
    file.0
}

fn uuid(grid: &GridFields, time: f64) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&time.to_le_bytes());
    grid.phi.iter().for_each(|value| {
        hasher.update(&value.to_le_bytes());
    });
    let hex = hasher.finalize().to_hex();
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..32])
}

/// Indices of tiles by the nodes that contain them: origin of the 32³ node (in units of 4096
/// voxels), then index in that node, then index in the 16³ node.
struct Tree(BTreeMap<[i32; 3], BTreeMap<usize, BTreeMap<usize, usize>>>);

impl Tree {
    fn new(grid: &GridFields) -> Self {
        let mut roots: BTreeMap<[i32; 3], BTreeMap<usize, BTreeMap<usize, usize>>> = BTreeMap::new();
        for (slot, tile) in grid.tiles.iter().enumerate() {
            let node = tile.map(|c| c.div_euclid(16));
            let [a, b, c] = tile.map(|c| c.rem_euclid(16) as usize);
            let [i, j, k] = node.map(|c| c.rem_euclid(32) as usize);
            let root = node.map(|c| c.div_euclid(32));
            let upper = roots.entry(root).or_default().entry((i * 32 + j) * 32 + k).or_default();
            upper.insert((a * 16 + b) * 16 + c, slot);
        }
        Self(roots)
    }
}

#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn i64(&mut self, value: i64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn floats(&mut self, values: &[f32]) {
        values.iter().for_each(|value| self.0.extend_from_slice(&value.to_le_bytes()));
    }

    fn doubles(&mut self, values: [f64; 3]) {
        values.iter().for_each(|value| self.0.extend_from_slice(&value.to_le_bytes()));
    }

    fn string(&mut self, text: &str) {
        self.u32(text.len() as u32);
        self.0.extend_from_slice(text.as_bytes());
    }

    fn meta(&mut self, name: &str, kind: &str, value: &[u8]) {
        self.string(name);
        self.string(kind);
        self.u32(value.len() as u32);
        self.0.extend_from_slice(value);
    }

    fn mask(&mut self, size: usize, on: impl Iterator<Item = usize>) {
        let start = self.0.len();
        self.0.resize(start + size / 8, 0);
        on.for_each(|bit| self.0[start + bit / 8] |= 1 << (bit % 8));
    }

    fn grid(&mut self, grid: &GridFields, tree: &Tree, spec: &GridSpec<'_>, time: f64) {
        self.string(spec.name);
        self.string(if spec.components == 3 { "Tree_vec3s_5_4_3" } else { "Tree_float_5_4_3" });
        self.string("");
        let offsets = self.0.len();
        self.0.extend_from_slice(&[0; 24]);
        let start = self.0.len() as i64;
        self.u32(ACTIVE_MASK);
        self.u32(if spec.components == 3 { 5 } else { 4 });
        self.meta("class", "string", spec.class.as_bytes());
        self.meta("is_saved_as_half_float", "bool", &[0]);
        self.meta("name", "string", spec.name.as_bytes());
        self.meta("time", "double", &time.to_le_bytes());
        if spec.components == 3 {
            self.meta("vector_type", "string", b"contravariant relative");
        }
        let h = grid.cell;
        self.string("UniformScaleTranslateMap");
        self.doubles((grid.origin + 0.5 * h).to_array());
        // Scale, voxel size, inverse, inverse square, half inverse.
        for value in [h, h, 1.0 / h, 1.0 / (h * h), 0.5 / h] {
            self.doubles([value; 3]);
        }
        self.topology(grid, tree, spec);
        let blocks = self.0.len() as i64;
        self.values(grid, tree, spec);
        let end = self.0.len() as i64;
        for (k, offset) in [start, blocks, end].into_iter().enumerate() {
            self.0[offsets + 8 * k..offsets + 8 * k + 8].copy_from_slice(&offset.to_le_bytes());
        }
    }

    fn topology(&mut self, grid: &GridFields, tree: &Tree, spec: &GridSpec<'_>) {
        self.u32(1);
        self.floats(&[spec.background; 3][..spec.components]);
        self.u32(0);
        self.u32(tree.0.len() as u32);
        for (origin, root) in &tree.0 {
            origin.iter().for_each(|c| self.0.extend_from_slice(&(c * 4096).to_le_bytes()));
            self.node(32 * 32 * 32, root.keys().copied());
            for node in root.values() {
                self.node(16 * 16 * 16, node.keys().copied());
                for _ in node.values() {
                    self.leaf_mask(grid);
                }
            }
        }
    }

    /// An inner node without values: mask of children, empty mask of values, and a byte that marks
    /// the rest as background.
    fn node(&mut self, size: usize, children: impl Iterator<Item = usize>) {
        self.mask(size, children);
        self.mask(size, std::iter::empty());
        self.0.push(0);
    }

    fn leaf_mask(&mut self, grid: &GridFields) {
        // z varies fastest in a leaf; planar runs have only the layer z = 0.
        let layers = grid.layers();
        self.mask(TILE_CELLS, (0..TILE_CELLS).filter(|voxel| voxel % SIDE < layers));
    }

    fn values(&mut self, grid: &GridFields, tree: &Tree, spec: &GridSpec<'_>) {
        for slot in tree.0.values().flat_map(BTreeMap::values).flat_map(BTreeMap::values) {
            self.leaf_mask(grid);
            self.0.push(0);
            for voxel in (0..TILE_CELLS).filter(|voxel| voxel % SIDE < grid.layers()) {
                let [i, j, k] = [voxel / (SIDE * SIDE), voxel / SIDE % SIDE, voxel % SIDE];
                let value = (spec.value)(*slot, (k * SIDE + j) * SIDE + i);
                self.floats(&value[..spec.components]);
            }
        }
    }
}
