"""The oracle of the time sliding window marker against closed forms and planted faults."""

from __future__ import annotations

import types

import pytest

import oracle_faults
import rio_clark_fang
import tsw_rfc2859
from replay_io import Arrival, Outcome, arrival
from streams import Stream
from tsw_rfc2859 import GREEN, RED, YELLOW, Marker, Profile

RIO = rio_clark_fang.Settings(
    w_q=0.05,
    limit=30,
    inside=rio_clark_fang.Curve(6, 14, 0.1),
    outside=rio_clark_fang.Curve(2, 9, 0.3),
)


@pytest.fixture(scope="module")
def found() -> list[oracle_faults.Case]:
    return oracle_faults.cases(flows=3)


@pytest.mark.parametrize(
    ("gap_ns", "parts"),
    [
        # 8, 4 and 1 Mbps against 2 and 5.
        (1_000_000, {GREEN: 2 / 8, YELLOW: 3 / 8, RED: 3 / 8}),
        (2_000_000, {GREEN: 2 / 4, YELLOW: 2 / 4, RED: 0.0}),
        (8_000_000, {GREEN: 1.0, YELLOW: 0.0, RED: 0.0}),
    ],
)
def test_colours_have_the_rates_of_the_profile(gap_ns: int, parts: dict[str, float]) -> None:
    marker = Marker(Profile((2_000_000,), (5_000_000,), window_s=0.05), Stream(1))
    rows = [arrival(i, i * gap_ns, 1000) for i in range(60_000)]
    colours = [marker.colour(row, row.time_ps) for row in rows][10_000:]
    for colour, part in parts.items():
        assert abs(colours.count(colour) / len(colours) - part) < 0.012, colour


FAULTS: dict[str, list[tuple[str, str]]] = {
    "the probability of some slides": [("(average - ptr) / average", "(average - ptr) / ptr")],
    "no packet size in the average": [("* win + packet.size)", "* win)")],
    "begins at nothing": [
        ("self._average.get(packet.flow, ctr)", "self._average.get(packet.flow, 0.0)")
    ],
    "window left out below": [("/ (elapsed_s + win)", "/ win")],
    "one profile for all": [("self._average[packet.flow] = average", "self._average[0] = average")],
    "a draw for each packet": [
        (
            "        if average <= ctr * rates.onset:\n            return GREEN\n        draw = self._draws.uniform()",
            "        draw = self._draws.uniform()\n        if average <= ctr * rates.onset:\n            return GREEN",
        )
    ],
    "no onset": [("ctr * rates.onset", "ctr")],
    "yellow is in": [("colour == GREEN", "colour != RED")],
}


def profiles(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    """Two profiles one after the other, so that one list of fates covers them."""
    two = module.Profile((rate // 5, rate // 20), window_s=0.1, onset=1.3)
    three = module.Profile((rate // 8,), (rate // 4,), window_s=0.02)
    fates: list[Outcome] = []
    for profile in (two, three):
        for row in module.run(rows, rate, profile, RIO):
            packet = Arrival(len(fates), row.arrival.time_ps, row.arrival.size, row.arrival.flow, 0)
            fates.append(Outcome(packet, row.verdict, row.reason, row.departure_ps))
    return fates


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_marker_is_exposed(fault: str, found: list[oracle_faults.Case]) -> None:
    assert oracle_faults.exposed(profiles, tsw_rfc2859, FAULTS[fault], found[:12])


def test_an_unedited_copy_agrees(found: list[oracle_faults.Case]) -> None:
    assert not oracle_faults.exposed(profiles, tsw_rfc2859, [], found[:2])
