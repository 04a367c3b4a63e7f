"""A screen that follows the size of the terminal, and no size that it had a moment ago.

Laying out a screen at another size makes Textual post it a Resize of that size. With two sizes on
their way at once, as while a window is dragged, each is laid out and posted again for ever: the
screen flickers between both, and no key is heard. Sizes that are not the terminal's are dropped.
Such a size may have taken the place of the terminal's own in the queue, which keeps the last Resize
of several: where the screen is of another size then, it is told of the right one again.
"""

from __future__ import annotations

from typing import Any

from textual import events


class Steady:
    """Mix into a screen, before Textual's class."""

    app: Any
    size: Any
    post_message: Any

    def _on_resize(self, event: events.Resize) -> None:
        if event.size != self.app.size:
            event.stop()
            event.prevent_default()
            if self.size != self.app.size:
                self.post_message(events.Resize(self.app.size, self.app.size))
