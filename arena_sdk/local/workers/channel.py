r"""How a worker talks with the server: two pipes of NDJSON, never stdout or stderr.

    result pipe   worker → server   events of the work, then one `result` or `error` marked
                                    `"final": true`; an `error` without the mark is an event
    control pipe  server → worker   {"cmd": "stop"} and commands of the kind of work; its end is
                                    the lifeline: when it closes, the server is gone

Environments print; what they print is captured to the job's log and cannot be taken for a message.
"""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any

from arena_sdk.local.workers.lifeline import (
    die_with_parent,
    start_guardian,
    watch_for_hang_up,
)

RESULT_FD = "ARENA_WORKER_RESULT_FD"
CONTROL_FD = "ARENA_WORKER_CONTROL_FD"
PARENT_PID = "ARENA_WORKER_PARENT_PID"
STACK_FILE = "stack"
"""Beside a job's spec: where its stack goes when the server asks for it with SIGUSR1."""

Command = dict[str, Any]
Main = Callable[[dict[str, Any], "Channel"], dict[str, Any] | None]


class WorkerError(Exception):
    """An expected failure of the work, told as one sentence.

    Args:
        message: What went wrong, where, and what to do.
        error_code: A short upper-case word for programs.
        **context: Further facts for the error body.
    """

    def __init__(self, message: str, *, error_code: str = "FAILED", **context: Any) -> None:
        super().__init__(message)
        self.message = message
        self.error_code = error_code
        self.context = context

    def body(self) -> dict[str, Any]:
        """Return the error as the message that the server gets."""
        return {"message": self.message, "error_code": self.error_code, **self.context}


class StopEvent(threading.Event):
    """Set when the worker is told to stop; knows since when.

    Attributes:
        since: Time of `time.monotonic()` at which it was set; None before.
    """

    def __init__(self) -> None:
        super().__init__()
        self.since: float | None = None

    def set(self) -> None:
        """Note the time of the first call."""
        if self.since is None:
            self.since = time.monotonic()
        super().set()


class Channel:
    """A worker's ends of the two pipes.

    Args:
        result_fd: Write end of the result pipe.
        control_fd: Read end of the control pipe.
    """

    def __init__(self, result_fd: int, control_fd: int) -> None:
        os.set_inheritable(result_fd, False)
        os.set_inheritable(control_fd, False)
        self.lifeline_fd = control_fd
        self.stopping = StopEvent()
        self._result_fd: int | None = result_fd
        self._emitting = threading.Lock()
        self._listeners: list[Callable[[Command], None]] = []

    @classmethod
    def open(cls) -> Channel:
        """Take the pipes that the server passed and start listening."""
        parent = os.environ.pop(PARENT_PID, None)
        result_fd = int(os.environ.pop(RESULT_FD))
        channel = cls(result_fd, int(os.environ.pop(CONTROL_FD)))
        die_with_parent(None if parent is None else int(parent))
        start_guardian(channel.lifeline_fd, (result_fd,))
        channel._handle_signals()
        threading.Thread(target=channel._listen, name="control", daemon=True).start()
        return channel

    def emit(self, message: dict[str, Any]) -> None:
        """Send one message; safe from any thread, and sent when this returns.

        NaN and the infinities travel as the strings "NaN", "Infinity" and "-Infinity"; NumPy
        scalars and arrays as numbers and lists.

        Raises:
            RuntimeError: This is a forked child, which has no say.
            TypeError: The message holds something that JSON cannot say.
        """
        view = memoryview(encode(message) + b"\n")
        with self._emitting:
            if self._result_fd is None:
                raise RuntimeError("Only the worker's main process sends messages.")
            while view:
                view = view[os.write(self._result_fd, view) :]

    def leave(self, result: dict[str, Any]) -> None:
        """Report a result and end this process at once, whatever its main thread does."""
        self.emit({"kind": "result", "final": True, "result": result})
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)

    def on_command(self, listener: Callable[[Command], None]) -> None:
        """Call `listener` in the control thread with every command that is not a stop."""
        self._listeners.append(listener)

    def adopt_child(self) -> None:
        """Make a forked child end with the server; call it in the child.

        That it cannot send results and that SIGTERM ends it holds for every forked child.
        """
        watch_for_hang_up(self.lifeline_fd)

    def _disown_child(self) -> None:
        """Take from a forked child what is the worker's own.

        With the worker's SIGTERM handler a child would live through `Process.terminate()`, and
        whoever joins it would wait for ever.
        """
        if self._result_fd is not None:
            os.close(self._result_fd)
            self._result_fd = None
        self._emitting = threading.Lock()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    def _handle_signals(self) -> None:
        def stop(signum: int, frame: FrameType | None) -> None:
            self.stopping.set()

        signal.signal(signal.SIGTERM, stop)
        # A Ctrl-C in the server's terminal does not reach this session; one sent here by hand
        # means the same as a stop.
        signal.signal(signal.SIGINT, stop)
        # Between the fork and the child's own handlers a signal would be lost, so it has to wait.
        masks = threading.local()
        ending = {signal.SIGTERM, signal.SIGINT}

        def hold() -> None:
            masks.before = signal.pthread_sigmask(signal.SIG_BLOCK, ending)

        def release() -> None:
            signal.pthread_sigmask(signal.SIG_SETMASK, masks.before)

        def disown() -> None:
            self._disown_child()
            release()

        os.register_at_fork(before=hold, after_in_parent=release, after_in_child=disown)

    def _listen(self) -> None:
        with os.fdopen(os.dup(self.lifeline_fd), "rb") as pipe:
            for line in pipe:
                self._obey(line)

    def _obey(self, line: bytes) -> None:
        """Take one command; one that fails must not end the thread that hears the next."""
        try:
            command = json.loads(line)
            if command.get("cmd") == "stop":
                self.stopping.set()
                return
            for listener in self._listeners:
                listener(command)
        except Exception:
            print(f"the command {line[:200]!r} failed", file=sys.stderr)
            traceback.print_exc()


def encode(message: dict[str, Any]) -> bytes:
    """Return a message as one line of JSON, without its line end."""
    try:
        text = json.dumps(message, allow_nan=False, separators=(",", ":"), default=_plain)
    except ValueError:  # not finite somewhere: rare, so only then is the whole message walked
        text = json.dumps(_finite(message), separators=(",", ":"), default=_plain)
    return text.encode()


def _plain(value: Any) -> Any:
    """Return a NumPy scalar or array, or a tensor, as what JSON knows."""
    to_list = getattr(value, "tolist", None)
    if to_list is None:
        raise TypeError(f"a message cannot hold a {type(value).__name__}")
    return _finite(to_list())


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def run(main: Main, payload: dict[str, Any], channel: Channel) -> int:
    """Do the work and report how it ended; return the process's exit code."""
    try:
        result = main(payload, channel)
    except WorkerError as error:
        channel.emit({"kind": "error", "final": True, **error.body()})
        return 1
    except BaseException as error:
        traceback.print_exc()
        text = str(error).splitlines()
        channel.emit(
            {
                "kind": "error",
                "final": True,
                "message": f"{type(error).__name__}: {text[0] if text else 'no message'}",
                "error_code": "CRASH",
                "traceback": traceback.format_exc(),
            }
        )
        return 1
    channel.emit({"kind": "result", "final": True, "result": result or {}})
    return 0
