//! The parameters of a TCP flow, read into a plan from which its ends are made.

use super::names::{DEFAULT_CC, RLEDBAT, SACK, TAHOE, TcpKind, tcp_kind, tcp_kinds};
use super::refusals::{
    advised_for, check_marks, fixed_by_name, refuse_accurate_as_value, refuse_beside_rledbat,
    refuse_needs_of_sack, refuse_unpaced, refuse_unselective,
};
use crate::entry::{Resolved, usable_dialect, wrong};
use crate::flow::arguments::{CC, check_keys, pairs_of, refuse_without_marks, unknown_control};
use crate::flow::control::make;
use crate::timed::Timed;
use sojourn_cc::ledbat_plus::{LedbatPlus, LedbatPlusParams};
use sojourn_cc::{AnyCc, Build, CongestionControl, EcnUse, Traits, registry as cc};
use sojourn_sim::Stream;
use sojourn_transport::tcp::{Recovery, TcpConfig};
use sojourn_transport::{
    RledbatParams, RledbatReceiver, RledbatSender, SackConfig, SackParams, SackReceiver,
    SackSender, TcpParams, TcpReceiver, TcpSender,
};
use sojourn_units::{
    ParamError, ParamInfo, ParamValue, Params, Spec, Time, UnitErrorKind, nearest,
};

/// One end of a TCP connection, as a plan makes it.
pub(crate) enum TcpEnd {
    Sender(TcpSender<Timed>),
    Receiver(TcpReceiver),
    Sack(Box<SackSender<Timed>>),
    SackReceiver(Box<SackReceiver>),
    Rledbat(Box<RledbatSender<Timed>>),
    RledbatReceiver(Box<RledbatReceiver>),
}

/// A TCP flow whose parameters have been read. It makes any number of endpoints.
pub(crate) struct TcpPlan {
    pub(super) params: TcpParams,
    sack: Option<SackParams>,
    /// What bounds the window that the receiver advertises, where rLEDBAT does.
    rledbat: Option<LedbatPlus>,
    ecn: EcnUse,
    control: cc::Maker,
    pub(super) parts: Vec<(&'static str, Resolved)>,
}

impl TcpPlan {
    /// The parts without the data: each by name, with its dialect and parameters resolved.
    pub(crate) fn parts(&self) -> &[(&'static str, Resolved)] {
        &self.parts
    }

    /// Bytes of headers on the wire.
    pub(crate) fn headers(&self) -> u32 {
        u32::try_from(self.params.headers.get()).unwrap_or(u32::MAX)
    }

    pub(crate) fn sender(
        &self,
        flow: u32,
        source: Timed,
        rng: Stream,
        start: Time,
        stop: Option<Time>,
    ) -> TcpEnd {
        let (params, cc) = (self.params.clone(), make(&self.control, &rng));
        match &self.sack {
            Some(sack) => {
                let sender = SackSender::new(SackConfig {
                    flow,
                    params,
                    sack: sack.clone(),
                    cc,
                    source,
                    rng,
                    start,
                    stop,
                });
                match self.rledbat {
                    Some(_) => TcpEnd::Rledbat(Box::new(RledbatSender::new(sender))),
                    None => TcpEnd::Sack(Box::new(sender)),
                }
            }
            None => TcpEnd::Sender(TcpSender::new(TcpConfig {
                flow,
                params,
                cc,
                source,
                rng,
                start,
                stop,
            })),
        }
    }

    pub(crate) fn receiver(&self) -> TcpEnd {
        match &self.sack {
            Some(sack) => {
                let receiver = SackReceiver::new(&self.params, sack, self.ecn);
                match &self.rledbat {
                    Some(control) => {
                        let control = AnyCc::LedbatPlus(Box::new(control.clone()));
                        let mss = self.params.mss.get();
                        let receiver = RledbatReceiver::new(receiver, control, mss, self.headers());
                        TcpEnd::RledbatReceiver(Box::new(receiver))
                    }
                    None => TcpEnd::SackReceiver(Box::new(receiver)),
                }
            }
            None => TcpEnd::Receiver(TcpReceiver::new(&self.params)),
        }
    }
}

/// The plan of the TCP flow called `name`, for a workload, which decides itself what is sent.
///
/// # Errors
/// If there is no such flow, or a parameter does not exist or has a value that is not allowed.
pub(crate) fn plan_tcp(
    name: &str,
    args: &[(String, String)],
    dialect: Option<&str>,
) -> Result<TcpPlan, ParamError> {
    let Some(kind) = tcp_kind(name).filter(|kind| kind.name != TAHOE) else {
        if let Err(error @ cc::BuildError::Foreign { .. }) = cc::required(name) {
            return Err(unknown_control(&error));
        }
        let kinds = || tcp_kinds().filter(|kind| kind.name != TAHOE);
        let names = || kinds().map(|kind| kind.name);
        let list: Vec<&str> = names().collect();
        let remedy = match nearest(name, names()) {
            Some(near) => format!("did you mean {near:?}? (there are: {})", list.join(", ")),
            None => format!("choose one of {}", list.join(", ")),
        };
        return Err(wrong(
            "tcp",
            UnitErrorKind::UnknownChoice,
            name,
            "a TCP flow, or quic",
            remedy,
        ));
    };
    let own = args.iter().find(|(key, _)| key == "dialect");
    let dialect = own.map(|(_, name)| name.as_str()).or(dialect);
    let mut args = args.to_vec();
    if let Some(recovery) = kind.recovery {
        if let Some((_, given)) = args.iter().find(|(key, _)| key == "recovery") {
            return Err(fixed_by_name("recovery", given));
        }
        args.push(("recovery".to_owned(), recovery.to_owned()));
    }
    plan(&kind, &mut args, &[], dialect)
}

/// The plan of a TCP flow; `more` are the arguments that are not the transport's.
pub(super) fn plan(
    kind: &TcpKind,
    args: &mut Vec<(String, String)>,
    more: &[&'static str],
    dialect: Option<&str>,
) -> Result<TcpPlan, ParamError> {
    let cc_spec = congestion_control(kind, args)?;
    let algorithm = cc::required(&cc_spec.name).map_err(|error| unknown_control(&error))?;
    if kind.recovery.is_none()
        && algorithm.name != DEFAULT_CC
        && args.iter().all(|(key, _)| key != "recovery")
    {
        args.push(("recovery".to_owned(), SACK.to_owned()));
    }
    check_arguments(kind, algorithm, args, more)?;
    let mut params: TcpParams = sojourn_units::build(
        usable_dialect::<TcpParams>(dialect),
        &pairs_of(args, TcpParams::TABLE),
    )?;
    params.check()?;
    refuse_unselective(args, params.recovery, dialect)?;
    let (control, cc_resolved) = control(algorithm, &cc_spec, args, dialect)?;
    let traits = control().traits();
    if traits.ecn != EcnUse::Classic {
        refuse_without_marks(args, algorithm.name)?;
        params.ecn = true;
    }
    let rledbat: RledbatParams = sojourn_units::build(None, &pairs_of(args, RledbatParams::TABLE))?;
    if rledbat.rledbat {
        refuse_beside_rledbat(args, traits.ecn, algorithm.name)?;
    }
    let sack = match params.recovery {
        Recovery::Sack => Some(selective_params(args, dialect, &traits, algorithm.name)?),
        recovery => {
            refuse_needs_of_sack(recovery, rledbat.rledbat, traits.samples, algorithm.name)?;
            None
        }
    };
    params.ecn |= sack.as_ref().is_some_and(|sack| sack.accurate_ecn);
    let mut parts = vec![("tcp", Resolved::of(&params))];
    parts.extend(sack.as_ref().map(|sack| (SACK, Resolved::of(sack))));
    if rledbat.rledbat {
        parts.push((RLEDBAT, Resolved::of(&rledbat)));
    }
    parts.push((algorithm.name, cc_resolved));
    Ok(TcpPlan {
        params,
        sack,
        rledbat: rledbat_control(&rledbat)?,
        ecn: traits.ecn,
        control,
        parts,
    })
}

/// Refuses arguments that no part of the flow has.
fn check_arguments(
    kind: &TcpKind,
    algorithm: &cc::Algorithm,
    args: &[(String, String)],
    more: &[&'static str],
) -> Result<(), ParamError> {
    let selective: [&[ParamInfo]; 2] = match kind.may_be_selective() {
        true => [SackParams::TABLE, RledbatParams::TABLE],
        false => [&[], &[]],
    };
    let [sack, rledbat] = selective;
    kind.refuse_selective(args, &[TcpParams::TABLE, algorithm.params])?;
    let advised = |error| advised_for(error, kind.name, algorithm, args);
    algorithm.refuse_of_dialect(args).map_err(advised)?;
    SackParams::refuse_of_dialect(args).map_err(advised)?;
    let tables = [TcpParams::TABLE, sack, rledbat, algorithm.params];
    check_keys(args, &tables, more)?;
    refuse_accurate_as_value(args)
}

/// What bounds the window that the receiver advertises, where rLEDBAT is on.
fn rledbat_control(params: &RledbatParams) -> Result<Option<LedbatPlus>, ParamError> {
    let ledbat = LedbatPlusParams {
        target: params.rledbat_target,
        ..LedbatPlusParams::default()
    };
    params
        .rledbat
        .then(|| LedbatPlus::build(&ledbat))
        .transpose()
}

/// The maker of a congestion control with the parameters of its specification and of the flow, and these parameters resolved.
fn control(
    algorithm: &'static cc::Algorithm,
    cc_spec: &Spec,
    args: &[(String, String)],
    dialect: Option<&str>,
) -> Result<(cc::Maker, Resolved), ParamError> {
    let mut pairs = cc_spec.pairs();
    pairs.extend(pairs_of(args, algorithm.params));
    let dialect = sojourn_units::usable_dialect(dialect.map(short_name), algorithm.dialects);
    let resolved = Resolved::of_tables(algorithm.params, algorithm.dialects, dialect, &pairs);
    let in_cc = |error| match error {
        cc::BuildError::Param { error, .. } => error,
        unknown => unknown_control(&unknown),
    };
    let of_spec = |key: &str| cc_spec.args.iter().any(|(own, _)| own == key);
    let within = |error: ParamError| match of_spec(error.key()) {
        true => error.within(CC),
        false => error,
    };
    let control = cc::prepare(algorithm.name, dialect, &pairs)
        .map_err(in_cc)
        .map_err(within)?;
    Ok((control, resolved))
}

/// The parameters of selective acknowledgement, with what the congestion control needs of them.
fn selective_params(
    args: &[(String, String)],
    dialect: Option<&str>,
    traits: &Traits,
    control: &str,
) -> Result<SackParams, ParamError> {
    let mut sack: SackParams = sojourn_units::build(
        usable_dialect::<SackParams>(dialect),
        &pairs_of(args, SackParams::TABLE),
    )?;
    sack.timestamps |= traits.timestamps;
    check_marks(args, &sack, traits.ecn, control)?;
    if traits.paces {
        refuse_unpaced(args, control)?;
        sack.pacing = true;
    }
    Ok(sack)
}

/// The name by which congestion controls know a dialect of the transport: releases differ (`rfc9293`, `rfc5681`).
fn short_name(dialect: &str) -> &str {
    let mut dialects = TcpParams::DIALECTS.iter();
    dialects
        .find(|info| info.release == dialect)
        .map_or(dialect, |info| info.name)
}

/// The congestion control: the one that the name of the flow fixes, or that of `cc`, which leaves the arguments.
fn congestion_control(
    kind: &TcpKind,
    args: &mut Vec<(String, String)>,
) -> Result<Spec, ParamError> {
    let given = args.iter().position(|(key, _)| key == CC);
    match (kind.congestion_control, given) {
        (Some(_), Some(index)) => Err(fixed_by_name(CC, &args[index].1)),
        (Some(name), None) => Ok(Spec::new(name)),
        (None, None) => Ok(Spec::new(DEFAULT_CC)),
        (None, Some(index)) => {
            let (_, text) = args.remove(index);
            Spec::parse_text(&text).map_err(|error| ParamError::BadValue {
                key: CC.to_owned(),
                error,
            })
        }
    }
}
