//! `sessile run`: simulates a scene into its run folder and renders it.

use std::path::Path;

use sessile_appearance::SceneAssets;
use sessile_render::{FramesToRender, RenderOptions};
use sessile_sim::{RunError, RunOptions, RunOutcome, run as simulate};

use super::quoted;
use crate::args::RunArgs;
use crate::commands::{render, scene};
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::StderrProgress;
use crate::stderr;

/// Simulates the scene, or resumes its run, and renders the missing images.
pub fn run(args: &RunArgs) -> Result<(), Failure> {
    let scene = scene::load(&args.scene)?;
    let name = stem(&args.scene.scene);
    let options = RunOptions {
        out: args.out.clone().unwrap_or_else(|| Path::new("runs").join(&name)),
        name,
        fresh: args.fresh,
        threads: super::threads(args.threads),
        checkpoint_seconds: args.checkpoint,
        command: resume_command(std::env::args().skip(1)),
    };
    if !args.no_pictures {
        // A missing or broken image file is reported before the simulation starts.
        SceneAssets::load(&scene).map_err(Failure::wrong)?;
    }
    let progress = StderrProgress::new();
    let stop = interrupt::stop_flag();
    let outcome = simulate(&scene, &options, &progress, stop).map_err(failure)?;

    let out = options.out.display();
    match outcome {
        RunOutcome::Stopped { frame } => {
            return Err(Failure::Stopped(format!("stopped at frame {frame}; `{}` resumes from here", options.command)));
        }
        RunOutcome::Done { frame, settled: true } => {
            stderr::line(&format!("at rest in frame {frame}; the run is in {out}"));
        }
        RunOutcome::Done { frame, settled: false } => stderr::line(&format!("done: {} frames in {out}", frame + 1)),
        RunOutcome::AlreadyDone { frame, settled } => {
            let rest = if settled { ", at rest" } else { "" };
            stderr::line(&format!("the run in {out} is finished ({} frames{rest}); `--fresh` starts over", frame + 1));
        }
    }
    if args.no_pictures {
        return Ok(());
    }
    let missing = RenderOptions { quality: args.quality.into(), ..RenderOptions::new(FramesToRender::Missing) };
    let summary = render::render_images(&options.out, &missing, options.threads, stop)?;
    if summary.stopped {
        return Err(render::stopped(&summary, &options.command));
    }
    if summary.images > 0 {
        render::report(&summary);
    }
    Ok(())
}

fn failure(error: RunError) -> Failure {
    match error {
        error if error.is_wrong_scene() => Failure::wrong(error),
        error if error.is_busy() => Failure::Busy(error.to_string()),
        error => Failure::failed(error),
    }
}

/// `leaf` for `scenes/leaf.toml`.
pub fn stem(scene: &Path) -> String {
    scene.file_stem().unwrap_or(scene.as_os_str()).to_string_lossy().into_owned()
}

/// The command that resumes this run: the same arguments without `--fresh`.
fn resume_command(args: impl Iterator<Item = String>) -> String {
    let kept = args.filter(|arg| arg != "--fresh").map(|arg| quoted(&arg));
    ["sessile".to_owned()].into_iter().chain(kept).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_to_resume_can_be_pasted_into_a_shell() {
        let args = ["run", "leaf.toml", "--fresh", "--set", "drops.0.radius=\"2 mm\""].map(str::to_owned);
        assert_eq!(resume_command(args.into_iter()), "sessile run leaf.toml --set 'drops.0.radius=\"2 mm\"'");
    }

    #[test]
    fn runs_are_named_after_their_scene() {
        assert_eq!(stem(Path::new("scenes/leaf.toml")), "leaf");
        assert_eq!(stem(Path::new("window")), "window");
    }
}
