"""The REM oracle against closed forms and planted faults."""

from __future__ import annotations

import types

import pytest

import rem_paper
from replay_io import DROPPED, MARKED, SENT, Arrival, Limit, Outcome, arrival
from test_oracles import Case, Edits, cases, exposes, faulty, verdicts

RATE = 10_000_000


@pytest.fixture(scope="module")
def one_flow() -> list[Case]:
    return cases(flows=1)


def test_rem_drops_nothing_below_capacity() -> None:
    rows = [arrival(i, i * 1_100_000, 1250) for i in range(5000)]
    settings = rem_paper.Settings(packet=1250)
    assert set(verdicts(rem_paper.run(rows, RATE, settings))) == {SENT}


def test_rem_drops_the_excess_once_the_price_has_settled() -> None:
    # Dropped packets count as arrivals, so that the price rises until the queue itself balances
    # the excess rate: 2.67 packets arrive in 2 ms and 2 leave; 0.1 (20 - q) = 0.67 at q = 13.3.
    rows = [arrival(i, i * 750_000, 1250) for i in range(100_000)]
    settings = rem_paper.Settings(packet=1250, gamma=0.05, limit=Limit(packets=200))
    late = rem_paper.run(rows, RATE, settings)[50_000:]
    assert abs(verdicts(late).count(DROPPED) / len(late) - 0.25) < 0.02
    waits = [row.sojourn_ns for row in late if row.sojourn_ns is not None]
    assert abs(sum(waits) / len(waits) / 1e6 - 13.3) < 2


def test_rem_marks_capable_packets() -> None:
    rows = [arrival(i, i * 500_000, 1250, 0, 2) for i in range(3000)]
    settings = rem_paper.Settings(ecn=True, limit=Limit(packets=10_000), phi=1.1)
    assert set(verdicts(rem_paper.run(rows, RATE, settings))) == {SENT, MARKED}


FAULTS: dict[str, Edits] = {
    "price may be negative": [("max(0.0, self._price", "max(-1.0, self._price")],
    "queue weighs fully": [("self._set.alpha * (len", "1.0 * (len")],
    "arrivals are summed": [("            self._arrived = 0\n", "")],
    "capacity of another packet": [("(8 * settings.packet)", "(8 * 500)")],
    "linear in the price": [
        ("1 - self._set.phi**-self._price", "(self._set.phi - 1) * self._price")
    ],
    "dropped packets do not arrive": [
        ("        self._arrived += 1\n", ""),
        (
            "        self._fifo.append(packet)",
            "        self._arrived += 1\n        self._fifo.append(packet)",
        ),
    ],
    "limit one lower": [("len(self._fifo) + 1, ", "len(self._fifo) + 2, ")],
}


def case(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    settings = module.Settings(gamma=0.02, phi=1.05, target=10.0, limit=Limit(packets=40), ecn=True)
    outcomes: list[Outcome] = module.run(rows, rate, settings)
    return outcomes


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_rem_is_exposed(fault: str, one_flow: list[Case]) -> None:
    assert exposes(case, faulty(rem_paper, *FAULTS[fault]), rem_paper, one_flow)


def test_an_unedited_copy_agrees(one_flow: list[Case]) -> None:
    assert not exposes(case, faulty(rem_paper), rem_paper, one_flow[:4])
