"""Which environment a manifest or a player means, found without importing any user code."""

from __future__ import annotations

import difflib
import importlib.util
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from arena_sdk.local.paths import DataPaths
from arena_sdk.local.store import environments
from arena_sdk.local.store.models import EnvironmentVersion

from .refusals import invalid, not_found

PETTINGZOO_PACKAGES = ("pettingzoo", "mpe2")
"""Packages whose modules are environments of several agents."""


@dataclass(frozen=True)
class ResolvedEnvironment:
    """An environment that exists and can be trained on or played.

    Attributes:
        name: As the user wrote it.
        version: The version of a custom environment; None for a Gymnasium id.
        reference: What a worker needs to make it.
        overlay: Key of the overlay environment that its requirements are in, if any.
    """

    name: str
    version: str | None
    reference: dict[str, Any]
    overlay: str | None = None


def resolve_environment(
    session: Session,
    paths: DataPaths,
    name: str,
    *,
    version: str | None = None,
    entrypoint: str | None = None,
    env_config: Any = None,
    several: bool | None = None,
) -> ResolvedEnvironment:
    """Return the custom environment of that name, else the Gymnasium id or PettingZoo module.

    Args:
        session: A transaction.
        paths: The data folder.
        name: A registered environment's name or a Gymnasium id.
        version: A version of a registered one; None takes the latest that is validated.
        entrypoint: `module:Class`, where the version has several.
        env_config: Arguments for the constructor instead of the stored ones.
        several: Whether several agents are to be trained in it; None where it may be either.

    Raises:
        ApiError: 404 when there is none, 422 when it is not validated or its configuration is
            not an object.
    """
    config = _as_object(env_config)
    versions = environments.versions(session, name)
    if versions:
        return _custom(paths, versions, version, entrypoint, config, several)
    if is_gymnasium_id(name):
        reference = {"kind": "gymnasium", "id": name, "kwargs": config or {}}
        return ResolvedEnvironment(name=name, version=None, reference=reference)
    if is_pettingzoo_module(name):
        reference = {"kind": "pettingzoo", "id": name, "kwargs": config or {}}
        return ResolvedEnvironment(name=name, version=None, reference=reference)
    raise _unknown(session, name)


def _as_object(env_config: Any) -> dict[str, Any] | None:
    """Return a configuration that may be written as JSON text."""
    if isinstance(env_config, str) and env_config.strip():
        try:
            env_config = json.loads(env_config)
        except ValueError:
            raise invalid(
                "environment.env_config is text that is not JSON; write it as a mapping.",
                "INVALID_ENV_CONFIG",
            ) from None
    if env_config in (None, ""):
        return None
    if not isinstance(env_config, dict):
        raise invalid(
            "environment.env_config must be a mapping of constructor arguments.",
            "INVALID_ENV_CONFIG",
        )
    return env_config


def _custom(
    paths: DataPaths,
    versions: list[EnvironmentVersion],
    version: str | None,
    entrypoint: str | None,
    config: dict[str, Any] | None,
    several: bool | None,
) -> ResolvedEnvironment:
    row = _pick_version(versions, version)
    chosen = entrypoint or row.entrypoint
    if not chosen:
        raise invalid(
            f"Environment {row.name!r} version {row.version!r} has no entrypoint; validate it"
            f" again: arena env validate {row.name} --version {row.version}",
            "NO_ENTRYPOINT",
        )
    if row.entrypoints and chosen not in row.entrypoints:
        raise invalid(
            f"Environment {row.name!r} version {row.version!r} has no entrypoint {chosen!r}; it"
            f" has {', '.join(map(str, row.entrypoints))}.",
            "UNKNOWN_ENTRYPOINT",
            available_entrypoints=list(row.entrypoints),
        )
    if row.language_based:
        raise invalid(
            f"Environment {row.name!r} is a language environment; the algorithms that train here"
            " need numbers.",
            "UNSUPPORTED_ENVIRONMENT",
        )
    if several is not None and row.multi_agent != several:
        has, fit = ("several agents", "IPPO, MADDPG or MATD3")
        if not row.multi_agent:
            has, fit = "one agent", "an algorithm of one agent"
        raise invalid(
            f"Environment {row.name!r} has {has}; train it with {fit}.", "UNSUPPORTED_ENVIRONMENT"
        )
    _check_files(paths, row)
    reference = {
        "kind": "custom",
        "name": row.name,
        "version": row.version,
        "source_dir": str(paths.source(row.digest)),
        "entrypoint": chosen,
        "env_config": row.env_config if config is None else config,
    }
    return ResolvedEnvironment(row.name, row.version, reference, row.overlay)


def _check_files(paths: DataPaths, row: EnvironmentVersion) -> None:
    """Refuse a version whose sources or requirements were removed from the data folder."""
    folders = [paths.source(row.digest)]
    if row.overlay is not None:
        folders.append(paths.overlay(row.overlay))
    if not all(folder.is_dir() for folder in folders):
        raise invalid(
            f"Files of environment {row.name!r} version {row.version!r} are missing; validate it"
            f" again from its source: arena env validate {row.name} --version {row.version}"
            " --source DIR",
            "ENVIRONMENT_FILES_MISSING",
        )


def _pick_version(versions: list[EnvironmentVersion], version: str | None) -> EnvironmentVersion:
    name = versions[0].name
    if version is None:
        validated = [row for row in versions if row.validated]
        if not validated:
            raise _not_valid(versions[0])
        return max(validated, key=lambda row: (row.validated_at or row.created_at, row.id))
    for row in versions:
        if row.version == version:
            if row.validated:
                return row
            raise _not_valid(row)
    known = ", ".join(row.version for row in versions)
    raise not_found(
        f"The environment was not found: {name!r} has no version {version!r}; it has {known}.",
        "ENVIRONMENT_NOT_FOUND",
    )


def _not_valid(row: EnvironmentVersion) -> Exception:
    """Say why a version cannot be trained on: it failed a check, or none was made yet."""
    what = f"Environment {row.name!r} version {row.version!r}"
    failed = [str(check["check"]) for check in row.checks if not check["success"]]
    if not failed:
        return invalid(
            f"{what} has not been validated; run `arena env validate {row.name} --version"
            f" {row.version}` first.",
            "NOT_VALIDATED",
        )
    return invalid(
        f"{what} failed its validation at the check {failed[0]!r}; `arena env show {row.name}"
        f" --version {row.version}` says why. Mend the source and validate it again: `arena env"
        f" validate {row.name} --version {row.version} --source DIR`.",
        "NOT_VALIDATED",
        failed_checks=failed,
    )


def is_gymnasium_id(name: str) -> bool:
    """Tell whether Gymnasium has this very id registered; ids that import a module are not."""
    import gymnasium

    return name in gymnasium.registry


def is_pettingzoo_module(name: str) -> bool:
    """Tell whether a name is that of an installed module of PettingZoo's or mpe2's.

    Nothing of it is imported here: only whether its file is there is looked at.
    """
    package, _, rest = name.partition(".")
    if package not in PETTINGZOO_PACKAGES or not all(p.isidentifier() for p in rest.split(".")):
        return False
    found = importlib.util.find_spec(package)
    folders = [] if found is None else list(found.submodule_search_locations or [])
    inner = Path(*rest.split("."))
    return any(
        (Path(folder) / inner).with_suffix(".py").is_file()
        or (Path(folder) / inner / "__init__.py").is_file()
        for folder in folders
    )


def _unknown(session: Session, name: str) -> Exception:
    import gymnasium

    known = [*environments.names(session), *gymnasium.registry]
    lowered = {candidate.lower(): candidate for candidate in known}
    close = [lowered[match] for match in difflib.get_close_matches(name.lower(), lowered, 3, 0.6)]
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    return not_found(
        f"The environment was not found: {name!r} is neither a registered environment (`arena env"
        f" list`) nor a Gymnasium id.{hint}",
        "ENVIRONMENT_NOT_FOUND",
        suggestions=close,
    )
