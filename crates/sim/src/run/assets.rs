//! Files that a scene uses, identified by content: a run resumes only with the files it started
//! with.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sessile_scene::types::{DropShape, Scene, SolidShape, Varying};

/// A file and the BLAKE3 hash of its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Asset {
    pub file: PathBuf,
    hash: [u8; 32],
}

/// Meshes and images that the simulation depends on, in scene order; files used only for rendering
/// are left out.
pub(super) fn of_scene(scene: &Scene) -> Result<Vec<Asset>, (PathBuf, io::Error)> {
    let image = |value: &Varying| match value {
        Varying::Image { file, .. } => Some(file.clone()),
        Varying::Uniform(_) => None,
    };
    let mut files: Vec<PathBuf> = Vec::new();
    for material in &scene.materials {
        let varying = [
            Some(&material.advancing),
            Some(&material.receding),
            material.wet_advancing.as_ref(),
            Some(&material.affinity),
            Some(&material.roughness[0]),
            Some(&material.roughness[1]),
            Some(&material.adhesion),
            material.friction.as_ref(),
        ];
        files.extend(varying.into_iter().flatten().filter_map(image));
    }
    for solid in &scene.solids {
        if let SolidShape::Mesh { file, deform, .. } = &solid.shape {
            files.push(file.clone());
            files.extend(deform.iter().map(|sample| sample.file.clone()));
        }
    }
    files.extend(scene.drops.iter().filter_map(|drop| match &drop.shape {
        DropShape::Mesh { file, .. } => Some(file.clone()),
        _ => None,
    }));
    files
        .into_iter()
        .map(|file| hash(&file).map(|hash| Asset { file: file.clone(), hash }).map_err(|error| (file, error)))
        .collect()
}

fn hash(file: &Path) -> io::Result<[u8; 32]> {
    Ok(blake3::hash(&sessile_input::read(file, sessile_input::MAX_MESH)?).into())
}

/// The first file whose contents have changed.
pub(super) fn changed<'a>(before: &[Asset], now: &'a [Asset]) -> Option<&'a Path> {
    let same = |asset: &&Asset| before.iter().any(|old| old.hash == asset.hash && old.file == asset.file);
    now.iter().find(|asset| !same(asset)).map(|asset| asset.file.as_path())
}
