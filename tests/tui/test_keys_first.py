"""Drawing and collecting wait while the user is at the keys."""

from __future__ import annotations

import gc
from time import monotonic
from typing import Any

import pytest
from textual import events

from arena_tui import collecting
from arena_tui.collecting import Collector
from arena_tui.screens.help import HelpDialog
from arena_tui.widgets import keys_first


class Timers:
    """An app as far as a collector knows one."""

    def set_interval(self, seconds: float, call: Any) -> None:
        self.called = (seconds, call)


@pytest.fixture
def app() -> Timers:
    return Timers()


def test_a_drawing_waits_for_a_moment_after_a_key_and_not_for_ever(app: Timers) -> None:
    due = monotonic()
    assert keys_first.wait(app, due) <= 0
    keys_first.hear(app, events.Key("j", "j"))
    assert 0 < keys_first.wait(app, due) <= keys_first.SECONDS_AFTER_A_KEY
    assert keys_first.wait(app, due - keys_first.LONGEST_WAIT) <= 0
    assert keys_first.wait(app, due + 5) > 4


def test_what_is_no_key_holds_nothing_up(app: Timers) -> None:
    keys_first.hear(app, events.Mount())
    assert keys_first.wait(app, monotonic()) <= 0


def test_garbage_is_collected_between_keys(app: Timers, monkeypatch: pytest.MonkeyPatch) -> None:
    # Frozen objects of other tests would stay for the life of this process.
    monkeypatch.setattr(gc, "freeze", lambda: None)
    was_enabled = gc.isenabled()
    try:
        collector = Collector(app)
        assert not gc.isenabled()
        assert collector.turn() == 0
        keys_first.hear(app, events.Key("j", "j"))
        assert collector.turn() is None
        monkeypatch.setattr(collecting, "AT_MOST", 0)
        assert collector.turn() == 0
        monkeypatch.setattr(collecting, "SECONDS_BETWEEN_WHOLE", 0.0)
        assert collector.turn() == 2
    finally:
        if was_enabled:
            gc.enable()


async def test_a_dialog_lays_out_what_is_behind_it_only_at_another_size(make_app, until) -> None:
    app = make_app(experiment="grid-dqn")
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: app.screen.id != "_default" and app.screen.focused is not None)
        behind = app.screen
        laid_out: list[Any] = []
        lay_out = behind._screen_resized
        behind._screen_resized = lambda size: (laid_out.append(size), lay_out(size))
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpDialog))
        assert laid_out == []
        await pilot.resize_terminal(100, 30)
        await until(pilot, lambda: laid_out and laid_out[-1] == (100, 30))
