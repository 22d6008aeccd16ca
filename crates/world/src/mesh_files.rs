//! Bodies from mesh files: read, scaled, repaired and unwrapped.

use std::path::Path;
use std::sync::Arc;

use glam::DVec3;
use sessile_geometry::files::read_mesh_from;
use sessile_geometry::mesh_distance::MeshDistance;
use sessile_geometry::repair::{Closure, MeshDefect, repair_with};
use sessile_geometry::unwrap::unwrap;
use sessile_geometry::{Distance, TriMesh};
use sessile_input::Reader;
use sessile_scene::types::MeshScale;

use crate::error::WorldError;

/// Purpose of a mesh.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// A solid: may be an open sheet with liquid on its outer side; gets texture coordinates.
    Solid,
    /// Liquid: must enclose a volume.
    Liquid,
}

/// A body from a file, in meters about the file's origin.
pub(crate) struct Body {
    pub distance: Arc<dyn Distance>,
    pub mesh: TriMesh,
    /// The mesh as it is in the file, and the factor from its units to meters.
    pub raw: (TriMesh, f64),
}

/// Reads `file` from `files` for `user` (e.g. "solid `bunny`"); repairs are reported in `notices`.
pub(crate) fn body(
    user: &str,
    file: &Path,
    scale: MeshScale,
    purpose: Use,
    (files, notices): (&dyn Reader, &mut Vec<String>),
) -> Result<Body, WorldError> {
    let unreadable = |reason: String| WorldError::MeshRead { user: user.into(), file: file.into(), reason };
    let raw = read_mesh_from(file, files).map_err(|error| unreadable(error.to_string()))?;
    let mut mesh = raw.clone();
    let factor =
        rescale(&mut mesh, scale).map_err(|reason| unreadable(format!("mesh {}: {reason}", file.display())))?;
    let mut mesh = repaired(user, file, mesh, purpose, notices)?;
    if purpose == Use::Solid && mesh.corner_uvs.is_empty() {
        unwrap(&mut mesh);
    }
    Ok(Body { distance: Arc::new(MeshDistance::new(mesh.clone())), mesh, raw: (raw, factor) })
}

/// Converts file units to meters; returns the factor.
fn rescale(mesh: &mut TriMesh, scale: MeshScale) -> Result<f64, String> {
    let factor = match scale {
        MeshScale::Factor(factor) => factor,
        MeshScale::Height(height) => {
            let used = mesh.triangles.iter().flatten().filter_map(|&v| mesh.positions.get(v as usize)).map(|p| p.y);
            let (low, high) = used.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(y), high.max(y)));
            if high <= low {
                return Err("its y extent is zero, so `height` cannot be used; give `scale` instead".into());
            }
            height / (high - low)
        }
    };
    if !(factor > 0.0 && factor.is_finite()) {
        return Err(format!("the scale factor must be positive, got {factor}"));
    }
    mesh.positions.iter_mut().for_each(|p| *p *= factor);
    Ok(factor)
}

/// Repairs a mesh as a closed body or, for a solid with large holes, as an open sheet.
fn repaired(
    user: &str,
    file: &Path,
    mesh: TriMesh,
    purpose: Use,
    notices: &mut Vec<String>,
) -> Result<TriMesh, WorldError> {
    let broken = |defect: MeshDefect| WorldError::MeshBroken {
        user: user.into(),
        file: file.into(),
        reason: defect.to_string(),
    };
    let name = file.display();
    let (mesh, report) = match repair_with(mesh.clone(), Closure::Required) {
        Err(MeshDefect::Open { loops, .. }) if purpose == Use::Solid => {
            let holes = if loops == 1 { "1 large hole".into() } else { format!("{loops} large holes") };
            notices.push(format!(
                "{user}: mesh {name} is an open sheet ({holes}): its outer side counts as outside, everything behind it as solid"
            ));
            repair_with(mesh, Closure::Optional).map_err(broken)?
        }
        other => other.map_err(broken)?,
    };
    if !report.is_empty() {
        notices.push(format!("{user}: mesh {name} was repaired: {report}"));
    }
    Ok(mesh)
}

/// Volume in m³ and centroid in m of a closed mesh.
///
/// Sums over the tetrahedra that its triangles span with one of its vertices.
pub(crate) fn volume_and_centroid(mesh: &TriMesh) -> (f64, DVec3) {
    // With the world's origin far away, the tetrahedra would nearly cancel.
    let origin = mesh.positions.first().copied().unwrap_or_default();
    let (mut volume, mut moment) = (0.0, DVec3::ZERO);
    for t in 0..mesh.triangles.len() {
        let [a, b, c] = mesh.corners(t).map(|p| p - origin);
        let sixfold = a.dot(b.cross(c));
        volume += sixfold / 6.0;
        moment += (a + b + c) * (sixfold / 24.0);
    }
    (volume, origin + moment / volume)
}
