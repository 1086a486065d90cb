"""Linux 6.1's own decisions as arrivals and expected fates.

The traces and what is known of them are described in tests/data/linux-6.1/README.md. A trace gives
for every packet when it was sent (``send_ns``), its size and how long it waited (``wait_ns``, -1:
dropped). The conversion to a replay:

* time = send_ns + half the round trip (10 ms) + CLOCK_PHASE_NS. Linux's CoDel reads a clock of
  1.024 us whose phase against the first packet is not in the traces; 704 to 752 ns is what all
  four one-flow CBR traces agree on. Nothing else depends on it.
* bytes = Ethernet frame without FCS = UDP payload + 8 + 20 + 14.
* The packet that opens a busy period arrives HTB_EARLY_NS before its time. The shaper's burst of 8
  bytes lets the second packet of a busy period leave up to 6.4 us early, and all that follow keep
  that lead; starting the period earlier gives the same departures. Without it every second
  decision of the traces at twice the rate comes out wrong, since there arrivals fall on departures.
* TIES: packets that arrive within 0.7 us before a departure and that Linux took in after it; they
  are moved behind it.

Expected: the verdict of every packet, and waits within WAIT_TOLERANCE_NS. What Linux decided after
the last arrival of a trace depends on arrivals that are not in it (the traces are the first 10 s
of longer runs), so for disciplines that decide at departure the comparison ends there.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from compare import Row
from replay_io import DROPPED, MARKED, PS_PER_NS, SENT, Arrival, arrival

DATA = Path(__file__).resolve().parent.parent / "data" / "linux-6.1"

RATE = "10Mbps"
RATE_BPS = 10_000_000
HALF_RTT_NS = 10_000_000
FRAME_OVERHEAD = 8 + 20 + 14
CLOCK_PHASE_NS = 728
HTB_EARLY_NS = 5_568
WAIT_TOLERANCE_NS = 8_000
TIE_NS = 1_500

TIES = {"udp_drr_cbr4flows_s1": (4146, 14846)}

SHOWN = 3


@dataclass(frozen=True)
class Fate:
    """What Linux did with a packet. ``comparable`` is False where the trace ends too early."""

    verdict: str
    wait_ns: int | None
    comparable: bool


@dataclass(frozen=True)
class Trace:
    name: str
    arrivals: list[Arrival]
    fates: list[Fate]


def load(name: str, ecn: bool = False, decides_on_arrival: bool = False) -> Trace:
    """A trace by its name, ``ecn`` for the rows whose packets are ECT(0)."""
    with gzip.open(DATA / f"{name}.csv.gz", "rt", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    moved = frozenset(TIES.get(name, ()))
    last_send = int(rows[-1]["send_ns"])
    ended: set[int] = set()
    free_at = 0
    arrivals = []
    fates = []
    for index, row in enumerate(rows):
        send, wait, flow = int(row["send_ns"]), int(row["wait_ns"]), int(row.get("flow", "0"))
        size = int(row["udp_payload"]) + FRAME_OVERHEAD
        time = send + HALF_RTT_NS + CLOCK_PHASE_NS
        if send >= free_at:
            time -= HTB_EARLY_NS
        if index in moved:
            time += TIE_NS
        arrivals.append(arrival(index, time, size, flow, 2 if ecn else 0))
        if wait >= 0:
            free_at = max(free_at, send + wait + size * 8 * 10**9 // RATE_BPS)
            if send + wait > last_send and not decides_on_arrival:
                ended.add(flow)
        verdict = DROPPED if wait < 0 else MARKED if row["ce"] == "1" else SENT
        fates.append(Fate(verdict, wait if wait >= 0 else None, flow not in ended))
    return Trace(name, arrivals, fates)


def first_divergence(trace: Trace, rows: Sequence[Row]) -> str | None:
    """None if the replay does what Linux did, else the first difference by index, explained."""
    if len(rows) != len(trace.fates):
        return f"{trace.name}: {len(rows)} rows for {len(trace.fates)} packets"
    wrong = [
        i
        for i, (fate, row) in enumerate(zip(trace.fates, rows, strict=True))
        if fate.comparable and not _agrees(fate, row)
    ]
    if not wrong:
        return None
    first = min(wrong, key=lambda i: (_time_of(trace, rows, i), i))
    verdicts = sum(trace.fates[i].verdict != rows[i].verdict for i in wrong)
    compared = sum(fate.comparable for fate in trace.fates)
    lines = [
        f"{trace.name}: {len(wrong)} of {compared} packets differ from Linux, {verdicts} in the "
        f"verdict; the first in time, and the first {SHOWN} by index:",
    ]
    for i in [first, *wrong[:SHOWN]]:
        fate = trace.fates[i]
        wait = "" if fate.wait_ns is None else f" after {fate.wait_ns} ns"
        lines.append(f"  Linux: {fate.verdict}{wait}; replay: {rows[i]}")
    gap, other = _nearest_departure(trace, first)
    tie = "a tie, whose order is Linux's own" if abs(gap) < TIE_NS else "not a tie"
    lines.append(
        f"the departure in Linux nearest to the arrival of #{first} is that of #{other}, "
        f"{gap:+} ns away: {tie}"
    )
    pairs = [pair for pair in zip(trace.fates, rows, strict=True) if pair[0].comparable]
    for verdict in (SENT, MARKED, DROPPED):
        linux = sum(fate.verdict == verdict for fate, _ in pairs)
        replay = sum(row.verdict == verdict for _, row in pairs)
        lines.append(f"{verdict}: Linux {linux}, replay {replay}")
    return "\n".join(lines)


def _agrees(fate: Fate, row: Row) -> bool:
    if fate.verdict != row.verdict:
        return False
    if fate.wait_ns is None or row.sojourn_ns is None:
        return fate.wait_ns is None and row.sojourn_ns is None
    return abs(fate.wait_ns - row.sojourn_ns) <= WAIT_TOLERANCE_NS


def _time_of(trace: Trace, rows: Sequence[Row], index: int) -> int:
    """When the fates of the packet part: the earlier of the departures, else the arrival."""
    time = rows[index].time_ns
    waits = [w for w in (trace.fates[index].wait_ns, rows[index].sojourn_ns) if w is not None]
    return time + min(waits, default=0)


def _nearest_departure(trace: Trace, index: int) -> tuple[int, int]:
    time = trace.arrivals[index].time_ps // PS_PER_NS
    best = (10**18, index)
    for i, fate in enumerate(trace.fates):
        if fate.wait_ns is not None and i != index:
            gap = trace.arrivals[i].time_ps // PS_PER_NS + fate.wait_ns - time
            best = min(best, (gap, i), key=lambda pair: abs(pair[0]))
    return best
