"""The oracle of HTB against closed forms and planted faults."""

from __future__ import annotations

import types

import pytest

import compare
import htb_linux
import shaper
import tbf_rfc2215
from htb_linux import Settings
from replay_io import Arrival, Limit, Outcome, arrival
from test_oracles import Case, Edits, at_once, cases, exposes, faulty

S = 10**12


@pytest.fixture(scope="module")
def many_flows() -> list[Case]:
    return cases(flows=6, packets=1000)[:12]


def served(classes: list[Settings], root: Settings | None, flows: int, seconds: int) -> list[int]:
    """Bits per second of each flow, all of which have packets all the time, on a link that is faster than the root."""
    rows = at_once({flow: [1000] * (seconds * 1300) for flow in range(flows)})
    outcomes = htb_linux.run(rows, 1_000_000_000, classes, root, Limit())
    bits = [0] * flows
    for row in outcomes:
        if row.departure_ps is not None and row.departure_ps < seconds * S:
            bits[row.arrival.flow] += row.arrival.size * 8
    return [count // seconds for count in bits]


def near(value: int, expected: int) -> bool:
    return abs(value - expected) * 100 < expected


def test_each_class_has_its_rate_and_the_first_priority_what_is_left() -> None:
    classes = [Settings(2_000_000, 10_000_000), Settings(3_000_000, 10_000_000, 1)]
    shares = served(classes, Settings(10_000_000, 10_000_000), 2, 1)
    assert near(shares[0], 7_000_000)
    assert near(shares[1], 3_000_000)


def test_equal_classes_share_by_quanta_what_is_left() -> None:
    classes = [
        Settings(1_000_000, 10_000_000, quantum=1500),
        Settings(1_000_000, 10_000_000, quantum=4500),
    ]
    shares = served(classes, Settings(10_000_000, 10_000_000), 2, 1)
    assert near(shares[0], 1_000_000 + 8_000_000 // 4)
    assert near(shares[1], 1_000_000 + 8_000_000 * 3 // 4)


def test_a_class_keeps_to_its_ceil_and_without_a_root_to_its_rate() -> None:
    root = Settings(10_000_000, 10_000_000)
    assert near(served([Settings(1_000_000, 4_000_000)], root, 1, 1)[0], 4_000_000)
    assert near(served([Settings(1_000_000, 4_000_000)], None, 1, 4)[0], 1_000_000)


def test_the_last_packet_is_on_credit() -> None:
    # 1600 bytes of burst: the second packet still goes at once, and the third when the debt is paid.
    rows = at_once({0: [1000] * 4})
    outcomes = htb_linux.run(rows, 10**12, [Settings(1_000_000, 1_000_000)], None, Limit())
    times = [(row.departure_ps or 0) // 10**9 for row in outcomes]
    assert times == [0, 0, 3, 11]


def test_one_class_without_borrowing_is_a_token_bucket_with_a_packet_of_credit(
    many_flows: list[Case],
) -> None:
    for rows, link in many_flows[:8]:
        rate = link * 3 // 7
        equal = [arrival(i, row.time_ps // 1000, 1000) for i, row in enumerate(rows)]
        one = [Settings(rate, rate, burst=3000, cburst=3000)]
        ours = htb_linux.run(equal, link, one, None, Limit(packets=50))
        # With a burst that is not a multiple of the packet, credit is the packet that it holds in part.
        excess = shaper.worst_excess(ours, rate) - (3000 + 1000) * 8 * 10**12
        assert excess <= rate * 1000 * (len(rows) + 64)
        strict = tbf_rfc2215.run(equal, link, rate, 3000, Limit(packets=50), linux=True)
        assert compare.compare(compare.rows_of(ours), compare.rows_of(strict)) is not None


def test_siblings_share_what_their_parent_has_before_it_borrows() -> None:
    inner = Settings(4_000_000, 10_000_000, children=(Settings(1_000_000, 10_000_000),) * 2)
    outer = Settings(6_000_000, 10_000_000)
    root = Settings(10_000_000, 10_000_000)
    # All have packets: the parent's 4 Mbps stay in its subtree.
    shares = served([inner, outer], root, 3, 3)
    assert near(shares[2], 6_000_000)
    assert near(shares[0], 2_000_000)
    assert near(shares[1], 2_000_000)


def test_a_subtree_keeps_to_the_ceil_of_its_parent() -> None:
    leaf = Settings(1_000_000, 10_000_000, quantum=1000)
    inner = Settings(2_000_000, 3_000_000, children=(leaf, leaf))
    shares = served([inner, leaf], Settings(10_000_000, 10_000_000), 3, 3)
    assert near(shares[0] + shares[1], 3_000_000)
    assert near(shares[2], 7_000_000)


FAULTS: dict[str, Edits] = {
    "no credit": [
        ("elif self.rate.count + elapsed < 0:", "elif self.rate.count + elapsed < 10**6:")
    ],
    "one that borrows is charged too": [
        (
            "            self.rate.count += elapsed\n",
            "            self.rate.charge(size, elapsed)\n",
        )
    ],
    "those above are not charged for what a class sends by itself": [
        ("borrowed=one.level < level", "borrowed=one.level != level")
    ],
    "the ceil is not looked at": [("if self.ceil.count + elapsed < 0:", "if False:")],
    "priorities from the highest number": [
        (
            "            for prio in self._prios:\n",
            "            for prio in reversed(self._prios):\n",
        )
    ],
    "a quantum for each packet": [("if leaf.deficit[level] < 0:", "if True:")],
    "one deficit for all levels": [
        ("self.deficit = [0] * LEVELS", "self.deficit = [0] + [1500] * (LEVELS - 1)")
    ],
    "the turn is lost": [
        ("self.turn = None if self._remembers else self._after(gone)", "self.turn = None")
    ],
    "the place is not found again": [("self.turn = self._after(self._lost - 1)", "pass")],
    "the turn above stays": [("                    path[-1].step()\n", "")],
    "from the root down": [
        (
            "for level in range(LEVELS):\n            due",
            "for level in reversed(range(LEVELS)):\n            due",
        )
    ],
    "levels from the leaves": [
        ("(parent.level if parent else LEVELS) - 1", "1 + (parent is None)")
    ],
}


def case(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    def one(share: int, ceil: int, prio: int, *children: object) -> object:
        rates = (rate * share // 20, rate * ceil // 20)
        return module.Settings(*rates, prio, quantum=1500, children=children)

    limit = Limit(packets=30)
    classes = [one(2, 12, 1), one(3, 16, 0), one(1, 8, 1), one(2, 16, 1)]
    flat = rows[-1].time_ps // 1000 % 3 == 0
    if not flat:
        inner = one(4, 9, 0, one(1, 9, 1), one(1, 9, 1), one(1, 4, 0))
        classes = [one(6, 16, 0, inner, one(2, 16, 1)), one(2, 5, 1), one(1, 16, 1)]
    outcomes: list[Outcome] = module.run(rows, rate, classes, one(9, 16, 0), limit)
    return outcomes


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_htb_is_exposed(fault: str, many_flows: list[Case]) -> None:
    assert exposes(case, faulty(htb_linux, *FAULTS[fault]), htb_linux, many_flows)


def test_an_unedited_copy_agrees(many_flows: list[Case]) -> None:
    assert not exposes(case, faulty(htb_linux), htb_linux, many_flows[:4])
