//! Adaptive timers of SRM (Floyd et al. 1997 section VII; constants of ns-2.35's `srm-adaptive.tcl`).
//!
//! The same rules hold for requests (C1, C2) and repairs (D1, D2): many duplicates widen the interval of the timer, few duplicates
//! and long delays narrow it, and a member that is nearer than others that send becomes the one that sends first.

/// Duplicates that are taken to be right, on average.
const AVE_DUPS: f64 = 1.0;
/// Delay that is taken to be right, in round trips.
const AVE_DELAY: f64 = 1.0;
/// How far below the right number of duplicates nothing is done yet.
const MARGIN: f64 = 0.1;
/// Weight of the latest value in averages.
const ALPHA: f64 = 0.25;
/// A member is near if others are more than this factor as far away.
const FARTHER: f64 = 1.5;

/// The interval of one kind of timer, and what it follows from.
#[derive(Clone, Debug)]
pub(super) struct Interval {
    /// Its begin and width, in distances.
    pub(super) begin: f64,
    pub(super) width: f64,
    adaptive: bool,
    /// Duplicates since the last timer was set.
    dups: f64,
    ave_dups: Option<f64>,
    ave_delay: Option<f64>,
    /// It has sent, and a member that is farther away has sent, too.
    closest: bool,
}

/// What the interval may become.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) begin: (f64, f64),
    pub(super) width: (f64, f64),
}

impl Bounds {
    /// Of request timers in a group of the given size.
    pub(super) fn of_requests(size: f64) -> Bounds {
        Bounds {
            begin: (0.5, 2.0),
            width: (1.0, size.max(1.0)),
        }
    }

    /// Of repair timers.
    pub(super) fn of_repairs(size: f64) -> Bounds {
        Bounds {
            begin: (0.5, libm::log10(size.max(1.0)).max(0.5)),
            width: (1.0, size.max(1.0)),
        }
    }
}

fn average(before: Option<f64>, now: f64) -> f64 {
    before.map_or(now, |before| (1.0 - ALPHA) * before + ALPHA * now)
}

impl Interval {
    pub(super) fn new(begin: f64, width: f64, adaptive: bool) -> Interval {
        Interval {
            begin,
            width,
            adaptive,
            dups: 0.0,
            ave_dups: None,
            ave_delay: None,
            closest: false,
        }
    }

    /// A timer is about to be set for a number that has none.
    pub(super) fn adapt(&mut self, bounds: Bounds) {
        let dups = std::mem::take(&mut self.dups);
        if !self.adaptive {
            return;
        }
        if let Some(delay) = self.ave_delay {
            let ave = average(self.ave_dups, dups);
            self.ave_dups = Some(ave);
            if std::mem::take(&mut self.closest) {
                self.width -= 0.1;
            } else if ave >= AVE_DUPS {
                self.begin += 0.1;
                self.width += 0.5;
            } else if ave < AVE_DUPS - MARGIN {
                if delay > AVE_DELAY {
                    self.width -= 0.1;
                }
                if ave < 0.25 {
                    self.begin -= 0.05;
                }
            } else {
                self.begin += 0.05;
            }
        }
        self.bound(bounds);
    }

    fn bound(&mut self, bounds: Bounds) {
        self.begin = self.begin.clamp(bounds.begin.0, bounds.begin.1);
        self.width = self.width.clamp(bounds.width.0, bounds.width.1);
    }

    /// It has sent, as the first of its kind for a number.
    pub(super) fn sent(&mut self, bounds: Bounds) {
        if self.adaptive {
            self.begin -= 0.1;
            self.closest = true;
            self.bound(bounds);
        }
    }

    /// Another has sent for a number for which this member has sent, at a distance from its goal.
    pub(super) fn other_sent(&mut self, own: f64, distance: f64) {
        self.closest = distance > FARTHER * own;
    }

    /// There was a duplicate.
    pub(super) fn duplicate(&mut self) {
        self.dups += 1.0;
    }

    /// The first of its kind was sent or heard the given number of round trips after the timer was set.
    pub(super) fn delay(&mut self, round_trips: f64) {
        self.ave_delay = Some(average(self.ave_delay, round_trips));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds {
        begin: (0.5, 2.0),
        width: (1.0, 50.0),
    };

    #[test]
    fn duplicates_widen_the_interval_and_silence_narrows_it() {
        let mut interval = Interval::new(2.0, 2.0, true);
        for _ in 0..20 {
            interval.delay(3.0);
            for _ in 0..4 {
                interval.duplicate();
            }
            interval.adapt(BOUNDS);
        }
        assert_eq!((interval.begin, interval.width), (2.0, 12.0));
        for _ in 0..400 {
            interval.delay(3.0);
            interval.adapt(BOUNDS);
        }
        assert_eq!((interval.begin, interval.width), (0.5, 1.0));
    }

    #[test]
    fn fixed_timers_stay() {
        let mut interval = Interval::new(1.0, 0.0, false);
        interval.duplicate();
        interval.sent(BOUNDS);
        interval.adapt(BOUNDS);
        assert_eq!((interval.begin, interval.width), (1.0, 0.0));
    }
}
