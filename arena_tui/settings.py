"""What people set to their taste in `~/.arena/tui.yaml`, and what is remembered for them."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

PLOT_STYLES = ("braille", "block", "ascii")
FILE_NAME = "tui.yaml"
MEMORY_NAME = "tui-state.json"


class SettingsError(Exception):
    """The settings file cannot be used; the message is one sentence that names it."""


@dataclass
class Settings:
    """Everything that can be set.

    Attributes:
        theme: Name of a theme; the palette lists them.
        plot_style: What charts draw with: "braille", "block" or "ascii".
        refresh: Seconds between two polls of what is on the screen, 0.5 to 60.
        keys: Keys by action id, as in `{"experiments.stop": "ctrl+s"}`; `?` shows the ids.
    """

    theme: str = ""
    plot_style: str = "braille"
    refresh: float = 2.0
    keys: dict[str, str] = field(default_factory=dict)


def _home() -> Path:
    from arena_sdk.config import arena_home

    return Path(arena_home())


def _checked(name: str, value: Any, path: Path) -> Any:
    """Return a setting's value in its type, or raise SettingsError with a sentence."""
    if name == "plot_style":
        if value not in PLOT_STYLES:
            choices = ", ".join(PLOT_STYLES)
            raise SettingsError(f"{path}: plot_style is {value!r}; use one of {choices}.")
        return value
    if name == "refresh":
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0.5 <= value <= 60:
            raise SettingsError(f"{path}: refresh is {value!r}; use seconds from 0.5 to 60.")
        return float(value)
    if name == "keys":
        if not isinstance(value, dict) or not all(
            isinstance(key, str) and isinstance(item, str) for key, item in value.items()
        ):
            raise SettingsError(f"{path}: keys must map action ids to keys, both as text.")
        return dict(value)
    if not isinstance(value, str):
        raise SettingsError(f"{path}: {name} is {value!r}; it must be text.")
    return value


def load(path: Path | None = None) -> Settings:
    """Read the settings; what is not set has its default.

    Args:
        path: The file; `~/.arena/tui.yaml` when left out.

    Raises:
        SettingsError: The file is not YAML, or holds something unknown or out of bounds.
    """
    path = path or _home() / FILE_NAME
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} could not be read: {error}") from error
    import yaml

    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f" at line {where.line + 1}" if where else ""
        raise SettingsError(f"{path} is not valid YAML{line}.") from error
    if document is None:
        return Settings()
    if not isinstance(document, dict):
        raise SettingsError(f"{path} must hold settings by name, as in `refresh: 2`.")
    known = {item.name for item in fields(Settings)}
    unknown = sorted(str(name) for name in document if name not in known)
    if unknown:
        raise SettingsError(
            f"{path}: {unknown[0]!r} is no setting; there are {', '.join(sorted(known))}."
        )
    return Settings(**{name: _checked(name, value, path) for name, value in document.items()})


def save(settings: Settings, path: Path | None = None) -> None:
    """Write the settings that differ from their defaults, aside first, then renamed."""
    import yaml

    default = Settings()
    document = {
        item.name: getattr(settings, item.name)
        for item in fields(Settings)
        if getattr(settings, item.name) != getattr(default, item.name)
    }
    text = yaml.safe_dump(document, sort_keys=True, allow_unicode=True) if document else ""
    _write(path or _home() / FILE_NAME, text)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, aside = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(aside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise


class Memory:
    """What is restored at the next start: last screen, filters, chart set-up. Never a secret."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._values: dict[str, Any] = {}
        # A broken or missing memory is worth nothing and costs nothing: start afresh.
        with contextlib.suppress(OSError, ValueError):
            document = json.loads(self.path.read_text(encoding="utf-8"))
            if isinstance(document, dict):
                self._values = document

    @property
    def path(self) -> Path:
        """The file."""
        return self._path or _home() / MEMORY_NAME

    def get(self, name: str, default: Any = None) -> Any:
        """Return what was remembered under a name."""
        return self._values.get(name, default)

    def set(self, name: str, value: Any) -> None:
        """Remember something that JSON can hold until `save`."""
        self._values[name] = value

    def save(self) -> None:
        """Write it; a disk that refuses is not worth a complaint."""
        with contextlib.suppress(OSError):
            _write(self.path, json.dumps(self._values))
