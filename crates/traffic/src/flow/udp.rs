//! UDP flows: datagrams as a source writes them, to a passive sink.

use super::arguments::{check_keys, pairs_of};
use super::built::BuiltFlow;
use super::data::spec;
use super::kind::Transport;
use super::ns3::NS3_24;
use super::request::{FlowRequest, effective_dialect};
use crate::endpoint::Endpoint;
use crate::entry::{CatalogueEntry, Resolved};
use crate::registry;
use crate::timed::Timed;
use sojourn_transport::ns3::PacketSink;
use sojourn_transport::{UdpParams, UdpSender};
use sojourn_units::{DialectInfo, ParamError, Params};

pub(super) fn build_udp(
    source: &'static CatalogueEntry,
    args: &[(String, String)],
    request: &FlowRequest<'_>,
) -> Result<BuiltFlow, ParamError> {
    let known = [source.params, UdpParams::TABLE];
    check_keys(args, &known, &[])?;
    let own = pairs_of(args, source.params);
    let dialect = effective_dialect(args, request);
    let params = udp_params(args, dialect)?;
    let of_source = source_dialect(source, dialect);
    let mut built = registry::build_source(&spec(source.name, &own), of_source)?;
    let resolved = (source.resolve)(of_source, &own)?;
    let ns3_numbers = request.number(&mut built);
    // ns-3's applications send to one of its sinks, which is an endpoint of its own.
    let receiver = (resolved.release == NS3_24).then(|| {
        let headers = u32::try_from(params.headers.get()).unwrap_or(u32::MAX);
        Endpoint::PacketSink(PacketSink::new(headers))
    });
    let sender = UdpSender::new(
        request.flow,
        &params,
        Timed::new(built, request.start),
        request.stream("source"),
        request.stop,
    );
    Ok(BuiltFlow {
        sender: Endpoint::Udp(sender),
        receiver,
        transport: Transport::Udp,
        parts: vec![(source.name, resolved), ("udp", Resolved::of(&params))],
        ns3_numbers,
        connections: 1,
    })
}

/// The dialect of the source: a program whose UDP this is may have no such source, which then runs in its default. A dialect that UDP
/// does not have either is a mistake, which the source reports.
fn source_dialect<'a>(source: &CatalogueEntry, dialect: Option<&'a str>) -> Option<&'a str> {
    let has = |dialects: &[DialectInfo], name: &str| {
        let mut dialects = dialects.iter();
        dialects.any(|info| info.name == name || info.release == name)
    };
    dialect.filter(|name| has(source.dialects, name) || !has(UdpParams::DIALECTS, name))
}

/// The parameters of UDP. A dialect that UDP lacks is one of the source: UDP then has its default.
pub(crate) fn udp_params(
    args: &[(String, String)],
    dialect: Option<&str>,
) -> Result<UdpParams, ParamError> {
    let known = |d: &&str| {
        UdpParams::DIALECTS
            .iter()
            .any(|info| info.name == *d || info.release == *d)
    };
    sojourn_units::build(dialect.filter(known), &pairs_of(args, UdpParams::TABLE))
}
