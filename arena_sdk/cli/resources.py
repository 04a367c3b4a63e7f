"""`arena resources`."""

from __future__ import annotations

import click

from arena_sdk.cli.commands import Group
from arena_sdk.cli.context import Globals, pass_globals
from arena_sdk.cli.output import Sink, with_sink

COLUMNS = (
    "resource_id",
    "name",
    "num_gpus",
    "gpu_type",
    "num_cpus",
    "ram_gb",
    "price_per_node_hour",
)


@click.group(cls=Group)
def resources() -> None:
    """List what an experiment can run on.

    Example: arena resources list
    """


@resources.command(name="list")
@with_sink
@pass_globals
def list_(flags: Globals, sink: Sink) -> None:
    """List compute tiers, cheapest first; prices are credits a node and hour.

    Example: arena resources list
    """
    with flags.client() as client:
        tiers = client.list_resources().get("tiers", {})
    rows = [{"resource_id": key, **tier} for key, tier in tiers.items()]
    rows.sort(key=lambda row: row.get("price_per_node_hour") or 0)
    sink.rows(rows, COLUMNS, empty="This Arena offers no resources.")
