"""What `arena experiments submit` takes to change a manifest and to vary it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


@dataclass(frozen=True)
class Variation:
    """What was asked for.

    Attributes:
        overrides: Values by dotted path, for every child.
        seeds: A child for each.
        grid: Lists of values by dotted path.
    """

    overrides: dict[str, Any]
    seeds: list[int]
    grid: dict[str, list[Any]]

    @property
    def is_sweep(self) -> bool:
        """Whether there is more than one child, or could be."""
        return bool(self.seeds or self.grid)


def _pairs(texts: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        path, equals, value = text.partition("=")
        if not equals:
            raise click.BadParameter(f"{text!r} is not KEY=VALUE, as in algorithm.lr=1e-3.")
        if path in found:
            raise click.BadParameter(f"{path} is given twice.")
        found[path] = value
    return found


def _set(ctx: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> dict[str, Any]:
    from arena_sdk.sweeps import value_of

    return {path: value_of(text) for path, text in _pairs(texts).items()}


def _grid(ctx: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> dict[str, Any]:
    from arena_sdk.sweeps import values_of

    return {path: values_of(text) for path, text in _pairs(texts).items()}


def _seeds(ctx: click.Context, option: click.Parameter, text: str | None) -> list[int]:
    if text is None:
        return []
    try:
        seeds = [int(part) for part in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a list of whole numbers, as in 1,2,3.") from None
    if len(set(seeds)) != len(seeds) or min(seeds) < 0:
        raise click.BadParameter("Seeds are whole numbers from 0 up, each given once.")
    return seeds


def with_variation(command: Decorated) -> Decorated:
    """Give a command the flags of a sweep."""
    for option in (
        click.option(
            "--dry-run", is_flag=True, help="Print what would be submitted, and submit nothing."
        ),
        click.option(
            "--grid",
            multiple=True,
            metavar="KEY=V1,V2",
            callback=_grid,
            help="An experiment for each value; several make every combination.",
        ),
        click.option(
            "--seeds", metavar="1,2,3", callback=_seeds, help="An experiment for each seed."
        ),
        click.option(
            "--set",
            "overrides",
            multiple=True,
            metavar="KEY=VALUE",
            callback=_set,
            help="Change the manifest, as in algorithm.lr=1e-3.",
        ),
    ):
        command = option(command)
    return command
