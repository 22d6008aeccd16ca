//! Memory, time and disk space that a run needs, estimated from its scene before anything is built.
//!
//! The estimate counts what a model computes with (cells, triangles or drops) and multiplies by
//! costs measured with `sessile bench` (docs/performance.md). It is an order of magnitude: drops
//! merge, spread and leave. Its purpose is to refuse, before work starts, what cannot fit into the
//! machine, and to warn of what would take months.
//!
//! | model | elements | count |
//! |---|---|---|
//! | `volume` | cells | V/h³ + 20 A/h², for liquid of volume V and surface area A |
//! | `surface` | triangles | 0.42 A/e², with the shortest edge e |
//! | `pane`, `droplet` | drops | initial drops, and emitted ones as far as they find room |

use std::f64::consts::{PI, TAU};

use sessile_frames::{CostEstimate, INSTANCE_THRESHOLD};
use sessile_numerics::{math, sphere_radius, sphere_volume};
use sessile_scene::types::{
    Amount, Drop, DropShape, Emitter, EmitterKind, ModelKind, RainArea, RainSizes, Scene, Solid, SolidShape,
};
use sessile_wetting::rain::RainLaw;

/// Memory of the program itself, in bytes.
const PROGRAM_BYTES: f64 = 15e6;
/// Surface of a drop on a solid, liquid–air and wetted, compared with a sphere of its volume.
const SPREAD_AREA: f64 = 1.7;
/// Bytes of a triangle in a frame.
const FRAME_TRIANGLE_BYTES: f64 = 31.0;
/// Triangles of a drop in a frame of the `pane` and `droplet` models, and the number of drops above
/// which a frame has instances instead.
const DROP_TRIANGLES: f64 = 400.0;
const MAX_TESSELLATED: f64 = INSTANCE_THRESHOLD as f64;
/// Bytes of a triangle of a mesh file, and of one on which droplets slide.
const FILE_TRIANGLE_BYTES: f64 = 400.0;
const SLIDING_TRIANGLE_BYTES: f64 = 700.0;
/// Number of solids that a drop comes near.
const SOLIDS_PER_DROP: f64 = 4.0;
/// Bytes of an instance in a frame.
const INSTANCE_BYTES: f64 = 100.0;
/// Volume of a grain of dew, in m³, and the area that a drop of rain or dew occupies, in m².
const DEW_GRAIN: f64 = 3e-12;
const DROP_PLACE: f64 = 0.25e-6;
/// Number of emitted drops from which a warning is due.
const MANY_DROPS: f64 = 2e6;
/// Wall time and disk space from which a warning is due, in s and bytes.
const LONG_TIME: f64 = 7.0 * 86_400.0;
const LARGE_DISK: f64 = 500e9;
/// Fraction of the free memory from which a warning is due.
const LARGE_MEMORY: f64 = 0.3;
/// Size of a drop from which a warning is due, in capillary lengths.
const LARGE_DROP: f64 = 100.0;

/// An estimate with what should be said about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The numbers.
    pub cost: CostEstimate,
    /// Warnings, one line each.
    pub warnings: Vec<String>,
    /// What to change in the scene to need less memory.
    advice: String,
    /// Key of the length h that the memory depends on, its value in m, and the bytes that grow as
    /// h⁻² and as h⁻³.
    resolution: Option<(&'static str, f64, [f64; 2])>,
}

/// What a model computes with.
struct Load {
    /// Number of cells, triangles or drops.
    elements: f64,
    /// Those of them that fill the volume, not the surface, of the liquid.
    inner: f64,
    bytes_per_element: f64,
    steps: f64,
    /// CPU time per element and step, and per frame, in s.
    step_seconds: f64,
    frame_seconds: f64,
    /// Bytes of a frame.
    frame_bytes: f64,
}

impl Estimate {
    /// The estimate for a scene on `threads` threads.
    pub fn new(scene: &Scene, threads: usize) -> Self {
        let emitted: Vec<(f64, f64)> = scene.emitters.iter().map(|emitter| emission(scene, emitter)).collect();
        let load = match scene.model {
            ModelKind::Volume => volume_load(scene, &emitted),
            ModelKind::Surface => surface_load(scene, &emitted),
            ModelKind::Pane | ModelKind::Droplet => drop_load(scene, &emitted),
        };
        let frames = f64::from(scene.time.last_frame()) + 1.0;
        let releases: f64 = emitted.iter().map(|(count, _)| count).sum();
        let state = load.elements * load.bytes_per_element;
        let solids = scene.solids.iter().map(triangles_of).sum::<f64>() * 75.0;
        let solids_in_memory = solid_memory(scene, releases);
        let cpu = load.elements * (load.steps * load.step_seconds + frames * load.frame_seconds) + releases * 5e-6;
        let cost = CostEstimate {
            // The releases between two frames are in memory together.
            memory_bytes: finite(PROGRAM_BYTES + state + solids_in_memory + 150.0 * releases / frames),
            wall_seconds: finite(cpu / math::powf(threads as f64, 0.7)),
            disk_bytes: finite(frames * (load.frame_bytes + 4e3) + 2.0 * 0.3 * state + solids),
        };
        let growth = [load.elements - load.inner, load.inner].map(|count| count * load.bytes_per_element);
        let resolution = match scene.model {
            ModelKind::Volume => scene.resolution.cell.map(|cell| ("resolution.cell", cell, growth)),
            ModelKind::Surface => Some(("resolution.edge", scene.resolution.edge, growth)),
            ModelKind::Pane | ModelKind::Droplet => None,
        };
        let warnings = warnings(scene, &emitted, &cost);
        let advice = "use fewer or smaller drops, or emitters with lower rates".to_owned();
        let mut estimate = Self { cost, warnings, advice, resolution };
        let tight = free_memory().and_then(|free| estimate.tight_memory(free));
        estimate.warnings.extend(tight);
        estimate
    }

    /// The estimate in one line.
    pub fn line(&self) -> String {
        let CostEstimate { memory_bytes, wall_seconds, disk_bytes } = self.cost;
        let (memory, disk) = (bytes_text(memory_bytes), bytes_text(disk_bytes));
        format!("estimate: {memory} of memory, {}, {disk} on disk, without images", time_text(wall_seconds))
    }

    /// The estimate of a session without an end, in one line, for a scene of `duration` seconds.
    pub fn line_per_second(&self, duration: f64) -> String {
        let (memory, seconds) = (bytes_text(self.cost.memory_bytes), self.cost.wall_seconds / duration);
        let time = if seconds < 1.0 { format!("{} s", two_digits(seconds)) } else { time_text(seconds) };
        format!("estimate: {memory} of memory, {time} for a simulated second")
    }

    /// Returns an error if the run cannot fit into the free memory, where that is known.
    pub fn check_memory(&self) -> Result<(), String> {
        free_memory().and_then(|free| self.problem(free)).map_or(Ok(()), Err)
    }

    /// A warning if the run needs a large part of `free` bytes of memory.
    fn tight_memory(&self, free: f64) -> Option<String> {
        let needed = self.cost.memory_bytes;
        (needed > LARGE_MEMORY * free).then(|| {
            format!("warning: the run needs about {} of the {} of free memory", bytes_text(needed), bytes_text(free))
        })
    }

    /// Why the run cannot fit into `free` bytes of memory; `None` if it can.
    pub fn problem(&self, free: f64) -> Option<String> {
        if self.cost.memory_bytes < 0.9 * free {
            return None;
        }
        let needed = bytes_text(self.cost.memory_bytes);
        let advice = match self.resolution {
            Some((key, length, [square, cube])) => {
                let fits = |factor: f64| square / factor.powi(2) + cube / factor.powi(3) < 0.7 * free;
                // Steps of 5 % are as precise as the estimate.
                let factor = (1..5000).map(|k| 1.05_f64.powi(k)).find(|factor| fits(*factor)).unwrap_or(1.0);
                let wanted = 1e3 * length * factor;
                format!("set {key} to at least {} mm, or {}", two_digits(wanted), self.advice)
            }
            None => self.advice.clone(),
        };
        Some(format!(
            "the run needs about {needed} of memory, and this machine has {} free: {advice}",
            bytes_text(free)
        ))
    }
}

/// Memory that the system can still hand out, in bytes.
pub fn free_memory() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kilobytes| 1024.0 * kilobytes)
}

/// Volume and surface area of an initial drop, in m³ and m². Drops from mesh files count as empty.
fn size_of(drop: &Drop, planar_depth: f64) -> (f64, f64) {
    let of_amount = |amount: Amount, factor: f64| match amount {
        Amount::Volume(volume) => (volume, factor * 4.0 * PI * sphere_radius(volume).powi(2)),
        Amount::Area(area) => (area * planar_depth, factor * TAU * (area / PI).sqrt() * planar_depth),
    };
    match &drop.shape {
        DropShape::Sphere { amount, .. } => of_amount(*amount, 1.0),
        DropShape::Cap { amount, .. } => of_amount(*amount, SPREAD_AREA),
        DropShape::Box { min, max } => {
            let size = (*max - *min).abs();
            let area = 2.0 * (size.x * size.y + size.y * size.z + size.z * size.x);
            (size.element_product(), area)
        }
        DropShape::Cylinder { from, to, radius, .. } => {
            let length = from.distance(*to);
            (PI * radius * radius * length, TAU * radius * (length + radius))
        }
        DropShape::Mesh { .. } => (0.0, 0.0),
    }
}

/// Total volume and surface area of the initial drops.
fn liquid(scene: &Scene) -> (f64, f64) {
    let depth = scene.resolution.cell.unwrap_or(0.0);
    let sizes = scene.drops.iter().map(|drop| size_of(drop, depth));
    sizes.fold((0.0, 0.0), |(volume, area), (v, a)| (volume + v, area + a))
}

/// Number of drops that an emitter releases during the run, and their volume, in m³.
fn emission(scene: &Scene, emitter: &Emitter) -> (f64, f64) {
    let time = (emitter.stop.min(scene.time.duration) - emitter.start.max(0.0)).max(0.0);
    match &emitter.kind {
        EmitterKind::Drip { radius, every, .. } => {
            let count = (time / every).ceil();
            (count, count * sphere_volume(*radius))
        }
        EmitterKind::Tap { radius, speed, .. } => (0.0, PI * radius * radius * speed * time),
        EmitterKind::Feed { rate, .. } => (0.0, rate.max(0.0) * time),
        EmitterKind::Dew { on, rate } => {
            let volume = rate * time * scene.solids.get(*on).map_or(0.0, |solid| area_of(&solid.shape));
            (volume / DEW_GRAIN, volume)
        }
        EmitterKind::Rain { over, rate, sizes, .. } => {
            let area = match over {
                RainArea::Solid(solid) => scene.solids.get(*solid).map_or(0.0, |solid| area_of(&solid.shape)),
                RainArea::Box { min, max } => ((max.x - min.x) * (max.z - min.z)).abs(),
            };
            let mean = match sizes {
                RainSizes::Uniform { min, max } => PI / 3.0 * (min + max) * (min * min + max * max),
                RainSizes::MarshallPalmer => RainLaw::new(*rate).map_or(f64::INFINITY, |law| rate / law.arrivals()),
            };
            (rate * area * time / mean, rate * area * time)
        }
    }
}

/// Area of a solid, in m²; that of a mesh file counts as 0.1 m².
fn area_of(shape: &SolidShape) -> f64 {
    match shape {
        SolidShape::Plane { size, .. } | SolidShape::Leaf { size, .. } => size[0] * size[1],
        SolidShape::Box { min, max } => {
            let size = (*max - *min).abs();
            2.0 * (size.x * size.y + size.y * size.z + size.z * size.x)
        }
        SolidShape::Sphere { radius, .. } => 4.0 * PI * radius * radius,
        SolidShape::Cylinder { from, to, radius, .. } => TAU * radius * (from.distance(*to) + radius),
        SolidShape::Mesh { .. } => 0.1,
    }
}

/// Number of triangles of a solid.
fn triangles_of(solid: &Solid) -> f64 {
    match &solid.shape {
        SolidShape::Sphere { .. } | SolidShape::Cylinder { .. } => 16e3,
        SolidShape::Plane { .. } | SolidShape::Leaf { .. } | SolidShape::Box { .. } => 2e3,
        // A triangle takes about 40 bytes in a file.
        SolidShape::Mesh { file, .. } => std::fs::metadata(file).map_or(0.0, |found| found.len() as f64 / 40.0),
    }
}

/// Memory of the solids, in bytes: of mesh files, and in the droplet model of those that drops come
/// near, a few per drop.
fn solid_memory(scene: &Scene, releases: f64) -> f64 {
    let of_file = |solid: &&Solid| matches!(solid.shape, SolidShape::Mesh { .. });
    let files = scene.solids.iter().filter(of_file).map(triangles_of).sum::<f64>() * FILE_TRIANGLE_BYTES;
    if scene.model != ModelKind::Droplet {
        return files;
    }
    let drops = scene.drops.len() as f64 + scene.emitters.len() as f64 + releases;
    let mut triangles: Vec<f64> = scene.solids.iter().map(triangles_of).collect();
    triangles.sort_by(|a, b| b.total_cmp(a));
    triangles.truncate((SOLIDS_PER_DROP * drops).min(triangles.len() as f64) as usize);
    files + triangles.iter().sum::<f64>() * SLIDING_TRIANGLE_BYTES
}

/// Fastest initial drop, in m/s.
fn fastest(scene: &Scene) -> f64 {
    scene.drops.iter().map(|drop| drop.velocity.length()).fold(0.0, f64::max)
}

fn volume_load(scene: &Scene, emitted: &[(f64, f64)]) -> Load {
    let h = scene.resolution.cell.unwrap_or(f64::INFINITY);
    let (mut volume, mut area) = liquid(scene);
    for (count, liquid) in emitted {
        volume += liquid;
        area += 4.0 * PI * sphere_radius(liquid / count.max(1.0)).powi(2) * count.max(1.0);
    }
    let inner = volume / h.powi(3);
    let elements = inner + 20.0 * area / (h * h);
    // Twice the step of explicit surface tension, and advection by at most a cell.
    let capillary = 0.72 * (scene.liquid.density * h.powi(3) / scene.liquid.surface_tension).sqrt();
    let step = capillary.min(h / fastest(scene)).min(scene.time.frame);
    let fields = if scene.output.fields { 10.0 * elements } else { 0.0 };
    Load {
        elements,
        inner,
        bytes_per_element: 700.0,
        steps: scene.time.duration / step,
        step_seconds: 450e-9,
        frame_seconds: 500e-9,
        frame_bytes: fields + 4.0 * area / (h * h) * FRAME_TRIANGLE_BYTES,
    }
}

fn surface_load(scene: &Scene, emitted: &[(f64, f64)]) -> Load {
    let e = scene.resolution.edge;
    let (_, mut area) = liquid(scene);
    for (count, liquid) in emitted {
        area += SPREAD_AREA * 4.0 * PI * sphere_radius(liquid / count.max(1.0)).powi(2) * count.max(1.0);
    }
    let elements = 0.42 * area / (e * e);
    let step = scene.surface.dt.unwrap_or(1e-3).min(scene.time.frame);
    Load {
        elements,
        inner: 0.0,
        bytes_per_element: 1300.0,
        steps: scene.time.duration / step,
        step_seconds: 1e-6,
        frame_seconds: 1e-6,
        frame_bytes: elements * FRAME_TRIANGLE_BYTES,
    }
}

fn drop_load(scene: &Scene, emitted: &[(f64, f64)]) -> Load {
    let places: f64 = scene.solids.iter().map(|solid| area_of(&solid.shape)).sum::<f64>() / DROP_PLACE;
    let releases: f64 = emitted.iter().map(|(count, _)| count).sum();
    let elements = scene.drops.len() as f64 + releases.min(places);
    let instances = elements > MAX_TESSELLATED;
    let frame_bytes = if instances { INSTANCE_BYTES } else { DROP_TRIANGLES * FRAME_TRIANGLE_BYTES };
    Load {
        elements,
        inner: 0.0,
        bytes_per_element: 600.0,
        steps: scene.time.duration / scene.time.frame.min(1.0 / 24.0),
        step_seconds: 0.2e-6,
        frame_seconds: if instances { 3e-6 } else { 200e-6 },
        frame_bytes: elements * frame_bytes + 20e3,
    }
}

fn warnings(scene: &Scene, emitted: &[(f64, f64)], cost: &CostEstimate) -> Vec<String> {
    let mut warnings = Vec::new();
    for (index, (count, _)) in emitted.iter().enumerate().filter(|(_, (count, _))| *count > MANY_DROPS) {
        warnings.push(format!(
            "warning: emitters.{index} releases about {} drops during the run; check its rate and size",
            two_digits(*count)
        ));
    }
    let liquid = &scene.liquid;
    let capillary_length = (liquid.surface_tension / (liquid.density * 9.8)).sqrt();
    for (index, drop) in scene.drops.iter().enumerate() {
        let radius = sphere_radius(size_of(drop, 0.0).0);
        if radius > LARGE_DROP * capillary_length && !matches!(drop.shape, DropShape::Box { .. }) {
            warnings.push(format!(
                "warning: drops.{index} has the volume of a sphere of radius {} m, and the capillary length is {} mm; \
                 check its unit",
                two_digits(radius),
                two_digits(1e3 * capillary_length)
            ));
        }
    }
    if cost.wall_seconds > LONG_TIME {
        warnings.push(format!("warning: the run takes about {}", time_text(cost.wall_seconds)));
    }
    if cost.disk_bytes > LARGE_DISK {
        warnings.push(format!("warning: the run writes about {}", bytes_text(cost.disk_bytes)));
    }
    warnings
}

/// JSON has no infinity.
fn finite(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.clamp(0.0, 1e300) }
}

fn two_digits(value: f64) -> String {
    if !(1e-3..1e4).contains(&value) {
        return format!("{value:.1e}");
    }
    let places = (1 - math::log10(value).floor() as i32).max(0) as usize;
    format!("{value:.places$}")
}

/// An amount of memory or disk space with two digits, e.g. "1.2 GB".
pub fn bytes_text(bytes: f64) -> String {
    let (factor, unit) = match bytes {
        bytes if bytes < 1e9 => (1e6, "MB"),
        bytes if bytes < 1e12 => (1e9, "GB"),
        _ => (1e12, "TB"),
    };
    format!("{} {unit}", two_digits((bytes / factor).max(1.0)))
}

/// A time with two digits, e.g. "3.5 min".
pub fn time_text(seconds: f64) -> String {
    let (factor, unit) = match seconds {
        seconds if seconds < 100.0 => (1.0, "s"),
        seconds if seconds < 6000.0 => (60.0, "min"),
        seconds if seconds < 3.0 * 86_400.0 => (3600.0, "h"),
        seconds if seconds < 1000.0 * 86_400.0 => (86_400.0, "days"),
        _ => (365.25 * 86_400.0, "years"),
    };
    format!("{} {unit}", two_digits((seconds / factor).max(1.0)))
}

#[cfg(test)]
mod tests {
    use sessile_scene::{NoFiles, parse_str};

    use super::*;

    const DROP: &str = "[[solids]]\nname = \"t\"\n[[drops]]\nshape = \"cap\"\nvolume = \"4 uL\"\n";

    fn estimate(model: &str, keys: &str, rest: &str) -> Estimate {
        let text = format!("model = \"{model}\"\n{keys}\n[time]\nduration = \"2 ms\"\nframe = \"1 ms\"\n{rest}");
        let scene = parse_str("a.toml", &text, &[], &NoFiles).unwrap_or_else(|error| panic!("{error}")).scene;
        Estimate::new(&scene, 2)
    }

    #[test]
    fn resolutions_that_fill_the_memory_are_refused_with_one_that_fits_r1() {
        let free = 10e9;
        for (model, key) in [("volume", "cell"), ("surface", "edge")] {
            assert_eq!(estimate(model, "", DROP).problem(free), None, "{model}");
            for size in ["1 nm", "100 nm", "0.4 um"] {
                let rest = format!("[resolution]\n{key} = \"{size}\"\n{DROP}");
                let problem = estimate(model, "", &rest).problem(free).unwrap_or_else(|| panic!("{model} at {size}"));
                let wanted = problem.split(&format!("set resolution.{key} to at least ")).nth(1).expect(&problem);
                let wanted = wanted.split(" mm").next().unwrap();
                let rest = format!("[resolution]\n{key} = \"{wanted} mm\"\n{DROP}");
                assert_eq!(estimate(model, "", &rest).problem(free), None, "{model} at {wanted} mm: {problem}");
            }
        }
    }

    /// Reproducer R2.
    #[test]
    fn solids_that_are_not_used_cost_no_memory_r2() {
        let spheres: String = (0..1000)
            .map(|k| {
                format!(
                    "[[solids]]\nname = \"s{k}\"\nshape = \"sphere\"\ncenter = \"{} 0 0 mm\"\nradius = \"5 mm\"\n",
                    30 * k
                )
            })
            .collect();
        for model in ["surface", "droplet"] {
            let estimate = estimate(model, "", &spheres);
            assert!(estimate.cost.memory_bytes < 2.0 * PROGRAM_BYTES, "{model}: {}", estimate.line());
            assert!(estimate.tight_memory(10e9).is_none());
        }
    }

    #[test]
    fn memory_that_is_nearly_exhausted_gets_a_warning() {
        let estimate = estimate("surface", "", &format!("[resolution]\nedge = \"2 um\"\n{DROP}"));
        let warning = estimate.tight_memory(estimate.cost.memory_bytes / 0.5).expect("a warning");
        assert!(warning.contains("of free memory"), "{warning}");
    }

    #[test]
    fn a_kilometer_drop_is_refused_or_warned_of_r1() {
        let rest = DROP.replace("volume = \"4 uL\"", "radius = \"1 km\"");
        for model in ["pane", "droplet", "surface", "volume"] {
            let estimate = estimate(model, "", &rest.replace("name = \"t\"", "name = \"t\"\nnormal = [0, 0, 1]"));
            assert!(estimate.warnings.iter().any(|warning| warning.contains("drops.0")), "{model}: {estimate:?}");
        }
        assert!(estimate("surface", "", &rest).problem(100e9).is_some());
    }

    #[test]
    fn emitters_of_too_many_drops_are_refused_or_warned_of() {
        let solid = "[[solids]]\nname = \"t\"\n[[emitters]]\n";
        for (model, emitter) in [
            ("pane", "kind = \"dew\"\non = \"t\"\nrate = \"1e9 uL/m^2/s\""),
            ("droplet", "kind = \"dew\"\non = \"t\"\nrate = \"1e9 uL/m^2/s\""),
            ("droplet", "kind = \"drip\"\nevery = \"1e-3 ns\"\nradius = \"1 um\""),
            (
                "droplet",
                "kind = \"rain\"\nover = \"t\"\nrate = \"1e9 mm/h\"\nradius = { min = \"0.01 mm\", max = \"0.02 mm\" }",
            ),
        ] {
            let rest = format!("{solid}{emitter}\n").replace("name = \"t\"", "name = \"t\"\nnormal = [0, 0, 1]");
            let estimate = estimate(model, "", &rest);
            let warned = estimate.warnings.iter().any(|warning| warning.contains("emitters.0"));
            assert!(warned || estimate.problem(10e9).is_some(), "{model}, {emitter}: {estimate:?}");
        }
        let drops = "[[drops]]\nshape = \"sphere\"\ncenter = \"0 9 0 mm\"\nradius = \"1 mm\"\n".repeat(20_000);
        let many = estimate("surface", "", &format!("[resolution]\nedge = \"20 um\"\n{drops}"));
        assert!(many.problem(10e9).is_some(), "{many:?}");
    }

    #[test]
    fn estimates_read_well() {
        let cost = CostEstimate { memory_bytes: 3.14e12, wall_seconds: 1e9, disk_bytes: 2e7 };
        let estimate = Estimate { cost, warnings: Vec::new(), advice: String::new(), resolution: None };
        assert_eq!(estimate.line(), "estimate: 3.1 TB of memory, 32 years, 20 MB on disk, without images");
        let lines = [1e11, 1e7].map(|duration| estimate.line_per_second(duration));
        assert_eq!(lines[0], "estimate: 3.1 TB of memory, 0.010 s for a simulated second");
        assert_eq!(lines[1], "estimate: 3.1 TB of memory, 1.7 min for a simulated second");
    }
}
