"""The chart widget: what `plot` draws, with keys, mouse and messages."""

from __future__ import annotations

from typing import Any, ClassVar

from textual import events
from textual.binding import BindingType
from textual.message import Message

from arena_tui.commands import Action, bindings
from arena_tui.widgets.acting import Acting
from arena_tui.widgets.chart.actions import ACTIONS, SMOOTHING_STEPS
from arena_tui.widgets.chart.plot import Plot
from arena_tui.widgets.chart.series import Guide, Series

GUIDE = "guide"
"""Label of the level line that a key draws."""


class Chart(Acting, Plot, can_focus=True):
    """Lines over steps, to look into by keys and mouse; see `Plot` for all that can be set."""

    ACTIONS: ClassVar[list[Action]] = ACTIONS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(ACTIONS)]

    class ViewChanged(Message):
        """The view, the scale or the smoothing was changed."""

        def __init__(self, chart: Chart) -> None:
            super().__init__()
            self.chart = chart

        @property
        def control(self) -> Chart:
            """The chart."""
            return self.chart

    class Opened(ViewChanged):
        """The chart is to be shown large, or small again."""

    class CrosshairMoved(ViewChanged):
        """The user moved the crosshair; `chart.crosshair` says where to."""

    class SeriesWanted(ViewChanged):
        """The user wants to choose which series are shown."""

    class ExportWanted(ViewChanged):
        """The user wants the chart, or its data, in a file."""

    def __init__(self, title: str = "", **options: Any) -> None:
        """Make an empty chart; the options are those of `Plot`."""
        super().__init__(title, **options)
        self._dragged_from: int | None = None

    def _view_changed(self) -> None:
        super()._view_changed()
        self.post_message(self.ViewChanged(self))

    # Keys ----------------------------------------------------------------------------------------

    def act_log(self) -> None:
        """Switch the scale."""
        self.log_scale = not self.log_scale

    def act_smooth(self) -> None:
        """Go to the next smoothing."""
        more = [weight for weight in SMOOTHING_STEPS if weight > self.smoothing + 1e-9]
        self.smoothing = more[0] if more else 0.0

    def act_clip(self) -> None:
        """Leave outliers off the scale, or show them."""
        self.clip = not self.clip

    def act_follow(self) -> None:
        """Follow or hold."""
        self.follow = not self.follow

    def act_isolate(self) -> None:
        """Show the next series alone."""
        order: list[str | None] = [None, *self.series_ids]
        now = self.isolated if self.isolated in self.series_ids else None
        self.isolate(order[(order.index(now) + 1) % len(order)])

    def act_guide(self) -> None:
        """Put a guide at the value under the crosshair or the last one, or take ours away."""
        mine = [guide for guide in self.guides if guide.label == GUIDE]
        rest = [guide for guide in self.guides if guide.label != GUIDE]
        shown = self.shown_series()
        series = shown[-1] if shown else None
        at = self.crosshair
        point = None if series is None else series.last() if at is None else series.value_near(at)
        if not mine and point is not None:
            rest.append(Guide(point[1], GUIDE))
        self.set_guides(rest)

    def act_series(self) -> None:
        """Ask to choose among the series."""
        self.post_message(self.SeriesWanted(self))

    def act_export(self) -> None:
        """Ask for a file."""
        self.post_message(self.ExportWanted(self))

    def why_not_export(self) -> str | None:
        """Say why there is nothing to write."""
        return None if self.window is not None else "There are no points yet."

    why_not_series = why_not_guide = why_not_export

    def act_left(self) -> None:
        """Move the crosshair to the left."""
        self._step(-1)

    def act_right(self) -> None:
        """Move the crosshair to the right."""
        self._step(1)

    def act_cross(self) -> None:
        """Show or hide the crosshair."""
        self._cross_at(None if self.crosshair is not None else self._middle())

    def act_zoom_in(self) -> None:
        """Show half as much."""
        self.zoom(0.5)

    def act_zoom_out(self) -> None:
        """Show twice as much."""
        self.zoom(2.0)

    def act_pan_left(self) -> None:
        """Move the view back."""
        self.pan(-0.25)

    def act_pan_right(self) -> None:
        """Move the view on."""
        self.pan(0.25)

    def act_reset(self) -> None:
        """Show everything."""
        self.reset_view()

    def act_open(self) -> None:
        """Ask to be shown large."""
        self.post_message(self.Opened(self))

    def _middle(self) -> float | None:
        window = self.window
        return None if window is None else self._snapped((window[0] + window[1]) / 2)

    def _snapped(self, x: float) -> float:
        """Return the nearest place where any shown series has a point."""
        near = [point[0] for s in self.shown_series() if (point := s.value_near(x)) is not None]
        return min(near, key=lambda place: abs(place - x)) if near else x

    def _step(self, direction: int) -> None:
        """Move the crosshair to the next place with a point that is another cell."""
        window = self.window
        if window is None:
            return
        if self.crosshair is None or not window[0] <= self.crosshair <= window[1]:
            self._cross_at(self._snapped(window[1] if direction < 0 else window[0]))
            return
        target = self.crosshair + direction * (window[1] - window[0]) / self.plot_width
        place = self._snapped(target)
        if (place - self.crosshair) * direction <= 0:
            # Points are farther apart than cells: go to the next one.
            beyond = [
                x
                for series in self.shown_series()
                if (x := _next(series, self.crosshair, direction)) is not None
            ]
            if not beyond:
                return
            place = min(beyond) if direction > 0 else max(beyond)
        self._cross_at(min(max(place, window[0]), window[1]))

    def _cross_at(self, x: float | None) -> None:
        if x != self.crosshair:
            self.crosshair = x
            self.post_message(self.CrosshairMoved(self))

    # Mouse ---------------------------------------------------------------------------------------

    def _place(self, event: events.MouseEvent) -> float | None:
        offset = event.get_content_offset(self)
        return None if offset is None else self.place_at(offset.x)

    def on_click(self, event: events.Click) -> None:
        """Put the crosshair there; a second click enlarges."""
        if event.chain == 2:
            self.act_open()
            return
        place = self._place(event)
        if place is not None:
            self._cross_at(self._snapped(place))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Zoom in where the pointer is."""
        event.stop()
        self.zoom(0.8, self._place(event))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Zoom out."""
        event.stop()
        self.zoom(1.25, self._place(event))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Begin to drag."""
        self._dragged_from = event.x

    def on_mouse_up(self) -> None:
        """End dragging."""
        self._dragged_from = None

    on_leave = on_mouse_up

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Move the view while dragging."""
        if self._dragged_from is not None and event.button and event.x != self._dragged_from:
            width = self.plot_width
            self.pan((self._dragged_from - event.x) / width)
            self._dragged_from = event.x


def _next(series: Series, x: float, direction: int) -> float | None:
    """Return the place of the next point of a series in a direction, None beyond the last."""
    at = int(series.x.searchsorted(x, "right" if direction > 0 else "left"))
    at = at if direction > 0 else at - 1
    return float(series.x[at]) if 0 <= at < len(series) else None
