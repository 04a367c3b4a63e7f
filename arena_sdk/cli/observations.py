"""Observations for `arena agent act` and `bench`: from text, from files, from a space."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena_sdk.cli.exits import USAGE, Failure

if TYPE_CHECKING:
    from arena_sdk import ArenaClient

NPY_MAGIC = b"\x93NUMPY"
SIZE_LIMIT = 256 << 20
"""Bytes of a file that is read at once."""


def read(source: str) -> Iterator[Any]:
    """Yield the observations that an argument stands for.

    Args:
        source: JSON text, a file of JSON or `.npy`, or `-` for either on standard input. What is
            read from a file may be several JSON values, one a line.

    Raises:
        Failure: It is none of them, or cannot be read.
    """
    if source == "-":
        yield from _lines_or_one(sys.stdin.buffer, "standard input")
        return
    path = Path(source)
    if source.lower().endswith((".npy", ".json", ".ndjson")) or _is_file(path):
        try:
            with path.open("rb") as file:
                yield from _lines_or_one(file, str(path))
        except OSError as error:
            raise Failure(f"{source} cannot be read: {error.strerror}.", USAGE) from None
        return
    yield _json(source, "The observation", or_file=True)


def _is_file(path: Path) -> bool:
    try:
        return path.exists() and not path.is_dir()  # a pipe of the shell, as <(…), is one too
    except (OSError, ValueError):  # JSON text may be longer than any file name
        return False


def _lines_or_one(file: Any, what: str) -> Iterator[Any]:
    """Yield each line's observation as it comes, or the one that all lines together are."""
    first = file.readline(SIZE_LIMIT + 1)
    if first.startswith(NPY_MAGIC):
        yield _npy(_whole(first, file, what), what)
        return
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        yield _json(_text(_whole(first, file, what), what), what)
        return
    yield value
    for line in file:
        if line.strip():
            yield _json(_text(line, what), what)


def _whole(first: bytes, file: Any, what: str) -> bytes:
    """Return a file's content, of which the first line has been read."""
    content = first + file.read(SIZE_LIMIT + 1 - min(len(first), SIZE_LIMIT + 1))
    if len(content) > SIZE_LIMIT:
        raise Failure(
            f"{what} holds more than {SIZE_LIMIT >> 20} MB; that is no observation.", USAGE
        )
    return bytes(content)


def _text(raw: bytes, what: str) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise Failure(f"{what} holds neither JSON nor an array in .npy form.", USAGE) from None


def _json(text: str, what: str, *, or_file: bool = False) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        also = " and no file either" if or_file else ""
        raise Failure(f"{what} is no JSON{also}: {error}.", USAGE) from None


def _npy(raw: bytes, what: str) -> Any:
    import numpy as np

    try:
        return np.load(io.BytesIO(raw), allow_pickle=False)
    except (ValueError, EOFError, OSError, MemoryError) as error:
        raise Failure(f"{what} holds no array in .npy form: {error}.", USAGE) from None


def as_json(value: Any) -> Any:
    """Return an action as what JSON can write: arrays as lists, dicts by agent id."""
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    return value.tolist() if hasattr(value, "tolist") else value


def of_deployment(client: ArenaClient, deployment: str) -> Any:
    """Return an observation of what a deployed agent was trained on: zeros, within bounds.

    Raises:
        Failure: The service does not say what the agent observes.
    """
    if "play" in client.capabilities():
        with client.play(deployment, paused=True) as game:
            for message in game:
                if message["kind"] == "ready":
                    return of_space(message["observation_space"])
                if message["kind"] == "error":
                    raise Failure(str(message["message"]))
    raise Failure(
        f"This Arena does not say what {deployment} observes: give one with --observation.", USAGE
    )


def of_space(tree: Mapping[str, Any]) -> Any:
    """Return an observation of a space that is described as JSON.

    Raises:
        Failure: It is of a kind that this cannot make.
    """
    import numpy as np

    kind = tree["type"]
    if kind == "Box":
        low, high = (np.asarray(_bound(tree[key]), dtype=float) for key in ("low", "high"))
        zeros = np.zeros(tree["shape"])
        return np.clip(zeros, low, high).astype(tree["dtype"]) if low.size else zeros
    if kind == "Discrete":
        return np.int64(tree["start"])
    if kind in ("MultiDiscrete", "MultiBinary"):
        return np.zeros(tree["shape"], dtype=np.int64)
    if kind == "Dict":
        return {key: of_space(inner) for key, inner in tree["spaces"].items()}
    if kind == "Tuple":
        return tuple(of_space(inner) for inner in tree["spaces"])
    raise Failure(f"A {kind} observation must be given, with --observation.", USAGE)


def _bound(value: Any) -> Any:
    return [_bound(item) for item in value] if isinstance(value, list) else float(value)


def batch(value: Any, size: int) -> Any:
    """Return a batch of one observation, over and over."""
    import numpy as np

    if isinstance(value, Mapping):
        return {key: batch(item, size) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(batch(item, size) for item in value)
    return np.repeat(np.asarray(value)[np.newaxis], size, axis=0)
