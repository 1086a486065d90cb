"""The oracle of CAKE against closed forms, Linux and planted faults."""

from __future__ import annotations

import types

import pytest

import cake_linux
import compare
import linux_cake
from replay_io import DROPPED, MARKED, Arrival, Outcome, arrival
from test_oracles import RATE, Case, Edits, at_once, cases, exposes, faulty, order


@pytest.fixture(scope="module")
def many_flows() -> list[Case]:
    return cases(flows=5, packets=2000)[:16]


def test_the_shaper_spaces_packets_exactly_and_saves_nothing_up() -> None:
    rows = [arrival(i, i // 5 * 10**8, 1514) for i in range(10)]
    outcomes = cake_linux.run(rows, 10**13, 10_000_000)
    for i, row in enumerate(outcomes):
        assert row.sojourn_ns == i % 5 * 1_211_200


def test_inverse_square_roots_are_near_enough() -> None:
    for count, value in enumerate(cake_linux.SMALL[1:], 1):
        assert abs(value / 2**32 * count**0.5 - 1) < 0.01


def test_a_sparse_flow_goes_before_bulk_flows() -> None:
    rows = at_once({0: [1000] * 20, 1: [1000] * 20})
    rows.append(arrival(40, 20_000_000, 100, 2))
    served = order(cake_linux.run(rows, 10**13, RATE))
    position = served.index(2)
    late = [flow for flow in served[:position] if flow != 2]
    assert len(late) <= 26


def test_bulk_flows_share_equally_whatever_their_sizes() -> None:
    rows = at_once({0: [1500] * 200, 1: [300] * 1000, 2: [700] * 400})
    outcomes = cake_linux.run(rows, 10**13, RATE, limit=10**9)
    sent = [0, 0, 0]
    for row in outcomes:
        if row.departure_ps is not None and row.departure_ps < 10**11:
            sent[row.arrival.flow] += row.arrival.size
    assert max(sent) - min(sent) <= 3 * 1500


def test_codel_marks_what_is_capable_and_drops_nothing_of_it_below_the_limit() -> None:
    rows = [arrival(i, i * 600_000, 1514, 0, 2) for i in range(2000)]
    verdicts = [row.verdict for row in cake_linux.run(rows, 10**13, RATE)]
    assert MARKED in verdicts
    assert DROPPED not in verdicts


@pytest.mark.parametrize("name", linux_cake.TRACES)
def test_linux_decides_as_the_oracle(name: str) -> None:
    arrivals, waits = linux_cake.load(name)
    ours = cake_linux.run(arrivals, linux_cake.LINK_BPS, linux_cake.BANDWIDTH)
    assert linux_cake.differing(name, arrivals, waits, compare.rows_of(ours)) == []


def test_linux_drops_as_many_as_the_oracle_with_some_seeds_when_blue_draws() -> None:
    name = "udp_cake_cbr2.0_s1"
    arrivals, waits = linux_cake.load(name)
    drops = []
    for seed in range(3):
        ours = cake_linux.run(arrivals, linux_cake.LINK_BPS, linux_cake.BANDWIDTH, seed=seed)
        drops.append(sum(row.verdict == DROPPED for row in ours))
    linux = sum(wait is None for wait in waits)
    assert all(abs(count - linux) * 40 < linux for count in drops), (linux, drops)


def test_four_flows_get_what_they_get_in_linux() -> None:
    # The row udp_cake_cbr4flows of the reference runs: 30 s, each flow at a period of its own.
    arrivals, delivered = linux_cake.four_flows()
    outcomes = cake_linux.run(arrivals, linux_cake.LINK_BPS, linux_cake.BANDWIDTH)
    assert linux_cake.deliveries(compare.rows_of(outcomes)) == delivered


FAULTS: dict[str, Edits] = {
    "an interval before the first signal": [
        ("        self._inverse = 0\n", "        self._inverse = ONES\n")
    ],
    "new flows after old ones": [
        ("lists = [self._new, self._old]", "lists = [self._old, self._new]")
    ],
    "decaying flows always last": [
        ("lists.insert(0 if first else 2, self._decaying)", "lists.append(self._decaying)")
    ],
    "no decay": [("flow.decays = not flow.cobalt.at_rest(now)", "flow.decays = False")],
    "the last packet may be dropped": [
        ("if reason is None or not flow.fifo:", "if reason is None:")
    ],
    "no blue": [("self.drop_p = min(ONES, self.drop_p + BLUE_UP)", "pass")],
    "count reset in place of counted down": [
        (
            "                self._step(-1)\n                behind",
            "                self.count = 1\n                self._step(-1)\n                behind",
        )
    ],
    "two full packets of grace": [
        ("sojourn > 4 * self._mtu_time", "sojourn > 20 * self._mtu_time")
    ],
    "the shaper saves up": [
        ("self._next = max(self._next, now)", "self._next = max(self._next, now - 10**7)")
    ],
    "bytes in place of memory": [("    return data + 256\n", "    return size\n")],
    "heads of the shortest queue": [
        (
            "key=lambda f: (f.size, -f.rank)",
            "key=lambda f: (-f.size if f.fifo else -(10**9), -f.rank)",
        )
    ],
}


def case(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    outcomes: list[Outcome] = module.run(rows, rate, rate * 3 // 5, 60_000)
    return outcomes


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_cake_is_exposed(fault: str, many_flows: list[Case]) -> None:
    assert exposes(case, faulty(cake_linux, *FAULTS[fault]), cake_linux, many_flows)


def test_an_unedited_copy_agrees(many_flows: list[Case]) -> None:
    assert not exposes(case, faulty(cake_linux), cake_linux, many_flows[:4])
