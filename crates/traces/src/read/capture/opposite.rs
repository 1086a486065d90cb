//! The two directions of a link, each of which a capture of Sojourn has as an interface of its own: what one of them carries is
//! acknowledged on the other.

use crate::read::format::pcap::Interface;
use std::collections::BTreeMap;

/// The ends of a link direction, as [`crate::write`] describes its interface: "from left to right, 10 Mbps".
fn ends(interface: &Interface) -> Option<(&str, &str)> {
    let text = interface.description.strip_prefix("from ")?;
    let (from, rest) = text.split_once(" to ")?;
    let (to, _) = rest.split_once(", ")?;
    Some((from, to))
}

/// Of each interface the one that is the other direction of its link, if there is exactly one of either.
pub(super) fn opposite(interfaces: &[Interface]) -> Vec<Option<u32>> {
    let mut at: BTreeMap<(&str, &str), Vec<u32>> = BTreeMap::new();
    for (interface, number) in interfaces.iter().zip(0..) {
        if let Some(ends) = ends(interface) {
            at.entry(ends).or_default().push(number);
        }
    }
    let only = |ends: (&str, &str)| match at.get(&ends).map(Vec::as_slice) {
        Some([number]) => Some(*number),
        _ => None,
    };
    interfaces
        .iter()
        .map(|interface| {
            let (from, to) = ends(interface)?;
            only((from, to)).and_then(|_| only((to, from)))
        })
        .collect()
}
