"""Rows of experiments: few keys in a list, all on demand; deletion over HTTP."""

from __future__ import annotations

import httpx
import pytest

from tests.local.conftest import ArenaServer
from tests.local.server.test_projects import add_experiment, make


def listed(api: httpx.Client, **query: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = api.get("/experiments/list", params=query).json()
    return rows


def test_a_list_has_what_a_list_needs_and_details_everything(
    api: httpx.Client, arena_server: ArenaServer
) -> None:
    make(api, "rows")
    add_experiment(arena_server, "rows", "row-run", "completed")
    (short,) = listed(api, project="rows")
    assert len(short) <= 12
    assert next(iter(short)) == "name"
    (whole,) = listed(api, project="rows", details="true")
    one = api.get("/experiments/one", params={"experiment_name": "row-run"}).json()
    assert whole == {key: value for key, value in one.items() if key not in ("manifest", "waiting")}
    assert short == {key: whole[key] for key in short}
    assert listed(api, project="rows", details="") == [short]


def test_both_are_announced(api: httpx.Client) -> None:
    features = api.get("/capabilities").json()["data"]["features"]
    assert features["experiment_rows"]["path"].endswith("/experiments/list")
    assert features["experiment_delete"]["path"].endswith("/experiments/delete")
    assert features["deployment_logs"]["path"].endswith("/inference/logs")


@pytest.mark.parametrize("method", ["DELETE", "POST"])
def test_an_ended_run_is_deleted_and_an_active_one_is_not(
    api: httpx.Client, arena_server: ArenaServer, method: str
) -> None:
    make(api, "deleting")
    ended, active = f"ended-{method}", f"active-{method}"
    add_experiment(arena_server, "deleting", ended, "stopped")
    add_experiment(arena_server, "deleting", active, "running")
    gone = api.request(method, "/experiments/delete", json={"experiment_name": ended})
    assert gone.json() == {"name": ended, "deleted": True}
    refused = api.request(method, "/experiments/delete", json={"experiment_name": active})
    assert refused.status_code == 409
    assert f"arena experiments stop {active}" in refused.json()["message"]
    names = [row["name"] for row in listed(api, project="deleting")]
    assert active in names
    assert ended not in names


def test_the_log_of_an_absent_deployment_is_404(api: httpx.Client) -> None:
    refused = api.get("/inference/logs", params={"name": "nowhere", "after": "", "limit": ""})
    assert refused.status_code == 404
    assert api.get("/inference/logs", params={"name": ""}).status_code == 422
