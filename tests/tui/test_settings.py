"""Settings: read, checked with a sentence, written; and memory that is never in the way."""

from __future__ import annotations

import pytest

from arena_tui.settings import Memory, Settings, SettingsError, load, save


def test_without_a_file_there_are_defaults(arena_home):
    assert load() == Settings()


def test_what_is_saved_is_loaded(tmp_path):
    path = tmp_path / "tui.yaml"
    settings = Settings(plot_style="block", refresh=5.0, keys={"experiments.stop": "ctrl+s"})
    save(settings, path)
    assert load(path) == settings
    assert "theme" not in path.read_text()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("refresh: fast", "refresh is 'fast'"),
        ("refresh: 0.1", "from 0.5 to 60"),
        ("plot_style: dots", "braille, block, ascii"),
        ("colour: red", "'colour' is no setting"),
        ("keys: [a]", "keys must map"),
        ("- a", "settings by name"),
        ("a: [", "not valid YAML at line"),
        ("theme: 3", "must be text"),
    ],
)
def test_a_wrong_file_is_one_sentence_that_names_it(tmp_path, text, words):
    path = tmp_path / "tui.yaml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=words) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_memory_is_kept(tmp_path):
    memory = Memory(tmp_path / "state.json")
    memory.set("screen", "agents")
    memory.save()
    assert Memory(tmp_path / "state.json").get("screen") == "agents"


@pytest.mark.parametrize("text", ["", "[1]", "{broken"])
def test_broken_memory_is_forgotten(tmp_path, text):
    path = tmp_path / "state.json"
    path.write_text(text)
    assert Memory(path).get("screen", "overview") == "overview"


def test_memory_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "file").write_text("")
    Memory(tmp_path / "file" / "state.json").save()


async def test_keys_can_be_rebound_by_action_id(make_app, until):
    from tui_looking import screen_lines, screen_text

    app = make_app(settings=Settings(keys={"app.agents": "f9", "projects.new": "ctrl+n"}))
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.press("f9")
        await until(pilot, lambda: "grid-old" in screen_text(app))
        assert app.current_mode == "agents"
        await pilot.press("4")
        await until(pilot, lambda: "^n new" in screen_lines(app)[-1])
        await pilot.press("ctrl+n")
        await until(pilot, lambda: "New project" in screen_text(app))
