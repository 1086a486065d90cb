#!/usr/bin/env python3
"""A FIFO that drops its head, strict priority and weighted round robin: oracles by their text.

* Head drop (Linux pfifo_head_drop): at the limit the packet at the head is dropped, then the
  arrival joins the tail.
* Strict priority: of the queues that hold packets the one of the least number sends. The queue of
  a packet is its flow's number, at most `bands` - 1. Each holds at most `limit` packets.
* Weighted round robin, plain: queues that hold packets take turns in the order in which they became
  active; a turn is up to weight packets, and ends when the queue is empty.
* Interleaved (Katevenis 1991): a cycle has rounds; in each round a queue that has sent less than
  its weight in the cycle sends one packet. A queue that becomes active joins the round that is
  going on; a queue that empties keeps what it has sent until the cycle is over.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from replay_io import Arrival, Log, Outcome, Queue, drive

REFUSED = "overlimit"
PUSHED_OUT = "evicted"


class HeadDrop:
    def __init__(self, log: Log, limit: int) -> None:
        self._log = log
        self._limit = limit
        self._fifo: deque[Arrival] = deque()

    def __len__(self) -> int:
        return len(self._fifo)

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        if len(self._fifo) == self._limit:
            self._log.dropped(self._fifo.popleft(), PUSHED_OUT)
        self._fifo.append(packet)

    def dequeue(self, now_ps: int) -> Arrival | None:
        return self._fifo.popleft() if self._fifo else None


class Priority:
    def __init__(self, log: Log, bands: int, limit: int) -> None:
        self._log = log
        self._limit = limit
        self._bands: list[list[Arrival]] = [[] for _ in range(bands)]

    def __len__(self) -> int:
        return sum(len(band) for band in self._bands)

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        band = self._bands[min(packet.flow, len(self._bands) - 1)]
        if len(band) >= self._limit:
            self._log.dropped(packet, REFUSED)
        else:
            band.append(packet)

    def dequeue(self, now_ps: int) -> Arrival | None:
        for band in self._bands:
            if band:
                return band.pop(0)
        return None


class RoundRobin:
    def __init__(self, log: Log, weights: Sequence[int], limit: int, interleaved: bool) -> None:
        self._log = log
        self._weights = weights
        self._limit = limit
        self._interleaved = interleaved
        self._queues: dict[int, list[Arrival]] = {}
        # Flows in the order of their turns, and what each has sent in its turn or cycle.
        self._order: list[int] = []
        self._sent: dict[int, int] = {}

    def __len__(self) -> int:
        return sum(len(queue) for queue in self._queues.values())

    def _weight(self, flow: int) -> int:
        return self._weights[min(flow, len(self._weights) - 1)]

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        queue = self._queues.setdefault(packet.flow, [])
        if len(queue) >= self._limit:
            self._log.dropped(packet, REFUSED)
            return
        queue.append(packet)
        if packet.flow not in self._order:
            self._order.append(packet.flow)
            if not self._interleaved:
                self._sent[packet.flow] = 0

    def dequeue(self, now_ps: int) -> Arrival | None:
        if not self._order:
            return None
        return self._interleave() if self._interleaved else self._turn()

    def _turn(self) -> Arrival:
        flow = self._order[0]
        packet = self._queues[flow].pop(0)
        self._sent[flow] += 1
        if not self._queues[flow]:
            self._order.remove(flow)
        elif self._sent[flow] == self._weight(flow):
            self._sent[flow] = 0
            self._order.append(self._order.pop(0))
        return packet

    def _interleave(self) -> Arrival:
        able = [flow for flow in self._order if self._sent.get(flow, 0) < self._weight(flow)]
        if not able:
            self._sent.clear()
            able = self._order
        flow = able[0]
        packet = self._queues[flow].pop(0)
        self._sent[flow] = self._sent.get(flow, 0) + 1
        self._order.remove(flow)
        if self._queues[flow]:
            self._order.append(flow)
        return packet


def run_head_drop(arrivals: Sequence[Arrival], rate_bps: int, limit: int) -> list[Outcome]:
    """What becomes of every arrival at a FIFO that drops its head."""
    log = Log(arrivals)
    return drive(arrivals, rate_bps, HeadDrop(log, limit), log)


def run_priority(
    arrivals: Sequence[Arrival], rate_bps: int, bands: int, limit: int
) -> list[Outcome]:
    """What becomes of every arrival under strict priority by flow."""
    log = Log(arrivals)
    return drive(arrivals, rate_bps, Priority(log, bands, limit), log)


def run_round_robin(
    arrivals: Sequence[Arrival],
    rate_bps: int,
    weights: Sequence[int],
    limit: int,
    interleaved: bool = False,
) -> list[Outcome]:
    """What becomes of every arrival under weighted round robin by flow."""
    log = Log(arrivals)
    queue: Queue = RoundRobin(log, weights, limit, interleaved)
    return drive(arrivals, rate_bps, queue, log)
