//! `sojourn tc`.

use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::output::emit;
use clap::Args;
use sojourn_queue::registry;
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_units::Spec;

/// Print the Linux tc command that configures the same queue.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn tc 'fq_codel target=5ms'
  sojourn tc cake --dev eth0")]
pub(crate) struct TcArgs {
    /// Queue, such as 'fq_codel target=5ms'. Its dialect is linux unless it names another.
    pub(crate) queue: String,
    /// Network device.
    #[arg(long, default_value = "DEV")]
    pub(crate) dev: String,
}

impl Execute for TcArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        tc(self)
    }
}

fn tc(args: &TcArgs) -> Result<(), Failure> {
    let place = format!("'{}'", args.queue);
    let spec: Spec = args
        .queue
        .parse()
        .map_err(|error| LabError::from_spec(error).in_file(&place))?;
    check_device(&args.dev)?;
    let error = |error: &registry::SpecError| LabError::from_queue(error).in_file(&place);
    let entry = registry::required(&spec.name).map_err(|e| error(&e))?;
    let Some(lines) = registry::tc(&spec, &args.dev).map_err(|e| error(&e))? else {
        let with: Vec<&str> = registry::catalogue()
            .iter()
            .filter(|entry| entry.has_tc())
            .map(|entry| entry.name)
            .collect();
        return Err(LabError::new(
            LabErrorKind::UnknownName,
            format!("tc has no equivalent of {}", entry.name),
        )
        .in_file(&place)
        .allowed("it has", with.join(", "))
        .into());
    };
    emit(&format!("{lines}\n"))
}

/// Refuses what is no name of a network device: as the kernel's dev_valid_name(), and nothing that a shell would take for its own.
pub(super) fn check_device(name: &str) -> Result<(), LabError> {
    let named = |c: char| !c.is_whitespace() && !"/:;&|$`'\"\\<>()*?#~!".contains(c);
    if name.is_empty() || name.len() > 15 || !name.chars().all(named) {
        return Err(LabError::new(
            LabErrorKind::BadValue,
            format!("{name:?} is no name of a network device"),
        )
        .in_file("--dev")
        .remedy("write at most 15 characters without blanks or slashes, such as eth0"));
    }
    Ok(())
}
