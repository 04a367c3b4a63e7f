"""Keeps all that a process starts in its process group, so that one signal ends them all at once.

A bomb of forks that leaves the group outruns whoever looks for its shards one by one; a signal to a
group reaches every member in one go, also those that are just being made. So `setsid` and `setpgid`
do nothing here and say that they did, by a filter that the kernel runs on every system call
(https://docs.kernel.org/userspace-api/seccomp_filter.html). It cannot be taken off again.
"""

from __future__ import annotations

import ctypes
import platform
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, MODE_FILTER = 38, 22, 2
ALLOW, ANSWER = 0x7FFF0000, 0x00050000
NO_SUCH_CALL = 38
NUMBER_AT, ARCHITECTURE_AT = 0, 4
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
X32_CALLS = 0x40000000
CALLS = {"x86_64": (0xC000003E, 112, 109), "aarch64": (0xC00000B7, 157, 154)}
"""By machine: its mark, and the numbers of setsid and setpgid."""


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def stay_in_group() -> bool:
    """Keep this thread, and all that it starts from now on, in the process group that it is in.

    Returns:
        True when it is kept; False where the system does not offer it.
    """
    known = CALLS.get(platform.machine())
    if not sys.platform.startswith("linux") or known is None:
        return False
    code = _code(*known)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    program = _Program(len(code) // 8, code)
    return bool(libc.prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(program), 0, 0) == 0)


def _code(architecture: int, *pretended: int) -> bytes:
    """Return the filter: calls of another architecture do not exist, some only seem to happen."""
    steps = [
        (LOAD, 0, 0, ARCHITECTURE_AT),
        (JUMP_EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, ANSWER | NO_SUCH_CALL),
        (LOAD, 0, 0, NUMBER_AT),
        (JUMP_AT_LEAST, 0, 1, X32_CALLS),
        (RETURN, 0, 0, ANSWER | NO_SUCH_CALL),
    ]
    for number in pretended:
        steps += [(JUMP_EQUAL, 0, 1, number), (RETURN, 0, 0, ANSWER)]  # errno 0: it went well
    steps.append((RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("HBBI", *step) for step in steps)
