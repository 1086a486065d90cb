//! `sojourn play`.

use std::path::PathBuf;

use clap::Args;
use sojourn_report::play::page;
use sojourn_results::directory::write_whole;
use sojourn_results::overwrite::{has_text, refuse_foreign};
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_traces::play::{Window, read};
use sojourn_units::{Span, Time};

use crate::args::ForceArgs;
use crate::command::Words;
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::inputs;
use crate::output::emit;

/// Write a page in which a short part of a run plays: packets on their links, queues that fill, drops.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn run scenario.toml --trace nam run.nam
  sojourn play run.nam
  sojourn play run.nam --from 5s --for 500ms --out burst.html")]
pub(crate) struct PlayArgs {
    /// Trace that --trace nam wrote, or ns-2; - for standard input.
    pub(crate) file: PathBuf,
    /// When the animation begins, in simulated time [default: at the first packet].
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<String>,
    /// How much simulated time it shows. It ends early after 20,000 packets.
    #[arg(long = "for", value_name = "TIME", default_value = "2s")]
    pub(crate) span: String,
    /// Write the page to this file [default: the name of the trace, with .html; of standard input, animation.html].
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
}

impl Execute for PlayArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        play(self)
    }
}

fn play(args: &PlayArgs) -> Result<(), Failure> {
    let from = args.from.as_deref().map(|text| span("--from", text));
    let from = from.transpose()?.map(|span| Time::ZERO + span);
    let length = span("--for", &args.span)?;
    if length.is_zero() {
        let error = LabError::new(LabErrorKind::BadValue, "it must be longer than zero");
        return Err(error.in_file(&format!("--for {}", args.span)).into());
    }
    let window = Window { from, span: length };
    if args.file.extension().is_some_and(|suffix| suffix == "toml") {
        let words = Words::new("run").path(&args.file);
        let words = words.word("--trace").word("nam").word("run.nam").text();
        let error = LabError::new(LabErrorKind::BadValue, "this is a scenario, no trace");
        let remedy = format!("run it, and play its trace: {words}, then sojourn play run.nam");
        return Err(error
            .in_file(&args.file.display().to_string())
            .remedy(remedy)
            .into());
    }
    let out = match &args.out {
        Some(out) => out.clone(),
        None if args.file.as_os_str() == "-" => PathBuf::from("animation.html"),
        None => args.file.with_extension("html"),
    };
    inputs::keep(&args.file, "--out", &out)?;
    refuse_foreign(&out, |page| has_text(page, PAGE_MARK), args.force.force)?;
    let play = read(&args.file, window)?;
    write_whole(&out, page(&play).as_bytes())?;
    let cut = play.cut.map_or_else(String::new, |cut| format!(". {cut}"));
    emit(&format!("Wrote {}{cut}\n", out.display()))
}

/// What only a page of this command has.
const PAGE_MARK: &str = "class=\"play-page\"";

/// A time that was given to an option.
fn span(option: &str, text: &str) -> Result<Span, LabError> {
    text.parse().map_err(|error: sojourn_units::UnitError| {
        LabError::from_unit(&error).in_file(&format!("{option} {text}"))
    })
}
