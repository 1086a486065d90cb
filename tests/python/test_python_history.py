"""benches/history.py: when a count of instructions is acceptable."""

from __future__ import annotations

from pathlib import Path

import pytest

import history

HERE = history.Compiler("1.95.0", "x86_64-unknown-linux-gnu")
CHANGELOG = """\
# Changes

## Unreleased

### Fixed

- B1 needs 8 % more instructions per packet-hop: marks are counted by reason.

## 0.1.0

- B3-64 needs more instructions per packet-hop.
"""


def row(number: float, case: str = "b1", rustc: str = HERE.rustc, commit: str = "c") -> history.Row:
    return history.Row(commit, rustc, HERE.target, case, number)


@pytest.mark.parametrize(
    ("before", "now", "case", "passes"),
    [
        (100.0, 105.0, "b3-64", True),
        (100.0, 105.1, "b3-64", False),
        (100.0, 50.0, "b3-64", True),
        (100.0, 120.0, "b1", True),
    ],
)
def test_growth_above_five_percent_needs_a_line_in_the_newest_section(
    before: float, now: float, case: str, passes: bool
) -> None:
    passed, sentence = history.judge(row(before, case), now, case, CHANGELOG)
    assert passed is passes
    assert case in sentence


def test_only_the_newest_row_of_the_same_compiler_counts() -> None:
    rows = [row(10.0), row(11.0, commit="d"), row(5.0, rustc="1.96.0"), row(7.0, case="b3-64")]
    found = history.newest(rows, HERE, "b1")
    assert found is not None
    assert (found.commit, found.instructions_per_hop) == ("d", 11.0)
    assert history.newest(rows, history.Compiler("1.95.0", "aarch64"), "b1") is None


def test_a_history_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "history.csv"
    rows = [row(123.46), row(99.0, "b3-64")]
    history.append_history(path, rows[:1])
    history.append_history(path, rows[1:])
    assert history.read_history(path) == rows
    assert path.read_text().splitlines()[0] == ",".join(history.COLUMNS)


def test_the_kept_history_can_be_read() -> None:
    for kept in history.read_history(history.HISTORY):
        assert kept.case in history.CASES
        assert kept.instructions_per_hop > 0
