//! Recorded sessions: the scene, and every input with the tick at which it was applied. Replaying
//! one gives the same bits, so that a bug report is a file.
//!
//! The file is JSON, one object per line: a header, inputs, and at the end the digest of the state.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::input::Input;
use crate::run_writer::RunWriter;
use crate::session::{SceneSource, Session};

/// Largest recording that is read, in bytes.
const LARGEST: u64 = 256 << 20;

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Header { sessile: String, name: String, text: String, folder: PathBuf, trusted: bool, warm_up: f64 },
    Input { tick: u64, input: Input },
    End { tick: u64, digest: String },
}

/// Writes a recording while a session runs.
#[derive(Debug)]
pub struct Recorder {
    file: File,
}

impl Recorder {
    /// Creates the file and writes the header.
    pub fn create(path: &Path, source: &SceneSource, warm_up: f64) -> Result<Self, String> {
        let file = File::create(path).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        let mut recorder = Self { file };
        let SceneSource { name, text, folder, trusted } = source.clone();
        let sessile = env!("CARGO_PKG_VERSION").to_owned();
        recorder.write(&Line::Header { sessile, name, text, folder, trusted, warm_up })?;
        Ok(recorder)
    }

    /// Writes an input that is applied at a tick.
    pub fn input(&mut self, tick: u64, input: &Input) -> Result<(), String> {
        self.write(&Line::Input { tick, input: input.clone() })
    }

    /// Writes the digest of the last state.
    pub fn end(&mut self, session: &Session) -> Result<(), String> {
        self.write(&Line::End { tick: session.ticks(), digest: session.digest() })
    }

    fn write(&mut self, line: &Line) -> Result<(), String> {
        let mut text = serde_json::to_string(line).map_err(|error| error.to_string())?;
        text.push('\n');
        self.file.write_all(text.as_bytes()).map_err(|error| format!("cannot write the recording: {error}"))
    }
}

/// A recording that was read.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The scene.
    pub source: SceneSource,
    /// Seconds that it ran before the first input.
    pub warm_up: f64,
    /// Inputs with their ticks, in order.
    pub inputs: Vec<(u64, Input)>,
    /// Last tick and digest, if the session ended in order.
    pub end: Option<(u64, String)>,
}

impl Recording {
    /// Reads a recording.
    pub fn read(path: &Path) -> Result<Self, String> {
        let wrong = |what: String| format!("{}: {what}", path.display());
        let file = sessile_input::open(path, LARGEST).map_err(|error| wrong(error.to_string()))?;
        let mut lines = BufReader::new(file.take(LARGEST)).lines().enumerate();
        let mut next = || -> Result<Option<Line>, String> {
            let Some((number, line)) = lines.next() else { return Ok(None) };
            let line = line.map_err(|error| wrong(error.to_string()))?;
            let parsed = serde_json::from_str(&line);
            parsed.map(Some).map_err(|error| wrong(format!("line {} is no recorded input: {error}", number + 1)))
        };
        let Some(Line::Header { name, text, folder, trusted, warm_up, .. }) = next()? else {
            return Err(wrong("it does not begin with a scene; is it a recording of `sessile studio`?".into()));
        };
        let source = SceneSource { name, text, folder, trusted };
        let mut recording = Self { source, warm_up, inputs: Vec::new(), end: None };
        while let Some(line) = next()? {
            match line {
                Line::Input { tick, input } => recording.inputs.push((tick, input)),
                Line::End { tick, digest } => recording.end = Some((tick, digest)),
                Line::Header { .. } => return Err(wrong("it has two headers".into())),
            }
        }
        Ok(recording)
    }

    /// Opens the session as it was at the start.
    pub fn open(&self) -> Result<Session, String> {
        Session::open(self.source.clone(), self.warm_up)
    }

    /// Replays everything without a window, up to the last recorded tick.
    ///
    /// Inputs that failed when they were recorded fail again, and change nothing.
    pub fn replay(&self) -> Result<Session, String> {
        let session = self.open()?;
        self.replay_from(session, |_| Ok(()))
    }

    /// The same, and saves the run into a folder; a later scene or model ends it.
    pub fn replay_into(&self, folder: &Path) -> Result<Session, String> {
        let session = self.open()?;
        let mut writer = RunWriter::begin(folder, &session)?;
        let session = self.replay_from(session, |session| match writer.fits(session) {
            true => writer.after_tick(session),
            false => Ok(()),
        })?;
        writer.end()?;
        Ok(session)
    }

    fn replay_from(
        &self,
        mut session: Session,
        mut after_tick: impl FnMut(&mut Session) -> Result<(), String>,
    ) -> Result<Session, String> {
        let mut inputs = self.inputs.iter().peekable();
        let last = self.end.as_ref().map_or(0, |(tick, _)| *tick);
        let last = last.max(self.inputs.last().map_or(0, |(tick, _)| *tick));
        loop {
            while let Some((_, input)) = inputs.next_if(|(tick, _)| *tick <= session.ticks()) {
                let _ = session.apply(input);
            }
            if session.ticks() >= last {
                return Ok(session);
            }
            session.tick()?;
            after_tick(&mut session)?;
        }
    }
}
