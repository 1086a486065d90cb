"""The oracle of QFQ and QFQ+ against GPS's shares, DRR, closed forms and planted faults."""

from __future__ import annotations

import types

import pytest

import compare
import lindley
import oracle_faults
import qfq_papers
from replay_io import Arrival, Limit, Outcome, arrival

RATE = 10_000_000
NEVER_FULL = 10**6


@pytest.fixture(scope="module")
def found() -> list[oracle_faults.Case]:
    # And a backlog: what is eligible and ready matters while all flows wait.
    backlog = [arrival(i, 0, 40 + i * 997 % 1461, i * 7919 % 101 % 6) for i in range(1500)]
    return [*oracle_faults.cases(flows=6, packets=1200)[:12], (backlog, RATE)]


@pytest.mark.parametrize("plus", [False, True])
def test_one_flow_is_droptail(plus: bool) -> None:
    for rows, rate in oracle_faults.cases(flows=1, packets=800)[::3]:
        ours = compare.rows_of(qfq_papers.run(rows, rate, [1], 30, plus))
        theirs = compare.rows_of(lindley.run(rows, rate, Limit(packets=30)))
        assert compare.compare(ours, theirs) is None


def worst_lag(outcomes: list[Outcome], weights: list[int]) -> float:
    """The most bytes by which a flow is behind its share while all are backlogged, in packets."""
    sent = sorted(outcomes, key=lambda row: row.departure_ps or 0)
    total = sum(weights)
    got = [0] * len(weights)
    left = [sum(row.arrival.flow == flow for row in outcomes) for flow in range(len(weights))]
    worst, whole = 0.0, 0
    for row in sent:
        got[row.arrival.flow] += row.arrival.size
        whole += row.arrival.size
        left[row.arrival.flow] -= 1
        if min(left) == 0:
            break
        lags = (whole * w / total - g for w, g in zip(weights, got, strict=True))
        worst = max(worst, *lags)
    return worst / 1500


@pytest.mark.parametrize("weights", [[1] * 6, [8, 4, 2, 1, 1], [1000, 100, 10, 1]])
def test_backlogged_flows_keep_up_with_their_gps_shares(weights: list[int]) -> None:
    # QFQ's worst-case fair index is less than 3 sigma w + 2 L with sigma w < 2 L; QFQ+'s is that
    # for aggregates, whose packets are budgets of up to 8 L.
    rows = []
    for index in range(6000):
        flow = index % len(weights)
        rows.append(arrival(index, 0, 1500 if flow % 2 else 300 + index * 7 % 1200, flow))
    for plus, aggregate, bound in ((False, 1, 8), (True, 1, 8), (True, 8, 64)):
        outcomes = qfq_papers.run(rows, RATE, weights, NEVER_FULL, plus, aggregate=aggregate)
        lag = worst_lag(outcomes, weights)
        assert lag < bound, f"{plus} {aggregate}: {lag}"


def test_equal_flows_of_equal_packets_are_never_four_packets_apart() -> None:
    rows = [arrival(i, 0, 1500, i % 4) for i in range(400)]
    for plus in (False, True):
        sent = sorted(
            qfq_papers.run(rows, RATE, [1], NEVER_FULL, plus), key=lambda row: row.departure_ps or 0
        )
        for count in range(40, 360):
            got = [sum(row.arrival.flow == flow for row in sent[:count]) for flow in range(4)]
            assert max(got) - min(got) <= 3


FAULTS: dict[str, list[tuple[str, str]]] = {
    "the group of most finish first": [
        ("        index = ready[0]\n", "        index = ready[-1]\n")
    ],
    "ineligible groups are served": [('("E" if group.start <= self._v else "I")', '"E"')],
    "groups are never blocked": [('("B" if blocked else "R")', '"R"')],
    "blocked groups stay so": [('self._state[other] = state[0] + "R"', "pass")],
    "V stands still": [
        (
            "        self._v += packet.size * (ONE // self._wsum)\n        agg.start = agg.finish\n",
            "        agg.start = agg.finish\n",
        )
    ],
    "V at the rate of one flow": [
        (
            "        agg.budget = max(agg.budget - packet.size, 0)\n        self._v += packet.size * (ONE // self._wsum)",
            "        agg.budget = max(agg.budget - packet.size, 0)\n        self._v += packet.size * ONE",
        )
    ],
    "an idle flow keeps its old finish": [
        ("        if agg.finish > self._v and rounded <= limit:\n", "        if True:\n")
    ],
    "an active flow starts at V": [
        ("        if agg.finish > self._v and rounded <= limit:\n", "        if False:\n")
    ],
    "first come, first served within a slot": [
        ("(member[0], -member[1])", "(member[0], member[1])")
    ],
    "no rounding": [
        (
            "rounded = agg.start // group.sigma * group.sigma\n        if not",
            "rounded = agg.start\n        if not",
        )
    ],
    "groups by the next lower power": [
        ("while 1 << (index + self._shift) < length", "while 2 << (index + self._shift) < length")
    ],
    "a budget of one packet": [("agg.most = agg.size * self._lmax", "agg.most = self._lmax")],
    "charged with the whole budget": [
        ("used = min(agg.most, agg.initial - agg.budget)", "used = agg.most")
    ],
    "no DRR within the aggregate": [
        ("            agg.active.append(agg.active.pop(0))\n", "            pass\n")
    ],
}


def both(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    fates: list[Outcome] = []
    near, far = [9, 4, 4, 1], [1, 300, 40, 6, 1]
    # Blocked groups change the order only where packets are longer than lmax, so that groups wait
    # longer than the papers allow.
    for plus, aggregate, weights, lmax in (
        (False, 1, near, 1514),
        (True, 8, near, 1514),
        (True, 2, far, 1514),
        (False, 1, near, 512),
    ):
        for row in module.run(rows, rate, weights, 40, plus, lmax, aggregate):
            packet = Arrival(len(fates), row.arrival.time_ps, row.arrival.size, row.arrival.flow, 0)
            fates.append(Outcome(packet, row.verdict, row.reason, row.departure_ps))
    return fates


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_qfq_is_exposed(fault: str, found: list[oracle_faults.Case]) -> None:
    assert oracle_faults.exposed(both, qfq_papers, FAULTS[fault], found)


def test_an_unedited_copy_agrees(found: list[oracle_faults.Case]) -> None:
    assert not oracle_faults.exposed(both, qfq_papers, [], found[:2])
