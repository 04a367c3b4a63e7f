"""Options of a run: what is accepted, what is refused in one sentence, what is announced."""

from __future__ import annotations

from typing import Any

import pytest

from arena_sdk.local.api.errors import ApiError
from arena_sdk.local.run_options import described, read_options
from arena_sdk.local.services.views import experiment_json

from .conftest import Arena, manifest


def test_every_option_is_described_and_has_a_default() -> None:
    options = read_options({})
    assert set(described()) == {
        "priority", "cpus", "memory_gb", "auto_resume", "stop_on_divergence",
        "keep.last", "keep.best", "keep.every",
    }  # fmt: skip
    assert all(described().values())
    assert options.model_dump(exclude_defaults=True) == {}
    assert options.keep.everything
    assert read_options(None) == options


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "must be an object"),
        ({"prority": 1}, "options.prority is not known; the options are priority"),
        ({"priority": "high"}, "options.priority: .*, not 'high'"),
        ({"cpus": 0}, "options.cpus: .*greater than or equal to 1, not 0"),
        ({"keep": {"last": True}}, "options.keep.last"),
        ({"keep": {"first": 1}}, "options.keep.first is not known"),
        ({"memory_gb": float("nan")}, "options.memory_gb"),
    ],
)
def test_what_is_wrong_is_one_sentence(given: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        read_options(given)
    assert "\n" not in str(caught.value)


async def test_options_and_overrides_are_recorded(arena: Arena) -> None:
    options = {"priority": 3, "keep": {"last": 2}}
    await arena.submit("steady-one", options=options, overrides={"algorithm.lr": 0.1})
    row = await arena.row("steady-one")
    shown = await arena.database.read(lambda session: experiment_json(session.merge(row)))
    assert shown["options"] == options
    assert shown["overrides"] == {"algorithm.lr": 0.1}


@pytest.mark.parametrize("change", [{"options": {"prority": 1}}, {"overrides": [1]}])
async def test_bad_ones_are_refused_at_submission(arena: Arena, change: dict[str, Any]) -> None:
    with pytest.raises(ApiError) as caught:
        await arena.submit("steady-one", **change)
    assert caught.value.status == 422


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"cpus": 900}, "900 cores are asked for and this Arena gives runs 2 cores; ask for"),
        ({"memory_gb": 64.5}, "64.5 GiB are asked for and this Arena gives runs 64; ask for"),
    ],
)
async def test_more_than_there_is_never_holds_the_queue(
    arena: Arena, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(ApiError, match=words):
        await arena.submit("greedy", options=options)
    await arena.submit("steady-one", options={"cpus": 2, "memory_gb": 64.0})


async def test_a_tournament_larger_than_the_population_is_advised_against(arena: Arena) -> None:
    sent = {**manifest(), "tournament_selection": {"tournament_size": 20}}
    accepted = await arena.submit("steady-one", manifest=sent)
    (warning,) = accepted.warnings
    assert "tournament_size (20) is above training.pop_size (2)" in warning
