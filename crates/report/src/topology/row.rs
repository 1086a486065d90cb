//! Where the nodes of a row stand: routers beside each other, hosts of the flows that cross all of them in a column at each end, and hosts of
//! shorter flows below their routers; those of flows that go back, above.

use super::geometry::{Point, small};
use super::model::{Form, Link, Node, NodeKind, Topology, Way};
use super::place::{Placed, Sizes};
use super::text::Values;

/// Between routers beside what the text of their link takes, and at least.
const GAP: f64 = 44.0;
const LEAST_GAP: f64 = 74.0;

/// Between a router and the hosts of its column, beside the text of their links.
const ACCESS: f64 = 40.0;

/// Between hosts above each other, and beside each other.
const BETWEEN: f64 = 22.0;
const BESIDE: f64 = 12.0;

/// Between routers and the hosts below or above them.
const BELOW: f64 = 62.0;

/// Where a host stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    Left,
    Right,
    /// Below, on the left (-1) or right (1) of its router.
    Below(i8),
    Above(i8),
}

/// A host of a row: its node, its link, the place of its router in the row, and where it stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowHost {
    pub(crate) node: usize,
    pub(crate) link: usize,
    pub(crate) router: usize,
    pub(crate) side: Side,
}

/// Whether a network is a row: its nodes with more than one link are a line in the order of their numbers, and all others hang on these. A
/// link names the indices of its nodes.
pub fn is_row(nodes: usize, links: &[(usize, usize)]) -> bool {
    let hosts = leaves(nodes, links);
    let routers: Vec<usize> = (0..nodes).filter(|node| !hosts[*node]).collect();
    let is_core = |(a, b): &&(usize, usize)| !hosts[*a] && !hosts[*b];
    let linked = |pair: &[usize]| {
        let mut cores = links.iter().filter(is_core);
        cores.any(|(a, b)| [(*a, *b), (*b, *a)].contains(&(pair[0], pair[1])))
    };
    routers.len() > 1
        && links.iter().filter(is_core).count() + 1 == routers.len()
        && routers.windows(2).all(linked)
}

/// For each node, whether it has one link at most.
fn leaves(nodes: usize, links: &[(usize, usize)]) -> Vec<bool> {
    let mut degrees = vec![0_usize; nodes];
    for (a, b) in links {
        degrees[*a] += 1;
        degrees[*b] += 1;
    }
    degrees.into_iter().map(|degree| degree < 2).collect()
}

/// A row without flows, for [`placed`].
pub(crate) fn bare(nodes: usize, links: &[(usize, usize)]) -> Topology {
    let node = |host: bool| Node {
        name: Values::default(),
        kind: match host {
            true => NodeKind::Host,
            false => NodeKind::Router,
        },
        count: Values::default(),
        member_of: Vec::new(),
    };
    let link = |(from, to): &(usize, usize)| Link {
        from: *from,
        to: *to,
        forward: Way::default(),
        reverse: Way::default(),
    };
    Topology {
        title: String::new(),
        form: Form::Row,
        nodes: leaves(nodes, links).into_iter().map(node).collect(),
        links: links.iter().map(link).collect(),
        flows: Vec::new(),
        notes: Vec::new(),
    }
}

/// Routers, in their order.
fn routers(topology: &Topology) -> Vec<usize> {
    let nodes = topology.nodes.iter().enumerate();
    nodes
        .filter(|(_, node)| node.kind != NodeKind::Host)
        .map(|(index, _)| index)
        .collect()
}

/// The hosts of a row.
pub(crate) fn hosts(topology: &Topology) -> Vec<RowHost> {
    let routers = routers(topology);
    let place = |node: usize| routers.iter().position(|router| *router == node);
    // For each gap between routers, its link.
    let core = |left: usize| {
        topology.links.iter().position(|link| {
            let ends = (place(link.from), place(link.to));
            ends == (Some(left), Some(left + 1)) || ends == (Some(left + 1), Some(left))
        })
    };
    let cores: Vec<Option<usize>> = (1..routers.len()).map(|right| core(right - 1)).collect();
    let mut hosts = Vec::new();
    let host_end = |ends: &Link| match (place(ends.from), place(ends.to)) {
        (None, Some(router)) => Some((ends.from, router)),
        (Some(router), None) => Some((ends.to, router)),
        _ => None,
    };
    // Flows whose hosts are all at the ends of the row.
    let last = cores.len();
    let through: Vec<bool> = topology
        .flows
        .iter()
        .map(|flow| {
            let mut hosts = flow
                .legs
                .iter()
                .filter_map(|leg| host_end(&topology.links[leg.link]));
            hosts.all(|(_, router)| router == 0 || router == last)
        })
        .collect();
    for (link, ends) in topology.links.iter().enumerate() {
        let Some((node, router)) = host_end(ends) else {
            continue;
        };
        hosts.push(RowHost {
            node,
            link,
            router,
            side: side(
                topology,
                (&cores, &through),
                (link, ends.from == node),
                router,
            ),
        });
    }
    hosts
}

/// Where a host stands whose link begins at it, or not.
fn side(
    topology: &Topology,
    (cores, through): (&[Option<usize>], &[bool]),
    (link, begins): (usize, bool),
    router: usize,
) -> Side {
    let crosses = |flow: usize, core: Option<usize>| {
        let legs = topology.flows[flow].legs.iter();
        core.is_some_and(|core| legs.clone().any(|leg| leg.link == core))
    };
    let last = cores.len();
    let (mut all, mut rightwards, mut leftwards, mut back) = (false, false, false, false);
    for (flow, of) in topology.flows.iter().enumerate() {
        let own = of.legs.iter().find(|leg| leg.link == link);
        let Some(own) = own else {
            continue;
        };
        all |= through[flow];
        let right = crosses(flow, cores.get(router).copied().flatten());
        let left = router > 0 && crosses(flow, cores[router - 1]);
        rightwards |= right;
        leftwards |= left;
        let sends = own.back != begins;
        back |= (sends && left && !right) || (!sends && right && !left);
    }
    let shift = match (leftwards, rightwards) {
        (true, false) => -1,
        _ => 1,
    };
    match router {
        0 if all || !(rightwards || leftwards) => Side::Left,
        router if router == last && (all || !(rightwards || leftwards)) => Side::Right,
        _ if back => Side::Above(shift),
        _ => Side::Below(shift),
    }
}

/// The places of the nodes of a row; `spread` times as far apart as they have to be.
pub(crate) fn placed(topology: &Topology, sizes: &Sizes, spread: f64) -> Placed {
    let routers = routers(topology);
    let hosts = hosts(topology);
    let width = |node: usize| sizes.nodes[node].x;
    let at = |router: usize, side: Side| -> Vec<&RowHost> {
        let here = hosts.iter();
        here.filter(|host| (host.router, host.side) == (router, side))
            .collect()
    };
    let slot = |router: usize, sides: [Side; 2]| -> f64 {
        let widths = sides.map(|side| {
            let all = at(router, side);
            all.iter()
                .map(|host| width(host.node) + BESIDE)
                .sum::<f64>()
        });
        widths[0].max(widths[1])
    };
    let mut points = vec![Point::default(); topology.nodes.len()];
    let mut x = 0.0;
    for (place, router) in routers.iter().enumerate() {
        if place > 0 {
            let before = routers[place - 1];
            let label = topology.links.iter().zip(&sizes.labels);
            let label = label
                .filter(|(link, _)| {
                    [(link.from, link.to), (link.to, link.from)].contains(&(before, *router))
                })
                .map(|(_, label)| label.x)
                .fold(0.0, f64::max);
            let hanging = slot(place - 1, [Side::Below(1), Side::Above(1)])
                + slot(place, [Side::Below(-1), Side::Above(-1)])
                + 2.0 * BESIDE;
            let halves = (width(before) + width(*router)) / 2.0;
            let gap = (label + GAP).max(LEAST_GAP).max(hanging - halves);
            x += halves + gap * spread;
        }
        points[*router] = Point::new(x, 0.0);
    }
    for (place, router) in routers.iter().enumerate() {
        put_columns(
            sizes,
            (*router, spread),
            |side| at(place, side),
            &mut points,
        );
        put_hanging(
            sizes,
            (*router, spread),
            |side| at(place, side),
            &mut points,
        );
    }
    Placed {
        nodes: points,
        waypoints: vec![Vec::new(); topology.links.len()],
    }
}

/// Puts the hosts of flows that cross the row beside a router.
fn put_columns<'a>(
    sizes: &Sizes,
    (router, spread): (usize, f64),
    at: impl Fn(Side) -> Vec<&'a RowHost>,
    points: &mut [Point],
) {
    let middle = points[router];
    for (side, to) in [(Side::Left, -1.0), (Side::Right, 1.0)] {
        let all = at(side);
        let size = |host: &RowHost| sizes.nodes[host.node];
        let label = all.iter().map(|host| sizes.labels[host.link].x);
        let room = label.fold(0.0, f64::max) + ACCESS * spread;
        let widest = all.iter().map(|host| size(host).x).fold(0.0, f64::max);
        let x = middle.x + to * (sizes.nodes[router].x / 2.0 + room + widest / 2.0);
        let tall: f64 = all.iter().map(|host| size(host).y).sum();
        let gaps = all.len().saturating_sub(1);
        let mut y = -(tall + BETWEEN * spread * small(gaps)) / 2.0;
        for host in all {
            points[host.node] = Point::new(x, y + size(host).y / 2.0);
            y += size(host).y + BETWEEN * spread;
        }
    }
}

/// Puts the hosts of shorter flows below and above a router.
fn put_hanging<'a>(
    sizes: &Sizes,
    (router, spread): (usize, f64),
    at: impl Fn(Side) -> Vec<&'a RowHost>,
    points: &mut [Point],
) {
    let middle = points[router];
    let sides = [
        (Side::Below(-1), -1.0, 1.0),
        (Side::Below(1), 1.0, 1.0),
        (Side::Above(-1), -1.0, -1.0),
        (Side::Above(1), 1.0, -1.0),
    ];
    for (side, across, down) in sides {
        let mut x = middle.x + across * BESIDE / 2.0;
        for host in at(side) {
            let size = sizes.nodes[host.node];
            x += across * size.x / 2.0;
            let y = sizes.nodes[router].y / 2.0 + BELOW * spread + size.y / 2.0;
            points[host.node] = Point::new(x, down * y);
            x += across * (size.x / 2.0 + BESIDE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_routers_with_hosts_is_a_row_and_a_ring_or_star_is_not() {
        assert!(is_row(4, &[(0, 1), (2, 0), (1, 3)]));
        assert!(is_row(5, &[(0, 1), (1, 2), (3, 0), (2, 4)]));
        assert!(!is_row(4, &[(0, 1), (0, 2), (0, 3)]));
        assert!(!is_row(3, &[(0, 1), (1, 2), (2, 0)]));
        assert!(!is_row(4, &[(0, 2), (2, 1), (1, 3), (3, 0)]));
        assert!(!is_row(2, &[(0, 1)]));
    }
}
