//! What is refused of TCP, and what to write instead: parameters that exclude each other.

use super::names::TcpKind;
use crate::entry::{usable_dialect, wrong};
use crate::flow::arguments::{gives, pairs_of};
use sojourn_cc::{EcnUse, registry as cc};
use sojourn_transport::ns2::Ns2Params;
use sojourn_transport::sack::{Machine, ReceiverEcn};
use sojourn_transport::tcp::Recovery;
use sojourn_transport::{RledbatParams, SackParams, TcpParams};
use sojourn_units::{ParamError, ParamInfo, Params, UnitErrorKind};

impl TcpKind {
    /// Refuses options of selective acknowledgement where the name of the flow fixes a recovery without it.
    pub(super) fn refuse_selective(
        &self,
        args: &[(String, String)],
        own: &[&[ParamInfo]],
    ) -> Result<(), ParamError> {
        if self.may_be_selective() {
            return Ok(());
        }
        let selective = |(key, _): &&(String, String)| is_selective(key, own);
        match args.iter().find(selective) {
            Some((key, given)) => Err(ParamError::NoEffect {
                key: key.clone(),
                given: given.clone(),
                beside: format!(
                    "{}, which repairs losses without selective acknowledgement",
                    self.name
                ),
                remedy: "leave it out, or name the flow sack".to_owned(),
            }),
            None => Ok(()),
        }
    }
}

/// An error that names a dialect to write, for a flow of this congestion control: not one that is written already, and not one that it
/// lacks.
pub(super) fn advised_for(
    error: ParamError,
    flow: &'static str,
    algorithm: &cc::Algorithm,
    args: &[(String, String)],
) -> ParamError {
    let ParamError::OfDialect {
        owner,
        key,
        given,
        remedy,
    } = error
    else {
        return error;
    };
    let meant = remedy.strip_prefix("write dialect=");
    let written = args.iter().find(|(key, _)| key == "dialect");
    let has = |name: &str| {
        let mut dialects = algorithm.dialects.iter();
        dialects.any(|info| info.name == name)
    };
    let remedy = match meant {
        Some(name) if written.is_some_and(|(_, text)| text == name) => {
            format!("leave it out, since dialect={name} says it already")
        }
        Some(name) if !algorithm.dialects.is_empty() && !has(name) => {
            let names: Vec<&str> = algorithm.dialects.iter().map(|info| info.name).collect();
            format!(
                "leave it out; dialects of {}: {}",
                algorithm.name,
                names.join(", ")
            )
        }
        _ => remedy,
    };
    ParamError::OfDialect {
        // What is of selective acknowledgement, readers know by the name of their flow.
        owner: if owner == "sack" { flow } else { owner },
        key,
        given,
        remedy,
    }
}

/// Refuses options of selective acknowledgement with another recovery: a value that is not the default would have no effect.
pub(super) fn refuse_unselective(
    args: &[(String, String)],
    recovery: Recovery,
    dialect: Option<&str>,
) -> Result<(), ParamError> {
    if recovery == Recovery::Sack {
        return Ok(());
    }
    let dialect = usable_dialect::<SackParams>(dialect);
    let of_tcp = |key: &str| TcpParams::TABLE.iter().any(|info| info.name == key);
    let mut pairs = pairs_of(args, SackParams::TABLE);
    pairs.retain(|(key, _)| !of_tcp(key));
    let given: SackParams = sojourn_units::build(dialect, &pairs)?;
    let defaults: SackParams = sojourn_units::build(dialect, &[])?;
    let differs = |(key, _): &&(String, String)| given.get(key) != defaults.get(key);
    match pairs.iter().find(differs) {
        Some((key, text)) => Err(ParamError::NoEffect {
            key: key.clone(),
            given: text.clone(),
            beside: format!("recovery={}", recovery.name()),
            remedy: "leave it out, write recovery=sack, or name the flow sack".to_owned(),
        }),
        None => Ok(()),
    }
}

/// Whether a key belongs to selective acknowledgement, and to none of the flow's `own` tables.
fn is_selective(key: &str, own: &[&[ParamInfo]]) -> bool {
    let is_of = |table: &[ParamInfo]| table.iter().any(|info| info.name == key);
    !own.iter().any(|table| is_of(table))
        && (is_of(SackParams::TABLE) || is_of(RledbatParams::TABLE))
}

/// Refuses options of selective acknowledgement that ns-2's agent lacks.
pub(super) fn refuse_in_ns2(args: &[(String, String)]) -> Result<(), ParamError> {
    let selective = |(key, _): &&(String, String)| is_selective(key, &[Ns2Params::TABLE]);
    match args.iter().find(selective) {
        Some((key, given)) => Err(ParamError::NoEffect {
            key: key.clone(),
            given: given.clone(),
            beside: "dialect=ns2, whose TCP is ns-2's agent".to_owned(),
            remedy: "leave it out, or give the flow another dialect, such as dialect=rfc9293"
                .to_owned(),
        }),
        None => Ok(()),
    }
}

/// Checks that the options of a flow for Accurate ECN fit each other.
pub(super) fn check_marks(
    args: &[(String, String)],
    sack: &SackParams,
    ecn: EcnUse,
    control: &str,
) -> Result<(), ParamError> {
    let refuse = |key: &str, given: &str, allowed: &str, remedy: &str| {
        Err(wrong(
            key,
            UnitErrorKind::UnknownChoice,
            given,
            allowed,
            remedy,
        ))
    };
    if sack.accurate_ecn && sack.machine() == Machine::Ns3 {
        return refuse(
            "accurate_ecn",
            "true",
            "allowed with dialect=ns3, which has none",
            "leave it out, or take another dialect",
        );
    }
    if sack.accurate_ecn && gives(args, "ecn", "false") {
        return refuse(
            "ecn",
            "false",
            "allowed with accurate_ecn=true, which turns it on",
            "leave one of them out",
        );
    }
    if !sack.accurate_ecn && sack.receiver_ecn == ReceiverEcn::Classic && ecn == EcnUse::Scalable {
        return refuse(
            "receiver_ecn",
            "classic",
            &format!("allowed with {control} alone, which has to ask for more to find that out"),
            "write accurate_ecn=true beside it",
        );
    }
    Ok(())
}

/// Checks that pacing was not turned off for a congestion control that sets the pace itself.
pub(super) fn refuse_unpaced(args: &[(String, String)], control: &str) -> Result<(), ParamError> {
    match gives(args, "pacing", "false") {
        true => Err(wrong(
            "pacing",
            UnitErrorKind::UnknownChoice,
            "false",
            &format!("allowed with {control}, which sets the pace itself"),
            "leave it out, or take another congestion control",
        )),
        false => Ok(()),
    }
}

pub(super) fn fixed_by_name(key: &str, given: &str) -> ParamError {
    wrong(
        key,
        UnitErrorKind::UnknownChoice,
        given,
        "open to choice: the name of the flow fixes it",
        "leave it out, or name the flow tcp",
    )
}

/// Refuses `ecn=accurate`, the way other programs write it.
pub(super) fn refuse_accurate_as_value(args: &[(String, String)]) -> Result<(), ParamError> {
    match gives(args, "ecn", "accurate") {
        true => Err(wrong(
            "ecn",
            UnitErrorKind::UnknownChoice,
            "accurate",
            "true or false",
            "write accurate_ecn=true, which TCP with selective acknowledgement has",
        )),
        false => Ok(()),
    }
}

/// Refuses options that rLEDBAT excludes, where that is on.
pub(super) fn refuse_beside_rledbat(
    args: &[(String, String)],
    ecn: EcnUse,
    control: &str,
) -> Result<(), ParamError> {
    if gives(args, "accurate_ecn", "true") {
        return Err(wrong(
            "accurate_ecn",
            UnitErrorKind::UnknownChoice,
            "true",
            "allowed with rledbat=true, whose acknowledgements carry a window in its place",
            "leave one of them out",
        ));
    }
    if ecn == EcnUse::Scalable {
        return Err(wrong(
            "rledbat",
            UnitErrorKind::UnknownChoice,
            "true",
            &format!("allowed with {control}, which counts marks"),
            "leave it out, or take another congestion control",
        ));
    }
    Ok(())
}

/// Refuses options that need selective acknowledgement, with another recovery.
pub(super) fn refuse_needs_of_sack(
    recovery: Recovery,
    rledbat: bool,
    samples: bool,
    control: &str,
) -> Result<(), ParamError> {
    if rledbat {
        return Err(wrong(
            "rledbat",
            UnitErrorKind::UnknownChoice,
            "true",
            &format!("allowed with recovery={}", recovery.name()),
            "write recovery=sack, or name the flow sack",
        ));
    }
    if samples {
        return Err(wrong(
            "recovery",
            UnitErrorKind::UnknownChoice,
            recovery.name(),
            &format!("what {control} can work with: it needs selective acknowledgement"),
            "leave it out, or write recovery=sack",
        ));
    }
    Ok(())
}
