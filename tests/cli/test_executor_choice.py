"""`arena local up --executor`: what is refused before anything is started, in one sentence."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from arena_sdk.cli.doctor import OK, check_ray
from arena_sdk.local import server_settings
from arena_sdk.local.server_settings import ServerSettings
from tests.cli.cli_running import Run


def without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec

    def absent(name: str, *more: Any) -> Any:
        return None if name == "ray" else find(name, *more)

    monkeypatch.setattr(server_settings.importlib.util, "find_spec", absent)


def test_ray_that_is_missing_is_said_before_a_server_starts(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    without_ray(monkeypatch)
    done = run("local", "up", "--executor", "ray", "--data-dir", str(tmp_path / "data"))
    assert done.code == 1
    assert 'pip install "arena-tui[ray]"' in done.err
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"ray_address": "10.0.0.5:6379"}, "--ray-address needs --executor ray"),
        ({"executor": "ray", "ray_address": "ray://10.0.0.5:10001"}, "HOST:PORT"),
        ({"executor": "ray", "ray_address": "10.0.0.5"}, "HOST:PORT"),
        ({"executor": "ray", "ray_address": "host:port"}, "HOST:PORT"),
        ({"executor": "ray", "ray_address": "a b:1"}, "HOST:PORT"),
        ({"executor": "ray", "ray_address": ""}, "HOST:PORT"),
    ],
)
def test_an_address_that_cannot_be_is_refused(settings: dict[str, str], words: str) -> None:
    problem = ServerSettings(**settings).problem()
    assert problem is not None
    assert words in problem


@pytest.mark.parametrize(
    "address", [None, "auto", "10.0.0.5:6379", "head.local:6379", "[::1]:6379"]
)
def test_addresses_of_clusters_are_taken(
    address: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_settings.importlib.util, "find_spec", lambda _name: object())
    settings = ServerSettings(executor="ray", ray_address=address)
    assert settings.problem() is None
    assert settings.cluster == address
    told = {"executor": "ray", "ray_address": address, "num_nodes": 3}
    assert settings.of_jobs(3) == told


def test_processes_need_no_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    without_ray(monkeypatch)
    assert ServerSettings().problem() is None


def test_doctor_tells_of_the_extra() -> None:
    finding = check_ray()
    assert (finding.status, finding.what) == (OK, "extra ray")
    assert finding.found.startswith("ray " if importlib.util.find_spec("ray") else "not installed")
