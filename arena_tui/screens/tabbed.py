"""A screen of several tabs of which one is in view."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.widgets import ContentSwitcher

from arena_tui.screens.base import ArenaScreen
from arena_tui.screens.tabstrip import TabStrip


class TabbedScreen(ArenaScreen):
    """Mixed into screens that hold a `TabStrip` and a `ContentSwitcher` with the same ids.

    A subclass gives `TABS` as (id, name, selector of what has the focus there at first), and an
    action of the verbs `next` and `previous` each.
    """

    TABS: ClassVar[tuple[tuple[str, str, str], ...]] = ()

    @property
    def tab(self) -> str:
        """The tab in view."""
        return self.query_one(TabStrip).lit if self.is_mounted else self.TABS[0][0]

    def strip_of_tabs(self) -> TabStrip:
        """Make the line of names."""
        return TabStrip([(tab, name) for tab, name, _ in self.TABS], id="tabs")

    @on(TabStrip.Chosen)
    def _tab_chosen(self, event: TabStrip.Chosen) -> None:
        self.query_one("#switch", ContentSwitcher).current = event.tab
        self.set_focus(None)
        self.focus_tab()
        self.rewatch()

    def focus_tab(self) -> None:
        """Give the focus to what it belongs to in the tab in view."""
        main = self.query_one(next(item[2] for item in self.TABS if item[0] == self.tab))
        if main.focusable:
            main.focus()

    def act_next(self) -> None:
        """Go to the next tab."""
        self.query_one(TabStrip).step(1)

    def act_previous(self) -> None:
        """Go to the tab before."""
        self.query_one(TabStrip).step(-1)
