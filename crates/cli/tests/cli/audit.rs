//! What `sojourn audit` prints, and how it ends.

use crate::support::{Place, STUDY};
use serde_json::Value;

/// The small study with limits of its own.
fn unequal() -> String {
    let own = "values = [\"droptail limit=10p\", \"codel limit=50p\"]";
    STUDY.replace("values = [\"droptail\", \"codel\"]", own)
}

/// A directory with `unequal.toml`, and with `allowed.toml`, which is the same with an allowance.
fn place() -> Place {
    let place = Place::new();
    place.write("unequal.toml", &unequal());
    let allowance = "# audit: allow unequal-buffers because limits are\n#   the question\n";
    place.write("allowed.toml", &format!("{allowance}{}", unequal()));
    place
}

/// Exit status and standard output.
fn ended(place: &Place, line: &str) -> (Option<i32>, String) {
    let output = place.sojourn(line).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), text)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Levels and allowances of a rule's remarks in a document of `--format json`.
fn remarks<'a>(document: &'a Value, rule: &str) -> Vec<(&'a str, Option<&'a str>)> {
    let all = document["audited"][0]["remarks"].as_array().unwrap();
    let own = all.iter().filter(|remark| remark["rule"] == rule);
    own.map(|remark| {
        (
            remark["level"].as_str().unwrap(),
            remark["allowed"].as_str(),
        )
    })
    .collect()
}

#[test]
fn a_warning_makes_the_status_one_and_an_allowance_with_its_reason_takes_it_back() {
    let place = place();
    let (status, text) = ended(&place, "audit unequal.toml --format json");
    assert_eq!(status, Some(1));
    let found = json(&text);
    assert_eq!(remarks(&found, "unequal-buffers"), [("warning", None)]);
    let never = ended(&place, "audit unequal.toml --fail-on never --format json");
    assert_eq!(never, (Some(0), text));
    let (_, text) = ended(&place, "audit allowed.toml --format json");
    let reason = Some("limits are the question");
    let found = json(&text);
    assert_eq!(remarks(&found, "unequal-buffers"), [("warning", reason)]);
    assert_eq!(found["audited"][0]["allowed"], 1);
    let mut narrow = place.sojourn("audit allowed.toml");
    let output = narrow.env("COLUMNS", "80").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("allowed[unequal-buffers]:"), "{text}");
    assert!(
        flat.contains("Allowed because limits are the question."),
        "{text}"
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
}

#[test]
fn results_are_audited_as_their_study_was_with_its_allowances() {
    let place = place();
    ended(&place, "study allowed.toml --out out");
    let of_results = json(&ended(&place, "audit out --format json").1);
    let of_study = json(&ended(&place, "audit allowed.toml --format json").1);
    assert_eq!(
        of_results["audited"][0]["remarks"],
        of_study["audited"][0]["remarks"]
    );
    ended(&place, "report out");
    let page = place.read("out/report.html");
    assert!(page.contains("The study allows this because limits are the question."));
}

#[test]
fn a_directory_of_studies_is_audited_study_by_study() {
    let place = place();
    let (_, text) = ended(&place, "audit . --no-run");
    let heads: Vec<&str> = text.lines().filter(|line| line.starts_with("./")).collect();
    let files = [
        "./allowed.toml",
        "./small.toml",
        "./tiny.toml",
        "./unequal.toml",
    ];
    assert_eq!(heads, files);
    assert!(text.ends_with(" in 4 studies\n"), "{text}");
}

#[test]
fn studies_next_to_a_study_toml_are_audited_as_well() {
    let place = place();
    place.write("study.toml", STUDY);
    let (_, text) = ended(&place, "audit . --no-run");
    assert!(text.ends_with(" in 5 studies\n"), "{text}");
}

#[test]
fn sarif_names_every_rule_and_suppresses_what_is_allowed() {
    let place = place();
    let log = json(&ended(&place, "audit allowed.toml --format sarif").1);
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let results = run["results"].as_array().unwrap();
    let own = results
        .iter()
        .find(|own| own["ruleId"] == "unequal-buffers");
    let own = own.unwrap();
    let index = usize::try_from(own["ruleIndex"].as_u64().unwrap()).unwrap();
    assert_eq!(rules[index]["id"], "unequal-buffers");
    assert_eq!(own["suppressions"][0]["kind"], "inSource");
    assert_eq!(
        own["suppressions"][0]["justification"],
        "limits are the question"
    );
    let place = &own["locations"][0]["physicalLocation"]["artifactLocation"];
    assert_eq!(place["uri"], "allowed.toml");
}

#[test]
fn an_annotation_for_github_is_one_line_per_remark() {
    let place = place();
    let (status, text) = ended(&place, "audit unequal.toml --format github");
    assert_eq!(status, Some(1));
    let line = line_of(&unequal(), "buffer");
    let head = format!("::warning file=unequal.toml,line={line},title=unequal-buffers::");
    assert!(text.lines().any(|line| line.starts_with(&head)), "{text}");
    assert!(text.lines().all(|line| line.starts_with("::")), "{text}");
}

#[test]
fn options_of_runs_are_refused_for_results_and_an_empty_directory_is_named() {
    let place = place();
    place.ok("run tiny.toml --out out");
    let said = place.refused(place.sojourn("audit out --replications 5"));
    assert!(said.contains("--replications is for studies"), "{said}");
    std::fs::create_dir(place.path("empty")).unwrap();
    let said = place.refused(place.sojourn("audit empty"));
    assert!(said.contains("no study and no results"), "{said}");
    place.write(
        "bad.toml",
        "# audit: allow no-warmpu because a\nflows = [\"reno\"]\n",
    );
    let said = place.refused(place.sojourn("audit bad.toml"));
    assert!(
        said.contains("bad.toml:1") && said.contains("no-warmup"),
        "{said}"
    );
}

/// The number of the first line that begins so.
fn line_of(text: &str, begin: &str) -> usize {
    let at = text.lines().position(|line| line.starts_with(begin));
    at.unwrap() + 1
}

#[test]
fn one_broken_file_does_not_end_the_audit_of_the_others() {
    let place = place();
    place.write("broken.toml", "name = \"a\"\nflows = [\n");
    let (status, text) = ended(&place, "audit . --no-run");
    assert_eq!(status, Some(2), "{text}");
    assert!(text.contains("error[not-audited]:"), "{text}");
    let heads = text.lines().filter(|line| line.starts_with("./"));
    assert_eq!(heads.count(), 5, "{text}");
    let both = "audit broken.toml unequal.toml --no-run --format";
    let (status, text) = ended(&place, &format!("{both} json"));
    assert_eq!(status, Some(2));
    let found = json(&text);
    assert_eq!(found["audited"][0]["remarks"][0]["level"], "error");
    assert_eq!(found["audited"][0]["audited"], false);
    assert_eq!(found["audited"][1]["name"], "unequal.toml");
    let (_, text) = ended(&place, &format!("{both} sarif"));
    let own = &json(&text)["runs"][0]["results"][0];
    assert_eq!(
        (&own["level"], &own["ruleId"]),
        (&"error".into(), &"not-audited".into())
    );
    let (_, text) = ended(&place, &format!("{both} github"));
    let head = "::error file=broken.toml,line=";
    assert!(text.starts_with(head), "{text}");
    // Programs get the error of a single file in the same form.
    let (status, text) = ended(&place, "audit missing.toml --format github");
    assert_eq!(status, Some(2));
    assert!(
        text.starts_with("::error file=missing.toml,line=1,"),
        "{text}"
    );
}

#[test]
fn results_among_studies_are_audited_by_their_scenarios_without_a_run() {
    let place = Place::new();
    let text = STUDY.replace("warmup = \"1s\"", "warmup = \"0s\"");
    place.write(
        "allowed.toml",
        &format!("# audit: allow no-warmup because a\n{text}"),
    );
    ended(&place, "study allowed.toml --out out");
    let (status, text) = ended(&place, "audit . --no-run --format json");
    assert_ne!(status, Some(2), "{text}");
    let found = json(&text);
    let all = found["audited"].as_array().unwrap();
    let own = all.iter().find(|own| own["name"] == "./out").unwrap();
    let told = own["remarks"].as_array().unwrap();
    let allowed = |remark: &&Value| remark["rule"] == "no-warmup" && remark["allowed"] == "a";
    assert!(told.iter().any(|remark| allowed(&remark)), "{text}");
}

#[test]
fn sarif_has_the_line_of_what_a_remark_is_about_and_a_fingerprint_that_stays() {
    let place = Place::new();
    let text = STUDY.replace("warmup = \"1s\"", "warmup = \"0s\"");
    assert_ne!(text, STUDY);
    place.write("start.toml", &text);
    let line = "audit start.toml --no-run --format sarif";
    let log = json(&ended(&place, line).1);
    let results = log["runs"][0]["results"].as_array().unwrap();
    let own = results
        .iter()
        .find(|own| own["ruleId"] == "no-warmup")
        .unwrap();
    let region = &own["locations"][0]["physicalLocation"]["region"];
    assert_eq!(region["startLine"], line_of(&text, "warmup"));
    let print = own["partialFingerprints"]["sojournRemark/v1"]
        .as_str()
        .unwrap();
    assert!(print.starts_with("no-warmup:start.toml:"), "{print}");
    // Two lines more change the line, not the fingerprint.
    place.write("start.toml", &format!("# a\n# b\n{text}"));
    let again = json(&ended(&place, line).1);
    let results = again["runs"][0]["results"].as_array().unwrap();
    let moved = results
        .iter()
        .find(|own| own["ruleId"] == "no-warmup")
        .unwrap();
    assert_eq!(moved["partialFingerprints"], own["partialFingerprints"]);
    let region = &moved["locations"][0]["physicalLocation"]["region"];
    assert_eq!(region["startLine"], line_of(&text, "warmup") + 2);
    // Every field that SARIF 2.1.0 requires of a result with a location.
    for result in results {
        assert!(result["message"]["text"].is_string(), "{result}");
        let rule = result["ruleId"].as_str().unwrap();
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(
            again["runs"][0]["tool"]["driver"]["rules"][index]["id"],
            rule
        );
        let levels = ["none", "note", "warning", "error"];
        assert!(
            levels.contains(&result["level"].as_str().unwrap()),
            "{result}"
        );
    }
    assert!(again["runs"][0]["tool"]["driver"]["name"].is_string());
}
