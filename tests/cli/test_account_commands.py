"""Logging in and out, and which account, credential and profile a command goes by."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.cli.cli_running import Run
from tests.local.conftest import ArenaServer, arena_server
from tests.sdk.sdk_keycloak import Keycloak, keycloak_running
from tests.sdk.sdk_service import Service

__all__ = ["arena_server"]  # a fixture

ADA = {"first_name": "Ada", "last_name": "Lovelace", "email": "ada@arena.example", "plan": "pro"}
KEY = "arena_pat_0d9e3c1a-8d0b_a-secret-that-nobody-sees"


@pytest.fixture
def keycloak(monkeypatch: pytest.MonkeyPatch) -> Iterator[Keycloak]:
    """The identity server of the environment."""
    with keycloak_running() as made:
        monkeypatch.setenv("ARENA_KEYCLOAK_URL", made.url)
        yield made


@pytest.fixture
def service(service: Service, keycloak: Keycloak, monkeypatch: pytest.MonkeyPatch) -> Service:
    """A service that answers who has logged in or carries the key; no key is set."""
    monkeypatch.delenv("ARENA_API_KEY")

    def account(request: Request) -> Response:
        known = keycloak.accepts(request) or request.headers["authorization"] == f"Bearer {KEY}"
        return JSONResponse(ADA) if known else JSONResponse({"message": "who are you?"}, 401)

    service.on("GET", "//api/users/current", account)
    service.on("GET", "//api/users/credits", {"remaining": 12.5})
    return service


def whoami(run: Run, *flags: str) -> dict[str, Any]:
    done = run(*flags, "whoami", "-o", "json")
    assert done.code == 0, done
    found: dict[str, Any] = json.loads(done.out)
    return found


# --- logging in -----------------------------------------------------------------------------------


def test_a_login_shows_address_and_code_first_and_prints_no_data(
    run: Run, service: Service, keycloak: Keycloak, arena_home: Path
) -> None:
    keycloak.script = ["pending", "ok"]
    done = run("login", "--no-browser")
    assert (done.code, done.out) == (0, "")
    lines = done.err.splitlines()
    assert "open this address" in lines[0]
    assert f"{keycloak.url}/realms/arena/device?user_code=WDJB-MJHT" in lines[1]
    assert "WDJB-MJHT" in lines[2]
    assert lines[-1] == (
        f"Logged in at {service.url}; the tokens are in {arena_home / 'credentials.json'}."
    )
    assert (arena_home / "credentials.json").stat().st_mode & 0o777 == 0o600
    found = whoami(run)
    assert (found["name"], found["email"]) == ("Ada Lovelace", ADA["email"])
    assert found["credential_origin"] == str(arena_home / "credentials.json")
    assert found["account"] == ADA


def test_who_is_logged_in_logs_in_again_by_force_only(
    run: Run, service: Service, keycloak: Keycloak
) -> None:
    run("login", "--no-browser")
    asked = len(keycloak.asked)
    again = run("login")
    assert again.code == 0
    assert again.err.startswith("Already logged in at ")
    assert len(keycloak.asked) == asked
    assert run("login", "--force", "--no-browser").code == 0
    assert len(keycloak.asked) > asked


def test_a_key_in_the_environment_is_said_to_go_before_a_login(
    run: Run, service: Service, keycloak: Keycloak, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_API_KEY", KEY)
    assert "with the credential from ARENA_API_KEY" in run("login").err
    assert keycloak.asked == []
    assert "ARENA_API_KEY is set and goes before" in run("login", "--force", "--no-browser").err
    assert whoami(run)["credential_origin"] == "ARENA_API_KEY"
    assert "ARENA_API_KEY is still set" in run("logout").err


@pytest.mark.parametrize(
    ("step", "code", "words"),
    [("access_denied", 3, "denied"), ("expired_token", 5, "arena login"), ("pending", 5, "1 s")],
)
def test_a_login_that_comes_to_nothing_says_so(
    run: Run, service: Service, keycloak: Keycloak, arena_home: Path, step: str, code: int,
    words: str,
) -> None:  # fmt: skip
    keycloak.script = [step]
    done = run("login", "--no-browser", "--timeout", "1")
    assert done.code == code, done
    assert words in done.err
    assert not (arena_home / "credentials.json").exists()


def test_ctrl_c_while_waiting_for_approval_is_one_line_and_130(
    service: Service, keycloak: Keycloak, arena_home: Path
) -> None:
    keycloak.script = ["pending"]
    process = subprocess.Popen(
        [sys.executable, "-m", "arena_sdk.cli", "login", "--no-browser"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    while "WDJB-MJHT" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert said.splitlines()[-1] == "interrupted"
    assert "Traceback" not in said
    assert not (arena_home / "credentials.json").exists()


def test_a_logout_forgets_and_revokes(
    run: Run, service: Service, keycloak: Keycloak, arena_home: Path
) -> None:
    run("login", "--no-browser")
    refresh = json.loads((arena_home / "credentials.json").read_text())["refresh_token"]
    done = run("logout")
    assert (done.code, done.out, done.err) == (0, "", "Logged out.\n")
    assert keycloak.revoked == [refresh]
    assert not (arena_home / "credentials.json").exists()
    assert run("logout").err == "There was no login to forget.\n"
    gone = run("whoami")
    assert gone.code == 3
    assert "arena login" in gone.err


def test_tokens_of_one_identity_server_are_never_given_to_another(
    run: Run, service: Service, keycloak: Keycloak, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("login", "--no-browser")
    with keycloak_running() as other:
        monkeypatch.setenv("ARENA_KEYCLOAK_URL", other.url)
        calls = len(service.calls)
        assert run("whoami").code == 3
        assert other.asked == []
        assert len(service.calls) == calls


# --- whose account --------------------------------------------------------------------------------


def test_whoami_says_which_credential_and_where_it_is_from_and_no_secret(
    run: Run, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = whoami(run, "--api-key", KEY)
    assert (found["credential"], found["credential_origin"]) == ("arena_pat_…sees", "argument")
    assert (found["base_url"], found["base_url_origin"]) == (service.url, "ARENA_BASE_URL")
    monkeypatch.setenv("ARENA_API_KEY", KEY)
    table = run("whoami")
    assert "ARENA_API_KEY" in table.out
    assert "ada@arena.example" in table.out
    for form in ("table", "json", "ndjson", "csv", "yaml"):
        done = run("whoami", "-o", form)
        assert KEY not in done.out + done.err
        assert "secret" not in done.out + done.err


def test_an_organisation_is_shown_with_its_user(run: Run, service: Service) -> None:
    service.on("GET", "//api/users/current", ADA)
    flags = ("--org-key", "arena_org_of-somebody-else", "--external-user-id", "user-7")
    assert whoami(run, *flags)["external_user_id"] == "user-7"
    headers = service.calls[-1].headers
    assert headers["authorization"] == "Bearer arena_org_of-somebody-else"
    assert headers["x-external-user-id"] == "user-7"
    half = run("--org-key", "arena_org_of-somebody-else", "whoami")
    assert half.code == 2
    assert "--external-user-id" in half.err


def test_a_rejected_key_is_said_and_the_login_that_is_used_instead(
    run: Run, service: Service, keycloak: Keycloak, arena_home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    run("login", "--no-browser")
    monkeypatch.setenv("ARENA_API_KEY", "arena_pat_of-yesterday-and-no-longer-good")
    done = run("whoami", "-o", "json")
    assert done.code == 0
    assert "rejects the key from ARENA_API_KEY" in done.err
    assert json.loads(done.out)["credential_origin"] == str(arena_home / "credentials.json")


@pytest.mark.parametrize(("answer", "shown"), [({"remaining": 12.5}, "12.5"), (7.25, "7.25")])
def test_account_and_credits(run: Run, service: Service, answer: Any, shown: str) -> None:
    service.on("GET", "//api/users/credits", answer)
    assert shown in run("--api-key", KEY, "user", "credits").out
    assert json.loads(run("--api-key", KEY, "user", "credits", "-o", "json").out) == answer
    assert json.loads(run("--api-key", KEY, "user", "profile", "-o", "json").out) == ADA


# --- profiles -------------------------------------------------------------------------------------


def test_a_profile_of_your_own_has_tokens_of_its_own(
    run: Run, service: Service, keycloak: Keycloak, arena_home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.delenv("ARENA_BASE_URL")
    monkeypatch.delenv("ARENA_KEYCLOAK_URL")
    for key, value in (("base_url", service.url), ("keycloak_url", keycloak.url)):
        assert run("--profile", "work", "config", "set", key, value).code == 0
    assert run("--profile", "work", "login", "--no-browser").code == 0
    kept = {path.name for path in arena_home.iterdir() if not path.name.startswith(".")}
    assert kept == {"config.json", "credentials-work.json"}
    assert whoami(run, "--profile", "work")["profile"] == "work"
    monkeypatch.setenv("ARENA_PROFILE", "work")
    found = whoami(run)
    assert (found["profile"], found["profile_origin"]) == ("work", "ARENA_PROFILE")
    assert found["base_url_origin"] == f"{arena_home / 'config.json'}, profile work"
    assert run("--profile", "hosted", "config", "get", "credential").code == 4
    assert run("logout").err == "Logged out.\n"
    assert not (arena_home / "credentials-work.json").exists()


def test_a_profile_that_there_is_not_names_those_that_there_are(run: Run) -> None:
    for words in (("whoami",), ("login",), ("config", "show"), ("projects", "list")):
        done = run("--profile", "nowhere", *words)
        assert done.code == 2
        assert "'nowhere' (argument); there are: hosted, local" in done.err


def test_the_arena_of_this_machine_goes_by_local_and_needs_no_login(
    run: Run, arena_server: ArenaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_HOME", str(arena_server.home))
    monkeypatch.setenv("ARENA_API_KEY", KEY)  # for the hosted Arena: never sent here
    for flags in (["--local"], ["--profile", "local"]):
        found = whoami(run, *flags)
        assert (found["profile"], found["base_url"]) == ("local", arena_server.base_url)
        assert found["credential_origin"] == "the token of the Arena on this machine"
    monkeypatch.setenv("ARENA_PROFILE", "local")
    assert whoami(run)["profile_origin"] == "ARENA_PROFILE"
    for words in (("login",), ("logout",)):
        assert "needs no login" in run("--local", *words).err
    both = run("--local", "--profile", "work", "whoami")
    assert both.code == 2
    assert "exclude each other" in both.err


def test_local_without_an_arena_says_how_to_start_one(run: Run) -> None:
    for words in (("whoami",), ("projects", "list")):
        done = run("--local", *words)
        assert done.code == 5
        assert "arena local up" in done.err
