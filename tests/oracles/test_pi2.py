"""The PI2 oracle against closed forms and planted faults."""

from __future__ import annotations

import types
from dataclasses import replace

import pytest

import pi2_conext2016
from replay_io import DROPPED, MARKED, SENT, Arrival, Limit, Outcome, arrival
from test_oracles import Case, Edits, cases, exposes, faulty, verdicts

RATE = 10_000_000


@pytest.fixture(scope="module")
def mixed() -> list[Case]:
    """Odd flows are Scalable."""
    return [
        ([replace(row, ecn=1) if row.flow % 2 else row for row in rows], rate)
        for rows, rate in cases(flows=4)
    ]


def test_pi2_drops_nothing_below_the_target() -> None:
    rows = [arrival(i, i // 10 * 10_000_000, 1250) for i in range(10_000)]
    assert set(verdicts(pi2_conext2016.run(rows, RATE, pi2_conext2016.Settings()))) == {SENT}


def test_pi2_drops_the_excess_and_holds_the_target() -> None:
    rows = [arrival(i, i * 750_000, 1250) for i in range(60_000)]
    late = pi2_conext2016.run(rows, RATE, pi2_conext2016.Settings())[20_000:]
    assert abs(verdicts(late).count(DROPPED) / len(late) - 0.25) < 0.01
    waits = [row.sojourn_ns for row in late if row.sojourn_ns is not None]
    assert abs(sum(waits) / len(waits) / 1e6 - 20) < 2


def test_scalable_packets_are_marked_with_twice_the_root_of_the_classic_probability() -> None:
    # Every second packet Classic, every second Scalable. The excess of 1/6 is dropped from Classic
    # packets alone: p'^2 = 1/3, so that k p' > 1 marks every Scalable packet.
    rows = [arrival(i, i * 833_333, 1250, i % 2, i % 2) for i in range(60_000)]
    late = pi2_conext2016.run(rows, RATE, pi2_conext2016.Settings())[20_000:]
    scalable = [row.verdict for row in late if row.arrival.ecn == 1]
    classic = [row.verdict for row in late if row.arrival.ecn == 0]
    assert scalable.count(MARKED) / len(scalable) > 0.99
    assert abs(classic.count(DROPPED) / len(classic) - 1 / 3) < 0.02


FAULTS: dict[str, Edits] = {
    "not squared": [(" and self._draws.uniform() < self._p\n", "\n")],
    "second draw always": [
        (
            "self._draws.uniform() < self._p and self._draws.uniform() < self._p\n",
            "(self._draws.uniform() < self._p) & (self._draws.uniform() < self._p)\n",
        )
    ],
    "coupling of one": [("self._set.k * self._p", "self._p")],
    "delay of the tail": [("self._fifo[0].time_ps", "self._fifo[-1].time_ps")],
    "delay kept when empty": [("if self._fifo else 0.0", "if self._fifo else self._old_s")],
    "first update at once": [("= settings.period\n", "= 0\n")],
    "CE is Classic": [("packet.ecn % 2 == 1", "packet.ecn == 1")],
    "old delay not kept": [("            self._old_s = delay\n", "")],
}


def case(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    outcomes: list[Outcome] = module.run(rows, rate, module.Settings(limit=Limit(packets=100)))
    return outcomes


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if "at once" not in fault])
def test_a_faulty_pi2_is_exposed(fault: str, mixed: list[Case]) -> None:
    assert exposes(case, faulty(pi2_conext2016, *FAULTS[fault]), pi2_conext2016, mixed)


def test_an_update_at_time_zero_changes_nothing_but_their_phase(mixed: list[Case]) -> None:
    # The queue is empty then, so that only the instants count, which are the same multiples.
    module = faulty(pi2_conext2016, *FAULTS["first update at once"])
    assert not exposes(case, module, pi2_conext2016, mixed[:4])


def test_an_unedited_copy_agrees(mixed: list[Case]) -> None:
    assert not exposes(case, faulty(pi2_conext2016), pi2_conext2016, mixed[:4])
