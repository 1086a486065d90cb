//! What mistakes in scenario files get: the exact words.

use sojourn_run::compile::compile;
use sojourn_scenario::document::Document;
use sojourn_scenario::model::Scenario;

/// Reads each text and compares what is said with what is expected; `[...]` stands for anything, where other crates list
/// what they have.
fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let read = Document::parse(text, "lab.toml")
            .and_then(|document| Scenario::from_document(&document));
        let error = match read {
            Ok(scenario) => panic!("no mistake found in\n{text}\n{scenario:?}"),
            Err(error) => error,
        };
        assert_eq!(error.exit_status(), 2);
        let said = error.to_string();
        match expected.split_once("[...]") {
            None => assert_eq!(said, *expected, "of\n{text}"),
            Some((start, end)) => assert!(
                said.starts_with(start) && said.ends_with(end),
                "{said}\n{expected}\nof\n{text}"
            ),
        }
    }
}

#[test]
fn what_is_not_toml_names_the_line() {
    check(&[
        (
            r#"flows = ["reno""#,
            "lab.toml:1: this is not TOML: unclosed array, expected `]`; a line is key = value, with texts in quotes, or a [table]",
        ),
        (
            r#"flows = ["reno"]
flows = ["cbr 1Mbps"]"#,
            r#"lab.toml:2: "flows" stands here for the second time; leave one out; a [table] is written once, with all its keys below it"#,
        ),
        (
            r#"flows = ["reno"]
name = bare"#,
            "lab.toml:2: this is not TOML: string values must be quoted, expected literal string; a line is key = value, with texts in quotes, or a [table]",
        ),
        (
            "\0",
            "lab.toml:1: this is not TOML: key with no value, expected `=`; a line is key = value, with texts in quotes, or a [table]",
        ),
    ]);
}

#[test]
fn unknown_keys_name_the_nearest() {
    check(&[
        (
            r#"flows = ["reno"]
[topolgy]
"#,
            r#"lab.toml:2: topolgy: unknown key, did you mean "topology"?"#,
        ),
        (
            r#"flows = ["reno"]
[topology]
rat = "1Mbps""#,
            r#"lab.toml:3: topology.rat: unknown key, did you mean "rate"? (allowed: kind, rate, reverse_rate, rtt, bottleneck_delay, access_delay, access_rate, buffer, queue, reverse_queue, access_queue, pairs)"#,
        ),
        (
            r#"flows = ["reno"]
[topology]
queue = "codel traget=5ms""#,
            r#"lab.toml:3: topology.queue: codel: unknown parameter "traget", did you mean "target"? (parameters: [...])"#,
        ),
        (
            r#"flows = ["reno"]
[topology]
queue = "drr each=(codel targt=5ms)""#,
            r#"lab.toml:3: topology.queue: codel: unknown parameter "targt", did you mean "target"? (parameters: [...])"#,
        ),
        (
            r#"[[flows]]
kind = "reno"
cuont = 2"#,
            r#"lab.toml:3: flows[0].cuont: unknown key, did you mean "count"?"#,
        ),
    ]);
}

#[test]
fn values_that_cannot_be_read_say_what_can() {
    check(&[
        (
            r#"flows = ["reno"]
[topology]
rate = 10"#,
            r#"lab.toml:3: topology.rate: missing unit in "10": expected a rate such as 10Mbps"#,
        ),
        (
            r#"flows = ["reno"]
[topology]
rate = "10""#,
            r#"lab.toml:3: topology.rate: missing unit in "10": expected a rate such as 10Mbps"#,
        ),
        (
            r#"flows = ["reno"]
[topology]
rate = "-1Mbps""#,
            r#"lab.toml:3: topology.rate: "-1Mbps" is not a rate: a rate cannot be negative"#,
        ),
        (
            r#"flows = ["reno"]
[topology]
rate = "0bps""#,
            r#"lab.toml:3: topology.rate: "0bps" is out of range, allowed is at least 1bps"#,
        ),
        (
            r#"flows = ["reno"]
[topology]
rate = "1MBps""#,
            r#"lab.toml:3: topology.rate: "1MBps" is not a rate: rates are in bits per second, not bytes; write 8Mbps"#,
        ),
        (
            r#"flows = ["reno"]
[topology]
rtt = "2h""#,
            r#"lab.toml:3: topology.rtt: "2h" is out of range, allowed is 0s to 1h"#,
        ),
        (
            r#"flows = ["reno"]
[topology]
queue = "codel target=5""#,
            r#"lab.toml:3: topology.queue: codel: target: missing unit in "5": expected a duration such as 5ms"#,
        ),
        (
            r#"flows = ["reno"]
[topology]
queue = "codel target = 5ms""#,
            r#"lab.toml:3: topology.queue: no spaces around "=": write 'codel target=5ms'"#,
        ),
        (
            r#"flows = ["reno"]
[topology]
queue = 3"#,
            r#"lab.toml:3: topology.queue: "3" is not a name with parameters: column 1: expected a name, such as codel, found '3'"#,
        ),
        (
            r#"flows = ["reno"]
[topology]
buffer = "100""#,
            r#"lab.toml:3: topology.buffer: missing unit in "100": expected a limit such as 100p or 64kB"#,
        ),
        (
            r#"flows = ["reno"]
[topology]
buffer = "0p""#,
            r#"lab.toml:3: topology.buffer: "0p" is out of range, allowed is at least 1p"#,
        ),
        (
            r#"flows = ["reno"]
[run]
replications = 0"#,
            r#"lab.toml:3: run.replications: "0" is out of range, allowed is 1 to 100000"#,
        ),
        (
            r#"flows = ["reno"]
[run]
replications = 1.5"#,
            r#"lab.toml:3: run.replications: "1.5" is not a whole number: write it without point and exponent, such as 3"#,
        ),
        (
            r#"flows = ["reno"]
[run]
seed = -1"#,
            r#"lab.toml:3: run.seed: "-1" is not a whole number: it cannot be negative"#,
        ),
        (
            r#"flows = ["reno"]
[run]
eager = "yes""#,
            r#"lab.toml:3: run.eager: "yes" is not true or false: did you mean true?"#,
        ),
        (
            r#"flows = ["4 reno"]"#,
            r#"lab.toml:1: flows[0]: several flows are a number, "*" and a name: write '4*reno'"#,
        ),
        (
            r#"flows = ["cbr"]"#,
            "lab.toml:1: flows[0].rate: needs a rate, such as 'cbr 2Mbps' (rate=2Mbps inside parentheses)",
        ),
        (
            r#"flows = ["reno count=2 count=3"]"#,
            r#"lab.toml:1: flows[0]: "reno count=2 count=3", column 14: count is given twice; keep one of them"#,
        ),
        (
            r#"[[flows]]
kind = "reno"
count = 0"#,
            r#"lab.toml:3: flows[0].count: "0" is out of range, allowed is 1 to 1000000"#,
        ),
        (
            r#"[[flows]]
kind = "cbr"
rate = 1000000"#,
            r#"lab.toml:3: flows[0].rate: missing unit in "1000000": expected a rate such as 1Mbps (1000000bps)"#,
        ),
        (
            r#"[[flows]]
kind = "reno"
start = "1s"
stop = "1s""#,
            "lab.toml:4: flows[0].stop: a stop at 1s is not after the start; stop later, or start earlier",
        ),
        (
            r#"[[links]]
from = "left"
to = "right"
queue = "codel limit=x"
[[flows]]
kind = "reno"
from = "left"
to = "right""#,
            r#"lab.toml:4: links[0].queue: codel: limit: "x" is not a limit: write a number (digits, with at most one decimal point between them) and a unit, such as 100p or 64kB"#,
        ),
        (
            r#"flows = ["reno"]
[[impairments]]
link = "left-right"
loss = 1.5"#,
            r#"lab.toml:4: impairments[0].loss: "1.5" is not a fraction: it lies between 0 and 1 (0% and 100%); did you mean 1.5%?"#,
        ),
        (
            r#"flows = ["reno"]
[[impairments]]
link = "left-right"
loss_list = "1, b""#,
            r#"lab.toml:4: impairments[0].loss_list: "b" is not the number of a packet; write numbers with commas between, counted from 0, such as "12, 47""#,
        ),
    ]);
}

#[test]
fn values_of_another_type_say_what_is_wanted() {
    check(&[
        (
            r#"flows = ["reno"]
[topology]
rate = ["1Mbps", "2Mbps"]"#,
            "lab.toml:3: topology.rate: a list stands where one value (rate, such as 10Mbps) is wanted; a parameter takes one; to compare several, make it a factor of a study",
        ),
        (
            r#"flows = ["reno"]
[topology]
rate = { kind = "x" }"#,
            "lab.toml:3: topology.rate: a table stands where one value (rate, such as 10Mbps) is wanted; write it in quotes",
        ),
        (
            r#"flows = ["reno"]
[topology]
rate = 2020-01-01"#,
            "lab.toml:3: topology.rate: a date stands where one value (rate, such as 10Mbps) is wanted; write it in quotes",
        ),
        (
            r#"flows = ["reno"]
[topology]
kind = 3"#,
            r#"lab.toml:3: topology.kind: a whole number ("3") stands where a text is wanted; write it in quotes"#,
        ),
        (
            r#"flows = ["reno"]
topology = "dumbbell""#,
            r#"lab.toml:2: topology: a text ("dumbbell") stands where a table is wanted; write [topology]"#,
        ),
        (
            r#"flows = ["reno"]
[topology]
queue = { kind = "codel", target = [1] }"#,
            "lab.toml:3: topology.queue.target: a list stands where one value is wanted; write a text, a number, true or false",
        ),
        (
            r#"flows = ["reno"]
dialect = 3"#,
            r#"lab.toml:2: dialect: a whole number ("3") stands where a text is wanted; write it in quotes"#,
        ),
        (
            r#"flows = "reno""#,
            r#"lab.toml:1: flows: a text ("reno") stands where a list is wanted; write flows = ["4*reno"] or [[flows]] for each"#,
        ),
        (
            "flows = [3]",
            r#"lab.toml:1: flows[0]: a whole number ("3") stands where a flow is wanted; write "4*reno", or { kind = "reno", count = 4 }"#,
        ),
        (
            r#"flows = ["reno"]
[links]
from = "a"
to = "b""#,
            "lab.toml:2: links: a table stands where a list is wanted; write [[links]] for each",
        ),
    ]);
}

#[test]
fn unknown_names_name_the_nearest() {
    check(&[
        (
            r#"flows = ["reno"]
[topology]
kind = "dumbell""#,
            r#"lab.toml:3: topology.kind: unknown topology "dumbell", did you mean "dumbbell"? (kinds: dumbbell, parking_lot, chain, graph)"#,
        ),
        (
            r#"flows = ["reno"]
[topology]
queue = "codell""#,
            r#"lab.toml:3: topology.queue: unknown queue discipline "codell", did you mean "codel"? See sojourn list queues"#,
        ),
        (
            r#"flows = ["reno"]
[topology]
queue = "codel dialect=linx""#,
            r#"lab.toml:3: topology.queue: codel: unknown dialect "linx", did you mean "linux"? (dialects: [...])"#,
        ),
        (
            r#"flows = ["reno"]
dialect = "linx""#,
            r#"lab.toml:2: dialect: droptail, in topology.queue, has no dialect "linx", did you mean "linux"? (dialects: [...]); give this one a dialect of its own, such as "droptail dialect=fifo""#,
        ),
        (
            r#"flows = ["reno"]
dialect = "rfc8289"
[topology]
queue = "codel""#,
            r#"lab.toml:2: dialect: droptail, in topology.access_queue, has no dialect "rfc8289" (dialects: [...]); give this one a dialect of its own, such as "droptail dialect=fifo""#,
        ),
        (
            r#"flows = ["reno"]
[run]
ties = "brith""#,
            r#"lab.toml:3: run.ties: "brith" is not one of birth, ns2_clock, departures_first or none: did you mean "birth"?"#,
        ),
        (
            r#"flows = ["rino"]"#,
            r#"lab.toml:1: flows[0]: unknown kind of flow "rino", did you mean "reno"? See sojourn list flows"#,
        ),
        (
            r#"[[flows]]
kind = "reno"
direction = "backward""#,
            r#"lab.toml:3: flows[0].direction: "backward" is not one of forward, reverse: choose one of them"#,
        ),
        (
            r#"[[links]]
from = "left"
to = "right"
[[flows]]
kind = "reno"
from = "left"
to = "rigth""#,
            r#"lab.toml:7: flows[0].to: no link has a node "rigth", did you mean "right"? (nodes: left, right)"#,
        ),
        (
            r#"[[links]]
from = "left"
to = "right"
[[flows]]
kind = "reno"
from = "left"
to = "right"
[[changes]]
at = "1s"
link = "left-rigth"
rate = "1Mbps""#,
            r#"lab.toml:10: changes[0].link: there is no link "left-rigth", did you mean "left-right"? (links: left-right, right-left)"#,
        ),
        (
            r#"flows = ["reno"]
[series]
record = "backlg""#,
            r#"lab.toml:3: series.record: unknown time series "backlg", did you mean "backlog"?"#,
        ),
    ]);
}

#[test]
fn values_that_cannot_be_are_refused() {
    check(&[
        (
            r#"flows = ["reno"]
[[impairments]]
link = "left-right"
to_good = 0.1"#,
            "lab.toml:4: impairments[0].to_good: to_good does nothing without to_bad: the bad state is never entered; give to_bad too, or leave to_good out",
        ),
        (
            r#"flows = ["reno"]
[[impairments]]
link = "left-right"
reorder = true"#,
            "lab.toml:4: impairments[0].reorder: reorder does nothing without jitter: packets of the same delay do not overtake each other; give jitter too, or leave reorder out",
        ),
        (
            r#"flows = ["reno"]
[topology.queue]
kind = "drr"
limit = "100p"
[topology.queue.each]
kind = "codel"
targt = "5ms""#,
            r#"lab.toml:7: topology.queue.each.targt: codel: unknown parameter "targt", did you mean "target"? (parameters: [...])"#,
        ),
        (
            r#"flows = ["reno"]
[topology.queue]
name = "codel""#,
            "lab.toml:2: topology.queue.kind: this key is required; topology.queue.name is called kind",
        ),
        (
            r#"flows = ["udp"]"#,
            r#"lab.toml:1: flows[0]: unknown kind of flow "udp"; UDP is what a source sends on its own: cbr, poisson, exponential, pareto, periodic, on_off, voice, video; see sojourn list sources"#,
        ),
        (
            r#"flows = ["reno 2Mbps"]"#,
            r#"lab.toml:1: flows[0].rate: unknown key; a transfer is as fast as its window allows; for what is written at a rate say source=(cbr rate=2Mbps)"#,
        ),
        (
            r#"flows = ["reno"]
[topology]
queue = "sfq each=(drr)""#,
            "lab.toml:3: topology.queue: drr is a scheduler, but a queue inside this scheduler takes only an AQM, such as droptail or codel; queues inside drr, prio, wrr, srr, qfq, tbf, htb, tsw, police take schedulers",
        ),
        (
            r#"flows = ["reno"]
[topology]
queue = "drr each=(sfq)""#,
            "lab.toml:3: topology.queue: drr: each=(sfq) keeps queues of its own, and the limit of drr cannot drop the longest of them; give limit=none or drop=arriving",
        ),
        (
            r#"flows = ["reno"]
[topology]
queue = { kind = "prio", each = [{ kind = "codel", targt = "5ms" }, "sfq"] }"#,
            "lab.toml:3: topology.queue: codel: unknown parameter \"targt\", did you mean \"target\"? (parameters: [...])",
        ),
        (
            r#"flows = ["reno"]
[topology]
queue = { kind = "sfq", each = [{ kind = "codel" }, { kind = "red" }] }"#,
            "lab.toml:3: topology.queue.each: sfq: each: \"(codel),(red)\" is not a name with parameters: one is for all of them here; leave the others out",
        ),
        (
            r#"flows = ["reno"]
[topology]
queue = "prio each=(codel), (sfq)""#,
            "lab.toml:3: topology.queue: no space behind the comma of a list: write 'prio each=(codel),(sfq)'",
        ),
        (
            r#"flows = ["reno"]
[topology]
queue = "prio each=codel,sfq""#,
            "lab.toml:3: topology.queue: prio: each: \"codel,sfq\" is not a name with parameters: several stand in parentheses: (codel),(sfq)",
        ),
        (
            r#"flows = ["reno"]
schema_version = 2"#,
            "lab.toml:2: schema_version: form 2 of scenario files is not known (known: 1); a later version of Sojourn may read it",
        ),
        (
            r#"flows = ["reno"]
name = " ""#,
            "lab.toml:2: name: a name cannot be empty",
        ),
        (
            r#"flows = ["reno"]
[topology]
rate = "10000000000Gbps""#,
            "lab.toml:3: topology.rate: access links of 10 times 10000000000Gbps are too fast; make it slower, or give access_rate",
        ),
        (
            r#"flows = ["reno"]
[series]
record = "all"
step = "1us""#,
            "lab.toml:4: series.step: a sample every 1us over 60s makes 60000000 samples of each series, allowed is 10000000; make series.step longer, or run.duration shorter",
        ),
    ]);
}

#[test]
fn missing_keys_say_what_to_write() {
    check(&[
        (
            r#"flows = ["reno"]
[topology]
queue = { target = "5ms" }"#,
            r#"lab.toml:3: topology.queue.kind: this key is required; name what it is, such as kind = "codel""#,
        ),
        (
            r#"name = "x""#,
            r#"lab.toml: flows: this key is required; write flows = ["4*reno"], or [[flows]] with kind = "reno""#,
        ),
        (
            "flows = []",
            r#"lab.toml:1: flows: at least one flow is needed; write flows = ["4*reno"], or [[flows]] with kind = "reno""#,
        ),
        (
            r#"[[flows]]
count = 2"#,
            r#"lab.toml:1: flows[0].kind: this key is required; say what runs, such as kind = "reno", or spec = "4*reno""#,
        ),
        (
            r#"flows = ["reno"]
[topology]
kind = "graph""#,
            "lab.toml: links: this key is required; a graph has at least one [[links]] with from and to",
        ),
        (
            r#"flows = ["reno"]
[[links]]
from = "a"
to = "b""#,
            "lab.toml:1: flows[0].from: this key is required in a graph; name the node of the sender with from and that of the receiver with to",
        ),
        (
            r#"flows = ["reno"]
[[links]]
from = "a""#,
            r#"lab.toml:2: links[0].to: this key is required; name the node at the other end, such as to = "right""#,
        ),
        (
            r#"flows = ["reno"]
[[changes]]
link = "left-right"
rate = "1Mbps""#,
            r#"lab.toml:2: changes[0].at: this key is required; say when, such as at = "10s""#,
        ),
        (
            r#"flows = ["reno"]
[[changes]]
at = "1s"
rate = "1Mbps""#,
            r#"lab.toml:2: changes[0].link: this key is required; name the link direction, such as link = "left-right""#,
        ),
        (
            r#"flows = ["reno"]
[[changes]]
at = "1s"
link = "left-right""#,
            "lab.toml:2: changes[0]: this change changes nothing; give it a rate, a delay, a queue or a state",
        ),
        (
            r#"flows = ["reno"]
[[impairments]]
loss = 0.1"#,
            r#"lab.toml:2: impairments[0].link: this key is required; name the link direction, such as link = "left-right""#,
        ),
    ]);
}

#[test]
fn contradictions_name_both_sides() {
    check(&[
        (
            r#"flows = ["reno"]
[run]
duration = "3s"
warmup = "3s""#,
            r#"lab.toml:4: run.warmup: the warmup, 3s, leaves nothing of the duration, 3s, to measure; make run.warmup shorter, such as "0s", or run.duration longer"#,
        ),
        (
            r#"flows = ["reno"]
[run]
duration = "500ms"
warmup = "0s""#,
            "lab.toml:3: run.duration: flows start at random within 1s, but the run ends at 500ms; make run.start_spread shorter, or run.duration longer",
        ),
        (
            r#"flows = ["cbr 1Mbps rate=2Mbps"]"#,
            r#"lab.toml:1: flows[0]: rate is given twice in "cbr 1Mbps rate=2Mbps"; keep one of them"#,
        ),
        (
            r#"[[flows]]
kind = "reno"
spec = "reno""#,
            "lab.toml:3: flows[0].spec: kind and spec both say what runs; keep one of them",
        ),
        (
            r#"[[flows]]
spec = "2*reno"
count = 3"#,
            "lab.toml:3: flows[0].count: count is given here and in the specification; keep one of them",
        ),
        (
            r#"[[flows]]
kind = "reno"
start = "90s""#,
            "lab.toml:3: flows[0].start: a start at 90s is not within the run of 60s; start earlier, or make run.duration longer",
        ),
        (
            r#"[[flows]]
kind = "reno"
stagger = "1s""#,
            r#"lab.toml:3: flows[0].stagger: stagger counts from the start, which is not given; add start = "0s""#,
        ),
        (
            r#"[[flows]]
kind = "reno"
count = 100
start = "0s"
stagger = "1s""#,
            "lab.toml:5: flows[0].stagger: 100 flows that start 1s apart do not all start within the run of 60s; start them closer, or make run.duration longer",
        ),
        (
            r#"[[flows]]
kind = "reno"
rtt = "1ms""#,
            "lab.toml:3: flows[0].rtt: a round trip of 1ms is shorter than the bottleneck, 10ms each way; make it longer, or topology.bottleneck_delay shorter",
        ),
        (
            r#"[topology]
kind = "chain"
[[flows]]
kind = "reno"
rtt = "1ms""#,
            "lab.toml:5: flows[0].rtt: a flow has a round trip of its own only over a dumbbell; leave it out, and set delays of links",
        ),
        (
            r#"[[flows]]
kind = "reno"
from = "a"
to = "a""#,
            "lab.toml:4: flows[0].to: the sender and the receiver are the same node; name two nodes",
        ),
        (
            r#"[[flows]]
kind = "reno"
from = "a""#,
            "lab.toml:3: flows[0].from: one end is given, the other is not; name the nodes of both from and to, or of neither",
        ),
        (
            r#"flows = ["reno"]
[topology]
bottleneck_delay = "30ms""#,
            "lab.toml:3: topology.bottleneck_delay: this is more than an rtt of 40ms leaves; make it shorter, or rtt longer",
        ),
        (
            r#"flows = ["reno"]
[topology]
access_delay = "30ms""#,
            "lab.toml:3: topology.access_delay: this is more than an rtt of 40ms leaves; make it shorter, or rtt longer",
        ),
        (
            r#"flows = ["reno"]
[topology]
access_delay = "1ms"
bottleneck_delay = "10ms"
rtt = "40ms""#,
            "lab.toml:5: topology.rtt: a bottleneck of 10ms and access links of 1ms make a round trip of 24ms; leave out one of the three",
        ),
        (
            r#"flows = ["reno"]
[topology]
access_delay = "1h"
bottleneck_delay = "10ms""#,
            "lab.toml:4: topology.bottleneck_delay: a bottleneck of 10ms and access links of 3600s make too long a round trip; make it at most 1h",
        ),
        (
            r#"flows = ["reno"]
[topology]
kind = "chain"
[[links]]
from = "a"
to = "b""#,
            r#"lab.toml:4: links: links are listed, but the topology is a chain; write kind = "graph" in [topology], or leave out [[links]]"#,
        ),
        (
            r#"flows = ["reno"]
[[links]]
from = "a"
to = "a""#,
            r#"lab.toml:4: links[0].to: a link from "a" to itself; name two nodes"#,
        ),
        (
            r#"flows = ["reno"]
[[links]]
from = "a"
to = "b"
[[links]]
from = "b"
to = "a""#,
            "lab.toml:5: links[1]: there is already a link between b and a; a link has both directions; reverse_rate and reverse_queue set the way back",
        ),
        (
            r#"flows = ["reno"]
[[changes]]
at = "60s"
link = "left-right"
rate = "1Mbps""#,
            "lab.toml:3: changes[0].at: a change at 60s is not within the run of 60s; change earlier, or make run.duration longer",
        ),
        (
            r#"flows = ["reno"]
[[changes]]
at = "6s"
link = "left-right"
rate = "1Mbps"
[[changes]]
at = "6s"
link = "left-right"
rate = "2Mbps""#,
            "lab.toml:7: changes[1].at: left-right changes twice at 6s; keep one of the two",
        ),
        (
            r#"flows = ["reno"]
[[impairments]]
link = "left-right"
loss_list = "1"
loss = 0.1"#,
            "lab.toml:4: impairments[0].loss_list: loss_list and loss are two models of loss; keep one of them",
        ),
        (
            r#"flows = ["reno"]
[[impairments]]
link = "a"
[[impairments]]
link = "a""#,
            "lab.toml:5: impairments[1].link: the link a has impairments already; write all of them in one [[impairments]]",
        ),
    ]);
}

#[test]
fn a_label_cannot_be_a_word_by_which_a_study_means_other_flows() {
    check(&[
        (
            r#"[[flows]]
kind = "reno"
label = "all""#,
            r#"lab.toml:3: flows[0].label: "all" means something else where a study says of what a metric is (any text but: forward, reverse, all, bottleneck, queues, run, what has " over " in it); give the flows another label"#,
        ),
        (
            r#"flows = ["cbr 1Mbps", "2*reno label=run"]"#,
            r#"lab.toml:1: flows[1].label: "run" means something else where a study says of what a metric is (any text but: forward, reverse, all, bottleneck, queues, run, what has " over " in it); give the flows another label"#,
        ),
        (
            r#"[[flows]]
kind = "reno"
label = "voice ""#,
            r#"lab.toml:3: flows[0].label: "voice " is not a label (any text but: forward, reverse, all, bottleneck, queues, run, what has " over " in it); write it without spaces around, and not empty"#,
        ),
    ]);
    for label in ["forward", "reverse", "bottleneck", "queues", ""] {
        let text = format!("[[flows]]\nkind = \"reno\"\nlabel = \"{label}\"");
        let document = Document::parse(&text, "lab.toml").unwrap();
        assert!(Scenario::from_document(&document).is_err(), "{label:?}");
    }
}

#[test]
fn a_switch_of_tc_is_answered_with_what_to_write() {
    check(&[
        (
            r#"flows = ["reno"]
[topology]
queue = "red noecn""#,
            r#"lab.toml:3: topology.queue: "red noecn" is not a name with parameters: column 5: expected key=value, found "noecn" alone (no spaces around "="); write ecn=false"#,
        ),
        (
            r#"flows = ["reno"]
[topology]
queue = { kind = "drr", each = "pie limit=100p bytemode" }"#,
            r#"lab.toml:3: topology.queue.each: drr: each: "pie limit=100p bytemode" is not a name with parameters: column 16: expected key=value, found "bytemode" alone (no spaces around "="); write byte_mode=true"#,
        ),
        (
            r#"flows = ["reno"]
[topology]
queue = "sfq perturb=10""#,
            r#"lab.toml:3: topology.queue: sfq: perturb: "10" is not true or false: tc's perturb is perturb_period: perturb_period=10s"#,
        ),
    ]);
}

#[test]
fn a_key_of_another_kind_of_topology_is_told_with_the_kind() {
    check(&[
        (
            r#"flows = ["reno"]
[topology]
kind = "graph"
rate = "1Mbps""#,
            "lab.toml:4: topology.rate: rate is of kind dumbbell, parking_lot, chain, and the kind is graph (line 3) (allowed: kind); write it in an entry of [[links]], or links.FROM-TO in a path, or write another kind",
        ),
        (
            r#"flows = ["reno"]
[topology]
hops = 3"#,
            "lab.toml:3: topology.hops: hops is of kind parking_lot, chain, and the kind is dumbbell (allowed: [...]); leave it out, or write another kind",
        ),
    ]);
}

#[test]
fn a_schedule_of_opportunities_that_says_nothing_or_too_much_is_refused() {
    check(&[
        (
            r#"flows = ["reno"]
[[opportunities]]
link = "left-right""#,
            r#"lab.toml:2: opportunities[0].file: this key is required; say when the link may send with file, gaps or every, such as every = "8ms""#,
        ),
        (
            r#"flows = ["reno"]
[[opportunities]]
link = "left-right"
every = "4ms"
gaps = "1""#,
            "lab.toml:4: opportunities[0].every: gaps and every are two schedules; keep one of them",
        ),
        (
            r#"flows = ["reno"]
[[opportunities]]
link = "left-right"
gaps = "1,x""#,
            r#"lab.toml:4: opportunities[0].gaps: "x" is not a whole number of milliseconds"#,
        ),
        (
            r#"flows = ["reno"]
[[opportunities]]
link = "left-right"
gaps = "0,0""#,
            "lab.toml:4: opportunities[0].gaps: all opportunities are at 0 ms, so that there is no time after which they repeat",
        ),
        (
            r#"flows = ["reno"]
[[opportunities]]
link = "left-right"
file = "no-such.down""#,
            "lab.toml:4: opportunities[0].file: no-such.down: there is no such file; check the path",
        ),
        (
            r#"flows = ["reno"]
[[opportunities]]
link = "left-right"
every = "4ms"
[[opportunities]]
link = "left-right"
every = "5ms""#,
            "lab.toml:6: opportunities[1].link: the link left-right has a schedule already; keep one of the two",
        ),
    ]);
}

#[test]
fn a_link_with_a_schedule_has_no_rate_to_change_and_no_clock_of_ns2() {
    let wrong = |text: &str| {
        let document = Document::parse(text, "lab.toml").expect("TOML");
        let scenario = Scenario::from_document(&document).expect("a scenario");
        let error = sojourn_run::run::run(&scenario, 0).expect_err("a mistake");
        document.locate(error).to_string()
    };
    let schedule = "[[opportunities]]\nlink = \"left-right\"\nevery = \"4ms\"\n";
    assert!(
        wrong(&format!("flows = [\"reno\"]\n{schedule}[[changes]]\nat = \"2s\"\nlink = \"left-right\"\nrate = \"1Mbps\"\n"))
            .starts_with("lab.toml:8: changes[0].rate: left-right sends at the opportunities of its schedule, not at a rate;")
    );
    assert!(
        wrong(&format!("dialect = \"ns2\"\nflows = [\"reno\"]\n{schedule}"))
            .starts_with("lab.toml:4: opportunities[0].link: the clock of ns-2 has no links that send at opportunities;")
    );
}

#[test]
fn a_label_that_is_the_name_of_a_link_direction_is_refused() {
    let text = r#"flows = ["2*cubic label=left-right"]"#;
    let document = Document::parse(text, "lab.toml").expect("TOML");
    let scenario = Scenario::from_document(&document).expect("a scenario");
    let resolved = scenario.resolve().expect("resolved");
    let error = compile(&resolved, 0).err().expect("ambiguous");
    assert_eq!(
        error.to_string(),
        "flows[0].label: \"left-right\" is also the name of a link direction; give the flows another label"
    );
    let text = text.replace("left-right", "left-rights");
    let document = Document::parse(&text, "lab.toml").expect("TOML");
    let scenario = Scenario::from_document(&document).expect("a scenario");
    assert!(compile(&scenario.resolve().expect("resolved"), 0).is_ok());
}
