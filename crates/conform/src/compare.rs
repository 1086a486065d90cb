//! The answers of an implementation next to those of a conformance vector: whether they agree, and the story of the first that does not.

use crate::vectors::{Answer, Arriving, Step, Vector, number};
use std::fmt::Write;

/// How far a state may be from the expected one, relative to the larger of the two, and absolutely below 1.
const TOLERANCE: f64 = 1e-9;

/// What an implementation made of a vector.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// Every answer was right; `states` of them told the internal state.
    Agrees {
        /// Answers that told the state.
        states: usize,
    },
    /// It says that it does not implement the discipline or dialect.
    Unsupported,
    /// It answered otherwise.
    Differs(Box<Difference>),
}

/// The first answer that differs.
#[derive(Clone, PartialEq, Debug)]
pub struct Difference {
    /// Position of the event, from 0.
    pub step: usize,
    /// What was answered; none if the answers ended before.
    pub given: Option<String>,
    /// What is wrong with it.
    pub what: String,
}

/// Compares the answers of an implementation, one line per event, with a vector.
pub fn compare(vector: &Vector, answers: &str) -> Outcome {
    let mut lines = answers
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.strip_prefix('>').unwrap_or(line).trim());
    let mut states = 0;
    for (step, index) in vector.steps.iter().zip(0..) {
        let line = lines.next();
        if index == 0 && line == Some("unsupported") {
            return Outcome::Unsupported;
        }
        let differs = |what: String| {
            Outcome::Differs(Box::new(Difference {
                step: index,
                given: line.map(str::to_owned),
                what,
            }))
        };
        let Some(text) = line else {
            return differs(format!(
                "the answers end here, {} are missing",
                vector.steps.len() - index
            ));
        };
        let answer: Answer = match text.parse() {
            Ok(answer) => answer,
            Err(problem) => return differs(format!("the answer cannot be read: {problem}")),
        };
        if let Some(what) = difference(vector, &step.answer, &answer) {
            return differs(what);
        }
        states += usize::from(answer.state.is_some());
    }
    match lines.next() {
        None => Outcome::Agrees { states },
        Some(line) => Outcome::Differs(Box::new(Difference {
            step: vector.steps.len(),
            given: Some(line.to_owned()),
            what: "an answer to no event".to_owned(),
        })),
    }
}

/// What is wrong with an answer. Reasons and states that it leaves out, or gives as `-` or `nan`, are not compared.
fn difference(vector: &Vector, expected: &Answer, given: &Answer) -> Option<String> {
    let list = |packets: &[(u32, Option<String>)]| match packets {
        [] => "nothing".to_owned(),
        packets => packets
            .iter()
            .map(|(packet, reason)| match reason {
                Some(reason) => format!("{packet} ({reason})"),
                None => packet.to_string(),
            })
            .collect::<Vec<_>>()
            .join(", "),
    };
    let same = |expected: &[(u32, Option<String>)], given: &[(u32, Option<String>)]| {
        expected.len() == given.len()
            && expected
                .iter()
                .zip(given)
                .all(|(e, g)| e.0 == g.0 && (g.1.is_none() || e.1 == g.1))
    };
    for (word, expected, given) in [
        ("dropped", &expected.drops, &given.drops),
        ("marked", &expected.marks, &given.marks),
    ] {
        if !same(expected, given) {
            return Some(format!(
                "{word}: expected {}, got {}",
                list(expected),
                list(given)
            ));
        }
    }
    if expected.sent != given.sent {
        let packet = |sent: Option<u32>| sent.map_or("nothing".to_owned(), |p| p.to_string());
        return Some(format!(
            "sent: expected {}, got {}",
            packet(expected.sent),
            packet(given.sent)
        ));
    }
    let (Some(wanted), Some(got)) = (&expected.state, &given.state) else {
        return None;
    };
    let names = vector.state_names();
    if wanted.len() != got.len() {
        return Some(format!(
            "state: expected {} numbers ({}), got {}",
            wanted.len(),
            names.join(", "),
            got.len()
        ));
    }
    let far = |wanted: f64, got: f64| {
        let scale = wanted.abs().max(got.abs()).max(1.0);
        !wanted.is_nan()
            && !got.is_nan()
            && wanted != got
            && (wanted - got).abs() > TOLERANCE * scale
    };
    let at = wanted.iter().zip(got).position(|(w, g)| far(*w, *g))?;
    Some(format!(
        "state: {}: expected {}, got {}",
        names.get(at).unwrap_or(&"?"),
        number(wanted[at]),
        number(got[at])
    ))
}

/// Events shown before the one that differs.
const SHOWN: usize = 5;

/// Explains a difference: the event, what was expected and given, the packet's story and the events before.
pub fn explain(vector: &Vector, difference: &Difference) -> String {
    let mut text = String::new();
    let Some(step) = vector.steps.get(difference.step) else {
        let _ = writeln!(
            text,
            "{}: after the last of {} events: {}",
            vector.name,
            vector.steps.len(),
            difference.what
        );
        return text;
    };
    let _ = writeln!(
        text,
        "{}:{}: event {} of {}: {}",
        vector.name,
        step.line,
        difference.step + 1,
        vector.steps.len(),
        difference.what
    );
    let _ = writeln!(text, "  event     {}", describe(step));
    let _ = writeln!(text, "  expected  {}", step.answer);
    let given = difference.given.as_deref().unwrap_or("(nothing)");
    let _ = writeln!(text, "  got       {given}");
    let names = vector.state_names();
    let state_before = difference
        .step
        .checked_sub(1)
        .and_then(|before| vector.steps[before].answer.state.as_ref());
    if let Some(state) = state_before.filter(|state| !state.is_empty()) {
        let pairs: Vec<String> = names
            .iter()
            .zip(state)
            .map(|(name, value)| format!("{name} {}", number(*value)))
            .collect();
        let _ = writeln!(text, "  state before it: {}", pairs.join(", "));
    }
    let waiting = waiting(vector, difference.step);
    let _ = writeln!(
        text,
        "  waiting before it: {} packets, {} bytes{}",
        waiting.len(),
        waiting.iter().map(|a| u64::from(a.1.bytes)).sum::<u64>(),
        waiting.first().map_or(String::new(), |(since, first)| {
            let waited = step.event.time_ns.saturating_sub(*since);
            format!("; the oldest, {}, for {}", first.packet, seconds(waited))
        })
    );
    let from = difference.step.saturating_sub(SHOWN);
    if from < difference.step {
        let _ = writeln!(text, "  events before it, answered rightly:");
        for step in &vector.steps[from..difference.step] {
            let _ = writeln!(text, "    {}  > {}", step.event, step.answer);
        }
    }
    text
}

fn describe(step: &Step) -> String {
    let at = seconds(step.event.time_ns);
    let what = match &step.event.arrival {
        None => format!("at {at} the transmitter asks for a packet"),
        Some(a) => format!(
            "at {at} packet {} arrives: {} bytes, flow {}, ECN {}, DSCP {}",
            a.packet, a.bytes, a.flow, a.ecn, a.dscp
        ),
    };
    match step.event.draws.len() {
        0 => what,
        1 => format!("{what}; one random draw"),
        n => format!("{what}; {n} random draws"),
    }
}

/// The packets that wait before a step, in order of arrival, with their times.
fn waiting(vector: &Vector, before: usize) -> Vec<(u64, Arriving)> {
    let mut waiting: Vec<(u64, Arriving)> = Vec::new();
    for step in &vector.steps[..before] {
        if let Some(arriving) = step.event.arrival {
            waiting.push((step.event.time_ns, arriving));
        }
        let gone = |packet: u32| {
            step.answer.sent == Some(packet) || step.answer.drops.iter().any(|d| d.0 == packet)
        };
        waiting.retain(|(_, a)| !gone(a.packet));
    }
    waiting
}

fn seconds(ns: u64) -> String {
    let whole = ns / 1_000_000_000;
    let text = format!("{whole}.{:09}", ns % 1_000_000_000);
    format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::{catalogue, generate, parse};

    fn codel() -> Vector {
        let spec = "codel limit=60p".parse().expect("a spec");
        generate("codel-rfc8289", &spec, 1).expect("a vector")
    }

    /// Answers as an implementation that is right would give them.
    fn answers(vector: &Vector) -> Vec<String> {
        let text = |step: &Step| step.answer.to_string();
        vector.steps.iter().map(text).collect()
    }

    #[test]
    fn every_vector_reads_back_and_agrees_with_itself() {
        for (name, spec) in catalogue() {
            let vector = generate(&name, &spec, 1).expect(&name);
            assert_eq!(parse(&name, &vector.to_string()).expect(&name), vector);
            let states = vector.steps.iter().filter(|s| s.answer.state.is_some());
            let expected = Outcome::Agrees {
                states: states.count(),
            };
            assert_eq!(compare(&vector, &answers(&vector).join("\n")), expected);
        }
    }

    #[test]
    fn what_an_answer_leaves_out_is_not_compared() {
        let vector = codel();
        let bare = |step: &Step| {
            let strip = |all: &[(u32, Option<String>)]| all.iter().map(|d| (d.0, None)).collect();
            let answer = Answer {
                sent: step.answer.sent,
                drops: strip(&step.answer.drops),
                marks: strip(&step.answer.marks),
                state: None,
            };
            answer.to_string()
        };
        let answers: Vec<String> = vector.steps.iter().map(bare).collect();
        assert_eq!(
            compare(&vector, &answers.join("\n")),
            Outcome::Agrees { states: 0 }
        );
    }

    #[test]
    fn the_first_wrong_answer_is_found_and_explained() {
        let vector = codel();
        let first = vector
            .steps
            .iter()
            .position(|s| {
                s.answer
                    .drops
                    .iter()
                    .any(|d| d.1.as_deref() == Some("target_exceeded"))
            })
            .expect("a drop");
        let mut answers = answers(&vector);
        // The drop did not happen: the head was sent instead.
        let dropped = vector.steps[first].answer.drops[0].0;
        answers[first] = format!("sent {dropped}");
        let Outcome::Differs(difference) = compare(&vector, &answers.join("\n")) else {
            panic!("a drop less goes unseen");
        };
        assert_eq!(difference.step, first);
        let text = explain(&vector, &difference);
        let line = vector.steps[first].line;
        assert!(
            text.starts_with(&format!("codel-rfc8289:{line}: event {} of", first + 1)),
            "{text}"
        );
        assert!(
            text.contains(&format!(
                "dropped: expected {dropped} (target_exceeded), got nothing"
            )),
            "{text}"
        );
        assert!(text.contains("state before it: "), "{text}");
    }

    #[test]
    fn each_part_of_an_answer_is_compared() {
        let vector = codel();
        let sent = vector.steps.iter().position(|s| s.answer.sent.is_some());
        let at = sent.expect("a packet is sent");
        let right = answers(&vector);
        let wrong = |line: &str| {
            let mut answers = right.clone();
            line.clone_into(&mut answers[at]);
            match compare(&vector, &answers.join("\n")) {
                Outcome::Differs(difference) => (difference.step, difference.what),
                other => panic!("{line:?}: {other:?}"),
            }
        };
        for (line, what) in [
            ("none", "sent: expected 0, got nothing"),
            ("sent 1", "sent: expected 0, got 1"),
            ("sent 0; drop 1", "dropped: expected nothing, got 1"),
            (
                "sent 0; mark 0 early",
                "marked: expected nothing, got 0 (early)",
            ),
            ("sent 0; state 1", "state: expected "),
            (
                "sent zero",
                "the answer cannot be read: \"zero\" is not the number of a packet",
            ),
            ("gone", "the answer cannot be read: \"gone\" is none of"),
        ] {
            let (step, said) = wrong(line);
            assert_eq!(step, at, "{line}");
            assert!(said.starts_with(what), "{line}: {said}");
        }
        let short = right[..at].join("\n");
        let Outcome::Differs(difference) = compare(&vector, &short) else {
            panic!("missing answers go unseen");
        };
        assert_eq!(difference.step, at);
        let long = format!("{}\nnone", right.join("\n"));
        assert!(matches!(compare(&vector, &long), Outcome::Differs(_)));
        assert_eq!(compare(&vector, "unsupported\n"), Outcome::Unsupported);
    }
}
