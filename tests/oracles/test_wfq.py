"""The oracle of WFQ against closed forms and planted faults."""

from __future__ import annotations

import types
from collections.abc import Sequence

import pytest

import compare
import lindley
import wfq_papers
from replay_io import DROPPED, Arrival, Limit, Outcome, arrival
from test_oracles import RATE, Case, Edits, at_once, cases, exposes, faulty, order

CLOCKS = ("gps", "self")


@pytest.fixture(scope="module")
def many_flows() -> list[Case]:
    return cases(flows=5, packets=1000)


@pytest.mark.parametrize("clock", CLOCKS)
def test_one_flow_is_droptail_without_a_limit(clock: str) -> None:
    for rows, rate in cases(flows=1, packets=500)[::3]:
        ours = compare.rows_of(wfq_papers.run(rows, rate, Limit(), clock))
        theirs = compare.rows_of(lindley.run(rows, rate, Limit()))
        assert compare.compare(ours, theirs) is None


def test_equal_flows_take_turns_and_weights_are_shares() -> None:
    rows = at_once({0: [1000] * 9, 1: [1000] * 5, 2: [1000] * 5})
    assert order(wfq_papers.run(rows, RATE, Limit()))[:10] == [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]
    # Weights 2, 1, 1: tags 500, 1000, ... against 1000, 2000, ...; of equal ones flow 0 is first.
    outcomes = wfq_papers.run(rows, RATE, Limit(), weights=[2, 1])
    assert order(outcomes)[:9] == [0, 0, 1, 2, 0, 0, 1, 2, 0]


def test_bytes_are_shared_not_packets() -> None:
    # Tags 1500, 3000 against 500, 1000, ..., 3000; the first packet of flow 0 goes straight on.
    rows = at_once({0: [1500] * 4, 1: [500] * 9})
    assert order(wfq_papers.run(rows, RATE, Limit()))[:8] == [0, 1, 1, 1, 1, 1, 0, 1]


def finishes_of_fluid(rows: Sequence[Arrival], rate: int, weights: Sequence[int]) -> list[float]:
    """When the fluid server finishes each packet, in seconds: stepwise, in floating point."""
    left: dict[int, list[tuple[int, float]]] = {}
    finished = [0.0] * len(rows)
    now = 0.0
    arriving = list(rows)
    while arriving or any(left.values()):
        active = [flow for flow, packets in left.items() if packets]
        total = sum(weights[min(flow, len(weights) - 1)] for flow in active)
        following = arriving[0].time_ps / 1e12 if arriving else float("inf")
        speed = {f: rate * weights[min(f, len(weights) - 1)] / total for f in active}
        first = min((now + left[f][0][1] / speed[f] for f in active), default=float("inf"))
        end = min(following, first)
        for flow in active:
            index, bits = left[flow][0]
            bits -= speed[flow] * (end - now)
            left[flow][0] = (index, bits)
            if bits < 1e-6:
                finished[index] = end
                left[flow].pop(0)
        now = end
        if following <= first:
            packet = arriving.pop(0)
            left.setdefault(packet.flow, []).append((packet.index, packet.size * 8.0))
    return finished


@pytest.mark.parametrize("weights", [[1], [4, 2, 1]])
def test_no_packet_ends_later_than_in_the_fluid_system_by_more_than_one_transmission(
    many_flows: list[Case], weights: list[int]
) -> None:
    # Parekh and Gallager, theorem 1.
    latest = 0.0
    for rows, rate in many_flows[::5]:
        longest = max(row.size for row in rows) * 8 / rate
        fluid = finishes_of_fluid(rows, rate, weights)
        for row in wfq_papers.run(rows, rate, Limit(), "gps", weights):
            assert row.departure_ps is not None
            end = row.departure_ps / 1e12 + row.arrival.size * 8 / rate
            late = (end - fluid[row.arrival.index]) / longest
            assert late < 1 + 1e-6
            latest = max(latest, late)
    assert latest > 0.8


def test_the_self_clocked_variant_does_not_keep_that_bound(many_flows: list[Case]) -> None:
    def latest(clock: str) -> float:
        worst = 0.0
        for rows, rate in many_flows[::5]:
            longest = max(row.size for row in rows) * 8 / rate
            fluid = finishes_of_fluid(rows, rate, [1])
            for row in wfq_papers.run(rows, rate, Limit(), clock):
                assert row.departure_ps is not None
                end = row.departure_ps / 1e12 + row.arrival.size * 8 / rate
                worst = max(worst, (end - fluid[row.arrival.index]) / longest)
        return worst

    assert latest("self") > 1.5


def test_the_flow_with_most_loses_its_last_packet() -> None:
    rows = at_once({0: [1000] * 4, 1: [1000] * 2})
    outcomes = wfq_papers.run(rows, RATE, Limit(packets=4))
    assert [row.arrival.index for row in outcomes if row.verdict == DROPPED] == [3]
    late = [*rows, arrival(6, 1000, 1000, 0)]
    outcomes = wfq_papers.run(late, RATE, Limit(packets=4))
    assert [row.arrival.index for row in outcomes if row.verdict == DROPPED] == [2, 3]


FAULTS: dict[str, Edits] = {
    "tags from the virtual time only": [
        ("max(before, self._virtual)", "self._virtual"),
    ],
    "tags from the flow only": [("max(before, self._virtual)", "before")],
    "weights upside down": [
        ("Fraction(packet.size * 8, flow.weight)", "Fraction(packet.size * 8 * flow.weight)")
    ],
    "bytes for bits": [("packet.size * 8, flow", "packet.size, flow")],
    "all flows count in the fluid system": [
        (
            "fluid = [flow for flow in self._flows.values() if flow.last > self._virtual]",
            "fluid = [flow for flow in self._flows.values() if flow.last > self._virtual]\n"
            "            self._weight = sum(flow.weight for flow in self._flows.values())",
        ),
        ("total = sum(flow.weight for flow in fluid)", "total = self._weight"),
    ],
    "weights not counted": [("total = sum(flow.weight for flow in fluid)", "total = len(fluid)")],
    "the greatest tag first": [("flow = min(waiting", "flow = max(waiting")],
    "of equal tags the last": [(", flow.rank))", ", -flow.rank))")],
    "a stolen packet's tag stays": [("        flow.last = before\n", "")],
    "the first packet is stolen": [("flow.fifo.pop()", "flow.fifo.popleft()")],
    "the clock shows the tag before": [
        ("            self._virtual = tag\n", "            self._virtual = max(tag - 8000, 0)\n")
    ],
}


def gps(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    limit = Limit(packets=25) if rate < RATE else Limit(size=30_000)
    outcomes: list[Outcome] = module.run(rows, rate, limit, "gps", [3, 1, 2, 1])
    return outcomes


def own(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    outcomes: list[Outcome] = module.run(rows, rate, Limit(packets=25), "self", [3, 1, 2, 1])
    return outcomes


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_wfq_is_exposed(fault: str, many_flows: list[Case]) -> None:
    module = faulty(wfq_papers, *FAULTS[fault])
    assert exposes(own if "clock" in fault else gps, module, wfq_papers, many_flows[:9])


def test_an_unedited_copy_agrees(many_flows: list[Case]) -> None:
    assert not exposes(gps, faulty(wfq_papers), wfq_papers, many_flows[:2])
    assert not exposes(own, faulty(wfq_papers), wfq_papers, many_flows[:2])
