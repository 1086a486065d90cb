//! The keys of study files beside those of a scenario: each table's, declared once.

use sojourn_results::specs::{AxisScale, FigureKind};
use sojourn_units::{ParamInfo, Params, Ratio, choice, params};

/// Top-level keys that a study has beside those of a scenario.
pub const STUDY_KEYS: [&str; 4] = ["study", "experiment", "table", "figure"];

params! {
    /// Title, question, description and published source of the study: table `[study]`.
    pub struct StudyParams {
        /// Heading of the report.
        title: Option<String> = "none", source "the scenario's title or name";
        /// The question that the study answers, in one sentence: the headline of the report.
        question: Option<String> = "none", source "asks what difference the factors make";
        /// Description of the study, in Markdown.
        description: Option<String> = "none", source "the scenario's description";
        /// The publication that the study reproduces.
        paper: Option<String> = "none", source "Sojourn's choice";
        /// File of published values, in the folder of the study. Its columns are experiment, the factors, metric,
        /// value, low, high, unit and note.
        published: Option<String> = "none", source "Sojourn's choice";
        /// Levels under comparison are called equivalent where their data show that they differ by less than this share of their
        /// mean (two one-sided tests, Schuirmann 1987), such as 5%.
        equivalent_within: Option<Ratio> = "none", source "Sojourn's choice: nothing is called equivalent";
    }
}

params! {
    /// What answers the question: table `[study.answer]`. The report opens with this table and these figures, and
    /// `sojourn study` prints this table. Give `experiment` alone for the first table and figure of an experiment. Further key:
    /// `figure`, the id of the figure that answers the question, or a list of up to three that are drawn in a row. Unless you
    /// give it, the report takes the first figure of the table's experiment, over time only if there is no other.
    pub struct AnswerParams {
        /// Name of the experiment whose first table and figure answer the question.
        experiment: Option<String> = "none", source "the first that compares something, under load";
        /// Id of the table that answers the question.
        table: Option<String> = "none", source "the first of the experiment";
    }
}

params! {
    /// An experiment. Every combination of its factors' levels is a point: table `[[experiment]]`. Further keys: `set`,
    /// a table of paths and values, `[experiment.design]` and `[[experiment.factor]]`.
    pub struct ExperimentParams {
        /// Name in tables, figures and results, at most 64 letters.
        name: String = "", source "required";
        /// Heading.
        title: Option<String> = "none", source "the name";
        /// Name of an earlier experiment. This one inherits its settings and factors, and can override them.
        extends: Option<String> = "none", source "Sojourn's choice";
    }
}

params! {
    /// A factor of an experiment: table `[[experiment.factor]]`. Further keys: `values`, a list of values for `path` or
    /// of tables with `label` and `set`, and `labels`. In place of `values`: `range`, the least and the greatest value for `path`, from
    /// which `[experiment.design]` draws samples.
    pub struct FactorParams {
        /// Name in tables and figures.
        name: String = "", source "required";
        /// Heading of its column or axis.
        title: Option<String> = "none", source "the name";
        /// Unit of its labels.
        unit: Option<String> = "none", source "Sojourn's choice";
        /// Path that the factor sets, such as topology.rate. Separate several paths by commas.
        path: Option<String> = "none", source "none: each value has its own set";
        /// Compare the factor's levels with each other. Differences are computed per replication.
        compare: bool = "false", source "Sojourn's choice";
        /// How the values of a `range` are spread: linear or log.
        scale: RangeScale = "linear", source "Sojourn's choice";
    }
}

choice! {
    /// How the values of a range are spread.
    pub enum RangeScale {
        /// Evenly.
        Linear = "linear",
        /// Evenly by the logarithm.
        Log = "log",
    }
}

choice! {
    /// How samples are drawn.
    pub enum DesignKind {
        /// A Sobol sequence with Owen's scrambling: fills evenly, best with a power of two of samples.
        Sobol = "sobol",
        /// A Latin hypercube: each factor has one value in each of as many equal parts as there are samples.
        Lhs = "lhs",
    }
}

params! {
    /// How the factors with a `range` are sampled: table `[experiment.design]`. Each sample has a value of each of these factors, and runs
    /// with every level of the other factors.
    pub struct DesignParams {
        /// How samples are drawn: sobol or lhs (Latin hypercube).
        kind: DesignKind = "sobol", source "Sobol' 1967, scrambled as in Owen 1998";
        /// Number of samples, from 1 to 65536.
        samples: u64 = "0", source "required";
        /// Seed of the samples. It is not that of the runs.
        seed: u64 = "1", source "Sojourn's choice";
    }
}

params! {
    /// A table of the report: table `[[table]]`. Further keys: `rows` and `columns`, lists of factors; `metrics`, a
    /// list; and `where`, a table with the level to show of each factor.
    pub struct TableParams {
        /// Name of the output files: lower-case letters, digits, - and _, at most 100 characters.
        id: String = "", source "required";
        /// Heading.
        title: Option<String> = "none", source "the experiment's";
        /// Text below the heading, in Markdown.
        caption: String = "", source "Sojourn's choice";
        /// The experiment.
        experiment: Option<String> = "none", source "the first";
        /// Subject of the metrics. For queues: bottleneck or a link direction. For flows: forward, reverse, all, or a
        /// flow's label or name.
        of: Option<String> = "none", source "bottleneck for metrics of queues, forward for metrics of flows";
        /// Show published values next to the measured ones.
        published: bool = "false", source "Sojourn's choice";
        /// Number of significant digits to print. A footnote says how many published values are equal to the measured
        /// ones.
        exact: Option<u64> = "none", range "1".."17", source "Sojourn's choice";
    }
}

params! {
    /// A figure of the report: table `[[figure]]`. Further key: `where`, a table with the level to show of each factor.
    pub struct FigureParams {
        /// Name of the output files: lower-case letters, digits, - and _, at most 100 characters.
        id: String = "", source "required";
        /// Heading.
        title: Option<String> = "none", source "the quantity on its y axis";
        /// Text below the heading, in Markdown.
        caption: String = "", source "Sojourn's choice";
        /// Kind of figure.
        kind: FigureKind = "points", source "Sojourn's choice";
        /// The experiment.
        experiment: Option<String> = "none", source "the first";
        /// The factor on the x axis. For a scatter or an ellipse, a metric.
        x: Option<String> = "none", source "the first factor not used elsewhere in the figure";
        /// The metric on the y axis. For a cdf: sojourn_s, delay_s, fct_s, slowdown or page_load_s. For sizes:
        /// slowdown_p99 or another metric of flow completion times. For time: the recorded quantity, such as
        /// backlog_packets, or the total over what it is of, such as throughput_bps_sum. For bars: also one metric of several flows or queues, separated by commas. Each is a
        /// group of bars, and `series` tells the bars of a group apart.
        y: Option<String> = "none", source "sojourn_s_mean; none for a range";
        /// For a range, the metric at its low end.
        y_low: Option<String> = "none", source "required for a range";
        /// For a range, the metric at its high end.
        y_high: Option<String> = "none", source "required for a range";
        /// The factor shown by colour.
        series: Option<String> = "none", source "the factor under comparison";
        /// The factor with one panel per level.
        facet: Option<String> = "none", source "Sojourn's choice";
        /// The factor with a slider over its levels: the page of a report shows one level at a time, on the scales of
        /// all. Pictures and paper show the middle level.
        slider: Option<String> = "none", source "Sojourn's choice";
        /// Subject of the metrics, as in tables.
        of: Option<String> = "none", source "bottleneck for metrics of queues, forward for metrics of flows";
        /// Draw published values, too.
        published: bool = "false", source "Sojourn's choice";
        /// Scale of the x axis if it shows a factor. For linear and log, the factor's labels must be numbers.
        x_scale: AxisScale = "category", source "Sojourn's choice";
        /// Scale of the y axis: linear or log.
        y_scale: AxisScale = "linear", source "Sojourn's choice";
    }
}

/// The parameter tables of a study, with the heading under which each stands in a file.
pub fn tables() -> Vec<(&'static str, &'static str, &'static [ParamInfo])> {
    vec![
        ("[study]", StudyParams::DOC, StudyParams::TABLE),
        ("[study.answer]", AnswerParams::DOC, AnswerParams::TABLE),
        (
            "[[experiment]]",
            ExperimentParams::DOC,
            ExperimentParams::TABLE,
        ),
        (
            "[[experiment.factor]]",
            FactorParams::DOC,
            FactorParams::TABLE,
        ),
        (
            "[experiment.design]",
            DesignParams::DOC,
            DesignParams::TABLE,
        ),
        ("[[table]]", TableParams::DOC, TableParams::TABLE),
        ("[[figure]]", FigureParams::DOC, FigureParams::TABLE),
    ]
}
