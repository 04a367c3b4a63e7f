"""Files of a dataset of the hub: those of one configuration and one split.

A dataset's card says in its head which files make up each configuration and split; where it does
not, the hub goes by names, such as `main/train-00000-of-00001.parquet`, and so is done here
(https://huggingface.co/docs/hub/datasets-data-files-configuration).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from arena_sdk.local.datasets.problems import DatasetProblem

from .cache import Repository

CARD_LIMIT = 4 << 20
DEFAULT = "default"
SPLITS = ("train", "test", "validation", "valid", "dev", "eval")
READABLE = (".parquet", ".csv")


def split_files(
    repository: Repository, config: str | None, split: str | None
) -> list[PurePosixPath]:
    """Return the files of a split, relative to the snapshot, in order.

    Args:
        repository: The dataset.
        config: Its configuration; the only one, or `default`, when None.
        split: `train` and the like; the only one when None.

    Raises:
        DatasetProblem: There is no such configuration or split, or no file that can be read; the
            sentence lists what there is.
    """
    files = sorted(_readable(repository.snapshot))
    if not files:
        raise DatasetProblem(
            f"Dataset {repository.name!r} has no .parquet or .csv file in this machine's Hugging"
            " Face cache."
        )
    return chosen_files(repository.name, files, card_head(repository.snapshot), config, split)


def chosen_files(
    name: str,
    files: list[PurePosixPath],
    card: dict[str, Any],
    config: str | None,
    split: str | None,
) -> list[PurePosixPath]:
    """Return the files of a split, in order.

    Args:
        name: The dataset's, for refusals.
        files: All its files that can be read, sorted.
        card: The head of its card; {} where there is none.
        config: Its configuration; the only one, or `default`, when None.
        split: `train` and the like; the only one when None.

    Raises:
        DatasetProblem: There is no such configuration or split; the sentence lists what there is.
    """
    configs = _told(card, files) or _by_name(files)
    splits = configs[_pick("configuration", name, configs, config, fallback=DEFAULT)]
    return splits[_pick("split", name, splits, split)]


def is_readable(name: str) -> bool:
    """Tell whether a file of the hub is one of those that are read here."""
    return PurePosixPath(name).suffix.lower() in READABLE


def _pick(
    what: str, name: str, known: Iterable[str], asked: str | None, fallback: str | None = None
) -> str:
    names = list(known)
    if asked in names:
        return str(asked)
    if asked in (None, DEFAULT) and len(names) == 1:
        return names[0]
    if asked is None and fallback in names:
        return str(fallback)
    listed = ", ".join(names[:20])
    if asked is None:
        raise DatasetProblem(f"Dataset {name!r} has more than one {what}; name one of: {listed}.")
    raise DatasetProblem(f"Dataset {name!r} has no {what} {asked[:80]!a}; there are: {listed}.")


Configs = dict[str, dict[str, list[PurePosixPath]]]


def _readable(snapshot: Path) -> Iterable[PurePosixPath]:
    for path in snapshot.rglob("*"):
        if is_readable(path.name) and path.is_file():
            yield PurePosixPath(path.relative_to(snapshot).as_posix())


def card_head(snapshot: Path) -> dict[str, Any]:
    """Return the head of the dataset's card; {} where there is none."""
    try:
        with (snapshot / "README.md").open(encoding="utf-8") as file:
            text = file.read(CARD_LIMIT)
        head = re.match(r"---\s*\n(.*?)\n---", text, re.DOTALL)
        value = yaml.safe_load(head[1]) if head else None
    except (OSError, ValueError, yaml.YAMLError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _told(card: dict[str, Any], files: list[PurePosixPath]) -> Configs:
    """Return what the card says of configurations, as far as their files are there."""
    found: Configs = {}
    entries = card.get("configs")
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, dict):
            continue
        splits: dict[str, list[PurePosixPath]] = {}
        data = entry.get("data_files")
        for part in data if isinstance(data, list) else [{"split": "train", "path": data}]:
            if isinstance(part, dict) and part.get("path"):
                matched = _matching(part["path"], files)
                if matched:
                    splits.setdefault(str(part.get("split", "train")), []).extend(matched)
        if splits:
            found[str(entry.get("config_name", DEFAULT))] = splits
    return found


def _matching(patterns: Any, files: list[PurePosixPath]) -> list[PurePosixPath]:
    wanted = [str(p) for p in (patterns if isinstance(patterns, list) else [patterns])]
    return [path for path in files if any(fnmatchcase(str(path), p) for p in wanted)]


def _by_name(files: list[PurePosixPath]) -> Configs:
    """Return configurations by top folder (`data` being none) and splits by words in names."""
    found: Configs = {}
    for path in files:
        folder = path.parts[0] if len(path.parts) > 1 else DEFAULT
        config = DEFAULT if folder in ("data", *SPLITS) else folder
        words = re.split(r"[^a-z]+", str(path).lower())
        split = next((word for word in reversed(words) if word in SPLITS), "train")
        found.setdefault(config, {}).setdefault(split, []).append(path)
    return found
