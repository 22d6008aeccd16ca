//! The liquid's mesh, by frame.

use super::crate_file::{Crate, Prim, Value};
use super::{Layer, extent};
use crate::error::ExportError;
use crate::source::LoadedFrame;

impl Layer<'_> {
    /// Adds the liquid's mesh; each frame is written as soon as it has been read.
    pub(super) fn liquid(&mut self) -> Result<Prim, ExportError> {
        let job = self.job;
        let mut columns = Columns::default();
        let file = &mut self.file;
        job.for_each_frame(|frame| columns.push(file, &frame))?;
        let mut mesh = Prim::new(file, "Liquid", "Mesh");
        let schemas = file.prepended_tokens(&["MaterialBindingAPI"])?;
        mesh.field("apiSchemas", schemas);
        let times = self.frame_times()?;
        let file = &mut self.file;
        for (name, kind, values) in [
            ("points", "point3f[]", &columns.points),
            ("velocities", "vector3f[]", &columns.velocities),
            ("faceVertexCounts", "int[]", &columns.counts),
            ("faceVertexIndices", "int[]", &columns.indices),
            ("extent", "float3[]", &columns.extents),
        ] {
            let samples = file.samples(times, values)?;
            mesh.attribute(file, name, kind, &[("timeSamples", samples)]);
        }
        for (name, interpolation, values) in
            [("primvars:drop", "vertex", &columns.drops), ("primvars:solid", "uniform", &columns.solids)]
        {
            let (samples, interpolation) = (file.samples(times, values)?, file.token(interpolation));
            mesh.attribute(file, name, "int[]", &[("interpolation", interpolation), ("timeSamples", samples)]);
        }
        let (none, right) = (file.token("none"), file.token("rightHanded"));
        mesh.uniform(file, "subdivisionScheme", "token", none);
        mesh.uniform(file, "orientation", "token", right);
        mesh.relationship(file, "material:binding", "/World/Looks/Water")?;
        Ok(mesh)
    }
}

/// Triangles, drops of vertices and solids of triangles, which often stay the same while vertices
/// move.
type Topology = (Vec<[u32; 3]>, Vec<u32>, Vec<i32>);

/// The liquid's arrays, one per frame.
#[derive(Default)]
struct Columns {
    points: Vec<Value>,
    velocities: Vec<Value>,
    counts: Vec<Value>,
    indices: Vec<Value>,
    extents: Vec<Value>,
    drops: Vec<Value>,
    solids: Vec<Value>,
    /// Topology of the previous frame: where it stays the same, its arrays are shared.
    previous: Option<Topology>,
}

impl Columns {
    /// Writes the arrays of a frame.
    fn push(&mut self, file: &mut Crate, frame: &LoadedFrame) -> Result<(), ExportError> {
        let liquid = &frame.liquid;
        let points: Vec<[f32; 3]> = liquid.positions.iter().map(|p| p.as_vec3().to_array()).collect();
        let velocities: Vec<[f32; 3]> = liquid.velocities.iter().map(|v| v.as_vec3().to_array()).collect();
        self.points.push(file.vec3f_array(&points)?);
        self.velocities.push(file.vec3f_array(&velocities)?);
        self.extents.push(file.vec3f_array(&extent(&points))?);
        let same = self.previous.as_ref().is_some_and(|(triangles, drops, solids)| {
            *triangles == liquid.triangles && *drops == liquid.drops && *solids == liquid.solids
        });
        if same {
            for column in [&mut self.counts, &mut self.indices, &mut self.drops, &mut self.solids] {
                column.extend(column.last().copied());
            }
            return Ok(());
        }
        let signed = |values: &[u32]| values.iter().map(|v| v.cast_signed()).collect::<Vec<i32>>();
        self.counts.push(file.int_array(&vec![3; liquid.triangles.len()])?);
        self.indices.push(file.int_array(&signed(liquid.triangles.as_flattened()))?);
        self.drops.push(file.int_array(&signed(&liquid.drops))?);
        self.solids.push(file.int_array(&liquid.solids)?);
        self.previous = Some((liquid.triangles.clone(), liquid.drops.clone(), liquid.solids.clone()));
        Ok(())
    }
}
