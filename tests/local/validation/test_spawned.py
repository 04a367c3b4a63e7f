"""An environment in a process of its own: it starts there, and plays the same as here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.local.validation.sources import PAIR, Report, failures, walk, warnings

Check = Callable[..., Report]
COLOURS = "colours = {'red', 'green', 'blue', 'black', 'white', 'grey', 'brown', 'pink'}\n"
ORDERED_BY_HASH = (
    COLOURS
    # Of the places of four colours: those of one agree by chance in two processes, one time in 8.
    + "shown = [sorted(colours)[i] for i in range(4)]\n"
    + "code = sum(list(colours).index(c) / 8 ** (i + 1) for i, c in enumerate(shown))\n"
    + walk(look="        return np.array([self.at / self.size, code], np.float32)\n")
)
DIFFERS = (
    "With the same seed and actions it differs from reset(seed=7) on in another process. Iterate"
    " over a sorted list instead of a set, and do not use hash() of text."
)
ONLY_WHERE_IT_WAS_VALIDATED = (
    "import os\n"
    "assert os.environ.setdefault('WALK_MASTER', str(os.getpid())) == str(os.getpid()), 'no master'"
    "\n" + walk()
)


@pytest.mark.parametrize(
    ("source", "changes", "told"),
    [
        (walk(), {}, {}),
        (PAIR, {"multi_agent": True}, {}),
        ({"json.py": "raise ImportError", "pkg/__init__.py": "", "pkg/env.py": walk()}, {}, None),
        (ORDERED_BY_HASH, {}, {"Episode lifecycle": [DIFFERS]}),
        (
            ONLY_WHERE_IT_WAS_VALIDATED,
            {},
            {
                "Episode lifecycle": [
                    "In a new process it raised AssertionError: no master (env.py:2). Copies in"
                    " processes of their own would fail so."
                ]
            },
        ),
    ],
    ids=["sound", "parallel", "hides a module", "ordered by hash", "only in one process"],
)
def test_a_new_process_makes_and_plays_it(
    check: Check,
    source: Any,
    changes: dict[str, Any],
    told: dict[str, list[str]] | None,
) -> None:
    report = check(source, spawns=True, **changes)
    assert failures(report) == {}
    if told is not None:
        assert warnings(report) == told
    else:
        assert "Episode lifecycle" not in warnings(report)
