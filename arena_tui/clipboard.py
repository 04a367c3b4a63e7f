"""Copying out of the terminal, also over ssh and from within tmux or screen."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.app import App

LIMIT = 74_994
"""Bytes of text sent by OSC 52 at most; terminals drop what is longer, in silence."""

_NATIVE: tuple[tuple[str, ...], ...] = (
    ("wl-copy",),
    ("xclip", "-selection", "clipboard"),
    ("xsel", "--clipboard", "--input"),
    ("pbcopy",),
    ("clip.exe",),
)
_SCREEN_CHUNK = 768


def osc52(text: str, environ: Mapping[str, str] | None = None) -> str:
    """Return the escape sequence that puts a text into the clipboard of the terminal.

    Within tmux and screen it is wrapped so that they pass it on to the terminal outside.

    Args:
        text: What to copy, at most `LIMIT` bytes as UTF-8.
        environ: Environment variables; the process's own when left out.
    """
    environ = os.environ if environ is None else environ
    sequence = f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\x07"
    if environ.get("TMUX"):
        return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    if environ.get("STY"):
        # screen takes only short strings, so the sequence goes in pieces.
        pieces = [
            sequence[at : at + _SCREEN_CHUNK] for at in range(0, len(sequence), _SCREEN_CHUNK)
        ]
        return "".join(f"\x1bP{piece}\x1b\\" for piece in pieces)
    return sequence


def native_command(environ: Mapping[str, str] | None = None) -> tuple[str, ...] | None:
    """Return the command that fills this machine's clipboard, or None.

    Over ssh there is none: the clipboard of the other end is not the user's.
    """
    environ = os.environ if environ is None else environ
    if environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"):
        return None
    for command in _NATIVE:
        if command[0] == "wl-copy" and not environ.get("WAYLAND_DISPLAY"):
            continue
        if command[0] in ("xclip", "xsel") and not environ.get("DISPLAY"):
            continue
        if shutil.which(command[0], path=environ.get("PATH")):
            return command
    return None


def _copy_natively(text: str, command: tuple[str, ...]) -> bool:
    try:
        done = subprocess.run(
            command,
            input=text.encode(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=2,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def copy(app: App[object], text: str) -> str:
    """Copy a text by every way there is; returns a sentence that says what was done.

    Args:
        app: The running app, through whose driver the terminal is written to.
        text: What to copy.
    """
    size = len(text.encode())
    command = native_command()
    done = command is not None and _copy_natively(text, command)
    if size <= LIMIT:
        driver = app._driver
        if driver is not None and sys.__stdout__ is not None:
            driver.write(osc52(text))
        app._clipboard = text
        return f"Copied {size:,} bytes."
    if done:
        return f"Copied {size:,} bytes."
    return f"Not copied: {size:,} bytes are more than terminals take ({LIMIT:,})."
