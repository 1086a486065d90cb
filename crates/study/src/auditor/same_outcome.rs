//! Rule `same-outcome`.

use sojourn_queue::DisciplineKind;
use sojourn_results::outcome::QueueOutcome;
use sojourn_results::stats::to_f64;

use super::about::{About, Stage};
use super::evidence::{Compared, Evidence, Seen, short};
use super::finding::Finding;
use super::never_congested::is_idle;
use super::traffic::{judges, never_acted};

pub(super) const ABOUT: About = About {
    title: "Points under comparison came out the same to the bit, or an AQM under comparison never acted",
    reason: "Their names differ, and what ran does not. A threshold above the limit, a target that the buffer cannot \
        reach, or a class that nothing is sorted into make an algorithm a DropTail queue. The rule compares packets, \
        bytes, drops, marks and sojourn times of the measured queues, replication by replication, of points that `compare` says or whose queue a factor sets. It also warns of \
        an AQM that marked nothing and dropped for lack of room alone. Where nothing was dropped and fewer than one \
        packet waited on average, `never-congested` says so instead. With a single flow a scheduler has nothing to \
        order, and the rule gives a note; so it does where the same points differ elsewhere in the experiment.",
    source: "Floyd and Jacobson, \"Random early detection gateways for congestion avoidance\", 1993, section \
        IV: RED marks no packet while the average queue is below its minimum threshold.",
    remedy: "Choose thresholds and targets below what the buffer holds, or raise the buffer.\n\n```toml\n[topology]\n\
        buffer = \"100p\"\nqueue = \"red min=15p max=45p\"\n```",
    stage: Stage::Outcome,
    former: &[],
    positive: r#"
flows = ["4*reno dialect=ns2"]
[run]
duration = "8s"
warmup = "2s"
replications = 2
[topology]
rate = "2Mbps"
rtt = "40ms"
buffer = "20p"
[[experiment]]
name = "e"
[[experiment.factor]]
name = "queue"
path = "topology.queue"
values = ["droptail", "red min=40p max=80p"]
compare = true
"#,
    negative: r#"
flows = ["4*reno dialect=ns2"]
[run]
duration = "8s"
warmup = "2s"
replications = 2
[topology]
rate = "2Mbps"
rtt = "40ms"
buffer = "20p"
[[experiment]]
name = "e"
[[experiment.factor]]
name = "queue"
path = "topology.queue"
values = ["droptail", "red min=4p max=12p"]
compare = true
"#,
};

/// Labels that a message lists.
const LISTED: usize = 6;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let (mut same, mut idle) = (Vec::new(), Vec::new());
    for compared in evidence.comparisons.iter().chain(&evidence.beside) {
        let classes = classes(evidence, compared);
        let alike: Vec<&(&str, &Seen<'_>)> = classes.iter().flatten().collect();
        for class in &classes {
            same.push((compared.place.as_str(), class.clone()));
        }
        let lone = compared.points.iter().filter(|(label, _)| {
            alike.iter().all(|(other, _)| other != label) && compared.points.len() > 1
        });
        for (label, point) in lone {
            if let Some(text) = of_no_effect(evidence, label, point) {
                idle.push((label.as_str(), *point, text));
            }
        }
    }
    found.extend(by_level(evidence, &same));
    let mut labels: Vec<&str> = Vec::new();
    for (label, ..) in &idle {
        if !labels.contains(label) {
            labels.push(label);
        }
    }
    for label in labels {
        let own: Vec<_> = idle.iter().filter(|(other, ..)| *other == label).collect();
        let (_, point, text) = own[0];
        let more = match own.len() {
            1 => String::new(),
            many => format!(" (one of {many} points)"),
        };
        let links = evidence.bottleneck(point).map(|link| link.name.clone());
        let text = format!("{text}{more} Its results are those of a DropTail queue.");
        let points = own.iter().map(|(_, point, _)| point.info.name());
        found.push(Finding::warning(text).on_links(links).at(points));
    }
    found
}

/// What is to be said of points that came out the same: of the first that do so wherever their labels are compared, of the first that differ
/// elsewhere, and of the first that have one flow.
fn by_level(evidence: &Evidence<'_>, same: &[(&str, Class<'_>)]) -> Vec<Finding> {
    let labels = |class: &Class<'_>| -> Vec<String> {
        class.iter().map(|(label, _)| (*label).to_owned()).collect()
    };
    let experiment = |class: &Class<'_>| class[0].1.info.experiment.clone();
    let mut found: Vec<(Extent, &str, &Class<'_>, Vec<String>)> = Vec::new();
    for (place, class) in same {
        let own = labels(class);
        let all = evidence.comparisons.iter().chain(&evidence.beside);
        let all = all.filter(|compared| {
            let has = |label: &String| compared.points.iter().any(|(other, _)| other == label);
            compared.points[0].1.info.experiment == experiment(class) && own.iter().all(has)
        });
        let alike = same.iter().filter(|(_, other)| {
            experiment(other) == experiment(class)
                && own.iter().all(|own| labels(other).contains(own))
        });
        let extent = match (has_no_order(evidence, class), alike.count() < all.count()) {
            (true, _) => Extent::OneFlow,
            (false, true) => Extent::Here,
            (false, false) => Extent::Everywhere,
        };
        let points = class.iter().map(|(_, point)| point.info.name());
        // Each group of labels whose comparison is void has a finding of its own; of the rest, the first has.
        let told = |other: &(Extent, &str, &Class<'_>, Vec<String>)| {
            other.0 == extent && (extent != Extent::Everywhere || labels(other.2) == own)
        };
        match found.iter_mut().find(|other| told(other)) {
            Some((.., names)) => names.extend(points),
            None => found.push((extent, place, class, points.collect())),
        }
    }
    let said = found.into_iter().map(|(extent, place, class, points)| {
        let count = same
            .iter()
            .filter(|(_, other)| labels(other) == labels(class))
            .count();
        the_same(evidence, place, class, (extent, count)).at(points)
    });
    said.collect()
}

/// Points that came out the same, with their labels.
type Class<'a> = Vec<(&'a str, &'a Seen<'a>)>;

/// Where points came out the same.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// Wherever their labels are compared.
    Everywhere,
    /// Here, and not elsewhere in the experiment.
    Here,
    /// Where one flow passes, so that a scheduler has nothing to order.
    OneFlow,
}

/// Whether a scheduler is among points through which one flow passes: it is then what is inside it.
fn has_no_order(evidence: &Evidence<'_>, class: &Class<'_>) -> bool {
    let schedules = class.iter().any(|(_, point)| {
        let link = evidence.bottleneck(point);
        link.is_some_and(|link| link.discipline.kind == DisciplineKind::Scheduler)
    });
    let queues = measured(evidence, class[0].1);
    schedules && queues.iter().all(|queue| has_one_flow(queue))
}

fn the_same(
    evidence: &Evidence<'_>,
    place: &str,
    class: &Class<'_>,
    (extent, count): (Extent, usize),
) -> Finding {
    let labels: Vec<String> = class.iter().map(|(label, _)| (*label).to_owned()).collect();
    let point = class[0].1;
    let runs = match point.runs.len() {
        1 => "in the one run".to_owned(),
        all => format!("in all {all} replications"),
    };
    let place = match (place, count) {
        ("", _) => String::new(),
        (place, 1) => format!(" ({place})"),
        (place, count) => format!(" (at {count} places, such as {place})"),
    };
    let link = evidence.bottleneck(point).map(|link| link.name.clone());
    let queue = link.as_ref().and_then(|link| point.queues_of(link).next());
    let counts = queue.map_or_else(String::new, |queue| {
        let totals = &queue.totals;
        format!(
            " (in the first, {} got {} packets, dropped {} and marked {})",
            queue.link,
            totals.received,
            totals.dropped(),
            totals.marked
        )
    });
    let labels = super::traffic::listed(&labels, LISTED);
    let finding = match extent {
        Extent::OneFlow => Finding::note(format!(
            "{labels} came out the same to the bit {runs}{place}: one flow passes, so that a scheduler has nothing to order."
        )),
        Extent::Here => Finding::note(format!(
            "{labels} came out the same to the bit {runs}{counts}{place}, and not elsewhere: what sets them apart had no effect here."
        )),
        Extent::Everywhere => Finding::error(format!(
            "{labels} came out the same to the bit {runs}{counts}{place}: what sets them apart never had an effect."
        )),
    };
    finding.on_links(link)
}

/// Points of a comparison that came out the same, class by class; those at which nothing happened are left out.
fn classes<'a>(evidence: &Evidence<'_>, compared: &'a Compared<'a>) -> Vec<Class<'a>> {
    let mut classes: Vec<Vec<(&str, &Seen<'_>)>> = Vec::new();
    for (label, point) in &compared.points {
        let queues = measured(evidence, point);
        if queues.is_empty() || queues.iter().all(|queue| is_idle(queue)) {
            continue;
        }
        let known = classes.iter_mut().find(|class| {
            let (_, first) = class[0];
            are_the_same(&measured(evidence, first), &queues)
        });
        match known {
            Some(class) => class.push((label, point)),
            None => classes.push(vec![(label, point)]),
        }
    }
    classes.retain(|class| class.len() > 1);
    classes
}

/// The measured queues of all runs of a point.
fn measured<'a>(evidence: &Evidence<'_>, point: &Seen<'a>) -> Vec<&'a QueueOutcome> {
    let measured = evidence.measured(point);
    let queues = point.runs.iter().flat_map(|run| &run.queues);
    queues.filter(|queue| measured.is(queue)).collect()
}

fn are_the_same(one: &[&QueueOutcome], other: &[&QueueOutcome]) -> bool {
    let same = |(one, other): (&&QueueOutcome, &&QueueOutcome)| {
        one.totals == other.totals
            && one.sojourn_sum == other.sojourn_sum
            && one.sojourn_max == other.sojourn_max
            && one.sojourn == other.sojourn
            && one.per_flow == other.per_flow
    };
    one.len() == other.len() && one.iter().zip(other).all(same)
}

/// What is to be said of an AQM that only ever ran out of room.
fn of_no_effect(evidence: &Evidence<'_>, label: &str, point: &Seen<'_>) -> Option<String> {
    let link = evidence.bottleneck(point).filter(|link| judges(link))?;
    let queues: Vec<&QueueOutcome> = point.queues_of(&link.name).collect();
    let dropped: u64 = queues.iter().map(|queue| queue.totals.dropped()).sum();
    (dropped > 0 && queues.iter().all(|queue| never_acted(queue))).then(|| {
        format!(
            "{label} never acted at {}: it marked nothing, and dropped {} packets for lack of room alone.",
            link.name,
            short(to_f64(dropped))
        )
    })
}

fn has_one_flow(queue: &QueueOutcome) -> bool {
    queue.per_flow.iter().filter(|own| own.received > 0).count() == 1
}
