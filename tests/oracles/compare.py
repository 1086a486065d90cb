#!/usr/bin/env python3
"""Compare a replay result with an oracle's and explain the first divergence."""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from replay_io import DROPPED, OUTPUT_COLUMNS, PS_PER_NS, Arrival, Outcome, write_outcomes

CONTEXT = 3


@dataclass(frozen=True)
class Row:
    """A row of a replay result as text has it, times in nanoseconds."""

    index: int
    time_ns: int
    size: int
    flow: int
    verdict: str
    reason: str
    departure_ns: int | None
    sojourn_ns: int | None

    def __str__(self) -> str:
        fate = self.verdict + (f" ({self.reason})" if self.reason else "")
        if self.departure_ns is not None and self.sojourn_ns is not None:
            fate += f" at {_ms(self.departure_ns)} after {_ms(self.sojourn_ns)}"
        return f"#{self.index} flow {self.flow} {self.size} B at {_ms(self.time_ns)}: {fate}"


@dataclass(frozen=True)
class Divergence:
    """The first row in which two results differ."""

    index: int
    what: str
    explanation: str

    def __str__(self) -> str:
        return self.explanation


def parse_rows(text: str) -> list[Row]:
    """The rows of a replay result; raises ValueError where the format is not kept."""
    reader = csv.reader(io.StringIO(text))
    header = next(reader, None)
    if header is None or tuple(header) != OUTPUT_COLUMNS:
        raise ValueError(f"expected the columns {','.join(OUTPUT_COLUMNS)}, got {header}")
    rows: list[Row] = []
    for line, fields in enumerate(reader, start=2):
        if len(fields) != len(OUTPUT_COLUMNS):
            raise ValueError(f"line {line}: {len(fields)} fields in place of {len(OUTPUT_COLUMNS)}")
        index, time_ns, size, flow, verdict, reason, departure, sojourn = fields
        if int(index) != len(rows):
            raise ValueError(f"line {line}: index {index} in place of {len(rows)}")
        if (departure == "") != (verdict == DROPPED) or (sojourn == "") != (verdict == DROPPED):
            raise ValueError(f"line {line}: times are empty for a dropped packet and only for it")
        rows.append(
            Row(
                int(index),
                int(time_ns),
                int(size),
                int(flow),
                verdict,
                reason,
                int(departure) if departure else None,
                int(sojourn) if sojourn else None,
            )
        )
    return rows


def rows_of(outcomes: Sequence[Outcome]) -> list[Row]:
    text = io.StringIO()
    write_outcomes(outcomes, text)
    return parse_rows(text.getvalue())


def outcomes_of(arrivals: Sequence[Arrival], rows: Sequence[Row]) -> list[Outcome]:
    """A replay result as outcomes, with departures as exact as its nanoseconds are."""
    outcomes = []
    for packet, row in zip(arrivals, rows, strict=True):
        departure = None if row.departure_ns is None else row.departure_ns * PS_PER_NS
        outcomes.append(Outcome(packet, row.verdict, row.reason, departure))
    return outcomes


def compare(
    replay: Sequence[Row], oracle: Sequence[Row], tolerance_ns: int = 0, reasons: bool = False
) -> Divergence | None:
    """The first divergence by packet index, or None.

    Verdicts are compared exactly, departures and sojourns within the tolerance, reasons on demand
    (their names belong to the implementation). An earlier cause may hide behind a later index
    where a scheduler serves out of order, so the earliest difference in time is named as well.
    """
    if len(replay) != len(oracle):
        index = min(len(replay), len(oracle))
        text = f"{len(replay)} rows from the replay, {len(oracle)} from the oracle"
        return Divergence(index, "rows", text)
    first: tuple[int, str] | None = None
    differing: list[int] = []
    for ours, theirs in zip(replay, oracle, strict=True):
        what = _difference(ours, theirs, tolerance_ns, reasons)
        if what is None:
            continue
        differing.append(ours.index)
        if first is None:
            first = ours.index, what
    if first is None:
        return None
    index, what = first
    lines = [
        f"{len(differing)} of {len(oracle)} packets differ; the first by index is #{index}, in its "
        f"{what}:",
        f"  replay: {replay[index]}",
        f"  oracle: {oracle[index]}",
    ]
    earliest = min(differing, key=lambda i: (_when(replay[i], oracle[i]), i))
    if earliest != index:
        lines += [
            f"the earliest in time is #{earliest}:",
            f"  replay: {replay[earliest]}",
            f"  oracle: {oracle[earliest]}",
        ]
    lines.append("before it (they agree unless marked *):")
    for i in range(max(0, index - CONTEXT), index):
        lines.append(f"  {'*' if i in differing else ' '} {oracle[i]}")
    tie = _tie(oracle, oracle[index].time_ns)
    if tie is not None:
        lines.append(
            f"a departure falls on the instant of its arrival (#{tie.index}): the order of ties "
            "may be at fault"
        )
    sent = [sum(row.verdict != DROPPED for row in rows) for rows in (replay, oracle)]
    lines.append(f"in all, the replay sends {sent[0]} packets and the oracle {sent[1]}")
    return Divergence(index, what, "\n".join(lines))


def _difference(ours: Row, theirs: Row, tolerance_ns: int, reasons: bool) -> str | None:
    for name in ("time_ns", "size", "flow", "verdict"):
        if getattr(ours, name) != getattr(theirs, name):
            return name
    if reasons and ours.reason != theirs.reason:
        return "reason"
    for name in ("departure_ns", "sojourn_ns"):
        a, b = getattr(ours, name), getattr(theirs, name)
        if (a is None) != (b is None) or (a is not None and abs(a - b) > tolerance_ns):
            return name
    return None


def _when(ours: Row, theirs: Row) -> int:
    """When the fates of a packet part: its first departure, or its arrival if it has none."""
    times = [row.departure_ns for row in (ours, theirs) if row.departure_ns is not None]
    return min(times, default=ours.time_ns)


def _tie(rows: Sequence[Row], time_ns: int) -> Row | None:
    for row in rows:
        if row.departure_ns == time_ns and row.time_ns != time_ns:
            return row
    return None


def _ms(ns: int) -> str:
    return f"{ns // 10**6}.{ns % 10**6:06d} ms"


def main() -> int:
    parser = argparse.ArgumentParser(description="First divergence between two replay results.")
    parser.add_argument("replay")
    parser.add_argument("oracle")
    parser.add_argument("--tolerance-ns", type=int, default=0)
    parser.add_argument("--reasons", action="store_true", help="compare reasons too")
    args = parser.parse_args()
    rows = [
        parse_rows(Path(name).read_text(encoding="utf-8")) for name in (args.replay, args.oracle)
    ]
    divergence = compare(rows[0], rows[1], args.tolerance_ns, args.reasons)
    print(f"{len(rows[0])} packets agree" if divergence is None else divergence)
    return 0 if divergence is None else 1


if __name__ == "__main__":
    sys.exit(main())
