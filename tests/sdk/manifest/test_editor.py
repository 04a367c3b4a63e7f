"""What an editor is told while a manifest is written."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_sdk.manifest.editor import completions, diagnostics, hover
from arena_sdk.manifest.starting import starting_text

EXAMPLE = (Path(__file__).parent / "examples" / "published_example.yaml").read_text("utf-8")


def labels(text: str) -> list[str]:
    """Return what fits at the mark `|` of a text."""
    before, after = text.split("|")
    line = before.count("\n") + 1
    column = len(before) - (before.rfind("\n") + 1) + 1
    return [one.label for one in completions(before + after, line, column)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("algorithm:\n  name: Rec|\n", ["Recurrent PPO"]),
        ("algorithm:\n  name: DQN\n  dou|\n", ["double"]),
        ("algorithm:\n  name: DQN\n  double: |\n", ["true", "false"]),
        ("algorithm:\n  name: DQN\n  double: t|\n", ["true"]),
        ("algorithm: {name: PPO, clip|}\n", ["clip_coef"]),
        ("algorithm: {name: DQN}\nenvironment:\n  env_t|\n", ["env_type"]),
        ("algorithm: {name: DQN}\nenvironment:\n  env_type: b|\n", ["bandit"]),
        ("algorithm:\n  name: DQN\nnetw|\n", ["network"]),
        (
            "network:\n  encoder_config:\n    arch: mlp\n    activation: G|\n",
            ["GELU", "GumbelSoftmax"],
        ),
        ("network:\n  arch: |\n", ["mlp", "cnn", "cnn_lstm", "lstm", "multiinput", "simba"]),
        ("algorithm: {name: DQN}\nmutation:\n  rl_hp_selection:\n    learn|\n", ["learn_step"]),
        (
            "algorithm: {name: DQN}\nmutation:\n  rl_hp_selection:\n    lr:\n      grow|\n",
            ["grow_factor"],
        ),
        ("training:\n  max_steps: 10 # a com|ment\n", []),
        ("nonsense:\n  a|\n", []),
    ],
)
def test_what_fits_here(text: str, expected: list[str]) -> None:
    assert labels(text) == expected


def test_fields_that_are_written_are_not_offered_again() -> None:
    found = labels("algorithm:\n  name: DQN\n  lr: 1\n  |\n  tau: 0.1\n")
    assert "lr" not in found
    assert "tau" not in found
    assert "gamma" in found


def test_fields_are_those_of_the_algorithm() -> None:
    assert "group_size" in labels("algorithm:\n  name: GRPO\n  |\n")
    assert "group_size" not in labels("algorithm:\n  name: PPO\n  |\n")


def test_completion_works_in_text_that_cannot_be_parsed() -> None:
    assert labels("algorithm:\n  name: PPO\n  ent_|\nnetwork: [\n") == ["ent_coef"]


def test_a_section_comes_with_its_colon_and_a_line_about_it() -> None:
    found = completions("algorithm: {name: DQN}\nrep", 2, 4)
    assert [(one.insert, one.about) for one in found] == [
        ("replay_buffer:\n  ", "What is learned from.")
    ]


@pytest.mark.parametrize("word", ["batch_size", "5"])
def test_hover_says_what_a_field_is_on_its_key_and_its_value(word: str) -> None:
    text = "algorithm:\n  name: PPO\n  batch_size: 5\n"
    column = text.splitlines()[2].index(word) + 1
    shown = hover(text, 3, column)
    assert shown is not None
    assert shown.path == "algorithm.batch_size"
    assert shown.text == (
        "what        Experiences or prompts in one learning step.\n"
        "may be      whole number, at least 1\n"
        "default     64\n"
        "mutated by  mutation.rl_hp_selection.batch_size, with chance"
        " mutation.probabilities.rl_hp_mut"
    )


def test_hover_knows_every_key_of_the_published_example() -> None:
    for number, line in enumerate(EXAMPLE.splitlines(), 1):
        if line.strip():
            assert hover(EXAMPLE, number, len(line) - len(line.lstrip()) + 1), line


def test_nothing_is_said_of_nothing() -> None:
    assert hover(EXAMPLE, 3, 1) is None
    assert hover(EXAMPLE, 10_000, 1) is None
    assert completions(EXAMPLE, 0, 0) == []


def test_diagnostics_span_the_key_or_the_value() -> None:
    text = "algorithm:\n  name: DQN\n  lrr: 0.1\n  gamma: 1.5\nenvironment:\n  name: e\n"
    spans = [(one.line, one.column, one.end_line, one.end_column) for one in diagnostics(text)]
    assert spans == [(3, 3, 3, 6), (4, 10, 4, 13)]


def test_diagnostics_hold_warnings_and_syntax_errors() -> None:
    old = (
        "algorithm: {name: SFT, pretrained_model_name_or_path: m}\n"
        "environment: {env_type: sft, dataset: d}\n"
    )
    assert {one.severity for one in diagnostics(old)} == {"warning"}
    assert [one.severity for one in diagnostics("a: [\n")] == ["error"]
    assert diagnostics(EXAMPLE) == []


@given(
    st.text(alphabet="algorithm: nevDQN{}[],-#\n\t'\"&*<", max_size=80),
    st.integers(0, 9),
    st.integers(0, 40),
)
def test_nothing_is_raised_for_any_text(text: str, line: int, column: int) -> None:
    diagnostics(text)
    completions(text, line, column)
    hover(text, line, column)


def long_manifest() -> str:
    """A valid manifest of 200 lines."""
    text = starting_text("GRPO", "gsm8k")
    lines = text.splitlines()
    entries = [f"    key_{index}: value {index}" for index in range(200 - len(lines) - 1)]
    at = next(i for i, line in enumerate(lines) if line.startswith("environment:"))
    return "\n".join([*lines[: at + 1], "  chat_template_kwargs:", *entries, *lines[at + 1 :]])


@pytest.mark.parametrize(
    "ask",
    [diagnostics, lambda text: completions(text, 190, 6), lambda text: hover(text, 190, 6)],
    ids=["diagnostics", "completions", "hover"],
)
def test_each_answer_takes_less_than_20_ms_on_200_lines(ask: Callable[[str], object]) -> None:
    text = long_manifest()
    assert len(text.splitlines()) == 200
    assert diagnostics(text) == []
    ask(text)
    took = []
    for _ in range(5):
        start = time.process_time()
        ask(text)
        took.append(time.process_time() - start)
    assert min(took) < 0.020
