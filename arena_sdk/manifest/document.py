"""The manifest as a whole: read, judged, written as a payload."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from arena_sdk.manifest.problems import ManifestError, Problem, in_order
from arena_sdk.manifest.sections import API_VERSION, SECTIONS
from arena_sdk.manifest.source import Source, read

if TYPE_CHECKING:
    from arena_sdk.manifest.checking import Check
    from arena_sdk.manifest.mutation import Mutation
    from arena_sdk.manifest.training import Training

Given = str | os.PathLike[str] | dict[str, Any]


@dataclass
class TrainingManifest:
    """What a population is to be trained with, checked.

    Attributes:
        algorithm: The algorithm's class, as `DQN`.
        environment: The class of its `env_type`, as `GymEnvironment`.
        training: The budget.
        network: The networks, or None when they follow from the observation space.
        mutation: How members change.
        replay_buffer: What is learned from, or None when it is not written.
        tournament_selection: Which members go on, `Tournament` or `MultiFrequency`.
        warnings: Retired spellings that were understood, which `arena manifest migrate` rewrites;
            and, of kind `advice`, what is valid and yet hardly meant.

    Example:
        >>> manifest = TrainingManifest.load(
        ...     {"algorithm": {"name": "DQN"}, "environment": {"name": "CartPole-v1"}}
        ... )
        >>> manifest.algorithm.lr
        0.0001
    """

    algorithm: Any
    environment: Any
    training: Training
    network: Any
    mutation: Mutation
    replay_buffer: Any
    tournament_selection: Any
    warnings: list[Problem] = field(default_factory=list)

    @classmethod
    def load(cls, given: Given) -> TrainingManifest:
        """Read and check a manifest.

        Args:
            given: A mapping, a path, `-` for standard input, or text (of several lines, or a JSON
                object).

        Raises:
            ManifestError: It is not valid; `problems` has every mistake.
            ManifestUnreadable: It is not there, or is no YAML.
        """
        return cls.from_source(read(given))

    @classmethod
    def from_source(cls, source: Source) -> TrainingManifest:
        """Check what has been read.

        Raises:
            ManifestError: It is not valid.
        """
        check, warnings = _checked(source)
        if check.problems:
            raise ManifestError(check.problems)
        parts = check.parts
        told = in_order([*warnings, *check.advice])
        return cls(**{name: getattr(parts, name) for name in SECTIONS}, warnings=told)

    @classmethod
    def validate(cls, given: Given) -> list[Problem]:
        """Return what is wrong with a manifest, in the order of the text; nothing when valid.

        Raises:
            ManifestUnreadable: It is not there, or is no YAML.
        """
        return cls.problems_in(read(given))

    @classmethod
    def problems_in(cls, source: Source) -> list[Problem]:
        """Return what is wrong with what has been read."""
        return _checked(source)[0].problems

    problems_of = validate

    @classmethod
    def defaults_for(
        cls,
        algorithm: str,
        environment: str = "CartPole-v1",
        *,
        observation_space: Any = None,
    ) -> TrainingManifest:
        """Return a manifest of an algorithm in which everything has its default.

        Args:
            algorithm: Its name.
            environment: Name of the environment, or of the data set for a language model.
            observation_space: A Gymnasium space, or a JSON description of one; its network is then
                written out instead of being chosen at the start of the run.

        Raises:
            ManifestError: There is no such algorithm.
        """
        from arena_sdk.manifest.starting import starting_document

        return cls.load(starting_document(algorithm, environment, observation_space))

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON Schema (2020-12) of manifests, for editors."""
        from arena_sdk.manifest.schema import schema

        return schema()

    schema_document = schema

    def payload(self) -> dict[str, Any]:
        """Return the manifest as it is submitted: defaults filled in, no unset fields."""
        found: dict[str, Any] = {"apiVersion": API_VERSION}
        for name in SECTIONS:
            section = getattr(self, name)
            if section is not None:
                found[name] = section.payload()
        return found


def _checked(source: Source) -> tuple[Check, list[Problem]]:
    """Judge a source; when it is not valid as it stands, with its retired spellings replaced."""
    from arena_sdk.manifest.checking import Check

    check = Check(source)
    if not check.problems:
        return check, []
    from arena_sdk.manifest.migrate import migrated

    replaced, warnings = migrated(source)
    if not warnings:
        return check, []
    return Check(replaced), warnings
