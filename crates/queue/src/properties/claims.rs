//! The properties of a queue before a link, each a function of a case: `Ok`, or what was seen against what is required.

use super::course::{Arrival, Course, Fate, Overload, Player};
use crate::catalogue::CatalogueEntry;
use crate::registry::{find, resolve};
use crate::sizing::{LinkSpeed, sized};
use sojourn_sim::DropReason;
use sojourn_units::property::Breach;
use sojourn_units::{Limit, Span, Spec, Time};

type Judged = Result<(), Breach>;

/// Every packet that arrives is sent or dropped, once.
///
/// # Errors
/// Where one is not.
pub fn packets_are_conserved(spec: &Spec, course: &Course) -> Judged {
    let mut player = Player::play(spec, course, |_| ());
    player.drain();
    let waits = player.fates.iter().filter(|fate| **fate == Fate::Waits);
    let (waits, twice) = (waits.count(), player.twice);
    let required = "each packet is sent or dropped, once";
    Breach::unless(twice == 0, || {
        Breach::new(format!("{twice} packets left more than once"), required)
    })?;
    Breach::unless(waits == 0, || {
        let arrived = player.arrivals.len();
        let seen = format!("{waits} of {arrived} packets are never sent nor dropped");
        Breach::new(seen, required)
    })?;
    player.finish();
    Ok(())
}

/// How long a packet may wait before a link that is idle.
const SOON: Span = Span::from_ms(100);

/// The time from packet to packet of a light load.
const APART: Span = Span::from_ms(20);

/// Disciplines that drop without a load, and why.
pub const DROP_WITHOUT_LOAD: [(&str, &str); 1] = [(
    "green",
    "it drops by the number of flows and the size of their packets, not by what waits",
)];

/// Where there is no load to speak of, every packet is sent soon: nothing is dropped, and nothing held back.
///
/// # Errors
/// Where one is not.
pub fn a_light_load_passes(spec: &Spec, course: &Course) -> Judged {
    let mut gaps = course.arrivals.iter().zip(course.arrivals.iter().skip(1));
    if gaps.any(|(one, next)| next.time.since(one.time) < APART) {
        // A smaller case that is no light load any more.
        return Ok(());
    }
    let mut player = Player::play(spec, course, |_| ());
    player.drain();
    let mut pairs = player.arrivals.iter().zip(&player.fates);
    let late = |arrival: &Arrival, sent: Time| sent.since(arrival.time) > SOON;
    let wrong = pairs.find_map(|(arrival, fate)| match fate {
        Fate::Sent(time) if !late(arrival, *time) => None,
        Fate::Sent(time) => Some((arrival, format!("waits {}", time.since(arrival.time)))),
        Fate::Dropped(reason) => Some((arrival, format!("is dropped ({})", reason.name()))),
        Fate::Waits => Some((arrival, "is never sent".to_owned())),
    });
    let seen = wrong.map(|(arrival, what)| {
        let (bytes, flow) = (arrival.bytes, arrival.flow);
        let at = arrival.time.since(Time::ZERO);
        format!("the packet of {bytes} bytes of flow {flow} that arrives at {at} {what}")
    });
    player.finish();
    match seen {
        None => Ok(()),
        Some(seen) => Err(Breach::new(
            seen,
            format!("packets that arrive one every {APART} are all sent, each within {SOON}"),
        )),
    }
}

/// The parameter `limit` of a specification, if it has one in packets or bytes.
pub fn limit_of(spec: &Spec) -> Option<Limit> {
    let (spec, _) = sized(spec, None, &LinkSpeed::of(super::course::RATE)).ok()?;
    let (_, resolved) = resolve(&spec, None).ok()?;
    let (_, text) = resolved.pairs.iter().find(|(key, _)| *key == "limit")?;
    text.parse().ok()
}

/// What waits never exceeds the parameter `limit`.
///
/// # Errors
/// Where it does.
pub fn limit_is_kept(spec: &Spec, limit: Limit, course: &Course) -> Judged {
    let mut most: Option<(u64, Time)> = None;
    let mut player = Player::play(spec, course, |player| {
        let (packets, bytes) = player.backlog();
        let (held, allowed) = match limit {
            Limit::Packets(limit) => (packets, limit.get()),
            Limit::Bytes(limit) => (bytes, limit.get()),
        };
        if held > allowed && most.is_none() {
            most = player.arrivals.last().map(|arrival| (held, arrival.time));
        }
    });
    player.finish();
    match most {
        None => Ok(()),
        Some((held, at)) => {
            let unit = match limit {
                Limit::Packets(_) => "packets",
                Limit::Bytes(_) => "bytes",
            };
            let at = at.since(Time::ZERO);
            Err(Breach::new(
                format!("{held} {unit} wait at {at}"),
                format!("at most {limit} wait (limit={limit})"),
            ))
        }
    }
}

/// Every flow of an overload is served; where the discipline declares to be fair, nearly in equal parts.
///
/// # Errors
/// Where one is not.
pub fn no_flow_starves(spec: &Spec, entry: &CatalogueEntry, load: &Overload) -> Judged {
    let course = load.course();
    let mut player = Player::play(spec, &course, |_| ());
    // At the beginning every flow finds an empty queue.
    let half = course.arrivals.get(course.arrivals.len() / 2);
    let sent = player.sent(load.flows, half.map_or(Time::ZERO, |arrival| arrival.time));
    player.finish();
    let total: u64 = sent.iter().sum();
    let counts = || format!("in the second half of the overload the flows send {sent:?} packets");
    Breach::unless(sent.iter().all(|count| *count > 0), || {
        Breach::new(counts(), "each flow sends some")
    })?;
    // Each flow has its own queue.
    let fair = entry.fair && spec.get("buckets").is_none() && !spec.to_string().contains("ns2");
    let parts = u64::from(load.flows) + 1;
    Breach::unless(
        !fair || sent.iter().all(|count| *count * parts > total),
        || {
            let least = total / parts;
            Breach::new(
                counts(),
                format!("each flow sends more than {least}, as it is declared to be fair"),
            )
        },
    )
}

/// Packets that [`sparse_packets_get_through`] tries: 1.5 s of them. ARED needs the most, as its average follows the last second of packets.
pub const MOST_SPARSE: u32 = 150;

/// An overload that fills a queue, after which it runs empty: of `flows` flows, for `length`, with four packets for each that the link
/// sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fill {
    /// Flows.
    pub flows: u32,
    /// How long it lasts.
    pub length: Span,
}

/// After an overload, one of the first [`MOST_SPARSE`] sparse packets is let through. Whatever a discipline remembers of an overload, an
/// average, a price or a probability, has to fade once its queue is empty, however few packets come.
///
/// # Errors
/// Where none is, with everything that arrived.
pub fn sparse_packets_get_through(spec: &Spec, fill: Fill) -> Result<(), (Breach, Course)> {
    let (first, course) = first_sparse(spec, fill);
    let breach = |()| {
        let breach = Breach::new(
            format!(
                "{MOST_SPARSE} sparse packets in a row, one every 10 ms, were not sent, though the link was idle"
            ),
            format!("one of the first {MOST_SPARSE} is let through"),
        );
        (breach, course)
    };
    first.map(drop).ok_or(()).map_err(breach)
}

/// The number of the first sparse packet that is let through, and everything that arrived.
pub fn first_sparse(spec: &Spec, fill: Fill) -> (Option<u32>, Course) {
    let begin = Time::ZERO + Span::from_secs(1);
    let mut player = Player::new(spec, 1);
    let packet = |time, flow| Arrival {
        time,
        bytes: 1000,
        flow,
        ecn: 0,
    };
    let mut time = begin;
    for number in 0_u32.. {
        time += Span::from_us(200);
        player.arrive(packet(time, number % fill.flows));
        if time.since(begin) >= fill.length {
            break;
        }
    }
    let mut time = player.drain().max(time);
    let first = (1..=MOST_SPARSE).find(|_| {
        time += Span::from_ms(10);
        player.arrive(packet(time, 0));
        time = player.drain().max(time);
        matches!(player.fates.last(), Some(Fate::Sent(_)))
    });
    player.finish();
    let arrivals = player.arrivals;
    (first, Course { seed: 1, arrivals })
}

/// Of ECN-capable packets in an overload, some are marked.
///
/// # Errors
/// Where none is.
pub fn some_packets_are_marked(spec: &Spec, course: &Course) -> Judged {
    let mut player = Player::play(spec, course, |_| ());
    player.finish();
    let arrived = course.arrivals.len();
    Breach::unless(!player.marked().is_empty(), || {
        let dropped = player.fates.iter();
        let dropped = dropped
            .filter(|fate| matches!(fate, Fate::Dropped(_)))
            .count();
        let seen =
            format!("of {arrived} ECN-capable packets none is marked, and {dropped} are dropped");
        Breach::new(seen, "some are marked")
    })
}

/// Only a full queue drops ECN-capable packets; or what declares a bound of its own.
///
/// # Errors
/// Where another reason drops one.
pub fn only_a_full_queue_drops_capable_packets(spec: &Spec, course: &Course) -> Judged {
    let (_, resolved) = resolve(spec, None)
        .map_err(|error| Breach::new(error.to_string(), "a specification of a queue"))?;
    if bounds_marks(&resolved.pairs) {
        return Ok(());
    }
    let mut player = Player::play(spec, course, |_| ());
    player.finish();
    let mut pairs = player.arrivals.iter().zip(&player.fates);
    let wrong = pairs.find_map(|(arrival, fate)| match fate {
        _ if arrival.ecn == 0 => None,
        Fate::Waits | Fate::Sent(_) => None,
        Fate::Dropped(reason) => match reason {
            DropReason::Overlimit | DropReason::Evicted | DropReason::EndOfRun => None,
            // A match is a matter of fairness: both packets go, capable or not.
            DropReason::FlowMatch => None,
            other => Some((arrival, *other)),
        },
    });
    match wrong {
        None => Ok(()),
        Some((arrival, reason)) => {
            let (at, reason) = (arrival.time.since(Time::ZERO), reason.name());
            Err(Breach::new(
                format!(
                    "the packet that arrives at {at} with ECN codepoint {} is dropped ({reason})",
                    arrival.ecn
                ),
                "capable packets are marked; only a full queue drops them",
            ))
        }
    }
}

/// Where a source drops capable packets beyond a bound, the discipline says so with one of these parameters.
fn bounds_marks(pairs: &[(&str, String)]) -> bool {
    pairs
        .iter()
        .any(|(key, value)| match (*key, value.as_str()) {
            ("harddrop", value) => value == "true",
            ("mark_p", value) => value != "none",
            _ => false,
        })
}

/// The same arrivals and the same seed give the same decisions and states.
///
/// # Errors
/// Where they do not, with the first difference.
pub fn same_bits_twice(spec: &Spec, course: &Course) -> Judged {
    let play = || {
        let mut player = Player::play(spec, course, |_| ());
        player.drain();
        let state = player.read();
        player.finish();
        (player, state)
    };
    differs(&play(), &play(), "the second time")
}

/// To read the state changes nothing.
///
/// # Errors
/// Where it does, with the first difference.
pub fn reading_changes_nothing(spec: &Spec, course: &Course) -> Judged {
    let play = |reads: bool| {
        let mut player = Player::play(spec, course, |player| {
            if reads {
                player.read();
            }
        });
        player.drain();
        let state = player.read();
        player.finish();
        (player, state)
    };
    differs(
        &play(false),
        &play(true),
        "with the state read after each arrival",
    )
}

type Seen = (Player, Vec<(String, f64)>);

/// Where two runs over the same arrivals differ.
fn differs((one, state): &Seen, (other, state_then): &Seen, then: &str) -> Judged {
    const SAME: &str = "the same bits";
    let mut pairs = one.fates.iter().zip(&other.fates).zip(&one.arrivals);
    if let Some(((fate, fate_then), arrival)) = pairs.find(|((one, other), _)| one != other) {
        let at = arrival.time.since(Time::ZERO);
        let seen = format!(
            "the packet that arrives at {at} is {}, and {then} {}",
            told(*fate),
            told(*fate_then)
        );
        return Err(Breach::new(seen, SAME));
    }
    // By their text: a value that is no number equals itself.
    let texts = [state, state_then].map(|state| format!("{state:?}"));
    Breach::unless(texts[0] == texts[1], || {
        let [first, second] = &texts;
        Breach::new(
            format!("the state ends as {first}, and {then} as {second}"),
            SAME,
        )
    })?;
    Breach::unless(one.shown() == other.shown(), || {
        Breach::new(format!("counts or marks differ {then}"), SAME)
    })
}

fn told(fate: Fate) -> String {
    match fate {
        Fate::Waits => "waiting".to_owned(),
        Fate::Sent(at) => format!("sent at {}", at.since(Time::ZERO)),
        Fate::Dropped(reason) => format!("dropped ({})", reason.name()),
    }
}

/// Bytes by which what a class keeps may grow without a reason.
const SLACK: u64 = 4096;

/// Bytes that it may keep for each packet that waits.
const EACH_WAITING: u64 = 1024;

/// What a discipline keeps does not grow with the number of packets that it has seen: four times the packets of an overload add at most
/// half more than the first quarter does, and 4 KiB, and 1 KiB for each packet more that waits; in the overload, and after it.
///
/// Nothing where the discipline cannot tell how much it keeps.
///
/// # Errors
/// Where it grows.
pub fn memory_stays_bounded(spec: &Spec, load: &Overload) -> Option<Judged> {
    let course = load.course();
    let packets = course.arrivals.len();
    let quarter = packets / 4;
    let first = Course {
        seed: course.seed,
        arrivals: course.arrivals.iter().take(quarter).copied().collect(),
    };
    let (early, late) = (Grown::of(spec, &first)?, Grown::of(spec, &course)?);
    let judge = |when: &str, few: u64, many: u64, waiting: u64| {
        let allowed = few + few / 2 + SLACK + waiting * EACH_WAITING;
        Breach::unless(many <= allowed, || {
            Breach::new(
                format!(
                    "{when} it keeps {few} bytes more than at first after {quarter} packets, and {many} more after {packets}"
                ),
                format!(
                    "at most {allowed}: half more, 4 KiB, and 1 KiB for each packet more that waits"
                ),
            )
        })
    };
    let more = late.waiting.saturating_sub(early.waiting);
    let loaded = judge("in an overload", early.loaded, late.loaded, more);
    Some(loaded.and_then(|()| judge("once nothing waits", early.empty, late.empty, 0)))
}

/// By how many bytes a discipline has grown.
struct Grown {
    /// At the end of the arrivals.
    loaded: u64,
    /// Packets that wait then.
    waiting: u64,
    /// Once nothing waits any more.
    empty: u64,
}

impl Grown {
    fn of(spec: &Spec, course: &Course) -> Option<Grown> {
        // What a class shares with other queues is there before.
        let before = Player::new(spec, course.seed).footprint()?;
        let mut player = Player::play(spec, course, |_| ());
        let (loaded, waiting) = (player.footprint()?, player.backlog().0);
        player.drain();
        let empty = player.footprint()?;
        player.finish();
        Some(Grown {
            loaded: loaded.saturating_sub(before),
            waiting,
            empty: empty.saturating_sub(before),
        })
    }
}

/// The entry of a specification's discipline.
///
/// # Panics
/// If there is none.
pub fn entry_of(spec: &Spec) -> &'static CatalogueEntry {
    find(&spec.name).unwrap_or_else(|| panic!("{spec}: not registered"))
}
