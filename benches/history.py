"""Instructions per packet-hop by commit: `make check-history`, `make bench-record`.

Time on a shared machine does not repeat; the number of instructions does. valgrind's callgrind counts
them for `sojourn bench --case CASE` over two simulated times, and the difference over the difference in
packet-hops leaves start-up out. The command is that of the Python package, which `make check` builds
for other checks, too.

benches/history.csv keeps a row per commit and case. A compiler or target of another kind makes other
instructions, so a row is compared only where rustc and target are the same. A case that needs more than
5 % above the newest such row fails, unless the newest section of CHANGELOG.md has a line that names the
case and "instructions per packet-hop".
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HISTORY = ROOT / "benches" / "history.csv"
CHANGELOG = ROOT / "CHANGELOG.md"
COLUMNS = ["commit", "rustc", "target", "case", "instructions_per_hop"]

# As `sojourn bench --case` calls them: overload by UDP, and 64 TCP flows.
CASES = ("b1", "b3-64")
SHORT_S, LONG_S = "0.2", "0.8"
GROWTH_ALLOWED = 0.05
TIMEOUT_S = 600


@dataclass(frozen=True)
class Row:
    """One row of the history."""

    commit: str
    rustc: str
    target: str
    case: str
    instructions_per_hop: float


@dataclass(frozen=True)
class Compiler:
    """What decides which instructions there are."""

    rustc: str
    target: str


def read_history(path: Path) -> list[Row]:
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        Row(
            row["commit"],
            row["rustc"],
            row["target"],
            row["case"],
            float(row["instructions_per_hop"]),
        )
        for row in rows
    ]


def append_history(path: Path, rows: Sequence[Row]) -> None:
    new = not path.is_file()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(COLUMNS)
        for row in rows:
            number = f"{row.instructions_per_hop:.2f}"
            writer.writerow([row.commit, row.rustc, row.target, row.case, number])


def newest(history: Sequence[Row], compiler: Compiler, case: str) -> Row | None:
    """The last row of a case made by the same compiler for the same target."""
    matching = [
        row
        for row in history
        if (row.rustc, row.target, row.case) == (compiler.rustc, compiler.target, case)
    ]
    return matching[-1] if matching else None


def explained(changelog: str, case: str) -> bool:
    """Whether the newest section of the changelog has a line on the instructions of this case."""
    sections = re.split(r"^## ", changelog, flags=re.M)
    if len(sections) < 2:
        return False
    name = re.compile(rf"\b{re.escape(case)}\b", re.I)
    return any(
        "instructions per packet-hop" in line.lower() and name.search(line)
        for line in sections[1].splitlines()
    )


def compiler() -> Compiler:
    text = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    fields = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    return Compiler(rustc=fields["release"], target=fields["host"])


def commit() -> str:
    text = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=10"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return text.strip()


def count(case: str, seconds: str) -> tuple[int, int]:
    """Instructions and packet-hops of one benchmark."""
    with tempfile.TemporaryDirectory() as scratch:
        profile = Path(scratch) / "callgrind.out"
        result = subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                f"--callgrind-out-file={profile}",
                sys.executable,
                "-m",
                "sojourn",
                "bench",
                "--case",
                case,
                "--rounds",
                "1",
                "--seconds",
                seconds,
                "--json",
            ],
            # A fixed hash seed makes Python's start-up take the same path every time.
            env={**os.environ, "PYTHONHASHSEED": "0"},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        if result.returncode != 0:
            raise RuntimeError(f"sojourn bench --case {case} failed:\n{result.stderr.strip()}")
        report = json.loads(result.stdout)
        total = re.search(r"^(?:totals|summary): (\d+)", profile.read_text(), re.M)
        if total is None:
            raise RuntimeError("callgrind wrote no total")
        return int(total[1]), int(report["hops"])


def measure(case: str) -> float:
    """Instructions per packet-hop, without start-up."""
    short_instructions, short_hops = count(case, SHORT_S)
    long_instructions, long_hops = count(case, LONG_S)
    return (long_instructions - short_instructions) / (long_hops - short_hops)


def judge(before: Row | None, now: float, case: str, changelog: str) -> tuple[bool, str]:
    """Whether a count is acceptable, and a sentence on it."""
    said = f"{case}: {now:.1f} instructions per packet-hop"
    if before is None:
        return True, f"{said}; skipped, no row with this rustc and target to compare with"
    growth = now / before.instructions_per_hop - 1
    compared = f"{said}, {growth:+.1%} since {before.commit}"
    if now <= before.instructions_per_hop * (1 + GROWTH_ALLOWED):
        return True, compared
    if explained(changelog, case):
        return True, f"{compared}; CHANGELOG.md says why"
    return False, (
        f"{compared}: more than {GROWTH_ALLOWED:.0%}. Make it faster, or add a line to the newest section of "
        f'CHANGELOG.md that names {case.upper()} and "instructions per packet-hop", and record a row with '
        "`make bench-record`"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true", help="compare with the newest row")
    what.add_argument("--record", action="store_true", help="add a row for this commit")
    options = parser.parse_args(arguments)
    if shutil.which("valgrind") is None:
        print("history: skipped, valgrind is not installed")
        return 1 if options.record else 0
    using = compiler()
    history = read_history(HISTORY)
    if options.check and not any(newest(history, using, case) for case in CASES):
        print(
            f"history: skipped, no row for rustc {using.rustc} on {using.target}; "
            "`make bench-record` adds one"
        )
        return 0
    counted = {case: measure(case) for case in CASES}
    if options.record:
        rows = [
            Row(commit(), using.rustc, using.target, case, number)
            for case, number in counted.items()
        ]
        append_history(HISTORY, rows)
        for row in rows:
            print(f"history: {row.case}: {row.instructions_per_hop:.1f} recorded")
        return 0
    changelog = CHANGELOG.read_text(encoding="utf-8")
    good = True
    for case, number in counted.items():
        passed, sentence = judge(newest(history, using, case), number, case, changelog)
        good &= passed
        print(f"history: {sentence}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
