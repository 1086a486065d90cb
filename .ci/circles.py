"""Finds circles between the modules of a crate.

A module is a file. Module A refers to module B where a path in the code of A (`use` or elsewhere, below `crate::`,
`super::`, `self::` or the name of a submodule) leads to an item of B's file. Not counted are:

- what `#[cfg(test)]` stands before, since tests may look at everything;
- what a file declares or passes on of its submodules: `mod part;`, `pub use part::Item;`. A path through such a
  `pub use` leads to the file that has the item;
- methods, which no path names: a submodule may add an `impl` to a type of its parent, which then calls it.

So a parent either composes its submodules, which then do not refer to it, or is what they have in common, and then
does not refer to them. A circle is a set of modules each of which leads to every other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

Module = tuple[str, ...]

NOT_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|b?r(?P<hashes>\#*)".*?"(?P=hashes)|b?"(?:\\.|[^"\\])*"|b?'(?:\\.[^']*|[^'\\])'""",
    re.S,
)
USE = re.compile(r"(?P<pub>\bpub(?:\([^)]*\))?\s+)?\buse\s+(?P<tree>[^;]+);")
CHILD = re.compile(r"\bmod\s+(\w+)\s*;")
PATH = re.compile(r"(?<![\w:$])((?:\$?crate|super|self|\w+)(?:\s*::\s*\w+)+)")
TEST = re.compile(r"#\[cfg\((?:test|all\(test\b[^\]]*)\)\]\s*")


def code(source: str) -> str:
    """The source without comments, texts and what is for tests alone."""
    source = NOT_CODE.sub(lambda found: '""' if '"' in found[0][:4] else " ", source)
    kept, rest = "", source
    while found := TEST.search(rest):
        kept += rest[: found.start()]
        rest = rest[end_of_item(rest, found.end()) :]
    return kept + rest


def end_of_item(source: str, start: int) -> int:
    """Where the item that begins at `start` ends: behind its braces, or its semicolon if it has none."""
    depth = 0
    for at in range(start, len(source)):
        letter = source[at]
        if letter in "{([":
            depth += 1
        elif letter in "})]":
            depth -= 1
            if depth == 0 and letter == "}":
                # A `use` with braces ends with its semicolon.
                end = re.compile(r"\s*;").match(source, at + 1)
                return end.end() if end else at + 1
        elif letter == ";" and depth == 0:
            return at + 1
    return len(source)


def leaves(tree: str) -> Iterator[tuple[str, str]]:
    """The paths of a `use` tree, and the names that they get."""
    tree = tree.strip()
    if "{" in tree:
        head, inner = tree.split("{", 1)
        inner = inner.rsplit("}", 1)[0]
        depth, part = 0, ""
        for letter in inner + ",":
            if letter == "," and depth == 0:
                if part.strip():
                    for path, name in leaves(part):
                        yield head.strip() + path, name
                part = ""
                continue
            depth += {"{": 1, "}": -1}.get(letter, 0)
            part += letter
        return
    path, _, name = (part.strip() for part in tree.partition(" as "))
    if path.endswith("::self"):
        path = path.removesuffix("::self")
    yield path, name or path.rsplit("::", 1)[-1]


class Crate:
    """The modules of a crate, and which refer to which."""

    def __init__(self, src: Path) -> None:
        self.files: dict[Module, Path] = {}
        for path in sorted(src.rglob("*.rs")):
            parts = path.relative_to(src).with_suffix("").parts
            if parts == ("main",):
                continue
            module = () if parts == ("lib",) else parts
            self.files[module[:-1] if module and module[-1] == "mod" else module] = path
        self.code = {
            module: code(path.read_text(encoding="utf-8")) for module, path in self.files.items()
        }
        # What a module passes on: the name, and the path that it stands for.
        self.passed_on: dict[Module, dict[str, list[str]]] = {module: {} for module in self.files}
        for module, text in self.code.items():
            for use in USE.finditer(text):
                for leaf, name in leaves(use["tree"]):
                    if use["pub"]:
                        self.passed_on[module][name] = leaf.split("::")
        self.edges = {
            module: {target for target in self.referred(module) if target != module}
            for module in self.files
        }

    def absolute(self, module: Module, path: list[str]) -> list[str] | None:
        """The path from the root of the crate; None if it leads to another crate."""
        head = path[0].strip()
        rest = [part.strip() for part in path[1:]]
        if head in ("crate", "$crate"):
            return rest
        if head == "self":
            return [*module, *rest]
        if head == "super":
            base = list(module[:-1])
            while rest and rest[0] == "super":
                base, rest = base[:-1], rest[1:]
            return [*base, *rest]
        if (*module, head) in self.files:
            return [*module, head, *rest]
        return None

    def target(self, path: list[str], seen: frozenset[tuple[Module, str]] = frozenset()) -> Module:
        """The module that has what the path names."""
        module: Module = ()
        for at, part in enumerate(path):
            if (*module, part) in self.files:
                module = (*module, part)
                continue
            onward = self.passed_on[module].get(part)
            if onward is not None and (module, part) not in seen:
                absolute = self.absolute(module, onward)
                if absolute is not None:
                    return self.target([*absolute, *path[at + 1 :]], seen | {(module, part)})
            break
        return module

    def referred(self, module: Module) -> Iterator[Module]:
        text = self.code[module]
        for use in USE.finditer(text):
            for path, _ in leaves(use["tree"]):
                parts = path.split("::")
                absolute = self.absolute(module, parts)
                if absolute is None:
                    continue
                target = self.target(absolute)
                if use["pub"] and target[: len(module)] == module:
                    continue
                yield target
        for found in PATH.finditer(USE.sub(" ", text)):
            absolute = self.absolute(module, re.split(r"\s*::\s*", found[1]))
            if absolute is not None:
                yield self.target(absolute)

    def name(self, module: Module) -> str:
        return "::".join(module) or "lib"

    def circles(self) -> list[list[Module]]:
        """The sets of modules each of which leads to every other; Tarjan's algorithm."""
        return sorted(sorted(c) for c in components(self.edges) if len(c) > 1)


def components(edges: dict[Module, set[Module]]) -> Iterable[list[Module]]:
    index: dict[Module, int] = {}
    low: dict[Module, int] = {}
    stack: list[Module] = []
    on_stack: set[Module] = set()
    found: list[list[Module]] = []

    def visit(node: Module) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        for other in sorted(edges[node]):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in on_stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            component = []
            while True:
                last = stack.pop()
                on_stack.discard(last)
                component.append(last)
                if last == node:
                    break
            found.append(component)

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return found
