"""What is compiled keeps the promises of plain Python; RELAYBOOK_LONG=1: also under hostile input.

Compiled modules are stricter with types than Python is, so the tests that put their own objects into the relay are
not for them; these talk to it through sockets, or give bodies and records.
"""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from tests.support.needs import PREFIX, needs
from tests.support.tree import ROOT

PROMISES = ["tests/conformance/relay", "tests/conformance/stores", "tests/unit/bodies"]
PROMISES.append("tests/integration/test_tls_upstream.py")
if "RELAYBOOK_LONG" in os.environ:
    PROMISES.append("tests/integration/test_hostile_http.py")
HEADERS = Path(sysconfig.get_path("include")) / "Python.h"


@needs("cc")
@pytest.mark.skipif(not HEADERS.exists(), reason=f"{PREFIX}Python's headers")
def test_what_relay_and_recorder_promise_holds_when_they_are_compiled(tmp_path: Path) -> None:
    compiled = tmp_path / "compiled"
    run([sys.executable, "compile_with_mypyc.py", str(compiled)])
    environment = os.environ | {"PYTHONPATH": str(compiled)}
    where = run([sys.executable, "-c", "from relaybook.relay import exchange; print(exchange.__file__)"], environment)
    assert where.strip().startswith(str(compiled))
    assert where.strip().endswith(".so")
    run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", *PROMISES], environment)


def run(command: list[str], environment: dict[str, str] | None = None) -> str:
    """What it prints; fails the test with all of that where the command fails."""
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
