"""Run sqlmap, a scanner for SQL injection, against a local URL, and parse its output.

sqlmap is licensed under the GPL. It runs as a separate program, and none of its code is imported.
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

#: The directory of this Python, which contains the development dependencies, and then the PATH.
_SEARCH_PATH: Final = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
_SQLMAP: Final = shutil.which("sqlmap", path=_SEARCH_PATH)
needs_sqlmap: Final = pytest.mark.skipif(_SQLMAP is None, reason=PREFIX + "sqlmap")

#: With ``LONG_TESTS=1`` all checks run, otherwise only the fastest checks.
_EFFORT: Final = ("--level=5", "--risk=3") if LONG else ("--level=1", "--risk=1")
_SECONDS: Final = 1800 if LONG else 240
#: Answers to sqlmap's prompts: continue after a vulnerability, continue after a value that looks like an attack,
#: test inside quotes, and test only marked places if there are any.
_ANSWERS: Final = "keep testing=Y,really sure=Y,inject inside=Y,non-custom=N"
#: A mark after a value in a URL or a header that is to be tested.
MARK: Final = "*"
_HARMLESS: Final = re.compile(r"parameter '([^']+)' does not seem to be injectable")
_INJECTABLE: Final = re.compile(r"parameter '([^']+)' is vulnerable")


@dataclass(frozen=True)
class ScanResult:
    """The result of a scan.

    ``harmless`` lists the parameters that are not injectable, in the order in which they were tested. ``injectable``
    are the parameters that are injectable.
    """

    harmless: list[str]
    injectable: set[str]
    output: str


def scan(url: str, directory: Path, names: tuple[str, ...] = (), headers: tuple[str, ...] = ()) -> ScanResult:
    """Test the query parameters ``names``, or the marked places in the URL or in a header.

    sqlmap writes only below ``directory`` and sends requests only to ``url``. The update check of sqlmap is not
    enabled.
    """
    assert _SQLMAP
    parameters = [f"-p{','.join(names)}"] if names else []
    options = ["--batch", f"--answers={_ANSWERS}", "--technique=BEUSTQ", "--dbms=sqlite", "--flush-session", *_EFFORT]
    options += ["--ignore-code=*", "--ignore-proxy", "--skip-waf", "--disable-coloring", f"--output-dir={directory}"]
    command = [_SQLMAP, f"--url={url}", *parameters, *options, *(f"--header={header}" for header in headers)]
    home = os.environ | {"HOME": str(directory), "XDG_DATA_HOME": str(directory)}
    completed = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=home, timeout=_SECONDS
    )
    output = completed.stdout + completed.stderr
    return ScanResult(_HARMLESS.findall(output), set(_INJECTABLE.findall(output)), output)
