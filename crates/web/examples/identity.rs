//! Runs every queue, every kind of flow and every congestion control of the catalogue, and prints each scenario with the checksum of its
//! outcome, one JSON object a line. `web/tests/identity.mjs` runs the same scenarios in WebAssembly and compares.

#![allow(clippy::print_stdout, reason = "what it prints is what it is for")]

use serde_json::{Value, json};
use sojourn_scenario::catalogue::{Family, entries};
use sojourn_web::Module;

/// What stands around what is tried.
const FRAME: &str =
    "[run]\nduration = \"6s\"\nwarmup = \"1s\"\nreplications = 1\n[topology]\nrtt = \"30ms\"\n";

/// A scenario with a queue.
fn with_queue(queue: &str) -> String {
    format!(
        "flows = [\"2*cubic\", \"prague\", \"bbr\", \"poisson 1Mbps\"]\n{FRAME}rate = \"8Mbps\"\nqueue = \"{queue}\"\n"
    )
}

/// A scenario with a flow, which also changes rate and queue on the way.
fn with_flow(flow: &str) -> String {
    format!(
        "flows = [\"2*{flow}\", \"reno\"]\n{FRAME}rate = \"6Mbps\"\nqueue = \"red ecn=true\"\n\
         [[changes]]\nat = \"2s\"\nlink = \"left-right\"\nrate = \"3Mbps\"\n\
         [[changes]]\nat = \"4s\"\nlink = \"left-right\"\nqueue = \"fq_codel\"\n"
    )
}

fn call(module: &mut Module, request: &Value) -> Value {
    module.input = request.to_string().into_bytes();
    module.call();
    serde_json::from_slice(&module.output).unwrap_or_default()
}

/// The forms in which an entry of the catalogue may be usable, the plain one first.
fn forms(family: Family, name: &str) -> Vec<String> {
    let queue = |more: &str| with_queue(&format!("{name}{more}"));
    match family {
        Family::Queue => vec![
            queue(""),
            queue(" rate=6Mbps burst=20kB"),
            queue(" rate=6Mbps"),
            queue(" classes=4Mbps,4Mbps"),
        ],
        Family::Flow | Family::Source => vec![
            with_flow(name),
            with_flow(&format!("{name} rate=1Mbps")),
            with_flow(&format!("{name} packets=1000p interval=2ms")),
            with_flow(&format!("{name} dialect=ns2")),
            format!("dialect = \"ns2\"\nflows = [\"2*{name}\"]\n{FRAME}rate = \"4Mbps\"\n"),
            with_flow(&format!("{name} sizes=web_search load=30%")),
            with_flow(&format!("{name} sizes=web_search")),
            with_flow(&format!("tcp source={name}")),
            with_flow(&format!("rtp source={name}")),
            session(name),
        ],
        Family::Congestion => vec![
            with_flow(&format!("tcp cc={name}")),
            with_flow(&format!("quic cc={name}")),
            with_flow(&format!("rtp source=video control={name}")),
        ],
    }
}

/// A flow to a multicast group.
fn session(name: &str) -> String {
    format!(
        "[run]\nduration = \"6s\"\nwarmup = \"1s\"\nreplications = 1\n[topology]\nkind = \"graph\"\n\
         [[links]]\nfrom = \"a\"\nto = \"b\"\nrate = \"2Mbps\"\n[[links]]\nfrom = \"b\"\nto = \"c\"\nrate = \"2Mbps\"\n\
         [[groups]]\nname = \"all\"\n[[members]]\ngroup = \"all\"\nnode = \"a\"\n[[members]]\ngroup = \"all\"\nnode = \"b\"\n\
         [[members]]\ngroup = \"all\"\nnode = \"c\"\n[[flows]]\nkind = \"{name}\"\nfrom = \"a\"\nto = \"all\"\n\
         source = \"(cbr rate=200kbps size=1000B)\"\n"
    )
}

fn main() {
    let mut module = Module::default();
    for entry in entries() {
        let (family, name) = (entry.family.name(), entry.name);
        let mut refusals = Vec::new();
        let found = forms(entry.family, name).into_iter().find_map(|toml| {
            let answer = call(&mut module, &json!({ "op": "outcome", "toml": toml }));
            match answer["digest"].as_str() {
                Some(digest) => Some((toml, digest.to_owned())),
                None => {
                    refusals.push(answer["error"]["text"].to_string());
                    None
                }
            }
        });
        let line = match found {
            Some((toml, digest)) => {
                json!({ "family": family, "name": name, "toml": toml, "digest": digest })
            }
            None => json!({ "family": family, "name": name, "refusals": refusals }),
        };
        println!("{line}");
    }
}
