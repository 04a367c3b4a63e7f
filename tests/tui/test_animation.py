"""The animated picture: every frame is seen for its time, and what stays is in it once."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from rich.segment import Segment
from rich.style import Style

from arena_tui.animation import Piece, animated, frame_of, line_of

SVG = "{http://www.w3.org/2000/svg}"


def frame(*lines):
    return tuple(line_of([Segment(text, Style(color="#ffffff"))]) for text in lines)


def seen_at(root, second):
    """Return the texts that are seen at a moment of the animation."""
    found = []
    for group in root.iter(f"{SVG}g"):
        animation = group.find(f"{SVG}animate")
        texts = [text.text for text in group.findall(f"{SVG}text")]
        if animation is None:
            found += texts
            continue
        share = second / float(animation.get("dur").rstrip("s"))
        times = [float(time) for time in animation.get("keyTimes").split(";")]
        values = animation.get("values").split(";")
        assert len(times) == len(values)
        assert times[0] == 0.0
        value = [v for time, v in zip(times, values, strict=True) if time <= share][-1]
        found += texts if value == "visible" else []
    return sorted(found)


def test_every_frame_is_seen_for_its_time():
    frames = [frame("title", "one"), frame("title", "two"), frame("title", "one")]
    root = ElementTree.fromstring(animated(frames, [1.0, 0.5, 2.5], "a < b"))
    assert seen_at(root, 0.2) == ["one", "title"]
    assert seen_at(root, 1.2) == ["title", "two"]
    assert seen_at(root, 3.0) == ["one", "title"]
    # What stays, and what comes again, is in it once.
    assert sorted(t.text for t in root.iter(f"{SVG}text")) == ["a < b", "one", "title", "two"]


def test_without_animation_the_last_frame_is_seen():
    root = ElementTree.fromstring(animated([frame("one"), frame("two")], [1, 1], ""))
    shown = {
        group.find(f"{SVG}text").text: group.get("visibility")
        for group in root.iter(f"{SVG}g")
        if group.find(f"{SVG}animate") is not None
    }
    assert shown == {"one": "hidden", "two": "visible"}


def test_places_colours_and_ways_of_setting_are_kept():
    style = Style(color="#ff0000", bgcolor="#0000ff", bold=True)
    line = line_of(
        [Segment("日本", None), Segment(" x", style), Segment("y", style + Style(dim=True))]
    )
    assert line[0] == Piece(0, 4, "日本", "", "", False, False)
    assert line[1] == Piece(4, 2, " x", "#ff0000", "#0000ff", True, False)
    assert (line[2].column, line[2].ink) == (6, "#990066")
    assert line_of([Segment("z", style + Style(reverse=True))])[0].ground == "#ff0000"


@pytest.mark.parametrize(("frames", "seconds"), [([], []), ([()], [1.0, 2.0])])
def test_without_frames_there_is_nothing_to_show(frames, seconds):
    with pytest.raises(ValueError, match="needed"):
        animated(frames, seconds, "")


async def test_a_screen_is_taken_as_it_is_seen(make_app, until):
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("6")
        await until(
            pilot, lambda: any("grid-dqn" in p.text for line in frame_of(app) for p in line)
        )
        taken = frame_of(app)
        assert len(taken) == 24
        assert {sum(piece.width for piece in line) for line in taken} == {80}
