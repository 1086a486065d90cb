"""Classes of Python that raise, answer nonsense, loop, or keep a packet: what the user sees."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sojourn
from plugins import command, dumbbell, module

HEAD = "from sojourn.plugin import *\n"


def said(folder: Path, source: str, *more: str) -> str:
    module(folder, HEAD + source)
    done = command(folder, *dumbbell(*more))
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    assert "a bug" not in done.stderr
    assert "panicked" not in done.stderr
    return done.stderr


def test_an_exception_ends_the_run_with_its_traceback_and_the_simulated_time(
    tmp_path: Path,
) -> None:
    source = (
        "class C(Aqm):\n    def on_dequeue(self, now):\n        if now > 2:\n            [][3]\n"
    )
    err = said(tmp_path, source, "--queue", "my_module:C")
    assert "my_module:C: on_dequeue raised an exception at simulated time 2" in err
    assert "Traceback (most recent call last):" in err
    assert 'my_module.py", line 5, in on_dequeue' in err
    assert "IndexError: list index out of range" in err


def test_an_exception_in_init_names_the_class(tmp_path: Path) -> None:
    source = "class C(Aqm):\n    def __init__(self):\n        1 / 0\n"
    err = said(tmp_path, source, "--queue", "my_module:C")
    assert "my_module:C: __init__ raised an exception" in err
    assert "ZeroDivisionError" in err
    source = "class D(Control):\n    def __init__(self):\n        1 / 0\n"
    err = said(tmp_path, source, "--flow", "my_module:D")
    assert "my_module:D: __init__ raised an exception" in err


@pytest.mark.parametrize(
    ("base", "body", "message"),
    [
        ("Aqm", "def on_enqueue(self): return 'drop'", "on_enqueue returned 'drop' at simulated"),
        ("Aqm", "def on_dequeue(self): return True", "on_dequeue returned True at simulated"),
        ("Aqm", "def on_empty(self): return DROP", "on_empty returned <Verdict.DROP: 'drop'> at"),
        ("Control", "def on_ack(self): self.cwnd = -1", "on_ack set cwnd to -1 at simulated time"),
        ("Control", "def on_ack(self): self.cwnd = float('nan')", "on_ack set cwnd to nan at"),
        ("Control", "def on_ack(self): self.cwnd = '9'", "on_ack set cwnd to '9' at simulated"),
        ("Control", "def on_ack(self): self.ssthresh = None", "on_ack set ssthresh to None at"),
        ("Control", "def on_ack(self): self.pacing_bps = 0", "on_ack set pacing_bps to 0 at"),
        ("Control", "def on_ack(self): del self.cwnd; return 3", "on_ack returned 3 at simulated"),
    ],
)
def test_nonsense_is_named_with_what_is_allowed(
    tmp_path: Path, base: str, body: str, message: str
) -> None:
    option = "--flow" if base == "Control" else "--queue"
    err = said(tmp_path, f"class C({base}):\n    {body}\n", option, "my_module:C")
    assert f"my_module:C: {message}" in err
    assert "; allowed: " in err


@pytest.mark.parametrize(
    ("enqueue", "dequeue", "message"),
    [
        (
            "self.kept.append(packet)",
            "return self.kept.pop() if len(self.kept) > 1 else None",
            "dequeue returned None while the class keeps 1 packet",
        ),
        (
            "self.kept.append(packet)",
            "return self.kept[0]",
            "which it does not keep any more,",
        ),
        ("self.kept.append(packet)", "return 7", "dequeue returned 7 at simulated time"),
        (
            "self.kept.append(packet); self.drop(packet); self.drop(packet)",
            "return None",
            "a packet that it does not keep,",
        ),
        ("return packet", "return None", "enqueue returned <packet 0 of flow"),
    ],
)
def test_a_scheduler_that_loses_count_is_told(
    tmp_path: Path, enqueue: str, dequeue: str, message: str
) -> None:
    source = (
        "class C(Scheduler):\n"
        "    def __init__(self): self.kept = []\n"
        f"    def enqueue(self, packet): {enqueue}\n"
        f"    def dequeue(self): {dequeue}\n"
    )
    err = said(tmp_path, source, "--queue", "my_module:C")
    assert message in err
    assert "; allowed: " in err


LOOP = HEAD + (
    "import sys\n"
    "class C(Aqm):\n"
    "    def on_enqueue(self):\n"
    "        print('looping', file=sys.stderr, flush=True)\n"
    "        while True:\n"
    "            pass\n"
)


def interrupted(process: subprocess.Popen[str]) -> tuple[int, str, float]:
    """Interrupts a process once it loops: its status, what it said, and how long it took to end."""
    assert process.stderr is not None
    while "looping" not in (line := process.stderr.readline()):
        assert line, "it ended before"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    _, err = process.communicate(timeout=60)
    return process.returncode, err, time.monotonic() - begun


@pytest.mark.parametrize("threads", ["1", "2"])
def test_ctrl_c_ends_an_endless_loop_in_the_command(tmp_path: Path, threads: str) -> None:
    module(tmp_path, LOOP)
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "sojourn"),
            *dumbbell("--queue", "my_module:C", "--replications", "2", "--threads", threads),
        ],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    status, err, took = interrupted(process)
    assert status == 130, err
    assert took < 10
    assert "interrupted" in err


def test_ctrl_c_ends_an_endless_loop_in_a_session(tmp_path: Path) -> None:
    module(tmp_path, LOOP)
    session = (
        "import sojourn\n"
        "scenario = sojourn.dumbbell(rate='10Mbps', rtt='20ms', flows=['cubic'], queue='my_module:C')\n"
        "try:\n"
        "    sojourn.run(scenario, replications=1)\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped')\n"
        "fine = sojourn.run(scenario.with_('topology.queue', 'codel'), replications=1)\n"
        "print('and', len(fine.queues) > 0)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", session],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    while "looping" not in (line := process.stderr.readline()):
        assert line, "it ended before"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert out == "stopped\nand True\n"


def test_in_python_the_error_is_a_plugin_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module(
        tmp_path, HEAD + "class C(Aqm):\n    def on_dequeue(self): raise KeyError('x')\n", "oops"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    scenario = sojourn.dumbbell(rate="10Mbps", rtt="20ms", flows=["cubic"], queue="oops:C")
    with pytest.raises(sojourn.PluginError, match="KeyError: 'x'"):
        sojourn.run(scenario, replications=1)


SHAPER = """import math


class C(Scheduler):
    def __init__(self):
        self.kept, self.free = [], 0.0

    def enqueue(self, packet):
        self.kept.append(packet)

    def dequeue(self, now, rate):
        if self.kept and now >= self.free:
            packet = self.kept.pop(0)
            self.free = now + 8 * packet.size / (rate / 2)
            return packet

    def ready_at(self):
        return READY
"""


def test_a_shaper_is_asked_again_not_before_the_time_that_it_said(tmp_path: Path) -> None:
    module(tmp_path, HEAD + SHAPER.replace("READY", "self.free"))
    done = command(tmp_path, *dumbbell("--queue", "my_module:C"))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("ready", ["math.nan", "-1", "'soon'"])
def test_a_time_that_is_none_is_refused(tmp_path: Path, ready: str) -> None:
    source = SHAPER.replace("READY", ready).replace("now >= self.free", "False")
    err = said(tmp_path, source, "--queue", "my_module:C")
    assert "ready_at returned" in err
    assert "allowed: a time in seconds, later than now" in err


def test_a_pace_that_is_set_outside_the_class_is_told(tmp_path: Path) -> None:
    source = (
        "def slow(control):\n    control.pacing_bps = 1e6\n\n\n"
        "class C(Control):\n    def on_ack(self):\n        slow(self)\n"
    )
    err = said(tmp_path, source, "--flow", "my_module:C")
    assert "name it in the class" in err
    named = source.replace("Control):\n", "Control):\n    pacing_bps = None\n\n")
    module(tmp_path, HEAD + named)
    done = command(tmp_path, *dumbbell("--flow", "my_module:C"))
    assert done.returncode == 0, done.stderr


def test_what_a_class_prints_does_not_get_into_results(tmp_path: Path) -> None:
    module(tmp_path, HEAD + "class C(Aqm):\n    def __init__(self):\n        print('made')\n")
    done = command(tmp_path, *dumbbell("--queue", "my_module:C", "--format", "json"))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    assert "made" in done.stderr


def test_a_state_that_is_no_attribute_is_told(tmp_path: Path) -> None:
    source = """
    from sojourn.plugin import Aqm

    class Q(Aqm):
        STATE = ("nothing",)

        def on_enqueue(self, packets):
            return None
    """
    module(tmp_path, source, "stated")
    done = command(tmp_path, "dumbbell", "--queue", "stated:Q", "--flow", "reno")
    assert done.returncode == 2
    assert "STATE names nothing, but an instance has no attribute nothing" in done.stderr
