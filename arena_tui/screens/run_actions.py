"""What can be done with one experiment, the same in the list and on its own screen."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from arena_tui import format
from arena_tui.screens.base import ArenaScreen
from arena_tui.screens.environment_actions import absolute_path
from arena_tui.stores.experiments import ACTIVE, RESUMABLE
from arena_tui.widgets.dialogs import ChoiceDialog, ConfirmDialog
from arena_tui.widgets.form_dialog import Field, FormDialog
from arena_tui.widgets.rows import Row

FITTEST = "\0fittest"


class RunActions(ArenaScreen):
    """Mixed into screens with an experiment in hand."""

    def run_in_hand(self) -> Row | None:
        """Return the row of the experiment that the actions are about."""
        return None

    def _run_state(self) -> str:
        row = self.run_in_hand()
        return str(row.get("state")) if row else ""

    def _run_name(self) -> str:
        row = self.run_in_hand()
        return str(row.get("name")) if row else ""

    # Stop ----------------------------------------------------------------------------------------

    async def act_stop(self) -> None:
        """Stop the run, after asking."""
        name = self._run_name()
        sure = await self.app.push_screen_wait(
            ConfirmDialog(
                f"Stop {name}?",
                "It stops within seconds and leaves a checkpoint to resume or deploy from.",
                confirm="Stop",
                danger=False,
            )
        )
        if sure:
            await self.hub.experiments.stop(name)
            self.tell(f"{name} is stopping.")

    def why_not_stop(self) -> str | None:
        """Say why it cannot be stopped."""
        if self._run_state() in ("queued", "running"):
            return None
        return "Only a run that is queued or running can be stopped."

    # Resume --------------------------------------------------------------------------------------

    async def act_resume(self) -> None:
        """Ask for the new budget and go on."""
        row = self.run_in_hand() or {}
        name = self._run_name()
        steps = int(row.get("steps") or 0)
        before = int(row.get("max_steps") or 0)
        answer = await self.app.push_screen_wait(
            FormDialog(
                f"Resume {name}",
                [
                    Field(
                        "max_steps",
                        "Steps of each member in all",
                        "integer",
                        before if before > steps else max(before, steps) * 2,
                        required=True,
                        minimum=steps + 1,
                        help=f"It has done {steps:,} of {before:,}; 1e6 is understood.",
                    )
                ],
                submit="Resume",
            )
        )
        if answer:
            await self.hub.experiments.resume(name, int(answer["max_steps"]))
            self.tell(f"{name} goes on to {answer['max_steps']:,} steps.")

    def why_not_resume(self) -> str | None:
        """Say why it cannot be resumed."""
        if self._run_state() in RESUMABLE:
            return None
        return "Only a run that has ended can be resumed."

    # Deploy --------------------------------------------------------------------------------------

    async def act_deploy(self) -> None:
        """Deploy a checkpoint of the run that is chosen in a form."""
        name = self._run_name()
        rows = await self.hub.call(lambda: self.hub.client.list_checkpoints(name))
        if not rows:
            self.tell(
                f"{name} has no checkpoint yet; the first comes with a generation.", "warning"
            )
            return
        await self.deploy(name, [dict(row) for row in rows])

    async def deploy(self, name: str, checkpoints: list[dict[str, Any]]) -> None:
        """Ask which checkpoint, deploy it, and go to the agents."""
        chosen = await self.app.push_screen_wait(
            ChoiceDialog(
                f"Deploy an agent of {name} from",
                [("the fittest checkpoint", FITTEST), *map(checkpoint_choice, checkpoints)],
            )
        )
        if chosen is not None:
            await self.deploy_checkpoint(name, None if chosen == FITTEST else str(chosen))

    async def deploy_checkpoint(self, name: str, checkpoint: str | None) -> None:
        """Deploy, and show the deployment among the agents."""
        job = self.hub.deployments.deploy(name, checkpoint)
        self.tell(f"An agent of {name} is being deployed.")
        await self.arena.go("agents")
        self.app.screen.select(name)  # type: ignore[attr-defined]
        await _until_done(job)
        if job.error:
            self.tell(job.error, "error")

    def why_not_deploy(self) -> str | None:
        """Say why nothing can be deployed."""
        return None if self._run_name() else "Choose an experiment first."

    # Metrics -------------------------------------------------------------------------------------

    async def act_download(self) -> None:
        """Write the metrics into a CSV file of the user's choice."""
        name = self._run_name()

        def check(values: dict[str, Any]) -> dict[str, str] | None:
            path = Path(str(values["path"])).expanduser()
            if path.exists():
                return {"path": f"{path} exists; choose another name."}
            if not path.parent.is_dir():
                return {"path": f"{path.parent} is no folder."}
            return None

        answer = await self.app.push_screen_wait(
            FormDialog(
                f"Download the metrics of {name}",
                [Field("path", "CSV file", "path", str(Path.cwd() / f"{name}.csv"), required=True)],
                submit="Download",
                check=check,
            )
        )
        if answer:
            path = absolute_path(answer["path"])
            job = self.hub.experiments.download_metrics(name, path)
            await _until_done(job)
            self.tell(job.error or f"Wrote {path}.", "error" if job.error else "information")

    def why_not_download(self) -> str | None:
        """Say why there is nothing to download."""
        return None if self._run_name() else "Choose an experiment first."

    # Delete --------------------------------------------------------------------------------------

    async def runs_to_delete(self) -> list[Row]:
        """Return the rows of the runs that are to go, after asking which where that is open."""
        row = self.run_in_hand()
        return [] if row is None else [row]

    async def act_delete(self) -> None:
        """Delete runs, after naming what is lost; where several go, a name has to be typed."""
        rows = await self.runs_to_delete()
        busy = _why_busy(rows)
        if busy:
            self.tell(busy, "warning")
        if busy or not rows:
            return
        names = [str(row["name"]) for row in rows]
        several = len(rows) > 1
        sure = await self.app.push_screen_wait(
            ConfirmDialog(
                f"Delete {len(rows)} experiments?" if several else f"Delete {names[0]}?",
                "Metrics, checkpoints and log are gone then, and cannot be brought back:",
                loses=await asyncio.gather(*(self._lost_with(row) for row in rows)),
                typed=names[0] if several else None,
            )
        )
        if not sure:
            return
        gone = []
        try:
            for name in names:
                await self.hub.experiments.delete(name)
                gone.append(name)
        finally:
            if gone:
                self.tell(f"Deleted {', '.join(gone)}.")
                self.deleted(gone)

    async def _lost_with(self, row: Row) -> str:
        """Return what goes with a run, in some words."""
        from arena_sdk.errors import ArenaError

        name = str(row["name"])
        words = [f"{format.count(row.get('generation'))} generations"]
        try:
            kept = await self.hub.call(lambda: self.hub.client.list_checkpoints(name))
        except ArenaError:
            words.append("its checkpoints")
        else:
            size = sum(float(each.get("size_mb") or 0) for each in kept)
            words.append(f"{len(kept)} checkpoints of {format.number(size)} MB")
        return f"{name}: {', '.join(words)}"

    def deleted(self, names: list[str]) -> None:
        """Runs are gone."""

    def why_not_delete(self) -> str | None:
        """Say why they cannot be deleted."""
        if not self.hub.has("experiment_delete"):
            return "This Arena does not delete experiments."
        row = self.run_in_hand()
        return "Choose an experiment first." if row is None else _why_busy([row])


def _why_busy(rows: list[Row]) -> str | None:
    """Say which of some runs must be stopped before they can be deleted."""
    busy = [str(row.get("name")) for row in rows if row.get("state") in ACTIVE]
    return f"Stop {', '.join(busy)} first." if busy else None


async def _until_done(job: Any) -> None:
    if job.task is not None:
        await asyncio.wait([job.task])


def checkpoint_choice(row: dict[str, Any]) -> tuple[str, str]:
    """Return how a checkpoint is offered, and its name."""
    name = str(row.get("name") or f"step_{row.get('steps')}")
    score = format.number(row.get("evaluation_score"))
    return f"{name}  evaluation {score}", name
