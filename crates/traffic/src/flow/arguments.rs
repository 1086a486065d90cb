//! The arguments of a flow: which part they belong to, and which are refused whatever the flow.

use crate::entry::wrong;
use sojourn_cc::registry as cc;
use sojourn_units::{PAPER, ParamError, ParamInfo, Params, UnitErrorKind, nearest};

/// The parameter of a plain TCP flow that names its congestion control.
pub(crate) const CC: &str = "cc";

/// The arguments that one part of a flow declares.
pub(crate) fn pairs_of(args: &[(String, String)], table: &[ParamInfo]) -> Vec<(String, String)> {
    args.iter()
        .filter(|(key, _)| table.iter().any(|info| info.name == key))
        .cloned()
        .collect()
}

/// The dialect that the flow itself names, for its transport. A `paper` that the transport lacks belongs to the source or the
/// congestion control.
pub(crate) fn own_dialect<P: Params>(args: &[(String, String)]) -> Option<&str> {
    let own = args.iter().find(|(key, _)| key == "dialect")?;
    let known = |name: &str| {
        let mut dialects = P::DIALECTS.iter();
        dialects.any(|info| info.name == name || info.release == name)
    };
    Some(own.1.as_str()).filter(|name| known(name) || *name != PAPER)
}

/// Refuses keys that no part of a flow declares, and keys that stand there twice.
pub(crate) fn check_keys(
    args: &[(String, String)],
    tables: &[&'static [ParamInfo]],
    more: &[&'static str],
) -> Result<(), ParamError> {
    let allowed: Vec<&'static str> = tables
        .iter()
        .flat_map(|table| table.iter().map(|info| info.name))
        .chain(more.iter().copied())
        .collect();
    for (index, (key, text)) in args.iter().enumerate() {
        if key != "dialect" && !allowed.contains(&key.as_str()) {
            return Err(ParamError::UnknownKey {
                key: key.clone(),
                given: text.clone(),
                nearest: nearest(key, allowed.iter().copied()),
                allowed,
            });
        }
        if let Some((_, first)) = args[..index].iter().find(|(earlier, _)| earlier == key) {
            return Err(ParamError::Repeated {
                key: key.clone(),
                first: first.clone(),
                second: text.clone(),
            });
        }
    }
    Ok(())
}

/// Checks that ECN was not turned off for a congestion control that needs marks.
pub(crate) fn refuse_without_marks(
    args: &[(String, String)],
    control: &str,
) -> Result<(), ParamError> {
    match gives(args, "ecn", "false") {
        true => Err(wrong(
            "ecn",
            UnitErrorKind::UnknownChoice,
            "false",
            &format!("allowed with {control}, which lives by marks"),
            "leave it out, or take another congestion control",
        )),
        false => Ok(()),
    }
}

/// The error of a congestion control that does not exist.
pub(crate) fn unknown_control(error: &cc::BuildError) -> ParamError {
    let (given, nearest) = match error {
        cc::BuildError::Unknown { given, nearest } => (given.as_str(), *nearest),
        cc::BuildError::Foreign { given, problem } => {
            return wrong(
                CC,
                UnitErrorKind::UnknownChoice,
                given,
                "a congestion control",
                problem.clone(),
            );
        }
        cc::BuildError::Param { algorithm, .. } => (*algorithm, None),
    };
    let names: Vec<&str> = cc::all().iter().map(|a| a.name).collect();
    let remedy = match nearest {
        Some(near) => format!("did you mean {near:?}? (there are: {})", names.join(", ")),
        None => format!("choose one of {}", names.join(", ")),
    };
    wrong(
        CC,
        UnitErrorKind::UnknownChoice,
        given,
        "a congestion control",
        remedy,
    )
}

/// Whether the arguments give that value to a parameter.
pub(crate) fn gives(args: &[(String, String)], key: &str, text: &str) -> bool {
    args.iter().any(|(k, given)| k == key && given == text)
}
