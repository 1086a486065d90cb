#!/usr/bin/env python3
"""Run benchmarks B1 and B3 on Sojourn, ns-2 and ns-3, interleaved, and print CPU time per packet-hop and the ratios.

A packet-hop is one packet carried over one link. CPU time is user plus system time. Of a peer it is that of the whole
process less that of a run of zero simulated seconds, which only builds the network; of Sojourn it is the run loop's, as
`sojourn bench` reports it. Python's standard library is all that is needed. See README.md for what is compared.

Exit status: 0 every judged ratio and answer is good; 1 a ratio is below its floor, or an answer is wrong;
2 the command line is wrong, or a program that is installed did not run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

HERE = Path(__file__).resolve().parent
RUN_LIMIT_S = 600
SOJOURN_SECONDS = 10.0
NS2_SECONDS = 10.0
NS3_SECONDS = 1.0


@dataclass(frozen=True)
class Bar:
    """How many times a peer's cost per hop Sojourn's must be below it."""

    floor: float
    goal: float


BARS = {"ns-2": Bar(6, 10), "ns-3": Bar(75, 150)}


@dataclass(frozen=True)
class Case:
    """One benchmark; `flows` is None for B1, whose ten flows are fixed. `sack`: with SACK and delayed ACKs."""

    name: str
    title: str
    flows: int | None
    sack: bool = False


CASES = (
    Case("b1", "B1 UDP, 10 flows", None),
    Case("b3-4", "B3 TCP, 4 flows", 4),
    Case("b3-64", "B3 TCP, 64 flows", 64),
    Case("b3-4-sack", "B3 TCP with SACK, 4 flows", 4, sack=True),
    Case("b3-64-sack", "B3 TCP with SACK, 64 flows", 64, sack=True),
)


class RunError(Exception):
    """A program ran badly; the text says which, how, and what it printed."""


@dataclass
class Outcome:
    """What one run of one simulator gave."""

    seconds: float
    hops: int
    cpu_s: float
    arrivals: int
    drops: int

    def __post_init__(self) -> None:
        if self.hops <= 0 or self.cpu_s <= 0:
            raise RunError(f"{self.hops} packet-hops in {self.cpu_s:.3f} s of CPU cannot be compared; simulate longer")


@dataclass
class Measured:
    """All rounds of one simulator on one case."""

    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def last(self) -> Outcome:
        return self.outcomes[-1]

    @property
    def cpu_s(self) -> float:
        return statistics.median(o.cpu_s for o in self.outcomes)

    @property
    def ns_per_hop(self) -> float:
        return self.cpu_s * 1e9 / self.last.hops

    def repeats(self) -> bool:
        """Whether every round counted the same packets."""
        return len({(o.hops, o.arrivals, o.drops) for o in self.outcomes}) == 1


class Simulator(Protocol):
    """Something that can be measured on every case."""

    name: str
    version: str

    def measure(self, case: Case) -> Outcome:
        """Run one case once."""


def run(argv: list[str]) -> tuple[str, float]:
    """Run a program to its end; return its standard output and its CPU seconds."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        try:
            child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        except OSError as problem:
            raise RunError(f"{argv[0]}: {problem.strerror}") from problem
        timer = threading.Timer(RUN_LIMIT_S, child.kill)
        timer.start()
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:
            child.kill()
            raise
        finally:
            timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if child.returncode == -signal.SIGKILL:
            raise RunError(f"`{shlex.join(argv)}` was killed; a run may take {RUN_LIMIT_S} s")
        if child.returncode != 0:
            tail = " / ".join((err.read() or out.read()).strip().splitlines()[-3:])
            raise RunError(f"`{shlex.join(argv)}` ended with status {child.returncode}: {tail or 'it printed nothing'}")
        return out.read(), usage.ru_utime + usage.ru_stime


def json_object(text: str, argv: list[str], wanted: dict[str, type | tuple[type, ...]]) -> dict[str, Any]:
    """The JSON object that a program printed, with the wanted fields checked."""
    try:
        value = json.loads(text)
    except ValueError as problem:
        raise RunError(f"`{shlex.join(argv)}` did not print JSON: {problem}") from problem
    if not isinstance(value, dict):
        raise RunError(f"`{shlex.join(argv)}` printed a JSON {type(value).__name__}, not an object")
    for key, kind in wanted.items():
        if not isinstance(value.get(key), kind) or isinstance(value.get(key), bool):
            raise RunError(f"`{shlex.join(argv)}`: field {key!r} is {value.get(key)!r}, not a number of the right kind")
    return value


class Sojourn:
    """Our own simulator: `sojourn bench --case NAME --json`."""

    name = "Sojourn"

    def __init__(self, binary: str) -> None:
        self.binary = binary
        self.version = run([binary, "--version"])[0].strip()

    def measure(self, case: Case) -> Outcome:
        argv = [self.binary, "bench", "--case", case.name, "--json"]
        text, cpu = run(argv)
        got = json_object(text, argv, {"hops": int, "cpu_s": (int, float), "arrivals": int, "drops": int})
        if not 0 < got["cpu_s"] <= cpu + 0.01:
            raise RunError(f"`{shlex.join(argv)}` says {got['cpu_s']} s of CPU; the process used {cpu:.3f} s")
        seconds = float(got.get("seconds", SOJOURN_SECONDS))
        return Outcome(seconds, got["hops"], float(got["cpu_s"]), got["arrivals"], got["drops"])


class Ns2:
    """ns-2. Hops come from a run with a monitor on every link, made once per case and never timed."""

    name = "ns-2"

    def __init__(self) -> None:
        found = shutil.which("ns")
        if found is None:
            raise LookupError("`ns` is not on the path (Debian: apt-get install ns2)")
        self.binary = found
        self.hops: dict[str, int] = {}
        try:
            printed = self.script(CASES[0], 0, 0)[0]
        except RunError as problem:
            raise LookupError(f"{found} is not a working ns-2: {problem}") from problem
        if "version" not in printed:
            raise LookupError(f"{found} is some other program than ns-2: it did not run ns2/b1.tcl")
        self.version = "ns-2 " + printed["version"]

    def script(self, case: Case, seconds: float, count: int) -> tuple[dict[str, str], float]:
        argv = [self.binary, str(HERE / "ns2" / f"{case.name.split('-')[0]}.tcl"), f"T={seconds:g}", f"count={count}"]
        if case.flows is not None:
            argv += [f"flows={case.flows}", f"sack={int(case.sack)}"]
        text, cpu = run(argv)
        return dict(line.split(" ", 1) for line in text.splitlines() if " " in line), cpu

    def measure(self, case: Case) -> Outcome:
        if case.name not in self.hops:
            self.hops[case.name] = int(self.script(case, NS2_SECONDS, 1)[0]["hops"])
        setup = self.script(case, 0, 0)[1]
        got, cpu = self.script(case, NS2_SECONDS, 0)
        return Outcome(NS2_SECONDS, self.hops[case.name], cpu - setup, int(got["arrivals"]), int(got["drops"]))


class Ns3:
    """ns-3, from a program compiled here against the installed libraries."""

    name = "ns-3"
    modules = ("core", "network", "internet", "point-to-point", "applications", "traffic-control", "nix-vector-routing")

    def __init__(self, build: Path, seconds: float) -> None:
        self.seconds = seconds
        for tool in ("pkg-config", "g++"):
            if shutil.which(tool) is None:
                raise LookupError(f"`{tool}` is not on the path (Debian: apt-get install {tool})")
        listed = subprocess.run(["pkg-config", "--list-all"], capture_output=True, text=True, check=False).stdout
        prefix = re.search(r"^((?:lib)?ns3(?:\.\d+)?-)core\s", listed, re.MULTILINE)
        if prefix is None:
            raise LookupError("pkg-config knows no ns3-core (Debian: apt-get install libns3-dev)")
        packages = [prefix[1] + module for module in self.modules]
        try:
            version = run(["pkg-config", "--modversion", packages[0]])[0].strip()
            # Only these kinds: Debian's files also name development links of libraries that a program does not need.
            flags = shlex.split(run(["pkg-config", "--cflags", "--libs", *packages])[0])
            flags = list(dict.fromkeys(f for f in flags if re.match(r"-(?:[LlD]|I[^;]*$)", f)))
            self.binary = str(build / "peers-ns3")
            source = str(HERE / "ns3" / "peers.cc")
            run(["g++", "-std=c++17", "-O3", "-DNDEBUG", source, "-o", self.binary, *flags])
            logging = self.program(CASES[0], 0)[0]["logging"]
        except RunError as problem:
            raise LookupError(str(problem)) from problem
        self.version = f"ns-3 {version}, built {'with' if logging else 'without'} logging"

    def program(self, case: Case, seconds: float) -> tuple[dict[str, Any], float]:
        argv = [self.binary, f"--case={case.name.split('-')[0]}", f"--seconds={seconds:g}"]
        if case.flows is not None:
            argv += [f"--flows={case.flows}", f"--delayed={2 if case.sack else 1}"]
        text, cpu = run(argv)
        return json_object(text, argv, {"hops": int, "arrivals": int, "drops": int}), cpu

    def measure(self, case: Case) -> Outcome:
        setup = self.program(case, 0)[1]
        got, cpu = self.program(case, self.seconds)
        return Outcome(self.seconds, got["hops"], cpu - setup, got["arrivals"], got["drops"])


def b1_by_recursion(seconds: float) -> tuple[int, int, int]:
    """Arrivals, drops and packet-hops of B1, by Lindley's recursion with a tail drop at 1000 waiting.

    Times are microseconds. Packet k leaves its source at 10 k, needs 12 for each of its three links, and 1000, 5000 and
    1000 to cross them. A departure at the instant of an arrival goes first.
    """
    end = round(seconds * 1e6)
    wire, waiting_limit = 12, 1000
    sent = -(-end // 10)
    arrivals = drops = hops = 0
    free_at = 0
    starts: deque[int] = deque()  # of packets that wait
    for k in range(sent):
        hops += 1
        now = 10 * k + wire + 1000
        if now >= end:
            continue
        arrivals += 1
        while starts and starts[0] <= now:
            starts.popleft()
        if len(starts) >= waiting_limit:
            drops += 1
            continue
        start = max(now, free_at)
        free_at = start + wire
        if start > now:
            starts.append(start)
        hops += (start < end) + (start + wire + 5000 < end)
    return arrivals, drops, hops


def verdict(case: Case, got: Outcome) -> tuple[bool, str]:
    """Whether the counts are what the case must give, and the words for the table's last column."""
    if case.flows is None:
        arrivals, drops, hops = b1_by_recursion(got.seconds)
        good = got.arrivals == arrivals and abs(got.drops - drops) <= 1 and abs(got.hops - hops) <= hops // 1000
        return good, "exact" if good else f"WRONG: {arrivals} / {drops} +-1 and {hops} hops are right"
    delivered = got.arrivals - got.drops
    share = delivered * 1500 * 8 / (got.seconds * 1e9)
    # One ACK per packet, or per two packets, and three links each way: six hops per packet, or four and a half, except for
    # drops and what is in flight at the end.
    per_packet = got.hops / max(delivered, 1)
    expected = 4.5 if case.sack else 6
    good = abs(per_packet - expected) < 0.2
    words = f"{share:.0%} used, loss {got.drops / max(got.arrivals, 1):.2%}"
    return good, words if good else f"WRONG: {per_packet:.2f} hops per packet, {expected:g} expected; {words}"


def table(results: dict[tuple[str, str], Measured], simulators: list[Simulator]) -> list[str]:
    """The lines of the result table."""
    head = ("case", "simulator", "simulated", "packet-hops", "CPU s", "ns/hop", "ratio", "arrivals / drops", "answer")
    rows = [head]
    for case in CASES:
        ours = results.get((case.name, Sojourn.name))
        for simulator in simulators:
            found = results.get((case.name, simulator.name))
            if found is None:
                continue
            last = found.last
            ratio = f"{found.ns_per_hop / ours.ns_per_hop:.1f}" if ours else "-"
            words = verdict(case, last)[1] + ("" if found.repeats() else "; WRONG: rounds differ")
            rows.append((
                case.title, simulator.name, f"{last.seconds:g} s", f"{last.hops}", f"{found.cpu_s:.3f}",
                f"{found.ns_per_hop:.1f}", ratio, f"{last.arrivals} / {last.drops}", words,
            ))  # fmt: skip
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    left = (0, 1, 8)
    lines = []
    for row in rows:
        cells = (c.ljust(w) if k in left else c.rjust(w) for k, (c, w) in enumerate(zip(row, widths, strict=True)))
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "-" * max(map(len, lines)))
    return lines


def judge(results: dict[tuple[str, str], Measured]) -> tuple[bool, list[str]]:
    """Whether every ratio reaches its floor and every answer is right; one line each."""
    good, lines = True, []
    for case in CASES:
        ours = results.get((case.name, Sojourn.name))
        for peer, bar in BARS.items():
            theirs = results.get((case.name, peer))
            if ours is None or theirs is None:
                continue
            ratio = theirs.ns_per_hop / ours.ns_per_hop
            word = "pass, goal reached" if ratio >= bar.goal else "pass" if ratio >= bar.floor else "FAIL"
            good &= ratio >= bar.floor
            lines.append(f"{case.title}: {ratio:.1f} times {peer} (floor {bar.floor:g}, goal {bar.goal:g}): {word}")
    for (name, simulator), found in results.items():
        case = next(c for c in CASES if c.name == name)
        right, words = verdict(case, found.last)
        if not right or not found.repeats():
            good = False
            lines.append(
                f"{case.title}, {simulator}: FAIL, {words if not right else 'WRONG: the rounds gave different counts'}"
            )
    return good, lines


def at_least(kind: Callable[[str], float], least: float) -> Callable[[str], float]:
    """An argument type: a finite number not below `least`."""

    def parse(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = float("nan")
        if not least <= value < float("inf"):
            raise argparse.ArgumentTypeError(f"{text} is not a number of {least:g} or more")
        return value

    return parse


def main() -> int:
    parser = argparse.ArgumentParser(description="CPU time per packet-hop of Sojourn, ns-2 and ns-3, side by side.")
    parser.add_argument("--sojourn", metavar="PATH", help="the sojourn command; without it only the peers run")
    parser.add_argument("--rounds", type=at_least(int, 1), default=3, help="interleaved rounds; medians are shown (3)")
    parser.add_argument(
        "--ns3-seconds", type=at_least(float, 1), default=NS3_SECONDS, help="simulated by ns-3 (1; at least 1)"
    )
    options = parser.parse_args()

    broken = False
    simulators: list[Simulator] = []
    with tempfile.TemporaryDirectory(prefix="bench-peers-") as build:
        if options.sojourn is None:
            print("Sojourn: not run (no --sojourn PATH), so there is no ratio to judge")
        else:
            try:
                simulators.append(Sojourn(options.sojourn))
            except RunError as problem:
                broken = True
                print(f"Sojourn: not run: {problem}")
        for make in (Ns2, lambda: Ns3(Path(build), options.ns3_seconds)):
            try:
                simulators.append(make())
            except LookupError as problem:
                print(f"{'ns-2' if make is Ns2 else 'ns-3'}: skipped: {problem}")
        for simulator in simulators:
            print(f"{simulator.name}: {simulator.version}")
        sys.stdout.flush()

        results: dict[tuple[str, str], Measured] = {}
        failed: set[tuple[str, str]] = set()
        for turn in range(1, options.rounds + 1):
            for case in CASES:
                for simulator in simulators:
                    key = (case.name, simulator.name)
                    if key in failed:
                        continue
                    print(f"round {turn} of {options.rounds}: {case.title}, {simulator.name}", file=sys.stderr)
                    try:
                        results.setdefault(key, Measured()).outcomes.append(simulator.measure(case))
                    except RunError as problem:
                        broken = True
                        failed.add(key)
                        del results[key]
                        print(f"{case.title}, {simulator.name}: not measured: {problem}", flush=True)

    if results:
        print()
        print("\n".join(table(results, simulators)))
        print(f"\nMedians of {options.rounds} interleaved rounds; ratio = ns/hop of the peer over Sojourn's.")
    good, lines = judge(results)
    print("\n".join(lines))
    if not good:
        return 1
    return 2 if broken else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
