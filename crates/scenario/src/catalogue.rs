//! Everything that scenarios can name, in one list: queues, kinds of flow, traffic sources, congestion controls.

use serde_json::{Value, json};
use sojourn_units::{DialectInfo, ParamInfo};

pub use crate::elsewhere::elsewhere;

/// What kind of thing an entry is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// A queue discipline.
    Queue,
    /// A kind of flow.
    Flow,
    /// A traffic source.
    Source,
    /// A congestion control algorithm.
    Congestion,
}

impl Family {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Family::Queue => "queue",
            Family::Flow => "flow",
            Family::Source => "source",
            Family::Congestion => "congestion control",
        }
    }
}

pub use crate::reader::FlowPart as Part;

/// One thing that scenarios can name.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What kind of thing it is.
    pub family: Family,
    /// The name in scenarios.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// The name as papers write it.
    pub title: &'static str,
    /// What it does.
    pub about: &'static str,
    /// Sources, revisions and deviations, in Markdown; empty where `about` says it all.
    pub sources: String,
    /// What takes parameters: one part, or the parts of a flow.
    pub parts: Vec<Part>,
    /// Keys beside the parameters: name and meaning.
    pub more: &'static [(&'static str, &'static str)],
}

impl Entry {
    /// Its dialects, the default one first. Of those that several parts of a flow have, the first stands for all.
    pub fn dialects(&self) -> Vec<&'static DialectInfo> {
        let mut dialects: Vec<&'static DialectInfo> = Vec::new();
        for dialect in self.parts.iter().flat_map(|part| part.dialects) {
            if dialects
                .iter()
                .all(|other| other.release != dialect.release)
            {
                dialects.push(dialect);
            }
        }
        dialects
    }

    /// The first sentence of what it does.
    pub fn first_sentence(&self) -> String {
        let text = self.about.lines().next().unwrap_or("");
        text.split_inclusive(". ")
            .next()
            .unwrap_or(text)
            .trim_end()
            .to_owned()
    }
}

/// A part as JSON, with every parameter and its default in each dialect.
pub fn part_to_json(part: &Part) -> Value {
    let params: Vec<Value> = part
        .params
        .iter()
        .map(|info| {
            let known = info.known_in(part.params, part.dialects);
            let default_of = |dialect: &DialectInfo| {
                let (value, source) = part.default_of(info, Some(dialect));
                let known = known.contains(&dialect.name);
                json!({"dialect": dialect.name, "default": value, "source": source, "known": known})
            };
            json!({
                "name": info.name,
                "doc": info.doc,
                "unit": info.kind().unit_text(),
                "default": part.default_of(info, None).0,
                "range_low": info.range_low,
                "range_high": info.range_high,
                "source": part.default_of(info, None).1,
                "dialects": part.dialects.iter().map(default_of).collect::<Vec<_>>(),
                "needs": info.needs_text(),
                "acts_when": info.acts,
                "set_by_dialect": info.set_by_dialect,
            })
        })
        .collect();
    let dialects: Vec<Value> = part
        .dialects
        .iter()
        .map(|d| json!({"name": d.name, "release": d.release, "doc": d.doc}))
        .collect();
    json!({"title": part.title, "dialects": dialects, "parameters": params})
}

fn part(
    title: &'static str,
    doc: &'static str,
    params: &'static [ParamInfo],
    dialects: &'static [DialectInfo],
) -> Vec<Part> {
    vec![Part {
        title,
        doc,
        params,
        dialects,
        implied: &[],
    }]
}

/// Every entry: queues, flows, sources, congestion controls.
pub fn entries() -> Vec<Entry> {
    let queues = sojourn_queue::registry::catalogue().iter().map(|e| Entry {
        family: Family::Queue,
        name: e.name,
        aliases: e.aliases,
        title: e.title,
        about: e.about,
        sources: e.sources(),
        parts: part(e.title, e.about, e.params, e.dialects),
        more: &[],
    });
    let flows = crate::reader::flow_kinds().into_iter().map(|kind| Entry {
        family: Family::Flow,
        name: kind.name,
        aliases: kind.aliases,
        title: kind.name,
        about: kind.doc,
        sources: String::new(),
        parts: kind.parts,
        more: kind.more,
    });
    let sources = sojourn_traffic::registry::catalogue()
        .iter()
        .map(|e| Entry {
            family: Family::Source,
            name: e.name,
            aliases: e.aliases,
            title: e.title,
            about: e.about,
            sources: String::new(),
            parts: part(e.title, e.about, e.params, e.dialects),
            more: &[],
        });
    let congestion = sojourn_cc::registry::all().iter().map(|a| Entry {
        family: Family::Congestion,
        name: a.name,
        aliases: a.aliases,
        title: a.title(),
        about: a.doc,
        sources: a.sources(),
        parts: part(a.name, a.doc, a.params, a.dialects),
        more: &[],
    });
    let media = sojourn_cc::media::MEDIA_ALGORITHMS.iter().map(|a| Entry {
        family: Family::Congestion,
        name: a.name,
        aliases: &[],
        title: a.title(),
        about: a.doc,
        sources: a.sources(),
        parts: part(a.name, a.doc, a.params, a.dialects),
        more: &[],
    });
    queues
        .chain(flows)
        .chain(sources)
        .chain(congestion)
        .chain(media)
        .collect()
}
