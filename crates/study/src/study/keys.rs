//! The keys of study files beside those of a scenario: each table's, declared once.

use sojourn_results::specs::{AxisScale, FigureKind};
use sojourn_units::{ParamInfo, Params, params};

/// Top-level keys that a study has beside those of a scenario.
pub const STUDY_KEYS: [&str; 4] = ["study", "experiment", "table", "figure"];

params! {
    /// What the study is: table `[study]`.
    pub struct StudyParams {
        /// Heading of the report.
        title: Option<String> = "none", source "the scenario's title or name";
        /// What it is for, in Markdown.
        description: Option<String> = "none", source "the scenario's description";
        /// The publication that it reproduces.
        paper: Option<String> = "none", source "Sojourn's choice";
        /// File of published values, in the folder of the study: columns experiment, the factors, metric, value, low, high, unit, note.
        published: Option<String> = "none", source "Sojourn's choice";
    }
}

params! {
    /// Factors whose levels, each with each, make points: table `[[experiment]]`; beside these keys `set`, a table of paths
    /// and values, and `[[experiment.factor]]`.
    pub struct ExperimentParams {
        /// Name for tables, figures and results, at most 64 letters.
        name: String = "", source "required";
        /// Heading.
        title: Option<String> = "none", source "the name";
        /// Name of an experiment above, whose settings and factors this one has, too, unless it has its own.
        extends: Option<String> = "none", source "Sojourn's choice";
    }
}

params! {
    /// A factor: table `[[experiment.factor]]`; beside these keys `values`, a list of values for `path` or of tables with
    /// `label` and `set`, and `labels`.
    pub struct FactorParams {
        /// Name for tables and figures.
        name: String = "", source "required";
        /// Heading of its column or axis.
        title: Option<String> = "none", source "the name";
        /// Unit of its labels.
        unit: Option<String> = "none", source "Sojourn's choice";
        /// What it sets, such as topology.rate; several with commas between.
        path: Option<String> = "none", source "each value has a set of its own";
        /// Its levels are compared with each other, replication by replication.
        compare: bool = "false", source "Sojourn's choice";
    }
}

params! {
    /// A table of the report: table `[[table]]`; beside these keys the lists `rows` and `columns` of factors, the list
    /// `metrics`, and `where`, a table of factors and the level that is shown.
    pub struct TableParams {
        /// Name of its files: lower-case letters, digits, - and _, at most 100 characters.
        id: String = "", source "required";
        /// Heading.
        title: Option<String> = "none", source "the experiment's";
        /// What it shows, in Markdown.
        caption: String = "", source "Sojourn's choice";
        /// The experiment.
        experiment: Option<String> = "none", source "the first";
        /// What the metrics are of: bottleneck or a link direction; forward, reverse, all, or a flow's label or name.
        of: Option<String> = "none", source "bottleneck for metrics of queues, forward for metrics of flows";
        /// Published values stand beside.
        published: bool = "false", source "Sojourn's choice";
        /// Significant digits with which values are printed; a footnote says how many of the published ones they equal.
        exact: Option<u64> = "none", range "1".."17", source "Sojourn's choice";
    }
}

params! {
    /// A figure of the report: table `[[figure]]`; beside these keys `where`, a table of factors and the level that is shown.
    pub struct FigureParams {
        /// Name of its files: lower-case letters, digits, - and _, at most 100 characters.
        id: String = "", source "required";
        /// Heading.
        title: Option<String> = "none", source "what is on its y axis";
        /// What it shows, in Markdown.
        caption: String = "", source "Sojourn's choice";
        /// How it is drawn.
        kind: FigureKind = "points", source "Sojourn's choice";
        /// The experiment.
        experiment: Option<String> = "none", source "the first";
        /// The factor on the x axis; of a scatter or an ellipse, a metric.
        x: Option<String> = "none", source "the first factor that nothing else takes";
        /// The metric on the y axis; of a cdf sojourn_s, delay_s, fct_s, slowdown or page_load_s; of sizes slowdown_p99 or another of the table of flow completion times; of a time series its quantity, such as backlog_packets.
        y: Option<String> = "none", source "sojourn_s_mean; of a range none";
        /// Of a range, the metric at its low end.
        y_low: Option<String> = "none", source "required of a range";
        /// Of a range, the metric at its high end.
        y_high: Option<String> = "none", source "required of a range";
        /// The factor that colours tell apart.
        series: Option<String> = "none", source "the factor under comparison";
        /// The factor with a panel for each level.
        facet: Option<String> = "none", source "Sojourn's choice";
        /// What the metrics are of; as in tables.
        of: Option<String> = "none", source "bottleneck for metrics of queues, forward for metrics of flows";
        /// Published values are drawn, too.
        published: bool = "false", source "Sojourn's choice";
        /// Scale of the x axis, if it is a factor's: its labels have to be numbers unless this is category.
        x_scale: AxisScale = "category", source "Sojourn's choice";
        /// Scale of the y axis: linear or log.
        y_scale: AxisScale = "linear", source "Sojourn's choice";
    }
}

/// The parameter tables of a study, with the heading under which each stands in a file.
pub fn tables() -> Vec<(&'static str, &'static str, &'static [ParamInfo])> {
    vec![
        ("[study]", StudyParams::DOC, StudyParams::TABLE),
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
        ("[[table]]", TableParams::DOC, TableParams::TABLE),
        ("[[figure]]", FigureParams::DOC, FigureParams::TABLE),
    ]
}
