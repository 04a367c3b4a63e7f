"""The scaffold: what it writes works, is sound, and can be learnt."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from arena_sdk import scaffold
from arena_sdk.errors import ArenaValidationError
from arena_sdk.local.services.bundled import bundled_config, bundled_requirements
from arena_sdk.local.services.requirements import missing, requirement_lines
from arena_sdk.local.validation.loading import make_env
from arena_sdk.manifest import TrainingManifest
from tests.local.validation.sources import failures, warnings

pytest_plugins = ["tests.local.validation.conftest"]


def test_it_writes_five_files_and_says_which(tmp_path: Path) -> None:
    written = scaffold.create(tmp_path / "merge-env")
    assert [path.relative_to(tmp_path / "merge-env").as_posix() for path in written] == [
        "merge_env.py",
        "test_merge_env.py",
        "requirements.txt",
        "env_config.yaml",
        "manifest.yaml",
    ]
    assert all(path.is_file() for path in written)
    assert not [line for path in written for line in path.read_text().splitlines() if "$" in line]


def test_its_own_test_passes(tmp_path: Path) -> None:
    scaffold.create(tmp_path / "my-env")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path / "my-env",
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout
    assert "3 passed" in ran.stdout


def test_it_passes_every_check_without_a_warning(tmp_path: Path, check) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path / "my-env"
    scaffold.create(folder)
    sources = {path.name: path.read_text() for path in folder.iterdir()}
    report = check(sources, env_config=bundled_config(folder))
    assert (failures(report), warnings(report)) == ({}, {})
    assert report["entrypoint"] == "my_env:MyEnv"


def test_it_needs_nothing_that_is_not_there(tmp_path: Path) -> None:
    scaffold.create(tmp_path / "my-env")
    assert missing(requirement_lines(bundled_requirements(tmp_path / "my-env"))) == []


def test_its_manifest_is_valid_and_means_it(tmp_path: Path) -> None:
    scaffold.create(tmp_path / "my-env")
    payload = TrainingManifest.load(tmp_path / "my-env" / "manifest.yaml").payload()
    assert payload["environment"]["name"] == "my-env"
    assert payload["algorithm"]["name"] == "DQN"
    assert payload["training"]["pop_size"] == 4


def test_a_good_policy_is_far_better_than_chance(tmp_path: Path) -> None:
    scaffold.create(tmp_path / "my-env")
    reference = {
        "kind": "custom",
        "source_dir": str(tmp_path / "my-env"),
        "entrypoint": "my_env:MyEnv",
        "env_config": {},
    }
    env = make_env(reference)
    env.action_space.seed(0)

    def mean_return(policy) -> float:  # type: ignore[no-untyped-def]
        total = 0.0
        for seed in range(40):
            observation, _ = env.reset(seed=seed)
            ended = False
            while not ended:
                observation, reward, terminated, truncated, _ = env.step(policy(observation))
                total += reward
                ended = terminated or truncated
        return total / 40

    def by_hand(observation) -> int:  # type: ignore[no-untyped-def]
        _, velocity, distance = observation
        wanted = distance - 0.9 * velocity
        return 2 if wanted > 0.02 else 0 if wanted < -0.02 else 1

    assert mean_return(by_hand) > mean_return(lambda _: env.action_space.sample()) + 8


def test_it_draws_itself(tmp_path: Path) -> None:
    scaffold.create(tmp_path / "my-env")
    reference = {
        "kind": "custom",
        "source_dir": str(tmp_path / "my-env"),
        "entrypoint": "my_env:MyEnv",
        "env_config": {},
    }
    env = make_env(reference, render_mode="rgb_array")
    env.reset(seed=1)
    first = env.render()
    for _ in range(5):
        env.step(2)
    assert first.shape == env.render().shape
    assert (first != env.render()).any()


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "full"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    with pytest.raises(ArenaValidationError, match="is not empty; name one that is new"):
        scaffold.create(folder)
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]


def test_a_path_that_is_a_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ArenaValidationError, match=r"cannot be written: File exists\."):
        scaffold.create(tmp_path / "file")


@pytest.mark.parametrize(
    ("name", "module", "cls"),
    [
        ("my-env", "my_env", "MyEnv"),
        ("7 wonders", "env_7_wonders", "Env7WondersEnv"),
        ("class", "env_class", "EnvClassEnv"),
        ("numpy", "env_numpy", "EnvNumpyEnv"),
        ("Größe.env", "größe_env", "GrößeEnv"),
    ],
)
def test_names_become_pythons(name: str, module: str, cls: str) -> None:
    assert (scaffold.module_name(name), scaffold.class_name(name)) == (module, cls)


def test_a_name_that_would_hide_a_module_still_works(tmp_path: Path) -> None:
    name = "numpy"
    scaffold.create(tmp_path / name)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path / name,
        capture_output=True,
        text=True,
    )
    assert "3 passed" in ran.stdout, ran.stdout


def test_a_name_that_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArenaValidationError, match="environment name"):
        scaffold.create(tmp_path / "x", name="a/b")
    assert not (tmp_path / "x").exists()
