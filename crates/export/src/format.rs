//! The formats, by name.

use std::path::Path;
use std::str::FromStr;

use crate::error::ExportError;
use sessile_output::Layout;

/// A format that a run can be exported to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Universal Scene Description, binary.
    Usd,
    /// Alembic (Ogawa).
    Abc,
    /// glTF 2.0, binary.
    Gltf,
    /// Stanford PLY.
    Ply,
    /// Wavefront OBJ.
    Obj,
    /// Stereolithography.
    Stl,
    /// VTK XML, for ParaView.
    Vtk,
    /// OpenVDB.
    Vdb,
    /// POV-Ray.
    Povray,
    /// Mitsuba 3.
    Mitsuba,
    /// pbrt-v4.
    Pbrt,
    /// A Python script for Blender.
    Blender,
    /// Measures as CSV.
    Csv,
    /// Measures as Apache Parquet.
    Parquet,
}

impl Format {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 14] = [
        Self::Usd,
        Self::Abc,
        Self::Gltf,
        Self::Ply,
        Self::Obj,
        Self::Stl,
        Self::Vtk,
        Self::Vdb,
        Self::Povray,
        Self::Mitsuba,
        Self::Pbrt,
        Self::Blender,
        Self::Csv,
        Self::Parquet,
    ];

    /// As typed after `--to`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Usd => "usd",
            Self::Abc => "abc",
            Self::Gltf => "gltf",
            Self::Ply => "ply",
            Self::Obj => "obj",
            Self::Stl => "stl",
            Self::Vtk => "vtk",
            Self::Vdb => "vdb",
            Self::Povray => "povray",
            Self::Mitsuba => "mitsuba",
            Self::Pbrt => "pbrt",
            Self::Blender => "blender",
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }

    /// What it writes at its destination.
    pub fn layout(self) -> Layout {
        match self {
            Self::Usd | Self::Vtk | Self::Blender => Layout::FileAndFolder,
            Self::Abc | Self::Gltf | Self::Csv | Self::Parquet => Layout::File,
            Self::Ply | Self::Obj | Self::Stl | Self::Vdb | Self::Povray | Self::Mitsuba | Self::Pbrt => Layout::Folder,
        }
    }

    /// How the destination's name may end; a folder's name is free.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Usd => &["usdc", "usd"],
            Self::Abc => &["abc"],
            Self::Gltf => &["glb"],
            Self::Vtk => &["pvd"],
            Self::Blender => &["py"],
            Self::Csv => &["csv"],
            Self::Parquet => &["parquet"],
            _ => &[],
        }
    }

    /// Whether the measures are all that it takes of a run.
    pub fn is_table(self) -> bool {
        matches!(self, Self::Csv | Self::Parquet)
    }

    /// Refuses a destination whose name promises something else.
    pub fn check_name(self, path: &Path) -> Result<(), ExportError> {
        let extensions = self.extensions();
        let found = path.extension().and_then(|found| found.to_str()).unwrap_or_default().to_ascii_lowercase();
        let wrong = |wants: String| ExportError::Name { format: self.name(), wants, path: path.to_owned() };
        if path.file_name().is_none() {
            return Err(wrong("something with a name".into()));
        }
        if extensions.is_empty() {
            // A folder that is called like a file was most likely meant as one.
            let all = Self::ALL.iter().flat_map(|format| format.extensions());
            let like_file = all.chain(&["ply", "obj", "stl", "vdb", "pov", "xml", "pbrt", "usda"]).any(|e| *e == found);
            return if like_file { Err(wrong("a folder with one file per frame".into())) } else { Ok(()) };
        }
        if extensions.contains(&found.as_str()) {
            return Ok(());
        }
        let names: Vec<String> = extensions.iter().map(|extension| format!(".{extension}")).collect();
        Err(wrong(format!("one file with a name that ends in {}", names.join(" or "))))
    }
}

impl FromStr for Format {
    type Err = ExportError;

    fn from_str(text: &str) -> Result<Self, ExportError> {
        let lower = text.to_ascii_lowercase();
        let same = |format: &Self| format.name() == lower || format.extensions().contains(&lower.as_str());
        Self::ALL.into_iter().find(same).ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|format| format.name()).collect();
            ExportError::UnknownFormat { name: text.to_owned(), known: known.join(", ") }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_found_by_its_name_and_others_are_told_what_there_is() {
        for format in Format::ALL {
            assert_eq!(format.name().parse::<Format>().unwrap(), format);
        }
        assert_eq!("glb".parse::<Format>().unwrap(), Format::Gltf);
        let error = "fbx".parse::<Format>().unwrap_err().to_string();
        assert!(error.starts_with("there is no format `fbx`; there are usd, abc, "), "{error}");
    }

    #[test]
    fn names_that_promise_another_kind_of_file_are_refused() {
        for (format, name) in [(Format::Usd, "a/drops.usdc"), (Format::Ply, "a/frames")] {
            let answer = format.check_name(Path::new(name)).map_err(|error| error.to_string());
            assert_eq!(answer, Ok(()), "{format:?} to {name}");
        }
        for (format, name) in
            [(Format::Usd, "drops.usda"), (Format::Usd, "drops"), (Format::Ply, "a.ply"), (Format::Csv, "..")]
        {
            let error = format.check_name(Path::new(name)).expect_err(name).to_string();
            assert!(error.contains(name), "{format:?} to {name}: {error}");
        }
    }
}
