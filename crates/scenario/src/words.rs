//! Words of a study that say of what a metric is, such as `goodput_bps of forward over reverse`.

/// Words for several flows.
pub const WORDS: [&str; 3] = ["forward", "reverse", "all"];

/// The queues of all bottlenecks.
pub const BOTTLENECK: &str = "bottleneck";

/// All observed queues.
pub const QUEUES: &str = "queues";

/// The run.
pub const RUN: &str = "run";

/// Stands between what a metric is of and what it is divided by.
pub const OVER: &str = " over ";

/// Words that say of what a metric is, and that no flows can have as their label.
pub fn reserved() -> impl Iterator<Item = &'static str> {
    WORDS.into_iter().chain([BOTTLENECK, QUEUES, RUN])
}
