"""Language models over HTTP: what this machine's cache holds; a sentence for what it does not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.local.conftest import ArenaServer, end_arena, start_arena

from .hub_cache import TINY_PARAMETERS, add_tiny_model


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that is empty at first."""
    return tmp_path_factory.mktemp("hub")


@pytest.fixture(scope="module")
def arena_server(tmp_path_factory: pytest.TempPathFactory, hub: Path) -> Iterator[ArenaServer]:
    """An Arena on a machine with that cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_CACHE", str(hub))
        server = start_arena(tmp_path_factory.mktemp("arena"))
    yield server
    end_arena(server)


def test_models_are_those_of_the_cache(api: httpx.Client, hub: Path) -> None:
    assert api.get("/models").json() == []
    absent = api.post("/models/info", json={"model_name": "tiny/Qwen-0"})
    assert absent.status_code == 404
    assert "holds none" in absent.json()["message"]

    add_tiny_model(hub)
    (row,) = api.get("/models").json()
    assert row["model_name"] == "tiny/Qwen-0"
    assert row["num_params"] == TINY_PARAMETERS
    assert row["max_context_length"] == 4096
    assert set(row["lora_info"]) == {"k_proj", "q_proj", "up_proj"}
    assert api.post("/models/info", json={"model_name": "tiny/Qwen-0"}).json() == row

    other = api.post("/models/info", json={"model_name": "big/Other"})
    assert other.status_code == 404
    assert "'big/Other'" in other.json()["message"]
    assert "holds tiny/Qwen-0" in other.json()["message"]
