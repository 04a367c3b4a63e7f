"""A service that answers every call of the contract, and what of its requests is compared."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.sdk.sdk_service import Call, Service, ndjson

PROFILE = {
    "steps_per_second": 1e4,
    "avg_cpu_per_env": 9.5,
    "peak_cpu_per_env": 12.0,
    "memory_per_env_gb": 0.1,
}


def npy(value: Any) -> str:
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(value))
    return base64.b64encode(buffer.getvalue()).decode()


def metrics(request: Request) -> Response:
    if "preview_rows" not in request.query_params:
        return JSONResponse(["fitness", "loss"])
    disposition = {"content-disposition": 'attachment; filename="m.csv"'}
    return Response("fitness,loss\n1,2\n", media_type="text/csv", headers=disposition)


def act(request: Request) -> Response:
    return JSONResponse({"action": npy([1]), "hidden_state": npy([[0.5]])})


def exists(request: Request) -> Response:
    there = request.query_params["name"] == "word"
    return JSONResponse({"exists": there, **({"id": 3, "datasetType": "sft"} if there else {})})


def teach(service: Service) -> None:
    """Make a service answer every call of the script."""
    result = {"validated": True, "accepted": True, "experiment_id": 1, "experiment_name": "e"}
    stream = ndjson({"kind": "status", "stage": "x", "status": "completed", "detail": result})
    row = {"name": "d", "url": service.url, "status": "running"}
    versions = {"v1": {"validated": True, "profiled": False}, "v3": {"validated": True}}
    answers: dict[tuple[str, str], Any] = {
        ("POST", "/environments/create-and-validate"): stream,
        ("POST", "/environments/validate"): stream,
        ("POST", "/environments/profile"): ndjson(
            {"kind": "status", "stage": "x", "status": "completed", "detail": PROFILE}
        ),
        ("POST", "/experiments/jobs/submit"): stream,
        ("POST", "/projects/create"): {"name": "p"},
        ("DELETE", "/projects/delete"): {"name": "p"},
        ("GET", "/projects"): [{"name": "p", "type": "simulation", "description": None}],
        ("GET", "/environments"): {"corridor": versions},
        ("GET", "/environments/exists"): {"exists": True},
        ("GET", "/environments/entrypoints"): ["a:B"],
        ("POST", "/environments/duplicate"): {"source_version": "v1"},
        ("DELETE", "/environments/delete"): {"version": "v3"},
        ("GET", "/resources/list"): {"tiers": {}},
        ("GET", "/experiments/list"): [{"name": "e"}],
        ("GET", "/experiments/jobs/checkpoints"): [{"steps": 1}],
        ("GET", "/experiments/metrics"): metrics,
        ("GET", "/experiments/run-spec/default"): {"algorithm": {}},
        ("POST", "/experiments/jobs/resume"): {"ok": True, "data": {"state": "queued"}},
        ("POST", "/experiments/jobs/stop"): {"state": "stopping"},
        ("POST", "/inference/deploy"): row,
        ("GET", "/inference/deployments/list"): [row],
        ("GET", "/inference/deployments/one"): row,
        ("GET", "//api/users/current"): {"email": "e"},
        ("GET", "//api/users/credits"): 7,
        ("GET", "/datasets"): [],
        ("GET", "/datasets/exists"): exists,
        ("POST", "/datasets/create"): {"is_ready": True},
        ("DELETE", "/datasets/delete"): {},
        ("GET", "/models"): [],
        ("POST", "/models/info"): {"model_name": "m"},
        ("GET", "//status"): {
            "success": True,
            "deployment_id": "1",
            "instance_id": "2",
            "agent": {
                "algo": "PPO",
                "multi_agent": False,
                "llm": False,
                "recurrent": True,
                "supervised": False,
            },
        },
        ("POST", "//get_action"): act,
    }
    for (method, path), answer in answers.items():
        service.on(method, path, answer)


def comparable(call: Call) -> tuple[Any, ...]:
    """Return what must be the same of a request; archives are compared by name and type only."""
    form = {
        name: [
            (part.filename, part.content_type, None if name == "file" else _value(part.content))
            for part in parts
        ]
        for name, parts in call.form.items()
    }
    body = form or _value(call.body)
    headers = sorted(call.headers.keys()), call.headers.get("authorization")
    return call.method, call.path, call.query, body, headers


def _value(content: bytes) -> Any:
    """Return JSON as its value, since the order of keys means nothing."""
    try:
        return json.loads(content)
    except ValueError:
        return content


def without_looking_first(calls: list[Call]) -> Iterator[Call]:
    """Leave out the question whether a thing is there, which either client may ask to delete it."""
    for call, following in zip_longest(calls, calls[1:]):
        if call.method == "GET" and following is not None and following.method == "DELETE":
            continue
        yield call
