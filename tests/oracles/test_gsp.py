"""The GSP oracle against closed forms and planted faults."""

from __future__ import annotations

import itertools
import types

import pytest

import gsp_draft
import test_oracles
from replay_io import DROPPED, PS_PER_S, Arrival, Limit, Outcome, arrival

RATE = 10_000_000
MS = PS_PER_S // 1000

FAULTS: dict[str, test_oracles.Edits] = {
    "the arrival counts": [
        (
            "return not self._set.threshold.admits(len(self._fifo), self._bytes)",
            "return not self._set.threshold.admits(len(self._fifo) + 1, self._bytes)",
        )
    ],
    "below goes on after an overflow": [
        ("        if self._state == CLEAR:\n", "        if True:\n")
    ],
    "an overflow only of what the threshold lets in": [
        (
            "        if not fits:\n            self._state",
            "        if False:\n            self._state",
        ),
        (
            "        if not fits:\n            self._log",
            "        if not fits:\n            self._state = OVERFLOWED\n            self._log",
        ),
    ],
    "clear as soon as empty": [
        ("            self._state = DRAINED\n", "            self._state = CLEAR\n")
    ],
    "times not forgotten": [
        ("        self._above_ps = self._below_ps = 0\n        interval", "        interval")
    ],
    "no lower bound": [("max(0.0, self.cumul_ps + drift)", "self.cumul_ps + drift")],
    "no upper bound": [("min(float(settings.max_time_ps), ", "min(1e30, ")],
    "departures end no stretch": [
        (
            "        self._stretch(now_ps)\n        packet = self._fifo.popleft()",
            "        packet = self._fifo.popleft()",
        )
    ],
    "interval from the old timeout": [
        (
            "self._timeout_ps = now_ps + int(interval)",
            "self._timeout_ps = self._timeout_ps + int(interval)",
        )
    ],
    "dropped at every arrival": [
        ("if self._is_above() and now_ps > self._timeout_ps:", "if self._is_above():")
    ],
}


def case(
    module: types.ModuleType, rows: list[Arrival], rate: int, limit: int = 25, interval: int = 30
) -> list[Outcome]:
    settings = module.Settings(
        threshold=Limit(packets=8),
        limit=Limit(packets=limit),
        interval_ps=interval * MS,
        tau_ps=60 * MS,
        max_time_ps=500 * MS,
        ecn=True,
    )
    outcomes: list[Outcome] = module.run(rows, rate, settings)
    return outcomes


def full_near_the_threshold(
    module: types.ModuleType, rows: list[Arrival], rate: int
) -> list[Outcome]:
    return case(module, rows, rate, limit=10, interval=2)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_gsp_is_exposed(fault: str) -> None:
    module = test_oracles.faulty(gsp_draft, *FAULTS[fault])
    found = test_oracles.cases(flows=2)
    assert any(
        test_oracles.exposes(run, module, gsp_draft, found)
        for run in (case, full_near_the_threshold)
    )


def gaps(settings: gsp_draft.Settings) -> list[int]:
    """Times between the drops of a load 5 % above the rate."""
    rows = [arrival(i, i * 952_381, 1250) for i in range(20_000)]
    outcomes = gsp_draft.run(rows, RATE, settings)
    times = [row.arrival.time_ps for row in outcomes if row.reason == gsp_draft.FORCED]
    return [b - a for a, b in itertools.pairwise(times)]


def test_basic_drops_are_an_interval_apart() -> None:
    found = gaps(gsp_draft.Settings(adaptive=False, limit=Limit(packets=10_000)))
    assert len(found) > 50
    # Up to the next arrival.
    assert all(200 * MS < gap <= 201 * MS for gap in found)


def test_adaptive_drops_come_closer_until_the_queue_is_held() -> None:
    found = gaps(gsp_draft.Settings(limit=Limit(packets=10_000)))
    # After a second above the threshold the interval is a third, 1 + alpha / tau.
    second = next(i for i in range(len(found)) if sum(found[: i + 1]) > PS_PER_S)
    assert 60 * MS < found[second] < 72 * MS
    # 5 % of 1050 packets a second are 50: one in 20 ms.
    late = found[len(found) // 2 :]
    assert sum(late) / len(late) == pytest.approx(20 * MS, rel=0.1)


def test_below_the_threshold_nothing_is_dropped() -> None:
    rows = [arrival(i, i * 1_010_000, 1250) for i in range(5000)]
    assert all(row.verdict != DROPPED for row in gsp_draft.run(rows, RATE, gsp_draft.Settings()))
