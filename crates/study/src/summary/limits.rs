//! What limits in time and in bandwidth-delay products became, below the first table of an experiment.

use super::wanted::Wanted;

/// Limits that a footnote names.
const MOST: usize = 6;

/// What limits became, if some were given in time or in bandwidth-delay products.
pub(super) fn footnote(wanted: &Wanted<'_>) -> Option<String> {
    let mut texts: Vec<String> = Vec::new();
    for limit in wanted.points().iter().flat_map(|point| &point.limits) {
        let text = limit.text();
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    let more = texts.len().saturating_sub(MOST);
    texts.truncate(MOST);
    if more > 0 {
        texts.push(format!("{more} more in manifest.json"));
    }
    (!texts.is_empty()).then(|| format!("Limits: {}.", texts.join("; ")))
}
