//! The receive buffer: ns-3's `TcpRxBuffer`. What is in order leaves it when the application reads.

use std::collections::BTreeMap;

/// Bytes received that the application has not read.
#[derive(Debug, Default)]
pub(super) struct RxBuffer {
    /// The byte expected next.
    next: u64,
    /// Where the peer's data end, once a FIN has told.
    fin: Option<u64>,
    most: u64,
    /// Bytes held, and those of them that are in order.
    held: u64,
    ready: u64,
    /// Length of each piece, by its first byte.
    pieces: BTreeMap<u64, u64>,
}

impl RxBuffer {
    pub(super) fn new(most: u64) -> RxBuffer {
        RxBuffer {
            most,
            ..RxBuffer::default()
        }
    }

    pub(super) fn next(&self) -> u64 {
        self.next
    }

    pub(super) fn set_next(&mut self, next: u64) {
        self.next = next;
    }

    pub(super) fn most(&self) -> u64 {
        self.most
    }

    pub(super) fn held(&self) -> u64 {
        self.held
    }

    /// Whether pieces beyond a gap are held.
    pub(super) fn has_gap(&self) -> bool {
        self.held > self.ready
    }

    /// The first byte that cannot be taken.
    pub(super) fn end(&self) -> u64 {
        match (self.fin, self.pieces.first_key_value()) {
            (Some(fin), _) => fin,
            (None, Some((first, _))) => first + self.most,
            (None, None) => self.next + self.most,
        }
    }

    pub(super) fn set_fin(&mut self, fin: u64) {
        self.fin = Some(fin);
        if self.next == fin {
            self.next += 1;
        }
    }

    /// Everything has come, the FIN too.
    pub(super) fn finished(&self) -> bool {
        self.fin.is_some_and(|fin| fin < self.next)
    }

    /// Takes in a segment; says whether anything of it was new and had room.
    pub(super) fn add(&mut self, first: u64, bytes: u64) -> bool {
        let (mut head, mut tail) = (first.max(self.next), first + bytes);
        if let Some((lowest, _)) = self.pieces.first_key_value() {
            tail = tail.min(lowest + self.most);
            head = head.min(tail.max(self.next));
            if tail < head {
                head = tail;
            }
        }
        let near: Vec<(u64, u64)> = self.pieces.range(..=tail).map(|(f, b)| (*f, *b)).collect();
        for (start, length) in near {
            // The tail may have moved below what the range was taken for.
            if start > tail {
                break;
            }
            let end = start + length;
            if end <= head {
                continue;
            }
            if start > head && end < tail {
                self.held -= length;
                self.pieces.remove(&start);
                continue;
            }
            if start <= head {
                head = end;
            }
            if end >= tail {
                tail = start;
            }
        }
        if head >= tail {
            return false;
        }
        self.pieces.insert(head, tail - head);
        self.held += tail - head;
        while let Some(length) = self.pieces.get(&self.next) {
            self.ready += length;
            self.next += length;
        }
        if self.fin == Some(self.next) {
            self.next += 1;
        }
        true
    }

    /// The application reads everything that is in order.
    pub(super) fn read(&mut self) -> u64 {
        let bytes = std::mem::take(&mut self.ready);
        let mut left = bytes;
        while left > 0 {
            let Some((_, length)) = self.pieces.pop_first() else {
                break;
            };
            left -= length.min(left);
        }
        self.held -= bytes;
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer() -> RxBuffer {
        let mut buffer = RxBuffer::new(1000);
        buffer.set_next(1);
        buffer
    }

    #[test]
    fn pieces_fall_into_place_whatever_their_order_and_overlap() {
        let mut buffer = buffer();
        assert!(buffer.add(101, 100) && buffer.has_gap());
        assert!(!buffer.add(101, 100), "nothing new");
        assert!(buffer.add(301, 50));
        assert!(buffer.add(151, 100), "its tail is new");
        assert_eq!((buffer.next(), buffer.held()), (1, 200));
        assert!(buffer.add(1, 120));
        assert_eq!((buffer.next(), buffer.read()), (251, 250));
        assert!(buffer.add(251, 60), "overlaps the piece beyond");
        assert_eq!((buffer.next(), buffer.read()), (351, 100));
        assert!(!buffer.has_gap() && buffer.held() == 0);
    }

    #[test]
    fn a_piece_within_a_new_one_gives_way() {
        let mut buffer = buffer();
        assert!(buffer.add(101, 10));
        assert!(buffer.add(51, 200));
        assert_eq!(buffer.held(), 200);
        assert!(buffer.add(1, 50));
        assert_eq!((buffer.next(), buffer.read(), buffer.held()), (251, 250, 0));
    }

    #[test]
    fn the_fin_counts_once_everything_before_it_is_there() {
        let mut buffer = buffer();
        buffer.set_fin(101);
        assert!(!buffer.finished());
        assert_eq!(buffer.end(), 101);
        assert!(buffer.add(1, 100));
        assert!(buffer.finished());
        assert_eq!((buffer.next(), buffer.read()), (102, 100));
    }
}
