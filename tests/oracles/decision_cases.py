"""Random arrival processes for `sojourn replay`, and its comparison with an oracle."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import arrivals as processes
import compare
import sojourn_binary
from replay_io import DROPPED, MARKED, Arrival, Outcome, parse_rate

SEEDS = range(36)
PACKETS = 3000
LOADS = (0.8, 0.95, 1.05, 1.2, 1.5, 2.0, 3.0)
#: The last one has no whole number of picoseconds to a byte.
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
    binary: Path,
    scratch: Path,
    spec: str,
    oracle: Callable[[list[Arrival], int, int], list[Outcome]],
    seed: int,
    flows: int = 3,
) -> None:
    """Fails unless the binary and the oracle decide alike on the arrivals of a seed, with their reasons."""
    rows, rate = process(seed, flows)
    ours = sojourn_binary.replay(binary, rows, spec, rate, scratch, seed)
    theirs = compare.rows_of(oracle(rows, parse_rate(rate), seed))
    divergence = compare.compare(ours, theirs, reasons=True)
    assert divergence is None, f"{spec}, seed {seed}: {divergence}"
    for row in ours:
        assert (row.reason != "") == (row.verdict in (DROPPED, MARKED)), f"seed {seed}: {row}"
