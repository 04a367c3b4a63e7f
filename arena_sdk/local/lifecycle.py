"""Starting, finding and ending the server of a data folder.

A running server holds a lock on `server.lock`, which names its process; the kernel frees it however
the server ends, so a `server.json` that a killed server left behind misleads nobody.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import http.client
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from arena_sdk.errors import ArenaError
from arena_sdk.local.paths import DataPaths
from arena_sdk.local.server_settings import DEFAULTS, ServerSettings
from arena_sdk.local.sockets import listen

if TYPE_CHECKING:
    import psutil

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8765
START_SECONDS = 60.0
STOP_SECONDS = 30.0
"""How long a server may take to end its work: runs write a checkpoint first."""
KILL_SECONDS = 10.0
LAST_LINES = 15
"""How much of the log is shown when a server did not start and did not say why."""


class LifecycleError(ArenaError):
    """The server could not be started or ended; the message is one sentence for users."""


@dataclass(frozen=True)
class ServerInfo:
    """A server that runs."""

    pid: int
    host: str
    port: int
    url: str
    started_at: float
    version: str


def running(data_dir: Path) -> ServerInfo | None:
    """Return the server of a data folder, or None when none runs."""
    paths = DataPaths(data_dir)
    holder = _holder(paths.lock)
    if holder is None:
        return None
    try:
        info = ServerInfo(**json.loads(paths.server_info.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None  # it is just starting, or just ending
    return info if info.pid == holder else None


def serve(
    data_dir: Path,
    host: str = DEFAULT_HOST,
    port: int = DEFAULT_PORT,
    on_ready: Callable[[ServerInfo], None] | None = None,
    settings: ServerSettings = DEFAULTS,
) -> None:
    """Serve a data folder until told to end; returns when all of its work has ended.

    Args:
        data_dir: Made when it is not there.
        host: Address to bind to.
        port: TCP port; 0 takes a free one.
        on_ready: Called once requests are answered.
        settings: How its runs are run.

    Raises:
        LifecycleError: A server runs already, or the address cannot be used.
    """
    import uvicorn

    from arena_sdk.local.app import create_app
    from arena_sdk.local.security import ensure_token

    paths = _prepare(data_dir)
    with _locked(paths), _listen(host, port) as listener:
        info = _describe(host, listener.getsockname()[1])
        token = ensure_token(paths.token)
        _log_to(paths.log)
        signal.signal(signal.SIGTERM, _leave)
        app = create_app(paths, token, host, settings)
        config = uvicorn.Config(
            app,
            loop="asyncio",
            log_config=None,
            access_log=False,
            timeout_keep_alive=75,  # longer than the proxies that people put in front
            timeout_graceful_shutdown=2,
            ws_max_size=1 << 20,
        )
        server = _announcing_server(config, paths.server_info, info, on_ready)
        try:
            server.run(sockets=[listener])
        except SystemExit:
            if not hasattr(app.state, "startup_problem"):
                raise  # it was told to end
        finally:
            paths.server_info.unlink(missing_ok=True)
        if not server.announced:
            problem = getattr(app.state, "startup_problem", "see its log")
            raise LifecycleError(f"The Arena could not start: {problem} (log: {paths.log})")


def start_detached(
    data_dir: Path,
    host: str = DEFAULT_HOST,
    port: int = DEFAULT_PORT,
    settings: ServerSettings = DEFAULTS,
) -> ServerInfo:
    """Start a server in the background; returns once its health check answers.

    Raises:
        LifecycleError: One runs already, or it ended before it answered.
    """
    paths = _prepare(data_dir)
    found = running(data_dir)
    if found is not None:
        raise LifecycleError(_already(found, data_dir))
    command = [
        sys.executable, "-P", "-m", "arena_sdk.cli", "local", "up",
        "--host", host, "--port", str(port), "--data-dir", str(data_dir),
        *settings.arguments(),
    ]  # fmt: skip
    with paths.log.open("ab") as log:
        before = log.tell()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd=data_dir,
        )
    deadline = time.monotonic() + START_SECONDS
    try:
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise LifecycleError(_last_words(paths.log, before))
            info = running(data_dir)
            if info is not None and info.pid == process.pid and healthy(info):
                return info
            time.sleep(0.05)
        raise LifecycleError(f"The Arena did not answer within {START_SECONDS:g} s ({paths.log}).")
    except BaseException:
        process.kill()
        process.wait()
        raise


def stop(data_dir: Path, grace: float = STOP_SECONDS) -> ServerInfo | None:
    """End the server of a data folder and everything that it started.

    Args:
        data_dir: The data folder.
        grace: Seconds that it gets to end its work before it is killed; its workers notice.

    Returns:
        The server that ran, or None when none did; its `url` is empty when it had only begun to
        start.

    Raises:
        LifecycleError: It runs but cannot be ended.
    """
    import psutil

    paths = DataPaths(data_dir)
    info = running(data_dir)
    pid = _holder(paths.lock)
    if pid is None:
        return None
    try:
        process = psutil.Process(pid)
        process.terminate()
        if not _gone_within(process, grace):
            process.kill()
            if not _gone_within(process, KILL_SECONDS):
                raise LifecycleError(f"The Arena (process {pid}) could not be ended.")
    except psutil.NoSuchProcess:
        pass
    except psutil.AccessDenied:
        raise LifecycleError(f"The Arena (process {pid}) belongs to another user.") from None
    if _holder(paths.lock) is None:  # unless a new one has taken its place already
        paths.server_info.unlink(missing_ok=True)
    return info or ServerInfo(pid, "", 0, "", 0.0, "")


def _gone_within(process: psutil.Process, seconds: float) -> bool:
    """Wait for a process to end; one that only waits to be collected by its parent has ended."""
    import psutil

    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(process.pid, os.WNOHANG)  # collects it where the parent is this process
        try:
            if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.02)
    return False


def healthy(info: ServerInfo, timeout: float = 2.0) -> bool:
    """Tell whether a server answers its health check, asked directly, past any proxy."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(info.host, info.host)
    connection = http.client.HTTPConnection(host, info.port, timeout=timeout)
    try:
        connection.request("GET", "/health")
        answer: dict[str, Any] = json.loads(connection.getresponse().read())
    except (OSError, ValueError, http.client.HTTPException):
        return False
    finally:
        connection.close()
    return answer.get("pid") == info.pid


def _prepare(data_dir: Path) -> DataPaths:
    paths = DataPaths(data_dir)
    try:
        paths.create()
    except OSError as error:
        raise LifecycleError(
            f"The data folder {data_dir} cannot be used: {error.strerror}; choose another one"
            " with --data-dir."
        ) from None
    return paths


def _already(info: ServerInfo, data_dir: Path) -> str:
    return (
        f"An Arena already runs on {data_dir}: {info.url} (process {info.pid})."
        " `arena local down` ends it."
    )


def _holder(path: Path) -> int | None:
    """Return the process that holds the lock, or None when nobody does."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        text = os.read(descriptor, 20)
        return int(text) if text.isdigit() else None
    finally:
        os.close(descriptor)
    return None


@contextlib.contextmanager
def _locked(paths: DataPaths) -> Iterator[None]:
    """Hold the lock; what an earlier server left in its files is gone once it is held."""
    descriptor = os.open(paths.lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        for _ in range(5):  # one that only looks holds it for a moment
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.05)
        else:
            found = running(paths.root)
            raise LifecycleError(
                _already(found, paths.root)
                if found
                else f"Another Arena is just starting or ending on {paths.root}; try again, or end"
                " it with `arena local down`."
            )
        paths.server_info.unlink(missing_ok=True)
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
        os.truncate(descriptor, 0)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _listen(host: str, port: int) -> Iterator[socket.socket]:
    try:
        listener = listen(host, port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise LifecycleError(
                f"Port {port} on {host} is in use; give another one with --port (0 takes any"
                " free one)."
            ) from None
        if error.errno == errno.EACCES:
            raise LifecycleError(f"Port {port} needs rights that you do not have.") from None
        raise LifecycleError(
            f"The address {host}:{port} cannot be used: {error.strerror or error}."
        ) from None
    except OverflowError:
        raise LifecycleError(f"Port {port} is not between 0 and 65535.") from None
    with listener:
        yield listener


def _describe(host: str, port: int) -> ServerInfo:
    from importlib.metadata import version

    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    shown = f"[{reachable}]" if ":" in reachable else reachable
    return ServerInfo(
        pid=os.getpid(),
        host=host,
        port=port,
        url=f"http://{shown}:{port}",
        started_at=time.time(),
        version=version("arena-tui"),
    )


def _log_to(path: Path) -> None:
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    logging.getLogger("alembic").setLevel(logging.WARNING)
    logging.raiseExceptions = False  # a log that cannot be written must not write tracebacks


def _leave(signum: int, frame: FrameType | None) -> NoReturn:
    # uvicorn handles the signal first, ends its work, and then raises it again for us.
    raise SystemExit(0)


def _last_words(log: Path, start: int) -> str:
    """Return the sentence with which a server that would not start said why."""
    with log.open("rb") as file:
        file.seek(start)
        lines = file.read().decode("utf-8", errors="replace").splitlines()
    for line in reversed(lines):
        if line.startswith("error: "):
            return line.removeprefix("error: ")
    said = "\n".join(lines[-LAST_LINES:]) or "it said nothing."
    return f"The Arena could not start; the end of its log ({log}):\n{said}"


def _announcing_server(
    config: Any, path: Path, info: ServerInfo, on_ready: Callable[[ServerInfo], None] | None
) -> Any:
    import uvicorn

    class AnnouncingServer(uvicorn.Server):
        """Writes `server.json` once requests are answered."""

        announced = False

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                temporary = path.with_suffix(".tmp")
                temporary.write_text(json.dumps(asdict(info)), encoding="utf-8")
                os.replace(temporary, path)
                self.announced = True
                if on_ready is not None:
                    on_ready(info)

    return AnnouncingServer(config)
