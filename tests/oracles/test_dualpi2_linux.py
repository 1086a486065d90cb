"""The oracle of Linux's DualPI2 against closed forms and planted faults."""

from __future__ import annotations

import types
from dataclasses import replace

import pytest

import dualpi2_linux
from dualpi2_linux import Settings
from replay_io import DROPPED, MARKED, SENT, Arrival, Outcome, arrival
from test_oracles import Case, Edits, cases, exposes, faulty, verdicts

RATE = 10_000_000


@pytest.fixture(scope="module")
def mixed() -> list[Case]:
    """Flows of every codepoint but CE."""
    return [
        ([replace(row, ecn=row.flow % 3) for row in rows], rate) for rows, rate in cases(flows=5)
    ]


def test_classic_traffic_alone_is_held_at_the_target() -> None:
    rows = [arrival(i, i * 750_000, 1250) for i in range(60_000)]
    for early in (False, True):
        late = dualpi2_linux.run(rows, RATE, Settings(drop_early=early))[20_000:]
        assert abs(verdicts(late).count(DROPPED) / len(late) - 0.25) < 0.01
        waits = [row.sojourn_ns for row in late if row.sojourn_ns is not None]
        assert abs(sum(waits) / len(waits) / 1e6 - 15) < 3


def test_any_ect_sends_every_capable_packet_to_the_l_queue() -> None:
    # Two bursts at once: the L queue goes first, except for the weight of the other.
    rows = [arrival(i, 0, 1250, 0, 0 if i < 20 else 2) for i in range(40)]
    for any_ect, first in ((False, 0), (True, 2)):
        outcomes = dualpi2_linux.run(rows, RATE, Settings(any_ect=any_ect))
        order = sorted(outcomes, key=lambda row: row.departure_ps or 0)
        # The first packet of all is in transmission when the others come.
        assert {row.arrival.ecn for row in order[1:10]} == {first}


def test_the_step_spares_packets_that_came_to_a_short_queue() -> None:
    burst = [arrival(i, 0, 1250, 0, 1) for i in range(20)]
    found = verdicts(dualpi2_linux.run(burst, RATE, Settings()))
    assert found == [SENT, SENT] + [MARKED] * 18
    found = verdicts(dualpi2_linux.run(burst, RATE, Settings(min_qlen_step=10)))
    # Packet 0 goes at once: packet i finds i - 1 waiting.
    assert found == [SENT] * 11 + [MARKED] * 9


def test_memory_is_limited_by_what_the_allocator_takes() -> None:
    rows = [arrival(i, 0, 1514) for i in range(20)]
    found = verdicts(dualpi2_linux.run(rows, RATE, Settings(memory_limit=5 * 2304)))
    assert found == [SENT] * 6 + [DROPPED] * 14


FAULTS: dict[str, Edits] = {
    "CE and ECT(1) only": [("(3 if self._set.any_ect else 1)", "1")],
    "judged when they leave": [("not self._set.drop_early and", "")],
    "not judged when they come": [("if self._set.drop_early and", "if False and")],
    "one draw for Classic packets": [
        (
            "if self._roll(self._prob) and self._roll(self._prob):\n                if overload",
            "if self._roll(self._prob):\n                if overload",
        )
    ],
    "delay of the Classic queue": [("heads += [self._lq[0][0]] if self._lq else []", "pass")],
    "short queues are judged too": [("if self._backlog < 2 * MTU:", "if False:")],
    "the packet counts for the backlog": [
        ("            self._backlog -= packet.size\n            if not", "            if not"),
        (
            "            if step and (now",
            "            self._backlog -= packet.size\n            if step and (now",
        ),
        (
            "                self._log.dropped(packet, EARLY)\n                continue\n",
            "                self._log.dropped(packet, EARLY)\n                self._backlog -= packet.size\n                continue\n",
        ),
    ],
    "steps at once": [("len(self._lq) >= self._set.min_qlen_step", "True")],
    "memory is not counted": [(" or too_much", "")],
    "no drops under overload": [
        ("if self._set.drop_overload and self._roll", "if False and self._roll")
    ],
    "gains rounded up": [
        ("(settings.beta * ONES >> 2) // 10**9", "(settings.beta * ONES >> 2) // 10**9 + 1")
    ],
    "gains halved": [
        ("(settings.beta * ONES >> 2) // 10**9", "(settings.beta * ONES >> 3) // 10**9")
    ],
}


def case(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    # Half of the cases one way, half the other.
    early = rows[-1].time_ps // 1000 % 2 == 1
    settings = module.Settings(
        limit=150, memory_limit=250_000, drop_early=early, any_ect=early, min_qlen_step=3
    )
    outcomes: list[Outcome] = module.run(rows, rate, settings)
    return outcomes


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_dualpi2_is_exposed(fault: str, mixed: list[Case]) -> None:
    assert exposes(case, faulty(dualpi2_linux, *FAULTS[fault]), dualpi2_linux, mixed)


def test_an_unedited_copy_agrees(mixed: list[Case]) -> None:
    assert not exposes(case, faulty(dualpi2_linux), dualpi2_linux, mixed[:4])
