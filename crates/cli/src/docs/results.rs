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
        Kind::Batches,
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
A metric describes one subject in one run: a queue, a flow, several flows together, or the run. It covers the time from the end of the warm-up to the end of the run. A table shows its mean over replications, or its percentile over all of them together, with a 95 % interval.

## Intervals

Replications are independent, so an interval needs no assumption on how packets of one run depend on each other. Each kind of value has the interval that holds for it; the page [coverage](reference/coverage.md) has how often each holds the truth.

- **Means**: Student's interval, mean ± t(0.975, n − 1) × s / √n for n replications with the sample deviation s. A quantity with a least or a greatest value, such as a share or a time, has it on the scale of the logarithm or the logit, so that the interval ends inside the range. Far from the ends that is the same.
- **Rare events**, such as the drops behind a loss ratio, below 10 per replication: the error is at least that of as many independent events. Below 10 in all replications, the table says that the value is an order of magnitude.
- **Percentiles**: of the packets or transfers of all replications together, with the jackknife over replications on the logarithm. If too few packets are beyond the percentile, by an effective number that knows how they depend on each other, the table says so. The mean with `_pooled` has its interval in the same way.

An interval with equal sides is printed as `12.35 ± 0.42`, a lopsided one with its ends: `97.5 [91.2, 99.2]`. CSV and JSON have `low` and `high` of each, and `half_width`, half of what is between them.

If all replications have the same value, such as no loss, the table shows it without an interval. A sample deviation of zero does not bound the next replication, so \"± 0\" would claim a precision that is not there. A note below the table says so; in CSV and JSON the value's `half_width` is empty and `deterministic` is false. If whole replications are equal, nothing is random and `deterministic` is true.

Percentiles come from histograms with 32 steps per octave: the value is the middle of a step, or the smallest or largest value if that is nearer. The error is at most 1/64 (1.6 %), and no interval of a percentile is narrower.

## Differences

Compared values come from runs with the same random starts. That helps where their replications correlate. In a closed loop, such as TCP, they often do not, and pairs would cost half of the degrees of freedom. So the interval of a difference is of pairs where the correlation is significant (5 %, one-sided) or below −0.3, and Welch's otherwise. CSV and JSON name the `test` and the `correlation`.

A table of forty differences between equals has two whose own interval leaves out zero. So all pairs of levels in all metrics of an experiment are tested as one family, by Holm's procedure: the probability of even one false claim is at most 5 %. A `*` marks a difference that is more than chance in this sense (`differs` in CSV and JSON, with `p_holm`). Rankings, such as \"CoDel < PIE < DropTail; CoDel and PIE not distinguishable\", follow from the same tests. With `equivalent_within = \"5%\"` in `[study]`, a ranking also names the pairs that are equivalent: their difference is within that share of their mean by two one-sided tests (Schuirmann 1987).

`sojourn diff A B` compares two result directories in the same way.

## Subjects

In a study you write a metric with its subject, as in `goodput_bps_sum of reno` or `sojourn_s_p95 of right-left`. For metrics of queues, the subject is `bottleneck` (the default) or the name of a link direction. For metrics of flows, it is `forward` (the default), `reverse`, `all`, or the label or name of flows. These words cannot be labels of flows. Write `over` and a second subject for the ratio of two subjects in the same run, as in `goodput_bps_sum of cubic over reno`; it has no value if the second is zero.

## Which link is measured

Metrics of queues without a subject are of the bottleneck. A line below each table names the link, with its nominal rate.

- In a dumbbell, a parking lot and a chain, the bottleneck follows from the topology.
- In a graph, `bottleneck = true` on a link decides. A subject in a metric (`sojourn_s_p95 of ap-server`) or in a table (`of = \"ap-server\"`) always comes first.
- Otherwise Sojourn measures one link direction at all points of an experiment, so that differences between points compare the same queue. Candidates are the link directions that are the slowest on the path of a forward flow at any point. If a factor under comparison (or else any factor) sets queues, only link directions whose queue it sets are candidates, even if none of them is the slowest.
- Of several candidates, the busiest is measured: the one with the highest utilization over all runs of the experiment. Candidates within 1 % of that utilization count as equally busy; of these, the one with the longest mean backlog in seconds is measured, and then the first in the file.

The auditor warns if another link is the bottleneck at a point ([not-the-bottleneck](auditor.md#not-the-bottleneck)), or if a factor sets a queue that no metric is of ([unmeasured-queue](auditor.md#unmeasured-queue)). In the result files, the column `bottleneck` marks the slowest links of each run by themselves, whichever link the tables measure.

## Units

The units below are those of result files. Tables and figures show milliseconds, Mbps and percent.
";

const QUEUES: &str = "\
For several queues together, counts are sums, and means and percentiles are those of all their packets. Sojourn time, backlog and limit do not include the packet in transmission.\n";

const FLOWS: &str = "\
For several flows together, counts are sums, rates are per flow, and means and percentiles are those of all their packets.\n";

const GROUPS: &str = "These compare or sum the flows of one label, or of one direction.\n";

const RUNS: &str = "These describe the whole run, warm-up included unless stated otherwise.\n";

const TRACES: &str = "
## Traces

[reference/traces.md](reference/traces.md) lists the metrics of a trace, written by Sojourn or by another program.
";

const RESULTS: &str = "\
```text
manifest.json   what ran: points, scenarios with every default filled in, dialects, seeds, the auditor's notes
checksums/      p003-r07.json: the checksum of each file of point 3, replication 7; written last, so a run with this file is complete
runs/           p003-r07.parquet
flows/          one file per run
queues/         one file per run
series/, receivers/, transfers/, media/
                one file per run; absent or empty if a run has no time series, no groups, no finite transfers, no media
summary.json    tables and figures, from the above
report.html, figures/, tables/
                what `sojourn report` writes
timing.json     wall time, host and date; nothing else depends on them
```

Sojourn writes every file under a temporary name and then renames it, so you never read half a file. Checksums are XXH64 with seed 0, in hexadecimal, as `xxhsum -H1` prints them. In the same file, `of` is the checksum of version, seed and scenario. The manifest's `checksum` covers its other keys as compact JSON. A process that writes into the directory holds an operating system lock on `.lock`, and the file names the process. The same study gives the same bytes in every file, on any machine and with any number of threads, except in two cases: `timing.json`, and the command with its `--out` in `manifest.json`, `source.toml` and `summary.json`. To check that two directories hold the same bits, compare their checksums: `diff -r A/checksums B/checksums`.

Column names consist of noun, unit and statistic. Columns with counts are integers; columns of type double are computed from them. Tables that you read through Sojourn (`sojourn.Results`, or Arrow) also have a column `experiment` and a column `factor_NAME` for each factor.

## Histograms

A histogram has two lists: `..._steps`, the numbers of the used steps in ascending order, and `..._counts`, the number of values in each. Step 0 is the value zero. Step n > 0 is part k = (n − 1) mod 32 of octave o = (n − 1) div 32. It holds the values, in picoseconds, from 2^o (1 + k/32) up to 2^o (1 + (k + 1)/32). Below 32, each value has its own step. To merge histograms, add the counts of equal steps.
";
