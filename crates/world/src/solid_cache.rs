//! Solids of earlier scenes, for scenes that differ in other things.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use sessile_input::Reader;
use sessile_scene::types as scene;

use crate::error::WorldError;
use crate::materials::BuiltMaterial;
use crate::solid::Solid;

/// Solids whose meshes and distance structures are kept; of more, all are dropped.
const MAX_SOLIDS: usize = 256;

/// Meshes and distance structures of solids, by shape and placement.
///
/// A dataset builds thousands of scenes with the same solids: a mesh file is read, repaired and
/// unwrapped once for all of them.
#[derive(Debug, Default)]
pub struct SolidCache {
    solids: Mutex<BTreeMap<String, Kept>>,
}

#[derive(Debug)]
struct Kept {
    solid: Solid,
    notices: Vec<String>,
}

impl SolidCache {
    /// The solid with shared structures, built if it is new. Its notices are repeated.
    pub(crate) fn get(
        &self,
        index: usize,
        solid: &scene::Solid,
        material: Arc<BuiltMaterial>,
        files: &dyn Reader,
        notices: &mut Vec<String>,
    ) -> Result<Solid, WorldError> {
        // The name is in the notices.
        let key = format!("{:?}", (&solid.name, &solid.shape, solid.rotate, solid.shift));
        // Locked while it is built: other threads wait for it rather than build it too.
        let mut solids = self.solids.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = solids.get(&key) {
            notices.extend(kept.notices.iter().cloned());
            return Ok(kept.solid.reused(index, solid, material));
        }
        let mut new = Vec::new();
        let built = Solid::build(index, solid, material, files, &mut new)?;
        notices.extend(new.iter().cloned());
        if solids.len() >= MAX_SOLIDS {
            solids.clear();
        }
        solids.insert(key, Kept { solid: built.clone(), notices: new });
        Ok(built)
    }
}
