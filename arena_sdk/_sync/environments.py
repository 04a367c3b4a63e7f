# Made by `python -m arena_sdk._unasync` from arena_sdk/_async/environments.py; change that one.
"""Environments: validate, profile, list, copy, delete."""

from __future__ import annotations

import tempfile
from typing import Any

from arena_sdk import uploads
from arena_sdk._files import (
    CONFIG_NAMES,
    REQUIREMENTS_NAMES,
    PathLike,
    archive_name,
    beside,
    config_part,
    read_optional,
)
from arena_sdk._http import mapping_of_objects, query
from arena_sdk._pause import blocking_call
from arena_sdk._progress import Progress, Upload
from arena_sdk._sync.base import PREFIX, Endpoints
from arena_sdk.answers import Environment, EnvironmentVersion, Profile, Validation
from arena_sdk.errors import ArenaValidationError
from arena_sdk.names import name_problem

MEMORY_LIMIT = 8 << 20
"""Bytes of an archive that are held in memory before it goes to a temporary file."""


class Environments(Endpoints):
    """Custom environments."""

    def list_environments(
        self, name: str | None = None, include_arena: bool = False
    ) -> dict[str, dict[str, EnvironmentVersion]]:
        """Return environments as `{name: {version: {"validated": …, "profiled": …}}}`.

        Example:
            >>> client.list_environments()["corridor"]["v1"].validated
        """
        found = self._transport.document(
            "GET",
            f"{PREFIX}/environments",
            kind=ArenaValidationError,
            params=query(name=name, include_arena=include_arena),
        )
        path = f"{PREFIX}/environments"
        return {
            name: {
                version: EnvironmentVersion(marks)
                for version, marks in mapping_of_objects(
                    ArenaValidationError, path, versions
                ).items()
            }
            for name, versions in found.items()
        }

    def environment_exists(self, name: str, version: str | None = None) -> bool:
        """Tell whether an environment, or one version of it, is registered.

        Example:
            >>> client.environment_exists("corridor", "v1")
        """
        answer = self._transport.json(
            "GET",
            f"{PREFIX}/environments/exists",
            kind=ArenaValidationError,
            params=query(name=name, version=version),
        )
        return bool(answer.get("exists")) if isinstance(answer, dict) else bool(answer)

    def list_environment_entrypoints(self, name: str, version: str | None = None) -> list[str]:
        """Return the classes that can be trained on, as `module:Class`.

        Example:
            >>> client.list_environment_entrypoints("corridor")
        """
        return self._transport.texts(
            "GET",
            f"{PREFIX}/environments/entrypoints",
            kind=ArenaValidationError,
            params=query(name=name, version=version),
        )

    def get_environment(self, name: str, version: str | None = None) -> Environment:
        """Return one version with its checks, spaces and profile (embedded Arena).

        Example:
            >>> client.get_environment("corridor").spaces
        """
        with self._beyond_contract("environment_details", "details of environments"):
            answer = self._transport.document(
                "GET",
                f"{PREFIX}/environments/details",
                kind=ArenaValidationError,
                params=query(name=name, version=version),
            )
        return Environment(answer)

    def get_environment_rollout(self, name: str, version: str | None = None) -> bytes:
        """Return a GIF of a random episode of one version (embedded Arena).

        There is one of versions that were validated with `do_rollouts` and draw frames; the
        feature is `environment_rollout`.

        Example:
            >>> gif = client.get_environment_rollout("corridor")

        Raises:
            ArenaValidationError: There is no such version, or none was kept of it.
        """
        with self._beyond_contract("environment_rollout", "pictures of environments"):
            answer = self._transport.request(
                "GET",
                f"{PREFIX}/environments/rollout",
                kind=ArenaValidationError,
                params=query(name=name, version=version),
            )
        return bytes(answer.content)

    def validate_environment(
        self,
        *,
        name: str,
        version: str | None = None,
        source: PathLike | bytes | None = None,
        env_config: PathLike | None = None,
        requirements: PathLike | None = None,
        entrypoint: str | None = None,
        description: str | None = None,
        multi_agent: bool = False,
        language_based: bool = False,
        do_rollouts: bool = False,
        on_progress: Progress | None = None,
    ) -> Validation:
        """Validate an environment; with `source`, register it as a new version first.

        Events go to the handler of the client as they come.

        Example:
            >>> report = client.validate_environment(name="corridor", source="corridor")
            >>> report.validated

        Args:
            name: Name of the environment.
            version: Name of the version; `v1` for a new one, the latest for an old one, when None.
            source: A folder, a file, an archive, or the bytes of a gzip tar.
            env_config: YAML or JSON file with arguments of the constructor; `env_config.yaml`,
                `.yml` or `.json` of the folder `source` when None.
            requirements: What is installed first; `requirements.txt` of the folder `source` when
                None.
            entrypoint: `module:Class`, where there are several.
            description: What it is.
            multi_agent: A PettingZoo parallel environment, not a Gymnasium one.
            language_based: A GEM environment.
            do_rollouts: Play 100 random episodes too.
            on_progress: Called with the bytes of the archive that are sent, and of how many.

        Returns:
            What the service found; `validated` says whether every check passed.

        Raises:
            ArenaValidationError: The validation could not be carried out.
            ArenaFileNotFoundError: One of the files is not there.
        """
        problem = name_problem("environment", name)
        if problem:
            raise ArenaValidationError(problem)
        if source is None:
            body: dict[str, Any] = {"name": name, "version": version, "do_rollouts": do_rollouts}
            if entrypoint is not None:
                body["entrypoint"] = entrypoint
            return Validation(
                self._transport.stream(
                    f"{PREFIX}/environments/validate",
                    kind=ArenaValidationError,
                    on_event=self._on_event,
                    body=body,
                )
            )
        fields = {
            "name": name,
            "version": version or "v1",
            "multi_agent": str(multi_agent).lower(),
            "language_based": str(language_based).lower(),
            "do_rollouts": str(do_rollouts).lower(),
        }
        fields |= {"entrypoint": entrypoint} if entrypoint is not None else {}
        fields |= {"description": description} if description is not None else {}
        env_config = env_config or beside(source, CONFIG_NAMES)
        requirements = requirements or beside(source, REQUIREMENTS_NAMES)
        with tempfile.SpooledTemporaryFile(MEMORY_LIMIT) as archive:
            blocking_call(uploads.pack, source, archive)
            archive.seek(0)
            files = {
                "file": (
                    archive_name(source),
                    Upload(on_progress).file(archive),
                    "application/gzip",
                ),
                "env_config": config_part(env_config),
                "requirements": (
                    "requirements.txt",
                    read_optional(requirements, "requirements file"),
                    "text/plain",
                ),
            }
            return Validation(
                self._transport.stream(
                    f"{PREFIX}/environments/create-and-validate",
                    kind=ArenaValidationError,
                    on_event=self._on_event,
                    data=fields,
                    files=files,
                )
            )

    def profile_environment(self, *, name: str, version: str | None = None) -> Profile:
        """Measure an environment.

        Example:
            >>> client.profile_environment(name="corridor").steps_per_second

        Returns:
            `steps_per_second`, `avg_cpu_per_env` and `peak_cpu_per_env` (percent),
            `memory_per_env_gb`.
        """
        return Profile(
            self._transport.stream(
                f"{PREFIX}/environments/profile",
                kind=ArenaValidationError,
                on_event=self._on_event,
                body={"name": name, "version": version},
            )
        )

    def delete_environment(
        self, *, name: str, version: str | None = None, confirm: bool = False
    ) -> dict[str, Any] | None:
        """Delete one version, or all of them; `confirm` must be true.

        Example:
            >>> client.delete_environment(name="corridor", version="v1", confirm=True)

        Raises:
            ArenaValidationError: `confirm` is not true, or the environment is in use.
        """
        if not confirm:
            what = f"version {version!r} of {name!r}" if version else f"all versions of {name!r}"
            raise ArenaValidationError(f"Pass confirm=True to delete {what}.")
        answer: dict[str, Any] | None = self._transport.json(
            "DELETE",
            f"{PREFIX}/environments/delete",
            kind=ArenaValidationError,
            body={"name": name, "version": version},
        )
        return answer

    def duplicate_environment_version(
        self, *, name: str, new_version: str, version: str | None = None
    ) -> dict[str, Any]:
        """Copy a version under a new name; the latest when `version` is None.

        Example:
            >>> client.duplicate_environment_version(name="corridor", new_version="v2")
        """
        return self._transport.document(
            "POST",
            f"{PREFIX}/environments/duplicate",
            kind=ArenaValidationError,
            body={"name": name, "new_version_name": new_version, "version": version},
        )
