//! Traces that Sojourn writes, read back: the figures of the run itself, to the last digit.

use sojourn_results::outcome::RunOutcome;
use sojourn_results::stats::{to_f64, wide_to_f64};
use sojourn_run::compile::compile;
use sojourn_scenario::document::Document;
use sojourn_scenario::model::Scenario;
use sojourn_traces::read::format::Format;
use sojourn_traces::read::input::Input;
use sojourn_traces::read::table::{TraceTable, Value};
use sojourn_traces::read::{Analysis, Options, capture, events};
use sojourn_traces::write::{TraceError, TraceFormat, run_written};
use sojourn_units::{Rate, Time};
use std::io::Cursor;

fn scenario(text: &str) -> Scenario {
    Scenario::from_document(&Document::parse(text, "t.toml").unwrap()).unwrap()
}

/// Every time is a whole microsecond: what ns-2's own format loses nothing of.
const WHOLE: &str = "dialect = \"ns2\"\n[run]\nduration = \"4s\"\nwarmup = \"1s\"\ndeterministic = true\n\
    [topology]\nrate = \"1Mbps\"\nrtt = \"24ms\"\nbottleneck_delay = \"10ms\"\naccess_rate = \"10Mbps\"\n\
    queue = \"droptail limit=8p\"\n[[flows]]\nspec = \"2*cbr 1Mbps size=1000B\"\n";

const SCENARIOS: [&str; 5] = [
    WHOLE,
    "[run]\nduration = \"5s\"\nwarmup = \"1s\"\n[topology]\nrate = \"7.3Mbps\"\nrtt = \"31ms\"\nqueue = \"codel\"\n\
     [[flows]]\nspec = \"3*reno\"\n[[flows]]\nspec = \"poisson 1Mbps\"\n",
    "dialect = \"ns2\"\n[run]\nduration = \"6s\"\nwarmup = \"0s\"\n[topology]\nrate = \"1.5Mbps\"\nrtt = \"44ms\"\nqueue = \"red\"\n\
     [[flows]]\nspec = \"2*newreno\"\n[[flows]]\nspec = \"exponential 300kbps\"\n",
    "[run]\nduration = \"4s\"\nwarmup = \"500ms\"\n[topology]\nrate = \"10Mbps\"\nrtt = \"20ms\"\nqueue = \"fq_codel\"\n\
     [[flows]]\nspec = \"4*cubic\"\necn = true\n[[flows]]\nspec = \"pareto 3Mbps\"\n",
    "[run]\nduration = \"3s\"\nwarmup = \"1s\"\n[topology]\nrate = \"3Mbps\"\nrtt = \"50ms\"\nqueue = \"drr\"\n\
     [[flows]]\nspec = \"2*bbr\"\n[[flows]]\nspec = \"quic\"\n",
];

fn written(scenario: &Scenario, format: TraceFormat) -> (RunOutcome, Vec<u8>) {
    let mut bytes = Vec::new();
    let outcome = run_written(scenario, 0, format, &[], &mut bytes).unwrap();
    (outcome, bytes)
}

fn number(table: &TraceTable, row: usize, column: &str) -> Option<f64> {
    match table.value(row, column) {
        Some(Value::Number(number)) => *number,
        other => panic!("{}.{column}: {other:?}", table.name),
    }
}

fn count(table: &TraceTable, row: usize, column: &str) -> u64 {
    match table.value(row, column) {
        Some(Value::Integer(Some(count))) => *count,
        other => panic!("{}.{column}: {other:?}", table.name),
    }
}

/// The row whose columns have these texts.
fn row(table: &TraceTable, wanted: &[(&str, &str)]) -> Option<usize> {
    (0..table.rows.len()).find(|row| {
        wanted.iter().all(|(column, text)| {
            table.value(*row, column) == Some(&Value::Text((*text).to_owned()))
        })
    })
}

fn agree(text: &str, format: TraceFormat) {
    let scenario = scenario(text);
    let compiled = compile(&scenario.resolve().unwrap(), 0).unwrap();
    let (outcome, bytes) = written(&scenario, format);
    let mut options = Options {
        from: Some(Time::ZERO + scenario.run.warmup()),
        to: Some(Time::ZERO + scenario.run.duration),
        ..Options::default()
    };
    let links = compiled.network.links.iter().zip(&compiled.links);
    let link_name = |name: &str| {
        let (spec, _) = links.clone().find(|(_, info)| info.name == name).unwrap();
        format!("{}-{}", spec.from, spec.to)
    };
    // What carried nothing does not occur in a trace.
    let used = || {
        outcome
            .queues
            .iter()
            .filter(|queue| queue.totals.received > 0)
    };
    for queue in used() {
        options.rates.push((link_name(&queue.link), queue.rate));
    }
    let input = Input::new(Cursor::new(bytes), "own.tr", false).unwrap();
    let analysis = events::analyse(input, Format::Ns2, &options).unwrap();
    let links = analysis.table("links").unwrap();
    assert!(used().count() > 0);
    for queue in used() {
        let at = row(links, &[("link", &link_name(&queue.link))]).unwrap();
        assert_eq!(
            count(links, at, "enqueued_packets"),
            queue.totals.received,
            "{text}"
        );
        assert_eq!(count(links, at, "dropped_packets"), queue.totals.dropped());
        assert_eq!(count(links, at, "sent_packets"), queue.sent_packets);
        assert_eq!(count(links, at, "sent_bytes"), queue.sent_bytes);
        assert_eq!(count(links, at, "queueing_count"), queue.sojourn.count());
        let mean = (queue.sojourn.count() > 0)
            .then(|| wide_to_f64(queue.sojourn_sum) * 1e-12 / to_f64(queue.sojourn.count()));
        assert_eq!(number(links, at, "queueing_s_mean"), mean);
        let max = queue.sojourn_min.map(|_| queue.sojourn_max.as_secs_f64());
        assert_eq!(number(links, at, "queueing_s_max"), max);
        for (q, column) in [
            (0.05, "queueing_s_p05"),
            (0.5, "queueing_s_p50"),
            (0.99, "queueing_s_p99"),
        ] {
            let within = |ps: u64| {
                let least = queue.sojourn_min.map_or(0, |span| span.as_ps());
                ps.max(least).min(queue.sojourn_max.as_ps())
            };
            let quantile = queue.sojourn.quantile(q);
            let wanted = quantile.map(|ps| to_f64(within(ps)) * 1e-12);
            assert_eq!(number(links, at, column), wanted);
        }
        let utilization = 8.0 * to_f64(queue.sent_bytes) / wide_to_f64(queue.capacity_bits);
        assert_eq!(
            number(links, at, "utilization_ratio"),
            Some(utilization.min(1.0))
        );
    }
    let flows = analysis.table("flows").unwrap();
    for (flow, id) in outcome.flows.iter().zip(1..) {
        let info = compiled
            .flows
            .iter()
            .find(|info| info.name == flow.name)
            .unwrap();
        let ends = (0..flows.rows.len()).find(|row| {
            let source = flows.value(*row, "source");
            flows.value(*row, "id") == Some(&Value::Text(format!("{id}")))
                && matches!(source, Some(Value::Text(text)) if text.starts_with(&format!("{}.", info.source)))
        });
        let at = ends.unwrap();
        assert_eq!(
            count(flows, at, "sent_packets"),
            flow.sent_packets,
            "{text}: {}",
            flow.name
        );
        assert_eq!(count(flows, at, "sent_bytes"), flow.sent_bytes);
        assert_eq!(count(flows, at, "received_packets"), flow.delivered_packets);
        assert_eq!(count(flows, at, "received_bytes"), flow.delivered_bytes);
        assert_eq!(count(flows, at, "dropped_packets"), flow.dropped_packets);
        assert_eq!(count(flows, at, "marked_packets"), flow.marked_packets);
        assert_eq!(count(flows, at, "lost_packets"), 0);
        let packets = flow.delay.count();
        let mean = (packets > 0).then(|| wide_to_f64(flow.delay_sum) * 1e-12 / to_f64(packets));
        assert_eq!(number(flows, at, "delay_s_mean"), mean);
        assert_eq!(
            number(flows, at, "delay_s_min"),
            flow.delay_min.map(|delay| delay.as_secs_f64())
        );
        let least = flow.delay_min.map_or(0, |delay| delay.as_ps());
        let within = |ps: u64| ps.max(least).min(flow.delay_max.as_ps());
        let p95 = flow.delay.quantile(0.95);
        let p95 = p95.map(|ps| to_f64(within(ps)) * 1e-12);
        assert_eq!(number(flows, at, "delay_s_p95"), p95);
        let seconds = outcome.measured.as_secs_f64();
        let throughput = 8.0 * to_f64(flow.delivered_bytes) / seconds;
        assert_eq!(number(flows, at, "throughput_bps"), Some(throughput));
        let mean =
            (packets > 1).then(|| wide_to_f64(flow.jitter_sum) * 1e-12 / to_f64(packets - 1));
        assert_eq!(number(flows, at, "jitter_s_mean"), mean);
    }
}

#[test]
fn a_trace_to_the_picosecond_gives_the_figures_of_the_run() {
    for text in SCENARIOS {
        agree(text, TraceFormat::Ns2Exact);
    }
}

#[test]
fn a_trace_in_microseconds_gives_them_where_all_times_are_whole_microseconds() {
    agree(WHOLE, TraceFormat::Ns2);
}

#[test]
fn steps_of_the_series_add_up_to_the_whole() {
    let (_, bytes) = written(&scenario(SCENARIOS[2]), TraceFormat::Ns2);
    let input = Input::new(Cursor::new(bytes), "own.tr", false).unwrap();
    let analysis = events::analyse(input, Format::Ns2, &Options::default()).unwrap();
    let series = analysis.table("series").unwrap();
    let flows = analysis.table("flows").unwrap();
    for row in 0..flows.rows.len() {
        let name = flows.value(row, "flow").unwrap();
        let own = (0..series.rows.len()).filter(|at| series.value(*at, "name") == Some(name));
        let own: Vec<usize> = own.collect();
        for column in ["sent_packets", "received_bytes", "dropped_packets"] {
            let sum: u64 = own.iter().map(|at| count(series, *at, column)).sum();
            assert_eq!(sum, count(flows, row, column), "{column}");
        }
        let last = *own.last().unwrap();
        assert_eq!(
            count(series, last, "received_total_bytes"),
            count(flows, row, "received_bytes")
        );
    }
}

fn read_capture(bytes: &[u8]) -> Analysis {
    let input = Input::new(Cursor::new(bytes.to_vec()), "own.pcapng", false).unwrap();
    capture::analyse(input, Format::Pcapng, None, &Options::default()).unwrap()
}

#[test]
fn a_capture_has_what_every_link_sent_and_dropped() {
    for text in SCENARIOS {
        // Without a warm-up, what the run counts is what the capture has.
        let mut scenario = scenario(text);
        scenario.run.warmup = sojourn_scenario::model::Warmup::Of(sojourn_units::Span::ZERO);
        let (outcome, bytes) = written(&scenario, TraceFormat::Pcapng);
        let analysis = read_capture(&bytes);
        let interfaces = analysis.table("interfaces").unwrap();
        for queue in &outcome.queues {
            let at = row(interfaces, &[("interface", &queue.link)]).unwrap();
            assert_eq!(count(interfaces, at, "packets"), queue.sent_packets);
            // A SYN has options. The sizes of a simulation know nothing of them.
            let longer = count(interfaces, at, "bytes") - queue.sent_bytes;
            assert!(
                longer <= 12 * u64::try_from(outcome.flows.len()).unwrap(),
                "{longer}"
            );
            assert_eq!(
                count(interfaces, at, "dropped_packets"),
                queue.totals.dropped()
            );
            assert_eq!(
                number(interfaces, at, "rate_bps"),
                Some(queue.rate.as_bps_f64())
            );
        }
        let whole = analysis.table("trace").unwrap();
        assert_eq!(count(whole, 0, "packets"), count(whole, 0, "ip_packets"));
        assert_eq!(count(whole, 0, "damaged_packets"), 0);
    }
}

#[test]
fn retransmissions_in_a_capture_are_those_of_the_sender() {
    let text = "dialect = \"ns2\"\n[run]\nduration = \"6s\"\nwarmup = \"0s\"\ndeterministic = true\n[topology]\nrate = \"1.5Mbps\"\nrtt = \"44ms\"\n\
        queue = \"droptail limit=8p\"\n[[flows]]\nspec = \"newreno\"\n";
    let (outcome, bytes) = written(&scenario(text), TraceFormat::Pcapng);
    let analysis = read_capture(&bytes);
    let conversations = analysis.table("conversations").unwrap();
    // Where the sender begins: nothing is lost before.
    let at = (0..conversations.rows.len())
        .find(|at| count(conversations, *at, "payload_bytes") > 0)
        .unwrap();
    assert!(outcome.flows[0].retransmissions > 0);
    assert_eq!(
        count(conversations, at, "retransmitted_packets"),
        outcome.flows[0].retransmissions
    );
    assert_eq!(count(conversations, at, "filled_packets"), 0);
}

/// The first packet of ns-2's Vegas is data, and ns-2 counts 1000 bytes of data in each: the capture has no SYN and no holes.
#[test]
fn a_capture_of_ns_2s_vegas_begins_with_data() {
    let text = "dialect = \"ns2\"\n[run]\nduration = \"6s\"\nwarmup = \"0s\"\ndeterministic = true\n[topology]\nrate = \"1.5Mbps\"\nrtt = \"44ms\"\n\
        queue = \"droptail limit=100p\"\n[[flows]]\nspec = \"vegas packets=200p\"\n";
    let (outcome, bytes) = written(&scenario(text), TraceFormat::Pcapng);
    let analysis = read_capture(&bytes);
    let conversations = analysis.table("conversations").unwrap();
    let at = (0..conversations.rows.len())
        .find(|at| count(conversations, *at, "payload_bytes") > 0)
        .unwrap();
    assert_eq!(outcome.flows[0].retransmissions, 0);
    assert_eq!(count(conversations, at, "payload_bytes"), 200 * 1000);
    for column in ["retransmitted_packets", "filled_packets"] {
        assert_eq!(count(conversations, at, column), 0, "{column}");
    }
}

#[test]
fn both_directions_of_a_link_are_one_conversation_with_its_round_trips_and_duplicates() {
    let text = "dialect = \"ns2\"\n[run]\nduration = \"6s\"\nwarmup = \"0s\"\ndeterministic = true\n[topology]\nrate = \"1.5Mbps\"\nrtt = \"44ms\"\n\
        queue = \"droptail limit=8p\"\n[[flows]]\nspec = \"newreno\"\n";
    let links = ["newreno-1-src-left", "left-newreno-1-src"].map(str::to_owned);
    let mut bytes = Vec::new();
    run_written(&scenario(text), 0, TraceFormat::Pcapng, &links, &mut bytes).unwrap();
    let analysis = read_capture(&bytes);
    let conversations = analysis.table("conversations").unwrap();
    assert_eq!(conversations.rows.len(), 2);
    let trips = count(conversations, 0, "rtt_count");
    assert!(trips > 50, "{trips}");
    let least = number(conversations, 0, "rtt_s_min").unwrap();
    // 44 ms without the propagation of the link itself on the way back: an acknowledgement is seen at its far end.
    assert!((0.036..0.044).contains(&least), "{least}");
    // Three announce each loss.
    let again = count(conversations, 0, "retransmitted_packets");
    let duplicates = count(conversations, 1, "duplicate_acks");
    assert!(again > 0 && duplicates >= 3, "{again}, {duplicates}");
}

#[test]
fn acknowledgements_of_tcp_in_bytes_are_read_as_such() {
    let text = "[run]\nduration = \"6s\"\nwarmup = \"0s\"\ndeterministic = true\n[topology]\nrate = \"1.5Mbps\"\nrtt = \"44ms\"\n\
        queue = \"droptail limit=8p\"\n[[flows]]\nspec = \"newreno\"\n[[flows]]\nspec = \"cubic\"\n";
    let (outcome, bytes) = written(&scenario(text), TraceFormat::Ns2Exact);
    let input = Input::new(Cursor::new(bytes), "own.tr", false).unwrap();
    let analysis = events::analyse(input, Format::Ns2, &Options::default()).unwrap();
    let flows = analysis.table("flows").unwrap();
    for (flow, id) in outcome.flows.iter().zip(["1", "2"]) {
        let ways: Vec<usize> = (0..flows.rows.len())
            .filter(|at| flows.value(*at, "id") == Some(&Value::Text(id.to_owned())))
            .collect();
        let [data, acks] = ways[..] else {
            panic!("{ways:?}");
        };
        assert!(flow.retransmissions > 0);
        assert_eq!(count(flows, data, "repeated_packets"), flow.retransmissions);
        assert_eq!(count(flows, acks, "repeated_packets"), 0);
        let trips = count(flows, data, "rtt_count");
        assert!(trips > 50, "{trips}");
        let least = number(flows, data, "rtt_s_min").unwrap();
        // 44 ms of propagation, and what waiting and sending take.
        assert!((0.044..0.08).contains(&least), "{least}");
    }
}

#[test]
fn reports_of_rtp_are_no_repetitions() {
    let text = "[run]\nduration = \"60s\"\nwarmup = \"0s\"\n[topology]\nrate = \"1.5Mbps\"\nrtt = \"44ms\"\n\
        queue = \"droptail\"\n[[flows]]\nkind = \"rtp\"\n";
    let (_, bytes) = written(&scenario(text), TraceFormat::Ns2);
    assert!(String::from_utf8(bytes.clone()).unwrap().contains(" rtcp "));
    let input = Input::new(Cursor::new(bytes), "own.tr", false).unwrap();
    let analysis = events::analyse(input, Format::Ns2, &Options::default()).unwrap();
    let flows = analysis.table("flows").unwrap();
    for at in 0..flows.rows.len() {
        assert_eq!(count(flows, at, "repeated_packets"), 0);
    }
}

#[test]
fn links_may_be_chosen_and_others_are_refused() {
    let scenario = scenario(WHOLE);
    let chosen = ["left-right".to_owned()];
    let mut bytes = Vec::new();
    run_written(&scenario, 0, TraceFormat::Ns2, &chosen, &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.lines().count() > 100);
    assert!(
        text.lines()
            .all(|line| line.split(' ').skip(2).take(2).eq(["0", "1"]))
    );
    let mut bytes = Vec::new();
    run_written(&scenario, 0, TraceFormat::Pcapng, &chosen, &mut bytes).unwrap();
    let analysis = read_capture(&bytes);
    assert_eq!(analysis.table("interfaces").unwrap().rows.len(), 1);
    let wrong = ["left-rihgt".to_owned()];
    let error = run_written(&scenario, 0, TraceFormat::Ns2, &wrong, &mut Vec::new());
    let Err(TraceError::Run(error)) = error else {
        panic!("{error:?}");
    };
    let told = error.to_string();
    assert!(
        told.starts_with(
            "--trace-link: there is no link \"left-rihgt\", did you mean \"left-right\"?"
        ),
        "{told}"
    );
}

#[test]
fn a_parquet_trace_has_a_row_per_event() {
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    let (_, lines) = written(&scenario(WHOLE), TraceFormat::Ns2);
    let (_, bytes) = written(&scenario(WHOLE), TraceFormat::Parquet);
    let file = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut &file, &bytes).unwrap();
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let rows: usize = builder
        .build()
        .unwrap()
        .map(|batch| batch.unwrap().num_rows())
        .sum();
    let count = lines.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(rows, count);
}

#[test]
fn a_rate_of_no_link_is_told() {
    let (_, bytes) = written(&scenario(WHOLE), TraceFormat::Ns2);
    let input = Input::new(Cursor::new(bytes), "own.tr", false).unwrap();
    let options = Options {
        rates: vec![("0-11".to_owned(), Rate::mbps(1))],
        ..Options::default()
    };
    let error = events::analyse(input, Format::Ns2, &options).unwrap_err();
    assert!(error.to_string().contains("no link \"0-11\""), "{error}");
    assert_eq!(error.meant(), Some("0-1"));
}
