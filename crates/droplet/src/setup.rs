//! Resolves a scene for the droplet model: meshes, substrate, force model and constants.

use glam::{DVec2, DVec3};
use sessile_geometry::TriMesh;
use sessile_geometry::mesh_distance::MeshDistance;
use sessile_scene::{Fidelity as SceneFidelity, Scene, Side, SolidShape};
use sessile_wetting::{Liquid, cap};
use sessile_world::{Solid, World};

use crate::acceleration::RigidState;
use crate::error::DropletError;
use crate::paper::{Coefficients, Paper, PaperSolid};
use crate::parameters::Parameters;
use crate::particles::Fidelity;
use crate::springs::{BalanceCache, Springs};
use crate::substrate::Substrate;
use crate::surface_mesh::{MeshError, SolidIndex, SurfaceMesh, TriangleIndex, close_t_junctions, subdivide};

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

/// What the model reads from the scene; constant except for [`Setup::nearby_solids`].
#[derive(Debug)]
pub struct Setup {
    /// Tunable parameters.
    pub parameters: Parameters,
    /// Meshes of the solids.
    pub meshes: Vec<MeshDistance>,
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
    /// Cumulative triangle areas of each solid, in m².
    pub cumulative_areas: Vec<f64>,
    /// Bounds of the domain, in m.
    pub domain: Option<[DVec3; 2]>,
    /// Display shapes of the reproduction mode.
    pub balances: BalanceCache,
    /// Bounding box of each solid in its rest pose, in m.
    pub bounds: Vec<[DVec3; 2]>,
    /// For each solid, the other solids near enough for droplets to touch.
    pub nearby_solids: Vec<Vec<SolidIndex>>,
}

impl Setup {
    /// Updates which solids are near each other, by the gap between their bounding spheres.
    pub fn find_nearby_solids(&mut self, rigid_states: &[RigidState]) {
        let sphere = |solid: usize| {
            let [low, high] = self.bounds[solid];
            (rigid_states[solid].pose.apply(0.5 * (low + high)), 0.5 * (high - low).length())
        };
        for (solid, nearby) in self.nearby_solids.iter_mut().enumerate() {
            let (center, radius) = sphere(solid);
            nearby.clear();
            nearby.extend((0..self.bounds.len()).filter(|&other| other != solid).filter_map(|other| {
                let (there, its) = sphere(other);
                (center.distance(there) < radius + its + self.parameters.contact_gap).then_some(SolidIndex::new(other))
            }));
        }
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

/// Builds the mesh of a scene and everything that goes with it.
pub fn build(scene: &Scene, world: &World) -> Result<Parts, DropletError> {
    check_support(scene, world)?;
    let parameters = Parameters::default();
    let (surface, meshes) = build_surface(scene, world, &parameters)?;
    let substrate = Substrate::new(&surface, &meshes, world.solids(), &scene.liquid, &parameters);
    let damping = if scene.time.settle { parameters.settle_damping } else { 0.0 };
    let fidelity = match scene.fidelity {
        SceneFidelity::Physical => Fidelity::Physical,
        SceneFidelity::Paper => Fidelity::Paper(Box::new(build_paper(scene, world, &surface, &meshes, damping))),
    };
    let bounds: Vec<[DVec3; 2]> = meshes.iter().map(bounding_box).collect();
    let dew_volume = |solid: &Solid| cap::volume(parameters.dew_radius, central_wetting(solid).advancing);
    let setup = Setup {
        parameters,
        meshes: meshes.into_iter().map(MeshDistance::new).collect(),
        liquid: scene.liquid,
        evaporation: world.evaporation_coefficients(scene.liquid.density),
        seed: scene.seed,
        damping,
        dew_volumes: world.solids().iter().map(dew_volume).collect(),
        cumulative_areas: cumulative_areas(&surface),
        domain: scene.domain.as_ref().map(|domain| [domain.min, domain.max]),
        balances: BalanceCache::new(springs(scene)),
        nearby_solids: vec![Vec::new(); bounds.len()],
        bounds,
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

/// Builds the mesh of all solids, repaired and, for per-triangle roughness, subdivided.
fn build_surface(
    scene: &Scene,
    world: &World,
    parameters: &Parameters,
) -> Result<(SurfaceMesh, Vec<TriMesh>), DropletError> {
    let mut surface = SurfaceMesh::default();
    let mut meshes = Vec::new();
    for (solid, described) in world.solids().iter().zip(&scene.solids) {
        let mut mesh = TriMesh::clone(&solid.mesh_once());
        if matches!(described.shape, SolidShape::Mesh { .. }) {
            close_t_junctions(&mut mesh)
                .map_err(|reason| MeshError::NotManifold { solid: solid.name().into(), reason })?;
        }
        let varies = central_wetting(solid).roughness != [0.0; 2] || !solid.has_uniform_coefficients();
        if scene.fidelity == SceneFidelity::Paper && varies {
            mesh = subdivide(&mesh, num_divisions(&mesh, 3.0 * scene.resolution.edge, parameters));
        }
        surface.push(solid.name(), &mesh)?;
        if matches!(described.shape, SolidShape::Sphere { .. } | SolidShape::Cylinder { .. }) {
            surface.set_analytic(solid);
        }
        meshes.push(mesh);
    }
    Ok((surface, meshes))
}

/// Wetting at the center of a solid's texture.
fn central_wetting(solid: &Solid) -> sessile_wetting::Wetting {
    solid.wetting_at(DVec2::splat(0.5))
}

/// Coefficients of the reproduction mode.
fn build_paper(scene: &Scene, world: &World, surface: &SurfaceMesh, meshes: &[TriMesh], damping: f64) -> Paper {
    let triangles = meshes.iter().flat_map(|mesh| (0..mesh.triangles.len()).map(move |t| (mesh, t)));
    let axes = triangles
        .zip(surface.facets())
        .map(|((mesh, t), facet)| u_axis(mesh.corner_uvs.get(t), &facet.corners))
        .collect();
    let mut first = 0;
    let solids = world.solids().iter().zip(meshes).map(|(solid, mesh)| {
        let own_first = TriangleIndex::new(first);
        first += mesh.triangles.len();
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
        PaperSolid::Varying(own_first, (0..mesh.triangles.len()).map(mean).collect())
    });
    Paper::new(solids.collect(), damping, axes)
}

/// Cumulative triangle areas, starting anew with each solid, in m².
fn cumulative_areas(surface: &SurfaceMesh) -> Vec<f64> {
    let mut areas = Vec::with_capacity(surface.facets().len());
    for solid in surface.solids() {
        let mut sum = 0.0;
        areas.extend(surface.facets()[surface.range_of(solid)].iter().map(|facet| {
            sum += facet.area();
            sum
        }));
    }
    areas
}

fn bounding_box(mesh: &TriMesh) -> [DVec3; 2] {
    let start = [DVec3::INFINITY, DVec3::NEG_INFINITY];
    mesh.positions.iter().fold(start, |[low, high], p| [low.min(*p), high.max(*p)])
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

/// Number of divisions of each edge for edges of at most `longest` (in m), within the limit on
/// triangles.
fn num_divisions(mesh: &TriMesh, longest: f64, parameters: &Parameters) -> usize {
    let corners = (0..mesh.triangles.len()).map(|t| mesh.corners(t));
    let edge = corners.map(|[a, b, c]| a.distance(b).max(b.distance(c)).max(c.distance(a))).fold(0.0, f64::max);
    let most = (parameters.max_subdivided_triangles / mesh.triangles.len() as f64).sqrt().max(1.0);
    (edge / longest).ceil().clamp(1.0, most) as usize
}

/// Direction of u in a triangle's axes; x where the triangle has no texture coordinates.
fn u_axis(uvs: Option<&[DVec2; 3]>, corners: &[DVec2; 3]) -> DVec2 {
    let Some(&[a, b, c]) = uvs else { return DVec2::X };
    // The direction along which v is constant.
    let (db, dc) = (b.y - a.y, c.y - a.y);
    let along = corners[2] * db - corners[1] * dc;
    let along = along * if (b.x - a.x) * -dc + (c.x - a.x) * db >= 0.0 { 1.0 } else { -1.0 };
    along.try_normalize().unwrap_or(DVec2::X)
}
