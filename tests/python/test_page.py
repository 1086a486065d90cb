"""The module of the page against the command: `make page-test` has the long form."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
MODULE = TARGET / "page" / "sojourn.wasm"

# Queues, flows and changes in the middle of the run.
SCENARIOS = [
    f"""flows = ["{flows}"]
[run]
duration = "12s"
warmup = "3s"
replications = 1
[topology]
rate = "8Mbps"
rtt = "30ms"
buffer = "80p"
queue = "{queue}"
{more}"""
    for queue, flows, more in [
        ("droptail", "2*cubic", ""),
        ("codel", "bbr", ""),
        ("fq_codel", "3*reno", ""),
        ("pie", "cubic", ""),
        ("red", "4*reno", ""),
        ("cake", "bbr3", ""),
        ("dualpi2", "prague", ""),
        ("sfq", "2*ledbat", ""),
        ("drr each=(codel)", "web", ""),
        (
            "droptail",
            "2*cubic",
            '[[changes]]\nat = "5s"\nlink = "left-right"\nqueue = "pie"\nrate = "3Mbps"\n',
        ),
    ]
]

SCRIPT = """
import { readFileSync } from "node:fs";
const { exports } = await WebAssembly.instantiate(
  await WebAssembly.compile(readFileSync(process.argv[1])), {});
const bytes = (at, length) => new Uint8Array(exports.memory.buffer, at, length);
const call = (request) => {
  const text = new TextEncoder().encode(JSON.stringify(request));
  bytes(exports.sojourn_input(text.length), text.length).set(text);
  const length = exports.sojourn_call();
  return JSON.parse(new TextDecoder().decode(bytes(exports.sojourn_output(), length)));
};
const scenarios = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(scenarios.map((toml) => call({ op: "outcome", toml }))));
"""


@pytest.fixture(scope="module")
def node() -> str:
    found = shutil.which("node")
    if found is None:
        pytest.skip("no Node on PATH: the page is not compared with the command")
    if not MODULE.is_file():
        pytest.skip("make page has not been run: the page is not compared with the command")
    return found


def test_the_page_and_the_command_give_the_same_numbers(
    node: str, command: Path, tmp_path: Path
) -> None:
    done = subprocess.run(
        [node, "--input-type=module", "--eval", SCRIPT, str(MODULE)],
        input=json.dumps(SCENARIOS),
        capture_output=True,
        text=True,
        check=True,
    )
    answers = json.loads(done.stdout)
    assert len(answers) == len(SCENARIOS)
    for toml, answer in zip(SCENARIOS, answers, strict=True):
        (tmp_path / "page.toml").write_text(toml, encoding="utf-8")
        printed = subprocess.run(
            [str(command), "run", "page.toml", "--format", "csv"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        values = {row["metric"]: row["value"] for row in csv.DictReader(io.StringIO(printed))}
        queue = next(one for one in answer["numbers"]["queues"] if one["bottleneck"])
        common = values.keys() & queue["metrics"].keys()
        assert len(common) >= 3, f"{list(values)}: {toml}"
        for name in common:
            assert float(values[name]) == queue["metrics"][name]["value"], name
