//! One file per format.

mod abc;
mod csv;
mod gltf;
mod obj;
mod parquet;
mod ply;
mod solid_files;
mod stl;
mod vdb;
mod vtk;

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
        Format::Csv => csv::write(job),
    }
}
