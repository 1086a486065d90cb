//! What links do beside carrying packets: impairments, sending opportunities and timed changes.

use sojourn_scenario::Resolved;
use sojourn_scenario::error::{LabError, LabErrorKind};
use sojourn_scenario::model::{ImpairmentParams, LinkState as LinkPower, LossPlace, WhileDown};
use sojourn_scenario::opportunities;
use sojourn_sim::{ImpairmentSpec, LinkState, Loss, LossAt, Outage, Stream, Ties};
use sojourn_units::Time;

use super::parts::{Compiled, LinkChange, bad, unknown};

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

pub(super) fn apply_changes(scenario: &Resolved, compiled: &mut Compiled) -> Result<(), LabError> {
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
            state,
        });
        compiled.changes.extend(later);
    }
    compiled
        .changes
        .sort_by_key(|change| (change.at, change.link));
    for pair in compiled.changes.windows(2) {
        if let [one, other] = pair
            && (one.at, one.link) == (other.at, other.link)
            && (one.rate.is_some() && other.rate.is_some()
                || one.delay.is_some() && other.delay.is_some()
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
