"""Faults of networks and services: the right error or a correct retry, and nothing sent twice."""

from __future__ import annotations

import asyncio
import json
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from sdk_faults import CLOSE, HANG, RESET, Act, FaultyService, answer, chunked, faulty

from arena_sdk import (
    Agent,
    ArenaAPIError,
    ArenaClient,
    ArenaInferenceError,
    ArenaTrainingError,
    ArenaValidationError,
    AsyncArenaClient,
)

PROJECTS = answer(200, b'[{"name": "p"}]')
EVENTS = [
    {"kind": "status", "status": "running", "message": "größer ✓"},
    {"kind": "status", "status": "completed", "message": "done", "detail": {"validated": True}},
]
STREAM = b"".join(json.dumps(event, ensure_ascii=False).encode() + b"\n" for event in EVENTS)
MANIFEST: dict[str, Any] = {"algorithm": {"name": "PPO"}, "environment": {"name": "CartPole-v1"}}


def client_of(service: FaultyService, **options: Any) -> ArenaClient:
    return ArenaClient("a-key", base_url=service.url, **options)


def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let waits between tries be short; how long they are is another test's."""
    monkeypatch.setattr("random.uniform", lambda low, high: 0.0)


@pytest.mark.parametrize(
    "first",
    [
        [RESET],
        [CLOSE],
        [answer(502, b"<html>bad gateway</html>", kind="text/html")],
        [answer(429, b"{}", "retry-after: 0")],
        [answer(200, b'[{"name": "p"', length=999), CLOSE],
        [answer(200, b'[{"na', length=999), RESET],
    ],
    ids=["reset", "closed", "502", "429", "cut off", "reset in the body"],
)
def test_a_read_is_sent_again(first: Sequence[Act], monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)
    with faulty(first, [PROJECTS]) as service, client_of(service) as client:
        assert client.list_projects() == [{"name": "p"}]
        assert [asked.method for asked in service.asked] == ["GET", "GET"]


async def test_a_read_is_sent_again_by_the_async_client(monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)
    with faulty([answer(200, b"[", length=9), RESET], [PROJECTS]) as service:
        async with AsyncArenaClient("a-key", base_url=service.url) as client:
            assert await client.list_projects() == [{"name": "p"}]


def change_nothing_twice() -> list[tuple[str, Callable[[ArenaClient], Any]]]:
    return [
        ("create_project", lambda client: client.create_project("p")),
        ("submit", lambda client: client.submit_experiment(MANIFEST, project="p")),
        ("stop", lambda client: client.stop_experiment("e")),
        ("resume", lambda client: client.resume_experiment("e", 10)),
        ("deploy", lambda client: client.deploy_agent("e")),
        ("delete", lambda client: client.delete_project("p")),
        ("profile", lambda client: client.profile_environment(name="e")),
    ]


@pytest.mark.parametrize(("name", "call"), change_nothing_twice())
@pytest.mark.parametrize(
    "script",
    [[RESET], [answer(503, b"{}")], [answer(429, b"{}", "retry-after: 0")], [b"HTTP/1.1 2"]],
    ids=["reset", "503", "429", "cut"],
)
def test_what_changes_something_is_sent_once(
    name: str, call: Callable[[ArenaClient], Any], script: Sequence[Act]
) -> None:
    script = [*script, CLOSE] if script[0] == b"HTTP/1.1 2" else script
    with faulty(script, [PROJECTS]) as service, client_of(service) as client:
        with pytest.raises(ArenaAPIError):
            call(client)
        assert len(service.asked) == 1


def test_a_stream_cut_at_any_byte_is_an_error_of_its_endpoint() -> None:
    head, body, end = chunked(STREAM)
    last_line = len(STREAM[: STREAM.rindex(b"{")]) * 6
    cuts = [6 * offset + offset % 6 for offset in range(len(STREAM))]  # a chunk is six bytes long
    scripts = [[head + body[:cut], RESET if cut % 2 else CLOSE] for cut in cuts]
    with faulty(*scripts, [head + body + end]) as service, client_of(service) as client:
        for cut in cuts:
            with pytest.raises(ArenaValidationError) as caught:
                client.profile_environment(name="e")
            assert caught.value.status_code == 0
            if cut >= last_line:  # a reset may take what was sent before it
                assert caught.value.detail
        assert client.profile_environment(name="e") == {"validated": True}
        assert len(service.asked) == len(cuts) + 1


@pytest.mark.parametrize("end", [b"0\r\n\r\n", CLOSE], ids=["properly", "cut off"])
def test_what_was_heard_last_is_said_of_a_stream_that_ends_early(end: Act) -> None:
    head, body, _ = chunked(STREAM.splitlines(keepends=True)[0])
    with (
        faulty([head + body, end]) as service,
        client_of(service) as client,
        pytest.raises(ArenaTrainingError, match="größer ✓"),
    ):
        client.submit_experiment(MANIFEST, project="p")


def test_a_reset_in_an_upload_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "env.py").write_bytes(b"# " + bytes(range(32, 127)) * 60_000)
    (tmp_path / "noise.bin").write_bytes(b"".join(i.to_bytes(4, "big") for i in range(1_000_000)))
    with faulty([RESET], body_limit=100_000) as service, client_of(service) as client:
        with pytest.raises(ArenaValidationError) as caught:
            client.validate_environment(name="e", source=tmp_path)
        assert caught.value.status_code == 0
        assert len(service.asked) == 1


def test_an_early_answer_to_an_upload_is_heard(tmp_path: Path) -> None:
    (tmp_path / "noise.bin").write_bytes(b"".join(i.to_bytes(4, "big") for i in range(4_000_000)))
    refusal = answer(413, b'{"message": "at most 1 MB"}', "connection: close")
    with faulty([refusal, CLOSE], body_limit=1000) as service, client_of(service) as client:
        with pytest.raises(ArenaValidationError):
            client.validate_environment(name="e", source=tmp_path)
        assert len(service.asked) == 1


def test_a_service_that_hangs_ends_at_the_time_out() -> None:
    with faulty([HANG]) as service, client_of(service, request_timeout=0.3) as client:
        start = time.monotonic()
        with pytest.raises(ArenaAPIError, match="did not answer in time"):
            client.list_projects()
        assert len(service.asked) == 1
        assert time.monotonic() - start < 20
        with pytest.raises(ArenaAPIError, match="did not answer in time"):
            client.create_project("p")


async def test_a_hanging_call_can_be_cancelled() -> None:
    with faulty([HANG]) as service:
        async with AsyncArenaClient("a-key", base_url=service.url) as client:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(client.list_projects(), 0.3)


def test_html_is_no_answer() -> None:
    page = answer(200, b"<html><body>log in here</body></html>", kind="text/html")
    with faulty([page]) as service, client_of(service) as client:
        with pytest.raises(ArenaAPIError, match=r"not JSON but begins with .*<html>"):
            client.list_projects()
        with pytest.raises(ArenaAPIError):
            client.profile_environment(name="e")
        with pytest.raises(ArenaAPIError, match="not come as CSV but as text/html"):
            client.download_experiment_metrics("e")


def test_a_download_cut_off_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)
    half = [answer(200, b"fitness\n1\n2\n", kind="text/csv", length=5000), CLOSE]
    target = tmp_path / "m.csv"
    with faulty(half) as service, client_of(service) as client, pytest.raises(ArenaAPIError):
        client.download_experiment_metrics("e", target)
    assert list(tmp_path.iterdir()) == []
    whole = [answer(200, b"fitness\n1\n2\n3\n", kind="text/csv")]
    with faulty(half, whole) as service, client_of(service) as client:
        client.download_experiment_metrics("e", target)
    assert target.read_text() == "fitness\n1\n2\n3\n"


def test_a_redirect_to_another_host_gets_no_credential() -> None:
    with faulty([PROJECTS]) as other:
        away = answer(307, b"", f"location: {other.url}/api/cli/v1/projects")
        with faulty([away]) as service, client_of(service) as client:
            for call in (client.list_projects, lambda: client.create_project("p")):
                with pytest.raises(ArenaAPIError, match="redirects to"):
                    call()
        assert other.asked == []


def test_an_action_is_asked_for_once_and_says_what_failed() -> None:
    for script in ([RESET], [answer(500, b'{"message": "out of memory"}')]):
        with faulty(script) as service:
            agent = Agent(service.url, api_key="k", probe_on_init=False)
            with pytest.raises(ArenaInferenceError):
                agent.get_action([0.0])
            assert len(service.asked) == 1


def test_an_error_of_200_mb_does_not_fill_the_memory() -> None:
    megabyte = b"x" * (1 << 20)
    script = [answer(500, b"", kind="text/plain", length=200 << 20), *[megabyte] * 200]
    with faulty(script) as service, client_of(service) as client:
        tracemalloc.start()
        with pytest.raises(ArenaAPIError) as caught:
            client.create_project("p")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert caught.value.status_code == 500
    assert len(str(caught.value)) < 100_000
    assert peak < 20e6
