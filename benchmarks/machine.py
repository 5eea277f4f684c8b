"""Describe the environment of a measurement, with machine, versions, and other load on the machine."""

import datetime
import os
import platform
import re
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

_BENCHMARKS = Path(__file__).parent
_PACKAGES = ("relaybook", "uvloop", "httptools", "msgspec", "apsw", "zstandard")
_DESCRIBE_PYTHON = """
import platform, sys, sysconfig
arguments = sysconfig.get_config_var("CONFIG_ARGS") or ""
# Debian's Python in /usr is optimized, too, but its arguments do not say so.
print(platform.python_version(), "--enable-optimizations" in arguments or sys.base_prefix == "/usr", sep="|")
"""


def describe_machine(python: str, source: Path) -> dict[str, Any]:
    """Return machine, kernel and versions. ``python`` and ``source`` belong to the measured server."""
    number, optimised = _output([python, "-c", _DESCRIBE_PYTHON]).strip().split("|")
    return {
        "cpu": _first(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text()),
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "system": _first(r'PRETTY_NAME="(.+)"', Path("/etc/os-release").read_text()),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "python": number,
        "python_is_profile_guided_build": optimised == "True",
        "nginx": _first(r"nginx/(\S+)", _output(["nginx", "-v"])),
        "wrk": _first(r"wrk (?:debian/)?(\S+)", _output(["wrk", "-v"])),
        "commit": _output(["git", "-C", str(source), "describe", "--always"]).strip(),
        "packages": {name: version(name) for name in _PACKAGES},
    }


def uncommitted(source: Path) -> list[str]:
    """Return uncommitted files in the measured source and the benchmarks.

    A run with uncommitted files cannot be repeated.
    """
    measured = ["git", "-C", str(source), "status", "--porcelain", "--", "."]
    measuring = ["git", "-C", str(_BENCHMARKS), "status", "--porcelain", "--", ".", ":!latest"]
    lines = [*_output(measured).splitlines(), *_output(measuring).splitlines()]
    return [line[3:] for line in lines]


def now() -> str:
    """Return the current time in UTC, in the format of RFC 3339."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def load_average() -> float:
    """Return the average number of runnable processes over the last minute, which shows disturbance by other
    programs."""
    return round(os.getloadavg()[0], 2)


def _output(command: list[str]) -> str:
    """Return the output of a command, or an empty text if the program is missing."""
    if shutil.which(command[0]) is None:
        return ""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found[1].strip() if found else "unknown"
