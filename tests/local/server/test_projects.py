"""Projects: made, listed, deleted, and refused in a sentence."""

from __future__ import annotations

import sqlite3
from typing import Any

import httpx
import pytest

from tests.local.conftest import ArenaServer


def make(api: httpx.Client, name: str, **more: Any) -> httpx.Response:
    return api.post("/projects/create", json={"name": name, **more})


def delete(api: httpx.Client, name: str) -> httpx.Response:
    return api.request("DELETE", "/projects/delete", json={"name": name})


def row(api: httpx.Client, name: str) -> dict[str, Any] | None:
    rows: list[dict[str, Any]] = api.get("/projects").json()
    return next((row for row in rows if row["name"] == name), None)


def add_experiment(server: ArenaServer, project: str, name: str, state: str) -> None:
    """Put an experiment into the store, as if it had been submitted."""
    with sqlite3.connect(server.data_dir / "arena.db") as store:
        store.execute(
            "INSERT INTO experiments (name, project_id, manifest, algorithm, environment,"
            " resource_id, num_nodes, state, warnings, max_steps, pop_size, generation, steps,"
            " total_steps, fitness_history, last_seq, created_at, started_at)"
            " SELECT ?, id, '{}', 'DQN', 'CartPole-v1', 'local', 1, ?, '[]', 100, 2, 0, 0, 0,"
            " '[]', 1, '2026-01-02 03:04:05', '2026-01-02 03:04:06' FROM projects WHERE name = ?",
            (name, state, project),
        )
        store.execute(
            "INSERT INTO records (experiment_id, seq, kind, time, data)"
            " SELECT id, 1, 'state', 0, '{}' FROM experiments WHERE name = ?",
            (name,),
        )
    store.close()


def test_a_project_is_made_and_listed(api: httpx.Client) -> None:
    made = make(api, "walkers", description="they walk")
    assert made.status_code == 200
    found = row(api, "walkers")
    assert found == made.json()
    assert found is not None
    assert (found["type"], found["description"]) == ("simulation", "they walk")
    assert found["experiments"] == 0
    assert found["last_activity"] == found["created_at"]


def test_a_project_of_language_models_is_of_its_type(api: httpx.Client) -> None:
    assert make(api, "talkers", description=None, llm_based=True).json()["type"] == "llm"


def test_experiments_are_counted_and_the_last_one_dated(
    api: httpx.Client, arena_server: ArenaServer
) -> None:
    make(api, "counted")
    add_experiment(arena_server, "counted", "counted-one", "completed")
    add_experiment(arena_server, "counted", "counted-two", "failed")
    found = row(api, "counted")
    assert found is not None
    assert found["experiments"] == 2
    assert found["last_activity"] == "2026-01-02T03:04:06.000Z"


def test_a_taken_name_is_409(api: httpx.Client) -> None:
    make(api, "taken")
    again = make(api, "taken")
    assert again.status_code == 409
    assert "'taken'" in again.json()["message"]


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "x" * 10_000,
        "a/b",
        "..",
        "../up",
        ".hidden",
        "a\x1b[31mb",
        "line\nbreak",
        "[bold]x[/bold]",
        "rocket🚀",
        "nul\x00",
        "a\u202eb",
    ],
)
def test_a_bad_name_is_422_and_one_short_sentence(api: httpx.Client, name: str) -> None:
    refused = make(api, name)
    assert refused.status_code == 422
    message = refused.json()["message"]
    assert len(message) < 200
    assert message.isprintable()


@pytest.mark.parametrize("name", ["Läufer", "走る", "a b.c-d_e", "7"])
def test_names_of_any_script_are_fine(api: httpx.Client, name: str) -> None:
    assert make(api, name).status_code == 200
    assert row(api, name) is not None
    assert delete(api, name).status_code == 200


def test_deleting_removes_the_ended_experiments_too(
    api: httpx.Client, arena_server: ArenaServer
) -> None:
    make(api, "doomed")
    add_experiment(arena_server, "doomed", "doomed-run", "completed")
    assert delete(api, "doomed").json() == {"name": "doomed", "deleted": True}
    assert row(api, "doomed") is None
    with sqlite3.connect(arena_server.data_dir / "arena.db") as store:
        left = store.execute("SELECT count(*) FROM experiments WHERE name = 'doomed-run'")
        assert left.fetchone() == (0,)
    store.close()


@pytest.mark.parametrize("state", ["queued", "running", "stopping"])
def test_deleting_is_refused_while_an_experiment_is_active(
    api: httpx.Client, arena_server: ArenaServer, state: str
) -> None:
    project, run = f"busy-{state}", f"busy-run-{state}"
    make(api, project)
    add_experiment(arena_server, project, run, state)
    refused = delete(api, project)
    assert refused.status_code == 409
    assert run in refused.json()["message"]
    assert row(api, project) is not None


def test_deleting_an_absent_one_is_404(api: httpx.Client) -> None:
    refused = delete(api, "nowhere")
    assert refused.status_code == 404
    assert "'nowhere'" in refused.json()["message"]
