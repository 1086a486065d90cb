//! Analysis of event traces: what was sent, forwarded, received, dropped and lost by node, link and flow; delays, jitter, queueing
//! and processing times, round trips, utilization; all of it over time.

mod ledger;
mod stats;
mod tables;

pub use tables::documented;

use super::analysis::{Analysis, Options, nothing};
use super::event::{Events, Grammar};
use super::format::Format;
use super::input::{At, Fault, Input};
use ledger::Ledger;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};

/// Reads an event trace to its end and analyses it.
///
/// # Errors
/// What is wrong with the trace, with its line; when `--rate` names no link of it; when the time series would have too many steps.
pub fn analyse(input: Input, format: Format, options: &Options) -> Result<Analysis> {
    let Some(grammar) = format.grammar() else {
        let problem = format!("this is {}, not an event trace", format.title());
        let error = LabError::new(LabErrorKind::Contradiction, problem);
        return Err(error.in_file(input.name()));
    };
    run(Events::new(input, grammar), format, options)
}

fn run<G: Grammar>(mut reader: Events<G>, format: Format, options: &Options) -> Result<Analysis> {
    let mut ledger = Ledger::new(options);
    let mut any = false;
    while let Some(event) = reader.next_event()? {
        any = true;
        if options.to.is_some_and(|to| event.time >= to) {
            break;
        }
        ledger.event(&event, reader.names())?;
    }
    ledger.finish(reader.names());
    let (lines, ignored) = (reader.lines(), reader.ignored());
    let names = reader.names_so_far();
    let input = reader.into_input();
    if !any && input.skipped() == 0 {
        let fault = Fault {
            problem: "the trace has no packet events".to_owned(),
            remedy: "check that the program that wrote it ended normally and flushed the file",
        };
        return Err(input.fault(&fault, At::Line(input.lines())));
    }
    if any && ledger.span.is_none() {
        return Err(nothing(input.name(), "event", options));
    }
    let skipped = input.into_skipped();
    let tables = tables::tables(
        &mut ledger,
        &names,
        options,
        (lines, ignored, skipped.count),
    )?;
    let skipped = Vec::from_iter((skipped.count > 0).then_some(skipped));
    Ok(Analysis {
        format,
        tables,
        skipped,
        remarks: Vec::new(),
    })
}
