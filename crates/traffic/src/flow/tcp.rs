//! TCP flows: their parameters are read into a plan, from which their endpoints are made.

pub(super) mod names;
pub(super) mod plan;
mod refusals;

use self::names::{TAHOE, TcpKind, VEGAS};
use self::plan::{TcpPlan, plan};
use self::refusals::{fixed_by_name, refuse_in_ns2};
use super::built::BuiltFlow;
use super::data::{DATA, data};
use super::kind::Transport;
use super::ns2::build_ns2;
use super::ns3::{build_ns3, is_of_ns3_24};
use super::request::{FlowRequest, effective_dialect};
use crate::timed::Timed;
use sojourn_transport::ns2::Ns2Params;
use sojourn_transport::ns3::Ns3Params;
use sojourn_units::{ParamError, Params};

/// A TCP flow whose parameters have been read, and what was given for it.
pub(super) struct KnownTcp {
    name: &'static str,
    given: Vec<(String, String)>,
    dialect: Option<String>,
    /// What was given, with what the name adds to it.
    args: Vec<(String, String)>,
    plan: TcpPlan,
}

impl KnownTcp {
    fn is(&self, kind: &TcpKind, given: &[(String, String)], dialect: Option<&str>) -> bool {
        self.name == kind.name && self.given == given && self.dialect.as_deref() == dialect
    }
}

pub(super) fn build_tcp(
    kind: &TcpKind,
    given: &[(String, String)],
    request: &FlowRequest<'_>,
    known: &mut Option<KnownTcp>,
) -> Result<BuiltFlow, ParamError> {
    let dialect = effective_dialect(given, request);
    if let Some(known) = known
        && known.is(kind, given, dialect)
    {
        return from_plan(known, request);
    }
    let mut args = given.to_vec();
    if let Some(recovery) = kind.recovery {
        if let Some((_, given)) = args.iter().find(|(key, _)| key == "recovery") {
            return Err(fixed_by_name("recovery", given));
        }
        args.push(("recovery".to_owned(), recovery.to_owned()));
    }
    let ns2 = dialect.is_some_and(|d| {
        let info = Ns2Params::DIALECTS.iter();
        info.clone().any(|info| info.name == d || info.release == d)
    });
    if kind.name == TAHOE || ns2 {
        kind.refuse_selective(&args, &[Ns2Params::TABLE, Ns3Params::TABLE])?;
    }
    if kind.is_ns3s() && dialect.is_some_and(is_of_ns3_24) {
        return build_ns3(&args, dialect, request);
    }
    if kind.name == TAHOE {
        // ns-2's is the default.
        return build_ns2(&args, dialect, request);
    }
    if ns2 && kind.is_ns2s() {
        refuse_in_ns2(&args)?;
        if kind.name == VEGAS {
            if let Some((_, given)) = args.iter().find(|(key, _)| key == "recovery") {
                return Err(fixed_by_name("recovery", given));
            }
            args.push(("recovery".to_owned(), VEGAS.to_owned()));
        }
        return build_ns2(&args, dialect, request);
    }
    let plan = plan(kind, &mut args, &DATA, dialect)?;
    let read = KnownTcp {
        name: kind.name,
        given: given.to_vec(),
        dialect: dialect.map(str::to_owned),
        args,
        plan,
    };
    from_plan(known.insert(read), request)
}

fn from_plan(known: &KnownTcp, request: &FlowRequest<'_>) -> Result<BuiltFlow, ParamError> {
    let plan = &known.plan;
    let dialect = known.dialect.as_deref();
    let (mut source, data) = data(&known.args, dialect, plan.params.mss)?;
    let ns3_numbers = request.number(&mut source);
    let mut parts = plan.parts.clone();
    parts.push(data);
    Ok(BuiltFlow {
        sender: plan
            .sender(
                request.flow,
                Timed::new(source, request.start),
                request.stream("source"),
                request.start,
                request.stop,
            )
            .into(),
        receiver: Some(plan.receiver().into()),
        transport: Transport::Tcp,
        ns3_numbers,
        connections: 1,
        parts,
    })
}
