"""All tables of a report as one XLSX file, from the sheets that the report lays out.

`XlsxWriter` writes it; it is imported when a file is asked for and not before.
"""

from __future__ import annotations

import datetime
import io
import json
import os
from pathlib import Path
from typing import Any

from sojourn import _core
from sojourn.errors import MissingLibraryError
from sojourn.files import write_whole

__all__ = ["FILE", "write"]

FILE = "tables.xlsx"
"""What the file is called."""

# The format wants a date. This one is the first of ZIP files, in which the format comes.
CREATED = datetime.datetime(1980, 1, 1)


def write(results: str | os.PathLike[str]) -> Path:
    """Writes the tables of the report of `results` into one spreadsheet; returns the file.

    The same results give the same bytes.
    """
    summary: dict[str, Any] = json.loads(_core.sheets(Path(results)))
    file = Path(results) / FILE
    write_whole(file, _workbook(summary), "the spreadsheet")
    return file


def _workbook(summary: dict[str, Any]) -> bytes:
    try:
        import xlsxwriter
    except ImportError as error:
        raise MissingLibraryError(
            "spreadsheets are written by XlsxWriter, which is not installed; "
            "`pip install 'sojourn[spreadsheet]'` installs it"
        ) from error
    content = io.BytesIO()
    # A text stays a text, whatever it begins with.
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    with xlsxwriter.Workbook(content, options) as book:
        book.set_properties(
            {
                "title": summary["title"],
                "comments": f"Sojourn {summary['version']}: {summary['command']}",
                "created": CREATED,
            }
        )
        head = book.add_format({"bold": True, "text_wrap": True, "valign": "top"})
        formats: dict[str, Any] = {}
        for sheet in summary["sheets"]:
            _fill(book, book.add_worksheet(sheet["name"]), sheet, head, formats)
        if not summary["sheets"]:
            book.add_worksheet().write_string(0, 0, "This report has no tables.")
    return content.getvalue()


def _fill(
    book: Any, target: Any, sheet: dict[str, Any], head: Any, formats: dict[str, Any]
) -> None:
    for column, (title, width) in enumerate(zip(sheet["headers"], sheet["widths"], strict=True)):
        target.write_string(0, column, title, head)
        target.set_column(column, column, width)
    target.freeze_panes(1, sheet["frozen"])
    for row, cells in enumerate(sheet["rows"], start=1):
        for column, cell in enumerate(cells):
            if isinstance(cell, str):
                target.write_string(row, column, cell)
            elif cell is not None:
                value, shown = cell
                if shown not in formats:
                    formats[shown] = book.add_format({"num_format": shown})
                target.write_number(row, column, value, formats[shown])
    for row, remark in enumerate(sheet["remarks"], start=len(sheet["rows"]) + 2):
        target.write_string(row, 0, remark)
