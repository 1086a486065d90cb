"""Lengths of Rust functions and files, for tidy.py.

A function has at most 70 lines, a file at most 1,000 before its tests. long.toml lists the exceptions, each with
a reason. `python .ci/lengths.py` rewrites that list: it keeps the reasons, drops what is short again and enters
what is new as "to be split".
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / ".ci" / "long.toml"

LONGEST_FUNCTION = 70
LONGEST_FILE = 1_000
NEW_REASON = "to be split"

# Exceptions by kind, "functions" or "files": a name and its reason.
Exceptions = dict[str, dict[str, str]]

FUNCTION = re.compile(
    r'^( *)(?:pub(?:\([^)]*\))? )?(?:default )?(?:const )?(?:async )?(?:unsafe )?(?:extern "C" )?fn (\w+)'
)


def without_tests(source: str) -> str:
    """The source up to its unit tests, which stand at the end of the file."""
    return re.split(r"^#\[cfg\(test\)\]\nmod \w+ \{", source, maxsplit=1, flags=re.M)[0]


def is_tests_alone(path: Path) -> bool:
    """True of a module that its parent declares for tests only."""
    folder = path.parent
    parents = (folder / "mod.rs", folder / "lib.rs", folder.with_suffix(".rs"))
    declared = f"#[cfg(test)]\nmod {path.stem};"
    return any(p.is_file() and declared in p.read_text(encoding="utf-8") for p in parents)


def functions(source: str) -> Iterator[tuple[str, int]]:
    """Name and number of lines of each function, signature included.

    rustfmt gives the closing brace the indentation of the signature, so no parser is needed.
    """
    lines = source.splitlines()
    for start, line in enumerate(lines):
        match = FUNCTION.match(line)
        if match is None:
            continue
        indent, name = match[1], match[2]
        for at in range(start, len(lines)):
            if lines[at].endswith((";", "}")):
                break  # A declaration without a body, or a body on one line.
            if lines[at].endswith("{") and re.match(rf"{indent}\S", lines[at]):
                closing = f"{indent}}}"
                end = next((n for n in range(at + 1, len(lines)) if lines[n] == closing), None)
                if end is not None:
                    yield name, end - start + 1
                break


def measured(sources: Iterable[tuple[str, str]]) -> dict[str, dict[str, int]]:
    """What is too long, by kind and name, of sources by name."""
    found: dict[str, dict[str, int]] = {"functions": {}, "files": {}}
    for file, whole in sources:
        source = without_tests(whole)
        length = len(source.splitlines())
        if length > LONGEST_FILE:
            found["files"][file] = length
        for name, lines in functions(source):
            key = f"{file}: {name}"
            if lines > LONGEST_FUNCTION:
                found["functions"][key] = max(lines, found["functions"].get(key, 0))
    return found


def problems(found: dict[str, dict[str, int]], exceptions: Exceptions) -> Iterator[str]:
    limits = {"functions": LONGEST_FUNCTION, "files": LONGEST_FILE}
    for kind, limit in limits.items():
        excepted = exceptions.get(kind, {})
        for name, lines in found[kind].items():
            if name not in excepted:
                yield f"{name}: {lines} lines; at most {limit}, or an exception in .ci/long.toml"
        for name, reason in excepted.items():
            if name not in found[kind]:
                yield f".ci/long.toml: {name} has {limit} lines or fewer: remove it"
            elif not reason.strip():
                yield f".ci/long.toml: {name} has no reason"


def read_exceptions() -> Exceptions:
    content: Exceptions = tomllib.loads(LIST.read_text(encoding="utf-8"))
    return content


def sources(paths: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Rust sources of the crates without those of tests, by name."""
    for path in paths:
        name = path.relative_to(ROOT).as_posix()
        if re.match(r"crates/\w+/src/.*\.rs$", name) and not is_tests_alone(path):
            yield name, path.read_text(encoding="utf-8")


def main() -> None:
    exceptions = read_exceptions() if LIST.is_file() else {}
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "crates"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    paths = [ROOT / name for name in sorted(listed.splitlines()) if (ROOT / name).is_file()]
    found = measured(sources(paths))
    text = (
        "# Functions of more than 70 lines and files of more than 1,000 before their tests, each with the reason.\n"
        "# `python .ci/lengths.py` rewrites this list and keeps the reasons.\n"
    )
    for kind, long in found.items():
        text += f"\n[{kind}]\n"
        for name in sorted(long):
            reason = exceptions.get(kind, {}).get(name, NEW_REASON)
            text += f'"{name}" = "{reason}"\n'
    LIST.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
