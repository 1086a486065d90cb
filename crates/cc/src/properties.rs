//! What holds for every congestion control, inside this crate or outside, as functions of what a connection goes through: they say what
//! was seen against what is required. The functions for tests panic where a property does not hold.
//!
//! Of the feature `testing`.

use crate::registry::build;
use crate::{
    Acked, AnyCc, Congestion, CongestionControl, CongestionKind, Expiry, Sample, Stage, Start,
    Traits, reduce,
};
use sojourn_units::property::Breach;
use sojourn_units::{Span, Time};

/// Payload bytes of a full segment here.
pub const MSS: u64 = 1000;

/// A connection after `acks` acknowledgements of a segment each.
pub fn after(name: &str, dialect: Option<&str>, pairs: &[(String, String)], acks: u64) -> AnyCc {
    let built = build(name, dialect, pairs);
    let mut cc = built.unwrap_or_else(|error| panic!("{name}: {error}"));
    let rtt = Some(Span::from_ms(50));
    cc.on_start(&Start {
        mss: MSS,
        initial_window: 10 * MSS,
        rtt,
        ..Start::default()
    });
    for n in 1..=acks {
        let now = Time::ZERO + Span::from_ms(n);
        let sample = Sample {
            now,
            una: n * MSS,
            next: n * MSS + cc.cwnd(),
            acked: MSS,
            newly_delivered: MSS,
            rtt,
            min_rtt: rtt,
            srtt: rtt,
            one_way: Some(Span::from_ms(25)),
            delivered: n * MSS,
            prior_delivered: (n * MSS).saturating_sub(cc.cwnd()),
            sampled: 50 * MSS,
            interval: Span::from_ms(50),
            in_flight_before: cc.cwnd(),
            in_flight: cc.cwnd(),
            tx_in_flight: cc.cwnd(),
            limited: true,
            ..Sample::default()
        };
        cc.on_sample(&sample);
        if cc.traits().model {
            cc.on_model(&sample);
        } else {
            cc.on_ack(&acked(now, MSS, cc.cwnd(), Stage::Open));
        }
    }
    cc
}

fn acked(now: Time, bytes: u64, in_flight: u64, stage: Stage) -> Acked {
    Acked {
        now,
        bytes,
        in_flight,
        rtt: None,
        echo: false,
        limited: true,
        stage,
    }
}

/// What a connection goes through: acknowledgements of a segment each, one a millisecond, and then reductions with twice the window
/// outstanding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct History {
    /// Acknowledgements.
    pub acks: u64,
    /// Reductions.
    pub reductions: Vec<CongestionKind>,
}

/// A control by its name, dialect and parameters.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its dialect, if not the default one.
    pub dialect: Option<&'a str>,
    /// Its parameters.
    pub pairs: &'a [(String, String)],
}

impl<'a> Named<'a> {
    fn new(name: &'a str, dialect: Option<&'a str>, pairs: &'a [(String, String)]) -> Named<'a> {
        Named {
            name,
            dialect,
            pairs,
        }
    }
}

impl History {
    /// Those of the tests: four reductions in a row, of every kind, after different numbers of acknowledgements, and none.
    pub fn all() -> Vec<History> {
        let then = [
            CongestionKind::Loss,
            CongestionKind::Ecn,
            CongestionKind::Loss,
        ];
        let reduced = |acks| {
            kinds().map(|first| History {
                acks,
                reductions: std::iter::once(first).chain(then).collect(),
            })
        };
        let grown = [0, 1, 7, 60].map(|acks| History {
            acks,
            reductions: Vec::new(),
        });
        let all = [0, 1, 7, 60, 300].into_iter().flat_map(reduced);
        grown.into_iter().chain(all).collect()
    }

    /// Histories with less in them.
    pub fn smaller(&self) -> impl Iterator<Item = History> + use<> {
        let fewer = [self.acks / 2, self.acks.saturating_sub(1)];
        let own = self.clone();
        let fewer = fewer.into_iter().filter(move |acks| *acks < own.acks);
        let reductions = self.reductions.clone();
        let fewer = fewer.map(move |acks| History {
            acks,
            reductions: reductions.clone(),
        });
        let own = self.clone();
        let without = (0..own.reductions.len()).rev().map(move |at| {
            let mut smaller = own.clone();
            smaller.reductions.remove(at);
            smaller
        });
        without.chain(fewer)
    }

    /// Its events, in words.
    pub fn steps(&self) -> Vec<String> {
        let start = format!(
            "a connection starts with segments of {MSS} bytes, a window of {} and a round trip of 50 ms",
            10 * MSS
        );
        let acks = match self.acks {
            0 => None,
            1 => Some(format!("a segment of {MSS} bytes is acknowledged")),
            acks => Some(format!(
                "{acks} segments of {MSS} bytes are acknowledged, one every 1 ms"
            )),
        };
        let reductions = self.reductions.iter().map(|kind| match kind {
            CongestionKind::Loss => "a loss, with twice the window in flight".to_owned(),
            CongestionKind::Ecn => "an ECN echo, with twice the window in flight".to_owned(),
            CongestionKind::Timeout(expiry) => format!(
                "a retransmission timeout{}, with twice the window in flight; {} bytes of it are kept",
                if expiry.again { " of a segment that was sent again" } else { "" },
                expiry.kept
            ),
        });
        std::iter::once(start)
            .chain(acks)
            .chain(reductions)
            .collect()
    }
}

fn kinds() -> [CongestionKind; 5] {
    let timeout = |again, kept| CongestionKind::Timeout(Expiry { again, kept });
    [
        CongestionKind::Loss,
        CongestionKind::Ecn,
        timeout(false, 0),
        timeout(true, 0),
        timeout(false, 300 * MSS),
    ]
}

/// Takes a control through a history, and calls `check` with it, the window before and what happened, after the acknowledgements and
/// after each reduction.
fn through(
    named: Named<'_>,
    history: &History,
    mut check: impl FnMut(&AnyCc, Option<u64>, &str) -> Result<(), Breach>,
) -> Result<(), Breach> {
    let mut cc = after(named.name, named.dialect, named.pairs, history.acks);
    check(&cc, None, "the acknowledgements")?;
    let now = Time::ZERO + Span::from_secs(1);
    for kind in &history.reductions {
        let before = cc.cwnd();
        let congestion = Congestion {
            now,
            kind: *kind,
            in_flight: 2 * before,
            mss: MSS,
        };
        reduce(&mut cc, &congestion);
        let ends = matches!(kind, CongestionKind::Loss | CongestionKind::Ecn);
        if ends && !cc.traits().model {
            cc.on_ack(&acked(now, 0, before, Stage::Exit { at_most: u64::MAX }));
        }
        let what = match kind {
            CongestionKind::Loss => "a loss",
            CongestionKind::Ecn => "an ECN echo",
            CongestionKind::Timeout(_) => "a timeout",
        };
        check(&cc, Some(before), what)?;
    }
    Ok(())
}

/// No loss, mark or timeout raises the window above two segments.
///
/// # Errors
/// Where one does.
pub fn reductions_do_not_raise(named: Named<'_>, history: &History) -> Result<(), Breach> {
    through(named, history, |cc, before, what| {
        let Some(before) = before else {
            return Ok(());
        };
        let most = before.max(2 * MSS);
        Breach::unless(cc.cwnd() <= most, || {
            Breach::new(
                format!(
                    "the window is {before} bytes, and after {what} {}",
                    cc.cwnd()
                ),
                format!("at most {most} bytes: the window before, or two segments"),
            )
        })
    })
}

/// The window is never below a segment.
///
/// # Errors
/// Where it is.
pub fn window_holds_a_segment(named: Named<'_>, history: &History) -> Result<(), Breach> {
    through(named, history, |cc, _, what| {
        Breach::unless(cc.cwnd() >= MSS, || {
            Breach::new(
                format!("the window is {} bytes after {what}", cc.cwnd()),
                format!("a segment at least, {MSS} bytes"),
            )
        })
    })
}

/// Why the window of a control need not grow with what is acknowledged, if so.
pub fn follows_the_path(traits: Traits) -> Option<&'static str> {
    match traits {
        Traits { model: true, .. } => Some("it follows a model of the path"),
        Traits { paces: true, .. } => Some("it sets a pace: its window may be a bound alone"),
        _ => None,
    }
}

/// What is acknowledged without a loss raises the window by four times as much at most. Slow start raises it by as much (RFC 5681 section
/// 3.1); Hybla, the fastest of the catalogue here, by three times as much at a round trip of 50 ms.
///
/// # Errors
/// Where it raises it by more.
pub fn growth_is_bounded(named: Named<'_>, history: &History) -> Result<(), Breach> {
    let with = |acks| after(named.name, named.dialect, named.pairs, acks);
    let (start, acked) = (with(0).cwnd(), history.acks * MSS);
    let most = start + 4 * acked;
    let cwnd = with(history.acks).cwnd();
    Breach::unless(cwnd <= most, || {
        Breach::new(
            format!(
                "the window begins with {start} bytes, and is {cwnd} when {acked} are acknowledged"
            ),
            format!(
                "at most {most} bytes: what it begins with, and four times what is acknowledged"
            ),
        )
    })
}

fn hold(named: Named<'_>, property: impl Fn(Named<'_>, &History) -> Result<(), Breach>) {
    for history in History::all() {
        if let Err(breach) = property(named, &history) {
            panic!("{named:?}, {history:?}: {breach}");
        }
    }
}

/// As [`reductions_do_not_raise`] after every one of [`History::all`]; panics where it does not hold. A control that says why it raises the
/// window ([`Traits::raises`](crate::Traits::raises)) is not asked.
pub fn no_reduction_raises_the_window(
    name: &str,
    dialect: Option<&str>,
    pairs: &[(String, String)],
) {
    let named = Named::new(name, dialect, pairs);
    if after(name, dialect, pairs, 0).traits().raises.is_none() {
        hold(named, reductions_do_not_raise);
    }
}

/// As [`window_holds_a_segment`] after every one of [`History::all`]; panics where it does not hold.
pub fn window_is_at_least_a_segment(name: &str, dialect: Option<&str>, pairs: &[(String, String)]) {
    let named = Named::new(name, dialect, pairs);
    hold(named, window_holds_a_segment);
}

/// As [`growth_is_bounded`] after every one of [`History::all`]; panics where it does not hold. What [follows the path](follows_the_path) is not
/// asked.
pub fn window_grows_with_what_is_acknowledged(
    name: &str,
    dialect: Option<&str>,
    pairs: &[(String, String)],
) {
    let named = Named::new(name, dialect, pairs);
    if follows_the_path(after(name, dialect, pairs, 0).traits()).is_none() {
        hold(named, growth_is_bounded);
    }
}
