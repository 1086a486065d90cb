"""Figure files for a paper: SVG, PNG and PDF from the Vega-Lite specifications that a report writes.

`vl-convert-python` draws them; it is imported when the first figure is drawn and not before.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sojourn import columns
from sojourn.errors import BadValueError, MissingLibraryError, ResultsIOError
from sojourn.files import write_whole

__all__ = ["FORMATS", "VEGA_LITE", "draw", "draw_spec"]

FORMATS = ("svg", "png", "pdf")
"""What figures can be drawn as."""

VEGA_LITE = "6.4"
"""The Vega-Lite that draws them."""

# A column of a journal is 8 to 9 cm wide; twice the pixels keep lines sharp in print.
PNG_SCALE = 3.0

SUFFIX = ".vl.json"


def draw(
    results: str | os.PathLike[str],
    formats: Iterable[str] = ("svg", "png"),
    width: float | None = None,
) -> list[Path]:
    """Draws every figure in `results`/figures in each format, beside its specification; returns the files.

    SVG and PNG files have a variant for dark pages, `NAME.dark.svg`; PDF files and figures with a width are for paper, and have none.
    `width` is that of a column in print, in inches: 3.5 for IEEE, 3.33 for ACM. Text is then set at 8 pt.
    """
    wanted = check_formats(formats)
    folder = Path(results) / "figures"
    try:
        specs = sorted(path for path in folder.iterdir() if path.name.endswith(SUFFIX))
    except OSError as error:
        raise ResultsIOError(
            f"{folder}: cannot list the figures: {error.strerror}; write the report first, with "
            f"`sojourn report {results}`",
            file=str(folder),
        ) from error
    files = []
    for spec in specs:
        dark = spec.name.endswith(f".dark{SUFFIX}")
        text = spec.read_text(encoding="utf-8")
        if width is not None and not dark:
            text = at_width(text, width)
        for kind in wanted:
            if dark and (kind == "pdf" or width is not None):
                continue
            file = spec.with_name(spec.name.removesuffix(SUFFIX) + f".{kind}")
            write_whole(file, draw_spec(text, kind), "the figure")
            files.append(file)
    return files


def draw_spec(spec: str, kind: str) -> bytes:
    """One Vega-Lite specification, drawn."""
    (kind,) = check_formats([kind])
    vlc = _converter()
    # Figures carry their data; nothing is fetched.
    offline: dict[str, object] = {"vl_version": VEGA_LITE, "allowed_base_urls": []}
    if kind == "svg":
        return str(vlc.vegalite_to_svg(spec, **offline)).encode()
    if kind == "png":
        return bytes(vlc.vegalite_to_png(spec, scale=PNG_SCALE, **offline))
    return bytes(vlc.vegalite_to_pdf(spec, **offline))


def at_width(spec: str, width: float) -> str:
    """One Vega-Lite specification, laid out anew for a width in inches."""
    fitted = columns.fit(
        json.loads(spec), width, lambda part: draw_spec(json.dumps(part), "svg").decode()
    )
    return json.dumps(fitted)


def check_formats(formats: Iterable[str]) -> list[str]:
    """The formats without repetition.

    Raises `BadValueError` for one that cannot be drawn.
    """
    wanted = list(dict.fromkeys(formats))
    for kind in wanted:
        if kind not in FORMATS:
            raise BadValueError(
                f"--images: figures cannot be drawn as {kind!r}; allowed: {', '.join(FORMATS)}",
                key="--images",
            )
    return wanted


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError as error:
        raise MissingLibraryError(
            "figure files are drawn by vl-convert-python, which is not installed; "
            "`pip install 'sojourn[figures]'` installs it"
        ) from error
    return vl_convert
