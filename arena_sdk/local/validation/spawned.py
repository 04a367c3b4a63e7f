"""The environment in a new process, as vectorized training makes it: it starts, and plays the same.

What is imported afresh has no state that earlier copies left behind, and Python orders sets and
hashes text by another seed there, so it shows what is only the same within one process.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from arena_sdk.local.validation.actions import Actions, TeamActions
from arena_sdk.local.validation.loading import construct, load_entrypoint
from arena_sdk.local.validation.patient import PatientClock
from arena_sdk.local.validation.problems import explain
from arena_sdk.local.validation.subject import Subject, Warn

STEPS = 20
SECONDS = 60.0
LOOK_SECONDS = 0.2
DIGITS = 4
"""Decimals of a number that count: rounding and the order of sums may differ in the rest."""
PROGRAM = "from arena_sdk.local.validation.spawned import main; main()"


@dataclass(frozen=True)
class Answer:
    """What the other process says: what it saw, or what went wrong there."""

    seen: list[str]
    problem: str = ""


def check_spawn(subject: Subject, warn: Warn) -> None:
    """Warn when it cannot be made in a process of its own, or plays otherwise there."""
    if subject.source is None or subject.language_based:
        return
    answer = _ask(subject)
    if answer.problem:
        warn(f"{answer.problem} Copies in processes of their own would fail so.")
        return
    if subject.failed & {"Reset seed", "Step"}:
        return
    here = list(islice(_seen(subject), STEPS))
    if here == answer.seen or here != list(islice(_seen(subject), STEPS)):
        return
    pairs = enumerate(zip(here, answer.seen, strict=False))
    index = next((index for index, (one, two) in pairs if one != two), len(answer.seen))
    place = f"step {index}" if index else "reset(seed=7)"
    warn(
        f"With the same seed and actions it differs from {place} on in another process. Iterate"
        " over a sorted list instead of a set, and do not use hash() of text."
    )


def _ask(subject: Subject) -> Answer:
    """Make and play it in a new process; what it prints there is not kept."""
    asked = {
        "kind": "custom",
        "source_dir": str(subject.source),
        "entrypoint": subject.entrypoint,
        "env_config": subject.env_config,
        "multi_agent": subject.multi_agent,
    }
    read, write = os.pipe()
    own = [path for path in sys.path if not Path(path or ".").is_relative_to(str(subject.source))]
    variables = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": os.pathsep.join(own)}
    try:
        child = subprocess.Popen(
            [sys.executable, "-P", "-c", PROGRAM, json.dumps(asked), str(write)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[write],
            env=variables,
        )
    finally:
        os.close(write)
    try:
        if not _ends(child, subject):
            return Answer([], f"In a new process it did not answer within {SECONDS:.0f} s.")
        os.set_blocking(read, False)  # what it started may hold the other end
        with os.fdopen(read, "rb", closefd=False) as pipe:
            text = (pipe.read() or b"").splitlines()
    finally:
        child.kill()
        child.wait()
        os.close(read)
    try:
        found = json.loads(text[-1])
        return Answer([str(each) for each in found["seen"]], str(found["problem"]))
    except (IndexError, KeyError, TypeError, ValueError):
        return Answer([], f"A new process of it ended with exit code {child.returncode}.")


def _ends(child: subprocess.Popen[bytes], subject: Subject) -> bool:
    """Wait for its end; say False when that takes too long, by the time that it was let run."""
    clock = PatientClock(child.pid)
    while clock.now() < SECONDS:
        subject.pulse()
        with suppress(subprocess.TimeoutExpired):
            child.wait(LOOK_SECONDS)
            return True
    return False


def main() -> None:
    """Be the other process: `argv` has what to make and the descriptor to answer on."""
    asked, descriptor = json.loads(sys.argv[1]), int(sys.argv[2])
    subject = Subject(
        source=Path(asked["source_dir"]),
        entrypoint=asked["entrypoint"],
        env_config=asked["env_config"],
        multi_agent=asked["multi_agent"],
    )
    seen: list[str] = []
    problem = ""
    try:
        factory = load_entrypoint(Path(asked["source_dir"]), subject.entrypoint)
        subject.env = construct(factory, subject.env_config)
        seen += islice(_seen(subject), STEPS)
    except BaseException as error:
        problem = explain("In a new process it", error, subject.source)
    os.write(descriptor, json.dumps({"seen": seen, "problem": problem}).encode() + b"\n")
    os._exit(0)


def _seen(subject: Subject) -> Iterator[str]:
    """Yield a mark of what a seeded episode shows at each step, first at the reset."""
    observation, info = subject.reset(7)
    yield _mark(observation)
    team = subject.multi_agent
    actions: Any = TeamActions(subject.env, 7) if team else Actions(subject.env, 7)
    while True:
        chosen = actions.next(observation, info) if team else actions.next(info)
        observation, reward, terminated, truncated, info = subject.call(
            "step", subject.env.step, chosen
        )
        yield _mark([observation, reward])
        if not subject.env.agents if team else terminated or truncated:
            return


def _mark(value: Any) -> str:
    return hashlib.sha256(repr(_rounded(value)).encode()).hexdigest()[:16]


def _rounded(value: Any) -> Any:
    """Return a value as lists, rounded; a dict by its keys' order, since nobody relies on that."""
    if isinstance(value, dict):
        return sorted((str(key), _rounded(part)) for key, part in value.items())
    if isinstance(value, list | tuple):
        return [_rounded(part) for part in value]
    if isinstance(value, np.ndarray | np.generic | int | float):
        array = np.asarray(value)
        return (
            (np.round(array, DIGITS) + 0.0).tolist() if array.dtype.kind == "f" else array.tolist()
        )
    return str(value) if isinstance(value, str) else type(value).__name__
