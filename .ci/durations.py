"""Passes the output of `cargo test` on, and lists the slowest test programs at its end.

Use: `cargo test 2>&1 | python .ci/durations.py`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator

# How many are listed.
SLOWEST = 10

PROGRAM = re.compile(
    r"^\s+Running (?:unittests )?(\S+) \(.*?deps[/\\]([\w-]+)-[0-9a-f]+(?:\.exe)?\)"
)
DOCS = re.compile(r"^\s+Doc-tests (\S+)")
RESULT = re.compile(r"^test result: .* (\d+) passed; .*finished in ([\d.]+)s")


def durations(lines: Iterable[str]) -> Iterator[tuple[float, int, str]]:
    """Seconds, passed tests and name of each test program, in the order in which they ran."""
    name = "?"
    for line in lines:
        if match := PROGRAM.match(line):
            name = f"{match[2]} ({match[1]})"
        elif match := DOCS.match(line):
            name = f"{match[1]} (documentation)"
        elif match := RESULT.match(line):
            yield float(match[2]), int(match[1]), name


def table(found: Iterable[tuple[float, int, str]]) -> Iterator[str]:
    """The slowest ones, slowest first."""
    slowest = sorted(found, reverse=True)[:SLOWEST]
    if slowest:
        yield "slowest test programs:"
    for seconds, passed, name in slowest:
        yield f"{seconds:8.2f} s  {passed:5} passed  {name}"


def main() -> None:
    lines = []
    for line in sys.stdin:
        sys.stdout.write(line)
        sys.stdout.flush()
        lines.append(line)
    for line in table(durations(lines)):
        print(line)


if __name__ == "__main__":
    main()
