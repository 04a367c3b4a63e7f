"""Settings of an environment: as uploaded beside the source, else as they lie in it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import yaml

CONFIG_NAMES = ("env_config.yaml", "env_config.yml", "env_config.json")
SMALL_FILE = 1 << 20
MAX_VALUES = 10_000


class ConfigError(Exception):
    """An env_config that cannot be taken; one sentence."""


def parse_config(text: str, name: str) -> dict[str, Any]:
    """Return the constructor's arguments from YAML or JSON.

    Args:
        text: The file's content; none of it means no arguments.
        name: The file's name; `.json` is read as JSON.

    Raises:
        ConfigError: It is not a mapping of values that JSON can say.
    """
    try:
        value = json.loads(text) if name.endswith(".json") and text else yaml.safe_load(text)
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"The env_config cannot be read: {_problem(error)}.") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigError(
            "The env_config must be a mapping of constructor arguments, not a"
            f" {type(value).__name__}."
        )
    strange = _strange(value)
    if strange:
        raise ConfigError(f"The env_config {strange}.")
    return value


def _problem(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    mark = getattr(error, "problem_mark", None)
    said = getattr(error, "problem", None) or next(iter(str(error).splitlines()), "")
    return f"{said} in line {mark.line + 1}" if mark is not None else str(said)


def _strange(config: dict[str, Any]) -> str | None:
    """Say what in a configuration cannot be kept as JSON, as a predicate, or None.

    Counting the values and not only their types also ends what aliases have multiplied, or made
    to contain itself.
    """
    todo: list[tuple[str, Any]] = [("", config)]
    for _ in range(MAX_VALUES):
        if not todo:
            return None
        path, value = todo.pop()
        if isinstance(value, dict):
            for key, part in value.items():
                if not isinstance(key, str):
                    return f"has the key {key!r}{' in ' + path if path else ''}, which is no text"
                todo.append((f"{path}.{key}" if path else key, part))
        elif isinstance(value, list):
            todo.extend((f"{path}[{index}]", part) for index, part in enumerate(value))
        elif isinstance(value, float) and value - value != 0:
            return f"has {value} at {path}, which JSON cannot say; use a number or null"
        elif not isinstance(value, str | int | float | bool | None):
            kind = type(value).__name__
            return f"has a {kind} at {path}, which JSON cannot say; put it in quotes"
    return f"has more than {MAX_VALUES:,} values"


def bundled_config(source: Path) -> dict[str, Any]:
    """Return the configuration that lies in a source folder; {} when there is none.

    Raises:
        ConfigError: It cannot be read.
    """
    for name in CONFIG_NAMES:
        text = _text(source / name)
        if text:
            return parse_config(text, name)
    return {}


def bundled_requirements(source: Path) -> str:
    """Return the requirements that lie in a source: requirements.txt, else pyproject.toml."""
    text = _text(source / "requirements.txt")
    if text:
        return text
    try:
        project = tomllib.loads(_text(source / "pyproject.toml")).get("project", {})
    except tomllib.TOMLDecodeError:
        return ""
    found = project.get("dependencies", []) if isinstance(project, dict) else []
    return "".join(f"{line}\n" for line in found if isinstance(line, str))


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > SMALL_FILE:
            return ""
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return ""
