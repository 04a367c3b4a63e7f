"""Talking to a deployed language model, and the conversations that it keeps."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from uuid import UUID

import pytest
import yaml

from tests.cli.cli_running import Run
from tests.cli.llm_service import LanguageService


def remembered(home: Path) -> dict[str, str]:
    """Return the conversations that go on, as the file has them."""
    found: dict[str, str] = json.loads((home / "inference.json").read_text())["active_sessions"]
    return found


def test_an_answer_goes_to_stdout_and_all_else_to_stderr(
    run: Run, language_service: LanguageService
) -> None:
    done = run("agent", "generate", "chatter", "--prompt", "hi there")
    assert (done.code, done.out) == (0, "«hi there» is turn 1. ✓\n")
    assert done.err.startswith("New conversation ")


def test_sampling_parameters_have_the_published_defaults(
    run: Run, language_service: LanguageService
) -> None:
    run("agent", "generate", "chatter", "--prompt", "hi")
    run("agent", "generate", "chatter", "--prompt", "hi", "--temperature", "0", "--top-p", "1")
    first, second = (prompt["params"] for prompt in language_service.prompts())
    assert first == {"max_new_tokens": 100, "temperature": 0.7, "top_p": 0.9, "do_sample": True}
    assert second == {**first, "temperature": 0.0, "top_p": 1.0, "do_sample": False}


def test_prompts_go_on_with_one_conversation_until_told_otherwise(
    run: Run, language_service: LanguageService, arena_home: Path
) -> None:
    assert run("agent", "run", "chatter").code == 0
    for _ in range(2):
        assert run("agent", "generate", "--prompt", "a").code == 0
    first = remembered(arena_home)["chatter"]
    assert UUID(first).version == 4
    assert "turn 1" in run("agent", "generate", "--prompt", "b", "--new-session").out
    second = remembered(arena_home)["chatter"]
    assert second != first
    once = run("agent", "generate", "--prompt", "c", "--session-id", first)
    assert "turn 3" in once.out
    assert remembered(arena_home)["chatter"] == second
    assert run("agent", "sessions", "clear").code == 0
    assert remembered(arena_home) == {}
    assert "turn 1" in run("agent", "generate", "--prompt", "d").out
    asked = [prompt["session_id"] for prompt in language_service.prompts()]
    assert asked[:4] == [first, first, second, first]
    assert asked[4] not in asked[:4]


def test_other_settings_in_the_file_are_kept(
    run: Run, language_service: LanguageService, arena_home: Path
) -> None:
    arena_home.mkdir()
    before = {"deployments": {"x": {"url": "http://x"}}, "active_sessions": {"x": "1"}, "new": [1]}
    (arena_home / "inference.json").write_text(json.dumps(before))
    run("agent", "generate", "chatter", "--prompt", "a")
    after = json.loads((arena_home / "inference.json").read_text())
    assert {key: after[key] for key in ("deployments", "new")} == {
        key: before[key] for key in ("deployments", "new")
    }
    assert set(after["active_sessions"]) == {"x", "chatter"}
    assert (arena_home / "inference.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("form", ["json", "ndjson", "yaml"])
def test_an_answer_as_a_document(run: Run, language_service: LanguageService, form: str) -> None:
    done = run("agent", "generate", "chatter", "--prompt", "a", "-o", form)
    document = yaml.safe_load(done.out)
    assert document["completion"] == "«a» is turn 1. ✓"
    assert document["prompt"] == "a"
    assert document["session_id"] in language_service.sessions


def test_a_failure_in_the_middle_keeps_what_came_and_exits_1(
    run: Run, language_service: LanguageService
) -> None:
    done = run("agent", "generate", "chatter", "--prompt", "fail")
    assert done.code == 1
    assert "«fail»".startswith(done.out.rstrip("\n")[:4])
    assert done.out.endswith("\n")
    assert "error: out of memory" in done.err
    assert "ERROR:" not in done.out


def test_escapes_of_a_model_cannot_change_the_terminal(
    run: Run, language_service: LanguageService
) -> None:
    done = run("agent", "generate", "chatter", "--prompt", "\x1b[31mred\x1b]0;title\x07")
    assert "\x1b" not in done.out
    assert "\x07" not in done.out
    assert "\\x1b[31mred" in done.out


def test_mistakes_of_usage(run: Run, language_service: LanguageService) -> None:
    for words, said in (
        (["generate", "--prompt", "a"], "arena agent run"),
        (["generate", "chatter"], "--prompt"),
        (["generate", "chatter", "--prompt", "a", "--session-id", "s", "--new-session"], "exclude"),
        (["sessions", "list"], "arena agent run"),
        (["sessions", "resume", "chatter"], "--session-id"),
        (["sessions", "delete", "s", "chatter"], "--yes"),
    ):
        done = run("agent", *words)
        assert (done.code, done.out) == (2, ""), words
        assert said in done.err
    assert language_service.prompts() == []


def test_an_agent_of_another_kind_has_no_text(run: Run, language_service: LanguageService) -> None:
    kind = {"algo": "DQN", "llm": False}
    language_service.on("GET", "//status", {"success": True, "agent": kind})
    for words in (["generate", "--prompt", "a"], ["sessions", "list"]):
        done = run("agent", *words[:1], *words[1:], "chatter")
        assert done.code == 1
        assert "arena agent act chatter" in done.err
    assert language_service.prompts() == []


def test_a_language_model_has_no_actions(run: Run, language_service: LanguageService) -> None:
    done = run("agent", "act", "chatter", "[1]")
    assert done.code == 1
    assert "arena agent generate chatter" in done.err


# --- conversations --------------------------------------------------------------------------------


def test_conversations_are_listed_with_whole_ids_and_the_current_one_marked(
    run: Run, language_service: LanguageService, arena_home: Path
) -> None:
    for text in ("a", "b"):
        run("agent", "generate", "chatter", "--prompt", text, "--new-session")
    rows = json.loads(run("agent", "sessions", "list", "chatter", "-o", "json").out)
    assert [row["session_id"] for row in rows] == list(language_service.sessions)
    current = [row["session_id"] for row in rows if row["current"]]
    assert current == [remembered(arena_home)["chatter"]]
    table = run("agent", "sessions", "list", "chatter").out.splitlines()
    assert [line.split()[0] for line in table[1:]] == list(language_service.sessions)


def test_a_conversation_is_read_resumed_and_deleted(
    run: Run, language_service: LanguageService, arena_home: Path
) -> None:
    run("agent", "generate", "chatter", "--prompt", "one\ntwo", "--session-id", "old")
    run("agent", "generate", "chatter", "--prompt", "new")
    assert run("agent", "sessions", "get", "old", "chatter").out.splitlines() == [
        "user", "  one", "  two", "assistant", "  «one", "  two» is turn 1. ✓",
    ]  # fmt: skip
    document = json.loads(run("agent", "sessions", "get", "old", "chatter", "-o", "json").out)
    assert [message["role"] for message in document["messages"]] == ["user", "assistant"]
    assert run("agent", "sessions", "resume", "chatter", "--session-id", "old").code == 0
    assert "turn 2" in run("agent", "generate", "chatter", "--prompt", "again").out
    assert run("agent", "sessions", "delete", "old", "chatter", "--yes").code == 0
    assert "old" not in language_service.sessions
    assert remembered(arena_home) == {}
    assert run("agent", "sessions", "delete", "old", "chatter", "--yes").code == 0
    for words in (["get", "old", "chatter"], ["resume", "chatter", "--session-id", "old"]):
        done = run("agent", "sessions", *words)
        assert done.code == 4
        assert "old" in done.err


@pytest.mark.slow
def test_a_conversation_goes_from_one_program_to_the_other(
    run: Run, language_service: LanguageService, oracle_python: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / ".arena"))
    environment = {**os.environ, "HOME": str(tmp_path)}

    def theirs(*words: str) -> str:
        program = [str(Path(oracle_python).parent / "arena"), *words]
        done = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run("agent", "run", "chatter").code == 0
    assert "turn 1" in run("agent", "generate", "--prompt", "ours").out
    assert "turn 2" in theirs("agent", "generate", "--prompt", "theirs")
    assert "turn 3" in run("agent", "generate", "--prompt", "ours").out
    theirs("agent", "generate", "--prompt", "new", "--new-session")
    assert "turn 2" in run("agent", "generate", "--prompt", "ours").out
    theirs("agent", "sessions", "clear")
    assert "turn 1" in run("agent", "generate", "--prompt", "ours").out
    ours, other = (
        {key: prompt[key] for key in ("params", "prompt")}
        for prompt in language_service.prompts()[:2]
    )
    assert {**ours, "prompt": ""} == {**other, "prompt": ""}
