"""The GREEN oracle against its closed form and planted faults."""

from __future__ import annotations

import types

import pytest

import green_paper
import test_oracles
from replay_io import DROPPED, PS_PER_S, Arrival, Limit, Log, Outcome, arrival
from streams import Stream

RATE = 10_000_000
MS = PS_PER_S // 1000

FAULTS: dict[str, test_oracles.Edits] = {
    "flows never forgotten": [("now_ps - last <= self._set.window_ps", "True")],
    "packets in place of flows": [
        (
            "        self._last[packet.flow] = now_ps\n",
            "        self._last[packet.index] = now_ps\n",
        )
    ],
    "no square": [("return min(1.0, root * root)", "return min(1.0, root)")],
    "bytes in place of bits": [("(8 * size)", "size")],
    "the arriving flow does not count": [
        ("        self._last[packet.flow] = now_ps\n        n =", "        n ="),
        (
            "        chosen = self._draws",
            "        self._last[packet.flow] = now_ps\n        chosen = self._draws",
        ),
    ],
    "a draw only when something waits": [
        (
            "chosen = self._draws.uniform() <",
            "chosen = len(self._fifo) > 0 and self._draws.uniform() <",
        )
    ],
}


def case(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    settings = module.Settings(rtt_ps=40 * MS, window_ps=10 * MS, limit=Limit(packets=40), ecn=True)
    outcomes: list[Outcome] = module.run(rows, rate, settings)
    return outcomes


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_green_is_exposed(fault: str) -> None:
    module = test_oracles.faulty(green_paper, *FAULTS[fault])
    assert test_oracles.exposes(case, module, green_paper, test_oracles.cases(flows=5))


@pytest.mark.parametrize("flows", [2, 4, 10])
def test_drops_are_the_square_of_the_number_of_flows(flows: int) -> None:
    rows = [arrival(i, i * 1_010_000, 1250, i % flows) for i in range(100_000)]
    outcomes = green_paper.run(rows, RATE, green_paper.Settings(rtt_ps=50 * MS))
    drops = sum(row.verdict == DROPPED for row in outcomes) / len(outcomes)
    expected = (flows * 10_000 * 1.22 / (RATE * 0.05)) ** 2
    assert drops == pytest.approx(expected, rel=0.15)


def test_the_formula_inverts_the_throughput_of_tcp() -> None:
    # With this p a flow gets MSS c / (RTT sqrt(p)): its share of the link.
    queue = green_paper.GreenQueue(Log([]), RATE, green_paper.Settings(), Stream(1))
    p = queue._probability(8, 1500)
    assert 12_000 * 1.22 / (0.1 * p**0.5) == pytest.approx(RATE / 8)
