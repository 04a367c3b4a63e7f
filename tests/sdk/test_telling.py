"""What the SDK says of its work: `-v`, `ARENA_LOG`; every request and retry, never a secret."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sdk_keycloak import Keycloak, jwt
from sdk_service import Service, answers, ndjson
from starlette.responses import JSONResponse

from arena_sdk import Agent, ArenaClient, ArenaConfigError, AsyncArenaClient, _logs
from arena_sdk.cli import root

KEY = "arena_pat_5b1c-0000_the-secret-part"
DONE = {"kind": "status", "status": "completed", "detail": {"validated": True}}


@pytest.fixture(autouse=True)
def nobody_listens() -> Iterator[None]:
    """Let the logger be as it is in a new process, before and after."""
    logger, level = _logs.logger, _logs.logger.level
    logger.removeHandler(_logs._handler)
    logger.setLevel(logging.NOTSET)
    yield
    logger.removeHandler(_logs._handler)
    logger.setLevel(level)


@pytest.fixture
def service(service: Service) -> Service:
    """A service with something to retry, to stream and to refuse."""
    busy = JSONResponse({"message": "later"}, 503, {"retry-after": "0"})
    service.on("GET", "/projects", answers(busy, JSONResponse([])))
    service.on("POST", "/environments/profile", ndjson(DONE))
    service.on("GET", "//status", {"success": True, "agent": None})
    return service


def work(service: Service, **options: Any) -> None:
    """Make a call that is retried, one that streams, and one to an agent."""
    with ArenaClient(base_url=service.url, **options) as client:
        client.list_projects()
        client.profile_environment(name="e")
    key = options.get("api_key") or options.get("org_key")
    with Agent(service.url, api_key=key):
        pass


def test_nothing_is_said_unasked(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    work(service, api_key=KEY)
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "")


def test_info_has_a_line_for_every_request_and_retry(
    service: Service, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_LOG", "info")
    work(service, api_key=KEY)
    said = capsys.readouterr()
    assert said.out == ""
    begins = [line.removeprefix("arena: ") for line in said.err.splitlines()]
    url = f"{service.url}/api/cli/v1"
    assert begins[0].startswith(f"GET {url}/projects: 503 (")
    assert begins[1].startswith("GET /api/cli/v1/projects: attempt 1 of 4 failed (HTTP 503), again")
    assert begins[2].startswith(f"GET {url}/projects: 200 (")
    assert begins[3].startswith(f"POST {url}/environments/profile: 200 (")
    assert begins[4] == f"GET {service.url}/status: 200"
    assert len(begins) == 5


@pytest.mark.parametrize(
    "options",
    [{"api_key": KEY}, {"org_key": KEY.replace("pat", "org"), "external_user_id": "user-7"}],
    ids=["key", "organisation"],
)
def test_debug_has_headers_and_no_secret(
    service: Service, options: dict[str, str], capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("ARENA_LOG", "debug")
    work(service, **options)
    said = capsys.readouterr().err
    assert "'Authorization': '…'" in said
    assert "'content-type': 'application/json'" in said
    assert "the-secret-part" not in said
    assert "5b1c-0000" not in said


async def test_the_async_client_says_the_same(
    service: Service, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_LOG", "debug")
    async with AsyncArenaClient(KEY, base_url=service.url) as client:
        await client.list_projects()
    said = capsys.readouterr().err
    assert "attempt 1 of 4" in said
    assert "the-secret-part" not in said


def test_tokens_of_a_login_are_never_said(
    service: Service, keycloak: Keycloak, arena_home: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("ARENA_LOG", "debug")
    monkeypatch.setenv("ARENA_BASE_URL", service.url)
    with ArenaClient() as client:
        client.login(open_browser=False)
        secrets = [json.loads((arena_home / "credentials.json").read_text())]
        client.list_projects()
        client._transport.keeper.credential = None
    (arena_home / "credentials.json").write_text(
        json.dumps({**secrets[0], "access_token": jwt(exp=1)})
    )
    with ArenaClient() as client:  # it must be renewed first
        client.list_projects()
        secrets.append(json.loads((arena_home / "credentials.json").read_text()))
        client.logout()
    said = capsys.readouterr().err
    assert "Renewing the login stored in" in said
    assert "/token" in said
    for answer in secrets:
        for name in ("access_token", "refresh_token"):
            assert answer[name] not in said
            assert answer[name].split(".")[1] not in said


def test_cookies_are_secrets(
    service: Service, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_LOG", "debug")
    service.on(
        "GET", "/projects", lambda request: JSONResponse([], headers={"set-cookie": "s=oven-hot"})
    )
    with ArenaClient(KEY, base_url=service.url) as client:
        client.list_projects()
    assert "oven-hot" not in capsys.readouterr().err


def test_headers_of_a_service_cannot_change_the_terminal(
    service: Service, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_LOG", "debug")
    service.on(
        "GET", "/projects", lambda request: JSONResponse([], headers={"x-odd": "\x1b[31mred\x9b"})
    )
    with ArenaClient(KEY, base_url=service.url) as client:
        client.list_projects()
    said = capsys.readouterr().err
    assert "x-odd" in said
    assert "\x1b" not in said
    assert "\x9b" not in said


@pytest.mark.parametrize("words", [["-v", "projects", "list"], ["projects", "list", "-v"]])
def test_v_says_on_stderr_what_is_sent_and_retried(
    service: Service, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        root.run(["--base-url", service.url, "--api-key", KEY, *words, "-o", "json"])
    said = capsys.readouterr()
    assert ended.value.code == 0
    assert json.loads(said.out) == []
    assert "attempt 1 of 4 failed (HTTP 503)" in said.err
    assert f"arena: GET {service.url}/api/cli/v1/projects: 200" in said.err
    assert "the-secret-part" not in said.err


@pytest.mark.parametrize("level", ["loud", "0", "info,debug"])
def test_a_level_that_is_none_names_those_that_there_are(
    level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_LOG", level)
    with pytest.raises(ArenaConfigError, match="debug, info, warning, error"):
        ArenaClient(KEY, base_url="http://127.0.0.1:1")
