"""The FRED oracle against closed forms and planted faults."""

from __future__ import annotations

import collections
import types

import pytest

import fred_paper
import red_paper
import test_oracles
from replay_io import DROPPED, Arrival, Limit, Outcome, arrival

RATE = 10_000_000

FAULTS: dict[str, test_oracles.Edits] = {
    "no strikes": [("            state.strike += 1\n", "")],
    "one strike is enough": [("state.strike > 1", "state.strike > 0")],
    "strikes outlive the packets": [("            del self._table[packet.flow]\n", "")],
    "three packets beyond max_th": [("maxq = 2 if", "maxq = 3 if")],
    "block A from min_th on": [
        ("maxq = 2 if self._avg >= max_th", "maxq = 2 if self._avg >= min_th")
    ],
    "fragile flows meet random drops": [
        ("if state.qlen >= max(self._set.min_q, self._avgcq):", "if True:")
    ],
    "min_q whatever the share": [("max(self._set.min_q, self._avgcq)", "self._set.min_q")],
    "count only of those that draw": [
        (
            "            self._count += 1\n            if state.qlen >= max(self._set.min_q, self._avgcq):\n",
            "            if state.qlen >= max(self._set.min_q, self._avgcq):\n                self._count += 1\n",
        )
    ],
    "not spaced": [("rest = 1 - self._count * p_b", "rest = 1.0")],
    "average on arrivals alone": [("        self._average(now_ps, departed=True)\n", "")],
    "average on departures alone": [
        (
            "        self._average(now_ps, departed=False)\n        state.qlen += 1",
            "        state.qlen += 1",
        )
    ],
    "no decay": [("            self._avg *= (1 - w_q) ** m\n", "")],
    "idle since the link asked in vain": [
        (
            "        if not self._fifo:\n            return None\n",
            "        if not self._fifo:\n            self._q_time = now_ps\n            return None\n",
        )
    ],
}


def case(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for two_packets in (False, True):
        settings = module.Settings(
            min_th=4,
            max_th=9,
            max_p=0.1,
            w_q=0.05,
            limit=Limit(packets=25),
            two_packets=two_packets,
        )
        # Both at once: as outcomes of twice the packets.
        for row in module.run(rows, rate, settings):
            packet = row.arrival
            moved = Arrival(
                packet.index + len(rows) * two_packets,
                packet.time_ps,
                packet.size,
                packet.flow,
                packet.ecn,
            )
            outcomes.append(Outcome(moved, row.verdict, row.reason, row.departure_ps))
    return outcomes


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_fred_is_exposed(fault: str) -> None:
    module = test_oracles.faulty(fred_paper, *FAULTS[fault])
    assert test_oracles.exposes(case, module, fred_paper, test_oracles.cases(flows=5))


def test_an_unedited_copy_agrees() -> None:
    found = test_oracles.cases(flows=5)[:4]
    assert not test_oracles.exposes(case, test_oracles.faulty(fred_paper), fred_paper, found)


def shares(outcomes: list[Outcome]) -> dict[int, float]:
    """Of the packets sent in the later half."""
    half = outcomes[len(outcomes) // 2 :]
    sent = collections.Counter(row.arrival.flow for row in half if row.verdict != DROPPED)
    return {flow: count / sum(sent.values()) for flow, count in sent.items()}


def greedy_and_slow() -> list[Arrival]:
    # Flow 0 sends 1.5 times the rate, flows 1 to 9 a twentieth of it each.
    rows = [(n * 666_667, 0) for n in range(30_000)]
    for flow in range(1, 10):
        rows += [(n * 20_000_000 + flow * 1_987_654, flow) for n in range(1000)]
    return [arrival(i, t, 1250, flow) for i, (t, flow) in enumerate(sorted(rows))]


def test_a_greedy_flow_gets_what_the_others_leave_and_no_more() -> None:
    rows = greedy_and_slow()
    fred = shares(fred_paper.run(rows, RATE, fred_paper.Settings()))
    red = shares(red_paper.run(rows, RATE, red_paper.Settings(min_th=25, max_th=50, w_q=0.002)))
    # Nine twentieths are asked for by the others; RED takes a third of everybody's packets or more.
    assert fred[0] < 0.62
    assert red[0] > 0.72
    slow = [fred[flow] for flow in range(1, 10)]
    assert max(slow) - min(slow) < 0.01


def test_slow_flows_lose_next_to_nothing() -> None:
    outcomes = fred_paper.run(greedy_and_slow(), RATE, fred_paper.Settings())
    slow = [row for row in outcomes if row.arrival.flow != 0]
    lost = sum(row.verdict == DROPPED for row in slow)
    assert lost / len(slow) < 0.05


def test_many_flows_have_two_packets_each() -> None:
    # Sixty flows that send twice the rate together: with two packets each they hold 120 at most.
    rows = [arrival(i, i * 500_000, 1250, i % 60) for i in range(60_000)]
    settings = fred_paper.Settings(limit=Limit(packets=1000), two_packets=True)
    late = fred_paper.run(rows, RATE, settings)[30_000:]
    waits = [row.sojourn_ns or 0 for row in late if row.verdict != DROPPED]
    assert max(waits) <= 121 * 1_000_000
    assert sum(waits) / len(waits) > 80 * 1_000_000
