"""What classes of Python cost, and what `sojourn bench` says of it."""

from __future__ import annotations

from pathlib import Path

from plugins import command, module

IDLE = """
from sojourn.plugin import Aqm, Control

class Idle(Aqm):
    def on_enqueue(self, size, flow):
        return None if size else None

class Same(Control):
    def on_ack(self, acked, mss):
        self.cwnd += mss * acked / self.cwnd
"""


def test_bench_measures_a_queue_and_hints_at_what_is_slow(tmp_path: Path) -> None:
    module(tmp_path, IDLE)
    done = command(
        tmp_path, "bench", "--queue", "my_module:Idle", "--rounds", "1", "--seconds", "0.02"
    )
    assert done.returncode == 0, done.stderr
    assert "times droptail" in done.stdout
    said = " ".join(done.stdout.split())
    assert "on_enqueue was called" in said
    assert "leave it out" in said
    assert "on_enqueue asks for flow and does not read it" in said
    assert "asks for size" not in said


def test_bench_measures_a_control(tmp_path: Path) -> None:
    module(tmp_path, IDLE)
    done = command(
        tmp_path,
        *("bench", "--cc", "my_module:Same", "--cc", "cubic", "--rounds", "1", "--seconds", "0.2"),
    )
    assert done.returncode == 0, done.stderr
    assert "times reno" in done.stdout
    assert "my_module:Same" in done.stdout
