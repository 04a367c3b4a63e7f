"""Logs, spaces, bars, states, frames, clipboard and colours."""

from __future__ import annotations

import base64
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_tui import clipboard, theme
from arena_tui.graphics import may_show_graphics
from arena_tui.plotstyle import ASCII, BLOCK, BRAILLE, detect, sparkline
from arena_tui.widgets.bar_list import Bar, BarList
from arena_tui.widgets.frame import FrameView
from arena_tui.widgets.log_view import LogView, line_level
from arena_tui.widgets.pixels import as_frame, fitted, half_blocks, resized, shaded
from arena_tui.widgets.space_tree import MOST_NODES, SpaceTree, describe_space
from arena_tui.widgets.state_view import StateView


def shown(widget: object) -> list[str]:
    return [widget.render_line(y).text.rstrip() for y in range(widget.size.height)]  # type: ignore[attr-defined]


# Logs --------------------------------------------------------------------------------------------


async def test_a_log_follows_holds_and_searches(stage: Callable) -> None:
    log = LogView()
    async with stage(log).run_test(size=(60, 12)) as pilot:
        log.write_lines(f"line {at}" for at in range(100))
        await pilot.pause()
        assert "line 99" in shown(log)[-2] + shown(log)[-1]
        log.focus()
        await pilot.press("g")
        assert not log.follow
        log.write_lines(["more"])
        await pilot.pause()
        assert shown(log)[0] == "line 0"
        assert log.search(r"line 5\d") == 10
        await pilot.press("n")
        assert log.scroll_y > 40
        assert any(line == "line 50" for line in shown(log))
        await pilot.press("N")
        assert any(line == "line 59" for line in shown(log))
        assert log.search("no such [") == 0
        assert not log.find_next()
        await pilot.press("G")
        assert log.follow


async def test_a_log_is_bounded(stage: Callable) -> None:
    log = LogView(max_lines=1_000)
    async with stage(log).run_test(size=(60, 12)) as pilot:
        for start in range(0, 5_000, 100):
            log.write_lines(f"line {at}" for at in range(start, start + 100))
        await pilot.pause()
        assert log.line_count <= 1_000
        assert log.dropped + log.line_count == 5_000
        assert log.lines[-1] == "line 4999"


async def test_levels_leave_lines_out_and_lines_are_harmless(stage: Callable) -> None:
    log = LogView()
    async with stage(log).run_test(size=(60, 12)) as pilot:
        log.write_lines(["fine", "WARNING: hot", "ValueError: bad \x1b[31m[b]"])
        log.focus()
        await pilot.press("v")
        assert shown(log)[:3] == ["WARNING: hot", "ValueError: bad ␛[31m[b]", ""]
        await pilot.press("v")
        assert shown(log)[0] == "ValueError: bad ␛[31m[b]"
        await pilot.press("v")
        assert shown(log)[0] == "fine"


@pytest.mark.parametrize(
    ("line", "level"),
    [("an error came", "error"), ("RuntimeError: x", "error"), ("warn: y", "warning"),
     ("terror", None), ("Traceback (most recent call last):", "error")],
)  # fmt: skip
def test_levels_by_words(line: str, level: str | None) -> None:
    assert line_level(line) == level


# Spaces, bars, states ----------------------------------------------------------------------------

DICT = {
    "type": "Dict",
    "spaces": {
        "image": {"type": "Box", "shape": [64, 64, 3], "dtype": "uint8", "low": 0, "high": 255},
        "parts": {"type": "Tuple", "spaces": [{"type": "Discrete", "n": 4}, {"type": "Text"}]},
    },
}


async def test_spaces_are_a_tree(stage: Callable) -> None:
    tree = SpaceTree()
    async with stage(tree).run_test(size=(80, 24)) as pilot:
        tree.set_spaces({"observation": DICT, "action": {"type": "Discrete", "n": 2}})
        await pilot.pause()
        text = "\n".join(shown(tree))
        assert "observation  Dict" in text
        assert "image  Box  (64, 64, 3)  uint8  low=0  high=255" in text
        assert "0  Discrete  n=4" in text
        assert "action  Discrete  n=2" in text
        tree.set_space({"type": "Tuple", "spaces": [{"type": "Box"}] * 10_000})
        assert sum(1 for _ in tree._tree_lines) <= MOST_NODES + 3


def test_a_space_is_described_in_a_line() -> None:
    assert describe_space({"type": "Box", "shape": [8], "low": [0.1] * 99}).endswith("…")
    assert describe_space("Box\x1b") == "Box␛"


async def test_bars_have_lengths_by_value(stage: Callable) -> None:
    bars = BarList()
    async with stage(bars).run_test(size=(40, 10)) as pilot:
        bars.set_bars(
            [Bar("cpu", 50, 100, "50 %"), Bar("memory", 100, 100), Bar("gpu", None, text="none")]
        )
        await pilot.pause()
        lines = shown(bars)
        assert lines[0].count("█") * 2 == pytest.approx(lines[1].count("█"), abs=2)
        assert lines[0].endswith("50 %")
        assert lines[2].count("█") == 0


async def test_states_come_and_go(stage: Callable) -> None:
    view = StateView()
    async with stage(view).run_test(size=(60, 10)) as pilot:
        await pilot.pause()
        assert not view.display
        view.show_error("Broken [b]", "Press r.")
        await pilot.pause()
        assert view.display
        assert [line.strip() for line in shown(view)] == ["✗ Broken [b]", "Press r."]
        view.show_offline("No connection")
        assert view.has_class("-offline")
        assert not view.has_class("-error")
        view.clear()
        assert not view.display


# Frames ------------------------------------------------------------------------------------------


@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 60), st.integers(1, 60))
def test_a_frame_is_resized_within_what_it_holds(h: int, w: int, rows: int, columns: int) -> None:
    frame = np.random.default_rng(h * w).integers(0, 256, (h, w, 3), np.uint8)
    small = resized(frame, rows, columns)
    assert small.shape == (rows, columns, 3)
    assert small.min() >= frame.min()
    assert small.max() <= frame.max()
    high, wide = fitted(h, w, rows, columns)
    assert 1 <= high <= rows
    assert 1 <= wide <= columns


def test_half_blocks_have_the_colours_of_the_pixels() -> None:
    frame = np.zeros((2, 3, 3), np.uint8)
    frame[0, :, 0] = 248
    frame[1, 2, 2] = 248
    line = half_blocks(frame, 1, 3)[0]
    assert [segment.text for segment in line] == ["▀▀", "▀"]
    assert line[0].style.color.triplet == (248, 0, 0)
    assert line[1].style.bgcolor.triplet == (0, 0, 248)


def test_shades_go_from_dark_to_light() -> None:
    frame = np.zeros((2, 2, 3), np.uint8)
    frame[:, 1] = 255
    assert shaded(frame, 1, 2, " .#")[0][0].text == " #"


@pytest.mark.parametrize(
    "pixels",
    [np.zeros((4, 4), np.uint8), np.zeros((4, 4, 4), np.uint8), np.ones((4, 4, 3)) * 0.5,
     np.zeros((4, 4, 1), np.int64)],
)  # fmt: skip
def test_other_frames_are_taken(pixels: np.ndarray) -> None:
    frame = as_frame(pixels)
    assert frame.shape == (4, 4, 3)
    assert frame.dtype == np.uint8


@pytest.mark.parametrize("shape", [(4,), (4, 4, 2), (0, 4, 3), (1, 2, 3, 4)])
def test_what_is_no_frame_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="A frame has the shape"):
        as_frame(np.zeros(shape))


async def test_a_frame_fills_the_view_and_goes(stage: Callable) -> None:
    view = FrameView()
    async with stage(view).run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        assert "no frame" in shown(view)[6]
        view.set_frame(np.full((20, 20, 3), 200, np.uint8))
        await pilot.pause()
        assert [line.count("▀") for line in shown(view)] == [24] * 12
        assert all(view.render_line(y).cell_length == 40 for y in range(12))
        view.set_frame(None)
        view.set_message("[b]ended[/b]")
        assert "[b]ended[/b]" in shown(view)[6]


async def test_without_colour_or_blocks_a_frame_is_shades(stage: Callable) -> None:
    view = FrameView()
    async with stage(view, style=ASCII).run_test(size=(40, 12)) as pilot:
        view.set_frame(np.full((20, 20, 3), 255, np.uint8))
        await pilot.pause()
        assert "@" * 24 in shown(view)[5]


def test_graphics_are_asked_for_only_where_they_may_be() -> None:
    assert may_show_graphics({"TERM": "xterm-kitty"})
    assert may_show_graphics({"TERM_PROGRAM": "WezTerm"})
    assert not may_show_graphics({"TERM": "xterm-256color"})
    assert not may_show_graphics({"TERM": "xterm-kitty", "TMUX": "/tmp/x"})


# Clipboard, colours, plot styles -----------------------------------------------------------------


def test_osc52_is_wrapped_for_tmux_and_screen() -> None:
    code = base64.b64encode("hé".encode()).decode()
    plain = f"\x1b]52;c;{code}\x07"
    assert clipboard.osc52("hé", {}) == plain
    tmux = clipboard.osc52("hé", {"TMUX": "x"})
    assert tmux == "\x1bPtmux;\x1b" + plain + "\x1b\\"
    screen = clipboard.osc52("a" * 5_000, {"STY": "x"})
    pieces = screen.removesuffix("\x1b\\").split("\x1b\\")
    assert all(piece.startswith("\x1bP") and len(piece) <= 770 for piece in pieces)
    whole = "".join(piece[2:] for piece in pieces)
    assert whole == clipboard.osc52("a" * 5_000, {})


def test_there_is_no_native_clipboard_over_ssh(tmp_path: object) -> None:
    environ = {"SSH_CONNECTION": "x", "DISPLAY": ":0", "PATH": "/usr/bin"}
    assert clipboard.native_command(environ) is None


async def test_what_is_too_long_is_not_copied(
    stage: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clipboard, "native_command", lambda: None)
    async with stage().run_test() as pilot:
        assert clipboard.copy(pilot.app, "abc") == "Copied 3 bytes."
        assert pilot.app.clipboard == "abc"
        assert "Not copied" in clipboard.copy(pilot.app, "x" * 100_000)
        assert pilot.app.clipboard == "abc"


def test_a_series_keeps_its_look() -> None:
    palette = theme.SeriesPalette()
    first = palette.style("run-a")
    palette.style("run-b")
    assert palette.style("run-a") == first
    assert palette.style("run-b") != first
    assert palette.style(3) == theme.numbered_style(3)
    looks = {(s.slot, s.marker) for s in map(theme.numbered_style, range(64))}
    assert len(looks) == 64


def test_the_plot_style_follows_the_terminal() -> None:
    assert detect({}, "ascii") is ASCII
    assert detect({}, "ANSI_X3.4-1968") is ASCII
    assert detect({"LANG": "C"}, "utf-8") is ASCII
    assert detect({"LANG": "de_DE.UTF-8", "LC_ALL": "POSIX"}, "utf-8") is ASCII
    assert detect({"TERM": "linux"}, "utf-8") is BLOCK
    assert detect({"TERM": "xterm"}, "UTF-8") is BRAILLE


@given(st.lists(st.none() | st.floats() | st.integers(-9, 9), max_size=40), st.integers(0, 30))
def test_a_sparkline_is_never_too_wide(values: list, width: int) -> None:
    text = sparkline(values, width)
    assert len(text) <= width
    assert len(sparkline(values, width, ASCII)) == len(text)
    assert sparkline(values, width, ASCII).isascii()


def test_a_sparkline_shows_low_and_high_and_gaps() -> None:
    assert sparkline([0, None, 7, float("nan"), float("inf")], 5) == "▁ █  "
    assert sparkline([3, 3], 9) == "▄▄"
    assert sparkline([], 9) == ""
