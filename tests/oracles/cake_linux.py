#!/usr/bin/env python3
"""CAKE's shaper, tins, flow queueing with host isolation and COBALT, as Linux runs them: an oracle.

Sources: T. Høiland-Jørgensen, D. Täht and J. Morton, "Piece of CAKE", LANMAN 2018, for what each part is for, and net/sched/sch_cake.c
of Linux 6.1 for what it does; COBALT has no other definition. No overhead, no ACK filter, no ingress; the hashes are free of
collisions.

* Shaper: the time of the next packet moves on by what the packet takes at the bandwidth; it starts anew at the present when
  a packet meets an empty queue. (The failsafe of the kernel moves faster, and so never decides here.)
* Tins: a DSCP chooses one. Each has a rate, which gives its target, interval and quantum. With a bandwidth the last tin with
  flows that is on schedule is served, else the one that is due first (the later one of equal ones); a packet moves the time of its tin on
  by what it takes at the tin's rate, from the present at least once that time has come. Without a bandwidth tins take turns by
  deficits.
* Isolation: what shares a queue is a flow, a host or a pair of hosts. With both hosts and flows a flow's quantum is divided by the
  number of bulk flows of its source, of its destination or of the busier one, in its tin. A flow is a bulk flow once it has used up
  its quantum and holds more packets; one that is empty then becomes one with its next packet.
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

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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


def word_of(number: int, purpose: int) -> int:
    """Sojourn's hash, SplitMix64's finalizer with a key for flows (0), sources (1) and destinations (2), cut to its upper 32 bits."""
    word = ((number ^ purpose << 60) + 0x9E3779B97F4A7C15) & (2**64 - 1)
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
    return (word ^ (word >> 31)) >> 32


def bucket(flow: int) -> int:
    """The number of the queue of a flow, which are counted from 0 there."""
    return word_of(2 * flow, 0) % 1024


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


def table(tins: dict[int, int], rest: int) -> list[int]:
    return [tins.get(dscp, rest) for dscp in range(64)]


# What the source lists for each DSCP.
EF, VA, TOS4 = 46, 44, 4
VIDEO = (16, *range(18, 23, 2), *range(24, 31, 2), *range(34, 39, 2), TOS4)
TINS: dict[str, list[int]] = {
    "besteffort": table({}, 0),
    "precedence": [dscp >> 3 for dscp in range(64)],
    "diffserv3": table({1: 1, 8: 1, TOS4: 2, VA: 2, EF: 2, 48: 2, 56: 2}, 0),
    "diffserv4": table(
        {1: 1, 8: 1, **dict.fromkeys(VIDEO, 2), **dict.fromkeys((32, 40, VA, EF, 48, 56), 3)}, 0
    ),
    "diffserv8": table(
        {
            1: 0,
            2: 1,
            **dict.fromkeys((8, 10, 12, 14), 1),
            **dict.fromkeys((24, 26, 28, 30, 34, 36, 38), 3),
            **dict.fromkeys((TOS4, 18, 20, 22), 4),
            16: 5,
            **dict.fromkeys((32, 40, VA, EF), 6),
            48: 7,
            56: 7,
        },
        2,
    ),
}


def shares(tins: str, rate: int) -> list[tuple[int, int]]:
    """Rate, in bytes per second, and quantum of each tin."""
    if tins == "besteffort":
        return [(rate, 65535)]
    if tins == "diffserv3":
        return [(rate, 1024), (rate >> 4, 64), (rate >> 2, 256)]
    if tins == "diffserv4":
        return [(rate, 1024), (rate >> 4, 64), (rate >> 1, 512), (rate >> 2, 256)]
    found, quantum = [], 256
    for _ in range(8):
        found.append((rate, quantum))
        rate, quantum = rate * 7 >> 3, quantum * 7 >> 3
    return found


class Flow:
    def __init__(self, rank: int, cobalt: Cobalt, hosts: list[tuple[str, int]]) -> None:
        self.rank = rank
        self.cobalt = cobalt
        # The hosts whose bulk flows count.
        self.hosts = hosts
        self.fifo: deque[Arrival] = deque()
        self.size = 0
        self.deficit = 0
        # "", "sparse", "wait" (empty, in the rotation of bulk flows), "bulk" or "decays".
        self.kind = ""


class Tin:
    def __init__(self, rate: int | None, quantum: int, mtu: int, draws: Stream) -> None:
        self.pace = Pace(rate * 8) if rate is not None else None
        mtu_time = self.pace.span(mtu) if self.pace else 0
        target = max(5_000_000, mtu_time * 3 // 2)
        interval = max(100_000_000 + target - 5_000_000, 2 * target)
        self._cobalt = (interval, target, mtu_time, draws)
        self._draws = draws
        self._quantum = 1514
        if rate is not None:
            self._quantum = min(1514, max(300, rate >> 12))
        self.turn = quantum
        self.deficit = 0
        self.next = 0
        self.packets = 0
        self.flows: dict[object, Flow] = {}
        self._bulk: Counter[tuple[str, int]] = Counter()
        self._new: deque[Flow] = deque()
        self._old: deque[Flow] = deque()
        self._decaying: deque[Flow] = deque()

    def has_flows(self) -> bool:
        return any(flow.kind in ("sparse", "wait", "bulk") for flow in self.flows.values())

    def flow(self, key: object, rank: int, hosts: list[tuple[str, int]]) -> Flow:
        if key not in self.flows:
            assert rank not in [flow.rank for flow in self.flows.values()], "hashes collide"
            self.flows[key] = Flow(rank, Cobalt(*self._cobalt), hosts)
        return self.flows[key]

    def _share(self, flow: Flow) -> int:
        return 65535 // max([1, *(self._bulk[host] for host in flow.hosts)])

    def _become(self, flow: Flow, kind: str) -> None:
        if flow.kind == "bulk":
            self._bulk.subtract(flow.hosts)
        flow.kind = kind
        if kind == "bulk":
            self._bulk.update(flow.hosts)

    def wake(self, flow: Flow) -> None:
        """A packet has come to the flow."""
        if flow.kind == "decays":
            self._decaying.remove(flow)
        if flow.kind in ("decays", ""):
            flow.deficit = self._quantum * self._share(flow) >> 16
            self._become(flow, "sparse")
            self._new.append(flow)
        elif flow.kind == "wait":
            self._become(flow, "bulk")

    def head(self, first: bool) -> deque[Flow] | None:
        """The list whose first flow is in turn."""
        lists = [self._new, self._old]
        lists.insert(0 if first else 2, self._decaying)
        return next((flows for flows in lists if flows), None)

    def grant(self, flows: deque[Flow]) -> None:
        flow = flows.popleft()
        if flow.kind == "sparse":
            self._become(flow, "bulk" if flow.fifo else "wait")
        dither = self._draws.bits() >> 32 >> 16
        flow.deficit += (self._quantum * self._share(flow) + dither) >> 16
        self._old.append(flow)

    def retire(self, flows: deque[Flow], now: int) -> None:
        flow = flows.popleft()
        flow.cobalt.empty(now)
        rests = flow.cobalt.at_rest(now)
        self._become(flow, "" if rests else "decays")
        if not rests:
            self._decaying.append(flow)

    def charge(self, flow: Flow, size: int, now: int) -> None:
        if self.pace:
            span = self.pace.span(size)
            if self.next < now:
                self.next += span
            elif self.next < now + span:
                self.next = now + span
        flow.deficit -= size
        self.deficit -= size


@dataclass(frozen=True)
class Kinds:
    """What the packets of each flow are: DSCP, source and destination; and their order among all flows."""

    dscps: Mapping[int, int] = field(default_factory=dict)
    hosts: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    flows: Sequence[int] = ()

    def nodes(self, flow: int) -> tuple[int, int]:
        """As `sojourn replay` numbers them: behind the flows' own."""
        source, destination = self.hosts[flow]
        first = 2 + len(self.flows)
        return first + source, first + destination


class CakeQueue:
    def __init__(
        self,
        log: Log,
        bandwidth: int | None,
        limit: int,
        seed: int,
        mtu: int = 1514,
        tins: str = "besteffort",
        isolation: str = "flows",
        kinds: Kinds | None = None,
    ) -> None:
        self._log = log
        draws = Stream(seed, 0, SCHEDULER)
        rate = bandwidth // 8 if bandwidth is not None else None
        self._tins = [
            Tin(of_rate if rate is not None else None, max(1, quantum), mtu, draws)
            for of_rate, quantum in shares(tins, rate or 0)
        ]
        self._pace = self._tins[0].pace
        self._table = TINS[tins]
        self._isolation = isolation
        self._kinds = kinds or Kinds()
        self._limit = limit
        self._current = 0
        self._next = 0
        self._packets = 0
        self._memory = 0

    def __len__(self) -> int:
        return self._packets

    def _flow_of(self, tin: Tin, packet: Arrival) -> Flow:
        if self._isolation == "flows":
            return tin.flow(packet.flow, bucket(packet.flow), [])
        if self._isolation == "flowblind":
            return tin.flow(0, 0, [])
        source, destination = self._kinds.nodes(packet.flow)
        if self._isolation == "srchost":
            return tin.flow(source, word_of(source, 1) % 1024, [])
        if self._isolation == "dsthost":
            return tin.flow(destination, word_of(destination, 2) % 1024, [])
        if self._isolation == "hosts":
            rank = (word_of(source, 1) ^ word_of(destination, 2)) % 1024
            return tin.flow((source, destination), rank, [])
        counted = {"dual-srchost": "s", "dual-dsthost": "d", "triple-isolate": "sd"}
        ends = [("s", source), ("d", destination)]
        hosts = [end for end in ends if end[0] in counted[self._isolation]]
        own = self._kinds.flows.index(packet.flow)
        return tin.flow(packet.flow, word_of(2 * own, 0) % 1024, hosts)

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        now = ns(now_ps)
        tin = self._tins[self._table[self._kinds.dscps.get(packet.flow, 0)]]
        flow = self._flow_of(tin, packet)
        if tin.packets == 0:
            tin.next = max(tin.next, now)
        if self._packets == 0:
            self._next = max(self._next, now)
        self._count(tin, flow, packet, 1)
        flow.fifo.append(packet)
        tin.wake(flow)
        while self._memory > self._limit:
            # The longest; of equal ones that of the lowest number.
            everyone = [
                (flow.size, -number, -flow.rank, tin, flow)
                for number, tin in enumerate(self._tins)
                for flow in tin.flows.values()
            ]
            *_, longest, victim = max(everyone, key=lambda entry: entry[:3])
            dropped = victim.fifo.popleft()
            self._count(longest, victim, dropped, -1)
            victim.cobalt.full(now)
            self._log.dropped(dropped, OVERFLOW)

    def _tin_in_turn(self, now: int) -> Tin:
        if self._pace:
            best = None
            for tin in self._tins:
                wait = tin.next - now
                if tin.has_flows() and (best is None or wait <= 0 or wait <= best[0]):
                    best = (wait, tin)
            assert best is not None, "packets wait in no flow"
            return best[1]
        while True:
            tin = self._tins[self._current]
            if tin.deficit >= 0 and tin.has_flows():
                return tin
            if tin.deficit <= 0:
                tin.deficit += tin.turn
            self._current = (self._current + 1) % len(self._tins)

    def dequeue(self, now_ps: int) -> Arrival | None:
        now = ns(now_ps)
        first = True
        while self._packets:
            if self._pace and self._next > now:
                return None
            tin = self._tin_in_turn(now)
            while (heads := tin.head(first)) is not None:
                first = False
                flow = heads[0]
                if flow.deficit <= 0:
                    tin.grant(heads)
                    continue
                packet = self._give(tin, flow, now)
                if packet is None:
                    tin.retire(heads, now)
                    break
                tin.charge(flow, packet.size, now)
                if self._pace:
                    self._next += self._pace.span(packet.size)
                return packet
        return None

    def _give(self, tin: Tin, flow: Flow, now: int) -> Arrival | None:
        while flow.fifo:
            packet = flow.fifo.popleft()
            self._count(tin, flow, packet, -1)
            sojourn = now - ns(packet.time_ps)
            marked, reason = flow.cobalt.signal(now, sojourn, packet.ecn != 0)
            if reason is None or not flow.fifo:
                if marked:
                    self._log.marked(packet, CODEL)
                return packet
            self._log.dropped(packet, reason)
        return None

    def _count(self, tin: Tin, flow: Flow, packet: Arrival, sign: int) -> None:
        flow.size += sign * packet.size
        tin.packets += sign
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
    tins: str = "besteffort",
    isolation: str = "flows",
    kinds: Kinds | None = None,
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind CAKE with this bandwidth, None for no shaper."""
    log = Log(arrivals)
    queue = CakeQueue(log, bandwidth, limit, seed, tins=tins, isolation=isolation, kinds=kinds)
    return drive(arrivals, link_bps, queue, log)
