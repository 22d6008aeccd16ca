//! The profile of a cluster: options of the site, in a small TOML file.
//!
//! ```toml
//! account = "wetting"            # sbatch --account
//! partition = "short"            # sbatch --partition; `--on slurm:PARTITION` overrides it
//! qos = "normal"                 # sbatch --qos
//! time = "2:00:00"               # sbatch --time: limit of a task
//! memory = "2G"                  # sbatch --mem
//! constraint = "avx512"          # sbatch --constraint
//! threads = 4                    # sbatch --cpus-per-task
//! options = ["--exclude=n3"]     # further options of sbatch
//! preamble = "module load gcc"   # commands at the start of every job script
//! program = "/home/me/sessile"   # the program on the nodes; default: the one that submits
//! items_per_task = 10            # default: about a minute of work
//! max_tasks = 1000               # tasks of an array; default: the cluster's MaxArraySize
//! ```

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::JobsError;

/// Options of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Profile {
    /// Account that is charged.
    pub account: Option<String>,
    /// Partition.
    pub partition: Option<String>,
    /// Quality of service.
    pub qos: Option<String>,
    /// Time limit of a task, as `sbatch --time` takes it.
    pub time: Option<String>,
    /// Memory of a task, as `sbatch --mem` takes it.
    pub memory: Option<String>,
    /// Features that nodes must have.
    pub constraint: Option<String>,
    /// Number of threads of a task.
    pub threads: Option<u32>,
    /// Further options of `sbatch`.
    pub options: Vec<String>,
    /// Commands at the start of the job script.
    pub preamble: String,
    /// The program on the nodes.
    pub program: Option<PathBuf>,
    /// Number of items of a task.
    pub items_per_task: Option<usize>,
    /// Largest number of tasks of an array.
    pub max_tasks: Option<usize>,
}

impl Profile {
    /// Reads the given file, or else `slurm.toml` in the current folder or in the user's
    /// configuration (`~/.config/sessile`); without any of them all options have defaults.
    pub fn find(path: Option<&Path>) -> Result<Self, JobsError> {
        if let Some(path) = path {
            return Self::read(path);
        }
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let places = [Some(PathBuf::from("slurm.toml")), home.map(|home| home.join(".config/sessile/slurm.toml"))];
        match places.into_iter().flatten().find(|path| path.is_file()) {
            Some(path) => Self::read(&path),
            None => Ok(Self::default()),
        }
    }

    fn read(path: &Path) -> Result<Self, JobsError> {
        let wrong = |reason: String| JobsError::Profile { path: path.to_owned(), reason };
        let text = String::from_utf8(sessile_frames::atomic::read(path)?).map_err(|error| wrong(error.to_string()))?;
        Self::parse(&text).map_err(wrong)
    }

    /// Reads the text of a profile.
    fn parse(text: &str) -> Result<Self, String> {
        let profile: Self = toml::from_str(text).map_err(|error| error.to_string().trim().to_owned())?;
        if profile.threads == Some(0) || profile.items_per_task == Some(0) || profile.max_tasks == Some(0) {
            return Err("threads, items_per_task and max_tasks must be at least 1".into());
        }
        if let Some(option) = profile.options.iter().find(|option| !option.starts_with('-')) {
            return Err(format!("`{option}` is not an option of sbatch: write \"--name=value\""));
        }
        if let Some(time) = &profile.time
            && minutes(time).is_none()
        {
            return Err(format!("time = \"{time}\": write minutes, \"hours:minutes:seconds\" or \"days-hours\""));
        }
        Ok(profile)
    }

    /// Options of `sbatch`.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let options = [
            ("account", &self.account),
            ("partition", &self.partition),
            ("qos", &self.qos),
            ("time", &self.time),
            ("mem", &self.memory),
            ("constraint", &self.constraint),
        ];
        let given = options.into_iter().filter_map(|(name, value)| Some(format!("--{name}={}", value.as_ref()?)));
        let threads = format!("--cpus-per-task={}", self.threads.unwrap_or(1));
        given.chain([threads]).chain(self.options.iter().cloned()).collect()
    }

    /// Seconds before the end of a task at which it is warned.
    pub(crate) fn warning_seconds(&self) -> u32 {
        match self.time.as_deref().and_then(minutes) {
            Some(minutes) if minutes < 5.0 => 15,
            _ => 60,
        }
    }
}

/// A time limit in minutes: `M`, `M:S`, `H:M:S`, `D-H`, `D-H:M`, `D-H:M:S`.
fn minutes(text: &str) -> Option<f64> {
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(days.parse::<u32>().ok()?), rest),
        None => (None, text),
    };
    let parts = rest.split(':').map(|part| part.parse::<u32>().ok().map(f64::from)).collect::<Option<Vec<f64>>>()?;
    let day = days.map(|days| 1440.0 * f64::from(days));
    match (day, &parts[..]) {
        (None, [minutes]) => Some(*minutes),
        (None, [minutes, seconds]) => Some(minutes + seconds / 60.0),
        (None, [hours, minutes, seconds]) => Some(60.0 * hours + minutes + seconds / 60.0),
        (Some(day), [hours]) => Some(day + 60.0 * hours),
        (Some(day), [hours, minutes]) => Some(day + 60.0 * hours + minutes),
        (Some(day), [hours, minutes, seconds]) => Some(day + 60.0 * hours + minutes + seconds / 60.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_become_arguments_of_sbatch() {
        let text = "account = \"wet\"\ntime = \"30\"\nmemory = \"2G\"\nthreads = 4\noptions = [\"--exclude=n3\"]\n";
        let profile = Profile::parse(text).expect("a profile");
        let expected = ["--account=wet", "--time=30", "--mem=2G", "--cpus-per-task=4", "--exclude=n3"];
        assert_eq!(profile.arguments(), expected);
        assert_eq!(Profile::parse("").expect("a profile").arguments(), ["--cpus-per-task=1"]);
    }

    #[test]
    fn wrong_profiles_are_errors() {
        for text in ["acount = \"x\"", "threads = 0", "options = [\"rm\"]", "time = \"soon\"", "threads = \"4\"", "a ="]
        {
            assert!(Profile::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn time_limits_are_read_as_slurm_does() {
        let cases = [("90", 90.0), ("1:30", 1.5), ("2:00:00", 120.0), ("1-0", 1440.0), ("1-2:30", 1590.0)];
        for (text, expected) in cases {
            assert_eq!(minutes(text), Some(expected), "{text}");
        }
        for text in ["", "-", "x", "1:2:3:4", "1-", "-5"] {
            assert_eq!(minutes(text), None, "{text}");
        }
    }
}
