"""Sweeps: which children a manifest has, what they are called, and how they are submitted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import JSONResponse

from arena_sdk import ArenaClient
from arena_sdk.errors import ArenaConfigError, ArenaTrainingError
from arena_sdk.manifest import ManifestError
from arena_sdk.sweeps import expand, free_name, value_of, values_of
from tests.sdk.sdk_service import Service, ndjson, running

BASE: dict[str, Any] = {
    "algorithm": {"name": "DQN", "lr": 0.01},
    "environment": {"name": "CartPole-v1"},
    "training": {"population_size": 4},
}


def test_every_combination_is_a_child_with_its_overrides() -> None:
    children = expand(
        BASE,
        overrides={"training.max_steps": 5000},
        seeds=[1, 2],
        grid={"algorithm.lr": [1e-3, 1e-4]},
        name="walk",
    )
    assert [child.name for child in children] == [
        "walk-lr-0.001-seed-1",
        "walk-lr-0.001-seed-2",
        "walk-lr-0.0001-seed-1",
        "walk-lr-0.0001-seed-2",
    ]
    assert children[3].overrides == {
        "training.max_steps": 5000,
        "algorithm.lr": 1e-4,
        "mutation.rand_seed": 2,
    }
    assert children[3].manifest["algorithm"] == {"name": "DQN", "lr": 1e-4}
    assert children[3].manifest["mutation"] == {"rand_seed": 2}
    assert BASE["algorithm"]["lr"] == 0.01


def test_another_spelling_of_a_field_is_replaced() -> None:
    (child,) = expand(BASE, overrides={"training.pop_size": 8})
    assert child.manifest["training"] == {"pop_size": 8}
    (child,) = expand(BASE, overrides={"training.population_size": 8})
    assert child.overrides == {"training.pop_size": 8}
    assert child.name is None


def test_a_file_gives_the_names_and_long_ones_stay_apart(tmp_path: Path) -> None:
    import yaml

    path = tmp_path / "my first.yaml"
    path.write_text(yaml.safe_dump(BASE))
    assert [c.name for c in expand(path, seeds=[1])] == ["my-first-seed-1"]
    names = [c.name for c in expand(path, seeds=range(12), name="x" * 99)]
    assert len(set(names)) == 12
    assert all(name is not None and len(name) <= 100 for name in names)
    assert free_name("run", ["run", "run-2"]) == "run-3"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"overrides": {"lr": 1}}, "section.key"),
        ({"overrides": {"algorithm.lr.x": 1}}, "not a section"),
        ({"overrides": {"algorithm.lr": 1}, "grid": {"algorithm.lr": [1]}}, "set and varied"),
        ({"seeds": [1], "grid": {"mutation.rand_seed": [1]}}, "given twice"),
        ({"overrides": {"training.pop_size": 1, "training.population_size": 2}}, "given twice"),
        ({"grid": {"algorithm.lr": []}}, "no values"),
        ({"seeds": range(40), "grid": {"algorithm.lr": range(1, 40)}}, "1,560 experiments"),
    ],
)
def test_what_makes_no_sweep_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ArenaConfigError, match=words):
        expand(BASE, **changes)


def test_a_child_that_is_not_valid_is_refused_before_any_is_submitted() -> None:
    with pytest.raises(ManifestError, match="Did you mean 'lr'"):
        expand(BASE, overrides={"algorithm.lrr": 1})
    with pytest.raises(ManifestError, match="gamma"):
        expand(BASE, grid={"algorithm.gamma": [0.9, 7]})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001), ("8", 8), ("true", True), ("null", None), ("CartPole-v1", "CartPole-v1"),
        ("[64, 64]", [64, 64]), ("{min: 1e-4, max: 1}", {"min": 1e-4, "max": 1}),
        ("2026-01-01", "2026-01-01"), ("a: b: c", "a: b: c"), ("nan", "nan"),
    ],
)  # fmt: skip
def test_values_of_the_command_line(text: str, value: object) -> None:
    assert value_of(text) == value


def test_lists_of_values() -> None:
    assert values_of("1e-3,1e-4") == [0.001, 0.0001]
    assert values_of("[64],[64, 64]") == [[64], [64, 64]]
    assert values_of("a]b,c") == ["a]b", "c"]


# --- submitting ---------------------------------------------------------------------------------

Serve = Callable[..., list[dict[str, Any]]]


def _accepting(service: Service, features: dict[str, Any], taken: set[str]) -> list[Any]:
    """Let a service accept experiments whose names are free; return what it was sent."""
    bodies: list[Any] = []

    def submit(request: Any) -> Any:
        body = service.calls[-1].json
        bodies.append(body)
        if body["experiment_name"] in taken:
            return JSONResponse({"detail": "It exists already."}, status_code=409)
        if body["manifest"]["mutation"]["rand_seed"] == 13:
            return JSONResponse({"detail": "Unlucky."}, status_code=422)
        answer = {"accepted": True, "experiment_id": len(bodies)}
        done = {"kind": "status", "stage": "submission", "status": "completed", "detail": answer}
        return ndjson(done)(request)

    listed = [{"name": "walk-seed-1"}]
    service.on("GET", "/experiments/list", lambda request: JSONResponse(listed))
    document = {"ok": True, "data": {"features": features}}
    service.on("GET", "/capabilities", lambda request: JSONResponse(document))
    service.on("POST", "/experiments/jobs/submit", submit)
    return bodies


def test_children_with_names_that_are_made_up_are_submitted_under_free_ones(
    tmp_path: Path,
) -> None:
    service, named = Service(), tmp_path / "walk.json"
    named.write_text(json.dumps(BASE), encoding="utf-8")
    bodies = _accepting(service, {}, {"walk-seed-2"})
    with running(service) as url, ArenaClient("key", base_url=url) as client:
        answers = client.submit_sweep(named, seeds=[1, 2], project="p")
    assert [answer["experiment_name"] for answer in answers] == ["walk-seed-1-2", "walk-seed-2-2"]
    assert [answer["overrides"] for answer in answers] == [
        {"mutation.rand_seed": 1},
        {"mutation.rand_seed": 2},
    ]
    assert all("overrides" not in body and "options" not in body for body in bodies)
    assert [body["manifest"]["mutation"]["rand_seed"] for body in bodies] == [1, 2, 2]


def test_a_sweep_whose_name_is_taken_is_refused() -> None:
    service = Service()
    bodies = _accepting(service, {}, set())
    with running(service) as url, ArenaClient("key", base_url=url) as client:
        with pytest.raises(ArenaTrainingError) as caught:
            client.submit_sweep(BASE, seeds=[2, 1], project="p", experiment_name="walk")
        client.submit_sweep(BASE, seeds=[2, 3], project="p", experiment_name="walk")
    assert "An experiment named 'walk-seed-1' exists already; choose another" in str(caught.value)
    assert [body["experiment_name"] for body in bodies] == ["walk-seed-2", "walk-seed-3"]


def test_a_service_that_records_overrides_is_told_them() -> None:
    service = Service()
    bodies = _accepting(service, {"experiment_overrides": {}}, set())
    with running(service) as url, ArenaClient("key", base_url=url) as client:
        client.submit_sweep(BASE, overrides={"algorithm.lr": 0.5}, project="p")
    assert bodies[0]["overrides"] == {"algorithm.lr": 0.5}
    assert bodies[0]["experiment_name"] is None


def test_a_refusal_half_way_says_what_was_submitted() -> None:
    service = Service()
    _accepting(service, {}, set())
    with running(service) as url, ArenaClient("key", base_url=url) as client:
        answers = client.submit_sweep(BASE, seeds=[5, 13, 6], project="p", experiment_name="w")
        assert [answer["accepted"] for answer in answers] == [True, False]
        assert "Unlucky" in answers[1]["error"]
        with pytest.raises(ArenaTrainingError, match="Unlucky"):
            client.submit_sweep(BASE, seeds=[13], project="p", experiment_name="w")


def test_options_go_only_where_they_are_understood() -> None:
    service = Service()
    bodies = _accepting(service, {}, set())
    with (
        running(service) as url,
        ArenaClient("key", base_url=url) as client,
        pytest.raises(ArenaTrainingError, match="takes no run options \\(priority\\)"),
    ):
        client.submit_experiment(BASE, project="p", options={"priority": 1})
    assert bodies == []
