"""Checks what neither compiler nor linter sees: `make check-tidy`.

- No file names a machine's directories, and none has a to-do left in it.
- The crates depend one way, and so do the modules of each; the simulation touches no clock, thread, file or global.
- The version is the same everywhere; CHANGELOG.md has a section for it, with entries of one short line.
- Links between the documents lead somewhere.
- Text ends its lines plainly; no large file slips in.
- Functions and files are short, except for the exceptions in long.toml (lengths.py).
- Texts avoid phrases that are hard to read; subjects of commits are short (prose.py).
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import lengths
import prose
from circles import Crate

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent

TEXT = {
    ".rs",
    ".py",
    ".pyi",
    ".md",
    ".toml",
    ".txt",
    ".cff",
    ".yml",
    ".csv",
    ".tcl",
    ".c",
    ".cc",
    ".h",
    ".json",
}
# Files that others wrote, kept as they came.
FOREIGN = ("crates/report/vendor/", "LICENSE-APACHE")
LARGEST_BYTES = 1_000_000
# Characters of an entry in CHANGELOG.md, with its hyphen.
LONGEST_ENTRY = 200

MACHINE_PATH = re.compile(r"(?<![\w./}])/(?:work|root|home|Users|mnt|private)/\w")
LEFT_OVER = re.compile(
    r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b|\b(?:to" + r"do|unimplemented)!\("
)

# Which crates of this workspace a crate may use in its library.
MAY_USE = {
    "units": set(),
    "sim": {"units"},
    "queue": {"units", "sim"},
    "queue-c": {"queue"},
    "cc": {"units", "sim"},
    "transport": {"units", "sim", "cc"},
    "traffic": {"units", "sim", "cc", "transport"},
    "report": {"units"},
}
SIMULATION = ("units", "sim", "queue", "cc", "transport", "traffic")
MAY_USE["scenario"] = {*SIMULATION}
MAY_USE["results"] = {*SIMULATION, "report", "scenario"}
MAY_USE["run"] = {*SIMULATION, "report", "scenario", "results"}
MAY_USE["gym"] = {*SIMULATION, "report", "scenario", "run"}
MAY_USE["traces"] = {*SIMULATION, "report", "scenario", "results", "run"}
MAY_USE["conform"] = {*SIMULATION, "report", "scenario", "results", "run"}
MAY_USE["study"] = {*SIMULATION, "report", "scenario", "results", "run", "conform"}
MAY_USE["cli"] = {*MAY_USE["study"], "study", "traces", "gym"}
MAY_USE["sojourn"] = {*MAY_USE["cli"], "cli"}
MAY_USE["python"] = {*MAY_USE["cli"], "cli"}
MAY_USE["web"] = {*SIMULATION, "report", "scenario", "results", "run"}
# Time, randomness, files and threads come in as arguments or not at all.
ABSENT = re.compile(
    r"std::(?:time|thread|fs|env|net|process)\b|\bthread_local!|\bstatic mut\b|\bprintln!|\beprintln!"
)


def files() -> list[Path]:
    """Every file of the repository that is not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    return sorted(ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file())


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def is_ours(path: Path) -> bool:
    return not name_of(path).startswith(FOREIGN)


def text_problems(paths: list[Path]) -> Iterator[str]:
    for path in paths:
        if not is_ours(path):
            continue
        if path.stat().st_size > LARGEST_BYTES:
            yield f"{name_of(path)}: {path.stat().st_size} bytes; at most {LARGEST_BYTES}"
            continue
        if path.suffix not in TEXT and path.name not in {"Makefile", "run"}:
            continue
        content = path.read_text(encoding="utf-8")
        if content and not content.endswith("\n"):
            yield f"{name_of(path)}: the last line does not end"
        for number, line in enumerate(content.splitlines(), 1):
            where = f"{name_of(path)}:{number}"
            if MACHINE_PATH.search(line):
                yield f"{where}: names a directory of a machine: {line.strip()}"
            if LEFT_OVER.search(line):
                yield f"{where}: unfinished: {line.strip()}"
            if line != line.rstrip() and path.suffix != ".csv":
                yield f"{where}: blanks at the end of the line"
            if "\t" in line and path.suffix in {".rs", ".py", ".md", ".toml"}:
                yield f"{where}: a tab"


def manifest(crate: str) -> dict[str, object]:
    text = (ROOT / "crates" / crate / "Cargo.toml").read_text(encoding="utf-8")
    content: dict[str, object] = tomllib.loads(text)
    return content


def crate_problems() -> Iterator[str]:
    found = {path.parent.name for path in (ROOT / "crates").glob("*/Cargo.toml")}
    for crate in sorted(found ^ MAY_USE.keys()):
        yield f"crates/{crate}: in MAY_USE of .ci/tidy.py or in crates/, not in both"
    for crate in sorted(found & MAY_USE.keys()):
        used = manifest(crate).get("dependencies", {})
        assert isinstance(used, dict)
        ours = {name.removeprefix("sojourn-") for name in used if name.startswith("sojourn-")}
        for name in sorted(ours - MAY_USE[crate]):
            yield f"crates/{crate}/Cargo.toml: {crate} may not depend on {name} (ARCHITECTURE.md)"


def absence_problems() -> Iterator[str]:
    for crate in SIMULATION:
        for path in sorted((ROOT / "crates" / crate / "src").rglob("*.rs")):
            if lengths.is_tests_alone(path):
                continue
            source = lengths.without_tests(path.read_text(encoding="utf-8"))
            for number, line in enumerate(source.splitlines(), 1):
                code = line.split("//", 1)[0]
                if match := ABSENT.search(code):
                    where = f"{name_of(path)}:{number}"
                    yield f"{where}: {match[0]} in the simulation (ARCHITECTURE.md)"


def circle_problems() -> Iterator[str]:
    for crate in sorted(MAY_USE):
        modules = Crate(ROOT / "crates" / crate / "src")
        for circle in modules.circles():
            for module in circle:
                onward = ", ".join(map(modules.name, sorted(modules.edges[module] & {*circle})))
                path = name_of(modules.files[module])
                yield f"{path}: {modules.name(module)} is in a circle: it refers to {onward}"


def changelog_problems(changelog: str, version: str) -> Iterator[str]:
    """Headings: Unreleased, which may be missing, then the version. Entries: one short line each."""
    headings = re.findall(r"^## (.+)$", changelog, re.M)
    if headings[:1] == ["Unreleased"]:
        headings = headings[1:]
    if not headings or headings[0].split()[0] != version:
        yield f"CHANGELOG.md: the first heading after Unreleased is not {version}"
    for number, line in enumerate(changelog.splitlines(), 1):
        if line.startswith("- ") and len(line) > LONGEST_ENTRY:
            yield f"CHANGELOG.md:{number}: {len(line)} characters; at most {LONGEST_ENTRY}"
        elif line.startswith((" ", "* ")):
            yield f"CHANGELOG.md:{number}: an entry is one line that begins with a hyphen"


def version_problems() -> Iterator[str]:
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    version = workspace["workspace"]["package"]["version"]
    for crate in sorted(MAY_USE):
        package = manifest(crate)["package"]
        assert isinstance(package, dict)
        if package["version"] != {"workspace": True}:
            yield f"crates/{crate}/Cargo.toml: the version is the workspace's"
    for name, dependency in workspace["workspace"]["dependencies"].items():
        if "path" in dependency and dependency.get("version", version) != version:
            yield f"Cargo.toml: the version of {name} is {version}"
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    if not re.search(rf"^version: {re.escape(version)}$", citation, re.M):
        yield f"CITATION.cff: the version is {version}"
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    yield from changelog_problems(changelog, version)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if "version" in project:
        yield "pyproject.toml: the version is dynamic; it comes from Cargo.toml"


def link_problems(paths: list[Path]) -> Iterator[str]:
    for path in paths:
        if path.suffix != ".md" or not is_ours(path):
            continue
        content = path.read_text(encoding="utf-8")
        prose = re.sub(r"^```.*?^```", "", content, flags=re.M | re.S)
        for target in re.findall(r"\]\(([^)\s]+)\)", prose):
            place = target.split("#", 1)[0]
            if re.match(r"[a-z]+:", target) or not place:
                continue
            if not (path.parent / place).exists():
                yield f"{name_of(path)}: the link to {target} leads nowhere"


def main() -> int:
    paths = files()
    problems = [
        *text_problems(paths),
        *crate_problems(),
        *absence_problems(),
        *circle_problems(),
        *version_problems(),
        *link_problems(paths),
        *lengths.problems(lengths.measured(lengths.sources(paths)), lengths.read_exceptions()),
        *prose.phrase_problems(prose.checked(filter(is_ours, paths))),
    ]
    log, skipped = prose.subjects()
    problems += prose.subject_problems(log)
    if skipped is not None:
        print(f"tidy: subjects of commits skipped, {skipped}")
    for problem in problems:
        print(problem)
    print(f"tidy: {len(paths)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
