//! The kinds of flows that a scenario can name.

use sojourn_units::{DialectInfo, ParamInfo, nearest};

use crate::error::{LabError, LabErrorKind, Result};

/// A kind of flow, as far as scenario files and their schema need to know it.
#[derive(Clone, Copy, Debug)]
pub struct FlowKindInfo {
    /// The name in scenario files.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Its parameters, beside those of its place; `None` where any key is taken for one.
    pub params: Option<&'static [ParamInfo]>,
    /// Its dialects, the default one first.
    pub dialects: &'static [DialectInfo],
}

/// Every kind of flow.
pub fn flow_kinds() -> &'static [FlowKindInfo] {
    const fn kind(name: &'static str, doc: &'static str) -> FlowKindInfo {
        FlowKindInfo {
            name,
            doc,
            params: None,
            dialects: &[],
        }
    }
    const KINDS: &[FlowKindInfo] = &[
        kind("reno", "TCP with Reno recovery (RFC 5681)."),
        kind("newreno", "TCP with NewReno recovery (RFC 6582)."),
        kind(
            "tcp",
            "TCP with the congestion control and recovery that its parameters name.",
        ),
        kind("cbr", "UDP at a constant bit rate."),
        kind("poisson", "UDP with exponential gaps between packets."),
        kind("exponential", "UDP, on and off for exponential times."),
        kind("pareto", "UDP, on and off for Pareto-distributed times."),
    ];
    KINDS
}

/// The kind of flow of that name.
///
/// # Errors
/// When there is none; the error names the nearest and all others.
pub fn known_flow_kind(name: &str) -> Result<&'static FlowKindInfo> {
    let kinds = flow_kinds();
    kinds.iter().find(|kind| kind.name == name).ok_or_else(|| {
        let names = kinds.iter().map(|kind| kind.name);
        LabError::new(
            LabErrorKind::UnknownName,
            format!("unknown kind of flow {name:?}"),
        )
        .nearest(nearest(name, names.clone()))
        .allowed("kinds", names.collect::<Vec<_>>().join(", "))
    })
}
