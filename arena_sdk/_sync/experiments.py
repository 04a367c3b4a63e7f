# Made by `python -m arena_sdk._unasync` from arena_sdk/_async/experiments.py; change that one.
"""Experiments: submit, list, stop, resume, checkpoints, metrics, logs, lineage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from arena_sdk._files import PathLike, form_fields, reward_part
from arena_sdk._http import given
from arena_sdk._sync.base import PREFIX, Endpoints
from arena_sdk.answers import Checkpoint, Experiment, Submission
from arena_sdk.errors import (
    ArenaConfigError,
    ArenaTrainingError,
)
from arena_sdk.names import name_problem

if TYPE_CHECKING:
    from arena_sdk._sync.client import ArenaClient

DOWNLOAD_ROWS = 50_000
"""How many rows a download asks for, as the published client does."""


def _check_nodes(count: int | None) -> None:
    if count is not None and (isinstance(count, bool) or count < 1):
        raise ArenaTrainingError(f"num_nodes must be 1 or more, not {count!r}.", status_code=422)


class Experiments(Endpoints):
    """Training runs."""

    def submit_experiment(
        self,
        manifest: PathLike | dict[str, Any],
        *,
        resource_id: str | int | None = None,
        num_nodes: int | None = None,
        project: str | None = None,
        experiment_name: str | None = None,
        reward_file: PathLike | bytes | None = None,
        completion: str | None = None,
        options: Mapping[str, Any] | None = None,
        overrides: Mapping[str, Any] | None = None,
    ) -> Submission:
        """Submit a training run.

        Example:
            >>> client.submit_experiment("dqn.yaml", project="walk", experiment_name="first")

        Args:
            manifest: A YAML or JSON file, or the manifest itself.
            resource_id: What to run on; a key of `list_resources()["tiers"]`.
            num_nodes: How many nodes.
            project: The default project when None.
            experiment_name: The service makes one up when None.
            reward_file: Python file with `reward()`, for reasoning runs.
            completion: A completion to try the reward on.
            options: How it is run, beyond the manifest: `priority`, `auto_resume` and more, where
                the service has the feature `run_options`, which lists them.
            overrides: What was changed in the manifest, by dotted path, to be recorded where the
                service has the feature `experiment_overrides`; the manifest has the values.

        Returns:
            `accepted`, `experiment_id` and more.

        Raises:
            ManifestError: The manifest is not valid.
            ArenaTrainingError: It was not accepted.
            ArenaEnvironmentNotFoundError: Its environment is not registered.
        """
        from arena_sdk.manifest import TrainingManifest

        _check_nodes(num_nodes)
        payload = TrainingManifest.load(manifest).payload()
        if experiment_name is not None:
            problem = name_problem("experiment", experiment_name)
            if problem:
                raise ArenaTrainingError(problem, status_code=422)
        body: dict[str, Any] = {
            "manifest": payload,
            "resource_id": resource_id,
            "num_nodes": num_nodes,
            "project": self._project(project),
            "experiment_name": experiment_name,
            **self._further_fields(options, overrides),
        }
        path = f"{PREFIX}/experiments/jobs/submit"
        if reward_file is None:
            return Submission(
                self._transport.stream(
                    path, kind=ArenaTrainingError, on_event=self._on_event, body=body
                )
            )
        return Submission(
            self._transport.stream(
                path,
                kind=ArenaTrainingError,
                on_event=self._on_event,
                data=form_fields({**body, "completion": completion}),
                files={"reward_file": reward_part(reward_file)},
            )
        )

    def _further_fields(
        self, options: Mapping[str, Any] | None, overrides: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """Return what a submission says beyond the contract, to a service that understands it."""
        if not options and not overrides:
            return {}
        features = cast("ArenaClient", self).capabilities()
        if options and "run_options" not in features:
            raise ArenaTrainingError(
                f"{self._transport.base_url} takes no run options ({', '.join(options)}); leave"
                " them out. The embedded Arena does.",
                status_code=422,
            )
        found: dict[str, Any] = {"options": dict(options)} if options else {}
        if overrides and "experiment_overrides" in features:
            found["overrides"] = dict(overrides)
        return found

    def get_default_run_spec(
        self,
        algorithm: str,
        *,
        gym_env: str | None = None,
        gym_env_entrypoint: str | None = None,
        dataset_name: str | None = None,
        field: str | None = None,
        pretrained_model_name_or_path: str | None = None,
    ) -> dict[str, Any]:
        """Return a manifest that is filled in for an algorithm, or one section of it.

        Example:
            >>> client.get_default_run_spec("DQN", gym_env="corridor")["algorithm"]

        Args:
            algorithm: Its name, as in `DQN`.
            gym_env: An environment of yours, or a Gymnasium id.
            gym_env_entrypoint: `module:Class` of that environment.
            dataset_name: A dataset of yours.
            field: Only this section.
            pretrained_model_name_or_path: Which language model.
        """
        return self._transport.document(
            "GET",
            f"{PREFIX}/experiments/run-spec/default",
            params=given(
                algorithm=algorithm,
                gymEnv=gym_env,
                gymEnvEntrypoint=gym_env_entrypoint,
                datasetName=dataset_name,
                field=field,
                pretrainedModelNameOrPath=pretrained_model_name_or_path,
            ),
        )

    def list_experiments(
        self, project: str | None = None, *, details: bool = False
    ) -> list[Experiment]:
        """Return the experiments of a project, newest first.

        Example:
            >>> [(run.name, run.state) for run in client.list_experiments("walk")]

        Args:
            project: The default one when None.
            details: Ask for everything that is known of each, where the service has the feature
                `experiment_rows`; others answer as they do without.
        """
        rows = self._transport.rows(
            "GET",
            f"{PREFIX}/experiments/list",
            params=[
                ("project", self._project(project)),
                *given(details=True if details else None),
            ],
        )
        return Experiment.each(rows)

    def stop_experiment(self, experiment_name: str) -> Any:
        """Stop a run; it leaves a checkpoint.

        Example:
            >>> client.stop_experiment("first")
        """
        return self._transport.json(
            "POST",
            f"{PREFIX}/experiments/jobs/stop",
            kind=ArenaTrainingError,
            body={"experiment_name": experiment_name},
        )

    def delete_experiment(self, experiment_name: str, *, confirm: bool = False) -> dict[str, Any]:
        """Delete an ended run with its metrics, checkpoints and log (embedded Arena).

        Example:
            >>> client.delete_experiment("first", confirm=True)

        Args:
            experiment_name: Which run.
            confirm: Must be true, as what is deleted is gone.

        Returns:
            `name` and `deleted`.

        Raises:
            ArenaTrainingError: It was not confirmed, or the run is active, or its agent is served.
        """
        if not confirm:
            raise ArenaTrainingError(
                f"Deleting the experiment {experiment_name!r} needs confirm=True."
            )
        with self._beyond_contract("experiment_delete", "to delete experiments"):
            return self._transport.document(
                "DELETE",
                f"{PREFIX}/experiments/delete",
                kind=ArenaTrainingError,
                body={"experiment_name": experiment_name},
            )

    def resume_experiment(self, experiment_name: str, max_steps: int) -> Experiment:
        """Resume a run from its last checkpoint.

        Example:
            >>> client.resume_experiment("first", 2_000_000)

        Args:
            experiment_name: Which run.
            max_steps: New budget, in environment steps of one member from the start.
        """
        return Experiment(
            self._transport.document(
                "POST",
                f"{PREFIX}/experiments/jobs/resume",
                kind=ArenaTrainingError,
                body={"experiment_name": experiment_name, "max_steps": max_steps},
            )
        )

    def list_checkpoints(self, experiment_name: str) -> list[Checkpoint]:
        """Return checkpoints: `name`, `steps`, `evaluation_score`, `training_score`, `size_mb`.

        Example:
            >>> [checkpoint.steps for checkpoint in client.list_checkpoints("first")]
        """
        return Checkpoint.each(
            self._transport.rows(
                "GET",
                f"{PREFIX}/experiments/jobs/checkpoints",
                params=[("experiment_name", experiment_name)],
            )
        )

    def _project(self, given: str | None) -> str:
        project = given or self._config.default_project(self._settings.profile)
        if not project:
            self._transport.headers()  # without a credential that is what is missing first
            raise ArenaConfigError(
                "No project was named and there is no default one.",
                hint_python="Pass project=…, or call client.set_default_project(name).",
                hint_cli="Give --project NAME, or run `arena projects set-default NAME`.",
            )
        return project
