//! Helpers that several test programs share.

/// Returns the most memory that a process has held so far, in KiB, or `None` if it has ended.
#[cfg(target_os = "linux")]
pub(crate) fn peak_memory_of(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    peak.trim().trim_end_matches(" kB").parse().ok()
}
