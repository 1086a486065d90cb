//! Bytes are a nam trace that plays, or an error that names the file.
//!
//! `cargo +nightly fuzz run animation fuzz/corpus/animation fuzz/seeds/animation`

#![no_main]

use libfuzzer_sys::fuzz_target;
use sojourn_traces::play::{USUAL_SPAN, Window, read_input};
use sojourn_traces::read::input::Input;
use std::io::Cursor;
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    let input = Input::new(Cursor::new(bytes.to_vec()), "t.nam", false);
    let window = Window {
        from: None,
        span: USUAL_SPAN,
    };
    match input.and_then(|input| read_input(input, Path::new("t.nam"), window)) {
        Ok(play) => assert!(!play.topology.nodes.is_empty()),
        Err(error) => assert!(error.to_string().starts_with("t.nam"), "{error}"),
    }
});
