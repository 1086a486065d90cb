"""The numbers in the READMEs of studies/ are those of the studies: to the last digit."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import studies

STUDIES = studies.studies()


def test_the_reproductions_have_generated_readmes() -> None:
    assert set(studies.REPRODUCTIONS) <= set(STUDIES)


@pytest.mark.parametrize("study", STUDIES)
def test_every_study_has_figures_and_one_that_answers(study: str) -> None:
    text = (studies.STUDIES / study / "study.toml").read_text(encoding="utf-8")
    assert "\n[[figure]]\n" in text
    answer = next(line for line in text.splitlines() if line.startswith("answer = "))
    assert 'figure = "' in answer or 'figure = ["' in answer


@pytest.mark.parametrize("study", STUDIES)
def test_a_readme_is_what_its_template_and_numbers_give(study: str) -> None:
    readme = (studies.STUDIES / study / "README.md").read_text(encoding="utf-8")
    assert readme == studies.render(studies.from_file(study))


@pytest.mark.parametrize("study", studies.REPRODUCTIONS)
def test_a_study_gives_the_numbers_it_gave(study: str, command: Path) -> None:
    # The command of the package is optimised, the plain binary of `make test` is not.
    installed = Path(sys.executable).with_name("sojourn")
    fast = installed if installed.is_file() else command
    printed = studies.run(fast, study, *studies.short_options(study))
    found = studies.differences(study, printed)
    assert not found, f"`make studies STUDY={study}` writes it again:\n" + "\n".join(found)


def test_the_errors_over_time_of_the_ten_nodes_are_those_of_their_commands(
    command: Path, tmp_path: Path
) -> None:
    study = tmp_path / "study"
    shutil.copytree(studies.STUDIES / "red-droptail-ten-nodes", study)
    readme = (study / "README.md").read_text(encoding="utf-8")
    _, block = readme.split("```sh\nfor queue", 1)
    script = "set -e\nfor queue" + block.split("```", 1)[0]
    links = tmp_path / "bin"
    links.mkdir()
    (links / "sojourn").symlink_to(command)
    path = f"{links}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        ["bash", "-c", script], cwd=study, env={**os.environ, "PATH": path}, check=True, text=True
    )
    for queue, name in (("droptail", "DropTail"), ("red", "RED")):
        with (study / queue / "tables" / "conversations.csv").open(encoding="utf-8") as file:
            there, back = csv.DictReader(file)
        packets = int(there["packets"]) + int(back["packets"])
        resent, duplicates = int(there["retransmitted_packets"]), int(back["duplicate_acks"])
        per_second = f"{packets / 500:.0f} | {(resent + duplicates) / 500:.1f}"
        assert f"| {name} | {per_second} | {resent} | {duplicates} |" in readme


def test_a_changed_digit_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    result = {
        "experiment": "e",
        "metric": "m_ratio of x",
        "levels": {"b": "2", "a": "1, or so"},
        "value": 0.25,
        "low": None,
        "high": None,
        "n": 2,
        "unit": "1",
    }
    printed = {"results": [result], "notes": []}
    row = studies.results_of(printed["results"])
    (key,) = row
    assert key == "e: m_ratio of x, a=1, or so, b=2"
    stored = {
        "short": {"sha256": studies.digest(printed)},
        "numbers": {key: {"short": row[key]}},
    }
    monkeypatch.setattr(studies, "read", lambda _study: stored)
    assert studies.differences("s", printed) == []
    other = {**printed, "results": [{**result, "value": 0.25000000000000006}]}
    assert studies.differences("s", other) == [
        f"{key}: [0.25, None, None] became [0.25000000000000006, None, None]"
    ]
    more = {**printed, "results": [result, {**result, "metric": "other"}]}
    assert studies.differences("s", more) == ["a number or note that README.md does not name"]
    book = studies.Book("s", row, {})
    assert str(book.number("e", "m_ratio of x", a="1, or so", b=2)) == "25"
    assert [str(one) for one in book.every("e", "m_ratio of x", b=2)] == ["25"]
    with pytest.raises(KeyError, match="no number 'e: m_ratio of x, a=9'"):
        book.number("e", "m_ratio of x", a=9)


def test_rankings_that_turn_in_a_dialect_are_counted_and_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def ranking(order: str | None, **dialects: str) -> studies.Result:
        there = {name: {"standing": standing} for name, standing in dialects.items()}
        return {
            "experiment": "e",
            "levels": {"rate": "1"},
            "title": "Loss",
            "a": "CoDel",
            "b": "DRR",
            "order": order,
            "dialects": there,
        }

    left_out = [{"component": "red", "key": "weight", "values": ["0.002"]}]
    printed = {
        "totals": {"rankings": 4, "hold": 1, "turn": 3, "unclear": 0, "open": 1, "found": 0},
        "dialects": [
            {"dialect": "ns3", "state": "ran", "lacks": {"drr": "ns2"}, "left_out": left_out},
            {"dialect": "linux", "state": "failed", "reason": "no such key"},
        ],
        "rankings": [
            ranking("less", ns3="holds"),
            ranking("greater", ns3="turns"),
            ranking("greater", ns3="turns"),
            ranking("less", ns3="turns"),
            ranking(None, ns3="unclear"),
        ],
    }
    found = studies.sensitivity_of(printed, ("--replications", "5"))
    text = studies.sensitivity_text("s", found)
    assert "`sojourn study s --dialects all --replications 5`" in text
    assert "with 5 replications of what is random" in text
    assert "its own replications" in studies.sensitivity_text("s", {**found, "options": []})
    assert "| ns3 | 1 | 3 | 0 | drr, `weight` of red |" in text
    assert "| linux | | | | cannot run: no such key |" in text
    turns = "as written, the opposite in ns3"
    assert f"- Loss in *e*: DRR < CoDel {turns} (2 points, such as rate=1)\n" in text
    assert text.endswith(f"- Loss in *e*: CoDel < DRR {turns} (rate=1)")
    monkeypatch.setattr(studies, "MOST_TURNS", 1)
    few = studies.sensitivity_text("s", studies.sensitivity_of(printed, ()))
    assert few.endswith("- and 1 more")


@pytest.mark.parametrize(
    ("mean", "interval", "text"),
    [
        (-58.91, 3.44, f"{studies.MINUS}58.9 ± 3.4"),
        (9.9, 0.0996, "9.90 ± 0.10"),
        (1234.0, 55.0, "1234 ± 55"),
        (0.0, None, "0"),
        (81.15678, None, "81.16"),
        (-0.0004, 0.02, "0.000 ± 0.020"),
        (627.0, None, "627"),
        (97.5, (91.2, 99.2), "97.5 [91.2, 99.2]"),
        (10.0, (8.1, 11.8), "10.0 ± 1.9"),
    ],
)
def test_numbers_are_printed_as_tables_print_them(
    mean: float, interval: float | tuple[float, float] | None, text: str
) -> None:
    ends = (mean - interval, mean + interval) if isinstance(interval, float) else interval
    assert str(studies.Number(mean, ends, 10)) == text
