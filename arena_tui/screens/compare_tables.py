"""The tables of a comparison: runs with their figures, and what their manifests differ in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual import events
from textual.binding import BindingType

from arena_tui import format
from arena_tui.commands import Action, bindings
from arena_tui.safetext import safe_text, shorten_middle
from arena_tui.screens.listing import state_text
from arena_tui.screens.run_charts import run_look
from arena_tui.stores.comparing import differing, figures, shown
from arena_tui.theme import series_colour
from arena_tui.widgets.chart.inks import sixteen_colours
from arena_tui.widgets.rows import Column, Row, Rows

if TYPE_CHECKING:
    from arena_tui.screens.base import ArenaScreen
    from arena_tui.stores.run import Run

RUN_DROP = (
    "members",
    "mean_fitness",
    "environment",
    "total_steps",
    "steps_per_second",
    "algorithm",
    "generation",
)
_FIELD = 30
_LEAST = 12
_PADDING = 2


def look_of(screen: ArenaScreen, slot: int) -> Text:
    """Return the marker of a run in its colour."""
    look, style = run_look(slot), screen.arena.plot_style
    dark, few = screen.app.current_theme.dark, sixteen_colours(screen)
    marker = style.markers[look.marker % len(style.markers)]
    return Text(marker, style=series_colour(look, dark=dark, sixteen=few))


def run_columns(screen: ArenaScreen) -> list[Column]:
    """Return the columns of the table of runs."""

    def figure(value: Any, row: Row) -> str:
        return format.number(value)

    def best(value: Any, row: Row) -> str:
        return f"★ {format.number(value)}" if row.get("is_best") else format.number(value)

    def count(value: Any, row: Row) -> str:
        return format.count(value)

    return [
        Column("slot", "", 1, show=lambda value, row: look_of(screen, int(value))),
        Column("name", "run"),
        Column("state", "state", 13, show=lambda value, row: state_text(screen.app, str(value))),
        Column("algorithm", "algo", 6),
        Column("environment", "environment", 16),
        Column("best_fitness", "best", 10, "right", show=best),
        Column("mean_fitness", "mean", 9, "right", show=figure),
        Column("generation", "gen", 5, "right"),
        Column("steps", "steps", 7, "right", show=count),
        Column("total_steps", "total", 7, "right", show=count),
        Column("seconds", "time", 7, "right", show=lambda v, row: format.duration(v)),
        Column("steps_per_second", "steps/s", 7, "right", show=count),
        Column("members", "pop", 4, "right"),
    ]


def run_rows(runs: Sequence[Run], slots: dict[str, int]) -> list[Row]:
    """Return a row a run, the fittest marked."""
    rows = [{**figures(run), "slot": slots.get(run.name, 0)} for run in runs]
    known = [row["best_fitness"] for row in rows if isinstance(row["best_fitness"], int | float)]
    best = max(known, default=None)
    return [{**row, "is_best": best is not None and row["best_fitness"] == best} for row in rows]


class Differences(Rows):
    """What manifests differ in: a row a field, a column a run, as many as there is room for."""

    ACTIONS: ClassVar[list[Action]] = [
        *Rows.ACTIONS,
        Action("differences.left", "left", "Runs before", "Show the runs before.", 0),
        Action("differences.right", "right", "More runs", "Show the runs that follow.", 3),
    ]
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(ACTIONS[-2:])]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__([Column("path", "field", _FIELD)], key="path", markable=False, id=id)
        self.same = 0
        self._names: list[str] = []
        self._first = 0
        self._fitting = 1

    @property
    def status(self) -> str:
        """How many fields differ, and which of the runs are shown."""
        differ = "1 field differs" if self.rows_total == 1 else f"{self.rows_total} fields differ"
        words = f"{differ}, {self.same} are the same; defaults filled in."
        if self._fitting >= len(self._names):
            return words
        last = min(self._first + self._fitting, len(self._names))
        return f"{words}  Runs {self._first + 1} to {last} of {len(self._names)}."

    def set_manifests(self, manifests: dict[str, dict[str, Any]]) -> None:
        """Show how the manifests of runs, by their names, differ."""
        found, self.same = differing(list(manifests.values()))
        if list(manifests) != self._names:
            self._names, self._first = list(manifests), 0
            self._fit(self.size.width)
        self.set_rows(
            {"path": path, **{f"{at}": shown(value) for at, value in enumerate(values)}}
            for path, values in found.items()
        )

    def on_resize(self, event: events.Resize) -> None:
        """Share the width there is among the runs."""
        self._fit(event.size.width)

    def _fit(self, width: int) -> None:
        field = max(_LEAST, min(_FIELD, width // 3))
        room = width - 2 - field - _PADDING
        self._fitting = max(1, min(len(self._names), room // (_LEAST + _PADDING)))
        self._first = max(0, min(self._first, len(self._names) - self._fitting))
        each = max(_LEAST, room // self._fitting - _PADDING)
        columns = [Column("path", "field", field)]
        for at in range(self._first, min(self._first + self._fitting, len(self._names))):
            label = shorten_middle(safe_text(self._names[at]), each)
            columns.append(Column(str(at), label, each))
        if columns != self.columns_shown:
            self.columns_shown = columns
            self.sort_by(None)

    def act_left(self) -> None:
        """Show the runs before."""
        self._first -= self._fitting
        self._fit(self.size.width)

    def act_right(self) -> None:
        """Show the runs that follow."""
        self._first += self._fitting
        self._fit(self.size.width)

    def why_not_mark(self) -> str | None:
        """Say why fields cannot be marked."""
        return "Nothing is done to several fields."

    def why_not_right(self) -> str | None:
        """Say why there are no more runs."""
        more = self._first + self._fitting < len(self._names)
        return None if more else "There are no more runs."
