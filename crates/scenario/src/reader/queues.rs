//! Queues in scenarios: checked, given a buffer, resolved, down through what is nested in them.

use sojourn_queue::registry::{self, BuildContext, CatalogueEntry, SpecError};
use sojourn_units::{Buffer, Kind, PAPER, ParamError, Spec, SpecValue, Specs};

use crate::dialect::fallback;
use crate::document::ValueRef;

/// The specification with every parameter and its value, the dialect in full first, down through what is nested in it.
///
/// # Errors
/// As [`registry::prepare`].
pub fn resolve_queue(spec: &Spec, dialect: Option<&str>) -> Result<Spec, SpecError> {
    Ok(registry::prepare(spec, dialect)?.spec())
}

/// A queue's specification with the limit that the topology sets, unless the specification sets one. A scheduler without a
/// limit over all its queues passes it on to each of them.
pub fn with_buffer(spec: &Spec, buffer: Option<Buffer>) -> Spec {
    let mut spec = spec.clone();
    let Some(limit) = buffer else {
        return spec;
    };
    let has = |name: &str| {
        // An unknown discipline is refused later.
        registry::find(&spec.name).is_some_and(|entry| entry.params.iter().any(|p| p.name == name))
    };
    if !has("limit") && has("each") {
        let text = registry::resolve(&spec, None)
            .ok()
            .and_then(|(_, resolved)| resolved.pairs.into_iter().find(|(key, _)| *key == "each"));
        if let Some(each) = text.and_then(|(_, text)| text.parse::<Specs>().ok()) {
            // A limit that was written stays; that of the default gives way.
            let is_default = spec.get("each").is_none();
            let each = each.map(|inner| {
                let mut inner = inner.clone();
                inner.args.retain(|(key, _)| !is_default || key != "limit");
                with_buffer(&inner, buffer)
            });
            spec.args.retain(|(key, _)| key != "each");
            spec.args.push(("each".to_owned(), SpecValue::Specs(each)));
        }
    } else if has("limit") && spec.get("limit").is_none() {
        spec.args
            .push(("limit".to_owned(), SpecValue::Text(limit.to_string())));
    }
    spec
}

/// What runs in another dialect than the scenario's `paper`, which it does not have.
pub fn dialect_notes(spec: &Spec, dialect: Option<&str>) -> Vec<String> {
    let mut notes = Vec::new();
    if dialect == Some(PAPER) {
        collect_notes(spec, &mut notes);
    }
    notes
}

/// Whether a queue can be built.
pub(super) fn check(spec: &Spec, dialect: Option<&str>) -> Result<(), SpecError> {
    let mut context = BuildContext::plain(0, "check");
    context.dialect = dialect.map(str::to_owned);
    context.per_flow = false;
    registry::prepare(spec, dialect)?.build(&context).map(drop)
}

/// Whether an error says that a discipline lacks the dialect of the scenario.
pub(super) fn lacks_dialect(error: &SpecError, dialect: Option<&str>) -> bool {
    matches!(
        error,
        SpecError::Param { error: ParamError::UnknownDialect { given, .. }, .. }
            if Some(given.as_str()) == dialect
    )
}

/// The discipline of such an error, and the dialects it has.
pub(super) fn dialects_of(error: &SpecError) -> (&str, Vec<&'static str>) {
    match error {
        SpecError::Param {
            discipline,
            error: ParamError::UnknownDialect { allowed, .. },
        } => (discipline, allowed.iter().map(|names| names.0).collect()),
        _ => ("", Vec::new()),
    }
}

/// The value of a parameter of a discipline that is written as a table, down through what is nested in it.
pub(super) fn value_of<'a>(
    value: &ValueRef<'a>,
    discipline: &str,
    key: &str,
) -> Option<ValueRef<'a>> {
    let table = value.table("").ok()?;
    let kind = table.get("kind")?.text().ok()?;
    let own = registry::find(kind)?.name == discipline;
    let here = || table.get(key).filter(|_| own);
    let mut values = table.values();
    here().or_else(|| values.find_map(|(_, inner)| value_of(&inner, discipline, key)))
}

/// What to write where a parameter is given to a discipline, and is one of what is nested in it: `drr each=codel target=5ms`.
pub(super) fn misplaced(spec: &Spec, error: &SpecError) -> Option<String> {
    let SpecError::Param {
        discipline,
        error: ParamError::UnknownKey { key, .. },
    } = error
    else {
        return None;
    };
    if registry::find(&spec.name)?.name != *discipline {
        return None;
    }
    let takes = |inner: &Spec| {
        let entry = registry::find(&inner.name);
        entry.is_some_and(|entry| entry.params.iter().any(|info| info.name == key))
    };
    spec.args.iter().find_map(|(outer, value)| {
        let given = spec.get(key)?;
        let inner = match value {
            SpecValue::Specs(inner) => inner.clone(),
            SpecValue::Text(name) => Spec::new(name.clone()).into(),
        };
        let lacks = |inner: &Spec| takes(inner) && inner.get(key).is_none();
        let name = inner
            .all()
            .into_iter()
            .find(|inner| lacks(inner))?
            .name
            .clone();
        let right = inner.map(|inner| match lacks(inner) {
            true => inner.with(key, given.clone()),
            false => inner.clone(),
        });
        Some(format!(
            "what is {name}'s stands in parentheses with it: {outer}={}",
            SpecValue::Specs(right)
        ))
    })
}

/// The specifications that a parameter of a discipline holds, if it holds any.
fn nested_specs(entry: &CatalogueEntry, key: &str, text: &str) -> Option<Specs> {
    let info = entry.params.iter().find(|info| info.name == key)?;
    let kind = info.kind();
    let none = matches!(kind, Kind::Optional(_)) && text == "none";
    match kind.holds_specs() && !none {
        true => text.parse().ok(),
        false => None,
    }
}

fn collect_notes(spec: &Spec, notes: &mut Vec<String>) {
    let Ok((entry, resolved)) = registry::resolve(spec, Some(PAPER)) else {
        return;
    };
    let has = entry.dialects.iter().any(|info| info.name == PAPER);
    if !has && spec.get("dialect").is_none() && !entry.dialects.is_empty() {
        notes.push(fallback(entry.name, resolved.release));
    }
    for (key, text) in &resolved.pairs {
        for inner in nested_specs(entry, key, text).iter().flat_map(Specs::all) {
            collect_notes(inner, notes);
        }
    }
}
