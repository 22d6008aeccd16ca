//! The export formats.

use std::path::Path;
use std::str::FromStr;

use sessile_output::Layout;

use crate::error::ExportError;

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
    /// Height and normal maps of panes.
    Maps,
    /// Measures as CSV.
    Csv,
    /// Measures as Apache Parquet.
    Parquet,
}

impl Format {
    /// All formats, in the order of the documentation.
    pub const ALL: [Self; 15] = [
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
        Self::Maps,
        Self::Csv,
        Self::Parquet,
    ];

    /// Its name on the command line.
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
            Self::Maps => "maps",
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }

    /// The files that it writes.
    pub fn layout(self) -> Layout {
        match self {
            Self::Usd | Self::Vtk | Self::Blender => Layout::FileAndFolder,
            Self::Abc | Self::Gltf | Self::Csv | Self::Parquet => Layout::File,
            Self::Ply | Self::Obj | Self::Stl | Self::Vdb | Self::Povray | Self::Mitsuba | Self::Pbrt | Self::Maps => {
                Layout::Folder
            }
        }
    }

    /// Allowed extensions of the destination; none for formats that write a folder.
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

    /// The name as its authors write it, for messages.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Usd => "USD",
            Self::Abc => "Alembic",
            Self::Gltf => "glTF",
            Self::Ply => "PLY",
            Self::Obj => "OBJ",
            Self::Stl => "STL",
            Self::Vtk => "VTK",
            Self::Vdb => "OpenVDB",
            Self::Povray => "POV-Ray",
            Self::Mitsuba => "Mitsuba",
            Self::Pbrt => "pbrt",
            Self::Blender => "Blender",
            Self::Maps => "maps",
            Self::Csv => "CSV",
            Self::Parquet => "Parquet",
        }
    }

    /// Checks that the destination's name fits the format.
    pub(crate) fn check_destination(self, path: &Path) -> Result<(), ExportError> {
        let extensions = self.extensions();
        let found = path.extension().and_then(|found| found.to_str()).unwrap_or_default().to_ascii_lowercase();
        let wrong = |expected: String| {
            Err(ExportError::DestinationName { format: self.title(), expected, path: path.to_owned() })
        };
        if path.file_name().is_none() {
            return wrong("a file or folder with a name".into());
        }
        // The name enters the written files; not all formats can represent these characters.
        let name = path.file_name().and_then(|name| name.to_str());
        if name.is_none_or(|name| name.contains(|c: char| c.is_control() || c == '\\')) {
            return wrong("a file or folder without control characters and backslashes in its name".into());
        }
        if extensions.is_empty() {
            // A folder named like a file is most likely a misunderstanding.
            let all = Self::ALL.iter().flat_map(|format| format.extensions());
            let like_file = all.chain(&["ply", "obj", "stl", "vdb", "pov", "xml", "pbrt", "usda"]).any(|e| *e == found);
            return if like_file { wrong("a folder, with one file per frame".into()) } else { Ok(()) };
        }
        if extensions.contains(&found.as_str()) {
            return Ok(());
        }
        let names: Vec<String> = extensions.iter().map(|extension| format!(".{extension}")).collect();
        wrong(format!("a file ending in {}", names.join(" or ")))
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
    fn formats_are_found_by_name_and_unknown_names_list_them_all() {
        for format in Format::ALL {
            assert_eq!(format.name().parse::<Format>().unwrap(), format);
        }
        assert_eq!("glb".parse::<Format>().unwrap(), Format::Gltf);
        let error = "fbx".parse::<Format>().unwrap_err().to_string();
        assert!(error.starts_with("unknown format `fbx`: expected one of usd, abc, "), "{error}");
    }

    #[test]
    fn destinations_must_fit_the_format() {
        for (format, name) in [(Format::Usd, "a/drops.usdc"), (Format::Ply, "a/frames")] {
            let answer = format.check_destination(Path::new(name)).map_err(|error| error.to_string());
            assert_eq!(answer, Ok(()), "{format:?} to {name}");
        }
        for (format, name) in
            [(Format::Usd, "drops.usda"), (Format::Usd, "drops"), (Format::Ply, "a.ply"), (Format::Csv, "..")]
        {
            let error = format.check_destination(Path::new(name)).expect_err(name).to_string();
            assert!(error.ends_with(&format!("(got {name})")), "{format:?} to {name}: {error}");
        }
        let error = Format::Gltf.check_destination(Path::new("x.usdc")).expect_err("a USD file").to_string();
        assert_eq!(error, "glTF output must be a file ending in .glb (got x.usdc)");
    }
}
