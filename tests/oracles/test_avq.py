"""The AVQ oracle against closed forms and planted faults."""

from __future__ import annotations

import types

import pytest

import avq_paper
from replay_io import DROPPED, MARKED, SENT, Arrival, Limit, Outcome, arrival
from test_oracles import Case, Edits, cases, exposes, faulty, verdicts

RATE = 10_000_000


@pytest.fixture(scope="module")
def one_flow() -> list[Case]:
    return cases(flows=1)


def test_avq_drops_nothing_below_the_desired_utilization() -> None:
    rows = [arrival(i, i * 1_050_000, 1250) for i in range(50_000)]
    settings = avq_paper.Settings(packet=1250, limit=Limit(packets=20))
    assert set(verdicts(avq_paper.run(rows, RATE, settings))) == {SENT}


def test_avq_lets_the_virtual_rate_of_an_overload_fall_to_nothing() -> None:
    # 1.02 of the rate is above 0.98: the virtual rate falls by 0.15 (1.02 - 0.98) of the rate per
    # second, to nothing after 167 s; the virtual queue then empties for nobody.
    rows = [arrival(i, i * 980_392, 1250) for i in range(260_000)]
    outcomes = avq_paper.run(rows, RATE, avq_paper.Settings(packet=1250, limit=Limit(packets=20)))
    assert set(verdicts(outcomes[-20_000:])) == {DROPPED}
    assert DROPPED not in verdicts(outcomes[:200])


def test_avq_marks_capable_packets() -> None:
    rows = [arrival(i, i * 990_000, 1250, 0, 2) for i in range(100_000)]
    settings = avq_paper.Settings(packet=1250, limit=Limit(packets=5000), ecn=True)
    found = verdicts(avq_paper.run(rows, RATE, settings))
    assert set(found) <= {SENT, MARKED}


FAULTS: dict[str, Edits] = {
    "dropped packets enter the virtual queue": [
        ("        if not congested:\n            self._vq += size\n", "        self._vq += size\n")
    ],
    "no bound on the virtual rate": [("min(grown, self._capacity)", "grown")],
    "bound after the arrival": [
        (
            "max(min(grown, self._capacity) - alpha * size, 0.0)",
            "max(min(grown - alpha * size, self._capacity), 0.0)",
        )
    ],
    "utilization of one": [("alpha * self._set.gamma * self", "alpha * self")],
    "virtual queue full one byte early": [
        ("self._vq + size > self._b", "self._vq + size >= self._b")
    ],
    "served by the new rate": [
        (
            "        self._vq = max(self._vq - self._virtual * gap",
            "        self._vq = max(self._vq - self._capacity * gap",
        )
    ],
    "clock not advanced by drops": [
        (
            "        self._last = now_ps\n",
            "        self._last = self._last if self._vq > 20_000 else now_ps\n",
        )
    ],
}


def case(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    settings = module.Settings(alpha=0.5, limit=Limit(size=30_000), ecn=True)
    outcomes: list[Outcome] = module.run(rows, rate, settings)
    return outcomes


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_avq_is_exposed(fault: str, one_flow: list[Case]) -> None:
    found = one_flow
    if fault.startswith("virtual queue full"):
        # Equality needs a virtual queue that is not drained: all at once.
        found = [([arrival(i, 0, 1500) for i in range(30)], RATE)]
    assert exposes(case, faulty(avq_paper, *FAULTS[fault]), avq_paper, found)


def test_an_unedited_copy_agrees(one_flow: list[Case]) -> None:
    assert not exposes(case, faulty(avq_paper), avq_paper, one_flow[:4])
