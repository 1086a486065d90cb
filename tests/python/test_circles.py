"""The check that modules refer to each other one way sees what it says that it sees."""

from __future__ import annotations

from pathlib import Path

import pytest

from circles import Crate


def crate(folder: Path, files: dict[str, str]) -> Crate:
    for name, text in {"lib.rs": "mod a;\nmod b;\n", **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Crate(folder)


@pytest.mark.parametrize(
    "there",
    [
        "use crate::b::B;",
        "use super::b;",
        "use crate::{b::B as C};",
        "fn f() -> crate::b::B {}",
        "use crate::Passed;",
    ],
)
def test_a_circle_is_found_whatever_the_path(tmp_path: Path, there: str) -> None:
    lib = "mod a;\nmod b;\npub use b::Passed;\n"
    modules = crate(tmp_path, {"lib.rs": lib, "a.rs": there, "b.rs": "use crate::a::A;"})
    assert modules.circles() == [[("a",), ("b",)]]


@pytest.mark.parametrize(
    "there",
    [
        "// crate::b::B\n/* crate::b::B */",
        'const A: &str = "crate::b::B";',
        "#[cfg(test)]\nmod tests {\n    use crate::b::B;\n}",
        "#[cfg(test)]\nuse crate::{b::B};\n",
        "use std::b::B;",
    ],
)
def test_what_is_no_code_or_a_test_is_no_reference(tmp_path: Path, there: str) -> None:
    assert not crate(tmp_path, {"a.rs": there, "b.rs": "use crate::a::A;"}).circles()


def test_a_parent_composes_its_submodules_or_is_what_they_share(tmp_path: Path) -> None:
    files = {"a/part.rs": "pub struct Part;", "b.rs": ""}
    composes = "mod part;\npub use part::Part;\nfn f() { part::Part; }"
    assert not crate(tmp_path, {**files, "a.rs": composes}).circles()
    shares = {**files, "a/part.rs": "use super::A;"}
    assert not crate(tmp_path, {**shares, "a.rs": "mod part;\npub use part::Part;"}).circles()
    both = crate(tmp_path, {**shares, "a.rs": composes})
    assert both.circles() == [[("a",), ("a", "part")]]
