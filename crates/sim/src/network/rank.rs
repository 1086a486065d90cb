//! The order of components among events of one instant: by name.

use super::{BuildError, Component};
use crate::slab::to_usize;

/// The components by id, and the ids of links and of agents.
pub(super) type Ranked = (Vec<Component>, Vec<u32>, Vec<u32>);

/// The name of the component that tends all groups.
const GROUPS: &str = "group";

/// Gives every component its id, in the order of its name: numbers inside names count by value. A link comes with
/// two answers: whether it has a second id, for its departures, and whether it is lazy and without impairments.
pub(super) fn rank<'a>(
    links: impl Iterator<Item = (&'a str, bool, bool)>,
    agents: impl Iterator<Item = &'a str>,
    groups: bool,
) -> Result<Ranked, BuildError> {
    let mut named: Vec<(Vec<Part<'a>>, &'a str, Component, bool)> = Vec::new();
    if groups {
        named.push((parts(GROUPS), GROUPS, Component::Groups, false));
    }
    let mut counts = (0u32, 0u32);
    for (name, departs, plain) in links {
        let component = match plain {
            true => Component::Delivery(counts.0),
            false => Component::Landing(counts.0),
        };
        named.push((parts(name), name, component, departs));
        counts.0 += 1;
    }
    for name in agents {
        named.push((parts(name), name, Component::Agent(counts.1), false));
        counts.1 += 1;
    }
    named.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.cmp(b.1)));
    if let Some(pair) = named.windows(2).find(|pair| pair[0].1 == pair[1].1) {
        return Err(BuildError::Duplicate {
            name: pair[0].1.to_owned(),
        });
    }
    let mut components = Vec::with_capacity(named.len());
    let mut link_ids = vec![0; to_usize(counts.0)];
    let mut agent_ids = vec![0; to_usize(counts.1)];
    for (_, _, component, departs) in named {
        let id = u32::try_from(components.len()).expect("fewer than 2^31 components");
        components.push(component);
        match component {
            Component::Delivery(link)
            | Component::Outlet(link)
            | Component::Feeder(link)
            | Component::Landing(link) => {
                link_ids[to_usize(link)] = id;
                if departs {
                    components.push(Component::Departure(link));
                }
            }
            Component::Agent(agent) => agent_ids[to_usize(agent)] = id,
            Component::Departure(_) | Component::Groups => {}
        }
    }
    Ok((components, link_ids, agent_ids))
}

/// A part of a name: text, or a number compared by value.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Part<'a> {
    Number(u64),
    Text(&'a str),
}

/// The parts of a name, numbers apart from text.
fn parts(name: &str) -> Vec<Part<'_>> {
    let mut found = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let digits = first.is_ascii_digit();
        let end = rest
            .find(|c: char| c.is_ascii_digit() != digits)
            .unwrap_or(rest.len());
        let (part, tail) = rest.split_at(end);
        found.push(match part.parse() {
            Ok(number) if digits => Part::Number(number),
            _ => Part::Text(part),
        });
        rest = tail;
    }
    found
}
