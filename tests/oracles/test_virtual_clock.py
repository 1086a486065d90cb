"""The oracle of Virtual Clock against closed forms and planted faults."""

from __future__ import annotations

import types

import pytest

import oracle_faults
import virtual_clock_zhang
from replay_io import DROPPED, PS_PER_S, Arrival, Limit, Outcome, arrival

RATE = 10_000_000


@pytest.fixture(scope="module")
def found() -> list[oracle_faults.Case]:
    return oracle_faults.cases(flows=3)


def test_a_flow_within_its_rate_has_the_delay_of_figueira_and_pasquale() -> None:
    """Departure of the k-th packet at most L/AR after its arrival, and one transmission of another."""
    gap, size = 8_000_000, 1000
    ours = [(i * gap, size, 0) for i in range(400)]
    # Nine times the rate of the link, from the first moment on.
    others = [(i * 90_000, size, 1) for i in range(30_000)]
    rows = [
        arrival(index, time, bytes_, flow)
        for index, (time, bytes_, flow) in enumerate(sorted(ours + others))
    ]
    fates = virtual_clock_zhang.run(rows, RATE, Limit(), [1_000_000, 9_000_000])
    bound = (8 * size * PS_PER_S) // 1_000_000 + (8 * size * PS_PER_S) // RATE
    mine = [row for row in fates if row.arrival.flow == 0]
    assert len(mine) == 400
    for row in mine:
        assert row.departure_ps is not None
        assert row.departure_ps - row.arrival.time_ps <= bound


@pytest.mark.parametrize("monitoring_ps", [None, PS_PER_S // 10])
def test_backlogged_flows_share_by_their_rates(monitoring_ps: int | None) -> None:
    rows = [arrival(i, i * 10_000, 1000, i % 3) for i in range(30_000)]
    rates = [3_000_000, 1_000_000, 2_000_000]
    fates = virtual_clock_zhang.run(rows, RATE, Limit(packets=100), rates, monitoring_ps)
    sent = [0, 0, 0]
    for row in fates:
        sent[row.arrival.flow] += row.verdict != DROPPED
    assert [round(6 * count / sum(sent), 1) for count in sent] == [3.0, 1.0, 2.0]


FAULTS: dict[str, list[tuple[str, str]]] = {
    "saves up": [
        (
            "if self._interval is None:\n            flow.clock = max(flow.clock, now_ps)",
            "if self._interval is None:\n            pass",
        )
    ],
    "never checked": [
        ("flow.bits = 0\n            flow.clock = max(flow.clock, now_ps)", "flow.bits = 0")
    ],
    "checked at every packet": [("            flow.bits = 0\n", "")],
    "stamped before the tick": [
        ("return stamp", "return stamp - 8 * size * PS_PER_S // flow.rate")
    ],
    "drops what arrives": [("last is None or last.fifo[-1][0] <= stamp", "True")],
    "drops the least": [("last = max(waiting", "last = min(waiting")],
    "first come first served": [("(flow.fifo[0][0], flow.rank)", "flow.fifo[0][1].index")],
    "keeps the ticks of drops": [("if not self._charge", "if self._charge")],
    "one rate": [("self._rates[min(packet.flow, len(self._rates) - 1)]", "self._rates[0]")],
}


def both(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    """Both clocks one after the other, so that one list of fates covers them."""
    fates: list[Outcome] = []
    for limit, monitoring_ps in ((Limit(packets=12), None), (Limit(size=9000), PS_PER_S // 50)):
        rates = [rate // 2, rate // 5, rate // 10]
        for row in module.run(rows, rate, limit, rates, monitoring_ps):
            packet = Arrival(len(fates), row.arrival.time_ps, row.arrival.size, row.arrival.flow, 0)
            fates.append(Outcome(packet, row.verdict, row.reason, row.departure_ps))
    return fates


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_clock_is_exposed(fault: str, found: list[oracle_faults.Case]) -> None:
    assert oracle_faults.exposed(both, virtual_clock_zhang, FAULTS[fault], found[:12])


def test_an_unedited_copy_agrees(found: list[oracle_faults.Case]) -> None:
    assert not oracle_faults.exposed(both, virtual_clock_zhang, [], found[:2])
