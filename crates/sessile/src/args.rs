//! Command-line arguments as typed; the commands validate and resolve them.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use sessile_export::Format;
use sessile_frames::FrameSelection;
use sessile_render::Quality;
use sessile_scene::ModelKind;

const EXIT_CODES: &str = "\
Exit codes:
    0  done
    1  the command failed
    2  the command or the scene is wrong
   75  another process is writing to the run folder; try again later
  130  stopped by Ctrl-C; 143 by SIGTERM (128 plus the number of the signal)";

/// Simulate, measure and render water drops on surfaces
#[derive(Debug, Parser)]
#[command(name = "sessile", version, about, propagate_version = true, arg_required_else_help = true, after_help = EXIT_CODES)]
pub struct Cli {
    /// Command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate a scene, then render its images and video
    ///
    /// Frames and measures are written as the simulation advances. An interrupted run of the same
    /// scene resumes from its last checkpoint, with bit-identical results.
    ///
    /// Example: sessile run scenes/window.toml --set time.duration="2 s"
    Run(RunArgs),
    /// Run a scene many times with varied values, or search for a threshold
    ///
    /// Runs every combination of the values of the keys, which are given here or in the scene's
    /// `[sweep]` table, and gathers the measures of all runs into one table, results.csv and
    /// results.parquet, with plots in report.html. A repeated command executes only what is
    /// missing.
    ///
    /// Example: sessile sweep slope.toml --over drops.0.volume="10..60 uL / 6" --over
    /// materials.glass.receding="40,50,60 deg"
    ///
    /// Example: sessile sweep slope.toml --find slides --between drops.0.volume="10..60 uL"
    Sweep(SweepArgs),
    /// Make image pairs with ground truth of random drops, for computer vision
    ///
    /// Draws random scenes from the distributions of a spec over photographs, and writes for each
    /// the image with and without drops, soft coverage, drop ids, depth and refraction flow. A
    /// repeated command makes only what is missing. See docs/dataset.md.
    ///
    /// Example: sessile dataset windscreen.toml --count 10000
    ///
    /// Example: sessile dataset datasets/windscreen/samples.jsonl --sample 17 --out again
    Dataset(DatasetArgs),
    /// Make some samples of a dataset (an item of its plan)
    #[command(hide = true)]
    DatasetSamples(DatasetSamplesArgs),
    /// List the samples of a dataset (an item of its plan)
    #[command(hide = true)]
    DatasetGather(DatasetGatherArgs),
    /// Print how far a sweep or another plan has come, on this machine or on a cluster
    ///
    /// Example: sessile jobs sweeps/slope --json
    Jobs(JobsArgs),
    /// Execute a task of a job array
    #[command(hide = true)]
    Task(TaskArgs),
    /// Execute a part of a sweep
    #[command(hide = true)]
    SweepPart(SweepPartArgs),
    /// Check a scene and report all its errors at once
    ///
    /// Example: sessile check scenes/window.toml --model droplet
    Check(CheckArgs),
    /// Print the measures of a run: volumes, heights, contact angles, speeds
    ///
    /// Example: sessile measure runs/window --frame all --csv > window.csv
    Measure(MeasureArgs),
    /// Render images and the video of an existing run
    ///
    /// Example: sessile render runs/window --frames 100..120 --size 1920x1080 --samples 256
    Render(RenderArgs),
    /// Export a run to other programs: Blender, Houdini, ParaView, POV-Ray, notebooks
    ///
    /// The output appears under its name only when it is complete.
    ///
    /// Example: sessile export runs/window --to usd window.usdc --frames 0..60
    Export(ExportArgs),
    /// Convert a 3D model (USD, glTF, OBJ) to a scene file
    ///
    /// Example: sessile import model.usdc --as model.toml
    Import(ImportArgs),
    /// Compare the models with theory and report pass or fail
    ///
    /// Example: sessile validate --model pane --quick
    Validate(ValidateArgs),
    /// Run the papers' figures and write a page that compares them with the papers
    ///
    /// Simulates and renders the scenes of each figure, evaluates its measures, and writes
    /// DIR/index.html and DIR/figures.json. An interrupted command resumes; finished figures are
    /// not repeated.
    ///
    /// Example: sessile figures viscosities adhesion --quick
    Figures(FiguresArgs),
    /// Show drops in the browser and push them around, or play a run
    ///
    /// Without an argument: rain on a window, already running. The first line of the output is the
    /// address of the page; the server answers to this machine only, until Ctrl-C.
    ///
    /// Examples: sessile studio; sessile studio leaf; sessile studio runs/leaf
    Studio(StudioArgs),
    /// Run fixed benchmarks and report the cost per simulated second
    ///
    /// Example: sessile bench pane --threads 1
    Bench(BenchArgs),
    /// List the built-in scenes, or print one
    ///
    /// Example: sessile scenes merge > mine.toml
    Scenes(ScenesArgs),
    /// List the built-in materials
    Materials(ListArgs),
    /// List the built-in liquids
    Liquids(ListArgs),
    /// Print the JSON Schema of scene files, for editors and other programs
    ///
    /// Example: sessile schema > scene.schema.json
    Schema,
}

/// A scene and its overrides.
#[derive(Args, Debug)]
pub struct SceneArgs {
    /// Scene file, or the name of a built-in scene (see `sessile scenes`)
    pub scene: PathBuf,
    /// Override the scene's model
    #[arg(long, value_name = "MODEL", value_parser = PossibleValuesParser::new(ModelKind::NAMES))]
    pub model: Option<String>,
    /// Override a scene value by its dotted path, e.g. `drops.0.radius="2 mm"` (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
}

/// `sessile run`.
#[derive(Args, Debug)]
pub struct RunArgs {
    #[command(flatten)]
    pub scene: SceneArgs,
    /// Run folder [default: runs/NAME for a scene file NAME.toml]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Number of threads; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Discard an existing run in the folder and start over
    #[arg(long)]
    pub fresh: bool,
    /// Skip rendering of images and video
    #[arg(long)]
    pub no_pictures: bool,
    /// Renderer: `full` (path tracing) or `preview` (approximate, about 20 times faster)
    #[arg(long, value_name = "QUALITY", value_enum, default_value_t)]
    pub quality: RenderQuality,
    /// Wall-clock seconds between checkpoints; 0 writes one at every frame
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub checkpoint: f64,
}

/// `sessile sweep`.
#[derive(Args, Debug)]
pub struct SweepArgs {
    #[command(flatten)]
    pub scene: SceneArgs,
    /// Vary a key: `a,b,c unit`, `a..b unit / n`, `a..b unit log / n`, or a random draw such as
    /// `uniform(a, b) unit * n` (repeatable)
    #[arg(long, value_name = "KEY=VALUES")]
    pub over: Vec<String>,
    /// Repeat every combination with N seeds, counted from the scene's seed
    #[arg(long, value_name = "N")]
    pub seeds: Option<NonZeroU32>,
    /// Pair the n-th values of all keys instead of running all combinations
    #[arg(long)]
    pub zip: bool,
    /// Search for the value at which a condition becomes true: `slides`, `detaches`, `merges`, or
    /// an expression over measures such as "final.height > 2e-3"
    #[arg(long, value_name = "CONDITION", requires = "between", conflicts_with_all = ["over", "seeds", "zip"])]
    pub find: Option<String>,
    /// The key to vary and its range
    #[arg(long, value_name = "KEY=A..B", requires = "find")]
    pub between: Option<String>,
    /// Folder of the sweep [default: sweeps/NAME for a scene file NAME.toml]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub execution: ExecutionArgs,
    /// Check all combinations and print the number of runs, estimated CPU time and disk space,
    /// without running them
    #[arg(long)]
    pub dry_run: bool,
}

/// Where and how a plan of many parts is executed.
#[derive(Args, Debug)]
pub struct ExecutionArgs {
    /// Number of parts (runs, groups of frames) at a time on this machine [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Submit to a Slurm cluster instead: `slurm`, or `slurm:PARTITION`
    #[arg(long, value_name = "CLUSTER", value_parser = cluster, conflicts_with = "jobs")]
    pub on: Option<Cluster>,
    /// Options of the cluster (account, time limit, …) [default: slurm.toml here or in
    /// ~/.config/sessile]
    #[arg(long, value_name = "FILE", requires = "on")]
    pub profile: Option<PathBuf>,
    /// Repeat failed parts
    #[arg(long, value_name = "WHICH", value_parser = ["failed"])]
    pub retry: Option<String>,
}

/// A cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cluster {
    /// Slurm, with a partition if one is given.
    Slurm(Option<String>),
}

/// `sessile task`.
#[derive(Args, Debug)]
pub struct TaskArgs {
    /// Folder of the plan
    pub folder: PathBuf,
    /// Number of the submission
    pub submission: usize,
    /// Number of the task in its job array
    pub task: usize,
}

/// `sessile sweep-part`.
#[derive(Args, Debug)]
pub struct SweepPartArgs {
    /// Folder of the sweep
    pub folder: PathBuf,
    /// What to do
    #[arg(value_enum)]
    pub part: SweepPart,
    /// Number of the run or image
    pub number: usize,
}

/// A part of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SweepPart {
    /// A run.
    Run,
    /// A run of a search.
    Probe,
    /// The bracket of a search, its tables and the report.
    Found,
    /// An image of a last frame.
    Image,
    /// The tables and the report.
    Gather,
}

/// `sessile dataset`.
#[derive(Args, Debug)]
pub struct DatasetArgs {
    /// Spec of the dataset, or with --sample also the samples.jsonl of a dataset
    #[arg(required_unless_present = "example_photos")]
    pub spec: Option<PathBuf>,
    /// Number of samples
    #[arg(long, value_name = "N", required_unless_present_any = ["sample", "example_photos"])]
    pub count: Option<NonZeroU32>,
    /// Folder of the dataset [default: datasets/NAME for a spec NAME.toml]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub execution: ExecutionArgs,
    /// Make a single sample again, in --out
    #[arg(long, value_name = "N", requires = "out", conflicts_with_all = ["count", "jobs", "on"])]
    pub sample: Option<u64>,
    /// Write eight painted photographs of streets into a folder, to try the command with
    #[arg(long, value_name = "DIR", conflicts_with_all = ["spec", "count", "sample", "out"])]
    pub example_photos: Option<PathBuf>,
}

/// `sessile dataset-samples`.
#[derive(Args, Debug)]
pub struct DatasetSamplesArgs {
    /// Folder of the dataset
    pub folder: PathBuf,
    /// Number of the first sample
    pub first: u64,
    /// Number of the last sample
    pub last: u64,
    /// Number of threads
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
}

/// `sessile dataset-gather`.
#[derive(Args, Debug)]
pub struct DatasetGatherArgs {
    /// Folder of the dataset
    pub folder: PathBuf,
    /// Number of samples
    pub count: u64,
}

/// `sessile jobs`.
#[derive(Args, Debug)]
pub struct JobsArgs {
    /// Folder of the plan: of a sweep, a dataset or figures, or a run folder whose frames are
    /// rendered
    pub folder: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Renderer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RenderQuality {
    /// Path tracing.
    #[default]
    Full,
    /// Approximate, from precomputed lighting.
    Preview,
}

impl From<RenderQuality> for Quality {
    fn from(quality: RenderQuality) -> Self {
        match quality {
            RenderQuality::Full => Self::Full,
            RenderQuality::Preview => Self::Preview,
        }
    }
}

/// `sessile check`.
#[derive(Args, Debug)]
pub struct CheckArgs {
    #[command(flatten)]
    pub scene: SceneArgs,
}

/// `sessile measure`.
#[derive(Args, Debug)]
pub struct MeasureArgs {
    /// Run folder
    pub run: PathBuf,
    /// Frame to print: a number, `last` or `all`
    #[arg(long, value_name = "N|last|all", default_value = "last", value_parser = which_frames)]
    pub frame: WhichFrames,
    /// Print JSON: one object per frame, one frame per line
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print CSV: one row per drop and frame
    #[arg(long)]
    pub csv: bool,
}

/// Frames to print measures of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhichFrames {
    /// The frame with this number.
    Number(u32),
    /// The last frame.
    Last,
    /// Every frame.
    All,
}

/// `sessile render`.
#[derive(Args, Debug)]
pub struct RenderArgs {
    /// Run folder
    pub run: PathBuf,
    /// Frames: `A..B` (both ends included), `A..`, `..B`, a number, `last` or `all` [default: all]
    #[arg(long, value_name = "A..B", value_parser = frame_selection)]
    pub frames: Option<FrameSelection>,
    /// Image size in pixels, e.g. 1920x1080 [default: the scene's render.size]
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub size: Option<[u32; 2]>,
    /// Maximum samples per pixel; more samples reduce noise [default: the scene's render.samples]
    #[arg(long, value_name = "N")]
    pub samples: Option<NonZeroU32>,
    /// Disable denoising
    #[arg(long)]
    pub no_denoise: bool,
    /// Also write EXR files: linear radiance, albedo, normal, depth, drop ids
    #[arg(long)]
    pub exr: bool,
    /// Also write JPEG files
    #[arg(long)]
    pub jpeg: bool,
    /// Renderer: `full` (path tracing) or `preview` (approximate, about 20 times faster)
    #[arg(long, value_name = "QUALITY", value_enum, default_value_t)]
    pub quality: RenderQuality,
    /// Also write ground truth for computer vision: clean view, mask, drop ids, depth, refraction
    /// flow
    #[arg(long)]
    pub ground_truth: bool,
    /// Folder of images and video [default: those of the run; RUN/renders/... for a part of the
    /// frames or other settings than the scene's]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Only frames that have no image with these settings yet
    #[arg(long)]
    pub missing: bool,
    /// Number of threads; images do not depend on it [default: all cores]
    #[arg(long, value_name = "N", conflicts_with_all = ["jobs", "on"])]
    pub threads: Option<NonZeroUsize>,
    #[command(flatten)]
    pub execution: ExecutionArgs,
    /// Write images or the video only: a part of a plan
    #[arg(long, value_enum, hide = true, conflicts_with_all = ["jobs", "on"])]
    pub only: Option<RenderOnly>,
    /// Folder of images and video of a part of a plan, relative to the run folder
    #[arg(long, hide = true, conflicts_with = "out")]
    pub place: Option<PathBuf>,
}

/// What `sessile render` writes as a part of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RenderOnly {
    /// Images.
    Images,
    /// The video.
    Video,
}

/// `sessile export`.
#[derive(Args, Debug)]
pub struct ExportArgs {
    /// Run folder
    pub run: PathBuf,
    /// Format: usd, abc, gltf, ply, obj, stl, vtk, vdb, povray, mitsuba, pbrt, blender, maps,
    /// csv, parquet
    #[arg(long, value_name = "FORMAT", value_parser = export_format)]
    pub to: Format,
    /// Destination: a file, or a folder for formats that write many files
    pub dest: PathBuf,
    /// Frames: `A..B` (both ends included), `A..`, `..B`, a number, `last` or `all` [default: all]
    #[arg(long, value_name = "A..B", value_parser = frame_selection)]
    pub frames: Option<FrameSelection>,
    /// Write one file per drop (ply, obj, stl)
    #[arg(long)]
    pub split: bool,
    /// Overwrite existing files
    #[arg(long)]
    pub force: bool,
}

/// `sessile import`.
#[derive(Args, Debug)]
pub struct ImportArgs {
    /// Model file: .usda, .usdc, .usd, .usdz, .glb, .gltf, .abc, .obj, .ply or .stl; or the .ply or
    /// .obj files of consecutive frames, in order
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Scene file to write
    #[arg(long = "as", value_name = "SCENE.toml")]
    pub scene: PathBuf,
    /// Frames per second of a sequence of files
    #[arg(long, value_name = "N", default_value_t = 24.0, value_parser = frame_rate)]
    pub fps: f64,
    /// Overwrite existing files
    #[arg(long)]
    pub force: bool,
}

/// A frame rate that a scene can have.
fn frame_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate: &f64| (1e-3..=1e9).contains(rate));
    rate.ok_or_else(|| format!("expected a number of frames per second, e.g. 24, found `{text}`"))
}

/// `sessile validate`.
#[derive(Args, Debug)]
pub struct ValidateArgs {
    /// Run only the cases of this model, of `theory` (exact solutions) or of `agreement`
    /// (repeatable)
    #[arg(long = "model", value_name = "MODEL")]
    pub models: Vec<String>,
    /// Run only the case with this name
    #[arg(long, value_name = "NAME")]
    pub case: Option<String>,
    /// Run only the cases that take seconds, at reduced size
    #[arg(long)]
    pub quick: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Also write an HTML report with tables and plots to this folder
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
}

/// `sessile studio`.
#[derive(Args, Debug)]
pub struct StudioArgs {
    /// A scene file, the name of a built-in scene, or run folders: two are shown side by side
    #[arg(value_name = "SCENE|RUN", num_args = 0..=2)]
    pub what: Vec<PathBuf>,
    /// Port [default: a free one]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// Do not open the browser
    #[arg(long)]
    pub no_open: bool,
    /// Record the scene and all inputs into a file
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Save the run from the start, for `sessile render` [without it, the page's button saves into
    /// runs/NAME-studio]
    #[arg(long, value_name = "DIR")]
    pub save_run: Option<PathBuf>,
    /// Replay a recorded session to the same results
    #[arg(long, value_name = "FILE", conflicts_with = "what")]
    pub replay: Option<PathBuf>,
    /// With `--replay`: without a page; print the digest of the last state and compare it with the
    /// recorded one
    #[arg(long, requires = "replay", conflicts_with_all = ["port", "no_open", "record"])]
    pub headless: bool,
}

/// `sessile figures`.
#[derive(Args, Debug)]
pub struct FiguresArgs {
    /// Figures, by name [default: all]
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Folder of the page
    #[arg(long, value_name = "DIR", default_value = "figures")]
    pub out: PathBuf,
    /// Reduced resolution and duration, and preview images
    #[arg(long)]
    pub quick: bool,
    /// Number of threads; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", conflicts_with_all = ["jobs", "on"])]
    pub threads: Option<NonZeroUsize>,
    #[command(flatten)]
    pub execution: ExecutionArgs,
    /// Make only the figure with this number, without the page: a part of a plan
    #[arg(long, value_name = "N", hide = true, conflicts_with_all = ["jobs", "on"])]
    pub part: Option<usize>,
    /// Write only the page: a part of a plan
    #[arg(long, hide = true, conflicts_with_all = ["jobs", "on", "part"])]
    pub page: bool,
}

/// `sessile bench`.
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// Benchmarks, by name or prefix [default: all]
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `sessile scenes`.
#[derive(Args, Debug)]
pub struct ScenesArgs {
    /// Scene to print, ready to save and edit
    pub name: Option<String>,
    /// Print JSON
    #[arg(long, conflicts_with = "name")]
    pub json: bool,
}

/// `sessile materials`, `sessile liquids`.
#[derive(Args, Debug)]
pub struct ListArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds.is_finite() && seconds >= 0.0 => Ok(seconds),
        _ => Err("expected a number of seconds, 0 or more".into()),
    }
}

fn which_frames(text: &str) -> Result<WhichFrames, String> {
    match text {
        "last" => Ok(WhichFrames::Last),
        "all" => Ok(WhichFrames::All),
        number => {
            number.parse().map(WhichFrames::Number).map_err(|_| "expected a frame number, `last` or `all`".into())
        }
    }
}

fn frame_selection(text: &str) -> Result<FrameSelection, String> {
    text.parse().map_err(|error: sessile_frames::FrameSelectionError| error.to_string())
}

fn cluster(text: &str) -> Result<Cluster, String> {
    let partition =
        |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.,".contains(c));
    match text.split_once(':') {
        None if text == "slurm" => Ok(Cluster::Slurm(None)),
        Some(("slurm", name)) if partition(name) => Ok(Cluster::Slurm(Some(name.to_owned()))),
        _ => Err("expected `slurm` or `slurm:PARTITION`".into()),
    }
}

fn export_format(text: &str) -> Result<Format, String> {
    text.parse().map_err(|error: sessile_export::ExportError| error.to_string())
}

fn size(text: &str) -> Result<[u32; 2], String> {
    let sides = text.split_once(['x', 'X', '×']).map(|(width, height)| (width.trim().parse(), height.trim().parse()));
    match sides {
        Some((Ok(width), Ok(height))) if width > 0 && height > 0 => Ok([width, height]),
        _ => Err("expected width and height in pixels, e.g. 640x360".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_read() {
        assert_eq!(cluster("slurm"), Ok(Cluster::Slurm(None)));
        assert_eq!(cluster("slurm:short"), Ok(Cluster::Slurm(Some("short".into()))));
        for text in ["", "slurm:", "pbs", "slurm:a b", "slurm:--x;"] {
            assert!(cluster(text).is_err(), "{text}");
        }
    }
}
