//! The rounds of a study that leaves its warm-up, or how often and how long it runs, to Sojourn.
//!
//! First runs, few of each point, tell by MSER-5 how long the transient lasts: the longest cut over all metrics and all points that
//! are compared with each other is their common warm-up. It is never shorter than that of the first runs, so that these are kept
//! where they had settled. With a precision, runs that have not settled are made twice as long, and then replications are added,
//! as many at a time as were asked for. What comes next follows from the runs of the finished round alone.

use std::collections::BTreeMap;

use sojourn_results::design::{
    Asked, Design, Group, MOST_ALLOWED, OF_REPLICATIONS, PILOT, Precision, Stage,
};
use sojourn_results::directory::ResultSet;
use sojourn_results::manifest::{Manifest, PointInfo};
use sojourn_results::outcome::{BatchMeans, BatchOutcome, means};
use sojourn_results::stats::transient::{Transient, mser5};
use sojourn_results::stats::{mean, to_f64, variance};
use sojourn_scenario::error::Result;
use sojourn_scenario::model::{RunParams, Warmup};
use sojourn_units::Span;

use super::Study;
use crate::steady::{changes_by_itself, few_cycles, steadiness};
use crate::summary::precision::{Width, widths};

/// The design of a study before its first round; `None` where it says all itself.
///
/// # Errors
/// As [`Point::scenario`](super::Point::scenario).
pub(super) fn first(study: &Study, manifest: &Manifest) -> Result<Option<Design>> {
    if !study.may_ask() {
        return Ok(None);
    }
    let mut asked = BTreeMap::new();
    for (point, number) in study.points.iter().zip(0u64..) {
        let scenario = point.scenario()?;
        let precision = precision_of(&scenario.run);
        let auto = scenario.run.warmup == Warmup::Auto && !changes_by_itself(&scenario);
        if auto || precision.is_some() {
            let own = Asked {
                point: number,
                auto,
                warmup: scenario.run.warmup(),
                duration: scenario.run.duration,
                replications: scenario.run.runs(),
            };
            asked.insert(number, (own, precision));
        }
    }
    let groups: Vec<Group> = compared(manifest)
        .into_iter()
        .filter_map(|points| group(points.iter().filter_map(|point| asked.remove(point))))
        .collect();
    Ok((!groups.is_empty()).then_some(Design { round: 0, groups }))
}

/// The group of points with what they ask for; the strictest precision is that of all.
fn group(all: impl Iterator<Item = (Asked, Option<Precision>)>) -> Option<Group> {
    let (points, precisions): (Vec<Asked>, Vec<Option<Precision>>) = all.unzip();
    let precisions = precisions.into_iter().flatten();
    let precision = precisions.reduce(|one, other| match other.share < one.share {
        true => other,
        false => one,
    });
    let auto = points.iter().any(|asked| asked.auto);
    (!points.is_empty()).then_some(Group {
        points,
        precision,
        stage: match auto {
            true => Stage::Pilot,
            false => Stage::Main,
        },
        warmup: None,
        doublings: 0,
        additions: 0,
        reasons: Vec::new(),
        unsettled: None,
    })
}

fn precision_of(run: &RunParams) -> Option<Precision> {
    // Where nothing is random, there is no interval.
    let share = run.precision.filter(|_| !run.deterministic)?;
    Some(Precision {
        share: share.get(),
        of: run.precision_of.clone(),
        max_duration: run.max_duration,
        max_replications: run.max_replications,
    })
}

/// All points, those together that are compared with each other.
fn compared(manifest: &Manifest) -> Vec<Vec<u64>> {
    // The first point of the group that a point is in.
    let mut first: BTreeMap<u64, u64> = BTreeMap::new();
    for point in &manifest.points {
        first.insert(point.point, point.point);
    }
    for comparison in manifest.comparisons() {
        let members = comparison.points.iter();
        let firsts = members.filter_map(|point| first.get(&point.point).copied());
        let firsts: Vec<u64> = firsts.collect();
        let Some(least) = firsts.iter().copied().min() else {
            continue;
        };
        for own in first.values_mut().filter(|own| firsts.contains(own)) {
            *own = least;
        }
    }
    let mut groups: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (point, first) in first {
        groups.entry(first).or_default().push(point);
    }
    groups.into_values().collect()
}

/// The design of the round after `design`, whose runs are all there.
///
/// # Errors
/// When runs cannot be read.
pub(super) fn next(
    design: &Design,
    manifest: &Manifest,
    batches: &dyn Fn(u64, u64) -> Result<Vec<BatchOutcome>>,
    results: &dyn Fn() -> Result<ResultSet>,
) -> Result<Design> {
    let mut next = design.clone();
    next.round += 1;
    // Only where runs may become longer, or more, is there a use for all that they say.
    let looks = |group: &Group| group.stage == Stage::Main || group.may_double();
    let results = match design.groups.iter().any(looks) {
        true => Some(results()?),
        false => None,
    };
    for group in &mut next.groups {
        match (group.stage, &results) {
            (Stage::Pilot, results) => {
                after_pilot(group, manifest, batches)?;
                if let Some(results) = results {
                    enough_cycles(group, results);
                }
            }
            (Stage::Main, Some(results)) => after_main(group, results),
            _ => {}
        }
    }
    Ok(next)
}

/// What MSER-5 says of a metric.
struct Cut {
    /// Nothing where the series is too short.
    length: Option<Span>,
    /// The metric, of what, and where.
    text: String,
}

/// The warm-up from first runs.
fn after_pilot(
    group: &mut Group,
    manifest: &Manifest,
    batches: &dyn Fn(u64, u64) -> Result<Vec<BatchOutcome>>,
) -> Result<()> {
    let mut cuts = Vec::new();
    for asked in group.points.iter().filter(|asked| asked.auto) {
        let runs = 0..asked.replications.min(PILOT);
        let runs: Result<Vec<_>> = runs
            .map(|run| Ok(means(&batches(asked.point, run)?)))
            .collect();
        let point = manifest.points.iter().find(|own| own.point == asked.point);
        let place = point.map(PointInfo::name).unwrap_or_default();
        cuts.extend(cuts_of(&runs?, &place, asked.warmup));
    }
    let after = match group.precision {
        Some(_) => Stage::Main,
        None => Stage::Done,
    };
    let duration = |group: &Group| {
        let plans = group.points.iter().map(|asked| group.plan(asked).duration);
        plans.min().unwrap_or_default()
    };
    if let Some(short) = cuts.iter().find(|cut| cut.length.is_none()) {
        let text = format!(
            "MSER-5 finds no steady part of {} in runs of {}, and the halves differ",
            short.text,
            duration(group)
        );
        if group.may_double() {
            group.doublings += 1;
            group
                .reasons
                .push(format!("{text}: the runs are made twice as long."));
        } else {
            group.stage = after;
            group.reasons.push(format!("{text}: the warm-up stays."));
            group.unsettled = Some(format!("{text}."));
        }
        return Ok(());
    }
    group.stage = after;
    let longest = cuts.iter().max_by_key(|cut| cut.length);
    let Some((longest, length)) = longest.and_then(|cut| Some((cut, cut.length?))) else {
        return Ok(());
    };
    let provisional = group.points.iter().filter(|asked| asked.auto);
    let provisional = provisional
        .map(|asked| asked.warmup)
        .max()
        .unwrap_or_default();
    let cut = format!("the longest cut by MSER-5 is {length}, of {}", longest.text);
    if length > provisional {
        let warmup = plain(length);
        group.warmup = Some(warmup);
        group
            .reasons
            .push(format!("The warm-up is {warmup}: {cut}."));
    } else {
        let text = format!("The warm-up of the first runs, {provisional}, is enough: {cut}.");
        group.reasons.push(text);
    }
    Ok(())
}

/// Makes runs longer that have settled and hold too few cycles of a congestion control.
fn enough_cycles(group: &mut Group, results: &ResultSet) {
    if group.stage == Stage::Pilot || !group.may_double() {
        return;
    }
    let points = results.manifest.points.iter();
    let mut own = points.filter(|point| group.points.iter().any(|own| own.point == point.point));
    let few = own.find_map(|point| Some((point.name(), few_cycles(results, point)?)));
    if let Some((place, text)) = few {
        let text = format!("{text}, at {place}: the runs are made twice as long.");
        make_longer(group, text);
    }
}

/// Makes runs longer that the summary would call not steady. Tells whether it did.
fn longer_where_unsteady(group: &mut Group, results: &ResultSet, points: &[u64]) -> bool {
    if !group.may_double() {
        return false;
    }
    let known = steadiness(results, &|point| points.contains(&point), &|_, _| true);
    let Some(first) = known.unsteady.first() else {
        return false;
    };
    let (text, place) = (known.text(first), first.point.name());
    let text = format!("{text}, at {place}: the runs are made twice as long.");
    make_longer(group, text);
    true
}

/// Begins again with runs that are twice as long.
fn make_longer(group: &mut Group, reason: String) {
    group.stage = match group.is_auto() {
        true => Stage::Pilot,
        false => Stage::Main,
    };
    group.doublings += 1;
    group.additions = 0;
    group.warmup = None;
    group.unsettled = None;
    // What was said of replications is of runs that are made again.
    group
        .reasons
        .retain(|said| !said.starts_with(OF_REPLICATIONS));
    group.reasons.push(reason);
}

/// What MSER-5 says of each metric of a point, averaged over its first runs so that noise does not decide. The rate of drops is
/// left out: drops are rare, and a stretch without any looks steadier than it is.
fn cuts_of(runs: &[Vec<BatchMeans>], place: &str, warmup: Span) -> Vec<Cut> {
    let Some(first) = runs.first() else {
        return Vec::new();
    };
    let metrics = first.iter().filter(|own| own.metric != "drops_pps");
    metrics
        .map(|own| {
            let same = |other: &&BatchMeans| (&other.of, other.metric) == (&own.of, own.metric);
            let all = runs.iter().filter_map(|run| run.iter().find(same));
            let all: Vec<&BatchMeans> = all.collect();
            let series = (0..own.values.len()).map(|batch| {
                let values = all.iter().filter_map(|own| own.values.get(batch).copied());
                mean(&values.collect::<Vec<f64>>()).unwrap_or_default()
            });
            let length = cut_of(&series.collect::<Vec<f64>>(), own.step, warmup);
            let text = format!("{} of {} at {place}", own.metric, own.of);
            Cut { length, text }
        })
        .collect()
}

/// What MSER-5 says of a series, where it matters; nothing where the series is too short.
///
/// The rule looks for the calmest end. That of a link that is busy all the time is calm by chance: a few batches happen to carry the
/// same number of packets. So a cut beyond the `warmup` of first runs counts where what it leaves out is more than [`MATTERS`] off the
/// rest and stands out among parts of the rest that are as long, and a series is too short where its halves are so far apart, and farther than their noise.
fn cut_of(series: &[f64], step: Span, warmup: Span) -> Option<Span> {
    let first = usize::try_from(warmup.as_ps().div_ceil(step.as_ps().max(1)));
    let first = first.unwrap_or(usize::MAX).min(series.len());
    match mser5(series) {
        Transient::Cut(cut) if cut <= first || stands_out(&series[first..cut], &series[cut..]) => {
            let cut = u64::try_from(cut).unwrap_or(u64::MAX);
            Some(step.saturating_mul(cut))
        }
        Transient::Cut(_) => Some(Span::ZERO),
        Transient::TooLong => {
            let (early, late) = series[first..].split_at((series.len() - first) / 2);
            let apart = differ(early, late) && beyond_noise(early, late);
            (!apart).then_some(Span::ZERO)
        }
    }
}

/// Share of the mean below which a difference is no transient.
const MATTERS: f64 = 0.01;

fn differ(early: &[f64], late: &[f64]) -> bool {
    let (early, late) = (mean(early), mean(late));
    let pair = early.zip(late);
    pair.is_some_and(|(early, late)| (early - late).abs() > MATTERS * late.abs())
}

/// Whether the mean of what comes first is not that of just any part of the rest: farther off than two deviations of parts that
/// are as long. Of fewer than three such parts, the rule is believed.
fn stands_out(early: &[f64], rest: &[f64]) -> bool {
    let parts = rest.chunks_exact(early.len().max(1));
    let parts: Vec<f64> = parts.filter_map(mean).collect();
    if parts.len() < 3 {
        return differ(early, rest);
    }
    let deviation = variance(&parts).unwrap_or_default().sqrt();
    let means = mean(early).zip(mean(rest));
    let apart = means.is_some_and(|(early, rest)| (early - rest).abs() > 2.0 * deviation);
    apart && differ(early, rest)
}

/// Whether the means of two parts of a series are farther apart than three of their standard errors, each from ten batches.
fn beyond_noise(early: &[f64], late: &[f64]) -> bool {
    let squared_error = |part: &[f64]| {
        let size = (part.len() / BATCHES).max(1);
        let batches: Vec<f64> = part.chunks_exact(size).filter_map(mean).collect();
        variance(&batches)
            .map(|variance| variance / to_f64(u64::try_from(batches.len()).unwrap_or(1)))
    };
    let errors = squared_error(early).zip(squared_error(late));
    let means = mean(early).zip(mean(late));
    let both = errors.zip(means);
    both.is_some_and(|((a, b), (early, late))| (early - late).abs() > 3.0 * (a + b).sqrt())
}

const BATCHES: usize = 10;

/// The least plain number that is at least as long: 1, 1.5, 2, 3, 4, 5, 6 or 8 with zeros.
fn plain(length: Span) -> Span {
    let mut unit = Span::from_ps(10);
    loop {
        for tenths in [10, 15, 20, 30, 40, 50, 60, 80] {
            let plain = (unit / 10).saturating_mul(tenths);
            if plain >= length {
                return plain;
            }
        }
        unit = unit.saturating_mul(10);
    }
}

/// Replications before which a narrow interval stops nothing: that of two or three is narrow by chance too often.
const LEAST_TO_STOP: u64 = 5;

/// Whether intervals are narrow enough, or more replications are to be made.
fn after_main(group: &mut Group, results: &ResultSet) {
    let Some(precision) = group.precision.clone() else {
        group.stage = Stage::Done;
        return;
    };
    let points: Vec<u64> = group.points.iter().map(|asked| asked.point).collect();
    if longer_where_unsteady(group, results, &points) {
        return;
    }
    let all = widths(results, &points, precision.of.as_deref());
    let worst = all.iter().max_by(|a, b| a.share().total_cmp(&b.share()));
    let number = |group: &Group| {
        let plans = group
            .points
            .iter()
            .map(|asked| group.plan(asked).replications);
        plans.max().unwrap_or_default()
    };
    let told = |width: &Width| match width.share() {
        share if share.is_finite() => format!(
            "the widest interval is ± {:.2} % of the mean, of {}",
            share * 100.0,
            width.text
        ),
        _ => format!("there is no interval of {} yet", width.text),
    };
    let asked = format!("± {} % asked for", precision.share * 100.0);
    let before = number(group);
    match worst {
        Some(_) if before < LEAST_TO_STOP && group.may_add() => {
            group.additions += 1;
            let now = number(group);
            group.reasons.push(format!(
                "{OF_REPLICATIONS}with {before}, an interval may be narrow by chance: {now} are made."
            ));
        }
        Some(width) if width.share() > precision.share && group.may_add() => {
            group.additions += 1;
            let now = number(group);
            let told = told(width);
            group.reasons.push(format!(
                "{OF_REPLICATIONS}with {before}, {told}: {asked}, so {now} are made."
            ));
        }
        Some(width) if width.share() > precision.share => {
            group.stage = Stage::Done;
            let told = told(width);
            group.reasons.push(format!(
                "{OF_REPLICATIONS}with {before} replications, {MOST_ALLOWED}, {told}: {asked}."
            ));
        }
        Some(width) => {
            group.stage = Stage::Done;
            let told = told(width);
            group.reasons.push(format!(
                "{OF_REPLICATIONS}with {before} replications, {told}: enough for {asked}."
            ));
        }
        None => {
            group.stage = Stage::Done;
            group.reasons.push(format!(
                "{OF_REPLICATIONS}there is no value of what run.precision_of names."
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warm_up_is_a_plain_number_no_shorter_than_the_cut() {
        for (cut, expected) in [
            ("5.1s", "6s"),
            ("6s", "6s"),
            ("10.01s", "15s"),
            ("83ms", "100ms"),
            ("61s", "80s"),
        ] {
            let cut: Span = cut.parse().unwrap();
            assert_eq!(
                plain(cut).to_string(),
                expected.parse::<Span>().unwrap().to_string()
            );
        }
    }

    #[test]
    fn a_cut_counts_where_what_it_leaves_out_differs() {
        let (step, warmup) = (Span::from_ms(60), Span::from_secs(5));
        let cut = |series: &[f64]| cut_of(series, step, warmup);
        // A busy link: whole packets in each batch, and the last ones happen to be as many.
        let busy: Vec<f64> = (0..1000_u32)
            .map(|batch| match batch > 970 || batch % 3 > 0 {
                true => 50.0,
                false => 49.0,
            })
            .collect();
        assert_eq!(mser5(&busy), Transient::TooLong);
        assert_eq!(cut(&busy), Some(Span::ZERO));
        // A queue that fills all the time.
        let fills: Vec<f64> = (0..1000_u32).map(f64::from).collect();
        assert_eq!(cut(&fills), None);
        // One that was full after 12 s.
        let full: Vec<f64> = (0..1000_u32)
            .map(|batch| f64::from(batch.min(200)) + f64::from(batch % 7))
            .collect();
        let found = cut(&full).map(Span::as_secs_f64).unwrap_or_default();
        assert!((11.0..13.0).contains(&found), "{found}");
    }
}
