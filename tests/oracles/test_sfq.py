"""The oracle of SFQ against closed forms and planted faults."""

from __future__ import annotations

import types

import pytest

import compare
import drr_paper
import lindley
import sfq_paper
from replay_io import DROPPED, Arrival, Limit, Outcome, arrival
from test_oracles import RATE, Case, Edits, at_once, cases, exposes, faulty, order


@pytest.fixture(scope="module")
def many_flows() -> list[Case]:
    return cases(flows=5)


def dropped(outcomes: list[Outcome]) -> list[int]:
    return [row.arrival.index for row in outcomes if row.verdict == DROPPED]


def test_without_a_limit_one_flow_is_droptail() -> None:
    for rows, rate in cases(flows=1):
        ours = compare.rows_of(sfq_paper.run(rows, rate, Limit()))
        theirs = compare.rows_of(lindley.run(rows, rate, Limit()))
        assert compare.compare(ours, theirs) is None


def test_queues_send_a_packet_in_turn_whatever_its_size() -> None:
    rows = at_once({0: [1500] * 4, 1: [100] * 3, 2: [700] * 3})
    assert order(sfq_paper.run(rows, RATE, Limit())) == [0, 0, 1, 2, 0, 1, 2, 0, 1, 2]


def test_equal_packets_are_shared_to_within_two(many_flows: list[Case]) -> None:
    seen = 0
    for rows, rate in many_flows:
        equal = [arrival(p.index, p.time_ps // 1000, 1000, p.flow, p.ecn) for p in rows]
        worst = drr_paper.worst_unfairness(sfq_paper.run(equal, rate, Limit()), 1000)
        if worst is not None:
            assert worst.lead <= 2000, str(worst)
            seen = max(seen, worst.lead)
    assert seen >= 1000


@pytest.mark.parametrize(("drop", "expected"), [("tail", [3]), ("head", [1])])
def test_the_longest_queue_loses_the_packet_at_the_end_it_is_told(
    drop: str, expected: list[int]
) -> None:
    rows = at_once({0: [100] * 4, 1: [1500], 2: [100]})
    assert dropped(sfq_paper.run(rows, RATE, Limit(packets=4), drop)) == expected


FAULTS: dict[str, Edits] = {
    "a new queue goes first": [
        ("self._round.append(packet.flow)", "self._round.appendleft(packet.flow)")
    ],
    "the queue goes on": [
        ("            self._round.append(flow)\n", "            self._round.appendleft(flow)\n")
    ],
    "from the shortest queue": [
        ("max(self._queues, key", "min((f for f, q in self._queues.items() if q), key")
    ],
    "length in bytes always": [
        ("length = len if self._limit.in_packets else size_of", "length = size_of")
    ],
    "from the other end": [('if self._drop == "tail"', 'if self._drop != "tail"')],
    "limit one lower": [("admits(len(self) + 1, ", "admits(len(self) + 2, ")],
    "of equals the one seen last": [
        ("flow = max(self._queues,", "flow = max(reversed(self._queues),")
    ],
    "an emptied queue keeps its turn": [
        ("            self._round.remove(flow)", "            pass"),
    ],
}


def case(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    limit = {RATE: Limit(size=12_000), 1_000_000: Limit(packets=2)}.get(rate, Limit(packets=20))
    outcomes: list[Outcome] = module.run(rows, rate, limit)
    return outcomes


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_sfq_is_exposed(fault: str, many_flows: list[Case]) -> None:
    assert exposes(case, faulty(sfq_paper, *FAULTS[fault]), sfq_paper, many_flows)


def test_an_unedited_copy_agrees(many_flows: list[Case]) -> None:
    assert not exposes(case, faulty(sfq_paper), sfq_paper, many_flows[:4])
