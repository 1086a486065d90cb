//! `sojourn tc`.

use crate::Failure;
use crate::args::TcArgs;
use crate::output::emit;
use sojourn_lab::{LabError, LabErrorKind};
use sojourn_queue::registry;
use sojourn_units::Spec;

pub(crate) fn tc(args: &TcArgs) -> Result<(), Failure> {
    let place = format!("'{}'", args.queue);
    let spec: Spec = args
        .queue
        .parse()
        .map_err(|error: sojourn_units::SpecError| {
            LabError::new(LabErrorKind::BadValue, error.to_string()).in_file(&place)
        })?;
    let error = |error: &registry::SpecError| LabError::from_queue(error).in_file(&place);
    let entry = registry::find(&spec.name).map_err(|e| error(&e))?;
    let Some(lines) = registry::tc(&spec, &args.dev).map_err(|e| error(&e))? else {
        let with: Vec<&str> = registry::catalogue()
            .iter()
            .filter(|entry| entry.has_tc())
            .map(|entry| entry.name)
            .collect();
        return Err(LabError::new(
            LabErrorKind::UnknownName,
            format!("tc has nothing like {}", entry.name),
        )
        .in_file(&place)
        .allowed("it has", with.join(", "))
        .into());
    };
    emit(&format!("{lines}\n"))
}
