//! `sessile studio`: serves the page of a scene, a run or a recorded session.

use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sessile_sim::scenes::SCENES;
use sessile_sim::{Estimate, hardware_threads};
use sessile_studio::{Content, Recording, SceneSource, Studio, StudioOptions};

use crate::args::StudioArgs;
use crate::failure::Failure;
use crate::interrupt;
use crate::stderr;

/// The scene that is shown without an argument, and the seconds that it has run by then.
const FIRST_SCENE: &str = "window";
const WARM_UP: f64 = 6.0;
/// Largest scene file, in bytes.
const LARGEST_SCENE: u64 = 64 << 20;

/// Serves until a signal, which decides the exit code.
pub fn studio(args: &StudioArgs) -> Result<(), Failure> {
    if let Some(path) = args.replay.as_ref().filter(|_| args.headless) {
        return replay(path, args.save_run.as_deref());
    }
    let content = content(args)?;
    content.source().map_or(Ok(()), estimate)?;
    let options = StudioOptions { port: args.port, record: args.record.clone(), save_run: args.save_run.clone() };
    let studio = Studio::open(&content, &options).map_err(Failure::wrong)?;
    let address = studio.address().map_err(Failure::failed)?;
    // Before the address: a program that reads it may send a signal at once.
    interrupt::begin_work_that_ends_by("closing the page, the recording and the saved run");
    writeln!(stdout(), "{address}")?;
    stdout().flush()?;
    stderr::line("the studio runs until Ctrl-C");
    if !args.no_open {
        open_browser(&address);
    }
    studio.serve(interrupt::stop_flag()).map_err(Failure::failed)?;
    Err(Failure::Stopped("the studio has ended".into()))
}

/// Prints what the scene needs, before anything is built.
fn estimate(source: &SceneSource) -> Result<(), Failure> {
    let scene = source.scene().map_err(Failure::wrong)?;
    let estimate = Estimate::new(&scene, hardware_threads().get());
    estimate.check_memory().map_err(Failure::wrong)?;
    stderr::line(&estimate.line_per_second(scene.time.duration));
    estimate.warnings.iter().for_each(|warning| stderr::line(warning));
    Ok(())
}

/// Replays a recording without a page and compares its last state with the recorded one.
fn replay(path: &Path, save_run: Option<&Path>) -> Result<(), Failure> {
    let recording = Recording::read(path).map_err(Failure::wrong)?;
    estimate(&recording.source)?;
    let session = save_run.map_or_else(|| recording.replay(), |folder| recording.replay_into(folder));
    let session = session.map_err(Failure::failed)?;
    let digest = session.digest();
    writeln!(stdout(), "{digest}")?;
    let (time, drops) = (session.model().time(), session.model().frame().drops.len());
    stderr::line(&format!(
        "{} inputs, {} ticks: t = {time:.3} s, {drops} drops",
        recording.inputs.len(),
        session.ticks()
    ));
    match recording.end {
        Some((_, recorded)) if recorded != digest => {
            Err(Failure::failed(format!("the recorded session ended in another state, {recorded}")))
        }
        _ => Ok(()),
    }
}

fn content(args: &StudioArgs) -> Result<Content, Failure> {
    if let Some(path) = &args.replay {
        return Ok(Content::Replay(Recording::read(path).map_err(Failure::wrong)?));
    }
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let built_in = |name: &str, text: &str| SceneSource {
        name: name.to_owned(),
        text: text.to_owned(),
        folder: here.clone(),
        trusted: true,
    };
    let shipped = |name: &str| SCENES.iter().find(|scene| scene.name == name);
    let Some(first) = args.what.first() else {
        let text = shipped(FIRST_SCENE).map_or("", |scene| scene.text);
        return Ok(Content::Scene { source: built_in(FIRST_SCENE, text), warm_up: WARM_UP });
    };
    if args.what.iter().all(|path| path.join("run.json").is_file()) {
        return Ok(Content::Run(args.what.clone()));
    }
    if args.what.len() > 1 {
        return Err(Failure::wrong("two arguments must be two run folders"));
    }
    if first.is_file() {
        let bytes = sessile_input::read(first, LARGEST_SCENE)?;
        let text = String::from_utf8(bytes).map_err(|_| Failure::wrong(format!("{} is no text", first.display())))?;
        let folder = first.canonicalize()?.parent().map_or(here, Path::to_owned);
        let source = SceneSource { name: first.display().to_string(), text, folder, trusted: true };
        return Ok(Content::Scene { source, warm_up: 0.0 });
    }
    match first.to_str().and_then(shipped) {
        Some(scene) => Ok(Content::Scene { source: built_in(scene.name, scene.text), warm_up: 0.0 }),
        None => Err(Failure::wrong(format!(
            "{} is no scene file, no run folder and no built-in scene (`sessile scenes` lists those)",
            first.display()
        ))),
    }
}

/// Opens the browser, if the system has a command for that; the address is on the terminal anyway.
fn open_browser(address: &str) {
    let (command, first): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    let quiet = || Stdio::null();
    let started = Command::new(command).args(first).arg(address).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
    if started.is_err() {
        stderr::line("open the address above in a browser");
    }
}
