"""A split of a dataset of the hub, brought to this machine; runs in a worker.

Files that its author published as Parquet or CSV come as they are, into the hub's own cache. Of
other formats the hub makes a Parquet copy, which is taken where there is one; otherwise the library
`datasets` reads them and writes Parquet, where it is installed.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from arena_sdk.local.datasets.problems import DatasetProblem

from .datasets import card_head, chosen_files, is_readable
from .endpoint import NOT_ASKED, HubUnreachable, endpoint

CARD = "README.md"
CONVERTED = "refs/convert/parquet"
"""The revision under which the hub keeps its Parquet copy."""
BATCH_ROWS = 1_024
INSTALL = 'python -m pip install "arena-tui[hub]"'


@dataclass(frozen=True)
class Wanted:
    """What to fetch.

    Attributes:
        name: `owner/name`.
        config: Its configuration; the only one, or `default`, when None.
        split: `train` and the like; the only one when None.
        cache: The hub's cache on this machine.
        scratch: A folder for what is not in the cache; made when needed.
    """

    name: str
    config: str | None
    split: str | None
    cache: Path
    scratch: Path


@dataclass(frozen=True)
class Fetched:
    """What came.

    Attributes:
        name: As the hub spells it.
        folder: Where its files are.
        files: Their paths in it.
    """

    name: str
    folder: Path
    files: list[PurePosixPath]


def fetch(wanted: Wanted) -> Fetched:
    """Fetch the files of a split.

    Raises:
        DatasetProblem: There is no such dataset, configuration or split, or none that can be read.
        HubUnreachable: The hub cannot be asked.
    """
    if importlib.util.find_spec("huggingface_hub") is None:
        raise DatasetProblem(
            f"Fetching a dataset of the hub needs huggingface_hub, which is missing: {INSTALL}"
        )
    from huggingface_hub import errors

    name = wanted.name[:200]
    try:
        return _fetched(wanted)
    except errors.GatedRepoError:
        raise DatasetProblem(
            f"Dataset {name!a} is gated: accept its terms on its page of the hub, and give a token"
            " as HF_TOKEN or by `hf auth login`."
        ) from None
    except errors.RepositoryNotFoundError:
        raise DatasetProblem(
            f"The Hugging Face hub has no dataset {name!a}, or it is private; check the spelling"
            " (owner/name), or give a token as HF_TOKEN."
        ) from None
    except errors.HFValidationError:
        raise DatasetProblem(f"{name!a} is no id of the hub; write it as owner/name.") from None
    except errors.OfflineModeIsEnabled:
        raise HubUnreachable(NOT_ASKED) from None
    except Exception as error:
        if _is_of_the_network(error):
            raise HubUnreachable(
                f"The Hugging Face hub ({endpoint()}) cannot be reached ({_first_line(error)})"
            ) from None
        if isinstance(error, OSError):
            raise DatasetProblem(
                f"Dataset {name!a} cannot be kept here: {error.strerror or _first_line(error)}."
            ) from None
        raise


NETWORK_ERRORS = {"HTTPError", "RequestException", "ConnectionError", "TimeoutError"}


def _is_of_the_network(error: Exception) -> bool:
    """Tell whether an error is one of HTTP, by the names of its classes.

    Which HTTP library the hub's own one uses has changed from version to version.
    """
    names = {kind.__name__ for kind in type(error).__mro__}
    return bool(names & {*NETWORK_ERRORS, "HfHubHTTPError", "LocalEntryNotFoundError"})


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200].rstrip(". :")


def _fetched(wanted: Wanted) -> Fetched:
    from huggingface_hub import HfApi

    info = HfApi().dataset_info(wanted.name)
    name = str(info.id)
    listed = [file.rfilename for file in info.siblings or ()]
    if any(is_readable(file) for file in listed):
        return _as_published(wanted, name, listed, str(info.sha))
    converted = _converted_files(name)
    if converted:
        return _as_published(wanted, name, converted, CONVERTED)
    if importlib.util.find_spec("datasets") is None:
        raise DatasetProblem(
            f"Dataset {name!r} has no Parquet or CSV file, and the hub no Parquet copy of it;"
            f" reading other formats needs `datasets`: {INSTALL}"
        )
    return _read_by_library(wanted, name)


def _converted_files(name: str) -> list[str]:
    from huggingface_hub import HfApi, errors

    try:
        files = HfApi().list_repo_files(name, repo_type="dataset", revision=CONVERTED)
    except errors.RevisionNotFoundError:
        return []
    return [file for file in files if is_readable(file)]


def _as_published(wanted: Wanted, name: str, listed: Sequence[str], revision: str) -> Fetched:
    """Fetch files of a repository into the cache."""
    from huggingface_hub import snapshot_download

    def bring(names: Sequence[str]) -> Path:
        return Path(
            snapshot_download(
                name,
                repo_type="dataset",
                revision=revision,
                cache_dir=wanted.cache,
                allow_patterns=[_literal(each) for each in names],
            )
        )

    readable = sorted(PurePosixPath(file) for file in listed if is_readable(file))
    card: dict[str, Any] = card_head(bring([CARD])) if CARD in listed else {}
    chosen = chosen_files(name, readable, card, wanted.config, wanted.split)
    return Fetched(name, bring([CARD, *map(str, chosen)]), chosen)


def _literal(name: str) -> str:
    """Return a pattern that only this name fits."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _read_by_library(wanted: Wanted, name: str) -> Fetched:
    """Have `datasets` read a split as a stream, and write it as Parquet, batch by batch."""
    import datasets
    import pyarrow as pa
    import pyarrow.parquet as pq

    datasets.disable_progress_bars()
    try:
        splits = datasets.get_dataset_split_names(name, wanted.config)
        if wanted.split is None and len(splits) > 1:
            raise DatasetProblem(
                f"Dataset {name!r} has more than one split; name one of: {', '.join(splits)}."
            )
        split = wanted.split or splits[0]
        if split not in splits:
            raise DatasetProblem(
                f"Dataset {name!r} has no split {split[:80]!a}; there are: {', '.join(splits)}."
            )
        stream = datasets.load_dataset(name, wanted.config, split=split, streaming=True)
        file = PurePosixPath(f"{split}.parquet")
        wanted.scratch.mkdir(parents=True)
        writer: Any = None
        for batch in stream.with_format("arrow").iter(BATCH_ROWS):
            table = pa.table(batch)
            if writer is None:
                writer = pq.ParquetWriter(wanted.scratch / file, table.schema)
            writer.write_table(table.cast(writer.schema))
        if writer is None:
            raise DatasetProblem(f"Split {split!r} of dataset {name!r} has no row.")
        writer.close()
    except (LookupError, TypeError, ValueError, datasets.exceptions.DatasetsError) as error:
        raise DatasetProblem(
            f"`datasets` cannot read dataset {name!r}: {_first_line(error)}."
        ) from None
    return Fetched(name, wanted.scratch, [file])
