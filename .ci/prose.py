"""Phrases that make readers stumble, and subjects of commits, for tidy.py.

The phrases are those that a review of this repository found hardest to read. Each has a plain way to say it, which
the message names.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# A phrase, and what to write.
BANNED = [
    (r"\bso many\b", "name the number: `n segments`, `a given number of`"),
    (
        r"(?<!\beach )(?<!\ball )(?<!\bboth )(?<!\bone )(?<!\btwo )(?<!\bsome )(?<!\bnone )(?<!\bmost )"
        r"(?<!\bany )(?<!\bhalf )(?<!\beither )(?<!\bonly )\bof which\b",
        "begin a new sentence",
    ),
    (r"\b(?:has|have) not(?=[.,;:)])", "does not have"),
    (
        r"\b(?:is|are|was|were|be|been) told\b(?! apart| from)",
        "say who reports what: receives, learns, is printed",
    ),
    (r"\b(?:goes|go|went) by\b(?! (?:the|its) name)", "uses, follows, depends on"),
    (r"\bno more as\b", "no longer"),
    (r"\band no more\b(?=[.,;:)])", "only"),
    (r"\bwithout a word\b", "silently, without a message"),
    (r"\bfor nothing\b", "needlessly"),
    (r"\bto be had\b", "is available"),
    (r"\bworks? off\b", "processes"),
    (r"\b(?:is|are) reckoned\b", "is computed"),
    (r"\b(?:of|from|for) what there is\b", "name it"),
    (r"\bbut for\b", "except for"),
    (r"\btells? of\b|\b(?:has|have|had) told of\b", "reports, indicates, describes"),
    (r"\bas ever\b", "as usual, as before"),
    (r"\bin no time\b", "excluded from the times"),
    (r"\bfor good\b(?! \w)", "permanently"),
    (
        r"\b(?:stands?|stood|counted|printed|shown|drawn) beside\b",
        "next to, separately, against",
    ),
]
# The same, in pages outside their examples. Comments in code still have some of these.
BANNED_IN_PAGES = [
    (r"\bwhatever\b", "with any, independent of, all"),
    (r"\bwhoever\b", "you, any member that"),
    (r"(?<!-)\bbeside\b(?!-)", "next to, with, against, separately"),
    (r"\bcomes? out\b", "Results, is the same, is printed"),
    (r"\bstands? here\b", "is in this study, is listed here"),
    (r"\blate comers?\b", "members that join late, flows that start late"),
]
PATTERNS = [(re.compile(pattern, re.I), better) for pattern, better in BANNED]
PATTERNS_OF_PAGES = [(re.compile(pattern, re.I), better) for pattern, better in BANNED_IN_PAGES]
# What pages quote: names in code.
QUOTED = re.compile(r"`[^`]*`")

CHECKED = {".rs", ".py", ".pyi", ".md", ".toml", ".txt", ".tcl", ".c", ".cc", ".h", ".yml"}
# Not checked yet: what is generated from what is being rewritten.
EXCEPTED = ("docs/reference/",)
# These have to name the phrases.
NAMES_THEM = (".ci/prose.py", "tests/python/test_python_tidy.py")

LONGEST_SUBJECT = 72
# Commits after this one, which ends the development of release 0.1.0.
RELEASED = "350e734"


def phrase_problems(texts: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Phrases in texts by file name."""
    for name, text in texts:
        is_page, is_example = name.endswith(".md"), False
        for number, line in enumerate(text.splitlines(), 1):
            found = [(pattern.search(line), better) for pattern, better in PATTERNS]
            is_example ^= line.startswith("```")
            if is_page and not is_example:
                prose = QUOTED.sub("", line)
                found += [(pattern.search(prose), better) for pattern, better in PATTERNS_OF_PAGES]
            for match, better in found:
                if match:
                    yield f'{name}:{number}: "{match[0]}": {better}'


def checked(paths: Iterable[Path]) -> Iterator[tuple[str, str]]:
    for path in paths:
        name = path.relative_to(ROOT).as_posix()
        if path.suffix not in CHECKED and path.name != "Makefile":
            continue
        if not name.startswith(EXCEPTED) and name not in NAMES_THEM:
            yield name, path.read_text(encoding="utf-8")


def subject_problems(log: str) -> Iterator[str]:
    """Subjects in lines of `git log --format="%h %s"`."""
    for line in log.splitlines():
        commit, _, subject = line.partition(" ")
        if len(subject) > LONGEST_SUBJECT:
            yield f"commit {commit}: a subject of {len(subject)} characters; at most {LONGEST_SUBJECT}"


def git(*arguments: str) -> str | None:
    """What git prints, or nothing where it fails."""
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout if done.returncode == 0 else None


def subjects() -> tuple[str, str | None]:
    """The log since the release, or an empty one and why it is not checked."""
    log = git("log", "--no-merges", "--format=%h %s", f"{RELEASED}..HEAD")
    if log is None:
        return "", f"the history does not reach back to {RELEASED} (a shallow clone?)"
    return log, None
