"""Observations and actions on the wire: arrays as base64 of a `.npy` file, never a pickle.

The format is NumPy's (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
Dict and Tuple spaces are JSON objects and arrays of the same; `None` stays `null`.
"""

from __future__ import annotations

import functools
import io
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from arena_sdk import _base64
from arena_sdk.errors import ArenaValidationError

Array = NDArray[Any]
VERSION_1 = b"\x93NUMPY\x01\x00"
"""How a file begins whose header has at most 64 kB, which is any of ours."""
NUMBER_KINDS = "biufc"
"""Array kinds that travel: booleans, integers, floats and complex numbers."""


def encode(value: Any, *, batched: bool = True, allow_nan: bool = False, key: str = "obs") -> Any:
    """Return an observation as JSON can carry it.

    Args:
        value: An array, a number, a (nested) list of numbers, or a dict or tuple of observations;
            a list that holds arrays, dicts or tuples is a tuple.
        batched: Whether arrays have a leading batch axis; one of length 1 is added when not.
        allow_nan: Send NaN and infinities instead of refusing them.
        key: Name of the value, for error messages.

    Raises:
        ArenaValidationError: Something is no number or not finite; the message names the key.
    """
    if type(value) is np.ndarray:  # by far the commonest, so it is asked first
        return _encode_numbers(value, batched, allow_nan, key)
    if value is None:
        return None
    if isinstance(value, Mapping):
        return {
            str(name): encode(item, batched=batched, allow_nan=allow_nan, key=f"{key}.{name}")
            for name, item in value.items()
        }
    if isinstance(value, tuple) or _is_composite(value):
        return [
            encode(item, batched=batched, allow_nan=allow_nan, key=f"{key}[{index}]")
            for index, item in enumerate(value)
        ]
    return _encode_numbers(value, batched, allow_nan, key)


def decode(value: Any, *, batched: bool = True, key: str = "action") -> Any:
    """Return what `encode` made as arrays again.

    Args:
        value: A JSON value.
        batched: Whether the batch axis stays; of the first axis only entry 0 is kept when not.
        key: Name of the value, for error messages.

    Returns:
        Arrays where there were texts, dicts and tuples where there were objects and arrays; numbers
        and other values as they are.

    Raises:
        ArenaValidationError: A text is no array, or a batch where one entry was due; the message
            names the key.
    """
    if isinstance(value, str):
        array = decode_array(value, key)
        return array if batched or array.ndim == 0 else _only_entry(array, key)
    if isinstance(value, Mapping):
        return {
            name: decode(item, batched=batched, key=f"{key}.{name}") for name, item in value.items()
        }
    if isinstance(value, list):
        return tuple(
            decode(item, batched=batched, key=f"{key}[{index}]") for index, item in enumerate(value)
        )
    return value


def serialize(data: Any, batched: bool = False) -> Any:
    """Return an observation as JSON can carry it; the published name and order of `encode`."""
    return encode(data, batched=batched)


def deserialize(data: Any, batched: bool = False) -> Any:
    """Return arrays again; the published name and order of `decode`."""
    return decode(data, batched=batched)


def batch_size(value: Any, key: str = "obs") -> int:
    """Return the length of the batch axis, which all arrays of an observation share.

    Args:
        value: As for `encode`, batched.
        key: Name of the value, for error messages.

    Raises:
        ArenaValidationError: There is no array, an array without an axis, or lengths differ.
    """
    sizes = dict(_sizes(value, key))
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{name} has {size}" for name, size in sizes.items())
        raise ArenaValidationError(f"The batch sizes of {key} differ: {listed}.")
    if not sizes:
        raise ArenaValidationError(f"{key} holds no array, so it is no batch.")
    return next(iter(sizes.values()))


def _sizes(value: Any, key: str) -> Iterator[tuple[str, int]]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _sizes(item, f"{key}.{name}")
    elif isinstance(value, tuple) or _is_composite(value):
        for index, item in enumerate(value):
            yield from _sizes(item, f"{key}[{index}]")
    elif value is not None:
        array = _as_array(value, key)
        if array.ndim == 0:
            raise ArenaValidationError(f"{key} is a single number, so it has no batch axis.")
        yield key, len(array)


def _is_composite(value: Any) -> bool:
    return isinstance(value, list) and any(
        isinstance(item, np.ndarray | Mapping | tuple) for item in value
    )


def _only_entry(array: Array, key: str) -> Any:
    if len(array) != 1:
        raise ArenaValidationError(
            f"{key} came as a batch of {len(array)} where one was due; ask with batched=True."
        )
    return array[0]


def encode_array(array: Array) -> str:
    """Return one array of numbers, of any layout and byte order, as text."""
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    header = _header(array.dtype, fortran, array.shape)
    return _base64.encode(header + array.tobytes("F" if fortran else "C"))


def decode_array(text: str, key: str = "array") -> Array:
    """Return the array that a text holds; it may be written to.

    Raises:
        ArenaValidationError: It holds none, or one of objects.
    """
    try:
        raw = _base64.decode(text)
        start = 10 + int.from_bytes(raw[8:10], "little")
        if not raw.startswith(VERSION_1):
            array: Array = npy.read_array(io.BytesIO(raw), allow_pickle=False)
            return array
        dtype, fortran, shape, count = _parsed_header(raw[:start])
        flat = np.frombuffer(raw, dtype, count, start) if count else np.empty(0, dtype)
        return flat.reshape(shape, order="F" if fortran else "C").copy("K")
    except Exception as error:  # a header is text from outside, and NumPy parses it
        raise ArenaValidationError(f"{key} is no array in .npy form: {error}") from None


def _encode_numbers(value: Any, batched: bool, allow_nan: bool, key: str) -> str:
    array = _as_array(value, key)
    if not allow_nan and array.dtype.kind in "fc" and not _is_finite(array):
        raise ArenaValidationError(
            f"{key} holds {int((~np.isfinite(array)).sum())} values that are NaN or infinite.",
            hint_python="Pass allow_nan=True to send them all the same.",
            hint_cli="Give --allow-nan to send them all the same.",
        )
    return encode_array(array if batched else array[np.newaxis])


def _is_finite(array: Array) -> bool:
    """Tell whether all entries are finite; a finite sum says so in one pass over them."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.add.reduce(array, axis=None)
    return bool(np.isfinite(total)) or bool(np.isfinite(array).all())


def _as_array(value: Any, key: str) -> Array:
    try:
        array: Array = np.asarray(value)
    except ValueError:
        raise ArenaValidationError(f"{key} is a ragged list; its rows differ in length.") from None
    if array.dtype.kind not in NUMBER_KINDS:
        raise ArenaValidationError(
            f"{key} is of type {type(value).__name__} with dtype {array.dtype}, not of numbers."
        )
    return array


@functools.lru_cache(maxsize=256)
def _header(dtype: np.dtype[Any], fortran: bool, shape: tuple[int, ...]) -> bytes:
    buffer = io.BytesIO()
    writer: Callable[..., None] = npy.write_array_header_1_0
    writer(buffer, {"descr": dtype.str, "fortran_order": fortran, "shape": shape})
    return buffer.getvalue()


@functools.lru_cache(maxsize=256)
def _parsed_header(header: bytes) -> tuple[np.dtype[Any], bool, tuple[int, ...], int]:
    """Return dtype, Fortran order, shape and number of entries; NumPy parses the same ones anew."""
    file = io.BytesIO(header)
    npy.read_magic(file)
    shape, fortran, dtype = npy.read_array_header_1_0(file)
    if dtype.hasobject:
        raise ValueError("it holds objects, which only a pickle could carry")
    return dtype, fortran, shape, math.prod(shape)
