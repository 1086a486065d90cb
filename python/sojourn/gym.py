"""Learning environments with the Gymnasium API: an agent drives an AQM or a congestion control in a run of Sojourn.

    >>> import sojourn.gym
    >>> env = sojourn.gym.AqmEnv()
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step([-0.5])
    >>> sorted(info)[:3]
    ['backlog_bytes', 'dropped_packets', 'marked_packets']

A step is one interval of simulated time. In `AqmEnv` the action sets the drop probability (or the delay threshold) of the queue `gym:aqm`;
in `ControlEnv` it changes the window (or the pacing rate) of the flow with the congestion control `gym:control`. An action is one number
from -1 to 1. `AqmVectorEnv` and `ControlVectorEnv` advance many runs in one call. The ids for `gymnasium.make` and `gymnasium.make_vec` are
`sojourn/Aqm-v0` and `sojourn/Control-v0`.

Episode e after `reset(seed=s)` is replication e of the scenario with `run.seed = s`: the same seed and actions give the same bits, on every
machine. An episode ends with the run (it is truncated; nothing is terminal).

A `Policy` that was learned is saved to a file, and runs wherever a queue or a congestion control does:
`sojourn suite rfc7928 --queue 'gym:aqm policy=policy.json'`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from sojourn import _core
from sojourn.errors import (
    BadValueError,
    ContradictionError,
    MissingLibraryError,
    ResultsIOError,
    WrongTypeError,
)
from sojourn.files import write_whole
from sojourn.scenario import Scenario, ScenarioLike, as_scenario, dumbbell, path_of

try:
    import gymnasium
    import numpy as np
    from gymnasium import spaces
    from gymnasium.vector import AutoresetMode, VectorEnv
    from numpy.typing import ArrayLike, NDArray
except ImportError:
    raise MissingLibraryError(
        "sojourn.gym needs Gymnasium and NumPy: pip install 'sojourn[gym]'"
    ) from None

__all__ = [
    "AQM",
    "BOUND",
    "CONTROL",
    "AqmEnv",
    "AqmVectorEnv",
    "ControlEnv",
    "ControlVectorEnv",
    "Policy",
    "default_scenario",
]

AQM: Final = "gym:aqm"
"""The queue that an agent drives, and the name of its policies."""

CONTROL: Final = "gym:control"
"""The congestion control that an agent drives, and the name of its policies."""

BOUND: Final = 10.0
"""Every number of an observation lies between minus this and this."""

Singles: TypeAlias = NDArray[np.float32]
Doubles: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Scenarios: TypeAlias = ScenarioLike | Sequence[ScenarioLike]
"""One scenario, or several that episodes take in turn."""


def default_scenario(component: str) -> Scenario:
    """The scenario of `AqmEnv` (`component="gym:aqm"`) or `ControlEnv` (`"gym:control"`): a bottleneck of 20 Mbps with a round trip of 40 ms, for 20 s.

    Four CUBIC flows fill the learned queue; the learned control has a DropTail queue of 100 packets, one and a half times what the path
    holds, to itself.
    """
    if component == AQM:
        return dumbbell(
            name="gym-aqm",
            rate="20Mbps",
            rtt="40ms",
            queue=AQM,
            flows=["4*cubic"],
            duration="20s",
            warmup="0s",
            start_spread="100ms",
        )
    if component == CONTROL:
        return dumbbell(
            name="gym-control",
            rate="20Mbps",
            rtt="40ms",
            queue="droptail limit=100p",
            flows=[CONTROL],
            duration="20s",
            warmup="0s",
            start_spread="100ms",
        )
    raise BadValueError(f"{component!r} is no component for agents; there are {AQM} and {CONTROL}")


class _Core:
    """The runs of an environment or of several."""

    def __init__(
        self,
        component: str,
        scenarios: Scenarios | None,
        spec: str | None,
        place: str,
        number: int,
        threads: int,
        reward: tuple[str, Mapping[str, float]],
    ) -> None:
        form, weights = reward
        listed = [
            (scenario.to_json(), scenario.name)
            for scenario in _placed(component, scenarios, spec, place)
        ]
        weighed = [float(weights.get(name, 0.0)) for name in _WEIGHTS]
        self.fleet = _core.GymFleet(component, listed, number, threads, form, weighed)
        self.number = number
        self.names = tuple(self.fleet.observation_names)
        self.facts = tuple(self.fleet.fact_names)
        self.observation_space = spaces.Box(-BOUND, BOUND, (len(self.names),), np.float32)
        self.action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, seeds: Sequence[int | None]) -> tuple[Singles, Doubles, Flags, Doubles]:
        return self._arrays(self.fleet.reset(list(seeds)))

    def step(self, actions: ArrayLike) -> tuple[Singles, Doubles, Flags, Doubles]:
        given = np.ascontiguousarray(actions, dtype=np.float32)
        if given.size != self.number:
            raise WrongTypeError(
                f"action: {given.size} numbers are given, but {self.number} environments take one each"
            )
        return self._arrays(self.fleet.step(given.tobytes()))

    def _arrays(
        self, told: tuple[bytearray, bytearray, bytearray, bytearray]
    ) -> tuple[Singles, Doubles, Flags, Doubles]:
        observations, rewards, truncated, facts = told
        return (
            np.frombuffer(observations, np.float32).reshape(self.number, -1),
            np.frombuffer(rewards, np.float64),
            np.frombuffer(truncated, np.bool_),
            np.frombuffer(facts, np.float64).reshape(self.number, -1),
        )


_WEIGHTS = ("throughput", "delay", "loss", "reference")


def _placed(
    component: str, scenarios: Scenarios | None, spec: str | None, place: str
) -> list[Scenario]:
    """The scenarios, with the component in its place where it is not in them."""
    if scenarios is None:
        given = [default_scenario(component)]
    elif isinstance(scenarios, Sequence) and not isinstance(scenarios, str):
        given = [as_scenario(scenario) for scenario in scenarios]
    else:
        given = [as_scenario(scenarios)]
    if not given:
        raise BadValueError("scenario: an empty list is given, but one scenario is needed")
    placed = []
    for scenario in given:
        inside = component in scenario.to_json()
        if inside and spec is not None and scenarios is not None:
            raise ContradictionError(
                f"{scenario.name} has {component} already; write its parameters there and not in {spec!r}"
            )
        if not inside or spec is not None:
            scenario = scenario.with_(place, spec or component)
        placed.append(scenario)
    return placed


class _Env(gymnasium.Env[Singles, Singles]):
    """One run at a time."""

    # Not a class variable in Gymnasium.
    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(self, core: _Core) -> None:
        self._core = core
        self._begun = False
        self.observation_space = core.observation_space
        self.action_space = core.action_space
        self.observation_names = core.names
        """What the numbers of an observation are."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Singles, dict[str, Any]]:
        """Begins an episode: the first of `seed`, or the next of the seed before. Without any, a random seed is drawn."""
        super().reset(seed=seed, options=options)
        if seed is None and not self._begun:
            seed = int(self.np_random.integers(2**31))
        self._begun = True
        observations, _, _, facts = self._core.reset([seed])
        return observations[0], self._info(facts)

    def step(self, action: ArrayLike) -> tuple[Singles, float, bool, bool, dict[str, Any]]:
        """Takes an action for one interval. `info` has facts about the interval in SI units."""
        if not self._begun:
            raise gymnasium.error.ResetNeeded("step() needs reset() before it")
        observations, rewards, truncated, facts = self._core.step(action)
        return observations[0], float(rewards[0]), False, bool(truncated[0]), self._info(facts)

    def _info(self, facts: Doubles) -> dict[str, Any]:
        return dict(zip(self._core.facts, facts[0].tolist(), strict=True))


class _VectorEnv(VectorEnv[Singles, Singles, Any]):
    """Many runs at a time."""

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(self, core: _Core) -> None:
        self._core = core
        self._begun = False
        self.num_envs = core.number
        self.single_observation_space = core.observation_space
        self.single_action_space = core.action_space
        self.observation_space = gymnasium.vector.utils.batch_space(
            core.observation_space, core.number
        )
        self.action_space = gymnasium.vector.utils.batch_space(core.action_space, core.number)
        self.observation_names = core.names
        """What the numbers of an observation are."""
        self._all = np.ones(core.number, np.bool_)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Singles, dict[str, Any]]:
        """Begins an episode in every environment: of the seeds `seed`, `seed + 1`, ..., of a list of seeds, or the next of the seeds before."""
        number = self.num_envs
        seeds: list[int | None]
        if seed is None:
            seeds = [None] * number
        elif isinstance(seed, Sequence):
            seeds = list(seed)
        else:
            super().reset(seed=seed, options=options)
            seeds = [seed + i for i in range(number)]
        if len(seeds) != number:
            raise WrongTypeError(f"seed: {len(seeds)} are given for {number} environments")
        if not self._begun:
            drawn = self.np_random.integers(2**31, size=number)
            seeds = [int(drawn[i]) if chosen is None else chosen for i, chosen in enumerate(seeds)]
        self._begun = True
        observations, _, _, facts = self._core.reset(seeds)
        return observations, self._infos(facts)

    def step(self, actions: ArrayLike) -> tuple[Singles, Doubles, Flags, Flags, dict[str, Any]]:
        """Takes an action in every environment. Where an episode was truncated before, the action is not used and the next episode begins."""
        if not self._begun:
            raise gymnasium.error.ResetNeeded("step() needs reset() before it")
        observations, rewards, truncated, facts = self._core.step(actions)
        terminated = np.zeros(self.num_envs, np.bool_)
        return observations, rewards, terminated, truncated, self._infos(facts)

    def _infos(self, facts: Doubles) -> dict[str, Any]:
        told: dict[str, Any] = {}
        for name, column in zip(self._core.facts, facts.T, strict=True):
            told[name] = column
            told[f"_{name}"] = self._all
        return told


def _aqm(
    scenario: Scenarios | None,
    queue: str | None,
    number: int,
    threads: int,
    weights: Mapping[str, float],
) -> _Core:
    return _Core(AQM, scenario, queue, "topology.queue", number, threads, ("", weights))


class AqmEnv(_Env):
    """An agent sets the drop probability or the delay threshold of a queue, once per interval.

    `scenario` is a scenario, its dict, the path of its file, or a list of them that episodes take in turn. Its bottleneck queue becomes
    `queue`, such as `"gym:aqm interval=20ms ecn=true"` or `"gym:aqm act=delay"`, unless it has a queue `gym:aqm` itself. The interval is
    10 ms unless the queue says so.

    An action a is one number from -1 to 1. With `act=probability` packets are dropped (with `ecn=true`: marked, where they can be) with the
    probability `max_probability` ((a + 1) / 2)^2; with `act=delay` those are that would wait longer than `max_delay` (a + 1) / 2.

    An observation has eight numbers: the delay of the head of the queue, its change, and the time that the backlog takes on the link, each
    in units of 20 ms; bytes sent and bytes arrived over what the link could send; the shares of arriving packets that were dropped and
    marked; the action. All are of the interval, or at its end.

    The reward is throughput_weight * ln(utilization) - delay_weight * ln(1 + queue delay / delay_reference) - loss_weight * share dropped
    (Winstein and Balakrishnan 2013, section 3.3), with a utilization from 0.01 to 1 and `delay_reference` in seconds.
    """

    def __init__(
        self,
        scenario: Scenarios | None = None,
        *,
        queue: str | None = None,
        throughput_weight: float = 1.0,
        delay_weight: float = 1.0,
        loss_weight: float = 0.0,
        delay_reference: float = 0.02,
    ) -> None:
        weights = {
            "throughput": throughput_weight,
            "delay": delay_weight,
            "loss": loss_weight,
            "reference": delay_reference,
        }
        super().__init__(_aqm(scenario, queue, 1, 1, weights))


class AqmVectorEnv(_VectorEnv):
    """As `AqmEnv`, for `num_envs` runs that advance in one call, by `threads` threads. The same seeds give the same bits as single environments."""

    def __init__(
        self,
        num_envs: int = 1,
        scenario: Scenarios | None = None,
        *,
        queue: str | None = None,
        throughput_weight: float = 1.0,
        delay_weight: float = 1.0,
        loss_weight: float = 0.0,
        delay_reference: float = 0.02,
        threads: int = 1,
    ) -> None:
        weights = {
            "throughput": throughput_weight,
            "delay": delay_weight,
            "loss": loss_weight,
            "reference": delay_reference,
        }
        super().__init__(_aqm(scenario, queue, num_envs, threads, weights))


# The weights of the sources: Winstein and Balakrishnan 2013; Jay et al. 2019.
_CONTROL_WEIGHTS: Final[dict[str, dict[str, float]]] = {
    "power": {"throughput": 1.0, "delay": 1.0, "loss": 1.0},
    "linear": {"throughput": 10.0, "delay": 1000.0, "loss": 2000.0},
}


def _control(
    scenario: Scenarios | None,
    control: str | None,
    number: int,
    threads: int,
    reward: str,
    given: Mapping[str, float | None],
) -> _Core:
    if reward not in _CONTROL_WEIGHTS:
        raise BadValueError(f"reward={reward!r}: allowed are {', '.join(_CONTROL_WEIGHTS)}")
    chosen = {name: value for name, value in given.items() if value is not None}
    weights = {**_CONTROL_WEIGHTS[reward], **chosen}
    return _Core(CONTROL, scenario, control, "flows[0]", number, threads, (reward, weights))


class ControlEnv(_Env):
    """An agent changes the window or the pacing rate of one flow, once per interval.

    `scenario` is as for `AqmEnv`. The first entry of its `flows` becomes `control`, such as `"gym:control interval=20ms"` or `"gym:control act=rate"`, unless it
    has a flow with `gym:control` itself. The interval is 40 ms, the default scenario's round trip, unless the flow says so. The first
    observation is that of the first interval after the connection is established.

    An action a is one number from -1 to 1: the window (`act=window`) or the pacing rate (`act=rate`) is multiplied by 2^a.

    An observation has ten numbers: the mean round trip over the shortest one, less 1; the change of the mean over the shortest; bytes sent over
    bytes delivered, less 1; the shares of bytes lost and marked; bytes in flight over the window; the window over what the path holds
    (highest delivery rate times shortest round trip); the delivery rate over the highest so far; log2 of the window in segments, over 10; the
    interval over the shortest round trip.

    With `reward="power"` the reward is throughput_weight * ln(delivery rate / rate of the path) - delay_weight * ln(rtt / shortest rtt) - loss_weight *
    share lost, the weights 1 (Winstein and Balakrishnan 2013, section 3.3); with `reward="linear"` it is a thousandth of throughput_weight * packets
    per second - delay_weight * rtt in seconds - loss_weight * share lost, the weights 10, 1000 and 2000 (Jay et al. 2019, section 3.1).
    """

    def __init__(
        self,
        scenario: Scenarios | None = None,
        *,
        control: str | None = None,
        reward: str = "power",
        throughput_weight: float | None = None,
        delay_weight: float | None = None,
        loss_weight: float | None = None,
    ) -> None:
        given = {"throughput": throughput_weight, "delay": delay_weight, "loss": loss_weight}
        super().__init__(_control(scenario, control, 1, 1, reward, given))


class ControlVectorEnv(_VectorEnv):
    """As `ControlEnv`, for `num_envs` runs that advance in one call, by `threads` threads. The same seeds give the same bits as single environments."""

    def __init__(
        self,
        num_envs: int = 1,
        scenario: Scenarios | None = None,
        *,
        control: str | None = None,
        reward: str = "power",
        throughput_weight: float | None = None,
        delay_weight: float | None = None,
        loss_weight: float | None = None,
        threads: int = 1,
    ) -> None:
        given = {"throughput": throughput_weight, "delay": delay_weight, "loss": loss_weight}
        super().__init__(_control(scenario, control, num_envs, threads, reward, given))


Layer: TypeAlias = tuple[ArrayLike, ArrayLike, str]
"""Weights (one row for each number that comes out), bias, and `"none"`, `"relu"` or `"tanh"`."""


class Policy:
    """A small network of layers that gives an action for an observation: what `gym:aqm` and `gym:control` evaluate.

    `component` is `"gym:aqm"` or `"gym:control"`; the last layer gives one number, which is cut to -1 to 1. Called with one observation or a batch
    of them, it gives one action for each, to the bit as the component computes it.
    """

    def __init__(self, component: str, layers: Sequence[Layer]) -> None:
        written = [
            {
                "weights": np.asarray(weights, np.float64).tolist(),
                "bias": np.asarray(bias, np.float64).tolist(),
                "activation": activation,
            }
            for weights, bias, activation in layers
        ]
        text = json.dumps({"format": "sojourn-policy-1", "component": component, "layers": written})
        self._policy = _read(text, "Policy")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Policy:
        """The policy of a file that `save` wrote."""
        file = Path(path_of("path", path, "the path of a policy"))
        try:
            text = file.read_text(encoding="utf-8")
        except OSError as error:
            raise ResultsIOError(
                f"{file}: cannot read the policy: {error.strerror}", file=str(file)
            ) from error
        policy = cls.__new__(cls)
        policy._policy = _read(text, str(file))
        return policy

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the policy as JSON; returns the file."""
        file = Path(path_of("path", path, "the path of a JSON file"))
        write_whole(file, self._policy.to_json().encode(), "the policy")
        return file

    @property
    def component(self) -> str:
        """The component that it drives."""
        return self._policy.component

    def __call__(self, observations: ArrayLike) -> Singles:
        """The actions for observations: of shape (1,) for one, (n, 1) for n."""
        given = np.ascontiguousarray(observations, dtype=np.float32)
        if given.shape[-1] != self._policy.inputs:
            raise WrongTypeError(
                f"observations of {given.shape[-1]} numbers are given, but the policy takes {self._policy.inputs}"
            )
        actions = np.frombuffer(self._policy.act(given.tobytes()), np.float32)
        return actions.reshape(*given.shape[:-1], 1)

    def __repr__(self) -> str:
        return f"<sojourn.gym.Policy for {self.component}: {self._policy.inputs} numbers in>"


def _read(text: str, where: str) -> _core.GymPolicy:
    try:
        return _core.GymPolicy(text)
    except ValueError as error:
        raise BadValueError(f"{where}: {error}") from error


def _register() -> None:
    for name, single, vector in (
        ("Aqm", "AqmEnv", "AqmVectorEnv"),
        ("Control", "ControlEnv", "ControlVectorEnv"),
    ):
        gymnasium.register(
            id=f"sojourn/{name}-v0",
            entry_point=f"sojourn.gym:{single}",
            vector_entry_point=f"sojourn.gym:{vector}",
        )


_register()
