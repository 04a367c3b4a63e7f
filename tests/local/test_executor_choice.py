"""What is said of an executor that cannot be had, before anything is started."""

from __future__ import annotations

import importlib.util

import pytest

from arena_sdk.local.server_settings import ServerSettings


def settings(**chosen: str) -> ServerSettings:
    return ServerSettings(**chosen)


def test_processes_need_nothing() -> None:
    assert settings().problem() is None
    assert settings().cluster is None


def test_an_address_without_ray_is_refused() -> None:
    found = settings(ray_address="10.0.0.5:6379").problem()
    assert found == "--ray-address needs --executor ray."


@pytest.mark.parametrize("address", ["10.0.0.5", "http://x:1", "host:port", "a b:1", ""])
def test_what_is_no_address_is_named(address: str) -> None:
    found = settings(executor="ray", ray_address=address).problem()
    assert found is not None
    assert found.startswith(f"--ray-address {address} is not HOST:PORT of a Ray cluster")


def test_ray_that_is_not_installed_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    found = settings(executor="ray", ray_address="auto").problem()
    assert found is not None
    assert "extra `ray`" in found
    assert 'pip install "arena-tui[ray]"' in found


def test_ray_that_is_installed_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    chosen = settings(executor="ray", ray_address="[::1]:6379")
    assert chosen.problem() is None
    assert chosen.cluster == "[::1]:6379"
