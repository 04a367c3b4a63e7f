"""Requests over real sockets: retries, redirects, answers, errors, streams; in both flavours."""

from __future__ import annotations

import socket
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sdk_service import Service, answers, json_lines, ndjson, running
from starlette.requests import Request
from starlette.responses import (
    JSONResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)

from arena_sdk import (
    ArenaAPIError,
    ArenaAuthError,
    ArenaClient,
    ArenaConfigError,
    ArenaTimeoutError,
    ArenaTrainingError,
    ArenaValidationError,
    AsyncArenaClient,
)
from arena_sdk.events import CheckEvent, LogEvent, StatusEvent, StreamEvent, WarningEvent

AT_ONCE = {"retry-after": "0"}
DONE = {"kind": "status", "status": "completed", "message": "done", "detail": {"validated": True}}


def refusing(status: int, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"message": "not now"}, status, headers or AT_ONCE)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_reads_are_tried_again(service: Service, client: ArenaClient, status: int) -> None:
    service.on("GET", "/projects", answers(refusing(status), refusing(status), JSONResponse([])))
    assert client.list_projects() == []
    assert len(service.calls) == 3


async def test_reads_are_tried_again_async(
    service: Service, async_client: AsyncArenaClient
) -> None:
    service.on("GET", "/projects", answers(refusing(503), JSONResponse([{"name": "p"}])))
    assert await async_client.list_projects() == [{"name": "p"}]


def test_tries_are_bounded(service: Service, client: ArenaClient) -> None:
    service.on("GET", "/projects", answers(refusing(503)))
    with pytest.raises(ArenaAPIError, match="not now") as caught:
        client.list_projects()
    assert caught.value.status_code == 503
    assert len(service.calls) == 4


@pytest.mark.parametrize("status", [400, 404, 409, 413, 501, 507])
def test_what_trying_again_does_not_mend_is_not_tried_again(
    service: Service, client: ArenaClient, status: int
) -> None:
    service.on("GET", "/projects", answers(refusing(status)))
    with pytest.raises(ArenaAPIError):
        client.list_projects()
    assert len(service.calls) == 1


def test_what_changes_something_is_sent_once(service: Service, client: ArenaClient) -> None:
    service.on("POST", "/projects/create", answers(refusing(503)))
    service.on("POST", "/environments/profile", answers(refusing(503)))
    with pytest.raises(ArenaValidationError):
        client.create_project("p")
    with pytest.raises(ArenaValidationError):
        client.profile_environment(name="e")
    assert len(service.calls) == 2


def test_a_wait_that_is_asked_for_is_kept(service: Service, client: ArenaClient) -> None:
    service.on("GET", "/projects", answers(refusing(429, {"retry-after": "1"}), JSONResponse([])))
    start = time.monotonic()
    client.list_projects()
    assert time.monotonic() - start >= 1


def test_too_long_a_wait_is_an_error_at_once(service: Service, client: ArenaClient) -> None:
    service.on("GET", "/projects", answers(refusing(429, {"retry-after": "3600"})))
    with pytest.raises(ArenaAPIError) as caught:
        client.list_projects()
    assert (caught.value.status_code, len(service.calls)) == (429, 1)


def test_a_slow_service_is_asked_once(service: Service) -> None:
    def slow(request: Request) -> Response:
        time.sleep(1)
        return JSONResponse([])

    service.on("GET", "/projects", slow)
    with (
        ArenaClient("k", base_url=service.url, request_timeout=0.2) as client,
        pytest.raises(ArenaAPIError, match="did not answer in time") as caught,
    ):
        client.list_projects()
    assert caught.value.status_code == 0
    assert len(service.calls) == 1


def test_no_service_is_one_clear_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening, so nobody else answers there
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with ArenaClient("k", base_url=url) as client, pytest.raises(ArenaAPIError) as caught:
            client.get_current_user()
    assert caught.value.status_code == 0
    assert f"{url} cannot be reached" in caught.value.detail
    assert caught.value.hint_cli is not None
    assert "arena doctor" in caught.value.hint_cli


def test_a_redirect_elsewhere_gets_no_credential(service: Service, client: ArenaClient) -> None:
    elsewhere = Service()
    with running(elsewhere) as url:
        service.on("GET", "/projects", lambda request: RedirectResponse(f"{url}/projects"))
        with pytest.raises(ArenaAPIError, match="redirects to") as caught:
            client.list_projects()
    assert elsewhere.calls == []
    assert url in caught.value.detail


def test_a_redirect_on_the_same_host_is_followed(service: Service, client: ArenaClient) -> None:
    service.on("GET", "/projects", lambda request: RedirectResponse("/api/cli/v1/moved"))
    service.on("GET", "/moved", [{"name": "p"}])
    assert client.list_projects() == [{"name": "p"}]
    assert service.calls[-1].headers["authorization"] == "Bearer a-key"


def test_redirects_in_a_circle_end(service: Service, client: ArenaClient) -> None:
    service.on("GET", "/projects", lambda request: RedirectResponse("/api/cli/v1/projects"))
    with pytest.raises(ArenaAPIError, match="round in circles"):
        client.list_projects()


def test_a_body_is_not_sent_again_by_a_redirect(service: Service, client: ArenaClient) -> None:
    service.on("POST", "/projects/create", lambda request: RedirectResponse("/elsewhere"))
    with pytest.raises(ArenaValidationError, match="moved to /elsewhere"):
        client.create_project("p")


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ({"ok": True, "data": [1]}, [1]),
        ({"ok": True, "data": [1], "more": 2}, [1]),
        ({"ok": False, "data": [1]}, {"ok": False, "data": [1]}),
        ({"data": [1]}, {"data": [1]}),
    ],
)
def test_the_envelope_is_opened_and_nothing_else(
    service: Service, client: ArenaClient, answer: Any, value: Any
) -> None:
    service.on("GET", "//api/users/credits", answer)
    assert client.get_user_credits() == value


def test_plain_text_is_an_answer_too(service: Service, client: ArenaClient) -> None:
    service.on(
        "POST", "/experiments/jobs/stop", lambda r: Response("on it", media_type="text/plain")
    )
    assert client.stop_experiment("e") == "on it"


@pytest.mark.parametrize("answer", [b"<html>a portal</html>", b'{"half', b'{"a": 1}', b"null"])
def test_an_answer_of_another_shape_is_an_error(
    service: Service, client: ArenaClient, answer: bytes
) -> None:
    service.on("GET", "/projects", lambda r: Response(answer, media_type="application/json"))
    with pytest.raises(ArenaAPIError, match="/api/cli/v1/projects is not"):
        client.list_projects()


def test_a_huge_error_is_read_to_its_limit_only(service: Service, client: ArenaClient) -> None:
    async def flood() -> AsyncIterator[bytes]:
        for _ in range(400):
            yield b"x" * 65536

    service.on("GET", "/projects", lambda r: StreamingResponse(flood(), 404))
    with pytest.raises(ArenaAPIError) as caught:
        client.list_projects()
    assert len(caught.value.detail) <= 2000


def test_a_wrong_key_says_what_to_do(service: Service, client: ArenaClient) -> None:
    service.on("GET", "//api/users/current", {"message": "who are you?"}, 401)
    with pytest.raises(ArenaAuthError, match="who are you") as caught:
        client.get_current_user()
    assert "ARENA_API_KEY" in (caught.value.hint_cli or "")


def test_no_credential_is_said_before_anything_is_sent(service: Service) -> None:
    service.on("GET", "//health", {"status": "ok"})
    with ArenaClient(base_url=service.url) as client:
        assert not client.is_authenticated
        with pytest.raises(ArenaAuthError, match="no credential"):
            client.list_projects()
        assert service.calls == []
        assert client.health() == {"status": "ok"}
    assert "authorization" not in service.calls[0].headers


def test_an_organisation_sends_its_user(service: Service) -> None:
    service.on("GET", "/projects", [])
    with ArenaClient(org_key="arena_org_x", external_user_id="u", base_url=service.url) as client:
        client.list_projects()
    assert service.calls[0].headers["authorization"] == "Bearer arena_org_x"
    assert service.calls[0].headers["x-external-user-id"] == "u"


@pytest.mark.parametrize(("key", "user"), [("k\n", "ü"), ("klüssel", "u"), ("k\x00", "u")])
def test_a_credential_that_no_header_carries_is_refused(key: str, user: str) -> None:
    with pytest.raises(ArenaConfigError, match="HTTP header"):
        ArenaClient(org_key=key, external_user_id=user, base_url="http://127.0.0.1:1")


def test_capabilities(service: Service, client: ArenaClient) -> None:
    features = {"live_metrics": {"path": "/x"}}
    service.on("GET", "/capabilities", {"ok": True, "data": {"features": features}})
    assert client.capabilities() == features
    client.capabilities()
    assert len(service.calls) == 1


@pytest.mark.parametrize(
    "answer",
    [JSONResponse({}, 404), Response("<html>"), JSONResponse([]), JSONResponse({"features": 3})],
)
def test_a_service_without_capabilities_offers_none(
    service: Service, client: ArenaClient, answer: Response
) -> None:
    service.on("GET", "/capabilities", lambda request: answer)
    assert client.capabilities() == {}


@pytest.mark.parametrize("chunk", [1, 3, 7, 0])
def test_events_come_typed_whatever_the_chunks(service: Service, chunk: int) -> None:
    lines = [
        {"kind": "status", "status": "running", "message": "größer ✓ 🚀"},
        {"kind": "warning", "message": "take care"},
        {"kind": "check", "detail": {"check": "Step", "result": {"success": False, "error": "e"}}},
        {"kind": "new"},
        DONE,
    ]
    service.on("POST", "/environments/profile", ndjson(*lines, chunk=chunk))
    seen: list[StreamEvent] = []
    with ArenaClient("k", base_url=service.url, on_event=seen.append) as client:
        assert client.profile_environment(name="e") == {"validated": True}
    assert [type(event) for event in seen] == [
        StatusEvent, WarningEvent, CheckEvent, LogEvent, StatusEvent,
    ]  # fmt: skip
    assert seen[0].message == "größer ✓ 🚀"


async def test_events_come_while_the_work_goes_on(
    service: Service, async_client: AsyncArenaClient
) -> None:
    told: list[float] = []

    async def work() -> AsyncIterator[bytes]:
        import asyncio

        yield json_lines({"kind": "status", "status": "running", "message": "begun"})
        await asyncio.sleep(0.5)
        yield json_lines(DONE)

    service.on("POST", "/environments/profile", lambda request: StreamingResponse(work()))
    async_client.set_stream_handler(lambda event: told.append(time.monotonic()))
    await async_client.profile_environment(name="e")
    assert told[1] - told[0] > 0.3


def test_a_connection_that_breaks_in_a_stream_says_what_was_last_heard(
    service: Service, client: ArenaClient
) -> None:
    async def dying() -> AsyncIterator[bytes]:
        yield json_lines({"kind": "status", "status": "running", "message": "Installed rich"})
        raise ConnectionResetError

    service.on("POST", "/environments/profile", lambda request: StreamingResponse(dying()))
    with pytest.raises(ArenaValidationError, match="Installed rich") as caught:
        client.profile_environment(name="e")
    assert caught.value.status_code == 0
    assert len(service.calls) == 1


def test_a_failure_in_a_stream_names_flag_and_value(service: Service, client: ArenaClient) -> None:
    detail = {"error_code": "AMBIGUOUS_ENTRYPOINT", "available_entrypoints": ["m:A", "m:B"]}
    failed = {"kind": "status", "status": "failed", "message": "several", "detail": detail}
    service.on("POST", "/environments/validate", ndjson(failed))
    with pytest.raises(ArenaValidationError, match="several") as caught:
        client.validate_environment(name="e")
    assert "--entrypoint m:A" in (caught.value.hint_cli or "")
    assert "entrypoint='m:A'" in (caught.value.hint_python or "")


@pytest.mark.parametrize("lines", [[{"error": "no"}], [{"kind": "status"}, {"error": "no"}]])
def test_an_error_line_is_an_error(service: Service, client: ArenaClient, lines: list[Any]) -> None:
    service.on("POST", "/environments/profile", ndjson(*lines))
    with pytest.raises(ArenaValidationError, match=r"^no$"):
        client.profile_environment(name="e")


def test_a_refused_submission_has_its_own_class(service: Service, client: ArenaClient) -> None:
    manifest = {
        "algorithm": {"name": "DQN"},
        "environment": {"name": "CartPole-v1"},
        "training": {"max_steps": 100},
        "replay_buffer": {"max_size": 100},
    }
    service.on("POST", "/experiments/jobs/submit", {"message": "no room"}, 409)
    with pytest.raises(ArenaTrainingError, match="no room"):
        client.submit_experiment(manifest, project="p")
    with pytest.raises(ArenaConfigError, match="default one"):
        client.submit_experiment(manifest)
    client.set_default_project("p")
    with pytest.raises(ArenaTrainingError, match="no room"):
        client.submit_experiment(manifest)
    assert service.calls[-1].json["project"] == "p"


def test_a_name_that_no_url_can_hold_is_refused_here(service: Service, client: ArenaClient) -> None:
    with pytest.raises(ArenaAPIError, match="too long") as caught:
        client.get_experiment("y" * 1_000_000)
    assert caught.value.status_code == 414


def test_a_closed_client_says_so(client: ArenaClient) -> None:
    client.close()
    with pytest.raises(ArenaAPIError, match="This client is closed"):
        client.list_projects()


def test_a_request_that_is_not_answered_in_time(service: Service, client: ArenaClient) -> None:
    def slow(request: Request) -> Response:
        time.sleep(0.3)
        return JSONResponse([])

    service.on("GET", "/projects", slow)
    with pytest.raises(ArenaTimeoutError) as caught:
        client.with_timeouts(0.05).list_projects()
    assert isinstance(caught.value, ArenaAPIError)
    assert caught.value.status_code == 0


@pytest.mark.parametrize("count", [0, -1, True])
def test_no_nodes_are_refused_before_anything_is_sent(
    service: Service, client: ArenaClient, count: int
) -> None:
    with pytest.raises(ArenaTrainingError, match="num_nodes must be 1 or more"):
        client.submit_experiment({}, num_nodes=count, project="p")
    assert service.calls == []
