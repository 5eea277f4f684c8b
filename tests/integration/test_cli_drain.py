"""``relaybook drain``: after it, everything is in the log, and nothing is in the journal."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE
from typing import Final

import pytest
from tests.support.clickhouse.server import ClickHouse, needs_clickhouse, new_server, url_of
from tests.support.records import an_entry
from tests.support.repeating_client import RepeatingClient
from tests.support.server import Server, SimulatedProvider, is_running, wait_until

from relaybook.journal.reader import list_runs
from relaybook.log.store import open_store
from relaybook.log.store.clickhouse.reader import ClickHouseReader
from relaybook.log.store.files import DATABASE
from relaybook.log.store.port import Reader
from relaybook.log.store.sqlite.set_aside import list_set_aside
from relaybook.recorder.quarantine import Quarantine
from relaybook.server.data_directory import DataDirectory

COMMAND: Final = (sys.executable, "-m", "relaybook.cli.main", "drain", "--data")


def drain(data: Path, *flags: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, str(data), *flags], env=env, capture_output=True, text=True, timeout=120)


def not_recorded(ids: list[str], reader: Reader) -> list[str]:
    return [each for each in ids if reader.get(each) is None]


class Killed:
    """A server that was killed with all its processes while its journal had requests that were not recorded."""

    def __init__(self, directory: Path, provider: SimulatedProvider, *flags: str, env: dict[str, str] | None = None):
        server = Server(directory, provider.url, *flags, env=env)
        client = RepeatingClient(server)
        client.start()
        wait_until(lambda: len(client.ids) > 20, what="requests")
        os.kill(server.pid_of("recorder"), signal.SIGSTOP)
        known = len(client.ids)
        wait_until(lambda: len(client.ids) > known + 20, what="requests that are not recorded")
        pids = [server.pid_of(role) for role in ("relay", "recorder", "dashboard")]
        for pid in (server.process.pid, *pids):
            os.kill(pid, signal.SIGKILL)
        server.process.wait(10)
        client.stop()
        wait_until(lambda: not any(map(is_running, pids)), what="the end of all processes")
        self.data = DataDirectory(server.data)
        self.ids = client.ids


def test_the_journal_of_a_killed_server_is_recorded_without_relaying(tmp_path: Path) -> None:
    with SimulatedProvider() as provider:
        server = Killed(tmp_path, provider)
    reader = open_store(server.data.store).open_reader()
    assert not_recorded(server.ids, reader)
    expected = f"Everything in the journal of {server.data.path} is in the log. The log is in the data directory.\n"
    for _ in range(2):
        ended = drain(server.data.path)
        assert (ended.returncode, ended.stdout) == (0, expected), ended.stderr
        assert not_recorded(server.ids, reader) == []
        assert list_runs(server.data.journal) == []


@pytest.fixture
def clickhouse() -> Iterator[ClickHouse]:
    started = new_server("pw")
    yield started
    started.close()


def test_a_damaged_store_is_replaced_by_an_empty_one(tmp_path: Path) -> None:
    with SimulatedProvider() as provider:
        server = Killed(tmp_path, provider)
    for path in server.data.store.glob(f"{DATABASE}*"):
        path.unlink()
    server.data.store.mkdir(exist_ok=True)
    (server.data.store / DATABASE).write_bytes(b"\x55" * 8192)
    drained = drain(server.data.path)
    assert drained.returncode == 0, drained.stderr
    assert list_set_aside(server.data.store)
    reader = open_store(server.data.store).open_reader()
    assert not_recorded(server.ids, reader) == []
    reader.close()


@needs_clickhouse
def test_the_journal_of_a_killed_server_is_recorded_in_clickhouse(tmp_path: Path, clickhouse: ClickHouse) -> None:
    log = clickhouse.create_log()
    variables = {**os.environ, "RELAYBOOK_STORE_PASSWORD": log.password}
    store = ("--store", url_of(log))
    with SimulatedProvider() as provider:
        server = Killed(tmp_path, provider, *store, env=variables)
    if clickhouse.is_own:
        clickhouse.kill()
        with subprocess.Popen([*COMMAND, str(server.data.path), *store], env=variables, text=True, stderr=PIPE) as away:
            assert away.stderr is not None
            assert "store_unavailable" in away.stderr.readline()
            away.send_signal(signal.SIGINT)
            assert "has not recorded everything in the journal" in away.stderr.read()
        assert away.returncode == 1
        clickhouse.start()
    ended = drain(server.data.path, *store, env=variables)
    assert ended.returncode == 0, ended.stderr
    assert not_recorded(server.ids, ClickHouseReader(log)) == []
    assert list_runs(server.data.journal) == []


def test_a_running_server_is_left_alone(tmp_path: Path) -> None:
    with SimulatedProvider() as provider, Server(tmp_path, provider.url) as server:
        ended = drain(server.data)
        assert (ended.returncode, ended.stdout) == (1, "")
        assert f"{server.data} is in use by another server. Stop that server" in ended.stderr
        assert server.process.poll() is None


def test_requests_in_the_quarantine_are_reported(tmp_path: Path) -> None:
    data = DataDirectory(tmp_path / "data")
    data.open()
    data.close()
    quarantine = Quarantine(data.quarantine)
    quarantine.put(an_entry(b"{}", b"{}"), "a reason")
    ended = drain(data.path)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert f"The store rejected 1 request. See {data.quarantine}." in ended.stderr
    assert "relaybook check --requeue" in ended.stderr


def test_a_log_in_a_data_directory_has_no_lost_servers(tmp_path: Path) -> None:
    ended = drain(tmp_path, "--lost", "web-1:/data")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "no other server writes to the log" in ended.stderr


def test_a_directory_without_a_journal_is_refused(tmp_path: Path) -> None:
    ended = drain(tmp_path / "missing")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == (
        f"relaybook: There is no journal in {tmp_path / 'missing'}. Choose the server's directory with --data.\n"
    )
    assert not (tmp_path / "missing").exists()
