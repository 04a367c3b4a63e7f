"""Requirements of environments, in overlay virtual environments keyed by content.

An overlay holds what the training stack lacks and sees the rest through a `.pth` file. It is made
under a temporary name and renamed when it is whole; versions with the same requirements share it.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
import signal
import site
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

from arena_sdk.local.services.requirements import (
    InstallError,
    Pin,
    constraints,
    explain_failure,
    missing,
    parse_resolution,
    ranges,
    requirement_lines,
    to_install,
)

TIME_LIMIT = 900.0
READY = "overlay.json"

Tell = Callable[[str, dict[str, object] | None], None]
"""Takes a line of progress and the detail of a package."""


class Overlays:
    """The overlay environments of one data folder.

    Args:
        folder: Where they lie.
        time_limit: Seconds that resolving and installing may take together.
    """

    def __init__(self, folder: Path, *, time_limit: float = TIME_LIMIT) -> None:
        self._folder = folder
        self._time_limit = time_limit
        self._locks: dict[str, asyncio.Lock] = {}

    async def prepare(self, requirements: str, tell: Tell) -> str | None:
        """Make what is required available.

        Args:
            requirements: Text of a requirements.txt.
            tell: Told of the progress.

        Returns:
            The key of the overlay; None when the training stack has all of it already.

        Raises:
            InstallError: It could not be installed; nothing is kept.
        """
        lines = requirement_lines(requirements)
        wanting = await asyncio.to_thread(missing, lines)
        if not wanting:
            if lines:
                tell("The training stack has all that is required.", None)
            return None
        key = overlay_key(lines)
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock:
            if (self._folder / key / READY).exists():
                tell("The requirements are installed already.", None)
                return key
            return await self._make(key, lines, tell)

    def python(self, key: str | None) -> str | None:
        """Return the interpreter of an overlay; None for no overlay."""
        return None if key is None else str(_python_of(self._folder / key))

    def exists(self, key: str) -> bool:
        """Tell whether an overlay is there and whole."""
        return (self._folder / key / READY).exists()

    def remove(self, key: str) -> None:
        """Remove an overlay that nothing uses any more."""
        shutil.rmtree(self._folder / key, ignore_errors=True)

    def remove_leftovers(self) -> None:
        """Remove what an interrupted installation left behind."""
        for path in self._folder.glob(".tmp-*"):
            shutil.rmtree(path, ignore_errors=True)

    async def _make(self, key: str, lines: list[str], tell: Tell) -> str | None:
        aside = self._folder / f".tmp-{secrets.token_hex(8)}"
        aside.mkdir(parents=True)
        try:
            async with asyncio.timeout(self._time_limit):
                tell("Resolving the requirements", None)
                pins = await _resolve(aside, lines)
                wanted = to_install(pins, lines)
                tell(f"Resolved the requirements: {len(wanted)} of {len(pins)} to install", None)
                if not wanted:
                    return None
                await _install(aside, wanted, lines, tell)
        except TimeoutError:
            raise InstallError(
                f"Installing the requirements took longer than {self._time_limit:.0f} s and was"
                " ended.",
                "timeout",
            ) from None
        else:
            (aside / "venv" / READY).write_text(json.dumps([pin.line for pin in wanted]))
            if not self.exists(key):  # another process may have been first
                with contextlib.suppress(FileNotFoundError):
                    shutil.rmtree(self._folder / key)  # one that was never whole
                (aside / "venv").rename(self._folder / key)
            return key
        finally:
            await asyncio.to_thread(shutil.rmtree, aside, True)


def overlay_key(lines: list[str]) -> str:
    """Return the key of requirements: of their text, this Python and the training stack."""
    parts = [*sorted(lines), sys.version, sys.prefix, constraints()]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:40]


async def _resolve(folder: Path, lines: list[str]) -> list[Pin]:
    """Settle on versions: those of the stack where that can be, else within what it allows."""
    (folder / "requirements.txt").write_text("\n".join(lines) + "\n")
    for allowed in (constraints(), ranges()):
        (folder / "stack.txt").write_text(allowed)
        code, output = await _uv(
            folder,
            "pip",
            "compile",
            "requirements.txt",
            "--constraint=stack.txt",
            f"--python={sys.executable}",
            "--no-header",
            "--quiet",
            "--annotation-style=line",
            "--output-file=resolved.txt",
        )
        if not code:
            return parse_resolution((folder / "resolved.txt").read_text())
        failure = explain_failure(output, lines)
        if failure.reason != "incompatible":
            break
    raise failure


async def _install(folder: Path, wanted: list[Pin], lines: list[str], tell: Tell) -> None:
    code, output = await _uv(
        folder, "venv", "--quiet", "--no-project", f"--python={sys.executable}", "venv"
    )
    if code:
        raise explain_failure(output, lines)
    options = [line for line in lines if line.startswith("-")]
    text = "\n".join([*options, *(pin.line for pin in wanted)])
    (folder / "pins.txt").write_text(text + "\n")
    tell(f"Installing {', '.join(pin.name for pin in wanted[:8])}", None)
    code, output = await _uv(
        folder,
        "pip",
        "install",
        f"--python={_python_of(folder / 'venv')}",
        "--no-deps",
        "--requirement=pins.txt",
    )
    if code:
        raise explain_failure(output, lines)
    done = re.findall(r"^ \+ ([\w.\-]+)==(\S+)", output, flags=re.MULTILINE)
    for count, (name, version) in enumerate(done, 1):
        detail = {"package": name, "version": version, "count": count, "total": len(done)}
        tell(f"Installed {name} {version} ({count}/{len(done)})", detail)
    _see_the_stack(folder / "venv")


def _python_of(venv: Path) -> Path:
    scripts = "Scripts" if os.name == "nt" else "bin"
    return venv / scripts / "python"


def _see_the_stack(venv: Path) -> None:
    """Let an overlay see what is installed here, after what it holds itself."""
    own = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()}
    # `addsitedir` and not a bare path: our own .pth files (an editable install) count too.
    text = "".join(f"import site; site.addsitedir({path!r})\n" for path in sorted(own))
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    folder = venv / "lib" / version / "site-packages"
    (folder / "zz_arena_stack.pth").write_text(text)


async def _uv(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run uv; return its exit code and what it printed."""
    process = await asyncio.create_subprocess_exec(
        _find_uv(),
        *arguments,
        cwd=folder,
        env=_uv_environment(),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        output, _ = await process.communicate()
    except asyncio.CancelledError:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        raise
    assert process.returncode is not None
    return process.returncode, output.decode(errors="replace")


def _find_uv() -> str:
    beside = Path(sys.prefix) / ("Scripts" if os.name == "nt" else "bin") / "uv"
    if beside.exists():
        return str(beside)
    try:
        from uv import find_uv_bin

        return str(find_uv_bin())
    except (ImportError, FileNotFoundError):
        found = shutil.which("uv")
    if found is None:
        raise InstallError(
            "uv, which installs requirements, is not here; run: pip install 'arena-tui[local]'",
            "failed",
        )
    return found


def _uv_environment() -> dict[str, str]:
    """Return uv's environment: quiet, no Python downloads, and pip's index where it has none."""
    env = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
    env |= {"NO_COLOR": "1", "UV_NO_PROGRESS": "1", "UV_PYTHON_DOWNLOADS": "never"}
    env.setdefault("UV_LINK_MODE", "copy")
    for ours, pips in (
        ("UV_DEFAULT_INDEX", "PIP_INDEX_URL"),
        ("UV_INDEX", "PIP_EXTRA_INDEX_URL"),
        ("UV_FIND_LINKS", "PIP_FIND_LINKS"),
    ):
        if pips in env and ours not in env:
            env[ours] = env[pips]
    return env
