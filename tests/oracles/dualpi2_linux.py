"""DualPI2 as Linux runs it: an oracle apart from the implementation.

Source: net/sched/sch_dualpi2.c of Linux 6.17 and K. De Schepper et al., "DualPI2", netdev 0x13. Whole numbers as in the
kernel: delays in nanoseconds, probabilities in units of 2^-32, gains in 1/256 per second.

* Packets whose ECN bits meet the mask go to the L queue: ECT(1) and CE, or with any_ect every capable one.
* The base probability moves at every multiple of tupdate, before packets of that instant, by the larger of the ages of
  both heads.
* A packet is judged when it leaves, or with drop_early when it comes, unless less than two packets of 1514 bytes wait: one that
  leaves does not count, nor does one that comes. Classic packets are hit when two draws are at most the base probability, L packets
  when one is at most k times it. Once k times the base probability exceeds 1, Classic packets that are hit are dropped, and L packets
  are dropped as Classic ones and else marked; with drop_overload off the base probability is at most 1/k.
* Step: an L packet that waited longer than the threshold is marked, if at least min_qlen_step packets waited in
  its queue when it came.
* The credit of the scheduler moves by a sent packet's size times the other queue's weight, while the other has packets.
* Memory: what the allocator takes for a packet (a power of two for its data and 384 bytes, and 256 more) is held against
  the memory limit, by default twice 1514 bytes for each packet of the limit.

The random stream is that of the queue in `sojourn replay`; 32 bits are the upper ones of a draw.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from replay_io import PS_PER_NS, Arrival, Log, Outcome, drive
from streams import Stream

OVERFLOW = "overlimit"
EARLY = "early"
SCHEDULER = "link/replay/queue/scheduler"
MTU = 1514
ONES = 2**32 - 1


@dataclass(frozen=True)
class Settings:
    limit: int = 10_000
    memory_limit: int | None = None
    target_ns: int = 15_000_000
    tupdate_ns: int = 16_000_000
    alpha: int = 41
    beta: int = 819
    k: int = 2
    step_ns: int = 1_000_000
    min_qlen_step: int = 0
    classic_percent: int = 10
    drop_overload: bool = True
    drop_early: bool = False
    any_ect: bool = False


def truesize(size: int) -> int:
    data = 1
    while data < size + 384:
        data *= 2
    return data + 256


class DualQueue:
    def __init__(self, log: Log, settings: Settings, seed: int) -> None:
        self._log = log
        self._set = settings
        self._rng = Stream(seed, 0, SCHEDULER)
        self._lq: deque[tuple[Arrival, bool]] = deque()
        self._cq: deque[Arrival] = deque()
        self._backlog = 0
        self._memory = 0
        limit = settings.memory_limit
        self._memory_limit = limit if limit is not None else settings.limit * 2 * MTU
        self._prob = 0
        self._last_ns = 0
        self._next_ns = settings.tupdate_ns
        # Scaled as the kernel does it, for delays in units of 64 ns.
        self._alpha = (settings.alpha * ONES >> 2) // 10**9
        self._beta = (settings.beta * ONES >> 2) // 10**9
        self._credit = self._first_credit()
        self._marked: set[int] = set()

    def __len__(self) -> int:
        return len(self._lq) + len(self._cq)

    def _first_credit(self) -> int:
        return MTU * (2 * self._set.classic_percent - 100)

    def _is_l4s(self, packet: Arrival) -> bool:
        return packet.ecn & (3 if self._set.any_ect else 1) != 0

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        self._update(now_ps)
        too_much = self._memory + truesize(packet.size) > self._memory_limit
        if len(self) >= self._set.limit or too_much:
            self._log.dropped(packet, OVERFLOW)
            return
        if self._set.drop_early and self._must_drop(packet):
            self._log.dropped(packet, EARLY)
            return
        self._memory += truesize(packet.size)
        self._backlog += packet.size
        if self._is_l4s(packet):
            self._lq.append((packet, len(self._lq) >= self._set.min_qlen_step))
        else:
            self._cq.append(packet)

    def dequeue(self, now_ps: int) -> Arrival | None:
        self._update(now_ps)
        while len(self) > 0:
            both = bool(self._lq) and bool(self._cq)
            from_l = bool(self._lq) and (not self._cq or self._credit <= 0)
            packet, step = self._lq.popleft() if from_l else (self._cq.popleft(), False)
            self._memory -= truesize(packet.size)
            self._backlog -= packet.size
            if not self._set.drop_early and self._must_drop(packet):
                self._log.dropped(packet, EARLY)
                continue
            if step and (now_ps - packet.time_ps) // PS_PER_NS > self._set.step_ns:
                self._mark(packet)
            if both:
                weight = self._set.classic_percent
                self._credit += packet.size * (weight if from_l else weight - 100)
            return packet
        self._credit = self._first_credit()
        return None

    def _mark(self, packet: Arrival) -> None:
        if packet.index not in self._marked:
            self._marked.add(packet.index)
            self._log.marked(packet, EARLY)

    def _roll(self, probability: int) -> bool:
        return self._rng.bits() >> 32 <= probability

    def _must_drop(self, packet: Arrival) -> bool:
        if self._backlog < 2 * MTU:
            return False
        scaled = self._prob * self._set.k
        overload = scaled > ONES
        if not self._is_l4s(packet):
            if self._roll(self._prob) and self._roll(self._prob):
                if overload or packet.ecn == 0:
                    return True
                self._mark(packet)
            return False
        if overload:
            if self._set.drop_overload and self._roll(self._prob) and self._roll(self._prob):
                return True
            self._mark(packet)
        elif self._roll(scaled):
            self._mark(packet)
        return False

    def _update(self, now_ps: int) -> None:
        while self._next_ns * PS_PER_NS <= now_ps:
            heads = [queue[0] for queue in (self._cq,) if queue]
            heads += [self._lq[0][0]] if self._lq else []
            at_ps = self._next_ns * PS_PER_NS
            delay = max(((at_ps - head.time_ps) // PS_PER_NS for head in heads), default=0)
            delta = (delay - self._set.target_ns) * self._alpha
            delta += (delay - self._last_ns) * self._beta
            self._last_ns = delay
            # 32 bits of the step, and of the sum: beyond them it shows in the comparison only if it is small.
            step = abs(delta) // 64 & ONES
            if delta > 0:
                moved = self._prob + step & ONES
                self._prob = ONES if moved < self._prob else moved
            else:
                moved = self._prob - step & ONES
                self._prob = 0 if moved > self._prob else moved
            if not self._set.drop_overload:
                self._prob = min(self._prob, ONES // self._set.k)
            self._next_ns += self._set.tupdate_ns


def run(
    arrivals: Sequence[Arrival], rate_bps: int, settings: Settings, seed: int = 1
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind Linux's DualPI2."""
    log = Log(arrivals)
    return drive(arrivals, rate_bps, DualQueue(log, settings, seed), log)
