"""From an untrusted JSON observation to arrays of the agent's space, or one clear sentence.

The contract sends every array as the base64 of a `.npy` file, Dict and Tuple spaces as JSON objects
and arrays of those. Plain numbers and (nested) lists of numbers are taken too, so that `curl` is
a client. Every refusal names the key that is wrong, as in `obs.camera` or `obs[1]`.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from arena_sdk import _base64

Array = npt.NDArray[Any]
Observation = Array | dict[str, Any] | tuple[Any, ...]

MAX_BATCH = 65_536
"""The most observations that one request may carry."""

_HEADER_READERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


class BadRequest(ValueError):
    """What is wrong with a request, in one sentence that names the key."""


def encode_array(array: Array) -> str:
    """Return the base64 text of an array's `.npy` file (the inverse of `decode_array`)."""
    buffer = io.BytesIO()
    np.save(buffer, np.ascontiguousarray(array).reshape(np.shape(array)), allow_pickle=False)
    return _base64.encode(buffer.getvalue())


def decode_array(text: str, where: str) -> Array:
    """Return the array in a base64 `.npy` file, of any numeric or boolean dtype.

    The size that the header claims is compared with the bytes that are there before any memory
    is taken for it, and nothing is ever unpickled.

    Args:
        text: The base64 text.
        where: The key that it came under, for the message.

    Raises:
        BadRequest: It is not base64, not a whole `.npy` file, or not of numbers.
    """
    try:
        raw = _base64.decode(text)
    except ValueError:
        raise BadRequest(f"{where} is not valid base64.") from None
    stream = io.BytesIO(raw)
    try:
        reader = _HEADER_READERS[np.lib.format.read_magic(stream)]
        shape, fortran, dtype = reader(stream)
    except (ValueError, KeyError, TypeError, SyntaxError, EOFError):
        raise BadRequest(f"{where} is base64, but not of a .npy file.") from None
    if dtype.kind not in "biuf":
        raise BadRequest(f"{where} has dtype {dtype}; send numbers or booleans.")
    body = raw[stream.tell() :]
    count = 1
    for size in shape:
        count *= size
    if len(body) != count * dtype.itemsize:
        raise BadRequest(
            f"{where} says shape {tuple(shape)} of {dtype}, which is {count * dtype.itemsize:,}"
            f" bytes, but holds {len(body):,}."
        )
    return np.frombuffer(body, dtype).reshape(shape, order="F" if fortran else "C")


class _Batch:
    """The batch size that the first array sets and every other one must share."""

    def __init__(self, stated: int | None) -> None:
        self.size = stated
        self.source = "batch_size" if stated is not None else ""

    def check(self, size: int, where: str) -> None:
        if self.size is None:
            if not 0 < size <= MAX_BATCH:
                raise BadRequest(f"{where} holds {size:,} observations; send 1 to {MAX_BATCH:,}.")
            self.size, self.source = size, where
        elif size != self.size:
            told = "says" if self.source == "batch_size" else "has"
            raise BadRequest(
                f"{where} has a batch of {size} where {self.source} {told} {self.size};"
                " every key must carry the same number of observations."
            )


def decode_observation(
    payload: Any, space: spaces.Space[Any], batch_size: Any = None
) -> tuple[Observation, int]:
    """Return the batched observation and its batch size.

    Args:
        payload: The JSON value under `obs`.
        space: The observation space that the agent was trained on (of one observation).
        batch_size: The JSON value under `batch_size`; None takes it from the arrays.

    Returns:
        Arrays of shape (batch, *space.shape) and the space's dtype, in dicts and tuples as the
        space has them; and the batch size.

    Raises:
        BadRequest: A key is missing, unknown, or its array does not fit the space.
    """
    if batch_size is not None and (
        isinstance(batch_size, bool)
        or not isinstance(batch_size, int)
        or not 0 < batch_size <= MAX_BATCH
    ):
        raise BadRequest(f"batch_size must be a whole number from 1 to {MAX_BATCH:,}.")
    batch = _Batch(batch_size)
    observation = _decode(payload, space, "obs", batch)
    if batch.size is None:
        raise BadRequest("obs holds no array, so there is nothing to act on.")
    return observation, batch.size


def decode_mask(payload: Any, action_space: spaces.Space[Any], batch: int) -> Array | None:
    """Return the action mask, shape (batch, number of choices) of float32 ones and zeros.

    None (JSON null or no key) stays None.

    Raises:
        BadRequest: The space takes no mask, or the mask's shape or values do not fit it, or it
            forbids every action of a row.
    """
    if payload is None:
        return None
    choices = _choices(action_space)
    if choices is None:
        raise BadRequest(f"action_mask does not apply to the action space {action_space}.")
    mask = to_array(payload, "action_mask").astype(np.float32)
    if mask.ndim == 1 and batch == 1:
        mask = mask[None]
    if mask.shape != (batch, sum(choices)):
        raise BadRequest(
            f"action_mask has shape {mask.shape}; expected {(batch, sum(choices))}, one entry"
            " for each action of each observation."
        )
    if not np.isin(mask, (0.0, 1.0)).all():
        raise BadRequest("action_mask may only hold 1 (legal) and 0 (illegal).")
    parts = np.split(mask, np.cumsum(choices)[:-1], axis=1)
    for part in parts:
        blocked = np.flatnonzero(~part.any(axis=1))
        if blocked.size:
            raise BadRequest(f"action_mask forbids every action of observation {blocked[0]}.")
    return mask


def decode_hidden(payload: Any, blank: dict[str, Array]) -> dict[str, Array]:
    """Return what a recurrent agent remembers, as an answer of its gave it.

    Args:
        payload: The JSON value under `hidden_state`: an object of arrays by name; null at the
            beginning of an episode.
        blank: The memory at the beginning, which it must be like.

    Raises:
        BadRequest: A name is missing or unknown, or an array of another shape or not finite.
    """
    if payload is None:
        return blank
    if not isinstance(payload, dict) or payload.keys() != blank.keys():
        raise BadRequest(
            "hidden_state must be null or what the answer before held: a JSON object with the keys"
            f" {', '.join(blank)}."
        )
    hidden = {}
    for name, like in blank.items():
        where = f"hidden_state.{name}"
        array = to_array(payload[name], where)
        if array.shape != like.shape:
            raise BadRequest(f"{where} has shape {array.shape}; expected {like.shape}.")
        _check_finite(array, where)
        hidden[name] = array.astype(like.dtype)
    return hidden


def _choices(space: spaces.Space[Any]) -> list[int] | None:
    if isinstance(space, spaces.Discrete):
        return [int(space.n)]
    if isinstance(space, spaces.MultiDiscrete):
        return [int(n) for n in space.nvec.flat]
    return None


def _decode(payload: Any, space: spaces.Space[Any], where: str, batch: _Batch) -> Observation:
    if payload is None:
        raise BadRequest(f"{where} is missing or null.")
    if isinstance(space, spaces.Dict):
        return _decode_dict(payload, space, where, batch)
    if isinstance(space, spaces.Tuple):
        if not isinstance(payload, list):
            raise BadRequest(f"{where} must be a JSON array of {len(space.spaces)} parts.")
        if len(payload) != len(space.spaces):
            raise BadRequest(
                f"{where} has {len(payload)} parts; the space has {len(space.spaces)}."
            )
        return tuple(
            _decode(part, inner, f"{where}[{index}]", batch)
            for index, (part, inner) in enumerate(zip(payload, space.spaces, strict=True))
        )
    return _decode_leaf(to_array(payload, where), space, where, batch)


def _decode_dict(
    payload: Any, space: spaces.Dict, where: str, batch: _Batch
) -> dict[str, Observation]:
    if not isinstance(payload, dict):
        keys = ", ".join(map(str, space.spaces))
        raise BadRequest(f"{where} must be a JSON object with the keys {keys}.")
    unknown = [key for key in payload if key not in space.spaces]
    if unknown:
        raise BadRequest(
            f"{where}.{unknown[0]} is not in the observation space, whose keys are"
            f" {', '.join(map(str, space.spaces))}."
        )
    return {
        key: _decode(payload.get(key), inner, f"{where}.{key}", batch)
        for key, inner in space.spaces.items()
    }


def to_array(payload: Any, where: str) -> Array:
    """Return the array that a leaf holds, as base64 text or as plain JSON numbers."""
    if isinstance(payload, str):
        return decode_array(payload, where)
    if isinstance(payload, dict):
        raise BadRequest(f"{where} is a JSON object where an array is expected.")
    try:
        array = np.array(payload)
    except (ValueError, OverflowError):
        raise BadRequest(
            f"{where} is a ragged list; every row must have the same length."
        ) from None
    if array.dtype.kind not in "biuf":
        raise BadRequest(f"{where} must hold numbers only.")
    return array


def _decode_leaf(array: Array, space: spaces.Space[Any], where: str, batch: _Batch) -> Array:
    shape, dtype = space.shape, space.dtype
    if shape is None or dtype is None:
        raise BadRequest(f"{where} is of {space}, which this agent cannot be given.")
    if array.ndim == len(shape) + 2 and array.shape[1] == 1 and not shape:
        array = array[:, 0]  # a Discrete observation of a vector environment kept as a column
    if array.ndim != len(shape) + 1 or array.shape[1:] != shape:
        hint = ""
        if array.shape == shape:
            hint = " (add a leading axis for the batch)"
        raise BadRequest(
            f"{where} has shape {array.shape}; expected (batch, {', '.join(map(str, shape))})"
            f"{hint}.".replace(", )", ",)")
        )
    batch.check(array.shape[0], where)
    if array.dtype.kind == "f":
        _check_finite(array, where)
    integral = np.issubdtype(dtype, np.integer)
    if integral and array.dtype.kind == "f" and not (array == np.floor(array)).all():
        raise BadRequest(f"{where} has dtype {array.dtype} with fractions; the space is {dtype}.")
    _check_range(array, space, where)
    return array.astype(dtype)  # a copy: what came off the wire is read-only, torch wants more


def _check_finite(array: Array, where: str) -> None:
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        index = tuple(int(i) for i in bad[0])
        raise BadRequest(f"{where} is {array[index]} at index {list(index)}; send finite numbers.")


def _check_range(array: Array, space: spaces.Space[Any], where: str) -> None:
    """Refuse what cannot be encoded for the network: a class that the space does not have."""
    if isinstance(space, spaces.Discrete):
        low, high = int(space.start), int(space.start + space.n - 1)
        good = (array >= low) & (array <= high)
    elif isinstance(space, spaces.MultiDiscrete):
        good = (array >= space.start) & (array < space.start + space.nvec)
    elif isinstance(space, spaces.MultiBinary):
        good = (array == 0) | (array == 1)
    elif isinstance(space, spaces.Box) and np.issubdtype(space.dtype, np.integer):
        info = np.iinfo(space.dtype)
        good = (array >= info.min) & (array <= info.max)
    else:
        return
    bad = np.argwhere(~good)
    if len(bad):
        index = tuple(int(i) for i in bad[0])
        raise BadRequest(f"{where} is {array[index]} at index {list(index)}, outside {space}.")
