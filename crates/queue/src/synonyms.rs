//! What other programs call a parameter: the options of Linux's `tc`, the attributes of ns-3 and the variables of ns-2. None of these
//! names can be written here, for a value may count differently (`tc` has percent where here is a fraction); but whoever writes one
//! is told the parameter that was meant.

use sojourn_units::ParamError;

/// Names elsewhere, in lower case without signs between, and the parameters that they may stand for: the first that a discipline has.
/// `tc`'s names, those of ns-3's attributes and of ns-2's variables are from memory: one that is missing gives no hint.
const ELSEWHERE: &[(&[&str], &[&str])] = &[
    (
        &["flows", "divisor", "queues", "maxqueues", "buckets"],
        &["buckets"],
    ),
    (&["perturbation", "salt"], &["perturb"]),
    (&["setways"], &["ways"]),
    (&["perturb", "perturbtime"], &["perturb_period"]),
    (
        &["memorylimit", "memlimit", "memory"],
        &["memory_limit", "limit"],
    ),
    (
        &[
            "maxsize",
            "maxpackets",
            "maxbytes",
            "queuelimit",
            "qlim",
            "packetlimit",
            "limitbytes",
        ],
        &["limit"],
    ),
    (&["cethreshold", "cethresh"], &["ce_threshold"]),
    (&["usel4s"], &["l4s"]),
    (&["useecn", "setbit", "ecnmark"], &["ecn"]),
    (&["ecnprob", "markecnthreshold", "markp"], &["mark_p"]),
    (&["minbytes", "mtu"], &["mtu", "quantum", "lmax"]),
    (&["maxpkt", "maxpacket"], &["lmax", "mtu"]),
    (&["rtt"], &["interval"]),
    (&["dropbatchsize", "batchdrop"], &["drop_batch"]),
    (&["bytes", "bytemode", "queueinbytes"], &["byte_mode"]),
    (
        &["maxburst", "buffer", "maxburstallowance", "burstallowance"],
        &["burst"],
    ),
    (&["a"], &["alpha"]),
    (&["b"], &["beta"]),
    (
        &["tupdate", "supdate", "updateinterval", "w"],
        &["tupdate", "interval"],
    ),
    (
        &["queuedelayreference", "qdelayref", "reference", "qref"],
        &["target"],
    ),
    (
        &["usedequeuerateestimator", "dqrateestimator"],
        &["dq_rate_estimator"],
    ),
    (&["usecapdropadjustment"], &["cap"]),
    (&["usederandomization"], &["derandomize"]),
    (&["avpkt", "meanpktsize", "meanpacketsize"], &["avpkt"]),
    (
        &["min", "minth", "thresh", "threshold"],
        &["min", "min_th", "target"],
    ),
    (&["max", "maxth", "maxthresh"], &["max"]),
    (
        &["linterm", "maxp", "prob", "probability", "pmax", "curmaxp"],
        &["probability"],
    ),
    (&["qw", "qweight", "weight"], &["weight", "weights"]),
    (&["ared", "adaptivered"], &["adaptive"]),
    (&["fengadaptive"], &["feng"]),
    (&["nlred"], &["nonlinear"]),
    (&["usehardrop", "useharddrop"], &["harddrop"]),
    (&["linkbandwidth", "linkcapacity"], &["bandwidth"]),
    (&["coupling", "couplingfactor", "k"], &["coupling"]),
    (&["stepthresh", "steppackets"], &["min_th"]),
    (&["minqlenstep"], &["th_len"]),
    (&["droponoverload", "overflow"], &["drop_overload"]),
    (&["dropenqueue", "dropdequeue"], &["drop_early"]),
    (&["anyect", "l4sect"], &["ect"]),
    (&["classicprotection", "classicprot"], &["c_protection"]),
    (&["binsize", "target"], &["bin_size"]),
    (&["db"], &["warmup"]),
    (&["priomap", "bands", "prio"], &["by", "bands"]),
    (&["ceil"], &["classes", "rate"]),
    (&["redflowlimit"], &["depth"]),
    (&["dps", "dp", "vqs"], &["class"]),
    (&["minburst"], &["mtu"]),
];

/// The parameter among `allowed` that goes by the name `given` elsewhere.
fn meant(given: &str, allowed: &[&'static str]) -> Option<&'static str> {
    let plain: String = given
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric())
        .collect();
    ELSEWHERE
        .iter()
        .filter(|(names, _)| names.contains(&plain.as_str()))
        .flat_map(|(_, here)| *here)
        .find_map(|here| allowed.iter().find(|name| *name == here).copied())
}

/// The error with the parameter that was meant, where a name that is not known here is known elsewhere. A name that looks like another
/// is then taken by its meaning.
pub(crate) fn hinted(error: ParamError) -> ParamError {
    match error {
        ParamError::UnknownKey {
            key,
            given,
            allowed,
            nearest,
        } => ParamError::UnknownKey {
            nearest: meant(&key, &allowed).or(nearest),
            key,
            given,
            allowed,
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{SpecError, catalogue, resolve, tc};
    use sojourn_units::Spec;

    /// Options of `tc`, attributes of ns-3 and variables of ns-2 that are called otherwise here.
    const CALLED: &[(&str, &[(&str, &str)])] = &[
        ("droptail", &[("MaxSize", "limit")]),
        (
            "codel",
            &[
                ("MaxSize", "limit"),
                ("UseEcn", "ecn"),
                ("UseL4s", "l4s"),
                ("MinBytes", "mtu"),
            ],
        ),
        (
            "fq_codel",
            &[
                ("flows", "buckets"),
                ("Flows", "buckets"),
                ("memlimit", "memory_limit"),
                ("DropBatchSize", "drop_batch"),
                ("SetWays", "ways"),
                ("Perturbation", "perturb"),
                ("CeThreshold", "ce_threshold"),
                ("divisor", "buckets"),
            ],
        ),
        (
            "pie",
            &[
                ("bytemode", "byte_mode"),
                ("A", "alpha"),
                ("B", "beta"),
                ("QueueDelayReference", "target"),
                ("MaxBurstAllowance", "burst"),
                ("UseDequeueRateEstimator", "dq_rate_estimator"),
                ("UseCapDropAdjustment", "cap"),
                ("UseDerandomization", "derandomize"),
                ("MarkEcnThreshold", "mark_p"),
                ("MeanPktSize", "avpkt"),
            ],
        ),
        (
            "fq_pie",
            &[
                ("flows", "buckets"),
                ("ecn_prob", "mark_p"),
                ("memory_limit", "limit"),
            ],
        ),
        (
            "red",
            &[
                ("MinTh", "min"),
                ("MaxTh", "max"),
                ("thresh_", "min"),
                ("maxthresh_", "max"),
                ("QW", "weight"),
                ("q_weight_", "weight"),
                ("LInterm", "probability"),
                ("linterm_", "probability"),
                ("ARED", "adaptive"),
                ("FengAdaptive", "feng"),
                ("NLRED", "nonlinear"),
                ("LinkBandwidth", "bandwidth"),
                ("UseHardDrop", "harddrop"),
                ("setbit_", "ecn"),
                ("mean_pktsize_", "avpkt"),
            ],
        ),
        ("choke", &[("maxp", "probability")]),
        ("wred", &[("DP", "class"), ("MeanPktSize", "avpkt")]),
        ("cake", &[("rtt", "interval"), ("memlimit", "limit")]),
        (
            "dualpi2",
            &[
                ("coupling_factor", "coupling"),
                ("step_thresh", "min_th"),
                ("min_qlen_step", "th_len"),
                ("drop_on_overload", "drop_overload"),
                ("drop_enqueue", "drop_early"),
                ("any_ect", "ect"),
                ("classic_protection", "c_protection"),
                ("memlimit", "memory_limit"),
            ],
        ),
        ("sfb", &[("target", "bin_size"), ("db", "warmup")]),
        ("sfq", &[("divisor", "buckets"), ("redflowlimit", "depth")]),
        ("hhf", &[("MaxSize", "limit")]),
        (
            "tbf",
            &[
                ("buffer", "burst"),
                ("maxburst", "burst"),
                ("minburst", "mtu"),
            ],
        ),
        ("htb", &[("ceil", "classes")]),
        ("prio", &[("priomap", "by")]),
        ("drr", &[("flows", "buckets"), ("mtu", "quantum")]),
        ("qfq", &[("weight", "weights"), ("maxpkt", "lmax")]),
    ];

    fn nearest_of(discipline: &str, name: &str) -> Option<&'static str> {
        let spec: Spec = format!("{discipline} {name}=1").parse().unwrap();
        match resolve(&spec, None).unwrap_err() {
            SpecError::Param {
                error: ParamError::UnknownKey { nearest, .. },
                ..
            } => nearest,
            other => panic!("{discipline} {name}: {other}"),
        }
    }

    #[test]
    fn what_tc_and_other_simulators_call_a_parameter_is_pointed_to_it() {
        for (discipline, names) in CALLED {
            for (name, here) in *names {
                assert_eq!(
                    nearest_of(discipline, name),
                    Some(*here),
                    "{discipline} {name}"
                );
            }
        }
        for entry in catalogue().iter().filter(|entry| entry.has_tc()) {
            let stands = CALLED.iter().any(|(name, _)| *name == entry.name);
            assert!(stands, "{} has a tc line and no name here", entry.name);
        }
        let spec: Spec = "fq_codel flows=64".parse().unwrap();
        let told = resolve(&spec, None).unwrap_err().to_string();
        assert!(
            told.starts_with("fq_codel: unknown parameter \"flows\", did you mean \"buckets\"? (parameters: target, "),
            "{told}"
        );
    }

    #[test]
    fn every_option_of_a_line_of_tc_is_a_parameter_or_pointed_to_one() {
        // What tc asks for and no parameter says: the rate of the device (choke), the class of an unclassified packet (htb, wred), the
        // number of classes (wred) and the order of groups of equal ones (wred).
        let tcs_own = ["default", "dev", "handle", "bandwidth", "prio"];
        for entry in catalogue().iter().filter(|entry| entry.has_tc()) {
            let spec = Spec::new(entry.name);
            let line = tc(&spec, "eth0").unwrap().unwrap();
            let first = line.lines().find(|line| !line.starts_with('#')).unwrap();
            let words: Vec<&str> = first.split(' ').collect();
            let mut options = 0;
            for pair in words.windows(2) {
                let [name, value] = pair else { continue };
                let numeric = value.starts_with(|c: char| c.is_ascii_digit());
                if !numeric || !name.starts_with(char::is_alphabetic) || tcs_own.contains(name) {
                    continue;
                }
                options += 1;
                if !entry.params.iter().any(|info| info.name == *name) {
                    assert!(
                        nearest_of(entry.name, name).is_some(),
                        "{} {name}",
                        entry.name
                    );
                }
            }
            assert!(options > 0 || line.contains("handle"), "{line}");
        }
    }

    #[test]
    fn every_parameter_that_is_pointed_to_exists_somewhere() {
        for (names, here) in ELSEWHERE {
            for name in *here {
                let known = catalogue()
                    .iter()
                    .any(|entry| entry.params.iter().any(|info| info.name == *name));
                assert!(known, "{names:?} point to {name}");
            }
            for name in *names {
                let plain = name
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
                assert!(plain, "{name} is not in plain letters");
            }
        }
    }
}
