"""What can be named: every family has a list, and everything in it can be shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import sojourn
from sojourn import errors

LISTS: dict[str, tuple[Callable[[], sojourn.Listing], set[str]]] = {
    "queues": (sojourn.list_queues, {"droptail", "codel", "drr"}),
    "flows": (sojourn.list_flows, {"cubic", "cbr"}),
    "sources": (sojourn.list_sources, {"cbr", "poisson"}),
    "congestion": (sojourn.list_congestion, {"reno", "cubic", "bbr"}),
    "metrics": (sojourn.list_metrics, {"sojourn_s_mean", "goodput_bps_sum"}),
    "studies": (sojourn.list_studies, {"rrul", "rfc7928"}),
    "topologies": (sojourn.list_topologies, {"dumbbell", "graph"}),
    "figures": (sojourn.list_figures, {"bars"}),
}


@pytest.mark.parametrize("family", LISTS)
def test_a_list_has_rows_that_say_what_each_is(family: str) -> None:
    make, some = LISTS[family]
    listing = make()
    assert some <= set(listing.names)
    for row in listing:
        assert list(row)[:2] == ["name", "aliases"]
        assert row["what"]
    assert repr(listing).splitlines()[0] == f"<sojourn.Listing: {len(listing)} {family}>"
    assert all(len(line) <= 100 for line in str(listing).splitlines())
    assert listing._repr_html_().count("<tr>") == len(listing) + 1


@pytest.mark.parametrize("family", LISTS)
def test_data_libraries_take_a_list(family: str) -> None:
    listing = LISTS[family][0]()
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    assert list(pandas.DataFrame(listing)["name"]) == listing.names
    assert polars.DataFrame(listing)["name"].to_list() == listing.names


@pytest.mark.parametrize("family", LISTS)
def test_everything_in_a_list_can_be_shown(family: str) -> None:
    for name in sorted(LISTS[family][1]):
        shown: dict[str, Any] = sojourn.show(name)
        assert shown["name"] == name or name in shown["aliases"]
        assert shown["about"]


def test_a_wrong_name_has_the_nearest() -> None:
    with pytest.raises(errors.UnknownNameError) as caught:
        sojourn.show("codell")
    assert caught.value.nearest == "codel"
    assert isinstance(caught.value, KeyError)


def test_show_tells_parameters_with_unit_default_range_and_source() -> None:
    (codel,) = sojourn.show("codel")["parts"]
    (target,) = [param for param in codel["parameters"] if param["name"] == "target"]
    assert target["default"] == "5ms"
    assert "8289" in target["source"]
    assert {dialect["name"] for dialect in codel["dialects"]} >= {"rfc8289", "linux", "ns2"}
