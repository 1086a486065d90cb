"""What you can name in scenarios and studies: queues, flows, metrics, studies and the rest."""

from __future__ import annotations

import html
import json
import textwrap
from collections.abc import Iterable
from typing import Any

from sojourn import _core
from sojourn.errors import WrongTypeError

__all__ = [
    "Listing",
    "list_congestion",
    "list_figures",
    "list_flows",
    "list_metrics",
    "list_queues",
    "list_sources",
    "list_studies",
    "list_topologies",
    "schema",
    "show",
]

# The width of a listing in a terminal.
_WIDTH = 100


class Listing(list[dict[str, Any]]):
    """Rows with the keys `name`, `aliases`, some of the family's own, and `what`: the first sentence about it.

    It is a list of dicts that `pandas.DataFrame` and `polars.DataFrame` take; printed and in a notebook it is a table.
    """

    def __init__(self, rows: Iterable[dict[str, Any]], family: str) -> None:
        super().__init__(rows)
        self.family = family

    @property
    def names(self) -> list[str]:
        """The names alone."""
        return [str(row["name"]) for row in self]

    def __str__(self) -> str:
        if not self:
            return f"no {self.family}"
        wide = max(len(name) for name in self.names)
        lines = (
            f"{row['name']:<{wide}}  {textwrap.shorten(str(row['what']), _WIDTH - wide - 2, placeholder=' ...')}"
            for row in self
        )
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<sojourn.Listing: {len(self)} {self.family}>\n{self}"

    def _repr_html_(self) -> str:
        columns = list(self[0]) if self else []
        head = "".join(f'<th style="text-align: left">{html.escape(c)}</th>' for c in columns)
        body = "".join(
            "<tr>"
            + "".join(
                f'<td style="text-align: left">{html.escape(_cell(row[c]))}</td>' for c in columns
            )
            + "</tr>"
            for row in self
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def list_queues() -> Listing:
    """Every queue discipline."""
    return _listing("queues")


def list_flows() -> Listing:
    """Every kind of flow: what stands in `flows=[...]`."""
    return _listing("flows")


def list_sources() -> Listing:
    """Every traffic source."""
    return _listing("sources")


def list_congestion() -> Listing:
    """Every congestion control."""
    return _listing("congestion")


def list_metrics() -> Listing:
    """Every metric, with its unit and what it is measured of."""
    return _listing("metrics")


def list_studies() -> Listing:
    """Every study that Sojourn brings along; run one with `sojourn.study("rrul")`."""
    return _listing("studies")


def list_topologies() -> Listing:
    """Every kind of topology."""
    return _listing("topologies")


def list_figures() -> Listing:
    """Every kind of figure that a study can draw."""
    return _listing("figures")


def show(name: str) -> dict[str, Any]:
    """All about one of them: a queue, flow, source, congestion control, topology, metric, figure or study.

    Write `"flow:cbr"` or `"source:cbr"` where two families have the name. Raises `UnknownNameError` with the nearest name.
    """
    if not isinstance(name, str):
        raise WrongTypeError(f'show: {name!r} is given, but a name such as "codel" is wanted')
    found: dict[str, Any] = json.loads(_core.show(name))
    return found


def schema() -> dict[str, Any]:
    """The JSON Schema of scenario and study files."""
    found: dict[str, Any] = json.loads(_core.schema())
    return found


def _listing(family: str) -> Listing:
    listed = json.loads(_core.listing(family))
    columns = listed["columns"]
    return Listing((dict(zip(columns, row, strict=True)) for row in listed["rows"]), family)


def _cell(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
