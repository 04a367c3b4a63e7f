"""Fixtures of the client's tests: a real service, and both flavours of the client on it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from oracle import oracle_python
from sdk_keycloak import Keycloak, keycloak_running
from sdk_service import Service, running

from arena_sdk import ArenaClient, AsyncArenaClient

__all__ = ["oracle_python"]


@pytest.fixture
def service() -> Iterator[Service]:
    """A service that answers 404 to everything until it is told otherwise."""
    made = Service()
    with running(made) as url:
        made.url = url
        yield made


@pytest.fixture
def client(service: Service) -> Iterator[ArenaClient]:
    """The blocking client of the service."""
    with ArenaClient("a-key", base_url=service.url) as made:
        yield made


@pytest.fixture
async def async_client(service: Service) -> AsyncIterator[AsyncArenaClient]:
    """The async client of the service."""
    async with AsyncArenaClient("a-key", base_url=service.url) as made:
        yield made


@pytest.fixture
def keycloak(monkeypatch: pytest.MonkeyPatch) -> Iterator[Keycloak]:
    """The identity server that clients use."""
    with keycloak_running() as made:
        monkeypatch.setenv("ARENA_KEYCLOAK_URL", made.url)
        yield made
