"""Rendered frames as small PNG pictures."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np

MAX_WIDTH = 320
"""Pixels; a terminal shows no more of a frame than this."""


def png_base64(frame: Any) -> str | None:
    """Return a frame as the base64 of a PNG at most 320 pixels wide, or None if it is no picture.

    Args:
        frame: uint8 array of shape (height, width, 3), as `render_mode="rgb_array"` gives.
    """
    from PIL import Image

    array = np.asarray(frame)
    if array.ndim != 3 or array.shape[2] not in (3, 4) or 0 in array.shape:
        return None
    image = Image.fromarray(array[..., :3].astype(np.uint8, copy=False))
    if image.width > MAX_WIDTH:
        height = max(1, round(image.height * MAX_WIDTH / image.width))
        image = image.resize((MAX_WIDTH, height), Image.Resampling.BILINEAR)
    buffer = io.BytesIO()
    image.save(buffer, format="PNG", compress_level=1)
    return base64.b64encode(buffer.getvalue()).decode("ascii")
