#!/usr/bin/env python3
"""COBALT as CAKE and ns-3 run it: an oracle apart from the implementation.

Source: the behaviour of cobalt_queue_full, cobalt_queue_empty and cobalt_should_drop in Linux's
sch_cake.c; for `ns3` of ns-3's CobaltQueueDisc. Neither RFC nor paper has pseudo-code. Times are
nanoseconds, probabilities in units of 2^-32 (ns3: floating point).

* The state machine sees each packet at the head of the queue. Above target (and, in CAKE, above
  four times the time of an MTU) the dropping state is on. A signal is due once drop_next has come
  while count is not 0; it is given if the state is on, else count goes down for each that is due.
* After a packet below target with count 0, drop_next is an interval ahead: the state entered at a
  later packet has its first signal an interval later. With count above 0 and nothing dropped,
  drop_next does not lie in the past.
* BLUE: an overflow raises p_drop, an empty queue lowers it, each more than `target` after the last
  change; p_drop drops whatever is capable of ECN. One draw of 32 bits per packet while it is above
  0 (ns3: one uniform draw).
* ns3: a sojourn time above blue_threshold raises p_drop as well; no bound by the MTU; of the time at
  which p_drop changed last 32 bits of nanoseconds are kept.
* A full queue drops its head for the arrival, or the arrival if that is larger; the last packet of a
  queue is marked and not dropped, though the state goes on as if it were. ns3 refuses arrivals and
  knows no last packet.
"""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from replay_io import (
    PS_PER_NS,
    Arrival,
    Limit,
    Log,
    Outcome,
    drive,
    parse_limit,
    parse_rate,
    parse_span,
    read_arrivals,
    write_outcomes,
)
from streams import Stream

OVERFLOW = "overlimit"
EVICTED = "evicted"
DELAY = "target_exceeded"
EARLY = "early"
STEP = "threshold"
TOP = 2**32 - 1
CACHE = 16


@dataclass(frozen=True)
class Settings:
    target_ns: int = 5_000_000
    interval_ns: int = 100_000_000
    mtu: int | None = 1514
    increment: int = 1 << 24
    decrement: int = 1 << 20
    limit: Limit = field(default_factory=lambda: Limit(size=4_000_000))
    ecn: bool = True
    ns3: bool = False
    blue_threshold_ns: int | None = None
    ce_threshold_ns: int | None = None


def newton(x: int, count: int) -> int:
    """One step towards 2^32 / sqrt(count)."""
    value = (3 << 32) - count * ((x * x) >> 32)
    return (((value >> 2) * x) >> 31) & TOP


def cache() -> list[int]:
    found, x = [TOP], TOP
    for count in range(1, CACHE):
        for _ in range(4):
            x = newton(x, count)
        found.append(x)
    return found


class CobaltQueue:
    def __init__(self, log: Log, rate_bps: int, settings: Settings, draws: Stream) -> None:
        self._log = log
        self._set = settings
        self._draws = draws
        self._fifo: deque[Arrival] = deque()
        self._bytes = 0
        self._cache = cache()
        self._mtu_ns = 0 if settings.mtu is None else settings.mtu * 8 * 10**9 // rate_bps
        self.count = 0
        self._x = TOP if settings.ns3 else 0
        self.dropping = False
        self.drop_next = 0
        self.p_drop = 0.0 if settings.ns3 else 0
        self._blue_timer = 0

    def __len__(self) -> int:
        return len(self._fifo)

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        if self._set.limit.admits(len(self._fifo) + 1, self._bytes + packet.size):
            self._fifo.append(packet)
            self._bytes += packet.size
            return
        head = self._fifo[0] if self._fifo and not self._set.ns3 else None
        if head is not None and self._set.limit.admits(
            len(self._fifo), self._bytes + packet.size - head.size
        ):
            self._log.dropped(self._fifo.popleft(), EVICTED)
            self._fifo.append(packet)
            self._bytes += packet.size - head.size
        else:
            self._log.dropped(packet, OVERFLOW)
        now = now_ps // PS_PER_NS
        self._raise(now)
        self.dropping = True
        self.drop_next = now
        self.count = max(self.count, 1)

    def dequeue(self, now_ps: int) -> Arrival | None:
        now = now_ps // PS_PER_NS
        while self._fifo:
            packet = self._fifo.popleft()
            self._bytes -= packet.size
            reason = self._judge(packet, now, (now_ps - packet.time_ps) // PS_PER_NS)
            if reason is None or (not self._fifo and not self._set.ns3):
                return packet
            self._log.dropped(packet, reason)
        if self.p_drop and now - self._blue_timer > self._set.target_ns:
            self.p_drop = max(0, self.p_drop - self._step(self._set.decrement))
            self._blue_timer = self._remembered(now)
        self.dropping = False
        if self.count and now >= self.drop_next:
            self._less()
        return None

    def _step(self, step: int) -> float:
        return step / 2**32 if self._set.ns3 else step

    def _raise(self, now: int) -> None:
        if now - self._blue_timer > self._set.target_ns:
            top = 1.0 if self._set.ns3 else TOP
            self.p_drop = min(top, self.p_drop + self._step(self._set.increment))
            self._blue_timer = self._remembered(now)

    def _remembered(self, now: int) -> int:
        return now & TOP if self._set.ns3 else now

    def _root(self) -> None:
        self._x = self._cache[self.count] if self.count < CACHE else newton(self._x, self.count)

    def _spacing(self) -> int:
        return ((self._set.interval_ns & TOP) * self._x) >> 32

    def _less(self) -> None:
        self.count -= 1
        self._root()
        self.drop_next += self._spacing()

    def _judge(self, packet: Arrival, now: int, sojourn: int) -> str | None:
        schedule = now - self.drop_next
        due = self.count > 0 and schedule >= 0
        above = sojourn > self._set.target_ns and sojourn > 4 * self._mtu_ns
        if above:
            if not self.dropping:
                self.dropping = True
                self.drop_next = now + self._spacing()
            self.count = max(self.count, 1)
        else:
            self.dropping = False
        reason = None
        if due and self.dropping:
            if self._set.ecn and packet.ecn != 0:
                marked = True
            else:
                marked = False
                reason = DELAY
            self.count += 1
            self._root()
            self.drop_next += self._spacing()
            schedule = now - self.drop_next
        else:
            marked = False
            while due:
                self._less()
                schedule = now - self.drop_next
                due = self.count > 0 and schedule >= 0
        step = self._set.ce_threshold_ns
        stepped = step is not None and sojourn > step and packet.ecn != 0
        stepped = stepped and not marked and reason is None
        threshold = self._set.blue_threshold_ns
        if threshold is not None and sojourn > threshold:
            self._raise(now)
        if self.p_drop and self._drawn() and reason is None:
            reason = EARLY
        if self.count == 0:
            self.drop_next = now + self._set.interval_ns
        elif schedule > 0 and reason is None:
            self.drop_next = now
        spared = not self._fifo and not self._set.ns3
        if (marked or stepped) and (reason is None or spared):
            self._log.marked(packet, DELAY if marked else STEP)
        return reason

    def _drawn(self) -> bool:
        if self._set.ns3:
            return self._draws.uniform() < self.p_drop
        return self._draws.bits() >> 32 < self.p_drop


def run(
    arrivals: Sequence[Arrival], rate_bps: int, settings: Settings, seed: int = 1
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind a COBALT queue."""
    log = Log(arrivals)
    return drive(arrivals, rate_bps, CobaltQueue(log, rate_bps, settings, Stream(seed)), log)


def _ns(text: str) -> int:
    return parse_span(text) // PS_PER_NS


def main() -> None:
    parser = argparse.ArgumentParser(description="COBALT as CAKE runs it.")
    parser.add_argument("arrivals", help="CSV with the columns time_ns,bytes,flow,ecn")
    parser.add_argument("--rate", required=True, type=parse_rate, help="link rate, e.g. 10Mbps")
    parser.add_argument("--seed", default=1, type=int)
    parser.add_argument("--target", default=5_000_000, type=_ns, dest="target_ns")
    parser.add_argument("--interval", default=100_000_000, type=_ns, dest="interval_ns")
    parser.add_argument("--mtu", default=1514, type=int, help="bytes")
    parser.add_argument("--limit", default=Limit(size=4_000_000), type=parse_limit)
    parser.add_argument("--no-ecn", action="store_false", dest="ecn")
    options = vars(parser.parse_args())
    arrivals, rate, seed = (options.pop(name) for name in ("arrivals", "rate", "seed"))
    write_outcomes(run(read_arrivals(arrivals), rate, Settings(**options), seed), sys.stdout)


if __name__ == "__main__":
    main()
