"""Who one is, what there is to run on, what the machine does, what happened."""

from __future__ import annotations

import os
from datetime import datetime

import httpx
import psutil

from tests.local.conftest import ArenaServer

PRICES = {
    "local": 0,
    "arena-medium": 2.41,
    "arena-large": 3.65,
    "arena-large-4gpu": 8.41,
    "arena-large-compute-96": 8.57,
    "arena-a100-40gb-2gpu": 15.74,
    "arena-extra-large": 16.82,
    "arena-large-compute-192": 17.15,
    "arena-a100-40gb-4gpu": 31.47,
}


def test_the_user_is_the_owner_of_the_machine(arena_server: ArenaServer) -> None:
    url = f"{arena_server.base_url}/api/users/current"
    user = httpx.get(url, headers=arena_server.headers).json()
    assert user["first_name"]
    assert "@" in user["email"]
    assert "last_name" in user


def test_credits_are_unlimited(arena_server: ArenaServer) -> None:
    url = f"{arena_server.base_url}/api/users/credits"
    assert httpx.get(url, headers=arena_server.headers).json()["unlimited"] is True


def test_this_machine_is_the_first_tier_and_free(api: httpx.Client) -> None:
    tiers = api.get("/resources/list").json()["tiers"]
    assert {key: tier["price_per_node_hour"] for key, tier in tiers.items()} == PRICES
    assert next(iter(tiers)) == "local"
    local = tiers["local"]
    assert local["num_cpus"] == os.cpu_count()
    assert abs(local["ram_gb"] - psutil.virtual_memory().total / 1e9) < 0.1
    for key, tier in tiers.items():
        assert tier["name"] == key  # the published client shows it as the id
        assert set(tier) >= {"name", "num_gpus", "gpu_type", "num_cpus", "ram_gb"}
    assert tiers["arena-large-compute-96"]["gpu_type"] is None
    assert tiers["arena-extra-large"]["num_gpus"] == 8


def test_the_machine_tells_its_load(api: httpx.Client) -> None:
    machine = api.get("/machine").json()
    assert machine["cpus"] == os.cpu_count()
    assert 0 <= machine["cpu_percent"] <= 100
    assert 0 < machine["memory_percent"] < 100
    assert 0 < machine["memory_available_gb"] < machine["memory_total_gb"]
    assert machine["gpus"] == []
    assert machine["jobs"] == []


def test_activity_is_newest_first_and_limited(api: httpx.Client) -> None:
    for number in range(3):
        api.post("/projects/create", json={"name": f"active-{number}"}).raise_for_status()
    rows = api.get("/activity", params={"limit": 2}).json()
    assert [row["name"] for row in rows] == ["active-2", "active-1"]
    assert set(rows[0]) == {"time", "level", "subject", "name", "message"}
    assert rows[0]["time"].endswith("Z")
    assert datetime.fromisoformat(rows[0]["time"]).tzinfo is not None
    assert api.get("/activity", params={"limit": ""}).status_code == 200
    assert api.get("/activity", params={"limit": "0"}).status_code == 422
