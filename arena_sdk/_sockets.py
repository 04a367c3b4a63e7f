"""What both flavours of the client know of WebSockets: why one was refused or closed."""

from __future__ import annotations

from websockets.exceptions import ConnectionClosed, InvalidStatus

from arena_sdk.errors import ArenaAPIError, ArenaError, from_response

LONGEST_URL = 8_000
"""Characters; servers read a little more, and some then never answer the handshake."""

STATUSES = {4401: 401, 4403: 403, 4404: 404, 4422: 422}
"""Close codes of the embedded Arena, and the HTTP statuses that they stand for."""


def check_length(kind: type[ArenaAPIError], url: str) -> None:
    """Refuse an address that no server reads, as one with a name of 10,000 characters.

    Raises:
        ArenaAPIError: Of the class `kind`, with the status of such an address, 414.
    """
    if len(url) > LONGEST_URL:
        raise kind("A name in this request is far too long.", status_code=414)


def refusal(kind: type[ArenaAPIError], error: InvalidStatus) -> ArenaError:
    """Return the error for a handshake that was answered with an HTTP error."""
    response = error.response
    return from_response(kind, response.status_code, bytes(response.body or b""))


def closed_status(closed: ConnectionClosed) -> int:
    """Return the HTTP status that a close code stands for; 0 for a connection that broke."""
    return STATUSES.get(closed.rcvd.code, 0) if closed.rcvd else 0
