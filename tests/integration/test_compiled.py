"""What is compiled keeps the promises of plain Python: some of them in a sample, all in the long form.

Compiled modules are stricter with types than Python is, so the tests that put their own objects into the relay are
not for them; these talk to it through sockets, or give bodies and records.
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

SAMPLE = [
    "tests/unit/log/formats",
    "tests/integration/test_tls_upstream.py",
    "tests/conformance/stores/test_committing.py",
]
SAMPLE += [f"tests/conformance/relay/test_{name}.py" for name in ("bytes", "broken_answers")]
EVERY = ["tests/conformance/relay", "tests/conformance/stores", "tests/unit/log/formats"]
EVERY += [f"tests/integration/test_{name}.py" for name in ("tls_upstream", "hostile_http")]
HEADERS = Path(sysconfig.get_path("include")) / "Python.h"


@needs("cc")
@pytest.mark.skipif(not HEADERS.exists(), reason=f"{PREFIX}Python's headers")
def test_what_relay_and_recorder_promise_holds_when_they_are_compiled(tmp_path: Path) -> None:
    compiled = tmp_path / "compiled"
    quickly = os.environ | {"CFLAGS": "-g0"}  # no debug information: a third less time
    run([sys.executable, "compile_with_mypyc.py", str(compiled), "3" if LONG else "0"], quickly)
    environment = os.environ | {"PYTHONPATH": str(compiled)}
    where = run([sys.executable, "-c", "from relaybook.relay import exchange; print(exchange.__file__)"], environment)
    assert where.strip().startswith(str(compiled))
    assert where.strip().endswith(".so")
    run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", *(EVERY if LONG else SAMPLE)],
        environment,
    )


def run(command: list[str], environment: dict[str, str] | None = None) -> str:
    """What it prints; fails the test with all of that where the command fails."""
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
