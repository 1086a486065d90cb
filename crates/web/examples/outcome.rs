//! Runs scenario files natively and prints, for each, the checksum and the metrics that the page shows for it, one JSON object a line.
//! `web/tests` compares them with what the page shows.

#![allow(clippy::print_stdout, reason = "what it prints is what it is for")]

use std::process::ExitCode;

use serde_json::json;
use sojourn_web::Module;

fn main() -> ExitCode {
    let mut module = Module::default();
    for path in std::env::args().skip(1) {
        let toml = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => {
                println!(
                    "{}",
                    json!({ "error": { "text": format!("{path}: {error}") } })
                );
                return ExitCode::FAILURE;
            }
        };
        module.input = json!({ "op": "outcome", "toml": toml })
            .to_string()
            .into_bytes();
        module.call();
        println!("{}", String::from_utf8_lossy(&module.output));
    }
    ExitCode::SUCCESS
}
