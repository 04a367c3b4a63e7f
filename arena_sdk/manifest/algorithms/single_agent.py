"""Algorithms for one agent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from arena_sdk.manifest.algorithms.shared import (
    ActionNoise,
    ActorCriticRates,
    DelayedPolicy,
    LearningRate,
    PolicyGradient,
    SharedEncoders,
    Stepwise,
    TargetNetwork,
)
from arena_sdk.manifest.base import Fault, Section, about, fault, refine
from arena_sdk.manifest.network import Network, StochasticActor


class OwnNetwork(Section):
    """A network for this algorithm alone; the payload's `network` section comes before it."""

    net_config: Network | None = about("Network of this algorithm only.", None)


@refine(gamma={"le": 1.0})
class ValueBased(Stepwise, LearningRate, TargetNetwork, OwnNetwork):
    """Algorithms that learn action values."""


class DoubleQ(ValueBased):
    """Action values that may be double."""

    double: bool = about("Choose the next action with the learning network.", True)


class DQN(DoubleQ):
    """Deep Q-learning (https://arxiv.org/abs/1312.5602), double by default."""

    cudagraphs: bool = about("Capture a learning step as a CUDA graph.", False)


@refine(double={"default": False})
class CQN(DoubleQ):
    """Conservative Q-learning from a data set (https://arxiv.org/abs/2006.04779)."""


class RainbowDQN(ValueBased):
    """Deep Q-learning with six improvements (https://arxiv.org/abs/1710.02298)."""

    beta: float = about("How much drawing by priority is corrected for.", 0.4)
    prior_eps: float = about("Priority that every experience has at least.", 1e-6)
    num_atoms: int = about("Atoms of the distribution of returns.", 51, ge=1)
    v_min: float = about("Smallest return that the distribution can hold.", -10.0)
    v_max: float = about("Largest return that the distribution can hold.", 10.0)
    noise_std: float = about("Standard deviation of noise in the layers.", 0.5)
    n_step: int = about("Steps that one target looks ahead.", 3, ge=1)
    combined_reward: bool = about("Learn from one-step and n-step targets together.", False)

    def faults(self) -> Iterator[Fault]:
        """Yield the broken rule: an empty range of returns."""
        yield from super().faults()
        if self.v_min >= self.v_max:
            yield fault(f"v_min ({self.v_min:g}) must be below v_max ({self.v_max:g}).", "v_min")


@refine(gamma={"le": 1.0})
class Deterministic(
    Stepwise,
    ActorCriticRates,
    TargetNetwork,
    ActionNoise,
    DelayedPolicy,
    SharedEncoders,
    OwnNetwork,
):
    """Deterministic actors with critics."""


@refine(tau={"ge": 0.0, "le": 1.0})
class DDPG(Deterministic):
    """Deep deterministic policy gradient (https://arxiv.org/abs/1509.02971)."""


@refine(tau={"default": 0.005})
class TD3(Deterministic):
    """Twin delayed deterministic policy gradient (https://arxiv.org/abs/1802.09477)."""


@refine(
    gamma={"le": 1.0},
    learn_step={"default": 4096},
    vf_coef={"le": 1.0},
    action_std_init={"ge": 0.0},
    max_grad_norm={"ge": 0.0},
    target_kl={"ge": 0.0},
    share_encoders={"default": True},
    net_config={"type": StochasticActor | None},
)
class PPO(PolicyGradient, SharedEncoders, OwnNetwork):
    """Proximal policy optimization (https://arxiv.org/abs/1707.06347)."""

    num_envs: int | None = about("Copies of the environment, as in `environment`.", None, ge=1)
    rollout_buffer_config: dict[str, Any] | None = about("Settings of the rollout buffer.", None)
    recurrent: bool = about("Keep a hidden state between steps.", False)
    max_seq_len: int | None = about("Steps through which gradients flow.", None, ge=1)
    bptt_sequence_type: Literal["chunked", "maximum", "fifty_percent_overlap"] | None = about(
        "How episodes are cut into sequences for learning.", None
    )


@refine(
    learn_step={"default": 8192},
    recurrent={"default": True},
    bptt_sequence_type={
        "default": "chunked", "allowed": ("chunked", "maximum", "fifty_percent_overlap"),
    },
)  # fmt: skip
class RecurrentPPO(PPO):
    """Proximal policy optimization with a memory."""

    def faults(self) -> Iterator[Fault]:
        """Yield the broken rule: a memory that is switched off."""
        yield from super().faults()
        if not self.recurrent:
            yield fault("Recurrent PPO has `recurrent: true`; without it write PPO.", "recurrent")


@refine(learn_step={"default": 2}, gamma={"default": 1.0})
class Bandit(Stepwise, LearningRate, OwnNetwork):
    """Contextual bandits: one step an episode."""

    lamb: float = about("Regularization of the confidence estimate.", 1.0)
    reg: float = about("Weight decay of the network.", 0.000625)


@refine(lr={"default": 1e-3})
class NeuralUCB(Bandit):
    """Upper confidence bounds of a network (https://arxiv.org/abs/1911.04462)."""


@refine(lr={"default": 3e-3})
class NeuralTS(Bandit):
    """Thompson sampling from a network (https://arxiv.org/abs/2010.00827)."""
