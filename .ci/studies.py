"""Writes the numbers in the READMEs of studies/: `make studies`, and `make studies STUDY=name` for one.

A study's README.md is written from README.md.j2, a Jinja template that names every number instead of stating it. The study runs twice:
in full, with its own replications, for README.md; and short, with few, for a test that compares the digits exactly. Both go to
numbers.json, the short run with a digest of all that it printed, so that no number of a study changes silently. Some studies run once
more in each dialect of their components; numbers.json keeps which rankings hold, and `--dialects` writes that part alone.

`--check` writes nothing: it tells whether each README.md is what its template and numbers.json give and, with a command, whether the short
runs of the suites still give their numbers. Those of the reproductions are a test (tests/python/test_studies.py).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2

ROOT = Path(__file__).resolve().parent.parent
STUDIES = ROOT / "studies"
TEMPLATE = "README.md.j2"
NUMBERS = "numbers.json"
# Reproductions of publications run short with two replications, so that intervals are compared, too; suites with one.
REPRODUCTIONS = (
    "codel-drr-bandwidth-mtu",
    "codel-ledbat",
    "multicast-aqm",
    "red-droptail-ten-nodes",
    "rtp-codel-drr",
)
# Studies whose READMEs say which rankings hold in other dialects, and the options of these runs: every dialect costs a whole study.
DIALECTS: dict[str, tuple[str, ...]] = {
    "codel-drr-bandwidth-mtu": (),
    "codel-ledbat": ("--replications", "5"),
    "multicast-aqm": ("--replications", "5"),
    "red-droptail-ten-nodes": ("--replications", "5"),
    "rfc7928": ("--only", "5.1.1,5.2,5.4,8.2"),
    "rtp-codel-drr": (),
}
# Rankings that turn which a README names at most.
MOST_TURNS = 6
MINUS = "\N{MINUS SIGN}"
GENERATED = (
    "<!-- Written by `make studies` from README.md.j2 and numbers.json; edit the template. -->\n"
)

# Factors from the unit that is stored to the one that is shown.
UNITS = {
    "s": {"s": 1.0, "ms": 1e3, "µs": 1e6},
    "bit/s": {"bit/s": 1.0, "kbps": 1e-3, "Mbps": 1e-6},
    "1": {"1": 1.0, "%": 1e2},
}
# An interval whose sides differ by more than this share of half its width is shown by its ends, as in tables.
LOPSIDED = 0.2
SHOWN = {"s": "ms", "bit/s": "Mbps"}

Result = dict[str, Any]


@dataclass(frozen=True)
class Number:
    """A metric at a point, in the unit that is shown: the value over replications and the ends of its 95 % interval."""

    mean: float
    ends: tuple[float, float] | None
    n: int

    def __str__(self) -> str:
        return minus(self.text())

    def text(self) -> str:
        """As tables print it: two digits of the half width, or the ends where they are not as far from the value; four digits where there is none."""
        if self.ends is None or self.ends[0] == self.ends[1]:
            return significant(self.mean, 4)
        low, high = self.ends
        half = (high - low) / 2.0
        digits = max(0, 1 - exponent(half, 2))
        if abs(high + low - 2.0 * self.mean) > LOPSIDED * half:
            return f"{fixed(self.mean, digits)} [{fixed(low, digits)}, {fixed(high, digits)}]"
        return f"{fixed(self.mean, digits)} ± {fixed(half, digits)}"

    def value(self, digits: int | None = None) -> str:
        """The mean alone: with `digits` behind the point, or as many as its interval leaves."""
        if digits is None:
            return minus(self.text().split(" ")[0])
        return minus(fixed(self.mean, digits))

    def signed(self, digits: int | None = None) -> str:
        """A difference, with its sign."""
        text = str(self) if digits is None else self.value(digits)
        return text if text.startswith(MINUS) or self.mean == 0.0 else f"+{text}"


def exponent(value: float, digits: int) -> int:
    """The power of ten of the first digit of a number that is rounded to `digits` digits."""
    return int(f"{value:.{digits - 1}e}".split("e")[1])


def fixed(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0.0 else text


def significant(value: float, digits: int) -> str:
    if value == 0.0:
        return "0"
    text = fixed(value, max(0, digits - 1 - exponent(abs(value), digits)))
    return text.rstrip("0").rstrip(".") if "." in text else text


def minus(text: str) -> str:
    return text.replace("-", MINUS)


def key_of(head: str, levels: dict[str, str]) -> str:
    """The name of a number in numbers.json: experiment and metric, and the level of each factor."""
    return head + "".join(f", {factor}={level}" for factor, level in sorted(levels.items()))


@dataclass
class Book:
    """The numbers of a study that its README names."""

    study: str
    # By key: the value as it is stored, the ends of its interval, the count, and the unit.
    known: dict[str, list[Any]]
    audits: dict[str, list[dict[str, str]]]
    # Which rankings hold in other dialects, if that was asked.
    sensitivity: Result | None = None
    used: dict[str, None] = field(default_factory=dict)
    audited: dict[str, None] = field(default_factory=dict)

    def shown(self, key: str, unit: str | None) -> Number:
        value, low, high, n, stored = self.known[key]
        self.used[key] = None
        metric = key.split(": ", 1)[1].split(" of ")[0].split(", ")[0]
        usual = "%" if stored == "1" and "_ratio" in metric else SHOWN.get(stored, stored)
        factor = UNITS.get(stored, {stored: 1.0})[unit or usual]
        return Number(value * factor, None if low is None else (low * factor, high * factor), n)

    def named(self, experiment: str, metric: str) -> str:
        """Experiment and metric as numbers.json has them: tables leave out of what a metric is where that is plain."""
        for ending in ("", " of forward", " of bottleneck"):
            head = f"{experiment}: {metric.removesuffix(ending)}"
            if any(key == head or key.startswith(f"{head}, ") for key in self.known):
                return head
        raise KeyError(f"{self.study}: no number {experiment}: {metric}")

    def number(
        self, experiment: str, metric: str, unit: str | None = None, **levels: object
    ) -> Number:
        """A metric at one point; a difference at the level that names both."""
        head = self.named(experiment, metric)
        key = key_of(head, {name: str(level) for name, level in levels.items()})
        if key not in self.known:
            near = [known for known in self.known if known.startswith(f"{head}, ")]
            raise KeyError(f"{self.study}: no number {key!r}; there are {near[:4]}")
        return self.shown(key, unit)

    def every(
        self, experiment: str, metric: str, unit: str | None = None, **levels: object
    ) -> list[Number]:
        """A metric at every point that has these levels, differences left out."""
        head = self.named(experiment, metric)
        parts = [f", {name}={level}, " for name, level in levels.items()]
        found = [
            key
            for key in self.known
            if (
                key == head
                or (key.startswith(f"{head}, ") and "=" in key[len(head) :].split(", ")[1])
            )
            and all(part in f"{key}, " for part in parts)
            and f" {MINUS} " not in key
        ]
        if not found:
            raise KeyError(f"{self.study}: no number {head} at {levels}")
        return [self.shown(key, unit) for key in found]

    def audit(self, *experiments: str) -> str:
        """What the auditor says of experiments, as a list."""
        name = ",".join(experiments)
        self.audited[name] = None
        notes = self.audits.get(name, [])
        if not notes:
            return "- Nothing."
        return "\n".join(remark(note) for note in notes)

    def dialects(self) -> str:
        """Which rankings hold in other dialects: a paragraph, a table and the first that turn."""
        if self.sensitivity is None:
            raise KeyError(f"{self.study}: numbers.json has nothing on dialects: run --dialects")
        return sensitivity_text(self.study, self.sensitivity)


def sensitivity_text(study: str, found: Result) -> str:
    """What `Book.dialects` gives."""
    command = " ".join(["sojourn study", study, "--dialects all", *found["options"]])
    totals = found["totals"]
    # The options of these runs say how many replications there are, unless they are the study's own.
    count = dict(zip(found["options"], found["options"][1:], strict=False)).get("--replications")
    replications = f"{count} replications of what is random" if count else "its own replications"
    text = (
        f"`{command}` runs the study in each dialect that its components have, with {replications}. "
        f"As written, {totals['rankings']} pairs of compared levels rank in some metric by more than chance. Of these rankings, "
        f"{verb(totals['hold'], 'hold')} in every dialect, {verb(totals['turn'], 'turn')} in some dialect, and "
        f"{verb(totals['unclear'], 'turn')} nowhere but cannot be told from chance in some dialect. Of {totals['open']} pairs that do "
        f"not rank as written, {verb(totals['found'], 'rank')} in some dialect.\n\n"
        "| dialect | hold | turn | like chance | components without it, and keys that it lacks |\n"
        "|---|--:|--:|--:|---|\n"
    )
    rows = []
    for dialect in found["dialects"]:
        name = f"| {dialect['dialect']} |"
        if dialect["state"] == "ran":
            cells = [dialect["hold"], dialect["turn"], dialect["unclear"], dialect["lacks"]]
            rows.append(name + "".join(f" {cell} |".replace("  ", " ") for cell in cells))
        elif dialect["state"] == "same":
            rows.append(f"{name} | | | the study as written |")
        else:
            rows.append(f"{name} | | | cannot run: {dialect['reason']} |")
    text += "\n".join(rows)
    if not found["turns"]:
        return text
    items = [f"- {turn}" for turn in found["turns"]]
    if found["more"] > 0:
        items.append(f"- and {found['more']} more")
    return f"{text}\n\nWhat turns:\n\n" + "\n".join(items)


def verb(count: int, word: str) -> str:
    """`1 turns`, `2 turn`."""
    return f"{count} {word}s" if count == 1 else f"{count} {word}"


def sensitivity_of(printed: Result, options: Sequence[str]) -> Result:
    """What numbers.json keeps of `sojourn study --dialects`."""
    ranked = [ranking for ranking in printed["rankings"] if ranking["order"]]

    def count(dialect: str, *standings: str) -> int:
        found = (ranking["dialects"].get(dialect, {}).get("standing") for ranking in ranked)
        return sum(standing in standings for standing in found)

    dialects = []
    for column in printed["dialects"]:
        row: Result = {"dialect": column["dialect"], "state": column["state"]}
        if column["state"] == "failed":
            row["reason"] = column["reason"]
        elif column["state"] == "ran":
            name = column["dialect"]
            row |= {"hold": count(name, "holds"), "turn": count(name, "turns")}
            row["unclear"] = count(name, "unclear", "missing")
            keys = [f"`{one['key']}` of {one['component']}" for one in column["left_out"]]
            row["lacks"] = ", ".join([*column["lacks"], *keys])
        dialects.append(row)
    turns = turns_of(ranked)
    return {
        "options": list(options),
        "totals": printed["totals"],
        "dialects": dialects,
        "turns": [text for text, _ in turns[:MOST_TURNS]],
        "more": sum(count for _, count in turns[MOST_TURNS:]),
    }


def turns_of(ranked: Sequence[Result]) -> list[tuple[str, int]]:
    """Rankings that turn, and how often: `Loss in *fit-a*: CoDel < DRR as written, the opposite in ns3 (bandwidth=1)`."""
    places: dict[str, list[str]] = {}
    for ranking in ranked:
        there = [name for name, one in ranking["dialects"].items() if one["standing"] == "turns"]
        if not there:
            continue
        low, high = ranking["a"], ranking["b"]
        if ranking["order"] == "greater":
            low, high = high, low
        experiment = f" in *{ranking['experiment']}*" if ranking["experiment"] else ""
        text = f"{ranking['title']}{experiment}: {low} < {high} as written, the opposite in {' and '.join(there)}"
        levels = ", ".join(f"{factor}={label}" for factor, label in ranking["levels"].items())
        places.setdefault(text, []).append(levels)
    turns = []
    for text, own in places.items():
        place = f"{len(own)} points, such as {own[0]}" if len(own) > 1 else own[0]
        turns.append((f"{text} ({place})" if place else text, len(own)))
    return turns


def remark(note: Result) -> str:
    """A remark of the auditor as an item of a list."""
    text = f"`{note['rule']}`: {note['text']}"
    if "allowed" in note:
        return f"- allowed: {text} Allowed because {note['allowed'].rstrip('.')}."
    return f"- {note['severity']}: {text}"


def reach(numbers: Sequence[Number], digits: int = 1) -> str:
    """From the least mean to the greatest: `9.5 to 17.2`."""
    means = [number.mean for number in numbers]
    low, high = (minus(fixed(end, digits)) for end in (min(means), max(means)))
    return low if low == high else f"{low} to {high}"


def render(book: Book) -> str:
    """README.md by the template and the numbers."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(STUDIES / book.study),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    text = environment.get_template(TEMPLATE).render(
        v=book.number,
        every=book.every,
        audit=book.audit,
        dialects=book.dialects,
        reach=reach,
        fixed=fixed,
    )
    heading, _, rest = text.partition("\n")
    return f"{heading}\n\n{GENERATED}{rest}"


def results_of(results: Sequence[Result]) -> dict[str, list[Any]]:
    """The numbers that a run printed, by key."""
    return {
        key_of(f"{r['experiment']}: {r['metric']}", r["levels"]): [
            r["value"],
            r["low"],
            r["high"],
            r["n"],
            r["unit"],
        ]
        for r in results
    }


def digest(printed: Result) -> str:
    """A digest of all numbers and notes of a run."""
    text = json.dumps([printed["results"], printed["notes"]], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def run(sojourn: Path, study: str, *options: str, keep: Path | None = None) -> Result:
    """What `sojourn study` prints of a study. Its result directory is kept where `keep` says, and taken from there again."""
    with tempfile.TemporaryDirectory() as scratch:
        out = (keep or Path(scratch, "results")).resolve()
        command = [str(sojourn), "study", str(STUDIES / study / "study.toml")]
        command += ["--out", str(out), "--format", "json", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=scratch)
    if done.returncode != 0:
        raise RuntimeError(f"{study}: `{' '.join(command)}`:\n{done.stderr}")
    printed: Result = json.loads(done.stdout)
    return printed


def short_options(study: str) -> tuple[str, ...]:
    """The options of the short run."""
    return ("--set", f"run.replications={2 if study in REPRODUCTIONS else 1}")


def studies() -> list[str]:
    """Every study whose README is generated."""
    return sorted(path.parent.name for path in STUDIES.glob(f"*/{TEMPLATE}"))


def read(study: str) -> Result:
    """What numbers.json of a study holds."""
    stored: Result = json.loads((STUDIES / study / NUMBERS).read_text(encoding="utf-8"))
    return stored


def from_file(study: str) -> Book:
    """The book by numbers.json."""
    stored = read(study)
    known = {key: row["full"] for key, row in stored["numbers"].items()}
    return Book(study, known, stored["audit"], stored.get("dialects"))


def differences(study: str, printed: Result) -> list[str]:
    """What a short run gives otherwise than numbers.json says."""
    stored = read(study)
    now = results_of(printed["results"])
    found = [
        f"{key}: {row['short'][:3]} became {now.get(key, ['nothing'])[:3]}"
        for key, row in stored["numbers"].items()
        if row["short"] != now.get(key)
    ]
    if not found and digest(printed) != stored["short"]["sha256"]:
        found.append("a number or note that README.md does not name")
    return found


def write_numbers(book: Book, short: Result) -> str:
    """numbers.json of a rendered book."""
    few = results_of(short["results"])
    stored: Result = {
        "short": {"options": list(short_options(book.study)), "sha256": digest(short)},
        "audit": {name: book.audits.get(name, []) for name in book.audited},
        "numbers": {
            key: {"full": book.known[key], "short": few.get(key)} for key in sorted(book.used)
        },
    }
    if book.sensitivity is not None:
        stored["dialects"] = book.sensitivity
    return numbers_text(stored)


def numbers_text(stored: Result) -> str:
    """numbers.json, a line per number."""
    lines = [
        f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(row, ensure_ascii=False)}"
        for key, row in stored["numbers"].items()
    ]
    head = {key: stored[key] for key in ("short", "audit", "dialects") if key in stored}
    text = json.dumps(head, indent=1, ensure_ascii=False).removesuffix("\n}")
    return text + ',\n "numbers": {\n  ' + ",\n  ".join(lines) + "\n }\n}\n"


def in_dialects(sojourn: Path, study: str, keep: Path | None) -> Result:
    """Runs a study in all dialects: what numbers.json keeps of that. Result directories are kept as those of `run`."""
    options = DIALECTS[study]
    kept = keep / study / "dialects" if keep else None
    begun = time.monotonic()
    printed = run(sojourn, study, "--dialects", "all", *options, keep=kept)
    print(f"studies: {study}: {time.monotonic() - begun:.0f} s in all dialects")
    return sensitivity_of(printed, options)


def make_dialects(sojourn: Path, study: str, keep: Path | None) -> Iterator[tuple[Path, str]]:
    """Runs a study in all dialects, and gives its files with all other numbers as they are."""
    folder = STUDIES / study
    stored = read(study)
    stored["dialects"] = in_dialects(sojourn, study, keep)
    book = from_file(study)
    book.sensitivity = stored["dialects"]
    yield folder / "README.md", render(book)
    yield folder / NUMBERS, numbers_text(stored)


def make(
    sojourn: Path, study: str, full_options: Sequence[str], keep: Path | None
) -> Iterator[tuple[Path, str]]:
    """Runs a study, in full and short, and gives its files."""
    folder = STUDIES / study

    def kept(name: str) -> Path | None:
        return keep / study / name if keep else None

    begun = time.monotonic()
    full = run(sojourn, study, *full_options, keep=kept("full"))
    took = time.monotonic() - begun
    book = Book(study, results_of(full["results"]), {})
    if study in DIALECTS:
        book.sensitivity = in_dialects(sojourn, study, keep)
    # The first rendering finds out which experiments' notes are wanted.
    render(book)
    for name in book.audited:
        only = (*full_options, "--only", name)
        part = run(sojourn, study, *only, keep=kept(f"only-{name}")) if name else full
        book.audits[name] = part["notes"]
    begun = time.monotonic()
    short = run(sojourn, study, *short_options(study), keep=kept("short"))
    print(f"studies: {study}: {took:.0f} s in full, {time.monotonic() - begun:.0f} s short")
    yield folder / "README.md", render(book)
    yield folder / NUMBERS, write_numbers(book, short)


def stale() -> Iterator[Path]:
    """Every README.md that is not what its template and numbers give."""
    for study in studies():
        path = STUDIES / study / "README.md"
        known = (STUDIES / study / NUMBERS).is_file()
        if not known or path.read_text(encoding="utf-8") != render(from_file(study)):
            yield path


def check(sojourn: Path | None) -> int:
    """Tells what is out of date; 1 if anything is."""
    names = [path.parent.name for path in stale()]
    for name in names:
        print(f"studies: studies/{name}/README.md is not what its template and {NUMBERS} give")
    for study in studies():
        if sojourn is None or study in REPRODUCTIONS or study in names:
            continue
        found = differences(study, run(sojourn, study, *short_options(study)))
        if found:
            names.append(study)
            print(f"studies: {study} gives other numbers:", *found, sep="\n  ")
    if names:
        print(f"studies: `make studies STUDY={names[0]}` writes it again")
    return int(bool(names))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sojourn", type=Path, help="the command")
    parser.add_argument("--study", action="append", help="this study only")
    parser.add_argument("--set", action="append", default=[], help="a value of the full run")
    parser.add_argument(
        "--keep", type=Path, help="keep result directories here, and take them again"
    )
    parser.add_argument(
        "--dialects", action="store_true", help="run and write what is said of dialects alone"
    )
    parser.add_argument("--check", action="store_true", help="run and write nothing, compare")
    options = parser.parse_args(arguments)
    command = options.sojourn.resolve() if options.sojourn else None
    if options.check:
        return check(command)
    if command is None:
        parser.error("--sojourn is needed to run studies")
    wanted = options.study or studies()
    for name in wanted:
        if name not in studies():
            parser.error(f"no study {name!r}; there are {', '.join(studies())}")
    sets = [word for value in options.set for word in ("--set", value)]
    if options.dialects:
        wanted = [study for study in wanted if study in DIALECTS]
    for study in wanted:
        files = (
            make_dialects(command, study, options.keep)
            if options.dialects
            else make(command, study, sets, options.keep)
        )
        for path, content in files:
            path.write_text(content, encoding="utf-8")
            print(f"studies: wrote {path.relative_to(ROOT).as_posix()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
