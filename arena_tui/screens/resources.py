"""What runs can run on, what it costs, and how long the credits last."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical

from arena_tui import format
from arena_tui.commands import Action
from arena_tui.safetext import safe_text
from arena_tui.screens.base import style_file
from arena_tui.screens.listing import Facts, ListScreen
from arena_tui.stores.base import Polled, Store
from arena_tui.stores.resources import Resources, fit
from arena_tui.widgets.dialogs import ChoiceDialog
from arena_tui.widgets.form_dialog import Field, FormDialog
from arena_tui.widgets.rows import Column, Row


class ResourcesScreen(ListScreen):
    """One row a tier."""

    SCREEN = "resources"
    CSS_PATH = [style_file("frame"), style_file("resources")]
    ROWS_TITLE = "Resources"
    KEY = "id"
    DROP = ("copies", "ram_gb", "num_cpus")
    EMPTY = "This Arena lists no resources."
    ABSENT = "This Arena does not list its resources."
    ACTIONS: ClassVar[list[Action]] = [
        Action("resources.choose", "c", "Choose", "Use this for the next experiment.", 1),
        Action("resources.new", "n", "New experiment", "Train on this.", 2, True),
        Action("resources.environment", "e", "Environment", "Whose profile is measured by.", 4),
        Action("resources.cost", "h", "Hours, nodes", "Set hours and nodes of the estimate.", 3),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.hours = 1.0
        self.nodes = 1

    def columns(self) -> list[Column]:
        """Return the columns of the table."""

        def mark(value: Any, row: Row) -> str:
            return "★" if value == self.store.suggested else ""

        def gpus(value: Any, row: Row) -> str:
            return f"{value}× {row.get('gpu_type') or 'GPU'}" if value else "none"

        return [
            Column("id", "", 1, show=mark),
            Column("name", "name", None, show=lambda value, row: str(row["id"])),
            Column("num_gpus", "GPUs", 22, show=gpus),
            Column("num_cpus", "CPUs", 5, "right"),
            Column("ram_gb", "RAM GB", 7, "right", show=lambda v, row: format.number(v, 1)),
            Column("copies", "copies fit", 10, "right", show=lambda v, row: format.count(v)),
            Column("price_per_node_hour", "credits/node-h", 14, "right", show=_price),
        ]

    @property
    def store(self) -> Resources:
        """The tiers."""
        return self.hub.resources

    def stores(self) -> Iterable[Store]:
        """Return what is watched."""
        yield from (self.hub.resources, self.hub.credits, self.hub.environments)
        if self._profile is not None:
            yield self._profile

    @property
    def _profile(self) -> Polled[dict[str, Any]] | None:
        """The details of the environment that resources are measured by."""
        chosen = self.hub.environments.chosen
        return None if chosen is None else self.hub.environments.details(*chosen)

    def rows_data(self) -> list[Row]:
        """Return the tiers, with the copies of the chosen environment that fit on each."""
        known = (self._profile.value if self._profile else None) or {}
        profile = known.get("profile") or {}
        return [{**row, **fit(row, profile)} for row in self.store.value or ()]

    def detail(self) -> ComposeResult:
        """Make the pane about a tier."""
        with Vertical(classes="pane right drop", id="about") as pane:
            pane.border_title = "Resource"
            yield Facts(id="facts")

    def show_detail(self, row: Row | None) -> None:
        """Show the cost of a run on the selected tier."""
        self.query_one("#about").border_title = (
            Text(safe_text(row["id"], 200)) if row else "Resource"
        )
        if row is None:
            self.query_one("#facts", Facts).set_facts([])
            return
        price = float(row.get("price_per_node_hour") or 0.0)
        cost = price * self.hours * self.nodes
        credits = self.hub.credits.value
        hours = credits / (price * self.nodes) if credits is not None and price else None
        self.query_one("#facts", Facts).set_facts(
            [
                ("name", row.get("name")),
                ("GPUs", row.get("num_gpus") or "none"),
                ("CPUs", row.get("num_cpus")),
                ("RAM", f"{format.number(row.get('ram_gb'), 1)} GB"),
                ("price", "free" if not price else f"{price:.2f} credits a node and hour"),
                (
                    "estimate",
                    f"{format.number(cost)} credits for {self.hours:g} h on {self.nodes} node(s)",
                ),
                *self._fitting(row),
                ("credits last", None if hours is None else format.duration(hours * 3600)),
                ("next run", "on this one" if row["id"] == self.store.suggested else None),
            ]
        )

    def _fitting(self, row: Row) -> list[tuple[str, Any]]:
        """Return what the chosen environment's profile allows on a tier."""
        chosen = self.hub.environments.chosen
        if chosen is None:
            return [("environment", "e chooses one to measure by")]
        name = " ".join(chosen)
        copies = row.get("copies")
        if copies is None:
            return [("environment", f"{name}, which has no profile yet (2, then p)")]
        speed = row.get("steps_per_second")
        return [
            ("environment", name),
            ("copies fit", f"{format.count(copies)} a node"),
            ("steps/s", f"about {format.count(speed)} at best" if speed else None),
        ]

    async def act_environment(self) -> None:
        """Ask whose profile resources are measured by."""
        rows = self.hub.environments.rows
        chosen = await self.app.push_screen_wait(
            ChoiceDialog(
                "Measure resources by",
                [(_measure(row), (row["name"], row["version"])) for row in rows],
            )
        )
        if chosen is not None:
            self.hub.environments.chosen = chosen
            self.rewatch()

    def why_not_environment(self) -> str | None:
        """Say why there is none to choose."""
        return None if self.hub.environments.rows else "There is no environment yet: 2, then n."

    async def open_row(self, row: Row) -> None:
        """Choose a tier."""
        self.store.choose(str(row["id"]))
        self.tell(f"The next experiment runs on {row['id']}.")

    async def act_choose(self) -> None:
        """Choose the selected tier."""
        if self.selected is not None:
            await self.open_row(self.selected)

    def why_not_choose(self) -> str | None:
        """Say why none can be chosen."""
        return None if self.selected is not None else "Choose a resource first."

    async def act_new(self) -> None:
        """Open the form of a new experiment on the selected tier."""
        if self.selected is not None:
            self.store.choose(str(self.selected["id"]))
        await self.arena.open_new()

    async def act_cost(self) -> None:
        """Ask for hours and nodes."""
        answer = await self.app.push_screen_wait(
            FormDialog(
                "Estimate for",
                [
                    Field("hours", "Hours", "number", self.hours, required=True, minimum=0),
                    Field("nodes", "Nodes", "integer", self.nodes, required=True, minimum=1),
                ],
                submit="Estimate",
            )
        )
        if answer:
            self.hours, self.nodes = float(answer["hours"]), int(answer["nodes"])
            self.show_detail(self.selected)


def _price(value: Any, row: Row) -> str:
    return "free" if not value else format.number(float(value))


def _measure(row: Row) -> str:
    """Return the name of a version, and whether it can be measured by."""
    return f"{row['name']} {row['version']}{'' if row['profiled'] else ', no profile'}"
