"""The BLUE oracle against closed forms and planted faults."""

from __future__ import annotations

import types

import pytest

import blue_paper
import test_oracles
from replay_io import DROPPED, MARKED, PS_PER_S, Arrival, Limit, Log, Outcome, arrival
from streams import Stream

RATE = 10_000_000
MS = PS_PER_S // 1000
#: Of 1250 bytes at RATE.
SERVICE_NS = 1_000_000

FAULTS: dict[str, test_oracles.Edits] = {
    "no freeze after an increase": [
        ("        self._last_up = now_ps\n        if not self._set.ns2:\n", "        if False:\n")
    ],
    "two clocks in the paper's rules": [
        (
            "if not self._set.ns2:\n            self._last_down",
            "if False:\n            self._last_down",
        )
    ],
    "freeze time inclusive": [
        (
            "if now_ps - self._last_up <= self._set.freeze_up_ps",
            "if now_ps - self._last_up < self._set.freeze_up_ps",
        )
    ],
    "increase on every drop": [
        (
            "        if chosen and not marked:\n",
            "        if chosen and not marked:\n            self._increase(now_ps)\n",
        )
    ],
    "decrease only once per idle time": [("        elif self._idle:\n", "        elif False:\n")],
    "decrease at every dequeue": [
        (
            "        packet = self._fifo.popleft()\n",
            "        self._decrease(now_ps)\n        packet = self._fifo.popleft()\n",
        )
    ],
    "steps exchanged": [
        ("self.p_m + self._set.d1)", "self.p_m + self._set.d2)"),
        ("self.p_m - self._set.d2)", "self.p_m - self._set.d1)"),
    ],
    "no draw while p_m is 0": [
        ("draw = self._draws.uniform()", "draw = self._draws.uniform() if self.p_m else 1.0")
    ],
    "threshold before the packet": [
        (
            "level.admits(len(self._fifo) + 1, self._bytes + packet.size)",
            "level.admits(len(self._fifo), self._bytes)",
        )
    ],
    "no upper bound": [
        ("self.p_m = min(1.0, self.p_m + self._set.d1)", "self.p_m += self._set.d1")
    ],
}


def case(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    # At 1 Mbps with large steps, so that the probability reaches its upper bound.
    settings = module.Settings(
        d1=0.3 if rate == 1_000_000 else 0.05,
        d2=0.2 if rate == 1_000_000 else 0.01,
        freeze_up_ps=10 * MS,
        freeze_down_ps=10 * MS,
        limit=Limit(packets=20),
        threshold=Limit(packets=12) if rate != RATE else None,
        ecn=True,
    )
    outcomes: list[Outcome] = module.run(rows, rate, settings)
    return outcomes


def on_the_grid(packets: int) -> list[Arrival]:
    """Two packets a service time: every event falls on a whole number of half services."""
    return [arrival(i, i * SERVICE_NS // 2, 1250) for i in range(packets)]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_blue_is_exposed(fault: str) -> None:
    module = test_oracles.faulty(blue_paper, *FAULTS[fault])
    found = [*test_oracles.cases(flows=2), (on_the_grid(3000), RATE)]
    assert test_oracles.exposes(case, module, blue_paper, found)


def test_without_steps_blue_is_droptail() -> None:
    settings = blue_paper.Settings(d1=0.0, limit=Limit(packets=20))
    rows = on_the_grid(2000)
    outcomes = blue_paper.run(rows, RATE, settings)
    drops = sum(row.verdict == DROPPED for row in outcomes)
    # Every second packet is in excess once the queue is full.
    assert abs(drops - (2000 - 40) // 2) <= 1
    assert {row.reason for row in outcomes} == {"", blue_paper.OVERFLOW}


@pytest.mark.parametrize(("ns2", "algorithm_up"), [(False, 0), (True, 0), (True, 2)])
def test_the_probability_comes_to_what_the_load_has_in_excess(ns2: bool, algorithm_up: int) -> None:
    # Twice the rate: half of the packets must go, and random drops take over from the full queue.
    settings = blue_paper.Settings(
        limit=Limit(packets=100), ns2=ns2, algorithm_up=algorithm_up, d1=0.005, d2=0.0005
    )
    rows = on_the_grid(120_000)
    outcomes = blue_paper.run(rows, RATE, settings)
    late = outcomes[60_000:]
    early = sum(row.reason == blue_paper.EARLY for row in late) / len(late)
    assert abs(early - 0.5) < 0.01 if not algorithm_up else early > 0.4
    drops = sum(row.verdict == DROPPED for row in late) / len(late)
    assert abs(drops - 0.5) < 0.01 if not algorithm_up else drops >= 0.49


def test_the_steps_are_a_hold_time_apart() -> None:
    log = Log([])
    queue = blue_paper.BlueQueue(log, blue_paper.Settings(), Stream(1))
    queue._increase(100 * MS)
    assert queue.p_m == 0.0
    queue._increase(100 * MS + 1)
    assert queue.p_m == 0.02
    queue._decrease(200 * MS)
    assert queue.p_m == 0.02
    queue._decrease(200 * MS + 2)
    assert queue.p_m == pytest.approx(0.018)


def test_capable_packets_are_marked() -> None:
    rows = [arrival(i, i * SERVICE_NS // 2, 1250, 0, 2) for i in range(20_000)]
    outcomes = blue_paper.run(rows, RATE, blue_paper.Settings(ecn=True))
    assert sum(row.verdict == MARKED for row in outcomes) > 1000
    assert {row.reason for row in outcomes if row.verdict == DROPPED} == {blue_paper.OVERFLOW}
