"""CPU time and memory of another process, read from /proc (Linux only)."""

import os
import resource
from pathlib import Path


def cpu_seconds(pid: int) -> float:
    """The CPU time a process has used so far, in user and kernel mode."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_memory(pid: int) -> int:
    """The largest resident memory a process has had, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (peak,) = (line.split()[1] for line in lines if line.startswith("VmHWM:"))
    return int(peak) << 10


def address_space(pid: int) -> int:
    """The virtual memory of a process in bytes, which RLIMIT_AS limits."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * resource.getpagesize()
