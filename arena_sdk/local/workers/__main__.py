"""`python -m arena_sdk.local.workers KIND SPEC`: one job, in a process of its own."""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import signal
import sys
from pathlib import Path

from arena_sdk.local.workers.channel import STACK_FILE, Channel, run
from arena_sdk.local.workers.printing import print_whole_lines

KINDS = ("dataset", "hub", "play", "profile", "reward", "serve", "spaces", "train", "validate")


def main() -> None:
    """Read the job, do it, and leave without waiting for threads of user code."""
    kind, spec = sys.argv[1:]
    if kind not in KINDS:
        raise SystemExit(f"there is no worker for {kind!r}")
    print_whole_lines()
    channel = Channel.open()
    faulthandler.enable()
    path = Path(spec)
    # The supervisor asks for the stack of a worker that it is about to end for its time-out.
    stack = (path.parent / STACK_FILE).open("w", encoding="utf-8")
    faulthandler.register(signal.SIGUSR1, file=stack, all_threads=True)
    payload = json.loads(path.read_text(encoding="utf-8"))
    path.unlink()  # it may hold a token
    module = importlib.import_module(f"arena_sdk.local.workers.{kind}")
    code = run(module.main, payload, channel)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


main()
