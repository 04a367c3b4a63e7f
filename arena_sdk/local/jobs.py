"""Worker processes, supervised: started in a session of their own, heard, stopped, and cleared.

A job is one worker process and all that it starts. Its messages come over a pipe of their own, its
output goes to a log, and when its main process ends, for whatever reason, its whole process group
is killed, and whatever left the group too.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import secrets
import shutil
import signal
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arena_sdk.local.inbox import Inbox
from arena_sdk.local.joblog import LogPump
from arena_sdk.local.launch import Launched, launch, temporary_of
from arena_sdk.local.memory import default_limit_gb, wait_until_above
from arena_sdk.local.outcome import Ended, JobOutcome, Reason, conclude
from arena_sdk.local.paths import DataPaths
from arena_sdk.local.workers.sweep import kill_marked

__all__ = ["Job", "JobOutcome", "JobSpec", "Supervisor"]

logger = logging.getLogger(__name__)

STACK_SECONDS = 0.3
"""How long a worker gets to print its stack before it is ended for taking too long."""

DRAIN_SECONDS = 5.0
"""How long to wait for the last messages and output of a worker that has ended."""

KEPT_FOLDERS = 50
"""How many folders of ended jobs, with their logs, are kept from one server to the next."""


@dataclass(frozen=True)
class JobSpec:
    """What to run.

    Attributes:
        kind: Name of a module of `arena_sdk.local.workers`.
        payload: What its `main` gets; JSON.
        python: Interpreter of an overlay environment; our own when None.
        timeout: Seconds after which the job is ended; no limit when None.
        log_path: Where its output goes; a file in the job's folder when None.
        memory_gb: GiB that it and its children may use; most of the machine when None.
        threads: How many threads its numeric libraries may use.
        variables: More of its environment.
    """

    kind: str
    payload: dict[str, Any]
    python: str | None = None
    timeout: float | None = None
    log_path: Path | None = None
    memory_gb: float | None = None
    threads: int = 1
    variables: dict[str, str] = field(default_factory=dict)


class Job:
    """A running worker.

    Args:
        job_id: Its id, unique in the data folder.
        spec: What it runs.
        folder: Its folder.
        launched: Its process and pipes.
    """

    def __init__(self, job_id: str, spec: JobSpec, folder: Path, launched: Launched) -> None:
        self.id = job_id
        self.spec = spec
        self.folder = folder
        self.log_path = spec.log_path or folder / "log"
        self.process = launched.process
        self.started_at = time.time()
        self.inbox = Inbox()
        self.ending: Reason | None = None
        self._control: int | None = launched.control
        self._finished: asyncio.Future[JobOutcome] = asyncio.get_running_loop().create_future()

    @property
    def kind(self) -> str:
        """The kind of work."""
        return self.spec.kind

    @property
    def pid(self) -> int:
        """Process id, and id of the process group."""
        return self.process.pid

    @property
    def name(self) -> str:
        """What the work is about, for people."""
        return str(self.spec.payload.get("name") or self.kind)

    def messages(self) -> AsyncIterator[dict[str, Any]]:
        """Yield what the worker says, other than its result or error, until its end.

        For one consumer; a worker whose consumer does not keep up has to wait.
        """
        return self.inbox.messages()

    async def send(self, command: dict[str, Any]) -> None:
        """Send a command to the worker; one that has ended or does not listen misses it."""
        if self._control is None:
            return
        line = json.dumps(command).encode() + b"\n"
        try:
            os.write(self._control, line)  # whole or not at all, being short
        except BlockingIOError:
            logger.warning("job %s does not listen; it misses %r", self.id, command)
        except BrokenPipeError:
            pass

    async def stop(self, grace: float = 5.0) -> None:
        """Ask the worker to stop; after `grace` seconds end it, and all that it started."""
        if self._finished.done():
            return
        self.ending = self.ending or "stopped"
        await self.inbox.open_up()
        await self.send({"cmd": "stop"})
        if await self._ended_within(grace * 0.8):
            return
        with contextlib.suppress(ProcessLookupError):
            self.process.terminate()
        if await self._ended_within(grace * 0.2):
            return
        self.ending = "killed"
        self.kill()
        await self.wait()

    def kill(self) -> None:
        """End the worker and its process group, now."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    async def wait(self) -> JobOutcome:
        """Return how the job ended, once it has."""
        await self.inbox.open_up()
        return await asyncio.shield(self._finished)

    async def finish(self, outcome: JobOutcome) -> None:
        """Tell those who wait that the job and all its processes are gone."""
        if self._control is not None:
            os.close(self._control)
            self._control = None
        self._finished.set_result(outcome)
        await self.inbox.close()

    async def _ended_within(self, seconds: float) -> bool:
        done, _ = await asyncio.wait([self._finished], timeout=seconds)
        return bool(done)


class Supervisor:
    """Starts jobs and knows those that run.

    Must be used from the thread whose event loop runs: Linux ties a worker's life to the thread
    that started it.

    Args:
        paths: The data folder.
    """

    def __init__(self, paths: DataPaths) -> None:
        self.jobs: dict[str, Job] = {}
        self._paths = paths
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    async def start(self, spec: JobSpec) -> Job:
        """Start a worker.

        Raises:
            RuntimeError: The supervisor has been shut down.
            OSError: The process could not be started.
        """
        if self._closed:
            raise RuntimeError("The Arena is shutting down and starts no more work.")
        job_id = f"{spec.kind}-{secrets.token_hex(4)}"
        folder = self._paths.jobs / job_id
        try:
            launched = await launch(
                spec.kind,
                spec.payload,
                folder,
                python=spec.python,
                threads=spec.threads,
                variables=spec.variables,
            )
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        job = Job(job_id, spec, folder, launched)
        self.jobs[job_id] = job
        task = asyncio.create_task(self._oversee(job, launched), name=f"job {job_id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return job

    async def clear_leftovers(self) -> None:
        """End what jobs of an earlier server of this data folder left running; prune folders."""
        ended = await asyncio.to_thread(kill_marked, self._paths.jobs)
        if ended:
            logger.warning("ended %d processes that an earlier server left behind", ended)
        await asyncio.to_thread(_prune, self._paths.jobs)

    async def shutdown(self, grace: float = 5.0) -> None:
        """Stop every job; returns when all of their processes are gone."""
        self._closed = True
        await asyncio.gather(*(job.stop(grace) for job in list(self.jobs.values())))
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _oversee(self, job: Job, launched: Launched) -> None:
        pump = LogPump(launched.output, job.log_path)
        reader = asyncio.create_task(self._read(job, launched.results))
        watch = asyncio.create_task(self._watch_memory(job))
        try:
            await self._wait_for_exit(job)
        finally:
            watch.cancel()
            job.kill()  # what the worker started may still run
            await asyncio.to_thread(kill_marked, job.folder)
            await job.inbox.open_up()
            await asyncio.wait([reader], timeout=DRAIN_SECONDS)
            reader.cancel()
            await asyncio.to_thread(pump.close, DRAIN_SECONDS)
            outcome = await asyncio.to_thread(conclude, _ended(job))
            await asyncio.to_thread(_clear, job)
            del self.jobs[job.id]
            await job.finish(outcome)

    async def _read(self, job: Job, fd: int) -> None:
        try:
            await job.inbox.read(fd)
        except ValueError:
            logger.warning("job %s sent a message above the limit; it is ended", job.id)
            job.kill()

    async def _watch_memory(self, job: Job) -> None:
        await wait_until_above(job.pid, _memory_limit(job.spec))
        job.ending = "memory"
        job.kill()

    async def _wait_for_exit(self, job: Job) -> None:
        try:
            await asyncio.wait_for(job.process.wait(), job.spec.timeout)
        except TimeoutError:
            job.ending = "timeout"
            with contextlib.suppress(ProcessLookupError):
                job.process.send_signal(signal.SIGUSR1)  # writes the stack of every thread
            await asyncio.sleep(STACK_SECONDS)
            job.kill()
            await job.process.wait()


def _memory_limit(spec: JobSpec) -> float:
    return default_limit_gb() if spec.memory_gb is None else spec.memory_gb


def _ended(job: Job) -> Ended:
    """Gather what is known of a job that has ended."""
    code = job.process.returncode
    timeout, memory = f"{job.spec.timeout or 0:g} s", f"{_memory_limit(job.spec):.3g} GiB"
    return Ended(
        kind=job.kind,
        returncode=-1 if code is None else code,
        asked=job.ending,
        limit=memory if job.ending == "memory" else timeout,
        result=job.inbox.result,
        error=job.inbox.error,
        log_path=job.log_path,
        folder=job.folder,
    )


def _clear(job: Job) -> None:
    """Remove the private folder, but for a log that is kept in it."""
    shutil.rmtree(temporary_of(job.folder), ignore_errors=True)
    if job.log_path.parent != job.folder:
        shutil.rmtree(job.folder, ignore_errors=True)
        return
    for path in job.folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        elif path != job.log_path:
            path.unlink(missing_ok=True)


def _prune(folder: Path) -> None:
    """Remove the folders of all but the latest jobs."""
    folders = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in folders:  # what a killed server could not remove
        shutil.rmtree(temporary_of(path), ignore_errors=True)
    for path in folders[KEPT_FOLDERS:]:
        shutil.rmtree(path, ignore_errors=True)
