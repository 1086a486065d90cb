//! Tables for a paper, from the file to the files.

use std::fs;

use serde_json::json;
use sojourn_report::write_latex;
use tempfile::TempDir;

fn directory() -> TempDir {
    let summary = json!({
        "schema_version": 1,
        "title": "Two queues",
        "command": "sojourn study two.toml",
        "version": "0.1.0",
        "blocks": [
            {"type": "table", "id": "delay", "title": "Delay",
             "columns": [{"key": "queue", "title": "Queue"}, {"key": "ms", "title": "Delay", "unit": "ms"}],
             "rows": [["DropTail", {"value": 279.275, "half_width": 13.7, "n": 3}]]},
            {"type": "table", "id": "empty", "title": "", "columns": [{"key": "a", "title": "A"}], "rows": []},
        ],
    });
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("summary.json"), summary.to_string()).unwrap();
    dir
}

#[test]
fn the_same_summary_gives_the_same_files_for_a_paper() {
    let (one, two) = (directory(), directory());
    for dir in [&one, &two] {
        let written = write_latex(dir.path(), "").unwrap();
        assert_eq!(written.tables.len(), 2);
    }
    for name in ["table-delay.tex", "table-empty.tex", "numbers.tex"] {
        let read = |dir: &TempDir| fs::read_to_string(dir.path().join("latex").join(name)).unwrap();
        assert_eq!(read(&one), read(&two), "{name}");
    }
    // A table is written over, and nothing stays beside it.
    write_latex(one.path(), "").unwrap();
    assert_eq!(fs::read_dir(one.path().join("latex")).unwrap().count(), 3);
}
