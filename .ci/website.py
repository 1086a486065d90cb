"""Builds the documentation site from the pages of the repository: `make site`.

1. Gathers README.md, docs/, studies/*/README.md, the notebooks and the pages about the code into a directory, with the
   same paths. Links to what the site does not have lead to the repository; a link that leads nowhere is an error.
2. docs/index.md gives the navigation: its headings, and its links in their order.
3. Sphinx makes HTML of it; warnings are errors. Nothing is loaded from a network when the site is read.
4. Every link and picture of the HTML is followed; addresses on the web are checked for their form only.
5. Where `make page` has built the live page beside the site, a copy of it goes into the folder `live`. The pages of queues and
   congestion controls then offer their figures live.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import gallery
import sitewords
from sitelinks import html_problems

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
PARTS = Path(__file__).resolve().parent / "site"
INDEX = "docs/index.md"
FRONT = "README.md"
REPOSITORY = "https://github.com/sojourn-sim/sojourn"

# Folders that have a page in the site.
FOLDERS = {"studies": "docs/studies.md", "notebooks": "docs/notebooks.md", "docs": INDEX}
FOLDERS["docs/how-to"] = INDEX

FENCE = re.compile(r"^(```+)[^\n]*\n.*?^\1$", re.M | re.S)
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
HEADING = re.compile(r"^## (.+)$", re.M)
STYLE = re.compile(r"<style[^>]*>.*?</style>", re.S)


class SiteError(Exception):
    """What keeps the site from being built."""


def sources(root: Path = ROOT) -> list[str]:
    """The pages of the site, as paths in the repository."""
    patterns = ["*.md", "docs/**/*.md", "studies/*/README.md", "notebooks/*.ipynb"]
    found = {path for pattern in patterns for path in root.glob(pattern)}
    return sorted(path.relative_to(root).as_posix() for path in found)


def place_of(source: str) -> str:
    """Where a page lies in the site, before it becomes HTML."""
    if source == FRONT:
        return "index.md"
    return re.sub(r"\.ipynb$", ".md", source)


def docname(source: str) -> str:
    return place_of(source).removesuffix(".md")


def relative(place: str, page: str) -> str:
    """The path from one page to another place, both from the root."""
    return os.path.relpath(place, os.path.dirname(page) or ".").replace(os.sep, "/")


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """A text with a change to everything but its fenced blocks."""
    parts, position = [], 0
    for match in FENCE.finditer(text):
        parts += [change(text[position : match.start()]), match[0]]
        position = match.end()
    return "".join([*parts, change(text[position:])])


def target_of(source: str, link: str) -> str:
    """What a relative link of a page refers to: a path from the root of the repository."""
    return os.path.normpath(os.path.join(os.path.dirname(source), link)).replace(os.sep, "/")


def page_at(target: str, pages: Sequence[str]) -> str | None:
    """The page that stands for a file or a folder."""
    for candidate in (target, f"{target}/README.md", FOLDERS.get(target, "")):
        if candidate in pages:
            return candidate
    return None


def with_links(text: str, source: str, pages: Sequence[str], root: Path = ROOT) -> str:
    """A page with its links as they are in the site."""

    def changed(match: re.Match[str]) -> str:
        link, hash_, part = match[2].partition("#")
        if not link or re.match(r"[a-z]+:", link):
            return match[0]
        target = target_of(source, link)
        if not (root / target).exists():
            raise SiteError(f"{source}: the link to {match[2]} leads nowhere")
        page = page_at(target, pages)
        if page is not None:
            place = relative(place_of(page), place_of(source))
        elif target.startswith("docs/images/"):
            place = relative(target, place_of(source))
        else:
            kind = "tree" if (root / target).is_dir() else "blob"
            place = f"{REPOSITORY}/{kind}/main/{target}"
        return f"{match[1]}{place}{hash_}{part}{match[3]}"

    return outside_code(text, lambda prose: LINK.sub(changed, prose))


def linked(text: str, source: str, pages: Sequence[str]) -> list[str]:
    """The pages that a text links, in order, each once."""
    found: dict[str, None] = {}
    for match in LINK.finditer(FENCE.sub("", text)):
        link = match[2].partition("#")[0]
        if link and not re.match(r"[a-z]+:", link):
            page = page_at(target_of(source, link), pages)
            if page is not None and page != source:
                found[page] = None
    return list(found)


def toctree(entries: Sequence[str], caption: str | None = None) -> str:
    """A list of pages for the navigation, which the page itself does not show."""
    head = [":hidden:"] + ([f":caption: {caption}"] if caption else [])
    lines = "\n".join([*head, "", *(f"/{docname(entry)}" for entry in entries)])
    return f"\n```{{toctree}}\n{lines}\n```\n"


def sections(text: str) -> Iterator[tuple[str, str]]:
    """The headings of the second level, and what is below each."""
    parts = HEADING.split(text)
    yield from zip(parts[1::2], parts[2::2], strict=True)


def children(config: dict[str, dict[str, str]], texts: dict[str, str]) -> dict[str, list[str]]:
    """The pages below a page: those that it links, in its order."""
    below = {}
    for page, pattern in config["children"].items():
        matching = re.compile(re.escape(pattern).replace(r"\*", "[^/]+"))
        wanted = [source for source in texts if matching.fullmatch(source)]
        first = [source for source in linked(texts[page], page, list(texts)) if source in wanted]
        below[page] = first + [source for source in wanted if source not in first]
    return below


def navigation(below: dict[str, list[str]], texts: dict[str, str]) -> str:
    """The toctrees of the front page: a caption for each heading of the index."""
    pages = list(texts)
    seen = {FRONT, INDEX, *(child for entries in below.values() for child in entries)}
    parts = []
    for heading, text in sections(texts[INDEX]):
        entries = [page for page in linked(text, INDEX, pages) if page not in seen]
        seen.update(entries)
        parts.append(toctree(entries, heading) if entries else "")
    missing = sorted(set(pages) - seen)
    if missing:
        raise SiteError(f"{INDEX} links no page {', '.join(missing)}")
    return toctree([INDEX]) + "".join(parts)


def output_of(cell: dict[str, object], name: str, folder: Path) -> Iterator[str]:
    """The outputs of a notebook's cell in Markdown; pictures become files of the folder."""
    outputs = cell.get("outputs", [])
    assert isinstance(outputs, list)
    for number, output in enumerate(outputs):
        data = output.get("data", {})
        if "image/svg+xml" in data:
            picture = folder / f"{name}-{cell['id']}-{number}.svg"
            picture.write_text("".join(data["image/svg+xml"]), encoding="utf-8")
            yield f"![Output]({picture.name})"
        elif "text/html" in data:
            table = STYLE.sub("", "".join(data["text/html"]))
            yield f'````{{raw}} html\n<div class="output">\n{table}\n</div>\n````'
        else:
            text = "".join(output.get("text") or data.get("text/plain", ""))
            yield f"```text\n{text.rstrip()}\n```"


def notebook(content: str, name: str, folder: Path) -> str:
    """A notebook in Markdown."""
    parts = []
    for number, cell in enumerate(json.loads(content)["cells"]):
        cell.setdefault("id", str(number))
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text)
        elif cell["cell_type"] == "code":
            parts += [f"```python\n{text}\n```", *output_of(cell, name, folder)]
    return "\n\n".join(parts) + "\n"


def pictures_of(source: str) -> str:
    """The gallery's pictures of a study, for its page."""
    study = Path(source).parent.name
    ours = [picture for picture in gallery.pictures() if picture.study == study]
    if not source.startswith("studies/") or not ours:
        return ""
    parts = ["\n## Pictures\n"]
    for picture in ours:
        parts.append(f"\n**{picture.question}**\n\n{picture.shown('../../docs/')}")
        parts.append(f"\n```sh\n{picture.commands}\n```\n")
    return "".join(parts)


def gather(folder: Path) -> None:
    """Writes what Sphinx reads."""
    config = tomllib.loads((PARTS / "pages.toml").read_text(encoding="utf-8"))
    shutil.rmtree(folder, ignore_errors=True)
    texts = {}
    for source in sources():
        text = (ROOT / source).read_text(encoding="utf-8")
        (folder / place_of(source)).parent.mkdir(parents=True, exist_ok=True)
        if source.endswith(".ipynb"):
            text = notebook(text, Path(source).stem, folder / "notebooks")
        texts[source] = text + pictures_of(source)
    for kind in ("keywords", "rank", "children"):
        for page in config[kind]:
            if page not in texts:
                raise SiteError(f".ci/site/pages.toml: [{kind}]: no page {page}")
    below = children(config, texts)
    ends = {page: toctree(entries) for page, entries in below.items()}
    ends[FRONT] = navigation(below, texts)
    for source, text in texts.items():
        page = with_links(text, source, list(texts)) if source.endswith(".md") else text
        keywords = ", ".join(config["keywords"].get(source, []))
        matter = f'---\nmyst:\n  html_meta:\n    keywords: "{keywords}"\n---\n' if keywords else ""
        target = folder / place_of(source)
        target.write_text(matter + page + ends.get(source, ""), encoding="utf-8")
    shutil.copytree(ROOT / "docs" / "images", folder / "docs" / "images")
    by_name = {
        kind: {docname(page): value for page, value in config[kind].items()}
        for kind in ("keywords", "rank")
    }
    described = sitewords.described({docname(s): text for s, text in texts.items()}, by_name)
    write_parts(folder, described)


def write_parts(folder: Path, pages: dict[str, object]) -> None:
    """The configuration, the style and the ranking of the search."""
    (folder / "_static").mkdir()
    shutil.copyfile(PARTS / "conf.py", folder / "conf.py")
    for name in ("site.css", "favicon.svg", "live.js"):
        shutil.copyfile(PARTS / name, folder / "_static" / name)
    script = (PARTS / "search.js").read_text(encoding="utf-8")
    described = json.dumps(pages, ensure_ascii=False, separators=(",", ":"))
    (folder / "search.js").write_text(script.replace('"@PAGES@"', described), encoding="utf-8")


def version() -> str:
    content = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    return str(content["workspace"]["package"]["version"])


def build(folder: Path, out: Path) -> None:
    """Runs Sphinx, with warnings as errors.

    Sphinx keeps what it read in a cache next to the pages; a fresh build reads all.
    """
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", "-E"]
    command += ["-d", str(folder.parent / f"{folder.name}-cache"), str(folder), str(out)]
    environment = {**os.environ, "SITE_VERSION": version(), "SITE_REPOSITORY": f"{REPOSITORY}/"}
    if subprocess.run(command, check=False, env=environment).returncode != 0:
        raise SiteError("Sphinx refused the pages; its warnings are above")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="the site; removed first")
    options = parser.parse_args(arguments)
    out: Path = options.out.resolve()
    try:
        gather(out.parent / f"{out.name}-pages")
        build(out.parent / f"{out.name}-pages", out)
    except SiteError as error:
        print(f"site: {error}", file=sys.stderr)
        return 1
    problems = list(html_problems(out))
    for problem in problems:
        print(f"site: {problem}", file=sys.stderr)
    pages = len(list(out.rglob("*.html")))
    page = out.parent / "page"
    if (page / "embed.html").is_file():
        shutil.copytree(page, out / "live")
    else:
        (out / "_static" / "live.js").write_text("// No live page.\n", encoding="utf-8")
    print(f"site: {pages} pages in {options.out}, {len(problems)} broken links")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
