"""Tables of results: columns, rows, and what data libraries make of them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

import sojourn
from sojourn import errors
from sojourn import table as tables


@pytest.fixture(scope="module")
def results() -> sojourn.Results:
    scenario = sojourn.dumbbell(
        rate="5Mbps",
        rtt="20ms",
        buffer="40p",
        flows=["2*reno", "cbr 1Mbps"],
        duration="4s",
        warmup="1s",
        replications=3,
        series={"record": "backlog", "step": "10ms"},
    )
    return sojourn.compare(scenario, ["droptail", "codel"])


# Columns and rows.


def test_a_table_has_columns_by_name_and_rows_in_order(results: sojourn.Results) -> None:
    table = results.queues
    rows = table.to_dicts()
    assert len(table) == table.num_rows == len(rows)
    assert table.columns == table.column_names == list(rows[0])
    assert table.shape == (len(rows), len(table.columns))
    assert table["queue"] == [row["queue"] for row in rows]
    assert list(table) == rows
    assert table.head(2).to_dicts() == rows[:2]
    assert "queue" in table
    assert "quue" not in table


def test_a_slice_of_a_table_is_a_table_of_those_rows(results: sojourn.Results) -> None:
    table = results.queues
    rows = table.to_dicts()
    assert table[:2].to_dicts() == rows[:2]
    assert table[-2:].to_dicts() == rows[-2:]
    assert table[5:2].to_dicts() == []
    assert table[1:3].columns == table.columns
    with pytest.raises(errors.BadValueError, match=r"no step.*to_dicts\(\)\[::2\]"):
        table[::2]


def test_a_printed_table_shows_its_first_rows_in_the_width_of_the_terminal(
    results: sojourn.Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    for width in (40, 160):
        monkeypatch.setenv("COLUMNS", str(width))
        head, *rows, size = str(results.series).splitlines()
        assert head.split()[0] == "run_id"
        assert len(rows) == 10
        assert max(map(len, [head, *rows])) <= width
        assert size.startswith(f"{len(results.series)} rows, ")
    assert str(results.queues[:0]).splitlines()[-1].startswith("0 rows, ")


def test_printed_results_are_as_wide_as_the_terminal(
    results: sojourn.Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, str(results).splitlines())) <= 60
    monkeypatch.delenv("COLUMNS")
    # Nothing cuts what goes to a file or a pipe.
    assert max(map(len, str(results).splitlines())) > 60


def test_iteration_gives_every_row_of_a_long_table(results: sojourn.Results) -> None:
    table = results.series
    assert len(table) > 2000
    assert list(table) == table.to_dicts()
    assert len(table.head(10**9)) == len(table)


def test_the_schema_has_the_type_of_each_column(results: sojourn.Results) -> None:
    schema = results.queues.schema
    assert list(schema) == results.queues.columns
    assert schema["queue"] == "string"
    assert schema["replication"] == "uint64"
    assert schema["sojourn_s_mean"] == "float64"
    assert schema["bottleneck"] == "bool"


def test_a_wrong_column_is_a_key_error_with_the_nearest_and_all_names(
    results: sojourn.Results,
) -> None:
    with pytest.raises(KeyError) as caught:
        results.queues["sojourn_s_men"]
    assert isinstance(caught.value, errors.UnknownNameError)
    assert caught.value.nearest == "sojourn_s_mean"
    assert str(caught.value).startswith(
        "there is no column 'sojourn_s_men', did you mean 'sojourn_s_mean'? (there is: run_id, "
    )
    with pytest.raises(KeyError, match="there is no column 0"):
        results.queues[0]  # type: ignore[call-overload]


def test_wrong_names_of_figures_and_summary_tables_are_key_errors_with_the_names(
    results: sojourn.Results,
) -> None:
    for named in (results.figures, results.summary_tables):
        assert named
        name = next(iter(named))
        assert named[name]
        assert named.get("nothing") is None
        with pytest.raises(KeyError, match=f"did you mean '{name}'") as caught:
            named[f"{name}x"]
        assert all(other in str(caught.value) for other in named)


# Libraries.


def read_with_pyarrow(table: sojourn.Table) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pytest.importorskip("pyarrow").table(table).to_pylist()
    return rows


def read_with_to_arrow(table: sojourn.Table) -> list[dict[str, Any]]:
    pytest.importorskip("pyarrow")
    rows: list[dict[str, Any]] = table.to_arrow().to_pylist()
    return rows


def read_with_polars(table: sojourn.Table) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pytest.importorskip("polars").DataFrame(table).to_dicts()
    return rows


def read_with_to_polars(table: sojourn.Table) -> list[dict[str, Any]]:
    pytest.importorskip("polars")
    rows: list[dict[str, Any]] = table.to_polars().to_dicts()
    return rows


def read_with_pandas(table: sojourn.Table) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pytest.importorskip("pandas").DataFrame(table).to_dict("records")
    return rows


def read_with_to_pandas(table: sojourn.Table) -> list[dict[str, Any]]:
    pytest.importorskip("pandas")
    rows: list[dict[str, Any]] = table.to_pandas().to_dict("records")
    return rows


def read_with_pandas_from_arrow(table: sojourn.Table) -> list[dict[str, Any]]:
    pandas = pytest.importorskip("pandas", minversion="3")
    rows: list[dict[str, Any]] = pandas.DataFrame.from_arrow(table).to_dict("records")
    return rows


def read_with_duckdb(table: sojourn.Table) -> list[dict[str, Any]]:
    duckdb = pytest.importorskip("duckdb")
    rows = table
    assert len(rows) > 0
    relation = duckdb.sql("SELECT * FROM rows")
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


def read_with_narwhals(table: sojourn.Table) -> list[dict[str, Any]]:
    narwhals = pytest.importorskip("narwhals")
    rows: list[dict[str, Any]] = list(narwhals.from_native(table).iter_rows(named=True))
    return rows


def read_with_the_interchange_protocol(table: sojourn.Table) -> list[dict[str, Any]]:
    interchange = pytest.importorskip("pyarrow.interchange")
    plain = pytest.importorskip("pyarrow").table(table).select(list(PLAIN))
    assert table.__dataframe__().num_rows() == len(table)
    rows: list[dict[str, Any]] = interchange.from_dataframe(plain.__dataframe__()).to_pylist()
    return rows


PLAIN = ("run_id", "replication", "queue", "discipline", "sojourn_s_mean", "bottleneck")


@pytest.mark.parametrize(
    "reader",
    [
        read_with_pyarrow,
        read_with_to_arrow,
        read_with_polars,
        read_with_to_polars,
        read_with_pandas,
        read_with_to_pandas,
        read_with_pandas_from_arrow,
        read_with_duckdb,
        read_with_narwhals,
        read_with_the_interchange_protocol,
    ],
)
def test_data_libraries_read_a_table_as_it_is(
    results: sojourn.Results, reader: Callable[[Any], list[dict[str, Any]]]
) -> None:
    table = results.queues
    read = reader(table)
    expected = table.to_dicts()
    assert len(read) == len(expected)
    for ours, theirs in zip(expected, read, strict=True):
        for column in PLAIN:
            assert theirs[column] == ours[column]


def test_altair_charts_a_table(results: sojourn.Results) -> None:
    altair = pytest.importorskip("altair")
    table = results.queues
    chart = altair.Chart(table).mark_point().encode(x="factor_queue", y="sojourn_s_mean")
    spec = chart.to_dict()
    (rows,) = spec["datasets"].values()
    assert [row["sojourn_s_mean"] for row in rows] == table["sojourn_s_mean"]
    assert spec["encoding"]["y"]["type"] == "quantitative"
    assert spec["encoding"]["x"]["type"] == "nominal"


KINDS = ("runs", "queues", "flows", "receivers", "transfers", "media", "series")


@pytest.fixture(scope="module")
def every_kind() -> list[sojourn.Results]:
    """Results that together have rows in each table."""
    flows = ["rtp", "reno", "workload sizes=(exponential mean=10kB) load=40%"]
    some: dict[str, Any] = {"duration": "2s", "warmup": "0s", "replications": 1}
    group = sojourn.chain(
        hops=2,
        flows=[{"kind": "cbr", "rate": "1Mbps", "from": "n0", "to": "news"}],
        groups=[{"name": "news"}],
        members=[{"group": "news", "node": "n1"}, {"group": "news", "node": "n2"}],
        duration="2s",
        warmup="0s",
        deterministic=True,
    )
    mixed = sojourn.dumbbell(rate="5Mbps", flows=flows, series={"record": "all"}, **some)
    return [sojourn.run(group), sojourn.run(mixed)]


@pytest.mark.parametrize("kind", KINDS)
def test_altair_draws_every_table_and_its_polars_and_pandas_frames(
    every_kind: list[sojourn.Results], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    altair = pytest.importorskip("altair")
    tables = [getattr(results, kind) for results in every_kind]
    assert any(len(table) > 0 for table in tables)
    for table in (part[:100] for part in tables):
        for data in (table, table.to_polars(), table.to_pandas()):
            chart = altair.Chart(data).mark_point().encode(x="run_id")
            assert json.loads(chart.to_json())["mark"]["type"] == "point"
    hide(monkeypatch, "polars")
    for table in (part[:100] for part in tables):
        assert altair.Chart(table).mark_point().encode(x="run_id").to_json()


@pytest.mark.parametrize("kind", KINDS)
def test_to_pandas_has_the_types_of_pandas_own_reading_of_the_rows(
    every_kind: list[sojourn.Results], kind: str
) -> None:
    pandas = pytest.importorskip("pandas")
    for table in (getattr(results, kind)[:100] for results in every_kind):
        if len(table) == 0:
            # pandas sees no columns where there is no row.
            continue
        ours, theirs = table.to_pandas().dtypes, pandas.DataFrame(table).dtypes
        for column in table.columns:
            if all(value is None for value in table[column]):
                assert str(ours[column]) in ("float64", "object")
            else:
                assert ours[column] == theirs[column], column


def test_numbers_too_large_for_pandas_become_floats() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    sums = pyarrow.array([10**30, None, 1], pyarrow.decimal128(38, 0))
    lists = pyarrow.array([[1], None, [2]], pyarrow.list_(pyarrow.decimal128(38, 0)))
    frame = tables._for_pandas(pyarrow.table({"sum": sums, "list": lists})).to_pandas()
    assert str(frame["sum"].dtype) == "float64"
    assert frame["sum"][0] == 1e30
    assert list(frame["list"][2]) == [2.0]


def test_pyarrow_shares_the_memory_of_a_table(results: sojourn.Results) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = results.queues
    first, second = pyarrow.table(table), pyarrow.table(table)
    address = first["sojourn_s_mean"].chunk(0).buffers()[1].address
    assert second["sojourn_s_mean"].chunk(0).buffers()[1].address == address
    assert pyarrow.schema(table) == first.schema


def test_a_table_outlives_the_results() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    scenario = sojourn.dumbbell(rate="1Mbps", flows=["reno"], duration="2s", warmup="0s")
    arrow = pyarrow.table(sojourn.run(scenario, replications=1).queues)
    assert (
        arrow["sojourn_s_mean"].to_pylist()
        == sojourn.run(scenario, replications=1).queues["sojourn_s_mean"]
    )


@pytest.mark.parametrize(
    ("library", "call"),
    [
        ("polars", lambda table: table.to_polars()),
        ("pandas", lambda table: table.to_pandas()),
        ("pyarrow", lambda table: table.to_arrow()),
    ],
)
def test_a_library_that_is_missing_is_an_import_error_with_the_command_that_installs_it(
    results: sojourn.Results,
    monkeypatch: pytest.MonkeyPatch,
    library: str,
    call: Callable[[sojourn.Table], Any],
) -> None:
    hide(monkeypatch, library)
    with pytest.raises(ImportError, match=rf"needs {library}.*pip install 'sojourn\[{library}\]'"):
        call(results.queues)


def test_a_chart_takes_whichever_library_there_is(
    results: sojourn.Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    narwhals = pytest.importorskip("narwhals")
    for library in ("polars", "pyarrow", "pandas"):
        frame = narwhals.from_native(results.queues, eager_only=True)
        assert frame.implementation.name.lower() == library
        hide(monkeypatch, library)
    with pytest.raises(errors.MissingLibraryError, match=r"sojourn\[notebook\]"):
        results.queues.__narwhals_dataframe__()


def hide(monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    """Makes `import library` fail as if it were not installed."""
    find = sys.meta_path

    class Hidden:
        @staticmethod
        def find_spec(name: str, path: object = None, target: object = None) -> None:
            del path, target
            if name == library:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.delitem(sys.modules, library, raising=False)
    monkeypatch.setattr(sys, "meta_path", [Hidden, *find])


# Readers.


def test_the_repr_of_a_table_is_short(results: sojourn.Results) -> None:
    text = repr(results.queues)
    assert text.startswith(f"<sojourn.Table: {len(results.queues)} rows, ")
    assert len(text) < 160


def test_a_notebook_shows_the_first_rows_of_a_table(results: sojourn.Results) -> None:
    html = results.series._repr_html_()
    assert html.count("<tr>") == 11
    assert f"{len(results.series)} rows" in html
    assert "the first 10 rows" in html
    assert "<script" not in html
