//! Execution of one item, in a process of its own.
//!
//! The log of the item is locked while it is executed. The process of the item inherits the lock,
//! so that it also holds for a process that outlives the one that started it.

use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sessile_frames::{Durability, FileError, atomic};

use crate::TRY_AGAIN;
use crate::error::JobsError;
use crate::plan::{Stage, write_json};

/// Exit codes of a process that was asked to stop: SIGINT, SIGTERM, SIGXCPU.
const STOPPED: [i32; 3] = [130, 143, 152];
/// Longest interval at which a running process is polled.
const POLL: Duration = Duration::from_millis(20);
/// Lines of messages that are kept as the reason of a failure, and the bytes that are read for
/// them.
const REASON_LINES: usize = 12;
const REASON_BYTES: u64 = 1 << 16;
/// Attempts to lock a log, and the time between them: a reader of the status holds a lock for
/// microseconds.
const LOCK_ATTEMPTS: usize = 10;
const LOCK_INTERVAL: Duration = Duration::from_millis(20);

/// An item of a stage, ready for execution.
#[derive(Clone, Copy)]
pub struct Item<'a> {
    /// Folder of the plan.
    pub folder: &'a Path,
    /// The stage.
    pub stage: &'a Stage,
    /// Number of the item.
    pub item: usize,
}

/// How the execution of an item ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Complete.
    Done,
    /// Failed, with the last messages.
    Failed(String),
    /// Another process is executing the item, or uses its files.
    Busy,
    /// Asked to stop; it can be continued.
    Stopped,
}

/// The contents of a `.done` file.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct DoneFile {
    /// Wall time of the last execution, in s.
    pub seconds: f64,
}

impl Item<'_> {
    /// Executes the item unless it is done; `stop` asks the process to save and end.
    pub fn execute(&self, program: &Path, threads: usize, stop: &AtomicBool) -> Result<Outcome, JobsError> {
        let Some(mut log) = self.lock()? else { return Ok(Outcome::Busy) };
        let outcome = self.execute_locked(&mut log, program, threads, stop);
        // Processes that other threads are starting have inherited the file until they execute
        // their program; they must not keep the lock.
        let _unsupported: std::io::Result<()> = log.unlock();
        outcome
    }

    fn execute_locked(
        &self,
        log: &mut File,
        program: &Path,
        threads: usize,
        stop: &AtomicBool,
    ) -> Result<Outcome, JobsError> {
        let [done, failed] = ["done", "failed"].map(|extension| self.stage.path(self.folder, self.item, extension));
        let output = self.stage.output_of(self.folder, self.item);
        // It may have been completed since it was found to be waiting.
        if done.exists() && output.is_none_or(|output| output.exists()) {
            return Ok(Outcome::Done);
        }
        atomic::remove(&failed)?;
        let path = self.stage.path(self.folder, self.item, "log");
        let failed_log = |cause| FileError::new("write", &path, cause);
        let start = log.seek(SeekFrom::End(0)).map_err(failed_log)?;
        let messages = log.try_clone().map_err(failed_log)?;
        let mut command = Command::new(program);
        command.args(self.stage.arguments(self.folder, self.item, threads));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(messages);
        let cannot_start = |cause| JobsError::Start { program: program.display().to_string(), cause };
        let clock = Instant::now();
        let status = command.spawn().and_then(|child| wait(child, stop)).map_err(cannot_start)?;
        let code = status.code();
        if status.success() {
            write_json(&done, &DoneFile { seconds: clock.elapsed().as_secs_f64() })?;
            Ok(Outcome::Done)
        } else if stop.load(Ordering::Relaxed) || code.is_some_and(|code| STOPPED.contains(&code)) {
            Ok(Outcome::Stopped)
        } else if code == Some(i32::from(TRY_AGAIN)) {
            Ok(Outcome::Busy)
        } else {
            let reason = reason(log, start, status);
            atomic::write(&failed, reason.as_bytes(), Durability::Handed)?;
            Ok(Outcome::Failed(reason))
        }
    }

    /// Opens and locks the log; `None` while another process holds the lock.
    fn lock(&self) -> Result<Option<File>, JobsError> {
        let path = self.stage.path(self.folder, self.item, "log");
        atomic::create_folder(&self.stage.folder(self.folder))?;
        let opened = File::options().create(true).append(true).read(true).open(&path);
        let log = opened.map_err(|cause| FileError::new("write", &path, cause))?;
        for attempt in 0..LOCK_ATTEMPTS {
            if attempt > 0 {
                std::thread::sleep(LOCK_INTERVAL);
            }
            match log.try_lock() {
                Ok(()) => return Ok(Some(log)),
                Err(TryLockError::WouldBlock) => {}
                // Some network file systems have no locks.
                Err(TryLockError::Error(cause)) if cause.kind() == ErrorKind::Unsupported => return Ok(Some(log)),
                Err(TryLockError::Error(cause)) => return Err(FileError::new("lock", &path, cause).into()),
            }
        }
        Ok(None)
    }
}

/// Whether a process executes the item with this log.
pub(crate) fn is_locked(log: &Path) -> bool {
    sessile_input::open(log, u64::MAX).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Waits for a process; asks it to stop when the flag is set, and lets it save.
fn wait(mut child: Child, stop: &AtomicBool) -> std::io::Result<ExitStatus> {
    let mut asked = false;
    let mut interval = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if stop.load(Ordering::Relaxed) && !asked {
            asked = true;
            ask_to_stop(&mut child);
        }
        std::thread::sleep(interval);
        interval = (2 * interval).min(POLL);
    }
}

#[cfg(unix)]
fn ask_to_stop(child: &mut Child) {
    let sent = Command::new("kill").arg("-TERM").arg(child.id().to_string()).stderr(Stdio::null()).status();
    if !sent.is_ok_and(|status| status.success()) {
        // What is complete remains.
        let _ = child.kill();
    }
}

#[cfg(not(unix))]
fn ask_to_stop(child: &mut Child) {
    // What is complete remains.
    let _ = child.kill();
}

/// The last messages of a failed item; those before `start` are of earlier executions.
fn reason(log: &mut File, start: u64, status: ExitStatus) -> String {
    let last = last_lines(log, start).unwrap_or_default();
    format!("{last}\n({status})\n").trim_start().to_owned()
}

/// The last lines of a file after `start`.
pub(crate) fn last_lines(file: &mut File, start: u64) -> std::io::Result<String> {
    let end = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(start.max(end.saturating_sub(REASON_BYTES))))?;
    let mut bytes = Vec::new();
    file.take(REASON_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    Ok(lines[lines.len().saturating_sub(REASON_LINES)..].join("\n"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::state::{ItemState, StageState};

    /// Executes `sh -c SCRIPT` as the only item of a stage.
    fn execute(folder: &Path, script: &str, stop: bool) -> (Outcome, ItemState) {
        let stage = Stage::new("work", ["-c", script], 0..1);
        let item = Item { folder, stage: &stage, item: 0 };
        let outcome = item.execute(Path::new("/bin/sh"), 1, &AtomicBool::new(stop)).expect("executed");
        (outcome, StageState::read(folder, &stage).expect("readable").items.remove(0))
    }

    #[test]
    fn exit_codes_decide_the_state() {
        let cases = [
            ("exit 0", Outcome::Done, ItemState::Done),
            ("exit 75", Outcome::Busy, ItemState::Waiting),
            ("exit 143", Outcome::Stopped, ItemState::Waiting),
            ("exit 152", Outcome::Stopped, ItemState::Waiting),
        ];
        for (script, outcome, state) in cases {
            let folder = tempfile::tempdir().expect("a folder");
            assert_eq!(execute(folder.path(), script, false), (outcome, state), "{script}");
        }
    }

    #[test]
    fn a_failed_item_keeps_its_last_messages_and_can_be_repeated() {
        let folder = tempfile::tempdir().expect("a folder");
        let script = "for i in $(seq 20); do echo line $i >&2; done; exit 3";
        let (_, ItemState::Failed(reason)) = execute(folder.path(), script, false) else { panic!("it fails") };
        assert!(reason.starts_with("line 9\n") && reason.contains("line 20\n(exit status: 3)"), "{reason}");
        // The log is kept, but the reason is that of the last execution.
        let (_, ItemState::Failed(reason)) = execute(folder.path(), "echo again >&2; kill -9 $$", false) else {
            panic!("it fails")
        };
        assert_eq!(reason, "again\n(signal: 9 (SIGKILL))");
        assert_eq!(execute(folder.path(), "exit 0", false).1, ItemState::Done);
        assert_eq!(execute(folder.path(), "exit 1", false), (Outcome::Done, ItemState::Done), "it is not repeated");
    }

    #[test]
    fn a_stopped_process_is_asked_to_save() {
        let folder = tempfile::tempdir().expect("a folder");
        let script = "trap 'touch saved; exit 143' TERM; cd \"$1\"; while true; do sleep 0.01; done";
        let stage = Stage::new("work", ["-c", script, "sh", "{folder}"], 0..1);
        let stop = AtomicBool::new(false);
        let outcome = std::thread::scope(|scope| {
            let item = Item { folder: folder.path(), stage: &stage, item: 0 };
            let stop = &stop;
            let worker = scope.spawn(move || item.execute(Path::new("/bin/sh"), 1, stop));
            let states = || StageState::read(folder.path(), &stage).expect("readable").items;
            let begun = Instant::now();
            while states() != [ItemState::Running] && begun.elapsed() < Duration::from_secs(30) {
                std::thread::sleep(Duration::from_millis(10));
            }
            // The script has its trap.
            std::thread::sleep(Duration::from_millis(300));
            let (found, second) = (states(), item.execute(Path::new("/bin/sh"), 1, stop));
            // Before any panic, which would wait for the worker.
            stop.store(true, Ordering::Relaxed);
            assert_eq!(found, [ItemState::Running]);
            assert_eq!(second.expect("refused"), Outcome::Busy);
            worker.join().expect("no panic").expect("executed")
        });
        assert_eq!(outcome, Outcome::Stopped);
        assert!(folder.path().join("saved").exists());
    }

    #[test]
    fn a_missing_output_means_not_done() {
        let folder = tempfile::tempdir().expect("a folder");
        let script = "touch \"$1/out-$2\"";
        let stage = Stage::new("work", ["-c", script, "sh", "{folder}", "{item}"], 0..1).writing("out-{item}");
        let item = Item { folder: folder.path(), stage: &stage, item: 0 };
        let stop = AtomicBool::new(false);
        let state = || StageState::read(folder.path(), &stage).expect("readable").items.remove(0);
        for _ in 0..2 {
            assert_eq!(state(), ItemState::Waiting);
            item.execute(Path::new("/bin/sh"), 1, &stop).expect("executed");
            assert_eq!(state(), ItemState::Done);
            std::fs::remove_file(folder.path().join("out-00000")).expect("removed");
        }
    }
}
