//! VTK XML, for ParaView: surfaces as `.vtp`, grids as `.vti`, and a `.pvd` that lists them by
//! time.
//!
//! ```text
//! liquid/00000.vtp   points: velocity (m/s), drop; faces: solid (−1 for liquid–air)
//! solids/NAME.vtp    each solid; one file per frame where it moves
//! grid/00000.vti     where the run has fields: phi (m), velocity at cell centers (m/s),
//!                    pressure (Pa), active (1 in stored cells)
//! ```
//!
//! Arrays are appended raw, little-endian. The grid is dense over the bounding box of the stored
//! tiles; cells outside the tiles are air, with the largest phi.

use std::fmt::Write;

use sessile_frames::GridFields;
use sessile_frames::fields::{SIDE, TILE_CELLS};
use sessile_frames::names::frame_file;
use sessile_geometry::TriMesh;
use sessile_output::escape::xml;

use super::solid_meshes;
use crate::error::ExportError;
use crate::job::Job;
use crate::source::LoadedFrame;

/// Most cells of the dense grid; each takes 21 bytes.
const MAX_CELLS: u64 = 1 << 28;

pub fn write(job: &Job<'_>) -> Result<(), ExportError> {
    let source = job.source;
    let folder = job.destination.companion_name();
    if !source.scene.output.fields && source.used_a_grid()? {
        job.progress.notice(
            "the run has no grid fields; simulate it with `--set output.fields=true` to export phi, velocity and pressure",
        );
    }
    solid_meshes::write(job, "vtp", |_, mesh| solid_file(mesh))?;
    let mut entries = String::new();
    let mut entry = |time: f64, part: usize, name: &str, file: &str| {
        let (name, file) = (xml::text(name), xml::text(&format!("{folder}/{file}")));
        let _ = writeln!(entries, r#"    <DataSet timestep="{time}" part="{part}" name="{name}" file="{file}"/>"#);
    };
    job.for_each_frame(|frame| {
        let file = format!("liquid/{}", frame_file(frame.shown, "vtp"));
        job.write_file(&file, &liquid_file(&frame))?;
        entry(frame.time, 0, "liquid", &file);
        if let Some(grid) = source.folder.read_fields(frame.number)? {
            let file = format!("grid/{}", frame_file(frame.shown, "vti"));
            job.write_file(&file, &grid_file(&grid, frame.time)?)?;
            entry(frame.time, source.solids.len() + 1, "grid", &file);
        }
        for (index, name) in source.solids.iter().enumerate() {
            let moves = source.world.solids()[index].moves();
            let file =
                if moves { format!("solids/{name}-{:05}.vtp", frame.shown) } else { format!("solids/{name}.vtp") };
            entry(frame.time, index + 1, name, &file);
        }
        Ok(())
    })?;
    let mut sink = job.destination.file()?;
    sink.text(&format!(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n  \
         <Collection>\n{entries}  </Collection>\n</VTKFile>\n"
    ))?;
    Ok(sink.finish()?)
}

/// The XML text of a file, and the appended arrays.
struct Document {
    text: String,
    arrays: Vec<u8>,
}

impl Document {
    fn new(kind: &str) -> Self {
        let text = format!(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"{kind}\" version=\"1.0\" byte_order=\"LittleEndian\" \
             header_type=\"UInt64\">\n"
        );
        Self { text, arrays: Vec::new() }
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn time(&mut self, time: f64) {
        self.line(&format!(
            "<FieldData><DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" \
             format=\"ascii\">{time}</DataArray></FieldData>"
        ));
    }

    fn array(&mut self, kind: &str, name: &str, components: usize, bytes: impl Iterator<Item = u8>) {
        let offset = self.arrays.len();
        self.line(&format!(
            "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"appended\" \
             offset=\"{offset}\"/>"
        ));
        self.arrays.extend_from_slice(&[0; 8]);
        self.arrays.extend(bytes);
        let size = (self.arrays.len() - offset - 8) as u64;
        self.arrays[offset..offset + 8].copy_from_slice(&size.to_le_bytes());
    }

    fn points(&mut self, positions: &[glam::DVec3]) {
        self.line("<Points>");
        self.array(
            "Float32",
            "Points",
            3,
            positions.iter().flat_map(|p| p.as_vec3().to_array()).flat_map(f32::to_le_bytes),
        );
        self.line("</Points>");
    }

    fn triangles(&mut self, triangles: &[[u32; 3]]) {
        self.line("<Polys>");
        self.array("Int64", "connectivity", 1, triangles.iter().flatten().flat_map(|&v| i64::from(v).to_le_bytes()));
        self.array("Int64", "offsets", 1, (1..=triangles.len() as i64).flat_map(|k| (3 * k).to_le_bytes()));
        self.line("</Polys>");
    }

    fn finish(mut self) -> Vec<u8> {
        self.text.push_str("<AppendedData encoding=\"raw\">\n_");
        let mut bytes = self.text.into_bytes();
        bytes.extend_from_slice(&self.arrays);
        bytes.extend_from_slice(b"\n</AppendedData>\n</VTKFile>\n");
        bytes
    }
}

fn piece(points: usize, triangles: usize) -> String {
    format!(
        "<Piece NumberOfPoints=\"{points}\" NumberOfVerts=\"0\" NumberOfLines=\"0\" NumberOfStrips=\"0\" \
         NumberOfPolys=\"{triangles}\">"
    )
}

fn liquid_file(frame: &LoadedFrame) -> Vec<u8> {
    let liquid = &frame.liquid;
    let mut file = Document::new("PolyData");
    file.line("<PolyData>");
    file.time(frame.time);
    file.line(&piece(liquid.positions.len(), liquid.triangles.len()));
    file.line("<PointData Scalars=\"drop\" Vectors=\"velocity\">");
    let velocities = liquid.velocities.iter().flat_map(|v| v.as_vec3().to_array()).flat_map(f32::to_le_bytes);
    file.array("Float32", "velocity", 3, velocities);
    file.array("Int32", "drop", 1, liquid.drops.iter().flat_map(|drop| drop.to_le_bytes()));
    file.line("</PointData>\n<CellData Scalars=\"solid\">");
    file.array("Int32", "solid", 1, liquid.solids.iter().flat_map(|solid| solid.to_le_bytes()));
    file.line("</CellData>");
    file.points(&liquid.positions);
    file.triangles(&liquid.triangles);
    file.line("</Piece>\n</PolyData>");
    file.finish()
}

fn solid_file(mesh: &TriMesh) -> Vec<u8> {
    let mut file = Document::new("PolyData");
    file.line("<PolyData>");
    file.line(&piece(mesh.positions.len(), mesh.triangles.len()));
    file.points(&mesh.positions);
    file.triangles(&mesh.triangles);
    file.line("</Piece>\n</PolyData>");
    file.finish()
}

/// The fields of a run on the dense box around their tiles; x varies fastest.
struct DenseGrid {
    /// Index of the first cell.
    low: [i64; 3],
    /// Number of cells along each axis.
    size: [u64; 3],
    phi: Vec<f32>,
    velocity: Vec<[f32; 3]>,
    pressure: Vec<f32>,
    /// 1 in cells of a tile.
    active: Vec<u8>,
}

impl DenseGrid {
    fn new(grid: &GridFields) -> Result<Self, ExportError> {
        let (low, size) = cell_box(grid);
        let count = size.iter().try_fold(1_u64, |product, n| product.checked_mul(*n)).unwrap_or(u64::MAX);
        if count > MAX_CELLS {
            let what = format!(
                "{} × {} × {} cells around the liquid, and at most {MAX_CELLS} are written; export to vdb, which stores \
                 only cells near the liquid",
                size[0], size[1], size[2]
            );
            return Err(ExportError::TooLarge { format: "VTK", what });
        }
        let count = count as usize;
        let background = grid.phi.iter().copied().fold(grid.cell as f32, f32::max);
        let mut dense = Self {
            low,
            size,
            phi: vec![background; count],
            velocity: vec![[0.0; 3]; count],
            pressure: vec![0.0; count],
            active: vec![0; count],
        };
        for (slot, tile) in grid.tiles.iter().enumerate() {
            for local in 0..grid.layers() * SIDE * SIDE {
                let inside = [local % SIDE, local / SIDE % SIDE, local / (SIDE * SIDE)];
                let [i, j, k] = [0, 1, 2].map(|a| (i64::from(tile[a]) * SIDE as i64 - low[a]) as usize + inside[a]);
                let at = (k * size[1] as usize + j) * size[0] as usize + i;
                let index = slot * TILE_CELLS + local;
                dense.phi[at] = grid.phi[index];
                dense.pressure[at] = grid.pressure[index];
                dense.velocity[at] = grid.velocity_at_center(slot, local);
                dense.active[at] = 1;
            }
        }
        Ok(dense)
    }
}

/// Lowest cell and number of cells of the box around the tiles.
fn cell_box(grid: &GridFields) -> ([i64; 3], [u64; 3]) {
    let side = SIDE as i64;
    let start = [[i64::MAX; 3], [i64::MIN; 3]];
    let [low, high] = grid.tiles.iter().fold(start, |[low, high], tile| {
        let at = |axis: usize| i64::from(tile[axis]) * side;
        [[0, 1, 2].map(|a| low[a].min(at(a))), [0, 1, 2].map(|a| high[a].max(at(a) + side))]
    });
    let [low, mut high] = if grid.tiles.is_empty() { [[0; 3]; 2] } else { [low, high] };
    if grid.planar && !grid.tiles.is_empty() {
        high[2] = low[2] + 1;
    }
    (low, [0, 1, 2].map(|a| (high[a] - low[a]) as u64))
}

fn grid_file(grid: &GridFields, time: f64) -> Result<Vec<u8>, ExportError> {
    let DenseGrid { low, size, phi, velocity, pressure, active } = DenseGrid::new(grid)?;
    let extent = format!("0 {} 0 {} 0 {}", size[0], size[1], size[2]);
    let origin = [0, 1, 2].map(|a| grid.origin[a] + grid.cell * low[a] as f64);
    let mut file = Document::new("ImageData");
    file.line(&format!(
        "<ImageData WholeExtent=\"{extent}\" Origin=\"{} {} {}\" Spacing=\"{h} {h} {h}\">",
        origin[0],
        origin[1],
        origin[2],
        h = grid.cell
    ));
    file.time(time);
    file.line(&format!("<Piece Extent=\"{extent}\">\n<PointData/>\n<CellData Scalars=\"phi\" Vectors=\"velocity\">"));
    file.array("Float32", "phi", 1, phi.iter().flat_map(|value| value.to_le_bytes()));
    file.array("Float32", "velocity", 3, velocity.iter().flatten().flat_map(|value| value.to_le_bytes()));
    file.array("Float32", "pressure", 1, pressure.iter().flat_map(|value| value.to_le_bytes()));
    file.array("UInt8", "active", 1, active.into_iter());
    file.line("</CellData>\n</Piece>\n</ImageData>");
    Ok(file.finish())
}
