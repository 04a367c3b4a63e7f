"""The example of every public call runs, against a service that answers every call."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sdk_service import Service, running
from sdk_wire import teach
from starlette.responses import Response
from starlette.websockets import WebSocket

from arena_sdk import Agent, ArenaClient

NO_CALLS = {"aclose", "close", "configure", "with_timeouts", "set_stream_handler"}
"""Public methods that ask the service nothing; logging in has tests and a guide of its own."""
BEYOND: dict[tuple[str, str], Any] = {
    ("GET", "/capabilities"): {"ok": True, "data": {"features": {"live_metrics": {}}}},
    ("GET", "//health"): {"status": "ok"},
    ("GET", "/machine"): {"cpu_percent": 3.0},
    ("GET", "/activity"): [{"message": "hello"}],
    ("GET", "/environments/details"): {"name": "corridor", "spaces": {}},
    ("GET", "/datasets/details"): {"name": "gsm8k", "preview": [{"question": "2 + 2?"}]},
    ("POST", "/datasets/reward"): {"sound": True, "value": 1.0, "seconds": 2e-6},
    ("GET", "/datasets/search"): {"datasets": [{"name": "gsm8k"}], "warnings": []},
    ("GET", "/environments/rollout"): lambda request: Response(b"GIF89a"),
    ("GET", "//load"): {"requests": 2, "mean_latency_ms": 0.4},
    ("GET", "/experiments/one"): {"name": "first", "best_fitness": 3.0},
    ("GET", "/experiments/records"): {"records": [], "last_seq": 0, "state": "completed"},
    ("GET", "/experiments/logs"): {"lines": [], "next": 0, "ended": True},
    ("GET", "/experiments/population"): {"members": []},
    ("GET", "/experiments/lineage"): {"members": []},
    ("DELETE", "/experiments/delete"): {"name": "first"},
    ("POST", "/experiments/delete"): {"name": "first"},
    ("POST", "/inference/stop"): {"name": "first"},
    ("GET", "/resources/list"): {"tiers": {"arena-medium": {"price_per_node_hour": 2.41}}},
    ("POST", "//predict"): {"results": None, "batch_size": 2, "success": True},
    ("POST", "//generate"): {"results": [{"prompt": "a", "completion": "4"}], "success": True},
    ("POST", "//generate_stream"): {},
    ("GET", "//sessions"): [{"session_id": "an-id"}],
    ("GET", "//sessions/an-id"): {"session_id": "an-id", "messages": []},
    ("DELETE", "//sessions/an-id"): {},
}


def methods(kind: type) -> Iterator[tuple[str, str]]:
    for name, method in inspect.getmembers(kind, inspect.isfunction):
        if not name.startswith("_") and name not in {*NO_CALLS, "login", "logout"}:
            yield name, inspect.getdoc(method) or ""


CASES = [
    pytest.param(kind, text, id=f"{kind.__name__}.{name}")
    for kind in (ArenaClient, Agent)
    for name, text in methods(kind)
    if name not in {"serialize", "deserialize", "get_batch_size"}
]


async def end(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_json({"kind": "hello", "last_seq": 0, "state": "completed"})
    await socket.send_json({"kind": "end", "state": "completed", "last_seq": 0})
    await socket.close(1000)


@pytest.fixture(scope="module")
def answering() -> Iterator[Service]:
    service = Service()
    with running(service) as url:
        service.url = url
        teach(service)
        for (method, path), answer in BEYOND.items():
            service.on(method, path, answer)
        for path in ("/experiments/live", "/play"):
            service.on_socket(path, end)
        yield service


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the examples name, which is the current one."""
    (tmp_path / "data.csv").write_text("prompt,completion\na,b\n")
    (tmp_path / "reward.py").write_text("def reward(question, answer, completion): return 1\n")
    (tmp_path / "corridor").mkdir()
    (tmp_path / "corridor" / "corridor.py").write_text("import gymnasium\n")
    (tmp_path / "dqn.yaml").write_text(
        "algorithm: {name: DQN}\nenvironment: {name: CartPole-v1}\ntraining: {max_steps: 1000}\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.mark.parametrize(("kind", "text"), CASES)
def test_an_example_runs(answering: Service, folder: Path, kind: type, text: str) -> None:
    examples = doctest.DocTestParser().get_examples(text)
    assert examples, "it has no example"
    with (
        ArenaClient("a-key", base_url=answering.url) as client,
        Agent(answering.url, api_key="a-key") as agent,
    ):
        names = {"client": client, "agent": agent}
        for example in examples:
            mode = "single" if example.source.startswith(("with", "for")) else "exec"
            exec(compile(example.source, "example", mode), names)
