"""Makes `arena_sdk._sync` from `arena_sdk._async`: `python -m arena_sdk._unasync [--check]`.

Needs the extra `dev`. A test proves that what is committed is what this makes.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE = Path(__file__).parent
HEADER = "# Made by `python -m arena_sdk._unasync` from {source}; change that one.\n"
EXAMPLE = re.compile(r"^ *(>>>|\.\.\.) .*$", re.MULTILINE)
WRAPPED_AWAIT = re.compile(r"\(await (\w+\.\w+\([^()]*\))\)")
NAMES = {
    "_async": "_sync",
    "aclose": "close",
    "aiter_bytes": "iter_bytes",
    "aiter_text": "iter_text",
    "aread": "read",
    "AsyncGenerator": "Generator",
    "aclosing": "closing",
    "async_call": "blocking_call",
    "async_shielded": "blocking_shielded",
    "async_sleep": "blocking_sleep",
    "asynccontextmanager": "contextmanager",
    "asyncio": "sync",  # websockets.asyncio.client has its twin in websockets.sync.client
    "enter_async_context": "enter_context",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "__aiter__": "__iter__",
    "__anext__": "__next__",
    "StopAsyncIteration": "StopIteration",
}


def blocking_name(name: str) -> str:
    """Return the blocking twin of a name: from the table, or without the prefix `Async`."""
    if name in NAMES:
        return NAMES[name]
    bare = name.removeprefix("Async")
    return bare if bare != name and bare[:1].isupper() else name


def _blocking_example(line: re.Match[str]) -> str:
    """Return a line of a docstring's example as it is for the blocking client."""
    bare = WRAPPED_AWAIT.sub(r"\1", line[0])
    return re.sub(r"\b(await|async) ", "", bare).replace("Async", "")


def generate(target: Path) -> list[Path]:
    """Write the blocking client to a folder; return its files."""
    import unasync

    class Rule(unasync.Rule):  # type: ignore[misc]
        """The rule of unasync with our own names."""

        def _unasync_name(self, name: str) -> str:
            return blocking_name(name)

    source = PACKAGE / "_async"
    rule = Rule(fromdir=f"{source}/", todir=f"{target}/")
    made = []
    for path in sorted(source.glob("*.py")):
        rule._unasync_file(str(path))
        copy = target / path.name
        text = EXAMPLE.sub(_blocking_example, copy.read_text(encoding="utf-8"))
        header = HEADER.format(source=f"arena_sdk/_async/{path.name}")
        copy.write_text(header + text, encoding="utf-8")
        made.append(copy)
    config = str(PACKAGE.parent / "pyproject.toml")
    for command in (["check", "--fix", "-q", "--select", "I"], ["format", "-q"]):
        subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--config", config, *map(str, made)],
            check=True,
        )
    return made


def differences() -> list[str]:
    """Return the names of committed files that are not what would be made."""
    with tempfile.TemporaryDirectory() as folder:
        made = generate(Path(folder))
        wanted = {path.name: path.read_text(encoding="utf-8") for path in made}
    found = {
        path.name: path.read_text(encoding="utf-8") for path in (PACKAGE / "_sync").glob("*.py")
    }
    return sorted(
        name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name)
    )


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        stale = differences()
        if stale:
            raise SystemExit(f"Out of date in arena_sdk/_sync: {', '.join(stale)}.")
    else:
        generate(PACKAGE / "_sync")
