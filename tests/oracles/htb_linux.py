#!/usr/bin/env python3
"""Linux's hierarchical token bucket: an oracle.

Source: net/sched/sch_htb.c of Linux 6.1 and the description at its head (M. Devera, "HTB Linux queuing discipline: user guide
and theory"); there is no other public definition. Who takes turns is a function of the modes of all classes, where the
kernel links and unlinks them one by one:

* A class has tokens for its rate and for its ceil, in nanoseconds, each at most a burst. It *can send* while both are at
  least zero, *may borrow* while only those of the ceil are, else it *can not send*. The first packet is on credit, so that a
  bucket may fall below zero.
* A leaf is at level 0. A class with children is at level 7, or one below that of its parent.
* A leaf that has packets and may borrow feeds its parent, in its priority; a class that is fed and may borrow feeds its own
  parent. A class at a level that can send, and is fed (or is a leaf with packets), sends at that level. The lowest level
  goes first, then the lowest number of priority.
* A packet is charged to the ceil of its leaf and of all above it, and to the rates of those at the level that sent it and
  above; below it was borrowed.
* Those that send at a level and those that feed a class take turns: in the order of their numbers, from class to class down to a
  leaf. A leaf keeps the turn until its deficit for that level falls below zero; then it gets its quantum, and the next one that
  feeds its parent is in turn. At the end of a round it begins anew, and the turn above goes on. Where the class in turn
  leaves those that send at a level, its successor is in turn; among those that feed a class the place is found again when it
  is needed.
* Tokens are counted again when a class is charged: what came since is added, at most 60 s of it, and capped by the burst, but
  for the tokens of the rate of one that borrows, which are capped at the next charge only. Modes change with that, and when
  tokens have come back to zero: that is seen when the level of the class is looked at, which is not done once a packet is found.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from replay_io import PS_PER_NS, Arrival, Limit, Log, Outcome
from shaper import LinuxRate, drive, ns

OVERFLOW = "limit"
MOST_NS = 60 * 10**9
TICK_NS = 64
LEVELS = 8
CAN, BORROW, CANNOT = range(3)


@dataclass(frozen=True)
class Settings:
    """A class: rates in bits per second, bursts in bytes; the classes below it."""

    rate: int
    ceil: int
    prio: int = 0
    burst: int = 1600
    cburst: int = 1600
    quantum: int | None = None
    children: tuple[Settings, ...] = ()


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


class Turns:
    """Those that send at a level, or feed a class, with one priority; and which is in turn."""

    def __init__(self, remembers: bool) -> None:
        self.members: set[int] = set()
        self.turn: int | None = None
        self._remembers = remembers
        self._lost: int | None = None

    def _after(self, number: int) -> int | None:
        return min((m for m in self.members if m > number), default=None)

    def become(self, members: set[int]) -> None:
        for gone in sorted(self.members - members):
            if self.turn == gone:
                self.turn = None if self._remembers else self._after(gone)
                self._lost = gone if self._remembers else None
            self.members.discard(gone)
        self.members |= members

    def recover(self) -> None:
        if self.turn is None and self._lost is not None:
            self.turn = self._after(self._lost - 1)
        self._lost = None

    def step(self) -> None:
        if self.turn is not None:
            self.turn = self._after(self.turn)


class Class:
    def __init__(self, settings: Settings, parent: Class | None, number: int, r2q: int) -> None:
        self.rate = Tokens(settings.rate, settings.burst)
        self.ceil = Tokens(settings.ceil, settings.cburst)
        self.parent = parent
        self.number = number
        self.children: list[Class] = []
        self.level = 0
        if settings.children:
            self.level = (parent.level if parent else LEVELS) - 1
        self.prio = settings.prio
        quantum = settings.quantum or settings.rate // 8 // r2q
        self.quantum = max(1000, min(quantum, 200_000)) if settings.quantum is None else quantum
        self.checked = 0
        self.mode = CAN
        self.due: int | None = None
        self.fifo: deque[Arrival] = deque()
        self.size = 0
        self.deficit = [0] * LEVELS
        self.fed_by = {prio: Turns(True) for prio in range(8)}

    def is_active(self, prio: int) -> bool:
        if self.children:
            return bool(self.fed_by[prio].members)
        return bool(self.fifo) and self.prio == prio

    def look(self, now: int) -> None:
        elapsed = min(now - self.checked, MOST_NS)
        if self.ceil.count + elapsed < 0:
            self.mode, self.due = CANNOT, now - self.ceil.count - elapsed
        elif self.rate.count + elapsed < 0:
            self.mode, self.due = BORROW, now - self.rate.count - elapsed
        else:
            self.mode, self.due = CAN, None

    def charge(self, size: int, now: int, borrowed: bool) -> None:
        elapsed = min(now - self.checked, MOST_NS)
        if borrowed:
            self.rate.count += elapsed
        else:
            self.rate.charge(size, elapsed)
        self.ceil.charge(size, elapsed)
        self.checked = now


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
        self._limit = limit
        self._classes: list[Class] = []
        tops = classes if root is None else [replace(root, children=tuple(classes))]
        for top in tops:
            self._grow(top, None, r2q)
        self._leaves = [one for one in self._classes if not one.children]
        self._prios = sorted({leaf.prio for leaf in self._leaves})
        self._sending = {
            (level, prio): Turns(False) for level in range(LEVELS) for prio in self._prios
        }
        self._now = 0
        self._packets = 0

    def _grow(self, settings: Settings, parent: Class | None, r2q: int) -> Class:
        one = Class(settings, parent, len(self._classes), r2q)
        self._classes.append(one)
        one.children = [self._grow(child, one, r2q) for child in settings.children]
        return one

    def __len__(self) -> int:
        return self._packets

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        leaf = self._leaves[min(packet.flow, len(self._leaves) - 1)]
        if not self._limit.admits(len(leaf.fifo) + 1, leaf.size + packet.size):
            self._log.dropped(packet, OVERFLOW)
            return
        leaf.fifo.append(packet)
        leaf.size += packet.size
        self._packets += 1
        # It takes part with the mode that was seen last.
        self._arrange()

    def dequeue(self, now_ps: int) -> Arrival | None:
        if len(self) == 0:
            return None
        now = self._now = ns(now_ps)
        for level in range(LEVELS):
            due = [one for one in self._classes if one.level == level and one.due is not None]
            for one in sorted(due, key=lambda one: (one.due, one.number)):
                if one.due is not None and one.due <= now:
                    one.look(now)
                    self._arrange()
            for prio in self._prios:
                if self._sending[level, prio].members:
                    return self._send(level, prio, now)
        return None

    def _leaf_in_turn(self, level: int, prio: int) -> Class:
        path = [self._sending[level, prio]]
        while True:
            turns = path[-1]
            turns.recover()
            if turns.turn is None:
                turns.turn = min(turns.members)
                if len(path) > 1:
                    path.pop()
                    path[-1].step()
                continue
            one = self._classes[turns.turn]
            if not one.children:
                return one
            path.append(one.fed_by[prio])

    def _send(self, level: int, prio: int, now: int) -> Arrival:
        leaf = self._leaf_in_turn(level, prio)
        packet = leaf.fifo.popleft()
        leaf.size -= packet.size
        self._packets -= 1
        leaf.deficit[level] -= packet.size
        if leaf.deficit[level] < 0:
            leaf.deficit[level] += leaf.quantum
            fed = leaf.parent.fed_by if leaf.parent else {}
            (fed[prio] if level else self._sending[0, prio]).step()
        self._arrange()
        one: Class | None = leaf
        while one is not None:
            one.charge(packet.size, now, borrowed=one.level < level)
            one.look(now)
            self._arrange()
            one = one.parent
        return packet

    def _arrange(self) -> None:
        """Makes those that take turns what the modes say, from the leaves up."""
        for one in reversed(self._classes):
            for prio in self._prios if one.children else ():
                feeds = {c.number for c in one.children if c.mode == BORROW and c.is_active(prio)}
                one.fed_by[prio].become(feeds)
        for (level, prio), turns in self._sending.items():
            sends = {
                one.number
                for one in self._classes
                if one.level == level and one.mode == CAN and one.is_active(prio)
            }
            turns.become(sends)

    def ready_ps(self) -> int:
        changes = [one.due for one in self._classes if one.due is not None]
        return min([*changes, self._now + 5 * 10**9]) * PS_PER_NS


def run(
    arrivals: Sequence[Arrival],
    link_bps: int,
    classes: Sequence[Settings],
    root: Settings | None,
    limit: Limit,
    r2q: int = 10,
) -> list[Outcome]:
    """What becomes of every arrival; flow i is in leaf i, and the flows beyond in the last."""
    log = Log(arrivals)
    return drive(arrivals, link_bps, HtbQueue(log, classes, root, limit, r2q), log)
