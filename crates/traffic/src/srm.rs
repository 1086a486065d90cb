//! The flow `srm`: a source and the members of a multicast group, each with an endpoint and a flow of its own.

use crate::endpoint::Endpoint;
use crate::entry::{Resolved, wrong};
use crate::flow::{
    BuiltFlow, DATA, Flow, FlowKind, FlowRequest, Transport, check_keys, data, effective_dialect,
    pairs_of,
};
use crate::timed::Timed;
use sojourn_sim::Stay;
use sojourn_transport::app::Source;
use sojourn_transport::{SrmConfig, SrmMember, SrmParams};
use sojourn_units::{Bytes, ParamError, Params, Time, UnitErrorKind};

/// The name of these flows.
pub const SRM: &str = "srm";

/// What a source writes at once unless it has a size of its own.
const PAYLOAD: Bytes = Bytes::new(1000);

/// The kind of flow.
pub(crate) const FLOW: Flow = Flow {
    name: SRM,
    kind: || FlowKind {
        name: SRM,
        aliases: &[],
        doc: SrmParams::DOC,
        transport: Transport::Tcp,
        params: vec![(SRM, SrmParams::TABLE)],
        dialects: SrmParams::DIALECTS.iter().collect(),
    },
    build: build_source,
};

/// Builds the source alone, to see whether its parameters allow it.
fn build_source(
    args: &[(String, String)],
    request: &FlowRequest<'_>,
) -> Result<BuiltFlow, ParamError> {
    build(args, request, &[]).map(|(built, _)| built)
}

/// The endpoints of a session: of the source, and of each member of the group with the times at which it belongs to it. Each has a
/// flow of the network, from the one asked for on, and the session has one more.
///
/// # Errors
/// If a parameter does not exist, is missing or has a value that is not allowed.
pub fn build(
    args: &[(String, String)],
    request: &FlowRequest<'_>,
    members: &[Vec<Stay>],
) -> Result<(BuiltFlow, Vec<Endpoint>), ParamError> {
    check_keys(args, &[SrmParams::TABLE], &DATA)?;
    let dialect = effective_dialect(args, request);
    let own = |name: &&str| {
        let mut dialects = SrmParams::DIALECTS.iter();
        dialects.any(|info| info.name == *name || info.release == *name)
    };
    let params: SrmParams =
        sojourn_units::build(dialect.filter(own), &pairs_of(args, SrmParams::TABLE))?;
    let (source, data) = data(args, dialect, PAYLOAD)?;
    if source.unlimited() {
        return Err(wrong(
            "source",
            UnitErrorKind::UnknownChoice,
            data.0,
            "a source with a rate",
            "write source = \"(cbr rate=1Mbps size=1000B)\"",
        ));
    }
    let count = u32::try_from(members.len()).expect("fewer than 2^32 members") + 1;
    let config = |member: u32, source: Option<Timed>, stays: Vec<Stay>| SrmConfig {
        flow: request.flow,
        member,
        members: count,
        params: params.clone(),
        source,
        rng: request.stream(&format!("srm-{member}")),
        source_rng: request.stream("source"),
        stays,
        stop: request.stop,
    };
    let always = Stay {
        from: request.start,
        until: Time::MAX,
    };
    let source = Timed::new(source, request.start);
    let sender = SrmMember::new(config(0, Some(source), vec![always]));
    let member = |(number, stays): (u32, &Vec<Stay>)| {
        Endpoint::Srm(Box::new(SrmMember::new(config(
            number,
            None,
            stays.clone(),
        ))))
    };
    let members = (1..).zip(members).map(member).collect();
    let built = BuiltFlow {
        sender: Endpoint::Srm(Box::new(sender)),
        receiver: None,
        transport: Transport::Tcp,
        parts: vec![(SRM, Resolved::of(&params)), data],
        ns3_numbers: 0,
        connections: count + 1,
    };
    Ok((built, members))
}
