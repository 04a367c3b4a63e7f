"""The environment that a population is trained in, one class for each kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from arena_sdk.manifest.base import Fault, Section, about, fault, refine


class Environment(Section):
    """What all environments have."""

    num_envs: int = about("Copies of the environment that run side by side.", 32, ge=1)
    version: str | int | None = about("Version of an environment of yours.", None)
    name: str = about("Registered id, or the name of an environment of yours.")
    entrypoint: str | None = about("`module:Class` that makes it, where there are several.", None)


class Located(Section):
    """Where an environment's file is."""

    path: str | None = about("File or folder that the environment is in.", None)


class Made(Section):
    """A function that makes an environment."""

    factory: str | None = about("`module:function` that makes the entrypoint.", None)

    def faults(self) -> Iterator[Fault]:
        """Yield the broken rule: a factory with nothing to make."""
        yield from super().faults()
        if self.factory is not None and getattr(self, "entrypoint", None) is None:
            yield fault("A factory needs the `entrypoint` that it makes.", "factory")


@refine(name={"min_length": 1})
class Stepped(Environment, Located, Made):
    """Environments that are stepped."""

    custom: bool = about("Whether it is an environment of yours.", False)
    default_type: str = about("Number type of observations.", "float32")
    env_config: dict[str, Any] | str | None = about(
        "Arguments of the constructor, or a file of them.", None, also="config"
    )
    env_wrappers: list[str | tuple[str, dict[str, Any]]] | None = about(
        "Wrappers, from inside to outside: names, or pairs of name and arguments.",
        None, also="wrappers",
    )  # fmt: skip
    sync: bool = about("Step all copies in one process.", False)

    def faults(self) -> Iterator[Fault]:
        """Yield the broken rules, also: two ids of one registered environment."""
        yield from super().faults()
        target = self.entrypoint
        own_class = target is not None and ":" in target and self.factory is None
        if target is not None and target != self.name and not self.custom and not own_class:
            yield fault(
                f"{target!r} and the name {self.name!r} differ. Write `module:Class`, or"
                " `custom: true` for an environment of yours, or leave out the entrypoint.",
                "entrypoint",
            )


class GymEnvironment(Stepped):
    """A Gymnasium or PettingZoo environment."""

    env_type: Literal["gym"] = about("Kind of environment: `gym`.", "gym")


class OfflineEnvironment(Stepped):
    """A recorded data set, and the environment to evaluate in."""

    env_type: Literal["offline"] = about("Kind of environment: `offline`.", "offline")
    minari_dataset_id: str | None = about("Minari data set to learn from.", None)
    dataset_path: str | None = about("File of a data set to learn from.", None)
    remote: bool = about("Download the Minari data set.", False)


@refine(num_envs={"default": 1}, name={"default": "BanditEnv"})
class BanditEnvironment(Environment, Located):
    """A labelled data set as a contextual bandit."""

    env_type: Literal["bandit"] = about("Kind of environment: `bandit`.", "bandit")
    features: str | None = about("File of the features.", None)
    targets: str | None = about("File of the targets.", None)
    env_config: dict[str, Any] | None = about("Arguments of its maker.", None, also="config")
