"""Datasets of the service, where it has any, and files that become one."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena_tui.stores.base import Polled
from arena_tui.stores.work import Job

if TYPE_CHECKING:
    from arena_tui.stores.hub import Hub

_HEADER_BYTES = 1 << 20
_ALIKE = {
    "question": ("question", "problem", "prompt", "instruction", "input", "query"),
    "answer": ("answer", "solution", "final_answer", "response", "output", "completion"),
    "prompt": ("prompt", "instruction", "question", "input", "query"),
    "chosen": ("chosen", "accepted", "preferred", "better"),
    "rejected": ("rejected", "refused", "worse"),
    "target": ("target", "completion", "response", "output", "answer", "text"),
}
"""Names of columns that probably hold what a key of a mapping is for, the likeliest first."""


class Datasets(Polled[list[dict[str, Any]]]):
    """Rows of datasets; "absent" at a service without them."""

    def __init__(self, hub: Hub) -> None:
        super().__init__(hub, self._list, every=5)
        self._details: dict[str, Polled[dict[str, Any]]] = {}

    async def _list(self) -> list[dict[str, Any]]:
        return [dict(row) for row in await self.hub.client.list_datasets()]

    def details(self, name: str) -> Polled[dict[str, Any]]:
        """Return the store of one dataset with its first rows; asked for once."""
        if name not in self._details:

            async def fetch() -> dict[str, Any]:
                return dict(await self.hub.client.get_dataset(name))

            self._details[name] = Polled(self.hub, fetch, every=None)
        return self._details[name]

    def forget(self) -> None:
        """Drop the data, those of single datasets too."""
        super().forget()
        self._details.clear()

    def create(self, name: str, category: str, mapping: dict[str, str], **source: Any) -> Job:
        """Make a dataset; uploads tell how far they are.

        Args:
            name: Its name.
            category: `sft`, `preference` or `reasoning`.
            mapping: From the keys of the category to columns.
            source: `file`, or `hf_dataset_name` with `hf_config` and `hf_split`; `description`.
        """

        async def do(job: Job) -> Any:
            def progress(sent: int, whole: int) -> None:
                job.stage = f"{sent / 1e6:,.1f} of {whole / 1e6:,.1f} MB"
                job.changed()

            try:
                return await self.hub.client.create_dataset(
                    name=name,
                    category=category,
                    column_mapping=mapping,
                    on_progress=progress,
                    **source,
                )
            finally:
                self.refresh()

        return self.hub.work.start("dataset", (name,), do)

    async def delete(self, name: str) -> None:
        """Delete a dataset."""
        await self.hub.call(lambda: self.hub.client.delete_dataset(name, confirm=True))
        self._details.pop(name, None)
        self.refresh()


def header_of(path: Path) -> list[str]:
    """Return the names of the columns of a CSV or Parquet file, or of a folder's first shard.

    Raises:
        ValueError: It is no such file, or has no header; the message is one sentence.
        OSError: It cannot be read.
    """
    if path.is_dir():
        shards = sorted(path.rglob("*.parquet"))
        if not shards:
            raise ValueError(f"{path} holds no Parquet file.")
        path = shards[0]
    names = _parquet(path) if path.suffix.lower() == ".parquet" else _comma(path)
    if not names:
        raise ValueError(f"{path} has no header line with the names of its columns.")
    return names


def _comma(path: Path) -> list[str]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            row = next(csv.reader(iter([*file.readlines(_HEADER_BYTES)])), [])
        except (UnicodeDecodeError, csv.Error) as error:
            raise ValueError(f"{path} is no CSV file: {error}.") from None
    return [name for name in row if name.strip()]


def _parquet(path: Path) -> list[str]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise ValueError(
            "Reading a Parquet header needs pyarrow: python -m pip install pyarrow"
        ) from None
    try:
        return [str(name) for name in parquet.read_schema(path).names]
    except ArrowException as error:
        raise ValueError(f"{path} is no Parquet file: {str(error).splitlines()[0]}") from None


def likely(key: str, columns: list[str]) -> str | None:
    """Return the column that a key of a mapping probably means, or None."""
    lowered = {name.casefold(): name for name in columns}
    for wanted in _ALIKE.get(key, (key,)):
        if wanted in lowered:
            return lowered[wanted]
    return next(
        (name for low, name in lowered.items() if any(w in low for w in _ALIKE.get(key, (key,)))),
        None,
    )
