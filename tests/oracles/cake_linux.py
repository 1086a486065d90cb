#!/usr/bin/env python3
"""CAKE's shaper, flow queueing and COBALT for one tin, as Linux runs them: an oracle.

Sources: T. Høiland-Jørgensen, D. Täht and J. Morton, "Piece of CAKE", LANMAN 2018, for what each part is for, and net/sched/sch_cake.c
of Linux 6.1 for what it does; COBALT has no other definition. One best-effort tin, isolation by flows, no overhead, no ACK
filter; each flow has a queue of its own (the hash, free of collisions).

* Shaper: the time of the next packet moves on by what the packet takes at the bandwidth; it starts anew at the present when
  a packet meets an empty queue. (The failsafe of the kernel moves faster, and so never decides here.)
* Flows: new ones first, then those in rotation, as in DRR++: a flow whose deficit is used up gets a quantum and goes to the end of
  the rotation, with a dither of 16 random bits below a byte. A flow found empty decays: it is looked at first at the next
  request, until COBALT is at rest.
* COBALT: CoDel with a count that goes up with each signal and down one by one when signals would be due but are not needed, and BLUE.
  1 / sqrt(count) is a fraction of 32 bits, improved by a Newton step for each change of count from 16 on.
* A limit on the memory of the packets that wait: heads of the longest queue (in bytes; of equal ones
  that of the lowest number) are dropped, which starts BLUE.

The random stream is that of the queue in `sojourn replay`; 32 bits are the upper ones of a draw.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from replay_io import PS_PER_NS, Arrival, Log, Outcome
from shaper import drive, ns
from streams import Stream

CODEL = "codel"
BLUE = "blue"
OVERFLOW = "limit"
SCHEDULER = "link/replay/queue/scheduler"
ONES = 2**32 - 1
BLUE_UP = 2**24
BLUE_DOWN = 2**20


def newton(count: int, inverse: int) -> int:
    square = inverse * inverse >> 32
    return ((((3 << 32) - count * square) & (2**64 - 1)) >> 2) * inverse % 2**64 >> 31 & ONES


def small_counts() -> list[int]:
    values = [ONES]
    for count in range(1, 16):
        inverse = values[-1]
        for _ in range(4):
            inverse = newton(count, inverse)
        values.append(inverse)
    return values


SMALL = small_counts()


def memory(size: int) -> int:
    """What the kernel counts for a packet: a power of two for its data and 320 bytes, and 256 for its description."""
    data = 512
    while data < size + 320:
        data *= 2
    return data + 256


def bucket(flow: int) -> int:
    """The number of the queue of a flow: Sojourn's hash, SplitMix64's finalizer of twice the flow, cut to its upper 32 bits."""
    word = (2 * flow + 0x9E3779B97F4A7C15) & (2**64 - 1)
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
    return ((word ^ (word >> 31)) >> 32) % 1024


class Pace:
    """Nanoseconds for bytes."""

    def __init__(self, rate_bps: int) -> None:
        self._shift = 34
        self._ns = (10**9 << 34) // max(64, rate_bps // 8)
        while self._ns >> 34:
            self._ns >>= 1
            self._shift -= 1

    def span(self, size: int) -> int:
        return size * self._ns >> self._shift


class Cobalt:
    def __init__(self, interval: int, target: int, mtu_time: int, draws: Stream) -> None:
        self._interval = interval
        self._target = target
        self._mtu_time = mtu_time
        self._draws = draws
        self.count = 0
        self._inverse = 0
        self.drop_next = 0
        self._blue_at = 0
        self.drop_p = 0
        self._dropping = False

    def _step(self, by: int) -> None:
        self.count += by
        if self.count < len(SMALL):
            self._inverse = SMALL[self.count]
        else:
            self._inverse = newton(self.count, self._inverse)
        self.drop_next += self._spacing()

    def _spacing(self) -> int:
        return self._interval * self._inverse >> 32

    def full(self, now: int) -> None:
        if now - self._blue_at > self._target:
            self.drop_p = min(ONES, self.drop_p + BLUE_UP)
            self._blue_at = now
        self._dropping = True
        self.drop_next = now
        self.count = max(1, self.count)

    def empty(self, now: int) -> None:
        if self.drop_p and now - self._blue_at > self._target:
            self.drop_p = max(0, self.drop_p - BLUE_DOWN)
            self._blue_at = now
        self._dropping = False
        if self.count and now >= self.drop_next:
            self._step(-1)

    def at_rest(self, now: int) -> bool:
        return not self.drop_p and not self.count and now >= self.drop_next

    def signal(self, now: int, sojourn: int, capable: bool) -> tuple[bool, str | None]:
        """Whether the packet is marked, and why it is to be dropped."""
        behind = now - self.drop_next
        over = sojourn > self._target and sojourn > 4 * self._mtu_time
        due = self.count > 0 and behind >= 0
        if over:
            if not self._dropping:
                self._dropping = True
                self.drop_next = now + self._spacing()
            self.count = max(1, self.count)
        else:
            self._dropping = False
        decision = None
        marked = due and self._dropping and capable
        if due and self._dropping:
            decision = None if capable else CODEL
            self._step(1)
            behind = now - self.drop_next
        else:
            while due:
                self._step(-1)
                behind = now - self.drop_next
                due = self.count > 0 and behind >= 0
        if self.drop_p and self._draws.bits() >> 32 < self.drop_p and decision != CODEL:
            decision = BLUE
        if self.count == 0:
            self.drop_next = now + self._interval
        elif behind > 0 and decision is None:
            self.drop_next = now
        return marked, decision


class Flow:
    def __init__(self, rank: int, cobalt: Cobalt) -> None:
        self.rank = rank
        self.cobalt = cobalt
        self.fifo: deque[Arrival] = deque()
        self.size = 0
        self.deficit = 0
        self.decays = False
        self.listed = False


class CakeQueue:
    def __init__(
        self, log: Log, bandwidth: int | None, limit: int, seed: int, mtu: int = 1514
    ) -> None:
        self._log = log
        self._draws = Stream(seed, 0, SCHEDULER)
        self._pace = Pace(bandwidth) if bandwidth is not None else None
        mtu_time = self._pace.span(mtu) if self._pace else 0
        target = max(5_000_000, mtu_time * 3 // 2)
        interval = max(100_000_000 + target - 5_000_000, 2 * target)
        self._cobalt = (interval, target, mtu_time)
        self._quantum = 1514
        if bandwidth is not None:
            self._quantum = min(1514, max(300, bandwidth // 8 >> 12))
        self._limit = limit
        self._flows: dict[int, Flow] = {}
        self._new: deque[Flow] = deque()
        self._old: deque[Flow] = deque()
        self._decaying: deque[Flow] = deque()
        self._next = 0
        self._packets = 0
        self._memory = 0

    def __len__(self) -> int:
        return self._packets

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        now = ns(now_ps)
        flow = self._flows.get(packet.flow)
        if flow is None:
            flow = Flow(bucket(packet.flow), Cobalt(*self._cobalt, self._draws))
            self._flows[packet.flow] = flow
        if self._packets == 0:
            self._next = max(self._next, now)
        self._count(flow, packet, 1)
        flow.fifo.append(packet)
        if flow.decays:
            self._decaying.remove(flow)
        if flow.decays or not flow.listed:
            flow.decays, flow.listed = False, True
            flow.deficit = self._quantum * 65535 >> 16
            self._new.append(flow)
        while self._memory > self._limit:
            # The longest; of equal ones that of the lowest number.
            victim = max(self._flows.values(), key=lambda f: (f.size, -f.rank))
            dropped = victim.fifo.popleft()
            self._count(victim, dropped, -1)
            victim.cobalt.full(now)
            self._log.dropped(dropped, OVERFLOW)

    def dequeue(self, now_ps: int) -> Arrival | None:
        now = ns(now_ps)
        first = True
        while self._packets:
            if self._pace and self._next > now:
                return None
            lists = [self._new, self._old]
            lists.insert(0 if first else 2, self._decaying)
            first = False
            heads = next(flows for flows in lists if flows)
            flow = heads[0]
            if flow.deficit <= 0:
                dither = self._draws.bits() >> 32 >> 16
                flow.deficit += (self._quantum * 65535 + dither) >> 16
                heads.popleft()
                self._old.append(flow)
                flow.decays = False
                continue
            packet = self._give(flow, now)
            if packet is None:
                flow.cobalt.empty(now)
                heads.popleft()
                flow.decays = not flow.cobalt.at_rest(now)
                flow.listed = flow.decays
                if flow.decays:
                    self._decaying.append(flow)
                continue
            if self._pace:
                self._next += self._pace.span(packet.size)
            flow.deficit -= packet.size
            return packet
        return None

    def _give(self, flow: Flow, now: int) -> Arrival | None:
        while flow.fifo:
            packet = flow.fifo.popleft()
            self._count(flow, packet, -1)
            sojourn = now - ns(packet.time_ps)
            marked, reason = flow.cobalt.signal(now, sojourn, packet.ecn != 0)
            if reason is None or not flow.fifo:
                if marked:
                    self._log.marked(packet, CODEL)
                return packet
            self._log.dropped(packet, reason)
        return None

    def _count(self, flow: Flow, packet: Arrival, sign: int) -> None:
        flow.size += sign * packet.size
        self._packets += sign
        self._memory += sign * memory(packet.size)

    def ready_ps(self) -> int:
        return self._next * PS_PER_NS


def run(
    arrivals: Sequence[Arrival],
    link_bps: int,
    bandwidth: int | None,
    limit: int = 4 << 20,
    seed: int = 1,
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind CAKE with this bandwidth, None for no shaper."""
    log = Log(arrivals)
    return drive(arrivals, link_bps, CakeQueue(log, bandwidth, limit, seed), log)
