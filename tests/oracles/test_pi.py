"""The PI oracle against closed forms and planted faults."""

from __future__ import annotations

import types

import pytest

import pi_paper
from replay_io import DROPPED, MARKED, SENT, Arrival, Limit, Outcome, arrival
from test_oracles import Case, Edits, cases, exposes, faulty, verdicts

RATE = 10_000_000


@pytest.fixture(scope="module")
def one_flow() -> list[Case]:
    return cases(flows=1)


def test_pi_drops_nothing_while_the_queue_is_empty() -> None:
    rows = [arrival(i, i * 1_000_000, 1250) for i in range(5000)]
    assert set(verdicts(pi_paper.run(rows, RATE, pi_paper.Settings()))) == {SENT}


def test_pi_holds_the_queue_at_its_reference() -> None:
    # A third too much that does not respond: p settles at 1/4 and the queue at 40 packets of 1 ms.
    rows = [arrival(i, i * 750_000, 1250) for i in range(80_000)]
    settings = pi_paper.Settings(a=0.003, b=0.0029, q_ref=40)
    late = pi_paper.run(rows, RATE, settings)[40_000:]
    assert abs(verdicts(late).count(DROPPED) / len(late) - 0.25) < 0.01
    waits = [row.sojourn_ns for row in late if row.sojourn_ns is not None]
    assert abs(sum(waits) / len(waits) / 1e6 - 40) < 4


def test_pi_marks_capable_packets() -> None:
    rows = [arrival(i, i * 500_000, 1250, 0, 2) for i in range(3000)]
    settings = pi_paper.Settings(a=0.003, b=0.0029, ecn=True, limit=Limit(packets=10_000))
    assert set(verdicts(pi_paper.run(rows, RATE, settings))) == {SENT, MARKED}


FAULTS: dict[str, Edits] = {
    "both samples with a": [("- self._set.b * (", "- self._set.a * (")],
    "old sample not kept": [("            self._q_old = q\n", "")],
    "no reference in the old sample": [("(self._q_old - ref)", "self._q_old")],
    "p may fall below zero": [("min(max(p, 0.0), 1.0)", "min(p, 1.0)")],
    "first sample late": [("= settings.period_ps\n", "= 2 * settings.period_ps\n")],
    "draw for what the limit refuses": [
        (
            "        if not self._set.limit",
            "        self._draws.uniform()\n        if not self._set.limit",
        )
    ],
    "marks what is not capable": [("and packet.ecn != 0)", "and True)")],
}


def case(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    settings = module.Settings(a=0.002, b=0.0019, q_ref=15, limit=Limit(packets=40), ecn=True)
    outcomes: list[Outcome] = module.run(rows, rate, settings)
    return outcomes


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_pi_is_exposed(fault: str, one_flow: list[Case]) -> None:
    assert exposes(case, faulty(pi_paper, *FAULTS[fault]), pi_paper, one_flow)


def test_an_unedited_copy_agrees(one_flow: list[Case]) -> None:
    assert not exposes(case, faulty(pi_paper), pi_paper, one_flow[:4])
