"""Identify processes, and prepare this process: standard streams, core dumps, open files, garbage collection."""

import gc
import os
import sys
from pathlib import Path
from typing import Final

#: The limit on open files that a process requests if the system has no hard limit.
_MAX_DESCRIPTORS: Final = 1 << 20
#: This threshold is above the number of objects in a recorder batch or in the largest ``/api/stats`` response.
_GC_THRESHOLD: Final = 200_000


def process_identity(pid: int) -> str | None:
    """Return a text that identifies a process.

    The pid alone does not identify a process: an earlier process, or a process in another container, can have the same
    pid. The text has the PID namespace of this process, and the start time of the process ``pid`` in clock ticks since
    the boot (proc_pid_stat(5)). `None` if this namespace has no process ``pid``, and on systems without /proc.
    """
    try:
        namespace = Path("/proc/self/ns/pid").readlink()
        stat = Path(f"/proc/{pid}/stat").read_text("ascii", "replace")
    except OSError:
        return None
    started = stat.rpartition(")")[2].split()[19]  # the name of the program can contain spaces and parentheses
    return f"{namespace} {started}"


def disable_core_dumps() -> None:
    """Disable core dumps of this process and its children.

    A core dump would contain tokens, API keys and bodies.
    """
    import resource  # not at the top, because Windows does not have this module

    _, hard_limit = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard_limit))


def open_standard_streams() -> None:
    """If a standard stream is closed, open it on the null device.

    Otherwise, a socket or a file of this process would get the descriptor of the standard stream.
    """
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:  # Python found the descriptor closed
            os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
            # Needed if os.open returned this descriptor, because dup2 then does nothing.
            os.set_inheritable(descriptor, True)
            setattr(sys, name, open(descriptor, mode, closefd=False))  # noqa: SIM115 - open until the end


def raise_descriptor_limit() -> int:
    """Raise the limit on open files as far as possible, and return the limit."""
    import resource  # not at the top, because Windows does not have this module

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else hard
    while wanted > soft:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (ValueError, OSError):
            wanted //= 2  # macOS rejects values above its own maximum
        else:
            return wanted
    return soft


def collect_rarely() -> None:
    """Run Python's cyclic garbage collector less often, and exclude all existing objects from collection.

    By default, the collector runs whenever the number of created objects exceeds the number of freed objects by 700
    (Python 3.11) or 2,000 (Python 3.14). This default is expensive for a process that creates thousands of objects
    without cycles and frees them together. With the default, the collector took a seventh of the recorder's time
    (benchmarks/parts/recorder.py), and 35 ms of the 110 ms that the slowest ``/api/stats`` responses took.
    """
    gc.freeze()
    gc.set_threshold(_GC_THRESHOLD, 20, 100)
