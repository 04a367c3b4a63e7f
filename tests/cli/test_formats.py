"""Every command that prints data parses in every format, those that change something included."""

from __future__ import annotations

import json
from pathlib import Path

import cli_tree
import pytest

from arena_sdk.cli.root import arena
from tests.cli import test_data
from tests.cli.cli_running import Run
from tests.cli.llm_service import LanguageService
from tests.sdk.sdk_calls import make_files
from tests.sdk.sdk_service import Service
from tests.sdk.sdk_wire import teach

COMMANDS = """
agent act d [0,0,0,0]
agent bench d --requests 2 --observation [0]
agent deploy e
agent list
agent run d
config get base_url
config profiles
config show
datasets create word --category sft --column-mapping {"prompt":"a","target":"b"} --file data.csv
datasets exists word
datasets list
doctor
env duplicate corridor v9
env entrypoints corridor
env exists corridor
env list
env profile corridor
env validate corridor
env validate corridor --source corridor
env validate corridor --source corridor --dry-run
experiments checkpoints e
experiments list --project p
experiments metrics e
experiments metrics e --names
experiments resume e --max-steps 20
experiments show e
experiments stop e
experiments submit dqn.yaml --project p
models info m
models list
models supported
projects create p
projects get-default
projects list
projects show p
resources list
user credits
user profile
whoami
""".strip().splitlines()
CONVERSATIONS = (
    "agent generate chatter --prompt one",
    "agent sessions list chatter",
    "agent sessions get old chatter",
)
ON_A_REAL_ARENA = {
    "agent play": "test_agent_commands.py",
    "agent stop": "test_experiments.py",
    "datasets reward": "test_reward_commands.py",
    "env check": "test_env_check.py",
    "env show": "test_data.py",
    "experiments compare": "test_experiments.py",
    "experiments logs": "test_data.py",
    "experiments watch": "test_experiments.py",
    "local status": "test_data.py",
    "manifest validate": "test_manifest.py",
}
"""What only the embedded Arena offers, or what does not end by itself, and where it is tested."""


@pytest.fixture
def folder(service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> Path:
    """A folder of files for the commands, and a service that knows all of the contract."""
    teach(service)
    service.on("GET", "/experiments/list", [{"name": "e", "state": "running"}])
    monkeypatch.setenv("ARENA_API_KEY", "arena_pat_k")
    make_files(tmp_path)
    (tmp_path / "data.csv").write_text("a,b\n1,2\n")
    monkeypatch.chdir(tmp_path)
    assert run("projects", "set-default", "p").code == 0
    return tmp_path


def check_formats(run: Run, line: str) -> None:
    for form in test_data.FORMATS:
        done = run(*line.split(" "), "-o", form)
        assert done.code == 0, (form, done)
        document = test_data.parsed(form, done.out)
        assert document is not None, form
        assert "\x1b" not in done.out
        if form == "ndjson":
            assert all(json.loads(line) is not None for line in done.out.splitlines())


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_parses_in_every_format(run: Run, line: str) -> None:
    check_formats(run, line)


@pytest.mark.usefixtures("language_service")
@pytest.mark.parametrize("line", CONVERSATIONS)
def test_conversations_parse_in_every_format(
    run: Run, language_service: LanguageService, line: str
) -> None:
    assert run("agent", "generate", "chatter", "--prompt", "x", "--session-id", "old").code == 0
    check_formats(run, line)


def test_no_command_with_formats_is_left_out() -> None:
    with_formats = {
        " ".join(path)
        for path, command, ctx in cli_tree.commands(arena)
        if any(parameter.name == "output_format" for parameter in command.get_params(ctx))
    }
    lines = (*COMMANDS, *CONVERSATIONS)
    shown = {
        name for name in with_formats if any(f"{line} ".startswith(f"{name} ") for line in lines)
    }
    assert with_formats - shown == set(ON_A_REAL_ARENA)
    for module in ON_A_REAL_ARENA.values():
        assert (Path(__file__).parent / module).exists()
