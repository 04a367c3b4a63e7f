"""`arena datasets`: what language models are trained on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from arena_sdk.cli.commands import Group
from arena_sdk.cli.context import Globals, confirm_or_refuse, pass_globals
from arena_sdk.cli.exits import NOT_FOUND, USAGE, Failure
from arena_sdk.cli.names import name_argument
from arena_sdk.cli.output import Sink, note, with_closing_sink, with_sink
from arena_sdk.cli.progress import ProgressBar

CATEGORIES = ("preference", "reasoning", "sft")


@click.group(cls=Group)
def datasets() -> None:
    """Upload, list and delete datasets for language models.

    Example: arena datasets list
    """


@datasets.command(name="list")
@click.option("--search", help="Only those that this text is found in, of the hub too.")
@with_sink
@pass_globals
def list_(flags: Globals, sink: Sink, search: str | None) -> None:
    """List datasets.

    Example: arena datasets list --search math -o json
    """
    from arena_sdk.config import LOCAL

    rows: Sequence[Mapping[str, Any]]
    with flags.client() as client:
        # Only the Arena of this machine is asked what it can, so that any other is sent what the
        # contract has and nothing else.
        if search and client.profile == LOCAL and "dataset_search" in client.capabilities():
            found = client.search_datasets(search)
            rows = found.datasets or []
            for warning in found.warnings or ():
                note(f"warning: {warning}")
        else:
            rows = client.list_datasets(search=search)
    sink.rows(
        rows,
        ("name", "category", "hf_dataset_id", "id"),
        empty="No datasets yet: `arena datasets create NAME` uploads one.",
    )


@datasets.command()
@name_argument("name", "dataset")
@with_sink
@pass_globals
def exists(flags: Globals, sink: Sink, name: str) -> None:
    """Say whether there is a dataset of a name, and what it is.

    Example: arena datasets exists my-dataset -o json
    """
    with flags.client() as client:
        sink.one(client.dataset_exists(name))


@datasets.command()
@name_argument("name", "dataset")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_globals
def delete(flags: Globals, name: str, yes: bool) -> None:
    """Delete a dataset.

    Example: arena datasets delete my-dataset --yes
    """
    confirm_or_refuse(f"Delete dataset {name!r}?", yes=yes)
    with flags.client() as client:
        if not client.dataset_exists(name).get("exists"):
            raise Failure(
                f"No dataset is named {name!r}: `arena datasets list` shows them.", NOT_FOUND
            )
        client.delete_dataset(name, confirm=True)
    note(f"Deleted dataset {name!r}.")


def _mapping(text: str | None, path: Path | None) -> str:
    """Return the column mapping as JSON text, from the option or from a file."""
    if (text is None) == (path is None):
        raise click.UsageError("Give either --column-mapping or --column-mapping-file.")
    if path is None:
        return str(text)
    from arena_sdk._files import read_optional

    try:
        return read_optional(path, "column mapping").decode("utf-8")
    except UnicodeDecodeError:
        raise Failure(f"{path} cannot be read: it is no UTF-8 text.", USAGE) from None


@datasets.command()
@click.argument("name")
@click.option("--category", type=click.Choice(CATEGORIES), required=True, help="What it is for.")
@click.option("--column-mapping", help="From what the category needs to columns, as JSON.")
@click.option(
    "--column-mapping-file", type=click.Path(path_type=Path), help="The same from a JSON file."
)
@click.option("--description", help="What it is.")
@click.option("--file", type=click.Path(), help="A CSV or Parquet file, or a folder of Parquet.")
@click.option("--config", help="Which configuration of a folder with several.")
@click.option("--hf-dataset", "hf_dataset_name", help="owner/name on the Hugging Face hub instead.")
@click.option("--hf-config", help="Which configuration of that.")
@click.option("--hf-split", help="Which split of that.")
@with_closing_sink
@pass_globals
def create(
    flags: Globals,
    sink: Sink,
    /,
    column_mapping: str | None,
    column_mapping_file: Path | None,
    file: str | None,
    **options: Any,
) -> None:
    """Create a dataset from files, from one on the Hugging Face hub, or without any yet.

    A mapping has the keys `question` and `answer` (reasoning), `prompt`, `chosen` and `rejected`
    (preference), or `prompt` and `target` (sft).

    Example: arena datasets create qa --category sft --column-mapping-file map.json --file qa.csv
    """
    mapping = _mapping(column_mapping, column_mapping_file)
    bar = ProgressBar("Uploading", quiet=sink.quiet)
    with flags.client() as client:
        try:
            made = client.create_dataset(
                column_mapping=mapping, file=file, on_progress=bar, **options
            )
        finally:
            bar.clear()
    for warning in made.get("warnings") or ():
        note(f"warning: {warning}")
    sink.one(made)


@datasets.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--dataset", help="Try it on the first row of this dataset of the Arena.")
@click.option("--question", help="Try it on this question instead, without a server …")
@click.option("--answer", help="… with this answer.")
@click.option("--completion", default="", help="What a model is taken to have said.")
@click.option("--function", default="reward", show_default=True, help="Name of the function.")
@with_closing_sink
@pass_globals
def reward(flags: Globals, sink: Sink, /, file: Path, **options: Any) -> None:
    """Try the reward file of a reasoning run: it is imported and called once.

    Told are the value and the time of the call, or in one sentence what is wrong; exit 1 then.

    Example: arena datasets reward reward.py --question "1 + 1?" --answer 2 --completion "It is 2"
    """
    example = (options["question"], options["answer"])
    if (options["dataset"] is None) == (None in example):
        raise click.UsageError("Give --dataset, or --question and --answer.")
    if options["dataset"] is not None:
        with flags.client() as client:
            found = dict(client.check_reward(file, **options))
    else:
        found = _tried_here(file, options)
    sink.one(found, ("sound", *(key for key in REWARD_KEYS if found.get(key) not in (None, ""))))
    for warning in found.get("warnings") or ():
        note(f"warning: {warning}")
    if not found.get("sound"):
        raise Failure(str(found.get("error") or f"{file.name} is not sound."))


REWARD_KEYS = ("value", "seconds", "import_seconds", "output")


def _tried_here(file: Path, options: dict[str, Any]) -> dict[str, Any]:
    """Try a reward file in a worker process of this machine."""
    import asyncio
    import importlib.util

    from arena_sdk._files import reward_part
    from arena_sdk._stored import arena_home

    for module in ("fastapi", "psutil", "sqlalchemy"):
        if importlib.util.find_spec(module) is None:
            raise Failure(
                f"Trying a reward file here needs the extra `local` ({module} is missing):"
                ' python -m pip install "arena-tui[local]"'
            )
    from arena_sdk.local.checking import CheckRefused
    from arena_sdk.local.rewards.alone import check_alone
    from arena_sdk.local.services.rewards import RewardTrial

    name, content, _ = reward_part(file)
    try:
        return asyncio.run(
            check_alone(RewardTrial(name, content, **options), arena_home() / "check")
        )
    except CheckRefused as refused:
        raise Failure(str(refused)) from None
