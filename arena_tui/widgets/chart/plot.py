"""The part of a chart that holds series and draws line strips when it must."""

from __future__ import annotations

from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

from rich.segment import Segment
from rich.text import Text
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from arena_tui.plotstyle import PlotStyle, detect, style_named
from arena_tui.safetext import safe_text
from arena_tui.widgets import keys_first
from arena_tui.widgets.chart import axes
from arena_tui.widgets.chart.holding import Holding
from arena_tui.widgets.chart.inks import COMPONENT_CLASSES, Inks, sixteen_colours
from arena_tui.widgets.chart.parts import INK_TEXT, Options, Picture
from arena_tui.widgets.chart.picture import draw, x_extent
from arena_tui.widgets.chart.series import to_csv
from arena_tui.widgets.chart.status import status_text
from arena_tui.widgets.chart.view import View

if TYPE_CHECKING:
    from arena_tui.widgets.chart.drawing import Drawing

REDRAWS_A_SECOND = 10
"""Redraws that new points cause at most; keys are answered at once."""


class Plot(Holding, Widget):
    """Lines over steps, drawn by NumPy into the cells of the terminal.

    Attributes:
        log_scale: Whether the y axis is logarithmic; zero and below are then gaps, and counted.
        smoothing: Weight of the past from 0 to below 1; the raw line stays, faint.
        clip: Whether far outliers are left off the scale; they are counted on the frame.
        follow: Whether the view goes along with the latest point.
        legend: Whether there is a legend.
        crosshair: Place on the x axis whose values the legend shows, None for the last values.
        heat: Whether a heat map is drawn, a row a series, instead of lines.
        plot_style: What to draw with; None for what the app has set, or what the terminal can.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = COMPONENT_CLASSES
    DEFAULT_CSS = """
    Plot {
        height: 1fr; width: 1fr; min-height: 5; background: $surface; color: $foreground;
        border: round $border-blurred; border-title-color: $text; border-title-style: bold;
        border-subtitle-color: $text-muted;
    }
    Plot:focus { border: round $primary; }
    Plot.-ascii, Plot.-ascii:focus { border: ascii $border-blurred; }
    Plot.-ascii:focus { border: ascii $primary; }
    Plot > .chart--axis { color: $border; }
    Plot > .chart--label { color: $foreground 65%; }
    Plot > .chart--guide { color: $accent; }
    Plot > .chart--mark { color: $warning; text-style: bold; }
    """

    log_scale: reactive[bool] = reactive(False)
    smoothing: reactive[float] = reactive(0.0)
    clip: reactive[bool] = reactive(False)
    follow: reactive[bool] = reactive(True)
    legend: reactive[bool] = reactive(True)
    crosshair: reactive[float | None] = reactive(None)
    heat: reactive[bool] = reactive(False)
    plot_style: reactive[PlotStyle | None] = reactive(None)

    def __init__(
        self,
        title: str = "",
        *,
        x_label: str = "steps",
        x_kind: str = "number",
        plot_style: PlotStyle | None = None,
        log_scale: bool = False,
        smoothing: float = 0.0,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        """Make an empty chart.

        Args:
            title: Name of what it shows.
            x_label: Name of the x axis.
            x_kind: "number", "time" for epoch seconds, or "elapsed" for seconds.
            plot_style: What to draw with; None for what the app has set, or what the terminal can.
            log_scale: Whether the y axis is logarithmic.
            smoothing: Weight of the past, 0 for none.
            id: The widget's id.
            classes: Its classes.
        """
        super().__init__(id=id, classes=classes)
        self._view = View()
        self._x_label, self._x_kind = x_label, x_kind
        self._empty_text = "no points yet"
        self._picture: Picture | None = None
        self._strips: dict[int, Strip] = {}
        self._drawn_size = (0, 0)
        self._drawn_at = 0.0
        self._waiting = False
        self._inks = Inks(self)
        self.title = ""
        self.redraws = 0
        self.set_title(title)
        self.set_reactive(Plot.log_scale, log_scale)
        self.set_reactive(Plot.smoothing, smoothing)
        self.set_reactive(Plot.plot_style, plot_style)

    def set_title(self, title: str) -> None:
        """Name the chart."""
        self.title = title
        self.border_title = Text(safe_text(title, 200))

    def set_x_label(self, label: str, kind: str = "number") -> None:
        """Name the x axis and say what it holds: "number", "time" or "elapsed"."""
        if (label, kind) != (self._x_label, self._x_kind):
            self._x_label, self._x_kind = label, kind
            self._view.reset()
            self.crosshair = None
            self._changed()

    def set_empty_text(self, text: str) -> None:
        """Say what stands there when there are no points."""
        self._empty_text = text
        self._changed()

    def export_csv(self) -> str:
        """Return all points as CSV: series, x, y."""
        return to_csv(self._series.values(), self._x_label, self.title or "value")

    def page(self) -> Drawing | None:
        """Return the chart as it is shown, as a page for a file; None without points."""
        from arena_tui.widgets.chart.drawing import drawing

        window = self.window
        if window is None:
            return None
        return drawing(
            self.shown_series(),
            window,
            self._options(),
            self.title,
            marks=self._marks,
            guides=self._guides,
            band=self.shown_band(),
        )

    # View ----------------------------------------------------------------------------------------

    @property
    def window(self) -> tuple[float, float] | None:
        """Limits of the x axis in view, None without points."""
        extent = x_extent(self.shown_series())
        return None if extent is None else self._view.window(extent)

    def set_window(self, left: float, right: float) -> None:
        """Hold the view at these limits of the x axis."""
        self._view.held, self._view.follow = axes.widened(left, right), False
        self._view_changed()

    def zoom(self, factor: float, at: float | None = None) -> None:
        """Show `factor` times as much of the x axis, around `at` or the crosshair."""
        extent = x_extent(self.shown_series())
        if extent is not None:
            self._view.zoom(factor, extent, self.crosshair if at is None else at)
            self._view_changed()

    def pan(self, share: float) -> None:
        """Move the view by a share of its width, to the left when negative."""
        extent = x_extent(self.shown_series())
        if extent is not None:
            self._view.pan(share, extent)
            self._view_changed()

    def reset_view(self) -> None:
        """Show all points and follow."""
        self._view.reset()
        self._view_changed()

    def state(self) -> dict[str, Any]:
        """Return what is worth remembering, as JSON can hold it; nothing where all is as made."""
        state = {"log_scale": self.log_scale, "smoothing": self.smoothing, "clip": self.clip}
        return {name: value for name, value in state.items() if value}

    def restore(self, state: dict[str, Any]) -> None:
        """Take what `state` gave; what makes no sense is left out."""
        self.log_scale, self.clip = bool(state.get("log_scale")), bool(state.get("clip"))
        weight = state.get("smoothing", 0.0)
        if isinstance(weight, int | float) and 0 <= weight < 1:
            self.smoothing = float(weight)

    def _view_changed(self) -> None:
        """Draw another view; what more is to be done about it is for subclasses."""
        self.set_reactive(Plot.follow, self._view.follow)
        self._changed(now=True)

    def watch_follow(self, follow: bool) -> None:
        """Follow or hold."""
        if follow == self._view.follow:
            return
        if follow:
            self._view.resume()
        else:
            self._view.hold(x_extent(self.shown_series()))
        self._view_changed()

    def watch_log_scale(self) -> None:
        """Draw on the other scale."""
        self._view_changed()

    watch_smoothing = watch_clip = watch_log_scale

    def watch_crosshair(self) -> None:
        """Show other values."""
        self._changed(now=True)

    watch_legend = watch_heat = watch_crosshair

    def restyle(self) -> None:
        """Draw with what the app has set by now."""
        self.set_class(self.style_now().name == "ascii", "-ascii")
        self._changed(now=True)

    watch_plot_style = restyle

    # Drawing -------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        """Take the app's plot style, and its theme when that changes."""
        self.watch(self.app, "theme", self._theme_changed, init=False)
        self.restyle()

    def _theme_changed(self) -> None:
        self._changed(now=True)

    def notify_style_update(self) -> None:
        """Make the inks anew when styles change."""
        super().notify_style_update()
        self._inks.forget()
        self._strips.clear()

    def style_now(self) -> PlotStyle:
        """Return what is drawn with just now."""
        if self.plot_style is not None:
            return self.plot_style
        chosen = getattr(self.app, "plot_style", None) if self.is_attached else None
        if isinstance(chosen, str) and chosen:
            return style_named(chosen)
        return chosen if isinstance(chosen, PlotStyle) else detect()

    def _changed(self, now: bool = False) -> None:
        """Draw again: at once, or as soon as the redraws a second allow."""
        if not self.is_attached:
            self._picture = None
            return
        if now:
            self._stale()
        elif not self._waiting:
            self._waiting = True
            due = max(monotonic() + 0.001, self._drawn_at + 1 / REDRAWS_A_SECOND)
            self.set_timer(due - monotonic(), partial(self._draw_when_due, due))

    def _draw_when_due(self, due: float) -> None:
        wait = keys_first.wait(self.app, due)
        if wait > 0:
            self.set_timer(wait, partial(self._draw_when_due, due))
        else:
            self._waiting = False
            self._stale()

    def _stale(self) -> None:
        # Nothing is drawn here: Textual asks for lines only while they are on the screen.
        self._picture = None
        self._strips.clear()
        self.refresh()

    def _options(self) -> Options:
        return Options(
            log=self.log_scale,
            smoothing=self.smoothing,
            clip=self.clip,
            crosshair=self.crosshair,
            style=self.style_now(),
            x_label=self._x_label,
            x_kind=self._x_kind,
            legend=self.legend,
            mark_lines=self.app.no_color or sixteen_colours(self),
            empty_text=self._empty_text,
            heat=self.heat,
        )

    def _drawn(self) -> Picture:
        size = (self.size.width, self.size.height)
        if self._picture is None or self._drawn_size != size:
            options = self._options()
            self._picture = draw(
                self.shown_series(),
                self._view,
                self._marks,
                options,
                *size,
                guides=self._guides,
                band=self.shown_band(),
            )
            self._strips.clear()
            self._drawn_size, self._drawn_at = size, monotonic()
            self.redraws += 1
            self.call_later(self._put_status)
        return self._picture

    @property
    def plot_width(self) -> int:
        """Cells that the plot itself is wide."""
        return max(1, self._drawn().width)

    def place_at(self, column: int) -> float | None:
        """Return the place on the x axis of a column of the widget's cells, None outside."""
        return self._drawn().place(column)

    def _put_status(self) -> None:
        if self._picture is not None:
            status = status_text(self._picture, self._view, self._options(), self.isolated)
            if Text(status) != getattr(self, "_status", None):
                self._status = Text(status)
                self.border_subtitle = Text(status)

    def render_line(self, y: int) -> Strip:
        """Return one line of the picture."""
        picture = self._drawn()
        strip = self._strips.get(y)
        if strip is None:
            runs = picture.lines[y] if y < len(picture.lines) else []
            strip = Strip([Segment(text, self._inks[ink]) for text, ink in runs])
            strip = strip.adjust_cell_length(self.size.width, self._inks[INK_TEXT])
            self._strips[y] = strip
        return strip
