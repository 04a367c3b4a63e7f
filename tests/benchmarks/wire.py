"""Measures the client on the wire against the published one, side by side in one run.

Run as `python tests/benchmarks/wire.py PYTHON`, where PYTHON is the interpreter of a virtual
environment that has `agilerl-arena` 1.29.0. Prints, for both clients and as a ratio: actions a
second for a small and a large observation from the same trivial server, arrays encoded and decoded
a second, and lines of a stream a second. Rounds alternate between the two, and each counts with
its best round. Exits 1 when a bound is missed.

Without pybase64 (extra `local`) the larger array spends most of its time in the base64 of the
standard library, as the published client's does.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import multiprocessing
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

ROUNDS = 5
ACTIONS, ARRAYS, LINES = 1500, 5000, 100_000
SMALL = np.linspace(-1, 1, 8, dtype=np.float32)
LARGE = np.arange(84 * 84 * 4, dtype=np.uint32).astype(np.uint8).reshape(84, 84, 4)
BOUNDS = {
    "actions a second, 8 floats": 1.4,
    "actions a second, 84×84×4 bytes": 1.4,
    "encode, 8 floats": None,
    "decode, 8 floats": None,
    "encode and decode, 8 floats": 3.0,
    "encode and decode, 84×84×4 bytes": 3.0,
    "lines of a stream": 1.0,
}


def answer(document: dict[str, Any]) -> bytes:
    """Return an HTTP answer."""
    body = json.dumps(document).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
    return head.encode() + b"\r\n\r\n" + body


class Trivial(asyncio.Protocol):
    """Answers every request with the same action, and does nothing else."""

    status = answer({"success": True, "deployment_id": "1", "instance_id": "2", "agent": {
        "algo": "PPO", "multi_agent": False, "llm": False, "recurrent": False, "supervised": False,
    }})  # fmt: skip

    def __init__(self, action: bytes) -> None:
        self._action = action
        self._held = bytearray()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        connection = transport.get_extra_info("socket")
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data: bytes) -> None:
        self._held += data
        while (end := self._held.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._held[:end]).lower()
            _, _, length = head.partition(b"content-length:")
            whole = end + 4 + int(length.split(b"\r\n")[0] or 0)
            if len(self._held) < whole:
                return
            del self._held[:whole]
            self._transport.write(self.status if head.startswith(b"get") else self._action)


def serve(port: Any) -> None:
    """Serve until the process is ended."""
    buffer = io.BytesIO()
    np.save(buffer, np.array([1]))
    action = answer({"action": base64.b64encode(buffer.getvalue()).decode(), "hidden_state": None})

    async def forever() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Trivial(action), "127.0.0.1", 0)
        port.value = server.sockets[0].getsockname()[1]
        await server.serve_forever()

    asyncio.run(forever())


def stream() -> list[bytes]:
    """Return the chunks of a long stream."""
    detail = {"package": "rich", "version": "14.3.3", "count": 5, "total": 5}
    event = {"kind": "status", "stage": "validation", "status": "running", "detail": detail}
    lines = [json.dumps({**event, "message": f"Installed {i}"}) for i in range(LINES)]
    lines.append(json.dumps({**event, "status": "completed", "message": "done"}))
    raw = "\n".join([*lines, ""]).encode()
    return [raw[start : start + 65536] for start in range(0, len(raw), 65536)]


def tools(which: str, url: str) -> tuple[Any, Callable[..., Any], Callable[..., Any], Any]:
    """Return an agent, what encodes, what decodes, and what reads a stream, of one client."""
    import httpx

    class Chunks(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            yield from chunks

    chunks = stream()

    def response() -> Any:
        request = httpx.Request("POST", url)
        return httpx.Response(
            200, headers={"content-type": "application/x-ndjson"}, stream=Chunks(), request=request
        )

    events: list[int] = [0]

    def count(event: Any) -> None:
        events[0] += 1

    if which == "published":
        from agilerl.arena.inference import Agent
        from agilerl.arena.stream import NDJsonStream

        agent = Agent(url, api_key="arena_pat_x")
        read = lambda: NDJsonStream(response(), handler=count).collect()  # noqa: E731
        return agent, Agent.serialize, Agent.deserialize, read
    from arena_sdk import Agent, serde
    from arena_sdk.errors import ArenaAPIError
    from arena_sdk.events import StreamReading

    def read_ours() -> Any:
        reading = StreamReading(ArenaAPIError)
        for chunk in response().iter_bytes():
            for event in reading.feed(chunk):
                count(event)
        return reading.result()

    agent = Agent(url, api_key="arena_pat_x")
    agent.status()
    encode = lambda value: serde.encode(value, batched=False)  # noqa: E731
    return agent, encode, lambda text: serde.decode(text, batched=False), read_ours


def per_second(work: Callable[[], Any], times: int) -> float:
    """Return how often a second `work` is done."""
    work()
    start = time.perf_counter()
    for _ in range(times):
        work()
    return times / (time.perf_counter() - start)


def measure(which: str, url: str) -> dict[str, float]:
    """Return one round's figures of one client."""
    agent, encode, decode, read = tools(which, url)
    small, large = encode(SMALL), encode(LARGE)
    start = time.perf_counter()
    read()
    lines = LINES / (time.perf_counter() - start)
    return {
        "actions a second, 8 floats": per_second(lambda: agent.get_action(SMALL), ACTIONS),
        "actions a second, 84×84×4 bytes": per_second(lambda: agent.get_action(LARGE), ACTIONS),
        "encode, 8 floats": per_second(lambda: encode(SMALL), ARRAYS),
        "decode, 8 floats": per_second(lambda: decode(small), ARRAYS),
        "encode and decode, 8 floats": per_second(lambda: decode(encode(SMALL)), ARRAYS),
        "encode and decode, 84×84×4 bytes": per_second(lambda: decode(encode(LARGE)), ARRAYS // 5),
        "lines of a stream": lines,
    } | {"large text": float(len(large))}


def main(published: str) -> int:
    """Print every figure; return the number of bounds that were missed."""
    port = multiprocessing.Value("i", 0)
    server = multiprocessing.Process(target=serve, args=(port,), daemon=True)
    server.start()
    while not port.value:
        time.sleep(0.01)
    url = f"http://127.0.0.1:{port.value}"
    pythons = {"published": published, "ours": sys.executable}
    best: dict[str, dict[str, float]] = {which: {} for which in pythons}
    for _ in range(ROUNDS):
        for which, python in pythons.items():
            command = [python, __file__, which, url]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            for name, value in json.loads(done.stdout.splitlines()[-1]).items():
                best[which][name] = max(value, best[which].get(name, 0.0))
    server.kill()
    missed = 0
    for name, bound in BOUNDS.items():
        ours, theirs = best["ours"][name], best["published"][name]
        verdict = "" if bound is None else f"  at least {bound}: {ours / theirs >= bound}"
        missed += bound is not None and ours / theirs < bound
        print(f"{name:34} {ours:12,.0f} {theirs:12,.0f}  {ours / theirs:5.2f}×{verdict}")
    return missed


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(measure(sys.argv[1], sys.argv[2])))
    elif len(sys.argv) == 2:
        sys.exit(1 if main(sys.argv[1]) else 0)
    else:
        sys.exit(__doc__)
