//! What `sojourn init` writes: a study to start from, with a comment on everything in it, or a folder for an algorithm of the user's.

mod kit;

pub use kit::{File, Kit};

use crate::study;
use sojourn_scenario::schema;

/// The text of the starter study.
pub fn study() -> &'static str {
    STUDY
}

/// The file with the JSON Schema, which the first line of the starter study names: editors find it beside the study.
pub const SCHEMA_FILE: &str = "sojourn.schema.json";

/// The JSON Schema of study files, as `sojourn schema` prints it.
pub fn schema_text() -> String {
    let sections = schema::study_sections(&study::tables());
    format!("{:#}\n", schema::schema(&sections))
}

const STUDY: &str = r#"#:schema ./sojourn.schema.json
# A study for Sojourn: one network, several queues and rates, tables and figures.
#
#   sojourn study FILE --out results    runs the study; finished runs are not repeated
#   sojourn run FILE                    runs only its scenario
#   sojourn schema                      prints the JSON Schema that the first line names for editors
#   sojourn show codel                  lists the parameters of an algorithm
#
# Every quantity has a unit. Every key that you leave out has a default, which the report shows.

name = "codel-or-drr"

# Dialect: whose version of the algorithms runs, such as rfc, linux, ns2, ns3 or paper. Uncomment the line to choose one.
# dialect = "linux"

[study]
title = "CoDel or DRR"
description = """
Four TCP flows and one flow of constant rate share a bottleneck. Which queue keeps the delay low, and at what loss?"""

# Length and number of runs. Intervals in tables are computed over the replications.
[run]
duration = "30s"
warmup = "5s"
replications = 10

# Hosts - router - bottleneck - router - hosts.
[topology]
kind = "dumbbell"
rate = "10Mbps"
rtt = "40ms"
# The same limit for every queue: comparisons of unequal buffers mislead.
buffer = "100p"
queue = "droptail"

[[flows]]
kind = "reno"
count = 4

[[flows]]
kind = "cbr"
label = "voice"
rate = "200kbps"
size = "200B"

# Time series, sampled in each run at every step: backlog, sojourn, drops, throughput, cwnd, rtt, packets, control, state...
[series]
record = "backlog, sojourn"
step = "100ms"

# An experiment varies values of the scenario: every combination of its factors' levels is one point.
[[experiment]]
name = "rates"
title = "Three queues at three rates"

# The queues are compared. Each gets the same traffic in the same replication, so that differences are of the queues.
[[experiment.factor]]
name = "queue"
path = "topology.queue"
values = ["droptail", "codel", "drr"]
labels = ["DropTail", "CoDel", "DRR"]
compare = true

[[experiment.factor]]
name = "rate"
path = "topology.rate"
values = ["2Mbps", "10Mbps", "50Mbps"]
unit = "Mbps"

[[table]]
id = "delay-and-loss"
title = "Delay and loss at the bottleneck"
experiment = "rates"
rows = ["rate", "queue"]
metrics = ["sojourn_s_mean", "sojourn_s_p99", "loss_ratio", "utilization_ratio"]

[[figure]]
id = "delay"
title = "99th percentile of the sojourn time"
kind = "lines"
experiment = "rates"
x = "rate"
x_scale = "log"
y = "sojourn_s_p99"
series = "queue"
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Study;
    use sojourn_scenario::document::Document;

    #[test]
    fn the_starter_is_a_study_whose_every_point_makes_a_network() {
        let document = Document::parse(study(), "study.toml").unwrap();
        let study = Study::from_document(&document).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(study.points.len(), 9);
        assert_eq!((study.tables.len(), study.figures.len()), (1, 1));
        assert_eq!(study.notes, Vec::<String>::new());
        for point in &study.points {
            let scenario = point.scenario().unwrap_or_else(|error| panic!("{error}"));
            scenario
                .resolve()
                .and_then(|full| sojourn_run::compile::compile(&full, 0))
                .unwrap_or_else(|error| panic!("{error}"));
        }
    }

    #[test]
    fn the_first_line_names_the_schema_for_editors() {
        let first = study().lines().next();
        assert_eq!(first, Some(&*format!("#:schema ./{SCHEMA_FILE}")));
        assert!(schema_text().contains(schema::SCHEMA_NAME));
    }

    #[test]
    fn every_line_of_the_starter_fits_a_screen() {
        for line in study().lines() {
            assert!(line.chars().count() <= 130, "{line}");
        }
    }
}
