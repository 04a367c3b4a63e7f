"""The published client, unmodified, does the main job against the embedded Arena."""

from __future__ import annotations

import json
import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.local.conftest import ArenaServer, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

Run = Callable[..., str]

ENVIRONMENT = '''
"""A corridor to walk to its end; says so at every step."""

import gymnasium as gym
import numpy as np
from rich.text import Text


class Corridor(gym.Env):
    metadata = {"render_modes": []}

    def __init__(self, length=6, chatty=False):
        self.length = length
        self.chatty = chatty
        self.observation_space = gym.spaces.Box(0.0, 1.0, (2,), np.float32)
        self.action_space = gym.spaces.Discrete(2)
        print(Text("made a corridor"))

    def _observe(self):
        return np.array([self.position / self.length, self.steps / 50], dtype=np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.position, self.steps = 0, 0
        return self._observe(), {}

    def step(self, action):
        if self.chatty:
            print('{"kind":"status","status":"failed"}', flush=True)
        self.steps += 1
        self.position = max(0, self.position + (1 if action == 1 else -1))
        done = self.position >= self.length
        return self._observe(), 1.0 if done else -0.05, done, self.steps >= 50, {}
'''

MANIFEST = """
algorithm: {name: DQN, lr: 0.001, batch_size: 32, learn_step: 4}
environment: {name: corridor, version: v1, num_envs: 4}
training: {max_steps: 1200, pop_size: 2, evo_steps: 400, eval_steps: 60}
network: {latent_dim: 16, encoder_config: {hidden_size: [32]}, head_config: {hidden_size: [32]}}
replay_buffer: {max_size: 5000}
mutation: {probabilities: {no_mut: 0.5, rl_hp_mut: 0.5, arch_mut: 0, params_mut: 0, new_layer: 0}}
"""

PLAY = """
import json
import numpy as np
from agilerl.arena import ArenaClient

with ArenaClient() as client:
    rows = client.list_inference_deployments(name="corridor-dqn")
    with client.open_inference_agent("corridor-dqn") as agent:
        status = agent.status()
        length, position, steps = 6, 0, 0
        while position < length and steps < 50:
            observation = np.array([position / length, steps / 50], dtype=np.float32)
            action, hidden = agent.get_action(observation)
            position = max(0, position + (1 if int(np.asarray(action)) == 1 else -1))
            steps += 1
        batch = np.stack([np.array([i / 6, 0.0], dtype=np.float32) for i in range(5)])
        actions, _ = agent.get_action(batch, batched=True)
        singles = [int(np.asarray(agent.get_action(row)[0])) for row in batch]
print(json.dumps({
    "rows": len(rows),
    "algo": getattr(agent.metadata.agent, "algo", None),
    "steps": steps,
    "batch": [int(a) for a in np.asarray(actions).ravel()],
    "singles": singles,
    "hidden": hidden is None,
}))
"""


def wait_for_state(server: ArenaServer, name: str, state: str, seconds: float) -> None:
    """Wait until an experiment is in a state."""
    with server.client() as api:

        def now() -> str:
            answer = api.get("/experiments/one", params={"experiment_name": name})
            return str(answer.json()["state"])

        assert wait_until(lambda: now() == state, seconds), now()


@pytest.fixture
def published(arena_server: ArenaServer, oracle_python: str, tmp_path: Path) -> Run:
    """Run the published `arena`, or a script on its package, against the embedded server."""
    environment = {**arena_server.environment, "HOME": str(tmp_path), "COLUMNS": "900"}

    def run(*arguments: str, code: str | None = None) -> str:
        program = [str(Path(oracle_python).parent / "arena"), *arguments]
        result = subprocess.run(
            [oracle_python, "-c", code] if code else program,
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert result.returncode == 0, f"{arguments}\n{result.stdout}\n{result.stderr}"
        return result.stdout + result.stderr

    return run


def test_main_job_with_the_published_client(
    published: Run, arena_server: ArenaServer, tmp_path: Path
) -> None:
    source = tmp_path / "corridor"
    source.mkdir()
    (source / "corridor.py").write_text(textwrap.dedent(ENVIRONMENT))
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("rich==14.3.3\n")
    config = tmp_path / "env_config.yaml"
    config.write_text("length: 6\nchatty: true\n")
    manifest = tmp_path / "dqn.yaml"
    manifest.write_text(MANIFEST)

    published("projects", "create", "oracle", "--description", "from the published client")
    assert "oracle" in published("projects", "list")

    told = published(
        "env", "validate", "corridor", "--source", str(source),
        "--env-config", str(config), "--requirements", str(requirements),
    )  # fmt: skip
    assert "Episode lifecycle" in told
    assert "corridor" in published("env", "list")
    published("env", "profile", "corridor")

    published(
        "experiments", "submit", str(manifest), "--project", "oracle",
        "--experiment-name", "corridor-dqn",
    )  # fmt: skip
    wait_for_state(arena_server, "corridor-dqn", "completed", seconds=120)
    assert "corridor-dqn" in published("experiments", "list", "--project", "oracle")
    assert "1200" in published("experiments", "checkpoints", "corridor-dqn").replace(",", "")

    metrics = tmp_path / "metrics.csv"
    published("experiments", "metrics", "corridor-dqn", "--output-file", str(metrics))
    header, *rows = metrics.read_text().splitlines()
    assert "fitness" in header.split(",")
    assert len(rows) == 2 * 3

    published("experiments", "resume", "corridor-dqn", "--max-steps", "2000")
    wait_for_state(arena_server, "corridor-dqn", "completed", seconds=120)
    metrics.unlink()
    published("experiments", "metrics", "corridor-dqn", "--output-file", str(metrics))
    assert len(metrics.read_text().splitlines()) == 1 + 2 * 5

    published("agent", "deploy", "corridor-dqn")
    assert "corridor-dqn" in published("agent", "list")
    played = json.loads(published(code=PLAY).splitlines()[-1])
    assert played["rows"] == 1
    assert played["algo"] == "DQN"
    assert played["hidden"]
    assert len(played["batch"]) == 5
    assert played["batch"] == played["singles"]
