"""Running scenarios and studies, and what they yield."""

from __future__ import annotations

import contextlib
import html
import inspect
import json
import operator
import os
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from sojourn import _core
from sojourn.catalogue import list_studies
from sojourn.errors import (
    BadValueError,
    ContradictionError,
    ResultsIOError,
    UnknownKeyError,
    WrongTypeError,
)
from sojourn.scenario import Queue, Scenario, ScenarioLike, as_scenario, path_of
from sojourn.table import Named, Table

if TYPE_CHECKING:
    from distributed import Client as _Client

__all__ = [
    "Arrival",
    "Figure",
    "Progress",
    "Rerun",
    "Results",
    "compare",
    "read",
    "replay",
    "rerun",
    "run",
    "study",
    "trace_analyse",
]

Progress: TypeAlias = bool | Callable[[int, int], object]
"""True prints to standard error how many runs are done; a function is called with (done, total)."""

Arrival: TypeAlias = tuple[int, int, int, int]
"""A recorded arrival: time in ns, bytes, flow, ECN codepoint."""


class Results:
    """The results of a study, a comparison or a scenario.

    `runs`, `queues`, `flows`, `receivers`, `transfers`, `media` and `series` are tables that polars, pandas, pyarrow, duckdb and Altair take; their
    columns are those of the files of a result directory. In a notebook the results show as tables; a figure shows itself.
    """

    def __init__(self, core: _core.Results) -> None:
        self._core = core
        self._summary: dict[str, Any] | None = None

    def _table(self, kind: str) -> Table:
        return Table(self._core.table(kind))

    @property
    def runs(self) -> Table:
        """One row per run."""
        return self._table("runs")

    @property
    def queues(self) -> Table:
        """One row per observed queue and run."""
        return self._table("queues")

    @property
    def flows(self) -> Table:
        """One row per flow and run."""
        return self._table("flows")

    @property
    def receivers(self) -> Table:
        """One row per member of a multicast group, flow to it and run: what it got."""
        return self._table("receivers")

    @property
    def transfers(self) -> Table:
        """One row per transfer of a workload: its size, when it was asked for, its completion time and slowdown."""
        return self._table("transfers")

    @property
    def media(self) -> Table:
        """One row per flow of RTP and run: what its reports say, and what its receiver made of the packets."""
        return self._table("media")

    @property
    def series(self) -> Table:
        """One row per sample of each recorded time series."""
        return self._table("series")

    @property
    def manifest(self) -> dict[str, Any]:
        """What ran: every point resolved in full, dialects, seeds, version, the auditor's notes."""
        return _object(self._core.manifest())

    @property
    def notes(self) -> list[str]:
        """What the auditor has to say."""
        return [str(note["text"]) for note in self.manifest["notes"]]

    @property
    def summary(self) -> dict[str, Any]:
        """Tables with intervals, figures, settings: what a report is made of."""
        if self._summary is None:
            self._summary = _object(self._core.summary())
        return self._summary

    @property
    def summary_tables(self) -> Named[str]:
        """The tables of the summary by their names, in Markdown. A wrong name raises a `KeyError` with the names there are."""
        return Named(
            {name: markdown for name, _, markdown in self._core.tables()}, "table of the summary"
        )

    @property
    def figures(self) -> Named[Figure]:
        """The figures by their names. A wrong name raises a `KeyError` with the names there are."""
        return Named(
            {name: Figure(name, _object(spec)) for name, spec in self._core.figures()}, "figure"
        )

    def report(self, directory: str | os.PathLike[str]) -> Path:
        """Writes the report, the figures and the tables into a directory; returns the path of the report."""
        return Path(self._core.report(path_of("directory", directory)))

    def __str__(self) -> str:
        """What the command prints: as wide as `COLUMNS` says, or the terminal; in long lines where there is neither."""
        # (0, 0) stands for neither.
        width = shutil.get_terminal_size((0, 0)).columns
        return self._core.text(width or None)

    def __repr__(self) -> str:
        manifest = self.manifest
        runs = len(self.runs)
        title = _printable(manifest["title"])
        points = len(manifest["points"])
        return f"<sojourn.Results: {title}; {_count(points, 'point')}, {_count(runs, 'run')}>"

    def _repr_html_(self) -> str:
        tables = [
            f"<p><strong>{html.escape(title)}</strong></p>{_html_table(markdown)}"
            for _, title, markdown in self._core.tables()
        ]
        notes = [f"<li>{html.escape(note)}</li>" for note in self.notes]
        figures = [f"<code>{html.escape(name)}</code>" for name in self.figures]
        named = f"<p>Figures, by <code>.figures[...]</code>: {', '.join(figures)}</p>"
        listed = f"<ul>{''.join(notes)}</ul>" if notes else ""
        return "".join(tables) + listed + (named if figures else "")


class Figure:
    """A figure as a Vega-Lite specification, with its data."""

    def __init__(self, name: str, spec: dict[str, Any]) -> None:
        self.name = name
        self.spec = spec

    def to_dict(self) -> dict[str, Any]:
        """The specification, as `altair.Chart.from_dict` takes it."""
        return self.spec

    def save(self, path: str | os.PathLike[str]) -> None:
        """Draws the figure into a file, as its suffix says: .svg, .png, .pdf; .json holds the specification."""
        file = Path(path_of("path", path, "the path of a file"))
        kind = file.suffix.removeprefix(".")
        if kind == "json":
            file.write_text(json.dumps(self.spec, indent=2) + "\n", encoding="utf-8")
            return
        from sojourn import figures

        file.write_bytes(figures.draw_spec(json.dumps(self.spec), kind))

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> dict[str, object]:
        # A notebook shows the richest form that it knows: interactive, or else drawn, or else named.
        del include, exclude
        bundle: dict[str, object] = {
            "application/vnd.vegalite.v6+json": self.spec,
            "text/plain": repr(self),
        }
        from sojourn import errors, figures

        # Without vl-convert-python a notebook that does not know Vega-Lite shows the name.
        with contextlib.suppress(errors.SojournError):
            bundle["image/svg+xml"] = figures.draw_spec(json.dumps(self.spec), "svg").decode()
        return bundle

    def __repr__(self) -> str:
        title = self.spec.get("title")
        text = title.get("text") if isinstance(title, dict) else title
        return (
            f"<sojourn.Figure {self.name}: {_printable(str(text))}>"
            if text
            else f"<sojourn.Figure {self.name}>"
        )


def run(
    scenario: ScenarioLike,
    *,
    replications: int | None = None,
    replication: int | None = None,
    seed: int | None = None,
    warmup: str | None = None,
    precision: str | float | None = None,
    out: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    threads: int | None = None,
    progress: Progress = False,
    **unknown: NoReturn,
) -> Results:
    """Runs a scenario: a `Scenario`, its tables as a dict, or the path of its TOML file.

    `replications` and `seed` replace those of the scenario; `replication` repeats a single one of them. `warmup` is a time or
    `"auto"`, and `precision`, such as `"2%"`, adds replications until intervals are narrow enough. With `out`, a
    result directory is written, and runs that it holds are not made again unless `fresh`. Other Python threads go on
    meanwhile, and Ctrl-C stops it.
    """
    _refuse_unknown("run", unknown)
    scenario = _in_rounds(scenario, warmup, precision)
    return _run(scenario, [], replications, replication, seed, out, fresh, threads, progress)


def compare(
    scenario: ScenarioLike,
    queues: Sequence[Queue],
    *,
    replications: int | None = None,
    seed: int | None = None,
    warmup: str | None = None,
    precision: str | float | None = None,
    out: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    threads: int | None = None,
    progress: Progress = False,
    **unknown: NoReturn,
) -> Results:
    """Runs a scenario once with each of the queues at its bottleneck: the same traffic, replication by replication.

    `warmup` is a time or `"auto"`, and `precision`, such as `"2%"`, adds replications until intervals are narrow enough.
    """
    _refuse_unknown("compare", unknown)
    chosen = _list("queues", queues)
    if not chosen:
        raise BadValueError(
            'queues: the list is empty; name the queues to compare, such as ["droptail", "codel"], '
            "or run the scenario as it is: sojourn.run(scenario)",
            key="queues",
        )
    scenario = _in_rounds(scenario, warmup, precision)
    return _run(scenario, chosen, replications, None, seed, out, fresh, threads, progress)


def study(
    study: str | os.PathLike[str],
    *,
    replications: int | None = None,
    seed: int | None = None,
    warmup: str | None = None,
    precision: str | float | None = None,
    set: Mapping[str, object] | None = None,
    overrides: Mapping[str, object] | None = None,
    only: Sequence[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    threads: int | None = None,
    client: _Client | str | None = None,
    progress: Progress = False,
    **unknown: NoReturn,
) -> Results:
    """Runs a study: by name, such as `"rrul"`, or that of a TOML file or its folder. `sojourn.list_studies()` lists the names.

    `set` replaces values in every point by path, as `--set` does: `set={"run.duration": "10s"}`; `overrides` is the same. `replications` and
    `seed` replace those of the study, as do `warmup`, a time or `"auto"`, and `precision`, such as `"2%"`. `only` names the experiments to run. With `out`, a result directory is written, and runs that it
    holds are not made again unless `fresh`. With `client`, a `distributed.Client`, the address of a Dask scheduler or `"local"`, the workers of
    that cluster make the runs.
    """
    _refuse_unknown("study", unknown)
    values: list[tuple[str, str, str]] = []
    for keyword, changes in (("overrides", overrides), ("set", set)):
        for place, value in _changes(keyword, changes).items():
            text = _text(value)
            values.append((place, text, f"{keyword}={{{place!r}: {text!r}}}"))
    for name, number, least in (("replications", replications, 1), ("seed", seed, 0)):
        if number is not None:
            whole = _whole(name, number, least)
            values.append((f"run.{name}", str(whole), f"{name}={whole}"))
    for name, given in (("warmup", warmup), ("precision", precision)):
        if given is not None:
            values.append((f"run.{name}", str(given), f"{name}={given!r}"))
    named = path_of("study", study, 'the name of a study, such as "rrul", or the path of its file')
    chosen = [] if only is None else _list("only", only)
    directory = None if out is None else path_of("out", out, "the path of a directory")
    number = _whole_or_none("threads", threads, least=1)
    tell = _teller(progress)
    if client is not None:
        from sojourn import dask

        dask.check(client)
        plan = _core.plan(named, values, only=chosen, out=directory, fresh=fresh)
        return Results(dask.study(plan, client, number, tell))
    core = _core.study(
        named,
        values,
        only=chosen,
        out=directory,
        fresh=fresh,
        threads=number,
        progress=tell,
    )
    return Results(core)


def read(directory: str | os.PathLike[str]) -> Results:
    """The results of a directory that `sojourn study`, `sojourn run --out` or this package has written."""
    return Results(_core.read(path_of("directory", directory, "the path of a result directory")))


@dataclass(frozen=True)
class Rerun:
    """What came of results that were made again."""

    same: bool
    """Something was compared, and all of it is the same to the bit."""
    runs: int
    """Runs that were compared."""
    files: int
    """Files that were compared."""
    differing: list[Path]
    """Files that differ, in the order of the runs."""
    absent: int
    """Runs that the directory does not have."""
    version: str | None
    """The version that wrote the directory, if it is another one than this."""


def rerun(
    directory: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    progress: Progress = False,
) -> Rerun:
    """Runs the results of a directory or bundle again, and compares them with those that are there, bit by bit.

    The manifest holds everything that ran. With `out`, the new results are kept.
    """
    same, runs, files, differing, absent, version = _core.rerun(
        path_of("directory", directory, "the path of a result directory"),
        out=None if out is None else path_of("out", out, "the path of a directory"),
        threads=_whole_or_none("threads", threads, least=1),
        progress=_teller(progress),
    )
    return Rerun(same, runs, files, [Path(file) for file in differing], absent, version)


def replay(
    arrivals: str | os.PathLike[str] | Iterable[Arrival],
    *,
    queue: str,
    rate: str,
    dialect: str | None = None,
    seed: int = 1,
) -> Table:
    """Feeds a recorded arrival process to a queue and returns its decision on every packet.

    Arrivals are a CSV file with the columns time_ns, bytes, flow and ecn, or such tuples.
    """
    path, text = None, ""
    if isinstance(arrivals, (str, os.PathLike)):
        path = os.fspath(arrivals)
    elif not isinstance(arrivals, Iterable):
        raise WrongTypeError(
            f"arrivals: {arrivals!r} is given, but the path of a CSV file or a list of tuples is wanted",
            key="arrivals",
        )
    else:
        rows = (_arrival(number, row) for number, row in enumerate(arrivals))
        text = "\n".join(["time_ns,bytes,flow,ecn", *rows, ""])
    core = _core.replay(
        path, text, queue=queue, rate=rate, dialect=dialect, seed=_whole("seed", seed)
    )
    return Table(core)


def trace_analyse(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    receiver: str | os.PathLike[str] | None = None,
    lenient: bool = False,
    step: str = "1s",
    start: str | None = None,
    stop: str | None = None,
    rates: Mapping[str, str] | None = None,
    horizon: str = "60s",
    tunnels: str = "inner",
) -> Named[Table]:
    """Analyses a trace of ns-2, an ASCII trace of ns-3 or a capture, and returns its tables by name.

    `path` or `receiver` may be `-` for standard input. The tables are those of `sojourn trace analyse`: `trace`, `flows`, `links`,
    `nodes`, `series` and `distributions` of an event trace, `interfaces` and `conversations` of a capture, `paths` of two. With
    `lenient`, what cannot be read is skipped and a warning says how much that was. Of a capture with tunnels, `tunnels` says
    whether the `inner` packets are analysed or the `outer` ones. A warning says where IP headers had no length.
    """
    trace = path_of("path", path, "the path of a trace")
    tables, skipped, remarks = _core.trace_analyse(
        trace,
        format=format,
        lenient=lenient,
        step=step,
        start=start,
        stop=stop,
        rates=[f"{link}={rate}" for link, rate in (rates or {}).items()],
        horizon=horizon,
        receiver=None if receiver is None else path_of("receiver", receiver),
        tunnels=tunnels,
    )
    if skipped:
        warnings.warn(f"{trace}: {skipped} skipped", stacklevel=2)
    for remark in remarks:
        warnings.warn(remark, stacklevel=2)
    return Named({name: Table(table) for name, table in tables}, "table of the trace")


def _in_rounds(
    scenario: ScenarioLike, warmup: str | None, precision: str | float | None
) -> ScenarioLike:
    """The scenario with another warm-up and precision, as far as they are given."""
    given = {"run.warmup": warmup, "run.precision": precision}
    changes = {place: value for place, value in given.items() if value is not None}
    return _scenario(scenario).with_(changes) if changes else scenario


def _run(
    scenario: ScenarioLike,
    queues: Sequence[Queue],
    replications: int | None,
    replication: int | None,
    seed: int | None,
    out: str | os.PathLike[str] | None,
    fresh: bool,
    threads: int | None,
    progress: Progress,
) -> Results:
    chosen = _scenario(scenario)
    core = _core.run(
        chosen.to_json(),
        chosen.name,
        [json.dumps(queue) for queue in queues],
        replications=_whole_or_none("replications", replications, least=1),
        replication=_whole_or_none("replication", replication),
        seed=_whole_or_none("seed", seed),
        out=None if out is None else path_of("out", out, "the path of a directory"),
        fresh=fresh,
        threads=_whole_or_none("threads", threads, least=1),
        progress=_teller(progress),
    )
    return Results(core)


def _list(name: str, given: object) -> list[Any]:
    """An argument that has to be a list."""
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes, Mapping)):
        return list(given)
    example = "..." if given is None else repr(given)
    raise WrongTypeError(f"{name}: a list is wanted, such as [{example}]", key=name)


def _changes(name: str, given: object) -> Mapping[str, object]:
    """The values that a study gets by their paths."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return given
    texts = [given] if isinstance(given, str) else given if isinstance(given, (list, tuple)) else []
    pairs = dict(text.split("=", 1) for text in texts if isinstance(text, str) and "=" in text)
    example = pairs or {"run.duration": "10s"}
    raise WrongTypeError(
        f"{name}: a dict is wanted, not {given!r}; write {name}={example!r}", key=name
    )


def _refuse_unknown(name: str, unknown: Mapping[str, object]) -> None:
    """Refuses keywords that the function `name` of this module does not have."""
    parameters = inspect.signature(globals()[name]).parameters
    allowed = [key for key in parameters if key != "unknown"]
    for keyword in unknown:
        nearest = _core.nearest(keyword, allowed)
        meant = f", did you mean {nearest!r}?" if nearest else ""
        if keyword == "replication":
            meant = (
                "; replications=N sets their number, and sojourn.run(scenario, replication=N) "
                "repeats a single one of a scenario"
            )
        raise UnknownKeyError(
            f"{name}(): unknown keyword {keyword!r}{meant} (allowed: {', '.join(allowed)})",
            key=keyword,
            nearest=nearest,
        )


def _scenario(given: ScenarioLike) -> Scenario:
    """The scenario that is meant; a study is not one."""
    try:
        scenario = as_scenario(given)
    except ResultsIOError:
        # The name of a study names no file.
        if given in (row["name"] for row in list_studies()):
            raise _is_study(str(given), f"sojourn.study({given!r})") from None
        raise
    if "experiment" in scenario:
        file = None if isinstance(given, Mapping) else os.fspath(given)
        remedy = f"sojourn.study({'...' if file is None else repr(file)})"
        raise _is_study(file or scenario.name, remedy)
    return scenario


def _is_study(name: str, remedy: str) -> ContradictionError:
    return ContradictionError(
        f"{name}: this is a study, not a scenario; run it with {remedy}", file=name
    )


def _whole(name: str, value: int, least: int = 0) -> int:
    """An argument that has to be a whole number of 64 bits, so that a mistake has the argument's name."""
    try:
        whole = operator.index(value)
    except TypeError:
        raise WrongTypeError(f"{name}: {value!r} is not a whole number", key=name) from None
    if not least <= whole < 2**64:
        raise BadValueError(
            f"{name}: {whole} is out of range, allowed is {least} to {2**64 - 1}", key=name
        )
    return whole


def _whole_or_none(name: str, value: int | None, least: int = 0) -> int | None:
    return None if value is None else _whole(name, value, least)


def _arrival(number: int, row: Sequence[float]) -> str:
    """A line of a file of arrivals."""
    names = ("time_ns", "bytes", "flow", "ecn")
    cells = []
    if len(row) != len(names):
        raise BadValueError(
            f"arrivals[{number}]: {len(row)} values, but there are {', '.join(names)}",
            key="arrivals",
        )
    for name, value in zip(names, row, strict=True):
        try:
            whole = int(value)
        except (ValueError, OverflowError):
            whole = None
        if whole is None or whole != value:
            raise BadValueError(
                f"arrivals[{number}].{name}: {value!r} is not a whole number",
                key=f"arrivals[{number}].{name}",
            )
        cells.append(str(whole))
    return ",".join(cells)


def _html_table(markdown: str) -> str:
    """A table of Markdown as one of HTML; the colons below the heading say how columns are aligned."""
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    if len(lines) < 2:
        return f"<pre>{html.escape(markdown)}</pre>"
    head, rule, *body = ([cell.strip() for cell in _cells(line)] for line in lines)
    styles = ["text-align: right" if cell.endswith(":") else "text-align: left" for cell in rule]

    def row(cells: list[str], tag: str) -> str:
        parts = [
            f'<{tag} style="{style}">{html.escape(cell)}</{tag}>'
            for cell, style in zip(cells, styles, strict=True)
        ]
        return f"<tr>{''.join(parts)}</tr>"

    rows = "".join(row(cells, "td") for cells in body)
    return f"<table><thead>{row(head, 'th')}</thead><tbody>{rows}</tbody></table>"


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [cell.replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", inner)]


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _teller(progress: Progress) -> Callable[[int, int], object] | None:
    if progress is True:
        return _tell
    if progress and not callable(progress):
        raise WrongTypeError(
            f"progress: {progress!r} is given, but True, False or a function of (done, total) is wanted",
            key="progress",
        )
    return progress or None


def _tell(done: int, total: int) -> None:
    end = "\n" if done == total else ""
    print(f"\r{done} of {total} runs", end=end, file=sys.stderr, flush=True)


def _printable(text: str) -> str:
    """The text as a terminal may print it: without control characters."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f]", lambda found: f"\\u{{{ord(found[0]):x}}}", text)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _object(text: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(text)
    return value
