"""The oracle of the heavy-hitter filter against closed forms and planted faults."""

from __future__ import annotations

import types

import pytest

import hhf_linux
import oracle_faults
from hhf_linux import HEAVY, LIGHT, Settings
from replay_io import DROPPED, Arrival, Log, Outcome, arrival

RATE = 10_000_000


@pytest.fixture(scope="module")
def found() -> list[oracle_faults.Case]:
    return oracle_faults.cases(flows=12, packets=1200)


def test_a_flow_is_heavy_after_the_bytes_that_admit_it() -> None:
    filters = hhf_linux.Hhf(Log([]), Settings(admit_bytes=10_000))
    buckets = [filters._classify(arrival(i, 0, 1000, 7), 0) for i in range(14)]
    assert buckets == [LIGHT] * 10 + [HEAVY] * 4


def test_counters_start_anew_after_more_than_the_timeout() -> None:
    def heavy(gap_jiffies: int) -> bool:
        filters = hhf_linux.Hhf(Log([]), Settings(admit_bytes=1500))
        filters._classify(arrival(0, 0, 1000, 7), 0)
        return filters._classify(arrival(1, 0, 1000, 7), gap_jiffies) == HEAVY

    assert heavy(10)
    assert not heavy(11)


def test_a_heavy_flow_is_forgotten_after_more_than_the_timeout() -> None:
    filters = hhf_linux.Hhf(Log([]), Settings(admit_bytes=500))
    assert filters._classify(arrival(0, 0, 1000, 7), 0) == HEAVY
    # Small packets never admit a flow by themselves.
    assert filters._classify(arrival(1, 0, 100, 7), 250) == HEAVY
    assert filters._classify(arrival(2, 0, 100, 7), 501) == LIGHT


def test_light_packets_get_two_thirds_while_both_wait() -> None:
    rows = [arrival(i, 0, 1000, i % 2) for i in range(2000)]
    log = Log(rows)
    filters = hhf_linux.Hhf(log, Settings(limit=10**6, quantum=1000))
    for row in rows:
        filters._fifo[row.flow].append(row)
    filters._old, filters._deficit = [HEAVY, LIGHT], [1000, 2000]
    sent = [filters.dequeue(0) for _ in range(600)]
    light = sum(packet is not None and packet.flow == LIGHT for packet in sent)
    assert abs(light - 400) <= 2


def test_the_heavy_bucket_gives_way() -> None:
    rows = [arrival(i, i * 400_000, 1000, 0 if i % 4 else 1 + i % 8) for i in range(4000)]
    fates = hhf_linux.run(rows, RATE, Settings(limit=50, admit_bytes=20_000))
    dropped = [row.arrival.flow for row in fates if row.verdict == DROPPED]
    assert dropped.count(0) / len(dropped) > 0.95


FAULTS: dict[str, list[tuple[str, str]]] = {
    "no conservative update": [
        ("max(counters.get(place, 0), least)", "counters.get(place, 0) + packet.size")
    ],
    "no shielding": [
        (
            "        for counters, place in zip(self._counters, places, strict=True):\n            counters[place] = max(counters.get(place, 0), least)\n        return LIGHT",
            "        return LIGHT",
        ),
        (
            "        least = min(sums)\n",
            "        least = min(sums)\n        for counters, place in zip(self._counters, places, strict=True):\n            counters[place] = max(counters.get(place, 0), least)\n",
        ),
    ],
    "admits at the threshold": [
        ("if least > self._set.admit_bytes", "if least >= self._set.admit_bytes")
    ],
    "counters are never void": [
        (
            "            self._counters = [{}, {}, {}, {}]\n            self._reset_at = now\n",
            "            self._reset_at = now\n",
        )
    ],
    "void at the timeout itself": [
        (
            "self._jiffies(self._set.reset_timeout_ms) < now",
            "self._jiffies(self._set.reset_timeout_ms) <= now",
        )
    ],
    "a hit does not renew a flow": [
        (
            "                entry.hit = now\n                return HEAVY\n        places",
            "                return HEAVY\n        places",
        )
    ],
    "the last of a chain goes too": [
        ("                if entry is chain[-1]:\n                    break\n", "")
    ],
    "one array only": [("least = min(sums)", "least = sums[0]")],
    "no weight": [
        (
            "self._set.quantum * (1 if bucket == HEAVY else self._set.non_hh_weight)",
            "self._set.quantum",
        )
    ],
    "the heavy bucket is new": [("(self._old if bucket == HEAVY else self._new)", "self._new")],
    "drops from the light bucket": [
        ("self._fifo[HEAVY] or self._fifo[LIGHT]", "self._fifo[LIGHT] or self._fifo[HEAVY]")
    ],
    "drops the tail": [("victims.popleft()", "victims.pop()")],
    "an empty new bucket leaves at once": [
        (
            "                if was_new and self._old:\n                    self._old.append(bucket)\n",
            "",
        )
    ],
    "the table has no limit": [(">= self._set.hh_limit", ">= 10**9")],
}


def several(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    fates: list[Outcome] = []
    base = {"limit": 30, "quantum": 700, "non_hh_weight": 3}
    for settings in (
        module.Settings(admit_bytes=8000, evict_timeout_ms=20, **base),
        module.Settings(admit_bytes=3000, evict_timeout_ms=100, hh_limit=3, **base),
        # Few bits, so that chains and collisions matter.
        module.Settings(admit_bytes=1500, evict_timeout_ms=8, mask=0x801, hh_limit=2, **base),
        module.Settings(
            admit_bytes=5000, reset_timeout_ms=200, evict_timeout_ms=60, mask=0x00100401, **base
        ),
    ):
        for row in module.run(rows, rate, settings):
            packet = Arrival(len(fates), row.arrival.time_ps, row.arrival.size, row.arrival.flow, 0)
            fates.append(Outcome(packet, row.verdict, row.reason, row.departure_ps))
    return fates


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_filter_is_exposed(fault: str, found: list[oracle_faults.Case]) -> None:
    assert oracle_faults.exposed(several, hhf_linux, FAULTS[fault], found)


def test_an_unedited_copy_agrees(found: list[oracle_faults.Case]) -> None:
    assert not oracle_faults.exposed(several, hhf_linux, [], found[:2])
