"""`arena models`: language models that can be trained."""

from __future__ import annotations

import json
from pathlib import Path

import click

from arena_sdk.cli.commands import Group
from arena_sdk.cli.context import Globals, pass_globals
from arena_sdk.cli.names import name_argument
from arena_sdk.cli.output import Sink, with_json_sink, with_sink

CATALOGUE = Path(__file__).with_name("supported_models.json")
"""The models that hosted Arena supports, as of the client whose contract this one keeps."""


@click.group(cls=Group)
def models() -> None:
    """List language models that can be trained.

    Example: arena models list
    """


@models.command(name="list")
@with_sink
@pass_globals
def list_(flags: Globals, sink: Sink) -> None:
    """List the models that this Arena has.

    Example: arena models list -o json
    """
    with flags.client() as client:
        rows = client.list_models()
    sink.rows(
        rows,
        ("model_name", "num_params", "max_context_length"),
        empty="This Arena has no language models.",
    )


@models.command()
@with_json_sink
def supported(sink: Sink) -> None:
    """Print what is known of every model that hosted Arena supports; asks no server.

    Example: arena models supported -o table
    """
    rows = json.loads(CATALOGUE.read_text(encoding="utf-8"))
    sink.rows(rows, ("hub_id", "status", "architecture", "num_params", "max_context_length"))


@models.command()
@name_argument("model", "model", picked=True)
@with_sink
@pass_globals
def info(flags: Globals, sink: Sink, model: str) -> None:
    """Show one model with the layers that LoRA can adapt.

    Example: arena models info Qwen/Qwen3-4B -o json
    """
    with flags.client() as client:
        sink.one(client.get_model_info(model))
