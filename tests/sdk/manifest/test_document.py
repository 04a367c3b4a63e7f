"""Manifests as a whole: what is accepted, what is submitted, what is said of mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_sdk.manifest import ManifestError, ManifestUnreadable, TrainingManifest

LUNAR_LANDER = """\
algorithm:
  name: DQN
environment:
  name: LunarLander-v3
  num_envs: 16
training:
  max_steps: 1_000_000
  target_score: 200.0
  pop_size: 4
network:
  latent_dim: 128
  encoder_config:
    hidden_size: [128]
    activation: ReLU
  head_config:
    hidden_size: [128]
mutation:
  probabilities: {no_mut: 0.4, act_mut: 0.2}
  rl_hp_selection:
    lr: {min: 0.0000625, max: 1e-2}
    batch_size: {min: 8, max: 512}
tournament_selection: {tournament_size: 2, elitism: true}
"""


def problems(text: str) -> list[str]:
    return [str(problem) for problem in TrainingManifest.problems_of(text)]


def test_the_published_example_is_filled_in() -> None:
    payload = TrainingManifest.load(LUNAR_LANDER).payload()
    assert payload["apiVersion"] == "agilerl.com/v1"
    assert payload["training"]["evo_steps"] == 10_000
    assert payload["network"]["min_latent_dim"] == 8
    assert payload["network"]["encoder_config"] == {"hidden_size": [128], "activation": "ReLU"}
    assert "arch" not in payload["network"]["head_config"]
    assert payload["mutation"]["rl_hp_selection"]["lr"]["max"] == 0.01
    assert None not in payload["training"].values()


def test_a_payload_is_a_manifest_with_the_same_payload() -> None:
    payload = TrainingManifest.load(LUNAR_LANDER).payload()
    assert TrainingManifest.load(payload).payload() == payload


def test_missing_sections_are_the_no_op_and_the_defaults() -> None:
    payload = TrainingManifest.defaults_for("PPO").payload()
    assert payload["mutation"]["probabilities"]["no_mut"] == 1.0
    assert payload["tournament_selection"] == {
        "strategy": "tournament",
        "tournament_size": 2,
        "elitism": True,
    }
    assert "network" not in payload


def test_environment_copies_are_the_algorithms_too() -> None:
    text = "algorithm: {name: PPO}\nenvironment: {name: x, num_envs: 3}\n"
    assert TrainingManifest.load(text).payload()["algorithm"]["num_envs"] == 3


def test_every_mistake_is_told_at_once_in_the_order_of_the_text() -> None:
    text = (
        "algorithm: {name: DQN, learning_step: 3, gamma: 2, lr: abc}\n"
        "environment: {num_envs: 0}\n"
        "training: {max_steps: 10, evo_steps: 100}\n"
        "netwrok: {}\n"
    )
    assert problems(text) == [
        "line 1, column 24: algorithm.learning_step: There is no such field."
        " Did you mean 'learn_step'?",
        "line 1, column 49: algorithm.gamma: 2 is out of bounds; it must be at most 1.",
        "line 1, column 56: algorithm.lr: 'abc' is not a number.",
        "line 2, column 1: environment.name: It is required.",
        "line 2, column 25: environment.num_envs: 0 is out of bounds; it must be at least 1.",
        "line 3, column 38: training.evo_steps: evo_steps (100) must not be above max_steps (10).",
        "line 4, column 1: netwrok: There is no such section. Did you mean 'network'?",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "algorithm: {name: dqn}\nenvironment: {name: x}\n",
            "line 1, column 19: algorithm.name: 'dqn' is not known; allowed: CISPO, CQN, DDPG, DPO,"
            " DQN, GRPO, GSPO, IPPO, LLMPPO, LLMREINFORCE, MADDPG, MATD3, NeuralTS, NeuralUCB, PPO,"
            " Rainbow DQN, Recurrent PPO, SFT, TD3. Did you mean 'DQN'?",
        ),
        (
            "algorithm: {name: DQN}\nenvironment: {name: x}\n"
            "mutation:\n  rl_hp_selection:\n    lrr: {min: 1, max: 2}\n",
            "line 5, column 5: mutation.rl_hp_selection.lrr: DQN has no such number."
            " Did you mean 'lr'?",
        ),
        (
            "algorithm: {name: DQN}\nenvironment: {name: x}\nenvironment: {name: y}\n",
            "line 3, column 1: environment: This key is given twice, first in line 2; keep one of"
            " them.",
        ),
        (
            "algorithm: {name: DQN}\nenvironment: {name: x}\n"
            "network: {arch: mlp, latent_dim: 999, encoder_config: {hidden_size: [64]},"
            " head_config: {hidden_size: [64]}}\n",
            "line 3, column 34: network.latent_dim: latent_dim (999) must not be above"
            " max_latent_dim (128).",
        ),
    ],
)
def test_mistakes_are_told_with_place_and_remedy(text: str, expected: str) -> None:
    assert problems(text) == [expected]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("algorithm:\n\tname: DQN\n", "tabs"),
        ("a: [1, 2\n", "no YAML"),
        ("a: &x\n  b: *x\n", "without end"),
        ("a: 1\n" + "b: x\n" * 300_000, "at most 1 MB"),
    ],
)
def test_what_is_no_manifest_is_refused_quickly(text: str, words: str) -> None:
    with pytest.raises(ManifestUnreadable, match=words):
        TrainingManifest.load(text)


def test_a_bomb_of_aliases_is_refused_quickly() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for level in range(1, 12):
        lines.append(f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]")
    with pytest.raises(ManifestUnreadable):
        TrainingManifest.load("\n".join(lines) + "\n")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ManifestUnreadable, match=r"nope\.yaml"):
        TrainingManifest.load(tmp_path / "nope.yaml")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["algorithm", "name", "training", "network", "mutation", "x"]),
                inner,
            )
        ),
        max_leaves=15,
    )
)
def test_nothing_but_manifest_errors_comes_of_nonsense(value: object) -> None:
    document = value if isinstance(value, dict) else {"algorithm": value}
    document.pop("environment", None)
    with pytest.raises(ManifestError) as caught:
        TrainingManifest.load(document)
    assert caught.value.problems


@given(
    st.fixed_dictionaries(
        {"max_steps": st.integers(1, 10**7)},
        optional={
            "pop_size": st.integers(1, 64),
            "eval_loop": st.integers(1, 9),
            "target_score": st.floats(allow_nan=False, allow_infinity=False),
        },
    ),
    st.sampled_from(["DQN", "PPO"]),
)
def test_a_payload_goes_round_unchanged(training: dict[str, object], algorithm: str) -> None:
    # Copies of the environment are PPO's own too once they are written, as in the contract.
    environment = {"name": "x", "num_envs": 4}
    payload = TrainingManifest.load(
        {"algorithm": {"name": algorithm}, "environment": environment, "training": training}
    ).payload()
    assert TrainingManifest.load(payload).payload() == payload
