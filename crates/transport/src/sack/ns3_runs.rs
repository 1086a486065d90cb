//! Windows of single flows in dialect ns3, against those of ns-3.44 and 3.37 (`tests/data/ns3-3.44`, `ns3-3.37`), acknowledgement by
//! acknowledgement.

use super::runs::Path;
use crate::tcp::runs::Fifo;
use sojourn_units::{Span, Time};

/// How often our window is looked at.
const STEP: Span = Span::from_us(20);

/// The window changes where ns-3's does, and to the same byte, in every acknowledgement of `file`: a FIFO of `limit` packets, `delay` each way.
fn follow(cc: &'static str, file: &str, limit: u64, delay: Span) {
    let rows = follow_with(cc, &[], "10", file, limit, delay);
    assert!(rows > 300, "{rows}");
}

/// The same with settings of the congestion control and an initial window of the given segments; how many changes there were.
fn follow_with(
    cc: &'static str,
    control: &[(&str, &str)],
    segments: &'static str,
    file: &str,
    limit: u64,
    delay: Span,
) -> usize {
    let rows: Vec<(u64, u64)> = file
        .lines()
        .skip(1)
        .map(|line| {
            let (ns, cwnd) = line.split_once(',').unwrap();
            (ns.parse().unwrap(), cwnd.parse().unwrap())
        })
        .collect();
    let last = Span::from_ns(rows.last().unwrap().0);
    let outcome = Path {
        dialect: "ns3",
        cc,
        tcp: vec![
            ("mss", "1448B"),
            ("headers", "54B"),
            ("window", "16777216B"),
            ("initial_window", segments),
        ],
        control: control
            .iter()
            .map(|&(key, value)| (key.to_owned(), value.to_owned()))
            .collect(),
        delay,
        forward: Fifo::of(limit),
        device_queue: 1,
        every: Some(STEP),
        run: last + Span::from_ms(200),
        ..Path::default()
    }
    .run();
    let gauges = &outcome.gauges[0];
    let begins = gauges.iter().position(|g| g.cwnd_bytes > 0).unwrap();
    for (row, &(ns, cwnd)) in rows.iter().enumerate() {
        // The next two looks at it: when the connection began is known to a step.
        let at = begins + usize::try_from(Span::from_ns(ns).as_ps() / STEP.as_ps()).unwrap();
        let ours: Vec<u64> = gauges[at..at + 3].iter().map(|g| g.cwnd_bytes).collect();
        let time = Time::ZERO + Span::from_ns(ns);
        assert!(
            ours.contains(&cwnd),
            "row {row}, {time}: ns-3 has {cwnd} bytes, ours are {ours:?}"
        );
    }
    rows.len()
}

macro_rules! data {
    ($name:literal) => {
        data!("3.44", $name)
    };
    ($release:literal, $($name:literal),+) => {
        include_str!(concat!(
            "../../../../tests/data/ns3-",
            $release,
            "/",
            $($name,)+
            ".csv"
        ))
    };
}

#[test]
fn windows_of_newreno_are_those_of_ns3() {
    follow("reno", data!("newreno-20ms"), 17, Span::from_ms(10));
    follow("reno", data!("newreno-80ms"), 67, Span::from_ms(40));
}

#[test]
fn windows_of_cubic_are_those_of_ns3() {
    follow("cubic", data!("cubic-20ms"), 17, Span::from_ms(10));
    follow("cubic", data!("cubic-80ms"), 67, Span::from_ms(40));
}

#[test]
fn windows_of_ledbat_are_those_of_ns3() {
    let ten = Span::from_ms(10);
    follow("ledbat", data!("3.37", "ledbat-starts"), 1000, ten);
    let control = [("slow_start", "false"), ("target", "25ms")];
    let file = data!("3.37", "ledbat-falls");
    let rows = follow_with("ledbat", &control, "44", file, 1000, ten);
    assert!(rows > 30, "{rows}");
}

/// A test for each algorithm: slow start, the losses that end it, and what comes after them, over both paths.
macro_rules! follows {
    ($($test:ident $name:literal;)*) => {
        $(#[test]
        fn $test() {
            let (short, long) = (Span::from_ms(10), Span::from_ms(40));
            follow_with($name, &[], "10", data!("3.44", $name, "-20ms"), 17, short);
            follow_with($name, &[], "10", data!("3.44", $name, "-80ms"), 67, long);
        })*
    };
}

follows! {
    windows_of_vegas_are_those_of_ns3 "vegas";
    windows_of_westwood_are_those_of_ns3 "westwood";
    windows_of_highspeed_are_those_of_ns3 "highspeed";
    windows_of_scalable_are_those_of_ns3 "scalable";
    windows_of_htcp_are_those_of_ns3 "htcp";
    windows_of_bic_are_those_of_ns3 "bic";
    windows_of_veno_are_those_of_ns3 "veno";
    windows_of_illinois_are_those_of_ns3 "illinois";
    windows_of_hybla_are_those_of_ns3 "hybla";
    windows_of_yeah_are_those_of_ns3 "yeah";
    windows_of_lp_are_those_of_ns3 "lp";
}
