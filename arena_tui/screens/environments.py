"""Environments, their versions, what is known of each, and how a folder becomes one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from arena_tui import format
from arena_tui.commands import Action
from arena_tui.safetext import safe_text
from arena_tui.screens.base import style_file
from arena_tui.screens.checks import algorithm_columns, check_columns, check_rows
from arena_tui.screens.environment_actions import EnvironmentActions
from arena_tui.screens.fitted import FittedRows
from arena_tui.screens.listing import Facts, ListScreen
from arena_tui.stores.base import Polled, Store
from arena_tui.stores.environments import Environments
from arena_tui.widgets.bar_list import Bar, BarList
from arena_tui.widgets.frame import FrameView
from arena_tui.widgets.rows import Column, Row, Rows
from arena_tui.widgets.space_tree import SpaceTree

FRAMES_A_SECOND = 10


class EnvironmentsScreen(ListScreen, EnvironmentActions):
    """One row a version, grouped by environment."""

    SCREEN = "environments"
    CSS_PATH = [style_file("frame"), style_file("environments")]
    ROWS_TITLE = "Environments"
    KEY = "key"
    TEXT_KEYS = ("name", "version")
    EMPTY = "No environment yet."
    HINT = "n scaffolds a small working one; v validates a folder of yours."
    ABSENT = "This Arena does not list environments."
    ACTIONS: ClassVar[list[Action]] = [
        Action("environments.validate", "v", "Validate", "Upload a folder, validate it.", 1, True),
        Action("environments.new", "n", "Scaffold", "Write a small working environment.", 2),
        Action("environments.again", "a", "Again", "Validate this version again.", 6, True),
        Action("environments.profile", "p", "Profile", "Measure this version.", 5, True),
        Action("environments.train", "e", "Train on it", "Use it in a new experiment.", 3, True),
        Action("environments.duplicate", "c", "Duplicate", "Copy to a new version.", 9, True),
        Action("environments.delete", "x", "Delete", "Delete this version or all of it.", 7, True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._about: tuple[str, str] | None = None
        self._frame = 0
        self._rows: tuple[Any, list[Row]] = (None, [])

    def columns(self) -> list[Column]:
        """Return the columns of the table."""

        def name(value: Any, row: Row) -> Text:
            return Text(str(value)) if row.get("first") else Text("  └", style="dim")

        def mark(value: Any, row: Row) -> str:
            return "✓" if value else "·"

        return [
            Column("name", "environment", None, show=name),
            Column("version", "version", 10),
            Column("validated", "valid", 5, show=mark),
            Column("profiled", "profiled", 8, show=mark),
        ]

    @property
    def store(self) -> Environments:
        """The environments."""
        return self.hub.environments

    @property
    def details(self) -> Polled[dict[str, Any]] | None:
        """The store of what is known of the selected version."""
        return self.store.details(*self._about) if self._about else None

    def stores(self) -> Iterable[Store]:
        """Return what is watched."""
        yield self.store
        if self.details is not None:
            yield self.details
            if self._has_animation():
                yield self.store.animation(*self._about)  # type: ignore[misc]

    def on_mount(self) -> None:
        """Keep the animation going."""
        super().on_mount()
        self.set_interval(1 / FRAMES_A_SECOND, self._next_frame)

    def _has_animation(self) -> bool:
        known = (self.details.value if self.details else None) or {}
        rollouts = known.get("rollouts") or {}
        return bool(rollouts.get("animation")) and self.hub.has("environment_rollout")

    def _next_frame(self) -> None:
        """Show the next frame of the random episode, while it can be seen."""
        if self._about is None or self.app.screen is not self or not self._has_animation():
            return
        frames = self.store.animation(*self._about).value or []
        if frames:
            self._frame = (self._frame + 1) % len(frames)
            self.query_one("#animation", FrameView).set_frame(frames[self._frame])

    def rows_data(self) -> list[Row]:
        """Return a row a version; the first of a name shows the name."""
        listing, rows = self._rows
        if listing is not self.store.value:
            before, rows = None, []
            for row in self.store.rows:
                rows.append({**row, "first": row["name"] != before})
                before = row["name"]
            self._rows = (self.store.value, rows)
        return rows

    def select(self, key: str) -> None:
        """Put the cursor on a version, or on the first version of a name."""
        if "\0" not in key:
            key = next((row["key"] for row in self.store.rows if row["name"] == key), key)
        super().select(key)

    def detail(self) -> ComposeResult:
        """Make the pane about a version."""
        with VerticalScroll(classes="pane right drop", id="about", can_focus=True) as pane:
            pane.border_title = "Environment"
            yield Facts(id="facts")
            yield Static("Checks", classes="heading", id="h-checks")
            yield FittedRows(check_columns(self), key="check", id="checks")
            yield Static("Spaces", classes="heading", id="h-spaces")
            yield SpaceTree(id="spaces")
            yield Static("Algorithms", classes="heading", id="h-algorithms")
            yield FittedRows(algorithm_columns(self), key="algorithm", id="algorithms")
            yield Static("Profile", classes="heading", id="h-profile")
            yield BarList(id="profile")
            yield Facts(id="profile-facts")
            yield Static("Random episodes", classes="heading", id="h-rollouts")
            yield Facts(id="rollouts")
            yield BarList(id="histogram")
            yield FrameView(id="animation")

    def selection_changed(self) -> None:
        """Ask for the details of another version."""
        row = self.selected
        about = (str(row["name"]), str(row["version"])) if row else None
        if about != self._about:
            self._about, self._frame = about, 0
            self.store.chosen = about or self.store.chosen
            self.rewatch()

    def show_detail(self, row: Row | None) -> None:
        """Show what is known of the selected version."""
        pane = self.query_one("#about")
        pane.set_class(row is None, "-none")
        if row is None:
            return
        pane.border_title = Text(safe_text(f"{row['name']} {row['version']}", 200))
        known = (self.details.value if self.details else None) or {}
        problem = self.details.error if self.details else None
        self.query_one("#facts", Facts).set_facts(
            [
                ("validated", "yes" if row["validated"] else "no"),
                ("entrypoint", known.get("entrypoint")),
                ("requirements", _lines(known.get("requirements"))),
                ("env_config", _lines(known.get("env_config"))),
                ("description", known.get("description")),
                ("validated at", _ago(known.get("validated_at"))),
                ("details", problem),
            ]
        )
        self._show_checks(known.get("checks") or [])
        spaces = known.get("spaces") or None
        self._show_part("spaces", spaces)
        self.query_one("#spaces", SpaceTree).set_spaces(spaces)
        self._show_algorithms(known.get("algorithms") or [])
        self._show_profile(known.get("profile"))
        self._show_rollouts(known.get("rollouts") or None)
        if self._has_animation():
            # Only the details tell that there are frames to ask for.
            self.watch_also(self.store.animation(row["name"], row["version"]))

    def _show_checks(self, checks: list[dict[str, Any]]) -> None:
        """Show how many checks passed, and those that found something."""
        self.query_one("#h-checks").display = bool(checks)
        rows = check_rows(checks)
        passed = sum(1 for row in rows if row["success"])
        self.query_one("#h-checks", Static).update(f"Checks  {passed} of {len(rows)} passed")
        telling = [row for row in rows if row["note"] or not row["success"]]
        table = self.query_one("#checks", Rows)
        table.set_rows(telling)
        table.display = bool(telling)
        table.styles.height = min(16, len(telling) + 1)

    def _show_algorithms(self, rows: list[dict[str, Any]]) -> None:
        """Show which algorithms fit, and why the others do not."""
        self._show_part("algorithms", rows)
        fitting = sum(1 for row in rows if row.get("fits"))
        heading = f"Algorithms  {fitting} of {len(rows)} fit"
        self.query_one("#h-algorithms", Static).update(heading)
        table = self.query_one("#algorithms", Rows)
        table.set_rows(rows)
        table.styles.height = len(rows) + 1

    def _show_part(self, name: str, data: Any) -> None:
        for part in (f"#h-{name}", f"#{name}"):
            self.query_one(part).display = bool(data)

    def _show_profile(self, profile: dict[str, Any] | None) -> None:
        self._show_part("profile", profile)
        facts = self.query_one("#profile-facts", Facts)
        facts.display = bool(profile)
        if not profile:
            return
        self.query_one("#profile", BarList).set_bars(
            [
                Bar("CPU mean", profile.get("avg_cpu_per_env"), 100.0,
                    f"{format.number(profile.get('avg_cpu_per_env'), 0)} %"),
                Bar("CPU peak", profile.get("peak_cpu_per_env"), 100.0,
                    f"{format.number(profile.get('peak_cpu_per_env'), 0)} %"),
            ]
        )  # fmt: skip
        memory = profile.get("memory_per_env_gb")
        facts.set_facts(
            [
                ("memory", None if memory is None else f"{memory * 1024:.0f} MB a copy"),
                ("steps/s", format.count(profile.get("steps_per_second"))),
                ("vectorization", profile.get("vectorization")),
            ]
        )

    def _show_rollouts(self, rollouts: dict[str, Any] | None) -> None:
        """Show the returns of random episodes, and one of them."""
        self._show_part("rollouts", rollouts)
        self.query_one("#animation").display = self._has_animation()
        returns = (rollouts or {}).get("returns") or []
        self.query_one("#histogram").display = bool(returns)
        if not rollouts:
            return
        self.query_one("#rollouts", Facts).set_facts(
            [
                ("error", rollouts.get("error")),
                ("episodes", rollouts.get("episodes")),
                ("cut off", rollouts.get("cut") or None),
                ("return", _spread(rollouts.get("return"))),
                ("length", _spread(rollouts.get("length"))),
            ]
        )
        bins = histogram([float(value) for value in returns])
        most = max((count for _, _, count in bins), default=1)
        self.query_one("#histogram", BarList).set_bars(
            [
                Bar(f"{format.number(low)} to {format.number(high)}", count, most, str(count))
                for low, high, count in bins
            ]
        )

    def environment_in_hand(self) -> tuple[str, str] | None:
        """Return name and version of the selected row."""
        row = self.selected
        return (str(row["name"]), str(row["version"])) if row else None

    def folder_to_start(self) -> Path:
        """Return the folder that pickers start in: the last one used."""
        memory = self.arena.memory
        last = memory.get("folder") if memory else None
        return Path(str(last)) if last and Path(str(last)).is_dir() else Path.cwd()


def histogram(values: list[float], most: int = 8) -> list[tuple[float, float, int]]:
    """Return (low, high, count) of bins of equal width; one bin when all values are the same."""
    import numpy as np

    finite = [value for value in values if np.isfinite(value)]
    if not finite:
        return []
    if min(finite) == max(finite):
        return [(finite[0], finite[0], len(finite))]
    counts, edges = np.histogram(finite, bins=min(most, max(2, len(set(finite)))))
    return [
        (float(low), float(high), int(count))
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    ]


def _spread(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    number = format.number
    return (
        f"{number(value.get('mean'))} ± {number(value.get('std'))}"
        f" ({number(value.get('min'))} to {number(value.get('max'))})"
    )


def _lines(value: Any) -> str | None:
    if not value:
        return None
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key}={item}" for key, item in value.items())
    lines = [line.split("#")[0].strip() for line in str(value).splitlines()]
    return ", ".join(line for line in lines if line) or None


def _ago(value: Any) -> str | None:
    return f"{format.age(value)} ago" if value else None
