//! How far runs are, on standard error, where that is a terminal.

use crate::output::cut;
use crate::{interrupt, terminal};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use sojourn_results::outcome::RunOutcome;
use sojourn_run::run::{Watch, run_watched};
use sojourn_scenario::LabError;
use sojourn_scenario::resolved::Resolved;
use sojourn_study::study::Progress as News;
use sojourn_units::Span;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often the line is drawn anew.
const TICK: Duration = Duration::from_millis(200);

/// No guess of the time left is made before this, nor before this share of the work is done.
const GUESS_AFTER: Duration = Duration::from_secs(1);
const GUESS_FROM: f64 = 0.005;

/// Runs of this process: those under way, and the simulated time of those that ended.
struct Runs {
    under_way: Vec<UnderWay>,
    ended: Span,
}

#[derive(Clone)]
struct UnderWay {
    /// Simulated time that it has come to, in picoseconds.
    reached: Arc<AtomicU64>,
    duration: Span,
}

static RUNS: Mutex<Runs> = Mutex::new(Runs {
    under_way: Vec::new(),
    ended: Span::ZERO,
});

fn runs() -> MutexGuard<'static, Runs> {
    RUNS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs one replication of a scenario, and tells the progress line how far it is; an interrupt ends it.
pub(crate) fn watched(scenario: &Resolved, replication: u64) -> Result<RunOutcome, LabError> {
    let run = UnderWay {
        reached: Arc::new(AtomicU64::new(0)),
        duration: scenario.run.duration,
    };
    runs().under_way.push(run.clone());
    let watch = Watch {
        stop: interrupt::flag(),
        reached: Some(&run.reached),
    };
    let outcome = run_watched(scenario, replication, watch);
    let mut all = runs();
    all.under_way
        .retain(|other| !Arc::ptr_eq(&other.reached, &run.reached));
    all.ended = all.ended.checked_add(run.duration).unwrap_or(all.ended);
    outcome
}

/// The line that says how far a study is.
pub(crate) struct Line {
    bar: ProgressBar,
    counts: Arc<Counts>,
}

/// Runs that are wanted, that are there, and that were there before.
#[derive(Default)]
struct Counts {
    total: AtomicU64,
    done: AtomicU64,
    found: AtomicU64,
}

impl Counts {
    fn show(&self, news: &News) {
        self.total.store(news.total, Ordering::Relaxed);
        self.done.store(news.done, Ordering::Relaxed);
        self.found.store(news.found, Ordering::Relaxed);
    }
}

impl Line {
    /// Begins the line of what is called `name`.
    pub(crate) fn new(name: &str) -> Line {
        *runs() = Runs {
            under_way: Vec::new(),
            ended: Span::ZERO,
        };
        let counts = Arc::new(Counts::default());
        let target = match terminal::is_quiet() {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr(),
        };
        let bar = ProgressBar::with_draw_target(Some(1), target);
        let (name, of_line) = (
            sojourn_scenario::printable(name).into_owned(),
            Arc::clone(&counts),
        );
        let draw = move |state: &ProgressState, out: &mut dyn Write| {
            let line = line(&name, &Share::of(&of_line, &runs(), state.elapsed()));
            // It is drawn again if that fails.
            let _ = out.write_str(&line);
        };
        if let Ok(style) = ProgressStyle::with_template("{line}") {
            bar.set_style(style.with_key("line", draw));
        }
        if !bar.is_hidden() {
            bar.enable_steady_tick(TICK);
        }
        Line { bar, counts }
    }

    /// Takes over the news of a study.
    pub(crate) fn show(&self, news: &News) {
        self.counts.show(news);
    }

    /// What takes over the news of a study, for another thread.
    pub(crate) fn teller(&self) -> impl FnMut(&News) + Send + use<> {
        let counts = Arc::clone(&self.counts);
        move |news| counts.show(news)
    }

    /// Ends the line; gives the runs that were made, and how long they took.
    pub(crate) fn end(self) -> (u64, Duration) {
        let took = self.bar.elapsed();
        self.bar.finish_and_clear();
        let done = self.counts.done.load(Ordering::Relaxed);
        (
            done.saturating_sub(self.counts.found.load(Ordering::Relaxed)),
            took,
        )
    }
}

/// How far it is at one moment.
struct Share {
    total: u64,
    done: u64,
    /// Runs that ended here, and parts of those under way.
    made: f64,
    /// Runs that were wanted here.
    wanted: f64,
    /// Simulated seconds.
    simulated: f64,
    elapsed: Duration,
}

impl Share {
    fn of(counts: &Counts, runs: &Runs, elapsed: Duration) -> Share {
        let [total, done, found] =
            [&counts.total, &counts.done, &counts.found].map(|count| count.load(Ordering::Relaxed));
        let (mut parts, mut simulated) = (0.0, runs.ended.as_secs_f64());
        for run in &runs.under_way {
            let reached = Span::from_ps(run.reached.load(Ordering::Relaxed)).as_secs_f64();
            simulated += reached;
            parts += reached / run.duration.as_secs_f64().max(f64::MIN_POSITIVE);
        }
        Share {
            total,
            done,
            made: float(done.saturating_sub(found)) + parts,
            wanted: float(total.saturating_sub(found)),
            simulated,
            elapsed,
        }
    }

    /// From 0 to 1.
    fn share(&self) -> f64 {
        (self.made / self.wanted.max(1.0)).clamp(0.0, 1.0)
    }

    /// Seconds that it will take; `None` before a guess is worth anything.
    fn left(&self) -> Option<f64> {
        let share = self.share();
        let worth = self.elapsed >= GUESS_AFTER && share >= GUESS_FROM;
        worth.then(|| self.elapsed.as_secs_f64() * (1.0 - share) / share)
    }
}

/// Parts of the bar.
const PARTS: u32 = 12;

/// Terminal columns of the line, at most.
const WIDTH: usize = 79;

fn line(name: &str, at: &Share) -> String {
    let full = (1..=PARTS).filter(|part| at.share() >= f64::from(*part) / f64::from(PARTS));
    let full = full.count();
    let bar = (0..PARTS)
        .zip(0..)
        .map(|(_, part)| if part < full { '#' } else { '-' });
    let mut line = format!(
        " [{}] {:.0} %  {}/{} runs",
        bar.collect::<String>(),
        100.0 * at.share(),
        at.done,
        at.total
    );
    let seconds = at.elapsed.as_secs_f64();
    if seconds >= 1.0 {
        let rate = at.made / seconds;
        line.push_str(&match rate >= 1.0 {
            true => format!("  {rate:.1} runs/s"),
            false => format!("  {:.1} simulated s/s", at.simulated / seconds),
        });
    }
    if let Some(left) = at.left() {
        line.push_str(&format!("  {} left", duration(left)));
    }
    cut(name, WIDTH.saturating_sub(line.len())) + &line
}

/// A duration for readers, such as `2 min 5 s`.
pub(crate) fn duration(seconds: f64) -> String {
    let whole = Duration::from_secs_f64(seconds.clamp(0.0, 1e9).ceil()).as_secs();
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, 0, seconds) => format!("{} s", seconds.max(1)),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

fn float(count: u64) -> f64 {
    // Exact below 2^32, which no study reaches.
    u32::try_from(count).map_or(f64::from(u32::MAX), f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(done: u64, total: u64, reached: &[(u64, u64)], seconds: u64) -> String {
        let counts = Counts {
            total: AtomicU64::new(total),
            done: AtomicU64::new(done),
            found: AtomicU64::new(0),
        };
        let under_way = reached.iter().map(|(reached, duration)| UnderWay {
            reached: Arc::new(AtomicU64::new(Span::from_secs(*reached).as_ps())),
            duration: Span::from_secs(*duration),
        });
        let runs = Runs {
            under_way: under_way.collect(),
            ended: Span::from_secs(done * 10),
        };
        line(
            "rrul",
            &Share::of(&counts, &runs, Duration::from_secs(seconds)),
        )
    }

    #[test]
    fn the_line_has_no_guess_to_start_with() {
        assert_eq!(
            at(0, 40, &[(0, 10)], 0),
            "rrul [------------] 0 %  0/40 runs"
        );
        assert!(!at(0, 40, &[(0, 10)], 60).contains("left"));
    }

    #[test]
    fn the_line_shows_the_study_the_rate_and_the_time_left() {
        assert_eq!(
            at(20, 40, &[], 10),
            "rrul [######------] 50 %  20/40 runs  2.0 runs/s  10 s left"
        );
    }

    #[test]
    fn one_long_run_shows_that_it_advances() {
        assert_eq!(
            at(0, 1, &[(25, 100)], 50),
            "rrul [###---------] 25 %  0/1 runs  0.5 simulated s/s  2 min 30 s left"
        );
    }

    #[test]
    fn the_line_fits_a_terminal_of_80_columns() {
        let longest = line(
            &"x".repeat(60),
            &Share {
                total: 999,
                done: 998,
                made: 998.0,
                wanted: 999.0,
                simulated: 99_999.0,
                elapsed: Duration::from_secs(40_000),
            },
        );
        assert!(longest.chars().count() <= 80, "{longest}");
    }
}
