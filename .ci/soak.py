"""Draws new cases for every property test: `make soak MINUTES=60`.

`make test` draws the same cases on every machine. This command runs the property tests again and again, each time with
a new seed. What fails is shrunk and recorded in the crate's `proptest-regressions` folder, or beside a test that has no
crate root; commit that file with the fix, and every later `make test` runs the case first. A test that has failed is
not run again. The exit status is 1 if any test failed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# A `proptest!` block and the names of its tests. Blocks end at a closing brace in the column of their `proptest!`.
BLOCK = re.compile(
    r"^(?P<indent> *)(?:proptest::)?proptest! \{\n(?P<body>.*?)^(?P=indent)\}", re.M | re.S
)
NAME = re.compile(r"^ *fn (\w+)\(", re.M)
# The longest that one test may take with one seed, shrinking included.
LONGEST_S = 1800


def property_names(root: Path) -> Counter[str]:
    """How many property tests of each name the sources have."""
    names: Counter[str] = Counter()
    for path in sorted((root / "crates").rglob("*.rs")):
        for block in BLOCK.finditer(path.read_text(encoding="utf-8")):
            names.update(NAME.findall(block["body"]))
    return names


@dataclass(frozen=True)
class Test:
    """One property test."""

    executable: str
    name: str


@dataclass
class Tally:
    """What the soak has seen. Guarded by `lock`."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    rounds: Counter[Test] = field(default_factory=Counter)
    failed: dict[Test, str] = field(default_factory=dict)


def executables(cargo: str) -> list[str]:
    """The test executables of the workspace's default members, built."""
    built = subprocess.run(
        [cargo, "test", "--no-run", "--message-format=json-render-diagnostics"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    messages = (json.loads(line) for line in built.splitlines() if line.startswith("{"))
    found = {
        message["executable"]
        for message in messages
        if message.get("reason") == "compiler-artifact"
        and message["profile"]["test"]
        and message["executable"]
    }
    return sorted(found)


def find(programs: Sequence[str], names: Counter[str]) -> list[Test]:
    """The property tests in those executables. A name of the sources that none of them has is an error."""
    tests = []
    for program in programs:
        listed = subprocess.run(
            [program, "--list", "--format", "terse"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for line in listed.splitlines():
            name = line.removesuffix(": test")
            if name != line and name.rsplit("::", 1)[-1] in names:
                tests.append(Test(program, name))
    found = Counter(test.name.rsplit("::", 1)[-1] for test in tests)
    if missing := sorted(name for name in names if found[name] < names[name]):
        raise SystemExit(f"soak: no executable has the property tests {', '.join(missing)}")
    return tests


def run_once(test: Test, seed: int) -> str | None:
    """Runs a test with a seed; what it printed, if it failed."""
    environment = {**os.environ, "PROPTEST_RNG_SEED": str(seed), "RUST_BACKTRACE": "0"}
    try:
        # The names of sources are relative to the root: from there proptest finds where to record a failure.
        result = subprocess.run(
            [test.executable, "--exact", test.name],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=LONGEST_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no end after {LONGEST_S} s with PROPTEST_RNG_SEED={seed}"
    if result.returncode == 0:
        return None
    return f"PROPTEST_RNG_SEED={seed}, exit status {result.returncode}\n{result.stdout}"


def worker(tests: Sequence[Test], draw: random.Random, until: float, tally: Tally) -> None:
    """Runs tests in rounds until the time is over. The test with the fewest rounds is next."""
    while time.monotonic() < until:
        with tally.lock:
            open_tests = [test for test in tests if test not in tally.failed]
            if not open_tests:
                return
            test = min(open_tests, key=lambda t: (tally.rounds[t], t.executable, t.name))
            tally.rounds[test] += 1
            seed = draw.getrandbits(63)
        if problem := run_once(test, seed):
            with tally.lock:
                tally.failed.setdefault(test, problem)
            print(f"soak: {test.name} FAILED\n{problem}", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60, help="how long (default 60)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="tests at a time")
    parser.add_argument("--seed", type=int, help="draws the same seeds again")
    parser.add_argument("--list", action="store_true", help="print the property tests and stop")
    parser.add_argument("--cargo", default=os.environ.get("CARGO", "cargo"), help="the builder")
    options = parser.parse_args(arguments)
    tests = find(executables(options.cargo), property_names(ROOT))
    if options.list:
        print("\n".join(test.name for test in tests))
        return 0
    seed = options.seed if options.seed is not None else random.SystemRandom().getrandbits(32)
    print(
        f"soak: {len(tests)} property tests, {options.minutes:g} minutes, seed {seed}", flush=True
    )
    draw, tally = random.Random(seed), Tally()
    until = time.monotonic() + 60 * options.minutes
    threads = [
        threading.Thread(target=worker, args=(tests, draw, until, tally))
        for _ in range(options.jobs)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = [tally.rounds[test] for test in tests]
    print(f"soak: {sum(counts)} runs, {min(counts)} to {max(counts)} of each test")
    for test in tally.failed:
        print(f"soak: failed: {test.name}")
    print("soak: recorded failures are in proptest-regressions; `git status` lists them")
    print(f"{len(tests) - len(tally.failed)} passed, {len(tally.failed)} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
