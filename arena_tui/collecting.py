"""When garbage is collected: while no key is pressed.

A full collection of the objects of a dashboard with four live charts takes longer than a key may.
So the interpreter's own turns are switched off, and one is taken about every second in which the
user does nothing, and when so much has gathered that memory would grow.
"""

from __future__ import annotations

import gc
from time import monotonic
from typing import Any

from arena_tui.widgets import keys_first

SECONDS_BETWEEN = 1.0
SECONDS_BETWEEN_WHOLE = 30.0
AT_MOST = 400_000
"""New objects, some 40 MB of them, after which a turn is taken though keys are pressed."""


class Collector:
    """Takes the turns of one app, in a process that is the app's own."""

    def __init__(self, app: Any) -> None:
        """Switch the interpreter's own turns off, and take them while the app runs."""
        self._app = app
        self._whole_at = monotonic()
        gc.collect()
        # What there is at the start stays to the end: it need not be looked at again.
        gc.freeze()
        gc.disable()
        app.set_interval(SECONDS_BETWEEN, self.turn)

    def turn(self) -> int | None:
        """Collect if this is the moment; return the generation that was, or None."""
        gathered = gc.get_count()[0]
        if keys_first.idle_seconds(self._app) < SECONDS_BETWEEN and gathered < AT_MOST:
            return None
        whole = monotonic() - self._whole_at > SECONDS_BETWEEN_WHOLE
        generation = 2 if whole else 0
        if whole:
            self._whole_at = monotonic()
        gc.collect(generation)
        return generation
