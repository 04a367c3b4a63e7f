"""What can be read of one experiment: itself, records, population, lineage, metrics, logs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from sqlalchemy.orm import Session
from starlette.responses import Response

from arena_sdk.local.api.deps import (
    MOST_LINES,
    PREFIX,
    OptionalFlag,
    OptionalInteger,
    OptionalText,
    WithServices,
    bounded,
    log_answer,
)
from arena_sdk.local.api.errors import ApiError
from arena_sdk.local.services import metrics as series
from arena_sdk.local.services.metric_names import described
from arena_sdk.local.services.transitions import find, log_path
from arena_sdk.local.services.views import experiment_json
from arena_sdk.local.store import experiments as store

router = APIRouter(prefix=PREFIX)

FEATURES: dict[str, Any] = {
    "experiment_details": {"path": f"{PREFIX}/experiments/one"},
    "experiment_records": {"path": f"{PREFIX}/experiments/records"},
    "logs": {"path": f"{PREFIX}/experiments/logs"},
    "population": {"path": f"{PREFIX}/experiments/population"},
    "lineage": {"path": f"{PREFIX}/experiments/lineage"},
    "metric_names": {"path": f"{PREFIX}/experiments/metrics", "names": described()},
}

MOST_RECORDS = 10_000


@router.get("/experiments/one")
async def one(services: WithServices, experiment_name: OptionalText = None) -> dict[str, Any]:
    """Return an experiment with its manifest."""

    def read(session: Session) -> dict[str, Any]:
        experiment = find(session, experiment_name)
        return {**experiment_json(experiment), "manifest": experiment.manifest}

    found = await services.database.read(read)
    return {**found, "waiting": services.runs.why_waiting(found["id"])}


@router.get("/experiments/records")
async def records(
    services: WithServices,
    experiment_name: OptionalText = None,
    after: OptionalInteger = None,
    limit: OptionalInteger = None,
) -> dict[str, Any]:
    """Return records after a number, in order, and where the run stands."""
    start = bounded(after, 0, 2**62, "after")
    most = bounded(limit, MOST_RECORDS, MOST_RECORDS, "limit", least=1)

    def read(session: Session) -> dict[str, Any]:
        experiment = find(session, experiment_name)
        return {
            "records": store.records_after(session, experiment.id, start, most),
            "last_seq": experiment.last_seq,
            "state": experiment.state,
        }

    return await services.database.read(read)


@router.get("/experiments/population")
async def population(
    services: WithServices, experiment_name: OptionalText = None
) -> dict[str, Any]:
    """Return the members of the latest generation."""

    def read(session: Session) -> dict[str, Any]:
        experiment = find(session, experiment_name)
        members = store.population(session, experiment)
        return {"generation": experiment.generation, "members": members}

    return await services.database.read(read)


@router.get("/experiments/lineage")
async def lineage(services: WithServices, experiment_name: OptionalText = None) -> dict[str, Any]:
    """Return every member that ever lived, with its parent."""

    def read(session: Session) -> dict[str, Any]:
        return {"members": store.lineage(session, find(session, experiment_name).id)}

    return await services.database.read(read)


@router.get("/experiments/logs")
async def logs(
    services: WithServices,
    experiment_name: OptionalText = None,
    after: OptionalInteger = None,
    limit: OptionalInteger = None,
) -> dict[str, Any]:
    """Return lines of a run's log after the first `after`."""
    start = bounded(after, 0, 2**62, "after")
    most = bounded(limit, 1000, MOST_LINES, "limit", least=1)

    def read(session: Session) -> tuple[Path, bool]:
        experiment = find(session, experiment_name)
        over = experiment.state in store.FINISHED_STATES
        return log_path(services.paths, experiment.id), over

    path, over = await services.database.read(read)
    return await log_answer(services, path, start, most, over=over)


@router.get("/experiments/metrics", response_model=None)
async def metrics(
    services: WithServices,
    experiment_name: OptionalText = None,
    project: OptionalText = None,
    details: OptionalFlag = None,
    preview_rows: OptionalInteger = None,
    metric: Annotated[list[str] | None, Query()] = None,
) -> Response | list[str] | dict[str, Any]:
    """Return the names of a run's metrics, or with `preview_rows` the metrics as CSV."""
    asked = [name for name in metric or [] if name]

    def read(session: Session) -> tuple[int, str, list[str], list[str]]:
        experiment = find(session, experiment_name)
        if project is not None and experiment.project.name != project:
            raise ApiError(
                404,
                f"Experiment {experiment.name!r} is not in project {project!r} but in"
                f" {experiment.project.name!r}.",
                "EXPERIMENT_NOT_FOUND",
            )
        known = series.metric_names(session, experiment.id)
        chosen = series.check_metrics(asked, known, experiment.name)
        return experiment.id, experiment.name, known, chosen

    experiment_id, name, known, chosen = await services.database.read(read)
    if preview_rows is None:
        listed = chosen if asked else known
        return {"experiment_id": experiment_id, "metrics": listed} if details else listed
    rows = bounded(preview_rows, 0, 2**62, "preview_rows")
    return StreamingResponse(
        series.csv_lines(services.database.reading, experiment_id, chosen, rows),
        media_type="text/csv",
        headers={"Content-Disposition": _attachment(f"{name}-metrics.csv")},
    )


def _attachment(file_name: str) -> str:
    """Return a header value for a file name that may hold letters of any script (RFC 6266)."""
    from urllib.parse import quote

    plain = file_name.encode("ascii", "replace").decode().replace("?", "_").replace('"', "_")
    extended = f"; filename*=UTF-8''{quote(file_name)}" if plain != file_name else ""
    return f'attachment; filename="{plain}"{extended}'
