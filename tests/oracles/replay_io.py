"""The replay format, units and the link, shared by the oracles.

Format (that of `sojourn replay`): input columns ``time_ns,bytes,flow,ecn``; output columns
``index,time_ns,bytes,flow,verdict,reason,departure_ns,sojourn_ns``, one row per input row in
input order. ``departure_ns`` is the start of transmission. Times are integer picoseconds inside
and are rounded down to nanoseconds on output; both are empty for a dropped packet.

The link: a packet of b bytes occupies it for b * 8 / rate. The exact fraction is carried from one
packet to the next within a busy period and rounded down to a picosecond only to read the clock;
it is cleared when the link finds nothing to send. What is being transmitted is not in the queue.
A link that becomes free at t takes its next packet before an arrival at t is handed over.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import IO, Protocol

PS_PER_NS = 1_000
PS_PER_S = 10**12

INPUT_COLUMNS = ("time_ns", "bytes", "flow", "ecn")
OUTPUT_COLUMNS = (
    "index",
    "time_ns",
    "bytes",
    "flow",
    "verdict",
    "reason",
    "departure_ns",
    "sojourn_ns",
)

SENT = "sent"
DROPPED = "dropped"
MARKED = "marked"

_PREFIX = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "Ki": 2**10, "Mi": 2**20}
_SECONDS = {"ps": -12, "ns": -9, "us": -6, "µs": -6, "ms": -3, "s": 0}


@dataclass(frozen=True)
class Arrival:
    """One input row. ``ecn`` is the codepoint of RFC 3168: 0 not-ECT, 1 ECT(1), 2 ECT(0), 3 CE."""

    index: int
    time_ps: int
    size: int
    flow: int
    ecn: int


@dataclass(frozen=True)
class Outcome:
    """One output row. ``departure_ps`` is None for a dropped packet."""

    arrival: Arrival
    verdict: str
    reason: str
    departure_ps: int | None

    @property
    def departure_ns(self) -> int | None:
        return None if self.departure_ps is None else self.departure_ps // PS_PER_NS

    @property
    def sojourn_ns(self) -> int | None:
        if self.departure_ps is None:
            return None
        return (self.departure_ps - self.arrival.time_ps) // PS_PER_NS


class Limit:
    """What a queue may hold: packets, bytes or, with no limit, anything."""

    def __init__(self, packets: int | None = None, size: int | None = None) -> None:
        if packets is not None and size is not None:
            raise ValueError("a limit is in packets or in bytes, not in both")
        self.packets = packets
        self.size = size

    def admits(self, packets: int, size: int) -> bool:
        """Whether a queue may stand at this backlog, the new packet included."""
        if self.packets is not None:
            return packets <= self.packets
        if self.size is not None:
            return size <= self.size
        return True

    @property
    def in_packets(self) -> bool:
        return self.packets is not None


class Queue(Protocol):
    """What the link sees of a discipline. Drops and marks go to the log given at construction."""

    def enqueue(self, packet: Arrival, now_ps: int) -> None: ...

    def dequeue(self, now_ps: int) -> Arrival | None: ...

    def __len__(self) -> int: ...


class Log:
    """Fates of the packets, by index."""

    def __init__(self, arrivals: Sequence[Arrival]) -> None:
        self._arrivals = arrivals
        self._verdict: list[str | None] = [None] * len(arrivals)
        self._reason = [""] * len(arrivals)
        self._departure: list[int | None] = [None] * len(arrivals)

    def dropped(self, packet: Arrival, reason: str) -> None:
        assert self._verdict[packet.index] is None, f"packet {packet.index} has two fates"
        self._verdict[packet.index] = DROPPED
        self._reason[packet.index] = reason

    def marked(self, packet: Arrival, reason: str) -> None:
        assert self._verdict[packet.index] is None, f"packet {packet.index} has two fates"
        self._verdict[packet.index] = MARKED
        self._reason[packet.index] = reason

    def departed(self, packet: Arrival, now_ps: int) -> None:
        if self._verdict[packet.index] is None:
            self._verdict[packet.index] = SENT
        assert self._verdict[packet.index] != DROPPED, f"packet {packet.index} left after its drop"
        assert self._departure[packet.index] is None, f"packet {packet.index} left twice"
        self._departure[packet.index] = now_ps

    def outcomes(self) -> list[Outcome]:
        rows = []
        for packet in self._arrivals:
            verdict = self._verdict[packet.index]
            assert verdict is not None, f"packet {packet.index} was neither sent nor dropped"
            departure = self._departure[packet.index]
            rows.append(Outcome(packet, verdict, self._reason[packet.index], departure))
        return rows


class Link:
    """Exact transmission times at a constant rate, with the remainder carried while busy."""

    def __init__(self, rate_bps: int) -> None:
        if rate_bps <= 0:
            raise ValueError(f"the rate must be above 0 bps, got {rate_bps}")
        self._rate = rate_bps
        self._end = Fraction(0)
        self.busy = False

    @property
    def free_at_ps(self) -> int:
        return self._end.numerator // self._end.denominator

    def start(self, now_ps: int, size: int) -> None:
        begin = self._end if self.busy else Fraction(now_ps)
        assert begin.numerator // begin.denominator == now_ps, "the link is not free"
        self._end = begin + Fraction(size * 8 * PS_PER_S, self._rate)
        self.busy = True

    def idle(self) -> None:
        self.busy = False


def drive(arrivals: Sequence[Arrival], rate_bps: int, queue: Queue, log: Log) -> list[Outcome]:
    """Run the arrivals through the queue and the link until the queue has drained."""
    link = Link(rate_bps)

    def serve(now_ps: int) -> None:
        packet = queue.dequeue(now_ps)
        if packet is None:
            link.idle()
            return
        log.departed(packet, now_ps)
        link.start(now_ps, packet.size)

    for packet in arrivals:
        while link.busy and link.free_at_ps <= packet.time_ps:
            serve(link.free_at_ps)
        queue.enqueue(packet, packet.time_ps)
        if not link.busy and len(queue) > 0:
            serve(packet.time_ps)
    while link.busy:
        serve(link.free_at_ps)
    assert len(queue) == 0, "the link went idle with packets queued"
    return log.outcomes()


def parse_rate(text: str) -> int:
    """'10Mbps', '1.5 Mbps', '64kbit' as bits per second."""
    number, unit = _split(text)
    match = re.fullmatch(r"(k|M|G|T|)(bps|bit)", unit)
    if match is None:
        raise ValueError(f"expected a rate such as 10Mbps, got {text!r}")
    return _whole(number * _PREFIX[match.group(1)], text)


def parse_span(text: str) -> int:
    """'5ms' as picoseconds."""
    number, unit = _split(text)
    if unit not in _SECONDS:
        raise ValueError(f"expected a duration such as 5ms, got {text!r}")
    return _whole(number.scaleb(12 + _SECONDS[unit]), text)


def parse_size(text: str) -> int:
    """'1500B', '64kB' as bytes."""
    number, unit = _split(text)
    match = re.fullmatch(r"(k|M|G|Ki|Mi|)B", unit)
    if match is None:
        raise ValueError(f"expected a size such as 1500B, got {text!r}")
    return _whole(number * _PREFIX[match.group(1)], text)


def parse_limit(text: str) -> Limit:
    """'100p', '64kB' or 'none'."""
    if text == "none":
        return Limit()
    number, unit = _split(text)
    if unit in ("p", "pkt", "packets"):
        return Limit(packets=_whole(number, text))
    return Limit(size=parse_size(text))


def _split(text: str) -> tuple[Decimal, str]:
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-zµ]+)\s*", text)
    if match is None:
        raise ValueError(f"expected a number with a unit, got {text!r}")
    return Decimal(match.group(1)), match.group(2)


def _whole(value: Decimal, text: str) -> int:
    if value != value.to_integral_value():
        raise ValueError(f"{text!r} is not a whole number of the base unit")
    return int(value)


def arrival(index: int, time_ns: int, size: int, flow: int = 0, ecn: int = 0) -> Arrival:
    return Arrival(index, time_ns * PS_PER_NS, size, flow, ecn)


def read_arrivals(source: Path | str | IO[str]) -> list[Arrival]:
    if isinstance(source, (str, Path)):
        with open(source, newline="", encoding="utf-8") as file:
            return read_arrivals(file)
    reader = csv.DictReader(source)
    if tuple(reader.fieldnames or ()) != INPUT_COLUMNS:
        raise ValueError(f"expected columns {','.join(INPUT_COLUMNS)}, got {reader.fieldnames}")
    rows: list[Arrival] = []
    for index, row in enumerate(reader):
        packet = arrival(
            index, int(row["time_ns"]), int(row["bytes"]), int(row["flow"]), int(row["ecn"])
        )
        if rows and packet.time_ps < rows[-1].time_ps:
            raise ValueError(f"row {index}: time_ns decreases")
        rows.append(packet)
    return rows


# DSCP, source and destination of the packets of a flow.
Kind = tuple[int, int, int]


def write_arrivals(
    arrivals: Iterable[Arrival],
    target: Path | str | IO[str],
    kinds: Mapping[int, Kind] | None = None,
) -> None:
    """The input of `sojourn replay`; with the further columns if the kinds of the flows are given."""
    if isinstance(target, (str, Path)):
        with open(target, "w", newline="", encoding="utf-8") as file:
            write_arrivals(arrivals, file, kinds)
        return
    writer = csv.writer(target, lineterminator="\n")
    further = ("dscp", "source", "destination") if kinds is not None else ()
    writer.writerow((*INPUT_COLUMNS, *further))
    for packet in arrivals:
        row = (packet.time_ps // PS_PER_NS, packet.size, packet.flow, packet.ecn)
        writer.writerow((*row, *(kinds[packet.flow] if kinds is not None else ())))


def write_outcomes(outcomes: Iterable[Outcome], target: IO[str]) -> None:
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(OUTPUT_COLUMNS)
    for row in outcomes:
        writer.writerow(
            (
                row.arrival.index,
                row.arrival.time_ps // PS_PER_NS,
                row.arrival.size,
                row.arrival.flow,
                row.verdict,
                row.reason,
                "" if row.departure_ns is None else row.departure_ns,
                "" if row.sojourn_ns is None else row.sojourn_ns,
            )
        )
