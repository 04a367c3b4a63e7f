"""Every screen shows what the service says, at any size, and nothing sticks out."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from textual import events
from textual.geometry import Size
from tui_looking import screen_lines, screen_text

SIZES = [(80, 24), (120, 36), (200, 50)]
TABS = {
    "1": ("grid-dqn", "Machine"),
    "2": ("merge", "v2"),
    "3": ("offers no datasets",),
    "4": ("merge-ppo", "scratch"),
    "5": ("arena-medium", "2.41"),
    "6": ("grid-dqn", "merge-bad", "failed"),
    "7": ("grid-old", "running"),
}


def assert_whole(app):
    """Every line of the screen is exactly as wide as the terminal."""
    width, height = app.size
    lines = screen_lines(app)
    assert len(lines) == height
    assert {cell_len(line) for line in lines} == {width}


@pytest.mark.parametrize("size", SIZES)
async def test_all_seven_screens_show_real_data(make_app, until, size):
    app = make_app()
    async with app.run_test(size=size) as pilot:
        for key, words in TABS.items():
            await pilot.press(key)
            await until(pilot, lambda words=words: all(w in screen_text(app) for w in words))
            assert_whole(app)
            assert "live" in screen_lines(app)[0]


@pytest.mark.parametrize("size", SIZES)
async def test_an_experiment_shows_its_tabs(make_app, until, size):
    app = make_app(experiment="grid-dqn")
    async with app.run_test(size=size) as pilot:
        expected = ("fitness", "member", "lr", "step_12000", "generation 12 done", "algorithm:")
        for words in expected:
            await until(pilot, lambda words=words: words in screen_text(app))
            assert_whole(app)
            await pilot.press("tab")


async def test_text_of_the_service_is_literal(make_app, until):
    app = make_app()
    async with app.run_test(size=(200, 50)) as pilot:
        await until(pilot, lambda: "[bold]" in screen_text(app))
        assert "\x1b" not in screen_text(app)
        assert "not red[/]" in screen_text(app)


async def test_the_header_counts_what_runs_and_names_the_project(make_app, until):
    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: "1 running" in screen_lines(app)[0])
        assert "merge-ppo" in screen_lines(app)[0]
        await until(pilot, lambda: "credits 120.50" in screen_lines(app)[0])


async def test_a_missing_experiment_is_said_not_raised(make_app, until):
    app = make_app(experiment="nothing-like-it")
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "There is no experiment nothing-like-it" in screen_text(app))


async def test_a_size_that_the_terminal_no_longer_has_is_not_laid_out(make_app, until):
    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: "grid-dqn" in screen_text(app))
        sizes = []
        refresh = app.screen._refresh_layout

        def noted(size=None, **options):
            sizes.append(size)
            refresh(size, **options)

        app.screen._refresh_layout = noted
        for width in (60, 90, 120):
            app.screen.post_message(events.Resize(Size(width, 36), Size(width, 36)))
            await pilot.pause(0.1)
        assert set(sizes) <= {None, app.size}
        assert app.screen.size == app.size == Size(120, 36)


async def test_a_size_that_took_the_place_of_the_terminals_is_made_up_for(make_app, until):
    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: "grid-dqn" in screen_text(app))
        screen = app.screen
        screen._size = Size(90, 20)  # as it was before a Resize of 120×36 that is on its way
        screen.post_message(events.Resize(Size(120, 36), Size(120, 36)))
        screen.post_message(events.Resize(Size(90, 20), Size(90, 20)))  # replaces it in the queue
        await until(pilot, lambda: screen.size == Size(120, 36))
