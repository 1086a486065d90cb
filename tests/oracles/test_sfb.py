"""The SFB oracle against what its design promises and planted faults."""

from __future__ import annotations

import dataclasses
import types

import pytest

import sfb_paper
import test_oracles
from replay_io import DROPPED, MARKED, PS_PER_S, Arrival, Limit, Outcome, arrival
from sfb_paper import LINUX, Settings

RATE = 10_000_000
MS = PS_PER_S // 1000

FAULTS: dict[str, test_oracles.Edits] = {
    "maximum in place of minimum": [
        ("return min(b.p for b in bins)", "return max(b.p for b in bins)")
    ],
    "one level only": [
        (
            "for number, level in enumerate(self._sets[which])",
            "for number, level in list(enumerate(self._sets[which]))[:1]",
        )
    ],
    "no hold time": [("now_ps - b.changed_ps > self._set.hold_ps", "True")],
    "bins never emptied": [("            b.qlen -= 1\n", "            pass\n")],
    "dropped packets are counted": [
        (
            "        if self._full(bins):\n",
            "        if self._full(bins):\n            bins[0].qlen += 1\n",
        )
    ],
    "a draw for penalized packets": [
        (
            "            if self._limited(now_ps):\n",
            "            self._draws.bits()\n            if self._limited(now_ps):\n",
        )
    ],
    "full bins do not drop": [
        ("return max(b.qlen for b in bins) > self._set.bin_size", "return False")
    ],
    "one step larger bins": [
        ("else b.qlen > self._set.bin_size\n", "else b.qlen > self._set.bin_size + 1\n")
    ],
    "penalty box open": [
        (
            "            if now_ps - self._boxed_ps < self._set.boxtime_ps:\n",
            "            if False:\n",
        )
    ],
    "never moves": [("        if now_ps > due:\n", "        if False:\n")],
    "warm-up not used": [
        ("            self._doubled = True\n", "            self._doubled = False\n")
    ],
}


def case(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    # Large steps and few bins, so that probabilities come to 1 and flows share bins.
    settings = module.Settings(
        d1=0.2,
        d2=0.05,
        bins=4,
        bin_size=6,
        hold_ps=2 * MS,
        boxtime_ps=20 * MS,
        rehash_ps=400 * MS,
        warmup_ps=200 * MS,
        limit=Limit(packets=40),
        ecn=True,
    )
    outcomes: list[Outcome] = module.run(rows, rate, settings)
    return outcomes


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_sfb_is_exposed(fault: str) -> None:
    module = test_oracles.faulty(sfb_paper, *FAULTS[fault])
    assert test_oracles.exposes(case, module, sfb_paper, test_oracles.cases(flows=5))


LINUX_FAULTS: dict[str, test_oracles.Edits] = {
    "always a mark": [("if p_min > half and r < (p_min - half) * 2:", "if False:")],
    "tokens without a bound": [
        ("min(age * self._set.penalty_rate // 1000, self._set.penalty_burst)", "age")
    ],
    "least in place of fullest": [
        ("min(b.qlen for b in bins) >= self._set.max", "max(b.qlen for b in bins) >= self._set.max")
    ],
    "15 random bits": [("self._draws.bits() >> 48", "self._draws.bits() >> 49")],
    "limit last": [("if self._set.linux and not fits:", "if False:")],
}


def linux_case(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    settings = dataclasses.replace(
        LINUX, d1=0.05, d2=0.01, bins=4, bin_size=6, max=9, limit=Limit(packets=20), levels=3
    )
    outcomes: list[Outcome] = module.run(rows, rate, settings)
    return outcomes


@pytest.mark.parametrize("fault", LINUX_FAULTS)
def test_a_faulty_linux_sfb_is_exposed(fault: str) -> None:
    module = test_oracles.faulty(sfb_paper, *LINUX_FAULTS[fault])
    assert test_oracles.exposes(linux_case, module, sfb_paper, test_oracles.cases(flows=5))


def heavy_and_light(seconds: int) -> list[Arrival]:
    """Flow 0 sends 1.5 times the rate, flows 1 to 9 a twentieth of it each, in packets of 1250 B."""
    rows = [(n * 666_667, 0) for n in range(seconds * 1500)]
    for flow in range(1, 10):
        rows += [(n * 20_000_000 + flow * 1_234_567, flow) for n in range(seconds * 50)]
    return [arrival(i, t, 1250, flow) for i, (t, flow) in enumerate(sorted(rows))]


@pytest.mark.parametrize("settings", [Settings(), LINUX], ids=["paper", "linux"])
def test_a_flow_that_does_not_respond_is_isolated(settings: Settings) -> None:
    outcomes = sfb_paper.run(heavy_and_light(40), RATE, settings)
    late = outcomes[len(outcomes) // 2 :]
    lost = {
        flow: sum(row.verdict == DROPPED for row in late if row.arrival.flow == flow)
        / sum(row.arrival.flow == flow for row in late)
        for flow in range(10)
    }
    assert lost[0] > 0.5
    assert max(lost[flow] for flow in range(1, 10)) < 0.05, lost


def test_capable_packets_are_marked() -> None:
    rows = [arrival(i, i * 500_000, 1250, 0, 2) for i in range(20_000)]
    outcomes = sfb_paper.run(rows, RATE, LINUX)
    assert sum(row.verdict == MARKED for row in outcomes) > 1000
