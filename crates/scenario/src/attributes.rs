//! ns-3 attribute files: the XML that ns-3's `ConfigStore` writes and reads, as defaults of what runs in dialect ns3_24.
//!
//! ```xml
//! <ns3>
//!  <default name="ns3::RedQueue::MinTh" value="5"/>
//! </ns3>
//! ```
//!
//! Source: ns-3.24 src/config-store (behaviour), and the attributes of the classes in [`ATTRIBUTES`]. A `default` of a class that is not
//! among them is left out, as are `global` and `value` elements. A note names each of these. What the scenario itself says of a
//! component goes before its attributes, as it does in an ns-3 program that sets an attribute of an object.

use crate::dialect::Simulator;
use crate::error::{LabError, LabErrorKind, Place, Result};
use crate::model::{FlowGroup, Scenario, Topology};
use roxmltree::{Document, Node};
use sojourn_queue::registry;
use sojourn_units::{ParamValue, Spec, SpecValue, nearest};

/// Which component an attribute is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Component {
    /// A queue of this name.
    Queue(&'static str),
    /// TCP flows.
    Tcp,
    /// On/off applications, over UDP or TCP.
    OnOff,
}

/// How the text of a value becomes ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// As it stands: a number, a flag, a rate.
    Plain,
    /// A number of bytes.
    Bytes,
    /// A number of packets or segments.
    Packets,
    /// A number of packets, or of bytes if the `Mode` of the class says so.
    Length,
    /// A time with its unit, or a number of seconds.
    Time,
    /// The inverse of a number.
    Inverse,
    /// The opposite of a flag.
    Not,
    /// A random variable: uniform or constant, in seconds; the two bounds.
    Variable(&'static str, &'static str),
    /// Not a value of ours, but what others are read by.
    Mode,
}

/// An attribute that is read.
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    /// Its class and name, as in `ns3::RedQueue::MinTh`.
    pub name: (&'static str, &'static str),
    /// What it is of.
    pub component: Component,
    /// Our name of it.
    pub key: &'static str,
    form: Form,
}

const fn attribute(
    class: &'static str,
    name: &'static str,
    component: Component,
    key: &'static str,
    form: Form,
) -> Attribute {
    Attribute {
        name: (class, name),
        component,
        key,
        form,
    }
}

const DROPTAIL: Component = Component::Queue("droptail");
const RED: Component = Component::Queue("red");

/// Every attribute that is read.
pub const ATTRIBUTES: [Attribute; 38] = [
    attribute("DropTailQueue", "Mode", DROPTAIL, "", Form::Mode),
    attribute(
        "DropTailQueue",
        "MaxPackets",
        DROPTAIL,
        "limit",
        Form::Packets,
    ),
    attribute("DropTailQueue", "MaxBytes", DROPTAIL, "limit", Form::Bytes),
    attribute("RedQueue", "Mode", RED, "", Form::Mode),
    attribute("RedQueue", "MeanPktSize", RED, "avpkt", Form::Bytes),
    attribute("RedQueue", "MinTh", RED, "min", Form::Length),
    attribute("RedQueue", "MaxTh", RED, "max", Form::Length),
    attribute("RedQueue", "QueueLimit", RED, "limit", Form::Length),
    attribute("RedQueue", "QW", RED, "weight", Form::Plain),
    attribute("RedQueue", "LInterm", RED, "probability", Form::Inverse),
    attribute("RedQueue", "Gentle", RED, "gentle", Form::Plain),
    attribute("RedQueue", "Wait", RED, "wait", Form::Plain),
    attribute("RedQueue", "LinkBandwidth", RED, "bandwidth", Form::Plain),
    attribute("RedQueue", "LinkDelay", RED, "link_delay", Form::Time),
    attribute(
        "TcpSocket",
        "SndBufSize",
        Component::Tcp,
        "send_buffer",
        Form::Bytes,
    ),
    attribute(
        "TcpSocket",
        "RcvBufSize",
        Component::Tcp,
        "receive_buffer",
        Form::Bytes,
    ),
    attribute(
        "TcpSocket",
        "SegmentSize",
        Component::Tcp,
        "segment",
        Form::Bytes,
    ),
    attribute(
        "TcpSocket",
        "InitialSlowStartThreshold",
        Component::Tcp,
        "initial_ssthresh",
        Form::Bytes,
    ),
    attribute(
        "TcpSocket",
        "InitialCwnd",
        Component::Tcp,
        "initial_window",
        Form::Packets,
    ),
    attribute(
        "TcpSocket",
        "ConnTimeout",
        Component::Tcp,
        "connect_timeout",
        Form::Time,
    ),
    attribute(
        "TcpSocket",
        "ConnCount",
        Component::Tcp,
        "connect_tries",
        Form::Plain,
    ),
    attribute(
        "TcpSocket",
        "DelAckTimeout",
        Component::Tcp,
        "delayed_ack_timeout",
        Form::Time,
    ),
    attribute(
        "TcpSocket",
        "DelAckCount",
        Component::Tcp,
        "delayed_ack",
        Form::Plain,
    ),
    attribute(
        "TcpSocket",
        "TcpNoDelay",
        Component::Tcp,
        "nagle",
        Form::Not,
    ),
    attribute(
        "TcpSocket",
        "PersistTimeout",
        Component::Tcp,
        "persist_timeout",
        Form::Time,
    ),
    attribute(
        "TcpSocketBase",
        "MaxSegLifetime",
        Component::Tcp,
        "segment_lifetime",
        Form::Time,
    ),
    attribute(
        "TcpSocketBase",
        "MaxWindowSize",
        Component::Tcp,
        "max_window",
        Form::Bytes,
    ),
    attribute(
        "TcpSocketBase",
        "WindowScaling",
        Component::Tcp,
        "window_scaling",
        Form::Plain,
    ),
    attribute(
        "TcpSocketBase",
        "Timestamp",
        Component::Tcp,
        "timestamps",
        Form::Plain,
    ),
    attribute(
        "TcpSocketBase",
        "MinRto",
        Component::Tcp,
        "rto_min",
        Form::Time,
    ),
    attribute(
        "TcpSocketBase",
        "ClockGranularity",
        Component::Tcp,
        "clock_granularity",
        Form::Time,
    ),
    attribute(
        "TcpTahoe",
        "ReTxThreshold",
        Component::Tcp,
        "dupacks",
        Form::Plain,
    ),
    attribute(
        "RttEstimator",
        "InitialEstimation",
        Component::Tcp,
        "rtt_initial",
        Form::Time,
    ),
    attribute(
        "OnOffApplication",
        "DataRate",
        Component::OnOff,
        "rate",
        Form::Plain,
    ),
    attribute(
        "OnOffApplication",
        "PacketSize",
        Component::OnOff,
        "size",
        Form::Bytes,
    ),
    attribute(
        "OnOffApplication",
        "OnTime",
        Component::OnOff,
        "on_min",
        Form::Variable("on_min", "on_max"),
    ),
    attribute(
        "OnOffApplication",
        "OffTime",
        Component::OnOff,
        "off_min",
        Form::Variable("off_min", "off_max"),
    ),
    attribute(
        "OnOffApplication",
        "MaxBytes",
        Component::OnOff,
        "bytes",
        Form::Bytes,
    ),
];

/// The defaults of a file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Defaults {
    values: Vec<(Component, &'static str, String)>,
    /// What was left out.
    pub notes: Vec<String>,
}

/// Reads the text of an attribute file, which messages call `file`.
///
/// # Errors
/// If it is not XML, or an attribute of a class that is known does not exist or has a value that cannot be read.
pub fn read(text: &str, file: &str) -> Result<Defaults> {
    let document = Document::parse(text).map_err(|error| {
        LabError::new(LabErrorKind::Syntax, format!("this is not XML: {error}"))
            .in_file(file)
            .at(&line(error.pos().row))
            .remedy("write what ns-3's ConfigStore writes: <ns3> with <default name=\"...\" value=\"...\"/> in it")
    })?;
    let mut reader = Reader {
        document: &document,
        file,
        defaults: Defaults::default(),
    };
    let elements: Vec<Node<'_, '_>> = document
        .descendants()
        .filter(Node::is_element)
        .filter(|node| node.tag_name().name() != "ns3")
        .collect();
    // Modes tell how others are read, wherever they stand.
    let modes = reader.modes(&elements)?;
    for element in elements {
        reader.element(element, &modes)?;
    }
    reader.lengths_of_modes(&modes)?;
    Ok(reader.defaults)
}

/// The lengths that ns-3.24's queues have by themselves, as numbers; in the mode of bytes they are bytes (red-queue.cc and
/// drop-tail-queue.cc, GetTypeId).
const LENGTHS: [(&str, &str, &str); 3] = [
    ("RedQueue", "MinTh", "5"),
    ("RedQueue", "MaxTh", "15"),
    ("DropTailQueue", "MaxBytes", "6553500"),
];

struct Reader<'a> {
    document: &'a Document<'a>,
    file: &'a str,
    defaults: Defaults,
}

impl Reader<'_> {
    fn error(&self, node: Node<'_, '_>, kind: LabErrorKind, problem: String) -> LabError {
        let row = self.document.text_pos_at(node.range().start).row;
        LabError::new(kind, problem)
            .in_file(self.file)
            .at(&line(row))
    }

    /// The name and value of a `default` element.
    fn pair<'n>(&self, node: Node<'n, '_>) -> Result<(&'n str, &'n str)> {
        let get = |key: &str| {
            node.attribute(key).ok_or_else(|| {
                self.error(
                    node,
                    LabErrorKind::MissingKey,
                    format!("<default> without {key}"),
                )
                .remedy("write <default name=\"ns3::Class::Attribute\" value=\"...\"/>")
            })
        };
        Ok((get("name")?, get("value")?))
    }

    /// The classes whose lengths are bytes.
    fn modes(&self, elements: &[Node<'_, '_>]) -> Result<Vec<&'static str>> {
        let mut in_bytes = Vec::new();
        for node in elements.iter().filter(|n| n.tag_name().name() == "default") {
            let (name, value) = self.pair(*node)?;
            let mode = find(name).filter(|attribute| attribute.form == Form::Mode);
            if let Some(attribute) = mode {
                match value {
                    "QUEUE_MODE_PACKETS" => {}
                    "QUEUE_MODE_BYTES" => in_bytes.push(attribute.name.0),
                    _ => {
                        return Err(self
                            .error(
                                *node,
                                LabErrorKind::BadValue,
                                format!("{name}: unknown mode {value:?}"),
                            )
                            .allowed("modes", "QUEUE_MODE_PACKETS, QUEUE_MODE_BYTES"));
                    }
                }
            }
        }
        Ok(in_bytes)
    }

    /// Where a file says that lengths are bytes, those that it does not give are ns-3's own numbers, as bytes. RED's limit has to be
    /// given: 25 bytes hold a packet in ns-3.24, which lets in whatever comes while less waits, and none here.
    fn lengths_of_modes(&mut self, in_bytes: &[&'static str]) -> Result<()> {
        let mut values = self.defaults.values.iter();
        let limited = values.any(|one| (one.0, one.1) == (RED, "limit"));
        if in_bytes.contains(&"RedQueue") && !limited {
            let problem =
                "ns3::RedQueue::Mode is QUEUE_MODE_BYTES, and the limit would be 25 bytes";
            return Err(LabError::new(LabErrorKind::Contradiction, problem)
                .in_file(self.file)
                .remedy("give ns3::RedQueue::QueueLimit, in bytes"));
        }
        for (class, name, value) in LENGTHS {
            let own = ATTRIBUTES.iter().find(|one| one.name == (class, name));
            let Some(own) = own.filter(|_| in_bytes.contains(&class)) else {
                continue;
            };
            let component = own.component;
            for (key, text) in convert(own, value, true).unwrap_or_default() {
                let given = |one: &(Component, &str, String)| (one.0, one.1) == (component, key);
                if !self.defaults.values.iter().any(given) {
                    self.defaults.values.push((component, key, text));
                }
            }
        }
        Ok(())
    }

    fn element(&mut self, node: Node<'_, '_>, in_bytes: &[&'static str]) -> Result<()> {
        let tag = node.tag_name().name();
        if tag != "default" {
            let name = node.attribute("name").or(node.attribute("path"));
            self.leave_out(&format!("<{tag}> {}", name.unwrap_or_default()));
            return Ok(());
        }
        let (name, value) = self.pair(node)?;
        let Some(found) = find(name) else {
            return self.unknown(node, name);
        };
        let class = found.name.0;
        let bytes = in_bytes.contains(&class);
        // DropTailQueue has a limit for either mode. Only one of them holds.
        let other_mode = class == "DropTailQueue" && (found.form == Form::Bytes) != bytes;
        if found.form == Form::Mode || other_mode {
            return Ok(());
        }
        let values = convert(found, value.trim(), bytes).ok_or_else(|| {
            self.error(
                node,
                LabErrorKind::BadValue,
                format!("{name}: {value:?} cannot be read"),
            )
            .remedy(match found.form {
                Form::Variable(..) => {
                    "write ns3::UniformRandomVariable[Min=0|Max=1] or ns3::ConstantRandomVariable[Constant=1]"
                }
                Form::Time => "write a number and its unit, such as 200ms",
                _ => "write a number",
            })
        })?;
        for (key, text) in values {
            self.defaults.values.push((found.component, key, text));
        }
        Ok(())
    }

    fn unknown(&mut self, node: Node<'_, '_>, name: &str) -> Result<()> {
        let class = name.strip_prefix("ns3::").and_then(|n| n.split_once("::"));
        let known: Vec<String> = ATTRIBUTES
            .iter()
            .filter(|attribute| class.is_some_and(|(class, _)| class == attribute.name.0))
            .map(Attribute::full_name)
            .collect();
        if known.is_empty() {
            self.leave_out(name);
            return Ok(());
        }
        let names = || known.iter().map(String::as_str);
        Err(self
            .error(
                node,
                LabErrorKind::UnknownName,
                format!("the attribute {name} is not read"),
            )
            .nearest(nearest(name, names()))
            .allowed("attributes", names().collect::<Vec<_>>().join(", ")))
    }

    fn leave_out(&mut self, what: &str) {
        self.defaults.notes.push(format!(
            "{}: {what} says nothing to what runs here, and is left out",
            self.file
        ));
    }
}

impl Attribute {
    /// Its full name: `ns3::RedQueue::MinTh`.
    pub fn full_name(&self) -> String {
        format!("ns3::{}::{}", self.name.0, self.name.1)
    }
}

fn line(row: u32) -> Place {
    usize::try_from(row).map_or(Place::Unplaced, Place::Line)
}

fn find(name: &str) -> Option<&'static Attribute> {
    ATTRIBUTES
        .iter()
        .find(|attribute| attribute.full_name() == name)
}

/// A value in our words; of a random variable, both bounds. `None` if it cannot be read.
fn convert(
    attribute: &Attribute,
    value: &str,
    in_bytes: bool,
) -> Option<Vec<(&'static str, String)>> {
    let whole = |unit: &str| {
        let number: f64 = value.parse().ok()?;
        (number.fract() == 0.0 && number >= 0.0).then(|| format!("{number}{unit}"))
    };
    let text = match attribute.form {
        Form::Plain => value.to_owned(),
        Form::Bytes => whole("B")?,
        Form::Packets => whole("p")?,
        Form::Length => whole(if in_bytes { "B" } else { "p" })?,
        Form::Time => time(value)?,
        Form::Inverse => {
            let number: f64 = value.parse().ok()?;
            (number > 0.0).then(|| (1.0 / number).to_string())?
        }
        Form::Not => match value {
            "true" | "1" => "false".to_owned(),
            "false" | "0" => "true".to_owned(),
            _ => return None,
        },
        Form::Variable(least, most) => {
            let bounds = variable(value)?;
            return Some(vec![(least, bounds.0), (most, bounds.1)]);
        }
        Form::Mode => return Some(Vec::new()),
    };
    let key = attribute.key;
    // No limit is written as zero.
    let unlimited = key == "bytes" && text == "0B";
    Some(if unlimited {
        Vec::new()
    } else {
        vec![(key, text)]
    })
}

/// A time as ns-3 writes it: `+200000000.0ns`, `200ms`, or a number of seconds.
fn time(value: &str) -> Option<String> {
    let value = value.strip_prefix('+').unwrap_or(value);
    let end = value
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(value.len());
    let (number, unit) = value.split_at(end);
    let number: f64 = number.parse().ok()?;
    let unit = match unit {
        "" => "s",
        "s" | "ms" | "us" | "ns" | "ps" | "min" | "h" => unit,
        _ => return None,
    };
    Some(format!("{number}{unit}"))
}

/// The bounds of a random variable, in seconds.
fn variable(value: &str) -> Option<(String, String)> {
    let (kind, rest) = value.strip_prefix("ns3::")?.split_once('[')?;
    let given = rest
        .strip_suffix(']')?
        .split('|')
        .filter_map(|pair| pair.split_once('='));
    let get = |key: &str, default: &str| {
        let text = given
            .clone()
            .find(|(name, _)| *name == key)
            .map_or(default, |(_, text)| text);
        let number: f64 = text.parse().ok()?;
        Some(format!("{number}s"))
    };
    match kind {
        "ConstantRandomVariable" => {
            let constant = get("Constant", "0")?;
            Some((constant.clone(), constant))
        }
        "UniformRandomVariable" => Some((get("Min", "0")?, get("Max", "1")?)),
        _ => None,
    }
}

impl Defaults {
    /// Gives the defaults to every component of a scenario that runs in dialect ns3_24 and says nothing else itself.
    ///
    /// # Errors
    /// If nothing in the scenario runs in that dialect.
    pub fn apply(&self, scenario: &mut Scenario) -> Result<()> {
        let whole = is_ns3_24(scenario.dialect.as_deref());
        let mut used = false;
        let queues: Vec<&mut Spec> = match &mut scenario.topology {
            Topology::Dumbbell(p) => std::iter::once(&mut p.queue)
                .chain(&mut p.reverse_queue)
                .chain([&mut p.access_queue])
                .collect(),
            Topology::ParkingLot(p) => std::iter::once(&mut p.queue)
                .chain(&mut p.reverse_queue)
                .chain([&mut p.access_queue])
                .collect(),
            Topology::Chain(p) => std::iter::once(&mut p.queue)
                .chain(&mut p.reverse_queue)
                .collect(),
            Topology::Graph(links) => links
                .iter_mut()
                .flat_map(|link| std::iter::once(&mut link.queue).chain(&mut link.reverse_queue))
                .collect(),
        };
        for queue in queues {
            let own = queue.get("dialect").map(SpecValue::to_text);
            if runs(whole, own.as_deref()) {
                used = true;
                let name = registry::find(&queue.name).map_or("", |entry| entry.name);
                self.give_to_spec(queue, |component| component == Component::Queue(name));
            }
        }
        for flow in &mut scenario.flows {
            let own = flow.args.iter().find(|(key, _)| key == "dialect");
            if runs(whole, own.map(|(_, name)| name.as_str())) {
                used = true;
                self.give_to_flow(flow);
            }
        }
        match used {
            true => Ok(()),
            false => Err(LabError::new(
                LabErrorKind::Contradiction,
                "attributes of ns-3.24 are given, and nothing runs in dialect ns3_24",
            )
            .key("attributes")
            .remedy("write dialect = \"ns3_24\", or leave them out")),
        }
    }

    fn give_to_spec(&self, spec: &mut Spec, takes: impl Fn(Component) -> bool) {
        for (component, key, text) in &self.values {
            if takes(*component) && spec.get(key).is_none() {
                let value = SpecValue::Text(text.clone());
                spec.args.push(((*key).to_owned(), value));
            }
        }
    }

    fn give_to_flow(&self, flow: &mut FlowGroup) {
        let on_off = |name: &str| matches!(name, "on_off" | "onoff");
        let is_tcp = flow.kind == "tahoe";
        let takes = |component: Component| match component {
            Component::Tcp => is_tcp,
            Component::OnOff => on_off(&flow.kind),
            Component::Queue(_) => false,
        };
        let mut given = Vec::new();
        for (component, key, text) in &self.values {
            if takes(*component) && !flow.args.iter().any(|(own, _)| own == key) {
                given.push(((*key).to_owned(), text.clone()));
            }
        }
        flow.args.extend(given);
        if let Some((_, source)) = flow.args.iter_mut().find(|(key, _)| key == "source")
            && let Ok(mut spec) = Spec::parse_text(source)
            && on_off(&spec.name)
        {
            self.give_to_spec(&mut spec, |component| component == Component::OnOff);
            *source = format!("({spec})");
        }
    }
}

/// Whether that is the dialect of ns-3.24.
fn is_ns3_24(dialect: Option<&str>) -> bool {
    Simulator::of(dialect) == Some(Simulator::Ns3_24)
}

/// Whether a component with such a dialect of its own, in a scenario that is or is not in dialect ns3_24, runs in it.
fn runs(whole: bool, own: Option<&str>) -> bool {
    own.map_or(whole, |own| is_ns3_24(Some(own)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document;

    const FILE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<ns3>
 <default name="ns3::TcpSocketBase::MaxWindowSize" value="64000"/>
 <default name="ns3::TcpSocketBase::MinRto" value="+1000000000.0ns"/>
 <default name="ns3::TcpSocket::TcpNoDelay" value="true"/>
 <default name="ns3::DropTailQueue::MaxPackets" value="100"/>
 <default name="ns3::DropTailQueue::MaxBytes" value="6553500"/>
 <default name="ns3::RedQueue::MinTh" value="2"/>
 <default name="ns3::RedQueue::LInterm" value="50"/>
 <default name="ns3::RedQueue::LinkBandwidth" value="1.5Mbps"/>
 <default name="ns3::OnOffApplication::OnTime" value="ns3::UniformRandomVariable[Min=0|Max=2]"/>
 <default name="ns3::OnOffApplication::MaxBytes" value="0"/>
 <default name="ns3::WifiPhy::Channel" value="1"/>
 <global name="RngRun" value="1"/>
</ns3>
"#;

    fn scenario(text: &str) -> Scenario {
        let document = document::Document::parse(text, "lab.toml").unwrap();
        Scenario::from_document(&document).unwrap()
    }

    #[test]
    fn defaults_go_to_what_runs_in_the_dialect_and_says_nothing_itself() {
        let defaults = read(FILE, "ns3.xml").unwrap();
        let mut scenario = scenario(
            "dialect = \"ns3_24\"\nflows = [\"tahoe source=(on_off rate=1Mbps)\", \"on_off 1Mbps on_max=1s\"]\n\
             [topology]\nqueue = \"red min=4p\"\nreverse_queue = \"droptail\"\n",
        );
        defaults.apply(&mut scenario).unwrap();
        let Topology::Dumbbell(topology) = &scenario.topology else {
            panic!("a dumbbell")
        };
        assert_eq!(
            topology.queue.to_string(),
            "red min=4p probability=0.02 bandwidth=1.5Mbps"
        );
        let reverse = topology.reverse_queue.as_ref().unwrap();
        assert_eq!(reverse.to_string(), "droptail limit=100p");
        let arg = |flow: usize, key: &str| {
            let args = &scenario.flows[flow].args;
            args.iter()
                .find(|(name, _)| name == key)
                .map(|(_, text)| text.clone())
        };
        assert_eq!(arg(0, "max_window").as_deref(), Some("64000B"));
        assert_eq!(arg(0, "rto_min").as_deref(), Some("1000000000ns"));
        assert_eq!(arg(0, "nagle").as_deref(), Some("false"));
        assert_eq!(
            arg(0, "source").as_deref(),
            Some("(on_off rate=1Mbps on_min=0s on_max=2s)")
        );
        assert_eq!(arg(1, "on_max").as_deref(), Some("1s"));
        assert_eq!(arg(1, "max_window"), None);
        assert_eq!(defaults.notes.len(), 2, "{:?}", defaults.notes);
    }

    #[test]
    fn a_mode_of_bytes_alone_makes_bytes_of_the_lengths_that_are_not_given() {
        let text = "<ns3><default name=\"ns3::RedQueue::Mode\" value=\"QUEUE_MODE_BYTES\"/>\
                    <default name=\"ns3::RedQueue::QueueLimit\" value=\"30000\"/>\
                    <default name=\"ns3::DropTailQueue::Mode\" value=\"QUEUE_MODE_BYTES\"/></ns3>";
        let mut scenario = scenario(
            "dialect = \"ns3_24\"\nflows = [\"on_off 1Mbps\"]\n[topology]\nqueue = \"red\"\nreverse_queue = \"droptail\"\n",
        );
        read(text, "ns3.xml").unwrap().apply(&mut scenario).unwrap();
        let Topology::Dumbbell(topology) = &scenario.topology else {
            panic!("a dumbbell")
        };
        assert_eq!(
            topology.queue.to_string(),
            "red limit=30000B min=5B max=15B"
        );
        let reverse = topology.reverse_queue.as_ref().unwrap();
        assert_eq!(reverse.to_string(), "droptail limit=6553500B");
        let alone = "<ns3><default name=\"ns3::RedQueue::Mode\" value=\"QUEUE_MODE_BYTES\"/></ns3>";
        let error = read(alone, "ns3.xml").unwrap_err().to_string();
        assert!(error.contains("give ns3::RedQueue::QueueLimit"), "{error}");
    }

    #[test]
    fn mistakes_name_the_line_and_the_remedy() {
        let error = |text: &str| read(text, "ns3.xml").unwrap_err().to_string();
        assert!(error("<ns3>\n<default").contains(": this is not XML: "));
        assert!(error("<ns3>\n<default name=\"ns3::RedQueue::MinThh\" value=\"1\"/></ns3>").starts_with(
            "ns3.xml:2: the attribute ns3::RedQueue::MinThh is not read, did you mean \"ns3::RedQueue::MinTh\"?"
        ));
        assert!(
            error("<ns3><default name=\"ns3::RedQueue::MinTh\" value=\"1.5\"/></ns3>")
                .contains("\"1.5\" cannot be read")
        );
        assert!(
            error("<ns3><default name=\"ns3::RedQueue::MinTh\"/></ns3>").contains("without value")
        );
        let mut other = scenario("flows = [\"reno\"]");
        let refused = read(FILE, "ns3.xml").unwrap().apply(&mut other);
        assert!(refused.unwrap_err().to_string().contains("ns3_24"));
    }
}
