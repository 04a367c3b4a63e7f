"""Bad input of every kind ends in one clear sentence and the documented exit code."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests.local.conftest import (
    ArenaServer,
    arena_environment,
    arena_server,
    run_arena,
    workers_of,
)

__all__ = ["arena_server"]  # a fixture

SPACES = """
import gymnasium
import numpy
from gymnasium import spaces

class Faulty(gymnasium.Env):
    observation_space = spaces.Box(-1, 1, (3,), numpy.float32)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.observation_space.sample(), {}

    def step(self, action):
        return self.observation_space.sample(), 1.0, True, False, {}

"""
MANIFEST = """
algorithm: {name: DQN, batch_size: 32, lr: 0.001}
environment: {name: CartPole-v1, num_envs: 4}
training: {max_steps: 20000000, pop_size: 2, evo_steps: 500, eval_steps: 100}
"""
LONG = "x" * 10_000
BAD_NAMES = (LONG, "a/b", "..", "../x", "a\x1b[31mb", "a\nb", "[red]x[/red]", "\U0001f600", "", " ")


def refused(
    arena: ArenaServer, code: int, *arguments: str, stdin: str = "", timeout: float = 30
) -> str:
    """Run a command that must fail; return its one sentence."""
    done = subprocess.run(
        [sys.executable, "-m", "arena_sdk.cli", *arguments],
        env=arena_environment(arena.home),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    said = done.stderr
    assert done.returncode == code, said or done.stdout
    assert "Traceback" not in said
    errors = [line for line in said.splitlines() if re.match("(?i)error: ", line)]
    assert len(errors) == 1, said
    assert "\x1b" not in said
    assert max(map(len, said.splitlines())) < 600
    return errors[0].split(": ", 1)[1]


@pytest.fixture(scope="module")
def project(arena_server: ArenaServer) -> ArenaServer:
    """An Arena with the default project `walk`."""
    assert run_arena(arena_server.home, "projects", "create", "walk").returncode == 0
    assert run_arena(arena_server.home, "projects", "set-default", "walk").returncode == 0
    return arena_server


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "m.yaml"
    path.write_text(MANIFEST, encoding="utf-8")
    return path


# --- names ----------------------------------------------------------------------------------------


def test_bad_names_are_refused_by_the_server_in_a_short_sentence(project: ArenaServer) -> None:
    with project.client() as api:
        for name in BAD_NAMES:
            answer = api.post("/projects/create", json={"name": name})
            assert answer.status_code == 422, answer.text
            message = answer.json()["message"]
            assert message.isprintable()
            assert len(message) < 250
            answer = api.get("/experiments/one", params={"experiment_name": name})
            assert answer.status_code in (404, 422)
            assert len(answer.json()["message"]) < 250
        assert [row["name"] for row in api.get("/projects").json()] == ["walk"]


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        (4, ["projects", "set-default"]),
        (4, ["experiments", "show"]),
        (1, ["agent", "play"]),
    ],
)
def test_a_name_of_10000_characters_is_not_repeated_in_full(
    project: ArenaServer, code: int, arguments: list[str]
) -> None:
    refused(project, code, *arguments, LONG)


@pytest.mark.parametrize("name", ["a\x1b[31mb", "nope"])
def test_what_is_not_there_is_exit_code_4(project: ArenaServer, name: str) -> None:
    for command in (["agent", "play"], ["agent", "stop"], ["experiments", "watch"]):
        assert "is named" in refused(project, 4, *command, name)


def test_a_name_that_is_taken_is_exit_code_1(project: ArenaServer) -> None:
    assert "already a project named 'walk'" in refused(project, 1, "projects", "create", "walk")


# --- reaching a service ---------------------------------------------------------------------------


def test_a_wrong_token_is_exit_code_3(project: ArenaServer) -> None:
    said = refused(project, 3, "--local", "--api-key", "wrong", "projects", "list")
    assert "arena local token" in said


def test_no_server_is_exit_code_5(tmp_path: Path) -> None:
    nowhere = ArenaServer(tmp_path, tmp_path / "local", "", "", 0)
    assert "No Arena runs" in refused(nowhere, 5, "--local", "projects", "list")
    closed = ["--base-url", "http://127.0.0.1:1", "--api-key", "x", "projects", "list"]
    assert "cannot be reached" in refused(nowhere, 5, *closed)
    # Not "no default project": that would be mended in vain.
    assert "no credential" in refused(nowhere, 3, "experiments", "list")


@pytest.mark.parametrize(
    "url",
    [
        "ftp://x",
        "http://a b",
        f"http://{'h' * 300}",
        "http://a..b",
        "http://xn--.",
        "http://xn--a",
        "http://[::1",
        "http://",
    ],
)
def test_a_base_url_that_is_none_is_exit_code_2(tmp_path: Path, url: str) -> None:
    nowhere = ArenaServer(tmp_path, tmp_path / "local", "", "", 0)
    assert "no base URL" in refused(nowhere, 2, "--base-url", url, "--api-key", "x", "env", "list")


@pytest.mark.parametrize("host", ["xn--r8jz45g.test", "例え.test", "_._"])
def test_a_host_that_nobody_knows_is_exit_code_5(tmp_path: Path, host: str) -> None:
    nowhere = ArenaServer(tmp_path, tmp_path / "local", "", "", 0)
    words = ["--base-url", f"http://{host}", "--api-key", "x", "projects", "create", "p"]
    assert "cannot be reached" in refused(nowhere, 5, *words)


# --- manifests ------------------------------------------------------------------------------------


def bomb() -> str:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    for above, here in zip("abcdefgh", "bcdefghi", strict=True):
        lines.append(f"{here}: &{here} [{', '.join([f'*{above}'] * 9)}]")
    return MANIFEST + "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        (MANIFEST.replace("batch_size", "batchsize"), 1, "Did you mean 'batch_size'"),
        (MANIFEST.replace("CartPole-v1", "CartPole-v77"), 4, "CartPole-v77"),
        (MANIFEST.replace("CartPole-v1", LONG), 4, "not found"),
        (MANIFEST.replace("20000000", "9" * 40), 1, "training.max_steps"),
        (MANIFEST.replace("pop_size: 2", "pop_size: 1000000"), 1, "at most 1,000"),
        (MANIFEST.replace("num_envs: 4", "num_envs: 1000000"), 1, "at most 10,000"),
        (MANIFEST + "\0", 2, "character"),
        ("[" * 50_000, 2, "nested too deeply"),
        ("a: &a [*a]", 2, "without end"),
        (bomb(), 2, "without end"),
    ],
    ids=[
        "typo", "unknown-environment", "long-name", "huge-number", "huge-population",
        "huge-vector", "nul", "deep", "cycle", "bomb",
    ],
)  # fmt: skip
def test_bad_manifests(
    project: ArenaServer, tmp_path: Path, text: str, code: int, words: str
) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text, encoding="utf-8")
    submit = ["experiments", "submit", "--resource-id", "local"]
    assert re.search(words, refused(project, code, *submit, str(path)))
    if code == 2:  # never sent: the same reader reads standard input
        assert re.search(words, refused(project, code, *submit, "-", stdin=text))


def test_a_manifest_that_is_missing_or_binary(project: ArenaServer, tmp_path: Path) -> None:
    assert "no manifest" in refused(project, 2, "experiments", "submit", "nowhere.yaml")
    path = tmp_path / "bin.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in refused(project, 2, "experiments", "submit", str(path))


# --- environments ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (SPACES + "    def __init__(self): raise RuntimeError('no \\x1b[31mlicence')", "licence"),
        (SPACES + "    def __init__(self): raise KeyboardInterrupt", "KeyboardInterrupt"),
        (SPACES + "    def reset(self, **_):\n        import os; os._exit(3)", "_exit"),
        ("import no_such_module_xyz\n" + SPACES, "requirements.txt"),
        ("def broken(:", "cannot be parsed"),
    ],
    ids=["constructor", "keyboard-interrupt", "exit", "import", "syntax"],
)
def test_faulty_environments(project: ArenaServer, tmp_path: Path, code: str, words: str) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "faulty.py").write_text(code, encoding="utf-8")
    name = tmp_path.name
    done = run_arena(project.home, "env", "validate", name, "--source", str(source))
    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stderr
    assert f"error: {name} is not valid" in done.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [("[1, 2]", "mapping"), ("a: [1", "line"), ("[" * 50_000, "too deeply"), ("1: 2", "no text")],
    ids=["list", "broken", "deep", "number"],
)
def test_bad_env_configs(project: ArenaServer, tmp_path: Path, text: str, words: str) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "env.py").write_text(SPACES, encoding="utf-8")
    config = tmp_path / "c.yaml"
    config.write_text(text, encoding="utf-8")
    validate = ["env", "validate", "c", "--source", str(source), "--env-config", str(config)]
    assert words in refused(project, 1, *validate)


def test_a_source_that_is_missing_or_empty(project: ArenaServer, tmp_path: Path) -> None:
    missing = ["env", "validate", "m", "--source", str(tmp_path / "nowhere")]
    assert "no file or folder" in refused(project, 2, *missing)
    assert "no file to upload" in refused(
        project, 1, "env", "validate", "m", "--source", str(tmp_path)
    )


# --- arguments and settings -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", [["--timeout", "nan"], ["--timeout", "-1"], ["--until", "soon"]]
)
def test_waiting_for_what_cannot_come_is_refused(
    project: ArenaServer, arguments: list[str]
) -> None:
    refused(project, 2, "experiments", "wait", "any", *arguments)


def test_damaged_settings_are_named(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes(b"{\xff")
    nowhere = ArenaServer(tmp_path, tmp_path / "local", "", "", 0)
    key = ["--base-url", "http://127.0.0.1:1", "--api-key", "x"]
    assert "config.json" in refused(nowhere, 2, *key, "projects", "get-default")


# --- streams and signals --------------------------------------------------------------------------


def shell(arena: ArenaServer, command: str) -> subprocess.CompletedProcess[str]:
    program = f"{sys.executable} -m arena_sdk.cli"
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command.replace('ARENA', program)}"],
        env=arena_environment(arena.home),
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    "command",
    [
        "ARENA local logs -n 100000 | head -1",
        "ARENA manifest schema | head -1",
        "ARENA projects list | true",
        "ARENA projects list >&-",
        "ARENA projects list 2>&-",
        "ARENA projects list <&-",
        "LC_ALL=C COLUMNS=40 ARENA projects list",
        "env -u HOME ARENA projects list",
    ],
)
def test_unusual_streams_are_no_error(project: ArenaServer, command: str) -> None:
    done = shell(project, command)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_full_disk_behind_stdout_is_told(project: ArenaServer) -> None:
    done = shell(project, "ARENA projects list > /dev/full")
    assert done.returncode == 2
    assert done.stderr.startswith("error: No space left")


def test_watching_ends_on_ctrl_c_and_a_closed_pipe(project: ArenaServer, manifest: Path) -> None:
    submit = ["experiments", "submit", str(manifest), "--resource-id", "local"]
    submit += ["--num-nodes", "1", "--experiment-name", "long"]
    assert run_arena(project.home, *submit).returncode == 0
    try:
        done = shell(project, "ARENA experiments watch long | head -1")
        assert done.returncode == 141  # how the run ends is not known yet
        assert "Error" not in done.stderr
        assert done.stdout.startswith("generation 1 ")
        process = subprocess.Popen(
            [sys.executable, "-m", "arena_sdk.cli", "experiments", "watch", "long"],
            env=arena_environment(project.home),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=10)
        assert process.returncode == 130
        assert said.splitlines()[-1] == "interrupted"
        assert "Traceback" not in said
        assert "is running" in refused(
            project, 1, "experiments", "resume", "long", "--max-steps", "9"
        )
        assert refused(project, 1, "projects", "delete", "walk", "--yes")
    finally:
        assert run_arena(project.home, "experiments", "stop", "long").returncode == 0
    assert "not running" in refused(project, 1, "experiments", "stop", "long")
    huge = ["experiments", "resume", "long", "--max-steps", "9" * 40]
    assert "at most" in refused(project, 1, *huge)


def test_a_demo_that_is_interrupted_twice_leaves_nothing(tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "arena_sdk.cli", "demo"],
        env={**arena_environment(tmp_path / "home"), "TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    told = ""
    while "Checking the environment" not in told:
        line = process.stderr.readline()
        assert line, told
        told += line
    process.send_signal(signal.SIGINT)
    time.sleep(0.2)
    for number in (signal.SIGINT, signal.SIGTERM):
        process.send_signal(number)
    _, said = process.communicate(timeout=40)
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert said.rstrip().endswith("interrupted")
    assert list(temporary.iterdir()) == []
    assert workers_of(temporary) == []


# --- the server's own folder ----------------------------------------------------------------------


def test_a_port_in_use_and_a_second_server(project: ArenaServer, tmp_path: Path) -> None:
    port = str(httpx.URL(project.base_url).port)
    other = ArenaServer(tmp_path, tmp_path / "local", "", "", 0)
    assert f"Port {port}" in refused(other, 1, "local", "up", "--detach", "--port", port)
    assert project.base_url in refused(project, 1, "local", "up", "--detach", "--port", "0")


def test_a_damaged_store_is_named(tmp_path: Path) -> None:
    data = tmp_path / "local"
    data.mkdir()
    (data / "arena.db").write_bytes(os.urandom(5000))
    here = ArenaServer(tmp_path, data, "", "", 0)
    said = refused(here, 1, "local", "up", "--detach", "--port", "0")
    assert "arena.db is damaged" in said
    assert not (data / "server.json").exists()


def test_of_two_servers_that_start_at_once_one_runs(tmp_path: Path) -> None:
    home = tmp_path / "hé me [x] \U0001f600"
    home.mkdir()
    up = [sys.executable, "-m", "arena_sdk.cli", "local", "up", "--detach", "--port", "0"]
    both = [
        subprocess.Popen(up, env=arena_environment(home), stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [process.communicate(timeout=60)[1] for process in both]
    try:
        assert sorted(process.returncode for process in both) == [0, 1], said
        assert not any("Traceback" in text for text in said)
        info = json.loads((home / "local" / "server.json").read_text())
        assert httpx.get(f"{info['url']}/health").json()["pid"] == info["pid"]
    finally:
        assert run_arena(home, "local", "down").returncode == 0


# --- pipes of the shell ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        ("ARENA manifest validate <(echo 'algorithm: {name: DQNN}')", 1, "Did you mean 'DQN'"),
        ("ARENA experiments submit <(echo 'algorithm: {name: DQNN}')", 1, "Did you mean 'DQN'"),
        ("ARENA experiments submit .", 2, "Is a directory"),
        (
            "ARENA datasets create d --category sft --file <(echo a,b)"
            """ --column-mapping-file <(echo '{"prompt": "a", "target": "b"}')""",
            2,
            "write it to a file first",
        ),
    ],
)
def test_a_pipe_is_read_where_that_is_possible(
    project: ArenaServer, command: str, code: int, words: str
) -> None:
    done = shell(project, command)
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
