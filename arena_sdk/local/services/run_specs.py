"""The manifest that a run of an algorithm begins with: defaults, and a network that fits.

The defaults are those of the manifest's own models. What the network must fit, the observation
space, is known of validated environments, and measured once of Gymnasium's, in a worker.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from arena_sdk.local.jobs import JobSpec, Supervisor
from arena_sdk.local.paths import DataPaths
from arena_sdk.local.store import environments
from arena_sdk.local.store.database import Database

from . import dataset_rows
from .refusals import invalid
from .resolve import ResolvedEnvironment, resolve_environment
from .transitions import overlay_python

SPACES_SECONDS = 60.0
GYMNASIUM = "CartPole-v1"
"""The environment of a manifest that was asked for without one."""

MISFIT = "INVALID_REQUEST"

DATASET_CATEGORIES = {"DPO": "preference", "SFT": "sft"}
"""What an algorithm learns from; the others that train language models reason."""


@dataclass(frozen=True)
class Asked:
    """What a default manifest is asked for with; None for what was not said.

    Attributes:
        algorithm: Its name.
        environment: A registered environment or a Gymnasium id.
        entrypoint: `module:Class` of a registered one.
        dataset: A registered dataset.
        field: Only this section.
        model: Which language model.
    """

    algorithm: str | None
    environment: str | None = None
    entrypoint: str | None = None
    dataset: str | None = None
    field: str | None = None
    model: str | None = None


class RunSpecService:
    """Makes manifests to begin with.

    Args:
        database: The store.
        paths: The data folder.
        supervisor: Starts workers.
    """

    def __init__(self, database: Database, paths: DataPaths, supervisor: Supervisor) -> None:
        self._database, self._paths, self._supervisor = database, paths, supervisor
        self._measured: dict[str, dict[str, Any]] = {}

    async def default(self, asked: Asked) -> dict[str, Any]:
        """Return a valid manifest with everything filled in, or one section of it.

        Raises:
            ApiError: 422 for an unknown algorithm (with the closest), or what does not go with
                it; 404 for an environment or dataset that is not there.
        """
        from arena_sdk.manifest import ManifestError, TrainingManifest
        from arena_sdk.manifest.algorithms import is_llm
        from arena_sdk.manifest.sections import SECTIONS
        from arena_sdk.manifest.starting import known

        if asked.field is not None and asked.field not in SECTIONS:
            raise invalid(
                f"A manifest has no section {asked.field[:80]!a}; it has {', '.join(SECTIONS)}.",
                "UNKNOWN_SECTION",
            )
        try:
            name = known(asked.algorithm or "")
        except ManifestError as problem:
            raise invalid(str(problem), "UNKNOWN_ALGORITHM") from None
        document = await (self._of_language if is_llm(name) else self._of_agents)(name, asked)
        payload = TrainingManifest.load(document).payload()
        return payload if asked.field is None else dict(payload.get(asked.field) or {})

    async def _of_language(self, name: str, asked: Asked) -> dict[str, Any]:
        """Return the document of an algorithm that trains a language model."""
        from arena_sdk.manifest.starting import starting_document

        if asked.environment is not None or asked.entrypoint is not None:
            raise invalid(f"{name} learns from a dataset (datasetName), not in gymEnv.", MISFIT)
        if asked.dataset is None:
            raise invalid(
                f"{name} learns from a dataset; name one with datasetName (`arena datasets list`).",
                "DATASET_REQUIRED",
            )
        wanted = asked.dataset
        row = await self._database.read(lambda session: dataset_rows.find(session, wanted))
        category = DATASET_CATEGORIES.get(name, "reasoning")
        if row.category != category:
            raise invalid(
                f"{name} learns from {category} data; dataset {row.name!r} is of category"
                f" {row.category}.",
                MISFIT,
            )
        document = starting_document(name, row.name)
        if asked.model is not None:
            document["algorithm"]["pretrained_model_name_or_path"] = asked.model
        return document

    async def _of_agents(self, name: str, asked: Asked) -> dict[str, Any]:
        """Return the document of an algorithm that learns by acting."""
        from arena_sdk.manifest import algorithms
        from arena_sdk.manifest.starting import starting_document

        for value, what in ((asked.dataset, "dataset"), (asked.model, "language model")):
            if value is not None:
                raise invalid(f"{name} takes no {what}; it learns in an environment.", MISFIT)
        if algorithms.REGISTRY[name].family in ("multi", "bandit") or name == "CQN":
            # Of teams, tables and recorded steps the network is left to AgileRL.
            return starting_document(name, asked.environment or GYMNASIUM)
        found = await self._database.read(lambda session: self._find(session, asked))
        spaces = await self.spaces_of(found)
        document = starting_document(name, found.name, spaces["observation"])
        section = document["environment"]
        if found.version is not None:
            section["version"] = found.version
        if asked.entrypoint is not None:
            section["entrypoint"] = asked.entrypoint
        return document

    async def spaces_of(self, found: ResolvedEnvironment) -> dict[str, Any]:
        """Return the trees of an environment's spaces: known, or measured now in a worker.

        Raises:
            ApiError: 422 when the environment cannot be made.
        """
        known = await self._database.read(lambda session: self._known(session, found))
        return known or await self._spaces(found)

    def _find(self, session: Session, asked: Asked) -> ResolvedEnvironment:
        """Return the environment that was asked for."""
        found = resolve_environment(
            session, self._paths, asked.environment or GYMNASIUM, entrypoint=asked.entrypoint
        )
        if found.version is None and asked.entrypoint is not None:
            raise invalid(f"{found.name} is Gymnasium's and takes no gymEnvEntrypoint.", MISFIT)
        return found

    def _known(self, session: Session, found: ResolvedEnvironment) -> dict[str, Any] | None:
        """Return the spaces where they are known."""
        if found.version is None:
            return self._measured.get(_measured_by(found))
        row = environments.one(session, found.name, found.version)
        same = row is not None and row.entrypoint == found.reference["entrypoint"]
        same = same and row is not None and row.env_config == found.reference["env_config"]
        known = row.spaces if row is not None and same else {}
        return known if known.get("observation") else None

    async def _spaces(self, found: ResolvedEnvironment) -> dict[str, Any]:
        """Have a worker make the environment and describe its spaces."""
        job = await self._supervisor.start(
            JobSpec(
                "spaces",
                {"name": found.name, "environment": found.reference},
                python=overlay_python(self._paths, found),
                timeout=SPACES_SECONDS,
            )
        )
        outcome = await job.wait()
        if outcome.result is None:
            reason = (outcome.error or {}).get("message", "it gave no reason")
            raise invalid(
                f"The spaces of {found.name!r} cannot be read: {reason}", "ENVIRONMENT_FAILED"
            )
        if found.version is None:
            self._measured[_measured_by(found)] = outcome.result
        return outcome.result


def _measured_by(found: ResolvedEnvironment) -> str:
    """Return what the spaces of an environment that is not registered depend on."""
    return json.dumps(found.reference, sort_keys=True, default=str)
