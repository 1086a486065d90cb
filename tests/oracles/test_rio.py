"""The oracle of RIO against RED's, closed forms and planted faults."""

from __future__ import annotations

import types

import pytest

import compare
import oracle_faults
import red_paper
import rio_clark_fang
from replay_io import DROPPED, Arrival, Limit, Outcome, arrival
from rio_clark_fang import NS2, Curve, Settings

RATE = 10_000_000


@pytest.fixture(scope="module")
def found() -> list[oracle_faults.Case]:
    return oracle_faults.cases(flows=3)


@pytest.mark.parametrize("flow", [0, 1])
@pytest.mark.parametrize("coupled", [True, False])
def test_with_one_kind_of_packets_rio_is_red(flow: int, coupled: bool) -> None:
    curve = Curve(5, 15, 0.1)
    settings = Settings(coupled=coupled, inside=curve, outside=curve, w_q=0.02, limit=40)
    theirs = red_paper.Settings(max_p=0.1, w_q=0.02, limit=Limit(packets=40))
    for rows, rate in oracle_faults.cases(flows=1)[::3]:
        rows = [Arrival(r.index, r.time_ps, r.size, flow, 0) for r in rows]
        ours = compare.rows_of(rio_clark_fang.run(rows, rate, settings))
        assert compare.compare(ours, compare.rows_of(red_paper.run(rows, rate, theirs))) is None


def drops_by_kind(settings: Settings, in_of_ten: int) -> tuple[float, float]:
    """The part of IN and of OUT packets that a link at 1.25 times its rate drops."""
    rows = [arrival(i, i * 800_000, 1250, int(i % 10 < in_of_ten)) for i in range(40_000)]
    late = rio_clark_fang.run(rows, RATE, settings)[10_000:]
    parts = []
    for kind in (1, 0):
        mine = [row for row in late if row.arrival.flow == kind]
        parts.append(sum(row.verdict == DROPPED for row in mine) / len(mine))
    return parts[0], parts[1]


def test_out_packets_bear_the_excess_while_in_packets_fit() -> None:
    ins, outs = drops_by_kind(Settings(limit=1000), in_of_ten=5)
    assert ins == 0
    assert abs(outs - 0.4) < 0.01


def test_ns2_without_in_packets_is_droptail() -> None:
    rows = [arrival(i, i * 800_000, 1250, 0) for i in range(4000)]
    fates = rio_clark_fang.run(rows, RATE, NS2)
    assert {row.reason for row in fates if row.verdict == DROPPED} == {rio_clark_fang.OVERFLOW}


FAULTS: dict[str, list[tuple[str, str]]] = {
    "out by its own average though coupled": [('== "out" and self._set.coupled', '== "none"')],
    "in by the average of all": [('kind == "out" and self._set.coupled', "self._set.coupled")],
    "the average of all moves on in arrivals only": [
        (
            '        self._move(self._averages["all"]',
            '        if kind == "in":\n            self._move(self._averages["all"]',
        )
    ],
    "one count for both kinds": [
        (
            "self._counts[kind] += 1",
            'self._counts["in"] += 1\n        self._counts["out"] = self._counts["in"]',
        )
    ],
    "an average forgets idle times that it did not see": [
        (
            "            self._idle_ps += now_ps - self._idle_since\n",
            "            self._idle_ps += now_ps - self._idle_since\n            self._averages['in'].idle_ps += now_ps - self._idle_since\n",
        )
    ],
    "the arrival after an idle time is a sample": [
        ("        if not ends_idle:\n", "        if True:\n")
    ],
    "ns-2 moves its averages on out arrivals": [
        (
            '        if kind == "in":\n            present',
            '        if kind != "none":\n            present',
        )
    ],
    "ns-2 forgets an idle time when an out packet leaves": [
        (
            "        if is_in(packet):\n            self._idle",
            "        if True:\n            self._idle",
        )
    ],
    "ns-2 spares no first packet": [("elif not self._old[kind]:", "elif False:")],
    "ns-2 counts all packets against in": [
        ("            present = sum(is_in(waiting) for waiting in self._fifo)\n", "")
    ],
    "ns-2 starts the count of out anew": [
        (
            'OVERFLOW) and kind == "in":\n            self._count["in"]',
            "OVERFLOW):\n            self._count[kind]",
        )
    ],
}


def both(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    """Coupled, decoupled and ns-2's one after the other."""
    inside, outside = module.Curve(4, 14, 0.1), module.Curve(2, 9, 0.3)
    fates: list[Outcome] = []
    for settings in (
        module.Settings(inside=inside, outside=outside, w_q=0.05, limit=30),
        module.Settings(coupled=False, inside=inside, outside=outside, w_q=0.05, limit=30),
        module.Settings(ns2=True, inside=inside, outside=outside, w_q=0.05, limit=16),
        module.Settings(ns2=True, inside=inside, outside=outside, w_q=0.5, limit=7),
    ):
        for row in module.run(rows, rate, settings):
            packet = Arrival(len(fates), row.arrival.time_ps, row.arrival.size, row.arrival.flow, 0)
            fates.append(Outcome(packet, row.verdict, row.reason, row.departure_ps))
    return fates


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_rio_is_exposed(fault: str, found: list[oracle_faults.Case]) -> None:
    assert oracle_faults.exposed(both, rio_clark_fang, FAULTS[fault], found)


def test_an_unedited_copy_agrees(found: list[oracle_faults.Case]) -> None:
    assert not oracle_faults.exposed(both, rio_clark_fang, [], found[:2])
