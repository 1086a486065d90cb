"""The oracles of head drop, strict priority and weighted round robin: closed forms and faults."""

from __future__ import annotations

import types

import pytest

import bands_textbook
import compare
import lindley
import oracle_faults
from replay_io import DROPPED, Arrival, Limit, Outcome, arrival

RATE = 10_000_000


@pytest.fixture(scope="module")
def found() -> list[oracle_faults.Case]:
    return oracle_faults.cases(flows=4)


def order(outcomes: list[Outcome]) -> list[int]:
    sent = [row for row in outcomes if row.departure_ps is not None]
    return [row.arrival.flow for row in sorted(sent, key=lambda row: row.departure_ps or 0)]


def at_once(flows: str) -> list[Arrival]:
    return [arrival(i, 0, 1000, int(flow)) for i, flow in enumerate(flows)]


def test_head_drop_sends_the_newest() -> None:
    # Packet 0 goes straight through; of the rest the last three are left.
    rows = bands_textbook.run_head_drop([arrival(i, 0, 1000) for i in range(10)], RATE, 3)
    kept = [row.arrival.index for row in rows if row.verdict != DROPPED]
    assert kept == [0, 7, 8, 9]


def test_head_drop_drops_as_many_as_droptail(found: list[oracle_faults.Case]) -> None:
    for rows, rate in found:
        same = [Arrival(r.index, r.time_ps, 1000, r.flow, 0) for r in rows]
        ours = bands_textbook.run_head_drop(same, rate, 20)
        theirs = lindley.run(same, rate, Limit(packets=20))
        count = [sum(row.verdict == DROPPED for row in fates) for fates in (ours, theirs)]
        assert count[0] == count[1]


def test_one_band_and_one_queue_are_droptail() -> None:
    for rows, rate in oracle_faults.cases(flows=1)[::3]:
        theirs = compare.rows_of(lindley.run(rows, rate, Limit(packets=30)))
        for ours in (
            bands_textbook.run_priority(rows, rate, 1, 30),
            bands_textbook.run_round_robin(rows, rate, [3], 30),
            bands_textbook.run_round_robin(rows, rate, [3], 30, interleaved=True),
        ):
            assert compare.compare(compare.rows_of(ours), theirs) is None


def test_the_orders_are_those_of_the_definitions() -> None:
    rows = at_once("9" + "012" * 9)
    assert order(bands_textbook.run_priority(at_once("3" + "210" * 3), RATE, 4, 99)) == [
        3, 0, 0, 0, 1, 1, 1, 2, 2, 2,
    ]  # fmt: skip
    plain = order(bands_textbook.run_round_robin(rows, RATE, [3, 2, 1], 99))
    assert plain[1:13] == [0, 0, 0, 1, 1, 2] * 2
    interleaved = order(bands_textbook.run_round_robin(rows, RATE, [3, 2, 1], 99, True))
    assert interleaved[1:13] == [0, 1, 2, 0, 1, 0, 2, 1, 0, 1, 0, 0]


FAULTS: dict[str, list[tuple[str, str]]] = {
    "head drop from the tail": [
        ("self._log.dropped(self._fifo.popleft()", "self._log.dropped(self._fifo.pop()")
    ],
    "the last band first": [
        (
            "for band in self._bands:\n            if band",
            "for band in reversed(self._bands):\n            if band",
        )
    ],
    "a band sends its newest": [("return band.pop(0)", "return band.pop()")],
    "a limit over all bands": [("if len(band) >= self._limit", "if len(self) >= self._limit")],
    "flows beyond the bands share the first": [
        ("min(packet.flow, len(self._bands) - 1)", "packet.flow % len(self._bands)")
    ],
    "one packet more in a turn": [
        (
            "elif self._sent[flow] == self._weight(flow)",
            "elif self._sent[flow] == self._weight(flow) + 1",
        )
    ],
    "a turn outlives an empty queue": [
        (
            "            if not self._interleaved:\n                self._sent[packet.flow] = 0\n",
            "            self._sent.setdefault(packet.flow, 0)\n",
        )
    ],
    "a new queue goes first": [
        (
            "            self._order.append(packet.flow)\n",
            "            self._order.insert(0, packet.flow)\n",
        )
    ],
    "interleaved, what was sent is forgotten with the last packet": [
        (
            "        if self._queues[flow]:\n            self._order.append(flow)\n        return",
            "        if self._queues[flow]:\n            self._order.append(flow)\n        else:\n            self._sent[flow] = 0\n        return",
        )
    ],
    "interleaved turns of the whole weight": [
        (
            "        self._order.remove(flow)\n        if self._queues[flow]:\n            self._order.append(flow)",
            "        if not self._queues[flow]:\n            self._order.remove(flow)",
        )
    ],
    "weights in the order of arrival": [
        (
            "self._weights[min(flow, len(self._weights) - 1)]",
            "self._weights[min(list(self._queues).index(flow), len(self._weights) - 1)]",
        )
    ],
}


def all_four(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    fates: list[Outcome] = []
    for outcomes in (
        module.run_head_drop(rows, rate, 10),
        module.run_priority(rows, rate, 3, 10),
        module.run_round_robin(rows, rate, [4, 2, 1], 12),
        module.run_round_robin(rows, rate, [4, 2, 1], 12, True),
    ):
        for row in outcomes:
            packet = Arrival(len(fates), row.arrival.time_ps, row.arrival.size, row.arrival.flow, 0)
            fates.append(Outcome(packet, row.verdict, row.reason, row.departure_ps))
    return fates


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_scheduler_is_exposed(fault: str, found: list[oracle_faults.Case]) -> None:
    assert oracle_faults.exposed(all_four, bands_textbook, FAULTS[fault], found)


def test_an_unedited_copy_agrees(found: list[oracle_faults.Case]) -> None:
    assert not oracle_faults.exposed(all_four, bands_textbook, [], found[:2])
