"""The header tells the truth about the connection, and the last data stay."""

from __future__ import annotations

from tui_looking import screen_lines, screen_text


async def test_a_service_that_goes_away_and_comes_back(make_app, canned, until):
    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.press("4")
        await until(pilot, lambda: "scratch" in screen_text(app))
        canned.token = "another"
        await until(pilot, lambda: "signed out" in screen_lines(app)[0])
        assert "scratch" in screen_text(app)
        await until(pilot, lambda: "Shown as of" in screen_text(app))
        canned.token = "test-token"
        await until(pilot, lambda: "live" in screen_lines(app)[0], 20)
        await until(pilot, lambda: "Shown as of" not in screen_text(app))


async def test_no_service_at_all(make_hub, until):
    from arena_sdk import AsyncArenaClient
    from arena_tui.app import ArenaApp
    from arena_tui.stores.hub import Hub

    hub = Hub(lambda: AsyncArenaClient("x", base_url="http://127.0.0.1:9"), refresh_seconds=0.3)
    app = ArenaApp(hub)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "reconnecting" in screen_lines(app)[0], 20)
        await until(pilot, lambda: "cannot be reached" in screen_text(app))
        await pilot.press("6")
        await until(pilot, lambda: "cannot be reached" in screen_text(app))


async def test_a_service_without_live_metrics_is_polled(make_app, canned, until):
    canned.features = {}
    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: "polling" in screen_lines(app)[0])


async def pressed(pilot, canned, until, key, holds):
    """Press a key while a slow request is on its way; the key is answered before the request."""
    await until(pilot, lambda: canned.waiting)
    await pilot.press(key)
    await until(pilot, holds, 1.5)
    assert canned.waiting


async def test_keys_are_answered_while_the_service_takes_two_seconds(make_app, canned, until):
    canned.delay = 2.0
    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        assert "connecting" in screen_lines(app)[0]
        await pressed(pilot, canned, until, "6", lambda: app.current_mode == "experiments")
        await pressed(pilot, canned, until, "question_mark", lambda: app.screen.is_modal)
        await pilot.press("escape")
        await until(pilot, lambda: "live" in screen_lines(app)[0], 20)
        await until(pilot, lambda: "grid-dqn" in screen_text(app), 20)
        await pressed(pilot, canned, until, "j", lambda: app.screen.rows.cursor_row == 1)
        canned.delay = 0.0


async def test_a_service_that_comes_and_goes_all_the_while(make_app, canned, until):
    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: "grid-dqn" in screen_text(app))
        for number in range(28):
            canned.down = number % 2 == 0
            await pilot.press("1234567"[number % 7])
            assert app.current_mode == list(app.MODES)[number % 7]
            await pilot.pause(0.05)
        canned.down = False
        await pilot.press("6")
        await until(pilot, lambda: "live" in screen_lines(app)[0], 30)
        await until(pilot, lambda: "grid-dqn" in screen_text(app), 20)
        await until(pilot, lambda: "Shown as of" not in screen_text(app), 20)


async def test_errors_of_the_service_are_said_and_pass(make_app, canned, until):
    canned.broken = True
    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        for key in "123467":
            await pilot.press(key)
            await until(pilot, lambda: "It is broken." in screen_text(app))
            # It answers, if not well: that is no matter of the connection.
            assert "live" in screen_lines(app)[0]
        canned.broken = False
        await until(pilot, lambda: "grid-old" in screen_text(app))
        await pilot.press("6")
        await until(pilot, lambda: "grid-dqn" in screen_text(app))
        assert "It is broken." not in screen_text(app)


async def test_a_service_that_is_gone_and_comes_back_elsewhere(canned, until):
    from contextlib import AsyncExitStack

    from tui_canned import TOKEN, serve

    from arena_sdk import AsyncArenaClient
    from arena_tui.app import ArenaApp
    from arena_tui.stores.hub import Hub

    first = AsyncExitStack()
    urls = [await first.enter_async_context(serve(canned))]
    hub = Hub(lambda: AsyncArenaClient(TOKEN, base_url=urls[-1]), refresh_seconds=0.3)
    app = ArenaApp(hub)
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.press("6")
        await until(pilot, lambda: "grid-dqn" in screen_text(app))
        await first.aclose()
        await until(pilot, lambda: "reconnecting" in screen_lines(app)[0], 20)
        await until(pilot, lambda: "Shown as of" in screen_text(app))
        assert "grid-dqn" in screen_text(app)
        await pilot.press("question_mark")
        await until(pilot, lambda: app.screen.is_modal, 2)
        await pilot.press("escape")
        async with serve(canned) as url:
            urls.append(url)
            await until(pilot, lambda: "live" in screen_lines(app)[0], 40)
            await until(pilot, lambda: "Shown as of" not in screen_text(app), 20)


async def test_asking_again_while_signed_out_stops_nothing(make_app, canned, until):
    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: "grid-dqn" in screen_text(app))
        canned.token = "another"
        await until(pilot, lambda: "signed out" in screen_lines(app)[0])
        await until(pilot, lambda: app.screen.is_modal)
        await pilot.press("escape", "r", "6")
        await until(pilot, lambda: app.current_mode == "experiments")
        await pilot.press("r", "1")
        await until(pilot, lambda: app.current_mode == "overview")


async def test_a_game_begins_again_by_itself_once_the_service_is_back(make_app, canned, until):
    from arena_tui.screens.playground import PlaygroundScreen

    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: "live" in screen_lines(app)[0])
        canned.token = "another"
        await until(pilot, lambda: "signed out" in screen_lines(app)[0])
        await app.open("agents", lambda: PlaygroundScreen("grid-old"))
        await until(pilot, lambda: "failed" in screen_text(app))
        canned.token = "test-token"
        await until(pilot, lambda: "playing" in screen_text(app), 30)


def test_what_waits_for_the_service_is_done_once_it_was_gone_and_is_back():
    from arena_tui.stores.connection import Connection

    connection, done = Connection(), []
    connection.succeeded()
    connection.once_back(lambda: done.append("first"))
    forget = connection.once_back(lambda: done.append("second"))
    connection.succeeded()
    connection.lost("It is gone.")
    forget()
    assert done == []
    connection.succeeded()
    connection.lost("It is gone again.")
    connection.succeeded()
    assert done == ["first"]
