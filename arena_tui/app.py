"""The app: it knows the hub, the settings and the registry, and draws nothing itself."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import App
from textual.filter import LineFilter, Monochrome

from arena_tui import registry, theme
from arena_tui.ascii_only import AsciiFilter, Colourless
from arena_tui.collecting import Collector
from arena_tui.commands import Action, bindings
from arena_tui.plotstyle import PlotStyle, detect, style_named
from arena_tui.settings import Memory, Settings
from arena_tui.signing_in import SignIn
from arena_tui.stores.hub import Hub
from arena_tui.widgets import keys_first

if TYPE_CHECKING:
    from arena_tui.launch import LocalArena

APP_ACTIONS: list[Action] = [
    *(
        Action(f"app.{spec.id}", str(spec.tab), spec.title, f"Go to {spec.title}.", 0)
        for spec in registry.TABS
    ),
    Action("app.help", "question_mark", "Help", "Show every key of this screen.", 30),
    Action(
        "app.commands",
        "ctrl+p,colon",
        "Commands",
        "Find any action or thing by its name.",
        31,
        palette=False,
    ),
    Action("app.jump", "ctrl+o", "Jump", "Go to any pane by the letter that it then shows.", 32),
    Action("app.settings", "f10", "Settings", "Theme, plots, refresh, and every key.", 33),
    Action("app.signin", "ctrl+l", "Sign in", "Choose another Arena, or log in anew.", 0),
    Action("app.theme", "", "Theme", "Change between the dark and the light theme."),
    Action("app.plots", "", "Plot style", "Change what charts are drawn with."),
    Action("app.quit", "q", "Quit", "Leave the dashboard.", 40),
]


class ArenaApp(App[int]):
    """The dashboard of one Arena."""

    TITLE = "arena"
    ENABLE_COMMAND_PALETTE = False
    ACTIONS: ClassVar[list[Action]] = APP_ACTIONS
    BINDINGS: ClassVar[list[Any]] = bindings(APP_ACTIONS)
    MODES: ClassVar[dict[str, Any]] = {
        spec.id: partial(lambda spec: spec.load()(), spec) for spec in registry.TABS
    }

    def __init__(
        self,
        hub: Hub,
        *,
        settings: Settings | None = None,
        memory: Memory | None = None,
        local: LocalArena | None = None,
        experiment: str | None = None,
        complaint: str | None = None,
        own_process: bool = False,
    ) -> None:
        """Make the app.

        Args:
            hub: Client and stores.
            settings: What the user has set.
            memory: What is restored; nothing is, and nothing is kept, when left out.
            local: The Arena on this machine, if this dashboard looks after it.
            experiment: The experiment to open at once.
            complaint: Something that went wrong before, to be told at the start.
            own_process: Whether the process is there for this app alone, so that the app may say
                when its garbage is collected.
        """
        super().__init__()
        self.hub = hub
        self.settings = settings or Settings()
        self.memory = memory
        if memory is not None:
            hub.marks.restore(memory.get("marks"))
        self.local = local
        self._experiment = experiment
        self._complaint = complaint
        self._own_process = own_process
        self.keymap: dict[str, str] = dict(self.settings.keys)
        self.sign_in = SignIn(self)
        self._ascii = [AsciiFilter()] if detect().name == "ascii" else []

    async def on_mount(self) -> None:
        """Set the looks and the keys, connect, and show the first screen."""
        theme.register(self)  # type: ignore[arg-type]
        self.theme = self._first_theme()
        self.set_keymap(self.keymap)
        self._end_on_signals()
        self.hub.start()
        for store in self.hub.in_frame:
            store.watch(lambda: None)
        self.hub.connection.watch(self.sign_in.watch)
        first = self.memory.get("screen") if self.memory else None
        await self.switch_mode(first if first in self.MODES else "overview")
        if self._experiment:
            await self.open_experiment(self._experiment)
        if self._complaint:
            self.tell(self._complaint, "warning")
        if self._own_process:
            Collector(self)

    async def on_event(self, event: events.Event) -> None:
        """Answer the user before anything that can wait."""
        keys_first.hear(self, event)
        await super().on_event(event)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return what every line goes through before the terminal gets it."""
        filters = list(super().get_line_filters())
        if self.no_color:
            # Shades of grey are colours too, to those who asked for none.
            filters = [each for each in filters if not isinstance(each, Monochrome)]
            filters.append(Colourless(dark=self.current_theme.dark))
        return [*filters, *self._ascii]

    def _end_on_signals(self) -> None:
        """Leave in good order when told to end, so that an Arena started here is ended too."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            # Only the main thread may, and not on every system.
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, self.exit, 128 + number)

    def _first_theme(self) -> str:
        wanted = self.settings.theme
        system = self.console.color_system
        if not wanted and not self.is_headless and system in (None, "standard", "windows"):
            # Colours of ours would be rounded to those that the terminal has, and not well.
            return theme.SIXTEEN
        return wanted if wanted in self.available_themes else theme.DARK.name

    async def on_unmount(self) -> None:
        """End all tasks and remember where we were."""
        if self.memory is not None:
            self.memory.set("marks", self.hub.marks.state())
            self.memory.save()
        await self.hub.close()

    @property
    def plot_style(self) -> PlotStyle:
        """What charts and sparklines are drawn with."""
        best = detect()
        wanted = style_named(self.settings.plot_style)
        return best if best.name == "ascii" else wanted

    def tell(self, sentence: str, severity: Any = "information") -> None:
        """Show a sentence for some seconds, as literal text."""
        from arena_tui.safetext import safe_lines

        self.notify(safe_lines(sentence, 1_000), severity=severity, markup=False)

    # Going places --------------------------------------------------------------------------------

    async def go(self, screen_id: str) -> None:
        """Show one of the main screens, with whatever was open in it."""
        while self.screen.is_modal:
            self.pop_screen()
        if screen_id == self.current_mode:
            # The tab's own key once more leads back to its list.
            while len(self.screen_stack) > 1:
                self.pop_screen()
            return
        await self.switch_mode(screen_id)
        if self.memory is not None:
            self.memory.set("screen", screen_id)

    async def open(self, mode: str, make: Callable[[], Any]) -> None:
        """Show a screen within one of the main screens, in place of what was open there."""
        if mode != self.current_mode:
            await self.switch_mode(mode)
        while len(self.screen_stack) > 1:
            await self.pop_screen()
        await self.push_screen(make())

    async def open_experiment(self, name: str) -> None:
        """Show one experiment."""
        from arena_tui.screens.experiment import ExperimentScreen

        await self.open("experiments", lambda: ExperimentScreen(name))

    async def open_compare(self, names: Sequence[str]) -> None:
        """Show runs beside each other."""
        from arena_tui.screens.compare import CompareScreen

        await self.open("experiments", lambda: CompareScreen(names))

    async def open_environment(self, name: str, version: str) -> None:
        """Show one environment among all."""
        await self.go("environments")
        self.screen.select(f"{name}\0{version}")  # type: ignore[attr-defined]

    async def open_playground(self, deployment: str) -> None:
        """Show the playground of a deployed agent, or talk to it when it is a language model."""
        from arena_tui.screens.chat import ChatScreen
        from arena_tui.screens.playground import PlaygroundScreen

        talks = await self.hub.deployments.is_language_model(deployment)
        kind = ChatScreen if talks else PlaygroundScreen
        await self.open("agents", lambda: kind(deployment))

    async def open_new(self, **start: Any) -> None:
        """Show the form of a new experiment."""
        from arena_tui.screens.new_experiment import NewExperimentScreen

        await self.open("experiments", lambda: NewExperimentScreen(**start))

    # Actions -------------------------------------------------------------------------------------

    async def action_act(self, action_id: str) -> None:
        """Do an action of the app by its id."""
        verb = action_id.rpartition(".")[2]
        if verb in self.MODES:
            await self.go(verb)
            return
        outcome = getattr(self, f"act_{verb}")()
        if hasattr(outcome, "__await__"):
            self.run_worker(outcome, group=action_id, exclusive=True)

    def act_help(self) -> None:
        """Show the keys of this screen."""
        from arena_tui.screens.help import HelpDialog

        if not self.screen.is_modal:
            self.push_screen(HelpDialog(self.screen))  # type: ignore[arg-type]

    def act_commands(self) -> None:
        """Show the command palette."""
        from arena_tui.palette import open_palette

        if not self.screen.is_modal:
            open_palette(self)

    def act_jump(self) -> None:
        """Show a letter on every pane, and go to the one that is pressed."""
        from arena_tui.screens.jump import JumpDialog, targets

        found = targets(self.screen)
        if found:

            def go(widget: Any) -> None:
                if widget is not None:
                    widget.focus()

            self.push_screen(JumpDialog(found), go)

    async def act_settings(self) -> None:
        """Show the settings."""
        from arena_tui.screens.settings import SettingsScreen

        if not self.screen.is_modal and not isinstance(self.screen, SettingsScreen):
            await self.push_screen(SettingsScreen())

    def use_settings(self) -> None:
        """Let what was set take effect at once, and keep it."""
        self.theme = self._first_theme()
        self.hub.refresh_seconds = self.settings.refresh
        self.keymap = dict(self.settings.keys)
        self.set_keymap(self.keymap)
        self._keep_settings()
        self._redraw_plots()

    async def act_signin(self) -> None:
        """Choose an Arena, or log in."""
        await self.sign_in.offer()

    def act_theme(self) -> None:
        """Change between dark and light."""
        dark = self.theme == theme.DARK.name
        self.theme = self.settings.theme = (theme.LIGHT if dark else theme.DARK).name
        self._keep_settings()

    def act_plots(self) -> None:
        """Change what charts are drawn with."""
        from arena_tui.settings import PLOT_STYLES

        at = PLOT_STYLES.index(self.settings.plot_style)
        self.settings.plot_style = PLOT_STYLES[(at + 1) % len(PLOT_STYLES)]
        self._keep_settings()
        self.tell(f"Charts are drawn with {self.settings.plot_style} characters.")
        self._redraw_plots()

    def _redraw_plots(self) -> None:
        from arena_tui.widgets.chart import Chart

        for screen in self.screen_stack:
            for chart in screen.query(Chart):
                chart.restyle()
        self.hub.connection.changed()

    def _keep_settings(self) -> None:
        from arena_tui.settings import save

        if self.memory is not None:
            with contextlib.suppress(OSError):
                save(self.settings)

    async def act_quit(self) -> None:
        """Leave; asks first when that would end runs."""
        active = self.hub.experiments.active
        if self.local is not None and self.local.started and active:
            answer = await self._ask_about_runs([str(row.get("name")) for row in active])
            if answer is None:
                return
            if answer == "leave":
                self.local.started = False
        self.exit(0)

    async def _ask_about_runs(self, names: list[str]) -> str | None:
        from arena_tui.widgets.dialogs import ChoiceDialog

        answer: str | None = await self.push_screen_wait(
            ChoiceDialog(
                "Quit while experiments run?",
                [
                    ("Stay here", None),
                    ("Quit, and leave the Arena and its runs going", "leave"),
                    ("Quit, and stop them; they can be resumed from their last checkpoint", "stop"),
                ],
                text=f"Running in the Arena that this dashboard started: {', '.join(names)}.",
            )
        )
        return answer
