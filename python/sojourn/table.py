"""Tables of results, for Python and for data libraries."""

from __future__ import annotations

import contextlib
import html
import importlib
import shutil
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar, overload

from sojourn import _core
from sojourn.errors import BadValueError, MissingLibraryError, UnknownNameError

__all__ = ["Named", "Table"]

T = TypeVar("T")

# Rows that a notebook shows, and rows that iteration turns into dicts at a time.
_SHOWN = 10
# The width of a table without a terminal, in characters.
_WIDTH = 100
_CHUNK = 1024


class Named(dict[str, T]):
    """A dict whose `KeyError` gives the nearest name and all the names there are."""

    def __init__(self, items: Mapping[str, T], what: str) -> None:
        super().__init__(items)
        self._what = what

    def __missing__(self, name: object) -> T:
        raise unknown(self._what, name, list(self))


class Table:
    """A table of results: named columns of equal length.

    Data libraries take it directly: `polars.DataFrame(table)`, `pandas.DataFrame(table)`, `pyarrow.table(table)`,
    `altair.Chart(table)`, `narwhals.from_native(table)`; DuckDB finds it by its variable's name. polars and pyarrow share its memory.

    Exact sums such as `sojourn_ps_sum` have the type `decimal128`. `to_polars()`, `to_pandas()` and charts get numbers that they can draw.

    Without any library: `table["name"]` is a column as a list, `table[:2]` the first two rows as a table, `len(table)` the number of rows,
    and iteration gives the rows, each a dict from column to value. `print(table)` shows the first rows.
    """

    def __init__(self, core: _core.Table) -> None:
        self._core = core

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
        return self._core.column_names

    @property
    def column_names(self) -> list[str]:
        """The same as `columns`, as pyarrow calls it."""
        return self._core.column_names

    @property
    def num_rows(self) -> int:
        """The number of rows, as pyarrow calls it: `len(table)`."""
        return self._core.num_rows

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return self._core.num_rows, len(self.columns)

    @property
    def schema(self) -> dict[str, str]:
        """The type of each column by its name: `string`, `bool`, `uint64`, `float64`, ..."""
        return dict(self._core.schema_names)

    def __len__(self) -> int:
        return self._core.num_rows

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for start in range(0, len(self), _CHUNK):
            yield from self._core.rows(start, _CHUNK).to_dicts()

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    @overload
    def __getitem__(self, name: str) -> list[Any]: ...
    @overload
    def __getitem__(self, name: slice) -> Table: ...
    def __getitem__(self, name: str | slice) -> list[Any] | Table:
        """The values of one column, or with a slice such as `[:2]` a table of those rows.

        Raises `UnknownNameError`, a `KeyError`, with the nearest name; `BadValueError` for a slice with a step.
        """
        if isinstance(name, slice):
            start, stop, step = name.indices(len(self))
            if step != 1:
                raise BadValueError(
                    f"a slice of a table has no step, but {step} was given; use table.to_dicts()[::{step}]"
                )
            return Table(self._core.rows(start, max(stop - start, 0)))
        values = self._core.column(name) if isinstance(name, str) else None
        if values is None:
            raise unknown("column", name, self.columns)
        return values

    def head(self, rows: int = 5) -> Table:
        """The first rows."""
        return Table(self._core.rows(0, max(rows, 0)))

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows, each a dict from column to value."""
        return self._core.to_dicts()

    def to_polars(self) -> Any:
        """The table as a `polars.DataFrame`; `decimal128` becomes `Float64`, with 15 significant digits. `polars.DataFrame(table)` is exact."""
        polars = _library("polars", "Table.to_polars")
        frame = polars.DataFrame(self)
        kinds = self.schema
        casts = [
            polars.col(name).cast(polars.List(polars.Float64) if _is_list(kind) else polars.Float64)
            for name, kind in kinds.items()
            if _is_decimal(kind)
        ]
        return frame.with_columns(casts) if casts else frame

    def to_pandas(self) -> Any:
        """The table as a `pandas.DataFrame` with the types of `pandas.DataFrame(table)`.

        Whole numbers, `uint64` and `decimal128`, become `int64`, and `float64` where one is missing or too large. A column without any
        value is `float64`.
        """
        pandas = _library("pandas", "Table.to_pandas")
        try:
            return _for_pandas(self.to_arrow()).to_pandas()
        except MissingLibraryError:
            return pandas.DataFrame({name: self[name] for name in self.columns})

    def to_arrow(self) -> Any:
        """The table as a `pyarrow.Table`."""
        return _library("pyarrow", "Table.to_arrow").table(self)

    # For data libraries.

    def __arrow_c_schema__(self) -> object:
        return self._core.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._core.__arrow_c_stream__(requested_schema)

    def __narwhals_dataframe__(self) -> Any:
        """The frame that narwhals works on, and with it Altair, Plotly and others: polars, pyarrow or pandas, what is there first."""
        narwhals = _library("narwhals", "narwhals.from_native")
        for take in (self.to_polars, lambda: _with_floats(self.to_arrow()), self.to_pandas):
            try:
                frame = take()
            except MissingLibraryError:
                continue
            return narwhals.from_native(frame, eager_only=True)._compliant_frame
        raise MissingLibraryError(
            "charts of a table need polars, pyarrow or pandas, and none is installed; "
            "`pip install 'sojourn[notebook]'` installs polars and Altair"
        )

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
        """The dataframe interchange protocol, for libraries that have nothing newer; pyarrow speaks it."""
        return self.to_arrow().__dataframe__(nan_as_null=nan_as_null, allow_copy=allow_copy)

    # For readers.

    def __repr__(self) -> str:
        rows, columns = self.shape
        names = self.columns
        some = ", ".join(names[:6]) + (", ..." if columns > 6 else "")
        return f"<sojourn.Table: {_count(rows, 'row')}, {_count(columns, 'column')}: {some}>"

    def __str__(self) -> str:
        """The first rows, and as many columns as the terminal (or `COLUMNS`) has room for."""
        kinds = self.schema
        width = shutil.get_terminal_size((_WIDTH, 24)).columns
        shown: list[list[str]] = []
        room = width
        first = self[:_SHOWN]
        for name, kind in kinds.items():
            cells = [name, *map(_cell, first[name])]
            wide = max(map(len, cells))
            if shown and wide > room:
                break
            left = kind in ("string", "bool")
            shown.append([cell.ljust(wide) if left else cell.rjust(wide) for cell in cells])
            room -= wide + 2
        rows, columns = self.shape
        size = f"{_count(rows, 'row')}, {_count(columns, 'column')}"
        if rows > _SHOWN:
            size += f"; the first {_SHOWN} rows"
        if len(shown) < columns:
            size += f"; {_count(columns - len(shown), 'column')} not shown, see .columns"
        lines = ("  ".join(cells).rstrip() for cells in zip(*shown, strict=True))
        return "\n".join([*lines, size])

    def _repr_html_(self) -> str:
        rows, columns = self.shape
        names = self.columns
        kinds = self.schema
        aligned = {
            name: "text-align: left" if kinds[name] in ("string", "bool") else "text-align: right"
            for name in names
        }
        head = "".join(
            f'<th style="{aligned[name]}" title="{html.escape(kinds[name])}">{html.escape(name)}</th>'
            for name in names
        )
        body = "".join(
            "<tr>"
            + "".join(
                f'<td style="{aligned[name]}">{html.escape(_cell(row[name]))}</td>'
                for name in names
            )
            + "</tr>"
            for row in self.head(_SHOWN)
        )
        size = f"{_count(rows, 'row')}, {_count(columns, 'column')}"
        more = f"; the first {_SHOWN} rows" if rows > _SHOWN else ""
        return (
            f'<div style="overflow-x: auto"><table><thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div><p>{size}{more}</p>"
        )


def unknown(what: str, given: object, names: list[str]) -> UnknownNameError:
    """The error of a name that is not among `names`."""
    nearest = _core.nearest(given, names) if isinstance(given, str) else None
    meant = f", did you mean {nearest!r}?" if nearest else ""
    there = f"there is: {', '.join(names)}" if names else "there is none"
    return UnknownNameError(
        f"there is no {what} {given!r}{meant} ({there})", key=str(given), nearest=nearest
    )


def _library(name: str, wanted_by: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        # A library that is there but broken says so itself.
        if error.name != name:
            raise
        extra = name if name in ("polars", "pandas", "pyarrow") else "notebook"
        raise MissingLibraryError(
            f"{wanted_by} needs {name}, which is not installed; "
            f"`pip install 'sojourn[{extra}]'` installs it"
        ) from error


def _is_decimal(kind: str) -> bool:
    return kind.removeprefix("list[").startswith("decimal128")


def _is_list(kind: str) -> bool:
    return kind.startswith("list[")


def _with_floats(table: Any) -> Any:
    """A table of pyarrow in which numbers are `float64` where they were `decimal128`: JSON, and with it Altair, has no decimals."""
    arrow = _library("pyarrow", "Table.to_arrow")
    for index, field in enumerate(table.schema):
        if _is_decimal(str(field.type)):
            table = _cast(table, index, arrow.float64())
        elif arrow.types.is_list(field.type) and arrow.types.is_decimal(field.type.value_type):
            table = _cast(table, index, arrow.list_(arrow.float64()))
    return table


def _for_pandas(table: Any) -> Any:
    """A table of pyarrow in which whole numbers are `int64` if all of them fit, as in pandas, where differences may be negative."""
    arrow = _library("pyarrow", "Table.to_arrow")
    for index, field in enumerate(table.schema):
        whole = arrow.types.is_unsigned_integer(field.type) or arrow.types.is_decimal(field.type)
        if whole and table.column(index).null_count < len(table):
            # A number that does not fit stays what it is.
            with contextlib.suppress(arrow.ArrowInvalid):
                table = _cast(table, index, arrow.int64())
    return _with_floats(table)


def _cast(table: Any, index: int, kind: Any) -> Any:
    return table.set_column(index, table.field(index).name, table.column(index).cast(kind))


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _cell(value: object) -> str:
    """A value in few characters; the table itself has all digits."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    text = str(value)
    return text if len(text) <= 40 else text[:39] + "\u2026"
