//! Bytes are a trace that can be analysed, or an error that names the file; what can be read strictly reads the same leniently.
//!
//! `cargo +nightly fuzz run trace fuzz/corpus/trace fuzz/seeds/trace`

#![no_main]

use libfuzzer_sys::fuzz_target;
use sojourn_scenario::LabError;
use sojourn_traces::read::format::{Family, Format, choose};
use sojourn_traces::read::input::Input;
use sojourn_traces::read::{Analysis, Options, capture, events};
use std::io::Cursor;

fn analyse(bytes: &[u8], format: Option<Format>, lenient: bool) -> Result<Analysis, LabError> {
    let input = Input::new(Cursor::new(bytes.to_vec()), "t.tr", lenient)?;
    let options = Options {
        lenient,
        ..Options::default()
    };
    let format = choose(&input, format)?;
    match format.family() {
        Family::Events => events::analyse(input, format, &options),
        Family::Capture => capture::analyse(input, format, None, &options),
    }
}

fuzz_target!(|bytes: &[u8]| {
    let formats = Format::ALL.map(Some).into_iter().chain([None]);
    for format in formats {
        match analyse(bytes, format, false) {
            Ok(strict) => assert_eq!(analyse(bytes, format, true).ok(), Some(strict)),
            Err(error) => {
                assert!(error.to_string().starts_with("t.tr"), "{error}");
                let _ = analyse(bytes, format, true);
            }
        }
    }
});
