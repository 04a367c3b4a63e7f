"""A faulty service on a raw socket: it sends bytes as it is told, cuts, resets or hangs."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

RESET = "reset"
CLOSE = "close"
HANG = "hang"
Act = bytes | str
"""Bytes to send, or what to do instead."""


@dataclass(frozen=True)
class Asked:
    """A request as far as it was read."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class FaultyService:
    """Answers each request by the next script, the last one for all further requests.

    Args:
        scripts: Acts for each request in turn.
        body_limit: Bytes of a request's body after which its reading stops; all when None.
    """

    def __init__(self, scripts: Sequence[Sequence[Act]], body_limit: int | None = None) -> None:
        self.asked: list[Asked] = []
        self._scripts = list(scripts)
        self._body_limit = body_limit
        self._closing = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def run(self) -> None:
        """Serve until it is closed."""
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def close(self) -> None:
        """End hanging connections and listen no more."""
        self._closing.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            held = b""
            while True:
                asked, held = self._read(connection, held)
                if asked is None:
                    return
                self.asked.append(asked)
                script = self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0]
                if not self._act(connection, script):
                    return

    def _read(self, connection: socket.socket, held: bytes) -> tuple[Asked | None, bytes]:
        while b"\r\n\r\n" not in held:
            piece = connection.recv(1 << 16)
            if not piece:
                return None, b""
            held += piece
        head, _, rest = held.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {key.lower(): value for key, _, value in (line.partition(": ") for line in lines)}
        chunked = headers.get("transfer-encoding") == "chunked"
        length = int(headers.get("content-length", 0))
        while len(rest) < length or (chunked and not rest.endswith(b"0\r\n\r\n")):
            if self._body_limit is not None and len(rest) >= self._body_limit:
                break
            piece = connection.recv(1 << 16)
            if not piece:
                break
            rest += piece
        method, path, _ = first.split(" ")
        return Asked(method, path, headers, rest if chunked else rest[:length]), rest[length:]

    def _act(self, connection: socket.socket, script: Sequence[Act]) -> bool:
        """Carry a script out; tell whether the connection goes on."""
        for act in script:
            if isinstance(act, bytes):
                connection.sendall(act)
            elif act == HANG:
                self._closing.wait(30)
                return False
            else:
                if act == RESET:  # SO_LINGER of 0 s sends RST instead of FIN
                    linger = struct.pack("ii", 1, 0)
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                return False
        return True


@contextmanager
def faulty(*scripts: Sequence[Act], body_limit: int | None = None) -> Iterator[FaultyService]:
    """Run a faulty service."""
    service = FaultyService(scripts, body_limit)
    thread = threading.Thread(target=service.run, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        service.close()
        thread.join()


def answer(
    status: int,
    body: bytes,
    *headers: str,
    kind: str = "application/json",
    length: int | None = None,
) -> bytes:
    """Return an HTTP answer; `length` is what it says of its body when that is not true."""
    lines = [
        f"HTTP/1.1 {status} Said",
        f"content-type: {kind}",
        f"content-length: {len(body) if length is None else length}",
        *headers,
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


def chunked(body: bytes, kind: str = "application/x-ndjson") -> tuple[bytes, bytes, bytes]:
    """Return head, body and end of an answer with a chunk for each byte, to be cut anywhere."""
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n"
    return head.encode(), b"".join(b"1\r\n%c\r\n" % byte for byte in body), b"0\r\n\r\n"
