"""Fields that several families of algorithms have, each declared once."""

from __future__ import annotations

from typing import ClassVar

from arena_sdk.manifest.base import Section, about


class Algorithm(Section):
    """What every algorithm has."""

    name: str = about("Name of the algorithm; capitals count.")
    batch_size: int = about("Experiences or prompts in one learning step.", 64, ge=1)


class Discount(Section):
    """How much later rewards count."""

    gamma: float = about("Discount of future rewards.", 0.99, ge=0.0)


class Stepwise(Algorithm, Discount):
    """What algorithms for environments with steps have."""

    never_sent: ClassVar[frozenset[str]] = frozenset({"net_config"})

    learn_step: int = about("Environment steps between two learning steps.", 5, ge=1)
    normalize_images: bool = about("Scale image observations to 0–1.", True)


class LearningRate(Section):
    """One optimizer."""

    lr: float = about("Learning rate of the optimizer.", 1e-4, ge=0.0)


class ActorCriticRates(Section):
    """Two optimizers."""

    lr_actor: float = about("Learning rate of the actor.", 1e-4, ge=0.0)
    lr_critic: float = about("Learning rate of the critic.", 1e-3, ge=0.0)


class Advantages(Section):
    """How much of an advantage is estimated."""

    gae_lambda: float = about(
        "Lambda of generalized advantage estimation: 0 trusts the critic, 1 the returns.",
        0.95, ge=0.0, le=1.0,
    )  # fmt: skip


class Clipping(Section):
    """How far one update may go."""

    clip_coef: float = about("How far the policy may move in one update.", 0.2, ge=0.0, le=1.0)


class ValueLoss(Section):
    """The critic's part of the loss."""

    vf_coef: float = about("Weight of the value loss.", 0.5, ge=0.0)


class Updates(Section):
    """How often a batch is used, and how hard."""

    max_grad_norm: float = about("Largest norm of a gradient; larger ones are scaled down.", 0.5)
    update_epochs: int = about("Passes over one batch of experience.", 4, ge=1)


class TargetNetwork(Section):
    """A slowly moving copy of the network."""

    tau: float = about("Share of the learning network that moves into its target.", 1e-3)


class ActionNoise(Section):
    """How a deterministic actor explores."""

    only_when_written: ClassVar[frozenset[str]] = frozenset({"vect_noise_dim"})

    vect_noise_dim: int = about("Copies of the environment that get noise of their own.", 1, ge=1)
    O_U_noise: bool = about("Ornstein–Uhlenbeck noise instead of Gaussian.", True)
    expl_noise: float = about("Scale of the exploration noise.", 0.1)
    mean_noise: float = about("Mean of the exploration noise.", 0.0)
    theta: float = about("How fast Ornstein–Uhlenbeck noise returns to its mean.", 0.15)
    dt: float = about("Time step of Ornstein–Uhlenbeck noise.", 0.01)


class DelayedPolicy(Section):
    """An actor that learns less often than its critic."""

    policy_freq: int = about("Critic updates for one actor update.", 2, ge=1)


class SharedEncoders(Section):
    """Whether actor and critic see through the same eyes."""

    share_encoders: bool = about("One encoder for actor and critic.", False)


class PolicyGradient(Stepwise, LearningRate, Advantages, Clipping, ValueLoss, Updates):
    """Proximal policy optimization, for one agent or many (https://arxiv.org/abs/1707.06347)."""

    action_std_init: float = about("Standard deviation of the first continuous actions.", 0.6)
    ent_coef: float = about("Weight of the entropy bonus.", 0.01, ge=0.0, le=1.0)
    target_kl: float | None = about("Divergence from the old policy that ends an update.", None)
