"""Renewing a login: ahead of its end, after a 401, by several processes, by wrong clocks."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from renewing import renew_in_processes
from sdk_keycloak import Keycloak, jwt
from sdk_service import Service, json_lines
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from arena_sdk import (
    ArenaAPIError,
    ArenaAuthError,
    ArenaClient,
    ArenaConfigError,
    ArenaValidationError,
    AsyncArenaClient,
    oauth,
)
from arena_sdk._stored import FileLock

DONE = {"kind": "status", "status": "completed", "message": "done", "detail": {"validated": True}}


@pytest.fixture
def arena(service: Service, keycloak: Keycloak, monkeypatch: pytest.MonkeyPatch) -> Service:
    """A service that lets in whom the identity server knows."""
    monkeypatch.setenv("ARENA_BASE_URL", service.url)

    def guarded(value: Any) -> Any:
        def answer(request: Request) -> Response:
            if not keycloak.accepts(request):
                return JSONResponse({"message": "who are you?"}, 401)
            return value if isinstance(value, Response) else JSONResponse(value)

        return answer

    done = Response(json_lines(DONE), media_type="application/x-ndjson")
    service.on("GET", "/projects", guarded([{"name": "p"}]))
    service.on("POST", "/projects/create", guarded({"name": "p"}))
    service.on("GET", "//api/users/current", guarded({"email": "ada"}))
    service.on("POST", "/environments/profile", guarded(done))
    service.on("POST", "/environments/create-and-validate", guarded(done))
    service.on("POST", "/datasets/create", guarded({"is_ready": True}))
    return service


def store(home: Path, answer: dict[str, Any]) -> None:
    """Store tokens as an earlier login did."""
    home.mkdir(mode=0o700, exist_ok=True)
    (home / "credentials.json").write_text(json.dumps(answer))


def stored(home: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((home / "credentials.json").read_text())
    return found


@pytest.mark.parametrize(("left", "renewed"), [(300, 0), (75, 0), (45, 1), (-5, 1), (-9999, 1)])
def test_a_token_is_renewed_within_its_last_minute(
    arena: Service, keycloak: Keycloak, arena_home: Path, left: float, renewed: int
) -> None:
    keycloak.lifetime = left
    store(arena_home, {**keycloak.tokens(), "mine": 1})
    keycloak.lifetime = 300
    before = stored(arena_home)
    with ArenaClient() as client:
        client.list_projects()
        client.list_projects()
    assert len(keycloak.grants) == renewed
    assert len(arena.calls) == 2  # no request was spent on finding out
    after = stored(arena_home)
    assert (after["access_token"] != before["access_token"]) is bool(renewed)
    assert (after["refresh_token"] != before["refresh_token"]) is bool(renewed)
    assert after["mine"] == 1


@pytest.mark.parametrize(
    "token",
    ["opaque", "a.b.c", "a.!!!.c", "..", jwt(), jwt(exp="soon"), jwt(exp=True), jwt(exp=1e400)],
)
def test_a_token_that_does_not_say_when_it_ends_is_used(
    arena: Service, keycloak: Keycloak, arena_home: Path, token: str
) -> None:
    keycloak.valid.add(token)
    store(arena_home, {"access_token": token})
    with ArenaClient() as client:
        client.list_projects()
    assert keycloak.asked == []


def test_a_login_that_was_revoked_says_what_to_do(
    arena: Service, keycloak: Keycloak, arena_home: Path
) -> None:
    keycloak.lifetime = 5
    store(arena_home, keycloak.tokens())
    keycloak.refreshers.clear()
    with ArenaClient() as client, pytest.raises(ArenaAuthError, match="has ended") as caught:
        client.list_projects()
    assert "Token is not active" in caught.value.detail
    assert "arena login" in (caught.value.hint_cli or "")
    assert "client.login()" in (caught.value.hint_python or "")
    assert arena.calls == []


def test_a_login_without_a_refresh_token_ends(
    arena: Service, keycloak: Keycloak, arena_home: Path
) -> None:
    keycloak.lifetime = 5
    store(arena_home, {"access_token": keycloak.tokens()["access_token"]})
    with ArenaClient() as client, pytest.raises(ArenaAuthError, match="no refresh token"):
        client.list_projects()


def test_a_token_that_is_still_good_is_used_while_the_identity_server_is_away(
    arena: Service, keycloak: Keycloak, arena_home: Path
) -> None:
    keycloak.lifetime = 30
    store(arena_home, keycloak.tokens())
    keycloak.broken = True
    with ArenaClient() as client:
        assert client.list_projects()
    keycloak.lifetime = -30
    store(arena_home, keycloak.tokens())
    with ArenaClient() as client, pytest.raises(ArenaAPIError, match="HTTP 502"):
        client.list_projects()


@pytest.mark.parametrize("ahead", [-7200.0, -120.0, 120.0, 7200.0])
def test_a_wrong_clock_costs_one_renewal_at_most(
    arena: Service, keycloak: Keycloak, arena_home: Path, ahead: float
) -> None:
    """A client whose clock is wrong learns by how much from the token that it is given."""
    keycloak.ahead = ahead
    store(arena_home, keycloak.tokens())
    with ArenaClient() as client:
        for _ in range(5):
            client.list_projects()
        assert len(keycloak.grants) <= 1
        # Whoever is behind takes a token for good that is not; the service says so.
        keycloak.valid.clear()
        client.list_projects()
        client.list_projects()
    assert len(keycloak.grants) <= 2


def test_by_a_clock_that_is_known_to_be_wrong_tokens_are_renewed_in_time(
    arena: Service, keycloak: Keycloak, arena_home: Path
) -> None:
    keycloak.ahead, keycloak.lifetime = -7200, 30
    store(arena_home, keycloak.tokens())
    with ArenaClient() as client:
        client.list_projects()
        keycloak.lifetime = 300
        client.list_projects()
        assert len(keycloak.grants) == 2  # the 30 seconds of the first were known to be too few
        client.list_projects()
    assert len(keycloak.grants) == 2


def test_a_401_is_tried_once_more_with_a_new_token(
    arena: Service, keycloak: Keycloak, arena_home: Path
) -> None:
    store(arena_home, keycloak.tokens())
    with ArenaClient() as client:
        keycloak.valid.clear()
        assert client.create_project("p") == {"name": "p"}
        assert [call.path for call in arena.calls] == ["/api/cli/v1/projects/create"] * 2
        assert arena.calls[0].body == arena.calls[1].body
        assert len(keycloak.grants) == 1


def test_a_401_after_that_is_an_error(arena: Service, keycloak: Keycloak, arena_home: Path) -> None:
    store(arena_home, keycloak.tokens())
    arena.on("GET", "/projects", {"message": "not you"}, 401)
    with ArenaClient() as client, pytest.raises(ArenaAuthError, match="not you") as caught:
        client.list_projects()
    assert len(keycloak.grants) == 1
    assert len(arena.calls) == 2
    assert "credentials.json was rejected" in (caught.value.hint_cli or "")


def test_streams_and_uploads_are_sent_again_from_their_beginning(
    arena: Service, keycloak: Keycloak, arena_home: Path, tmp_path: Path
) -> None:
    source = tmp_path / "env"
    source.mkdir()
    (source / "env.py").write_bytes(b"import gymnasium\n")
    noise = b"".join(hashlib.sha256(str(i).encode()).digest() for i in range(400_000))
    (source / "weights.bin").write_bytes(noise)  # 12.8 MB that gzip makes no smaller
    rows = tmp_path / "rows.csv"
    rows.write_text("question,answer\n1+1,2\n" * 10_000)
    store(arena_home, keycloak.tokens())
    with ArenaClient() as client:
        for call in (
            lambda: client.profile_environment(name="e"),
            lambda: client.validate_environment(name="e", source=source),
            lambda: client.create_dataset(
                name="d",
                category="reasoning",
                column_mapping={"question": "question", "answer": "answer"},
                file=rows,
            ),
        ):
            keycloak.valid.clear()
            arena.calls.clear()
            call()
            first, second = arena.calls
            assert first.path == second.path
            assert first.form == second.form
            assert first.form or first.json == second.json


async def test_a_401_is_tried_once_more_async(
    arena: Service, keycloak: Keycloak, arena_home: Path
) -> None:
    store(arena_home, keycloak.tokens())
    async with AsyncArenaClient() as client:
        keycloak.valid.clear()
        assert await client.profile_environment(name="e") == {"validated": True}
        keycloak.valid.clear()
        answers = await asyncio.gather(*(client.list_projects() for _ in range(20)))
    assert answers == [[{"name": "p"}]] * 20
    assert len(keycloak.grants) == 2  # all twenty were refused; one of them saw to it


async def test_who_is_cancelled_while_renewing_loses_no_token(
    arena: Service, keycloak: Keycloak, arena_home: Path
) -> None:
    keycloak.lifetime = 5
    store(arena_home, keycloak.tokens())
    keycloak.lifetime = 300
    async with AsyncArenaClient() as client:
        request = asyncio.create_task(client.list_projects())
        await asyncio.to_thread(keycloak.renewing.wait, 30)
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        await client.list_projects()
    assert len(keycloak.grants) == 1
    assert stored(arena_home)["refresh_token"] in keycloak.refreshers


def test_threads_of_one_client_renew_once(
    arena: Service, keycloak: Keycloak, arena_home: Path
) -> None:
    keycloak.lifetime = 5
    store(arena_home, keycloak.tokens())
    keycloak.lifetime = 300
    told: list[Any] = []
    with ArenaClient() as client:
        threads = [
            threading.Thread(target=lambda: told.append(client.list_projects())) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    assert told == [[{"name": "p"}]] * 8
    assert len(keycloak.grants) == 1


def test_processes_that_renew_at_once_all_stay_logged_in(
    arena: Service, keycloak: Keycloak, arena_home: Path
) -> None:
    keycloak.lifetime = 5
    store(arena_home, keycloak.tokens())
    keycloak.lifetime = 300
    assert renew_in_processes(4) == ["ada"] * 4
    assert len(keycloak.grants) == 1
    assert stored(arena_home)["refresh_token"] in keycloak.refreshers


def test_what_another_program_renewed_meanwhile_is_used(
    arena: Service, keycloak: Keycloak, arena_home: Path
) -> None:
    """The published client takes no lock: its renewal may come between our reading and asking."""
    keycloak.lifetime = 5
    store(arena_home, keycloak.tokens())
    with ArenaClient() as client:
        keycloak.lifetime = 300
        keycloak.refreshers.clear()
        store(arena_home, keycloak.tokens())
        client.list_projects()
    assert keycloak.grants == []


def test_a_lock_whose_holder_died_is_free(arena_home: Path) -> None:
    path = arena_home / "credentials.json"
    first, second = FileLock(path), FileLock(path)
    assert first.take()
    assert not second.take()
    first.release()
    assert second.take()
    second.release()


def test_a_logout_elsewhere_ends_the_login_here(
    arena: Service, keycloak: Keycloak, arena_home: Path
) -> None:
    store(arena_home, keycloak.tokens())
    with ArenaClient() as here:
        with ArenaClient() as elsewhere:
            elsewhere.logout()
        keycloak.valid.clear()
        with pytest.raises(ArenaAuthError, match="any more"):
            here.list_projects()
    assert not (arena_home / "credentials.json").exists()


def test_a_rejected_key_gives_way_to_the_login_once_and_says_so(
    arena: Service, keycloak: Keycloak, arena_home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store(arena_home, keycloak.tokens())
    with ArenaClient("arena_pat_1_rejected") as client:
        client.create_project("p")
        client.list_projects()
        assert client.credential_origin == str(arena_home / "credentials.json")
    sent = [call.headers["authorization"] for call in arena.calls]
    assert sent[0] == "Bearer arena_pat_1_rejected"
    assert sent[1] == sent[2] == f"Bearer {stored(arena_home)['access_token']}"
    said = [record for record in caplog.records if record.levelname == "WARNING"]
    assert len(said) == 1
    assert "rejects the key from argument" in said[0].getMessage()
    assert "credentials.json" in said[0].getMessage()


def test_a_rejected_key_gives_way_to_a_login_that_must_be_renewed_first(
    arena: Service, keycloak: Keycloak, arena_home: Path
) -> None:
    keycloak.lifetime = 5
    store(arena_home, keycloak.tokens())
    keycloak.lifetime = 300
    with ArenaClient("rejected") as client:
        assert client.list_projects()
    assert len(arena.calls) == 2
    assert len(keycloak.grants) == 1


def test_a_rejected_key_without_a_login_is_an_error(arena: Service, arena_home: Path) -> None:
    with ArenaClient("rejected") as client, pytest.raises(ArenaAuthError) as caught:
        client.list_projects()
    assert len(arena.calls) == 1
    assert "from argument was rejected" in (caught.value.hint_cli or "")
    store(arena_home, {})
    (arena_home / "credentials.json").write_text("{half")
    with ArenaClient("rejected") as client, pytest.raises(ArenaConfigError, match="credentials"):
        client.list_projects()


def test_an_organisation_never_becomes_a_person(
    arena: Service, keycloak: Keycloak, arena_home: Path
) -> None:
    store(arena_home, keycloak.tokens())
    with (
        ArenaClient(org_key="arena_org_x", external_user_id="u") as client,
        pytest.raises(ArenaAuthError),
    ):
        client.list_projects()
    assert len(arena.calls) == 1


def test_the_arena_of_this_machine_never_gets_a_login(
    arena: Service, keycloak: Keycloak, arena_home: Path
) -> None:
    store(arena_home, keycloak.tokens())
    folder = arena_home / "local"
    folder.mkdir()
    (folder / "server.json").write_text(json.dumps({"url": arena.url, "pid": os.getpid()}))
    (folder / "token").write_text("arena_local_old")
    for client in (ArenaClient(profile="local"), ArenaClient("wrong"), ArenaClient()):
        with client, pytest.raises(ArenaAuthError):
            client.list_projects()
    sent = [call.headers["authorization"] for call in arena.calls]
    assert sent == ["Bearer arena_local_old", "Bearer wrong", "Bearer arena_local_old"]
    assert keycloak.asked == []


def test_a_403_is_no_reason_to_try_another_credential(
    arena: Service, keycloak: Keycloak, arena_home: Path
) -> None:
    store(arena_home, keycloak.tokens())
    arena.on("GET", "/projects", {"message": "not yours"}, 403)
    with ArenaClient("key") as client, pytest.raises(ArenaAuthError, match="not yours"):
        client.list_projects()
    assert len(arena.calls) == 1


def test_an_event_stream_that_begins_with_a_401_shows_each_event_once(
    arena: Service, keycloak: Keycloak, arena_home: Path
) -> None:
    store(arena_home, keycloak.tokens())
    seen: list[Any] = []
    with ArenaClient(on_event=seen.append) as client:
        keycloak.valid.clear()
        client.profile_environment(name="e")
    assert len(seen) == 1


def test_a_refused_stream_is_an_authentication_error(arena: Service, arena_home: Path) -> None:
    with ArenaClient("rejected") as client, pytest.raises(ArenaAuthError, match="who are you"):
        client.profile_environment(name="e")
    with ArenaClient("rejected") as client:
        arena.on("POST", "/environments/profile", {"message": "no"}, 422)
        with pytest.raises(ArenaValidationError):
            client.profile_environment(name="e")


def test_skew_is_read_from_a_token() -> None:
    now = time.time()
    assert abs(oauth.skew_of(jwt(iat=now - 100)) - 100) < 50
    assert oauth.skew_of("opaque") == 0.0
    assert oauth.is_due(jwt(exp=now + 30))
    assert not oauth.is_due(jwt(exp=now - 1000), skew=2000)
    assert oauth.has_ended(jwt(exp=now - 30))
    assert not oauth.has_ended(jwt(exp=now + 30))
