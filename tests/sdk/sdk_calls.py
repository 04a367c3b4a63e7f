"""The calls of the main job, made with whichever client has been imported.

Run as `python sdk_calls.py published|ours FOLDER` with `ARENA_BASE_URL` and `ARENA_API_KEY` set. It
prints what each call returned, as JSON lines.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np


def make_files(folder: Path) -> None:
    """Write an environment, its settings and requirements, and a manifest."""
    source = folder / "corridor"
    source.mkdir(exist_ok=True)
    (source / "corridor.py").write_text(
        "import gymnasium\n\n\nclass Corridor(gymnasium.Env): ...\n"
    )
    beside = folder / "beside"
    beside.mkdir(exist_ok=True)
    (beside / "corridor.py").write_text((source / "corridor.py").read_text())
    (beside / "env_config.yml").write_text("length: 7\n")
    (beside / "env_config.json").write_text('{"length": 8}')
    (beside / "requirements.txt").write_text("rich==14.3.3\n")
    (folder / "env_config.yaml").write_text("length: 6\n")
    (folder / "other.yaml").write_text("length: 9\n")
    (folder / "env_config.json").write_text('{"length": 6}')
    (folder / "requirements.txt").write_text("rich==14.3.3\n")
    (folder / "reward.py").write_text("def reward(question, answer, completion): return 1.0\n")
    (folder / "dqn.yaml").write_text(
        "algorithm: {name: DQN, lr: 0.001, batch_size: 32, learn_step: 4}\n"
        "environment: {name: CartPole-v1, num_envs: 4}\n"
        "training: {max_steps: 1200, pop_size: 2, evo_steps: 400}\n"
        "network: {latent_dim: 16, encoder_config: {hidden_size: [32]},"
        " head_config: {hidden_size: [32]}}\n"
        "replay_buffer: {max_size: 5000}\n"
    )


def calls(client: Any, folder: Path) -> list[tuple[str, Any]]:
    """Return the calls by name, each to be made in turn."""
    source, name = folder / "corridor", "corridor"
    settings = {"env_config": folder / "env_config.yaml"}
    requirements = {"requirements": folder / "requirements.txt"}
    json_settings = {"env_config": folder / "env_config.json"}
    return [
        ("create_project", lambda: client.create_project("p", "what for", False)),
        ("create_project bare", lambda: client.create_project("p", None, True)),
        ("list_projects", lambda: client.list_projects()),
        (
            "validate",
            lambda: client.validate_environment(
                name=name, version="v2", source=source, **settings, **requirements
            ),
        ),
        ("validate bare", lambda: client.validate_environment(name=name, source=source)),
        (
            "validate with what lies beside",
            lambda: client.validate_environment(name=name, source=folder / "beside"),
        ),
        (
            "validate with another config",
            lambda: client.validate_environment(
                name=name, source=folder / "beside", env_config=folder / "other.yaml"
            ),
        ),
        (
            "validate full",
            lambda: client.validate_environment(
                name=name,
                source=source,
                entrypoint="corridor:Corridor",
                description="a corridor",
                multi_agent=True,
                language_based=True,
                do_rollouts=True,
                **json_settings,
            ),
        ),
        ("validate again", lambda: client.validate_environment(name=name)),
        (
            "validate version",
            lambda: client.validate_environment(
                name=name, version="v2", entrypoint="a:B", do_rollouts=True
            ),
        ),
        ("list", lambda: client.list_environments()),
        ("list one", lambda: client.list_environments(name, include_arena=True)),
        ("exists", lambda: client.environment_exists(name)),
        ("exists version", lambda: client.environment_exists(name, "v1")),
        ("entrypoints", lambda: client.list_environment_entrypoints(name)),
        ("profile", lambda: client.profile_environment(name=name)),
        ("profile version", lambda: client.profile_environment(name=name, version="v2")),
        (
            "duplicate",
            lambda: client.duplicate_environment_version(name=name, new_version="v3"),
        ),
        ("delete", lambda: client.delete_environment(name=name, version="v3", confirm=True)),
        ("delete all", lambda: client.delete_environment(name=name, confirm=True)),
        ("resources", lambda: client.list_resources()),
        (
            "submit",
            lambda: client.submit_experiment(
                folder / "dqn.yaml",
                resource_id="arena-medium",
                num_nodes=2,
                project="p",
                experiment_name="e",
            ),
        ),
        ("submit bare", lambda: client.submit_experiment(folder / "dqn.yaml", project="p")),
        (
            "submit reward",
            lambda: client.submit_experiment(
                folder / "dqn.yaml",
                resource_id="arena-medium",
                num_nodes=2,
                project="p",
                experiment_name="e",
                reward_file=folder / "reward.py",
                completion="four",
            ),
        ),
        ("experiments", lambda: client.list_experiments("p")),
        ("checkpoints", lambda: client.list_checkpoints("e")),
        ("metric names", lambda: client.list_experiment_metric_names("e")),
        ("metric details", lambda: client.list_experiment_metric_names("e", details=True)),
        ("metric names of", lambda: client.list_experiment_metric_names("e", project="p")),
        ("csv", lambda: client.preview_experiment_metrics_csv("e", preview_rows=5)[0].decode()),
        (
            "csv some",
            lambda: client.preview_experiment_metrics_csv(
                "e", preview_rows=5, metrics=["fitness", "loss"], project="p"
            )[0].decode(),
        ),
        (
            "download",
            lambda: client.download_experiment_metrics("e", folder / "m.csv").read_text(),
        ),
        ("resume", lambda: client.resume_experiment("e", 2400)),
        ("stop", lambda: client.stop_experiment("e")),
        ("deploy", lambda: client.deploy_agent("e")),
        ("deploy one", lambda: client.deploy_agent("e", "step_400", "user")),
        ("deployments", lambda: client.list_inference_deployments()),
        (
            "deployments of",
            lambda: client.list_inference_deployments(
                name="d", experiment_name="e", project_name="p"
            ),
        ),
        ("user", lambda: client.get_current_user()),
        ("credits", lambda: client.get_user_credits()),
        ("datasets", lambda: client.list_datasets()),
        ("datasets of", lambda: client.list_datasets(name="d", search="s")),
        ("dataset exists", lambda: client.dataset_exists("d")),
        (
            "dataset hub",
            lambda: client.create_dataset(
                name="d",
                category="sft",
                column_mapping={"prompt": "q", "target": "a"},
                description="x",
                hf_dataset_name="org/set",
                hf_config="main",
                hf_split="train",
            ),
        ),
        ("dataset delete", lambda: client.delete_dataset("d", confirm=True)),
        ("models", lambda: client.list_models()),
        ("model", lambda: client.get_model_info("m")),
        ("run spec", lambda: client.get_default_run_spec("DQN")),
        (
            "run spec of",
            lambda: client.get_default_run_spec(
                "DQN",
                gym_env="corridor",
                gym_env_entrypoint="a:B",
                dataset_name="d",
                field="f",
                pretrained_model_name_or_path="m",
            ),
        ),
        ("agent", lambda: act(client)),
    ]


def act(client: Any) -> Any:
    """Open an agent and ask it for actions."""
    observation = np.arange(4, dtype=np.float32)
    nested = {"a": observation, "b": (np.ones(1), np.arange(3))}
    with client.open_inference_agent("d", refresh=True) as agent:
        agent.status()
        action, hidden = agent.get_action(observation)
        batch, _ = agent.get_action(np.stack([observation, observation]), batched=True)
        agent.get_action(nested)
        agent.get_action(observation, info={"action_mask": np.array([1, 0])})
        agent.get_action(observation, hidden_state=hidden)
    return {"action": np.asarray(action).tolist(), "batch": np.asarray(batch).tolist()}


def main(which: str, folder: Path) -> None:
    """Make the calls."""
    if which == "published":
        from agilerl.arena import ArenaClient  # type: ignore[import-not-found]

        client = ArenaClient(verbose=False)
    else:
        from arena_sdk import ArenaClient

        client = ArenaClient()
    make_files(folder)
    with client:
        for name, call in calls(client, folder):
            try:
                answer, error = call(), None
            except Exception as caught:
                answer, error = None, f"{type(caught).__name__}: {caught}"
            print(json.dumps({"call": name, "answer": answer, "error": error}, default=str))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
