"""Answers are the service's dicts, with attributes for what is known."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_sdk import answers
from arena_sdk.answers import Answer, Checkpoint, Experiment

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), JSON))
def test_an_answer_is_the_dict_that_came(document: dict[str, Any]) -> None:
    answer = Experiment(document)
    assert answer == document
    assert isinstance(answer, dict)
    assert json.loads(json.dumps(answer)) == document
    for same in (copy.deepcopy(answer), pickle.loads(pickle.dumps(answer))):
        assert (type(same), same) == (Experiment, document)


def test_keys_are_attributes_and_new_ones_are_kept() -> None:
    run = Experiment({"name": "first", "steps": 1200, "flavour": "new"})
    assert (run.name, run.steps, run.flavour) == ("first", 1200, "new")
    assert run.best_fitness is None
    assert {"flavour", "best_fitness", "items"} <= set(dir(run))


def test_an_unknown_attribute_names_what_there_is() -> None:
    with pytest.raises(AttributeError, match="Checkpoint has no 'step'; it has: steps"):
        _ = Checkpoint({"steps": 3}).step


def test_no_known_key_is_hidden_by_a_method_of_dicts() -> None:
    kinds = [kind for kind in vars(answers).values() if isinstance(kind, type)]
    for kind in kinds:
        if issubclass(kind, Answer):
            assert not answers._known(kind) & set(dir(dict))
