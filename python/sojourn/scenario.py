"""Scenarios: what a TOML file says, built from keywords.

    >>> import sojourn
    >>> scenario = sojourn.dumbbell(
    ...     rate="10Mbps", rtt="40ms", buffer="100p", queue="codel", flows=["4*reno", "cbr 2Mbps"]
    ... )
    >>> scenario["topology"]["rate"]
    '10Mbps'

Keys, units, defaults and ranges are declared once, in the engine; here they are only put in their places. A builder and `with_` check at
once: a wrong keyword or value is an error in the line where it is written, with the nearest valid name.
"""

from __future__ import annotations

import copy
import html
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypedDict

from sojourn import _core
from sojourn.errors import (
    BadValueError,
    ContradictionError,
    ResultsIOError,
    UnknownKeyError,
    WrongTypeError,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "Drawing",
    "Flow",
    "Queue",
    "Scenario",
    "ScenarioLike",
    "as_scenario",
    "chain",
    "dumbbell",
    "graph",
    "load",
    "parking_lot",
]

Queue: TypeAlias = str | Mapping[str, Any]
"""A queue: `"codel target=5ms"`, or `{"kind": "codel", "target": "5ms"}`."""

Flow: TypeAlias = str | Mapping[str, Any]
"""Flows of one kind: `"4*reno"`, `"cbr 2Mbps"`, or `{"kind": "reno", "count": 4}`."""


# No value, where None is one.
_ABSENT: Final = object()


class Drawing:
    """The picture of a topology; a notebook shows it.

    `svg` is its text, and `save` writes it to a file.
    """

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the picture as SVG; returns the file."""
        file = Path(path_of("path", path, "the path of an SVG file"))
        if file.suffix.lower() != ".svg":
            raise BadValueError(
                f"{file}: the picture is SVG; name a file that ends with .svg", file=str(file)
            )
        try:
            file.write_text(self.svg, encoding="utf-8")
        except OSError as error:
            raise ResultsIOError(
                f"{file}: cannot write the picture: {error.strerror}; free space or choose another directory",
                file=str(file),
            ) from error
        return file

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return self.svg

    def __str__(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<sojourn.Drawing: {len(self.svg)} characters of SVG>"


class Scenario(Mapping[str, Any]):
    """A scenario, not yet resolved: the tables and keys that differ from the defaults.

    It is a mapping that does not change; `with_` returns a copy that differs. Equal scenarios run the same.
    """

    def __init__(self, tables: Mapping[str, Any], *, name: str = "scenario") -> None:
        if not isinstance(tables, Mapping):
            raise WrongTypeError(
                f"Scenario: {tables!r} is given, but a dict is wanted; sojourn.load(PATH) reads a file"
            )
        self._tables = _plain(tables, "")
        series = self._tables.get("series")
        if isinstance(series, dict):
            _refuse_list("series.record", series.get("record"))
        self.name = str(self._tables.get("name") or name)

    def __getitem__(self, key: str) -> Any:
        value: Any = copy.deepcopy(self._tables[key])
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        return self._tables == dict(other)

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __repr__(self) -> str:
        topology = self._tables.get("topology")
        kind = topology.get("kind", "dumbbell") if isinstance(topology, dict) else "dumbbell"
        parts = [str(kind)]
        if isinstance(topology, dict):
            parts += [f"{key}={_short(value)}" for key, value in topology.items() if key != "kind"]
        flows = self._tables.get("flows")
        if isinstance(flows, list):
            parts.append(f"flows=[{', '.join(map(_short, flows))}]")
        run = self._tables.get("run")
        if isinstance(run, dict):
            parts += [f"{key}={_short(value)}" for key, value in run.items()]
        return f"<sojourn.Scenario {self.name!r}: {', '.join(parts)}>"

    def __str__(self) -> str:
        return self.to_toml()

    def _repr_html_(self) -> str:
        title = html.escape(self.name)
        return f"<p><strong>Scenario {title}</strong></p><pre>{html.escape(self.to_toml())}</pre>"

    def with_(self, path: str | Mapping[str, object], value: object = _ABSENT) -> Scenario:
        """A copy in which `path`, such as `"topology.rate"` or `"flows[0].count"`, is `value`; checked at once.

        Several values that only fit together are given as a dict: `with_({"run.warmup": "10s", "run.duration": "60s"})`.
        """
        if isinstance(path, Mapping):
            changes = dict(path)
        elif value is _ABSENT:
            raise WrongTypeError(
                f"with_({path!r}): a value is wanted, too; write with_({path!r}, VALUE)", key=path
            )
        else:
            changes = {path: value}
        for place, changed in changes.items():
            if not isinstance(place, str):
                raise WrongTypeError(
                    f'with_({place!r}): a path such as "topology.rate" or a dict is wanted'
                )
            if place == "series.record":
                _refuse_list(place, changed)
            elif place == "series" and isinstance(changed, Mapping):
                _refuse_list("series.record", changed.get("record"))
        values = [
            (place, json.dumps(_plain_value(changed, place))) for place, changed in changes.items()
        ]
        return Scenario(json.loads(_core.set_values(self.to_json(), self.name, values)))

    def resolve(self) -> Scenario:
        """The scenario with every parameter and its value, as a run's manifest states it; checks it on the way."""
        return Scenario(json.loads(_core.resolve(self.to_json(), self.name)))

    def draw(self) -> Drawing:
        """The picture of its topology: nodes, links with rate, delay and queue, flows as coloured arrows."""
        return Drawing(_core.draw(self.to_json(), self.name))

    def to_dict(self) -> dict[str, Any]:
        """The tables as plain dicts and lists."""
        return copy.deepcopy(self._tables)

    def to_json(self) -> str:
        """The tables as JSON."""
        return json.dumps(self._tables)

    def to_toml(self) -> str:
        """The scenario as the text of a file that `sojourn run` reads."""
        return _core.to_toml(self.to_json(), self.name)


ScenarioLike: TypeAlias = Scenario | Mapping[str, Any] | str | os.PathLike[str]
"""A scenario, its tables as a dict, or the path of its file."""


def load(path: str | os.PathLike[str]) -> Scenario:
    """The scenario of a TOML file."""
    file = path_of("path", path, "the path of a TOML file")
    # Results and messages are UTF-8; a path need not be.
    name = os.fsencode(Path(file).stem).decode(errors="replace")
    return Scenario(json.loads(_core.read_toml(file)), name=name)


def as_scenario(given: ScenarioLike) -> Scenario:
    """The scenario that is meant."""
    if isinstance(given, Scenario):
        return given
    if isinstance(given, Mapping):
        return Scenario(given)
    return load(path_of("scenario", given, "a Scenario, a dict or the path of a TOML file"))


def path_of(name: str, given: object, wanted: str = "a path") -> str:
    """The text of a path, or the error that says which argument is none."""
    if not isinstance(given, (str, os.PathLike)):
        raise WrongTypeError(f"{name}: {given!r} is given, but {wanted} is wanted", key=name)
    return os.fspath(given)


class Common(TypedDict, total=False):
    """Keywords of every builder: the keys of `[run]`, and the other tables of a scenario.

    `record="backlog,sojourn"` is short for `series={"record": "backlog,sojourn"}`.
    """

    name: str
    title: str
    description: str
    dialect: str
    duration: str
    warmup: str
    seed: int
    replications: int
    precision: str
    precision_of: str
    max_duration: str
    max_replications: int
    ties: str
    streams: str
    start_spread: str
    deterministic: bool
    eager: bool
    flows: Sequence[Flow]
    wire: Mapping[str, Any]
    groups: Sequence[Mapping[str, Any]]
    members: Sequence[Mapping[str, Any]]
    impairments: Sequence[Mapping[str, Any]]
    opportunities: Sequence[Mapping[str, Any]]
    changes: Sequence[Mapping[str, Any]]
    series: Mapping[str, Any]
    record: str


class Dumbbell(Common, total=False):
    """Keywords of `dumbbell`: those of every builder, and the keys of `[topology]`."""

    rate: str
    reverse_rate: str
    rtt: str
    bottleneck_delay: str
    access_delay: str
    access_rate: str
    buffer: str
    queue: Queue
    reverse_queue: Queue
    access_queue: Queue
    pairs: int


class ParkingLot(Common, total=False):
    """Keywords of `parking_lot`: those of every builder, and the keys of `[topology]`."""

    hops: int
    rate: str
    delay: str
    access_rate: str
    access_delay: str
    buffer: str
    queue: Queue
    reverse_queue: Queue
    access_queue: Queue
    end_to_end: int


class Chain(Common, total=False):
    """Keywords of `chain`: those of every builder, and the keys of `[topology]`."""

    hops: int
    rate: str
    delay: str
    buffer: str
    queue: Queue
    reverse_queue: Queue


class Graph(Common, total=False):
    """Keywords of `graph`: those of every builder, and the links, each with the keys of `[[links]]`."""

    links: Sequence[Mapping[str, Any]]


def dumbbell(**keywords: Unpack[Dumbbell]) -> Scenario:
    """Two routers and the bottleneck between them, hosts on both sides.

    `sojourn.dumbbell(rate="10Mbps", rtt="40ms", buffer="100p", queue="codel", flows=["4*reno", "cbr 2Mbps"])`
    """
    return _build("dumbbell", Dumbbell, keywords)


def parking_lot(**keywords: Unpack[ParkingLot]) -> Scenario:
    """Routers in a row with a bottleneck between each two.

    `sojourn.parking_lot(hops=3, rate="10Mbps", delay="10ms", queue="codel", flows=["4*reno"])`
    """
    return _build("parking_lot", ParkingLot, keywords)


def chain(**keywords: Unpack[Chain]) -> Scenario:
    """Nodes in a line, without hosts of their own.

    `sojourn.chain(hops=2, rate="10Mbps", delay="5ms", flows=["cbr 2Mbps"])`
    """
    return _build("chain", Chain, keywords)


def graph(**keywords: Unpack[Graph]) -> Scenario:
    """Links one by one; flows name their nodes with `from` and `to`.

    `sojourn.graph(links=[{"from": "a", "to": "b", "rate": "1Mbps"}], flows=[{"kind": "reno", "from": "a", "to": "b"}])`
    """
    return _build("graph", Graph, keywords)


# Where a keyword goes; what is in neither is a key of [topology], and checked as such.
_TOP = ("name", "title", "description", "dialect")
_RUN = (
    "duration",
    "warmup",
    "seed",
    "replications",
    "precision",
    "precision_of",
    "max_duration",
    "max_replications",
    "ties",
    "streams",
    "start_spread",
    "deterministic",
    "eager",
)
_TABLES = (
    "flows",
    "groups",
    "members",
    "links",
    "wire",
    "impairments",
    "opportunities",
    "changes",
    "series",
)


_LISTS = ("flows", "groups", "members", "links", "impairments", "opportunities", "changes")


def _build(kind: str, declared: type, keywords: Mapping[str, object]) -> Scenario:
    allowed = sorted(declared.__annotations__)
    for key in keywords:
        if key not in allowed:
            nearest = _core.nearest(key, allowed)
            meant = f", did you mean {nearest!r}?" if nearest else ""
            raise UnknownKeyError(
                f"{kind}(): unknown keyword {key!r}{meant} (allowed: {', '.join(allowed)})",
                key=key,
                nearest=nearest,
            )
    given = _with_record(kind, _plain(keywords, ""))
    for key in _LISTS:
        if isinstance(given.get(key, []), (str, Mapping)):
            raise WrongTypeError(f"{key}: a list is wanted, such as [{given[key]!r}]", key=key)
    places = {key: f"{_table_of(key)}{key}" for key in given}
    whole: dict[str, Any] = {"topology": {"kind": kind}}
    for key, value in given.items():
        table = _table_of(key).removesuffix(".")
        (whole.setdefault(table, {}) if table else whole)[key] = value
    # In the order of a file.
    ordered = {key: whole[key] for key in (*_TOP, "run", "topology", *_TABLES) if key in whole}
    scenario = Scenario(ordered)
    arguments = []
    for key, value in given.items():
        items = enumerate(value) if key in _LISTS else ()
        arguments += [
            (f"{places[key]}[{i}]", f"{kind}({key}[{i}]={_short(item)})") for i, item in items
        ]
        if key not in _LISTS:
            arguments.append((places[key], f"{kind}({key}={_short(value)})"))
    if "record" in keywords:
        arguments.append(("series.record", f"{kind}(record={_short(keywords['record'])})"))
    _core.check(scenario.to_json(), scenario.name, arguments)
    return scenario


def _with_record(kind: str, given: dict[str, Any]) -> dict[str, Any]:
    """The keywords with `record` in `series`."""
    if "record" not in given:
        return given
    series = given.get("series", {})
    if not isinstance(series, dict):
        raise WrongTypeError(
            f'{kind}(series={_short(series)}): a dict is wanted, such as {{"step": "100ms"}}',
            key="series",
        )
    _refuse_list(f"{kind}(record=...)", given["record"])
    if "record" in series:
        raise ContradictionError(
            f"{kind}(): record is given twice; remove record= or the record in series=",
            key="series.record",
        )
    rest = {key: value for key, value in given.items() if key != "record"}
    return {**rest, "series": {**series, "record": given["record"]}}


def _refuse_list(place: str, record: object) -> None:
    """`record` is one text in files and options, too."""
    if isinstance(record, Sequence) and not isinstance(record, str):
        text = ",".join(map(str, record)) or "backlog,sojourn"
        raise WrongTypeError(
            f'{place}: a list is given, but a text is wanted; write "{text}"', key="series.record"
        )


def _table_of(key: str) -> str:
    """The table that a keyword is a key of, with its dot; what stands at the top has none."""
    if key in _RUN:
        return "run."
    return "" if key in _TOP or key in _TABLES else "topology."


def _short(value: object) -> str:
    """A value in a line."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _plain(table: Mapping[str, object], where: str) -> dict[str, Any]:
    """A deep copy in dicts and lists, without keys that are None."""
    return {
        str(key): _plain_value(value, f"{where}.{key}" if where else str(key))
        for key, value in table.items()
        if value is not None
    }


def _plain_value(value: object, where: str) -> Any:
    if isinstance(value, Mapping):
        return _plain(value, where)
    if isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Sequence):
        return [_plain_value(item, f"{where}[{i}]") for i, item in enumerate(value)]
    kind = type(value).__name__
    raise WrongTypeError(
        f"{where}: a text, a number, a table or a list is wanted, not {kind}", key=where
    )
