//! A text is a quantity or specification that prints and reads back to itself, or an error.
//!
//! `cargo +nightly fuzz run units fuzz/corpus/units fuzz/seeds/units`

#![no_main]

use std::fmt::{Debug, Display};
use std::str::FromStr;

use libfuzzer_sys::fuzz_target;
use sojourn_units::{
    Buffer, Bytes, FlowSpec, Limit, Packets, Rate, Ratio, Span, Spec, Specs, Time,
};

fn reads_back<T: FromStr + Display + PartialEq + Debug>(text: &str)
where
    T::Err: Display,
{
    match text.parse::<T>() {
        Ok(value) => {
            let printed = value.to_string();
            assert_eq!(
                printed.parse::<T>().ok().as_ref(),
                Some(&value),
                "{printed}"
            );
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fuzz_target!(|text: &str| {
    reads_back::<Span>(text);
    reads_back::<Time>(text);
    reads_back::<Rate>(text);
    reads_back::<Bytes>(text);
    reads_back::<Packets>(text);
    reads_back::<Limit>(text);
    reads_back::<Buffer>(text);
    reads_back::<Ratio>(text);
    reads_back::<Spec>(text);
    reads_back::<Specs>(text);
    reads_back::<FlowSpec>(text);
});
