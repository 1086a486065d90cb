""".ci/durations.py: the slowest test programs of a run of `cargo test`."""

from __future__ import annotations

import durations

OUTPUT = """\
     Running unittests src/lib.rs (target/debug/deps/sojourn_queue-0a1b2c3d)
test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.25s
     Running tests/lab/main.rs (target/debug/deps/lab-99aa00bb)
test a_claim ... FAILED
test result: FAILED. 340 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 80.00s
   Doc-tests sojourn_units
test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.40s
"""


def test_programs_are_listed_with_the_slowest_first() -> None:
    lines = list(durations.table(durations.durations(OUTPUT.splitlines())))
    assert lines == [
        "slowest test programs:",
        "   80.00 s    340 passed  lab (tests/lab/main.rs)",
        "    1.25 s     12 passed  sojourn_queue (src/lib.rs)",
        "    0.40 s      3 passed  sojourn_units (documentation)",
    ]


def test_a_build_that_failed_lists_nothing() -> None:
    output = ["   Compiling sojourn-units\n", "error: could not compile\n"]
    assert list(durations.table(durations.durations(output))) == []
