"""The published client as an oracle: one process that judges many manifests."""

from __future__ import annotations

import json
import math
import subprocess
from types import TracebackType
from typing import Any, Self

JUDGE = """\
import json, sys, warnings
warnings.simplefilter("ignore")
from agilerl.arena.models.verdict import verdict
for line in sys.stdin:
    try:
        answer = verdict(json.loads(line))
    except Exception as error:
        answer = {"ok": False, "errors": [{"path": "", "message": repr(error)[:200]}]}
    print(json.dumps(answer), flush=True)
"""


class Oracle:
    """Asks the published contract for its verdict.

    Args:
        python: The interpreter that has the published client.
    """

    def __init__(self, python: str) -> None:
        self._python = python

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [self._python, "-u", "-c", JUDGE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def verdict(self, document: Any) -> dict[str, Any]:
        """Return `ok`, and `payload` or `errors`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(document) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def schema(self) -> dict[str, Any]:
        """Return the published JSON Schema."""
        arena = self._python.rsplit("/", 1)[0] + "/arena"
        printed = subprocess.run(
            [arena, "manifest", "schema"], check=True, capture_output=True, text=True, timeout=60
        )
        schema: dict[str, Any] = json.loads(printed.stdout)
        return schema


def disagreements(ours: Any, theirs: Any, path: str = "") -> list[str]:
    """Return where two payloads differ; numbers must be equal in kind too."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        found = []
        for key in sorted({*ours, *theirs}):
            if key in ours and key in theirs:
                found += disagreements(ours[key], theirs[key], f"{path}.{key}")
            else:
                found.append(f"{path}.{key} only in {'ours' if key in ours else 'theirs'}")
        return found
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return [
            line
            for index, pair in enumerate(zip(ours, theirs, strict=True))
            for line in disagreements(*pair, f"{path}.{index}")
        ]
    both_nan = isinstance(ours, float) and isinstance(theirs, float) and math.isnan(ours)
    if (type(ours) is type(theirs) and ours == theirs) or (both_nan and math.isnan(theirs)):
        return []
    return [f"{path}: ours {ours!r}, theirs {theirs!r}"]
