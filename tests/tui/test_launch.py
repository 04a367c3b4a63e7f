"""The program's start: options, what is no terminal, and what it started it ends."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest

from arena_tui import __main__ as program
from arena_tui import launch


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "arena_tui", *arguments],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )


def test_without_a_terminal_it_is_one_sentence_and_exit_2():
    done = run()
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "\x1b" not in done.stderr
    assert "`arena`" in done.stderr


def test_the_version():
    done = run("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("arena-tui ")


def test_an_unknown_option_is_a_usage_error():
    assert run("--colour").returncode == 2


def test_two_arenas_at_once_are_refused():
    done = run("--local", "--url", "http://127.0.0.1:1")
    assert done.returncode == 2
    assert "--url" in done.stderr


def test_the_help_and_the_refusal_need_nothing_heavy():
    code = (
        "import sys, arena_tui.__main__ as m; m.main([]); "
        "print([n for n in ('httpx', 'numpy', 'textual', 'pydantic') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert done.stdout.strip() == "[]"


def test_a_missing_extra_is_one_sentence(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "arena_sdk.local", None)
    monkeypatch.setattr(program.sys, "stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(program.sys.stdout, "isatty", lambda: True, raising=False)
    assert program.main(["--local"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "pip install" in said


class Lifecycle:
    """Stands for the embedded Arena's own start and end."""

    def __init__(self, runs):
        self.info = SimpleNamespace(url="http://127.0.0.1:9") if runs else None
        self.calls = []

    def running(self, data_dir):
        return self.info

    def start_detached(self, data_dir, host, port):
        self.calls.append("start")
        return SimpleNamespace(url="http://127.0.0.1:9")

    def stop(self, data_dir):
        self.calls.append("stop")


@pytest.mark.parametrize(
    ("runs", "calls"), [(False, ["start", "stop"]), (True, [])], ids=["none-runs", "one-runs"]
)
def test_it_ends_only_what_it_started(monkeypatch, tmp_path, runs, calls):
    import arena_sdk.local

    lifecycle = Lifecycle(runs)
    monkeypatch.setattr(arena_sdk.local, "lifecycle", lifecycle, raising=False)
    monkeypatch.setitem(sys.modules, "arena_sdk.local.lifecycle", lifecycle)
    (tmp_path / "token").write_text("secret\n")
    arena = launch.ensure(tmp_path)
    assert arena.token == "secret"
    arena.stop()
    arena.stop()
    assert lifecycle.calls == calls


def test_an_arena_that_came_back_elsewhere_is_found(tmp_path):
    arena = launch.LocalArena(tmp_path, "http://127.0.0.1:1", "t", started=False)
    assert arena.current_url() == "http://127.0.0.1:1"
    (tmp_path / "server.json").write_text('{"url": "http://127.0.0.1:2"}')
    assert arena.current_url() == "http://127.0.0.1:2"
