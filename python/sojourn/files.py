"""Files that are whole or absent."""

from __future__ import annotations

from pathlib import Path

from sojourn.errors import ResultsIOError

__all__ = ["write_whole"]


def write_whole(file: Path, content: bytes, what: str) -> None:
    """Writes beside the target and renames, so that no reader ever sees half a file."""
    partial = file.with_name(f".{file.name}.partial")
    try:
        partial.write_bytes(content)
        partial.replace(file)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise ResultsIOError(
            f"{file}: cannot write {what}: {error.strerror}; free space or choose another directory",
            file=str(file),
        ) from error
