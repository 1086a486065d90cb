""".ci/tidy.py: what each check refuses."""

from __future__ import annotations

import pytest

import lengths
import prose
import tidy


@pytest.mark.parametrize(
    ("changelog", "problem"),
    [
        ("## Unreleased\n\n## 0.1.0\n\n- Short.\n", None),
        ("## 0.1.0\n\n- Short.\n", None),
        ("## 0.2.0\n\n- Short.\n", "the first heading after Unreleased is not 0.1.0"),
        ("## Unreleased\n\n- Short.\n", "the first heading after Unreleased is not 0.1.0"),
        ("## 0.1.0\n\n- " + "x" * 199 + "\n", "CHANGELOG.md:3: 201 characters; at most 200"),
        ("## 0.1.0\n\n- One.\n  Two.\n", "CHANGELOG.md:4: an entry is one line"),
    ],
)
def test_changelog_has_its_version_and_short_entries(changelog: str, problem: str | None) -> None:
    found = list(tidy.changelog_problems(changelog, "0.1.0"))
    if problem is None:
        assert found == []
    else:
        assert len(found) == 1
        assert problem in found[0]


@pytest.mark.parametrize(
    "line",
    [
        "/// At most so many packets.",
        "//! A window, of which a half is used.",
        "wait=true, which dialect linux has not; leave it out",
        "The endpoint is told of the loss.",
        "The sender goes by samples.",
        "It is read, and no more as if it were rare.",
        "It stops without a word.",
        "All links but for the first.",
        "The third duplicate tells of a loss.",
        "It waits in the queue as ever.",
        "They count in no time.",
        "The picture is lost for good.",
        "They are counted beside.",
        "Media is to be had.",
    ],
)
def test_phrases_that_are_hard_to_read_are_refused(line: str) -> None:
    found = list(prose.phrase_problems([("a.rs", f"\n{line}\n")]))
    assert len(found) == 1
    assert found[0].startswith("a.rs:2: ")


@pytest.mark.parametrize(
    "line",
    [
        "It has not arrived, and some of which nothing is known.",
        "Two links, each of which has a queue.",
        "Equal packets are told apart by their order.",
    ],
)
def test_plain_phrases_pass(line: str) -> None:
    assert list(prose.phrase_problems([("a.rs", line)])) == []


@pytest.mark.parametrize(
    "line",
    [
        "Arrives whatever the order.",
        "Ask whoever has it.",
        "Reno beside CUBIC.",
        "## What comes out",
    ],
)
def test_pages_avoid_more_phrases_than_code(line: str) -> None:
    assert len(list(prose.phrase_problems([("a.md", f"Plain.\n{line}\n")]))) == 1
    assert list(prose.phrase_problems([("a.rs", line)])) == []
    assert list(prose.phrase_problems([("a.md", f"```console\n{line}\n```\n`{line}`\n")])) == []


def test_subjects_of_commits_have_at_most_72_characters() -> None:
    log = f"1111111 {'x' * 72}\n2222222 {'x' * 73}\n"
    assert list(prose.subject_problems(log)) == [
        "commit 2222222: a subject of 73 characters; at most 72"
    ]


def function(lines: int, indent: str = "") -> str:
    body = f"{indent}    step();\n" * (lines - 2)
    return f"{indent}pub(crate) fn long(&self) -> u64 {{\n{body}{indent}}}\n"


def test_functions_have_at_most_70_lines() -> None:
    good, bad = function(70), f"impl A {{\n{function(71, '    ')}}}\n"
    found = lengths.measured([("good.rs", good), ("bad.rs", bad)])
    assert list(lengths.problems(found, {})) == [
        "bad.rs: long: 71 lines; at most 70, or an exception in .ci/long.toml"
    ]


def test_a_signature_of_several_lines_belongs_to_its_function() -> None:
    source = (
        "fn one(\n    a: u64,\n) -> u64\nwhere\n    A: B,\n{\n    a\n}\nfn two(\n    a: u64,\n);\n"
    )
    assert list(lengths.functions(source)) == [("one", 8)]


def test_files_have_at_most_1000_lines_before_their_tests() -> None:
    tests = "#[cfg(test)]\nmod tests {\n" + "// A test.\n" * 900 + "}\n"
    found = lengths.measured([("good.rs", "//\n" * 1000 + tests), ("bad.rs", "//\n" * 1001)])
    assert list(lengths.problems(found, {})) == [
        "bad.rs: 1001 lines; at most 1000, or an exception in .ci/long.toml"
    ]


def test_exceptions_have_a_reason_and_are_needed() -> None:
    found = lengths.measured([("long.rs", "//\n" * 1001)])
    assert list(lengths.problems(found, {"files": {"long.rs": "a table"}})) == []
    assert list(lengths.problems(found, {"files": {"long.rs": " "}})) == [
        ".ci/long.toml: long.rs has no reason"
    ]
    assert list(
        lengths.problems({"functions": {}, "files": {}}, {"files": {"gone.rs": "a table"}})
    ) == [".ci/long.toml: gone.rs has 1000 lines or fewer: remove it"]
