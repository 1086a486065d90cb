//! One run with every packet's events written as a trace.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write;

use sojourn_sim::trace::Merged;
use sojourn_sim::trace_ns2::{FlowLabel, line};

use crate::compile::FlowInfo;
use crate::error::LabError;
use crate::model::Scenario;
use crate::outcome::RunOutcome;
use crate::run::run_traced;

/// Why a traced run has no outcome.
#[derive(Debug)]
pub enum TraceError {
    /// The run failed.
    Run(LabError),
    /// The trace could not be written.
    Write(std::io::Error),
}

/// Runs one replication and writes ns-2's trace of it: every link, every packet, in the order of time.
///
/// # Errors
/// As [`crate::run::run`], and if the trace cannot be written.
pub fn run_ns2(
    scenario: &Scenario,
    replication: u64,
    out: &mut dyn Write,
) -> Result<RunOutcome, TraceError> {
    let failed: RefCell<Option<std::io::Error>> = RefCell::new(None);
    let out = RefCell::new(out);
    let result = run_traced(scenario, replication, |compiled| {
        let ends: Vec<(u32, u32)> = compiled
            .network
            .links
            .iter()
            .map(|link| (link.from, link.to))
            .collect();
        let labels = labels(&compiled.flows);
        let (failed, out) = (&failed, &out);
        Merged::new(compiled.lag(), move |record| {
            if failed.borrow().is_some() {
                return;
            }
            let (Some(ends), Some(label)) =
                (item(&ends, record.link), item(&labels, record.packet.flow))
            else {
                return;
            };
            if let Some(text) = line(record, *ends, label)
                && let Err(error) = writeln!(out.borrow_mut(), "{text}")
            {
                *failed.borrow_mut() = Some(error);
            }
        })
    });
    let (outcome, tracer) = result.map_err(TraceError::Run)?;
    drop(tracer);
    match failed.into_inner() {
        Some(error) => Err(TraceError::Write(error)),
        None => out
            .into_inner()
            .flush()
            .map(|()| outcome)
            .map_err(TraceError::Write),
    }
}

fn item<T>(items: &[T], index: u32) -> Option<&T> {
    items.get(usize::try_from(index).ok()?)
}

/// What lines say of each flow. Agents of a node take its ports in turn, from 0.
fn labels(flows: &[FlowInfo]) -> Vec<FlowLabel> {
    let mut ports: BTreeMap<u32, u32> = BTreeMap::new();
    let mut next = |node: u32| {
        let port = ports.entry(node).or_default();
        *port += 1;
        (node, *port - 1)
    };
    let connections = flows
        .iter()
        .flat_map(|flow| flow.network.clone().map(move |_| flow));
    (1..)
        .zip(connections)
        .map(|(id, flow)| FlowLabel {
            datagram: match flow.kind.as_str() {
                "exponential" | "poisson" => "exp".to_owned(),
                kind => kind.to_owned(),
            },
            id,
            source: next(flow.source),
            sink: next(flow.sink),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;

    fn scenario(text: &str) -> Scenario {
        Scenario::from_document(&Document::parse(text, "t.toml").unwrap()).unwrap()
    }

    const TINY: &str = "dialect = \"ns2\"\n[run]\nduration = \"50ms\"\nwarmup = \"0s\"\ndeterministic = true\n\
        [topology]\nrate = \"1Mbps\"\nrtt = \"24ms\"\nbottleneck_delay = \"10ms\"\naccess_rate = \"10Mbps\"\n\
        queue = \"droptail limit=2p\"\n[[flows]]\nspec = \"2*cbr 1Mbps size=1000B\"\n";

    #[test]
    fn a_trace_is_in_the_order_of_time_and_names_nodes_ports_and_drops() {
        let mut bytes = Vec::new();
        let outcome = run_ns2(&scenario(TINY), 0, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let times: Vec<f64> = text
            .lines()
            .map(|line| line.split(' ').nth(1).unwrap().parse().unwrap())
            .collect();
        assert!(times.is_sorted());
        assert!(
            text.starts_with("+ 0 2 0 cbr 1000 ------- 1 2.0 3.0 0 0\n"),
            "{text}"
        );
        let drops = text.lines().filter(|line| line.starts_with("d ")).count();
        let counted: u64 = outcome.queues.iter().map(|q| q.totals.dropped()).sum();
        assert!(drops > 0);
        assert_eq!(u64::try_from(drops).unwrap(), counted);
    }

    #[test]
    fn a_trace_does_not_change_the_run() {
        let traced = run_ns2(&scenario(TINY), 0, &mut Vec::new()).unwrap();
        assert_eq!(traced, crate::run::run(&scenario(TINY), 0).unwrap());
    }

    #[test]
    fn a_trace_that_cannot_be_written_is_an_error() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let result = run_ns2(&scenario(TINY), 0, &mut Full);
        assert!(
            matches!(result, Err(TraceError::Write(error)) if error.kind() == std::io::ErrorKind::StorageFull)
        );
    }
}
