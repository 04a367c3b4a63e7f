"""A source of 2 GB is packed and sent in bounded memory."""

from __future__ import annotations

import random
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

UPLOAD = """
import resource, sys
from pathlib import Path
from arena_sdk import ArenaClient

told = []
with ArenaClient("a-key", base_url=sys.argv[1]) as client:
    answer = client.validate_environment(
        name="big", source=sys.argv[2], on_progress=lambda done, total: told.append((done, total))
    )
assert answer == {"validated": True}, answer
assert told[-1][0] == told[-1][1] > 100e6, told[-1]
assert [done for done, _ in told] == sorted(done for done, _ in told)
status = Path("/proc/self/status")
if status.exists():
    peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    print(int(peak.split()[1]) * 1024)
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""

ANSWER = (
    b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\nconnection: close\r\n\r\n"
    b'{"kind": "status", "status": "completed", "detail": {"validated": true}}\n'
)


def swallow(listener: socket.socket, arrived: list[int]) -> None:
    """Take one request to its last byte, keeping none of it, and answer."""
    with suppress(OSError), listener.accept()[0] as connection:
        held = b""
        while b"\r\n\r\n" not in held:
            held += connection.recv(1 << 16)
        head, _, rest = held.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        arrived.append(len(rest))
        while arrived[0] < length:
            arrived[0] += len(connection.recv(1 << 20))
        connection.sendall(ANSWER)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_two_gigabytes_go_in_a_hundred_megabytes_of_memory(tmp_path: Path) -> None:
    source = tmp_path / "big"
    source.mkdir()
    with (source / "zeros.bin").open("wb") as file:
        file.truncate(1_900_000_000)
    noise = random.Random(0)
    with (source / "noise.bin").open("wb") as file:  # does not get smaller when it is packed
        for _ in range(110):
            file.write(noise.randbytes(1_000_000))
    arrived: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=swallow, args=(listener, arrived), daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        done = subprocess.run(
            [sys.executable, "-c", UPLOAD, url, str(source)],
            capture_output=True,
            text=True,
            timeout=500,
        )
    assert done.returncode == 0, done.stderr
    assert arrived[0] > 100e6
    assert int(done.stdout) < 100e6
