"""The main job by keys alone, on the small Arena."""

from __future__ import annotations

import pytest
from tui_looking import screen_lines, screen_text


async def type_text(pilot, text):
    for character in text:
        await pilot.press({"-": "minus", ".": "full_stop", " ": "space"}.get(character, character))


def sent(canned, key):
    return [body for body in canned.bodies if body["key"] == key]


async def test_a_project_is_made_set_as_default_and_deleted(make_app, canned, until):
    app = make_app()
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await pilot.press("4")
        await until(pilot, lambda: "scratch" in screen_text(app))
        await pilot.press("n")
        await until(pilot, lambda: "New project" in screen_text(app))
        await type_text(pilot, "mine")
        await pilot.press("enter")
        await until(pilot, lambda: "Made project mine" in screen_text(app))
        assert sent(canned, "POST /projects/create")[0]["name"] == "mine"
        await pilot.press("d")
        await until(pilot, lambda: app.hub.projects.default == "mine")
        assert "mine" in screen_lines(app)[0]
        await pilot.press("x")
        await until(pilot, lambda: "Delete project mine?" in screen_text(app))
        await pilot.press("tab", "enter")
        await until(pilot, lambda: len(canned.projects) == 2)


async def test_a_project_with_runs_wants_its_name_typed(make_app, canned, until):
    app = make_app()
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await pilot.press("4")
        await until(pilot, lambda: app.hub.experiments.value and "scratch" in screen_text(app))
        await pilot.press("x")
        await until(pilot, lambda: "experiment grid-dqn" in screen_text(app))
        await type_text(pilot, "wrong")
        await pilot.press("enter")
        await pilot.pause()
        assert len(canned.projects) == 2
        await pilot.press(*["backspace"] * 5)
        await type_text(pilot, "merge-ppo")
        await pilot.press("enter")
        await until(pilot, lambda: len(canned.projects) == 1)


async def test_a_bad_name_is_refused_in_the_form(make_app, canned, until):
    app = make_app()
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await pilot.press("4")
        await until(pilot, lambda: "scratch" in screen_text(app))
        await pilot.press("n")
        await until(pilot, lambda: "New project" in screen_text(app))
        await type_text(pilot, "a/b")
        await pilot.press("enter")
        await until(pilot, lambda: "position 2" in screen_text(app))
        assert not sent(canned, "POST /projects/create")


async def test_a_run_is_stopped_and_resumed_with_a_new_budget(make_app, canned, until):
    app = make_app()
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await pilot.press("6")
        await until(pilot, lambda: "grid-dqn" in screen_text(app))
        await pilot.press("s")
        await until(pilot, lambda: "Stop grid-dqn?" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: "stopped" in screen_text(app))
        await pilot.press("u")
        await until(pilot, lambda: "Resume grid-dqn" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: sent(canned, "POST /experiments/jobs/resume"))
        assert sent(canned, "POST /experiments/jobs/resume")[0]["max_steps"] == 50_000


async def test_why_a_key_does_nothing_is_said(make_app, until):
    app = make_app()
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await pilot.press("6")
        await until(pilot, lambda: "merge-bad" in screen_text(app))
        await pilot.press("G", "s")
        await until(pilot, lambda: "Only a run that is queued or running" in screen_text(app))


async def test_a_checkpoint_is_deployed(make_app, canned, until):
    app = make_app()
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await pilot.press("6")
        await until(pilot, lambda: "grid-dqn" in screen_text(app))
        await pilot.press("d")
        await until(pilot, lambda: "Deploy an agent of grid-dqn" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: app.current_mode == "agents")
        assert sent(canned, "POST /inference/deploy")[0]["checkpoint"] is None
        await until(pilot, lambda: "grid-dqn" in screen_text(app))


async def test_a_new_experiment_from_a_file_with_a_typo_mended(make_app, canned, until, tmp_path):
    from arena_tui.stores.templates import DQN

    (tmp_path / "mine.yaml").write_text(DQN.replace("max_steps", "max_stepps"))
    app = make_app()
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await pilot.press("6")
        await until(pilot, lambda: "grid-dqn" in screen_text(app))
        await pilot.press("n")
        await until(pilot, lambda: "It is good" in screen_text(app))
        await pilot.press("m")
        await until(pilot, lambda: "Which manifest?" in screen_text(app))
        await type_text(pilot, "/mine.yaml")
        await pilot.press("enter")
        await until(pilot, lambda: "max_stepps" in screen_text(app))
        await until(pilot, lambda: "to mend" in screen_text(app))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Mend the manifest first" in screen_text(app))
        assert not sent(canned, "POST /experiments/jobs/submit")
        await pilot.press("enter")  # goes to the line of the problem
        await pilot.press("end", *["left"] * 9, "backspace")
        await until(pilot, lambda: "It is good" in screen_text(app))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: sent(canned, "POST /experiments/jobs/submit"))
        body = sent(canned, "POST /experiments/jobs/submit")[0]
        assert body["resource_id"] == "local"
        assert body["project"] == "merge-ppo"
        await until(pilot, lambda: "run-1" in screen_lines(app)[1])


async def test_a_folder_is_validated_with_its_checks_shown_live(make_app, until, tmp_path):
    source = tmp_path / "my-env"
    source.mkdir()
    (source / "env.py").write_text("import gymnasium\n")
    app = make_app()
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: "merge" in screen_text(app))
        await pilot.press("v")
        await until(pilot, lambda: "Validate which folder?" in screen_text(app))
        await type_text(pilot, "/my-env")
        await pilot.press("enter")
        await until(pilot, lambda: "Uploads 1 files" in screen_text(app))
        assert "env.py" in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: "obs is float64" in screen_text(app))
        await until(pilot, lambda: "Not valid: Step." in screen_text(app))
        await pilot.press("1")
        await until(pilot, lambda: "validate my-env" in screen_text(app))


async def test_the_playground_is_steered(make_app, canned, until):
    app = make_app()
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await pilot.press("7")
        await until(pilot, lambda: "grid-old" in screen_text(app))
        await pilot.press("p")
        await until(pilot, lambda: "return so far" in screen_text(app))
        await until(pilot, lambda: "episode 3 step 12" in screen_text(app))
        await pilot.press("space")
        await until(pilot, lambda: {"cmd": "pause"} in canned.commands)
        await pilot.press("full_stop")
        await until(pilot, lambda: {"cmd": "step"} in canned.commands)
        await pilot.press("plus")
        await until(pilot, lambda: any(c["cmd"] == "speed" for c in canned.commands))
        await pilot.press("0")
        await until(pilot, lambda: {"cmd": "reset", "seed": None} in canned.commands)
        await pilot.press("c")
        await until(pilot, lambda: "random mean 1.00 of 10" in screen_text(app))


async def test_read_only_refuses_every_change(make_app, canned, until):
    app = make_app(readonly=True)
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await pilot.press("6")
        await until(pilot, lambda: "grid-dqn" in screen_text(app))
        assert "read-only" in screen_lines(app)[0]
        for key in "sdn":
            await pilot.press(key)
            await until(pilot, lambda: "--readonly" in screen_text(app))
        assert not canned.bodies
        assert " s stop" not in screen_lines(app)[-1]


@pytest.mark.parametrize("keys", [("ctrl+p",), ("colon",)])
async def test_the_palette_goes_to_anything_by_name(make_app, until, keys):
    app = make_app()
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await until(pilot, lambda: "grid-dqn" in screen_text(app))
        await pilot.press(*keys)
        await pilot.pause(0.2)
        await type_text(pilot, "experiment grid-old")
        await until(pilot, lambda: "experiment grid-old" in screen_text(app))
        await pilot.pause(0.3)
        await pilot.press("enter")
        await until(pilot, lambda: "grid-old" in screen_lines(app)[1])


async def test_help_lists_the_keys_of_the_screen(make_app, until):
    app = make_app()
    async with app.run_test(size=(120, 50), notifications=True) as pilot:
        await pilot.press("4")
        await until(pilot, lambda: "scratch" in screen_text(app))
        await pilot.press("question_mark")
        await until(pilot, lambda: "projects.default" in screen_text(app))
        assert "Make this the default project." in screen_text(app)
        await pilot.press("escape")
        await until(pilot, lambda: "projects.default" not in screen_text(app))


async def test_a_filter_survives_going_elsewhere(make_app, until):
    app = make_app()
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await pilot.press("6")
        await until(pilot, lambda: "merge-bad" in screen_text(app))
        await pilot.press("slash")
        await type_text(pilot, "state:failed")
        await pilot.press("enter")
        await until(pilot, lambda: "grid-dqn" not in "\n".join(screen_lines(app)[2:]))
        await pilot.press("1", "6")
        await until(pilot, lambda: "1 of 3" in screen_text(app))
        await pilot.press("slash", "escape")
        await until(pilot, lambda: "grid-old" in screen_text(app))
