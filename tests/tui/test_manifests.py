"""Manifests in the dashboard: judged, and adapted to an environment."""

from __future__ import annotations

import pytest
import yaml

from arena_tui.stores.manifests import diagnose, read, with_environment
from arena_tui.stores.templates import TEMPLATES


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_can_be_submitted(name):
    found = diagnose(TEMPLATES[name])
    assert found.is_good
    assert found.facts["algorithm"] == name
    assert found.facts["pop_size"] == 4


def test_a_typo_is_found_at_its_line():
    text = TEMPLATES["DQN"].replace("max_steps", "max_stepps")
    found = diagnose(text)
    assert not found.is_good
    line = text.splitlines().index("  max_stepps: 20_000") + 1
    assert any(p.line == line and "max_steps" in str(p) for p in found.problems)


@pytest.mark.parametrize("text", ["", "- a list", "a: [", "just words", "a: 1\n\tb: 2", "\0"])
def test_what_is_no_manifest_is_a_problem_not_an_exception(text):
    found = diagnose(text)
    assert found.problems
    assert found.document is None or not found.is_good


def test_another_environment_leaves_the_rest_as_it_is_written():
    text = "# mine\n" + TEMPLATES["DQN"]
    changed = with_environment(text, "grid", "v2")
    assert changed.startswith("# mine\n")
    document, before = yaml.safe_load(changed), yaml.safe_load(text)
    assert document["environment"] == {"name": "grid", "version": "v2", "num_envs": 8}
    assert {k: v for k, v in document.items() if k != "environment"} == {
        k: v for k, v in before.items() if k != "environment"
    }


def test_an_environment_is_added_where_there_is_none():
    changed = with_environment("algorithm:\n  name: DQN\n", "grid", "v1")
    assert yaml.safe_load(changed)["environment"] == {"name": "grid", "version": "v1"}


def test_a_file_that_is_no_text_is_one_sentence(tmp_path):
    path = tmp_path / "weights.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="no UTF-8 text"):
        read(path)
