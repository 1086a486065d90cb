//! What carries a workload: a TCP or QUIC flow with its parameters.

use super::end::Plan;
use crate::entry::Resolved;
use crate::flow::{CC, FlowRequest, QUIC};
use sojourn_units::{Bytes, ParamError, Params, Spec, SpecValue};

/// What carries a workload.
pub(super) struct Carrier {
    spec: Spec,
    pub(super) parts: Vec<(&'static str, Resolved)>,
    headers: u32,
}

impl Carrier {
    /// Bytes on the wire of a request of that size: one packet, with headers.
    pub(super) fn request_bytes(&self, request: Bytes) -> u32 {
        let bytes = u32::try_from(request.get()).unwrap_or(u32::MAX);
        self.headers.saturating_add(bytes)
    }

    /// Each end has a plan of its own.
    pub(super) fn clone_for(&self, request: &FlowRequest<'_>) -> Result<Plan, ParamError> {
        Plan::of(&self.spec, request.dialect)
    }
}

/// What carries a workload by this specification, and the specification with every parameter written out.
pub(super) fn carrier(
    spec: &Spec,
    request: &FlowRequest<'_>,
) -> Result<(Carrier, Spec), ParamError> {
    let plan = Plan::of(spec, request.dialect).map_err(|error| match error.key() {
        // It is about the name of what carries it.
        "tcp" => error,
        _ => error.within("tcp"),
    })?;
    let mut full = Spec::new(spec.name.clone());
    let text = |text: &str| SpecValue::Text(text.to_owned());
    let mut put = |key: &str, value: SpecValue| {
        if full.args.iter().all(|(other, _)| other != key) {
            full.args.push((key.to_owned(), value));
        }
    };
    if let Some((_, first)) = plan.parts().first() {
        put("dialect", text(first.release));
    }
    for (name, part) in plan.parts() {
        let controls = sojourn_cc::registry::find(name).is_some();
        if spec.name == QUIC && controls {
            // Its parameters are its own, in its parentheses.
            let pairs = part.pairs.iter();
            let control = Spec {
                name: (*name).to_owned(),
                args: pairs
                    .map(|(key, own)| ((*key).to_owned(), text(own)))
                    .collect(),
            };
            put(CC, control.into());
            continue;
        }
        if spec.name == "tcp" && controls {
            put(CC, text(name));
        }
        for (key, own) in &part.pairs {
            if *key != "recovery" || spec.name == "tcp" {
                put(key, text(own));
            }
        }
    }
    // Where a part does not know the release, the given specification stands as it is.
    let known = Plan::of(&full, request.dialect);
    if known.is_ok_and(|again| again.parts() != plan.parts()) {
        full = spec.clone();
    }
    let carrier = Carrier {
        spec: spec.clone(),
        headers: plan.headers(),
        parts: plan.parts().to_vec(),
    };
    Ok((carrier, full))
}

/// The parameters of a workload, with those of what carries it.
pub(super) fn resolved(params: &impl Params, tcp: &Spec) -> Resolved {
    let mut resolved = Resolved::of(params);
    for (key, text) in &mut resolved.pairs {
        if *key == "tcp" {
            *text = format!("({tcp})");
        }
    }
    resolved
}
