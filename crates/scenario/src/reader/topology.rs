//! Topologies in scenarios: their keys by kind, delays and round trips that agree, links and queues.

use std::collections::BTreeSet;

use sojourn_queue::registry::SpecError;
use sojourn_queue::sizing;
use sojourn_units::{Buffer, ParamInfo, ParamValue, Params, Rate, Span, Spec, nearest};

use super::pending::PendingQueue;
use super::queues::{self, dialect_notes, with_buffer};
use super::{Reader, TOPOLOGY_KINDS};
use crate::document::{Extra, TableRef, ValueRef};
use crate::error::{LabError, LabErrorKind, Place, Result};
use crate::model::{
    ChainParams, DumbbellParams, FlowGroup, LinkParams, ParkingLotParams, Scenario, Topology,
};
use crate::nominal::{Before, Nominal};

impl<'a> Reader<'a> {
    pub(super) fn topology(&mut self) -> Result<Topology> {
        let table = self.root.table("topology")?;
        let links = self.root.tables("links")?;
        let name = self.topology_kind(table.as_ref(), !links.is_empty())?;
        let extra = Extra {
            keys: &["kind"],
            dialect: None,
        };
        let topology = match name {
            "dumbbell" => {
                let mut params: DumbbellParams = table_params(table.as_ref(), extra)?;
                self.dumbbell_delays(table.as_ref(), &mut params)?;
                self.access_rate(table.as_ref(), params.rate, params.access_rate)?;
                let queues = (&params.queue, params.reverse_queue.as_ref());
                self.queues(table.as_ref(), queues, params.buffer)?;
                self.access_queue(table.as_ref(), &params.access_queue)?;
                Topology::Dumbbell(params)
            }
            "parking_lot" => {
                let params: ParkingLotParams = table_params(table.as_ref(), extra)?;
                self.access_rate(table.as_ref(), params.rate, params.access_rate)?;
                let queues = (&params.queue, params.reverse_queue.as_ref());
                self.queues(table.as_ref(), queues, params.buffer)?;
                self.access_queue(table.as_ref(), &params.access_queue)?;
                Topology::ParkingLot(params)
            }
            "chain" => {
                let params: ChainParams = table_params(table.as_ref(), extra)?;
                let queues = (&params.queue, params.reverse_queue.as_ref());
                self.queues(table.as_ref(), queues, params.buffer)?;
                Topology::Chain(params)
            }
            "graph" => {
                if let Some(table) = &table {
                    table.only(&["kind"])?;
                }
                Topology::Graph(self.links(&links)?)
            }
            other => {
                let names = TOPOLOGY_KINDS.iter().map(|kind| kind.0);
                return Err(table
                    .as_ref()
                    .unwrap_or(&self.root)
                    .error_on(
                        "kind",
                        LabErrorKind::UnknownName,
                        format!("unknown topology {other:?}"),
                    )
                    .nearest(nearest(other, names.clone()))
                    .allowed("kinds", names.collect::<Vec<_>>().join(", ")));
            }
        };
        Ok(topology)
    }

    /// The kind of the topology: as given, or as what is there suggests.
    fn topology_kind(&self, table: Option<&TableRef<'a>>, has_links: bool) -> Result<&'a str> {
        let kind = match table {
            Some(table) => table.text("kind")?,
            None => None,
        };
        let name = match kind {
            Some(kind) => kind,
            None if table.is_none() && has_links => "graph",
            None => "dumbbell",
        };
        if name != "graph"
            && let Some(links) = self.root.get("links")
        {
            return Err(links
                .error(
                    LabErrorKind::Contradiction,
                    format!("links are listed, but the topology is a {name}"),
                )
                .remedy("write kind = \"graph\" in [topology], or leave out [[links]]"));
        }
        if let Some(table) = table {
            self.keys_of_kind(table, name)?;
        }
        Ok(name)
    }

    /// Refuses what topologies of other kinds have. In a study the kind may be set far from the key, by an experiment.
    fn keys_of_kind(&self, table: &TableRef<'a>, kind: &str) -> Result<()> {
        let keys = |kind: &str| -> &[ParamInfo] {
            match kind {
                "dumbbell" => DumbbellParams::TABLE,
                "parking_lot" => ParkingLotParams::TABLE,
                "chain" => ChainParams::TABLE,
                _ => &[],
            }
        };
        let has = |kind: &str, key: &str| keys(kind).iter().any(|info| info.name == key);
        if TOPOLOGY_KINDS.iter().all(|known| known.0 != kind) {
            return Ok(());
        }
        for (key, value) in table.values() {
            let kinds = TOPOLOGY_KINDS.iter().map(|known| known.0);
            let others: Vec<&str> = kinds.filter(|kind| has(kind, key)).collect();
            if others.is_empty() || has(kind, key) {
                continue;
            }
            let set = table.get("kind");
            let place = match set.as_ref().map(ValueRef::place) {
                Some(Place::Line(line)) => format!(" (line {line})"),
                Some(Place::Argument { text, .. }) => format!(" ({text})"),
                _ => String::new(),
            };
            let problem = format!(
                "{key} is of kind {}, and the kind is {kind}{place}",
                others.join(", ")
            );
            let mut allowed = vec!["kind"];
            allowed.extend(keys(kind).iter().map(|info| info.name));
            let in_links = match (kind, key) {
                ("graph", "queue" | "reverse_queue" | "rate" | "reverse_rate" | "delay") => {
                    "write it in an entry of [[links]], or links.FROM-TO in a path"
                }
                ("graph", "buffer") => "write limit=... in the queue of each link",
                _ => "leave it out",
            };
            let remedy = match self.root.has("experiment") {
                true => format!(
                    "{in_links}; in a study with topologies of several kinds, write it in the experiments that have that kind"
                ),
                false => format!("{in_links}, or write another kind"),
            };
            return Err(value
                .error(LabErrorKind::Contradiction, problem)
                .allowed("allowed", allowed.join(", "))
                .remedy(remedy));
        }
        Ok(())
    }

    /// Makes delays and round trip of a dumbbell agree, or says that they cannot.
    fn dumbbell_delays(
        &self,
        table: Option<&TableRef<'a>>,
        params: &mut DumbbellParams,
    ) -> Result<()> {
        let Some(table) = table else {
            return Ok(());
        };
        let error = |key: &str, problem: String, remedy: &str| {
            Err(table
                .error_on(key, LabErrorKind::Contradiction, problem)
                .remedy(remedy))
        };
        let given = (params.bottleneck_delay, params.access_delay);
        if let (Some(bottleneck), Some(access)) = given {
            let sum = DumbbellParams::round_trip(bottleneck, access);
            let Some(sum) = sum.filter(|sum| params.set("rtt", &sum.to_string()).is_ok()) else {
                let problem = format!(
                    "a bottleneck of {bottleneck} and access links of {access} make too long a round trip"
                );
                return error("bottleneck_delay", problem, "make it at most 1h");
            };
            if let Some(rtt) = table.get("rtt")
                && Span::parse_text(&rtt.scalar()?) != Ok(sum)
            {
                let problem = format!(
                    "a bottleneck of {bottleneck} and access links of {access} make a round trip of {sum}"
                );
                return error("rtt", problem, "leave out one of the three");
            }
            return Ok(());
        }
        // Whether a bottleneck leaves room is seen when the round trips of the flows are known.
        match params.bottleneck_delay {
            None => Self::delays_within_rtt(table, params),
            Some(_) => Ok(()),
        }
    }

    fn delays_within_rtt(table: &TableRef<'a>, params: &DumbbellParams) -> Result<()> {
        if params.delays_fit() {
            return Ok(());
        }
        let key = match params.bottleneck_delay {
            Some(_) => "bottleneck_delay",
            None => "access_delay",
        };
        let problem = format!("this is more than an rtt of {} leaves", params.rtt);
        Err(table
            .error_on(key, LabErrorKind::Contradiction, problem)
            .remedy("make it shorter, or rtt longer"))
    }

    /// Refuses a bottleneck that leaves a flow no room in the round trip of the topology. Those with one of their own were compared
    /// with that.
    pub(super) fn shared_round_trip(&self, topology: &Topology, flows: &[FlowGroup]) -> Result<()> {
        match (topology, self.root.table("topology")?) {
            (Topology::Dumbbell(params), Some(table))
                if flows.iter().any(|flow| flow.place.rtt.is_none()) =>
            {
                Self::delays_within_rtt(&table, params)
            }
            _ => Ok(()),
        }
    }

    /// Access links are faster than the bottleneck unless they are given, and have to be possible.
    fn access_rate(
        &self,
        table: Option<&TableRef<'a>>,
        rate: Rate,
        access_rate: Option<Rate>,
    ) -> Result<()> {
        match table {
            Some(table) if access_rate.is_none() && rate > Rate::bps(u64::MAX / 10) => {
                let problem = format!("access links of 10 times {rate} are too fast");
                Err(table
                    .error_on("rate", LabErrorKind::BadValue, problem)
                    .remedy("make it slower, or give access_rate"))
            }
            _ => Ok(()),
        }
    }

    fn links(&mut self, tables: &[TableRef<'a>]) -> Result<Vec<LinkParams>> {
        if tables.is_empty() {
            return Err(self.root.missing(
                "links",
                "a graph has at least one [[links]] with from and to",
            ));
        }
        let mut links: Vec<LinkParams> = Vec::new();
        let mut known = BTreeSet::new();
        for table in tables {
            let link: LinkParams = table.params(Extra::default())?;
            table.required_text("from", "name the node at one end, such as from = \"left\"")?;
            table.required_text(
                "to",
                "name the node at the other end, such as to = \"right\"",
            )?;
            if link.from == link.to {
                let problem = format!("a link from {:?} to itself", link.from);
                return Err(table
                    .error_on("to", LabErrorKind::BadValue, problem)
                    .remedy("name two nodes"));
            }
            let mut ends = [link.from.clone(), link.to.clone()];
            ends.sort();
            if !known.insert(ends) {
                let problem = format!(
                    "there is already a link between {} and {}",
                    link.from, link.to
                );
                return Err(table.error(LabErrorKind::Contradiction, problem).remedy(
                    "a link has both directions; reverse_rate and reverse_queue set the way back",
                ));
            }
            let number = links.len();
            let forward = (&link.queue, None, Before::Link(number));
            self.queue(Some(table), "queue", forward)?;
            // The way back has the same queue unless it has its own, but not the same rate.
            let (key, queue) = match &link.reverse_queue {
                Some(queue) => ("reverse_queue", queue),
                None => ("queue", &link.queue),
            };
            self.queue(Some(table), key, (queue, None, Before::LinkBack(number)))?;
            links.push(link);
        }
        Ok(links)
    }

    /// Checks the queue of a topology and that of the way back, if it has its own.
    fn queues(
        &mut self,
        table: Option<&TableRef<'a>>,
        (there, back): (&Spec, Option<&Spec>),
        buffer: Option<Buffer>,
    ) -> Result<()> {
        self.queue(table, "queue", (there, buffer, Before::Forward))?;
        let (key, back) = match back {
            Some(back) => ("reverse_queue", back),
            None => ("queue", there),
        };
        self.queue(table, key, (back, buffer, Before::Reverse))
    }

    fn access_queue(&mut self, table: Option<&TableRef<'a>>, spec: &Spec) -> Result<()> {
        self.queue(table, "access_queue", (spec, None, Before::Access))
    }

    /// Checks a queue down to the last parameter, and notes dialects that fell back.
    pub(super) fn queue(
        &mut self,
        table: Option<&TableRef<'a>>,
        key: &'static str,
        (spec, buffer, before): (&Spec, Option<Buffer>, Before),
    ) -> Result<()> {
        let queue = PendingQueue {
            table: table.unwrap_or(&self.root).clone(),
            key,
            given: spec.clone(),
            buffer,
            before,
        };
        let full = with_buffer(spec, buffer);
        if !sizing::depends_on_link(&full) {
            return self.check_queue(&queue, &full);
        }
        self.check_queue(&queue, &sizing::without_link(&full))?;
        self.pending.push(queue);
        Ok(())
    }

    /// Checks the queues whose limits depend on links, now that everything is known.
    pub(super) fn pending_queues(&mut self, scenario: &Scenario) -> Result<()> {
        let nominal = Nominal::of(scenario);
        for queue in std::mem::take(&mut self.pending) {
            let full = with_buffer(&queue.given, queue.buffer);
            match nominal.sized(&full, queue.before) {
                Ok((spec, _)) => self.check_queue(&queue, &spec)?,
                Err(error) => {
                    let own = sizing::depends_on_link(&queue.given);
                    let key = if own { queue.key } else { "buffer" };
                    let reason = match &error {
                        SpecError::Param { error, .. } if !own => LabError::from_param(error),
                        error => LabError::from_queue(error),
                    };
                    let table = &queue.table;
                    return Err(table.error_on(key, reason.kind(), "").with_text_of(&reason));
                }
            }
        }
        Ok(())
    }

    /// Checks a queue with its limits, and notes dialects that fell back.
    fn check_queue(&mut self, queue: &PendingQueue<'a>, spec: &Spec) -> Result<()> {
        let (table, key) = (&queue.table, queue.key);
        let own_limit = queue.given.get("limit");
        match queues::check(spec, self.dialect) {
            Ok(()) => {
                for note in dialect_notes(spec, self.dialect) {
                    self.note(note);
                }
                Ok(())
            }
            Err(error) if queues::lacks_dialect(&error, self.dialect) => {
                let (name, allowed) = queues::dialects_of(&error);
                let what = match table.path() {
                    "" => format!("topology.{key}"),
                    path => format!("{path}.{key}"),
                };
                Err(self.lacks_dialect(name, &what, &allowed))
            }
            Err(SpecError::Param { error, .. })
                if error.key() == "limit" && queue.buffer.is_some() && own_limit.is_none() =>
            {
                let reason = LabError::from_param(&error);
                Err(table
                    .error_on("buffer", reason.kind(), "")
                    .with_text_of(&reason))
            }
            Err(error) => {
                let mut reason = LabError::from_queue(&error);
                if let Some(remedy) = queues::misplaced(spec, &error) {
                    reason = reason.remedy(remedy);
                }
                if let SpecError::Param { discipline, error } = &error
                    && let Some(value) = table.get(key)
                    && let Some(wrong) = queues::value_of(&value, discipline, error.key())
                {
                    return Err(wrong.error(reason.kind(), "").with_text_of(&reason));
                }
                Err(table.error_on(key, reason.kind(), "").with_text_of(&reason))
            }
        }
    }
}

fn table_params<P: Params>(table: Option<&TableRef<'_>>, extra: Extra<'_>) -> Result<P> {
    table.map_or_else(|| Ok(P::default()), |table| table.params(extra))
}

#[cfg(test)]
mod tests {
    use crate::document::Document;
    use crate::error::Result;
    use crate::model::{Scenario, Topology};

    fn read(link: &str) -> Result<Scenario> {
        let text = format!(
            "flows = [{{ kind = \"reno\", from = \"a\", to = \"b\" }}]\n[[links]]\nfrom = \"a\"\nto = \"b\"\n{link}"
        );
        Scenario::from_document(&Document::parse(&text, "lab.toml")?)
    }

    #[test]
    fn a_link_takes_both_rates_in_one_value() {
        let scenario = read("rate = \"50/10Mbps\"").unwrap();
        let Topology::Graph(links) = &scenario.topology else {
            panic!("no graph");
        };
        assert_eq!(links[0].rate.to_string(), "50Mbps");
        assert_eq!(links[0].reverse_rate.unwrap().to_string(), "10Mbps");
    }

    #[test]
    fn mistakes_in_values_of_two_directions_name_the_line_and_the_fix() {
        let cases = [
            (
                "rate = \"50/10Mbps\"\nreverse_rate = \"5Mbps\"",
                "lab.toml:5: links[0].rate: \"50/10Mbps\" gives both directions, and links[0].reverse_rate is given, too; leave out links[0].reverse_rate, or write \"50Mbps\"",
            ),
            (
                "rate = \"50/10Mpbs\"",
                "lab.toml:5: links[0].rate: \"50Mpbs\" is not a rate: write 50Mbps",
            ),
            (
                "delay = \"5/10ms\"",
                "lab.toml:5: links[0].delay: \"5/10ms\" has two directions, and delay has one value; write one value, such as \"5ms\"",
            ),
        ];
        for (link, expected) in cases {
            assert_eq!(read(link).unwrap_err().to_string(), expected);
        }
    }
}
