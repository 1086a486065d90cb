//! `sojourn diff`.

use crate::args::Format;
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::labels::labels;
use crate::output::{Text, emit_data, paragraph};
use crate::show;
use clap::Args;
use sojourn_results::ResultSet;
use sojourn_study::summary::{Difference, diff as compare};
use std::path::PathBuf;

/// Show what two result directories differ by: changed settings first, then each value that differs by more than chance.
///
/// All values that both have are tested together (Holm's procedure), so that the chance of even one false difference is at most 5 %.
/// Directories may differ in settings, seeds, replications or version.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn diff results/rrul results/rrul-2
  sojourn diff before after --all
  sojourn diff before after --exit-code --format json > diff.json")]
pub(crate) struct DiffArgs {
    /// Result directory to compare with.
    #[arg(value_name = "A")]
    pub(crate) before: PathBuf,
    /// Result directory that is compared: differences are B less A.
    #[arg(value_name = "B")]
    pub(crate) after: PathBuf,
    /// Show every value, also where the difference is no more than chance.
    #[arg(long)]
    pub(crate) all: bool,
    /// Exit with status 1 if any value differs by more than chance.
    #[arg(long)]
    pub(crate) exit_code: bool,
    /// Output format.
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,
}

impl Execute for DiffArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        diff(self)
    }
}

fn diff(args: &DiffArgs) -> Result<(), Failure> {
    let dirs = [args.before.clone(), args.after.clone()];
    let labels = labels(&dirs)?;
    let (a, b) = (ResultSet::load(&dirs[0])?, ResultSet::load(&dirs[1])?);
    let found = compare((&labels[0], &a), (&labels[1], &b), args.all)?;
    match show::data(&found.comparison, args.format) {
        Some(data) => emit_data(&data)?,
        None => text(&found, args).emit()?,
    }
    match args.exit_code && found.differing > 0 {
        true => Err(Failure::Differs),
        false => Ok(()),
    }
}

fn text(found: &Difference, args: &DiffArgs) -> Text {
    let mut text = Text::default();
    for setting in &found.comparison.settings {
        text = text.plain(&paragraph(&format!("differs: {setting}"), "  "));
    }
    if found.comparison.settings.is_empty() {
        text = text.plain("All settings are the same.\n");
    }
    for only in &found.only {
        text = text.plain(&paragraph(only, "  "));
    }
    text = text.plain("\n");
    if !found.comparison.tables.is_empty() {
        text = text
            .plain(&show::whole(&found.comparison).unstyled())
            .plain("\n");
    }
    text.plain(&paragraph(&verdict(found, args.all), ""))
}

/// How many values differ.
fn verdict(found: &Difference, all: bool) -> String {
    let values = match found.compared {
        1 => "1 value".to_owned(),
        values => format!("{values} values"),
    };
    match found.differing {
        0 => format!("None of {values} differs by more than chance."),
        differing => {
            let differ = if differing == 1 { "differs" } else { "differ" };
            let rest = match all || differing == found.compared {
                true => "",
                false => " --all shows the others.",
            };
            format!("{differing} of {values} {differ} by more than chance.{rest}")
        }
    }
}
