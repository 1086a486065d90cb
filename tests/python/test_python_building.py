"""Builders and `with_` check at once; studies by name; what a scenario looks like."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sojourn
from sojourn import errors

# Mistakes where they are written.


@pytest.mark.parametrize(
    ("keywords", "kind", "said"),
    [
        ({"rate": "10Mbp"}, errors.BadValueError, 'dumbbell(rate="10Mbp"): '),
        ({"queue": "codle"}, errors.UnknownNameError, 'dumbbell(queue="codle"): '),
        ({"queue": "codel taget=1ms"}, errors.UnknownKeyError, "target"),
        ({"duration": "10"}, errors.BadValueError, 'dumbbell(duration="10"): '),
        ({"warmup": "9s", "duration": "5s"}, errors.ContradictionError, 'dumbbell(warmup="9s"): '),
        ({"flows": ["reno", "rneo"]}, errors.UnknownNameError, 'dumbbell(flows[1]="rneo"): '),
        ({"flows": [{"kind": "reno", "cont": 2}]}, errors.UnknownKeyError, "count"),
        ({"pairs": "two", "flows": ["reno"]}, errors.SojournError, 'dumbbell(pairs="two"): '),
    ],
)
def test_a_builder_refuses_a_wrong_value_with_the_argument(
    keywords: dict[str, Any], kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind) as caught:
        sojourn.dumbbell(**keywords)
    assert said in str(caught.value)


def test_a_wrong_keyword_has_a_nearest_and_all_that_are_allowed() -> None:
    with pytest.raises(errors.UnknownKeyError) as caught:
        sojourn.dumbbell(duraton="10s")  # type: ignore[call-arg]
    assert caught.value.nearest == "duration"
    assert "dumbbell(): unknown keyword 'duraton', did you mean 'duration'? (allowed: " in str(
        caught.value
    )
    with pytest.raises(errors.UnknownKeyError, match=r"chain\(\): unknown keyword 'rtt'"):
        sojourn.chain(rtt="10ms")  # type: ignore[call-arg]


def test_a_scenario_may_get_its_flows_later() -> None:
    empty = sojourn.dumbbell(rate="10Mbps")
    full = empty.with_("flows", ["reno"])
    assert full == sojourn.dumbbell(rate="10Mbps", flows=["reno"])
    with pytest.raises(errors.MissingKeyError, match="flow"):
        sojourn.run(empty)


def test_with_checks_at_once_and_says_what_was_written() -> None:
    scenario = sojourn.dumbbell(rate="10Mbps", flows=["reno"])
    with pytest.raises(errors.BadValueError, match=r'with_\("topology.rate", "10Mbp"\): '):
        scenario.with_("topology.rate", "10Mbp")
    with pytest.raises(errors.UnknownKeyError) as caught:
        scenario.with_("topology.rat", "10Mbps")
    assert caught.value.nearest == "rate"
    with pytest.raises(TypeError, match="a value is wanted"):
        scenario.with_("topology.rate")


def test_values_that_only_fit_together_are_given_together() -> None:
    scenario = sojourn.dumbbell(flows=["reno"], duration="4s", warmup="1s")
    longer = scenario.with_({"run.warmup": "10s", "run.duration": "20s"})
    assert longer["run"] == {"duration": "20s", "warmup": "10s"}
    with pytest.raises(errors.ContradictionError):
        scenario.with_("run.warmup", "10s")


# Studies.

STUDY = """\
flows = ["2*reno"]

[run]
duration = "2s"
warmup = "0s"
replications = 4

[[experiment]]
name = "queues"

[[experiment.factor]]
name = "queue"
path = "topology.queue"
values = ["droptail", "codel"]

[[experiment]]
name = "rates"

[[experiment.factor]]
name = "rate"
path = "topology.rate"
values = ["1Mbps", "2Mbps"]
"""


def test_a_study_that_comes_along_runs_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    results = sojourn.study(
        "rrul", replications=2, set={"run.duration": "4s", "run.warmup": "1s"}, only=["idle"]
    )
    assert {row["replication"] for row in results.runs} == {0, 1}
    assert results.manifest["points"]


def test_a_study_takes_replications_a_seed_values_and_experiments(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(STUDY)
    every = sojourn.study(file, replications=1)
    assert len(every.runs) == 4
    some = sojourn.study(file, replications=2, seed=9, only=["rates"], set={"topology.rtt": "20ms"})
    assert len(some.runs) == 4
    assert {row["experiment"] for row in some.runs} == {"rates"}
    same = sojourn.study(
        file,
        only=["rates"],
        overrides={"run.replications": 2, "run.seed": 9, "topology.rtt": "20ms"},
    )
    assert some.queues.to_dicts() == same.queues.to_dicts()


def test_a_wrong_study_has_the_nearest_name() -> None:
    with pytest.raises(errors.UnknownNameError) as caught:
        sojourn.study("rul")
    assert caught.value.nearest == "rrul"
    assert "sojourn list studies" in str(caught.value)


def test_a_mistake_in_the_arguments_of_a_study_names_the_argument(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(STUDY)
    with pytest.raises(errors.UnknownKeyError, match=r"set=\{'topology.rat'"):
        sojourn.study(file, set={"topology.rat": "1Mbps"})
    with pytest.raises(ValueError, match="replications"):
        sojourn.study(file, replications=0)
    with pytest.raises(TypeError, match="only: a list is wanted"):
        sojourn.study(file, only="rates")
    with pytest.raises(errors.UnknownNameError, match="rates"):
        sojourn.study(file, only=["rats"])


def test_running_a_study_says_to_use_study(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(STUDY)
    for given in (file, sojourn.load(file)):
        with pytest.raises(errors.ContradictionError, match=r"run it with sojourn\.study\("):
            sojourn.run(given)
    with pytest.raises(errors.ContradictionError, match=r"sojourn\.study\('rrul'\)"):
        sojourn.run("rrul")
    with pytest.raises(errors.ContradictionError, match=r"sojourn\.study\("):
        sojourn.compare(file, ["codel"])


# Display.


def test_the_repr_of_a_scenario_says_what_was_given() -> None:
    scenario = sojourn.dumbbell(name="home", rate="10Mbps", flows=["2*reno"], duration="4s")
    assert (
        repr(scenario)
        == '<sojourn.Scenario \'home\': dumbbell, rate="10Mbps", flows=["2*reno"], duration="4s">'
    )
    assert str(scenario) == scenario.to_toml()
    assert "10Mbps" in scenario._repr_html_()
    assert "<script>" not in sojourn.dumbbell(name="<script>")._repr_html_()


def test_results_and_figures_show_themselves() -> None:
    scenario = sojourn.dumbbell(rate="5Mbps", flows=["reno"], duration="2s", warmup="0s")
    results = sojourn.compare(scenario, ["droptail", "codel"], replications=2)
    assert "2 points, 4 runs" in repr(results)
    html = results._repr_html_()
    assert "<table>" in html
    name, figure = next(iter(results.figures.items()))
    assert name in html
    bundle = figure._repr_mimebundle_()
    assert bundle["text/plain"] == repr(figure)
    assert "application/vnd.vegalite.v6+json" in bundle
    assert repr(figure).startswith(f"<sojourn.Figure {name}")


def test_builders_take_record_as_the_command_does() -> None:
    short = sojourn.dumbbell(flows=["reno"], record="backlog", series={"step": "50ms"})
    assert short["series"] == {"step": "50ms", "record": "backlog"}
    with pytest.raises(errors.UnknownNameError, match=r'dumbbell\(record="backlg"\)') as caught:
        sojourn.dumbbell(flows=["reno"], record="backlg")
    assert caught.value.nearest == "backlog"
    with pytest.raises(errors.ContradictionError, match="record is given twice"):
        sojourn.dumbbell(flows=["reno"], record="backlog", series={"record": "rtt"})
    with pytest.raises(errors.WrongTypeError, match=r"series=.*a dict is wanted"):
        sojourn.dumbbell(flows=["reno"], record="backlog", series="rtt")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "give",
    [
        lambda names: sojourn.dumbbell(flows=["reno"], record=names),
        lambda names: sojourn.dumbbell(flows=["reno"], series={"record": names}),
        lambda names: sojourn.Scenario({"series": {"record": names}}),
        lambda names: sojourn.dumbbell(flows=["reno"]).with_("series.record", names),
        lambda names: sojourn.dumbbell(flows=["reno"]).with_("series", {"record": names}),
    ],
)
def test_a_list_of_series_is_answered_with_the_text_to_write(give: Callable[[Any], object]) -> None:
    with pytest.raises(errors.WrongTypeError, match='write "backlog,sojourn"'):
        give(["backlog", "sojourn"])


ANY = sojourn.dumbbell(flows=["reno"])


@pytest.mark.parametrize(
    ("function", "given", "keywords", "kind", "said"),
    [
        ("compare", [ANY, []], {}, errors.BadValueError, "queues: the list is empty"),
        ("compare", [ANY, None], {}, errors.WrongTypeError, "queues: a list is wanted"),
        ("compare", [None, ["codel"]], {}, errors.WrongTypeError, "scenario: None is given"),
        ("run", [None], {}, errors.WrongTypeError, "scenario: None is given"),
        ("run", [ANY], {"out": 5}, errors.WrongTypeError, "out: 5 is given"),
        ("study", [5], {}, errors.WrongTypeError, "study: 5 is given"),
        ("study", ["rrul"], {"set": ["a=b"]}, errors.WrongTypeError, "write set={'a': 'b'}"),
        ("study", ["rrul"], {"set": 5}, errors.WrongTypeError, "write set={'run.duration'"),
        ("study", ["rrul"], {"only": "rrul"}, errors.WrongTypeError, "such as ['rrul']"),
        ("study", ["rrul"], {"replication": 1}, errors.UnknownKeyError, "sojourn.run(scenario, "),
        ("study", ["rrul"], {"sed": 1}, errors.UnknownKeyError, "did you mean 'seed'?"),
        ("run", [ANY], {"sed": 1}, errors.UnknownKeyError, "run(): unknown keyword 'sed'"),
        ("run", [ANY], {"progress": 5}, errors.WrongTypeError, "progress: 5 is given"),
        ("compare", [ANY, ["codel"]], {"replication": 1}, errors.UnknownKeyError, "compare(): "),
        ("replay", [5], {"queue": "codel", "rate": "1Mbps"}, errors.WrongTypeError, "arrivals: 5"),
        ("trace_analyse", [5], {}, errors.WrongTypeError, "path: 5 is given"),
        ("Scenario", [5], {}, errors.WrongTypeError, "sojourn.load(PATH)"),
        ("read", [5], {}, errors.WrongTypeError, "directory: 5 is given"),
        ("load", [5], {}, errors.WrongTypeError, "path: 5 is given"),
        ("show", [5], {}, errors.WrongTypeError, "a name such as"),
    ],
)
def test_a_wrong_argument_is_an_error_of_the_package_with_the_fix(
    function: str,
    given: list[Any],
    keywords: dict[str, Any],
    kind: type[errors.SojournError],
    said: str,
) -> None:
    with pytest.raises(kind) as caught:
        getattr(sojourn, function)(*given, **keywords)
    assert said in str(caught.value)


def test_a_path_that_is_no_text_is_refused_with_what_is_wanted() -> None:
    with pytest.raises(errors.WrongTypeError, match=r'a path such as "topology\.rate"'):
        ANY.with_(5, 5)  # type: ignore[arg-type]


def test_messages_name_the_functions_of_the_package() -> None:
    with pytest.raises(errors.UnknownNameError, match=r"\(sojourn\.list_queues\(\)\)"):
        sojourn.dumbbell(queue="zzzz")
    with pytest.raises(
        errors.UnknownNameError, match=r"sojourn list \(sojourn\.list_queues\(\) and"
    ):
        sojourn.show("zzzz")
    with pytest.raises(errors.UnknownNameError, match=r"^only: there is no experiment"):
        sojourn.study("rrul", only=["nothere"])


@pytest.mark.parametrize(
    "family",
    ["congestion", "figures", "flows", "metrics", "queues", "sources", "studies", "topologies"],
)
def test_a_message_about_a_list_names_the_function_that_returns_it(family: str) -> None:
    text = str(errors.SojournError(f"see sojourn list {family} for more"))
    assert text == f"see sojourn list {family} (sojourn.list_{family}()) for more"
    assert callable(getattr(sojourn, f"list_{family}"))


# The picture of a topology.


def test_a_scenario_draws_its_topology(tmp_path: Path) -> None:
    scenario = sojourn.dumbbell(rate="7Mbps", queue="codel", flows=["4*cubic", "cbr 2Mbps"])
    drawing = scenario.draw()
    for text in ("7 Mbps", "CoDel", "cubic \u00d7 4", "cbr 2 Mbps"):
        assert text in drawing.svg, text
    assert drawing._repr_svg_() == drawing._repr_html_() == str(drawing) == drawing.svg
    file = drawing.save(tmp_path / "topology.svg")
    assert file.read_text(encoding="utf-8") == drawing.svg == scenario.draw().svg


def test_a_drawing_is_saved_as_svg_or_refused(tmp_path: Path) -> None:
    drawing = sojourn.chain(hops=2, flows=["cbr 1Mbps"]).draw()
    with pytest.raises(errors.BadValueError, match=r"\.svg"):
        drawing.save(tmp_path / "topology.png")
    with pytest.raises(errors.ResultsIOError, match="cannot write"):
        drawing.save(tmp_path / "nowhere" / "topology.svg")
