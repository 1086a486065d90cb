//! Names of the field that are no entries of the catalogue, and where to look for them.

/// Names that the field uses for a part of an entry here, or for an entry that does not run alone, and where to look. The names are
/// in lower case, without signs between words. Another name of a whole entry is its alias.
const ELSEWHERE: &[(&[&str], &str)] = &[
    (
        &["udp"],
        "UDP is what a source sends on its own: cbr, poisson, exponential, pareto, periodic, on_off, voice, video; see sojourn list sources",
    ),
    (
        &["rack", "racktlp", "tlp", "prr", "frto"],
        "it is a part of TCP with selective acknowledgement, by its parameters detection, tail_probe, reduction and frto; see sojourn show sack",
    ),
    (
        &["rledbat"],
        "it is the parameter rledbat of TCP with selective acknowledgement; see sojourn show sack",
    ),
    (
        &[
            "recovery",
            "lossrecovery",
            "rto",
            "timestamps",
            "delayedack",
            "nagle",
            "abc",
            "limitedtransmit",
        ],
        "it is a parameter of TCP; see sojourn show tcp",
    ),
    (
        &["hystart", "hystart++", "hystartplus", "hystartplusplus"],
        "it is the parameter exit of cubic; see sojourn show cubic",
    ),
    (
        &["abe"],
        "it is the parameter ecn_factor of reno and cubic; see sojourn show reno",
    ),
    (
        &["ecn"],
        "it is the parameter ecn of queues and of TCP; see sojourn show tcp",
    ),
    (
        &["accecn", "accurateecn"],
        "it is the parameter accurate_ecn of TCP with selective acknowledgement; see sojourn show sack",
    ),
    (
        &["bbrv2", "bbr2"],
        "version 3 is called bbr3; see sojourn show bbr3",
    ),
    (
        &["l4s", "dualq", "dualpi", "dualqcoupledaqm"],
        "the queue of L4S is dualpi2, and prague its congestion control; see sojourn show dualpi2",
    ),
    (
        &["taildrop", "dropfront", "headdrop", "noqueue"],
        "a plain queue is called droptail; see sojourn show droptail",
    ),
    (
        &["sfqcodel", "codelfq"],
        "CoDel with fair queueing is called fq_codel; see sojourn show fq_codel",
    ),
    (
        &["ared", "adaptivered", "nlred", "fengred"],
        "it is a dialect of red: red dialect=ared, dialect=feng or dialect=nlred; see sojourn show red",
    ),
    (
        &["netem", "loss", "impairment"],
        "a link loses, delays, repeats or reorders packets with [[impairments]]; a queue does not",
    ),
    (
        &["file", "transfer", "download"],
        "a transfer is TCP by its congestion control with bytes, such as 'cubic bytes=10MB'; see sojourn show cubic",
    ),
    (
        &["http", "https", "browser"],
        "pages are the flow web, single requests request_response; see sojourn show web",
    ),
    (
        &["voip", "call"],
        "a voice call is 'rtp source=(voice)', or the source voice alone (no MOS); see sojourn show rtp",
    ),
    (
        &["ping", "icmp"],
        "requests and responses over UDP are the flow udp_rr; see sojourn show udp_rr",
    ),
    (
        &["iperf", "iperf3"],
        "it is the source bulk, which TCP sends unless told otherwise; see sojourn show bulk",
    ),
    (
        &["fq", "fairqueueing"],
        "fair queues are called fq_codel, fq_pie, fq_cobalt, wfq, drr and sfq; see sojourn list queues",
    ),
];

/// Where to look for what is no entry of its own.
pub fn elsewhere(name: &str) -> Option<&'static str> {
    let plain: String = name
        .to_lowercase()
        .chars()
        .filter(|c| !['-', '_', ' '].contains(c))
        .collect();
    let mut places = ELSEWHERE.iter();
    let found = places.find(|(names, _)| names.contains(&plain.as_str()));
    found.map(|(_, place)| *place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::entries;

    fn is_entry(name: &str) -> bool {
        entries()
            .iter()
            .any(|entry| entry.name == name || entry.aliases.contains(&name))
    }

    #[test]
    fn every_place_exists_and_no_entry_is_said_to_be_elsewhere() {
        for (names, place) in ELSEWHERE {
            for name in *names {
                assert_eq!(elsewhere(name), Some(*place));
                assert!(!is_entry(name), "{name} is an entry");
            }
            let shown = place.split("sojourn show ").skip(1);
            for name in shown.filter_map(|rest| rest.split(' ').next()) {
                assert!(is_entry(name), "{name}");
            }
        }
        assert_eq!(elsewhere("RACK-TLP"), elsewhere("rack"));
        assert!(elsewhere("PRR").is_some_and(|place| place.contains("sojourn show sack")));
    }
}
