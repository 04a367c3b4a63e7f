"""A headless Chromium, told what to do by its DevTools protocol (chromedevtools.github.io)."""

from __future__ import annotations

import base64
import itertools
import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from websockets.sync.client import ClientConnection, connect

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--headless=new",
    "--no-sandbox",  # it may run as root, in a container
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--remote-debugging-port=0",
)


class Chromium:
    """One page of a browser whose profile is in a folder of its own.

    Args:
        profile: The folder.
        size: Of the window, in pixels.
    """

    def __init__(self, profile: Path, size: tuple[int, int] = (1280, 800)) -> None:
        assert PROGRAM is not None, "Chromium is not installed"
        arguments = [f"--user-data-dir={profile}", f"--window-size={size[0]},{size[1]}"]
        self._process = subprocess.Popen(
            [PROGRAM, *FLAGS, *arguments, "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._numbers = itertools.count(1)
        self._loaded = False
        self._socket = self._page(profile / "DevToolsActivePort")
        self.tell("Page.enable")

    def _page(self, written: Path, seconds: float = 60) -> ClientConnection:
        """Wait until it says where it listens, and connect to its page."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            lines = written.read_text().split() if written.exists() else []
            if lines:
                with urlopen(f"http://127.0.0.1:{lines[0]}/json") as answer:
                    found = json.load(answer)
                pages = [page for page in found if page["type"] == "page"]
                if pages:
                    return connect(pages[0]["webSocketDebuggerUrl"], max_size=None)
            time.sleep(0.1)
        raise AssertionError("Chromium did not start")

    def tell(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command; return what it answers."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            answer = self._next()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                found: dict[str, Any] = answer["result"]
                return found

    def _next(self) -> dict[str, Any]:
        """Return the next message, and note when it is that a page has been loaded."""
        message: dict[str, Any] = json.loads(self._socket.recv(timeout=60))
        self._loaded = self._loaded or message.get("method") == "Page.loadEventFired"
        return message

    def open(self, url: str) -> None:
        """Open an address, and wait until its page is there."""
        self._loaded = False
        self.tell("Page.navigate", url=url)
        while not self._loaded:
            self._next()

    def value(self, expression: str) -> Any:
        """Return the value of an expression on the page."""
        return self.tell("Runtime.evaluate", expression=expression)["result"].get("value")

    def click(self, x: int, y: int) -> None:
        """Click, which also gives what is there the keys."""
        for kind in ("mousePressed", "mouseReleased"):
            self.tell("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str) -> None:
        """Press a key that is a letter or a digit."""
        for kind in ("keyDown", "keyUp"):
            text = {"text": key} if kind == "keyDown" else {}
            code = f"Digit{key}" if key.isdigit() else f"Key{key.upper()}"
            self.tell(
                "Input.dispatchKeyEvent", type=kind, key=key, code=code,
                windowsVirtualKeyCode=ord(key.upper()), **text,
            )  # fmt: skip

    def picture(self) -> bytes:
        """Return what is seen, as PNG."""
        return base64.b64decode(self.tell("Page.captureScreenshot", format="png")["data"])

    def close(self) -> None:
        """End it."""
        self._socket.close()
        self._process.kill()
        self._process.wait(30)
