//! The keys of `suite.toml`: each table's, declared once.

use sojourn_units::{ParamInfo, Params, Span, choice, params};

choice! {
    /// How much a criterion weighs.
    pub enum Severity {
        /// A failure makes the command end with status 1.
        Must = "must",
        /// A failure is reported, and the status stays 0.
        Should = "should",
        /// The value is reported and never judged.
        Informative = "informative",
    }
}

choice! {
    /// Which values of an informative criterion are better, for comparisons with a baseline.
    pub enum Better {
        /// The lower.
        Lower = "lower",
        /// The higher.
        Higher = "higher",
    }
}

choice! {
    /// Which values of a metric a flow wants, for its harm.
    pub enum Good {
        /// The greater, such as goodput.
        More = "more",
        /// The lesser, such as delay.
        Less = "less",
    }
}

choice! {
    /// What is taken of a time series within its window.
    pub enum Statistic {
        /// The mean of the samples.
        Mean = "mean",
        /// The median.
        Median = "median",
        /// The 95th percentile.
        P95 = "p95",
        /// The 99th percentile.
        P99 = "p99",
        /// The least sample.
        Min = "min",
        /// The greatest sample.
        Max = "max",
        /// The last sample.
        Last = "last",
        /// Seconds from the beginning of the window until a sample is at or above the level.
        TimeToRise = "time_to_rise",
        /// Seconds from the beginning of the window until a sample is at or below the level.
        TimeToFall = "time_to_fall",
        /// The share of the samples that are at or above the level.
        ShareAbove = "share_above",
    }
}

params! {
    /// Title, source and replications of the suite: table `[suite]`.
    pub struct SuiteParams {
        /// Heading.
        title: String = "", source "required";
        /// The text that the suite is from, such as an RFC.
        source: Option<String> = "none", source "each case has its own";
        /// What it is for, in a sentence or two.
        about: Option<String> = "none", source "Sojourn's choice";
        /// Replications of each case at first.
        replications: u64 = "6", range "2".."1000", source "Sojourn's choice";
        /// Replications of each case at most. More are added while a criterion is undecided.
        most_replications: u64 = "24", range "2".."1000", source "Sojourn's choice";
        /// As `replications`, with --quick.
        quick_replications: u64 = "3", range "2".."1000", source "Sojourn's choice";
        /// As `most_replications`, with --quick.
        quick_most: u64 = "6", range "2".."1000", source "Sojourn's choice";
        /// Seed of every random stream.
        seed: u64 = "1", source "Sojourn's choice";
    }
}

params! {
    /// A case: one scenario with a placeholder for the tested algorithm: table `[[case]]`. Further keys: `substitute`, a table with the paths that
    /// the tested queue (`queue`) or congestion control (`cc`) replaces; `scenario`, a table with the keys of a scenario, or else `study`,
    /// `experiment` and `levels`, a table with the level of each factor; `each`, a table of lists, for as many cases as there are combinations of their
    /// values, and `quick_each`, those of them that --quick runs; `set` and `quick_set`, tables of paths and values; `[case.needs]`,
    /// `[[case.reference]]` and `[[case.criterion]]`.
    pub struct CaseParams {
        /// Name in results, at most 64 letters, digits, - _ and dots.
        name: String = "", source "required";
        /// Heading.
        title: Option<String> = "none", source "the name";
        /// The section that it is from, such as "RFC 7928, section 5.1".
        source: Option<String> = "none", source "the suite's";
        /// Study that has the scenario: a name or a file.
        study: Option<String> = "none", source "the case has a scenario of its own";
        /// Experiment of that study.
        experiment: Option<String> = "none", source "required with study";
        /// Whether --quick runs the case.
        quick: bool = "true", source "Sojourn's choice";
    }
}

params! {
    /// A run of the same case with another algorithm in place of the tested one, to compare with: table `[[case.reference]]`. Further key: `set`, a
    /// table of paths and values.
    pub struct ReferenceParams {
        /// Name that criteria refer to by `over` or `less`.
        name: String = "", source "required";
        /// Queue in the place of the tested one.
        queue: Option<String> = "none", source "the tested one";
        /// Congestion control in the place of the tested one.
        cc: Option<String> = "none", source "the tested one";
    }
}

params! {
    /// The algorithms that a case or a criterion is for: table `needs`. For others it is not applicable. Further key: `algorithms`, a list of names.
    pub struct NeedsParams {
        /// What these have and others lack, in words, such as "the state of BBR".
        what: String = "", source "required";
    }
}

params! {
    /// What is wanted of a value: table `[[case.criterion]]`. Further keys: `at_least` and `at_most`, thresholds such as "90%" or "20ms"; `marks`, a
    /// table of values known from elsewhere, which results show with the measured one; and `needs`.
    /// Without a threshold, the criterion is informative.
    pub struct CriterionParams {
        /// Name in results, unique in its case.
        name: String = "", source "required";
        /// What it asks, in a few words.
        title: Option<String> = "none", source "the metric";
        /// Metric, with its subject: "goodput_bps_sum of tested", or a ratio within the run: "goodput_bps_sum of tested over other".
        metric: Option<String> = "none", source "either this or series";
        /// Recorded time series in place of a metric, such as "backlog_packets" or "throughput_bps_sum". The case has to record it.
        series: Option<String> = "none", source "either this or metric";
        /// What the time series is of: a link direction, forward, reverse, all, or a flow's label or name.
        of: Option<String> = "none", source "the bottleneck, or the forward flows";
        /// What is taken of the samples.
        statistic: Statistic = "mean", source "Sojourn's choice";
        /// Level of time_to_rise, time_to_fall and share_above, such as "18Mbps".
        level: Option<String> = "none", source "required for these";
        /// Beginning of the measured window, in simulated time.
        from: Option<Span> = "none", source "the end of the warm-up";
        /// End of the measured window.
        to: Option<Span> = "none", source "the end of the run";
        /// Divide by the value of this reference, replication by replication.
        over: Option<String> = "none", source "Sojourn's choice";
        /// Take the harm against this reference, in which the flow is alone: the share of its value there that it loses.
        harm: Option<String> = "none", source "Ware et al. 2019 (HotNets), section 4";
        /// With `harm`, whether more of the metric is good, such as goodput, or less, such as delay.
        good: Good = "more", source "Sojourn's choice";
        /// Subtract the value of this reference, replication by replication; with `harm`, the harm in this reference.
        less: Option<String> = "none", source "Sojourn's choice";
        /// must, should or informative.
        severity: Severity = "should", source "Sojourn's choice";
        /// The section that asks for it.
        source: Option<String> = "none", source "the case's";
        /// Why this threshold, where the text gives none and the suite sets its own.
        ours: Option<String> = "none", source "the threshold is that of the source";
        /// For an informative criterion, which values are better: lower or higher.
        better: Option<Better> = "none", source "follows from the threshold";
        /// Whether a run without a value fails, such as a transfer that never ends. Otherwise the criterion is undecided.
        missing_fails: bool = "false", source "Sojourn's choice";
    }
}

/// The parameter tables of a suite, with the heading under which each stands in a file.
pub fn tables() -> Vec<(&'static str, &'static str, &'static [ParamInfo])> {
    vec![
        ("[suite]", SuiteParams::DOC, SuiteParams::TABLE),
        ("[[case]]", CaseParams::DOC, CaseParams::TABLE),
        (
            "[[case.reference]]",
            ReferenceParams::DOC,
            ReferenceParams::TABLE,
        ),
        (
            "[[case.criterion]]",
            CriterionParams::DOC,
            CriterionParams::TABLE,
        ),
        ("needs", NeedsParams::DOC, NeedsParams::TABLE),
    ]
}
