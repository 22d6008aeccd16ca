//! What a scene says to the droplet model, resolved once.

use glam::{DVec2, DVec3};
use sessile_geometry::TriMesh;
use sessile_geometry::mesh_distance::MeshDistance;
use sessile_scene::{Fidelity, Scene, Side, SolidShape};
use sessile_wetting::{Liquid, cap};
use sessile_world::World;

use crate::acceleration::RigidState;
use crate::error::DropletError;
use crate::paper::Paper;
use crate::particles::Form;
use crate::springs::{Balances, Springs};
use crate::substrate::Substrate;
use crate::surface_mesh::{MeshError, SurfaceMesh, close_t_junctions, subdivide};

/// Drag that `settle` adds, in 1/s.
const SETTLE_DAMPING: f64 = 50.0;
/// Solids farther apart than this have no droplets that touch, in m.
const BESIDE: f64 = 0.03;
/// Base radius of a grain of dew, in m.
const DEW_GRAIN: f64 = 0.15e-3;
/// Most triangles that a coarse solid is cut into for the paper's roughness, which is kept per triangle.
const MOST_CUT: f64 = 200_000.0;

/// The scene's word.
#[derive(Debug)]
pub struct Setup {
    /// Solids as droplets run on them.
    pub meshes: Vec<MeshDistance>,
    /// The liquid.
    pub liquid: Liquid,
    /// Of the scene.
    pub seed: u64,
    /// Drag that `settle` adds, in 1/s.
    pub damping: f64,
    /// Volume of a grain of dew on each solid, in m³.
    pub dew_grains: Vec<f64>,
    /// Sums of triangle areas up to and with each, solid by solid, in m².
    pub areas: Vec<f64>,
    /// Bounds of space, in m.
    pub domain: Option<[DVec3; 2]>,
    /// Shapes of the paper's form.
    pub balances: Balances,
    /// A box round each solid in its rest pose, in m.
    pub boxes: Vec<[DVec3; 2]>,
    /// For each solid, those that come near it.
    pub beside: Vec<Vec<u32>>,
}

impl Setup {
    /// Finds out which solids come near one another where they are now: whose balls round their boxes come within 30 mm.
    pub fn find_beside(&mut self, rigid_states: &[RigidState]) {
        let ball = |solid: usize| {
            let [low, high] = self.boxes[solid];
            (rigid_states[solid].pose.apply(0.5 * (low + high)), 0.5 * (high - low).length())
        };
        for (solid, beside) in self.beside.iter_mut().enumerate() {
            let (middle, radius) = ball(solid);
            beside.clear();
            beside.extend((0..self.boxes.len()).filter(|&other| other != solid).filter_map(|other| {
                let (there, its) = ball(other);
                (middle.distance(there) < radius + its + BESIDE).then_some(other as u32)
            }));
        }
    }
}

/// All that is built from a scene.
pub struct Parts {
    /// The scene's word.
    pub setup: Setup,
    /// The mesh.
    pub surface: SurfaceMesh,
    /// Its substrate.
    pub substrate: Substrate,
    /// Which rules.
    pub form: Form,
}

/// Builds the surface and what goes with it.
pub fn build(scene: &Scene, world: &World) -> Result<Parts, DropletError> {
    if scene.world.planar {
        return Err(DropletError::Planar);
    }
    if world.solids().is_empty() {
        return Err(DropletError::NoSolid);
    }
    for (axis, side) in ['x', 'y', 'z'].into_iter().zip(scene.domain.iter().flat_map(|domain| domain.sides)) {
        let side = match side {
            Side::Open => continue,
            Side::Wall => "wall",
            Side::Symmetry => "symmetry",
            Side::Periodic => "periodic",
        };
        return Err(DropletError::Side { axis, side });
    }
    let (slices, levels) = (scene.droplet.slices.unwrap_or(3), scene.droplet.levels.unwrap_or(2));
    if slices < 3 || levels < 1 {
        return Err(DropletError::Springs { levels, slices });
    }
    let mut surface = SurfaceMesh::default();
    let mut meshes = Vec::new();
    for (solid, described) in world.solids().iter().zip(&scene.solids) {
        let mut mesh = TriMesh::clone(solid.mesh());
        if matches!(described.shape, SolidShape::Mesh { .. }) {
            close_t_junctions(&mut mesh)
                .map_err(|reason| MeshError::NotManifold { solid: solid.name().into(), reason })?;
        }
        let rough = solid.wetting_at(DVec2::splat(0.5)).roughness != [0.0; 2];
        if scene.fidelity == Fidelity::Paper && rough {
            mesh = subdivide(&mesh, cuts(&mesh, 3.0 * scene.resolution.edge));
        }
        surface.push(solid.name(), &mesh)?;
        if matches!(described.shape, SolidShape::Sphere { .. } | SolidShape::Cylinder { .. }) {
            surface.set_analytic(solid);
        }
        meshes.push(mesh);
    }
    let substrate = Substrate::new(&surface, &meshes, world.solids(), &scene.liquid);
    let damping = if scene.time.settle { SETTLE_DAMPING } else { 0.0 };
    let middle = |solid: &sessile_world::Solid| solid.wetting_at(DVec2::splat(0.5));
    let form = match scene.fidelity {
        Fidelity::Physical => Form::Physical,
        Fidelity::Paper => {
            let axes = meshes.iter().flat_map(|mesh| (0..mesh.triangles.len()).map(move |t| (mesh, t)));
            let axes =
                axes.zip(surface.facets()).map(|((mesh, t), facet)| u_axis(mesh.corner_uvs.get(t), &facet.corners));
            let adhesion = world.solids().iter().map(|solid| middle(solid).adhesion).collect();
            let bumps = world.solids().iter().map(|solid| middle(solid).roughness).collect();
            let friction = scene.solids.iter().map(|solid| {
                let material = scene.materials.iter().find(|material| material.name == solid.material);
                material.and_then(|material| material.friction).or(scene.droplet.friction)
            });
            Form::Paper(Box::new(Paper::new(
                &friction.collect::<Vec<_>>(),
                &scene.liquid,
                damping,
                adhesion,
                bumps,
                axes.collect(),
            )))
        }
    };
    let mut areas = Vec::with_capacity(surface.facets().len());
    for solid in 0..surface.num_solids() {
        let mut sum = 0.0;
        areas.extend(surface.facets()[surface.triangles_of(solid)].iter().map(|facet| {
            sum += facet.area();
            sum
        }));
    }
    let box_of = |mesh: &TriMesh| {
        let start = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        mesh.positions.iter().fold(start, |[low, high], p| [low.min(*p), high.max(*p)])
    };
    let boxes: Vec<[DVec3; 2]> = meshes.iter().map(box_of).collect();
    let setup = Setup {
        meshes: meshes.into_iter().map(MeshDistance::new).collect(),
        liquid: scene.liquid,
        seed: scene.seed,
        damping,
        dew_grains: world.solids().iter().map(|solid| cap::volume(DEW_GRAIN, middle(solid).advancing)).collect(),
        areas,
        domain: scene.domain.as_ref().map(|domain| [domain.min, domain.max]),
        balances: Balances::new(springs(scene)),
        beside: vec![Vec::new(); boxes.len()],
        boxes,
    };
    Ok(Parts { setup, surface, substrate, form })
}

/// The paper's springs, in units of the surface tension.
fn springs(scene: &Scene) -> Springs {
    let (knobs, usual) = (&scene.droplet, Springs::default());
    let in_tension = |stiffness: Option<f64>, usual: f64| stiffness.map_or(usual, |k| k / scene.liquid.surface_tension);
    Springs {
        slices: knobs.slices.map_or(usual.slices, |n| n as usize),
        levels: knobs.levels.map_or(usual.levels, |n| n as usize),
        longitudinal: in_tension(knobs.springs.longitudinal, usual.longitudinal),
        transverse: in_tension(knobs.springs.transverse, usual.transverse),
        guide: in_tension(knobs.springs.guide, usual.guide),
        volume: in_tension(knobs.springs.volume, usual.volume),
    }
}

/// Parts to cut each side into, so that none is longer than `longest` (in m) and the triangles do not get too many.
fn cuts(mesh: &TriMesh, longest: f64) -> usize {
    let corners = (0..mesh.triangles.len()).map(|t| mesh.corners(t));
    let side = corners.map(|[a, b, c]| a.distance(b).max(b.distance(c)).max(c.distance(a))).fold(0.0, f64::max);
    let most = (MOST_CUT / mesh.triangles.len() as f64).sqrt().max(1.0);
    (side / longest).ceil().clamp(1.0, most) as usize
}

/// Direction of u in a triangle's own axes; x where it has none.
fn u_axis(uvs: Option<&[DVec2; 3]>, corners: &[DVec2; 3]) -> DVec2 {
    let Some(&[a, b, c]) = uvs else { return DVec2::X };
    // The direction along which v does not change.
    let (db, dc) = (b.y - a.y, c.y - a.y);
    let along = corners[2] * db - corners[1] * dc;
    let along = along * if (b.x - a.x) * -dc + (c.x - a.x) * db >= 0.0 { 1.0 } else { -1.0 };
    along.try_normalize().unwrap_or(DVec2::X)
}
