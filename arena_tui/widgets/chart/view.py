"""Which part of the x axis is in view: all of it, the latest part, or a part that is held."""

from __future__ import annotations

from dataclasses import dataclass

from arena_tui.widgets.chart.axes import Limits, widened

_NARROWEST = 1e-9


@dataclass
class View:
    """The window on the x axis.

    Attributes:
        follow: Whether the right edge stays at the latest point.
        span: How wide the window is when it follows; None shows everything.
        held: Where the window is when it does not follow.
    """

    follow: bool = True
    span: float | None = None
    held: Limits | None = None

    def window(self, extent: Limits) -> Limits:
        """Return the limits in view, the left one less than the right one."""
        if not self.follow and self.held is not None:
            return self.held
        left, right = extent
        if self.span is not None:
            left = max(left, right - self.span)
        return widened(left, right)

    def hold(self, extent: Limits | None) -> None:
        """Stay where the window is while points come in."""
        if extent is not None:
            self.held = self.window(extent)
        self.follow = False

    def resume(self) -> None:
        """Follow the latest point, as wide as the window is."""
        if not self.follow and self.held is not None:
            self.span = self.span and self.held[1] - self.held[0]
        self.follow, self.held = True, None

    def zoom(self, factor: float, extent: Limits, at: float | None = None) -> None:
        """Show `factor` times as much, around a place; without one the right edge stays."""
        left, right = self.window(extent)
        whole = extent[1] - extent[0]
        width = (right - left) * factor
        least = max(abs(left), abs(right), 1e-12) * _NARROWEST
        if width < least or whole <= 0:
            return
        if at is None and self.follow:
            self.span = None if width >= whole else width
            return
        place = (left + right) / 2 if at is None else min(max(at, left), right)
        self.follow = False
        left = place - (place - left) * factor
        self._hold_within(left, left + width, extent)

    def pan(self, share: float, extent: Limits) -> None:
        """Move by a share of the width; at the latest point the window follows again."""
        left, right = self.window(extent)
        width = right - left
        shift = width * share
        if self.follow and shift >= 0:
            return
        self.follow = False
        self._hold_within(left + shift, right + shift, extent)
        if shift > 0 and self.held is not None and self.held[1] >= extent[1]:
            self.span = width
            self.follow, self.held = True, None

    def _hold_within(self, left: float, right: float, extent: Limits) -> None:
        width = right - left
        if width >= extent[1] - extent[0]:
            self.held = widened(*extent)
            self.span = None
            return
        left = min(max(left, extent[0]), extent[1] - width)
        self.held = (left, left + width)
        self.span = width

    def reset(self) -> None:
        """Show everything and follow."""
        self.follow, self.span, self.held = True, None, None
