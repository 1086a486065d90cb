//! The texts of links, and which links share one.

use std::collections::BTreeMap;

use super::model::{Form, Link, NodeKind, Topology, Way};
use super::row;
use super::text::{Values, cut, packed};

/// Size of letters, in pixels.
pub(crate) const LABEL: f64 = 12.0;

/// Width at which texts are broken or cut, without an arrow or `each`.
const WIDEST: f64 = 126.0;

/// In a graph with more links, those with the usual text have none, if they are most of the links.
const MANY_LINKS: usize = 20;

/// In a graph with more links that are all the same, none has a text.
const SAME_LINKS: usize = 8;

/// From this number of links on, equal links between the routers of a row have one text together.
const SAME_HOPS: usize = 4;

/// Arrows along and against a link that leads to the right.
pub(crate) const RIGHTWARDS: [&str; 2] = ["→", "←"];

/// How the text of a link is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LinkText {
    /// Rate and delay stand above each other.
    stacked: bool,
    /// It stands for the links of its neighbours, too.
    each: bool,
}

impl LinkText {
    /// The lines of the text; the arrows point along and against the link.
    pub(crate) fn lines(&self, link: &Link, [there, back]: [&str; 2]) -> Vec<String> {
        let (one, other) = (&link.forward, &link.reverse);
        let both = |of: fn(&Way) -> &Values, between: &str| -> Vec<String> {
            let (one, other) = (of(one).line(between), of(other).line(between));
            match (one.is_empty(), other.is_empty()) {
                (true, true) => Vec::new(),
                (false, true) => vec![one],
                (true, false) => vec![other],
                _ if one == other => vec![one],
                _ => vec![format!("{there} {one}"), format!("{back} {other}")],
            }
        };
        let rates = both(|way| &way.rate, ", ");
        let delays = both(|way| &way.delay, ", ");
        let mut all = match (rates.as_slice(), delays.as_slice()) {
            ([rate], [delay]) if !self.stacked => vec![format!("{rate}, {delay}")],
            _ => [rates, delays].concat(),
        };
        let [one, other] = [one.queue.queues(), other.queue.queues()];
        let queues = match (one.is_empty(), other.is_empty()) {
            (false, false) if one != other => vec![arrowed(there, one), arrowed(back, other)],
            (true, _) => vec![other],
            _ => vec![one],
        };
        for queue in queues {
            all.extend(packed(&queue, LABEL, WIDEST));
        }
        if self.each
            && let Some(last) = all.last_mut()
        {
            last.push_str(" each");
        }
        let most = WIDEST + 40.0;
        all.iter().map(|line| cut(line, LABEL, most)).collect()
    }
}

/// With an arrow before the first piece.
fn arrowed(arrow: &str, mut pieces: Vec<String>) -> Vec<String> {
    if let Some(first) = pieces.first_mut() {
        first.insert_str(0, &format!("{arrow} "));
    }
    pieces
}

/// The text of each link, and of those without the one that they have, if there are such.
pub(crate) fn texts(topology: &Topology) -> (Vec<Option<LinkText>>, Option<String>) {
    match topology.form {
        Form::Row => (of_row(topology), None),
        Form::Graph => of_graph(topology),
    }
}

fn of_row(topology: &Topology) -> Vec<Option<LinkText>> {
    let is_host = |node: usize| topology.nodes[node].kind == NodeKind::Host;
    let is_access = |link: &Link| is_host(link.from) || is_host(link.to);
    let text = |link: &Link, each: bool| LinkText {
        stacked: is_access(link),
        each,
    };
    let plain = |link: &Link| text(link, false).lines(link, RIGHTWARDS);
    let links = topology.links.iter();
    let mut texts: Vec<Option<LinkText>> = links.map(|link| Some(text(link, false))).collect();
    // Access links that are the same have one text together, at each end of the row and for those between.
    let mut same: BTreeMap<(Vec<String>, Option<row::Side>), Vec<usize>> = BTreeMap::new();
    for host in row::hosts(topology) {
        let side = Some(host.side).filter(|s| matches!(s, row::Side::Left | row::Side::Right));
        let key = (plain(&topology.links[host.link]), side);
        same.entry(key).or_default().push(host.link);
    }
    let links = topology.links.iter().enumerate();
    let cores = links.filter(|(_, link)| !is_access(link));
    let cores: Vec<usize> = cores.map(|(index, _)| index).collect();
    let first = cores.first().map(|core| plain(&topology.links[*core]));
    let equal = cores
        .iter()
        .all(|core| Some(plain(&topology.links[*core])) == first);
    let cores = Some(cores).filter(|cores| equal && cores.len() >= SAME_HOPS);
    for links in same.into_values().chain(cores) {
        if let [first, others @ ..] = links.as_slice()
            && !others.is_empty()
        {
            others.iter().for_each(|other| texts[*other] = None);
            texts[*first] = Some(text(&topology.links[*first], true));
        }
    }
    texts
}

fn of_graph(topology: &Topology) -> (Vec<Option<LinkText>>, Option<String>) {
    let text = LinkText {
        stacked: true,
        each: false,
    };
    let plain = |link: &Link| text.lines(link, RIGHTWARDS);
    let mut texts = vec![Some(text); topology.links.len()];
    let mut counts: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for link in &topology.links {
        *counts.entry(plain(link)).or_default() += 1;
    }
    let total = topology.links.len();
    let many = |count: usize| {
        (total > MANY_LINKS && 2 * count > total) || (total > SAME_LINKS && count == total)
    };
    let usual = counts.iter().max_by_key(|(_, count)| **count);
    let Some((usual, _)) = usual.filter(|(_, count)| many(**count)) else {
        return (texts, None);
    };
    for (link, text) in topology.links.iter().zip(&mut texts) {
        if plain(link) == *usual && !link.is_measured() {
            *text = None;
        }
    }
    (texts, Some(usual.join(", ")))
}
