"""Files that go along with requests, and files that answers are written to."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena_sdk.errors import ArenaFileNotFoundError, ArenaValidationError

PathLike = str | os.PathLike[str]

CONFIG_NAMES = ("env_config.yaml", "env_config.yml", "env_config.json")
REQUIREMENTS_NAMES = ("requirements.txt",)
"""Files of an environment's folder that are sent along when no others are named."""


SIDE_FILE_LIMIT = 16 << 20
"""Bytes of what is written by hand and sent along: settings, requirements, a reward file."""


def form_fields(body: dict[str, Any]) -> dict[str, str]:
    """Return a JSON body's fields as text for a form; what is None is left out."""
    return {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, value in body.items()
        if value is not None
    }


def read_optional(path: PathLike | None, what: str) -> bytes:
    """Return a file's content; nothing where no file is named.

    Raises:
        ArenaFileNotFoundError: It cannot be read, or is far larger than such files are.
    """
    if path is None:
        return b""
    try:
        with Path(path).expanduser().open("rb") as file:
            content = file.read(SIDE_FILE_LIMIT + 1)
    except OSError as error:
        raise ArenaFileNotFoundError(
            f"The {what} {str(path)!r} cannot be read: {error.strerror}."
        ) from None
    if len(content) > SIDE_FILE_LIMIT:
        raise ArenaFileNotFoundError(
            f"The {what} {str(path)!r} holds more than {SIDE_FILE_LIMIT >> 20} MB; it cannot be"
            " meant."
        )
    return content


def reward_part(reward_file: PathLike | bytes) -> tuple[str, bytes, str]:
    """Return the part of a form for a reward file."""
    if isinstance(reward_file, bytes):
        return "reward.py", reward_file, "text/x-python"
    content = read_optional(reward_file, "reward file")
    return Path(reward_file).name, content, "text/x-python"


def config_part(path: PathLike | None) -> tuple[str, bytes, str]:
    """Return the part of a form for the arguments of an environment's constructor."""
    content = read_optional(path, "env_config")
    name = "env_config.yaml" if path is None else Path(path).name
    kind = "application/json" if name.lower().endswith(".json") else "application/x-yaml"
    return name, content, kind


def beside(source: PathLike | bytes, names: Sequence[str]) -> Path | None:
    """Return the first of these files that lies at the top of a source folder, or None."""
    if isinstance(source, bytes):
        return None
    folder = Path(source).expanduser()
    return next((folder / name for name in names if (folder / name).is_file()), None)


def shards(folder: Path, config: str | None) -> list[tuple[str, Path]]:
    """Return the Parquet files of one configuration of a folder, with the names they are sent by.

    A configuration is a folder below the one that all shards have in common; shards right in that
    one are of the configuration `default`. Hidden folders are passed over.

    Raises:
        ArenaFileNotFoundError: There is no shard.
        ArenaValidationError: There are several configurations and none was chosen, or there is no
            such one.
    """
    found = sorted(path for path in folder.rglob("*.parquet") if path.is_file())
    found = [p for p in found if not any(x.startswith(".") for x in p.relative_to(folder).parts)]
    if not found:
        raise ArenaFileNotFoundError(f"The folder {str(folder)!r} holds no .parquet file.")
    root = Path(os.path.commonpath([path.parent for path in found]))
    configs: dict[str, list[tuple[str, Path]]] = {}
    for path in found:
        name = path.relative_to(root)
        key = name.parts[0] if len(name.parts) > 1 else "default"
        configs.setdefault(key, []).append((name.as_posix(), path))
    if config is None and len(configs) == 1:
        return next(iter(configs.values()))
    if config not in configs:
        wrong = (
            "has several configurations"
            if config is None
            else f"has no configuration {config!r}, only these"
        )
        raise ArenaValidationError(
            f"The folder {str(folder)!r} {wrong}: {', '.join(sorted(configs))}.",
            hint_python="Pass config=… with one of them.",
            hint_cli="Give --config with one of them.",
        )
    return configs[config]


def archive_name(source: PathLike | bytes) -> str:
    """Return the name under which a source is sent."""
    if isinstance(source, bytes):
        return "source.tar.gz"
    name = Path(source).expanduser().resolve().name
    return name if name.lower().endswith((".tar.gz", ".tgz")) else f"{name}.tar.gz"


def suggested_name(disposition: str | None, otherwise: str) -> str:
    """Return the file name that an answer suggests, without any folder."""
    found = re.search(r'filename="?([^";]+)"?', disposition or "")
    name = Path(found.group(1).replace("\\", "/")).name if found else ""
    return name or otherwise


def write_whole(path: Path, name: str, content: bytes) -> Path:
    """Write a file under another name and rename it; `name` is for a path that is a folder.

    Raises:
        ArenaValidationError: It cannot be written.
    """
    if path.is_dir():
        path = path / name
    temporary = None
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.absolute().parent, prefix=".arena-")
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
        temporary = None
    except OSError as error:
        raise ArenaValidationError(f"{path} cannot be written: {error.strerror}.") from None
    finally:
        if temporary is not None:
            os.unlink(temporary)
    return path
