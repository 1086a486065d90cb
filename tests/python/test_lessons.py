"""The answers of docs/exercises.md and of the lessons, from their studies and scenarios."""

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
ANSWERS: dict[str, list[dict[str, Any]]] = tomllib.loads(
    (LESSONS / "exercises.toml").read_text(encoding="utf-8")
)
CLAIMS = ANSWERS["claim"]
PAGE = ANSWERS["page"]


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


def page(command: Path, lesson: str, changes: tuple[str, ...], cwd: Path) -> dict[str, float]:
    """The metrics of the run that the page makes: the first replication of the scenario."""
    study = LESSONS / lesson / "study.toml"
    options = [word for change in changes for word in ("--set", change)]
    done = subprocess.run(
        [str(command), "run", str(study), "--replications", "1", "--format", "csv", *options],
        cwd=cwd,
        check=True,
        capture_output=True,
        text=True,
    )
    rows = csv.DictReader(io.StringIO(done.stdout))
    return {row["metric"]: float(row["value"]) for row in rows}


def holds(claim: dict[str, Any], table: list[dict[str, str]]) -> bool:
    found = values(table, claim["metric"])
    number = found[claim["row"]]
    if "over" in claim:
        number /= found[claim["over"]]
    return bool(claim.get("at_least", number) <= number <= claim.get("at_most", number))


def test_every_lesson_has_a_claim() -> None:
    assert len(NAMES) == 8
    assert {claim["lesson"] for claim in CLAIMS} == set(NAMES)
    assert {number["lesson"] for number in PAGE} == set(NAMES)


@pytest.mark.parametrize("lesson", NAMES)
def test_the_answers_of_the_exercises_are_what_the_command_gives(
    lesson: str, command: Path, tmp_path: Path
) -> None:
    table = answer(command, lesson, tmp_path)
    wrong = [claim for claim in CLAIMS if claim["lesson"] == lesson and not holds(claim, table)]
    assert not wrong, f"{wrong}\n{table}"


@pytest.mark.parametrize("lesson", NAMES)
def test_the_numbers_in_a_lesson_are_those_of_its_page(
    lesson: str, command: Path, tmp_path: Path
) -> None:
    text = (LESSONS / lesson / "lesson.md").read_text(encoding="utf-8").split("## Answer")[1]
    runs: dict[tuple[str, ...], dict[str, float]] = {}
    wrong = []
    for number in (own for own in PAGE if own["lesson"] == lesson):
        changes = tuple(number.get("set", ()))
        if changes not in runs:
            runs[changes] = page(command, lesson, changes, tmp_path)
        found = runs[changes][number["metric"]]
        if number["says"] not in text or abs(found / number["value"] - 1) > 0.01:
            wrong.append((number, found))
    assert not wrong
