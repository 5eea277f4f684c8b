"""The compiled build passes the same tests as plain Python. Only the long form compiles, which takes minutes.

Compiled modules check types at run time, so tests that pass fake objects to the relay cannot use such modules. The
tests below connect through sockets, or pass bodies and records.
"""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from tests.support.long import LONG
from tests.support.needs import PREFIX, needs
from tests.support.tree import ROOT

from relaybook import __version__

SUITE = ["tests/conformance/relay", "tests/conformance/stores", "tests/unit/log/formats"]
SUITE += [f"tests/integration/test_{name}.py" for name in ("tls_upstream", "hostile_http")]
HEADERS = Path(sysconfig.get_path("include")) / "Python.h"


@pytest.mark.skipif(not LONG, reason=f"{PREFIX}the long form")
@needs("cc")
@pytest.mark.skipif(not HEADERS.exists(), reason=f"{PREFIX}Python's headers")
def test_the_compiled_relay_and_recorder_pass_their_tests(tmp_path: Path) -> None:
    compiled = tmp_path / "compiled"
    run([sys.executable, "compile_with_mypyc.py", str(compiled), "3"])
    # If a compiled file contained a path of its build, two builds would have different bytes.
    assert [path.name for path in compiled.rglob("*.so") if os.fsencode(tmp_path) in path.read_bytes()] == []
    environment = os.environ | {"PYTHONPATH": str(compiled)}
    path = run([sys.executable, "-c", "from relaybook.relay import exchange; print(exchange.__file__)"], environment)
    assert path.strip().startswith(str(compiled))
    assert path.strip().endswith(".so")
    version = run([sys.executable, "-m", "relaybook.cli.main", "--version"], environment)
    assert version.strip() == f"{__version__} (compiled)"
    run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", *SUITE], environment)


def run(command: list[str], environment: dict[str, str] | None = None) -> str:
    """Run a command and return its standard output. If the command fails, the test fails with the whole output."""
    completed = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    return completed.stdout
