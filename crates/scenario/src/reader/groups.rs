//! Multicast groups in scenarios: their trees, and who belongs to them when.

use std::collections::BTreeSet;

use sojourn_units::{Span, nearest};

use super::Reader;
use crate::document::{Extra, TableRef};
use crate::error::{LabError, LabErrorKind, Result};
use crate::model::{GroupParams, MemberParams, RunParams, Topology, TreeKind};

/// Keys of a group that only one kind of tree has.
const KEYS_OF: [(&str, TreeKind); 5] = [
    ("rendezvous_point", TreeKind::Shared),
    ("encapsulation", TreeKind::Shared),
    ("switch", TreeKind::Shared),
    ("links", TreeKind::Static),
    ("prune_time", TreeKind::Dense),
];

impl Reader<'_> {
    /// The groups, and their members in the order of the file.
    pub(super) fn groups(
        &self,
        topology: &Topology,
        run: &RunParams,
    ) -> Result<(Vec<GroupParams>, Vec<MemberParams>)> {
        let tables = self.root.tables("groups")?;
        let nodes = node_names(topology);
        if let (Some(table), None) = (tables.first(), &nodes) {
            let problem = "groups need nodes with names of their own";
            return Err(table
                .error(LabErrorKind::Contradiction, problem)
                .remedy("write kind = \"graph\" or kind = \"chain\" in [topology]"));
        }
        let nodes = nodes.unwrap_or_default();
        let mut groups: Vec<GroupParams> = Vec::new();
        for table in &tables {
            let group = group(table, topology, &nodes)?;
            if groups.iter().any(|other| other.name == group.name) {
                let problem = format!("there is already a group {:?}", group.name);
                return Err(table
                    .error_on("name", LabErrorKind::Contradiction, problem)
                    .remedy("give each group a name of its own"));
            }
            groups.push(group);
        }
        let mut members: Vec<MemberParams> = Vec::new();
        for table in &self.root.tables("members")? {
            let member = member(table, &groups, &nodes, run)?;
            if let Some(other) = members.iter().find(|other| overlap(other, &member)) {
                let problem = format!(
                    "{} belongs to {} already, from {} on",
                    member.node, member.group, other.join
                );
                return Err(table
                    .error_on("join", LabErrorKind::Contradiction, problem)
                    .remedy("join after the other has left"));
            }
            members.push(member);
        }
        let empty = |group: &GroupParams| members.iter().all(|member| member.group != group.name);
        match tables.iter().zip(&groups).find(|(_, group)| empty(group)) {
            None => Ok((groups, members)),
            Some((table, group)) => Err(table
                .error(
                    LabErrorKind::MissingKey,
                    format!("the group {:?} has no members", group.name),
                )
                .remedy(format!(
                    "add [[members]] with group = {:?} and a node",
                    group.name
                ))),
        }
    }
}

/// The names of the nodes, where the topology gives them.
fn node_names(topology: &Topology) -> Option<BTreeSet<String>> {
    match topology {
        Topology::Graph(links) => Some(
            links
                .iter()
                .flat_map(|link| [link.from.clone(), link.to.clone()])
                .collect(),
        ),
        Topology::Chain(chain) => Some((0..=chain.hops).map(|node| format!("n{node}")).collect()),
        Topology::Dumbbell(_) | Topology::ParkingLot(_) => None,
    }
}

/// That a key names no node.
fn unknown_node(
    table: &TableRef<'_>,
    key: &str,
    given: &str,
    nodes: &BTreeSet<String>,
) -> LabError {
    let names = || nodes.iter().map(String::as_str);
    table
        .error_on(
            key,
            LabErrorKind::UnknownName,
            format!("no link has a node {given:?}"),
        )
        .nearest(nearest(given, names()))
        .allowed("nodes", names().collect::<Vec<_>>().join(", "))
}

fn group(
    table: &TableRef<'_>,
    topology: &Topology,
    nodes: &BTreeSet<String>,
) -> Result<GroupParams> {
    let group: GroupParams = table.params(Extra::default())?;
    table.required_text("name", "name the group, such as name = \"news\"")?;
    if nodes.contains(&group.name) {
        let problem = format!("{:?} is a node already", group.name);
        return Err(table
            .error_on("name", LabErrorKind::Contradiction, problem)
            .remedy("call the group something else"));
    }
    for (key, tree) in KEYS_OF {
        if table.has(key) && group.tree != tree {
            let problem = format!(
                "only a {tree} tree has this key, and this one is {}",
                group.tree
            );
            return Err(table
                .error_on(key, LabErrorKind::Contradiction, problem)
                .remedy(format!("leave it out, or write tree = \"{tree}\"")));
        }
    }
    for (key, node) in [
        ("rendezvous_point", &group.rendezvous_point),
        ("delay_from", &group.delay_from),
    ] {
        if let Some(node) = node
            && !nodes.contains(node)
        {
            return Err(unknown_node(table, key, node, nodes));
        }
    }
    match group.tree {
        TreeKind::Shared if group.rendezvous_point.is_none() => Err(table.missing(
            "rendezvous_point",
            "name the node at the root of the shared tree",
        )),
        TreeKind::Static => static_links(table, &group, topology).map(|()| group),
        _ => Ok(group),
    }
}

/// Checks that every link of a static tree exists.
fn static_links(table: &TableRef<'_>, group: &GroupParams, topology: &Topology) -> Result<()> {
    let Some(links) = &group.links else {
        return Err(table.missing(
            "links",
            "list the link directions of the tree, such as links = \"a-b, b-c\"",
        ));
    };
    let known: Vec<String> = match topology {
        Topology::Graph(links) => links
            .iter()
            .flat_map(|link| {
                [
                    format!("{}-{}", link.from, link.to),
                    format!("{}-{}", link.to, link.from),
                ]
            })
            .collect(),
        Topology::Chain(chain) => (0..chain.hops)
            .flat_map(|hop| {
                [
                    format!("n{hop}-n{}", hop + 1),
                    format!("n{}-n{hop}", hop + 1),
                ]
            })
            .collect(),
        Topology::Dumbbell(_) | Topology::ParkingLot(_) => Vec::new(),
    };
    let names = || known.iter().map(String::as_str);
    match links
        .split(',')
        .map(str::trim)
        .find(|link| !names().any(|name| name == *link))
    {
        None => Ok(()),
        Some(link) => Err(table
            .error_on(
                "links",
                LabErrorKind::UnknownName,
                format!("there is no link {link:?}"),
            )
            .nearest(nearest(link, names()))
            .allowed("links", names().collect::<Vec<_>>().join(", "))),
    }
}

fn member(
    table: &TableRef<'_>,
    groups: &[GroupParams],
    nodes: &BTreeSet<String>,
    run: &RunParams,
) -> Result<MemberParams> {
    let member: MemberParams = table.params(Extra::default())?;
    let name = table.required_text("group", "name the group, such as group = \"news\"")?;
    let names = || groups.iter().map(|group| group.name.as_str());
    if !names().any(|known| known == name) {
        let problem = format!("there is no group {name:?}");
        let error = table.error_on("group", LabErrorKind::UnknownName, problem);
        return Err(match groups {
            [] => error.remedy(format!("add [[groups]] with name = {name:?}")),
            _ => error
                .nearest(nearest(name, names()))
                .allowed("groups", names().collect::<Vec<_>>().join(", ")),
        });
    }
    let node = table.required_text("node", "name the node of the member, such as node = \"n5\"")?;
    if !nodes.contains(node) {
        return Err(unknown_node(table, "node", node, nodes));
    }
    if member.join >= run.duration {
        let problem = format!(
            "a join at {} is not within the run of {}",
            member.join, run.duration
        );
        return Err(table
            .error_on("join", LabErrorKind::Contradiction, problem)
            .remedy("join earlier, or make run.duration longer"));
    }
    if let Some(leave) = member.leave
        && leave <= member.join
    {
        let problem = format!(
            "a leave at {leave} is not after the join at {}",
            member.join
        );
        return Err(table
            .error_on("leave", LabErrorKind::Contradiction, problem)
            .remedy("leave later, or join earlier"));
    }
    Ok(member)
}

/// Whether a node belongs to a group twice at one time.
fn overlap(a: &MemberParams, b: &MemberParams) -> bool {
    let ends = |member: &MemberParams| member.leave.unwrap_or(Span::MAX);
    a.group == b.group && a.node == b.node && a.join < ends(b) && b.join < ends(a)
}
