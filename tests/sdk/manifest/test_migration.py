"""Retired spellings: loaded with warnings, rewritten in place with everything else as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from arena_sdk.manifest import ManifestError, TrainingManifest
from arena_sdk.manifest.migrate import migrate_text
from arena_sdk.manifest.retired import STRICTER

RETIRED = sorted((Path(__file__).parent / "retired").glob("*.yaml"))


@pytest.mark.parametrize("path", RETIRED, ids=lambda path: path.stem)
def test_an_older_manifest_loads_with_warnings(path: Path) -> None:
    manifest = TrainingManifest.load(path)
    assert manifest.warnings
    assert all(warning.severity == "warning" and warning.line for warning in manifest.warnings)


@pytest.mark.parametrize("path", RETIRED, ids=lambda path: path.stem)
def test_a_migrated_text_means_the_same_and_needs_no_more(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    migrated, changes = migrate_text(text)
    assert [str(one) for one in changes] == [
        str(one) for one in TrainingManifest.load(text).warnings
    ]
    assert migrate_text(migrated) == (migrated, [])
    again = TrainingManifest.load(migrated)
    assert again.warnings == []
    assert again.payload() == TrainingManifest.load(text).payload()


@pytest.mark.parametrize("path", RETIRED, ids=lambda path: path.stem)
def test_comments_of_lines_that_stay_are_kept(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    migrated, _ = migrate_text(text)
    kept = [line.split("#", 1)[1] for line in migrated.splitlines() if "#" in line]
    written = [
        line.split("#", 1)[1]
        for line in text.splitlines()
        if "#" in line and not line.strip().startswith(("use_vllm", "reduce_memory_peak"))
    ]
    assert kept == written


def test_the_text_of_a_migrated_manifest_word_for_word() -> None:
    text = (
        "# mine\n"
        "algorithm:\n"
        "  name: GRPO  # groups\n"
        "  use_vllm: true  # fast\n"
        "  action_granularity: token\n"
        "  group_size: 4\n"
        "environment: {env_type: reasoning, name: gsm8k, max_reward: 2}  # sums\n"
        "network: {pretrained_model_name_or_path: m, max_context_length: 512}\n"
    )
    assert migrate_text(text)[0] == (
        "# mine\n"
        "algorithm:\n"
        "  name: GRPO  # groups\n"
        "  advantage_granularity: auto\n"
        "  group_size: 4\n"
        "environment: {env_type: rollout, dataset: gsm8k, max_reward: 2,"
        " rubric_file_path: reward.py, prompt_template: {user: '{question}'}}  # sums\n"
        "network: {pretrained_model_name_or_path: m, max_context_length: 512}\n"
    )


def test_json_is_migrated_too() -> None:
    document = {
        "algorithm": {"name": "DPO", "pretrained_model_name_or_path": "m"},
        "environment": {"env_type": "preference", "dataset": "d"},
    }
    migrated, changes = migrate_text(json.dumps(document))
    assert len(changes) == 2
    assert json.loads(migrated)["environment"] == {
        "env_type": "dataset", "dataset": "d", "objective": "preference",
    }  # fmt: skip


def test_a_manifest_of_today_is_left_alone() -> None:
    text = "algorithm: {name: DQN}\nenvironment:   {name: CartPole-v1}   # as it is\n"
    assert migrate_text(text) == (text, [])


def test_windows_line_ends_are_kept() -> None:
    text = (
        "algorithm: {name: SFT, pretrained_model_name_or_path: m}\r\n"
        "environment:\r\n  env_type: sft\r\n  dataset: d\r\n"
    )
    migrated, _ = migrate_text(text)
    assert "env_type: dataset\r\n" in migrated
    assert yaml.safe_load(migrated)["environment"]["objective"] == "sft"


def test_a_retired_spelling_behind_an_anchor_is_pointed_at() -> None:
    text = (
        "algorithm:\n  <<: &old {use_vllm: true}\n  name: GRPO\n"
        "  pretrained_model_name_or_path: m\nenvironment: {entrypoint: a:B}\n"
    )
    assert TrainingManifest.load(text).warnings
    with pytest.raises(ManifestError, match="anchor"):
        migrate_text(text)


def test_the_loaded_mapping_is_not_changed() -> None:
    document = yaml.safe_load(RETIRED[0].read_text(encoding="utf-8"))
    before = json.dumps(document)
    TrainingManifest.load(document)
    assert json.dumps(document) == before


def test_only_a_key_given_twice_is_refused_beyond_the_contract() -> None:
    assert list(STRICTER) == ["duplicate_key"]
    text = "algorithm: {name: DQN, lr: 0.1, lr: 0.2}\nenvironment: {name: e}\n"
    assert [one.kind for one in TrainingManifest.validate(text)] == ["duplicate_key"]
