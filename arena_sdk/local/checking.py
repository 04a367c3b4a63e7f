"""The checks of an environment's folder without a server: what `arena env check` does.

The steps are the server's own, in its order: the folder is packed as a client packs it, unpacked
as the server unpacks it, its requirements are installed into an overlay that later checks share,
and a worker process imports and examines it. So what passes here passes there.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena_sdk import uploads
from arena_sdk.local.jobs import JobSpec, Supervisor
from arena_sdk.local.paths import DataPaths
from arena_sdk.local.patience import call_seconds
from arena_sdk.local.services.bundled import ConfigError, bundled_config, bundled_requirements
from arena_sdk.local.services.overlays import Overlays
from arena_sdk.local.services.requirements import InstallError
from arena_sdk.local.services.sources import SourceError, store_archive
from arena_sdk.local.services.streams import Event, status

TIME_LIMIT = 900.0
STOP_SECONDS = 0.5
KEPT_OVERLAYS = 8
SPOOL_BYTES = 16 << 20
"""A packed source up to this size stays in memory."""

Tell = Callable[[Event], None]


class CheckRefused(Exception):
    """A folder that could not be checked at all; one sentence.

    Args:
        message: What, where, and what to do.
        error_code: As the server's, such as `AMBIGUOUS_ENTRYPOINT`.
    """

    def __init__(self, message: str, error_code: str) -> None:
        super().__init__(message)
        self.error_code = error_code


@dataclass(frozen=True)
class Wanted:
    """What to check.

    Attributes:
        source: A folder, a file, or an archive of either.
        entrypoint: `module:Class`; found when None.
        env_config: Arguments of the constructor; those in the source when None.
        requirements: Text of a requirements.txt; that in the source when None.
        multi_agent: A PettingZoo environment.
        language_based: A GEM environment.
    """

    source: Path
    entrypoint: str | None = None
    env_config: dict[str, Any] | None = None
    requirements: str | None = None
    multi_agent: bool = False
    language_based: bool = False


async def check_folder(wanted: Wanted, home: Path, tell: Tell) -> dict[str, Any]:
    """Check an environment's folder as the server would.

    Args:
        wanted: What to check.
        home: Where overlays are kept from one check to the next, and workers work.
        tell: Told each event of the contract as it happens.

    Returns:
        The worker's result (`validated`, `entrypoint`, `entrypoints`, `checks`, `not_run`,
        `spaces`, `algorithms`) and `seconds`.

    Raises:
        CheckRefused: It could not be checked.
        ArenaError: The folder is not there or cannot be packed.
    """
    begun = time.monotonic()
    paths = DataPaths(home)
    paths.jobs.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="arena-check-") as folder:
        tree = _unpacked(wanted.source, Path(folder))
        try:
            config = bundled_config(tree) if wanted.env_config is None else wanted.env_config
        except ConfigError as error:
            raise CheckRefused(str(error), "INVALID_CONFIG") from None
        required = wanted.requirements
        required = bundled_requirements(tree) if required is None else required
        python = await _install(required, paths, tell)
        payload = {
            "name": wanted.source.name,
            "version": "check",
            "source_dir": str(tree),
            "entrypoint": wanted.entrypoint,
            "env_config": config,
            "multi_agent": wanted.multi_agent,
            "language_based": wanted.language_based,
            "do_rollouts": False,
            "call_seconds": call_seconds(),
            "rollouts_dir": None,
        }
        spec = JobSpec("validate", payload, python, timeout=TIME_LIMIT)
        result = await run_alone(spec, paths, tell)
    return {**result, "seconds": round(time.monotonic() - begun, 2)}


def _unpacked(source: Path, folder: Path) -> Path:
    with tempfile.SpooledTemporaryFile(SPOOL_BYTES) as archive:
        uploads.pack(source, archive)
        archive.seek(0)
        try:
            return folder / store_archive(archive, folder)
        except SourceError as error:
            raise CheckRefused(str(error), "INVALID_SOURCE") from None


async def _install(requirements: str, paths: DataPaths, tell: Tell) -> str | None:
    """Install requirements; return the interpreter that sees them, None for our own."""
    overlays = Overlays(paths.overlays)

    def progress(message: str, detail: dict[str, object] | None) -> None:
        event = status("requirements", "running", message, level="secondary-info", detail=detail)
        tell(event)

    try:
        key = await overlays.prepare(requirements, progress)
    except InstallError as refused:
        lines = "".join(f"\n    {line}" for line in refused.lines)
        raise CheckRefused(f"{refused.message}{lines}", "INSTALL_FAILED") from None
    if key is not None:
        _prune(paths.overlays, key)
    return overlays.python(key)


def _prune(folder: Path, key: str) -> None:
    """Keep the overlays that were used last; no version of an environment holds on to these."""
    (folder / key).touch()
    with contextlib.suppress(OSError):
        whole = [path for path in folder.iterdir() if not path.name.startswith(".")]
        whole.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        for path in whole[KEPT_OVERLAYS:]:
            shutil.rmtree(path, ignore_errors=True)


async def run_alone(spec: JobSpec, paths: DataPaths, tell: Tell) -> dict[str, Any]:
    """Run one worker without a server, and return its result.

    Raises:
        CheckRefused: It has none.
    """
    supervisor = Supervisor(paths)
    job = await supervisor.start(spec)
    try:
        async for message in job.messages():
            tell(message)
        outcome = await job.wait()
    finally:
        await supervisor.shutdown(STOP_SECONDS)
        shutil.rmtree(job.folder, ignore_errors=True)
    if outcome.result is None:
        error = outcome.error or {"message": "The checks ended without a word."}
        raise CheckRefused(error["message"], str(error.get("error_code", "FAILED")))
    return outcome.result
