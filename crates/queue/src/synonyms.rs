//! What other programs call a parameter: the options of Linux's `tc`, the attributes of ns-3 and the variables of ns-2. None of these
//! names is accepted, because a value may count differently: `tc` takes percent where a fraction stands here. The error names the
//! parameter that was meant. So does the error on a switch of `tc`'s, which stands alone.
//!
//! Sources: iproute2 6.1 (`tc qdisc add ... help`, its manual pages), for DualPI2 that of 2025 (`q_dualpi2.c`); the attributes that
//! ns-3.37 registers; ns-2.35's `ns-default.tcl`. Of ns-3's releases after 3.37, what [`crate::disciplines`] names.

use sojourn_units::{Kind, ParamError, ParamInfo, UnitError};

/// Names elsewhere, in lower case without signs between, and the parameters that they may stand for: the first that a discipline has.
const ELSEWHERE: &[(&[&str], &[&str])] = &[
    (&["flows", "divisor", "maxqueuenumber"], &["buckets"]),
    (&["perturbation"], &["perturb"]),
    (&["setways", "enablesetassociativehash"], &["ways"]),
    (&["memorylimit", "memlimit"], &["memory_limit", "limit"]),
    (
        &["maxsize", "maxpackets", "maxbytes", "maxqueue", "blimit"],
        &["limit"],
    ),
    (&["usel4s"], &["l4s"]),
    (&["useecn", "setbit", "markpkts"], &["ecn"]),
    (&["ecnprob", "markecnthreshold"], &["mark_p"]),
    (&["minbytes"], &["mtu"]),
    (&["mtu"], &["quantum", "lmax"]),
    (&["granularity"], &["quantum"]),
    (&["maxpkt"], &["lmax"]),
    // With ns-3's RED it sets the lower bound of the adaptive probability.
    (&["rtt"], &["bottom", "interval"]),
    (&["dropbatchsize"], &["drop_batch"]),
    (&["bytes", "bytemode"], &["byte_mode"]),
    // ns-2's DropTail measures in the unit of its limit here.
    (&["queueinbytes", "qib"], &["queue_in_bytes", "limit"]),
    (&["dropfront"], &["drop"]),
    (&["buffer", "maxburst", "maxburstallowance"], &["burst"]),
    (&["a"], &["alpha"]),
    (&["b"], &["beta"]),
    (&["w", "pupdtime"], &["tupdate"]),
    (&["pbo"], &["qref"]),
    (&["inw"], &["weight"]),
    (&["ecnlim"], &["initial"]),
    (&["queuedelayreference"], &["target"]),
    (&["usedequeuerateestimator"], &["dq_rate_estimator"]),
    (&["usecapdropadjustment"], &["cap"]),
    (&["usederandomization"], &["derandomize"]),
    (&["meanpktsize"], &["avpkt"]),
    (&["minth", "thresh"], &["min"]),
    (&["maxth", "maxthresh"], &["max"]),
    (&["inthresh"], &["min_in"]),
    (&["inmaxthresh"], &["max_in"]),
    (&["inlinterm"], &["probability_in"]),
    (&["outthresh"], &["min_out"]),
    (&["outmaxthresh"], &["max_out"]),
    (&["outlinterm"], &["probability_out"]),
    // The last two are the papers'.
    (&["linterm", "curmaxp", "maxp", "pmax"], &["probability"]),
    (&["qw", "qweight"], &["weight"]),
    (&["weight"], &["weights"]),
    (&["ared", "adaptmaxp"], &["adaptive"]),
    (&["fengadaptive"], &["feng"]),
    (&["refinedadaptive", "rared", "reared"], &["refined"]),
    (&["nlred"], &["nonlinear"]),
    (&["usehardrop", "useharddrop"], &["harddrop"]),
    (&["linkbandwidth"], &["bandwidth"]),
    (&["couplingfactor"], &["coupling"]),
    (&["stepthresh"], &["min_th"]),
    (&["minqlenstep"], &["th_len"]),
    (&["droponoverload", "overflow"], &["drop_overload"]),
    (&["dropenqueue", "dropdequeue"], &["drop_early"]),
    (&["anyect", "l4sect"], &["ect"]),
    (&["classicprotection"], &["c_protection"]),
    (&["target"], &["bin_size"]),
    (&["db"], &["warmup"]),
    (&["priomap"], &["by"]),
    (&["ceil", "prio"], &["classes"]),
    // RED in each queue of tc's SFQ.
    (&["redflowlimit"], &["each"]),
    (&["vqs", "vq", "dps", "dp"], &["class"]),
    (&["minburst"], &["mtu"]),
];

/// Switches of `tc` that are no flag of their name here, in plain letters, and what to write: for the first parameter that a
/// discipline has.
const SWITCHES: &[(&str, &[(&str, &str)])] = &[
    ("droponoverload", &[("drop_overload", "true")]),
    ("overflow", &[("drop_overload", "false")]),
    ("dropenqueue", &[("drop_early", "true")]),
    ("dropdequeue", &[("drop_early", "false")]),
    ("l4sect", &[("ect", "l4s")]),
    ("anyect", &[("ect", "any")]),
    ("unlimited", &[("bandwidth", "none")]),
    ("datacentre", &[("interval", "100us")]),
    ("lan", &[("interval", "1ms")]),
    ("metro", &[("interval", "10ms")]),
    ("regional", &[("interval", "30ms")]),
    ("internet", &[("interval", "100ms")]),
    ("oceanic", &[("interval", "300ms")]),
    ("satellite", &[("interval", "1s")]),
    ("ackfilter", &[("ack_filter", "conservative")]),
    ("ackfilteraggressive", &[("ack_filter", "aggressive")]),
    ("noackfilter", &[("ack_filter", "no")]),
    ("egress", &[("ingress", "false")]),
    ("conservative", &[("overhead", "48 framing=atm")]),
    ("raw", &[("overhead", "0 framing=noatm")]),
];

/// Switches of `tc` that nothing here is like.
const NOT_HERE: [&str; 10] = [
    "autorateingress",
    "grio",
    "interplanetary",
    "nat",
    "nodrop",
    "nonat",
    "nosplitgso",
    "offload",
    "splitgso",
    "multiqueue",
];

/// Parameters that have the name of another one in `tc`, the one that is meant there, and the unit in which `tc` counts.
const OTHERWISE: [(&str, &str, &str); 1] = [("perturb", "perturb_period", "s")];

/// A name in lower case without signs between.
fn plain(name: &str) -> String {
    name.to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric())
        .collect()
}

/// The parameter among `allowed` that is called `given` elsewhere.
fn meant(given: &str, allowed: &[&'static str]) -> Option<&'static str> {
    let plain_given = plain(given);
    let same = |name: &&&'static str| plain(name) == plain_given;
    allowed.iter().find(same).copied().or_else(|| {
        ELSEWHERE
            .iter()
            .filter(|(names, _)| names.contains(&plain_given.as_str()))
            .flat_map(|(_, here)| *here)
            .find_map(|here| allowed.iter().find(|name| *name == here).copied())
    })
}

/// The error with the parameter that was meant, where a name that is not known here is known elsewhere. A name that looks like another
/// is then taken by its meaning. `has` are the parameters that there are.
pub(crate) fn hinted(error: ParamError, has: &[ParamInfo]) -> ParamError {
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
        ParamError::BadValue { key, error } => {
            let there = |name: &str| has.iter().any(|info| info.name == name);
            let other = OTHERWISE
                .iter()
                .find(|(name, here, _)| *name == key && there(here))
                .filter(|_| error.given().parse::<f64>().is_ok());
            let error = match other {
                Some((name, here, unit)) => UnitError::new(
                    error.kind(),
                    error.given(),
                    error.expected(),
                    format!("tc's {name} is {here}: {here}={}{unit}", error.given()),
                ),
                None => error,
            };
            ParamError::BadValue { key, error }
        }
        other => other,
    }
}

/// What to write for a word that stands alone where a parameter of a discipline should, if it is a switch of `tc`'s: for this
/// discipline with its `params`, or for one of the `others`.
pub(crate) fn advice(
    discipline: &str,
    params: &[ParamInfo],
    mut others: impl Iterator<Item = &'static [ParamInfo]>,
    word: &str,
) -> Option<String> {
    if let Some(pair) = switch(params, word).or_else(|| choice(params, word)) {
        return Some(format!("write {pair}"));
    }
    let mut elsewhere = || others.any(|other| switch(other, word).is_some());
    (NOT_HERE.contains(&plain(word).as_str()) || elsewhere()).then(|| {
        let names: Vec<&str> = params.iter().map(|info| info.name).collect();
        format!(
            "{discipline} has no such switch (parameters: {})",
            names.join(", ")
        )
    })
}

/// What to write for a switch that stands alone.
fn switch(params: &[ParamInfo], word: &str) -> Option<String> {
    let given = plain(word);
    let special = SWITCHES
        .iter()
        .filter(|(name, _)| *name == given)
        .flat_map(|(_, here)| *here)
        .find(|(name, _)| params.iter().any(|info| info.name == *name));
    if let Some((name, value)) = special {
        return Some(format!("{name}={value}"));
    }
    let flag = |given: &str| {
        let mut flags = params
            .iter()
            .filter(|info| matches!(info.kind(), Kind::Flag));
        flags.find(|info| plain(info.name) == given)
    };
    let off = || given.strip_prefix("no").and_then(flag);
    flag(&given)
        .map(|info| format!("{}=true", info.name))
        .or_else(|| off().map(|info| format!("{}=false", info.name)))
}

/// What to write for a word to choose that stands alone, as with `tc`'s CAKE.
fn choice(params: &[ParamInfo], word: &str) -> Option<String> {
    let given = plain(word);
    params.iter().find_map(|info| match info.kind() {
        Kind::Choice(words) => {
            let word = words.iter().find(|(word, _)| plain(word) == given)?.0;
            Some(format!("{}={word}", info.name))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::CatalogueEntry;
    use crate::registry::{SpecError, advised, catalogue, resolve, tc};
    use sojourn_units::Spec;

    /// Options of `tc`, attributes of ns-3 and variables of ns-2 that are called otherwise here.
    const CALLED: &[(&str, &[(&str, &str)])] = &[
        (
            "droptail",
            &[
                ("MaxSize", "limit"),
                ("queue_in_bytes_", "limit"),
                ("drop_front_", "drop"),
            ],
        ),
        (
            "codel",
            &[
                ("MaxSize", "limit"),
                ("UseEcn", "ecn"),
                ("UseL4s", "l4s"),
                ("MinBytes", "mtu"),
                ("CeThreshold", "ce_threshold"),
                ("Target", "target"),
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
                ("EnableSetAssociativeHash", "ways"),
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
                ("AdaptMaxP", "adaptive"),
                ("TargetDelay", "target_delay"),
                ("FengAlpha", "feng_alpha"),
                ("Rtt", "bottom"),
                ("bytes_", "byte_mode"),
                ("queue_in_bytes_", "queue_in_bytes"),
                ("cur_max_p_", "probability"),
                ("mean_pktsize_", "avpkt"),
            ],
        ),
        ("choke", &[("maxp", "probability")]),
        (
            "wred",
            &[("DP", "class"), ("vqs", "class"), ("MeanPktSize", "avpkt")],
        ),
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
        (
            "sfq",
            &[
                ("divisor", "buckets"),
                ("redflowlimit", "each"),
                ("maxqueue_", "limit"),
                ("buckets_", "buckets"),
            ],
        ),
        ("cobalt", &[("BlueThreshold", "blue_threshold")]),
        (
            "rio",
            &[
                ("in_thresh_", "min_in"),
                ("out_maxthresh_", "max_out"),
                ("in_linterm_", "probability_in"),
            ],
        ),
        (
            "pi",
            &[("qref_", "qref"), ("w_", "tupdate"), ("setbit_", "ecn")],
        ),
        (
            "rem",
            &[
                ("pbo_", "qref"),
                ("pupdtime_", "tupdate"),
                ("inw_", "weight"),
                ("qib_", "queue_in_bytes"),
                ("markpkts_", "ecn"),
            ],
        ),
        ("avq", &[("ecnlim_", "initial"), ("buflim_", "buflim")]),
        (
            "srr",
            &[
                ("maxqueuenumber_", "buckets"),
                ("granularity_", "quantum"),
                ("blimit_", "limit"),
            ],
        ),
        ("hhf", &[("MaxSize", "limit")]),
        (
            "tbf",
            &[
                ("buffer", "burst"),
                ("maxburst", "burst"),
                ("minburst", "mtu"),
            ],
        ),
        ("htb", &[("ceil", "classes"), ("prio", "classes")]),
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
    fn a_switch_of_tc_is_answered_with_the_parameter() {
        let told = |given: &str| {
            let error = given.parse::<sojourn_units::Specs>().unwrap_err();
            let problem = advised(error).problem().to_owned();
            problem.split_once("; ").unwrap_or_default().1.to_owned()
        };
        for (given, advice) in [
            ("red ecn", "ecn=true"),
            ("red noecn", "ecn=false"),
            ("red gentle", "gentle=true"),
            ("pie limit=100p noecn", "ecn=false"),
            ("pie bytemode", "byte_mode=true"),
            ("pie nobytemode", "byte_mode=false"),
            ("pie no_dq_rate_estimator", "dq_rate_estimator=false"),
            ("sfq headdrop", "headdrop=true"),
            ("drr each=(codel target=5ms ecn)", "ecn=true"),
            ("dualpi2 overflow", "drop_overload=false"),
            ("dualpi2 any_ect", "ect=any"),
            (
                "cake bandwidth=10Mbps dual-srchost",
                "isolation=dual-srchost",
            ),
            ("cake besteffort", "tins=besteffort"),
            ("cake ack-filter", "ack_filter=conservative"),
            ("cake nowash", "wash=false"),
            ("cake lan", "interval=1ms"),
        ] {
            assert_eq!(told(given), format!("write {advice}"), "{given}");
            let head = given.rsplit_once(' ').unwrap().0;
            let right: String = match given.ends_with(')') {
                true => format!("{head} {advice})"),
                false => format!("{head} {advice}"),
            };
            let right: Spec = right.parse().unwrap();
            assert!(resolve(&right, Some("linux")).is_ok(), "{right}");
        }
        assert_eq!(
            told("droptail ecn"),
            "droptail has no such switch (parameters: limit, drop)"
        );
        assert!(told("cake nat").starts_with("cake has no such switch (parameters: bandwidth, "));
        // What is a unit stays one.
        assert_eq!(
            told("pie limit=1500 bytes"),
            "a value with a space in it stands in quotes: limit=\"1500 bytes\""
        );
        assert_eq!(told("no_queue ecn"), "");
    }

    #[test]
    fn every_switch_is_known_by_the_parameter_that_it_sets() {
        for (word, here) in SWITCHES {
            assert_eq!(plain(word), *word);
            for (name, value) in *here {
                let entries = || catalogue().iter().filter(|entry| entry.has_tc());
                let set = |entry: &&CatalogueEntry| {
                    let text = format!("{} {name}={value}", entry.name);
                    resolve(&text.parse().unwrap(), Some("linux")).is_ok()
                };
                assert!(entries().any(|entry| set(&entry)), "{word}: {name}={value}");
            }
        }
        for word in NOT_HERE {
            assert_eq!(plain(word), word);
            assert!(
                catalogue()
                    .iter()
                    .all(|entry| switch(entry.params, word).is_none()),
                "{word}"
            );
        }
    }

    #[test]
    fn the_seconds_of_tcs_perturb_are_another_parameter() {
        let told = |given: &str| {
            resolve(&given.parse().unwrap(), None)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            told("sfq perturb=10"),
            "sfq: perturb: \"10\" is not true or false: tc's perturb is perturb_period: perturb_period=10s"
        );
        assert_eq!(
            told("sfq perturb=often"),
            "sfq: perturb: \"often\" is not true or false: choose one of them"
        );
        assert!(!told("drr perturb=10").contains("perturb_period"));
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
