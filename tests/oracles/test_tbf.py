"""The oracle of the token bucket filter against closed forms and planted faults."""

from __future__ import annotations

import types

import pytest

import compare
import lindley
import shaper
import tbf_rfc2215
from replay_io import Arrival, Limit, Outcome, arrival
from test_oracles import RATE, Case, Edits, at_once, cases, exposes, faulty

MS = 10**9


@pytest.fixture(scope="module")
def one_flow() -> list[Case]:
    return cases(flows=1)


def test_a_burst_leaves_at_the_rate_of_the_link_and_the_rest_at_that_of_the_bucket() -> None:
    rows = at_once({0: [1000] * 8})
    outcomes = tbf_rfc2215.run(rows, 8_000_000, 1_000_000, 4000, Limit())
    # 1 ms a packet on the link, 8 ms in the bucket; at 1, 2 and 3 ms the bucket still holds a packet.
    times = [row.departure_ps for row in outcomes]
    assert times == [0, MS, 2 * MS, 3 * MS, 8 * MS, 16 * MS, 24 * MS, 32 * MS]


def test_a_peak_rate_spaces_the_burst() -> None:
    rows = at_once({0: [1000] * 5})
    outcomes = tbf_rfc2215.run(rows, 8_000_000, 1_000_000, 3000, Limit(), 4_000_000, 1000)
    times = [row.departure_ps for row in outcomes]
    assert times == [0, 2 * MS, 4 * MS, 8 * MS, 16 * MS]


def test_a_bucket_as_fast_as_the_link_holds_nothing_back(one_flow: list[Case]) -> None:
    limit = Limit(packets=50)
    for rows, rate in one_flow:
        ours = tbf_rfc2215.run(rows, rate, rate, 1500, limit)
        theirs = lindley.run(rows, rate, limit)
        # At a rate that has no whole number of picoseconds to a byte the waits may differ by one.
        found = compare.compare(compare.rows_of(ours), compare.rows_of(theirs), tolerance_ns=1)
        assert found is None


@pytest.mark.parametrize("linux", [False, True])
def test_no_interval_has_more_than_rate_and_burst(one_flow: list[Case], linux: bool) -> None:
    for rows, link in one_flow:
        rate, burst = link * 3 // 7, 4000
        outcomes = tbf_rfc2215.run(rows, link, rate, burst, Limit(packets=60), linux=linux)
        excess = shaper.worst_excess(outcomes, rate) - burst * 8 * 10**12
        # Linux rounds the cost of a packet down to a nanosecond.
        assert excess <= (rate * 1000 * len(rows) if linux else 0)


def test_linux_rounds_costs_down_to_nanoseconds() -> None:
    assert shaper.LinuxRate(8_000_000).ns(1500) == 1_500_000
    assert shaper.LinuxRate(10_000_000).ns(1514) == 1_211_200
    assert shaper.LinuxRate(7_300_000).ns(1514) == 1514 * 8 * 10**9 // 7_300_000


def test_packets_above_the_burst_are_dropped() -> None:
    rows = [arrival(0, 0, 1500), arrival(1, 1, 1501)]
    outcomes = tbf_rfc2215.run(rows, RATE, 1_000_000, 1500, Limit())
    assert [row.departure_ps is None for row in outcomes] == [False, True]


FAULTS: dict[str, Edits] = {
    "the bucket overflows": [("max(self._full, Fraction(now_ps))", "self._full")],
    "half a burst": [
        ("self._depth = depth * self._per_byte", "self._depth = depth * self._per_byte / 2")
    ],
    "the rate is in bytes": [("Fraction(8 * PS_PER_S, rate_bps)", "Fraction(PS_PER_S, rate_bps)")],
    "a packet goes on credit": [
        (
            "self._full + size * self._per_byte - self._depth",
            "self._full + self._per_byte - self._depth",
        )
    ],
    "the peak rate is not charged": [
        ("for bucket in self._buckets:", "for bucket in self._buckets[:1]:")
    ],
    "the limit is one packet lower": [("len(self._fifo) + 1,", "len(self._fifo) + 2,")],
    "each arrival adds a byte": [
        (
            "now_ps: int) -> None:\n        admitted",
            "now_ps: int) -> None:\n        self._bytes += 1\n        admitted",
        )
    ],
}


def case(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    outcomes: list[Outcome] = module.run(
        rows,
        rate,
        rate * 3 // 7,
        6000,
        Limit(size=60_000) if rate < RATE else Limit(packets=40),
        rate * 5 // 7,
        1500,
    )
    return outcomes


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_tbf_is_exposed(fault: str, one_flow: list[Case]) -> None:
    assert exposes(case, faulty(tbf_rfc2215, *FAULTS[fault]), tbf_rfc2215, one_flow)


def test_an_unedited_copy_agrees(one_flow: list[Case]) -> None:
    assert not exposes(case, faulty(tbf_rfc2215), tbf_rfc2215, one_flow[:4])
