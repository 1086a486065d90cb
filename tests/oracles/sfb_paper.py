#!/usr/bin/env python3
"""Stochastic Fair BLUE as its figure and Linux run it: an oracle apart from the implementation.

Source: Feng, Kandlur, Saha and Shin, "Stochastic Fair Blue" (INFOCOM 2001), figure of the
algorithm, from restatements (the paper was not available); for `linux` the behaviour of sch_sfb.c.

A packet belongs to one bin of each level. What the paper leaves open, and how it is read:

* The bin of level l is mix(flow xor key xor l 2^32) modulo the bins, mix being the finalizer of
  SplitMix64; the keys of the two sets of bins are the first two draws of the stream ".../keys".
* Every bin is looked at, then the packet is dropped if one of them was full. "qlen > bin_size" and
  "qlen == 0" are about the queue before the packet. Changes of a bin's p are more than `hold` apart.
* ratelimit(): a packet is let in if the last one let in so is `boxtime` ago or more.
* "with probability p_min": one uniform draw per packet that gets there. Then `limit`.
* Moving hash: after `rehash` the other set is used, whose bins learned of the packets of flows
  with p_min = 1 in the last `warmup`. The set that is laid off gets a new key and p = 0.

linux: probabilities in units of 1/65535, limit first; full is qlen >= bin_size and only raises p; a
packet is dropped if the least full of its bins has `max`; rate limit by tokens counted in
milliseconds; 16 random bits against p_min, above one half also dropped if capable; p is kept in the
set that is laid off.
"""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from replay_io import (
    PS_PER_S,
    Arrival,
    Limit,
    Log,
    Outcome,
    drive,
    parse_limit,
    parse_rate,
    read_arrivals,
    write_outcomes,
)
from streams import MASK, Stream, _split_mix

OVERFLOW = "overlimit"
EARLY = "early"
FORCED = "forced"
PENALTY = "penalty"
PS_PER_MS = PS_PER_S // 1000
ONE = 65535


@dataclass(frozen=True)
class Settings:
    linux: bool = False
    levels: int = 2
    bins: int = 23
    bin_size: int = 13
    max: int | None = None
    d1: float = 0.005
    d2: float = 0.001
    hold_ps: int = 10 * PS_PER_MS
    boxtime_ps: int = 50 * PS_PER_MS
    penalty_rate: int = 10
    penalty_burst: int = 20
    rehash_ps: int | None = None
    warmup_ps: int = PS_PER_S
    limit: Limit = field(default_factory=lambda: Limit(size=200_000))
    ecn: bool = False


LINUX = Settings(
    linux=True,
    levels=8,
    bins=16,
    bin_size=20,
    max=25,
    d1=33 / ONE,
    d2=3 / ONE,
    hold_ps=-1,
    rehash_ps=600 * PS_PER_S,
    warmup_ps=60 * PS_PER_S,
    limit=Limit(packets=1000),
    ecn=True,
)


@dataclass
class Bin:
    qlen: int = 0
    p: float = 0.0
    changed_ps: int = 0


class SfbQueue:
    def __init__(self, log: Log, settings: Settings, draws: Stream, keys: Stream) -> None:
        self._log = log
        self._set = settings
        self._draws = draws
        self._key_draws = keys
        self._keys = [keys.bits(), keys.bits()]
        self._sets = [
            [[Bin() for _ in range(settings.bins)] for _ in range(settings.levels)] for _ in "ab"
        ]
        self._now_set = 0
        self._doubled = False
        self._rehashed_ps = 0
        self._fifo: deque[tuple[Arrival, list[Bin]]] = deque()
        self._bytes = 0
        self._boxed_ps = -(10**18)
        self._tokens = settings.penalty_burst
        self._token_ms = 0

    def __len__(self) -> int:
        return len(self._fifo)

    def dequeue(self, now_ps: int) -> Arrival | None:
        if not self._fifo:
            return None
        packet, bins = self._fifo.popleft()
        self._bytes -= packet.size
        for b in bins:
            b.qlen -= 1
        return packet

    def bins_of(self, flow: int, which: int) -> list[Bin]:
        key = self._keys[which]
        return [
            level[_split_mix((flow ^ key ^ (number << 32)) & MASK) % self._set.bins]
            for number, level in enumerate(self._sets[which])
        ]

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        fits = self._set.limit.admits(len(self._fifo) + 1, self._bytes + packet.size)
        if self._set.linux and not fits:
            self._log.dropped(packet, OVERFLOW)
            return
        self._move(now_ps)
        bins = self.bins_of(packet.flow, self._now_set)
        p_min = self._look(bins, now_ps)
        if self._full(bins):
            self._log.dropped(packet, FORCED if self._set.linux else OVERFLOW)
            return
        marked = False
        if p_min >= self._top():
            if self._doubled:
                other = self.bins_of(packet.flow, 1 - self._now_set)
                self._look(other, now_ps)
                bins = bins + other
            if self._limited(now_ps):
                self._log.dropped(packet, PENALTY)
                return
        else:
            fate = self._draw(p_min, packet)
            if fate == "drop":
                self._log.dropped(packet, EARLY)
                return
            marked = fate == "mark"
        if not fits:
            self._log.dropped(packet, OVERFLOW)
            return
        if marked:
            self._log.marked(packet, EARLY)
        for b in bins:
            b.qlen += 1
        self._fifo.append((packet, bins))
        self._bytes += packet.size

    def _top(self) -> float:
        return ONE if self._set.linux else 1.0

    def _move(self, now_ps: int) -> None:
        if self._set.rehash_ps is None:
            return
        due = self._rehashed_ps + self._set.rehash_ps
        if now_ps > due:
            self._keys[self._now_set] = self._key_draws.bits()
            if not self._set.linux:
                for level in self._sets[self._now_set]:
                    for b in level:
                        b.p = 0.0
            self._now_set = 1 - self._now_set
            self._doubled = False
            self._rehashed_ps = now_ps
        elif self._set.warmup_ps > 0 and now_ps > due - self._set.warmup_ps:
            self._doubled = True

    def _look(self, bins: list[Bin], now_ps: int) -> float:
        up, down = self._set.d1, self._set.d2
        if self._set.linux:
            up, down = float(round(up * ONE)), float(round(down * ONE))
        for b in bins:
            full = b.qlen >= self._set.bin_size if self._set.linux else b.qlen > self._set.bin_size
            if (full or b.qlen == 0) and now_ps - b.changed_ps > self._set.hold_ps:
                b.changed_ps = now_ps
                b.p = min(self._top(), b.p + up) if full else max(0.0, b.p - down)
        return min(b.p for b in bins)

    def _full(self, bins: list[Bin]) -> bool:
        if self._set.linux:
            return self._set.max is not None and min(b.qlen for b in bins) >= self._set.max
        return max(b.qlen for b in bins) > self._set.bin_size

    def _limited(self, now_ps: int) -> bool:
        if not self._set.linux:
            if now_ps - self._boxed_ps < self._set.boxtime_ps:
                return True
            self._boxed_ps = now_ps
            return False
        if self._tokens < 1:
            now_ms = now_ps // PS_PER_MS
            age = min(10_000, now_ms - self._token_ms)
            self._tokens = min(age * self._set.penalty_rate // 1000, self._set.penalty_burst)
            self._token_ms = now_ms
            if self._tokens < 1:
                return True
        self._tokens -= 1
        return False

    def _draw(self, p_min: float, packet: Arrival) -> str:
        capable = self._set.ecn and packet.ecn != 0
        if not self._set.linux:
            if self._draws.uniform() >= p_min:
                return "send"
            return "mark" if capable else "drop"
        r = self._draws.bits() >> 48
        if r >= p_min:
            return "send"
        half = ONE // 2
        if p_min > half and r < (p_min - half) * 2:
            return "drop"
        return "mark" if capable else "drop"


def run(
    arrivals: Sequence[Arrival], rate_bps: int, settings: Settings, seed: int = 1
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind an SFB queue."""
    log = Log(arrivals)
    keys = Stream(seed, name="link/replay/queue/keys")
    return drive(arrivals, rate_bps, SfbQueue(log, settings, Stream(seed), keys), log)


def main() -> None:
    parser = argparse.ArgumentParser(description="SFB by the figure of its paper, or as Linux.")
    parser.add_argument("arrivals", help="CSV with the columns time_ns,bytes,flow,ecn")
    parser.add_argument("--rate", required=True, type=parse_rate, help="link rate, e.g. 10Mbps")
    parser.add_argument("--seed", default=1, type=int)
    parser.add_argument("--linux", action="store_true")
    parser.add_argument("--limit", default=None, type=parse_limit)
    options = parser.parse_args()
    settings = LINUX if options.linux else Settings()
    if options.limit is not None:
        settings = Settings(**{**vars(settings), "limit": options.limit})
    rows = read_arrivals(options.arrivals)
    write_outcomes(run(rows, options.rate, settings, options.seed), sys.stdout)


if __name__ == "__main__":
    main()
