"""A fence around user code: it runs in a forked child that is watched, timed and measured.

The worker's main process imports nothing of the user's. It forks, hears the child over a pipe,
drains what the child prints, and ends it when a call takes too long, when it needs too much memory
or starts too many processes. So a hang, a crash and an `os._exit` are findings with a report, like
any other.
"""

from __future__ import annotations

import faulthandler
import io
import json
import os
import secrets
import select
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from arena_sdk.local.patience import DEFAULT_SECONDS
from arena_sdk.local.validation import output as captured
from arena_sdk.local.validation.confine import confine
from arena_sdk.local.validation.endings import GUARD_BROKEN, Outcome
from arena_sdk.local.validation.families import family_of, kill_family
from arena_sdk.local.validation.grouping import stay_in_group
from arena_sdk.local.validation.limits import limit_this_process, machine_memory
from arena_sdk.local.validation.patient import PatientClock
from arena_sdk.local.validation.stacks import read_stack

CALL_SECONDS = DEFAULT_SECONDS
"""How long one call of user code may take before it is taken to be stuck."""

CHECK_SECONDS = 180.0
"""How long one check may take, though each of its calls returns."""

STACK_SECONDS = 0.4
POLL_SECONDS = 0.2
PULSE_SECONDS = 0.25
MAX_LINE = 8 << 20
MAX_PROCESSES = 64
MEMORY_SHARE = 0.6
"""Share of the machine's memory that an environment may take."""
SHORT_SHARE = 0.05
"""Share of the machine's memory below which one that holds much of it is ended."""
GREEDY_BYTES = 1 << 30

Message = dict[str, Any]
Emit = Callable[[Message], None]


class ParentChannel(Protocol):
    """What the guard needs of a worker's channel."""

    stopping: Any

    def adopt_child(self) -> None:
        """Make a forked child end with the server."""


class Pulse:
    """The child's side: tells the parent that it goes on, a few times a second at most.

    Args:
        emit: Sends a message to the parent.
    """

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._last = 0.0

    def __call__(self) -> None:
        """Say that a call of user code begins."""
        now = time.monotonic()
        if now - self._last > PULSE_SECONDS:
            self._last = now
            self._emit({"kind": "pulse"})


def run_guarded(
    target: Callable[[Emit, Pulse], None],
    on_message: Callable[[Message, captured.Output], None],
    channel: ParentChannel,
    *,
    call_seconds: float = CALL_SECONDS,
    check_seconds: float = CHECK_SECONDS,
    stack_file: Path | None = None,
    writable: Sequence[Path] = (),
) -> Outcome:
    """Run `target` in a forked child until its end, or end it.

    Args:
        target: Called in the child; sends messages by the function that it is given.
        on_message: Called here for each message, with what the child printed since the last one.
        channel: The worker's channel.
        call_seconds: How long the child may be silent before it counts as stuck.
        check_seconds: How long it may go on after a message of the kind `begin`, until the next.
        stack_file: Where the child's stack is written; a file in the working folder when None.
        writable: Folders, besides its working and its temporary one, that the child may write to.
    """
    stack_path = stack_file or Path(".arena-stack")
    token = secrets.token_hex(8).encode()
    result_read, result_write = os.pipe()
    output_read, output_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(result_read)
        os.close(output_read)
        confine([Path.cwd(), Path(tempfile.gettempdir()), Path("/dev"), Path("/proc"), *writable])
        _child(target, channel, result_write, output_write, token, stack_path)
    os.close(result_write)
    os.close(output_write)
    try:
        watch = _Watch(pid, result_read, output_read, token, channel, call_seconds, check_seconds)
        outcome = watch.run(on_message)
    finally:
        kill_family(pid)  # what it left behind, too
        os.close(result_read)
        os.close(output_read)
    if outcome.ending in ("hang", "slow", "died"):
        outcome.stack = read_stack(stack_path)
    stack_path.unlink(missing_ok=True)
    return outcome


def _child(
    target: Callable[[Emit, Pulse], None],
    channel: ParentChannel,
    result_fd: int,
    output_fd: int,
    token: bytes,
    stack_path: Path,
) -> None:
    """Be the child: never returns."""
    code = GUARD_BROKEN
    try:
        os.setpgid(0, 0)
        stay_in_group()
        channel.adopt_child()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 - for as long as the process lives
        os.dup2(output_fd, 1)
        os.dup2(output_fd, 2)
        os.close(output_fd)
        sys.stdout, sys.stderr = _text_output(1), _text_output(2)
        limit_this_process()
        stack = stack_path.open("w", encoding="utf-8")
        faulthandler.enable(file=stack, all_threads=False)
        faulthandler.register(signal.SIGUSR1, file=stack, all_threads=False)

        own = os.getpid()

        def emit(message: Message) -> None:
            if os.getpid() != own:
                os._exit(GUARD_BROKEN)  # a fork that user code let go on as if it were the child
            line = token + json.dumps(message, default=_plain).encode() + b"\n"
            view = memoryview(line)
            while view:
                view = view[os.write(result_fd, view) :]

        try:
            target(emit, Pulse(emit))
            emit({"kind": "end"})
            code = 0
        except BaseException:
            emit({"kind": "failure", "traceback": traceback.format_exc()})
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _text_output(fd: int) -> io.TextIOWrapper:
    """Return a stream that is at its descriptor with every line, so that output is in time."""
    raw = io.BufferedWriter(io.FileIO(fd, "w", closefd=False))
    return io.TextIOWrapper(raw, encoding="utf-8", errors="replace", line_buffering=True)


def _plain(value: Any) -> Any:
    to_list = getattr(value, "tolist", None)
    return str(value) if to_list is None else to_list()


class _Watch:
    """The parent's side of one guarded run."""

    def __init__(
        self,
        pid: int,
        results: int,
        output: int,
        token: bytes,
        channel: ParentChannel,
        call_seconds: float,
        check_seconds: float,
    ) -> None:
        self._pid = pid
        self._results = results
        self._output_fd = output
        self._token = token
        self._channel = channel
        self._call_seconds = call_seconds
        self._check_seconds = check_seconds
        self._begun: float | None = None
        self._output = captured.Output()
        self._buffer = bytearray()
        self._ended = False
        self._failure = ""
        self._clock = PatientClock(pid)
        self._heard = 0.0
        self._checked = 0.0
        self._memory_limit = MEMORY_SHARE * machine_memory()
        for fd in (results, output):
            os.set_blocking(fd, False)

    def run(self, on_message: Callable[[Message, captured.Output], None]) -> Outcome:
        """Hear the child until it ends."""
        while True:
            self._pump(POLL_SECONDS, on_message)
            code = self._reap()
            if code is not None:
                self._pump(0.0, on_message)
                return self._conclude(code)
            fault = self._fault()
            if fault is not None:
                self._end(fault, on_message)
                return fault

    def _pump(self, seconds: float, on_message: Callable[[Message, captured.Output], None]) -> None:
        ready, _, _ = select.select([self._results, self._output_fd], [], [], seconds)
        while ready:
            # What was printed before a message belongs to it, so output goes first.
            printed = self._read(self._output_fd)
            if printed:
                self._output.add(printed)
            arrived = self._read(self._results)
            for message in self._parse(arrived or b""):
                on_message(message, self._output)
            if not printed and not arrived:
                if printed is None or arrived is None:
                    time.sleep(0.01)  # an end of file stays ready for ever
                return
            if self._fault_is_due():
                return

    def _read(self, fd: int) -> bytes | None:
        """Return what there is; nothing at the moment is empty, the end of the pipe None."""
        try:
            return os.read(fd, 1 << 16) or None
        except BlockingIOError:
            return b""

    def _parse(self, arrived: bytes) -> Iterator[Message]:
        self._buffer += arrived
        while (end := self._buffer.find(b"\n")) >= 0:
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            # The environment can reach this pipe; what lacks the token is not ours.
            if not line.startswith(self._token):
                continue
            with suppress(ValueError):
                message = json.loads(line[len(self._token) :])
                self._heard = self._clock.now()
                kind = message.get("kind")
                if kind == "end":
                    self._ended = True
                elif kind == "failure":
                    self._failure = message["traceback"]
                elif kind != "pulse":
                    if kind == "begin":
                        self._begun = self._heard
                    yield message
        if len(self._buffer) > MAX_LINE:
            self._buffer.clear()

    def _fault_is_due(self) -> bool:
        return self._late() is not None or self._channel.stopping.is_set()

    def _late(self) -> Outcome | None:
        """Say whether a call, or a check as a whole, takes too long."""
        now = self._clock.now()
        if now - self._heard > self._call_seconds:
            return Outcome("hang", seconds=now - self._heard)
        if self._begun is not None and now - self._begun > self._check_seconds:
            return Outcome("slow", seconds=now - self._begun)
        return None

    def _fault(self) -> Outcome | None:
        now = time.monotonic()
        if self._channel.stopping.is_set():
            return Outcome("stopped")
        late = self._late()
        if late is not None:
            return late
        if now - self._checked > POLL_SECONDS:
            self._checked = now
            return self._greed()
        return None

    def _greed(self) -> Outcome | None:
        """Say whether the child and what it started take too much."""
        import psutil

        family = family_of(self._pid)
        if len(family) > MAX_PROCESSES:
            return Outcome("processes", detail=str(len(family)))
        used = 0
        for process in family:
            with suppress(psutil.Error):
                used += process.memory_info().rss
        if used > self._memory_limit or (used > GREEDY_BYTES and _memory_is_short()):
            return Outcome("memory", detail=f"{used / 1e9:.1f}")
        return None

    def _end(self, fault: Outcome, on_message: Callable[[Message, captured.Output], None]) -> None:
        """Take the child's stack where it hangs, then end it and what it started."""
        if fault.ending in ("hang", "slow"):
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGUSR1)
            time.sleep(STACK_SECONDS)
        kill_family(self._pid)
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)
        self._pump(0.0, on_message)

    def _reap(self) -> int | None:
        try:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
        except ChildProcessError:
            return -1
        return os.waitstatus_to_exitcode(status) if pid else None

    def _conclude(self, code: int) -> Outcome:
        if self._failure:
            return Outcome("failed", code, detail=self._failure)
        return Outcome("done" if self._ended else "died", code)


def _memory_is_short() -> bool:
    """Tell whether the machine is about to have none left, whoever took it."""
    import psutil

    memory = psutil.virtual_memory()
    return bool(memory.available < SHORT_SHARE * memory.total)
