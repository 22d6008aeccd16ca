//! One module per format.

mod abc;
mod blender;
mod csv;
mod gltf;
mod maps;
mod mitsuba;
mod obj;
mod parquet;
mod pbrt;
mod ply;
mod povray;
mod solid_meshes;
mod stl;
mod vdb;
mod vtk;

pub use solid_meshes::world_mesh;

use crate::error::ExportError;
use crate::format::Format;
use crate::job::Job;

/// Writes the job's frames.
pub fn write(format: Format, job: &Job<'_>) -> Result<(), ExportError> {
    match format {
        Format::Ply => ply::write(job),
        Format::Obj => obj::write(job),
        Format::Stl => stl::write(job),
        Format::Abc => abc::write(job),
        Format::Usd => crate::usd::write(job),
        Format::Gltf => gltf::write(job),
        Format::Vtk => vtk::write(job),
        Format::Vdb => vdb::write(job),
        Format::Parquet => parquet::write(job),
        Format::Povray => povray::write(job),
        Format::Mitsuba => mitsuba::write(job),
        Format::Pbrt => pbrt::write(job),
        Format::Blender => blender::write(job),
        Format::Maps => maps::write(job),
        Format::Csv => csv::write(job),
    }
}
