"""Base64 as text and back: by pybase64, which uses vector units, where it is installed.

The extra `local` brings it. Without it the standard library does the same, about thirty times
slower; for an image that is most of the time of a request.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable


def _plain_encode(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).decode()


def _plain_decode(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


encode: Callable[[bytes], str] = _plain_encode
"""Return bytes as text, without line breaks."""

decode: Callable[[str], bytes] = _plain_decode
"""Return the bytes of a text; raises `ValueError` (binascii's `Error`) where it is no base64."""

try:
    import pybase64
except ImportError:
    pass
else:

    def _fast_decode(text: str) -> bytes:
        return pybase64.b64decode(text, validate=True)

    encode, decode = pybase64.b64encode_as_string, _fast_decode
