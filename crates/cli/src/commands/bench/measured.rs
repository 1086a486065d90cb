//! What measurements need: counts as numbers, and the memory of this process.

use std::fs;
use std::path::Path;

/// A count as a number.
#[allow(clippy::cast_precision_loss, reason = "counts of a measurement")]
pub(super) fn float(value: u64) -> f64 {
    value as f64
}

/// Largest resident memory of this process so far, in units of 10^6 bytes; known on Linux only.
pub(super) fn peak_memory() -> Option<f64> {
    peak_in(Path::new("/proc/self"))
}

/// Largest resident memory that any process started by this one has had so far, in units of 10^6 bytes; known on Linux only.
pub(super) fn peak_memory_of_children() -> Option<f64> {
    let own = std::process::id().to_string();
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let children =
        processes.filter(|process| value(&process.path(), "PPid:").as_ref() == Some(&own));
    children
        .filter_map(|process| peak_in(&process.path()))
        .max_by(f64::total_cmp)
}

fn peak_in(process: &Path) -> Option<f64> {
    let kib: f64 = value(process, "VmHWM:")?.parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}

/// The value of a line in the status of a process, without its unit.
fn value(process: &Path, name: &str) -> Option<String> {
    let status = fs::read_to_string(process.join("status")).ok()?;
    let line = status.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1).map(str::to_owned)
}
