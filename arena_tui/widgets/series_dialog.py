"""Which series of some charts are shown: hide, isolate and pin by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widget import Widget
from textual.widgets import Button

from arena_tui.commands import Action, bindings
from arena_tui.theme import SeriesStyle, series_colour
from arena_tui.widgets.chart import Chart
from arena_tui.widgets.chart.axes import si_number
from arena_tui.widgets.chart.holding import BAND
from arena_tui.widgets.chart.inks import sixteen_colours
from arena_tui.widgets.dialogs import Dialog
from arena_tui.widgets.rows import Column, Row, Rows


class SeriesRows(Rows):
    """A table that leaves space to the dialog."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let space through: nothing is marked here."""
        return parameters != ("rows.mark",)


class SeriesDialog(Dialog[bool | None]):
    """The series of charts, a row each; what is chosen shows at once behind the dialog."""

    ACTIONS: ClassVar[list[Action]] = [
        Action("series.hide", "space", "Hide", "Hide this series everywhere, or show it.", 1),
        Action("series.alone", "enter,v", "Alone", "Show this one alone, or all again.", 2),
        Action("series.pin", "p", "Pin", "Keep it in sight and above all others, or not.", 3),
        Action("series.all", "a", "All", "Show all, pin none.", 4),
    ]
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(ACTIONS)]
    DEFAULT_CSS = """
    SeriesDialog Rows { height: auto; max-height: 16; margin-bottom: 1; }
    """

    def __init__(self, charts: Sequence[Chart], asking: Chart) -> None:
        """Make it for all charts; the figures are those of the one that asks."""
        super().__init__(
            "Series", "space hides or shows, enter shows one alone, p pins, a shows all."
        )
        self._charts = list(charts)
        self._asking = asking

    def body(self) -> ComposeResult:
        """Make the list."""
        yield SeriesRows(
            [
                Column("look", "", 3, show=lambda value, row: value),
                Column("label", "series", 30),
                Column("value", "value", 10, "right"),
                Column("state", "", 14),
            ],
            key="sid",
            markable=False,
            id="series",
        )

    def buttons(self) -> Sequence[Widget]:
        """Return the one button."""
        return [Button("Close", variant="primary", id="cancel", flat=True)]

    def on_mount(self) -> None:
        """Start on the list."""
        self._show()
        self.query_one("#series").focus()

    @property
    def _series(self) -> dict[str, Chart]:
        """Every series of any chart, with a chart that has it; those of the asking one first."""
        found: dict[str, Chart] = {}
        for chart in [self._asking, *self._charts]:
            for sid in chart.series_ids:
                found.setdefault(sid, chart)
            if chart.band is not None:
                found.setdefault(BAND, chart)
        return found

    def _show(self) -> None:
        self.query_one("#series", Rows).set_rows(list(self._rows()))

    def _rows(self) -> Iterable[Row]:
        style = self._asking.style_now()
        dark, few = self.app.current_theme.dark, sixteen_colours(self)
        for sid, chart in self._series.items():
            look, label = named(chart, sid)
            point = self._asking.last(sid)
            words = [
                "hidden" if sid in chart.hidden else "",
                "alone" if chart.isolated == sid else "",
                "pinned" if sid in chart.pinned else "",
            ]
            yield {
                "sid": sid,
                "look": Text(
                    style.markers[look.marker % len(style.markers)],
                    style=series_colour(look, dark=dark, sixteen=few),
                ),
                "label": label,
                "value": style.text(si_number(point[1])) if point else "",
                "state": " ".join(word for word in words if word),
            }

    def _now(self) -> str | None:
        return self.query_one("#series", Rows).selected_key

    def on_rows_opened(self, event: Rows.Opened) -> None:
        """Show the one that was opened alone."""
        event.stop()
        self.act_alone()

    def act_hide(self) -> None:
        """Hide or show the selected series in every chart."""
        sid = self._now()
        if sid is not None:
            hidden = sid not in self._series[sid].hidden
            for chart in self._charts:
                chart.set_hidden(sid, hidden)
            self._show()

    def act_alone(self) -> None:
        """Show the selected series alone in every chart, or all again."""
        sid = self._now()
        if sid is not None and sid != BAND:
            only = None if self._series[sid].isolated == sid else sid
            for chart in self._charts:
                chart.isolate(only)
            self._show()

    def act_pin(self) -> None:
        """Pin the selected series in every chart, or not."""
        sid = self._now()
        if sid is not None and sid != BAND:
            pinned = sid not in self._series[sid].pinned
            for chart in self._charts:
                chart.set_pinned(sid, pinned)
            self._show()

    def act_all(self) -> None:
        """Show all, and pin none."""
        for chart in self._charts:
            for sid in self._series:
                chart.set_hidden(sid, False)
                chart.set_pinned(sid, False)
            chart.isolate(None)
        self._show()


def named(chart: Chart, sid: str) -> tuple[SeriesStyle, str]:
    """Return look and name of a series of a chart, or of its band."""
    if sid == BAND and chart.band is not None:
        return chart.band.style, chart.band.label
    return chart.style_of(sid), chart.label_of(sid)
