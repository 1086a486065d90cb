#!/usr/bin/env python3
"""FQ-CoDel as RFC 8290 describes it: an oracle apart from the implementation.

Source: RFC 8290 (January 2018), section 4.1 (enqueue) and 4.2 (dequeue), compared with the text. Each
queue is the CoDel of RFC 8289 (codel_rfc8289.py), which spares a packet only if maxpacket or less is
left in all queues together (RFC 8289, section 4.4).

* Enqueue: the packet joins the tail of its queue; a queue in neither list joins the end of the list
  of new queues with credits of one quantum.
* If the total then exceeds the limit, half the number of packets of the queue with the most bytes,
  at most 64 (``batch``), is dropped from its head.
* Dequeue: the first new queue, or else the first old one. Without credits it is given a quantum and
  goes to the end of the old queues. Else CoDel is asked. No packet: a new queue goes to the end of
  the old ones, an old one leaves the list; either way all starts again.
* The size of the packet is taken off the credits.

Open points, and what is done here: the RFC calls for new credits at "a negative number of credits
(i.e., it has already dequeued at least a quantum of bytes)"; a quantum used up exactly is zero, and
is taken as used up, as in section 3. Half of an odd number is rounded down, to at least one packet. Of equally fat
queues the one seen first is taken. Packets dropped for overload change nothing in CoDel's state.
Where a limit in bytes is not kept by one batch, another follows. A queue per flow: no collisions.
"""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Callable, Sequence

from codel_rfc8289 import CoDelQueue
from replay_io import (
    Arrival,
    Limit,
    Log,
    Outcome,
    drive,
    parse_limit,
    parse_rate,
    parse_size,
    parse_span,
    read_arrivals,
    write_outcomes,
)

OVERFLOW = "limit"


class Flow(CoDelQueue):
    """A queue with its credits; the lists hold it by identity."""

    def __init__(
        self,
        log: Log,
        target_ps: int,
        interval_ps: int,
        ecn: bool,
        mtu: int,
        total: Callable[[], int],
    ) -> None:
        super().__init__(log, target_ps, interval_ps, Limit(), mtu, ecn)
        self.credits = 0
        self._total = total

    def _left_behind(self) -> int:
        return self._total()

    @property
    def size(self) -> int:
        return self._bytes

    def drop_head(self) -> None:
        packet, _ = self._fifo.popleft()
        self._bytes -= packet.size
        self._log.dropped(packet, OVERFLOW)


class FqCodelQueue:
    def __init__(
        self,
        log: Log,
        target_ps: int,
        interval_ps: int,
        limit: Limit,
        quantum: int = 1514,
        ecn: bool = True,
        batch: int = 64,
        mtu: int = 1500,
    ) -> None:
        self._log = log
        self._target = target_ps
        self._interval = interval_ps
        self._limit = limit
        self._quantum = quantum
        self._ecn = ecn
        self._batch = batch
        self._mtu = mtu
        self._flows: dict[int, Flow] = {}
        self._new: deque[Flow] = deque()
        self._old: deque[Flow] = deque()

    def __len__(self) -> int:
        return sum(len(flow) for flow in self._flows.values())

    def total(self) -> int:
        """Bytes in all queues."""
        return sum(flow.size for flow in self._flows.values())

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        if packet.flow not in self._flows:
            self._flows[packet.flow] = Flow(
                self._log, self._target, self._interval, self._ecn, self._mtu, self.total
            )
        flow = self._flows[packet.flow]
        flow.enqueue(packet, now_ps)
        if all(flow is not listed for listed in (*self._new, *self._old)):
            self._new.append(flow)
            flow.credits = self._quantum
        while not self._limit.admits(len(self), self.total()):
            fattest = max(self._flows.values(), key=lambda f: f.size)
            for _ in range(min(self._batch, max(1, len(fattest) // 2))):
                fattest.drop_head()

    def dequeue(self, now_ps: int) -> Arrival | None:
        while self._new or self._old:
            source = self._new or self._old
            flow = source[0]
            if flow.credits <= 0:
                flow.credits += self._quantum
                self._old.append(source.popleft())
                continue
            packet = flow.dequeue(now_ps)
            if packet is not None:
                flow.credits -= packet.size
                return packet
            source.popleft()
            if source is self._new:
                self._old.append(flow)
        return None


def run(
    arrivals: Sequence[Arrival],
    rate_bps: int,
    target_ps: int,
    interval_ps: int,
    limit: Limit,
    quantum: int = 1514,
    ecn: bool = True,
    batch: int = 64,
    mtu: int = 1500,
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind FQ-CoDel."""
    log = Log(arrivals)
    queue = FqCodelQueue(log, target_ps, interval_ps, limit, quantum, ecn, batch, mtu)
    return drive(arrivals, rate_bps, queue, log)


def main() -> None:
    parser = argparse.ArgumentParser(description="FQ-CoDel by the text of RFC 8290.")
    parser.add_argument("arrivals", help="CSV with the columns time_ns,bytes,flow,ecn")
    parser.add_argument("--rate", required=True, type=parse_rate, help="link rate, e.g. 10Mbps")
    parser.add_argument("--target", default=parse_span("5ms"), type=parse_span)
    parser.add_argument("--interval", default=parse_span("100ms"), type=parse_span)
    parser.add_argument("--limit", default=Limit(packets=10240), type=parse_limit)
    parser.add_argument("--quantum", default=1514, type=parse_size)
    parser.add_argument("--noecn", action="store_true", help="drop ECN-capable packets too")
    parser.add_argument("--batch", default=64, type=int)
    args = parser.parse_args()
    outcomes = run(
        read_arrivals(args.arrivals),
        args.rate,
        args.target,
        args.interval,
        args.limit,
        args.quantum,
        not args.noecn,
        args.batch,
    )
    write_outcomes(outcomes, sys.stdout)


if __name__ == "__main__":
    main()
