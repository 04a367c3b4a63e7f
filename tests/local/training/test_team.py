"""Several agents: every step of theirs happened, and what is served is what was learned."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from arena_sdk.local.serving.policy import make_policy, spaces_of
from arena_sdk.local.training import observations, off_policy, on_policy_team
from arena_sdk.local.training.agents import dump, hyperparameters, restore
from arena_sdk.local.training.errors import TrainingError
from arena_sdk.local.training.host import make_replay
from arena_sdk.local.training.population import Population
from arena_sdk.local.training.spec import RunSpec, build_agent, read_manifest
from arena_sdk.local.training.stage import Stage
from arena_sdk.local.training.tasks import Setup, TrainTask
from arena_sdk.local.training.team import TeamEnv, TeamSpace, TeamVector
from arena_sdk.local.training.vectorize import make_adapter
from arena_sdk.local.validation.loading import make_env

from .support import custom

COPIES = 2


def pair(**config: Any) -> TeamEnv:
    reference = {**custom("Pair", **config), "entrypoint": "pairs:Pair"}
    return TeamEnv(make_env(reference))


def stage_of(make: Any) -> Stage:
    vector = TeamVector(make, COPIES)
    stage = Stage(vector, make_adapter(make().action_space), seed=0)
    stage.enter(0)
    return stage


def spec_of(name: str, **mutation: Any) -> RunSpec:
    algorithm: dict[str, Any] = {"name": name, "batch_size": 8}
    if name == "IPPO":
        algorithm["learn_step"] = 16
    manifest = {
        "algorithm": algorithm,
        "environment": {"name": "pair", "num_envs": COPIES},
        "training": {"max_steps": 40, "pop_size": 2},
        "mutation": mutation,
    }
    return read_manifest({"manifest": manifest})


def train(name: str, make: Any) -> tuple[Any, Stage, Any]:
    """Train an agent for a few steps; return it, its stage and its buffer."""
    stage, spec = stage_of(make), spec_of(name)
    space = make()
    setup = Setup(spec, {}, space.observation_space, space.action_space, "sync", 100)
    agent = build_agent(spec, setup.observation_space, setup.action_space, 0)
    agent.set_training_mode(True)
    agent.init_training_step()
    task = TrainTask(0, 0, None, 40, 1.0, 0)
    never = bool
    if name == "IPPO":
        on_policy_team.train(agent, stage, task, lambda _s: False, dormancy=False)
        return agent, stage, never
    replay, rng = make_replay(setup), np.random.default_rng(0)
    off_policy.train(agent, stage, replay, spec, task, rng, lambda _s: False, dormancy=False)
    return agent, stage, replay


@pytest.mark.parametrize("end", ["terminated", "truncated"])
def test_every_stored_step_of_a_team_happened(end: str) -> None:
    _, stage, replay = train("MADDPG", partial(pair, length=5, leaves=3, end=end))
    batch = replay.sample(200, np.random.default_rng(0))
    t = batch["obs"]["first"][:, 1]
    assert np.array_equal(batch["next_obs"]["first"][:, 1], t + 1)
    assert np.array_equal(batch["done"]["first"][:, 0] == 1, (t == 4) & (end == "terminated"))
    assert set(batch["reward"]["first"][:, 0].tolist()) == {1.0}
    gone = t >= 3
    assert np.array_equal(batch["reward"]["second"][:, 0], np.where(gone, 0.0, 2.0))
    assert np.array_equal(batch["done"]["second"][:, 0] == 1, t >= 2)
    assert float(batch["obs"]["second"][t >= 4].abs().sum()) == 0.0
    assert batch["action"]["first"].shape == (200, 2)
    assert stage.scores == [5 * 1.0 + 3 * 2.0] * (40 // 5)


def test_a_rollout_tells_where_episodes_begin_and_what_limits_hid() -> None:
    spec, stage = spec_of("IPPO"), stage_of(partial(pair, length=4, leaves=2, end="truncated"))
    space: Any = stage.vector
    agent = build_agent(spec, space._space, pair().action_space, 0)
    found = on_policy_team.collect(agent, stage, 8, lambda _steps: False)
    assert found is not None
    _, _, _, rewards, dones, _, _, next_dones = found
    assert [bool(began[0]) for began in dones["first"]] == [t == 4 for t in range(8)]
    assert next_dones["first"].tolist() == [1.0, 1.0]
    assert rewards["first"][2].tolist() == [1.0, 1.0]
    assert rewards["first"][3].tolist() != [1.0, 1.0]  # with the worth of what was cut off
    assert rewards["second"][3].tolist() == [0.0, 0.0]  # it had left: nothing was cut off


@pytest.mark.parametrize("name", ["MADDPG", "MATD3", "IPPO"])
@pytest.mark.parametrize("continuous", [False, True])
def test_teams_are_trained_stored_and_served(name: str, continuous: bool) -> None:
    reference = {**custom("Signals", continuous=continuous), "entrypoint": "pairs:Signals"}
    agent, _, _ = train(name, lambda: TeamEnv(make_env(reference)))
    again = restore(dump(agent), 7)
    assert again.index == 7
    assert hyperparameters(again) == hyperparameters(agent)
    observation_space, action_space = spaces_of(again)
    assert isinstance(action_space, TeamSpace)
    assert action_space.agents == ("a_0", "b_0")
    batch = observations.stack(observation_space, [observation_space.sample() for _ in range(3)])
    policy, adapt = make_policy(again), make_adapter(action_space)
    first, second = adapt(policy(batch, None)), adapt(policy(batch, None))
    for agent_id, space in action_space.items():
        assert np.array_equal(first[agent_id], second[agent_id])
        assert all(space.contains(one) for one in first[agent_id])


def test_a_choice_keeps_to_what_is_legal() -> None:
    for name in ("MADDPG", "IPPO"):
        agent, _, _ = train(name, pair)
        policy = make_policy(agent)
        batch = observations.stack(pair().observation_space, [pair().reset()[0]] * 2)
        for legal in (0, 1):
            mask = {"first": np.eye(2)[[legal, legal]]}
            assert policy(batch, mask)["first"].tolist() == [legal, legal]


@pytest.mark.parametrize("name", ["MADDPG", "MATD3", "IPPO"])
@pytest.mark.parametrize("kind", ["arch_mut", "params_mut", "rl_hp_mut"])
def test_teams_evolve(name: str, kind: str) -> None:
    spec = spec_of(name, probabilities={"no_mut": 0.0, kind: 1.0}, rand_seed=1)
    population = Population.first(spec, pair().observation_space, pair().action_space)
    for record, fitness in zip(population.members, (1.0, 2.0), strict=True):
        record.fitness = fitness
    population.evolve(1)
    child = next(record for record in population.members if record.parent is not None)
    assert child.parent in (0, 1)
    assert child.mutation is not None
    assert child.hyperparameters.keys() == hyperparameters(restore(population.agents[1])).keys()


def test_several_agents_and_one_are_told_apart() -> None:
    spec = read_manifest({"manifest": {"algorithm": {"name": "DQN"}, "environment": {}}})
    env = pair()
    with pytest.raises(TrainingError, match="DQN trains one agent and the environment has 2"):
        build_agent(spec, env.observation_space, env.action_space, 0)
    with pytest.raises(TrainingError, match="MADDPG trains several agents and the environment"):
        build_agent(spec_of("MADDPG"), env.observation_space["first"], env.action_space["first"], 0)
