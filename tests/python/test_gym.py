"""Learning environments: the Gymnasium API, the same bits from the same seed, and a policy that is learned and then runs in a suite."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import sojourn

pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'sojourn[gym]'")

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env

import sojourn.gym as sg

ROOT = Path(__file__).resolve().parents[2]

KINDS = [
    pytest.param(sg.AqmEnv, sg.AqmVectorEnv, id="aqm"),
    pytest.param(sg.ControlEnv, sg.ControlVectorEnv, id="control"),
]


def short(component: str, duration: str = "1s") -> sojourn.Scenario:
    return sg.default_scenario(component).with_("run.duration", duration)


def short_of(env: type) -> sojourn.Scenario:
    return short(sg.AQM if env in (sg.AqmEnv, sg.AqmVectorEnv) else sg.CONTROL)


@pytest.mark.parametrize(
    "env",
    [
        pytest.param(lambda: sg.AqmEnv(), id="aqm"),
        pytest.param(lambda: sg.AqmEnv(queue="gym:aqm act=delay ecn=true"), id="aqm-delay"),
        pytest.param(lambda: sg.ControlEnv(), id="control"),
        pytest.param(
            lambda: sg.ControlEnv(control="gym:control act=rate", reward="linear"),
            id="control-rate",
        ),
    ],
)
def test_the_checker_of_gymnasium_has_no_complaint(env: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env(), skip_render_check=True)


@pytest.mark.parametrize("name", ["Aqm", "Control"])
def test_environments_are_made_by_their_ids(name: str) -> None:
    env = gymnasium.make(f"sojourn/{name}-v0")
    observation, _ = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    vector = gymnasium.make_vec(
        f"sojourn/{name}-v0", num_envs=3, vectorization_mode="vector_entry_point"
    )
    observations, _ = vector.reset(seed=1)
    assert observations.shape == (3, *observation.shape)
    assert (observations[0] == observation).all()


def played(env: Any, seed: int, steps: int) -> list[tuple[bytes, float, bool, dict[str, float]]]:
    rng = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed)
    told = [(observation.tobytes(), 0.0, False, info)]
    for _ in range(steps):
        if told[-1][2]:
            observation, info = env.reset()
            told.append((observation.tobytes(), 0.0, False, info))
            # The action of a vector environment, which is not used where an episode begins.
            rng.uniform(-1, 1)
            continue
        action = np.array([rng.uniform(-1, 1)], np.float32)
        observation, reward, terminated, truncated, info = env.step(action)
        assert not terminated
        told.append((observation.tobytes(), reward, truncated, info))
    return told


@pytest.mark.parametrize(("single", "vector"), KINDS)
def test_the_same_seed_gives_the_same_bits(single: type, vector: type) -> None:
    env = single(short_of(single))
    first = played(env, 5, 150)
    assert played(env, 5, 150) == first
    assert played(single(short_of(single)), 5, 150) == first
    assert played(env, 6, 150) != first
    assert any(truncated for _, _, truncated, _ in first), "an episode has ended on the way"


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("single", "vector"), KINDS)
def test_a_vector_environment_is_its_single_ones(single: type, vector: type, threads: int) -> None:
    steps, number = 150, 3
    alone = [played(single(short_of(single)), 7 + i, steps) for i in range(number)]
    env = vector(number, short_of(vector), threads=threads)
    draws = [np.random.default_rng(7 + i) for i in range(number)]
    observations, infos = env.reset(seed=7)
    rewards, truncated = np.zeros(number), np.zeros(number, bool)
    for step in range(steps + 1):
        for i in range(number):
            seen, reward, over, info = alone[i][step]
            assert observations[i].tobytes() == seen
            assert (rewards[i], bool(truncated[i])) == (reward, over)
            assert {name: infos[name][i] for name in info} == info
        actions = np.array([[draw.uniform(-1, 1)] for draw in draws], np.float32)
        observations, rewards, _, truncated, infos = env.step(actions)


def test_an_episode_is_a_replication_of_the_scenario() -> None:
    """What a constant action gives is what `sojourn.run` gives with the same seed."""
    scenario = short(sg.AQM, "4s").with_("topology.queue", "gym:aqm action=-0.5")
    env = sg.AqmEnv(scenario)
    env.reset(seed=11)
    _, info = env.reset()
    dropped, truncated = info["dropped_packets"], False
    while not truncated:
        _, _, _, truncated, info = env.step(np.array([-0.5], np.float32))
        dropped += info["dropped_packets"]
    seeded = scenario.with_({"run.seed": 11, "run.replications": 2})
    queues = sojourn.run(seeded).queues.to_dicts()
    (own,) = [row for row in queues if row["replication"] == 1 and row["queue"] == "left-right"]
    assert own["dropped_packets"] == dropped > 10


def test_an_action_does_what_it_says() -> None:
    delays, shares = {}, {}
    for action in (-1.0, -0.5):
        env = sg.AqmEnv(short(sg.AQM, "5s"))
        env.reset(seed=1)
        seen = [env.step(np.array([action], np.float32)) for _ in range(490)]
        delays[action] = float(np.mean([info["queue_delay_s"] for *_, info in seen[200:]]))
        shares[action] = float(np.mean([observation[5] for observation, *_ in seen]))
    # (0.25)^2 of a quarter are 1.6 %.
    assert 0.01 < shares[-0.5] < 0.025
    assert delays[-0.5] < 0.5 * delays[-1.0]


def test_a_controller_opens_and_closes_its_window() -> None:
    env = sg.ControlEnv(short(sg.CONTROL, "5s"))
    _, info = env.reset(seed=1)
    for action, factor in ((1.0, 2.0), (0.0, 1.0), (-1.0, 0.5)):
        before = info["cwnd_bytes"]
        _, _, _, _, info = env.step(np.array([action], np.float32))
        # It is cut to whole bytes.
        assert info["cwnd_bytes"] == pytest.approx(factor * before, abs=1.0)


def test_mistakes_say_what_to_write() -> None:
    with pytest.raises(sojourn.SojournError, match=r"did you mean \"interval\""):
        sg.AqmEnv(queue="gym:aqm intervall=5ms")
    with pytest.raises(sojourn.BadValueError, match="power, linear"):
        sg.ControlEnv(reward="aurora")
    with pytest.raises(sojourn.ContradictionError, match="has gym:aqm already"):
        sg.AqmEnv(sg.default_scenario(sg.AQM), queue="gym:aqm interval=5ms")
    env = sg.AqmVectorEnv(2, short(sg.AQM))
    env.reset(seed=1)
    with pytest.raises(sojourn.WrongTypeError, match="3 numbers are given"):
        env.step(np.zeros(3, np.float32))
    with pytest.raises(gymnasium.error.ResetNeeded):
        sg.AqmEnv().step(np.zeros(1, np.float32))
    with pytest.raises(sojourn.BadValueError, match="gives 2 numbers"):
        sg.Policy(sg.AQM, [(np.zeros((2, 8)), np.zeros(2), "tanh")])


def test_a_policy_is_the_network_that_was_given(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    first, bias = rng.normal(size=(5, 8)), rng.normal(size=5)
    second, last = rng.normal(size=(1, 5)), rng.normal(size=1)
    policy = sg.Policy(sg.AQM, [(first, bias, "relu"), (second, last, "tanh")])
    seen = rng.normal(size=(7, 8)).astype(np.float32)
    expected = np.tanh(np.maximum(seen @ first.T + bias, 0.0) @ second.T + last)
    assert np.allclose(policy(seen), expected, atol=1e-6)
    again = sg.Policy.load(policy.save(tmp_path / "policy.json"))
    assert (again(seen) == policy(seen)).all()
    assert again(seen[0]).shape == (1,)


def trainer() -> ModuleType:
    path = ROOT / "examples" / "gym" / "train_aqm.py"
    spec = importlib.util.spec_from_file_location("train_aqm", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["train_aqm"] = module
    spec.loader.exec_module(module)
    return module


def test_a_policy_that_is_trained_for_less_than_a_minute_beats_constants_and_runs_in_a_suite(
    command: Path, tmp_path: Path
) -> None:
    if importlib.util.find_spec("cma") is None:
        pytest.skip("cma is not installed: pip install cma")
    example = trainer()
    trained = example.train(600.0, hidden=0, population=10, duration="5s", generations=15)
    # In units of the logarithm of the throughput: 0.5 is a factor of 1.6, at the same delay.
    assert trained.held_out > trained.constant + 0.5
    assert trained.held_out > trained.random + 1.5
    path = trained.policy.save(tmp_path / "policy.json")
    out = tmp_path / "suite"
    queue = f"gym:aqm policy={path}"
    arguments = [
        "--queue",
        queue,
        "--queue",
        "codel",
        "--case",
        "5.1.1",
        "--quick",
        "--out",
        str(out),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "sojourn", "suite", "rfc7928", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    assert "gym:aqm" in done.stdout
    assert "codel" in done.stdout
    assert json.loads(path.read_text(encoding="utf-8"))["component"] == sg.AQM
