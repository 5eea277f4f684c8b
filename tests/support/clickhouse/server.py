"""Start, kill and restart a ClickHouse test server in a process of its own."""

import importlib.util
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import pytest
from tests.support.needs import PREFIX

#: Skips a test without the engine, which `make venv` does not install.
needs_clickhouse: Final = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("chdb", "clickhouse_connect")), reason=f"{PREFIX}clickhouse"
)
_FRONT: Final = Path(__file__).with_name("front.py")


class ClickHouse:
    """A server with one database directory. It keeps its port when it is started again."""

    def __init__(self, directory: Path, password: str = "") -> None:
        self._directory, self._password = directory, password
        self.port = 0
        self.start()

    def start(self) -> None:
        """Start the process, and wait until it listens."""
        self._process = subprocess.Popen(
            [sys.executable, str(_FRONT), str(self._directory), str(self.port), self._password],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"The ClickHouse server did not start: exit code {self._process.wait()}"
        self.port = int(line)

    def fail(self, **faults: float) -> None:
        """Make the server fail in the ways that ``front.py`` names; without arguments, no more."""
        urllib.request.urlopen(f"http://127.0.0.1:{self.port}/faults?{urlencode(faults)}", timeout=30).close()

    def kill(self) -> None:
        """End the process with SIGKILL, as a crash does."""
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
