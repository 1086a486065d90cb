"""The CHOKe oracle against closed forms and planted faults."""

from __future__ import annotations

import collections
import types

import pytest

import choke_paper
import test_oracles
from replay_io import DROPPED, Arrival, Limit, Outcome, arrival
from streams import Stream

RATE = 10_000_000

FAULTS: dict[str, test_oracles.Edits] = {
    "only the arrival is dropped": [
        ("victim = self._fifo.pop(other)", "victim = self._fifo[other]"),
        ("                    self._bytes -= victim.size\n", ""),
        ("                    self._log.dropped(victim, MATCH)\n", ""),
    ],
    "the head in place of a random packet": [
        ("self._fifo[other].flow", "self._fifo[0].flow"),
        ("self._fifo.pop(other)", "self._fifo.pop(0)"),
    ],
    "compared below min too": [("if self._small():", "if self._small() and False:")],
    "match after red": [
        (
            "            if self._fifo:\n",
            "            chosen = self._red()\n            if self._fifo:\n",
        ),
        ("            chosen = self._linux_red() if self._set.linux else self._red()\n", ""),
    ],
    "count goes on below min": [
        (
            "        if self._small():\n            self._count = -1\n",
            "        if self._small():\n            pass\n",
        )
    ],
    "no match above max": [
        (
            "            if self._fifo:\n",
            "            if self._fifo and self._avg < self._set.max_th:\n",
        )
    ],
    "modulo in place of a product": [("return product >> 64", "return product % n")],
}

LINUX_FAULTS: dict[str, test_oracles.Edits] = {
    "min exclusive": [("self._scaled <= self._set.min_th", "self._scaled < self._set.min_th")],
    "count 0 above max": [
        (
            "            self._count = -1\n            return FORCED\n        self._count += 1\n        if",
            "            self._count = 0\n            return FORCED\n        self._count += 1\n        if",
        )
    ],
    "drop with the first packet": [
        (
            "        if self._count == 0:\n            self._drawn",
            "        if False:\n            self._drawn",
        )
    ],
    "no new draw": [
        (
            "        self._count = 0\n        self._drawn = (self._draws.bits() >> 32) // self._per_packet\n",
            "        self._count = 0\n",
        )
    ],
    "weight one more": [
        ("self._scaled >> self._set.wlog)", "self._scaled >> (self._set.wlog + 1))")
    ],
}


def case(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    settings = module.Settings(
        min_th=5, max_th=15, max_p=0.1, w_q=0.05, limit=Limit(packets=30), ecn=True
    )
    outcomes: list[Outcome] = module.run(rows, rate, settings)
    return outcomes


def linux_case(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    settings = module.Settings(
        min_th=3, max_th=9, max_p=0.1, wlog=3, limit=Limit(packets=30), ecn=True, linux=True
    )
    outcomes: list[Outcome] = module.run(rows, rate, settings)
    return outcomes


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_choke_is_exposed(fault: str) -> None:
    module = test_oracles.faulty(choke_paper, *FAULTS[fault])
    assert test_oracles.exposes(case, module, choke_paper, test_oracles.cases(flows=5))


@pytest.mark.parametrize("fault", LINUX_FAULTS)
def test_a_faulty_linux_choke_is_exposed(fault: str) -> None:
    module = test_oracles.faulty(choke_paper, *LINUX_FAULTS[fault])
    assert test_oracles.exposes(linux_case, module, choke_paper, test_oracles.cases(flows=5))


def test_below_is_uniform() -> None:
    draws = Stream(1)
    counts = collections.Counter(choke_paper.below(draws, 7) for _ in range(70_000))
    assert sorted(counts) == list(range(7))
    assert all(abs(count - 10_000) < 400 for count in counts.values())


def test_one_flow_matches_itself() -> None:
    # Above min every packet meets one of its own flow: all drops come in pairs.
    rows = [arrival(i, i * 500_000, 1250) for i in range(5000)]
    outcomes = choke_paper.run(rows, RATE, choke_paper.Settings(min_th=8, max_th=25, w_q=0.0625))
    reasons = collections.Counter(row.reason for row in outcomes if row.verdict == DROPPED)
    assert set(reasons) == {choke_paper.MATCH}
    assert reasons[choke_paper.MATCH] % 2 == 0
    # Half of the packets of twice the rate are in excess.
    assert abs(reasons[choke_paper.MATCH] - 2500) < 40


@pytest.mark.parametrize("linux", [False, True])
def test_a_heavy_flow_is_held_to_less_than_it_takes_from_red(linux: bool) -> None:
    # Flow 0 sends the rate, flows 1 to 9 a ninth of it each. RED would give it half of the link;
    # by Tang, Wang and Low (2004) CHOKe leaves it at most 1/(e + 1) = 0.27 where the others give way, here they do not.
    rows = [(n * 1_000_000, 0) for n in range(40_000)]
    for flow in range(1, 10):
        rows += [(n * 9_000_000 + flow * 987_654, flow) for n in range(40_000 // 9)]
    arrivals = [arrival(i, t, 1250, flow) for i, (t, flow) in enumerate(sorted(rows))]
    outcomes = choke_paper.run(
        arrivals, RATE, choke_paper.Settings(min_th=20, max_th=60, max_p=0.1, linux=linux)
    )
    sent = collections.Counter(
        row.arrival.flow for row in outcomes[40_000:] if row.verdict != DROPPED
    )
    share = sent[0] / sum(sent.values())
    assert share < 0.35
    assert min(sent[flow] for flow in range(1, 10)) * 9 > sent[0]
