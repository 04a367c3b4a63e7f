"""Which screens there are: a new one is its module, its style file and one line here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arena_tui.commands import Action
    from arena_tui.screens.base import ArenaScreen


@dataclass(frozen=True)
class ScreenSpec:
    """A screen, imported only when it is first needed.

    Attributes:
        id: First part of the ids of its actions.
        title: Name on its tab.
        short: Name where there is little room.
        where: `module:Class` below `arena_tui.screens`.
        tab: Number of its tab, also its key; 0 for a screen that is opened from another.
    """

    id: str
    title: str
    short: str
    where: str
    tab: int = 0

    @property
    def medium(self) -> str:
        """The title, or the short name of a tab whose title is long."""
        return self.short if len(self.title) > 11 or self.id == "datasets" else self.title

    def load(self) -> type[ArenaScreen]:
        """Import the screen."""
        module, _, name = self.where.partition(":")
        loaded: type[ArenaScreen] = getattr(import_module(f"arena_tui.screens.{module}"), name)
        return loaded


SCREENS: tuple[ScreenSpec, ...] = (
    ScreenSpec("overview", "Overview", "Over", "overview:OverviewScreen", 1),
    ScreenSpec("environments", "Environments", "Envs", "environments:EnvironmentsScreen", 2),
    ScreenSpec("datasets", "Datasets", "Data", "datasets:DatasetsScreen", 3),
    ScreenSpec("projects", "Projects", "Proj", "projects:ProjectsScreen", 4),
    ScreenSpec("resources", "Resources", "Res", "resources:ResourcesScreen", 5),
    ScreenSpec("experiments", "Experiments", "Exps", "experiments:ExperimentsScreen", 6),
    ScreenSpec("agents", "Agents", "Agents", "agents:AgentsScreen", 7),
    ScreenSpec("experiment", "Experiment", "Exp", "experiment:ExperimentScreen"),
    ScreenSpec("compare", "Compare", "Comp", "compare:CompareScreen"),
    ScreenSpec("new", "New experiment", "New", "new_experiment:NewExperimentScreen"),
    ScreenSpec("playground", "Playground", "Play", "playground:PlaygroundScreen"),
    ScreenSpec("chat", "Chat", "Chat", "chat:ChatScreen"),
    ScreenSpec("settings", "Settings", "Set", "settings:SettingsScreen"),
    ScreenSpec("validation", "Validation", "Check", "validation:ValidationScreen"),
)

TABS: tuple[ScreenSpec, ...] = tuple(spec for spec in SCREENS if spec.tab)


def spec(screen_id: str) -> ScreenSpec:
    """Return a screen by its id."""
    return next(item for item in SCREENS if item.id == screen_id)


def all_actions() -> Iterator[tuple[str, Action]]:
    """Yield (title of where it applies, action) for everything that can be done anywhere."""
    from arena_tui.app import APP_ACTIONS

    seen: set[str] = set()
    for action in APP_ACTIONS:
        seen.add(action.id)
        yield "Everywhere", action
    for item in SCREENS:
        for action in item.load().all_actions():
            if action.id not in seen:
                seen.add(action.id)
                yield item.title if action.scope == item.id else "Every screen", action
