//! Where and when a validation ran.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// The program, the machine, the date and the command of a report.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Version of the program.
    pub version: &'static str,
    /// Commit of the source in the current folder, if it is a checkout.
    pub commit: Option<String>,
    /// Processor, threads and system.
    pub machine: String,
    /// Date, in UTC.
    pub date: String,
    /// The command line.
    pub command: String,
}

impl Origin {
    /// That of this process, run by `command`.
    pub fn here(command: String) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            commit: commit(),
            machine: machine(),
            date: date(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())),
            command,
        }
    }

    /// In one sentence.
    pub fn text(&self) -> String {
        let commit = self.commit.as_ref().map_or_else(String::new, |commit| format!(", commit {commit}"));
        format!("sessile {}{commit}, on {}, {}", self.version, self.machine, self.date)
    }
}

/// The commit of the checkout in the current folder, with a mark if files have changed.
fn commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let is_clean = git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    Some(if is_clean { commit } else { commit + " with changes" })
}

fn machine() -> String {
    let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let name = name.map_or(std::env::consts::ARCH, |(_, name)| name);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{name}, {threads} threads, {}", std::env::consts::OS)
}

/// The date of a number of seconds since 1970, in UTC.
///
/// Days are counted from 1 March of year 0, so that the day of leap years is the last one of a year
/// of 365.2425 days.
fn date(seconds: u64) -> String {
    let days = seconds / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", 400 * era + year + later)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (1_709_251_199, "2024-02-29"),
            (1_709_251_200, "2024-03-01"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(date(seconds), expected);
        }
    }
}
