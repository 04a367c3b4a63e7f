# Made by `python -m arena_sdk._unasync` from arena_sdk/_async/client.py; change that one.
"""`AsyncArenaClient`: every call of the contract, and what the embedded Arena adds."""

from __future__ import annotations

import copy
from dataclasses import replace
from types import TracebackType
from typing import ClassVar, Self

from arena_sdk._local_server import local_info_path, local_server
from arena_sdk._logs import show_if_asked
from arena_sdk._stored import BrokenFileError
from arena_sdk._sync.account import Account
from arena_sdk._sync.auth import Login
from arena_sdk._sync.datasets import Datasets
from arena_sdk._sync.environments import Environments
from arena_sdk._sync.experiment_data import ExperimentData
from arena_sdk._sync.inference import Inference
from arena_sdk._sync.keeper import Keeper
from arena_sdk._sync.projects import Projects
from arena_sdk._sync.sweeps import Sweeps
from arena_sdk._sync.transport import EventHandler, Transport
from arena_sdk.config import LOCAL, ConfigFile, Settings, resolve
from arena_sdk.credentials import find
from arena_sdk.events import print_event


class ArenaClient(
    Account,
    Login,
    Datasets,
    Environments,
    Sweeps,
    ExperimentData,
    Inference,
    Projects,
):
    """A client of one Arena, hosted or embedded.

    Use it as a context manager, or close it.

    Args:
        api_key: A personal access token, or an access token; see `arena_sdk.credentials` for where
            credentials come from otherwise.
        base_url: Which Arena; see `arena_sdk.config.resolve` for the order of settings.
        org_key: Organisation key; goes with `external_user_id`.
        external_user_id: User of the organisation.
        request_timeout: Seconds that a request may take.
        upload_timeout: Seconds that an upload may take.
        profile: `hosted`, `local`, or one of your own.
        keycloak_url: Identity server to log in at.
        realm: Realm on it.
        client_id: Client id on it.
        on_event: Gets the events of validations, profiles and submissions as they come.
        verbose: Write the messages of events to standard error when `on_event` is None.
        interactive: Log in by device when a credential is needed and there is none.

    Raises:
        ArenaConfigError: The settings do not say which Arena, or contradict each other.
    """

    _configured: ClassVar[dict[str, str]] = {}

    def __init__(
        self,
        api_key: str | None = None,
        *,
        base_url: str | None = None,
        org_key: str | None = None,
        external_user_id: str | None = None,
        request_timeout: float | None = None,
        upload_timeout: float | None = None,
        profile: str | None = None,
        keycloak_url: str | None = None,
        realm: str | None = None,
        client_id: str | None = None,
        on_event: EventHandler | None = None,
        verbose: bool = False,
        interactive: bool = False,
    ) -> None:
        show_if_asked()
        configured = self._configured if profile is None else {}
        self._settings = resolve(
            profile,
            base_url=base_url or configured.get("base_url"),
            has_credential=bool(api_key or org_key),
            keycloak_url=keycloak_url or configured.get("keycloak_url"),
            realm=realm or configured.get("realm"),
            client_id=client_id or configured.get("client_id"),
            request_timeout=request_timeout,
            upload_timeout=upload_timeout,
        )
        self._config = ConfigFile()
        self._on_event = on_event or (print_event if verbose else None)
        credential, problem = None, None
        try:
            credential = find(
                self._settings, api_key=api_key, org_key=org_key, external_user_id=external_user_id
            )
        except BrokenFileError as error:
            problem = error  # told when a credential is needed; to log in or out none is
        keeper = Keeper(self._settings, credential, problem)
        self._transport = Transport(
            self._settings.base_url,
            keeper,
            request_timeout=self._settings.request_timeout,
            upload_timeout=self._settings.upload_timeout,
        )
        if interactive:
            keeper.on_missing = self.login

    @classmethod
    def configure(
        cls,
        *,
        base_url: str | None = None,
        keycloak_url: str | None = None,
        realm: str | None = None,
        client_id: str | None = None,
    ) -> type[Self]:
        """Set what clients made from now on use where they are given nothing else.

        What was set before and is not named stays; a client that names its profile asks that.

        Returns:
            The class itself.
        """
        given = {
            "base_url": base_url,
            "keycloak_url": keycloak_url,
            "realm": realm,
            "client_id": client_id,
        }
        named = {key: value for key, value in given.items() if value is not None}
        cls._configured = {**cls._configured, **named}
        return cls

    def with_timeouts(
        self, request_timeout: float | None = None, upload_timeout: float | None = None
    ) -> Self:
        """Return a client on the same connections with other time-outs, as for a single call.

            client.with_timeouts(5).list_projects()

        It is closed when this one is.

        Args:
            request_timeout: Seconds that a request may take; as it was when None.
            upload_timeout: Seconds that an upload may take; as it was when None.
        """
        made = copy.copy(self)
        made._transport = self._transport.with_timeouts(request_timeout, upload_timeout)
        return made

    @property
    def settings(self) -> Settings:
        """Which Arena this client talks to, how, and where each of that came from."""
        return self._settings

    def __repr__(self) -> str:
        origin = self.credential_origin or "nowhere"
        return f"<{type(self).__name__} of {self.base_url}, credential from {origin}>"

    @property
    def base_url(self) -> str:
        """Which Arena this client talks to."""
        return self._settings.base_url

    @property
    def profile(self) -> str:
        """`hosted`, `local`, or one of your own."""
        return self._settings.profile

    @property
    def is_authenticated(self) -> bool:
        """Whether there is a credential; whether it is good only the service can say."""
        return self._transport.credential is not None

    @property
    def credential_origin(self) -> str | None:
        """Where the credential came from, for people."""
        credential = self._transport.credential
        return None if credential is None else credential.origin

    @property
    def credential_masked(self) -> str | None:
        """The credential as it may be shown."""
        credential = self._transport.credential
        return None if credential is None else credential.masked

    @property
    def external_user_id(self) -> str | None:
        """The user that goes with an organisation key."""
        credential = self._transport.credential
        return None if credential is None else credential.external_user_id

    def _refind(self) -> None:
        """Take address and token of the Arena on this machine anew: it may have been restarted.

        Only where they came from its data folder, and one runs there.
        """
        if self._settings.profile != LOCAL or self._settings.url_origin != str(local_info_path()):
            return
        server = local_server()
        if server is None or server.url == self._settings.base_url:
            return
        self._settings = replace(self._settings, base_url=server.url)
        self._transport.move(server.url, Keeper(self._settings, find(self._settings)))

    def set_stream_handler(self, handler: EventHandler | None) -> None:
        """Set who gets the events of validations, profiles and submissions."""
        self._on_event = handler

    def __enter__(self) -> ArenaClient:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._transport.close()
