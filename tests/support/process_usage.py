"""Read the CPU time and memory of another process from /proc (Linux only)."""

import os
import resource
from pathlib import Path


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process so far, in user and kernel mode, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_memory(pid: int) -> int:
    """Return the peak resident memory of a process, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (peak,) = (line.split()[1] for line in lines if line.startswith("VmHWM:"))
    return int(peak) << 10


def address_space(pid: int) -> int:
    """Return the virtual memory of a process, which RLIMIT_AS limits, in bytes."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * resource.getpagesize()
