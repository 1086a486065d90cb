"""The oracle of CAKE against closed forms, Linux and planted faults."""

from __future__ import annotations

import types
from collections.abc import Callable

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
    "no decay": [("rests = flow.cobalt.at_rest(now)", "rests = True")],
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
        (
            "            self._next = max(self._next, now)",
            "            self._next = max(self._next, now - 10**7)",
        )
    ],
    "bytes in place of memory": [("    return data + 256\n", "    return size\n")],
    "heads of the shortest queue": [
        (
            "key=lambda entry: entry[:3]",
            "key=lambda entry: (-entry[0] if entry[0] else -(10**9), *entry[1:3])",
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


KINDS = cake_linux.Kinds(
    dscps=dict(enumerate((0, 8, 46, 26, 48, 2))),
    hosts=dict(enumerate(((0, 0), (0, 1), (0, 2), (1, 0), (2, 2), (1, 1)))),
    flows=range(6),
)

# One case for each: tins, isolation and fault.
FAULTS_OF_TINS: dict[str, tuple[str, str, Edits]] = {
    "the first tin that is on schedule": (
        "diffserv4",
        "flows",
        [("wait <= 0 or wait <= best[0]", "wait < min(0, best[0])")],
    ),
    "tins that save up": (
        "diffserv3",
        "flows",
        [
            ("tin.next = max(tin.next, now)", "pass"),
            ("elif self.next < now + span:", "elif False:"),
        ],
    ),
    "a quarter for bulk": (
        "diffserv3",
        "flows",
        [
            (
                "(rate >> 4, 64), (rate >> 2, 256)]\n    if",
                "(rate >> 2, 64), (rate >> 2, 256)]\n    if",
            )
        ],
    ),
    "no time for packets that are early": (
        "diffserv8",
        "flows",
        [
            (
                "            if self.next < now:\n                self.next += span\n            elif",
                "            if",
            )
        ],
    ),
    "EF is best effort": (
        "diffserv4",
        "flows",
        [("(32, 40, VA, EF, 48, 56), 3", "(32, 40, VA, 48, 56), 3")],
    ),
    "eighths are sevenths": (
        "precedence",
        "flows",
        [("rate * 7 >> 3, quantum", "rate * 6 >> 3, quantum")],
    ),
    "all flows are bulk flows": (
        "besteffort",
        "triple-isolate",
        [('self._become(flow, "bulk" if flow.fifo else "wait")', 'self._become(flow, "bulk")')],
    ),
    "the idler host counts": (
        "besteffort",
        "triple-isolate",
        [
            (
                "max([1, *(self._bulk[host] for host in flow.hosts)])",
                "max(1, min([self._bulk[host] for host in flow.hosts]))",
            )
        ],
    ),
    "sources in place of destinations": (
        "besteffort",
        "dual-dsthost",
        [('"dual-dsthost": "d"', '"dual-dsthost": "s"')],
    ),
    "flows that wait stay sparse": (
        "besteffort",
        "dual-srchost",
        [('        elif flow.kind == "wait":\n            self._become(flow, "bulk")\n', "")],
    ),
    "hosts are never idle again": (
        "besteffort",
        "dual-srchost",
        [("            self._bulk.subtract(flow.hosts)\n", "            pass\n")],
    ),
}


@pytest.fixture(scope="module")
def many_kinds() -> list[Case]:
    return cases(flows=6, packets=1500)[:12]


def case_of(tins: str, isolation: str, bandwidth: int | None = 3) -> Callable[..., list[Outcome]]:
    def run(module: types.ModuleType, rows: list[Arrival], rate: int) -> list[Outcome]:
        kinds = module.Kinds(KINDS.dscps, KINDS.hosts, KINDS.flows)
        shaped = rate * bandwidth // 5 if bandwidth else None
        outcomes: list[Outcome] = module.run(
            rows, rate, shaped, 60_000, tins=tins, isolation=isolation, kinds=kinds
        )
        return outcomes

    return run


@pytest.mark.parametrize("fault", FAULTS_OF_TINS)
def test_a_fault_in_tins_or_isolation_is_exposed(fault: str, many_kinds: list[Case]) -> None:
    tins, isolation, edits = FAULTS_OF_TINS[fault]
    assert exposes(case_of(tins, isolation), faulty(cake_linux, *edits), cake_linux, many_kinds)


def test_turns_of_tins_are_taken_by_deficits_without_a_bandwidth(many_kinds: list[Case]) -> None:
    edits = [("                tin.deficit += tin.turn\n", "                tin.deficit += 1514\n")]
    run = case_of("diffserv4", "flows", None)
    assert exposes(run, faulty(cake_linux, *edits), cake_linux, many_kinds)
    assert not exposes(run, faulty(cake_linux), cake_linux, many_kinds[:4])


def test_hosts_share_equally_before_their_flows_do() -> None:
    # Three flows of one host and one of another, all with packets all the time.
    rows = at_once({flow: [1000] * 800 for flow in range(4)})
    kinds = cake_linux.Kinds({}, {0: (0, 0), 1: (0, 1), 2: (0, 2), 3: (1, 3)}, range(4))
    for isolation, expected in (
        ("triple-isolate", [1, 1, 1, 3]),
        ("dual-srchost", [1, 1, 1, 3]),
        ("dual-dsthost", [1, 1, 1, 1]),
        ("srchost", [1, 1, 1, 3]),
    ):
        outcomes = cake_linux.run(rows, 10**13, RATE, 10**9, isolation=isolation, kinds=kinds)
        sent = [0.0] * 4
        for row in outcomes:
            if row.departure_ps is not None and row.departure_ps < 5 * 10**11:
                sent[row.arrival.flow] += 1
        for flow, part in enumerate(expected):
            share = sent[flow] / sum(sent) * sum(expected) / part
            assert isolation == "srchost" or abs(share - 1) < 0.15, (isolation, sent)
        assert abs(sent[3] / sum(sent) * sum(expected) / expected[3] - 1) < 0.15


def test_voice_has_a_quarter_and_goes_first() -> None:
    rows = at_once({0: [1000] * 2000, 1: [1000] * 2000})
    kinds = cake_linux.Kinds({1: 46}, {}, range(2))
    outcomes = cake_linux.run(rows, 10**13, RATE, 10**9, tins="diffserv3", kinds=kinds)
    voice = sum(
        1 for row in outcomes if row.arrival.flow == 1 and (row.departure_ps or 10**15) < 10**12
    )
    assert 0.2 < voice * 8000 / RATE < 0.55
