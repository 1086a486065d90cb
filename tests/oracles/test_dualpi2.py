"""The DualPI2 oracle against closed forms and planted faults."""

from __future__ import annotations

import types
from dataclasses import replace

import pytest

import dualpi2_rfc9332
from replay_io import DROPPED, MARKED, SENT, Arrival, Limit, Outcome, arrival
from test_oracles import Case, Edits, cases, exposes, faulty, verdicts

RATE = 10_000_000


@pytest.fixture(scope="module")
def mixed() -> list[Case]:
    """Odd flows are L4S."""
    return [
        ([replace(row, ecn=1) if row.flow % 2 else row for row in rows], rate)
        for rows, rate in cases(flows=4)
    ]


def test_classic_traffic_alone_is_held_at_the_target() -> None:
    rows = [arrival(i, i * 750_000, 1250) for i in range(60_000)]
    late = dualpi2_rfc9332.run(rows, RATE, dualpi2_rfc9332.Settings())[20_000:]
    assert abs(verdicts(late).count(DROPPED) / len(late) - 0.25) < 0.01
    waits = [row.sojourn_ns for row in late if row.sojourn_ns is not None]
    assert abs(sum(waits) / len(waits) / 1e6 - 15) < 2


def test_l4s_goes_first_and_classic_keeps_its_weight() -> None:
    # Both overload the link; the L4S queue may not keep Classic from a tenth.
    rows = [arrival(i, i * 400_000, 1250, i % 2, i % 2) for i in range(20_000)]
    settings = dualpi2_rfc9332.Settings(tupdate=10**15, limit=Limit(packets=10**6))
    sent = [row for row in dualpi2_rfc9332.run(rows, RATE, settings) if row.departure_ps]
    first = sorted(sent, key=lambda row: row.departure_ps or 0)[100:5000]
    share = sum(row.arrival.ecn == 0 for row in first) / len(first)
    assert abs(share - 0.1) < 0.01


def test_a_lone_l4s_packet_is_not_marked_and_a_standing_queue_is() -> None:
    lone = [arrival(i, i * 2_000_000, 1250, 0, 1) for i in range(100)]
    assert set(verdicts(dualpi2_rfc9332.run(lone, RATE, dualpi2_rfc9332.Settings()))) == {SENT}
    burst = [arrival(i, 0, 1250, 0, 1) for i in range(20)]
    # Packet i waits i ms; from the second on above the ramp, the last alone in its queue.
    found = verdicts(dualpi2_rfc9332.run(burst, RATE, dualpi2_rfc9332.Settings()))
    assert found[:2] == [SENT, SENT]
    assert set(found[3:19]) == {MARKED}
    assert found[19] == SENT


FAULTS: dict[str, Edits] = {
    "CE is Classic": [("packet.ecn % 2 == 1 else self._cq", "packet.ecn == 1 else self._cq")],
    "not squared": [("p_c = self._p * self._p", "p_c = self._p")],
    "sum instead of the larger": [("max(native, p_cl)", "min(1.0, native + p_cl)")],
    "no overload of the L4S queue": [("if p_cl < 1:", "if p_cl < 10:")],
    "capable Classic packets marked under overload": [
        (" or p_c >= min(1 / (self._set.k * self._set.k), 1)", "")
    ],
    "dropped packets move the credit": [
        (
            "                self._log.dropped(packet, EARLY)\n                continue\n",
            "                self._log.dropped(packet, EARLY)\n                self._credit += packet.size\n                continue\n",
        )
    ],
    "credit also with one queue": [("            if both:\n", "            if True:\n")],
    "credit kept over idle times": [
        ("        self._credit = self._first_credit()\n        return None", "        return None")
    ],
    "delay kept by empty queues": [("if heads else 0.0", "if heads else self._prevq")],
    "delay of the Classic queue": [("in (self._cq, self._lq) if", "in (self._cq,) if")],
    "room for the packet only": [("max(MTU, packet.size)", "packet.size")],
    "ramp of no width": [("(qdelay - self._set.min_th) / self._set.range", "1.0")],
    "weights exchanged": [
        ("(weight if from_l else weight - 100)", "(100 - weight if from_l else -weight)")
    ],
}


def case(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    limit = Limit(packets=200) if rate == RATE else Limit(size=100_000)
    outcomes: list[Outcome] = module.run(rows, rate, module.Settings(limit=limit))
    return outcomes


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_dualpi2_is_exposed(fault: str, mixed: list[Case]) -> None:
    assert exposes(case, faulty(dualpi2_rfc9332, *FAULTS[fault]), dualpi2_rfc9332, mixed)


def test_an_unedited_copy_agrees(mixed: list[Case]) -> None:
    assert not exposes(case, faulty(dualpi2_rfc9332), dualpi2_rfc9332, mixed[:4])
