"""What each command sends is what the published program sends for the same words."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sdk_calls import make_files
from sdk_program import Published, program_of
from sdk_service import Service, running
from sdk_wire import comparable, teach, without_looking_first

from arena_sdk.cli import root

COMMANDS = """
user profile
user credits
resources list
env list
env list --name corridor --include-arena
env exists corridor
env exists corridor --version v1
env entrypoints corridor
env entrypoints corridor --version v1
env profile corridor
env profile corridor --version v1
env validate corridor
env validate corridor --version v1 --entrypoint a:B --do-rollouts
env validate corridor --source corridor
env validate corridor --source beside --version v2
env validate corridor --source beside --env-config other.yaml --requirements requirements.txt
env validate corridor --source corridor --multi-agent --language-based --description word
env delete corridor --version v3 --yes
env delete corridor --yes
env duplicate corridor v9
env duplicate corridor v9 --version v1
datasets list
datasets list --search word
datasets exists word
datasets create word --category sft --column-mapping {"prompt":"a","target":"b"} --file data.csv
datasets create word --category sft --column-mapping-file mapping.json --file shards --config c
datasets create word --category sft --column-mapping-file mapping.json --file one
datasets create word --category sft --column-mapping-file mapping.json --hf-dataset o/n --hf-split s
datasets delete word --yes
models list
models supported
models info m
experiments submit dqn.yaml --project p
experiments submit dqn.yaml --project p --experiment-name e --resource-id local --num-nodes 1
experiments submit dqn.yaml --project p --reward-file reward.py --completion four
experiments list --project p
experiments resume e --max-steps 20
experiments stop e
experiments checkpoints e
experiments metrics e
experiments metrics e --metric loss --metric fitness --preview-rows 3
experiments metrics e --metric loss --output-file metrics.csv
agent list
agent list --name d --experiment-name e --project-name p
agent deploy e
agent deploy e --checkpoint step_5 --memory-scope user
agent run d --refresh
projects list
projects create p
projects create p --description word --llm-based
projects delete p --yes
""".strip().splitlines()


@pytest.fixture(scope="module")
def taught() -> Iterator[Service]:
    service = Service()
    with running(service) as url:
        service.url = url
        teach(service)
        yield service


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("words")
    make_files(made)
    (made / "data.csv").write_text("a,b\n1,2\n")
    (made / "mapping.json").write_text('{"prompt": "a", "target": "b"}')
    for name in (
        "shards/c/a/0.parquet",
        "shards/c/1.parquet",
        "shards/d/2.parquet",
        "one/c/3.parquet",
    ):
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_bytes(b"PAR1")
    return made


@pytest.fixture(scope="module")
def published(oracle_python: str, taught: Service, folder: Path) -> Iterator[Published]:
    """The published program; to start it for each line would take minutes."""
    with program_of(oracle_python, {**os.environ, **variables(taught, folder)}) as program:
        yield program


def variables(service: Service, folder: Path) -> dict[str, str]:
    """Return the environment of a program that uses a service, with a home below a folder."""
    return {
        "ARENA_BASE_URL": service.url,
        "ARENA_API_KEY": "arena_pat_k",
        "HOME": str(folder / "home"),
        "ARENA_HOME": str(folder / "home" / ".arena"),
        "NO_PROXY": "*",
    }


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_sends_what_the_published_one_sends(
    published: Published,
    taught: Service,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    line: str,
) -> None:
    words = line.split(" ")
    theirs_folder = shutil.copytree(folder, tmp_path / "theirs")
    taught.calls.clear()
    ended = published.run(*words, folder=theirs_folder)
    assert ended.code == 0, ended.output
    theirs = [comparable(call) for call in without_looking_first(taught.calls)]

    monkeypatch.chdir(shutil.copytree(folder, tmp_path / "ours"))
    for name, value in variables(taught, tmp_path / "ours").items():
        monkeypatch.setenv(name, value)
    taught.calls.clear()
    with pytest.raises(SystemExit) as left:
        root.run(words)
    assert left.value.code == 0, capsys.readouterr().err
    ours = [comparable(call) for call in without_looking_first(taught.calls)]
    if line.startswith("agent run"):  # ours shows what the agent is, which the agent itself knows
        assert ours.pop()[:2] == ("GET", "/status")
    assert ours == theirs
