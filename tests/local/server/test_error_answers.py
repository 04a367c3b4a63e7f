"""What a client sees of a failure inside the server: a sentence, never a traceback."""

from __future__ import annotations

import errno
import logging
from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import create_engine, text

from arena_sdk.local.api import errors


@pytest.fixture
def client() -> Iterator[TestClient]:
    app = FastAPI()
    errors.install(app)

    @app.get("/bug")
    def bug() -> None:
        raise KeyError("a secret detail")

    @app.get("/disk")
    def disk() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    @app.get("/file")
    def file() -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "/etc/shadow")

    @app.get("/store")
    def store() -> None:
        engine = create_engine("sqlite://")
        with engine.connect() as connection:
            connection.execute(text("PRAGMA max_page_count = 3"))
            connection.execute(text("CREATE TABLE t (x)"))
            connection.execute(text("INSERT INTO t VALUES (zeroblob(100000))"))

    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


@pytest.mark.parametrize("path", ["/disk", "/store"])
def test_a_full_disk_is_507(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 507
    assert answer.json()["error_code"] == "DISK_FULL"


@pytest.mark.parametrize(("path", "name"), [("/bug", "KeyError"), ("/file", "PermissionError")])
def test_a_bug_is_told_by_its_kind_and_logged_in_full(
    client: TestClient, caplog: pytest.LogCaptureFixture, path: str, name: str
) -> None:
    with caplog.at_level(logging.ERROR, logger=errors.__name__):
        answer = client.get(path)
    assert answer.status_code == 500
    assert answer.json() == {
        "message": f"The Arena failed on this request ({name}); its log has the details:"
        " `arena local logs`.",
        "error_code": "INTERNAL_ERROR",
    }
    record = next(record for record in caplog.records if record.name == errors.__name__)
    assert record.exc_info is not None
    assert record.exc_info[0] is not None
    assert record.exc_info[0].__name__ == name
