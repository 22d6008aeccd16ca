//! What a step reads: the mesh, the motion of the solids and the resolved scene.

use sessile_wetting::Liquid;

use crate::acceleration::{AccelerationField, RigidState};
use crate::parameters::Parameters;
use crate::setup::Setup;
use crate::surface_mesh::{SurfaceMesh, TriangleIndex};

/// Read-only inputs of a step.
#[derive(Clone, Copy)]
pub struct StepContext<'a> {
    /// Mesh of all solids.
    pub surface: &'a SurfaceMesh,
    /// Acceleration field of each solid.
    pub accelerations: &'a [AccelerationField],
    /// Pose and velocity of each solid.
    pub rigid_states: &'a [RigidState],
    /// The resolved scene.
    pub setup: &'a Setup,
}

impl<'a> StepContext<'a> {
    /// The liquid.
    #[inline]
    pub fn liquid(&self) -> &'a Liquid {
        &self.setup.liquid
    }

    /// Tunable parameters.
    #[inline]
    pub fn parameters(&self) -> &'a Parameters {
        &self.setup.parameters
    }

    /// Acceleration field of the solid of a triangle, or of the triangle if the solid deforms.
    #[inline]
    pub fn acceleration(&self, triangle: TriangleIndex) -> &'a AccelerationField {
        let solid = self.surface.facet(triangle).solid;
        match &self.setup.deforming[solid] {
            None => &self.accelerations[solid],
            Some(deforming) => &deforming.state.fields[triangle.to_usize() - self.surface.range_of(solid).start],
        }
    }
}
