""".ci/tidy.py: what each check refuses."""

from __future__ import annotations

import pytest

import tidy


@pytest.mark.parametrize(
    ("changelog", "problem"),
    [
        ("## Unreleased\n\n## 0.1.0\n\n- Short.\n", None),
        ("## 0.1.0\n\n- Short.\n", None),
        ("## 0.2.0\n\n- Short.\n", "the first heading after Unreleased is not 0.1.0"),
        ("## Unreleased\n\n- Short.\n", "the first heading after Unreleased is not 0.1.0"),
        ("## 0.1.0\n\n- " + "x" * 199 + "\n", "CHANGELOG.md:3: 201 characters; at most 200"),
        ("## 0.1.0\n\n- One.\n  Two.\n", "CHANGELOG.md:4: an entry is one line"),
    ],
)
def test_changelog_has_its_version_and_short_entries(changelog: str, problem: str | None) -> None:
    found = list(tidy.changelog_problems(changelog, "0.1.0"))
    if problem is None:
        assert found == []
    else:
        assert len(found) == 1
        assert problem in found[0]
