"""Runs sqlmap, a scanner for SQL injection, against an address of this machine, and reads what it says.

It is a program of its own, under the GPL: nothing of it is imported.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from tests.support.long import LONG
from tests.support.needs import PREFIX

#: Beside this Python, where a development dependency is, or on the PATH.
_PLACES: Final = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
_SQLMAP: Final = shutil.which("sqlmap", path=_PLACES)
needs_sqlmap: Final = pytest.mark.skipif(_SQLMAP is None, reason=PREFIX + "sqlmap")

#: The long form runs all it has instead of its quickest form.
_EFFORT: Final = ("--level=5", "--risk=3") if LONG else ("--level=1", "--risk=1")
_SECONDS: Final = 1800 if LONG else 240
#: To its questions: go on after a hole or a value like an attack, try inside of quotes, and beside a mark nothing else.
_ANSWERS: Final = "keep testing=Y,really sure=Y,inject inside=Y,non-custom=N"
#: In an address or a header: it tries what stands before this.
MARK: Final = "*"
_HARMLESS: Final = re.compile(r"parameter '([^']+)' does not seem to be injectable")
_INJECTABLE: Final = re.compile(r"parameter '([^']+)' is vulnerable")


@dataclass(frozen=True)
class Verdict:
    """What it says: the parameters it cleared, in the order they were tried, those with a hole, and all its words."""

    harmless: list[str]
    injectable: set[str]
    words: str


def scan(url: str, directory: Path, names: tuple[str, ...] = (), headers: tuple[str, ...] = ()) -> Verdict:
    """Tries the query parameters ``names``, or what is marked in the address or in a header.

    It writes below ``directory`` alone, and asks nobody but ``url``: what could look for updates is not turned on.
    """
    assert _SQLMAP
    chosen = [f"-p{','.join(names)}"] if names else []
    how = ["--batch", f"--answers={_ANSWERS}", "--technique=BEUSTQ", "--dbms=sqlite", "--flush-session", *_EFFORT]
    how += ["--ignore-code=*", "--ignore-proxy", "--skip-waf", "--disable-coloring", f"--output-dir={directory}"]
    command = [_SQLMAP, f"--url={url}", *chosen, *how, *(f"--header={header}" for header in headers)]
    home = os.environ | {"HOME": str(directory), "XDG_DATA_HOME": str(directory)}
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=home, timeout=_SECONDS)
    words = done.stdout + done.stderr
    return Verdict(_HARMLESS.findall(words), set(_INJECTABLE.findall(words)), words)
