"""`arena config`: each value in force, where it came from, and how it is changed."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.cli_running import Run

SECRET = "arena_pat_0d9e3c1a-8d0b_a-secret-that-nobody-sees"


def in_force(run: Run, *flags: str) -> dict[str, tuple[Any, str | None]]:
    """Return each value that is in force with where it came from."""
    done = run(*flags, "config", "show", "-o", "json")
    assert done.code == 0, done
    return {row["key"]: (row["value"], row["origin"]) for row in json.loads(done.out)}


def test_nothing_set_is_all_defaults(run: Run, arena_home: Path) -> None:
    found = in_force(run)
    assert found["base_url"] == ("https://arena.agilerl.com", "default")
    assert found["request_timeout"] == (30, "default")
    assert found["upload_timeout"] == (300, "default")
    assert found["realm"] == ("arena", "default")
    assert found["default_project"] == found["credential"] == (None, None)
    assert found["home"] == (str(arena_home), "ARENA_HOME")
    assert not arena_home.exists()  # who only looks changes nothing


def test_flag_then_environment_then_file_then_default(
    run: Run, arena_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("base_url", "keycloak_url")
    assert run("config", "set", "base_url", "http://file:1/").code == 0
    assert run("config", "set", "keycloak_url", "http://file:2").code == 0
    where = f"{arena_home / 'config.json'}, profile hosted"
    assert [in_force(run)[name] for name in names] == [
        ("http://file:1", where), ("http://file:2", where),
    ]  # fmt: skip
    monkeypatch.setenv("ARENA_BASE_URL", "http://variable:1")
    monkeypatch.setenv("ARENA_KEYCLOAK_URL", "http://variable:2")
    assert [in_force(run)[name] for name in names] == [
        ("http://variable:1", "ARENA_BASE_URL"), ("http://variable:2", "ARENA_KEYCLOAK_URL"),
    ]  # fmt: skip
    found = in_force(run, "--base-url", "http://flag:1", "--request-timeout", "7")
    assert found["base_url"] == ("http://flag:1", "argument")
    assert found["request_timeout"] == (7, "argument")
    assert found["keycloak_url"][0] == "http://variable:2"


def test_a_time_out_of_a_profile_is_kept_where_no_flag_is_given(run: Run) -> None:
    """The published default of the flag must not hide what the profile says."""
    assert run("config", "set", "request_timeout", "12.5").code == 0
    assert in_force(run)["request_timeout"][0] == 12.5
    assert in_force(run, "--request-timeout", "30")["request_timeout"] == (30, "argument")
    assert run("config", "unset", "request_timeout").code == 0
    assert in_force(run)["request_timeout"] == (30, "default")


@pytest.mark.parametrize("form", ["table", "json", "ndjson", "csv", "yaml"])
def test_secrets_are_masked_in_every_format(
    run: Run, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_API_KEY", SECRET)
    done = run("config", "show", "-o", form)
    assert done.code == 0
    assert "ARENA_API_KEY" in done.out
    assert "a-secret" not in done.out + done.err
    assert "0d9e3c1a" not in done.out + done.err


def test_a_value_is_set_read_and_taken_back(run: Run, arena_home: Path) -> None:
    assert "is now 60 in profile hosted" in run("config", "set", "upload_timeout", "60").err
    assert run("config", "get", "upload_timeout").out == "60\n"
    one = json.loads(run("config", "get", "upload_timeout", "-o", "json").out)
    assert one == {
        "key": "upload_timeout", "value": 60,
        "origin": f"{arena_home / 'config.json'}, profile hosted",
    }  # fmt: skip
    assert run("config", "unset", "upload_timeout").code == 0
    again = run("config", "unset", "upload_timeout")
    assert again.code == 4
    assert "does not set upload_timeout" in again.err
    assert run("config", "get", "upload_timeout").out == "300\n"
    assert json.loads((arena_home / "config.json").read_text()) == {}


def test_keys_of_others_are_kept(run: Run, arena_home: Path) -> None:
    arena_home.mkdir()
    theirs = {"default_project": "theirs", "something": {"of": ["somebody"]}}
    (arena_home / "config.json").write_text(json.dumps(theirs))
    assert run("config", "get", "default_project").out == "theirs\n"
    run("config", "set", "default_project", "ours")
    run("config", "set", "realm", "r")
    run("config", "unset", "realm")
    kept = json.loads((arena_home / "config.json").read_text())
    assert kept == {**theirs, "default_project": "ours"}


def test_profiles_are_listed_and_the_one_in_use_is_marked(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("--profile", "work", "config", "set", "base_url", "https://arena.example")
    monkeypatch.setenv("ARENA_PROFILE", "work")
    rows = list(csv.DictReader(io.StringIO(run("config", "profiles", "-o", "csv").out)))
    assert [row["name"] for row in rows] == ["hosted", "local", "work"]
    assert [row["in_use"] for row in rows] == ["False", "False", "True"]
    assert rows[2]["base_url"] == "https://arena.example"
    assert "in profile work" in run("config", "set", "default_project", "p").err
    run("--profile", "work", "config", "unset", "base_url")
    run("config", "unset", "default_project")  # a profile goes with its last value
    assert "no profile 'work'" in run("config", "profiles").err


def test_a_variable_that_hides_what_was_set_is_named(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_BASE_URL", "http://variable:1")
    done = run("config", "set", "base_url", "http://file:1")
    assert "ARENA_BASE_URL is set and goes before the profile." in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("set nope x", "there are: base_url"),
        ("get nope", "there are: profile"),
        ("unset nope", "there are: base_url"),
        ("set api_key x", "belongs in no settings file"),
        ("set access_token x", "belongs in no settings file"),
        ("set base_url ftp://x", "no base URL"),
        ("set base_url https://ada:pw@arena.example", "user name or password"),
        ("set keycloak_url http://", "no keycloak_url"),
        ("set request_timeout nan", "number of seconds"),
        ("set -- request_timeout -1", "number of seconds"),
        ("set upload_timeout 1e300", "number of seconds"),
        ("set realm \x1b[31m", "cannot be the realm"),
        ("set base_url", "Missing argument"),
    ],
)
def test_what_cannot_be_a_setting_is_refused(
    run: Run, arena_home: Path, words: str, said: str
) -> None:
    done = run("config", *words.split(" "))
    assert done.code == 2, done
    assert said in done.err
    assert "\x1b" not in done.err
    assert "pw@" not in done.err
    assert not (arena_home / "config.json").exists()


@pytest.mark.parametrize("name", ["../x", "a/b", "x\x1b[2J", "", "x" * 300])
def test_what_cannot_be_a_profile_is_refused(run: Run, arena_home: Path, name: str) -> None:
    done = run("--profile", name, "config", "set", "realm", "r")
    if name:
        assert done.code == 2, done
        assert not (arena_home / "config.json").exists()
    else:  # no name is no profile: the hosted one is meant
        assert "in profile hosted" in done.err
    assert "\x1b" not in done.err


@pytest.mark.parametrize("content", [b"{\xff", b"[1]", b'{"profiles": 3}', b"", b"[" * 100_000])
def test_a_damaged_file_is_named_and_left_alone(run: Run, arena_home: Path, content: bytes) -> None:
    arena_home.mkdir()
    path = arena_home / "config.json"
    path.write_bytes(content)
    for words in (("show",), ("get", "base_url"), ("profiles",)):
        done = run("config", *words)
        if content == b'{"profiles": 3}':
            assert done.code == 0
        else:
            assert done.code == 2, done
            assert str(path) in done.err
    assert path.read_bytes() == content
