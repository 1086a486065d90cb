"""The oracle of FQ-CoDel against closed forms and planted faults."""

from __future__ import annotations

import types
from collections.abc import Sequence

import pytest

import codel_rfc8289
import compare
import drr_paper
import fq_codel_rfc8290
from replay_io import DROPPED, MARKED, SENT, Arrival, Limit, Outcome, arrival, parse_span
from test_oracles import (
    RATE,
    Case,
    Edits,
    at_once,
    cases,
    codel_drops,
    exposes,
    faulty,
    order,
    verdicts,
)

TARGET = parse_span("5ms")
INTERVAL = parse_span("100ms")


def run(
    rows: Sequence[Arrival],
    rate: int = RATE,
    limit: Limit | None = None,
    quantum: int = 1514,
    ecn: bool = True,
    batch: int = 64,
) -> list[Outcome]:
    return fq_codel_rfc8290.run(
        rows, rate, TARGET, INTERVAL, limit or Limit(packets=10240), quantum, ecn, batch
    )


@pytest.fixture(scope="module")
def many_flows() -> list[Case]:
    return cases(flows=5)


def test_one_flow_is_codel() -> None:
    for rows, rate in cases(flows=1):
        theirs = codel_rfc8289.run(rows, rate, TARGET, INTERVAL, Limit(), 1500, True)
        ours = run(rows, rate, Limit())
        assert compare.compare(compare.rows_of(ours), compare.rows_of(theirs)) is None


def test_backlogged_flows_take_turns_of_a_quantum() -> None:
    # Whoever has a credit sends, so credits after a turn are 1514 - 2000, 1028 - 2000, 542 - 1000.
    rows = run(at_once({0: [1000] * 6, 1: [1000] * 6}))
    assert order(rows) == [0, 0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 1]


def test_a_sparse_flow_goes_before_those_that_wait() -> None:
    rows = [arrival(i, 0, 1500, i % 2) for i in range(40)]
    # 1.2 ms a packet: the sparse one comes during the fifth.
    rows.append(arrival(40, 5_000_000, 100, 2))
    outcomes = run(rows)
    assert outcomes[40].departure_ns == 6_000_000


def test_a_flow_that_sends_again_at_once_is_not_new_again() -> None:
    # The queue of flow 3 empties while it is new and goes behind the old ones; new again, it would
    # send at the next departure, 9.68 ms.
    rows = [arrival(i, 0, 1500, i % 3) for i in range(60)]
    rows.append(arrival(60, 7_500_000, 100, 3))
    rows.append(arrival(61, 8_490_000, 100, 3))
    outcomes = run(rows)
    assert outcomes[60].departure_ns == 8_400_000
    assert (outcomes[61].departure_ns or 0) >= 10_880_000


@pytest.mark.parametrize(("batch", "expected"), [(64, 5), (3, 3), (1, 1)])
def test_overload_takes_half_of_the_fattest_from_its_head(batch: int, expected: int) -> None:
    # One packet of flow 0 is in transmission, ten wait with the last; flow 1 has two.
    rows = at_once({0: [1000] * 10, 1: [1000] * 2})
    rows.append(arrival(12, 1000, 1000, 0))
    outcomes = run(rows, limit=Limit(packets=11), batch=batch)
    assert codel_drops(outcomes) == list(range(1, 1 + expected))


def test_capable_packets_are_marked_until_the_limit() -> None:
    rows = [arrival(i, i * 500_000, 1250, 0, 2) for i in range(4000)]
    assert set(verdicts(run(rows))) == {SENT, MARKED}
    assert set(verdicts(run(rows, limit=Limit(packets=500)))) == {SENT, MARKED, DROPPED}
    assert set(verdicts(run(rows, ecn=False))) == {SENT, DROPPED}


def test_shares_keep_within_the_bound_of_round_robin(many_flows: list[Case]) -> None:
    # A deficit that may be overdrawn by a packet instead of kept: the same bound as DRR, except for
    # the turns that a flow has while it is new.
    seen = 0
    for rows, rate in many_flows:
        outcomes = fq_codel_rfc8290.run(rows, rate, 10**15, INTERVAL, Limit(), 1514)
        worst = drr_paper.worst_unfairness(outcomes, 1514)
        if worst is not None:
            assert worst.lead < worst.bound + 1514, str(worst)
            seen = max(seen, worst.lead)
    assert seen > 1514


FAULTS: dict[str, Edits] = {
    "zero credits suffice": [("flow.credits <= 0", "flow.credits < 0")],
    "credits not renewed": [
        ("flow.credits += self._quantum", "flow.credits = self._quantum"),
    ],
    "a new flow joins the old": [
        ("            self._new.append(flow)\n", "            self._old.append(flow)\n")
    ],
    "a new flow without credits": [
        ("            flow.credits = self._quantum\n", "            flow.credits = 0\n")
    ],
    "an emptied new flow leaves": [
        ("if source is self._new:\n                self._old.append(flow)", "pass")
    ],
    "old flows first": [("self._new or self._old\n", "self._old or self._new\n")],
    "the fattest by packets": [("key=lambda f: f.size)", "key=len)")],
    "half and one": [("len(fattest) // 2", "len(fattest) // 2 + 1")],
    "from the tail": [("self._fifo.popleft()", "self._fifo.pop()")],
    "spared by what is left in its own queue": [
        ("        return self._total()", "        return self._bytes")
    ],
    "limit one lower": [("admits(len(self), ", "admits(len(self) + 1, ")],
    "a quantum of the packet sent": [
        ("flow.credits -= packet.size", "flow.credits -= self._quantum")
    ],
    "an exhausted queue stays in front": [
        ("self._old.append(source.popleft())", "source.rotate(0)")
    ],
}


def case(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    limit = Limit(packets=60) if rate < RATE else Limit(size=64_000)
    # A quantum that packets use up exactly now and then.
    quantum = 1250 if rate == RATE else 300
    outcomes: list[Outcome] = module.run(rows, rate, TARGET, INTERVAL, limit, quantum, True, 16)
    return outcomes


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_fq_codel_is_exposed(fault: str, many_flows: list[Case]) -> None:
    module = faulty(fq_codel_rfc8290, *FAULTS[fault])
    assert exposes(case, module, fq_codel_rfc8290, many_flows)


def test_an_unedited_copy_agrees(many_flows: list[Case]) -> None:
    assert not exposes(case, faulty(fq_codel_rfc8290), fq_codel_rfc8290, many_flows[:4])
