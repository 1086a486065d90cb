"""The random arrivals of the comparisons with `sojourn replay`, and the comparison itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import arrivals as processes
import compare
import sojourn_binary
from replay_io import DROPPED, MARKED, Arrival, Outcome, parse_rate

SEEDS = range(24)
PACKETS = 2500
LOADS = (0.8, 0.95, 1.05, 1.2, 1.5, 2.0, 3.0)
# The last one has no whole number of picoseconds to a byte.
RATES = ("10Mbps", "1Mbps", "7300001bps")
# The draws of a scheduler's children; an AQM of its own has streams.REPLAY.
SCHEDULER = "link/replay/queue/scheduler"


def process(seed: int, flows: int) -> tuple[list[Arrival], str]:
    """The arrivals of a seed and the rate they are meant for."""
    names = sorted(processes.PROCESSES)
    name = names[seed % len(names)]
    load = LOADS[seed % len(LOADS)]
    # The grid needs a service time in whole nanoseconds.
    rates = RATES[:2] if name == "grid" else RATES
    rate = rates[seed // len(names) % len(rates)]
    return processes.PROCESSES[name](seed, parse_rate(rate), load, PACKETS, flows), rate


def agrees(
    binary: Path,
    rows: Sequence[Arrival],
    queue: str,
    rate: str,
    scratch: Path,
    oracle: Sequence[Outcome],
    seed: int,
) -> None:
    """Asserts that the replay decides as the oracle does, reasons included."""
    ours = sojourn_binary.replay(binary, rows, queue, rate, scratch, seed)
    divergence = compare.compare(ours, compare.rows_of(oracle), reasons=True)
    assert divergence is None, f"{queue}, seed {seed}: {divergence}"
    for row in ours:
        assert (row.reason != "") == (row.verdict in (DROPPED, MARKED)), f"seed {seed}: {row}"
