"""Workers that behave badly, each in the way its payload names; run in place of a real one.

`conftest.py` makes this the interpreter of a job, so what runs here is the real channel, in a real
process, with only the work itself replaced.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import threading
import time
import types
from pathlib import Path
from typing import Any

from arena_sdk.local.workers.channel import Channel, WorkerError

FOREVER = 600.0
SLEEPER = [sys.executable, "-c", f"import time; time.sleep({FOREVER})"]


def obedient(payload: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Works until told to stop."""
    channel.emit({"kind": "up", "pid": os.getpid()})
    channel.stopping.wait()
    return {"state": "stopped"}


def counts(payload: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Sends many messages, then returns."""
    for number in range(payload["count"]):
        channel.emit({"kind": "count", "number": number, "text": "é\n"})
    return {"count": payload["count"]}


def echoes(payload: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Sends commands back as events; the listener fails on one of them."""

    def listen(command: dict[str, Any]) -> None:
        if command["cmd"] == "fail":
            raise ZeroDivisionError
        channel.emit({"kind": "error", "message": command["cmd"]})

    channel.on_command(listen)
    channel.emit({"kind": "up"})
    channel.stopping.wait()
    return {}


def odd_numbers(payload: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Sends what JSON cannot say by itself."""
    import numpy as np

    channel.emit({"kind": "odd", "nan": float("nan"), "deep": [{"low": float("-inf")}]})
    channel.emit({"kind": "odd", "scalar": np.float32(0.5), "array": np.array([1, np.inf])})
    return {}


def refuses(payload: dict[str, Any], channel: Channel) -> None:
    """Fails as expected."""
    raise WorkerError("The disk is full.", error_code="DISK_FULL", path="/somewhere")


def raises(payload: dict[str, Any], channel: Channel) -> None:
    """Fails as nobody expected."""
    raise TypeError("cannot add a cat\nto a dog")


def leaves(payload: dict[str, Any], channel: Channel) -> None:
    """Ends without a word."""
    print("the last thing I said", flush=True)
    os._exit(3)


def dies(payload: dict[str, Any], channel: Channel) -> None:
    """Is killed."""
    os.kill(os.getpid(), payload.get("signal", signal.SIGKILL))
    time.sleep(FOREVER)


def deaf(payload: dict[str, Any], channel: Channel) -> None:
    """Does not stop when asked."""
    channel.emit({"kind": "up", "pid": os.getpid()})
    while True:
        time.sleep(FOREVER)


def stuck_in_c(payload: dict[str, Any], channel: Channel) -> None:
    """Holds the interpreter lock for ever, so that no thread of it runs any more."""
    channel.emit({"kind": "up", "pid": os.getpid()})
    while True:  # a signal ends the sleep
        ctypes.PyDLL(None).sleep(int(FOREVER))


def blocks_in_step(payload: dict[str, Any], channel: Channel) -> None:
    """Blocks in a function whose name must be told."""

    def step_of_the_environment() -> None:
        time.sleep(FOREVER)

    step_of_the_environment()


def has_children(payload: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Starts processes in every way there is, then returns, is killed or waits."""
    forked = multiprocessing.get_context("fork").Process(target=time.sleep, args=(FOREVER,))
    forked.start()
    plain = subprocess.Popen(SLEEPER)
    daemon = subprocess.Popen(SLEEPER, start_new_session=True)
    stubborn = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import signal,time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
            f" time.sleep({FOREVER})",
        ]
    )
    pids = [os.getpid(), forked.pid, plain.pid, daemon.pid, stubborn.pid]
    channel.emit({"kind": "up", "pids": pids})
    if payload.get("then") == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if payload.get("then") == "wait":
        channel.stopping.wait()
    return {"pids": pids}


def terminates_a_child(payload: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Ends a forked child politely, as vectorized environments do when they close."""
    child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(FOREVER,))
    child.start()
    child.terminate()
    child.join(10)
    return {"exitcode": child.exitcode}


def child_speaks(payload: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Lets a forked child try to send a message."""

    def speak(answers: Any) -> None:
        try:
            channel.emit({"kind": "from the child"})
        except RuntimeError as error:
            answers.put(str(error))

    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    context.Process(target=speak, args=(answers,)).start()
    return {"child": answers.get(timeout=10)}


def floods_stdout(payload: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Prints more than is kept."""
    block = b"x" * 1023 + b"\n"
    for _ in range(payload["kilobytes"]):
        os.write(1, block)
    return {"printed": payload["kilobytes"]}


def writes_garbage(payload: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Writes what is no message to the result pipe."""
    assert channel._result_fd is not None
    for garbage in (
        b"\xff\xfe\n",
        b"plain text\n",
        b'"text"\n',
        b"[1, 2]\n",
        b"{}\n",
        b'{"kind": 7}\n',
        b"[" * 100_000 + b"\n",
        b'{"kind": "result"}\n',
    ):
        os.write(channel._result_fd, garbage)
    channel.emit({"kind": "good"})
    return {"survived": True}


def writes_endless_line(payload: dict[str, Any], channel: Channel) -> None:
    """Writes a message without an end."""
    assert channel._result_fd is not None
    while True:
        os.write(channel._result_fd, b"x" * (1 << 16))


def eats_memory(payload: dict[str, Any], channel: Channel) -> None:
    """Takes more and more memory."""
    eaten = []
    while True:
        eaten.append(b"x" * (8 << 20))
        time.sleep(0.02)


def shows_itself(payload: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Tells what it sees of the world."""
    Path("left-behind").write_text("mine")
    return {
        "environ": dict(os.environ),
        "cwd": os.getcwd(),
        "sid": os.getsid(0),
        "pid": os.getpid(),
        "threads": [thread.name for thread in threading.enumerate()],
        "stdin": sys.stdin.read(),
        "spec_is_gone": not Path(sys.argv[-1]).exists(),
    }


if __name__ == "__main__":
    # Called as `faulty.py -P -m arena_sdk.local.workers KIND SPEC`.
    module = types.ModuleType("arena_sdk.local.workers.train")

    def main(payload: dict[str, Any], channel: Channel) -> dict[str, Any] | None:
        """Behave as the payload says."""
        behaviour = globals()[payload["behaviour"]]
        result: dict[str, Any] | None = behaviour(payload, channel)
        return result

    module.main = main  # type: ignore[attr-defined]
    sys.modules["arena_sdk.local.workers.train"] = module
    sys.argv = ["arena_sdk.local.workers", *sys.argv[-2:]]
    runpy.run_module("arena_sdk.local.workers", run_name="__main__", alter_sys=True)
