"""Algorithms for several agents in one environment."""

from __future__ import annotations

from arena_sdk.manifest.algorithms.shared import (
    ActionNoise,
    ActorCriticRates,
    Algorithm,
    DelayedPolicy,
    PolicyGradient,
    Stepwise,
    TargetNetwork,
)
from arena_sdk.manifest.base import about, refine
from arena_sdk.manifest.network import Network, StochasticActor


class MultiAgent(Algorithm):
    """What algorithms for several agents have."""

    torch_compiler: str | None = about("Mode of `torch.compile`; none does not compile.", None)
    net_config: Network | dict[str, Network] | None = about(
        "One network for all agents, or one for each agent id.", None
    )


@refine(
    gamma={"le": 1.0},
    learn_step={"default": 4096},
    vf_coef={"le": 1.0},
    net_config={"type": StochasticActor | dict[str, StochasticActor] | None},
)
class IPPO(PolicyGradient, MultiAgent):
    """Independent proximal policy optimization (https://arxiv.org/abs/2011.09533)."""

    action_batch_size: int | None = about("Actions of one forward pass; none does all.", None)


@refine(
    gamma={"default": 0.95, "le": 1.0},
    lr_actor={"default": 1e-3},
    lr_critic={"default": 1e-2},
    tau={"default": 0.01, "ge": 0.0, "le": 1.0},
)
class CentralCritic(Stepwise, ActorCriticRates, TargetNetwork, ActionNoise, MultiAgent):
    """Deterministic actors with critics that see all agents."""


class MADDPG(CentralCritic):
    """Multi-agent DDPG (https://arxiv.org/abs/1706.02275)."""


class MATD3(CentralCritic, DelayedPolicy):
    """Multi-agent TD3 (https://arxiv.org/abs/1910.01465)."""
