"""Results say which code made them: runs of a class whose code has changed are made again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sojourn
from plugins import command

QUEUE = """from sojourn.plugin import DROP, Aqm
from rules import MOST


class Short(Aqm):
    def on_enqueue(self, packets):
        return DROP if packets >= MOST else None
"""

CONTROL = """from sojourn.plugin import Control


class Part(Control):
    def on_loss(self):
        self.cwnd *= 0.5
"""

STUDY = """
flows = ["2*{control}"]
[study]
title = "Two queues"
[run]
duration = "3s"
warmup = "1s"
replications = 2
[topology]
rate = "10Mbps"
rtt = "20ms"
[[experiment]]
name = "two"
[[experiment.factor]]
name = "queue"
path = "topology.queue"
values = ["{queue}", "codel"]
"""


def made(folder: Path) -> tuple[str, float, float]:
    """What the study says beside its tables, and the mean backlog of both queues."""
    done = command(folder, "study", "study.toml", "--out", "results", "-v")
    assert done.returncode == 0, done.stderr
    return done.stderr, backlog(folder / "results", 0), backlog(folder / "results", 1)


def backlog(results: Path, point: int) -> float:
    """The mean backlog of a point's bottleneck, packets, over its runs."""
    rows = sojourn.read(results).queues.to_dicts()
    own = [row for row in rows if row["bottleneck"] and row["point"] == point]
    return sum(float(row["backlog_packets_mean"]) for row in own) / len(own)


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, "short.py", QUEUE)
    write(tmp_path, "rules.py", "MOST = 20\n")
    write(tmp_path, "part.py", CONTROL)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("short.py", QUEUE.replace("MOST else", "MOST / 4 else")),
        ("rules.py", "MOST = 5\n"),
    ],
)
def test_runs_of_a_queue_are_made_again_when_its_code_changes(
    folder: Path, file: str, text: str
) -> None:
    write(folder, "study.toml", STUDY.format(control="cubic", queue="short:Short"))
    _, first, codel = made(folder)
    said, again, _ = made(folder)
    assert again == first
    assert "made 0" not in said
    assert "code has changed" not in said
    write(folder, file, text)
    said, short, still = made(folder)
    assert "short:Short: its code has changed since these results were made" in said
    assert "made 2 runs" in said, "the runs of CoDel stay"
    assert short < first / 2
    assert still == codel
    said, again, _ = made(folder)
    assert (again, "code has changed" in said) == (short, False)
    # A fresh directory has the same.
    done = command(folder, "study", "study.toml", "--out", "fresh")
    assert done.returncode == 0, done.stderr
    assert backlog(folder / "fresh", 0) == short


def test_runs_of_a_control_are_made_again_when_its_code_changes(folder: Path) -> None:
    write(folder, "study.toml", STUDY.format(control="part:Part", queue="droptail limit=30p"))
    _, before, _ = made(folder)
    write(folder, "part.py", CONTROL.replace("0.5", "0.9"))
    said, after, _ = made(folder)
    assert "part:Part: its code has changed" in said
    assert "made 4 runs" in said
    assert after > before


def test_the_manifest_names_the_code_of_every_class(folder: Path) -> None:
    write(folder, "study.toml", STUDY.format(control="part:Part", queue="short:Short"))
    made(folder)
    manifest = json.loads((folder / "results" / "manifest.json").read_text(encoding="utf-8"))
    names = [[code["name"] for code in point["code"]] for point in manifest["points"]]
    assert names == [["part:Part", "short:Short"], ["part:Part"]]
    assert all(
        code["version"].startswith("sha256-")
        for point in manifest["points"]
        for code in point["code"]
    )


def test_a_class_whose_name_begins_like_another_counts_alone(folder: Path) -> None:
    longer = QUEUE.split("\n\n\n")[1].replace("Short", "Shorter").replace("MOST", "4")
    write(folder, "short.py", f"{QUEUE}\n\n{longer}")
    study = STUDY.format(control="cubic", queue="short:Shorter").replace("codel", "short:Short")
    write(folder, "study.toml", study)
    made(folder)
    manifest = json.loads((folder / "results" / "manifest.json").read_text(encoding="utf-8"))
    names = [[code["name"] for code in point["code"]] for point in manifest["points"]]
    assert names == [["short:Shorter"], ["short:Short"]]
    said, _, _ = made(folder)
    assert "made" not in said


def test_a_rerun_says_that_code_has_changed(folder: Path) -> None:
    write(folder, "study.toml", STUDY.format(control="cubic", queue="short:Short"))
    made(folder)
    done = command(folder, "rerun", "results")
    assert done.returncode == 0, done.stderr
    assert "has changed" not in done.stderr
    write(folder, "rules.py", "MOST = 5\n")
    done = command(folder, "rerun", "results")
    assert done.returncode == 1
    assert "the code of short:Short has changed since these results were made" in done.stderr


def test_code_that_changes_while_runs_are_made_ends_the_study(folder: Path) -> None:
    # Each process that imports it finds another file.
    grows = "with open(__file__, 'a') as own:\n    own.write('#\\n')\n"
    write(folder, "short.py", QUEUE + grows)
    # Many runs of the class, so that two are made at a time.
    study = STUDY.format(control="cubic", queue="short:Short")
    study = study.replace('"codel"', '"short:Short limit=500p"')
    write(folder, "study.toml", study.replace("replications = 2", "replications = 8"))
    done = command(folder, "study", "study.toml", "--threads", "2")
    assert done.returncode == 2
    assert "the code of short:Short changed while its runs were made" in done.stderr
