"""`ArenaTrainer`: from a manifest to a trained population in two lines."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from arena_sdk.errors import ArenaTrainingError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from arena_sdk._sync.client import ArenaClient
    from arena_sdk.answers import Checkpoint, Experiment

    Section = Mapping[str, Any] | BaseModel

FAILED_STATES = frozenset({"failed", "interrupted"})


class ArenaTrainer:
    """Submits one manifest: read from a file, or built from its sections.

    Example:
        >>> trainer = ArenaTrainer.from_manifest("dqn.yaml")  # doctest: +SKIP
        >>> trainer.train(project="my-project", wait=True)["best_fitness"]  # doctest: +SKIP
        >>> ArenaTrainer(
        ...     {"name": "DQN", "lr": 1e-3},
        ...     "CartPole-v1",
        ...     {"max_steps": 20_000, "pop_size": 4},
        ... ).train(project="my-project")  # doctest: +SKIP

    Args:
        algorithm: Its name, or the section with its hyperparameters.
        environment: Its name, or the section.
        training: The section; a section that is left out has its defaults.
        client: What to submit it with; one is made from the settings when None.
        api_key: For the client that is made.
        mutation: The section.
        selection_strategy: The section `tournament_selection`.
        replay_buffer: The section.
        **sections: Further sections by name, such as `network`.

    Raises:
        ManifestError: The sections make no valid manifest.
    """

    def __init__(
        self,
        algorithm: str | Section,
        environment: str | Section,
        training: Section | None = None,
        *,
        client: ArenaClient | None = None,
        api_key: str | None = None,
        mutation: Section | None = None,
        selection_strategy: Section | None = None,
        replay_buffer: Section | None = None,
        **sections: Section | None,
    ) -> None:
        given = {
            "algorithm": {"name": algorithm} if isinstance(algorithm, str) else algorithm,
            "environment": {"name": environment} if isinstance(environment, str) else environment,
            "training": training,
            "mutation": mutation,
            "tournament_selection": selection_strategy,
            "replay_buffer": replay_buffer,
            **sections,
        }
        self._set(
            {key: _plain(section) for key, section in given.items() if section is not None},
            client,
            api_key,
        )

    @classmethod
    def from_manifest(
        cls,
        manifest: str | os.PathLike[str] | dict[str, Any],
        client: ArenaClient | None = None,
        *,
        api_key: str | None = None,
    ) -> ArenaTrainer:
        """Load and check a manifest.

        Args:
            manifest: A YAML or JSON file, or the manifest itself.
            client: What to submit it with; one is made from the settings when None.
            api_key: For the client that is made.

        Raises:
            ManifestError: It is not valid.
        """
        trainer = cls.__new__(cls)
        trainer._set(manifest, client, api_key)
        return trainer

    def _set(self, manifest: Any, client: ArenaClient | None, api_key: str | None) -> None:
        from arena_sdk.manifest import TrainingManifest

        self.manifest: dict[str, Any] = TrainingManifest.load(manifest).payload()
        self._client = client
        self._api_key = api_key

    def to_manifest(self) -> dict[str, Any]:
        """Return the manifest as it is submitted: defaults filled in."""
        return copy.deepcopy(self.manifest)

    def train(self, *, wait: bool = False, **options: Any) -> dict[str, Any]:
        """Submit the manifest.

        Args:
            wait: Follow the run to its end.
            **options: Those of `ArenaClient.submit_experiment`.

        Returns:
            The service's answer; with `wait` the experiment as it ended, or where the service
            gives no details its `name` and `state`.

        Raises:
            ArenaTrainingError: It was not accepted, or with `wait` it failed.
        """
        with self._opened() as client:
            return self._train(client, wait, options)

    def list_checkpoints(self, job_id: str) -> list[Checkpoint]:
        """Return the checkpoints of an experiment, which `job_id` names."""
        with self._opened() as client:
            return client.list_checkpoints(job_id)

    def list_experiments(self, project: str) -> list[Experiment]:
        """Return the experiments of a project."""
        with self._opened() as client:
            return client.list_experiments(project)

    def resume_from_checkpoint(self, job_id: str, max_steps: int) -> Experiment:
        """Resume an experiment, which `job_id` names, with a new budget of steps of a member."""
        with self._opened() as client:
            return client.resume_experiment(job_id, max_steps)

    @contextmanager
    def _opened(self) -> Iterator[ArenaClient]:
        if self._client is not None:
            yield self._client
            return
        from arena_sdk._sync.client import ArenaClient

        with ArenaClient(self._api_key) as client:
            yield client

    def _train(self, client: ArenaClient, wait: bool, options: dict[str, Any]) -> dict[str, Any]:
        answer = client.submit_experiment(self.manifest, **options)
        if not wait:
            return answer
        name = str(answer.get("experiment_name") or options.get("experiment_name") or "")
        if not name:
            raise ArenaTrainingError(
                "The service did not say how the experiment is named, so it cannot be followed.",
                status_code=200,
                hint_python="Pass experiment_name=… to train().",
            )
        outcome: dict[str, Any] = {"name": name}
        for record in client.watch_experiment(name):
            if record["kind"] == "state":
                outcome |= record["data"]
        if "experiment_details" in client.capabilities():
            outcome = client.get_experiment(name)
        if outcome.get("state") in FAILED_STATES:
            raise ArenaTrainingError(
                f"{name} {outcome['state']}: {outcome.get('error') or 'no reason was given'}",
                status_code=200,
            )
        return outcome


def _plain(section: Any) -> dict[str, Any]:
    """Return a section as a dict, whether it came as one or as a model of the manifest's."""
    dump = getattr(section, "model_dump", None)
    return dict(section) if dump is None else dict(dump(exclude_unset=True))
