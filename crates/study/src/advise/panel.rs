//! The settings that are compared, for each platform.

use sojourn_units::{Rate, Span};

use super::link::Link;
use super::request::{Platform, Request};

/// A setting of the panel.
#[derive(Clone, PartialEq, Debug)]
pub struct Setting {
    /// Its name in tables: `CAKE 95 %`.
    pub label: String,
    /// What it is, as a part of a sentence: `CAKE on the router, shaped to 95 % of the rate`.
    pub about: String,
    /// What is pasted or asked for.
    pub how: How,
    /// The queue towards the home.
    pub down: String,
    /// The queue away from it.
    pub up: String,
    /// Whether voice and game are marked for a low-latency queue.
    pub marked: bool,
    /// How much there is to set up and to understand: the lower, the simpler. Settings that differ in a number alone have the same.
    pub effort: u32,
}

/// How a setting is made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum How {
    /// Nothing is shaped: the queues are those of the network device.
    Unshaped,
    /// A shaper on the router; the rates down and up.
    Shaped {
        /// Towards the home.
        down: Rate,
        /// Away from it.
        up: Rate,
    },
    /// At the modem and at the operator's end, not on the router.
    Operator,
}

/// Shares of the rate to which a shaper on a fixed link is set. OpenWrt's guide advises 80 to 95 % of the measured rate.
const SHARES: [f64; 3] = [0.95, 0.9, 0.85];
/// Those on a link that varies, to which its least rate is added.
const SHARES_VARYING: [f64; 3] = [0.95, 0.75, 0.5];
/// The share of the rate for queues that are in the panel for comparison.
const SHARE_COMPARED: f64 = 0.9;
/// From this ratio of the rates on, ACKs take so much of the way up that filtering them is tried.
const ASYMMETRIC: f64 = 10.0;
/// The length of a shaper's bursts as a time; SQM's default (`SHAPER_BURST_DUR_US`).
const BURST_US: u64 = 1000;
/// Bytes of a full packet with its Ethernet header.
const FULL: u64 = 1514;
/// Target of CoDel, RFC 8289 section 4.2, in microseconds; at slow rates, the time of one and a half full packets, as SQM and CAKE have it.
const TARGET_US: u64 = 5000;
/// Interval of CoDel, RFC 8289 section 4.2, in microseconds; at slow rates longer by as much as the target, as SQM has it.
const INTERVAL_US: u64 = 100_000;

/// Efforts: nothing to do; one qdisc; one qdisc that shapes, too; that with one more option; a qdisc in a shaper.
const NOTHING: u32 = 0;
const QDISC: u32 = 1;
const SHAPING_QDISC: u32 = 2;
const OPTION_MORE: u32 = 3;
const QDISC_IN_SHAPER: u32 = 4;

/// The settings for a request. The first is what is there today.
pub fn panel(request: &Request) -> Vec<Setting> {
    let link = &request.link;
    match request.platform {
        Platform::Linux => router(link, Scripts::Tc),
        Platform::Openwrt => router(link, Scripts::Sqm),
        Platform::Docsis => docsis(link),
    }
}

/// Which tools a router has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scripts {
    Tc,
    Sqm,
}

/// A share of the rates, and how it is called.
struct Share {
    name: String,
    down: Rate,
    up: Rate,
}

impl Share {
    fn of(link: &Link, share: f64) -> Share {
        Share {
            name: percent(share),
            down: scaled(link.down, share),
            up: scaled(link.up, share),
        }
    }

    /// The shares that are tried on a link.
    fn all(link: &Link) -> Vec<Share> {
        let Some((down, up)) = link.least() else {
            return SHARES.iter().map(|share| Share::of(link, *share)).collect();
        };
        let each = SHARES_VARYING.iter().map(|share| Share::of(link, *share));
        let low = Share {
            name: "lowest".to_owned(),
            down: scaled(link.down, SHARES_VARYING[0] * down),
            up: scaled(link.up, SHARES_VARYING[0] * up),
        };
        each.chain([low]).collect()
    }

    /// As a part of a sentence.
    fn words(&self) -> String {
        let what = match self.name.as_str() {
            "lowest" => "95 % of the lowest rate".to_owned(),
            share => format!("{share} of the rate"),
        };
        format!("{what} ({} down, {} up)", self.down, self.up)
    }
}

/// `95 %`.
fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// A share of a rate, in whole kilobits per second, as SQM counts them.
fn scaled(rate: Rate, share: f64) -> Rate {
    Rate::kbps((rate.scale(share).as_bps() / 1000).max(8))
}

/// Queues of the network device alone.
fn unshaped(label: &str, about: &str, queue: &str, effort: u32) -> Setting {
    Setting {
        label: label.to_owned(),
        about: about.to_owned(),
        how: How::Unshaped,
        down: queue.to_owned(),
        up: queue.to_owned(),
        marked: false,
        effort,
    }
}

/// Settings of a router, whose modem has a queue of its own behind it.
fn router(link: &Link, scripts: Scripts) -> Vec<Setting> {
    let fifo = "pfifo dialect=linux limit=1000p".to_owned();
    let fq_codel = "fq_codel dialect=linux".to_owned();
    let mut all = match scripts {
        Scripts::Tc => vec![
            unshaped("no shaper", "pfifo_fast without a shaper", &fifo, NOTHING),
            unshaped(
                "FQ-CoDel alone",
                "FQ-CoDel without a shaper",
                &fq_codel,
                QDISC,
            ),
        ],
        // OpenWrt has FQ-CoDel on every device.
        Scripts::Sqm => vec![unshaped(
            "no SQM",
            "FQ-CoDel without a shaper",
            &fq_codel,
            NOTHING,
        )],
    };
    let shares = Share::all(link);
    all.extend(shares.iter().map(|share| cake(share, false)));
    if link.down.as_bps_f64() >= ASYMMETRIC * link.up.as_bps_f64() {
        all.extend(shares.iter().take(1).map(|share| cake(share, true)));
    }
    let shaped = |name: &str, queue: &str, share: &Share| {
        let inner = |rate: Rate| match scripts {
            Scripts::Tc => tbf(rate, &inner(queue, rate)),
            Scripts::Sqm => htb(rate, &inner(queue, rate)),
        };
        Setting {
            label: format!("{name} {}", share.name),
            about: format!("{name} on the router, shaped to {}", share.words()),
            how: How::Shaped {
                down: share.down,
                up: share.up,
            },
            down: inner(share.down),
            up: inner(share.up),
            marked: false,
            effort: QDISC_IN_SHAPER,
        }
    };
    all.extend(
        shares
            .iter()
            .map(|share| shaped("FQ-CoDel", "fq_codel", share)),
    );
    if scripts == Scripts::Tc {
        let share = match link.least() {
            None => Share::of(link, SHARE_COMPARED),
            Some(_) => Share::of(link, SHARES_VARYING[1]),
        };
        for (name, queue) in [
            ("FQ-PIE", "fq_pie"),
            ("CoDel", "codel"),
            ("PIE", "pie"),
            ("pfifo", "pfifo"),
        ] {
            all.push(shaped(name, queue, &share));
        }
    }
    all
}

/// CAKE as `nat` makes it see the hosts of a home, and `ingress` what the modem's queue gets.
fn cake(share: &Share, filters: bool) -> Setting {
    let (name, also, filter) = match filters {
        true => (
            " +ACK",
            ", with its ACK filter on the way up",
            " ack_filter=conservative",
        ),
        false => ("", "", ""),
    };
    Setting {
        label: format!("CAKE {}{name}", share.name),
        about: format!("CAKE on the router, shaped to {}{also}", share.words()),
        how: How::Shaped {
            down: share.down,
            up: share.up,
        },
        down: format!(
            "cake bandwidth={} tins=besteffort isolation=dual-dsthost ingress=true",
            share.down
        ),
        up: format!(
            "cake bandwidth={} tins=besteffort isolation=dual-srchost{filter}",
            share.up
        ),
        marked: false,
        effort: match filters {
            true => OPTION_MORE,
            false => SHAPING_QDISC,
        },
    }
}

/// The queue inside a shaper.
fn inner(queue: &str, rate: Rate) -> String {
    let target = rate.serialization(FULL * 3 / 2).as_ps() / 1_000_000;
    match queue {
        "fq_codel" | "codel" if target > TARGET_US => {
            let interval = INTERVAL_US - TARGET_US + target;
            format!("{queue} dialect=linux target={target}us interval={interval}us")
        }
        queue => format!("{queue} dialect=linux"),
    }
}

/// Bytes of a shaper's bursts: two full packets at least.
fn burst(rate: Rate) -> u64 {
    rate.bytes_in(Span::from_us(BURST_US)).max(2 * FULL)
}

fn tbf(rate: Rate, inner: &str) -> String {
    let burst = burst(rate);
    // A limit that never acts: the queue inside has its own.
    format!("tbf dialect=linux rate={rate} burst={burst}B limit=100MB each=({inner})")
}

fn htb(rate: Rate, inner: &str) -> String {
    let burst = burst(rate);
    format!(
        "htb dialect=linux rate={rate} classes={rate} burst={burst}B cburst={burst}B each=({inner})"
    )
}

/// Settings of a cable line.
fn docsis(link: &Link) -> Vec<Setting> {
    let deep = format!("droptail limit={}p", link.buffer);
    let short = |rate: Rate| format!("droptail limit={}B", bytes(rate, 50).max(10 * FULL));
    // DOCSIS 3.1, C.1.2.17: a buffer of 100 ms, as the dialect has it at 10 Mbps.
    let pie = |rate: Rate| {
        format!(
            "pie dialect=rfc8034 limit={}B",
            bytes(rate, 100).max(20 * FULL)
        )
    };
    // With `ect=any` what is marked for low latency is what has a codepoint: here voice and game alone, as NQB (RFC 9956) would mark them.
    let dual = "dualpi2 dialect=linux ect=any".to_owned();
    // What takes more of the operator, or of applications as well, stands further down.
    let mut effort = 0..;
    let mut setting = |label: &str, about: &str, (down, up): (String, String), marked| Setting {
        label: label.to_owned(),
        about: about.to_owned(),
        how: How::Operator,
        down,
        up,
        marked,
        effort: effort.next().unwrap_or(u32::MAX),
    };
    vec![
        setting(
            "no AQM",
            "a FIFO without AQM at both ends",
            (deep.clone(), deep.clone()),
            false,
        ),
        setting(
            "buffer 50 ms",
            "a FIFO of 50 ms at both ends (Buffer Control)",
            (short(link.down), short(link.up)),
            false,
        ),
        setting(
            "PIE up",
            "DOCSIS-PIE in the modem alone",
            (deep, pie(link.up)),
            false,
        ),
        setting(
            "PIE both ways",
            "DOCSIS-PIE in the modem and at the operator's end",
            (pie(link.down), pie(link.up)),
            false,
        ),
        setting(
            "LLD, unmarked",
            "the dual queue of Low Latency DOCSIS, with no application that marks its packets",
            (dual.clone(), dual.clone()),
            false,
        ),
        setting(
            "LLD, marked",
            "the dual queue of Low Latency DOCSIS, with voice and game in its low-latency queue",
            (dual.clone(), dual),
            true,
        ),
    ]
}

/// Bytes that a rate sends in some milliseconds.
fn bytes(rate: Rate, ms: u64) -> u64 {
    rate.bytes_in(Span::from_ms(ms))
}
