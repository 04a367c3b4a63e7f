"""The owner of the client and of every store."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from arena_tui.stores.base import Polled, Store
from arena_tui.stores.connection import Connection, Link
from arena_tui.stores.datasets import Datasets
from arena_tui.stores.deployments import Deployments
from arena_tui.stores.environments import Environments
from arena_tui.stores.experiments import Experiments
from arena_tui.stores.machine import Activity, Credits, Machine
from arena_tui.stores.marks import Marks
from arena_tui.stores.projects import Projects
from arena_tui.stores.resources import Resources
from arena_tui.stores.run import Run
from arena_tui.stores.work import Job, Work

if TYPE_CHECKING:
    from arena_sdk import AsyncArenaClient

T = TypeVar("T")

_RUNS_KEPT = 6
CANCEL_TRIES = 12
CLOSE_SECONDS = 3.0
"""Seconds that a client may take to close; a connection that hangs must not keep anyone here."""


class Hub:
    """Makes the client, follows the connection, owns the stores.

    Attributes:
        features: What this service announces beyond the contract, by name.
        readonly: Nothing at the service may be changed.
        refresh_seconds: Seconds between two polls of what is watched.
    """

    def __init__(
        self,
        make_client: Callable[[], AsyncArenaClient],
        *,
        refresh_seconds: float = 2.0,
        readonly: bool = False,
    ) -> None:
        """Make a hub; nothing is asked before `start`.

        Args:
            make_client: Makes the client from credentials and profile; may raise ArenaError.
            refresh_seconds: Seconds between two polls.
            readonly: Refuse every change.
        """
        self._make_client = make_client
        self._client: AsyncArenaClient | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._doubt = asyncio.Event()
        self._wake = asyncio.Event()
        self._looked = asyncio.Event()
        self._looked.set()
        self._generation = 0
        self._runs: dict[str, Run] = {}
        self.refresh_seconds = refresh_seconds
        self.readonly = readonly
        self.features: dict[str, Any] = {}
        self.connection = Connection()
        self.work = Work(self)
        self.marks = Marks()
        self.environments = Environments(self)
        self.datasets = Datasets(self)
        self.projects = Projects(self)
        self.resources = Resources(self)
        self.experiments = Experiments(self)
        self.deployments = Deployments(self)
        self.machine = Machine(self)
        self.activity = Activity(self)
        self.credits = Credits(self)

    @property
    def in_frame(self) -> tuple[Store, ...]:
        """What the header of every screen is made of."""
        return (self.connection, self.projects, self.experiments, self.credits, self.work)

    @property
    def _polled(self) -> tuple[Polled[Any], ...]:
        return (
            self.environments,
            self.datasets,
            self.projects,
            self.resources,
            self.experiments,
            self.deployments,
            self.machine,
            self.activity,
            self.credits,
        )

    # Life ----------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to connect, and to stay connected."""
        self._looked.clear()
        self.spawn(self._stay_connected())

    async def close(self) -> None:
        """End all tasks and the client."""
        for _ in range(CANCEL_TRIES):
            # One cancellation may be lost, where what was waited for came at the same moment.
            left = [task for task in self._tasks if task is not asyncio.current_task()]
            if not left:
                break
            for task in left:
                task.cancel()
            await asyncio.wait(left, timeout=0.25)
        if self._client is not None:
            await close_client(self._client)
            self._client = None

    def spawn(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run a coroutine until the hub closes."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.report(error)

    @staticmethod
    def report(error: BaseException) -> None:
        """Tell of a fault of our own, which is none of the service's or the network's."""
        asyncio.get_running_loop().call_exception_handler(
            {"message": "a store failed", "exception": error}
        )

    # Requests ------------------------------------------------------------------------------------

    @property
    def client(self) -> AsyncArenaClient:
        """The client; raises ArenaConfigError when there is none to be had."""
        if self._client is None:
            return self._adopt(self._make_client())
        return self._client

    def _adopt(self, client: AsyncArenaClient) -> AsyncArenaClient:
        self._client = client
        self.connection.url = client.base_url
        self.connection.profile = client.profile
        return client

    def new_client(self) -> AsyncArenaClient:
        """Make a client of one's own; whoever asks for it closes it."""
        return self._make_client()

    def sign_in(self, make_client: Callable[[], AsyncArenaClient] | None = None) -> None:
        """Connect anew, with what a login has changed; what was known is forgotten.

        Args:
            make_client: Makes the client from now on; as before when left out.
        """
        self._make_client = make_client or self._make_client
        self._generation += 1
        if self._client is not None:
            self.spawn(close_client(self._client))
            self._client = None
        for store in self._polled:
            store.forget()
        self._runs.clear()
        self.connection.begin_anew()
        self._doubt.set()
        self._wake.set()

    async def call(self, do: Callable[[], Awaitable[T]]) -> T:
        """Make requests, and let the connection know how it went; errors go on to the caller."""
        from arena_sdk.errors import ArenaAuthError, ArenaError

        generation = self._generation
        try:
            result = await do()
        except ArenaAuthError as error:
            if generation == self._generation:
                self._refused(self.sentence(error))
            raise
        except ArenaError as error:
            if generation == self._generation:
                self._judge(error)
            raise
        if generation == self._generation:
            self.connection.succeeded()
        return result

    async def streamed(self, job: Job, method: str, **arguments: Any) -> Any:
        """Call a method of the client that streams events, and hand these to a job.

        Each stream has a client of its own, because the handler of events belongs to the client.
        """
        async with self._make_client() as client:
            client.set_stream_handler(job.take)
            return await getattr(client, method)(**arguments)

    def sentence(self, error: BaseException) -> str:
        """Return what went wrong as people read it."""
        text = getattr(error, "detail", None) or str(error)
        return str(text).strip() or type(error).__name__

    def has(self, feature: str) -> bool:
        """Whether the service announces a feature."""
        return feature in self.features

    def run(self, name: str) -> Run:
        """Return the live store of one run; the last few are kept."""
        return self.runs((name,))[0]

    def runs(self, names: Iterable[str]) -> list[Run]:
        """Return the live stores of some runs at once; none of them is dropped for another."""
        wanted = dict.fromkeys(names)
        for name in wanted:
            self._runs[name] = self._runs.pop(name, None) or Run(self, name)
        for old in [key for key, kept in self._runs.items() if not kept.is_watched]:
            if len(self._runs) > _RUNS_KEPT and old not in wanted:
                del self._runs[old]
        return [self._runs[name] for name in wanted]

    def forget_run(self, name: str) -> None:
        """Drop what is known of a run."""
        self._runs.pop(name, None)

    def refresh(self) -> None:
        """Ask for everything again."""
        for store in self._polled:
            store.refresh()
        for run in self._runs.values():
            run.refresh()

    # Connection ----------------------------------------------------------------------------------

    def _judge(self, error: Any) -> None:
        """Tell a service that said no from one that may not have been reached."""
        status = getattr(error, "status_code", None)
        if status == 401:
            self._refused(self.sentence(error))
        elif status:
            self.connection.succeeded()
        else:
            # No status means no answer, or nothing sent at all: look whether the service is there.
            self.doubt()

    def doubt(self) -> None:
        """Look soon whether the service is still there, for something of it broke off."""
        self._doubt.set()

    def once_back(self, error: Any, do: Callable[[], Any]) -> Callable[[], None]:
        """Do what failed once more when the service is back, if it failed because that was gone.

        Args:
            error: How it failed.
            do: Makes the coroutine that does it.

        Returns:
            What has it not be done.
        """
        if getattr(error, "status_code", None) not in (None, 0, 401):
            return lambda: None

        def again() -> None:
            self.spawn(do())

        return self.connection.once_back(again)

    def _refused(self, sentence: str) -> None:
        self.connection.refused(sentence)
        self._doubt.set()

    async def _stay_connected(self) -> None:
        while True:
            self._doubt.clear()
            await self._attempt()
            while not self.connection.is_usable:
                wait = self.connection.next_wait()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await self._wake.wait()
                self._wake.clear()
                await self._attempt()
            await self._doubt.wait()

    async def _attempt(self) -> None:
        """Look once whether the service can be used; if it can again, ask for everything."""
        from arena_sdk.errors import ArenaAuthError, ArenaError

        was_usable = self.connection.is_usable
        is_first = not self._looked.is_set()
        try:
            if not was_usable and self.connection.attempts:
                await self._renew_client()
            await self._look()
        except ArenaAuthError as error:
            self.connection.refused(self.sentence(error))
        except ArenaError as error:
            self.connection.lost(self.sentence(error))
        else:
            self.connection.succeeded()
            if is_first:
                # What began to load meanwhile need not be asked for twice.
                for store in self._polled:
                    store.renew()
            elif not was_usable:
                self.refresh()
        finally:
            self._looked.set()

    async def known_features(self) -> dict[str, Any]:
        """Return the features, once the first look at the service has ended, whatever it found."""
        await self._looked.wait()
        return self.features

    async def _look(self) -> None:
        from arena_sdk.errors import ArenaAuthError

        client = self.client
        if not client.is_authenticated:
            # Asking would tell nothing new, and there may be no network to ask through.
            raise ArenaAuthError("There is no credential for this Arena yet.")
        document = await client.capabilities()
        features = document.get("features", document) if isinstance(document, dict) else {}
        self.features = features if isinstance(features, dict) else {}
        self.connection.live_feature = self.has("live_metrics")
        await client.get_current_user()

    async def _renew_client(self) -> None:
        """Make the client afresh where that leads elsewhere.

        The local Arena may have come back at another port, or a login been done elsewhere.
        """
        old = self._client
        new = self._make_client()
        if (
            old is not None
            and old.base_url == new.base_url
            and self.connection.link is not Link.SIGNED_OUT
        ):
            await close_client(new)
            return
        self._adopt(new)
        if old is not None:
            for run in self._runs.values():
                run.resubscribe()
            await close_client(old)


async def close_client(client: Any) -> None:
    """Close a client, whatever state it is in."""
    with contextlib.suppress(Exception):
        async with asyncio.timeout(CLOSE_SECONDS):
            await _closed(client)


async def _closed(client: Any) -> None:
    closing = getattr(client, "aclose", None) or client.close
    outcome = closing()
    if inspect.isawaitable(outcome):
        await outcome
