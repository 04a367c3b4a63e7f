"""A proxy on this machine: it tunnels `CONNECT` to wherever it is told, and remembers who asked."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Tunnel:
    """Carries every tunnel that it is asked for to one port of this machine.

    Args:
        port: Where tunnels lead, whatever host was asked for.
    """

    def __init__(self, port: int) -> None:
        self.asked: list[str] = []
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def run(self) -> None:
        """Serve until it is closed."""
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def close(self) -> None:
        """Listen no more."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self, near: socket.socket) -> None:
        with suppress(OSError), near:
            head = b""
            while b"\r\n\r\n" not in head:
                head += near.recv(1 << 16)
            self.asked.append(head.split(b"\r\n", 1)[0].decode())
            with socket.create_connection(("127.0.0.1", self._port)) as far:
                near.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                threading.Thread(target=_carry, args=(far, near), daemon=True).start()
                _carry(near, far)


def _carry(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(1 << 16):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)


@contextmanager
def tunnel_to(port: int) -> Iterator[Tunnel]:
    """Run a proxy whose tunnels all lead to one port of this machine."""
    tunnel = Tunnel(port)
    thread = threading.Thread(target=tunnel.run, daemon=True)
    thread.start()
    try:
        yield tunnel
    finally:
        tunnel.close()
        thread.join()
