"""What user code cannot reach: files outside of its job, other processes, all of the memory."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from arena_sdk.local.validation.confine import landlock_version
from arena_sdk.local.validation.grouping import CALLS
from arena_sdk.local.validation.limits import machine_memory
from tests.local.conftest import is_alive, wait_until
from tests.local.validation.sources import Report, at_start, failures

Check = Callable[..., Report]

confined = pytest.mark.skipif(landlock_version() < 6, reason="this kernel has no such Landlock")
ONLY_ITS_OWN = (
    "A worker may only write to its own folder; use the working folder or tempfile, and leave the"
    " sources as they are."
)


@confined
@pytest.mark.parametrize(
    "attempt",
    [
        "import shutil; shutil.rmtree({path!r})",
        "open({path!r} + '/kept.txt', 'w')",
        "open({path!r} + '/new.txt', 'x')",
        "import os; os.truncate({path!r} + '/kept.txt', 0)",
        "import os; os.rename({path!r} + '/kept.txt', 'mine.txt')",
        "import os; os.symlink('/', {path!r} + '/link')",
        "import os; os.mkdir({path!r} + '/folder')",
        "import os; os.link({path!r} + '/kept.txt', 'mine.txt')",
    ],
)
def test_files_outside_of_the_job_cannot_be_changed(
    check: Check, tmp_path: Path, attempt: str
) -> None:
    outside = tmp_path / "home"
    outside.mkdir()
    (outside / "kept.txt").write_text("kept")
    said = failures(check(at_start(attempt.format(path=str(outside)))))["Preliminary environment"]
    assert re.match(r"Walk\(…\) raised (PermissionError|OSError): ", said)
    assert [path.name for path in outside.iterdir()] == ["kept.txt"]
    assert (outside / "kept.txt").read_text() == "kept"


@confined
def test_the_sources_stay_as_they_were_uploaded(check: Check) -> None:
    said = failures(check(at_start("open(__file__, 'a').write('x = 1')")))
    assert said["Preliminary environment"].endswith(f"(env.py:12). {ONLY_ITS_OWN}")


def test_its_own_folders_can_be_written_to(check: Check) -> None:
    writes = at_start(
        "import os, tempfile",
        "open('mine.txt', 'w').close()",
        "os.rename('mine.txt', 'other.txt')",
        "tempfile.NamedTemporaryFile().close()",
        "open(os.devnull, 'w').close()",
    )
    assert failures(check(writes)) == {}


@confined
@pytest.mark.parametrize("signal", ["SIGKILL", "SIGSTOP", "SIGTERM"])
def test_other_processes_cannot_be_signalled(check: Check, signal: str) -> None:
    rogue = at_start("import os, signal", f"os.kill({os.getpid()}, signal.{signal})")
    assert failures(check(rogue))["Preliminary environment"].startswith(
        "Walk(…) raised PermissionError: [Errno 1] Operation not permitted (env.py:13)."
    )


def test_a_wild_size_is_an_error_and_not_the_end_of_the_machine(check: Check) -> None:
    many = machine_memory() // 8 + 1_000_000
    said = failures(check(at_start(f"self.held = np.ones({many})")))["Preliminary environment"]
    assert "MemoryError: Unable to allocate" in said


@pytest.mark.skipif(platform.machine() not in CALLS, reason="no filter for this machine")
def test_whoever_leaves_the_process_group_stays_in_it(check: Check) -> None:
    leaves = at_start(
        "import os, subprocess, sys",
        "before = os.getpgid(0)",
        "os.setsid(); os.setpgid(0, 0)",
        "code = 'import os; os.setsid(); print(os.getpgid(0))'",
        "child = subprocess.run([sys.executable, '-c', code], start_new_session=True,",
        "    stdout=subprocess.PIPE, text=True)",
        "assert [os.getpgid(0), int(child.stdout)] == [before, before]",
    )
    assert failures(check(leaves)) == {}


def test_daemons_in_sessions_of_their_own_count_and_are_ended(check: Check) -> None:
    daemons = at_start(
        "import subprocess, time",
        "mark = ['sleep', '31.4159']",
        "kids = [subprocess.Popen(mark, start_new_session=True) for _ in range(70)]",
        "time.sleep(9)",
    )
    said = failures(check(daemons, call_seconds=20.0))["Preliminary environment"]
    told = r"(started \d+ processes|needed [\d.]+ GB of memory) and was ended\."
    assert re.fullmatch(rf"The environment {told}", said)
    left = [p for p in psutil.process_iter(["cmdline"]) if "31.4159" in (p.info["cmdline"] or [])]
    assert [p.pid for p in left if p.status() != psutil.STATUS_ZOMBIE] == []


def test_a_bomb_of_forks_is_ended_with_all_of_its_shards(check: Check) -> None:
    bomb = at_start(
        "import os, time",
        "until = time.monotonic() + 5",
        "while time.monotonic() < until:",
        "    if os.fork() == 0:",
        "        open('shard-%d' % os.getpid(), 'w').close()",
        "        time.sleep(0.02)",
        "    time.sleep(0.005)",
    )
    said = failures(check(bomb, call_seconds=20.0))["Preliminary environment"]
    told = r"(started \d+ processes|needed [\d.]+ GB of memory) and was ended\."
    assert re.fullmatch(rf"The environment {told}", said)
    shards = [int(path.name.split("-")[1]) for path in Path.cwd().glob("shard-*")]
    assert shards
    assert wait_until(lambda: not any(map(is_alive, shards)), 20)
