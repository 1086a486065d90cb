//! What LEDBAT and LEDBAT++ keep of delays: the least of each of the last minutes, and the last samples.

use sojourn_units::{Span, Time};
use std::collections::VecDeque;

/// The least delay of each of the last minutes, and the last samples (RFC 6817 section 2.4.2).
#[derive(Clone, Debug)]
pub(crate) struct Delays {
    /// The least delay of each minute (base_delays of RFC 6817 section 2.4.2).
    base: VecDeque<Span>,
    /// Minutes kept (BASE_HISTORY).
    history: usize,
    /// The minute of the last one, since the run began.
    minute: u64,
    /// The last delays (current_delays).
    current: VecDeque<Span>,
    /// Delays kept (CURRENT_FILTER).
    filter: usize,
}

impl Delays {
    /// Nothing measured; the base delay is the least of `history` minutes (BASE_HISTORY), the current one that of `filter` samples
    /// (CURRENT_FILTER).
    pub(crate) fn new(history: u32, filter: u32) -> Delays {
        let size = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
        Delays {
            base: VecDeque::new(),
            history: size(history),
            minute: 0,
            current: VecDeque::new(),
            filter: size(filter),
        }
    }

    pub(crate) fn add(&mut self, delay: Span, now: Time) {
        let minute = now.as_ps() / Span::from_secs(60).as_ps();
        if self.base.is_empty() || minute != self.minute {
            self.minute = minute;
            self.base.push_back(delay);
            if self.base.len() > self.history {
                self.base.pop_front();
            }
        } else if let Some(last) = self.base.back_mut() {
            *last = delay.min(*last);
        }
        self.current.push_back(delay);
        if self.current.len() > self.filter {
            self.current.pop_front();
        }
    }

    /// The base delay, if any was measured.
    pub(crate) fn base(&self) -> Option<Span> {
        self.base.iter().min().copied()
    }

    /// The queueing delay, if it was measured.
    pub(crate) fn queueing(&self) -> Option<Span> {
        let current = self.current.iter().min()?;
        Some(current.saturating_sub(self.base()?))
    }
}
