"""The headless `arena` command, for scripts and CI, on the same client as everything else.

It may import the client, never the dashboard; the embedded Arena only inside its own commands.
Start reading at `root.py` (the table of commands), then `commands.py`, `output.py` and `exits.py`.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run `arena` as a program."""
    from arena_sdk.cli.root import run

    # httpx imports a command line of its own, and Rich with it where that is installed. Nobody
    # calls that one from here, and it is a fifth of what `arena env list` costs.
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
    run()
