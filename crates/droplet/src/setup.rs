//! Resolves a scene for the droplet model: meshes, substrate, force model and constants.

use glam::{DVec2, DVec3};
use sessile_geometry::TriMesh;
use sessile_geometry::bvh::Bounds;
use sessile_geometry::mesh_distance::MeshDistance;
use sessile_scene::{Fidelity as SceneFidelity, Scene, Side, SolidShape};
use sessile_wetting::{Liquid, cap};
use sessile_world::{Solid, World};

use crate::acceleration::RigidState;
use crate::deforming::Deforming;
use crate::error::DropletError;
use crate::paper::{Coefficients, Paper, PaperSolid};
use crate::parameters::Parameters;
use crate::particles::Fidelity;
use crate::springs::{BalanceCache, Springs};
use crate::substrate::Substrate;
use crate::surface_mesh::{MeshError, SolidIndex, SurfaceMesh, close_t_junctions, subdivide};

/// Barycentric coordinates at which images are sampled for the average over a triangle: centroids
/// of the nine triangles that it is divided into by thirds of its edges.
const TRIANGLE_SAMPLES: [[f64; 3]; 9] = {
    const N: f64 = 1.0 / 9.0;
    let (a, b) = ([7.0 * N, N, N], [N, 7.0 * N, N]);
    let (c, d) = ([N, N, 7.0 * N], [4.0 * N, 4.0 * N, N]);
    let (e, f) = ([N, 4.0 * N, 4.0 * N], [4.0 * N, N, 4.0 * N]);
    let (g, h) = ([5.0 * N, 2.0 * N, 2.0 * N], [2.0 * N, 5.0 * N, 2.0 * N]);
    [a, b, c, d, e, f, g, h, [2.0 * N, 2.0 * N, 5.0 * N]]
};

/// What the model reads from the scene; constant except for [`Setup::nearby_solids`] and
/// for what belongs to deforming solids.
#[derive(Debug)]
pub struct Setup {
    /// Tunable parameters.
    pub parameters: Parameters,
    /// Meshes of the solids that have triangles.
    pub meshes: Vec<Option<MeshDistance>>,
    /// Number of divisions of each edge of the mesh of each solid.
    pub divisions: Vec<usize>,
    /// The liquid.
    pub liquid: Liquid,
    /// Coefficient of evaporation on each solid, in m²/s; `None` if nothing evaporates.
    pub evaporation: Option<Vec<f64>>,
    /// Seed of the scene.
    pub seed: u64,
    /// Additional drag rate, in 1/s.
    pub damping: f64,
    /// Volume of a condensed droplet on each solid, in m³.
    pub dew_volumes: Vec<f64>,
    /// Cumulative triangle areas, starting anew with each solid, in m².
    pub cumulative_areas: Vec<f64>,
    /// Bounds of the domain, in m.
    pub domain: Option<[DVec3; 2]>,
    /// Display shapes of the reproduction mode.
    pub balances: BalanceCache,
    /// Bounding box of each solid in its rest pose, in m.
    pub bounds: Vec<Bounds>,
    /// For each solid, the other solids near enough for droplets to touch.
    pub nearby_solids: Vec<Vec<SolidIndex>>,
    /// The motion of each solid whose mesh deforms.
    pub deforming: Vec<Option<Box<Deforming>>>,
}

impl Setup {
    /// The mesh of a solid whose triangles are part of the surface.
    pub fn mesh(&self, solid: SolidIndex) -> &MeshDistance {
        self.meshes[solid].as_ref().expect("the solid has triangles")
    }

    /// Center and radius of a ball around a solid, in m.
    pub fn bounding_ball(&self, solid: SolidIndex, rigid_states: &[RigidState]) -> (DVec3, f64) {
        let bounds = &self.bounds[solid];
        (rigid_states[solid].pose.apply(bounds.center()), 0.5 * bounds.extent().length())
    }

    /// Velocity of a solid at a point of the world, in m/s; of a deforming one, of its nearest
    /// surface point.
    pub fn velocity_at(&self, rigid_states: &[RigidState], solid: SolidIndex, point: DVec3) -> DVec3 {
        let rigid = &rigid_states[solid];
        let moving = rigid.velocity.at(point);
        match &self.deforming[solid] {
            None => moving,
            Some(deforming) => {
                let there = rigid.pose.apply_inverse(point);
                moving + rigid.pose.turn(deforming.velocity_at(self.mesh(solid), there))
            }
        }
    }

    /// Updates which solids are near each other, by the gap between their bounding spheres.
    pub fn find_nearby_solids(&mut self, rigid_states: &[RigidState]) {
        let mut nearby_solids = std::mem::take(&mut self.nearby_solids);
        let all = || SolidIndex::first(self.bounds.len());
        for (solid, nearby) in all().zip(&mut nearby_solids) {
            let (center, radius) = self.bounding_ball(solid, rigid_states);
            nearby.clear();
            nearby.extend(all().filter(|&other| {
                let (there, its) = self.bounding_ball(other, rigid_states);
                other != solid && center.distance(there) < radius + its + self.parameters.contact_gap
            }));
        }
        self.nearby_solids = nearby_solids;
    }
}

/// Everything that is built from a scene.
pub struct Parts {
    /// The resolved scene.
    pub setup: Setup,
    /// Mesh of all solids.
    pub surface: SurfaceMesh,
    /// Wetting state of the mesh.
    pub substrate: Substrate,
    /// Force model.
    pub fidelity: Fidelity,
}

/// Checks the meshes of a scene and builds everything but their triangles.
pub fn build(scene: &Scene, world: &World) -> Result<Parts, DropletError> {
    check_support(scene, world)?;
    let parameters = Parameters::default();
    let damping = if scene.time.settle { parameters.settle_damping } else { 0.0 };
    let (mut surface, mut bounds, mut divisions, mut deforming, mut coefficients) =
        (SurfaceMesh::default(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for solid in world.solids() {
        let mut mesh = repaired_mesh(solid)?;
        let divided = num_divisions(scene, solid, &mesh, &parameters);
        mesh = subdivide(&mesh, divided);
        surface.declare(solid.name(), &mesh)?;
        if matches!(solid.scene().shape, SolidShape::Sphere { .. } | SolidShape::Cylinder { .. }) {
            surface.set_analytic(solid);
        }
        bounds.push(Bounds::of(mesh.positions.iter().copied()));
        divisions.push(divided);
        deforming.push(Deforming::new(solid, &mesh));
        if scene.fidelity == SceneFidelity::Paper {
            coefficients.push(paper_solid(scene, solid, &mesh));
        }
    }
    let substrate = Substrate::new(&surface, world.solids(), &scene.liquid, &parameters);
    let fidelity = match scene.fidelity {
        SceneFidelity::Physical => Fidelity::Physical,
        SceneFidelity::Paper => Fidelity::Paper(Box::new(Paper::new(coefficients, damping))),
    };
    let dew_volume = |solid: &Solid| cap::volume(parameters.dew_radius, central_wetting(solid).advancing);
    let setup = Setup {
        parameters,
        meshes: (0..bounds.len()).map(|_| None).collect(),
        divisions,
        liquid: scene.liquid,
        evaporation: world.evaporation_coefficients(scene.liquid.density),
        seed: scene.seed,
        damping,
        dew_volumes: world.solids().iter().map(dew_volume).collect(),
        cumulative_areas: Vec::new(),
        domain: scene.domain.as_ref().map(|domain| [domain.min, domain.max]),
        balances: BalanceCache::new(springs(scene)),
        nearby_solids: vec![Vec::new(); bounds.len()],
        bounds,
        deforming,
    };
    Ok(Parts { setup, surface, substrate, fidelity })
}

/// Rejects scenes that ask for what the model cannot do.
fn check_support(scene: &Scene, world: &World) -> Result<(), DropletError> {
    if scene.world.planar {
        return Err(DropletError::Planar);
    }
    if world.solids().is_empty() {
        return Err(DropletError::NoSolid);
    }
    for (axis, side) in ['x', 'y', 'z'].into_iter().zip(scene.domain.iter().flat_map(|domain| domain.sides)) {
        if side != Side::Open {
            return Err(DropletError::Side { axis, side: side.name() });
        }
    }
    Ok(())
}

/// The mesh of a solid in its rest pose, repaired.
fn repaired_mesh(solid: &Solid) -> Result<TriMesh, MeshError> {
    let mut mesh = TriMesh::clone(&solid.mesh_once());
    if matches!(solid.scene().shape, SolidShape::Mesh { .. }) {
        close_t_junctions(&mut mesh).map_err(|reason| MeshError::NotManifold { solid: solid.name().into(), reason })?;
    }
    Ok(mesh)
}

/// The mesh of a solid as it was declared, each edge divided into `divisions`.
pub fn declared_mesh(solid: &Solid, divisions: usize) -> TriMesh {
    let mesh = repaired_mesh(solid).expect("the mesh was checked when the solid was declared");
    subdivide(&mesh, divisions)
}

/// Wetting at the center of a solid's texture.
fn central_wetting(solid: &Solid) -> sessile_wetting::Wetting {
    solid.wetting_at(DVec2::splat(0.5))
}

/// Coefficients of a solid in the reproduction mode.
fn paper_solid(scene: &Scene, solid: &Solid, mesh: &TriMesh) -> PaperSolid {
    let at = |uv: DVec2| {
        let friction = solid.friction_at(uv).or(scene.droplet.friction);
        Coefficients::new(friction, &solid.wetting_at(uv), &scene.liquid)
    };
    if solid.has_uniform_coefficients() {
        return PaperSolid::Uniform(at(DVec2::splat(0.5)));
    }
    let mean = |t: usize| {
        let samples = mesh.corner_uvs.get(t).map_or(vec![at(DVec2::splat(0.5))], |&uvs| {
            TRIANGLE_SAMPLES.iter().map(|&[a, b, c]| at(uvs[0] * a + uvs[1] * b + uvs[2] * c)).collect()
        });
        Coefficients::mean(&samples).unwrap_or_else(|| at(DVec2::splat(0.5)))
    };
    PaperSolid::Varying(None, (0..mesh.triangles.len()).map(mean).collect())
}

/// Springs of the display shape, in units of the surface tension.
fn springs(scene: &Scene) -> Springs {
    let (keys, default) = (&scene.droplet, Springs::default());
    let in_tension =
        |stiffness: Option<f64>, default: f64| stiffness.map_or(default, |k| k / scene.liquid.surface_tension);
    Springs {
        slices: keys.slices.map_or(default.slices, |n| n as usize),
        levels: keys.levels.map_or(default.levels, |n| n as usize),
        longitudinal: in_tension(keys.springs.longitudinal, default.longitudinal),
        transverse: in_tension(keys.springs.transverse, default.transverse),
        guide: in_tension(keys.springs.guide, default.guide),
        volume: in_tension(keys.springs.volume, default.volume),
    }
}

/// Number of divisions of each edge of a solid's mesh: for roughness per triangle in the
/// reproduction mode, edges of at most three times the shortest one, within the limit on triangles.
fn num_divisions(scene: &Scene, solid: &Solid, mesh: &TriMesh, parameters: &Parameters) -> usize {
    let varies = central_wetting(solid).roughness != [0.0; 2] || !solid.has_uniform_coefficients();
    if scene.fidelity != SceneFidelity::Paper || !varies {
        return 1;
    }
    let corners = (0..mesh.triangles.len()).map(|t| mesh.corners(t));
    let edge = corners.map(|[a, b, c]| a.distance(b).max(b.distance(c)).max(c.distance(a))).fold(0.0, f64::max);
    let most = (parameters.max_subdivided_triangles / mesh.triangles.len() as f64).sqrt().max(1.0);
    (edge / (3.0 * scene.resolution.edge)).ceil().clamp(1.0, most) as usize
}

/// Direction of u in a triangle's axes; x where the triangle has no texture coordinates.
pub fn u_axis(uvs: Option<&[DVec2; 3]>, corners: &[DVec2; 3]) -> DVec2 {
    let Some(&[a, b, c]) = uvs else { return DVec2::X };
    // The direction along which v is constant.
    let (db, dc) = (b.y - a.y, c.y - a.y);
    let along = corners[2] * db - corners[1] * dc;
    let along = along * if (b.x - a.x) * -dc + (c.x - a.x) * db >= 0.0 { 1.0 } else { -1.0 };
    along.try_normalize().unwrap_or(DVec2::X)
}
