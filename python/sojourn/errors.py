"""What can go wrong, one class per kind.

Every class derives from `SojournError` and, where one fits, from the built-in class of the same meaning, so that
`except ValueError` and `except KeyError` do what one expects.
"""

from __future__ import annotations

import re

__all__ = [
    "BadValueError",
    "ContradictionError",
    "FileSyntaxError",
    "ForeignResultsError",
    "MissingKeyError",
    "MissingLibraryError",
    "PluginError",
    "ResultsIOError",
    "RunFailedError",
    "SojournError",
    "UnknownKeyError",
    "UnknownNameError",
    "UnreachableError",
    "WrongTypeError",
]


class SojournError(Exception):
    """The base of every error of this package.

    `file`, `line` and `key` say where the mistake is, as far as that is known; `nearest` is the valid name that was
    probably meant. The message holds all of them and the remedy.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        key: str | None = None,
        nearest: str | None = None,
    ) -> None:
        message = _with_functions(message)
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.key = key
        self.nearest = nearest

    def __str__(self) -> str:
        # KeyError would print the message in quotes.
        return self.message


# What messages of the engine advise, which speak of the command.
_LIST = re.compile(
    r"\bsojourn list( (?:congestion|figures|flows|metrics|queues|sources|studies|topologies))?\b"
)
_SHOW = re.compile(r"\bsojourn show ([a-z0-9_]+)")
_OPTION = re.compile(r"^--(only|set)\b")


def _with_functions(message: str) -> str:
    """The message with this package's functions and arguments beside or instead of the command's."""

    def listing(found: re.Match[str]) -> str:
        family = found[1]
        if family is None:
            return f"{found[0]} (sojourn.list_queues() and others)"
        return f"{found[0]} (sojourn.list_{family.strip()}())"

    message = _LIST.sub(listing, message)
    message = _SHOW.sub(r'\g<0> (sojourn.show("\1"))', message)
    return _OPTION.sub(r"\1", message)


class FileSyntaxError(SojournError, ValueError):
    """The text is not TOML."""


class UnknownKeyError(SojournError, KeyError):
    """A key that nothing reads."""


class MissingKeyError(SojournError, KeyError):
    """A key that has to be given is not."""


class ContradictionError(SojournError, ValueError):
    """Two things that exclude each other, or the same thing twice."""


class WrongTypeError(SojournError, TypeError):
    """A value of another type, such as a table where a rate is wanted."""


class BadValueError(SojournError, ValueError):
    """A value that cannot be read, lacks its unit or is out of range."""


class UnknownNameError(SojournError, KeyError):
    """An algorithm, dialect, node, link, metric, series, column, figure or study that does not exist."""


class UnreachableError(SojournError, ValueError):
    """A destination that cannot be reached, or a graph in pieces."""


class ResultsIOError(SojournError, OSError):
    """A file or directory that cannot be read or written."""


class ForeignResultsError(SojournError, ValueError):
    """A result directory that belongs to another study or version."""


class PluginError(SojournError, RuntimeError):
    """A class that was written outside Sojourn cannot be used, raised an exception, or answered what is not allowed. The message holds the traceback and the simulated time."""


class RunFailedError(SojournError, RuntimeError):
    """A run that failed: a bug of Sojourn. The message holds scenario, seed, version and simulated time."""


class MissingLibraryError(SojournError, ImportError):
    """A library that only this needs, and that is not installed; the message has the command that installs it."""
