"""`arena agent act` and `bench` on a service that writes down what it is sent."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest

from tests.cli.cli_running import Run
from tests.sdk.sdk_service import Service


def npy(values: list[int]) -> str:
    buffer = io.BytesIO()
    np.save(buffer, np.array(values))
    return base64.b64encode(buffer.getvalue()).decode()


@pytest.fixture
def deployed(service: Service) -> Service:
    """The service, with an agent `d` that always answers 1."""
    agent = {"algo": "DQN", "multi_agent": False, "llm": False, "recurrent": False}
    service.on("GET", "//status", {"success": True, "deployment_id": "d", "agent": agent})
    service.on("GET", "/inference/deployments/one", {"name": "d", "url": service.url})
    service.on("POST", "//get_action", {"action": npy([1])})
    return service


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_HOME", str(tmp_path_factory.mktemp("home")))


def test_the_mask_of_an_info_is_sent(run: Run, deployed: Service) -> None:
    done = run("agent", "act", "d", "[0.5]", "--info", '{"action_mask": [0, 1], "lives": 3}')
    assert (done.code, done.out) == (0, "1\n")
    sent = base64.b64decode(deployed.calls[-1].json["action_mask"])
    assert np.load(io.BytesIO(sent)).tolist() == [[0, 1]]


@pytest.mark.parametrize("info", ["[1]", "{"])
def test_an_info_that_is_none_is_refused(run: Run, deployed: Service, info: str) -> None:
    done = run("agent", "act", "d", "[0.5]", "--info", info)
    assert (done.code, deployed.calls) == (2, [])
    assert "--info" in done.err


def test_a_nan_names_the_flag_of_the_command_line(run: Run, deployed: Service) -> None:
    done = run("agent", "act", "d", "[NaN]")
    assert done.code == 1
    assert "--allow-nan" in done.err
    assert "allow_nan" not in done.err
    assert run("agent", "act", "d", "[NaN]", "--allow-nan").out == "1\n"


def test_a_batch_that_is_too_large_is_refused_at_once(run: Run, deployed: Service) -> None:
    done = run("agent", "bench", "d", "--batch-size", "65537", "--observation", "[0.5]")
    assert (done.code, deployed.calls) == (2, [])
    assert "65536" in done.err
