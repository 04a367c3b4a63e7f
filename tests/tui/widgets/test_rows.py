"""A table keeps its cursor on the same row, whatever happens to the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rich.text import Text
from textual import on
from textual.app import App, ComposeResult
from textual.geometry import Region

from arena_tui.widgets.rows import Column, Rows

COLUMNS = [
    Column("name", "Name"),
    Column(
        "fitness", "Fitness", align="right", show=lambda v, row: "" if v is None else f"{v:.1f}"
    ),
    Column("state", "State", show=lambda v, row: Text(str(v), style="bold")),
]


def runs(*names: str, **values: Any) -> list[dict[str, Any]]:
    return [{"name": name, "fitness": float(at), "state": "running", **values}
            for at, name in enumerate(names)]  # fmt: skip


class Table(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.heard: list[tuple[str, str | None]] = []

    def compose(self) -> ComposeResult:
        yield Rows(COLUMNS)

    @on(Rows.Opened)
    def opened(self, event: Rows.Opened) -> None:
        self.heard.append(("opened", event.key))

    @on(Rows.Selected)
    def selected(self, event: Rows.Selected) -> None:
        if type(event) is Rows.Selected:
            self.heard.append(("selected", event.key))


def names(rows: Rows) -> list[str]:
    return [row["name"] for row in rows.rows_shown]


def cell(rows: Rows, row: int, column: int) -> str:
    """Return what is drawn of a cell; column 0 is that of the marks."""
    line = rows.render_line(1 + row - round(rows.scroll_y)).text
    left = sum(width + 2 for width in rows._widths[:column])
    return line[left : left + rows._widths[column] + 2].strip()


async def test_the_cursor_stays_on_its_row() -> None:
    async with Table().run_test(size=(80, 24)) as pilot:
        rows = pilot.app.query_one(Rows)
        rows.set_rows(runs("a", "b", "c", "d"))
        rows.focus()
        await pilot.press("j", "down")
        assert rows.selected_key == "c"
        rows.set_rows(runs("new", "a", "b", "c", "d"))
        assert rows.selected_key == "c"
        rows.set_rows(runs("d", "c"))
        assert rows.selected_key == "c"
        rows.set_rows(runs("d", "e"))
        assert rows.selected_key == "e"
        rows.set_rows([])
        assert rows.selected_key is None
        rows.set_rows(runs("a", "b"))
        assert rows.selected_key == "a"


async def test_a_row_that_is_to_come_is_waited_for() -> None:
    async with Table().run_test(size=(80, 24)) as pilot:
        rows = pilot.app.query_one(Rows)
        rows.set_rows(runs("a", "b"))
        assert not rows.select("c")
        rows.set_rows(runs("a", "b", "c"))
        assert rows.selected_key == "c"
        await pilot.pause()
        assert ("selected", "c") in pilot.app.heard


async def test_only_what_changed_is_drawn_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Table().run_test(size=(80, 24)) as pilot:
        rows = pilot.app.query_one(Rows)
        rows.set_rows(runs("a", "b", "c"))
        await pilot.pause()
        drawn: list[tuple[Any, ...]] = []
        monkeypatch.setattr(rows, "refresh", lambda *regions, **more: drawn.append(regions))
        new = runs("a", "b", "c")
        new[1]["fitness"] = 9.5
        rows.set_rows(new)
        assert drawn == [(Region(0, 2, 80, 1),)]
        assert cell(rows, 1, 2) == "9.5"


async def test_cells_of_rows_out_of_sight_are_not_made() -> None:
    made = []
    columns = [Column("name", "Name", 20, show=lambda value, row: made.append(value) or value)]

    class Long(App[None]):
        def compose(self) -> ComposeResult:
            yield Rows(columns)

    async with Long().run_test(size=(80, 24)) as pilot:
        rows = pilot.app.query_one(Rows)
        rows.set_rows(runs(*(f"row-{at}" for at in range(2_000))))
        await pilot.pause()
        rows.focus()
        await pilot.press("end", "pageup", "home", "pagedown")
        assert 0 < len(set(made)) < 120
        assert cell(rows, rows.cursor_row, 1) == f"row-{rows.cursor_row}"


async def test_the_mouse_moves_opens_and_sorts() -> None:
    async with Table().run_test(size=(80, 24)) as pilot:
        rows = pilot.app.query_one(Rows)
        rows.set_rows(runs("b", "a"))
        await pilot.pause()
        await pilot.hover(Rows, offset=(6, 2))
        await pilot.click(Rows, offset=(6, 2))
        assert rows.selected_key == "a"
        await pilot.click(Rows, offset=(6, 2))
        await pilot.pause()
        assert pilot.app.heard[-1] == ("opened", "a")
        await pilot.click(Rows, offset=(6, 0))
        assert names(rows) == ["a", "b"]
        await pilot.click(Rows, offset=(6, 0))
        assert names(rows) == ["b", "a"]
        assert "↓" in rows.render_line(0).text


async def test_rows_are_sorted_numbers_in_names_by_size_and_nothing_last() -> None:
    async with Table().run_test(size=(80, 24)) as pilot:
        rows = pilot.app.query_one(Rows)
        data = runs("step_1000", "step_900", "Step_20")
        data[0]["fitness"], data[1]["fitness"] = None, float("nan")
        rows.set_rows(data)
        rows.focus()
        await pilot.press("o")
        assert names(rows) == ["Step_20", "step_900", "step_1000"]
        await pilot.press("O")
        assert names(rows) == ["step_1000", "step_900", "Step_20"]
        rows.sort_by("fitness", reverse=True)
        assert names(rows)[0] == "Step_20"
        rows.sort_by(None)
        assert names(rows) == ["step_1000", "step_900", "Step_20"]


async def test_a_filter_hides_rows_and_marks_stay() -> None:
    async with Table().run_test(size=(80, 24)) as pilot:
        rows = pilot.app.query_one(Rows)
        rows.set_rows(runs("a", "b", "c"))
        rows.focus()
        await pilot.press("space", "space")
        assert rows.marked == {"a", "b"}
        rows.set_filter(lambda row: row["name"] != "a")
        assert names(rows) == ["b", "c"]
        assert [row["name"] for row in rows.marked_rows] == ["b", "a"]
        assert cell(rows, 0, 0) == "✓"
        rows.set_rows(runs("b", "c"))
        assert rows.marked == {"b"}


async def test_enter_opens_the_row_and_nothing_opens_nothing() -> None:
    async with Table().run_test(size=(80, 24)) as pilot:
        rows = pilot.app.query_one(Rows)
        rows.focus()
        await pilot.press("enter", "space")
        assert pilot.app.heard == []
        rows.set_rows(runs("a", "b"))
        await pilot.press("down", "enter")
        await pilot.pause()
        assert pilot.app.heard[-1] == ("opened", "b")


async def test_cells_are_literal_and_harmless() -> None:
    async with Table().run_test(size=(80, 24)) as pilot:
        rows = pilot.app.query_one(Rows)
        rows.set_rows([
            {"name": "[b]x[/b]\x1b[31m\n", "fitness": 1, "state": "\x1b]0;t\x07"},
            {"name": "ok", "fitness": 2, "state": None},
        ])  # fmt: skip
        await pilot.pause()
        assert cell(rows, 0, 1) == "[b]x[/b]␛[31m␊"
        assert cell(rows, 0, 3) == "␛]0;t"
        rows.set_rows([{"name": "y" * 1_000_000, "fitness": 2, "state": None}])
        await pilot.pause()
        assert len(rows.cell_text(0, 0)) < 3_000
        assert set(rows.render_line(1).text) == {" ", "y"}


async def test_a_refresh_of_two_thousand_rows_keeps_rows_and_cursor(stage: Callable) -> None:
    async with Table().run_test(size=(120, 36)) as pilot:
        rows = pilot.app.query_one(Rows)
        data = runs(*(f"env-{at}" for at in range(2_000)))
        rows.set_rows(data)
        rows.select("env-1500")
        await pilot.pause()
        rows.set_rows([dict(row) for row in data])
        await pilot.pause()
        assert rows.selected_key == "env-1500"
        assert len(rows.rows_shown) == 2_000
