"""What runs leave: metrics, records, logs, the population and its lineage."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from arena_sdk._async.base import PREFIX, AsyncEndpoints
from arena_sdk._files import PathLike, suggested_name, write_whole
from arena_sdk._http import given, list_of, unexpected
from arena_sdk._pause import async_sleep
from arena_sdk._progress import Progress
from arena_sdk.answers import Experiment, Record
from arena_sdk.errors import ArenaAPIError

if TYPE_CHECKING:
    from arena_sdk._async.client import AsyncArenaClient

DOWNLOAD_ROWS = 50_000
"""How many rows a download asks for, as the published client does."""

LOG_POLL_SECONDS = 1.0

BEYOND_CONTRACT = {
    "one": ("experiment_details", "details of experiments"),
    "records": ("experiment_records", "records of experiments"),
    "logs": ("logs", "logs of experiments"),
    "population": ("population", "populations of experiments"),
    "lineage": ("lineage", "lineages of experiments"),
}
"""Feature and name for people of what only some services have, by its path."""


class AsyncExperimentData(AsyncEndpoints):
    """Everything that can be read of one training run."""

    async def get_experiment(self, experiment_name: str) -> Experiment:
        """Return one experiment with its manifest (embedded Arena).

        Example:
            >>> (await client.get_experiment("first")).best_fitness
        """
        return Experiment(await self._of("one", experiment_name))

    async def list_experiment_metric_names(
        self, experiment_name: str, *, project: str | None = None, details: bool = False
    ) -> Any:
        """Return the names of a run's metrics; with `details` `{experiment_id, metrics}`.

        Example:
            >>> await client.list_experiment_metric_names("first")
        """
        path = f"{PREFIX}/experiments/metrics"
        params = given(
            experiment_name=experiment_name, project=project, details=True if details else None
        )
        if details:
            return await self._transport.json("GET", path, params=params)
        return await self._transport.texts("GET", path, params=params)

    async def preview_experiment_metrics_csv(
        self,
        experiment_name: str,
        *,
        preview_rows: int,
        metrics: Sequence[str] | None = None,
        project: str | None = None,
        on_progress: Progress | None = None,
    ) -> tuple[bytes, str | None, str | None]:
        """Return the first rows of a run's metrics as CSV.

        Example:
            >>> content, _, _ = await client.preview_experiment_metrics_csv("first", preview_rows=5)

        Returns:
            The CSV, its content type, and its `Content-Disposition`.

        Raises:
            ArenaAPIError: The answer is no CSV.
        """
        params = [
            *given(experiment_name=experiment_name, preview_rows=preview_rows, project=project),
            *(("metric", metric) for metric in metrics or ()),
        ]
        answer = await self._transport.request(
            "GET", f"{PREFIX}/experiments/metrics", params=params, on_progress=on_progress
        )
        content_type = answer.headers.get("content-type")
        if "csv" not in (content_type or ""):
            raise ArenaAPIError(
                f"The metrics of {experiment_name!r} did not come as CSV but as"
                f" {content_type or 'something without a type'}.",
                status_code=answer.status_code,
            )
        return answer.content, content_type, answer.headers.get("content-disposition")

    async def download_experiment_metrics(
        self,
        experiment_name: str,
        output_path: PathLike | None = None,
        metrics: list[str] | None = None,
        *,
        on_progress: Progress | None = None,
    ) -> Path:
        """Write a run's metrics to a CSV file, whole or not at all.

        Example:
            >>> await client.download_experiment_metrics("first", "metrics.csv", ["fitness"])

        Args:
            experiment_name: Which run.
            output_path: Where to; the name that the service gives, in this folder, when None.
            metrics: Only these.
            on_progress: Called with the bytes that have come, and of how many where that is known.

        Returns:
            The file.
        """
        content, _, disposition = await self.preview_experiment_metrics_csv(
            experiment_name,
            preview_rows=DOWNLOAD_ROWS,
            metrics=metrics,
            on_progress=on_progress,
        )
        name = suggested_name(disposition, f"{experiment_name}-metrics.csv")
        return write_whole(Path(output_path or name), name, content)

    async def experiment_records(
        self, experiment_name: str, *, after: int = 0, limit: int = 10_000
    ) -> dict[str, Any]:
        """Return records with a number above `after` (embedded Arena).

        Example:
            >>> (await client.experiment_records("first", after=100))["last_seq"]

        Returns:
            `records`, `last_seq`, `state`.
        """
        return await self._of(
            "records", experiment_name, ("after", str(after)), ("limit", str(limit))
        )

    async def experiment_logs(
        self, experiment_name: str, *, after: int = 0, limit: int = 1000
    ) -> dict[str, Any]:
        """Return lines of a run's log (embedded Arena).

        Example:
            >>> (await client.experiment_logs("first", limit=10))["lines"]

        Returns:
            `lines`, `next` (what to pass as `after` for those that follow), `ended`.
        """
        page = await self._of("logs", experiment_name, ("after", str(after)), ("limit", str(limit)))
        path = f"{PREFIX}/experiments/logs"
        lines = list_of(str, "texts", ArenaAPIError, path, page.get("lines"))
        following = page.get("next")
        if lines and not (isinstance(following, int) and following > after):
            raise unexpected(ArenaAPIError, path, "a page with what follows it", following)
        return {**page, "lines": lines, "next": following, "ended": bool(page.get("ended"))}

    async def iter_experiment_logs(
        self, experiment_name: str, *, follow: bool = False, after: int = 0
    ) -> AsyncIterator[str]:
        """Yield the lines of a run's log (embedded Arena).

        Example:
            >>> async for line in client.iter_experiment_logs("first"):
            ...     print(line)

        Args:
            experiment_name: Which run.
            follow: Wait for further lines until the run has ended.
            after: How many lines to leave out at the beginning.
        """
        while True:
            page = await self.experiment_logs(experiment_name, after=after)
            for line in page["lines"]:
                yield line
            after = page["next"]
            if not page["lines"]:
                if page["ended"] or not follow:
                    return
                await async_sleep(LOG_POLL_SECONDS)

    async def get_population(self, experiment_name: str) -> dict[str, Any]:
        """Return the members of the latest generation (embedded Arena).

        Example:
            >>> (await client.get_population("first"))["members"]
        """
        return await self._of("population", experiment_name)

    async def get_lineage(self, experiment_name: str) -> dict[str, Any]:
        """Return every member with its parent and mutation (embedded Arena).

        Example:
            >>> (await client.get_lineage("first"))["members"]
        """
        return await self._of("lineage", experiment_name)

    def watch_experiment(
        self,
        experiment_name: str,
        *,
        after: int = 0,
        progress: bool = False,
        on_connection: Callable[[str], None] | None = None,
    ) -> AsyncIterator[Record]:
        """Yield a run's records as they come, each exactly once and in order, until it ends.

        Over a WebSocket where the service announces it, by polling the metrics elsewhere. A
        connection that breaks is made again; what was missed is fetched.

        Example:
            >>> async for record in client.watch_experiment("first"):
            ...     print(record.kind, record.data)

        Args:
            experiment_name: Which run.
            after: Number of the last record that is known already.
            progress: Yield messages of kind `progress` too; they have no number.
            on_connection: Called with `live`, `polling` or `reconnecting` when that changes.

        Yields:
            Records: `seq`, `kind` (`metrics`, `state`, `checkpoint`, `warning`), `time`, `data`.
        """
        from arena_sdk._async import live  # with WebSockets, which few calls need

        return live.watch(
            cast("AsyncArenaClient", self),
            experiment_name,
            after=after,
            progress=progress,
            on_connection=on_connection or (lambda state: None),
        )

    async def _of(
        self, path: str, experiment_name: str, *params: tuple[str, str]
    ) -> dict[str, Any]:
        feature, what = BEYOND_CONTRACT[path]
        async with self._beyond_contract(feature, what):
            return await self._transport.document(
                "GET",
                f"{PREFIX}/experiments/{path}",
                params=[("experiment_name", experiment_name), *params],
            )
