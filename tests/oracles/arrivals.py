#!/usr/bin/env python3
"""Random arrival processes for the oracles: seeded, in the format of `sojourn replay`.

Every process is a list of arrivals that depends on its arguments only. Times are whole
nanoseconds; load is the mean offered bits per second over the rate.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable

from replay_io import Arrival, arrival, parse_rate, write_arrivals

NS_PER_S = 10**9
SIZES = (40, 128, 576, 1000, 1500)


def poisson(seed: int, rate_bps: int, load: float, packets: int, flows: int = 1) -> list[Arrival]:
    """Exponential gaps, sizes uniform over 40..1500 bytes, flows at random."""
    rng = random.Random(f"poisson/{seed}")
    mean_gap = (40 + 1500) / 2 * 8 / (rate_bps * load) * NS_PER_S
    rows = []
    time = 0.0
    for _ in range(packets):
        time += rng.expovariate(1.0) * mean_gap
        rows.append((round(time), rng.randint(40, 1500), rng.randrange(flows)))
    return _finish(rng, rows)


def bursts(seed: int, rate_bps: int, load: float, packets: int, flows: int = 1) -> list[Arrival]:
    """Flows that are on at up to four times their share and off, with sizes drawn per burst."""
    rng = random.Random(f"bursts/{seed}")
    share = rate_bps * load / flows
    rows: list[tuple[int, int, int]] = []
    for flow in range(flows):
        time = rng.uniform(0, 0.2) * NS_PER_S
        peak = share * rng.uniform(1.5, 4.0)
        count = 0
        while count < packets // flows:
            size = rng.choice(SIZES)
            duration = rng.expovariate(1 / 0.15) * NS_PER_S
            end = time + duration
            while time < end and count < packets // flows:
                rows.append((round(time), size, flow))
                count += 1
                time += size * 8 / peak * NS_PER_S * rng.uniform(0.8, 1.2)
            time = max(time, end) + duration * (peak / share - 1) * rng.uniform(0.5, 1.5)
    return _finish(rng, rows)


def mixed(seed: int, rate_bps: int, load: float, packets: int, flows: int = 4) -> list[Arrival]:
    """Periodic flows of unequal rate and packet size that start at different times."""
    rng = random.Random(f"mixed/{seed}")
    weights = [rng.uniform(0.2, 4.0) for _ in range(flows)]
    sizes = [rng.randint(40, 1500) for _ in range(flows)]
    end = packets * sum(sizes) / flows * 8 / (rate_bps * load) * NS_PER_S
    rows: list[tuple[int, int, int]] = []
    for flow in range(flows):
        rate = rate_bps * load * weights[flow] / sum(weights)
        gap = sizes[flow] * 8 / rate * NS_PER_S
        time = rng.uniform(0, 0.3 * end)
        while time < end and len(rows) < 4 * packets:
            rows.append((round(time), sizes[flow], flow))
            time += gap
    return _finish(rng, rows)


def grid(seed: int, rate_bps: int, load: float, packets: int, flows: int = 1) -> list[Arrival]:
    """Equal packets on a time grid that the service time divides: ties and equalities abound.

    At rates that divide 10 Mbps a 1250-byte packet takes a whole number of milliseconds, so waits
    and instants of arrival, departure, target and interval fall on each other.
    """
    rng = random.Random(f"grid/{seed}")
    size = 1250
    slot = size * 8 * NS_PER_S // rate_bps
    rows: list[tuple[int, int, int]] = []
    step = 0
    busy = True
    while len(rows) < packets:
        for _ in range(rng.randint(20, 400)):
            if busy:
                # Up to four packets a slot, 1.25 at a load of 1.
                for _ in range(min(4, int(rng.expovariate(1.0) * 1.25 * load + 0.5))):
                    rows.append((step * slot, size, rng.randrange(flows)))
            step += 1
        busy = not busy or rng.random() < 0.4
    return _finish(rng, rows[:packets])


PROCESSES: dict[str, Callable[..., list[Arrival]]] = {
    "poisson": poisson,
    "bursts": bursts,
    "mixed": mixed,
    "grid": grid,
}


def _finish(rng: random.Random, rows: list[tuple[int, int, int]]) -> list[Arrival]:
    """In time order, with an ECN codepoint per flow (0 or ECT(0), now and then CE)."""
    rows.sort()
    capable = {flow: rng.random() < 0.5 for flow in sorted({flow for _, _, flow in rows})}
    arrivals = []
    for index, (time_ns, size, flow) in enumerate(rows):
        ecn = 0
        if capable[flow]:
            ecn = 3 if rng.random() < 0.02 else 2
        arrivals.append(arrival(index, time_ns, size, flow, ecn))
    return arrivals


def main() -> None:
    parser = argparse.ArgumentParser(description="Write a random arrival process as CSV.")
    parser.add_argument("process", choices=sorted(PROCESSES))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=parse_rate, default=parse_rate("10Mbps"))
    parser.add_argument("--load", type=float, default=1.2)
    parser.add_argument("--packets", type=int, default=5000)
    parser.add_argument("--flows", type=int, default=4)
    args = parser.parse_args()
    process = PROCESSES[args.process]
    write_arrivals(process(args.seed, args.rate, args.load, args.packets, args.flows), sys.stdout)


if __name__ == "__main__":
    main()
