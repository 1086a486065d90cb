//! What links do beside carrying packets: impairments, sending opportunities and timed changes.

use std::sync::Arc;

use sojourn_queue::registry::{self, BuildContext};
use sojourn_scenario::Resolved;
use sojourn_scenario::error::{LabError, LabErrorKind};
use sojourn_scenario::model::{
    ImpairmentParams, LinkState as LinkPower, LossPlace, Streams, WhileDown,
};
use sojourn_scenario::opportunities;
use sojourn_sim::{ImpairmentSpec, LinkState, Loss, LossAt, Outage, Stream, Ties};
use sojourn_units::{Spec, Time};

use super::parts::{Compiled, LinkChange, NewQueue, bad, unknown};

fn link_index(
    scenario: &Resolved,
    compiled: &Compiled,
    key: &str,
    name: &str,
) -> Result<usize, LabError> {
    compiled
        .links
        .iter()
        .position(|link| link.name == name)
        .ok_or_else(|| {
            unknown(
                scenario,
                key,
                "link direction",
                name,
                compiled.links.iter().map(|link| link.name.as_str()),
            )
        })
}

pub(super) fn apply_impairments(
    scenario: &Resolved,
    compiled: &mut Compiled,
) -> Result<(), LabError> {
    for (given, i) in scenario.impairments.iter().zip(0..) {
        let key = format!("impairments[{i}].link");
        let link = link_index(scenario, compiled, &key, &given.link)?;
        compiled.network.links[link].impairments = impairment(scenario, given, i)?;
    }
    Ok(())
}

fn impairment(
    scenario: &Resolved,
    given: &ImpairmentParams,
    index: usize,
) -> Result<ImpairmentSpec, LabError> {
    let loss = if let Some(list) = &given.loss_list {
        let mut numbers = Vec::new();
        for text in list.split(',') {
            numbers.push(text.trim().parse::<u64>().map_err(|_| {
                bad(
                    scenario,
                    &format!("impairments[{index}].loss_list"),
                    &format!("\"{text}\" is not a packet number"),
                    "write whole numbers from 0, separated by commas, such as \"20,22,24\"",
                )
            })?);
        }
        numbers.sort_unstable();
        numbers.dedup();
        Loss::List(numbers)
    } else if given.to_bad.get() > 0.0 {
        Loss::GilbertElliott {
            to_bad: given.to_bad.get(),
            to_good: given.to_good.get(),
            loss_good: given.loss.get(),
            loss_bad: given.loss_bad.get(),
        }
    } else if given.loss.get() > 0.0 {
        Loss::Bernoulli(given.loss.get())
    } else {
        Loss::None
    };
    Ok(ImpairmentSpec {
        loss,
        loss_at: match given.loss_at {
            LossPlace::Wire => LossAt::Wire,
            LossPlace::Queue => LossAt::Queue,
        },
        duplicate: given.duplicate.get(),
        jitter: given.jitter,
        reorder: given.reorder,
        bleach: given.bleach.get(),
        mark: given.mark.get(),
        outages: None,
    })
}

/// Gives links their schedules, and the mean rate of those.
pub(super) fn apply_opportunities(
    scenario: &Resolved,
    replication: u64,
    compiled: &mut Compiled,
) -> Result<(), LabError> {
    for (given, i) in scenario.opportunities.iter().zip(0..) {
        let key = |key: &str| format!("opportunities[{i}].{key}");
        let link = link_index(scenario, compiled, &key("link"), &given.link)?;
        if compiled.network.ties == Ties::Ns2Clock {
            return Err(bad(
                scenario,
                &key("link"),
                "the clock of ns-2 has no links that send at opportunities",
                "remove dialect = \"ns2\", or set run.ties = \"departures_first\"",
            ));
        }
        let name = format!("link/{}/opportunities", given.link);
        let mut stream = Stream::derive(scenario.run.seed, replication, &name);
        let schedule = opportunities::schedule(given, given.random_offset.then_some(&mut stream))
            .map_err(|(wrong, problem)| {
            bad(scenario, &key(wrong), &problem, "see [[opportunities]]")
        })?;
        let (spec, info) = (&mut compiled.network.links[link], &mut compiled.links[link]);
        spec.rate = schedule.rate();
        info.rate = spec.rate;
        info.opportunities = Some(schedule.clone());
        spec.opportunities = Some(schedule);
    }
    Ok(())
}

/// Plans the timed changes. A queue that comes later is as the one that is there in what it may know of the network.
pub(super) fn apply_changes(
    scenario: &Resolved,
    flow_nodes: &Arc<[(u32, u32)]>,
    compiled: &mut Compiled,
) -> Result<(), LabError> {
    for (change, i) in scenario.changes.iter().zip(0..) {
        let key = format!("changes[{i}].link");
        let link = link_index(scenario, compiled, &key, &change.link)?;
        if change.rate.is_some() && compiled.links[link].opportunities.is_some() {
            return Err(bad(
                scenario,
                &format!("changes[{i}].rate"),
                &format!(
                    "{} sends at the opportunities of its schedule, not at a rate",
                    change.link
                ),
                "change only its delay, or remove its [[opportunities]]",
            ));
        }
        let (at, every) = (Time::ZERO + change.at, change.every);
        let end = Time::ZERO + scenario.run.duration;
        let times = std::iter::successors(Some(at), |at| at.checked_add(every?));
        let due = times.take_while(|at| *at < end);
        if change.at.is_zero() {
            // Before the packets that agents send when they start.
            let (spec, info) = (&mut compiled.network.links[link], &mut compiled.links[link]);
            spec.rate = change.rate.unwrap_or(spec.rate);
            spec.delay = change.delay.unwrap_or(spec.delay);
            (info.rate, info.delay) = (spec.rate, spec.delay);
        }
        let queue = match &change.queue {
            Some(spec) => Some(new_queue(scenario, flow_nodes, compiled, (spec, i, link))?),
            None => None,
        };
        let state = change.state.map(|state| match (state, change.while_down) {
            (LinkPower::Up, _) => LinkState::Up,
            (LinkPower::Down, WhileDown::Wait) => LinkState::Down(Outage::Wait),
            (LinkPower::Down, WhileDown::Lose) => LinkState::Down(Outage::Lose),
        });
        if let Some(state) = state {
            let outages = &mut compiled.network.links[link].impairments.outages;
            let first = outages.get_or_insert_default();
            if change.at.is_zero() {
                *first = state;
            }
        }
        let later = due.filter(|at| *at > Time::ZERO);
        let later = later.map(|at| LinkChange {
            at,
            link,
            rate: change.rate,
            delay: change.delay,
            queue: queue.clone(),
            state,
        });
        compiled.changes.extend(later);
    }
    compiled
        .changes
        .sort_by_key(|change| (change.at, change.link));
    refuse_twice(compiled)
}

/// Refuses two changes of one kind and link at one time.
fn refuse_twice(compiled: &Compiled) -> Result<(), LabError> {
    for pair in compiled.changes.windows(2) {
        if let [one, other] = pair
            && (one.at, one.link) == (other.at, other.link)
            && (one.rate.is_some() && other.rate.is_some()
                || one.delay.is_some() && other.delay.is_some()
                || one.queue.is_some() && other.queue.is_some()
                || one.state.is_some() && other.state.is_some())
        {
            let at = one.at.since(Time::ZERO);
            let link = &compiled.links[one.link].name;
            let problem = format!("{link} has two changes of the same kind at {at}");
            return Err(LabError::new(LabErrorKind::Contradiction, problem)
                .key("changes")
                .remedy("give the two changes different times"));
        }
    }
    Ok(())
}

/// Checks the queue of a change, and puts it before the link at once where the change is at the very beginning.
fn new_queue(
    scenario: &Resolved,
    flow_nodes: &Arc<[(u32, u32)]>,
    compiled: &mut Compiled,
    (spec, number, link): (&Spec, usize, usize),
) -> Result<Arc<NewQueue>, LabError> {
    let key = format!("changes[{number}].queue");
    if scenario.conventions.streams == Streams::Ns3 {
        return Err(bad(
            scenario,
            &key,
            "the numbers of ns-3's random streams do not allow for a queue that comes later",
            "set run.streams = \"names\", or remove the change of the queue",
        ));
    }
    let at = |error: registry::SpecError| {
        LabError::from_queue(&error)
            .in_file(&scenario.name)
            .key(&key)
    };
    let (spec_of, info) = (&mut compiled.network.links[link], &mut compiled.links[link]);
    let queue = NewQueue {
        discipline: registry::prepare(spec, scenario.dialect.as_deref()).map_err(at)?,
        context: BuildContext {
            seed: compiled.network.seed,
            replication: compiled.network.replication,
            name: format!("link/{}/queue/{}", info.name, number + 1),
            dialect: scenario.dialect.clone(),
            flow_nodes: Arc::clone(flow_nodes),
            per_flow: info.observed,
            ns3_number: None,
        },
    };
    let port = queue.build().map_err(at)?;
    if scenario.changes[number].at.is_zero() {
        spec_of.port = port;
        info.discipline = queue.discipline.entry();
        info.resolved = Arc::new(queue.discipline.resolved());
    } else {
        // A link that can be changed so keeps to the plain way of doing things.
        spec_of.impairments.outages.get_or_insert_default();
    }
    Ok(Arc::new(queue))
}
