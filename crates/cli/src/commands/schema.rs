//! `sojourn schema`.

use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::output::emit_data;
use clap::{Args, ValueEnum};
use sojourn_scenario::schema::schema;
use sojourn_study::{starter, suite};

/// Print the JSON Schema of scenario and study files, for completion and checks in editors, or of the results of a suite.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn schema > study.schema.json
  sojourn schema scenario > scenario.schema.json
  sojourn schema suite > suite-results.schema.json")]
pub(crate) struct SchemaArgs {
    /// Kind of file. A study may have all keys of a scenario.
    #[arg(value_enum, default_value = "study")]
    pub(crate) what: SchemaWhat,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SchemaWhat {
    /// Scenario files, for `sojourn run`.
    Scenario,
    /// Study files, for `sojourn study`.
    Study,
    /// Results of `sojourn suite --json`.
    Suite,
}

impl Execute for SchemaArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        print(self)
    }
}

fn print(args: &SchemaArgs) -> Result<(), Failure> {
    emit_data(&match args.what {
        SchemaWhat::Scenario => format!("{:#}\n", schema(&[])),
        SchemaWhat::Study => starter::schema_text(),
        SchemaWhat::Suite => format!("{:#}\n", suite::schema()),
    })
}
