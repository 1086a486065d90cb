//! How large figures are.

/// Width and height in pixels, axes and legend included; with panels, the width of them all.
pub(super) const WIDTH: u32 = 640;
pub(super) const HEIGHT: u32 = 340;
/// Pixels that a letter of the text takes, on average.
pub(super) const LETTER: usize = 7;
