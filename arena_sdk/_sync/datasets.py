# Made by `python -m arena_sdk._unasync` from arena_sdk/_async/datasets.py; change that one.
"""Datasets and language models, where the service has them; the embedded Arena answers 404."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from arena_sdk._files import reward_part, shards
from arena_sdk._http import given
from arena_sdk._progress import Progress, Upload
from arena_sdk._sync.base import PREFIX, Endpoints
from arena_sdk.answers import Dataset, DatasetExistence, DatasetSearch, Model, RewardCheck
from arena_sdk.categories import COLUMNS as COLUMNS
from arena_sdk.errors import ArenaFileNotFoundError, ArenaValidationError

PARQUET = "application/vnd.apache.parquet"
CSV = "text/csv"

Part = tuple[str, tuple[str, IO[bytes] | bytes, str]]


class Datasets(Endpoints):
    """Datasets and models of language tasks."""

    def list_datasets(self, *, name: str | None = None, search: str | None = None) -> list[Dataset]:
        """Return your datasets: rows with `id`, `name`, `hf_dataset_id`, `category`, …

        Example:
            >>> [dataset.name for dataset in client.list_datasets(search="math")]
        """
        return Dataset.each(
            self._transport.rows(
                "GET",
                f"{PREFIX}/datasets",
                kind=ArenaValidationError,
                params=given(name=name, search=search),
            )
        )

    def search_datasets(self, text: str) -> DatasetSearch:
        """Search your datasets and those of the Hugging Face hub, as far as it can be asked.

        Only the embedded Arena has this; its feature is `dataset_search`. `list_datasets` with a
        search finds the same, but does not say why the hub was not asked.

        Example:
            >>> client.search_datasets("gsm8k").warnings

        Args:
            text: What is looked for in names and descriptions.

        Returns:
            `datasets`, rows as of `list_datasets`, and `warnings`.
        """
        with self._beyond_contract("dataset_search", "a search of datasets"):
            answer = self._transport.document(
                "GET",
                f"{PREFIX}/datasets/search",
                kind=ArenaValidationError,
                params=[("search", text)],
            )
        return DatasetSearch(answer)

    def dataset_exists(self, name: str) -> DatasetExistence:
        """Return `exists`, and with a dataset its `id` and `datasetType`.

        Example:
            >>> client.dataset_exists("gsm8k").exists
        """
        return DatasetExistence(
            self._transport.document(
                "GET",
                f"{PREFIX}/datasets/exists",
                kind=ArenaValidationError,
                params=[("name", name)],
            )
        )

    def get_dataset(self, name: str) -> Dataset:
        """Return a dataset with the types of its columns, its files and its first rows.

        Only the embedded Arena has this; its feature is `dataset_details`.

        Example:
            >>> client.get_dataset("gsm8k").preview

        Raises:
            ArenaValidationError: There is no such dataset.
        """
        with self._beyond_contract("dataset_details", "details of datasets"):
            answer = self._transport.document(
                "GET",
                f"{PREFIX}/datasets/details",
                kind=ArenaValidationError,
                params=[("name", name)],
            )
        return Dataset(answer)

    def create_dataset(
        self,
        *,
        name: str,
        category: str,
        column_mapping: str | dict[str, Any],
        description: str | None = None,
        file: str | os.PathLike[str] | bytes | None = None,
        config: str | None = None,
        hf_dataset_name: str | None = None,
        hf_config: str | None = None,
        hf_split: str | None = None,
        on_progress: Progress | None = None,
    ) -> Dataset:
        """Create a dataset from files or from one on the Hugging Face hub.

        Example:
            >>> client.create_dataset(
            ...     name="gsm8k",
            ...     category="reasoning",
            ...     column_mapping={"question": "prompt", "answer": "completion"},
            ...     file="data.csv",
            ... )

        Args:
            name: Its name.
            category: `sft`, `preference` or `reasoning`.
            column_mapping: From the keys that the category needs to columns, or that as JSON text.
            description: What it is.
            file: A CSV or Parquet file, a folder of Parquet shards, or the bytes of a CSV.
            config: Which configuration of a folder: its shards lie in a folder of that name, those
                of `default` at the top. Must be given when there are several.
            hf_dataset_name: `owner/name` on the hub.
            hf_config: Which configuration of that.
            hf_split: Which split of that.
            on_progress: Called with the bytes of the files that are sent, and of how many.

        Returns:
            What was created; may hold `is_ready` and `uploaded`.

        Raises:
            ArenaValidationError: The category or the mapping is not valid, or the service said no.
            ArenaFileNotFoundError: The file is not there.
        """
        fields = {
            "name": name,
            "category": category,
            "column_mapping": _mapping_text(category, column_mapping),
            "description": description,
            "hf_dataset_name": hf_dataset_name,
            "hf_config": hf_config,
            "hf_split": hf_split,
            "config": config,
        }
        # Fields go as parts without a file name, so that the body is multipart without a file too.
        parts: list[Any] = [
            (key, (None, value.encode())) for key, value in fields.items() if value is not None
        ]
        with ExitStack() as opened:
            parts += [] if file is None else _file_parts(file, config, opened, Upload(on_progress))
            answer = self._transport.json(
                "POST",
                f"{PREFIX}/datasets/create",
                kind=ArenaValidationError,
                files=parts,
                timeout=self._transport.upload_timeout,
            )
        return Dataset(answer if isinstance(answer, dict) else {})

    def check_reward(
        self,
        reward_file: str | os.PathLike[str] | bytes,
        *,
        dataset: str | None = None,
        question: str | None = None,
        answer: str | None = None,
        completion: str = "",
        function: str = "reward",
    ) -> RewardCheck:
        """Have a reward file imported and its function called once.

        Only the embedded Arena has this; its feature is `reward_check`.

        Example:
            >>> client.check_reward("reward.py", dataset="gsm8k", completion="72").value

        Args:
            reward_file: Python file with `reward(question, answer, completion)`, or its content.
            dataset: The dataset of reasoning whose first row is taken.
            question: The question otherwise.
            answer: The answer otherwise.
            completion: What a model is taken to have said.
            function: Name of the function.

        Returns:
            `sound`, and `value` and `seconds` of the call, or in `error` what is wrong.

        Raises:
            ArenaValidationError: There is no such dataset, or nothing to try the file on.
            ArenaFileNotFoundError: The file is not there.
        """
        fields = {
            "dataset": dataset,
            "question": question,
            "answer": answer,
            "completion": completion,
            "function": function,
        }
        parts: list[Any] = [
            (key, (None, value.encode())) for key, value in fields.items() if value is not None
        ]
        parts.append(("reward_file", reward_part(reward_file)))
        with self._beyond_contract("reward_check", "trials of reward files"):
            answered = self._transport.json(
                "POST",
                f"{PREFIX}/datasets/reward",
                kind=ArenaValidationError,
                files=parts,
                timeout=self._transport.upload_timeout,
            )
        return RewardCheck(answered if isinstance(answered, dict) else {})

    def delete_dataset(self, name: str, *, confirm: bool = False) -> dict[str, Any] | None:
        """Delete a dataset.

        Example:
            >>> client.delete_dataset("gsm8k", confirm=True)

        Args:
            name: Which one.
            confirm: Must be true, as what is deleted is gone.

        Raises:
            ArenaValidationError: It was not confirmed, or there is no such dataset.
        """
        if not confirm:
            raise ArenaValidationError(f"Deleting the dataset {name!r} needs confirm=True.")
        answer: dict[str, Any] | None = self._transport.json(
            "DELETE", f"{PREFIX}/datasets/delete", kind=ArenaValidationError, body={"name": name}
        )
        return answer

    def list_models(self) -> list[Model]:
        """Return language models: `model_name`, `num_params`, `lora_info`, `max_context_length`.

        Example:
            >>> [model.model_name for model in client.list_models()]
        """
        return Model.each(self._transport.rows("GET", f"{PREFIX}/models"))

    def get_model_info(self, model_name: str) -> Model:
        """Return one language model, as `list_models` does.

        Example:
            >>> client.get_model_info("Qwen/Qwen2.5-0.5B").max_context_length
        """
        return Model(
            self._transport.document(
                "POST", f"{PREFIX}/models/info", body={"model_name": model_name}
            )
        )


def _mapping_text(category: str, mapping: str | dict[str, Any]) -> str:
    needed = COLUMNS.get(category)
    if needed is None:
        raise ArenaValidationError(
            f"{category!r} is no category of datasets; there are: {', '.join(COLUMNS)}."
        )
    try:
        value = json.loads(mapping) if isinstance(mapping, str) else mapping
    except ValueError as error:
        raise ArenaValidationError(f"The column mapping is no JSON: {error}.") from None
    missing = [key for key in needed if not (isinstance(value, dict) and value.get(key))]
    if missing:
        raise ArenaValidationError(
            f"The column mapping of a {category} dataset needs {' and '.join(map(repr, missing))}."
        )
    return mapping if isinstance(mapping, str) else json.dumps(mapping)


def _file_parts(
    file: str | os.PathLike[str] | bytes, config: str | None, opened: ExitStack, upload: Upload
) -> list[Part]:
    """Return the parts of a form for a file or a folder of shards; `opened` closes them."""
    if isinstance(file, bytes):
        return [("file", ("data.csv", file, CSV))]
    path = Path(file).expanduser()
    named = shards(path, config) if path.is_dir() else [(path.name, path)]
    return [
        ("file", (name, upload.file(_open(shard, opened)), _type(shard))) for name, shard in named
    ]


def _open(path: Path, opened: ExitStack) -> IO[bytes]:
    if path.exists() and not path.is_file():
        raise ArenaFileNotFoundError(
            f"The dataset file {str(path)!r} is a pipe or a device, which cannot be sent a second"
            " time; write it to a file first."
        )
    try:
        return opened.enter_context(path.open("rb"))
    except OSError as error:
        raise ArenaFileNotFoundError(
            f"The dataset file {str(path)!r} cannot be read: {error.strerror}."
        ) from None


def _type(path: Path) -> str:
    return PARQUET if path.suffix.lower() == ".parquet" else CSV
