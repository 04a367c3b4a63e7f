"""The fence around user code: hangs, crashes, floods, swarms and forgeries are findings."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from arena_sdk.local.validation.names import CHECK_NAMES
from arena_sdk.local.validation.patient import LONGEST_LOOK, PatientClock, waited_seconds
from tests.local.validation.sources import Report, at_start, before_step, failures, walk, warnings

Check = Callable[..., Report]


@pytest.mark.parametrize(
    ("source", "where", "stack"),
    [
        (
            before_step("while self.steps == 3:", "    pass"),
            "Step",
            ["env.py:25 in step"],
        ),
        (
            walk(
                reset_head="    def reset(self, *, seed=None, options=None):\n        self.wait()\n"
            )
            + "    def wait(self):\n        import time\n        time.sleep(99)\n",
            "Reset return type",
            ["env.py:20 in reset", "env.py:30 in wait"],
        ),
        (
            at_start(
                "import threading", "threading.Lock().__enter__()", "a = threading.Lock()"
            ).replace("a = threading.Lock()", "a = threading.Lock(); a.acquire(); a.acquire()"),
            "Preliminary environment",
            ["env.py:14 in __init__"],
        ),
    ],
    ids=["step", "reset", "constructor"],
)
def test_a_call_that_blocks_is_ended_with_the_stack_it_was_in(
    check: Check, source: str, where: str, stack: list[str]
) -> None:
    report = check(source, call_seconds=1.5)
    assert failures(report)[where] == (
        f"A call into the environment did not return within 2 s. It was at {stack[-1]}."
    )
    assert report["checks"][-1]["stack"] == stack
    assert report["not_run"][0] == CHECK_NAMES[CHECK_NAMES.index(where) + 1 :][0]


def test_a_check_whose_calls_all_return_has_a_limit_too(check: Check) -> None:
    slow = before_step("import time", "time.sleep(0.3)")
    report = check(slow, check_seconds=4.0, call_seconds=20.0)
    assert re.fullmatch(
        r"The check did not end within \d s, though every call returned: reset or step is too slow"
        r" to train on\. It was at env\.py:26 in step\.",
        failures(report)["Step"],
    )
    assert report["checks"][-1]["stack"] == ["env.py:26 in step"]
    assert report["not_run"] == ["Episode lifecycle"]


@pytest.mark.skipif(waited_seconds() == 0, reason="this kernel keeps no such account")
def test_waiting_for_a_processor_that_others_have_is_no_hang(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena_sdk.local.validation.patient.WALL_FACTOR", 1e9)
    cpu = min(os.sched_getaffinity(0))
    slow = before_step(
        "import os, time",
        "if self.steps == 3 and Walk.count == 0:",
        "    Walk.count, all_of_them, begun = 1, os.sched_getaffinity(0), time.process_time()",
        f"    os.sched_setaffinity(0, {{{cpu}}})",
        "    while time.process_time() - begun < 0.35: pass",
        "    os.sched_setaffinity(0, all_of_them)",
    ).replace("    def __init__", "    count = 0\n\n    def __init__")
    code = (
        f"import os, time; os.sched_setaffinity(0, {{{cpu}}}); until = time.monotonic() + 60\n"
        "while time.monotonic() < until: pass"
    )
    others = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(3)]
    try:
        report = check(slow, call_seconds=1.2)
    finally:
        for other in others:
            other.kill()
            other.wait()
    assert failures(report) == {}


def test_a_watcher_that_was_kept_from_looking_counts_little_of_that_time() -> None:
    clock = PatientClock(os.getpid())
    time.sleep(4 * LONGEST_LOOK)
    assert clock.now() <= LONGEST_LOOK


def test_a_call_that_holds_the_interpreter_is_ended_too(check: Check) -> None:
    source = before_step("import re", "re.match(r'(a+)+$', 'a' * 40 + 'b')")
    report = check(source, call_seconds=1.5)
    said = failures(report)["Step"]
    assert said.startswith("A call into the environment did not return within 2 s. It was at ")
    assert "env.py:26 in step" in report["checks"][-1]["stack"]


def test_a_crash_in_c_is_told_with_the_python_stack(check: Check) -> None:
    report = check(before_step("import ctypes", "ctypes.string_at(0)"))
    assert failures(report)["Step"].startswith(
        "The environment's process was ended by SIGSEGV, a crash in C code. It was at"
    )
    assert report["checks"][-1]["stack"][0] == "env.py:26 in step"


def test_what_is_printed_is_shown_under_its_check_and_taken_for_nothing_else(
    check: Check,
) -> None:
    loud = "print('imported')\n" + before_step('print(\'{"kind": "end"}\')')
    report = check(loud)
    assert report["validated"] is True
    output = {result["check"]: result.get("output") for result in report["checks"]}
    assert output["Environment class path"] == {"bytes": 9, "lines": 1, "first": "imported"}
    assert output["Action space"] is None
    count = output["Step"]["lines"]
    assert output["Step"]["first"] == '{"kind": "end"}'
    assert warnings(report) == {
        "Step": [
            f"The environment printed {count:,} lines ({16 * count:,} bytes) during this check,"
            ' which slows training; the first: {"kind": "end"}'
        ]
    }


def test_a_flood_of_output_is_drained_and_not_kept(check: Check) -> None:
    report = check(
        "import os\n" + at_start("for _ in range(100):", "    os.write(1, b'x' * 1_000_000)")
    )  # each of the two copies that are made
    assert report["validated"] is True
    written = sum(result.get("output", {}).get("bytes", 0) for result in report["checks"])
    assert written == 200_000_000


def test_writing_to_every_descriptor_forges_no_result(check: Check) -> None:
    # Those of the tests' own process are spared: what runs the tests talks over them.
    own = {int(name) for name in os.listdir("/dev/fd")}
    forged = at_start(
        "import os",
        f"for fd in set(range(3, 60)) - {own}:",
        "    try:",
        '        os.write(fd, b\'{"kind": "end"}\\n\')',
        "    except OSError:",
        "        pass",
        "raise ValueError('still here')",
    )
    assert failures(check(forged)) == {
        "Preliminary environment": "Walk(…) raised ValueError: still here (env.py:18)."
    }


def test_a_swarm_of_processes_is_ended(check: Check) -> None:
    swarm = at_start(
        "import subprocess, time",
        "self.kids = [subprocess.Popen(['sleep', '30']) for _ in range(90)]",
        "time.sleep(5)",
    )
    said = failures(check(swarm, call_seconds=20.0))["Preliminary environment"]
    assert re.fullmatch(r"The environment started \d+ processes and was ended\.", said)


def test_memory_beyond_the_limit_ends_it(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena_sdk.local.validation.guard.MEMORY_SHARE", 0.03)
    hog = at_start(
        "import time",
        "self.held = []",
        "for _ in range(500):",
        "    self.held.append(np.ones(3_000_000))",
        "    time.sleep(0.01)",
    )
    said = failures(check(hog, call_seconds=20.0))["Preliminary environment"]
    assert re.fullmatch(r"The environment needed \d\.\d GB of memory and was ended\.", said)
