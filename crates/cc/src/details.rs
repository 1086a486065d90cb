//! Whose arithmetic an algorithm follows where there is more than one.

use sojourn_units::choice;

choice! {
    /// Whose arithmetic an algorithm follows.
    pub enum Details {
        /// The paper's, in bytes.
        Paper = "paper",
        /// That of ns-3's class, with its units, its rounding and the moments at which it looks.
        Ns3 = "ns3",
        /// That of Linux's module: whole segments, clock ticks of a millisecond (HZ=1000), integers.
        Linux = "linux",
    }
}

impl Details {
    pub(crate) fn is_ns3(self) -> bool {
        self == Details::Ns3
    }

    pub(crate) fn is_linux(self) -> bool {
        self == Details::Linux
    }
}
