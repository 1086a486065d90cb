//! Studies are read whole, and every mistake names its place, what there is, and the remedy.

use std::collections::BTreeMap;

use sojourn_scenario::document::Document;
use sojourn_scenario::model::Topology;
use sojourn_study::study::Study;
use sojourn_units::{Rate, Span};

fn read(text: &str) -> Result<Study, String> {
    let document = Document::parse(text, "study.toml").map_err(|error| error.to_string())?;
    Study::from_document(&document).map_err(|error| error.to_string())
}

fn error(text: &str) -> String {
    match read(text) {
        Err(error) => error,
        Ok(study) => panic!("{} was read", study.name),
    }
}

const GRID: &str = r#"
flows = ["4*reno dialect=ns2"]
[[experiment]]
name = "grid"
set = { "run.duration" = "30s", topology = { rtt = "20ms" } }
[[experiment.factor]]
name = "rate"
path = "topology.rate"
unit = "Mbps"
values = ["2Mbps", "10Mbps"]
[[experiment.factor]]
name = "queue"
path = "topology.queue, topology.reverse_queue"
values = ["codel", { kind = "drr", quantum = "500B" }]
compare = true
[[experiment]]
name = "equal"
extends = "grid"
set = { "topology.buffer" = "50p" }
[[experiment.factor]]
name = "rate"
values = [
    { label = "slow", set = { "topology.rate" = "1Mbps" } },
    { label = "fast", set = { "topology.rate" = "5Mbps", "topology.rtt" = "80ms" } },
]
"#;

#[test]
fn an_argument_overrides_what_experiments_set_and_is_refused_where_factors_set_the_same() {
    let with = |sets: &[&str], only: &[&str]| {
        let mut document = Document::parse(GRID, "study.toml").unwrap();
        for set in sets {
            let (path, text) = set.split_once('=').unwrap();
            document
                .set_argument(path, text, &format!("--set {set}"))
                .unwrap();
        }
        let mut study = Study::from_document(&document).unwrap();
        let only: Vec<String> = only.iter().map(|name| (*name).to_owned()).collect();
        study.keep_only(&only).unwrap();
        study
            .check_arguments()
            .map(|()| study)
            .map_err(|error| error.to_string())
    };
    let study = with(&["run.duration=7s", "topology.buffer=9p"], &[]).unwrap();
    for point in &study.points {
        assert_eq!(point.scenario().unwrap().run.duration, Span::from_secs(7));
    }
    assert_eq!(study.notes, Vec::<String>::new());
    let error = with(&["topology.rate=3Mbps"], &[]).unwrap_err();
    for part in ["--set topology.rate=3Mbps", "a factor", "sojourn run"] {
        assert!(error.contains(part), "{error}");
    }
    // One of two levels sets the round trip in one experiment, and none in the other.
    assert!(with(&["topology.rtt=60ms"], &[]).is_ok());
    // Without the only experiment that it would have an effect in, it has none.
    let text =
        "experiment[1].factor[0].values=[{ label = \"one\", set = { \"run.duration\" = \"9s\" } }]";
    let study = with(&[text, "topology.rate=3Mbps"], &[]).unwrap();
    assert!(
        study.notes[0].contains("no effect in experiment \"grid\""),
        "{:?}",
        study.notes
    );
    assert!(with(&[text, "topology.rate=3Mbps"], &["equal"]).is_ok());
    assert!(with(&[text, "topology.rate=3Mbps"], &["grid"]).is_err());
}

#[test]
fn points_are_every_level_with_every_other_the_last_factor_fastest() {
    let study = read(GRID).expect("a study");
    let levels: Vec<(String, String, String)> = study
        .points
        .iter()
        .map(|p| {
            (
                p.experiment.clone(),
                p.levels["rate"].clone(),
                p.levels["queue"].clone(),
            )
        })
        .collect();
    let expected = [
        ("grid", "2", "CoDel"),
        ("grid", "2", "DRR"),
        ("grid", "10", "CoDel"),
        ("grid", "10", "DRR"),
        ("equal", "slow", "CoDel"),
        ("equal", "slow", "DRR"),
        ("equal", "fast", "CoDel"),
        ("equal", "fast", "DRR"),
    ];
    let expected: Vec<(String, String, String)> = expected
        .iter()
        .map(|(a, b, c)| ((*a).to_owned(), (*b).to_owned(), (*c).to_owned()))
        .collect();
    assert_eq!(levels, expected);
}

#[test]
fn settings_of_experiments_and_levels_reach_the_scenario() {
    let study = read(GRID).expect("a study");
    let dumbbell = |index: usize| match &study.points[index].scenario().unwrap().topology {
        Topology::Dumbbell(dumbbell) => dumbbell.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        study.points[1].scenario().unwrap().run.duration,
        Span::from_secs(30)
    );
    assert_eq!(
        (dumbbell(1).rate, dumbbell(1).rtt),
        (Rate::mbps(2), Span::from_ms(20))
    );
    assert_eq!(dumbbell(1).queue.to_string(), "drr quantum=500B");
    assert_eq!(dumbbell(1).reverse_queue, Some(dumbbell(1).queue));
    assert_eq!(
        (dumbbell(1).buffer, dumbbell(7).buffer.is_some()),
        (None, true)
    );
    assert_eq!(
        (dumbbell(7).rate, dumbbell(7).rtt),
        (Rate::mbps(5), Span::from_ms(80))
    );
    assert_eq!(dumbbell(5).rtt, Span::from_ms(20));
}

#[test]
fn a_scenario_alone_is_a_study_of_one_point() {
    let study = read("flows = [\"cbr 1Mbps\"]\ntitle = \"One\"\n").expect("a study");
    assert_eq!((study.title.as_str(), study.points.len()), ("One", 1));
    assert_eq!(study.points[0].levels, BTreeMap::new());
}

#[test]
fn overrides_reach_every_point() {
    let mut document = Document::parse(GRID, "study.toml").expect("TOML");
    document.set("run.replications", "3").expect("set");
    let study = Study::from_document(&document).expect("a study");
    assert!(
        study
            .points
            .iter()
            .all(|point| Study::replications(point).unwrap() == 3)
    );
}

#[test]
fn an_experiment_of_another_topology_is_told_which_key_it_inherits_and_who_sets_the_kind() {
    let text = "flows = [\"reno\"]\n[topology]\nrtt = \"40ms\"\n[[experiment]]\nname = \"a\"\n[[experiment]]\nname = \"b\"\n\
                [experiment.set]\n\"topology.kind\" = \"chain\"";
    assert_eq!(
        error(text),
        "study.toml:3: topology.rtt: rtt is of kind dumbbell, and the kind is chain (line 9) (allowed: kind, hops, rate, delay, buffer, \
         queue, reverse_queue); leave it out; in a study with topologies of several kinds, write it in the experiments that have that kind"
    );
}

#[test]
fn mistakes_in_factors_are_told_with_their_line() {
    let factor = |text: &str| {
        error(&format!(
            "flows = [\"reno dialect=ns2\"]\n[[experiment]]\nname = \"e\"\n[[experiment.factor]]\nname = \"f\"\n{text}"
        ))
    };
    assert_eq!(
        factor("path = \"topology.rat\"\nvalues = [\"2Mbps\"]"),
        "study.toml:6: topology.rat: unknown key, did you mean \"rate\"? (allowed: kind, rate, reverse_rate, rtt, \
         bottleneck_delay, access_delay, access_rate, buffer, queue, reverse_queue, access_queue, pairs)"
    );
    assert_eq!(
        factor("path = \"topology.rate\"\nvalues = [\"2Mbps\", \"fast\"]"),
        "study.toml:7: topology.rate: \"fast\" is not a rate: write a number (digits, with at most one decimal point between them) and a unit, \
         such as 10Mbps"
    );
    assert_eq!(
        factor("path = \"topology.rate\""),
        "study.toml:4: experiment[0].factor[0].values: this key is required; list its levels, such as values = [\"codel\", \
         \"drr\"]"
    );
    assert_eq!(
        factor("path = \"topology.rate\"\nvalues = []"),
        "study.toml:7: experiment[0].factor[0].values: the list of values is empty; give at least one value"
    );
    assert_eq!(
        factor("path = \"topology.rate\"\nvalues = [\"1Mbps\", \"1Mbps\"]"),
        "study.toml:7: experiment[0].factor[0].values: two levels have the label \"1Mbps\"; give them different labels with labels = [...]"
    );
    assert_eq!(
        factor("path = \"topology.rate\"\nvalues = [\"1Mbps\"]\nlabels = [\"a\", \"b\"]"),
        "study.toml:8: experiment[0].factor[0].labels: 2 labels for 1 values; give exactly one label per value"
    );
    assert_eq!(
        factor("values = [\"1Mbps\"]"),
        "study.toml:6: experiment[0].factor[0].values[0]: a text (\"1Mbps\") stands where a table is wanted; write { label = \
         \"small\", set = { \"topology.buffer\" = \"20p\" } }, or give the factor a path"
    );
    assert_eq!(
        factor("path = \"topology.rate\"\nvalues = [\"1Mbps\"]\ncompares = true"),
        "study.toml:8: experiment[0].factor[0].compares: unknown key, did you mean \"compare\"? (allowed: values, labels, range, \
         name, title, unit, path, compare, scale)"
    );
}

#[test]
fn mistakes_in_experiments_are_told_with_what_there_is() {
    assert_eq!(
        error("[[experiment]]\nname = \"a\"\n[[experiment]]\nname = \"b\"\nextends = \"c\"\n"),
        "study.toml:5: experiment[1].extends: there is no base experiment \"c\" (there are: a)"
    );
    assert_eq!(
        error("[[experiment]]\nname = \"a\"\n[[experiment]]\nname = \"a\"\n"),
        "study.toml:4: experiment[1].name: two experiments are named \"a\"; give each experiment a different name"
    );
    assert_eq!(
        error("[studdy]\ntitle = \"x\"\n"),
        "study.toml:1: studdy: unknown key, did you mean \"study\"?"
    );
}

#[test]
fn mistakes_in_tables_and_figures_are_told_with_the_nearest_name() {
    let with = |text: &str| error(&format!("{GRID}{text}"));
    let line = GRID.lines().count() + 1;
    let at = |offset: usize, text: &str| format!("study.toml:{}: {text}", line + offset);
    assert_eq!(
        with("[[table]]\nid = \"t\"\nmetrics = [\"sojurn_s_p95\"]"),
        at(
            2,
            "table[0].metrics[0]: there is no metric \"sojurn_s_p95\", did you mean \"sojourn_s_p95\"? See sojourn \
             list metrics"
        )
    );
    assert_eq!(
        with("[[table]]\nid = \"t\"\nrows = [\"rate\"]\nmetrics = [\"jain_index\"]"),
        at(
            0,
            "table[0]: the factor \"queue\" is in neither rows nor columns; add it to one of them, or choose a level: where = \
             { queue = \"...\" }"
        )
    );
    assert_eq!(
        with("[[table]]\nid = \"t\"\ncolumns = [\"quueue\"]\nmetrics = [\"jain_index\"]"),
        at(
            2,
            "table[0].columns[0]: there is no factor \"quueue\", did you mean \"queue\"? (there are: rate, queue)"
        )
    );
    assert_eq!(
        with("[[table]]\nid = \"t\"\nmetrics = [\"jain_index\"]\nwhere = { queue = \"Codel\" }"),
        at(
            3,
            "table[0].where.queue: there is no level \"Codel\", did you mean \"CoDel\"? (there are: CoDel, DRR)"
        )
    );
    assert_eq!(
        with("[[figure]]\nid = \"f\"\nkind = \"range\"\ny = \"sojourn_s_mean\""),
        at(
            0,
            "figure[0].y_low: this key is required; name the metrics at both ends, such as y_low = \"sojourn_s_p05\", y_high = \
             \"sojourn_s_p95\""
        )
    );
    // Lines and bars of several points would be drawn as one.
    let record = "[series]\nrecord = \"backlog\"\n";
    for (kind, before) in [
        ("cdf", ""),
        ("sizes", ""),
        ("time\"\ny = \"backlog_packets", record),
    ] {
        assert_eq!(
            with(&format!(
                "{before}[[figure]]\nid = \"f\"\nkind = \"{kind}\"\nfacet = \"queue\""
            )),
            at(
                before.lines().count(),
                "figure[0]: the factor \"rate\" is neither series, facet nor slider; use it, or choose a level: where = { rate = \"...\" }"
            ),
            "{kind}"
        );
    }
    for (keys, offset, text) in [
        (
            "slider = \"rat\"",
            2,
            "there is no factor \"rat\", did you mean \"rate\"? (there are: rate, queue)",
        ),
        (
            "x = \"queue\"\nslider = \"queue\"",
            3,
            "the factor \"queue\" is already x of this figure; write slider = \"rate\", or leave it out",
        ),
        (
            "series = \"rate\"\nfacet = \"queue\"\nslider = \"queue\"",
            4,
            "the factor \"queue\" is already facet of this figure; leave slider out",
        ),
        (
            "series = \"rate\"\nslider = \"rate\"",
            3,
            "the factor \"rate\" is already series of this figure; write slider = \"queue\", or leave it out",
        ),
        (
            "slider = \"rate\"\nwhere = { rate = \"2\" }",
            2,
            "where leaves the factor \"rate\" one level, and a slider needs two; leave slider out",
        ),
    ] {
        assert_eq!(
            with(&format!("[[figure]]\nid = \"f\"\n{keys}")),
            at(offset, &format!("figure[0].slider: {text}")),
            "{keys}"
        );
    }
    let one = "[[experiment]]\nname = \"one\"\nextends = \"grid\"\n[[experiment.factor]]\nname = \"rate\"\npath = \"topology.rate\"\n\
               values = [\"2Mbps\"]\n";
    assert_eq!(
        with(&format!(
            "{one}[[figure]]\nid = \"f\"\nexperiment = \"one\"\nslider = \"rate\""
        )),
        at(
            10,
            "figure[0].slider: the factor \"rate\" has one level, and a slider needs two; leave slider out"
        )
    );
    assert_eq!(
        with("[[figure]]\nid = \"f\"\nexperiment = \"equal\"\nx = \"rate\"\nx_scale = \"log\""),
        at(
            4,
            "figure[0].x_scale: the level \"slow\" of \"rate\" is not a number; give the factor a unit, use labels that are \
             numbers, or remove x_scale"
        )
    );
    assert_eq!(
        with(
            "[[figure]]\nid = \"f\"\nexperiment = \"equal\"\nkind = \"bars\"\nx = \"rate\"\ny = \"sojourn_s_mean\"\ny_scale = \"log\""
        ),
        at(
            6,
            "figure[0].y_scale: bars start at zero, but a logarithmic axis has no zero; use kind = \"points\", or a linear y axis"
        )
    );
    let bars = "[[figure]]\nid = \"f\"\nkind = \"bars\"\nwhere = { rate = \"2\" }\n";
    assert_eq!(
        with(&format!(
            "{bars}y = \"goodput_bps_sum of reno, goodput_bps_sum of bbr\""
        )),
        at(
            4,
            "figure[0].y: there is no queue, flow or label \"bbr\" (there are: bottleneck, queues, forward, reverse, all, left-right, \
             right-left, reno)"
        )
    );
    assert_eq!(
        with(&format!(
            "{bars}y = \"goodput_bps_sum of reno, sojourn_s_mean\""
        )),
        at(
            4,
            "figure[0].y: bars share one y axis, but goodput_bps_sum and sojourn_s_mean are different metrics; name one metric of \
             several flows or queues, or draw two figures"
        )
    );
    assert_eq!(
        with(&format!(
            "{bars}x = \"queue\"\ny = \"goodput_bps_sum of reno, goodput_bps_sum of reno-1\""
        )),
        at(
            4,
            "figure[0].x: each metric of y is a group of bars on the x axis; leave x out and give the factor as series, or name one \
             metric as y"
        )
    );
    assert_eq!(
        with("[[figure]]\nid = \"A b\"\n"),
        at(
            1,
            "figure[0].id: \"A b\" cannot name files; write lower-case letters, digits, `-` and `_`, a letter or digit first, at most 100 characters"
        )
    );
    assert_eq!(
        with("[[figure]]\nid = \"f\"\n[[figure]]\nid = \"f\"\n"),
        at(
            3,
            "figure[1].id: two of [[figure]] have the id \"f\"; give each a different id"
        )
    );
}

#[test]
fn an_answer_names_a_table_an_experiment_and_a_figure_that_there_are() {
    let shown = "[[table]]\nid = \"delay\"\nmetrics = [\"sojourn_s_mean\"]\n[[figure]]\nid = \"delays\"\nx = \"rate\"\n";
    let with = |answer: &str| {
        format!("[study]\nquestion = \"Which?\"\nanswer = {{ {answer} }}\n{GRID}{shown}")
            .replacen("\nflows = [\"4*reno dialect=ns2\"]\n", "\n", 1)
            .replacen("[study]", "flows = [\"4*reno dialect=ns2\"]\n[study]", 1)
    };
    let mut study = read(&with("table = \"delay\", figure = \"delays\"")).unwrap();
    assert_eq!(study.question.as_deref(), Some("Which?"));
    assert_eq!(study.answer.table.as_deref(), Some("delay"));
    assert_eq!(study.answer.figures, ["delays"]);
    let listed = read(&with("figure = [\"delays\"]")).unwrap();
    assert_eq!(listed.answer.figures, ["delays"]);
    // What is left out of a study does not answer its question.
    study.keep_only(&["equal".to_owned()]).unwrap();
    assert!(study.answer.is_open());
    for (answer, parts) in [
        ("table = \"dealy\"", ["table \"dealy\"", "\"delay\""]),
        ("figure = \"delay\"", ["figure \"delay\"", "\"delays\""]),
        ("figure = []", ["no figure", "name up to 3"]),
        (
            "figure = [\"delays\", \"a\", \"b\", \"c\"]",
            ["4 figures", "room for 3"],
        ),
        (
            "figure = [\"delays\", \"dleays\"]",
            ["study.answer.figure[1]: there is no figure", "\"delays\""],
        ),
        (
            "figure = [\"delays\", \"delays\"]",
            ["study.answer.figure[1]", "listed twice"],
        ),
        ("figure = 3", ["a text", "quotes"]),
        ("experiment = \"gird\"", ["experiment \"gird\"", "\"grid\""]),
        ("tabel = \"delay\"", ["tabel", "table"]),
        (
            "experiment = \"equal\", table = \"delay\"",
            ["is of the experiment \"grid\"", "leave out `experiment`"],
        ),
    ] {
        let error = error(&with(answer));
        assert!(error.starts_with("study.toml:"), "{error}");
        for part in parts {
            assert!(error.contains(part), "{answer}: {error}");
        }
    }
}

#[test]
fn a_figure_over_time_of_what_is_not_recorded_is_refused_with_what_records_it() {
    let with = |record: &str, figure: &str| {
        error(&format!(
            "flows = [\"reno\"]\n[series]\nrecord = \"{record}\"\n[[figure]]\nid = \"f\"\nkind = \"time\"\n{figure}"
        ))
    };
    let told = [
        (
            ("none", "y = \"cwnd_bytes\""),
            "study.toml:7: figure[0].y: the study does not record cwnd_bytes; write [series] record = \"cwnd\"",
        ),
        (
            ("backlog, rtt", "y = \"cwnd_bytes\""),
            "study.toml:7: figure[0].y: the study does not record cwnd_bytes; write [series] record = \"backlog, rtt, cwnd\"",
        ),
        (
            ("cwnd", "y = \"cwnd_byte\""),
            "study.toml:7: figure[0].y: there is no time series \"cwnd_byte\", did you mean \"cwnd_bytes\"?",
        ),
        (
            ("none", "y = \"cwnd_bytes_sum\""),
            "study.toml:7: figure[0].y: the study does not record cwnd_bytes; write [series] record = \"cwnd\"",
        ),
        (
            ("cwnd", "y = \"cwnd_bytes\"\nof = \"ren\""),
            "study.toml:8: figure[0].of: \"ren\" has no cwnd_bytes, did you mean \"reno\"? (recorded of: all, forward, reno, reno-1); \
             write of = \"all\"",
        ),
        (
            ("cwnd", "y = \"cwnd_bytes\"\nof = \"left-right\""),
            "study.toml:8: figure[0].of: \"left-right\" has no cwnd_bytes (recorded of: all, forward, reno, reno-1); write of = \"all\"",
        ),
    ];
    for ((record, figure), text) in told {
        let error = with(record, figure);
        assert!(error.starts_with(text), "{error}\nexpected {text}");
    }
    for (record, figure) in [
        ("cwnd", "y = \"cwnd_bytes\""),
        ("cwnd", "y = \"cwnd_bytes_sum\""),
        ("all", "y = \"cwnd_bytes\"\nof = \"reno\""),
        ("backlog", "y = \"backlog_packets\"\nof = \"right-left\""),
        ("queues", "y = \"queue_packets\""),
        ("carried", "y = \"carried_bps\"\nof = \"left-right/reno-1\""),
    ] {
        let text = format!(
            "flows = [\"reno\"]\n[series]\nrecord = \"{record}\"\n[[figure]]\nid = \"f\"\nkind = \"time\"\n{figure}"
        );
        assert!(read(&text).is_ok(), "{text}");
    }
}

#[test]
fn a_figure_of_transfers_that_no_flow_makes_is_refused() {
    let with = |flow: &str, figure: &str| {
        read(&format!(
            "flows = [\"{flow}\", \"reno\"]\n[[figure]]\nid = \"f\"\n{figure}"
        ))
    };
    for (flow, figure) in [
        ("cbr 1Mbps", "kind = \"cdf\"\ny = \"fct_s\""),
        ("request_response", "kind = \"cdf\"\ny = \"page_load_s\""),
        ("request_response", "kind = \"sizes\"\nof = \"reno\""),
    ] {
        let text = with(flow, figure).err().unwrap_or_default();
        assert!(text.contains("figure[0]."), "{flow}, {figure}: {text}");
    }
    for figure in ["kind = \"cdf\"\ny = \"page_load_s\"", "kind = \"sizes\""] {
        assert!(with("web", figure).is_ok(), "{figure}");
    }
}

#[test]
fn a_table_or_figure_of_a_wrong_link_is_told_with_the_nearest_name_and_where_it_stands() {
    let with = |text: &str| error(&format!("flows = [\"reno\"]\n{text}"));
    let names =
        "(there are: bottleneck, queues, forward, reverse, all, left-right, right-left, reno)";
    for text in [
        "[[table]]\nid = \"t\"\nof = \"left-rigth\"\nmetrics = [\"sojourn_s_p95\"]",
        "[[figure]]\nid = \"f\"\nof = \"left-rigth\"\nkind = \"cdf\"",
    ] {
        let list = &text[2..text.find(']').unwrap_or_default()];
        assert_eq!(
            with(text),
            format!(
                "study.toml:4: {list}[0].of: there is no queue, flow or label \"left-rigth\", did you mean \"left-right\"? {names}"
            )
        );
    }
}

#[test]
fn a_table_of_something_that_none_of_its_metrics_can_be_of_is_refused() {
    let table = |of: &str, metrics: &str| {
        let table = format!("[[table]]\nid = \"t\"\nof = \"{of}\"\nmetrics = [{metrics}]");
        read(&format!("flows = [\"reno\"]\n{table}")).map(|_| ())
    };
    let remedy =
        "leave it out, or ask for a metric of it; `sojourn list metrics` says what each is of";
    for (of, metric) in [("reno", "sojourn_s_p95"), ("left-right", "goodput_bps_sum")] {
        assert_eq!(
            table(of, &format!("\"{metric}\"")),
            Err(format!(
                "study.toml:4: table[0].of: {metric} cannot be of {of:?}; {remedy}"
            ))
        );
    }
    // One that can be is enough: the others are of what they always are of.
    assert_eq!(
        table("reno", "\"sojourn_s_p95\", \"goodput_bps_sum\""),
        Ok(())
    );
    assert_eq!(table("left-right", "\"sojourn_s_p90\""), Ok(()));
}

#[test]
fn a_figure_of_a_distribution_is_of_what_has_it_and_of_nothing_else() {
    let figure = |kind: &str, y: &str, of: &str| {
        let ends = match kind {
            "boxes" => "x = \"rate\"",
            _ => "facet = \"rate\"",
        };
        let figure = format!(
            "[[figure]]\nid = \"f\"\nexperiment = \"grid\"\nkind = \"{kind}\"\ny = \"{y}\"\nof = \"{of}\"\n{ends}\n"
        );
        read(&format!("{GRID}{figure}")).map(|study| study.figures[0].title.clone())
    };
    for kind in ["boxes", "cdf"] {
        assert_eq!(
            figure(kind, "sojourn_s", "left-right"),
            Ok("Sojourn time".to_owned())
        );
        assert_eq!(
            figure(kind, "delay_s", "reno"),
            Ok("One-way delay".to_owned())
        );
        assert!(figure(kind, "delay_s", "forward").is_ok());
        for (y, of) in [("sojourn_s", "reno"), ("delay_s", "left-right")] {
            let error = figure(kind, y, of).unwrap_err();
            let problem = format!("of: {y} cannot be of {of:?}; name a ");
            assert!(error.contains(&problem), "{error}");
        }
    }
}

#[test]
fn published_values_that_are_not_there_are_told() {
    let text = error("flows = [\"reno dialect=ns2\"]\n[study]\npublished = \"nowhere.csv\"\n");
    assert!(
        text.starts_with("study.toml:3: study.published: nowhere.csv: there is no such file"),
        "{text}"
    );
}
