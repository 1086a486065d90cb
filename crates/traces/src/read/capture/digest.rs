//! What tells the content of a packet from that of another, in captures that may have kept more or less of it.

use std::hash::Hasher;
use twox_hash::XxHash64;

/// Lengths in bytes up to which content is compared where one of two captures has less of a packet than the other.
const MARKS: [usize; 5] = [8, 16, 64, 256, 1024];

/// What was captured of a packet's payload, by its hashes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Digest {
    captured: usize,
    whole: u64,
    /// Of the first bytes, up to each mark that was captured.
    first: [u64; MARKS.len()],
}

impl Digest {
    /// That of what was captured of a payload.
    pub(super) fn of(payload: &[u8]) -> Digest {
        let mut hasher = XxHash64::with_seed(0);
        let mut first = [0; MARKS.len()];
        let mut from = 0;
        for (mark, slot) in MARKS.into_iter().zip(&mut first) {
            let Some(bytes) = payload.get(from..mark) else {
                break;
            };
            hasher.write(bytes);
            *slot = hasher.finish();
            from = mark;
        }
        hasher.write(payload.get(from..).unwrap_or_default());
        Digest {
            captured: payload.len(),
            whole: hasher.finish(),
            first,
        }
    }

    /// Whether two packets with the same headers have the same content, as far as both captures have it.
    pub(super) fn agrees(&self, other: &Digest) -> bool {
        if self.captured == other.captured {
            return self.whole == other.whole;
        }
        let both = self.captured.min(other.captured);
        let kept = MARKS.iter().take_while(|mark| **mark <= both).count();
        match kept.checked_sub(1) {
            Some(at) => self.first.get(at) == other.first.get(at),
            None => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_agree_as_far_as_both_were_captured() {
        let content: Vec<u8> = (0..200).collect();
        let whole = Digest::of(&content);
        for kept in [0, 7, 8, 63, 64, 199, 200] {
            assert!(whole.agrees(&Digest::of(&content[..kept])), "{kept}");
        }
        let mut other = content;
        other[20] = 0;
        assert!(!whole.agrees(&Digest::of(&other)));
        assert!(!whole.agrees(&Digest::of(&other[..100])));
        assert!(
            whole.agrees(&Digest::of(&other[..30])),
            "the first 16 alone"
        );
    }
}
