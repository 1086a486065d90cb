"""Steps per minute and core of the learning environments, with an agent that acts at random.

    python benches/gym_steps.py
    python benches/gym_steps.py --threads 2 --seconds 10

Measures the default scenarios and the same at other rates: what a step costs is the packets of its interval. Time is that of the processor,
over all threads, so that other programs on a shared machine do not count.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import sojourn
import sojourn.gym as sg

GOAL = 1_000_000
RATES = ("5Mbps", "20Mbps", "100Mbps")


def measured(env: sg.AqmVectorEnv | sg.ControlVectorEnv, seconds: float) -> tuple[int, float]:
    """Steps and seconds of processor time, once every environment has begun."""
    rng = np.random.default_rng(1)
    # Drawn before, so that the environment is measured and not the agent.
    actions = rng.uniform(-1.0, 1.0, (64, env.num_envs, 1)).astype(np.float32)
    env.reset(seed=1)
    steps, begun = 0, time.process_time()
    while (passed := time.process_time() - begun) < seconds:
        for action in actions:
            env.step(action)
        steps += len(actions) * env.num_envs
    return steps, passed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--envs", type=int, default=32, help="environments in one call")
    parser.add_argument("--threads", type=int, default=1, help="threads that advance them")
    parser.add_argument("--seconds", type=float, default=5.0, help="processor time for each line")
    given = parser.parse_args()
    print(f"{sojourn.PROFILE} build, {given.envs} environments, {given.threads} threads")
    print("environment  rate     interval  steps/min/core  simulated s/s/core")
    for component, vector in ((sg.AQM, sg.AqmVectorEnv), (sg.CONTROL, sg.ControlVectorEnv)):
        for rate in RATES:
            scenario = sg.default_scenario(component).with_("topology.rate", rate)
            interval = 0.01 if component == sg.AQM else 0.04
            env = vector(given.envs, scenario, threads=given.threads)
            steps, passed = measured(env, given.seconds)
            pace = steps / passed
            goal = "" if 60 * pace >= GOAL else "  (below the goal of 10^6)"
            print(
                f"{component:<12} {rate:<8} {interval * 1000:.0f} ms"
                f"{60 * pace:>20,.0f} {interval * pace:>18,.1f}{goal}"
            )


if __name__ == "__main__":
    main()
