"""The oracle of RED's variants against closed forms, RED's own oracle and planted faults."""

from __future__ import annotations

import types

import pytest

import compare
import oracle_faults
import red_paper
import red_variants
from replay_io import DROPPED, Arrival, Limit, Log, Outcome, arrival, drive
from streams import Stream

RATE = 10_000_000


@pytest.fixture(scope="module")
def found() -> list[oracle_faults.Case]:
    return oracle_faults.cases(flows=1)


def test_without_a_variant_it_is_red(found: list[oracle_faults.Case]) -> None:
    for rows, rate in found:
        settings = red_variants.Settings(gentle=True, w_q=0.02, wait=True, limit=60)
        theirs = red_paper.Settings(gentle=True, w_q=0.02, wait=True, limit=Limit(packets=60))
        ours = compare.rows_of(red_variants.run(rows, rate, settings))
        assert compare.compare(ours, compare.rows_of(red_paper.run(rows, rate, theirs))) is None


def steady(settings: red_variants.Settings, load_gap_ns: int) -> float:
    """The part dropped of packets of 1 ms that come at even gaps, late in a long run."""
    rows = [arrival(i, i * load_gap_ns, 1250) for i in range(60_000)]
    late = red_variants.run(rows, RATE, settings)[20_000:]
    return sum(row.verdict == DROPPED for row in late) / len(late)


def test_a_quadratic_curve_drops_what_an_overload_has_in_excess() -> None:
    settings = red_variants.Settings(quadratic=True, max_p=0.1, limit=1000)
    assert abs(steady(settings, 952_381) - (1 - 1 / 1.05)) < 0.002


def test_the_areas_under_both_curves_are_equal() -> None:
    def area(quadratic: bool) -> float:
        settings = red_variants.Settings(quadratic=quadratic)
        queue = red_variants.VariantQueue(Log([]), RATE, settings, Stream(1))
        total = 0.0
        for step in range(10_000):
            queue._avg = 5 + 10 * (step + 0.5) / 10_000
            total += queue._p_b()
        return total / 10_000

    assert abs(area(True) / area(False) - 1) < 1e-6


def test_feng_moves_max_p_once_per_crossing() -> None:
    settings = red_variants.Settings(feng=(3.0, 2.0), w_q=1.0, max_p=0.3, limit=10**6)
    queue = red_variants.VariantQueue(Log([]), RATE, settings, Stream(1))
    queue._idle_since = None
    seen = []
    for length in (0, 0, 10, 20, 20, 10, 20, 3, 2, 20):
        queue._fifo.clear()
        queue._fifo.extend([arrival(0, 0, 1250)] * length)
        queue._update(0)
        seen.append(round(queue._max_p / 0.3, 9))
    assert seen == [
        round(x, 9) for x in (1 / 3, 1 / 3, 1 / 3, 2 / 3, 2 / 3, 2 / 3, 4 / 3, 4 / 9, 4 / 9, 8 / 9)
    ]


def test_rared_settles_where_the_load_asks_for_a_probability_within_the_target() -> None:
    """An overload of 5 % needs p = 1 - 1/1.05 whatever max_p was first; max_p makes avg its target."""
    for first in (0.05, 0.3):
        settings = red_variants.Settings(refined=True, w_q=0.02, max_p=first, limit=1000)
        rows = [arrival(i, i * 952_381, 1250) for i in range(60_000)]
        log = Log(rows)
        queue = red_variants.VariantQueue(log, RATE, settings, Stream(1))
        fates = drive(rows, RATE, queue, log)[20_000:]
        lost = sum(row.verdict == DROPPED for row in fates) / len(fates)
        assert abs(lost - (1 - 1 / 1.05)) < 0.003, (first, lost)
        assert 9.0 < queue._avg < 11.0, (first, queue._avg)


FAULTS: dict[str, list[tuple[str, str]]] = {
    "feng's factors exchanged": [("alpha, beta = self._set.feng", "beta, alpha = self._set.feng")],
    "feng at every arrival below": [(' and self._status != "Below"', "")],
    "feng forgets that it was between": [('self._status = "Between"', "pass")],
    "feng begins below": [
        ('self._status = "Above"\n        self._idle', 'self._status = "Below"\n        self._idle')
    ],
    "cubic": [("1.5 * way * way", "1.5 * way * way * way")],
    "no one and a half": [("1.5 * way * way", "way * way")],
    "the first packet above min is not spared": [
        (
            "            self._old = True\n            self._count = 1\n            return None\n",
            "            self._old = True\n            self._count = 1\n",
        )
    ],
    "count begins at 0": [
        (
            "self._old = True\n            self._count = 1",
            "self._old = True\n            self._count = 0",
        )
    ],
    "drops while one waits": [(" or len(self._fifo) <= 1", "")],
    "idle time without the one": [("keep ** (idle + 1)", "keep**idle")],
    "gentle by the present max_p": [("start = self._set.max_p", "start = self._max_p")],
    "rared with the range of ared": [
        ("0.48 * span, self._set.max_th - 0.48", "0.4 * span, self._set.max_th - 0.4")
    ],
    "rared by the distance from max_th": [
        (
            "0.25 * self._max_p * (self._avg - high) / high",
            "0.25 * self._max_p * (self._avg - high) / 15",
        )
    ],
    "rared shrinks by a fifth": [("0.17 * way", "0.2 * way")],
    "limit one lower": [(">= self._set.limit", ">= self._set.limit - 1")],
}


def variants(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    """Five settings one after the other, so that one list of fates covers them all."""
    feng = module.Settings(feng=(3.0, 2.0), w_q=0.02, max_p=0.1, gentle=True, limit=40)
    curve = module.Settings(quadratic=True, w_q=0.02, max_p=0.2, limit=40)
    ns = module.Settings(ns=True, w_q=0.05, gentle=True, wait=True, max_p=0.1, limit=25)
    refined = module.Settings(refined=True, w_q=0.05, max_p=0.1, gentle=True, limit=40)
    # A queue that is measured as it is, so that the least lengths matter.
    short = module.Settings(
        ns=True, w_q=1.0, min_th=1, max_th=3, gentle=True, feng=(3.0, 2.0), limit=25
    )
    fates: list[Outcome] = []
    for settings in (feng, curve, ns, refined, short):
        for row in module.run(rows, rate, settings):
            packet = Arrival(len(fates), row.arrival.time_ps, row.arrival.size, row.arrival.flow, 0)
            fates.append(Outcome(packet, row.verdict, row.reason, row.departure_ps))
    return fates


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_variant_is_exposed(fault: str, found: list[oracle_faults.Case]) -> None:
    assert oracle_faults.exposed(variants, red_variants, FAULTS[fault], found[:12])


def test_an_unedited_copy_agrees(found: list[oracle_faults.Case]) -> None:
    assert not oracle_faults.exposed(variants, red_variants, [], found[:2])
