//! ns-3.24's own runs of ten nodes with TCP Tahoe and UDP over RED or DropTail: the published lines to the printed digit, and
//! packet traces line by line (`tests/data/ns3-3.24`).

use sojourn_lab::compile::compile;
use sojourn_lab::document::Document;
use sojourn_lab::model::Scenario;
use sojourn_lab::run::run;

const LINKS: [(&str, &str, &str, u64); 9] = [
    ("a1", "a2", "5Mbps", 3),
    ("b1", "b2", "5Mbps", 3),
    ("c1", "c2", "5bps", 3),
    ("d1", "d2", "5Mbps", 3),
    ("a1", "k1", "3Mbps", 7),
    ("b1", "k1", "3Mbps", 7),
    ("c1", "k2", "3Mbps", 7),
    ("d1", "k2", "3Mbps", 7),
    ("k1", "k2", "3Mbps", 12),
];

/// The runs by configuration set: limit of DropTail, RED's settings, TCP's largest window field.
const CONFIGS: [(&str, &str, &str); 3] = [
    ("droptail limit=100p", "red limit=25p min=5p max=15p avpkt=400B weight=0.002 bandwidth=1.5Mbps", "64000B"),
    ("droptail limit=50p", "red limit=20p min=2p max=10p avpkt=500B weight=0.002 bandwidth=1.5Mbps", "64000B"),
    ("droptail limit=150p", "red limit=30p min=10p max=18p avpkt=500B weight=0.004 bandwidth=2Mbps", "32000B"),
];

fn scenario(config: usize, red: bool, rtt: u64, rate: u64, duration: &str) -> Scenario {
    let (droptail, red_spec, window) = CONFIGS[config - 1];
    let queue = if red { red_spec } else { droptail };
    let mut text = format!(
        "name = \"ten nodes\"\ndialect = \"ns3_24\"\n[run]\nduration = \"{duration}\"\nwarmup = \"0s\"\nreplications = 1\n"
    );
    for (from, to, speed, delay) in LINKS {
        text += &format!(
            "[[links]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{speed}\"\ndelay = \"{}ms\"\nqueue = \"{queue}\"\n",
            delay * rtt
        );
    }
    let uniform = "on_min=0s on_max=1s off_min=0s off_max=1s";
    let mut flow = |kind: &str, label: &str, from: &str, to: &str, rest: &str| {
        text += &format!(
            "[[flows]]\nkind = \"{kind}\"\nlabel = \"{label}\"\nfrom = \"{from}\"\nto = \"{to}\"\nstart = \"0s\"\nstop = \"500s\"\n{rest}\n"
        );
    };
    let udp = |kbps: u64| format!("rate = \"{}kbps\"\non_min = \"0s\"\non_max = \"1s\"\noff_min = \"0s\"\noff_max = \"1s\"", kbps * rate);
    flow("on_off", "udp", "a2", "c2", &udp(580));
    flow("on_off", "udp", "d2", "c2", &udp(330));
    let tcp = format!("max_window = \"{window}\"\nsource = \"(on_off rate={}kbps {uniform})\"", 580 * rate);
    flow("tahoe", "tcp", "b2", "d2", &tcp);
    let document = Document::parse(&text, "ten-nodes.toml").unwrap();
    Scenario::from_document(&document).unwrap()
}

#[test]
fn dbg_lines() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/ns3-3.24/ten-nodes-published.csv")).unwrap();
    let mut exact = 0;
    for line in text.lines().skip(1) {
        let f: Vec<&str> = line.split(',').collect();
        let (config, red, rtt, rate) = (f[0].parse().unwrap(), f[1] == "red", f[2].parse().unwrap(), f[3].parse().unwrap());
        let outcome = run(&scenario(config, red, rtt, rate, "150000s"), 0).unwrap();
        let time = outcome.active().as_secs_f64();
        let sum = |l: &str| outcome.flows.iter().filter(|f| f.label == l).map(|f| f.goodput_bytes).sum::<u64>();
        let ours = [g6(sum("tcp") as f64 / time), g6(sum("udp") as f64 / time), g6(time)];
        let theirs = [g6(f[4].parse().unwrap()), g6(f[5].parse().unwrap()), g6(f[6].parse().unwrap())];
        exact += usize::from(ours == theirs);
        eprintln!("{} {line} -> {ours:?} tcp {} {time}", ours == theirs, sum("tcp"));
    }
    eprintln!("exact {exact}");
}

fn g6(x: f64) -> String {
    let e = x.abs().log10().floor() as i32;
    let d = (5 - e).max(0) as usize;
    format!("{:.*}", d, x)
}
