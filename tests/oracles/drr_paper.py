#!/usr/bin/env python3
"""Deficit round robin as in Shreedhar and Varghese, and its fairness bound: an oracle.

Source: M. Shreedhar and G. Varghese, "Efficient Fair Queueing using Deficit Round Robin",
SIGCOMM 1995 (and IEEE/ACM ToN 4(3), 1996): the enqueueing and dequeueing modules of section 3, the
lemmas and the theorem on throughput fairness of section 4; the paper itself was not available when
this was written, so its wording on the open points below is unchecked. One queue per flow (the
paper's hash, free of collisions), the same quantum for every flow.

What the paper fixes:

* A flow that is not in the active list when its packet arrives joins its tail with a deficit of 0.
* The flow at the head gets one quantum, then sends while its head packet is at most the deficit.
* If its queue is then empty its deficit is set to 0 and it is not active; else it goes to the tail
  and keeps what is left.
* Without a free buffer a packet is first taken from the longest queue (buffer stealing), and then
  the new packet is queued: the new packet does not count when the longest is chosen.

What it leaves open, and what is done here:

* The modules are written as if a packet took no time. Here the queue is tested for emptiness when
  its last packet is taken for transmission (so a packet that arrives during that transmission
  joins at the tail with a deficit of 0), and the step to the next flow is made when the link asks
  for the next packet (so a flow that became active meanwhile is ahead of one whose turn ends).
  A flow in mid-turn counts as active. ns-2 and Linux do the same.
* Which packet of the longest queue is taken is not said: `--drop head` or `tail`. `arriving`
  takes none and refuses the new packet.
* Whether length is in bytes or packets is not said: `--longest`, by default the unit of the limit.
* Of equally long queues: `--tie first` takes the flow seen first in the input, `last` the flow
  seen last.
* With a limit in bytes packets are taken until the new one fits. A packet above the whole limit
  is refused and takes nothing.
* A flow whose queue is emptied by stealing stays in the active list (read literally) until its
  turn, when it is found empty.

The bound (the paper's theorem: FM <= 2 Max + Quantum): over any time in which flows i and j are
both backlogged, |sent_i - sent_j| < Quantum + 2 Max, with Max the largest packet. It follows from
the lemmas: a deficit left at the end of a turn is in [0, Max), a flow sends m Quantum + (deficit
before) - (deficit after) in m turns, and the numbers of turns differ by at most one. If both
start with a deficit of 0 only one Max remains: |sent_i - sent_j| < Quantum + Max, and so for the
distance from their mean, the ideal share.
"""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from replay_io import (
    Arrival,
    Limit,
    Log,
    Outcome,
    drive,
    parse_limit,
    parse_rate,
    parse_size,
    read_arrivals,
    write_outcomes,
)

OVERFLOW = "limit"


class Flow:
    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.fifo: deque[Arrival] = deque()
        self.size = 0
        self.deficit = 0


class DrrQueue:
    def __init__(
        self,
        log: Log,
        quantum: int,
        limit: Limit,
        drop: str = "tail",
        longest: str | None = None,
        tie: str = "first",
    ) -> None:
        if quantum <= 0:
            raise ValueError(f"the quantum must be above 0 bytes, got {quantum}")
        if drop not in ("head", "tail", "arriving"):
            raise ValueError(f"drop is head, tail or arriving, got {drop!r}")
        if tie not in ("first", "last"):
            raise ValueError(f"tie is first or last, got {tie!r}")
        if longest not in (None, "bytes", "packets"):
            raise ValueError(f"longest is bytes or packets, got {longest!r}")
        self._log = log
        self._quantum = quantum
        self._limit = limit
        self._drop = drop
        self._by_packets = longest == "packets" if longest else limit.in_packets
        self._tie = tie
        self._flows: dict[int, Flow] = {}
        # Active flows that wait for their turn, and the flow in mid-turn.
        self._active: deque[Flow] = deque()
        self._current: Flow | None = None
        self._packets = 0
        self._bytes = 0

    def __len__(self) -> int:
        return self._packets

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        flow = self._flows.get(packet.flow)
        if flow is None:
            flow = Flow(len(self._flows))
            self._flows[packet.flow] = flow
        if not self._free_buffer(packet):
            self._log.dropped(packet, OVERFLOW)
            return
        if flow is not self._current and flow not in self._active:
            flow.deficit = 0
            self._active.append(flow)
        flow.fifo.append(packet)
        flow.size += packet.size
        self._packets += 1
        self._bytes += packet.size

    def dequeue(self, now_ps: int) -> Arrival | None:
        while True:
            flow = self._current
            if flow is None:
                if not self._active:
                    return None
                flow = self._active.popleft()
                flow.deficit += self._quantum
                self._current = flow
            if not flow.fifo:
                flow.deficit = 0
                self._current = None
            elif flow.fifo[0].size <= flow.deficit:
                packet = flow.fifo.popleft()
                self._forget(flow, packet)
                flow.deficit -= packet.size
                if not flow.fifo:
                    flow.deficit = 0
                    self._current = None
                return packet
            else:
                self._active.append(flow)
                self._current = None

    def _forget(self, flow: Flow, packet: Arrival) -> None:
        flow.size -= packet.size
        self._packets -= 1
        self._bytes -= packet.size

    def _free_buffer(self, packet: Arrival) -> bool:
        """Make room for the packet; False if it cannot be taken."""
        if not self._limit.admits(1, packet.size):
            return False
        while not self._limit.admits(self._packets + 1, self._bytes + packet.size):
            if self._drop == "arriving":
                return False
            flow = self._longest()
            victim = flow.fifo.popleft() if self._drop == "head" else flow.fifo.pop()
            self._forget(flow, victim)
            self._log.dropped(victim, OVERFLOW)
        return True

    def _longest(self) -> Flow:
        def length(flow: Flow) -> tuple[int, int]:
            size = len(flow.fifo) if self._by_packets else flow.size
            return size, -flow.rank if self._tie == "first" else flow.rank

        return max(self._flows.values(), key=length)


def run(
    arrivals: Sequence[Arrival],
    rate_bps: int,
    quantum: int,
    limit: Limit,
    drop: str = "tail",
    longest: str | None = None,
    tie: str = "first",
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind a DRR queue."""
    log = Log(arrivals)
    queue = DrrQueue(log, quantum, limit, drop, longest, tie)
    return drive(arrivals, rate_bps, queue, log)


@dataclass(frozen=True)
class Unfairness:
    """The largest lead of one flow over another within a time in which both were backlogged."""

    flows: tuple[int, int]
    lead: int
    bound: int
    from_ps: int
    to_ps: int

    def __str__(self) -> str:
        return (
            f"flow {self.flows[0]} gets {self.lead} bytes more than flow {self.flows[1]} between "
            f"{self.from_ps / 1e9:.6f} ms and {self.to_ps / 1e9:.6f} ms, bound {self.bound}"
        )


def worst_unfairness(
    outcomes: Sequence[Outcome], quantum: int, fresh: bool = False
) -> Unfairness | None:
    """The worst lead over all pairs of flows and all intervals of common backlog.

    The bound holds if ``lead < bound``. Bytes count at the start of their transmission. Works on
    any replay result: since the time of a drop is not in it, dropped packets are left out of the
    backlog, so the intervals that are looked at are never too long. With ``fresh`` only flows that
    are backlogged from the instant of the first arrival on are compared, from there, by the
    tighter bound for deficits that start at 0.
    """
    if not outcomes:
        return None
    largest = max(row.arrival.size for row in outcomes)
    bound = quantum + (1 if fresh else 2) * largest
    origin = outcomes[0].arrival.time_ps
    # In time order; departures precede arrivals, save that of a packet that goes straight through.
    events: list[tuple[int, int, int, int, Outcome]] = []
    for row in outcomes:
        if row.departure_ps is None:
            continue
        index = row.arrival.index
        straight = row.departure_ps == row.arrival.time_ps
        events.append((row.arrival.time_ps, 1, index, 0, row))
        events.append((row.departure_ps, 1 if straight else 0, index, 1, row))
    events.sort(key=lambda event: event[:4])
    flows = sorted({row.arrival.flow for row in outcomes})
    backlog = dict.fromkeys(flows, 0)
    total = dict.fromkeys(flows, 0)
    # While a and b are both backlogged: the least lead of a over b so far, and when it was.
    least: dict[tuple[int, int], tuple[int, int]] = {}
    worst: Unfairness | None = None
    for time_ps, _, _, departs, row in events:
        flow = row.arrival.flow
        others = [other for other in flows if other != flow and backlog[other] > 0]
        if not departs:
            backlog[flow] += 1
            if backlog[flow] == 1 and (not fresh or time_ps == origin):
                for other in others:
                    lead = total[flow] - total[other]
                    least[flow, other] = (lead, time_ps)
                    least[other, flow] = (-lead, time_ps)
            continue
        total[flow] += row.arrival.size
        backlog[flow] -= 1
        for other in others:
            if (flow, other) not in least:
                continue
            lead = total[flow] - total[other]
            low, since = least[flow, other]
            if worst is None or lead - low > worst.lead:
                worst = Unfairness((flow, other), lead - low, bound, since, time_ps)
            if not fresh and -lead < least[other, flow][0]:
                least[other, flow] = (-lead, time_ps)
            if backlog[flow] == 0:
                # The last packet still belongs to the interval, what follows does not.
                del least[flow, other]
                del least[other, flow]
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description="DRR by Shreedhar and Varghese.")
    parser.add_argument("arrivals", help="CSV with the columns time_ns,bytes,flow,ecn")
    parser.add_argument("--rate", required=True, type=parse_rate, help="link rate, e.g. 10Mbps")
    parser.add_argument("--quantum", default=1500, type=parse_size)
    parser.add_argument("--limit", default=Limit(), type=parse_limit, help="e.g. 100p or 64kB")
    parser.add_argument("--drop", default="tail", choices=("head", "tail", "arriving"))
    parser.add_argument("--longest", choices=("bytes", "packets"))
    parser.add_argument("--tie", default="first", choices=("first", "last"))
    args = parser.parse_args()
    outcomes = run(
        read_arrivals(args.arrivals),
        args.rate,
        args.quantum,
        args.limit,
        args.drop,
        args.longest,
        args.tie,
    )
    write_outcomes(outcomes, sys.stdout)


if __name__ == "__main__":
    main()
