"""The tree of commands of a click program as plain data, ours or another's.

Run by the interpreter of the published client it prints that one's tree as JSON; it imports
nothing of ours.
"""

from __future__ import annotations

import importlib.metadata
import json
import sys
from collections.abc import Iterator
from typing import Any

import click


def commands(root: click.Command) -> Iterator[tuple[tuple[str, ...], click.Command, click.Context]]:
    """Yield every command and group below a program, with its path and a context."""
    stack = [((), root, click.Context(root, info_name="arena", **root.context_settings))]
    while stack:
        path, command, ctx = stack.pop()
        yield path, command, ctx
        if isinstance(command, click.Group):
            for name in command.list_commands(ctx):
                inner = command.get_command(ctx, name)
                assert inner is not None, name
                below = click.Context(inner, info_name=name, parent=ctx)
                stack.append(((*path, name), inner, below))


def described(parameter: click.Parameter) -> dict[str, Any]:
    """Return what a script relies on of an argument or option."""
    kind = parameter.type
    default = parameter.default
    flag = getattr(parameter, "is_flag", False)
    return {
        "kind": parameter.param_type_name,
        "name": parameter.name,
        "opts": sorted(parameter.opts) if parameter.param_type_name == "option" else [],
        "off": sorted(parameter.secondary_opts),
        "flag": bool(flag),
        "multiple": bool(getattr(parameter, "multiple", False)),
        "nargs": parameter.nargs,
        "required": parameter.required,
        # An unset flag is off; click's own word for unset differs between its versions.
        "default": default if isinstance(default, str | int | float) and default else None,
        "choices": [str(choice) for choice in getattr(kind, "choices", [])],
        "least": getattr(kind, "min", None),
        "most": getattr(kind, "max", None),
        "numeric": kind.name.split(" ")[0] if kind.name.startswith(("integer", "float")) else None,
    }


def tree(root: click.Command) -> dict[str, list[dict[str, Any]]]:
    """Return the parameters of every command by its path, words joined by spaces."""
    return {
        " ".join(path): [described(parameter) for parameter in command.get_params(ctx)]
        for path, command, ctx in commands(root)
    }


if __name__ == "__main__":
    programs = importlib.metadata.entry_points(group="console_scripts", name="arena")
    json.dump(tree(next(iter(programs)).load()), sys.stdout)
