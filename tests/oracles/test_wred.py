"""The oracle of WRED against closed forms, Linux's RED and planted faults."""

from __future__ import annotations

import types

import pytest

import oracle_faults
import wred_cisco
from replay_io import DROPPED, Arrival, Outcome, arrival
from wred_cisco import Settings

RATE = 10_000_000


@pytest.fixture(scope="module")
def found() -> list[oracle_faults.Case]:
    return oracle_faults.cases(flows=4)


def dropped(settings: Settings, gap_ns: int, classes: int) -> list[float]:
    """The part of each class that is dropped late in a long run of packets of 1 ms."""
    rows = [arrival(i, i * gap_ns, 1250, i * 7 // 3 % classes) for i in range(60_000)]
    late = wred_cisco.run(rows, RATE, settings)[20_000:]
    parts = []
    for number in range(classes):
        mine = [row for row in late if row.arrival.flow == number]
        parts.append(sum(row.verdict == DROPPED for row in mine) / len(mine))
    return parts


def test_the_drop_rate_is_the_lines_of_each_class_at_one_average() -> None:
    # Both classes lie on one line of slope 0.2 / 20, 10 packets apart: the drop rates differ by
    # that, and their mean is the excess.
    settings = Settings((20, 30), (40, 50), (0.2, 0.2), limit=1000)
    first, second = dropped(settings, 900_000, classes=2)
    assert abs((first + second) / 2 - 0.1) < 0.003
    assert abs(first - second - 0.1) < 0.015


def test_a_class_below_its_threshold_loses_nothing() -> None:
    first, second = dropped(Settings((5, 60), (40, 80), (0.5, 0.5), limit=1000), 900_000, 2)
    assert second == 0
    assert abs(first - 0.2) < 0.01


def test_linux_drops_what_an_overload_has_in_excess() -> None:
    settings = Settings((15_000,), (45_000,), (0.2,), limit=10**6, linux=True, log_weight=7)
    (rate,) = dropped(settings, 952_381, 1)
    assert abs(rate - (1 - 1 / 1.05)) < 0.002


FAULTS: dict[str, list[tuple[str, str]]] = {
    "one class for all": [("values[min(packet.flow, len(values) - 1)]", "values[0]")],
    "flows beyond the last class are the first": [
        ("values[min(packet.flow, len(values) - 1)]", "values[packet.flow % len(values)]")
    ],
    "cisco: weight one power less": [
        ("2.0**-self._set.log_weight", "2.0 ** (1 - self._set.log_weight)")
    ],
    "cisco: the arriving packet counts": [
        ("weight * len(self._fifo)", "weight * (len(self._fifo) + 1)")
    ],
    "cisco: a draw for every packet": [
        (
            "        low, high, max_p = self._set.of(packet)\n        reason = None\n        if self._average > high",
            "        low, high, max_p = self._set.of(packet)\n        self._draws.uniform()\n        reason = None\n        if self._average > high",
        )
    ],
    "cisco: probability of the whole way": [
        ("(self._average - low) / (high - low)", "self._average / high")
    ],
    "cisco: no decay": [
        ("(1 - weight) ** packets * self._average", "self._average"),
    ],
    "cisco: idle times of a tenth": [("/ self._packet_s", "/ self._packet_s / 10")],
    "linux: one count for all classes": [("return min(packet.flow, most - 1)", "return 0")],
    "linux: idle since the link asked in vain": [
        (
            "        if not self._fifo:\n            return None\n        packet",
            "        if not self._fifo:\n            self._idle_since_ps = now_ps\n            return None\n        packet",
        ),
        ("        if self._bytes == 0:\n            self._idle_since_ps = now_ps\n", ""),
    ],
    "linux: no decay": [
        (
            "return self._qavg - lost if lost < self._qavg >> 1 else self._qavg >> 1",
            "return self._qavg",
        )
    ],
    "linux: a new draw only at the beginning": [
        (
            "count = 0\n                self._random[number] = (self._draws.bits() >> 32) // reciprocal\n",
            "count = 0\n",
        )
    ],
    "linux: the sample is scaled": [
        ("self._qavg += self._bytes -", "self._qavg += (self._bytes << 1) -")
    ],
    "linux: forced drops keep the count": [
        (
            "            reason = FORCED\n            count = -1\n        else:\n            count += 1",
            "            reason = FORCED\n        else:\n            count += 1",
        )
    ],
}


def both(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    fates: list[Outcome] = []
    for settings in (
        module.Settings((3, 6, 9), (12, 14, 18), (0.2, 0.1, 0.3), limit=30, log_weight=5, ecn=True),
        module.Settings(
            (3000, 5000, 7000),
            (9000, 12_000, 16_000),
            (0.2, 0.1, 0.3),
            limit=30_000,
            log_weight=4,
            linux=True,
        ),
    ):
        for row in module.run(rows, rate, settings):
            packet = Arrival(len(fates), row.arrival.time_ps, row.arrival.size, row.arrival.flow, 0)
            fates.append(Outcome(packet, row.verdict, row.reason, row.departure_ps))
    return fates


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_wred_is_exposed(fault: str, found: list[oracle_faults.Case]) -> None:
    assert oracle_faults.exposed(both, wred_cisco, FAULTS[fault], found)


def test_an_unedited_copy_agrees(found: list[oracle_faults.Case]) -> None:
    assert not oracle_faults.exposed(both, wred_cisco, [], found[:2])
