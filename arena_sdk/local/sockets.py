"""Listening sockets that answer without delay."""

from __future__ import annotations

import socket


def listen(host: str, port: int) -> socket.socket:
    """Return a listening TCP socket.

    asyncio switches Nagle's algorithm off only on sockets that name their protocol, which those of
    `socket.create_server` do not; with it on, an answer of two small packets waits 40 ms for the
    other side's delayed acknowledgement. Accepted sockets inherit the option.

    Args:
        host: Address to bind to.
        port: TCP port; 0 takes a free one.

    Raises:
        OSError: The address cannot be used.
        OverflowError: The port is out of range.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=128)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
