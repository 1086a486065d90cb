"""Arrivals for the comparison of `sojourn replay` with an oracle, and the comparison itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import arrivals as processes
import compare
import sojourn_binary
from replay_io import DROPPED, MARKED, Arrival, Outcome, parse_rate

# More of them: SOJOURN_SEEDS=36 make test.
SEEDS = range(int(os.environ.get("SOJOURN_SEEDS", "6")))
PACKETS = 3000
LOADS = (0.8, 0.95, 1.05, 1.2, 1.5, 2.0, 3.0)
# The draws of a scheduler's children; an AQM of its own has streams.REPLAY.
SCHEDULER = "link/replay/queue/scheduler"
# The last one has no whole number of picoseconds to a byte.
RATES = ("10Mbps", "1Mbps", "7300001bps")


def process(seed: int, flows: int) -> tuple[list[Arrival], str]:
    """The arrivals of a seed and the rate they are meant for."""
    names = sorted(processes.PROCESSES)
    name = names[seed % len(names)]
    load = LOADS[seed % len(LOADS)]
    # The grid needs a service time in whole nanoseconds.
    rates = RATES[:2] if name == "grid" else RATES
    rate = rates[seed // len(names) % len(rates)]
    return processes.PROCESSES[name](seed, parse_rate(rate), load, PACKETS, flows), rate


def agree(
    rows: Sequence[compare.Row], oracle: Sequence[Outcome], seed: int, *, reasons: bool = True
) -> None:
    """Every packet has the same fate at the same time, and every drop and mark a reason."""
    divergence = compare.compare(rows, compare.rows_of(oracle), reasons=reasons)
    assert divergence is None, f"seed {seed}: {divergence}"
    for row in rows:
        assert (row.reason != "") == (row.verdict in (DROPPED, MARKED)), f"seed {seed}: {row}"


def agrees(
    binary: Path,
    rows: Sequence[Arrival],
    queue: str,
    rate: str,
    scratch: Path,
    oracle: Sequence[Outcome],
    seed: int,
) -> None:
    """The command decides as the oracle does, reasons included."""
    agree(sojourn_binary.replay(binary, rows, queue, rate, scratch, seed), oracle, seed)


def replays_alike(
    binary: Path,
    scratch: Path,
    spec: str,
    oracle: Callable[[list[Arrival], int, int], list[Outcome]],
    seed: int,
    flows: int = 3,
) -> None:
    """The command and the oracle, called with arrivals, rate and seed, decide alike."""
    rows, rate = process(seed, flows)
    agrees(binary, rows, spec, rate, scratch, oracle(rows, parse_rate(rate), seed), seed)
