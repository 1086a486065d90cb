//! Lists of texts, and of tables with ids, in study files.

use sojourn_scenario::document::{TableRef, ValueRef};
use sojourn_scenario::error::{LabErrorKind, Result};

pub(super) fn text_list<'a>(
    table: &TableRef<'a>,
    key: &str,
) -> Result<Option<Vec<(String, ValueRef<'a>)>>> {
    let Some(value) = table.get(key) else {
        return Ok(None);
    };
    let list = value.list(&format!("{key} = [\"...\"]"))?;
    let texts: Result<Vec<_>> = list
        .into_iter()
        .map(|value| Ok((value.scalar()?, value)))
        .collect();
    texts.map(Some)
}

/// Fails where two tables under a key have the same id.
pub(super) fn unique_ids<'a>(
    root: &TableRef<'_>,
    key: &str,
    ids: impl Iterator<Item = &'a String>,
) -> Result<()> {
    let mut seen: Vec<&String> = Vec::new();
    for (id, table) in ids.zip(root.tables(key)?) {
        if seen.contains(&id) {
            return Err(table
                .error_on(
                    "id",
                    LabErrorKind::Contradiction,
                    format!("two of [[{key}]] have the id {id:?}"),
                )
                .remedy("give each a different id"));
        }
        seen.push(id);
    }
    Ok(())
}
