"""Every Python example of the documents runs, and the commands beside it print what stands below them.

`make check` runs the commands of all documents.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import generated

DOCUMENTS = [
    document
    for document in generated.documents()
    if any(b.language == "python" for b in generated.blocks(document.read_text(encoding="utf-8")))
]


def name_of(path: Path) -> str:
    return path.relative_to(generated.ROOT).as_posix()


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_the_examples_of_a_document_do_what_it_says(
    document: Path, command: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # Classes of Python need the command of the package.
    if document.name in ("bring-your-own-python.md", "tutorial-own-algorithm.md"):
        command = Path(sys.executable).with_name("sojourn")
    text = document.read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "example"}
    for block in generated.blocks(text):
        if block.file is not None:
            (tmp_path / block.file).write_text(block.body, encoding="utf-8")
        if block.is_runnable():
            assert generated.run_block(block, tmp_path, command) == block.body
        elif block.language == "python":
            exec(compile(block.body, name_of(document), "exec"), names)


def test_there_are_examples_to_run() -> None:
    texts = [document.read_text(encoding="utf-8") for document in generated.documents()]
    found = [block for text in texts for block in generated.blocks(text)]
    assert sum(block.is_runnable() for block in found) >= 15
    assert sum(block.language == "python" for block in found) >= 5


def test_a_block_with_any_other_command_is_not_run() -> None:
    text = "```console\n$ sojourn list\n$ rm -r results\n```\n```console\n$ ls results\n```\n"
    assert [block.is_runnable() for block in generated.blocks(text)] == [False, True]


def test_output_is_written_below_each_command(tmp_path: Path) -> None:
    text = "```csv file=a.csv\nx\n1\n```\n\n```console\n$ cat a.csv\nold\n$ ls .\n```\nend\n"
    new = generated.with_output(text, tmp_path, tmp_path / "sojourn")
    assert new == text.replace("old\n", "x\n1\n").replace("$ ls .\n", "$ ls .\na.csv\n")
