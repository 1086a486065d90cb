"""Classes of Python as queues and congestion controls: where they run, and how they are named."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

import sojourn
from plugins import command, dumbbell, module

ROOT = Path(__file__).resolve().parents[2]


def ran(folder: Path, *arguments: str, path: str = "") -> str:
    done = command(folder, *arguments, path=path)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(folder: Path, *arguments: str) -> str:
    done = command(folder, *arguments)
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    return done.stderr


def test_a_class_runs_beside_queues_of_ours_from_one_line(tmp_path: Path) -> None:
    module(tmp_path)
    out = ran(
        tmp_path,
        *dumbbell("--queue", "my_module:Mine target=3ms", "--queue", "codel", "--flow", "2*cubic"),
    )
    assert "my_module:Mine" in out or "Mine" in out, out
    assert "codel" in out.lower()


def test_a_class_is_found_beside_the_scenario_and_on_pythonpath(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    module(tmp_path / "there")
    scenario = tmp_path / "there" / "lab.toml"
    scenario.write_text(
        'flows = ["2*cubic"]\n[run]\nduration = "5s"\nreplications = 2\n'
        '[topology]\nrate = "10Mbps"\nrtt = "20ms"\nqueue = "my_module:Mine target=3ms"\n',
        encoding="utf-8",
    )
    beside = ran(tmp_path, "run", "there/lab.toml")
    shutil.move(scenario, tmp_path / "lab.toml")
    on_path = ran(tmp_path, "run", "lab.toml", path=str(tmp_path / "there"))
    assert beside.replace("there/", "") == on_path
    assert "there is no module my_module" in refused(tmp_path, "run", "lab.toml")


def test_a_control_runs_by_its_name_and_in_place_of_one_of_ours(tmp_path: Path) -> None:
    module(tmp_path)
    out = ran(tmp_path, *dumbbell("--flow", "my_module:Aimd", "--flow", "cubic"))
    assert "Aimd" in out
    ran(tmp_path, *dumbbell("--flow", "tcp cc=my_module:Aimd"))


def test_a_scheduler_shares_a_link_as_it_says(tmp_path: Path) -> None:
    module(tmp_path)
    scenario = sojourn.dumbbell(
        rate="10Mbps", rtt="20ms", flows=["cbr 8Mbps", "cbr 16Mbps"], duration="5s", warmup="1s"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        results = sojourn.run(
            scenario.with_("topology.queue", "my_module:Pair limit=100000p"), replications=1
        )
    rates = [row["goodput_bps_mean"] for row in results.flows.to_dicts()]
    assert rates[0] == pytest.approx(rates[1], rel=0.02)


def test_parameters_are_checked_as_those_of_ours(tmp_path: Path) -> None:
    module(tmp_path)
    said = refused(tmp_path, *dumbbell("--queue", "my_module:Mine traget=3ms"))
    assert 'unknown parameter "traget", did you mean "target"?' in said
    said = refused(tmp_path, *dumbbell("--queue", "my_module:Mine target=3"))
    assert "missing unit" in said
    said = refused(tmp_path, *dumbbell("--queue", "my_module:Mine target=11s"))
    assert "out of range, allowed is 1us to 10s" in said


def test_names_that_do_not_exist_are_answered_with_the_nearest(tmp_path: Path) -> None:
    module(tmp_path)
    said = refused(tmp_path, *dumbbell("--queue", "my_module:Mime"))
    assert "has no class Mime, did you mean 'Mine'?" in said
    said = refused(tmp_path, *dumbbell("--queue", "my_modul:Mine"))
    assert "there is no module my_modul, did you mean 'my_module'?" in said
    said = refused(tmp_path, *dumbbell("--queue", "my_module:Aimd"))
    assert "congestion control" in said
    said = refused(tmp_path, *dumbbell("--flow", "my_module:Mine"))
    assert "queue" in said


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "class C(Aqm):\n    def on_dequeue(self, sojurn): ...\n",
            "on_dequeue: unknown argument 'sojurn', did you mean 'sojourn'?",
        ),
        (
            "class C(Aqm):\n    def on_deque(self): ...\n",
            "on_deque is none of the methods of Aqm, did you mean 'on_dequeue'?",
        ),
        ("class C(Scheduler):\n    def enqueue(self, packet): ...\n", "dequeue is missing"),
        ("class C:\n    pass\n", "derives from one of sojourn.plugin.Aqm"),
        ('class C(Aqm):\n    x = parameter("5ms")\n', "its annotation has to be Time"),
        ('class C(Aqm):\n    x: Time = parameter("5")\n', "missing unit"),
        ('class C(Aqm):\n    x: Time = parameter("5s", high="1s")\n', "out of range"),
        ("class C(Aqm):\n    def on_enqueue(self, **more): ...\n", "is not a plain argument"),
        ("import nothing_like_it\nclass C(Aqm): pass\n", "No module named 'nothing_like_it'"),
        ("class C(Aqm)\n    pass\n", "SyntaxError"),
    ],
)
def test_a_class_that_cannot_be_used_says_why(tmp_path: Path, source: str, message: str) -> None:
    module(tmp_path, f"from sojourn.plugin import *\n{source}")
    said = refused(tmp_path, *dumbbell("--queue", "my_module:C"))
    assert message in said


def test_the_manifest_has_name_parameters_and_code_of_a_class(tmp_path: Path) -> None:
    module(tmp_path)
    out = tmp_path / "results"
    ran(tmp_path, *dumbbell("--queue", "my_module:Mine", "--out", str(out)))
    text = (out / "manifest.json").read_text(encoding="utf-8")
    assert "my_module:Mine" in text
    assert "5ms" in text
    source = hashlib.sha256((tmp_path / "my_module.py").read_bytes()).hexdigest()
    rows = sojourn.read(out).queues.to_dicts()
    said = {row["dialect"] for row in rows if row["discipline"] == "my_module:Mine"}
    assert said == {f"sha256-{source[:16]}"}


def test_a_class_runs_inside_schedulers_of_ours(tmp_path: Path) -> None:
    module(tmp_path)
    inside = ran(tmp_path, *dumbbell("--queue", "drr each=(my_module:Mine target=2ms)"))
    assert inside != ran(tmp_path, *dumbbell("--queue", "drr"))


def test_a_class_is_listed_and_shown(tmp_path: Path) -> None:
    module(tmp_path)
    shown = ran(tmp_path, "show", "my_module:Mine")
    assert "Acceptable wait." in shown
    assert "Drops packets that waited longer" in shown


def test_replay_and_audit_know_classes(tmp_path: Path) -> None:
    module(tmp_path)
    (tmp_path / "arrivals.csv").write_text(
        "time_ns,bytes,flow,ecn\n0,1500,0,0\n1000,1500,0,0\n2000,1500,1,0\n", encoding="utf-8"
    )
    replayed = ran(
        tmp_path, "replay", "arrivals.csv", "--queue", "my_module:Mine", "--rate", "1Mbps"
    )
    assert replayed.count("sent") == 3
    out = tmp_path / "results"
    ran(
        tmp_path,
        *dumbbell("--queue", "my_module:Mine", "--flow", "my_module:Aimd", "--out", str(out)),
    )
    # Two replications are few.
    audited = command(tmp_path, "audit", str(out))
    assert audited.returncode == 1, audited.stderr
    assert "bug" not in audited.stdout
    ran(tmp_path, "report", str(out))


def test_a_marker_marks_what_can_be_marked_and_drops_the_rest(tmp_path: Path) -> None:
    module(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        scenario = sojourn.dumbbell(
            rate="10Mbps", rtt="20ms", flows=["cubic ecn=true"], duration="5s", warmup="1s"
        )
        results = sojourn.run(scenario.with_("topology.queue", "my_module:Marker"), replications=1)
    row = next(row for row in results.queues.to_dicts() if row["queue"] == "left-right")
    assert row["marked_packets"] > 0
    assert row["dropped_packets"] == 0


DICE = """from sojourn.plugin import Control


class Dice(Control):
    STATE = ("drawn",)
    drawn = 0

    def on_start(self, mss, random):
        self.drawn = 2 + random.below(1_000_000)
        self.cwnd = mss * (2 + self.drawn % 20)

    def on_ack(self):
        pass
"""


def drawn(flows: list[str], seed: int) -> list[float]:
    """Goodputs, in which only what the connections have drawn makes a difference."""
    scenario = sojourn.dumbbell(
        rate="100Mbps", rtt="50ms", flows=flows, duration="4s", warmup="1s", seed=seed
    ).with_("topology.queue", "droptail limit=1000p")
    results = sojourn.run(scenario, replications=2, threads=2)
    return [row["goodput_bps_mean"] for row in results.flows.to_dicts()]


def test_connections_of_a_class_draw_numbers_of_their_own(tmp_path: Path) -> None:
    module(tmp_path, DICE, name="dice")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        first = drawn(["6*dice:Dice"], 1)
        assert len(set(first)) > len(first) // 2, first
        assert drawn(["6*dice:Dice"], 1) == first
        assert drawn(["6*dice:Dice"], 2) != first
        # A flow more leaves the others what they drew.
        more = drawn(["6*dice:Dice", "dice:Dice start=3.9s"], 1)
        assert more[:6] == first[:6]
        # And so do the connections of a workload.
        short = ["web tcp=(dice:Dice)"]
        assert drawn(short, 1) == drawn(short, 1) != drawn(short, 2)


def test_a_class_is_searched_for_worst_cases_and_stands_on_a_board(tmp_path: Path) -> None:
    module(tmp_path)
    short = ("--set", "run.duration=4s", "--set", "run.warmup=1s", "--confirm", "2")
    out = ran(
        tmp_path,
        *("worst", "--queue", "my_module:Mine", "--maximise", "sojourn_s_p99"),
        *("--runs", "123", *short),
    )
    assert "Searched" in out
    ran(
        tmp_path,
        *("board", "--suite", "rfc7928", "--queue", "my_module:Mine", "--quick", "--out", "board"),
    )
    assert "my_module:Mine" in (tmp_path / "board" / "index.html").read_text(encoding="utf-8")


COUNTS = """from sojourn.plugin import Control


class Dctcp(Control):
    alpha = 1.0
    acked = 0
    marked = 0
    end = 0.0

    def on_ack(self, now, acked, marked, mss, srtt):
        self.acked += acked
        self.marked += marked
        if now >= self.end and self.acked:
            self.alpha += (self.marked / self.acked - self.alpha) / 16
            self.acked = self.marked = 0
            self.end = now + (srtt or 0.0)
        self.cwnd += acked if self.cwnd < self.ssthresh else mss * acked / self.cwnd

    def on_ecn(self):
        self.cwnd *= 1 - self.alpha / 2


class CutsInAck(Dctcp):
    cut = 0.0

    def on_ack(self, now, acked, marked, mss, srtt):
        super().on_ack(now, acked, marked, mss, srtt)
        if marked and now >= self.cut:
            self.cwnd *= 1 - self.alpha / 2
            self.cut = now + (srtt or 0.0)

    def on_ecn(self):
        pass
"""


def test_a_control_learns_of_marks_while_its_window_falls(tmp_path: Path) -> None:
    module(tmp_path, COUNTS, "counts")

    def waiting(flow: str) -> float:
        done = command(
            tmp_path,
            *("dumbbell", "--rate", "100Mbps", "--rtt", "10ms", "--flow", flow),
            *("--queue", "step threshold=20p limit=500p", "--replications", "1"),
            *("--duration", "10s", "--warmup", "3s"),
        )
        line = next(line for line in done.stdout.splitlines() if line.startswith("Backlog, mean"))
        return float(line.split()[-1])

    ours = waiting("dctcp")
    assert waiting("counts:Dctcp") == pytest.approx(ours, rel=0.2)
    assert waiting("counts:CutsInAck") == pytest.approx(ours, rel=0.3)
