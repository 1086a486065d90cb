"""The oracle of FQ-PIE against closed forms and planted faults."""

from __future__ import annotations

import types

import pytest

import compare
import fq_pie_draft
import pie_rfc8033
from pie_rfc8033 import EARLY, MS, OVERFLOW, Settings
from replay_io import DROPPED, MARKED, Arrival, Limit, Outcome, arrival
from test_oracles import RATE, Case, Edits, cases, exposes, faulty

FAST = Settings(qdelay_ref=5 * MS, t_update=5 * MS, max_burst=20 * MS)


@pytest.fixture(scope="module")
def many_flows() -> list[Case]:
    return cases(flows=5)


def test_one_flow_is_pie(monkeypatch: pytest.MonkeyPatch) -> None:
    # Both must draw from the same stream.
    monkeypatch.setattr(fq_pie_draft, "SCHEDULER", "link/replay/queue/aqm")
    for rows, rate in cases(flows=1):
        ours = fq_pie_draft.run(rows, rate, FAST, Limit())
        theirs = pie_rfc8033.run(rows, rate, Settings(**{**vars(FAST), "limit": Limit()}))
        assert compare.compare(compare.rows_of(ours), compare.rows_of(theirs)) is None


def test_a_full_queue_refuses_whoever_comes() -> None:
    rows = [arrival(i, 0, 1000, 0) for i in range(11)]
    rows += [arrival(11, 1000, 1000, 1)]
    outcomes = fq_pie_draft.run(rows, RATE, Settings(), Limit(packets=10))
    assert [(r.arrival.index, r.reason) for r in outcomes if r.verdict == DROPPED] == [
        (11, OVERFLOW)
    ]


def test_an_overloading_flow_is_controlled_and_a_sparse_one_is_spared() -> None:
    # 20 Mbps into 10 of flow 0; flow 1 sends a twentieth of the rate.
    rows = [arrival(i, i * 400_000, 1000, 0) for i in range(20_000)]
    rows += [arrival(i, i * 16_000_000, 1000, 1) for i in range(500)]
    rows.sort(key=lambda p: p.time_ps)
    rows = [arrival(i, p.time_ps // 1000, p.size, p.flow) for i, p in enumerate(rows)]
    outcomes = fq_pie_draft.run(rows, RATE, Settings(), Limit())
    late = [r for r in outcomes if r.arrival.time_ps > 4000 * MS]
    share = [
        sum(r.verdict == DROPPED for r in late if r.arrival.flow == flow)
        / sum(r.arrival.flow == flow for r in late)
        for flow in (0, 1)
    ]
    # Flow 0 may send 19 of its 40 parts.
    assert abs(share[0] - 0.525) < 0.03
    assert share[1] == 0
    waits = [(r.departure_ps or 0) - r.arrival.time_ps for r in late if r.arrival.flow == 1]
    assert max(waits) < 2 * MS


def test_capable_packets_are_marked_at_small_probabilities() -> None:
    rows = [arrival(i, i * 900_000, 1250, i % 2, 2) for i in range(6000)]
    settings = Settings(ecn=True)
    outcomes = fq_pie_draft.run(rows, RATE, settings, Limit())
    assert any(r.verdict == MARKED and r.reason == EARLY for r in outcomes)


FAULTS: dict[str, Edits] = {
    "zero credits suffice": [("flow.credits <= 0", "flow.credits < 0")],
    "a new flow joins the old": [
        ("            self._new.append(flow)\n", "            self._old.append(flow)\n")
    ],
    "PIE is asked before the limit": [
        (
            "            self._log.dropped(packet, OVERFLOW)\n            return\n",
            "            if not flow._drop_early():\n"
            "                self._log.dropped(packet, OVERFLOW)\n                return\n",
        )
    ],
    "an emptied new flow leaves": [
        ("if source is self._new:\n                self._old.append(flow)", "pass")
    ],
    "limit one lower": [("admits(len(self) + 1, ", "admits(len(self) + 2, ")],
    "one PIE for all": [
        (
            "self._flows[packet.flow] = Flow(self._log, self._settings, self._draws)",
            "self._flows[packet.flow] = next(iter(self._flows.values()), None) or "
            "Flow(self._log, self._settings, self._draws)",
        )
    ],
}


def case(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    limit = Limit(packets=40) if rate < RATE else Limit(size=64_000)
    quantum = 1250 if rate == RATE else 300
    outcomes: list[Outcome] = module.run(rows, rate, FAST, limit, quantum)
    return outcomes


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_fq_pie_is_exposed(fault: str, many_flows: list[Case]) -> None:
    assert exposes(case, faulty(fq_pie_draft, *FAULTS[fault]), fq_pie_draft, many_flows)


def test_an_unedited_copy_agrees(many_flows: list[Case]) -> None:
    assert not exposes(case, faulty(fq_pie_draft), fq_pie_draft, many_flows[:4])
