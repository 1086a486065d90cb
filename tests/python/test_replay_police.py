"""`sojourn replay` with the policer against its oracle, packet by packet."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))

import compare
import police_rfcs
import replay_cases
import shaper
import sojourn_binary
from police_rfcs import DROP, MARK, PASS, Profile
from replay_io import DROPPED, MARKED, Arrival, Limit, parse_rate

# For a link of the given rate: rates in 28ths of it.
KINDS = {
    "one bucket": Profile(2215, 12, 4000),
    "one bucket that marks": Profile(2215, 12, 4000, red=MARK),
    "single rate": Profile(2697, 12, 4000, 0, 9000, yellow=MARK),
    "single rate, yellow passes": Profile(2697, 8, 2000, 0, 30_000, yellow=PASS),
    "two rates": Profile(2698, 8, 4000, 20, 6000, yellow=MARK),
    "two rates, yellow dropped": Profile(2698, 12, 4000, 20, 3000, yellow=DROP, red=MARK),
    "excess": Profile(4115, 8, 4000, 12, 6000, yellow=MARK),
    "excess that marks": Profile(4115, 8, 4000, 8, 3000, yellow=PASS, red=MARK),
}


def case(name: str, seed: int) -> tuple[list[Arrival], str, Profile]:
    """Arrivals where three flows of four are ECN-capable, the rate of the link, and a profile for it."""
    rows, link = replay_cases.process(seed, flows=4)
    rows = [replace(row, ecn=row.flow % 4) for row in rows]
    kind, bps = KINDS[name], parse_rate(link)
    rate, second = bps * kind.rate // 28, bps * kind.second_rate // 28
    return rows, link, replace(kind, rate=rate, second_rate=second)


def spec_of(profile: Profile) -> str:
    text = f"police dialect=rfc{profile.kind} rate={profile.rate}bps burst={profile.burst}B"
    text += f" red={profile.red} each=(droptail limit=25p)"
    if profile.kind != 2215:
        text += f" yellow={profile.yellow}"
    if profile.kind == 2698:
        return f"{text} peakrate={profile.second_rate}bps peak_burst={profile.second_burst}B"
    if profile.kind == 4115:
        text += f" excess_rate={profile.second_rate}bps"
    if profile.kind in (2697, 4115):
        text += f" excess_burst={profile.second_burst}B"
    return text


@pytest.mark.parametrize("seed", replay_cases.SEEDS)
@pytest.mark.parametrize("name", KINDS)
def test_the_policer_agrees_with_its_oracle(
    command: Path, tmp_path: Path, name: str, seed: int
) -> None:
    rows, link, profile = case(name, seed)
    oracle = police_rfcs.run(rows, parse_rate(link), profile, Limit(packets=25))
    replay_cases.agrees(command, rows, spec_of(profile), link, tmp_path, oracle, seed)


@pytest.mark.parametrize("name", KINDS)
def test_the_processes_reach_every_fate_of_a_profile(name: str) -> None:
    reasons = set()
    for seed in replay_cases.SEEDS:
        rows, link, profile = case(name, seed)
        fates = police_rfcs.run(rows, parse_rate(link), profile, Limit(packets=25))
        reasons |= {(row.verdict, row.reason) for row in fates}
    assert (DROPPED, police_rfcs.POLICED) in reasons
    marks = MARK in (KINDS[name].red, KINDS[name].yellow)
    assert ((MARKED, police_rfcs.POLICED) in reasons) == marks


@pytest.mark.parametrize("seed", replay_cases.SEEDS)
def test_what_the_policer_admits_in_any_interval_is_at_most_rate_and_burst(
    command: Path, tmp_path: Path, seed: int
) -> None:
    rows, link, profile = case("one bucket", seed)
    ours = sojourn_binary.replay(command, rows, spec_of(profile), link, tmp_path)
    admitted = [
        replace(row, departure_ps=row.arrival.time_ps)
        for row in compare.outcomes_of(rows, ours)
        if row.reason != police_rfcs.POLICED
    ]
    assert len(admitted) < len(rows)
    assert shaper.worst_excess(admitted, profile.rate) <= profile.burst * 8 * 10**12
