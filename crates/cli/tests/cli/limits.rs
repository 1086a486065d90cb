//! What asks for too much is counted and refused before it is made.

use crate::support::Place;
use std::fmt::Write as _;

const TEN: &str = "values = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]";

/// A study of `factors` factors with ten levels each.
fn crossed(factors: usize, run: &str) -> String {
    let flows = vec!["reno"; factors];
    let mut text = format!(
        "flows = {flows:?}\n[run]\nduration = \"1s\"\nwarmup = \"0s\"\nstart_spread = \"50ms\"\n{run}\n\
         [study]\ntitle = \"x\"\n[[experiment]]\nname = \"e\"\n"
    );
    for factor in 0..factors {
        let _ = writeln!(
            text,
            "[[experiment.factor]]\nname = \"f{factor}\"\npath = \"flows[{factor}].dscp\"\n{TEN}"
        );
    }
    text
}

/// A study of one factor with `number` levels, each a `set` of links and flows, and one metric of each point.
fn levels(number: usize) -> String {
    let links = r#"[{ from = "a", to = "r", rate = "1Gbps", delay = "39ms", queue = "droptail limit=1000p", observed = false }, { from = "r", to = "b", rate = "10Mbps", queue = "codel" }]"#;
    let flows = r#"[{ spec = "reno mss=1000B", label = "tcp", from = "a", to = "b", start = "0ms" }, { spec = "cbr rate=15680bps size=98B", label = "echo", from = "a", to = "b", start = "13.7ms" }]"#;
    let mut text = format!(
        "name = \"many\"\nlinks = {links}\nflows = {flows}\n[study]\ntitle = \"Many levels\"\n[run]\nduration = \"1s\"\n\
         warmup = \"0s\"\nreplications = 1\n[topology]\nkind = \"graph\"\n[[experiment]]\nname = \"e\"\n\
         [[experiment.factor]]\nname = \"row\"\nvalues = [\n"
    );
    for level in 0..number {
        let _ = writeln!(
            text,
            "{{ label = \"{level}\", set = {{ \"links\" = {links}, \"flows\" = {flows}, \"run.seed\" = {} }} }},",
            level + 1
        );
    }
    text.push_str(
        "]\n[[table]]\nid = \"all\"\nrows = [\"row\"]\nmetrics = [\"goodput_bps_sum of tcp\"]\n",
    );
    text
}

fn refused(place: &Place, line: &str) -> String {
    place.refused(place.sojourn(line))
}

#[test]
fn points_and_runs_are_counted_before_they_are_made() {
    let place = Place::new();
    place.write("nine.toml", &crossed(9, "replications = 1"));
    assert_eq!(
        refused(&place, "study nine.toml"),
        "nine.toml:11: experiment[0].factor: 1000000000 points, but limits.points allows 100000; reduce the values of the factors, \
         or raise the limit: --set limits.points=1000000000"
    );
    place.write("twenty.toml", &crossed(20, "replications = 1"));
    assert!(
        refused(&place, "study twenty.toml")
            .contains("more than 18 million million million points")
    );
    place.write("two.toml", &crossed(2, "replications = 100000"));
    assert_eq!(
        refused(&place, "study two.toml"),
        "two.toml:6: run.replications: 100 points in 100000 replications are 10000000 runs, but limits.runs allows 1000000; \
         reduce the points or replications, or raise the limit: --set limits.runs=10000000"
    );
    // The file may say so, too.
    place.write(
        "low.toml",
        &format!("{}[limits]\npoints = 99\n", crossed(2, "replications = 1")),
    );
    assert!(refused(&place, "study low.toml").contains("100 points, but limits.points allows 99"));
}

#[test]
fn memory_is_counted_before_it_is_taken() {
    let place = Place::new();
    place.write(
        "flows.toml",
        "[[flows]]\nkind = \"reno\"\ncount = 1000000\n",
    );
    for line in [
        "run flows.toml",
        "run flows.toml --dry-run",
        "study flows.toml",
    ] {
        let error = refused(&place, line);
        assert!(
            error
                .starts_with("flows.toml:3: flows[0].count: with 1000000 flows a run needs about "),
            "{error}"
        );
        assert!(
            error.contains("limits.memory allows 4GB") && error.contains("--limit-memory "),
            "{error}"
        );
    }
    let error = refused(&place, "dumbbell --flow 1000000*reno");
    assert!(error.contains("1000000 flows"), "{error}");
    place.write(
        "series.toml",
        "flows = [\"4*reno\"]\n[run]\nduration = \"2s\"\nreplications = 1\n[topology]\nkind = \"parking_lot\"\n\
         queue = \"drr each=(codel)\"\n[series]\nrecord = \"all\"\nstep = \"1us\"\n",
    );
    let error = refused(&place, "run series.toml");
    assert!(
        error.starts_with("series.toml:10: series.step: with "),
        "{error}"
    );
    let error = refused(
        &place,
        "dumbbell --flow 200*reno --set run.replications=100000",
    );
    assert!(
        error.contains(
            "run.replications: the results of one point in 100000 replications need about"
        ),
        "{error}"
    );
}

#[test]
fn a_limit_decides_what_is_begun_and_changes_no_result() {
    let place = Place::new();
    place.write("many.toml", "flows = [\"1000*cbr 1kbps\"]\n[run]\nduration = \"10ms\"\nwarmup = \"0s\"\nstart_spread = \"1ms\"\nreplications = 2\n");
    let error = refused(&place, "run many.toml --limit-memory 10MB");
    assert!(error.contains("limits.memory allows 10MB"), "{error}");
    let error = refused(&place, "run many.toml --limit-memory 10");
    assert!(error.contains("--limit-memory 10"), "{error}");
    let plain = place.ok("run tiny.toml --out plain --format csv");
    let limited = place.ok("run tiny.toml --out limited --format csv --limit-memory 11MB");
    assert_eq!(plain, limited);
    let data = |name: &str| {
        let mut files = place.files(name);
        files.retain(|(name, _)| name.ends_with(".parquet"));
        files
    };
    assert_eq!(data("plain"), data("limited"));
}

#[test]
fn a_dry_run_says_what_is_needed_and_makes_nothing() {
    let place = Place::new();
    let said = place.ok("study small.toml --dry-run --out out");
    for (name, value) in [
        ("points", "6"),
        ("runs", "18"),
        ("flows in a run, at most", "3"),
    ] {
        let line = said
            .lines()
            .find(|line| line.starts_with(&format!("{name}  ")));
        assert_eq!(
            line.and_then(|line| line.split_whitespace().last()),
            Some(value),
            "{said}"
        );
    }
    assert!(!place.path("out").exists());
    assert!(
        place
            .ok("run tiny.toml --dry-run")
            .contains("memory of a run")
    );
    assert!(
        place
            .ok("dumbbell --flow reno --dry-run")
            .contains("memory of a run")
    );
    let mut workload = place.sojourn("dumbbell --rate 8Mbps --duration 10s --dry-run --flow");
    workload.arg("workload sizes=(fixed bytes=1000B) load=50% start=0s");
    let said = String::from_utf8(workload.output().unwrap().stdout).unwrap();
    let line = said
        .lines()
        .find(|line| line.starts_with("transfers in a run"));
    assert_eq!(
        line.and_then(|line| line.split_whitespace().last()),
        Some("5000"),
        "{said}"
    );
}

#[cfg(unix)]
#[test]
fn files_that_block_or_have_no_end_are_refused_by_name() {
    let place = Place::new();
    let made = std::process::Command::new("mkfifo")
        .arg(place.path("fifo"))
        .status();
    assert!(made.unwrap().success());
    for file in ["/dev/zero", "fifo"] {
        place.write(
            "schedule.toml",
            &format!(
                "flows = [\"reno\"]\n[[opportunities]]\nlink = \"left-right\"\nfile = \"{file}\"\n"
            ),
        );
        let error = refused(&place, "run schedule.toml");
        assert!(
            error.starts_with("schedule.toml:4: opportunities[0].file: "),
            "{error}"
        );
        assert!(
            error.contains(file) && error.contains("only regular files are read"),
            "{error}"
        );
        let error = refused(&place, &format!("run {file}"));
        assert!(
            error.starts_with(file) && error.contains("only regular files are read"),
            "{error}"
        );
    }
    let large = std::fs::File::create(place.path("large.toml")).unwrap();
    large.set_len(100_000_001).unwrap();
    let error = refused(&place, "run large.toml");
    assert!(error.contains("more than 100 MB"), "{error}");
}

/// Points that kept a copy of the whole document each took 13 GB for this number of levels.
#[cfg(target_os = "linux")]
#[test]
fn many_levels_need_memory_for_each_level_once() {
    let place = Place::new();
    place.write("levels.toml", &levels(1500));
    let mut limited = std::process::Command::new("sh");
    let line = format!(
        "ulimit -v 1000000; exec {} study levels.toml --dry-run",
        env!("CARGO_BIN_EXE_sojourn")
    );
    let output = limited
        .args(["-c", &line])
        .current_dir(place.path("."))
        .output()
        .unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{err}");
    assert!(out.contains("1500"), "{out}");
}
