"""Starting, finding and ending an Arena: each case one sentence, the right code, nothing left."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import httpx
import psutil
import pytest

from arena_sdk.local import lifecycle
from tests.local.conftest import (
    ArenaServer,
    arena_environment,
    end_arena,
    is_alive,
    run_arena,
    start_arena,
    wait_until,
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def start_in_foreground(home: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "arena_sdk.cli", "local", "up", "--port", "0"],
        env=arena_environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    return process.stderr.readline()


def test_detach_returns_when_health_answers(fresh_arena: ArenaServer) -> None:
    health = httpx.get(f"{fresh_arena.base_url}/health").json()
    assert health["status"] == "ok"
    assert health["name"] == "arena-local"
    assert health["pid"] == fresh_arena.pid
    info = lifecycle.running(fresh_arena.data_dir)
    assert info is not None
    assert (info.pid, info.url) == (fresh_arena.pid, fresh_arena.base_url)
    assert info.host == "127.0.0.1"


def test_secrets_are_readable_by_the_owner_only(fresh_arena: ArenaServer) -> None:
    assert stat.S_IMODE((fresh_arena.data_dir / "token").stat().st_mode) == 0o600
    assert stat.S_IMODE(fresh_arena.data_dir.stat().st_mode) == 0o700
    assert run_arena(fresh_arena.home, "local", "token").stdout == fresh_arena.token + "\n"


def test_the_token_outlives_the_server(home: Path) -> None:
    first = start_arena(home)
    end_arena(first)
    (first.data_dir / "token").chmod(0o644)
    second = start_arena(home)
    end_arena(second)
    assert first.token == second.token
    assert stat.S_IMODE((first.data_dir / "token").stat().st_mode) == 0o600


@pytest.mark.parametrize("flags", [["--detach"], []])
def test_a_second_up_says_that_one_runs_and_where(
    fresh_arena: ArenaServer, flags: list[str]
) -> None:
    again = run_arena(fresh_arena.home, "local", "up", "--port", "0", *flags)
    assert again.returncode == 1
    assert again.stderr == (
        f"error: An Arena already runs on {fresh_arena.data_dir}: {fresh_arena.base_url}"
        f" (process {fresh_arena.pid}). `arena local down` ends it.\n"
    )
    assert httpx.get(f"{fresh_arena.base_url}/health").json()["pid"] == fresh_arena.pid


@pytest.mark.parametrize("flags", [["--detach"], []])
def test_a_port_in_use_is_one_sentence(home: Path, flags: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = run_arena(home, "local", "up", "--port", port, *flags)
    assert result.returncode == 1
    assert result.stderr == (
        f"error: Port {port} on 127.0.0.1 is in use; give another one with --port"
        " (0 takes any free one).\n"
    )


def test_an_address_of_another_machine_is_one_sentence(home: Path) -> None:
    result = run_arena(home, "local", "up", "--port", "0", "--host", "192.0.2.7")
    assert result.returncode == 1
    assert result.stderr.startswith("error: The address 192.0.2.7:0 cannot be used: ")
    assert result.stderr.count("\n") == 1


def test_a_data_folder_that_is_a_file_is_one_sentence(home: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run_arena(home, "local", "up", "--data-dir", str(tmp_path / "file"))
    assert result.returncode in (1, 2)
    assert "Traceback" not in result.stderr
    assert "file" in result.stderr


@pytest.mark.parametrize("flags", [["--detach"], []])
def test_a_broken_store_is_told(home: Path, flags: list[str]) -> None:
    (home / "local").mkdir(parents=True)
    (home / "local" / "arena.db").write_bytes(b"this is not a database" * 100)
    result = run_arena(home, "local", "up", "--port", "0", *flags)
    assert result.returncode == 1
    assert result.stderr.startswith("error: The Arena could not start: ")
    assert "Traceback" not in result.stderr
    assert lifecycle.running(home / "local") is None


def test_down_ends_it_and_says_so_when_none_runs(home: Path) -> None:
    server = start_arena(home)
    result = run_arena(home, "local", "down")
    assert (result.returncode, result.stdout) == (0, "")
    assert server.base_url in result.stderr
    assert not is_alive(server.pid)
    again = run_arena(home, "local", "down")
    assert again.returncode == 0
    assert again.stderr == f"No Arena ran on {home / 'local'}.\n"


def test_down_kills_a_server_that_hangs(home: Path) -> None:
    server = start_arena(home)
    os.kill(server.pid, signal.SIGSTOP)
    start = time.monotonic()
    ended = lifecycle.stop(server.data_dir, grace=0.5)
    assert time.monotonic() - start < 5
    assert ended is not None
    assert ended.pid == server.pid
    assert not is_alive(server.pid)


def test_status_tells_running_and_not_running(fresh_arena: ArenaServer) -> None:
    running = run_arena(fresh_arena.home, "local", "status", "-o", "json")
    assert running.returncode == 0
    told = json.loads(running.stdout)
    assert (told["running"], told["answers"]) == (True, True)
    assert (told["url"], told["pid"]) == (fresh_arena.base_url, fresh_arena.pid)
    end_arena(fresh_arena)
    ended = run_arena(fresh_arena.home, "local", "status", "-o", "json")
    assert ended.returncode == 1
    assert json.loads(ended.stdout)["running"] is False


def test_what_a_killed_server_left_misleads_nobody(home: Path) -> None:
    first = start_arena(home)
    os.kill(first.pid, signal.SIGKILL)
    assert wait_until(lambda: not is_alive(first.pid), 5)
    assert (first.data_dir / "server.json").exists()
    assert run_arena(home, "local", "status").returncode == 1
    assert lifecycle.running(first.data_dir) is None
    second = start_arena(home)
    assert second.pid != first.pid
    end_arena(second)


def test_a_stale_file_never_makes_down_end_a_bystander(home: Path) -> None:
    bystander = psutil.Popen(["sleep", "60"])
    try:
        data_dir = home / "local"
        data_dir.mkdir(parents=True)
        info = {
            "pid": bystander.pid,
            "host": "127.0.0.1",
            "port": 1,
            "url": "http://127.0.0.1:1",
            "started_at": 0.0,
            "version": "0",
        }
        (data_dir / "server.lock").write_text(str(bystander.pid))
        (data_dir / "server.json").write_text(json.dumps(info))
        assert run_arena(home, "local", "down").returncode == 0
        server = start_arena(home)
        # A stale file beside a server that holds the lock: the lock is believed.
        (data_dir / "server.json").write_text(json.dumps(info))
        assert lifecycle.running(data_dir) is None
        assert run_arena(home, "local", "down").returncode == 0
        assert not is_alive(server.pid)
        assert bystander.is_running()
    finally:
        bystander.kill()
        bystander.wait()


def test_ctrl_c_in_the_foreground_exits_130_and_leaves_nothing(home: Path) -> None:
    process = start_in_foreground(home)
    assert "An Arena runs at http://127.0.0.1:" in first_line(process)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert output == ""
    assert errors.split() == ["interrupted"]
    assert not (home / "local" / "server.json").exists()
    assert lifecycle.running(home / "local") is None


def test_a_termination_in_the_foreground_exits_0(home: Path) -> None:
    process = start_in_foreground(home)
    first_line(process)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (0, "")
    assert lifecycle.running(home / "local") is None


def test_down_ends_a_foreground_server(home: Path) -> None:
    process = start_in_foreground(home)
    first_line(process)
    assert run_arena(home, "local", "down").returncode == 0
    assert process.wait(timeout=5) == 0
    process.communicate()


def test_two_starts_at_once_give_one_server(home: Path) -> None:
    processes = [start_in_foreground(home) for _ in range(3)]
    assert wait_until(lambda: lifecycle.running(home / "local") is not None, 20)
    assert wait_until(lambda: sum(p.poll() is None for p in processes) == 1, 20)
    losers = [process for process in processes if process.poll() is not None]
    for loser in losers:
        _, errors = loser.communicate()
        assert loser.returncode == 1
        assert errors.startswith(("error: An Arena already runs", "error: Another Arena is just"))
    assert run_arena(home, "local", "down").returncode == 0
    for process in processes:
        process.communicate(timeout=10)


def test_logs_print_the_last_lines(fresh_arena: ArenaServer) -> None:
    log = fresh_arena.data_dir / "server.log"
    log.write_text("one\ntwo \x1b[31mred\nthree\n")
    result = run_arena(fresh_arena.home, "local", "logs", "-n", "2")
    assert result.returncode == 0
    assert "\x1b" not in result.stdout
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["two", "three"]


def test_following_the_log_ends_with_ctrl_c(fresh_arena: ArenaServer) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "arena_sdk.cli", "local", "logs", "-f", "-n", "1"],
        env=arena_environment(fresh_arena.home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    with (fresh_arena.data_dir / "server.log").open("a") as log:
        log.write("news\n")
    assert process.stdout.readline() == "news\n"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=10)
    assert process.returncode == 130


@pytest.mark.parametrize("command", ["token", "logs"])
def test_what_was_never_started_is_one_sentence(home: Path, command: str) -> None:
    result = run_arena(home, "local", command)
    assert result.returncode == 1
    assert result.stderr.startswith("error: There is no ")
    assert result.stderr.count("\n") == 1


def test_help_imports_no_server() -> None:
    script = (
        "import sys\n"
        "from arena_sdk.cli.root import run\n"
        "try:\n    run(['local', 'up', '--help'])\n"
        "finally:\n"
        "    heavy = {'fastapi', 'uvicorn', 'sqlalchemy', 'psutil', 'httpx', 'numpy', 'pydantic'}\n"
        "    print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.returncode == 0
    assert result.stderr.strip() == "[]"


def test_without_the_extra_it_says_what_to_install(home: Path) -> None:
    script = (
        "import importlib.util as util\n"
        "find = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'fastapi' else find(name, *rest)\n"
        "from arena_sdk.cli.root import run\n"
        "run(['local', 'up'])\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script],
        env=arena_environment(home),
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert 'pip install "arena-tui[local]"' in result.stderr
    assert result.stderr.count("\n") == 1
