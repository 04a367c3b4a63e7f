"""How a worker process is begun: its command line, its environment, its pipes."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena_sdk.local.workers.channel import CONTROL_FD, PARENT_PID, RESULT_FD
from arena_sdk.local.workers.sweep import MARK

KEPT_VARIABLES = (
    "PATH",
    "LANG",
    "LC_ALL",
    "TZ",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "CUDA_VISIBLE_DEVICES",
    "OPENBLAS_CORETYPE",
)
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
LONGEST_TEMPORARY = 70
"""Characters; the names of Unix sockets that multiprocessing makes below it must stay below 104."""


@dataclass
class Launched:
    """A process that has begun, and the server's ends of its pipes.

    Attributes:
        process: The worker's main process, leader of a session and a group of its own.
        results: Read end of what it says.
        control: Write end of what it is told, which does not block; also its lifeline.
        output: Read end of what it prints.
    """

    process: asyncio.subprocess.Process
    results: int
    control: int
    output: int


async def launch(
    kind: str,
    payload: dict[str, Any],
    folder: Path,
    *,
    python: str | None = None,
    threads: int = 1,
    variables: dict[str, str] | None = None,
) -> Launched:
    """Begin a worker in `folder`, which it makes.

    Args:
        kind: Name of a module of `arena_sdk.local.workers`.
        payload: What its `main` gets.
        folder: The job's folder; `folder/work` becomes its home and working directory.
        python: Interpreter; our own when None.
        threads: How many threads its numeric libraries may use.
        variables: More of its environment.

    Raises:
        OSError: The process could not be started.
    """
    work = folder / "work"
    work.mkdir(parents=True)
    temporary_of(folder).mkdir(mode=0o700)
    results, results_theirs = os.pipe()
    control_theirs, control = os.pipe()
    output, output_theirs = os.pipe()
    os.set_blocking(control, False)  # a worker that does not listen must not hold up the server
    environment = _environment(folder, threads) | (variables or {})
    environment[RESULT_FD] = str(results_theirs)
    environment[CONTROL_FD] = str(control_theirs)
    try:
        process = await asyncio.create_subprocess_exec(
            *_command(kind, payload, folder, python),
            stdin=subprocess.DEVNULL,
            stdout=output_theirs,
            stderr=subprocess.STDOUT,
            cwd=work,
            env=environment,
            pass_fds=(results_theirs, control_theirs),
            start_new_session=True,
        )
    except BaseException:
        for fd in (results, control, output):
            os.close(fd)
        raise
    finally:
        for fd in (results_theirs, control_theirs, output_theirs):
            os.close(fd)
    return Launched(process, results, control, output)


def _command(kind: str, payload: dict[str, Any], folder: Path, python: str | None) -> list[str]:
    path = folder / "spec.json"
    with open(path, "w", encoding="utf-8", opener=_private) as file:  # it may hold a token
        json.dump(payload, file)
    # -P: the working directory holds nothing to import, and what user code puts there must not
    # shadow a module of ours.
    return [python or sys.executable, "-P", "-m", "arena_sdk.local.workers", kind, str(path)]


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def temporary_of(folder: Path) -> Path:
    """Return a job's folder for temporary files: in its own, or beside it where names are long.

    It is the job's alone wherever it lies, and goes when the job's folder goes.
    """
    inside = folder / "work" / "tmp"
    if len(str(inside)) <= LONGEST_TEMPORARY:
        return inside
    return Path(tempfile.gettempdir()) / f"arena-{folder.name}"


def _environment(folder: Path, threads: int) -> dict[str, str]:
    """Return a worker's environment: no credential of the server's user, a home of its own."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    kept |= {name.lower(): os.environ[name.lower()] for name in kept if name.lower() in os.environ}
    home = folder / "work"
    return {
        **kept,
        "TMPDIR": str(temporary_of(folder)),
        **dict.fromkeys(THREAD_VARIABLES, str(threads)),
        "HOME": str(home),
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUTF8": "1",
        "MPLBACKEND": "Agg",
        "PYGAME_HIDE_SUPPORT_PROMPT": "1",
        "SDL_VIDEODRIVER": "dummy",
        "SDL_AUDIODRIVER": "dummy",
        PARENT_PID: str(os.getpid()),
        MARK: str(folder),
    }
