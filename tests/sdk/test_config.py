"""Which Arena, which credential: the order of settings, and files that are never half written."""

from __future__ import annotations

import errno
import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from arena_sdk import credentials
from arena_sdk.config import HOSTED_URL, ConfigFile, InferenceFile, resolve
from arena_sdk.errors import ArenaConfigError


def local_arena(home: Path, url: str = "http://127.0.0.1:5") -> None:
    """Write what a running embedded Arena writes; this very process plays it."""
    folder = home / "local"
    folder.mkdir(parents=True)
    (folder / "server.json").write_text(json.dumps({"url": url, "pid": os.getpid()}))
    (folder / "token").write_text("arena_local_secret\n")


def test_nothing_set_means_the_hosted_arena() -> None:
    settings = resolve()
    assert (settings.profile, settings.base_url) == ("hosted", HOSTED_URL)
    assert credentials.find(settings) is None


def test_a_running_local_arena_serves_those_without_an_account(arena_home: Path) -> None:
    local_arena(arena_home)
    settings = resolve()
    assert (settings.profile, settings.base_url) == ("local", "http://127.0.0.1:5")
    found = credentials.find(settings)
    assert found is not None
    assert found.secret == "arena_local_secret"


def test_a_hosted_credential_goes_before_a_local_arena(
    arena_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local_arena(arena_home)
    monkeypatch.setenv("ARENA_API_KEY", "arena_pat_x")
    assert resolve().profile == "hosted"


def test_a_hosted_key_is_never_sent_to_the_local_arena(
    arena_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local_arena(arena_home)
    monkeypatch.setenv("ARENA_API_KEY", "arena_pat_x")
    found = credentials.find(resolve("local"))
    assert found is not None
    assert found.secret == "arena_local_secret"


def test_argument_goes_before_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_BASE_URL", "http://environment:1")
    monkeypatch.setenv("ARENA_API_KEY", "from-environment")
    settings = resolve(base_url="http://argument:1/")
    assert settings.base_url == "http://argument:1"
    found = credentials.find(settings, api_key="from-argument")
    assert found is not None
    assert found.secret == "from-argument"
    assert resolve().base_url == "http://environment:1"


def test_a_stale_server_file_misleads_nobody(arena_home: Path) -> None:
    local_arena(arena_home)
    (arena_home / "local" / "server.json").write_text(
        json.dumps({"url": "http://127.0.0.1:5", "pid": 2**22 - 1})
    )
    assert resolve().profile == "hosted"
    with pytest.raises(ArenaConfigError, match="No Arena runs on this machine"):
        resolve("local")


@pytest.mark.parametrize("profile", ["Local", "prod", "../x"])
def test_an_unknown_profile_names_those_that_there_are(profile: str) -> None:
    with pytest.raises(ArenaConfigError, match="hosted, local"):
        resolve(profile)


@pytest.mark.parametrize("url", ["localhost:8765", "ftp://x", "http://", "http://[::", "nonsense"])
def test_a_base_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ArenaConfigError, match="no base URL"):
        resolve(base_url=url)


def test_half_an_organisation_is_refused() -> None:
    with pytest.raises(ArenaConfigError, match="external user id is missing"):
        credentials.find(resolve(), org_key="arena_org_x")


def test_a_secret_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_API_KEY", "very-secret")
    found = credentials.find(resolve())
    assert "very-secret" not in repr(found)


def test_a_default_project_belongs_to_its_profile(arena_home: Path) -> None:
    arena_home.mkdir()
    path = arena_home / "config.json"
    path.write_text(json.dumps({"default_project": "theirs", "other": 1}))
    config = ConfigFile()
    config.set_default_project("local", "mine")
    assert config.default_project("hosted") == "theirs"
    assert config.default_project("local") == "mine"
    assert json.loads(path.read_text())["other"] == 1
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_broken_file_is_named(arena_home: Path) -> None:
    arena_home.mkdir()
    (arena_home / "config.json").write_text("{half")
    with pytest.raises(ArenaConfigError, match=r"config\.json"):
        ConfigFile().default_project("hosted")


def test_a_full_disk_is_told_and_leaves_the_old_settings(
    arena_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ConfigFile().set_default_project("hosted", "old")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ArenaConfigError, match=r"config\.json cannot be written: No space left"):
        ConfigFile().set_default_project("hosted", "new")
    assert ConfigFile().default_project("hosted") == "old"
    left = {path.name for path in arena_home.iterdir()}
    assert left == {"config.json", ".config.json.lock"}


def test_addresses_and_the_active_agent_are_remembered() -> None:
    file = InferenceFile()
    file.remember_url("a", "http://x")
    file.set_active_agent("a", project_name="p")
    assert file.url("a") == "http://x"
    assert file.url("b") is None
    assert file.active_agent() == {"deployment": "a", "project_name": "p"}


def test_changes_at_the_same_moment_are_all_kept(arena_home: Path) -> None:
    names = [f"n{number}" for number in range(12)]

    def change(name: str) -> None:
        ConfigFile().set(name, "realm", name)
        InferenceFile().remember_url(name, f"https://{name}.example")

    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(change, names))
    assert {name: ConfigFile().values(name)["realm"] for name in names} == {n: n for n in names}
    assert [InferenceFile().url(name) for name in names] == [f"https://{n}.example" for n in names]
