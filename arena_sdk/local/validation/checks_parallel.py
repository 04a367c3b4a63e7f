"""The checks of a PettingZoo ParallelEnv, under the same names as those of a Gymnasium one."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from arena_sdk.local.validation import checks
from arena_sdk.local.validation.actions import TeamActions
from arena_sdk.local.validation.budget import Budget
from arena_sdk.local.validation.checks_life import ENDLESS_EPISODES, LIFE_SECONDS
from arena_sdk.local.validation.checks_reset import (
    SIGNATURE,
    blame,
    warn_of_global_chance,
    watch_memory,
)
from arena_sdk.local.validation.checks_step import (
    REPEATED_STEPS,
    WATCH_SECONDS,
    warn_of_unsendable,
)
from arena_sdk.local.validation.closing import check_close
from arena_sdk.local.validation.compare import Difference, find_difference
from arena_sdk.local.validation.loading import accepts
from arena_sdk.local.validation.masks import judge_mask
from arena_sdk.local.validation.problems import CheckFailed
from arena_sdk.local.validation.spaces import find_misfit, find_oddity, space_tree
from arena_sdk.local.validation.spawned import check_spawn
from arena_sdk.local.validation.subject import Subject, Warn, snapshot
from arena_sdk.local.validation.transition import reward_problem

EPISODES = 4
EPISODE_STEPS = 300
ENDLESS_STEPS = 5_000
DICTS = ("observations", "rewards", "terminations", "truncations", "infos")
STEP_FORM = "(observations, rewards, terminations, truncations, infos), each a dict by agent"


def preliminary(subject: Subject, warn: Warn) -> None:
    """The constructor makes an environment that names its possible agents."""
    checks.preliminary(subject, warn)
    agents = getattr(subject.env, "possible_agents", None)
    if not isinstance(agents, list | tuple) or not agents:
        raise CheckFailed(
            "The environment has no possible_agents. Set self.possible_agents, a list of every"
            " agent's name, in __init__.",
            fatal=True,
        )


def _each_space(subject: Subject, kind: str) -> dict[str, Any]:
    method = getattr(subject.env, f"{kind}_space", None)
    if not callable(method):
        raise CheckFailed(
            f"{kind}_space is not a method. Declare def {kind}_space(self, agent).", fatal=True
        )
    found: dict[str, Any] = {}
    for agent in subject.env.possible_agents:
        found[str(agent)] = subject.call(f"{kind}_space({agent!r})", method, agent)
        checks.judge_space(found[str(agent)], kind, f"Agent {agent!r}")
        checks.refuse_own_classes(subject, found[str(agent)], f"{agent}'s {kind}")
    return found


def _space(subject: Subject, kind: str, warn: Warn) -> None:
    found = _each_space(subject, kind)
    method = getattr(subject.env, f"{kind}_space")
    for agent in subject.env.possible_agents:
        if method(agent) is not method(agent):
            warn(
                f"{kind}_space({agent!r}) makes a new space at every call, so that seeding it"
                " has no effect. Keep the spaces, or decorate it with functools.lru_cache."
            )
            break
    subject.facts[kind] = {
        "type": "Dict",
        "spaces": {agent: space_tree(space) for agent, space in found.items()},
    }


def action_space(subject: Subject, warn: Warn) -> None:
    """Every agent has an action space."""
    _space(subject, "action", warn)


def observation_space(subject: Subject, warn: Warn) -> None:
    """Every agent has an observation space."""
    _space(subject, "observation", warn)


def action_limits(subject: Subject, warn: Warn) -> None:
    """The action spaces have limits that a policy can use."""
    for agent, space in _each_space(subject, "action").items():
        checks.warn_of_action_limits(space, warn, f"{agent}'s ")


def observation_limits(subject: Subject, warn: Warn) -> None:
    """The observation spaces have sensible limits."""
    for agent, space in _each_space(subject, "observation").items():
        checks.warn_of_observation_limits(space, warn, f"{agent}'s ")


def return_type(subject: Subject, warn: Warn) -> None:
    """`reset` returns (observations, infos), both by agent."""
    result = subject.call("reset()", subject.env.reset)
    where = subject.where("reset")
    if not isinstance(result, tuple) or len(result) != 2:
        what = f"a {type(result).__name__}"
        raise CheckFailed(
            f"reset{where} returned {what}. Return (observations, infos), each a dict by agent.",
            fatal=True,
        )
    for name, part in zip(("observations", "infos"), result, strict=True):
        if not isinstance(part, dict):
            raise CheckFailed(
                f"reset{where} returned {name} that are a {type(part).__name__}. Return a dict by"
                " agent.",
                fatal=True,
            )


def seed(subject: Subject, warn: Warn) -> None:
    """`reset(seed=…)` governs all that is random at the start."""
    if not accepts(subject.env.reset, "seed"):
        raise CheckFailed(
            f"reset{subject.where('reset')} takes no seed. Declare {SIGNATURE.replace('*, ', '')}."
        )
    found = _difference_of_resets(subject)
    if found is None:
        warn_of_global_chance(subject, warn)
    elif not found.slight:
        raise CheckFailed(
            f"reset(seed=123) twice gave different observations: {found.first} and {found.second}"
            f" at {found.path}. {_blame(subject, _difference_of_resets)}"
        )


def _blame(subject: Subject, difference: Callable[[Subject], Any]) -> str:
    return blame(subject, difference).replace(
        "Use self.np_random, after super().reset(seed=seed).",
        "Keep a generator of your own: self.rng = np.random.default_rng(seed).",
    )


def _difference_of_resets(subject: Subject) -> Difference | None:
    first = snapshot(subject.reset(123)[0])
    return find_difference(first, subject.reset(123)[0])


def reset(subject: Subject, warn: Warn) -> None:
    """`reset` gives every live agent an observation of its space and an info."""
    for number in range(5):
        observations, infos = subject.reset(number)
        at = f"reset(seed={number})"
        live = _live(subject, at)
        if not live:
            raise CheckFailed(f"After {at} no agent is live: self.agents is empty.", fatal=True)
        for name, part in (("observations", observations), ("infos", infos)):
            _judge_agents(live, part, name, at)
        _judge_observations(subject, observations, live, at, warn)
        _judge_masks(subject, infos, live, [], at)
    watch_memory(subject, warn)


def _live(subject: Subject, at: str) -> list[Any]:
    agents = getattr(subject.env, "agents", None)
    if not isinstance(agents, list | tuple):
        raise CheckFailed(
            f"After {at} self.agents is a {type(agents).__name__}, not a list of live agents.",
            fatal=True,
        )
    strangers = [agent for agent in agents if agent not in subject.env.possible_agents]
    if strangers:
        raise CheckFailed(
            f"After {at} self.agents has {strangers[0]!r}, which possible_agents lacks.", fatal=True
        )
    return list(agents)


def _judge_agents(expected: list[Any], part: dict[Any, Any], name: str, at: str) -> None:
    missing = [agent for agent in expected if agent not in part]
    if missing:
        raise CheckFailed(
            f"{name.capitalize()} at {at} lack the live agent {missing[0]!r}. Give each of the five"
            " dicts an entry for every agent that was live before the step."
        )


def _warn_of_strangers(subject: Subject, part: dict[Any, Any], name: str, warn: Warn) -> None:
    strangers = [key for key in part if key not in subject.env.possible_agents]
    if strangers:
        warn(f"{name.capitalize()} have the key {strangers[0]!r}, which is no agent. Leave it out.")


def _judge_observations(
    subject: Subject, observations: dict[Any, Any], agents: list[Any], at: str, warn: Warn
) -> None:
    for agent in agents:
        space = subject.env.observation_space(agent)
        value = observations[agent]
        misfit = find_misfit(value, space)
        if misfit is not None:
            raise CheckFailed(misfit.sentence(f"The observation of {agent!r}", f" at {at}"))
        oddity = find_oddity(value, space)
        if oddity is not None:
            warn(f"The observation of {agent!r}{oddity}")


def _judge_masks(
    subject: Subject, infos: dict[Any, Any], agents: list[Any], gone: Collection[Any], at: str
) -> None:
    for agent in agents:
        space = subject.env.action_space(agent)
        judge_mask(space, infos[agent], at, ended=agent in gone, owner=f"{agent}'s ")


def _take_step(subject: Subject, actions: dict[Any, Any], at: str) -> tuple[dict[Any, Any], ...]:
    result = subject.call(lambda: f"step, {at},", subject.env.step, actions)
    if not isinstance(result, tuple | list) or len(result) != len(DICTS):
        where = subject.where("step")
        count = len(result) if isinstance(result, tuple | list) else 1
        raise CheckFailed(
            f"step{where} returned {count} value{'s' * (count != 1)}. Return {STEP_FORM}.",
            fatal=True,
        )
    for name, part in zip(DICTS, result, strict=True):
        if not isinstance(part, dict):
            raise CheckFailed(
                f"{name.capitalize()} at {at} are a {type(part).__name__}, not a dict by agent.",
                fatal=True,
            )
    return tuple(result)


def step(subject: Subject, warn: Warn) -> None:
    """Every step keeps its books right for every agent; the same seed gives the same."""
    budget = Budget(WATCH_SECONDS)
    for number in range(EPISODES):
        _watch_episode(subject, number, budget, warn)
    found = None if "Reset seed" in subject.failed else _difference_of_runs(subject)
    if found is not None and not found[2].slight:
        index, part, difference = found
        told = (
            f"{part}{difference.path} at step {index} are {difference.first} one time and"
            f" {difference.second} another"
        )
        cause = _blame(subject, _difference_of_runs)
        raise CheckFailed(f"With the same seed and the same actions {told}. {cause}")


def _watch_episode(subject: Subject, number: int, budget: Budget, warn: Warn) -> None:
    observations, infos = subject.reset(number)
    actions = TeamActions(subject.env, number, extremes=number % 2 == 1)
    gone: set[Any] = set()
    for index in range(1, EPISODE_STEPS + 1):
        at = f"step {index} of the episode with seed {number}"
        before = list(subject.env.agents)
        chosen = actions.next(observations, infos)
        kept = snapshot((observations, chosen))
        parts = _take_step(subject, chosen, at)
        _warn_of_altered(kept, (observations, chosen), warn)
        for name, part in zip(DICTS, parts, strict=True):
            _judge_agents(before, part, name, at)
            _warn_of_strangers(subject, part, name, warn)
        observations, rewards, terminations, truncations, infos = parts
        if index == 1:
            for agent, info in infos.items():
                if isinstance(info, dict):
                    warn_of_unsendable(info, warn, f"{agent}'s ")
        _judge_observations(subject, observations, before, at, warn)
        for agent in before:
            problem = reward_problem(rewards[agent])
            if problem:
                raise CheckFailed(f"The reward of {agent!r} at {at} {problem}")
        gone |= {agent for agent in before if terminations[agent] or truncations[agent]}
        _judge_masks(subject, infos, before, gone, at)
        _judge_books(subject, gone, before, at)
        if not subject.env.agents or budget.is_spent:
            return


def _warn_of_altered(kept: tuple[Any, ...], now: tuple[Any, ...], warn: Warn) -> None:
    """Warn when `step` changed what it had returned before, or was given."""
    for before, after, what in zip(kept, now, ("observations", "actions"), strict=True):
        found = find_difference(before, after)
        if found is not None:
            told = "that it returned before" if what == "observations" else "that it is given"
            warn(
                f"step changes the {what}{found.path} {told}, so whoever keeps them finds them"
                " altered. Return copies, and work on copies: value.copy()."
            )


def _judge_books(subject: Subject, gone: set[Any], before: list[Any], at: str) -> None:
    """The agents that are listed must be those that are not done."""
    live = _live(subject, at)
    undead = [agent for agent in live if agent in gone]
    if undead:
        raise CheckFailed(
            f"Agent {undead[0]!r} is still in self.agents after {at}, though it is done. Remove an"
            " agent in the step in which it terminates or is truncated."
        )
    lost = [agent for agent in before if agent not in live and agent not in gone]
    if lost:
        raise CheckFailed(
            f"Agent {lost[0]!r} left self.agents at {at} without being terminated or truncated. Set"
            " its flag in the step in which it leaves."
        )


def _difference_of_runs(subject: Subject) -> tuple[int, str, Difference] | None:
    first = _run(subject)
    for index, (one, two) in enumerate(zip(first, _run(subject), strict=False)):
        for name, left, right in zip(DICTS[:4], one, two, strict=False):
            found = find_difference(left, right)
            if found is not None:
                return index, name, found
    return None


def _run(subject: Subject) -> list[tuple[Any, ...]]:
    observations, infos = subject.reset(7)
    actions = TeamActions(subject.env, 7)
    kept: list[tuple[Any, ...]] = [(snapshot(observations),)]
    for index in range(1, REPEATED_STEPS + 1):
        parts = _take_step(subject, actions.next(observations, infos), f"step {index}")
        observations, infos = parts[0], parts[4]
        kept.append(tuple(snapshot(part) for part in parts[:4]))
        if not subject.env.agents:
            break
    return kept


def lifecycle(subject: Subject, warn: Warn) -> None:
    """Episodes end with no agent left, another one can follow, and closing leaves nothing."""
    budget = Budget(LIFE_SECONDS)
    endless: list[int] = []
    for number in range(100, 103):
        length, ended = _play_one(subject, number, budget)
        if ended:
            subject.reset(number, doing="reset() after the end of an episode")
        else:
            endless.append(length)
        if budget.is_spent or len(endless) >= ENDLESS_EPISODES:
            break
    if len(endless) >= ENDLESS_EPISODES and min(endless) >= ENDLESS_STEPS:
        raise CheckFailed(
            f"No episode ended within {ENDLESS_STEPS:,} steps of {len(endless)} random episodes;"
            " evaluating a policy would never end. Truncate every agent after a set number of"
            " steps."
        )
    if endless:
        warn(
            f"An episode did not end within {max(endless):,} random steps; make sure that there is"
            " a time limit."
        )
    if subject.spawns:
        check_spawn(subject, warn)
    check_close(subject, warn)


def _play_one(subject: Subject, number: int, budget: Budget) -> tuple[int, bool]:
    observations, infos = subject.reset(number)
    actions = TeamActions(subject.env, number)
    for index in range(1, ENDLESS_STEPS + 1):
        parts = _take_step(subject, actions.next(observations, infos), f"step {index}")
        observations, infos = parts[0], parts[4]
        if not subject.env.agents:
            return index, True
        if budget.is_spent:
            return index, False
    return ENDLESS_STEPS, False
