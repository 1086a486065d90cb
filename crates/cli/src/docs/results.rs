//! The pages on metrics and result files, written from the declarations.

use std::fmt::Write as _;

use sojourn_results::columns::{Kind, columns};
use sojourn_results::manifest::SCHEMA_VERSION;
use sojourn_results::metrics::{Level, Metric, POOLED, of_level};

use super::traces::parquet_section;

const GENERATED: &str =
    "<!-- Written from the declarations in crates/results/src; a test compares. -->\n";

/// `docs/metrics.md`: every metric with unit, definition and formula.
pub(crate) fn metrics_markdown() -> String {
    let mut page = format!("# Metrics\n\n{GENERATED}\n{METRICS}");
    for (level, title, about) in [
        (Level::Queue, "Queues", QUEUES),
        (Level::Flow, "Flows", FLOWS),
        (Level::Group, "Groups of flows", GROUPS),
        (Level::Run, "Runs", RUNS),
    ] {
        let _ = write!(page, "\n## {title}\n\n{about}\n");
        page.push_str(
            "| metric | unit | range | what it is | formula |\n| --- | --- | --- | --- | --- |\n",
        );
        for metric in of_level(level) {
            page.push_str(&metric_row(metric));
        }
    }
    page.push_str(TRACES);
    page
}

/// `docs/reference/results.md`: the files of a result directory and every column of its tables.
pub(crate) fn results_markdown() -> String {
    let mut page = format!(
        "# Result directories\n\n{GENERATED}\nschema_version: {SCHEMA_VERSION}\n\n{RESULTS}"
    );
    for kind in [
        Kind::Runs,
        Kind::Flows,
        Kind::Queues,
        Kind::Receivers,
        Kind::Transfers,
        Kind::Media,
        Kind::Series,
    ] {
        let _ = write!(page, "\n## {}/\n\n{}\n\n", kind.name(), kind.doc());
        page.push_str("| column | type | unit | what it is |\n| --- | --- | --- | --- |\n");
        for column in columns(kind) {
            let _ = writeln!(
                page,
                "| `{}` | {} | {} | {} |",
                column.name,
                column.kind.name(),
                column.unit,
                escaped(&column.doc)
            );
        }
    }
    page.push_str(&parquet_section());
    page
}

fn metric_row(metric: &Metric) -> String {
    let pooled = match metric.pooled {
        true => format!("; `{}{POOLED}`", metric.name),
        false => String::new(),
    };
    format!(
        "| `{}`{pooled} | {} | {} | {} | {} |\n",
        metric.name,
        metric.unit.stored(),
        metric.range.text(),
        escaped(&metric.doc),
        escaped(&metric.formula)
    )
}

/// Text for a cell: a bar would end it.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}

const METRICS: &str = "\
A metric is taken of one subject in one run: of a queue, of a flow, of flows together, or of the run. It covers the time \
from the end of the warm-up to the end of the run. A table shows its mean over replications with a 95 % interval,

    mean ± t(0.975, n − 1) × s / √n,

where n is the number of replications that have a value, s the sample standard deviation of these values and t the quantile \
of Student's distribution. Values that are compared with each other come from runs with the same random starts; their \
difference is taken replication by replication, and the interval is that of the differences.

A value that all replications have alike, such as no loss in any of them, stands without an interval: a sample deviation of \
zero says nothing of how far the next replication may lie, and \"± 0\" would not be precision. The remark below the table says so; \
in CSV and JSON its `half_width` is empty and `deterministic` is false. Where whole replications came out the same, nothing is \
random and `deterministic` is true.

An interval around a mean is symmetric and can reach beyond the values that a metric can have, such as below zero. Tables and files \
keep the mean and half the width. Figures draw intervals and ellipses inside the range below, and say which are cut.

A percentile in a table is the mean of each replication's own percentile. The name with `_pooled` behind it is the percentile of \
the packets of all replications together; it has no interval. Percentiles are read from histograms with 32 steps per octave, \
as the middle of a step, or the least or greatest value where it is nearer: the error is at most 1/64 (1.6 %), and no interval of a percentile is narrower than that. Means, least \
and greatest values are exact to the picosecond.

In a study a metric is written with its subject, as in `goodput_bps_sum of reno` or `sojourn_s_p95 of right-left`. The subject \
is `bottleneck` or the name of a link direction for metrics of queues; `forward`, `reverse`, `all`, a label or a name for \
metrics of flows. Left out, it is `bottleneck` or `forward`. These words cannot be labels of flows. With `over` and a second subject, as in `goodput_bps_sum of cubic over reno`, \
it is the ratio of both in the same run; it has no value where the second is zero.

Units below are those of result files; tables and figures show milliseconds, Mbps and percent.
";

const QUEUES: &str = "\
Of several queues together, counts are sums and means and percentiles are those of all their packets. Sojourn, backlog and \
limit leave out the packet in transmission.\n";

const FLOWS: &str = "\
Of several flows together, counts are sums, rates are per flow, and means and percentiles are those of all their packets.\n";

const GROUPS: &str = "Of the flows of a label, or of a direction.\n";

const RUNS: &str = "Of the whole run, warm-up included unless it says otherwise.\n";

const TRACES: &str = "
## Traces

What is measured in a trace, of Sojourn or of another program, is listed in [reference/traces.md](reference/traces.md).
";

const RESULTS: &str = "\
```text
manifest.json   what ran: points, scenarios with every default filled in, dialects, seeds, the auditor's notes
checksums/      p003-r07.json: the checksum of each file of point 3, replication 7; written last: a run with this file is whole
runs/           p003-r07.parquet
flows/          one file per run
queues/         one file per run
series/         one file per run; absent where no time series is recorded
summary.json    tables and figures, from the above
timing.json     wall time, host and date; nothing else depends on them
```

Every file is written under a temporary name and renamed, so that none is ever read half-written. Checksums are XXH64 with \
seed 0, in hexadecimal, as `xxhsum -H1` prints them; beside them, `of` is the checksum of version, seed and scenario. \
`checksum` of the manifest is that of its other keys as compact JSON. While a process writes into the directory, it holds a \
lock of the operating system on `.lock`, which names it. The same study gives the same \
bytes in every file but `timing.json`, whatever the number of threads and the machine.

Names of columns are noun, unit, statistic. What a run counted is kept as integers; what follows from them stands beside, in \
columns of type double. Tables read through Sojourn (`sojourn.Results`, or Arrow) have a column `experiment` and a column \
`factor_NAME` for each factor, too.

## Histograms

A histogram is two lists: `..._steps`, the numbers of the steps in use in ascending order, and `..._counts`, how many values \
fell into each. Step 0 is the value zero. Step n > 0 belongs to octave o = (n − 1) div 32 and is its part k = (n − 1) mod 32: \
the values, in picoseconds, from 2^o (1 + k/32) up to 2^o (1 + (k + 1)/32). Below 32 every value has a step of its own. \
Histograms merge by adding the counts of equal steps.
";
