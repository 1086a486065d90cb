"""The PIE oracles against closed forms and planted faults."""

from __future__ import annotations

import types
from collections.abc import Sequence

import pytest

import pie_rfc8033
import pie_rfc8034
from replay_io import DROPPED, MARKED, SENT, Arrival, Limit, Outcome, arrival
from test_oracles import Case, Edits, cases, exposes, faulty

RATE = 10_000_000
NS_PER_MS = 10**6


@pytest.fixture(scope="module")
def one_flow() -> list[Case]:
    return cases(flows=1)


def verdicts(outcomes: Sequence[Outcome]) -> list[str]:
    return [row.verdict for row in outcomes]


def overload(gap_ns: int, count: int, ecn: int = 0) -> list[Arrival]:
    """Packets of 1 ms at a fixed gap."""
    return [arrival(i, i * gap_ns, 1250, 0, ecn) for i in range(count)]


def test_pie_drops_nothing_below_the_target() -> None:
    # Ten packets of 1 ms at a time wait at most 9 ms.
    rows = [arrival(i, i // 10 * 10 * NS_PER_MS, 1250) for i in range(10_000)]
    assert set(verdicts(pie_rfc8033.run(rows, RATE, pie_rfc8033.Settings()))) == {SENT}
    rows = [arrival(i, i // 8 * 10 * NS_PER_MS, 1250) for i in range(8_000)]
    docsis = pie_rfc8034.Settings(limit=Limit(packets=15))
    assert set(verdicts(pie_rfc8034.run(rows, RATE, docsis))) == {SENT}


def test_pie_drops_the_excess_in_the_long_run() -> None:
    # A third too much that does not respond: p settles at 1/4.
    rows = overload(750_000, 60_000)
    for outcomes in (
        pie_rfc8033.run(rows, RATE, pie_rfc8033.Settings()),
        pie_rfc8033.run(rows, RATE, pie_rfc8033.Settings(derandomize=True, cap=True)),
        pie_rfc8034.run(rows, RATE, pie_rfc8034.Settings(limit=Limit(packets=100))),
    ):
        late = outcomes[20_000:]
        lost = verdicts(late).count(DROPPED) / len(late)
        assert abs(lost - 0.25) < 0.01
        waits = [row.sojourn_ns for row in late if row.sojourn_ns is not None]
        assert 8 < sum(waits) / len(waits) / NS_PER_MS < 22


def test_pie_protects_a_burst() -> None:
    # 150 packets of 1 ms at once leave within the allowance of 150 ms.
    rows = [arrival(i, 0, 1250) for i in range(150)]
    assert set(verdicts(pie_rfc8033.run(rows, RATE, pie_rfc8033.Settings()))) == {SENT}


def test_pie_marks_below_the_threshold_only() -> None:
    # The probability goes to 1/4, beyond the 10 % up to which packets are marked.
    outcomes = pie_rfc8033.run(
        overload(750_000, 20_000, ecn=2), RATE, pie_rfc8033.Settings(ecn=True)
    )
    found = verdicts(outcomes)
    assert MARKED in found[: found.index(DROPPED)]
    assert found[10_000:].count(DROPPED) > 20 * found[10_000:].count(MARKED)


RFC8033_FAULTS: dict[str, Edits] = {
    "allowance not renewed": [
        ("self._burst = self._set.max_burst\n        if", "pass\n        if")
    ],
    "safeguard by the delay of now": [
        ("if self._old_s < half and self._drop_prob < 0.2", "if self._current_s < half / 4")
    ],
    "safeguard of one packet": [("<= 2 * self._set.mean_pktsize", "<= self._set.mean_pktsize")],
    "scaled by a quarter below a hundredth": [("(0.01, 8)", "(0.01, 4)")],
    "no decay": [("self._drop_prob *= 0.98", "self._drop_prob *= 1.0")],
    "no cap": [("p > 0.02", "p > 2")],
    "accumulates to 0.9": [("self._accu_prob < 0.85", "self._accu_prob < 0.9")],
    "updates half a period early": [
        ("self._next_update = settings.t_update", "self._next_update = settings.t_update // 2")
    ],
    "measures with the packet": [
        ("self._bytes >= DQ_THRESHOLD", "self._bytes + packet.size >= DQ_THRESHOLD")
    ],
    "marks at any probability": [("self._drop_prob < self._set.mark_ecnth", "True")],
}


def rfc8033_case(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    settings = module.Settings(
        limit=Limit(packets=60), ecn=True, dq_rate=True, derandomize=True, cap=True
    )
    plain = module.Settings(limit=Limit(packets=60), t_update=5 * module.MS)
    outcomes: list[Outcome] = module.run(rows, rate, settings)
    # Both at once: as outcomes of twice the packets.
    return outcomes + [
        Outcome(
            arrival(row.arrival.index + len(rows), row.arrival.time_ps // 1000, row.arrival.size),
            row.verdict,
            row.reason,
            row.departure_ps,
        )
        for row in module.run(rows, rate, plain)
    ]


@pytest.mark.parametrize("fault", RFC8033_FAULTS)
def test_a_faulty_pie_is_exposed(fault: str, one_flow: list[Case]) -> None:
    module = faulty(pie_rfc8033, *RFC8033_FAULTS[fault])
    assert exposes(rfc8033_case, module, pie_rfc8033, one_flow)


RFC8034_FAULTS: dict[str, Edits] = {
    "active from the start": [
        ("self._state = INACTIVE\n        self._next", "self._state = ACTIVE\n        self._next")
    ],
    "no allowance": [("self._burst_allowance = self._set.max_burst", "pass")],
    "probability kept in the allowance": [
        ("            self._drop_prob = 0.0\n            self._burst", "            self._burst")
    ],
    "accumulates unscaled": [("self._accu_prob += p1", "self._accu_prob += self._drop_prob")],
    "draw below": [("self._draws.uniform() > p1", "self._draws.uniform() > p1 / 2")],
    "no rise at high delay": [("self._drop_prob += 0.02", "self._drop_prob += 0.0")],
    "decays below 10 ms": [("LATENCY_LOW = 0.005", "LATENCY_LOW = 0.01")],
}


def rfc8034_case(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    outcomes: list[Outcome] = module.run(rows, rate, module.Settings(limit=Limit(size=60_000)))
    return outcomes


@pytest.mark.parametrize("fault", RFC8034_FAULTS)
def test_a_faulty_docsis_pie_is_exposed(fault: str, one_flow: list[Case]) -> None:
    module = faulty(pie_rfc8034, *RFC8034_FAULTS[fault])
    assert exposes(rfc8034_case, module, pie_rfc8034, one_flow)


def test_an_unedited_copy_agrees(one_flow: list[Case]) -> None:
    assert not exposes(rfc8033_case, faulty(pie_rfc8033), pie_rfc8033, one_flow[:4])
    assert not exposes(rfc8034_case, faulty(pie_rfc8034), pie_rfc8034, one_flow[:4])
