//! The command line as it is typed. What the values mean is settled by the commands.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use sessile_export::Format;
use sessile_frames::FrameSelection;
use sessile_render::render_run::Quality;

/// Simulates, measures and pictures water drops on surfaces.
#[derive(Debug, Parser)]
#[command(name = "sessile", version, about, propagate_version = true, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate a scene and draw it: writes frames and measures as it goes, then pictures and a video; goes on where an earlier run stopped
    Run(RunArgs),
    /// Read and validate a scene: shows all its errors at once
    Check(CheckArgs),
    /// Print the numbers of a run: volumes, heights, contact angles …
    Measure(MeasureArgs),
    /// Draw pictures and the video of a run again
    Render(RenderArgs),
    /// Write a run's frames for other programs: Blender, Houdini, ParaView, POV-Ray, notebooks …
    Export(ExportArgs),
    /// Turn a model (USD, glTF, OBJ) into a scene that is ready to edit
    Import(ImportArgs),
    /// Hold the physics against theory: expected, got, error, tolerance, pass
    Validate(ValidateArgs),
    /// Do fixed work and say what a simulated second costs
    Bench(BenchArgs),
    /// List the scenes that ship with the program, or print one
    Scenes(ScenesArgs),
    /// List the materials that solids can be made of
    Materials(ListArgs),
    /// List the liquids
    Liquids(ListArgs),
}

/// A scene and what to change in it.
#[derive(Args, Debug)]
pub struct SceneArgs {
    /// A scene file, or the name of a scene that ships with the program (see `sessile scenes`)
    pub scene: PathBuf,
    /// Use this model instead of the scene's
    #[arg(long, value_name = "MODEL", value_parser = ["pane", "droplet", "surface", "volume"])]
    pub model: Option<String>,
    /// Change the scene at a dotted path, such as `drops.0.radius="2 mm"`; can be given again
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
}

/// `sessile run`.
#[derive(Args, Debug)]
pub struct RunArgs {
    #[command(flatten)]
    pub scene: SceneArgs,
    /// Run folder [default: runs/<the scene file's stem>]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Threads to use; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Start over, even if the folder holds a run
    #[arg(long)]
    pub fresh: bool,
    /// Draw no pictures and no video
    #[arg(long)]
    pub no_pictures: bool,
    /// How pictures find their light: `full` traces its paths, `preview` looks it up in a fraction of the time
    #[arg(long, value_name = "QUALITY", value_enum, default_value_t)]
    pub quality: PictureQuality,
    /// Wall time between checkpoints, in seconds; 0 writes one at every frame
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub checkpoint: f64,
}

/// How pictures find their light.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PictureQuality {
    /// Trace its paths.
    #[default]
    Full,
    /// Look it up.
    Preview,
}

impl From<PictureQuality> for Quality {
    fn from(quality: PictureQuality) -> Self {
        match quality {
            PictureQuality::Full => Self::Full,
            PictureQuality::Preview => Self::Preview,
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
    /// Which frame: a number, `last` or `all`
    #[arg(long, value_name = "N|last|all", default_value = "last", value_parser = which_frames)]
    pub frame: WhichFrames,
    /// Print JSON, one object per line and frame
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print CSV, one row per drop and frame
    #[arg(long)]
    pub csv: bool,
}

/// Which frames to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhichFrames {
    /// This one.
    Number(u32),
    /// The last one there is.
    Last,
    /// All there are.
    All,
}

/// `sessile render`.
#[derive(Args, Debug)]
pub struct RenderArgs {
    /// Run folder
    pub run: PathBuf,
    /// Which frames: `A..B` (both ends included), `A..`, `..B`, a number or `last` [default: all]
    #[arg(long, value_name = "A..B", value_parser = frame_choice)]
    pub frames: Option<FrameSelection>,
    /// Picture size, such as 1920x1080 [default: the scene's]
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub size: Option<[u32; 2]>,
    /// Most samples per pixel: more take longer and leave less noise [default: the scene's]
    #[arg(long, value_name = "N")]
    pub samples: Option<NonZeroU32>,
    /// Leave the noise of few samples in
    #[arg(long)]
    pub no_denoise: bool,
    /// Write EXR files too: linear light, albedo, normal, depth, drop ids
    #[arg(long)]
    pub exr: bool,
    /// How light is found: `full` traces its paths, `preview` looks it up in a fraction of the time
    #[arg(long, value_name = "QUALITY", value_enum, default_value_t)]
    pub quality: PictureQuality,
    /// Write ground truth for vision too: the clean view without drops, mask, drop ids, depth, refraction flow
    #[arg(long)]
    pub ground_truth: bool,
    /// Threads to use; pictures do not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
}

/// `sessile export`.
#[derive(Args, Debug)]
pub struct ExportArgs {
    /// Run folder
    pub run: PathBuf,
    /// Which format: usd, abc, gltf, ply, obj, stl, vtk, vdb, povray, mitsuba, pbrt, blender, csv, parquet
    #[arg(long, value_name = "FORMAT", value_parser = export_format)]
    pub to: Format,
    /// Where to: a file, or for formats of many files a folder
    pub dest: PathBuf,
    /// Which frames: `A..B` (both ends included), `A..`, `..B`, a number or `last` [default: all]
    #[arg(long, value_name = "A..B", value_parser = frame_choice)]
    pub frames: Option<FrameSelection>,
    /// Write each drop into a file of its own (ply, obj, stl)
    #[arg(long)]
    pub split: bool,
    /// Replace what is there
    #[arg(long)]
    pub force: bool,
}

/// `sessile import`.
#[derive(Args, Debug)]
pub struct ImportArgs {
    /// A model: .usda, .usdc, .usd, .glb, .gltf or .obj
    pub file: PathBuf,
    /// The scene to write
    #[arg(long = "as", value_name = "SCENE.toml")]
    pub scene: PathBuf,
    /// Replace what is there
    #[arg(long)]
    pub force: bool,
}

/// `sessile validate`.
#[derive(Args, Debug)]
pub struct ValidateArgs {
    /// Only cases of this model (or `theory`, the exact solutions themselves); can be given again
    #[arg(long = "model", value_name = "MODEL")]
    pub models: Vec<String>,
    /// Only the case with this name
    #[arg(long, value_name = "NAME")]
    pub case: Option<String>,
    /// Only cases that take seconds, at their smaller size
    #[arg(long)]
    pub quick: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Also write a page with tables and plots into this folder
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
}

/// `sessile bench`.
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// Which ones, by name or family [default: all]
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Threads to use [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `sessile scenes`.
#[derive(Args, Debug)]
pub struct ScenesArgs {
    /// Print this one, ready to save and edit
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
        _ => Err("must be a number of seconds, 0 or more".into()),
    }
}

fn which_frames(text: &str) -> Result<WhichFrames, String> {
    match text {
        "last" => Ok(WhichFrames::Last),
        "all" => Ok(WhichFrames::All),
        number => number.parse().map(WhichFrames::Number).map_err(|_| "must be a frame number, `last` or `all`".into()),
    }
}

fn frame_choice(text: &str) -> Result<FrameSelection, String> {
    text.parse().map_err(|error: sessile_frames::FrameSelectionError| error.to_string())
}

fn export_format(text: &str) -> Result<Format, String> {
    text.parse().map_err(|error: sessile_export::ExportError| error.to_string())
}

fn size(text: &str) -> Result<[u32; 2], String> {
    let sides = text.split_once(['x', 'X', '×']).map(|(width, height)| (width.trim().parse(), height.trim().parse()));
    match sides {
        Some((Ok(width), Ok(height))) if width > 0 && height > 0 => Ok([width, height]),
        _ => Err("must be columns and rows of pixels, such as 640x360".into()),
    }
}
