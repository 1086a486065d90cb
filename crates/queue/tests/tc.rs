//! The lines of Linux's `tc` that configure a queue as Sojourn has it, and what they cannot say.

use sojourn_queue::registry::{self, catalogue};
use sojourn_units::Spec;

/// Except what Linux has inside other disciplines only: COBALT in CAKE, the step in CoDel.
#[test]
fn what_linux_has_tc_configures() {
    for entry in catalogue() {
        let linux = entry.dialects.iter().any(|info| info.name == "linux");
        assert_eq!(
            entry.has_tc(),
            linux && !["cobalt", "step"].contains(&entry.name),
            "{}",
            entry.name
        );
        if entry.has_tc() {
            let text = registry::tc(&Spec::new(entry.name), "eth0")
                .expect("a spec")
                .expect("a line");
            assert!(text.contains("tc qdisc replace dev eth0 root"), "{text}");
        }
    }
}

fn tc(spec: &str) -> Result<Vec<String>, String> {
    let spec: Spec = spec.parse().expect("a spec");
    let text = registry::tc(&spec, "eth0").map_err(|error| error.to_string())?;
    let lines = text.expect("a line");
    Ok(lines.lines().map(str::to_owned).collect())
}

#[test]
fn tc_says_which_parameters_its_line_leaves_out() {
    for (spec, comment) in [
        (
            "fq_codel classify=source",
            "# classify=source: tc has no option for it, Linux has flow",
        ),
        (
            "codel mtu=1000B",
            "# mtu=1kB: tc has no option for it, Linux has 1514B",
        ),
        (
            "sfq perturb_period=500ms",
            "# perturb_period=500ms: tc has no option for it, Linux has none",
        ),
        (
            "cake target=10ms",
            "# target=10ms: tc has no option for it, Linux has 5ms",
        ),
        (
            "pie dialect=rfc8034",
            "# beta=2.5: tc takes sixteenths up to 2, here 2",
        ),
        (
            "pie dialect=rfc8034",
            "# dialect=rfc8034: what Linux runs computes as dialect linux does",
        ),
    ] {
        let lines = tc(spec).expect(spec);
        assert!(
            lines.iter().any(|line| line == comment),
            "{spec}: {lines:?}"
        );
    }
    // What the line has, and what is as in Linux, needs no comment.
    for spec in [
        "codel target=7ms ecn=true",
        "fq_codel limit=500p mtu=1514B",
        "fifo drop=head",
    ] {
        let lines = tc(spec).expect(spec);
        assert_eq!(lines.len(), 1, "{spec}: {lines:?}");
    }
}

#[test]
fn tc_configures_what_is_inside_and_refuses_what_cannot_be_built() {
    let lines = tc("htb classes=\"6Mbps/10Mbps,4Mbps/10Mbps\" each=(codel)").expect("lines");
    let inside: Vec<&String> = lines
        .iter()
        .filter(|line| line.contains(" codel "))
        .collect();
    assert_eq!(inside.len(), 2, "{lines:?}");
    assert!(
        inside[0].starts_with("tc qdisc replace dev eth0 parent 1:"),
        "{lines:?}"
    );
    for inside in ["pie", "fq_codel"] {
        let lines = tc(&format!("tbf each=({inside})")).expect("lines");
        let begin = format!("tc qdisc replace dev eth0 parent 1:1 {inside} ");
        assert!(
            lines.iter().any(|line| line.starts_with(&begin)),
            "{lines:?}"
        );
    }
    let lines = tc("tbf each=(drr)").expect("lines");
    let inside = "tc qdisc replace dev eth0 parent 1:1 handle 2: drr";
    assert!(lines.iter().any(|line| line == inside), "{lines:?}");
    // DRR++ is not in Linux.
    let lines = tc("prio each=(drrpp)").expect("lines");
    assert_eq!(
        lines.iter().filter(|line| !line.starts_with('#')).count(),
        1,
        "{lines:?}"
    );
    let nothing = "# the queue of 1:3: tc has nothing like drrpp";
    assert!(lines.iter().any(|line| line == nothing), "{lines:?}");
    for wrong in [
        "red min=50p max=20p",
        "drr dialect=paper each=(drr)",
        "sfq each=(drr)",
        "prio bands=2",
        "tbf each=(htb)",
    ] {
        assert!(tc(wrong).is_err(), "{wrong}");
    }
}
