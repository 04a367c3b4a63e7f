"""A worker does not outlive its server, however the server ended."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import threading

from arena_sdk.local.workers.sweep import MARK, kill_marked

PR_SET_PDEATHSIG = 1


def kill_group() -> None:
    """End this process and all that this job started, at once."""
    try:
        folder = os.environ.get(MARK)
        if folder:
            kill_marked(folder)
    finally:  # whatever went wrong in looking for daemons, the group ends
        os.killpg(os.getpgrp(), signal.SIGKILL)


def start_guardian(fd: int, others: tuple[int, ...] = ()) -> None:
    """Start a small process that ends this group when the other end of a pipe is closed.

    A process and not a thread: user code may hold the interpreter lock for ever inside a C call,
    and a main process that is killed takes its threads with it but not its children. It shares
    the group, so it goes with it, and it is nobody's child, so user code never waits for it. Call
    it while this process has one thread.

    Args:
        fd: The read end of a pipe whose only write end the server holds.
        others: Descriptors that the guardian must not keep open.
    """
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    if os.fork():
        os._exit(0)
    try:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        for other in others:
            os.close(other)
        _wait_for_hang_up(fd)
        kill_group()
    finally:
        os._exit(1)


def die_with_parent(expected_parent: int | None) -> None:
    """Ask the kernel to kill this process when its parent dies (Linux; elsewhere a no-op).

    A second line: it works even where user code has killed the guardian.

    Args:
        expected_parent: Process id of the parent that was meant; when it is gone already, this
            process ends now.
    """
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if expected_parent is not None and os.getppid() != expected_parent:
        os._exit(1)


def watch_for_hang_up(fd: int) -> None:
    """Start a thread that kills the process group when the other end of a pipe is closed.

    The pipe is polled, never read, so that any number of processes can watch the same one.

    Args:
        fd: The read end of a pipe whose only write end the server holds.
    """

    def wait() -> None:
        _wait_for_hang_up(fd)
        kill_group()

    threading.Thread(target=wait, name="lifeline", daemon=True).start()


def _wait_for_hang_up(fd: int) -> None:
    poll = select.poll()
    poll.register(fd, 0)  # hang-up and error are always reported
    while not poll.poll():
        pass
