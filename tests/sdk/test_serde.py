"""Arrays on the wire: every dtype and layout comes back as it went."""

from __future__ import annotations

import base64
import binascii
import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from arena_sdk import _base64, serde
from arena_sdk.errors import ArenaValidationError

DTYPES = st.one_of(
    npst.boolean_dtypes(),
    npst.integer_dtypes(endianness="="),
    npst.integer_dtypes(endianness=">"),
    npst.unsigned_integer_dtypes(),
    npst.floating_dtypes(endianness="="),
    npst.floating_dtypes(endianness=">"),
)
ARRAYS = npst.arrays(DTYPES, npst.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))


@given(ARRAYS, st.sampled_from(["as is", "fortran", "strided", "reversed"]))
def test_arrays_come_back_as_they_went(array: np.ndarray, layout: str) -> None:
    if layout == "fortran":
        array = np.asfortranarray(array)
    elif layout == "strided" and array.ndim:
        array = array[::2]
    elif layout == "reversed" and array.ndim:
        array = array[::-1]
    back = serde.decode_array(serde.encode_array(array))
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    np.testing.assert_array_equal(back, array)


@given(ARRAYS)
def test_what_is_sent_is_numpys_own_format(array: np.ndarray) -> None:
    raw = base64.b64decode(serde.encode_array(array))
    np.testing.assert_array_equal(np.load(io.BytesIO(raw), allow_pickle=False), array)


@pytest.mark.parametrize("value", [3, 2.5, True, np.float32(1.5), [1, 2], [[1.0], [2.0]]])
def test_numbers_and_lists_are_observations_too(value: Any) -> None:
    back = serde.decode(serde.encode(value, batched=False), batched=False)
    np.testing.assert_array_equal(back, value)


def test_an_unbatched_observation_gets_a_leading_axis() -> None:
    sent = serde.encode({"a": np.zeros(3), "b": (np.zeros((2, 2)), 1)}, batched=False)
    assert serde.decode(sent)["a"].shape == (1, 3)
    assert [part.shape for part in serde.decode(sent)["b"]] == [(1, 2, 2), (1,)]


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ({"camera": {"left": np.array([np.nan])}}, "obs.camera.left"),
        ((np.zeros(2), np.array([np.inf])), r"obs\[1\]"),
        (np.array([object()]), "obs"),
        ("text", "obs"),
        ([[1, 2], [3]], "obs"),
    ],
)
def test_what_cannot_be_sent_is_refused_by_key(value: Any, key: str) -> None:
    with pytest.raises(ArenaValidationError, match=f"^{key} "):
        serde.encode(value)


def test_nan_goes_when_it_is_allowed() -> None:
    assert np.isnan(serde.decode(serde.encode(np.array([np.nan]), allow_nan=True))).all()


@given(st.text(max_size=200))
def test_no_text_is_too_strange_to_refuse(text: str) -> None:
    with pytest.raises(ArenaValidationError):
        serde.decode_array(text + "!")


def test_a_pickle_is_never_read() -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(ArenaValidationError):
        serde.decode_array(base64.b64encode(buffer.getvalue()).decode())


@given(st.binary(max_size=400))
def test_both_ways_to_base64_agree(data: bytes) -> None:
    assert _base64.encode is not _base64._plain_encode  # pybase64 is among the test's packages
    text = _base64._plain_encode(data)
    assert _base64.encode(data) == text
    assert _base64.decode(text) == _base64._plain_decode(text) == data


@pytest.mark.parametrize("text", ["a", "ab=c", "a b c d", "äöüß", "abc", "ab==cd=="])
def test_neither_way_takes_what_is_no_base64(text: str) -> None:
    for decode in (_base64.decode, _base64._plain_decode):
        with pytest.raises((binascii.Error, ValueError), match=r"."):
            decode(text)
