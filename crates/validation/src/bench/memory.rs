//! Peak memory of this process, on Linux only.

use std::fs;

/// Peak resident memory since the last reset, or since the start of the process, in bytes; `None`
/// if unknown.
pub fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(1024 * kibibytes)
}

/// Resets the peak to the present memory, so that benches do not affect each other.
///
/// Where the system does not allow it, the peak is that of the whole process: an upper bound.
pub(super) fn reset_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_at_least_the_allocated_memory() {
        let held = std::hint::black_box(vec![1u8; 64 << 20]);
        let peak = peak_memory().unwrap();
        assert!(peak >= held.len() as u64, "peak {peak} while holding {}", held.len());
    }
}
