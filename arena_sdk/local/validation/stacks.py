"""Stacks and exceptions of user code, told by its own files and lines."""

from __future__ import annotations

import re
import traceback
from pathlib import Path
from types import TracebackType

FRAME = re.compile(r'^\s+File "(?P<path>[^"]+)", line (?P<line>\d+) in (?P<name>.+)$')
OURS = str(Path(__file__).resolve().parents[2])


def read_stack(path: Path) -> list[str]:
    """Return the frames that `faulthandler` wrote last, innermost last, without ours."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    last = re.split(r"^(?:Current thread|Thread|Stack) .*$", text, flags=re.MULTILINE)[-1]
    frames = [match for line in last.splitlines() if (match := FRAME.match(line))]
    theirs = []
    for frame in frames:  # innermost first
        if frame["path"].startswith(OURS) or "arena_sdk/local" in frame["path"]:
            break
        theirs.append(f"{Path(frame['path']).name}:{frame['line']} in {frame['name']}")
    return theirs[::-1]


def raised_at(error: BaseException, source: Path | None) -> str:
    """Return where in the source tree an exception comes from, as `env.py:12`, or ""."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{_below(error.filename, source)}:{error.lineno}"
    frame = _deepest(error.__traceback__, source)
    return "" if frame is None else f"{_below(frame.filename, source)}:{frame.lineno}"


def _deepest(trace: TracebackType | None, source: Path | None) -> traceback.FrameSummary | None:
    if source is None:
        return None
    root = str(source.resolve())
    frames = [f for f in traceback.extract_tb(trace) if str(Path(f.filename)).startswith(root)]
    return frames[-1] if frames else None


def _below(filename: str, source: Path | None) -> str:
    path = Path(filename)
    if source is not None:
        try:
            return path.resolve().relative_to(source.resolve()).as_posix()
        except ValueError:
            pass
    return path.name
