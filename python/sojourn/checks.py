"""Whether an algorithm has the properties that every queue and congestion control of Sojourn has."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from sojourn import _core
from sojourn.errors import WrongTypeError

__all__ = ["Check", "Property", "check"]


@dataclass(frozen=True)
class Property:
    """A property, and what came of it."""

    name: str
    """Its name, such as `starvation`: what `skip` takes."""
    claim: str
    """What it claims, such as "no flow starves under overload"."""
    verdict: Literal["passed", "failed", "not-asked"]
    """Whether it holds."""
    reason: str = ""
    """Why it was not asked."""
    seen: str = ""
    """What was seen in the smallest case in which it does not hold, with the numbers and their units."""
    required: str = ""
    """What the property requires, with the numbers and their units."""
    example: dict[str, Any] = field(default_factory=dict)
    """The smallest case. Its `kind` says which keys it has: `arrivals` (rows of nanoseconds, bytes, flow, ECN codepoint), `scenario`
    (`toml`) or `steps`."""


@dataclass(frozen=True)
class Check:
    """What came of a check. It is true if every property that was asked holds; as text it is what the command prints."""

    algorithm: str
    """What was checked."""
    kind: Literal["queue", "cc"]
    """A queue or a congestion control."""
    properties: list[Property]
    """Every property, in the order in which they were asked."""
    text: str = field(repr=False)
    """What the command prints."""

    @property
    def failed(self) -> list[Property]:
        """The properties that do not hold."""
        return [own for own in self.properties if own.verdict == "failed"]

    def __bool__(self) -> bool:
        return not self.failed

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


def check(
    algorithm: str,
    *,
    kind: Literal["queue", "cc"] | None = None,
    skip: Iterable[str] = (),
    progress: Callable[[int, int], object] | None = None,
) -> Check:
    """Checks that a queue or congestion control has the properties that those of Sojourn have.

    `algorithm` is a name with parameters: `"codel ecn=true"`, or a class of Python, `"my_module:Mine target=3ms"`. `kind` is needed
    where a name is both a queue and a congestion control. `skip` names properties that are not asked. `progress` is called with
    the number of properties that were asked, and of all.

    A class that raises ends the check with a `PluginError`.

        assert sojourn.check("my_module:Mine"), "see sojourn check my_module:Mine"
    """
    if not isinstance(algorithm, str):
        raise WrongTypeError(
            f"algorithm: {algorithm!r} is given, but a text is wanted, such as 'my_module:Mine'",
            key="algorithm",
        )
    names = [skip] if isinstance(skip, str) else list(skip)
    made, text = _core.check_properties(algorithm, kind=kind, skip=names, progress=progress)
    told = json.loads(made)
    properties = [
        Property(
            name=own["property"],
            **{key: value for key, value in own.items() if key != "property"},
        )
        for own in told["properties"]
    ]
    return Check(told["checked"], told["kind"], properties, text)
