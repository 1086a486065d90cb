"""Draws the pictures of docs/gallery.toml: `make gallery`; `--check` tells whether pages or pictures are missing.

- docs/images/gallery/STUDY.FIGURE.svg: the figure, as `sojourn report --images svg` writes it.
- docs/gallery.md: picture, question and command.

A picture is drawn by the commands that its page prints.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGE = DOCS / "gallery.md"
IMAGES = DOCS / "images" / "gallery"
TIMEOUT_S = 1800

# Points that only a mouse finds, in figures over time: most of such a file.
HIDDEN = re.compile(r'<path [^>]*opacity="0"/>')

HEAD = """\
# Gallery

Pictures from the studies that come with Sojourn, each with the question that it answers and the commands that draw it. The pictures are figures of reports; `make gallery` draws them again. Every [queue](reference/queues.md) and [congestion control](reference/congestion.md) has a picture of its behaviour on its own page.

<!-- Written by `make gallery` from gallery.toml. -->
"""


@dataclass(frozen=True)
class Picture:
    """A figure of a study, and what it answers."""

    study: str
    figure: str
    options: str
    question: str
    answer: str

    @property
    def file(self) -> Path:
        return IMAGES / f"{self.study}.{self.figure}.svg"

    @property
    def commands(self) -> str:
        study = f"sojourn study {self.study} {self.options}".rstrip()
        return f"{study}\nsojourn report results/{self.study} --images svg"

    def shown(self, docs: str = "") -> str:
        """The picture in Markdown, in a page from which `docs` leads to docs/."""
        place = self.file.relative_to(DOCS).as_posix()
        return f"![{self.question}]({docs}{place})\n\n{self.answer}\n"


@dataclass(frozen=True)
class Group:
    title: str
    pictures: list[Picture]


def groups() -> list[Group]:
    """What docs/gallery.toml declares."""
    content = tomllib.loads((DOCS / "gallery.toml").read_text(encoding="utf-8"))
    return [
        Group(group["title"], [Picture(**picture) for picture in group["picture"]])
        for group in content["group"]
    ]


def pictures() -> list[Picture]:
    return [picture for group in groups() for picture in group.pictures]


def study_title(study: str) -> str:
    """The first heading of a study's page."""
    text = (ROOT / "studies" / study / "README.md").read_text(encoding="utf-8")
    return text.split("\n", 1)[0].removeprefix("# ")


def page() -> str:
    """The text of docs/gallery.md."""
    parts = [HEAD]
    for group in groups():
        parts.append(f"\n## {group.title}\n")
        for picture in group.pictures:
            link = f"[{study_title(picture.study)}](../studies/{picture.study}/README.md)"
            parts.append(f"\n### {picture.question}\n\n{picture.shown()}")
            parts.append(f"\n```sh\n{picture.commands}\n```\n\nFrom {link}.\n")
    return "".join(parts)


def run(sojourn: Path, *arguments: str) -> None:
    subprocess.run(
        [str(sojourn), *arguments], check=True, stdout=subprocess.DEVNULL, timeout=TIMEOUT_S
    )


def draw(sojourn: Path, wanted: Sequence[Picture]) -> Iterator[Path]:
    """Runs the studies, writes the pictures and gives their paths."""

    def source(picture: Picture) -> tuple[str, str]:
        return picture.study, picture.options

    IMAGES.mkdir(parents=True, exist_ok=True)
    for (study, options), group in groupby(sorted(wanted, key=source), key=source):
        with tempfile.TemporaryDirectory() as scratch:
            run(sojourn, "study", study, *options.split(), "--out", scratch)
            run(sojourn, "report", scratch, "--images", "svg")
            for picture in group:
                drawn = Path(scratch) / "figures" / f"{picture.figure}.svg"
                if not drawn.is_file():
                    there = ", ".join(sorted(path.stem for path in drawn.parent.glob("*.svg")))
                    raise SystemExit(
                        f"gallery: {study} {options}: no figure {picture.figure}: {there}"
                    )
                image = HIDDEN.sub("", drawn.read_text(encoding="utf-8"))
                picture.file.write_text(image, encoding="utf-8")
                yield picture.file


def problems() -> Iterator[str]:
    """What is out of date, as far as can be seen without running a study."""
    if not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != page():
        yield "docs/gallery.md is not what docs/gallery.toml gives"
    declared = {picture.file for picture in pictures()}
    there = set(IMAGES.glob("*"))
    yield from (f"no picture {path.relative_to(ROOT).as_posix()}" for path in declared - there)
    yield from (f"not declared: {path.relative_to(ROOT).as_posix()}" for path in there - declared)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sojourn", type=Path, help="the command, which runs the studies")
    parser.add_argument("--study", action="append", help="the pictures of this study only")
    parser.add_argument("--check", action="store_true", help="run and write nothing, compare")
    options = parser.parse_args(arguments)
    if options.check:
        found = sorted(problems())
        for problem in found:
            print(f"gallery: {problem}")
        print("gallery: `make gallery` writes it again" if found else "gallery: up to date")
        return int(bool(found))
    if options.sojourn is not None:
        wanted = [p for p in pictures() if not options.study or p.study in options.study]
        for path in draw(options.sojourn.resolve(), wanted):
            print(f"gallery: drew {path.relative_to(ROOT).as_posix()}", flush=True)
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
