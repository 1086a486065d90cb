"""The oracles against closed forms, each other, Linux and planted faults."""

from __future__ import annotations

import io
import subprocess
import sys
import types
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import pytest

import arrivals as processes
import codel_rfc8289
import compare
import drr_paper
import lindley
import linux_traces
import red_paper
from replay_io import (
    DROPPED,
    INPUT_COLUMNS,
    MARKED,
    PS_PER_NS,
    SENT,
    Arrival,
    Limit,
    Outcome,
    arrival,
    parse_limit,
    parse_rate,
    parse_size,
    parse_span,
    read_arrivals,
    write_arrivals,
)
from streams import Stream

HERE = Path(__file__).resolve().parent
MS = 10**9
NS_PER_MS = 10**6
RATE = 10_000_000
TARGET = parse_span("5ms")
INTERVAL = parse_span("100ms")

Case = tuple[list[Arrival], int]


def cases(flows: int, packets: int = 3000) -> list[Case]:
    """Every process at several rates and at loads from 0.8 to 3."""
    found = []
    for seed, load in enumerate((0.8, 1.0, 1.2, 1.6, 2.0, 3.0)):
        for name, process in processes.PROCESSES.items():
            rates = (
                (10_000_000, 1_000_000) if name == "grid" else (10_000_000, 1_000_000, 7_300_001)
            )
            rate = rates[seed % len(rates)]
            found.append((process(seed, rate, load, packets, flows), rate))
    return found


@pytest.fixture(scope="module")
def one_flow() -> list[Case]:
    return cases(flows=1)


@pytest.fixture(scope="module")
def many_flows() -> list[Case]:
    return cases(flows=5)


def back_to_back(count: int, gap_ns: int, size: int = 1250, ecn: int = 0) -> list[Arrival]:
    return [arrival(i, i * gap_ns, size, 0, ecn) for i in range(count)]


def verdicts(outcomes: Sequence[Outcome]) -> list[str]:
    return [row.verdict for row in outcomes]


def at_once(sizes: dict[int, list[int]]) -> list[Arrival]:
    """All packets of all flows at time 0, flow by flow."""
    rows = [(flow, size) for flow, queue in sizes.items() for size in queue]
    return [arrival(i, 0, size, flow) for i, (flow, size) in enumerate(rows)]


# Units, files and the link.


def test_units_are_read_exactly() -> None:
    assert parse_rate("10Mbps") == 10_000_000
    assert parse_rate("1.5 Mbit") == 1_500_000
    assert parse_span("5ms") == 5 * MS
    assert parse_span("0.5us") == 500_000
    assert parse_size("64kB") == 64_000
    assert parse_size("64KiB") == 65_536
    assert parse_limit("100p").packets == 100
    assert parse_limit("64kB").size == 64_000
    assert parse_limit("none").admits(10**9, 10**12)


@pytest.mark.parametrize("text", ["10", "10mbps", "ms", "-5ms", "10MBps"])
def test_bare_and_unknown_units_are_refused(text: str) -> None:
    for parse in (parse_rate, parse_span, parse_size, parse_limit):
        with pytest.raises(ValueError, match=r"."):
            parse(text)


def test_arrivals_survive_the_file() -> None:
    written = processes.bursts(3, RATE, 1.2, 200, 4)
    text = io.StringIO()
    write_arrivals(written, text)
    assert text.getvalue().splitlines()[0] == ",".join(INPUT_COLUMNS)
    text.seek(0)
    assert read_arrivals(text) == written


def test_decreasing_times_are_refused() -> None:
    with pytest.raises(ValueError, match="row 1"):
        read_arrivals(io.StringIO("time_ns,bytes,flow,ecn\n5,100,0,0\n4,100,0,0\n"))


def test_processes_keep_to_their_seed_and_differ_without_it() -> None:
    for process in processes.PROCESSES.values():
        assert process(1, RATE, 1.0, 300, 3) == process(1, RATE, 1.0, 300, 3)
        assert process(1, RATE, 1.0, 300, 3) != process(2, RATE, 1.0, 300, 3)


@pytest.mark.parametrize("name", ["poisson", "mixed"])
def test_stationary_processes_offer_the_load_they_name(name: str) -> None:
    rows = processes.PROCESSES[name](5, RATE, 1.5, 20_000, 4)
    first_third = rows[-1].time_ps // 3
    late = [row for row in rows if row.time_ps >= first_third]
    span = late[-1].time_ps - late[0].time_ps
    load = Fraction(sum(row.size for row in late) * 8 * 10**12, span * RATE)
    assert 1.4 < load < 1.6


# Droptail.


def test_droptail_spaces_a_burst_by_the_service_time() -> None:
    rows = lindley.run([arrival(i, 0, 1250) for i in range(5)], RATE, Limit())
    assert [row.departure_ps for row in rows] == [i * MS for i in range(5)]


def test_droptail_holds_its_limit_beside_the_packet_in_transmission() -> None:
    rows = lindley.run([arrival(i, 0, 1250) for i in range(6)], RATE, Limit(packets=3))
    assert verdicts(rows) == [SENT] * 4 + [DROPPED] * 2
    rows = lindley.run([arrival(i, 0, 1250) for i in range(6)], RATE, Limit(size=2 * 1250 + 1249))
    assert verdicts(rows) == [SENT] * 3 + [DROPPED] * 3


def test_a_departure_precedes_an_arrival_at_its_instant() -> None:
    # One in transmission, one waiting: full. The waiting one starts at 1 ms.
    for time_ns, verdict in ((NS_PER_MS - 1, DROPPED), (NS_PER_MS, SENT)):
        rows = lindley.run(
            [arrival(0, 0, 1250), arrival(1, 0, 1250), arrival(2, time_ns, 1250)],
            RATE,
            Limit(packets=1),
        )
        assert rows[2].verdict == verdict


def test_overload_of_two_drops_every_second_packet_once_full() -> None:
    # A slot past the instant of a tie keeps order out of it.
    rows = lindley.run(back_to_back(4000, 500_001), RATE, Limit(packets=10))
    late = verdicts(rows)[100:]
    assert abs(late.count(DROPPED) - len(late) // 2) <= 1


def test_the_remainder_is_carried_while_busy_and_cleared_by_idleness() -> None:
    # 1 byte at 3 bps: 8/3 s, not a whole number of picoseconds.
    burst = [arrival(i, 0, 1) for i in range(4)]
    later = arrival(4, 20 * 10**9, 1)
    last = arrival(5, 20 * 10**9, 1)
    rows = lindley.run([*burst, later, last], 3, Limit())
    eight_thirds = Fraction(8 * 10**12, 3)
    assert [row.departure_ps for row in rows[:4]] == [int(i * eight_thirds) for i in range(4)]
    assert rows[4].departure_ps == 20 * 10**12
    assert rows[5].departure_ps == 20 * 10**12 + int(eight_thirds)


def test_a_periodic_queue_waits_as_the_recursion_says_in_closed_form() -> None:
    # n packets of 1 ms each every 0.75 ms: W(n) = n / 4 ms.
    rows = lindley.run(back_to_back(200, 750_000), RATE, Limit())
    assert [row.sojourn_ns for row in rows] == [i * 250_000 for i in range(200)]


# Linux's own decisions: the conversion of the traces.


@pytest.mark.parametrize(
    ("name", "limit", "drops"),
    [("udp_bfifo1_burst2.0_s1", 25_000, 4050), ("udp_bfifo5_burst2.0_s1", 125_000, 3720)],
)
def test_lindley_drops_the_packets_that_linux_drops(name: str, limit: int, drops: int) -> None:
    trace = linux_traces.load(name, decides_on_arrival=True)
    rows = compare.rows_of(lindley.run(trace.arrivals, linux_traces.RATE_BPS, Limit(size=limit)))
    divergence = linux_traces.first_divergence(trace, rows)
    assert divergence is None, divergence
    assert all(fate.comparable for fate in trace.fates)
    assert sum(row.verdict == DROPPED for row in rows) == drops


def test_a_wrong_decision_in_a_linux_trace_is_found_and_explained() -> None:
    trace = linux_traces.load("udp_bfifo1_burst2.0_s1", decides_on_arrival=True)
    outcomes = lindley.run(trace.arrivals, linux_traces.RATE_BPS, Limit(size=25_000))
    swapped = next(i for i in range(3000, 4000) if outcomes[i].verdict == DROPPED)
    outcomes[swapped] = Outcome(trace.arrivals[swapped], SENT, "", trace.arrivals[swapped].time_ps)
    divergence = linux_traces.first_divergence(trace, compare.rows_of(outcomes))
    assert divergence is not None
    assert "1 of 8260 packets differ" in divergence
    assert f"replay: #{swapped} " in divergence


# CoDel.


def run_codel(
    rows: Sequence[Arrival],
    rate: int = RATE,
    limit: Limit | None = None,
    maxpacket: int = 1500,
    ecn: bool = False,
) -> list[Outcome]:
    return codel_rfc8289.run(
        rows, rate, TARGET, INTERVAL, limit or Limit(packets=1000), maxpacket, ecn
    )


def codel_drops(outcomes: Sequence[Outcome]) -> list[int]:
    return [row.arrival.index for row in outcomes if row.verdict == DROPPED]


def test_codel_with_a_huge_target_is_droptail(one_flow: list[Case]) -> None:
    limit = Limit(packets=50)
    for rows, rate in one_flow:
        ours = codel_rfc8289.run(rows, rate, 10**15, INTERVAL, limit)
        assert (
            compare.compare(compare.rows_of(ours), compare.rows_of(lindley.run(rows, rate, limit)))
            is None
        )


def test_codel_drops_nothing_while_the_sojourn_is_below_target() -> None:
    # Four packets of 1 ms at a time wait at most 3 ms.
    rows = [arrival(i, i // 4 * 4 * NS_PER_MS, 1250) for i in range(4000)]
    assert set(verdicts(run_codel(rows))) == {SENT}


def test_codel_drops_nothing_within_an_interval_above_target() -> None:
    # 200 packets at once: from the sixth on at or above target until the queue is nearly empty.
    rows = run_codel([arrival(i, 0, 1250) for i in range(100)])
    assert set(verdicts(rows)) == {SENT}
    rows = run_codel([arrival(i, 0, 1250) for i in range(120)])
    # Packet 5 waits 5 ms = target; an interval later, at 105 ms, the packet then at the head goes.
    assert codel_drops(rows) == [105]
    assert rows[106].departure_ps == 105 * MS


def test_codel_drops_at_the_inverse_square_root_spacing() -> None:
    # 1 ms packets at twice the rate: the queue never comes below target.
    outcomes = run_codel(back_to_back(4000, 500_000), limit=Limit())
    drops = codel_drops(outcomes)
    times = []
    for index in drops:
        after = next(row for row in outcomes[index:] if row.departure_ps is not None)
        times.append(after.departure_ps)
    # Packet i waits i/2 ms: target is met at i = 10, which leaves at 10 ms.
    due = 110 * MS
    assert times[0] == due
    due += INTERVAL
    count = 1
    for seen in times[1:]:
        # A drop happens at the first service instant (a whole millisecond) at or after its time.
        assert seen == -(-due // MS) * MS
        count += 1
        due += round(INTERVAL / count**0.5)
    assert len(times) > 20


def test_codel_spares_a_backlog_of_maxpacket_and_counts_what_is_left_behind() -> None:
    # 12 ms packets at 1 Mbps, two queued: each waits above target, with 1500 bytes left behind.
    rate = 1_000_000
    rows = [arrival(0, 0, 1500), arrival(1, 0, 1500), arrival(2, 0, 1500)]
    rows += [arrival(i, (i - 2) * 12 * NS_PER_MS, 1500) for i in range(3, 400)]
    assert set(verdicts(run_codel(rows, rate))) == {SENT}
    assert DROPPED in verdicts(run_codel(rows, rate, maxpacket=1499))


def test_codel_resumes_from_the_last_drop_rate_within_16_intervals_only() -> None:
    def bursts(pause_ms: int) -> list[int]:
        rows = [i * 500_000 for i in range(2000)]
        start = rows[-1] + (1000 + pause_ms) * NS_PER_MS
        rows += [start + i * 500_000 for i in range(2000)]
        outcomes = run_codel([arrival(i, time, 1250) for i, time in enumerate(rows)], limit=Limit())
        return [index for index in codel_drops(outcomes) if index >= 2000]

    soon, late = bursts(0), bursts(2000)
    # Fresh: an interval to the second drop, in which 100 packets leave.
    assert late[1] - late[0] == 101
    assert soon[1] - soon[0] < 40


def test_codel_marks_in_place_of_drops_only_what_is_capable_and_only_if_asked() -> None:
    capable = back_to_back(1000, 500_000, ecn=2)
    legacy = back_to_back(1000, 500_000)
    marked = run_codel(capable, limit=Limit(), ecn=True)
    assert set(verdicts(marked)) == {SENT, MARKED}
    assert all(row.departure_ps is not None for row in marked)
    assert set(verdicts(run_codel(capable, limit=Limit()))) == {SENT, DROPPED}
    assert verdicts(run_codel(legacy, limit=Limit(), ecn=True)) == verdicts(
        run_codel(legacy, limit=Limit())
    )
    first = next(row for row in marked if row.verdict == MARKED)
    assert first.departure_ps == 110 * MS


# DRR.


def run_drr(
    rows: Sequence[Arrival],
    rate: int = RATE,
    quantum: int = 1500,
    limit: Limit | None = None,
    drop: str = "tail",
    longest: str | None = None,
) -> list[Outcome]:
    return drr_paper.run(rows, rate, quantum, limit or Limit(), drop, longest)


def order(outcomes: Sequence[Outcome]) -> list[int]:
    """Flows in order of departure."""
    sent = [row for row in outcomes if row.departure_ps is not None]
    return [row.arrival.flow for row in sorted(sent, key=lambda row: row.departure_ps or 0)]


def test_drr_with_one_flow_is_droptail(one_flow: list[Case]) -> None:
    for rows, rate in one_flow:
        for limit in (Limit(packets=30), Limit(size=40_000)):
            ours = drr_paper.run(rows, rate, 700, limit, drop="arriving")
            theirs = lindley.run(rows, rate, limit)
            assert compare.compare(compare.rows_of(ours), compare.rows_of(theirs)) is None


def test_drr_serves_equal_packets_in_turn() -> None:
    rows = run_drr(at_once({0: [1000] * 4, 1: [1000] * 3, 2: [1000] * 3}), quantum=1000)
    assert order(rows) == [0, 0, 1, 2, 0, 1, 2, 0, 1, 2]


def test_drr_carries_the_deficit_that_is_left() -> None:
    # After the packet that goes straight through, quantum 500: flow 1 gathers three quanta for 1500
    # bytes while flow 0 sends two of 250 in each.
    rows = run_drr(at_once({0: [250] * 9, 1: [1500] * 2}), quantum=500)
    assert order(rows) == [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1]


def test_drr_keeps_no_deficit_for_an_empty_queue() -> None:
    # Flow 0 sends 100 of 1000 and goes empty; back at once, it may not send 1500 in its next turn.
    rows = [
        arrival(0, 0, 1000, 9),
        arrival(1, 0, 100, 0),
        arrival(2, 0, 1000, 1),
        arrival(3, 0, 1000, 1),
        arrival(4, 0, 1000, 1),
        arrival(5, 1_000_000, 1500, 0),
    ]
    assert order(run_drr(rows, quantum=1000)) == [9, 0, 1, 1, 0, 1]


def test_drr_takes_from_the_longest_queue_at_the_end_it_is_told() -> None:
    # Flow 0: one in transmission, three queued; flow 1 brings the fourth and the fifth.
    rows = at_once({0: [1000] * 4, 1: [1000] * 2})
    dropped = {
        drop: [
            row.arrival.index
            for row in run_drr(rows, limit=Limit(packets=4), drop=drop)
            if row.verdict == DROPPED
        ]
        for drop in ("head", "tail", "arriving")
    }
    assert dropped == {"head": [1], "tail": [3], "arriving": [5]}


def test_drr_measures_length_in_the_unit_it_is_told() -> None:
    rows = at_once({8: [40], 0: [100] * 5, 1: [1500] * 2, 2: [700]})
    taken = {
        longest: [
            row.arrival.flow
            for row in run_drr(rows, limit=Limit(size=3600), longest=longest)
            if row.verdict == DROPPED
        ]
        for longest in ("bytes", "packets")
    }
    assert taken["bytes"] == [1]
    assert taken["packets"][0] == 0


def test_drr_keeps_within_the_papers_bound(many_flows: list[Case]) -> None:
    seen = 0
    for rows, rate in many_flows:
        for quantum in (300, 1500, 4000):
            outcomes = drr_paper.run(rows, rate, quantum, Limit(size=64_000))
            worst = drr_paper.worst_unfairness(outcomes, quantum)
            if worst is not None:
                assert worst.lead < worst.bound, str(worst)
                seen = max(seen, worst.lead * 100 // worst.bound)
    assert seen > 60, "no case comes near the bound, so the test shows little"


@pytest.mark.parametrize("quantum", [100, 1000, 1500, 5000])
def test_drr_from_a_common_start_is_within_a_quantum_and_a_packet(quantum: int) -> None:
    rows = at_once(
        {
            9: [1500],
            0: [1500] * 60,
            1: [40] * 2300,
            2: [900, 1400] * 40,
            3: [577] * 160,
        }
    )
    worst = drr_paper.worst_unfairness(run_drr(rows, quantum=quantum), quantum, fresh=True)
    assert worst is not None
    assert worst.bound == quantum + 1500
    assert worst.lead < worst.bound, str(worst)
    assert worst.lead * 2 > quantum


def test_fifo_breaks_the_bound_that_drr_keeps() -> None:
    rows = at_once({9: [1500], 0: [1500] * 20, 1: [1500] * 20})
    worst = drr_paper.worst_unfairness(lindley.run(rows, RATE, Limit()), 1500)
    assert worst is not None
    assert worst.lead >= worst.bound


# RED.


def test_a_stream_has_the_draws_of_the_generators_authors() -> None:
    # xoshiro256++ from the words 1, 2, 3, 4: the first outputs that its reference code prints.
    stream = Stream(1)
    stream._words = [1, 2, 3, 4]
    assert [stream.bits() for _ in range(3)] == [41943041, 58720359, 3588806011781223]
    draws = [Stream(seed).uniform() for seed in range(2000)]
    assert 0.48 < sum(draws) / len(draws) < 0.52


def test_red_without_a_probability_below_max_is_droptail(one_flow: list[Case]) -> None:
    settings = red_paper.Settings(max_p=0.0, min_th=1e8, max_th=1e9, limit=Limit(packets=50))
    for rows, rate in one_flow:
        ours = compare.rows_of(red_paper.run(rows, rate, settings))
        theirs = compare.rows_of(lindley.run(rows, rate, Limit(packets=50)))
        assert compare.compare(ours, theirs) is None


def test_red_drops_what_an_overload_has_in_excess() -> None:
    settings = red_paper.Settings(max_p=0.1, limit=Limit(packets=1000))
    rows = red_paper.run(back_to_back(60_000, 952_381), RATE, settings)
    late = verdicts(rows)[20_000:]
    assert abs(late.count(DROPPED) / len(late) - (1 - 1 / 1.05)) < 0.002


# Planted faults: each must show on the random arrivals, so that agreement means something.

Edits = list[tuple[str, str]]

NEXT_DROP = "                    self._drop_next = self._control_law(self._drop_next)\n"

CODEL_FAULTS: dict[str, Edits] = {
    "resume one lower": [("self._count = delta\n", "self._count = delta - 1\n")],
    "never resume": [("if delta > 1 and", "if False and")],
    "resume within 8 intervals": [("< 16 * self._interval", "< 8 * self._interval")],
    "target inclusive": [("now_ps - arrived < self._target", "now_ps - arrived <= self._target")],
    "interval strict": [("now_ps >= self._first_above_time", "now_ps > self._first_above_time")],
    "interval not added": [("now_ps + self._interval\n", "now_ps\n")],
    "maxpacket strict": [
        ("self._left_behind() <= self._maxpacket", "self._left_behind() < self._maxpacket")
    ],
    "maxpacket counts the packet": [
        ("return self._bytes\n\n    def _control", "return self._bytes + 1000\n\n    def _control")
    ],
    "drop due strict": [("now_ps >= self._drop_next:", "now_ps > self._drop_next:")],
    "next drop from now": [
        (
            NEXT_DROP + "        elif",
            NEXT_DROP.replace("law(self._drop_next)", "law(now_ps)") + "        elif",
        )
    ],
    "one drop per dequeue": [
        (
            "while self._dropping and now_ps >= self._drop_next:",
            "for _ in range(self._dropping and now_ps >= self._drop_next):",
        )
    ],
    "count only if dropping goes on": [
        (
            "self._dropping = False\n                else",
            "self._dropping = False\n                    self._count -= 1\n                else",
        )
    ],
    "no square root": [("math.sqrt(self._count)", "self._count")],
    "from the tail": [("self._fifo.popleft()", "self._fifo.pop()")],
    "limit one lower": [("len(self._fifo) + 1, ", "len(self._fifo) + 2, ")],
    "mark without count": [
        ("self._count += 1\n", "self._count += not (self._ecn and packet.ecn)\n")
    ],
    "next mark from now": [
        (
            NEXT_DROP + "                    break",
            NEXT_DROP.replace("law(self._drop_next)", "law(now_ps)") + "                    break",
        )
    ],
}

TURN_ENDS = "                self._active.append(flow)\n                self._current = None"

DRR_FAULTS: dict[str, Edits] = {
    # The paper resets it twice, on leaving and on joining the active list; either would do.
    "deficit kept by an empty queue": [
        ("if not flow.fifo:\n                    flow.deficit = 0\n", "if not flow.fifo:\n"),
        ("            flow.deficit = 0\n            self._active", "            self._active"),
    ],
    "deficit not carried": [(TURN_ENDS, TURN_ENDS + "\n                flow.deficit = 0")],
    "head must be below the deficit": [("size <= flow.deficit", "size < flow.deficit")],
    "one packet a turn": [
        (
            "                return packet\n",
            "                if self._current is not None:\n"
            "                    self._active.append(flow)\n"
            "                    self._current = None\n"
            "                return packet\n",
        )
    ],
    "a new flow goes first": [
        (
            "self._active.append(flow)\n        flow.fifo",
            "self._active.appendleft(flow)\n        flow.fifo",
        )
    ],
    "a new flow begins with a quantum": [
        (
            "            flow.deficit = 0\n            self._active",
            "            flow.deficit = self._quantum\n            self._active",
        )
    ],
    "quantum replaces the deficit": [
        ("flow.deficit += self._quantum", "flow.deficit = self._quantum")
    ],
    "deficit not charged": [("flow.deficit -= packet.size", "flow.deficit -= 0")],
    "from the other end": [('if self._drop == "head"', 'if self._drop != "head"')],
    "from the shortest queue": [
        (
            "max(self._flows.values(), key=length)",
            "min((f for f in self._flows.values() if f.fifo), key=length)",
        )
    ],
    "arriving packet counts": [
        (
            "            flow = self._longest()\n",
            "            self._flows[packet.flow].size += packet.size\n"
            "            flow = self._longest()\n"
            "            self._flows[packet.flow].size -= packet.size\n",
        )
    ],
}


RED_FAULTS: dict[str, Edits] = {
    "weight on the old average": [
        (
            "(1 - self._w) * self._avg + self._w * size",
            "self._w * self._avg + (1 - self._w) * size",
        )
    ],
    "no decay while idle": [("(1 - self._w) ** m * self._avg", "self._avg")],
    "idle in whole packets": [
        (
            "m = (now_ps - self._q_time) / PS_PER_S / self._packet_s",
            "m = (now_ps - self._q_time) // round(PS_PER_S * self._packet_s)",
        )
    ],
    "idle time counted twice": [
        ("self._q_time = now_ps\n\n    def _accepts", "pass\n\n    def _accepts")
    ],
    "the arriving packet counts": [
        (
            "else len(self._fifo)\n        if self._q_time",
            "else len(self._fifo) + 1\n        if self._q_time",
        )
    ],
    "count not reset by a drop": [
        (
            "chosen = EARLY\n                self._count = 0",
            "chosen = EARLY",
        )
    ],
    "count goes on below min": [("else:\n            self._count = -1", "else:\n            pass")],
    "count set to -1 above max": [
        (
            "chosen = FORCED\n            self._count = 0",
            "chosen = FORCED\n            self._count = -1",
        )
    ],
    "count after the draw": [
        ("            self._count += 1\n            if self._draws", "            if self._draws"),
        (
            "                self._count = 0\n",
            "                self._count = -1\n            self._count += 1\n",
        ),
    ],
    "drops not spaced": [("return p_b / (1 - spread) if spread < 1 else 1.0", "return p_b")],
    "a draw for every packet": [
        (
            "        chosen = None\n        ceiling",
            "        self._draws.uniform()\n        chosen = None\n        ceiling",
        )
    ],
    "max inclusive of twice": [
        ("2 * self._max if self._set.gentle", "3 * self._max if self._set.gentle")
    ],
    "marks above the threshold in spite of harddrop": [
        ("if chosen == FORCED and self._set.harddrop", "if False and self._set.harddrop")
    ],
    "limit one lower": [("len(self._fifo) + 1, ", "len(self._fifo) + 2, ")],
    "adapts by the wrong bound": [
        ("+ 0.6 * band", "+ 0.4 * band"),
        ("+ 0.4 * band and self._max_p >=", "+ 0.6 * band and self._max_p >="),
    ],
}


def faulty(module: types.ModuleType, *edits: tuple[str, str]) -> types.ModuleType:
    """The oracle's module with its text edited; each edit applies exactly once."""
    assert module.__file__ is not None
    text = Path(module.__file__).read_text(encoding="utf-8")
    for old, new in edits:
        assert text.count(old) == 1, f"{text.count(old)} places for {old!r}"
        text = text.replace(old, new)
    copy = types.ModuleType(f"{module.__name__}_faulty")
    copy.__dict__["__file__"] = module.__file__
    sys.modules[copy.__name__] = copy
    try:
        exec(compile(text, copy.__name__, "exec"), copy.__dict__)
    finally:
        del sys.modules[copy.__name__]
    return copy


def exposes(
    run: Callable[[types.ModuleType, list[Arrival], int], list[Outcome]],
    module: types.ModuleType,
    original: types.ModuleType,
    found: list[Case],
) -> bool:
    for rows, rate in found:
        try:
            ours = run(module, rows, rate)
        except (AssertionError, IndexError):
            return True
        theirs = run(original, rows, rate)
        if compare.compare(compare.rows_of(ours), compare.rows_of(theirs)) is not None:
            return True
    return False


def codel_case(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    outcomes: list[Outcome] = module.run(
        rows, rate, TARGET, INTERVAL, Limit(packets=100), 1500, True
    )
    return outcomes


def drr_case(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    outcomes: list[Outcome] = module.run(rows, rate, 1500, Limit(size=64_000))
    return outcomes


@pytest.mark.parametrize("fault", CODEL_FAULTS)
def test_a_faulty_codel_is_exposed(fault: str, one_flow: list[Case]) -> None:
    module = faulty(codel_rfc8289, *CODEL_FAULTS[fault])
    assert exposes(codel_case, module, codel_rfc8289, one_flow)


def red_case(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
    settings = module.Settings(
        max_p=0.1,
        w_q=0.02,
        limit=Limit(packets=40),
        ecn=True,
        harddrop=True,
        gentle=rate < RATE,
        adaptive=True,
        interval_ps=100 * MS,
    )
    outcomes: list[Outcome] = module.run(rows, rate, settings)
    return outcomes


@pytest.mark.parametrize("fault", RED_FAULTS)
def test_a_faulty_red_is_exposed(fault: str, one_flow: list[Case]) -> None:
    module = faulty(red_paper, *RED_FAULTS[fault])
    assert exposes(red_case, module, red_paper, one_flow)


@pytest.mark.parametrize("fault", DRR_FAULTS)
def test_a_faulty_drr_is_exposed(fault: str, many_flows: list[Case]) -> None:
    assert exposes(drr_case, faulty(drr_paper, *DRR_FAULTS[fault]), drr_paper, many_flows)


def test_an_unedited_copy_of_an_oracle_agrees_with_it(
    one_flow: list[Case], many_flows: list[Case]
) -> None:
    assert not exposes(codel_case, faulty(codel_rfc8289), codel_rfc8289, one_flow[:4])
    assert not exposes(drr_case, faulty(drr_paper), drr_paper, many_flows[:4])


# Comparison and commands.


def test_comparison_names_the_first_index_and_the_earliest_time() -> None:
    oracle = compare.rows_of(run_drr(at_once({0: [1000] * 3, 1: [1000] * 3}), quantum=1000))
    replay = list(oracle)
    replay[1], replay[3] = (
        compare.Row(**{**vars(oracle[1]), "departure_ns": oracle[3].departure_ns}),
        compare.Row(**{**vars(oracle[3]), "departure_ns": oracle[1].departure_ns}),
    )
    divergence = compare.compare(replay, oracle)
    assert divergence is not None
    assert (divergence.index, divergence.what) == (1, "departure_ns")
    assert "2 of 6 packets differ" in str(divergence)
    assert compare.compare(oracle, oracle) is None


def test_comparison_tolerates_what_it_is_told_to() -> None:
    oracle = compare.rows_of(run_codel(back_to_back(50, 500_000)))
    late = [
        compare.Row(**{**vars(row), "departure_ns": (row.departure_ns or 0) + 8}) for row in oracle
    ]
    assert compare.compare(late, oracle, tolerance_ns=8) is None
    assert compare.compare(late, oracle, tolerance_ns=7) is not None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "index,time_ns,bytes,flow,verdict,reason,departure_ns\n",
        "index,time_ns,bytes,flow,verdict,reason,departure_ns,sojourn_ns\n1,0,100,0,sent,,0,0\n",
        "index,time_ns,bytes,flow,verdict,reason,departure_ns,sojourn_ns\n0,0,100,0,sent,,,\n",
        "index,time_ns,bytes,flow,verdict,reason,departure_ns,sojourn_ns\n0,0,1,0,dropped,x,0,0\n",
    ],
)
def test_a_result_out_of_format_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        compare.parse_rows(text)


@pytest.mark.parametrize(
    ("script", "options"),
    [
        ("lindley.py", ["--limit", "20p"]),
        ("codel_rfc8289.py", ["--target", "5ms", "--interval", "100ms", "--limit", "20p", "--ecn"]),
        ("drr_paper.py", ["--quantum", "1500B", "--limit", "20p", "--drop", "head"]),
        ("red_paper.py", ["--seed", "3", "--limit", "20p", "--ecn", "--weight", "0.1"]),
    ],
)
def test_commands_write_what_the_functions_return(
    script: str, options: list[str], tmp_path: Path
) -> None:
    rows = processes.bursts(7, RATE, 1.5, 800, 4)
    path = tmp_path / "arrivals.csv"
    write_arrivals(rows, path)
    result = subprocess.run(
        [sys.executable, str(HERE / script), str(path), "--rate", "10Mbps", *options],
        capture_output=True,
        text=True,
        check=True,
    )
    limit = Limit(packets=20)
    expected = {
        "lindley.py": lambda: lindley.run(rows, RATE, limit),
        "codel_rfc8289.py": lambda: run_codel(rows, limit=limit, ecn=True),
        "drr_paper.py": lambda: run_drr(rows, limit=limit, drop="head"),
        "red_paper.py": lambda: red_paper.run(
            rows, RATE, red_paper.Settings(limit=limit, ecn=True, w_q=0.1), 3
        ),
    }[script]()
    assert compare.compare(compare.parse_rows(result.stdout), compare.rows_of(expected)) is None
    assert all(row.arrival.time_ps % PS_PER_NS == 0 for row in expected)
