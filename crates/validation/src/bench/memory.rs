//! The most memory that this process has held, as Linux tells it; other systems are not asked.

use std::fs;

/// Peak resident memory since the bench began, or since the process did, in bytes; `None` where the system does not say.
pub fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(1024 * kibibytes)
}

/// Lets the peak start again from what is held now, so that one bench does not inherit another's.
///
/// Where the system will not, the peak stays that of the whole process: too high, never too low.
pub(super) fn forget_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_peak_covers_what_is_held() {
        let held = std::hint::black_box(vec![1u8; 64 << 20]);
        let peak = peak_memory().unwrap();
        assert!(peak >= held.len() as u64, "peak {peak} while holding {}", held.len());
    }
}
