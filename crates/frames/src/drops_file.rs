//! `frames/00000.drops`: the instances of a frame, from which its surfaces are made.
//!
//! A sealed file (see [`crate::container`]) of one block: the instances, in postcard. Half a
//! million drops take tens of megabytes instead of gigabytes of triangles.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sessile_shapes::{Detail, Instance};

use crate::atomic::{self, Durability, FileError};
use crate::container::{self, Block, Format, SealError};
use crate::frame::Surface;
use crate::instances::{InstanceError, surface_with, validate};
use crate::ply::FrameId;

/// Format of the file. Version 2 adds draped bodies and version 3 patches among them; versions 1
/// and 2 can be read.
const FORMAT: Format = Format { magic: *b"SESSDROP", version: 3 };

/// A `.drops` file that could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DropsError {
    /// A file operation failed.
    #[error(transparent)]
    File(#[from] FileError),
    /// Damaged, of another version, or something else.
    #[error("{} {reason}", path.display())]
    Sealed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: SealError,
    },
    /// One of its instances is invalid.
    #[error("{}: {reason}", path.display())]
    Instance {
        /// The file.
        path: PathBuf,
        /// Which one, and why.
        reason: InstanceError,
    },
}

#[derive(Serialize, Deserialize)]
struct Header {
    frame: u64,
    time: f64,
    count: u64,
}

/// Writes the instances of a frame atomically.
pub fn write(path: &Path, instances: &[Instance], id: FrameId, durability: Durability) -> Result<(), DropsError> {
    for instance in instances {
        validate(instance).map_err(|reason| DropsError::Instance { path: path.to_owned(), reason })?;
    }
    let header = Header { frame: id.frame, time: id.time, count: instances.len() as u64 };
    let bytes = postcard::to_stdvec(instances).expect("instances are plain data");
    let sealed = container::seal(FORMAT, &header, &[Block { name: "instances".into(), bytes }]);
    Ok(atomic::write(path, &sealed, durability)?)
}

/// Reads the instances of a frame.
pub fn read(path: &Path) -> Result<(Vec<Instance>, FrameId), DropsError> {
    let sealed = |reason| DropsError::Sealed { path: path.to_owned(), reason };
    let bytes = atomic::read(path)?;
    let (header, blocks): (Header, _) = container::unseal_versions(FORMAT, 1, &bytes).map_err(sealed)?;
    let bytes = blocks.first().map_or(&[][..], |block| &block.bytes);
    let instances: Vec<Instance> =
        postcard::from_bytes(bytes).map_err(|error| sealed(SealError::Contents(error.to_string())))?;
    if instances.len() as u64 != header.count {
        let found = format!("{} drops for {}", instances.len(), header.count);
        return Err(sealed(SealError::Contents(found)));
    }
    Ok((instances, FrameId { frame: header.frame, time: header.time }))
}

/// Reads the instances of a frame and tessellates each at the resolution that `detail` returns.
pub fn read_surface(
    path: &Path,
    detail: &(dyn Fn(&Instance) -> Detail + Sync),
) -> Result<(Surface, FrameId), DropsError> {
    let (instances, id) = read(path)?;
    let surface =
        surface_with(&instances, detail).map_err(|reason| DropsError::Instance { path: path.to_owned(), reason })?;
    // Finite parameters can still describe a surface beyond single precision.
    surface.validate().map_err(|reason| DropsError::Sealed {
        path: path.to_owned(),
        reason: SealError::Contents(reason.to_string()),
    })?;
    Ok((surface, id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instances::{samples, surface_of};

    #[test]
    fn instances_are_read_back_unchanged_or_as_their_surfaces() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("00003.drops");
        let (instances, id) = (samples::row(40), FrameId { frame: 3, time: 0.1 });
        write(&path, &instances, id, Durability::Handed).unwrap();
        assert_eq!(read(&path).unwrap(), (instances.clone(), id));
        let whole = (surface_of(&instances).unwrap(), id);
        assert_eq!(read_surface(&path, &|_| Detail::default()).unwrap(), whole);
        let coarse = read_surface(&path, &|_| Detail { edge: 1.0, fewest: 5, most: 40 }).unwrap().0;
        assert!(3 * coarse.triangles.len() < whole.0.triangles.len(), "{} triangles", coarse.triangles.len());
        // Files of earlier versions have the same layout.
        for version in [1, 2] {
            let header = Header { frame: 3, time: 0.1, count: 40 };
            let bytes = postcard::to_stdvec(&instances).unwrap();
            let earlier = Format { version, ..FORMAT };
            let sealed = container::seal(earlier, &header, &[Block { name: "instances".into(), bytes }]);
            std::fs::write(&path, sealed).unwrap();
            assert_eq!(read(&path).unwrap(), (instances.clone(), id));
        }
    }

    #[test]
    fn a_flipped_byte_and_an_invalid_drop_are_errors_that_name_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("00003.drops");
        let mut instances = samples::row(4);
        write(&path, &instances, FrameId { frame: 3, time: 0.1 }, Durability::Handed).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("00003.drops is damaged (checksum "), "{error}");

        instances[2].volume = -1.0;
        let error =
            write(&path, &instances, FrameId { frame: 3, time: 0.1 }, Durability::Handed).unwrap_err().to_string();
        assert!(error.contains("drop 3: its volume must be above 0, found -1 m³"), "{error}");
    }
}
