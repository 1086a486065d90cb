#!/usr/bin/env python3
"""FQ-PIE as draft-tahiliani-tsvwg-fq-pie describes it: an oracle apart from the implementation.

Source: the draft's section 4 (enqueue, dequeue), which refers to RFC 8290 for the queues
(fq_codel_rfc8290.py) and to RFC 8033 for PIE in each of them (pie_rfc8033.py), with delays by
timestamps. A packet that arrives when the total is at the limit is dropped without further
processing; PIE is asked otherwise.

Open, and done here: a queue joins the list of new queues when PIE has let its packet in. All queues
draw from one stream. PIE's own limit is not used.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from pie_rfc8033 import OVERFLOW, PieQueue, Settings
from replay_io import Arrival, Limit, Log, Outcome, drive
from streams import Stream

SCHEDULER = "link/replay/queue/scheduler"


class Flow(PieQueue):
    def __init__(self, log: Log, settings: Settings, draws: Stream) -> None:
        super().__init__(log, settings, draws)
        self.credits = 0

    @property
    def size(self) -> int:
        return self._bytes


class FqPieQueue:
    def __init__(
        self, log: Log, settings: Settings, limit: Limit, quantum: int, draws: Stream
    ) -> None:
        self._log = log
        self._settings = replace(settings, limit=Limit())
        self._limit = limit
        self._quantum = quantum
        self._draws = draws
        self._flows: dict[int, Flow] = {}
        self._new: deque[Flow] = deque()
        self._old: deque[Flow] = deque()

    def __len__(self) -> int:
        return sum(len(flow) for flow in self._flows.values())

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        if packet.flow not in self._flows:
            self._flows[packet.flow] = Flow(self._log, self._settings, self._draws)
        flow = self._flows[packet.flow]
        total = sum(other.size for other in self._flows.values())
        if not self._limit.admits(len(self) + 1, total + packet.size):
            self._log.dropped(packet, OVERFLOW)
            return
        before = len(flow)
        flow.enqueue(packet, now_ps)
        listed = any(flow is other for other in (*self._new, *self._old))
        if len(flow) > before and not listed:
            self._new.append(flow)
            flow.credits = self._quantum

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
    settings: Settings,
    limit: Limit,
    quantum: int = 1514,
    seed: int = 1,
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind FQ-PIE."""
    log = Log(arrivals)
    draws = Stream(seed, name=SCHEDULER)
    return drive(arrivals, rate_bps, FqPieQueue(log, settings, limit, quantum, draws), log)
