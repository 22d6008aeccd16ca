//! Tunable parameters of the droplet model.
//!
//! Scenes do not set them: a scene's own keys are resolved in [`crate::setup`]. The step kernel
//! ([`crate::kernel`]) reads [`Parameters::DEFAULT`] when it is compiled, so that its accuracy is
//! folded into the instructions. Sizes of hash cells and batches, which change speed but no result,
//! are beside their code.

/// Parameters with their defaults; each states its unit and what goes wrong at the extremes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// Longest time step, in s. Longer steps delay landings and releases of pinned droplets.
    pub max_step: f64,
    /// Base radii that a droplet may travel per step. More makes neighbor queries long and slow;
    /// fewer makes steps short.
    pub radii_per_step: f64,
    /// Largest division of `max_step` by the limit of `radii_per_step`. Smaller lets fast droplets
    /// travel farther per step; larger lets one fast droplet slow down the whole run.
    pub max_step_divisions: f64,
    /// Distance below all solids at which an airborne droplet is removed as lost, in m. Too small
    /// removes droplets that still land on a rising solid.
    pub lost_below: f64,
    /// Distance from all solids at which an airborne droplet is removed without gravity, in m.
    pub lost_beyond: f64,
    /// Longest flight of a tap's stream, in s. What has landed nowhere by then is lost.
    pub max_stream_flight: f64,
    /// Largest distance of a feeding needle from a solid, in m. Liquid fed farther away is ignored.
    pub max_feed_distance: f64,
    /// Drag rate that `settle` adds, in 1/s. Too small leaves droplets sliding; too large is stiff
    /// but stable, since drag is integrated exactly.
    pub settle_damping: f64,
    /// Gap between two solids above which their droplets never touch, in m. Must exceed twice the
    /// largest base radius; larger costs queries on other solids.
    pub contact_gap: f64,
    /// Base radius of condensed droplets, in m. Smaller makes more droplets per volume of dew.
    pub dew_radius: f64,
    /// Largest number of triangles that a coarse solid is subdivided into for per-triangle
    /// roughness. Fewer makes streaks coarse; more costs memory.
    pub max_subdivided_triangles: f64,
    /// Change of the normal acceleration, relative to gravity, at which a base radius is updated.
    /// Larger lets base radii lag on curved solids; smaller costs shape lookups.
    pub normal_acceleration_tolerance: f64,
    /// Speed below which a droplet of the reproduction mode, which has no retention, is at rest, in
    /// m/s.
    pub rest_speed: f64,
    /// Acceleration below which such a droplet at rest stays at rest, in m/s².
    pub rest_acceleration: f64,
    /// Largest share of its volume that a droplet leaves as film in one step. Near 1 a droplet can
    /// lose all of its volume within a step.
    pub max_shed: f64,
    /// Largest number of film segments per path segment. Fewer merges beads of fast droplets.
    pub max_film_segments: f64,
    /// Path length between two markings of the wet map, in base radii. Above 1 leaves gaps in wet
    /// paths.
    pub mark_spacing: f64,
    /// Largest deviation of a marked polyline from the path, in base radii. Larger is faster and
    /// marks a straighter track.
    pub mark_tolerance: f64,
    /// Largest number of triangles under one marked segment longer than a base radius.
    pub max_marked_triangles: u32,
    /// Path length over which contact-line samples stay valid where angles vary, in base radii.
    /// Larger misses wet paths and drawn patterns; smaller costs samples.
    pub rim_step: f64,
    /// Texel size of wet maps, in m; a sliding droplet is several times as wide. Larger than a
    /// droplet loses wet paths; smaller costs memory and marking time.
    pub texel: f64,
    /// Least and largest number of texels along a side of a wet map.
    pub map_size: (f64, f64),
    /// Contact angles closer than this share one wetting law, in rad.
    pub angle_step: f64,
    /// Accuracy of the closed-form intervals.
    pub intervals: IntervalAccuracy,
}

/// Accuracy of the intervals over which forces are linearized ([`crate::kernel`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntervalAccuracy {
    /// Change of direction in rad, or weighted relative change of the drag, over an interval.
    /// Larger is faster and less accurate: the path error is between first and second order in
    /// it, 5·10⁻⁵ of the path length at the default.
    pub change: f64,
    /// Weight of a relative change of the drag rate: its slope is included in the linearization.
    pub drag_weight: f64,
    /// Reduction of that weight where drag removes little of the speed, so that the quadratic term
    /// is accurate.
    pub curvature_weight: f64,
    /// Change over half an interval beyond which the interval is halved, in units of `change`.
    pub half_change: f64,
    /// Share of the remaining time below which an interval is not subdivided. Smaller costs time
    /// where a droplet starts or stops.
    pub shortest: f64,
    /// Up to this many intervals have equal length; where more are needed each chooses its own.
    pub few: f64,
    /// Largest number of intervals of one step.
    pub most: f64,
}

impl Parameters {
    /// The values that the model uses.
    pub const DEFAULT: Self = Self {
        max_step: 1.0 / 24.0,
        radii_per_step: 8.0,
        max_step_divisions: 64.0,
        lost_below: 0.05,
        lost_beyond: 1.0,
        max_stream_flight: 2.0,
        max_feed_distance: 10e-3,
        settle_damping: 50.0,
        contact_gap: 0.03,
        dew_radius: 0.15e-3,
        max_subdivided_triangles: 200_000.0,
        normal_acceleration_tolerance: 0.01,
        rest_speed: 1e-7,
        rest_acceleration: 1e-6,
        max_shed: 0.5,
        max_film_segments: 64.0,
        mark_spacing: 0.5,
        mark_tolerance: 0.1,
        max_marked_triangles: 4,
        rim_step: 0.5,
        texel: 0.4e-3,
        map_size: (64.0, 1024.0),
        angle_step: 0.25 * std::f64::consts::PI / 180.0,
        intervals: IntervalAccuracy {
            change: 0.03,
            drag_weight: 0.4,
            curvature_weight: 0.3,
            half_change: 0.6,
            shortest: 2e-3,
            few: 4.0,
            most: 64.0,
        },
    };
}

impl Default for Parameters {
    fn default() -> Self {
        Self::DEFAULT
    }
}
