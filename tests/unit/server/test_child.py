"""Test that a child process exits with the code of its role, even if a signal arrives during the exit."""

import subprocess
import sys
from pathlib import Path

import pytest

from relaybook.server.worker_config import WorkerConfig, encode_config
from relaybook.settings.definitions import Settings

_PROGRAM = """
import os, signal, sys
from relaybook.server import child

child.run_role = lambda *_: 7  # as the recorder does: its handler stays until the interpreter takes it away
sys.exit((child.main(), os.kill(os.getpid(), signal.{name}))[0])
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_late_stop_signal_does_not_change_the_exit_code(name: str, tmp_path: Path) -> None:
    config = encode_config(WorkerConfig("recorder", Settings(data=tmp_path), "http://127.0.0.1/v1", "http://127.0.0.1"))
    program = _PROGRAM.format(name=name)
    done = subprocess.run([sys.executable, "-c", program], input=config, capture_output=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (7, b"")
