#!/usr/bin/env python3
"""Linux's hierarchical token bucket with one level of classes under a root: an oracle.

Source: net/sched/sch_htb.c of Linux 6.1 and the description at its head (M. Devera, "HTB Linux queuing discipline: user guide
and theory"); there is no other public definition. Written as a function of time where the kernel keeps a tree of events:

* A class has tokens for its rate and for its ceil, in nanoseconds, each at most a burst. It *can send* while both are at
  least zero, *may borrow* while only those of the ceil are, else it *can not send*. The first packet is on credit, so that a
  bucket may fall below zero.
* A packet is sent by a class that can send, of those the one of the least number of priority; else by one that may borrow
  while the root can send. It is charged to the ceil of the class and to rate and ceil of the root; to the rate of the class
  only if it did not borrow.
* Classes of one priority take turns as in DRR, with a deficit for each way of sending. The turn is with a class until its
  deficit falls below zero; then it gets its quantum and the next class is in turn. Where the class in turn leaves, its
  successor is in turn; among those that borrow the place is found again when it is needed.
* Tokens are counted again when a class is charged: what came since is added, at most 60 s of it, and capped by the burst, but
  for the tokens of the rate of one that borrows, which are capped at the next charge only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from replay_io import PS_PER_NS, Arrival, Limit, Log, Outcome
from shaper import LinuxRate, drive, ns

OVERFLOW = "limit"
MOST_NS = 60 * 10**9
TICK_NS = 64
CAN, BORROW, CANNOT = range(3)


@dataclass(frozen=True)
class Settings:
    """A class: rates in bits per second, bursts in bytes."""

    rate: int
    ceil: int
    prio: int = 0
    burst: int = 1600
    cburst: int = 1600
    quantum: int | None = None


class Tokens:
    def __init__(self, rate: int, burst: int) -> None:
        self.rate = LinuxRate(rate)
        # tc hands a burst over as a number of ticks, rounded up.
        self.most = -(-burst * 10**9 // (rate // 8 * TICK_NS)) * TICK_NS
        self.count = self.most

    def charge(self, size: int, elapsed: int) -> None:
        self.count = min(self.count + elapsed, self.most) - self.rate.ns(size)
        if self.count <= -MOST_NS:
            self.count = 1 - MOST_NS


class Class:
    def __init__(self, settings: Settings, r2q: int) -> None:
        self.rate = Tokens(settings.rate, settings.burst)
        self.ceil = Tokens(settings.ceil, settings.cburst)
        self.prio = settings.prio
        quantum = settings.quantum or settings.rate // 8 // r2q
        self.quantum = max(1000, min(quantum, 200_000)) if settings.quantum is None else quantum
        self.checked = 0
        self.fifo: deque[Arrival] = deque()
        self.size = 0
        self.deficit = {CAN: 0, BORROW: 0}

    def mode(self, now: int) -> int:
        elapsed = min(now - self.checked, MOST_NS)
        if self.ceil.count + elapsed < 0:
            return CANNOT
        return CAN if self.rate.count + elapsed >= 0 else BORROW

    def next_change(self, now: int) -> int | None:
        mode = self.mode(now)
        if mode == CAN:
            return None
        tokens = self.ceil if mode == CANNOT else self.rate
        return self.checked - tokens.count

    def charge(self, size: int, now: int, borrowed: bool) -> None:
        elapsed = min(now - self.checked, MOST_NS)
        if borrowed:
            self.rate.count += elapsed
        else:
            self.rate.charge(size, elapsed)
        self.ceil.charge(size, elapsed)
        self.checked = now


class Turns:
    """The classes of one priority that send in one way, and which is in turn."""

    def __init__(self, remembers: bool) -> None:
        self.members: set[int] = set()
        self._remembers = remembers
        self._turn: int | None = None
        self._lost: int | None = None

    def _after(self, number: int) -> int | None:
        return min((m for m in self.members if m > number), default=None)

    def become(self, members: set[int]) -> None:
        for gone in sorted(self.members - members):
            if self._turn == gone:
                self._turn = None if self._remembers else self._after(gone)
                self._lost = gone if self._remembers else None
            self.members.discard(gone)
        self.members |= members

    def current(self) -> int:
        if self._turn is None and self._lost is not None:
            self._turn = min((m for m in self.members if m >= (self._lost or 0)), default=None)
        self._lost = None
        if self._turn is None:
            self._turn = min(self.members)
        return self._turn

    def step(self) -> None:
        if self._turn is not None:
            self._turn = self._after(self._turn)


class HtbQueue:
    def __init__(
        self,
        log: Log,
        classes: Sequence[Settings],
        root: Settings | None,
        limit: Limit,
        r2q: int = 10,
    ) -> None:
        self._log = log
        self._classes = [Class(settings, r2q) for settings in classes]
        self._root = Class(root, r2q) if root else None
        self._limit = limit
        self._prios = sorted({one.prio for one in classes})
        self._turns = {
            (way, prio): Turns(way == BORROW) for way in (CAN, BORROW) for prio in self._prios
        }
        self._now = 0
        self._packets = 0

    def __len__(self) -> int:
        return self._packets

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        one = self._classes[min(packet.flow, len(self._classes) - 1)]
        if not self._limit.admits(len(one.fifo) + 1, one.size + packet.size):
            self._log.dropped(packet, OVERFLOW)
            return
        one.fifo.append(packet)
        one.size += packet.size
        self._packets += 1
        # The class joins with the mode that it had when its queue was last asked.
        self._arrange(self._now)

    def dequeue(self, now_ps: int) -> Arrival | None:
        if len(self) == 0:
            return None
        now = self._now = ns(now_ps)
        self._arrange(now)
        for way in (CAN, BORROW):
            if way == BORROW and (self._root is None or self._root.mode(now) != CAN):
                continue
            for prio in self._prios:
                turns = self._turns[way, prio]
                if turns.members:
                    return self._send(turns, way, now)
        return None

    def _send(self, turns: Turns, way: int, now: int) -> Arrival:
        one = self._classes[turns.current()]
        packet = one.fifo.popleft()
        one.size -= packet.size
        self._packets -= 1
        one.deficit[way] -= packet.size
        if one.deficit[way] < 0:
            one.deficit[way] += one.quantum
            turns.step()
        self._arrange(now)
        one.charge(packet.size, now, way == BORROW)
        if self._root is not None:
            self._root.charge(packet.size, now, False)
        self._arrange(now)
        return packet

    def _arrange(self, now: int) -> None:
        members: dict[tuple[int, int], set[int]] = {key: set() for key in self._turns}
        for number, one in enumerate(self._classes):
            mode = one.mode(now) if one.fifo else CANNOT
            if mode != CANNOT:
                members[mode, one.prio].add(number)
        for key, turns in self._turns.items():
            if turns.members != members[key]:
                turns.become(members[key])

    def ready_ps(self) -> int:
        everyone = [*self._classes, *([self._root] if self._root else [])]
        changes = [one.next_change(self._now) for one in everyone]
        soonest = min((c for c in changes if c is not None), default=self._now + 5 * 10**9)
        return min(soonest, self._now + 5 * 10**9) * PS_PER_NS


def run(
    arrivals: Sequence[Arrival],
    link_bps: int,
    classes: Sequence[Settings],
    root: Settings | None,
    limit: Limit,
    r2q: int = 10,
) -> list[Outcome]:
    """What becomes of every arrival; flow i is in class i, and the flows beyond in the last."""
    log = Log(arrivals)
    return drive(arrivals, link_bps, HtbQueue(log, classes, root, limit, r2q), log)
