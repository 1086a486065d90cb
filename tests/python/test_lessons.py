"""The answers of docs/exercises.md, from the studies of the lessons."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
LESSONS = ROOT / "web" / "lessons"
NAMES = sorted(path.parent.name for path in LESSONS.glob("*/study.toml"))
CLAIMS: list[dict[str, Any]] = tomllib.loads(
    (LESSONS / "exercises.toml").read_text(encoding="utf-8")
)["claim"]


def answer(command: Path, lesson: str, cwd: Path) -> list[dict[str, str]]:
    """The table that answers a lesson's question, row by row."""
    study = LESSONS / lesson / "study.toml"
    done = subprocess.run(
        [str(command), "study", str(study), "--format", "csv"],
        cwd=cwd,
        check=True,
        capture_output=True,
        text=True,
    )
    return list(csv.DictReader(io.StringIO(done.stdout)))


def values(table: list[dict[str, str]], metric: str) -> dict[str, float]:
    """The values of a metric by the level of the factor, without differences between levels."""
    factor = list(table[0])[1]
    rows = [line for line in table if line["metric"] == metric and " \u2212 " not in line[factor]]
    assert rows, f"{metric} among {sorted({line['metric'] for line in table})}"
    return {line[factor]: float(line["value"]) for line in rows}


def holds(claim: dict[str, Any], table: list[dict[str, str]]) -> bool:
    found = values(table, claim["metric"])
    if "spread_at_least" in claim:
        return bool(max(found.values()) / min(found.values()) >= claim["spread_at_least"])
    number = found[claim["row"]]
    if "over" in claim:
        number /= found[claim["over"]]
    return bool(claim.get("at_least", number) <= number <= claim.get("at_most", number))


def test_every_lesson_has_a_claim() -> None:
    assert len(NAMES) == 8
    assert {claim["lesson"] for claim in CLAIMS} == set(NAMES)


@pytest.mark.parametrize("lesson", NAMES)
def test_the_answers_of_the_exercises_are_what_the_command_gives(
    lesson: str, command: Path, tmp_path: Path
) -> None:
    table = answer(command, lesson, tmp_path)
    wrong = [claim for claim in CLAIMS if claim["lesson"] == lesson and not holds(claim, table)]
    assert not wrong, f"{wrong}\n{table}"
