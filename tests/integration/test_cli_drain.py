"""``relaybook drain``: after it, everything is in the log, and nothing is in the journal."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.support.repeating_client import RepeatingClient
from tests.support.server import Server, SimulatedProvider, is_running, wait_until

from relaybook.log.query.filters import Filter
from relaybook.log.store import open_store
from relaybook.server.data_directory import DataDirectory


def drain(data: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, "-m", "relaybook.cli.main", "drain", "--data", str(data), *flags]
    return subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=120)


def records(data: DataDirectory) -> list[str]:
    reader = open_store(data.store).open_reader()
    page = reader.page(Filter(), 500, None, time.monotonic_ns() + 10**10)
    reader.close()
    return [record.id for record in page.records]


def test_a_running_server_is_stopped_and_no_request_is_lost(tmp_path: Path) -> None:
    with SimulatedProvider(tmp_path) as provider, Server(tmp_path, provider.url) as server:
        client = RepeatingClient(server)
        client.start()
        wait_until(lambda: len(client.ids) > 20, what="requests")
        ended = drain(server.data)
        assert (ended.returncode, ended.stderr) == (0, "")
        assert f"Stopping the server, process {server.process.pid}" in ended.stdout
        assert server.process.wait(10) == 0
        client.stop()
        assert set(client.ids) <= set(records(DataDirectory(server.data)))
        assert list(DataDirectory(server.data).journal.iterdir()) == []


def test_the_journal_of_a_killed_server_is_recorded_without_relaying(tmp_path: Path) -> None:
    with SimulatedProvider(tmp_path) as provider:
        server = Server(tmp_path, provider.url)
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
        data = DataDirectory(server.data)
        assert not set(client.ids) <= set(records(data))
        ended = drain(server.data)
        assert (ended.returncode, ended.stdout) == (
            0,
            f"The journal in {data.path} is recorded. The log is in the data directory.\n",
        ), ended.stderr
        assert set(client.ids) <= set(records(data))
        assert list(data.journal.iterdir()) == []
        ended = drain(server.data)
        assert (ended.returncode, ended.stderr) == (0, "")


def test_if_the_store_is_away_the_journal_stays_and_the_command_fails(tmp_path: Path) -> None:
    with SimulatedProvider(tmp_path) as provider, Server(tmp_path, provider.url) as server:
        os.kill(server.pid_of("recorder"), signal.SIGSTOP)
        client = RepeatingClient(server)
        client.start()
        wait_until(lambda: len(client.ids) > 5, what="requests")
        client.stop()
        for role in ("recorder", "relay", "dashboard"):
            os.kill(server.pid_of(role), signal.SIGKILL)
        server.kill()
        data = DataDirectory(server.data)
        before = sum(path.stat().st_size for path in data.journal.rglob("*") if path.is_file())
        ended = drain(server.data, "--store", "clickhouse://127.0.0.1:1/log")
        assert (ended.returncode, ended.stdout) == (1, "")
        assert "127.0.0.1:1/log did not respond: Connection refused" in ended.stderr
        assert sum(path.stat().st_size for path in data.journal.rglob("*") if path.is_file()) == before


def test_a_directory_without_a_journal_is_refused(tmp_path: Path) -> None:
    ended = drain(tmp_path / "missing")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == (
        f"relaybook: There is no journal in {tmp_path / 'missing'}. Choose the server's directory with --data.\n"
    )
    assert not (tmp_path / "missing").exists()
