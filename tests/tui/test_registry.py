"""One registry is behind keys, footer, help and palette, and nothing in it contradicts itself."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from textual.widget import Widget

from arena_tui import registry
from arena_tui.app import APP_ACTIONS, ArenaApp
from arena_tui.commands import Action, clashes, show_key, show_keys
from arena_tui.screens.base import ArenaScreen

# Prefix keys of tmux and screen, and what terminals keep for themselves.
TAKEN_ELSEWHERE = {"ctrl+b", "ctrl+a", "ctrl+c", "ctrl+z", "ctrl+q", "ctrl+backslash", "ctrl+m"}


@pytest.mark.parametrize("spec", registry.SCREENS, ids=lambda spec: spec.id)
def test_a_screen_has_what_its_registration_says(spec):
    screen = spec.load()
    assert issubclass(screen, ArenaScreen)
    assert spec.id == screen.SCREEN
    for action in screen.all_actions():
        assert callable(getattr(screen, f"act_{action.verb}", None)), action.id


@pytest.mark.parametrize("spec", registry.SCREENS, ids=lambda spec: spec.id)
def test_no_key_means_two_things_on_one_screen(spec):
    actions = [*spec.load().all_actions(), *APP_ACTIONS]
    assert clashes(actions, {}) == []


@pytest.mark.parametrize("spec", registry.SCREENS, ids=lambda spec: spec.id)
def test_every_action_with_keys_is_bound(spec):
    screen = spec.load()
    bound = {binding.id for _, binding in screen._merged_bindings}
    assert {action.id for action in screen.all_actions() if action.keys} <= bound


def test_ids_are_unique_and_well_formed():
    everything = [action for _, action in registry.all_actions()]
    ids = [action.id for action in everything]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"[a-z]+\.[a-z]+", name) for name in ids)


def test_no_key_is_one_that_terminals_or_tmux_keep():
    for _, action in registry.all_actions():
        assert not TAKEN_ELSEWHERE & {key.strip() for key in action.keys.split(",")}, action.id


def test_every_action_is_explained_in_a_sentence():
    for _, action in registry.all_actions():
        assert action.help.endswith(".")
        assert 1 <= len(action.label) <= 14, action.id


def test_what_changes_something_is_marked_so():
    changing = {action.id for _, action in registry.all_actions() if action.changes}
    assert {
        "experiments.stop",
        "experiments.resume",
        "experiments.deploy",
        "experiment.stop",
        "environments.validate",
        "environments.delete",
        "projects.new",
        "projects.delete",
        "agents.stop",
        "agents.new",
        "datasets.new",
        "datasets.delete",
        "chat.delete",
        "new.submit",
    } <= changing


@pytest.mark.parametrize("spec", registry.SCREENS, ids=lambda spec: spec.id)
def test_read_only_refuses_whatever_changes_something(spec):
    screen = spec.load()
    holder = SimpleNamespace(hub=SimpleNamespace(readonly=True))
    for action in screen.all_actions():
        said = screen.why_not_anything(holder, action)
        assert (said is not None and "--readonly" in said) is action.changes, action.id


def test_names_of_ours_hide_none_of_textual():
    for spec in registry.SCREENS:
        for kind in spec.load().__mro__:
            if not kind.__module__.startswith("arena_tui.screens"):
                continue
            ours = {name for name in vars(kind) if not name.startswith("__")}
            hidden = {name for name in ours if hasattr(Widget, name)}
            allowed = {"compose", "can_focus", "can_focus_children", "_decorated_handlers"}
            hidden = {
                name
                for name in hidden - allowed
                if not name.isupper()
                and not name.startswith(("on_", "_merged", "_computes", "_css_", "_reactives"))
                and not name.startswith("_inherit_")
            }
            assert not hidden, (kind.__name__, hidden)


def test_the_shown_names_of_keys():
    assert show_key("question_mark") == "?"
    assert show_key("ctrl+p") == "^p"
    assert show_keys("plus,equals_sign").startswith("+ ")


def test_clashes_are_found_through_the_key_map_too():
    actions = [
        Action("a.one", "x", "One", "Do one."),
        Action("a.two", "y", "Two", "Do two."),
    ]
    assert clashes(actions, {}) == []
    assert clashes(actions, {"a.two": "x"}) == [("x", "a.one", "a.two")]


def test_tabs_are_numbered_from_one():
    assert [spec.tab for spec in registry.TABS] == list(range(1, 8))
    assert set(ArenaApp.MODES) == {spec.id for spec in registry.TABS}
