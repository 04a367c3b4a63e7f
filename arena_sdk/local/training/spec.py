"""From a manifest's payload to AgileRL objects, for the algorithms that are trained here.

The payload is the validated manifest without nulls (see the manifest package). `RunSpec` reads what
the training engine needs from it; `build_agent` and `build_mutations` make AgileRL's own objects.
AgileRL is imported inside of those two only, so that a manifest can be read without it.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .catalogue import ALGORITHMS, Family, encoder_problem, space_problem
from .errors import TrainingError
from .selection import MultiFrequency, Tournament, read_selection

if TYPE_CHECKING:
    from agilerl.algorithms.core import SingleAgentAlgorithm
    from agilerl.hpo.mutation import Mutations
    from gymnasium import spaces

DEFAULT_N_STEP = 3
DEFAULT_ALPHA = 0.5
DEFAULT_BETA = 0.4
PRIOR_EPS = 1e-6
MOST_STEPS = 10**15
"""Environment steps of one member; no machine gets there, and every store can hold it."""
MOST_MEMBERS = 1_000
MOST_ENVS = 10_000
"""Copies of the environment of one member. More of either is a slip of the pen on one machine."""
DEFAULT_EVO_STEPS = 10_000
DEFAULT_SEED = 42
NOT_CONSTRUCTOR = ("name", "net_config", "num_envs", "rollout_buffer_config")
"""Keys of the algorithm section that are not passed on to AgileRL's constructor as they stand."""


@dataclass(frozen=True)
class Exploration:
    """Epsilon-greedy exploration: from `start`, times `decay` at every vector step, to `end`."""

    start: float = 1.0
    end: float = 0.01
    decay: float = 0.999


@dataclass(frozen=True)
class RunSpec:
    """What a run is to do, in plain and picklable values.

    Step counts are environment steps of one member. `evo_steps` is the length of a generation.
    `n_step` is 1 unless transitions over several steps are asked for, `alpha` None unless replay by
    priority is, with `beta` and `prior_eps` of the algorithms that do not bring their own.
    """

    algorithm: str
    algorithm_kwargs: dict[str, Any]
    network: dict[str, Any]
    num_envs: int
    forced_sync: bool
    max_steps: int
    evo_steps: int
    pop_size: int
    eval_steps: int | None
    eval_loop: int
    target_score: float | None
    learning_delay: int
    checkpoint_steps: int | None
    max_wall_seconds: float | None
    exploration: Exploration
    buffer_size: int
    n_step: int
    alpha: float | None
    experience_sharing: bool
    selection: Tournament | MultiFrequency
    mutation: dict[str, Any]
    seed: int
    warnings: list[str] = field(default_factory=list)
    beta: float = DEFAULT_BETA
    prior_eps: float = PRIOR_EPS

    @property
    def off_policy(self) -> bool:
        """Whether the algorithm learns from replayed experience."""
        return ALGORITHMS[self.algorithm].family is Family.REPLAY


def read_manifest(payload: dict[str, Any]) -> RunSpec:
    """Return what the train job's payload asks for.

    Args:
        payload: Of the train job: "manifest", "max_steps" and optionally "seed" are read.

    Raises:
        TrainingError: The manifest asks for something that cannot be trained here.
    """
    manifest = payload["manifest"]
    algorithm = _named_for_what_it_is(dict(manifest["algorithm"]))
    environment = manifest.get("environment", {})
    training = manifest.get("training", {})
    mutation = manifest.get("mutation", {})
    buffer = manifest.get("replay_buffer", {})
    selection = _selection(manifest)
    name = str(algorithm["name"])
    _refuse_unsupported(name, environment, training)
    max_steps = int(payload.get("max_steps") or training.get("max_steps", 1_000_000))
    evo_steps = int(_either(training, "evo_steps", "metrics_interval") or DEFAULT_EVO_STEPS)
    seed = payload.get("seed")
    num_envs = int(environment.get("num_envs") or algorithm.get("num_envs") or 1)
    pop_size = int(_either(training, "pop_size", "population_size") or 1)
    _refuse_excess("training.max_steps", max_steps, MOST_STEPS)
    _refuse_excess("training.pop_size", pop_size, MOST_MEMBERS)
    _refuse_excess("environment.num_envs", num_envs, MOST_ENVS)
    return RunSpec(
        algorithm=name,
        algorithm_kwargs={k: v for k, v in algorithm.items() if k not in NOT_CONSTRUCTOR},
        network=dict(manifest.get("network") or algorithm.get("net_config") or {}),
        num_envs=num_envs,
        forced_sync=bool(environment.get("sync", False)),
        max_steps=max_steps,
        evo_steps=min(evo_steps, max_steps),
        pop_size=pop_size,
        eval_steps=training.get("eval_steps"),
        eval_loop=int(training.get("eval_loop") or 1),
        target_score=training.get("target_score"),
        learning_delay=int(training.get("learning_delay") or 0),
        checkpoint_steps=training.get("checkpoint_steps"),
        max_wall_seconds=training.get("max_wall_seconds"),
        exploration=_exploration(training),
        buffer_size=int(_either(buffer, "max_size", "memory_size") or 100_000),
        n_step=1 if ALGORITHMS[name].multi_agent else _n_step(buffer),
        alpha=_alpha(buffer),
        experience_sharing=bool(training.get("experience_sharing", False)),
        selection=read_selection(selection, pop_size),
        mutation=dict(mutation),
        seed=int(seed if seed is not None else mutation.get("rand_seed", DEFAULT_SEED)),
        warnings=_warnings(name, buffer, mutation),
    )


def build_agent(
    spec: RunSpec,
    observation_space: spaces.Space[Any],
    action_space: spaces.Space[Any],
    index: int,
) -> SingleAgentAlgorithm[Any]:
    """Return a new AgileRL agent with fresh weights.

    Raises:
        TrainingError: AgileRL cannot train this algorithm or network in this environment.
    """
    import agilerl.algorithms as algorithms

    from .bandit_env import context_space
    from .networks import net_config

    refuse_spaces(spec, observation_space, action_space)
    algorithm = ALGORITHMS[spec.algorithm]
    kwargs: dict[str, Any] = dict(spec.algorithm_kwargs)
    network = net_config(spec.network)
    if network:
        kwargs["net_config"] = network
    if algorithm.family is Family.ROLLOUT and not algorithm.multi_agent:
        kwargs["num_envs"] = spec.num_envs
    if algorithm.noisy:
        kwargs["vect_noise_dim"] = spec.num_envs
    hp_config = _hp_config(spec)
    if hp_config is not None:
        kwargs["hp_config"] = hp_config
    given: list[Any] = [observation_space, action_space]
    if algorithm.family is Family.BANDIT:
        given[0] = context_space(given[0])
    if algorithm.multi_agent:
        given = [spaces_by_agent(space) for space in given]
        kwargs["agent_ids"] = list(given[0])
    try:
        agent: SingleAgentAlgorithm[Any] = getattr(algorithms, algorithm.cls)(
            *given, index=index, device="cpu", **kwargs
        )
    except (
        ArithmeticError,
        AssertionError,
        AttributeError,
        KeyError,
        RuntimeError,
        TypeError,
        ValueError,
    ) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        raise TrainingError(
            f"AgileRL cannot build a {spec.algorithm} agent for observations "
            f"{_short(observation_space)} and actions {_short(action_space)}: {reason}. "
            "Change the algorithm, the network section or the environment's spaces.",
            "AGENT_UNSUPPORTED",
        ) from error
    return agent


def spaces_by_agent(space: Any) -> Any:
    """Return the spaces of several agents as AgileRL takes them, in their order."""
    from gymnasium import spaces

    return spaces.Dict(list(space.spaces.items()))


def build_mutations(spec: RunSpec) -> Mutations | None:
    """Return AgileRL's mutation operator, or None when nothing is ever to be mutated."""
    probabilities = spec.mutation.get("probabilities", {})
    kinds = ("arch_mut", "params_mut", "act_mut", "rl_hp_mut")
    if not any(float(probabilities.get(kind, 0.0)) > 0 for kind in kinds):
        return None
    from agilerl.hpo.mutation import Mutations

    activation = float(probabilities.get("act_mut", 0.0))
    unchanged = float(probabilities.get("no_mut", 0.0))
    if ALGORITHMS[spec.algorithm].fixed_activations:
        activation, unchanged = 0.0, unchanged + activation
    return Mutations(
        no_mutation=unchanged,
        architecture=float(probabilities.get("arch_mut", 0.0)),
        new_layer_prob=float(probabilities.get("new_layer", 0.0)),
        parameters=float(probabilities.get("params_mut", 0.0)),
        activation=activation,
        rl_hp=float(probabilities.get("rl_hp_mut", 0.0)),
        mutation_sd=float(spec.mutation.get("mutation_sd", 0.1)),
        dormant_threshold=float(spec.mutation.get("dormant_threshold", 0.01)),
        rand_seed=spec.seed,
        device="cpu",
    )


def captures_dormancy(spec: RunSpec) -> bool:
    """Whether parameter mutations are on, which read each neuron's last gradient."""
    return float(spec.mutation.get("probabilities", {}).get("params_mut", 0.0)) > 0


def _hp_config(spec: RunSpec) -> Any:
    """Return the ranges of `mutation.rl_hp_selection`, or None for AgileRL's own."""
    selection = spec.mutation.get("rl_hp_selection") or {}
    if not selection:
        return None
    from agilerl.algorithms.core.registry import HyperparameterConfig, RLParameter

    ranges = {
        name: RLParameter(
            min=limits["min"],
            max=limits["max"],
            grow_factor=limits.get("grow_factor", 1.2),
            shrink_factor=limits.get("shrink_factor", 0.8),
        )
        for name, limits in selection.items()
    }
    return HyperparameterConfig(**copy.deepcopy(ranges))


def _named_for_what_it_is(algorithm: dict[str, Any]) -> dict[str, Any]:
    """Return the algorithm section with PPO called recurrent where it is to be."""
    if algorithm["name"] == "PPO" and algorithm.get("recurrent"):
        return {**algorithm, "name": "Recurrent PPO"}
    return algorithm


def _selection(manifest: dict[str, Any]) -> dict[str, Any]:
    return dict(manifest.get("tournament_selection") or manifest.get("selection_strategy") or {})


def _exploration(training: dict[str, Any]) -> Exploration:
    given = {key: training.get(f"eps_{key}") for key in ("start", "end", "decay")}
    return Exploration(**{key: float(value) for key, value in given.items() if value is not None})


def _either(section: dict[str, Any], *names: str) -> Any:
    return next((section[name] for name in names if section.get(name) is not None), None)


def _refuse_unsupported(
    name: str,
    environment: dict[str, Any],
    training: dict[str, Any],
) -> None:
    """Raise for what would otherwise be trained as something else, in silence."""
    problem = None
    if name not in ALGORITHMS:
        problem = f"algorithm.name {name} cannot be trained on this Arena; {listing()} can"
    elif environment.get("env_wrappers"):
        problem = (
            "environment.env_wrappers are not applied on this Arena; "
            "apply them in the environment's own constructor"
        )
    elif ALGORITHMS[name].multi_agent and training.get("sum_scores") is False:
        problem = (
            "training.sum_scores false is not offered on this Arena: members are compared by one "
            "number, the sum of their agents' scores; remove the setting"
        )
    if problem is not None:
        raise TrainingError(f"{problem}.", "UNSUPPORTED")


def _refuse_excess(what: str, asked: int, most: int) -> None:
    if asked > most:
        raise TrainingError(
            f"{what} is {asked:,}; this Arena, one machine, takes at most {most:,}.", "TOO_MANY"
        )


def refuse_spaces(spec: RunSpec, observation: spaces.Space[Any], action: spaces.Space[Any]) -> None:
    """Raise for spaces that AgileRL takes when an agent is built and stumbles over in training.

    Raises:
        TrainingError: The algorithm or the encoder cannot be trained on them.
    """
    from .bandit_env import context_space
    from .team import TeamSpace

    arch = (spec.network.get("encoder_config") or {}).get("arch", spec.network.get("arch"))
    seen: Any = observation
    if ALGORITHMS[spec.algorithm].family is Family.BANDIT:
        seen = context_space(seen)
    if isinstance(action, TeamSpace):
        problem = space_problem(spec.algorithm, dict(seen.spaces), dict(action.spaces))
        parts = list(seen.spaces.values())
    else:
        problem, parts = space_problem(spec.algorithm, seen, action), [seen]
    for part in parts:
        recurrent = ALGORITHMS[spec.algorithm].recurrent
        problem = problem or encoder_problem(arch, part, recurrent=recurrent)
    if problem is not None:
        raise TrainingError(f"{problem}.", "AGENT_UNSUPPORTED")


def _n_step(buffer: dict[str, Any]) -> int:
    if not buffer.get("n_step_buffer"):
        return 1
    return int((buffer.get("n_step_buffer_args") or {}).get("n_step", DEFAULT_N_STEP))


def _alpha(buffer: dict[str, Any]) -> float | None:
    if not buffer.get("per_buffer"):
        return None
    return float((buffer.get("per_buffer_args") or {}).get("alpha", DEFAULT_ALPHA))


def _warnings(name: str, buffer: dict[str, Any], mutation: dict[str, Any]) -> list[str]:
    """Return one sentence for each setting that has no effect."""
    ignored = []
    if ALGORITHMS[name].family is not Family.REPLAY:
        ignored = [f"replay_buffer.{k}" for k in ("n_step_buffer", "per_buffer") if buffer.get(k)]
    elif ALGORITHMS[name].multi_agent and buffer.get("n_step_buffer"):
        ignored = ["replay_buffer.n_step_buffer"]
    if ALGORITHMS[name].fixed_activations and mutation.get("probabilities", {}).get("act_mut"):
        ignored.append("mutation.probabilities.act_mut")
    return [f"{setting} has no effect with AgileRL's {name}." for setting in ignored]


def listing() -> str:
    """Return the names of what can be trained here, as in a sentence."""
    *most, last = ALGORITHMS
    return f"{', '.join(most)} and {last}"


def _short(space: Any) -> str:
    text = str(space)
    return text if len(text) <= 80 else f"{text[:77]}..."
