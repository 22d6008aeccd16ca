//! Parameters of the model: what the scene sets, and the tunables of the numerical method.

use glam::DVec3;
use sessile_scene::types::{Fidelity, Scene};
use sessile_wetting::Liquid;

use crate::dynamics::zhang2011::PaperParameters;

/// Constant inputs of a run.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// The liquid.
    pub liquid: Liquid,
    /// Coefficient of evaporation on each solid, in m²/s; `None` if nothing evaporates.
    pub evaporation: Option<Vec<f64>>,
    /// Shortest edge length e, in m (`resolution.edge`).
    pub edge: f64,
    /// Whether drag is added so that drops come to rest soon (`time.settle`).
    pub settle: bool,
    /// Whether parts of one drop that meet are joined (`surface.self_collision`).
    pub self_merge: bool,
    /// Longest step that the scene asks for, in s (`surface.dt`).
    pub max_step: Option<f64>,
    /// Coefficients of the paper's operators, where `fidelity = "paper"` selects them.
    pub paper: Option<PaperParameters>,
    /// Corners of the domain, in m; drops that leave it are removed.
    pub domain: Option<[DVec3; 2]>,
    /// Tunables of the numerical method.
    pub numerics: Numerics,
}

impl Parameters {
    /// The parameters of a scene, with default numerics.
    pub fn new(scene: &Scene) -> Self {
        Self {
            liquid: scene.liquid,
            evaporation: None,
            edge: scene.resolution.edge,
            settle: scene.time.settle,
            self_merge: scene.surface.self_collision.unwrap_or(false),
            max_step: scene.surface.dt,
            paper: (scene.fidelity == Fidelity::Paper).then(|| PaperParameters::new(&scene.surface)),
            domain: scene.domain.as_ref().map(|domain| [domain.min, domain.max]),
            numerics: Numerics::default(),
        }
    }
}

/// Tunables of the numerical method.
///
/// "Edges" means the target edge length of the drop at hand ([`Drop::target_edge`]). Every field
/// names its default and what happens beyond a sensible range.
///
/// [`Drop::target_edge`]: crate::drop::Drop::target_edge
#[derive(Clone, Debug, PartialEq)]
pub struct Numerics {
    /// Longest step that resolves capillary waves, in s; default 1e-3. Longer steps damp the higher
    /// modes, shorter ones cost time in proportion.
    pub max_step: f64,
    /// Longest step of a run that settles, in s; default 1/120. Longer steps let drops slide past
    /// where they would stop.
    pub max_step_settling: f64,
    /// Largest approach of liquid to a solid in one substep, in edges; default 0.5. Above about 1
    /// vertices jump through thin solids.
    pub max_approach: f64,
    /// The same for the paper's operators, in edges; default 2.
    pub max_approach_paper: f64,
    /// Parts of a step below which neither the motion of a solid nor a retry divides it further;
    /// default 16. More only cost.
    pub max_substeps: u32,
    /// Most substeps of a drop that approaches a solid; default 4096, for some 700 m/s. Fewer let
    /// fast drops tunnel.
    pub max_approach_substeps: u32,
    /// Substeps that replace one whose result is rejected; default 4.
    pub retry_substeps: u32,

    /// Largest ω₂Δt/2 at which the midpoint rule is used; default 0.9. Masses are scaled by up to
    /// 1.9 there. At 1.2 the factor is 4.6, and drops of 0.23 µL gain more energy from substeps of
    /// changing length than viscosity removes.
    pub max_midpoint_phase: f64,
    /// Longest step of the midpoint rule, in s; default 4e-3. Beyond, undamped high modes persist.
    pub max_midpoint_step: f64,
    /// Relative change of a drop's speed that the contact constraints may cause before the initial
    /// velocities are projected onto them; default 0.01. Without the projection the midpoint rule
    /// reflects the removed momentum and drops between walls double their speed.
    pub constraint_tolerance: f64,
    /// Most solves of the contact line's stick–slip problem per step; default 5.
    pub max_stick_slip_solves: usize,
    /// Solves during which pinned vertices may start to slide; afterwards sliding ones may only
    /// stop, which guarantees termination. Default 2.
    pub depinning_solves: usize,
    /// Relative residual of a solve with the diagonal preconditioner; default 1e-5. Looser solves
    /// act as a drag and keep drops from coming to rest.
    pub solver_tolerance: f64,
    /// Relative residual with the incomplete Cholesky factor, whose norm weighs velocities;
    /// default 1e-4, at which sliding speeds are within 1e-6 of an exact solve.
    pub factored_tolerance: f64,
    /// Lower bound of the residual's reference, relative to all forces; default 1e-2. Zero makes a
    /// drop in equilibrium iterate to the limit.
    pub static_force_floor: f64,
    /// Ratio of stiffness to mass from which the incomplete factor is used; default 4. Below, the
    /// diagonal converges as well and is cheaper.
    pub factor_stiffness: f64,
    /// Most multiplications for factoring the matrix of a drop completely; default 2e6. Beyond, the
    /// iterations that an incomplete factor leaves are cheaper.
    pub max_factor_work: usize,
    /// Most iterations of a solve; default 400.
    pub max_iterations: usize,
    /// Most multiplications for factoring the surface Poisson problem of a drop in flight;
    /// default 1e7, a round drop of some 4000 triangles. Larger drops use a shell mass.
    pub max_inertia_work: usize,

    /// Normal speed below which a drop may be at rest, over √(σ/ρR); default 5e-4. Smaller values
    /// keep drops awake whose mesh still relaxes.
    pub rest_normal_speed: f64,
    /// Normal speed below which the remesher leaves the vertices of a drop in place, over √(σ/ρR);
    /// default 1e-2.
    pub still_normal_speed: f64,
    /// Slip speed below which a drop counts as still, over √(σ/ρR); default 1e-4. Larger values
    /// stop viscous liquids that creep.
    pub still_slip_speed: f64,
    /// Time at rest after which a drop sleeps, in s; default 0.05.
    pub rest_time: f64,

    /// Length from which an edge is split, over its target; default 1.5. With `min_edge` the ratio
    /// must exceed 2, or splits and collapses undo one another.
    pub max_edge: f64,
    /// Length below which an edge is collapsed, over its target; default 0.5.
    pub min_edge: f64,
    /// Weight of lengths within a wetted face; default 0.6, so that the face is coarser than the
    /// free surface.
    pub wetted_edge_weight: f64,
    /// Target edge length times the larger principal curvature; default 0.45. Larger values leave
    /// necks faceted, smaller ones refine whole drops.
    pub edge_curvature: f64,
    /// Largest ratio of the target lengths of neighboring vertices; default 1.25.
    pub edge_grading: f64,
    /// Substeps between two evaluations of the curvature; default 4.
    pub sizing_interval: u32,

    /// Distance from the solid within which the ring of a first contact is put on it, in edges;
    /// default 0.6. Larger values wet liquid that has not arrived, smaller ones delay the contact.
    pub first_contact_reach: f64,
    /// Height at which a vertex is held that lies on a solid but cannot join the contact line, in
    /// edges; default 0.02.
    pub film_lift: f64,
    /// Area below which a wetted patch detaches, in squared edges; default 0.3, two thirds of a
    /// triangle.
    pub min_patch_area: f64,
    /// Substeps after which all of a drop's wetted face is marked as wet; default 8.
    pub wet_mark_interval: u32,

    /// Gap at which drops merge, in edges of the finer drop; default 0.2. Larger values merge drops
    /// that would pass one another.
    pub merge_gap: f64,
    /// Volume ratio below which a drop is absorbed without a new surface; default 0.02.
    pub absorb_ratio: f64,
    /// Length of the intersection curve from which drops are united along it, in edges; default 6.
    /// A shorter neck pinches off at once.
    pub min_neck_length: f64,
    /// Approach speed from which drops with a shorter curve are left to interpenetrate further, in
    /// m/s; default 0.02.
    pub merge_approach_speed: f64,
    /// Largest group that is merged by mesh Booleans; default 8. Each member is intersected with
    /// all earlier ones, so the cost grows with the square.
    pub max_boolean_group: usize,
    /// Distance beyond the solids, along gravity, at which a drop is removed, in m; default 0.05.
    pub removal_distance: f64,
}

impl Default for Numerics {
    fn default() -> Self {
        Self {
            max_step: 1e-3,
            max_step_settling: 1.0 / 120.0,
            max_approach: 0.5,
            max_approach_paper: 2.0,
            max_substeps: 16,
            max_approach_substeps: 4096,
            retry_substeps: 4,
            max_midpoint_phase: 0.9,
            max_midpoint_step: 4e-3,
            constraint_tolerance: 0.01,
            max_stick_slip_solves: 5,
            depinning_solves: 2,
            solver_tolerance: 1e-5,
            factored_tolerance: 1e-4,
            static_force_floor: 1e-2,
            factor_stiffness: 4.0,
            max_factor_work: 2_000_000,
            max_iterations: 400,
            max_inertia_work: 10_000_000,
            rest_normal_speed: 5e-4,
            still_normal_speed: 1e-2,
            still_slip_speed: 1e-4,
            rest_time: 0.05,
            max_edge: 1.5,
            min_edge: 0.5,
            wetted_edge_weight: 0.6,
            edge_curvature: 0.45,
            edge_grading: 1.25,
            sizing_interval: 4,
            first_contact_reach: 0.6,
            film_lift: 0.02,
            min_patch_area: 0.3,
            wet_mark_interval: 8,
            merge_gap: 0.2,
            absorb_ratio: 0.02,
            min_neck_length: 6.0,
            merge_approach_speed: 0.02,
            max_boolean_group: 8,
            removal_distance: 0.05,
        }
    }
}
