"""What OAuth's device login (RFC 8628) and its tokens are, without any network.

Getting and renewing tokens belongs to `_async/identity.py` and `_async/keeper.py`.
"""

from __future__ import annotations

import base64
import json
import math
import os
import sys
import time
from dataclasses import dataclass, field
from typing import Any

from arena_sdk.errors import ArenaAuthError

DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
SCOPE = "openid profile email"
REFRESH_MARGIN = 60.0
"""Seconds before its end at which an access token is renewed."""
DEFAULT_INTERVAL = 5.0
SLOW_DOWN = 5.0
"""Seconds by which `slow_down` makes the wait between two polls longer (RFC 8628, section 3.5)."""
LONGEST_INTERVAL = 60.0


def claims(token: str) -> dict[str, Any]:
    """Read the claims of a JWT, without verifying it; an opaque token has none."""
    parts = token.split(".")
    if len(parts) != 3:
        return {}
    try:
        raw = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def time_claim(token: str, name: str) -> float | None:
    """Return a claim that is a time, in seconds since 1970, or None."""
    value = claims(token).get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def is_due(access_token: str, skew: float = 0.0) -> bool:
    """Tell whether an access token ends so soon that it should be renewed before it is used.

    Args:
        access_token: One that does not say when it ends is never due.
        skew: Seconds that this machine's clock is ahead of the identity server's.
    """
    end = time_claim(access_token, "exp")
    return end is not None and end - (time.time() - skew) <= REFRESH_MARGIN


def has_ended(access_token: str, skew: float = 0.0) -> bool:
    """Tell whether an access token is past its end."""
    end = time_claim(access_token, "exp")
    return end is not None and end <= time.time() - skew


def skew_of(access_token: str) -> float:
    """Return how many seconds this machine's clock is ahead, by a token that was just issued."""
    issued = time_claim(access_token, "iat")
    return 0.0 if issued is None else time.time() - issued


@dataclass(frozen=True)
class DeviceCode:
    """What a person does to log in: open the address and enter the code.

    Attributes:
        verification_uri: Where to go.
        verification_uri_complete: The same with the code in it, where the server gives it.
        user_code: What to enter.
        expires_in: Seconds that this is good for.
        interval: Seconds between two polls.
        device_code: What is polled with; a secret.
    """

    verification_uri: str
    user_code: str
    expires_in: float
    interval: float
    device_code: str = field(repr=False)
    verification_uri_complete: str | None = None

    @classmethod
    def read(cls, answer: dict[str, Any], server: str) -> DeviceCode:
        """Read the identity server's answer.

        Raises:
            ArenaAuthError: Something that is needed is missing.
        """
        texts = ("device_code", "user_code", "verification_uri")
        missing = [key for key in texts if not _text(answer.get(key))]
        if missing:
            raise ArenaAuthError(
                f"The answer of {server} to the login has no {' and no '.join(missing)}.",
                hint_python="Check keycloak_url, realm and client_id.",
                hint_cli="Check --keycloak-url, --realm and --client-id.",
            )
        return cls(
            answer["verification_uri"],
            answer["user_code"],
            _seconds(answer.get("expires_in"), math.inf),
            min(_seconds(answer.get("interval"), DEFAULT_INTERVAL), LONGEST_INTERVAL),
            answer["device_code"],
            _text(answer.get("verification_uri_complete")),
        )

    @property
    def address(self) -> str:
        """The address to open: the one with the code in it, where there is one."""
        return self.verification_uri_complete or self.verification_uri

    def instructions(self) -> str:
        """Say what to do, in a few lines of text; harmless on a terminal."""
        from arena_sdk.text import safe_text

        lines = [
            "To log in, open this address in any browser, on this or another machine:",
            f"  {safe_text(self.address)}",
            f"and check or enter the code  {safe_text(self.user_code)}",
        ]
        if self.verification_uri_complete:
            lines.append(f"(without the code in it: {safe_text(self.verification_uri)})")
        return "\n".join(lines)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _seconds(value: Any, otherwise: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        return otherwise
    return float(value)


def print_instructions(code: DeviceCode) -> None:
    """Write what to do to standard error."""
    print(code.instructions(), file=sys.stderr, flush=True)


def may_open_browser() -> bool:
    """Tell whether a browser that this process opens would be seen by whoever logs in.

    Over ssh, or without a display, it would not be; or worse, it would take the terminal.
    """
    if any(os.environ.get(name) for name in ("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY")):
        return False
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def open_browser(address: str) -> bool:
    """Try to show an address in a browser; tell whether that was possible."""
    import webbrowser

    if not address.startswith(("https://", "http://")):
        return False  # whatever else it is, it is no page to log in on
    try:
        return webbrowser.open(address)
    except (OSError, webbrowser.Error):
        return False
