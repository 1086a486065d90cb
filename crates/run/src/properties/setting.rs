//! A scenario of one bottleneck in a few numbers, which can be made smaller.

use sojourn_scenario::document::Document;
use sojourn_scenario::model::Scenario;
use sojourn_scenario::{LabError, Resolved};
use sojourn_units::Span;
use std::fmt::Write as _;

/// A scenario of one bottleneck.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setting {
    /// Queue of the bottleneck.
    pub queue: String,
    /// The flow.
    pub flow: String,
    /// How many there are of it.
    pub count: u32,
    /// Bytes that each of them transfers, if not without end.
    pub bytes: Option<u64>,
    /// Other flows.
    pub others: Vec<String>,
    /// Rate of the bottleneck, Mbps.
    pub rate_mbps: u64,
    /// Base round-trip time, milliseconds.
    pub rtt_ms: u64,
    /// Simulated time, milliseconds.
    pub duration_ms: u64,
    /// What is not measured of it, milliseconds.
    pub warmup_ms: u64,
    /// All flows start at once.
    pub at_once: bool,
    /// Seed.
    pub seed: u64,
    /// Packets in a thousand that are lost on the way there, and back.
    pub loss_permille: (u64, u64),
    /// Packets in a thousand that arrive twice.
    pub duplicate_permille: u64,
    /// Largest extra delay of a packet, milliseconds; packets may overtake each other.
    pub jitter_ms: u64,
}

impl Setting {
    /// Packets that the queue of [`Setting::path`] holds: three times what fills the path.
    pub const PATH_LIMIT: u32 = 100;

    /// One flow on a path of 10 Mbps and 40 ms, whose queue holds three times what fills it. With `mark_at` packets in the queue, those that
    /// arrive are marked, if they can be.
    pub fn path(flow: &str, mark_at: Option<u32>) -> Setting {
        let limit = Setting::PATH_LIMIT;
        let queue = match mark_at {
            Some(packets) => format!("step threshold={packets}p limit={limit}p"),
            None => format!("droptail limit={limit}p"),
        };
        Setting {
            queue,
            flow: flow.to_owned(),
            count: 1,
            bytes: None,
            others: Vec::new(),
            rate_mbps: 10,
            rtt_ms: 40,
            duration_ms: 60_000,
            warmup_ms: 20_000,
            at_once: false,
            seed: 1,
            loss_permille: (0, 0),
            duplicate_permille: 0,
            jitter_ms: 0,
        }
    }

    /// One flow with ECN on a path of 10 Mbps and 40 ms, whose queue marks from 20 packets on and holds 100.
    pub fn marking(flow: &str) -> Setting {
        Setting::path(&format!("{flow} ecn=true"), Some(20))
    }

    /// A transfer of 300 kB over a path that loses, doubles and delays packets.
    pub fn transfer(flow: &str, seed: u64) -> Setting {
        Setting {
            queue: "droptail limit=30p".to_owned(),
            bytes: Some(300_000),
            duration_ms: 2_000_000,
            warmup_ms: 0,
            at_once: true,
            seed,
            loss_permille: (30, 30),
            duplicate_permille: 10,
            jitter_ms: 3,
            ..Setting::path(flow, None)
        }
    }

    /// Four flows of a kind.
    pub fn four(flow: &str) -> Setting {
        Setting {
            count: 4,
            duration_ms: 90_000,
            warmup_ms: 30_000,
            ..Setting::path(flow, None)
        }
    }

    /// One flow on a path of 100 Mbps and 50 ms that loses one packet in a hundred.
    pub fn lossy(flow: &str) -> Setting {
        Setting {
            queue: "droptail limit=1000p".to_owned(),
            rate_mbps: 100,
            rtt_ms: 50,
            loss_permille: (10, 0),
            ..Setting::path(flow, None)
        }
    }

    /// A queue under flows of several kinds, with and without impairments.
    pub fn mixed(queue: &str, seed: u64) -> Setting {
        let hard = seed.is_multiple_of(2);
        Setting {
            queue: queue.to_owned(),
            flow: "cubic".to_owned(),
            count: 2,
            others: ["cbr 2Mbps size=700B", "reno ecn=true"]
                .map(str::to_owned)
                .to_vec(),
            rtt_ms: 20,
            duration_ms: 6000,
            warmup_ms: 1000,
            seed,
            loss_permille: if hard { (5, 5) } else { (0, 0) },
            duplicate_permille: if hard { 5 } else { 0 },
            jitter_ms: if hard { 2 } else { 0 },
            ..Setting::path("cubic", None)
        }
    }

    /// How long it runs.
    pub fn duration(&self) -> Span {
        Span::from_ms(self.duration_ms)
    }

    /// Milliseconds that are measured.
    pub fn measured_ms(&self) -> u64 {
        self.duration_ms.saturating_sub(self.warmup_ms)
    }

    /// Bytes that the bottleneck carries while it is measured.
    pub fn capacity_bytes(&self) -> u64 {
        self.measured_ms() * self.rate_mbps * 1000 / 8
    }

    /// The scenario as a file.
    pub fn toml(&self, eager: bool) -> String {
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let mut text = format!(
            "[run]\nduration = \"{}\"\nwarmup = \"{}\"\nreplications = 1\nseed = {}\n",
            self.duration(),
            Span::from_ms(self.warmup_ms),
            self.seed
        );
        let mut add = |line: String| {
            text.push_str(&line);
            text.push('\n');
        };
        if self.at_once {
            add("start_spread = \"0s\"".to_owned());
        }
        if eager {
            add("eager = true".to_owned());
        }
        add(format!(
            "\n[topology]\nrate = \"{}Mbps\"\nrtt = \"{}ms\"\nqueue = \"{}\"",
            self.rate_mbps,
            self.rtt_ms,
            quoted(&self.queue)
        ));
        let flow = self.bytes.map_or_else(
            || self.flow.clone(),
            |bytes| format!("{} bytes={bytes}B", self.flow),
        );
        let own = (self.count > 0).then(|| match self.count {
            1 => flow,
            count => format!("{count}*{flow}"),
        });
        for flow in own.iter().chain(&self.others) {
            add(format!("\n[[flows]]\nspec = \"{}\"", quoted(flow)));
        }
        if let Some(impaired) = self.impaired("left-right", self.loss_permille.0, true) {
            add(impaired);
        }
        if let Some(impaired) = self.impaired("right-left", self.loss_permille.1, false) {
            add(impaired);
        }
        text
    }

    /// The impairments of a link, if there are any.
    fn impaired(&self, link: &str, loss: u64, forward: bool) -> Option<String> {
        let mut keys = String::new();
        // Writing to a string cannot fail.
        if loss > 0 {
            let _ = write!(keys, "\nloss = \"{}%\"", tenths(loss));
        }
        if forward && self.duplicate_permille > 0 {
            let _ = write!(
                keys,
                "\nduplicate = \"{}%\"",
                tenths(self.duplicate_permille)
            );
        }
        if forward && self.jitter_ms > 0 {
            let _ = write!(keys, "\njitter = \"{}ms\"\nreorder = true", self.jitter_ms);
        }
        (!keys.is_empty()).then(|| format!("\n[[impairments]]\nlink = \"{link}\"{keys}"))
    }

    /// The scenario, resolved.
    ///
    /// # Errors
    /// If the queue or a flow cannot be had.
    pub fn resolved(&self, eager: bool) -> Result<Resolved, LabError> {
        let document = Document::parse(&self.toml(eager), "scenario.toml")?;
        Scenario::from_document(&document)?.resolve()
    }

    /// Settings with less in them: fewer impairments, flows, bytes, less time, a smaller seed.
    pub fn smaller(&self) -> impl Iterator<Item = Setting> + use<> {
        let with = |change: &dyn Fn(&mut Setting)| {
            let mut changed = self.clone();
            change(&mut changed);
            changed
        };
        let mut all = vec![
            with(&|own| own.loss_permille.0 = 0),
            with(&|own| own.loss_permille.1 = 0),
            with(&|own| own.duplicate_permille = 0),
            with(&|own| own.jitter_ms = 0),
        ];
        for number in 0..self.others.len() {
            all.push(with(&|own| drop(own.others.remove(number))));
        }
        if !self.others.is_empty() {
            all.push(with(&|own| own.count = 0));
        }
        all.push(with(&|own| own.count = (own.count / 2).max(1)));
        all.push(with(&|own| own.count = own.count.saturating_sub(1).max(1)));
        for (times, parts) in [(1, 2), (3, 4)] {
            all.push(with(&|own| {
                let shorter = |ms: u64| ms * times / parts / 1000 * 1000;
                own.duration_ms = shorter(own.duration_ms).max(1000);
                own.warmup_ms = shorter(own.warmup_ms).min(own.duration_ms - 500);
            }));
            all.push(with(&|own| {
                own.bytes = own
                    .bytes
                    .map(|bytes| (bytes * times / parts / 1000 * 1000).max(1000));
            }));
        }
        all.push(with(&|own| own.seed = 1));
        all.push(with(&|own| own.seed = (own.seed / 2).max(1)));
        let own = self.clone();
        all.into_iter().filter(move |setting| *setting != own)
    }
}

/// A number of thousandths as a percentage.
fn tenths(permille: u64) -> String {
    match permille % 10 {
        0 => (permille / 10).to_string(),
        rest => format!("{}.{rest}", permille / 10),
    }
}
