"""Virtual Clock in exact fractions: an oracle apart from the implementation.

Sources: L. Zhang, "Virtual Clock: A New Traffic Control Algorithm for Packet Switching Networks",
SIGCOMM 1990 and ACM TOCS 9(2), 1991. Neither was at hand; the rules are those of lecture slides
(WIDE's class of 1999, Boston University's CS 835) and of the simulators ns.py and J-Sim:

* Every packet of L bits ticks the flow's clock by Vtick = L / AR and carries the clock's time as its
  stamp; the packet with the least stamp goes first.
* ``auxiliary``: before the tick, auxVC = max(real time, auxVC).
* ``monitoring``: VC begins at the real time of the first packet. Once AR * AI bits have come since the
  last check, VC = max(real time, VC).
* A full queue drops the packet with the greatest stamp, be it the one that arrives.

Open, and done here: Vtick is cut to whole picoseconds; of equal stamps the flow seen first goes first,
and the packet that came last, or of the flow seen first, is dropped. A drop takes its tick back, unless
drops are charged.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from replay_io import PS_PER_S, Arrival, Limit, Log, Outcome, drive

OVERFLOW = "overlimit"
EVICTED = "evicted"


@dataclass
class Flow:
    rank: int
    rate: int
    clock: int
    bits: int = 0
    fifo: deque[tuple[int, Arrival]] = field(default_factory=deque)


class ClockQueue:
    def __init__(
        self,
        log: Log,
        limit: Limit,
        rates: Sequence[int],
        monitoring_ps: int | None,
        charge_drops: bool,
    ) -> None:
        self._log = log
        self._limit = limit
        self._rates = rates
        self._interval = monitoring_ps
        self._charge = charge_drops
        self._flows: dict[int, Flow] = {}

    def __len__(self) -> int:
        return sum(len(flow.fifo) for flow in self._flows.values())

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        if packet.flow not in self._flows:
            rate = self._rates[min(packet.flow, len(self._rates) - 1)]
            self._flows[packet.flow] = Flow(len(self._flows), rate, now_ps)
        stamp = self._tick(self._flows[packet.flow], packet.size, now_ps)
        while not self._limit.admits(len(self) + 1, self._bytes() + packet.size):
            waiting = [flow for flow in self._flows.values() if flow.fifo]
            last = max(waiting, key=lambda flow: (flow.fifo[-1][0], -flow.rank), default=None)
            if last is None or last.fifo[-1][0] <= stamp:
                self._drop(self._flows[packet.flow], packet, OVERFLOW)
                return
            self._drop(last, last.fifo.pop()[1], EVICTED)
        self._flows[packet.flow].fifo.append((stamp, packet))

    def _tick(self, flow: Flow, size: int, now_ps: int) -> int:
        if self._interval is None:
            flow.clock = max(flow.clock, now_ps)
        flow.clock += vtick(size, flow.rate)
        stamp = flow.clock
        flow.bits += 8 * size
        if self._interval is not None and flow.bits >= Fraction(
            flow.rate * self._interval, PS_PER_S
        ):
            flow.bits = 0
            flow.clock = max(flow.clock, now_ps)
        return stamp

    def _drop(self, flow: Flow, packet: Arrival, reason: str) -> None:
        self._log.dropped(packet, reason)
        if not self._charge:
            flow.clock -= vtick(packet.size, flow.rate)

    def _bytes(self) -> int:
        return sum(packet.size for flow in self._flows.values() for _, packet in flow.fifo)

    def dequeue(self, now_ps: int) -> Arrival | None:
        del now_ps
        waiting = [flow for flow in self._flows.values() if flow.fifo]
        if not waiting:
            return None
        first = min(waiting, key=lambda flow: (flow.fifo[0][0], flow.rank))
        return first.fifo.popleft()[1]


def vtick(size: int, rate_bps: int) -> int:
    """In whole picoseconds."""
    return int(Fraction(8 * size, rate_bps) * PS_PER_S)


def run(
    arrivals: Sequence[Arrival],
    rate_bps: int,
    limit: Limit,
    rates: Sequence[int],
    monitoring_ps: int | None = None,
    charge_drops: bool = False,
) -> list[Outcome]:
    """What becomes of every arrival; with an interval packets carry the monitoring clock."""
    log = Log(arrivals)
    queue = ClockQueue(log, limit, rates, monitoring_ps, charge_drops)
    return drive(arrivals, rate_bps, queue, log)
