#!/usr/bin/env python3
"""FRED as the pseudo-code of its paper runs it: an oracle apart from the implementation.

Source: Lin and Morris, "Dynamics of Random Early Detection" (SIGCOMM 1997), by three
implementations that follow its pseudo-code line by line (J-Sim's FRED.java, a port of ns-2's to
ns-3, a module for Linux), and the settings as a textbook lists them; the paper was not available.
Names follow the paper. What is left open, and how it is read:

* q is what waits, without the packet in transmission. q_time is when the last packet left the
  queue, or when an arrival that found nothing brought avg up to date.
* f(time - q_time) is that time over the transmission time of a packet of `avpkt` bytes, not rounded.
* On acceptance Nactive grows before the average is calculated, and q is without the new packet. On
  departure q is without the packet that left, and its flow's qlen shrinks after the calculation.
* Line B asks for more than twice avgcq (one of the three has "or as many").
* Block C, by which every packet is dropped while avg >= max_th, does not hold with `two_packets`:
  there block A leaves each flow two packets.
* One uniform draw for each packet that reaches the random drop; it is dropped below p_a.
* The limit is tested last.
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
from streams import Stream

OVERFLOW = "overlimit"
EARLY = "early"
FORCED = "forced"


@dataclass(frozen=True)
class Settings:
    min_th: float = 25.0
    max_th: float = 50.0
    min_q: int = 2
    max_p: float = 0.02
    w_q: float = 0.002
    limit: Limit = field(default_factory=lambda: Limit(packets=100))
    two_packets: bool = False
    avpkt: int = 1000


@dataclass
class State:
    """The state table of a flow; there is one while the flow has packets."""

    qlen: int = 0
    strike: int = 0


class FredQueue:
    def __init__(self, log: Log, rate_bps: int, settings: Settings, draws: Stream) -> None:
        self._log = log
        self._set = settings
        self._draws = draws
        self._fifo: deque[Arrival] = deque()
        self._bytes = 0
        self._packet_s = settings.avpkt * 8 / rate_bps
        self._table: dict[int, State] = {}
        self._nactive = 0
        self._avg = 0.0
        self._avgcq = 1.0
        self._count = -1
        self._q_time = 0

    def __len__(self) -> int:
        return len(self._fifo)

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        state = self._table.get(packet.flow, State())
        if not self._fifo:
            self._average(now_ps, departed=False)
        chosen = self._chosen(state)
        if chosen is not None:
            self._log.dropped(packet, chosen)
            return
        if not self._set.limit.admits(len(self._fifo) + 1, self._bytes + packet.size):
            self._log.dropped(packet, OVERFLOW)
            return
        if state.qlen == 0:
            self._nactive += 1
            self._table[packet.flow] = state
        self._average(now_ps, departed=False)
        state.qlen += 1
        self._fifo.append(packet)
        self._bytes += packet.size

    def dequeue(self, now_ps: int) -> Arrival | None:
        if not self._fifo:
            return None
        packet = self._fifo.popleft()
        self._bytes -= packet.size
        self._average(now_ps, departed=True)
        state = self._table[packet.flow]
        state.qlen -= 1
        if state.qlen == 0:
            self._nactive -= 1
            del self._table[packet.flow]
        return packet

    def _chosen(self, state: State) -> str | None:
        """Why the packet is to be dropped, if it is."""
        min_th, max_th = self._set.min_th, self._set.max_th
        maxq = 2 if self._avg >= max_th else min_th
        if (
            state.qlen >= maxq
            or (self._avg >= max_th and state.qlen > 2 * self._avgcq)
            or (state.qlen >= self._avgcq and state.strike > 1)
        ):
            state.strike += 1
            return FORCED
        if min_th <= self._avg < max_th:
            self._count += 1
            if state.qlen >= max(self._set.min_q, self._avgcq):
                p_b = self._set.max_p * (self._avg - min_th) / (max_th - min_th)
                rest = 1 - self._count * p_b
                p_a = min(p_b / rest, 1.0) if rest > 0 else 1.0
                if self._draws.uniform() < p_a:
                    self._count = 0
                    return EARLY
            return None
        if self._avg < min_th:
            self._count = -1
            return None
        self._count = 0
        return None if self._set.two_packets else FORCED

    def _average(self, now_ps: int, *, departed: bool) -> None:
        q = len(self._fifo)
        w_q = self._set.w_q
        if q or departed:
            self._avg = (1 - w_q) * self._avg + w_q * q
        else:
            m = (now_ps - self._q_time) / PS_PER_S / self._packet_s
            self._avg *= (1 - w_q) ** m
            self._q_time = now_ps
        self._avgcq = max(self._avg / self._nactive if self._nactive else self._avg, 1.0)
        if q == 0 and departed:
            self._q_time = now_ps


def run(
    arrivals: Sequence[Arrival], rate_bps: int, settings: Settings, seed: int = 1
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind a FRED queue."""
    log = Log(arrivals)
    return drive(arrivals, rate_bps, FredQueue(log, rate_bps, settings, Stream(seed)), log)


def main() -> None:
    parser = argparse.ArgumentParser(description="FRED by the pseudo-code of its paper.")
    parser.add_argument("arrivals", help="CSV with the columns time_ns,bytes,flow,ecn")
    parser.add_argument("--rate", required=True, type=parse_rate, help="link rate, e.g. 10Mbps")
    parser.add_argument("--min-th", default=25.0, type=float)
    parser.add_argument("--max-th", default=50.0, type=float)
    parser.add_argument("--min-q", default=2, type=int)
    parser.add_argument("--max-p", default=0.02, type=float)
    parser.add_argument("--w-q", default=0.002, type=float)
    parser.add_argument("--limit", default=Limit(packets=100), type=parse_limit)
    parser.add_argument("--two-packets", action="store_true")
    parser.add_argument("--seed", default=1, type=int)
    options = vars(parser.parse_args())
    arrivals, rate, seed = (options.pop(name) for name in ("arrivals", "rate", "seed"))
    write_outcomes(run(read_arrivals(arrivals), rate, Settings(**options), seed), sys.stdout)


if __name__ == "__main__":
    main()
