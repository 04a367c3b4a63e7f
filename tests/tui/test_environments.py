"""What random episodes and a profile tell of an environment, on a real Arena, by keys."""

from __future__ import annotations

import pytest
from tui_canned import DETAILS
from tui_looking import screen_text

from arena_sdk import ArenaClient, scaffold
from arena_tui.screens.environments import histogram
from arena_tui.stores.environments import frames_of
from arena_tui.stores.resources import fit


@pytest.fixture(scope="module")
def drawn(local_arena, tmp_path_factory):
    """An environment that was validated with random episodes, and profiled."""
    folder = tmp_path_factory.mktemp("source") / "drawn"
    scaffold.create(folder, name="drawn")
    with ArenaClient(local_arena.token, base_url=local_arena.url, request_timeout=120) as client:
        client.validate_environment(name="drawn", version="v1", source=folder, do_rollouts=True)
        client.profile_environment(name="drawn", version="v1")
        yield client.get_environment("drawn", "v1")


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (160, 60)])
async def test_random_episodes_and_what_fits_are_shown(local_app, drawn, until, size):
    app = local_app
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: "● live" in screen_text(app))
        await pilot.press("2")
        await until(pilot, lambda: "drawn" in screen_text(app))
        await pilot.press("i")
        for _ in range(50):  # what comes later makes the page longer
            if "episodes  100" in screen_text(app):
                break
            await pilot.press("pagedown")
            await pilot.pause(0.1)
        assert "episodes  100" in screen_text(app)
        assert sum(count for _, _, count in histogram(drawn["rollouts"]["returns"])) == 100
        if drawn["rollouts"]["animation"]:
            frame = app.screen.query_one("#animation")
            await until(pilot, lambda: frame.frame is not None)
        await pilot.press("escape", "5")
        await until(pilot, lambda: "local" in screen_text(app))
        await pilot.press("i")
        await until(pilot, lambda: "copies fit" in screen_text(app))
        assert "drawn v1" in screen_text(app)


async def test_which_algorithms_fit_is_shown_with_the_reasons(make_app, until, monkeypatch):
    rows = [
        {"algorithm": "DQN", "fits": True, "why": ""},
        {"algorithm": "TD3", "fits": False, "why": "TD3 cannot train on actions of Discrete(2)."},
    ]
    monkeypatch.setitem(DETAILS, "algorithms", rows)
    app = make_app()
    async with app.run_test(size=(160, 60)) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: "Algorithms  1 of 2 fit" in screen_text(app))
        assert "TD3 cannot train on actions" in screen_text(app)


def test_what_fits():
    tier = {"num_cpus": 8, "ram_gb": 4.0}
    profile = {"avg_cpu_per_env": 50.0, "memory_per_env_gb": 0.5, "steps_per_second": 1000.0}
    assert fit(tier, profile) == {"copies": 8, "steps_per_second": 8000.0}
    assert fit({"num_cpus": 2}, profile)["copies"] == 4
    assert fit(tier, {}) == {}
    assert fit({"num_cpus": 1, "ram_gb": 0.1}, profile)["copies"] == 0


def test_a_histogram_counts_everything_once():
    assert histogram([]) == []
    assert histogram([3.0, 3.0]) == [(3.0, 3.0, 2)]
    bins = histogram([0.0, 1.0, 2.0, 10.0, float("nan")])
    assert sum(count for _, _, count in bins) == 4
    assert bins[0][0] == 0.0
    assert bins[-1][1] == 10.0


@pytest.mark.parametrize("data", [b"", b"GIF89a", b"not a picture"])
def test_what_is_no_animation_has_no_frames(data):
    assert frames_of(data) == []
