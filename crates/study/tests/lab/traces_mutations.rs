//! No bytes, however broken, are more than an error: what `fuzz/fuzz_targets/trace.rs` claims, of traces of other programs with bytes
//! replaced, removed, doubled and mixed at random.

use proptest::prelude::*;
use proptest::sample::Index;
use sojourn_scenario::LabError;
use sojourn_traces::read::format::Format;
use sojourn_traces::read::{Analysis, Options};

use crate::support;

/// Bytes of each trace that are mutated.
const LENGTH: usize = 6000;

/// Traces of ns-2 and ns-3, and a capture.
const FILES: [&str; 4] = [
    "traces/ns2-newreno-2flows.tr.gz",
    "traces/ns3-dumbbell.tr.gz",
    "traces/loopback.pcap.gz",
    "ns2-goldens/tiny-reno-1loss.tr.gz",
];

fn data(name: &str) -> Vec<u8> {
    let mut bytes = support::bytes(name);
    bytes.truncate(LENGTH);
    bytes
}

fn analyse(bytes: &[u8], format: Option<Format>, lenient: bool) -> Result<Analysis, LabError> {
    let options = Options {
        lenient,
        format,
        ..Options::default()
    };
    support::analyse(bytes, "t.tr", &options)
}

/// Whatever the format is taken for: an analysis, or an error that names the file; what can be read strictly reads the same leniently.
fn read(bytes: &[u8]) {
    for format in Format::ALL.map(Some).into_iter().chain([None]) {
        match analyse(bytes, format, false) {
            Ok(strict) => assert_eq!(analyse(bytes, format, true).ok(), Some(strict)),
            Err(error) => {
                assert!(error.to_string().starts_with("t.tr"), "{error}");
                let _ = analyse(bytes, format, true);
            }
        }
    }
}

/// One change.
#[derive(Clone, Debug)]
enum Change {
    /// Other bytes at a place.
    Replace(Index, Vec<u8>),
    /// A bit turned over.
    Flip(Index, u8),
    /// Bytes taken out.
    Remove(Index, u8),
    /// A part repeated elsewhere.
    Copy(Index, Index, u8),
    /// Everything behind a place cut off.
    Cut(Index),
}

fn change() -> impl Strategy<Value = Change> {
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 1..9),
        prop::sample::select(vec![
            b"\n".to_vec(),
            b" ".to_vec(),
            b"-1".to_vec(),
            b"1e999".to_vec(),
            b"18446744073709551616".to_vec(),
            vec![0xff; 8],
            vec![0; 8],
        ]),
    ];
    let at = any::<Index>;
    prop_oneof![
        (at(), bytes).prop_map(|(at, bytes)| Change::Replace(at, bytes)),
        (at(), 0..8_u8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        (at(), any::<u8>()).prop_map(|(at, count)| Change::Remove(at, count)),
        (at(), at(), any::<u8>()).prop_map(|(from, to, count)| Change::Copy(from, to, count)),
        at().prop_map(Change::Cut),
    ]
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    if bytes.is_empty() {
        return;
    }
    let length = bytes.len();
    let end = |from: usize, count: usize| from.saturating_add(count).min(length);
    match change {
        Change::Replace(at, with) => {
            let at = at.index(length);
            bytes.splice(at..end(at, with.len()), with.iter().copied());
        }
        Change::Flip(at, bit) => bytes[at.index(length)] ^= 1 << bit,
        Change::Remove(at, count) => {
            let at = at.index(length);
            bytes.drain(at..end(at, usize::from(*count)));
        }
        Change::Copy(from, to, count) => {
            let from = from.index(length);
            let part = bytes[from..end(from, usize::from(*count))].to_vec();
            let to = to.index(length);
            bytes.splice(to..to, part);
        }
        Change::Cut(at) => bytes.truncate(at.index(length)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_broken_trace_is_an_error_that_names_the_file_or_the_same_with_and_without_lenience(
        file in 0..FILES.len(),
        changes in prop::collection::vec(change(), 1..12),
    ) {
        let mut bytes = data(FILES[file]);
        for change in &changes {
            apply(&mut bytes, change);
        }
        read(&bytes);
    }

    #[test]
    fn bytes_at_random_are_no_trace(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        read(&bytes);
    }
}
