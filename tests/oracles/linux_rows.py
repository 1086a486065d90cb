"""Rows of Linux 6.1 with four UDP flows at once, over 30 s: sent, delivered and dropped per flow.

The rows are in tests/data/linux-6.1/four-flows.csv. Unlike the packet traces they cover the whole
run and the draining after it. Packets of 1514 bytes, flow i starts i times START_NS later, each
with its own period; the source's clock steps by 256 ns, so the times here are not exact.
"""

from __future__ import annotations

import csv
from pathlib import Path

import sojourn_binary
from linux_traces import DATA, RATE
from replay_io import DROPPED, Arrival, arrival

START_NS = 123_457
FRAME = 1514
TOLERANCE = 0.01
# Of a few hundred drops one per cent is little more than the order of ties.
TOLERANCE_PACKETS = 4


def load(name: str) -> list[dict[str, int]]:
    """The flows of a row, in order."""
    with open(DATA / "four-flows.csv", newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row.pop("row") == name]
    assert rows, f"no row {name}"
    return [{key: int(value) for key, value in row.items()} for row in rows]


def arrivals(flows: list[dict[str, int]]) -> list[Arrival]:
    times = sorted(
        (row["flow"] * START_NS + n * row["gap_ns"], row["flow"])
        for row in flows
        for n in range(row["sent"])
    )
    return [arrival(i, time, FRAME, flow) for i, (time, flow) in enumerate(times)]


def check(sojourn: Path, name: str, queue: str, scratch: Path) -> None:
    """Deliveries and drops of each flow agree with Linux's within one per cent."""
    flows = load(name)
    rows = sojourn_binary.replay(sojourn, arrivals(flows), queue, RATE, scratch)
    for expected in flows:
        own = [row for row in rows if row.flow == expected["flow"]]
        dropped = sum(row.verdict == DROPPED for row in own)
        for what, ours in (("dropped", dropped), ("delivered", len(own) - dropped)):
            linux = expected[what]
            assert abs(ours - linux) <= max(TOLERANCE * linux, TOLERANCE_PACKETS), (
                f"{name}, flow {expected['flow']}: {what} {ours}, Linux {linux}"
            )
