//! The order of events: by time, and among events of one time.

use sojourn_units::Time;

/// The order of events: time, then birth (the instant the event was scheduled), then the rank of the component.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Key {
    /// When it happens.
    pub time: Time,
    /// When it was scheduled; read only when times are equal.
    pub birth: Time,
    /// Twice the component's id; a departure of a link comes right after the link's deliveries.
    pub order: u64,
}

impl Key {
    /// The key of an event of component `id`.
    #[inline]
    pub fn event(time: Time, birth: Time, id: u32) -> Key {
        Key {
            time,
            birth,
            order: 2 * u64::from(id),
        }
    }

    /// The place of a departure of link `id` among events of equal time and birth.
    #[inline]
    pub(crate) fn departure_order(id: u32) -> u64 {
        2 * u64::from(id) + 1
    }

    /// Before every event at `time`.
    #[inline]
    pub fn before(time: Time) -> Key {
        Key {
            time,
            birth: Time::ZERO,
            order: 0,
        }
    }

    /// After every event of component `id` at `time` that was born by `birth`.
    #[inline]
    pub(crate) fn including_departure(self) -> Key {
        Key {
            order: self.order + 2,
            ..self
        }
    }
}
