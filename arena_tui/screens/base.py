"""What all screens share: the frame, the stores they watch, and the actions that they carry."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Input, TextArea

from arena_tui.commands import Action, bindings
from arena_tui.screens.frame import FooterLine, HeaderLine, TabLine
from arena_tui.stores.base import FAILED, LOADING, Polled, Store
from arena_tui.widgets.acting import Acting
from arena_tui.widgets.steady import Steady

if TYPE_CHECKING:
    from arena_tui.app import ArenaApp
    from arena_tui.stores.hub import Hub
    from arena_tui.widgets.state_view import StateView

REDRAWS_A_SECOND = 10
SECONDS_BEHIND = 1.0
"""Seconds between two redraws of a screen that a dialog stands in front of."""
_WHILE_TYPING = re.compile(r"ctrl\+|\bf\d+\b")
"""Keys that no letter is typed with."""
STYLES = Path(__file__).parent.parent / "styles"


def style_file(name: str) -> Path:
    """Return the style file of a screen."""
    return STYLES / f"{name}.tcss"


class ArenaScreen(Steady, Screen[Any]):
    """A screen of the dashboard.

    A subclass gives `SCREEN` (its id in the registry), `TAB` (whose tab is lit), `MAIN` (selector
    of what has the focus at first) and `ACTIONS`, and writes `body` (what it shows), `stores` (what
    it watches) and `show` (puts their data into the widgets).
    """

    SCREEN: ClassVar[str] = ""
    TAB: ClassVar[str] = ""
    ACTIONS: ClassVar[list[Action]] = [
        Action("screen.back", "escape", "Back", "Go back to where you came from.", 0),
        Action("screen.refresh", "r", "Refresh", "Ask the service again now.", 20),
        Action("screen.copy", "y", "Copy", "Copy what is selected.", 21),
    ]
    BINDINGS = bindings(ACTIONS)
    CSS_PATH = [style_file("frame")]
    AUTO_FOCUS = ""
    MAIN: ClassVar[str] = ""

    def __init_subclass__(cls, **arguments: Any) -> None:
        # The actions of a screen are its only bindings, so that one table is behind all keys.
        own: list[Binding] = bindings(cls.__dict__.get("ACTIONS", ()))
        cls.BINDINGS = [*own]
        super().__init_subclass__(**arguments)

    def __init__(self) -> None:
        super().__init__()
        self._leave: list[Callable[[], None]] = []
        self._dirty = False
        self._soon: Timer | None = None
        self._frame_lines: tuple[HeaderLine, FooterLine] | tuple[()] = ()

    # Frame ---------------------------------------------------------------------------------------

    @property
    def arena(self) -> ArenaApp:
        """The app."""
        return self.app  # type: ignore[return-value]

    @property
    def hub(self) -> Hub:
        """The owner of the stores."""
        return self.arena.hub

    @property
    def trail(self) -> str:
        """What is open, where the tab alone does not say it."""
        return ""

    def compose(self) -> ComposeResult:
        """Put the frame round the body."""
        # Kept, because a query for them goes through all that the screen is made of.
        self._frame_lines = (HeaderLine(self.hub), FooterLine())
        header, footer = self._frame_lines
        yield header
        yield TabLine(self.TAB or self.SCREEN, self.trail)
        with Container(id="body"):
            yield from self.body()
        yield footer

    def body(self) -> ComposeResult:
        """Make what the screen shows."""
        yield from ()

    # Stores --------------------------------------------------------------------------------------

    def stores(self) -> Iterable[Store]:
        """Return the stores that the screen watches while it can be seen."""
        return ()

    def show(self) -> None:
        """Put the data of the stores into the widgets."""

    def on_screen_resume(self) -> None:
        """Watch while it can be seen."""
        if not self._leave:
            for store in dict.fromkeys((*self.hub.in_frame, *self.stores())):
                self._leave.append(store.watch(self.data_changed))
        if self._soon is not None:
            # It may be one that took its time, behind a dialog.
            self._soon.stop()
            self._dirty = False
        self.data_changed()

    def on_screen_suspend(self) -> None:
        """Cease to watch, unless only a dialog is in front."""
        top = self.app.screen
        if top.is_modal and self in self.app.screen_stack:
            return
        self.cease()

    async def on_unmount(self) -> None:
        """Cease to watch."""
        self.cease()

    def cease(self) -> None:
        """Cease to watch all stores."""
        for leave in self._leave:
            leave()
        self._leave.clear()

    def watch_also(self, store: Store) -> None:
        """Watch one more store until the screen ceases to, once."""
        if self._leave and self.data_changed not in store._watchers:
            self._leave.append(store.watch(self.data_changed))

    def rewatch(self) -> None:
        """Watch what `stores` gives now, after it has changed."""
        if self._leave:
            self.cease()
            self.on_screen_resume()

    def data_changed(self) -> None:
        """Redraw soon; many changes at once make one redraw."""
        if not self._dirty and self.is_attached:
            self._dirty = True
            # Behind a dialog, now and then is enough: keys are heard first.
            wait = 1 / REDRAWS_A_SECOND / 4 if self.app.screen is self else SECONDS_BEHIND
            self._soon = self.set_timer(wait, self._redraw)

    def _redraw(self) -> None:
        self._dirty = False
        if self.is_attached and self._leave:
            self.show()
            self._focus_main()
            self.refresh_frame()

    def _focus_main(self) -> None:
        """Give the focus to the main widget, which may have been hidden until there were data."""
        if self.focused is None and self.MAIN and self.app.screen is self:
            main = self.query_one(self.MAIN)
            if main.display:
                main.focus()

    def refresh_frame(self) -> None:
        """Draw header and footer again."""
        for widget in self._frame_lines:
            widget.refresh()

    def on_descendant_focus(self) -> None:
        """Another pane has other keys."""
        self.refresh_frame()

    def on_rows_selected(self) -> None:
        """Another row may allow other actions."""
        self.refresh_frame()

    # Actions -------------------------------------------------------------------------------------

    @classmethod
    def all_actions(cls) -> Iterator[Action]:
        """Yield the actions of the screen, its own before those that it inherits."""
        for kind in cls.__mro__:
            yield from kind.__dict__.get("ACTIONS", ())

    def keys_of(self, action: Action) -> str:
        """Return the keys of an action as they are set."""
        return self.arena.keymap.get(action.id) or action.keys

    @property
    def is_typing(self) -> bool:
        """Whether letters are typed into something, and so are no keys."""
        focused = self.focused
        return isinstance(focused, Input) or (
            isinstance(focused, TextArea) and not focused.read_only
        )

    def actions_now(self) -> list[tuple[Action, Any]]:
        """Return (action, who does it) for what can be done now, the most useful first."""
        focused = self.focused
        nodes = focused.ancestors_with_self if focused is not None else ()
        owners: list[Any] = [
            self,
            self.arena,
            *(node for node in nodes if isinstance(node, Acting)),
        ]
        possible = []
        for owner in owners:
            for action in self.all_actions() if owner is self else owner.ACTIONS:
                keys = self.keys_of(action)
                if (
                    action.rank
                    and keys
                    and (not self.is_typing or _WHILE_TYPING.search(keys))
                    and owner.check_action("act", (action.id,))
                    and why_not(owner, action) is None
                ):
                    possible.append((action, owner))
        return sorted(possible, key=lambda item: item[0].rank)

    def why_not_anything(self, action: Action) -> str | None:
        """Say why no change may be made at all, or None."""
        if action.changes and self.hub.readonly:
            return "This dashboard was started with --readonly."
        return None

    async def action_act(self, action_id: str) -> None:
        """Do an action by its id; what takes time goes on in the background."""
        action = next(item for item in self.all_actions() if item.id == action_id)
        reason = why_not(self, action)
        if reason:
            self.tell(reason, "warning")
            return
        outcome = getattr(self, f"act_{action.verb}")()
        if hasattr(outcome, "__await__"):
            # A worker of the app, because a screen's own would end with the screen, in mid-action.
            self.app.run_worker(self._guarded(outcome), group=action_id)

    async def _guarded(self, work: Any) -> None:
        """Do something that may fail; a failure of the service is told, not raised."""
        from arena_sdk.errors import ArenaError

        try:
            await work
        except ArenaError as error:
            self.tell(self.hub.sentence(error), "error")
        except (OSError, ValueError) as error:
            self.tell(str(error), "error")
        self.data_changed()

    def tell(self, sentence: str, severity: Any = "information") -> None:
        """Show a sentence for some seconds, as literal text."""
        self.arena.tell(sentence, severity)

    def act_back(self) -> None:
        """Go back."""
        if len(self.app.screen_stack) > 1:
            self.app.pop_screen()

    def act_refresh(self) -> None:
        """Ask again."""
        self.hub.refresh()

    def act_copy(self) -> None:
        """Copy what is selected."""
        text = self.text_to_copy()
        if text:
            from arena_tui.clipboard import copy

            self.tell(copy(self.app, text))

    def why_not_copy(self) -> str | None:
        """Say why nothing can be copied."""
        return None if self.text_to_copy() else "Nothing is selected."

    def text_to_copy(self) -> str:
        """Return what `y` copies."""
        return ""


def why_not(owner: Any, action: Action) -> str | None:
    """Return why an action cannot be done now, in a sentence, or None when it can."""
    general = getattr(owner, "why_not_anything", None)
    reason: str | None = general(action) if general else None
    if reason is None:
        special = getattr(owner, f"why_not_{action.verb}", None)
        reason = special() if special else None
    return reason


def show_state(view: StateView, store: Polled[Any], *, empty: str, hint: str, absent: str) -> None:
    """Say in a StateView how it stands with a store's data.

    Args:
        view: Where to say it.
        store: The store.
        empty: What to say when there is nothing.
        hint: What to do about that.
        absent: What to say when the service has no such thing at all.
    """
    from arena_tui.format import duration

    link = store.hub.connection
    if store.state == "absent":
        view.show_empty(absent)
    elif store.state == FAILED or (store.state == LOADING and link.failure):
        view.show_error(store.error or link.failure or "", "r asks again.")
    elif store.state == LOADING:
        view.show_loading("Loading…")
    elif not link.is_usable and store.age is not None:
        view.show_offline(f"Shown as of {duration(store.age)} ago: {link.failure or link.words()}")
    elif store.error:
        view.show_offline(f"Shown as of {duration(store.age)} ago: {store.error}")
    elif not store.value:
        view.show_empty(empty, hint)
    else:
        view.clear()
