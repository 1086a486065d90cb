"""The arrivals of a seed, and the comparison of a replay with an oracle, for schedulers."""

from __future__ import annotations

import arrivals as processes
import compare
from replay_io import DROPPED, MARKED, Arrival, Outcome, parse_rate

SEEDS = range(36)
PACKETS = 3000
LOADS = (0.8, 0.95, 1.05, 1.2, 1.5, 2.0, 3.0)
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


def agree(rows: list[compare.Row], oracle: list[Outcome], seed: int) -> None:
    """Every packet has the same fate, and a reason where it was dropped or marked."""
    divergence = compare.compare(rows, compare.rows_of(oracle))
    assert divergence is None, f"seed {seed}: {divergence}"
    for row in rows:
        assert (row.reason != "") == (row.verdict in (DROPPED, MARKED)), f"seed {seed}: {row}"
