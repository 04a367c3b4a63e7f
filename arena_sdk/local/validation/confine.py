"""Keeps user code from writing outside of its job and from signalling what is not its own.

Linux offers this to every process as Landlock; what is confined cannot be freed again, nor can
what it starts. Elsewhere, and on kernels without it, nothing is confined.

What no limit here prevents, since it is the user's own rights that the code runs with: reading
what the user can read, the network, filling the disk through its own folder, taking the processor's
time until its job's time is up, and changing the checks, which run in its own process, so that they
find it sound. Code that is not trusted belongs into a container or a machine of its own.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable
from pathlib import Path

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same on every architecture
ASK_VERSION = 1
PATH_BENEATH = 1
PR_SET_NO_NEW_PRIVS = 38

WRITE_FILE = 1 << 1
CHANGE_FOLDER = sum(1 << bit for bit in range(4, 13))
"""Removing files and folders, and making those, devices, sockets, pipes and links."""
RENAME_ACROSS = 1 << 13
TRUNCATE = 1 << 14
SCOPE_SIGNALS = 1 << 1
SINCE_RENAME, SINCE_TRUNCATE, SINCE_NETWORK, SINCE_SCOPES = 2, 3, 4, 6
FILE_ONLY = WRITE_FILE | TRUNCATE


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def confine(writable: Iterable[Path]) -> bool:
    """Confine this thread, and all threads and processes that it starts from now on.

    Args:
        writable: Folders that may be written to, with all that is below them, and single files;
            those that are not there are passed over.

    Returns:
        True when it is confined; False where the system does not offer it.
    """
    version = landlock_version()
    if version < SINCE_RENAME:  # the first version forbids renaming between folders altogether
        return False
    access = WRITE_FILE | CHANGE_FOLDER | RENAME_ACROSS
    if version >= SINCE_TRUNCATE:
        access |= TRUNCATE
    scoped = SCOPE_SIGNALS if version >= SINCE_SCOPES else 0
    rules = _Ruleset(access, 0, scoped)
    words = 3 if version >= SINCE_SCOPES else 2 if version >= SINCE_NETWORK else 1
    ruleset = _call(CREATE_RULESET, ctypes.byref(rules), ctypes.c_size_t(8 * words), 0)
    if ruleset < 0:
        return False
    try:
        for path in writable:
            _allow(ruleset, path, access)
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
            return False
        return _call(RESTRICT_SELF, ruleset, 0) == 0
    finally:
        os.close(ruleset)


def landlock_version() -> int:
    """Return the version of Landlock that the kernel has; 0 for none."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, _call(CREATE_RULESET, None, ctypes.c_size_t(0), ASK_VERSION))


def _allow(ruleset: int, path: Path, access: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        rule = _Beneath(access if path.is_dir() else access & FILE_ONLY, fd)
        _call(ADD_RULE, ruleset, PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(fd)


def _call(number: int, *arguments: object) -> int:
    """Make a system call; return what it returns, -1 on an error."""
    syscall = ctypes.CDLL(None, use_errno=True).syscall
    syscall.restype = ctypes.c_long
    return int(syscall(ctypes.c_long(number), *arguments))
