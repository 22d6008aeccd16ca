//! The mesh of a solid, built when it is used.
//!
//! A scene may have thousands of solids of which drops touch a few. The mesh of a primitive takes a
//! megabyte and a millisecond; it is kept only after [`RestMesh::get`].

use std::sync::{Arc, OnceLock};

use glam::DVec3;
use sessile_geometry::TriMesh;

/// How the mesh of a primitive is built, in its local coordinates.
pub(crate) type MeshBuilder = Box<dyn Fn() -> TriMesh + Send + Sync>;

/// A mesh in the rest pose.
pub(crate) struct RestMesh {
    /// Builds the mesh; not needed for the mesh of a file.
    build: Option<MeshBuilder>,
    built: OnceLock<Arc<TriMesh>>,
    /// Bounding box: lower and upper corner, in m.
    pub bounds: [DVec3; 2],
    /// Center and radius of a bounding ball, in m.
    pub ball: (DVec3, f64),
    /// Area, in m².
    pub area: f64,
}

impl RestMesh {
    /// A mesh that is in memory already.
    pub fn of_file(mesh: TriMesh) -> Self {
        let measured = Self::measured(&mesh);
        Self { built: OnceLock::from(Arc::new(mesh)), ..measured }
    }

    /// A mesh that `build` builds, the same every time.
    pub fn of_primitive(build: MeshBuilder) -> Self {
        let measured = Self::measured(&build());
        Self { build: Some(build), ..measured }
    }

    /// Moves the vertices of a mesh that is in memory and not shared; returns whether it is.
    pub fn move_vertices(&mut self, positions: &[DVec3]) -> bool {
        let Some(mesh) = self.built.get_mut().and_then(Arc::get_mut) else { return false };
        mesh.positions.copy_from_slice(positions);
        let Self { bounds, ball, area, .. } = Self::measured(mesh);
        (self.bounds, self.ball, self.area) = (bounds, ball, area);
        true
    }

    fn measured(mesh: &TriMesh) -> Self {
        let start = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        let bounds = mesh.positions.iter().fold(start, |[low, high], p| [low.min(*p), high.max(*p)]);
        let ball = crate::solid::bounding_ball_of(&mesh.positions);
        Self { build: None, built: OnceLock::new(), bounds, ball, area: mesh.area() }
    }

    /// The mesh, kept from now on.
    pub fn get(&self) -> &Arc<TriMesh> {
        self.built.get_or_init(|| Arc::new(self.make()))
    }

    /// The mesh for a single use, not kept.
    pub fn once(&self) -> Arc<TriMesh> {
        self.built.get().map_or_else(|| Arc::new(self.make()), Arc::clone)
    }

    fn make(&self) -> TriMesh {
        self.build.as_ref().map(|build| build()).unwrap_or_default()
    }
}
