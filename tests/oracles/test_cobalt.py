"""The COBALT oracle against closed forms and planted faults."""

from __future__ import annotations

import math
import types

import pytest

import cobalt_cake
import test_oracles
from replay_io import DROPPED, Arrival, Limit, Log, Outcome, arrival, drive
from streams import Stream

RATE = 10_000_000
MS = 1_000_000

FAULTS: dict[str, test_oracles.Edits] = {
    "target inclusive": [
        ("sojourn > self._set.target_ns and", "sojourn >= self._set.target_ns // 2 and")
    ],
    "no bound by the mtu": [("and sojourn > 4 * self._mtu_ns", "")],
    "count forgotten below target": [
        (
            "        else:\n            self.dropping = False\n        reason",
            "        else:\n            self.dropping = False\n            self.count = 0\n        reason",
        )
    ],
    "drop_next kept over an empty queue": [
        (
            "        self.dropping = False\n        if self.count and",
            "        self.dropping = False\n        self.drop_next = now\n        if self.count and",
        )
    ],
    "root after the schedule": [
        (
            "            self.count += 1\n            self._root()\n            self.drop_next += self._spacing()\n",
            "            self.count += 1\n            self.drop_next += self._spacing()\n            self._root()\n",
        )
    ],
    "schedule from now": [
        (
            "            self._root()\n            self.drop_next += self._spacing()\n            schedule",
            "            self._root()\n            self.drop_next = now + self._spacing()\n            schedule",
        )
    ],
    "no timeout of activity": [
        (
            "        if self.count == 0:\n            self.drop_next = now + self._set.interval_ns\n        elif",
            "        if",
        )
    ],
    "blue marks": [
        (
            "        if self.p_drop and self._drawn() and reason is None:\n            reason = EARLY\n",
            "        if self.p_drop and self._drawn() and packet.ecn == 0:\n            reason = EARLY\n",
        )
    ],
    "blue never rests": [
        (
            "        if now - self._blue_timer > self._set.target_ns:\n            top",
            "        if True:\n            top",
        )
    ],
    "no draw after a drop": [
        (
            "if self.p_drop and self._drawn() and reason is None",
            "if reason is None and self.p_drop and self._drawn()",
        )
    ],
    "the last packet is dropped": [
        (
            "            if reason is None or (not self._fifo and not self._set.ns3):\n",
            "            if reason is None:\n",
        )
    ],
    "the arrival is refused": [
        ("if self._fifo and not self._set.ns3 else None", "if False else None")
    ],
    "overflow leaves the schedule": [
        ("        self.drop_next = now\n        self.count = max", "        self.count = max")
    ],
}


def case(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    settings = module.Settings(
        target_ns=2 * MS,
        interval_ns=20 * MS,
        mtu=700 if rate == RATE else 100,
        increment=1 << 29,
        decrement=1 << 26,
        limit=Limit(packets=40),
    )
    outcomes: list[Outcome] = module.run(rows, rate, settings)
    return outcomes


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_cobalt_is_exposed(fault: str) -> None:
    module = test_oracles.faulty(cobalt_cake, *FAULTS[fault])
    assert test_oracles.exposes(case, module, cobalt_cake, test_oracles.cases(flows=2))


def test_the_cached_roots_are_roots() -> None:
    for count, root in enumerate(cobalt_cake.cache()):
        if count:
            assert root == pytest.approx(2**32 / math.sqrt(count), rel=1e-3)


def test_newton_steps_follow_the_root() -> None:
    x = cobalt_cake.cache()[15]
    for count in range(16, 2000):
        x = cobalt_cake.newton(x, count)
        assert x == pytest.approx(2**32 / math.sqrt(count), rel=2e-3)


def test_below_target_nothing_is_dropped() -> None:
    rows = [arrival(i, i * 1_010_000, 1250) for i in range(5000)]
    assert all(
        row.verdict != DROPPED for row in cobalt_cake.run(rows, RATE, cobalt_cake.Settings())
    )


def test_signals_come_at_the_control_law_under_a_constant_load() -> None:
    # Half as much again as the rate; the n-th signal is 1/sqrt(n) of an interval after the one before it.
    rows = [arrival(i, i * 666_667, 1250) for i in range(6000)]
    settings = cobalt_cake.Settings(limit=Limit(packets=100_000), increment=0)
    log = Log(rows)
    outcomes = drive(rows, RATE, cobalt_cake.CobaltQueue(log, RATE, settings, Stream(1)), log)
    drops = [row for row in outcomes if row.reason == cobalt_cake.DELAY]
    # In time T, until the queue has drained, there are about (T / 2 interval)^2 signals.
    seconds = (6000 - len(drops)) * 1e-3
    assert len(drops) == pytest.approx((seconds / 0.2) ** 2, rel=0.15)


def test_blue_takes_over_when_the_queue_overflows() -> None:
    rows = [arrival(i, i * 333_333, 1250, 0, 2) for i in range(60_000)]
    settings = cobalt_cake.Settings(limit=Limit(packets=50), increment=1 << 26)
    outcomes = cobalt_cake.run(rows, RATE, settings)
    late = outcomes[40_000:]
    early = sum(row.reason == cobalt_cake.EARLY for row in late) / len(late)
    # Three times the rate: two packets of three are in excess, and BLUE comes near to that.
    assert early == pytest.approx(2 / 3, abs=0.05)
