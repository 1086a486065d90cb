//! Checksums of what is in result files.

use twox_hash::XxHash64;

/// What is wrong with a file that has another content.
pub(super) const ALTERED: &str =
    "the file was altered after it was written: its checksum is another";

/// The checksum of some bytes, 16 hexadecimal digits.
pub(super) fn checksum(bytes: &[u8]) -> String {
    format!("{:016x}", XxHash64::oneshot(0, bytes))
}
