"""What a reader sees of a report, in a browser: `make report-test`.

Needs Playwright for Python and a Chromium (SOJOURN_CHROMIUM, or one on PATH); skips where one is missing. Without SOJOURN_REPORTS=all one
study is looked at.
"""

from __future__ import annotations

import csv
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


SLIDER_STUDY = """
[study]
answer = { figure = "delay" }
[run]
duration = "4s"
warmup = "1s"
replications = 2
[topology]
rtt = "20ms"
[[flows]]
kind = "reno"
count = 2
[[experiment]]
name = "rates"
[[experiment.factor]]
name = "rate"
title = "Rate"
unit = "Mbps"
path = "topology.rate"
values = ["1Mbps", "5Mbps", "50Mbps"]
[[experiment.factor]]
name = "queue"
title = "Queue"
path = "topology.queue"
values = ["droptail", "codel"]
compare = true
[[figure]]
id = "delay"
kind = "bars"
x = "queue"
series = "queue"
y = "sojourn_s_mean"
slider = "rate"
[[figure]]
id = "share"
kind = "cdf"
slider = "rate"
"""


@pytest.fixture(scope="module")
def slider_file(tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Path:
    import sojourn_binary

    assert browser
    folder = tmp_path_factory.mktemp("slider")
    (folder / "study.toml").write_text(SLIDER_STUDY)
    command = str(sojourn_binary.find())
    for arguments in (["study", "study.toml", "--out", "results"], ["report", "results"]):
        subprocess.run([command, *arguments], check=True, capture_output=True, cwd=folder)
    return folder / "results" / "report.html"


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


def row_of(opened: Opened) -> Any:
    """The figures that open the page, all drawn; skips where there is one or none."""
    row = opened.page.locator(".answer .row .plot")
    if row.count() < 2:
        pytest.skip("this study opens with one figure")
    opened.page.wait_for_function(
        "document.querySelectorAll('.answer .row .plot:not(.drawn)').length === 0"
    )
    return row


@pytest.mark.parametrize("width", WIDTHS)
def test_several_figures_that_answer_stand_in_one_row_under_one_legend(
    page_file: Path, browser: Any, width: int
) -> None:
    with Opened(browser, page_file, width) as opened:
        row = row_of(opened)
        assert opened.overflow() <= 0
        boxes = [plot.bounding_box() for plot in row.all()]
        if width == 1400:
            assert len({round(box["y"]) for box in boxes}) == 1
            assert all(box["y"] + box["height"] <= SCREEN for box in boxes)
            assert opened.bottom(".caveats .notes") <= SCREEN
        assert all(box["height"] >= 150 for box in boxes)
        legend = opened.page.locator(".answer .row .legend button").all_text_contents()
        assert 1 < len(legend) <= 8
        assert row.locator(".role-legend").count() == 0
        # Of each figure a line for each entry, and the same times.
        lines = [plot.locator(".mark-line path").count() for plot in row.all()]
        assert lines == [len(legend)] * row.count()
        times = [plot.locator(".role-axis-label").first.text_content() for plot in row.all()]
        assert len(set(times)) == 1
        assert opened.said == []


def test_rrul_opens_with_download_upload_and_ping(
    request: pytest.FixtureRequest, page_file: Path, browser: Any
) -> None:
    if request.node.callspec.params["page_file"] != "rrul":
        pytest.skip("another study")
    with Opened(browser, page_file, 1400) as opened:
        assert row_of(opened).count() == 3
        names = opened.page.locator(".answer .row figcaption strong").all_text_contents()
        assert names == ["Download over time.", "Upload over time.", "Ping over time."]


def test_a_row_of_figures_is_picked_and_zoomed_together(page_file: Path, browser: Any) -> None:
    with Opened(browser, page_file, 1400) as opened:
        row, page = row_of(opened), opened.page
        faint = "plot => [...plot.querySelectorAll('.mark-line path')].filter((line) => Number(line.getAttribute('opacity') ?? 1) < 1).length"
        entry = page.locator(".answer .row .legend button").nth(1)
        entry.press("Enter")
        assert entry.get_attribute("aria-pressed") == "true"
        lines = row.first.locator(".mark-line path").count()
        for plot in row.element_handles():
            page.wait_for_function(f"plot => ({faint})(plot) === {lines - 1}", arg=plot)
        entry.press("Enter")
        for plot in row.element_handles():
            page.wait_for_function(f"plot => ({faint})(plot) === 0", arg=plot)
        if row.first.get_attribute("data-cursor") != "time":
            return
        labels = "[...document.querySelectorAll('.answer .row .plot')].map((plot) => [...plot.querySelector('.role-axis-label').querySelectorAll('text')].map((text) => text.textContent).sort().join())"
        before = page.evaluate(labels)
        box = row.nth(1).bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.keyboard.down("Alt")
        page.mouse.wheel(0, -400)
        page.keyboard.up("Alt")
        page.wait_for_function(
            f"before => {{ const now = {labels}; return now.every((text) => text === now[0] && text !== before[0]); }}",
            arg=before,
        )
        page.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_function(f"before => String({labels}) === String(before)", arg=before)
        assert opened.said == []


def test_figures_are_drawn_when_they_are_unfolded(page_file: Path, browser: Any) -> None:
    with Opened(browser, page_file, 1400) as opened:
        page = opened.page
        closed = page.locator("details.part:not([open]):has(.plot) > summary").first
        if closed.count() == 0:
            pytest.skip("no figure of this study is folded")
        drawn = page.locator(".plot.drawn").count()
        assert drawn < page.locator(".plot").count()
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


# What a reader sees of a figure: its bars or curves, and the numbers of its axes.
DRAWN = "id => [...document.querySelectorAll(`#figure-${id} .plot .mark-rect path, #figure-${id} .plot .mark-line path`)].map((path) => path.getAttribute('d')).join()"
AXES = "id => [...document.querySelectorAll(`#figure-${id} .plot .role-axis-label text`)].map((text) => text.textContent).join()"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_slider_changes_the_values_and_keeps_the_axes(
    slider_file: Path, browser: Any, width: int, scheme: str
) -> None:
    with Opened(browser, slider_file, width, scheme) as opened:
        opened.unfold()
        assert opened.overflow() <= 0
        page = opened.page
        for name in ("delay", "share"):
            slider = page.locator(f"#figure-{name} .slider")
            handle = slider.locator("input[type=range]")
            assert slider.inner_text().split() == ["Rate:", "5", "Mbps"]
            axes, seen = page.evaluate(AXES, name), []
            handle.focus()
            # The keyboard, from the middle to both ends, and then the pointer.
            for key, level in (("ArrowRight", "50"), ("Home", "1"), ("ArrowRight", "5")):
                page.keyboard.press(key)
                assert slider.locator("output").inner_text() == f"{level} Mbps"
                assert handle.get_attribute("aria-valuetext") == f"{level} Mbps"
                seen.append(page.evaluate(DRAWN, name))
                assert page.evaluate(AXES, name) == axes
            assert len(set(seen)) == 3
            box = handle.bounding_box()
            assert box is not None
            handle.click(position={"x": box["width"] - 4, "y": box["height"] / 2})
            assert slider.locator("output").inner_text() == "50 Mbps"
            assert page.evaluate(DRAWN, name) == seen[0]
        assert opened.said == []


def test_the_buttons_save_the_level_of_the_slider_and_paper_has_the_middle(
    slider_file: Path, browser: Any
) -> None:
    with Opened(browser, slider_file, 1400) as opened:
        page = opened.page
        figure = page.locator("#figure-delay")
        figure.locator(".slider input").focus()
        page.keyboard.press("End")
        saved = {}
        for name in ("SVG", "CSV"):
            with page.expect_download() as download:
                figure.get_by_role("button", name=name).click()
            saved[name] = Path(download.value.path()).read_text()
        assert "Rate: 50 Mbps" in saved["SVG"]
        rows = csv.DictReader(saved["CSV"].splitlines())
        assert {row["slider"] for row in rows} == {"1", "5", "50"}
        remark = figure.locator(".printed")
        assert not remark.is_visible()
        page.emulate_media(media="print")
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert (
            remark.inner_text() == "Shown: rate 5 Mbps; the page has a slider over 1, 5, 50 Mbps."
        )
        assert not figure.locator(".slider").is_visible()
        assert "Rate: 5 Mbps" in figure.locator(".paper").text_content()
