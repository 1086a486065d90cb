"""A run of ns-2.35's Queue/SRR as arrivals and departures: tests/data/ns2-2.35/README.md."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Sequence
from pathlib import Path

from compare import Row
from replay_io import DROPPED, Arrival, arrival

DATA = Path(__file__).resolve().parent.parent / "data" / "ns2-2.35" / "srr-five-flows.csv.gz"
RATE = "1Mbps"
RATE_BPS = 1_000_000
QUANTUM = 1000
WEIGHTS = (5, 2, 9, 1)
ASSIGN = (0, 1, 2, 1, 3)
QUEUE_LIMIT = 20

# The trace has the doubles of ns-2's clock, cut to nine digits behind the point.
TOLERANCE_NS = 50


def load() -> tuple[list[Arrival], list[int | None]]:
    """The arrivals, and the departure of each in ns, None for a drop."""
    with gzip.open(DATA, "rt", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    arrivals = [
        arrival(i, int(row["time_ns"]), int(row["bytes"]), int(row["flow"]))
        for i, row in enumerate(rows)
    ]
    return arrivals, [int(row["departure_ns"]) if row["departure_ns"] else None for row in rows]


def differing(departures: Sequence[int | None], rows: Sequence[Row]) -> list[int]:
    """Indices of the packets that met another fate than in ns-2."""
    found = []
    for i, (departure, row) in enumerate(zip(departures, rows, strict=True)):
        if departure is None or row.departure_ns is None:
            same = departure is None and row.verdict == DROPPED
        else:
            same = abs(departure - row.departure_ns) <= TOLERANCE_NS
        if not same:
            found.append(i)
    return found
