//! What a TCP flow sends.

use crate::entry::{Resolved, wrong};
use crate::registry;
use crate::sources::AnySource;
use sojourn_units::{Bytes, Packets, ParamError, ParamValue, Spec, SpecValue, UnitErrorKind};

/// Parameters of a TCP flow that are not the transport's: its data.
pub(crate) const DATA: [&str; 3] = ["bytes", "packets", SOURCE];

/// The one of these that is a specification.
pub(crate) const SOURCE: &str = "source";

/// What a TCP flow sends: `source`, or a bulk transfer of `bytes`, `packets` or without end.
pub(crate) fn data(
    args: &[(String, String)],
    dialect: Option<&str>,
    payload: Bytes,
) -> Result<(AnySource, (&'static str, Resolved)), ParamError> {
    let given: Vec<&(String, String)> = args
        .iter()
        .filter(|(key, _)| DATA.contains(&key.as_str()))
        .collect();
    if let [first, second, ..] = given.as_slice() {
        return Err(wrong(
            &second.0,
            UnitErrorKind::UnknownChoice,
            &second.1,
            &format!("allowed beside {}", first.0),
            "keep one of them",
        ));
    }
    let spec = match given.first() {
        None => Spec::new("bulk"),
        Some((key, text)) if key == SOURCE => {
            Spec::parse_text(text).map_err(|error| ParamError::BadValue {
                key: key.clone(),
                error,
            })?
        }
        Some((key, text)) if key == "packets" => {
            let packets = Packets::parse_text(text).map_err(|error| ParamError::BadValue {
                key: key.clone(),
                error,
            })?;
            let bytes = payload.get().saturating_mul(packets.get());
            spec(
                "bulk",
                &[("bytes".to_owned(), Bytes::new(bytes).to_string())],
            )
        }
        Some(pair) => spec("bulk", &[(*pair).clone()]),
    };
    let Some(entry) = registry::find(&spec.name) else {
        return Err(registry::unknown(&spec.name));
    };
    // The dialect is the transport's; a source follows it where it has one of that name.
    let known = |d: &&str| {
        let mut dialects = entry.dialects.iter();
        dialects.any(|info| info.name == *d || info.release == *d)
    };
    let dialect = dialect.filter(known);
    let built = registry::build_source(&spec, dialect).and_then(|source| {
        let resolved = (entry.resolve)(dialect, &spec.pairs())?;
        Ok((source, (entry.name, resolved)))
    });
    built.map_err(|error| match given.first() {
        Some((key, _)) if key == SOURCE => error.within(SOURCE),
        _ => error,
    })
}

pub(super) fn spec(name: &str, pairs: &[(String, String)]) -> Spec {
    let mut spec = Spec::new(name);
    for (key, text) in pairs {
        let value = SpecValue::Text(text.clone());
        spec.args.push((key.clone(), value));
    }
    spec
}
