"""The whole of a run against a real Arena with the real engine: train, watch, serve, play."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import csv
import io
import json
import random
import statistics
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest
import websockets
from PIL import Image

from arena_sdk.local.serving.codec import decode_array, encode_array
from tests.local.conftest import ArenaServer, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(280)]

NETWORK = {
    "latent_dim": 16,
    "encoder_config": {"hidden_size": [32]},
    "head_config": {"hidden_size": [32]},
}
DQN: dict[str, Any] = {
    "algorithm": {"name": "DQN", "lr": 0.001, "batch_size": 32, "learn_step": 4},
    "environment": {"name": "CartPole-v1", "num_envs": 4},
    "training": {"max_steps": 2_400, "pop_size": 2, "evo_steps": 400, "eval_steps": 50},
    "network": NETWORK,
    "replay_buffer": {"max_size": 5_000},
}
PPO: dict[str, Any] = {
    "algorithm": {"name": "PPO", "batch_size": 32, "learn_step": 64},
    "environment": {"name": "Pendulum-v1", "num_envs": 2},
    "training": {"max_steps": 256, "pop_size": 2, "evo_steps": 128, "eval_steps": 50},
    "network": NETWORK,
}


@pytest.fixture(scope="module")
def http(arena_server: ArenaServer) -> Iterator[httpx.Client]:
    """A client of the module's Arena, in which a project was made."""
    with arena_server.client() as client:
        client.post("/projects/create", json={"name": "main"}).raise_for_status()
        yield client


def submit(http: httpx.Client, name: str, manifest: dict[str, Any], **more: Any) -> list[Any]:
    job = {"manifest": manifest, "project": "main", "experiment_name": name, **more}
    answer = http.post("/experiments/jobs/submit", json=job)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    return [json.loads(line) for line in answer.text.splitlines()]


def get(http: httpx.Client, path: str, **query: Any) -> Any:
    answer = http.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def row_of(http: httpx.Client, name: str) -> dict[str, Any]:
    return dict(get(http, "/experiments/one", experiment_name=name))


def until_state(http: httpx.Client, name: str, state: str, seconds: float = 120) -> dict[str, Any]:
    assert wait_until(lambda: row_of(http, name)["state"] == state, seconds), row_of(http, name)
    return row_of(http, name)


@pytest.fixture(scope="module")
def trained(http: httpx.Client) -> dict[str, Any]:
    """A DQN run that was completed."""
    submit(http, "trained", DQN)
    return until_state(http, "trained", "completed")


def stored(http: httpx.Client, name: str) -> list[dict[str, Any]]:
    return list(get(http, "/experiments/records", experiment_name=name)["records"])


async def test_a_watcher_cut_off_twenty_times_has_exactly_the_stored_series(
    arena_server: ArenaServer, http: httpx.Client
) -> None:
    submit(http, "watched", {**DQN, "training": {**DQN["training"], "evo_steps": 100}})
    rng = random.Random(5)
    got: list[dict[str, Any]] = []
    cuts, ended = 0, None
    while ended is None:
        last = got[-1]["seq"] if got else 0
        url = f"{arena_server.websocket_url}/api/cli/v1/experiments/live"
        query = f"?experiment_name=watched&after={last}"
        async with websockets.connect(
            url + query, additional_headers=arena_server.headers, max_size=None
        ) as socket:
            hello = json.loads(await socket.recv())
            assert hello["kind"] == "hello"
            patience = rng.uniform(0.02, 0.3) if cuts < 20 else 200
            try:
                async with asyncio.timeout(patience):
                    async for text in socket:
                        message = json.loads(text)
                        if message["kind"] == "end":
                            ended = message
                        elif "seq" in message:
                            got.append(message)
            except TimeoutError:
                cuts += 1
                if rng.random() < 0.5:
                    socket.transport.abort()
    assert cuts >= 20
    series = await asyncio.to_thread(stored, http, "watched")
    assert got == series
    assert ended == {"kind": "end", "state": "completed", "last_seq": series[-1]["seq"]}


def test_stop_and_resume(http: httpx.Client) -> None:
    events = submit(
        http,
        "stopped",
        {**DQN, "training": {**DQN["training"], "max_steps": 1_000_000}},
        resource_id="arena-medium",
        num_nodes=2,
    )
    assert events[-1]["status"] == "completed"
    assert events[-1]["detail"]["accepted"] is True
    assert events[-1]["detail"]["experiment_name"] == "stopped"
    assert any(event["kind"] == "warning" for event in events)
    assert wait_until(lambda: row_of(http, "stopped")["generation"] >= 2, 60)
    answer = http.post("/experiments/jobs/stop", json={"experiment_name": "stopped"})
    assert answer.elapsed.total_seconds() < 5
    assert answer.json()["state"] == "stopped"
    reached = answer.json()["checkpoint"]
    saved = get(http, "/experiments/jobs/checkpoints", experiment_name="stopped")
    assert reached == saved[-1]["name"]
    budget = {"experiment_name": "stopped", "max_steps": saved[-1]["steps"]}
    assert http.post("/experiments/jobs/resume", json=budget).status_code == 422
    budget["max_steps"] += 800
    resumed = http.post("/experiments/jobs/resume", json=budget).json()
    assert resumed["resume_from"] == reached
    row = until_state(http, "stopped", "completed")
    assert row["steps"] >= budget["max_steps"]
    records = stored(http, "stopped")
    assert [r["seq"] for r in records] == list(range(1, row["last_seq"] + 1))
    told = [
        (r["data"]["generation"], r["data"]["member"]) for r in records if r["kind"] == "metrics"
    ]
    assert len(told) == len(set(told))
    assert sorted({g for g, _ in told}) == list(range(1, row["generation"] + 1))
    members = get(http, "/experiments/lineage", experiment_name="stopped")["members"]
    born = {m["member"]: m["generation"] for m in members}
    assert all(born[m["parent"]] < m["generation"] for m in members if m["parent"] is not None)


def test_metrics_as_names_and_csv(http: httpx.Client, trained: dict[str, Any]) -> None:
    names = get(http, "/experiments/metrics", experiment_name="trained", project="", details="")
    assert {"fitness", "score", "steps_per_second", "lr", "batch_size"} <= set(names)
    detailed = get(http, "/experiments/metrics", experiment_name="trained", details="true")
    assert detailed == {"experiment_id": trained["id"], "metrics": names}
    query = {"experiment_name": "trained", "preview_rows": 50_000, "metric": ["lr", "fitness"]}
    answer = http.get("/experiments/metrics", params=query)
    assert answer.headers["content-type"].startswith("text/csv")
    assert 'filename="trained-metrics.csv"' in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(rows) == 2 * trained["generation"]
    assert list(rows[0])[-2:] == ["lr", "fitness"]
    refused = http.get("/experiments/metrics", params={**query, "metric": "fitnes"})
    assert refused.status_code == 404
    assert "fitnes" in refused.json()["message"]
    assert http.get("/experiments/metrics", params={**query, "preview_rows": -1}).status_code == 422


def test_logs_population_and_list(http: httpx.Client, trained: dict[str, Any]) -> None:
    page = get(http, "/experiments/logs", experiment_name="trained", after="", limit="")
    assert page["ended"] is True
    assert page["next"] == len(page["lines"])
    population = get(http, "/experiments/population", experiment_name="trained")
    assert population["generation"] == trained["generation"]
    assert len(population["members"]) == 2
    assert "trained" in [row["name"] for row in get(http, "/experiments/list", project="main")]
    assert http.get("/experiments/list", params={"project": "none"}).status_code == 404


def test_deploy_act_redeploy_and_stop(
    http: httpx.Client, trained: dict[str, Any], arena_server: ArenaServer
) -> None:
    saved = get(http, "/experiments/jobs/checkpoints", experiment_name="trained")
    best = max(saved, key=lambda c: (c["evaluation_score"] or -1e9, c["steps"]))
    row = deploy(http, "trained")
    assert (row["status"], row["name"], row["checkpoint"]) == ("running", "trained", best["name"])
    listed = get(http, "/inference/deployments/list", name="", experimentName="trained")
    assert listed == [row]
    assert get(http, "/inference/deployments/list", experimentName="other") == []

    seen = np.random.default_rng(1).uniform(-1, 1, (32, 4)).astype(np.float32)
    with httpx.Client(base_url=row["url"], headers=arena_server.headers) as agent:
        first = act(agent, seen)
        assert first.shape == (32,)
        assert set(first.tolist()) <= {0, 1}
        assert all((act(agent, seen) == first).all() for _ in range(10))
        singly = np.concatenate([act(agent, one[None]) for one in seen])
        assert (singly == first).all()
        assert agent.post("/predict", json={}).status_code == 400
    with httpx.Client(base_url=row["url"]) as stranger:
        assert stranger.get("/status").status_code == 401

    worst = {"experiment_name": "trained", "checkpoint": saved[0]["name"]}
    moved = deploy(http, "trained", checkpoint=saved[0]["name"])
    assert moved["url"] != row["url"]
    assert len(get(http, "/inference/deployments/list", name="trained")) == 1
    absent = http.post("/inference/deploy", json={**worst, "checkpoint": "step_7"})
    assert absent.status_code == 404
    assert saved[0]["name"] in absent.json()["message"]

    delete = {"experiment_name": "trained"}
    assert http.request("DELETE", "/experiments/delete", json=delete).status_code == 409
    ended = http.post("/inference/stop", json={"name": "trained"}).json()
    assert (ended["status"], ended["url"]) == ("stopped", "")
    page = get(http, "/inference/logs", name="trained", after="", limit="")
    assert page["ended"]
    assert [line for line in page["lines"] if f"loaded {saved[0]['name']}" in line]
    assert get(http, "/inference/logs", name="trained", after=1)["lines"] == page["lines"][1:]
    assert http.post("/inference/stop", json={"name": "trained"}).status_code == 409
    assert http.get("/inference/deployments/one", params={"name": "nope"}).status_code == 404


def deploy(http: httpx.Client, name: str, **more: Any) -> dict[str, Any]:
    """Deploy and wait until the agent answers; loading it may take long on a busy machine."""
    answer = http.post("/inference/deploy", json={"experiment_name": name, **more})
    assert answer.status_code == 200, answer.text

    def serves() -> bool:
        row = get(http, "/inference/deployments/one", name=name)
        return row["status"] == "running" and row["checkpoint"] == more.get(
            "checkpoint", row["checkpoint"]
        )

    assert wait_until(serves, 60)
    return dict(get(http, "/inference/deployments/one", name=name))


def act(agent: httpx.Client, seen: np.ndarray) -> np.ndarray:
    body = {"obs": encode_array(seen), "batch_size": len(seen)}
    answer = agent.post("/get_action", json=body)
    assert answer.status_code == 200, answer.text
    return decode_array(answer.json()["action"], "action")


def test_continuous_ppo_is_trained_and_served_deterministically(
    http: httpx.Client, arena_server: ArenaServer
) -> None:
    submit(http, "pendulum", PPO)
    until_state(http, "pendulum", "completed")
    row = deploy(http, "pendulum")
    seen = np.random.default_rng(1).uniform(-1, 1, (16, 3)).astype(np.float32)
    with httpx.Client(base_url=row["url"], headers=arena_server.headers) as agent:
        first = act(agent, seen)
        assert first.shape == (16, 1)
        assert (np.abs(first) <= 2).all()
        assert all((act(agent, seen) == first).all() for _ in range(5))
    http.post("/inference/stop", json={"name": "pendulum"})


class Session:
    """A play session seen from a client."""

    def __init__(self, server: ArenaServer, **query: Any) -> None:
        text = "&".join(f"{key}={value}" for key, value in query.items())
        self._url = f"{server.websocket_url}/api/cli/v1/play?{text}"
        self._headers = server.headers

    async def __aenter__(self) -> Session:
        self._socket = await websockets.connect(
            self._url, additional_headers=self._headers, max_size=None
        )
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._socket.close()

    async def until(self, kind: str, seconds: float = 30) -> list[dict[str, Any]]:
        """Return the messages up to the first of that kind."""
        got: list[dict[str, Any]] = []
        async with asyncio.timeout(seconds):
            with contextlib.suppress(websockets.ConnectionClosedError):
                async for text in self._socket:
                    got.append(json.loads(text))
                    if got[-1]["kind"] == kind:
                        return got
        raise AssertionError(f"it ended without {kind}: {got[-3:]}")

    async def send(self, **command: Any) -> None:
        await self._socket.send(json.dumps(command))

    async def end(self) -> list[dict[str, Any]]:
        """Return the rest of the messages, however it is closed."""
        got: list[dict[str, Any]] = []
        with contextlib.suppress(websockets.ConnectionClosedError):
            async for text in self._socket:
                got.append(json.loads(text))
        return got


@pytest.fixture
def deployed(http: httpx.Client, trained: dict[str, Any]) -> Iterator[None]:
    """The trained agent, being served."""
    deploy(http, "trained")
    yield
    http.post("/inference/stop", json={"name": "trained"})


async def test_play_against_chance(arena_server: ArenaServer, deployed: None) -> None:
    async with Session(
        arena_server, deployment="trained", episodes=4, baseline="true", seed=3
    ) as session:
        got = await session.until("summary")
        assert await session.end() == []
    assert {m["kind"] for m in got} == {"ready", "episode", "summary"}
    episodes = [m for m in got if m["kind"] == "episode"]
    assert [(m["episode"], m["policy"]) for m in episodes] == [
        (n, who) for n in range(4) for who in ("agent", "random")
    ]
    assert [m["seed"] for m in episodes if m["policy"] == "agent"] == [3, 4, 5, 6]
    for who in ("agent", "random"):
        returns = [m["return"] for m in episodes if m["policy"] == who]
        assert got[-1][who]["returns"] == returns
        assert got[-1][who]["mean"] == pytest.approx(statistics.fmean(returns))
    assert wait_until(lambda: not [p for p in arena_server.workers() if "play" in p.cmdline()], 5)


async def test_play_step_by_step_with_frames(arena_server: ArenaServer, deployed: None) -> None:
    async with Session(
        arena_server, deployment="trained", render="true", paused="true", seed=1
    ) as session:
        begun = await session.until("reset")
        assert begun[0]["kind"] == "ready"
        assert begun[0]["render"] is True
        picture = Image.open(io.BytesIO(base64.b64decode(begun[-1]["frame"])))
        assert picture.format == "PNG"
        assert picture.width <= 320
        await session.send(cmd="step")
        step = (await session.until("step"))[-1]
        assert (step["step"], step["policy"], step["episode"]) == (1, "agent", 0)
        assert step["observation"] == begun[-1]["observation"]
        await session.send(cmd="reset", seed=9)
        again = (await session.until("reset"))[-1]
        assert again["seed"] == 9
        await session.send(cmd="nonsense")
        assert "nonsense" in (await session.until("error"))[-1]["message"]
        await session.send(cmd="speed", steps_per_second=0)
        await session.send(cmd="resume")
        assert (await session.until("episode"))[-1]["return"] > 0
        await session.send(cmd="stop")
        assert (await session.end())[-1]["kind"] == "summary"


async def test_a_client_that_goes_away_ends_the_play(
    arena_server: ArenaServer, deployed: None
) -> None:
    async with Session(arena_server, deployment="trained", environment="CartPole-v0") as session:
        await session.until("episode")
        assert [p for p in arena_server.workers() if "play" in p.cmdline()]
    assert wait_until(lambda: not [p for p in arena_server.workers() if "play" in p.cmdline()], 5)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({"deployment": "nobody"}, "nobody"),
        ({"deployment": ""}, "Name the deployment"),
        ({"deployment": "trained", "environment": "CartPoll-v1"}, "CartPole-v1"),
        ({"deployment": "trained", "episodes": "many"}, "episodes"),
        ({"deployment": "trained", "speed": "-3"}, "speed"),
        ({"deployment": "trained", "environment": "Pendulum-v1", "episodes": 1}, "obs has shape"),
    ],
    ids=str,
)
async def test_what_cannot_be_played(
    arena_server: ArenaServer, deployed: None, query: dict[str, Any], says: str
) -> None:
    async with Session(arena_server, **query) as session:
        got = await session.end()
    assert got[-1]["kind"] == "error"
    assert says in got[-1]["message"]
    assert "\n" not in got[-1]["message"]
