"""What a reader sees of a report, in a browser: `make report-test`.

Needs Playwright for Python and a Chromium (SOJOURN_CHROMIUM, or one on PATH); skips where one is missing. Without SOJOURN_REPORTS=all one
study is looked at.
"""

from __future__ import annotations

import itertools
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

SHORT = ("--replications", "2")
BRIEF = ("--set", "run.duration=8s", "--set", "run.warmup=3s", *SHORT)
STUDIES = {
    "rrul": BRIEF,
    "codel-drr-bandwidth-mtu": ("--set", "run.duration=20s", *SHORT),
    "multicast-aqm": SHORT,
    "queue-disciplines": BRIEF,
    "l4s": ("--replications", "1", "--only", "pairs"),
    "rmcat-wired": ("--only", "5.1,5.5", *SHORT),
}
NAMES = list(STUDIES) if os.environ.get("SOJOURN_REPORTS") == "all" else list(STUDIES)[:1]
WIDTHS = (400, 800, 1400)
# What a printed report has at most while its parts are folded.
PAGES = 6
# The first screen.
SCREEN = 900


@pytest.fixture(scope="module", params=NAMES)
def page_file(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, browser: Any
) -> Path:
    import sojourn_binary

    # A browser is asked for first: without one, nothing runs.
    assert browser
    command = str(sojourn_binary.find())
    kept = os.environ.get("SOJOURN_REPORT_RESULTS")
    out = Path(kept, request.param) if kept else tmp_path_factory.mktemp("report") / "results"
    study = Path(__file__).resolve().parents[2] / "studies" / request.param / "study.toml"
    for arguments in (
        ["study", str(study), *STUDIES[request.param], "--out", str(out)],
        ["report", str(out)],
    ):
        subprocess.run([command, *arguments], check=True, capture_output=True)
    return out / "report.html"


class Opened:
    """A report at one width of the window, and what the console said."""

    def __init__(self, browser: Any, file: Path, width: int, scheme: str = "light") -> None:
        self.context = browser.new_context(
            viewport={"width": width, "height": SCREEN}, color_scheme=scheme
        )
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.page.on(
            "console", lambda text: self.said.append(text.text) if text.type == "error" else None
        )
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.goto(file.as_uri())
        self.page.wait_for_selector(".answer .plot.drawn", timeout=30_000)

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()

    def overflow(self) -> int:
        """Pixels by which the page is wider than the window."""
        wider = "document.scrollingElement.scrollWidth - window.innerWidth"
        return int(self.page.evaluate(wider))

    def unfold(self) -> None:
        """Opens every part, and waits for the figures that are drawn then."""
        self.page.evaluate(
            "for (const fold of document.querySelectorAll('details')) fold.open = true"
        )
        self.page.wait_for_timeout(500)
        for plot in self.page.query_selector_all(".plot"):
            plot.scroll_into_view_if_needed()
            self.page.wait_for_function("plot => plot.classList.contains('drawn')", arg=plot)

    def bottom(self, selector: str) -> float:
        box = self.page.locator(selector).first.bounding_box()
        assert box is not None, f"{selector} is not in sight"
        return float(box["y"] + box["height"])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_no_wider_than_the_window_and_says_no_error(
    page_file: Path, browser: Any, width: int, scheme: str
) -> None:
    with Opened(browser, page_file, width, scheme) as opened:
        assert opened.overflow() <= 0
        opened.unfold()
        assert opened.overflow() <= 0
        assert opened.said == []


def test_the_first_screen_has_question_table_figure_and_remarks(
    page_file: Path, browser: Any
) -> None:
    with Opened(browser, page_file, 1400) as opened:
        page = opened.page
        assert page.locator("h1").inner_text().endswith("?")
        rows = page.locator(".answer figure.table tbody tr:visible").count()
        assert 0 < rows <= 12
        for part in ("h1", ".answer figure.table table", ".answer figure.chart", ".caveats .notes"):
            assert opened.bottom(part) <= SCREEN, part
        assert page.locator(".plot:visible").count() <= 8
        # Each remark has its reason.
        for remark in page.locator(".caveats li").all():
            assert len(remark.locator("div").text_content()) > 20


def test_figures_are_drawn_when_they_are_unfolded(page_file: Path, browser: Any) -> None:
    with Opened(browser, page_file, 1400) as opened:
        page = opened.page
        drawn = page.locator(".plot.drawn").count()
        assert drawn < page.locator(".plot").count()
        closed = page.locator("details.part:not([open]):has(.plot) > summary").first
        plot = closed.locator("xpath=..").locator(".plot").first.element_handle()
        closed.press("Enter")
        # Tables may stand before it, and a figure is drawn when it comes near the screen.
        plot.scroll_into_view_if_needed()
        more = "drawn => document.querySelectorAll('.plot.drawn').length > drawn"
        page.wait_for_function(more, arg=drawn)


def test_tables_sort_from_the_keyboard(page_file: Path, browser: Any) -> None:
    with Opened(browser, page_file, 1400) as opened:
        page = opened.page
        head = page.locator(".answer figure.table th").last
        values = "[...document.querySelectorAll('.answer figure.table tbody tr')].map((row) => Number(row.lastElementChild.dataset.value))"
        for order in ("ascending", "descending"):
            head.locator("button").press("Enter")
            assert head.get_attribute("aria-sort") == order
            found = [value for value in page.evaluate(values) if value == value]
            assert found == sorted(found, reverse=order == "descending")
        head.locator("button").press("Enter")
        assert head.get_attribute("aria-sort") is None


def test_the_index_unfolds_what_it_leads_to(page_file: Path, browser: Any) -> None:
    with Opened(browser, page_file, 1400) as opened:
        page = opened.page
        link = page.locator("nav > ul > li > a").nth(1)
        target = link.get_attribute("href")
        link.press("Enter")
        assert page.locator(f"{target}[open]").count() == 1
        # The first key press leads past the index.
        page.goto(page_file.as_uri())
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"


def test_headings_are_in_order_and_figures_have_names(page_file: Path, browser: Any) -> None:
    with Opened(browser, page_file, 1400) as opened:
        levels = opened.page.evaluate(
            "[...document.querySelectorAll('h1, h2, h3, h4')].map((head) => Number(head.tagName[1]))"
        )
        assert levels.count(1) == 1
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
        unnamed = "[...document.querySelectorAll('.plot, .frame, nav, button')].filter((part) => !part.ariaLabel && !part.textContent.trim()).length"
        assert opened.page.evaluate(unnamed) == 0


def test_what_is_open_prints_on_a_few_pages(page_file: Path, browser: Any) -> None:
    with Opened(browser, page_file, 1400) as opened:
        paper = opened.page.pdf(format="A4", print_background=True)
        pages = len(re.findall(rb"/Type\s*/Page\b(?!s)", paper))
        assert 0 < pages <= PAGES


def test_figures_over_time_share_a_cursor_from_the_keyboard(page_file: Path, browser: Any) -> None:
    with Opened(browser, page_file, 1400) as opened:
        opened.unfold()
        page = opened.page
        # Distributions have cursors of their own.
        timed = page.locator(".plot[data-cursor=time]")
        if timed.count() == 0:
            pytest.skip("no figure over time in this study")
        timed.first.focus()
        for _ in range(30):
            page.keyboard.press("ArrowRight")
        said = [text for text in page.locator(".readout").all_text_contents() if text]
        assert len(said) == timed.count()
        assert len({text.split(" ")[0] for text in said}) == 1
        # A path for each line and not one for each value.
        svg = "[...document.querySelectorAll('.plot[data-cursor] svg')].map((svg) => svg.outerHTML.length)"
        assert max(page.evaluate(svg)) < 300_000
        page.keyboard.press("Escape")
        assert not any(page.locator(".readout").all_text_contents())
