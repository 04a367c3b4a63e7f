"""`arena-tui --web` in a real browser: it is drawn there, and keys and the mouse reach it.

What is drawn is a canvas, so it is judged by its pixels: the tab that is shown has the first colour
of the theme. Left out where Chromium is not installed (Debian's package `chromium`).
"""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image, ImageColor
from web_serving import Served, serving

from arena_tui.chromium import PROGRAM, Chromium
from arena_tui.theme import THEMES

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed"),
]
TABS_AT, SHOWN = 28, ImageColor.getrgb(str(THEMES[0].primary))


@pytest.fixture
def served(url: str) -> Iterator[Served]:
    """The program serving a dashboard of the small Arena."""
    with serving(url) as found:
        yield found


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Chromium]:
    """A browser on an empty page."""
    browser = Chromium(tmp_path / "profile")
    yield browser
    browser.close()


def shown_tab(browser: Chromium) -> int | None:
    """Return where the tab begins that is shown, in pixels from the left."""
    picture = Image.open(io.BytesIO(browser.picture())).convert("RGB")
    lit = [x for x in range(picture.width) if picture.getpixel((x, TABS_AT)) == SHOWN]
    return min(lit, default=None)


def wait_for_tab(browser: Chromium, begins: range, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while (at := shown_tab(browser)) is None or at not in begins:
        assert time.monotonic() < end, f"the tab that is shown begins at {at}, not in {begins}"
        time.sleep(0.3)


def test_the_dashboard_is_drawn_and_hears_keys_and_the_mouse(
    served: Served, browser: Chromium
) -> None:
    browser.open(f"{served.base}/?token={served.token}")
    wait_for_tab(browser, range(20))
    browser.click(640, 500)
    browser.press("7")
    wait_for_tab(browser, range(600, 900))
    browser.click(300, TABS_AT)
    wait_for_tab(browser, range(200, 400))
    assert browser.value("location.search") == ""  # the token is out of the address line


def test_without_the_token_there_is_no_dashboard(served: Served, browser: Chromium) -> None:
    browser.open(served.base)
    end = time.monotonic() + 30
    while not (said := browser.value("document.body && document.body.innerText")):
        assert time.monotonic() < end
        time.sleep(0.2)
    assert "token" in said
    assert browser.value('document.querySelectorAll("canvas").length') == 0
