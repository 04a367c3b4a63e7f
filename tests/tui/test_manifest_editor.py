"""The manifest editor, by keys: completion, problems, explanation, defaults, and drafts."""

from __future__ import annotations

import pytest
from tui_looking import screen_lines, screen_text

from arena_tui.settings import Memory
from arena_tui.stores.drafts import KEEP, Drafts

NAMES = {"-": "minus", ".": "full_stop", " ": "space", ":": "colon", "_": "underscore"}


async def type_text(pilot, text):
    for character in text:
        await pilot.press(NAMES.get(character, character))


async def open_editor(app, pilot, until):
    await until(pilot, lambda: "live" in screen_text(app))
    await pilot.press("6", "n")
    await until(pilot, lambda: "It is good" in screen_text(app))


async def test_a_key_is_completed_with_its_bounds_in_sight(make_app, until):
    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await open_editor(app, pilot, until)
        await pilot.press("e", "down", "end", "enter")
        await type_text(pilot, "gam")
        await until(pilot, lambda: "at least 0 and at most 1" in screen_text(app))
        await pilot.press("enter")
        await type_text(pilot, "0.97")
        await until(pilot, lambda: "  gamma: 0.97" in app.screen.text)
        await until(pilot, lambda: "It is good" in screen_text(app))


async def test_values_are_offered_and_the_arrows_choose(make_app, until):
    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await open_editor(app, pilot, until)
        await pilot.press("e", "down", "end", *["backspace"] * 3)
        await pilot.press("ctrl+n")
        await until(pilot, lambda: "CQN" in screen_text(app))
        await pilot.press("down", "up", "down", "escape")
        await until(pilot, lambda: not app.screen.editor.is_offering)
        assert app.screen.editor.has_focus
        await type_text(pilot, "rainb")
        await until(pilot, lambda: "Rainbow DQN" in screen_text(app))
        await pilot.press("tab")
        await until(pilot, lambda: "name: Rainbow DQN" in app.screen.text)


async def test_problems_are_marked_at_their_lines_and_gone_to(make_app, until):
    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await open_editor(app, pilot, until)
        await pilot.press("e", *["down"] * 5, "end", "minus")  # num_envs: 8-
        await pilot.press("ctrl+home", *["down"] * 10, "end", "x")  # pop_size: 4x
        await pilot.press("ctrl+home", "escape")
        await until(pilot, lambda: "2 to mend" in screen_text(app))
        marked = [line for line in screen_lines(app) if "✗" in line[:8] and "│" in line]
        assert any("num_envs: 8-" in line for line in marked)
        assert any("pop_size: 4x" in line for line in marked)
        for key, line in (("f8", 5), ("f8", 10), ("f9", 5)):
            await pilot.press(key)
            assert app.screen.editor.cursor_location[0] == line
            message = app.screen.diagnosis.on_line(line + 1).message
            await until(pilot, lambda said=message: said[:30] in screen_text(app))


async def test_a_field_is_explained(make_app, until):
    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await open_editor(app, pilot, until)
        await pilot.press("e", *["down"] * 10, "end")
        await until(pilot, lambda: "training.pop_size" in screen_text(app))
        await pilot.press("f2")
        await until(
            pilot, lambda: "mutated by" in screen_text(app) or "default" in screen_text(app)
        )
        await pilot.press("escape")
        await until(pilot, lambda: app.screen.SCREEN == "new")


async def test_what_is_not_saved_is_asked_for_and_comes_back_in_another_start(
    make_app, until, tmp_path
):
    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await open_editor(app, pilot, until)
        await pilot.press("e", "ctrl+end")
        await type_text(pilot, "# mine")
        await until(pilot, lambda: "not saved" in screen_text(app))
        await pilot.press("escape", "escape")
        await until(pilot, lambda: "The manifest is not saved" in screen_text(app))
        await pilot.press("enter")  # stay here
        await until(pilot, lambda: app.screen.SCREEN == "new")
        await pilot.press("6")  # going elsewhere must lose nothing either
        await until(pilot, lambda: app.screen.SCREEN == "experiments")
    again = make_app()
    again.memory = Memory(tmp_path / "state.json")
    async with again.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: "live" in screen_text(again))
        await pilot.press("6", "n")
        await until(pilot, lambda: again.screen.SCREEN == "new" and "# mine" in again.screen.text)
        await pilot.press("t")
        await until(pilot, lambda: "Begin with" in screen_text(again))
        await pilot.press("down", "enter")
        await until(pilot, lambda: "name: PPO" in again.screen.text)
        await pilot.press("b")
        await until(pilot, lambda: "Go on with" in screen_text(again))
        await pilot.press("enter")
        await until(pilot, lambda: "# mine" in again.screen.text)
        await pilot.press("escape")
        await until(pilot, lambda: "The manifest is not saved" in screen_text(again))
        await pilot.press("up", "enter")  # throw it away
        await until(pilot, lambda: again.screen.SCREEN == "experiments")
        assert not Drafts(again.memory).all


async def test_defaults_are_fetched_from_the_service(make_app, canned, until):
    canned.defaults = {
        "algorithm": {"name": "DQN", "lr": 0.00042},
        "environment": {"name": "CartPole-v1", "num_envs": 3},
    }
    app = make_app()
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await open_editor(app, pilot, until)
        await pilot.press("f")
        await until(pilot, lambda: "Defaults of the service" in screen_text(app))
        await pilot.press("tab", "enter")
        await until(pilot, lambda: "lr: 0.00042" in screen_text(app))
        assert ("GET", "/experiments/run-spec/default") in canned.requests


async def test_defaults_of_our_own_where_the_service_has_none(make_app, until):
    app = make_app()
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await open_editor(app, pilot, until)
        await pilot.press("f")
        await until(pilot, lambda: "Defaults of the service" in screen_text(app))
        await pilot.press("tab", "enter")
        await until(pilot, lambda: "Defaults of this program" in screen_text(app))
        await until(pilot, lambda: "It is good" in screen_text(app))


async def test_a_manifest_is_saved_and_leaves_no_draft(make_app, until, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    app = make_app()
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await open_editor(app, pilot, until)
        await pilot.press("e", "ctrl+end")
        await type_text(pilot, "# x")
        await pilot.press("escape", "w")
        await until(pilot, lambda: "Save the manifest" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: (tmp_path / "manifest.yaml").exists())
        assert (tmp_path / "manifest.yaml").read_text().endswith("# x")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen.SCREEN == "experiments")
        assert not Drafts(app.memory).all


@pytest.mark.parametrize("memory", [None, "file"])
def test_the_oldest_draft_goes_first(tmp_path, memory):
    drafts = Drafts(Memory(tmp_path / "m.json") if memory else None)
    for number in range(KEEP + 3):
        drafts.keep(str(number), f"text {number}")
    assert len(drafts.all) == KEEP
    assert {row["id"] for row in drafts.all} == {str(n) for n in range(3, KEEP + 3)}
    drafts.drop("5")
    assert "5" not in {row["id"] for row in drafts.all}


@pytest.mark.slow
async def test_defaults_of_a_real_arena_are_edited_and_submitted(local_app, until):
    app = local_app
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await open_editor(app, pilot, until)
        await pilot.press("f")
        await until(pilot, lambda: "Defaults of the service" in screen_text(app))
        await pilot.press("tab", "enter")
        await until(pilot, lambda: "Defaults for DQN from" in screen_text(app), 30)
        await until(pilot, lambda: "It is good" in screen_text(app))
        await pilot.press("p")
        await until(pilot, lambda: "How to run it" in screen_text(app))
        await type_text(pilot, "edited")
        await pilot.press("enter", "ctrl+s")
        await until(pilot, lambda: "project" in screen_text(app).lower())
        if "A first project" in screen_text(app):
            await pilot.press("enter")
        await until(pilot, lambda: app.screen.SCREEN == "experiment", 60)
        await until(pilot, lambda: "edited" in screen_text(app))
        await pilot.press("s")
        await until(pilot, lambda: "Stop edited" in screen_text(app), 60)
        await pilot.press("enter")
        await until(pilot, lambda: "stopped" in screen_text(app), 60)
        assert not Drafts(app.memory).all
