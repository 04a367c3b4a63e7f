"""AgileRL agents as bytes: what travels between processes and what a checkpoint holds."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from .catalogue import agilerl_class

if TYPE_CHECKING:
    from agilerl.algorithms.core import SingleAgentAlgorithm


@dataclass
class AgentState:
    """Everything of an agent.

    Attributes:
        algorithm: Its name in a manifest, or that of its class in `agilerl.algorithms`.
        checkpoint: What AgileRL's own `load` reads: networks, optimizers, hyperparameters.
        dormancy: The last gradients of its neurons, which AgileRL leaves out of a checkpoint but
            its parameter mutations read; empty when none were taken.
    """

    algorithm: str
    checkpoint: bytes
    dormancy: bytes = b""


def dump(agent: SingleAgentAlgorithm[Any]) -> AgentState:
    """Return an agent as bytes."""
    from agilerl.algorithms.core.base import get_checkpoint_dict

    file = io.BytesIO()
    try:
        torch.save(get_checkpoint_dict(agent), file)
    except Exception:
        # Plain pickle is several times faster than AgileRL's choice, dill, which pickles more.
        file = io.BytesIO()
        agent.save_checkpoint(file)
    return AgentState(type(agent).__name__, file.getvalue(), _dump_dormancy(agent.grama_scores))


def restore(state: AgentState, member: int | None = None) -> SingleAgentAlgorithm[Any]:
    """Return the agent, on the CPU, with `index` set to the member's id when one is given."""
    import agilerl.algorithms as algorithms

    cls = getattr(algorithms, agilerl_class(state.algorithm))
    with warnings.catch_warnings():
        # A rollout buffer is never in a checkpoint; AgileRL says so each time.
        warnings.filterwarnings("ignore", message="Attribute rollout_buffer")
        agent: SingleAgentAlgorithm[Any] = cls.load(io.BytesIO(state.checkpoint), device="cpu")
    if state.dormancy:
        agent.grama_scores = torch.load(io.BytesIO(state.dormancy), weights_only=True)
    if hasattr(agent, "exp_layer"):
        # A bandit explores by the gradients of its network's last layer; what was loaded under
        # that name is a copy of it, which no gradient reaches.
        agent.exp_layer = agent.actor.get_output_dense()
    if member is not None:
        agent.index = member
    return agent


def hyperparameters(agent: SingleAgentAlgorithm[Any]) -> dict[str, float | int]:
    """Return the present value of every hyperparameter that evolution may change."""
    values = {name: getattr(agent, name) for name in agent.hp_config.names()}
    return {name: v for name, v in values.items() if isinstance(v, int | float)}


def take_settings(agent: SingleAgentAlgorithm[Any], values: dict[str, float | int]) -> None:
    """Set hyperparameters that evolution may change, and all that depends on them."""
    from agilerl.hpo.multi_frequency import MultiFrequencySelection

    MultiFrequencySelection.apply_hp_reset(agent, dict(values))


def speed_up(agent: SingleAgentAlgorithm[Any]) -> None:
    """Let torch update all weights of an agent in one call a step; the mathematics is the same."""
    for name in (config.name for config in agent.registry.optimizers):
        optimizer = getattr(agent, name).optimizer
        if isinstance(optimizer, torch.optim.Adam):
            for group in optimizer.param_groups:
                group["fused"] = True


def _dump_dormancy(scores: Any) -> bytes:
    if scores is None:
        return b""
    file = io.BytesIO()
    torch.save(scores, file)
    return file.getvalue()
