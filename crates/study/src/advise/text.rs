//! The study file of a request: what runs, and what `sojourn study` repeats.

use std::fmt::Write as _;

use sojourn_units::{Rate, Span};

use super::link::Varying;
use super::panel::{How, Setting};
use super::request::{Platform, Request};
use super::uses::Use;

/// The experiment of the study.
const EXPERIMENT: &str = "panel";
/// Its factor.
pub(super) const FACTOR: &str = "setting";

/// Rates of the links at home and beyond the access link: the first that is at least twice as fast as the access link.
const FAST: [Rate; 3] = [Rate::gbps(1), Rate::gbps(10), Rate::gbps(100)];
/// The warm-up: the time in which long transfers leave slow start and settle, and round trips on top of it.
const WARMUP: Span = Span::from_secs(10);
const WARMUP_ROUND_TRIPS: u64 = 20;
/// Measured times in seconds: usual, quick, and on a link that varies.
const MEASURED_S: u64 = 60;
const QUICK_S: u64 = 20;
const VARYING_S: u64 = 240;
const QUICK_VARYING_S: u64 = 120;
/// The least measured time on a fast link, and the greatest on a slow one.
const SHORTEST_S: u64 = 30;
const LONGEST_S: u64 = 600;
/// At this rate a run of the usual time has as many packets as a faster, shorter one.
const USUAL_BPS: u64 = 100_000_000;
/// Bits of ten pages, each beside transfers that take half of the link.
const TEN_PAGES_BITS: u64 = 10 * 2 * 8 * 2_650_000;

/// The warm-up and the measured time of a request.
pub(super) fn times(request: &Request) -> (Span, Span) {
    let link = &request.link;
    let warmup = WARMUP + link.rtt * WARMUP_ROUND_TRIPS;
    let bps = link.down.as_bps().max(link.up.as_bps()).max(1);
    let usual = match (&link.varying, request.quick) {
        (None, false) => (MEASURED_S * USUAL_BPS / bps).clamp(SHORTEST_S, MEASURED_S),
        (None, true) => QUICK_S,
        (Some(_), false) => VARYING_S,
        (Some(_), true) => QUICK_VARYING_S,
    };
    // Ten pages, or half as many in the quick form, and the pauses between.
    let pages = TEN_PAGES_BITS / link.down.as_bps().max(1) + 20;
    let seconds = match (request.uses.contains(&Use::Web), request.quick) {
        (false, _) => usual,
        (true, false) => usual.max(pages).min(LONGEST_S),
        (true, true) => usual.max(pages / 2).min(LONGEST_S),
    };
    (warmup, Span::from_secs(seconds))
}

/// The file.
pub(super) fn study(request: &Request, panel: &[Setting]) -> String {
    let mut text = head(request);
    links(&mut text, request, panel);
    for one in &request.uses {
        text.push_str(&one.flows());
    }
    if let Some(varying) = &request.link.varying {
        changes(&mut text, request, varying);
    }
    experiment(&mut text, request, panel);
    for one in &request.uses {
        table(&mut text, *one, &request.uses);
    }
    text
}

fn head(request: &Request) -> String {
    let link = &request.link;
    let (warmup, measured) = times(request);
    let uses: Vec<&str> = request.uses.iter().map(|one| one.name()).collect();
    let names = uses.join(", ");
    let title = format!(
        "Settings for {}/{}, {}: {names}",
        link.down, link.up, request.platform
    );
    let mut text = String::new();
    let _ = writeln!(
        text,
        "# What `sojourn advise` runs: written by\n#\n#   {}\n#\n# sojourn study FILE repeats the runs. docs/how-to/get-advice.md says what the model is and is not.\n",
        request.command
    );
    let _ = writeln!(
        text,
        "# audit: allow not-steady because intervals over replications decide, and a user does not wait for steady states."
    );
    if link.varying.is_some() {
        let _ = writeln!(
            text,
            "# audit: allow several-links because the modem and the router are both on the way, as in a home."
        );
    }
    let _ = writeln!(
        text,
        "\nname = \"advise\"\n\n[study]\ntitle = \"{title}\"\nquestion = \"Which queue and settings suit a link of {}/{} with a round trip of {} best?\"",
        link.down, link.up, link.rtt
    );
    let _ = writeln!(
        text,
        "\n[run]\nduration = \"{}\"\nwarmup = \"{warmup}\"\nreplications = {}\nseed = {}\nstart_spread = \"2s\"",
        warmup + measured,
        request.replications,
        request.seed
    );
    text
}

/// The links: servers, the operator's end, the modem, the router, and a host per use.
fn links(text: &mut String, request: &Request, panel: &[Setting]) {
    let link = &request.link;
    let most = link.down.max(link.up);
    let fast = FAST
        .into_iter()
        .find(|fast| fast.as_bps() / 2 >= most.as_bps())
        .unwrap_or(FAST[2]);
    let _ = write!(
        text,
        "\n[topology]\nkind = \"graph\"\n\n# The access link. Its queues are the operator's and the modem's, which a router does not see.\n[[links]]\n\
         from = \"isp\"\nto = \"modem\"\nrate = \"{}\"\nreverse_rate = \"{}\"\ndelay = \"0s\"\nqueue = \"droptail limit={}p\"\nbottleneck = true\n",
        link.down, link.up, link.buffer
    );
    // What a router does to a direction it does at this link: towards the home on an ifb device, away from it on the device itself.
    let first = panel.first().filter(|setting| setting.how == How::Unshaped);
    let queue = first.map_or("pfifo dialect=linux limit=1000p", |setting| &setting.down);
    let _ = write!(
        text,
        "\n# The router's device towards the modem, faster than the access link.\n[[links]]\nfrom = \"modem\"\nto = \"router\"\nrate = \"{fast}\"\n\
         delay = \"0s\"\nqueue = \"{queue}\"\n"
    );
    let mut end = |from: &str, to: &str, delay: Span| {
        let _ = write!(
            text,
            "\n[[links]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{fast}\"\ndelay = \"{delay}\"\nqueue = \"droptail limit=1000000p\"\nobserved = false\n"
        );
    };
    for one in &request.uses {
        end(&format!("far-{one}"), "isp", link.rtt / 2);
        end("router", &format!("home-{one}"), Span::ZERO);
    }
}

/// How the rate of the access link varies.
fn changes(text: &mut String, request: &Request, varying: &Varying) {
    let link = &request.link;
    let ways = [("isp-modem", link.down), ("modem-isp", link.up)];
    match varying {
        Varying::Steps { least, every } => {
            let shares: Vec<f64> = Varying::steps(*least).collect();
            let period = *every * u64::try_from(shares.len()).unwrap_or(1);
            let _ = writeln!(
                text,
                "\n# The rate of the access link, in steps of {every}."
            );
            for (way, rate) in ways {
                for (share, number) in shares.iter().zip(0_u64..) {
                    let _ = write!(
                        text,
                        "\n[[changes]]\nlink = \"{way}\"\nat = \"{}\"\nevery = \"{period}\"\nrate = \"{}\"\n",
                        *every * number,
                        Rate::kbps(rate.scale(*share).as_bps() / 1000)
                    );
                }
            }
        }
        Varying::Trace { down, up } => {
            let ways = [("isp-modem", Some(down)), ("modem-isp", up.as_ref())];
            for (way, gaps) in ways
                .into_iter()
                .filter_map(|(way, gaps)| Some((way, gaps?)))
            {
                let _ = write!(
                    text,
                    "\n[[opportunities]]\nlink = \"{way}\"\nrandom_offset = true\ngaps = \"{gaps}\"\n"
                );
            }
        }
    }
}

fn experiment(text: &mut String, request: &Request, panel: &[Setting]) {
    let _ = write!(
        text,
        "\n[[experiment]]\nname = \"{EXPERIMENT}\"\ntitle = \"The panel\"\n\n[[experiment.factor]]\nname = \"{FACTOR}\"\ntitle = \"Setting\"\ncompare = true\n"
    );
    for setting in panel {
        let link = match setting.how {
            How::Operator => "isp-modem",
            How::Unshaped | How::Shaped { .. } => "modem-router",
        };
        let _ = write!(
            text,
            "\n[[experiment.factor.values]]\nlabel = \"{}\"\n\n[experiment.factor.values.set]\n\"links.{link}.queue\" = \"{}\"\n\"links.{link}.reverse_queue\" = \"{}\"\n",
            setting.label, setting.down, setting.up
        );
        if request.platform == Platform::Docsis {
            for one in &request.uses {
                let _ = write!(text, "{}", one.marks(setting.marked));
            }
        }
    }
}

fn table(text: &mut String, one: Use, uses: &[Use]) {
    let metrics: Vec<String> = one
        .metrics(uses)
        .iter()
        .map(|metric| format!("\"{metric}\""))
        .collect();
    let shown = one.shown();
    let _ = write!(
        text,
        "\n[[table]]\nid = \"{one}\"\ntitle = \"{}\"\nexperiment = \"{EXPERIMENT}\"\nrows = [\"{FACTOR}\"]\nmetrics = [{}]\n",
        shown.title,
        metrics.join(", ")
    );
}
