"""Queues and congestion controls of your own, written in Python.

A class that derives from `Aqm`, `Scheduler` or `Control` runs inside the simulator wherever a name can stand: on the
command line (`--queue 'my_module:Mine target=5ms'`, `--flow 'my_module:Mine'`), in TOML files, in studies and in suites.

```python
from sojourn.plugin import DROP, Aqm, Time, parameter


class Mine(Aqm):
    \"\"\"Drops the head of the queue while packets wait longer than the target.\"\"\"

    target: Time = parameter("5ms", low="1us", high="10s", doc="Acceptable wait.")

    def on_dequeue(self, sojourn):
        return DROP if sojourn > self.target else None
```

**Parameters** are class attributes made by `parameter`. Their annotation is the unit: `Time` (seconds), `Rate` (bits per
second), `Size` (bytes), `Packets`, `Ratio` (0 to 1), `int`, `float`, `bool`, `str` or a `Literal` of strings. The methods
see plain numbers in these units.

**Arguments** of the methods are chosen by name: a method lists those that it reads, in any order, and pays for no other.
The documentation of each class lists the names. A class defines only the methods that it needs; the others are not called.

**Random numbers** come from the argument `random`, a stream that belongs to this queue or connection in this run:
`random()` is uniform in [0, 1). Results then have the same bits on every machine and in any number of processes. The
module `random` of Python has one state for the whole process and gives other results each time: do not use it.

Each queue and each connection of each run has an instance of its own. Runs are spread over processes: what a class keeps
outside its instances is not shared.
"""

from __future__ import annotations

import ast
import collections
import dis
import enum
import hashlib
import importlib
import inspect
import json
import os
import sys
import traceback
import types
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

from sojourn._core import Packet, Random
from sojourn.errors import PluginError

__all__ = [
    "DROP",
    "MARK",
    "PASS",
    "Aqm",
    "Control",
    "Limit",
    "Packet",
    "Packets",
    "PluginError",
    "Random",
    "Rate",
    "Ratio",
    "Scheduler",
    "Size",
    "Time",
    "Verdict",
    "parameter",
]


class Time(float):
    """Seconds; `5ms` in a specification."""

    __slots__ = ()


class Rate(int):
    """Bits per second; `10Mbps` in a specification."""

    __slots__ = ()


class Size(int):
    """Bytes; `64kB` in a specification."""

    __slots__ = ()


class Packets(int):
    """A number of packets; `100p` in a specification."""

    __slots__ = ()


class Limit(int):
    """Packets or bytes that a queue holds; `100p` or `64kB` in a specification, and where the link is known `50ms` or `1bdp`."""

    __slots__ = ()


class Ratio(float):
    """A number from 0 to 1; `0.1` or `10%` in a specification."""

    __slots__ = ()


class Verdict(enum.Enum):
    """What becomes of a packet."""

    PASS = "pass"
    """It goes on; returning nothing means the same."""
    DROP = "drop"
    """It is dropped."""
    MARK = "mark"
    """It is marked (ECN) and goes on; a packet that cannot be marked is dropped."""


PASS: Final = Verdict.PASS
DROP: Final = Verdict.DROP
MARK: Final = Verdict.MARK


@dataclass(frozen=True)
class _Parameter:
    default: object
    low: object
    high: object
    doc: str
    source: str


def parameter(
    default: str | float | bool,
    *,
    low: str | float | None = None,
    high: str | float | None = None,
    doc: str = "",
    source: str = "",
) -> Any:
    """Declares a parameter, as the value of an annotated class attribute.

    `default`, `low` and `high` are numbers in the unit of the annotation (seconds, bits per second, bytes, packets) or
    text with a unit, such as `"5ms"`. Both ends of the range are allowed values. `doc` says what it is, for lists and
    reports; `source` says where the default comes from.
    """
    return _Parameter(default, low, high, doc, source)


class Aqm:
    """An active queue management over one FIFO. Derive from it and define the methods that you need.

    `on_enqueue(self, ...)` judges an arriving packet, which is not in the queue yet. `on_dequeue(self, ...)` judges the
    head of the queue when the link is free; it is not in the queue any more. After a drop the next packet is judged at
    the same instant. Both return `PASS` or nothing, `DROP`, or `MARK`. `on_empty(self, ...)` says that the link was
    free and found no packet. `on_tick(self, ...)` is called every `self.tick` seconds, which `__init__` sets.

    Arguments, by name:

    | name | unit | what | in |
    |---|---|---|---|
    | `now` | seconds, float | simulated time | all |
    | `now_ps` | picoseconds, int | the same, exactly | all |
    | `sojourn` | seconds, float | how long the packet waited | `on_dequeue` |
    | `sojourn_ps` | picoseconds, int | the same, exactly | `on_dequeue` |
    | `size` | bytes, int | of the packet, on the wire | `on_enqueue`, `on_dequeue` |
    | `flow` | int | number of the packet's flow | `on_enqueue`, `on_dequeue` |
    | `ecn` | 0 to 3, int | ECN codepoint of the packet; 0 cannot be marked | `on_enqueue`, `on_dequeue` |
    | `dscp` | 0 to 63, int | DSCP of the packet | `on_enqueue`, `on_dequeue` |
    | `packets` | packets, int | that wait, without this one | all but `on_empty` |
    | `bytes` | bytes, int | that wait, without this one | all but `on_empty` |
    | `rate` | bits per second, float | of the link | all but `on_empty` |
    | `head_wait` | seconds, float | how long the head of the queue has waited | `on_enqueue`, `on_tick` |
    | `random` | `Random` | the random stream of this queue | all but `on_empty` |

    Every class has the parameter `limit` (1000 packets unless it declares another default): arrivals beyond it are
    dropped before `on_enqueue` is asked. `STATE` names attributes that time series may record.
    """

    tick: float = 0.0
    """Seconds from one `on_tick` to the next; a class with `on_tick` sets it in `__init__`."""

    STATE: ClassVar[tuple[str, ...]] = ()
    """Names of numeric attributes that time series record as internal state, such as `("probability",)`."""


class Scheduler:
    """A queue that keeps the packets itself. Derive from it and define both methods.

    `enqueue(self, packet, ...)` takes a `Packet` and keeps it where you like: in a list, in one queue per flow. It may
    give it, or others that it keeps, to `self.drop(packet)`. `dequeue(self, ...)` returns the next packet to send.
    It may return nothing only when it keeps no packet, or when the class defines `ready_at(self, ...)`: the time in
    seconds, later than now, at which it has to be asked again.

    Arguments, by name: `packet` (`enqueue`), `now` (seconds, float), `now_ps` (picoseconds, int), `packets` and `bytes`
    (that this scheduler keeps, without `packet`), `rate` (bits per second, of the link), `random` (`Random`).

    Every class has the parameter `limit` (1000 packets unless it declares another default): arrivals beyond it are
    dropped before `enqueue` is called.
    """

    STATE: ClassVar[tuple[str, ...]] = ()
    """As of `Aqm`."""

    def drop(self, packet: Packet) -> None:
        """Drops a packet that this scheduler keeps, or that `enqueue` was just given."""
        raise PluginError("drop() belongs to a run: call it in enqueue or dequeue")

    def mark(self, packet: Packet) -> bool:
        """Marks a packet (ECN); false if it cannot be marked."""
        raise PluginError("mark() belongs to a run: call it in enqueue or dequeue")


class Control:
    """A congestion control of one connection. Derive from it and define the methods that you need.

    Its window is `self.cwnd`, in bytes, and its slow start threshold `self.ssthresh`, in bytes (infinite at first).
    `self.pacing_bps` is the rate at which segments are spaced, in bits per second; `None` sends on acknowledgements.
    `self.mss` is the payload of a full segment, in bytes. Methods change these attributes and return nothing.

    `on_start(self, ...)`: the connection is established, and the window is the initial window. `on_ack(self, ...)`: new data was
    acknowledged outside of loss recovery. `on_loss(self, ...)`: a loss was found, once per window of data.
    `on_ecn(self, ...)`: the receiver echoes a mark, once per window of data. `on_timeout(self, ...)`: the retransmission
    timer fired. A method that the class does not define does what Reno does (RFC 5681); without `on_ecn`, a mark is
    answered as a loss is. A class that asks `on_ack` for `marked` is called while the window falls after a mark as well; the
    window can only fall further then.

    `on_loss` and `on_ecn` may set one of window and threshold: the other becomes the same. The transport repairs losses
    itself; meanwhile the window does not grow and `on_ack` is not called, and afterwards the window is the threshold. A window
    of less than a segment counts as one segment.

    Arguments, by name:

    | name | unit | what | in |
    |---|---|---|---|
    | `now` | seconds, float | simulated time | all |
    | `now_ps` | picoseconds, int | the same, exactly | all |
    | `mss` | bytes, int | payload of a full segment | all |
    | `initial_window` | bytes, int | the window to begin with | `on_start` |
    | `rtt` | seconds, float, or `None` | round-trip time that this acknowledgement measured | `on_start`, `on_ack` |
    | `acked` | bytes, int | acknowledged for the first time | `on_ack` |
    | `in_flight` | bytes, int | still in flight | all but `on_start` |
    | `min_rtt` | seconds, float, or `None` | shortest round-trip time so far | `on_ack` |
    | `srtt` | seconds, float, or `None` | smoothed round-trip time | `on_ack` |
    | `delivery_bps` | bits per second, float, or `None` | delivery rate | `on_ack` |
    | `marked` | bytes, int | that arrived with a mark; asking for it turns ECN on, as DCTCP does | `on_ack` |
    | `random` | `Random` | the stream of this connection | all |
    """

    cwnd: float = 0.0
    ssthresh: float = float("inf")
    pacing_bps: float | None = None
    mss: int = 0

    STATE: ClassVar[tuple[str, ...]] = ()
    """As of `Aqm`."""


_JUDGED = ("size", "flow", "ecn", "dscp")
_QUEUE = ("packets", "bytes", "rate", "random")
_NOW = ("now", "now_ps")
_CONGESTION = (*_NOW, "mss", "in_flight", "random")

# The methods of each kind, and the arguments that each may ask for.
_METHODS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "aqm": {
        "on_enqueue": (*_NOW, *_JUDGED, *_QUEUE, "head_wait"),
        "on_dequeue": (*_NOW, "sojourn", "sojourn_ps", *_JUDGED, *_QUEUE),
        "on_empty": _NOW,
        "on_tick": (*_NOW, *_QUEUE, "head_wait"),
    },
    "scheduler": {
        "enqueue": ("packet", *_NOW, *_QUEUE),
        "dequeue": (*_NOW, *_QUEUE),
        "ready_at": _NOW,
    },
    "control": {
        "on_start": (*_NOW, "mss", "initial_window", "rtt", "random"),
        "on_ack": (
            *_CONGESTION,
            "acked",
            "rtt",
            "min_rtt",
            "srtt",
            "delivery_bps",
            "marked",
        ),
        "on_loss": _CONGESTION,
        "on_ecn": _CONGESTION,
        "on_timeout": _CONGESTION,
    },
}

_NEEDED: Final = {"scheduler": ("enqueue", "dequeue")}

_BASES: Final[dict[str, type]] = {"aqm": Aqm, "scheduler": Scheduler, "control": Control}

_NAMES: Final = (
    "Time, Rate, Size, Packets, Limit, Ratio, int, float, bool, str or a Literal of strings"
)

_folders: list[str] = []
"""Folders of scenario and study files, in which modules are looked for first."""


def _load(name: str, folders: list[str]) -> tuple[type, str]:
    """The class called `module:Class`, and what it declares, in JSON. The engine calls it."""
    module_name, _, class_name = name.partition(":")
    module = _import(name, module_name, folders)
    found = getattr(module, class_name, None)
    place = getattr(module, "__file__", None) or "a module without a file"
    if found is None and getattr(module, "__file__", None) is None:
        # A folder without __init__.py can be imported, and is empty.
        for folder in getattr(module, "__path__", ()):
            if os.path.isfile(os.path.join(folder, f"{module_name}.py")):
                raise PluginError(
                    f"{name}: {module_name} is a folder here, and {module_name}.py is inside it: change to that "
                    f"folder (cd {module_name}), or write {module_name}.{module_name}:{class_name}"
                )
    if not isinstance(found, type):
        # Not those that it imports: a typo should be answered with a class of its own.
        own = [
            key
            for key, value in vars(module).items()
            if isinstance(value, type)
            and value.__module__ == module.__name__
            and issubclass(value, tuple(_BASES.values()))
        ]
        raise PluginError(
            f"{name}: {place} has no class {class_name}{_meant(class_name, own)}"
            + (f" (classes: {', '.join(own)})" if own else "")
        )
    return found, json.dumps(_declare(name, found, module))


def _import(name: str, module_name: str, folders: list[str]) -> types.ModuleType:
    """Imports a module that lies in one of the folders, in the current directory, or where Python looks."""
    places = [*dict.fromkeys([*map(os.path.abspath, folders), os.getcwd()])]
    before = list(sys.path)
    sys.path[:0] = places
    importlib.invalidate_caches()
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name + ".").startswith(error.name + "."):
            near = sorted(
                {
                    entry[:-3]
                    for place in places
                    if os.path.isdir(place)
                    for entry in os.listdir(place)
                    if entry.endswith(".py") and not entry.startswith("_")
                }
            )
            raise PluginError(
                f"{name}: there is no module {module_name}{_meant(module_name, near)} "
                f"(looked in {', '.join(places)}, then where Python looks, PYTHONPATH included)"
            ) from None
        raise PluginError(f"{name}: {_traceback(error)}") from None
    except Exception as error:
        raise PluginError(f"{name}: {_traceback(error)}") from None
    finally:
        # What it imports later is found, too, but hides nothing of Python's own.
        sys.path[:] = [*before, *(place for place in places if place not in before)]


def _declare(name: str, cls: type, module: types.ModuleType) -> dict[str, Any]:
    """What a class declares."""
    kinds = [kind for kind, base in _BASES.items() if issubclass(cls, base)]
    if len(kinds) != 1 or cls in _BASES.values():
        raise PluginError(
            f"{name}: a class that derives from one of sojourn.plugin.Aqm, Scheduler and Control is wanted"
        )
    kind = kinds[0]
    state = getattr(cls, "STATE", ())
    if not (isinstance(state, tuple) and all(isinstance(entry, str) for entry in state)):
        raise PluginError(f"{name}: STATE has to be a tuple of names of attributes")
    return {
        "kind": kind,
        "title": cls.__name__,
        "doc": inspect.cleandoc(cls.__doc__ or "")
        if cls.__doc__ is not _BASES[kind].__doc__
        else "",
        "parameters": list(_parameters(name, cls)),
        "methods": _methods(name, cls, kind),
        "state": list(state),
        "paces": kind == "control" and _mentions(cls, "pacing_bps"),
        "sha256": _sha256(module),
        "file": getattr(module, "__file__", None) or "",
        # A class of a notebook or of standard input cannot be imported by another process.
        "importable": module.__name__ != "__main__" and bool(getattr(module, "__file__", None)),
    }


def _mentions(cls: type, name: str) -> bool:
    """Whether a class or a method of it says this name, so that it has to be looked at after each call."""

    def in_code(code: types.CodeType) -> bool:
        inner = (const for const in code.co_consts if isinstance(const, types.CodeType))
        return name in code.co_names or name in code.co_consts or any(map(in_code, inner))

    own = [base for base in cls.__mro__ if base not in (*_BASES.values(), object)]
    return any(name in vars(base) for base in own) or any(
        in_code(value.__code__)
        for base in own
        for value in vars(base).values()
        if inspect.isfunction(value)
    )


def _sha256(module: types.ModuleType) -> str:
    """The checksum of the file of a module, with those of the modules that it imports from its folder; empty without a file."""
    file = getattr(module, "__file__", None)
    if not file:
        return ""
    # The folder of the file, or of the outermost package.
    place = Path(file).resolve().parents[module.__name__.count(".")]
    sources: dict[str, bytes] = {}
    waiting = [module]
    while waiting:
        one = waiting.pop()
        own = getattr(one, "__file__", None)
        if not own or not (path := Path(own).resolve()).is_relative_to(place):
            continue
        if one.__name__ in sources or "site-packages" in path.parts:
            continue
        try:
            sources[one.__name__] = path.read_bytes()
        except OSError:
            continue
        waiting += _imported(one, sources[one.__name__])
    if len(sources) < 2:
        return hashlib.sha256(next(iter(sources.values()), b"")).hexdigest() if sources else ""
    checksums = [f"{name} {hashlib.sha256(sources[name]).hexdigest()}" for name in sorted(sources)]
    return hashlib.sha256("\n".join(checksums).encode()).hexdigest()


def _imported(module: types.ModuleType, source: bytes) -> Iterator[types.ModuleType]:
    """The modules that import statements anywhere in a module name, and the packages that these are in."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    package = module.__package__ or ""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            base = ".".join(parts[: len(parts) - node.level + 1]) if node.level else ""
            origin = ".".join(filter(None, (base, node.module)))
            names.add(origin)
            names.update(f"{origin}.{alias.name}" for alias in node.names)
    for name in sorted(names):
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            found = sys.modules.get(".".join(parts[:end]))
            if isinstance(found, types.ModuleType):
                yield found


def _methods(name: str, cls: type, kind: str) -> list[tuple[str, list[str]]]:
    """The methods that a class defines, each with the names of its arguments."""
    allowed = _METHODS[kind]
    known = [*allowed, *(entry for entry in dir(_BASES[kind]) if not entry.startswith("_"))]
    for entry in vars(cls):
        if entry.startswith("on_") and entry not in allowed:
            raise PluginError(
                f"{name}: {entry} is none of the methods of {_BASES[kind].__name__}"
                f"{_meant(entry, known)} (methods: {', '.join(allowed)})"
            )
    methods: list[tuple[str, list[str]]] = []
    for method, names in allowed.items():
        function = inspect.getattr_static(cls, method, None)
        if function is None:
            continue
        if not inspect.isfunction(function):
            raise PluginError(f"{name}: {method} is not a method: write def {method}(self, ...)")
        methods.append((method, _arguments(f"{name}: {method}", function, names)))
    for method in _NEEDED.get(kind, ()):
        if method not in dict(methods):
            raise PluginError(f"{name}: the method {method} is missing; a Scheduler needs it")
    return methods


def _arguments(place: str, function: Callable[..., Any], names: tuple[str, ...]) -> list[str]:
    """The names of the arguments of a method, without `self`."""
    _, *asked = inspect.signature(function).parameters.values()
    for argument in asked:
        if argument.kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD:
            raise PluginError(
                f"{place}: {argument} is not a plain argument; list the names that the method reads: {', '.join(names)}"
            )
        if argument.name not in names:
            raise PluginError(
                f"{place}: unknown argument {argument.name!r}{_meant(argument.name, names)} (arguments: {', '.join(names)})"
            )
    return [argument.name for argument in asked]


def _parameters(name: str, cls: type) -> Iterator[dict[str, Any]]:
    """The parameters of a class, those of its bases first."""
    try:
        hints = typing.get_type_hints(cls)
    except Exception as error:
        raise PluginError(f"{name}: an annotation cannot be read: {error}") from None
    declared: dict[str, _Parameter] = {}
    for base in reversed(cls.__mro__):
        declared.update(
            {key: value for key, value in vars(base).items() if isinstance(value, _Parameter)}
        )
    for key, value in declared.items():
        place = f"{name}: parameter {key}"
        kind, choices = _kind(place, hints.get(key), value.default)
        yield {
            "name": key,
            "kind": kind,
            "choices": choices,
            "default": _text(place, kind, value.default),
            "low": "" if value.low is None else _text(place, kind, value.low),
            "high": "" if value.high is None else _text(place, kind, value.high),
            "doc": value.doc or f"Parameter of {cls.__name__}.",
            "source": value.source or name,
        }


def _kind(place: str, hint: Any, default: object) -> tuple[str, list[str]]:
    """The kind of a parameter, and its words if it is one of a few."""
    kinds: dict[Any, str] = {
        Time: "time",
        Rate: "rate",
        Size: "size",
        Packets: "packets",
        Limit: "limit",
        Ratio: "ratio",
        int: "integer",
        float: "number",
        bool: "flag",
        str: "text",
    }
    if hint is None and not isinstance(default, str):
        hint = type(default)
    if typing.get_origin(hint) is Literal:
        words = typing.get_args(hint)
        if all(isinstance(word, str) for word in words):
            return "choice", list(words)
    if hint in kinds:
        return kinds[hint], []
    raise PluginError(f"{place}: its annotation has to be {_NAMES}")


def _text(place: str, kind: str, value: object) -> str:
    """A value as text with its unit."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, int | float):
        raise PluginError(f"{place}: a number or a text is wanted, not {value!r}")
    units = {"time": "s", "rate": "bps", "size": "B", "packets": "p"}
    number = f"{value:.12f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    return number + units.get(kind, "")


def _meant(given: str, names: typing.Iterable[str]) -> str:
    from sojourn._core import nearest

    found = nearest(given, list(names))
    return f", did you mean {found!r}?" if found else ""


def _traceback(error: BaseException) -> str:
    """An exception as Python prints it, without the frames of this package."""
    here = os.path.dirname(__file__)
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(("<frozen", here))
        and os.path.basename(os.path.dirname(frame.filename)) != "importlib"
    ]
    beside = os.path.join(os.getcwd(), "")
    for frame in frames:
        # The line is looked up by the name.
        if frame.line and frame.filename.startswith(beside):
            frame.filename = os.path.relpath(frame.filename)
    lines = traceback.format_exception_only(type(error), error)
    if frames:
        lines = ["Traceback (most recent call last):\n", *traceback.format_list(frames), *lines]
    return "".join(lines).rstrip()


def _unread(cls: type) -> list[tuple[str, str]]:
    """The arguments that methods ask for and do not read, as pairs of method and argument."""
    kind = next(kind for kind, base in _BASES.items() if issubclass(cls, base))
    unread = []
    for method in _METHODS[kind]:
        function = inspect.getattr_static(cls, method, None)
        if not inspect.isfunction(function):
            continue
        read: set[object] = set(function.__code__.co_cellvars)
        for step in dis.get_instructions(function):
            # Some versions of Python read two at once.
            read.update(step.argval if isinstance(step.argval, tuple) else [step.argval])
        _, *asked = inspect.signature(function).parameters
        unread += [(method, name) for name in asked if name not in read]
    return unread


def _instance(cls: Any, values: dict[str, Any]) -> Any:
    """An instance with its parameters set, before and after its `__init__`."""
    made = cls.__new__(cls)
    for key, value in values.items():
        setattr(made, key, value)
    made.__init__()
    return made


def _footprint(instance: object) -> int:
    """Bytes of everything that an instance and its class keep, each object once.

    What it sees: attributes, slots, and what containers hold. What it does not see: globals of the module, what closures and
    objects of C keep and `sys.getsizeof` does not count. Packets, code and modules are left out.
    """
    skip = (
        Packet,
        type,
        types.ModuleType,
        types.FunctionType,
        types.BuiltinFunctionType,
        types.MethodType,
    )
    own = [base for base in type(instance).__mro__ if base not in (*_BASES.values(), object)]
    shared = (
        value
        for base in own
        for key, value in vars(base).items()
        if not key.startswith("__") and not isinstance(value, _Parameter)
    )
    waiting: list[object] = [instance, *shared]
    seen: set[int] = set()
    total = 0
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, skip):
            continue
        seen.add(id(thing))
        total += sys.getsizeof(thing, 0)
        if isinstance(thing, dict):
            waiting += [*thing.keys(), *thing.values()]
        elif isinstance(thing, list | tuple | set | frozenset | collections.deque):
            waiting += thing
        waiting += [
            getattr(thing, slot)
            for base in type(thing).__mro__
            for slot in _slots(base)
            if hasattr(thing, slot)
        ]
        attributes = getattr(thing, "__dict__", None)
        if isinstance(attributes, dict):
            waiting.append(attributes)
    return total


def _slots(cls: type) -> tuple[str, ...]:
    """The names in `__slots__` of a class, which may be one string."""
    slots = vars(cls).get("__slots__", ())
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))


def _interrupt(threads: list[int]) -> None:
    """Has the threads that run a class raise `KeyboardInterrupt` at their next step in Python."""
    import ctypes

    for thread in threads:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt)
        )
