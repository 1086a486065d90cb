"""Animations: the nam file of a run against its tables, opened by nam under Xvfb, and Sojourn's own page in a browser.

nam needs nam, Xvfb, xwd and xdotool (Debian: apt-get install nam xvfb x11-apps xdotool). The page needs Playwright and a Chromium, as
test_report_page.py does. A test skips where one is missing.
"""

from __future__ import annotations

import collections
import contextlib
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

DUMBBELL = """
[run]
duration = "4s"
warmup = "0s"
deterministic = true

[topology]
rate = "2Mbps"
rtt = "60ms"
queue = "droptail limit=20p"

[[flows]]
spec = "2*reno"

[[flows]]
spec = "cbr 300kbps"
"""
STUDY = Path(__file__).resolve().parents[2] / "studies" / "red-droptail-ten-nodes" / "study.toml"
GRAPH = (str(STUDY), "--set", "run.duration=3s", "--set", "run.warmup=0s")
# Which events each packet may have at a link, one after the other.
STORIES = re.compile(r"\+(d|-(h(r|d)?)?)?")
# Starts of nam until it runs.
STARTS = 8

# Tk 8.6 reads its files with an option that nam's own command does not know.
SHIM = """\
proc source {args} {
    if {[lindex $args 0] eq "-encoding"} { set args [lrange $args 2 end] }
    uplevel source.orig $args
}
set ::tk_library %(tk)s
uplevel #0 [list source.orig %(tk)s/tk.tcl]
"""
WIDTHS = (400, 800, 1400)
# The colour of nam's canvas.
CANVAS = b"\xe5\xe5\xe5"


@pytest.fixture(scope="module")
def place(command: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the traces of a dumbbell and of a graph, and the table of the dumbbell's run."""
    directory = tmp_path_factory.mktemp("nam")
    (directory / "lab.toml").write_text(DUMBBELL)
    table = subprocess.run(
        [command, "run", "lab.toml", "--trace", "nam", "dumbbell.nam", "--format", "json"],
        check=True, capture_output=True, text=True, cwd=directory,
    )  # fmt: skip
    (directory / "table.json").write_text(table.stdout)
    subprocess.run(
        [command, "run", *GRAPH, "--trace", "nam", "graph.nam"],
        check=True, capture_output=True, cwd=directory,
    )  # fmt: skip
    return directory


def flags(line: str) -> dict[str, str]:
    """The flags of a line, with values in quotes or braces as they stand."""
    found = re.findall(r'-(\w) ("[^"]*"|\{[^}]*\}|\S+)', line)
    return dict(found)


@pytest.mark.parametrize("name", ["dumbbell", "graph"])
def test_the_file_keeps_the_grammar(place: Path, name: str) -> None:
    lines = (place / f"{name}.nam").read_text().splitlines()
    assert lines[0] == "V -t * -v 1.0a5 -a 0"
    nodes, links, colours, last = set(), set(), set(), 0.0
    stories: dict[tuple[str, str, str], str] = collections.defaultdict(str)
    for line in lines:
        kind, found = line[0], flags(line)
        if kind == "n":
            nodes.add(found["s"])
        elif kind == "l":
            assert {found["s"], found["d"]} <= nodes, line
            assert float(found["r"]) > 0, line
            assert float(found["D"]) >= 0, line
            assert re.fullmatch(r"\d+\.\ddeg", found["o"]), line
            links |= {(found["s"], found["d"]), (found["d"], found["s"])}
        elif kind == "q":
            assert (found["s"], found["d"]) in links, line
        elif kind == "c":
            colours.add(found["i"])
        elif kind in "+-hrd":
            assert float(found["t"]) >= last, line
            last = float(found["t"])
            assert (found["s"], found["d"]) in links, line
            assert found["a"] in colours, line
            assert int(found["e"]) > 0, line
            story = (found["s"], found["d"], found["i"])
            stories[story] += kind
            assert STORIES.fullmatch(stories[story]), line
        else:
            assert kind in "VAv", line
    assert len(stories) > 100


def test_the_file_counts_what_the_run_counts(place: Path) -> None:
    results = json.loads((place / "table.json").read_text())["results"]
    values = {row["metric"]: row["value"] for row in results}
    events: collections.Counter[str] = collections.Counter()
    carried = 0
    for line in (place / "dumbbell.nam").read_text().splitlines():
        found = flags(line)
        if line[0] in "+-hrd" and (found["s"], found["d"]) == ("0", "1"):
            events[line[0]] += 1
            carried += int(found["e"]) if line[0] == "-" else 0
    assert events["d"] > 0
    assert values["drop_rate_pps"] * 4 == pytest.approx(events["d"])
    assert values["utilization_ratio"] == pytest.approx(carried * 8 / (4 * 2e6), rel=0.02)
    assert events["-"] == events["h"] >= events["r"]


@pytest.fixture(scope="module")
def display(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of an X server without a screen, with which nam starts."""
    for program in ("nam", "Xvfb", "xwd", "xdotool"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed: apt-get install nam xvfb x11-apps xdotool")
    tk = next(iter(sorted(Path("/usr/share/tcltk").glob("tk8.*"))), None)
    if tk is None:
        pytest.skip("there is no /usr/share/tcltk/tk8.*")
    shim = tmp_path_factory.mktemp("tk")
    (shim / "tk.tcl").write_text(SHIM % {"tk": tk})
    reader, writer = os.pipe()
    # Without -noreset it would begin anew whenever its last client leaves.
    screen = ("-noreset", "-screen", "0", "1000x800x24", "-displayfd", str(writer))
    with subprocess.Popen(
        ["Xvfb", *screen], pass_fds=[writer], stderr=subprocess.DEVNULL
    ) as server:
        os.close(writer)
        number = os.read(reader, 16).decode().strip()
        os.close(reader)
        yield {**os.environ, "DISPLAY": f":{number}", "TK_LIBRARY": str(shim)}
        server.send_signal(signal.SIGTERM)


def drawn(shot: bytes) -> int:
    """Black pixels between grey ones of nam's canvas, in a picture of the screen as xwd writes it."""
    header, width, height, stride = (
        struct.unpack_from(">I", shot, at)[0] for at in (0, 16, 20, 48)
    )
    colours = struct.unpack_from(">I", shot, 76)[0]
    start = header + 12 * colours
    count = 0
    for row in range(height):
        line = shot[start + row * stride : start + row * stride + 4 * width]
        pixels = [line[at : at + 3] for at in range(0, len(line), 4)]
        canvas = [at for at, pixel in enumerate(pixels) if pixel == CANVAS]
        if len(canvas) > 50:
            count += pixels[canvas[0] : canvas[-1]].count(b"\0\0\0")
    return count


def started(file: Path, display: dict[str, str]) -> subprocess.Popen[str]:
    """nam with a file. About one start in three ends at once with the words "nam: "."""
    for _ in range(STARTS):
        nam = subprocess.Popen(
            ["nam", file.name], cwd=file.parent, env=display, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            nam.wait(timeout=2)
        except subprocess.TimeoutExpired:
            return nam
        said = nam.communicate()[0]
        assert said.strip() == "nam:", said
    pytest.skip("nam does not start on this X server")


@pytest.mark.parametrize("name", ["dumbbell", "graph"])
def test_nam_draws_the_network_of_the_file(place: Path, name: str, display: dict[str, str]) -> None:
    with started(place / f"{name}.nam", display) as nam:
        end = time.monotonic() + 60
        black = 0
        while nam.poll() is None and time.monotonic() < end and black < 300:
            time.sleep(1)
            # Its welcome lies on the network.
            find = ["xdotool", "search", "--name", "Nam Console", "windowunmap"]
            subprocess.run(find, env=display, check=False, capture_output=True)
            # xwd fails while windows come and go.
            shot = subprocess.run(
                ["xwd", "-root", "-silent"], env=display, check=False, capture_output=True
            )
            black = drawn(shot.stdout) if shot.returncode == 0 else 0
        running = nam.poll() is None
        nam.terminate()
        said = nam.stdout.read() if nam.stdout else ""
    assert running, said
    assert black >= 300, said
    for complaint in ("Nam syntax has changed", "rror"):
        assert complaint not in said, said


@pytest.fixture(scope="module", params=["dumbbell", "graph"])
def page_file(request: pytest.FixtureRequest, place: Path, command: Path, browser: Any) -> Path:
    assert browser
    lines = (place / f"{request.param}.nam").read_text().splitlines()
    drop = next(float(flags(line)["t"]) for line in lines if line.startswith("d "))
    # The last moments before the first drop, and what follows.
    start = f"{max(0.0, drop - 0.3):.3f}s"
    subprocess.run(
        [command, "play", f"{request.param}.nam", "--from", start, "--for", "1s"],
        check=True,
        capture_output=True,
        cwd=place,
    )
    return place / f"{request.param}.html"


@contextlib.contextmanager
def opened(browser: Any, file: Path, width: int = 1400, **settings: str) -> Iterator[Any]:
    """The page, which must say no error."""
    context = browser.new_context(viewport={"width": width, "height": 900}, **settings)
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda text: said.append(text.text) if text.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(file.as_uri())
    page.wait_for_selector(".play-controls:visible")
    yield page
    context.close()
    assert said == []


def seek(page: Any, share: int) -> None:
    """Moves the slider to a share of the window, in thousandths."""
    page.locator(".play-slider").evaluate(
        "(slider, share) => { slider.value = share; slider.dispatchEvent(new Event('input')); }",
        share,
    )


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_no_wider_than_the_window(
    page_file: Path, browser: Any, width: int, scheme: str
) -> None:
    with opened(browser, page_file, width, color_scheme=scheme) as page:
        seek(page, 500)
        wider = "document.scrollingElement.scrollWidth - window.innerWidth"
        assert page.evaluate(wider) <= 0
        assert page.locator(".packet:visible").count() > 0


def test_packets_of_several_flows_are_on_the_way(page_file: Path, browser: Any) -> None:
    with opened(browser, page_file) as page:
        colours = set()
        for share in range(0, 1001, 50):
            seek(page, share)
            for name in page.locator(".packet").evaluate_all(
                "all => all.map(p => p.getAttribute('class'))"
            ):
                colours.add(name.split()[1])
        assert len(colours) >= 2
        assert page.locator(".tank").count() >= 1
        assert "packets wait" in page.locator(".play-queues li").first.inner_text()


def test_it_plays_and_stops_from_the_keyboard(page_file: Path, browser: Any) -> None:
    with opened(browser, page_file, reduced_motion="reduce") as page:
        clock = page.locator(".play-clock")
        start = clock.inner_text()
        page.wait_for_timeout(300)
        assert clock.inner_text() == start, "it must not start by itself"
        toggle = page.locator(".play-toggle")
        toggle.focus()
        page.keyboard.press("Enter")
        page.wait_for_function(
            "start => document.querySelector('.play-clock').textContent !== start", arg=start
        )
        assert toggle.inner_text() == "Pause"
        page.keyboard.press("Enter")
        assert toggle.inner_text() == "Play"
        now = clock.inner_text()
        page.locator(".play-slider").focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        assert clock.inner_text() != now


def test_a_queue_fills_and_drops_fall(page_file: Path, browser: Any) -> None:
    with opened(browser, page_file) as page:
        most, falls = 0.0, 0
        for share in range(0, 1001, 10):
            seek(page, share)
            widths = page.locator(".level").evaluate_all(
                "all => all.map(l => Number(l.getAttribute('width')))"
            )
            most = max(most, *widths)
            falls += page.locator(".drop:visible").count()
        assert most > 20
        assert falls > 0
