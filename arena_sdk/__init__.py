"""The Python SDK of Arena: blocking and async clients, agents, the trainer, the manifest.

Names are imported when they are first used, so `import arena_sdk` costs nothing. The client never
imports `arena_sdk.local`, the embedded Arena, nor the dashboard. Start reading at
`_async/client.py`; `_sync` is generated from `_async` by `python -m arena_sdk._unasync`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena_sdk._async.agent import AsyncAgent
    from arena_sdk._async.client import AsyncArenaClient
    from arena_sdk._sync.agent import Agent
    from arena_sdk._sync.client import ArenaClient
    from arena_sdk.errors import (
        ArenaAPIError,
        ArenaAuthError,
        ArenaConfigError,
        ArenaEnvironmentNotFoundError,
        ArenaError,
        ArenaFileNotFoundError,
        ArenaInferenceError,
        ArenaNotRunningError,
        ArenaTimeoutError,
        ArenaTrainingError,
        ArenaValidationError,
    )
    from arena_sdk.manifest import TrainingManifest
    from arena_sdk.trainer import ArenaTrainer

__all__ = [
    "Agent",
    "ArenaAPIError",
    "ArenaAuthError",
    "ArenaClient",
    "ArenaConfigError",
    "ArenaEnvironmentNotFoundError",
    "ArenaError",
    "ArenaFileNotFoundError",
    "ArenaInferenceError",
    "ArenaNotRunningError",
    "ArenaTimeoutError",
    "ArenaTrainer",
    "ArenaTrainingError",
    "ArenaValidationError",
    "AsyncAgent",
    "AsyncArenaClient",
    "TrainingManifest",
]

_HOMES = {
    "Agent": "arena_sdk._sync.agent",
    "ArenaClient": "arena_sdk._sync.client",
    "ArenaTrainer": "arena_sdk.trainer",
    "AsyncAgent": "arena_sdk._async.agent",
    "AsyncArenaClient": "arena_sdk._async.client",
    "TrainingManifest": "arena_sdk.manifest",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES.get(name, "arena_sdk.errors")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
