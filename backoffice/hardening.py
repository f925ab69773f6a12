"""What a process asks of the kernel, so that its memory does not end up in a file."""

import ctypes
import resource
import sys

_PR_SET_DUMPABLE = 4


def keep_memory_in() -> None:
    """Leave no core dump, and let no other process of this user read the memory. Holds for forks as well.

    The limit alone would not do: a kernel that pipes dumps to a program pays no heed to it.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
