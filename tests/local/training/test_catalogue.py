"""The table of what can be trained says of AgileRL what AgileRL does."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from arena_sdk.local.serving.policy import make_policy
from arena_sdk.local.training import observations
from arena_sdk.local.training.agents import dump, restore
from arena_sdk.local.training.catalogue import (
    ALGORITHMS,
    Family,
    encoder_problem,
    encoders_for,
    fitting_algorithms,
    space_problem,
)
from arena_sdk.local.training.errors import TrainingError
from arena_sdk.local.training.exploring import learned_action_space, make_explorer
from arena_sdk.local.training.learning import make_learner
from arena_sdk.local.training.replay import Replay
from arena_sdk.local.training.spec import RunSpec, build_agent, read_manifest
from arena_sdk.local.training.vectorize import ActionAdapter, Step

VECTOR = spaces.Box(-1, 1, (4,), np.float32)
IMAGE = spaces.Box(0, 255, (12, 12, 3), np.uint8)
SCALAR = spaces.Box(-1, 1, (), np.float32)
TABLE = spaces.Box(-1, 1, (3, 2), np.float32)
REFUSED = {
    "scalar": SCALAR,
    "table": TABLE,
    "film": spaces.Box(0, 1, (2, 8, 8, 3), np.float32),
    "table inside": spaces.Dict({"a": VECTOR, "b": TABLE}),
    "bits inside": spaces.Tuple((VECTOR, spaces.MultiBinary(2))),
    "bits in rows": spaces.MultiBinary([2, 3]),
    "choices in rows": spaces.MultiDiscrete([[3, 2], [2, 2]]),
    "from one": spaces.Discrete(3, start=1),
}
OBSERVATIONS = {
    "vector": VECTOR,
    "double": spaces.Box(-np.inf, np.inf, (3,), np.float64),
    "image": IMAGE,
    "discrete": spaces.Discrete(5),
    "multidiscrete": spaces.MultiDiscrete([3, 2]),
    "multibinary": spaces.MultiBinary(4),
    "dict": spaces.Dict({"place": VECTOR, "view": IMAGE, "kind": spaces.Discrete(3)}),
    "tuple": spaces.Tuple((VECTOR, spaces.MultiDiscrete([2, 3]), SCALAR)),
}
ACTIONS = {
    "Discrete": spaces.Discrete(3),
    "Box": spaces.Box(np.array([-2, 0], np.float32), np.array([2, 5], np.float32)),
    "MultiDiscrete": spaces.MultiDiscrete([2, 3]),
    "MultiBinary": spaces.MultiBinary(3),
}
ENCODERS: dict[str, dict[str, Any]] = {
    "mlp": {"hidden_size": [8]},
    "simba": {"hidden_size": 8, "num_blocks": 1},
    "cnn": {"channel_size": [4], "kernel_size": [3], "stride_size": [2]},
    "multiinput": {"latent_dim": 16},
}
COPIES = 2


def spec_of(name: str, arch: str | None = None, **buffer: Any) -> RunSpec:
    """Return a small run; the smallest that the contract's own network section allows."""
    manifest: dict[str, Any] = {
        "algorithm": {"name": name, "batch_size": 4},
        "environment": {"name": "any", "num_envs": COPIES},
        "replay_buffer": buffer,
    }
    if arch is not None:
        encoder = {"arch": arch, **ENCODERS[arch]}
        manifest["network"] = {"latent_dim": 16, "encoder_config": encoder}
    return read_manifest({"manifest": manifest})


def learn_by_replay(agent: Any, spec: RunSpec, observation: Any, action: Any) -> None:
    """Act, store and learn twice."""
    replay = Replay(
        32,
        observation,
        learned_action_space(spec.algorithm, action),
        n_step=spec.n_step,
        alpha=spec.alpha,
    )
    explorer, after = make_explorer(agent, spec, 0.5), None
    none = np.zeros(COPIES, dtype=np.bool_)
    for _ in range(4):
        obs, successor = (
            observations.stack(observation, [observation.sample() for _ in range(COPIES)])
            for _ in range(2)
        )
        stored, _ = explorer.act(obs, None)
        step = Step(successor, successor, np.ones(COPIES), none, none, None)
        after = replay.add(obs, stored, step, after)
    with make_learner(agent, replay, spec, np.random.default_rng(0)) as learn:
        learn(0)
        learn(1)


def serve(agent: Any, observation: Any, action: Any) -> None:
    """Ask for actions as a deployment does; they are the environment's, and always the same."""
    policy, adapt = make_policy(agent), ActionAdapter(action)
    obs = observations.stack(observation, [observation.sample() for _ in range(3)])
    first, second = adapt(policy(obs, None)), adapt(policy(obs, None))
    assert np.array_equal(first, second)
    assert len(first) == 3
    assert all(action.contains(one) for one in first)


REPLAYED = [
    name
    for name, known in ALGORITHMS.items()
    if known.family is Family.REPLAY and not known.multi_agent
]


@pytest.mark.parametrize("name", REPLAYED)
@pytest.mark.parametrize("seen", OBSERVATIONS)
def test_every_observation_that_is_allowed_is_learned_from(name: str, seen: str) -> None:
    observation, action = OBSERVATIONS[seen], ACTIONS[ALGORITHMS[name].actions[0]]
    assert space_problem(name, observation, action) is None
    spec = spec_of(name)
    agent = build_agent(spec, observation, action, 0)
    learn_by_replay(agent, spec, observation, action)
    serve(restore(dump(agent)), observation, action)


def _train_for_a_while(observation: Any, action: Any) -> None:
    agent = build_agent(spec_of("DQN"), observation, action, 0)
    for _ in range(20):
        learn_by_replay(agent, spec_of("DQN"), observation, action)


@pytest.mark.parametrize("seen", REFUSED)
def test_every_observation_that_is_refused_fails_in_agilerl(
    seen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    observation, action = REFUSED[seen], ACTIONS["Discrete"]
    problem = space_problem("DQN", observation, action)
    assert problem is not None
    assert problem.startswith("DQN cannot train on observations of ")
    with pytest.raises(TrainingError, match="DQN cannot train"):
        build_agent(spec_of("DQN"), observation, action, 0)
    monkeypatch.setattr("arena_sdk.local.training.spec.refuse_spaces", lambda *_: None)
    with pytest.raises((TrainingError, RuntimeError, ValueError)):
        _train_for_a_while(observation, action)


@pytest.mark.parametrize("name", REPLAYED)
@pytest.mark.parametrize("kind", ACTIONS)
def test_actions_are_refused_where_agilerl_has_no_use_for_them(name: str, kind: str) -> None:
    problem = space_problem(name, VECTOR, ACTIONS[kind])
    assert (problem is None) == (kind in ALGORITHMS[name].actions)
    if problem is not None:
        with pytest.raises(TrainingError, match=f"^{name} cannot train on actions of {kind}"):
            build_agent(spec_of(name), VECTOR, ACTIONS[kind], 0)


@pytest.mark.parametrize("seen", ["vector", "image", "multibinary", "dict"])
@pytest.mark.parametrize("arch", ENCODERS)
def test_encoders_are_refused_where_they_cannot_read(arch: str, seen: str) -> None:
    observation = OBSERVATIONS[seen]
    problem = encoder_problem(arch, observation)
    assert (problem is None) == (arch in encoders_for(observation))
    if problem is not None:
        with pytest.raises(TrainingError, match=f"arch {arch} cannot read"):
            build_agent(spec_of("DQN", arch), observation, ACTIONS["Discrete"], 0)
        return
    agent = build_agent(spec_of("DQN", arch), observation, ACTIONS["Discrete"], 0)
    learn_by_replay(agent, spec_of("DQN", arch), observation, ACTIONS["Discrete"])


def test_all_algorithms_are_told_of_an_environment() -> None:
    fits = fitting_algorithms(VECTOR, ACTIONS["Box"])
    assert list(fits) == list(ALGORITHMS)
    assert fits["TD3"] is None
    assert "it can on Discrete" in str(fits["DQN"])


@pytest.mark.parametrize("buffer", [{"per_buffer": True}, {"n_step_buffer": True}])
@pytest.mark.parametrize("name", REPLAYED)
def test_replay_is_prioritized_and_looks_ahead_where_asked(
    name: str, buffer: dict[str, bool]
) -> None:
    spec, action = spec_of(name, **buffer), ACTIONS[ALGORITHMS[name].actions[0]]
    assert spec.warnings == []
    agent = build_agent(spec, VECTOR, action, 0)
    learn_by_replay(agent, spec, VECTOR, action)


def test_the_table_is_read_without_torch() -> None:
    program = (
        "import sys; from arena_sdk.local.training import catalogue; "
        "assert not {'torch', 'agilerl', 'tensordict'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
