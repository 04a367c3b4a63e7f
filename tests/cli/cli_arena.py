"""A real Arena with things in it for the command line's tests: a project, runs, an agent, data."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.cli_running import Done, Run
from tests.local.conftest import ArenaServer, end_arena, run_arena, start_arena

MANIFEST = """
algorithm: {{name: DQN, lr: {lr}, batch_size: 32, learn_step: 4}}
environment: {{name: CartPole-v1, num_envs: 4}}
training: {{max_steps: 800, pop_size: 2, evo_steps: 400, eval_steps: 60}}
network:
  latent_dim: 16
  encoder_config: {{hidden_size: [32]}}
  head_config: {{hidden_size: [32]}}
replay_buffer: {{max_size: 5000}}
"""
DESCRIPTION = "größer «schöner» 数据 🚀"


@dataclass(frozen=True)
class Furnished:
    """An Arena and what is in it.

    Attributes:
        server: The Arena.
        source: Folder of the environment `walk`.
    """

    server: ArenaServer
    source: Path

    def run(
        self, *words: str, code: int = 0, timeout: float = 120
    ) -> subprocess.CompletedProcess[str]:
        """Run a command and check its exit code."""
        done = run_arena(self.server.home, *words, timeout=timeout)
        assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        return done


@pytest.fixture(scope="session")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Furnished]:
    """An Arena with project `walk`, environment `walk`, runs `low` and `high`, `high` deployed."""
    home = tmp_path_factory.mktemp("furnished")
    server = start_arena(home)
    try:
        made = Furnished(server, home / "walk")
        made.run("projects", "create", "walk", "--description", DESCRIPTION)
        made.run("projects", "set-default", "walk")
        made.run("env", "init", str(made.source))
        config = ["--env-config", str(made.source / "env_config.yaml")]
        made.run("env", "validate", "walk", "--source", str(made.source), *config)
        for name, lr in (("low", 0.0005), ("high", 0.002)):
            path = home / f"{name}.yaml"
            path.write_text(MANIFEST.format(lr=lr), encoding="utf-8")
            made.run(
                "experiments", "submit", str(path), "--resource-id", "local", "--num-nodes", "1",
                "--experiment-name", name, "--watch",
            )  # fmt: skip
        made.run("agent", "deploy", "high")
        data = home / "qa.csv"
        data.write_text("prompt,target\nWas?,Größe\n2 + 2,4\n", encoding="utf-8")
        made.run(
            "datasets", "create", "qa", "--category", "sft", "--file", str(data),
            "--column-mapping", '{"prompt": "prompt", "target": "target"}',
        )  # fmt: skip
        yield made
    finally:
        end_arena(server)


@pytest.fixture
def here(furnished: Furnished, run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run commands on that Arena in this process; they must end with the exit code `code`."""
    monkeypatch.setenv("ARENA_HOME", str(furnished.server.home))

    def command(*words: str, code: int = 0) -> Done:
        done = run(*words)
        assert done.code == code, (words, done)
        return done

    return command
