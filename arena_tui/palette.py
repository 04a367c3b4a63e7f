"""The command palette: every action that can be done now, every screen, everything by its name."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from arena_tui import registry
from arena_tui.commands import Action, show_keys
from arena_tui.registry import ScreenSpec
from arena_tui.safetext import safe_text
from arena_tui.screens.base import ArenaScreen, why_not
from arena_tui.widgets.acting import Acting
from arena_tui.widgets.backdrop import InFront

if TYPE_CHECKING:
    from arena_tui.app import ArenaApp

OPENED_BY = ("settings",)
"""Screens that an action of the app of the same name opens."""

Entry = tuple[str, str, Callable[[], Awaitable[Any]]]


def open_palette(app: ArenaApp) -> None:
    """Show the palette."""
    app.push_screen(Palette(providers=[Commands], placeholder="Do something, or go to something…"))


class Palette(InFront, CommandPalette):
    """Textual's palette, as steady as our own dialogs when the terminal is resized."""


class Commands(Provider):
    """Offers what can be done, and what there is to go to."""

    def _entries(self) -> Iterator[Entry]:
        yield from self._actions()
        yield from self._things()

    def _actions(self) -> Iterator[Entry]:
        """Yield what can be done: here first, then everywhere, then on the other screens."""
        app: ArenaApp = self.app  # type: ignore[assignment]
        screen = self.screen
        here: list[Any] = []
        if isinstance(screen, ArenaScreen):
            nodes = screen.focused.ancestors_with_self if screen.focused is not None else ()
            here = [screen, *(node for node in nodes if isinstance(node, Acting))]
        seen: set[str] = set()
        for owner in (*here, app):
            actions = owner.all_actions() if isinstance(owner, ArenaScreen) else owner.ACTIONS
            for action in actions:
                seen.add(action.id)
                if action.palette and action.verb != "back" and why_not(owner, action) is None:
                    yield self._label(action), action.help, partial(owner.action_act, action.id)
        for spec in registry.SCREENS:
            for action in spec.load().__dict__.get("ACTIONS", ()):
                if action.palette and action.id not in seen:
                    label = f"{spec.title}: {self._label(action)}"
                    yield label, action.help, partial(_elsewhere, app, spec, action)

    def _label(self, action: Action) -> str:
        app: ArenaApp = self.app  # type: ignore[assignment]
        keys = show_keys(app.keymap.get(action.id) or action.keys)
        return f"{action.label}  {keys}" if keys else action.label

    def _things(self) -> Iterator[Entry]:
        app: ArenaApp = self.app  # type: ignore[assignment]
        hub = app.hub
        for row in hub.experiments.value or ():
            name = str(row.get("name"))
            yield f"experiment {name}", str(row.get("state")), partial(app.open_experiment, name)
        for row in hub.environments.rows:
            name, version = row["name"], row["version"]
            yield (
                f"environment {name} {version}",
                "validated" if row["validated"] else "not validated",
                partial(app.open_environment, name, version),
            )
        for row in hub.deployments.running:
            name = str(row.get("name"))
            yield f"playground of {name}", "see it act", partial(app.open_playground, name)

    async def discover(self) -> Hits:
        """Offer everything while nothing is typed."""
        for label, help_text, command in self._entries():
            shown = safe_text(label, 200)
            yield DiscoveryHit(Content(shown), command, text=shown, help=_literal(help_text))

    async def search(self, query: str) -> Hits:
        """Offer what matches what is typed."""
        matcher = self.matcher(query)
        for label, help_text, command in self._entries():
            shown = safe_text(label, 200)
            score = matcher.match(shown)
            if score > 0:
                yield Hit(score, Content(shown), command, text=shown, help=_literal(help_text))


async def _elsewhere(app: ArenaApp, spec: ScreenSpec, action: Action) -> None:
    """Go to a screen and do one of its actions there."""
    if spec.id in OPENED_BY:
        await app.action_act(f"app.{spec.id}")
    elif spec.id == "new":
        await app.open_new()
    elif spec.tab:
        await app.go(spec.id)
    else:
        app.tell(f"{action.label} belongs to {spec.title}, which is opened from its list.")
        return

    async def do() -> None:
        # Its data may come only now; what is done is done to what is selected then.
        screen: Any = app.screen
        for _ in range(40):
            if why_not(screen, action) is None:
                break
            await asyncio.sleep(0.05)
        await screen.action_act(action.id)

    app.run_worker(do(), group="palette")


def _literal(text: str) -> str:
    """Return text that markup cannot be read into."""
    return safe_text(text, 200).replace("[", "(").replace("]", ")")
