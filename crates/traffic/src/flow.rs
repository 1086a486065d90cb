//! Flows by name: which endpoints, with which parameters, a flow specification means.
//!
//! The name of a TCP flow is that of
//!
//! - its loss recovery: `reno`, `newreno`, `sack`, `tahoe`;
//! - its congestion control: selective acknowledgement then repairs its losses, unless `recovery` says otherwise. It may be one from
//!   outside, such as `my_module:Mine`;
//! - or plainly `tcp`, which leaves both to its parameters.
//!
//! It sends without end unless it has `bytes`, `packets` or a `source`. Its parameters are those of the transport and of the
//! congestion control. In dialect ns2 it is ns-2's one-way agent, in dialect ns3_24 ns-3.24's socket.
//!
//! A UDP flow has the name of its source. A workload ([`crate::workload`]) consists of flows of TCP or QUIC that come and go.
//! The other kinds stand in `flow/kinds.rs`, one line each.

mod arguments;
mod built;
mod control;
mod data;
mod kind;
mod kinds;
mod ns2;
mod ns3;
mod quic;
mod request;
mod tcp;
mod tfrc;
mod udp;

pub use self::built::BuiltFlow;
pub use self::kind::{FlowKind, Transport};
pub use self::kinds::{flow_kinds, register_flow};
pub use self::request::FlowRequest;
pub use self::tcp::names::{Implied, implied, implied_in_ns2};

pub(crate) use self::arguments::{CC, check_keys, pairs_of};
pub(crate) use self::built::Flow;
pub(crate) use self::data::{DATA, SOURCE, data};
pub(crate) use self::quic::plan::{QUIC, QuicPlan, plan_quic};
pub(crate) use self::request::effective_dialect;
pub(crate) use self::tcp::plan::{TcpEnd, TcpPlan, plan_tcp};
pub(crate) use self::udp::udp_params;

use self::kinds::{OTHERS, build_foreign, carries_datagrams, unknown};
use self::tcp::names::tcp_kind;
use self::tcp::{KnownTcp, build_tcp};
use self::udp::build_udp;
use crate::{foreign, registry, workload};
use sojourn_units::ParamError;

/// Builds the endpoints of the flow called `name` with parameters `args`.
///
/// # Errors
/// If there is no such flow, or a parameter does not exist, is missing or has a value that is not allowed.
pub fn build_flow(
    name: &str,
    args: &[(String, String)],
    request: &FlowRequest<'_>,
) -> Result<BuiltFlow, ParamError> {
    FlowBuilder::default().build(name, args, request)
}

/// Builds one flow after the other. It reads the parameters of TCP flows that are alike once, and not for each of thousands.
#[derive(Default)]
pub struct FlowBuilder {
    tcp: Option<KnownTcp>,
}

impl FlowBuilder {
    /// As [`build_flow`].
    ///
    /// # Errors
    /// As [`build_flow`].
    pub fn build(
        &mut self,
        name: &str,
        args: &[(String, String)],
        request: &FlowRequest<'_>,
    ) -> Result<BuiltFlow, ParamError> {
        if let Some(kind) = tcp_kind(name) {
            return build_tcp(&kind, args, request, &mut self.tcp);
        }
        if let Some(flow) = OTHERS.iter().find(|flow| flow.name == name) {
            return (flow.build)(args, request);
        }
        if let Some(kind) = workload::find(name) {
            return workload::build(kind, args, request);
        }
        if let Some(source) = registry::find(name).filter(|source| carries_datagrams(source)) {
            return build_udp(source, args, request);
        }
        match foreign::find(name) {
            Some(flow) => build_foreign(flow, args, request),
            None => Err(unknown(name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::tcp::names::SACK;
    use super::*;
    use crate::endpoint::Endpoint;
    use sojourn_units::{Rate, Spec, Time};

    fn request() -> FlowRequest<'static> {
        FlowRequest {
            flow: 0,
            name: "flow/test-1",
            dialect: None,
            seed: 1,
            replication: 0,
            start: Time::ZERO,
            stop: None,
            ns3_number: None,
            capacity: Rate::mbps(10),
            shares: 1,
        }
    }

    fn build(spec: &str, dialect: Option<&str>) -> Result<BuiltFlow, String> {
        let spec: Spec = spec.parse().unwrap();
        let request = FlowRequest {
            dialect,
            ..request()
        };
        build_flow(&spec.name, &spec.pairs(), &request).map_err(|error| error.to_string())
    }

    #[test]
    fn a_builder_reads_anew_what_differs_from_the_flow_before() {
        let mut builder = FlowBuilder::default();
        let mut read = Vec::new();
        for (spec, dialect) in [
            ("sack", None),
            ("sack", None),
            ("sack window=64kB", None),
            ("newreno window=64kB", None),
            ("sack window=64kB", None),
            ("sack window=64kB", Some("linux")),
            ("sack window=64kB dialect=ns3", Some("linux")),
            ("sack window=64kB bytes=10kB dialect=ns3", Some("linux")),
            ("sack", Some("ns2")),
            ("cbr rate=1Mbps", None),
            ("sack window=64kB", None),
        ] {
            let alone = build(spec, dialect).unwrap();
            let spec: Spec = spec.parse().unwrap();
            let request = FlowRequest {
                dialect,
                ..request()
            };
            let built = builder.build(&spec.name, &spec.pairs(), &request).unwrap();
            assert_eq!(built.parts, alone.parts, "{spec} in {dialect:?}");
            read.push(built.parts);
        }
        assert_eq!(read[0], read[1]);
        assert!((1..7).all(|at| read[at] != read[at + 1]));
    }

    fn refused(spec: &str, dialect: Option<&str>) -> String {
        build(spec, dialect).err().unwrap()
    }

    #[test]
    fn the_name_and_the_dialect_decide_what_a_flow_is() {
        let kind = |spec, dialect| {
            let built = build(spec, dialect).unwrap();
            let sender = match built.sender {
                Endpoint::Udp(_) => "udp",
                Endpoint::Tcp(_) => "tcp",
                Endpoint::Sack(_) => "sack",
                Endpoint::Ns2(_) => "ns2",
                Endpoint::Ns3(_) => "ns3",
                _ => "receiver",
            };
            let parts: Vec<_> = built
                .parts
                .iter()
                .map(|(name, r)| (*name, r.release))
                .collect();
            (sender, built.receiver.is_some(), parts)
        };
        assert_eq!(
            kind("reno", None),
            (
                "tcp",
                true,
                vec![("tcp", "rfc9293"), ("reno", "rfc5681"), ("bulk", "exact")]
            )
        );
        assert_eq!(
            kind("newreno bytes=10MB", Some("linux")),
            (
                "tcp",
                true,
                vec![
                    ("tcp", "linux-6.1"),
                    ("reno", "linux-6.1"),
                    ("bulk", "exact")
                ]
            )
        );
        assert_eq!(
            kind("reno packets=10p", Some("ns2")),
            ("ns2", true, vec![("tcp", "ns2-2.35"), ("bulk", "ns2-2.35")])
        );
        assert_eq!(
            kind("vegas alpha=2", Some("ns2")),
            ("ns2", true, vec![("tcp", "ns2-2.35"), ("bulk", "ns2-2.35")])
        );
        assert_eq!(kind("vegas", Some("rfc")).0, "sack");
        assert_eq!(kind("reno dialect=rfc9293", None), kind("reno", None));
        assert_eq!(
            kind("tahoe", None),
            ("ns2", true, vec![("tcp", "ns2-2.35"), ("bulk", "exact")])
        );
        assert_eq!(
            kind("tahoe source=(on_off size=100B)", Some("ns3-3.24")),
            (
                "ns3",
                true,
                vec![("tcp", "ns3-3.24"), ("on_off", "ns3-3.24")]
            )
        );
        assert_eq!(
            kind("tcp cc=(reno counting=acks) source=(cbr rate=1Mbps)", None).2[2],
            ("cbr", "exact")
        );
        assert_eq!(
            kind("cbr rate=2Mbps headers=0B", None),
            ("udp", false, vec![("cbr", "exact"), ("udp", "rfc768")])
        );
        assert_eq!(
            kind("pareto rate=2Mbps", Some("ns2")).2,
            vec![("pareto", "ns2-2.35"), ("udp", "ns2-2.35")]
        );
        assert_eq!(
            kind("cbr rate=2Mbps", Some("linux")).2,
            vec![("cbr", "exact"), ("udp", "linux-6.1")]
        );
        assert_eq!(
            kind("poisson rate=2Mbps dialect=ns3", None).2,
            vec![("poisson", "exact"), ("udp", "ns3-3.44")]
        );
        let error = refused("cbr rate=1Mbps", Some("linus"));
        assert!(error.contains("unknown dialect \"linus\""), "{error}");
    }

    #[test]
    fn selective_acknowledgement_is_the_default_of_every_algorithm_but_reno() {
        let is_selective = |spec: &str| {
            let built = build(spec, None).unwrap();
            let names: Vec<_> = built.parts.iter().map(|(name, _)| *name).collect();
            assert_eq!(
                names.contains(&"sack"),
                matches!(built.sender, Endpoint::Sack(_))
            );
            matches!(built.sender, Endpoint::Sack(_))
        };
        for spec in [
            "cubic",
            "sack",
            "bbr",
            "tcp cc=cubic",
            "tcp recovery=sack",
            "cubic tail_probe=false",
        ] {
            assert!(is_selective(spec), "{spec}");
        }
        for spec in [
            "reno",
            "newreno",
            "tcp",
            "cubic recovery=newreno",
            "tcp cc=scalable recovery=reno",
        ] {
            assert!(!is_selective(spec), "{spec}");
        }
        let error = refused("bbr recovery=newreno", None);
        assert!(
            error.contains("it needs selective acknowledgement"),
            "{error}"
        );
        let error = refused("newreno tail_probe=false", None);
        assert!(error.contains("tail_probe"), "{error}");
    }

    #[test]
    fn no_parameter_belongs_to_two_parts_of_a_flow() {
        for kind in flow_kinds() {
            let tables = kind.params.iter().filter(|(part, _)| *part != "ns-2 tcp");
            let mut names: Vec<&str> = tables
                .flat_map(|(_, table)| table.iter().map(|info| info.name))
                .collect();
            names.sort_unstable();
            assert!(
                names.windows(2).all(|pair| pair[0] != pair[1]),
                "{}: {names:?}",
                kind.name
            );
        }
    }

    #[test]
    fn what_runs_is_resolved_in_full() {
        let parts = build("reno counting=acks mss=1000B packets=3p", None)
            .unwrap()
            .parts;
        let value = |part: usize, key: &str| {
            let pairs = &parts[part].1.pairs;
            pairs
                .iter()
                .find(|(name, _)| *name == key)
                .map(|(_, v)| v.clone())
        };
        assert_eq!(value(0, "mss").as_deref(), Some("1kB"));
        assert_eq!(value(0, "recovery").as_deref(), Some("reno"));
        assert_eq!(value(1, "counting").as_deref(), Some("acks"));
        assert_eq!(value(1, "halved").as_deref(), Some("flight"));
        assert_eq!(value(2, "bytes").as_deref(), Some("3kB"));
    }

    #[test]
    fn a_flow_that_cannot_be_is_refused_with_the_remedy() {
        let error = refused("cbrr rate=1Mbps", None);
        assert!(error.contains("did you mean \"cbr\"?"), "{error}");
        let error = refused("bulk", None);
        assert!(error.contains("is not a kind of flow"), "{error}");
        let error = refused("reno mms=1000B", None);
        assert!(error.contains("did you mean \"mss\"?"), "{error}");
        let error = refused("reno recovery=newreno", None);
        assert!(error.contains("the name of the flow fixes it"), "{error}");
        let error = refused("tahoe", Some("linux"));
        assert!(error.contains("ns2 (ns2-2.35)"), "{error}");
        let error = refused("reno bytes=1MB packets=3p", None);
        assert!(error.contains("keep one of them"), "{error}");
        let error = refused("tcp cc=renno", None);
        assert!(error.contains("did you mean \"reno\"?"), "{error}");
        let error = refused("reno source=(cbr)", None);
        assert!(error.contains("rate=2Mbps"), "{error}");
        let error = refused("cbr rate=1Mbps size=0B", None);
        assert!(error.contains("out of range"), "{error}");
    }

    #[test]
    fn vegas_of_ns2_has_no_headers_and_refuses_what_it_does_not_know() {
        for spec in ["vegas dialect=ns2", "tcp recovery=vegas dialect=ns2"] {
            assert_eq!(value(spec, "tcp", "headers"), "0B", "{spec}");
            assert_eq!(value(spec, "tcp", "recovery"), "vegas", "{spec}");
        }
        for (spec, key) in [
            ("vegas headers=40B", "headers"),
            ("vegas ecn=true", "ecn"),
            ("vegas limited_transmit=false", "limited_transmit"),
            ("vegas recovery=reno", "the name of the flow fixes it"),
            ("reno alpha=2", "recovery=vegas"),
            ("reno headers=0B", "recovery=vegas"),
        ] {
            let error = refused(spec, Some("ns2"));
            assert!(error.contains(key), "{spec}: {error}");
        }
    }

    #[test]
    fn every_kind_of_flow_is_listed_with_its_parameters() {
        let kinds = flow_kinds();
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
        for name in [
            "reno",
            "newreno",
            "tahoe",
            "tcp",
            "cbr",
            "poisson",
            "exponential",
            "pareto",
            "udp_rr",
        ] {
            assert!(names.contains(&name), "{name}");
        }
        for kind in &kinds {
            assert!(
                !kind.params.is_empty() && !kind.dialects.is_empty(),
                "{}",
                kind.name
            );
        }
    }

    /// The value of a parameter in a part of a flow.
    fn value(spec: &str, part: &str, key: &str) -> String {
        let built = build(spec, None).unwrap();
        let (_, resolved) = built.parts.iter().find(|(name, _)| *name == part).unwrap();
        let mut pairs = resolved.pairs.iter();
        pairs.find(|(name, _)| *name == key).unwrap().1.clone()
    }

    #[test]
    fn accurate_ecn_turns_ecn_on_and_is_refused_where_it_cannot_be() {
        for spec in ["sack accurate_ecn=true", "cubic accurate_ecn=true ecn=true"] {
            assert_eq!(value(spec, "tcp", "ecn"), "true");
        }
        assert_eq!(value("sack", "tcp", "ecn"), "false");
        for (spec, remedy) in [
            ("sack accurate_ecn=true ecn=false", "leave one of them out"),
            ("sack accurate_ecn=true dialect=ns3", "another dialect"),
            (
                "sack machine=ns3",
                "sack has no parameter machine: write dialect=ns3",
            ),
            (
                "cubic curve=ticks",
                "cubic has no parameter curve: write dialect=linux",
            ),
            (
                "tcp cc=(bic details=ns3)",
                "bic has no parameter details: write dialect=ns3",
            ),
            (
                "sack accurate_ecn=true rledbat=true",
                "leave one of them out",
            ),
            ("prague receiver_ecn=classic", "accurate_ecn=true"),
            ("sack ecn=accurate", "accurate_ecn=true"),
            ("tcp accurate_ecn=true", "recovery=sack"),
            ("tcp pacing=true", "recovery=sack"),
            ("tcp tail_probe=false", "recovery=sack"),
        ] {
            let error = refused(spec, None);
            assert!(error.contains(remedy), "{spec}: {error}");
        }
        assert!(build("prague accurate_ecn=true receiver_ecn=classic", None).is_ok());
    }

    #[test]
    fn an_option_of_selective_acknowledgement_is_refused_with_the_flow_that_has_it() {
        for (spec, dialect, remedy) in [
            ("reno accurate_ecn=true", None, "name the flow sack"),
            ("newreno tail_probe=false", None, "name the flow sack"),
            ("reno accurate_ecn=false", None, "name the flow sack"),
            ("reno rledbat=true", None, "name the flow sack"),
            ("sack accurate_ecn=true", Some("ns2"), "dialect=rfc9293"),
            ("tahoe pacing=true", Some("ns3_24"), "name the flow sack"),
        ] {
            let error = refused(spec, dialect);
            assert!(error.contains("has no effect with"), "{spec}: {error}");
            assert!(error.contains(remedy), "{spec}: {error}");
        }
        let error = refused("reno frobnicate=1", None);
        assert!(error.contains("unknown parameter"), "{error}");
    }

    #[test]
    fn only_a_control_that_leaves_the_pace_open_takes_no_pacing() {
        assert_eq!(value("cubic", SACK, "pacing"), "false");
        assert_eq!(value("cubic pacing=true", SACK, "pacing"), "true");
        for control in ["bbr", "bbr3", "copa", "prague"] {
            assert_eq!(value(control, SACK, "pacing"), "true");
            let error = refused(&format!("{control} pacing=false"), None);
            assert!(error.contains("sets the pace itself"), "{error}");
        }
    }

    #[test]
    fn other_names_of_a_congestion_control_are_the_same_flow() {
        for (other, name) in [
            ("bbrv1", "bbr"),
            ("hs", "highspeed"),
            ("tcp_lp", "lp"),
            ("ledbat++", "ledbat_plus"),
            ("westwood+", "westwood"),
        ] {
            for (given, called) in [
                (other.to_owned(), name.to_owned()),
                (format!("tcp cc={other}"), format!("tcp cc={name}")),
            ] {
                let [one, two] = [given, called].map(|spec| build(&spec, None).unwrap().parts);
                assert_eq!(format!("{one:?}"), format!("{two:?}"));
            }
        }
    }
}
