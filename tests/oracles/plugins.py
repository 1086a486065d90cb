"""Classes of Python for the tests of plug-ins, and how the command is run with them."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

MINE = '''
from sojourn.plugin import DROP, MARK, Aqm, Control, Rate, Ratio, Scheduler, Time, parameter


class Mine(Aqm):
    """Drops packets that waited longer than the target, with a probability."""

    target: Time = parameter("5ms", low="1us", high="10s", doc="Acceptable wait.")
    share: Ratio = parameter(0.1, doc="Probability of a drop above the target.")

    def on_dequeue(self, sojourn, random):
        if sojourn > self.target and random() < self.share:
            return DROP


class Marker(Aqm):
    def on_enqueue(self, packets):
        return MARK if packets >= 5 else None


class Pair(Scheduler):
    """A queue for even and one for odd flows, in turns."""

    def __init__(self):
        self.queues = ([], [])
        self.turn = 0

    def enqueue(self, packet):
        self.queues[packet.flow % 2].append(packet)

    def dequeue(self):
        for _ in range(2):
            self.turn = 1 - self.turn
            if self.queues[self.turn]:
                return self.queues[self.turn].pop(0)


class Aimd(Control):
    """Adds a segment per round trip, and multiplies by a factor on a loss."""

    factor: Ratio = parameter(0.7, doc="What the window is multiplied by on a loss.")

    def on_ack(self, acked, mss):
        if self.cwnd < self.ssthresh:
            self.cwnd += acked
        else:
            self.cwnd += mss * acked / self.cwnd

    def on_loss(self):
        self.cwnd *= self.factor
'''


def module(folder: Path, text: str = MINE, name: str = "my_module") -> Path:
    """A module with classes."""
    path = folder / f"{name}.py"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def command(folder: Path, *arguments: str, path: str = "") -> subprocess.CompletedProcess[str]:
    """Runs the command of the package in a folder."""
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(
        [sys.executable, "-m", "sojourn", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def dumbbell(*more: str) -> list[str]:
    """The arguments of a short run, through a queue or with a flow of their own or both."""
    flow = [] if "--flow" in more else ["--flow", "2*cubic"]
    return [
        "dumbbell",
        *("--rate", "10Mbps", "--rtt", "20ms", "--duration", "4s", "--warmup", "1s"),
        *(() if "--replications" in more else ("--replications", "2")),
        *flow,
        *more,
    ]
