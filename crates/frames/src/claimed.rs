//! Run folders that this process writes to, for a process that must end at once.
//!
//! A process that is told to end while a step, a mesh or an image takes long cannot wait for it.
//! [`mark_stopped`] then sets the status of its runs, from another thread; afterwards this process
//! writes no `run.json` any more.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use crate::atomic::Durability;
use crate::run_info::{RunInfo, RunStatus};

/// Locked while a `run.json` is written.
static WRITING: Mutex<()> = Mutex::new(());
/// The `run.json` of each folder that this process has locked.
static CLAIMED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Longest wait for a write in progress.
const PATIENCE: Duration = Duration::from_millis(200);

/// Held while a `run.json` is written.
pub(crate) fn writing() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Remembers a folder that this process has locked.
pub(crate) fn add(info: &Path) {
    CLAIMED.lock().unwrap_or_else(PoisonError::into_inner).push(info.to_owned());
}

/// Forgets a folder whose lock is released.
pub(crate) fn remove(info: &Path) {
    CLAIMED.lock().unwrap_or_else(PoisonError::into_inner).retain(|claimed| claimed != info);
}

/// Sets the status of the runs that this process is writing to `stopped`. To be followed by the end
/// of the process: all later writes of a `run.json` wait forever.
pub fn mark_stopped() {
    let deadline = Instant::now() + PATIENCE;
    let guard = loop {
        match WRITING.try_lock() {
            Ok(guard) => break guard,
            Err(TryLockError::Poisoned(error)) => break error.into_inner(),
            // A write that does not end, such as on a network disk that is gone.
            Err(TryLockError::WouldBlock) if Instant::now() > deadline => return,
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let claimed = CLAIMED.lock().unwrap_or_else(PoisonError::into_inner).clone();
    for path in claimed {
        if let Ok(mut info) = RunInfo::read(&path)
            && info.status == RunStatus::Running
        {
            info.status = RunStatus::Stopped;
            // Without it the status stays `running`, as after a kill.
            let _ = info.write_locked(&path, Durability::Handed);
        }
    }
    std::mem::forget(guard);
}
