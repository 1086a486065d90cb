"""Linux 6.1's CAKE on one UDP flow: traces as arrivals and expected fates.

Recorded as the other traces of tests/data/linux-6.1, but with `cake bandwidth 10Mbit besteffort` as the root discipline, so that
nothing of htb is in them: time = send_ns + half the round trip, and the link behind is as fast as can be. Waits are compared within
8 us. What Linux decided after the last arrival of a trace depends on arrivals that are not in it.

* TIES: the decision falls within a microsecond of COBALT's next signal, and Linux's clock, in steps of 256 ns, has it on the other side.
* At twice the rate the limit of 4 MiB of memory is reached after 1.3 s. From then on BLUE draws at random, and the trace
  is one sample: packets are compared up to FULL_FROM, and the drops over many seeds.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Sequence

from compare import Row
from linux_traces import DATA, FRAME_OVERHEAD, HALF_RTT_NS, WAIT_TOLERANCE_NS
from replay_io import DROPPED, Arrival, arrival

LINK = "10000Gbps"
LINK_BPS = 10**13
BANDWIDTH = 10_000_000
SPEC = "cake bandwidth=10Mbps tins=besteffort"
TIES = {"udp_cake_cbr1.2_s1": (5183, 5184, 9907)}
FULL_FROM = {"udp_cake_cbr2.0_s1": 2169}
TRACES = ("udp_cake_burst2.0_s1", "udp_cake_cbr1.2_s1", "udp_cake_cbr2.0_s1")


def load(name: str) -> tuple[list[Arrival], list[int | None]]:
    """The arrivals, and the wait of each in ns, None for a drop."""
    with gzip.open(DATA / f"{name}.csv.gz", "rt", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    arrivals = [
        arrival(i, int(row["send_ns"]) + HALF_RTT_NS, int(row["udp_payload"]) + FRAME_OVERHEAD)
        for i, row in enumerate(rows)
    ]
    waits = [int(row["wait_ns"]) for row in rows]
    return arrivals, [wait if wait >= 0 else None for wait in waits]


def differing(
    name: str, arrivals: Sequence[Arrival], waits: Sequence[int | None], rows: Sequence[Row]
) -> list[int]:
    """Indices of the packets that met another fate than in Linux, of those that are compared."""
    end = arrivals[-1].time_ps // 1000
    found = []
    for i, (wait, row) in enumerate(zip(waits, rows, strict=True)):
        late = wait is not None and row.time_ns + wait > end
        if late or i in TIES.get(name, ()) or i >= FULL_FROM.get(name, len(rows)):
            continue
        if wait is None or row.sojourn_ns is None:
            same = wait is None and row.verdict == DROPPED
        else:
            same = abs(wait - row.sojourn_ns) <= WAIT_TOLERANCE_NS
        if not same:
            found.append(i)
    return found


def four_flows() -> tuple[list[Arrival], list[int]]:
    """Four constant rates at 2.2 times the bandwidth for 30 s, and what Linux delivers of each."""
    gaps = (8_101_357, 4_013_779, 1_997_243, 1_009_333)
    starts = [flow * 123_457 for flow in range(4)]
    rows = sorted(
        (time, flow)
        for flow, gap in enumerate(gaps)
        for time in range(starts[flow], 30 * 10**9, gap)
    )
    return [arrival(i, time, 1514, flow) for i, (time, flow) in enumerate(rows)], [
        3704,
        7024,
        7024,
        7023,
    ]


def deliveries(rows: Sequence[Row]) -> list[int]:
    """Packets sent of each of the four flows."""
    sent = [row.flow for row in rows if row.verdict != DROPPED]
    return [sent.count(flow) for flow in range(4)]
