"""How long a process may have a core when others want it, too."""

import ctypes
import os
import platform
import struct
import sys
from typing import Final

#: ``struct sched_attr`` of sched_setattr(2): size, policy, flags, nice, priority, runtime, deadline, period.
_ATTRIBUTES: Final = struct.Struct("=IIQiIQQQ")
#: The most that Linux gives; its own choice is about 3 ms.
_LONG_NS: Final = 100_000_000
#: The number of the call by machine: glibc has no function for it before 2.41.
_SCHED_SETATTR: Final = {"x86_64": 314, "aarch64": 274, "riscv64": 274}


def take_long_slices() -> None:
    """Asks for long, rare turns on a core; for work that can wait. Threads that begin later do the same.

    Linux 6.12 and later let a process that wakes up interrupt one whose slice is longer than its own, which otherwise
    keeps the core until the next tick, up to 4 ms. The share of the core stays what it was. Where the system has no
    such thing, or an operator has chosen a scheduling policy, nothing changes.
    """
    call = _SCHED_SETATTR.get(platform.machine())
    if sys.platform != "linux" or call is None or os.sched_getscheduler(0) != os.SCHED_OTHER:
        return
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    attributes = _ATTRIBUTES.pack(_ATTRIBUTES.size, os.SCHED_OTHER, 0, nice, 0, _LONG_NS, 0, 0)
    ctypes.CDLL(None).syscall(call, 0, attributes, 0)  # refused, say by a container's filter: as before
