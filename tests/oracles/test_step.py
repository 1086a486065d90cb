"""The oracle of step and ramp marking against closed forms and planted faults."""

from __future__ import annotations

import types
from dataclasses import replace

import pytest

import step_rfc9332
from replay_io import DROPPED, MARKED, SENT, Arrival, Limit, Outcome, arrival
from test_oracles import Case, Edits, cases, exposes, faulty, verdicts

RATE = 10_000_000
US = 10**6


@pytest.fixture(scope="module")
def capable() -> list[Case]:
    """Three of four flows are capable."""
    return [
        ([replace(row, ecn=row.flow % 4) for row in rows], rate) for rows, rate in cases(flows=4)
    ]


def test_a_step_marks_from_the_packet_that_finds_more_than_k() -> None:
    # One in transmission, then packet i finds i - 1 waiting.
    rows = [arrival(i, 0, 1250, 0, 2) for i in range(40)]
    settings = step_rfc9332.Settings(by="packets", low=20, high=20)
    found = verdicts(step_rfc9332.run(rows, RATE, settings))
    assert found == [SENT] * 22 + [MARKED] * 18


def test_a_step_in_time_marks_what_waited_longer() -> None:
    # Packet i waits i ms.
    rows = [arrival(i, 0, 1250, 0, 2) for i in range(40)]
    settings = step_rfc9332.Settings(low=5000 * US, high=5000 * US)
    assert verdicts(step_rfc9332.run(rows, RATE, settings)) == [SENT] * 6 + [MARKED] * 34


def test_a_ramp_marks_the_sum_of_its_probabilities() -> None:
    rows = [arrival(i, 0, 1250, 0, 2) for i in range(101)]
    settings = step_rfc9332.Settings(low=0, high=100_000 * US)
    # Packet i waits i ms and has the probability i / 100: 50.5 in all.
    assert verdicts(step_rfc9332.run(rows, RATE, settings)).count(MARKED) == 50


def test_what_is_not_capable_is_dropped_by_the_limit_only() -> None:
    rows = [arrival(i, 0, 1250) for i in range(40)]
    settings = step_rfc9332.Settings(low=0, high=0, limit=Limit(packets=30))
    assert verdicts(step_rfc9332.run(rows, RATE, settings)) == [SENT] * 31 + [DROPPED] * 9


FAULTS: dict[str, Edits] = {
    "threshold inclusive": [("marks = measure > low", "marks = measure >= low")],
    "ramp over the whole range": [("(measure - low) / (high - low)", "measure / high")],
    "one mark takes all": [("self._count -= 1", "self._count = 0.0")],
    "marks at a sum of one": [("self._count > 1", "self._count >= 1")],
    "counts what is not capable": [
        ("        if packet.ecn == 0:\n            return\n", ""),
        (
            "        if marks:\n            self._log",
            "        if marks and packet.ecn != 0:\n            self._log",
        ),
    ],
    "counts the arriving packet": [
        ("self._judge(packet, len(self._fifo))", "self._judge(packet, len(self._fifo) + 1)")
    ],
}


def case(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for settings in (
        module.Settings(by="packets", low=10, high=10, limit=Limit(packets=60)),
        module.Settings(by="packets", low=4, high=12, limit=Limit(packets=60)),
        module.Settings(low=5000 * US, high=9000 * US, limit=Limit(packets=60)),
    ):
        shift = len(outcomes)
        outcomes += [
            replace(row, arrival=replace(row.arrival, index=row.arrival.index + shift))
            for row in module.run(rows, rate, settings)
        ]
    return outcomes


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_step_is_exposed(fault: str, capable: list[Case]) -> None:
    assert exposes(case, faulty(step_rfc9332, *FAULTS[fault]), step_rfc9332, capable)


def test_an_unedited_copy_agrees(capable: list[Case]) -> None:
    assert not exposes(case, faulty(step_rfc9332), step_rfc9332, capable[:4])
