"""The oracle of the policer against worked examples, closed forms and planted faults."""

from __future__ import annotations

import types
from dataclasses import replace

import pytest

import lindley
import oracle_faults
import police_rfcs
import shaper
from police_rfcs import GREEN, MARK, RED, YELLOW, Meter, Profile
from replay_io import DROPPED, MARKED, SENT, Arrival, Limit, Outcome, arrival

S = 10**12


@pytest.fixture(scope="module")
def found() -> list[oracle_faults.Case]:
    """Three of four flows are capable."""
    return [
        ([replace(row, ecn=row.flow % 4) for row in rows], rate)
        for rows, rate in oracle_faults.cases(flows=4)
    ]


def colours(profile: Profile, *packets: tuple[int, int]) -> list[str]:
    """Of packets of (time in picoseconds, size)."""
    meter = Meter(profile)
    return [meter.colour(size, time) for time, size in packets]


def test_one_bucket_passes_its_burst_and_then_the_rate() -> None:
    # 1000 bytes a second.
    profile = Profile(2215, 8000, 3000)
    packets = [(0, 1000)] * 4 + [(S - 1, 1000), (S, 1000), (S, 1)]
    assert colours(profile, *packets) == [GREEN] * 3 + [RED, RED, GREEN, RED]


def test_the_excess_bucket_of_rfc_2697_fills_only_while_the_committed_one_is_full() -> None:
    profile = Profile(2697, 8000, 2000, second_burst=1000)
    assert colours(profile, (0, 1500), (0, 1200), (0, 600)) == [GREEN, RED, YELLOW]
    # After 1.5 s the first is full and the second has what it had.
    packets = [(0, 1500), (0, 600), (3 * S // 2, 2000), (3 * S // 2, 401), (3 * S // 2, 400)]
    assert colours(profile, *packets) == [GREEN, YELLOW, GREEN, RED, YELLOW]


def test_green_packets_of_rfc_2698_take_from_the_peak_bucket_too() -> None:
    profile = Profile(2698, 8000, 1500, 16_000, 3000)
    packets = [(0, 1200), (0, 1000), (0, 900), (0, 300)]
    assert colours(profile, *packets) == [GREEN, YELLOW, RED, GREEN]


def test_yellow_packets_of_rfc_4115_take_nothing_from_green_ones() -> None:
    profile = Profile(4115, 8000, 1500, 16_000, 3000)
    packets = [(0, 1200), (0, 1000), (0, 900), (0, 300)]
    assert colours(profile, *packets) == [GREEN, YELLOW, YELLOW, GREEN]


def test_a_policer_above_the_load_is_a_plain_queue(found: list[oracle_faults.Case]) -> None:
    limit = Limit(packets=20)
    for rows, rate in found:
        ours = police_rfcs.run(rows, rate, Profile(2215, 10**12, 10**6), limit)
        theirs = lindley.run(rows, rate, limit)
        fates = [(row.verdict, row.departure_ps) for row in ours]
        assert fates == [(row.verdict, row.departure_ps) for row in theirs]


def test_what_is_admitted_in_any_interval_is_at_most_rate_and_burst(
    found: list[oracle_faults.Case],
) -> None:
    for rows, link in found:
        rate, burst = link * 3 // 7, 4000
        outcomes = police_rfcs.run(rows, link, Profile(2215, rate, burst), Limit())
        admitted = [
            replace(row, departure_ps=row.arrival.time_ps)
            for row in outcomes
            if row.verdict == SENT
        ]
        assert shaper.worst_excess(admitted, rate) <= burst * 8 * S


def test_red_packets_are_marked_if_they_are_capable_and_dropped_if_not() -> None:
    rows = [arrival(i, 0, 1000, 0, i % 2 * 2) for i in range(4)]
    outcomes = police_rfcs.run(rows, 8_000_000, Profile(2215, 8000, 1000, red=MARK), Limit())
    assert [row.verdict for row in outcomes] == [SENT, MARKED, DROPPED, MARKED]


FAULTS: dict[str, list[tuple[str, str]]] = {
    "the bucket overflows": [("max(self.full_at, clock) + size", "self.full_at + size")],
    "a full bucket does not conform": [("<= self._depth", "< self._depth")],
    "the rate is in bytes": [("Fraction(8 * PS_PER_S, rate_bps)", "Fraction(PS_PER_S, rate_bps)")],
    "the excess bucket always fills": [
        ("self._over if self._kind == 2697 else now", "now"),
    ],
    "the excess bucket fills with what C takes too": [
        ("first = max(self._seen, self._committed.full_at)", "first = self._seen"),
    ],
    "green takes nothing from the peak": [
        (
            "            self._second.take(size, second_clock)\n            if not committed:",
            "            if not committed:\n                self._second.take(size, second_clock)\n            if not committed:",
        )
    ],
    "yellow takes from the committed bucket": [
        (
            "            if not committed:\n                return YELLOW\n            self._committed.take(size, now)",
            "            self._committed.take(size, now)\n            if not committed:\n                return YELLOW",
        )
    ],
    "RFC 4115 in the order of RFC 2698": [
        ("if self._kind == 2698:", "if self._kind in (2698, 4115):")
    ],
    "red takes tokens": [
        (
            "        return RED\n\n\nclass",
            "        self._committed.take(size, now)\n        return RED\n\n\nclass",
        )
    ],
    "what is not capable passes": [(" and packet.ecn == 0", " and packet.ecn == 9")],
    "yellow has the fate of red": [("YELLOW: self._profile.yellow", "YELLOW: self._profile.red")],
}


def profiles(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    """All kinds one after the other, so that one list of fates covers them."""
    third, quarter = rate // 3, rate // 4
    several = [
        module.Profile(2215, third, 5000),
        module.Profile(2697, third, 5000, 0, 20_000, yellow=module.MARK),
        module.Profile(2698, quarter, 5000, third * 2, 9000, red=module.MARK, yellow=module.DROP),
        module.Profile(4115, quarter, 5000, quarter, 9000, yellow=module.MARK),
    ]
    fates: list[Outcome] = []
    for profile in several:
        for row in module.run(rows, rate, profile, Limit(packets=30)):
            packet = replace(row.arrival, index=len(fates))
            fates.append(Outcome(packet, row.verdict, row.reason, row.departure_ps))
    return fates


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_policer_is_exposed(fault: str, found: list[oracle_faults.Case]) -> None:
    assert oracle_faults.exposed(profiles, police_rfcs, FAULTS[fault], found[:12])


def test_an_unedited_copy_agrees(found: list[oracle_faults.Case]) -> None:
    assert not oracle_faults.exposed(profiles, police_rfcs, [], found[:2])
