"""A server that dies without a chance to clean up takes all its workers with it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from .conftest import alive, gone_within

LIMIT_SECONDS = 5.0

SERVER = textwrap.dedent(
    """
    import asyncio, json, sys
    from pathlib import Path
    from arena_sdk.local.jobs import JobSpec, Supervisor
    from arena_sdk.local.paths import DataPaths

    async def main(root, python, behaviours):
        paths = DataPaths(Path(root))
        paths.create()
        supervisor = Supervisor(paths)
        pids = []
        for behaviour in behaviours:
            payload = {"behaviour": behaviour, "then": "wait"}
            job = await supervisor.start(JobSpec("train", payload, python=python))
            message = await anext(aiter(job.messages()))
            pids += message.get("pids") or [message["pid"]]
        print(json.dumps(pids), flush=True)
        await asyncio.sleep(600)

    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
    """
)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_no_worker_outlives_the_server(
    tmp_path: Path, faulty_python: str, number: signal.Signals
) -> None:
    behaviours = ["obedient", "deaf", "has_children"]
    if sys.platform == "linux":  # only the kernel can end a process none of whose threads runs
        behaviours.append("stuck_in_c")
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(tmp_path / "data"), faulty_python, *behaviours],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    pids = json.loads(server.stdout.readline())
    assert len(alive(pids)) == len(behaviours) + 4
    server.send_signal(number)
    server.wait()
    server.stdout.close()
    assert gone_within(pids, LIMIT_SECONDS)
