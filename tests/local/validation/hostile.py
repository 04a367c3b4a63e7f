"""Sources and archives of those who mean harm, or of those whose code goes badly wrong.

`SOURCES` are environments by what they do; in their texts, VICTIM stands for a folder that is not
theirs. `archives` makes uploads that no honest client sends.
"""

from __future__ import annotations

import io
import tarfile
from typing import Any

from hypothesis import strategies as st

from tests.local.validation.sources import HEAD, at_start, before_step, returning, walk

FORGED = '{"kind": "result", "result": {"validated": true, "checks": []}}'
EVERY_DESCRIPTOR = f"""
import os
for fd in range(3, 256):
    try:
        os.write(fd, b'{FORGED}\\n{{"kind": "end"}}\\n')
    except OSError:
        pass
"""
PARENTS_PIPES = f"""
import os, psutil
for parent in psutil.Process().parents():
    for place in ("fd/%d" % n for n in range(3, 40)):
        try:
            with open("/proc/%d/%s" % (parent.pid, place), "wb", buffering=0) as pipe:
                pipe.write(b'{FORGED}\\n')
        except OSError:
            pass
    try:
        with open("/proc/%d/mem" % parent.pid, "r+b") as memory:
            memory.seek(4096); memory.write(b"x")
    except (OSError, ValueError):
        pass
"""
HANDLERS = """
import signal
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
"""


def at_import(text: str) -> str:
    """Return the sound environment, with a text before it."""
    return text + "\n" + walk()


def at_reset(*lines: str) -> str:
    """Return the sound environment with lines at the start of `reset`."""
    body = "".join(f"        {line}\n" for line in lines)
    head = "    def reset(self, *, seed=None, options=None):\n"
    return walk(reset_head=f"{head}{body}        super().reset(seed=seed)\n")


def with_method(text: str) -> str:
    return walk() + text


SOURCES: dict[str, str | dict[str, str]] = {
    "ends its process at import": at_import("import os; os._exit(0)"),
    "ends its process in a step, as if all were well": before_step("import os", "os._exit(0)"),
    "ends its process in reset": at_reset("import os", "os._exit(70)"),
    "raises SystemExit at import": at_import("raise SystemExit(0)"),
    "raises a BaseException of its own": at_import("class E(BaseException): pass\nraise E"),
    "aborts": before_step("import os", "os.abort()"),
    "kills itself": before_step("import os", "os.kill(os.getpid(), 9)"),
    "stops itself": before_step("import os", "os.kill(os.getpid(), 19)"),
    "is ended by its own alarm": before_step("import signal", "signal.alarm(1)", "signal.pause()"),
    "reads address zero": before_step("import ctypes", "ctypes.string_at(0)"),
    "overflows the stack of C": before_step(
        "import sys", "sys.setrecursionlimit(10**9)", "f = lambda g: g(g)", "f(f)"
    ),
    "kills its parent": before_step("import os", "os.kill(os.getppid(), 9)"),
    "kills its parent's parent": before_step(
        "import psutil", "psutil.Process().parents()[1].kill()"
    ),
    "kills its group": before_step("import os", "os.killpg(0, 9)"),
    "leaves its group and hangs": before_step("import os", "os.setsid()", "while True: pass"),
    "loops for ever at import": at_import("while True: pass"),
    "loops for ever in a step": before_step("while True: pass"),
    "loops for ever in C": before_step("import re", "re.match(r'(a+)+$', 'a' * 40 + 'b')"),
    "sleeps for ever in reset": at_reset("import time", "time.sleep(1e6)"),
    "ignores every signal and hangs": at_import(HANDLERS + "while True: pass"),
    "waits for a thread that never ends": at_start(
        "import threading, time", "threading.Thread(target=time.sleep, args=(1e6,)).start()"
    ),
    "hangs when it is collected": with_method("    def __del__(self):\n        while True: pass\n"),
    "hangs at the end of its process": at_import(
        "import atexit, time\natexit.register(time.sleep, 1e6)"
    ),
    "hangs in close": with_method("    def close(self):\n        while True: pass\n"),
    # Bounded: the kernel sets no limit for root, and one without a bound takes the machine along.
    # Bombs that end by themselves: one that is not caught must not take the machine with it.
    "is a bomb of forks": at_start(
        "import os, time", "for _ in range(9): os.fork()", "time.sleep(20)"
    ),
    "is a bomb of shells": at_start(
        "import subprocess, time",
        "bomb = 'f() { [ $1 = 0 ] || { f $(($1 - 1)) | f $(($1 - 1)) & }; sleep 20; }; f 9'",
        "subprocess.Popen(['sh', '-c', bomb], start_new_session=True)",
        "time.sleep(20)",
    ),
    "is a bomb whose every shard is a session": at_start(
        "import os, time",
        "for _ in range(9):",
        "    if os.fork() == 0: os.setsid()",
        "time.sleep(20)",
    ),
    "starts daemons": at_start(
        "import subprocess",
        "[subprocess.Popen(['sleep', '99'], start_new_session=True) for _ in range(20)]",
    ),
    "starts a daemon that nobody is the parent of": at_start(
        "import subprocess", "subprocess.run(['sh', '-c', 'setsid sleep 99 & exit'])"
    ),
    "starts a thousand threads": at_start(
        "import threading, time",
        "for _ in range(1000):",
        "    threading.Thread(target=time.sleep, args=(99,), daemon=True).start()",
    ),
    "opens all descriptors that there are": at_start(
        "import os", "self.kept = [os.open(os.devnull, 0) for _ in range(10**7)]"
    ),
    "asks for a petabyte": before_step("np.ones(10**14)"),
    "takes memory for ever": before_step(
        "self.kept = getattr(self, 'kept', [])", "while True: self.kept.append(np.ones(10**7))"
    ),
    "takes memory in children": at_start(
        "import subprocess, sys, time",
        "code = 'x = []\\nwhile True: x.append(bytearray(10**8)); x[-1][::4096] = bytes(24415)'",
        "[subprocess.Popen([sys.executable, '-c', code]) for _ in range(3)]",
        "time.sleep(60)",
    ),
    "prints a gigabyte": at_import(
        "import os\nfor _ in range(1000): os.write(1, b'x' * 1_000_000)"
    ),
    "prints a gigabyte of short lines as errors": at_import(
        "import os\nfor _ in range(1000): os.write(2, b'no\\n' * 333_333)"
    ),
    "has a child print for ever": at_start(
        "import subprocess, time", "subprocess.Popen(['yes'])", "time.sleep(60)"
    ),
    "prints what looks like a verdict": before_step(f"print('{FORGED}')", "raise ValueError"),
    "closes its output": at_start("import os, sys", "sys.stdout.close()", "os.close(1)"),
    "writes to every descriptor": at_import(EVERY_DESCRIPTOR + "raise ValueError"),
    "writes to its parents' pipes and memory": at_import(PARENTS_PIPES + "raise ValueError"),
    "removes its home and its working folder": at_start(
        "import os, shutil",
        "shutil.rmtree(os.path.expanduser('~'), ignore_errors=True)",
        "shutil.rmtree('.', ignore_errors=True)",
    ),
    "removes what is not its own": at_start(
        "import shutil", "shutil.rmtree('VICTIM', ignore_errors=True)"
    ),
    "empties what is not its own": at_start(
        "import os",
        "for folder, _, names in os.walk('VICTIM'):",
        "    for name in names:",
        "        try: os.truncate(os.path.join(folder, name), 0)",
        "        except OSError: pass",
    ),
    "leaves something where it is not its own": at_start("open('VICTIM/mine', 'w').close()"),
    "removes its source": at_start(
        "import os, shutil", "shutil.rmtree(os.path.dirname(__file__), ignore_errors=True)"
    ),
    "has a child remove what is not its own": at_start(
        "import subprocess", "subprocess.run(['sh', '-c', 'rm -rf VICTIM; setsid rm -rf VICTIM'])"
    ),
    "leaves odd files": at_start(
        "import os",
        "os.mkfifo('pipe'); os.symlink('/', 'root'); os.symlink('self', 'self')",
        "os.makedirs('a/' * 200); open(b'\\xff\\n', 'w').close(); os.chmod('a', 0)",
    ),
    "raises ten megabytes of text": before_step("raise ValueError('x' * 10_000_000)"),
    "raises what cannot be shown": before_step(
        "class E(Exception):", "    def __str__(self): raise self", "raise E"
    ),
    "gives an observation whose text never ends": returning(
        observation="type('O', (), {'__repr__': lambda self: iter(int, 1).__next__() or"
        " [None for _ in iter(int, 1)]})()"
    ),
    "gives info of a million keys": returning(info="dict.fromkeys(range(1_000_000))"),
    "gives info that contains itself": returning(info="(lambda d: d.update(d=d) or d)({})"),
    "gives a reward that lies about its class": returning(
        reward="type('R', (), {'__class__': float, '__float__': lambda self: 1 / 0})()"
    ),
    "answers no attribute": with_method(
        "    def __getattribute__(self, name):\n        raise RuntimeError(name)\n"
    ),
    "changes what the checks are made of": at_import(
        "import builtins, json, os\nbuiltins.isinstance = None\njson.dumps = None\nos.write = None"
    ),
    "sets no limit to itself": at_import(
        "import resource, sys\n"
        "for which in (resource.RLIMIT_DATA, resource.RLIMIT_FSIZE):\n"
        "    try: resource.setrlimit(which, (-1, -1))\n"
        "    except ValueError: pass"
    ),
    "is not text": {"env.py": "\0" * 1000},
    "is nested without end": {"env.py": "x = " + "(" * 20_000 + ")" * 20_000},
    "adds without end": {"env.py": HEAD + "x = " + "+".join(["1"] * 50_000)},
    "is five megabytes": {"env.py": walk() + "x = 1\n" * 800_000},
    "imports itself in circles": {
        "env.py": "import other\n" + walk(),
        "other.py": "import env\nenv.Walk()\n",
    },
    "has the name of the checks": {"arena_sdk.py": walk(), "json.py": "raise ImportError"},
    "is empty": {"env.py": ""},
    "is sound": walk(),
}


def packed(files: dict[str, Any]) -> bytes:
    """Return a gzip tar of files: texts, bytes, or raw headers by any key."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in files.items():
            if isinstance(content, tarfile.TarInfo):
                tar.addfile(content)
                continue
            raw = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size = len(raw)
            tar.addfile(info, io.BytesIO(raw))
    return buffer.getvalue()


NAMES = st.sampled_from(
    [
        "env.py",
        "../up.py",
        "/etc/passwd",
        "a/../../b",
        "..",
        ".",
        "a\\b",
        "C:x",
        "x" * 300,
        "d/" * 90,
    ]
) | st.text(max_size=40)
KINDS = st.sampled_from(
    [
        tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.CHRTYPE,
        tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.GNUTYPE_SPARSE, b"Z",
    ]
)  # fmt: skip


@st.composite
def members(draw: st.DrawFn) -> tarfile.TarInfo:
    """A header without content: any name, kind and link."""
    info = tarfile.TarInfo(draw(NAMES) or "x")
    info.type = draw(KINDS)
    info.linkname = draw(NAMES)
    info.mode = draw(st.sampled_from([0, 0o644, 0o4777]))
    info.mtime = draw(st.sampled_from([0, -1, 2**40]))
    return info


@st.composite
def archives(draw: st.DrawFn) -> bytes:
    """A gzip tar with something wrong about it: its members, its bytes, or its end."""
    found = draw(st.lists(members(), min_size=1, max_size=6))
    whole = bytearray(packed({str(number): member for number, member in enumerate(found)}))
    harm = draw(st.sampled_from(["none", "cut", "bytes", "tail"]))
    if harm == "cut":
        return bytes(whole[: draw(st.integers(0, len(whole)))])
    if harm == "bytes":
        for place in draw(st.lists(st.integers(0, len(whole) - 1), min_size=1, max_size=5)):
            whole[place] ^= draw(st.integers(1, 255))
    if harm == "tail":
        whole += draw(st.binary(max_size=200))
    return bytes(whole)
