//! Searches a space of scenarios for the place where a metric is lowest or highest.
//!
//! 1. A first generation is spread over the space by a scrambled Sobol sequence. Each place runs once.
//! 2. The best eighth runs again until each has `FULL` runs (successive halving: K. Jamieson, A. Talwalkar, "Non-stochastic Best Arm
//!    Identification and Hyperparameter Optimization", AISTATS 2016), so that luck in one run decides less.
//! 3. In four rounds, the best places are improved: places are drawn near those that are apart from each other, then each factor alone is
//!    varied from the best one, over its whole range, and then both again, with nearer places. The best quarter of each round gets
//!    `FULL` runs, too.
//! 4. Whatever leads then runs again until it has `LAST` runs, as often as another place leads after that. The winner is the best place
//!    with as many runs.
//! 5. From the winner, each factor alone is varied, to show which matter. Those that matter least first, each goes to its default if the
//!    place is then still nearly as bad: what is left is what makes it bad.
//!
//! The value of the winner is the best of many and so optimistic. A study with another seed confirms it: [`Search::confirmation`]. All
//! decisions follow from the runs and the seed, never from time or threads. Nothing guarantees that no place is worse.

mod confirm;
mod pool;
mod shown;
mod space;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use sojourn_results::asked::Asked;
use sojourn_results::outcome::RunOutcome;
use sojourn_results::stats::mean;
use sojourn_run::compile::compile;
use sojourn_run::needs::Needs;
use sojourn_scenario::document::Document;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_scenario::model::{LimitParams, Scenario, Warmup};
use sojourn_scenario::resolved::Resolved;
use sojourn_sim::rng::Stream;

use crate::study::{Progress, STUDY_KEYS, sobol_side};

pub use confirm::Confirmed;
pub use pool::Hands;
use pool::{Built, Job};
use space::Side;
pub use space::Space;

/// Runs of a place that others are drawn near.
const FULL: u64 = 3;
/// Runs of a place that may win.
const LAST: u64 = 9;
/// Rounds of refinement: how far new places lie from those that they are drawn near, as a share of a range, or `None` where one factor
/// alone takes values from its whole range.
const ROUNDS: [Option<f64>; 4] = [Some(0.2), None, Some(0.05), None];
/// Places that a round draws near.
const PARENTS: usize = 4;
/// Places are apart from this share of a range on, or with different values of a list.
const APART: f64 = 0.25;
/// Runs of each place along a factor, and places of a range beside the winner.
const ALONG: u64 = 2;
const STEPS: [f64; 4] = [0.0, 1.0, 1.0 / 3.0, 2.0 / 3.0];
/// Levels of a list that are tried along a factor at most.
const MOST_LEVELS: usize = 8;
/// Runs of the search itself at least.
const LEAST: u64 = 48;
/// Places that are tried for each that is allowed.
const ATTEMPTS: u64 = 8;

/// What is searched for, and for how long.
#[derive(Clone, Debug)]
pub struct Request {
    /// The metric: `jain_index`, or `share of cubic`, the part of all goodput in the direction under study.
    pub metric: String,
    /// Whether the lowest value is the worst.
    pub lower: bool,
    /// The option that gave the metric, for messages.
    pub option: &'static str,
    /// All runs, those of the confirmation included.
    pub runs: u64,
    /// Runs that confirm the worst case, and as many at the default.
    pub confirm: u64,
    /// Seed of the search: of the places and of their runs. The confirmation has the next one.
    pub seed: u64,
}

/// A place and what is known of it.
#[derive(Clone)]
struct Tried {
    place: Vec<f64>,
    texts: Vec<String>,
    /// What runs there; nothing where it is refused.
    built: Option<Arc<Built>>,
    /// One per run that has a value.
    values: Vec<f64>,
    runs: u64,
    /// Why it does not count, if it does not.
    out: Option<Out>,
}

#[derive(Clone, Debug)]
enum Out {
    Refused(String),
    Failed,
    Valueless,
}

/// How much of the way from the default to the winner a simpler place keeps at least.
const KEPT: f64 = 0.9;

/// A value along a factor: where, and the mean; `None` where that place is refused or has no value.
#[derive(Clone, Debug)]
struct Along {
    share: f64,
    text: String,
    value: Option<f64>,
}

/// A place nearly as bad as the winner, with some factors at their defaults.
#[derive(Clone, Debug)]
struct Simpler {
    /// For each factor, whether it has the value of the winner.
    kept: Vec<bool>,
    /// The mean of its runs.
    value: f64,
}

/// A search under way, or at its end.
pub struct Search {
    space: Space,
    request: Request,
    asked: Asked,
    tried: Vec<Tried>,
    known: BTreeSet<Vec<String>>,
    /// Runs made for the search, and in all.
    made: u64,
    done: u64,
    /// Runs that failed by a bug of Sojourn, with the values of their place.
    failures: Vec<LabError>,
    winner: Option<usize>,
    /// For each factor, the winner first.
    along: Vec<Vec<Along>>,
    simpler: Option<Simpler>,
    /// Why the default does not run, if it does not.
    default_refused: Option<String>,
}

/// `share of X` in words that a table of a study reads.
fn written_out(metric: &str) -> String {
    match metric.trim().strip_prefix("share of ") {
        Some(of) => format!("goodput_bps_sum of {} over forward", of.trim()),
        None => metric.trim().to_owned(),
    }
}

impl Search {
    /// A search that has not begun.
    ///
    /// # Errors
    /// When nothing varies, there is no such metric there, no scenario of the space is allowed, or the runs are too few.
    pub fn of(space: Space, mut request: Request) -> Result<Search> {
        space.check()?;
        request.metric = written_out(&request.metric);
        if request.confirm < 2 {
            let problem = format!("{} is too few", request.confirm);
            let error = LabError::new(LabErrorKind::BadValue, problem).in_file("--confirm");
            return Err(error.remedy("write a number from 2 on, since an interval needs two runs"));
        }
        let at = |document: &Document| {
            let (scenario, limits) = scenario(document, &request, request.seed)?;
            built(&scenario, limits, &request)
        };
        let middle = vec![0.5; space.sides.len()];
        let (default_refused, built) = match space.default_document().and_then(|own| at(&own)) {
            Ok(built) => (None, built),
            // A factor may have to give what the file leaves open.
            Err(error) => match space.document(&middle).and_then(|own| at(&own)) {
                Ok(built) => (Some(error.to_string()), built),
                Err(_) => return Err(error),
            },
        };
        space.check_lists(|document| {
            let (scenario, _) = scenario(document, &request, request.seed)?;
            scenario.resolve().map(|_| ())
        })?;
        let search = Search {
            asked: built.asked,
            space,
            request,
            tried: Vec::new(),
            known: BTreeSet::new(),
            made: 0,
            done: 0,
            failures: Vec::new(),
            winner: None,
            along: Vec::new(),
            simpler: None,
            default_refused,
        };
        let least = search.beside().saturating_add(LEAST);
        if search.request.runs < least {
            let problem = format!("{} runs are too few for this search", search.request.runs);
            let error = LabError::new(LabErrorKind::BadValue, problem).in_file("--runs");
            return Err(error.remedy(format!(
                "write {least} or more: {LEAST} to search, and the rest to vary each factor and to confirm"
            )));
        }
        Ok(search)
    }

    /// Runs beside the search itself: along the factors, of simpler places, and of the confirmation.
    fn beside(&self) -> u64 {
        let along = self.space.sides.iter().map(|side| match side.levels() {
            None => STEPS.len(),
            Some(levels) => levels.saturating_sub(1).min(MOST_LEVELS),
        });
        let along = 1 + along.sum::<usize>();
        let along = u64::try_from(along).unwrap_or(u64::MAX);
        let simpler = 1 + count_of(&self.space.sides);
        (along.saturating_mul(ALONG))
            .saturating_add(simpler.saturating_mul(FULL))
            .saturating_add(self.of_confirmation())
    }

    /// Runs of the confirmation at most: of the winner, the simpler place and the default.
    fn of_confirmation(&self) -> u64 {
        self.request.confirm.saturating_mul(3)
    }

    /// What the search needs at most, as far as the default tells it, its runs one after the other.
    ///
    /// # Errors
    /// When no scenario is allowed.
    pub fn needs(&self) -> Result<Needs> {
        let document = match self.default_refused {
            None => self.space.default_document()?,
            Some(_) => self.space.document(&vec![0.5; self.space.sides.len()])?,
        };
        let (mut scenario, _) = scenario(&document, &self.request, self.request.seed)?;
        scenario.run.replications = self.request.runs;
        Ok(Needs::of(&scenario))
    }

    /// Searches. After an error of the kind `Interrupted`, what was found so far is there.
    ///
    /// # Errors
    /// When it was stopped, or no place of the space is allowed.
    pub fn run<R>(&mut self, hands: &mut Hands<'_, R>) -> Result<()>
    where
        R: Fn(&Resolved, u64) -> Result<RunOutcome> + Sync,
    {
        let whole = self.request.runs - self.beside();
        let finalists = (whole / 96).max(2);
        let budget = whole - finalists * (LAST - FULL);
        let first = self.first(budget / 2)?;
        self.make(&first, 1, budget, hands)?;
        let survivors = self.best_of(&first, (budget / 16).max(2));
        self.make(&survivors, FULL, budget, hands)?;
        for (round, step) in (0..).zip(ROUNDS) {
            let count = (budget / 16).max(2);
            let next = match step {
                Some(step) => self.near(round, step, count),
                None => self.beside_best(count),
            };
            self.make(&next, 1, budget, hands)?;
            let survivors = self.best_of(&next, (budget / 64).max(1));
            self.make(&survivors, FULL, budget, hands)?;
        }
        for _ in 0..finalists {
            // Whatever leads has to lead after more runs, too.
            let leader = self.best_of(&self.with_runs(FULL), 1);
            self.make(&leader, LAST, whole, hands)?;
        }
        self.winner = self.worst_so_far(FULL);
        if self.winner.is_none() {
            return Err(self.nothing());
        }
        self.vary_each(hands)?;
        self.simplify(hands)
    }

    /// Places that have `runs` runs or more.
    fn with_runs(&self, runs: u64) -> Vec<usize> {
        let all = 0..self.tried.len();
        all.filter(|at| self.tried[*at].runs >= runs).collect()
    }

    /// The worst of the places that have the most runs, `least` or more.
    fn worst_so_far(&self, least: u64) -> Option<usize> {
        (least..=LAST)
            .rev()
            .find_map(|runs| self.best_of(&self.with_runs(runs), 1).first().copied())
    }

    /// Places all over the space.
    fn first(&mut self, count: u64) -> Result<Vec<usize>> {
        let most = count.saturating_mul(ATTEMPTS).min(65_536);
        let sides: Vec<Vec<f64>> = (0..)
            .zip(&self.space.sides)
            .map(|(dimension, _)| sobol_side(most, self.request.seed, dimension))
            .collect();
        let mut taken = Vec::new();
        for at in 0..usize::try_from(most).unwrap_or(usize::MAX) {
            if count_of(&taken) >= count {
                break;
            }
            let place = sides.iter().map(|side| side[at]).collect();
            taken.extend(self.take(place));
        }
        match taken.is_empty() {
            true => Err(self.nothing()),
            false => Ok(taken),
        }
    }

    /// Takes up a place, unless it is known or refused.
    fn take(&mut self, place: Vec<f64>) -> Option<usize> {
        let texts = self.space.texts(&place);
        if !self.known.insert(texts.clone()) {
            return None;
        }
        let (built, out) = match self.built(&place, self.request.seed) {
            Ok(built) => (Some(Arc::new(built)), None),
            Err(error) => (None, Some(Out::Refused(error.to_string()))),
        };
        let refused = out.is_some();
        self.tried.push(Tried {
            place,
            texts,
            built,
            values: Vec::new(),
            runs: 0,
            out,
        });
        (!refused).then(|| self.tried.len() - 1)
    }

    fn built(&self, place: &[f64], seed: u64) -> Result<Built> {
        let document = self.space.document(place)?;
        let (scenario, limits) = scenario(&document, &self.request, seed)?;
        built(&scenario, limits, &self.request)
    }

    /// Makes runs of places until each has `wanted`, as far as the budget goes.
    fn make<R>(
        &mut self,
        places: &[usize],
        wanted: u64,
        budget: u64,
        hands: &mut Hands<'_, R>,
    ) -> Result<()>
    where
        R: Fn(&Resolved, u64) -> Result<RunOutcome> + Sync,
    {
        let mut jobs: Vec<Job> = Vec::new();
        let mut owners = Vec::new();
        for &at in places {
            let (runs, left) = (self.tried[at].runs, budget - self.made);
            let more = wanted.saturating_sub(runs);
            if more > left.saturating_sub(count_of(&jobs)) {
                break;
            }
            let Some(built) = &self.tried[at].built else {
                continue;
            };
            for replication in runs..wanted {
                jobs.push((Arc::clone(built), replication));
                owners.push(at);
            }
        }
        self.made += count_of(&jobs);
        let ended = self.pooled(&jobs, hands);
        for (at, ended) in owners.into_iter().zip(ended) {
            let result = match ended {
                Some(Err(error)) if error.kind() == LabErrorKind::Interrupted => None,
                ended => ended,
            };
            let Some(result) = result else {
                self.made -= 1;
                continue;
            };
            let tried = &mut self.tried[at];
            tried.runs += 1;
            match result {
                Ok(Some(value)) => tried.values.push(value),
                Ok(None) => tried.out = Some(Out::Valueless),
                Err(error) if error.kind() == LabErrorKind::Bug => {
                    tried.out = Some(Out::Failed);
                    let texts = tried.texts.clone();
                    self.failures.push(self.failure(&error, &texts));
                }
                Err(error) => tried.out = Some(Out::Refused(error.to_string())),
            }
        }
        stopped(hands)
    }

    fn pooled<R>(&mut self, jobs: &[Job], hands: &mut Hands<'_, R>) -> Vec<pool::Ended>
    where
        R: Fn(&Resolved, u64) -> Result<RunOutcome> + Sync,
    {
        let total = self.request.runs - self.of_confirmation();
        let (done, progress) = (&mut self.done, &mut *hands.progress);
        let how = (hands.threads, hands.cancel);
        pool::make(&hands.runner, how, jobs, || {
            *done += 1;
            progress(&Progress {
                done: *done,
                total,
                found: 0,
                last: None,
            });
        })
    }

    /// The error of a run that failed, with the values of its place.
    fn failure(&self, error: &LabError, texts: &[String]) -> LabError {
        let values = self.space.sides.iter().zip(texts);
        let values = values.map(|(side, text)| format!("{}={text}", side.name));
        let values: Vec<String> = values.collect();
        LabError::new(
            LabErrorKind::Bug,
            format!("{error} (at {})", values.join(", ")),
        )
    }

    /// The error where no place has a value.
    fn nothing(&self) -> LabError {
        let refused = self.tried.iter().find_map(|tried| match &tried.out {
            Some(Out::Refused(reason)) => Some(reason.as_str()),
            _ => None,
        });
        let reason = refused.unwrap_or("the metric has no value there");
        let problem = format!(
            "none of {} places can be run and has a value, such as: {reason}",
            self.tried.len()
        );
        let error = LabError::new(LabErrorKind::Contradiction, problem).in_file("--range");
        error.remedy("narrow the ranges to what is allowed, or fix a value with --set")
    }

    /// How bad a place is: the less, the worse. `None` where that is not known.
    fn score(&self, at: usize) -> Option<f64> {
        let tried = &self.tried[at];
        let value = match tried.out {
            None => mean(&tried.values)?,
            Some(_) => return None,
        };
        Some(if self.request.lower { value } else { -value })
    }

    /// The worst of some places, the worst first.
    fn best_of(&self, places: &[usize], count: u64) -> Vec<usize> {
        let scored = places.iter().filter_map(|at| Some((self.score(*at)?, *at)));
        let mut scored: Vec<(f64, usize)> = scored.collect();
        scored.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        scored.into_iter().take(count).map(|(_, at)| at).collect()
    }

    /// The worst places with all their runs that are apart from each other, the worst first.
    fn apart(&self, count: usize) -> Vec<usize> {
        let all = vec![true; self.space.sides.len()];
        self.apart_from(Vec::new(), count, &all)
    }

    /// The same after some places, which are apart from all that follow. Only factors that count say what is apart.
    fn apart_from(&self, mut apart: Vec<usize>, count: usize, counts: &[bool]) -> Vec<usize> {
        for at in self.best_of(&self.with_runs(FULL), u64::MAX) {
            let far = |other: &usize| self.are_apart(at, *other, counts);
            if apart.len() < count && apart.iter().all(far) {
                apart.push(at);
            }
        }
        apart
    }

    fn are_apart(&self, one: usize, other: usize, counts: &[bool]) -> bool {
        let (one, other) = (&self.tried[one], &self.tried[other]);
        let sides = (0..self.space.sides.len()).filter(|at| counts[*at]);
        sides
            .into_iter()
            .any(|at| match self.space.sides[at].levels() {
                Some(_) => one.texts[at] != other.texts[at],
                None => (one.place[at] - other.place[at]).abs() >= APART,
            })
    }

    /// New places near the worst ones so far.
    fn near(&mut self, round: u64, step: f64, count: u64) -> Vec<usize> {
        let parents = self.apart(PARENTS);
        let mut taken = Vec::new();
        if parents.is_empty() {
            return taken;
        }
        let mut stream = Stream::derive(self.request.seed, round, "worst/near");
        for attempt in 0..count.saturating_mul(ATTEMPTS) {
            if count_of(&taken) >= count {
                break;
            }
            let parent = usize::try_from(attempt).unwrap_or(0) % parents.len();
            let place = self.tried[parents[parent]].place.clone();
            let place = moved(&place, &self.space.sides, step, &mut stream);
            taken.extend(self.take(place));
        }
        taken
    }

    /// New places that differ from the worst one so far in one factor.
    fn beside_best(&mut self, count: u64) -> Vec<usize> {
        let Some(best) = self.apart(1).first().copied() else {
            return Vec::new();
        };
        let places = self.with_one_changed(&self.tried[best].place);
        let mut taken = Vec::new();
        for (_, place) in places {
            if count_of(&taken) < count {
                taken.extend(self.take(place));
            }
        }
        taken
    }

    /// Places that differ from one in one factor, with the number of the factor: a value of every factor first, and then the next of each.
    fn with_one_changed(&self, own: &[f64]) -> Vec<(usize, Vec<f64>)> {
        let mut places = Vec::new();
        for turn in 0..MOST_LEVELS {
            for (at, side) in self.space.sides.iter().enumerate() {
                let shares: Vec<f64> = match side.levels() {
                    None => STEPS.to_vec(),
                    Some(count) => (0..count)
                        .map(|level| Side::middle_of(level, count))
                        .collect(),
                };
                // Several shares of a range of whole numbers may mean one of them.
                let mut seen = BTreeSet::from([side.text(own[at])]);
                let other = |share: &f64| seen.insert(side.text(*share));
                if let Some(share) = shares.into_iter().filter(other).nth(turn) {
                    let mut place = own.to_vec();
                    place[at] = share;
                    places.push((at, place));
                }
            }
        }
        places
    }

    /// Varies each factor alone from the winner, with the seed of the confirmation.
    fn vary_each<R>(&mut self, hands: &mut Hands<'_, R>) -> Result<()>
    where
        R: Fn(&Resolved, u64) -> Result<RunOutcome> + Sync,
    {
        let Some(winner) = self.winner else {
            return Ok(());
        };
        // The winner itself, and then what differs from it in one factor.
        let own = self.tried[winner].place.clone();
        let mut places: Vec<(usize, Vec<f64>)> = vec![(0, own.clone())];
        places.extend(self.with_one_changed(&own));
        let mut jobs: Vec<Job> = Vec::new();
        let mut spans = Vec::new();
        for (_, place) in &places {
            let from = jobs.len();
            if let Ok(built) = self.built(place, self.confirm_seed()) {
                let built = Arc::new(built);
                jobs.extend((0..ALONG).map(|replication| (Arc::clone(&built), replication)));
            }
            spans.push(from..jobs.len());
        }
        let ended = self.pooled(&jobs, hands);
        stopped(hands)?;
        let value = |span: &std::ops::Range<usize>| {
            let all = ended[span.clone()].iter();
            let all: Option<Vec<f64>> = all.map(|ended| ended.clone()?.ok()?).collect();
            mean(&all?)
        };
        let values: Vec<Option<f64>> = spans.iter().map(value).collect();
        self.along = (self.space.sides.iter().enumerate())
            .map(|(at, side)| {
                let here = (places.iter().zip(&values).enumerate())
                    .filter(|(number, ((of, _), _))| *number == 0 || *of == at);
                here.map(|(_, ((_, place), value))| Along {
                    share: place[at],
                    text: side.text(place[at]),
                    value: *value,
                })
                .collect()
            })
            .collect();
        Ok(())
    }

    /// Sets to its default what the winner does not need, the factors that change least first. A place is as bad as the winner if it keeps
    /// [`KEPT`] of the way from the default, in runs with the seed of the search. A factor whose default is none of its values keeps the
    /// value of the winner: the simpler place lies in the space.
    fn simplify<R>(&mut self, hands: &mut Hands<'_, R>) -> Result<()>
    where
        R: Fn(&Resolved, u64) -> Result<RunOutcome> + Sync,
    {
        let (Some(winner), None) = (self.winner, &self.default_refused) else {
            return Ok(());
        };
        let count = self.space.sides.len();
        let place = self.tried[winner].place.clone();
        let runs = usize::try_from(FULL).unwrap_or(usize::MAX);
        // The same replications, so that luck favours none.
        let worst = self.tried[winner].values.iter().take(runs).copied();
        let worst = mean(&worst.collect::<Vec<f64>>());
        let default = self.mean_at(&place, &vec![false; count], hands)?;
        let (Some(worst), Some(default)) = (worst, default) else {
            return Ok(());
        };
        let sign = if self.request.lower { 1.0 } else { -1.0 };
        let enough = sign * (default + KEPT * (worst - default));
        if sign * default <= enough {
            // The default is no better, so no change is needed.
            return Ok(());
        }
        // What has the value of the default anyway is not needed.
        let defaults = self.space.found(&self.space.default_document()?);
        let own = &self.tried[winner].texts;
        let same = |at: &usize| own[*at] == defaults[*at];
        let kept = (0..count).map(|at| !same(&at)).collect();
        let inside = |at: &usize| self.space.sides[*at].holds(&defaults[*at]);
        let differing = (0..count).filter(|at| !same(at));
        let all = differing.clone().count();
        let mut order: Vec<usize> = differing.filter(inside).collect();
        order.sort_by(|one, other| {
            let change = |at: usize| spread(&self.along[at]);
            change(*one).total_cmp(&change(*other)).then(one.cmp(other))
        });
        let mut simpler = Simpler { kept, value: worst };
        for at in order {
            let mut kept = simpler.kept.clone();
            kept[at] = false;
            let value = self.mean_at(&place, &kept, hands)?;
            if let Some(value) = value.filter(|value| sign * value <= enough) {
                simpler = Simpler { kept, value };
            }
        }
        let needed = simpler.kept.iter().filter(|kept| **kept).count();
        self.simpler = (needed < all).then_some(simpler);
        Ok(())
    }

    /// The mean of [`FULL`] runs where some factors are at their defaults; `None` where that is not allowed or has no value.
    fn mean_at<R>(
        &mut self,
        place: &[f64],
        kept: &[bool],
        hands: &mut Hands<'_, R>,
    ) -> Result<Option<f64>>
    where
        R: Fn(&Resolved, u64) -> Result<RunOutcome> + Sync,
    {
        let document = self.space.document_of(place, kept)?;
        let scenario = scenario(&document, &self.request, self.request.seed);
        let built = scenario.and_then(|(own, limits)| built(&own, limits, &self.request));
        let Ok(built) = built else {
            return Ok(None);
        };
        let built = Arc::new(built);
        let jobs = (0..FULL).map(|replication| (Arc::clone(&built), replication));
        let ended = self.pooled(&jobs.collect::<Vec<Job>>(), hands);
        stopped(hands)?;
        let values: Option<Vec<f64>> = ended.into_iter().map(|ended| ended?.ok()?).collect();
        Ok(values.and_then(|values| mean(&values)))
    }

    /// The seed of the confirmation, which the search never has.
    fn confirm_seed(&self) -> u64 {
        self.request.seed.wrapping_add(1)
    }

    /// Runs that failed by a bug of Sojourn.
    pub fn failures(&self) -> &[LabError] {
        &self.failures
    }
}

/// By how much the values along a factor differ.
fn spread(along: &[Along]) -> f64 {
    let values = along.iter().filter_map(|one| one.value);
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    (high - low).max(0.0)
}

/// A place near another one: in one factor at least, and in each with an even chance.
fn moved(place: &[f64], sides: &[Side], step: f64, stream: &mut Stream) -> Vec<f64> {
    let count = u64::try_from(sides.len()).unwrap_or(1).max(1);
    let always = usize::try_from(stream.below(count)).unwrap_or(0);
    let each = place.iter().zip(sides).enumerate();
    each.map(|(at, (share, side))| {
        let (coin, draw) = (stream.uniform(), stream.uniform());
        if at != always && coin < 0.5 {
            return *share;
        }
        match side.levels() {
            // Other levels are seldom better than that of a bad place.
            Some(_) if at != always && coin < 0.8 => *share,
            Some(_) => draw,
            // What goes over an end stays there: the worst is often at an end.
            None => (share + step * (2.0 * draw - 1.0)).clamp(0.0, 1.0),
        }
    })
    .collect()
}

/// What a document runs in a search: with a given seed and number of runs, and a warm-up that does not depend on the runs.
fn scenario(document: &Document, request: &Request, seed: u64) -> Result<(Scenario, LimitParams)> {
    let reading = Scenario::read(document, &STUDY_KEYS).map_err(|error| document.blamed(error))?;
    let mut scenario = reading.scenario;
    scenario.run.seed = seed;
    scenario.run.warmup = Warmup::Of(scenario.run.warmup());
    scenario.run.precision = None;
    if !scenario.run.deterministic {
        scenario.run.replications = request.confirm;
    }
    let needs = Needs::of_allowed(&scenario, &reading.limits);
    needs.map_err(|error| document.locate(error))?;
    Ok((scenario, reading.limits))
}

/// What is simulated, and what the metric is of there.
fn built(scenario: &Scenario, limits: LimitParams, request: &Request) -> Result<Built> {
    let resolved = scenario.resolve()?;
    let compiled = compile(&resolved, 0)?;
    let asked = Asked::parse(&request.metric, None, &compiled.names())
        .map_err(|error| error.in_file(request.option))?;
    Ok(Built {
        needs: Needs::of(scenario),
        resolved,
        asked,
        limits,
    })
}

fn stopped<R>(hands: &Hands<'_, R>) -> Result<()> {
    match hands.cancel.load(Ordering::Relaxed) {
        true => Err(LabError::new(
            LabErrorKind::Interrupted,
            "the search was interrupted, and its worst case is not confirmed",
        )
        .remedy("repeat the command, with fewer --runs for a quicker search")),
        false => Ok(()),
    }
}

fn count_of<T>(items: &[T]) -> u64 {
    u64::try_from(items.len()).unwrap_or(u64::MAX)
}
