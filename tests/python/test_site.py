"""The documentation site: its pages lead somewhere, its search finds what users type, and it fits a telephone.

`make site-test` installs what the build and the browser need; without them, their tests are skipped.
"""

from __future__ import annotations

import functools
import http.server
import importlib.util
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gallery
import sitelinks
import sitewords
import website

# What a user types, and pages: one has to be among the first three results.
SEARCHES = [
    ("codel", ["docs/reference/queues/codel"]),
    ("bufferbloat", ["docs/bufferbloat"]),
    ("buffer", ["docs/bufferbloat", "docs/start/class"]),
    ("latency", ["docs/bufferbloat", "docs/metrics"]),
    ("bandwidth", ["studies/codel-drr-bandwidth-mtu/README", "docs/how-to/vary-a-link"]),
    ("ns-2", ["docs/how-to/repeat-an-ns2-run"]),
    ("polars", ["docs/start/data-analysis", "docs/how-to/use-python"]),
    ("install", ["index"]),
    ("csv", ["docs/how-to/read-results", "docs/how-to/write-a-report"]),
    ("fair queueing", ["docs/reference/queues", "docs/reference/queues/wfq"]),
    ("cubic", ["docs/reference/congestion/cubic"]),
    ("wireshark", ["docs/how-to/analyse-a-trace"]),
    ("router", ["docs/start/access-line"]),
]
# One page of each kind, and those with the widest tables and examples.
PAGES = [
    "index.html",
    "docs/index.html",
    "docs/tutorial.html",
    "docs/gallery.html",
    "docs/studies.html",
    "docs/start/access-line.html",
    "docs/how-to/use-a-queue-elsewhere.html",
    "docs/reference/scenario.html",
    "docs/reference/queues/red.html",
    "notebooks/compare-queues.html",
    "studies/rrul/README.html",
    "studies/red-droptail-ten-nodes/README.html",
    "CHANGELOG.html",
    "search.html?q=codel",
]


def test_a_link_leads_to_a_page_of_the_site_or_to_the_repository() -> None:
    pages = website.sources()
    text = "[a](../studies) [b](../README.md#use) [c](../Cargo.toml) [d](https://x.org) [e](#here)"
    assert website.with_links(text, "docs/tutorial.md", pages) == (
        "[a](studies.md) [b](../index.md#use) "
        f"[c]({website.REPOSITORY}/blob/main/Cargo.toml) [d](https://x.org) [e](#here)"
    )


def test_a_link_that_leads_nowhere_is_refused() -> None:
    with pytest.raises(website.SiteError, match=r"docs/a\.md: the link to b\.md leads nowhere"):
        website.with_links("[b](b.md)", "docs/a.md", ["docs/a.md"])


def test_examples_keep_what_looks_like_a_link() -> None:
    text = "```text\n[b](b.md)\n```\n"
    assert website.with_links(text, "docs/a.md", []) == text


def test_a_page_that_the_index_does_not_link_is_refused() -> None:
    texts = {website.FRONT: "", website.INDEX: "## Learn\n[a](a.md)\n", "docs/a.md": ""}
    assert ":caption: Learn\n\n/docs/a\n" in website.navigation({}, texts)
    with pytest.raises(website.SiteError, match=r"docs/index\.md links no page docs/b\.md"):
        website.navigation({}, {**texts, "docs/b.md": ""})


def test_every_page_is_gathered_and_the_study_pages_have_their_pictures(tmp_path: Path) -> None:
    website.gather(tmp_path / "pages")
    for source in website.sources():
        assert (tmp_path / "pages" / website.place_of(source)).is_file(), source
    published = (tmp_path / "pages/studies/multicast-aqm/README.md").read_text(encoding="utf-8")
    assert "../../docs/images/gallery/multicast-aqm.delay.svg" in published


def test_the_words_that_tell_a_page_from_the_others_weigh_most() -> None:
    texts = {"a": "# Ants\n\nAnts walk. The rest.", "b": "# Bees\n\nBees fly. The rest."}
    described = sitewords.described(texts, {"keywords": {}, "rank": {"b": -1}})
    assert described["a"] == {
        "about": "Ants walk.",
        "keywords": [],
        "rank": 0,
        "words": {"ants": sitewords.HIGHEST, "walk": 5},
    }


def test_broken_links_and_loads_from_a_network_are_found(tmp_path: Path) -> None:
    (tmp_path / "b.html").write_text('<p id="there">', encoding="utf-8")
    (tmp_path / "a.html").write_text(
        '<a href="b.html#there"></a><a href="b.html#not"></a><a href="c.html"></a>'
        '<a href="https://example.org/x">.</a><a href="https://example">.</a>'
        '<script src="https://example.org/x.js"></script>',
        encoding="utf-8",
    )
    assert list(sitelinks.html_problems(tmp_path)) == [
        "a.html: loads https://example.org/x.js from a network",
        "a.html: the link b.html#not names a place that b.html does not have",
        "a.html: the link c.html leads nowhere",
        "a.html: the link https://example is no address on the web",
    ]


def test_the_gallery_has_a_picture_a_question_and_a_command_for_each_entry() -> None:
    assert list(gallery.problems()) == []
    pictures = gallery.pictures()
    assert len(pictures) >= 12
    page = gallery.page()
    for picture in pictures:
        assert picture.question.endswith("?")
        assert f"```sh\n{picture.commands}\n```" in page


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site that `make site` built, or a new one."""
    if "SOJOURN_SITE" in os.environ:
        return Path(os.environ["SOJOURN_SITE"])
    for module in ("sphinx", "myst_parser", "furo"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed; `make site-test` installs it")
    out = tmp_path_factory.mktemp("site") / "site"
    assert website.main(["--out", str(out)]) == 0
    return out


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Where a plain server has the site."""

    class Silent(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    handler = functools.partial(Silent, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def results_of(page: Any, base: str, words: str) -> list[str]:
    """The pages that the search box finds, in its order."""
    page.goto(f"{base}/index.html")
    page.fill("input[name=q]", words)
    page.press("input[name=q]", "Enter")
    page.wait_for_selector("ul.search li a")
    links = [link.get_attribute("href") for link in page.query_selector_all("ul.search li > a")]
    return [link.split("?")[0].split("#")[0].removesuffix(".html") for link in links]


@pytest.mark.parametrize("place", ["server", "file"])
def test_the_search_finds_a_fitting_page_in_its_first_three_results(
    site: Path, address: str, browser: Any, place: str
) -> None:
    base = address if place == "server" else site.as_uri()
    page = browser.new_page()
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text))
    for words, fitting in SEARCHES:
        first = results_of(page, base, words)[:3]
        assert set(first) & set(fitting), f"{words}: {first}"
    assert errors == []
    page.close()


@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_the_window_and_load_nothing_from_a_network(
    address: str, browser: Any, width: int, scheme: str
) -> None:
    window = {"width": width, "height": 900}
    page = browser.new_page(viewport=window, color_scheme=scheme)
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.on(
        "request",
        lambda request: (
            None if request.url.startswith((address, "data:")) else problems.append(request.url)
        ),
    )
    for name in PAGES:
        answer = page.goto(f"{address}/{name}")
        assert answer.status == 200, name
        beyond = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert beyond <= 0, f"{name}: {beyond} pixels wider than {width}"
        broken = page.evaluate(
            "[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
        )
        assert broken == [], name
    assert problems == []
    page.close()


def test_reference_pages_offer_their_figures_live(site: Path, address: str, browser: Any) -> None:
    if not (site / "live" / "embed.html").is_file():
        pytest.skip("the site has no live page: run make page, then make site")
    page = browser.new_page()
    for family, name, shown in [("queues", "codel", "CoDel"), ("congestion", "bbr", "bbr-1")]:
        page.goto(f"{address}/docs/reference/{family}/{name}.html")
        page.get_by_role("button", name="Run it live").click()
        stage = page.frame_locator(".live-frame").locator(".stage")
        stage.get_by_text(shown).first.wait_for()
        # The still figure stays.
        assert page.locator(f"article img[src$='{name}.svg']").count() == 1
    page.close()
