"""Writes what is generated from the command: `make generate`; `--check` tells whether anything is out of date.

- docs/reference/schema.json: what `sojourn schema` prints, less indented; the pages and figures in docs/ that `sojourn reference-pages` writes.
- The output below every command of a `console` block in the documents: the command is run, in a directory of the
  document's own. A `toml` or `csv` block with `file=NAME` is written there first.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SCHEMA = DOCS / "reference" / "schema.json"
TIMEOUT_S = 300

# A terminal of 80 columns, less the indent that `sojourn docs` gives an example.
COLUMNS = "78"

FENCE = re.compile(r"^```(?P<head>[^\n`]*)\n(?P<body>.*?)^```$", re.M | re.S)
# What examples may call; a block with anything else is for reading.
RUNNABLE = re.compile(r"\$ (?:cd \w+ && )?(?:sojourn|ls|cat|head|python) ")


@dataclass(frozen=True)
class Block:
    """A fenced block of a document."""

    language: str
    file: str | None
    body: str
    start: int
    end: int

    def is_runnable(self) -> bool:
        """Whether it is a `console` block whose commands may all be run."""
        commands = [line for line in self.body.splitlines() if line.startswith("$ ")]
        return self.language == "console" and all(RUNNABLE.match(line) for line in commands)


def documents() -> list[Path]:
    """The documents whose examples are run."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a document, in order."""
    for match in FENCE.finditer(text):
        language, _, rest = match["head"].partition(" ")
        name = re.fullmatch(r"file=(\S+)", rest.strip())
        yield Block(
            language,
            name[1] if name else None,
            match["body"],
            match.start("body"),
            match.end("body"),
        )


def run_command(command: str, directory: Path, sojourn: Path) -> str:
    """What a command prints, on both outputs."""
    # The Python of an example is the one that runs this.
    path = [str(sojourn.parent), os.path.dirname(sys.executable), os.environ["PATH"]]
    environment = {**os.environ, "PATH": os.pathsep.join(path)}
    environment.update(NO_COLOR="1", COLUMNS=COLUMNS, LC_ALL="C")
    result = subprocess.run(
        ["bash", "-c", command],
        cwd=directory,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    if result.returncode != 0:
        raise RuntimeError(f"`{command}` ended with status {result.returncode}:\n{result.stdout}")
    return "".join(f"{line.rstrip()}\n" for line in result.stdout.splitlines())


def run_block(block: Block, directory: Path, sojourn: Path) -> str:
    """A console block with the output that its commands have now."""
    out = []
    for line in block.body.splitlines():
        if line.startswith("$ "):
            out.append(f"{line}\n{run_command(line[2:], directory, sojourn)}")
    return "".join(out)


def with_output(text: str, directory: Path, sojourn: Path) -> str:
    """A document with the output that its commands have now."""
    parts, position = [], 0
    for block in blocks(text):
        if block.file is not None:
            file = directory / block.file
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.body, encoding="utf-8")
        if block.is_runnable():
            parts += [text[position : block.start], run_block(block, directory, sojourn)]
            position = block.end
    return "".join([*parts, text[position:]])


def generate(sojourn: Path) -> Iterator[tuple[Path, str]]:
    """Every generated file with its content."""
    schema = subprocess.run(
        [str(sojourn), "schema"], capture_output=True, text=True, check=True, timeout=TIMEOUT_S
    ).stdout
    yield SCHEMA, json.dumps(json.loads(schema), indent=1, ensure_ascii=False) + "\n"
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([str(sojourn), "reference-pages", scratch], check=True, timeout=TIMEOUT_S)
        for page in sorted(p for p in Path(scratch).rglob("*") if p.is_file()):
            yield DOCS / page.relative_to(scratch), page.read_text(encoding="utf-8")
    for document in documents():
        text = document.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as scratch:
            yield document, with_output(text, Path(scratch), sojourn)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sojourn", type=Path, required=True, help="the command")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    options = parser.parse_args(arguments)
    stale = 0
    for path, content in generate(options.sojourn.resolve()):
        before = path.read_text(encoding="utf-8") if path.is_file() else ""
        if before == content:
            continue
        stale += 1
        name = path.relative_to(ROOT).as_posix()
        if options.check:
            lines = difflib.unified_diff(
                before.splitlines(), content.splitlines(), f"{name} as it is", "as generated", n=1
            )
            print("\n".join(lines))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
            print(f"generated: {name}")
    if options.check and stale:
        print(f"generated: {stale} files are out of date; `make generate` writes them")
        return 1
    print(f"generated: {stale} files written" if stale else "generated: up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main())
