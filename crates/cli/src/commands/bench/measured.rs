//! What measurements need: counts as numbers, and the memory of this process.

/// A count as a number.
#[allow(clippy::cast_precision_loss, reason = "counts of a measurement")]
pub(super) fn float(value: u64) -> f64 {
    value as f64
}

/// Largest resident memory so far, in units of 10^6 bytes; known on Linux only.
pub(super) fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}
