//! The lines to paste: `tc`, OpenWrt's SQM, or what to ask the operator for.

use std::fmt::Write as _;

use sojourn_queue::registry;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_units::{Rate, Spec};

use super::panel::{How, Setting};
use super::plan::Plan;
use super::request::{Platform, Request};
use super::uses::Use;

/// Longest name of a network device in Linux.
const LONGEST_DEVICE: usize = 15;
/// Bytes of an Ethernet header, which a packet has when a queue of Linux sees it.
const ETHERNET_HEADER: u64 = 14;
/// The least packet on Ethernet and DOCSIS, the overhead included; tc-cake(8), keyword `docsis`.
const LEAST_PACKET: u64 = 64;

/// The lines that make a setting of a plan. Those that begin with `#` say what the others do.
///
/// # Errors
/// When a queue of the setting has no lines of `tc`, which is a bug.
pub fn lines(plan: &Plan, setting: &Setting) -> Result<Vec<String>> {
    let request = &plan.request;
    match (request.platform, setting.how) {
        (Platform::Linux, How::Unshaped) => unshaped(request, setting),
        (Platform::Linux, _) => shaped(request, setting),
        (Platform::Openwrt, How::Shaped { down, up }) => Ok(sqm(request, setting, (down, up))),
        (Platform::Openwrt, _) => Ok(vec![
            format!("# /etc/config/sqm: no queue for {0}, or:", request.device),
            format!("uci set sqm.{}.enabled='0'", section(&request.device)),
            "uci commit sqm && /etc/init.d/sqm restart".to_owned(),
        ]),
        (Platform::Docsis, _) => Ok(asked(request, setting)),
    }
}

/// The name of the device on which a router shapes what comes in from a device.
pub fn ifb(device: &str) -> String {
    let name = format!("ifb4{device}");
    name.chars().take(LONGEST_DEVICE).collect()
}

/// One queue at the root of the device.
fn unshaped(request: &Request, setting: &Setting) -> Result<Vec<String>> {
    let device = &request.device;
    let mut all = vec!["# No shaper.".to_owned()];
    all.extend(tc(request, &setting.up, device)?);
    Ok(all)
}

/// A shaper each way, that for what comes in on an ifb device.
fn shaped(request: &Request, setting: &Setting) -> Result<Vec<String>> {
    let device = &request.device;
    let ifb = ifb(device);
    let mut all = vec![format!("# Up: what {device} sends.")];
    all.extend(tc(request, &setting.up, device)?);
    all.push(format!(
        "# Down: what {device} receives goes through {ifb}."
    ));
    all.extend([
        format!("ip link add name {ifb} type ifb"),
        format!("ip link set dev {ifb} up"),
        format!("tc qdisc replace dev {device} handle ffff: ingress"),
        format!(
            "tc filter replace dev {device} parent ffff: protocol all prio 10 matchall action mirred egress redirect dev {ifb}"
        ),
    ]);
    all.extend(tc(request, &setting.down, &ifb)?);
    all.push(format!(
        "# Undo: tc qdisc del dev {device} root; tc qdisc del dev {device} ingress; ip link del {ifb}"
    ));
    Ok(all)
}

/// The lines of `tc` for a queue, with what a simulation of IP packets does not need: the bytes that the link adds, and the addresses behind
/// a NAT.
fn tc(request: &Request, queue: &str, device: &str) -> Result<Vec<String>> {
    let bug = |what: String| LabError::new(LabErrorKind::Bug, format!("{queue}: {what}"));
    let is_cake = queue.starts_with("cake ");
    let mut text = queue.to_owned();
    if is_cake {
        let _ = write!(text, " overhead={} mpu={LEAST_PACKET}", request.overhead);
    }
    let spec: Spec = text.parse().map_err(LabError::from_spec)?;
    let lines = registry::tc(&spec, device).map_err(|error| LabError::from_queue(&error))?;
    let lines = lines.ok_or_else(|| bug("tc has no equivalent".to_owned()))?;
    let stab = format!(
        " handle 1: stab overhead {} mpu {LEAST_PACKET} linklayer ethernet tbf ",
        request.overhead.saturating_sub(ETHERNET_HEADER)
    );
    let each = lines.lines().map(|line| match is_cake {
        true => format!("{line} nat"),
        false => line.replace(" handle 1: tbf ", &stab),
    });
    Ok(each.collect())
}

/// A section of `/etc/config/sqm`. Its options are those that run-openwrt.sh of sqm-scripts reads.
fn sqm(request: &Request, setting: &Setting, (down, up): (Rate, Rate)) -> Vec<String> {
    let is_cake = setting.up.starts_with("cake ");
    let filters = setting.up.contains("ack_filter=conservative");
    let (qdisc, script) = match is_cake {
        true => ("cake", "piece_of_cake.qos"),
        false => ("fq_codel", "simplest.qos"),
    };
    let kbps = |rate: Rate| (rate.as_bps() / 1000).to_string();
    let mut options = vec![
        ("enabled", "1".to_owned()),
        ("interface", request.device.clone()),
        ("download", kbps(down)),
        ("upload", kbps(up)),
        ("qdisc", qdisc.to_owned()),
        ("script", script.to_owned()),
        ("linklayer", "ethernet".to_owned()),
        ("overhead", request.overhead.to_string()),
        ("tcMPU", LEAST_PACKET.to_string()),
    ];
    if is_cake {
        let filter = if filters { " ack-filter" } else { "" };
        options.extend([
            ("iqdisc_opts", "nat dual-dsthost ingress".to_owned()),
            ("eqdisc_opts", format!("nat dual-srchost{filter}")),
        ]);
    }
    let name = section(&request.device);
    let mut all = vec![
        "# /etc/config/sqm, of the package sqm-scripts (luci-app-sqm has a page for it)".to_owned(),
        format!("config queue '{name}'"),
    ];
    let each = options.into_iter();
    all.extend(each.map(|(name, value)| format!("    option {name} '{value}'")));
    all.push("# then: /etc/init.d/sqm enable; /etc/init.d/sqm restart".to_owned());
    all
}

/// The name of a section of uci, which has letters, digits and underscores.
fn section(device: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    device.chars().map(kept).collect()
}

/// What to ask the operator for.
fn asked(request: &Request, setting: &Setting) -> Vec<String> {
    let marks: Vec<&str> = request
        .uses
        .iter()
        .filter(|one| matches!(one, Use::Voice | Use::Game))
        .map(|one| one.name())
        .collect();
    let texts: Vec<String> = match setting.label.as_str() {
        "buffer 50 ms" => vec![
            "Ask for DOCSIS Buffer Control with a target of 50 ms on both service flows.".to_owned(),
        ],
        "PIE up" => vec![
            "Ask for upstream AQM (DOCSIS-PIE, RFC 8034) to be on for your service flow.".to_owned(),
            "A DOCSIS 3.1 modem has it; a DOCSIS 3.0 modem may have it: ask for a 3.1 modem.".to_owned(),
        ],
        "PIE both ways" => vec![
            "Ask for upstream AQM (DOCSIS-PIE, RFC 8034) to be on for your service flow, and for an AQM downstream at the CMTS.".to_owned(),
            "A DOCSIS 3.1 modem has the upstream one; ask for a 3.1 modem if yours is older.".to_owned(),
        ],
        "LLD, unmarked" | "LLD, marked" => {
            let mut all = vec![
                "Ask whether Low Latency DOCSIS (dual-queue service flows with a coupled AQM, RFC 9332) is on for your line, up and down.".to_owned(),
                "It needs a DOCSIS 3.1 modem with a firmware for it, and the operator's configuration.".to_owned(),
            ];
            if setting.marked && !marks.is_empty() {
                all.push(format!(
                    "Mark {} as NQB (DSCP 45, RFC 9956) on your devices or router, and ask that the operator keeps the mark.",
                    marks.join(" and ")
                ));
            }
            all
        }
        _ => vec!["Nothing to ask for: this is a line without AQM.".to_owned()],
    };
    let router = "A router of your own can do more: see --platform openwrt or linux.".to_owned();
    let each = texts.into_iter().chain([router]);
    each.map(|text| format!("# {text}")).collect()
}
