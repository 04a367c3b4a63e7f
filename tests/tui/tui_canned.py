"""A small Arena with canned answers: what the dashboard's tests talk to over real HTTP."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import io
import json
import math
from collections.abc import AsyncIterator, Callable
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

PREFIX = "/api/cli/v1"
NOW = 1_780_000_000.0
"""The time at which everything in here is told, epoch seconds."""
TOKEN = "test-token"


def iso(seconds_ago: float) -> str:
    """Return a time before NOW as the service writes it."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(NOW - seconds_ago, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def metrics(generations: int, members: int = 4) -> list[dict[str, Any]]:
    """Return the records of a run that learns: one a member and generation."""
    records = []
    for generation in range(1, generations + 1):
        for place in range(members):
            member = place if generation < 4 or place == 0 else place + members
            wave = 6 * math.sin(generation * 1.7 + place)
            fitness = 180 * (1 - math.exp(-generation / 8)) + wave + 4 * place
            records.append(
                {
                    "seq": len(records) + 1,
                    "kind": "metrics",
                    "time": NOW - 600 + generation * 20,
                    "data": {
                        "generation": generation,
                        "member": member,
                        "parent": place if member != place else None,
                        "mutation": "lr" if generation == 4 and member != place else None,
                        "steps": generation * 1000,
                        "total_steps": generation * 1000 * members,
                        "episodes": generation * 9,
                        "fitness": fitness,
                        "score": fitness - 12,
                        "steps_per_second": 800.0 + 20 * place,
                        "losses": {"loss": 1 / generation + 0.01 * place},
                        "hyperparameters": {"lr": 0.001 * (1 + place / 2), "batch_size": 64},
                    },
                }
            )
    return records


class Canned:
    """The state of the small Arena; tests change it while it answers.

    Attributes:
        requests: Method and path of every request, in order.
        down: Answer nothing but 503.
        broken: Answer 500 to whatever is asked of data.
        hanging: Answer nothing of that at all.
        delay: Seconds before any answer.
        waiting: Requests that wait for that long now.
        token: What requests must carry.
    """

    def __init__(self) -> None:
        self.token = TOKEN
        self.accepts: Callable[[str], bool] = lambda told: False
        self.down = False
        self.requests: list[tuple[str, str]] = []
        self.bodies: list[dict[str, Any]] = []
        self.features: dict[str, Any] = {
            name: {"path": f"{PREFIX}/x"}
            for name in (
                *("live_metrics", "logs", "play", "machine"),
                *("experiment_delete", "experiment_details"),
            )
        }
        self.datasets: list[dict[str, Any]] | None = None
        self.dataset: dict[str, Any] | None = None
        self.tiers = dict(TIERS)
        self.broken = self.hanging = False
        self.delay = 0.0
        self.waiting = 0
        self.defaults: dict[str, Any] | None = None
        self.projects = [
            {"name": "merge-ppo", "type": "simulation", "description": "Merging traffic"},
            {"name": "scratch", "type": "simulation", "description": ""},
        ]
        self.environments: dict[str, dict[str, dict[str, bool]]] = {
            "grid": {"v1": {"validated": True, "profiled": True}},
            "merge": {
                "v1": {"validated": True, "profiled": False},
                "v2": {"validated": False, "profiled": False},
            },
        }
        self.records = metrics(12)
        self.records_by_run: dict[str, list[dict[str, Any]]] = {}
        self.manifests: dict[str, dict[str, Any]] = {}
        self.log_lines = [f"generation {at} done" for at in range(1, 13)] + ["WARNING: slow step"]
        self.experiments = [
            self.experiment("grid-dqn", "running", 30, 12_000),
            self.experiment("grid-old", "completed", 7200, 50_000),
            self.experiment("merge-bad", "failed", 9000, 2_000, error="reset() raised KeyError."),
        ]
        self.deployments = [
            {
                "name": "grid-old",
                "url": "http://127.0.0.1:9",
                "status": "running",
                "experiment_name": "grid-old",
                "project_name": "merge-ppo",
                "checkpoint": "step_50000",
                "algorithm": "DQN",
                "environment": "grid",
                "created_at": iso(1800),
                "error": None,
            }
        ]
        self.checkpoints = [
            {
                "name": f"step_{steps}",
                "steps": steps,
                "generation": steps // 1000,
                "member": 2,
                "evaluation_score": steps / 100,
                "training_score": steps / 110,
                "size_mb": 0.21,
            }
            for steps in (4_000, 8_000, 12_000)
        ]
        self.commands: list[dict[str, Any]] = []

    @staticmethod
    def experiment(
        name: str, state: str, ago: float, steps: int, error: str | None = None
    ) -> dict[str, Any]:
        """Return the row of an experiment."""
        history = [180 * (1 - math.exp(-at / 8)) for at in range(1, 13)]
        return {
            "name": name,
            "id": len(name),
            "project": "merge-ppo",
            "state": state,
            "algorithm": "DQN",
            "environment": "grid",
            "environment_version": "v1",
            "resource_id": "local",
            "num_nodes": 1,
            "pop_size": 4,
            "max_steps": 50_000,
            "target_score": 200.0,
            "generation": steps // 1000,
            "steps": steps,
            "total_steps": steps * 4,
            "best_fitness": history[-1],
            "mean_fitness": history[-2],
            "steps_per_second": 3300.0,
            "fitness_history": history,
            "created_at": iso(ago),
            "started_at": iso(ago),
            "ended_at": None,
            "error": error,
            "warnings": [],
            "last_seq": 48,
        }

    def row(self, name: str) -> dict[str, Any] | None:
        """Return an experiment by its name."""
        return next((row for row in self.experiments if row["name"] == name), None)

    def records_of(self, name: str | None) -> list[dict[str, Any]]:
        """Return the records of a run; most have the same."""
        return self.records_by_run.get(name or "", self.records)

    # Answers -------------------------------------------------------------------------------------

    def answer(self, method: str, path: str, request: Request, body: Any) -> Any:
        """Return what JSON a request gets, or None for 404."""
        query = request.query_params
        name = query.get("experiment_name", "")
        answers: dict[str, Any] = {
            "GET /api/users/current": {"first_name": "Ada", "last_name": "L", "email": "a@b.c"},
            "GET /api/users/credits": {"credits": 120.5},
            "GET /capabilities": {
                "ok": True,
                "data": {"schemaVersion": 1, "features": self.features},
            },
            "GET /projects": self.projects,
            "GET /environments": self.environments,
            "GET /datasets": self.datasets,
            "GET /datasets/details": self.dataset,
            "GET /resources/list": {"tiers": self.tiers},
            "GET /experiments/list": [
                row for row in self.experiments if row["project"] == query.get("project")
            ],
            "GET /experiments/jobs/checkpoints": self.checkpoints,
            "GET /inference/deployments/list": self.deployments,
            "GET /machine": MACHINE,
            "GET /activity": ACTIVITY,
        }
        key = f"{method} {path}"
        if key in answers:
            return answers[key]
        if key == "GET /experiments/run-spec/default":
            return None if self.defaults is None else self.defaults
        if key == "GET /experiments/one":
            row = self.row(name)
            return None if row is None else {**row, "manifest": self.manifests.get(name, MANIFEST)}
        if key == "GET /experiments/records":
            after = int(query.get("after") or 0)
            records = self.records_of(name)
            return {
                "records": [record for record in records if record["seq"] > after],
                "last_seq": len(records),
                "state": "running",
            }
        if key == "GET /experiments/logs":
            after, lines = int(query.get("after") or 0), self.log_lines
            return {"lines": lines[after:], "next": len(lines), "ended": False}
        if key == "GET /environments/details":
            return {**DETAILS, "name": query.get("name"), "version": query.get("version")}
        return self.change(key, body)

    def change(self, key: str, body: Any) -> Any:
        """Do what a request asks for."""
        body = body or {}
        self.bodies.append({"key": key, **body})
        if key == "POST /projects/create":
            self.projects.append({"type": "simulation", **body})
            return body
        if key == "DELETE /projects/delete":
            self.projects = [row for row in self.projects if row["name"] != body["name"]]
            return {}
        if key == "DELETE /environments/delete":
            if body.get("version"):
                self.environments[body["name"]].pop(body["version"])
            else:
                self.environments.pop(body["name"])
            return {}
        if key == "DELETE /experiments/delete":
            row = self.row(body["experiment_name"])
            if row is not None:
                self.experiments.remove(row)
            return None if row is None else {"name": row["name"], "deleted": True}
        if key in ("POST /experiments/jobs/stop", "POST /experiments/jobs/resume"):
            row = self.row(body["experiment_name"])
            if row is None:
                return None
            row["state"] = "stopped" if key.endswith("stop") else "running"
            row["max_steps"] = body.get("max_steps") or row["max_steps"]
            return row
        if key == "POST /inference/deploy":
            row = {**self.deployments[0], "name": body["experiment_name"]}
            row["checkpoint"] = body.get("checkpoint") or "step_12000"
            self.deployments.append(row)
            return row
        if key == "POST /inference/stop":
            row = next(row for row in self.deployments if row["name"] == body["name"])
            row["status"] = "stopped"
            return row
        return None

    async def http(self, request: Request) -> Response:
        """Answer any request."""
        path = request.url.path.removeprefix(PREFIX)
        self.requests.append((request.method, path))
        self.waiting += 1
        await asyncio.sleep(self.delay)
        self.waiting -= 1
        if self.down:
            return JSONResponse({"message": "Down for a moment."}, 503)
        told = request.headers.get("authorization", "").removeprefix("Bearer ")
        if told != self.token and not self.accepts(told):
            return JSONResponse({"message": "This token is not known."}, 401)
        if path in ("/environments/create-and-validate", "/environments/validate"):
            return StreamingResponse(self.validation(), media_type="application/x-ndjson")
        # Who one is and what the service can do is told even so.
        if path not in ("/capabilities", "/api/users/current", "/api/users/credits"):
            if self.hanging:
                await asyncio.sleep(60)
            if self.broken:
                return JSONResponse({"message": "It is broken."}, 500)
        kind = request.headers.get("content-type", "")
        body = await request.json() if kind.startswith("application/json") else None
        if path == "/experiments/jobs/submit":
            return StreamingResponse(self.submission(body), media_type="application/x-ndjson")
        answer = self.answer(request.method, path, request, body)
        if answer is None:
            return JSONResponse({"message": f"There is no {path} here."}, 404)
        return JSONResponse(answer)

    async def validation(self) -> AsyncIterator[str]:
        """Stream a validation with one failed check."""
        yield event("status", "validation", "running", "Installed nothing", {})
        for check, result in (
            ("Reset", {"success": True, "warnings": ["info holds a clock reading: 'time'"]}),
            ("Step", {"success": False, "error": "obs is float64, float32 was declared"}),
        ):
            yield event("check", "validation", "running", "", {"check": check, "result": result})
            await asyncio.sleep(0.01)
        yield event("status", "validation", "completed", "Not valid.", {"validated": False})

    async def submission(self, body: dict[str, Any]) -> AsyncIterator[str]:
        """Stream the acceptance of a run."""
        self.bodies.append({"key": "POST /experiments/jobs/submit", **body})
        name = body.get("experiment_name") or "run-1"
        self.experiments.insert(0, self.experiment(name, "running", 1, 0))
        yield event("warning", "submission", "running", "It runs on this machine.", {})
        yield event(
            "status",
            "submission",
            "completed",
            "Accepted.",
            {"accepted": True, "experiment_id": 9, "experiment_name": name},
        )

    async def live(self, socket: WebSocket) -> None:
        """Push the records of a run, and stay open."""
        await socket.accept()
        after = int(socket.query_params.get("after") or 0)
        name = socket.query_params.get("experiment_name")
        last = len(self.records_of(name))
        await socket.send_json({"kind": "hello", "last_seq": last, "state": "running"})
        sent = after
        with contextlib.suppress(WebSocketDisconnect, asyncio.CancelledError):
            while True:
                records = self.records_of(name)
                for record in records[sent:]:
                    await socket.send_json(record)
                sent = len(records)
                await asyncio.sleep(0.05)

    async def play(self, socket: WebSocket) -> None:
        """Play two episodes, then whatever is asked for."""
        if self.hanging:
            await asyncio.sleep(60)
        told = socket.headers.get("authorization", "").removeprefix("Bearer ")
        if told != self.token and not self.accepts(told):
            await socket.send_denial_response(
                JSONResponse({"message": "This token is not known."}, 401)
            )
            return
        await socket.accept()
        if self.broken:
            await socket.send_json({"kind": "error", "message": "It is broken."})
            await socket.close()
            return
        episodes = int(socket.query_params.get("episodes") or 0)
        await socket.send_json({"kind": "ready", "environment": "grid", "render": episodes == 0})
        with contextlib.suppress(WebSocketDisconnect, asyncio.CancelledError):
            for episode in range(1, (episodes or 2) + 1):
                for policy in ("agent", "random") if episodes else ("agent",):
                    value = 10.0 + episode if policy == "agent" else 1.0
                    await socket.send_json(
                        {
                            "kind": "episode",
                            "episode": episode,
                            "policy": policy,
                            "return": value,
                            "length": 7,
                        }
                    )
            if episodes:
                agent = {"episodes": episodes, "mean": 12.0, "std": 1.0, "returns": []}
                await socket.send_json({"kind": "summary", "agent": agent, "random": agent})
                await socket.close()
                return
            await socket.send_json(STEP)
            while True:
                self.commands.append(json.loads(await socket.receive_text()))


def event(kind: str, stage: str, status: str, message: str, detail: dict[str, Any]) -> str:
    """Return one line of an NDJSON stream."""
    line = {"kind": kind, "stage": stage, "status": status, "message": message, "detail": detail}
    return json.dumps(line) + "\n"


def frame() -> str:
    """Return a small picture as base64 PNG."""
    from PIL import Image

    image = Image.new("RGB", (24, 16), (20, 30, 60))
    for x in range(24):
        image.putpixel((x, x * 15 // 23), (240, 180, 60))
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return base64.b64encode(buffer.getvalue()).decode()


STEP = {
    "kind": "step",
    "episode": 3,
    "step": 12,
    "policy": "agent",
    "observation": [0.12, -0.5, 0.01, 0.9],
    "action": 1,
    "reward": 1.0,
    "return": 12.0,
    "terminated": False,
    "truncated": False,
    "latency_ms": 3.4,
    "frame": frame(),
}
TIERS = {
    "local": {
        "name": "This machine",
        "num_gpus": 0,
        "gpu_type": None,
        "num_cpus": 2,
        "ram_gb": 7.7,
        "price_per_node_hour": 0.0,
    },
    "arena-medium": {
        "name": "Medium",
        "num_gpus": 1,
        "gpu_type": "nvidia-l4",
        "num_cpus": 15,
        "ram_gb": 55.0,
        "price_per_node_hour": 2.41,
    },
}
MACHINE = {
    "cpu_percent": 62.0,
    "cpus": 2,
    "memory_percent": 48.0,
    "memory_total_gb": 7.7,
    "memory_available_gb": 4.0,
    "gpus": [],
    "jobs": [{"id": "j1", "kind": "train", "name": "grid-dqn", "pid": 7, "state": "running"}],
}
ACTIVITY = [
    {
        "time": iso(30),
        "level": "info",
        "subject": "experiment",
        "name": "grid-dqn",
        "message": "Running.",
    },
    {
        "time": iso(9000),
        "level": "error",
        "subject": "experiment",
        "name": "merge-bad",
        "message": "Failed: reset() raised KeyError. [bold]\x1b[31mnot red[/]",
    },
]
DETAILS = {
    "validated": True,
    "profiled": True,
    "entrypoint": "grid.env:GridEnv",
    "entrypoints": ["grid.env:GridEnv"],
    "checks": [
        {"check": "Reset", "success": True, "warnings": [], "error": None},
        {"check": "Step", "success": True, "warnings": ["slow"], "error": None},
    ],
    "spaces": {
        "observation": {"type": "Box", "shape": [4], "dtype": "float32"},
        "action": {"type": "Discrete", "n": 2},
    },
    "profile": {
        "avg_cpu_per_env": 41.0,
        "peak_cpu_per_env": 88.0,
        "memory_per_env_gb": 0.06,
        "steps_per_second": 15_400.0,
        "vectorization": "sync",
    },
    "requirements": "",
    "env_config": {"size": 5},
    "description": None,
    "created_at": iso(7200),
    "validated_at": iso(7100),
}
MANIFEST = {
    "algorithm": {"name": "DQN"},
    "environment": {"name": "grid", "version": "v1", "num_envs": 8},
    "training": {"max_steps": 50_000, "pop_size": 4},
}


DATASET = {
    "name": "sums",
    "category": "sft",
    "num_rows": 30,
    "size_mb": 0.4,
    "is_ready": True,
    "column_mapping": {"prompt": "question", "target": "answer"},
    "columns": [{"name": "question", "type": "string"}, {"name": "answer", "type": "integer"}],
    "preview": [{"question": f"what is {n} + 1?", "answer": n + 1} for n in range(5)],
}
"""A dataset with its details; the list of datasets knows less of it."""


@contextlib.asynccontextmanager
async def serve(canned: Canned, port: int = 0) -> AsyncIterator[str]:
    """Serve on a port of this machine, a free one if none is named; yields the base URL."""
    routes: list[BaseRoute] = [
        WebSocketRoute(f"{PREFIX}/experiments/live", canned.live),
        WebSocketRoute(f"{PREFIX}/play", canned.play),
        Route("/{path:path}", canned.http, methods=["GET", "POST", "DELETE"]),
    ]
    config = uvicorn.Config(
        Starlette(routes=routes), host="127.0.0.1", port=port, log_level="error", lifespan="off"
    )
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined,method-assign]
    task = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        server.force_exit = True
        await task
