"""Talking to a language model by keys, against a real service that streams, fails and remembers."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from sdk_service import running
from tui_looking import screen_text

from arena_sdk import AsyncArenaClient
from arena_tui.app import ArenaApp
from arena_tui.screens.chat import ChatScreen
from arena_tui.settings import Memory
from arena_tui.stores.hub import Hub
from arena_tui.widgets.turns import TurnView, safe_markdown

sys.path.append(str(Path(__file__).parents[2]))
from tests.cli.llm_service import LanguageService

NAMES = {" ": "space", ".": "full_stop", "*": "asterisk", "-": "minus"}


@pytest.fixture
def model():
    """A hosted Arena with one language model."""
    made = LanguageService()
    for path, answer in {
        "//api/users/current": {"first_name": "Ada"},
        "//api/users/credits": {"credits": 3},
        "/projects": [],
    }.items():
        made.on("GET", path, answer)
    with running(made) as url:
        made.url = url
        yield made


@pytest.fixture
def app(model, tmp_path):
    """The dashboard on it."""
    hub = Hub(lambda: AsyncArenaClient("a-key", base_url=model.url), refresh_seconds=0.5)
    return ArenaApp(hub, memory=Memory(tmp_path / "state.json"))


async def say(pilot, text):
    await pilot.press(*[NAMES.get(character, character) for character in text], "enter")


async def enter_chat(app, pilot, until):
    await pilot.press("7")
    await until(pilot, lambda: "chatter" in screen_text(app))
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(app.screen, ChatScreen) and app.screen.chat.is_ready)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_a_conversation_streams_and_is_remembered(app, model, until, size):
    async with app.run_test(size=size, notifications=True) as pilot:
        await enter_chat(app, pilot, until)
        await say(pilot, "hello there")
        await until(pilot, lambda: "«hello there» is turn 1. ✓" in screen_text(app))
        await until(pilot, lambda: "tokens/s" in screen_text(app))
        await say(pilot, "again")
        await until(pilot, lambda: "«again» is turn 2. ✓" in screen_text(app))
        prompts = model.prompts()
        assert len({prompt["session_id"] for prompt in prompts}) == 1
        assert prompts[0]["params"]["temperature"] == 0.7


async def test_sessions_are_begun_resumed_and_deleted(app, model, until):
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await enter_chat(app, pilot, until)
        await say(pilot, "one")
        await until(pilot, lambda: "«one» is turn 1. ✓" in screen_text(app))
        first = app.screen.chat.session_id
        await until(pilot, lambda: len(app.screen.chat.sessions) == 1)
        await pilot.press("escape", "n")
        await say(pilot, "two")
        await until(pilot, lambda: "«two» is turn 1. ✓" in screen_text(app))
        assert "«one»" not in screen_text(app)
        await until(pilot, lambda: len(app.screen.chat.sessions) == 2)
        rows = app.screen.query_one("#sessions")
        rows.select(first)
        await pilot.press("escape", "l", "enter")
        await until(pilot, lambda: "«one» is turn 1. ✓" in screen_text(app))
        assert app.screen.chat.session_id == first
        await say(pilot, "three")
        await until(pilot, lambda: "«three» is turn 2. ✓" in screen_text(app))
        await pilot.press("escape", "x")
        await until(pilot, lambda: "Delete session" in screen_text(app))
        await pilot.press("tab", "enter")
        await until(pilot, lambda: first not in model.sessions)
        await until(pilot, lambda: len(app.screen.chat.sessions) == 1)


async def test_a_stream_that_fails_in_the_middle_is_shown_as_such(app, until):
    async with app.run_test(size=(100, 30)) as pilot:
        await enter_chat(app, pilot, until)
        await say(pilot, "please fail")
        await until(pilot, lambda: "It broke off: out of memory" in screen_text(app))
        assert app.screen.chat.turns[-1].text
        await say(pilot, "ok")
        await until(pilot, lambda: "«ok»" in screen_text(app))


async def test_an_answer_is_stopped_and_what_was_said_stays(app, until, monkeypatch):
    monkeypatch.setattr("tests.cli.llm_service.PAUSE_SECONDS", 0.25)
    async with app.run_test(size=(100, 30)) as pilot:
        await enter_chat(app, pilot, until)
        await say(pilot, "x" * 200)
        await until(pilot, lambda: len(app.screen.chat.turns[-1].text) > 10)
        await pilot.press("ctrl+g")
        await until(pilot, lambda: "Stopped." in screen_text(app))
        said = app.screen.chat.turns[-1].text
        assert 0 < len(said) < 200
        await pilot.pause(0.6)
        assert app.screen.chat.turns[-1].text == said


async def test_sampling_parameters_are_set_and_sent(app, model, until):
    async with app.run_test(size=(100, 36)) as pilot:
        await enter_chat(app, pilot, until)
        await pilot.press("escape", "p")
        await until(pilot, lambda: "Tokens at most" in screen_text(app))
        await pilot.press(*["backspace"] * 3, "7", "enter")
        await until(pilot, lambda: "max_new_tokens 7" in screen_text(app))
        await pilot.press("e")
        await say(pilot, "hi")
        await until(pilot, lambda: "«hi»" in screen_text(app))
        assert model.prompts()[-1]["params"]["max_new_tokens"] == 7


async def test_a_deployment_that_is_gone_is_told(app, model, until):
    async with app.run_test(size=(100, 30)) as pilot:
        await enter_chat(app, pilot, until)
        model.on("GET", "/inference/deployments/one", {"message": "gone"}, 404)
        app.screen.chat._agent.url = "http://127.0.0.1:9"
        await say(pilot, "hello")
        await until(pilot, lambda: "It broke off" in screen_text(app))


async def test_text_is_appended_and_not_parsed_again_whole(monkeypatch):
    from textual.app import App

    parsed = []

    class Probe(App[None]):
        def compose(self):
            yield TurnView("model", mine=False)

    async with Probe().run_test() as pilot:
        view = pilot.app.query_one(TurnView)
        append = view._body.append
        monkeypatch.setattr(view._body, "append", lambda text: parsed.append(text) or append(text))
        text = ""
        for n in range(40):
            text += f"Paragraph {n}.\n\n"
            await view.show(text)
        assert "".join(parsed) == text
        assert max(map(len, parsed)) < 20


def test_markdown_holds_no_escape_codes():
    assert safe_markdown("a\x1b[31mb\nc\x07") == "a␛[31mb\nc␇"
