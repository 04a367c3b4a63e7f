"""Apps of one widget, and a terminal that is the same everywhere."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from textual.app import App, ComposeResult
from textual.widget import Widget

from arena_tui import theme
from arena_tui.plotstyle import BRAILLE, PlotStyle


class Stage(App[None]):
    """Shows what it is given, under our dark theme."""

    def __init__(self, *widgets: Widget, style: PlotStyle = BRAILLE, light: bool = False) -> None:
        super().__init__()
        self._widgets = widgets
        self._light = light
        self.plot_style = style
        self.heard: list[object] = []

    def compose(self) -> ComposeResult:
        """Show the widgets."""
        yield from self._widgets

    def on_mount(self) -> None:
        """Take our theme."""
        theme.register(self)
        self.theme = (theme.LIGHT if self._light else theme.DARK).name


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what the terminal of whoever runs the tests can do."""
    for name in ("NO_COLOR", "TMUX", "STY", "KITTY_WINDOW_ID", "TERM_PROGRAM", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")


@pytest.fixture
def stage() -> Callable[..., Stage]:
    """Return what makes an app of some widgets."""
    return Stage
