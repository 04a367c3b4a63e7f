"""How a dataset is made: from a file, a folder of shards or the hub, with its columns mapped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arena_tui.screens.base import ArenaScreen
from arena_tui.screens.environment_actions import suggested_name
from arena_tui.stores.datasets import header_of, likely
from arena_tui.widgets.dialogs import ChoiceDialog
from arena_tui.widgets.form_dialog import Field, FormDialog
from arena_tui.widgets.path_dialog import PathDialog

FILE, FOLDER, HUB = "file", "folder", "hub"
_MEANT_FOR = {
    "sft": "sft: prompts and the answers to learn",
    "preference": "preference: prompts with a better and a worse answer",
    "reasoning": "reasoning: questions whose answers can be checked",
}


class DatasetActions(ArenaScreen):
    """Mixed into the screen of datasets."""

    async def act_new(self) -> None:
        """Ask where the data are, how to name them and what each column is; then make it."""
        kind = await self.app.push_screen_wait(
            ChoiceDialog(
                "A new dataset from",
                [
                    ("a CSV or Parquet file", FILE),
                    ("a folder of Parquet files", FOLDER),
                    ("a dataset of the Hugging Face hub", HUB),
                ],
            )
        )
        if kind is None:
            return
        source = await (self._from_hub() if kind == HUB else self._from_disk(kind))
        if source is None:
            return
        columns = [] if kind == HUB else header_of(Path(source["file"]))
        place = Path(str(next(iter(source.values()))))
        about = await self._ask_about(suggested_name(place.with_suffix("")))
        if about is None:
            return
        mapping = await self._ask_mapping(str(about["category"]), columns)
        if mapping is None:
            return
        name = str(about["name"])
        job = self.hub.datasets.create(
            name, str(about["category"]), mapping, description=about["description"], **source
        )
        self.tell(f"Making dataset {name}…")
        if job.task is not None:
            import asyncio

            await asyncio.wait([job.task])
        if job.state == "done":
            self.made(name)
            self.tell(f"Made dataset {name}.")
        else:
            self.tell(job.error or f"{name} was not made.", "error")

    def made(self, name: str) -> None:
        """A dataset is there."""

    async def _from_disk(self, kind: str) -> dict[str, Any] | None:
        memory = self.arena.memory
        path = await self.app.push_screen_wait(
            PathDialog(
                "Which file?" if kind == FILE else "Which folder?",
                memory.get("data-folder") if memory else None,
                pick="file" if kind == FILE else "folder",
                suffixes=(".csv", ".parquet") if kind == FILE else (),
                check=_check_header,
            )
        )
        if path is None:
            return None
        if memory is not None:
            memory.set("data-folder", str(path.parent))
        return {"file": path}

    async def _from_hub(self) -> dict[str, Any] | None:
        answer = await self.app.push_screen_wait(
            FormDialog(
                "Which dataset of the hub?",
                [
                    Field("hf_dataset_name", "Id", required=True, help="As in owner/name."),
                    Field("hf_config", "Configuration", help="Its only one when left out."),
                    Field("hf_split", "Split", value="train"),
                ],
                submit="Next",
                check=_check_hub,
            )
        )
        return {key: value for key, value in answer.items() if value} if answer else None

    async def _ask_about(self, name: str) -> dict[str, Any] | None:
        from arena_tui.screens.projects import name_check

        answer: dict[str, Any] | None = await self.app.push_screen_wait(
            FormDialog(
                "A new dataset",
                [
                    Field("name", "Name", value=name, required=True),
                    Field(
                        "category",
                        "Category",
                        "select",
                        "sft",
                        [(words, key) for key, words in _MEANT_FOR.items()],
                        required=True,
                    ),
                    Field("description", "Description"),
                ],
                submit="Next",
                check=name_check("dataset", "name"),
            )
        )
        return answer

    async def _ask_mapping(self, category: str, columns: list[str]) -> dict[str, str] | None:
        """Ask which column is what; from the file's own header where there is one."""
        from arena_sdk.categories import COLUMNS

        keys = COLUMNS[category]

        def check(values: dict[str, Any]) -> dict[str, str] | None:
            first = {values[key]: key for key in reversed(keys)}
            return next(
                (
                    {key: f"{values[key]} is the {first[values[key]]} already."}
                    for key in keys
                    if first[values[key]] != key
                ),
                None,
            )

        answer = await self.app.push_screen_wait(
            FormDialog(
                "Which column is what?",
                [
                    Field(
                        key,
                        f"The column of the {key}",
                        "select" if columns else "text",
                        likely(key, columns) if columns else key,
                        columns,
                        required=True,
                    )
                    for key in keys
                ],
                submit="Make it",
                intro=f"Columns: {', '.join(columns[:30])}" if columns else "",
                check=check,
            )
        )
        return None if answer is None else {key: str(answer[key]) for key in keys}


def _check_header(path: Path) -> str | None:
    """Return why a file cannot become a dataset, or None."""
    try:
        header_of(path)
    except (ValueError, OSError) as error:
        return str(error)
    return None


def _check_hub(values: dict[str, Any]) -> dict[str, str] | None:
    name = str(values["hf_dataset_name"])
    if name.count("/") > 1 or name.startswith("/") or " " in name:
        return {"hf_dataset_name": "An id is like owner/name."}
    return None
