#!/usr/bin/env python3
"""QFQ and QFQ+ with sets and sorted lists in place of bitmaps and slots: a slow oracle.

Sources: Checconi, Rizzo and Valente, "QFQ: Efficient Packet Scheduling with Tight Guarantees",
IEEE/ACM ToN 21(3), 2013 (QFQ: flows with virtual start S and finish F, groups of flows by the power
of two above L / w, group timestamps rounded to it; the group of least index among those that are
eligible and ready is served); Valente, "Reducing the Execution Time of Fair-Queueing Schedulers"
(QFQ+: aggregates of flows, a budget for each, DRR within); Linux net/sched/sch_qfq.c of 3.0 for the
order of QFQ's steps and of today for QFQ+'s.

States by their definition: a group is eligible when S <= V, and blocked when a group of a higher
index that is eligible and ready has a smaller F. States are set when a group's timestamps change,
when V has moved at a decision, and when the group that blocked is served, as the papers do.
Arithmetic: 30 binary places, whole numbers. Groups: sigma = 2^(shift + i).

A packet longer than lmax counts as lmax in F, as the papers promise nothing for it.

Weights are by flow number, the last one that of all beyond; a flow exists from its first packet on.
"""

from __future__ import annotations

from collections.abc import Sequence

from replay_io import Arrival, Log, Outcome, drive

ONE = 1 << 30
REFUSED = "overlimit"


class Aggregate:
    def __init__(self, weight: int, name: int) -> None:
        self.weight = weight
        self.name = name
        self.size = 0
        self.start = 0
        self.finish = 0
        self.inverse = 0
        self.most = 0
        self.initial = 0
        self.budget = 0
        self.group = -1
        self.active: list[int] = []


class Group:
    def __init__(self, sigma: int) -> None:
        self.sigma = sigma
        self.start = 0
        self.finish = 0
        # Rounded start and order of insertion, the latest first among equals.
        self.members: list[tuple[int, int, Aggregate]] = []

    def front(self) -> Aggregate:
        return min(self.members, key=lambda member: (member[0], -member[1]))[2]


class Qfq:
    """`aggregate` flows share an aggregate with a budget; with `plus` False each packet is one."""

    def __init__(
        self, log: Log, weights: Sequence[int], limit: int, lmax: int, aggregate: int, plus: bool
    ) -> None:
        self._log = log
        self._weights = weights
        self._limit = limit
        self._lmax = lmax
        self._aggregate = aggregate
        self._plus = plus
        self._shift = 30 + 16 + (aggregate.bit_length() - 1) - 24
        self._fifo: dict[int, list[Arrival]] = {}
        self._deficit: dict[int, int] = {}
        self._agg: dict[int, Aggregate] = {}
        self._open: list[Aggregate] = []
        self._groups: dict[int, Group] = {}
        self._state: dict[int, str] = {}
        self._v = 0
        self._wsum = 0
        self._inserted = 0
        self._serving: Aggregate | None = None

    def __len__(self) -> int:
        return sum(len(queue) for queue in self._fifo.values())

    # Flows and aggregates.

    def _add_flow(self, flow: int) -> None:
        weight = self._weights[min(flow, len(self._weights) - 1)]
        agg = next((a for a in reversed(self._open) if a.weight == weight), None)
        if agg is None:
            agg = Aggregate(weight, flow)
            self._open.append(agg)
        agg.size += 1
        if agg.size == self._aggregate:
            self._open.remove(agg)
        agg.most = agg.size * self._lmax
        agg.inverse = ONE // (agg.size * weight)
        self._wsum += weight
        if agg.group < 0:
            length = agg.most * agg.inverse
            index = 0
            while 1 << (index + self._shift) < length:
                index += 1
            agg.group = index
            self._groups.setdefault(index, Group(1 << (index + self._shift)))
        self._fifo[flow] = []
        self._agg[flow] = agg

    # Groups and their states.

    def _in(self, state: str, low: int) -> list[int]:
        return sorted(i for i, s in self._state.items() if s == state and i >= low)

    def _place(self, index: int) -> None:
        group = self._groups[index]
        self._state.pop(index, None)
        ready = self._in("ER", index)
        blocked = bool(ready) and group.finish > self._groups[ready[0]].finish
        self._state[index] = ("E" if group.start <= self._v else "I") + ("B" if blocked else "R")

    def _unblock(self, index: int, old_finish: int) -> None:
        ready = self._in("ER", index + 1)
        if ready and self._groups[ready[0]].finish <= old_finish:
            return
        for other, state in list(self._state.items()):
            if other < index:
                self._state[other] = state[0] + "R"

    def _refresh(self) -> None:
        """V may have moved: some groups are eligible now; if none is, V jumps."""
        late = sorted(self._in("IR", 0) + self._in("IB", 0))
        if late and not self._in("ER", 0):
            self._v = max(self._v, self._groups[late[0]].start)
        for index in late:
            if self._groups[index].start <= self._v:
                self._state[index] = "E" + self._state[index][1]

    def _start_of(self, agg: Aggregate) -> int:
        sigma = self._groups[agg.group].sigma
        rounded = agg.finish // sigma * sigma
        limit = self._v // sigma * sigma + sigma
        if agg.finish > self._v and rounded <= limit:
            return agg.finish
        ready = self._in("ER", agg.group)
        if ready and rounded > self._groups[ready[0]].finish:
            return min(limit, self._groups[ready[0]].finish)
        return self._v

    def _insert(self, agg: Aggregate) -> None:
        group = self._groups[agg.group]
        rounded = agg.start // group.sigma * group.sigma
        if not group.members or group.start > agg.start:
            if not group.members and not self._in("ER", 0) and self._serving is None:
                self._v = max(self._v, rounded)
            group.start = rounded
            group.finish = rounded + 2 * group.sigma
            self._place(agg.group)
        slot = (rounded - group.start) // group.sigma
        if slot > 30:
            back = rounded - group.start - 30 * group.sigma
            agg.start -= back
            agg.finish -= back
            rounded -= back
        self._inserted += 1
        group.members.append((rounded, self._inserted, agg))

    def _take(self, index: int) -> Aggregate:
        """Remove the front of a group, and put the group where it belongs then."""
        group = self._groups[index]
        agg = group.front()
        group.members = [member for member in group.members if member[2] is not agg]
        self._settle(index)
        return agg

    def _settle(self, index: int) -> None:
        group = self._groups[index]
        old_finish = group.finish
        if not group.members:
            del self._state[index]
        else:
            sigma = group.sigma
            rounded = group.front().start // sigma * sigma
            if rounded == group.start:
                return
            group.start = rounded
            group.finish = rounded + 2 * sigma
            self._place(index)
        self._unblock(index, old_finish)

    # The link's calls.

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        flow = packet.flow
        if flow not in self._fifo:
            self._add_flow(flow)
        queue = self._fifo[flow]
        if len(queue) >= self._limit:
            self._log.dropped(packet, REFUSED)
            return
        queue.append(packet)
        if len(queue) > 1:
            return
        agg = self._agg[flow]
        self._deficit[flow] = self._lmax
        agg.active.append(flow)
        if agg.active[0] != flow or (self._plus and agg is self._serving):
            return
        agg.initial = agg.budget = agg.most if self._plus else min(packet.size, self._lmax)
        agg.start = self._start_of(agg)
        agg.finish = agg.start + agg.initial * agg.inverse
        if self._plus and self._serving is None:
            self._serving = agg
            self._v = agg.start
        else:
            self._insert(agg)

    def dequeue(self, now_ps: int) -> Arrival | None:
        return self._dequeue_plus() if self._plus else self._dequeue_qfq()

    def _dequeue_qfq(self) -> Arrival | None:
        ready = self._in("ER", 0)
        if not ready:
            return None
        index = ready[0]
        group = self._groups[index]
        agg = group.front()
        flow = agg.active[0]
        packet = self._fifo[flow].pop(0)
        self._v += packet.size * (ONE // self._wsum)
        agg.start = agg.finish
        entry = next(member for member in group.members if member[2] is agg)
        if self._fifo[flow]:
            agg.finish = agg.start + min(self._fifo[flow][0].size, self._lmax) * agg.inverse
            rounded = agg.start // group.sigma * group.sigma
            if rounded != group.start:
                group.members.remove(entry)
                slot = min((rounded - group.start) // group.sigma, 30)
                back = rounded - group.start - slot * group.sigma
                agg.start -= back
                agg.finish -= back
                self._inserted += 1
                group.members.append((rounded - back, self._inserted, agg))
                self._settle(index)
        else:
            agg.active.clear()
            group.members.remove(entry)
            self._settle(index)
        self._refresh()
        return packet

    def _dequeue_plus(self) -> Arrival | None:
        agg = self._serving
        if agg is None:
            return None
        if not agg.active or agg.budget < self._fifo[agg.active[0]][0].size:
            used = min(agg.most, agg.initial - agg.budget)
            agg.finish = agg.start + used * agg.inverse
            agg.initial = agg.budget = agg.most
            if agg.active:
                agg.start = agg.finish
                agg.finish = agg.start + agg.most * agg.inverse
                self._insert(agg)
            elif len(self) == 0:
                self._serving = None
                return None
            self._refresh()
            agg = self._serving = self._take(self._in("ER", 0)[0])
        flow = agg.active[0]
        queue = self._fifo[flow]
        packet = queue.pop(0)
        self._deficit[flow] -= packet.size
        if not queue:
            agg.active.pop(0)
        elif self._deficit[flow] < queue[0].size:
            self._deficit[flow] += self._lmax
            agg.active.append(agg.active.pop(0))
        agg.budget = max(agg.budget - packet.size, 0)
        self._v += packet.size * (ONE // self._wsum)
        return packet


def run(
    arrivals: Sequence[Arrival],
    rate_bps: int,
    weights: Sequence[int],
    limit: int,
    plus: bool,
    lmax: int = 1514,
    aggregate: int | None = None,
) -> list[Outcome]:
    """What becomes of every arrival under QFQ, or QFQ+ with aggregates of eight."""
    log = Log(arrivals)
    size = aggregate or (8 if plus else 1)
    return drive(arrivals, rate_bps, Qfq(log, weights, limit, lmax, size, plus), log)
