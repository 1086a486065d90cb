#!/usr/bin/env python3
"""The heavy-hitter filter as Linux runs it: an oracle apart from the implementation.

Source: Linux net/sched/sch_hhf.c, its comments and behaviour; the multi-stage filter is Estan and
Varghese, "New Directions in Traffic Measurement and Accounting" (SIGCOMM 2002), with shielding
(3.3.1) and conservative update (3.3.2).

* Four arrays of 1024 counters; positions are three ten-bit parts of a 32-bit hash, and their
  exclusive or with what is left of it. Counters are void when `reset_timeout` has passed since they
  were last made void.
* A packet of a flow in the table goes to the heavy bucket. Else, if the least of its counters plus
  its size is above `admit_bytes`, the flow enters the table, the counters stay; if not, counters
  below that sum are raised to it, and the packet goes to the light bucket.
* The table has chains by the lower ten bits of the hash. A flow is old when its last packet is more
  than `evict_timeout` past. Looking for a flow removes old ones on the way, but not the last of the
  chain. A new one takes the place of the first old one of its chain, or is added unless the table
  holds `hh_limit`.
* Time is in jiffies, of `jiffy_ps`; "past" is more than, not equal.
* Buckets: DRR of two, with lists of new and old as in fq_codel. The light bucket has the weight
  `non_hh_weight` and joins the new list, the heavy one has 1 and joins the old list.
* Beyond `limit` the head of the heavy bucket is dropped, or of the light one if that is empty.

The hash is Linux's own affair (siphash of addresses and ports with a random key); here and in the
implementation it is the upper half of SplitMix64's finalizer of flow xor key.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from replay_io import Arrival, Log, Outcome, drive
from streams import MASK, _split_mix

HEAVY, LIGHT = 0, 1
PUSHED_OUT = "evicted"


@dataclass(frozen=True)
class Settings:
    limit: int = 1000
    quantum: int = 1514
    hh_limit: int = 2048
    reset_timeout_ms: int = 40
    admit_bytes: int = 131072
    evict_timeout_ms: int = 1000
    non_hh_weight: int = 2
    jiffy_ps: int = 4 * 10**9
    # Bits of the hash that count.
    mask: int = 2**32 - 1


class Entry:
    def __init__(self, identity: int, hit: int) -> None:
        self.identity = identity
        self.hit = hit


class Hhf:
    def __init__(self, log: Log, settings: Settings) -> None:
        self._log = log
        self._set = settings
        self._counters: list[dict[int, int]] = [{}, {}, {}, {}]
        self._reset_at = 0
        self._table: dict[int, list[Entry]] = {}
        self._fifo: tuple[deque[Arrival], deque[Arrival]] = (deque(), deque())
        self._deficit = [0, 0]
        self._new: list[int] = []
        self._old: list[int] = []

    def __len__(self) -> int:
        return len(self._fifo[HEAVY]) + len(self._fifo[LIGHT])

    def _jiffies(self, ms: int) -> int:
        return -(-ms * 10**9 // self._set.jiffy_ps)

    def _is_old(self, entry: Entry, now: int) -> bool:
        return entry.hit + self._jiffies(self._set.evict_timeout_ms) < now

    def _classify(self, packet: Arrival, now: int) -> int:
        if self._reset_at + self._jiffies(self._set.reset_timeout_ms) < now:
            self._counters = [{}, {}, {}, {}]
            self._reset_at = now
        identity = _split_mix(packet.flow & MASK) >> 32 & self._set.mask
        chain = self._table.setdefault(identity & 1023, [])
        for entry in list(chain):
            if self._is_old(entry, now):
                if entry is chain[-1]:
                    break
                chain.remove(entry)
            elif entry.identity == identity:
                entry.hit = now
                return HEAVY
        places = [identity >> shift & 1023 for shift in (0, 10, 20)]
        places.append(places[0] ^ places[1] ^ places[2] ^ identity >> 30)
        sums = [
            counters.get(place, 0) + packet.size
            for counters, place in zip(self._counters, places, strict=True)
        ]
        least = min(sums)
        if least > self._set.admit_bytes:
            for entry in chain:
                if self._is_old(entry, now):
                    entry.identity = identity
                    entry.hit = now
                    return HEAVY
            if sum(len(entries) for entries in self._table.values()) >= self._set.hh_limit:
                return LIGHT
            chain.append(Entry(identity, now))
            return HEAVY
        for counters, place in zip(self._counters, places, strict=True):
            counters[place] = max(counters.get(place, 0), least)
        return LIGHT

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        bucket = self._classify(packet, now_ps // self._set.jiffy_ps)
        self._fifo[bucket].append(packet)
        if bucket not in self._new and bucket not in self._old:
            (self._old if bucket == HEAVY else self._new).append(bucket)
            self._deficit[bucket] = self._share(bucket)
        if len(self) > self._set.limit:
            victims = self._fifo[HEAVY] or self._fifo[LIGHT]
            self._log.dropped(victims.popleft(), PUSHED_OUT)

    def _share(self, bucket: int) -> int:
        return self._set.quantum * (1 if bucket == HEAVY else self._set.non_hh_weight)

    def dequeue(self, now_ps: int) -> Arrival | None:
        while self._new or self._old:
            buckets = self._new or self._old
            bucket = buckets[0]
            if self._deficit[bucket] <= 0:
                self._deficit[bucket] += self._share(bucket)
                buckets.pop(0)
                self._old.append(bucket)
            elif self._fifo[bucket]:
                packet = self._fifo[bucket].popleft()
                self._deficit[bucket] -= packet.size
                return packet
            else:
                was_new = buckets is self._new
                buckets.pop(0)
                if was_new and self._old:
                    self._old.append(bucket)
        return None


def run(arrivals: Sequence[Arrival], rate_bps: int, settings: Settings) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind the filter."""
    log = Log(arrivals)
    return drive(arrivals, rate_bps, Hhf(log, settings), log)
