"""Figures at the width of a column in print, with text that is read there.

A specification of the report is as wide as a page. Scaled down to a column its text would be unreadable, so it is laid out anew: the
width is exact, text is 8 pt, lines and marks are smaller.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["fit"]

POINTS_PER_INCH = 72.0
# What IEEE and ACM ask for in figures: 8 to 10 pt at the size that is printed.
TEXT = 8
# The mean width of a letter, as a part of the size of the text.
LETTER = 0.55
# Height of a single panel, as a part of the width of the figure.
RATIO = 0.5
# A panel that is narrower shows nothing; panels then stand below each other.
NARROWEST = 90.0
LINES = 0.7
MARKS = 0.5

CONFIG: dict[str, dict[str, float]] = {
    "axis": {"labelFontSize": TEXT, "titleFontSize": TEXT, "titlePadding": 5, "tickSize": 3},
    "axisX": {"labelPadding": 2},
    "axisY": {"labelPadding": 3},
    "header": {"labelFontSize": TEXT, "titleFontSize": TEXT},
    "title": {"fontSize": TEXT + 1, "subtitleFontSize": TEXT},
    "text": {"fontSize": TEXT},
    "facet": {"spacing": 10},
    "concat": {"spacing": 10},
    "legend": {
        "labelFontSize": TEXT,
        "titleFontSize": TEXT,
        "symbolSize": 40,
        "symbolStrokeWidth": 1.2,
        "columnPadding": 8,
        "titlePadding": 4,
        "offset": 4,
    },
}

Spec = dict[str, Any]


def fit(spec: Spec, inches: float, svg: Callable[[Spec], str]) -> Spec:
    """The specification laid out for a width; `svg` draws one, so that its width can be measured."""
    target = inches * POINTS_PER_INCH
    fitted = copy.deepcopy(spec)
    _configure(fitted, target)
    for view in _views(fitted):
        _thin(view)
        _turn(view, (target - 40) / max(_columns(fitted), 1))
    if isinstance(fitted.get("width"), (int, float)):
        fitted["width"] = target
        fitted["height"] = round(target * RATIO)
        # A long legend adds to the height, and takes nothing from the panel.
        fitted["autosize"] = {"type": "fit-x", "contains": "padding"}
        return fitted
    panels = [view for view in _views(fitted) if isinstance(view.get("width"), (int, float))]
    if not panels:
        return fitted
    _scale(panels, target / max(_columns(fitted), 1) / max(panel["width"] for panel in panels))
    if _settle(fitted, panels, target, svg) < NARROWEST and _columns(fitted) > 1:
        fitted["columns"] = 1
        _scale(panels, target / max(panel["width"] for panel in panels) / 1.3)
        _settle(fitted, panels, target, svg)
    return fitted


def _settle(spec: Spec, panels: list[Spec], target: float, svg: Callable[[Spec], str]) -> float:
    """Brings the drawing to its width; returns that of the widest panel."""
    # What stands around the panels hardly changes with their width, so that two steps come within a point.
    for _ in range(3):
        excess = _width(svg(spec)) - target
        if abs(excess) < 0.5:
            break
        share = excess / max(_columns(spec), 1)
        for panel in panels:
            panel["width"] = max(panel["width"] - share, NARROWEST / 3)
    return float(max(panel["width"] for panel in panels))


def _scale(panels: list[Spec], factor: float) -> None:
    for panel in panels:
        panel["width"] *= factor
        if isinstance(panel.get("height"), (int, float)):
            panel["height"] = max(round(panel["height"] * factor), 60)


def _columns(spec: Spec) -> int:
    """How many panels stand side by side."""
    if "hconcat" in spec:
        return len(spec["hconcat"])
    columns = spec.get("columns", 1)
    return columns if isinstance(columns, int) else 1


def _width(svg: str) -> float:
    found = re.search(r'<svg[^>]* width="([0-9.]+)"', svg)
    return float(found.group(1)) if found else 0.0


def _views(spec: Any) -> Iterator[Spec]:
    """The specification and every one within it."""
    if isinstance(spec, list):
        for part in spec:
            yield from _views(part)
    elif isinstance(spec, dict):
        yield spec
        for key in ("spec", "layer", "hconcat", "vconcat", "concat"):
            yield from _views(spec.get(key))


def _turn(view: Spec, width: float) -> None:
    """Labels of categories that are too long for a panel stand upright; aslant they would run into each other."""
    encoding = view.get("encoding")
    channel = encoding.get("x") if isinstance(encoding, dict) else None
    axis = channel.get("axis") if isinstance(channel, dict) else None
    scale = channel.get("scale") if isinstance(channel, dict) else None
    labels = scale.get("domain") if isinstance(scale, dict) else None
    if not isinstance(axis, dict) or not isinstance(labels, list) or not labels:
        return
    longest = max(len(str(label)) for label in labels) * TEXT * LETTER
    if "labelAngle" in axis and longest > width / len(labels):
        axis.update(labelAngle=-90, labelAlign="right", labelBaseline="middle")


def _thin(view: Spec) -> None:
    mark = view.get("mark")
    if not isinstance(mark, dict):
        return
    for key, factor in (("strokeWidth", LINES), ("size", MARKS)):
        if isinstance(mark.get(key), (int, float)):
            mark[key] *= factor
    if isinstance(mark.get("fontSize"), (int, float)):
        mark["fontSize"] = TEXT


def _configure(spec: Spec, target: float) -> None:
    config = spec.setdefault("config", {})
    config["padding"] = 2
    for group, settings in CONFIG.items():
        config.setdefault(group, {}).update(settings)
    labels = [label for view in _views(spec) for label in _legend(view)]
    if labels:
        # The title of the legend may stand before its labels.
        item = max(map(len, labels)) * TEXT * LETTER + 24
        config["legend"]["columns"] = max(int((target - 60) / item), 1)


def _legend(view: Spec) -> Iterator[str]:
    encoding = view.get("encoding")
    channels = encoding.values() if isinstance(encoding, dict) else ()
    for channel in channels:
        scale = channel.get("scale") if isinstance(channel, dict) else None
        domain = scale.get("domain") if isinstance(scale, dict) else None
        if isinstance(domain, list) and channel.get("legend", {}) is not None:
            yield from (label for label in domain if isinstance(label, str))
