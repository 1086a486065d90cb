"""Trains an AQM: a small policy that sets the drop probability of a queue every 10 ms.

    python examples/gym/train_aqm.py --minutes 10 --out results/gym
    sojourn suite rfc7928 --queue 'gym:aqm policy=results/gym/policy.json' --queue codel --quick

The search is CMA-ES (`pip install 'sojourn[gym]' cma`): each generation tries some policies, each in a run of every training scenario, with
the same seeds for all. Every few generations the middle of the search is tried on seeds that training never uses, next to constants and to
a random agent. `policy.json`, the learning curve `curve.csv` and its picture `curve.svg` are written to the directory of `--out`.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import sojourn
import sojourn.gym as sg
from sojourn import figures

with warnings.catch_warnings():
    # It misses matplotlib, which nothing here uses.
    warnings.simplefilter("ignore")
    import cma

Doubles = NDArray[np.float64]

INPUTS = 8
# Seeds of what is reported; training uses those below.
HELD_OUT = 1_000_000


def scenarios(duration: str = "10s") -> list[sojourn.Scenario]:
    """What the policy is trained for: rates and round trips of access links, one to eight flows."""
    paths = [
        ("10Mbps", "20ms", ["2*cubic"]),
        ("20Mbps", "40ms", ["4*cubic"]),
        ("40Mbps", "80ms", ["4*cubic", "2*reno"]),
        ("10Mbps", "100ms", ["cubic"]),
        ("20Mbps", "30ms", ["8*reno", "cbr 2Mbps"]),
    ]
    return [
        sojourn.dumbbell(
            name=f"train-{i}",
            rate=rate,
            rtt=rtt,
            queue=sg.AQM,
            flows=flows,
            duration=duration,
            warmup="0s",
            start_spread="500ms",
        )
        for i, (rate, rtt, flows) in enumerate(paths)
    ]


def shape(hidden: int) -> int:
    """The number of weights of a policy."""
    return INPUTS + 1 if hidden == 0 else hidden * (INPUTS + 1) + hidden + 1


def actions_of(weights: Doubles, hidden: int, observations: Doubles) -> Doubles:
    """Each policy's actions: `weights` is (policies, numbers), `observations` (policies, runs, numbers)."""
    if hidden == 0:
        summed = np.einsum("pri,pi->pr", observations, weights[:, :INPUTS]) + weights[:, INPUTS:]
        return np.tanh(summed)
    first, bias, second, last = np.split(
        weights, np.cumsum([hidden * INPUTS, hidden, hidden]), axis=1
    )
    first = first.reshape(-1, hidden, INPUTS)
    inner = np.tanh(np.einsum("pri,phi->prh", observations, first) + bias[:, None, :])
    return np.tanh(np.einsum("prh,ph->pr", inner, second) + last)


def policy_of(weights: Doubles, hidden: int) -> sg.Policy:
    """The policy of these weights, as the queue evaluates it."""
    if hidden == 0:
        return sg.Policy(sg.AQM, [([weights[:INPUTS]], weights[INPUTS:], "tanh")])
    first, bias, second, last = np.split(weights, np.cumsum([hidden * INPUTS, hidden, hidden]))
    layers: list[sg.Layer] = [
        (first.reshape(hidden, INPUTS), bias, "tanh"),
        ([second], last, "tanh"),
    ]
    return sg.Policy(sg.AQM, layers)


@dataclass
class Trial:
    """Runs in which policies are tried: `policies` times one of each scenario."""

    env: sg.AqmVectorEnv
    policies: int
    steps: int = 0

    @classmethod
    def of(cls, given: Sequence[sojourn.Scenario], policies: int, threads: int) -> Trial:
        return cls(sg.AqmVectorEnv(policies * len(given), list(given), threads=threads), policies)

    def __call__(self, agent: Callable[[Doubles], Doubles], seed: int) -> Doubles:
        """The mean reward of each policy over an episode; `agent` gives the actions for observations (policies, runs, numbers)."""
        runs = self.env.num_envs // self.policies
        # Seeds that follow each other take the scenarios in turn, and are the same for every policy.
        seeds = [seed * runs + i for i in range(runs)] * self.policies
        seen, _ = self.env.reset(seed=seeds)
        total, counted = np.zeros(self.env.num_envs), 0
        while True:
            observations = seen.reshape(self.policies, runs, INPUTS).astype(np.float64)
            seen, rewards, _, truncated, _ = self.env.step(agent(observations).reshape(-1, 1))
            total += rewards
            counted += 1
            if truncated.all():
                break
        self.steps += counted * self.env.num_envs
        return (total / counted).reshape(self.policies, runs).mean(axis=1)


def baselines(trial: Trial, seed: int) -> tuple[float, float]:
    """The mean rewards of a random agent and of the best constant action."""
    rng = np.random.default_rng(seed)
    random = trial(lambda seen: rng.uniform(-1.0, 1.0, seen.shape[:2]), seed)
    constants = [
        float(trial(lambda seen, a=action: np.full(seen.shape[:2], a), seed).mean())  # type: ignore[misc]
        for action in np.linspace(-1.0, 0.0, 11)
    ]
    return float(random.mean()), max(constants)


@dataclass
class Trained:
    """What a training has come to."""

    policy: sg.Policy
    held_out: float
    random: float
    constant: float
    curve: list[dict[str, float]]


def train(
    seconds: float,
    *,
    hidden: int = 8,
    population: int = 16,
    threads: int = 1,
    duration: str = "10s",
    generations: int = 10**9,
    report: Callable[[dict[str, float]], None] = lambda row: None,
) -> Trained:
    """Searches for `seconds`, and for `generations` at most; the policy that did best on held-out seeds is the result."""
    given = scenarios(duration)
    many, one = Trial.of(given, population, threads), Trial.of(given, 1, threads)
    random, constant = baselines(one, HELD_OUT)
    # Begins with a policy that drops little: the probability at -0.8 is 0.25 %.
    start = np.zeros(shape(hidden))
    start[-1] = np.arctanh(-0.8)
    search = cma.CMAEvolutionStrategy(start, 0.3, {"popsize": population, "seed": 1, "verbose": -9})
    curve: list[dict[str, float]] = []
    best, best_score = start, -np.inf
    begun = time.monotonic()
    generation = 0
    while generation < generations and time.monotonic() - begun < seconds:
        asked = np.array(search.ask())
        rewards = many(lambda seen, w=asked: actions_of(w, hidden, seen), generation)  # type: ignore[misc]
        search.tell(list(asked), list(-rewards))
        generation += 1
        if generation % 5 and time.monotonic() - begun < seconds:
            continue
        middle = np.array(search.result.xfavorite)[None, :]
        score = float(one(lambda seen, w=middle: actions_of(w, hidden, seen), HELD_OUT).mean())  # type: ignore[misc]
        if score > best_score:
            best, best_score = middle[0], score
        row = {
            "generation": float(generation),
            "minutes": (time.monotonic() - begun) / 60.0,
            "steps": float(many.steps),
            "training_mean": float(rewards.mean()),
            "training_best": float(rewards.max()),
            "held_out": score,
            "best_held_out": best_score,
        }
        curve.append(row)
        report(row)
    return Trained(policy_of(best, hidden), best_score, random, constant, curve)


def write_curve(trained: Trained, out: Path) -> None:
    """The learning curve as CSV, and as a picture where the extra `figures` is installed."""
    with (out / "curve.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(trained.curve[0]))
        writer.writeheader()
        writer.writerows(trained.curve)
    lines = [
        {"steps": row["steps"] / 1e6, "reward": row[key], "of": name}
        for row in trained.curve
        for key, name in (
            ("held_out", "policy, held-out seeds"),
            ("training_mean", "generation, training seeds"),
        )
    ]
    rules = [
        {"steps": row["steps"] / 1e6, "reward": value, "of": name}
        for row in (trained.curve[0], trained.curve[-1])
        for value, name in ((trained.constant, "best constant"), (trained.random, "random"))
    ]
    lowest = min(trained.random, *(row["training_mean"] for row in trained.curve))
    spec = {
        "width": 480,
        "height": 260,
        "data": {"values": lines + rules},
        "mark": {"type": "line", "clip": True},
        "encoding": {
            "x": {"field": "steps", "type": "quantitative", "title": "steps (millions)"},
            "y": {
                "field": "reward",
                "type": "quantitative",
                "title": "mean reward of a step",
                "scale": {"domain": [lowest, 0.0]},
            },
            "color": {"field": "of", "type": "nominal", "title": None},
        },
    }
    (out / "curve.vl.json").write_text(json.dumps(spec), encoding="utf-8")
    try:
        (out / "curve.svg").write_bytes(figures.draw_spec(json.dumps(spec), "svg"))
    except sojourn.MissingLibraryError as error:
        print(error)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--hidden", type=int, default=8, help="inner numbers; 0: a linear policy")
    parser.add_argument("--population", type=int, default=16, help="policies of a generation")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("results/gym"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    trained = train(
        60.0 * given.minutes,
        hidden=given.hidden,
        population=given.population,
        threads=given.threads,
        report=lambda row: print(
            f"generation {row['generation']:4.0f}  {row['steps'] / 1e6:7.2f} million steps  "
            f"held-out reward {row['held_out']:.4f}",
            flush=True,
        ),
    )
    path = trained.policy.save(given.out / "policy.json")
    write_curve(trained, given.out)
    print(
        f"mean reward of a step on held-out seeds: policy {trained.held_out:.4f}, best constant "
        f"{trained.constant:.4f}, random {trained.random:.4f}"
    )
    print(f"sojourn suite rfc7928 --queue 'gym:aqm policy={path}' --queue codel --quick")


if __name__ == "__main__":
    main()
