//! What links do beside carrying packets, what changes in time, and what is recorded.

use std::path::Path;

use sojourn_units::nearest;

use super::Reader;
use crate::document::{Extra, TableRef};
use crate::error::{LabError, LabErrorKind, Result};
use crate::model::{
    ChangeParams, ImpairmentParams, OpportunityParams, RunParams, SeriesParams, Topology,
};
use crate::nominal::{before, buffer_of};
use crate::opportunities;
use crate::quantities::wanted;

/// Samples of one time series that a run keeps at most.
const MOST_SAMPLES: u64 = 10_000_000;

/// Times that one entry of `[[changes]]` may happen.
const MOST_REPEATS: u64 = 1_000_000;

impl<'a> Reader<'a> {
    pub(super) fn impairments(&self, topology: &Topology) -> Result<Vec<ImpairmentParams>> {
        let mut impairments: Vec<ImpairmentParams> = Vec::new();
        for table in self.root.tables("impairments")? {
            let impairment: ImpairmentParams = table.params(Extra::default())?;
            link_name(&table, topology)?;
            if impairments
                .iter()
                .any(|other| other.link == impairment.link)
            {
                let problem = format!("the link {} has impairments already", impairment.link);
                return Err(table
                    .error_on("link", LabErrorKind::Contradiction, problem)
                    .remedy("write all of them in one [[impairments]]"));
            }
            if let Some(numbers) = &impairment.loss_list
                && let Some(wrong) = numbers
                    .split(',')
                    .map(str::trim)
                    .find(|number| number.parse::<u64>().is_err())
            {
                let problem = format!("{wrong:?} is not the number of a packet");
                return Err(table
                    .error_on("loss_list", LabErrorKind::BadValue, problem)
                    .remedy(
                        "write numbers with commas between, counted from 0, such as \"12, 47\"",
                    ));
            }
            let random = [
                ("loss", impairment.loss.get() > 0.0),
                ("to_bad", impairment.to_bad.get() > 0.0),
            ];
            if impairment.loss_list.is_some()
                && let Some((key, _)) = random.iter().find(|model| model.1)
            {
                let problem = format!("loss_list and {key} are two models of loss");
                return Err(table
                    .error_on("loss_list", LabErrorKind::Contradiction, problem)
                    .remedy("keep one of them"));
            }
            let idle = [
                ("to_good", "to_bad", "the bad state is never entered"),
                ("loss_bad", "to_bad", "the bad state is never entered"),
            ]
            .into_iter()
            .find(|(given, needed, _)| table.has(given) && !table.has(needed))
            .or((impairment.reorder && !table.has("jitter")).then_some((
                "reorder",
                "jitter",
                "packets of the same delay do not overtake each other",
            )));
            if let Some((given, needed, why)) = idle {
                let problem = format!("{given} does nothing without {needed}: {why}");
                return Err(table
                    .error_on(given, LabErrorKind::Contradiction, problem)
                    .remedy(format!("give {needed} too, or leave {given} out")));
            }
            impairments.push(impairment);
        }
        Ok(impairments)
    }

    pub(super) fn opportunities(&self, topology: &Topology) -> Result<Vec<OpportunityParams>> {
        let mut all: Vec<OpportunityParams> = Vec::new();
        for table in self.root.tables("opportunities")? {
            let mut schedule: OpportunityParams = table.params(Extra::default())?;
            link_name(&table, topology)?;
            if all.iter().any(|other| other.link == schedule.link) {
                let problem = format!("the link {} has a schedule already", schedule.link);
                return Err(table
                    .error_on("link", LabErrorKind::Contradiction, problem)
                    .remedy("keep one of the two"));
            }
            let ways = ["file", "gaps", "every"];
            let given: Vec<&str> = ways.into_iter().filter(|key| table.has(key)).collect();
            match given[..] {
                [_] => {}
                [] => {
                    return Err(table.missing(
                        "file",
                        "say when the link may send with file, gaps or every, such as every = \"8ms\"",
                    ));
                }
                [first, second, ..] => {
                    let problem = format!("{first} and {second} are two schedules");
                    return Err(table
                        .error_on(second, LabErrorKind::Contradiction, problem)
                        .remedy("keep one of them"));
                }
            }
            if let Some(file) = schedule.file.take() {
                let path = Path::new(self.document.file()).with_file_name(&file);
                let content = (self.files)(&path).map_err(|error| {
                    let error = LabError::io(&path, "read the file", &error);
                    table.error_on("file", LabErrorKind::Io, error.to_string())
                })?;
                let gaps = opportunities::gaps_of_file(&content).map_err(|problem| {
                    let problem = format!("{file}: {problem}");
                    table.error_on("file", LabErrorKind::BadValue, problem)
                })?;
                schedule.gaps = Some(gaps);
            }
            opportunities::schedule(&schedule, None)
                .map_err(|(key, problem)| table.error_on(key, LabErrorKind::BadValue, problem))?;
            all.push(schedule);
        }
        Ok(all)
    }

    pub(super) fn changes(
        &mut self,
        topology: &Topology,
        run: &RunParams,
    ) -> Result<Vec<ChangeParams>> {
        let mut changes: Vec<ChangeParams> = Vec::new();
        for table in self.root.tables("changes")? {
            let change: ChangeParams = table.params(Extra::default())?;
            if !table.has("at") {
                return Err(table.missing("at", "say when, such as at = \"10s\""));
            }
            link_name(&table, topology)?;
            if change.rate.is_none()
                && change.delay.is_none()
                && change.queue.is_none()
                && change.state.is_none()
            {
                return Err(table
                    .error(LabErrorKind::MissingKey, "this change changes nothing")
                    .remedy("give it a rate, a delay, a queue or a state"));
            }
            self.queue_of_change(&table, topology, &change)?;
            if change.at >= run.duration {
                let problem = format!(
                    "a change at {} is not within the run of {}",
                    change.at, run.duration
                );
                return Err(table
                    .error_on("at", LabErrorKind::Contradiction, problem)
                    .remedy("change earlier, or make run.duration longer"));
            }
            if let Some(every) = change.every
                && run.duration.as_ps() / every.as_ps() > MOST_REPEATS
            {
                let problem = format!(
                    "a change every {every} happens more than {MOST_REPEATS} times within {}",
                    run.duration
                );
                return Err(table
                    .error_on("every", LabErrorKind::BadValue, problem)
                    .remedy("change less often, or run for a shorter time"));
            }
            let twice =
                |other: &ChangeParams| other.at == change.at && same_quantity(other, &change);
            if changes.iter().any(twice) {
                let problem = format!("{} changes twice at {}", change.link, change.at);
                return Err(table
                    .error_on("at", LabErrorKind::Contradiction, problem)
                    .remedy("keep one of the two"));
            }
            changes.push(change);
        }
        for (table, change) in self.root.tables("changes")?.iter().zip(&changes) {
            let back = |other: &ChangeParams| other.at != change.at && same_quantity(other, change);
            if change.every.is_some() && !changes.iter().any(back) {
                let problem = format!(
                    "nothing changes {} back in between, so it changes once",
                    change.link
                );
                return Err(table
                    .error_on("every", LabErrorKind::Contradiction, problem)
                    .remedy("add the change that it alternates with, with the same every and another at, or leave every out"));
            }
        }
        changes.sort_by_key(|change| change.at);
        Ok(changes)
    }

    /// Checks the queue of a change, if it has one.
    fn queue_of_change(
        &mut self,
        table: &TableRef<'a>,
        topology: &Topology,
        change: &ChangeParams,
    ) -> Result<()> {
        let Some(queue) = &change.queue else {
            return Ok(());
        };
        let place = before(topology, &change.link);
        let buffer = buffer_of(topology, place);
        self.queue(Some(table), "queue", (queue, buffer, place))
    }

    pub(super) fn series(&self, run: &RunParams) -> Result<SeriesParams> {
        let series: SeriesParams = self.params_of("series")?;
        let Some(table) = self.root.table("series")? else {
            return Ok(series);
        };
        let wanted = wanted(&series.record).map_err(|error| {
            table
                .error_on("record", error.kind(), "")
                .with_text_of(&error)
        })?;
        let samples = run.duration.as_ps() / series.step.as_ps().max(1);
        if !wanted.is_empty() && samples > MOST_SAMPLES {
            return Err(table
                .error_on(
                    "step",
                    LabErrorKind::BadValue,
                    format!(
                        "a sample every {} over {} makes {samples} samples of each series, allowed is {MOST_SAMPLES}",
                        series.step, run.duration
                    ),
                )
                .remedy("make series.step longer, or run.duration shorter"));
        }
        Ok(series)
    }
}

/// Whether two changes are of the same quantity of the same link.
fn same_quantity(one: &ChangeParams, other: &ChangeParams) -> bool {
    one.link == other.link
        && (one.rate.is_some() && other.rate.is_some()
            || one.delay.is_some() && other.delay.is_some()
            || one.queue.is_some() && other.queue.is_some()
            || one.state.is_some() && other.state.is_some())
}

/// Checks the name of a link direction as far as the topology gives names.
fn link_name(table: &TableRef<'_>, topology: &Topology) -> Result<()> {
    let name = table.required_text(
        "link",
        "name the link direction, such as link = \"left-right\"",
    )?;
    if let Topology::Graph(links) = topology {
        let names: Vec<String> = links
            .iter()
            .flat_map(|link| {
                [
                    format!("{}-{}", link.from, link.to),
                    format!("{}-{}", link.to, link.from),
                ]
            })
            .collect();
        if !names.iter().any(|other| other == name) {
            return Err(table
                .error_on(
                    "link",
                    LabErrorKind::UnknownName,
                    format!("there is no link {name:?}"),
                )
                .nearest(nearest(name, names.iter().map(String::as_str)))
                .allowed("links", names.join(", ")));
        }
    }
    Ok(())
}
