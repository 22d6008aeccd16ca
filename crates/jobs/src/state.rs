//! States of items, as the folder of a plan shows them.

use std::fmt;
use std::io::ErrorKind;
use std::path::Path;

use serde::Serialize;
use sessile_frames::{FileError, atomic};

use crate::error::JobsError;
use crate::item::is_locked;
use crate::plan::Stage;

/// State of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemState {
    /// Not started, or stopped before its end.
    Waiting,
    /// A process is executing it.
    Running,
    /// Complete.
    Done,
    /// Failed, with the reason.
    Failed(String),
}

/// States of all items of a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageState {
    /// One state per item.
    pub items: Vec<ItemState>,
}

/// Numbers of units by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// All units.
    pub total: u64,
    /// Complete ones.
    pub done: u64,
    /// Those that a process is working on.
    pub running: u64,
    /// Those still to be executed.
    pub waiting: u64,
    /// Failed ones.
    pub failed: u64,
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} done", self.done, self.total)?;
        for (count, state) in [(self.running, "running"), (self.waiting, "waiting"), (self.failed, "failed")] {
            if count > 0 {
                write!(f, ", {count} {state}")?;
            }
        }
        Ok(())
    }
}

impl Totals {
    /// The number of units in a state like this one.
    fn field(&mut self, state: &ItemState) -> &mut u64 {
        match state {
            ItemState::Waiting => &mut self.waiting,
            ItemState::Running => &mut self.running,
            ItemState::Done => &mut self.done,
            ItemState::Failed(_) => &mut self.failed,
        }
    }

    /// Adds units in a state.
    pub(crate) fn add(&mut self, state: &ItemState, units: u64) {
        *self.field(state) += units;
        self.total += units;
    }

    /// Moves units from one state to another.
    pub(crate) fn change(&mut self, from: &ItemState, to: &ItemState, units: u64) {
        let field = self.field(from);
        *field = field.saturating_sub(units);
        *self.field(to) += units;
    }

    /// The sum of two.
    #[must_use]
    pub(crate) fn plus(mut self, other: Self) -> Self {
        self.total += other.total;
        self.done += other.done;
        self.running += other.running;
        self.waiting += other.waiting;
        self.failed += other.failed;
        self
    }
}

/// What the folder of a stage has of an item.
#[derive(Clone, Copy, Default)]
struct Files {
    done: bool,
    failed: bool,
    log: bool,
}

impl StageState {
    /// Reads the states from the folder of a plan.
    pub fn read(folder: &Path, stage: &Stage) -> Result<Self, JobsError> {
        let files = list(folder, stage)?;
        let state = |(item, files): (usize, &Files)| {
            let output_exists = || stage.output_of(folder, item).is_none_or(|output| output.exists());
            if files.done && output_exists() {
                return ItemState::Done;
            }
            // A repeated item loses its mark before it starts.
            if !files.failed {
                let running = files.log && is_locked(&stage.path(folder, item, "log"));
                return if running { ItemState::Running } else { ItemState::Waiting };
            }
            let reason = atomic::read(&stage.path(folder, item, "failed")).unwrap_or_default();
            ItemState::Failed(String::from_utf8_lossy(&reason).trim().to_owned())
        };
        Ok(Self { items: files.iter().enumerate().map(state).collect() })
    }

    /// Numbers of units by state.
    pub fn totals(&self, stage: &Stage) -> Totals {
        let mut totals = Totals::default();
        for (item, state) in self.items.iter().enumerate() {
            let units = stage.units_of(item);
            totals.add(state, units.end - units.start);
        }
        totals
    }

    /// The items that are still to be executed; failed ones only if they are to be repeated.
    pub fn pending(&self, retry_failed: bool) -> Vec<usize> {
        let is_pending = |state: &ItemState| match state {
            ItemState::Waiting => true,
            ItemState::Failed(_) => retry_failed,
            ItemState::Running | ItemState::Done => false,
        };
        (0..self.items.len()).filter(|&item| is_pending(&self.items[item])).collect()
    }

    /// Number of items that are neither done nor failed.
    pub fn unfinished(&self) -> usize {
        self.items.iter().filter(|state| matches!(state, ItemState::Waiting | ItemState::Running)).count()
    }
}

/// The files of all items of a stage, from one listing of its folder.
fn list(folder: &Path, stage: &Stage) -> Result<Vec<Files>, JobsError> {
    let mut files = vec![Files::default(); stage.items()];
    let path = stage.folder(folder);
    let failed = |cause| FileError::new("read", &path, cause);
    let entries = match std::fs::read_dir(&path) {
        Ok(entries) => entries,
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(files),
        Err(cause) => return Err(failed(cause).into()),
    };
    for entry in entries {
        let name = entry.map_err(failed)?.file_name();
        let parts = name.to_str().and_then(|name| name.split_once('.'));
        let Some((number, extension)) = parts else { continue };
        let Some(files) = number.parse::<usize>().ok().and_then(|item| files.get_mut(item)) else { continue };
        match extension {
            "done" => files.done = true,
            "failed" => files.failed = true,
            "log" => files.log = true,
            _ => {}
        }
    }
    Ok(files)
}

/// Makes all items of a stage waiting again.
pub(crate) fn clear(folder: &Path, stage: &Stage) -> Result<(), JobsError> {
    for (item, files) in list(folder, stage)?.iter().enumerate() {
        if files.done {
            atomic::remove(&stage.path(folder, item, "done"))?;
        }
        if files.failed {
            atomic::remove(&stage.path(folder, item, "failed"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_count_units() {
        let stage = Stage::new("s", [], 0..10).in_blocks_of(4);
        let items = vec![ItemState::Done, ItemState::Failed(String::new()), ItemState::Running];
        let state = StageState { items };
        let mut totals = state.totals(&stage);
        assert_eq!(totals, Totals { total: 10, done: 4, running: 2, waiting: 0, failed: 4 });
        totals.change(&ItemState::Running, &ItemState::Done, 2);
        assert_eq!(totals.to_string(), "6 of 10 done, 4 failed");
        assert_eq!((state.pending(false), state.pending(true), state.unfinished()), (vec![], vec![1], 1));
    }

    #[test]
    fn other_files_in_the_folder_are_ignored() {
        let folder = tempfile::tempdir().expect("a folder");
        let stage = Stage::new("s", [], 0..2);
        std::fs::create_dir_all(stage.folder(folder.path())).expect("a folder");
        for name in ["00001.done", ".00000.done.part", "00007.done", "note.txt", "x.failed"] {
            std::fs::write(stage.folder(folder.path()).join(name), "").expect("written");
        }
        let state = StageState::read(folder.path(), &stage).expect("readable");
        assert_eq!(state.items, [ItemState::Waiting, ItemState::Done]);
        clear(folder.path(), &stage).expect("cleared");
        assert_eq!(StageState::read(folder.path(), &stage).expect("readable").items, [const { ItemState::Waiting }; 2]);
    }
}
