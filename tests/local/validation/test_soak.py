"""A hundred hostile uploads to one Arena: it stays up, answers others, and loses nothing."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from arena_sdk.local.validation.confine import landlock_version
from tests.local.conftest import ArenaServer, end_arena, is_alive, start_arena, wait_until
from tests.local.validation.hostile import SOURCES, archives
from tests.local.validation.soaking import asking, content_of, events_of, submit_all
from tests.local.validation.uploading import form

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(landlock_version() < 6, reason="this kernel has no such Landlock"),
    pytest.mark.timeout(900),
]

ARCHIVES = 60
SOUND = {
    "closes its output",
    "empties what is not its own",
    "gives info of a million keys",
    "hangs at the end of its process",
    "has a child remove what is not its own",
    "is five megabytes",
    "is sound",
    "leaves odd files",
    "prints a gigabyte of short lines as errors",
    "prints a gigabyte",
    "removes its home and its working folder",
    "removes its source",
    "removes what is not its own",
    "sets no limit to itself",
    "starts a daemon that nobody is the parent of",
    "starts a thousand threads",
    "starts daemons",
    "waits for a thread that never ends",
}
"""Those whose harm is in vain, and that are sound beside it; a slow machine may end some."""


@pytest.fixture(scope="module")
def arena_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ArenaServer]:
    server = start_arena(tmp_path_factory.mktemp("arena"), ARENA_CALL_SECONDS="2")
    yield server
    end_arena(server)


def test_hostile_sources_harm_nobody(arena_server: ArenaServer, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    (victim / "deep" / "er").mkdir(parents=True)
    for name in ("kept.txt", "deep/kept.txt", "deep/er/kept.txt"):
        (victim / name).write_text("kept")
    outside = [victim, arena_server.data_dir / "overlays"]
    before = content_of(outside)
    with asking(arena_server) as taken:
        found = submit_all(arena_server, SOURCES, victim)
    assert content_of(outside) == before
    assert is_alive(arena_server.pid)
    told = {what: events[-1] for what, events in found.items()}
    assert {what: last for what, last in told.items() if last["status"] != "completed"} == {}
    sound = {what for what, last in told.items() if last["detail"]["validated"]}
    assert sound <= SOUND
    assert "is sound" in sound
    assert wait_until(lambda: arena_server.workers() == [], 30)
    assert statistics.median(taken) < 0.2
    with arena_server.client() as client:
        for number in range(len(SOURCES)):
            client.request(
                "DELETE",
                "/environments/delete",
                json={"name": f"hostile-{number}", "version": None},
            ).raise_for_status()


@settings(
    max_examples=ARCHIVES,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(archive=archives())
def test_hostile_archives_are_refused_or_stay_inside(
    arena_server: ArenaServer, tmp_path: Path, archive: bytes
) -> None:
    outside = [tmp_path, arena_server.data_dir / "overlays", arena_server.data_dir / "sources"]
    before = content_of(outside)
    with arena_server.client() as client:
        answer = client.post(
            "/environments/create-and-validate", **form("archive", archive), timeout=60
        )
        assert answer.status_code in (200, 413, 422), answer.text
        if answer.status_code == 200:  # nothing was wrong but that it holds no environment
            assert not events_of(answer)[-1].get("detail", {}).get("validated")
            body = {"name": "archive", "version": None}
            client.request("DELETE", "/environments/delete", json=body).raise_for_status()
    assert content_of(outside) == before
    assert is_alive(arena_server.pid)
