"""Settings, jumping and the palette, by keys alone."""

from __future__ import annotations

import pytest
from tui_looking import screen_lines, screen_text

from arena_tui import registry
from arena_tui.settings import Settings, load


async def type_text(pilot, text):
    for character in text:
        await pilot.press({" ": "space", ":": "colon"}.get(character, character))


async def test_theme_plots_and_refresh_take_effect_and_are_kept(make_app, until, arena_home):
    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: "● live" in screen_text(app))
        await pilot.press("f10")
        await until(pilot, lambda: "braille" in screen_text(app))
        await pilot.press("down", "enter")
        await until(pilot, lambda: "ascii" in screen_text(app) and app.screen.is_modal)
        await pilot.press("down", "down", "enter")
        await until(pilot, lambda: app.settings.plot_style == "ascii")
        assert app.plot_style.name == "ascii"
        await pilot.press("down", "enter")
        await until(pilot, lambda: "Seconds between two looks" in screen_text(app))
        await pilot.press(*["backspace"] * 5, "7", "enter")
        await until(pilot, lambda: app.hub.refresh_seconds == 7.0)
        await pilot.press("up", "up", "enter")
        await until(pilot, lambda: "ansi-dark" in screen_text(app))
        await pilot.press("home", "enter")
        await until(pilot, lambda: not app.screen.is_modal)
        assert app.theme == app.settings.theme
    kept = load()
    assert (kept.plot_style, kept.refresh, kept.theme) == ("ascii", 7.0, app.theme)


async def test_a_key_is_set_by_pressing_it_with_its_clash_told(make_app, until, arena_home):
    app = make_app()
    async with app.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: "● live" in screen_text(app))
        await pilot.press("f10")
        await until(pilot, lambda: "app.overview" in screen_text(app))
        await pilot.press("tab")
        app.screen.query_one("#keys").select("projects.new")
        await pilot.pause()
        await pilot.press("enter")
        await until(pilot, lambda: "A key for projects.new" in screen_text(app))
        await pilot.press("d")
        await until(pilot, lambda: "d is projects.default too" in screen_text(app))
        await pilot.press("ctrl+b")
        await until(pilot, lambda: "belongs to tmux" in screen_text(app))
        await pilot.press("f6", "enter")
        await until(pilot, lambda: app.keymap.get("projects.new") == "f6")
        assert load().keys == {"projects.new": "f6"}
        await pilot.press("4")
        await until(pilot, lambda: "scratch" in screen_text(app))
        await pilot.press("f6")
        await until(pilot, lambda: "New project" in screen_text(app))


async def test_clashes_of_a_key_map_of_the_file_are_shown(make_app, until):
    app = make_app(settings=Settings(keys={"projects.new": "x"}))
    async with app.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: "● live" in screen_text(app))
        await pilot.press("f10")
        await until(pilot, lambda: "2 with a clash" in screen_text(app))
        await pilot.press("u")
        await until(pilot, lambda: "no clash" in screen_text(app))


def test_no_key_of_ours_clashes_as_it_comes():
    from arena_tui.app import APP_ACTIONS
    from arena_tui.commands import clashes

    for spec in registry.SCREENS:
        assert clashes([*spec.load().all_actions(), *APP_ACTIONS], {}) == []


@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_every_pane_is_reached_by_a_letter(make_app, until, size):
    from arena_tui.screens.jump import LETTERS, targets

    app = make_app()
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "grid-dqn" in screen_text(app))
        wanted = targets(app.screen)
        assert len(wanted) >= 2
        for letter, widget in zip(LETTERS, wanted, strict=False):
            await pilot.press("ctrl+o")
            await until(pilot, lambda: app.screen.is_modal)
            assert f" {letter} " in screen_text(app)
            await pilot.press(letter)
            await until(pilot, lambda: not app.screen.is_modal)
            assert app.screen.focused is widget
        before = app.screen.focused
        await pilot.press("ctrl+o", "escape")
        await until(pilot, lambda: not app.screen.is_modal)
        assert app.screen.focused is before


async def test_the_palette_has_every_action_of_every_screen(make_app, until):
    from arena_tui.palette import Commands

    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: "grid-dqn" in screen_text(app))
        labels = {help_text for _, help_text, _ in Commands(app.screen)._entries()}
        for _, action in registry.all_actions():
            impossible = action.scope in ("overview", "screen", "list", "rows")
            assert not action.palette or impossible or action.help in labels, action.id


async def test_the_palette_does_what_belongs_to_another_screen(make_app, until):
    app = make_app()
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await until(pilot, lambda: "grid-dqn" in screen_text(app))
        await pilot.press("ctrl+p")
        await pilot.pause(0.3)
        await type_text(pilot, "projects: new")
        await until(pilot, lambda: "Projects: New" in screen_text(app))
        await pilot.pause(0.3)
        await pilot.press("enter")
        await until(pilot, lambda: "New project" in screen_text(app))
        assert app.current_mode == "projects"
        assert "4 Projects" in screen_lines(app)[1]
