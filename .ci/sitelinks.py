"""Follows the links of a site in HTML, and looks for what a browser would load from a network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser loads when it shows a page, by element and attribute.
LOADED = {("img", "src"), ("script", "src"), ("link", "href"), ("source", "src"), ("iframe", "src")}
WEB = re.compile(r"https?://[\w.-]+\.[a-z]{2,}(?::\d+)?(?:[/?#]\S*)?", re.I)


class Page(HTMLParser):
    """The links of a page and the places in it that links may name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[tuple[str, str]] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.places.add(value)
            elif name in ("href", "src") and value is not None:
                self.links.append((tag, value))
                if (tag, name) in LOADED:
                    self.loaded.append(value)


def problem_of(link: str, path: Path, root: Path, pages: dict[Path, Page]) -> str | None:
    """Why a link of the page at `path` is wrong, if it is."""
    parts = urlsplit(link)
    if parts.scheme in ("http", "https"):
        return None if WEB.fullmatch(link) else "is no address on the web"
    if parts.scheme:
        return None if parts.scheme in ("mailto", "data") else f"has the scheme {parts.scheme}"
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_relative_to(root):
        return "leaves the site"
    if not target.is_file():
        return "leads nowhere"
    place = unquote(parts.fragment)
    if place and target in pages and place not in pages[target].places:
        return f"names a place that {target.relative_to(root).as_posix()} does not have"
    return None


def html_problems(root: Path) -> Iterator[str]:
    """Every broken link of a site, and everything that it would load from a network."""
    root = root.resolve()
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(root.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(root).as_posix()
        for link in page.loaded:
            if urlsplit(link).netloc:
                yield f"{name}: loads {link} from a network"
        for _, link in page.links:
            problem = problem_of(link, path, root, pages)
            if problem is not None:
                yield f"{name}: the link {link} {problem}"
