"""`sojourn check`: every planted fault is found, with a smallest case that shows it again, and what is right passes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import sojourn
from plugins import MINE, command, module

HEAD = "import random as python_random\nfrom sojourn.plugin import *\n"

STUCK = """
class C(Aqm):
    wait = 0.0

    def on_enqueue(self):
        return DROP if self.wait > 0.005 else None

    def on_dequeue(self, sojourn):
        self.wait = sojourn
"""
GROWS = """
class C(Aqm):
    def __init__(self):
        self.waits = []

    def on_dequeue(self, sojourn):
        self.waits.append(sojourn)
"""
SHARED = """
class C(Aqm):
    waits = []

    def on_dequeue(self, sojourn):
        self.waits.append(sojourn)
"""
FORGETS_NO_FLOW = """
class C(Scheduler):
    def __init__(self):
        self.flows = {}

    def enqueue(self, packet):
        self.flows.setdefault(packet.flow, []).append(packet)

    def dequeue(self):
        for flow in list(self.flows):
            if self.flows[flow]:
                packet = self.flows[flow].pop(0)
                self.flows[flow] = self.flows.pop(flow)
                return packet
"""
ROLLS = """
class C(Aqm):
    def on_enqueue(self, packets):
        return DROP if packets > 3 and python_random.random() < 0.5 else None
"""
PEEKS = """
class C(Aqm):
    STATE = ("load",)
    turn = 0

    @property
    def load(self):
        self.turn += 1
        return 0.0

    def on_enqueue(self, packets):
        return DROP if packets > 2 and self.turn % 2 else None
"""
UNFAIR = """
class C(Scheduler):
    def __init__(self):
        self.queue = []

    def enqueue(self, packet):
        self.queue.append(packet)
        self.queue.sort(key=lambda own: own.flow)

    def dequeue(self):
        return self.queue.pop(0) if self.queue else None
"""
DROPS_CAPABLE = """
class C(Aqm):
    ecn: bool = parameter(False)
    number = 0

    def on_enqueue(self, packets, ecn):
        if packets < 5:
            return None
        self.number += 1
        return MARK if self.ecn and ecn and self.number % 2 else DROP
"""
DROPS_LARGE = """
class C(Aqm):
    def on_enqueue(self, size):
        return DROP if size >= 1400 else None
"""
DROPS_ALWAYS = """
class C(Aqm):
    def on_enqueue(self, random):
        return DROP if random() < 0.9 else None
"""
HATES_A_FLOW = """
class C(Aqm):
    def on_enqueue(self, flow):
        return DROP if flow == 3 else None
"""
HOLDS_BACK = """
class C(Scheduler):
    def __init__(self):
        self.kept = []

    def enqueue(self, packet, now):
        self.kept.append((now + 1, packet))

    def dequeue(self, now):
        return self.kept.pop(0)[1] if self.kept and self.kept[0][0] <= now else None

    def ready_at(self):
        return self.kept[0][0] if self.kept else float("inf")
"""
RAISES_WINDOW = """
class C(Control):
    def on_loss(self):
        self.cwnd *= 1.5 if self.cwnd < 1e6 else 0.5
"""
DEAF = """
class C(Control):
    def on_loss(self):
        self.cwnd = max(self.cwnd, 400 * self.mss)

    def on_ack(self, acked):
        self.cwnd += acked
"""
DEAF_TO_MARKS = """
class C(Control):
    def on_ack(self, acked, mss):
        self.cwnd += acked if self.cwnd < self.ssthresh else mss * acked / self.cwnd

    def on_loss(self):
        self.cwnd = self.ssthresh = self.cwnd / 2

    def on_ecn(self):
        pass
"""
GREEDY = """
class C(Control):
    def on_ack(self, acked):
        self.cwnd += 100 * acked

    def on_loss(self):
        self.cwnd = self.ssthresh = self.cwnd / 2
"""
TIMID = """
class C(Control):
    def on_ack(self, mss):
        self.cwnd = 4 * mss
"""


def checked(folder: Path, source: str, *more: str) -> tuple[int, dict[str, dict[str, Any]]]:
    module(folder, HEAD + source)
    done = command(folder, "check", "my_module:C", *more, "--json", "-")
    assert done.returncode in (0, 1), done.stderr
    told = json.loads(done.stdout)
    return done.returncode, {own["property"]: own for own in told["properties"]}


def failed(properties: dict[str, dict[str, Any]]) -> set[str]:
    return {name for name, own in properties.items() if own["verdict"] == "failed"}


@pytest.mark.parametrize(
    ("source", "arguments", "expected"),
    [
        (STUCK, (), {"sparse"}),
        (GROWS, (), {"memory"}),
        (FORGETS_NO_FLOW, (), {"memory"}),
        (ROLLS, (), {"repeatability"}),
        (PEEKS, (), {"reading"}),
        (UNFAIR, ("limit=100000p",), {"starvation"}),
        (DROPS_CAPABLE, ("ecn=true",), {"marks"}),
        (DROPS_LARGE, (), {"light"}),
        (DROPS_ALWAYS, (), {"light"}),
        (HATES_A_FLOW, (), {"light"}),
        (HOLDS_BACK, (), {"light"}),
        (RAISES_WINDOW, (), {"reductions"}),
        (DEAF, (), {"losses"}),
        (DEAF_TO_MARKS, (), {"marks"}),
        (GREEDY, (), {"growth"}),
        (TIMID, (), {"use"}),
    ],
    ids=lambda value: value.split("\n")[1] if isinstance(value, str) else "",
)
def test_a_planted_fault_is_found(
    tmp_path: Path, source: str, arguments: tuple[str, ...], expected: set[str]
) -> None:
    status, properties = checked(tmp_path, source, *arguments)
    assert status == 1
    found = failed(properties)
    assert expected <= found, properties
    for name in expected:
        assert properties[name]["seen"]
        assert properties[name]["required"]
        assert properties[name]["example"]["kind"] in ("arrivals", "scenario", "steps")


def test_what_a_class_shares_counts_as_its_memory(tmp_path: Path) -> None:
    _, properties = checked(tmp_path, SHARED)
    assert "memory" in failed(properties)


@pytest.mark.parametrize("name", ["Mine", "Pair", "Aimd"])
def test_a_class_without_a_fault_passes(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module(tmp_path, MINE, "plain_module")
    monkeypatch.syspath_prepend(str(tmp_path))
    came = sojourn.check(f"plain_module:{name}")
    assert came, came.text
    assert not came.failed
    assert {own.verdict for own in came.properties} <= {"passed", "not-asked"}
    assert all(own.reason for own in came.properties if own.verdict == "not-asked")


def test_algorithms_of_the_catalogue_pass(tmp_path: Path) -> None:
    for words in (["codel"], ["fq_codel", "ecn=true"], ["cubic"], ["dctcp"]):
        done = command(tmp_path, "check", *words)
        assert done.returncode == 0, done.stdout + done.stderr
        assert " 0 failed" in done.stdout


def test_the_smallest_arrivals_show_the_fault_again_in_a_replay(tmp_path: Path) -> None:
    module(tmp_path, HEAD + STUCK)
    done = command(tmp_path, "check", "my_module:C", "--out", "smallest")
    assert done.returncode == 1, done.stderr
    again = "sojourn replay smallest/sparse.csv --queue my_module:C --rate 10Mbps"
    assert again in done.stdout
    replayed = command(tmp_path, *again.split()[1:])
    assert replayed.returncode == 0, replayed.stderr
    rows = replayed.stdout.splitlines()[1:]
    assert len(rows) > 150
    assert all(",dropped," in row for row in rows[-150:])
    assert sum(",sent," in row for row in rows) >= 2


def test_a_smallest_scenario_runs(tmp_path: Path) -> None:
    module(tmp_path, HEAD + TIMID)
    done = command(tmp_path, "check", "my_module:C", "--out", "smallest")
    assert done.returncode == 1, done.stderr
    scenario = (tmp_path / "smallest" / "use.toml").read_text(encoding="utf-8")
    assert scenario.startswith("# The smallest case that sojourn check found")
    run = command(tmp_path, "run", "smallest/use.toml")
    assert run.returncode == 0, run.stderr


def test_the_smallest_case_is_the_same_every_time(tmp_path: Path) -> None:
    first, second = (checked(tmp_path, PEEKS) for _ in range(2))
    assert first == second
    arrivals = first[1]["reading"]["example"]["arrivals"]
    assert len(arrivals) <= 12, arrivals


def test_files_of_others_are_not_overwritten(tmp_path: Path) -> None:
    module(tmp_path, HEAD + STUCK)
    (tmp_path / "smallest").mkdir()
    mine = tmp_path / "smallest" / "sparse.csv"
    mine.write_text("mine\n", encoding="utf-8")
    done = command(tmp_path, "check", "my_module:C", "--out", "smallest")
    assert done.returncode == 2
    assert "sparse.csv" in done.stderr
    assert "not overwritten" in done.stderr
    assert mine.read_text(encoding="utf-8") == "mine\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["codle"], 'did you mean "codel"'),
        (["cbr"], "is a kind of flow"),
        (["nada"], "is a rate control of media"),
        (["codel", "traget=3ms"], 'did you mean "target"'),
        (["cubic", "bate=0.5"], 'did you mean "beta"'),
        (["codel", "--skip", "starvaton"], 'did you mean "starvation"'),
        (["codel", "--as", "cc"], "is a queue"),
        (["cubic", "--as", "queue"], "is a congestion control"),
        (["my_module:Nothing"], "there is no module my_module"),
    ],
)
def test_what_cannot_be_checked_is_said(tmp_path: Path, words: list[str], message: str) -> None:
    done = command(tmp_path, "check", *words)
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    assert message in done.stderr
    assert not list(tmp_path.iterdir())


def test_an_exception_ends_the_check_with_its_traceback(tmp_path: Path) -> None:
    module(tmp_path, HEAD + "class C(Aqm):\n    def on_dequeue(self, now):\n        [][3]\n")
    done = command(tmp_path, "check", "my_module:C")
    assert done.returncode == 2
    assert "on_dequeue raised an exception at simulated time" in done.stderr
    assert "IndexError" in done.stderr
    assert "panicked" not in done.stderr
    assert "while conservation was asked: every packet is sent or dropped, once" in done.stderr


def test_a_property_can_be_left_out(tmp_path: Path) -> None:
    status, properties = checked(tmp_path, UNFAIR, "limit=100000p", "--skip", "starvation")
    assert status == 0, properties
    assert properties["starvation"]["verdict"] == "not-asked"


def test_an_endless_loop_is_ended_by_an_interrupt(tmp_path: Path) -> None:
    module(tmp_path, HEAD + "class C(Aqm):\n    def on_enqueue(self):\n        while True: pass\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "sojourn", "check", "my_module:C"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    # The title is printed before the first property is asked.
    process.stdout.readline()
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130, error


CAPPED = """
class C(Control):
    \"\"\"AIMD by its pace; the window is a bound alone.\"\"\"

    pacing_bps = None

    def on_start(self, initial_window):
        self.w = initial_window

    def on_ack(self, acked, mss, srtt):
        self.w += acked if self.w < self.ssthresh else mss * acked / self.w
        self.cwnd = 2 * self.w
        if srtt:
            self.pacing_bps = max(8 * self.w / srtt, 1e4)

    def on_loss(self):
        self.w = max(self.w / 2, 3000)
        self.cwnd = 2 * self.w
        self.ssthresh = self.w
"""
STARTS_LARGE = """
class C(Control):
    def on_start(self, mss):
        self.cwnd = 40 * mss
"""


@pytest.mark.parametrize("source", [CAPPED, STARTS_LARGE])
def test_a_window_that_need_not_grow_with_acknowledgements_passes(
    tmp_path: Path, source: str
) -> None:
    _, properties = checked(tmp_path, source)
    assert properties["growth"]["verdict"] in ("passed", "not-asked")
