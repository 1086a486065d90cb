"""The oracle of SRR against closed forms and planted faults."""

from __future__ import annotations

import random
import types
from collections.abc import Sequence

import pytest

import compare
import drr_paper
import ns2_srr
import srr_guo
from replay_io import Arrival, Limit, Outcome, arrival
from test_oracles import RATE, Case, Edits, at_once, cases, exposes, faulty, order

# The weights of the example that Southerington's review gives for the paper.
EXAMPLE = (5, 2, 2, 3, 1)
EXAMPLE_ORDER = [1, 2, 3, 4, 1, 1, 4, 5, 1, 2, 3, 4, 1]


@pytest.fixture(scope="module")
def many_flows() -> list[Case]:
    return cases(flows=5)


def test_the_sequence_is_the_recursion() -> None:
    assert srr_guo.spread(1) == (1,)
    assert srr_guo.spread(4) == (1, 2, 1, 3, 1, 2, 1, 4, 1, 2, 1, 3, 1, 2, 1)
    assert len(srr_guo.spread(10)) == 2**10 - 1
    # In closed form: a term is one more than the number of times that 2 divides its place.
    assert all(
        term == (place & -place).bit_length() for place, term in enumerate(srr_guo.spread(10), 1)
    )


def test_a_term_appears_as_often_as_its_column_is_worth() -> None:
    for k in range(1, 8):
        assert [srr_guo.spread(k).count(i) for i in range(1, k + 1)] == [
            2 ** (k - i) for i in range(1, k + 1)
        ]


def run_srr(
    sizes: dict[int, list[int]], weights: Sequence[int], quantum: int = 1000, ns2: bool = False
) -> list[int]:
    rows = at_once(sizes)
    return order(srr_guo.run(rows, RATE, quantum, weights, Limit(), ns2=ns2))


def test_the_papers_example_is_served_in_its_order() -> None:
    # Flow 0 occupies the link while the five flows of the example arrive; it is gone by then.
    weights = (1, *EXAMPLE)
    sizes = {0: [1000], **{flow: [1000] * 200 for flow in range(1, 6)}}
    assert run_srr(sizes, weights)[: 1 + 3 * 13] == [0, *EXAMPLE_ORDER * 3]


def test_every_round_gives_each_flow_its_weight() -> None:
    weights = (1, 9, 4, 7, 1, 16)
    sizes = {0: [1000], **{flow: [1000] * 100 for flow in range(1, 6)}}
    served = run_srr(sizes, weights)[1:]
    round_length = sum(weights[1:])
    for start in range(0, 4 * round_length, round_length):
        part = served[start : start + round_length]
        assert [part.count(flow) for flow in range(1, 6)] == list(weights[1:])


@pytest.mark.parametrize("quantum", [100, 700, 1500, 4000])
def test_equal_weights_are_served_as_drr_serves_them(quantum: int) -> None:
    # From a common start; later a flow joins at the end of its column, in DRR behind the one in turn.
    rng = random.Random(quantum)
    rows = at_once({flow: [rng.randint(40, 1500) for _ in range(40)] for flow in range(6)})
    ours = srr_guo.run(rows, RATE, quantum, (1,), Limit())
    theirs = drr_paper.run(rows, RATE, quantum, Limit())
    assert compare.compare(compare.rows_of(ours), compare.rows_of(theirs)) is None


def test_ns2_serves_the_first_flow_before_the_sequence_begins() -> None:
    sizes = {0: [1000] * 9, 1: [1000] * 9}
    assert run_srr(sizes, (2, 1), 2000)[:7] == [0, 0, 0, 1, 1, 0, 0]
    assert run_srr(sizes, (2, 1), 2000, ns2=True)[:7] == [0, 0, 0, 0, 1, 1, 0]


def test_ns2_has_one_queue_unless_flows_are_assigned() -> None:
    rows = at_once({0: [1000] * 3, 1: [1000] * 3})
    assert order(srr_guo.run(rows, RATE, 1000, (1,), Limit(), [0], None, True)) == [0] * 3 + [1] * 3


def test_ns2_counts_the_packet_in_transmission_in_its_queue() -> None:
    rows = [arrival(i, 0, 1000) for i in range(5)]
    outcomes = srr_guo.run(rows, RATE, 1000, (1,), Limit(), [0], 3, True)
    assert [row.departure_ps is None for row in outcomes] == [False] * 3 + [True] * 2


FAULTS: dict[str, Edits] = {
    "columns in the wrong order": [
        ("self._visit = (order - value, 0)", "self._visit = (value - 1, 0)")
    ],
    "the last term is left out": [("self._term < 2**order - 1", "self._term < 2**order - 2")],
    "a quantum for each packet": [
        ("            if not flow.in_turn:\n", "            if True:\n"),
    ],
    "a flow keeps its deficit when it empties": [
        (
            "        flow.in_matrix = True\n        flow.in_turn = False\n        flow.deficit = 0",
            "        flow.in_matrix = True\n        flow.in_turn = False",
        ),
        (
            "        flow.in_matrix = False\n        flow.in_turn = False\n        flow.deficit = 0",
            "        flow.in_matrix = False\n        flow.in_turn = False",
        ),
    ],
    "new flows at the head of their columns": [
        ("self._columns[column].append(flow)", "self._columns[column].insert(0, flow)")
    ],
    "the place in the sequence is kept when columns come": [
        ("self._term *= 2 ** (order - len(self._columns))", "pass")
    ],
    "the place in the sequence is cut when columns go": [
        (
            "self._term = -(-self._term // 2 ** (old - order))",
            "self._term = max(1, self._term // 2 ** (old - order))",
        )
    ],
    "weights are one lower": [("self.weight = weight\n", "self.weight = max(1, weight - 1)\n")],
}


def case(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    outcomes: list[Outcome] = module.run(rows, rate, 700, (5, 2, 9, 1, 3), Limit(size=64_000))
    return outcomes


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_srr_is_exposed(fault: str, many_flows: list[Case]) -> None:
    assert exposes(case, faulty(srr_guo, *FAULTS[fault]), srr_guo, many_flows)


def test_an_unedited_copy_agrees(many_flows: list[Case]) -> None:
    assert not exposes(case, faulty(srr_guo), srr_guo, many_flows[:4])


def test_ns2_decides_as_the_oracle() -> None:
    arrivals, departures = ns2_srr.load()
    settings = (ns2_srr.QUANTUM, ns2_srr.WEIGHTS, Limit(), ns2_srr.ASSIGN, ns2_srr.QUEUE_LIMIT)
    ours = srr_guo.run(arrivals, ns2_srr.RATE_BPS, *settings, ns2=True)
    assert ns2_srr.differing(departures, compare.rows_of(ours)) == []
    assert sum(departure is None for departure in departures) == 266
    # Without ns-2's own order the runs part.
    paper = srr_guo.run(arrivals, ns2_srr.RATE_BPS, *settings)
    assert len(ns2_srr.differing(departures, compare.rows_of(paper))) > 1000
