"""The published guide's examples, as they stand, against the embedded Arena.

On the command line they run in a shell with our `arena`; in Python with `arena_sdk` where the guide
imports `agilerl.arena` or `agilerl.training.trainer`. Left out is only what the embedded Arena
does not have: a hosted login, and agents of several agents.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.local.conftest import ArenaServer, arena_environment, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PUBLISHED = Path(__file__).parents[1] / "sdk" / "manifest" / "examples" / "published_example.yaml"
NAME = "lunar-lander-dqn"

ENVIRONMENT = '''
import gymnasium as gym
import numpy as np


class Merge(gym.Env):
    """A car merges when the gap is wide enough."""

    def __init__(self, lanes: int = 1) -> None:
        self.lanes = lanes
        self.observation_space = gym.spaces.Box(0.0, 1.0, (2,), np.float32)
        self.action_space = gym.spaces.Discrete(2)

    def _observe(self):
        return np.array([self.gap, self.steps / 30], dtype=np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.gap, self.steps = float(self.np_random.random()), 0
        return self._observe(), {}

    def step(self, action):
        self.steps += 1
        merged = bool(action == 1)
        reward = (1.0 if self.gap > 0.5 else -1.0) if merged else -0.01
        self.gap = float(self.np_random.random())
        return self._observe(), reward, merged, self.steps >= 30, {}
'''

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the reader of the guide works: their environment, dataset and manifest."""
    folder = tmp_path_factory.mktemp("guide")
    source = folder / "merge-env"
    source.mkdir()
    (source / "merge.py").write_text(ENVIRONMENT)
    (source / "requirements.txt").write_text("rich==14.3.3\n")
    (source / "env_config.yaml").write_text("lanes: 2\n")
    (folder / "my_dataset").mkdir()
    (folder / "my_dataset" / "data.csv").write_text("prompt,completion\n1+1?,2\n2+2?,4\n")
    shutil.copy(PUBLISHED, folder / "dqn.yaml")
    return folder


@pytest.fixture(scope="module")
def variables(arena_server: ArenaServer) -> dict[str, str]:
    """The environment of somebody whose Arena runs on their machine; `arena` is ours."""
    programs = Path(sys.executable).parent
    base = arena_environment(arena_server.home)
    return {**base, "PATH": f"{programs}:{base['PATH']}", "COLUMNS": "200"}


@pytest.fixture(scope="module")
def shell(folder: Path, variables: dict[str, str]) -> Run:
    """Run a line in a shell, in the reader's folder."""

    def run(line: str, *, code: int = 0, **more: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=folder,
            env={**variables, **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == code, f"{line}\n{done.stdout}\n{done.stderr}"
        return done

    return run


@pytest.fixture(scope="module")
def python(folder: Path, variables: dict[str, str]) -> Callable[..., Any]:
    """Run a script in the reader's folder; what it calls `answer` comes back."""

    def run(script: str, **more: str) -> Any:
        code = (
            "import json\nfrom arena_sdk import *\n"
            + textwrap.dedent(script)
            + "\nprint('\\n' + json.dumps(answer, default=str))\n"
        )
        done = subprocess.run(
            [sys.executable, "-W", "error::ResourceWarning", "-c", code],
            cwd=folder,
            env={**variables, **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
        return json.loads(done.stdout.splitlines()[-1])

    return run


def row_of(server: ArenaServer, name: str) -> dict[str, Any]:
    """Return an experiment as it is now."""
    with server.client() as api:
        answer = api.get("/experiments/one", params={"experiment_name": name})
        found: dict[str, Any] = answer.json()
    return found


def until(server: ArenaServer, name: str, *states: str, seconds: float = 300) -> None:
    """Wait until an experiment is in one of some states."""
    reached = wait_until(lambda: row_of(server, name)["state"] in states, seconds)
    assert reached, row_of(server, name)


def short_manifest(steps: int) -> str:
    """Return the published manifest with less to do: one member that learns seldom."""
    manifest = yaml.safe_load(PUBLISHED.read_text())
    manifest["algorithm"]["learn_step"] = 5_000
    manifest["training"] = {
        "max_steps": steps,
        "evo_steps": steps // 2,
        "pop_size": 1,
        "eval_steps": 100,
    }
    del manifest["mutation"]["rl_hp_selection"]["batch_size"]
    return yaml.safe_dump(manifest)


def test_what_comes_before_training(shell: Run, arena_server: ArenaServer) -> None:
    token = {"ARENA_BASE_URL": arena_server.base_url}
    shell(f'export ARENA_API_KEY="{arena_server.token}"; arena projects list', **token)
    assert "needs no login" in shell("arena login", ARENA_PROFILE="local").stderr

    told = shell("arena env validate merge-env --source merge-env/")
    assert "Episode lifecycle" in told.stdout + told.stderr
    shell("arena env validate merge-env --version v1")
    shell(
        "arena datasets create my-dataset --category reasoning \\\n"
        '    --column-mapping \'{"question": "prompt", "answer": "completion"}\''
        " --file ./my_dataset/data.csv"
    )
    shell("arena projects list")
    shell('arena projects create CartPole-HPO --description "HPO on CartPole"')
    assert "HPO on CartPole" in shell("arena projects list").stdout
    shell("arena projects set-default CartPole-HPO")
    assert shell("arena projects get-default").stdout.strip() == "CartPole-HPO"
    shell("arena projects delete CartPole-HPO --yes")
    assert "arena-medium" in shell("arena resources list").stdout
    for noun in ("env", "experiments"):
        assert shell(f"arena {noun} --help").stdout.startswith(f"Usage: arena {noun} ")


SUBMIT = (
    "arena experiments submit dqn.yaml --resource-id arena-medium --num-nodes 2 \\\n"
    f"    --project my-project --experiment-name {NAME}"
)


def test_the_published_manifest_is_accepted_as_it_stands(
    shell: Run, arena_server: ArenaServer, folder: Path
) -> None:
    (folder / "dqn.yaml").write_text(PUBLISHED.read_text())
    shell("arena projects create my-project")
    shell(SUBMIT)
    until(arena_server, NAME, "running")
    row = row_of(arena_server, NAME)
    assert (row["algorithm"], row["environment"], row["pop_size"]) == ("DQN", "LunarLander-v3", 4)
    shell(f"arena experiments stop {NAME}")
    until(arena_server, NAME, "stopped")
    shell(f"arena experiments delete {NAME} --yes")
    shell("arena projects delete my-project --yes")


@pytest.fixture(scope="module")
def trained(shell: Run, arena_server: ArenaServer, folder: Path) -> str:
    """The guide's run, trained far enough to have its `step_500000`."""
    (folder / "dqn.yaml").write_text(short_manifest(500_000))
    shell("arena projects create my-project")
    shell("arena projects set-default my-project")
    shell(SUBMIT)
    until(arena_server, NAME, "completed")
    return NAME


def test_what_comes_after_training(shell: Run, trained: str, folder: Path) -> None:
    shell("arena experiments metrics lunar-lander-dqn --output-file metrics.csv")
    header, *rows = (folder / "metrics.csv").read_text().splitlines()
    assert "fitness" in header.split(",")
    assert len(rows) == 2
    (folder / "metrics.csv").unlink()
    assert "step_500000" in shell("arena experiments checkpoints lunar-lander-dqn").stdout
    shell("arena agent deploy lunar-lander-dqn")
    assert (
        "step_500000"
        in shell("arena agent deploy lunar-lander-dqn --checkpoint step_500000").stdout
    )
    assert trained in shell("arena agent list").stdout
    assert "DQN" in shell("arena agent run lunar-lander-dqn").stdout
    refused = shell('arena agent generate --prompt "..."', code=1)
    assert "no language model" in refused.stderr


def test_environments_datasets_and_projects_in_python(
    python: Callable[..., Any], arena_server: ArenaServer, shell: Run
) -> None:
    key = {"ARENA_API_KEY": arena_server.token, "ARENA_BASE_URL": arena_server.base_url}
    assert python("client = ArenaClient(); answer = client.list_projects()", **key) is not None
    explicit = f'client = ArenaClient(api_key="{arena_server.token}")\n'
    there = {"ARENA_BASE_URL": arena_server.base_url}
    assert python(explicit + "answer = client.list_projects()", **there) is not None

    with arena_server.client() as api:  # what the examples on the command line made
        api.request("DELETE", "/datasets/delete", json={"name": "my-dataset"})
        api.request("DELETE", "/environments/delete", json={"name": "merge-env"})
        api.request("DELETE", "/projects/delete", json={"name": "CartPole-HPO"})
    found = python(
        """
        client = ArenaClient()
        client.login()
        client.validate_environment(source="merge-env/", name="merge-env")
        client.validate_environment(name="merge-env", version="v1")
        answer = [
            client.list_environments(), client.list_environment_entrypoints(name="merge-env"),
            client.environment_exists("merge-env"), client.profile_environment(name="merge-env"),
            client.delete_environment(name="merge-env", version="v1", confirm=True),
            client.create_dataset(name="my-dataset", category="reasoning",
                column_mapping={"question": "prompt", "answer": "completion"},
                file="./my_dataset/data.csv"),
            client.list_projects(),
            client.create_project(name="CartPole-HPO", description="HPO on CartPole"),
            client.get_default_project(), client.delete_project("CartPole-HPO"),
            client.list_resources(),
        ]
        """
    )
    environments, entrypoints, exists, profile, _, dataset, _, project, _, _, resources = found
    assert environments["merge-env"]["v1"] == {"validated": True, "profiled": True}
    assert entrypoints == ["merge:Merge"]
    assert exists is True
    assert profile["steps_per_second"] > 0
    assert dataset["num_rows"] == 2
    assert project["type"] == "simulation"
    assert "arena-medium" in resources["tiers"]
    assert python('answer = ArenaClient().environment_exists("merge-env")') is False


def test_runs_in_python(
    python: Callable[..., Any], arena_server: ArenaServer, folder: Path, trained: str
) -> None:
    (folder / "dqn.yaml").write_text(short_manifest(2_000))
    submitted, trainer, listed, checkpoints = python(
        """
        client = ArenaClient()
        submitted = client.submit_experiment(
            manifest="dqn.yaml", resource_id="arena-medium", num_nodes=2,
            project="my-project", experiment_name="python-dqn")
        answer = [
            submitted, ArenaTrainer.from_manifest(manifest="dqn.yaml").train(),
            client.list_experiments(), client.list_checkpoints(experiment_name="lunar-lander-dqn"),
        ]
        """
    )
    assert submitted["accepted"]
    assert trainer["accepted"]
    assert {"lunar-lander-dqn", "python-dqn"} <= {row["name"] for row in listed}
    assert "step_500000" in [row["name"] for row in checkpoints]

    resumed, _, path = python(
        """
        client = ArenaClient()
        answer = [
            client.resume_experiment("lunar-lander-dqn", max_steps=2_000_000),
            client.stop_experiment("lunar-lander-dqn"),
            str(client.download_experiment_metrics(
                experiment_name="lunar-lander-dqn", output_path="metrics.csv")),
        ]
        client.deploy_agent(experiment_name="lunar-lander-dqn", checkpoint="step_500000")
        """
    )
    assert resumed["resume_from"] == "step_500000"
    assert path.endswith("metrics.csv")
    until(arena_server, trained, "stopped")

    algo, llm, action, hidden, actions, refused = python(
        """
        import numpy as np
        obs, obs_batch = np.zeros(8, np.float32), np.zeros((8, 8), np.float32)
        with ArenaClient() as client:
            with client.open_inference_agent("lunar-lander-dqn") as agent:
                algo, llm = agent.metadata.agent.algo, agent.metadata.agent.llm
                action, hidden_state = agent.get_action(obs)
                actions, _ = agent.get_action(obs_batch, batched=True)
                try:  # an agent of several agents is not trained here
                    agent.get_action({"agent_0": obs, "agent_1": obs})
                except ArenaInferenceError as error:
                    refused = str(error)
        answer = [algo, llm, int(action), hidden_state, np.asarray(actions).tolist(), refused]
        """
    )
    assert (algo, llm, hidden) == ("DQN", False, None)
    assert action in range(4)
    assert actions == [action] * 8
    assert "obs" in refused
