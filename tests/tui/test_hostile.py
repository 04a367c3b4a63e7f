"""Whatever the service says is shown as text, on every screen, and does nothing to the terminal."""

from __future__ import annotations

import unicodedata

import pytest
from rich.cells import cell_len
from tui_looking import screen_lines, screen_text

NASTY = (
    "[red]x[/red] \x1b[31m\x1b]52;c;ZXZpbA==\x07\x1b]8;;http://e.vil\x1b\\\\link\x1b]8;;\x1b\\\\"
    "\u202eesrever\u2066\u200b\u200d\ufeff\x9b2J\r\n\t\x00\x7f"
)
LONG = "y" * 1_000_000
LABELS = ("plain [b]" + NASTY, "z" + LONG, NASTY)


def is_seen(character):
    """Tell whether a character shows, and does nothing else."""
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp")


def assert_harmless(app):
    """Every character on the screen is one that is seen, every line as wide as it must be."""
    lines = screen_lines(app)
    assert not [ascii(line) for line in lines if not all(map(is_seen, line))]
    assert {cell_len(line) for line in lines} == {app.size.width}


@pytest.fixture
def hostile(canned):
    """A service whose every text is hostile."""
    canned.features |= {"experiment_rows": {}, "activity": {}}
    for row, label in zip(canned.experiments, LABELS, strict=True):
        row.update(
            algorithm=label, environment=label, resource_id=label, error=label, warnings=[label]
        )
    canned.experiments[1]["name"] = NASTY
    canned.experiments[2]["name"] = LONG
    for row in canned.projects:
        row["description"] = NASTY + LONG
    canned.environments = {label: {label: {"validated": True}} for label in LABELS}
    canned.deployments[0].update(experiment_name=NASTY, algorithm=LONG, environment=NASTY)
    canned.checkpoints[0]["name"] = NASTY
    canned.log_lines = [NASTY, LONG, "[/b][bold", "ERROR " + NASTY]
    canned.dataset = {"name": NASTY, "rows": 1, "columns": [NASTY], "preview": [{NASTY: LONG}]}
    canned.datasets = [
        {"name": NASTY, "category": LONG, "rows": 1, "column_mapping": {NASTY: LONG}}
    ]
    return canned


async def test_every_screen_of_a_hostile_service(make_app, hostile, until):
    app = make_app()
    async with app.run_test(size=(160, 40)) as pilot:
        await until(pilot, lambda: "live" in screen_lines(app)[0])
        for key in "1234567":
            await pilot.press(key)
            await until(pilot, lambda: "Loading" not in screen_text(app))
            await pilot.press("j", "j")
            await pilot.pause(0.2)
            assert_harmless(app)
            await pilot.press("question_mark")
            await pilot.pause()
            assert_harmless(app)
            await pilot.press("escape")
        assert "\\x1b" not in app.title


async def test_every_tab_of_a_hostile_run(make_app, hostile, until):
    app = make_app(experiment="grid-dqn")
    async with app.run_test(size=(160, 40)) as pilot:
        await until(pilot, lambda: "fitness" in screen_text(app))
        for _ in range(6):
            await pilot.pause(0.2)
            assert_harmless(app)
            await pilot.press("tab")


async def test_dialogs_about_hostile_things(make_app, hostile, until):
    app = make_app()
    async with app.run_test(size=(160, 40)) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: "3" in screen_text(app) and app.screen.rows.row_count == 3)
        for key in ("x", "c", "p"):
            await pilot.press(key)
            await pilot.pause(0.2)
            assert_harmless(app)
            await pilot.press("escape")
            await pilot.pause()
        await pilot.press("ctrl+p")
        await pilot.pause(0.5)
        assert_harmless(app)


@pytest.mark.slow
async def test_a_hundred_thousand_rows(make_app, canned, until):
    canned.environments = {f"env-{at:06}": {"v1": {"validated": True}} for at in range(100_000)}
    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: app.screen.rows.row_count == 100_000, 60)
        await pilot.press("G")
        await until(pilot, lambda: "env-099999" in screen_text(app))
        await pilot.press("slash", *"env-0777", "enter")
        await until(pilot, lambda: app.screen.rows.row_count == 100, 20)
        assert_harmless(app)
