"""Start, kill and restart a ClickHouse test server in a process of its own, or use a server that somebody else runs.

``TEST_STORE=clickhouse://user@host:port/name`` selects the other server. ``RELAYBOOK_STORE_PASSWORD`` has its password.
Tests create databases on this server whose names begin with ``name``, and drop these databases. Tests that must stop
the server or read its files are skipped. ``TEST_STORE=sqlite`` skips all tests that need ClickHouse.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NoReturn
from urllib.parse import urlencode

import pytest
from tests.support.long import LONG
from tests.support.needs import PREFIX

from relaybook.ids import id_text, new_id
from relaybook.log.store.clickhouse.connection import Database
from relaybook.settings.store_url import DatabaseAddress, parse_store_url

_STORE: Final = os.environ.get("TEST_STORE", "")
_OTHER: Final = "" if _STORE == "sqlite" else _STORE
_PACKAGES: Final = ("clickhouse_connect",) if _OTHER else ("chdb", "clickhouse_connect")
#: Marks a test that needs ClickHouse. ``pytest -m clickhouse`` runs these tests.
needs_clickhouse: Final = pytest.mark.clickhouse
#: Skips a test that needs a server of its own.
needs_own_server: Final = pytest.mark.skipif(bool(_OTHER), reason="stops the ClickHouse server or reads its files")
_MEMORY: Final = Path("/dev/shm")
_MIN_MEMORY_BYTES: Final = 2 << 30
_FRONT: Final = Path(__file__).with_name("front.py")


class ClickHouse:
    """A server with one database directory. It keeps its port when it is started again.

    By default, the directory is temporary. It is in memory, because the engine writes more than a hundred small files
    for each insert. The directory outlives the process.
    """

    #: Whether tests may stop the server and make it fail.
    is_own = True

    def __init__(self, password: str = "", directory: Path | None = None) -> None:
        self._temporary: TemporaryDirectory[str] | None = None
        if directory is None:
            self._temporary = TemporaryDirectory(prefix="clickhouse-", dir=_in_memory())
            directory = Path(self._temporary.name)
        self.directory = directory
        self.root = DatabaseAddress("127.0.0.1", 0, "default", password=password)
        self.start()

    def start(self) -> None:
        """Start the process, and wait until it listens."""
        self._process = subprocess.Popen(
            [sys.executable, str(_FRONT), str(self.directory), str(self.root.port), self.root.password],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"The ClickHouse server did not start: exit code {self._process.wait()}"
        self.root = self.root._replace(port=int(line))

    @property
    def port(self) -> int:
        return self.root.port

    @property
    def pid(self) -> int:
        return self._process.pid

    def create_log(self, name: str = "relaybook") -> DatabaseAddress:
        """Create a database without tables."""
        address = self.root._replace(database=name)
        self.execute(f"CREATE DATABASE {name}")
        return address

    def execute(self, sql: str) -> None:
        """Run a statement."""
        database = Database(self.root)
        database.execute(sql)
        database.close()

    def fail(self, **faults: float) -> None:
        """Make the server fail as ``front.py`` describes. Without arguments, end all failures."""
        urllib.request.urlopen(f"http://127.0.0.1:{self.port}/faults?{urlencode(faults)}", timeout=30).close()

    def kill(self) -> None:
        """End the process with SIGKILL, as a crash does."""
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def close(self) -> None:
        """Clean up after a test. The server may have been killed."""
        self.kill()
        if self._temporary is not None:
            self._temporary.cleanup()


class _OtherServer(ClickHouse):
    """The server of ``TEST_STORE``."""

    is_own = False

    def __init__(self) -> None:
        address = parse_store_url(_OTHER)._replace(password=os.environ.get("RELAYBOOK_STORE_PASSWORD", ""))
        self._prefix = address.database
        self._names: list[str] = []
        self.root = address._replace(database="default")

    def create_log(self, name: str = "relaybook") -> DatabaseAddress:
        self._names.append(f"{self._prefix}_{name}_{id_text(new_id())[-12:]}")
        return super().create_log(self._names[-1])

    def start(self) -> NoReturn:
        pytest.skip("starts the ClickHouse server")

    def fail(self, **faults: float) -> NoReturn:
        pytest.skip("makes the ClickHouse server fail")

    def kill(self) -> NoReturn:
        pytest.skip("stops the ClickHouse server")

    def close(self) -> None:
        for name in self._names:
            self.execute(f"DROP DATABASE {name}")


def new_server(password: str = "") -> ClickHouse:
    """Return a new server, or the server of ``TEST_STORE``."""
    return _OtherServer() if _OTHER else ClickHouse(password)


def _in_memory() -> Path | None:
    """Return a directory in memory. `None` if there is none, or if the tests may write more than fits into it."""
    if not LONG and _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _MIN_MEMORY_BYTES:
        return _MEMORY
    return None


def url_of(address: DatabaseAddress) -> str:
    """Return the setting ``store`` for a database."""
    secure = "?secure=1" if address.secure else ""
    return f"clickhouse://{address.user}@{address.host}:{address.port}/{address.database}{secure}"


def skip_clickhouse(items: Iterable[pytest.Item]) -> None:
    """Skip the tests that need ClickHouse with ``TEST_STORE=sqlite``, or if `make clickhouse` did not install it."""
    if _STORE == "sqlite" or any(importlib.util.find_spec(name) is None for name in _PACKAGES):
        for item in items:
            if item.get_closest_marker(needs_clickhouse.name):
                item.add_marker(pytest.mark.skip(reason=f"{PREFIX}clickhouse"))


def description() -> str | None:
    """Return the version and the address of the server of ``TEST_STORE``. `None` if it is not set."""
    if not _OTHER:
        return None
    root = _OtherServer().root
    ((version,),) = Database(root).query("SELECT version()")
    return f"ClickHouse {version} at {root.host}:{root.port}"
