"""One run, live: its metrics as they come, its checkpoints and its log."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Any

from arena_tui.stores.base import Polled, Store
from arena_tui.stores.experiments import ACTIVE

if TYPE_CHECKING:
    from arena_tui.stores.columns import RunColumns
    from arena_tui.stores.hub import Hub

TELL_EVERY = 0.1
"""Seconds between two changes told at the least."""
_LOG_PAGE = 1000


class Log(Polled[int]):
    """Lines of a run's log, asked for page by page; the value is their number."""

    def __init__(self, hub: Hub, name: str) -> None:
        super().__init__(hub, self._more, every=0.75)
        self._name = name
        self.lines: list[str] = []
        self.ended = False

    async def _more(self) -> int:
        while True:
            page = await self.hub.client.experiment_logs(
                self._name, after=len(self.lines), limit=_LOG_PAGE
            )
            new = list(page.get("lines") or ())
            self.lines.extend(new)
            self.ended = bool(page.get("ended"))
            if len(new) < _LOG_PAGE:
                return len(self.lines)
            self.changed()


class Run(Store):
    """Everything of one run.

    Attributes:
        details: The experiment with its manifest, as last asked for.
        columns: Its metrics.
        progress: The last word between two generations: steps, total_steps, steps_per_second.
        state: Its state, from whichever source spoke last.
        last_seq: Sequence number of the last record taken.
        live: Whether records are arriving by subscription just now.
    """

    def __init__(self, hub: Hub, name: str) -> None:
        super().__init__()
        self.hub = hub
        self.name = name
        self.columns: RunColumns = _columns()
        self.progress: dict[str, Any] = {}
        self.warnings: list[str] = []
        self.error: str | None = None
        self.state = ""
        self.last_seq = 0
        self.live = False
        self.details: Polled[dict[str, Any]] = Polled(hub, self._get_details)
        self.checkpoints: Polled[list[dict[str, Any]]] = Polled(hub, self._get_checkpoints)
        self.log = Log(hub, name)
        self._pump: asyncio.Task[None] | None = None
        self._leave_details: Any = None
        self._telling: asyncio.TimerHandle | None = None

    @property
    def is_active(self) -> bool:
        """Whether it will change by itself."""
        return self.state in ACTIVE

    def refresh(self) -> None:
        """Ask again, and subscribe again where the subscription ended."""
        self.details.refresh()
        self.checkpoints.refresh()
        self.log.refresh()
        if self.is_watched:
            self._subscribe()

    async def _get_details(self) -> dict[str, Any]:
        return dict(await self.hub.client.get_experiment(self.name))

    async def _get_checkpoints(self) -> list[dict[str, Any]]:
        return [dict(row) for row in await self.hub.client.list_checkpoints(self.name)]

    # Subscription --------------------------------------------------------------------------------

    def _watched(self) -> None:
        if self._leave_details is None:
            self._leave_details = self.details.watch(self._details_changed)
        self._subscribe()

    def _unwatched(self) -> None:
        if self._leave_details is not None:
            self._leave_details()
            self._leave_details = None
        if self._pump is not None:
            self._pump.cancel()
            self._pump = None
        self.live = False

    def _subscribe(self) -> None:
        if self._pump is None or self._pump.done():
            self._pump = self.hub.spawn(self._follow())

    def resubscribe(self) -> None:
        """Subscribe anew, through the client that there is now."""
        if self._pump is not None:
            self._pump.cancel()
            self._pump = None
        if self.is_watched:
            self._subscribe()

    def _details_changed(self) -> None:
        row = self.details.value
        if row is not None:
            before, self.state = self.state, str(row.get("state") or "")
            self.error = row.get("error") or self.error if self.state == "failed" else None
            if self.state in ACTIVE and before not in ACTIVE:
                self._subscribe()
        self._tell_soon()

    async def _follow(self) -> None:
        """Take records until the run ends; after a cut, go on behind the last one taken."""
        from arena_sdk.errors import ArenaError

        while True:
            try:
                await self.hub.call(self._take_all)
            except ArenaError as error:
                self.live = False
                if getattr(error, "status_code", None) == 404:
                    self.error = self.hub.sentence(error)
                    self._tell_soon()
                    return
                await asyncio.sleep(self.hub.refresh_seconds)
            else:
                self.live = False
                self._tell_soon()
                return

    async def _take_all(self) -> None:
        stream = self.hub.client.watch_experiment(
            self.name, after=self.last_seq, progress=True, on_connection=self._connection_changed
        )
        async with contextlib.aclosing(stream) as records:  # type: ignore[type-var]
            async for record in records:
                self.take(record)

    def _connection_changed(self, state: str) -> None:
        self.live = state == "live"
        if state == "reconnecting":
            # Seen here at once; the next poll would find out seconds later.
            self.hub.doubt()
        self._tell_soon()

    def take(self, record: dict[str, Any]) -> None:
        """Take one record: metrics, a state, a checkpoint, a warning, or progress."""
        kind, data = record.get("kind"), record.get("data") or {}
        seq = record.get("seq")
        if isinstance(seq, int):
            if seq <= self.last_seq:
                return
            self.last_seq = seq
        if kind == "metrics":
            self.columns.add(data, float(record.get("time") or time.time()))
        elif kind == "progress":
            self.progress = data or {k: v for k, v in record.items() if k != "kind"}
        elif kind == "state":
            self.state = str(data.get("state") or self.state)
            self.error = data.get("error") or None
            if isinstance(data.get("generation"), int):
                # It goes on from a checkpoint: what came after that is done again.
                self.columns.rewind(data["generation"])
            self.details.refresh()
        elif kind == "checkpoint":
            self.checkpoints.refresh()
        elif kind == "warning":
            self.warnings.append(str(data.get("message", "")))
        self._tell_soon()

    def _tell_soon(self) -> None:
        """Tell the watchers, ten times a second at most."""
        if self._telling is None:
            self._telling = asyncio.get_running_loop().call_later(TELL_EVERY, self._tell)

    def _tell(self) -> None:
        self._telling = None
        self.changed()

    # What screens show ---------------------------------------------------------------------------

    @property
    def population(self) -> list[dict[str, Any]]:
        """The members of the last generation, as they reported."""
        generation = self.columns.generation
        return [
            rows.last
            for rows in self.columns.members.values()
            if rows.last.get("generation") == generation
        ]

    @property
    def figures(self) -> dict[str, Any]:
        """The experiment's row, with what is fresher from the stream."""
        row = dict(self.details.value or self.hub.experiments.named(self.name) or {})
        row.update({k: v for k, v in self.progress.items() if self.is_active and v is not None})
        if self.state:
            row["state"] = self.state
        return row


def _columns() -> RunColumns:
    # NumPy takes a good part of the time of a start, and only a run that is looked at needs it.
    from arena_tui.stores.columns import RunColumns

    return RunColumns()
