"""The dashboard in a browser: nothing without the token, and the real dashboard with it."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import httpx
import pytest
from web_serving import serving
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from arena_tui import web


@pytest.fixture
def served(url):
    """The program serving a dashboard of the small Arena; yields (base URL, token)."""
    with serving(url) as found:
        yield found


async def test_nothing_is_served_without_the_token(served):
    base, token = served
    async with httpx.AsyncClient(base_url=base) as browser:
        for path in (
            "/",
            "/?token=wrong",
            "/static/js/textual.js",
            "/static/",
            "/download/x",
            "/ws",
        ):
            answer = await browser.get(path)
            assert answer.status_code == 401, path
            assert "set-cookie" not in answer.headers
        assert token not in (await browser.get("/")).text
    port = base.rpartition(":")[2]
    for headers in ({}, {"Cookie": f"arena_tui_{port}=wrong"}):
        with pytest.raises(InvalidStatus) as refused:
            async with connect(f"ws://127.0.0.1:{port}/ws", additional_headers=headers):
                pass
        assert refused.value.response.status_code == 401


async def test_other_sites_and_other_names_are_refused_even_with_the_token(served):
    base, token = served
    port = base.rpartition(":")[2]
    async with httpx.AsyncClient(base_url=base) as browser:
        answer = await browser.get(f"/?token={token}", headers={"Host": "evil.example"})
        assert answer.status_code == 403
        answer = await browser.get(f"/?token={token}", headers={"Origin": "http://evil.example"})
        assert answer.status_code == 403
    with pytest.raises(InvalidStatus) as refused:
        async with connect(
            f"ws://127.0.0.1:{port}/ws",
            additional_headers={"Cookie": f"arena_tui_{port}={token}"},
            origin="http://evil.example",
        ):
            pass
    assert refused.value.response.status_code == 403


async def test_with_the_token_there_is_the_page_and_on_its_socket_the_dashboard(served):
    base, token = served
    port = base.rpartition(":")[2]
    async with httpx.AsyncClient(base_url=base, follow_redirects=True) as browser:
        first = await browser.get(f"/?token={token}")
        assert first.status_code == 200
        assert str(first.url) == f"{base}/"  # the token is out of the address line
        cookie = first.history[0].headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert f"ws://127.0.0.1:{port}/ws" in first.text
        # Nothing is fetched from anywhere else.
        policy = first.headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "https:" not in policy
        assert (await browser.get("/static/js/textual.js")).status_code == 200
    seen = b""
    async with (
        asyncio.timeout(60),
        connect(
            f"ws://127.0.0.1:{port}/ws?width=120&height=36",
            additional_headers={"Cookie": f"arena_tui_{port}={token}"},
            origin=base,
            max_size=None,
        ) as socket,
    ):
        async for message in socket:
            seen += message if isinstance(message, bytes) else message.encode()
            if b"grid-dqn" in seen and "● live".encode() in seen:
                break
        await socket.send('["stdin", "7"]')
        async for message in socket:
            seen = message if isinstance(message, bytes) else message.encode()
            if b"checkpoint" in seen or b"Agents" in seen:
                break


def test_a_port_that_is_taken_is_one_sentence():
    with web.open_socket(0) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "arena_tui", "--web", "--port", str(port)],
            capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert str(port) in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"), [(("--port", "5"), "--web"), (("--web", "--port", "x"), "no port")]
)
def test_a_port_that_makes_no_sense_is_a_usage_error(arguments, words):
    done = subprocess.run(
        [sys.executable, "-m", "arena_tui", *arguments],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert words in done.stderr


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "textual_serve", None)
    with pytest.raises(web.WebError, match="pip install"):
        web.serve([])
