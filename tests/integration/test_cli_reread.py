"""``relaybook reread`` reads stored bodies again, in a data directory and on a running server."""

import json
from pathlib import Path

import msgspec
import pytest
from tests.conformance.stores.test_rereading import blank_and_read, is_readable
from tests.support.commands import relaybook
from tests.support.server import Server, SimulatedProvider

from relaybook.log.store.port import Batch
from relaybook.log.store.sqlite.writer import SqliteWriter
from relaybook.server.data_directory import DataDirectory, Serving


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a data directory with requests that were recorded without reading their bodies."""
    writer = SqliteWriter(DataDirectory(tmp_path / "data").store)
    writer.commit(Batch(entries=list(filter(is_readable, blank_and_read(1)[0]))))
    writer.close()
    return tmp_path / "data"


def models(cwd: Path, *log: str) -> set[str]:
    found = relaybook(cwd, "tail", "--json", "-n", "500", "namespace=team-1", *log)
    return {row["model"] for row in map(json.loads, found.stdout.splitlines())}


def test_without_a_server_the_command_reads_the_requests(data: Path, tmp_path: Path) -> None:
    assert models(tmp_path, "--data", "data") == {None}
    found = relaybook(tmp_path, "reread", "namespace=team-1", "--yes", "--data", "data")
    assert found.returncode == 0, found.stderr
    assert "requests were read again, and" in found.stdout
    assert "gpt-4o-mini" in models(tmp_path, "--data", "data")
    again = relaybook(tmp_path, "reread", "namespace=team-1", "--yes", "--data", "data")
    assert again.stdout.endswith(" read again, and 0 requests have new results.\n")


def test_without_confirmation_nothing_is_read(data: Path, tmp_path: Path) -> None:
    found = relaybook(tmp_path, "reread", "namespace=team-1", "--data", "data")
    assert found.returncode == 1
    assert "requests with namespace=team-1 again? Their bodies do not change. [y/N]" in found.stdout
    assert "Nothing was read. To read without confirmation, use --yes." in found.stderr
    assert models(tmp_path, "--data", "data") == {None}


def test_no_match_is_told(data: Path, tmp_path: Path) -> None:
    found = relaybook(tmp_path, "reread", "namespace=nobody", "--yes", "--data", "data")
    assert (found.returncode, found.stdout) == (0, "")
    assert "No request matches namespace=nobody." in found.stderr


def test_after_an_upgrade_the_server_says_how_many_requests_can_be_read_better(data: Path, tmp_path: Path) -> None:
    (data / "serve.lock").write_bytes(msgspec.json.encode(Serving(pid=1, version="0.0.1")))
    with Server(tmp_path, "http://127.0.0.1:9/v1", data=data) as server:
        filters = server.printed(r"upgraded   from 0.0.1; \d+ requests .* run relaybook reread (note=.*)").split()
        log = ("--dashboard", server.dashboard.removeprefix("http://"))
        assert relaybook(tmp_path, "reread", "--yes", *filters, *log).returncode == 0
    with Server(tmp_path, "http://127.0.0.1:9/v1", data=data) as server:
        assert "upgraded" not in server.stdout


def test_a_running_server_carries_it_out(data: Path, tmp_path: Path) -> None:
    with SimulatedProvider() as provider, Server(tmp_path, provider.url, data=data) as server:
        log = ("--dashboard", server.dashboard.removeprefix("http://"))
        found = relaybook(tmp_path, "reread", "--yes", *log)
        assert found.returncode == 0, found.stderr
        assert "gpt-4o-mini" in models(tmp_path, *log)
        (reread,) = server.get("/api/rereads")["data"]
        assert (reread["state"], reread["requested_by"], reread["filter"]) == ("done", "127.0.0.1", [])
        assert reread["requests"] == reread["read"] > 200
