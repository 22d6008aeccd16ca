//! Plans: stages, items and their commands.

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sessile_frames::{Durability, atomic};

use crate::error::JobsError;
use crate::slurm::queue::Queue;
use crate::state::{ItemState, StageState};

/// Version of the format of `jobs.json`.
const VERSION: u32 = 1;
/// The largest number of items of a stage.
const MAX_ITEMS: u64 = 10_000_000;

/// Stages that are executed one after the other; the contents of `jobs.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    version: u32,
    /// The command that made the plan: `sweep`, `render`, …
    pub kind: String,
    /// The stages, in the order of execution.
    pub stages: Vec<Stage>,
}

/// Items that can be executed in any order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Name: a folder in `jobs/`.
    pub name: String,
    /// Arguments of the program, with `{folder}`, `{item}` and `{unit}` (its first unit; both with
    /// five digits), `{first}` and `{last}` (numbers of units) and `{threads}`.
    pub command: Vec<String>,
    /// Number of the first unit.
    pub first: u64,
    /// Number of units.
    pub units: u64,
    /// Number of units of an item.
    pub block: u64,
    /// Whether the units count in the totals of the plan.
    pub counted: bool,
    /// Estimated CPU time of an item, in s.
    pub seconds: f64,
    /// A path in the folder, with the same placeholders, without which an item is not done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

impl Stage {
    /// A stage that executes `command` once for each unit.
    pub fn new<'a>(name: &str, command: impl IntoIterator<Item = &'a str>, units: Range<u64>) -> Self {
        Self {
            name: name.to_owned(),
            command: command.into_iter().map(str::to_owned).collect(),
            first: units.start,
            units: units.end.saturating_sub(units.start),
            block: 1,
            counted: true,
            seconds: 1.0,
            output: None,
        }
    }

    /// The same with `block` units per item.
    #[must_use]
    pub fn in_blocks_of(mut self, block: u64) -> Self {
        self.block = block.max(1);
        self
    }

    /// The same with an estimated CPU time per item, in s.
    #[must_use]
    pub fn taking(mut self, seconds: f64) -> Self {
        self.seconds = seconds;
        self
    }

    /// The same, not counted in the totals of the plan.
    #[must_use]
    pub fn uncounted(mut self) -> Self {
        self.counted = false;
        self
    }

    /// The same; an item is done only while `output` exists in the folder.
    #[must_use]
    pub fn writing(mut self, output: &str) -> Self {
        self.output = Some(output.to_owned());
        self
    }

    /// Number of items.
    pub fn items(&self) -> usize {
        self.units.div_ceil(self.block) as usize
    }

    /// The units of an item.
    pub fn units_of(&self, item: usize) -> Range<u64> {
        let start = (item as u64).saturating_mul(self.block).min(self.units);
        let end = start.saturating_add(self.block).min(self.units);
        self.first + start..self.first + end
    }

    /// A template with its placeholders replaced.
    fn fill(&self, template: &str, item: usize) -> String {
        let units = self.units_of(item);
        template
            .replace("{item}", &format!("{item:05}"))
            .replace("{unit}", &format!("{:05}", units.start))
            .replace("{first}", &units.start.to_string())
            .replace("{last}", &units.end.saturating_sub(1).to_string())
    }

    /// Arguments of the program that execute an item on `threads` threads.
    pub fn arguments(&self, folder: &Path, item: usize, threads: usize) -> Vec<std::ffi::OsString> {
        let argument = |template: &String| match template.as_str() {
            // Folder names need not be valid UTF-8.
            "{folder}" => folder.as_os_str().to_owned(),
            "{threads}" => threads.to_string().into(),
            template => self.fill(template, item).into(),
        };
        self.command.iter().map(argument).collect()
    }

    /// The path without which an item is not done.
    pub(crate) fn output_of(&self, folder: &Path, item: usize) -> Option<PathBuf> {
        self.output.as_ref().map(|output| folder.join(self.fill(output, item)))
    }

    /// Path of a file of an item, by its extension.
    pub(crate) fn path(&self, folder: &Path, item: usize, extension: &str) -> PathBuf {
        self.folder(folder).join(format!("{item:05}.{extension}"))
    }

    /// The folder of the items' files.
    pub(crate) fn folder(&self, folder: &Path) -> PathBuf {
        folder.join("jobs").join(&self.name)
    }
}

impl Plan {
    /// A plan.
    pub fn new(kind: &str, stages: Vec<Stage>) -> Self {
        Self { version: VERSION, kind: kind.to_owned(), stages }
    }

    /// The path of the plan in a folder.
    pub fn path(folder: &Path) -> PathBuf {
        folder.join("jobs.json")
    }

    /// Writes the plan; an existing plan must be the same.
    pub fn save(&self, folder: &Path) -> Result<(), JobsError> {
        match Self::load(folder) {
            Ok(existing) if existing.is_same_work(self) => Ok(()),
            Ok(_) => Err(JobsError::OtherPlan { folder: folder.to_owned() }),
            Err(JobsError::NoPlan { .. }) => self.replace(folder),
            Err(error) => Err(error),
        }
    }

    /// Writes the plan, for a command that can be repeated: the same plan is continued unless it is
    /// complete, and any other one is replaced, unless it is being executed.
    pub fn save_or_replace(&self, folder: &Path) -> Result<(), JobsError> {
        let existing = match Self::load(folder) {
            Err(JobsError::NoPlan { .. }) => return self.replace(folder),
            loaded => loaded?,
        };
        Queue::of_plan(folder)?.refuse_active(folder)?;
        let (mut running, mut complete) = (false, true);
        for stage in &existing.stages {
            let items = StageState::read(folder, stage)?.items;
            running |= items.contains(&ItemState::Running);
            complete &= items.iter().all(|state| *state == ItemState::Done);
        }
        if running {
            return Err(JobsError::Executing { folder: folder.to_owned() });
        }
        if existing.is_same_work(self) && !complete { Ok(()) } else { self.replace(folder) }
    }

    /// Whether both plans do the same; estimated times may differ between versions.
    fn is_same_work(&self, other: &Self) -> bool {
        let untimed = |plan: &Self| {
            let stages = plan.stages.iter().cloned().map(|stage| stage.taking(0.0)).collect();
            Self { stages, ..plan.clone() }
        };
        untimed(self) == untimed(other)
    }

    /// Writes the plan in place of an earlier one, and forgets which items were done.
    pub fn replace(&self, folder: &Path) -> Result<(), JobsError> {
        let jobs = folder.join("jobs");
        if let Err(cause) = std::fs::remove_dir_all(&jobs)
            && cause.kind() != std::io::ErrorKind::NotFound
        {
            return Err(sessile_frames::FileError::new("remove", &jobs, cause).into());
        }
        for stage in &self.stages {
            atomic::create_folder(&stage.folder(folder))?;
        }
        write_json(&Self::path(folder), self)
    }

    /// Reads the plan of a folder.
    pub fn load(folder: &Path) -> Result<Self, JobsError> {
        let path = Self::path(folder);
        if !path.is_file() {
            return Err(JobsError::NoPlan { folder: folder.to_owned() });
        }
        let plan: Self = read_json(&path)?;
        match plan.problem() {
            None => Ok(plan),
            Some(reason) => Err(JobsError::Damaged { path, reason }),
        }
    }

    /// What is wrong with a plan that was read.
    fn problem(&self) -> Option<String> {
        if self.version != VERSION {
            return Some(format!("its version is {}, this program reads version {VERSION}", self.version));
        }
        let plain = |name: &str| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') && name != "submissions"
        };
        self.stages.iter().find_map(|stage| {
            let items = stage.units.checked_div(stage.block);
            let fits = items.is_some_and(|items| items < MAX_ITEMS) && stage.first.checked_add(stage.units).is_some();
            match (plain(&stage.name), fits) {
                (true, true) => None,
                (false, _) => Some(format!("`{}` is not the name of a stage", stage.name)),
                (_, false) => Some(format!("stage `{}` has an invalid number of items", stage.name)),
            }
        })
    }

    /// The stage of that name, and its position.
    pub fn stage(&self, name: &str) -> Option<(usize, &Stage)> {
        self.stages.iter().enumerate().find(|(_, stage)| stage.name == name)
    }
}

/// Writes a value as indented JSON.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), JobsError> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| JobsError::Damaged { path: path.to_owned(), reason: error.to_string() })?;
    Ok(atomic::write(path, (text + "\n").as_bytes(), Durability::Handed)?)
}

/// Reads a value from a JSON file.
pub(crate) fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, JobsError> {
    serde_json::from_slice(&atomic::read(path)?)
        .map_err(|error| JobsError::Damaged { path: path.to_owned(), reason: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage() -> Stage {
        Stage::new("frames", ["render", "{folder}", "--frames", "{first}..{last}", "{item}", "{threads}"], 10..31)
    }

    #[test]
    fn items_cover_all_units_once() {
        let stage = stage().in_blocks_of(4);
        assert_eq!(stage.items(), 6);
        assert_eq!((stage.units_of(0), stage.units_of(5)), (10..14, 30..31));
        let covered: Vec<u64> = (0..6).flat_map(|item| stage.units_of(item)).collect();
        assert_eq!(covered, (10..31).collect::<Vec<_>>());
    }

    #[test]
    fn commands_are_filled_in() {
        let words = stage().in_blocks_of(4).arguments(Path::new("a {item} b"), 5, 3);
        assert_eq!(words, ["render", "a {item} b", "--frames", "30..30", "00005", "3"]);
    }

    #[test]
    fn a_folder_keeps_its_plan() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(matches!(Plan::load(folder.path()), Err(JobsError::NoPlan { .. })));
        let plan = Plan::new("render", vec![stage()]);
        plan.save(folder.path()).expect("saved");
        let longer = Plan::new("render", vec![stage().taking(99.0)]);
        longer.save(folder.path()).expect("the same plan again");
        assert_eq!(Plan::load(folder.path()).expect("a plan"), plan);
        let other = Plan::new("render", vec![stage().in_blocks_of(2)]);
        assert!(matches!(other.save(folder.path()), Err(JobsError::OtherPlan { .. })));
    }

    #[test]
    fn a_complete_plan_starts_over_and_an_incomplete_one_is_continued() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let plan = Plan::new("render", vec![Stage::new("frames", [], 0..2)]);
        let done = |item| plan.stages[0].path(folder, item, "done");
        plan.save_or_replace(folder).expect("saved");
        std::fs::write(done(0), "").expect("written");
        plan.save_or_replace(folder).expect("continued");
        assert!(done(0).exists());
        std::fs::write(done(1), "").expect("written");
        plan.save_or_replace(folder).expect("started over");
        assert!(!done(0).exists());
        let log = std::fs::File::create(plan.stages[0].path(folder, 1, "log")).expect("a log");
        log.lock().expect("locked");
        let other = Plan::new("render", vec![stage()]);
        assert!(matches!(other.save_or_replace(folder), Err(JobsError::Executing { .. })));
        drop(log);
        other.save_or_replace(folder).expect("replaced");
        assert_eq!(Plan::load(folder).expect("a plan"), other);
    }

    #[test]
    fn damaged_plans_are_errors() {
        let folder = tempfile::tempdir().expect("a folder");
        let good = serde_json::to_string(&Plan::new("render", vec![stage()])).expect("JSON");
        for (from, to) in [
            ("\"version\":1", "\"version\":2"),
            ("\"frames\"", "\"../x\""),
            ("\"frames\"", "\"submissions\""),
            ("\"block\":1", "\"block\":0"),
            ("\"units\":21", "\"units\":18446744073709551615"),
            ("}]}", "]"),
        ] {
            let text = good.replacen(from, to, 1);
            assert_ne!(text, good, "{from}");
            std::fs::write(Plan::path(folder.path()), &text).expect("written");
            assert!(matches!(Plan::load(folder.path()), Err(JobsError::Damaged { .. })), "{text}");
        }
    }
}
