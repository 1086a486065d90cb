//! What one receiver says of a sender's media, report by report.

use super::account::RtpAccount;
use super::report::Told;
use sojourn_units::Span;

/// The reports of one receiver.
#[derive(Clone, Debug, Default)]
pub(super) struct Witness {
    /// Its SSRC: a receiver that comes back has another, and counts anew.
    ssrc: u32,
    account: RtpAccount,
    /// What it said was lost and was the highest number when counting began; none before its first report.
    base: Option<(i32, u32)>,
    /// Packets lost and expected of the stays before this one.
    before: (u64, u64),
    last: Option<Told>,
}

impl Witness {
    /// What it has said.
    pub(super) fn account(&self) -> RtpAccount {
        self.account
    }

    /// `ssrc` reports. Counting begins with `first` where it is known what the first packet was, else with this report.
    pub(super) fn tells(&mut self, ssrc: u32, told: Told, jitter: Span, first: Option<(i32, u32)>) {
        if self.last.is_some() && self.ssrc != ssrc {
            self.before = (self.account.reported_lost, self.account.reported_expected);
            self.base = None;
        }
        self.ssrc = ssrc;
        self.account.told(jitter, told.round_trip);
        let begin = first.unwrap_or((told.lost, told.highest));
        let (lost, highest) = *self.base.get_or_insert(begin);
        let more = u64::try_from(i64::from(told.lost) - i64::from(lost)).unwrap_or(0);
        self.account.reported_lost = self.before.0 + more;
        self.account.reported_expected =
            self.before.1 + u64::from(told.highest.wrapping_sub(highest));
        self.last = Some(told);
    }

    /// The warm-up is over.
    pub(super) fn start_measuring(&mut self) {
        self.account.start_measuring();
        self.before = (0, 0);
        self.base = self.last.map(|told| (told.lost, told.highest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lost: i32, highest: u32) -> Told {
        Told {
            fraction: 0,
            lost,
            highest,
            jitter: 0,
            round_trip: None,
        }
    }

    #[test]
    fn who_comes_back_is_counted_from_its_first_report_on() {
        let mut witness = Witness::default();
        let mut tells = |ssrc, lost, highest| {
            witness.tells(ssrc, told(lost, highest), Span::ZERO, None);
            let account = witness.account();
            (account.reported_lost, account.reported_expected)
        };
        assert_eq!(tells(7, 5, 1000), (0, 0));
        assert_eq!(tells(7, 15, 1100), (10, 100));
        // It has left and joined again, under another name.
        assert_eq!(tells(8, 2, 5000), (10, 100));
        assert_eq!(tells(8, 3, 5010), (11, 110));
    }

    #[test]
    fn who_is_there_from_the_first_packet_on_is_counted_from_it() {
        let mut witness = Witness::default();
        witness.tells(7, told(5, 1000), Span::ZERO, Some((0, 899)));
        let account = witness.account();
        assert_eq!((account.reported_lost, account.reported_expected), (5, 101));
        witness.start_measuring();
        witness.tells(7, told(6, 1010), Span::ZERO, Some((0, 899)));
        let account = witness.account();
        assert_eq!((account.reported_lost, account.reported_expected), (1, 10));
    }
}
