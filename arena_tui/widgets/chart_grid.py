"""Pages of charts in columns, with one crosshair for all of them."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static

from arena_tui.commands import Action, bindings
from arena_tui.safetext import safe_text
from arena_tui.widgets.acting import Acting
from arena_tui.widgets.chart import Chart

MOST_COLUMNS = 6
_LEAST_WIDTH = 30
_LEAST_HEIGHT = 9


class ChartGrid(Acting, Vertical):
    """As many charts as fit, and pages for the rest.

    Attributes:
        columns: Columns wanted; there are fewer where the terminal is narrow.
        charts: The charts by id, in order.
        pinned: Ids of charts that are on every page, first.
        maximized: Id of the chart that has all the room, or None.
        page: The page in view, from 0.
    """

    ACTIONS: ClassVar[list[Action]] = [
        Action("grid.more_columns", "plus,equals_sign", "Columns", "One column of charts more.", 5),
        Action("grid.fewer_columns", "minus", "Columns", "One column of charts less.", 0),
        Action("grid.next_page", "pagedown", "Next page", "Show the next page of charts.", 6),
        Action("grid.previous_page", "pageup", "Page before", "Show the page before.", 0),
        Action("grid.next", "j,down", "Next chart", "Go to the next chart.", 0, palette=False),
        Action("grid.previous", "k,up", "Chart before", "Go to the one before.", 0, palette=False),
        Action("grid.pin", "p", "Pin", "Keep this chart on every page, or not.", 6),
        Action("grid.back", "escape", "All", "Show all charts again.", 2, palette=False),
    ]
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(ACTIONS)]
    DEFAULT_CSS = """
    ChartGrid { height: 1fr; width: 1fr; }
    ChartGrid > #charts { layout: grid; height: 1fr; grid-gutter: 0 1; }
    ChartGrid > #charts > Chart { width: 1fr; height: 1fr; }
    ChartGrid > #pages { height: 1; color: $text-muted; padding: 0 1; display: none; }
    """

    columns: reactive[int] = reactive(2)

    class Changed(Message):
        """Columns, page, pins or what is enlarged changed."""

        def __init__(self, grid: ChartGrid) -> None:
            super().__init__()
            self.grid = grid

        @property
        def control(self) -> ChartGrid:
            """The grid."""
            return self.grid

    def __init__(
        self, *, columns: int = 2, id: str | None = None, classes: str | None = None
    ) -> None:
        """Make an empty grid."""
        super().__init__(id=id, classes=classes)
        self.charts: dict[str, Chart] = {}
        self.pinned: set[str] = set()
        self.maximized: str | None = None
        self.page = 0
        self._filter = ""
        self._crosshair: float | None = None
        self._hidden: set[str] = set()
        self._pinned_series: set[str] = set()
        self._kept: dict[str, dict[str, Any]] = {}
        self.set_reactive(ChartGrid.columns, columns)

    def compose(self) -> ComposeResult:
        """Make the place for charts and the line below."""
        with Container(id="charts"):
            yield from self.charts.values()
        yield Static("", id="pages", markup=False)

    # Charts --------------------------------------------------------------------------------------

    def chart(self, cid: str, title: str | None = None, **options: Any) -> Chart:
        """Return the chart of an id; it is made, with these options of `Chart`, if need be."""
        chart = self.charts.get(cid)
        if chart is None:
            chart = self.charts[cid] = Chart(cid if title is None else title, **options)
            chart.crosshair = self._crosshair
            chart.hidden, chart.pinned = set(self._hidden), set(self._pinned_series)
            if cid in self._kept:
                chart.restore(self._kept.pop(cid))
            if self.is_mounted:
                chart.display = False
                self.query_one("#charts").mount(chart)
                self.call_after_refresh(self._arrange)
        return chart

    def remove_chart(self, cid: str) -> None:
        """Take a chart away; one that is not there is no error."""
        chart = self.charts.pop(cid, None)
        if chart is not None:
            self.pinned.discard(cid)
            if self.maximized == cid:
                self.maximized = None
            if chart.is_attached:
                chart.remove()
            self._arrange()

    def clear(self) -> None:
        """Take all charts away."""
        for cid in list(self.charts):
            self.remove_chart(cid)

    def set_filter(self, text: str) -> None:
        """Show the charts whose title matches a regular expression, or holds the text.

        A leading `!` shows the others.
        """
        if text != self._filter:
            self._filter, self.page = text, 0
            self._arrange()

    @property
    def pages(self) -> int:
        """How many pages there are, at least one."""
        return self._layout()[3]

    @property
    def focused_id(self) -> str | None:
        """Id of the chart that has the focus, or None."""
        return next((cid for cid, chart in self.charts.items() if chart.has_focus), None)

    @property
    def first_shown(self) -> Chart | None:
        """The first chart of the page in view, or None."""
        shown = self._layout()[2]
        return self.charts[shown[0]] if shown else None

    def state(self) -> dict[str, Any]:
        """Return what is worth remembering, as JSON can hold it."""
        charts = {cid: chart.state() for cid, chart in self.charts.items()}
        return {
            "columns": self.columns,
            "pinned": sorted(self.pinned),
            "charts": {**self._kept, **{cid: kept for cid, kept in charts.items() if kept}},
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take what `state` gave, also for charts that are not there yet; nonsense is left out."""
        columns = state.get("columns")
        if isinstance(columns, int):
            self.columns = columns
        pinned = state.get("pinned")
        if isinstance(pinned, list):
            self.pinned = {str(cid) for cid in pinned}
        charts = state.get("charts")
        for cid, kept in charts.items() if isinstance(charts, dict) else ():
            if not isinstance(kept, dict):
                continue
            if cid in self.charts:
                self.charts[cid].restore(kept)
            else:
                self._kept[str(cid)] = kept
        self._arrange()

    # Layout --------------------------------------------------------------------------------------

    def validate_columns(self, columns: int) -> int:
        """Keep the columns within what makes sense."""
        return min(MOST_COLUMNS, max(1, columns))

    def watch_columns(self) -> None:
        """Lay the charts out anew."""
        self._arrange()

    def on_mount(self) -> None:
        """Lay the charts out."""
        self.call_after_refresh(self._arrange)

    def on_resize(self, event: events.Resize) -> None:
        """Lay the charts out for another size."""
        self._arrange()

    def _matches(self, chart: Chart) -> bool:
        inverse = self._filter.startswith("!")
        text = self._filter.removeprefix("!")
        if not text:
            return True
        try:
            found = re.search(text, chart.title, re.IGNORECASE) is not None
        except re.error:
            found = text.casefold() in chart.title.casefold()
        return found != inverse

    def _layout(self) -> tuple[int, int, list[str], int]:
        """Return columns, rows, ids on the page in view and the number of pages."""
        if self.maximized in self.charts:
            return 1, 1, [self.maximized], 1
        wanted = [cid for cid, chart in self.charts.items() if self._matches(chart)]
        first = [cid for cid in wanted if cid in self.pinned]
        rest = [cid for cid in wanted if cid not in self.pinned]
        width, height = self.size.width, self.size.height
        columns = max(1, min(self.columns, width // _LEAST_WIDTH, max(1, len(wanted))))
        rows = max(1, min((height - 1) // _LEAST_HEIGHT, -(-len(wanted) // columns)))
        room = max(1, columns * rows - len(first)) if rest else columns * rows
        pages = max(1, -(-len(rest) // room))
        page = min(self.page, pages - 1)
        shown = first[: columns * rows - (1 if rest and columns * rows > 1 else 0)]
        shown += rest[page * room : (page + 1) * room]
        return columns, rows, shown[: columns * rows], pages

    def _arrange(self) -> None:
        if not self.is_mounted or not self.query("#charts"):
            return
        columns, rows, shown, pages = self._layout()
        self.page = min(self.page, pages - 1)
        frame = self.query_one("#charts")
        frame.styles.grid_size_columns = columns
        frame.styles.grid_size_rows = rows
        place = {cid: at for at, cid in enumerate(shown)}
        focused = self.focused_id
        for cid, chart in self.charts.items():
            chart.display = cid in place
        order = {chart: place.get(cid, len(place)) for cid, chart in self.charts.items()}
        frame.sort_children(key=lambda chart: order.get(chart, len(place)))  # type: ignore[call-overload]
        if focused is not None and focused not in place and shown:
            self.charts[shown[0]].focus()
        self._put_pages(len(shown), pages)
        self.post_message(self.Changed(self))

    def _put_pages(self, shown: int, pages: int) -> None:
        line = self.query_one("#pages", Static)
        parts = []
        if pages > 1:
            parts.append(f"page {self.page + 1} of {pages}")
        if self._filter:
            matching = sum(map(self._matches, self.charts.values()))
            parts.append(f"{matching} of {len(self.charts)} match {safe_text(self._filter, 40)}")
        if self.maximized:
            parts.append("one of " + str(len(self.charts)))
        line.display = bool(parts)
        line.update(Text(" · ".join(parts)))

    # What charts say -----------------------------------------------------------------------------

    def on_chart_crosshair_moved(self, event: Chart.CrosshairMoved) -> None:
        """Move the crosshair of all charts."""
        self._crosshair = event.chart.crosshair
        for chart in self.charts.values():
            chart.crosshair = self._crosshair

    def on_chart_series_wanted(self, event: Chart.SeriesWanted) -> None:
        """Let the user choose among all series; what is chosen holds in every chart."""
        event.stop()
        from arena_tui.widgets.series_dialog import SeriesDialog

        self.app.push_screen(SeriesDialog(list(self.charts.values()), event.chart), self._chosen)

    def _chosen(self, answer: bool | None) -> None:
        """Keep for charts to come what is hidden and pinned."""
        charts = list(self.charts.values())
        if charts:
            self._hidden = set.union(*(chart.hidden for chart in charts))
            self._pinned_series = set.union(*(chart.pinned for chart in charts))
        self.post_message(self.Changed(self))

    def on_chart_view_changed(self, event: Chart.ViewChanged) -> None:
        """Pass on that the set-up of a chart changed."""
        if type(event) is Chart.ViewChanged:
            event.stop()
            self.post_message(self.Changed(self))

    def on_chart_opened(self, event: Chart.Opened) -> None:
        """Give a chart all the room, or take it back."""
        event.stop()
        cid = next((cid for cid, chart in self.charts.items() if chart is event.chart), None)
        self.maximized = None if self.maximized == cid else cid
        self._arrange()
        event.chart.focus()

    # Actions -------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let escape through to the screen where there is nothing to go back from."""
        if action == "act" and parameters == ("grid.back",):
            return self.maximized is not None
        return True

    def act_back(self) -> None:
        """Show all charts again."""
        self.maximized = None
        self._arrange()

    def act_more_columns(self) -> None:
        """Make one column more."""
        self.columns += 1

    def act_fewer_columns(self) -> None:
        """Make one column less."""
        self.columns -= 1

    def act_next_page(self) -> None:
        """Go to the next page."""
        self.page = (self.page + 1) % self.pages
        self._arrange()

    def act_previous_page(self) -> None:
        """Go to the page before."""
        self.page = (self.page - 1) % self.pages
        self._arrange()

    def act_next(self) -> None:
        """Go to the next chart, at the end of the page to the next page."""
        self._go(1)

    def act_previous(self) -> None:
        """Go to the chart before."""
        self._go(-1)

    def act_pin(self) -> None:
        """Pin or unpin the focused chart."""
        cid = self.focused_id
        if cid is not None:
            self.pinned ^= {cid}
            self._arrange()

    def why_not_pin(self) -> str | None:
        """Say why nothing can be pinned."""
        return None if self.focused_id else "Go to a chart first."

    def _go(self, step: int) -> None:
        shown = self._layout()[2]
        if not shown:
            return
        focused = self.focused_id
        at = shown.index(focused) + step if focused in shown else 0
        if not 0 <= at < len(shown):
            if self.pages > 1:
                self.page = (self.page + step) % self.pages
                self._arrange()
                shown = self._layout()[2]
            at %= len(shown)
        self.charts[shown[min(at, len(shown) - 1)]].focus()
