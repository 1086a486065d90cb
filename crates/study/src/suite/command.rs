//! The command that repeats one case.

use sojourn_report::shell_word;

use super::algorithm::Algorithm;

/// A case of a suite, and how it is run.
pub(super) struct Replay<'a> {
    /// The suite as it was given.
    pub(super) suite: &'a str,
    /// What is tested.
    pub(super) algorithm: &'a Algorithm,
    /// The case.
    pub(super) case: &'a str,
    /// Whether it is the quick form.
    pub(super) quick: bool,
    /// The seed.
    pub(super) seed: u64,
}

impl Replay<'_> {
    /// The command. The number of replications follows from the rest, so that it makes the same runs.
    pub(super) fn text(&self) -> String {
        let kind = self.algorithm.kind.name();
        let seed = self.seed.to_string();
        let option = format!("--{kind}");
        let mut words = vec![
            "sojourn",
            "suite",
            self.suite,
            &option,
            &self.algorithm.text,
            "--case",
            self.case,
            "--seed",
            &seed,
        ];
        if self.quick {
            words.push("--quick");
        }
        let words: Vec<_> = words.into_iter().map(shell_word).collect();
        words.join(" ")
    }
}
